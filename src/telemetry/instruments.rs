//! What a player's instruments make of what was recorded: panels that lag, scrapes that are missing, health checks that check
//! little. What was recorded stays what it was; figures and marks are read from that.

use std::ops::Range;

use super::series::{SeriesSet, matches};
use crate::units::Unit;

/// How instruments differ from what was recorded. Seconds count from the start of the clock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instruments {
    /// Patterns of series that are shown so many seconds after they were measured.
    pub lags: Vec<(String, usize)>,
    /// Patterns of series that were not scraped then.
    pub gaps: Vec<(String, Range<usize>)>,
    /// Health checks that say healthy throughout, with what they check.
    pub health: Vec<(String, String)>,
}

impl Instruments {
    /// Whether they show what was recorded and nothing else.
    pub fn are_plain(&self) -> bool {
        *self == Instruments::default()
    }

    fn lag(&self, name: &str) -> usize {
        let of = self.lags.iter().filter(|(pattern, _)| matches(pattern, name));
        of.map(|(_, lag)| *lag).max().unwrap_or(0)
    }

    fn missing(&self, name: &str, second: usize) -> bool {
        self.gaps.iter().any(|(pattern, gap)| gap.contains(&second) && matches(pattern, name))
    }
}

/// What instruments show so far.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    instruments: Instruments,
    set: SeriesSet,
}

impl Shown {
    /// Nothing yet.
    pub fn new(instruments: Instruments) -> Shown {
        Shown { instruments, set: SeriesSet::default() }
    }

    /// What is shown.
    pub fn series(&self) -> &SeriesSet {
        &self.set
    }

    /// Goes on to what has been recorded since. What lags is a gap until it comes, and then stands where it belongs.
    pub fn follow(&mut self, recorded: &SeriesSet) {
        while self.set.seconds() < recorded.seconds() {
            let now = self.set.seconds();
            for series in recorded.iter() {
                let i = self.set.add(series.name.as_str(), series.unit, series.more_is_worse, &series.what);
                let lag = self.instruments.lag(&series.name);
                let value = |of: &[f64], second: usize| {
                    let missing = self.instruments.missing(&series.name, second);
                    of.get(second).copied().filter(|_| !missing).unwrap_or(f64::NAN)
                };
                let merged = series.merged.as_deref();
                let shown = now.checked_sub(lag);
                let at_once = shown.filter(|_| lag == 0);
                self.set.put(i, at_once.map_or(f64::NAN, |second| value(&series.values, second)));
                if let Some(merged) = merged {
                    self.set.put_merged(i, at_once.map_or(f64::NAN, |second| value(merged, second)));
                }
                if let Some(second) = shown.filter(|_| lag > 0) {
                    let merged = merged.map(|m| value(m, second));
                    self.set.amend(i, second, value(&series.values, second), merged);
                }
            }
            for (name, what) in &self.instruments.health {
                let i = self.set.add(name.as_str(), Unit::Ratio, Some(false), what);
                self.set.put(i, 1.0);
            }
            self.set.end_second();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lags_comes_later_and_what_was_not_scraped_never() {
        let recorded = |n: usize| {
            let values = || (0..n).map(|v| v as f64).collect();
            SeriesSet::from_samples([
                ("cpu.a", Unit::Count, values()),
                ("cpu.b", Unit::Count, values()),
                ("rate", Unit::PerSecond, values()),
            ])
        };
        let instruments = Instruments {
            lags: vec![("cpu.*".to_owned(), 2)],
            gaps: vec![("cpu.b".to_owned(), 1..2), ("rate".to_owned(), 3..9)],
            health: vec![("health.cache".to_owned(), "A ping.".to_owned())],
        };
        let shows = |shown: &Shown, name: &str| {
            let values = &shown.series().get(name).expect("it is shown").values;
            values.iter().map(|v| if v.is_nan() { "-".to_owned() } else { v.to_string() }).collect::<String>()
        };
        let mut shown = Shown::new(instruments);
        shown.follow(&recorded(3));
        assert_eq!((shows(&shown, "cpu.a"), shows(&shown, "rate")), ("0--".to_owned(), "012".to_owned()));
        shown.follow(&recorded(5));
        assert_eq!(shows(&shown, "cpu.a"), "012--");
        assert_eq!(shows(&shown, "cpu.b"), "0-2--");
        assert_eq!(shows(&shown, "rate"), "012--");
        assert_eq!(shows(&shown, "health.cache"), "11111");
        assert!(Instruments::default().are_plain());

        // What was merged over a percentile's last seconds comes and is missing together with the percentile.
        let mut of = SeriesSet::default();
        for second in 0..4 {
            let i = of.add("cpu.p99", Unit::Seconds, None, "");
            of.put(i, 10.0);
            of.put_merged(i, f64::from(second));
            of.end_second();
        }
        let mut shown = Shown::new(Instruments {
            lags: vec![("cpu.*".to_owned(), 1)],
            gaps: vec![("cpu.*".to_owned(), 0..1)],
            health: Vec::new(),
        });
        shown.follow(&of);
        let series = shown.series().get("cpu.p99").expect("it is shown");
        assert_eq!(format!("{:?}", series.merged), "Some([NaN, 1.0, 2.0, NaN])");
        assert_eq!((series.recent(), series.recent_at(1)), (Some(2.0), None));
    }
}
