//! The recorder: steps a world second by second and reads its instruments, as a scrape would.

use super::logs::{Level, LogLine};
use super::series::SeriesSet;
use super::trace::{Span, SpanStatus, Trace, TraceOutcome};
use crate::sim::World;
use crate::sim::digest::Digest;
use crate::sim::meter::{ATTEMPTS_TOLD_APART, Counters, Histogram, HostCounters};
use crate::sim::probe::{LogKind, LogRecord, OperationEnd, SpanEnd, SpanKind, TraceRecord};
use crate::sim::service::InstanceState;
use crate::sim::spec::{Abandoned, PoolSpec, Spec};
use crate::units::{SECOND, SimSpan, SimTime, Unit};

/// Steps a world and records what its instruments show.
#[derive(Clone, Debug)]
pub struct Recorder {
    names: Names,
    series: SeriesSet,
    logs: Vec<LogLine>,
    traces: Vec<Trace>,
    digest: Digest,
    before: Reading,
}

/// Names of the parts, for log lines and traces.
#[derive(Clone, Debug)]
struct Names {
    service: String,
    cache: Vec<String>,
    hosts: Vec<String>,
    clients: Vec<String>,
    reads: Vec<String>,
    balancer: String,
    pool: PoolSpec,
    /// What the log says of a query that took too long.
    given_up: &'static str,
}

/// Cumulative readings of one instant.
#[derive(Clone, Debug)]
struct Reading {
    counters: Counters,
    latency: Histogram,
    hosts: Vec<HostCounters>,
    busy_s: Vec<f64>,
}

impl Reading {
    fn of(world: &World) -> Reading {
        let hosts = all_hosts(world);
        Reading {
            counters: world.counters().clone(),
            latency: world.latency().clone(),
            hosts: hosts.iter().map(|h| h.counters).collect(),
            busy_s: hosts.iter().map(|h| h.busy_s(world.now().0)).collect(),
        }
    }
}

fn all_hosts(world: &World) -> Vec<&crate::sim::database::Host> {
    (0..world.spec().databases.len()).flat_map(|d| world.hosts(d)).collect()
}

/// The name of an instance: `api-07`.
pub fn instance_name(service: &str, index: usize) -> String {
    format!("{service}-{:02}", index + 1)
}

impl Recorder {
    /// A recorder for a world that stands at its start.
    pub fn new(world: &World) -> Recorder {
        let spec = world.spec();
        Recorder {
            names: Names::of(spec),
            series: SeriesSet::default(),
            logs: Vec::new(),
            traces: Vec::new(),
            digest: Digest::new(),
            before: Reading::of(world),
        }
    }

    /// What was recorded.
    pub fn series(&self) -> &SeriesSet {
        &self.series
    }

    /// Log lines, in order of time.
    pub fn logs(&self) -> &[LogLine] {
        &self.logs
    }

    /// Traces of operations, in the order in which they ended.
    pub fn traces(&self) -> &[Trace] {
        &self.traces
    }

    /// Checksum over every sample so far.
    pub fn digest(&self) -> u64 {
        self.digest.value()
    }

    /// Advances the world to `until`, with a scrape at every whole second on the way.
    pub fn advance(&mut self, world: &mut World, until: SimTime) {
        loop {
            let next = SimTime::from_secs(self.series.seconds() as u64 + 1);
            if next > until {
                break;
            }
            world.advance(next);
            self.scrape(world);
        }
        world.advance(until);
    }

    /// Reads all instruments; the second that has just passed is the sample's.
    fn scrape(&mut self, world: &mut World) {
        let now = Reading::of(world);
        let mut put = Put { series: &mut self.series, digest: &mut self.digest };
        front_door(&mut put, &self.before, &now, world);
        caches(&mut put, &self.before, &now, world, &self.names);
        databases(&mut put, &self.before, &now, world, &self.names);
        services(&mut put, world);
        self.series.end_second();
        self.before = now;
        self.collect(world);
    }

    /// Puts the log records and traces of the last second into words.
    fn collect(&mut self, world: &mut World) {
        let (mut logs, counts, traces) = world.probe().take();
        logs.sort_by_key(|r| r.at);
        for record in &logs {
            // The lines kept of a kind share those that were not: together they stand for all.
            let kept = logs.iter().filter(|l| l.kind == record.kind).count() as u32;
            self.logs.push(self.names.log_line(record, counts[record.kind as usize].div_ceil(kept)));
        }
        self.traces.extend(traces.iter().map(|t| self.names.trace(t)));
    }
}

/// Writes samples into the series and the checksum.
struct Put<'a> {
    series: &'a mut SeriesSet,
    digest: &'a mut Digest,
}

/// More is worse, more is better.
const WORSE: Option<bool> = Some(true);
const BETTER: Option<bool> = Some(false);

impl Put<'_> {
    fn put(&mut self, name: &str, unit: Unit, more_is_worse: Option<bool>, what: &str, value: f64) {
        let i = self.series.add(name, unit, more_is_worse, what);
        self.series.put(i, value);
        self.digest.add(value.to_bits());
    }

    fn rate(&mut self, name: &str, more_is_worse: Option<bool>, what: &str, value: f64) {
        self.put(name, Unit::PerSecond, more_is_worse, what, value);
    }

    /// A share of a whole; a gap when there is no whole.
    fn share(&mut self, name: &str, more_is_worse: Option<bool>, what: &str, part: f64, whole: f64) {
        let value = if whole > 0.0 { part / whole } else { f64::NAN };
        self.put(name, Unit::Ratio, more_is_worse, what, value);
    }
}

/// What users and clients send and get.
fn front_door(put: &mut Put<'_>, before: &Reading, now: &Reading, world: &World) {
    let delta = |f: fn(&Counters) -> u64| (f(&now.counters) - f(&before.counters)) as f64;
    let started = delta(|c| c.operations_started);
    let served = delta(|c| c.operations_served);
    let late = delta(|c| c.operations_late);
    let shed = delta(|c| c.operations_shed);
    let failed = delta(|c| c.operations_failed) + shed;
    put.rate(
        "operations.started",
        None,
        "User operations begun: what users want, retries not counted.",
        started,
    );
    put.rate("operations.served", BETTER, "User operations that succeeded in time.", served);
    put.rate("operations.late", WORSE, "User operations that succeeded, but late.", late);
    put.rate(
        "operations.failed",
        WORSE,
        "User operations that failed for good, those turned away included.",
        failed,
    );
    put.rate("operations.shed", WORSE, "User operations whose last attempt a limit turned away.", shed);
    put.share(
        "operations.failure_ratio",
        WORSE,
        "Share of the user operations ended in this second that failed after all their attempts.",
        failed,
        served + late + failed,
    );

    let requests = delta(Counters::requests_received);
    let first = delta(|c| c.requests_by_attempt[0]);
    let ok = delta(|c| c.requests_ok);
    let errors = delta(|c| c.requests_errors);
    let rejected = delta(|c| c.requests_rejected);
    let gone = delta(|c| c.requests_abandoned);
    put.rate(
        "requests.received",
        None,
        "Requests that reached the load balancer, every attempt counted.",
        requests,
    );
    put.rate("requests.ok", BETTER, "Requests answered as wanted.", ok);
    put.rate("requests.errors", WORSE, "Requests that the service answered with an error (5xx).", errors);
    put.rate("requests.rejected", WORSE, "Requests that a limit turned away at once (503).", rejected);
    put.rate("requests.abandoned", WORSE, "Requests whose client stopped waiting.", gone);
    put.share(
        "requests.failure_ratio",
        WORSE,
        "Share of the requests ended in this second that failed or were turned away; every attempt counts.",
        errors + rejected + gone,
        ok + errors + rejected + gone,
    );
    put.share(
        "requests.retry_ratio",
        WORSE,
        "Share of the requests whose attempt header says 2 or more.",
        requests - first,
        requests,
    );
    let most = world.spec().clients.iter().map(|c| c.attempts as usize).max().unwrap_or(1);
    for attempt in 0..most.min(ATTEMPTS_TOLD_APART) {
        let rate = now.counters.requests_by_attempt[attempt] - before.counters.requests_by_attempt[attempt];
        let what = format!("Requests whose attempt header says {}.", attempt + 1);
        put.rate(&format!("requests.attempt.{}", attempt + 1), None, &what, rate as f64);
    }
    let per_operation = if started > 0.0 { requests / started } else { f64::NAN };
    let what = "Requests received for each user operation begun; 1 when nobody retries.";
    put.put("attempts.per_operation", Unit::Factor, WORSE, what, per_operation);

    let latency = now.latency.since(&before.latency);
    for (name, q) in [("latency.p50", 0.5), ("latency.p95", 0.95), ("latency.p99", 0.99)] {
        let value = latency.quantile(q).map_or(f64::NAN, |ns| ns / SECOND as f64);
        put.put(
            name,
            Unit::Seconds,
            WORSE,
            "Latency of requests at the front door, failed ones included.",
            value,
        );
    }
    for (client, (_, mean)) in world.spec().clients.iter().zip(world.status().client_attempts) {
        let what = "Attempts that clients of this kind allow themselves, on average over all of them.";
        put.put(&format!("client.attempts_allowed.{}", client.name), Unit::Factor, None, what, mean);
    }
}

/// What the caches answer.
fn caches(put: &mut Put<'_>, before: &Reading, now: &Reading, world: &World, names: &Names) {
    let each = |f: fn(&Counters) -> &Vec<u64>| -> Vec<f64> {
        f(&now.counters).iter().zip(f(&before.counters)).map(|(n, b)| (n - b) as f64).collect()
    };
    let (lookups, hits) = (each(|c| &c.cache_lookups), each(|c| &c.cache_hits));
    let what =
        "Share of the cache look-ups that found a value; reads that are never cached are not look-ups.";
    put.share("cache.hit_ratio", BETTER, what, hits.iter().sum(), lookups.iter().sum());
    put.rate("cache.lookups", None, "Keys asked for in the cache.", lookups.iter().sum());
    let fills = (now.counters.cache_fills - before.counters.cache_fills) as f64;
    put.rate("cache.fills", BETTER, "Values written to the cache after a query that succeeded.", fills);
    for (i, read) in names.reads.iter().enumerate() {
        if world.spec().reads[i].ttl.is_some() {
            put.share(
                &format!("cache.hit_ratio.{read}"),
                BETTER,
                "Hit ratio of one kind of read.",
                hits[i],
                lookups[i],
            );
        }
    }
    let warmed: u32 = (0..names.cache.len()).map(|c| world.warmed(c)).sum();
    put.put(
        "warm.keys",
        Unit::Count,
        None,
        "Keys that a warm-up has read into the cache.",
        f64::from(warmed),
    );
}

/// What the database hosts do.
fn databases(put: &mut Put<'_>, before: &Reading, now: &Reading, world: &World, names: &Names) {
    let hosts = all_hosts(world);
    let sum = |f: fn(&HostCounters) -> u64| -> f64 {
        now.hosts.iter().zip(&before.hosts).map(|(n, b)| (f(n) - f(b)) as f64).sum()
    };
    let started = sum(|h| h.started);
    put.rate("db.queries", None, "Queries started on all hosts.", started);
    let misses = (now.counters.queries_for_misses - before.counters.queries_for_misses) as f64;
    put.rate(
        "db.queries.misses",
        None,
        "Queries started because a key was not in the cache; retried ones count again.",
        misses,
    );
    let retries = (now.counters.query_retries - before.counters.query_retries) as f64;
    put.rate(
        "db.queries.retries",
        WORSE,
        "Queries that the database client started again after a failure.",
        retries,
    );
    put.rate(
        "db.finished",
        BETTER,
        "Queries that ran to their end and whose result was used.",
        sum(|h| h.finished),
    );
    put.rate("db.timeouts", WORSE, "Queries that took longer than they were allowed.", sum(|h| h.timed_out));
    put.rate(
        "db.refused",
        WORSE,
        "Connections that a host refused because it had no place for more.",
        sum(|h| h.refused),
    );
    let busy: Vec<f64> =
        now.busy_s.iter().zip(&before.busy_s).map(|(n, b)| (n - b).clamp(0.0, 1.0)).collect();
    let mean = busy.iter().sum::<f64>() / busy.len().max(1) as f64;
    put.put("db.cpu", Unit::Ratio, WORSE, "Busy share of the database's cores, mean over its hosts.", mean);
    let connections: u32 = hosts.iter().map(|h| h.connections).sum();
    put.put("db.connections", Unit::Count, None, "Connections open on all hosts.", f64::from(connections));
    for (i, (host, name)) in hosts.iter().zip(&names.hosts).enumerate() {
        put.put(&format!("db.cpu.{name}"), Unit::Ratio, WORSE, "Busy share of this host's cores.", busy[i]);
        let running = f64::from(host.running());
        put.put(&format!("db.running.{name}"), Unit::Count, WORSE, "Queries running on this host.", running);
        let open = f64::from(host.connections);
        put.put(&format!("db.connections.{name}"), Unit::Count, None, "Connections open on this host.", open);
    }
    let operations = (now.counters.operations_started - before.counters.operations_started) as f64;
    let per_operation = if operations > 0.0 { started / operations } else { f64::NAN };
    let what = "Queries started for each user operation begun.";
    put.put("queries.per_operation", Unit::Factor, WORSE, what, per_operation);
}

/// What instances and their pools do.
fn services(put: &mut Put<'_>, world: &World) {
    let (mut in_use, mut size, mut waiting) = (0u32, 0u32, 0u32);
    for service in world.services() {
        for (i, instance) in service.instances.iter().enumerate() {
            let name = instance_name(&service.spec.name, i);
            let working = matches!(instance.state, InstanceState::Ready | InstanceState::Draining);
            let used = if working { f64::from(instance.pool.in_use) } else { f64::NAN };
            put.share(
                &format!("pool.in_use.{name}"),
                WORSE,
                "Connections of this instance's pool that a request holds.",
                used,
                f64::from(service.spec.pool.size),
            );
            if working {
                in_use += instance.pool.in_use;
                size += service.spec.pool.size;
                waiting += instance.pool.n_waiting;
            }
        }
        let name = &service.spec.name;
        let ready = f64::from(service.count(InstanceState::Ready));
        let starting = service.count(InstanceState::Starting) + service.count(InstanceState::Restarting);
        put.put(
            &format!("service.instances.{name}"),
            Unit::Count,
            None,
            "Instances that take requests.",
            ready,
        );
        let what = "Instances on their way up.";
        put.put(&format!("service.starting.{name}"), Unit::Count, None, what, f64::from(starting));
    }
    let what = "Connections that requests hold, as a share of all pools.";
    put.share("pool.in_use", WORSE, what, f64::from(in_use), f64::from(size));
    put.put("pool.waiting", Unit::Count, WORSE, "Requests that wait for a connection.", f64::from(waiting));
}

impl Names {
    fn of(spec: &Spec) -> Names {
        Names {
            service: spec.services[0].name.clone(),
            cache: spec.caches.iter().map(|c| c.name.clone()).collect(),
            hosts: spec.databases.iter().flat_map(|d| d.hosts.iter().cloned()).collect(),
            clients: spec.clients.iter().map(|c| c.name.clone()).collect(),
            reads: spec.reads.iter().map(|r| r.name.clone()).collect(),
            balancer: spec.balancer.name.clone(),
            pool: spec.services[0].pool,
            given_up: match spec.databases[spec.services[0].database].abandoned {
                Abandoned::Cancelled => "cancelled",
                Abandoned::RunsOn => "given up, it runs on",
            },
        }
    }

    fn instance(&self, index: u32) -> String {
        if index == u32::MAX { self.balancer.clone() } else { instance_name(&self.service, index as usize) }
    }

    fn log_line(&self, r: &LogRecord, alike: u32) -> LogLine {
        let name = |names: &[String], i: u32| names.get(i as usize).cloned().unwrap_or_default();
        let (instance, host) = (self.instance(r.place), name(&self.hosts, r.host));
        let took = SimSpan(r.took);
        let (stream, level, source, text) = match r.kind {
            LogKind::Access => (
                "access",
                if r.detail < 400 { Level::Info } else { Level::Warn },
                instance,
                format!(
                    "GET {} status={} attempt={} client={} took={took}",
                    name(&self.reads, r.read),
                    r.detail,
                    r.attempt,
                    name(&self.clients, r.client),
                ),
            ),
            LogKind::QueryTimeout => (
                "query_timeout",
                Level::Warn,
                instance,
                format!(
                    "db client: query gave no answer within {}, {} (try {} of {}) host={host} attempt={}",
                    self.pool.query_timeout, self.given_up, r.detail, self.pool.attempts, r.attempt,
                ),
            ),
            LogKind::ConnectionRefused => (
                "connection_refused",
                Level::Error,
                instance,
                format!("db client: {host} refused the connection: too many connections (try {})", r.detail),
            ),
            LogKind::PoolTimeout => (
                "pool_timeout",
                Level::Error,
                instance,
                format!(
                    "db client: no connection free within {}, request failed, attempt={}",
                    self.pool.acquire_timeout, r.attempt,
                ),
            ),
            LogKind::RateLimited => (
                "rate_limited",
                Level::Warn,
                self.balancer.clone(),
                format!("503 over the limit, attempt={} client={}", r.attempt, name(&self.clients, r.client)),
            ),
            LogKind::ClientGone => (
                "client_gone",
                Level::Warn,
                instance,
                format!("client closed the request after {took}, attempt={}", r.attempt),
            ),
            LogKind::InstanceLost => (
                "instance",
                Level::Error,
                instance,
                format!("request lost: the instance went away, attempt={}", r.attempt),
            ),
            LogKind::CacheDown => (
                "cache",
                Level::Error,
                name(&self.cache, r.place),
                "primary node lost, failover begins".to_owned(),
            ),
            LogKind::CacheUp => (
                "cache",
                Level::Info,
                name(&self.cache, r.place),
                "failover finished, the new primary answers; cluster status: healthy".to_owned(),
            ),
            LogKind::CacheFlushed => {
                ("cache", Level::Warn, name(&self.cache, r.place), "flushed by operator".to_owned())
            }
            LogKind::WarmUp => {
                ("cache", Level::Info, name(&self.cache, r.place), "warm-up job begins or ends".to_owned())
            }
            LogKind::InstanceReady => {
                ("instance", Level::Info, instance, "ready, taking requests".to_owned())
            }
            LogKind::InstanceStopped => ("instance", Level::Info, instance, "stopped".to_owned()),
        };
        let operation = (r.operation > 0).then_some(r.operation);
        LogLine { at: SimTime(r.at), source, stream, level, text, operation, alike }
    }

    /// Attempts become parents of what happened in them; spans in order of their start.
    fn trace(&self, t: &TraceRecord) -> Trace {
        let name = |names: &[String], i: u32| names.get(i as usize).cloned().unwrap_or_default();
        let mut records = t.spans.clone();
        records.sort_by_key(|s| (s.start, !matches!(s.kind, SpanKind::Attempt { .. }), s.end));
        let mut spans: Vec<Span> = Vec::with_capacity(records.len());
        let (mut parent, mut queries, mut at) = (None, 0, String::new());
        for s in &records {
            let (label, place) = match s.kind {
                SpanKind::Attempt { attempt, instance } => {
                    parent = Some(spans.len());
                    at = self.instance(instance.unwrap_or(u32::MAX));
                    (format!("attempt {attempt}"), at.clone())
                }
                SpanKind::CacheGet => ("cache get".to_owned(), name(&self.cache, 0)),
                SpanKind::PoolWait => ("pool wait".to_owned(), at.clone()),
                SpanKind::Connect { host } => ("connect".to_owned(), name(&self.hosts, host)),
                SpanKind::Query { attempt, host } => {
                    queries += 1;
                    (format!("query {attempt}"), name(&self.hosts, host))
                }
            };
            let (status, note) = match s.end_kind {
                SpanEnd::Ok => (SpanStatus::Ok, ""),
                SpanEnd::Miss => (SpanStatus::Ok, "miss"),
                SpanEnd::TimedOut => (SpanStatus::Failed, "timed out"),
                SpanEnd::Refused => (SpanStatus::Failed, "refused"),
                SpanEnd::Error => (SpanStatus::Failed, "500"),
                SpanEnd::Rejected => (SpanStatus::Failed, "503"),
                SpanEnd::Lost => (SpanStatus::Failed, "lost"),
                SpanEnd::Abandoned => (SpanStatus::Abandoned, "client gone"),
            };
            let is_attempt = matches!(s.kind, SpanKind::Attempt { .. });
            spans.push(Span {
                parent: if is_attempt { None } else { parent },
                name: label,
                place,
                start: SimTime(s.start),
                took: SimTime(s.end).since(SimTime(s.start)),
                status,
                note: note.to_owned(),
            });
        }
        Trace {
            operation: t.operation,
            read: name(&self.reads, t.read),
            key: t.key,
            client: name(&self.clients, t.client),
            started: SimTime(t.started),
            took: SimTime(t.ended).since(SimTime(t.started)),
            outcome: match t.end {
                OperationEnd::Served => TraceOutcome::Served,
                OperationEnd::Late => TraceOutcome::Late,
                OperationEnd::Failed => TraceOutcome::Failed,
                OperationEnd::Shed => TraceOutcome::Shed,
            },
            attempts: t.attempts,
            queries,
            spans,
        }
    }
}
