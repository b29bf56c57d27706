//! The engine against its plain twin: one heap in which every step is an event must give the same run, bit by bit.

use pagerdrill::incident::{Incident, library, load};
use pagerdrill::sim::{Fault, World};
use pagerdrill::telemetry::Recorder;
use pagerdrill::units::SimTime;

/// Small enough for 16 seeds of everything, large enough that every incident breaks.
const SCALE: f64 = 0.01;

/// Everything that happens in a run of a plan, in order of time.
fn changes(incident: &Incident, plan: &str) -> Vec<(SimTime, Fault)> {
    let mut changes = incident.prepared_script(SCALE);
    for (at, action) in &incident.file().plans[plan].steps {
        let intervention = incident.intervention(action, SCALE).expect("a plan's action can be taken");
        changes.push((incident.at(*at), Fault::Change(intervention)));
    }
    changes.sort_by_key(|c| c.0);
    changes
}

/// What tells two runs apart, once a simulated minute: how operations ended, what was recorded, and how much happened.
fn run(mut world: World, incident: &Incident, changes: &[(SimTime, Fault)]) -> Vec<[u64; 4]> {
    let mut recorder = Recorder::new(&world);
    let mut changes = changes.iter().peekable();
    let mut seen = Vec::new();
    let mut minute = SimTime::ZERO;
    while minute.0 < incident.length().0 {
        minute = SimTime(minute.0 + 60_000_000_000);
        while let Some((at, change)) = changes.next_if(|c| c.0 <= minute) {
            recorder.advance(&mut world, *at);
            world.inject(*change);
        }
        recorder.advance(&mut world, minute);
        let c = world.counters();
        seen.push([world.digest(), recorder.digest(), c.requests_received(), c.events]);
    }
    seen
}

#[test]
fn the_twin_gives_the_same_run() {
    let shipped = library::shipped();
    assert!(!shipped.is_empty());
    for shipped in shipped {
        let loaded = load(&shipped.id, &shipped.text);
        let incident = loaded.incident.expect("a shipped incident loads");
        let spec = incident.prepared(SCALE);
        for seed in 1..=16 {
            let plan = if seed % 2 == 0 { "senior" } else { "trap" };
            let changes = changes(&incident, plan);
            let quick = run(World::new(&spec, seed), &incident, &changes);
            let plain = run(World::plain_twin(&spec, seed), &incident, &changes);
            assert_eq!(quick, plain, "{} with plan {plan}, seed {seed}", shipped.id);
        }
    }
}
