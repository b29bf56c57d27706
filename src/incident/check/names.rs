//! What a file can name: the series and log streams that a run records.

use std::collections::BTreeSet;

use crate::sim::meter::ATTEMPTS_TOLD_APART;
use crate::sim::spec::Spec;
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

/// What a reading can rest on beside series and log streams.
pub(super) const SOURCES: [&str; 3] = ["traces", "changes", "runbook"];

/// Series that a run of any system records.
const SERIES: [&str; 32] = [
    "operations.started",
    "operations.served",
    "operations.late",
    "operations.shed",
    "operations.failed",
    "operations.failure_ratio",
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
    for read in spec.reads.iter().filter(|read| read.ttl.is_some()) {
        names.insert(format!("cache.hit_ratio.{}", read.name));
    }
    for service in &spec.services {
        names.insert(format!("service.instances.{}", service.name));
        names.insert(format!("service.starting.{}", service.name));
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
