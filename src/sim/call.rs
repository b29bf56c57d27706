//! Calls between services: attempts, the time each may take, and what becomes of the work that a caller has given up.
//!
//! An attempt is a record of its own on an instance of the called service. When its caller gives it up it goes on, for
//! nobody, unless the call cancels: that is how one slow dependency turns into several times the work.

use super::events::Entry;
use super::probe::{LogKind, SpanEnd, SpanKind, SpanRecord};
use super::request::{ORPHAN, Operation, Phase, Role};
use super::service::{Call, Planned};
use super::world::{Due, World};

impl World {
    /// The call that a request is at.
    fn call_of(&self, id: u32) -> Option<&Call> {
        let request = self.requests.get(id);
        match self.services[request.service as usize].steps.get(request.step as usize) {
            Some(Planned::Call(call)) => Some(call),
            _ => None,
        }
    }

    /// A request makes an attempt of the call that it is at.
    pub(super) fn call(&mut self, id: u32) {
        let now = self.now;
        let Some(call) = self.call_of(id) else { return };
        let (service, timeout, index) = (call.service, call.timeout, call.index);
        self.calls[index as usize].started += 1;
        let version = self.requests.enter(id, Phase::Calling, now);
        let parent = Entry { id, version };
        let request = self.requests.get(id);
        let operation = Operation { attempt: request.try_number, ..request.operation };
        let root = self.requests.link(id).map_or((id, operation.number), |l| l.root);
        self.requests.link_mut(id).child = u32::MAX;
        let it = &mut self.services[service as usize];
        it.counters.requests += 1;
        let instance = it.route();
        let full = |i: u16| it.spec.workers.is_some_and(|most| it.instances[i as usize].busy() >= most);
        let Some(instance) = instance.filter(|&i| !full(i)) else {
            it.counters.failures += 1;
            self.counters.requests_busy += u64::from(instance.is_some());
            return self.attempt_failed(id);
        };
        self.events.after(timeout, now, parent);
        let (child, _) = self.requests.place(None, operation, Role::Call, (service, instance), now);
        let span = if operation.traced { self.probe.begin_span(operation.number) } else { 0 };
        let parent_span = self.span_of(id);
        let link = self.requests.link_mut(child);
        (link.parent, link.root, link.child) = (parent, root, u32::MAX);
        (link.call, link.span, link.parent_span) = (index, span, parent_span);
        self.requests.link_mut(id).child = child;
        self.enter_instance(child);
        self.proceed(child);
    }

    /// A called service's answer arrives.
    pub(super) fn answered(&mut self, entry: Entry) {
        self.leave(entry.id, true);
        self.call_ended(entry.id, true);
    }

    /// An attempt has left its instance.
    pub(super) fn call_ended(&mut self, id: u32, served: bool) {
        let request = *self.requests.get(id);
        let Some(&link) = self.requests.link(id) else { return self.requests.release(id) };
        let orphan = request.is(ORPHAN);
        if request.operation.traced {
            let end_kind = match (orphan, served) {
                (true, _) => SpanEnd::Abandoned,
                (false, true) => SpanEnd::Ok,
                (false, false) => SpanEnd::Error,
            };
            self.trace_call(id, end_kind);
        }
        self.requests.release(id);
        if served {
            self.got_through(link.root, request.service);
        }
        let caller = link.parent.id;
        if orphan || !self.requests.is_meant(link.parent) {
            return;
        }
        if served { self.step_over(caller) } else { self.attempt_failed(caller) }
    }

    /// The span of an attempt, and of everything that it did.
    fn trace_call(&mut self, id: u32, end_kind: SpanEnd) {
        let request = *self.requests.get(id);
        let Some(&link) = self.requests.link(id) else { return };
        let kind = SpanKind::Call {
            call: u32::from(link.call),
            attempt: u32::from(request.operation.attempt),
            place: (request.service, request.instance),
        };
        let parent = link.parent_span;
        let span =
            SpanRecord { kind, number: link.span, parent, start: request.sent, end: self.now, end_kind };
        self.probe.end_span(request.operation.number, span);
    }

    /// An attempt has taken as long as it may.
    pub(super) fn call_timed_out(&mut self, entry: Entry) {
        let id = entry.id;
        let index = self.call_of(id).map_or(0, |c| c.index);
        self.calls[index as usize].timed_out += 1;
        self.log_request(id, LogKind::CallTimeout);
        self.abandon_call(id);
        self.attempt_failed(id);
    }

    /// A caller gives up the attempt that it waits for.
    pub(super) fn abandon_call(&mut self, id: u32) {
        let Some(child) = self.requests.link(id).map(|l| l.child).filter(|&c| c != u32::MAX) else { return };
        let cancels = self.call_of(id).is_some_and(|c| c.cancels);
        let attempt = self.requests.get_mut(child);
        let waits = |l: &super::request::Link| l.parent.id == id;
        if !attempt.phase.inside()
            || attempt.role != Role::Call
            || !self.requests.link(child).is_some_and(waits)
        {
            return;
        }
        let attempt = self.requests.get_mut(child);
        attempt.set(ORPHAN);
        self.requests.link_mut(id).child = u32::MAX;
        if cancels {
            self.withdraw(child);
            self.fail(child);
        }
    }

    /// An attempt has come to nothing: the next one, or watching for the request key, or the end.
    fn attempt_failed(&mut self, id: u32) {
        let now = self.now;
        let Some(call) = self.call_of(id) else { return self.fail(id) };
        let (attempts, pause, confirm) = (call.attempts, call.pause, call.confirm);
        let (backoff, jitter) = call.backoff;
        let request = self.requests.get_mut(id);
        if u32::from(request.try_number) < attempts {
            request.try_number += 1;
            let version = self.requests.enter(id, Phase::BetweenCalls, now);
            return match pause {
                Some(ring) => self.events.after(ring, now, Entry { id, version }),
                None if backoff.0 == 0 => self.call(id),
                None => {
                    let pause = super::client::jittered(backoff, jitter, &mut self.jitter_rng);
                    self.later(pause, Due::CallPause, Entry { id, version });
                }
            };
        }
        let Some((confirm, ring)) = confirm else { return self.fail(id) };
        let root = self.requests.link(id).map_or((id, 0), |l| l.root);
        if self.requests.link(root.0).is_some_and(|l| l.through & (1 << confirm.service) != 0) {
            return self.confirmed(id);
        }
        let version = self.requests.enter(id, Phase::Confirming, now);
        let entry = Entry { id, version };
        self.requests.link_mut(root.0).watcher = Some(entry);
        self.events.after(ring, now, entry);
    }

    /// The pause before the next attempt is over.
    pub(super) fn call_again(&mut self, entry: Entry) {
        self.call(entry.id);
    }

    /// The request key did not turn up in time.
    pub(super) fn not_confirmed(&mut self, entry: Entry) {
        self.trace(entry.id, SpanKind::Confirm, SpanEnd::TimedOut);
        self.fail(entry.id);
    }

    fn confirmed(&mut self, id: u32) {
        self.trace(id, SpanKind::Confirm, SpanEnd::Ok);
        self.step_over(id);
    }

    /// An attempt on behalf of a client's request has got through a service: who watches for that goes on.
    fn got_through(&mut self, (root, number): (u32, u64), service: u16) {
        if root == u32::MAX || self.requests.get(root).operation.number != number {
            return;
        }
        let link = self.requests.link_mut(root);
        link.through |= 1 << service;
        let Some(Entry { id, version }) = link.watcher else { return };
        let request = self.requests.get(id);
        if request.version != version || request.phase != Phase::Confirming {
            return;
        }
        if self.call_of(id).and_then(|c| c.confirm).is_some_and(|c| c.0.service == service as usize) {
            self.confirmed(id);
        }
    }
}
