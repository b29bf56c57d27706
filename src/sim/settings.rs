//! Settings that change while the system runs: what an operator sets, when it is in force, and what it does.

use super::intervention::Knob;
use super::protect::Breaker;
use super::service::Planned;
use super::spec::{BreakerSpec, LocalSpec, LockSpec};
use super::world::{Control, RingUse, World};
use crate::units::SimSpan;

/// What a lock or a breaker is like that a system has not described.
const LOCK_WAIT: (SimSpan, SimSpan) = (SimSpan::from_millis(50), SimSpan::from_millis(200));
const BREAKER_OPEN: SimSpan = SimSpan::from_secs(5);

fn span(value: f64) -> SimSpan {
    SimSpan((value.max(0.0) * 1e9) as u64)
}

fn count(value: f64) -> u32 {
    value as u32
}

impl World {
    /// How long a change of a setting takes to be in force, nanoseconds.
    fn takes(&self, knob: Knob) -> u64 {
        match knob {
            Knob::ClientTimeout(c) | Knob::ClientBackoff(c) | Knob::RetryBudget(c) | Knob::RetryAfter(c) => {
                self.clients[c].reach_ns()
            }
            Knob::Route(_) => self.spec.balancer.apply_after.0,
            Knob::Workers(s)
            | Knob::Deadline(s)
            | Knob::ServeStale(s)
            | Knob::Coalesce(s)
            | Knob::Lock(s)
            | Knob::OriginRate(s)
            | Knob::OriginAtOnce(s)
            | Knob::LocalEntries(s)
            | Knob::KeepStamps(s)
            | Knob::Breaker(s)
            | Knob::CacheTimeout(s)
            | Knob::CacheAttempts(s)
            | Knob::StaticAnswer(s)
            | Knob::CallTimeout(s, _)
            | Knob::CallAttempts(s, _)
            | Knob::CallCancels(s, _) => self.services[s].spec.config_after.0,
            Knob::Ttl(_) | Knob::SoftTtl(_) | Knob::TtlJitter(_) => 0,
            Knob::Cores(d) | Knob::Connections(d) => self.spec.databases[d].resize_after.0,
        }
    }

    /// Somebody changes a setting.
    pub(super) fn set_later(&mut self, knob: Knob, value: Option<f64>) {
        let value_bits = value.map(f64::to_bits);
        match self.takes(knob) {
            0 => self.set(knob, value),
            takes => self.events.at(self.now + takes, Control::Set { knob, value_bits }),
        }
    }

    /// A setting is in force.
    pub(super) fn set(&mut self, knob: Knob, value: Option<f64>) {
        let now = self.now;
        let on = value.is_some_and(|v| v > 0.0);
        let number = value.unwrap_or(0.0);
        match knob {
            Knob::ClientTimeout(c) => {
                let ring = value.map(|v| self.ring(span(v), RingUse::Patience));
                self.clients[c].patience = ring;
                self.limited_clients = true;
            }
            Knob::ClientBackoff(c) => {
                let first = span(number);
                self.clients[c].backoff.first = first;
                let cap = self.clients[c].backoff.cap;
                self.clients[c].backoff.cap = cap.max(first);
                if self.clients[c].pause.is_some() {
                    self.clients[c].pause = Some(self.ring(first, RingUse::Retry));
                }
            }
            Knob::RetryBudget(c) => {
                self.clients[c].set_budget(value);
                self.limited_clients = true;
            }
            Knob::RetryAfter(c) => self.clients[c].honours_retry_after = on,
            Knob::Route(s) => self.set_route(s as u16, number.clamp(0.0, 1.0)),
            Knob::Workers(s) => self.services[s].spec.workers = value.map(|v| count(v).max(1)),
            Knob::Deadline(s) => {
                self.services[s].deadline = value.map(|v| self.ring(span(v), RingUse::Deadline));
                self.services[s].spec.deadline = value.map(span);
            }
            Knob::ServeStale(s) => self.services[s].spec.reading.serve_stale = on,
            Knob::Coalesce(s) => self.services[s].spec.reading.coalesce = on,
            Knob::Lock(s) => {
                let wait = self.services[s].spec.reading.lock.map_or(LOCK_WAIT, |l| l.wait);
                self.services[s].spec.reading.lock = value.map(|v| LockSpec { ttl: span(v), wait });
            }
            Knob::OriginRate(s) => {
                self.services[s].spec.reading.origin.per_s = value;
                self.services[s].share_origin(now);
            }
            Knob::OriginAtOnce(s) => {
                self.services[s].spec.reading.origin.at_once = value.map(count);
                self.services[s].share_origin(now);
            }
            Knob::LocalEntries(s) => {
                let keep_stamps = self.services[s].spec.reading.local.is_none_or(|l| l.keep_stamps);
                let entries = value.map(count).filter(|&n| n > 0);
                self.services[s].spec.reading.local =
                    entries.map(|entries| LocalSpec { entries, keep_stamps });
                self.keep_ages();
                self.services[s].renew_local();
            }
            Knob::KeepStamps(s) => {
                if let Some(local) = &mut self.services[s].spec.reading.local {
                    local.keep_stamps = on;
                }
            }
            Knob::Breaker(s) => {
                let open = self.services[s].spec.reading.breaker.map_or(BREAKER_OPEN, |b| b.open);
                let breaker = value.map(|v| BreakerSpec { failures: count(v).max(1), open });
                let it = &mut self.services[s];
                it.spec.reading.breaker = breaker;
                if breaker.is_none() {
                    it.instances.iter_mut().for_each(|i| i.breaker = Breaker::default());
                }
            }
            Knob::CacheTimeout(s) => {
                self.services[s].spec.reading.cache_timeout = span(number);
                self.time_cache_waits(s);
            }
            Knob::CacheAttempts(s) => {
                self.services[s].spec.reading.cache_attempts = count(number).max(1);
                self.time_cache_waits(s);
            }
            Knob::StaticAnswer(s) => self.services[s].spec.reading.static_answer = on,
            Knob::CallTimeout(s, step) => {
                let ring = self.ring(span(number), RingUse::Call);
                self.with_call(s, step, |call| call.timeout = ring);
            }
            Knob::CallAttempts(s, step) => {
                self.with_call(s, step, |call| call.attempts = count(number).max(1));
            }
            Knob::CallCancels(s, step) => self.with_call(s, step, |call| call.cancels = on),
            Knob::Ttl(r) => {
                if let Some((_, ttl)) = &mut self.reads[r].cached {
                    *ttl = span(number).0;
                }
            }
            Knob::SoftTtl(r) => {
                self.reads[r].soft = value.map(|v| span(v).0);
                self.keep_ages();
            }
            Knob::TtlJitter(r) => self.reads[r].jitter = number.clamp(0.0, 1.0),
            Knob::Cores(d) => {
                for host in self.databases[d].hosts.clone() {
                    self.hosts[host].resize(number.max(0.01), now);
                    self.replan(host);
                }
            }
            Knob::Connections(d) => {
                for host in &mut self.hosts[self.databases[d].hosts.clone()] {
                    host.connection_limit = count(number);
                }
            }
        }
    }

    fn with_call(&mut self, service: usize, step: usize, change: impl FnOnce(&mut super::service::Call)) {
        if let Some(Planned::Call(call)) = self.services[service].steps.get_mut(step) {
            change(call);
        }
    }

    /// How long a request waits for an unreachable cache: all its calls one after the other.
    pub(super) fn time_cache_waits(&mut self, service: usize) {
        let reading = self.services[service].spec.reading;
        let wait = SimSpan(reading.cache_timeout.0.saturating_mul(u64::from(reading.cache_attempts)));
        self.services[service].cache_wait = (wait.0 > 0).then(|| self.ring(wait, RingUse::Cache));
    }

    /// Sends a share of the requests to a service; the others share the rest as before.
    fn set_route(&mut self, service: u16, share: f64) {
        let routes = &mut self.spec.balancer.routes;
        if !routes.iter().any(|r| r.0 == usize::from(service)) {
            routes.push((usize::from(service), 0.0));
        }
        let others: f64 = routes.iter().filter(|r| r.0 != usize::from(service)).map(|r| r.1).sum();
        let equal = 1.0 / (routes.len() - 1).max(1) as f64;
        for (to, part) in routes.iter_mut() {
            *part = match *to == usize::from(service) {
                true => share,
                false if others > 0.0 => *part / others * (1.0 - share),
                false => equal * (1.0 - share),
            };
        }
        self.list_routes();
    }

    /// Values begin to carry their age, where they did not so far. What happens stays the same.
    pub fn keep_ages(&mut self) {
        for cache in &mut self.caches {
            if cache.store.knows_ages() {
                continue;
            }
            for (read, spec) in self.reads.iter().zip(&self.spec.reads) {
                if let Some((first, ttl)) = read.cached {
                    cache.store.keep_ages(first..first + spec.keys.len(), ttl);
                }
            }
        }
    }
}
