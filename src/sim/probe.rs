//! What single requests leave behind: log records and traces of sampled operations.
//!
//! Records are kept as they happen and handed over to telemetry, which puts them into words. Logging never changes
//! what happens.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Log records of one kind that are kept between two collections; the rest is only counted.
const KEPT_PER_KIND: u32 = 3;

/// Kinds of log records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogKind {
    /// A request was answered.
    Access,
    /// A query took longer than it was allowed.
    QueryTimeout,
    /// A host accepted no further connection.
    ConnectionRefused,
    /// A request waited for a connection as long as it was allowed.
    PoolTimeout,
    /// A request was turned away by the limit.
    RateLimited,
    /// A client stopped waiting.
    ClientGone,
    /// A request was lost with its instance.
    InstanceLost,
    /// The cache became unreachable.
    CacheDown,
    /// The cache answers again.
    CacheUp,
    /// A cache was flushed.
    CacheFlushed,
    /// A warm-up began or ended.
    WarmUp,
    /// An instance is ready.
    InstanceReady,
    /// An instance stopped.
    InstanceStopped,
    /// A request's deadline came.
    Deadline,
    /// A call to the cache was not answered.
    CacheTimeout,
    /// A process stops asking the cache for a while.
    BreakerOpened,
    /// A read of the source was not started: the budget was used up.
    BudgetEmpty,
    /// A query took longer than the slow-query log's line.
    SlowQuery,
    /// A query was lost with its database.
    DatabaseLost,
    /// A database stopped answering.
    DatabaseDown,
    /// A database answers again.
    DatabaseUp,
    /// An attempt of a call between services was given up.
    CallTimeout,
}

/// How many kinds there are.
pub const LOG_KINDS: usize = 22;

/// A log record. What the numbers mean depends on the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogRecord {
    /// Nanoseconds since the start.
    pub at: u64,
    /// Kind.
    pub kind: LogKind,
    /// The operation, for records of requests.
    pub operation: u64,
    /// Service, for records of requests and instances.
    pub service: u32,
    /// Instance, cache.
    pub place: u32,
    /// Pool of its service.
    pub pool: u32,
    /// Step of its service.
    pub step: u32,
    /// Host; keys warmed.
    pub host: u32,
    /// Attempt of the client.
    pub attempt: u32,
    /// Try of the database client or attempt of a call; status code of an answer.
    pub detail: u32,
    /// How many tries or attempts were allowed then.
    pub allowed: u32,
    /// Kind of read.
    pub read: u32,
    /// Client population.
    pub client: u32,
    /// How long it took, nanoseconds.
    pub took: u64,
}

impl LogRecord {
    /// A record with nothing but time, kind and place.
    pub fn new(at: u64, kind: LogKind, place: u32) -> LogRecord {
        LogRecord {
            at,
            kind,
            operation: 0,
            service: 0,
            place,
            pool: 0,
            step: 0,
            host: 0,
            attempt: 0,
            detail: 0,
            allowed: 0,
            read: 0,
            client: 0,
            took: 0,
        }
    }
}

/// A piece of work of a traced operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpanRecord {
    /// What.
    pub kind: SpanKind,
    /// Its number within the trace, for spans that others are part of; else zero.
    pub number: u16,
    /// Number of the span that it is part of; zero for none.
    pub parent: u16,
    /// Nanoseconds since the start.
    pub start: u64,
    /// Nanoseconds since the start.
    pub end: u64,
    /// How it ended.
    pub end_kind: SpanEnd,
}

/// What a span covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// One attempt of the client, from 1, at an instance.
    Attempt {
        /// Number.
        attempt: u32,
        /// Service and instance; `None` when it was turned away before it reached one.
        place: Option<(u16, u16)>,
    },
    /// The look-up in a cache.
    CacheGet {
        /// Which.
        cache: u32,
    },
    /// Waiting for a connection.
    PoolWait,
    /// Opening a connection.
    Connect {
        /// To this host.
        host: u32,
    },
    /// A query.
    Query {
        /// Try, from 1.
        attempt: u32,
        /// Service and step that it is of.
        service: u32,
        /// The step.
        step: u32,
        /// At this host.
        host: u32,
    },
    /// Own work.
    Work,
    /// One attempt of a call between services, from 1.
    Call {
        /// Which call, by its place among all of the system.
        call: u32,
        /// Number.
        attempt: u32,
        /// Service and instance that it went to.
        place: (u16, u16),
    },
    /// Watching for the request key after the last attempt.
    Confirm,
}

/// How a span ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanEnd {
    /// As wanted.
    Ok,
    /// The key was not there.
    Miss,
    /// It took longer than allowed.
    TimedOut,
    /// No connection was accepted.
    Refused,
    /// An error was answered.
    Error,
    /// Turned away by a limit.
    Rejected,
    /// The instance went away.
    Lost,
    /// The client stopped waiting.
    Abandoned,
}

/// How an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationEnd {
    /// In time.
    Served,
    /// Late.
    Late,
    /// After its last attempt failed.
    Failed,
    /// After its last attempt was turned away.
    Shed,
}

/// A traced operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceRecord {
    /// Number of the operation.
    pub operation: u64,
    /// Kind of read.
    pub read: u32,
    /// Key within its kind.
    pub key: u32,
    /// Client population.
    pub client: u32,
    /// Nanoseconds since the start.
    pub started: u64,
    /// Nanoseconds since the start.
    pub ended: u64,
    /// How it ended.
    pub end: OperationEnd,
    /// Attempts made.
    pub attempts: u32,
    /// Spans in order of their end; attempts are in it too.
    pub spans: Vec<SpanRecord>,
}

/// Collects records until they are handed over.
#[derive(Clone, Debug, Default)]
pub struct Probe {
    logs: Vec<LogRecord>,
    counts: [u32; LOG_KINDS],
    /// By the number of the operation.
    open: BTreeMap<u64, Open>,
    done: Vec<TraceRecord>,
}

/// A trace that is not complete: its operation goes on, or work that was given up does.
#[derive(Clone, Debug)]
struct Open {
    trace: TraceRecord,
    /// Spans of calls that have begun, and those that have ended.
    begun: u16,
    over: u16,
    ended: bool,
}

/// Numbers of client attempts come before those of calls.
const FIRST_CALL_SPAN: u16 = 256;

impl Probe {
    /// Counts a record. Says whether it is among the first few of its kind, which are to be [kept](Probe::keep).
    #[inline]
    pub fn count(&mut self, kind: LogKind) -> bool {
        let count = &mut self.counts[kind as usize];
        *count += 1;
        *count <= KEPT_PER_KIND
    }

    /// Keeps a record that was counted.
    #[cold]
    pub fn keep(&mut self, record: LogRecord) {
        self.logs.push(record);
    }

    /// Keeps an example of a record that was counted apart, while there are few of its kind.
    pub fn example(&mut self, record: LogRecord) {
        if self.logs.iter().filter(|l| l.kind == record.kind).count() < KEPT_PER_KIND as usize {
            self.logs.push(record);
        }
    }

    /// Begins to trace an operation.
    pub fn open(&mut self, trace: TraceRecord) {
        self.open.insert(trace.operation, Open { trace, begun: 0, over: 0, ended: false });
    }

    /// Adds a span to an operation that is being traced.
    pub fn span(&mut self, operation: u64, span: SpanRecord) {
        if let Some(open) = self.open.get_mut(&operation) {
            open.trace.spans.push(span);
        }
    }

    /// A number for the span of a call that begins.
    pub fn begin_span(&mut self, operation: u64) -> u16 {
        self.open.get_mut(&operation).map_or(0, |open| {
            open.begun += 1;
            FIRST_CALL_SPAN + open.begun
        })
    }

    /// Adds the span of a call that has ended.
    pub fn end_span(&mut self, operation: u64, span: SpanRecord) {
        if let Some(open) = self.open.get_mut(&operation) {
            open.trace.spans.push(span);
            open.over += 1;
        }
        self.settle(operation);
    }

    /// The operation ends for its user.
    pub fn close(&mut self, operation: u64, ended: u64, attempts: u32, end: OperationEnd) {
        if let Some(open) = self.open.get_mut(&operation) {
            (open.trace.ended, open.trace.attempts, open.trace.end, open.ended) =
                (ended, attempts, end, true);
        }
        self.settle(operation);
    }

    /// A trace is complete when the operation and all calls on its behalf have ended.
    fn settle(&mut self, operation: u64) {
        if let Entry::Occupied(open) = self.open.entry(operation)
            && open.get().ended
            && open.get().begun == open.get().over
        {
            self.done.push(open.remove().trace);
        }
    }

    /// What was collected: log records, how many there were of each kind, and finished traces. Whoever has read them empties
    /// them.
    pub fn collected(&mut self) -> (&mut Vec<LogRecord>, &mut [u32; LOG_KINDS], &mut Vec<TraceRecord>) {
        (&mut self.logs, &mut self.counts, &mut self.done)
    }
}
