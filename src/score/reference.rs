//! Runs that a player's run is compared with. All of it is plain data and may be computed on another thread.

use std::sync::Arc;

use super::fork::pull_again;
use super::harm::Harm;
use super::hysteresis::{Descent, Staircase};
use crate::game::{Mode, PlanError, Pulled, Session, SessionOptions, action_text, play_on};
use crate::incident::Incident;
use crate::incident::schema::Action;
use crate::units::Unit;

/// The same incident and seed, without the player.
#[derive(Clone, Debug, PartialEq)]
pub struct References {
    /// Nobody does anything.
    pub none: Harm,
    /// The senior's plan.
    pub senior: Harm,
    /// The documented mistake, when the incident has one.
    pub trap: Option<Harm>,
    /// Re-runs of the player's own run, once they were computed.
    pub own: Option<OwnRuns>,
    /// The load at which it would come back, once that was found out.
    pub load: Option<Descent>,
}

/// Re-runs of a player's journal, to see what each lever did.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnRuns {
    /// All levers as they were pulled, played on to the end of the clock.
    pub with: Harm,
    /// Without one lever each, in the order in which they were pulled.
    pub without: Vec<Harm>,
    /// Nobody does anything, at the size of these re-runs.
    pub none: Harm,
    /// What the player's run itself came to when it is played on to the end of the clock, at its own size.
    pub played_out: Harm,
    /// Size of these re-runs as a share of the player's run, up to 1.
    pub size: f64,
}

/// Operations per second that are enough for the re-runs that leave out one lever: they tell helpful from harmful,
/// which a smaller system shows as well.
const RERUN_RATE: f64 = 800.0;
/// A lever hurt when it added this share of the harm of doing nothing.
const HURT: f64 = 0.02;

impl References {
    /// Runs the incident without a player: nobody, the senior, the trap. They share the time before the first lever.
    ///
    /// # Errors
    /// When a plan of the incident cannot be played.
    pub fn compute(incident: &Arc<Incident>, seed: u64, scale: f64) -> Result<References, PlanError> {
        References::compute_telling(incident, seed, scale, &mut |_| {})
    }

    /// The same; each run is named to `tell` as it begins.
    ///
    /// # Errors
    /// As [`References::compute`].
    pub fn compute_telling(
        incident: &Arc<Incident>,
        seed: u64,
        scale: f64,
        tell: &mut dyn FnMut(&str),
    ) -> Result<References, PlanError> {
        let file = incident.file();
        let plans = [file.plans.get("senior"), file.plans.get("trap")];
        let first = |p: &crate::incident::schema::Plan| p.steps.first().map(|s| incident.at(s.0));
        let options = SessionOptions { seed, mode: Mode::Lab, scale };
        let mut shared = Session::new(Arc::clone(incident), options);
        let end = shared.end();
        let fork = plans.iter().flatten().filter_map(|p| first(p)).min().unwrap_or(end);
        tell("nobody does anything");
        shared.advance(fork);
        let run = |plan| Ok(Harm::of(play_on(shared.clone(), plan, end)?.series()));
        let none = run(None)?;
        tell("the senior's plan");
        let senior = run(plans[0])?;
        let trap = match plans[1] {
            Some(plan) => {
                tell("the trap");
                Some(run(Some(plan))?)
            }
            None => None,
        };
        Ok(References { none, senior, trap, own: None, load: None })
    }

    /// Adds the load at which the incident's system would come back.
    pub fn with_load(mut self, incident: &Incident) -> References {
        self.load = Some(Descent::of(incident, Staircase::small(incident)));
        self
    }

    /// Adds the re-runs of a player's own run.
    pub fn with_own(self, session: &Session) -> References {
        self.with_own_telling(session, &mut |_| {})
    }

    /// The same; each run is named to `tell` as it begins.
    pub fn with_own_telling(mut self, session: &Session, tell: &mut dyn FnMut(&str)) -> References {
        self.own = Some(OwnRuns::compute_telling(session, tell));
        self
    }

    /// How many runs are named to `tell` for a session, by [`References::compute_telling`] and
    /// [`References::with_own_telling`] together.
    pub fn runs(session: &Session) -> usize {
        let trap = usize::from(session.incident().file().plans.contains_key("trap"));
        let levers = session.pulled().len();
        let own = levers + 1 + usize::from(levers > 0) + usize::from(session.now() < session.end());
        2 + trap + own
    }

    /// Whether an action is the documented mistake, and playing that again shows that it is one.
    pub(super) fn is_trap(&self, incident: &Incident, action: &Action) -> bool {
        let worse = self.trap.as_ref().is_some_and(|trap| trap.share() > self.none.share());
        let plan = incident.file().plans.get("trap").filter(|_| worse);
        plan.is_some_and(|p| p.steps.iter().any(|s| s.1 == *action))
    }

    /// That a run was ended before its clock, and that the figures beside this are of the run played on from there; `None`
    /// where a run was played to its end.
    pub(super) fn played_on(&self, session: &Session) -> Option<String> {
        let early = self.own.is_some() && session.now() < session.end();
        early.then(|| {
            format!(
                "You ended the run at {}; from there it was played on to {} with nobody at it.",
                session.clock(),
                session.incident().clock(session.end())
            )
        })
    }

    /// Harm of the player's run, played out to the end of the clock when that was computed.
    pub(super) fn own_harm(&self, session: &Session) -> Harm {
        self.own.as_ref().map_or_else(|| Harm::of(session.series()), |o| o.played_out.clone())
    }
}

impl OwnRuns {
    /// Plays the levers of a run again, each time leaving out another one. This takes as many runs as there were
    /// levers, at a reduced size.
    pub fn compute(session: &Session) -> OwnRuns {
        OwnRuns::compute_telling(session, &mut |_| {})
    }

    fn compute_telling(session: &Session, tell: &mut dyn FnMut(&str)) -> OwnRuns {
        let options = session.options();
        let levers = session.pulled();
        let rate = session.incident().spec().traffic.first().map_or(1.0, |t| t.1).max(1.0);
        let small =
            SessionOptions { mode: Mode::Lab, scale: options.scale.min(RERUN_RATE / rate), ..options };
        let size = small.scale / options.scale;
        let mut trunk = Session::new(Arc::clone(session.incident()), small);
        let mut without = Vec::with_capacity(levers.len());
        for (i, lever) in levers.iter().enumerate() {
            tell(&format!("your run without {}", action_text(&lever.action)));
            trunk.advance(lever.at);
            without.push(finish(trunk.clone(), after(levers, i)));
            // Levers were accepted once and the lab refuses no more than that.
            let _ = pull_again(&mut trunk, &lever.action, lever.proposal.as_ref());
        }
        tell("your run with every lever, at the same size");
        let with = finish(trunk, []);
        let none = match levers.first() {
            None => with.clone(),
            Some(_) => {
                tell("nobody does anything, at the same size");
                finish(Session::new(Arc::clone(session.incident()), small), [])
            }
        };
        let played_out = if session.now() >= session.end() {
            Harm::of(session.series())
        } else {
            tell("your run to the end of the clock");
            Harm::of(session.played_out().series())
        };
        OwnRuns { with, without, none, played_out, size }
    }

    /// What a lever added to the harm, by its place among those that were pulled, as a share of the harm of doing
    /// nothing; below 0 when it took some away. All of it is from the re-runs, so that like is compared with like.
    pub(super) fn added(&self, lever: usize) -> Option<f64> {
        let without = self.without.get(lever)?;
        Some((self.with.total() - without.total()) / self.none.total().max(1.0))
    }

    /// Whether a lever made it worse to speak of.
    pub(super) fn hurt(&self, lever: usize) -> bool {
        self.added(lever).is_some_and(|share| share > HURT)
    }

    /// What leaving out a lever says about it, in words.
    pub(super) fn effect_text(&self, lever: usize) -> Option<String> {
        /// Difference of the harmed shares that is none to speak of.
        const LITTLE: f64 = 0.005;
        let (with, without) = (self.with.share(), self.without.get(lever)?.share());
        let word = match with - without {
            d if d > LITTLE => "it made things worse",
            d if d < -LITTLE => "it helped",
            _ => "it changed little",
        };
        let show = |share| Unit::Ratio.show(share);
        Some(format!("{word}; {} harmed with it, {} without it", show(with), show(without)))
    }

    /// Which runs these are, to stand in front of their figures.
    pub fn label(&self) -> String {
        if self.size < 1.0 {
            format!("In re-runs at {:.0} % of the size", self.size * 100.0)
        } else {
            "In re-runs".to_owned()
        }
    }
}

/// The levers after one that is left out. The same again, with nothing else set in between, is left out with it: it would only
/// do later what was to be left undone.
fn after(levers: &[Pulled], left_out: usize) -> impl Iterator<Item = &Pulled> {
    let wanted = &levers[left_out].action;
    let again = move |p: &Pulled| p.action == *wanted && wanted.stays();
    let rest = &levers[left_out + 1..];
    let other = rest.iter().position(|p| p.action.lever() == wanted.lever() && p.action != *wanted);
    let until = other.unwrap_or(rest.len());
    rest.iter().enumerate().filter(move |(i, p)| *i >= until || !again(p)).map(|(_, p)| p)
}

/// Pulls the levers that are left and plays on to the end.
fn finish<'a>(mut session: Session, levers: impl IntoIterator<Item = &'a Pulled>) -> Harm {
    for lever in levers {
        session.advance(lever.at);
        let _ = pull_again(&mut session, &lever.action, lever.proposal.as_ref());
    }
    session.advance(session.end());
    Harm::of(session.series())
}
