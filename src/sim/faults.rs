//! What can break, as one value.

use super::spec::CacheIndex;
use crate::units::SimSpan;

/// Something that goes wrong in a system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// The cache is unreachable for `failover`; the node that takes over has kept a share of the entries.
    CacheNodeLost {
        /// Which cache.
        cache: CacheIndex,
        /// How long nobody answers.
        failover: SimSpan,
        /// Share of the entries that the new node has, 0 to 1.
        survivors: f64,
    },
}
