//! Properties that hold for any system and any sequence of changes.

use pagerdrill::sim::spec::{Abandoned, ConfigReach, KeySpace, Spread};
use pagerdrill::sim::{Fault, Intervention, Spec, World};
use pagerdrill::telemetry::Recorder;
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
    fn nothing_is_lost_and_nothing_appears(spec in strained(), seed in 0u64..1000, steps in prop::collection::vec(step(), 1..25)) {
        prop_assert_eq!(spec.problems(), Vec::<String>::new());
        let mut world = World::new(&spec, seed);
        for step in &steps {
            take(&mut world, step, &mut |w, until| w.advance(until));
            prop_assert_eq!(world.contradictions(), Vec::<String>::new(), "after {:?} at {:?}", step, world.now());
        }
    }

    #[test]
    fn the_size_of_a_step_does_not_matter(spec in strained(), seed in 0u64..1000, steps in prop::collection::vec(step(), 1..15), cut in 1u64..700) {
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

    #[test]
    fn a_clone_goes_on_as_the_original_would(spec in strained(), seed in 0u64..1000) {
        let mut world = World::new(&spec, seed);
        world.advance(SimTime::from_secs(2));
        let mut fork = world.clone();
        world.advance(SimTime::from_secs(5));
        fork.advance(SimTime::from_secs(5));
        prop_assert_eq!(world.digest(), fork.digest());
    }
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
