//! The load balancer: a token bucket in front, and behind it services by their weight. Which instance of a service gets a request,
//! round robin, is in [`super::service`].

use super::world::World;

/// A token bucket as a virtual schedule (GCRA, ITU-T I.371): integer arithmetic, no refill events.
#[derive(Clone, Debug)]
pub struct TokenBucket {
    /// Nanoseconds per token in Q16; zero for no limit.
    interval_q16: u64,
    /// How far the schedule may run ahead, Q16.
    burst_q16: u64,
    /// When the next token is due, Q16.
    due_q16: u64,
    per_s: Option<f64>,
}

impl TokenBucket {
    /// A bucket that lets `per_s` pass, `burst_s` seconds' worth of them at once.
    pub fn new(per_s: Option<f64>, burst_s: f64) -> TokenBucket {
        let mut bucket =
            TokenBucket { interval_q16: 0, burst_q16: (burst_s * 1e9 * 65_536.0) as u64, due_q16: 0, per_s };
        bucket.set(per_s, 0);
        bucket
    }

    /// Changes the limit; a new limit begins with a full bucket.
    pub fn set(&mut self, per_s: Option<f64>, now: u64) {
        self.per_s = per_s;
        // A limit of nothing is one token in a century.
        self.interval_q16 = per_s.map_or(0, |r| (1e9 * 65_536.0 / r.max(1e-9)) as u64).min(u64::MAX >> 2);
        self.due_q16 = now << 16;
    }

    /// The limit, per second.
    pub fn limit(&self) -> Option<f64> {
        self.per_s
    }

    /// Takes a token, or says that there is none.
    #[inline]
    pub fn admit(&mut self, now: u64) -> bool {
        if self.interval_q16 == 0 {
            return true;
        }
        let now_q16 = now << 16;
        let due = self.due_q16.max(now_q16);
        if due - now_q16 > self.burst_q16 {
            return false;
        }
        self.due_q16 = due.saturating_add(self.interval_q16);
        true
    }
}

impl World {
    /// The service that the balancer sends a request to.
    #[inline]
    pub(super) fn route(&mut self) -> u16 {
        match self.routes[..] {
            [(only, _)] => only,
            _ => {
                let pick = (self.route_rng.draw() >> 32) as u32;
                self.routes.iter().find(|r| pick <= r.1).map_or(self.routes[0].0, |r| r.0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_rate_and_burst_pass() {
        let mut bucket = TokenBucket::new(Some(100.0), 0.5);
        let passed = (0..100_000u64).filter(|i| bucket.admit(i * 100_000)).count();
        assert!((1_049..=1_052).contains(&passed), "10 s at 100/s with a burst of 50: {passed}");
    }

    #[test]
    fn no_limit_and_a_limit_of_nothing() {
        assert!((0..1000).all(|i| TokenBucket::new(None, 1.0).admit(i)));
        let mut shut = TokenBucket::new(Some(0.0), 1.0);
        assert!((0..1000u64).filter(|&i| shut.admit(i * 1_000_000)).count() <= 1);
    }
}
