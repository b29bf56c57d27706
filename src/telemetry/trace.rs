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
    /// Spans as a tree: after each span what is part of it, in order of start.
    pub spans: Vec<Span>,
}

impl Trace {
    /// How many spans a span is part of.
    pub fn depth(&self, span: usize) -> usize {
        let above = |&i: &usize| self.spans.get(i).and_then(|s| s.parent);
        std::iter::successors(above(&span), above).count()
    }

    /// Puts spans, which come in order of start, in the order of their tree.
    pub(super) fn tree(spans: Vec<Span>) -> Vec<Span> {
        let mut children = vec![Vec::new(); spans.len()];
        let mut next: Vec<(usize, Option<usize>)> = Vec::new();
        for (i, span) in spans.iter().enumerate().rev() {
            match span.parent {
                Some(parent) => children[parent].push(i),
                None => next.push((i, None)),
            }
        }
        let mut ordered = Vec::with_capacity(spans.len());
        while let Some((i, parent)) = next.pop() {
            let place = Some(ordered.len());
            next.extend(children[i].iter().map(|&child| (child, place)));
            ordered.push(Span { parent, ..spans[i].clone() });
        }
        ordered
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_part_of_a_span_follows_it() {
        let span = |name: &str, parent, start| Span {
            parent,
            name: name.to_owned(),
            place: String::new(),
            start: SimTime(start),
            took: SimSpan(1),
            status: SpanStatus::Ok,
            note: String::new(),
        };
        let spans = vec![
            span("attempt 1", None, 0),
            span("call", Some(0), 1),
            span("call 2", Some(0), 2),
            span("query of call", Some(1), 3),
            span("query of call 2", Some(2), 4),
            span("attempt 2", None, 5),
        ];
        let spans = Trace::tree(spans);
        let shape: Vec<(&str, Option<usize>)> = spans.iter().map(|s| (s.name.as_str(), s.parent)).collect();
        assert_eq!(
            shape,
            [
                ("attempt 1", None),
                ("call", Some(0)),
                ("query of call", Some(1)),
                ("call 2", Some(0)),
                ("query of call 2", Some(3)),
                ("attempt 2", None),
            ]
        );
    }
}
