//! The world: built from a spec and a seed, advanced to an instant, changed by interventions and faults.

use std::ops::Range;

use super::balancer::TokenBucket;
use super::cache::{Cache, Times};
use super::client::Client;
use super::database::Host;
use super::digest::Digest;
use super::events::{Entry, Events, NEVER, Ring, Source};
use super::intervention::{Intervention, Knob};
use super::math::{Exponential, Popularity, Sampler};
use super::meter::{CallCounters, Counters, Histogram, KindCounters, Peaks};
use super::probe::{LogKind, LogRecord, Probe};
use super::request::Requests;
use super::rng::Stream;
use super::service::{Call, InstanceState, Planned, PoolRings, QueryCost, Service};
use super::spec::{Jitter, ReadSpec, ServiceSpec, Spec, Spread, Step};
use super::warm_up::WarmUp;
use super::workload::Workload;
use crate::units::{SECOND, SimSpan, SimTime};

/// Events that have neither a ring nor a register: whatever takes a time that is not the same for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Control {
    /// A starting or restarting instance is ready.
    InstanceReady { service: u16, instance: u16, version: u32 },
    /// A draining instance has had its time.
    DrainOver { service: u16, instance: u16, version: u32 },
    /// The cache answers again.
    CacheBack { cache: u16 },
    /// A changed limit is in force; millionths per second.
    Limit { micro_per_s: Option<u64> },
    /// The warm-up starts its next query.
    Warm { cache: u16, serial: u32 },
    /// Idle connections are looked through.
    CloseIdle { service: u16 },
    /// A database answers again.
    DatabaseBack { database: u16 },
    /// A background job is over.
    JobOver { service: u16, job: u32 },
    /// A changed setting is in force.
    Set { knob: Knob, value_bits: Option<u64> },
    /// Something happens to a record.
    Due { what: Due, id: u32, version: u32 },
}

impl Control {
    /// Whether it is still meant; a void one is no event.
    fn is_meant(&self, requests: &Requests) -> bool {
        match *self {
            Control::Due { id, version, .. } => requests.is_meant(Entry { id, version }),
            _ => true,
        }
    }
}

/// What happens to a record after a time that is not the same for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// Own work has taken its time.
    Work,
    /// A query's time off the CPU is over.
    Io,
    /// A called service's answer arrives.
    Answered,
    /// A client's pause is over.
    Retry,
    /// Who found a key locked looks again.
    Lock,
    /// An unreachable cache has not answered.
    Cache,
    /// The pause between two attempts of a call is over.
    CallPause,
    /// A wait for a connection that had a limit of its own is over.
    Acquire,
}

/// What a kind of read needs when it is under way, looked up by number.
#[derive(Clone, Debug)]
pub(super) struct Read {
    /// First key in the cache and how long a value may be served, nanoseconds; `None` for a read that is never cached.
    pub(super) cached: Option<(u32, u64)>,
    /// When a value wants to be read again, nanoseconds; `None`: only when it may no longer be served.
    pub(super) soft: Option<u64>,
    /// Share by which both vary.
    pub(super) jitter: f64,
    /// The pool that its queries use.
    pub(super) pool: u8,
    /// Its queries are counted by key.
    pub(super) counts_keys: bool,
    /// What its query costs.
    pub(super) cost: QueryCost,
}

impl Read {
    /// A key's index in the cache.
    #[inline]
    pub(super) fn key(&self, key: u32) -> u32 {
        self.cached.map_or(0, |c| c.0) + key
    }

    /// Never cached, and read in one go.
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        self.cached.is_none() && self.cost.io.is_none()
    }

    /// How long a value is fresh, and how long it may be served, nanoseconds.
    #[inline]
    pub(super) fn lives(&self) -> (u64, u64) {
        let hard = self.cached.map_or(0, |c| c.1);
        (self.soft.map_or(hard, |soft| soft.min(hard)), hard)
    }
}

/// A database: its hosts, and whose turn it is to be connected to.
#[derive(Clone, Debug)]
pub(super) struct Database {
    /// Among the hosts of all databases.
    pub(super) hosts: Range<usize>,
    turn: usize,
}

/// The simulated system. A clone is a checkpoint: it goes on exactly as the original would.
#[derive(Clone, Debug)]
pub struct World {
    pub(super) spec: Spec,
    pub(super) now: u64,
    pub(super) exponential: Exponential,
    pub(super) events: Events<Control>,
    pub(super) workload: Workload,
    pub(super) clients: Vec<Client>,
    /// Some clients have a time limit, or have or have had a budget for retries.
    pub(super) limited_clients: bool,
    pub(super) limit: TokenBucket,
    /// The limit that was asked for last, in force or not yet.
    pub(super) wanted_limit: Option<f64>,
    pub(super) services: Vec<Service>,
    pub(super) caches: Vec<Cache>,
    pub(super) warm_ups: Vec<WarmUp>,
    pub(super) databases: Vec<Database>,
    /// The hosts of all databases. Where a host's number is asked for, it is the place here; its next end has the register
    /// of the same number.
    pub(super) hosts: Vec<Host>,
    pub(super) reads: Vec<Read>,
    pub(super) requests: Requests,
    /// Delay and meaning of each ring.
    rings: Vec<(u64, RingUse)>,
    /// Where the balancer sends requests: service and upper end of its part of the 32-bit range.
    pub(super) routes: Vec<(u16, u32)>,
    /// Calls between services, by their place among all.
    pub(super) calls: Vec<CallCounters>,
    /// Services call each other: records are tied together.
    pub(super) linked: bool,
    pub(super) work_rng: Stream,
    pub(super) io_rng: Stream,
    pub(super) own_work_rng: Stream,
    pub(super) handling_rng: Stream,
    pub(super) jitter_rng: Stream,
    pub(super) patience_rng: Stream,
    pub(super) route_rng: Stream,
    survivors_rng: Stream,
    /// Counts since the start.
    pub(super) counters: Counters,
    /// Latency of requests at the front door since the start, whatever their end.
    pub(super) latency: Histogram,
    /// Largest readings since the last scrape.
    pub(super) peaks: Peaks,
    pub(super) probe: Probe,
    pub(super) digest: Digest,
}

/// What it means when an entry of a ring comes due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RingUse {
    /// A client's pause is over.
    Retry,
    /// A client has waited long enough.
    Patience,
    /// A request has waited for a connection long enough.
    Acquire,
    /// A query has run long enough.
    Query,
    /// A connection is open, or refused.
    Connect,
    /// A request's deadline.
    Deadline,
    /// An attempt of a call has taken as long as it may.
    Call,
    /// The pause between two attempts of a call is over.
    CallPause,
    /// The request key has been watched for long enough.
    Confirm,
    /// An unreachable cache has not answered.
    Cache,
}

impl RingUse {
    /// Whether its entries are meant for a whole attempt, not for one phase of it.
    #[inline]
    fn is_for_attempt(self) -> bool {
        matches!(self, RingUse::Patience | RingUse::Deadline)
    }
}

/// Values of the levers, and how far their effects have come.
#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    /// For each client population: attempts as published, and the mean over those who have fetched it or not.
    pub client_attempts: Vec<(u32, f64)>,
    /// The limit asked for, and the one in force.
    pub rate_limit: (Option<f64>, Option<f64>),
    /// For each service.
    pub services: Vec<ServiceStatus>,
    /// For each cache: reachable, keys warmed, keys to warm (0 when no warm-up runs).
    pub caches: Vec<(bool, u32, u32)>,
}

/// State of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceStatus {
    /// Wanted instances.
    pub wanted: u32,
    /// Taking requests.
    pub ready: u32,
    /// On their way.
    pub starting: u32,
    /// On their way out.
    pub draining: u32,
    /// Connections per instance, in all its pools.
    pub pool_size: u32,
    /// Queries per request at most, in its first pool.
    pub query_attempts: u32,
}

impl World {
    /// Builds a world in the steady state of a healthy system.
    ///
    /// The spec must have no [`Spec::problems`]; one that has them gives a world without meaning, or a panic.
    pub fn new(spec: &Spec, seed: u64) -> World {
        World::with_events(spec, seed, Events::new())
    }

    /// The same world on the plainest event set: one heap in which every step is an event, arrivals too. Slow; it is what
    /// the quick structures are held against, and must give the same run bit by bit.
    pub fn plain_twin(spec: &Spec, seed: u64) -> World {
        World::with_events(spec, seed, Events::plain())
    }

    fn with_events(spec: &Spec, seed: u64, mut events: Events<Control>) -> World {
        let mut rings = Vec::new();
        let mut ring = |delay: SimSpan, role: RingUse| ring_for(&mut rings, &mut events, delay, role);
        let clients = spec
            .clients
            .iter()
            .map(|c| {
                let plain = c.backoff.jitter == Jitter::None && c.backoff.factor == 1.0;
                let pause = plain.then(|| ring(c.backoff.first, RingUse::Retry));
                let patience = c.timeout.map(|t| ring(t, RingUse::Patience));
                Client::new(c, pause, patience)
            })
            .collect();
        let keys = spec.reads.iter().filter(|r| r.ttl.is_some()).map(|r| r.keys.len() as usize).sum();
        let mut calls = 0;
        let mut services: Vec<Service> =
            spec.services.iter().map(|s| service_of(s, keys, &mut calls, &mut ring)).collect();
        let inside_apart = spec.services.len() > 1 || spec.clients.iter().any(|c| c.timeout.is_some());
        for service in &mut services {
            service.is_measured = inside_apart;
        }
        let mut hosts = Vec::new();
        let databases: Vec<Database> = spec
            .databases
            .iter()
            .map(|s| {
                let first = hosts.len();
                hosts.extend(s.hosts.iter().map(|_| Host::new(s, events.register())));
                Database { hosts: first..hosts.len(), turn: first }
            })
            .collect();

        let counted_keys = |r: &ReadSpec| if r.ttl.is_some() { r.keys.len() } else { u32::MAX };
        let mut next_key = 0u32;
        let reads: Vec<Read> = spec
            .reads
            .iter()
            .enumerate()
            .map(|(i, read)| Read {
                cached: read.ttl.map(|ttl| {
                    let first = next_key;
                    next_key += read.keys.len();
                    (first, ttl.0)
                }),
                soft: read.soft_ttl.map(|span| span.0),
                jitter: read.ttl_jitter,
                pool: read.pool as u8,
                counts_keys: counted_keys(read) <= super::meter::COUNTED_KEYS,
                cost: QueryCost::new(&read.query, i as u64),
            })
            .collect();
        let ages = spec.reads.iter().any(|r| r.soft_ttl.is_some() || r.written.is_some())
            || spec.services.iter().any(|s| s.reading.local.is_some())
            || spec.caches.iter().any(|c| c.backup.is_some());
        let exponential = Exponential::new();
        let mut caches: Vec<Cache> = spec.caches.iter().map(|c| Cache::new(keys, ages, c.backup)).collect();
        // The shares of keys are most of the work for a large world, and most of its memory: they are worked out once, lent
        // to what is warmed, and then give their place to the workload's tables.
        let popularity: Vec<Popularity> = spec.reads.iter().map(|r| Popularity::new(r.keys)).collect();
        warm_caches(&mut caches, spec, &reads, &popularity, seed);
        warm_memory(&databases, &mut hosts, spec, &popularity, &exponential, seed);
        let firsts = reads.iter().map(|r| r.cached.map(|c| c.0));
        let batch = if events.is_plain() { 1 } else { super::workload::BATCH };
        let workload = Workload::new(spec, popularity.into_iter().zip(firsts), seed, batch, &exponential);

        let mut world = World {
            now: 0,
            limit: TokenBucket::new(spec.balancer.rate_limit, spec.balancer.burst_s),
            wanted_limit: spec.balancer.rate_limit,
            warm_ups: vec![WarmUp::default(); spec.caches.len()],
            counters: Counters {
                kinds: vec![KindCounters::default(); spec.reads.len()],
                ..Counters::default()
            },
            latency: Histogram::new(),
            peaks: Peaks::new(spec.reads.iter().map(counted_keys)),
            probe: Probe::default(),
            digest: Digest::new(),
            requests: Requests::default(),
            work_rng: Stream::new(seed, "work of queries"),
            io_rng: Stream::new(seed, "queries off the CPU"),
            own_work_rng: Stream::new(seed, "own work of services"),
            handling_rng: Stream::new(seed, "latency of handling"),
            jitter_rng: Stream::new(seed, "jitter"),
            patience_rng: Stream::new(seed, "patience of those who wait for a connection"),
            route_rng: Stream::new(seed, "routes"),
            survivors_rng: Stream::new(seed, "what a failover keeps"),
            caches,
            linked: calls > 0,
            calls: vec![CallCounters::default(); usize::from(calls)],
            routes: Vec::new(),
            spec: spec.clone(),
            exponential,
            events,
            workload,
            clients,
            limited_clients: spec.clients.iter().any(|c| c.retry_budget.is_some() || c.timeout.is_some()),
            services,
            databases,
            hosts,
            reads,
            rings,
        };
        world.list_routes();
        for service in 0..world.services.len() {
            world.time_cache_waits(service);
            world.events.at(SECOND, Control::CloseIdle { service: service as u16 });
        }
        world.workload.refill(&world.exponential, &world.caches);
        world.events.arrival(world.workload.peek());
        world
    }

    /// The ring for a delay and a purpose.
    pub(super) fn ring(&mut self, delay: SimSpan, role: RingUse) -> Ring {
        ring_for(&mut self.rings, &mut self.events, delay, role)
    }

    /// Turns the routes' shares into parts of the 32-bit range.
    pub(super) fn list_routes(&mut self) {
        let routes = &self.spec.balancer.routes;
        let ends = super::workload::parts(routes.iter().map(|r| r.1));
        self.routes = routes.iter().zip(ends).map(|(r, end)| (r.0 as u16, end)).collect();
    }

    /// The present instant.
    pub fn now(&self) -> SimTime {
        SimTime(self.now)
    }

    /// The description it was built from, with its levers as they were at the start.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Counts since the start.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Latency of requests at the front door since the start, whatever their end.
    pub fn latency(&self) -> &Histogram {
        &self.latency
    }

    /// Checksum over the end of every operation so far.
    pub fn digest(&self) -> u64 {
        self.digest.value()
    }

    /// The services.
    pub fn services(&self) -> &[Service] {
        &self.services
    }

    /// The hosts of a database.
    pub fn hosts(&self, database: usize) -> &[Host] {
        &self.hosts[self.databases[database].hosts.clone()]
    }

    /// The hosts of all databases, in the order of databases.
    pub fn all_hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// What single requests have left behind.
    pub fn probe(&mut self) -> &mut Probe {
        &mut self.probe
    }

    /// Largest readings since they last began anew.
    pub fn peaks(&self) -> &Peaks {
        &self.peaks
    }

    /// Largest readings begin anew.
    pub fn reset_peaks(&mut self) {
        self.peaks.reset();
    }

    /// Attempts that clients of a kind allow themselves, on average over all of them.
    pub fn mean_attempts(&self, client: usize) -> f64 {
        self.clients[client].mean_attempts(self.now)
    }

    /// Counts of the calls between services, in the order of services and steps.
    pub fn calls(&self) -> &[CallCounters] {
        &self.calls
    }

    /// Share of a service's processes that hold back calls to the cache.
    pub fn breakers_open(&self, service: usize) -> f64 {
        let it = &self.services[service];
        let working = it.instances.iter().filter(|i| i.state == InstanceState::Ready);
        let (all, open) = working.fold((0u32, 0u32), |(all, open), i| {
            (all + 1, open + u32::from(i.breaker.is_open(it.spec.reading.breaker, self.now)))
        });
        f64::from(open) / f64::from(all.max(1))
    }

    /// Whether what happens inside services is measured apart from the front door.
    pub fn measures_inside(&self) -> bool {
        self.services.iter().any(|s| s.is_measured)
    }

    /// Keys that the running or last warm-up of a cache has read.
    pub fn warmed(&self, cache: usize) -> u32 {
        self.warm_ups[cache].progress().0
    }

    /// Values of the levers.
    pub fn status(&self) -> Status {
        Status {
            client_attempts: self
                .clients
                .iter()
                .map(|c| (c.published(), c.mean_attempts(self.now)))
                .collect(),
            rate_limit: (self.wanted_limit, self.limit.limit()),
            services: self
                .services
                .iter()
                .map(|s| ServiceStatus {
                    wanted: s.wanted,
                    ready: s.count(InstanceState::Ready),
                    starting: s.count(InstanceState::Starting) + s.count(InstanceState::Restarting),
                    draining: s.count(InstanceState::Draining),
                    pool_size: s.spec.pools.iter().map(|p| p.size).sum(),
                    query_attempts: s.spec.pools.first().map_or(0, |p| p.attempts),
                })
                .collect(),
            caches: self
                .caches
                .iter()
                .zip(&self.warm_ups)
                .map(|(c, w)| (!c.down, w.progress().0, w.progress().1))
                .collect(),
        }
    }

    /// Lets everything happen that happens before `until`.
    pub fn advance(&mut self, until: SimTime) {
        if self.events.is_plain() {
            self.advance_plainly(until.0);
        } else {
            self.advance_quickly(until.0);
        }
        self.now = self.now.max(until.0);
    }

    fn advance_quickly(&mut self, until: u64) {
        'next: loop {
            let first = self.events.first_of_quick();
            let next = first.at();
            // Arrivals come first at the same instant. A plain hit schedules nothing, so the loop goes on inline.
            let limit = next.min(until.saturating_sub(1));
            let before = self.events.scheduled();
            while self.workload.peek() <= limit {
                let (operation, used_up) = self.workload.take();
                if used_up {
                    self.workload.refill(&self.exponential, &self.caches);
                }
                self.now = operation.started;
                self.arrive(operation);
                if self.events.scheduled() != before {
                    continue 'next;
                }
            }
            if next >= until {
                break;
            }
            self.now = next;
            self.happen(first.source());
        }
    }

    /// The same where arrivals are events too.
    fn advance_plainly(&mut self, until: u64) {
        loop {
            let (next, source) = self.events.earliest();
            if next >= until {
                break;
            }
            self.now = next;
            self.happen(source);
        }
    }

    /// The first event of a source happens.
    #[inline(always)]
    fn happen(&mut self, source: Source) {
        match source {
            Source::Ring(ring) => {
                let (role, requests) = (self.rings[ring.0].1, &self.requests);
                let brings_near = |id| requests.prefetch(id);
                let entry = if role.is_for_attempt() {
                    let meant = |entry: &Entry| requests.is_meant_for_attempt(*entry);
                    self.events.pop_ring(ring, |e| !meant(&e), brings_near).filter(meant)
                } else {
                    let meant = |entry: &Entry| requests.is_meant(*entry);
                    self.events.pop_ring(ring, |e| !meant(&e), brings_near).filter(meant)
                };
                if let Some(entry) = entry {
                    self.prefetch_ahead(ring, role);
                    self.counters.events += 1;
                    self.due(role, entry);
                }
            }
            Source::Register(register) => {
                self.counters.events += 1;
                self.query_ended(register);
            }
            Source::Arrival => self.arrival_event(),
            Source::Heap => {
                let control = self.events.pop_heap().filter(|c| c.is_meant(&self.requests));
                if let Some(control) = control {
                    self.counters.events += 1;
                    self.control(control);
                }
                self.events.settle();
            }
        }
    }

    /// An arrival that is an event of its own.
    #[cold]
    fn arrival_event(&mut self) {
        self.events.pop_arrival();
        let (operation, _) = self.workload.take();
        self.workload.refill(&self.exponential, &self.caches);
        self.events.arrival(self.workload.peek());
        self.arrive(operation);
    }

    /// What comes due in a ring is known long before: brings near what a record will need besides itself.
    #[inline(always)]
    fn prefetch_ahead(&self, ring: Ring, role: RingUse) {
        const AHEAD: usize = 5;
        if role == RingUse::Retry {
            let operation = &self.requests.get(self.events.look_ahead(ring, AHEAD)).operation;
            if let (Some((first, _)), Some(cache)) =
                (self.reads[operation.read as usize].cached, self.caches.first())
            {
                cache.store.prefetch(first + operation.key);
            }
        } else if role == RingUse::Query {
            let request = self.requests.get(self.events.look_ahead(ring, AHEAD));
            if let Some(host) = self.hosts.get(request.host as usize) {
                self.reads[request.operation.read as usize].cost.prefetch(request.operation.key, host);
            }
        }
    }

    /// A ring's entry has come due.
    #[inline(always)]
    fn due(&mut self, role: RingUse, entry: Entry) {
        match role {
            RingUse::Retry => self.retry(entry),
            RingUse::Patience => self.client_gone(entry),
            RingUse::Acquire => self.acquire_timed_out(entry),
            RingUse::Query => self.query_timed_out(entry),
            RingUse::Connect => self.connected(entry),
            RingUse::Deadline => self.deadline_over(entry),
            RingUse::Call => self.call_timed_out(entry),
            RingUse::CallPause => self.call_again(entry),
            RingUse::Confirm => self.not_confirmed(entry),
            RingUse::Cache => self.cache_unanswered(entry),
        }
    }

    /// Makes a change. It begins now and takes the time that such a change takes.
    pub fn apply(&mut self, intervention: Intervention) {
        let now = self.now;
        self.digest.add(now);
        match intervention {
            Intervention::SetClientAttempts { client, attempts } => {
                self.clients[client].set_attempts(now, attempts.max(1));
            }
            Intervention::SetRateLimit { per_s } => {
                self.wanted_limit = per_s;
                let micro_per_s = per_s.map(|r| (r.max(0.0) * 1e6) as u64);
                let at = now + self.spec.balancer.apply_after.0;
                self.events.at(at, Control::Limit { micro_per_s });
            }
            Intervention::ScaleService { service, instances } => self.scale(service as u16, instances.max(1)),
            Intervention::SetQueryAttempts { service, attempts } => {
                for pool in &mut self.services[service].spec.pools {
                    pool.attempts = attempts.max(1);
                }
            }
            Intervention::SetPoolSize { service, pool, size } => {
                self.resize_pool(service as u16, pool as u8, size.max(1));
            }
            Intervention::FlushCache { cache } => {
                self.caches[cache].store.flush();
                self.log(LogKind::CacheFlushed, cache as u32);
            }
            Intervention::WarmCache { cache, keys, per_s } => self.start_warming(cache, keys, per_s),
            Intervention::StopWarming { cache } => self.warm_ups[cache].stop(),
            Intervention::RollingRestart { service, batch } => {
                let it = &mut self.services[service];
                it.restart_batch = batch.max(1);
                it.to_restart = it.staying().into();
                self.restart_next(service as u16);
            }
            Intervention::Set { knob, value } => self.set_later(knob, value),
        }
    }

    pub(super) fn log(&mut self, kind: LogKind, place: u32) {
        if self.probe.count(kind) {
            self.probe.keep(LogRecord::new(self.now, kind, place));
        }
    }

    pub(super) fn log_at(&mut self, kind: LogKind, service: u16, place: u32) {
        if self.probe.count(kind) {
            let service = u32::from(service);
            self.probe.keep(LogRecord { service, ..LogRecord::new(self.now, kind, place) });
        }
    }

    fn control(&mut self, control: Control) {
        match control {
            Control::InstanceReady { service, instance, version } => {
                if self.services[service as usize].instances[instance as usize].version != version {
                    return;
                }
                self.services[service as usize].set_state(instance, InstanceState::Ready);
                self.log_at(LogKind::InstanceReady, service, u32::from(instance));
                self.restart_next(service);
            }
            Control::DrainOver { service, instance, version } => {
                if self.services[service as usize].instances[instance as usize].version == version {
                    self.stop_instance(service, instance, InstanceState::Gone);
                }
            }
            Control::CacheBack { cache } => {
                let it = &mut self.caches[cache as usize];
                it.down = false;
                it.store.keep_share(it.survivors, &mut self.survivors_rng);
                self.log(LogKind::CacheUp, u32::from(cache));
            }
            Control::Limit { micro_per_s } => {
                self.limit.set(micro_per_s.map(|r| r as f64 / 1e6), self.now);
            }
            Control::Warm { cache, serial } => self.warm_next(cache, serial),
            Control::CloseIdle { service } => {
                self.close_idle(service);
                self.events.at(self.now + SECOND, Control::CloseIdle { service });
            }
            Control::DatabaseBack { database } => {
                for host in &mut self.hosts[self.databases[database as usize].hosts.clone()] {
                    host.down = false;
                }
                self.log(LogKind::DatabaseUp, u32::from(database));
            }
            Control::JobOver { service, job } => {
                self.services[service as usize].slowed.take_if(|slowed| slowed.1 == job);
            }
            Control::Set { knob, value_bits } => self.set(knob, value_bits.map(f64::from_bits)),
            Control::Due { what, id, version } => {
                let entry = Entry { id, version };
                match what {
                    Due::Work => self.worked(entry),
                    Due::Io => self.io_over(entry),
                    Due::Answered => self.answered(entry),
                    Due::Retry => self.retry(entry),
                    Due::Lock => self.look_again(entry),
                    Due::Cache => self.cache_unanswered(entry),
                    Due::CallPause => self.call_again(entry),
                    Due::Acquire => self.acquire_timed_out(entry),
                }
            }
        }
    }

    /// Whose turn it is to get a connection.
    #[inline]
    pub(super) fn next_host(&mut self, database: usize) -> usize {
        let database = &mut self.databases[database];
        database.turn =
            if database.turn + 1 < database.hosts.end { database.turn + 1 } else { database.hosts.start };
        database.turn
    }

    /// Tells the event set when a host's next query ends.
    #[inline(always)]
    pub(super) fn replan(&mut self, host: usize) {
        let host = &mut self.hosts[host];
        let at = host.next_end().unwrap_or(NEVER);
        if let Some(id) = host.far_request() {
            self.requests.prefetch(id);
        }
        self.events.set(host.register, at);
    }
}

/// Puts into the caches what a healthy system's reads would have left there.
fn warm_caches(caches: &mut [Cache], spec: &Spec, reads: &[Read], popularity: &[Popularity], seed: u64) {
    let mut rng = Stream::new(seed, "what the cache holds at the start");
    let mut jitter_rng = Stream::new(seed, "lives of what the cache holds at the start");
    let offered = spec.traffic.first().map_or(0.0, |t| t.1);
    for (cache, cache_spec) in caches.iter_mut().zip(&spec.caches) {
        for ((read, lowered), popularity) in spec.reads.iter().zip(reads).zip(popularity) {
            let Some((first, _)) = lowered.cached else { continue };
            let Some(age) = read.written else {
                let rates = popularity.iter().map(|p| offered * read.share * p);
                cache.store.warm_up(first, rates, lowered.lives(), cache_spec.warm, &mut rng);
                continue;
            };
            let written = -(age.0 as i64);
            for key in first..first + read.keys.len() {
                let draw = (jitter_rng.draw() >> 11) as f64 / (1u64 << 53) as f64;
                let factor = 1.0 + lowered.jitter * (2.0 * draw - 1.0);
                let (soft, hard) = lowered.lives();
                let (soft, hard) = ((soft as f64 * factor) as u64, (hard as f64 * factor) as u64);
                cache.fill(key, Times { read_at: written, believed_at: written, soft, hard });
            }
        }
        cache.copy_to_replica();
    }
}

/// Puts into the hosts' memory what a healthy system's misses would have left there.
fn warm_memory(
    databases: &[Database],
    hosts: &mut [Host],
    spec: &Spec,
    popularity: &[Popularity],
    exponential: &Exponential,
    seed: u64,
) {
    let mut rng = Stream::new(seed, "what memory holds at the start");
    let offered = spec.traffic.first().map_or(0.0, |t| t.1);
    // A key asked for λ times a second and kept for T is missed λ/(1+λT) times a second.
    let misses = |(read, popularity): (&ReadSpec, &Popularity)| -> f64 {
        if read.query.cold_factor <= 1.0 {
            return 0.0;
        }
        let ttl = read.ttl.map_or(0.0, |t| t.as_secs_f64());
        let rates = popularity.iter().map(|p| p * read.share * offered);
        rates.map(|rate| rate / (1.0 + rate * ttl)).sum()
    };
    let per_s: f64 = spec.reads.iter().zip(popularity).map(misses).sum();
    for database in databases {
        let its = &mut hosts[database.hosts.clone()];
        let per_s = per_s / its.len() as f64;
        for host in its {
            host.warm_memory(per_s, exponential, &mut rng);
        }
    }
}

/// Everybody with the same delay and purpose shares a ring: one event set serves them all in order.
fn ring_for(
    rings: &mut Vec<(u64, RingUse)>,
    events: &mut Events<Control>,
    delay: SimSpan,
    role: RingUse,
) -> Ring {
    let wanted = (delay.0, role);
    if let Some(i) = rings.iter().position(|r| *r == wanted) {
        return Ring(i);
    }
    rings.push(wanted);
    events.ring(delay.0)
}

/// A service with its steps ready to run; `calls` counts the calls of the system.
fn service_of(
    spec: &ServiceSpec,
    keys: usize,
    calls: &mut u16,
    ring: &mut impl FnMut(SimSpan, RingUse) -> Ring,
) -> Service {
    let pool_rings = spec
        .pools
        .iter()
        .map(|p| PoolRings {
            acquire: ring(p.acquire_timeout, RingUse::Acquire),
            query: ring(p.query_timeout, RingUse::Query),
            connect: ring(p.connect, RingUse::Connect),
            patience: p.acquire_varies.then(|| Sampler::new(Spread::Exponential(p.acquire_timeout))),
        })
        .collect();
    let steps = spec
        .steps
        .iter()
        .enumerate()
        .map(|(i, step)| match step {
            Step::Work { takes, .. } => Planned::Work(Sampler::new(*takes)),
            Step::Read => Planned::Read,
            Step::Query { query, pool, .. } => {
                Planned::Query { cost: QueryCost::new(query, 1_000 + i as u64), pool: *pool as u8 }
            }
            Step::Call(call) => {
                *calls += 1;
                Planned::Call(Call {
                    index: *calls - 1,
                    service: call.service as u16,
                    attempts: call.attempts,
                    timeout: ring(call.timeout, RingUse::Call),
                    pause: (call.backoff.0 > 0 && call.jitter == Jitter::None)
                        .then(|| ring(call.backoff, RingUse::CallPause)),
                    backoff: (call.backoff, call.jitter),
                    cancels: call.cancels,
                    confirm: call.confirm.map(|c| (c, ring(c.wait, RingUse::Confirm))),
                })
            }
        })
        .collect();
    let deadline = spec.deadline.map(|d| ring(d, RingUse::Deadline));
    Service::new(spec, keys, steps, pool_rings, deadline)
}
