//! The connection pool inside an instance: a queue with many servers, first in, first out, whose customers leave after a fixed or
//! an exponential time (the latter is Erlang's A, Palm 1957).

use std::collections::VecDeque;

use super::events::{Entry, Ring};
use super::probe::{LogKind, SpanEnd, SpanKind};
use super::query::Planning;
use super::request::{Phase, Requests};
use super::spec::PoolSpec;
use super::world::{Due, World};

/// How many places ahead in the queue records are brought near.
const AHEAD: usize = 4;

/// Connections of one instance to one database.
#[derive(Clone, Debug)]
pub struct Pool {
    /// Connections at most, as that is set now.
    pub(super) size: u32,
    /// Nobody waits longer than that, nanoseconds.
    longest_wait: u64,
    /// How long a query may take.
    pub(super) limit: Ring,
    /// Idle connections: host and since when; the one used last, at the end, is used first.
    pub idle: Vec<(u16, u64)>,
    /// Connections open or being opened.
    pub open: u32,
    /// Requests waiting, in order of arrival, with since when; void entries are skipped when they come up.
    pub waiting: VecDeque<(Entry, u64)>,
    /// How many of them really wait.
    pub n_waiting: u32,
}

impl Pool {
    /// One without connections, whose queries may take as long as a ring says.
    pub(super) fn new(spec: &PoolSpec, limit: Ring) -> Pool {
        Pool {
            size: spec.size,
            longest_wait: spec.longest_wait(),
            limit,
            idle: Vec::new(),
            open: 0,
            waiting: VecDeque::new(),
            n_waiting: 0,
        }
    }

    /// Connections that a request holds.
    #[inline]
    pub fn in_use(&self) -> u32 {
        self.open - self.idle.len() as u32
    }

    /// Puts a connection aside that a request gives back. Says whether that is all: nobody waits for it, and there is a
    /// place for it.
    #[inline(always)]
    pub(super) fn put_aside(&mut self, host: u16, now: u64) -> bool {
        let is_all = self.open <= self.size && self.waiting.is_empty();
        if is_all {
            self.idle.push((host, now));
        }
        is_all
    }

    /// Takes the request that has waited longest.
    pub(super) fn next_waiting(&mut self, requests: &Requests, now: u64) -> Option<u32> {
        while let Some((entry, since)) = self.waiting.pop_front() {
            if let Some((later, _)) = self.waiting.get(AHEAD) {
                requests.prefetch(later.id);
            }
            // Who has waited for longer than that is gone: no need to fetch the record to see it.
            if now - since <= self.longest_wait && requests.is_meant(entry) {
                self.n_waiting -= 1;
                return Some(entry.id);
            }
        }
        None
    }
}

impl World {
    /// A request needs a connection from a pool for its n-th try: an idle one, a new one, or its turn.
    #[inline(always)]
    pub(super) fn acquire(&mut self, id: u32, from: u8, try_number: u8) {
        let now = self.now;
        let request = self.requests.get_mut(id);
        (request.pool, request.try_number) = (from, try_number);
        let service = &mut self.services[request.service as usize];
        let pool = service.pool_mut(request.instance, from);
        if let Some((host, _)) = pool.idle.pop() {
            request.host = host;
            let limit = pool.limit;
            self.start_query(id, limit, Planning::Now);
        } else if pool.open < pool.size {
            pool.open += 1;
            self.connect(id);
        } else {
            let entry = Entry { id, version: request.enter(Phase::Waiting, now) };
            pool.waiting.push_back((entry, now));
            pool.n_waiting += 1;
            let rings = &service.pool_rings[from as usize];
            match &rings.patience {
                None => self.events.after(rings.acquire, now, entry),
                Some(patience) => {
                    let after = patience.draw(&mut self.patience_rng);
                    self.later(after, Due::Acquire, entry);
                }
            }
        }
    }

    /// A request has waited for a connection as long as it may.
    pub(super) fn acquire_timed_out(&mut self, entry: Entry) {
        let request = self.requests.get(entry.id);
        let service = &mut self.services[request.service as usize];
        service.pool_mut(request.instance, request.pool).n_waiting -= 1;
        self.counters.pool_timeouts += 1;
        self.trace(entry.id, SpanKind::PoolWait, SpanEnd::TimedOut);
        self.log_request(entry.id, LogKind::PoolTimeout);
        self.fail(entry.id);
    }

    /// A connection is free: the next who waits gets it, or it is idle, or closed when there is no place for it.
    #[inline(always)]
    pub(super) fn release(&mut self, service: u16, instance: u16, pool: u8, host: u16, planning: Planning) {
        let now = self.now;
        let its = self.services[service as usize].pool_mut(instance, pool);
        if its.open > its.size {
            self.hosts[host as usize].connections -= 1;
            if planning == Planning::Owed {
                self.replan(host as usize);
            }
            return self.drop_place(service, instance, pool);
        }
        let limit = its.limit;
        match its.next_waiting(&self.requests, now) {
            Some(id) => {
                self.requests.get_mut(id).host = host;
                self.trace(id, SpanKind::PoolWait, SpanEnd::Ok);
                self.start_query(id, limit, planning);
            }
            None => {
                its.idle.push((host, now));
                if planning == Planning::Owed {
                    self.replan(host as usize);
                }
            }
        }
    }

    /// A place in the pool is free and has no connection: the next who waits opens one.
    pub(super) fn drop_place(&mut self, service: u16, instance: u16, pool: u8) {
        let it = self.services[service as usize].pool_mut(instance, pool);
        it.open -= 1;
        if it.open < it.size {
            self.fill_place(service, instance, pool);
        }
    }

    /// The next who waits opens a connection in a free place. Says whether anybody waited.
    fn fill_place(&mut self, service: u16, instance: u16, pool: u8) -> bool {
        let it = self.services[service as usize].pool_mut(instance, pool);
        let Some(id) = it.next_waiting(&self.requests, self.now) else { return false };
        it.open += 1;
        self.trace(id, SpanKind::PoolWait, SpanEnd::Ok);
        self.connect(id);
        true
    }

    /// Sets the size of a pool; connections over it are closed as they become free.
    pub(super) fn resize_pool(&mut self, service: u16, pool: u8, size: u32) {
        let it = &mut self.services[service as usize];
        it.spec.pools[pool as usize].size = size;
        for instance in 0..it.instances.len() as u16 {
            self.services[service as usize].pool_mut(instance, pool).size = size;
            self.trim_idle(service, instance, pool, |pool, _| pool.open > size);
            while self.services[service as usize].pool_mut(instance, pool).open < size {
                if !self.fill_place(service, instance, pool) {
                    break;
                }
            }
        }
    }

    /// Closes connections that have been idle for too long.
    pub(super) fn close_idle(&mut self, service: u16) {
        for pool in 0..self.services[service as usize].spec.pools.len() as u8 {
            let keep = self.services[service as usize].spec.pools[pool as usize].idle_timeout.0;
            let before = self.now.saturating_sub(keep);
            for instance in 0..self.services[service as usize].instances.len() as u16 {
                self.trim_idle(service, instance, pool, |_, since| since < before);
            }
        }
    }

    /// Closes idle connections, the longest idle first, while the test holds for (pool, idle since).
    pub(super) fn trim_idle(
        &mut self,
        service: u16,
        instance: u16,
        pool: u8,
        test: impl Fn(&Pool, u64) -> bool,
    ) {
        let pool = self.services[service as usize].pool_mut(instance, pool);
        let mut closed = 0;
        while let Some(&(host, since)) = pool.idle.get(closed)
            && test(pool, since)
        {
            closed += 1;
            pool.open -= 1;
            self.hosts[host as usize].connections -= 1;
        }
        pool.idle.drain(..closed);
    }
}
