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
    pub caches: BTreeMap<Name, Cache>,
    /// Databases.
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
    /// How long a client waits for one attempt; waits for ever when left out.
    #[serde(default)]
    pub timeout: Option<SimSpan>,
    /// How a changed setting reaches them.
    pub config: Config,
}

/// Pause before a further attempt.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub enum Backoff {
    /// Always the same.
    Fixed(SimSpan),
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
    pub reads: BTreeMap<Name, Read>,
}

/// A kind of read.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Read {
    /// Share of operations.
    pub share: Ratio,
    /// Which keys.
    pub keys: Keys,
    /// How long the cache keeps it; never cached when left out.
    #[serde(default)]
    pub ttl: Option<SimSpan>,
    /// CPU time of its query.
    pub query: Spread,
    /// Times as much CPU when the page is not in memory.
    #[serde(default = "one")]
    pub cold_page: f64,
}

fn one() -> f64 {
    1.0
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
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
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
    /// How long a changed limit takes to be in force.
    pub apply_after: SimSpan,
}

/// A stateless service that reads through a cache.
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
    /// How it reads.
    pub read: ReadPath,
    /// Its database client.
    pub pool: Pool,
}

/// How a service reads.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub enum ReadPath {
    /// Asks the cache first, then the database; a query that succeeds fills the cache.
    CacheAside {
        /// The cache.
        cache: Name,
        /// The database.
        database: Name,
    },
}

/// A database client.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Pool {
    /// Connections per instance at most.
    pub size: u32,
    /// How long a request waits for one.
    pub acquire_timeout: SimSpan,
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

/// Something that breaks.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Happening {
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
    PoolSize(Name),
    /// Throw a cache away.
    FlushCache(Name),
    /// Read popular keys into a cache.
    WarmCache(Name),
    /// Restart a service's instances in turn.
    RollingRestart(Name),
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
