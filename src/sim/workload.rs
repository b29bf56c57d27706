//! Open-loop arrivals: users who come whether or not they are served.
//!
//! Arrivals are a Poisson process with a piecewise constant rate; each asks for a key of a kind of read. They depend
//! on nothing in the system, so they are drawn in batches, and the cache entries that they will need are read ahead.

use super::cache::Cache;
use super::math::{Exponential, Keys, Popularity, ln};
use super::request::Operation;
use super::rng::Stream;
use super::spec::Spec;

/// Arrivals drawn at once.
pub(super) const BATCH: usize = 64;
/// Fraction bits of arrival times while they are summed up, so that rounding does not change the rate.
const FRACTION: u32 = 16;

/// The source of operations.
#[derive(Clone, Debug)]
pub(super) struct Workload {
    /// Rate changes: instant and mean gap in Q16 nanoseconds (zero for no traffic).
    rates: Vec<(u64, u64)>,
    rate: usize,
    /// Mean gap that is in force, Q16 nanoseconds, and when the next one is, Q16.
    piece: (u64, u64),
    /// Last arrival drawn, Q16; `u64::MAX` when no traffic will ever come again.
    clock: u64,
    number: u64,
    /// Which operations are traced, and the next of them.
    sample: Sample,
    next_traced: u64,
    /// For each kind: its keys, and where they are in the cache.
    reads: Vec<(Keys, Places)>,
    kinds_of_reads: Parts,
    clients: Parts,
    batch: Vec<Operation>,
    /// Lower halves of the random numbers of the batch's keys.
    lower_halves: Vec<u32>,
    at: usize,
    /// When the operation at that place arrives.
    next: u64,
    arrivals: Stream,
    kinds: Stream,
    keys: Stream,
}

/// Where the keys of a kind of read are in the cache. What is not cached is taken for the first key of all, whose place is
/// as good as none: that saves a branch that is guessed wrong every other time.
#[derive(Clone, Copy, Debug)]
struct Places {
    first: u32,
    mask: u32,
}

impl Places {
    fn new(first: Option<u32>) -> Places {
        Places { first: first.unwrap_or(0), mask: if first.is_some() { u32::MAX } else { 0 } }
    }

    #[inline]
    fn of(self, key: u32) -> u32 {
        self.first + (key & self.mask)
    }
}

/// A random sample of operations, each with the same chance and independent of the others, so that no period of the system
/// (round robin over instances, say) can fall in step with it. From one to the next it is a geometric number of them,
/// which is the whole part of an exponential (Devroye 1986).
#[derive(Clone, Debug)]
struct Sample {
    /// Mean of the exponential whose whole part is a gap less one, Q32.
    scale: u64,
    rng: Stream,
}

impl Sample {
    /// One in so many, on average.
    fn new(one_in: u32, seed: u64) -> Sample {
        let chance = 1.0 / f64::from(one_in.max(1));
        let scale = (-4_294_967_296.0 / ln(1.0 - chance)) as u64;
        Sample { scale, rng: Stream::new(seed, "which operations are traced") }
    }

    /// How many operations further on the next one is.
    #[cold]
    fn gap(&mut self, exponential: &Exponential) -> u64 {
        let whole = (u128::from(exponential.draw(&mut self.rng)) * u128::from(self.scale)) >> 64;
        1 + whole as u64
    }
}

/// Upper ends of the parts of the 32-bit range that shares take.
pub(super) fn parts(shares: impl Iterator<Item = f64>) -> Vec<u32> {
    let mut sum = 0.0;
    let mut ends: Vec<u32> = shares
        .map(|share| {
            sum += share;
            (sum * 4_294_967_296.0).min(4_294_967_295.0) as u32
        })
        .collect();
    if let Some(last) = ends.last_mut() {
        *last = u32::MAX;
    }
    ends
}

/// Parts of the 32-bit range, to be found without a branch that could be guessed wrong.
#[derive(Clone, Debug)]
struct Parts {
    ends: Vec<u32>,
    /// The part in which each 256th of the range begins, and the part of the end of the range.
    guide: [u8; 257],
}

impl Parts {
    fn new(shares: impl Iterator<Item = f64>) -> Parts {
        let ends = parts(shares);
        let part = |pick: u32| ends.iter().filter(|&&end| end < pick).count() as u8;
        let guide = std::array::from_fn(|i| part(((i as u64) << 24).min(u64::from(u32::MAX)) as u32));
        Parts { ends, guide }
    }

    /// The part that a number falls into.
    #[inline]
    fn of(&self, pick: u32) -> u8 {
        let i = (pick >> 24) as usize;
        let (first, last) = (self.guide[i], self.guide[i + 1]);
        if first == last {
            return first;
        }
        let within = &self.ends[first as usize..last as usize];
        within.iter().fold(first, |part, &end| part + u8::from(end < pick))
    }
}

/// A piece of constant traffic: mean gap in Q16 nanoseconds, and when the next piece begins, Q16.
fn piece(rates: &[(u64, u64)], at: usize) -> (u64, u64) {
    (rates[at].1, rates.get(at + 1).map_or(u64::MAX, |r| r.0 << FRACTION))
}

impl Workload {
    /// The traffic of a spec; for each kind of read, how popular its keys are and where they begin in the cache; so many
    /// arrivals are drawn at once.
    pub(super) fn new(
        spec: &Spec,
        kinds: impl Iterator<Item = (Popularity, Option<u32>)>,
        seed: u64,
        batch_size: usize,
        exponential: &Exponential,
    ) -> Workload {
        let mut sample = Sample::new(spec.trace_one_in, seed);
        let rates: Vec<(u64, u64)> = spec
            .traffic
            .iter()
            .map(|&(at, rate)| (at.0, if rate > 0.0 { (1e9 * 65_536.0 / rate) as u64 } else { 0 }))
            .collect();
        Workload {
            piece: piece(&rates, 0),
            rates,
            rate: 0,
            clock: 0,
            number: 0,
            next_traced: sample.gap(exponential),
            sample,
            reads: kinds.map(|(popularity, first)| (Keys::new(popularity), Places::new(first))).collect(),
            kinds_of_reads: Parts::new(spec.reads.iter().map(|r| r.share)),
            clients: Parts::new(spec.clients.iter().map(|c| c.share)),
            batch: vec![Operation::NONE; batch_size],
            lower_halves: vec![0; batch_size],
            at: 0,
            next: u64::MAX,
            arrivals: Stream::new(seed, "arrivals"),
            kinds: Stream::new(seed, "kinds of reads and clients"),
            keys: Stream::new(seed, "keys"),
        }
    }

    /// The next arrival time in Q16, where it may lie beyond the present piece of traffic; `None` when no traffic will ever
    /// come again. One unit exponential is used up at the rate of each piece: exact for a piecewise constant rate (a change of time,
    /// Çinlar 1975).
    #[cold]
    fn next_time(&mut self, mut left: u64) -> Option<u64> {
        loop {
            let (gap, end) = self.piece;
            if gap > 0 {
                let need = ((u128::from(left) * u128::from(gap)) >> 32) as u64;
                if self.clock.saturating_add(need) < end {
                    return Some(self.clock + need);
                }
                let used = ((u128::from(end - self.clock) << 32) / u128::from(gap)) as u64;
                left -= used.min(left);
            }
            if end == u64::MAX {
                return None;
            }
            self.clock = end;
            self.rate += 1;
            self.piece = piece(&self.rates, self.rate);
        }
    }

    /// Draws the times of a batch; what no time is left for arrives never.
    fn draw_times(&mut self, exponential: &Exponential, batch: &mut [Operation]) {
        let (mut arrivals, mut number, mut clock) = (self.arrivals.clone(), self.number, self.clock);
        let (mut gap, mut end) = self.piece;
        for operation in batch {
            let left = exponential.draw(&mut arrivals);
            let within = ((u128::from(left) * u128::from(gap)) >> 32) as u64;
            let mut time = clock.saturating_add(within);
            operation.started = time >> FRACTION;
            if gap == 0 || time >= end {
                self.clock = clock;
                let next = self.next_time(left);
                time = next.unwrap_or(u64::MAX);
                operation.started = next.map_or(u64::MAX, |time| time >> FRACTION);
                (gap, end) = self.piece;
            }
            clock = time;
            number += 1;
            operation.number = number;
            operation.traced = number == self.next_traced;
            if operation.traced {
                self.next_traced += self.sample.gap(exponential);
            }
        }
        (self.arrivals, self.number, self.clock) = (arrivals, number, clock);
    }

    /// Draws the next batch: one thing after the other for all of it, so that each stream stays in registers.
    pub(super) fn refill(&mut self, exponential: &Exponential, caches: &[Cache]) {
        let mut batch = std::mem::take(&mut self.batch);
        self.at = 0;
        self.draw_times(exponential, &mut batch);
        self.next = batch[0].started;
        let mut kinds = self.kinds.clone();
        for operation in &mut batch {
            let r = kinds.draw();
            operation.read = self.kinds_of_reads.of((r >> 32) as u32);
            operation.client = self.clients.of(r as u32);
        }
        self.kinds = kinds;
        // The tables of keys are large: all places are known before the first is looked at, so the waits overlap.
        let mut keys = self.keys.clone();
        for (operation, lower) in batch.iter_mut().zip(&mut self.lower_halves) {
            let r = keys.draw();
            operation.key = self.reads[operation.read as usize].0.bring_near(r);
            *lower = r as u32;
        }
        self.keys = keys;
        let store = caches.first().map(|cache| &cache.store);
        for (operation, &lower) in batch.iter_mut().zip(&self.lower_halves) {
            let (keys, places) = &self.reads[operation.read as usize];
            operation.key = keys.choose(operation.key, lower);
            if let Some(store) = store {
                store.prefetch(places.of(operation.key));
            }
        }
        self.batch = batch;
    }

    /// When the next operation arrives; `u64::MAX` when none does.
    #[inline]
    pub(super) fn peek(&self) -> u64 {
        self.next
    }

    /// Takes the next operation; says whether the batch is used up.
    #[inline]
    pub(super) fn take(&mut self) -> (Operation, bool) {
        let operation = self.batch[self.at];
        self.at += 1;
        let next = self.batch.get(self.at);
        self.next = next.map_or(u64::MAX, |o| o.started);
        (operation, next.is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_the_gaps_of_independent_draws() {
        let exponential = Exponential::new();
        for one_in in [1, 2, 7, 400] {
            let (mut sample, n) = (Sample::new(one_in, 1), 400_000);
            let gaps: Vec<u64> = (0..n).map(|_| sample.gap(&exponential)).collect();
            let mean = gaps.iter().sum::<u64>() as f64 / f64::from(n);
            let next = gaps.iter().filter(|&&gap| gap == 1).count() as f64 / f64::from(n);
            let wanted = f64::from(one_in);
            assert!((mean / wanted - 1.0).abs() < 0.01, "one in {one_in}: mean gap {mean}");
            assert!((next - 1.0 / wanted).abs() < 0.003, "one in {one_in}: {next} of them follow at once");
        }
    }

    #[test]
    fn a_sample_may_be_of_hardly_anything() {
        assert!(Sample::new(u32::MAX, 1).gap(&Exponential::new()) > 1_000_000);
    }
}
