//! A plain description of a system: what the engine builds a world from.
//!
//! Components are named by text in files and by index here. A [`Spec`] is made by the incident layer, which has
//! checked it; [`Spec::problems`] states what the engine relies on, so that anything else that builds one can ask.

use crate::units::{SimSpan, SimTime};

/// Index of a client population in [`Spec::clients`].
pub type ClientIndex = usize;
/// Index of a service in [`Spec::services`].
pub type ServiceIndex = usize;
/// Index of a cache in [`Spec::caches`].
pub type CacheIndex = usize;
/// Index of a database in [`Spec::databases`].
pub type DatabaseIndex = usize;

/// A whole system.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// User operations offered, per second, from each instant on; in order of time, the first at zero.
    pub traffic: Vec<(SimTime, f64)>,
    /// What the operations read; shares add up to 1.
    pub reads: Vec<ReadSpec>,
    /// Who sends them; shares add up to 1.
    pub clients: Vec<ClientSpec>,
    /// The load balancer in front of the first service.
    pub balancer: BalancerSpec,
    /// Services; the balancer sends requests to the first.
    pub services: Vec<ServiceSpec>,
    /// Caches.
    pub caches: Vec<CacheSpec>,
    /// Databases.
    pub databases: Vec<DatabaseSpec>,
    /// An operation that takes longer than this, over all its attempts, is late even when it succeeds.
    pub late_after: SimSpan,
    /// One operation in this many leaves a trace.
    pub trace_one_in: u32,
}

/// A kind of read.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadSpec {
    /// Name on dashboards and in traces.
    pub name: String,
    /// Share of operations that are of this kind.
    pub share: f64,
    /// Which keys are asked for.
    pub keys: KeySpace,
    /// How long the cache keeps a value of this kind; `None` for a read that is never cached.
    pub ttl: Option<SimSpan>,
    /// What it costs the database when it gets there.
    pub query: QuerySpec,
}

/// How popular keys are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KeySpace {
    /// `n` keys, the k-th most popular asked for in proportion to k^-s.
    Zipf {
        /// How many keys.
        n: u32,
        /// The exponent.
        s: f64,
    },
    /// `n` keys, all equally popular.
    Even {
        /// How many keys.
        n: u32,
    },
}

impl KeySpace {
    /// How many keys there are.
    pub fn len(self) -> u32 {
        match self {
            KeySpace::Zipf { n, .. } | KeySpace::Even { n } => n,
        }
    }

    /// Whether there is no key at all.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// The cost of one query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuerySpec {
    /// CPU time on an otherwise idle host, with its pages in memory.
    pub work: Spread,
    /// Times as much CPU when the page has to be brought into memory first; 1 for no difference.
    pub cold_factor: f64,
}

/// A distribution of lengths of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Spread {
    /// Always the same.
    Fixed(SimSpan),
    /// Exponential with this mean.
    Exponential(SimSpan),
    /// The sum of `k` exponential stages, `mean` in all; the larger `k`, the less it varies.
    Erlang {
        /// Stages.
        k: u32,
        /// Mean of the whole.
        mean: SimSpan,
    },
}

impl Spread {
    /// The mean.
    pub fn mean(self) -> SimSpan {
        match self {
            Spread::Fixed(span) | Spread::Exponential(span) | Spread::Erlang { mean: span, .. } => span,
        }
    }
}

/// A population of clients with one retry policy.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientSpec {
    /// Name on dashboards and in logs.
    pub name: String,
    /// Share of operations that come from it.
    pub share: f64,
    /// Attempts per operation at most, the first included; 1 means no retries.
    pub attempts: u32,
    /// Pause between a failure and the next attempt.
    pub backoff: SimSpan,
    /// How long a client waits for one attempt; `None` waits for ever.
    pub timeout: Option<SimSpan>,
    /// How a changed setting reaches the clients.
    pub config: ConfigReach,
}

/// How a changed setting reaches a population.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ConfigReach {
    /// Everybody at once, `after` the change: a server-side flag.
    Flag {
        /// Delay.
        after: SimSpan,
    },
    /// Clients fetch it in their own time: half of those left have it after each `half_life`.
    Remote {
        /// Half-life of the old setting.
        half_life: SimSpan,
    },
}

/// The load balancer.
#[derive(Clone, Debug, PartialEq)]
pub struct BalancerSpec {
    /// Name on dashboards.
    pub name: String,
    /// Requests per second let through; `None` for no limit.
    pub rate_limit: Option<f64>,
    /// Seconds of the limit that may pass in one burst.
    pub burst_s: f64,
    /// How long a changed limit takes to be in force.
    pub apply_after: SimSpan,
    /// How long it takes to turn a request away.
    pub reject_latency: SimSpan,
}

/// A stateless service that answers reads through a cache.
#[derive(Clone, Debug, PartialEq)]
pub struct ServiceSpec {
    /// Name on dashboards; instances are called `name-01`, `name-02`, …
    pub name: String,
    /// Instances at the start.
    pub instances: u32,
    /// From the decision to start an instance to its first request.
    pub start_up: SimSpan,
    /// How long an instance that is taken out may finish what it has begun.
    pub drain: SimSpan,
    /// Own handling and network, added to every answer.
    pub handling: Spread,
    /// Where values are cached; filled only by a query that succeeded.
    pub cache: CacheIndex,
    /// The database behind the cache.
    pub database: DatabaseIndex,
    /// Its connections and how it queries.
    pub pool: PoolSpec,
}

/// The database client inside each instance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoolSpec {
    /// Connections at most.
    pub size: u32,
    /// How long a request waits for a connection before it fails.
    pub acquire_timeout: SimSpan,
    /// How long one query may take.
    pub query_timeout: SimSpan,
    /// Queries per request at most, the first included. A retry keeps the connection it has.
    pub attempts: u32,
    /// How long it takes to open a connection, or to be refused one.
    pub connect: SimSpan,
    /// An idle connection is closed after this long.
    pub idle_timeout: SimSpan,
}

/// A cache cluster, seen as one place.
#[derive(Clone, Debug, PartialEq)]
pub struct CacheSpec {
    /// Name on dashboards.
    pub name: String,
    /// Share of a healthy system's entries that are there at the start.
    pub warm: f64,
}

/// What happens to a query whose caller has given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Abandoned {
    /// It is cancelled and its share of the CPU is free at once; the connection can be used again.
    Cancelled,
    /// It runs to its end, holding its connection, and the result is thrown away.
    RunsOn,
}

/// A database: equal hosts that share the reads.
#[derive(Clone, Debug, PartialEq)]
pub struct DatabaseSpec {
    /// Name on dashboards.
    pub name: String,
    /// Names of the hosts, the primary first.
    pub hosts: Vec<String>,
    /// Cores of each host; a fraction is possible in a scaled-down system.
    pub cores: f64,
    /// What each further query per core costs all of them: effective speed is divided by
    /// `1 + contention × (running / cores − 1)` once more queries run than there are cores.
    pub contention: f64,
    /// Connections a host accepts; the next one is refused.
    pub connections: u32,
    /// What becomes of abandoned queries.
    pub abandoned: Abandoned,
    /// Pages that the tables are spread over, on each host; zero when everything is always in memory.
    pub pages: u32,
    /// A page that nobody has read for this long has been pushed out of memory.
    pub page_stays: SimSpan,
}

impl Spec {
    /// The same system at `factor` of its size: traffic, keys, pages, cores, connections and pools shrink
    /// together, so that shares, latencies and the shape of every curve stay as they are, with more noise.
    pub fn scaled(&self, factor: f64) -> Spec {
        let count = |n: u32| ((f64::from(n) * factor + 0.5) as u32).max(1);
        let mut spec = self.clone();
        for (_, rate) in &mut spec.traffic {
            *rate *= factor;
        }
        for read in &mut spec.reads {
            read.keys = match read.keys {
                KeySpace::Zipf { n, s } => KeySpace::Zipf { n: count(n), s },
                KeySpace::Even { n } => KeySpace::Even { n: count(n) },
            };
        }
        spec.balancer.rate_limit = spec.balancer.rate_limit.map(|r| r * factor);
        for service in &mut spec.services {
            service.pool.size = count(service.pool.size);
        }
        for database in &mut spec.databases {
            database.cores *= factor;
            database.connections = count(database.connections);
            if database.pages > 0 {
                database.pages = count(database.pages);
            }
        }
        spec.trace_one_in = ((f64::from(spec.trace_one_in) * factor) as u32).max(1);
        spec
    }

    /// What the engine cannot run, in words; empty when all is well.
    pub fn problems(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut need = |ok: bool, text: String| {
            if !ok {
                found.push(text);
            }
        };
        let shares = |shares: &mut dyn Iterator<Item = f64>| {
            let total: f64 = shares.sum();
            (total - 1.0).abs() < 1e-6
        };
        need(!self.traffic.is_empty(), "there is no traffic".to_owned());
        need(
            self.traffic.first().is_none_or(|t| t.0 == SimTime::ZERO),
            "traffic does not begin at the start of the clock".to_owned(),
        );
        need(
            self.traffic.windows(2).all(|w| w[0].0 < w[1].0),
            "changes of traffic are not in order of time".to_owned(),
        );
        need(
            self.traffic.iter().all(|t| t.1 >= 0.0 && t.1 <= 10_000_000.0),
            "a traffic rate is outside 0 to 10,000,000 per second".to_owned(),
        );
        need(
            shares(&mut self.reads.iter().map(|r| r.share)),
            "the shares of the reads do not add up to 100 %".to_owned(),
        );
        need(
            shares(&mut self.clients.iter().map(|c| c.share)),
            "the shares of the clients do not add up to 100 %".to_owned(),
        );
        need(self.reads.len() <= 64, "there are more than 64 kinds of reads".to_owned());
        need(self.clients.len() <= 64, "there are more than 64 client populations".to_owned());
        let keys: u64 = self.reads.iter().map(|r| u64::from(r.keys.len())).sum();
        need(keys <= 100_000_000, "there are more than 100,000,000 keys".to_owned());
        for read in &self.reads {
            need(!read.keys.is_empty(), format!("read \"{}\" has no keys", read.name));
            need(
                read.query.cold_factor >= 1.0 && read.query.cold_factor <= 10_000.0,
                format!("read \"{}\": a cold page cannot be cheaper than a warm one", read.name),
            );
        }
        for client in &self.clients {
            need(
                (1..=100).contains(&client.attempts),
                format!(
                    "client \"{}\" makes {} attempts; 1 to 100 are possible",
                    client.name, client.attempts
                ),
            );
        }
        need(!self.services.is_empty(), "there is no service".to_owned());
        for service in &self.services {
            let name = &service.name;
            need(
                (1..=1_000).contains(&service.instances),
                format!("service \"{name}\" has {} instances; 1 to 1,000 are possible", service.instances),
            );
            need(
                (1..=100_000).contains(&service.pool.size),
                format!("service \"{name}\" has a pool of {}; 1 to 100,000 are possible", service.pool.size),
            );
            need(
                (1..=100).contains(&service.pool.attempts),
                format!("service \"{name}\" queries {} times; 1 to 100 are possible", service.pool.attempts),
            );
            need(
                service.pool.connect > SimSpan::ZERO,
                format!("service \"{name}\" connects in no time at all"),
            );
            need(
                service.pool.query_timeout > SimSpan::ZERO,
                format!("service \"{name}\" has a query timeout of zero"),
            );
            need(service.cache < self.caches.len(), format!("service \"{name}\" has no cache"));
            need(service.database < self.databases.len(), format!("service \"{name}\" has no database"));
        }
        for database in &self.databases {
            let name = &database.name;
            need(
                (1..=64).contains(&database.hosts.len()),
                format!("database \"{name}\" has {} hosts; 1 to 64 are possible", database.hosts.len()),
            );
            need(
                database.cores > 0.0 && database.cores <= 10_000.0,
                format!(
                    "database \"{name}\" has {} cores; more than 0 and up to 10,000 are possible",
                    database.cores
                ),
            );
            need(
                (0.0..=100.0).contains(&database.contention),
                format!(
                    "database \"{name}\" has a contention of {}; 0 to 100 is possible",
                    database.contention
                ),
            );
            need(
                (1..=1_000_000).contains(&database.connections),
                format!(
                    "database \"{name}\" accepts {} connections; 1 to 1,000,000 are possible",
                    database.connections
                ),
            );
        }
        found
    }
}
