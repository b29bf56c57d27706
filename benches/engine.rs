//! How fast the engine is: `cargo bench --bench engine [-- PART…]`, a part being the name of an incident, `rates` or `keys`.
//!
//! Times are those of the processor, so that whoever else uses the machine is left out, and medians of five rounds; a ratio
//! is the median of the ratios within each round. Quote ratios: machines differ. How the engine compares with others is
//! in `benches/peers`.
//!
//! The memory of a world is what its process came to hold beyond what it held before, at the peak while the world was built
//! and once it was. The system counts some pages late, and a part is the same for all worlds: bytes a key mean something only
//! where there are many keys.

use std::process::Command;
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

/// A figure of this process's memory, bytes, where the system tells: `VmRSS` is what is in use, `VmHWM` the most that was
/// since [`forget_peak_memory`].
fn memory_bytes(figure: &str) -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix(figure)?.strip_prefix(':'))?;
    line.split_whitespace().next()?.parse::<f64>().ok().map(|kb| kb * 1024.0)
}

fn unknown() -> String {
    "unknown".to_owned()
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
    let whole = |recorded: bool| {
        let mut run = Run::new(incident, World::new(incident.spec(), 1), recorded);
        (run.measured(end), run)
    };
    // What is over in no time is measured as often as the parts.
    let pair = || (whole(false).0, whole(true).0);
    let mut pairs = vec![pair()];
    if pairs[0].0.wall.as_secs_f64() < 0.5 {
        pairs.extend((1..ROUNDS).map(|_| pair()));
    }
    let times = pairs.len();
    let cost = median(pairs.iter().map(|(q, r)| r.wall.as_secs_f64() / q.wall.as_secs_f64()).collect());
    forget_peak_memory();
    let (_, run) = whole(true);
    let whole = median_part(pairs.into_iter().map(|(_, recorded)| recorded).collect());
    let memory = memory_bytes("VmHWM").map_or_else(unknown, |bytes| format!("{:.0} MB", bytes / 1e6));
    let copies = (0..ROUNDS).map(|_| {
        let start = ThreadTime::now();
        let copy = run.world.clone();
        let took = start.elapsed().as_secs_f64() * 1e3;
        drop(copy);
        took
    });
    println!(
        "  whole, recorded, {}: {} requests in {:.2} s, {:.0} × real time, recorder {:+.0} %; peak memory {memory}; a checkpoint takes {:.1} ms",
        if times == 1 { "once".to_owned() } else { format!("{times} times") },
        whole.requests,
        whole.wall.as_secs_f64(),
        whole.simulated_s / whole.wall.as_secs_f64(),
        (cost - 1.0) * 100.0,
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
    (read.share, read.posts) = (1.0, false);
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

fn cost(spec: &Spec, seconds: u64) -> (f64, f64) {
    let mut world = World::new(spec, 1);
    let start = ThreadTime::now();
    world.advance(SimTime::from_secs(seconds));
    let ns = start.elapsed().as_secs_f64() * 1e9;
    let counters = world.counters();
    let hits = counters.kinds.iter().map(|k| k.hits).sum::<u64>() as f64
        / counters.kinds.iter().map(|k| k.lookups()).sum::<u64>().max(1) as f64;
    (ns / counters.requests_received() as f64, hits)
}

/// The word that makes this program build a world and tell its memory.
const BUILD: &str = "build";

/// Builds a world and prints the bytes that it takes, at the peak of building and after.
fn build(per_s: f64, keys: u32) -> Option<()> {
    let spec = reads(per_s, keys)?;
    forget_peak_memory();
    let before = memory_bytes("VmRSS")?;
    let world = World::new(&spec, 1);
    println!("{} {}", memory_bytes("VmHWM")? - before, memory_bytes("VmRSS")? - before);
    drop(world);
    Some(())
}

/// What [`build`] tells in a process of its own: here, what was freed before and not given back to the system would be taken
/// again and not be counted. For the same reason glibc is to take all but small blocks from the system, and give them back.
fn built(per_s: f64, keys: u32) -> Option<(f64, f64)> {
    let program = std::env::current_exe().ok()?;
    let told = Command::new(program)
        .args([BUILD, &per_s.to_string(), &keys.to_string()])
        .env("MALLOC_MMAP_THRESHOLD_", "4096")
        .output()
        .ok()?;
    let told = String::from_utf8(told.stdout).ok()?;
    let (peak, after) = told.trim().split_once(' ')?;
    Some((peak.parse().ok()?, after.parse().ok()?))
}

/// Rows of so many requests per second, keys, simulated seconds.
fn table(title: &str, name: impl Fn(f64, u32) -> String, rows: &[(f64, u32, u64)]) {
    println!("\n{title}");
    let columns = ["ns a request", "hits", "building, MB", "bytes a key", "built, MB", "bytes a key"];
    println!("  {:<16}{}", "", columns.map(|column| format!("{column:>14}")).concat());
    for &(per_s, keys, seconds) in rows {
        let (name, Some(spec)) = (name(per_s, keys), reads(per_s, keys)) else { continue };
        let memory = built(per_s, keys);
        let made = rounds(&name, || cost(&spec, seconds));
        let bytes = |of: fn((f64, f64)) -> f64, unit: f64, digits: usize| {
            memory.map_or_else(unknown, |memory| format!("{:.digits$}", of(memory) / unit))
        };
        println!(
            "  {name:<16}{:>14.0}{:>13.1}%{:>14}{:>14}{:>14}{:>14}",
            median(made.iter().map(|m| m.0).collect()),
            made[0].1 * 100.0,
            bytes(|m| m.0, 1e6, 1),
            bytes(|m| m.0, f64::from(keys), 1),
            bytes(|m| m.1, 1e6, 1),
            bytes(|m| m.1, f64::from(keys), 1),
        );
    }
}

fn rates() {
    let rows = [(1_000.0, 1_000), (10_000.0, 100), (100_000.0, 10)].map(|(per_s, s)| (per_s, 100_000, s));
    table("cost by rate, 100,000 keys", |per_s, _| format!("{per_s} /s"), &rows);
}

fn keys() {
    let rows = [10_000, 100_000, 1_000_000, 10_000_000].map(|keys| (50_000.0, keys, 20));
    table("cost and memory by keys, 50,000 requests/s", |_, keys| format!("{keys} keys"), &rows);
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    // `cargo test --benches` and `cargo bench -- --list` only want to know that it starts.
    if words.iter().any(|a| a == "--test" || a == "--list") {
        return;
    }
    if let [word, per_s, keys] = &words[..]
        && word == BUILD
        && let (Ok(per_s), Ok(keys)) = (per_s.parse(), keys.parse())
    {
        build(per_s, keys);
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
