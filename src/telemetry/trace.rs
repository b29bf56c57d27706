//! Traces: one operation with all its attempts, waits, queries and what was given up.

use crate::units::{SimSpan, SimTime};

/// One operation, recorded whole when it ended for the user.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// The operation's number; shown in hexadecimal.
    pub operation: u64,
    /// Kind of read.
    pub read: String,
    /// The key that was asked for.
    pub key: u32,
    /// The client population.
    pub client: String,
    /// When the user began.
    pub started: SimTime,
    /// How long it took the user, over all attempts.
    pub took: SimSpan,
    /// How it ended.
    pub outcome: TraceOutcome,
    /// Attempts made.
    pub attempts: u32,
    /// Queries started on its behalf.
    pub queries: u32,
    /// Spans in order of start; the parent comes before its children.
    pub spans: Vec<Span>,
}

/// How an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceOutcome {
    /// In time.
    Served,
    /// Served, but late.
    Late,
    /// Failed after its last attempt.
    Failed,
    /// Turned away by a limit at its last attempt.
    Shed,
}

/// A piece of the work.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// Index of the parent span; `None` for an attempt.
    pub parent: Option<usize>,
    /// `attempt 2`, `pool wait`, `connect`, `query 1`, `cache get`.
    pub name: String,
    /// Where: `api-07`, `replica-1`, `catalog-cache`.
    pub place: String,
    /// When.
    pub start: SimTime,
    /// How long.
    pub took: SimSpan,
    /// How it ended.
    pub status: SpanStatus,
    /// `503`, `timeout after 2 s`, `miss`, `refused`.
    pub note: String,
}

/// How a span ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanStatus {
    /// As wanted.
    Ok,
    /// Failed.
    Failed,
    /// Its caller had given up; it went on.
    Abandoned,
}
