//! What a database can take, measured on the model as a load test would: the load at which it saturates, the load above
//! which its latency grows, and a limit for reads of the source that follows from both and the size of the fleet.

use crate::sim::World;
use crate::sim::spec::{Backoff, Reading, ServiceIndex, Spec, Step};
use crate::units::{SimSpan, SimTime};

/// Loads that are tried, as parts of the load that uses all cores.
const STEPS: u32 = 20;
/// Seconds of each try, and those of them that are not measured.
const TRY_S: u64 = 20;
const SETTLE_S: u64 = 5;
/// p99 has grown when it is this many times what it is at the lowest load.
const GROWN: f64 = 1.5;
/// Part of the load below that growth which a limit may use: the rest is for what nobody has measured.
const USED: f64 = 0.8;

/// What was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capacity {
    /// Queries per second that use all cores.
    pub saturates_at: f64,
    /// Highest load tried at which p99 has not grown by half, queries per second.
    pub grows_above: f64,
    /// Queries per second that reads need which are never cached.
    pub never_cached: f64,
    /// Reads of the source per second that leave room for them, over the whole service.
    pub limit: f64,
    /// The same for each instance.
    pub limit_each: f64,
    /// Instances.
    pub instances: u32,
}

/// Measures the database behind a service with the mix of reads that the cache answers on a good day; `None` when the
/// service has no database or no cached reads.
pub fn capacity(system: &Spec, service: ServiceIndex, seed: u64) -> Option<Capacity> {
    let spec = load_test(system, service)?;
    let database = &spec.databases[0];
    let work: f64 = spec.reads.iter().map(|r| r.share * r.query.work.mean().as_secs_f64()).sum();
    let saturates_at = database.hosts.len() as f64 * database.cores / work;
    let load = |step: u32| saturates_at * f64::from(step) / f64::from(STEPS);
    let lowest = p99_s(&spec, load(1), seed)?;
    let grown =
        (2..=STEPS).find(|&step| p99_s(&spec, load(step), seed).is_none_or(|p99| p99 > GROWN * lowest));
    let grows_above = load(grown.unwrap_or(STEPS + 1) - 1);
    let highest = system.traffic.iter().fold(0.0, |most: f64, t| most.max(t.1));
    let never: f64 = system.reads.iter().filter(|r| r.ttl.is_none()).map(|r| r.share).sum();
    let never_cached = highest * never;
    let limit = (USED * grows_above - never_cached).max(0.0);
    let instances = system.services[service].instances;
    Some(Capacity {
        saturates_at,
        grows_above,
        never_cached,
        limit,
        limit_each: limit / f64::from(instances),
        instances,
    })
}

/// The database alone: every read goes to it, nothing in front of it limits or fails.
fn load_test(system: &Spec, service: ServiceIndex) -> Option<Spec> {
    let mut tested = system.services[service].clone();
    let database = tested.database?;
    let mut spec = system.clone();
    spec.reads.retain(|r| r.ttl.is_some());
    let shares: f64 = spec.reads.iter().map(|r| r.share).sum();
    if shares <= 0.0 {
        return None;
    }
    for read in &mut spec.reads {
        (read.share, read.ttl, read.soft_ttl, read.written) = (read.share / shares, None, None, None);
    }
    spec.databases = vec![system.databases[database].clone()];
    (spec.databases[0].pages, spec.databases[0].connections) = (0, 1_000_000);
    tested.instances = 1;
    (tested.workers, tested.deadline, tested.cache, tested.database) = (None, None, None, Some(0));
    (tested.steps, tested.reading) = (vec![Step::Read], Reading::default());
    for pool in &mut tested.pools {
        (pool.size, pool.attempts) = (100_000, 1);
        (pool.acquire_timeout, pool.query_timeout) = (SimSpan::from_secs(600), SimSpan::from_secs(600));
    }
    (spec.services, spec.caches) = (vec![tested], Vec::new());
    spec.clients.truncate(1);
    let client = &mut spec.clients[0];
    (client.share, client.attempts, client.timeout) = (1.0, 1, None);
    client.backoff = Backoff::fixed(SimSpan::ZERO);
    (spec.balancer.routes, spec.balancer.rate_limit) = (vec![(0, 1.0)], None);
    Some(spec)
}

/// p99 at a load, seconds.
fn p99_s(spec: &Spec, per_s: f64, seed: u64) -> Option<f64> {
    let mut spec = spec.clone();
    spec.traffic = vec![(SimTime::ZERO, per_s)];
    let mut world = World::new(&spec, seed);
    world.advance(SimTime::from_secs(SETTLE_S));
    let before = world.latency().clone();
    world.advance(SimTime::from_secs(TRY_S));
    world.latency().since(&before).quantile(0.99).map(|ns| ns / 1e9)
}
