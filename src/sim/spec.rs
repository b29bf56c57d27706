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
    /// The load balancer in front of the services.
    pub balancer: BalancerSpec,
    /// Services; the balancer's routes say which of them get requests.
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
    /// The operation changes something, so that access logs say POST.
    pub posts: bool,
    /// Which keys are asked for.
    pub keys: KeySpace,
    /// How long a value of this kind may be served; `None` for a read that is never cached, and for writes.
    pub ttl: Option<SimSpan>,
    /// A value older than this wants to be read again. Where stale values may be served it is served meanwhile;
    /// elsewhere it counts as expired. `None`: only `ttl` counts.
    pub soft_ttl: Option<SimSpan>,
    /// Each value's times vary evenly by this share of them up and down, so that what was written together does not
    /// expire together; 0 for none.
    pub ttl_jitter: f64,
    /// All values were written together, this long before the start; `None` for a steady state, in which every value has a
    /// random part of its time left.
    pub written: Option<SimSpan>,
    /// What it costs the database when it gets there.
    pub query: QuerySpec,
    /// The pool that its queries use, by its place in the service's list.
    pub pool: usize,
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
    /// Time that it holds its connection without using a core: disk, row locks, the commit. Follows the CPU time.
    pub io: Spread,
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
    /// Anything between two spans, all alike.
    Uniform {
        /// Shortest.
        low: SimSpan,
        /// Longest.
        high: SimSpan,
    },
}

impl Spread {
    /// No time at all.
    pub const NONE: Spread = Spread::Fixed(SimSpan::ZERO);

    /// The mean.
    pub fn mean(self) -> SimSpan {
        match self {
            Spread::Fixed(span) | Spread::Exponential(span) | Spread::Erlang { mean: span, .. } => span,
            Spread::Uniform { low, high } => SimSpan(low.0 / 2 + high.0 / 2),
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
    pub backoff: Backoff,
    /// How long a client waits for one attempt; `None` waits for ever.
    pub timeout: Option<SimSpan>,
    /// Retries at most as a share of first attempts, over the whole population; `None` for no such budget.
    pub retry_budget: Option<f64>,
    /// Whether a pause is at least as long as a refusal's Retry-After says.
    pub honours_retry_after: bool,
    /// How a changed setting reaches the clients.
    pub config: ConfigReach,
}

/// Pause before a further attempt: `first × factor^(n − 1)` before the n-th retry, at most `cap`, then jittered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backoff {
    /// Before the first retry.
    pub first: SimSpan,
    /// Growth; 1 for a fixed pause.
    pub factor: f64,
    /// Longest.
    pub cap: SimSpan,
    /// How it varies.
    pub jitter: Jitter,
}

impl Backoff {
    /// Always the same pause.
    pub const fn fixed(pause: SimSpan) -> Backoff {
        Backoff { first: pause, factor: 1.0, cap: pause, jitter: Jitter::None }
    }
}

/// How a pause varies (the names are those of Brooker, "Exponential backoff and jitter", 2015).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jitter {
    /// Not at all.
    None,
    /// Anything from zero to the pause.
    Full,
    /// Anything from half of it to the whole.
    Equal,
}

impl Jitter {
    /// The part of a pause that varies.
    pub fn part(self, pause: SimSpan) -> SimSpan {
        match self {
            Jitter::None => SimSpan::ZERO,
            Jitter::Full => pause,
            Jitter::Equal => SimSpan(pause.0 - pause.0 / 2),
        }
    }
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
    /// Where requests go, with the share of each service; shares add up to 1.
    pub routes: Vec<(ServiceIndex, f64)>,
}

/// A stateless service. A request runs through its steps on one instance.
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
    /// Requests that an instance works on at the same time; one more is turned away at once with 503. `None` for no limit.
    /// A hit holds its worker for so short a time that it is not counted.
    pub workers: Option<u32>,
    /// A request that has not been answered by then fails, and what it was doing is given up; `None` for no deadline.
    pub deadline: Option<SimSpan>,
    /// The Retry-After of a refusal; `None` when refusals carry none.
    pub retry_after: Option<SimSpan>,
    /// How long a changed setting of the service takes to be in force.
    pub config_after: SimSpan,
    /// Where values are cached.
    pub cache: Option<CacheIndex>,
    /// The database that it queries.
    pub database: Option<DatabaseIndex>,
    /// Its pools of connections to the database.
    pub pools: Vec<PoolSpec>,
    /// What a request does, in order.
    pub steps: Vec<Step>,
    /// How its `Read` steps treat the cache and the source behind it.
    pub reading: Reading,
}

/// A step of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Own work that takes time and no resource that others could lack.
    Work {
        /// Name in traces.
        name: String,
        /// How long.
        takes: Spread,
    },
    /// Reads (or writes) what the operation is about: from the cache, or from the database.
    Read,
    /// A query beside that.
    Query {
        /// Name in traces.
        name: String,
        /// What it costs.
        query: QuerySpec,
        /// Which pool.
        pool: usize,
    },
    /// A call to another service.
    Call(CallSpec),
}

/// A call to another service.
#[derive(Clone, Debug, PartialEq)]
pub struct CallSpec {
    /// Name in traces, `inventory.reserve`.
    pub name: String,
    /// Which service.
    pub service: ServiceIndex,
    /// How long one attempt may take.
    pub timeout: SimSpan,
    /// Attempts, the first included.
    pub attempts: u32,
    /// Pause before each further attempt.
    pub backoff: SimSpan,
    /// How it varies.
    pub jitter: Jitter,
    /// Whether giving up an attempt stops its work downstream; otherwise that goes on for nobody.
    pub cancels: bool,
    /// What the caller does when all attempts have failed; `None`: it fails.
    pub confirm: Option<Confirm>,
}

/// After the last attempt the caller watches for the operation's request key: it succeeds as soon as any abandoned attempt
/// has got through a service, and fails after `wait`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Confirm {
    /// The service whose work counts.
    pub service: ServiceIndex,
    /// How long it watches.
    pub wait: SimSpan,
}

/// How a service reads through its cache. The default is plain cache-aside: a miss queries, a success fills.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// A value past its soft time is served at once and read again behind the answer.
    pub serve_stale: bool,
    /// Requests of one process for one key share one read of the source.
    pub coalesce: bool,
    /// One process at a time reads the source for a key.
    pub lock: Option<LockSpec>,
    /// How many reads of the source may start.
    pub origin: OriginBudget,
    /// A bounded copy in each process.
    pub local: Option<LocalSpec>,
    /// From when a value's age is counted.
    pub age_from: AgeFrom,
    /// Who writes the cache.
    pub written_by: WrittenBy,
    /// How long a call to an unreachable cache takes to fail.
    pub cache_timeout: SimSpan,
    /// Such calls for each request.
    pub cache_attempts: u32,
    /// Between two of them the client pauses a random time, at most this.
    pub cache_backoff: SimSpan,
    /// Stops asking an unreachable cache.
    pub breaker: Option<BreakerSpec>,
    /// What a request gets that may not read the source: a static, degraded answer instead of a 503.
    pub static_answer: bool,
}

impl Default for Reading {
    fn default() -> Reading {
        Reading {
            serve_stale: false,
            coalesce: false,
            lock: None,
            origin: OriginBudget::default(),
            local: None,
            age_from: AgeFrom::Result,
            written_by: WrittenBy::Query,
            cache_timeout: SimSpan::ZERO,
            cache_attempts: 1,
            cache_backoff: SimSpan::ZERO,
            breaker: None,
            static_answer: false,
        }
    }
}

/// A lock in the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockSpec {
    /// It is free again after this long, whatever became of its holder.
    pub ttl: SimSpan,
    /// Who does not get it looks again after a time between these two.
    pub wait: (SimSpan, SimSpan),
}

/// How many reads of the source may start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OriginBudget {
    /// Starts per second; `None` for no limit.
    pub per_s: Option<f64>,
    /// At the same time; `None` for no limit.
    pub at_once: Option<u32>,
    /// Both numbers are for the whole service and are divided by the number of instances; otherwise for each process.
    pub fleet: bool,
}

/// A copy in each process, the least recently used entry leaves first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalSpec {
    /// Entries at most.
    pub entries: u32,
    /// A copy keeps the times of what it was copied from. Otherwise it is stamped as if it had just been read.
    pub keep_stamps: bool,
}

/// From when a value's age is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgeFrom {
    /// From the start of the query: what it returns is never younger than believed.
    QueryStart,
    /// From the arrival of its result.
    Result,
}

/// Who writes a value to the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrittenBy {
    /// Whoever ran the query, also when its caller has left.
    Query,
    /// The request, when it is answered: a result that nobody waits for is thrown away.
    Request,
}

/// A circuit breaker in each process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerSpec {
    /// Failures in a row that open it.
    pub failures: u32,
    /// How long it stays open before one call tries again.
    pub open: SimSpan,
}

/// A database client inside each instance.
#[derive(Clone, Debug, PartialEq)]
pub struct PoolSpec {
    /// Name.
    pub name: String,
    /// Connections at most.
    pub size: u32,
    /// How long a request waits for a connection before it fails.
    pub acquire_timeout: SimSpan,
    /// Whether that is a mean: each wait has a limit of its own, drawn from an exponential distribution, as when callers
    /// bring deadlines. That is the patience of Erlang's A (Palm 1957).
    pub acquire_varies: bool,
    /// How long one query may take.
    pub query_timeout: SimSpan,
    /// Queries per request at most, the first included. A retry keeps the connection
    /// it has, unless the query before goes on there.
    pub attempts: u32,
    /// How long it takes to open a connection, or to be refused one.
    pub connect: SimSpan,
    /// An idle connection is closed after this long.
    pub idle_timeout: SimSpan,
}

impl PoolSpec {
    /// Nobody waits longer than that, nanoseconds.
    pub(super) fn longest_wait(&self) -> u64 {
        if self.acquire_varies { u64::MAX } else { self.acquire_timeout.0 }
    }
}

/// A cache cluster, seen as one place.
#[derive(Clone, Debug, PartialEq)]
pub struct CacheSpec {
    /// Name on dashboards.
    pub name: String,
    /// Share of a healthy system's entries that are there at the start.
    pub warm: f64,
    /// Where reads go while it is unreachable.
    pub backup: Option<Backup>,
    /// Nodes that it runs on, those of its backup left out: what it costs.
    pub nodes: u32,
}

/// What answers while a cache is unreachable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Backup {
    /// A copy in another zone: everything that is written arrives there `lag` later.
    Replica {
        /// How far it is behind.
        lag: SimSpan,
        /// What the way there adds.
        latency: SimSpan,
        /// Nodes that it runs on.
        nodes: u32,
    },
    /// A small spare pool, empty at first, that keeps values for a short time.
    Gutter {
        /// How long it keeps a value at most.
        ttl: SimSpan,
        /// Nodes that it runs on.
        nodes: u32,
    },
}

impl Backup {
    /// Nodes that it runs on.
    pub fn nodes(self) -> u32 {
        match self {
            Backup::Replica { nodes, .. } | Backup::Gutter { nodes, .. } => nodes,
        }
    }
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
    /// A page that nobody has read for this long has been pushed out of memory: least recently used with the
    /// characteristic time of Che, Tung and Wang (2002).
    pub page_stays: SimSpan,
    /// A query that takes longer than this is written to the slow-query log; `None` for no such log.
    pub slow_query: Option<SimSpan>,
    /// How long a change of its cores takes.
    pub resize_after: SimSpan,
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
            for pool in &mut service.pools {
                pool.size = count(pool.size);
            }
            service.workers = service.workers.map(count);
            let reading = &mut service.reading;
            reading.origin.per_s = reading.origin.per_s.map(|r| r * factor);
            reading.origin.at_once = reading.origin.at_once.map(count);
            if let Some(local) = &mut reading.local {
                local.entries = count(local.entries);
            }
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
        need(self.services.len() <= 64, "there are more than 64 services".to_owned());
        need(self.reads.len() <= 64, "there are more than 64 kinds of reads".to_owned());
        need(self.clients.len() <= 64, "there are more than 64 client populations".to_owned());
        let hosts: usize = self.databases.iter().map(|d| d.hosts.len()).sum();
        need(hosts <= 1_000, format!("there are {hosts} database hosts in all; 1,000 are possible"));
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
                (1..=16).contains(&service.steps.len()),
                format!("service \"{name}\" has no step, or more than 16"),
            );
            need(
                service.workers.is_none_or(|w| (1..=1_000_000).contains(&w)),
                format!("service \"{name}\" has a number of workers outside 1 to 1,000,000"),
            );
            need(service.pools.len() <= 16, format!("service \"{name}\" has more than 16 pools"));
            for pool in &service.pools {
                let name = format!("pool \"{}\" of service \"{name}\"", pool.name);
                need(
                    (1..=100_000).contains(&pool.size),
                    format!("{name} has a size of {}; 1 to 100,000 are possible", pool.size),
                );
                need(
                    (1..=100).contains(&pool.attempts),
                    format!("{name} queries {} times; 1 to 100 are possible", pool.attempts),
                );
                need(pool.connect > SimSpan::ZERO, format!("{name} connects in no time at all"));
                need(pool.query_timeout > SimSpan::ZERO, format!("{name} has a query timeout of zero"));
            }
            need(
                service.cache.is_none_or(|c| c < self.caches.len()),
                format!("service \"{name}\" reads from a cache that does not exist"),
            );
            let queries = service.steps.iter().any(|s| matches!(s, Step::Read | Step::Query { .. }));
            need(
                !queries || service.database.is_some_and(|d| d < self.databases.len()),
                format!("service \"{name}\" queries and has no database"),
            );
            for step in &service.steps {
                match step {
                    Step::Work { .. } => {}
                    Step::Read => need(
                        self.reads.iter().all(|r| r.pool < service.pools.len()),
                        format!("service \"{name}\" lacks a pool that a kind of read uses"),
                    ),
                    Step::Query { pool, .. } => {
                        need(
                            *pool < service.pools.len(),
                            format!("service \"{name}\" lacks a pool that it uses"),
                        );
                    }
                    Step::Call(call) => {
                        need(
                            call.service < self.services.len()
                                && call.confirm.is_none_or(|c| c.service < self.services.len()),
                            format!("service \"{name}\" calls a service that does not exist"),
                        );
                        need(
                            (1..=100).contains(&call.attempts) && call.timeout > SimSpan::ZERO,
                            format!(
                                "service \"{name}\" calls 0 times, more than 100 times, or for no time at all"
                            ),
                        );
                    }
                }
            }
        }
        need(!self.calls_itself(), "services call each other in a circle".to_owned());
        let routes = &self.balancer.routes;
        need(
            shares(&mut routes.iter().map(|r| r.1)) && routes.iter().all(|r| r.0 < self.services.len()),
            "the balancer's routes do not add up to 100 %, or lead nowhere".to_owned(),
        );
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

    /// Whether a chain of calls leads back to where it began.
    fn calls_itself(&self) -> bool {
        let calls = |s: usize| {
            self.services.get(s).into_iter().flat_map(|s| &s.steps).filter_map(|step| match step {
                Step::Call(call) => Some(call.service),
                _ => None,
            })
        };
        let mut reached: Vec<Vec<usize>> = (0..self.services.len()).map(|s| calls(s).collect()).collect();
        for _ in 0..self.services.len() {
            for from in &mut reached {
                let further: Vec<usize> =
                    from.iter().flat_map(|&s| calls(s)).filter(|s| !from.contains(s)).collect();
                from.extend(further);
            }
        }
        reached.iter().enumerate().any(|(s, from)| from.contains(&s))
    }
}
