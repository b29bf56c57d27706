//! Traces: one operation with all its attempts, waits, queries and what was given up.

use std::sync::{Arc, OnceLock};

use super::words::Names;
use crate::sim::probe::{OperationEnd, SpanKind, SpanRecord, TraceRecord};
use crate::units::{SimSpan, SimTime};

/// One operation, recorded whole when it ended for the user.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The operation's number; shown in hexadecimal.
    pub operation: u64,
    /// Kind of read.
    pub read: Arc<str>,
    /// The key that was asked for.
    pub key: u32,
    /// The client population.
    pub client: Arc<str>,
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
    records: Vec<SpanRecord>,
    names: Arc<Names>,
    spans: OnceLock<Vec<Span>>,
}

impl Trace {
    /// The trace of a record.
    pub(super) fn new(record: TraceRecord, names: &Arc<Names>) -> Trace {
        let is_query = |span: &&SpanRecord| matches!(span.kind, SpanKind::Query { .. });
        Trace {
            operation: record.operation,
            read: names.read(record.read),
            key: record.key,
            client: names.client(record.client),
            started: SimTime(record.started),
            took: SimTime(record.ended).since(SimTime(record.started)),
            outcome: match record.end {
                OperationEnd::Served => TraceOutcome::Served,
                OperationEnd::Late => TraceOutcome::Late,
                OperationEnd::Failed => TraceOutcome::Failed,
                OperationEnd::Shed => TraceOutcome::Shed,
            },
            attempts: record.attempts,
            queries: record.spans.iter().filter(is_query).count() as u32,
            records: record.spans,
            names: names.clone(),
            spans: OnceLock::new(),
        }
    }

    /// Spans as a tree: after each span what is part of it, in order of start. They are made when they are first wanted.
    pub fn spans(&self) -> &[Span] {
        self.spans.get_or_init(|| self.names.spans(&self.records))
    }

    /// A trace of these spans and otherwise of nothing.
    #[cfg(test)]
    pub(crate) fn of_spans(spans: Vec<Span>) -> Trace {
        Trace {
            operation: 0,
            read: "".into(),
            key: 0,
            client: "".into(),
            started: SimTime::ZERO,
            took: SimSpan::ZERO,
            outcome: TraceOutcome::Served,
            attempts: 1,
            queries: 0,
            records: Vec::new(),
            names: Arc::default(),
            spans: OnceLock::from(spans),
        }
    }

    /// How many spans a span is part of.
    pub fn depth(&self, span: usize) -> usize {
        let above = |&i: &usize| self.spans().get(i).and_then(|s| s.parent);
        std::iter::successors(above(&span), above).count()
    }

    /// Puts spans, which come in order of start, each after the one that it is part of, in the order of their tree.
    pub(super) fn tree(mut spans: Vec<Span>) -> Vec<Span> {
        let mut nodes = vec![Node { size: 1, place: 0, next: 0 }; spans.len()];
        for (i, span) in spans.iter().enumerate().rev() {
            if let Some(parent) = span.parent {
                nodes[parent].size += nodes[i].size;
            }
        }
        let mut next_root = 0;
        for (i, span) in spans.iter_mut().enumerate() {
            let size = nodes[i].size;
            let next = span.parent.map_or(&mut next_root, |parent| &mut nodes[parent].next);
            let place = *next;
            *next += size;
            (nodes[i].place, nodes[i].next) = (place, place + 1);
            span.parent = span.parent.map(|parent| nodes[parent].place);
        }
        for i in 0..spans.len() {
            while nodes[i].place != i {
                let place = nodes[i].place;
                spans.swap(i, place);
                nodes.swap(i, place);
            }
        }
        spans
    }
}

/// A span on its way into the order of the tree.
#[derive(Clone, Copy)]
struct Node {
    /// Spans of its part of the tree, itself included.
    size: usize,
    place: usize,
    /// Where the next one that is part of it goes.
    next: usize,
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
    pub note: &'static str,
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
    use proptest::prelude::*;

    use super::*;

    fn span(name: &str, parent: Option<usize>, start: u64) -> Span {
        Span {
            parent,
            name: name.to_owned(),
            place: String::new(),
            start: SimTime(start),
            took: SimSpan(1),
            status: SpanStatus::Ok,
            note: "",
        }
    }

    /// The starts of a part of the tree, found the slow way.
    fn walk(spans: &[Span], parent: Option<usize>) -> Vec<u64> {
        let parts = (0..spans.len()).filter(|&i| spans[i].parent == parent);
        parts.flat_map(|i| [vec![spans[i].start.0], walk(spans, Some(i))].concat()).collect()
    }

    proptest! {
        #[test]
        fn a_tree_is_the_order_in_which_one_walks_it(parents in prop::collection::vec(prop::option::of(0usize..40), 0..40)) {
            let one = |(i, parent): (usize, &Option<usize>)| span("", parent.filter(|p| *p < i), i as u64);
            let spans: Vec<Span> = parents.iter().enumerate().map(one).collect();
            let ordered = Trace::tree(spans.clone());
            prop_assert_eq!(ordered.iter().map(|s| s.start.0).collect::<Vec<_>>(), walk(&spans, None));
            for found in &ordered {
                let parent = found.parent.map(|parent| ordered[parent].start.0 as usize);
                prop_assert_eq!(parent, spans[found.start.0 as usize].parent);
            }
        }
    }

    #[test]
    fn what_is_part_of_a_span_follows_it() {
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
