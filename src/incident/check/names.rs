//! What a file can name: the series and log streams that a run records.

use std::collections::BTreeSet;

use crate::sim::meter::ATTEMPTS_TOLD_APART;
use crate::sim::spec::{Spec, Step};
use crate::telemetry::instance_name;

/// The log streams of a run: what `log:STREAM` in a file can name.
pub const LOG_STREAMS: [&str; 8] = [
    "access",
    "query_timeout",
    "connection_refused",
    "pool_timeout",
    "rate_limited",
    "client_gone",
    "cache",
    "instance",
];

/// Most keys of a kind of read whose queries are counted one by one.
const FEW_KEYS: u32 = 1_024;

/// What a reading can rest on beside series and log streams.
pub(super) const SOURCES: [&str; 3] = ["traces", "changes", "runbook"];

/// Series that a run of any system records.
const SERIES: [&str; 58] = [
    "operations.started",
    "operations.served",
    "operations.late",
    "operations.shed",
    "operations.failed",
    "operations.failure_ratio",
    "operations.served_ratio",
    "operations.degraded",
    "operations.stale",
    "requests.received",
    "requests.ok",
    "requests.errors",
    "requests.rejected",
    "requests.busy",
    "requests.abandoned",
    "requests.retry_ratio",
    "requests.failure_ratio",
    "latency.p50",
    "latency.p95",
    "latency.p99",
    "cache.hit_ratio",
    "cache.lookups",
    "cache.fills",
    "cache.timeouts",
    "cache.backup_hits",
    "breaker.open",
    "lock.waits",
    "origin.wanted",
    "origin.started",
    "origin.refused",
    "origin.in_flight",
    "origin.duration.p50",
    "origin.duration.p99",
    "refresh.started",
    "refresh.failed",
    "reads.coalesced",
    "reads.stale",
    "reads.local",
    "age.oldest_served",
    "age.oldest_believed",
    "client.retries_denied",
    "db.cpu",
    "db.queries",
    "db.queries.misses",
    "db.queries.retries",
    "db.finished",
    "db.timeouts",
    "db.refused",
    "db.connections",
    "db.running",
    "db.slow_queries",
    "query.duration.p50",
    "query.duration.p95",
    "attempts.per_operation",
    "queries.per_operation",
    "pool.in_use",
    "pool.waiting",
    "warm.keys",
];

/// The series that a run of a system records from its first second on, sorted. Instances that are started later add
/// series of their own.
pub fn series_names(spec: &Spec) -> Vec<String> {
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
        if read.ttl.is_some() && read.keys.len() <= FEW_KEYS {
            names.insert(format!("origin.per_key.{}", read.name));
        }
    }
    if spec.services.iter().any(|service| service.workers.is_some()) {
        names.insert("workers.in_use".to_owned());
    }
    for service in &spec.services {
        names.insert(format!("service.instances.{}", service.name));
        names.insert(format!("service.starting.{}", service.name));
        names.insert(format!("service.requests.{}", service.name));
        names.insert(format!("service.failures.{}", service.name));
        names.extend(["p50", "p95", "p99"].map(|p| format!("service.latency.{p}.{}", service.name)));
        for step in &service.steps {
            if let Step::Call(call) = step {
                let what = ["started", "timeouts", "per_request"];
                names.extend(what.map(|what| format!("calls.{what}.{}", call.name)));
            }
        }
        let instances = service.instances.min(1_000) as usize;
        names.extend((0..instances).map(|i| format!("pool.in_use.{}", instance_name(&service.name, i))));
    }
    for host in spec.databases.iter().flat_map(|database| &database.hosts) {
        names.extend(["cpu", "running", "connections"].map(|what| format!("db.{what}.{host}")));
    }
    names.into_iter().collect()
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
        for shipped in library::shipped() {
            let incident = load(&shipped.id, &shipped.text).incident.expect("a shipped incident loads");
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
