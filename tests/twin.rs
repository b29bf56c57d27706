//! Runs of the shipped incidents: they must be what they have always been, on every machine and however they are cut into steps,
//! and what the plain twin gives, one heap in which every step is an event.

use pagerdrill::incident::{Incident, library, load};
use pagerdrill::sim::{ENGINE_VERSION, Fault, World};
use pagerdrill::telemetry::Recorder;
use pagerdrill::units::{SimSpan, SimTime};

/// Small enough for 16 seeds of everything; most incidents still break.
const SCALE: f64 = 0.01;
const MINUTE: SimSpan = SimSpan::from_secs(60);

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

/// What tells two runs apart, after each step of a run: how operations ended, what was recorded, and how much happened.
fn run(mut world: World, incident: &Incident, changes: &[(SimTime, Fault)], step: SimSpan) -> Vec<[u64; 4]> {
    let mut recorder = Recorder::new(&world);
    let mut changes = changes.iter().peekable();
    let mut seen = Vec::new();
    let (mut now, end) = (SimTime::ZERO, SimTime(incident.length().0));
    while now < end {
        now = (now + step).min(end);
        while let Some((at, change)) = changes.next_if(|c| c.0 <= now) {
            recorder.advance(&mut world, *at);
            world.inject(*change);
        }
        recorder.advance(&mut world, now);
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
            let quick = run(World::new(&spec, seed), &incident, &changes, MINUTE);
            let plain = run(World::plain_twin(&spec, seed), &incident, &changes, MINUTE);
            assert_eq!(quick, plain, "{} with plan {plan}, seed {seed}", shipped.id);
        }
    }
}

/// The file with the checksums is part of the engine's version. Where this fails on purpose, raise `ENGINE_VERSION` and record
/// them anew with `INSTA_UPDATE=always`; where it fails on one machine only, the engine is at fault.
#[test]
fn runs_are_what_they_have_always_been() {
    let mut table = format!("engine version {ENGINE_VERSION}\n");
    for shipped in library::shipped() {
        let incident = load(&shipped.id, &shipped.text).incident.expect("a shipped incident loads");
        let spec = incident.prepared(SCALE);
        for plan in incident.file().plans.keys() {
            let changes = changes(&incident, plan);
            for seed in 1..=2 {
                let whole = run(World::new(&spec, seed), &incident, &changes, incident.length());
                let pieces = run(World::new(&spec, seed), &incident, &changes, SimSpan::from_millis(7_300));
                assert_eq!(whole.last(), pieces.last(), "{} with plan {plan}, seed {seed}, cut", shipped.id);
                let [ended, recorded, requests, _] = whole.last().expect("a run has an end");
                let line = format!("{} {plan} {seed}: {ended:016x} {recorded:016x} {requests}\n", shipped.id);
                table.push_str(&line);
            }
        }
    }
    insta::assert_snapshot!(table);
}
