//! Checks of the system.

use std::collections::BTreeSet;

use super::Checker;
use crate::incident::diagnose::Severity;
use crate::incident::locate::{Path, Step as At, place};
use crate::incident::lower::{pool_index, readers};
use crate::incident::schema::{Backoff, Backup, Keys, Service, Spread, Step};
use crate::sim::spec::Spec;

impl Checker<'_> {
    pub(super) fn system(&mut self, spec: &Spec) {
        let before = self.found.len();
        self.names();
        self.clients();
        self.traffic();
        self.balancer();
        let file = self.file;
        for (name, service) in &file.system.services {
            self.service_parts(name, service);
        }
        self.calls();
        self.stores();
        // What the engine relies on. Some of it was said above already, with a name or a time in it.
        let good = self.found[before..].iter().all(|d| d.severity != Severity::Error);
        let said = [
            "in order of time",
            "that does not exist",
            "lead nowhere",
            "has no database",
            "lacks a pool that it uses",
            "lacks a pool that a kind of read uses",
        ];
        for problem in spec.problems() {
            if good || !said.iter().any(|said| problem.ends_with(said)) {
                let (place, help) = self.engine_problem(&problem);
                self.error(&place, problem, help);
            }
        }
    }

    fn names(&mut self) {
        let system = &self.file.system;
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
        for name in system.traffic.writes.keys() {
            let place = place!["system", "traffic", "writes", name];
            self.part_name(&place, name);
            if system.traffic.reads.contains_key(name) {
                self.error(
                    &place,
                    format!("a kind of read is called \"{name}\" too"),
                    "give each its own name",
                );
            }
        }
    }

    fn clients(&mut self) {
        for (name, client) in &self.file.system.clients {
            let field = |field: &str| place!["system", "clients", name, field];
            if let Some(timeout) = client.timeout {
                self.some_time(&field("timeout"), timeout);
            }
            if let Some(budget) = client.retry_budget {
                self.share(&field("retry_budget"), budget.0);
            }
            if let Backoff::Exponential { first, factor, cap } = client.backoff {
                if !(1.0..=1_000.0).contains(&factor) {
                    let place = place!["system", "clients", name, "backoff", "factor"];
                    self.error(
                        &place,
                        format!("a factor of {factor} is not possible"),
                        "1 to 1,000 is; 2 is usual",
                    );
                }
                if cap < first {
                    let place = place!["system", "clients", name, "backoff", "cap"];
                    self.error(&place, "the longest pause is shorter than the first one", "make it longer");
                }
            }
        }
    }

    fn traffic(&mut self) {
        let traffic = &self.file.system.traffic;
        for (name, read) in &traffic.reads {
            let field = |field: &str| place!["system", "traffic", "reads", name, field];
            self.spread(field("query"), read.query);
            self.spread(field("io"), read.io);
            self.read_pool(&field("pool"), read.pool.as_deref());
            self.share(&field("ttl_jitter"), read.ttl_jitter.0);
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
            for (what, span) in [("soft_ttl", read.soft_ttl), ("written", read.written)] {
                match (read.ttl, span) {
                    (None, Some(_)) => {
                        let message = format!("\"{name}\" is never cached, so it has no `{what}`");
                        self.error(&field(what), message, "give it a `ttl`, or take this out");
                    }
                    (Some(ttl), Some(span)) if span > ttl => {
                        let message =
                            format!("`{what}` is longer than the `ttl`, after which the value is gone");
                        self.error(&field(what), message, "make it shorter than the `ttl`");
                    }
                    _ => {}
                }
            }
        }
        for (name, write) in &traffic.writes {
            let field = |field: &str| place!["system", "traffic", "writes", name, field];
            self.spread(field("query"), write.query);
            self.spread(field("io"), write.io);
            self.read_pool(&field("pool"), write.pool.as_deref());
        }
        self.in_order(
            traffic
                .operations
                .iter()
                .enumerate()
                .map(|(i, (time, _))| (place!["system", "traffic", "operations", i, 0usize], *time))
                .collect::<Vec<_>>(),
        );
        if let Some((time, _)) = traffic.operations.first()
            && *time != self.file.clock.start
        {
            let help = format!("the first rate holds from the start on: write {}", self.file.clock.start);
            self.warn(
                &place!["system", "traffic", "operations", 0usize, 0usize],
                "traffic does not begin with the clock",
                help,
            );
        }
    }

    /// The pool that a kind of read or write uses. Every service that reads has it, at the same place in its list.
    fn read_pool(&mut self, path: &[At], pool: Option<&str>) {
        let file = self.file;
        let mut place = None;
        for (name, service) in readers(&file.system) {
            if !self.pool_of(path, name, service, pool) {
                return;
            }
            let index = pool_index(service, pool);
            if place.is_some_and(|(_, other)| other != index) {
                let message = format!("service \"{name}\" keeps this pool at another place in its list");
                let help = "give the services that read pools of the same names";
                self.error(path, message, help);
                return;
            }
            place = Some((name, index));
        }
    }

    /// A pool of a service: the one that is named, or the only one.
    pub(super) fn pool_of(&mut self, path: &[At], name: &str, service: &Service, pool: Option<&str>) -> bool {
        let pools = service.pools.keys().map(String::as_str);
        match pool {
            Some(pool) => self.known(path, &format!("pool of service \"{name}\" called"), pool, pools),
            None if service.pools.len() == 1 => true,
            None => {
                let names: Vec<String> = pools.map(|pool| format!("\"{pool}\"")).collect();
                let help = match names.as_slice() {
                    [] => "add one: pools: { \"main\": (size: 10, …) }".to_owned(),
                    names => format!("say which: pool: {}", names.join(" or ")),
                };
                self.error(path, format!("service \"{name}\" has {} pools", names.len()), help);
                false
            }
        }
    }

    fn balancer(&mut self) {
        let system = &self.file.system;
        let balancer = &system.balancer;
        if balancer.rate_limit.is_some_and(|rate| rate.0 <= 0.0) {
            let help = "leave it out for no limit";
            self.error(&place!["system", "balancer", "rate_limit"], "this limit lets nothing through", help);
        }
        for (name, share) in &balancer.routes {
            let place = place!["system", "balancer", "routes", name];
            self.service(&place, name);
            self.share(&place, share.0);
        }
        if balancer.routes.is_empty() && system.services.len() > 1 {
            let message =
                format!("there are {} services, and no route to any of them", system.services.len());
            self.error(
                &place!["system", "balancer"],
                message,
                "say where requests go: routes: {\"edge\": \"100%\"}",
            );
        }
    }

    fn service_parts(&mut self, name: &str, service: &Service) {
        let field = |field: &str| place!["system", "services", name, field];
        let file = self.file;
        if let Some(cache) = &service.cache {
            self.cache(&field("cache"), cache);
        }
        if let Some(database) = &service.database {
            self.database(&field("database"), database);
        }
        self.spread(field("handling"), service.handling);
        if let Some(deadline) = service.deadline {
            self.some_time(&field("deadline"), deadline);
        }
        for pool in service.pools.keys() {
            self.part_name(&place!["system", "services", name, "pools", pool], pool);
        }
        let queries = service.steps.iter().any(|step| matches!(step, Step::Read | Step::Query { .. }));
        if queries && service.database.is_none() {
            let help = match file.system.databases.keys().next() {
                Some(known) => format!("add database: \"{known}\", or take its steps `Read` and `Query` out"),
                None => "describe a database, or take its steps `Read` and `Query` out".to_owned(),
            };
            self.error(&field("steps"), format!("service \"{name}\" queries and has no database"), help);
        }
        let mut names = BTreeSet::new();
        for (i, step) in service.steps.iter().enumerate() {
            let field = |field: &str| place!["system", "services", name, "steps", i, field];
            if let Some(step) = step.name() {
                self.part_name(&field("name"), step);
                if !names.insert(step) {
                    let message = format!("another step of this service is called \"{step}\" too");
                    self.error(&field("name"), message, "give each its own name");
                }
            }
            match step {
                Step::Read => {}
                Step::Work { takes, .. } => self.spread(field("takes"), *takes),
                Step::Query { query, io, pool, .. } => {
                    self.spread(field("query"), *query);
                    self.spread(field("io"), *io);
                    self.pool_of(&field("pool"), name, service, pool.as_deref());
                }
                Step::Call { service: called, timeout, attempts, confirm, .. } => {
                    self.service(&field("service"), called);
                    self.some_time(&field("timeout"), *timeout);
                    self.between(&field("attempts"), "attempts", *attempts, 1, 100);
                    if let Some(confirm) = confirm {
                        let place = place!["system", "services", name, "steps", i, "confirm", "service"];
                        self.service(&place, &confirm.service);
                    }
                }
            }
        }
        self.reading(name, service);
    }

    fn reading(&mut self, name: &str, service: &Service) {
        let reading = &service.reading;
        let field = |field: &str| place!["system", "services", name, "reading", field];
        let inner = |outer: &str, inner: &str| place!["system", "services", name, "reading", outer, inner];
        if let Some(lock) = reading.lock {
            self.some_time(&inner("lock", "ttl"), lock.ttl);
            if lock.wait.0 > lock.wait.1 {
                self.error(
                    &inner("lock", "wait"),
                    "the shortest wait is longer than the longest",
                    "swap the two",
                );
            }
        }
        if reading.origin.rate.is_some_and(|rate| rate.0 <= 0.0) {
            let help = "leave it out for no limit";
            self.error(&inner("origin", "rate"), "this limit lets no read of the source start", help);
        }
        if let Some(at_once) = reading.origin.at_once {
            self.between(&inner("origin", "at_once"), "reads at once", at_once, 1, 1_000_000);
        }
        if let Some(local) = reading.local {
            self.between(&inner("local", "entries"), "entries", local.entries, 1, 100_000_000);
        }
        if let Some(breaker) = reading.breaker {
            self.between(&inner("breaker", "failures"), "failures", breaker.failures, 1, 1_000_000);
        }
        self.between(&field("cache_attempts"), "calls", reading.cache_attempts, 1, 100);
        let uses_cache = [
            ("serve_stale", reading.serve_stale),
            ("coalesce", reading.coalesce),
            ("lock", reading.lock.is_some()),
            ("local", reading.local.is_some()),
            ("breaker", reading.breaker.is_some()),
        ];
        for (what, _) in uses_cache.iter().filter(|(_, used)| *used && service.cache.is_none()) {
            let message = format!("service \"{name}\" has no cache, so `{what}` does nothing");
            self.error(&field(what), message, "name its cache, or take this out");
        }
    }

    /// Calls by name: series and levers tell them apart by it. And services that nothing reaches.
    fn calls(&mut self) {
        let system = &self.file.system;
        let mut names = BTreeSet::new();
        let mut reached: BTreeSet<&str> = system.balancer.routes.keys().map(String::as_str).collect();
        for (service, parts) in &system.services {
            for (i, step) in parts.steps.iter().enumerate() {
                let Step::Call { name, service: called, .. } = step else { continue };
                reached.insert(called);
                if !names.insert(name) {
                    let place = place!["system", "services", service, "steps", i, "name"];
                    let message = format!("a call of another service is called \"{name}\" too");
                    self.error(&place, message, "series are named after calls: give each its own name");
                }
            }
        }
        // Without any route, that is what is said.
        if !system.balancer.routes.is_empty() {
            for name in system.services.keys().filter(|name| !reached.contains(name.as_str())) {
                let message = format!("no route and no call leads to service \"{name}\"");
                self.warn(
                    &place!["system", "services", name],
                    message,
                    "route to it, call it, or take it out",
                );
            }
        }
    }

    fn stores(&mut self) {
        let system = &self.file.system;
        for (name, cache) in &system.caches {
            self.share(&place!["system", "caches", name, "warm"], cache.warm.0);
            self.between(&place!["system", "caches", name, "nodes"], "nodes", cache.nodes, 1, 10_000);
            if let Some(Backup::Replica { nodes, .. } | Backup::Gutter { nodes, .. }) = cache.backup {
                let place = place!["system", "caches", name, "backup", "nodes"];
                self.between(&place, "nodes", nodes, 1, 10_000);
            }
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
            if let Some(slow) = database.slow_query {
                self.some_time(&place!["system", "databases", name, "slow_query"], slow);
            }
        }
    }

    /// A name that becomes part of series names, where `*` and braces mean something.
    pub(super) fn part_name(&mut self, path: &[At], name: &str) {
        if name.trim().is_empty() || name.chars().any(|c| "*{}\"".contains(c) || c.is_control()) {
            let help = "series are named after it: use letters, digits, spaces and hyphens";
            self.error(path, format!("\"{name}\" cannot be the name of a part"), help);
        }
    }

    pub(super) fn spread(&mut self, mut path: Path, spread: Spread) {
        match spread {
            Spread::Erlang { k, .. } => {
                path.push("k".into());
                self.between(&path, "stages", k, 1, 1_000);
            }
            Spread::Uniform { low, high } if low > high => {
                self.error(&path, "the shortest time is longer than the longest", "swap the two");
            }
            Spread::Fixed(_) | Spread::Exponential(_) | Spread::Uniform { .. } => {}
        }
    }

    /// Where the engine's complaint points, and what helps. The engine names the part in quotes behind its kind.
    pub(super) fn engine_problem(&self, problem: &str) -> (Path, String) {
        let system = &self.file.system;
        let sum = |shares: &mut dyn Iterator<Item = f64>| {
            // To a ten-thousandth of a per cent, without what a sum of binary fractions leaves behind.
            format!("they add up to {} %", (shares.sum::<f64>() * 1e6 + 0.5).floor() / 1e4)
        };
        let quoted: Vec<&str> = problem.split('"').skip(1).step_by(2).collect();
        let kind = problem.split_once(" \"").map_or("", |(kind, _)| kind);
        let traffic = &system.traffic;
        match (kind, quoted.as_slice()) {
            ("read", [name, ..]) => {
                let map = if traffic.writes.contains_key(*name) { "writes" } else { "reads" };
                return (place!["system", "traffic", map, *name], String::new());
            }
            ("client", [name, ..]) => return (place!["system", "clients", *name], String::new()),
            ("service", [name, ..]) => return (place!["system", "services", *name], String::new()),
            ("database", [name, ..]) => return (place!["system", "databases", *name], String::new()),
            ("pool", [pool, service, ..]) => {
                return (place!["system", "services", *service, "pools", *pool], String::new());
            }
            _ => {}
        }
        if problem.contains("shares of the reads") {
            let reads = traffic.reads.values().map(|read| read.share.0);
            let shares = sum(&mut reads.chain(traffic.writes.values().map(|write| write.share.0)));
            (place!["system", "traffic", "reads"], shares)
        } else if problem.contains("shares of the clients") {
            (place!["system", "clients"], sum(&mut system.clients.values().map(|client| client.share.0)))
        } else if problem.contains("routes") {
            (
                place!["system", "balancer", "routes"],
                sum(&mut system.balancer.routes.values().map(|share| share.0)),
            )
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
}
