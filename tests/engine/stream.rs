//! An auditor of what is recorded of operations, every one of them, span by span. It knows the rules of the system and shares
//! no code and no state with the engine.

use std::collections::BTreeMap;

use pagerdrill::sim::probe::{OperationEnd, SpanEnd, SpanKind, SpanRecord, TraceRecord};
use pagerdrill::sim::spec::{Abandoned, KeySpace, Spread};
use pagerdrill::sim::{Spec, World};
use pagerdrill::units::{SimSpan, SimTime};
use proptest::prelude::*;

use crate::{ms, small};

/// A system of one service, one cache that is empty at the start, and two hosts; its traffic ends after so many seconds.
fn system() -> impl Strategy<Value = Spec> {
    (
        (50.0..500.0f64, 1u32..5, 1u32..4, 1u32..30, 1u32..4),
        (5u32..60, 20u64..400, prop::bool::ANY, prop::option::of(50.0..300.0f64)),
        (prop::bool::ANY, prop::bool::ANY, 0u64..20),
    )
        .prop_map(
            |(
                (per_s, attempts, instances, size, tries),
                (limit, timeout, cached, rate),
                (runs_on, varies, io),
            )| {
                let mut spec = small(per_s, Spread::Erlang { k: 2, mean: ms(12) });
                spec.traffic.push((SimTime::from_secs(TRAFFIC_S), 0.0));
                spec.trace_one_in = 1;
                spec.late_after = ms(400);
                let read = &mut spec.reads[0];
                (read.ttl, read.keys) = (cached.then(|| ms(1_500)), KeySpace::Zipf { n: 300, s: 0.9 });
                read.query.io = Spread::Fixed(ms(io));
                spec.caches[0].warm = 0.0;
                spec.clients[0].attempts = attempts;
                spec.balancer.rate_limit = rate;
                let service = &mut spec.services[0];
                service.instances = instances;
                let pool = &mut service.pools[0];
                (pool.size, pool.attempts, pool.connect) = (size, tries, ms(1));
                (pool.acquire_timeout, pool.query_timeout) = (ms(timeout), ms(timeout * 2));
                pool.acquire_varies = varies;
                let database = &mut spec.databases[0];
                database.hosts = vec!["primary".to_owned(), "replica".to_owned()];
                (database.cores, database.connections) = (1.5, limit);
                database.abandoned = if runs_on { Abandoned::RunsOn } else { Abandoned::Cancelled };
                spec
            },
        )
}

/// How exactly the age of a value is known.
const TICK_NS: u64 = 1 << 20;
/// Seconds with traffic, and those after which all operations have ended.
const TRAFFIC_S: u64 = 6;
const LONG_S: u64 = 60;

/// All operations of a run, from the first to the last.
fn recorded(spec: &Spec, seed: u64) -> (World, Vec<TraceRecord>) {
    let mut world = World::new(spec, seed);
    world.advance(SimTime::from_secs(LONG_S));
    let operations = std::mem::take(world.probe().collected().2);
    (world, operations)
}

/// Service and instance.
type Place = (u16, u16);

/// What does not go together, in words.
#[derive(Default)]
struct Audit {
    faults: Vec<String>,
}

impl Audit {
    fn of(spec: &Spec, world: &World, operations: &[TraceRecord]) -> Vec<String> {
        let mut audit = Audit::default();
        audit.totals(world, operations);
        for operation in operations {
            audit.operation(spec, operation);
        }
        audit.pools(spec, operations);
        audit.cache(spec, operations);
        audit.faults.truncate(5);
        audit.faults
    }

    fn needs(&mut self, holds: bool, what: &str, operation: &TraceRecord) {
        if !holds {
            self.faults.push(format!("{what}: {operation:?}"));
        }
    }

    /// Every operation and every request is in the record once.
    fn totals(&mut self, world: &World, operations: &[TraceRecord]) {
        let attempts = |end: Option<SpanEnd>| {
            let spans = operations.iter().flat_map(|o| &o.spans);
            let attempt = |s: &&SpanRecord| matches!(s.kind, SpanKind::Attempt { .. });
            spans.filter(attempt).filter(|s| end.is_none_or(|end| end == s.end_kind)).count() as u64
        };
        let counters = world.counters();
        let pairs = [
            ("operations", counters.operations_started(), operations.len() as u64),
            ("requests", counters.requests_received(), attempts(None)),
            ("requests turned away", counters.requests_rejected, attempts(Some(SpanEnd::Rejected))),
            ("requests that failed", counters.requests_errors, attempts(Some(SpanEnd::Error))),
        ];
        for (what, counted, seen) in pairs {
            if counted != seen {
                self.faults.push(format!("{what}: {counted} were counted, {seen} are recorded"));
            }
        }
    }

    /// An operation makes attempts until one succeeds or there are no more, with a pause between two.
    fn operation(&mut self, spec: &Spec, operation: &TraceRecord) {
        let attempts = attempts(operation);
        let (client, Some(last)) = (&spec.clients[0], attempts.last()) else {
            return self.needs(false, "no attempt", operation);
        };
        let n = attempts.len() as u32;
        self.needs(n == operation.attempts && n <= client.attempts, "number of attempts", operation);
        self.needs(attempts[0].start == operation.started, "the first attempt begins with it", operation);
        self.needs(last.end == operation.ended, "the last attempt ends with it", operation);
        for pair in attempts.windows(2) {
            // Who is turned away pauses from the refusal on, before word of it arrives.
            let turned_away = pair[0].end_kind == SpanEnd::Rejected;
            let from = if turned_away { pair[0].start } else { pair[0].end };
            let pause = pair[1].start - from;
            self.needs(pause == client.backoff.first.0, "the pause between two attempts", operation);
            self.needs(pair[0].end_kind != SpanEnd::Ok, "an attempt after success", operation);
        }
        let in_time = operation.ended - operation.started <= spec.late_after.0;
        let end = match last.end_kind {
            SpanEnd::Ok if in_time => OperationEnd::Served,
            SpanEnd::Ok => OperationEnd::Late,
            SpanEnd::Rejected => OperationEnd::Shed,
            _ => OperationEnd::Failed,
        };
        self.needs(operation.end == end, "how it ended", operation);
        let given_up = last.end_kind != SpanEnd::Ok;
        self.needs(!given_up || n == client.attempts, "given up before the last attempt", operation);
        for attempt in &attempts {
            self.attempt(spec, operation, attempt);
        }
    }

    /// What an attempt does follows without a gap: the look-up, the wait, connections, queries.
    fn attempt(&mut self, spec: &Spec, operation: &TraceRecord, attempt: &SpanRecord) {
        let pool = &spec.services[0].pools[0];
        let parts = parts(operation, attempt);
        let inside = parts.iter().all(|p| p.start >= attempt.start && p.end <= attempt.end);
        self.needs(inside, "a part outside its attempt", operation);
        let joined = parts.windows(2).all(|pair| pair[1].start == pair[0].end);
        self.needs(joined, "a gap between two parts", operation);
        // A database that goes on with a query that was given up keeps its connection; then the next try takes a place anew.
        let runs_on = spec.databases[0].abandoned == Abandoned::RunsOn;
        let given_up = |run: &&[SpanRecord]| run.last().is_some_and(|p| p.end_kind == SpanEnd::TimedOut);
        let before_last = runs(&parts).rev().skip(1).all(|run| runs_on && given_up(&run));
        self.needs(before_last, "the order of parts", operation);
        let looked_up = parts.first().is_some_and(|p| matches!(p.kind, SpanKind::CacheGet { .. }));
        let turned_away = attempt.end_kind == SpanEnd::Rejected;
        let wanted = spec.reads[0].ttl.is_some() && !turned_away;
        self.needs(looked_up == wanted, "whether the cache was asked", operation);
        for (i, part) in parts.iter().enumerate() {
            let (took, is_last) = (part.end - part.start, i + 1 == parts.len());
            match part.kind {
                SpanKind::PoolWait if part.end_kind == SpanEnd::TimedOut => {
                    let fits = pool.acquire_varies || took == pool.acquire_timeout.0;
                    self.needs(fits && is_last, "a wait that was given up", operation);
                }
                SpanKind::PoolWait => {
                    let fits = pool.acquire_varies || took <= pool.acquire_timeout.0;
                    self.needs(fits && !is_last, "a wait that ended well", operation);
                }
                SpanKind::Query { .. } if part.end_kind == SpanEnd::TimedOut => {
                    self.needs(took == pool.query_timeout.0, "a query that was given up", operation);
                }
                SpanKind::Query { .. } => {
                    let fits = part.end_kind == SpanEnd::Ok && took <= pool.query_timeout.0 && is_last;
                    self.needs(fits, "a query that ended well", operation);
                }
                _ => {}
            }
        }
        let tries =
            parts.iter().filter(|p| matches!(p.kind, SpanKind::Query { .. } | SpanKind::Connect { .. }));
        let tries = tries.filter(|p| p.end_kind != SpanEnd::Ok).count() as u32;
        self.needs(tries <= pool.attempts, "tries of the database client", operation);
        let found = parts.last().map_or(!turned_away && wanted, |p| p.end_kind == SpanEnd::Ok);
        self.needs(found == (attempt.end_kind == SpanEnd::Ok), "how an attempt ended", operation);
    }

    /// No more connections are held than there are, and who came first is served first.
    fn pools(&mut self, spec: &Spec, operations: &[TraceRecord]) {
        let pool = &spec.services[0].pools[0];
        let mut held: BTreeMap<Place, Vec<(u64, u64)>> = BTreeMap::new();
        let mut on_host: BTreeMap<u32, Vec<(u64, u64)>> = BTreeMap::new();
        // Until when, since when, and whether it ended with a connection.
        let mut waits: BTreeMap<Place, Vec<(u64, u64, bool)>> = BTreeMap::new();
        let mut at_once: BTreeMap<Place, Vec<u64>> = BTreeMap::new();
        for operation in operations {
            for attempt in attempts(operation) {
                let SpanKind::Attempt { place: Some(place), .. } = attempt.kind else { continue };
                let parts = parts(operation, &attempt);
                for run in runs(&parts) {
                    let waited = run.iter().find(|p| p.kind == SpanKind::PoolWait);
                    if let Some(wait) = waited {
                        let got = wait.end_kind == SpanEnd::Ok;
                        waits.entry(place).or_default().push((wait.end, wait.start, got));
                    }
                    let mut uses = run.iter().filter(|p| rank(p) >= HOLDS);
                    let Some(first) = uses.next() else { continue };
                    let until = uses.next_back().unwrap_or(first).end;
                    held.entry(place).or_default().push((first.start, until));
                    if waited.is_none() {
                        at_once.entry(place).or_default().push(first.start);
                    }
                }
                for part in &parts {
                    if let SpanKind::Query { host, .. } = part.kind {
                        on_host.entry(host).or_default().push((part.start, part.end));
                    }
                }
            }
        }
        for (place, spans) in held {
            let most = most_at_once(spans);
            if most > pool.size {
                self.faults.push(format!("{most} connections are held at {place:?}, of {}", pool.size));
            }
        }
        for (host, spans) in on_host {
            let (most, limit) = (most_at_once(spans), spec.databases[0].connections);
            if most > limit {
                self.faults.push(format!("{most} queries at host {host}, which accepts {limit} connections"));
            }
        }
        for (place, mut waits) in waits {
            waits.sort_unstable();
            let begun: Vec<u64> = waits.iter().filter(|w| w.2).map(|w| w.1).collect();
            if !begun.is_sorted() {
                self.faults.push(format!("somebody was overtaken in the queue at {place:?}"));
            }
            for at in at_once.remove(&place).unwrap_or_default() {
                if waits.iter().any(|&(end, start, _)| start < at && at < end) {
                    self.faults
                        .push(format!("a connection at {at} without a wait at {place:?}, where others wait"));
                }
            }
        }
    }

    /// The cache has a value exactly when a query brought one that is still young enough.
    fn cache(&mut self, spec: &Spec, operations: &[TraceRecord]) {
        let Some(ttl) = spec.reads[0].ttl else { return };
        let mut brought: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for operation in operations {
            let ok = |s: &&SpanRecord| matches!(s.kind, SpanKind::Query { .. }) && s.end_kind == SpanEnd::Ok;
            brought
                .entry(operation.key)
                .or_default()
                .extend(operation.spans.iter().filter(ok).map(|s| s.end));
        }
        for operation in operations {
            let times = brought.get(&operation.key).map_or(&[][..], Vec::as_slice);
            for look in operation.spans.iter().filter(|s| matches!(s.kind, SpanKind::CacheGet { .. })) {
                let young = |&at: &u64| at < look.end && look.end < at + ttl.0;
                let hit = look.end_kind == SpanEnd::Ok;
                // At the very instant either may come first, and lives end on a clock that ticks each millisecond or so.
                let unclear =
                    times.iter().any(|&at| at == look.end || (at + ttl.0).abs_diff(look.end) <= TICK_NS);
                self.needs(unclear || hit == times.iter().any(young), "what the cache had", operation);
            }
        }
    }
}

/// The client's attempts, in order.
fn attempts(operation: &TraceRecord) -> Vec<SpanRecord> {
    let number = |span: &SpanRecord| match span.kind {
        SpanKind::Attempt { attempt, .. } => Some(attempt),
        _ => None,
    };
    let mut all: Vec<SpanRecord> = operation.spans.iter().filter(|s| number(s).is_some()).copied().collect();
    all.sort_by_key(number);
    all
}

/// What an attempt did, in order.
fn parts(operation: &TraceRecord, attempt: &SpanRecord) -> Vec<SpanRecord> {
    let of = |s: &&SpanRecord| s.parent == attempt.number && !matches!(s.kind, SpanKind::Attempt { .. });
    let mut parts: Vec<SpanRecord> = operation.spans.iter().filter(of).copied().collect();
    parts.sort_by_key(|p| (p.start, p.end, rank(p)));
    parts
}

/// The parts of an attempt by the place in the pool that they have: where the order begins anew, so does that.
fn runs(parts: &[SpanRecord]) -> impl DoubleEndedIterator<Item = &[SpanRecord]> {
    parts.chunk_by(|a, b| rank(a) <= rank(b))
}

/// From this rank on a part holds a place in the pool.
const HOLDS: u8 = 2;

/// Place of a part among those of its attempt.
fn rank(part: &SpanRecord) -> u8 {
    match part.kind {
        SpanKind::CacheGet { .. } => 0,
        SpanKind::PoolWait => 1,
        SpanKind::Connect { .. } => 2,
        SpanKind::Query { .. } => 3,
        _ => 4,
    }
}

/// How many of these spans of time overlap at most; one that ends makes room for one that begins.
fn most_at_once(spans: Vec<(u64, u64)>) -> u32 {
    let mut changes: Vec<(u64, i32)> =
        spans.into_iter().flat_map(|(from, to)| [(from, 1), (to, -1)]).collect();
    changes.sort_unstable();
    let (mut now, mut most) = (0i32, 0);
    for (_, change) in changes {
        now += change;
        most = most.max(now);
    }
    most as u32
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn an_auditor_finds_nothing(spec in system(), seed in 0u64..1000) {
        prop_assert_eq!(spec.problems(), Vec::<String>::new());
        let (world, operations) = recorded(&spec, seed);
        prop_assert!(!operations.is_empty());
        prop_assert_eq!(Audit::of(&spec, &world, &operations), Vec::<String>::new());
    }
}

/// Each way of falsifying a record is found, so that an auditor who finds nothing has looked.
#[test]
fn an_auditor_finds_what_is_wrong() {
    let mut spec = small(300.0, Spread::Erlang { k: 2, mean: ms(12) });
    spec.traffic.push((SimTime::from_secs(TRAFFIC_S), 0.0));
    (spec.trace_one_in, spec.late_after) = (1, ms(400));
    (spec.reads[0].ttl, spec.reads[0].keys) = (Some(ms(1_500)), KeySpace::Zipf { n: 300, s: 0.9 });
    (spec.caches[0].warm, spec.clients[0].attempts) = (0.0, 3);
    let pool = &mut spec.services[0].pools[0];
    (pool.size, pool.acquire_timeout, pool.query_timeout) = (4, ms(60), ms(120));
    let (world, operations) = recorded(&spec, 1);
    assert_eq!(Audit::of(&spec, &world, &operations), Vec::<String>::new());
    let falsified = |change: &dyn Fn(&mut Vec<TraceRecord>)| {
        let mut operations = operations.clone();
        change(&mut operations);
        Audit::of(&spec, &world, &operations).first().cloned().unwrap_or_default()
    };
    let first = |operations: &mut Vec<TraceRecord>,
                 wanted: &dyn Fn(&SpanRecord) -> bool,
                 change: &dyn Fn(&mut SpanRecord)| {
        let span = operations.iter_mut().flat_map(|o| &mut o.spans).find(|s| wanted(s));
        change(span.expect("the run has one"));
    };
    let is_query = |s: &SpanRecord| matches!(s.kind, SpanKind::Query { .. });
    let hit = |s: &SpanRecord| matches!(s.kind, SpanKind::CacheGet { .. }) && s.end_kind == SpanEnd::Ok;
    let waited = |s: &SpanRecord| s.kind == SpanKind::PoolWait && s.end_kind == SpanEnd::TimedOut;
    for (change, told) in [
        (&(|o: &mut Vec<TraceRecord>| drop(o.pop())) as &dyn Fn(&mut Vec<TraceRecord>), "operations: "),
        (&|o| o[5].attempts += 1, "number of attempts: "),
        (&|o| o[5].end = OperationEnd::Shed, "how it ended: "),
        (&|o| first(o, &is_query, &|s| s.end += 1_000_000_000), "a part outside its attempt: "),
        (&|o| first(o, &is_query, &|s| s.start += 1), "a gap between two parts: "),
        (&|o| first(o, &waited, &|s| s.start += 1), "a gap between two parts: "),
        (&|o| first(o, &hit, &|s| s.end_kind = SpanEnd::Miss), "how an attempt ended: "),
    ] {
        let found = falsified(change);
        assert!(found.starts_with(told), "wanted `{told}`, got `{found}`");
    }
    // A rule that is tighter than the run was.
    let mut tighter = spec.clone();
    tighter.services[0].pools[0].size = 3;
    assert!(Audit::of(&tighter, &world, &operations)[0].contains("connections are held"));
    tighter = spec.clone();
    tighter.reads[0].ttl = Some(SimSpan(1));
    assert!(Audit::of(&tighter, &world, &operations)[0].starts_with("what the cache had"));
}
