//! How fast the engine is beside others, in one process on one core. Every round runs all candidates one after the other;
//! ratios are taken within a round, since absolute times move with the machine's mood.
//!
//! `cargo run --release --manifest-path benches/peers/Cargo.toml [-- [--rounds N] [mm1] [hold] [cold-cache]]`;
//! `benches/peers/simpy/run.sh [--rounds N]` for SimPy.

mod cold_cache;
mod on_desque;
mod on_desru;
mod on_nexosim;
mod on_pagerdrill;
mod on_simcore;
mod on_simpy;
mod on_std;
mod station;
mod table;

use std::hint::black_box;

use cold_cache::{Engine, Model, Outcome};
use pagerdrill::incident::{self, Incident, library};
use pagerdrill::sim::{Fault, Spec};
use pagerdrill::units::{SimSpan, SimTime};
use station::Station;
use table::{Table, timed};

const DEFAULT_ROUNDS: usize = 5;
const USAGE: &str = "usage: pagerdrill-peers [--rounds N] [mm1] [hold] [cold-cache]
       pagerdrill-peers simpy PYTHON SCRIPT [--rounds N]";
/// How long after the page the storm is measured.
const STORM: SimSpan = SimSpan::from_secs(300);

fn main() {
    let mut rounds = DEFAULT_ROUNDS;
    let mut words = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument != "--rounds" {
            words.push(argument);
            continue;
        }
        match arguments.next().and_then(|n| n.parse().ok()) {
            Some(n) if n > 0 => rounds = n,
            _ => return eprintln!("{USAGE}"),
        }
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if !matches!(words[..], ["simpy", _, _])
        && !words.iter().all(|w| ["mm1", "hold", "cold-cache"].contains(w))
    {
        return eprintln!("{USAGE}");
    }
    println!("medians of {rounds} rounds, one core; ratios are medians of the ratios within each round");
    if let ["simpy", python, script] = words[..] {
        return with_incident(|incident, fault| simpy(rounds, python, script, incident, fault));
    }
    let wants = |name: &str| words.is_empty() || words.contains(&name);
    if wants("mm1") {
        mm1(rounds);
    }
    if wants("hold") {
        hold(rounds, 1_000, 2_000_000);
        hold(rounds, 100_000, 2_000_000);
    }
    if wants("cold-cache") {
        with_incident(|incident, fault| cold_cache(rounds, incident, fault));
    }
}

/// Says on standard error how far it is, since a table takes a while.
fn progress(part: &str, round: usize, rounds: usize) {
    eprintln!("{part}: round {round} of {rounds}");
}

fn mm1(rounds: usize) {
    type Run = fn() -> Station;
    let peers: [(&str, Run); 6] = [
        ("std BinaryHeap, hand-written", on_std::mm1),
        ("desque", on_desque::mm1),
        ("simcore", on_simcore::mm1),
        ("desru", on_desru::mm1),
        ("nexosim, one thread", on_nexosim::mm1),
        ("pagerdrill, set of future events", on_pagerdrill::mm1_events),
    ];
    let mut names: Vec<&str> = peers.iter().map(|p| p.0).collect();
    names.push("pagerdrill, as a whole system");
    let mut table =
        Table::new(format!("M/M/1 at ρ = 0.8, {} customers: ns per customer", station::CUSTOMERS), &names);
    for round in 1..=rounds {
        progress("M/M/1", round, rounds);
        for (i, (_, run)) in peers.iter().enumerate() {
            let (station, ns) = timed(run);
            let remark = format!("mean {:.4} services, sum {}", station.mean(), station.sojourn);
            table.add(i, ns / f64::from(station.served), remark);
        }
        let ((customers, busy), ns) = timed(on_pagerdrill::mm1(station::CUSTOMERS));
        table.add(peers.len(), ns / customers as f64, format!("busy {:.1} % of the time", busy * 100.0));
    }
    table.print();
    let (events, ..) = table.ratio(peers.len() - 1, 1);
    let (system, ..) = table.ratio(peers.len(), 1);
    println!("  to desque's time: set of future events {events:.2} ×, whole system {system:.2} ×");
}

fn hold(rounds: usize, size: u32, holds: u32) {
    let names = [
        "std BinaryHeap, pop and push",
        "desque",
        "simcore",
        "desru",
        "nexosim, one thread",
        "pagerdrill, heap",
    ];
    let title = format!("hold model, {size} events pending, {holds} holds: ns per hold");
    let mut table = Table::new(title, &names);
    for round in 1..=rounds {
        progress(&format!("hold, {size}"), round, rounds);
        let mut add = |i: usize, (clock, ns): (u64, f64)| {
            table.add(i, ns / f64::from(holds), format!("clock at the end {clock}"));
        };
        // Filling the queue is not measured.
        add(0, timed(black_box(on_std::hold(size, holds))));
        add(1, timed(black_box(on_desque::hold(size, holds))));
        add(2, timed(black_box(on_simcore::hold(size, holds))));
        add(3, timed(black_box(on_desru::hold(size, holds))));
        add(4, timed(black_box(on_nexosim::hold(size, holds))));
        add(5, timed(black_box(on_pagerdrill::hold(size, holds))));
    }
    table.print();
}

/// Instants between which the parts of the incident are measured.
struct Parts {
    fault: SimTime,
    page: SimTime,
    end: SimTime,
}

/// One run: requests and nanoseconds of the healthy part and of the storm, and what it came to.
type Measured = ([(u64, f64); 2], Outcome);

/// Runs something with the shipped incident and what happens in it, or says why not.
fn with_incident(run: impl FnOnce(&Incident, (SimTime, Fault))) {
    let id = "cold-cache-failover";
    let shipped = library::shipped().into_iter().find(|s| s.id == id);
    let incident = shipped.and_then(|s| incident::load(&s.id, &s.text).incident);
    match incident.as_ref().map(|i| (i, i.script())) {
        Some((incident, &[fault])) => run(incident, fault),
        _ => println!("\n{id} does not load, or more than one thing happens in it: left out"),
    }
}

fn cold_cache(rounds: usize, incident: &Incident, fault: (SimTime, Fault)) {
    let spec = incident.spec();
    let page = incident.at(incident.file().clock.page);
    let parts = Parts { fault: fault.0, page, end: page + STORM };

    type Run = fn(&Spec, (SimTime, Fault), &Parts) -> Measured;
    let candidates: [(&str, Run); 4] = [
        ("pagerdrill", ours),
        ("std BinaryHeap, same handlers", peer::<on_std::StdHeap>),
        ("desque, same handlers", peer::<on_desque::Desque>),
        ("simcore, same handlers", peer::<on_simcore::Simcore>),
    ];
    let names: Vec<&str> = candidates.iter().map(|c| c.0).collect();
    let span = |from: SimTime, to: SimTime| format!("{:.0} s simulated", to.since(from).as_secs_f64());
    let mut healthy = Table::new(
        format!("cold cache, healthy, {}: ns per request", span(SimTime::ZERO, parts.fault)),
        &names,
    );
    let mut storm =
        Table::new(format!("cold cache, storm, {}: ns per request", span(parts.page, parts.end)), &names);
    for round in 1..=rounds {
        progress("cold cache", round, rounds);
        let mut reference = None;
        for (i, (_, run)) in candidates.iter().enumerate() {
            let ([calm, rough], outcome) = run(spec, fault, &parts);
            let same = *reference.get_or_insert(outcome) == outcome;
            healthy.add(i, calm.1 / calm.0 as f64, format!("{} requests", calm.0));
            let verdict = match (i, same) {
                (0, _) => "",
                (_, true) => ", same checksum",
                (_, false) => ", ANOTHER CHECKSUM",
            };
            let remark = format!(
                "{} requests; whole run: {} operations succeeded, {} failed{verdict}",
                rough.0, outcome.succeeded, outcome.failed
            );
            storm.add(i, rough.1 / rough.0 as f64, remark);
        }
    }
    healthy.print();
    storm.print();
}

fn ours(spec: &Spec, fault: (SimTime, Fault), parts: &Parts) -> Measured {
    let mut run = on_pagerdrill::Run::new(spec, fault);
    let measured = measure(parts, |until| {
        run.until(until);
        run.world.counters().requests_received()
    });
    let counters = run.world.counters();
    let outcome = Outcome {
        requests: counters.requests_received(),
        succeeded: counters.operations_served() + counters.operations_late,
        failed: counters.operations_failed,
        digest: run.world.digest(),
    };
    (measured, outcome)
}

fn peer<E: Engine>(spec: &Spec, fault: (SimTime, Fault), parts: &Parts) -> Measured {
    let mut engine = E::new(Model::new(spec, fault));
    let measured = measure(parts, |until| {
        engine.run_until(until.0);
        engine.model(|m| m.outcome().requests)
    });
    (measured, engine.model(Model::outcome))
}

/// Measures the healthy part and the storm of one run; `run_until` returns the requests so far.
fn measure(parts: &Parts, mut run_until: impl FnMut(SimTime) -> u64) -> [(u64, f64); 2] {
    let (calm, calm_ns) = timed(|| run_until(parts.fault));
    let before = run_until(parts.page);
    let (after, storm_ns) = timed(|| run_until(parts.end));
    [(calm, calm_ns), (after - before, storm_ns)]
}

/// The incident at full size with a shorter clock, so that a round in Python takes about a minute.
fn simpy(rounds: usize, python: &str, script: &str, incident: &Incident, fault: (SimTime, Fault)) {
    const CUSTOMERS: u32 = 100_000;
    let seconds = SimTime::from_secs;
    let fault = (seconds(60), fault.1);
    let parts = Parts { fault: fault.0, page: seconds(120), end: seconds(150) };
    let spec = incident.spec();
    let task = on_simpy::task(CUSTOMERS, spec, fault, &parts);
    let names = ["pagerdrill", "SimPy"];
    let mut mm1 = Table::new(format!("M/M/1 at ρ = 0.8, {CUSTOMERS} customers: ns per customer"), &names);
    let mut healthy = Table::new("cold cache, healthy, 60 s simulated: ns per request".to_owned(), &names);
    let mut storm = Table::new("cold cache, storm, 30 s simulated: ns per request".to_owned(), &names);
    for round in 1..=rounds {
        progress("SimPy", round, rounds);
        let ((customers, busy), ns) = timed(on_pagerdrill::mm1(CUSTOMERS));
        mm1.add(0, ns / customers as f64, format!("busy {:.1} % of the time", busy * 100.0));
        let mut run = on_pagerdrill::Run::new(spec, fault);
        let mut failed = Vec::new();
        let [calm, rough] = measure(&parts, |until| {
            run.until(until);
            let counters = run.world.counters();
            failed.push(counters.requests_errors);
            counters.requests_received()
        });
        let remark =
            |requests: u64, failed: f64| format!("{requests} requests, {:.1} % failed", failed * 100.0);
        healthy.add(0, calm.1 / calm.0 as f64, remark(calm.0, failed[0] as f64 / calm.0 as f64));
        let share = (failed[2] - failed[1]) as f64 / rough.0 as f64;
        storm.add(0, rough.1 / rough.0 as f64, remark(rough.0, share));
        match on_simpy::run(python, script, &task) {
            Ok(theirs) => {
                let versions = format!("SimPy {}, Python {}", theirs.simpy, theirs.python);
                mm1.add(1, theirs.mm1.ns, format!("mean {:.2} services; {versions}", theirs.mm1.mean));
                healthy.add(1, theirs.healthy.ns, remark(theirs.healthy.requests, theirs.healthy.failed));
                storm.add(1, theirs.storm.ns, remark(theirs.storm.requests, theirs.storm.failed));
            }
            Err(problem) => return eprintln!("no comparison with SimPy: {problem}"),
        }
    }
    for table in [mm1, healthy, storm] {
        table.print();
    }
}
