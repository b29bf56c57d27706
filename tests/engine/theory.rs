//! Agreement with closed forms, on systems small enough to have one. Tolerances are several standard errors wide for
//! the runs' length, and narrow against the mistakes that they are there to find.

use pagerdrill::sim::spec::{KeySpace, Spread};
use pagerdrill::sim::{Spec, World};
use pagerdrill::telemetry::Recorder;
use pagerdrill::units::{SimSpan, SimTime};

use crate::{ms, small};

/// Runs a spec and gives the mean of a series from `from` to `until` seconds, over three seeds.
fn mean(spec: &Spec, series: &str, from: u64, until: u64) -> f64 {
    assert_eq!(spec.problems(), Vec::<String>::new());
    let one = |seed| {
        let mut world = World::new(spec, seed);
        let mut recorder = Recorder::new(&world);
        recorder.advance(&mut world, SimTime::from_secs(until));
        recorder.series().get(series).and_then(|s| s.mean(from as usize..until as usize)).unwrap_or(f64::NAN)
    };
    (one(1) + one(2) + one(3)) / 3.0
}

fn near(name: &str, measured: f64, theory: f64, tolerance: f64) {
    let off = measured / theory - 1.0;
    assert!(
        off.abs() < tolerance,
        "{name}: measured {measured:.4}, theory {theory:.4}, off by {:.1} %",
        off * 100.0
    );
}

/// M/G/1 processor sharing: the mean number in the system is ρ/(1−ρ) whatever the distribution of work.
#[test]
fn processor_sharing_is_insensitive_to_the_shape_of_work() {
    for (name, work) in [
        ("fixed", Spread::Fixed(ms(10))),
        ("exponential", Spread::Exponential(ms(10))),
        ("Erlang-4", Spread::Erlang { k: 4, mean: ms(10) }),
    ] {
        for rho in [0.5, 0.8] {
            let spec = small(rho * 100.0, work);
            near(
                &format!("{name} ρ={rho}"),
                mean(&spec, "db.running.primary", 10, 2_000),
                rho / (1.0 - rho),
                0.08,
            );
        }
    }
}

/// M/M/c: with as many cores as servers, exponential work and sharing above, the number in the system is Erlang C's.
#[test]
fn several_cores_behave_as_m_m_c() {
    let mut spec = small(320.0, Spread::Exponential(ms(10)));
    spec.databases[0].cores = 4.0;
    // a = 3.2 erlangs on 4 servers: C = 0.5964, N = a + C·ρ/(1−ρ) = 5.586.
    near("M/M/4", mean(&spec, "db.running.primary", 10, 1_500), 5.586, 0.06);
}

#[test]
fn utilization_is_offered_work() {
    let mut spec = small(200.0, Spread::Exponential(ms(10)));
    spec.databases[0].cores = 4.0;
    near("ρ", mean(&spec, "db.cpu", 10, 500), 0.5, 0.02);
}

/// A key asked for λ times a second and kept for T hits with λT/(1+λT) under Poisson arrivals, when fetching is quick.
#[test]
fn a_ttl_cache_hits_as_often_as_theory_says() {
    let mut spec = small(1_000.0, Spread::Fixed(SimSpan(1_000)));
    spec.reads[0].keys = KeySpace::Even { n: 2_000 };
    for ttl_s in [1u64, 4, 20] {
        spec.reads[0].ttl = Some(SimSpan::from_secs(ttl_s));
        let load = 0.5 * ttl_s as f64;
        near(&format!("T={ttl_s}s"), mean(&spec, "cache.hit_ratio", 5, 200), load / (1.0 + load), 0.01);
    }
}

/// When every attempt fails independently with probability f, an operation makes 1 + f + f² + f³ attempts and fails
/// with f⁴. Here a query of exponential work meets a timeout: f = e^(−timeout/mean).
#[test]
fn retries_amplify_as_a_geometric_sum() {
    let mut spec = small(1_000.0, Spread::Exponential(ms(10)));
    spec.clients[0].attempts = 4;
    spec.databases[0].cores = 1_000.0;
    spec.services[0].pools[0].query_timeout = SimSpan(2_613_648);
    let f: f64 = 0.77;
    near("attempts", mean(&spec, "attempts.per_operation", 5, 200), 1.0 + f + f * f + f * f * f, 0.01);
    near("requests failed", mean(&spec, "requests.failure_ratio", 5, 200), f, 0.01);
    near("operations failed", mean(&spec, "operations.failure_ratio", 5, 200), f * f * f * f, 0.02);
}

/// A limit lets through what it says, however often it is asked.
#[test]
fn a_limit_is_kept_under_retries() {
    let mut spec = small(1_000.0, Spread::Fixed(SimSpan(1_000)));
    spec.clients[0].attempts = 4;
    spec.balancer.rate_limit = Some(600.0);
    near("through", mean(&spec, "requests.ok", 20, 200), 600.0, 0.01);
}

/// 20,000 queries/s of 12 ms against 8 cores, 500 connections and 500 ms: nothing is ever finished in time.
/// At 5,000/s the same database recovers. Nothing but the numbers differs.
#[test]
fn a_stampede_is_a_matter_of_arithmetic() {
    let mut spec = small(20_000.0, Spread::Fixed(ms(12)));
    spec.databases[0].cores = 8.0;
    spec.services[0].pools[0].size = 500;
    spec.services[0].pools[0].acquire_timeout = ms(500);
    spec.services[0].pools[0].query_timeout = ms(500);
    assert_eq!(mean(&spec, "db.finished", 1, 20), 0.0);
    spec.services[0].pools[0].query_timeout = ms(760);
    assert!(mean(&spec, "db.finished", 2, 20) > 600.0);
}
