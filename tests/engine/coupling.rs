//! Runs that share their arrivals and differ in one thing, and systems whose figures are as small or as large as they
//! can be.

use pagerdrill::sim::spec::{Backoff, Jitter, KeySpace, Spread};
use pagerdrill::sim::{Spec, World};
use pagerdrill::units::{SimSpan, SimTime};
use proptest::prelude::*;

use crate::{ms, small};

/// First come, first served by as many connections as servers, each with a core of its own. Whoever comes n-th begins
/// n-th, so every customer brings the same work however many servers there are.
fn queue(per_s: f64, work: Spread, servers: u32) -> Spec {
    let mut spec = small(per_s, work);
    spec.services[0].pools[0].size = servers;
    spec.databases[0].cores = 10_000.0;
    spec
}

fn largest() -> SimSpan {
    SimSpan::from_secs(1_000_000)
}

/// The smallest, a usual and the largest value of everything that has one.
fn extreme() -> impl Strategy<Value = Spec> {
    let one_of = |values: &[u32]| prop::sample::select(values.to_vec());
    let number = || one_of(&[1, 3, 1_000]);
    let many = || one_of(&[1, 50, 1_000_000]);
    let span = || prop::sample::select(vec![SimSpan::ZERO, SimSpan(1), ms(20), largest()]);
    let real = || prop::sample::select(vec![0.0, 1e-3, 1.0, 1e6]);
    (
        (prop::sample::select(vec![0.0, 0.01, 300.0]), number(), one_of(&[1, 2, 200]), many(), many()),
        (span(), span(), span(), span(), span()),
        (real(), real(), prop::option::of(real()), prop::option::of(many()), prop::option::of(span())),
        (prop::option::of(span()), one_of(&[1, 2, 100_000]), prop::option::of(0.0..=1.0f64), many()),
    )
        .prop_map(
            |(
                (per_s, attempts, instances, pool, connections),
                (work, io, acquire, limit, backoff),
                (cores, contention, rate, workers, deadline),
                (ttl, keys, retry_budget, pages),
            )| {
                let mut spec = small(per_s, Spread::Fixed(work));
                spec.reads[0].query.io = Spread::Exponential(io);
                spec.reads[0].keys = KeySpace::Zipf { n: keys, s: 1.0 };
                spec.reads[0].ttl = ttl;
                spec.reads[0].query.cold_factor = 1.0 + contention;
                let client = &mut spec.clients[0];
                (client.attempts, client.retry_budget) = (attempts, retry_budget);
                client.backoff =
                    Backoff { first: backoff, factor: 2.0, cap: largest(), jitter: Jitter::Equal };
                spec.balancer.rate_limit = rate;
                let service = &mut spec.services[0];
                (service.instances, service.workers, service.deadline) = (instances, workers, deadline);
                let limits = &mut service.pools[0];
                (limits.size, limits.acquire_timeout, limits.query_timeout) = (pool, acquire, limit);
                let database = &mut spec.databases[0];
                (database.cores, database.contention) = (cores, contention);
                (database.connections, database.pages) = (connections, pages.min(100_000));
                database.page_stays = acquire;
                spec
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// More capacity never hurts a stable queue, whatever comes: at every instant at least as many have been served.
    #[test]
    fn a_further_server_never_makes_anybody_wait_longer(
        per_s in 20.0..200.0f64, servers in 1u32..6, more in 1u32..4, seed in 1u64..1_000, bursty in prop::bool::ANY
    ) {
        let work = if bursty { Spread::Exponential(ms(15)) } else { Spread::Erlang { k: 4, mean: ms(15) } };
        let mut few = World::new(&queue(per_s, work, servers), seed);
        let mut many = World::new(&queue(per_s, work, servers + more), seed);
        for step in 1..400 {
            let at = SimTime(ms(50).0 * step);
            few.advance(at);
            many.advance(at);
            let (with_few, with_many) = (few.counters(), many.counters());
            prop_assert_eq!(with_few.operations_started(), with_many.operations_started(), "the same users come");
            prop_assert!(with_many.operations_served() >= with_few.operations_served(), "at {:?}", at);
        }
    }

    /// A faster server never hurts either.
    #[test]
    fn less_work_never_makes_anybody_wait_longer(
        per_s in 20.0..90.0f64, servers in 1u32..4, seed in 1u64..1_000
    ) {
        let mut slow = World::new(&queue(per_s, Spread::Exponential(ms(14)), servers), seed);
        let mut fast = World::new(&queue(per_s, Spread::Exponential(ms(9)), servers), seed);
        for step in 1..400 {
            let at = SimTime(ms(50).0 * step);
            slow.advance(at);
            fast.advance(at);
            prop_assert!(fast.counters().operations_served() >= slow.counters().operations_served(), "at {:?}", at);
        }
    }

    /// Nothing, one, and very many of everything: no panic, nothing lost, and nothing served by a system that cannot.
    #[test]
    fn a_system_at_its_limits_keeps_its_books(spec in extreme(), seed in 1u64..1_000) {
        prop_assume!(spec.problems().is_empty());
        let mut world = World::new(&spec, seed);
        for second in 1..=3 {
            world.advance(SimTime::from_secs(second));
            prop_assert_eq!(world.contradictions(), Vec::<String>::new());
        }
        let counters = world.counters();
        if spec.traffic[0].1 == 0.0 {
            prop_assert_eq!(counters.operations_started(), 0);
        }
        if spec.balancer.rate_limit == Some(0.0) {
            // What the bucket holds at the start is let through.
            let burst = (spec.balancer.burst_s * spec.traffic[0].1).max(1.0) as u64;
            prop_assert!(counters.operations_served() <= burst, "{} served", counters.operations_served());
        }
    }
}

/// Hosts have numbers of 16 bits: a file with more is told so, and one with the most runs.
#[test]
fn there_are_only_so_many_hosts() {
    let mut spec = small(100.0, Spread::Fixed(ms(1)));
    spec.databases[0].hosts = (0..50).map(|h| format!("host {h}")).collect();
    let database = spec.databases[0].clone();
    spec.databases = vec![database.clone(); 20];
    assert_eq!(spec.problems(), Vec::<String>::new());
    let mut world = World::new(&spec, 1);
    world.advance(SimTime::from_secs(1));
    assert_eq!(world.contradictions(), Vec::<String>::new());
    spec.databases.push(database);
    assert_eq!(spec.problems(), ["there are 1050 database hosts in all; 1,000 are possible"]);
}
