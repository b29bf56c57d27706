//! Series of one sample a second.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::units::Unit;

/// Seconds that stand for the value "now": single ones of a random stream hide the trend.
pub const RECENT_S: usize = 5;

/// What stands for the [`RECENT_S`] seconds before index `end`; `None` when all of them are gaps. It is the one rule for
/// every figure that is shown as the present one: their mean, gaps left out, and of a percentile the newest of what was
/// merged over them (see [`Series::merged`]).
pub fn recent(samples: &[f64], merged: Option<&[f64]>, end: usize) -> Option<f64> {
    let end = end.min(samples.len());
    let seconds = end.saturating_sub(RECENT_S)..end;
    match merged {
        Some(merged) => merged.get(seconds)?.iter().rev().copied().find(|v| v.is_finite()),
        None => mean(&samples[seconds]),
    }
}

/// The mean of samples, gaps left out; `None` when all of them are gaps.
fn mean(samples: &[f64]) -> Option<f64> {
    let (sum, n) = samples.iter().filter(|v| v.is_finite()).fold((0.0, 0u32), |(s, n), v| (s + v, n + 1));
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
    /// Of a percentile, as long as the samples: the same percentile of everything counted in the [`RECENT_S`] seconds that
    /// end with each sample. A mean of percentiles would be the percentile of nothing. `None` where means mean something.
    pub merged: Option<Vec<f64>>,
}

impl Series {
    /// The newest sample.
    pub fn last(&self) -> Option<f64> {
        self.values.last().copied().filter(|v| v.is_finite())
    }

    /// The value "now", by [`recent`].
    pub fn recent(&self) -> Option<f64> {
        self.recent_at(self.values.len())
    }

    /// The value shown when the seconds before index `end` had just been recorded, by [`recent`].
    pub fn recent_at(&self, end: usize) -> Option<f64> {
        recent(&self.values, self.merged.as_deref(), end)
    }

    /// What stands for a window of seconds where one value has to: the mean, of a percentile the median of what was merged.
    pub fn level(&self, seconds: Range<usize>) -> Option<f64> {
        let Some(merged) = &self.merged else { return self.mean(seconds) };
        let end = seconds.end.min(merged.len());
        let part = &merged[seconds.start.min(end)..end];
        let mut measured: Vec<f64> = part.iter().copied().filter(|v| v.is_finite()).collect();
        measured.sort_by(f64::total_cmp);
        measured.get(measured.len() / 2).copied()
    }

    /// The samples of a window of seconds, cut to what was recorded.
    pub fn window(&self, seconds: Range<usize>) -> &[f64] {
        let end = seconds.end.min(self.values.len());
        &self.values[seconds.start.min(end)..end]
    }

    /// Mean over a window of seconds, gaps left out; `None` when all of it is a gap.
    pub fn mean(&self, seconds: Range<usize>) -> Option<f64> {
        mean(self.window(seconds))
    }

    /// Smallest and largest sample of a window.
    pub fn range(&self, seconds: Range<usize>) -> Option<(f64, f64)> {
        self.window(seconds)
            .iter()
            .filter(|v| v.is_finite())
            .fold(None, |acc, &v| Some(acc.map_or((v, v), |(lo, hi): (f64, f64)| (lo.min(v), hi.max(v)))))
    }
}

/// A name of a series in two parts, such as `db.cpu.` and `primary`; they need not be put together to find it again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name<'a>(&'a str, &'a str);

impl Name<'_> {
    fn is(self, name: &str) -> bool {
        let Name(first, second) = self;
        name.len() == first.len() + second.len() && name.starts_with(first) && name.ends_with(second)
    }
}

impl<'a> From<&'a str> for Name<'a> {
    fn from(name: &'a str) -> Name<'a> {
        Name(name, "")
    }
}

impl<'a, S: AsRef<str> + ?Sized> From<(&'a str, &'a S)> for Name<'a> {
    fn from((first, second): (&'a str, &'a S)) -> Name<'a> {
        Name(first, second.as_ref())
    }
}

/// All series of a run, by name.
#[derive(Clone, Debug, Default)]
pub struct SeriesSet {
    all: Vec<Series>,
    by_name: BTreeMap<String, usize>,
    seconds: usize,
    /// The series after the one that was found last. Every second asks for them in nearly the same order, in which they were
    /// also added, so it is nearly always the next one.
    next: usize,
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
    pub(super) fn add<'a>(
        &mut self,
        name: impl Into<Name<'a>>,
        unit: Unit,
        more_is_worse: Option<bool>,
        what: &str,
    ) -> usize {
        let name = name.into();
        let i = match self.all.get(self.next) {
            Some(next) if name.is(&next.name) => self.next,
            _ => self.find_or_add(name, unit, more_is_worse, what),
        };
        self.next = i + 1;
        i
    }

    #[cold]
    fn find_or_add(
        &mut self,
        Name(first, second): Name<'_>,
        unit: Unit,
        more_is_worse: Option<bool>,
        what: &str,
    ) -> usize {
        let name = [first, second].concat();
        if let Some(&i) = self.by_name.get(&name) {
            return i;
        }
        let i = self.all.len();
        self.all.push(Series {
            name: name.clone(),
            unit,
            what: what.to_owned(),
            more_is_worse,
            values: vec![f64::NAN; self.seconds],
            merged: None,
        });
        self.by_name.insert(name, i);
        i
    }

    /// Sets the sample of the second being recorded.
    pub(super) fn put(&mut self, series: usize, value: f64) {
        self.all[series].values.push(value);
    }

    /// Sets what a percentile was over the seconds that end with the one being recorded.
    pub(super) fn put_merged(&mut self, series: usize, value: f64) {
        let series = &mut self.all[series];
        series.merged.get_or_insert_with(|| vec![f64::NAN; self.seconds]).push(value);
    }

    /// Sets a sample of an earlier second, and of a percentile what was merged up to it.
    pub(super) fn amend(&mut self, series: usize, second: usize, value: f64, merged: Option<f64>) {
        let series = &mut self.all[series];
        if let Some(sample) = series.values.get_mut(second) {
            *sample = value;
        }
        if let (Some(sample), Some(merged)) = (series.merged.as_mut().and_then(|m| m.get_mut(second)), merged)
        {
            *sample = merged;
        }
    }

    /// Ends the second: whatever was not put is a gap.
    pub(super) fn end_second(&mut self) {
        self.seconds += 1;
        self.next = 0;
        for series in &mut self.all {
            if series.values.len() < self.seconds {
                series.values.push(f64::NAN);
            }
            if let Some(merged) = series.merged.as_mut().filter(|m| m.len() < self.seconds) {
                merged.push(f64::NAN);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_is_found_again_in_any_order() {
        let mut set = SeriesSet::default();
        let mut put = |names: &[(&str, &str)]| {
            for &name in names {
                let i = set.add(name, Unit::Count, None, "");
                set.put(i, 1.0);
            }
            set.end_second();
        };
        put(&[("a", ""), ("b.", "x"), ("b.", "y")]);
        // One that was there is missing, one comes in between, two change places, parts meet elsewhere.
        put(&[("a", ""), ("b.", "y")]);
        put(&[("a", ""), ("b", "."), ("b.", "x"), ("b.", "y")]);
        put(&[("b", ".y"), ("b.", "x"), ("", "a")]);
        let samples =
            |s: &Series| s.values.iter().map(|v| if v.is_nan() { '-' } else { '1' }).collect::<String>();
        let all: Vec<(&str, String)> = set.iter().map(|s| (s.name.as_str(), samples(s))).collect();
        let is = |name: &'static str, samples: &str| (name, samples.to_owned());
        assert_eq!(all, [is("a", "1111"), is("b.", "--1-"), is("b.x", "1-11"), is("b.y", "1111")]);
    }

    #[test]
    fn what_is_merged_stands_for_the_last_seconds_and_a_mean_for_the_rest() {
        let gap = f64::NAN;
        let samples = [1.0, 1.0, 9.0, gap, 1.0, gap];
        assert_eq!(recent(&samples, None, 6), Some(11.0 / 3.0));
        assert_eq!(recent(&samples, Some(&[1.0, 1.0, 1.0, gap, 2.0, gap]), 6), Some(2.0));
        assert_eq!(recent(&[gap; 9], Some(&[1.0, gap, gap, gap, gap, gap, gap, gap, gap]), 9), None);
        let set = SeriesSet::from_samples([("x", Unit::Seconds, vec![1.0, 9.0, 1.0])]);
        let mut series = set.get("x").expect("the series").clone();
        assert_eq!(series.level(0..3), series.mean(0..3));
        series.merged = Some(vec![1.0, 2.0, 9.0]);
        assert_eq!(
            (series.level(0..3), series.level(0..2), series.level(3..9)),
            (Some(2.0), Some(2.0), None)
        );
    }
}
