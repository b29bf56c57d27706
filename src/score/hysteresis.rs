//! Why an outage can outlive what started it: the load at which a system falls over is not the load at which it comes
//! back.
//!
//! A staircase of load goes up until most operations fail, and down again in the same steps. Another one goes down from
//! the normal load after the incident has happened. Between the load that brings a system down and the one at which it
//! recovers it has two states that both hold themselves (Bronson et al., "Metastable failures in distributed systems",
//! HotOS 2021; Huang et al., OSDI 2022): healthy if it was healthy, down if something has pushed it over.

use serde::Serialize;

use crate::incident::Incident;
use crate::sim::{Fault, Spec, World};
use crate::units::{SECOND, SimSpan, SimTime, Unit};

/// A load, and how users fared under it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Level {
    /// Operations offered per second, at full size.
    pub per_s: f64,
    /// Share of the operations that failed, were turned away or came late, in the second half of the level.
    pub harmed: f64,
}

/// What a staircase showed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hysteresis {
    /// Operations per second as the incident begins.
    pub normal: f64,
    /// How long each level lasted, seconds.
    pub hold_s: u64,
    /// On the way up, the lowest load first. The last one is where it fell over, if it did.
    pub up: Vec<Level>,
    /// On the way down, the highest load first.
    pub down: Vec<Level>,
    /// On the way down from the normal load after what happens in the incident.
    pub after: Descent,
}

/// A way down from the normal load, after what happens in an incident.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Descent {
    /// Operations per second as the incident begins.
    pub normal: f64,
    /// The highest load first, which is the normal one.
    pub levels: Vec<Level>,
}

/// How to climb.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Staircase {
    /// Seed.
    pub seed: u64,
    /// Size of the simulated system, up to 1.
    pub scale: f64,
    /// How long each level lasts.
    pub hold: SimSpan,
}

impl Staircase {
    /// A usual one for an incident: large enough to tell well from ill, and small enough to take seconds.
    pub fn usual(incident: &Incident) -> Staircase {
        Staircase::with_rate(incident, USUAL_RATE, 0.1)
    }

    /// A small one, for the way down alone.
    pub fn small(incident: &Incident) -> Staircase {
        Staircase::with_rate(incident, USUAL_RATE / 4.0, 0.025)
    }

    fn with_rate(incident: &Incident, per_s: f64, smallest: f64) -> Staircase {
        let normal = incident.spec().traffic.first().map_or(1.0, |first| first.1);
        let scale = (per_s / normal.max(1.0)).clamp(smallest, 1.0);
        Staircase { seed: 1, scale, hold: SimSpan::from_secs(120) }
    }
}

/// Operations per second that are enough.
const USUAL_RATE: f64 = 400.0;
/// The lowest level as a share of the normal load.
const LOWEST: f64 = 0.125;
/// A level as a multiple of the one below: the fourth root of two.
const STEP: f64 = 1.189_207_115_002_721;
/// Levels at most: up to 64 times the normal load.
const LEVELS: usize = 37;
/// Down is a share of harmed operations above this.
const DOWN: f64 = 0.5;
/// Well is a share of harmed operations up to this.
const WELL: f64 = 0.05;
/// How long after the page the way down begins that follows the incident.
const AFTER_PAGE: SimSpan = SimSpan::from_secs(120);

impl Hysteresis {
    /// The load that brought it down; `None` when it stood every load that was tried.
    pub fn falls_at(&self) -> Option<f64> {
        self.up.last().filter(|level| level.harmed > DOWN).map(|level| level.per_s)
    }

    /// The highest load at which it was well again on the way down, and stayed so; `None` when it never was.
    pub fn returns_at(&self) -> Option<f64> {
        well_from(&self.down)
    }

    /// In a paragraph.
    pub fn text(&self) -> String {
        let rate = |per_s: f64| Unit::PerSecond.show(per_s);
        let last = |levels: &[Level]| rate(levels.last().map_or(self.normal, |level| level.per_s));
        let load = match (self.falls_at(), self.returns_at()) {
            (None, _) => format!("No load that was tried brings it down, up to {}.", last(&self.up)),
            (Some(falls), Some(returns)) => format!(
                "Load alone brings it down at {}; on the way back it is well again at {}.",
                rate(falls),
                rate(returns)
            ),
            (Some(falls), None) => format!(
                "Load alone brings it down at {}; on the way back it is not well at {}, the lowest that was tried.",
                rate(falls),
                last(&self.down)
            ),
        };
        format!("{load} {}", self.after.text())
    }
}

impl Descent {
    /// Lets the incident happen and then lowers the load step by step.
    pub fn of(incident: &Incident, staircase: Staircase) -> Descent {
        let normal = incident.spec().traffic.first().map_or(0.0, |first| first.1);
        let loads: Vec<f64> = std::iter::successors(Some(normal), |at| Some(at / STEP))
            .take_while(|at| *at >= normal * LOWEST)
            .collect();
        let script = incident.prepared_script(staircase.scale);
        let from = incident.at(incident.file().clock.page) + AFTER_PAGE;
        let levels = walk(incident.spec(), &script, from, &loads, staircase, |_| false);
        Descent { normal, levels }
    }

    /// Whether the load that it carries when it is healthy holds it down.
    pub fn stays_down(&self) -> bool {
        self.levels.first().is_some_and(|level| level.harmed > WELL)
    }

    /// The highest load at which it was well again and stayed so; `None` when it never was.
    pub fn returns_at(&self) -> Option<f64> {
        well_from(&self.levels)
    }

    /// In a sentence.
    pub fn text(&self) -> String {
        let rate = |per_s: f64| Unit::PerSecond.show(per_s);
        let normal = rate(self.normal);
        match (self.stays_down(), self.returns_at()) {
            (false, _) => format!("After what happens here it is well again by itself at {normal}."),
            (true, Some(returns)) => format!(
                "After what happens here it stays down at {normal}, a load that it carries when it is healthy; it comes \
                 back when the load is no more than {}.",
                rate(returns)
            ),
            (true, None) => format!(
                "After what happens here it stays down at {normal}, a load that it carries when it is healthy, and at \
                 every lower one that was tried, down to {}.",
                rate(self.levels.last().map_or(self.normal, |level| level.per_s))
            ),
        }
    }
}

/// The highest load at which it was well and stayed so on the way down.
fn well_from(down: &[Level]) -> Option<f64> {
    down.iter().rev().take_while(|level| level.harmed <= WELL).last().map(|level| level.per_s)
}

/// Climbs and descends, and descends once more after what happens in the incident.
pub fn hysteresis(incident: &Incident, staircase: Staircase) -> Hysteresis {
    let full = incident.spec();
    let normal = full.traffic.first().map_or(0.0, |first| first.1);
    let levels: Vec<f64> =
        std::iter::successors(Some(normal * LOWEST), |at| Some(at * STEP)).take(LEVELS).collect();
    let fell = |climbed: &[Level]| climbed.last().is_some_and(|level| level.harmed > DOWN);
    let up = walk(full, &[], SimTime::ZERO, &levels, staircase, fell);
    // The same way up once more, since traffic is part of what a world is built from, and then down.
    let mut both: Vec<f64> = levels[..up.len()].to_vec();
    both.extend(levels[..up.len() - 1].iter().rev());
    let mut all = walk(full, &[], SimTime::ZERO, &both, staircase, |_| false);
    let down = all.split_off(up.len());
    let after = Descent::of(incident, staircase);
    Hysteresis { normal, hold_s: staircase.hold.0 / SECOND, up, down, after }
}

/// Goes through levels of load from an instant on, until `enough`; before that it is as the spec and the script say.
fn walk(
    full: &Spec,
    script: &[(SimTime, Fault)],
    from: SimTime,
    levels: &[f64],
    staircase: Staircase,
    enough: impl Fn(&[Level]) -> bool,
) -> Vec<Level> {
    let begins = |i: usize| from + SimSpan(staircase.hold.0 * i as u64);
    let mut spec = full.scaled(staircase.scale);
    spec.traffic.retain(|change| change.0 < from);
    spec.traffic.extend(levels.iter().enumerate().map(|(i, per_s)| (begins(i), per_s * staircase.scale)));
    let mut world = World::new(&spec, staircase.seed);
    for (at, fault) in script.iter().filter(|happens| happens.0 < from) {
        world.advance(*at);
        world.inject(*fault);
    }
    let mut walked = Vec::with_capacity(levels.len());
    for (i, &per_s) in levels.iter().enumerate() {
        world.advance(begins(i) + SimSpan(staircase.hold.0 / 2));
        let before = world.counters().clone();
        world.advance(begins(i + 1));
        let ended = world.counters().operations_ended() - before.operations_ended();
        let served = world.counters().operations_served() - before.operations_served();
        let harmed = if ended > 0 { 1.0 - served as f64 / ended as f64 } else { 1.0 };
        walked.push(Level { per_s, harmed });
        if enough(&walked) {
            break;
        }
    }
    walked
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(of: &[(f64, f64)]) -> Vec<Level> {
        of.iter().map(|&(per_s, harmed)| Level { per_s, harmed }).collect()
    }

    #[test]
    fn the_loads_are_read_from_the_ways_up_and_down() {
        let mut swept = Hysteresis {
            normal: 4_000.0,
            hold_s: 120,
            up: levels(&[(2_000.0, 0.0), (4_000.0, 0.1), (8_000.0, 0.0), (16_000.0, 0.9)]),
            down: levels(&[(8_000.0, 0.8), (4_000.0, 0.6), (2_000.0, 0.0)]),
            after: Descent {
                normal: 4_000.0,
                levels: levels(&[(4_000.0, 0.7), (2_000.0, 0.0), (1_000.0, 0.0)]),
            },
        };
        assert_eq!((swept.falls_at(), swept.returns_at()), (Some(16_000.0), Some(2_000.0)));
        assert!(swept.after.stays_down());
        assert_eq!(swept.after.returns_at(), Some(2_000.0));
        assert!(swept.text().contains("comes back when the load is no more than 2.0k/s"), "{}", swept.text());
        // A load at which it is well for a moment only does not count.
        swept.after.levels[2].harmed = 0.2;
        assert_eq!(swept.after.returns_at(), None);
        assert!(swept.text().contains("every lower one that was tried, down to 1.0k/s"), "{}", swept.text());
        swept.after.levels[0].harmed = 0.01;
        assert!(!swept.after.stays_down() && swept.text().contains("well again by itself at 4.0k/s"));
        swept.up.truncate(2);
        assert_eq!(swept.falls_at(), None);
        assert!(swept.text().starts_with("No load that was tried"));
    }
}
