//! Settings that can be changed while the system runs: what values each takes, where it lies in the engine, what it is
//! at the start.

use super::schema::{Knob, Setting};
use crate::sim::intervention as sim;
use crate::sim::spec::{ServiceSpec, Spec, Step};
use crate::units::{Rate, Ratio, SECOND, SimSpan, Unit};

/// What values a setting takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// On or off.
    Switch,
    /// A whole number, from 1.
    Count,
    /// A number above 0.
    Amount,
    /// A length of time.
    Span,
    /// Something per second.
    Rate,
    /// A share of a whole.
    Share,
}

impl Kind {
    /// How a value is written.
    pub fn unit(self) -> Unit {
        match self {
            Kind::Switch | Kind::Count | Kind::Amount => Unit::Count,
            Kind::Span => Unit::Seconds,
            Kind::Rate => Unit::PerSecond,
            Kind::Share => Unit::Ratio,
        }
    }

    /// An example of a setting, as it stands in a file.
    pub(super) fn example(self) -> &'static str {
        match self {
            Kind::Switch => "On or Off",
            Kind::Count => "Number(3)",
            Kind::Amount => "Number(4.5)",
            Kind::Span => "Span(\"250ms\")",
            Kind::Rate => "Rate(\"25/s\")",
            Kind::Share => "Share(\"50%\")",
        }
    }

    /// The setting for a number: 1 and 0 for a switch, seconds, per second, a share as 0 to 1; `None` for what is
    /// absent.
    pub fn setting(self, value: Option<f64>) -> Setting {
        match (self, value) {
            (_, None) => Setting::Off,
            (Kind::Switch, Some(v)) => {
                if v == 0.0 {
                    Setting::Off
                } else {
                    Setting::On
                }
            }
            (Kind::Count | Kind::Amount, Some(v)) => Setting::Number(v),
            // To the nanosecond; a cast saturates.
            (Kind::Span, Some(v)) => Setting::Span(SimSpan((v * SECOND as f64 + 0.5) as u64)),
            (Kind::Rate, Some(v)) => Setting::Rate(Rate(v)),
            (Kind::Share, Some(v)) => Setting::Share(Ratio(v)),
        }
    }
}

impl Knob {
    /// What values it takes.
    pub fn kind(&self) -> Kind {
        match self {
            Knob::RetryAfter(_)
            | Knob::ServeStale(_)
            | Knob::Coalesce(_)
            | Knob::KeepStamps(_)
            | Knob::StaticAnswer(_)
            | Knob::CallCancels(..) => Kind::Switch,
            Knob::Workers(_)
            | Knob::OriginAtOnce(_)
            | Knob::LocalEntries(_)
            | Knob::Breaker(_)
            | Knob::CacheAttempts(_)
            | Knob::CallAttempts(..)
            | Knob::Connections(_) => Kind::Count,
            Knob::Cores(_) => Kind::Amount,
            Knob::ClientTimeout(_)
            | Knob::ClientBackoff(_)
            | Knob::Deadline(_)
            | Knob::Lock(_)
            | Knob::CacheTimeout(_)
            | Knob::CallTimeout(..)
            | Knob::Ttl(_)
            | Knob::SoftTtl(_) => Kind::Span,
            Knob::OriginRate(_) => Kind::Rate,
            Knob::RetryBudget(_) | Knob::Route(_) | Knob::TtlJitter(_) => Kind::Share,
        }
    }

    /// Whether [`Setting::Off`] takes it away altogether.
    pub fn can_be_absent(&self) -> bool {
        matches!(
            self,
            Knob::ClientTimeout(_)
                | Knob::RetryBudget(_)
                | Knob::Workers(_)
                | Knob::Deadline(_)
                | Knob::Lock(_)
                | Knob::OriginRate(_)
                | Knob::OriginAtOnce(_)
                | Knob::LocalEntries(_)
                | Knob::Breaker(_)
                | Knob::SoftTtl(_)
        )
    }

    /// Smallest and largest value, as the engine takes it.
    pub fn limits(&self) -> (f64, f64) {
        const HOUR_S: f64 = 3_600.0;
        match self {
            Knob::CacheAttempts(_) | Knob::CallAttempts(..) => (1.0, 10.0),
            // What may take no time at all.
            Knob::ClientBackoff(_) | Knob::CacheTimeout(_) => (0.0, HOUR_S),
            _ => match self.kind() {
                Kind::Switch | Kind::Share => (0.0, 1.0),
                Kind::Count => (1.0, 1e6),
                Kind::Amount => (0.1, 10_000.0),
                Kind::Span => (0.001, 24.0 * HOUR_S),
                Kind::Rate => (0.001, 1e7),
            },
        }
    }

    /// The number of a setting, as the engine takes it; `None` inside for what is absent, outside for a setting that
    /// does not suit.
    pub fn value(&self, setting: Setting) -> Option<Option<f64>> {
        match (self.kind(), setting) {
            (Kind::Switch, Setting::On) => Some(Some(1.0)),
            (Kind::Switch, Setting::Off) => Some(Some(0.0)),
            (_, Setting::Off) if self.can_be_absent() => Some(None),
            (Kind::Count | Kind::Amount, Setting::Number(n)) => Some(Some(n)),
            (Kind::Span, Setting::Span(span)) => Some(Some(span.as_secs_f64())),
            (Kind::Rate, Setting::Rate(rate)) => Some(Some(rate.0)),
            (Kind::Share, Setting::Share(share)) => Some(Some(share.0)),
            _ => None,
        }
    }

    /// Where it lies in a system; `None` when that has no such part.
    pub fn find(&self, spec: &Spec) -> Option<sim::Knob> {
        let client = |name: &str| spec.clients.iter().position(|c| c.name == name);
        let service = |name: &str| spec.services.iter().position(|s| s.name == name);
        let read = |name: &str| spec.reads.iter().position(|r| r.name == name);
        let database = |name: &str| spec.databases.iter().position(|d| d.name == name);
        let call = |name: &str, call: &str| {
            let service = service(name)?;
            let is_it = |step: &Step| matches!(step, Step::Call(c) if c.name == call);
            Some((service, spec.services[service].steps.iter().position(is_it)?))
        };
        use sim::Knob as K;
        Some(match self {
            Knob::ClientTimeout(name) => K::ClientTimeout(client(name)?),
            Knob::ClientBackoff(name) => K::ClientBackoff(client(name)?),
            Knob::RetryBudget(name) => K::RetryBudget(client(name)?),
            Knob::RetryAfter(name) => K::RetryAfter(client(name)?),
            Knob::Route(name) => K::Route(service(name)?),
            Knob::Workers(name) => K::Workers(service(name)?),
            Knob::Deadline(name) => K::Deadline(service(name)?),
            Knob::ServeStale(name) => K::ServeStale(service(name)?),
            Knob::Coalesce(name) => K::Coalesce(service(name)?),
            Knob::Lock(name) => K::Lock(service(name)?),
            Knob::OriginRate(name) => K::OriginRate(service(name)?),
            Knob::OriginAtOnce(name) => K::OriginAtOnce(service(name)?),
            Knob::LocalEntries(name) => K::LocalEntries(service(name)?),
            Knob::KeepStamps(name) => K::KeepStamps(service(name)?),
            Knob::Breaker(name) => K::Breaker(service(name)?),
            Knob::CacheTimeout(name) => K::CacheTimeout(service(name)?),
            Knob::CacheAttempts(name) => K::CacheAttempts(service(name)?),
            Knob::StaticAnswer(name) => K::StaticAnswer(service(name)?),
            Knob::CallTimeout(name, c) => call(name, c).map(|(s, i)| K::CallTimeout(s, i))?,
            Knob::CallAttempts(name, c) => call(name, c).map(|(s, i)| K::CallAttempts(s, i))?,
            Knob::CallCancels(name, c) => call(name, c).map(|(s, i)| K::CallCancels(s, i))?,
            Knob::Ttl(name) => K::Ttl(read(name)?),
            Knob::SoftTtl(name) => K::SoftTtl(read(name)?),
            Knob::TtlJitter(name) => K::TtlJitter(read(name)?),
            Knob::Cores(name) => K::Cores(database(name)?),
            Knob::Connections(name) => K::Connections(database(name)?),
        })
    }

    /// Its value in a system before anybody changes it, as the engine takes it; `None` inside for what is absent, outside
    /// when the system has no such part.
    pub fn at_start(&self, spec: &Spec) -> Option<Option<f64>> {
        let switch = |on: bool| Some(if on { 1.0 } else { 0.0 });
        let count = |n: Option<u32>| n.map(f64::from);
        let span = |span: Option<SimSpan>| span.map(SimSpan::as_secs_f64);
        let call = |service: &ServiceSpec, i: usize| match service.steps.get(i) {
            Some(Step::Call(call)) => Some(call.clone()),
            _ => None,
        };
        use sim::Knob as K;
        let service = |i: usize| spec.services.get(i);
        Some(match self.find(spec)? {
            K::ClientTimeout(i) => span(spec.clients.get(i)?.timeout),
            K::ClientBackoff(i) => span(Some(spec.clients.get(i)?.backoff.first)),
            K::RetryBudget(i) => spec.clients.get(i)?.retry_budget,
            K::RetryAfter(i) => switch(spec.clients.get(i)?.honours_retry_after),
            K::Route(i) => {
                spec.balancer.routes.iter().find(|route| route.0 == i).map(|route| route.1).or(Some(0.0))
            }
            K::Workers(i) => count(service(i)?.workers),
            K::Deadline(i) => span(service(i)?.deadline),
            K::ServeStale(i) => switch(service(i)?.reading.serve_stale),
            K::Coalesce(i) => switch(service(i)?.reading.coalesce),
            K::Lock(i) => span(service(i)?.reading.lock.map(|lock| lock.ttl)),
            K::OriginRate(i) => service(i)?.reading.origin.per_s,
            K::OriginAtOnce(i) => count(service(i)?.reading.origin.at_once),
            K::LocalEntries(i) => count(service(i)?.reading.local.map(|local| local.entries)),
            K::KeepStamps(i) => switch(service(i)?.reading.local.is_none_or(|local| local.keep_stamps)),
            K::Breaker(i) => count(service(i)?.reading.breaker.map(|breaker| breaker.failures)),
            K::CacheTimeout(i) => span(Some(service(i)?.reading.cache_timeout)),
            K::CacheAttempts(i) => count(Some(service(i)?.reading.cache_attempts)),
            K::StaticAnswer(i) => switch(service(i)?.reading.static_answer),
            K::CallTimeout(s, i) => span(Some(call(service(s)?, i)?.timeout)),
            K::CallAttempts(s, i) => count(Some(call(service(s)?, i)?.attempts)),
            K::CallCancels(s, i) => switch(call(service(s)?, i)?.cancels),
            K::Ttl(i) => span(spec.reads.get(i)?.ttl),
            K::SoftTtl(i) => span(spec.reads.get(i)?.soft_ttl),
            K::TtlJitter(i) => Some(spec.reads.get(i)?.ttl_jitter),
            K::Cores(i) => Some(spec.databases.get(i)?.cores),
            K::Connections(i) => count(Some(spec.databases.get(i)?.connections)),
        })
    }
}
