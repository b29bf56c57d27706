//! Client populations: how often they try, how long they pause, and how a changed setting reaches them.

use super::events::Ring;
use super::math::{exp2, mix};
use super::spec::{ClientSpec, ConfigReach};

/// A population.
#[derive(Clone, Debug)]
pub struct Client {
    /// How a changed setting reaches it.
    reach: ConfigReach,
    /// Settings of the attempts, each from an instant on; the first from the start.
    settings: Vec<(u64, u32)>,
    /// Where its pauses are kept.
    pub backoff: Ring,
    /// Where its patience is kept.
    pub patience: Option<Ring>,
}

/// After this many half-lives everybody has the new setting.
const REACHED_ALL: f64 = 32.0;

impl Client {
    /// A population as described.
    pub fn new(spec: &ClientSpec, backoff: Ring, patience: Option<Ring>) -> Client {
        Client { reach: spec.config, settings: vec![(0, spec.attempts)], backoff, patience }
    }

    /// Publishes a new setting.
    pub fn set_attempts(&mut self, now: u64, attempts: u32) {
        let from = match self.reach {
            ConfigReach::Flag { after } => now + after.0,
            ConfigReach::Remote { .. } => now,
        };
        self.settings.push((from, attempts));
    }

    /// The share of the population that has the setting published at `from`.
    fn reached(&self, from: u64, now: u64) -> f64 {
        if now < from {
            return 0.0;
        }
        match self.reach {
            ConfigReach::Flag { .. } => 1.0,
            ConfigReach::Remote { half_life } => {
                let half_lives = (now - from) as f64 / half_life.0.max(1) as f64;
                if half_lives > REACHED_ALL { 1.0 } else { 1.0 - exp2(-half_lives) }
            }
        }
    }

    /// Attempts that the client of an operation allows itself now. A client has a place in the order in which
    /// settings spread, so that within one operation it never goes back to an older setting.
    #[inline]
    pub fn attempts(&self, operation: u64, now: u64) -> u32 {
        if let [(_, only)] = self.settings[..] {
            return only;
        }
        let place = (mix(operation) >> 11) as f64 / (1u64 << 53) as f64;
        self.settings
            .iter()
            .rev()
            .find(|(from, _)| place < self.reached(*from, now))
            .map_or(self.settings[0].1, |s| s.1)
    }

    /// Mean of the attempts allowed, over the population.
    pub fn mean_attempts(&self, now: u64) -> f64 {
        self.settings[1..].iter().fold(f64::from(self.settings[0].1), |mean, &(from, attempts)| {
            let share = self.reached(from, now);
            mean * (1.0 - share) + f64::from(attempts) * share
        })
    }

    /// The setting published last.
    pub fn published(&self) -> u32 {
        self.settings[self.settings.len() - 1].1
    }
}
