//! Real code beside the model: threads that ask for one cold key through a real database file, with and without
//! coalescing, and what the engine says for the same callers.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Instant;

use anyhow::Context;
use moka::sync::Cache;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};

use super::table::aligned;
use crate::incident::Incident;
use crate::sim::spec::Spec;
use crate::sim::{ENGINE_VERSION, World};
use crate::units::{SECOND, SimTime};

/// Threads that ask.
const CALLERS: u32 = 100;
/// Posts in the file, and comments of each.
const POSTS: u32 = 50;
const COMMENTS: u32 = 400;
/// The post that everybody asks for.
const HOT: u32 = 7;
/// Comments on a page.
const PAGE: u32 = 20;

/// What came of one way to read.
struct Outcome {
    coalesced: bool,
    /// Reads of the source: in real code, and in the model.
    real: u64,
    model: u64,
    /// Callers that got the page.
    served: u32,
    took_ms: f64,
}

/// Runs both ways and puts them side by side.
pub(super) fn run(incident: &Incident, json: bool) -> anyhow::Result<String> {
    let folder = tempfile::tempdir().context("a folder for the database file cannot be made")?;
    let path = folder.path().join("comments.sqlite");
    fill(&path).context("the database file cannot be written")?;
    let outcomes = [false, true]
        .into_iter()
        .map(|coalesced| {
            let model = model(incident.spec(), coalesced)
                .with_context(|| format!("{} reads nothing through a cache", incident.file().id))?;
            let (real, served, took_ms) = real(&path, coalesced)?;
            Ok(Outcome { coalesced, real, model, served, took_ms })
        })
        .collect::<anyhow::Result<Vec<_>>>()?;
    Ok(if json { format!("{:#}\n", as_json(incident, &outcomes)) } else { text(&outcomes) })
}

/// Posts with their comments, as an application would keep them.
fn fill(path: &Path) -> rusqlite::Result<()> {
    let mut connection = Connection::open(path)?;
    connection.execute_batch(
        "CREATE TABLE comments (id INTEGER PRIMARY KEY, post INTEGER NOT NULL, at INTEGER NOT NULL, body TEXT NOT NULL);",
    )?;
    let transaction = connection.transaction()?;
    {
        let mut insert = transaction.prepare("INSERT INTO comments (post, at, body) VALUES (?1, ?2, ?3)")?;
        for i in 0..POSTS * COMMENTS {
            insert.execute((i % POSTS, i, format!("comment {i}")))?;
        }
    }
    transaction.commit()
}

/// The newest comments of a post. Without an index on the post, as in the file, it walks over all of them.
fn read(connection: &Connection, post: u32) -> rusqlite::Result<Vec<String>> {
    let mut query =
        connection.prepare("SELECT body FROM comments WHERE post = ?1 ORDER BY at DESC LIMIT ?2")?;
    query.query_map((post, PAGE), |row| row.get(0))?.collect()
}

/// All callers ask at once. Returns reads of the file, callers served, and milliseconds.
fn real(path: &Path, coalesced: bool) -> anyhow::Result<(u64, u32, f64)> {
    let cache: Cache<u32, Arc<Vec<String>>> = Cache::new(1_000);
    let reads = AtomicU64::new(0);
    let barrier = Barrier::new(CALLERS as usize + 1);
    let source = |connection: &Connection| {
        reads.fetch_add(1, Ordering::Relaxed);
        read(connection, HOT).map(Arc::new)
    };
    let ask = || -> anyhow::Result<usize> {
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        // Everybody has looked before anybody has read: the key is cold for all of them.
        barrier.wait();
        let page = if coalesced {
            cache.try_get_with(HOT, || source(&connection)).map_err(|error| anyhow::anyhow!("{error}"))?
        } else {
            let cold = cache.get(&HOT);
            barrier.wait();
            match cold {
                Some(page) => page,
                None => {
                    let page = source(&connection)?;
                    cache.insert(HOT, Arc::clone(&page));
                    page
                }
            }
        };
        Ok(page.len())
    };
    std::thread::scope(|scope| {
        let callers: Vec<_> = (0..CALLERS).map(|_| scope.spawn(ask)).collect();
        barrier.wait();
        let begun = Instant::now();
        if !coalesced {
            barrier.wait();
        }
        let mut served = 0;
        for caller in callers {
            let page = caller.join().map_err(|_| anyhow::anyhow!("a caller stopped unexpectedly"))??;
            served += u32::from(page == PAGE as usize);
        }
        Ok((reads.load(Ordering::Relaxed), served, begun.elapsed().as_secs_f64() * 1e3))
    })
}

/// Reads of the source that the engine counts for as many callers of one process and one cold key; `None` when the
/// system reads nothing through a cache.
fn model(system: &Spec, coalesced: bool) -> Option<u64> {
    let mut spec = system.clone();
    let hot = (0..spec.reads.len()).filter(|&i| spec.reads[i].ttl.is_some());
    let hot = hot.max_by(|&a, &b| spec.reads[a].share.total_cmp(&spec.reads[b].share))?;
    for (i, read) in spec.reads.iter_mut().enumerate() {
        read.share = if i == hot { 1.0 } else { 0.0 };
        read.written = None;
    }
    spec.reads[hot].keys = crate::sim::spec::KeySpace::Even { n: 1 };
    let place = spec.services.iter().position(|s| s.cache.is_some() && s.database.is_some())?;
    let service = &mut spec.services[place];
    (service.instances, service.deadline, service.workers) = (1, None, None);
    service.reading.coalesce = coalesced;
    for pool in &mut service.pools {
        pool.size = CALLERS;
    }
    spec.balancer.routes = vec![(place, 1.0)];
    spec.caches.iter_mut().for_each(|cache| cache.warm = 0.0);
    // As good as at the same instant: a caller every nanosecond or so, and then no more.
    spec.traffic = vec![(SimTime::ZERO, 1e6)];
    let mut world = World::new(&spec, 1);
    let mut end = 0;
    while world.counters().operations_started() < u64::from(CALLERS) {
        end += 100;
        world.advance(SimTime(end));
    }
    spec.traffic.push((SimTime(end), 0.0));
    let mut world = World::new(&spec, 1);
    world.advance(SimTime(600 * SECOND));
    let started = (0..spec.databases.len()).flat_map(|d| world.hosts(d)).map(|host| host.counters.started);
    Some(started.sum())
}

fn text(outcomes: &[Outcome]) -> String {
    let mut rows =
        vec![["", "reads, real code", "reads, model", "callers served", "took"].map(str::to_owned).to_vec()];
    for o in outcomes {
        rows.push(vec![
            if o.coalesced { "coalesced" } else { "each for itself" }.to_owned(),
            o.real.to_string(),
            o.model.to_string(),
            o.served.to_string(),
            format!("{:.1} ms", o.took_ms),
        ]);
    }
    format!(
        "{CALLERS} threads ask for one cold key through an SQLite file; the model has {CALLERS} callers of one process.\n\n{}",
        aligned(&rows)
    )
}

fn as_json(incident: &Incident, outcomes: &[Outcome]) -> Value {
    let outcome = |o: &Outcome| {
        json!({
            "coalesced": o.coalesced,
            "reads_real": o.real,
            "reads_model": o.model,
            "served": o.served,
            "took_ms": o.took_ms,
        })
    };
    json!({
        "schema": 1,
        "engine": ENGINE_VERSION,
        "incident": incident.file().id,
        "callers": CALLERS,
        "outcomes": outcomes.iter().map(outcome).collect::<Vec<_>>(),
    })
}
