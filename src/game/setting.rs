//! Settings in words: what each is called, what it changes, how long a change takes, how its values are written.

use crate::incident::Kind;
use crate::incident::schema::{Client, Config, IncidentFile, Knob, Per, Service, Setting};
use crate::units::{SimSpan, Unit};

/// What a setting is called, in the middle of a sentence.
pub(super) fn name(knob: &Knob) -> String {
    match knob {
        Knob::ClientTimeout(of) => format!("timeout of {of}"),
        Knob::ClientBackoff(of) => format!("pause before retries of {of}"),
        Knob::RetryBudget(of) => format!("retry budget of {of}"),
        Knob::RetryAfter(of) => format!("Retry-After honoured by {of}"),
        Knob::Route(of) => format!("share of requests to {of}"),
        Knob::Workers(of) => format!("workers per instance of {of}"),
        Knob::Deadline(of) => format!("deadline of {of}"),
        Knob::ServeStale(of) => format!("stale values served by {of}"),
        Knob::Coalesce(of) => format!("coalescing of reads in {of}"),
        Knob::Lock(of) => format!("lock on misses of {of}"),
        Knob::OriginRate(of) => format!("limit on source reads of {of}"),
        Knob::OriginAtOnce(of) => format!("limit on source reads at once of {of}"),
        Knob::LocalEntries(of) => format!("entries copied by {of}"),
        Knob::KeepStamps(of) => format!("times kept by copies in {of}"),
        Knob::Breaker(of) => format!("breaker on the cache of {of}"),
        Knob::CacheTimeout(of) => format!("cache timeout of {of}"),
        Knob::CacheAttempts(of) => format!("cache attempts of {of}"),
        Knob::StaticAnswer(of) => format!("static answer of {of}"),
        Knob::CallTimeout(of, call) => format!("timeout of {call} in {of}"),
        Knob::CallAttempts(of, call) => format!("attempts of {call} in {of}"),
        Knob::CallCancels(of, call) => format!("cancelling of {call} in {of}"),
        Knob::Ttl(of) => format!("TTL of {of}"),
        Knob::SoftTtl(of) => format!("soft TTL of {of}"),
        Knob::TtlJitter(of) => format!("TTL jitter of {of}"),
        Knob::Cores(of) => format!("cores per host of {of}"),
        Knob::Connections(of) => format!("connections per host of {of}"),
    }
}

/// The same as a title.
pub(super) fn title(knob: &Knob) -> String {
    let name = name(knob);
    let mut letters = name.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// A value, as the engine takes it, in words.
pub(super) fn value(knob: &Knob, value: Option<f64>) -> String {
    match (knob.kind(), value) {
        (_, None) => "off".to_owned(),
        (Kind::Switch, Some(on)) => if on == 0.0 { "off" } else { "on" }.to_owned(),
        (kind, Some(value)) => kind.unit().show(value),
    }
}

/// A change in words: `deadline of api to 750 ms`.
pub(super) fn change(knob: &Knob, setting: Setting) -> String {
    let name = name(knob);
    match knob.value(setting) {
        Some(new) if new.is_none() || knob.kind() == Kind::Switch => format!("{name} {}", value(knob, new)),
        Some(new) => format!("{name} to {}", value(knob, new)),
        None => format!("{name} to a value that does not suit it"),
    }
}

/// What its number is, beside the field that asks for it.
pub(super) fn label(knob: &Knob) -> &'static str {
    match knob {
        Knob::Workers(_) => "requests at the same time",
        Knob::LocalEntries(_) => "entries",
        Knob::Breaker(_) => "failures in a row",
        Knob::CacheAttempts(_) | Knob::CallAttempts(..) => "attempts",
        Knob::Cores(_) => "cores",
        Knob::Connections(_) => "connections",
        Knob::OriginAtOnce(_) => "reads at the same time",
        _ => match knob.kind() {
            Kind::Switch => "on or off",
            Kind::Count | Kind::Amount => "number",
            Kind::Span => "seconds",
            Kind::Rate => "per second",
            Kind::Share => "%",
        },
    }
}

/// `after 2 s`, or `at once`.
pub(super) fn after(span: SimSpan) -> String {
    if span == SimSpan::ZERO { "at once".to_owned() } else { format!("after {}", span.words()) }
}

/// How a changed setting reaches a client population.
pub(super) fn reaches(client: &Client) -> String {
    match client.config {
        Config::Flag { after: span } => format!("In force for everybody {}.", after(span)),
        Config::RemoteConfig { half_life } => format!(
            "Clients fetch it in their own time: it reaches half of those left every {half_life}, \
             nine in ten after {}.",
            SimSpan((half_life.0 as f64 * 3.322) as u64)
        ),
    }
}

/// How long a change takes to be in force; `None` when the system has no such part.
pub(super) fn takes(knob: &Knob, file: &IncidentFile) -> Option<String> {
    let system = &file.system;
    Some(match knob {
        Knob::ClientTimeout(of) | Knob::ClientBackoff(of) | Knob::RetryBudget(of) | Knob::RetryAfter(of) => {
            let (Config::Flag { after: span } | Config::RemoteConfig { half_life: span }) =
                system.clients.get(of)?.config;
            format!("In force for everybody {}.", after(span))
        }
        Knob::Route(_) => format!("In force {}.", after(system.balancer.apply_after)),
        Knob::Workers(of)
        | Knob::Deadline(of)
        | Knob::ServeStale(of)
        | Knob::Coalesce(of)
        | Knob::Lock(of)
        | Knob::OriginRate(of)
        | Knob::OriginAtOnce(of)
        | Knob::LocalEntries(of)
        | Knob::KeepStamps(of)
        | Knob::Breaker(of)
        | Knob::CacheTimeout(of)
        | Knob::CacheAttempts(of)
        | Knob::StaticAnswer(of)
        | Knob::CallTimeout(of, _)
        | Knob::CallAttempts(of, _)
        | Knob::CallCancels(of, _) => {
            format!("In force {}, for requests that come then.", after(system.services.get(of)?.config_after))
        }
        Knob::Ttl(_) | Knob::SoftTtl(_) | Knob::TtlJitter(_) => {
            "At once, for values that are written from then on.".to_owned()
        }
        Knob::Cores(of) | Knob::Connections(of) => {
            format!("In force {}.", after(system.databases.get(of)?.resize_after))
        }
    })
}

/// What a change changes in the system; says nothing about whether that helps. `None` when the system has no such part.
pub(super) fn effect(knob: &Knob, file: &IncidentFile) -> Option<String> {
    let system = &file.system;
    let service = |name: &str| system.services.get(name);
    let source = |service: &Service| service.database.clone().unwrap_or_default();
    let cache = |service: &Service| service.cache.clone().unwrap_or_default();
    Some(match knob {
        Knob::ClientTimeout(of) => format!(
            "{} of the operations come from {of}. An attempt that is not answered by then is given up, and tried \
             again while attempts are left.",
            Unit::Ratio.show(system.clients.get(of)?.share.0)
        ),
        Knob::ClientBackoff(of) => format!("How long a client of {of} waits before its first retry."),
        Knob::RetryBudget(of) => {
            format!(
                "Retries of {of} are at most that share of its first attempts; what is over it is not sent."
            )
        }
        Knob::RetryAfter(of) => {
            format!("Whether clients of {of} wait as long as a refusal asks them to before they try again.")
        }
        Knob::Route(of) => {
            format!("That share of the requests goes to {of}; the other services share the rest as before.")
        }
        Knob::Workers(of) => format!(
            "At most that many requests are worked on at the same time in each instance of {of}; one more gets a 503 \
             at once. Answers from the cache do not count."
        ),
        Knob::Deadline(of) => {
            format!("A request that {of} has not answered by then fails, and what it was doing is given up.")
        }
        Knob::ServeStale(of) => {
            format!(
                "{of} answers with a value past its soft TTL at once, and reads it again behind the answer."
            )
        }
        Knob::Coalesce(of) => {
            format!("Requests in one process of {of} that miss the same key wait for one read of it.")
        }
        Knob::Lock(of) => format!(
            "One process at a time reads a missing key; the others look again a little later. The lock is in {} and is \
             free by itself after that long.",
            cache(service(of)?)
        ),
        Knob::OriginRate(of) | Knob::OriginAtOnce(of) => {
            let service = service(of)?;
            let whose = match service.reading.origin.per {
                Per::Process => format!("each process of {of}"),
                Per::Fleet => format!("all processes of {of} together"),
            };
            let what = match knob {
                Knob::OriginRate(_) => "a second",
                _ => "at the same time",
            };
            format!(
                "At most that many reads of {} start {what}, for {whose}. A request over it gets a stale value where \
                 those are served, else the static answer where there is one, else a 503.",
                source(service)
            )
        }
        Knob::LocalEntries(of) => {
            format!("Each process of {of} keeps copies of that many values and answers from them first.")
        }
        Knob::KeepStamps(of) => format!(
            "On: a copy in a process of {of} expires with the value that it was copied from. Off: its time starts \
             anew when it is copied."
        ),
        Knob::Breaker(of) => format!(
            "After that many failed calls in a row, a process of {of} stops asking {} for a while.",
            cache(service(of)?)
        ),
        Knob::CacheTimeout(of) => {
            format!("How long a call of {of} to {} waits for an answer.", cache(service(of)?))
        }
        Knob::CacheAttempts(of) => {
            format!("How often a request of {of} asks {} when that does not answer.", cache(service(of)?))
        }
        Knob::StaticAnswer(of) => {
            format!("A request that may not read the source gets a plain answer from {of} instead of a 503.")
        }
        Knob::CallTimeout(of, call) => {
            format!("An attempt of {call} that is not answered by then is given up by {of}.")
        }
        Knob::CallAttempts(of, call) => {
            format!("How often {of} tries {call} at most, the first time included.")
        }
        Knob::CallCancels(of, call) => format!(
            "On: when {of} gives up an attempt of {call}, its work downstream stops. Off: that goes on for nobody."
        ),
        Knob::Ttl(of) => format!("How long a value of {of} may be served."),
        Knob::SoftTtl(of) => format!(
            "A value of {of} that is older wants to be read again: it is served meanwhile where stale values may be, \
             and counts as expired elsewhere."
        ),
        Knob::TtlJitter(of) => format!(
            "The times of values of {of} vary by that share, so that what was written together does not expire together."
        ),
        Knob::Cores(of) => format!("How many queries a host of {of} can work on at full speed."),
        Knob::Connections(of) => {
            format!("How many connections a host of {of} accepts; further ones are refused.")
        }
    })
}

/// A value to start from where the setting is absent now.
pub(super) fn usual(knob: &Knob) -> f64 {
    match knob.kind() {
        Kind::Switch | Kind::Span => 1.0,
        Kind::Count | Kind::Amount | Kind::Rate => 10.0,
        Kind::Share => 0.1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Rate, Ratio};

    #[test]
    fn a_change_is_said_in_words() {
        let call = || Knob::CallTimeout("orders".to_owned(), "inventory.reserve".to_owned());
        let api = || "api".to_owned();
        for (knob, setting, words) in [
            (
                call(),
                Setting::Span(SimSpan::from_millis(250)),
                "timeout of inventory.reserve in orders to 250 ms",
            ),
            (Knob::ServeStale(api()), Setting::On, "stale values served by api on"),
            (Knob::Deadline(api()), Setting::Off, "deadline of api off"),
            (Knob::OriginRate(api()), Setting::Rate(Rate(25.0)), "limit on source reads of api to 25/s"),
            (Knob::Route(api()), Setting::Share(Ratio(0.5)), "share of requests to api to 50.0 %"),
            (Knob::Workers(api()), Setting::Number(300.0), "workers per instance of api to 300"),
        ] {
            assert_eq!(change(&knob, setting), words);
        }
        assert_eq!(title(&call()), "Timeout of inventory.reserve in orders");
    }
}
