//! Runs without a player: a plan drives a session as fast as possible, and what came of it is written as JSON.

mod capacity;
pub mod fairness;
pub mod frames;
mod json;
mod perfect;
mod robots;

use std::sync::Arc;

use crate::game::{PlanError, Session, SessionOptions, play_plan};
use crate::incident::Incident;
use crate::incident::expect::{self, Measured};
use crate::incident::schema::{Name, Plan};
use crate::score::Harm;
use crate::telemetry::Series;
use crate::units::SimTime;

pub use capacity::{Capacity, capacity};
pub use json::SCHEMA;
pub use perfect::Unreached;
pub use robots::{Played, Robot};

/// Who acts.
#[derive(Clone, Debug)]
pub enum Pilot {
    /// Nobody.
    Nobody,
    /// A plan of the incident, by its name.
    Named(Name),
    /// A plan of somebody's own, with what it is called.
    Own(String, Plan),
}

impl Pilot {
    /// What the plan is called, and the plan.
    fn plan<'a>(&'a self, incident: &'a Incident) -> Result<(&'a str, Option<&'a Plan>), RunError> {
        let plans = &incident.file().plans;
        match self {
            Pilot::Nobody => Ok(("none", None)),
            Pilot::Named(name) => match plans.get(name) {
                Some(plan) => Ok((name.as_str(), Some(plan))),
                None => {
                    let known =
                        plans.keys().map(String::as_str).chain(["none"]).collect::<Vec<_>>().join(", ");
                    Err(RunError::NoSuchPlan { wanted: name.clone(), known })
                }
            },
            Pilot::Own(label, plan) => Ok((label.as_str(), Some(plan))),
        }
    }
}

/// How to run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Seed.
    pub seed: u64,
    /// Size of the simulated system, 1 for the described one.
    pub scale: f64,
    /// Where to stop; the end of the clock when left out.
    pub until: Option<SimTime>,
}

impl Default for Options {
    fn default() -> Options {
        Options { seed: 1, scale: 1.0, until: None }
    }
}

/// Why there was no run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The incident has no plan of that name.
    #[error("the incident has no plan \"{wanted}\"; it has: {known}")]
    NoSuchPlan {
        /// What was asked for.
        wanted: String,
        /// The names that there are.
        known: String,
    },
    /// The plan cannot be played.
    #[error("plan {plan}: {error}")]
    Plan {
        /// The plan.
        plan: String,
        /// What is wrong with it.
        error: PlanError,
    },
}

/// A run that is over.
pub struct RunResult {
    /// The session as it stands at the end.
    pub session: Session,
    /// What the plan is called: `none`, a name of the incident's, or what was given.
    pub plan: String,
    /// The name under which the incident states expectations for this run; `None` inside for the run of nobody.
    stated_for: Option<Option<Name>>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Users were hardly harmed at any time.
    Unharmed,
    /// It recovered for good at this instant.
    Recovered(SimTime),
    /// It was still failing when it ended.
    Failing,
}

/// Runs an incident.
///
/// # Errors
/// When the plan is unknown or cannot be played.
pub fn run(incident: &Arc<Incident>, pilot: &Pilot, options: Options) -> Result<RunResult, RunError> {
    let (name, plan) = pilot.plan(incident)?;
    let stated_for = match pilot {
        Pilot::Nobody => Some(None),
        Pilot::Named(name) => Some(Some(name.clone())),
        Pilot::Own(..) => None,
    };
    let session_options =
        SessionOptions { seed: options.seed, scale: options.scale, ..SessionOptions::default() };
    let until = options.until.unwrap_or(SimTime::NEVER);
    let session = play_plan(incident, plan, session_options, until)
        .map_err(|error| RunError::Plan { plan: name.to_owned(), error })?;
    Ok(RunResult { session, plan: name.to_owned(), stated_for })
}

/// How a run ended, judged by the users.
fn ending(session: &Session) -> Ending {
    let harm = Harm::of(session.series());
    let trigger = session.trigger_at().as_secs() as usize;
    match harm.recovered_at(trigger) {
        _ if harm.worst_minute(trigger) <= 0.02 => Ending::Unharmed,
        Some(at) => Ending::Recovered(SimTime::from_secs(at as u64)),
        None => Ending::Failing,
    }
}

impl RunResult {
    /// The figures that the incident states for this run, beside what it gave. Nothing for a plan of one's own.
    pub fn expectations(&self) -> Vec<Measured<'_>> {
        let incident = self.session.incident();
        match &self.stated_for {
            Some(plan) => expect::evaluate(incident, plan.as_deref(), self.session.series()),
            None => Vec::new(),
        }
    }

    /// How it ended, judged by the users.
    pub fn ending(&self) -> Ending {
        ending(&self.session)
    }

    /// The run as JSON, with what was worked out from its series besides. Everything but `wall_s` is the same for the same
    /// incident, seed and plan.
    pub fn json(&self, wall_s: f64, answers: &[Series]) -> String {
        json::write(self, wall_s, answers)
    }
}
