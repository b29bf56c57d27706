//! A running checksum over what happened: equal digests mean equal runs.

use super::math::mix;

/// A 64-bit running checksum; order matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest(u64);

impl Digest {
    /// The digest of nothing.
    pub const fn new() -> Digest {
        Digest(0x7061_6765_7264_726c)
    }

    /// Takes in a value.
    #[inline]
    pub fn add(&mut self, value: u64) {
        self.0 = mix(self.0 ^ value);
    }

    /// The checksum so far.
    pub const fn value(self) -> u64 {
        self.0
    }
}

impl Default for Digest {
    fn default() -> Digest {
        Digest::new()
    }
}
