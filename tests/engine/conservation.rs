//! Properties that hold for any system and any sequence of changes.

use pagerdrill::sim::intervention::Knob;
use pagerdrill::sim::spec::{
    Abandoned, AgeFrom, Backoff, Backup, BreakerSpec, CallSpec, ConfigReach, Confirm, Jitter, KeySpace,
    LocalSpec, LockSpec, OriginBudget, QuerySpec, Reading, Spread, Step as SpecStep, WrittenBy,
};
use pagerdrill::sim::{Fault, Intervention, Spec, World};
use pagerdrill::telemetry::{RECENT_S, Recorder};
use pagerdrill::units::{SimSpan, SimTime};
use proptest::prelude::*;

use crate::{ms, small};

/// A system with every part in use, under strain.
fn strained() -> impl Strategy<Value = Spec> {
    (
        (50.0..400.0f64, 1u32..5, 1u32..5, 1u32..30, 1u32..4),
        (20u32..200, 5u64..200, prop::bool::ANY, prop::bool::ANY, 0.0..0.5f64),
        (prop::option::of(50.0..300.0f64), prop::option::of(100u64..900), prop::bool::ANY),
    )
        .prop_map(
            |(
                (per_s, attempts, instances, pool, tries),
                (limit, timeout, cached, runs_on, contention),
                (rate, patience, flag),
            )| {
                let mut spec = small(per_s, Spread::Erlang { k: 2, mean: ms(12) });
                spec.reads[0].ttl = cached.then(|| ms(3_000));
                spec.reads[0].keys = KeySpace::Zipf { n: 300, s: 0.9 };
                spec.reads[0].query.cold_factor = 3.0;
                spec.clients[0].attempts = attempts;
                spec.clients[0].timeout = patience.map(ms);
                if flag {
                    spec.clients[0].config = ConfigReach::Remote { half_life: ms(700) };
                }
                spec.balancer.rate_limit = rate;
                let service = &mut spec.services[0];
                service.instances = instances;
                service.pools[0].size = pool;
                service.pools[0].attempts = tries;
                service.pools[0].acquire_timeout = ms(timeout);
                service.pools[0].acquire_varies = timeout % 2 == 0;
                service.pools[0].query_timeout = ms(timeout * 2);
                service.pools[0].connect = ms(1);
                service.pools[0].idle_timeout = ms(1_500);
                let database = &mut spec.databases[0];
                database.hosts = vec!["primary".to_owned(), "replica".to_owned()];
                database.cores = 1.5;
                database.contention = contention;
                database.connections = limit.min(60);
                database.abandoned = if runs_on { Abandoned::RunsOn } else { Abandoned::Cancelled };
                database.pages = 50;
                database.page_stays = ms(4_000);
                spec
            },
        )
}

/// A way to read with any of its defences.
fn reading() -> impl Strategy<Value = Reading> {
    let switch = || prop::bool::ANY;
    (
        (switch(), switch(), prop::option::of(100u64..3_000), switch(), switch(), switch()),
        (prop::option::of(1.0..60.0f64), prop::option::of(1u32..5), switch()),
        (prop::option::of((1u32..200, switch())), 0u64..300, 1u32..3, prop::option::of(1u32..6)),
    )
        .prop_map(
            |(
                (serve_stale, coalesce, lock, by_query, from_start, static_answer),
                (per_s, at_once, fleet),
                (local, cache_timeout, cache_attempts, breaker),
            )| Reading {
                serve_stale,
                coalesce,
                lock: lock.map(|ttl| LockSpec { ttl: ms(ttl), wait: (ms(5), ms(20)) }),
                origin: OriginBudget { per_s, at_once, fleet },
                local: local.map(|(entries, keep_stamps)| LocalSpec { entries, keep_stamps }),
                age_from: if from_start { AgeFrom::QueryStart } else { AgeFrom::Result },
                written_by: if by_query { WrittenBy::Query } else { WrittenBy::Request },
                cache_timeout: ms(cache_timeout),
                cache_attempts,
                cache_backoff: if fleet { ms(30) } else { SimSpan::ZERO },
                breaker: breaker.map(|failures| BreakerSpec { failures, open: ms(400) }),
                static_answer,
            },
        )
}

/// The same under any defences, perhaps behind a second service that calls it.
fn defended() -> impl Strategy<Value = Spec> {
    let switch = || prop::bool::ANY;
    (
        (strained(), reading(), prop::option::of(2u32..40), prop::option::of(50u64..600)),
        (prop::option::of((20u64..400, 1u32..4, switch(), switch(), 0u64..30)), 0u64..40, 0.0..0.4f64),
        (0u32..3, prop::option::of(0.0..0.5f64), switch()),
    )
        .prop_map(
            |(
                (mut spec, reading, workers, deadline),
                (chain, io, jitter),
                (backup, retry_budget, honours),
            )| {
                spec.reads[0].soft_ttl = spec.reads[0].ttl.map(|_| ms(1_200));
                spec.reads[0].ttl_jitter = jitter;
                spec.reads[0].query.io = Spread::Fixed(ms(io));
                spec.caches[0].backup = match backup {
                    1 => Some(Backup::Replica { lag: ms(300), latency: ms(2), nodes: 1 }),
                    2 => Some(Backup::Gutter { ttl: ms(500), nodes: 1 }),
                    _ => None,
                };
                let client = &mut spec.clients[0];
                client.retry_budget = retry_budget;
                client.honours_retry_after = honours;
                let (first, cap) = (ms(20), ms(300));
                client.backoff = Backoff { first, factor: 2.0, cap, jitter: Jitter::Full };
                let service = &mut spec.services[0];
                (service.reading, service.workers) = (reading, workers);
                (service.deadline, service.retry_after) = (deadline.map(ms), Some(ms(100)));
                if let Some((timeout, attempts, cancels, confirms, backoff)) = chain {
                    let takes = Spread::Uniform { low: ms(5), high: ms(60) };
                    let query =
                        QuerySpec { work: Spread::Fixed(ms(3)), io: Spread::Fixed(ms(io)), cold_factor: 1.0 };
                    service.steps = vec![
                        SpecStep::Work { name: "work".to_owned(), takes },
                        SpecStep::Read,
                        SpecStep::Query { name: "query".to_owned(), query, pool: 0 },
                    ];
                    let mut edge = service.clone();
                    edge.name = "edge".to_owned();
                    (edge.cache, edge.database, edge.deadline) = (None, None, None);
                    edge.pools.clear();
                    edge.reading = Reading::default();
                    let confirm = confirms.then_some(Confirm { service: 0, wait: ms(150) });
                    edge.steps = vec![SpecStep::Call(CallSpec {
                        name: "call".to_owned(),
                        service: 0,
                        timeout: ms(timeout),
                        attempts,
                        backoff: ms(backoff),
                        jitter: if confirms { Jitter::Full } else { Jitter::None },
                        cancels,
                        confirm,
                    })];
                    spec.services.push(edge);
                    spec.balancer.routes = vec![(1, 1.0)];
                }
                spec
            },
        )
}

#[derive(Clone, Debug)]
enum Step {
    Wait(u64),
    Change(Intervention),
    Break(Fault),
}

fn step() -> impl Strategy<Value = Step> {
    use Intervention::*;
    prop_oneof![
        6 => (1u64..900).prop_map(Step::Wait),
        1 => (1u32..5).prop_map(|attempts| Step::Change(SetClientAttempts { client: 0, attempts })),
        1 => prop::option::of(0.0..500.0f64).prop_map(|per_s| Step::Change(SetRateLimit { per_s })),
        2 => (1u32..7).prop_map(|instances| Step::Change(ScaleService { service: 0, instances })),
        1 => (1u32..4).prop_map(|attempts| Step::Change(SetQueryAttempts { service: 0, attempts })),
        1 => (1u32..40).prop_map(|size| Step::Change(SetPoolSize { service: 0, pool: 0, size })),
        1 => Just(Step::Change(FlushCache { cache: 0 })),
        1 => (1u32..400, 1.0..500.0f64).prop_map(|(keys, per_s)| Step::Change(WarmCache { cache: 0, keys, per_s })),
        1 => Just(Step::Change(StopWarming { cache: 0 })),
        1 => (1u32..3).prop_map(|batch| Step::Change(RollingRestart { service: 0, batch })),
        1 => (0.0..1.0f64).prop_map(|survivors| {
            Step::Break(Fault::CacheNodeLost { cache: 0, failover: SimSpan::from_millis(800), survivors })
        }),
        1 => Just(Step::Break(Fault::DatabaseDown { database: 0, lasts: ms(600) })),
        1 => (1u32..3).prop_map(|count| Step::Break(Fault::InstancesLost { service: 0, count })),
        1 => Just(Step::Break(Fault::LockHolderLost { service: 0 })),
        1 => Just(Step::Break(Fault::SlowWork {
            service: 0, adds: Spread::Uniform { low: ms(10), high: ms(80) }, lasts: ms(900)
        })),
        3 => knob().prop_map(|(knob, value)| Step::Change(Set { knob, value })),
    ]
}

/// A setting of the service that reads, and a value that it can have.
fn knob() -> impl Strategy<Value = (Knob, Option<f64>)> {
    use Knob::*;
    let switches =
        prop::sample::select(vec![ServeStale(0), Coalesce(0), KeepStamps(0), StaticAnswer(0), RetryAfter(0)]);
    let spans =
        prop::sample::select(vec![ClientTimeout(0), Deadline(0), Lock(0), SoftTtl(0), CacheTimeout(0)]);
    let counts =
        prop::sample::select(vec![Workers(0), OriginAtOnce(0), LocalEntries(0), Breaker(0), OriginRate(0)]);
    prop_oneof![
        (switches, prop::bool::ANY).prop_map(|(knob, on)| (knob, Some(f64::from(u8::from(on))))),
        (spans, prop::option::of(0.02..2.0f64)).prop_map(|(knob, value)| (knob, value)),
        (counts, prop::option::of(1u32..60)).prop_map(|(knob, value)| (knob, value.map(f64::from))),
        (0.2..4.0f64).prop_map(|cores| (Cores(0), Some(cores))),
        (0.5..5.0f64).prop_map(|ttl| (Ttl(0), Some(ttl))),
        (1u32..60).prop_map(|most| (Connections(0), Some(f64::from(most)))),
    ]
}

fn take(world: &mut World, step: &Step, advance: &mut dyn FnMut(&mut World, SimTime)) {
    match step {
        Step::Wait(span) => {
            let until = world.now() + ms(*span);
            advance(world, until);
        }
        Step::Change(change) => world.apply(*change),
        Step::Break(fault) => world.inject(*fault),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_and_nothing_appears(spec in prop_oneof![1 => strained().boxed(), 3 => defended().boxed()], seed in 0u64..1000, steps in prop::collection::vec(step(), 1..25)) {
        prop_assert_eq!(spec.problems(), Vec::<String>::new());
        let mut world = World::new(&spec, seed);
        for step in &steps {
            take(&mut world, step, &mut |w, until| w.advance(until));
            prop_assert_eq!(world.contradictions(), Vec::<String>::new(), "after {:?} at {:?}", step, world.now());
        }
    }

    #[test]
    fn the_size_of_a_step_does_not_matter(spec in defended(), seed in 0u64..1000, steps in prop::collection::vec(step(), 1..15), cut in 1u64..700) {
        let run = |advance: &mut dyn FnMut(&mut World, &mut Recorder, SimTime)| {
            let mut world = World::new(&spec, seed);
            let mut recorder = Recorder::new(&world);
            for step in &steps {
                take(&mut world, step, &mut |w, until| advance(w, &mut recorder, until));
            }
            (world.digest(), recorder.digest(), world.counters().clone(), recorder.logs().to_vec())
        };
        let whole = run(&mut |w, r, until| r.advance(w, until));
        let pieces = run(&mut |w, r, until| {
            while w.now() < until {
                let next = (w.now() + ms(cut)).min(until);
                r.advance(w, next);
            }
        });
        prop_assert_eq!(whole, pieces);
    }

    /// One heap for everything, and every request on the general way: all that is recorded is the same.
    #[test]
    fn the_plain_twin_records_the_same(spec in prop_oneof![strained().boxed(), defended().boxed()], seed in 0u64..1000, steps in prop::collection::vec(step(), 1..15)) {
        let run = |mut world: World| {
            let mut recorder = Recorder::new(&world);
            for step in &steps {
                take(&mut world, step, &mut |w, until| recorder.advance(w, until));
            }
            (world.digest(), recorder.digest(), world.counters().clone(), recorder.logs().to_vec(), world.contradictions())
        };
        prop_assert_eq!(run(World::new(&spec, seed)), run(World::plain_twin(&spec, seed)));
    }

    #[test]
    fn a_clone_goes_on_as_the_original_would(spec in defended(), seed in 0u64..1000) {
        let mut world = World::new(&spec, seed);
        world.advance(SimTime::from_secs(2));
        let mut fork = world.clone();
        world.advance(SimTime::from_secs(5));
        fork.advance(SimTime::from_secs(5));
        prop_assert_eq!(world.digest(), fork.digest());
    }
}

/// Queries that are cancelled leave their ends behind until they come up, or until there are so many that they are swept; what
/// is scheduled follows.
#[test]
fn the_next_end_is_known_when_cancelled_queries_are_swept() {
    let mut spec = small(4_000.0, Spread::Exponential(ms(300)));
    spec.services[0].pools[0].query_timeout = ms(1);
    spec.services[0].pools[0].attempts = 3;
    spec.databases[0].cores = 500.0;
    let mut world = World::new(&spec, 2);
    for step in 1..100_000 {
        world.advance(SimTime(25_000 * step));
        assert_eq!(world.contradictions(), Vec::<String>::new(), "at {:?}", world.now());
    }
    let host = &world.hosts(0)[0];
    assert!(host.counters.timed_out > 10_000 && host.counters.finished > 20, "{:?}", host.counters);
}

/// What a percentile is over some seconds lies between what it was in each of them, but is not their mean.
#[test]
fn percentiles_are_merged_and_not_averaged() {
    let spec = small(200.0, Spread::Exponential(ms(4)));
    let mut world = World::new(&spec, 7);
    let mut recorder = Recorder::new(&world);
    recorder.advance(&mut world, SimTime::from_secs(60));
    for name in ["latency.p50", "latency.p99"] {
        let series = recorder.series().get(name).expect("it is recorded");
        let merged = series.merged.as_ref().expect("it is merged");
        assert_eq!(merged.len(), series.values.len());
        for (second, value) in merged.iter().enumerate() {
            let (low, high) =
                series.range((second + 1).saturating_sub(RECENT_S)..second + 1).expect("samples");
            assert!((low..=high).contains(value), "{name} {second}: {value} of {low} to {high}");
        }
        assert_eq!(series.recent(), merged.last().copied());
        assert_ne!(series.recent(), series.mean(60 - RECENT_S..60));
    }
    assert!(recorder.series().get("requests.received").expect("it is recorded").merged.is_none());
}

/// The same users ask for the same keys whatever an operator does: only decisions tell two runs apart.
#[test]
fn a_lever_does_not_shift_the_arrivals() {
    let spec = small(200.0, Spread::Exponential(ms(4)));
    let started = |change: Option<Intervention>| {
        let mut world = World::new(&spec, 7);
        let mut recorder = Recorder::new(&world);
        recorder.advance(&mut world, SimTime::from_secs(5));
        if let Some(change) = change {
            world.apply(change);
        }
        recorder.advance(&mut world, SimTime::from_secs(20));
        recorder.series().get("operations.started").map(|s| s.values.clone())
    };
    let untouched = started(None);
    assert_eq!(untouched, started(Some(Intervention::SetRateLimit { per_s: Some(10.0) })));
    assert_eq!(untouched, started(Some(Intervention::ScaleService { service: 0, instances: 3 })));
}

/// A log line tells of the system as it was when it was written.
#[test]
fn a_log_line_says_how_many_tries_were_allowed_then() {
    let mut spec = small(50.0, Spread::Fixed(ms(300)));
    spec.services[0].pools[0].query_timeout = ms(100);
    spec.services[0].pools[0].attempts = 2;
    let mut world = World::new(&spec, 1);
    let mut recorder = Recorder::new(&world);
    recorder.advance(&mut world, SimTime::from_secs(3));
    let before = recorder.logs().len();
    world.apply(Intervention::SetQueryAttempts { service: 0, attempts: 1 });
    recorder.advance(&mut world, SimTime::from_secs(6));
    let says = |from: usize, to: usize, what: &str| {
        recorder.logs()[from..to].iter().filter(|line| line.source_and_text().1.contains(what)).count()
    };
    assert!(says(0, before, "(try 2 of 2)") > 0 && says(0, before, "of 1)") == 0);
    let all = recorder.logs().len();
    assert!(says(before, all, "(try 1 of 1)") > 0 && says(before + 9, all, "of 2)") == 0);
}
