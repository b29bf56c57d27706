//! The database as a service uses it: a connection from the pool, the query, what becomes of it when it takes too long.

use super::database::Owner;
use super::events::{Entry, NEVER, Register};
use super::pool::Pool;
use super::probe::{LogKind, SpanEnd, SpanKind};
use super::request::{OFF_CPU, Phase, Request, Role};
use super::service::{InstanceState, Planned, QueryCost, Service};
use super::spec::Abandoned;
use super::world::{Due, World};

impl World {
    /// The database of a service. A service that queries has one: [`super::Spec::problems`] sees to it.
    #[inline]
    fn database_of(&self, service: u16) -> usize {
        self.services[service as usize].spec.database.unwrap_or(0)
    }

    fn pool_mut(&mut self, service: u16, instance: u16, pool: u8) -> &mut Pool {
        &mut self.services[service as usize].instances[instance as usize].pools[pool as usize]
    }

    /// A request needs a connection: an idle one, a new one, or its turn.
    pub(super) fn acquire(&mut self, id: u32) {
        let now = self.now;
        let request = self.requests.get(id);
        let service = &mut self.services[request.service as usize];
        let size = service.spec.pools[request.pool as usize].size;
        let rings = &service.pool_rings[request.pool as usize];
        let pool = &mut service.instances[request.instance as usize].pools[request.pool as usize];
        if let Some((host, _)) = pool.idle.pop_back() {
            pool.in_use += 1;
            self.requests.get_mut(id).host = host;
            self.start_query(id);
        } else if pool.open < size {
            pool.open += 1;
            pool.in_use += 1;
            self.connect(id);
        } else {
            let version = self.requests.enter(id, Phase::Waiting, now);
            let entry = Entry { id, version };
            pool.waiting.push_back((entry, now));
            pool.n_waiting += 1;
            match &rings.patience {
                None => self.events.after(rings.acquire, now, entry),
                Some(patience) => {
                    let after = patience.draw(&mut self.patience_rng);
                    self.later(after, Due::Acquire, entry);
                }
            }
        }
    }

    /// Opens a connection to the host whose turn it is, in a place that the pool has set aside.
    fn connect(&mut self, id: u32) {
        let (service, pool) = (self.requests.get(id).service, self.requests.get(id).pool);
        let host = self.next_host(self.database_of(service));
        self.requests.get_mut(id).host = host as u16;
        let version = self.requests.enter(id, Phase::Connecting, self.now);
        let ring = self.services[service as usize].pool_rings[pool as usize].connect;
        self.events.after(ring, self.now, Entry { id, version });
    }

    /// A host has answered the wish for a connection.
    pub(super) fn connected(&mut self, entry: Entry) {
        let request = *self.requests.get(entry.id);
        let database = self.database_of(request.service);
        let host = &mut self.databases[database].hosts[request.host as usize];
        let attempts = self.services[request.service as usize].spec.pools[request.pool as usize].attempts;
        if host.connections < host.connection_limit && !host.down {
            host.connections += 1;
            self.trace(entry.id, SpanKind::Connect { host: u32::from(request.host) }, SpanEnd::Ok);
            self.start_query(entry.id);
            return;
        }
        host.counters.refused += 1;
        self.trace(entry.id, SpanKind::Connect { host: u32::from(request.host) }, SpanEnd::Refused);
        self.log_request(entry.id, LogKind::ConnectionRefused);
        if u32::from(request.try_number) < attempts {
            self.requests.get_mut(entry.id).try_number += 1;
            self.connect(entry.id);
            return;
        }
        self.drop_place(request.service, request.instance, request.pool);
        self.fail(entry.id);
    }

    /// Starts the query of a request on the connection it holds.
    fn start_query(&mut self, id: u32) {
        let now = self.now;
        let request = self.requests.get(id);
        let (read, key, host) = (request.operation.read, request.operation.key, request.host as usize);
        let (service, pool) = (request.service, request.pool);
        self.counters.query_retries += u64::from(request.try_number > 1);
        let database = self.database_of(service);
        let work = if own_query(&self.services, request).is_none() {
            self.peaks.queried(read, key);
            self.counters.queries_for_misses += u64::from(self.reads[read as usize].cached.is_some());
            self.query_work(read, key, database, host)
        } else {
            self.own_query_work(id, database, host)
        };
        let query = self.databases[database].hosts[host].start(Owner::Request(id), work, now);
        self.replan(database, host);
        self.requests.get_mut(id).query = query;
        let version = self.requests.enter(id, Phase::Querying, now);
        let ring = self.services[service as usize].pool_rings[pool as usize].query;
        self.events.after(ring, now, Entry { id, version });
    }

    /// CPU that a read's query needs on a host, in nanoseconds; reads its page.
    pub(super) fn query_work(&mut self, read: u8, key: u32, database: usize, host: usize) -> u64 {
        let cost = &self.reads[read as usize].cost;
        let work = cost.work.draw(&mut self.work_rng);
        if cost.cold_q16 <= 1 << 16 {
            return work;
        }
        let (page, cold_q16) = (super::math::mix(cost.page_salt ^ u64::from(key)), cost.cold_q16);
        self.page_work(work, page, cold_q16, database, host)
    }

    fn own_query_work(&mut self, id: u32, database: usize, host: usize) -> u64 {
        let request = self.requests.get(id);
        let steps = &self.services[request.service as usize].steps;
        let Some(Planned::Query { cost, .. }) = steps.get(request.step as usize) else { return 1 };
        let work = cost.work.draw(&mut self.work_rng);
        let page = super::math::mix(cost.page_salt ^ u64::from(request.operation.key));
        let cold_q16 = cost.cold_q16;
        self.page_work(work, page, cold_q16, database, host)
    }

    fn page_work(&mut self, work: u64, page: u64, cold_q16: u64, database: usize, host: usize) -> u64 {
        if cold_q16 > 1 << 16 && self.databases[database].hosts[host].read_page(page, self.now) {
            ((u128::from(work) * u128::from(cold_q16)) >> 16) as u64
        } else {
            work
        }
    }

    /// A host's next query has ended on the CPU.
    pub(super) fn query_ended(&mut self, register: Register) {
        let (database, host) = match self.registers.get(register.index()) {
            Some(&(database, host)) => (database as usize, host as usize),
            None => return self.events.set(register, NEVER),
        };
        let owner = self.databases[database].hosts[host].finish(self.now);
        match owner {
            Some(Owner::Request(id)) => self.off_the_cpu(id),
            Some(Owner::WarmUp { cache, key }) => {
                self.databases[database].hosts[host].connections -= 1;
                self.warmed_key(cache, key);
            }
            // It held its connection to the end.
            Some(Owner::Nobody) => self.databases[database].hosts[host].connections -= 1,
            None => {}
        }
        self.replan(database, host);
    }

    /// The CPU part of a query is over; what is left holds the connection only.
    fn off_the_cpu(&mut self, id: u32) {
        let request = self.requests.get_mut(id);
        request.query = OFF_CPU;
        let (read, version) = (request.operation.read, request.version);
        let cost = own_query(&self.services, request).unwrap_or(&self.reads[read as usize].cost);
        match &cost.io {
            None => self.query_succeeded(id),
            Some(io) => {
                let takes = io.draw(&mut self.io_rng);
                self.later(takes, Due::Io, Entry { id, version });
            }
        }
    }

    /// A query's time off the CPU is over.
    pub(super) fn io_over(&mut self, entry: Entry) {
        self.query_succeeded(entry.id);
    }

    fn query_succeeded(&mut self, id: u32) {
        let request = self.requests.get(id);
        let (service, instance, pool) = (request.service, request.instance, request.pool);
        let (host, role, took) = (request.host, request.role, self.now - request.since);
        let (traced, reads) = (request.operation.traced, own_query(&self.services, request).is_none());
        let database = self.database_of(service);
        let database = &mut self.databases[database];
        database.duration.record(took);
        if took > database.slow_query {
            database.hosts[host as usize].counters.slow += 1;
            self.log_request(id, LogKind::SlowQuery);
        }
        if traced {
            self.trace_query(id, SpanEnd::Ok);
        }
        if reads {
            self.keep(id);
        }
        // The connection goes on before the answer does.
        self.requests.enter(id, Phase::Working, self.now);
        self.release(service, instance, pool, host);
        match (role, reads) {
            (Role::Refresh, _) => self.refreshed(id),
            (_, true) => self.source_answered(id),
            (_, false) => self.step_over(id),
        }
    }

    pub(super) fn query_timed_out(&mut self, entry: Entry) {
        let id = entry.id;
        let request = *self.requests.get(id);
        self.trace_query(id, SpanEnd::TimedOut);
        self.log_request(id, LogKind::QueryTimeout);
        let database = self.database_of(request.service);
        let attempts = self.services[request.service as usize].spec.pools[request.pool as usize].attempts;
        self.databases[database].hosts[request.host as usize].counters.timed_out += 1;
        let kept = self.give_up_query(&request);
        let again = u32::from(request.try_number) < attempts;
        if again {
            self.requests.get_mut(id).try_number += 1;
        }
        match (again, kept) {
            (true, true) => self.start_query(id),
            (true, false) => self.acquire(id),
            (false, _) => {
                if kept {
                    self.requests.enter(id, Phase::Working, self.now);
                    self.release(request.service, request.instance, request.pool, request.host);
                }
                self.fail(id);
            }
        }
    }

    /// Gives a request's query up. Says whether its connection can be used again; otherwise the pool has let go of it.
    pub(super) fn give_up_query(&mut self, request: &Request) -> bool {
        let database = self.database_of(request.service);
        if request.query == OFF_CPU || self.databases[database].abandoned == Abandoned::Cancelled {
            self.cancel_query(request);
            return true;
        }
        self.databases[database].hosts[request.host as usize].abandon(request.query);
        self.drop_place(request.service, request.instance, request.pool);
        false
    }

    /// Takes a request's query off the CPU, if it is on it.
    pub(super) fn cancel_query(&mut self, request: &Request) {
        if request.query != OFF_CPU {
            let (database, host) = (self.database_of(request.service), request.host as usize);
            self.databases[database].hosts[host].cancel(request.query, self.now);
            self.replan(database, host);
        }
    }

    pub(super) fn acquire_timed_out(&mut self, entry: Entry) {
        let request = *self.requests.get(entry.id);
        self.pool_mut(request.service, request.instance, request.pool).n_waiting -= 1;
        self.counters.pool_timeouts += 1;
        self.trace(entry.id, SpanKind::PoolWait, SpanEnd::TimedOut);
        self.log_request(entry.id, LogKind::PoolTimeout);
        self.fail(entry.id);
    }

    /// A connection is free: the next who waits gets it, or it is idle, or closed when there is no place for it.
    pub(super) fn release(&mut self, service: u16, instance: u16, pool: u8, host: u16) {
        let now = self.now;
        let it = &mut self.services[service as usize];
        let size = it.spec.pools[pool as usize].size;
        let at = &mut it.instances[instance as usize];
        if at.pools[pool as usize].open > size || at.state == InstanceState::Gone {
            let database = self.database_of(service);
            self.databases[database].hosts[host as usize].connections -= 1;
            self.drop_place(service, instance, pool);
            return;
        }
        match self.next_waiting(service, instance, pool) {
            Some(id) => {
                self.requests.get_mut(id).host = host;
                self.trace(id, SpanKind::PoolWait, SpanEnd::Ok);
                self.start_query(id);
            }
            None => {
                let pool = self.pool_mut(service, instance, pool);
                pool.in_use -= 1;
                pool.idle.push_back((host, now));
            }
        }
    }

    /// A place in the pool is free and has no connection: the next who waits opens one.
    pub(super) fn drop_place(&mut self, service: u16, instance: u16, pool: u8) {
        let size = self.services[service as usize].spec.pools[pool as usize].size;
        let it = self.pool_mut(service, instance, pool);
        it.open -= 1;
        it.in_use -= 1;
        if it.open < size {
            self.fill_place(service, instance, pool);
        }
    }

    /// The next who waits opens a connection in a free place. Says whether anybody waited.
    fn fill_place(&mut self, service: u16, instance: u16, pool: u8) -> bool {
        let Some(id) = self.next_waiting(service, instance, pool) else { return false };
        let it = self.pool_mut(service, instance, pool);
        it.open += 1;
        it.in_use += 1;
        self.trace(id, SpanKind::PoolWait, SpanEnd::Ok);
        self.connect(id);
        true
    }

    /// Takes the request that has waited longest.
    #[inline]
    fn next_waiting(&mut self, service: u16, instance: u16, pool: u8) -> Option<u32> {
        let it = &mut self.services[service as usize];
        let limits = &it.spec.pools[pool as usize];
        let patience = if limits.acquire_varies { u64::MAX } else { limits.acquire_timeout.0 };
        let pool = &mut it.instances[instance as usize].pools[pool as usize];
        while let Some((entry, since)) = pool.waiting.pop_front() {
            // Who has waited for longer than that is gone: no need to fetch the record to see it.
            if self.now - since <= patience && self.requests.is_meant(entry) {
                pool.n_waiting -= 1;
                if let Some((next, _)) = pool.waiting.front() {
                    self.requests.prefetch(next.id);
                }
                return Some(entry.id);
            }
        }
        None
    }

    /// Sets the size of a pool; connections over it are closed as they become free.
    pub(super) fn resize_pool(&mut self, service: u16, pool: u8, size: u32) {
        self.services[service as usize].spec.pools[pool as usize].size = size;
        for instance in 0..self.services[service as usize].instances.len() as u16 {
            self.trim_idle(service, instance, pool, |pool, _| pool.open > size);
            while self.pool_mut(service, instance, pool).open < size {
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
    fn trim_idle(&mut self, service: u16, instance: u16, pool: u8, test: impl Fn(&Pool, u64) -> bool) {
        let database = self.database_of(service);
        let pool = &mut self.services[service as usize].instances[instance as usize].pools[pool as usize];
        while let Some(&(host, since)) = pool.idle.front() {
            if !test(pool, since) {
                break;
            }
            pool.idle.pop_front();
            pool.open -= 1;
            self.databases[database].hosts[host as usize].connections -= 1;
        }
    }

    /// A database stops answering: what runs on it is lost, connections break.
    pub(super) fn database_lost(&mut self, database: usize) {
        for host in &mut self.databases[database].hosts {
            host.down = true;
        }
        let lost: Vec<u32> = self
            .requests
            .iter()
            .filter(|(_, r)| r.phase == Phase::Querying)
            .filter(|(_, r)| self.services[r.service as usize].spec.database == Some(database))
            .map(|(id, _)| id)
            .collect();
        for service in 0..self.services.len() as u16 {
            if self.services[service as usize].spec.database == Some(database) {
                for instance in 0..self.services[service as usize].instances.len() as u16 {
                    for pool in 0..self.services[service as usize].spec.pools.len() as u8 {
                        self.trim_idle(service, instance, pool, |_, _| true);
                    }
                }
            }
        }
        for id in lost {
            let request = *self.requests.get(id);
            if request.phase != Phase::Querying {
                continue;
            }
            self.trace_query(id, SpanEnd::Lost);
            self.cancel_query(&request);
            self.databases[database].hosts[request.host as usize].connections -= 1;
            self.requests.enter(id, Phase::Working, self.now);
            self.drop_place(request.service, request.instance, request.pool);
            self.log_request(id, LogKind::DatabaseLost);
            self.fail(id);
        }
    }
}

/// The cost of a `Query` step; `None` when the request is at a `Read`.
#[inline]
fn own_query<'a>(services: &'a [Service], request: &Request) -> Option<&'a QueryCost> {
    if request.role == Role::Refresh {
        return None;
    }
    match services[request.service as usize].steps.get(request.step as usize) {
        Some(Planned::Query { cost, .. }) => Some(cost),
        _ => None,
    }
}
