//! A player who knows the incident's file: answers what fits, cites what decides, names the mechanism, follows the senior's
//! plan and predicts what will be, because it has seen the same run before. What such a player is not marked "performed" for,
//! nobody can be: the mark is out of reach.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::RunError;
use crate::game::command::{Command, EvidenceId, Expected, Finding, Prediction, Source, Verdict};
use crate::game::{Mode, Session, SessionOptions, play_plan};
use crate::incident::Incident;
use crate::incident::schema::{Ask, Effect, IncidentFile, Plan};
use crate::score::{Dimension, Grade, References, score};
use crate::telemetry::{SeriesSet, matches};
use crate::units::{SECOND, SimSpan, SimTime};

/// A mark that a player who knows everything does not get.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Unreached {
    /// What is marked.
    pub dimension: Dimension,
    /// What it was given.
    pub grade: Grade,
    /// The facts that the mark rests on.
    pub facts: Vec<String>,
}

impl Unreached {
    /// In a line.
    pub fn text(&self) -> String {
        let why = self.facts.join(" ");
        format!("{} stays at {}: {why}", self.dimension.label(), self.grade.letter())
    }
}

/// The marks of an incident that nobody can get; nothing in a fair one. A dimension about which nothing is asked is no mark.
///
/// # Errors
/// When a plan of the incident cannot be played.
pub(super) fn unreached(incident: &Arc<Incident>, seed: u64, scale: f64) -> Result<Vec<Unreached>, RunError> {
    let failed = |error| RunError::Plan { plan: "senior".to_owned(), error };
    let options = SessionOptions { seed, mode: Mode::Guided, scale };
    let senior = incident.file().plans.get("senior");
    let known = play_plan(incident, senior, options, SimTime::NEVER).map_err(failed)?;
    let mut player = Player {
        session: Session::new(Arc::clone(incident), options),
        incident: Arc::clone(incident),
        known: known.series().clone(),
    };
    player.play(senior);
    let references = References::compute(incident, seed, scale).map_err(failed)?.with_own(&player.session);
    let marks = score(&player.session, &references).dimensions;
    Ok(marks
        .into_iter()
        .filter(|mark| !matches!(mark.grade, Grade::P | Grade::NotAsked))
        .map(|mark| Unreached { dimension: mark.dimension, grade: mark.grade, facts: mark.facts })
        .collect())
}

/// How far ahead a lever's prediction looks.
const AHEAD: SimSpan = SimSpan::from_secs(300);
/// Seconds whose mean answers a prediction.
const ANSWER_S: usize = 10;

struct Player {
    session: Session,
    incident: Arc<Incident>,
    /// What will have been recorded at the end: nothing that is said or looked at changes it.
    known: SeriesSet,
}

impl Player {
    /// What is refused was not possible at that moment, and is left.
    fn tries(&mut self, command: Command) {
        let _ = self.session.submit(command);
    }

    /// Plays second by second: says what there is to say at once, and pulls the plan's levers.
    fn play(&mut self, plan: Option<&Plan>) {
        let incident = Arc::clone(&self.incident);
        let file = incident.file();
        let steps = plan.map_or(&[][..], |p| &p.steps);
        let first = steps.first().map(|step| incident.at(step.0));
        let (page, end) = (incident.at(file.clock.page), self.session.end());
        let mut next = 0;
        let mut searched = false;
        while self.session.now() < end {
            self.session.advance(self.session.now() + SimSpan(SECOND));
            let now = self.session.now();
            if now < page {
                continue;
            }
            if !self.session.view().acknowledged() {
                self.tries(Command::Acknowledge);
                self.tries(Command::Declare(file.page.severity));
                let failing = self.session.series().get("operations.failure_ratio");
                let failing =
                    failing.and_then(|s| s.mean(now.as_secs() as usize - 60..now.as_secs() as usize));
                let text = "We know, we are on it, and we write again in ten minutes.".to_owned();
                self.tries(Command::Status { text, failing });
            }
            self.answer(file);
            if !searched && first.is_none_or(|at| now >= at) {
                searched = true;
                self.search(file);
            }
            while let Some((at, action)) = steps.get(next)
                && incident.at(*at) <= now
            {
                let prediction = self.foreseen("operations.failure_ratio", AHEAD);
                self.tries(Command::Pull { action: action.clone(), prediction });
                next += 1;
            }
            // What a lever does is looked at for as long as it may take.
            if next > 0 && (now.0 / SECOND).is_multiple_of(60) {
                self.tries(Command::Look(Source::Series("operations.failure_ratio".to_owned())));
            }
        }
        self.search(file);
        self.conclude(file);
    }

    /// The value that a series will have, as a prediction without doubt.
    fn foreseen(&self, series: &str, within: SimSpan) -> Option<Prediction> {
        let due = (self.session.now() + within).min(self.session.end());
        let end = due.as_secs() as usize;
        let value = self.known.get(series)?.mean(end.saturating_sub(ANSWER_S)..end)?;
        Some(Prediction { series: series.to_owned(), expect: Expected::Value(value), sure: 100, due })
    }

    /// Answers questions and messages, as soon as they are asked.
    fn answer(&mut self, file: &IncidentFile) {
        let open = self.session.view().stage().map(|stage| stage.open_asks).unwrap_or_default();
        for ask in file.stages.iter().flat_map(|stage| &stage.asks) {
            if !open.iter().any(|o| o.id == ask.id()) {
                continue;
            }
            let answer = match ask {
                Ask::Predict { id, series, within, .. } => self
                    .foreseen(series, *within)
                    .map(|prediction| Command::Predict { ask: id.clone(), prediction }),
                Ask::Choose { id, options, .. } => options
                    .iter()
                    .position(|option| option.fits)
                    .map(|option| Command::Choose { ask: id.clone(), option, sure: 100 }),
            };
            if let Some(answer) = answer {
                self.tries(answer);
            }
        }
        let asked: Vec<usize> = self
            .session
            .view()
            .feed()
            .iter()
            .filter(|item| item.asks())
            .filter_map(|item| item.message)
            .collect();
        for message in asked {
            let fits = file.messages.get(message).and_then(|m| m.replies.iter().position(|r| r.fits));
            if let Some(reply) = fits {
                self.tries(Command::Reply { message, reply });
            }
        }
    }

    /// What a name of the file means on the screens of this moment.
    fn found(&self, name: &str) -> Option<Source> {
        let view = self.session.view();
        if let Some(stream) = name.strip_prefix("log:") {
            return view.logs().iter().rposition(|line| line.stream == stream).map(Source::Log);
        }
        match name {
            "logs" => view.logs().len().checked_sub(1).map(Source::Log),
            "traces" => view.traces().len().checked_sub(1).map(Source::Trace),
            "changes" => view.changes().last().map(|(i, _)| Source::Change(i)),
            "runbook" => (!view.runbook().is_empty()).then_some(Source::Runbook(0)),
            _ => {
                view.series().iter().find(|s| matches(name, &s.name)).map(|s| Source::Series(s.name.clone()))
            }
        }
    }

    /// Pins what decides each explanation, and judges it.
    fn search(&mut self, file: &IncidentFile) {
        for hypothesis in &file.hypotheses {
            let judged = self.session.view().hypotheses();
            if judged.iter().any(|h| h.id == hypothesis.id && !h.evidence.is_empty()) {
                continue;
            }
            let evidence = match hypothesis.decided_by.iter().find_map(|name| self.found(name)) {
                Some(what) => self.pin(what),
                None => Vec::new(),
            };
            let verdict = if hypothesis.holds { Verdict::Accepted } else { Verdict::Rejected };
            self.tries(Command::Judge { hypothesis: hypothesis.id.clone(), verdict, evidence });
        }
    }

    fn pin(&mut self, what: Source) -> Vec<EvidenceId> {
        let before = self.session.view().evidence().len();
        self.tries(Command::Pin { what, note: String::new() });
        self.session.view().evidence()[before..].iter().map(|e| e.id).collect()
    }

    /// The finding, which is the mechanism, and a follow-up that helps.
    fn conclude(&mut self, file: &IncidentFile) {
        let truth = &file.mechanism;
        let ids = |parts: &[crate::incident::schema::Part]| parts.iter().map(|p| p.id.clone()).collect();
        let judged = self.session.view().hypotheses();
        let holds = |id: &str| file.hypotheses.iter().any(|h| h.holds && h.id == id);
        let evidence = judged.iter().filter(|h| holds(&h.id)).flat_map(|h| h.evidence.clone()).collect();
        self.tries(Command::Find(Finding {
            summary: truth.summary.clone(),
            trigger: Some(truth.trigger.id.clone()),
            amplifiers: ids(&truth.amplifiers),
            sustaining: truth
                .sustained_by
                .iter()
                .map(|step| step.text.clone())
                .collect::<Vec<_>>()
                .join("; "),
            contributing: ids(&truth.contributing),
            bottleneck: Some(truth.bottleneck.id.clone()),
            evidence,
        }));
        let helps = |effect| matches!(effect, Effect::Prevents | Effect::Limits);
        let chosen: Vec<_> =
            file.follow_ups.iter().filter(|f| helps(f.effect)).take(1).map(|f| f.id.clone()).collect();
        if !chosen.is_empty() {
            self.tries(Command::FollowUps(chosen));
        }
    }
}
