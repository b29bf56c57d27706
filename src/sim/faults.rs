//! What can break, or be changed by somebody else, as one value.

use super::intervention::Intervention;
use super::spec::{CacheIndex, DatabaseIndex, ServiceIndex, Spread};
use crate::units::SimSpan;

/// Something that goes wrong in a system, or that others do to it.
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
    /// A database answers nobody: running queries are lost, connections are refused.
    DatabaseDown {
        /// Which database.
        database: DatabaseIndex,
        /// How long.
        lasts: SimSpan,
    },
    /// A background job makes every `Work` step of a service take longer: it holds locks that the work waits for.
    SlowWork {
        /// Which service.
        service: ServiceIndex,
        /// What it adds.
        adds: Spread,
        /// How long the job runs.
        lasts: SimSpan,
    },
    /// Instances crash and start again.
    InstancesLost {
        /// Which service.
        service: ServiceIndex,
        /// How many, those with the lowest numbers.
        count: u32,
    },
    /// The process that holds a lock of the service's cache crashes, or the next one to take it.
    LockHolderLost {
        /// Which service.
        service: ServiceIndex,
    },
    /// Somebody else makes a change.
    Change(Intervention),
}
