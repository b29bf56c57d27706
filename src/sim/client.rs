//! Client populations: how often they try, how long they pause, and how a changed setting reaches them. Backoff and jitter are
//! named as Brooker (2015) does; a budget for retries is a token bucket that first attempts fill, as in Finagle.

use super::events::{Entry, Ring};
use super::flow::Answer;
use super::math::{exp2, mix};
use super::request::Operation;
use super::rng::Stream;
use super::spec::{Backoff, ClientSpec, ConfigReach, Jitter};
use super::world::{Due, World};
use crate::units::SimSpan;

/// A population.
#[derive(Clone, Debug)]
pub struct Client {
    /// How a changed setting reaches it.
    reach: ConfigReach,
    /// Settings of the attempts, each from an instant on; the first from the start.
    settings: Vec<(u64, u32)>,
    /// How it pauses.
    pub(super) backoff: Backoff,
    /// Where its pauses are kept while they are all the same.
    pub(super) pause: Option<Ring>,
    /// Where its patience is kept.
    pub(super) patience: Option<Ring>,
    /// Whether it waits as long as a refusal says.
    pub(super) honours_retry_after: bool,
    /// Retries that each first attempt earns, and those earned and not used, in millionths; `None` for no budget.
    budget: Option<(u64, u64)>,
}

/// A retry's price, in millionths of a retry.
const RETRY: u64 = 1_000_000;
/// Retries that can be saved up.
const SAVED_MOST: u64 = 100 * RETRY;

/// After this many half-lives everybody has the new setting.
const REACHED_ALL: f64 = 32.0;

/// A pause as it turns out, nanoseconds.
pub(super) fn jittered(pause: SimSpan, jitter: Jitter, rng: &mut Stream) -> u64 {
    match jitter.part(pause).0 {
        0 => pause.0,
        varies => pause.0 - varies + ((u128::from(varies) * u128::from(rng.draw())) >> 64) as u64,
    }
}

impl Client {
    /// A population as described.
    pub(super) fn new(spec: &ClientSpec, pause: Option<Ring>, patience: Option<Ring>) -> Client {
        let mut client = Client {
            reach: spec.config,
            settings: vec![(0, spec.attempts)],
            backoff: spec.backoff,
            pause,
            patience,
            honours_retry_after: spec.honours_retry_after,
            budget: None,
        };
        client.set_budget(spec.retry_budget);
        client
    }

    /// Limits retries to a share of first attempts.
    pub(super) fn set_budget(&mut self, share: Option<f64>) {
        self.budget = share.map(|s| ((s.max(0.0) * RETRY as f64) as u64, 10 * RETRY));
    }

    /// A first attempt earns its part of a retry.
    #[inline]
    pub(super) fn earn(&mut self) {
        if let Some((part, saved)) = &mut self.budget {
            *saved = (*saved + *part).min(SAVED_MOST);
        }
    }

    /// Whether the budget has a retry left; it is used then.
    pub(super) fn spend(&mut self) -> bool {
        match &mut self.budget {
            None => true,
            Some((_, saved)) if *saved >= RETRY => {
                *saved -= RETRY;
                true
            }
            Some(_) => false,
        }
    }

    /// The pause before the n-th retry, nanoseconds.
    pub(super) fn pause_before(&self, retry: u32, rng: &mut Stream) -> u64 {
        let Backoff { first, factor, cap, jitter } = self.backoff;
        let mut pause = first.0 as f64;
        for _ in 1..retry {
            pause = (pause * factor).min(cap.0 as f64);
        }
        jittered(SimSpan((pause as u64).min(cap.0)), jitter, rng)
    }

    /// How long a change takes until it has reached everybody at once, or half of them.
    pub(super) fn reach_ns(&self) -> u64 {
        match self.reach {
            ConfigReach::Flag { after } => after.0,
            ConfigReach::Remote { half_life } => half_life.0,
        }
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
        match self.settings[..] {
            [(_, only)] => only,
            _ => self.attempts_of(operation, now),
        }
    }

    fn attempts_of(&self, operation: u64, now: u64) -> u32 {
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

impl World {
    /// Whether a client makes a further attempt.
    #[inline(always)]
    pub(super) fn tries_again(&mut self, operation: &Operation) -> bool {
        let client = &mut self.clients[operation.client as usize];
        if u32::from(operation.attempt) >= client.attempts(operation.number, self.now) {
            return false;
        }
        let has = client.spend();
        self.counters.retries_denied += u64::from(!has);
        has
    }

    /// A client pauses before its next attempt.
    #[inline(always)]
    pub(super) fn pause(&mut self, entry: Entry, operation: &Operation, answer: Answer) {
        let client = &self.clients[operation.client as usize];
        let asked = match answer {
            Answer::Rejected(retry_after) if client.honours_retry_after => retry_after,
            _ => 0,
        };
        match client.pause {
            Some(ring) if asked == 0 => self.events.after(ring, self.now, entry),
            _ => self.pause_for_at_least(asked, entry, operation),
        }
    }

    /// A client's pause is its own one or what it was asked for, whichever is longer.
    fn pause_for_at_least(&mut self, asked: u64, entry: Entry, operation: &Operation) {
        let client = &self.clients[operation.client as usize];
        let pause = client.pause_before(u32::from(operation.attempt), &mut self.jitter_rng);
        // A herd that was told the same time comes back spread over it.
        let spread = if asked > 0 && client.backoff.jitter != Jitter::None { asked / 2 } else { 0 };
        let more = ((u128::from(spread) * u128::from(self.jitter_rng.draw())) >> 64) as u64;
        self.later(pause.max(asked + more), Due::Retry, entry);
    }

    /// A client's pause is over.
    pub(super) fn retry(&mut self, entry: Entry) {
        let operation = self.requests.get(entry.id).operation;
        let told_apart = self.counters.requests_by_attempt.len();
        self.counters.requests_by_attempt[(operation.attempt as usize).clamp(1, told_apart) - 1] += 1;
        self.send(operation, Some(entry.id));
    }
}
