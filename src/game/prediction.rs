//! Predictions, and what the simulator answers.

use super::command::{Direction, Expected, Prediction};
use crate::telemetry::{Series, SeriesSet};
use crate::units::{SimTime, Unit};

/// What a prediction was made about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum About {
    /// A stage's question.
    Ask(String),
    /// A lever that the player pulled: its place in the journal.
    Pull(usize),
    /// A teammate's proposal.
    Proposal(String),
}

/// A prediction with what it will be measured against.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    /// What it was made about.
    pub about: About,
    /// When it was made.
    pub at: SimTime,
    /// What was said; `due` is the moment at which it is answered, inside the run.
    pub prediction: Prediction,
    /// Mean of the series over the minute before; `None` when nothing was recorded.
    pub before: Option<f64>,
    /// Mean of the series while all was well.
    pub healthy: Option<f64>,
    /// The answer, once it is due.
    pub outcome: Option<Outcome>,
}

/// What became of a prediction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Mean of the series over the ten seconds before the prediction was due.
    pub value: f64,
    /// Whether the prediction held.
    pub right: bool,
    /// Brier score of the stated confidence, 0 (sure and right) to 1 (sure and wrong); 0.25 for a coin toss.
    pub brier: f64,
}

/// Seconds of the mean that a prediction starts from.
const BEFORE_S: usize = 60;
/// Seconds of the mean that answers a prediction.
const ANSWER_S: usize = 10;
/// Seconds of the healthy baseline before the trigger.
const HEALTHY_S: usize = 300;

/// Change, as a share of what it was, that counts as none. The measured system moves that much when nobody touches it.
const SAME: f64 = 0.10;
/// Points of a ratio that count as no change where they are more than [`SAME`].
const SAME_RATIO: f64 = 0.02;
/// Change for the worse, as a share of what it was, that counts as much.
const MUCH: f64 = 0.25;

/// What a prediction is measured by, in words, for where it is answered.
pub const TOLERANCE: &str =
    "About the same means within a tenth of the minute before, or within two points of a share.";

/// A series with the three values that a prediction compares.
struct Compared {
    unit: Unit,
    more_is_worse: bool,
    /// Smallest difference that can count as one.
    floor: f64,
    before: f64,
    healthy: f64,
    after: f64,
}

impl Compared {
    /// How much worse it is than `than`.
    fn worse(&self, than: f64) -> f64 {
        let rise = self.after - than;
        if self.more_is_worse { rise } else { -rise }
    }

    /// Difference from `than` up to which a value is about the same.
    fn slack(&self, than: f64) -> f64 {
        (than.abs() * SAME).max(self.floor)
    }

    fn holds(&self, expect: Expected) -> bool {
        let worse = self.worse(self.before);
        let slack = self.slack(self.before);
        match expect {
            Expected::Value(value) => {
                let slack: f64 = if self.unit == Unit::Ratio { SAME_RATIO } else { 0.0 };
                (self.after - value).abs() <= slack.max(value.abs() / 5.0)
            }
            Expected::Direction(Direction::MuchWorse) => worse > slack.max(self.before.abs() * MUCH),
            Expected::Direction(Direction::Worse) => worse > slack,
            Expected::Direction(Direction::Same) => worse.abs() <= slack,
            Expected::Direction(Direction::Better) => worse < -slack,
            Expected::Direction(Direction::Recovered) => self.worse(self.healthy) <= self.slack(self.healthy),
        }
    }
}

impl Compared {
    /// The smallest and the largest value with which an expectation holds; nothing where any will do.
    fn right_range(&self, expect: Expected) -> (Option<f64>, Option<f64>) {
        let slack = self.slack(self.before);
        let beyond = |by: f64, worse: bool| match worse == self.more_is_worse {
            true => (Some(self.before + by), None),
            false => (None, Some(self.before - by)),
        };
        match expect {
            Expected::Value(value) => {
                let slack = if self.unit == Unit::Ratio { SAME_RATIO } else { 0.0 }.max(value.abs() / 5.0);
                (Some(value - slack), Some(value + slack))
            }
            Expected::Direction(Direction::MuchWorse) => beyond(slack.max(self.before.abs() * MUCH), true),
            Expected::Direction(Direction::Worse) => beyond(slack, true),
            Expected::Direction(Direction::Same) => (Some(self.before - slack), Some(self.before + slack)),
            Expected::Direction(Direction::Better) => beyond(slack, false),
            Expected::Direction(Direction::Recovered) => {
                let slack = self.slack(self.healthy);
                if self.more_is_worse {
                    (None, Some(self.healthy + slack))
                } else {
                    (Some(self.healthy - slack), None)
                }
            }
        }
    }
}

/// Whether an expectation holds for a series that went from `before` to `after` and was `healthy` before the trigger.
///
/// A direction is right when it is true: `Worse` also when it became much worse, `Better` also when it recovered.
/// Changes within a tenth count as none, and so do those within two points of a ratio or, for what is no ratio, within a
/// hundredth of the largest value seen.
pub fn holds(expect: Expected, series: &Series, before: f64, healthy: f64, after: f64) -> bool {
    compared(series, before, healthy, after).holds(expect)
}

fn compared(series: &Series, before: f64, healthy: f64, after: f64) -> Compared {
    let largest = series.range(0..series.values.len()).map_or(0.0, |(_, hi)| hi.abs());
    let floor = if series.unit == Unit::Ratio { SAME_RATIO } else { largest / 100.0 };
    let more_is_worse = series.more_is_worse.unwrap_or(true);
    Compared { unit: series.unit, more_is_worse, floor: floor.max(1e-9), before, healthy, after }
}

/// How a direction reads for a series: higher is worse for some, better for others.
pub fn direction_words(direction: Direction, more_is_worse: Option<bool>) -> &'static str {
    match (direction, more_is_worse) {
        (Direction::Same, _) => "about the same",
        (Direction::Recovered, _) => "back to normal",
        (Direction::MuchWorse, Some(false)) => "much lower",
        (Direction::Worse, Some(false)) => "lower",
        (Direction::Better, Some(false)) => "higher",
        (Direction::MuchWorse, _) => "much higher",
        (Direction::Worse, _) => "higher",
        (Direction::Better, _) => "lower",
    }
}

/// What is expected of a series, in words that stand behind "will be": `lower`, `about 4.5k/s`.
pub fn expected_words(expect: Expected, series: Option<&Series>) -> String {
    match expect {
        Expected::Direction(d) => direction_words(d, series.and_then(|s| s.more_is_worse)).to_owned(),
        Expected::Value(v) => format!("about {}", series.map_or(Unit::Count, |s| s.unit).show(v)),
    }
}

impl Forecast {
    /// A forecast made at `at`, with the values that it starts from. `trigger` is the end of the healthy baseline.
    pub(super) fn new(
        about: About,
        prediction: Prediction,
        at: SimTime,
        trigger: SimTime,
        series: &SeriesSet,
    ) -> Forecast {
        let found = series.get(&prediction.series);
        let mean = |end: usize, n: usize| found.and_then(|s| s.mean(end.saturating_sub(n)..end));
        let before = mean(at.as_secs() as usize, BEFORE_S);
        let healthy = mean(trigger.min(at).as_secs() as usize, HEALTHY_S);
        Forecast { about, at, prediction, before, healthy, outcome: None }
    }

    /// Answers the forecast when it is due and was measured.
    pub(super) fn settle(&mut self, now: SimTime, series: &SeriesSet) -> bool {
        if self.outcome.is_some() || now < self.prediction.due {
            return false;
        }
        let due = self.prediction.due.as_secs() as usize;
        let Some(found) = series.get(&self.prediction.series) else { return false };
        let Some(value) = found.mean(due.saturating_sub(ANSWER_S)..due) else { return false };
        let before = self.before.unwrap_or(value);
        let right = holds(self.prediction.expect, found, before, self.healthy.unwrap_or(before), value);
        let miss = f64::from(self.prediction.sure) / 100.0 - if right { 1.0 } else { 0.0 };
        self.outcome = Some(Outcome { value, right, brier: miss * miss });
        true
    }

    /// The smallest and the largest value of its series with which it is right; nothing where any will do.
    pub fn right_range(&self, series: &Series) -> (Option<f64>, Option<f64>) {
        let Some(before) = self.before.or(self.outcome.map(|o| o.value)) else { return (None, None) };
        compared(series, before, self.healthy.unwrap_or(before), before).right_range(self.prediction.expect)
    }

    /// What was expected, in words: `lower`, `about 4.5k/s`.
    pub fn expected_text(&self, series: &SeriesSet) -> String {
        expected_words(self.prediction.expect, series.get(&self.prediction.series))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_that_is_shown_is_the_one_that_is_judged_by() {
        for (unit, more_is_worse) in
            [(Unit::Ratio, Some(true)), (Unit::Ratio, Some(false)), (Unit::PerSecond, None)]
        {
            let set = SeriesSet::from_samples([("x", unit, vec![0.1, 0.4, 1.0])]);
            let mut series = set.get("x").expect("the series").clone();
            series.more_is_worse = more_is_worse;
            for expect in [
                Expected::Value(0.3),
                Expected::Direction(Direction::MuchWorse),
                Expected::Direction(Direction::Worse),
                Expected::Direction(Direction::Same),
                Expected::Direction(Direction::Better),
                Expected::Direction(Direction::Recovered),
            ] {
                for after in (0..=100).map(|i| f64::from(i) / 100.0 + 1e-7) {
                    let c = compared(&series, 0.4, 0.05, after);
                    let (low, high) = c.right_range(expect);
                    let inside = low.is_none_or(|l| after >= l) && high.is_none_or(|h| after <= h);
                    assert_eq!(inside, c.holds(expect), "{expect:?} {after} {low:?} {high:?}");
                }
            }
        }
    }
}
