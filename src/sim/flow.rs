//! The way of a request: balancer, instance, cache, connection, query, answer; and of an operation: attempts until
//! one succeeds or none is left.

use super::database::Owner;
use super::events::{Entry, NEVER, Register};
use super::math::mix;
use super::probe::{LogKind, LogRecord, OperationEnd, SpanEnd, SpanKind, SpanRecord, TraceRecord};
use super::request::{Operation, Phase};
use super::service::InstanceState;
use super::spec::Abandoned;
use super::world::World;

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Ok,
    Error,
    Rejected,
    ClientGone,
}

impl Answer {
    /// The status code in an access log.
    fn status(self) -> u32 {
        match self {
            Answer::Ok => 200,
            Answer::Error => 500,
            Answer::Rejected => 503,
            Answer::ClientGone => 499,
        }
    }
}

impl World {
    /// A user begins an operation. Says whether anything was scheduled.
    #[inline]
    pub(super) fn arrive(&mut self, operation: Operation) -> bool {
        self.counters.operations_started += 1;
        self.counters.events += 1;
        if operation.traced {
            self.probe.open(TraceRecord {
                operation: operation.number,
                read: u32::from(operation.read),
                key: operation.key,
                client: u32::from(operation.client),
                started: operation.started,
                ended: 0,
                end: OperationEnd::Served,
                attempts: 0,
                spans: Vec::new(),
            });
        }
        self.send(operation, None)
    }

    /// A client sends a request; `record` is the operation's when it has one. Says whether anything was scheduled.
    #[inline]
    fn send(&mut self, operation: Operation, record: Option<u32>) -> bool {
        let now = self.now;
        let told_apart = self.counters.requests_by_attempt.len();
        self.counters.requests_by_attempt[(operation.attempt as usize).min(told_apart) - 1] += 1;
        if !self.limit.admit(now) {
            return self.answer(
                operation,
                record,
                None,
                Answer::Rejected,
                self.spec.balancer.reject_latency.0,
            );
        }
        // The balancer sends to the first service.
        let service = 0u16;
        let Some(instance) = self.services[0].route() else {
            return self.answer(operation, record, None, Answer::Error, self.spec.balancer.reject_latency.0);
        };
        let read = &self.reads[operation.read as usize];
        if let Some((first, _)) = read.cached {
            let hit = self.caches[self.services[0].spec.cache].has(first + operation.key, now);
            self.counters.cache_lookups[operation.read as usize] += 1;
            if operation.traced {
                let end_kind = if hit { SpanEnd::Ok } else { SpanEnd::Miss };
                let span = SpanRecord { kind: SpanKind::CacheGet, start: now, end: now, end_kind };
                self.probe.span(operation.number, span);
            }
            if hit {
                self.counters.cache_hits[operation.read as usize] += 1;
                let took = self.services[0].handling.draw(&mut self.handling_rng);
                return self.answer(operation, record, Some(instance), Answer::Ok, took);
            }
        }
        let id = match record {
            Some(id) => {
                let request = self.requests.get_mut(id);
                request.operation = operation;
                request.sent = now;
                request.orphan = false;
                id
            }
            None => self.requests.allocate(operation, now),
        };
        let request = self.requests.get_mut(id);
        request.service = service;
        request.instance = instance;
        request.query_attempt = 1;
        let version = request.attempt_version;
        if let Some(ring) = self.clients[operation.client as usize].patience {
            self.events.after(ring, now, Entry { id, version });
        }
        self.services[0].instances[instance as usize].in_flight += 1;
        self.acquire(id);
        true
    }

    /// A request needs a connection: an idle one, a new one, or its turn.
    fn acquire(&mut self, id: u32) {
        let now = self.now;
        let request = self.requests.get(id);
        let service = &mut self.services[request.service as usize];
        let pool = &mut service.instances[request.instance as usize].pool;
        if let Some((host, _)) = pool.idle.pop_back() {
            pool.in_use += 1;
            self.requests.get_mut(id).host = host;
            self.requests.enter(id, Phase::Waiting, now);
            self.start_query(id);
        } else if pool.open < service.spec.pool.size {
            pool.open += 1;
            pool.in_use += 1;
            self.connect(id);
        } else {
            let version = self.requests.enter(id, Phase::Waiting, now);
            let entry = Entry { id, version };
            pool.waiting.push_back(entry);
            pool.n_waiting += 1;
            self.events.after(service.acquire_ring, now, entry);
        }
    }

    /// Opens a connection to the host whose turn it is, in a place that the pool has set aside.
    fn connect(&mut self, id: u32) {
        let service = self.requests.get(id).service as usize;
        let host = self.next_host(self.services[service].spec.database);
        self.requests.get_mut(id).host = host as u16;
        let version = self.requests.enter(id, Phase::Connecting, self.now);
        self.events.after(self.services[service].connect_ring, self.now, Entry { id, version });
    }

    /// A host has answered the wish for a connection.
    pub(super) fn connected(&mut self, entry: Entry) {
        let request = *self.requests.get(entry.id);
        if request.version != entry.version {
            return;
        }
        let spec = &self.services[request.service as usize].spec;
        let host = &mut self.databases[spec.database].hosts[request.host as usize];
        if host.connections < host.connection_limit {
            host.connections += 1;
            self.trace(entry.id, SpanKind::Connect { host: u32::from(request.host) }, SpanEnd::Ok);
            self.start_query(entry.id);
            return;
        }
        host.counters.refused += 1;
        let attempts = spec.pool.attempts;
        self.trace(entry.id, SpanKind::Connect { host: u32::from(request.host) }, SpanEnd::Refused);
        self.log_request(entry.id, LogKind::ConnectionRefused);
        if u32::from(request.query_attempt) < attempts {
            self.requests.get_mut(entry.id).query_attempt += 1;
            self.connect(entry.id);
            return;
        }
        self.drop_place(request.service, request.instance);
        self.fail(entry.id);
    }

    /// Starts the query of a request on the connection it holds.
    fn start_query(&mut self, id: u32) {
        let now = self.now;
        let request = *self.requests.get(id);
        let (read, host) = (request.operation.read, request.host as usize);
        let database = self.services[request.service as usize].spec.database;
        if self.reads[read as usize].cached.is_some() {
            self.counters.queries_for_misses += 1;
        }
        if request.query_attempt > 1 {
            self.counters.query_retries += 1;
        }
        let work = self.query_work(read, request.operation.key, database, host);
        let query = self.databases[database].hosts[host].start(Owner::Request(id), work, now);
        self.replan(database, host);
        self.requests.get_mut(id).query = query;
        let version = self.requests.enter(id, Phase::Querying, now);
        self.events.after(self.services[request.service as usize].query_ring, now, Entry { id, version });
    }

    /// CPU that a query needs on a host, in nanoseconds; reads its page.
    pub(super) fn query_work(&mut self, read: u8, key: u32, database: usize, host: usize) -> u64 {
        let it = &self.reads[read as usize];
        let work = it.work.draw(&mut self.work_rng);
        if it.cold_q16 <= 1 << 16 {
            return work;
        }
        let page = mix(it.page_salt ^ u64::from(key));
        if self.databases[database].hosts[host].read_page(page, self.now) {
            ((u128::from(work) * u128::from(it.cold_q16)) >> 16) as u64
        } else {
            work
        }
    }

    /// A host's next query has ended.
    pub(super) fn query_ended(&mut self, register: Register) {
        let (database, host) = match self.registers.iter().find(|r| r.0 == register) {
            Some(&(_, database, host)) => (database as usize, host as usize),
            None => return self.events.set(register, NEVER),
        };
        let owner = self.databases[database].hosts[host].finish(self.now);
        match owner {
            Some(Owner::Request(id)) => self.query_succeeded(id),
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

    fn query_succeeded(&mut self, id: u32) {
        let now = self.now;
        let request = *self.requests.get(id);
        let operation = request.operation;
        self.trace_query(id, SpanEnd::Ok);
        if let Some((first, ttl)) = self.reads[operation.read as usize].cached {
            let cache = self.services[request.service as usize].spec.cache;
            if self.caches[cache].fill(first + operation.key, now, ttl) {
                self.counters.cache_fills += 1;
            }
        }
        self.leave(id);
        self.release(request.service, request.instance, request.host);
        if request.orphan {
            self.requests.release(id);
            return;
        }
        let took = self.services[request.service as usize].handling.draw(&mut self.handling_rng);
        self.answer(operation, Some(id), Some(request.instance), Answer::Ok, now - request.sent + took);
    }

    pub(super) fn query_timed_out(&mut self, entry: Entry) {
        let id = entry.id;
        let request = *self.requests.get(id);
        if request.version != entry.version {
            return;
        }
        self.trace_query(id, SpanEnd::TimedOut);
        self.log_request(id, LogKind::QueryTimeout);
        let spec = &self.services[request.service as usize].spec;
        let (database, attempts) = (spec.database, spec.pool.attempts);
        self.databases[database].hosts[request.host as usize].counters.timed_out += 1;
        let kept = self.give_up_query(&request);
        let again = u32::from(request.query_attempt) < attempts;
        if again {
            self.requests.get_mut(id).query_attempt += 1;
        }
        match (again, kept) {
            (true, true) => self.start_query(id),
            (true, false) => self.acquire(id),
            (false, _) => {
                if kept {
                    self.release(request.service, request.instance, request.host);
                }
                self.fail(id);
            }
        }
    }

    /// Gives a request's query up. Says whether its connection can be used again; otherwise the pool has let go of it.
    fn give_up_query(&mut self, request: &super::request::Request) -> bool {
        let (database, host) = (self.services[request.service as usize].spec.database, request.host as usize);
        match self.databases[database].abandoned {
            Abandoned::Cancelled => {
                self.databases[database].hosts[host].cancel(request.query, self.now);
                self.replan(database, host);
                true
            }
            Abandoned::RunsOn => {
                self.databases[database].hosts[host].abandon(request.query);
                self.drop_place(request.service, request.instance);
                false
            }
        }
    }

    pub(super) fn acquire_timed_out(&mut self, entry: Entry) {
        let request = *self.requests.get(entry.id);
        if request.version != entry.version {
            return;
        }
        let pool = &mut self.services[request.service as usize].instances[request.instance as usize].pool;
        pool.n_waiting -= 1;
        self.counters.pool_timeouts += 1;
        self.trace(entry.id, SpanKind::PoolWait, SpanEnd::TimedOut);
        self.log_request(entry.id, LogKind::PoolTimeout);
        self.fail(entry.id);
    }

    /// A connection is free: the next who waits gets it, or it is idle, or closed when there is no place for it.
    fn release(&mut self, service: u16, instance: u16, host: u16) {
        let now = self.now;
        let it = &mut self.services[service as usize];
        let size = it.spec.pool.size;
        let database = it.spec.database;
        let at = &mut it.instances[instance as usize];
        if at.pool.open > size || at.state == InstanceState::Gone {
            self.databases[database].hosts[host as usize].connections -= 1;
            self.drop_place(service, instance);
            return;
        }
        match self.next_waiting(service, instance) {
            Some(id) => {
                self.requests.get_mut(id).host = host;
                self.trace(id, SpanKind::PoolWait, SpanEnd::Ok);
                self.start_query(id);
            }
            None => {
                let pool = &mut self.services[service as usize].instances[instance as usize].pool;
                pool.in_use -= 1;
                pool.idle.push_back((host, now));
            }
        }
    }

    /// A place in the pool is free and has no connection: the next who waits opens one.
    fn drop_place(&mut self, service: u16, instance: u16) {
        let size = self.services[service as usize].spec.pool.size;
        let pool = &mut self.services[service as usize].instances[instance as usize].pool;
        pool.open -= 1;
        pool.in_use -= 1;
        if pool.open < size
            && let Some(id) = self.next_waiting(service, instance)
        {
            let pool = &mut self.services[service as usize].instances[instance as usize].pool;
            pool.open += 1;
            pool.in_use += 1;
            self.trace(id, SpanKind::PoolWait, SpanEnd::Ok);
            self.connect(id);
        }
    }

    /// Takes the request that has waited longest.
    #[inline]
    fn next_waiting(&mut self, service: u16, instance: u16) -> Option<u32> {
        let pool = &mut self.services[service as usize].instances[instance as usize].pool;
        while let Some(entry) = pool.waiting.pop_front() {
            if self.requests.get(entry.id).version == entry.version {
                pool.n_waiting -= 1;
                return Some(entry.id);
            }
        }
        None
    }

    /// A request leaves its instance.
    fn leave(&mut self, id: u32) {
        let request = *self.requests.get(id);
        // Whatever was scheduled for the request is void from here on.
        self.requests.enter(id, Phase::Free, self.now);
        let it = &mut self.services[request.service as usize].instances[request.instance as usize];
        it.in_flight -= 1;
        if it.in_flight == 0 && it.state == InstanceState::Draining {
            let at = self.now;
            let version = it.version;
            let control = super::world::Control::DrainOver {
                service: request.service,
                instance: request.instance,
                version,
            };
            self.events.at(at, control);
        }
    }

    /// The service answers with an error.
    fn fail(&mut self, id: u32) {
        self.leave(id);
        let request = *self.requests.get(id);
        if request.orphan {
            self.requests.release(id);
            return;
        }
        let took = self.now - request.sent;
        self.answer(request.operation, Some(id), Some(request.instance), Answer::Error, took);
    }

    pub(super) fn client_gone(&mut self, entry: Entry) {
        let request = *self.requests.get(entry.id);
        if request.attempt_version != entry.version
            || request.orphan
            || matches!(request.phase, Phase::Free | Phase::Pausing)
        {
            return;
        }
        self.requests.get_mut(entry.id).orphan = true;
        self.log_request(entry.id, LogKind::ClientGone);
        self.answer(
            request.operation,
            None,
            Some(request.instance),
            Answer::ClientGone,
            self.now - request.sent,
        );
    }

    /// A request has its answer `took` after it was sent; the operation ends or the client tries again.
    #[inline]
    fn answer(
        &mut self,
        operation: Operation,
        record: Option<u32>,
        instance: Option<u16>,
        answer: Answer,
        took: u64,
    ) -> bool {
        let now = self.now;
        self.latency.record(took);
        let counter = match answer {
            Answer::Ok => &mut self.counters.requests_ok,
            Answer::Error => &mut self.counters.requests_errors,
            Answer::Rejected => &mut self.counters.requests_rejected,
            Answer::ClientGone => &mut self.counters.requests_abandoned,
        };
        *counter += 1;
        self.probe.count(LogKind::Access);
        if operation.traced {
            self.trace_answer(&operation, instance, answer, took);
        }
        if answer == Answer::Rejected {
            let kind = LogKind::RateLimited;
            self.probe.log(|| request_log(now, kind, &operation, instance, 503, took), kind);
        }
        if answer == Answer::Ok {
            let ended = now.max(operation.started + took);
            let late = ended - operation.started > self.spec.late_after.0;
            self.end_operation(
                &operation,
                record,
                ended,
                if late { OperationEnd::Late } else { OperationEnd::Served },
            );
            return false;
        }
        let client = &self.clients[operation.client as usize];
        if u32::from(operation.attempt) < client.attempts(operation.number, now) {
            let backoff = client.backoff;
            let next = Operation { attempt: operation.attempt + 1, ..operation };
            let id = match record {
                Some(id) => {
                    let request = self.requests.get_mut(id);
                    request.operation = next;
                    request.attempt_version = request.attempt_version.wrapping_add(1);
                    id
                }
                None => self.requests.allocate(next, now),
            };
            let version = self.requests.enter(id, Phase::Pausing, now);
            self.events.after(backoff, now, Entry { id, version });
            return true;
        }
        let end = if answer == Answer::Rejected { OperationEnd::Shed } else { OperationEnd::Failed };
        self.end_operation(&operation, record, now, end);
        false
    }

    /// A client's pause is over.
    pub(super) fn retry(&mut self, entry: Entry) {
        let request = self.requests.get(entry.id);
        if request.version == entry.version {
            let operation = request.operation;
            self.send(operation, Some(entry.id));
        }
    }

    #[inline]
    fn end_operation(&mut self, operation: &Operation, record: Option<u32>, ended: u64, end: OperationEnd) {
        let counter = match end {
            OperationEnd::Served => &mut self.counters.operations_served,
            OperationEnd::Late => &mut self.counters.operations_late,
            OperationEnd::Failed => &mut self.counters.operations_failed,
            OperationEnd::Shed => &mut self.counters.operations_shed,
        };
        *counter += 1;
        self.digest.add(operation.number << 8 ^ ended << 2 ^ end as u64);
        if operation.traced {
            self.probe.close(operation.number, ended, u32::from(operation.attempt), end);
        }
        if let Some(id) = record {
            self.requests.release(id);
        }
    }

    // ------------------------------------------------------------------------------------ instances and pools

    /// An instance stops at once: what is in it is lost, its connections are closed.
    pub(super) fn stop_instance(&mut self, service: u16, instance: u16, state: InstanceState) {
        self.services[service as usize].set_state(instance, state);
        let lost: Vec<u32> = self
            .requests
            .iter()
            .filter(|(_, r)| {
                r.service == service
                    && r.instance == instance
                    && matches!(r.phase, Phase::Waiting | Phase::Connecting | Phase::Querying)
            })
            .map(|(id, _)| id)
            .collect();
        let database = self.services[service as usize].spec.database;
        for &id in &lost {
            let request = *self.requests.get(id);
            if request.phase == Phase::Querying && self.give_up_query(&request) {
                self.databases[database].hosts[request.host as usize].connections -= 1;
            }
        }
        let pool = std::mem::take(&mut self.services[service as usize].instances[instance as usize].pool);
        for (host, _) in pool.idle {
            self.databases[database].hosts[host as usize].connections -= 1;
        }
        for id in lost {
            self.log_request(id, LogKind::InstanceLost);
            self.fail(id);
        }
        self.log(LogKind::InstanceStopped, u32::from(instance));
    }

    /// Sets the size of every pool; connections over it are closed as they become free.
    pub(super) fn resize_pools(&mut self, service: u16, size: u32) {
        self.services[service as usize].spec.pool.size = size;
        for instance in 0..self.services[service as usize].instances.len() as u16 {
            self.trim_idle(service, instance, |pool, _| pool.open > size);
            loop {
                let pool = &mut self.services[service as usize].instances[instance as usize].pool;
                if pool.open >= size {
                    break;
                }
                let Some(id) = self.next_waiting(service, instance) else { break };
                let pool = &mut self.services[service as usize].instances[instance as usize].pool;
                pool.open += 1;
                pool.in_use += 1;
                self.trace(id, SpanKind::PoolWait, SpanEnd::Ok);
                self.connect(id);
            }
        }
    }

    /// Closes connections that have been idle for too long.
    pub(super) fn close_idle(&mut self, service: u16) {
        let before = self.now.saturating_sub(self.services[service as usize].spec.pool.idle_timeout.0);
        for instance in 0..self.services[service as usize].instances.len() as u16 {
            self.trim_idle(service, instance, |_, since| since < before);
        }
    }

    /// Closes idle connections, the longest idle first, while the test holds for (pool, idle since).
    fn trim_idle(&mut self, service: u16, instance: u16, test: impl Fn(&super::pool::Pool, u64) -> bool) {
        let database = self.services[service as usize].spec.database;
        let pool = &mut self.services[service as usize].instances[instance as usize].pool;
        while let Some(&(host, since)) = pool.idle.front() {
            if !test(pool, since) {
                break;
            }
            pool.idle.pop_front();
            pool.open -= 1;
            self.databases[database].hosts[host as usize].connections -= 1;
        }
    }

    // ------------------------------------------------------------------------------------------ logs and traces

    fn log_request(&mut self, id: u32, kind: LogKind) {
        let request = self.requests.get(id);
        let now = self.now;
        self.probe.log(
            || LogRecord {
                host: u32::from(request.host),
                detail: u32::from(request.query_attempt),
                ..request_log(now, kind, &request.operation, Some(request.instance), 0, now - request.since)
            },
            kind,
        );
    }

    /// A span from the beginning of the request's phase until now.
    fn trace(&mut self, id: u32, kind: SpanKind, end_kind: SpanEnd) {
        let request = self.requests.get(id);
        if request.operation.traced {
            let span = SpanRecord { kind, start: request.since, end: self.now, end_kind };
            self.probe.span(request.operation.number, span);
        }
    }

    fn trace_query(&mut self, id: u32, end_kind: SpanEnd) {
        let request = self.requests.get(id);
        let kind =
            SpanKind::Query { attempt: u32::from(request.query_attempt), host: u32::from(request.host) };
        self.trace(id, kind, end_kind);
    }

    #[cold]
    fn trace_answer(&mut self, operation: &Operation, instance: Option<u16>, answer: Answer, took: u64) {
        // A hit is answered a moment after the look-up, everything else at the present instant.
        let now = self.now;
        let start = if took > now || answer == Answer::Ok && took < now - operation.started {
            now.saturating_sub(took)
        } else {
            operation.started.max(now.saturating_sub(took))
        };
        let end_kind = match answer {
            Answer::Ok => SpanEnd::Ok,
            Answer::Error => SpanEnd::Error,
            Answer::Rejected => SpanEnd::Rejected,
            Answer::ClientGone => SpanEnd::Abandoned,
        };
        let kind =
            SpanKind::Attempt { attempt: u32::from(operation.attempt), instance: instance.map(u32::from) };
        self.probe.span(operation.number, SpanRecord { kind, start, end: start + took, end_kind });
        self.probe.example(request_log(now, LogKind::Access, operation, instance, answer.status(), took));
    }
}

fn request_log(
    at: u64,
    kind: LogKind,
    operation: &Operation,
    instance: Option<u16>,
    detail: u32,
    took: u64,
) -> LogRecord {
    LogRecord {
        operation: operation.number,
        attempt: u32::from(operation.attempt),
        detail,
        read: u32::from(operation.read),
        client: u32::from(operation.client),
        took,
        ..LogRecord::new(at, kind, instance.map_or(u32::MAX, u32::from))
    }
}
