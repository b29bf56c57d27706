//! Series of one sample a second.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::units::Unit;

/// Seconds of the mean that stands for the value "now": single seconds of a random stream hide the trend.
pub const RECENT_S: usize = 5;

/// The mean of the [`RECENT_S`] samples before index `end`, gaps left out; `None` when all of them are gaps. It is
/// the one rule for every figure that is shown as the present one.
pub fn recent(samples: &[f64], end: usize) -> Option<f64> {
    let end = end.min(samples.len());
    let window = &samples[end.saturating_sub(RECENT_S)..end];
    let (sum, n) = window.iter().filter(|v| v.is_finite()).fold((0.0, 0u32), |(s, n), v| (s + v, n + 1));
    (n > 0).then(|| sum / f64::from(n))
}

/// One series. Sample `i` covers the second from `i` to `i + 1` of simulated time.
#[derive(Clone, Debug)]
pub struct Series {
    /// Name, such as `requests.received` or `db.cpu.primary`.
    pub name: String,
    /// What the numbers measure.
    pub unit: Unit,
    /// What it is, in a sentence.
    pub what: String,
    /// Whether more is worse (`Some(true)`), better (`Some(false)`) or neither.
    pub more_is_worse: Option<bool>,
    /// Samples; NaN where nothing was measured.
    pub values: Vec<f64>,
}

impl Series {
    /// The newest sample.
    pub fn last(&self) -> Option<f64> {
        self.values.last().copied().filter(|v| v.is_finite())
    }

    /// The value "now", by [`recent`].
    pub fn recent(&self) -> Option<f64> {
        recent(&self.values, self.values.len())
    }

    /// The samples of a window of seconds, cut to what was recorded.
    pub fn window(&self, seconds: Range<usize>) -> &[f64] {
        let end = seconds.end.min(self.values.len());
        &self.values[seconds.start.min(end)..end]
    }

    /// Mean over a window of seconds, gaps left out; `None` when all of it is a gap.
    pub fn mean(&self, seconds: Range<usize>) -> Option<f64> {
        let (mut sum, mut n) = (0.0, 0u32);
        for v in self.window(seconds).iter().filter(|v| v.is_finite()) {
            sum += v;
            n += 1;
        }
        (n > 0).then(|| sum / f64::from(n))
    }

    /// Smallest and largest sample of a window.
    pub fn range(&self, seconds: Range<usize>) -> Option<(f64, f64)> {
        self.window(seconds)
            .iter()
            .filter(|v| v.is_finite())
            .fold(None, |acc, &v| Some(acc.map_or((v, v), |(lo, hi): (f64, f64)| (lo.min(v), hi.max(v)))))
    }
}

/// All series of a run, by name.
#[derive(Clone, Debug, Default)]
pub struct SeriesSet {
    all: Vec<Series>,
    by_name: BTreeMap<String, usize>,
    seconds: usize,
}

impl SeriesSet {
    /// Series by name, unit and samples, for what does not come from a recorder; the shorter ones end in a gap.
    pub fn from_samples<'a>(samples: impl IntoIterator<Item = (&'a str, Unit, Vec<f64>)>) -> SeriesSet {
        let mut set = SeriesSet::default();
        for (name, unit, values) in samples {
            set.seconds = set.seconds.max(values.len());
            let i = set.add(name, unit, None, "");
            set.all[i].values = values;
        }
        for series in &mut set.all {
            series.values.resize(set.seconds, f64::NAN);
        }
        set
    }

    /// Seconds recorded so far.
    pub fn seconds(&self) -> usize {
        self.seconds
    }

    /// A series by its name.
    pub fn get(&self, name: &str) -> Option<&Series> {
        self.by_name.get(name).map(|&i| &self.all[i])
    }

    /// All series, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = &Series> {
        self.by_name.values().map(|&i| &self.all[i])
    }

    /// The series that a pattern names, sorted; one `*` stands for anything.
    pub fn matching<'a>(&'a self, pattern: &'a str) -> impl Iterator<Item = &'a Series> {
        self.iter().filter(move |s| matches(pattern, &s.name))
    }

    /// Adds a series that is a gap until now, or finds it again.
    pub(super) fn add(&mut self, name: &str, unit: Unit, more_is_worse: Option<bool>, what: &str) -> usize {
        if let Some(&i) = self.by_name.get(name) {
            return i;
        }
        let i = self.all.len();
        self.all.push(Series {
            name: name.to_owned(),
            unit,
            what: what.to_owned(),
            more_is_worse,
            values: vec![f64::NAN; self.seconds],
        });
        self.by_name.insert(name.to_owned(), i);
        i
    }

    /// Sets the sample of the second being recorded.
    pub(super) fn put(&mut self, series: usize, value: f64) {
        self.all[series].values.push(value);
    }

    /// Sets a sample of an earlier second.
    pub(super) fn amend(&mut self, series: usize, second: usize, value: f64) {
        if let Some(sample) = self.all[series].values.get_mut(second) {
            *sample = value;
        }
    }

    /// Ends the second: whatever was not put is a gap.
    pub(super) fn end_second(&mut self) {
        self.seconds += 1;
        for series in &mut self.all {
            if series.values.len() < self.seconds {
                series.values.push(f64::NAN);
            }
        }
    }
}

/// Whether a name fits a pattern in which one `*` stands for anything.
pub fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((head, tail)) => {
            name.len() >= head.len() + tail.len() && name.starts_with(head) && name.ends_with(tail)
        }
    }
}
