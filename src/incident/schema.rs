//! The incident file: its types, as they stand in the file.
//!
//! One file describes a system, what breaks in it, what a player may see and do, and the mechanism behind it. It
//! never says which action is right: [`super::lower`] turns the system into an engine's spec and the engine answers.
//! Everything here is data that a person can read and diff; unknown fields are errors.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::units::{Rate, Ratio, SimSpan, TimeOfDay};

/// The version of the file format that this program reads.
pub const FORMAT: u32 = 1;

/// A name that other parts of the file refer to.
pub type Name = String;

/// A whole incident file.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename = "Incident")]
pub struct IncidentFile {
    /// Version of the format, see [`FORMAT`].
    pub format: u32,
    /// The name that the command line uses: lower case, digits and hyphens.
    pub id: Name,
    /// Title shown in the library before the incident is played; it must not give the cause away.
    pub title: String,
    /// What a player should bring along.
    pub level: Level,
    /// Minutes that a run takes a player, about.
    pub minutes: u32,
    /// One or two sentences for the library; no spoilers.
    pub summary: String,
    /// Where the figures come from.
    pub source: String,
    /// Incidents that look the same on their first screen and are not: one is a test of the other some days later.
    #[serde(default)]
    pub look_alikes: Vec<Name>,
    /// The incident's clock.
    pub clock: Clock,
    /// The promise to users.
    pub slo: Slo,
    /// What the player is told before the clock starts.
    pub briefing: Briefing,
    /// The simulated system.
    pub system: System,
    /// What breaks, and when.
    pub happens: Vec<Happening>,
    /// What the player may do.
    pub levers: Vec<Lever>,
    /// The page that starts it.
    pub page: Page,
    /// Rules that write an alert into the feed.
    #[serde(default)]
    pub alerts: Vec<Alert>,
    /// Where instruments show less than is measured, or show it later.
    #[serde(default)]
    pub telemetry: Instruments,
    /// Charts, in order.
    pub dashboards: Vec<Dashboard>,
    /// What was changed before and during the incident, by others.
    #[serde(default)]
    pub changes: Vec<Change>,
    /// Sections of the runbook.
    #[serde(default)]
    pub runbook: Vec<Section>,
    /// Who speaks in the feed.
    pub people: BTreeMap<Name, Person>,
    /// What they say.
    #[serde(default)]
    pub messages: Vec<Message>,
    /// What they propose; the player accepts or declines.
    #[serde(default)]
    pub proposals: Vec<Proposal>,
    /// The parts of a guided run, in order of time.
    pub stages: Vec<Stage>,
    /// Explanations that the player accepts or rejects.
    pub hypotheses: Vec<Hypothesis>,
    /// What is true; shown in the debrief only.
    pub mechanism: Mechanism,
    /// Timed levers by name of the plan. `senior` is needed; `trap` is the documented mistake.
    pub plans: BTreeMap<Name, Plan>,
    /// The same incident with something changed.
    #[serde(default)]
    pub variants: BTreeMap<Name, Variant>,
    /// Variants that a blind drill draws from, beside the incident itself: the same page, another cause.
    #[serde(default)]
    pub blind: Vec<Name>,
    /// The table that compares variants.
    #[serde(default)]
    pub lab: Option<Lab>,
    /// The senior's reading, set beside what the player had on the screen.
    pub commentary: Vec<Comment>,
    /// Figures that a run of a plan must reproduce.
    pub expect: Vec<Expect>,
    /// Questions for a team.
    #[serde(default)]
    pub discuss: Vec<String>,
    /// Work that would prevent or soften a repetition.
    #[serde(default)]
    pub follow_ups: Vec<FollowUp>,
}

/// What a player should bring along.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub enum Level {
    /// First weeks on call.
    Beginner,
    /// Has been on call.
    Intermediate,
    /// Has led incidents.
    Advanced,
}

impl Level {
    /// In words that stand beside a title.
    pub fn words(self) -> &'static str {
        match self {
            Level::Beginner => "first weeks on call",
            Level::Intermediate => "has been on call",
            Level::Advanced => "has led incidents",
        }
    }
}

/// The incident's clock; simulated time zero is `start`.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Clock {
    /// First second of telemetry: a healthy baseline lies before the page.
    pub start: TimeOfDay,
    /// The player is paged.
    pub page: TimeOfDay,
    /// The run ends.
    pub end: TimeOfDay,
}

/// The promise to users.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Slo {
    /// Share of operations that succeed in time.
    pub objective: Ratio,
    /// The window of the promise.
    pub window: SimSpan,
    /// An operation slower than this, over all its attempts, is late.
    pub late_after: SimSpan,
}

/// What the player is told before the clock starts.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Briefing {
    /// Your part in this.
    pub role: String,
    /// How the system is built, in paragraphs.
    pub system: Vec<String>,
    /// A drawing of it in plain characters, at most 76 columns wide.
    pub diagram: String,
}

// ---------------------------------------------------------------------------------------------- the system

/// The simulated system.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct System {
    /// Who asks.
    pub clients: BTreeMap<Name, Client>,
    /// How much and what they ask for.
    pub traffic: Traffic,
    /// The load balancer.
    pub balancer: Balancer,
    /// Services.
    pub services: BTreeMap<Name, Service>,
    /// Caches.
    #[serde(default)]
    pub caches: BTreeMap<Name, Cache>,
    /// Databases.
    #[serde(default)]
    pub databases: BTreeMap<Name, Database>,
}

/// A population of clients.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Client {
    /// Share of operations.
    pub share: Ratio,
    /// Attempts per operation at most, the first included.
    pub attempts: u32,
    /// Pause before each further attempt.
    pub backoff: Backoff,
    /// How that pause varies.
    #[serde(default)]
    pub jitter: Jitter,
    /// How long a client waits for one attempt; waits for ever when left out.
    #[serde(default)]
    pub timeout: Option<SimSpan>,
    /// Retries at most as a share of first attempts, over the whole population; no such budget when left out.
    #[serde(default)]
    pub retry_budget: Option<Ratio>,
    /// Whether a pause is at least as long as a refusal says.
    #[serde(default)]
    pub honours_retry_after: bool,
    /// How a changed setting reaches them.
    pub config: Config,
}

/// Pause before a further attempt.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub enum Backoff {
    /// Always the same.
    Fixed(SimSpan),
    /// Longer each time.
    Exponential {
        /// Before the first retry.
        first: SimSpan,
        /// Times as long before each further one.
        factor: f64,
        /// Longest.
        cap: SimSpan,
    },
}

/// How a pause varies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub enum Jitter {
    /// Not at all.
    #[default]
    None,
    /// Anything from zero to the pause.
    Full,
    /// Anything from half of it to the whole.
    Equal,
}

/// How a changed setting reaches clients.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub enum Config {
    /// A flag on the server side.
    Flag {
        /// Delay until it is in force.
        after: SimSpan,
    },
    /// Fetched by the clients in their own time.
    RemoteConfig {
        /// Half of those left have it after each of these.
        half_life: SimSpan,
    },
}

/// How much and what is asked for.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Traffic {
    /// User operations offered from each time of day on; the first holds from the start of the clock.
    pub operations: Vec<(TimeOfDay, Rate)>,
    /// Kinds of reads.
    #[serde(default)]
    pub reads: BTreeMap<Name, Read>,
    /// Kinds of writes; never cached.
    #[serde(default)]
    pub writes: BTreeMap<Name, Write>,
}

/// A kind of read.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Read {
    /// Share of operations.
    pub share: Ratio,
    /// What is read is part of an operation that changes something: access logs say POST.
    #[serde(default)]
    pub posts: bool,
    /// Which keys.
    pub keys: Keys,
    /// How long the cache keeps it; never cached when left out.
    #[serde(default)]
    pub ttl: Option<SimSpan>,
    /// A value older than this wants to be read again: it is served meanwhile where stale values may be, and counts as
    /// expired elsewhere.
    #[serde(default)]
    pub soft_ttl: Option<SimSpan>,
    /// Both times vary by this share of them, from value to value.
    #[serde(default)]
    pub ttl_jitter: Ratio,
    /// All values were written together, this long before the clock starts; a steady state when left out.
    #[serde(default)]
    pub written: Option<SimSpan>,
    /// CPU time of its query.
    pub query: Spread,
    /// Time that it holds its connection without a core, after that.
    #[serde(default)]
    pub io: Spread,
    /// Times as much CPU when the page is not in memory.
    #[serde(default = "one")]
    pub cold_page: f64,
    /// The pool that its queries use; needed where a service has several.
    #[serde(default)]
    pub pool: Option<Name>,
}

fn one() -> f64 {
    1.0
}

/// A kind of write.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Write {
    /// Share of operations.
    pub share: Ratio,
    /// CPU time of its query.
    pub query: Spread,
    /// Time that it holds its connection without a core, after that.
    #[serde(default)]
    pub io: Spread,
    /// The pool that its queries use; needed where a service has several.
    #[serde(default)]
    pub pool: Option<Name>,
}

/// Which keys are asked for.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub enum Keys {
    /// Some are far more popular than others.
    Zipf {
        /// How many.
        n: u32,
        /// Exponent of popularity by rank.
        s: f64,
    },
    /// All alike.
    Even {
        /// How many.
        n: u32,
    },
}

/// How a length of time varies.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub enum Spread {
    /// Always the same.
    Fixed(SimSpan),
    /// Exponential with this mean.
    Exponential(SimSpan),
    /// A sum of `k` exponential stages.
    Erlang {
        /// Stages.
        k: u32,
        /// Mean of the sum.
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

impl Default for Spread {
    /// No time at all.
    fn default() -> Spread {
        Spread::Fixed(SimSpan::ZERO)
    }
}

/// The load balancer.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Balancer {
    /// Name on dashboards.
    pub name: Name,
    /// Requests let through; no limit when left out.
    #[serde(default)]
    pub rate_limit: Option<Rate>,
    /// How long a changed limit or route takes to be in force.
    pub apply_after: SimSpan,
    /// Share of the requests that each service gets; needed where there are several services.
    #[serde(default)]
    pub routes: BTreeMap<Name, Ratio>,
}

/// A stateless service. A request runs through its steps on one instance.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Service {
    /// Instances at the start.
    pub instances: u32,
    /// From the decision to the first request of a new instance.
    pub start_up: SimSpan,
    /// How long an instance that is taken out may finish its work.
    pub drain: SimSpan,
    /// Own handling and network.
    pub handling: Spread,
    /// Requests that an instance works on at the same time, hits left out; one more gets a 503 at once. No limit when left
    /// out.
    #[serde(default)]
    pub workers: Option<u32>,
    /// A request that is not answered by then fails, and its query is given up; no deadline when left out.
    #[serde(default)]
    pub deadline: Option<SimSpan>,
    /// What refusals say about when to try again; nothing when left out.
    #[serde(default)]
    pub retry_after: Option<SimSpan>,
    /// How long a changed setting of the service takes to be in force.
    #[serde(default)]
    pub config_after: SimSpan,
    /// Where it keeps what it has read.
    #[serde(default)]
    pub cache: Option<Name>,
    /// The database that it queries.
    #[serde(default)]
    pub database: Option<Name>,
    /// Its pools of connections to the database.
    #[serde(default)]
    pub pools: BTreeMap<Name, Pool>,
    /// What a request does, in order.
    #[serde(default = "only_read")]
    pub steps: Vec<Step>,
    /// How its `Read` steps treat the cache and the source behind it.
    #[serde(default)]
    pub reading: ReadPath,
}

fn only_read() -> Vec<Step> {
    vec![Step::Read]
}

/// A step of a request.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub enum Step {
    /// Own work that takes time and nothing that others could lack.
    Work {
        /// Name in traces.
        name: Name,
        /// How long.
        takes: Spread,
    },
    /// Reads, or writes, what the operation is about.
    Read,
    /// A query beside that.
    Query {
        /// Name in traces.
        name: Name,
        /// CPU time.
        query: Spread,
        /// Time that it holds its connection without a core, after that.
        #[serde(default)]
        io: Spread,
        /// The pool that it uses; needed where the service has several.
        #[serde(default)]
        pool: Option<Name>,
    },
    /// A call to another service.
    Call {
        /// Name in traces and series: `inventory.reserve`.
        name: Name,
        /// Which service.
        service: Name,
        /// How long one attempt may take.
        timeout: SimSpan,
        /// Attempts, the first included.
        #[serde(default = "once")]
        attempts: u32,
        /// Pause before each further attempt.
        #[serde(default)]
        backoff: SimSpan,
        /// How the pause varies.
        #[serde(default)]
        jitter: Jitter,
        /// Whether giving up an attempt stops its work downstream; otherwise that goes on for nobody.
        #[serde(default)]
        cancels: bool,
        /// What the caller does when all attempts have failed; it fails when left out.
        #[serde(default)]
        confirm: Option<Confirm>,
    },
}

fn once() -> u32 {
    1
}

impl Step {
    /// The name of a step that has one.
    pub fn name(&self) -> Option<&str> {
        match self {
            Step::Work { name, .. } | Step::Query { name, .. } | Step::Call { name, .. } => Some(name),
            Step::Read => None,
        }
    }
}

/// After the last attempt the caller watches for the request key: it succeeds as soon as an abandoned attempt has got
/// through a service, and fails when it has waited.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Confirm {
    /// The service whose work counts.
    pub service: Name,
    /// How long it watches.
    pub wait: SimSpan,
}

/// How a service reads through its cache. The default is plain cache-aside: a miss queries, a success fills.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReadPath {
    /// A value past its soft time is served at once and read again behind the answer.
    pub serve_stale: bool,
    /// Requests of one process for one key share one read of the source.
    pub coalesce: bool,
    /// One process at a time reads the source for a key.
    pub lock: Option<Lock>,
    /// How many reads of the source may start; over it: a stale value, the static answer, or a 503.
    pub origin: Origin,
    /// A copy in each process.
    pub local: Option<Local>,
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
    pub breaker: Option<Breaker>,
    /// A request that may not read the source gets a static, degraded answer instead of a 503.
    pub static_answer: bool,
}

impl Default for ReadPath {
    fn default() -> ReadPath {
        ReadPath {
            serve_stale: false,
            coalesce: false,
            lock: None,
            origin: Origin::default(),
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
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    /// It is free again after this long, whatever became of its holder.
    pub ttl: SimSpan,
    /// Who does not get it looks again after a time between these two.
    pub wait: (SimSpan, SimSpan),
}

/// How many reads of the source may start.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Origin {
    /// Starts per second; no limit when left out.
    pub rate: Option<Rate>,
    /// At the same time; no limit when left out.
    pub at_once: Option<u32>,
    /// Whose numbers these are.
    pub per: Per,
}

/// Whose numbers a limit states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub enum Per {
    /// Each process has as much.
    #[default]
    Process,
    /// All processes of the service together; each has its part.
    Fleet,
}

/// A copy in each process; the entry that was used least recently leaves first.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Local {
    /// Entries at most.
    pub entries: u32,
    /// What a copy believes about its age.
    #[serde(default)]
    pub stamps: Stamps,
}

/// What a copy believes about its age.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub enum Stamps {
    /// It keeps the times of what it was copied from.
    #[default]
    Kept,
    /// It is stamped as if it had just been read.
    Renewed,
}

/// From when a value's age is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub enum AgeFrom {
    /// From the start of the query.
    QueryStart,
    /// From the arrival of its result.
    Result,
}

/// Who writes a value to the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub enum WrittenBy {
    /// Whoever ran the query, also when its caller has left.
    Query,
    /// The request: a result that nobody waits for is thrown away.
    Request,
}

/// A circuit breaker in each process.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Breaker {
    /// Failures in a row that open it.
    pub failures: u32,
    /// How long it stays open before one call tries again.
    pub open: SimSpan,
}

/// A database client.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Pool {
    /// Connections per instance at most.
    pub size: u32,
    /// How long a request waits for one.
    pub acquire_timeout: SimSpan,
    /// Whether each wait has a limit of its own, `acquire_timeout` on average, as when callers bring deadlines.
    #[serde(default)]
    pub acquire_varies: bool,
    /// How long one query may take.
    pub query_timeout: SimSpan,
    /// Queries per request at most, the first included.
    pub attempts: u32,
    /// How long opening a connection, or being refused one, takes.
    pub connect: SimSpan,
    /// An idle connection is closed after this long.
    pub idle_timeout: SimSpan,
}

/// A cache cluster.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// Share of a healthy system's entries that are there at the start.
    pub warm: Ratio,
    /// Nodes that it runs on: what it costs.
    #[serde(default = "once")]
    pub nodes: u32,
    /// Where reads go while it is unreachable.
    #[serde(default)]
    pub backup: Option<Backup>,
}

/// What answers while a cache is unreachable.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub enum Backup {
    /// A copy elsewhere: everything that is written arrives there later.
    Replica {
        /// How far it is behind.
        lag: SimSpan,
        /// What the way there adds.
        latency: SimSpan,
        /// Nodes that it runs on.
        #[serde(default = "once")]
        nodes: u32,
    },
    /// A small spare pool, empty at first, that keeps values for a short time.
    Gutter {
        /// How long it keeps a value at most.
        ttl: SimSpan,
        /// Nodes that it runs on.
        #[serde(default = "once")]
        nodes: u32,
    },
}

/// A database.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Database {
    /// Names of the hosts, the primary first.
    pub hosts: Vec<Name>,
    /// Cores of each.
    pub cores: f64,
    /// What further queries per core cost; 0 for none.
    pub contention: f64,
    /// Connections that a host accepts.
    pub connections: u32,
    /// What becomes of queries whose caller has given up.
    pub abandoned: Abandoned,
    /// Pages of the tables and how long memory keeps one that is not read; always in memory when left out.
    #[serde(default)]
    pub memory: Option<PageMemory>,
    /// A query that takes longer than this is written to the slow-query log; no such log when left out.
    #[serde(default)]
    pub slow_query: Option<SimSpan>,
    /// How long a change of its cores takes.
    #[serde(default)]
    pub resize_after: SimSpan,
}

/// What becomes of queries whose caller has given up.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub enum Abandoned {
    /// Cancelled at once.
    Cancelled,
    /// Run to their end.
    RunsOn,
}

/// Which pages are in memory.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PageMemory {
    /// Pages on each host.
    pub pages: u32,
    /// A page that is not read for this long is pushed out.
    pub stays: SimSpan,
}

// ---------------------------------------------------------------------------------- what happens, what can be done

/// Something that breaks, or that somebody else does.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Happening {
    /// Name by which a variant leaves it out.
    #[serde(default)]
    pub name: Option<Name>,
    /// When.
    pub at: TimeOfDay,
    /// What.
    pub what: Fault,
}

/// What can break.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub enum Fault {
    /// The cache is unreachable, then comes back with a share of its entries.
    CacheNodeLost {
        /// Which cache.
        cache: Name,
        /// How long it is unreachable.
        failover: SimSpan,
        /// Share of the entries that the new node has.
        survivors: Ratio,
    },
    /// The database answers nobody: running queries are lost, connections are refused.
    DatabaseDown {
        /// Which database.
        database: Name,
        /// How long.
        lasts: SimSpan,
    },
    /// Every `Work` step of a service takes longer: a job holds locks that the work waits for.
    SlowWork {
        /// Which service.
        service: Name,
        /// What it adds.
        adds: Spread,
        /// How long the job runs.
        lasts: SimSpan,
    },
    /// Instances crash and start again.
    InstancesLost {
        /// Which service.
        service: Name,
        /// How many.
        count: u32,
    },
    /// The process that holds a lock of the service's cache crashes, or the next one to take it.
    LockHolderLost {
        /// Which service.
        service: Name,
    },
    /// Somebody else makes a change, as a player would.
    Do(Action),
}

/// Something the player can do. Each is offered with its current value and what it takes.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub enum Lever {
    /// Attempts of a client population.
    ClientRetries(Name),
    /// Requests per second at the load balancer.
    RateLimit,
    /// Instances of a service.
    Scale(Name),
    /// Queries per request of a service's database client.
    QueryAttempts(Name),
    /// Connections per instance of a service.
    PoolSize {
        /// Which service.
        service: Name,
        /// Which of its pools; needed where it has several.
        #[serde(default)]
        pool: Option<Name>,
    },
    /// Throw a cache away.
    FlushCache(Name),
    /// Read popular keys into a cache.
    WarmCache(Name),
    /// Restart a service's instances in turn.
    RollingRestart(Name),
    /// A setting.
    Set(Knob),
}

/// A lever with its argument, as plans, proposals and players use it.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub enum Action {
    /// Attempts per operation; 1 turns retries off.
    ClientRetries {
        /// Which population.
        client: Name,
        /// Attempts, the first included.
        attempts: u32,
    },
    /// A limit at the load balancer.
    RateLimit(Rate),
    /// No limit at the load balancer.
    NoRateLimit,
    /// Instances of a service.
    Scale {
        /// Which service.
        service: Name,
        /// How many.
        instances: u32,
    },
    /// Queries per request.
    QueryAttempts {
        /// Which service.
        service: Name,
        /// Attempts, the first included.
        attempts: u32,
    },
    /// Connections per instance.
    PoolSize {
        /// Which service.
        service: Name,
        /// Which of its pools; needed where it has several.
        #[serde(default)]
        pool: Option<Name>,
        /// How many.
        size: u32,
    },
    /// Throw a cache away.
    FlushCache(Name),
    /// Read the most popular keys into a cache.
    WarmCache {
        /// Which cache.
        cache: Name,
        /// How many keys.
        keys: u32,
        /// Queries per second.
        rate: Rate,
    },
    /// Stop a warm-up.
    StopWarming(Name),
    /// Restart a service's instances in turn.
    RollingRestart {
        /// Which service.
        service: Name,
        /// Instances down at a time.
        batch: u32,
    },
    /// Changes a setting.
    Set(Knob, Setting),
}

impl Action {
    /// Whether it sets something that then is so, and changes nothing when it is pulled again.
    pub fn stays(&self) -> bool {
        !matches!(self, Action::FlushCache(_) | Action::WarmCache { .. } | Action::RollingRestart { .. })
    }

    /// The lever that it pulls.
    pub fn lever(&self) -> Lever {
        match self {
            Action::ClientRetries { client, .. } => Lever::ClientRetries(client.clone()),
            Action::RateLimit(_) | Action::NoRateLimit => Lever::RateLimit,
            Action::Scale { service, .. } => Lever::Scale(service.clone()),
            Action::QueryAttempts { service, .. } => Lever::QueryAttempts(service.clone()),
            Action::PoolSize { service, pool, .. } => {
                Lever::PoolSize { service: service.clone(), pool: pool.clone() }
            }
            Action::FlushCache(cache) => Lever::FlushCache(cache.clone()),
            Action::WarmCache { cache, .. } | Action::StopWarming(cache) => Lever::WarmCache(cache.clone()),
            Action::RollingRestart { service, .. } => Lever::RollingRestart(service.clone()),
            Action::Set(knob, _) => Lever::Set(knob.clone()),
        }
    }
}

/// A setting that can be changed while the system runs. Calls are named by their service and their own name.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub enum Knob {
    /// How long clients wait for an attempt.
    ClientTimeout(Name),
    /// Pause of clients before the first retry.
    ClientBackoff(Name),
    /// Retries as a share of first attempts.
    RetryBudget(Name),
    /// Clients honour what refusals say about when to try again.
    RetryAfter(Name),
    /// Share of the requests that the balancer sends to a service.
    Route(Name),
    /// Requests at the same time per instance.
    Workers(Name),
    /// Deadline of a request.
    Deadline(Name),
    /// Stale values are served.
    ServeStale(Name),
    /// One read of the source per key and process.
    Coalesce(Name),
    /// The lock across processes: the time until it is free by itself.
    Lock(Name),
    /// Reads of the source per second.
    OriginRate(Name),
    /// Reads of the source at the same time.
    OriginAtOnce(Name),
    /// Entries of the copy in each process.
    LocalEntries(Name),
    /// Copies keep their times.
    KeepStamps(Name),
    /// Failures in a row that open the breaker on the cache.
    Breaker(Name),
    /// How long a call to an unreachable cache takes to fail.
    CacheTimeout(Name),
    /// Calls to an unreachable cache per request.
    CacheAttempts(Name),
    /// A static answer instead of a refusal.
    StaticAnswer(Name),
    /// How long an attempt of a call may take.
    CallTimeout(Name, Name),
    /// Attempts of a call.
    CallAttempts(Name, Name),
    /// Giving up a call stops its work downstream.
    CallCancels(Name, Name),
    /// How long a value of a kind of read may be served.
    Ttl(Name),
    /// When it wants to be read again.
    SoftTtl(Name),
    /// Share by which both vary.
    TtlJitter(Name),
    /// Cores of each host of a database.
    Cores(Name),
    /// Connections that each host accepts.
    Connections(Name),
}

/// The value of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub enum Setting {
    /// A switch is on.
    On,
    /// A switch is off, or what can be absent is absent.
    Off,
    /// A count.
    Number(f64),
    /// A length of time.
    Span(SimSpan),
    /// Per second.
    Rate(Rate),
    /// A share.
    Share(Ratio),
}

/// Timed levers.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// What it is, in a sentence.
    pub what: String,
    /// When to pull what, in order of time.
    pub steps: Vec<(TimeOfDay, Action)>,
}

/// The same incident with something changed.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// What is different, in a sentence; a follow-up's change says it already.
    #[serde(default)]
    pub what: String,
    /// Values by their path below `system`, as they would stand in the file: `"services.api.deadline": "750ms"`.
    #[serde(default)]
    pub set: BTreeMap<String, String>,
    /// Names of happenings that are left out.
    #[serde(default)]
    pub without: Vec<Name>,
    /// Further happenings.
    #[serde(default)]
    pub also: Vec<Happening>,
    /// What else is told, asked and true then.
    #[serde(default)]
    pub story: Story,
}

/// What a variant puts in place of what the incident tells, asks and knows; what is left out stays as it is.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Story {
    /// What was changed by others.
    pub changes: Option<Vec<Change>>,
    /// What people say.
    pub messages: Option<Vec<Message>>,
    /// What they propose.
    pub proposals: Option<Vec<Proposal>>,
    /// The parts of a guided run.
    pub stages: Option<Vec<Stage>>,
    /// Explanations to judge.
    pub hypotheses: Option<Vec<Hypothesis>>,
    /// What is true.
    pub mechanism: Option<Mechanism>,
    /// Timed levers.
    pub plans: Option<BTreeMap<Name, Plan>>,
    /// The senior's reading.
    pub commentary: Option<Vec<Comment>>,
    /// Questions for a team.
    pub discuss: Option<Vec<String>>,
    /// Work that would prevent or soften a repetition.
    pub follow_ups: Option<Vec<FollowUp>>,
}

/// The table that compares variants.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Lab {
    /// Names of variants, one a row; [`AS_IT_IS`] is the incident itself.
    pub rows: Vec<Name>,
    /// What is read from the run of each.
    pub columns: Vec<Column>,
    /// A series that is drawn beside each row.
    #[serde(default)]
    pub chart: Option<Name>,
}

/// The row of a lab in which nothing is changed.
pub const AS_IT_IS: &str = "as it is";

/// A column of a lab's table.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Title.
    pub title: String,
    /// What is read from the recorded telemetry.
    pub read: Reading,
    /// The window, or the instant when both are the same.
    pub over: (TimeOfDay, TimeOfDay),
}

// ------------------------------------------------------------------------------------------ what can be seen

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub enum Severity {
    /// Most users cannot work.
    Sev1,
    /// Many users are affected.
    Sev2,
    /// Some users are affected.
    Sev3,
    /// Nobody notices yet.
    Sev4,
}

/// The page that starts it. `{series.name}` in the text is replaced by what was recorded at that second.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    /// Severity that the alert claims.
    pub severity: Severity,
    /// The text.
    pub text: String,
}

/// A rule over recorded telemetry.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Alert {
    /// Name, as alerts are named.
    pub name: String,
    /// A recorded series.
    pub series: Name,
    /// The condition.
    pub when: Condition,
    /// How long it must hold.
    pub held_for: SimSpan,
    /// Text with `{series.name}`.
    pub text: String,
}

/// A condition on a series. Values are in the series' own unit: a share as 0.2, seconds, per second.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub enum Condition {
    /// Higher than this.
    Above(f64),
    /// Lower than this.
    Below(f64),
}

impl Condition {
    /// Whether a value satisfies it.
    pub fn holds(self, value: f64) -> bool {
        match self {
            Condition::Above(line) => value > line,
            Condition::Below(line) => value < line,
        }
    }
}

/// Where a player's instruments differ from what is measured. Figures and marks are read from what is measured.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Instruments {
    /// Series that are shown so much later than they are measured; `*` in a name takes all that match.
    pub lags: BTreeMap<Name, SimSpan>,
    /// Series that were not scraped for a while.
    pub gaps: Vec<Gap>,
    /// Health checks that say healthy whatever happens, by the name behind `health.`, with what they check.
    pub health: BTreeMap<Name, String>,
}

/// Samples that are missing.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Gap {
    /// Which series; `*` in a name takes all that match.
    pub series: Name,
    /// The first second that is missing.
    pub from: TimeOfDay,
    /// The first that is there again.
    pub to: TimeOfDay,
}

/// A page of charts.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Dashboard {
    /// Title.
    pub title: String,
    /// Charts, in order of importance.
    pub panels: Vec<Panel>,
}

/// A chart.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Panel {
    /// Title.
    pub title: String,
    /// Recorded series; `*` in a name takes all that match, `db.cpu.*`.
    pub series: Vec<Name>,
    /// A dashed line, in the series' own unit, with what it means.
    #[serde(default)]
    pub threshold: Option<(f64, String)>,
    /// What the panel measures, and how.
    pub help: String,
}

/// A change made by somebody else.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// When, on the incident's day.
    pub at: TimeOfDay,
    /// Deploy, flag, config, maintenance, failover: one word.
    pub kind: String,
    /// Who or what made it.
    pub by: String,
    /// In a line.
    pub what: String,
    /// Lines of the difference, with + and -.
    #[serde(default)]
    pub diff: Vec<String>,
}

/// A titled text.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    /// Title.
    pub title: String,
    /// Paragraphs.
    pub text: Vec<String>,
}

/// Somebody in the feed.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Person {
    /// As shown.
    pub name: String,
    /// Team or part.
    pub role: String,
}

/// Something said in the feed. `{series.name}` in the text is replaced by what was recorded at that second.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// When.
    pub at: TimeOfDay,
    /// Who.
    pub from: Name,
    /// What.
    pub text: String,
    /// Said only if this series satisfies this condition at that moment: people talk about what they see.
    #[serde(default)]
    pub only_if: Option<(Name, Condition)>,
    /// Answers to choose from, when it asks for one.
    #[serde(default)]
    pub replies: Vec<Reply>,
}

/// An answer to a message.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    /// The answer.
    pub text: String,
    /// What the debrief says to it.
    pub why: String,
    /// Whether it was true and useful to its reader.
    pub fits: bool,
}

/// A lever that a teammate wants pulled. Accepting pulls it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Proposal {
    /// Name.
    pub id: Name,
    /// When.
    pub at: TimeOfDay,
    /// Who.
    pub from: Name,
    /// The proposal and its argument.
    pub text: String,
    /// Made only if this series satisfies this condition at that moment.
    #[serde(default)]
    pub only_if: Option<(Name, Condition)>,
    /// What accepting does.
    pub action: Action,
}

// ----------------------------------------------------------------------------------- what is asked of the player

/// A part of a guided run.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    /// Title.
    pub title: String,
    /// When it opens.
    pub opens: TimeOfDay,
    /// What to do in it, in a few sentences.
    pub text: String,
    /// The same for who plays by typing, where keys stand in the text.
    #[serde(default)]
    pub typed: Option<String>,
    /// What is asked before the player goes on.
    #[serde(default)]
    pub asks: Vec<Ask>,
    /// Up to three hints, each saying more than the one before.
    #[serde(default)]
    pub hints: Vec<String>,
}

/// A question.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub enum Ask {
    /// A prediction that the simulator answers.
    Predict {
        /// Name.
        id: Name,
        /// The question.
        question: String,
        /// What it is about.
        series: Name,
        /// The window that answers it, from the moment of the answer on.
        within: SimSpan,
    },
    /// One of several readings of what is on the screen.
    Choose {
        /// Name.
        id: Name,
        /// The question.
        question: String,
        /// Readings.
        options: Vec<ChoiceOption>,
    },
}

impl Ask {
    /// The name by which an answer refers to it.
    pub fn id(&self) -> &str {
        match self {
            Ask::Predict { id, .. } | Ask::Choose { id, .. } => id,
        }
    }
}

/// A possible answer.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ChoiceOption {
    /// The answer.
    pub text: String,
    /// Whether what was on the screen supports it; several may.
    pub fits: bool,
    /// What the debrief says to it.
    pub why: String,
}

/// An explanation.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Hypothesis {
    /// Name.
    pub id: Name,
    /// The explanation, as somebody in the channel would put it.
    pub text: String,
    /// Whether it holds.
    pub holds: bool,
    /// Series, logs (`log:STREAM`), traces (`traces`), changes (`changes`) whose reading decides it.
    pub decided_by: Vec<Name>,
    /// Why, for the debrief.
    pub why: String,
}

// --------------------------------------------------------------------------------------- what is true, and marks

/// What is true.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Mechanism {
    /// What started it.
    pub trigger: Part,
    /// What made it larger.
    pub amplifiers: Vec<Part>,
    /// The loop that holds it after the trigger is gone, step by step.
    pub sustained_by: Vec<LoopStep>,
    /// What made it possible.
    pub contributing: Vec<Part>,
    /// Where the capacity is missing.
    pub bottleneck: Part,
    /// Plausible parts that are not true, offered beside the true ones in the finding.
    pub red_herrings: Vec<Part>,
    /// The whole, in a few sentences.
    pub summary: String,
}

/// A part of an explanation, which a finding can name.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Name.
    pub id: Name,
    /// In words.
    pub text: String,
}

/// A step of the loop; the debrief sets the rate of the player's run beside it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LoopStep {
    /// In words.
    pub text: String,
    /// A recorded series.
    pub series: Name,
}

/// A senior's reading of the screens at a moment.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Comment {
    /// When.
    pub at: TimeOfDay,
    /// Series, `log:STREAM`, `traces`, `changes`, `runbook` that the reading rests on.
    pub looks_at: Vec<Name>,
    /// The reading.
    pub says: String,
    /// What another good engineer might do instead, and when that is as good.
    #[serde(default)]
    pub alternatives: Vec<String>,
}

/// A figure that a run must reproduce.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// Name.
    pub name: String,
    /// Plan of the run; the run without any when left out.
    #[serde(default)]
    pub plan: Option<Name>,
    /// Variant of the incident; the incident itself when left out.
    #[serde(default)]
    pub variant: Option<Name>,
    /// What is read from the recorded telemetry.
    pub read: Reading,
    /// The window, or the instant when both are the same.
    pub over: (TimeOfDay, TimeOfDay),
    /// Where it must lie, in the series' own unit; times of day for [`Reading::FirstTime`].
    pub within: Band,
    /// A figure that must hold.
    #[serde(default)]
    pub key: bool,
    /// The figure in the source.
    pub source: String,
    /// What the run gives instead and why, when the source's figure cannot be met.
    #[serde(default)]
    pub note: Option<String>,
}

/// A number read from recorded telemetry.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub enum Reading {
    /// Mean of a series over the window.
    Mean(Name),
    /// Largest value.
    Max(Name),
    /// Smallest value; of all that match when the name has a `*`.
    Min(Name),
    /// Mean over the window minus the mean over an earlier window.
    Rise {
        /// The series.
        series: Name,
        /// The earlier window.
        from: (TimeOfDay, TimeOfDay),
    },
    /// Mean over the window divided by the mean over an earlier window.
    Factor {
        /// The series.
        series: Name,
        /// The earlier window.
        from: (TimeOfDay, TimeOfDay),
    },
    /// Seconds after the window's start until the series first satisfies the condition and keeps to it for a minute.
    FirstTime {
        /// The series.
        series: Name,
        /// The condition.
        is: Condition,
    },
}

/// Where a figure must lie.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub enum Band {
    /// Between two values.
    Between(f64, f64),
    /// At least.
    AtLeast(f64),
    /// At most.
    AtMost(f64),
    /// Between two times of day.
    Times(TimeOfDay, TimeOfDay),
}

/// Work after the incident.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FollowUp {
    /// Name.
    pub id: Name,
    /// In words.
    pub text: String,
    /// What it does: stops it from happening, keeps it small, or shows it earlier.
    pub effect: Effect,
    /// Why, for the debrief.
    pub why: String,
    /// What it changes in the system, so that it can be switched on and the incident played again; nothing when the
    /// engine has no such thing, as with alerts.
    #[serde(default)]
    pub applies: Option<Variant>,
}

/// What a follow-up does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub enum Effect {
    /// It cannot happen again this way.
    Prevents,
    /// It stays smaller.
    Limits,
    /// It is seen earlier.
    Detects,
    /// It feels like progress and changes little.
    Cosmetic,
}
