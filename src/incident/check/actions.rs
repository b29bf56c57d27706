//! Checks of what happens in a system and of what can be done to it.

use std::collections::BTreeSet;

use super::Checker;
use crate::incident::knob::Kind;
use crate::incident::locate::{Path, Step as At, place};
use crate::incident::schema::{Action, Fault, Happening, Knob, Lever, Setting, Step};
use crate::units::TimeOfDay;

impl Checker<'_> {
    pub(super) fn what_happens_and_what_can_be_done(&mut self) {
        let file = self.file;
        self.happenings(&place!["happens"], &file.happens);
        match file.happens.first() {
            // Traffic that changes can start an incident by itself.
            None if file.system.traffic.operations.len() > 1 => {}
            None => {
                let help = "add what starts the incident: (at: \"14:02:00\", what: CacheNodeLost(…))";
                self.warn(&place!["happens"], "nothing ever breaks", help);
            }
            Some(first) if self.breaks_after_page(first.at) => {
                let message = format!("the page comes before anything breaks, at {}", first.at);
                self.warn(&place!["clock", "page"], message, "let the page follow what broke");
            }
            Some(_) => {}
        }
        let mut names = BTreeSet::new();
        for (i, happening) in file.happens.iter().enumerate() {
            if let Some(name) = &happening.name
                && !names.insert(name)
            {
                let message = format!("something else that happens is called \"{name}\" too");
                self.error(&place!["happens", i, "name"], message, "give each its own name");
            }
        }
        for (i, lever) in file.levers.iter().enumerate() {
            self.lever(place!["levers", i], lever);
            if file.levers[..i].contains(lever) {
                self.warn(&place!["levers", i], "this lever is offered twice", "take one of them out");
            }
        }
        if file.levers.is_empty() {
            self.warn(
                &place!["levers"],
                "the player can do nothing",
                "add levers: [RateLimit, Scale(\"api\")]",
            );
        }
        for (name, plan) in &file.plans {
            self.id(&place!["plans", name], name);
            self.said(&place!["plans", name, "what"], &plan.what);
            self.in_order(
                plan.steps
                    .iter()
                    .enumerate()
                    .map(|(i, (time, _))| (place!["plans", name, "steps", i, 0usize], *time))
                    .collect::<Vec<_>>(),
            );
            for (i, (_, action)) in plan.steps.iter().enumerate() {
                self.offered_action(place!["plans", name, "steps", i, 1usize], action);
            }
        }
        if !file.plans.contains_key("senior") {
            let help = "add \"senior\": what an experienced engineer does, and when";
            self.error(&place!["plans"], "there is no plan \"senior\" to compare the player with", help);
        }
    }

    fn breaks_after_page(&self, at: TimeOfDay) -> bool {
        let clock = self.file.clock;
        let (page, at, end) = (self.offset(clock.page), self.offset(at), self.offset(clock.end));
        self.clock_runs && page < at && at <= end
    }

    /// What happens, in order of time.
    pub(super) fn happenings(&mut self, path: &[At], happenings: &[Happening]) {
        let field = |i: usize, names: &[&str]| {
            let mut place = path.to_vec();
            place.push(i.into());
            place.extend(names.iter().map(|&name| At::from(name)));
            place
        };
        self.in_order(
            happenings.iter().enumerate().map(|(i, h)| (field(i, &["at"]), h.at)).collect::<Vec<_>>(),
        );
        let file = self.file;
        for (i, happening) in happenings.iter().enumerate() {
            let what = |name: &str| field(i, &["what", name]);
            match &happening.what {
                Fault::CacheNodeLost { cache, survivors, .. } => {
                    self.cache(&what("cache"), cache);
                    self.share(&what("survivors"), survivors.0);
                }
                Fault::DatabaseDown { database, lasts } => {
                    self.database(&what("database"), database);
                    self.some_time(&what("lasts"), *lasts);
                }
                Fault::SlowWork { service, adds, lasts } => {
                    self.spread(what("adds"), *adds);
                    self.some_time(&what("lasts"), *lasts);
                    let works = |s: &Step| matches!(s, Step::Work { .. });
                    if self.service(&what("service"), service)
                        && !file.system.services.get(service).is_some_and(|s| s.steps.iter().any(works))
                    {
                        let message =
                            format!("service \"{service}\" has no step `Work` that could take longer");
                        let help = "add one to its steps: Work(name: \"reserve\", takes: Fixed(\"20ms\"))";
                        self.error(&what("service"), message, help);
                    }
                }
                Fault::InstancesLost { service, count } => {
                    let place = what("service");
                    if self.service(&place, service)
                        && let Some(parts) = file.system.services.get(service)
                    {
                        self.between(&what("count"), "instances", *count, 1, parts.instances.max(1));
                    }
                }
                Fault::LockHolderLost { service } => {
                    let place = what("service");
                    if self.service(&place, service) {
                        self.has_cache(&place, service, "lock");
                    }
                }
                Fault::Do(action) => {
                    let mut place = field(i, &["what"]);
                    place.push(0usize.into());
                    self.action(&place, action);
                }
            }
        }
    }

    fn has_cache(&mut self, path: &[At], service: &str, what: &str) -> bool {
        let has = self.file.system.services.get(service).is_some_and(|parts| parts.cache.is_some());
        if !has {
            let message = format!("service \"{service}\" has no cache, so there is no {what}");
            self.error(path, message, "name the cache that it reads from");
        }
        has
    }

    fn lever(&mut self, place: Path, lever: &Lever) {
        let under = |step: At| {
            let mut place = place.clone();
            place.push(step);
            place
        };
        let part = under(0usize.into());
        match lever {
            Lever::ClientRetries(name) => {
                self.client(&part, name);
            }
            Lever::RateLimit => {}
            Lever::QueryAttempts(name) => {
                self.service_with_pool(&part, name);
            }
            Lever::Scale(name) | Lever::RollingRestart(name) => {
                self.service(&part, name);
            }
            Lever::PoolSize { service, pool } => {
                self.pool(&under("service".into()), &under("pool".into()), service, pool.as_deref());
            }
            Lever::FlushCache(name) | Lever::WarmCache(name) => {
                self.cache(&part, name);
            }
            Lever::Set(knob) => {
                self.knob(&part, knob);
            }
        }
    }

    fn service_with_pool(&mut self, path: &[At], name: &str) -> bool {
        let file = self.file;
        if !self.service(path, name) {
            return false;
        }
        let has = file.system.services.get(name).is_some_and(|parts| !parts.pools.is_empty());
        if !has {
            let message = format!("service \"{name}\" has no pool, so it queries nothing");
            self.error(path, message, "name a service with a pool");
        }
        has
    }

    /// A pool of a service, named or the only one.
    fn pool(&mut self, at_service: &[At], at_pool: &[At], service: &str, pool: Option<&str>) -> bool {
        let file = self.file;
        self.service(at_service, service)
            && file
                .system
                .services
                .get(service)
                .is_some_and(|parts| self.pool_of(at_pool, service, parts, pool))
    }

    /// A setting of something that exists.
    fn knob(&mut self, path: &[At], knob: &Knob) -> bool {
        let file = self.file;
        let system = &file.system;
        let under = |i: usize| {
            let mut place = path.to_vec();
            place.push(i.into());
            place
        };
        let part = under(0);
        match knob {
            Knob::ClientTimeout(name)
            | Knob::ClientBackoff(name)
            | Knob::RetryBudget(name)
            | Knob::RetryAfter(name) => self.client(&part, name),
            Knob::Route(name) => {
                self.service(&part, name)
                    && (system.balancer.routes.contains_key(name) || {
                        let message = format!("the balancer has no route to service \"{name}\"");
                        let help = format!("add one to its routes: \"{name}\": \"0%\"");
                        self.error(&part, message, help);
                        false
                    })
            }
            Knob::Workers(name) | Knob::Deadline(name) => self.service(&part, name),
            Knob::ServeStale(name) | Knob::Coalesce(name) | Knob::KeepStamps(name) => {
                self.service(&part, name) && self.has_cache(&part, name, "value to share")
            }
            Knob::Lock(name) => self.service(&part, name) && self.has_cache(&part, name, "place for a lock"),
            Knob::LocalEntries(name) => {
                self.service(&part, name) && self.has_cache(&part, name, "value to copy")
            }
            Knob::Breaker(name) | Knob::CacheTimeout(name) | Knob::CacheAttempts(name) => {
                self.service(&part, name) && self.has_cache(&part, name, "call to one")
            }
            Knob::OriginRate(name) | Knob::OriginAtOnce(name) | Knob::StaticAnswer(name) => {
                self.service_with_pool(&part, name)
            }
            Knob::CallTimeout(name, call)
            | Knob::CallAttempts(name, call)
            | Knob::CallCancels(name, call) => {
                self.service(&part, name) && {
                    let steps =
                        system.services.get(name).map(|parts| parts.steps.as_slice()).unwrap_or_default();
                    let calls = steps.iter().filter(|step| matches!(step, Step::Call { .. }));
                    let what = format!("call of service \"{name}\" named");
                    self.known(&under(1), &what, call, calls.filter_map(Step::name))
                }
            }
            Knob::Ttl(name) | Knob::SoftTtl(name) | Knob::TtlJitter(name) => {
                let cached = system.traffic.reads.iter().filter(|(_, read)| read.ttl.is_some());
                self.known(&part, "cached kind of read", name, cached.map(|(name, _)| name.as_str()))
            }
            Knob::Cores(name) | Knob::Connections(name) => self.database(&part, name),
        }
    }

    /// The value of a setting.
    fn setting(&mut self, path: &[At], knob: &Knob, setting: Setting) -> bool {
        let (low, high) = knob.limits();
        let kind = knob.kind();
        let absent = if knob.can_be_absent() { ", or Off" } else { "" };
        match knob.value(setting) {
            None => {
                let help = format!("write {}{absent}", kind.example());
                self.error(path, "this value does not suit the setting", help);
                false
            }
            Some(Some(value)) if !(low..=high).contains(&value) => {
                let unit = kind.unit();
                let help = format!("{} to {} is{absent}", unit.show(low), unit.show(high));
                self.error(path, format!("{} is not possible here", unit.show(value)), help);
                false
            }
            Some(Some(value)) if kind == Kind::Count && value.fract() != 0.0 => {
                self.error(path, format!("{value} is not a whole number"), "write one such as Number(3)");
                false
            }
            Some(_) => true,
        }
    }

    /// An action that a player could do too.
    pub(super) fn offered_action(&mut self, place: Path, action: &Action) {
        let lever = action.lever();
        // A name that does not exist has been reported already.
        if self.action(&place, action) && !self.file.levers.contains(&lever) {
            let help = format!("add {} to `levers`", written(&lever));
            self.warn(&place, "no lever offers this, so a player could not do it", help);
        }
    }

    /// An action; whether it can be done.
    pub(super) fn action(&mut self, place: &[At], action: &Action) -> bool {
        let field = |name: &str| {
            let mut place = place.to_vec();
            place.push(name.into());
            place
        };
        let argument = |i: usize| {
            let mut place = place.to_vec();
            place.push(i.into());
            place
        };
        let limits = |rate: f64| rate > 0.0 && rate <= 10_000_000.0;
        let before = self.found.len();
        match action {
            Action::ClientRetries { client, attempts } => {
                self.client(&field("client"), client);
                self.between(&field("attempts"), "attempts", *attempts, 1, 100);
            }
            Action::RateLimit(rate) => {
                if !limits(rate.0) {
                    self.error(
                        &argument(0),
                        "this limit lets nothing through",
                        "write a rate such as \"4_500/s\"",
                    );
                }
            }
            Action::NoRateLimit => {}
            Action::Scale { service, instances } => {
                self.service(&field("service"), service);
                self.between(&field("instances"), "instances", *instances, 1, 1_000);
            }
            Action::QueryAttempts { service, attempts } => {
                self.service_with_pool(&field("service"), service);
                self.between(&field("attempts"), "attempts", *attempts, 1, 100);
            }
            Action::PoolSize { service, pool, size } => {
                self.pool(&field("service"), &field("pool"), service, pool.as_deref());
                self.between(&field("size"), "connections", *size, 1, 100_000);
            }
            Action::FlushCache(cache) | Action::StopWarming(cache) => {
                self.cache(&argument(0), cache);
            }
            Action::WarmCache { cache, keys, rate } => {
                self.cache(&field("cache"), cache);
                self.between(&field("keys"), "keys", *keys, 1, 100_000_000);
                if !limits(rate.0) {
                    self.error(&field("rate"), "this warms nothing", "write a rate such as \"200/s\"");
                }
            }
            Action::RollingRestart { service, batch } => {
                self.service(&field("service"), service);
                self.between(&field("batch"), "instances at a time", *batch, 1, 1_000);
            }
            Action::Set(knob, setting) => {
                if self.knob(&argument(0), knob) {
                    self.setting(&argument(1), knob, *setting);
                }
            }
        }
        self.found.len() == before
    }
}

/// A lever as it stands in a file.
fn written(lever: &Lever) -> String {
    match lever {
        Lever::PoolSize { service, pool: None } => format!("PoolSize(service: \"{service}\")"),
        Lever::PoolSize { service, pool: Some(pool) } => {
            format!("PoolSize(service: \"{service}\", pool: \"{pool}\")")
        }
        lever => ron::to_string(lever).unwrap_or_default(),
    }
}
