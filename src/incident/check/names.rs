//! What a file can name: the series and log streams that a run records.

use std::collections::BTreeSet;

use crate::incident::schema::{Action, Fault, IncidentFile, Knob, Lever};
use crate::sim::meter::{ATTEMPTS_TOLD_APART, COUNTED_KEYS};
use crate::sim::spec::{BreakerSpec, LocalSpec, LockSpec, ReadSpec, Reading, Spec, Step};
use crate::telemetry::instance_name;
use crate::units::SimSpan;

/// The log streams of a run: what `log:STREAM` in a file can name.
pub const LOG_STREAMS: [&str; 15] = [
    "access",
    "query_timeout",
    "connection_refused",
    "pool_timeout",
    "rate_limited",
    "client_gone",
    "cache",
    "instance",
    "deadline",
    "cache_timeout",
    "breaker",
    "budget",
    "slow_query",
    "database",
    "call_timeout",
];

/// What a reading can rest on beside series and log streams.
pub(super) const SOURCES: [&str; 3] = ["traces", "changes", "runbook"];

/// Series that a run of any system records.
const SERIES: [&str; 38] = [
    "operations.started",
    "operations.served",
    "operations.late",
    "operations.shed",
    "operations.failed",
    "operations.failure_ratio",
    "operations.served_ratio",
    "requests.received",
    "requests.ok",
    "requests.errors",
    "requests.rejected",
    "requests.abandoned",
    "requests.retry_ratio",
    "requests.failure_ratio",
    "latency.p50",
    "latency.p95",
    "latency.p99",
    "cache.hit_ratio",
    "cache.lookups",
    "cache.fills",
    "db.cpu",
    "db.queries",
    "db.queries.misses",
    "db.queries.retries",
    "db.finished",
    "db.timeouts",
    "db.refused",
    "db.connections",
    "db.running",
    "query.duration.p50",
    "query.duration.p95",
    "attempts.per_operation",
    "queries.per_operation",
    "pool.in_use",
    "pool.waiting",
    "warm.keys",
    "cost.cache_nodes",
    "cost.local_entries",
];

/// The series that a run of a system records from its first second on, sorted. Instances that are started later, and
/// defences that are switched on later, add series of their own.
fn series_names(spec: &Spec) -> Vec<String> {
    let mut names: BTreeSet<String> = SERIES.iter().map(|&name| name.to_owned()).collect();
    let attempts = spec.clients.iter().map(|client| client.attempts as usize).max().unwrap_or(1);
    names.extend((1..=attempts.min(ATTEMPTS_TOLD_APART)).map(|n| format!("requests.attempt.{n}")));
    names.extend(spec.clients.iter().map(|client| format!("client.attempts_allowed.{}", client.name)));
    for read in &spec.reads {
        if spec.reads.len() > 1 {
            names.insert(format!("operations.served_ratio.{}", read.name));
        }
        if read.ttl.is_some() {
            names.insert(format!("cache.hit_ratio.{}", read.name));
        }
    }
    for host in spec.databases.iter().flat_map(|database| &database.hosts) {
        names.extend(["cpu", "running", "connections"].map(|what| format!("db.{what}.{host}")));
    }
    services(spec, &mut names);
    when_used(spec, &mut names);
    names.into_iter().collect()
}

fn services(spec: &Spec, names: &mut BTreeSet<String>) {
    // A single service without patient clients is measured at the front door.
    let inside = spec.services.len() > 1 || spec.clients.iter().any(|client| client.timeout.is_some());
    for service in &spec.services {
        let name = &service.name;
        names.insert(format!("service.instances.{name}"));
        names.insert(format!("service.starting.{name}"));
        if inside {
            names.extend(["requests", "failures"].map(|what| format!("service.{what}.{name}")));
            names.extend(["p50", "p95", "p99"].map(|p| format!("service.latency.{p}.{name}")));
        }
        if service.pools.iter().any(|pool| pool.size > 0) {
            let instances = service.instances.min(1_000) as usize;
            names.extend((0..instances).map(|i| format!("pool.in_use.{}", instance_name(name, i))));
        }
        for step in &service.steps {
            if let Step::Call(call) = step {
                let what = ["started", "timeouts", "per_operation"];
                names.extend(what.map(|what| format!("calls.{what}.{}", call.name)));
            }
        }
    }
}

/// Series that are recorded where there is something to record.
fn when_used(spec: &Spec, names: &mut BTreeSet<String>) {
    let mut record = |used: bool, series: &[&str]| {
        names.extend(series.iter().filter(|_| used).map(|&name| name.to_owned()));
    };
    let reads = |test: &dyn Fn(&Reading) -> bool| spec.services.iter().any(|s| test(&s.reading));
    record(spec.reads.iter().any(|r| r.soft_ttl.is_some()), &["operations.stale"]);
    record(reads(&|r| r.static_answer), &["operations.degraded"]);
    record(spec.services.iter().any(|s| s.workers.is_some()), &["requests.busy", "workers.in_use"]);
    record(spec.clients.iter().any(|c| c.retry_budget.is_some()), &["client.retries_denied"]);
    record(spec.databases.iter().any(|d| d.slow_query.is_some()), &["db.slow_queries"]);
    if spec.caches.is_empty() {
        return;
    }
    record(
        true,
        &[
            "origin.wanted",
            "origin.started",
            "origin.in_flight",
            "origin.duration.p50",
            "origin.duration.p99",
        ],
    );
    record(reads(&|r| r.origin.per_s.is_some() || r.origin.at_once.is_some()), &["origin.refused"]);
    record(
        reads(&|r| r.coalesce || r.serve_stale),
        &["refresh.started", "refresh.failed", "reads.coalesced", "reads.stale"],
    );
    record(reads(&|r| r.local.is_some()), &["reads.local"]);
    // Ages are kept for all that is cached as soon as one kind needs them, or values are copied.
    let needed = reads(&|r| r.local.is_some())
        || spec.reads.iter().any(|r| r.soft_ttl.is_some() || r.written.is_some());
    let aged: Vec<&ReadSpec> = spec.reads.iter().filter(|r| needed && r.ttl.is_some()).collect();
    record(!aged.is_empty(), &["age.oldest_served", "age.oldest_believed"]);
    for read in aged.iter().filter(|_| aged.len() > 1) {
        record(true, &[&format!("age.oldest_served.{}", read.name)]);
    }
    record(reads(&|r| r.cache_timeout > SimSpan::ZERO), &["cache.timeouts"]);
    record(reads(&|r| r.breaker.is_some()), &["breaker.open"]);
    record(spec.caches.iter().any(|c| c.backup.is_some()), &["cache.backup_hits"]);
    record(reads(&|r| r.lock.is_some()), &["lock.waits"]);
    for read in spec.reads.iter().filter(|r| r.ttl.is_some() && r.keys.len() <= COUNTED_KEYS) {
        record(true, &[&format!("origin.per_key.{}", read.name)]);
    }
}

/// The series that a run of a file's system can come to record, sorted: those of the system, and those of the system with
/// everything switched on that the file's levers and plans, and others, can switch on.
pub fn series_of(file: &IncidentFile, spec: &Spec) -> Vec<String> {
    let mut all: BTreeSet<String> = series_names(spec).into_iter().collect();
    let planned = file.plans.values().flat_map(|plan| plan.steps.iter().map(|(_, action)| action));
    let others = file.happens.iter().filter_map(|happening| match &happening.what {
        Fault::Do(action) => Some(action),
        _ => None,
    });
    let set = planned.chain(others).filter_map(|action| match action {
        Action::Set(knob, _) => Some(knob),
        _ => None,
    });
    let levers = file.levers.iter().filter_map(|lever| match lever {
        Lever::Set(knob) => Some(knob),
        _ => None,
    });
    let mut on = spec.clone();
    for knob in set.chain(levers) {
        switch_on(&mut on, knob);
    }
    all.extend(series_names(&on));
    all.extend(file.telemetry.health.keys().map(|name| format!("health.{name}")));
    all.into_iter().collect()
}

/// The system with a defence that a setting can bring.
fn switch_on(spec: &mut Spec, knob: &Knob) {
    const SOME: SimSpan = SimSpan::from_secs(1);
    let service = |name: &str| spec.services.iter().position(|service| service.name == name);
    match knob {
        Knob::RetryBudget(name) => {
            for client in spec.clients.iter_mut().filter(|client| client.name == *name) {
                client.retry_budget = Some(1.0);
            }
        }
        Knob::SoftTtl(name) => {
            for read in spec.reads.iter_mut().filter(|read| read.name == *name) {
                read.soft_ttl = Some(SOME);
            }
        }
        Knob::Workers(name)
        | Knob::ServeStale(name)
        | Knob::Coalesce(name)
        | Knob::Lock(name)
        | Knob::OriginRate(name)
        | Knob::OriginAtOnce(name)
        | Knob::LocalEntries(name)
        | Knob::Breaker(name)
        | Knob::CacheTimeout(name)
        | Knob::StaticAnswer(name) => {
            let Some(service) = service(name).and_then(|i| spec.services.get_mut(i)) else { return };
            let reading = &mut service.reading;
            match knob {
                Knob::Workers(_) => service.workers = Some(1),
                Knob::ServeStale(_) => reading.serve_stale = true,
                Knob::Coalesce(_) => reading.coalesce = true,
                Knob::Lock(_) => reading.lock = Some(LockSpec { ttl: SOME, wait: (SOME, SOME) }),
                Knob::OriginRate(_) | Knob::OriginAtOnce(_) => reading.origin.at_once = Some(1),
                Knob::LocalEntries(_) => reading.local = Some(LocalSpec { entries: 1, keep_stamps: true }),
                Knob::Breaker(_) => reading.breaker = Some(BreakerSpec { failures: 1, open: SOME }),
                Knob::CacheTimeout(_) => reading.cache_timeout = SOME,
                _ => reading.static_answer = true,
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::incident::{library, load};
    use crate::sim::World;
    use crate::telemetry::Recorder;
    use crate::units::SimTime;

    /// The list above is written by hand so that a file can be checked without running it; here it meets a recorder.
    #[test]
    fn the_series_that_a_file_can_name_are_those_that_are_recorded() {
        const CALLS: &str = include_str!("../../../tests/incidents/good/calls.ron");
        let shipped = library::shipped().into_iter().map(|shipped| shipped.text);
        for text in shipped.chain([CALLS.to_owned()]) {
            let incident = load("good", &text).incident.expect("a good file");
            let spec = incident.prepared(0.01);
            let mut world = World::new(&spec, 1);
            let mut recorder = Recorder::new(&world);
            recorder.advance(&mut world, SimTime::from_secs(2));
            let recorded: Vec<String> = recorder.series().iter().map(|s| s.name.clone()).collect();
            let known = series_names(&spec);
            let missing: Vec<_> = recorded.iter().filter(|name| !known.contains(name)).collect();
            let unrecorded: Vec<_> = known.iter().filter(|name| !recorded.contains(name)).collect();
            assert!(
                missing.is_empty() && unrecorded.is_empty(),
                "missing {missing:?}, too many {unrecorded:?}"
            );
        }
    }
}
