//! The engine at its boundary: a spec, a seed and changes go in; counts and series come out.

mod conservation;
mod coupling;
mod golden;
mod stampede;
mod stream;
mod theory;
mod vectors;

use pagerdrill::sim::Spec;
use pagerdrill::sim::spec::{
    Abandoned, Backoff, BalancerSpec, CacheSpec, ClientSpec, ConfigReach, DatabaseSpec, KeySpace, PoolSpec,
    QuerySpec, ReadSpec, Reading, ServiceSpec, Spread, Step,
};
use pagerdrill::units::{SimSpan, SimTime};

/// Milliseconds.
pub fn ms(n: u64) -> SimSpan {
    SimSpan::from_millis(n)
}

/// The smallest whole system: one client population, one instance, one host with one core, reads never cached.
/// Tests change what they are about.
pub fn small(per_s: f64, work: Spread) -> Spec {
    Spec {
        traffic: vec![(SimTime::ZERO, per_s)],
        reads: vec![ReadSpec {
            name: "read".to_owned(),
            share: 1.0,
            posts: false,
            keys: KeySpace::Even { n: 100 },
            ttl: None,
            soft_ttl: None,
            ttl_jitter: 0.0,
            written: None,
            query: QuerySpec { work, io: Spread::NONE, cold_factor: 1.0 },
            pool: 0,
        }],
        clients: vec![ClientSpec {
            name: "web".to_owned(),
            share: 1.0,
            attempts: 1,
            backoff: Backoff::fixed(ms(100)),
            timeout: None,
            retry_budget: None,
            honours_retry_after: false,
            config: ConfigReach::Flag { after: SimSpan::ZERO },
        }],
        balancer: BalancerSpec {
            name: "balancer".to_owned(),
            rate_limit: None,
            burst_s: 0.1,
            apply_after: SimSpan::ZERO,
            reject_latency: ms(1),
            routes: vec![(0, 1.0)],
        },
        services: vec![ServiceSpec {
            name: "api".to_owned(),
            instances: 1,
            start_up: ms(2_000),
            drain: ms(1_000),
            handling: Spread::Fixed(ms(1)),
            workers: None,
            deadline: None,
            retry_after: None,
            config_after: SimSpan::ZERO,
            cache: Some(0),
            database: Some(0),
            pools: vec![PoolSpec {
                name: "pool".to_owned(),
                size: 10_000,
                acquire_timeout: SimSpan::from_secs(1_000),
                acquire_varies: false,
                query_timeout: SimSpan::from_secs(1_000),
                attempts: 1,
                connect: SimSpan(1),
                idle_timeout: SimSpan::from_secs(60),
            }],
            steps: vec![Step::Read],
            reading: Reading::default(),
        }],
        caches: vec![CacheSpec { name: "cache".to_owned(), warm: 1.0, backup: None, nodes: 1 }],
        databases: vec![DatabaseSpec {
            name: "db".to_owned(),
            hosts: vec!["primary".to_owned()],
            cores: 1.0,
            contention: 0.0,
            connections: 20_000,
            abandoned: Abandoned::Cancelled,
            pages: 0,
            page_stays: SimSpan::ZERO,
            slow_query: None,
            resize_after: SimSpan::ZERO,
        }],
        late_after: SimSpan::from_secs(1_000),
        trace_one_in: 50,
    }
}
