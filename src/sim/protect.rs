//! What keeps a process from asking too much of others: a circuit breaker (Nygard 2007) and a budget for reads of the source.
//! (The limit at the front door is [`super::balancer`]'s token bucket.)

use super::balancer::TokenBucket;
use super::spec::BreakerSpec;

/// A circuit breaker: after so many failures in a row it lets nothing pass for a while, then one call that tries.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Breaker {
    failures: u32,
    open_until: u64,
}

impl Breaker {
    /// Nothing has failed since the last call that worked.
    #[inline]
    pub(super) fn is_at_rest(&self) -> bool {
        self.failures == 0
    }

    /// Whether a call may be made now; a call that is made must be told of with [`Breaker::failed`] or
    /// [`Breaker::worked`]. A call that tries and is never told of costs one more period.
    pub(super) fn admits(&mut self, spec: Option<BreakerSpec>, now: u64) -> bool {
        let Some(spec) = spec else { return true };
        if self.failures < spec.failures {
            return true;
        }
        if now < self.open_until {
            return false;
        }
        self.open_until = now + spec.open.0;
        true
    }

    /// A call failed. Says whether that opened the breaker.
    pub(super) fn failed(&mut self, spec: Option<BreakerSpec>, now: u64) -> bool {
        let Some(spec) = spec else { return false };
        self.failures = self.failures.saturating_add(1);
        if self.failures < spec.failures {
            return false;
        }
        self.open_until = now + spec.open.0;
        self.failures == spec.failures
    }

    /// A call worked.
    pub(super) fn worked(&mut self) {
        *self = Breaker::default();
    }

    /// Whether calls are being held back.
    pub(super) fn is_open(&self, spec: Option<BreakerSpec>, now: u64) -> bool {
        spec.is_some_and(|s| self.failures >= s.failures && now < self.open_until)
    }
}

/// How many reads of the source one process may start, and has running.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    rate: TokenBucket,
    at_once: Option<u32>,
    pub(super) running: u32,
}

/// Seconds of the rate that may start in one burst.
const BURST_S: f64 = 0.2;

impl Origin {
    /// A budget of `per_s` starts and `at_once` running; `None` for no limit.
    pub(super) fn new(per_s: Option<f64>, at_once: Option<u32>) -> Origin {
        Origin { rate: TokenBucket::new(per_s, BURST_S), at_once, running: 0 }
    }

    /// Changes the limits.
    pub(super) fn set(&mut self, per_s: Option<f64>, at_once: Option<u32>, now: u64) {
        if self.rate.limit() != per_s {
            self.rate.set(per_s, now);
        }
        self.at_once = at_once;
    }

    /// Whether one may start now; if so it counts as running.
    #[inline]
    pub(super) fn start(&mut self, now: u64) -> bool {
        if self.at_once.is_some_and(|most| self.running >= most) || !self.rate.admit(now) {
            return false;
        }
        self.running += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::SimSpan;

    #[test]
    fn a_breaker_opens_tries_once_and_closes() {
        let spec = Some(BreakerSpec { failures: 3, open: SimSpan(100) });
        let mut breaker = Breaker::default();
        for now in 0..3 {
            assert!(breaker.admits(spec, now));
            assert_eq!(breaker.failed(spec, now), now == 2);
        }
        assert!(!breaker.admits(spec, 50));
        assert!(breaker.admits(spec, 102) && !breaker.admits(spec, 102), "one call tries");
        breaker.failed(spec, 110);
        assert!(breaker.is_open(spec, 150) && !breaker.admits(spec, 150));
        assert!(breaker.admits(spec, 210));
        breaker.worked();
        assert!(breaker.admits(spec, 211) && breaker.admits(spec, 211));
        assert!(Breaker::default().admits(None, 0));
    }

    #[test]
    fn a_budget_limits_starts_and_what_runs() {
        let mut origin = Origin::new(None, Some(2));
        assert!(origin.start(0) && origin.start(0) && !origin.start(0));
        origin.running -= 1;
        assert!(origin.start(0));
        let mut origin = Origin::new(Some(5.0), None);
        let started = (0..10_000u64).filter(|i| origin.start(i * 1_000_000)).count();
        assert!((50..=52).contains(&started), "10 s at 5/s: {started}");
    }
}
