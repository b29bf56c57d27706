//! A stateless service: its instances, and which of them gets the next request.

use std::collections::{BTreeMap, VecDeque};

use super::cache::{Cache, Store};
use super::database::Host;
use super::events::{Entry, Ring};
use super::local::Local;
use super::math::Sampler;
use super::meter::{Histogram, ServiceCounters};
use super::pool::Pool;
use super::protect::{Breaker, Origin};
use super::request::{AFTER_SOURCE, BUDGETED, LOCKED, Link, Phase, Request, Role};
use super::rng::Stream;
use super::spec::{Confirm, Jitter, QuerySpec, ServiceSpec};
use crate::units::SimSpan;

/// What an instance is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstanceState {
    /// Starting for the first time.
    Starting,
    /// Taking requests.
    Ready,
    /// Finishing what it has begun.
    Draining,
    /// Starting again.
    Restarting,
    /// Not there.
    Gone,
}

/// One instance.
#[derive(Clone, Debug)]
pub struct Instance {
    /// What it is doing.
    pub state: InstanceState,
    /// Grows with every change of state; what was scheduled for an earlier one is void.
    pub version: u32,
    /// Records in it.
    pub in_flight: u32,
    /// Those of them that nobody waits for: reads of the source behind an answer or for several.
    pub(super) refreshes: u32,
    /// Its copy of the cache.
    pub(super) local: Option<Local>,
    /// Reads of the source that others may join, by key.
    pub(super) flights: BTreeMap<u32, Flight>,
    /// Its part of the budget for reads of the source.
    pub(super) origin: Origin,
    /// Its breaker on the cache.
    pub(super) breaker: Breaker,
}

impl Instance {
    /// Requests in it: workers busy.
    #[inline]
    pub fn busy(&self) -> u32 {
        self.in_flight - self.refreshes
    }
}

/// A read of the source that others have joined.
#[derive(Clone, Debug)]
pub(super) struct Flight {
    /// The record that reads.
    pub(super) record: u32,
    /// Who waits for it.
    pub(super) joined: Vec<Entry>,
}

/// A query's cost, ready to be drawn.
#[derive(Clone, Debug)]
pub(super) struct QueryCost {
    /// CPU.
    pub(super) work: Sampler,
    /// Time off the CPU; `None` for none.
    pub(super) io: Option<Sampler>,
    /// Factor on a cold page, Q16.
    pub(super) cold_q16: u64,
    /// Tells the pages of different kinds apart.
    pub(super) page_salt: u64,
}

impl QueryCost {
    pub(super) fn new(spec: &QuerySpec, salt: u64) -> QueryCost {
        QueryCost {
            work: Sampler::new(spec.work),
            io: (spec.io.mean().0 > 0).then(|| Sampler::new(spec.io)),
            cold_q16: (spec.cold_factor * 65_536.0) as u64,
            page_salt: super::math::mix(salt),
        }
    }

    /// CPU that the query of a key needs on a host, in nanoseconds; reads its page.
    #[inline(always)]
    pub(super) fn draw(&self, key: u32, host: &mut Host, now: u64, rng: &mut Stream) -> u64 {
        let work = self.work.draw(rng);
        if self.cold_q16 > 1 << 16 {
            let page = super::math::mix(self.page_salt ^ u64::from(key));
            if host.read_page(page, now) {
                return ((u128::from(work) * u128::from(self.cold_q16)) >> 16) as u64;
            }
        }
        work
    }

    /// Hints that the query of a key will soon be drawn.
    #[inline]
    pub(super) fn prefetch(&self, key: u32, host: &Host) {
        if self.cold_q16 > 1 << 16 {
            host.prefetch_page(super::math::mix(self.page_salt ^ u64::from(key)));
        }
    }
}

/// A step of a request, ready to run.
#[derive(Clone, Debug)]
pub(super) enum Planned {
    Work(Sampler),
    Read,
    Query { cost: QueryCost, pool: u8 },
    Call(Call),
}

/// A call, as it is set now.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// Its place among all calls of the system.
    pub(super) index: u16,
    pub(super) service: u16,
    pub(super) attempts: u32,
    pub(super) timeout: Ring,
    /// Where pauses are kept while they are all the same; none where attempts follow at once or pauses vary.
    pub(super) pause: Option<Ring>,
    pub(super) backoff: (SimSpan, Jitter),
    pub(super) cancels: bool,
    pub(super) confirm: Option<(Confirm, Ring)>,
}

/// Where what waits in a pool is kept.
#[derive(Clone, Debug)]
pub(super) struct PoolRings {
    /// Those who wait for a connection, where all wait equally long.
    pub(super) acquire: Ring,
    /// Running queries.
    pub(super) query: Ring,
    /// Connections being opened.
    pub(super) connect: Ring,
    /// How long each waits for a connection, where that varies.
    pub(super) patience: Option<Sampler>,
}

/// A service.
#[derive(Clone, Debug)]
pub struct Service {
    /// As described; pool size and query attempts as they are set now.
    pub spec: ServiceSpec,
    /// The database that it queries. A service that queries has one: [`super::Spec::problems`] sees to it.
    pub(super) database: usize,
    /// Instances, by their number less one.
    pub instances: Vec<Instance>,
    /// Their connections: the pools of the first instance, those of the second, and so on.
    pub(super) pools: Vec<Pool>,
    /// Those that take requests.
    ready: Vec<u16>,
    turn: usize,
    /// Keys that a cache can hold.
    keys: usize,
    /// Wanted instances.
    pub wanted: u32,
    /// Instances that a rolling restart has still to restart, and how many are down for it.
    pub to_restart: VecDeque<u16>,
    /// Instances down at a time.
    pub restart_batch: u32,
    /// Latency of its own handling.
    pub(super) handling: Sampler,
    /// What a request does.
    pub(super) steps: Vec<Planned>,
    /// A read is all that a request does: a hit can be answered at once.
    pub(super) only_reads: bool,
    pub(super) pool_rings: Vec<PoolRings>,
    pub(super) deadline: Option<Ring>,
    pub(super) cache_wait: Option<Ring>,
    /// What a job adds to every piece of own work, and the job's number.
    pub(super) slowed: Option<(Sampler, u32)>,
    pub(super) jobs: u32,
    /// The next process to take a lock crashes with it.
    pub(super) loses_lock_holder: bool,
    /// Requests and refreshes that are after the source.
    pub origin_in_flight: u32,
    /// Counts since the start.
    pub counters: ServiceCounters,
    /// What happens inside it is measured apart from the front door.
    pub(super) is_measured: bool,
    /// Latency of requests inside it since the start, callers that left included; empty unless that is measured.
    pub latency: Histogram,
    /// From a miss to the end of its read of the source.
    pub origin_duration: Histogram,
}

impl Service {
    /// A service with its instances ready.
    pub(super) fn new(
        spec: &ServiceSpec,
        keys: usize,
        steps: Vec<Planned>,
        pool_rings: Vec<PoolRings>,
        deadline: Option<Ring>,
    ) -> Service {
        let mut service = Service {
            instances: Vec::new(),
            pools: Vec::new(),
            ready: Vec::new(),
            turn: 0,
            wanted: spec.instances,
            to_restart: VecDeque::new(),
            restart_batch: 1,
            handling: Sampler::new(spec.handling),
            only_reads: matches!(steps[..], [Planned::Read]),
            is_measured: false,
            steps,
            pool_rings,
            deadline,
            cache_wait: None,
            slowed: None,
            jobs: 0,
            loses_lock_holder: false,
            origin_in_flight: 0,
            counters: ServiceCounters::default(),
            latency: Histogram::new(),
            origin_duration: Histogram::new(),
            keys,
            database: spec.database.unwrap_or(0),
            spec: spec.clone(),
        };
        for _ in 0..spec.instances {
            service.add_instance(InstanceState::Ready);
        }
        service.list_ready();
        service
    }

    /// The store of its cache, where that is all that a look-up is about: no copy of its own, the cache answers, and no
    /// breaker has seen failures.
    #[inline(always)]
    pub(super) fn store_alone<'a>(&self, caches: &'a [Cache], instance: u16) -> Option<&'a Store> {
        let cache = &caches[self.spec.cache?];
        let reading = &self.spec.reading;
        let breaks = reading.breaker.is_some() && !self.instances[instance as usize].breaker.is_at_rest();
        (reading.local.is_none() && !cache.down && !breaks).then_some(&cache.store)
    }

    /// A client's record begins its time in its instance.
    #[inline(always)]
    pub(super) fn count_in(&mut self, instance: u16) {
        self.instances[instance as usize].in_flight += 1;
    }

    /// A record begins its time in its instance.
    #[inline(always)]
    pub(super) fn take_in(&mut self, request: &mut Request, now: u64) {
        request.enter(Phase::Working, now);
        let it = &mut self.instances[request.instance as usize];
        it.in_flight += 1;
        it.refreshes += u32::from(request.role == Role::Refresh);
    }

    /// A record is no longer after the source, if it was.
    #[inline(always)]
    pub(super) fn off_the_source(&mut self, request: &mut Request, link: Option<&Link>, now: u64) {
        if request.clear(AFTER_SOURCE) {
            let apart = !self.only_reads && request.role != Role::Refresh;
            let wanted_at = link.filter(|_| apart).map_or(request.sent, |l| l.wanted_at);
            self.origin_in_flight -= 1;
            self.origin_duration.record(now - wanted_at);
        }
    }

    /// A record leaves its instance. Says whether it has a lock to give back, and whether the instance was waiting for it to
    /// leave.
    #[inline(always)]
    pub(super) fn let_go(
        &mut self,
        request: &mut Request,
        link: Option<&Link>,
        served: bool,
        now: u64,
    ) -> (bool, bool) {
        self.off_the_source(request, link, now);
        // Whatever was scheduled for the request is void from here on.
        request.enter(Phase::Free, now);
        let (budgeted, locked) = (request.clear(BUDGETED), request.clear(LOCKED));
        let is_request = request.role != Role::Refresh;
        if is_request {
            self.counters.failures += u64::from(!served);
            if self.is_measured {
                self.latency.record(now - request.sent);
            }
        }
        let it = &mut self.instances[request.instance as usize];
        it.in_flight -= 1;
        it.refreshes -= u32::from(!is_request);
        it.origin.running -= u32::from(budgeted);
        // Most instances drain never, and many are empty now and then.
        (locked, it.state == InstanceState::Draining && it.in_flight == 0)
    }

    /// A plain request leaves its instance, served, and gives back its connection, where nothing waits for either. Says
    /// whether it has; else nothing has changed.
    #[inline(always)]
    pub(super) fn try_letting_go(&mut self, request: &Request, now: u64) -> bool {
        let place = self.place_of(request.instance, request.pool);
        let it = &mut self.instances[request.instance as usize];
        if it.state == InstanceState::Draining || !self.pools[place].put_aside(request.host, now) {
            return false;
        }
        it.in_flight -= 1;
        if self.is_measured {
            self.latency.record(now - request.sent);
        }
        true
    }

    /// A pool's place among those of all instances.
    #[inline(always)]
    fn place_of(&self, instance: u16, pool: u8) -> usize {
        instance as usize * self.pool_rings.len() + pool as usize
    }

    /// A pool of an instance.
    #[inline(always)]
    pub(super) fn pool_mut(&mut self, instance: u16, pool: u8) -> &mut Pool {
        let place = self.place_of(instance, pool);
        &mut self.pools[place]
    }

    /// The pools of an instance.
    pub fn pools_of(&self, instance: usize) -> &[Pool] {
        let n = self.pool_rings.len();
        &self.pools[instance * n..(instance + 1) * n]
    }

    /// An instance's pools, without connections.
    fn new_pools(&self) -> Vec<Pool> {
        let pools = self.spec.pools.iter().zip(&self.pool_rings);
        pools.map(|(spec, rings)| Pool::new(spec, rings.query)).collect()
    }

    /// One more instance, with nothing in it.
    fn add_instance(&mut self, state: InstanceState) {
        self.instances.push(self.new_instance(state));
        self.pools.extend(self.new_pools());
    }

    /// An instance with nothing in it.
    fn new_instance(&self, state: InstanceState) -> Instance {
        let (per_s, at_once) = self.origin_share();
        let local = self.spec.reading.local;
        Instance {
            state,
            version: 0,
            in_flight: 0,
            refreshes: 0,
            local: local.map(|l| Local::new(self.keys, l.entries)),
            flights: BTreeMap::new(),
            origin: Origin::new(per_s, at_once),
            breaker: Breaker::default(),
        }
    }

    /// One instance's part of the budget for reads of the source: starts per second and at once.
    fn origin_share(&self) -> (Option<f64>, Option<u32>) {
        let origin = self.spec.reading.origin;
        if !origin.fleet {
            return (origin.per_s, origin.at_once);
        }
        let n = self.wanted.max(1);
        (origin.per_s.map(|r| r / f64::from(n)), origin.at_once.map(|most| most.div_ceil(n)))
    }

    /// Tells every instance its part of the budget.
    pub(super) fn share_origin(&mut self, now: u64) {
        let (per_s, at_once) = self.origin_share();
        for instance in &mut self.instances {
            instance.origin.set(per_s, at_once, now);
        }
    }

    /// Gives every instance a local copy as described, empty.
    pub(super) fn renew_local(&mut self) {
        let local = self.spec.reading.local;
        for instance in &mut self.instances {
            instance.local = local.map(|l| Local::new(self.keys, l.entries));
        }
    }

    /// What a process keeps in memory is lost with it: pools, copies, joined reads, breaker.
    pub(super) fn forget(&mut self, instance: u16) -> Vec<Pool> {
        let fresh = self.new_instance(InstanceState::Gone);
        let it = &mut self.instances[instance as usize];
        let running = it.origin.running;
        (it.local, it.breaker) = (fresh.local, fresh.breaker);
        it.flights.clear();
        it.origin = fresh.origin;
        // Its records give back their places one by one.
        it.origin.running = running;
        let first = self.place_of(instance, 0);
        let fresh = self.new_pools();
        self.pools.splice(first..first + fresh.len(), fresh).collect()
    }

    fn list_ready(&mut self) {
        self.ready = (0..self.instances.len())
            .filter(|&i| self.instances[i].state == InstanceState::Ready)
            .map(|i| i as u16)
            .collect();
    }

    /// The instance that gets the next request; round robin over those that are ready.
    #[inline]
    pub fn route(&mut self) -> Option<u16> {
        if self.turn >= self.ready.len() {
            self.turn = 0;
        }
        let instance = self.ready.get(self.turn).copied();
        self.turn += 1;
        instance
    }

    /// Changes an instance's state. Returns the version that later events must carry.
    pub fn set_state(&mut self, instance: u16, state: InstanceState) -> u32 {
        let it = &mut self.instances[instance as usize];
        it.state = state;
        it.version += 1;
        let version = it.version;
        self.list_ready();
        version
    }

    /// A place for a new instance: the lowest number that is free.
    pub fn place_for_new(&mut self) -> u16 {
        let free = self.instances.iter().position(|i| i.state == InstanceState::Gone);
        let at = free.unwrap_or_else(|| {
            self.add_instance(InstanceState::Gone);
            self.instances.len() - 1
        });
        at as u16
    }

    /// Instances in a state.
    pub fn count(&self, state: InstanceState) -> u32 {
        self.instances.iter().filter(|i| i.state == state).count() as u32
    }

    /// Instances that are there or will be, the draining ones left out; by number.
    pub fn staying(&self) -> Vec<u16> {
        (0..self.instances.len() as u16)
            .filter(|&i| {
                matches!(
                    self.instances[i as usize].state,
                    InstanceState::Starting | InstanceState::Ready | InstanceState::Restarting
                )
            })
            .collect()
    }
}
