//! Counters and histograms that the engine keeps; telemetry reads them once a second, as a scrape would.

/// Sub-buckets per octave of a [`Histogram`]: values are kept within 1/32, about 3 %.
const SUB_BITS: u32 = 5;
/// Buckets of one octave of a [`Histogram`].
pub const OCTAVE: usize = 1 << SUB_BITS;
/// Buckets of a [`Histogram`].
pub const BUCKETS: usize = 36 * OCTAVE;

/// A log-linear histogram of spans in nanoseconds, from 1 µs to some days, as HdrHistogram's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    counts: Box<[u32; BUCKETS]>,
}

impl Histogram {
    /// An empty one.
    pub fn new() -> Histogram {
        Histogram { counts: Box::new([0; BUCKETS]) }
    }

    /// Bucket 0 holds everything below 1.024 µs; from 32 of these on, 32 buckets per doubling.
    #[inline]
    fn bucket(ns: u64) -> usize {
        let units = ns >> 10;
        let shift = (units | 1 << SUB_BITS).ilog2() - SUB_BITS;
        (((shift as usize) << SUB_BITS) + (units >> shift) as usize).min(BUCKETS - 1)
    }

    /// The middle of a bucket, in nanoseconds.
    pub fn middle(bucket: usize) -> f64 {
        let units = if bucket < 1 << SUB_BITS {
            bucket as f64 + 0.5
        } else {
            let shift = (bucket >> SUB_BITS) as i32 - 1;
            let base = (bucket & ((1 << SUB_BITS) - 1)) + (1 << SUB_BITS);
            (base as f64 + 0.5) * f64::from(1u32 << shift.min(30))
        };
        units * 1024.0
    }

    /// Counts one span.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.counts[Self::bucket(ns)] += 1;
    }

    /// Spans counted.
    pub fn total(&self) -> u64 {
        self.counts.iter().map(|&count| u64::from(count)).sum()
    }

    /// The span below which a share `q` of those counted lie, in nanoseconds; `None` when nothing was counted.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        let counts = self.counts.iter().enumerate().map(|(bucket, &count)| (bucket, count));
        place_of(rank(q, self.total())?, counts).map(|(bucket, _)| Self::middle(bucket))
    }

    /// Brings an earlier state of the same histogram up to date. Says of each bucket that has grown since, in order, by how
    /// much. Few grow in a second: they are looked for eight at a time.
    pub fn catch_up(&self, earlier: &mut Histogram, mut grown: impl FnMut(usize, u32)) {
        let (now, then) = (self.counts.as_chunks::<8>().0, earlier.counts.as_chunks_mut::<8>().0);
        for (chunk, (now, then)) in now.iter().zip(then).enumerate() {
            if now != then {
                for i in 0..now.len() {
                    if now[i] > then[i] {
                        grown(chunk * now.len() + i, now[i] - then[i]);
                        then[i] = now[i];
                    }
                }
            }
        }
    }

    /// What was counted since an earlier state of the same histogram.
    pub fn since(&self, earlier: &Histogram) -> Histogram {
        Histogram { counts: Box::new(std::array::from_fn(|i| self.counts[i] - earlier.counts[i])) }
    }
}

/// How many of so many counted lie below the quantile `q`; `None` when nothing was counted.
pub fn rank(q: f64, total: u64) -> Option<u64> {
    Some(((q * total as f64) as u64).min(total.checked_sub(1)?))
}

/// Where counts, given in order of place, exceed a rank; and the rank within that place.
pub fn place_of(mut rank: u64, counts: impl Iterator<Item = (usize, u32)>) -> Option<(usize, u64)> {
    for (place, count) in counts {
        match rank.checked_sub(u64::from(count)) {
            Some(left) => rank = left,
            None => return Some((place, rank)),
        }
    }
    None
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram::new()
    }
}

/// Attempts beyond this number are counted with it.
pub const ATTEMPTS_TOLD_APART: usize = 12;

/// Counts since the start. Every field only grows, but for [`KindCounters::misses`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Operations that succeeded late.
    pub operations_late: u64,
    /// Operations that failed after their last attempt.
    pub operations_failed: u64,
    /// Operations whose last attempt was turned away by a limit.
    pub operations_shed: u64,
    /// Requests received by the load balancer, by number of the attempt, from 1.
    pub requests_by_attempt: [u64; ATTEMPTS_TOLD_APART],
    /// Requests answered with an error by the service.
    pub requests_errors: u64,
    /// Requests turned away by a limit.
    pub requests_rejected: u64,
    /// Requests whose client stopped waiting.
    pub requests_abandoned: u64,
    /// By kind of read.
    pub kinds: Vec<KindCounters>,
    /// Values written to the cache by requests.
    pub cache_fills: u64,
    /// Queries started for reads that can be cached.
    pub queries_for_misses: u64,
    /// Queries started for a second or later try of the database client.
    pub query_retries: u64,
    /// Requests that gave up waiting for a connection.
    pub pool_timeouts: u64,
    /// Operations answered with the static answer.
    pub operations_degraded: u64,
    /// Requests turned away because all workers of an instance were busy.
    pub requests_busy: u64,
    /// Reads that the cache did not answer, before any limit.
    pub origin_wanted: u64,
    /// Reads of the source started.
    pub origin_started: u64,
    /// Reads of the source that the budget refused.
    pub origin_refused: u64,
    /// Reads of the source behind an answer or for joined requests.
    pub refreshes: u64,
    /// Those of them that failed.
    pub refreshes_failed: u64,
    /// Requests that joined a read of the source.
    pub reads_joined: u64,
    /// Reads answered with a value past its soft time.
    pub reads_stale: u64,
    /// Reads answered by a local copy.
    pub reads_local: u64,
    /// Reads answered by the replica or gutter of an unreachable cache.
    pub reads_backup: u64,
    /// Calls to an unreachable cache.
    pub cache_timeouts: u64,
    /// Requests that found a key locked.
    pub lock_waits: u64,
    /// Retries that clients' budgets denied.
    pub retries_denied: u64,
    /// Events handled, plain cache hits counted as one.
    pub events: u64,
}

/// Counts of one kind of read since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindCounters {
    /// Cache look-ups that were hits.
    pub hits: u64,
    /// Look-ups that were none. One goes over to the hits when a copy answers for a cache that is out of reach.
    pub misses: u64,
    /// Operations that succeeded in time.
    pub served: u64,
    /// Operations that ended otherwise.
    pub unserved: u64,
}

impl KindCounters {
    /// Cache look-ups.
    pub fn lookups(&self) -> u64 {
        self.hits + self.misses
    }

    /// Operations that ended.
    pub fn ended(&self) -> u64 {
        self.served + self.unserved
    }
}

impl Counters {
    /// Becomes a copy of another one of as many kinds, in place.
    pub fn copy_from(&mut self, other: &Counters) {
        let mut kinds = std::mem::take(&mut self.kinds);
        kinds.copy_from_slice(&other.kinds);
        *self = Counters { kinds, ..*other };
    }

    /// User operations begun.
    pub fn operations_started(&self) -> u64 {
        self.requests_by_attempt[0]
    }

    /// Operations that succeeded in time.
    pub fn operations_served(&self) -> u64 {
        self.kinds.iter().map(|k| k.served).sum()
    }

    /// Requests answered. The first answer ends an operation.
    pub fn requests_ok(&self) -> u64 {
        self.operations_served() + self.operations_late
    }

    /// Requests received.
    pub fn requests_received(&self) -> u64 {
        self.requests_by_attempt.iter().sum()
    }

    /// Operations that ended, however they did.
    pub fn operations_ended(&self) -> u64 {
        self.requests_ok() + self.operations_failed + self.operations_shed
    }
}

/// Counts of one database host since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostCounters {
    /// Queries started.
    pub started: u64,
    /// Queries that ran to their end and whose result was used.
    pub finished: u64,
    /// Queries that took longer than they were allowed.
    pub timed_out: u64,
    /// Connections refused.
    pub refused: u64,
    /// Queries written to the slow-query log.
    pub slow: u64,
}

/// Counts of one service since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServiceCounters {
    /// Requests that reached it.
    pub requests: u64,
    /// Requests that it did not serve.
    pub failures: u64,
}

/// Counts of one call between services since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallCounters {
    /// Attempts begun.
    pub started: u64,
    /// Attempts given up.
    pub timed_out: u64,
}

/// Readings that begin anew at every scrape: the largest since the last one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Peaks {
    /// By kind of read: true age of the oldest value served, and what the caches believed of the oldest, nanoseconds;
    /// `None` when no value of known age was served.
    pub oldest: Vec<Option<(u64, u64)>>,
    /// Queries by key, for kinds of few keys.
    pub(super) per_key: Vec<Option<Vec<u32>>>,
}

/// Kinds of up to so many keys have their queries counted key by key.
pub const COUNTED_KEYS: u32 = 1_024;

impl Peaks {
    /// Counters for kinds with so many keys.
    pub(super) fn new(keys: impl Iterator<Item = u32>) -> Peaks {
        let per_key: Vec<_> = keys.map(|n| (n <= COUNTED_KEYS).then(|| vec![0; n as usize])).collect();
        Peaks { oldest: vec![None; per_key.len()], per_key }
    }

    /// A value of known age was served.
    #[inline]
    pub(super) fn served(&mut self, read: u8, (age, believed): (u64, u64)) {
        let oldest = self.oldest[read as usize].get_or_insert((0, 0));
        *oldest = (oldest.0.max(age), oldest.1.max(believed));
    }

    /// A query was started for a key.
    #[inline]
    pub(super) fn queried(&mut self, read: u8, key: u32) {
        if let Some(counts) = &mut self.per_key[read as usize] {
            counts[key as usize] += 1;
        }
    }

    /// Queries for the most-asked key of a kind; `None` for a kind of many keys.
    pub fn most_asked(&self, read: usize) -> Option<u32> {
        self.per_key[read].as_ref().map(|counts| counts.iter().copied().max().unwrap_or(0))
    }

    /// Begins anew.
    pub(super) fn reset(&mut self) {
        self.oldest.fill(None);
        for counts in self.per_key.iter_mut().flatten() {
            counts.fill(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_within_a_bucket_of_the_truth() {
        for ns in [0u64, 900, 1_500, 33_000, 1_000_000, 8_000_000_000, 600_000_000_000, u64::MAX] {
            let mut h = Histogram::new();
            h.record(ns);
            let read = h.quantile(0.5).unwrap_or(f64::NAN);
            if (33_000..3_600_000_000_000).contains(&ns) {
                assert!((read / ns as f64 - 1.0).abs() < 0.035, "{ns}: {read}");
            }
        }
        assert_eq!(Histogram::new().quantile(0.5), None);
    }

    #[test]
    fn buckets_are_monotone_and_their_middles_lie_in_them() {
        let mut last = 0;
        for exponent in 10..44 {
            for step in 0..64u64 {
                let ns = (1u64 << exponent) + (step << exponent) / 64;
                let bucket = Histogram::bucket(ns);
                assert!(bucket >= last, "{ns}");
                assert_eq!(Histogram::bucket(Histogram::middle(bucket) as u64), bucket, "{ns}");
                last = bucket;
            }
        }
    }
}
