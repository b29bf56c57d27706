//! The cold-cache incident, written once more for engines that keep a set of future events and nothing else.
//!
//! Same arrivals, keys, cache, pools, hosts, time limits and retries as the engine's own components, from the same random
//! streams, so a run that is right ends with the engine's own checksum. What differs is the way there: every step is an
//! event in the peer's queue, also each arrival, and each change of a host's next completion (the old one is skipped when
//! it comes up; the peers have no cheaper way to move an event).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use pagerdrill::sim::digest::Digest;
use pagerdrill::sim::math::{Exponential, Keys, Popularity, Sampler, mix, scale_to};
use pagerdrill::sim::meter::Histogram;
use pagerdrill::sim::rng::Stream;
use pagerdrill::sim::spec::Abandoned;
use pagerdrill::sim::{Fault, Spec};
use pagerdrill::units::SimTime;
use serde::Serialize;

/// Seed of all runs.
pub const SEED: u64 = 1;

/// A record and the version of it that was meant.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Entry {
    id: u32,
    version: u32,
}

/// What can happen.
#[derive(Clone, Copy, Debug, Serialize)]
pub enum Event {
    /// The next user comes.
    Arrival,
    /// A client's pause is over.
    Retry(Entry),
    /// A request has waited for a connection long enough.
    Acquire(Entry),
    /// A query has run long enough.
    QueryLimit(Entry),
    /// A host has answered the wish for a connection.
    Connected(Entry),
    /// A host's next query ends, if the plan is still the last one.
    Completion { host: u32, plan: u32 },
    /// Idle connections are looked through.
    CloseIdle,
    /// The cache becomes unreachable.
    CacheDown,
    /// The cache answers again, empty.
    CacheBack,
}

impl Event {
    /// Place in the order of events: twice the time, and one more for what gives way to arrivals at the same instant.
    #[inline]
    pub fn rank(&self, at: u64) -> u64 {
        at << 1 | u64::from(!matches!(self, Event::Arrival | Event::CacheDown))
    }
}

/// A set of future events.
pub trait Later {
    /// Lets an event happen at an instant, after those that were scheduled for it before.
    fn at(&mut self, at: u64, event: Event);
}

/// An engine that runs the model.
pub trait Engine {
    /// At the start.
    fn new(model: Model) -> Self;
    /// Lets everything happen that happens before an instant, in nanoseconds.
    fn run_until(&mut self, until: u64);
    /// Looks at the model.
    fn model<T>(&self, look: impl FnOnce(&Model) -> T) -> T;
}

/// What a run came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Requests received by the balancer.
    pub requests: u64,
    /// Operations that succeeded, in time or late.
    pub succeeded: u64,
    /// Operations that failed.
    pub failed: u64,
    /// Checksum over the end of every operation.
    pub digest: u64,
}

#[derive(Clone, Copy)]
struct Operation {
    number: u64,
    started: u64,
    key: u32,
    read: u8,
    client: u8,
    attempt: u8,
}

#[derive(Clone, Copy)]
struct Request {
    operation: Operation,
    sent: u64,
    version: u32,
    query: u32,
    instance: u16,
    host: u16,
    query_attempt: u8,
}

struct Read {
    /// Upper end of its part of the 32-bit range.
    upto: u32,
    keys: Keys,
    /// First key in the cache and life of a value, nanoseconds.
    cached: Option<(u32, u64)>,
    work: Sampler,
    cold_q16: u64,
    page_salt: u64,
}

struct Client {
    upto: u32,
    attempts: u32,
    backoff: u64,
}

#[derive(Default)]
struct Pool {
    idle: VecDeque<(u16, u64)>,
    open: u32,
    waiting: VecDeque<Entry>,
}

/// The levers of the service as they are at the start.
struct Service {
    handling: Sampler,
    size: u32,
    attempts: u32,
    acquire: u64,
    query: u64,
    connect: u64,
    idle: u64,
}

/// The model.
pub struct Model {
    gap_q16: u64,
    clock_q16: u64,
    number: u64,
    arrivals: Stream,
    kinds: Stream,
    keys: Stream,
    work: Stream,
    handling: Stream,
    exponential: Exponential,
    reads: Vec<Read>,
    clients: Vec<Client>,
    service: Service,
    pools: Vec<Pool>,
    turn: usize,
    cache: Cache,
    hosts: Vec<Host>,
    host_turn: usize,
    requests: Vec<Request>,
    free: Vec<u32>,
    /// When the cache becomes unreachable, and for how long.
    fault: (u64, u64),
    late_after: u64,
    latency: Histogram,
    by_attempt: [u64; 16],
    ends: [u64; 3],
    digest: Digest,
}

impl Model {
    /// Reads a spec, which may use no more than this model has: constant traffic, one service that reads through one cache
    /// from one database, queries that are cancelled when given up, clients that wait, no limit, and a cache that is lost
    /// whole.
    pub fn new(spec: &Spec, fault: (SimTime, Fault)) -> Model {
        let (service, database) = (&spec.services[0], &spec.databases[0]);
        let pool = &service.pools[0];
        assert!(spec.services.len() == 1 && spec.databases.len() == 1 && spec.caches.len() == 1);
        assert!(spec.traffic.len() == 1 && spec.balancer.rate_limit.is_none());
        assert!(spec.clients.iter().all(|c| c.timeout.is_none()));
        assert!(database.abandoned == Abandoned::Cancelled);
        let Fault::CacheNodeLost { failover, survivors, .. } = fault.1 else {
            panic!("the model knows only a cache that is lost");
        };
        assert!(survivors == 0.0);

        let offered = spec.traffic[0].1;
        let mut first = 0;
        let upto = parts(spec.reads.iter().map(|r| r.share));
        let reads: Vec<Read> = spec
            .reads
            .iter()
            .zip(upto)
            .enumerate()
            .map(|(i, (read, upto))| Read {
                upto,
                keys: Keys::new(Popularity::new(read.keys)),
                cached: read.ttl.map(|ttl| {
                    first += read.keys.len();
                    (first - read.keys.len(), ttl.0)
                }),
                work: Sampler::new(read.query.work),
                cold_q16: (read.query.cold_factor * 65_536.0) as u64,
                page_salt: mix(i as u64),
            })
            .collect();

        // A steady state: a key asked for λ times a second and kept for T is there with probability λT/(1+λT), and then
        // has an even part of T left; it is missed λ/(1+λT) times a second, and those misses bring pages into memory.
        let mut cache = Cache { expires: vec![0; first as usize], down: false };
        let mut rng = Stream::new(SEED, "what the cache holds at the start");
        let mut misses = Vec::new();
        for (read, known) in spec.reads.iter().zip(&reads) {
            let popularity = Popularity::new(read.keys);
            if let Some((first, ttl)) = known.cached {
                for (key, share) in (first..).zip(popularity.iter()) {
                    let load = offered * read.share * share * ttl as f64 / 1e9;
                    let present = spec.caches[0].warm * load / (1.0 + load);
                    let r = rng.draw();
                    if ((r >> 32) as f64) < present * 4_294_967_296.0 {
                        let left = scale_to(r & 0xffff_ffff, ((ttl >> TICK_BITS) as u32).max(1));
                        cache.expires[key as usize] = left.max(1);
                    }
                }
            }
            let ttl = read.ttl.map_or(0.0, |t| t.as_secs_f64());
            let cold = read.query.cold_factor > 1.0;
            let rates = popularity.iter().map(|p| p * read.share * offered);
            misses.push(if cold { rates.map(|rate| rate / (1.0 + rate * ttl)).sum() } else { 0.0 });
        }
        let misses: f64 = misses.iter().sum();
        let exponential = Exponential::new();
        let mut rng = Stream::new(SEED, "what memory holds at the start");
        let hosts = database
            .hosts
            .iter()
            .map(|_| {
                let mut host = Host {
                    rates: (0..=database.connections + 64)
                        .map(|n| rate(n, database.cores, database.contention))
                        .collect(),
                    limit: database.connections,
                    pages: vec![0; database.pages as usize],
                    page_stays: (database.page_stays.0 >> TICK_BITS) as u32,
                    ..Host::default()
                };
                host.warm_memory(misses / database.hosts.len() as f64, &exponential, &mut rng);
                host
            })
            .collect();

        Model {
            gap_q16: (1e9 * 65_536.0 / offered) as u64,
            clock_q16: 0,
            number: 0,
            arrivals: Stream::new(SEED, "arrivals"),
            kinds: Stream::new(SEED, "kinds of reads and clients"),
            keys: Stream::new(SEED, "keys"),
            work: Stream::new(SEED, "work of queries"),
            handling: Stream::new(SEED, "latency of handling"),
            exponential,
            reads,
            clients: spec
                .clients
                .iter()
                .zip(parts(spec.clients.iter().map(|c| c.share)))
                .map(|(c, upto)| Client { upto, attempts: c.attempts, backoff: c.backoff.first.0 })
                .collect(),
            service: Service {
                handling: Sampler::new(service.handling),
                size: pool.size,
                attempts: pool.attempts,
                acquire: pool.acquire_timeout.0,
                query: pool.query_timeout.0,
                connect: pool.connect.0,
                idle: pool.idle_timeout.0,
            },
            pools: (0..service.instances).map(|_| Pool::default()).collect(),
            turn: 0,
            cache,
            hosts,
            host_turn: 0,
            requests: Vec::new(),
            free: Vec::new(),
            fault: (fault.0.0, failover.0),
            late_after: spec.late_after.0,
            latency: Histogram::new(),
            by_attempt: [0; 16],
            ends: [0; 3],
            digest: Digest::new(),
        }
    }

    /// Schedules what happens by itself.
    pub fn start(&mut self, later: &mut impl Later) {
        later.at(1_000_000_000, Event::CloseIdle);
        later.at(self.fault.0, Event::CacheDown);
        self.next_arrival(later);
    }

    /// What it has come to so far.
    pub fn outcome(&self) -> Outcome {
        Outcome {
            requests: self.by_attempt.iter().sum(),
            succeeded: self.ends[0] + self.ends[1],
            failed: self.ends[2],
            digest: self.digest.value(),
        }
    }

    /// An event happens.
    #[inline]
    pub fn handle(&mut self, now: u64, event: Event, later: &mut impl Later) {
        match event {
            Event::Arrival => self.arrive(now, later),
            Event::Retry(entry) => {
                let request = &self.requests[entry.id as usize];
                if request.version == entry.version {
                    let operation = request.operation;
                    self.send(operation, Some(entry.id), now, later);
                }
            }
            Event::Acquire(entry) => {
                if self.requests[entry.id as usize].version == entry.version {
                    self.fail(entry.id, now, later);
                }
            }
            Event::QueryLimit(entry) => self.query_limit(entry, now, later),
            Event::Connected(entry) => self.connected(entry, now, later),
            Event::Completion { host, plan } => {
                if self.hosts[host as usize].plan == plan {
                    let request = self.hosts[host as usize].finish(now);
                    self.query_succeeded(request, now, later);
                    self.plan(host as usize, later);
                }
            }
            Event::CloseIdle => self.close_idle(now, later),
            Event::CacheDown => {
                self.digest.add(now);
                self.cache.down = true;
                later.at(now + self.fault.1, Event::CacheBack);
            }
            Event::CacheBack => {
                self.cache.down = false;
                self.cache.expires.fill(0);
            }
        }
    }

    fn next_arrival(&mut self, later: &mut impl Later) {
        let gap = self.exponential.draw(&mut self.arrivals);
        self.clock_q16 += ((u128::from(gap) * u128::from(self.gap_q16)) >> 32) as u64;
        later.at(self.clock_q16 >> 16, Event::Arrival);
    }

    fn arrive(&mut self, now: u64, later: &mut impl Later) {
        self.next_arrival(later);
        self.number += 1;
        let r = self.kinds.draw();
        let pick = (r >> 32) as u32;
        let read = self.reads.iter().position(|read| pick <= read.upto).unwrap_or(0);
        let pick = r as u32;
        let client = self.clients.iter().position(|c| pick <= c.upto).unwrap_or(0);
        let operation = Operation {
            number: self.number,
            started: now,
            key: self.reads[read].keys.draw(self.keys.draw()),
            read: read as u8,
            client: client as u8,
            attempt: 1,
        };
        self.send(operation, None, now, later);
    }

    /// A client sends a request; `record` is the operation's when it has one.
    fn send(&mut self, operation: Operation, record: Option<u32>, now: u64, later: &mut impl Later) {
        self.by_attempt[usize::from(operation.attempt).min(15)] += 1;
        if self.turn >= self.pools.len() {
            self.turn = 0;
        }
        let instance = self.turn as u16;
        self.turn += 1;
        if let Some((first, _)) = self.reads[operation.read as usize].cached
            && self.cache.has(first + operation.key, now)
        {
            let took = self.service.handling.draw(&mut self.handling);
            return self.succeed(operation, record, now, took);
        }
        let blank =
            Request { operation, sent: now, version: 0, query: 0, instance, host: 0, query_attempt: 1 };
        let id = match record.or_else(|| self.free.pop()) {
            Some(id) => {
                let it = &mut self.requests[id as usize];
                *it = Request { version: it.version, ..blank };
                id
            }
            None => {
                self.requests.push(blank);
                self.requests.len() as u32 - 1
            }
        };
        self.acquire(id, now, later);
    }

    /// A request needs a connection: an idle one, a new one, or its turn.
    fn acquire(&mut self, id: u32, now: u64, later: &mut impl Later) {
        let pool = &mut self.pools[self.requests[id as usize].instance as usize];
        if let Some((host, _)) = pool.idle.pop_back() {
            self.requests[id as usize].host = host;
            self.start_query(id, now, later);
        } else if pool.open < self.service.size {
            pool.open += 1;
            self.connect(id, now, later);
        } else {
            let entry = void(&mut self.requests, id);
            pool.waiting.push_back(entry);
            later.at(now + self.service.acquire, Event::Acquire(entry));
        }
    }

    fn connect(&mut self, id: u32, now: u64, later: &mut impl Later) {
        self.host_turn = if self.host_turn + 1 < self.hosts.len() { self.host_turn + 1 } else { 0 };
        self.requests[id as usize].host = self.host_turn as u16;
        let entry = void(&mut self.requests, id);
        later.at(now + self.service.connect, Event::Connected(entry));
    }

    fn connected(&mut self, entry: Entry, now: u64, later: &mut impl Later) {
        let request = self.requests[entry.id as usize];
        if request.version != entry.version {
            return;
        }
        let host = &mut self.hosts[request.host as usize];
        if host.connections < host.limit {
            host.connections += 1;
            self.start_query(entry.id, now, later);
        } else if u32::from(request.query_attempt) < self.service.attempts {
            self.requests[entry.id as usize].query_attempt += 1;
            self.connect(entry.id, now, later);
        } else {
            self.drop_place(request.instance, now, later);
            self.fail(entry.id, now, later);
        }
    }

    fn start_query(&mut self, id: u32, now: u64, later: &mut impl Later) {
        let request = self.requests[id as usize];
        let host = request.host as usize;
        let read = &self.reads[request.operation.read as usize];
        let mut work = read.work.draw(&mut self.work);
        if read.cold_q16 > 1 << 16 {
            let page = mix(read.page_salt ^ u64::from(request.operation.key));
            if self.hosts[host].read_page(page, now) {
                work = ((u128::from(work) * u128::from(read.cold_q16)) >> 16) as u64;
            }
        }
        let query = self.hosts[host].start(id, work, now);
        self.plan(host, later);
        self.requests[id as usize].query = query;
        let entry = void(&mut self.requests, id);
        later.at(now + self.service.query, Event::QueryLimit(entry));
    }

    /// Schedules the end of a host's next query; what was scheduled before is void.
    fn plan(&mut self, host: usize, later: &mut impl Later) {
        let it = &mut self.hosts[host];
        it.plan = it.plan.wrapping_add(1);
        if let Some(at) = it.next_end() {
            later.at(at, Event::Completion { host: host as u32, plan: self.hosts[host].plan });
        }
    }

    fn query_succeeded(&mut self, id: u32, now: u64, later: &mut impl Later) {
        let request = self.requests[id as usize];
        if let Some((first, ttl)) = self.reads[request.operation.read as usize].cached {
            self.cache.fill(first + request.operation.key, now, ttl);
        }
        void(&mut self.requests, id);
        self.release(request.instance, request.host, now, later);
        let took = self.service.handling.draw(&mut self.handling);
        self.succeed(request.operation, Some(id), request.sent, now - request.sent + took);
    }

    fn query_limit(&mut self, entry: Entry, now: u64, later: &mut impl Later) {
        let request = self.requests[entry.id as usize];
        if request.version != entry.version {
            return;
        }
        self.hosts[request.host as usize].cancel(request.query, now);
        self.plan(request.host as usize, later);
        if u32::from(request.query_attempt) < self.service.attempts {
            self.requests[entry.id as usize].query_attempt += 1;
            self.start_query(entry.id, now, later);
        } else {
            self.release(request.instance, request.host, now, later);
            self.fail(entry.id, now, later);
        }
    }

    /// A connection is free: the next who waits gets it, or it is idle.
    fn release(&mut self, instance: u16, host: u16, now: u64, later: &mut impl Later) {
        match self.next_waiting(instance) {
            Some(id) => {
                self.requests[id as usize].host = host;
                self.start_query(id, now, later);
            }
            None => self.pools[instance as usize].idle.push_back((host, now)),
        }
    }

    /// A place in the pool is free and has no connection: the next who waits opens one.
    fn drop_place(&mut self, instance: u16, now: u64, later: &mut impl Later) {
        self.pools[instance as usize].open -= 1;
        if let Some(id) = self.next_waiting(instance) {
            self.pools[instance as usize].open += 1;
            self.connect(id, now, later);
        }
    }

    fn next_waiting(&mut self, instance: u16) -> Option<u32> {
        let waiting = &mut self.pools[instance as usize].waiting;
        while let Some(entry) = waiting.pop_front() {
            if self.requests[entry.id as usize].version == entry.version {
                return Some(entry.id);
            }
        }
        None
    }

    fn succeed(&mut self, operation: Operation, record: Option<u32>, sent: u64, took: u64) {
        self.latency.record(took);
        let ended = sent + took;
        let late = ended - operation.started > self.late_after;
        self.end(operation, record, ended, u64::from(late));
    }

    fn fail(&mut self, id: u32, now: u64, later: &mut impl Later) {
        let request = &mut self.requests[id as usize];
        let operation = request.operation;
        self.latency.record(now - request.sent);
        let client = &self.clients[operation.client as usize];
        if u32::from(operation.attempt) < client.attempts {
            request.operation.attempt += 1;
            let backoff = client.backoff;
            let entry = void(&mut self.requests, id);
            later.at(now + backoff, Event::Retry(entry));
        } else {
            self.end(operation, Some(id), now, 2);
        }
    }

    fn end(&mut self, operation: Operation, record: Option<u32>, ended: u64, end: u64) {
        self.ends[end as usize] += 1;
        self.digest.add(operation.number << 8 ^ ended << 2 ^ end);
        if let Some(id) = record {
            void(&mut self.requests, id);
            self.free.push(id);
        }
    }

    fn close_idle(&mut self, now: u64, later: &mut impl Later) {
        let before = now.saturating_sub(self.service.idle);
        for pool in &mut self.pools {
            while let Some(&(host, since)) = pool.idle.front()
                && since < before
            {
                pool.idle.pop_front();
                pool.open -= 1;
                self.hosts[host as usize].connections -= 1;
            }
        }
        later.at(now + 1_000_000_000, Event::CloseIdle);
    }
}

/// Makes void what was scheduled for a record; what is scheduled from now on carries the entry returned.
#[inline]
fn void(requests: &mut [Request], id: u32) -> Entry {
    let request = &mut requests[id as usize];
    request.version = request.version.wrapping_add(1);
    Entry { id, version: request.version }
}

/// Upper ends of the parts of the 32-bit range that shares take.
fn parts(shares: impl Iterator<Item = f64>) -> Vec<u32> {
    let mut sum = 0.0;
    let mut ends: Vec<u32> = shares
        .map(|share| {
            sum += share;
            (sum * 4_294_967_296.0).min(4_294_967_295.0) as u32
        })
        .collect();
    if let Some(last) = ends.last_mut() {
        *last = u32::MAX;
    }
    ends
}

const TICK_BITS: u32 = 20;

/// When each key's value expires, in ticks.
struct Cache {
    expires: Vec<u32>,
    down: bool,
}

impl Cache {
    #[inline]
    fn has(&self, key: u32, now: u64) -> bool {
        !self.down && self.expires[key as usize] > (now >> TICK_BITS) as u32
    }

    #[inline]
    fn fill(&mut self, key: u32, now: u64, ttl: u64) {
        if !self.down {
            self.expires[key as usize] = ((now + ttl) >> TICK_BITS).max(1) as u32;
        }
    }
}

/// Fraction bits of rates and of work.
const RATE_BITS: u32 = 32;
const WORK_BITS: u32 = 16;
const SLOT_BITS: u32 = 24;

/// Speed of each of `n` queries on so many cores, Q32.
fn rate(n: u32, cores: f64, contention: f64) -> u64 {
    let per_core = f64::from(n.max(1)) / cores;
    let share = if per_core > 1.0 { 1.0 / per_core } else { 1.0 };
    let slowed = 1.0 + contention * if per_core > 1.0 { per_core - 1.0 } else { 0.0 };
    ((share / slowed * (1u64 << RATE_BITS) as f64) as u64).max(1)
}

/// A database host: queries share its cores, by virtual time.
#[derive(Default)]
struct Host {
    rates: Vec<u64>,
    /// Serial and request of each slot; serial zero for a free one.
    queries: Vec<(u64, u32)>,
    free: Vec<u32>,
    /// Virtual time of the end, serial, slot.
    ends: BinaryHeap<Reverse<u128>>,
    running: u32,
    serial: u64,
    virtual_time: u64,
    as_of: u64,
    plan: u32,
    connections: u32,
    limit: u32,
    /// Tick of the last read of each page.
    pages: Vec<u32>,
    page_stays: u32,
}

impl Host {
    fn catch_up(&mut self, now: u64) {
        let elapsed = now - self.as_of;
        if elapsed > 0 && self.running > 0 {
            let rate = self.rates[self.running as usize];
            self.virtual_time += ((u128::from(elapsed) * u128::from(rate)) >> (RATE_BITS - WORK_BITS)) as u64;
        }
        self.as_of = now;
    }

    fn start(&mut self, request: u32, work: u64, now: u64) -> u32 {
        self.catch_up(now);
        self.serial += 1;
        let query = (self.serial, request);
        let slot = match self.free.pop() {
            Some(slot) => {
                self.queries[slot as usize] = query;
                slot
            }
            None => {
                self.queries.push(query);
                self.queries.len() as u32 - 1
            }
        };
        let tag = self.virtual_time + (work.max(1) << WORK_BITS);
        self.ends
            .push(Reverse(u128::from(tag) << 64 | u128::from(self.serial << SLOT_BITS | u64::from(slot))));
        self.running += 1;
        slot
    }

    fn free_slot(&mut self, slot: u32) -> u32 {
        self.free.push(slot);
        self.running -= 1;
        std::mem::take(&mut self.queries[slot as usize]).1
    }

    fn cancel(&mut self, slot: u32, now: u64) {
        self.catch_up(now);
        self.free_slot(slot);
        if self.ends.len() > 1_024 + 2 * self.running as usize {
            let queries = &self.queries;
            self.ends.retain(|&Reverse(key)| alive(queries, key));
        }
    }

    fn next_end(&mut self) -> Option<u64> {
        loop {
            let &Reverse(key) = self.ends.peek()?;
            if !alive(&self.queries, key) {
                self.ends.pop();
                continue;
            }
            let left = ((key >> 64) as u64).saturating_sub(self.virtual_time);
            let rate = self.rates[self.running as usize];
            let shift = RATE_BITS - WORK_BITS;
            let span = if left < 1 << (63 - shift) {
                (left << shift).div_ceil(rate)
            } else {
                (u128::from(left) << shift).div_ceil(u128::from(rate)) as u64
            };
            return Some(self.as_of + span);
        }
    }

    /// Ends the query whose time has come and says for which request it ran.
    fn finish(&mut self, now: u64) -> u32 {
        self.catch_up(now);
        let slot = self.ends.pop().map_or(0, |Reverse(key)| (key & ((1 << SLOT_BITS) - 1)) as u32);
        self.free_slot(slot)
    }

    /// Reads a page and says whether it had to be brought into memory.
    fn read_page(&mut self, hash: u64, now: u64) -> bool {
        if self.pages.is_empty() {
            return false;
        }
        let page = scale_to(hash >> 32, self.pages.len() as u32) as usize;
        let tick = self.page_tick(now);
        let last = std::mem::replace(&mut self.pages[page], tick);
        last == 0 || tick - last > self.page_stays
    }

    /// Later than any page's stay even at the start.
    fn page_tick(&self, now: u64) -> u32 {
        (now >> TICK_BITS) as u32 + 1 + self.page_stays
    }

    fn warm_memory(&mut self, per_s: f64, exponential: &Exponential, rng: &mut Stream) {
        let start = self.page_tick(0);
        let gap_ns = self.pages.len() as f64 / per_s * 1e9;
        for page in &mut self.pages {
            let ago = exponential.draw(rng) as f64 / 4_294_967_296.0 * gap_ns;
            let ticks = (ago as u64 >> TICK_BITS).min(u64::from(u32::MAX)) as u32;
            if ticks < self.page_stays {
                *page = start - ticks;
            }
        }
    }
}

#[inline]
fn alive(queries: &[(u64, u32)], key: u128) -> bool {
    queries[(key & ((1 << SLOT_BITS) - 1)) as usize].0 == (key as u64) >> SLOT_BITS
}
