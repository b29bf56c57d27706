//! What the player keeps as evidence.

use super::command::{EvidenceId, Source};
use crate::telemetry::{LogLine, Series, Trace, TraceOutcome};
use crate::units::{SimTime, TimeOfDay, count};

/// A piece of evidence: what was on an instrument at a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// Its id, `E-0001`.
    pub id: EvidenceId,
    /// When it was pinned.
    pub at: SimTime,
    /// The instrument.
    pub what: Source,
    /// What it showed then.
    pub showed: String,
    /// The player's own words.
    pub note: String,
}

/// Seconds between the two readings of a series that a piece of evidence keeps.
const COMPARED_WITH: usize = 600;

/// A series' value now behind what it is called, and its value ten minutes before when there is one.
pub(super) fn reading(series: &Series, title: &str) -> String {
    let now = series.unit.show(series.recent().unwrap_or(f64::NAN));
    let before = series.values.len().checked_sub(COMPARED_WITH).filter(|end| *end > 0);
    match before.and_then(|end| series.recent_at(end)) {
        Some(value) => format!("{title}: {now}; {} ten minutes before", series.unit.show(value)),
        None => format!("{title}: {now}"),
    }
}

/// A log line as a log viewer writes it, with the incident's clock.
pub(super) fn log_line(line: &LogLine, clock: TimeOfDay) -> String {
    let alike = if line.alike > 1 {
        format!(" (one of {} such lines in that second)", line.alike)
    } else {
        String::new()
    };
    let (source, text) = line.source_and_text();
    format!("{clock} {} {source} {text}{alike}", line.level.label().trim_end())
}

/// A trace in a line.
pub(super) fn trace_line(trace: &Trace) -> String {
    let outcome = match trace.outcome {
        TraceOutcome::Served => "served",
        TraceOutcome::Late => "late",
        TraceOutcome::Failed => "failed",
        TraceOutcome::Shed => "turned away",
    };
    format!(
        "operation {:x} ({}, {}): {outcome} after {}, {}, {}",
        trace.operation,
        trace.client,
        trace.read,
        trace.took,
        count(trace.attempts.into(), "attempt", "attempts"),
        count(trace.queries.into(), "query", "queries")
    )
}
