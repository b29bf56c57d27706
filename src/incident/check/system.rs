//! Checks of the system, of what happens in it, and of what can be done to it.

use std::collections::BTreeSet;

use super::Checker;
use crate::incident::diagnose::Severity;
use crate::incident::locate::{Path, Step, place};
use crate::incident::schema::{Action, Fault, Keys, Lever, ReadPath, Spread};
use crate::sim::spec::Spec;
use crate::units::{SimSpan, TimeOfDay};

impl Checker<'_> {
    pub(super) fn system(&mut self, spec: &Spec) {
        let system = &self.file.system;
        let before = self.found.len();
        for (map, names) in [
            ("clients", system.clients.keys().collect::<Vec<_>>()),
            ("services", system.services.keys().collect()),
            ("caches", system.caches.keys().collect()),
            ("databases", system.databases.keys().collect()),
        ] {
            for name in names {
                self.part_name(&place!["system", map, name], name);
            }
        }
        for name in system.traffic.reads.keys() {
            self.part_name(&place!["system", "traffic", "reads", name], name);
        }
        for (name, client) in &system.clients {
            if client.timeout == Some(SimSpan::ZERO) {
                self.some_time(&place!["system", "clients", name, "timeout"], SimSpan::ZERO);
            }
        }
        for (name, read) in &system.traffic.reads {
            self.spread(place!["system", "traffic", "reads", name, "query"], read.query);
            if let Keys::Zipf { s, .. } = read.keys
                && !(0.0..=10.0).contains(&s)
            {
                let place = place!["system", "traffic", "reads", name, "keys", "s"];
                self.error(
                    &place,
                    format!("an exponent of {s} is not possible"),
                    "0 to 10 is; about 1 is usual",
                );
            }
        }
        if system.balancer.rate_limit.is_some_and(|rate| rate.0 <= 0.0) {
            let help = "leave it out for no limit";
            self.error(&place!["system", "balancer", "rate_limit"], "this limit lets nothing through", help);
        }
        if system.services.len() > 1 {
            let message = format!("there are {} services; one is possible so far", system.services.len());
            self.error(
                &place!["system", "services"],
                message,
                "keep the service that the balancer sends requests to",
            );
        }
        for (name, service) in &system.services {
            let ReadPath::CacheAside { cache, database } = &service.read;
            self.cache(&place!["system", "services", name, "read", "cache"], cache);
            let databases = system.databases.keys().map(String::as_str);
            self.known(
                &place!["system", "services", name, "read", "database"],
                "database",
                database,
                databases,
            );
            self.spread(place!["system", "services", name, "handling"], service.handling);
        }
        for (name, cache) in &system.caches {
            self.share(&place!["system", "caches", name, "warm"], cache.warm.0);
        }
        let mut hosts = BTreeSet::new();
        for (name, database) in &system.databases {
            for (i, host) in database.hosts.iter().enumerate() {
                let place = place!["system", "databases", name, "hosts", i];
                self.part_name(&place, host);
                if !hosts.insert(host) {
                    self.error(
                        &place,
                        format!("another host is called \"{host}\" too"),
                        "give each its own name",
                    );
                }
            }
            if database.memory.is_some_and(|memory| memory.pages == 0) {
                let help = "leave `memory` out when everything is always in memory";
                self.error(
                    &place!["system", "databases", name, "memory", "pages"],
                    "a table has no pages",
                    help,
                );
            }
        }
        let traffic = &system.traffic.operations;
        self.in_order(
            traffic
                .iter()
                .enumerate()
                .map(|(i, (time, _))| (place!["system", "traffic", "operations", i, 0usize], *time))
                .collect::<Vec<_>>(),
        );
        if let Some((time, _)) = traffic.first()
            && *time != self.file.clock.start
        {
            let help = format!("the first rate holds from the start on: write {}", self.file.clock.start);
            self.warn(
                &place!["system", "traffic", "operations", 0usize, 0usize],
                "traffic does not begin with the clock",
                help,
            );
        }
        // What the engine relies on. Some of it was said above already, with a name or a time in it.
        let good = self.found[before..].iter().all(|d| d.severity != Severity::Error);
        let said = ["has no cache", "has no database", "in order of time"];
        for problem in spec.problems() {
            if good || !said.iter().any(|said| problem.ends_with(said)) {
                let (place, help) = self.engine_problem(&problem);
                self.error(&place, problem, help);
            }
        }
    }

    /// A name that becomes part of series names, where `*` and braces mean something.
    pub(super) fn part_name(&mut self, path: &[Step], name: &str) {
        if name.trim().is_empty() || name.chars().any(|c| "*{}\"".contains(c) || c.is_control()) {
            let help = "series are named after it: use letters, digits, spaces and hyphens";
            self.error(path, format!("\"{name}\" cannot be the name of a part"), help);
        }
    }

    pub(super) fn spread(&mut self, mut path: Path, spread: Spread) {
        if let Spread::Erlang { k, .. } = spread {
            path.push("k".into());
            self.between(&path, "stages", k, 1, 1_000);
        }
    }

    /// Where the engine's complaint points, and what helps. The engine names the part in quotes behind its kind.
    pub(super) fn engine_problem(&self, problem: &str) -> (Path, String) {
        let system = &self.file.system;
        let sum = |shares: &mut dyn Iterator<Item = f64>| {
            // To a ten-thousandth of a per cent, without what a sum of binary fractions leaves behind.
            format!("they add up to {} %", (shares.sum::<f64>() * 1e6 + 0.5).floor() / 1e4)
        };
        if let Some((kind, rest)) = problem.split_once(" \"")
            && let Some((name, _)) = rest.split_once('"')
        {
            let place = match kind {
                "read" => place!["system", "traffic", "reads", name],
                "client" => place!["system", "clients", name],
                "service" => place!["system", "services", name],
                "database" => place!["system", "databases", name],
                _ => place!["system"],
            };
            (place, String::new())
        } else if problem.contains("shares of the reads") {
            let shares = sum(&mut system.traffic.reads.values().map(|read| read.share.0));
            (place!["system", "traffic", "reads"], shares)
        } else if problem.contains("shares of the clients") {
            (place!["system", "clients"], sum(&mut system.clients.values().map(|client| client.share.0)))
        } else if problem.contains("traffic") {
            (place!["system", "traffic", "operations"], String::new())
        } else if problem.contains("reads") || problem.contains("keys") {
            (place!["system", "traffic", "reads"], String::new())
        } else if problem.contains("client") {
            (place!["system", "clients"], String::new())
        } else if problem.contains("service") {
            (place!["system", "services"], String::new())
        } else {
            (place!["system"], String::new())
        }
    }

    pub(super) fn what_happens_and_what_can_be_done(&mut self) {
        let file = self.file;
        self.in_order(
            file.happens
                .iter()
                .enumerate()
                .map(|(i, h)| (place!["happens", i, "at"], h.at))
                .collect::<Vec<_>>(),
        );
        for (i, happening) in file.happens.iter().enumerate() {
            let Fault::CacheNodeLost { cache, survivors, .. } = &happening.what;
            self.cache(&place!["happens", i, "what", "cache"], cache);
            self.share(&place!["happens", i, "what", "survivors"], survivors.0);
        }
        match file.happens.first() {
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
        for (i, lever) in file.levers.iter().enumerate() {
            let place = place!["levers", i];
            let part = place!["levers", i, 0usize];
            match lever {
                Lever::ClientRetries(name) => self.client(&part, name),
                Lever::RateLimit => true,
                Lever::Scale(name)
                | Lever::QueryAttempts(name)
                | Lever::PoolSize(name)
                | Lever::RollingRestart(name) => self.service(&part, name),
                Lever::FlushCache(name) | Lever::WarmCache(name) => self.cache(&part, name),
            };
            if file.levers[..i].contains(lever) {
                self.warn(&place, "this lever is offered twice", "take one of them out");
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
                self.action(place!["plans", name, "steps", i, 1usize], action);
            }
        }
        if !file.plans.contains_key("senior") {
            let help = "add \"senior\": what an experienced engineer does, and when";
            self.error(&place!["plans"], "there is no plan \"senior\" to compare the player with", help);
        }
    }

    pub(super) fn breaks_after_page(&self, at: TimeOfDay) -> bool {
        let clock = self.file.clock;
        let (page, at, end) = (self.offset(clock.page), self.offset(at), self.offset(clock.end));
        self.clock_runs && page < at && at <= end
    }

    pub(super) fn action(&mut self, place: Path, action: &Action) {
        let field = |name: &str| {
            let mut place = place.clone();
            place.push(name.into());
            place
        };
        let argument = {
            let mut place = place.clone();
            place.push(0usize.into());
            place
        };
        let limits = |rate: f64| rate > 0.0 && rate <= 10_000_000.0;
        let before = self.found.len();
        let lever = match action {
            Action::ClientRetries { client, attempts } => {
                self.client(&field("client"), client);
                self.between(&field("attempts"), "attempts", *attempts, 1, 100);
                Lever::ClientRetries(client.clone())
            }
            Action::RateLimit(rate) => {
                if !limits(rate.0) {
                    self.error(
                        &argument,
                        "this limit lets nothing through",
                        "write a rate such as \"4_500/s\"",
                    );
                }
                Lever::RateLimit
            }
            Action::NoRateLimit => Lever::RateLimit,
            Action::Scale { service, instances } => {
                self.service(&field("service"), service);
                self.between(&field("instances"), "instances", *instances, 1, 1_000);
                Lever::Scale(service.clone())
            }
            Action::QueryAttempts { service, attempts } => {
                self.service(&field("service"), service);
                self.between(&field("attempts"), "attempts", *attempts, 1, 100);
                Lever::QueryAttempts(service.clone())
            }
            Action::PoolSize { service, size } => {
                self.service(&field("service"), service);
                self.between(&field("size"), "connections", *size, 1, 100_000);
                Lever::PoolSize(service.clone())
            }
            Action::FlushCache(cache) => {
                self.cache(&argument, cache);
                Lever::FlushCache(cache.clone())
            }
            Action::WarmCache { cache, keys, rate } => {
                self.cache(&field("cache"), cache);
                self.between(&field("keys"), "keys", *keys, 1, 100_000_000);
                if !limits(rate.0) {
                    self.error(&field("rate"), "this warms nothing", "write a rate such as \"200/s\"");
                }
                Lever::WarmCache(cache.clone())
            }
            Action::StopWarming(cache) => {
                self.cache(&argument, cache);
                Lever::WarmCache(cache.clone())
            }
            Action::RollingRestart { service, batch } => {
                self.service(&field("service"), service);
                self.between(&field("batch"), "instances at a time", *batch, 1, 1_000);
                Lever::RollingRestart(service.clone())
            }
        };
        // A name that does not exist has been reported already.
        if self.found.len() == before && !self.file.levers.contains(&lever) {
            let help = format!("add {} to `levers`", written(&lever));
            self.warn(&place, "no lever offers this, so a player could not do it", help);
        }
    }
}

/// A lever as it stands in a file.
fn written(lever: &Lever) -> String {
    match lever {
        Lever::RateLimit => "RateLimit".to_owned(),
        Lever::ClientRetries(name) => format!("ClientRetries(\"{name}\")"),
        Lever::Scale(name) => format!("Scale(\"{name}\")"),
        Lever::QueryAttempts(name) => format!("QueryAttempts(\"{name}\")"),
        Lever::PoolSize(name) => format!("PoolSize(\"{name}\")"),
        Lever::FlushCache(name) => format!("FlushCache(\"{name}\")"),
        Lever::WarmCache(name) => format!("WarmCache(\"{name}\")"),
        Lever::RollingRestart(name) => format!("RollingRestart(\"{name}\")"),
    }
}
