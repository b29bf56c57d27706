//! How a service reads: its local copy, the cache, and behind them the source, with whatever keeps many requests from
//! asking the source for the same thing, or for too much.
//!
//! A request that the cache does not answer is *after the source*. It reads for itself, or joins a read that another
//! request of its process has begun (coalescing; Go calls it single-flight). A value past its soft time is served, and a
//! *refresh* reads the source behind the answer. Both kinds of reads pass the lock and the budget.

use super::cache::{Copied, Found, Times};
use super::events::Entry;
use super::flow::Answer;
use super::probe::{LogKind, SpanEnd, SpanKind, SpanRecord};
use super::request::{AFTER_SOURCE, BUDGETED, LOCKED, ORPHAN, Operation, Phase, Role};
use super::service::Flight;
use super::spec::{AgeFrom, WrittenBy};
use super::world::{Due, World};

/// What a look-up came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// An answer, `extra` nanoseconds later than usual.
    Hit {
        /// The way to another zone.
        extra: u64,
    },
    /// The source has to be asked.
    Miss,
    /// The cache is asked and does not answer.
    Unanswered,
    /// Nothing has been looked up.
    NotYet,
}

impl World {
    /// Looks an operation's key up in the local copy and in the cache. Starts a refresh when what it found is stale.
    /// `span` is the number of the span in whose time that happens.
    #[inline(always)]
    pub(super) fn look_up(&mut self, service: u16, instance: u16, operation: &Operation, span: u16) -> Look {
        let now = self.now;
        let read = operation.read as usize;
        let Some((first, _)) = self.reads[read].cached else { return Look::Miss };
        let it = &self.services[service as usize];
        let Some(cache) = it.spec.cache else { return Look::Miss };
        let key = first + operation.key;
        let look = match it.store_alone(&self.caches, instance) {
            None => self.look_in_copies(service, instance, cache, key, operation),
            Some(store) => match store.look(key, now) {
                Found::Missing => Look::Miss,
                Found::Stale if !it.spec.reading.serve_stale => Look::Miss,
                found => {
                    if store.knows_ages() {
                        self.peaks.served(operation.read, store.entry(key).ages(now));
                    }
                    if found == Found::Stale {
                        self.serve_stale(service, instance, operation);
                    }
                    Look::Hit { extra: 0 }
                }
            },
        };
        if operation.traced {
            self.trace_look(operation, cache, span, look);
        }
        let kind = &mut self.counters.kinds[read];
        match look {
            Look::Hit { .. } => kind.hits += 1,
            _ => kind.misses += 1,
        }
        look
    }

    #[cold]
    fn trace_look(&mut self, operation: &Operation, cache: usize, parent: u16, look: Look) {
        let end_kind = match look {
            Look::Hit { .. } => SpanEnd::Ok,
            _ => SpanEnd::Miss,
        };
        let (kind, start) = (SpanKind::CacheGet { cache: cache as u32 }, self.now);
        let span = SpanRecord { kind, number: 0, parent, start, end: start, end_kind };
        self.probe.span(operation.number, span);
    }

    /// A look-up where a local copy, an unreachable cache or a breaker that has seen failures is in play.
    fn look_in_copies(
        &mut self,
        service: u16,
        instance: u16,
        cache: usize,
        key: u32,
        operation: &Operation,
    ) -> Look {
        let now = self.now;
        let reading = self.services[service as usize].spec.reading;
        let it = &mut self.services[service as usize].instances[instance as usize];
        let local = it.local.as_mut().and_then(|l| l.get(key)).filter(|e| e.found(now) != Found::Missing);
        if let Some(entry) = local
            && entry.found(now) == Found::Fresh
        {
            self.counters.reads_local += 1;
            self.peaks.served(operation.read, entry.ages(now));
            return Look::Hit { extra: 0 };
        }
        // A stale copy may be served too, unless the cache has a value that is believed to be newer.
        let stale = local.filter(|_| reading.serve_stale);
        let down = self.caches[cache].down;
        let shared =
            Some(self.caches[cache].store.entry(key)).filter(|e| !down && e.found(now) != Found::Missing);
        if let Some(entry) = stale
            && shared.is_none_or(|s| entry.believed_as_new_as(s))
        {
            self.counters.reads_local += 1;
            self.peaks.served(operation.read, entry.ages(now));
            self.serve_stale(service, instance, operation);
            return Look::Hit { extra: 0 };
        }
        let breaker = &mut self.services[service as usize].instances[instance as usize].breaker;
        let asks = breaker.admits(reading.breaker, now);
        if down && asks && reading.cache_timeout.0 > 0 {
            return Look::Unanswered;
        }
        if down || !asks {
            return self.look_in_backup(service, instance, cache, key, operation);
        }
        breaker.worked();
        let Some(entry) = shared.filter(|e| reading.serve_stale || e.found(now) == Found::Fresh) else {
            return Look::Miss;
        };
        if entry.found(now) == Found::Stale {
            self.serve_stale(service, instance, operation);
        }
        self.copy(service, instance, key, entry, operation.read);
        self.peaks.served(operation.read, entry.ages(now));
        Look::Hit { extra: 0 }
    }

    /// The main store is out of reach: the replica or the gutter, if there is one.
    fn look_in_backup(
        &mut self,
        service: u16,
        instance: u16,
        cache: usize,
        key: u32,
        operation: &Operation,
    ) -> Look {
        let now = self.now;
        let serve_stale = self.services[service as usize].spec.reading.serve_stale;
        let Some((entry, extra)) = self.caches[cache].look_in_backup(key, now) else { return Look::Miss };
        match entry.found(now) {
            Found::Fresh => {}
            Found::Stale if serve_stale => self.serve_stale(service, instance, operation),
            Found::Stale | Found::Missing => return Look::Miss,
        }
        self.counters.reads_backup += 1;
        self.copy(service, instance, key, entry, operation.read);
        self.peaks.served(operation.read, entry.ages(now));
        Look::Hit { extra }
    }

    /// Keeps a value in the process's own copy, if it has one.
    fn copy(&mut self, service: u16, instance: u16, key: u32, entry: Copied, read: u8) {
        let it = &mut self.services[service as usize];
        let Some(spec) = it.spec.reading.local else { return };
        let (soft, hard) = self.reads[read as usize].lives();
        let entry = if spec.keep_stamps { entry } else { entry.renewed(self.now, soft, hard) };
        if let Some(local) = &mut it.instances[instance as usize].local {
            local.put(key, entry);
        }
    }

    /// A stale value is served: the source is read behind the answer.
    fn serve_stale(&mut self, service: u16, instance: u16, operation: &Operation) {
        self.counters.reads_stale += 1;
        let key = self.reads[operation.read as usize].key(operation.key);
        let coalesce = self.services[service as usize].spec.reading.coalesce;
        let it = &self.services[service as usize].instances[instance as usize];
        if coalesce && it.flights.contains_key(&key) {
            return;
        }
        self.refresh(service, instance, operation, None);
    }

    /// What a look-up that was no hit leads to.
    #[inline(always)]
    pub(super) fn looked(&mut self, id: u32, look: Look) {
        match look {
            Look::Unanswered => self.await_cache(id),
            _ => self.want_source(id),
        }
    }

    /// A request waits for a cache that does not answer.
    fn await_cache(&mut self, id: u32) {
        let request = self.requests.get(id);
        let service = &self.services[request.service as usize];
        let Some(ring) = service.cache_wait else { return self.want_source(id) };
        let reading = service.spec.reading;
        self.counters.cache_timeouts += u64::from(reading.cache_attempts);
        let version = self.requests.enter(id, Phase::AskingCache, self.now);
        let entry = Entry { id, version };
        if reading.cache_backoff.0 == 0 {
            return self.events.after(ring, self.now, entry);
        }
        let mut wait = reading.cache_timeout.0 * u64::from(reading.cache_attempts);
        for _ in 1..reading.cache_attempts {
            let most = u128::from(reading.cache_backoff.0);
            wait += ((most * u128::from(self.jitter_rng.draw())) >> 64) as u64;
        }
        self.later(wait, Due::Cache, entry);
    }

    /// An unreachable cache has not answered within its time.
    pub(super) fn cache_unanswered(&mut self, entry: Entry) {
        let id = entry.id;
        let request = *self.requests.get(id);
        let cache = self.services[request.service as usize].spec.cache.unwrap_or(0) as u32;
        self.trace(id, SpanKind::CacheGet { cache }, SpanEnd::TimedOut);
        self.log_request(id, LogKind::CacheTimeout);
        let (service, instance, operation) = (request.service, request.instance, request.operation);
        let it = &mut self.services[service as usize];
        let spec = it.spec.reading.breaker;
        if it.instances[instance as usize].breaker.failed(spec, self.now) {
            self.log_at(LogKind::BreakerOpened, service, u32::from(instance));
        }
        let Some(cache) = self.services[service as usize].spec.cache else { return self.want_source(id) };
        let key = self.reads[operation.read as usize].key(operation.key);
        match self.look_in_backup(service, instance, cache, key, &operation) {
            Look::Hit { .. } => {
                let kind = &mut self.counters.kinds[operation.read as usize];
                (kind.hits, kind.misses) = (kind.hits + 1, kind.misses - 1);
                self.step_over(id);
            }
            _ => self.want_source(id),
        }
    }

    /// A request is after the source.
    #[inline(always)]
    fn want_source(&mut self, id: u32) {
        let request = self.requests.get_mut(id);
        let kind = &self.reads[request.operation.read as usize];
        let pool = kind.pool;
        let Some((first, _)) = kind.cached else {
            return self.acquire(id, pool, 1);
        };
        let request = *request;
        let operation = request.operation;
        self.counters.origin_wanted += 1;
        self.requests.get_mut(id).set(AFTER_SOURCE);
        let key = first + operation.key;
        let service = &mut self.services[request.service as usize];
        service.origin_in_flight += 1;
        if !service.only_reads {
            self.requests.link_mut(id).wanted_at = self.now;
        }
        if !service.spec.reading.coalesce {
            return self.read_source(id);
        }
        let version = self.requests.enter(id, Phase::Joined, self.now);
        let entry = Entry { id, version };
        let it = &mut service.instances[request.instance as usize];
        if let Some(flight) = it.flights.get_mut(&key) {
            flight.joined.push(entry);
            self.counters.reads_joined += 1;
        } else {
            self.refresh(request.service, request.instance, &operation, Some(entry));
        }
    }

    /// Begins a read of the source that belongs to no single request.
    fn refresh(&mut self, service: u16, instance: u16, operation: &Operation, joined: Option<Entry>) {
        let operation = Operation { traced: false, ..*operation };
        let place = (service, instance);
        let (id, request) = self.requests.place(None, operation, Role::Refresh, place, self.now);
        request.set(AFTER_SOURCE);
        self.counters.refreshes += 1;
        let it = &mut self.services[service as usize];
        it.origin_in_flight += 1;
        if it.spec.reading.coalesce {
            let key = self.reads[operation.read as usize].key(operation.key);
            let flight = Flight { record: id, joined: joined.into_iter().collect() };
            it.instances[instance as usize].flights.insert(key, flight);
        }
        self.enter_instance(id);
        self.read_source(id);
    }

    /// Reads the source: past the lock of the key and the budget, to the pool.
    #[inline(always)]
    fn read_source(&mut self, id: u32) {
        let request = self.requests.get(id);
        let now = self.now;
        let service = &self.services[request.service as usize];
        let loses_lock_holder = service.loses_lock_holder;
        let (lock, cache) = (service.spec.reading.lock, service.spec.cache);
        if let (Some(lock), Some(cache)) = (lock, cache)
            && !self.caches[cache].down
        {
            let key = self.reads[request.operation.read as usize].key(request.operation.key);
            let holder = (request.service, request.instance);
            if !self.caches[cache].lock(key, holder, now, lock.ttl.0) {
                self.counters.lock_waits += 1;
                let version = self.requests.enter(id, Phase::LockedOut, now);
                let (low, high) = (lock.wait.0.0, lock.wait.1.0);
                let wide = u128::from(high.saturating_sub(low)) * u128::from(self.jitter_rng.draw());
                return self.later(low + (wide >> 64) as u64, Due::Lock, Entry { id, version });
            }
            self.requests.get_mut(id).set(LOCKED);
            if loses_lock_holder {
                return self.lose_lock_holder(holder.0, holder.1);
            }
        }
        self.start_source(id);
    }

    /// Who found the key locked looks again: whatever the cache has now is good enough; else it reads the source itself.
    pub(super) fn look_again(&mut self, entry: Entry) {
        let id = entry.id;
        let request = *self.requests.get(id);
        let cache = self.services[request.service as usize].spec.cache;
        let key = self.reads[request.operation.read as usize].key(request.operation.key);
        let there =
            cache.map(|c| self.caches[c].store.entry(key)).filter(|e| e.found(self.now) != Found::Missing);
        match (there, request.role) {
            (None, _) => self.start_source(id),
            (Some(_), Role::Refresh) => self.refreshed(id),
            (Some(entry), _) => {
                self.copy(request.service, request.instance, key, entry, request.operation.read);
                self.source_answered(id);
            }
        }
    }

    fn start_source(&mut self, id: u32) {
        let request = self.requests.get_mut(id);
        let pool = self.reads[request.operation.read as usize].pool;
        let it = &mut self.services[request.service as usize].instances[request.instance as usize];
        if !it.origin.start(self.now) {
            self.counters.origin_refused += 1;
            self.log_request(id, LogKind::BudgetEmpty);
            return self.refuse(id);
        }
        self.counters.origin_started += 1;
        request.set(BUDGETED);
        self.acquire(id, pool, 1);
    }

    /// A query for the value of a key has succeeded: the value is written where it belongs.
    pub(super) fn keep(&mut self, id: u32, first: u32) {
        let request = *self.requests.get(id);
        let operation = request.operation;
        let service = &self.services[request.service as usize].spec;
        let (reading, cache) = (service.reading, service.cache);
        if request.is(ORPHAN) && reading.written_by == WrittenBy::Request {
            return;
        }
        let key = first + operation.key;
        let (soft, hard) = self.reads[operation.read as usize].lives();
        let (soft, hard) = self.jittered(operation.read, soft, hard);
        // The database answers with what was true when the query began.
        let read_at = request.since as i64;
        let believed_at = match reading.age_from {
            AgeFrom::QueryStart => read_at,
            AgeFrom::Result => self.now as i64,
        };
        let times = Times { read_at, believed_at, soft, hard };
        if let Some(cache) = cache
            && self.caches[cache].fill(key, times)
        {
            self.counters.cache_fills += 1;
        }
        if reading.local.is_some() {
            let it = &mut self.services[request.service as usize].instances[request.instance as usize];
            if let Some(local) = &mut it.local {
                local.put(key, Copied::of(times));
            }
        }
    }

    /// Varies the lives of a value.
    #[inline]
    fn jittered(&mut self, read: u8, soft: u64, hard: u64) -> (u64, u64) {
        let jitter = self.reads[read as usize].jitter;
        if jitter == 0.0 {
            return (soft, hard);
        }
        let draw = (self.jitter_rng.draw() >> 11) as f64 / (1u64 << 53) as f64;
        let factor = 1.0 + jitter * (2.0 * draw - 1.0);
        ((soft as f64 * factor) as u64, (hard as f64 * factor) as u64)
    }

    /// A request has what it wanted from the source.
    #[inline(always)]
    pub(super) fn source_answered(&mut self, id: u32) {
        let (request, link) = self.requests.with_link(id);
        let service = &mut self.services[request.service as usize];
        request.step += 1;
        let last = request.step as usize == service.steps.len();
        if last && request.role == Role::Client {
            // It leaves the source with its instance.
            return self.answer_client(id);
        }
        service.off_the_source(request, link, self.now);
        if request.clear(BUDGETED) {
            service.instances[request.instance as usize].origin.running -= 1;
        }
        if last { self.done(id) } else { self.proceed(id) }
    }

    /// A record gives back the lock of its key.
    pub(super) fn give_lock_back(&mut self, id: u32) {
        let request = self.requests.get(id);
        if let Some(cache) = self.services[request.service as usize].spec.cache {
            let key = self.reads[request.operation.read as usize].key(request.operation.key);
            self.caches[cache].unlock(key, (request.service, request.instance));
        }
    }

    /// A refresh has what it wanted.
    pub(super) fn refreshed(&mut self, id: u32) {
        self.leave(id, true);
        self.refresh_over(id, None);
    }

    /// A refresh has left its instance: those who joined it hear how it ended.
    pub(super) fn refresh_over(&mut self, id: u32, failed: Option<Answer>) {
        self.counters.refreshes_failed += u64::from(failed.is_some());
        let joined = self.take_joined(id);
        self.requests.release(id);
        for entry in joined {
            if !self.requests.is_meant(entry) {
                continue;
            }
            let id = entry.id;
            match failed {
                None => self.source_answered(id),
                Some(Answer::Rejected(_)) => self.refuse(id),
                Some(_) => self.fail(id),
            }
        }
    }

    /// Those who joined a refresh, in order.
    fn take_joined(&mut self, id: u32) -> Vec<Entry> {
        let request = self.requests.get(id);
        let key = self.reads[request.operation.read as usize].key(request.operation.key);
        let it = &mut self.services[request.service as usize].instances[request.instance as usize];
        match it.flights.get(&key) {
            Some(flight) if flight.record == id => {
                it.flights.remove(&key).map_or_else(Vec::new, |f| f.joined)
            }
            _ => Vec::new(),
        }
    }
}
