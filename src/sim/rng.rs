//! Random numbers: one stream for each component and purpose.
//!
//! Streams are independent of each other, so a lever that makes one component draw more does not shift anybody
//! else's draws: two runs with the same seed have the same users asking for the same keys, and differ by decisions.

use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::math::mix;

/// A stream of random numbers (xoshiro256++, Blackman and Vigna 2019).
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of a purpose under a seed.
    pub fn new(seed: u64, purpose: &str) -> Stream {
        let mut state = mix(seed);
        for byte in purpose.bytes() {
            state = mix(state ^ u64::from(byte));
        }
        Stream(Xoshiro256PlusPlus::seed_from_u64(state))
    }

    /// 64 random bits.
    #[inline]
    pub fn draw(&mut self) -> u64 {
        self.0.next_u64()
    }
}
