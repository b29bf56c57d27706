//! Turns a checked file into what the engine runs.

use super::schema::{self, IncidentFile};
use crate::sim::Fault;
use crate::sim::spec::{
    Abandoned, BalancerSpec, CacheSpec, ClientSpec, ConfigReach, DatabaseSpec, KeySpace, PoolSpec, QuerySpec,
    ReadSpec, ServiceSpec, Spec, Spread,
};
use crate::units::{SECOND, SimSpan, SimTime, TimeOfDay};

/// Seconds of a rate limit that may pass in one burst.
const BURST_S: f64 = 1.0;
/// How long the balancer takes to turn a request away.
const REJECT_LATENCY: SimSpan = SimSpan::from_millis(2);
/// Operations per second that leave a trace, at the highest traffic and full scale.
const TRACES_PER_S: f64 = 10.0;

/// An index that no list has: what a name becomes that does not exist. The engine's own check refuses it.
const NOWHERE: usize = usize::MAX;

/// The system and the script of what breaks in it. The file should have been checked: a name that does not exist
/// becomes an index that [`Spec::problems`] reports, and a fault in a cache that does not exist is left out.
pub fn lower(file: &IncidentFile) -> (Spec, Vec<(SimTime, Fault)>) {
    let system = &file.system;
    let at = |time: TimeOfDay| SimTime(span_of_day(file.clock.start, time).0);
    let cache_index = |name: &str| system.caches.keys().position(|n| n == name);
    let database_index = |name: &str| system.databases.keys().position(|n| n == name);

    let mut traffic: Vec<(SimTime, f64)> =
        system.traffic.operations.iter().map(|(time, rate)| (at(*time), rate.0)).collect();
    if let Some(first) = traffic.first_mut() {
        // The first rate holds from the start of the clock, whatever time stands beside it.
        first.0 = SimTime::ZERO;
    }
    let highest = traffic.iter().fold(0.0, |most: f64, t| most.max(t.1));
    let spec = Spec {
        traffic,
        reads: system
            .traffic
            .reads
            .iter()
            .map(|(name, read)| ReadSpec {
                name: name.clone(),
                share: read.share.0,
                keys: match read.keys {
                    schema::Keys::Zipf { n, s } => KeySpace::Zipf { n, s },
                    schema::Keys::Even { n } => KeySpace::Even { n },
                },
                ttl: read.ttl,
                query: QuerySpec { work: spread(read.query), cold_factor: read.cold_page },
            })
            .collect(),
        clients: system
            .clients
            .iter()
            .map(|(name, client)| ClientSpec {
                name: name.clone(),
                share: client.share.0,
                attempts: client.attempts,
                backoff: match client.backoff {
                    schema::Backoff::Fixed(pause) => pause,
                },
                timeout: client.timeout,
                config: match client.config {
                    schema::Config::Flag { after } => ConfigReach::Flag { after },
                    schema::Config::RemoteConfig { half_life } => ConfigReach::Remote { half_life },
                },
            })
            .collect(),
        balancer: BalancerSpec {
            name: system.balancer.name.clone(),
            rate_limit: system.balancer.rate_limit.map(|rate| rate.0),
            burst_s: BURST_S,
            apply_after: system.balancer.apply_after,
            reject_latency: REJECT_LATENCY,
        },
        services: system
            .services
            .iter()
            .map(|(name, service)| {
                let schema::ReadPath::CacheAside { cache, database } = &service.read;
                let pool = &service.pool;
                ServiceSpec {
                    name: name.clone(),
                    instances: service.instances,
                    start_up: service.start_up,
                    drain: service.drain,
                    handling: spread(service.handling),
                    cache: cache_index(cache).unwrap_or(NOWHERE),
                    database: database_index(database).unwrap_or(NOWHERE),
                    pool: PoolSpec {
                        size: pool.size,
                        acquire_timeout: pool.acquire_timeout,
                        query_timeout: pool.query_timeout,
                        attempts: pool.attempts,
                        connect: pool.connect,
                        idle_timeout: pool.idle_timeout,
                    },
                }
            })
            .collect(),
        caches: system
            .caches
            .iter()
            .map(|(name, cache)| CacheSpec { name: name.clone(), warm: cache.warm.0 })
            .collect(),
        databases: system
            .databases
            .iter()
            .map(|(name, database)| DatabaseSpec {
                name: name.clone(),
                hosts: database.hosts.clone(),
                cores: database.cores,
                contention: database.contention,
                connections: database.connections,
                abandoned: match database.abandoned {
                    schema::Abandoned::Cancelled => Abandoned::Cancelled,
                    schema::Abandoned::RunsOn => Abandoned::RunsOn,
                },
                pages: database.memory.map_or(0, |memory| memory.pages),
                page_stays: database.memory.map_or(SimSpan::ZERO, |memory| memory.stays),
            })
            .collect(),
        late_after: file.slo.late_after,
        trace_one_in: (highest / TRACES_PER_S).max(1.0) as u32,
    };
    let script = file
        .happens
        .iter()
        .filter_map(|happening| {
            let schema::Fault::CacheNodeLost { cache, failover, survivors } = &happening.what;
            let cache = cache_index(cache)?;
            let fault = Fault::CacheNodeLost { cache, failover: *failover, survivors: survivors.0 };
            Some((at(happening.at), fault))
        })
        .collect();
    (spec, script)
}

fn spread(spread: schema::Spread) -> Spread {
    match spread {
        schema::Spread::Fixed(span) => Spread::Fixed(span),
        schema::Spread::Exponential(mean) => Spread::Exponential(mean),
        schema::Spread::Erlang { k, mean } => Spread::Erlang { k, mean },
    }
}

/// From one time of day to the next time that a clock shows another, less than a day later.
pub(super) fn span_of_day(from: TimeOfDay, to: TimeOfDay) -> SimSpan {
    let seconds = (u64::from(to.0) + 86_400 - u64::from(from.0) % 86_400) % 86_400;
    SimSpan(seconds * SECOND)
}
