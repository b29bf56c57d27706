//! The database as a service uses it: a connection from the pool, the query, what becomes of it when it takes too long.

use super::database::{Host, Owner};
use super::events::{Entry, Events, NEVER, Register, Ring};
use super::probe::{LogKind, SpanEnd, SpanKind};
use super::request::{OFF_CPU, OWN_QUERY, Operation, Phase, Request, Role};
use super::rng::Stream;
use super::service::{Planned, QueryCost, Service};
use super::spec::Abandoned;
use super::world::{Control, Due, World};

/// When the event set is told of a host's next end after a query has started there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Planning {
    /// At once.
    Now,
    /// By whoever is about to do so anyway, since an earlier query has just ended there.
    Later,
    /// At once, and also where none starts: one has just been cancelled there.
    Owed,
}

/// The start of a query.
struct Start {
    now: u64,
    /// The ring of the time that it may take.
    limit: Ring,
    planning: Planning,
}

impl Start {
    /// Starts the query of a request on the host to which it has a connection. Returns the request whose query ends next, where
    /// that is not near.
    #[inline(always)]
    fn on(
        self,
        host: &mut Host,
        (id, request): (u32, &mut Request),
        cost: &QueryCost,
        work_rng: &mut Stream,
        events: &mut Events<Control>,
    ) -> Option<u32> {
        let Start { now, limit, planning } = self;
        let work = cost.draw(request.operation.key, host, now, work_rng);
        let (query, moves_next_end) = host.start(Owner::Request(id), work, now);
        request.query = query;
        let entry = Entry { id, version: request.enter(Phase::Querying, now) };
        let mut far = None;
        match planning {
            Planning::Later => {}
            Planning::Now if !moves_next_end => events.set_again(host.register),
            Planning::Now | Planning::Owed => {
                let at = host.next_end().unwrap_or(NEVER);
                far = host.far_request();
                events.set(host.register, at);
            }
        }
        events.after(limit, now, entry);
        far
    }
}

impl World {
    /// The database of a service.
    #[inline]
    fn database_of(&self, service: u16) -> usize {
        self.services[service as usize].database
    }

    /// A request whose read is never cached asks the database at once, where it has nothing to do before that, nothing to
    /// watch for meanwhile, and a connection is idle. Says whether it has; else nothing has changed.
    #[inline(always)]
    pub(super) fn try_asking_at_once(&mut self, operation: Operation, place: (u16, u16)) -> bool {
        let World { now, services, reads, requests, hosts, events, work_rng, .. } = self;
        let (read, service) = (&reads[operation.read as usize], &mut services[place.0 as usize]);
        if !read.is_plain() || service.deadline.is_some() {
            return false;
        }
        let pool = service.pool_mut(place.1, read.pool);
        let Some((host, _)) = pool.idle.pop() else { return false };
        let start = Start { now: *now, limit: pool.limit, planning: Planning::Now };
        let (id, request) = requests.place(None, operation, Role::Client, place, *now);
        service.count_in(place.1);
        (request.host, request.pool, request.try_number) = (host, read.pool, 1);
        let host = &mut hosts[host as usize];
        if let Some(far) = start.on(host, (id, request), &read.cost, work_rng, events) {
            requests.prefetch(far);
        }
        true
    }

    /// Opens a connection to the host whose turn it is, in a place that the pool has set aside.
    pub(super) fn connect(&mut self, id: u32) {
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
        let host = &mut self.hosts[request.host as usize];
        let service = &self.services[request.service as usize];
        let attempts = service.spec.pools[request.pool as usize].attempts;
        if host.connections < host.connection_limit && !host.down {
            host.connections += 1;
            let limit = service.pool_rings[request.pool as usize].query;
            self.trace(entry.id, SpanKind::Connect { host: u32::from(request.host) }, SpanEnd::Ok);
            return self.start_query(entry.id, limit, Planning::Now);
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

    /// Starts the query of a request on the connection it holds; the time it may take is that of a ring.
    #[inline(always)]
    pub(super) fn start_query(&mut self, id: u32, limit: Ring, planning: Planning) {
        let request = self.requests.get_mut(id);
        self.counters.query_retries += u64::from(request.try_number > 1);
        let cost = match own_query(&self.services, request) {
            Some(cost) => cost,
            None => {
                let read = &self.reads[request.operation.read as usize];
                if read.counts_keys {
                    self.peaks.queried(request.operation.read, request.operation.key);
                }
                self.counters.queries_for_misses += u64::from(read.cached.is_some());
                &read.cost
            }
        };
        let host = &mut self.hosts[request.host as usize];
        let start = Start { now: self.now, limit, planning };
        if let Some(far) = start.on(host, (id, request), cost, &mut self.work_rng, &mut self.events) {
            self.requests.prefetch(far);
        }
    }

    /// A host's next query has ended on the CPU.
    #[inline(always)]
    pub(super) fn query_ended(&mut self, register: Register) {
        let now = self.now;
        let World { hosts, requests, services, reads, events, handling_rng, .. } = self;
        let host = &mut hosts[register.index()];
        match host.finish(now) {
            Some(Owner::Request(id)) => {
                let request = requests.get(id);
                let service = &mut services[request.service as usize];
                // Where the query was all that a request had to do, as most have, its answer is given here and now. The
                // last condition is no mere question: it lets the request go.
                let took = now - request.since;
                if request.is_plain()
                    && service.only_reads
                    && reads[request.operation.read as usize].is_plain()
                    && took <= host.slow_query
                    && !events.is_plain()
                    && service.try_letting_go(request, now)
                {
                    host.duration.record(took);
                    events.set(register, host.next_end().unwrap_or(NEVER));
                    let (operation, sent) = (request.operation, request.sent);
                    let took = now - sent + service.handling.draw(handling_rng);
                    return self.served(operation, Some(id), None, (sent, took));
                }
                self.query_over(id, true);
            }
            Some(Owner::WarmUp { cache, read, key }) => {
                host.connections -= 1;
                self.warmed_key(cache, read, key);
            }
            // It held its connection to the end.
            Some(Owner::Nobody) => host.connections -= 1,
            None => {}
        }
        self.replan(register.index());
    }

    /// A query's time off the CPU is over.
    pub(super) fn io_over(&mut self, entry: Entry) {
        self.query_over(entry.id, false);
    }

    /// The CPU part of a query is over, or all of it. What is left after the CPU part holds the connection only.
    #[inline(always)]
    fn query_over(&mut self, id: u32, on_cpu: bool) {
        let now = self.now;
        let request = self.requests.get_mut(id);
        let read = &self.reads[request.operation.read as usize];
        if on_cpu {
            request.query = OFF_CPU;
            if let Some(io) = &own_query(&self.services, request).unwrap_or(&read.cost).io {
                let (takes, version) = (io.draw(&mut self.io_rng), request.version);
                return self.later(takes, Due::Io, Entry { id, version });
            }
        }
        let took = now - request.since;
        let at = &mut self.hosts[request.host as usize];
        at.duration.record(took);
        let slow = took > at.slow_query;
        let reads = !request.is(OWN_QUERY);
        let cached = read.cached.filter(|_| reads);
        let tells = slow || request.operation.traced;
        let mut request = request;
        if tells || cached.is_some() {
            if tells {
                self.tell_of_query(id, slow);
            }
            if let Some((first, _)) = cached {
                self.keep(id, first);
            }
            request = self.requests.get_mut(id);
        }
        let (service, instance, pool) = (request.service, request.instance, request.pool);
        let (host, role) = (request.host, request.role);
        let it = &mut self.services[service as usize];
        let is_aside = it.pool_mut(instance, pool).put_aside(host, now);
        let planning = if on_cpu { Planning::Later } else { Planning::Now };
        if reads && role == Role::Client && request.step as usize + 1 == it.steps.len() {
            // That was all that it had to do. Its answer has nothing to do with the pool, so it may come first.
            self.answer_client(id);
            if !is_aside {
                self.release(service, instance, pool, host, planning);
            }
            return;
        }
        // The connection goes on before the answer does.
        request.enter(Phase::Working, now);
        if !is_aside {
            self.release(service, instance, pool, host, planning);
        }
        match (role, reads) {
            (Role::Refresh, _) => self.refreshed(id),
            (_, true) => self.source_answered(id),
            (_, false) => self.step_over(id),
        }
    }

    #[cold]
    fn tell_of_query(&mut self, id: u32, slow: bool) {
        if slow {
            let host = self.requests.get(id).host as usize;
            self.hosts[host].counters.slow += 1;
            self.log_request(id, LogKind::SlowQuery);
        }
        self.trace_query(id, SpanEnd::Ok);
    }

    pub(super) fn query_timed_out(&mut self, entry: Entry) {
        let id = entry.id;
        let request = *self.requests.get(id);
        self.trace_query(id, SpanEnd::TimedOut);
        self.log_request(id, LogKind::QueryTimeout);
        let service = &self.services[request.service as usize];
        let attempts = service.spec.pools[request.pool as usize].attempts;
        let limit = service.pool_rings[request.pool as usize].query;
        self.hosts[request.host as usize].counters.timed_out += 1;
        let cancelled = self.lets_cancel(&request);
        let kept = cancelled || request.query == OFF_CPU;
        if cancelled {
            self.cancel_query(&request, Planning::Later);
        } else if !kept {
            self.abandon_query(&request);
        }
        let again = u32::from(request.try_number) < attempts;
        let planning = if cancelled { Planning::Owed } else { Planning::Now };
        match (again, kept) {
            (true, true) => {
                self.requests.get_mut(id).try_number += 1;
                self.start_query(id, limit, planning);
            }
            (true, false) => self.acquire(id, request.pool, request.try_number + 1),
            (false, _) => {
                if kept {
                    self.requests.enter(id, Phase::Working, self.now);
                    self.release(request.service, request.instance, request.pool, request.host, planning);
                }
                self.fail(id);
            }
        }
    }

    /// Gives a request's query up. Says whether its connection can be used again; otherwise the pool has let go of it.
    pub(super) fn give_up_query(&mut self, request: &Request) -> bool {
        if request.query == OFF_CPU {
            return true;
        }
        let cancelled = self.lets_cancel(request);
        if cancelled {
            self.cancel_query(request, Planning::Now);
        } else {
            self.abandon_query(request);
        }
        cancelled
    }

    /// Whether a request's query is on a core of a database that stops it when it is told to.
    fn lets_cancel(&self, request: &Request) -> bool {
        let host = &self.hosts[request.host as usize];
        request.query != OFF_CPU && host.abandoned == Abandoned::Cancelled
    }

    /// Leaves a request's query to run to its end for nobody.
    fn abandon_query(&mut self, request: &Request) {
        self.hosts[request.host as usize].abandon(request.query);
        self.drop_place(request.service, request.instance, request.pool);
    }

    /// Takes a request's query off the CPU, if it is on it.
    pub(super) fn cancel_query(&mut self, request: &Request, planning: Planning) {
        if request.query != OFF_CPU {
            let host = request.host as usize;
            self.hosts[host].cancel(request.query, self.now);
            if planning == Planning::Now {
                self.replan(host);
            }
        }
    }

    /// A database stops answering: what runs on it is lost, connections break.
    pub(super) fn database_lost(&mut self, database: usize) {
        for host in &mut self.hosts[self.databases[database].hosts.clone()] {
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
            self.cancel_query(&request, Planning::Now);
            self.hosts[request.host as usize].connections -= 1;
            self.requests.enter(id, Phase::Working, self.now);
            self.drop_place(request.service, request.instance, request.pool);
            self.log_request(id, LogKind::DatabaseLost);
            self.fail(id);
        }
    }
}

/// The cost of a `Query` step; `None` when the request is at a `Read`.
#[inline(always)]
fn own_query<'a>(services: &'a [Service], request: &Request) -> Option<&'a QueryCost> {
    if !request.is(OWN_QUERY) {
        return None;
    }
    match services[request.service as usize].steps.get(request.step as usize) {
        Some(Planned::Query { cost, .. }) => Some(cost),
        _ => None,
    }
}
