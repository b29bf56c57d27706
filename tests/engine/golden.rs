//! Runs that must never change unnoticed: a change here is a change of results, and needs a new engine version.

use pagerdrill::sim::rng::Stream;
use pagerdrill::sim::spec::{KeySpace, Spread};
use pagerdrill::sim::{ENGINE_VERSION, Fault, Intervention, World};
use pagerdrill::telemetry::Recorder;
use pagerdrill::units::{SimSpan, SimTime};

use crate::{ms, small};

/// The version that the values below belong to.
const RECORDED_WITH: u32 = 5;

#[test]
fn streams_are_what_they_have_always_been() {
    let draws = |seed, purpose| {
        let mut stream = Stream::new(seed, purpose);
        [stream.draw(), stream.draw(), stream.draw()]
    };
    assert_eq!(
        draws(1, "arrivals"),
        [17_261_262_327_745_664_342, 4_573_016_427_405_780_449, 11_892_971_817_801_075_711]
    );
    assert_ne!(draws(2, "arrivals"), draws(1, "arrivals"));
    assert_ne!(draws(1, "keys"), draws(1, "arrivals"));
}

/// Every mechanism once: a hot set and its cache, cold pages, retries, a limit, timeouts, scaling, a failover.
#[test]
fn a_run_of_everything_is_what_it_has_always_been() {
    assert_eq!(ENGINE_VERSION, RECORDED_WITH, "a new version: record the values of this file anew");
    let mut spec = small(400.0, Spread::Erlang { k: 3, mean: ms(6) });
    spec.reads[0].keys = KeySpace::Zipf { n: 5_000, s: 0.9 };
    spec.reads[0].ttl = Some(SimSpan::from_secs(8));
    spec.reads[0].query.cold_factor = 4.0;
    spec.clients[0].attempts = 3;
    spec.clients[0].timeout = Some(ms(400));
    spec.services[0].instances = 3;
    spec.services[0].pools[0].size = 12;
    spec.services[0].pools[0].attempts = 2;
    spec.services[0].pools[0].acquire_timeout = ms(150);
    spec.services[0].pools[0].query_timeout = ms(120);
    spec.services[0].pools[0].connect = ms(2);
    spec.databases[0].hosts.push("replica".to_owned());
    spec.databases[0].connections = 20;
    spec.databases[0].contention = 0.05;
    spec.databases[0].pages = 400;
    spec.databases[0].page_stays = SimSpan::from_secs(5);
    let mut world = World::new(&spec, 7);
    let mut recorder = Recorder::new(&world);
    recorder.advance(&mut world, SimTime::from_secs(5));
    world.inject(Fault::CacheNodeLost { cache: 0, failover: SimSpan::from_secs(2), survivors: 0.3 });
    recorder.advance(&mut world, SimTime::from_secs(15));
    world.apply(Intervention::SetRateLimit { per_s: Some(450.0) });
    world.apply(Intervention::ScaleService { service: 0, instances: 5 });
    recorder.advance(&mut world, SimTime::from_secs(25));
    world.apply(Intervention::WarmCache { cache: 0, keys: 500, per_s: 50.0 });
    world.apply(Intervention::SetClientAttempts { client: 0, attempts: 1 });
    recorder.advance(&mut world, SimTime::from_secs(40));
    assert_eq!(world.contradictions(), Vec::<String>::new());
    assert_eq!((world.digest(), recorder.digest()), (9_038_947_572_296_950_091, 5_732_228_673_343_439_643));
}
