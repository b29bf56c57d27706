//! Quantities with units: simulated time, spans, rates, ratios; reading them from text and writing them for people.
//!
//! Simulated time is an integer number of nanoseconds since the start of an incident's clock, so that no two
//! machines can disagree about the order of two events.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A second, in nanoseconds.
pub const SECOND: u64 = 1_000_000_000;

/// An instant of simulated time: nanoseconds since the start of the incident's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SimTime(pub u64);

/// A length of simulated time, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SimSpan(pub u64);

impl SimTime {
    /// The start of the incident's clock.
    pub const ZERO: SimTime = SimTime(0);
    /// Later than anything that happens.
    pub const NEVER: SimTime = SimTime(u64::MAX);

    /// The instant `s` whole seconds after the start.
    pub const fn from_secs(s: u64) -> SimTime {
        SimTime(s * SECOND)
    }

    /// Whole seconds since the start, rounded down.
    pub const fn as_secs(self) -> u64 {
        self.0 / SECOND
    }

    /// Seconds since the start.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / SECOND as f64
    }

    /// The span since `earlier`, zero when `earlier` is later.
    pub const fn since(self, earlier: SimTime) -> SimSpan {
        SimSpan(self.0.saturating_sub(earlier.0))
    }
}

impl SimSpan {
    /// No time at all.
    pub const ZERO: SimSpan = SimSpan(0);

    /// `s` whole seconds.
    pub const fn from_secs(s: u64) -> SimSpan {
        SimSpan(s * SECOND)
    }

    /// `ms` milliseconds.
    pub const fn from_millis(ms: u64) -> SimSpan {
        SimSpan(ms * 1_000_000)
    }

    /// Length in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / SECOND as f64
    }

    /// A length that was said and not measured, as people say it: `3 min` where a measured one is `3.0 min`.
    pub fn words(self) -> String {
        self.to_string().replace(".0 ", " ")
    }
}

impl FromStr for SimTime {
    type Err = UnitError;

    /// Reads the span since the start of the clock: `780s`, `12500ms`.
    fn from_str(text: &str) -> Result<SimTime, UnitError> {
        text.parse().map(|span: SimSpan| SimTime(span.0))
    }
}

impl Add<SimSpan> for SimTime {
    type Output = SimTime;
    fn add(self, span: SimSpan) -> SimTime {
        SimTime(self.0.saturating_add(span.0))
    }
}

impl AddAssign<SimSpan> for SimTime {
    fn add_assign(&mut self, span: SimSpan) {
        *self = *self + span;
    }
}

impl Sub<SimSpan> for SimTime {
    type Output = SimTime;
    fn sub(self, span: SimSpan) -> SimTime {
        SimTime(self.0.saturating_sub(span.0))
    }
}

impl Add for SimSpan {
    type Output = SimSpan;
    fn add(self, other: SimSpan) -> SimSpan {
        SimSpan(self.0.saturating_add(other.0))
    }
}

/// Why a quantity could not be read: what was found, and what a good one looks like.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{found}` is not {wanted}")]
pub struct UnitError {
    /// The text as it was given.
    pub found: String,
    /// What was expected, with an example.
    pub wanted: &'static str,
}

/// A number with `_` between digits allowed; never negative, never infinite.
fn number(text: &str) -> Option<f64> {
    if !text.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let plain: String = text.chars().filter(|&c| c != '_').collect();
    plain.parse::<f64>().ok().filter(|v| v.is_finite())
}

impl FromStr for SimSpan {
    type Err = UnitError;

    /// Reads `250ms`, `2s`, `1.5 s`, `40us`, `2h 36m`, `0`.
    fn from_str(text: &str) -> Result<SimSpan, UnitError> {
        let error = || UnitError {
            found: text.to_owned(),
            wanted: "a length of time such as \"250ms\", \"2s\", \"90s\" or \"2h 36m\"",
        };
        let trimmed = text.trim();
        if trimmed == "0" {
            return Ok(SimSpan::ZERO);
        }
        let mut total = 0u64;
        let mut rest = trimmed;
        if rest.is_empty() {
            return Err(error());
        }
        while !rest.is_empty() {
            let digits =
                rest.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).ok_or_else(error)?;
            let value = number(&rest[..digits]).ok_or_else(error)?;
            let after = rest[digits..].trim_start();
            let letters = after.find(|c: char| !c.is_alphabetic()).unwrap_or(after.len());
            let unit: f64 = match &after[..letters] {
                "ns" => 1.0,
                "us" | "µs" => 1e3,
                "ms" => 1e6,
                "s" => 1e9,
                "m" | "min" => 60e9,
                "h" => 3_600e9,
                "d" => 86_400e9,
                _ => return Err(error()),
            };
            let ns = value * unit;
            // A century is far outside any incident and far inside u64.
            if ns > 3.2e18 {
                return Err(error());
            }
            total = total.saturating_add((ns + 0.5) as u64);
            rest = after[letters..].trim_start();
        }
        Ok(SimSpan(total))
    }
}

impl fmt::Display for SimSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Unit::Seconds.show(self.as_secs_f64()))
    }
}

/// How often something happens, per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Rate(pub f64);

impl FromStr for Rate {
    type Err = UnitError;

    /// Reads `4_500/s`, `940/min`, `12/h`.
    fn from_str(text: &str) -> Result<Rate, UnitError> {
        let error = || UnitError {
            found: text.to_owned(),
            wanted: "a rate such as \"4_500/s\", \"940/min\" or \"12/h\"",
        };
        let (value, per) = text.split_once('/').ok_or_else(error)?;
        let value = number(value.trim()).ok_or_else(error)?;
        let seconds = match per.trim() {
            "s" => 1.0,
            "min" | "m" => 60.0,
            "h" => 3_600.0,
            _ => return Err(error()),
        };
        Ok(Rate(value / seconds))
    }
}

/// A share of a whole: 0.97 is 97 %.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Ratio(pub f64);

impl FromStr for Ratio {
    type Err = UnitError;

    /// Reads `97%`, `99.9 %`, `0.5`.
    fn from_str(text: &str) -> Result<Ratio, UnitError> {
        let error = || UnitError { found: text.to_owned(), wanted: "a share such as \"97%\" or \"0.97\"" };
        let trimmed = text.trim();
        let value = match trimmed.strip_suffix('%') {
            Some(percent) => number(percent.trim()).ok_or_else(error)? / 100.0,
            None => number(trimmed).ok_or_else(error)?,
        };
        Ok(Ratio(value))
    }
}

/// A time of day on the incident's own calendar, in seconds after midnight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeOfDay(pub u32);

impl FromStr for TimeOfDay {
    type Err = UnitError;

    /// Reads `14:03` and `14:03:30`.
    fn from_str(text: &str) -> Result<TimeOfDay, UnitError> {
        let error = || UnitError {
            found: text.to_owned(),
            wanted: "a time of day such as \"14:03\" or \"14:03:30\"",
        };
        let mut total = 0u32;
        let parts: Vec<&str> = text.trim().split(':').collect();
        if !(2..=3).contains(&parts.len()) {
            return Err(error());
        }
        for (i, limit) in [24, 60, 60].into_iter().enumerate() {
            let value = match parts.get(i) {
                Some(p) if p.len() <= 2 && p.chars().all(|c| c.is_ascii_digit()) => {
                    p.parse::<u32>().map_err(|_| error())?
                }
                Some(_) => return Err(error()),
                None => 0,
            };
            if value >= limit {
                return Err(error());
            }
            total = total * 60 + value;
        }
        Ok(TimeOfDay(total))
    }
}

impl TimeOfDay {
    /// The time of day `span` later, past midnight wrapping round.
    pub fn after(self, span: SimSpan) -> TimeOfDay {
        TimeOfDay(((u64::from(self.0) + span.0 / SECOND) % 86_400) as u32)
    }
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}:{:02}", self.0 / 3_600, self.0 / 60 % 60, self.0 % 60)
    }
}

/// Serde through the text forms above, so that files say `"250ms"` and errors carry a position.
macro_rules! as_text {
    ($type:ty, $write:expr) => {
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let write: fn(&$type) -> String = $write;
                serializer.serialize_str(&write(self))
            }
        }
    };
}

as_text!(SimSpan, |s| exact_span(*s));
as_text!(SimTime, |t| exact_span(SimSpan(t.0)));
as_text!(Rate, |r| format!("{}/s", r.0));
as_text!(Ratio, |r| format!("{}", r.0));
as_text!(TimeOfDay, |t| t.to_string());

/// A span as text that reads back to the same nanosecond.
pub fn exact_span(span: SimSpan) -> String {
    match span.0 {
        ns if ns % SECOND == 0 => format!("{}s", ns / SECOND),
        ns if ns % 1_000_000 == 0 => format!("{}ms", ns / 1_000_000),
        ns => format!("{ns}ns"),
    }
}

/// What a recorded number measures; decides how it is written and whether an axis starts at zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Unit {
    /// Things per second.
    PerSecond,
    /// A share of a whole, 0 to 1, written in per cent.
    Ratio,
    /// Seconds, written as ns, µs, ms, s or min.
    Seconds,
    /// A plain count.
    Count,
    /// A factor such as attempts per operation.
    Factor,
}

impl Unit {
    /// Three significant digits with the unit: `11.0k/s`, `97.1 %`, `8.0 s`, `30 ms`, `14.0k`, `2.75×`.
    pub fn show(self, value: f64) -> String {
        if !value.is_finite() {
            return "no data".to_owned();
        }
        match self {
            Unit::PerSecond => format!("{}/s", short(value)),
            Unit::Count => short(value),
            Unit::Factor => format!("{value:.2}×"),
            Unit::Ratio => {
                let percent = value * 100.0;
                if percent.abs() >= 99.95 || percent == 0.0 {
                    format!("{percent:.0} %")
                } else {
                    format!("{percent:.1} %")
                }
            }
            Unit::Seconds => {
                let (v, unit) = match value.abs() {
                    0.0 => return "0 s".to_owned(),
                    a if a < 0.999_5e-6 => (value * 1e9, "ns"),
                    a if a < 0.999_5e-3 => (value * 1e6, "µs"),
                    a if a < 0.999_5 => (value * 1e3, "ms"),
                    a if a < 119.95 => (value, "s"),
                    a if a < 7_170.0 => (value / 60.0, "min"),
                    _ => (value / 3_600.0, "h"),
                };
                if v.abs() < 9.95 { format!("{v:.1} {unit}") } else { format!("{v:.0} {unit}") }
            }
        }
    }

    /// The word for an axis or a legend.
    pub fn label(self) -> &'static str {
        match self {
            Unit::PerSecond => "per second",
            Unit::Ratio => "%",
            Unit::Seconds => "seconds",
            Unit::Count => "count",
            Unit::Factor => "times",
        }
    }
}

/// A number of things, in words that agree with it: `1 query`, `3 queries`, `14.3k lines`.
pub fn count(n: u64, one: &str, many: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{} {many}", short(n as f64)) }
}

/// A count with a k, M or G: 940, 4.0k, 11.0k, 144k, 3.9M.
pub fn short(value: f64) -> String {
    let a = value.abs();
    let (v, suffix) = match a {
        a if a < 999.5 => (value, ""),
        a if a < 999_500.0 => (value / 1e3, "k"),
        a if a < 999_500_000.0 => (value / 1e6, "M"),
        _ => (value / 1e9, "G"),
    };
    if suffix.is_empty() {
        if a >= 9.95 || value == (value as i64) as f64 { format!("{v:.0}") } else { format!("{v:.1}") }
    } else if v.abs() < 99.95 {
        format!("{v:.1}{suffix}")
    } else {
        format!("{v:.0}{suffix}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_with_their_units() {
        for (text, ns) in [
            ("250ms", 250_000_000),
            ("2s", 2 * SECOND),
            ("1.5 s", 1_500_000_000),
            ("2h 36m", 9_360 * SECOND),
            ("40us", 40_000),
            ("0", 0),
        ] {
            assert_eq!(text.parse(), Ok(SimSpan(ns)), "{text}");
        }
        for text in ["", "5", "ms", "-2s", "2 parsecs", "1e300s", "s2", "99999999999999h"] {
            assert!(text.parse::<SimSpan>().is_err(), "{text}");
        }
    }

    #[test]
    fn rates_ratios_and_times_are_read() {
        assert_eq!("4_500/s".parse(), Ok(Rate(4500.0)));
        assert_eq!("90/min".parse(), Ok(Rate(1.5)));
        assert_eq!("97%".parse(), Ok(Ratio(0.97)));
        assert_eq!("14:03".parse(), Ok(TimeOfDay(14 * 3600 + 180)));
        for text in ["4500", "x/s", "5/parsec", "-1/s"] {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
        for text in ["24:00", "1:60", "14", "14:03:61", "a:b", "14:003"] {
            assert!(text.parse::<TimeOfDay>().is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_counted_agrees_with_its_number() {
        for (n, wanted) in [(0, "0 queries"), (1, "1 query"), (2, "2 queries"), (14_300, "14.3k queries")] {
            assert_eq!(count(n, "query", "queries"), wanted);
        }
        assert_eq!(SimSpan::from_secs(180).words(), "3 min");
        assert_eq!(SimSpan::from_millis(1_500).words(), "1.5 s");
    }

    #[test]
    fn numbers_are_written_with_the_unit_a_person_expects() {
        for (unit, value, text) in [
            (Unit::Seconds, 8.8, "8.8 s"),
            (Unit::Seconds, 0.0301, "30 ms"),
            (Unit::Seconds, 0.9999, "1.0 s"),
            (Unit::PerSecond, 11_000.0, "11.0k/s"),
            (Unit::PerSecond, 4.0, "4/s"),
            (Unit::Count, 14_000.0, "14.0k"),
            (Unit::Ratio, 0.974, "97.4 %"),
            (Unit::Ratio, 1.0, "100 %"),
            (Unit::Factor, 2.754, "2.75×"),
            (Unit::Ratio, f64::NAN, "no data"),
        ] {
            assert_eq!(unit.show(value), text);
        }
    }

    #[test]
    fn a_span_written_exactly_reads_back() {
        for ns in [0, 1, 1_500_000, 2 * SECOND, 123_456_789] {
            assert_eq!(exact_span(SimSpan(ns)).parse(), Ok(SimSpan(ns)));
        }
    }
}
