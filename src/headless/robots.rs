//! Robot players: whoever plays an incident without understanding it, and two who do. An incident is fair when the ones
//! lose and the others win.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Ending, RunError, ending};
use crate::game::{Argument, LeverView, Mode, Session, SessionOptions, action_with, play_on};
use crate::incident::Incident;
use crate::incident::schema::{Action, Knob, Lever, Plan};
use crate::score::Harm;
use crate::sim::rng::Stream;
use crate::units::{SECOND, SimSpan, SimTime, TimeOfDay, Unit};

/// A player that decides by a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub enum Robot {
    /// Does nothing.
    Idle,
    /// Takes everything that has a size to the largest that can be set.
    Scaler,
    /// Restarts every service and flushes every cache.
    Restarter,
    /// Makes the documented mistake, the plan `trap`.
    Trap,
    /// Pulls levers that it draws, at times that it draws.
    Random,
    /// Follows the plan `senior`.
    Senior,
    /// Follows the plan `another-way`: right, and not what the senior does.
    AnotherWay,
}

impl Robot {
    /// All of them, in the order of the report.
    pub const ALL: [Robot; 7] = [
        Robot::Idle,
        Robot::Scaler,
        Robot::Restarter,
        Robot::Random,
        Robot::Trap,
        Robot::AnotherWay,
        Robot::Senior,
    ];

    /// As shown.
    pub fn label(self) -> &'static str {
        match self {
            Robot::Idle => "does nothing",
            Robot::Scaler => "scales everything",
            Robot::Restarter => "restarts everything",
            Robot::Trap => "makes the documented mistake",
            Robot::Random => "pulls levers at random",
            Robot::Senior => "follows the senior's plan",
            Robot::AnotherWay => "goes another way",
        }
    }

    /// What it does in this incident; `None` for a plan that the incident does not have. Only [`Robot::Random`] depends
    /// on the seed.
    pub fn plan(self, incident: &Arc<Incident>, seed: u64) -> Option<Plan> {
        let steps = match self {
            Robot::Idle => Vec::new(),
            Robot::Scaler => at_once(incident, largest),
            Robot::Restarter => at_once(incident, restarted),
            Robot::Random => drawn(incident, seed),
            Robot::Trap => return incident.file().plans.get("trap").cloned(),
            Robot::Senior => return incident.file().plans.get("senior").cloned(),
            Robot::AnotherWay => return incident.file().plans.get("another-way").cloned(),
        };
        Some(Plan { what: self.label().to_owned(), steps })
    }
}

/// How long after the page a robot with one idea has it.
const IDEA_AFTER: SimSpan = SimSpan::from_secs(240);
/// Levers that the random player pulls.
const DRAWN: usize = 6;
/// What the random player makes of a number, as a multiple of the present one.
const TIMES: [f64; 7] = [0.1, 0.25, 0.5, 1.5, 2.0, 4.0, 10.0];

/// The levers of an incident as a player finds them.
fn levers(incident: &Arc<Incident>) -> Vec<LeverView> {
    let session =
        Session::new(Arc::clone(incident), SessionOptions { scale: 0.001, ..SessionOptions::default() });
    session.view().levers()
}

/// What a robot with one idea does with every lever that the idea is about.
fn at_once(incident: &Arc<Incident>, act: impl Fn(&LeverView) -> Option<Action>) -> Vec<(TimeOfDay, Action)> {
    let clock = incident.file().clock;
    let left = incident.at(clock.end).since(incident.at(clock.page));
    let at = clock.page.after(IDEA_AFTER.min(SimSpan(left.0 / 4)));
    levers(incident).iter().filter_map(act).map(|action| (at, action)).collect()
}

/// The largest that a lever allows, for one that sets how much there is of something.
fn largest(view: &LeverView) -> Option<Action> {
    let Argument::Number { max, .. } = view.argument else { return None };
    let sizes = matches!(
        view.lever,
        Lever::Scale(_)
            | Lever::PoolSize { .. }
            | Lever::Set(Knob::Cores(_) | Knob::Connections(_) | Knob::Workers(_))
    );
    sizes.then(|| action_with(&view.lever, max, 0.0))
}

/// A restart, or a flush, all at once.
fn restarted(view: &LeverView) -> Option<Action> {
    match (&view.lever, &view.argument) {
        (Lever::RollingRestart(_), Argument::Number { suggested, .. }) => {
            Some(action_with(&view.lever, *suggested, 0.0))
        }
        (Lever::FlushCache(_), _) => Some(action_with(&view.lever, 0.0, 0.0)),
        _ => None,
    }
}

/// Levers drawn from those offered, with arguments that can be set, at times between the page and the end.
fn drawn(incident: &Arc<Incident>, seed: u64) -> Vec<(TimeOfDay, Action)> {
    let mut stream = Stream::new(seed, "a player who pulls levers at random");
    let mut below = |n: usize| (stream.draw() % n.max(1) as u64) as usize;
    let offered = levers(incident);
    if offered.is_empty() {
        return Vec::new();
    }
    let clock = incident.file().clock;
    let seconds = incident.at(clock.end).since(incident.at(clock.page)).as_secs_f64() as usize;
    let mut times: Vec<u64> = (0..DRAWN).map(|_| below(seconds) as u64).collect();
    times.sort_unstable();
    let mut steps = Vec::with_capacity(DRAWN);
    for at in times {
        let lever = &offered[below(offered.len())];
        let action = match &lever.argument {
            Argument::None => action_with(&lever.lever, 0.0, 0.0),
            Argument::Switch { .. } => action_with(&lever.lever, below(2) as f64, 0.0),
            Argument::Number { min, max, suggested, unit, .. } => {
                let value = (suggested * TIMES[below(TIMES.len())]).clamp(*min, *max);
                let whole = *unit == Unit::Count && value >= 1.0;
                action_with(&lever.lever, if whole { value.floor() } else { value }, 0.0)
            }
            Argument::WarmUp { suggested_keys, suggested_rate, max_keys, max_rate } => {
                let keys =
                    (f64::from(*suggested_keys) * TIMES[below(TIMES.len())]).clamp(1.0, f64::from(*max_keys));
                let rate = (suggested_rate * TIMES[below(TIMES.len())]).clamp(1.0, *max_rate);
                action_with(&lever.lever, keys.floor(), rate)
            }
        };
        steps.push((clock.page.after(SimSpan::from_secs(at)), action));
    }
    steps
}

/// What came of a robot's run.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Played {
    /// Who played.
    pub robot: Robot,
    /// Harmed share of all operations.
    pub harm: f64,
    /// Operations served in time from the trap's first lever on, where there is a trap.
    pub served: f64,
    /// Whether it was well at the end.
    pub well: bool,
    /// The time of day from which on it was well, when it was not from the start.
    pub recovered: Option<TimeOfDay>,
}

impl Played {
    /// How it ended, in words.
    pub fn ended(&self) -> String {
        match (self.well, self.recovered) {
            (true, Some(at)) => format!("well at {at}"),
            (true, None) => "hardly any harm".to_owned(),
            (false, _) => "failing at the end".to_owned(),
        }
    }
}

/// All robots play one seed. They share the time up to the page.
///
/// # Errors
/// When a plan of the incident cannot be played.
pub(super) fn play_all(incident: &Arc<Incident>, seed: u64, scale: f64) -> Result<Vec<Played>, RunError> {
    let file = incident.file();
    let page = incident.at(file.clock.page);
    // The lab takes plans that begin before the page; what is simulated is the same in every mode.
    let mut shared = Session::new(Arc::clone(incident), SessionOptions { seed, mode: Mode::Lab, scale });
    let plans: Vec<(Robot, Plan)> =
        Robot::ALL.into_iter().filter_map(|robot| Some((robot, robot.plan(incident, seed)?))).collect();
    let first = plans.iter().filter_map(|(_, plan)| plan.steps.first()).map(|step| incident.at(step.0)).min();
    shared.advance(first.unwrap_or(page).min(page));
    let since =
        file.plans.get("trap").and_then(|trap| trap.steps.first()).map_or(page, |step| incident.at(step.0));
    plans
        .into_iter()
        .map(|(robot, plan)| {
            let session = play_on(shared.clone(), Some(&plan), SimTime::NEVER)
                .map_err(|error| RunError::Plan { plan: robot.label().to_owned(), error })?;
            Ok(played(robot, &session, since))
        })
        .collect()
}

fn played(robot: Robot, session: &Session, since: SimTime) -> Played {
    let (well, recovered) = match ending(session) {
        Ending::Unharmed => (true, None),
        Ending::Recovered(at) => (true, Some(session.incident().clock(at))),
        Ending::Failing => (false, None),
    };
    let served = session
        .series()
        .get("operations.served")
        .map_or(&[][..], |s| s.window((since.0 / SECOND) as usize..s.values.len()));
    Played {
        robot,
        harm: Harm::of(session.series()).share(),
        served: served.iter().filter(|v| v.is_finite()).sum(),
        well,
        recovered,
    }
}
