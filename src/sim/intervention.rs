//! Everything an operator can do to a running system, as one value.

use super::spec::{CacheIndex, ClientIndex, ServiceIndex};

/// A change that an operator makes. It takes the time that such a change takes: clients fetch their configuration
/// gradually, new instances start up, old ones drain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Intervention {
    /// Sets the attempts per operation of a client population; 1 turns its retries off.
    SetClientAttempts {
        /// Which population.
        client: ClientIndex,
        /// Attempts, the first included.
        attempts: u32,
    },
    /// Limits, or no longer limits, the requests that the load balancer lets through.
    SetRateLimit {
        /// Requests per second; `None` removes the limit.
        per_s: Option<f64>,
    },
    /// Starts or drains instances until there are this many.
    ScaleService {
        /// Which service.
        service: ServiceIndex,
        /// Wanted instances, at least 1.
        instances: u32,
    },
    /// Sets how often the service's database client tries a query.
    SetQueryAttempts {
        /// Which service.
        service: ServiceIndex,
        /// Attempts, the first included.
        attempts: u32,
    },
    /// Sets the size of each instance's connection pool.
    SetPoolSize {
        /// Which service.
        service: ServiceIndex,
        /// Connections per instance.
        size: u32,
    },
    /// Throws away everything in a cache.
    FlushCache {
        /// Which cache.
        cache: CacheIndex,
    },
    /// Reads the most popular keys from the database into the cache, through connections of its own.
    WarmCache {
        /// Which cache.
        cache: CacheIndex,
        /// How many keys, the most popular first.
        keys: u32,
        /// Queries started per second.
        per_s: f64,
    },
    /// Stops a running warm-up.
    StopWarming {
        /// Which cache.
        cache: CacheIndex,
    },
    /// Restarts all instances, so many at a time; what an instance was doing is lost.
    RollingRestart {
        /// Which service.
        service: ServiceIndex,
        /// Instances down at the same time.
        batch: u32,
    },
}
