//! Open-loop arrivals: users who come whether or not they are served.
//!
//! Arrivals are a Poisson process with a piecewise constant rate; each asks for a key of a kind of read. They depend
//! on nothing in the system, so they are drawn in batches, and the cache entries that they will need are read ahead.

use super::cache::Cache;
use super::math::{Exponential, Keys, mix};
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
    /// Last arrival drawn, Q16.
    clock: u64,
    number: u64,
    /// An operation is traced when its number's hash lies below this; a hash, so that no period of the system (round
    /// robin over instances, say) can fall in step with it.
    trace_below: u32,
    /// For each kind: keys, first key in the cache (none if not cached).
    reads: Vec<(Keys, Option<u32>)>,
    /// Upper ends of the parts of the 32-bit range that kinds of reads and clients take.
    kind_ends: Vec<u32>,
    client_ends: Vec<u32>,
    batch: Vec<Operation>,
    /// Random numbers of the batch's keys.
    key_draws: Vec<u64>,
    batch_size: usize,
    at: usize,
    arrivals: Stream,
    kinds: Stream,
    keys: Stream,
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

/// The part that a number falls into. Counting needs no branch that could be guessed wrong.
#[inline]
fn part(ends: &[u32], pick: u32) -> usize {
    ends.iter().filter(|&&end| end < pick).count()
}

impl Workload {
    /// The traffic of a spec; `first_keys` says where each kind's keys begin in the cache; so many arrivals are drawn at once.
    pub(super) fn new(spec: &Spec, first_keys: &[Option<u32>], seed: u64, batch_size: usize) -> Workload {
        Workload {
            rates: spec
                .traffic
                .iter()
                .map(|&(at, rate)| (at.0, if rate > 0.0 { (1e9 * 65_536.0 / rate) as u64 } else { 0 }))
                .collect(),
            rate: 0,
            clock: 0,
            number: 0,
            trace_below: u32::MAX / spec.trace_one_in.max(1),
            reads: spec
                .reads
                .iter()
                .zip(first_keys)
                .map(|(read, first)| (Keys::new(read.keys), *first))
                .collect(),
            kind_ends: parts(spec.reads.iter().map(|r| r.share)),
            client_ends: parts(spec.clients.iter().map(|c| c.share)),
            batch: Vec::with_capacity(batch_size),
            key_draws: Vec::with_capacity(batch_size),
            batch_size,
            at: 0,
            arrivals: Stream::new(seed, "arrivals"),
            kinds: Stream::new(seed, "kinds of reads and clients"),
            keys: Stream::new(seed, "keys"),
        }
    }

    /// The next arrival time in Q16, or `None` when no traffic will ever come again.
    fn next_time(&mut self, exponential: &Exponential) -> Option<u64> {
        // One unit exponential is used up at the rate of each piece: exact for a piecewise constant rate.
        let mut left = exponential.draw(&mut self.arrivals);
        loop {
            let (_, gap) = self.rates[self.rate];
            let end = self.rates.get(self.rate + 1).map_or(u64::MAX, |r| r.0 << FRACTION);
            if gap > 0 {
                let need = ((u128::from(left) * u128::from(gap)) >> 32) as u64;
                if self.clock.saturating_add(need) < end {
                    self.clock += need;
                    return Some(self.clock);
                }
                let used = ((u128::from(end - self.clock) << 32) / u128::from(gap)) as u64;
                left -= used.min(left);
            }
            if end == u64::MAX {
                return None;
            }
            self.clock = end;
            self.rate += 1;
        }
    }

    /// Draws the next batch.
    pub(super) fn refill(&mut self, exponential: &Exponential, caches: &[Cache]) {
        self.batch.clear();
        self.at = 0;
        while self.batch.len() < self.batch_size {
            let Some(time) = self.next_time(exponential) else { break };
            self.number += 1;
            let r = self.kinds.draw();
            let read = part(&self.kind_ends, (r >> 32) as u32);
            let client = part(&self.client_ends, r as u32);
            let r = self.keys.draw();
            self.reads[read].0.prefetch(r);
            self.key_draws.push(r);
            self.batch.push(Operation {
                number: self.number,
                started: time >> FRACTION,
                key: 0,
                read: read as u8,
                client: client as u8,
                attempt: 1,
                traced: mix(self.number) as u32 <= self.trace_below,
            });
        }
        // The tables of keys are large: all places are known before the first is looked at, so the waits overlap.
        for (operation, r) in self.batch.iter_mut().zip(self.key_draws.drain(..)) {
            let (keys, first) = &self.reads[operation.read as usize];
            operation.key = keys.draw(r);
            if let (Some(first), Some(cache)) = (first, caches.first()) {
                cache.store.prefetch(first + operation.key);
            }
        }
    }

    /// When the next operation arrives; `u64::MAX` when none does.
    #[inline]
    pub(super) fn peek(&self) -> u64 {
        self.batch.get(self.at).map_or(u64::MAX, |o| o.started)
    }

    /// Takes the next operation; says whether the batch is used up.
    #[inline]
    pub(super) fn take(&mut self) -> (Operation, bool) {
        let operation = self.batch[self.at];
        self.at += 1;
        (operation, self.at == self.batch.len())
    }
}
