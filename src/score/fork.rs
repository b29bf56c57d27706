//! What would have been: the levers of a run played again with one decision changed, or in a system that was mended.
//!
//! Everything before the decision stays as it was, and the levers after it are pulled again unless they are dropped. All
//! of it is plain data in and out, and may be computed on another thread.

use std::sync::Arc;

use serde::Serialize;

use super::debrief::{HARM_STEP_S, buckets, harm_text, letter};
use super::harm::Harm;
use crate::game::command::Command;
use crate::game::{Mode, Pulled, Session, SessionOptions, action_text};
use crate::incident::schema::{Action, Name};
use crate::incident::{Incident, VariantError};
use crate::units::{SimSpan, SimTime};

/// Simulated time between questions whether to go on.
const PIECE: SimSpan = SimSpan::from_secs(10);

/// A moment at which the player did something, or left something alone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Decision {
    /// What it is called: the letter of a lever, the name of a proposal that was declined, or `page`.
    pub name: String,
    /// Time of day.
    pub clock: String,
    /// What was done, in words.
    pub what: String,
    /// When.
    #[serde(skip)]
    pub at: SimTime,
    /// The lever, by its place among those that were pulled.
    #[serde(skip)]
    pub lever: Option<usize>,
    /// What was proposed and declined.
    #[serde(skip)]
    pub proposed: Option<Action>,
}

/// What is done instead.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Nothing.
    Without,
    /// The same, later.
    Later(SimSpan),
    /// Something else.
    Instead(Action),
}

/// A decision with what is done instead.
#[derive(Clone, Debug, PartialEq)]
pub struct Fork {
    /// The decision.
    pub decision: Decision,
    /// What is done instead.
    pub change: Change,
    /// Whether the levers that were pulled afterwards are left out.
    pub drop_later: bool,
}

/// A run that was played again.
#[derive(Clone, Debug, PartialEq)]
pub struct Again {
    /// How users fared.
    pub harm: Harm,
    /// Levers that could not be pulled in it, with the reason.
    pub skipped: Vec<String>,
}

/// Why a run cannot be played again in that way.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ForkError {
    /// There is no lever at this decision.
    #[error(
        "{0} is no lever that was pulled, so there is none to leave out or to pull later; say what to do instead"
    )]
    NoLever(String),
    /// The change lies outside the clock.
    #[error("{0} later, the incident's clock has run out")]
    TooLate(SimSpan),
    /// What is to be done instead is not possible.
    #[error("{0}")]
    Refused(String),
    /// The incident has no such follow-up.
    #[error("the incident has no follow-up \"{0}\" that can be switched on; there is {1}")]
    NoFollowUp(String, String),
    /// The changes of a follow-up cannot be made.
    #[error("the follow-up \"{0}\" cannot be switched on: {1}")]
    CannotApply(String, VariantError),
    /// It was stopped.
    #[error("stopped")]
    Stopped,
}

/// The decisions of a run in order of time: the page, every lever, every proposal that was declined.
pub fn decisions(session: &Session) -> Vec<Decision> {
    let clock = |at: SimTime| session.incident().clock(at).to_string();
    let page = session.page_at();
    let mut all = vec![Decision {
        name: "page".to_owned(),
        clock: clock(page),
        what: "you were paged".to_owned(),
        at: page,
        lever: None,
        proposed: None,
    }];
    all.extend(session.pulled().iter().enumerate().map(|(n, p)| Decision {
        name: letter(n).to_string(),
        clock: clock(p.at),
        what: action_text(&p.action),
        at: p.at,
        lever: Some(n),
        proposed: None,
    }));
    let proposals = &session.incident().file().proposals;
    all.extend(session.journal().iter().filter_map(|(at, command)| {
        let Command::Respond { proposal, accept: false, .. } = command else { return None };
        let action = proposals.iter().find(|p| p.id == *proposal)?.action.clone();
        Some(Decision {
            name: proposal.clone(),
            clock: clock(*at),
            what: format!("you declined {}", action_text(&action)),
            at: *at,
            lever: None,
            proposed: Some(action),
        })
    }));
    all.sort_by_key(|d| d.at);
    all
}

/// A lever to be pulled again.
#[derive(Clone, Debug)]
struct Step {
    at: SimTime,
    action: Action,
    proposal: Option<Name>,
}

impl Step {
    fn of(pulled: &Pulled) -> Step {
        Step { at: pulled.at, action: pulled.action.clone(), proposal: pulled.proposal.clone() }
    }
}

/// Pulls a lever again, the way it was pulled: a proposal may use one that the player is not offered.
pub(super) fn pull_again(
    session: &mut Session,
    action: &Action,
    proposal: Option<&Name>,
) -> Result<(), String> {
    if let Some(proposal) = proposal {
        let accept = Command::Respond { proposal: proposal.clone(), accept: true, prediction: None };
        if session.submit(accept).is_ok() {
            return Ok(());
        }
    }
    let pull = Command::Pull { action: action.clone(), prediction: None };
    session.submit(pull).map_err(|refusal| refusal.to_string())
}

/// Plays levers to the end of the clock, and asks `go_on` now and then, with the share that is done.
fn play(
    incident: &Arc<Incident>,
    options: SessionOptions,
    steps: &[Step],
    go_on: &mut dyn FnMut(f64) -> bool,
) -> Result<Again, ForkError> {
    let mut session = Session::new(Arc::clone(incident), SessionOptions { mode: Mode::Lab, ..options });
    let end = session.end();
    let mut skipped = Vec::new();
    let mut advance = |session: &mut Session, until: SimTime| {
        while session.now() < until {
            if !go_on(session.now().as_secs_f64() / end.as_secs_f64().max(1.0)) {
                return Err(ForkError::Stopped);
            }
            session.advance((session.now() + PIECE).min(until));
        }
        Ok(())
    };
    for step in steps {
        advance(&mut session, step.at)?;
        if let Err(why) = pull_again(&mut session, &step.action, step.proposal.as_ref()) {
            skipped.push(format!("{} {}: {why}", session.clock(), action_text(&step.action)));
        }
    }
    advance(&mut session, end)?;
    Ok(Again { harm: Harm::of(session.series()), skipped })
}

impl Fork {
    /// What is done instead, in words.
    pub fn what(&self) -> String {
        let Decision { name, clock, what, .. } = &self.decision;
        let change = match &self.change {
            Change::Without => "left out".to_owned(),
            Change::Later(by) => format!("{} later", by.words()),
            Change::Instead(action) if self.decision.lever.is_none() => action_text(action),
            Change::Instead(action) => format!("instead {}", action_text(action)),
        };
        let dropped = if self.drop_later { ", and no lever after it" } else { "" };
        format!("{name} {clock} {what}: {change}{dropped}")
    }

    /// The levers of the run with the decision changed, in order of time.
    fn steps(&self, session: &Session) -> Result<Vec<Step>, ForkError> {
        let mut steps: Vec<Step> = session.pulled().iter().map(Step::of).collect();
        let at = self.decision.at;
        if self.drop_later {
            let mut n = 0;
            steps.retain(|s| {
                n += 1;
                s.at < at || s.at == at && self.decision.lever.is_some_and(|l| n <= l + 1)
            });
        }
        let no_lever = || ForkError::NoLever(self.decision.name.clone());
        match (&self.change, self.decision.lever) {
            (Change::Without, Some(lever)) => {
                steps.remove(lever);
            }
            (Change::Later(by), Some(lever)) => {
                if at + *by >= session.end() {
                    return Err(ForkError::TooLate(*by));
                }
                steps[lever].at = at + *by;
            }
            (Change::Instead(action), Some(lever)) => {
                steps[lever] = Step { at, action: action.clone(), proposal: None };
            }
            (Change::Instead(action), None) => {
                steps.push(Step { at, action: action.clone(), proposal: None });
            }
            (Change::Without | Change::Later(_), None) => return Err(no_lever()),
        }
        steps.sort_by_key(|s| s.at);
        Ok(steps)
    }

    /// Plays the run with the decision changed: the same seed and size, to the end of the clock. `go_on` is asked now and
    /// then, with the share that is done, and stops it.
    ///
    /// # Errors
    /// When there is no such choice at the decision, what is to be done instead is refused, or it was stopped.
    pub fn play(&self, session: &Session, go_on: &mut dyn FnMut(f64) -> bool) -> Result<Again, ForkError> {
        let incident = session.incident();
        if let Change::Instead(action) = &self.change
            && self.decision.proposed.as_ref() != Some(action)
        {
            // Asked of the run's first instant: what is not offered is refused then as well.
            let options = SessionOptions { mode: Mode::Lab, ..session.options() };
            let mut first = Session::new(Arc::clone(incident), options);
            pull_again(&mut first, action, None).map_err(ForkError::Refused)?;
        }
        play(incident, session.options(), &self.steps(session)?, go_on)
    }

    /// The fork as a debrief shows it.
    pub fn entry(&self, again: &Again) -> ForkEntry {
        ForkEntry {
            what: self.what(),
            at_s: self.decision.at.as_secs(),
            step_s: HARM_STEP_S,
            harm: buckets(&again.harm),
            total: harm_text(&again.harm),
            skipped: again.skipped.clone(),
        }
    }
}

/// A fork that was played.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ForkEntry {
    /// The decision and what was done instead.
    pub what: String,
    /// Seconds since the start at which it leaves the run.
    pub at_s: u64,
    /// Seconds of a bucket.
    pub step_s: usize,
    /// Harmed share by bucket.
    pub harm: Vec<f64>,
    /// Total in words.
    pub total: String,
    /// Levers that could not be pulled in it.
    pub skipped: Vec<String>,
}

/// What follow-ups would have changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Mended {
    /// The follow-ups that were switched on, in words.
    pub what: Vec<String>,
    /// The player's levers in the mended system.
    pub you: Again,
    /// Nobody acts in the mended system.
    pub nobody: Again,
}

/// The incident with follow-ups switched on.
///
/// # Errors
/// When there is no such follow-up, or its changes do not go together with those of the others.
pub fn mended(incident: &Incident, follow_ups: &[Name]) -> Result<Incident, ForkError> {
    let all = &incident.file().follow_ups;
    let mut changed = incident.clone();
    for name in follow_ups {
        let found = all.iter().find(|f| f.id == *name).and_then(|f| f.applies.as_ref());
        let Some(variant) = found else {
            let known: Vec<&str> =
                all.iter().filter(|f| f.applies.is_some()).map(|f| f.id.as_str()).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(ForkError::NoFollowUp(name.clone(), known));
        };
        changed =
            changed.changed(name, variant).map_err(|error| ForkError::CannotApply(name.clone(), error))?;
    }
    Ok(changed)
}

impl Mended {
    /// Plays the incident with follow-ups switched on, with the player's levers and with nobody acting: the same seed and
    /// size. `go_on` as in [`Fork::play`].
    ///
    /// # Errors
    /// When the follow-ups cannot be switched on, or it was stopped.
    pub fn play(
        session: &Session,
        follow_ups: &[Name],
        go_on: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Mended, ForkError> {
        let incident = Arc::new(mended(session.incident(), follow_ups)?);
        let steps: Vec<Step> = session.pulled().iter().map(Step::of).collect();
        let options = session.options();
        let you = play(&incident, options, &steps, &mut |done| go_on(done / 2.0))?;
        let nobody = play(&incident, options, &[], &mut |done| go_on(0.5 + done / 2.0))?;
        let all = &session.incident().file().follow_ups;
        let what = all.iter().filter(|f| follow_ups.contains(&f.id)).map(|f| f.text.clone()).collect();
        Ok(Mended { what, you, nobody })
    }
}
