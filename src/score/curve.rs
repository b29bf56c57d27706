//! A recorded series as a report draws it: buckets instead of seconds.

use std::ops::Range;

use serde::Serialize;

use crate::telemetry::Series;
use crate::units::Unit;

/// Seconds of a bucket of a curve.
const STEP_S: usize = 10;

/// A piece of a recorded series in buckets of equal length.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curve {
    /// The series, as a person calls it.
    pub name: String,
    /// What the numbers measure.
    pub unit: Unit,
    /// Second of the run at which the first bucket begins.
    pub from_s: usize,
    /// Seconds of a bucket.
    pub step_s: usize,
    /// Mean of each bucket, or of a percentile its level, and smallest and largest sample, so that no spike is lost;
    /// nothing where nothing was measured.
    pub buckets: Vec<Option<[f64; 3]>>,
}

/// Four significant digits: more cannot be seen, and files stay small.
fn short(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

impl Curve {
    /// A window of a series.
    pub(super) fn of(series: &Series, name: String, seconds: Range<usize>) -> Curve {
        let end = seconds.end.min(series.values.len());
        let bucket = |from: usize| {
            let part = from..(from + STEP_S).min(end);
            let (low, high) = series.range(part.clone())?;
            Some([series.level(part)?, low, high].map(short))
        };
        Curve {
            name,
            unit: series.unit,
            from_s: seconds.start,
            step_s: STEP_S,
            buckets: (seconds.start..end).step_by(STEP_S).map(bucket).collect(),
        }
    }

    /// The largest sample.
    pub fn highest(&self) -> Option<f64> {
        self.buckets.iter().flatten().map(|b| b[2]).reduce(f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::SeriesSet;

    #[test]
    fn a_spike_and_a_gap_survive() {
        let mut values = vec![1.0; 25];
        values[3] = 91.0;
        values[10..20].fill(f64::NAN);
        let set = SeriesSet::from_samples([("x", Unit::Count, values)]);
        let series = set.get("x").expect("the series");
        let curve = Curve::of(series, "x".to_owned(), 0..100);
        assert_eq!(curve.buckets, [Some([10.0, 1.0, 91.0]), None, Some([1.0, 1.0, 1.0])]);
        assert_eq!(curve.highest(), Some(91.0));
    }
}
