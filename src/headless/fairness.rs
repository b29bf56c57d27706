//! Whether an incident is fair: what robot players get in it, and which marks can be had.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::RunError;
use super::perfect::{Unreached, unreached};
use super::robots::{Played, Robot, play_all};
use crate::incident::Incident;
use crate::units::Unit;

/// Operations per second, at their most, that show what robots are to show; a system with more is made smaller, and takes less.
const ENOUGH_PER_S: f64 = 400.0;
/// It is not made smaller than this: a cluster of a few instances is no cluster any more.
const SMALLEST: f64 = 0.1;
/// Share of the operations that are served without it which the documented mistake must cost.
const HURTS: f64 = 0.1;
/// Share of the harm that the senior's plan avoids which another good plan avoids too: the mark for user harm is the best
/// from there on.
const AS_GOOD: f64 = 0.75;

/// What one seed gave.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Trial {
    /// Seed.
    pub seed: u64,
    /// What came of each robot's run.
    pub played: Vec<Played>,
    /// Marks that are out of reach; looked for with the first seed only, which is enough: they depend on the file.
    pub unreached: Option<Vec<Unreached>>,
}

/// The size at which robots play when the incident is run at `scale`.
pub fn size(incident: &Incident, scale: f64) -> f64 {
    let most = incident.spec().traffic.iter().map(|t| t.1).fold(1.0, f64::max);
    scale.min((ENOUGH_PER_S / most).clamp(SMALLEST, 1.0))
}

/// Lets all robots play one seed.
///
/// # Errors
/// When a plan of the incident cannot be played.
pub fn trial(incident: &Arc<Incident>, seed: u64, scale: f64) -> Result<Trial, RunError> {
    let scale = size(incident, scale);
    let played = play_all(incident, seed, scale)?;
    let unreached = if seed == 1 { Some(unreached(incident, seed, scale)?) } else { None };
    Ok(Trial { seed, played, unreached })
}

/// Something that a fair incident does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Doing nothing loses.
    Idle,
    /// The documented mistake costs users.
    Trap,
    /// The senior's plan wins.
    Senior,
    /// So does the other good plan.
    AnotherWay,
    /// Levers pulled at random do not do better than the senior's plan in the mean over all seeds.
    Random,
    /// Every mark can be had.
    Marks,
}

impl Rule {
    /// All of them, in the order of the report.
    pub const ALL: [Rule; 6] =
        [Rule::Idle, Rule::Trap, Rule::Senior, Rule::AnotherWay, Rule::Random, Rule::Marks];

    /// In words.
    pub fn label(self) -> &'static str {
        match self {
            Rule::Idle => "doing nothing does not help",
            Rule::Trap => "the documented mistake hurts",
            Rule::Senior => "the senior's plan wins",
            Rule::AnotherWay => "another way wins too",
            Rule::Random => "random levers do not beat the senior",
            Rule::Marks => "every mark can be had",
        }
    }

    /// Whether an incident keeps the rule in these trials: in each of them, but for [`Rule::Random`]. Somebody who pulls levers
    /// at random is lucky now and then, and earlier than the senior, who looks first; what counts is the mean.
    pub fn keeps<'a>(self, trials: impl Iterator<Item = &'a Trial> + Clone) -> bool {
        if self == Rule::Random {
            return mean(trials.clone(), Robot::Random) > mean(trials, Robot::Senior);
        }
        trials.filter_map(|trial| self.judge(trial)).all(|(_, fair)| fair)
    }

    /// What a seed gave, in words, and whether that is fair; `None` when the seed says nothing about it.
    pub fn judge(self, trial: &Trial) -> Option<(String, bool)> {
        let of = |robot| trial.played.iter().find(|p| p.robot == robot);
        let (idle, senior) = (of(Robot::Idle)?, of(Robot::Senior)?);
        let share = |played: &Played| Unit::Ratio.show(played.harm);
        let against = |played: &Played, other: &str, than: &Played| {
            format!("{} harmed, {other} {}", share(played), share(than))
        };
        Some(match self {
            Rule::Idle => (idle.ended(), !idle.well),
            Rule::Trap => {
                let trap = of(Robot::Trap)?;
                let lost = if idle.served > 0.0 { 1.0 - trap.served / idle.served } else { 0.0 };
                let text = format!("{} of those still served are lost", Unit::Ratio.show(lost.max(0.0)));
                (text, lost >= HURTS)
            }
            Rule::Senior => (
                format!("{}, {}", senior.ended(), against(senior, "idle", idle)),
                senior.well && senior.harm < idle.harm,
            ),
            Rule::AnotherWay => {
                let other = of(Robot::AnotherWay)?;
                let as_good = idle.harm - other.harm >= AS_GOOD * (idle.harm - senior.harm);
                (
                    format!("{}, {}", other.ended(), against(other, "the senior", senior)),
                    other.well && as_good,
                )
            }
            Rule::Random => {
                let played = of(Robot::Random)?;
                (against(played, "the senior", senior), played.harm > senior.harm)
            }
            Rule::Marks => {
                let missing = trial.unreached.as_ref()?;
                let text = match missing.as_slice() {
                    [] => "all of them".to_owned(),
                    _ => missing.iter().map(Unreached::text).collect::<Vec<_>>().join("; "),
                };
                (text, missing.is_empty())
            }
        })
    }
}

/// Harmed share of a robot's operations, the mean over trials.
fn mean<'a>(trials: impl Iterator<Item = &'a Trial>, robot: Robot) -> f64 {
    let harms = trials.flat_map(|trial| &trial.played).filter(|played| played.robot == robot).map(|p| p.harm);
    let (sum, n) = harms.fold((0.0, 0u32), |(sum, n), harm| (sum + harm, n + 1));
    sum / f64::from(n.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn played(robot: Robot, harm: f64, served: f64, well: bool) -> Played {
        Played { robot, harm, served, well, recovered: None }
    }

    fn fair() -> Trial {
        let played = vec![
            played(Robot::Idle, 0.6, 100.0, false),
            played(Robot::Random, 0.5, 0.0, false),
            played(Robot::Trap, 0.7, 80.0, false),
            played(Robot::AnotherWay, 0.25, 0.0, true),
            played(Robot::Senior, 0.2, 0.0, true),
        ];
        Trial { seed: 1, played, unreached: Some(Vec::new()) }
    }

    fn unfair(change: impl Fn(&mut Trial)) -> Vec<Rule> {
        let mut trial = fair();
        change(&mut trial);
        Rule::ALL.into_iter().filter(|rule| rule.judge(&trial).is_some_and(|(_, fair)| !fair)).collect()
    }

    #[test]
    fn each_rule_fails_for_what_it_forbids() {
        assert_eq!(unfair(|_| ()), []);
        assert_eq!(unfair(|t| t.played[0].well = true), [Rule::Idle]);
        assert_eq!(unfair(|t| t.played[2].served = 95.0), [Rule::Trap]);
        assert_eq!(unfair(|t| t.played[4].well = false), [Rule::Senior]);
        assert_eq!(unfair(|t| t.played[3].harm = 0.4), [Rule::AnotherWay]);
        assert_eq!(unfair(|t| t.played[1].harm = 0.1), [Rule::Random]);
        let missing = Unreached {
            dimension: crate::score::Dimension::Search,
            grade: crate::score::Grade::S,
            facts: Vec::new(),
        };
        assert_eq!(unfair(|t| t.unreached = Some(vec![missing.clone()])), [Rule::Marks]);
        let (usual, mut lucky) = (fair(), fair());
        lucky.played[1].harm = 0.1;
        assert!(Rule::Random.keeps([&usual, &lucky].into_iter()), "lucky once, and worse in the mean");
        assert!(!Rule::Random.keeps([&lucky].into_iter()));
        lucky.played[4].well = false;
        assert!(Rule::Senior.keeps([&usual].into_iter()), "a win");
        assert!(!Rule::Senior.keeps([&usual, &lucky].into_iter()), "not in each of them");
        // What an incident does not have is not judged.
        assert_eq!(unfair(|t| t.played.truncate(1)), []);
    }
}
