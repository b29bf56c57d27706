//! What a report says, without saying how it looks.

use super::{Extent, Section, curve};
use crate::game::TOLERANCE;
use crate::game::command::Finding;
use crate::score::{
    AskedEntry, Debrief, EndedEarly, FitEntry, HARMED, Mark, PredictionEntry, ReadingEntry, Seen, brier_text,
};

/// A piece of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// The title of the whole.
    Title(String),
    /// The title of a section.
    Section(Section),
    /// The title of a part of a section.
    Heading(String),
    /// A paragraph.
    Text(String),
    /// A point of a list.
    Item(String),
    /// A detail of the point before it.
    Detail(String),
    /// A label with what belongs to it.
    Entry(String, String),
    /// Lines that keep their columns.
    Fixed(Vec<String>),
}

use Block::{Detail, Entry, Fixed, Heading, Item, Text, Title};

/// Heading above the incidents that look the same at first.
pub(super) const LOOK_ALIKE: &str = "Looks the same and is not: some days from now";

/// What stands where a debrief stops before the answer.
pub(super) const HOW_TO_GO_ON: &str = "The rest tells the cause: the senior's reading, what held it up, your marks. Your own \
    account is worth most before you have read another, so write down first what you think happened. Then --spoilers \
    prints the rest; in the game, the debrief goes on when its two questions are answered.";

/// The debrief in order; `width` is the width of the harm curve.
pub fn blocks(debrief: &Debrief, width: usize, extent: Extent) -> Vec<Block> {
    let mut out = vec![
        Title(format!("{}: debrief", debrief.title)),
        Text(format!(
            "{}, {}, seed {}{}.",
            debrief.incident,
            debrief.mode,
            debrief.seed,
            if debrief.scale == 1.0 { String::new() } else { format!(", scale {}", debrief.scale) }
        )),
    ];
    for section in Section::ALL {
        if extent == Extent::BeforeTheAnswer && section.tells_the_cause() {
            out.push(Text(HOW_TO_GO_ON.to_owned()));
            break;
        }
        out.push(Block::Section(section));
        match section {
            Section::Happened => happened(debrief, &mut out),
            Section::Felt => felt(debrief, width, &mut out),
            Section::Predictions => predictions(debrief, &mut out),
            Section::Words => words(debrief, &mut out),
            Section::Asked => {
                debrief.asked.iter().for_each(|entry| asked(entry, &mut out));
                if debrief.asked.is_empty() {
                    out.push(Text(NOTHING_ASKED.to_owned()));
                }
            }
            Section::Senior => senior(debrief, &mut out),
            Section::Held => held(debrief, &mut out),
            Section::Diagnosis => diagnosis(debrief, &mut out),
            Section::Trap => trap(debrief, &mut out),
            Section::Well => {
                list(debrief.went_well.iter().cloned(), "Nothing stood out in the marks.", &mut out);
            }
            Section::Missed => {
                let missed = debrief.missed.iter().map(|m| format!("{}: {}", m.kind.label(), m.text));
                list(missed, "None.", &mut out);
            }
            Section::Marks => marks(debrief, &mut out),
            Section::Next => next(debrief, &mut out),
            Section::Discuss => list(debrief.discuss.iter().cloned(), NO_DISCUSSION, &mut out),
        }
    }
    out
}

/// What stands in sections of which an incident or a run has nothing.
pub(super) const NOTHING_ASKED: &str = "No stage asked you anything: they do in guided runs.";
pub(super) const NOT_ANSWERED: &str = "You did not answer.";
pub(super) const NO_COMMENTARY: &str = "This incident has no commentary.";
pub(super) const NO_TRAP: &str = "This incident has no documented mistake to play again.";
pub(super) const NO_DISCUSSION: &str = "This incident has no questions for a team.";

fn marks(debrief: &Debrief, out: &mut Vec<Block>) {
    let score = &debrief.score;
    if score.dimensions.is_empty() {
        out.push(Text("Free play in the lab is not marked.".to_owned()));
        return;
    }
    score.dimensions.iter().for_each(|m| reasons(m, out));
    let hints = score.independence;
    out.push(Entry(
        "Independence".to_owned(),
        format!("{} of {} hints used; hints lower nothing else", hints.hints, hints.of),
    ));
}

/// How the run ended, and what is missing in one that was ended early; then what happened in it.
fn happened(debrief: &Debrief, out: &mut Vec<Block>) {
    out.extend(debrief.ended_early.iter().flat_map(EndedEarly::sentences).map(Text));
    out.push(Text(debrief.outcome.clone()));
    for entry in &debrief.timeline {
        out.push(Entry(entry.clock.clone(), format!("[{}] {}", entry.kind, entry.text)));
    }
    if debrief.timeline.is_empty() {
        out.push(Text("Nothing.".to_owned()));
    }
}

fn felt(debrief: &Debrief, width: usize, out: &mut Vec<Block>) {
    out.push(Fixed(curve::harm_curves(&debrief.harm, &debrief.forks, width)));
    if let Some(early) = debrief.ended_early.as_ref().filter(|_| !debrief.harm.played_out.is_empty()) {
        out.push(Text(format!("From {} on, your line is the run played on with nobody at it.", early.clock)));
    }
    for (who, total) in &debrief.harm.totals {
        out.push(Entry(who.clone(), total.clone()));
    }
    out.push(Text(HARMED.to_owned()));
    for lever in &debrief.harm.levers {
        out.push(Item(format!("{} {} {}", lever.letter, lever.clock, lever.what)));
        out.extend(lever.effect.iter().map(|effect| Detail(format!("Played again: {effect}."))));
    }
    for (n, fork) in debrief.forks.iter().enumerate() {
        out.push(Item(format!("{}: {}", curve::fork_name(n), fork.what)));
        out.push(Detail(fork.total.clone()));
        out.extend(fork.skipped.iter().map(|skipped| Detail(format!("Not pulled: {skipped}"))));
    }
}

fn prediction(p: &PredictionEntry) -> [Block; 2] {
    [
        Item(format!("{} {}", p.clock, p.about)),
        Detail(format!("You {}; {}: {}.", p.expectation(), p.story(), p.verdict())),
    ]
}

/// A question of a stage, what was answered, and what fits.
fn asked(entry: &AskedEntry, out: &mut Vec<Block>) {
    out.push(Item(format!("{} ({})", entry.question, entry.stage)));
    out.push(Detail(match &entry.answer {
        None => NOT_ANSWERED.to_owned(),
        Some(a) if a.why.is_empty() => {
            let figures = format!("section {} has the figures", Section::Predictions.number());
            format!("{} You predicted {}, {} % sure: {}; {figures}.", a.clock, a.text, a.sure, a.verdict())
        }
        Some(a) => {
            let said = a.text.trim_end_matches('.');
            format!("{} You chose \"{said}\", {} % sure: {}. {}", a.clock, a.sure, a.verdict(), a.why)
        }
    }));
    let fits = |fit: &FitEntry| Detail(format!("What fits: {}. {}", fit.text.trim_end_matches('.'), fit.why));
    out.extend(entry.fits.iter().map(fits));
}

/// Predictions, as they were made.
fn predictions(debrief: &Debrief, out: &mut Vec<Block>) {
    if debrief.predictions.is_empty() {
        out.push(Text("You made none.".to_owned()));
    }
    out.extend(debrief.predictions.iter().flat_map(prediction));
    if !debrief.predictions.is_empty() {
        out.push(Text(TOLERANCE.to_owned()));
    }
    if let Some(brier) = debrief.brier {
        out.push(Text(brier_text(brier)));
    }
}

fn words(debrief: &Debrief, out: &mut Vec<Block>) {
    for (question, answer) in &debrief.reflections {
        let answer = if answer.trim().is_empty() { "no answer" } else { answer.trim() };
        out.push(Item(question.clone()));
        out.push(Detail(answer.to_owned()));
    }
}

fn reading(entry: &ReadingEntry, out: &mut Vec<Block>) {
    out.push(Entry(entry.clock.clone(), entry.says.clone()));
    out.extend(entry.not_reached().map(Detail));
    for signal in entry.looks_at.iter().filter(|_| entry.reached) {
        let mark = match signal.seen {
            Seen::LookedAt => "you looked at it",
            Seen::NotLookedAt => "you had not looked at it",
            Seen::NotVisible => "it was not visible",
        };
        out.push(Detail(format!("{}: {} in your run; {mark}.", signal.name, signal.showed)));
    }
    for other in &entry.alternatives {
        out.push(Detail(format!("As good: {other}")));
    }
}

fn senior(debrief: &Debrief, out: &mut Vec<Block>) {
    debrief.reading.iter().for_each(|entry| reading(entry, out));
    if debrief.reading.is_empty() {
        out.push(Text(NO_COMMENTARY.to_owned()));
    }
}

fn held(debrief: &Debrief, out: &mut Vec<Block>) {
    out.push(Text(debrief.mechanism.summary.clone()));
    let steps = &debrief.why_it_held;
    for (i, step) in steps.iter().enumerate() {
        let arrow = if i + 1 == steps.len() { "and so back to the first" } else { "so" };
        out.push(Item(step.text.clone()));
        out.push(Detail(format!("{}: {}; {arrow}", step.series, step.figures())));
    }
    if let Some(load) = &debrief.load {
        out.push(Text(load.text()));
    }
}

fn diagnosis(debrief: &Debrief, out: &mut Vec<Block>) {
    let m = &debrief.mechanism;
    for (label, pair) in [
        (Finding::TRIGGER, &m.trigger),
        (Finding::AMPLIFIERS, &m.amplifiers),
        (Finding::CONTRIBUTING, &m.contributing),
        (Finding::BOTTLENECK, &m.bottleneck),
    ] {
        out.push(Entry(label.to_owned(), pair.0.clone()));
        out.push(Detail(format!("You named: {}.", pair.1)));
    }
    for (label, text) in [(Finding::HOLDS, &m.your_loop), (Finding::SUMMARY, &m.your_summary)] {
        if !text.trim().is_empty() {
            out.push(Entry(format!("{label}, in your words"), text.clone()));
        }
    }
    if !debrief.evidence.is_empty() {
        out.push(Heading("What you pinned".to_owned()));
    }
    for e in &debrief.evidence {
        out.push(Entry(e.id.clone(), format!("{} {}", e.clock, e.showed)));
        if !e.note.trim().is_empty() {
            out.push(Detail(e.note.clone()));
        }
    }
    if !debrief.hypotheses.is_empty() {
        out.push(Heading("Explanations".to_owned()));
    }
    for h in &debrief.hypotheses {
        let truth = if h.holds { "It holds" } else { "It does not hold" };
        out.push(Item(h.text.clone()));
        let cited =
            if h.evidence.is_empty() { String::new() } else { format!(" citing {}", h.evidence.join(", ")) };
        out.push(Detail(format!("You: {}{cited}. {truth}: {}", h.verdict, h.why)));
    }
}

fn trap(debrief: &Debrief, out: &mut Vec<Block>) {
    let Some(trap) = &debrief.trap else {
        out.push(Text(NO_TRAP.to_owned()));
        return;
    };
    let taken = if trap.taken { "You pulled this lever too." } else { "You left it alone." };
    out.push(Text(format!("{} {taken}", trap.what)));
    out.push(Entry("With it".to_owned(), trap.with.clone()));
    out.push(Entry("Doing nothing".to_owned(), trap.without.clone()));
}

fn list(items: impl Iterator<Item = String>, none: &str, out: &mut Vec<Block>) {
    let before = out.len();
    out.extend(items.map(Item));
    if out.len() == before {
        out.push(Text(none.to_owned()));
    }
}

fn next(debrief: &Debrief, out: &mut Vec<Block>) {
    out.push(Heading("Work that should follow".to_owned()));
    let line = |f: &crate::score::FollowUpEntry| {
        let chosen = if f.chosen { "chosen: " } else { "" };
        format!("{chosen}{} ({}). {}", f.text.trim_end_matches('.'), f.effect, f.why)
    };
    list(debrief.follow_ups.iter().map(line), "This incident offers no follow-ups.", out);
    if !debrief.look_alikes.is_empty() {
        out.push(Heading(LOOK_ALIKE.to_owned()));
        let play = |name: &String| format!("pagerdrill play {name}");
        list(debrief.look_alikes.iter().map(play), "", out);
    }
}

fn reasons(mark: &Mark, out: &mut Vec<Block>) {
    out.push(Item(format!("{}: {} ({})", mark.dimension.label(), mark.grade.letter(), mark.grade.words())));
    out.push(Detail(format!("Rule: {}", mark.rule)));
    out.extend(mark.facts.iter().cloned().map(Detail));
}
