//! How much of the promise to users is left.

use crate::telemetry::SeriesSet;

/// The error budget of the service level objective. Every operation that was not served in time spends it: failed,
/// turned away, or late.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// Share of the whole window's budget that is left; below 0 when it is overspent.
    pub left: f64,
    /// Speed of spending over the last five minutes: the share of failed or late operations, divided by the share that
    /// the objective allows. 1 spends the budget exactly by the window's end.
    pub burn: f64,
}

/// Seconds over which the burn rate is measured.
const BURN_WINDOW: usize = 300;

/// Operations that ended in a window of seconds, and those of them that were not served in time.
pub(super) fn ended(series: &SeriesSet, seconds: std::ops::Range<usize>) -> (f64, f64) {
    let sum = |name: &str| -> f64 {
        series.get(name).map_or(0.0, |s| s.window(seconds.clone()).iter().filter(|v| v.is_finite()).sum())
    };
    // Those turned away are among the failed ones.
    let bad = sum("operations.failed") + sum("operations.late");
    (bad + sum("operations.served"), bad)
}

impl Budget {
    /// What is left of it in words: `41 % left`, or how many times over it is spent.
    pub fn left_words(&self) -> String {
        if self.left >= 0.0 {
            return format!("{:.0} % left", self.left * 100.0);
        }
        let times = 1.0 - self.left;
        if times < 99.5 {
            format!("spent {times:.1} times over")
        } else {
            format!("spent {times:.0} times over")
        }
    }

    /// The budget after what was recorded, for a window in which `rate` operations are offered per second.
    pub(super) fn of(series: &SeriesSet, objective: f64, window_s: f64, rate: f64) -> Budget {
        let allowed = (1.0 - objective).max(1e-9);
        let now = series.seconds();
        let (_, bad) = ended(series, 0..now);
        let (all, bad_lately) = ended(series, now.saturating_sub(BURN_WINDOW)..now);
        let budget = allowed * rate * window_s;
        Budget {
            left: if budget > 0.0 { 1.0 - bad / budget } else { 1.0 },
            burn: if all > 0.0 { bad_lately / all / allowed } else { 0.0 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overspent_budget_is_said_to_be() {
        for (left, words) in [
            (0.41, "41 % left"),
            (0.0, "0 % left"),
            (-0.2, "spent 1.2 times over"),
            (-2.46, "spent 3.5 times over"),
            (-246.0, "spent 247 times over"),
        ] {
            assert_eq!(Budget { left, burn: 1.0 }.left_words(), words);
        }
    }
}
