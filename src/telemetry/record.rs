//! The recorder: steps a world second by second and reads its instruments, as a scrape would.

use std::sync::Arc;

use super::logs::LogLine;
use super::series::{Name, SeriesSet};
use super::trace::Trace;
use super::window::Window;
use super::words::Names;
use crate::sim::World;
use crate::sim::digest::Digest;
use crate::sim::meter::{
    ATTEMPTS_TOLD_APART, CallCounters, Counters, Histogram, HostCounters, ServiceCounters,
};
use crate::sim::service::InstanceState;
use crate::sim::spec::{Backup, Reading as ReadingSpec, Spec};
use crate::units::{SECOND, SimTime, Unit};

/// Steps a world and records what its instruments show.
#[derive(Clone, Debug)]
pub struct Recorder {
    labels: Labels,
    names: Arc<Names>,
    series: SeriesSet,
    logs: Vec<LogLine>,
    traces: Vec<Trace>,
    digest: Digest,
    /// What the last scrape found.
    before: Reading,
    windows: Windows,
}

/// Names that series end in, as far as it is not the spec that has them.
#[derive(Clone, Debug)]
struct Labels {
    /// Instances of each service, also those that are gone; more may come.
    instances: Vec<Vec<String>>,
    /// Attempts that are told apart: number, and what is counted of those with it.
    attempts: Vec<(String, String)>,
}

impl Labels {
    fn of(spec: &Spec) -> Labels {
        Labels {
            instances: vec![Vec::new(); spec.services.len()],
            attempts: (1..=ATTEMPTS_TOLD_APART)
                .map(|n| (n.to_string(), format!("Requests whose attempt header says {n}.")))
                .collect(),
        }
    }

    /// Names the instances that have come.
    fn add_instances(&mut self, world: &World) {
        for (names, service) in self.instances.iter_mut().zip(world.services()) {
            let new = names.len()..service.instances.len();
            names.extend(new.map(|i| instance_name(&service.spec.name, i)));
        }
    }
}

/// What counts from the start, as one scrape found it.
#[derive(Clone, Debug)]
struct Reading {
    counters: Counters,
    /// Of each host, with its busy core time.
    hosts: Vec<(HostCounters, f64)>,
    services: Vec<ServiceCounters>,
    calls: Vec<CallCounters>,
}

impl Reading {
    fn of(world: &World) -> Reading {
        Reading {
            counters: world.counters().clone(),
            hosts: host_readings(world).collect(),
            services: world.services().iter().map(|s| s.counters).collect(),
            calls: world.calls().to_vec(),
        }
    }

    /// Reads anew, into the same place.
    fn read(&mut self, world: &World) {
        self.counters.copy_from(world.counters());
        self.hosts.clear();
        self.hosts.extend(host_readings(world));
        self.services.clear();
        self.services.extend(world.services().iter().map(|s| s.counters));
        self.calls.clear();
        self.calls.extend(world.calls());
    }
}

fn host_readings(world: &World) -> impl Iterator<Item = (HostCounters, f64)> {
    let now = world.now().0;
    world.all_hosts().iter().map(move |h| (h.counters, h.busy_s(now)))
}

/// What histograms counted lately.
#[derive(Clone, Debug)]
struct Windows {
    /// At the front door.
    latency: Window,
    /// On all database hosts.
    queries: Window,
    /// From the miss to the end of the read of the source, in all services; without caches nobody asks.
    origin: Window,
    /// Inside each service; empty unless that is measured.
    inside: Vec<Window>,
}

impl Windows {
    fn new(world: &World) -> Windows {
        let services = world.services().iter().filter(|_| world.measures_inside());
        Windows {
            latency: Window::new(std::iter::once(world.latency())),
            queries: Window::new(world.all_hosts().iter().map(|h| &h.duration)),
            origin: Window::new(origin_durations(world)),
            inside: services.map(|s| Window::new(std::iter::once(&s.latency))).collect(),
        }
    }

    fn scrape(&mut self, world: &World) {
        self.latency.scrape(std::iter::once(world.latency()));
        self.queries.scrape(world.all_hosts().iter().map(|h| &h.duration));
        self.origin.scrape(origin_durations(world));
        for (window, service) in self.inside.iter_mut().zip(world.services()) {
            window.scrape(std::iter::once(&service.latency));
        }
    }
}

fn origin_durations(world: &World) -> impl Iterator<Item = &Histogram> {
    let services = if world.spec().caches.is_empty() { &[] } else { world.services() };
    services.iter().map(|s| &s.origin_duration)
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
            labels: Labels::of(spec),
            names: Arc::new(Names::of(spec)),
            series: SeriesSet::default(),
            logs: Vec::new(),
            traces: Vec::new(),
            digest: Digest::new(),
            before: Reading::of(world),
            windows: Windows::new(world),
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
        self.windows.scrape(world);
        self.labels.add_instances(world);
        let (before, windows) = (&self.before, &self.windows);
        let (labels, names) = (&self.labels, &*self.names);
        let mut put = Put { series: &mut self.series, digest: &mut self.digest };
        front_door(&mut put, before, windows, world, labels);
        caches(&mut put, before, world, names);
        databases(&mut put, before, windows, world, names);
        services(&mut put, before, windows, world, labels);
        origin(&mut put, before, windows, world, names);
        calls(&mut put, before, world, names);
        self.series.end_second();
        self.before.read(world);
        world.reset_peaks();
        self.collect(world);
    }

    /// Takes in the log records and traces of the last second.
    fn collect(&mut self, world: &mut World) {
        let (logs, counts, traces) = world.probe().collected();
        logs.sort_by_key(|r| r.at);
        for record in logs.iter() {
            // The lines kept of a kind share those that were not: together they stand for all.
            let kept = logs.iter().filter(|l| l.kind == record.kind).count() as u32;
            let alike = counts[record.kind as usize].div_ceil(kept);
            self.logs.push(LogLine::new(*record, alike, &self.names));
        }
        logs.clear();
        counts.fill(0);
        self.traces.extend(traces.drain(..).map(|trace| Trace::new(trace, &self.names)));
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
    /// Returns the series' index.
    fn put<'a>(
        &mut self,
        name: impl Into<Name<'a>>,
        unit: Unit,
        more_is_worse: Option<bool>,
        what: &str,
        value: f64,
    ) -> usize {
        let i = self.series.add(name, unit, more_is_worse, what);
        self.series.put(i, value);
        self.digest.add(value.to_bits());
        i
    }

    fn rate<'a>(&mut self, name: impl Into<Name<'a>>, more_is_worse: Option<bool>, what: &str, value: f64) {
        self.put(name, Unit::PerSecond, more_is_worse, what, value);
    }

    /// Percentiles of what was counted in this second and in the last few, in seconds; gaps where nothing was. Names have a
    /// part of their own and one in common.
    fn percentiles(&mut self, names: &[(&str, f64)], of: &str, what: &str, window: &Window) {
        for &(name, q) in names {
            let i = self.put((name, of), Unit::Seconds, WORSE, what, window.second(q));
            self.series.put_merged(i, window.recent(q));
        }
    }

    /// A share of a whole; a gap when there is no whole.
    fn share<'a>(
        &mut self,
        name: impl Into<Name<'a>>,
        more_is_worse: Option<bool>,
        what: &str,
        part: f64,
        whole: f64,
    ) {
        let value = if whole > 0.0 { part / whole } else { f64::NAN };
        self.put(name, Unit::Ratio, more_is_worse, what, value);
    }
}

/// What users and clients send and get.
fn front_door(put: &mut Put<'_>, before: &Reading, windows: &Windows, world: &World, labels: &Labels) {
    let (now, before) = (world.counters(), &before.counters);
    let delta = |f: fn(&Counters) -> u64| (f(now) - f(before)) as f64;
    let started = delta(Counters::operations_started);
    let served = delta(|c| c.operations_served());
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
        "Share of operations that failed, after all their attempts; of those that ended in this second.",
        failed,
        served + late + failed,
    );
    put.share(
        "operations.served_ratio",
        BETTER,
        "Share of operations served in time, of those that ended in this second.",
        served,
        served + late + failed,
    );
    let reads = &world.spec().reads;
    for (i, read) in reads.iter().enumerate().filter(|_| reads.len() > 1) {
        let (now, then) = (now.kinds[i], before.kinds[i]);
        put.share(
            ("operations.served_ratio.", &read.name),
            BETTER,
            "The same for one kind of operation.",
            (now.served - then.served) as f64,
            (now.ended() - then.ended()) as f64,
        );
    }
    if reads.iter().any(|r| r.soft_ttl.is_some()) {
        let what = "User operations served with a value past its soft time.";
        put.rate("operations.stale", None, what, delta(|c| c.reads_stale));
    }
    if world.services().iter().any(|s| s.spec.reading.static_answer) || now.operations_degraded > 0 {
        let what = "User operations answered with the static, degraded answer.";
        put.rate("operations.degraded", None, what, delta(|c| c.operations_degraded));
    }

    let requests = delta(Counters::requests_received);
    let first = delta(|c| c.requests_by_attempt[0]);
    let ok = delta(|c| c.requests_ok());
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
    if world.services().iter().any(|s| s.spec.workers.is_some()) {
        let what = "Requests turned away because all workers of an instance were busy.";
        put.rate("requests.busy", WORSE, what, delta(|c| c.requests_busy));
    }
    if world.spec().clients.iter().any(|c| c.retry_budget.is_some()) || now.retries_denied > 0 {
        let what = "Retries that clients did not make because their budget was used up.";
        put.rate("client.retries_denied", None, what, delta(|c| c.retries_denied));
    }
    put.share(
        "requests.failure_ratio",
        WORSE,
        "Share of requests that failed or were turned away, of those that ended in this second; every attempt counts.",
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
    for (attempt, (number, what)) in labels.attempts.iter().enumerate().take(most) {
        let rate = now.requests_by_attempt[attempt] - before.requests_by_attempt[attempt];
        put.rate(("requests.attempt.", number), None, what, rate as f64);
    }
    let per_operation = if started > 0.0 { requests / started } else { f64::NAN };
    let what = "Requests received for each user operation begun; 1 when nobody retries.";
    put.put("attempts.per_operation", Unit::Factor, WORSE, what, per_operation);

    put.percentiles(
        &[("latency.p50", 0.5), ("latency.p95", 0.95), ("latency.p99", 0.99)],
        "",
        "Latency of requests at the front door, failed ones included.",
        &windows.latency,
    );
    for (i, client) in world.spec().clients.iter().enumerate() {
        let what = "Attempts that clients of this kind allow themselves, on average over all of them.";
        put.put(("client.attempts_allowed.", &client.name), Unit::Factor, None, what, world.mean_attempts(i));
    }
}

/// What the caches answer.
fn caches(put: &mut Put<'_>, before: &Reading, world: &World, names: &Names) {
    let (now, before) = (world.counters(), &before.counters);
    let lookups = |i: usize| (now.kinds[i].lookups() - before.kinds[i].lookups()) as f64;
    let hits = |i: usize| (now.kinds[i].hits - before.kinds[i].hits) as f64;
    let kinds = 0..now.kinds.len();
    let (all_lookups, all_hits): (f64, f64) = (kinds.clone().map(lookups).sum(), kinds.map(hits).sum());
    let what =
        "Share of the cache look-ups that found a value; reads that are never cached are not look-ups.";
    put.share("cache.hit_ratio", BETTER, what, all_hits, all_lookups);
    put.rate("cache.lookups", None, "Keys asked for in the cache.", all_lookups);
    let fills = (now.cache_fills - before.cache_fills) as f64;
    put.rate("cache.fills", BETTER, "Values written to the cache after a query that succeeded.", fills);
    for (i, read) in names.reads.iter().enumerate() {
        if world.spec().reads[i].ttl.is_some() {
            put.share(
                ("cache.hit_ratio.", read),
                BETTER,
                "Hit ratio of one kind of read.",
                hits(i),
                lookups(i),
            );
        }
    }
    let warmed: u32 = (0..world.spec().caches.len()).map(|c| world.warmed(c)).sum();
    put.put(
        "warm.keys",
        Unit::Count,
        None,
        "Keys that a warm-up has read into the cache.",
        f64::from(warmed),
    );
    let nodes: u32 = world.spec().caches.iter().map(|c| c.nodes + c.backup.map_or(0, Backup::nodes)).sum();
    let what = "Nodes that the caches run on, those of replicas and gutters included: what they cost.";
    put.put("cost.cache_nodes", Unit::Count, None, what, f64::from(nodes));
    let copies = world.services().iter().map(|s| {
        let entries = s.spec.reading.local.map_or(0, |l| l.entries);
        f64::from(entries) * f64::from(s.count(InstanceState::Ready))
    });
    let what = "Values that the copies inside processes may keep in all: what they cost in memory.";
    put.put("cost.local_entries", Unit::Count, None, what, copies.sum());
}

/// What the database hosts do.
fn databases(put: &mut Put<'_>, before: &Reading, windows: &Windows, world: &World, names: &Names) {
    let hosts = world.all_hosts();
    let sum = |f: fn(&HostCounters) -> u64| -> f64 {
        hosts.iter().zip(&before.hosts).map(|(now, (then, _))| (f(&now.counters) - f(then)) as f64).sum()
    };
    let delta = |f: fn(&Counters) -> u64| (f(world.counters()) - f(&before.counters)) as f64;
    let started = sum(|h| h.started);
    put.rate("db.queries", None, "Queries started on all hosts.", started);
    put.rate(
        "db.queries.misses",
        None,
        "Queries started because a key was not in the cache; retried ones count again.",
        delta(|c| c.queries_for_misses),
    );
    put.rate(
        "db.queries.retries",
        WORSE,
        "Queries that the database client started again after a failure.",
        delta(|c| c.query_retries),
    );
    put.rate(
        "db.finished",
        BETTER,
        "Queries that ran to their end, whether or not somebody still waits for the result.",
        sum(|h| h.finished),
    );
    put.rate("db.timeouts", WORSE, "Queries that took longer than they were allowed.", sum(|h| h.timed_out));
    put.rate(
        "db.refused",
        WORSE,
        "Connections that a host refused because it had no place for more.",
        sum(|h| h.refused),
    );
    let busy = |i: usize| (hosts[i].busy_s(world.now().0) - before.hosts[i].1).clamp(0.0, 1.0);
    let mean = (0..hosts.len()).map(busy).sum::<f64>() / hosts.len().max(1) as f64;
    put.put("db.cpu", Unit::Ratio, WORSE, "Busy share of the database's cores, mean over its hosts.", mean);
    let connections: u32 = hosts.iter().map(|h| h.connections).sum();
    put.put("db.connections", Unit::Count, None, "Connections open on all hosts.", f64::from(connections));
    for (i, (host, name)) in hosts.iter().zip(&names.hosts).enumerate() {
        put.put(("db.cpu.", name), Unit::Ratio, WORSE, "Busy share of this host's cores.", busy(i));
        let running = f64::from(host.running());
        put.put(("db.running.", name), Unit::Count, WORSE, "Queries running on this host.", running);
        let open = f64::from(host.connections);
        put.put(("db.connections.", name), Unit::Count, None, "Connections open on this host.", open);
    }
    let running: u32 = hosts.iter().map(|h| h.running()).sum();
    put.put("db.running", Unit::Count, WORSE, "Queries on a core now, on all hosts.", f64::from(running));
    put.percentiles(
        &[("query.duration.p50", 0.5), ("query.duration.p95", 0.95)],
        "",
        "How long queries took that ended well, from the moment they had a connection.",
        &windows.queries,
    );
    if world.spec().databases.iter().any(|d| d.slow_query.is_some()) {
        put.rate("db.slow_queries", WORSE, "Queries written to the slow-query log.", sum(|h| h.slow));
    }
    let operations = delta(Counters::operations_started);
    let per_operation = if operations > 0.0 { started / operations } else { f64::NAN };
    let what = "Queries started for each user operation begun.";
    put.put("queries.per_operation", Unit::Factor, WORSE, what, per_operation);
}

/// What instances and their pools do.
fn services(put: &mut Put<'_>, before: &Reading, windows: &Windows, world: &World, labels: &Labels) {
    let (mut in_use, mut size, mut waiting) = (0u32, 0u32, 0u32);
    let (mut busy, mut workers) = (0u32, 0u32);
    for (s, service) in world.services().iter().enumerate() {
        let pool_size: u32 = service.spec.pools.iter().map(|p| p.size).sum();
        for (i, instance) in service.instances.iter().enumerate() {
            let working = matches!(instance.state, InstanceState::Ready | InstanceState::Draining);
            let held: u32 = service.pools_of(i).iter().map(|p| p.in_use()).sum();
            if pool_size > 0 {
                put.share(
                    ("pool.in_use.", &labels.instances[s][i]),
                    WORSE,
                    "Connections of this instance's pools that a request holds.",
                    if working { f64::from(held) } else { f64::NAN },
                    f64::from(pool_size),
                );
            }
            if working {
                in_use += held;
                size += pool_size;
                waiting += service.pools_of(i).iter().map(|p| p.n_waiting).sum::<u32>();
                busy += service.spec.workers.map_or(0, |_| instance.busy());
                workers += service.spec.workers.unwrap_or(0);
            }
        }
        let name = &service.spec.name;
        let ready = f64::from(service.count(InstanceState::Ready));
        let starting = service.count(InstanceState::Starting) + service.count(InstanceState::Restarting);
        put.put(("service.instances.", name), Unit::Count, None, "Instances that take requests.", ready);
        let what = "Instances on their way up.";
        put.put(("service.starting.", name), Unit::Count, None, what, f64::from(starting));
        if let Some(inside) = windows.inside.get(s) {
            let (c, c0) = (service.counters, before.services[s]);
            let what = "Requests that reached this service, those that it turned away included.";
            put.rate(("service.requests.", name), None, what, (c.requests - c0.requests) as f64);
            let what = "Requests that this service did not serve.";
            put.rate(("service.failures.", name), WORSE, what, (c.failures - c0.failures) as f64);
            put.percentiles(
                &[
                    ("service.latency.p50.", 0.5),
                    ("service.latency.p95.", 0.95),
                    ("service.latency.p99.", 0.99),
                ],
                name,
                "Latency inside this service, requests whose caller has left included.",
                inside,
            );
        }
    }
    let what = "Connections that requests hold, as a share of all pools.";
    put.share("pool.in_use", WORSE, what, f64::from(in_use), f64::from(size));
    put.put("pool.waiting", Unit::Count, WORSE, "Requests that wait for a connection.", f64::from(waiting));
    if workers > 0 {
        let what = "Workers that a request holds, as a share of all.";
        put.share("workers.in_use", WORSE, what, f64::from(busy), f64::from(workers));
    }
}

/// How a service asks the source when the cache does not answer.
fn origin(put: &mut Put<'_>, before: &Reading, windows: &Windows, world: &World, names: &Names) {
    let (now, before) = (world.counters(), &before.counters);
    let delta = |f: fn(&Counters) -> u64| (f(now) - f(before)) as f64;
    let (peaks, spec) = (world.peaks(), world.spec());
    if spec.caches.is_empty() {
        return;
    }
    let what = "Reads that the cache did not answer, before any limit.";
    put.rate("origin.wanted", WORSE, what, delta(|c| c.origin_wanted));
    put.rate("origin.started", None, "Reads of the source started.", delta(|c| c.origin_started));
    let in_flight: u32 = world.services().iter().map(|s| s.origin_in_flight).sum();
    let what = "Requests and refreshes that are after the source now.";
    put.put("origin.in_flight", Unit::Count, WORSE, what, f64::from(in_flight));
    put.percentiles(
        &[("origin.duration.p50", 0.5), ("origin.duration.p99", 0.99)],
        "",
        "From the miss to the end of the read of the source; requests whose caller has left are in it, hits are not.",
        &windows.origin,
    );
    for (i, read) in names.reads.iter().enumerate() {
        if spec.reads[i].ttl.is_some()
            && let Some(most) = peaks.most_asked(i)
        {
            let what = "Queries started in this second for the key of this kind that most were started for.";
            put.rate(("origin.per_key.", read), WORSE, what, f64::from(most));
        }
    }
    let any = |test: &dyn Fn(&ReadingSpec) -> bool| world.services().iter().any(|s| test(&s.spec.reading));
    if any(&|r| r.origin.per_s.is_some() || r.origin.at_once.is_some()) || now.origin_refused > 0 {
        let what = "Reads of the source that were not started because the budget was used up.";
        put.rate("origin.refused", WORSE, what, delta(|c| c.origin_refused));
    }
    if any(&|r| r.coalesce || r.serve_stale) || now.refreshes > 0 {
        let what = "Reads of the source behind an answer, or for all who wait for the same key.";
        put.rate("refresh.started", None, what, delta(|c| c.refreshes));
        put.rate("refresh.failed", WORSE, "Those that came to nothing.", delta(|c| c.refreshes_failed));
        let what = "Requests that joined a read of the source that another had begun.";
        put.rate("reads.coalesced", None, what, delta(|c| c.reads_joined));
        let what = "Reads answered with a value past its soft time.";
        put.rate("reads.stale", None, what, delta(|c| c.reads_stale));
    }
    if any(&|r| r.local.is_some()) || now.reads_local > 0 {
        let what = "Reads answered by the copy inside a process.";
        put.rate("reads.local", None, what, delta(|c| c.reads_local));
    }
    ages(put, &peaks.oldest, spec);
    if any(&|r| r.cache_timeout.0 > 0) {
        let what = "Calls to the cache that were not answered.";
        put.rate("cache.timeouts", WORSE, what, delta(|c| c.cache_timeouts));
    }
    if any(&|r| r.breaker.is_some()) {
        let open = (0..world.services().len()).map(|s| world.breakers_open(s)).fold(0.0, f64::max);
        put.put("breaker.open", Unit::Ratio, None, "Processes that have stopped asking the cache.", open);
    }
    if spec.caches.iter().any(|c| c.backup.is_some()) {
        let what = "Reads answered by the replica or the gutter of an unreachable cache.";
        put.rate("cache.backup_hits", None, what, delta(|c| c.reads_backup));
    }
    if any(&|r| r.lock.is_some()) {
        let what = "Reads of the source that found their key locked by another process.";
        put.rate("lock.waits", None, what, delta(|c| c.lock_waits));
    }
}

/// How old what was served is, and what the caches believe.
fn ages(put: &mut Put<'_>, oldest: &[Option<(u64, u64)>], spec: &Spec) {
    let kept = |i: &usize| spec.reads[*i].soft_ttl.is_some() || spec.reads[*i].written.is_some();
    let known = || (0..oldest.len()).filter(|i| oldest[*i].is_some() || kept(i));
    let n_known = known().count();
    if n_known == 0 {
        return;
    }
    let seconds = |ns: Option<u64>| ns.map_or(f64::NAN, |ns| ns as f64 / SECOND as f64);
    let what = "How long ago the oldest value served in this second was read from the source.";
    let age = |of: &mut dyn Iterator<Item = &Option<(u64, u64)>>| of.flatten().map(|o| o.0).max();
    put.put("age.oldest_served", Unit::Seconds, WORSE, what, seconds(age(&mut oldest.iter())));
    if n_known > 1 {
        for i in known() {
            put.put(
                ("age.oldest_served.", &spec.reads[i].name),
                Unit::Seconds,
                WORSE,
                "The same for one kind of read.",
                seconds(oldest[i].map(|o| o.0)),
            );
        }
    }
    let what = "The same as the caches believe it, from the times that they keep with their values.";
    let believed = oldest.iter().flatten().map(|o| o.1).max();
    put.put("age.oldest_believed", Unit::Seconds, WORSE, what, seconds(believed));
}

/// Calls between services.
fn calls(put: &mut Put<'_>, before: &Reading, world: &World, names: &Names) {
    let operations = world.counters().operations_started() - before.counters.operations_started();
    let operations = operations as f64;
    for ((name, now), before) in names.calls.iter().zip(world.calls()).zip(&before.calls) {
        let started = (now.started - before.started) as f64;
        put.rate(("calls.started.", name), None, "Attempts of this call.", started);
        let given_up = (now.timed_out - before.timed_out) as f64;
        put.rate(("calls.timeouts.", name), WORSE, "Attempts that the caller gave up.", given_up);
        let what = "Attempts of this call for each user operation begun.";
        let each = if operations > 0.0 { started / operations } else { f64::NAN };
        put.put(("calls.per_operation.", name), Unit::Factor, WORSE, what, each);
    }
}
