//! How fast the engine is: `cargo bench --bench engine [-- PART…]`, a part being the name of an incident, `rates` or `keys`.
//!
//! Times are those of the processor, so that whoever else uses the machine is left out, and medians of five rounds; a ratio
//! is the median of the ratios within each round. Quote ratios: machines differ. How the engine compares with others is
//! in `benches/peers`.

use std::time::Duration;

use cpu_time::ThreadTime;
use pagerdrill::incident::{self, Incident, library};
use pagerdrill::sim::spec::{KeySpace, Spread};
use pagerdrill::sim::{Fault, Spec, World};
use pagerdrill::telemetry::Recorder;
use pagerdrill::units::{SimSpan, SimTime};

const ROUNDS: usize = 5;
/// Simulated seconds of a healthy part and of a bad one, at most: an incident has enough requests in them.
const PART_S: u64 = 120;

/// What a part of a run was and how long it took.
#[derive(Clone, Copy)]
struct Part {
    simulated_s: f64,
    requests: u64,
    events: u64,
    wall: Duration,
}

impl Part {
    fn ns_per_request(self) -> f64 {
        self.wall.as_secs_f64() * 1e9 / self.requests.max(1) as f64
    }
}

/// A run in which nobody does anything about an incident.
struct Run<'a> {
    world: World,
    recorder: Option<Recorder>,
    script: &'a [(SimTime, Fault)],
}

impl<'a> Run<'a> {
    fn new(incident: &'a Incident, world: World, recorded: bool) -> Run<'a> {
        let recorder = recorded.then(|| Recorder::new(&world));
        Run { world, recorder, script: incident.script() }
    }

    fn advance(&mut self, to: SimTime) {
        match &mut self.recorder {
            Some(recorder) => recorder.advance(&mut self.world, to),
            None => self.world.advance(to),
        }
    }

    fn until(&mut self, to: SimTime) {
        while let Some((&(at, fault), later)) = self.script.split_first().filter(|(first, _)| first.0 < to) {
            self.advance(at);
            self.world.inject(fault);
            self.script = later;
        }
        self.advance(to);
    }

    /// Goes on, and says what that was.
    fn measured(&mut self, to: SimTime) -> Part {
        let (from, before) = (self.world.now(), self.world.counters().clone());
        let start = ThreadTime::now();
        self.until(to);
        let wall = start.elapsed();
        Part {
            simulated_s: to.since(from).as_secs_f64(),
            requests: self.world.counters().requests_received() - before.requests_received(),
            events: self.world.counters().events - before.events,
            wall,
        }
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn median_part(mut parts: Vec<Part>) -> Part {
    parts.sort_by_key(|part| part.wall);
    parts[parts.len() / 2]
}

/// The most memory that was in use since [`forget_peak_memory`], megabytes; where the system tells.
fn peak_memory_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kb| kb / 1024.0)
}

/// Lets the system count the most memory in use from now on.
fn forget_peak_memory() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

fn rounds<T>(name: &str, mut one: impl FnMut() -> T) -> Vec<T> {
    (1..=ROUNDS)
        .map(|round| {
            eprintln!("{name}: round {round} of {ROUNDS}");
            one()
        })
        .collect()
}

/// The parts of a run on the engine, the same on its plain twin, the same recorded, in one round.
struct Round {
    quick: Vec<Part>,
    plain: Vec<Part>,
    recorded: Vec<Part>,
}

fn incident(incident: &Incident) {
    let file = incident.file();
    let fault = incident.script().first().map_or(incident.at(file.clock.page), |s| s.0);
    let (page, end) = (incident.at(file.clock.page), incident.at(file.clock.end));
    let part = SimSpan::from_secs(PART_S);
    let healthy = ("healthy, before the first fault", SimTime(fault.0.saturating_sub(part.0)), fault);
    let bad = ("after the page", page.max(fault), (page.max(fault) + part).min(end));
    let parts: Vec<_> = [healthy, bad].into_iter().filter(|(_, from, until)| from < until).collect();
    let made = rounds(&file.id, || {
        let played = |world: World, recorded: bool| -> Vec<Part> {
            let mut run = Run::new(incident, world, recorded);
            let measured = |&(_, from, until): &(_, SimTime, SimTime)| {
                run.until(from);
                run.measured(until)
            };
            parts.iter().map(measured).collect()
        };
        Round {
            quick: played(World::new(incident.spec(), 1), false),
            plain: played(World::plain_twin(incident.spec(), 1), false),
            recorded: played(World::new(incident.spec(), 1), true),
        }
    });
    println!("{}", file.id);
    for (i, (name, ..)) in parts.iter().enumerate() {
        let quick = median_part(made.iter().map(|round| round.quick[i]).collect());
        let to_quick = |of: fn(&Round) -> &Vec<Part>| {
            let ratio = |round: &Round| of(round)[i].wall.as_secs_f64() / round.quick[i].wall.as_secs_f64();
            median(made.iter().map(ratio).collect())
        };
        let s = quick.wall.as_secs_f64();
        println!(
            "  {name:<34} {:>10} {:>8.0} {:>8.1} {:>8.1} {:>7.0}× {:>10.1}× {:>+7.0} %",
            quick.requests,
            quick.ns_per_request(),
            quick.requests as f64 / s / 1e6,
            quick.events as f64 / s / 1e6,
            quick.simulated_s / s,
            to_quick(|round| &round.plain),
            (to_quick(|round| &round.recorded) - 1.0) * 100.0,
        );
    }
    forget_peak_memory();
    let mut run = Run::new(incident, World::new(incident.spec(), 1), true);
    let whole = run.measured(end);
    let memory = peak_memory_mb().map_or_else(|| "unknown".to_owned(), |mb| format!("{mb:.0} MB"));
    let copies = (0..ROUNDS).map(|_| {
        let start = ThreadTime::now();
        let copy = run.world.clone();
        let took = start.elapsed().as_secs_f64() * 1e3;
        drop(copy);
        took
    });
    println!(
        "  whole, recorded, once: {} requests in {:.1} s, {:.0} × real time; peak memory {memory}; a checkpoint takes {:.1} ms",
        whole.requests,
        whole.wall.as_secs_f64(),
        whole.simulated_s / whole.wall.as_secs_f64(),
        median(copies.collect()),
    );
}

fn incidents(wants: impl Fn(&str) -> bool) {
    println!("\nshipped incidents, nobody acts");
    println!(
        "  {:<34} {:>10} {:>8} {:>8} {:>8} {:>8} {:>11} {:>8}",
        "", "requests", "ns each", "M req/s", "M ev/s", "× real", "its twin", "recorded"
    );
    for shipped in library::shipped().into_iter().filter(|shipped| wants(&shipped.id)) {
        match incident::load(&shipped.id, &shipped.text).incident {
            Some(loaded) => incident(&loaded),
            None => println!("{}: does not load; see `pagerdrill check`", shipped.id),
        }
    }
}

/// One service, one cache, one database: reads of so many keys at such a rate, most of them hits.
fn reads(per_s: f64, keys: u32) -> Option<Spec> {
    let shipped = library::shipped().into_iter().find(|s| s.id == "cache-gone")?;
    let incident = incident::load(&shipped.id, &shipped.text).incident?;
    let mut spec = incident.spec().clone();
    spec.traffic = vec![(SimTime::ZERO, per_s)];
    spec.reads.truncate(1);
    let read = spec.reads.first_mut()?;
    (read.share, read.writes) = (1.0, false);
    read.keys = KeySpace::Zipf { n: keys, s: 0.9 };
    (read.ttl, read.soft_ttl, read.written) = (Some(SimSpan::from_secs(86_400)), None, None);
    read.query.work = Spread::Fixed(SimSpan::from_millis(1));
    spec.caches[0].backup = None;
    for service in &mut spec.services {
        service.reading.local = None;
        service.reading.origin.per_s = None;
    }
    Some(spec)
}

fn cost(spec: &Spec, seconds: u64) -> (f64, f64, f64) {
    forget_peak_memory();
    let before = peak_memory_mb().unwrap_or(0.0);
    let mut world = World::new(spec, 1);
    let held = peak_memory_mb().unwrap_or(0.0) - before;
    let start = ThreadTime::now();
    world.advance(SimTime::from_secs(seconds));
    let ns = start.elapsed().as_secs_f64() * 1e9;
    let counters = world.counters();
    let hits = counters.kinds.iter().map(|k| k.hits).sum::<u64>() as f64
        / counters.kinds.iter().map(|k| k.lookups).sum::<u64>().max(1) as f64;
    (ns / counters.requests_received() as f64, hits, held)
}

fn table(title: &str, of: impl IntoIterator<Item = (String, Spec, u64)>) {
    println!("\n{title}");
    println!("  {:<20} {:>12} {:>10} {:>12}", "", "ns a request", "hits", "built, MB");
    for (name, spec, seconds) in of {
        let made = rounds(&name, || cost(&spec, seconds));
        println!(
            "  {name:<20} {:>12.0} {:>9.1}% {:>12.0}",
            median(made.iter().map(|m| m.0).collect()),
            made[0].1 * 100.0,
            made[0].2,
        );
    }
}

fn rates() {
    let row = |(per_s, seconds): (f64, u64)| Some((format!("{per_s} /s"), reads(per_s, 100_000)?, seconds));
    let rates = [(1_000.0, 1_000), (10_000.0, 100), (100_000.0, 10)];
    table("cost by rate, 100,000 keys", rates.into_iter().filter_map(row));
}

fn keys() {
    let row = |keys: u32| Some((format!("{keys} keys"), reads(50_000.0, keys)?, 20));
    let keys = [10_000, 100_000, 1_000_000, 10_000_000];
    table("cost and memory by keys, 50,000 requests/s", keys.into_iter().filter_map(row));
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    // `cargo test --benches` and `cargo bench -- --list` only want to know that it starts.
    if words.iter().any(|a| a == "--test" || a == "--list") {
        return;
    }
    println!("medians of {ROUNDS} rounds, one core, time on the processor");
    let wants = |part: &str| words.is_empty() || words.iter().any(|word| word == part);
    if words.is_empty() || library::shipped().iter().any(|shipped| wants(&shipped.id)) {
        incidents(wants);
    }
    if wants("rates") {
        rates();
    }
    if wants("keys") {
        keys();
    }
}
