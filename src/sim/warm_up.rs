//! Warming a cache: the most popular keys are read from the database one after the other, at a steady rate and through
//! connections of the warm-up's own, before users ask for them.

use super::cache::{Found, Times};
use super::database::Owner;
use super::math::Popularity;
use super::probe::LogKind;
use super::service::Service;
use super::world::{Control, World};

/// A warm-up under way.
#[derive(Clone, Debug, Default)]
pub(super) struct WarmUp {
    /// Kind of read and key, the most popular first; what is left of them.
    keys: Vec<(u8, u32)>,
    at: usize,
    gap: u64,
    serial: u32,
    warmed: u32,
    wanted: u32,
}

impl WarmUp {
    /// Keys read, and keys to read; none of the latter when it does not run.
    pub(super) fn progress(&self) -> (u32, u32) {
        (self.warmed, if self.at < self.keys.len() { self.wanted } else { 0 })
    }

    /// Reads no further key.
    pub(super) fn stop(&mut self) {
        self.serial += 1;
        self.at = self.keys.len();
    }
}

impl World {
    /// Begins to read the most popular keys into a cache.
    pub(super) fn start_warming(&mut self, cache: usize, n: u32, per_s: f64) {
        let offered = self.spec.traffic.first().map_or(0.0, |t| t.1);
        let reads = &self.spec.reads;
        let popularity: Vec<Option<Popularity>> =
            reads.iter().map(|r| r.ttl.map(|_| Popularity::new(r.keys))).collect();
        let rate = |i: usize, key: u32| Some(popularity[i].as_ref()?.get(key)? * reads[i].share * offered);
        let mut next = vec![0u32; reads.len()];
        let mut keys = Vec::new();
        while keys.len() < n as usize {
            let wanted = (0..reads.len()).filter_map(|i| rate(i, next[i]).map(|w| (i, w)));
            let best = wanted.fold(None, |best: Option<(usize, f64)>, (i, w)| match best {
                Some((_, most)) if most >= w => best,
                _ => Some((i, w)),
            });
            let Some((i, _)) = best else { break };
            keys.push((i as u8, next[i]));
            next[i] += 1;
        }
        let serial = self.warm_ups[cache].serial + 1;
        let gap = (1e9 / per_s.clamp(1e-3, 1e6)) as u64;
        self.warm_ups[cache] = WarmUp { wanted: keys.len() as u32, keys, at: 0, gap, serial, warmed: 0 };
        self.log(LogKind::WarmUp, cache as u32);
        self.events.at(self.now + gap, Control::Warm { cache: cache as u16, serial });
    }

    /// Reads the next key that is not in the cache yet.
    pub(super) fn warm_next(&mut self, cache: u16, serial: u32) {
        let now = self.now;
        let warm_up = &mut self.warm_ups[cache as usize];
        if warm_up.serial != serial {
            return;
        }
        let store = &self.caches[cache as usize];
        // A key that somebody else has filled meanwhile needs no query.
        let first = |read: u8| self.reads[read as usize].cached.map_or(0, |c| c.0);
        while let Some(&(read, key)) = warm_up.keys.get(warm_up.at) {
            if store.down || store.store.look(first(read) + key, now) == Found::Missing {
                break;
            }
            warm_up.at += 1;
            warm_up.warmed += 1;
        }
        let Some(&(read, key)) = warm_up.keys.get(warm_up.at) else { return };
        let again = now + warm_up.gap;
        self.events.at(again, Control::Warm { cache, serial });
        let reads = |s: &&Service| s.spec.cache == Some(cache as usize);
        let Some(database) = self.services.iter().find(reads).and_then(|s| s.spec.database) else { return };
        let host = self.next_host(database);
        let it = &mut self.hosts[host];
        if it.connections >= it.connection_limit || it.down {
            it.counters.refused += 1;
            return;
        }
        it.connections += 1;
        self.warm_ups[cache as usize].at += 1;
        let owner = Owner::WarmUp { cache, read, key };
        let work = self.reads[read as usize].cost.draw(key, it, now, &mut self.work_rng);
        it.start(owner, work, now);
        self.replan(host);
    }

    /// The warm-up's query has ended.
    pub(super) fn warmed_key(&mut self, cache: u16, read: u8, key: u32) {
        let (soft, hard) = self.reads[read as usize].lives();
        let now = self.now as i64;
        let key = self.reads[read as usize].key(key);
        self.caches[cache as usize].fill(key, Times { read_at: now, believed_at: now, soft, hard });
        let warm_up = &mut self.warm_ups[cache as usize];
        warm_up.warmed += 1;
        if warm_up.warmed == warm_up.wanted {
            self.log(LogKind::WarmUp, u32::from(cache));
        }
    }
}
