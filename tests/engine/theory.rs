//! Agreement with closed forms, on systems small enough to have one.
//!
//! Every figure is measured over independent seeds. The test is that theory lies in the 99.9 % confidence interval of the
//! mean (Student's t), and that the interval is narrow enough to mean something. Seeds are fixed, so a test that passes
//! keeps passing until the engine's results change.

use pagerdrill::sim::math::exp;
use pagerdrill::sim::probe::{SpanEnd, SpanKind, TraceRecord};
use pagerdrill::sim::spec::{KeySpace, QuerySpec, ReadSpec, Spread};
use pagerdrill::sim::{Spec, World};
use pagerdrill::units::{SimSpan, SimTime};

use crate::{ms, small};

/// Mean work of a query: 10 ms, so that one core serves 100 a second.
const WORK: SimSpan = SimSpan::from_millis(10);
/// Longer than anything takes here.
const NEVER: SimSpan = SimSpan::from_secs(1_000);

// ------------------------------------------------------------------------------------------------ small systems

/// One instance and one host of `cores`: processor sharing. Latency is the query's and nothing else.
fn sharing(per_s: f64, work: Spread, cores: f64) -> Spec {
    let mut spec = small(per_s, work);
    spec.services[0].handling = Spread::Fixed(SimSpan::ZERO);
    spec.databases[0].cores = cores;
    spec
}

/// As many connections as servers, each with a core of its own: first come, first served, for those who get a connection
/// before their patience ends.
fn queue(per_s: f64, work: Spread, servers: u32, patience: SimSpan) -> Spec {
    let mut spec = sharing(per_s, work, f64::from(servers));
    spec.services[0].pools[0].size = servers;
    spec.services[0].pools[0].acquire_timeout = patience;
    spec
}

/// Queries that fail with a probability of `e^(−limit/mean)`, independently of each other, and clients that try again.
fn unreliable(per_s: f64, attempts: u32, limit: SimSpan) -> Spec {
    let mut spec = sharing(per_s, Spread::Exponential(WORK), 10_000.0);
    spec.clients[0].attempts = attempts;
    spec.services[0].pools[0].query_timeout = limit;
    spec
}

/// Reads that a cache keeps for `ttl` and that take no time to speak of.
fn cached(per_s: f64, keys: KeySpace, ttl: SimSpan) -> Spec {
    let mut spec = sharing(per_s, Spread::Fixed(SimSpan(1_000)), 100.0);
    spec.reads[0].keys = keys;
    spec.reads[0].ttl = Some(ttl);
    spec
}

/// A second kind of read beside the first, with this share of the operations.
fn add_read(spec: &mut Spec, share: f64, work: Spread) {
    let first = &mut spec.reads[0];
    let query = QuerySpec { work, ..first.query };
    let second = ReadSpec { name: "other".to_owned(), share, query, ..first.clone() };
    first.share -= share;
    spec.reads.push(second);
}

// ---------------------------------------------------------------------------------------------------- measuring

/// Time averages of one run, the first tenth left out.
struct Observed {
    /// Requests in the system.
    number: f64,
    /// Share of the time with at least so many, by number.
    at_least: Vec<f64>,
    /// Requests received per second.
    per_s: f64,
    /// Busy share of the first host's cores.
    busy: f64,
}

fn observe(spec: &Spec, seed: u64, seconds: u64) -> Observed {
    assert_eq!(spec.problems(), Vec::<String>::new());
    let step = SimSpan::from_millis(5);
    let (from, until) = (SimTime::from_secs(seconds / 10), SimTime::from_secs(seconds));
    let mut world = World::new(spec, seed);
    world.advance(from);
    let received = world.counters().requests_received();
    let busy = world.hosts(0)[0].busy_s(from.0);
    let mut times = vec![0u64; 64];
    let (mut sum, mut looks) = (0u64, 0u64);
    while world.now() < until {
        let next = world.now() + step;
        world.advance(next);
        let here = world.services()[0].instances[0].in_flight;
        times[(here as usize).min(63)] += 1;
        sum += u64::from(here);
        looks += 1;
    }
    let mut at_least: Vec<f64> = times.iter().map(|&n| n as f64 / looks as f64).collect();
    for n in (0..63).rev() {
        at_least[n] += at_least[n + 1];
    }
    let span = until.since(from).as_secs_f64();
    Observed {
        number: sum as f64 / looks as f64,
        at_least,
        per_s: (world.counters().requests_received() - received) as f64 / span,
        busy: (world.hosts(0)[0].busy_s(until.0) - busy) / span,
    }
}

/// Every operation of a run that ended after its first tenth.
fn operations(spec: &Spec, seed: u64, seconds: u64) -> Vec<TraceRecord> {
    let spec = Spec { trace_one_in: 1, ..spec.clone() };
    assert_eq!(spec.problems(), Vec::<String>::new());
    let mut world = World::new(&spec, seed);
    world.advance(SimTime::from_secs(seconds / 10));
    world.probe().collected().2.clear();
    world.advance(SimTime::from_secs(seconds));
    std::mem::take(world.probe().collected().2)
}

/// Seconds from the beginning to the end of an operation.
fn sojourn(operation: &TraceRecord) -> f64 {
    (operation.ended - operation.started) as f64 / 1e9
}

fn average(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, n) = values.fold((0.0, 0u32), |(sum, n), value| (sum + value, n + 1));
    sum / f64::from(n)
}

const SEEDS: u64 = 10;
/// Student's t for 9 degrees of freedom: 99.9 % of the means of ten lie within so many standard errors.
const T: f64 = 4.781;

/// Theory lies in the confidence interval of what is measured over the seeds, and the interval is no wider than a share
/// `precision` of it on either side.
fn agrees(name: &str, samples: &[f64], theory: f64, precision: f64) {
    let n = samples.len() as f64;
    assert_eq!(samples.len() as u64, SEEDS);
    let mean = average(samples.iter().copied());
    let variance = samples.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
    let half = T * (variance / n).sqrt();
    let found = format!("{name}: measured {mean:.5} ± {half:.5}, theory {theory:.5}");
    assert!((mean - theory).abs() <= half + 1e-12, "{found}");
    assert!(half <= precision * theory, "too wide to mean anything: {found}");
}

fn over_seeds<T>(measure: impl Fn(u64) -> T) -> Vec<T> {
    (1..=SEEDS).map(measure).collect()
}

fn pick(observed: &[Observed], what: impl Fn(&Observed) -> f64) -> Vec<f64> {
    observed.iter().map(what).collect()
}

// ------------------------------------------------------------------------------------------------------- queues

/// The number in an M/M/1 is geometric, whether it serves one after the other or all at once: P(N ≥ k) = ρ^k (Kleinrock,
/// "Queueing Systems" I, 3.2).
#[test]
fn one_server_is_m_m_1() {
    let (rho, work) = (0.7f64, Spread::Exponential(WORK));
    for (name, spec) in [
        ("first come, first served", queue(rho * 100.0, work, 1, NEVER)),
        ("sharing", sharing(rho * 100.0, work, 1.0)),
    ] {
        let observed = over_seeds(|seed| observe(&spec, seed, 1_500));
        agrees(&format!("{name}: number"), &pick(&observed, |o| o.number), rho / (1.0 - rho), 0.04);
        for k in 1..=6 {
            let theory = rho.powi(k);
            let measured = pick(&observed, |o| o.at_least[k as usize]);
            agrees(&format!("{name}: P(N ≥ {k})"), &measured, theory, 0.08);
        }
    }
}

/// Erlang's B: the share of calls that find all of c servers busy, for `a` erlangs offered.
fn erlang_b(servers: u32, a: f64) -> f64 {
    (1..=servers).fold(1.0, |b, c| a * b / (f64::from(c) + a * b))
}

/// Erlang's C: the share of calls that wait when they may.
fn erlang_c(servers: u32, a: f64) -> f64 {
    let (b, rho) = (erlang_b(servers, a), a / f64::from(servers));
    b / (1.0 - rho * (1.0 - b))
}

#[test]
fn erlangs_formulas_give_their_known_values() {
    // Tabulated: B(10, 5) = 0.01838, C(4, 3.2) = 0.59643.
    assert!((erlang_b(10, 5.0) - 0.018_385).abs() < 1e-5);
    assert!((erlang_c(4, 3.2) - 0.596_43).abs() < 1e-5);
}

/// M/M/c: all servers are busy for Erlang C's share of the time, and N = a + C·ρ/(1−ρ). Several cores that share are the
/// same as servers with a queue, as long as work is exponential.
#[test]
fn several_servers_are_m_m_c() {
    let (servers, rho, work) = (4u32, 0.75, Spread::Exponential(WORK));
    let a = rho * f64::from(servers);
    let c = erlang_c(servers, a);
    for (name, spec) in [
        ("connections", queue(a * 100.0, work, servers, NEVER)),
        ("cores", sharing(a * 100.0, work, f64::from(servers))),
    ] {
        let observed = over_seeds(|seed| observe(&spec, seed, 600));
        agrees(&format!("{name}: all busy"), &pick(&observed, |o| o.at_least[servers as usize]), c, 0.04);
        agrees(&format!("{name}: number"), &pick(&observed, |o| o.number), a + c * rho / (1.0 - rho), 0.04);
        agrees(&format!("{name}: busy"), &pick(&observed, |o| o.busy), rho, 0.01);
    }
}

/// M/M/c/c: who finds all servers busy and may not wait is lost, with Erlang B's probability. It does not matter whether
/// it is the pool that has no connection or the database that accepts none, nor how work is distributed (Sevastyanov).
#[test]
fn no_room_to_wait_is_erlang_b() {
    let (servers, a) = (5u32, 4.0);
    let b = erlang_b(servers, a);
    let per_s = a * 100.0;
    let mut refusing = sharing(per_s, Spread::Exponential(WORK), f64::from(servers));
    refusing.databases[0].connections = servers;
    for (name, spec) in [
        ("pool", queue(per_s, Spread::Exponential(WORK), servers, SimSpan::ZERO)),
        ("pool, fixed work", queue(per_s, Spread::Fixed(WORK), servers, SimSpan::ZERO)),
        ("database", refusing),
    ] {
        let lost = over_seeds(|seed| {
            let mut world = World::new(&spec, seed);
            world.advance(SimTime::from_secs(300));
            world.counters().requests_errors as f64 / world.counters().requests_received() as f64
        });
        agrees(name, &lost, b, 0.03);
    }
}

/// M/M/c/K: a database of c cores that accepts K connections refuses those who find K, p(K) of all. Sharing makes that
/// insensitive to the shape of work, too.
#[test]
fn room_for_a_few_is_m_m_c_k() {
    let (cores, room, a) = (2u32, 6, 2.2);
    let mut weights = vec![1.0];
    for n in 1..=room {
        weights.push(weights[weights.len() - 1] * a / f64::from(n.min(cores)));
    }
    let theory = weights[weights.len() - 1] / weights.iter().sum::<f64>();
    for work in [Spread::Exponential(WORK), Spread::Fixed(WORK)] {
        let mut spec = sharing(a * 100.0, work, f64::from(cores));
        spec.databases[0].connections = room;
        let refused = over_seeds(|seed| {
            let mut world = World::new(&spec, seed);
            world.advance(SimTime::from_secs(300));
            world.counters().requests_errors as f64 / world.counters().requests_received() as f64
        });
        agrees(&format!("{work:?}"), &refused, theory, 0.05);
    }
}

/// M/M/c with a fixed patience τ: with d = cμ − λ, a share p(c−1)·(λ/cμ)·e^(−dτ) leaves unserved (Barrer 1957; here from
/// the density of the virtual wait, Baccelli and Hebuterne 1981). Below and above saturation.
#[test]
fn waiting_with_a_limit_is_m_m_c_with_impatience() {
    let (servers, patience) = (3u32, ms(20));
    let (c, mu, tau) = (f64::from(servers), 100.0, patience.as_secs_f64());
    for lambda in [240.0, 400.0] {
        let (a, d) = (lambda / mu, c * mu - lambda);
        // Weights of 0 to c−1 in the system, against that of c−1.
        let mut weights = vec![1.0];
        for j in (1..servers).rev() {
            weights.push(weights[weights.len() - 1] * f64::from(j) / a);
        }
        let leaving = lambda / (c * mu) * exp(-d * tau);
        let queueing = lambda * (1.0 - exp(-d * tau)) / d;
        let theory = leaving / (weights.iter().sum::<f64>() + queueing + leaving);
        let spec = queue(lambda, Spread::Exponential(WORK), servers, patience);
        let left = over_seeds(|seed| {
            let mut world = World::new(&spec, seed);
            world.advance(SimTime::from_secs(400));
            world.counters().pool_timeouts as f64 / world.counters().requests_received() as f64
        });
        agrees(&format!("λ = {lambda}"), &left, theory, 0.05);
    }
}

/// Erlang's A, the M/M/c+M: whoever waits leaves after a time of their own, exponential with rate θ. It is a birth and death
/// process, with deaths at min(k, c)·μ + max(k − c, 0)·θ, so θ·E[waiting]/λ leave unserved (Palm 1957; Mandelbaum and
/// Zeltyn 2007). Below and above saturation.
#[test]
fn waiting_with_a_patience_of_ones_own_is_erlang_a() {
    let (servers, patience) = (3u32, ms(20));
    let (c, mu, theta) = (f64::from(servers), 100.0, 1.0 / patience.as_secs_f64());
    for lambda in [240.0, 400.0] {
        let mut weights = vec![1.0];
        for k in 1..200 {
            let k = f64::from(k);
            let deaths = k.min(c) * mu + (k - c).max(0.0) * theta;
            weights.push(weights[weights.len() - 1] * lambda / deaths);
        }
        let all: f64 = weights.iter().sum();
        let mean = |of: &dyn Fn(f64) -> f64| {
            weights.iter().enumerate().map(|(k, w)| w / all * of(k as f64)).sum::<f64>()
        };
        let mut spec = queue(lambda, Spread::Exponential(WORK), servers, patience);
        spec.services[0].pools[0].acquire_varies = true;
        let left = over_seeds(|seed| {
            let mut world = World::new(&spec, seed);
            world.advance(SimTime::from_secs(400));
            world.counters().pool_timeouts as f64 / world.counters().requests_received() as f64
        });
        let leaving = theta * mean(&|k| (k - c).max(0.0)) / lambda;
        agrees(&format!("λ = {lambda}: leave"), &left, leaving, 0.05);
        let number = over_seeds(|seed| observe(&spec, seed, 400).number);
        agrees(&format!("λ = {lambda}: number"), &number, mean(&|k| k), 0.03);
    }
}

/// M/G/1, first come, first served: the mean wait is λE[S²]/2(1−ρ) (Pollaczek 1930, Khinchine 1932).
#[test]
fn the_wait_for_one_server_grows_with_the_variation_of_work() {
    let (rho, mean) = (0.7, WORK.as_secs_f64());
    for (name, work, squared_variation) in [
        ("fixed", Spread::Fixed(WORK), 0.0),
        ("Erlang-4", Spread::Erlang { k: 4, mean: WORK }, 0.25),
        ("exponential", Spread::Exponential(WORK), 1.0),
    ] {
        let spec = queue(rho * 100.0, work, 1, NEVER);
        let sojourns = over_seeds(|seed| average(operations(&spec, seed, 500).iter().map(sojourn)) - mean);
        let wait = rho / (1.0 - rho) * mean * (1.0 + squared_variation) / 2.0;
        agrees(name, &sojourns, wait, 0.09);
    }
}

/// M/G/1, processor sharing: the number depends on the mean of work only, and a query that needs x takes x/(1−ρ) on
/// average (Kleinrock 1967, Sakata 1971).
#[test]
fn sharing_is_insensitive_to_the_shape_of_work() {
    let rho = 0.7;
    let (short, long) = (ms(5), ms(55));
    // Nine in ten are short: 10 ms on average, with a squared coefficient of variation of 2.25.
    let mut mixed = sharing(rho * 100.0, Spread::Fixed(short), 1.0);
    add_read(&mut mixed, 0.1, Spread::Fixed(long));
    for (name, spec) in [
        ("fixed", sharing(rho * 100.0, Spread::Fixed(WORK), 1.0)),
        ("Erlang-3", sharing(rho * 100.0, Spread::Erlang { k: 3, mean: WORK }, 1.0)),
        ("two lengths", mixed.clone()),
    ] {
        let numbers = over_seeds(|seed| observe(&spec, seed, 1_000).number);
        agrees(name, &numbers, rho / (1.0 - rho), 0.06);
    }
    let runs = over_seeds(|seed| operations(&mixed, seed, 500));
    for (name, read, work) in [("short ones", 0, short), ("long ones", 1, long)] {
        let sojourns: Vec<f64> =
            runs.iter().map(|run| average(run.iter().filter(|o| o.read == read).map(sojourn))).collect();
        agrees(name, &sojourns, work.as_secs_f64() / (1.0 - rho), 0.08);
    }
}

/// Little's law: the mean number is the rate times the mean time, here measured apart from each other, in systems that
/// have no formula of their own.
#[test]
fn numbers_are_rates_times_times() {
    let mut contended = sharing(250.0, Spread::Erlang { k: 2, mean: WORK }, 4.0);
    contended.databases[0].contention = 0.05;
    let mut limited = queue(300.0, Spread::Exponential(WORK), 3, ms(30));
    limited.databases[0].cores = 2.0;
    for (name, spec) in [("contended", contended), ("impatient", limited)] {
        let ratios = over_seeds(|seed| {
            let observed = observe(&spec, seed, 100);
            let time = average(operations(&spec, seed, 100).iter().map(sojourn));
            observed.number / (observed.per_s * time)
        });
        agrees(name, &ratios, 1.0, 0.01);
    }
}

/// The utilization law: cores are busy for the rate times the mean work.
#[test]
fn utilization_is_offered_work() {
    let spec = sharing(200.0, Spread::Erlang { k: 2, mean: WORK }, 4.0);
    agrees("ρ", &over_seeds(|seed| observe(&spec, seed, 300).busy), 0.5, 0.01);
}

// ------------------------------------------------------------------------------------------ caches and policies

/// A key asked for λ times a second and kept for T from each miss hits with λT/(1+λT) under Poisson arrivals, when reading
/// it takes no time (Jung, Berger and Balakrishnan 2003). Popular keys and rare ones, each by itself.
#[test]
fn a_ttl_cache_hits_as_often_as_theory_says() {
    let (per_s, n, ttl) = (500.0, 50u32, SimSpan::from_secs(2));
    let space = KeySpace::Zipf { n, s: 1.0 };
    let spec = cached(per_s, space, ttl);
    let share = |key: u32| 1.0 / f64::from(key + 1) / (1..=n).map(|k| 1.0 / f64::from(k)).sum::<f64>();
    let hit = |key: u32| {
        let load = per_s * share(key) * ttl.as_secs_f64();
        load / (1.0 + load)
    };
    let runs = over_seeds(|seed| {
        let mut asked = vec![(0u32, 0u32); n as usize];
        for operation in operations(&spec, seed, 200) {
            let looked = operation.spans.iter().find(|s| matches!(s.kind, SpanKind::CacheGet { .. }));
            let of_key = &mut asked[operation.key as usize];
            of_key.0 += 1;
            of_key.1 += u32::from(looked.is_some_and(|s| s.end_kind == SpanEnd::Ok));
        }
        asked
    });
    for key in [0, 4, 19, 49] {
        let ratios: Vec<f64> =
            runs.iter().map(|r| f64::from(r[key as usize].1) / f64::from(r[key as usize].0)).collect();
        agrees(&format!("key {key}"), &ratios, hit(key), 0.02);
    }
    let all: f64 = (0..n).map(|key| share(key) * hit(key)).sum();
    let ratios: Vec<f64> = runs
        .iter()
        .map(|run| {
            let (asked, hits) = run.iter().fold((0, 0), |sum, r| (sum.0 + r.0, sum.1 + r.1));
            f64::from(hits) / f64::from(asked)
        })
        .collect();
    agrees("all keys", &ratios, all, 0.001);
}

/// When every attempt fails independently with probability f, an operation of at most four attempts makes 1 + f + f² + f³
/// and fails with f⁴.
#[test]
fn retries_amplify_as_a_geometric_sum() {
    for limit in [SimSpan::from_millis(16), ms(7), SimSpan(2_613_648)] {
        let f = exp(-limit.as_secs_f64() / WORK.as_secs_f64());
        let spec = unreliable(500.0, 4, limit);
        let runs = over_seeds(|seed| {
            let mut world = World::new(&spec, seed);
            world.advance(SimTime::from_secs(60));
            let c = world.counters();
            let ended = c.operations_ended() as f64;
            let failed = c.requests_errors as f64;
            (
                c.requests_received() as f64 / c.operations_started() as f64,
                c.operations_failed as f64 / ended,
                failed,
            )
        });
        let attempts: Vec<f64> = runs.iter().map(|r| r.0).collect();
        // Of those who began in the last 400 ms some have attempts to come: one in 150, or less.
        agrees(&format!("attempts, f = {f:.3}"), &attempts, 1.0 + f + f * f + f * f * f, 0.01);
        let failed: Vec<f64> = runs.iter().map(|r| r.1).collect();
        agrees(&format!("operations failed, f = {f:.3}"), &failed, f.powi(4), 0.25);
    }
}

/// A token bucket: whatever the window, no more passes than rate × window + burst, also under a storm of retries; and under
/// overload no less than the rate passes.
#[test]
fn a_limit_passes_its_rate_and_its_burst_and_no_more() {
    let mut spec = sharing(900.0, Spread::Fixed(SimSpan(1_000)), 100.0);
    spec.clients[0].attempts = 4;
    let (rate, burst_s) = (600.0, 0.25);
    spec.balancer.rate_limit = Some(rate);
    spec.balancer.burst_s = burst_s;
    for seed in 1..=SEEDS {
        let mut world = World::new(&spec, seed);
        // How far passing has run ahead of the rate at its lowest so far: the worst window ending now begins there.
        let mut lowest = 0.0f64;
        let (step, steps) = (SimSpan::from_millis(1), 60_000);
        let mut passed = 0;
        for i in 1..=steps {
            let now = world.now() + step;
            world.advance(now);
            passed = world.counters().requests_received() - world.counters().requests_rejected;
            let ahead = passed as f64 - rate * 0.001 * f64::from(i);
            assert!(ahead - lowest <= rate * burst_s + 1.0 + 1e-6, "seed {seed}, {} over", ahead - lowest);
            lowest = lowest.min(ahead);
        }
        let wanted = rate * (0.001 * f64::from(steps) + burst_s);
        assert!((passed as f64 / wanted - 1.0).abs() < 0.001, "seed {seed}: {passed} for {wanted}");
    }
}

/// 20,000 queries/s of 12 ms against 8 cores, 500 connections and 500 ms: nothing is ever finished in time.
/// With a limit of 760 ms the same database finishes what it can. Nothing but the numbers differs.
#[test]
fn a_stampede_is_a_matter_of_arithmetic() {
    let finished = |limit: SimSpan| {
        let mut spec = queue(20_000.0, Spread::Fixed(ms(12)), 500, ms(500));
        spec.databases[0].cores = 8.0;
        spec.services[0].pools[0].query_timeout = limit;
        let mut world = World::new(&spec, 1);
        world.advance(SimTime::from_secs(2));
        let before = world.hosts(0)[0].counters.finished;
        world.advance(SimTime::from_secs(20));
        (world.hosts(0)[0].counters.finished - before) as f64 / 18.0
    };
    assert_eq!(finished(ms(500)), 0.0);
    assert!(finished(ms(760)) > 600.0);
}
