//! What histograms counted lately.

use std::collections::VecDeque;

use super::series::RECENT_S;
use crate::sim::meter::{BUCKETS, Histogram, OCTAVE, place_of, rank};
use crate::units::SECOND;

/// What some histograms counted together in the last second, and in the last [`RECENT_S`].
///
/// Histograms count from the start and only grow. A scrape looks for the buckets that have grown since the one before, and
/// the rest of its work is as much as they are many.
#[derive(Clone, Debug)]
pub(super) struct Window {
    /// The histograms as the last scrape found them.
    seen: Vec<Histogram>,
    /// What was counted in each of the last seconds, the newest last; never empty.
    seconds: VecDeque<Second>,
    recent: Recent,
}

/// What was counted in one second: the buckets that counted, in order; one comes again where several histograms counted.
#[derive(Clone, Debug, Default)]
struct Second(Vec<Counted>);

#[derive(Clone, Copy, Debug)]
struct Counted {
    bucket: u16,
    n: u32,
    /// With those in the buckets before it.
    upto: u64,
}

/// What was counted in several seconds.
#[derive(Clone, Debug)]
struct Recent {
    /// By bucket.
    counts: Box<[u32; BUCKETS]>,
    /// By octave.
    octaves: [u32; BUCKETS / OCTAVE],
    total: u64,
}

impl Window {
    /// A window on histograms from now on.
    pub(super) fn new<'a>(histograms: impl Iterator<Item = &'a Histogram>) -> Window {
        Window {
            seen: histograms.cloned().collect(),
            seconds: vec![Second::default(); RECENT_S].into(),
            recent: Recent { counts: Box::new([0; BUCKETS]), octaves: [0; BUCKETS / OCTAVE], total: 0 },
        }
    }

    /// Takes in what the same histograms have counted since: the second that has just passed.
    pub(super) fn scrape<'a>(&mut self, histograms: impl Iterator<Item = &'a Histogram>) {
        let mut second = self.seconds.pop_front().unwrap_or_default();
        self.recent.subtract(&second);
        second.0.clear();
        for (now, seen) in histograms.zip(&mut self.seen) {
            now.catch_up(seen, |bucket, n| second.0.push(Counted { bucket: bucket as u16, n, upto: 0 }));
        }
        second.sum_up();
        self.recent.add(&second);
        self.seconds.push_back(second);
    }

    /// The time below which a share `q` of those lie that were counted in the last second, in seconds; not a number when
    /// nothing was counted.
    pub(super) fn second(&self, q: f64) -> f64 {
        seconds(self.seconds.back().and_then(|second| second.quantile(q)))
    }

    /// The same for the last [`RECENT_S`] seconds.
    pub(super) fn recent(&self, q: f64) -> f64 {
        seconds(self.recent.quantile(q))
    }
}

/// The middle of a bucket, in seconds.
fn seconds(bucket: Option<usize>) -> f64 {
    bucket.map_or(f64::NAN, |bucket| Histogram::middle(bucket) / SECOND as f64)
}

impl Second {
    /// Orders what several histograms counted, one after the other, and sums it up.
    fn sum_up(&mut self) {
        if !self.0.is_sorted_by_key(|counted| counted.bucket) {
            self.0.sort_by_key(|counted| counted.bucket);
        }
        let mut upto = 0;
        for counted in &mut self.0 {
            upto += u64::from(counted.n);
            counted.upto = upto;
        }
    }

    fn total(&self) -> u64 {
        self.0.last().map_or(0, |last| last.upto)
    }

    /// The bucket of a quantile.
    fn quantile(&self, q: f64) -> Option<usize> {
        let rank = rank(q, self.total())?;
        let place = self.0.partition_point(|counted| counted.upto <= rank);
        self.0.get(place).map(|counted| usize::from(counted.bucket))
    }
}

impl Recent {
    fn add(&mut self, second: &Second) {
        for &Counted { bucket, n, .. } in &second.0 {
            self.counts[usize::from(bucket)] += n;
            self.octaves[usize::from(bucket) / OCTAVE] += n;
        }
        self.total += second.total();
    }

    fn subtract(&mut self, second: &Second) {
        for &Counted { bucket, n, .. } in &second.0 {
            self.counts[usize::from(bucket)] -= n;
            self.octaves[usize::from(bucket) / OCTAVE] -= n;
        }
        self.total -= second.total();
    }

    /// The bucket of a quantile.
    fn quantile(&self, q: f64) -> Option<usize> {
        let (octave, rank) = place_of(rank(q, self.total)?, self.octaves.iter().copied().enumerate())?;
        let counts = self.counts.iter().copied().enumerate().skip(octave * OCTAVE);
        place_of(rank, counts).map(|(bucket, _)| bucket)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_window_shows_what_differences_and_sums_by_hand_show(
            seconds in prop::collection::vec(
                prop::collection::vec((0usize..3, prop_oneof![0..40_000u64, 0..u64::MAX >> 20, Just(u64::MAX)]), 0..12),
                0..16,
            ),
            before in prop::collection::vec((0usize..3, 0..1u64 << 40), 0..5),
        ) {
            let mut histograms = vec![Histogram::new(); 3];
            let mut all = Histogram::new();
            for &(of, ns) in &before {
                histograms[of].record(ns);
                all.record(ns);
            }
            let mut window = Window::new(histograms.iter());
            let mut past = vec![all.clone()];
            for second in &seconds {
                for &(of, ns) in second {
                    histograms[of].record(ns);
                    all.record(ns);
                }
                window.scrape(histograms.iter());
                let since = |scrapes: usize| all.since(&past[past.len().saturating_sub(scrapes)]);
                for q in [0.0, 0.001, 0.5, 0.95, 0.99, 1.0] {
                    let by_hand = |of: Histogram| of.quantile(q).map_or(f64::NAN, |ns| ns / SECOND as f64).to_bits();
                    prop_assert_eq!(window.second(q).to_bits(), by_hand(since(1)));
                    prop_assert_eq!(window.recent(q).to_bits(), by_hand(since(RECENT_S)));
                }
                past.push(all.clone());
            }
        }
    }
}
