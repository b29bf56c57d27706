//! How fast the engine runs the shipped incidents: `cargo bench`.
//!
//! Prints a table per incident: simulated requests and events per second, times real time, and the process's peak
//! memory. Every figure is the median of five runs in this process on one core; quote ratios, machines differ.

use std::time::Instant;

use pagerdrill::incident::{self, Incident, library};
use pagerdrill::sim::{Fault, World};
use pagerdrill::telemetry::Recorder;
use pagerdrill::units::SimTime;

const RUNS: usize = 5;

/// One part of a run: what it covered and how long it took.
struct Part {
    simulated_s: f64,
    requests: u64,
    events: u64,
    wall_s: f64,
}

/// Does nothing about an incident from `from` to `until`, and measures the last part only.
fn measure(incident: &Incident, from: SimTime, until: SimTime, recorded: bool) -> Part {
    let mut script = incident.script().iter().copied().peekable();
    let mut world = World::new(incident.spec(), 1);
    let mut recorder = recorded.then(|| Recorder::new(&world));
    let mut go = |world: &mut World,
                  to: SimTime,
                  script: &mut std::iter::Peekable<
        std::iter::Copied<std::slice::Iter<'_, (SimTime, Fault)>>,
    >| {
        let mut advance = |world: &mut World, at: SimTime| match &mut recorder {
            Some(recorder) => recorder.advance(world, at),
            None => world.advance(at),
        };
        while let Some((at, fault)) = script.next_if(|s| s.0 < to) {
            advance(world, at);
            world.inject(fault);
        }
        advance(world, to);
    };
    go(&mut world, from, &mut script);
    let before = world.counters().clone();
    let start = Instant::now();
    go(&mut world, until, &mut script);
    let wall_s = start.elapsed().as_secs_f64();
    Part {
        simulated_s: until.since(from).as_secs_f64(),
        requests: world.counters().requests_received() - before.requests_received(),
        events: world.counters().events - before.events,
        wall_s,
    }
}

fn median(mut parts: Vec<Part>) -> Part {
    parts.sort_by(|a, b| a.wall_s.total_cmp(&b.wall_s));
    parts.swap_remove(parts.len() / 2)
}

fn peak_memory_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kb| kb / 1024.0)
}

fn main() {
    // `cargo test --benches` and `cargo bench -- --list` only want to know that it starts.
    if std::env::args().any(|a| a == "--test" || a == "--list") {
        return;
    }
    println!("median of {RUNS} runs, one core\n");
    println!("{:<44} {:>9} {:>11} {:>10} {:>10}", "", "wall", "× real time", "ns/request", "ns/event");
    for shipped in library::shipped() {
        let Some(incident) = incident::load(&shipped.id, &shipped.text).incident else {
            println!("{}: does not load; see `pagerdrill check`", shipped.id);
            continue;
        };
        println!("{}", shipped.id);
        let file = incident.file();
        let first_fault = incident.script().first().map_or(SimTime::ZERO, |s| s.0);
        let (page, end) = (incident.at(file.clock.page), incident.at(file.clock.end));
        for (name, from, until, recorded) in [
            ("  healthy, engine alone", SimTime::ZERO, first_fault, false),
            ("  after the page, engine alone", page, end, false),
            ("  whole incident, engine alone", SimTime::ZERO, end, false),
            ("  whole incident, recorded", SimTime::ZERO, end, true),
        ] {
            if from >= until {
                continue;
            }
            let part = median((0..RUNS).map(|_| measure(&incident, from, until, recorded)).collect());
            println!(
                "{name:<44} {:>8.2}s {:>10.0}× {:>10.0} {:>10.0}",
                part.wall_s,
                part.simulated_s / part.wall_s,
                part.wall_s * 1e9 / part.requests.max(1) as f64,
                part.wall_s * 1e9 / part.events.max(1) as f64,
            );
        }
    }
    if let Some(mb) = peak_memory_mb() {
        println!("\npeak memory of this process: {mb:.0} MB");
    }
}
