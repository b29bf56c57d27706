//! How fast the engine is beside others, in one process on one core. Every round runs all candidates one after the other;
//! ratios are taken within a round, since absolute times move with the machine's mood.
//!
//! `cargo run --release --manifest-path benches/peers/Cargo.toml [-- [--rounds N] [mm1] [hold] [cold-cache]]`

mod cold_cache;
mod on_desque;
mod on_desru;
mod on_nexosim;
mod on_pagerdrill;
mod on_simcore;
mod on_std;
mod station;
mod table;

use std::hint::black_box;

use cold_cache::{Engine, Model, Outcome};
use on_pagerdrill::Incident;
use pagerdrill::incident::{self, library};
use pagerdrill::sim::{Fault, Spec};
use pagerdrill::units::{SimSpan, SimTime};
use station::Station;
use table::{Table, timed};

const DEFAULT_ROUNDS: usize = 5;
const USAGE: &str = "usage: pagerdrill-peers [--rounds N] [mm1] [hold] [cold-cache]";
/// How long after the page the storm is measured.
const STORM: SimSpan = SimSpan::from_secs(300);

fn main() {
    let mut rounds = DEFAULT_ROUNDS;
    let mut wanted = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--rounds" => match arguments.next().and_then(|n| n.parse().ok()) {
                Some(n) if n > 0 => rounds = n,
                _ => return eprintln!("{USAGE}"),
            },
            "mm1" | "hold" | "cold-cache" => wanted.push(argument),
            _ => return eprintln!("{USAGE}"),
        }
    }
    let wants = |name: &str| wanted.is_empty() || wanted.iter().any(|w| w == name);
    println!("medians of {rounds} rounds, one core; ratios are medians of the ratios within each round");
    if wants("mm1") {
        mm1(rounds);
    }
    if wants("hold") {
        hold(rounds, 1_000, 2_000_000);
        hold(rounds, 100_000, 2_000_000);
    }
    if wants("cold-cache") {
        cold_cache(rounds);
    }
}

fn mm1(rounds: usize) {
    type Run = fn() -> Station;
    let peers: [(&str, Run); 5] = [
        ("std BinaryHeap, hand-written", on_std::mm1),
        ("desque", on_desque::mm1),
        ("simcore", on_simcore::mm1),
        ("desru", on_desru::mm1),
        ("nexosim, one thread", on_nexosim::mm1),
    ];
    let mut names: Vec<&str> = peers.iter().map(|p| p.0).collect();
    names.push("pagerdrill, service and database");
    let mut table =
        Table::new(format!("M/M/1 at ρ = 0.8, {} customers: ns per customer", station::CUSTOMERS), &names);
    for _ in 0..rounds {
        for (i, (_, run)) in peers.iter().enumerate() {
            let (station, ns) = timed(run);
            let remark = format!("mean {:.4} services, sum {}", station.mean(), station.sojourn);
            table.add(i, ns / f64::from(station.served), remark);
        }
        let ((customers, busy), ns) = timed(on_pagerdrill::mm1(station::CUSTOMERS));
        table.add(peers.len(), ns / customers as f64, format!("busy {:.1} % of the time", busy * 100.0));
    }
    table.print();
    let (to_desque, ..) = table.ratio(peers.len(), 1);
    println!("  through the components: {to_desque:.2} × desque's time");
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
    for _ in 0..rounds {
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

fn cold_cache(rounds: usize) {
    let Some(shipped) = library::shipped().into_iter().find(|s| s.id == "cold-cache-failover") else {
        return println!("\nthe cold-cache incident is not among the shipped ones: left out");
    };
    let Some(incident) = incident::load(&shipped.id, &shipped.text).incident else {
        return println!("\nthe cold-cache incident does not load: left out");
    };
    let (spec, script) = (incident.spec(), incident.script());
    let Some(fault) = script.first() else {
        return println!("\nnothing happens in the cold-cache incident: left out");
    };
    let page = incident.at(incident.file().clock.page);
    let parts = Parts { fault: fault.0, page, end: page + STORM };

    type Run = fn(&Spec, &[(SimTime, Fault)], &Parts) -> Measured;
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
    for _ in 0..rounds {
        let mut reference = None;
        for (i, (_, run)) in candidates.iter().enumerate() {
            let ([calm, rough], outcome) = run(spec, script, &parts);
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

fn ours(spec: &Spec, script: &[(SimTime, Fault)], parts: &Parts) -> Measured {
    let mut incident = Incident::new(spec, script);
    let measured = measure(parts, |until| {
        incident.run_until(until);
        incident.world.counters().requests_received()
    });
    let counters = incident.world.counters();
    let outcome = Outcome {
        requests: counters.requests_received(),
        succeeded: counters.operations_served + counters.operations_late,
        failed: counters.operations_failed,
        digest: incident.world.digest(),
    };
    (measured, outcome)
}

fn peer<E: Engine>(spec: &Spec, script: &[(SimTime, Fault)], parts: &Parts) -> Measured {
    let mut engine = E::new(Model::new(spec, script));
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
