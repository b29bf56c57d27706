//! Levers as the player sees them: present value, what it takes, how to undo it, what it changes. All of it is said
//! from the description of the system, so that no incident needs texts of its own for it.

use super::setting::{self, after};
use crate::incident::schema::{Action, IncidentFile, Knob, Lever, Name, Pool, Service};
use crate::incident::{Incident, Kind};
use crate::telemetry::SeriesSet;
use crate::units::{Rate, Ratio, Unit, short};

/// A lever that the incident offers.
#[derive(Clone, Debug, PartialEq)]
pub struct LeverView {
    /// Which.
    pub lever: Lever,
    /// Name in a list.
    pub title: String,
    /// Present value.
    pub now: String,
    /// How long it takes to bite.
    pub takes: String,
    /// How to take it back.
    pub undo: String,
    /// What it changes in the system; says nothing about whether that helps.
    pub effect: String,
    /// What has to be stated.
    pub argument: Argument,
    /// Further actions on the same lever with their names: remove the limit, stop the warm-up.
    pub also: Vec<(String, Action)>,
}

/// What a lever has to be told.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// Nothing.
    None,
    /// One number.
    Number {
        /// What the number is.
        label: String,
        /// Smallest.
        min: f64,
        /// Largest.
        max: f64,
        /// The present value, to start from.
        suggested: f64,
        /// How it is written.
        unit: Unit,
    },
    /// On or off.
    Switch {
        /// What it is now.
        on: bool,
    },
    /// How many keys, and how many a second.
    WarmUp {
        /// Most keys that can be read.
        max_keys: u32,
        /// Keys to start from.
        suggested_keys: u32,
        /// Largest rate, per second.
        max_rate: f64,
        /// Rate to start from, per second.
        suggested_rate: f64,
    },
}

/// What the levers were last set to, by whomever. What has been reached so far is read from telemetry.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Settings {
    /// Attempts by client population.
    attempts: Vec<(Name, u32)>,
    rate_limit: Option<f64>,
    /// Instances and query attempts by service.
    services: Vec<(Name, ServiceSettings)>,
    /// Connections by service and pool.
    pools: Vec<(Name, Name, u32)>,
    /// Keys and rate of a warm-up by cache, since the last one was started.
    warming: Vec<(Name, u32, f64)>,
    /// Settings that were changed, as the engine takes them.
    knobs: Vec<(Knob, Option<f64>)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct ServiceSettings {
    instances: u32,
    query_attempts: u32,
}

impl Settings {
    /// The settings that the file's system starts with.
    pub(super) fn of(file: &IncidentFile) -> Settings {
        let services = &file.system.services;
        Settings {
            attempts: file.system.clients.iter().map(|(n, c)| (n.clone(), c.attempts)).collect(),
            rate_limit: file.system.balancer.rate_limit.map(|r| r.0),
            services: services
                .iter()
                .map(|(n, s)| {
                    let query_attempts = s.pools.values().next().map_or(1, |pool| pool.attempts);
                    (n.clone(), ServiceSettings { instances: s.instances, query_attempts })
                })
                .collect(),
            pools: services
                .iter()
                .flat_map(|(n, s)| s.pools.iter().map(|(pool, p)| (n.clone(), pool.clone(), p.size)))
                .collect(),
            warming: Vec::new(),
            knobs: Vec::new(),
        }
    }

    /// Notes an action.
    pub(super) fn apply(&mut self, action: &Action) {
        match action {
            Action::ClientRetries { client, attempts } => {
                for (_, a) in self.attempts.iter_mut().filter(|(n, _)| n == client) {
                    *a = *attempts;
                }
            }
            Action::RateLimit(rate) => self.rate_limit = Some(rate.0),
            Action::NoRateLimit => self.rate_limit = None,
            Action::Scale { service, instances } => self.service(service, |s| s.instances = *instances),
            Action::QueryAttempts { service, attempts } => {
                self.service(service, |s| s.query_attempts = *attempts);
            }
            Action::PoolSize { service, pool, size } => {
                let is_it =
                    |p: &&mut (Name, Name, u32)| p.0 == *service && pool.as_ref().is_none_or(|n| *n == p.1);
                for (_, _, s) in self.pools.iter_mut().filter(is_it) {
                    *s = *size;
                }
            }
            Action::WarmCache { cache, keys, rate } => {
                self.warming.retain(|w| w.0 != *cache);
                self.warming.push((cache.clone(), *keys, rate.0));
            }
            Action::StopWarming(cache) => self.warming.retain(|w| w.0 != *cache),
            Action::Set(knob, setting) => {
                if let Some(value) = knob.value(*setting) {
                    self.knobs.retain(|(k, _)| k != knob);
                    self.knobs.push((knob.clone(), value));
                }
            }
            Action::FlushCache(_) | Action::RollingRestart { .. } => {}
        }
    }

    fn service(&mut self, name: &str, set: impl FnOnce(&mut ServiceSettings)) {
        if let Some((_, s)) = self.services.iter_mut().find(|(n, _)| n == name) {
            set(s);
        }
    }

    fn of_service(&self, name: &str) -> Option<ServiceSettings> {
        self.services.iter().find(|(n, _)| n == name).map(|(_, s)| *s)
    }

    /// Connections of a pool: of the one that is named, or of the first.
    fn pool_size(&self, service: &str, pool: Option<&str>) -> Option<u32> {
        let is_it = |p: &&(Name, Name, u32)| p.0 == service && pool.is_none_or(|name| p.1 == name);
        self.pools.iter().find(is_it).map(|p| p.2)
    }

    /// The present value of a setting, as the engine takes it; `None` outside when the system has no such part.
    fn knob(&self, knob: &Knob, incident: &Incident) -> Option<Option<f64>> {
        match self.knobs.iter().find(|(k, _)| k == knob) {
            Some((_, value)) => Some(*value),
            None => knob.at_start(incident.spec()),
        }
    }
}

/// The action of a lever with its argument: `value` is the number, or how many keys; `rate` the keys per second.
pub fn action_with(lever: &Lever, value: f64, rate: f64) -> Action {
    // Casts saturate; the session checks the range.
    let count = value as u32;
    match lever.clone() {
        Lever::ClientRetries(client) => Action::ClientRetries { client, attempts: count },
        Lever::RateLimit => Action::RateLimit(Rate(value)),
        Lever::Scale(service) => Action::Scale { service, instances: count },
        Lever::QueryAttempts(service) => Action::QueryAttempts { service, attempts: count },
        Lever::PoolSize { service, pool } => Action::PoolSize { service, pool, size: count },
        Lever::FlushCache(cache) => Action::FlushCache(cache),
        Lever::WarmCache(cache) => Action::WarmCache { cache, keys: count, rate: Rate(rate) },
        Lever::RollingRestart(service) => Action::RollingRestart { service, batch: count },
        Lever::Set(knob) => {
            let setting = knob.kind().setting(Some(value));
            Action::Set(knob, setting)
        }
    }
}

/// An action in words.
pub fn action_text(action: &Action) -> String {
    match action {
        Action::ClientRetries { client, attempts: 1 } => format!("retries of {client} off"),
        Action::ClientRetries { client, attempts } => format!("{client} to {attempts} attempts"),
        Action::RateLimit(rate) => format!("rate limit {}", Unit::PerSecond.show(rate.0)),
        Action::NoRateLimit => "rate limit removed".to_owned(),
        Action::Scale { service, instances } => format!("{service} to {instances} instances"),
        Action::QueryAttempts { service, attempts: 1 } => format!("query retries of {service} off"),
        Action::QueryAttempts { service, attempts } => format!("{service} to {attempts} queries per request"),
        Action::PoolSize { service, pool: None, size } => {
            format!("{service} to {size} connections per instance")
        }
        Action::PoolSize { service, pool: Some(pool), size } => {
            format!("{service} to {size} connections per instance for {pool}")
        }
        Action::FlushCache(cache) => format!("{cache} flushed"),
        Action::WarmCache { cache, keys, rate } => {
            format!(
                "{cache} warmed with {} keys at {}",
                short(f64::from(*keys)),
                Unit::PerSecond.show(rate.0)
            )
        }
        Action::StopWarming(cache) => format!("warm-up of {cache} stopped"),
        Action::RollingRestart { service, batch } => format!("{service} restarted, {batch} at a time"),
        Action::Set(knob, setting) => setting::change(knob, *setting),
    }
}

/// Most attempts that can be set anywhere.
const ATTEMPTS_MAX: u32 = 10;
/// Largest rate that can be set, as a multiple of the normal traffic.
const RATE_TIMES: f64 = 10.0;
/// Largest number of instances, connections or cores that can be set, as a multiple of the number at the start.
const SIZE_TIMES: u32 = 5;

fn normal_rate(file: &IncidentFile) -> f64 {
    file.system.traffic.operations.first().map_or(1.0, |t| t.1.0).max(1.0)
}

fn keys(file: &IncidentFile) -> u32 {
    use crate::incident::schema::Keys;
    let reads = file.system.traffic.reads.values().filter(|r| r.ttl.is_some());
    reads.fold(0, |n, r| {
        n + match r.keys {
            Keys::Zipf { n, .. } | Keys::Even { n } => n,
        }
    })
}

fn service<'a>(file: &'a IncidentFile, name: &str) -> Option<&'a Service> {
    file.system.services.get(name)
}

/// A pool of a service at the start: the one that is named, or the first.
fn pool<'a>(file: &'a IncidentFile, name: &str, pool: Option<&str>) -> Option<&'a Pool> {
    let pools = &service(file, name)?.pools;
    match pool {
        Some(pool) => pools.get(pool),
        None => pools.values().next(),
    }
}

/// Smallest and largest value of a setting in this system. What is made of hardware ends where instances end.
fn limits(knob: &Knob, incident: &Incident) -> (f64, f64) {
    let (min, max) = knob.limits();
    match (knob, knob.at_start(incident.spec()).flatten()) {
        (Knob::Cores(_) | Knob::Connections(_), Some(start)) => (min, max.min(start * f64::from(SIZE_TIMES))),
        _ => (min, max),
    }
}

/// What is wrong with an action's argument: why, and what to do.
pub(super) fn out_of_range(incident: &Incident, action: &Action) -> Option<(String, String)> {
    let file = incident.file();
    let between = |value: f64, min: f64, max: f64, what: &str| {
        let fits = value >= min && value <= max;
        (!fits).then(|| {
            (
                format!("{what} can be {} to {}, not {value}.", short(min), short(max)),
                "Give a number in that range.".to_owned(),
            )
        })
    };
    let size = |n: u32| f64::from(n.saturating_mul(SIZE_TIMES));
    let rate_max = normal_rate(file) * RATE_TIMES;
    match action {
        Action::ClientRetries { attempts, .. } | Action::QueryAttempts { attempts, .. } => {
            between(f64::from(*attempts), 1.0, f64::from(ATTEMPTS_MAX), "Attempts")
        }
        Action::RateLimit(rate) => between(rate.0, 1.0, rate_max, "The limit per second"),
        Action::Scale { service: name, instances } => {
            between(f64::from(*instances), 1.0, size(service(file, name)?.instances), "Instances")
        }
        Action::PoolSize { service: name, pool: of, size: n } => {
            let most = size(pool(file, name, of.as_deref())?.size);
            between(f64::from(*n), 1.0, most, "Connections per instance")
        }
        Action::WarmCache { keys: n, rate, .. } => between(f64::from(*n), 1.0, f64::from(keys(file)), "Keys")
            .or_else(|| between(rate.0, 1.0, rate_max, "Keys per second")),
        Action::RollingRestart { service: name, batch } => {
            between(f64::from(*batch), 1.0, f64::from(service(file, name)?.instances), "Instances at a time")
        }
        Action::Set(knob, setting) => {
            let title = setting::title(knob);
            match knob.value(*setting) {
                Some(None) => None,
                Some(Some(value)) if knob.kind() == Kind::Count && value.fract() != 0.0 => Some((
                    format!("{title} is a whole number, not {value}."),
                    "Give a whole number.".to_owned(),
                )),
                Some(Some(value)) => {
                    let (min, max) = limits(knob, incident);
                    let fits = value >= min && value <= max;
                    let unit = knob.kind().unit();
                    let (min, max, value) = (unit.show(min), unit.show(max), unit.show(value));
                    (!fits).then(|| {
                        (
                            format!("{title} can be {min} to {max}, not {value}."),
                            "Give a number in that range.".to_owned(),
                        )
                    })
                }
                None => Some((
                    format!("{title} does not take such a value."),
                    "Give one of its kind, or choose it from the list of levers.".to_owned(),
                )),
            }
        }
        Action::NoRateLimit | Action::FlushCache(_) | Action::StopWarming(_) => None,
    }
}

/// What the telemetry last said, when it differs from what is wanted.
fn reached(series: &SeriesSet, name: &str, wanted: f64) -> Option<f64> {
    series.get(name).and_then(|s| s.recent()).filter(|v| (v - wanted).abs() > 0.005 * wanted.max(1.0))
}

/// A lever with its texts.
pub(super) fn view(
    lever: &Lever,
    incident: &Incident,
    set: &Settings,
    series: &SeriesSet,
) -> Option<LeverView> {
    let number = |label: &str, max: f64, suggested: f64, unit: Unit| Argument::Number {
        label: label.to_owned(),
        min: 1.0,
        max,
        suggested,
        unit,
    };
    let file = incident.file();
    let balancer = &file.system.balancer;
    let mut also = Vec::new();
    let (title, now, takes, undo, effect, argument) = match lever {
        Lever::ClientRetries(name) => {
            let client = file.system.clients.get(name)?;
            let wanted = set.attempts.iter().find(|(n, _)| n == name)?.1;
            let times = |n: u32| if n == 1 { "1 attempt".to_owned() } else { format!("{n} attempts") };
            let now = match reached(series, &format!("client.attempts_allowed.{name}"), f64::from(wanted)) {
                Some(mean) => format!("set to {}; {mean:.2} on average have reached clients", times(wanted)),
                None => format!("{} per operation", times(wanted)),
            };
            (
                format!("Attempts of {name}"),
                now,
                setting::reaches(client),
                format!("Set it back to {wanted}; it takes the same way and time."),
                format!(
                    "{} of the operations come from {name}. Each makes up to that many requests before its user \
                     sees an error.",
                    share(client.share)
                ),
                number("attempts per operation", f64::from(ATTEMPTS_MAX), f64::from(wanted), Unit::Count),
            )
        }
        Lever::RateLimit => {
            let now = set
                .rate_limit
                .map_or("no limit".to_owned(), |r| format!("limit {}", Unit::PerSecond.show(r)));
            if set.rate_limit.is_some() {
                also.push(("Remove the limit".to_owned(), Action::NoRateLimit));
            }
            (
                format!("Rate limit at {}", balancer.name),
                now,
                format!("In force {}.", after(balancer.apply_after)),
                "Remove the limit, or raise it step by step.".to_owned(),
                format!("Requests above the limit get a fast 503 from {} and go no further.", balancer.name),
                number(
                    "requests per second",
                    normal_rate(file) * RATE_TIMES,
                    set.rate_limit.unwrap_or_else(|| normal_rate(file)),
                    Unit::PerSecond,
                ),
            )
        }
        Lever::Scale(name) => {
            let at_start = service(file, name)?;
            let wanted = set.of_service(name)?;
            let running = reached(series, &format!("service.instances.{name}"), f64::from(wanted.instances));
            let now = match running {
                Some(n) => format!("{n:.0} answer, {} wanted", wanted.instances),
                None => format!("{} instances", wanted.instances),
            };
            (
                format!("Instances of {name}"),
                now,
                format!(
                    "New instances answer after {}; those taken out finish their work for up to {}.",
                    at_start.start_up, at_start.drain
                ),
                format!("Set it back to {}.", wanted.instances),
                what_an_instance_brings(name, at_start, set),
                number(
                    "instances",
                    f64::from(at_start.instances.saturating_mul(SIZE_TIMES)),
                    f64::from(wanted.instances),
                    Unit::Count,
                ),
            )
        }
        Lever::QueryAttempts(name) => {
            let at_start = pool(file, name, None)?;
            let wanted = set.of_service(name)?.query_attempts;
            (
                format!("Queries per request of {name}"),
                if wanted == 1 { "1, no retry".to_owned() } else { format!("up to {wanted}") },
                "In force at once for new requests.".to_owned(),
                format!("Set it back to {wanted}."),
                format!(
                    "A query that is not answered within {} is tried again up to that many times; the request \
                     keeps its connection meanwhile.",
                    at_start.query_timeout
                ),
                number("queries per request", f64::from(ATTEMPTS_MAX), f64::from(wanted), Unit::Count),
            )
        }
        Lever::PoolSize { service: name, pool: of } => {
            let at_start = pool(file, name, of.as_deref())?;
            let wanted = set.pool_size(name, of.as_deref())?;
            let of_which = of.as_ref().map_or(String::new(), |pool| format!(" for {pool}"));
            (
                format!("Connections per instance of {name}{of_which}"),
                short(f64::from(wanted)),
                "In force at once; connections above a smaller size close when their query ends.".to_owned(),
                format!("Set it back to {wanted}."),
                format!(
                    "At most that many queries of an instance run at the same time; a request waits up to {}{} for \
                     a connection.",
                    at_start.acquire_timeout,
                    if at_start.acquire_varies { " on average" } else { "" },
                ),
                number(
                    "connections per instance",
                    f64::from(at_start.size.saturating_mul(SIZE_TIMES)),
                    f64::from(wanted),
                    Unit::Count,
                ),
            )
        }
        Lever::FlushCache(name) => (
            format!("Flush {name}"),
            hit_ratio(series),
            "At once.".to_owned(),
            "Cannot be undone: it fills again only as reads succeed.".to_owned(),
            format!("Everything in {name} is thrown away; each key is read from the database again."),
            Argument::None,
        ),
        Lever::WarmCache(name) => {
            let running = set.warming.iter().find(|w| w.0 == *name);
            let read = series.get("warm.keys").and_then(|s| s.last());
            let now = match running {
                Some((_, n, rate)) => format!(
                    "{} of {} keys read, at {}",
                    short(read.unwrap_or(0.0)),
                    short(f64::from(*n)),
                    Unit::PerSecond.show(*rate)
                ),
                None => format!("not running; {}", hit_ratio(series)),
            };
            if running.is_some() {
                also.push(("Stop the warm-up".to_owned(), Action::StopWarming(name.clone())));
            }
            let total = keys(file);
            (
                format!("Warm {name}"),
                now,
                "As long as the number of keys divided by the rate; a key is warm once its query has succeeded."
                    .to_owned(),
                "Stop it; the keys read so far stay until they expire.".to_owned(),
                "Reads the most popular keys from the database, beside the queries of users.".to_owned(),
                Argument::WarmUp {
                    max_keys: total,
                    suggested_keys: (total / 100).max(1),
                    max_rate: normal_rate(file) * RATE_TIMES,
                    suggested_rate: (normal_rate(file) / 20.0).max(1.0),
                },
            )
        }
        Lever::RollingRestart(name) => {
            let at_start = service(file, name)?;
            let wanted = set.of_service(name)?.instances;
            (
                format!("Restart {name}"),
                format!("{wanted} instances"),
                format!("Each instance is back after {}; batch follows batch.", at_start.start_up),
                "Cannot be stopped once begun.".to_owned(),
                "Requests in an instance that restarts fail, and its connections close.".to_owned(),
                number(
                    "instances at a time",
                    f64::from(at_start.instances),
                    f64::from((at_start.instances / 10).max(1)),
                    Unit::Count,
                ),
            )
        }
        Lever::Set(knob) => {
            let now = set.knob(knob, incident)?;
            let (min, max) = limits(knob, incident);
            let argument = match knob.kind() {
                Kind::Switch => Argument::Switch { on: now.is_some_and(|v| v != 0.0) },
                kind => Argument::Number {
                    label: setting::label(knob).to_owned(),
                    min,
                    max,
                    suggested: now.unwrap_or_else(|| setting::usual(knob)),
                    unit: kind.unit(),
                },
            };
            if knob.can_be_absent() && now.is_some() {
                let removed = Action::Set(knob.clone(), knob.kind().setting(None));
                also.push((format!("Off: {}", setting::name(knob)), removed));
            }
            let present = setting::value(knob, now);
            let undo = match (knob.kind(), now) {
                (Kind::Switch, _) | (_, None) => {
                    format!("Switch it {present} again; it takes the same way and time.")
                }
                _ => format!("Set it back to {present}; it takes the same way and time."),
            };
            (
                setting::title(knob),
                present,
                setting::takes(knob, file)?,
                undo,
                setting::effect(knob, file)?,
                argument,
            )
        }
    };
    Some(LeverView { lever: lever.clone(), title, now, takes, undo, effect, argument, also })
}

/// What one more instance adds to the load on others.
fn what_an_instance_brings(name: &str, service: &Service, set: &Settings) -> String {
    let Some(database) = &service.database else {
        return format!("Requests to {name} are spread over that many instances.");
    };
    let connections: u32 = service.pools.keys().filter_map(|pool| set.pool_size(name, Some(pool))).sum();
    format!("Each instance opens up to {} connections to {database}.", short(f64::from(connections)))
}

fn share(ratio: Ratio) -> String {
    Unit::Ratio.show(ratio.0)
}

fn hit_ratio(series: &SeriesSet) -> String {
    let now = series.get("cache.hit_ratio").and_then(|s| s.recent());
    format!("hit ratio {}", Unit::Ratio.show(now.unwrap_or(f64::NAN)))
}
