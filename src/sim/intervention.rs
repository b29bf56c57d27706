//! Everything an operator can do to a running system, as one value.

use super::spec::{CacheIndex, ClientIndex, DatabaseIndex, ServiceIndex};

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
    /// Sets how often the service's database clients try a query.
    SetQueryAttempts {
        /// Which service.
        service: ServiceIndex,
        /// Attempts, the first included.
        attempts: u32,
    },
    /// Sets the size of one of each instance's connection pools.
    SetPoolSize {
        /// Which service.
        service: ServiceIndex,
        /// Which of its pools.
        pool: usize,
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
    /// Changes one setting.
    Set {
        /// Which.
        knob: Knob,
        /// The new value: 0 or 1 for a switch, seconds for a span, per second for a rate, a share as 0 to 1. `None` where the
        /// setting can be absent.
        value: Option<f64>,
    },
}

/// A setting that can be changed while the system runs. Steps are numbered within their service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Knob {
    /// How long clients wait for an attempt; may be absent.
    ClientTimeout(ClientIndex),
    /// Pause of clients before the first retry, seconds.
    ClientBackoff(ClientIndex),
    /// Retries as a share of first attempts; may be absent.
    RetryBudget(ClientIndex),
    /// Clients honour Retry-After: a switch.
    RetryAfter(ClientIndex),
    /// Share of the requests that the balancer sends to a service; the others share the rest as before.
    Route(ServiceIndex),
    /// Requests at the same time per instance; may be absent.
    Workers(ServiceIndex),
    /// Deadline of a request; may be absent.
    Deadline(ServiceIndex),
    /// Stale values are served: a switch.
    ServeStale(ServiceIndex),
    /// One read of the source per key and process: a switch.
    Coalesce(ServiceIndex),
    /// The lock across processes: seconds until it is free by itself; may be absent.
    Lock(ServiceIndex),
    /// Reads of the source per second; may be absent.
    OriginRate(ServiceIndex),
    /// Reads of the source at the same time; may be absent.
    OriginAtOnce(ServiceIndex),
    /// Entries of the local cache; absent when there is none.
    LocalEntries(ServiceIndex),
    /// Copies keep their times: a switch.
    KeepStamps(ServiceIndex),
    /// Failures in a row that open the breaker on the cache; absent when there is none.
    Breaker(ServiceIndex),
    /// How long a call to an unreachable cache takes to fail.
    CacheTimeout(ServiceIndex),
    /// Calls to an unreachable cache per request.
    CacheAttempts(ServiceIndex),
    /// A static answer instead of a refusal: a switch.
    StaticAnswer(ServiceIndex),
    /// How long an attempt of a call may take: service and step.
    CallTimeout(ServiceIndex, usize),
    /// Attempts of a call: service and step.
    CallAttempts(ServiceIndex, usize),
    /// Giving up a call stops its work downstream: service and step; a switch.
    CallCancels(ServiceIndex, usize),
    /// How long a value of a kind of read may be served, from the next one written on.
    Ttl(usize),
    /// When it wants to be read again; may be absent.
    SoftTtl(usize),
    /// Share by which both vary.
    TtlJitter(usize),
    /// Cores of each host.
    Cores(DatabaseIndex),
    /// Connections that each host accepts.
    Connections(DatabaseIndex),
}
