//! Looking into a world that stands still: what each process is doing, what a cache holds for a key. Nothing changes, and
//! a run that nobody looks into pays nothing.

use super::cache::{Copied, Found};
use super::service::{Instance, InstanceState};
use super::world::World;

/// A key: a kind of read, by its place in the spec, and a key of that kind, the most popular one first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyOf {
    /// Kind of read.
    pub read: usize,
    /// Key within its kind.
    pub key: u32,
}

/// The value of a key as one place holds it. All spans in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// What a look-up would find there. A value past its soft time is stale; whether it is served then is the service's
    /// choice.
    pub found: Found,
    /// How old the value is, counted from its read of the source; `None` where ages are not kept, or nothing was ever there.
    pub true_age: Option<u64>,
    /// How old it is believed to be; `None` when nothing was ever there. Where ages are not kept it follows from the expiry.
    pub believed_age: Option<u64>,
    /// How long it is fresh, counted by its believed age; `None` when nothing was ever there.
    pub soft: Option<u64>,
    /// How long it is kept, counted by its believed age; `None` when nothing was ever there.
    pub hard: Option<u64>,
}

/// What a cache holds for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Whether the cache answers at all.
    pub reachable: bool,
    /// The value in its main store, reachable or not.
    pub held: Held,
}

/// What one process is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    /// Whether it takes requests.
    pub state: InstanceState,
    /// Requests in it: workers busy.
    pub busy: u32,
    /// Requests that it works on at the same time; `None` for no limit.
    pub workers: Option<u32>,
    /// Requests and refreshes that wait for a connection, in all its pools.
    pub waiting: u32,
    /// Connections in use, in all its pools.
    pub connections: u32,
    /// Connections that it may have, in all its pools.
    pub size: u32,
    /// Reads of the source that have started and not ended, for any key.
    pub source_reads: u32,
    /// A read of the source for the key that requests join, and how many have; `None` when none is under way. Only a process
    /// that coalesces has one.
    pub flight: Option<u32>,
    /// The key in its own copy; `None` without a copy, or when the key is not in it.
    pub copy: Option<Held>,
    /// It holds back its calls to the cache.
    pub breaker_open: bool,
}

impl World {
    /// What each process of a service is doing, by number; `key` says which local copies and joined reads are meant. Those
    /// that are gone are listed too. Nothing for a service that does not exist.
    pub fn processes(&self, service: usize, key: KeyOf) -> Vec<Process> {
        let Some(it) = self.services.get(service) else { return Vec::new() };
        let size = it.spec.pools.iter().map(|p| p.size).sum();
        let index = self.key_index(key);
        let process = |(i, instance): (usize, &Instance)| Process {
            state: instance.state,
            busy: instance.busy(),
            workers: it.spec.workers,
            waiting: it.pools_of(i).iter().map(|p| p.n_waiting).sum(),
            connections: it.pools_of(i).iter().map(|p| p.in_use()).sum(),
            size,
            source_reads: instance.origin.running,
            flight: index.and_then(|key| instance.flights.get(&key)).map(|f| f.joined.len() as u32),
            copy: match (&instance.local, index) {
                (Some(local), Some(index)) => local.peek(index).map(|entry| self.held(entry, true, key)),
                _ => None,
            },
            breaker_open: instance.breaker.is_open(it.spec.reading.breaker, self.now),
        };
        it.instances.iter().enumerate().map(process).collect()
    }

    /// What a cache holds for a key; `None` for a key that is never cached, and for a cache that does not exist.
    pub fn cache_entry(&self, cache: usize, key: KeyOf) -> Option<Entry> {
        let cache = self.caches.get(cache)?;
        let store = &cache.store;
        let entry = store.entry(self.key_index(key)?);
        Some(Entry { reachable: !cache.down, held: self.held(entry, store.knows_ages(), key) })
    }

    /// A key's place in the caches.
    fn key_index(&self, key: KeyOf) -> Option<u32> {
        let read = self.reads.get(key.read)?;
        let known = key.key < self.spec.reads[key.read].keys.len();
        read.cached.filter(|_| known).map(|(first, _)| first + key.key)
    }

    fn held(&self, entry: Copied, knows_ages: bool, key: KeyOf) -> Held {
        let found = entry.found(self.now);
        if entry.was_never() {
            return Held { found, true_age: None, believed_age: None, soft: None, hard: None };
        }
        if knows_ages {
            let (true_age, believed_age) = entry.ages(self.now);
            let (soft, hard) = entry.lives();
            return Held {
                found,
                true_age: Some(true_age),
                believed_age: Some(believed_age),
                soft: Some(soft),
                hard: Some(hard),
            };
        }
        let (soft, hard) = self.reads[key.read].lives();
        let believed_age = Some(entry.age_by_expiry(hard, self.now));
        Held { found, true_age: None, believed_age, soft: Some(soft), hard: Some(hard) }
    }
}
