//! A cache cluster, seen as one place: when each key's value expires.
//!
//! A key costs four bytes. Expiry needs no events: it is compared when the key is asked for.

use super::math::scale_to;
use super::prefetch::prefetch;
use super::rng::Stream;

/// Instants of expiry are kept in ticks of 2²⁰ ns, about a millisecond.
pub const TICK_BITS: u32 = 20;

/// The expiry of every key; a key is an index.
#[derive(Clone, Debug)]
pub struct Cache {
    expires: Vec<u32>,
    /// Unreachable: look-ups miss, writes are lost.
    pub down: bool,
    /// Share of the entries that the node which takes over will have.
    pub survivors: f64,
}

impl Cache {
    /// An empty cache for so many keys.
    pub fn new(keys: usize) -> Cache {
        Cache { expires: vec![0; keys], down: false, survivors: 0.0 }
    }

    /// Whether a key's value is there.
    #[inline]
    pub fn has(&self, key: u32, now: u64) -> bool {
        !self.down && self.expires[key as usize] > (now >> TICK_BITS) as u32
    }

    /// Hints that a key will be looked up soon.
    #[inline]
    pub(super) fn prefetch(&self, key: u32) {
        prefetch(&self.expires, key as usize);
    }

    /// Writes a value that lives for `ttl` nanoseconds. Returns whether it was kept.
    #[inline]
    pub fn fill(&mut self, key: u32, now: u64, ttl: u64) -> bool {
        if self.down {
            return false;
        }
        self.expires[key as usize] = ((now + ttl) >> TICK_BITS).max(1) as u32;
        true
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

    /// Fills a range of keys as a healthy system would have them at the start: a key asked for λ times a second and
    /// kept for T is there with probability λT/(1+λT), and then has a uniform part of T left.
    pub fn warm_up(
        &mut self,
        keys: std::ops::Range<u32>,
        ttl: u64,
        warm: f64,
        rate: impl Fn(u32) -> f64,
        rng: &mut Stream,
    ) {
        for key in keys.clone() {
            let load = rate(key - keys.start) * ttl as f64 / 1e9;
            let present = warm * load / (1.0 + load);
            let r = rng.draw();
            if ((r >> 32) as f64) < present * 4_294_967_296.0 {
                let left = scale_to(r & 0xffff_ffff, ((ttl >> TICK_BITS) as u32).max(1));
                self.expires[key as usize] = left.max(1);
            }
        }
    }
}
