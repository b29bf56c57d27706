//! The way of a request: balancer, instance, the steps of its service, answer; and of an operation: attempts until one
//! succeeds or none is left. What a step does is in [`super::read`], [`super::query`] and [`super::call`].

use super::cache::Found;
use super::events::Entry;
use super::probe::{LogKind, LogRecord, OperationEnd, SpanEnd, SpanKind, SpanRecord, TraceRecord};
use super::query::Planning;
use super::read::Look;
use super::request::{ORPHAN, OWN_QUERY, Operation, Phase, Role};
use super::service::Planned;
use super::world::{Control, Due, World};

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Ok,
    Error,
    /// Turned away at once; with the Retry-After in nanoseconds.
    Rejected(u64),
    ClientGone,
}

impl Answer {
    /// The status code in an access log.
    fn status(self) -> u32 {
        match self {
            Answer::Ok => 200,
            Answer::Error => 500,
            Answer::Rejected(_) => 503,
            Answer::ClientGone => 499,
        }
    }
}

/// The time that an instance takes to turn a request away.
const REFUSAL_NS: u64 = 1_000_000;

impl World {
    /// A user begins an operation.
    #[inline(always)]
    pub(super) fn arrive(&mut self, operation: Operation) {
        self.counters.requests_by_attempt[0] += 1;
        self.counters.events += 1;
        if operation.traced {
            self.open_trace(&operation);
        }
        if self.limited_clients {
            self.clients[operation.client as usize].earn();
        }
        self.send(operation, None);
    }

    /// A client sends a request; `record` is the operation's when it has one. Written once, and compiled once for first
    /// attempts and once for further ones.
    #[inline(always)]
    pub(super) fn send(&mut self, operation: Operation, record: Option<u32>) {
        let now = self.now;
        if !self.limit.admit(now) {
            let refusal = self.spec.balancer.reject_latency.0;
            return self.turn_away(operation, record, None, Answer::Rejected(0), (now, refusal));
        }
        let service = self.route();
        let it = &mut self.services[service as usize];
        let Some(instance) = it.route() else {
            let refusal = self.spec.balancer.reject_latency.0;
            return self.turn_away(operation, record, None, Answer::Error, (now, refusal));
        };
        let place = Some((service, instance));
        it.counters.requests += 1;
        if it.spec.workers.is_some_and(|most| it.instances[instance as usize].busy() >= most) {
            it.counters.failures += 1;
            self.counters.requests_busy += 1;
            let retry_after = self.retry_after(service);
            return self.turn_away(
                operation,
                record,
                place,
                Answer::Rejected(retry_after),
                (now, REFUSAL_NS),
            );
        }
        // A hit needs no record and no event. Most of them are of the plainest kind.
        let mut look = Look::NotYet;
        if it.only_reads {
            let kind = operation.read as usize;
            // The plain twin goes no short way, so it shows that there is nothing else to them.
            match self.reads[kind].cached {
                _ if self.events.is_plain() => {}
                Some((first, _)) => {
                    if let Some(store) = it.store_alone(&self.caches, instance)
                        && !operation.traced
                        && store.look(first + operation.key, now) == Found::Fresh
                    {
                        if store.knows_ages() {
                            let ages = store.entry(first + operation.key).ages(now);
                            self.peaks.served(operation.read, ages);
                        }
                        let took = it.handling.draw(&mut self.handling_rng);
                        if it.is_measured {
                            it.latency.record(took);
                        }
                        self.counters.kinds[kind].hits += 1;
                        return self.served(operation, record, None, (now, took));
                    }
                }
                None => {
                    if record.is_none()
                        && !(self.linked || self.limited_clients)
                        && self.try_asking_at_once(operation, (service, instance))
                    {
                        return;
                    }
                }
            }
            look = self.look_up(service, instance, &operation, u16::from(operation.attempt));
        }
        if let Look::Hit { extra } = look {
            let it = &mut self.services[service as usize];
            let took = extra + it.handling.draw(&mut self.handling_rng);
            if it.is_measured {
                it.latency.record(took);
            }
            return self.served(operation, record, place, (now, took));
        }
        self.begin(operation, record, (service, instance), look);
    }

    /// A request begins its time in the instance that has taken it.
    #[inline(always)]
    fn begin(&mut self, operation: Operation, record: Option<u32>, place: (u16, u16), look: Look) {
        let now = self.now;
        let (id, request) = self.requests.place(record, operation, Role::Client, place, now);
        let entry = Entry { id, version: request.attempt_version };
        let service = &mut self.services[place.0 as usize];
        service.take_in(request, now);
        if self.linked {
            let link = self.requests.link_mut(id);
            // What got through on behalf of an earlier attempt of the same operation counts.
            if link.root != (id, operation.number) {
                (link.root, link.through, link.watcher) = ((id, operation.number), 0, None);
            }
        }
        if self.limited_clients
            && let Some(ring) = self.clients[operation.client as usize].patience
        {
            self.events.after(ring, now, entry);
        }
        if let Some(ring) = service.deadline {
            self.events.after(ring, now, entry);
        }
        match look {
            Look::NotYet => self.proceed(id),
            look => self.looked(id, look),
        }
    }

    pub(super) fn retry_after(&self, service: u16) -> u64 {
        self.services[service as usize].spec.retry_after.map_or(0, |span| span.0)
    }

    /// A record that is not a client's begins its time in its instance.
    pub(super) fn enter_instance(&mut self, id: u32) {
        let request = self.requests.get_mut(id);
        let service = &mut self.services[request.service as usize];
        service.take_in(request, self.now);
        if let Some(ring) = service.deadline {
            self.events.after(ring, self.now, Entry { id, version: request.attempt_version });
        }
    }

    /// Does the steps of a request until one of them takes time.
    pub(super) fn proceed(&mut self, id: u32) {
        loop {
            let request = self.requests.get(id);
            let (service, instance, operation) = (request.service, request.instance, request.operation);
            let it = &self.services[service as usize];
            match it.steps.get(request.step as usize) {
                None => return self.done(id),
                Some(Planned::Work(takes)) => {
                    let mut takes = takes.draw(&mut self.own_work_rng);
                    if let Some((adds, _)) = &it.slowed {
                        takes += adds.draw(&mut self.own_work_rng);
                    }
                    let version = self.requests.enter(id, Phase::Working, self.now);
                    return self.later(takes, Due::Work, Entry { id, version });
                }
                Some(Planned::Read) => {
                    let version = request.version;
                    let look = self.look_up(service, instance, &operation, self.span_of(id));
                    // A refresh behind the answer may have cost the process its life.
                    if self.requests.get(id).version != version {
                        return;
                    }
                    match look {
                        Look::Hit { .. } => self.requests.get_mut(id).step += 1,
                        look => return self.looked(id, look),
                    }
                }
                Some(&Planned::Query { pool, .. }) => {
                    self.requests.get_mut(id).set(OWN_QUERY);
                    return self.acquire(id, pool, 1);
                }
                Some(Planned::Call(_)) => {
                    self.requests.get_mut(id).try_number = 1;
                    return self.call(id);
                }
            }
        }
    }

    /// A step of a request is over: the next one.
    #[inline(always)]
    pub(super) fn step_over(&mut self, id: u32) {
        let request = self.requests.get_mut(id);
        request.clear(OWN_QUERY);
        request.step += 1;
        if request.step as usize == self.services[request.service as usize].steps.len() {
            return self.done(id);
        }
        self.proceed(id);
    }

    /// Own work has taken its time.
    pub(super) fn worked(&mut self, entry: Entry) {
        self.trace(entry.id, SpanKind::Work, SpanEnd::Ok);
        self.step_over(entry.id);
    }

    /// All steps of a request are done.
    #[inline(always)]
    pub(super) fn done(&mut self, id: u32) {
        match self.requests.get(id).role {
            Role::Client => self.answer_client(id),
            Role::Call => self.answer_caller(id),
            Role::Refresh => self.refreshed(id),
        }
    }

    /// A client's request is done: it leaves its instance, and is answered.
    #[inline(always)]
    pub(super) fn answer_client(&mut self, id: u32) {
        let now = self.now;
        let (request, link) = self.requests.with_link(id);
        let service = &mut self.services[request.service as usize];
        let more = service.let_go(request, link, true, now);
        let orphan = request.is(ORPHAN);
        let took = now - request.sent;
        let took = if orphan { took } else { took + service.handling.draw(&mut self.handling_rng) };
        let (operation, sent) = (request.operation, request.sent);
        let place = (request.service, request.instance);
        self.left(id, more);
        if orphan {
            return self.requests.release(id);
        }
        self.served(operation, Some(id), Some(place), (sent, took));
    }

    /// A call's work is done: its answer is on the way.
    fn answer_caller(&mut self, id: u32) {
        let request = self.requests.get(id);
        let handling = &self.services[request.service as usize].handling;
        let takes = handling.draw(&mut self.handling_rng);
        let version = self.requests.enter(id, Phase::Answering, self.now);
        self.later(takes, Due::Answered, Entry { id, version });
    }

    /// A request leaves its instance.
    #[inline(always)]
    pub(super) fn leave(&mut self, id: u32, served: bool) {
        let (request, link) = self.requests.with_link(id);
        let more = self.services[request.service as usize].let_go(request, link, served, self.now);
        self.left(id, more);
    }

    /// A request has left its instance: its lock is given back, and the instance stops if that was all it waited for.
    #[inline(always)]
    fn left(&mut self, id: u32, (locked, drained): (bool, bool)) {
        if locked {
            self.give_lock_back(id);
        }
        if drained {
            let request = self.requests.get(id);
            let (service, instance) = (request.service, request.instance);
            let version = self.services[service as usize].instances[instance as usize].version;
            self.events.at(self.now, Control::DrainOver { service, instance, version });
        }
    }

    /// A request is turned away in its instance, or gets the static answer.
    pub(super) fn refuse(&mut self, id: u32) {
        let request = self.requests.get(id);
        if self.services[request.service as usize].spec.reading.static_answer && request.role != Role::Refresh
        {
            if request.role == Role::Client && !request.is(ORPHAN) {
                self.counters.operations_degraded += 1;
            }
            return self.done(id);
        }
        let retry_after = self.retry_after(request.service);
        self.end_badly(id, Answer::Rejected(retry_after));
    }

    /// A request has failed in its instance.
    pub(super) fn fail(&mut self, id: u32) {
        self.end_badly(id, Answer::Error);
    }

    fn end_badly(&mut self, id: u32, answer: Answer) {
        let now = self.now;
        let (request, link) = self.requests.with_link(id);
        let more = self.services[request.service as usize].let_go(request, link, false, now);
        let (role, orphan, operation) = (request.role, request.is(ORPHAN), request.operation);
        let (sent, place) = (request.sent, Some((request.service, request.instance)));
        self.left(id, more);
        match role {
            Role::Client if orphan => self.requests.release(id),
            Role::Client => {
                let took = now - sent;
                let took = if let Answer::Rejected(_) = answer { took.max(REFUSAL_NS) } else { took };
                self.answer(operation, Some(id), place, answer, (sent, took));
            }
            Role::Call => self.call_ended(id, answer == Answer::Ok),
            Role::Refresh => self.refresh_over(id, Some(answer)),
        }
    }

    pub(super) fn client_gone(&mut self, entry: Entry) {
        let request = *self.requests.get(entry.id);
        if request.is(ORPHAN) || !request.phase.inside() {
            return;
        }
        self.requests.get_mut(entry.id).set(ORPHAN);
        self.log_request(entry.id, LogKind::ClientGone);
        self.answer(
            request.operation,
            None,
            Some((request.service, request.instance)),
            Answer::ClientGone,
            (request.sent, self.now - request.sent),
        );
    }

    /// A request's deadline has come.
    pub(super) fn deadline_over(&mut self, entry: Entry) {
        let request = self.requests.get(entry.id);
        if !request.phase.inside() {
            return;
        }
        self.log_request(entry.id, LogKind::Deadline);
        self.withdraw(entry.id);
        self.fail(entry.id);
    }

    /// Gives up whatever a request is doing.
    pub(super) fn withdraw(&mut self, id: u32) {
        let request = *self.requests.get(id);
        let (service, instance) = (request.service, request.instance);
        match request.phase {
            Phase::Waiting => {
                self.services[service as usize].pool_mut(instance, request.pool).n_waiting -= 1;
                self.trace(id, SpanKind::PoolWait, SpanEnd::TimedOut);
            }
            Phase::Connecting => self.drop_place(service, instance, request.pool),
            Phase::Querying => {
                self.trace_query(id, SpanEnd::TimedOut);
                if self.give_up_query(&request) {
                    self.release(service, instance, request.pool, request.host, Planning::Now);
                }
            }
            Phase::Calling => self.abandon_call(id),
            _ => {}
        }
        // Void from here on, so that a connection handed on meanwhile cannot come back to it.
        self.requests.enter(id, Phase::Working, self.now);
    }

    /// A request has the answer that it wanted, `took` after it was `sent`: its operation ends.
    #[inline(always)]
    pub(super) fn served(
        &mut self,
        operation: Operation,
        record: Option<u32>,
        place: Option<(u16, u16)>,
        (sent, took): (u64, u64),
    ) {
        self.latency.record(took);
        self.probe.count(LogKind::Access);
        if operation.traced {
            self.trace_answer(&operation, place, Answer::Ok, (sent, took));
        }
        let ended = sent + took;
        let late = ended - operation.started > self.spec.late_after.0;
        let end = if late { OperationEnd::Late } else { OperationEnd::Served };
        self.end_operation(&operation, record, ended, end);
    }

    /// A request is turned away before it has begun.
    #[inline(never)]
    fn turn_away(
        &mut self,
        operation: Operation,
        record: Option<u32>,
        place: Option<(u16, u16)>,
        answer: Answer,
        times: (u64, u64),
    ) {
        self.answer(operation, record, place, answer, times);
    }

    /// A request has its answer `took` after it was `sent`; the operation ends or the client tries again, after a pause that begins
    /// now: one who is turned away has taken note of it when the word arrives.
    #[inline(always)]
    fn answer(
        &mut self,
        operation: Operation,
        record: Option<u32>,
        place: Option<(u16, u16)>,
        answer: Answer,
        (sent, took): (u64, u64),
    ) {
        let now = self.now;
        let counter = match answer {
            Answer::Ok => return self.served(operation, record, place, (sent, took)),
            Answer::Error => &mut self.counters.requests_errors,
            Answer::Rejected(_) => &mut self.counters.requests_rejected,
            Answer::ClientGone => &mut self.counters.requests_abandoned,
        };
        *counter += 1;
        self.latency.record(took);
        self.probe.count(LogKind::Access);
        if operation.traced {
            self.trace_answer(&operation, place, answer, (sent, took));
        }
        if let Answer::Rejected(_) = answer {
            let kind = LogKind::RateLimited;
            if self.probe.count(kind) {
                self.probe.keep(request_log(now, kind, &operation, place, 503, took));
            }
        }
        if self.tries_again(&operation) {
            let next = Operation { attempt: operation.attempt + 1, ..operation };
            let place = place.unwrap_or_default();
            let (id, request) = match record {
                Some(id) => (id, self.requests.get_mut(id)),
                None => self.requests.place(None, next, Role::Client, place, now),
            };
            request.operation = next;
            request.attempt_version = request.attempt_version.wrapping_add(1);
            let entry = Entry { id, version: request.enter(Phase::Pausing, now) };
            return self.pause(entry, &operation, answer);
        }
        let end = if let Answer::Rejected(_) = answer { OperationEnd::Shed } else { OperationEnd::Failed };
        self.end_operation(&operation, record, sent + took, end);
    }

    #[inline(always)]
    fn end_operation(&mut self, operation: &Operation, record: Option<u32>, ended: u64, end: OperationEnd) {
        let kind = &mut self.counters.kinds[operation.read as usize];
        match end {
            OperationEnd::Served => kind.served += 1,
            OperationEnd::Late => {
                kind.unserved += 1;
                self.counters.operations_late += 1;
            }
            OperationEnd::Failed => {
                kind.unserved += 1;
                self.counters.operations_failed += 1;
            }
            OperationEnd::Shed => {
                kind.unserved += 1;
                self.counters.operations_shed += 1;
            }
        }
        self.digest.add(operation.number << 8 ^ ended << 2 ^ end as u64);
        if operation.traced {
            self.probe.close(operation.number, ended, u32::from(operation.attempt), end);
        }
        if let Some(id) = record {
            self.requests.release(id);
        }
    }

    /// Something happens to a record after a time that is not the same for all.
    pub(super) fn later(&mut self, after: u64, what: Due, entry: Entry) {
        self.events.at(self.now + after, Control::Due { what, id: entry.id, version: entry.version });
    }

    // ------------------------------------------------------------------------------------------ logs and traces

    #[inline]
    pub(super) fn log_request(&mut self, id: u32, kind: LogKind) {
        if self.probe.count(kind) {
            self.keep_log(id, kind);
        }
    }

    #[cold]
    fn keep_log(&mut self, id: u32, kind: LogKind) {
        let (request, now) = (self.requests.get(id), self.now);
        let place = Some((request.service, request.instance));
        let service = &self.services[request.service as usize];
        let allowed = match service.steps.get(request.step as usize) {
            Some(Planned::Call(call)) => call.attempts,
            _ => service.spec.pools.get(request.pool as usize).map_or(1, |pool| pool.attempts),
        };
        self.probe.keep(LogRecord {
            allowed,
            host: u32::from(request.host),
            detail: u32::from(request.try_number),
            pool: u32::from(request.pool),
            step: u32::from(request.step),
            ..request_log(now, kind, &request.operation, place, 0, now - request.since)
        });
    }

    /// A span from the beginning of the request's phase until now.
    #[inline]
    pub(super) fn trace(&mut self, id: u32, kind: SpanKind, end_kind: SpanEnd) {
        let request = self.requests.get(id);
        if request.operation.traced && request.role != Role::Refresh {
            self.keep_span(id, kind, end_kind);
        }
    }

    #[cold]
    fn keep_span(&mut self, id: u32, kind: SpanKind, end_kind: SpanEnd) {
        let (request, parent) = (self.requests.get(id), self.span_of(id));
        let span = SpanRecord { kind, number: 0, parent, start: request.since, end: self.now, end_kind };
        self.probe.span(request.operation.number, span);
    }

    pub(super) fn trace_query(&mut self, id: u32, end_kind: SpanEnd) {
        let request = self.requests.get(id);
        let (service, step) = (u32::from(request.service), u32::from(request.step));
        let kind = SpanKind::Query {
            attempt: u32::from(request.try_number),
            service,
            step,
            host: u32::from(request.host),
        };
        self.trace(id, kind, end_kind);
    }

    /// Number of the span that a record is, in its operation's trace: client attempts come first.
    pub(super) fn span_of(&self, id: u32) -> u16 {
        let request = self.requests.get(id);
        match request.role {
            Role::Call => self.requests.link(id).map_or(0, |l| l.span),
            Role::Client | Role::Refresh => u16::from(request.operation.attempt),
        }
    }

    #[cold]
    fn open_trace(&mut self, operation: &Operation) {
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

    #[cold]
    fn trace_answer(
        &mut self,
        operation: &Operation,
        place: Option<(u16, u16)>,
        answer: Answer,
        (sent, took): (u64, u64),
    ) {
        let end_kind = match answer {
            Answer::Ok => SpanEnd::Ok,
            Answer::Error => SpanEnd::Error,
            Answer::Rejected(_) => SpanEnd::Rejected,
            Answer::ClientGone => SpanEnd::Abandoned,
        };
        let kind = SpanKind::Attempt { attempt: u32::from(operation.attempt), place };
        let number = u16::from(operation.attempt);
        let span = SpanRecord { kind, number, parent: 0, start: sent, end: sent + took, end_kind };
        self.probe.span(operation.number, span);
        self.probe.example(request_log(self.now, LogKind::Access, operation, place, answer.status(), took));
    }
}

fn request_log(
    at: u64,
    kind: LogKind,
    operation: &Operation,
    place: Option<(u16, u16)>,
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
        service: place.map_or(0, |p| u32::from(p.0)),
        ..LogRecord::new(at, kind, place.map_or(u32::MAX, |p| u32::from(p.1)))
    }
}
