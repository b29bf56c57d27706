//! Expectations: figures that the file states for a run, read from the telemetry that a player sees.

use std::ops::Range;

use super::load::Incident;
use super::lower::span_of_day;
use super::schema::{Band, Condition, Expect, Reading};
use crate::telemetry::{Series, SeriesSet};
use crate::units::{SECOND, SimSpan, SimTime, TimeOfDay, Unit};

/// Seconds for which a condition must hold before [`Reading::FirstTime`] counts it as met.
const HOLDS_S: usize = 60;

/// An expectation beside what a run gave.
#[derive(Clone, Debug)]
pub struct Measured<'a> {
    /// The expectation.
    pub expect: &'a Expect,
    /// What was read, in the series' own unit (seconds after the window's start for [`Reading::FirstTime`]); `None`
    /// when the window was not recorded, holds nothing but gaps, or the moment never came.
    pub measured: Option<f64>,
    /// Whether it lies where it must.
    pub held: bool,
    /// What was read, for people.
    pub shown: String,
    /// Where it must lie, for people.
    pub wanted: String,
}

/// Reads the expectations that the file states for a plan, or for the run without any, of this incident or this variant of
/// it, from the series of that run. An expectation whose window was not recorded to its end does not hold.
pub fn evaluate<'a>(incident: &'a Incident, plan: Option<&str>, series: &SeriesSet) -> Vec<Measured<'a>> {
    let file = incident.file();
    file.expect
        .iter()
        .filter(|expect| {
            expect.plan.as_deref() == plan && expect.variant.as_deref() == incident.variant_name()
        })
        .map(|expect| measure(file.clock.start, expect, series))
        .collect()
}

/// A number read from recorded series.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// In the series' own unit (seconds after the window's start for [`Reading::FirstTime`]); `None` when the window was
    /// not recorded, holds nothing but gaps, or the moment never came.
    pub value: Option<f64>,
    /// For people.
    pub shown: String,
}

/// Reads a number over a window of an incident's clock.
pub fn figure(
    incident: &Incident,
    read: &Reading,
    over: (TimeOfDay, TimeOfDay),
    series: &SeriesSet,
) -> Figure {
    figure_from(incident.file().clock.start, read, over, series)
}

/// When the last window of a reading has been recorded.
pub fn ends(incident: &Incident, read: &Reading, over: (TimeOfDay, TimeOfDay)) -> SimTime {
    let end =
        |(from, to): (TimeOfDay, TimeOfDay)| incident.at(to).max(incident.at(from) + SimSpan::from_secs(1));
    match read {
        Reading::Rise { from, .. } | Reading::Factor { from, .. } => end(over).max(end(*from)),
        Reading::Mean(_) | Reading::Max(_) | Reading::Min(_) | Reading::FirstTime { .. } => end(over),
    }
}

/// The same with the time of day of the first sample.
fn figure_from(start: TimeOfDay, read: &Reading, over: (TimeOfDay, TimeOfDay), series: &SeriesSet) -> Figure {
    let second = |time: TimeOfDay| (span_of_day(start, time).0 / SECOND) as usize;
    let window = |(from, to): (TimeOfDay, TimeOfDay)| -> Option<Range<usize>> {
        let (from, to) = (second(from), second(to));
        let window = from..to.max(from + 1);
        (window.end <= series.seconds()).then_some(window)
    };
    let mean = |name: &str, over| series.get(name)?.mean(window(over)?);
    let value = match read {
        Reading::Mean(name) => mean(name, over),
        Reading::Max(pattern) => extreme(series, pattern, window(over)).map(|(_, high)| high),
        Reading::Min(pattern) => extreme(series, pattern, window(over)).map(|(low, _)| low),
        Reading::Rise { series: name, from } => {
            mean(name, over).zip(mean(name, *from)).map(|(now, before)| now - before)
        }
        Reading::Factor { series: name, from } => mean(name, over)
            .zip(mean(name, *from))
            .map(|(now, before)| now / before)
            .filter(|f| f.is_finite()),
        Reading::FirstTime { series: name, is } => {
            let from = second(over.0);
            let until = second(over.1).min(series.seconds());
            series.get(name).and_then(|s| first_time(s, *is, from..until)).map(|at| (at - from) as f64)
        }
    };
    let shown = match (value, read) {
        (Some(value), Reading::FirstTime { .. }) => {
            over.0.after(SimSpan::from_secs(value as u64)).to_string()
        }
        (Some(value), _) => Write::of(read, series).value(value),
        (None, Reading::FirstTime { .. }) => "never".to_owned(),
        (None, _) => "not recorded".to_owned(),
    };
    Figure { value, shown }
}

/// Reads one expectation. `start` is the time of day of the first sample.
fn measure<'a>(start: TimeOfDay, expect: &'a Expect, series: &SeriesSet) -> Measured<'a> {
    let second = |time: TimeOfDay| (span_of_day(start, time).0 / SECOND) as f64;
    let over = expect.over;
    let Figure { value: measured, shown } = figure_from(start, &expect.read, over, series);
    let write = Write::of(&expect.read, series);
    let seconds_to = |time: TimeOfDay| second(time) - second(over.0);
    let held = measured.is_some_and(|value| match expect.within {
        Band::Between(low, high) => low <= value && value <= high,
        Band::AtLeast(low) => low <= value,
        Band::AtMost(high) => value <= high,
        Band::Times(from, to) => seconds_to(from) <= value && value <= seconds_to(to),
    });
    Measured {
        expect,
        measured,
        held,
        shown,
        wanted: match expect.within {
            Band::Between(low, high) => format!("{} to {}", write.value(low), write.value(high)),
            Band::AtLeast(low) => format!("at least {}", write.value(low)),
            Band::AtMost(high) => format!("at most {}", write.value(high)),
            Band::Times(from, to) => format!("{from} to {to}"),
        },
    }
}

/// Smallest and largest sample over a window of all series that match.
fn extreme(series: &SeriesSet, pattern: &str, window: Option<Range<usize>>) -> Option<(f64, f64)> {
    let window = window?;
    series
        .matching(pattern)
        .filter_map(|series| series.range(window.clone()))
        .reduce(|(low, high), (l, h)| (low.min(l), high.max(h)))
}

/// The first second of a window from which the condition holds for [`HOLDS_S`] seconds. What follows the window is
/// not read; a gap does not satisfy anything.
fn first_time(series: &Series, is: Condition, window: Range<usize>) -> Option<usize> {
    let first = window.start;
    let mut held = 0;
    for (i, &value) in series.window(window).iter().enumerate() {
        held = if is.holds(value) { held + 1 } else { 0 };
        if held == HOLDS_S {
            return Some(first + i + 1 - HOLDS_S);
        }
    }
    None
}

/// How the numbers of a reading are written.
enum Write {
    Value(Unit),
    Difference(Unit),
}

impl Write {
    fn of(read: &Reading, series: &SeriesSet) -> Write {
        let unit = |pattern: &str| series.matching(pattern).next().map_or(Unit::Count, |s| s.unit);
        match read {
            Reading::Mean(name) | Reading::Max(name) | Reading::Min(name) => Write::Value(unit(name)),
            Reading::Rise { series: name, .. } => Write::Difference(unit(name)),
            Reading::Factor { .. } => Write::Value(Unit::Factor),
            Reading::FirstTime { .. } => Write::Value(Unit::Seconds),
        }
    }

    fn value(&self, value: f64) -> String {
        match self {
            Write::Value(unit) => exact(*unit, value),
            // Shares differ by points: "+5 %" of a share could mean either.
            Write::Difference(Unit::Ratio) => format!("{:+.1} points", value * 100.0),
            Write::Difference(unit) if value > 0.0 => format!("+{}", exact(*unit, value)),
            Write::Difference(unit) => exact(*unit, value),
        }
    }
}

/// As on screens, but large rates and counts to the last digit: `9,350/s`. A figure is compared with its band here.
fn exact(unit: Unit, value: f64) -> String {
    let suffix = match unit {
        Unit::PerSecond => "/s",
        Unit::Count => "",
        Unit::Ratio | Unit::Seconds | Unit::Factor => return unit.show(value),
    };
    if !value.is_finite() || !(1e3..1e15).contains(&value.abs()) {
        return unit.show(value);
    }
    let digits = format!("{:.0}", value.abs());
    let mut grouped = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{}{grouped}{suffix}", if value < 0.0 { "-" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten minutes from 14:00: a ratio that is 0.1 for five minutes and then 0.4, a rate on two hosts, a recovery.
    fn recorded() -> SeriesSet {
        let steps = |parts: &[(usize, f64)]| -> Vec<f64> {
            parts.iter().flat_map(|&(n, value)| std::iter::repeat_n(value, n)).collect()
        };
        SeriesSet::from_samples([
            ("failing", Unit::Ratio, steps(&[(300, 0.1), (300, 0.4)])),
            ("cpu.a", Unit::Ratio, steps(&[(120, 0.9), (1, 0.5), (479, 0.95)])),
            ("cpu.b", Unit::Ratio, steps(&[(600, 0.7)])),
            ("rate", Unit::PerSecond, steps(&[(300, 1_000.0), (300, 2_500.0)])),
            ("gap", Unit::Seconds, steps(&[(600, f64::NAN)])),
            ("hits", Unit::Ratio, steps(&[(100, 0.2), (30, 0.95), (70, 0.2), (400, 0.92)])),
        ])
    }

    #[track_caller]
    fn check(read: &str, over: (&str, &str), within: &str, expected: (&str, &str, bool)) {
        let text = format!(
            r#"(name: "n", read: {read}, over: ("{}", "{}"), within: {within}, source: "s")"#,
            over.0, over.1
        );
        let expect: Expect = ron::from_str(&text).expect("a good expectation");
        let found = measure("14:00".parse().expect("a time"), &expect, &recorded());
        assert_eq!((found.shown.as_str(), found.wanted.as_str(), found.held), expected);
    }

    #[test]
    fn means_and_extremes_are_read_over_the_window() {
        check(
            r#"Mean("failing")"#,
            ("14:04", "14:06"),
            "Between(0.2, 0.3)",
            ("25.0 %", "20.0 % to 30.0 %", true),
        );
        check(r#"Mean("failing")"#, ("14:05", "14:05"), "AtMost(0.1)", ("40.0 %", "at most 10.0 %", false));
        check(r#"Mean("failing")"#, ("14:04:59", "14:05"), "AtMost(0.1)", ("10.0 %", "at most 10.0 %", true));
        check(
            r#"Max("rate")"#,
            ("14:00", "14:10"),
            "AtLeast(3000.0)",
            ("2,500/s", "at least 3,000/s", false),
        );
        check(r#"Min("cpu.a")"#, ("14:00", "14:10"), "AtLeast(0.4)", ("50.0 %", "at least 40.0 %", true));
        check(r#"Min("cpu.*")"#, ("14:03", "14:10"), "AtLeast(0.9)", ("70.0 %", "at least 90.0 %", false));
        check(r#"Max("cpu.*")"#, ("14:03", "14:10"), "AtLeast(0.9)", ("95.0 %", "at least 90.0 %", true));
    }

    #[test]
    fn rises_and_factors_compare_two_windows() {
        let rise = r#"Rise(series: "failing", from: ("14:00", "14:05"))"#;
        check(rise, ("14:05", "14:10"), "AtLeast(0.08)", ("+30.0 points", "at least +8.0 points", true));
        let factor = r#"Factor(series: "rate", from: ("14:00", "14:05"))"#;
        check(factor, ("14:05", "14:10"), "Between(2.0, 3.0)", ("2.50×", "2.00× to 3.00×", true));
    }

    #[test]
    fn a_condition_must_hold_for_a_minute() {
        let first = r#"FirstTime(series: "hits", is: Above(0.9))"#;
        let band = r#"Times("14:03", "14:04")"#;
        check(first, ("14:00", "14:10"), band, ("14:03:20", "14:03:00 to 14:04:00", true));
        check(first, ("14:05", "14:10"), band, ("14:05:00", "14:03:00 to 14:04:00", false));
        check(first, ("14:00", "14:03"), band, ("never", "14:03:00 to 14:04:00", false));
        check(first, ("14:03", "14:10"), "AtMost(30.0)", ("14:03:20", "at most 30 s", true));
    }

    #[test]
    fn what_was_not_recorded_does_not_hold() {
        check(
            r#"Mean("failing")"#,
            ("14:09", "14:11"),
            "AtLeast(0.0)",
            ("not recorded", "at least 0 %", false),
        );
        check(r#"Mean("gap")"#, ("14:00", "14:10"), "AtMost(9.0)", ("not recorded", "at most 9.0 s", false));
        check(r#"Mean("nothing")"#, ("14:00", "14:10"), "AtMost(9.0)", ("not recorded", "at most 9", false));
    }
}
