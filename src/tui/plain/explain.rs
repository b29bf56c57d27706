//! What a player makes of it: evidence, verdicts, the finding; and the debrief afterwards.

use std::sync::Arc;

use super::line::Typed;
use super::{Done, Plain, names};
use crate::game::command::{Command, EvidenceId, Finding, Verdict};
use crate::game::{Session, View};
use crate::incident::schema::Name;
use crate::report::{self, Block, Section};
use crate::score::{self, Debrief, QUESTIONS, References, Score};

/// Columns of a report; nothing in lines depends on it.
const WIDTH: usize = 100;

/// The sections of a debrief with their lines.
fn sections(debrief: &Debrief) -> Vec<(Section, Vec<String>)> {
    let mut all: Vec<(Section, Vec<String>)> = Vec::new();
    for block in report::blocks(debrief, WIDTH, report::Extent::Whole) {
        let line = match block {
            Block::Section(section) => {
                all.push((section, Vec::new()));
                continue;
            }
            Block::Title(text) | Block::Text(text) => text,
            Block::Heading(text) => format!("{text}:"),
            Block::Item(text) => format!("- {text}"),
            Block::Detail(text) => format!("  {text}"),
            Block::Entry(label, text) => format!("{label}: {text}"),
            // Curves made of characters say nothing when they are read out; the sentences beside them do.
            Block::Fixed(_) => continue,
        };
        if let Some((_, lines)) = all.last_mut() {
            lines.push(line);
        }
    }
    all
}

fn answered(view: &View<'_>) -> bool {
    view.reflections().iter().all(|answer| !answer.trim().is_empty())
}

fn ids(evidence: &[EvidenceId]) -> String {
    let ids: Vec<String> = evidence.iter().map(ToString::to_string).collect();
    if ids.is_empty() { "nothing".to_owned() } else { ids.join(", ") }
}

impl Plain {
    pub(super) fn evidence(&mut self, _: &Typed) -> Done {
        let view = self.view()?;
        let mut lines: Vec<String> = view
            .evidence()
            .iter()
            .map(|e| {
                let note = if e.note.is_empty() { String::new() } else { format!(" ({})", e.note) };
                format!("{} at {}: {}{note}", e.id, view.clock_at(e.at), e.showed)
            })
            .collect();
        if lines.is_empty() {
            lines.push("Nothing is pinned yet. `pin` and what you read keeps it with the time.".to_owned());
        }
        lines.iter().for_each(|l| self.say(l));
        Ok(())
    }

    pub(super) fn hypotheses(&mut self, _: &Typed) -> Done {
        let view = self.view()?;
        let mut lines = Vec::new();
        for (i, h) in view.hypotheses().iter().enumerate() {
            let verdict = match h.verdict {
                Verdict::Open => "open",
                Verdict::Accepted => "it holds",
                Verdict::Rejected => "it does not hold",
            };
            lines.push(format!("{}: {} You: {verdict}, citing {}.", i + 1, h.text, ids(&h.evidence)));
        }
        lines.push("`judge` with a number and `holds`, `rejected` or `open` says what you think.".to_owned());
        lines.iter().for_each(|l| self.say(l));
        Ok(())
    }

    pub(super) fn judge(&mut self, typed: &Typed) -> Done {
        let view = self.view()?;
        let all = view.hypotheses();
        let usage = || "`judge` wants the number of an explanation and holds, rejected or open.".to_owned();
        let [number, verdict] = &typed.words[..] else { return Err(usage()) };
        let chosen = names::numbers(number, all.len(), "explanation")?;
        let Some(hypothesis) = chosen.first().and_then(|i| all.get(*i)) else { return Err(usage()) };
        let verdict = match verdict.to_lowercase().as_str() {
            "holds" | "accept" | "accepted" => Verdict::Accepted,
            "rejected" | "reject" | "fails" => Verdict::Rejected,
            "open" => Verdict::Open,
            _ => return Err(usage()),
        };
        let evidence = match typed.option("evidence") {
            Some(text) => names::evidence(&view, text)?,
            None => hypothesis.evidence.clone(),
        };
        let said = format!("Kept, citing {}.", ids(&evidence));
        self.submit(Command::Judge { hypothesis: hypothesis.id.clone(), verdict, evidence })?;
        self.say(&said);
        Ok(())
    }

    /// Reads the finding and the parts that it can name; options change it.
    pub(super) fn finding(&mut self, typed: &Typed) -> Done {
        let view = self.view()?;
        let parts = view.finding_choices();
        let pick = |text: &str| -> Result<Vec<Name>, String> {
            let chosen = names::numbers(text, parts.len(), "part")?;
            Ok(chosen.into_iter().map(|i| parts[i].id.clone()).collect())
        };
        let mut finding = view.finding().clone();
        for (option, value) in &typed.options {
            match option.as_str() {
                "summary" => finding.summary = value.clone(),
                "holds" => finding.sustaining = value.clone(),
                "trigger" => finding.trigger = pick(value)?.into_iter().next(),
                "bottleneck" => finding.bottleneck = pick(value)?.into_iter().next(),
                "amplifiers" => finding.amplifiers = pick(value)?,
                "contributing" => finding.contributing = pick(value)?,
                "evidence" => finding.evidence = names::evidence(&view, value)?,
                _ => {}
            }
        }
        let words = |names: &[Name]| {
            let found: Vec<&str> = names
                .iter()
                .filter_map(|n| parts.iter().find(|p| p.id == *n))
                .map(|p| p.text.as_str())
                .collect();
            if found.is_empty() { "nothing yet".to_owned() } else { found.join("; ") }
        };
        let text = |t: &str| if t.is_empty() { "nothing yet".to_owned() } else { t.to_owned() };
        let one = |n: &Option<Name>| words(n.as_slice());
        let mut lines = vec![
            format!("{}: {}", Finding::SUMMARY, text(&finding.summary)),
            format!("{}: {}", Finding::TRIGGER, one(&finding.trigger)),
            format!("{}: {}", Finding::AMPLIFIERS, words(&finding.amplifiers)),
            format!("{}: {}", Finding::HOLDS, text(&finding.sustaining)),
            format!("{}: {}", Finding::CONTRIBUTING, words(&finding.contributing)),
            format!("{}: {}", Finding::BOTTLENECK, one(&finding.bottleneck)),
            format!("Evidence: {}", ids(&finding.evidence)),
        ];
        if typed.options.is_empty() {
            lines.push("Parts to choose from:".to_owned());
            lines.extend(parts.iter().enumerate().map(|(i, p)| format!("  {}: {}", i + 1, p.text)));
            lines.push(
                "Options change it: --trigger N, --amplifiers N N, --contributing N, --bottleneck N, --evidence N, \
                 --summary and --holds with your words."
                    .to_owned(),
            );
        } else {
            self.submit(Command::Find(finding))?;
        }
        lines.iter().for_each(|l| self.say(l));
        Ok(())
    }

    pub(super) fn export(&mut self, _: &Typed) -> Done {
        let export = Arc::clone(&self.export);
        let play = self.play.as_ref().ok_or("No incident is chosen.")?;
        let place =
            play.write(&export).map_err(|error| format!("The finding could not be written: {error}."))?;
        self.say(&format!("The finding is written to {place}."));
        Ok(())
    }

    pub(super) fn end(&mut self, _: &Typed) -> Done {
        self.submit(Command::End)
    }

    // ------------------------------------------------------------------------------------------------- the debrief

    /// The runs to compare with, computed once.
    fn compared(&mut self) -> Result<Arc<References>, String> {
        if let Some(compared) = &self.compared {
            return Ok(Arc::clone(compared));
        }
        self.say(
            "Computing the runs to compare with: without you, the senior's, and yours without each lever.",
        );
        let play = self.play.as_ref().ok_or("No incident is chosen.")?;
        let references = play.wait_for_references().as_ref().map_err(Clone::clone)?;
        let compared = Arc::new(references.clone().with_own(play.session()));
        self.compared = Some(Arc::clone(&compared));
        Ok(compared)
    }

    /// The run's marks and its debrief.
    pub(super) fn judged(&mut self) -> Result<(Score, Debrief), String> {
        let compared = self.compared()?;
        let play = self.play.as_ref().ok_or("No incident is chosen.")?;
        let session: &Session = play.session();
        let score = score::score(session, &compared);
        play.set_marks(score.letters());
        let debrief = score::debrief(session, &compared, &score);
        Ok((score, debrief))
    }

    /// Refuses what gives the cause away before the player has said what they thought.
    fn told_first(&mut self) -> Done {
        if answered(&self.view()?) {
            return Ok(());
        }
        self.refuse(
            "First two questions to you, before you read what others thought: `reflect` reads them."
                .to_owned(),
        )
    }

    pub(super) fn debrief(&mut self, typed: &Typed) -> Done {
        let (_, debrief) = self.judged()?;
        let open = answered(&self.view()?);
        let locked = |section: Section| !open && section.tells_the_cause();
        let all = sections(&debrief);
        let text = typed.text().to_lowercase();
        let mut lines = Vec::new();
        if text.is_empty() {
            for (section, _) in &all {
                let closed = if locked(*section) { " (closed)" } else { "" };
                lines.push(format!("{}: {}{closed}", section.number(), section.title()));
            }
            lines.push("`debrief` with a number reads a section, `debrief all` reads everything.".to_owned());
            if !open {
                lines.push(
                    "Those that are closed open once you have answered two questions: `reflect` reads them."
                        .to_owned(),
                );
            }
        } else {
            let number = text.parse::<usize>().ok();
            let fits = |section: Section| match number {
                Some(n) => n == section.number(),
                None => text == "all" || section.title().to_lowercase().contains(&text),
            };
            let found: Vec<&(Section, Vec<String>)> = all.iter().filter(|s| fits(s.0)).collect();
            if found.is_empty() {
                return Err(format!("No section is called `{text}`. `debrief` lists them."));
            }
            for (section, said) in found.iter().filter(|s| !locked(s.0)) {
                lines.push(format!("Section {}", section.heading()));
                lines.extend(said.iter().cloned());
            }
            if lines.is_empty() {
                self.told_first()?;
            }
            if found.iter().any(|s| locked(s.0)) {
                lines.push("The other sections follow once `reflect` has your answers.".to_owned());
            }
        }
        lines.iter().for_each(|l| self.say(l));
        Ok(())
    }

    pub(super) fn reflect(&mut self, typed: &Typed) -> Done {
        let Some(number) = typed.words.first() else {
            let view = self.view()?;
            let lines: Vec<String> = QUESTIONS
                .iter()
                .zip(view.reflections())
                .enumerate()
                .map(|(i, (question, answer))| {
                    let answer = if answer.trim().is_empty() { "not answered yet" } else { answer };
                    format!("{}: {question} You: {answer}", i + 1)
                })
                .collect();
            lines.iter().for_each(|l| self.say(l));
            self.say("`reflect 1` and `reflect 2` with your words behind them answer.");
            return Ok(());
        };
        let question = names::numbers(number, QUESTIONS.len(), "question")?;
        let Some(&question) = question.first() else {
            return Err(format!("Which question? They are 1 to {}.", QUESTIONS.len()));
        };
        let text = typed.text();
        let text = text.strip_prefix(number.as_str()).unwrap_or(&text).trim().to_owned();
        self.submit(Command::Reflect { question, text })?;
        let open = answered(&self.view()?);
        self.say(if open { "Kept. The whole debrief is open now." } else { "Kept." });
        Ok(())
    }

    pub(super) fn marks(&mut self, typed: &Typed) -> Done {
        self.told_first()?;
        let (score, _) = self.judged()?;
        let text = typed.text().to_lowercase();
        let mut lines = Vec::new();
        for mark in &score.dimensions {
            let label = mark.dimension.label();
            if text.is_empty() || label.to_lowercase().contains(&text) {
                lines.push(format!("{label}: {} ({}).", mark.grade.letter(), mark.grade.words()));
                if !text.is_empty() {
                    lines.push(format!("  Rule: {}", mark.rule));
                    lines.extend(mark.facts.iter().map(|f| format!("  {f}")));
                }
            }
        }
        if score.dimensions.is_empty() {
            lines.push("Free play in the lab is not marked.".to_owned());
        } else if lines.is_empty() {
            return Err(format!("No mark is called `{}`. `marks` reads all.", typed.text()));
        } else if text.is_empty() {
            let hints = score.independence;
            lines.push(format!(
                "Independence: {} of {} hints used; hints lower nothing else.",
                hints.hints, hints.of
            ));
            lines.push("`marks` with a name says by which rule and facts one was given.".to_owned());
        }
        lines.iter().for_each(|l| self.say(l));
        Ok(())
    }

    pub(super) fn follow_ups(&mut self, typed: &Typed) -> Done {
        self.told_first()?;
        let view = self.view()?;
        let all = view.follow_ups();
        if typed.words.is_empty() {
            let chosen = view.chosen_follow_ups().unwrap_or(&[]);
            let line = |(i, f): (usize, &crate::incident::schema::FollowUp)| {
                let mark = if chosen.contains(&f.id) { " (chosen)" } else { "" };
                format!("{}: {}{mark}", i + 1, f.text)
            };
            let mut lines: Vec<String> = all.iter().enumerate().map(line).collect();
            if lines.is_empty() {
                lines.push("This incident has none.".to_owned());
            } else if chosen.is_empty() {
                lines.push(
                    "`follow-ups` with up to three numbers chooses: there is never time for all.".to_owned(),
                );
            }
            lines.iter().for_each(|l| self.say(l));
            return Ok(());
        }
        let chosen = names::numbers(&typed.text(), all.len(), "follow-up")?;
        let ids: Vec<Name> = chosen.into_iter().map(|i| all[i].id.clone()).collect();
        self.submit(Command::FollowUps(ids))?;
        self.say("Chosen. `debrief` says what each of them does.");
        Ok(())
    }
}
