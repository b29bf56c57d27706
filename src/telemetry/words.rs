//! Words for what single requests left behind: text of log lines, spans of traces.
//!
//! Records are kept as they are and put into words when somebody reads them. Most of them nobody ever does.

use std::sync::Arc;

use super::logs::Level;
use super::record::instance_name;
use super::trace::{Span, SpanStatus, Trace};
use crate::sim::probe::{LogKind, LogRecord, SpanEnd, SpanKind, SpanRecord};
use crate::sim::spec::{Abandoned, ServiceSpec, Spec, Step};
use crate::units::{SimSpan, SimTime};

/// The stream of a log record, and its severity.
pub(super) fn stream(record: &LogRecord) -> (&'static str, Level) {
    match record.kind {
        LogKind::Access => ("access", if record.detail < 400 { Level::Info } else { Level::Warn }),
        LogKind::QueryTimeout => ("query_timeout", Level::Warn),
        LogKind::ConnectionRefused => ("connection_refused", Level::Error),
        LogKind::PoolTimeout => ("pool_timeout", Level::Error),
        LogKind::RateLimited => ("rate_limited", Level::Warn),
        LogKind::ClientGone => ("client_gone", Level::Warn),
        LogKind::InstanceLost => ("instance", Level::Error),
        LogKind::CacheDown => ("cache", Level::Error),
        LogKind::CacheUp | LogKind::WarmUp => ("cache", Level::Info),
        LogKind::CacheFlushed => ("cache", Level::Warn),
        LogKind::InstanceReady | LogKind::InstanceStopped => ("instance", Level::Info),
        LogKind::Deadline => ("deadline", Level::Warn),
        LogKind::CacheTimeout => ("cache_timeout", Level::Warn),
        LogKind::BreakerOpened => ("breaker", Level::Warn),
        LogKind::BudgetEmpty => ("budget", Level::Warn),
        LogKind::SlowQuery => ("slow_query", Level::Warn),
        LogKind::DatabaseLost | LogKind::DatabaseDown => ("database", Level::Error),
        LogKind::DatabaseUp => ("database", Level::Info),
        LogKind::CallTimeout => ("call_timeout", Level::Warn),
    }
}

/// Names of the parts, for log lines and traces.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Names {
    services: Vec<ServiceSpec>,
    caches: Vec<String>,
    databases: Vec<String>,
    /// Hosts of all databases.
    pub(super) hosts: Vec<String>,
    clients: Vec<Arc<str>>,
    pub(super) reads: Vec<Arc<str>>,
    /// Kinds that change something.
    posts: Vec<bool>,
    balancer: String,
    /// Calls between services.
    pub(super) calls: Vec<String>,
    /// What the log says of a query that took too long, by database.
    given_up: Vec<&'static str>,
}

impl Names {
    pub(super) fn of(spec: &Spec) -> Names {
        let calls = spec.services.iter().flat_map(|s| &s.steps).filter_map(|step| match step {
            Step::Call(call) => Some(call.name.clone()),
            _ => None,
        });
        Names {
            services: spec.services.clone(),
            caches: spec.caches.iter().map(|c| c.name.clone()).collect(),
            databases: spec.databases.iter().map(|d| d.name.clone()).collect(),
            hosts: spec.databases.iter().flat_map(|d| d.hosts.iter().cloned()).collect(),
            clients: spec.clients.iter().map(|c| c.name.as_str().into()).collect(),
            reads: spec.reads.iter().map(|r| r.name.as_str().into()).collect(),
            posts: spec.reads.iter().map(|r| r.posts).collect(),
            balancer: spec.balancer.name.clone(),
            calls: calls.collect(),
            given_up: spec
                .databases
                .iter()
                .map(|d| match d.abandoned {
                    Abandoned::Cancelled => "cancelled",
                    Abandoned::RunsOn => "given up, it runs on",
                })
                .collect(),
        }
    }

    /// The name of a kind of read.
    pub(super) fn read(&self, read: u32) -> Arc<str> {
        self.reads.get(read as usize).cloned().unwrap_or_default()
    }

    /// The name of a client population.
    pub(super) fn client(&self, client: u32) -> Arc<str> {
        self.clients.get(client as usize).cloned().unwrap_or_default()
    }

    fn instance(&self, service: u32, index: u32) -> String {
        match self.services.get(service as usize) {
            Some(service) if index != u32::MAX => instance_name(&service.name, index as usize),
            _ => self.balancer.clone(),
        }
    }

    /// The name of a query: that of a `Query` step, else how often it was tried.
    fn query(&self, service: u32, step: u32, attempt: u32) -> String {
        let step = self.services.get(service as usize).and_then(|s| s.steps.get(step as usize));
        match step {
            Some(Step::Query { name, .. }) if attempt == 1 => name.clone(),
            Some(Step::Query { name, .. }) => format!("{name} {attempt}"),
            _ => format!("query {attempt}"),
        }
    }

    /// Who wrote a log record, and its text.
    pub(super) fn source_and_text(&self, r: &LogRecord) -> (String, String) {
        let name = |names: &[String], i: u32| names.get(i as usize).cloned().unwrap_or_default();
        let (instance, host) = (self.instance(r.service, r.place), name(&self.hosts, r.host));
        let took = SimSpan(r.took);
        let service = self.services.get(r.service as usize);
        let pool = service.and_then(|s| s.pools.get(r.pool as usize));
        let given_up = service.and_then(|s| s.database).and_then(|d| self.given_up.get(d)).copied();
        let query_timeout = pool.map_or(SimSpan::ZERO, |p| p.query_timeout);
        match r.kind {
            LogKind::Access => (
                instance,
                format!(
                    "{} {} status={} attempt={} client={} took={took}",
                    if self.posts.get(r.read as usize) == Some(&true) { "POST" } else { "GET" },
                    self.read(r.read),
                    r.detail,
                    r.attempt,
                    self.client(r.client),
                ),
            ),
            LogKind::QueryTimeout => (
                instance,
                format!(
                    "db client: query gave no answer within {query_timeout}, {} (try {} of {}) \
                     host={host} attempt={}",
                    given_up.unwrap_or_default(),
                    r.detail,
                    r.allowed,
                    r.attempt,
                ),
            ),
            LogKind::ConnectionRefused => {
                (instance, format!("db client: {host} refused the connection (try {})", r.detail))
            }
            LogKind::PoolTimeout => {
                let in_time = pool
                    .filter(|p| !p.acquire_varies)
                    .map_or_else(|| "in time".to_owned(), |p| format!("within {}", p.acquire_timeout));
                (
                    instance,
                    format!("db client: no connection free {in_time}, request failed, attempt={}", r.attempt),
                )
            }
            LogKind::RateLimited => {
                (instance, format!("503 turned away, attempt={} client={}", r.attempt, self.client(r.client)))
            }
            LogKind::ClientGone => {
                (instance, format!("client closed the request after {took}, attempt={}", r.attempt))
            }
            LogKind::InstanceLost => {
                (instance, format!("request lost: the instance went away, attempt={}", r.attempt))
            }
            LogKind::CacheDown => {
                (name(&self.caches, r.place), "primary node lost, failover begins".to_owned())
            }
            LogKind::CacheUp => (
                name(&self.caches, r.place),
                "failover finished, the new primary answers; cluster status: healthy".to_owned(),
            ),
            LogKind::CacheFlushed => (name(&self.caches, r.place), "flushed by operator".to_owned()),
            LogKind::WarmUp => (name(&self.caches, r.place), "warm-up job begins or ends".to_owned()),
            LogKind::InstanceReady => (instance, "ready, taking requests".to_owned()),
            LogKind::InstanceStopped => (instance, "stopped".to_owned()),
            LogKind::Deadline => (
                instance,
                format!("deadline passed after {took} in this state, request failed, attempt={}", r.attempt),
            ),
            LogKind::CacheTimeout => {
                (instance, format!("cache client: no answer within {took}, attempt={}", r.attempt))
            }
            LogKind::BreakerOpened => (instance, "cache client: breaker open, cache is skipped".to_owned()),
            LogKind::BudgetEmpty => {
                (instance, format!("source budget used up: {} not read from the source", self.read(r.read)))
            }
            LogKind::SlowQuery => (
                host,
                format!("duration: {took}  {} {}", self.query(r.service, r.step, 1), self.read(r.read)),
            ),
            LogKind::DatabaseLost => (
                instance,
                format!("db client: {host} closed the connection unexpectedly, attempt={}", r.attempt),
            ),
            LogKind::DatabaseDown => (name(&self.databases, r.place), "shutting down".to_owned()),
            LogKind::DatabaseUp => (name(&self.databases, r.place), "ready to accept connections".to_owned()),
            LogKind::CallTimeout => (
                instance,
                match service.and_then(|s| s.steps.get(r.step as usize)) {
                    Some(Step::Call(call)) if r.detail < r.allowed => format!(
                        "{}: deadline exceeded at {took}; retrying attempt={} jitter={}ms",
                        call.name,
                        r.detail + 1,
                        call.jitter.part(call.backoff).0 / 1_000_000,
                    ),
                    Some(Step::Call(call)) => {
                        format!(
                            "{}: deadline exceeded at {took}; attempt={} was the last",
                            call.name, r.detail
                        )
                    }
                    _ => format!("deadline exceeded at {took}"),
                },
            ),
        }
    }

    /// Spans as a tree.
    pub(super) fn spans(&self, records: &[SpanRecord]) -> Vec<Span> {
        let name = |names: &[String], i: u32| names.get(i as usize).cloned().unwrap_or_default();
        let mut records = records.to_vec();
        records.sort_by_key(|s| (s.start, s.number == 0, s.number, s.end));
        let mut spans: Vec<Span> = Vec::with_capacity(records.len());
        // Number of a span, its index, and where it was.
        let mut parents: Vec<(u16, usize, (u32, u32))> = Vec::new();
        for s in &records {
            let parent = parents.iter().rev().find(|p| s.parent > 0 && p.0 == s.parent).copied();
            let (service, instance) = parent.map_or((0, u32::MAX), |p| p.2);
            let at = self.instance(service, instance);
            let mut inside = (service, instance);
            let (label, place) = match s.kind {
                SpanKind::Attempt { attempt, place } => {
                    inside = place.map_or((0, u32::MAX), |p| (u32::from(p.0), u32::from(p.1)));
                    (format!("attempt {attempt}"), self.instance(inside.0, inside.1))
                }
                SpanKind::Call { call, attempt, place } => {
                    inside = (u32::from(place.0), u32::from(place.1));
                    let label = match attempt {
                        1 => name(&self.calls, call),
                        n => format!("{} {n}", name(&self.calls, call)),
                    };
                    (label, self.instance(inside.0, inside.1))
                }
                SpanKind::CacheGet { cache } => ("cache get".to_owned(), name(&self.caches, cache)),
                SpanKind::PoolWait => ("pool wait".to_owned(), at),
                SpanKind::Connect { host } => ("connect".to_owned(), name(&self.hosts, host)),
                SpanKind::Query { attempt, service, step, host } => {
                    (self.query(service, step, attempt), name(&self.hosts, host))
                }
                SpanKind::Work => ("work".to_owned(), at),
                SpanKind::Confirm => ("look for the request key".to_owned(), at),
            };
            let (status, note) = match s.end_kind {
                SpanEnd::Ok => (SpanStatus::Ok, ""),
                SpanEnd::Miss => (SpanStatus::Ok, "miss"),
                SpanEnd::TimedOut => (SpanStatus::Failed, "timed out"),
                SpanEnd::Refused => (SpanStatus::Failed, "refused"),
                SpanEnd::Error => (SpanStatus::Failed, "500"),
                SpanEnd::Rejected => (SpanStatus::Failed, "503"),
                SpanEnd::Lost => (SpanStatus::Failed, "lost"),
                SpanEnd::Abandoned => (SpanStatus::Abandoned, "caller gone"),
            };
            if s.number > 0 {
                parents.push((s.number, spans.len(), inside));
            }
            spans.push(Span {
                parent: parent.map(|p| p.1),
                name: label,
                place,
                start: SimTime(s.start),
                took: SimTime(s.end).since(SimTime(s.start)),
                status,
                note,
            });
        }
        Trace::tree(spans)
    }
}
