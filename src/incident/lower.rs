//! Turns a checked file into what the engine runs.

use super::schema::{self, Action, IncidentFile, System};
use crate::sim::intervention::Knob;
use crate::sim::spec::{
    Abandoned, AgeFrom, Backoff, Backup, BalancerSpec, BreakerSpec, CacheSpec, CallSpec, ClientSpec,
    ConfigReach, Confirm, DatabaseSpec, Jitter, KeySpace, LocalSpec, LockSpec, OriginBudget, PoolSpec,
    QuerySpec, ReadSpec, Reading, ServiceSpec, Spec, Spread, Step, WrittenBy,
};
use crate::sim::{Fault, Intervention};
use crate::units::{SECOND, SimSpan, SimTime, TimeOfDay};

/// Seconds of a rate limit that may pass in one burst.
const BURST_S: f64 = 1.0;
/// How long the balancer takes to turn a request away.
const REJECT_LATENCY: SimSpan = SimSpan::from_millis(2);
/// Operations per second that leave a trace, at the highest traffic and full scale.
const TRACES_PER_S: f64 = 10.0;

/// An index that no list has: what a name becomes that does not exist. The engine's own check refuses it.
const NOWHERE: usize = usize::MAX;

/// The system and the script of what happens in it. The file should have been checked: a name that does not exist
/// becomes an index that [`Spec::problems`] reports, and what happens to a part that does not exist is left out.
pub fn lower(file: &IncidentFile) -> (Spec, Vec<(SimTime, Fault)>) {
    let system = &file.system;
    let at = |time: TimeOfDay| SimTime(span_of_day(file.clock.start, time).0);
    let mut traffic: Vec<(SimTime, f64)> =
        system.traffic.operations.iter().map(|(time, rate)| (at(*time), rate.0)).collect();
    if let Some(first) = traffic.first_mut() {
        // The first rate holds from the start of the clock, whatever time stands beside it.
        first.0 = SimTime::ZERO;
    }
    let highest = traffic.iter().fold(0.0, |most: f64, t| most.max(t.1));
    let spec = Spec {
        traffic,
        reads: reads(system),
        clients: clients(system),
        balancer: balancer(system),
        services: system
            .services
            .iter()
            .map(|(name, service)| lower_service(system, name, service))
            .collect(),
        caches: caches(system),
        databases: databases(system),
        late_after: file.slo.late_after,
        trace_one_in: (highest / TRACES_PER_S).max(1.0) as u32,
    };
    let mut script: Vec<(SimTime, Fault)> =
        file.happens.iter().filter_map(|h| Some((at(h.at), fault(&spec, &h.what)?))).collect();
    script.sort_by_key(|&(at, _)| at);
    (spec, script)
}

/// The place of a pool in a service's list: of the one named, or of the only one.
pub(super) fn pool_index(service: &schema::Service, name: Option<&str>) -> Option<usize> {
    match name {
        Some(name) => service.pools.keys().position(|pool| pool == name),
        None => (service.pools.len() == 1).then_some(0),
    }
}

/// Services that do what operations are about.
pub(super) fn readers(system: &System) -> impl Iterator<Item = (&String, &schema::Service)> {
    let reads =
        |service: &schema::Service| service.steps.iter().any(|step| matches!(step, schema::Step::Read));
    system.services.iter().filter(move |(_, service)| reads(service))
}

fn reads(system: &System) -> Vec<ReadSpec> {
    let pool = |name: Option<&str>| {
        readers(system).next().and_then(|(_, service)| pool_index(service, name)).unwrap_or(NOWHERE)
    };
    let reads = system.traffic.reads.iter().map(|(name, read)| ReadSpec {
        name: name.clone(),
        share: read.share.0,
        posts: read.posts,
        keys: match read.keys {
            schema::Keys::Zipf { n, s } => KeySpace::Zipf { n, s },
            schema::Keys::Even { n } => KeySpace::Even { n },
        },
        ttl: read.ttl,
        soft_ttl: read.soft_ttl,
        ttl_jitter: read.ttl_jitter.0,
        written: read.written,
        query: QuerySpec { work: spread(read.query), io: spread(read.io), cold_factor: read.cold_page },
        pool: pool(read.pool.as_deref()),
    });
    let writes = system.traffic.writes.iter().map(|(name, write)| ReadSpec {
        name: name.clone(),
        share: write.share.0,
        posts: true,
        keys: KeySpace::Even { n: 1 },
        ttl: None,
        soft_ttl: None,
        ttl_jitter: 0.0,
        written: None,
        query: QuerySpec { work: spread(write.query), io: spread(write.io), cold_factor: 1.0 },
        pool: pool(write.pool.as_deref()),
    });
    reads.chain(writes).collect()
}

fn jitter(jitter: schema::Jitter) -> Jitter {
    match jitter {
        schema::Jitter::None => Jitter::None,
        schema::Jitter::Full => Jitter::Full,
        schema::Jitter::Equal => Jitter::Equal,
    }
}

fn clients(system: &System) -> Vec<ClientSpec> {
    let client = |(name, client): (&String, &schema::Client)| {
        let jitter = jitter(client.jitter);
        ClientSpec {
            name: name.clone(),
            share: client.share.0,
            attempts: client.attempts,
            backoff: match client.backoff {
                schema::Backoff::Fixed(pause) => Backoff { jitter, ..Backoff::fixed(pause) },
                schema::Backoff::Exponential { first, factor, cap } => Backoff { first, factor, cap, jitter },
            },
            timeout: client.timeout,
            retry_budget: client.retry_budget.map(|share| share.0),
            honours_retry_after: client.honours_retry_after,
            config: match client.config {
                schema::Config::Flag { after } => ConfigReach::Flag { after },
                schema::Config::RemoteConfig { half_life } => ConfigReach::Remote { half_life },
            },
        }
    };
    system.clients.iter().map(client).collect()
}

fn balancer(system: &System) -> BalancerSpec {
    let balancer = &system.balancer;
    let routes = if balancer.routes.is_empty() && system.services.len() == 1 {
        vec![(0, 1.0)]
    } else {
        balancer.routes.iter().map(|(name, share)| (service_index(system, name), share.0)).collect()
    };
    BalancerSpec {
        name: balancer.name.clone(),
        rate_limit: balancer.rate_limit.map(|rate| rate.0),
        burst_s: BURST_S,
        apply_after: balancer.apply_after,
        reject_latency: REJECT_LATENCY,
        routes,
    }
}

fn service_index(system: &System, name: &str) -> usize {
    system.services.keys().position(|n| n == name).unwrap_or(NOWHERE)
}

fn lower_service(system: &System, name: &str, service: &schema::Service) -> ServiceSpec {
    let cache = |name: &String| system.caches.keys().position(|n| n == name).unwrap_or(NOWHERE);
    let database = |name: &String| system.databases.keys().position(|n| n == name).unwrap_or(NOWHERE);
    let step = |step: &schema::Step| match step {
        schema::Step::Work { name, takes } => Step::Work { name: name.clone(), takes: spread(*takes) },
        schema::Step::Read => Step::Read,
        schema::Step::Query { name, query, io, pool } => Step::Query {
            name: name.clone(),
            query: QuerySpec { work: spread(*query), io: spread(*io), cold_factor: 1.0 },
            pool: pool_index(service, pool.as_deref()).unwrap_or(NOWHERE),
        },
        schema::Step::Call {
            name,
            service,
            timeout,
            attempts,
            backoff,
            jitter: varies,
            cancels,
            confirm,
        } => Step::Call(CallSpec {
            name: name.clone(),
            service: service_index(system, service),
            timeout: *timeout,
            attempts: *attempts,
            backoff: *backoff,
            jitter: jitter(*varies),
            cancels: *cancels,
            confirm: confirm.as_ref().map(|confirm| Confirm {
                service: service_index(system, &confirm.service),
                wait: confirm.wait,
            }),
        }),
    };
    let pool = |(name, pool): (&String, &schema::Pool)| PoolSpec {
        name: name.clone(),
        size: pool.size,
        acquire_timeout: pool.acquire_timeout,
        acquire_varies: pool.acquire_varies,
        query_timeout: pool.query_timeout,
        attempts: pool.attempts,
        connect: pool.connect,
        idle_timeout: pool.idle_timeout,
    };
    ServiceSpec {
        name: name.to_owned(),
        instances: service.instances,
        start_up: service.start_up,
        drain: service.drain,
        handling: spread(service.handling),
        workers: service.workers,
        deadline: service.deadline,
        retry_after: service.retry_after,
        config_after: service.config_after,
        cache: service.cache.as_ref().map(cache),
        database: service.database.as_ref().map(database),
        pools: service.pools.iter().map(pool).collect(),
        steps: service.steps.iter().map(step).collect(),
        reading: reading(&service.reading),
    }
}

fn reading(reading: &schema::ReadPath) -> Reading {
    Reading {
        serve_stale: reading.serve_stale,
        coalesce: reading.coalesce,
        lock: reading.lock.map(|lock| LockSpec { ttl: lock.ttl, wait: lock.wait }),
        origin: OriginBudget {
            per_s: reading.origin.rate.map(|rate| rate.0),
            at_once: reading.origin.at_once,
            fleet: reading.origin.per == schema::Per::Fleet,
        },
        local: reading.local.map(|local| LocalSpec {
            entries: local.entries,
            keep_stamps: local.stamps == schema::Stamps::Kept,
        }),
        age_from: match reading.age_from {
            schema::AgeFrom::QueryStart => AgeFrom::QueryStart,
            schema::AgeFrom::Result => AgeFrom::Result,
        },
        written_by: match reading.written_by {
            schema::WrittenBy::Query => WrittenBy::Query,
            schema::WrittenBy::Request => WrittenBy::Request,
        },
        cache_timeout: reading.cache_timeout,
        cache_attempts: reading.cache_attempts,
        cache_backoff: reading.cache_backoff,
        breaker: reading
            .breaker
            .map(|breaker| BreakerSpec { failures: breaker.failures, open: breaker.open }),
        static_answer: reading.static_answer,
    }
}

fn caches(system: &System) -> Vec<CacheSpec> {
    let cache = |(name, cache): (&String, &schema::Cache)| CacheSpec {
        name: name.clone(),
        warm: cache.warm.0,
        backup: cache.backup.map(|backup| match backup {
            schema::Backup::Replica { lag, latency, nodes } => Backup::Replica { lag, latency, nodes },
            schema::Backup::Gutter { ttl, nodes } => Backup::Gutter { ttl, nodes },
        }),
        nodes: cache.nodes,
    };
    system.caches.iter().map(cache).collect()
}

fn databases(system: &System) -> Vec<DatabaseSpec> {
    let database = |(name, database): (&String, &schema::Database)| DatabaseSpec {
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
        slow_query: database.slow_query,
        resize_after: database.resize_after,
    };
    system.databases.iter().map(database).collect()
}

/// What happens, as the engine takes it; `None` when the system has no such part.
fn fault(spec: &Spec, what: &schema::Fault) -> Option<Fault> {
    let service = |name: &str| spec.services.iter().position(|s| s.name == name);
    Some(match what {
        schema::Fault::CacheNodeLost { cache, failover, survivors } => Fault::CacheNodeLost {
            cache: spec.caches.iter().position(|c| c.name == *cache)?,
            failover: *failover,
            survivors: survivors.0,
        },
        schema::Fault::DatabaseDown { database, lasts } => Fault::DatabaseDown {
            database: spec.databases.iter().position(|d| d.name == *database)?,
            lasts: *lasts,
        },
        schema::Fault::SlowWork { service: name, adds, lasts } => {
            Fault::SlowWork { service: service(name)?, adds: spread(*adds), lasts: *lasts }
        }
        schema::Fault::InstancesLost { service: name, count } => {
            Fault::InstancesLost { service: service(name)?, count: *count }
        }
        schema::Fault::LockHolderLost { service: name } => Fault::LockHolderLost { service: service(name)? },
        schema::Fault::Do(action) => Fault::Change(intervention(spec, action)?),
    })
}

/// What the engine does for an action; `None` when it names a part that the system lacks, or a value that does not suit
/// the setting.
pub(super) fn intervention(spec: &Spec, action: &Action) -> Option<Intervention> {
    let client = |name: &str| spec.clients.iter().position(|c| c.name == name);
    let service = |name: &str| spec.services.iter().position(|s| s.name == name);
    let cache = |name: &str| spec.caches.iter().position(|c| c.name == name);
    Some(match action {
        Action::ClientRetries { client: name, attempts } => {
            Intervention::SetClientAttempts { client: client(name)?, attempts: *attempts }
        }
        Action::RateLimit(rate) => Intervention::SetRateLimit { per_s: Some(rate.0) },
        Action::NoRateLimit => Intervention::SetRateLimit { per_s: None },
        Action::Scale { service: name, instances } => {
            Intervention::ScaleService { service: service(name)?, instances: *instances }
        }
        Action::QueryAttempts { service: name, attempts } => {
            Intervention::SetQueryAttempts { service: service(name)?, attempts: *attempts }
        }
        Action::PoolSize { service: name, pool, size } => {
            let service = service(name)?;
            let pools = &spec.services[service].pools;
            let pool = match pool {
                Some(pool) => pools.iter().position(|p| p.name == *pool)?,
                None if pools.len() == 1 => 0,
                None => return None,
            };
            Intervention::SetPoolSize { service, pool, size: *size }
        }
        Action::FlushCache(name) => Intervention::FlushCache { cache: cache(name)? },
        Action::WarmCache { cache: name, keys, rate } => {
            Intervention::WarmCache { cache: cache(name)?, keys: *keys, per_s: rate.0 }
        }
        Action::StopWarming(name) => Intervention::StopWarming { cache: cache(name)? },
        Action::RollingRestart { service: name, batch } => {
            Intervention::RollingRestart { service: service(name)?, batch: *batch }
        }
        Action::Set(knob, setting) => {
            Intervention::Set { knob: knob.find(spec)?, value: knob.value(*setting)? }
        }
    })
}

/// The same change for a system at `scale` of its size, as [`Spec::scaled`] shrinks it.
pub(super) fn scaled(intervention: Intervention, scale: f64) -> Intervention {
    let count = |n: u32| ((f64::from(n) * scale + 0.5) as u32).max(1);
    match intervention {
        Intervention::SetRateLimit { per_s } => {
            Intervention::SetRateLimit { per_s: per_s.map(|r| r * scale) }
        }
        Intervention::SetPoolSize { service, pool, size } => {
            Intervention::SetPoolSize { service, pool, size: count(size) }
        }
        Intervention::WarmCache { cache, keys, per_s } => {
            Intervention::WarmCache { cache, keys: count(keys), per_s: per_s * scale }
        }
        Intervention::Set { knob, value } => {
            let whole = |v: f64| f64::from(count(v as u32));
            let value = match knob {
                Knob::Workers(_) | Knob::OriginAtOnce(_) | Knob::LocalEntries(_) | Knob::Connections(_) => {
                    value.map(whole)
                }
                Knob::OriginRate(_) | Knob::Cores(_) => value.map(|v| v * scale),
                _ => value,
            };
            Intervention::Set { knob, value }
        }
        other => other,
    }
}

fn spread(spread: schema::Spread) -> Spread {
    match spread {
        schema::Spread::Fixed(span) => Spread::Fixed(span),
        schema::Spread::Exponential(mean) => Spread::Exponential(mean),
        schema::Spread::Erlang { k, mean } => Spread::Erlang { k, mean },
        schema::Spread::Uniform { low, high } => Spread::Uniform { low, high },
    }
}

/// From one time of day to the next time that a clock shows another, less than a day later.
pub(super) fn span_of_day(from: TimeOfDay, to: TimeOfDay) -> SimSpan {
    let seconds = (u64::from(to.0) + 86_400 - u64::from(from.0) % 86_400) % 86_400;
    SimSpan(seconds * SECOND)
}
