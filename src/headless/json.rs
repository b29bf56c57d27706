//! The JSON of a run. Its fields are stable; [`SCHEMA`] grows when one changes its meaning or goes.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Ending, RunResult};
use crate::game::command::Command;
use crate::incident::expect::Measured;
use crate::incident::schema::Band;
use crate::score::Score;
use crate::telemetry::Series;
use crate::units::{SimTime, Unit};

/// Version of the JSON.
pub const SCHEMA: u32 = 1;
/// Significant digits of a sample.
const DIGITS: usize = 6;

#[derive(Serialize)]
struct Run<'a> {
    schema: u32,
    incident: &'a str,
    seed: u64,
    engine: u32,
    plan: &'a str,
    /// The variant of the incident, when it was not the incident itself.
    variant: Option<&'a str>,
    scale: f64,
    outcome: Outcome,
    /// Plans answer no questions, so there is nothing to mark.
    score: Option<&'a Score>,
    start: String,
    series: BTreeMap<&'a str, Samples>,
    /// What was worked out from the series.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    queries: Vec<Answer<'a>>,
    expectations: Vec<Expectation<'a>>,
    harm: Counts,
    journal: Vec<Entry<'a>>,
    digest: String,
    simulated_s: f64,
    requests_simulated: u64,
    events_simulated: u64,
    wall_s: f64,
}

#[derive(Serialize)]
struct Outcome {
    /// `unharmed`, `recovered`, `failing`.
    state: &'static str,
    /// Time of day from which on it was well.
    recovered_at: Option<String>,
    /// Share of operations that failed in the last minute.
    failing: Option<f64>,
}

#[derive(Serialize)]
struct Samples {
    unit: &'static str,
    step_s: u32,
    values: Vec<Option<f64>>,
}

#[derive(Serialize)]
struct Answer<'a> {
    query: &'a str,
    /// What stands in place of the star; the query where there is one line only.
    line: &'a str,
    #[serde(flatten)]
    samples: Samples,
}

#[derive(Serialize)]
struct Expectation<'a> {
    name: &'a str,
    window: [String; 2],
    /// The middle of the band, or its only limit; seconds after the window's start for a moment.
    wanted: f64,
    /// Half the width of the band; null when it has one limit.
    tolerance: Option<f64>,
    /// The band in words.
    within: String,
    measured: Option<f64>,
    held: bool,
    key: bool,
}

#[derive(Serialize)]
struct Counts {
    served: u64,
    late: u64,
    shed: u64,
    failed: u64,
}

#[derive(Serialize)]
struct Entry<'a> {
    at: String,
    command: &'a Command,
}

/// Six significant digits; nothing where nothing was measured.
fn rounded(value: f64) -> Option<f64> {
    if !value.is_finite() {
        return None;
    }
    format!("{value:.*e}", DIGITS - 1).parse().ok()
}

fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::PerSecond => "per second",
        Unit::Ratio => "ratio",
        Unit::Seconds => "seconds",
        Unit::Count => "count",
        Unit::Factor => "factor",
    }
}

fn samples(series: &Series) -> Samples {
    Samples {
        unit: unit(series.unit),
        step_s: 1,
        values: series.values.iter().map(|v| rounded(*v)).collect(),
    }
}

fn expectation<'a>(measured: &Measured<'a>) -> Expectation<'a> {
    let expect = measured.expect;
    let seconds = |t: crate::units::TimeOfDay| f64::from(t.0) - f64::from(expect.over.0.0);
    let middle = |low: f64, high: f64| ((low + high) / 2.0, Some((high - low) / 2.0));
    let (wanted, tolerance) = match expect.within {
        Band::Between(low, high) => middle(low, high),
        Band::AtLeast(limit) | Band::AtMost(limit) => (limit, None),
        Band::Times(from, to) => middle(seconds(from), seconds(to)),
    };
    Expectation {
        name: &expect.name,
        window: [expect.over.0.to_string(), expect.over.1.to_string()],
        wanted: rounded(wanted).unwrap_or(0.0),
        tolerance: tolerance.and_then(rounded),
        within: measured.wanted.clone(),
        measured: measured.measured.and_then(rounded),
        held: measured.held,
        key: expect.key,
    }
}

fn outcome(run: &RunResult) -> Outcome {
    let session = &run.session;
    let (state, recovered) = match run.ending() {
        Ending::Unharmed => ("unharmed", None),
        Ending::Recovered(at) => ("recovered", Some(at)),
        Ending::Failing => ("failing", None),
    };
    let end = session.series().seconds();
    let failing = session
        .series()
        .get("operations.failure_ratio")
        .and_then(|s| s.mean(end.saturating_sub(60)..end))
        .and_then(rounded);
    Outcome { state, recovered_at: recovered.map(|at| session.incident().clock(at).to_string()), failing }
}

pub(super) fn write(run: &RunResult, wall_s: f64, answers: &[Series]) -> String {
    let session = &run.session;
    let incident = session.incident();
    let counters = session.counters();
    let measured = run.expectations();
    let value = Run {
        schema: SCHEMA,
        incident: &incident.file().id,
        seed: session.options().seed,
        engine: crate::sim::ENGINE_VERSION,
        plan: &run.plan,
        variant: run.session.incident().variant_name(),
        scale: session.options().scale,
        outcome: outcome(run),
        score: None,
        start: incident.clock(SimTime::ZERO).to_string(),
        series: session.series().iter().map(|s| (s.name.as_str(), samples(s))).collect(),
        queries: answers
            .iter()
            .map(|s| Answer { query: &s.what, line: &s.name, samples: samples(s) })
            .collect(),
        expectations: measured.iter().map(expectation).collect(),
        harm: Counts {
            served: counters.operations_served(),
            late: counters.operations_late,
            shed: counters.operations_shed,
            failed: counters.operations_failed,
        },
        journal: session
            .journal()
            .iter()
            .map(|(at, command)| Entry { at: incident.clock(*at).to_string(), command })
            .collect(),
        digest: format!("{:016x}", session.digest()),
        simulated_s: session.now().as_secs_f64(),
        requests_simulated: counters.requests_received(),
        events_simulated: counters.events,
        wall_s: (wall_s * 1e3).round() / 1e3,
    };
    // Plain data of strings, numbers and lists always serialises.
    serde_json::to_string(&value).unwrap_or_default() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_keep_six_digits_and_gaps() {
        for (value, text) in [
            (0.123_456_789, "0.123457"),
            (12_345_678.0, "12345700.0"),
            (4_000.0, "4000.0"),
            (0.0, "0.0"),
            (f64::NAN, "null"),
            (f64::INFINITY, "null"),
        ] {
            assert_eq!(serde_json::to_string(&rounded(value)).ok().as_deref(), Some(text));
        }
    }
}
