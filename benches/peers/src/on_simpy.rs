//! SimPy, in another process: it gets the numbers of the system as JSON and measures itself.

use std::io::Write as _;
use std::process::{Command, Stdio};

use pagerdrill::sim::spec::{KeySpace, Spread};
use pagerdrill::sim::{Fault, Spec};
use pagerdrill::units::SimTime;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Parts;

/// What one run of the script has measured.
#[derive(Deserialize)]
pub struct Measured {
    /// Version of SimPy.
    pub simpy: String,
    /// Version of Python.
    pub python: String,
    /// M/M/1.
    pub mm1: Mm1,
    /// Before the fault.
    pub healthy: Part,
    /// After the page.
    pub storm: Part,
}

/// M/M/1.
#[derive(Deserialize)]
pub struct Mm1 {
    /// Nanoseconds per customer.
    pub ns: f64,
    /// Mean time in the system, in units of the mean service time.
    pub mean: f64,
}

/// A part of the cold-cache run.
#[derive(Deserialize)]
pub struct Part {
    /// Nanoseconds per request.
    pub ns: f64,
    /// Requests received.
    pub requests: u64,
    /// Share of requests that failed.
    pub failed: f64,
}

/// Runs the script.
pub fn run(python: &str, script: &str, task: &Value) -> Result<Measured, String> {
    let mut child = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| format!("{python} does not start: {e}"))?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(task.to_string().as_bytes()).map_err(|e| format!("{script} does not listen: {e}"))?;
    }
    let output = child.wait_with_output().map_err(|e| e.to_string())?;
    if !output.status.success() {
        return Err(format!("{script} failed: {}", output.status));
    }
    serde_json::from_slice(&output.stdout).map_err(|e| format!("{script} says something else: {e}"))
}

/// What the script needs to know.
pub fn task(customers: u32, spec: &Spec, fault: (SimTime, Fault), parts: &Parts) -> Value {
    let (service, database) = (&spec.services[0], &spec.databases[0]);
    let pool = &service.pools[0];
    let Fault::CacheNodeLost { failover, .. } = fault.1 else {
        panic!("the model knows only a cache that is lost");
    };
    let (stages, mean) = stages(service.handling);
    json!({
        "customers": customers,
        "cold_cache": {
            "fault": fault.0.as_secs_f64(),
            "failover": failover.as_secs_f64(),
            "page": parts.page.as_secs_f64(),
            "end": parts.end.as_secs_f64(),
            "per_s": spec.traffic[0].1,
            "warm": spec.caches[0].warm,
            "handling": [stages, mean],
            "instances": service.instances,
            "reads": spec.reads.iter().map(|read| {
                let (stages, mean) = self::stages(read.query.work);
                let zipf = match read.keys {
                    KeySpace::Zipf { s, .. } => Some(s),
                    KeySpace::Even { .. } => None,
                };
                json!({
                    "share": read.share, "keys": read.keys.len(), "zipf": zipf,
                    "ttl": read.ttl.map(|t| t.as_secs_f64()),
                    "stages": stages, "mean": mean, "cold": read.query.cold_factor,
                })
            }).collect::<Vec<_>>(),
            "clients": spec.clients.iter().map(|client| json!({
                "share": client.share, "attempts": client.attempts, "backoff": client.backoff.first.as_secs_f64(),
            })).collect::<Vec<_>>(),
            "pool": {
                "size": pool.size, "attempts": pool.attempts,
                "acquire": pool.acquire_timeout.as_secs_f64(), "query": pool.query_timeout.as_secs_f64(),
                "connect": pool.connect.as_secs_f64(), "idle": pool.idle_timeout.as_secs_f64(),
            },
            "hosts": database.hosts.len(),
            "host": {
                "cores": database.cores, "contention": database.contention,
                "connections": database.connections,
                "pages": database.pages, "page_stays": database.page_stays.as_secs_f64(),
            },
        },
    })
}

/// Stages and mean of an Erlang distribution; no stages for a fixed value.
fn stages(spread: Spread) -> (u32, f64) {
    let stages = match spread {
        Spread::Fixed(_) => 0,
        Spread::Exponential(_) => 1,
        Spread::Erlang { k, .. } => k,
        Spread::Uniform { .. } => panic!("the model has no even spread"),
    };
    (stages, spread.mean().as_secs_f64())
}
