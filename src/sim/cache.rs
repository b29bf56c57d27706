//! A cache cluster, seen as one place: when each key's value expires, and how old it is.
//!
//! A key costs four bytes where only expiry is kept; where soft times, ages or copies matter, twelve more. Expiry needs no
//! events: it is compared when the key is asked for. Locks (leases there) and the gutter are those
//! of Nishtala and others (2013).

use std::collections::BTreeMap;

use super::math::scale_to;
use super::prefetch::prefetch;
use super::rng::Stream;
use super::spec::Backup;

/// Instants are kept in ticks of 2²⁰ ns, about a millisecond.
pub const TICK_BITS: u32 = 20;

fn tick(ns: u64) -> u32 {
    (ns >> TICK_BITS) as u32
}

/// Nanoseconds between two instants of which the earlier may lie before the start.
fn between(from_tick: i32, now: u64) -> u64 {
    ((i64::from(tick(now)) - i64::from(from_tick)).max(0) as u64) << TICK_BITS
}

/// What a look-up finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// A value that may be served.
    Fresh,
    /// A value past its soft time, but not past its hard one.
    Stale,
    /// Nothing that may be served.
    Missing,
}

/// The times of a value, in nanoseconds since the start; a negative instant lies before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// When it was read from the source.
    pub read_at: i64,
    /// When the cache believes that it was.
    pub believed_at: i64,
    /// How long it is fresh, from `believed_at` on.
    pub soft: u64,
    /// How long it may be served, from `believed_at` on.
    pub hard: u64,
}

/// What is kept beside the expiry where ages matter, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stamp {
    fresh_until: u32,
    read_at: i32,
    believed_at: i32,
}

/// An entry as it is copied from one cache to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Copied {
    pub(super) expires: u32,
    pub(super) stamp: Stamp,
}

impl Copied {
    pub(super) fn of(times: Times) -> Copied {
        let after =
            |span: u64| ((times.believed_at.max(0) as u64).saturating_add(span) >> TICK_BITS).max(1) as u32;
        // A value read before the start has part of its time behind it.
        let behind = (-times.believed_at).max(0) as u64;
        Copied {
            expires: if behind >= times.hard { 0 } else { after(times.hard - behind) },
            stamp: Stamp {
                fresh_until: if behind >= times.soft { 0 } else { after(times.soft - behind) },
                read_at: (times.read_at >> TICK_BITS) as i32,
                believed_at: (times.believed_at >> TICK_BITS) as i32,
            },
        }
    }

    pub(super) fn found(self, now: u64) -> Found {
        let now = tick(now);
        if self.expires <= now {
            Found::Missing
        } else if self.stamp.fresh_until <= now {
            Found::Stale
        } else {
            Found::Fresh
        }
    }

    /// True age and believed age, nanoseconds.
    pub(super) fn ages(self, now: u64) -> (u64, u64) {
        (between(self.stamp.read_at, now), between(self.stamp.believed_at, now))
    }

    /// Whether no value was ever written, or it was wiped out.
    pub(super) fn was_never(self) -> bool {
        self.expires == 0
    }

    /// How long it is fresh and how long it is kept, counted from when it is believed to have been read, nanoseconds.
    pub(super) fn lives(self) -> (u64, u64) {
        let life =
            |end: u32| ((i64::from(end) - i64::from(self.stamp.believed_at)).max(0) as u64) << TICK_BITS;
        (life(self.stamp.fresh_until), life(self.expires))
    }

    /// Its age where nothing but the expiry is kept: what it has used up of `hard` nanoseconds.
    pub(super) fn age_by_expiry(self, hard: u64, now: u64) -> u64 {
        let read_at = i64::from(self.expires) - i64::from(tick(hard));
        ((i64::from(tick(now)) - read_at).max(0) as u64) << TICK_BITS
    }

    /// Whether it is believed to have been read at least as late as another.
    pub(super) fn believed_as_new_as(self, other: Copied) -> bool {
        self.stamp.believed_at >= other.stamp.believed_at
    }

    /// The same value, taken for one that has just been read.
    pub(super) fn renewed(self, now: u64, soft: u64, hard: u64) -> Copied {
        let times = Times { read_at: 0, believed_at: now as i64, soft, hard };
        let read_at = self.stamp.read_at;
        let renewed = Copied::of(times);
        Copied { stamp: Stamp { read_at, ..renewed.stamp }, ..renewed }
    }
}

/// The values of all keys; a key is an index.
#[derive(Clone, Debug)]
pub struct Store {
    expires: Vec<u32>,
    stamps: Option<Vec<Stamp>>,
}

impl Store {
    /// An empty store for so many keys; with `stamps` it knows how old its values are.
    pub fn new(keys: usize, stamps: bool) -> Store {
        Store { expires: vec![0; keys], stamps: stamps.then(|| vec![Stamp::default(); keys]) }
    }

    /// What is there for a key.
    #[inline(always)]
    pub fn look(&self, key: u32, now: u64) -> Found {
        let now = tick(now);
        if self.expires[key as usize] <= now {
            return Found::Missing;
        }
        match &self.stamps {
            Some(stamps) if stamps[key as usize].fresh_until <= now => Found::Stale,
            _ => Found::Fresh,
        }
    }

    /// Hints that a key will be looked up soon.
    #[inline]
    pub(super) fn prefetch(&self, key: u32) {
        prefetch(&self.expires, key as usize);
        if let Some(stamps) = &self.stamps {
            prefetch(stamps, key as usize);
        }
    }

    /// Writes a value.
    #[inline]
    pub fn fill(&mut self, key: u32, times: Times) {
        self.put(key, Copied::of(times));
    }

    #[inline]
    pub(super) fn put(&mut self, key: u32, entry: Copied) {
        self.expires[key as usize] = entry.expires;
        if let Some(stamps) = &mut self.stamps {
            stamps[key as usize] = entry.stamp;
        }
    }

    /// An entry with its times; without stamps its age is not known, and counts as none.
    #[inline]
    pub(super) fn entry(&self, key: u32) -> Copied {
        let expires = self.expires[key as usize];
        let unknown = Stamp { fresh_until: u32::MAX, ..Stamp::default() };
        Copied { expires, stamp: self.stamps.as_ref().map_or(unknown, |s| s[key as usize]) }
    }

    /// Whether ages are kept.
    #[inline]
    pub(super) fn knows_ages(&self) -> bool {
        self.stamps.is_some()
    }

    /// Begins to keep ages for a range of keys whose values live for `hard` nanoseconds.
    pub(super) fn keep_ages(&mut self, keys: std::ops::Range<u32>, hard: u64) {
        let n = self.expires.len();
        let stamps = self.stamps.get_or_insert_with(|| vec![Stamp::default(); n]);
        for key in keys {
            let expires = self.expires[key as usize];
            let read_at = expires as i32 - tick(hard) as i32;
            stamps[key as usize] = Stamp { fresh_until: expires, read_at, believed_at: read_at };
        }
    }

    /// Forgets everything.
    pub fn flush(&mut self) {
        self.expires.fill(0);
    }

    /// Forgets all but a random share.
    pub fn keep_share(&mut self, share: f64, rng: &mut Stream) {
        let threshold = (share.clamp(0.0, 1.0) * 4_294_967_295.0) as u64;
        for expiry in &mut self.expires {
            if rng.draw() >> 32 >= threshold {
                *expiry = 0;
            }
        }
    }

    /// Fills the keys from `first` on, asked for so many times a second each, as a healthy system would have them at the
    /// start: a key asked for λ times a second and kept fresh for T is there with probability λT/(1+λT), and then has a
    /// uniform part of T left (Jung, Berger and Balakrishnan 2003).
    pub(super) fn warm_up(
        &mut self,
        first: u32,
        rates: impl Iterator<Item = f64>,
        (soft, hard): (u64, u64),
        warm: f64,
        rng: &mut Stream,
    ) {
        for (key, rate) in (first..).zip(rates) {
            let load = rate * soft as f64 / 1e9;
            let present = warm * load / (1.0 + load);
            let r = rng.draw();
            if ((r >> 32) as f64) < present * 4_294_967_296.0 {
                let left = scale_to(r & 0xffff_ffff, tick(soft).max(1)).max(1);
                let read_at = left as i32 - tick(soft) as i32;
                let stamp = Stamp { fresh_until: left, read_at, believed_at: read_at };
                self.put(key, Copied { expires: left + tick(hard - soft), stamp });
            }
        }
    }
}

/// What a cache is while its main store is out of reach.
#[derive(Clone, Debug)]
pub(super) struct BackupStore {
    pub(super) spec: Backup,
    pub(super) store: Store,
}

/// A cache cluster.
#[derive(Clone, Debug)]
pub struct Cache {
    /// Its values.
    pub store: Store,
    pub(super) backup: Option<BackupStore>,
    /// Unreachable: calls to it fail, writes are lost.
    pub down: bool,
    /// When it last became unreachable, nanoseconds since the start.
    pub(super) down_since: u64,
    /// Share of the entries that the node which takes over will have.
    pub survivors: f64,
    /// Locks by key: the holder (service, instance) and when the lock is free by itself.
    pub(super) locks: BTreeMap<u32, ((u16, u16), u64)>,
}

impl Cache {
    /// A cache with an empty store for so many keys.
    pub(super) fn new(keys: usize, stamps: bool, backup: Option<Backup>) -> Cache {
        let backup = backup.map(|spec| BackupStore { spec, store: Store::new(keys, true) });
        let store = Store::new(keys, stamps);
        Cache { store, backup, down: false, down_since: 0, survivors: 0.0, locks: BTreeMap::new() }
    }

    /// Writes a value to wherever a value can be written now. Returns whether it was kept.
    pub(super) fn fill(&mut self, key: u32, times: Times) -> bool {
        let entry = Copied::of(times);
        if let Some(backup) = &mut self.backup {
            match backup.spec {
                Backup::Replica { .. } => backup.store.put(key, entry),
                Backup::Gutter { ttl, .. } if self.down => {
                    let hard = times.hard.min(ttl.0);
                    backup.store.put(key, Copied::of(Times { hard, soft: times.soft.min(hard), ..times }));
                }
                Backup::Gutter { .. } => {}
            }
        }
        if !self.down {
            self.store.put(key, entry);
        }
        !self.down || self.backup.is_some()
    }

    /// A replica has had time to receive everything.
    pub(super) fn copy_to_replica(&mut self) {
        if let Some(BackupStore { spec: Backup::Replica { .. }, store }) = &mut self.backup {
            *store = self.store.clone();
        }
    }

    /// What answers for a key while the main store is out of reach, and what the way there adds, nanoseconds. A replica
    /// shows what was written to the main store at least its lag ago, and what has been written to itself since.
    pub(super) fn look_in_backup(&self, key: u32, now: u64) -> Option<(Copied, u64)> {
        let backup = self.backup.as_ref()?;
        let entry = backup.store.entry(key);
        match backup.spec {
            Backup::Replica { lag, latency, .. } => {
                let written = i64::from(entry.stamp.believed_at);
                let own = self.down && written >= i64::from(tick(self.down_since));
                let arrived = written + i64::from(tick(lag.0)) <= i64::from(tick(now));
                (own || arrived).then_some((entry, latency.0))
            }
            Backup::Gutter { .. } => Some((entry, 0)),
        }
    }

    /// Takes the lock of a key for `ttl` nanoseconds, unless somebody holds it.
    pub(super) fn lock(&mut self, key: u32, holder: (u16, u16), now: u64, ttl: u64) -> bool {
        match self.locks.get(&key) {
            Some(&(_, until)) if until > now => false,
            _ => {
                self.locks.insert(key, (holder, now + ttl));
                true
            }
        }
    }

    /// Gives a lock back, if it is still the holder's.
    pub(super) fn unlock(&mut self, key: u32, holder: (u16, u16)) {
        if self.locks.get(&key).is_some_and(|l| l.0 == holder) {
            self.locks.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{SECOND, SimSpan};

    fn times(read_s: i64, soft_s: u64, hard_s: u64) -> Times {
        let read_at = read_s * SECOND as i64;
        Times { read_at, believed_at: read_at, soft: soft_s * SECOND, hard: hard_s * SECOND }
    }

    #[test]
    fn a_value_is_fresh_then_stale_then_gone() {
        let mut store = Store::new(1, true);
        store.fill(0, times(10, 30, 120));
        for (at, found) in [
            (11, Found::Fresh),
            (39, Found::Fresh),
            (41, Found::Stale),
            (129, Found::Stale),
            (131, Found::Missing),
        ] {
            assert_eq!(store.look(0, at * SECOND), found, "at {at} s");
        }
        let age = store.entry(0).ages(40 * SECOND).0 as f64 / SECOND as f64;
        assert!((age - 30.0).abs() < 0.01, "{age}");
    }

    #[test]
    fn a_value_from_before_the_start_has_part_of_its_time_behind_it() {
        let mut store = Store::new(1, true);
        store.fill(0, times(-20, 30, 120));
        assert_eq!(store.look(0, 9 * SECOND), Found::Fresh);
        assert_eq!(store.look(0, 11 * SECOND), Found::Stale);
        assert_eq!(store.look(0, 101 * SECOND), Found::Missing);
    }

    #[test]
    fn a_renewed_copy_hides_its_age() {
        let mut store = Store::new(1, true);
        store.fill(0, times(0, 30, 120));
        let copy = store.entry(0).renewed(100 * SECOND, 30 * SECOND, 120 * SECOND);
        assert_eq!(copy.found(110 * SECOND), Found::Fresh);
        let (age, believed) = copy.ages(200 * SECOND);
        assert!(
            (199..=201).contains(&(age / SECOND)) && (99..=101).contains(&(believed / SECOND)),
            "{age} {believed}"
        );
    }

    #[test]
    fn a_replica_is_late_and_a_gutter_is_short() {
        let span = SimSpan::from_secs;
        let replica = Backup::Replica { lag: span(2), latency: span(0), nodes: 1 };
        let mut cache = Cache::new(1, true, Some(replica));
        cache.fill(0, times(10, 60, 60));
        (cache.down, cache.down_since) = (true, 11 * SECOND);
        assert!(cache.look_in_backup(0, 11 * SECOND).is_none());
        assert!(cache.look_in_backup(0, 13 * SECOND).is_some_and(|c| c.0.found(13 * SECOND) == Found::Fresh));
        cache.fill(0, times(20, 60, 60));
        assert!(cache.look_in_backup(0, 20 * SECOND).is_some(), "what it has taken itself is there at once");
        let mut cache = Cache::new(1, true, Some(Backup::Gutter { ttl: span(5), nodes: 1 }));
        cache.fill(0, times(10, 60, 60));
        assert!(
            cache.look_in_backup(0, 11 * SECOND).is_some_and(|c| c.0.found(11 * SECOND) == Found::Missing)
        );
        cache.down = true;
        cache.fill(0, times(20, 60, 60));
        let found = |at: u64| cache.look_in_backup(0, at * SECOND).map(|c| c.0.found(at * SECOND));
        assert_eq!((found(24), found(26)), (Some(Found::Fresh), Some(Found::Missing)));
    }

    #[test]
    fn a_lock_has_one_holder_until_its_time_is_over() {
        let mut cache = Cache::new(1, false, None);
        assert!(cache.lock(0, (0, 1), 0, 10));
        assert!(!cache.lock(0, (0, 2), 9, 10));
        assert!(cache.lock(0, (0, 2), 10, 10), "its time is over");
        cache.unlock(0, (0, 1));
        assert!(!cache.lock(0, (0, 3), 11, 10), "the old holder cannot free it");
    }
}
