//! Timed levers played by nobody: the plans of an incident, and those that a person writes.

use std::sync::Arc;

use super::command::Command;
use super::refusal::Refusal;
use super::session::{Mode, Session, SessionOptions};
use crate::incident::Incident;
use crate::incident::schema::Plan;
use crate::units::{SECOND, SimTime, TimeOfDay};

/// Why a plan could not be played.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// A step lies outside the incident's clock.
    #[error("step {step} is at {at}, outside the incident's clock ({start} to {end})")]
    OutsideClock {
        /// Counted from 1.
        step: usize,
        /// The step's time.
        at: TimeOfDay,
        /// Start of the clock.
        start: TimeOfDay,
        /// End of the clock.
        end: TimeOfDay,
    },
    /// A step lies before the one before it.
    #[error("step {step} is at {at}, before the step in front of it; put the steps in order of time")]
    OutOfOrder {
        /// Counted from 1.
        step: usize,
        /// The step's time.
        at: TimeOfDay,
    },
    /// The session refuses a step.
    #[error("step {step} at {at}: {refusal}")]
    Refused {
        /// Counted from 1.
        step: usize,
        /// The step's time.
        at: TimeOfDay,
        /// What the session said.
        refusal: Refusal,
    },
}

/// The instants of a plan's steps, checked.
fn instants(incident: &Incident, plan: &Plan) -> Result<Vec<SimTime>, PlanError> {
    let clock = incident.file().clock;
    let end = incident.at(clock.end);
    let mut last = SimTime::ZERO;
    let mut all = Vec::with_capacity(plan.steps.len());
    for (i, (time, _)) in plan.steps.iter().enumerate() {
        let at = incident.at(*time);
        // Times before the start are read as the start, so compare what the clock shows there.
        if at > end || incident.clock(at) != *time {
            return Err(PlanError::OutsideClock {
                step: i + 1,
                at: *time,
                start: clock.start,
                end: clock.end,
            });
        }
        if at < last {
            return Err(PlanError::OutOfOrder { step: i + 1, at: *time });
        }
        last = at;
        all.push(at);
    }
    Ok(all)
}

/// The mode that a plan can be played in: live, or the lab when a step lies before the page.
fn mode_of(incident: &Incident, steps: &[SimTime]) -> Mode {
    let page = incident.at(incident.file().clock.page);
    if steps.iter().any(|at| *at < page) { Mode::Lab } else { Mode::Live }
}

/// Plays an incident with a plan, or without any, up to `until`. The mode of `options` gives way to what the plan
/// needs.
///
/// # Errors
/// When a step lies outside the clock or out of order, or is refused.
pub fn play_plan(
    incident: &Arc<Incident>,
    plan: Option<&Plan>,
    options: SessionOptions,
    until: SimTime,
) -> Result<Session, PlanError> {
    play_on(begin(incident, plan, options)?, plan, until)
}

/// A session that the plan can be played in.
fn begin(
    incident: &Arc<Incident>,
    plan: Option<&Plan>,
    options: SessionOptions,
) -> Result<Session, PlanError> {
    let steps = plan.map_or(Ok(Vec::new()), |p| instants(incident, p))?;
    let mode = mode_of(incident, &steps);
    Ok(Session::new(Arc::clone(incident), SessionOptions { mode, ..options }))
}

/// As [`play_plan`], and shows the session to `watch` at the start and at every whole second from then on; when `watch` has
/// seen enough, it says `false`, and the run ends there. All caches keep how old their values are.
///
/// # Errors
/// As [`play_plan`].
pub fn watch_plan(
    incident: &Arc<Incident>,
    plan: Option<&Plan>,
    options: SessionOptions,
    until: SimTime,
    mut watch: impl FnMut(&Session) -> bool,
) -> Result<Session, PlanError> {
    let mut session = begin(incident, plan, options)?;
    session.keep_ages();
    if !watch(&session) {
        return Ok(session);
    }
    play_watched(session, plan, until, watch)
}

/// Plays the steps of a plan that lie at or after the present instant of a session, up to `until`.
///
/// # Errors
/// As [`play_plan`].
pub fn play_on(session: Session, plan: Option<&Plan>, until: SimTime) -> Result<Session, PlanError> {
    play_watched(session, plan, until, |_| true)
}

fn play_watched(
    mut session: Session,
    plan: Option<&Plan>,
    until: SimTime,
    mut watch: impl FnMut(&Session) -> bool,
) -> Result<Session, PlanError> {
    if let Some(plan) = plan {
        let incident = Arc::clone(session.incident());
        let steps = instants(&incident, plan)?;
        for (i, (at, (time, action))) in steps.into_iter().zip(&plan.steps).enumerate() {
            if at > until || at >= session.end() {
                break;
            }
            if !advance(&mut session, at, &mut watch) {
                return Ok(session);
            }
            session
                .submit(Command::Pull { action: action.clone(), prediction: None })
                .map_err(|refusal| PlanError::Refused { step: i + 1, at: *time, refusal })?;
        }
    }
    advance(&mut session, until, &mut watch);
    Ok(session)
}

/// Moves a session on, a second at a time, for as long as `watch` wants.
fn advance(session: &mut Session, until: SimTime, watch: &mut impl FnMut(&Session) -> bool) -> bool {
    let until = until.min(session.end());
    while session.now() < until {
        let before = session.now();
        session.advance(SimTime((before.0 / SECOND + 1) * SECOND).min(until));
        if session.now() == before {
            break;
        }
        if session.now().0.is_multiple_of(SECOND) && !watch(session) {
            return false;
        }
    }
    true
}
