//! What the queueing candidates have in common: one server with its queue (M/M/1), and the increments of the hold model.
//!
//! All candidates draw from the same streams in the same order, so the exact ones come to the same sum of times, to the
//! nanosecond.

use std::collections::VecDeque;

use pagerdrill::sim::math::Exponential;
use pagerdrill::sim::rng::Stream;

/// Customers of one M/M/1 run.
pub const CUSTOMERS: u32 = 1_000_000;
/// Mean time between arrivals and mean service time, nanoseconds: ρ = 0.8.
const GAP: u64 = 1_250_000;
const SERVICE: u64 = 1_000_000;

/// Draws from an exponential distribution, in whole nanoseconds, never zero: one peer refuses delays of nothing.
pub struct Draws {
    table: Exponential,
    stream: Stream,
    mean: u64,
}

impl Draws {
    /// The stream of a purpose.
    pub fn new(purpose: &str, mean: u64) -> Draws {
        Draws { table: Exponential::new(), stream: Stream::new(1, purpose), mean }
    }

    /// The next value.
    #[inline]
    pub fn next(&mut self) -> u64 {
        ((self.table.draw(&mut self.stream) * self.mean) >> 32).max(1)
    }
}

/// A server that serves one customer at a time, in order of arrival.
pub struct Station {
    gaps: Draws,
    services: Draws,
    to_come: u32,
    /// When those who are here arrived; the first is being served.
    here: VecDeque<u64>,
    /// Customers served.
    pub served: u32,
    /// Sum of their times from arrival to departure, nanoseconds.
    pub sojourn: u64,
}

impl Station {
    /// Idle, with all customers to come.
    pub fn new() -> Station {
        Station {
            gaps: Draws::new("gaps", GAP),
            services: Draws::new("services", SERVICE),
            to_come: CUSTOMERS,
            here: VecDeque::new(),
            served: 0,
            sojourn: 0,
        }
    }

    /// Time until the next arrival, if anybody is still to come.
    #[inline]
    pub fn gap(&mut self) -> Option<u64> {
        self.to_come = self.to_come.checked_sub(1)?;
        Some(self.gaps.next())
    }

    /// A customer arrives; the length of its service if it begins now.
    #[inline]
    pub fn arrive(&mut self, now: u64) -> Option<u64> {
        self.here.push_back(now);
        (self.here.len() == 1).then(|| self.services.next())
    }

    /// The customer being served leaves; the length of the next one's service if there is one.
    #[inline]
    pub fn depart(&mut self, now: u64) -> Option<u64> {
        if let Some(arrived) = self.here.pop_front() {
            self.sojourn += now - arrived;
            self.served += 1;
        }
        (!self.here.is_empty()).then(|| self.services.next())
    }

    /// Mean time in the system in units of the mean service time; theory says 1/(1 − ρ) = 5.
    pub fn mean(&self) -> f64 {
        self.sojourn as f64 / f64::from(self.served) / SERVICE as f64
    }
}

/// Increments of the hold model with so many events: one event per microsecond, however many are pending.
pub fn increments(size: u32) -> Draws {
    Draws::new("increments", u64::from(size) * 1_000)
}

/// Spec of the same M/M/1 for the engine's own components: a database with one core, reads that nothing caches.
pub mod components {
    use pagerdrill::sim::Spec;
    use pagerdrill::sim::spec::{
        Abandoned, Backoff, BalancerSpec, CacheSpec, ClientSpec, ConfigReach, DatabaseSpec, KeySpace, PoolSpec,
        QuerySpec, ReadSpec, Reading, ServiceSpec, Spread, Step,
    };
    use pagerdrill::units::{SimSpan, SimTime};

    use super::{GAP, SERVICE};

    /// When about so many customers have come.
    pub fn until(customers: u32) -> SimTime {
        SimTime(GAP * u64::from(customers))
    }

    /// The system. Time limits are far beyond what a query takes here; they are scheduled all the same.
    pub fn spec() -> Spec {
        let limit = SimSpan::from_secs(2);
        Spec {
            traffic: vec![(SimTime::ZERO, 1e9 / GAP as f64)],
            reads: vec![ReadSpec {
                name: "read".to_owned(),
                share: 1.0,
                posts: false,
                keys: KeySpace::Even { n: 100 },
                ttl: None,
                soft_ttl: None,
                ttl_jitter: 0.0,
                written: None,
                query: QuerySpec {
                    work: Spread::Exponential(SimSpan(SERVICE)),
                    io: Spread::NONE,
                    cold_factor: 1.0,
                },
                pool: 0,
            }],
            clients: vec![ClientSpec {
                name: "customers".to_owned(),
                share: 1.0,
                attempts: 1,
                backoff: Backoff::fixed(SimSpan::from_millis(100)),
                timeout: None,
                retry_budget: None,
                honours_retry_after: false,
                config: ConfigReach::Flag { after: SimSpan::ZERO },
            }],
            balancer: BalancerSpec {
                name: "balancer".to_owned(),
                rate_limit: None,
                burst_s: 1.0,
                apply_after: SimSpan::ZERO,
                reject_latency: SimSpan::ZERO,
                routes: vec![(0, 1.0)],
            },
            services: vec![ServiceSpec {
                name: "service".to_owned(),
                instances: 1,
                start_up: SimSpan::from_secs(1),
                drain: SimSpan::from_secs(1),
                handling: Spread::Fixed(SimSpan::ZERO),
                workers: None,
                deadline: None,
                retry_after: None,
                config_after: SimSpan::ZERO,
                cache: Some(0),
                database: Some(0),
                pools: vec![PoolSpec {
                    name: "pool".to_owned(),
                    size: 10_000,
                    acquire_timeout: limit,
                    acquire_varies: false,
                    query_timeout: limit,
                    attempts: 1,
                    connect: SimSpan(1),
                    idle_timeout: SimSpan::from_secs(60),
                }],
                steps: vec![Step::Read],
                reading: Reading::default(),
            }],
            caches: vec![CacheSpec { name: "cache".to_owned(), warm: 1.0, backup: None, nodes: 1 }],
            databases: vec![DatabaseSpec {
                name: "server".to_owned(),
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
            trace_one_in: u32::MAX,
        }
    }
}
