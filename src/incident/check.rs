//! Checks of a file that reads well: names that exist, times on the clock, shares that add up, a system that the
//! engine can run, references of the story to the telemetry.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::diagnose::{Diagnostic, Severity, closest};
use super::locate::{Outline, Path, Step, place};
use super::lower::span_of_day;
use super::schema::{
    Action, Ask, Band, Condition, Fault, IncidentFile, Lever, Part, ReadPath, Reading, Spread,
};
use crate::sim::meter::ATTEMPTS_TOLD_APART;
use crate::sim::spec::Spec;
use crate::telemetry::{instance_name, matches};
use crate::units::{SimSpan, TimeOfDay};

/// The log streams of a run: what `log:STREAM` in a file can name.
pub const LOG_STREAMS: [&str; 8] = [
    "access",
    "query_timeout",
    "connection_refused",
    "pool_timeout",
    "rate_limited",
    "client_gone",
    "cache",
    "instance",
];

/// What a reading can rest on beside series and log streams.
const SOURCES: [&str; 3] = ["traces", "changes", "runbook"];

/// Series that a run of any system records.
const SERIES: [&str; 32] = [
    "operations.started",
    "operations.served",
    "operations.late",
    "operations.shed",
    "operations.failed",
    "operations.failure_ratio",
    "requests.received",
    "requests.ok",
    "requests.errors",
    "requests.rejected",
    "requests.abandoned",
    "requests.retry_ratio",
    "requests.failure_ratio",
    "latency.p50",
    "latency.p95",
    "latency.p99",
    "cache.hit_ratio",
    "cache.lookups",
    "cache.fills",
    "db.cpu",
    "db.queries",
    "db.queries.misses",
    "db.queries.retries",
    "db.finished",
    "db.timeouts",
    "db.refused",
    "db.connections",
    "attempts.per_operation",
    "queries.per_operation",
    "pool.in_use",
    "pool.waiting",
    "warm.keys",
];

/// The series that a run of a system records from its first second on, sorted. Instances that are started later add
/// series of their own.
pub fn series_names(spec: &Spec) -> Vec<String> {
    let mut names: BTreeSet<String> = SERIES.iter().map(|&name| name.to_owned()).collect();
    let attempts = spec.clients.iter().map(|client| client.attempts as usize).max().unwrap_or(1);
    names.extend((1..=attempts.min(ATTEMPTS_TOLD_APART)).map(|n| format!("requests.attempt.{n}")));
    names.extend(spec.clients.iter().map(|client| format!("client.attempts_allowed.{}", client.name)));
    for read in spec.reads.iter().filter(|read| read.ttl.is_some()) {
        names.insert(format!("cache.hit_ratio.{}", read.name));
    }
    for service in &spec.services {
        names.insert(format!("service.instances.{}", service.name));
        names.insert(format!("service.starting.{}", service.name));
        let instances = service.instances.min(1_000) as usize;
        names.extend((0..instances).map(|i| format!("pool.in_use.{}", instance_name(&service.name, i))));
    }
    for host in spec.databases.iter().flat_map(|database| &database.hosts) {
        names.extend(["cpu", "running", "connections"].map(|what| format!("db.{what}.{host}")));
    }
    names.into_iter().collect()
}

/// Everything that is wrong with a file, in the order of its text. `spec` is what the file was lowered to.
pub(super) fn check(
    label: &str,
    text: &str,
    outline: &Outline,
    file: &IncidentFile,
    spec: &Spec,
) -> Vec<Diagnostic> {
    let mut checker = Checker {
        label,
        text,
        outline,
        file,
        series: series_names(spec),
        clock_runs: true,
        found: Vec::new(),
    };
    checker.head();
    checker.clock();
    checker.system(spec);
    checker.what_happens_and_what_can_be_done();
    checker.what_can_be_seen();
    checker.people();
    checker.what_is_asked();
    checker.what_is_true();
    checker.expectations();
    for (name, span) in outline.twice() {
        checker.at(
            Severity::Error,
            span.clone(),
            format!("\"{name}\" stands twice in the same map"),
            "rename one of the two, or take it out",
        );
    }
    checker.found.sort_by_key(|d| d.span.as_ref().map_or(0, |span| span.start));
    checker.found
}

struct Checker<'a> {
    label: &'a str,
    text: &'a str,
    outline: &'a Outline,
    file: &'a IncidentFile,
    /// Series that a run will have.
    series: Vec<String>,
    /// Whether the clock is good enough to check times against.
    clock_runs: bool,
    found: Vec<Diagnostic>,
}

impl Checker<'_> {
    fn at(&mut self, severity: Severity, span: Range<usize>, message: String, help: &str) {
        let help = (!help.is_empty()).then(|| help.to_owned());
        self.found.push(Diagnostic::new(severity, self.label, self.text, span, message, help));
    }

    fn error(&mut self, path: &[Step], message: impl Into<String>, help: impl AsRef<str>) {
        self.at(Severity::Error, self.outline.find(self.text, path), message.into(), help.as_ref());
    }

    fn warn(&mut self, path: &[Step], message: impl Into<String>, help: impl AsRef<str>) {
        self.at(Severity::Warning, self.outline.find(self.text, path), message.into(), help.as_ref());
    }

    /// The part of a value's text that reads `needle`, else the value.
    fn within(&self, path: &[Step], needle: &str) -> Range<usize> {
        let exact = self.outline.find_exactly(path).unwrap_or(0..0);
        match self.text.get(exact.clone()).and_then(|value| value.find(needle)) {
            Some(i) if !needle.is_empty() => exact.start + i..exact.start + i + needle.len(),
            _ => self.outline.find(self.text, path),
        }
    }

    // ------------------------------------------------------------------------------------ rules used everywhere

    /// A text that must not be empty.
    fn said(&mut self, path: &[Step], text: &str) {
        if text.trim().is_empty() {
            self.error(path, "this text is empty", "write it, or leave the whole entry out");
        }
    }

    /// A name of lower-case letters, digits and hyphens.
    fn id(&mut self, path: &[Step], id: &str) {
        let good = id.starts_with(|c: char| c.is_ascii_lowercase())
            && !id.ends_with('-')
            && !id.contains("--")
            && id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        if !good {
            let help =
                "use lower-case letters, digits and single hyphens, beginning with a letter: \"cold-cache\"";
            self.error(path, format!("\"{id}\" cannot be a name here"), help);
        }
    }

    /// Ids that must differ from each other.
    fn ids<'b>(&mut self, what: &str, ids: impl IntoIterator<Item = (Path, &'b str)>) {
        let mut seen = BTreeSet::new();
        for (path, id) in ids {
            self.id(&path, id);
            if !seen.insert(id) {
                self.error(&path, format!("another {what} is called \"{id}\" too"), "give each its own name");
            }
        }
    }

    /// A name that must be among others.
    fn known<'b>(
        &mut self,
        path: &[Step],
        what: &str,
        name: &str,
        known: impl Iterator<Item = &'b str> + Clone,
    ) -> bool {
        if known.clone().any(|k| k == name) {
            return true;
        }
        let help = match closest(name, known.clone()) {
            Some(meant) => format!("did you mean \"{meant}\"?"),
            None => match known.collect::<Vec<_>>() {
                names if names.is_empty() => format!("the file has no {what}"),
                names if names.len() <= 12 => format!("there is {}", quoted(&names)),
                _ => "`pagerdrill show --names` lists what a file can name".to_owned(),
            },
        };
        self.error(path, format!("there is no {what} \"{name}\""), help);
        false
    }

    fn client(&mut self, path: &[Step], name: &str) -> bool {
        let file = self.file;
        self.known(path, "client population", name, file.system.clients.keys().map(String::as_str))
    }

    fn service(&mut self, path: &[Step], name: &str) -> bool {
        let file = self.file;
        self.known(path, "service", name, file.system.services.keys().map(String::as_str))
    }

    fn cache(&mut self, path: &[Step], name: &str) -> bool {
        let file = self.file;
        self.known(path, "cache", name, file.system.caches.keys().map(String::as_str))
    }

    fn person(&mut self, path: &[Step], name: &str) {
        let file = self.file;
        self.known(path, "person", name, file.people.keys().map(String::as_str));
    }

    /// A recorded series by its whole name.
    fn one_series(&mut self, path: &[Step], name: &str) {
        self.series_at(self.outline.find(self.text, path), name);
    }

    fn series_at(&mut self, span: Range<usize>, name: &str) {
        if self.series.binary_search_by(|known| known.as_str().cmp(name)).is_ok() {
            return;
        }
        let help = if name.contains('*') {
            "a `*` is possible in panels and in the readings Min and Max; name one series here".to_owned()
        } else {
            self.series_help(name)
        };
        self.at(Severity::Error, span, format!("no series \"{name}\" is recorded"), &help);
    }

    fn series_help(&self, name: &str) -> String {
        if let Some(meant) = closest(name, self.series.iter().map(String::as_str)) {
            return format!("did you mean \"{meant}\"?");
        }
        let family = name.split(['.', '*']).next().unwrap_or(name);
        let near: Vec<&str> = self
            .series
            .iter()
            .map(String::as_str)
            .filter(|known| known.split('.').next() == Some(family))
            .take(12)
            .collect();
        if near.is_empty() {
            let families: BTreeSet<&str> = self.series.iter().filter_map(|s| s.split('.').next()).collect();
            format!("names begin with {}", quoted(&families.into_iter().collect::<Vec<_>>()))
        } else {
            format!("recorded are {}", quoted(&near))
        }
    }

    /// A recorded series, or a pattern that takes at least one.
    fn series_pattern(&mut self, path: &[Step], pattern: &str) {
        if !self.series.iter().any(|name| matches(pattern, name)) {
            let help = self.series_help(pattern);
            self.error(path, format!("\"{pattern}\" matches no recorded series"), help);
        }
    }

    /// A series, a log stream, or another part of the screen.
    fn source(&mut self, path: &[Step], name: &str) {
        if let Some(stream) = name.strip_prefix("log:") {
            self.known(path, "log stream", stream, LOG_STREAMS.into_iter());
        } else if !SOURCES.contains(&name) {
            if self.series.iter().any(|series| series == name) {
                return;
            }
            let help = match closest(name, SOURCES) {
                Some(meant) => format!("did you mean \"{meant}\"?"),
                None => format!(
                    "{}; or \"log:STREAM\", \"traces\", \"changes\", \"runbook\"",
                    self.series_help(name)
                ),
            };
            self.error(path, format!("nothing on the screen is called \"{name}\""), help);
        }
    }

    /// The `{series.name}` of a text.
    fn placeholders(&mut self, path: &[Step], text: &str) {
        self.said(path, text);
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            let Some(close) = rest[open..].find('}') else {
                let span = self.within(path, "{");
                let help = "close it: {series.name}";
                self.at(Severity::Error, span, "a `{` in this text is not closed".to_owned(), help);
                return;
            };
            let name = &rest[open + 1..open + close];
            let span = self.within(path, &rest[open..=open + close]);
            self.series_at(span, name);
            rest = &rest[open + close + 1..];
        }
    }

    /// A time of day on the incident's clock.
    fn on_clock(&mut self, path: &[Step], time: TimeOfDay) -> bool {
        let clock = self.file.clock;
        if !self.clock_runs || self.offset(time) <= self.offset(clock.end) {
            return true;
        }
        let help = format!("the clock runs from {} to {}", clock.start, clock.end);
        self.error(path, format!("{time} is outside the incident's clock"), help);
        false
    }

    fn offset(&self, time: TimeOfDay) -> SimSpan {
        span_of_day(self.file.clock.start, time)
    }

    /// Times on the clock, each no earlier than the one before.
    fn in_order(&mut self, times: impl IntoIterator<Item = (Path, TimeOfDay)>) {
        let mut before: Option<TimeOfDay> = None;
        for (path, time) in times {
            if !self.on_clock(&path, time) {
                continue;
            }
            match before {
                Some(earlier) if self.clock_runs && self.offset(time) < self.offset(earlier) => {
                    let message = format!("{time} stands behind {earlier}, which is later");
                    self.error(&path, message, "put the entries in order of time");
                }
                _ => before = Some(time),
            }
        }
    }

    fn window(&mut self, path: &[Step], (from, to): (TimeOfDay, TimeOfDay)) {
        let on = [0usize, 1].map(|i| {
            let mut end = path.to_vec();
            end.push(i.into());
            self.on_clock(&end, [from, to][i])
        });
        if self.clock_runs && on == [true, true] && self.offset(to) < self.offset(from) {
            self.error(path, format!("this window ends at {to}, before it begins"), "swap the two times");
        }
    }

    fn share(&mut self, path: &[Step], ratio: f64) {
        if !(0.0..=1.0).contains(&ratio) {
            self.error(path, "a share above 100 % is not possible here", "write 0% to 100%");
        }
    }

    fn finite(&mut self, path: &[Step], value: f64) {
        if !value.is_finite() {
            self.error(path, "this is not a finite number", "");
        }
    }

    fn condition(&mut self, path: &[Step], condition: Condition) {
        let (Condition::Above(value) | Condition::Below(value)) = condition;
        self.finite(path, value);
    }

    fn between(&mut self, path: &[Step], what: &str, value: u32, from: u32, to: u32) {
        if !(from..=to).contains(&value) {
            self.error(path, format!("{value} {what} is not possible"), format!("{from} to {to} is"));
        }
    }

    fn some_time(&mut self, path: &[Step], span: SimSpan) {
        if span == SimSpan::ZERO {
            self.error(path, "this cannot take no time at all", "write a length of time such as \"2s\"");
        }
    }

    // ------------------------------------------------------------------------------------ part by part

    fn head(&mut self) {
        let file = self.file;
        self.id(&place!["id"], &file.id);
        self.said(&place!["title"], &file.title);
        self.said(&place!["summary"], &file.summary);
        self.said(&place!["source"], &file.source);
        self.between(&place!["minutes"], "minutes", file.minutes, 1, 600);
        let objective = file.slo.objective.0;
        if !(objective > 0.0 && objective < 1.0) {
            let help = "write a share below 100 %, such as \"99.9%\": the rest is the error budget";
            self.error(
                &place!["slo", "objective"],
                "this objective leaves no error budget or promises nothing",
                help,
            );
        }
        self.some_time(&place!["slo", "window"], file.slo.window);
        self.some_time(&place!["slo", "late_after"], file.slo.late_after);
        self.said(&place!["briefing", "role"], &file.briefing.role);
        for line in file.briefing.diagram.lines() {
            let columns = line.chars().count();
            if columns > DIAGRAM_COLUMNS {
                let span = self.within(&place!["briefing", "diagram"], line);
                let message = format!(
                    "this line of the diagram has {columns} columns; {DIAGRAM_COLUMNS} fit everywhere"
                );
                self.at(Severity::Error, span, message, "make the drawing narrower");
            }
        }
    }

    fn clock(&mut self) {
        let clock = self.file.clock;
        if clock.start == clock.end {
            self.clock_runs = false;
            self.error(&place!["clock", "end"], "the clock ends when it starts", "let it end later");
        } else if self.on_clock(&place!["clock", "page"], clock.page) {
            if clock.page == clock.start {
                let help = "let some minutes pass first: a player needs to see what healthy looks like";
                self.warn(&place!["clock", "page"], "the page comes at the start of the clock", help);
            }
        } else {
            self.clock_runs = false;
        }
    }

    fn system(&mut self, spec: &Spec) {
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
            if let super::schema::Keys::Zipf { s, .. } = read.keys
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
    fn part_name(&mut self, path: &[Step], name: &str) {
        if name.trim().is_empty() || name.chars().any(|c| "*{}\"".contains(c) || c.is_control()) {
            let help = "series are named after it: use letters, digits, spaces and hyphens";
            self.error(path, format!("\"{name}\" cannot be the name of a part"), help);
        }
    }

    fn spread(&mut self, mut path: Path, spread: Spread) {
        if let Spread::Erlang { k, .. } = spread {
            path.push("k".into());
            self.between(&path, "stages", k, 1, 1_000);
        }
    }

    /// Where the engine's complaint points, and what helps. The engine names the part in quotes behind its kind.
    fn engine_problem(&self, problem: &str) -> (Path, String) {
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

    fn what_happens_and_what_can_be_done(&mut self) {
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

    fn breaks_after_page(&self, at: TimeOfDay) -> bool {
        let clock = self.file.clock;
        let (page, at, end) = (self.offset(clock.page), self.offset(at), self.offset(clock.end));
        self.clock_runs && page < at && at <= end
    }

    fn action(&mut self, place: Path, action: &Action) {
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

    fn what_can_be_seen(&mut self) {
        let file = self.file;
        self.placeholders(&place!["page", "text"], &file.page.text);
        for (i, alert) in file.alerts.iter().enumerate() {
            self.said(&place!["alerts", i, "name"], &alert.name);
            self.one_series(&place!["alerts", i, "series"], &alert.series);
            self.condition(&place!["alerts", i, "when"], alert.when);
            self.placeholders(&place!["alerts", i, "text"], &alert.text);
        }
        if file.dashboards.is_empty() {
            self.error(&place!["dashboards"], "there is no dashboard", "add at least one with a panel");
        }
        for (i, dashboard) in file.dashboards.iter().enumerate() {
            self.said(&place!["dashboards", i, "title"], &dashboard.title);
            if dashboard.panels.is_empty() {
                self.error(
                    &place!["dashboards", i],
                    "this dashboard has no panels",
                    "add one, or take it out",
                );
            }
            for (j, panel) in dashboard.panels.iter().enumerate() {
                let place = place!["dashboards", i, "panels", j];
                self.said(&place!["dashboards", i, "panels", j, "title"], &panel.title);
                if panel.series.is_empty() {
                    self.error(&place, format!("the panel \"{}\" shows no series", panel.title), "name some");
                }
                for (k, series) in panel.series.iter().enumerate() {
                    self.series_pattern(&place!["dashboards", i, "panels", j, "series", k], series);
                }
                if let Some((value, _)) = &panel.threshold {
                    self.finite(&place!["dashboards", i, "panels", j, "threshold", 0usize], *value);
                }
            }
        }
        for (i, change) in file.changes.iter().enumerate() {
            self.said(&place!["changes", i, "what"], &change.what);
            if change.kind.trim().is_empty() || change.kind.contains(char::is_whitespace) {
                let help = "use one word: deploy, flag, config, maintenance, failover";
                self.error(
                    &place!["changes", i, "kind"],
                    format!("\"{}\" is not one word", change.kind),
                    help,
                );
            }
        }
        for (i, section) in file.runbook.iter().enumerate() {
            self.said(&place!["runbook", i, "title"], &section.title);
            if section.text.is_empty() {
                self.error(
                    &place!["runbook", i],
                    "this section of the runbook is empty",
                    "write it or take it out",
                );
            }
        }
    }

    fn people(&mut self) {
        let file = self.file;
        for (name, person) in &file.people {
            self.said(&place!["people", name, "name"], &person.name);
            self.said(&place!["people", name, "role"], &person.role);
        }
        let messages = file.messages.iter().enumerate();
        self.in_order(messages.map(|(i, m)| (place!["messages", i, "at"], m.at)).collect::<Vec<_>>());
        for (i, message) in file.messages.iter().enumerate() {
            self.person(&place!["messages", i, "from"], &message.from);
            self.placeholders(&place!["messages", i, "text"], &message.text);
            let replies = &message.replies;
            if !replies.is_empty() && (replies.len() < 2 || !replies.iter().any(|reply| reply.fits)) {
                let help = "give at least two replies, one of them with `fits: true`";
                self.warn(&place!["messages", i, "replies"], "there is nothing to choose between", help);
            }
        }
        let proposals = file.proposals.iter().enumerate();
        self.in_order(
            proposals.clone().map(|(i, p)| (place!["proposals", i, "at"], p.at)).collect::<Vec<_>>(),
        );
        let ids = proposals.map(|(i, p)| (place!["proposals", i, "id"], p.id.as_str()));
        self.ids("proposal", ids.collect::<Vec<_>>());
        for (i, proposal) in file.proposals.iter().enumerate() {
            self.person(&place!["proposals", i, "from"], &proposal.from);
            self.placeholders(&place!["proposals", i, "text"], &proposal.text);
            self.action(place!["proposals", i, "action"], &proposal.action);
        }
    }

    fn what_is_asked(&mut self) {
        let file = self.file;
        if file.stages.is_empty() {
            self.error(
                &place!["stages"],
                "there is no stage",
                "a guided run needs at least one, opening at the page",
            );
        }
        let stages = file.stages.iter().enumerate();
        self.in_order(
            stages.clone().map(|(i, s)| (place!["stages", i, "opens"], s.opens)).collect::<Vec<_>>(),
        );
        let ids = stages.flat_map(|(i, stage)| {
            stage
                .asks
                .iter()
                .enumerate()
                .map(move |(j, ask)| (place!["stages", i, "asks", j, "id"], ask.id()))
        });
        self.ids("question", ids.collect::<Vec<_>>());
        for (i, stage) in file.stages.iter().enumerate() {
            self.said(&place!["stages", i, "title"], &stage.title);
            self.said(&place!["stages", i, "text"], &stage.text);
            if self.clock_runs && self.offset(stage.opens) < self.offset(file.clock.page) {
                let help = format!("the page comes at {}", file.clock.page);
                self.warn(&place!["stages", i, "opens"], "this stage opens before the page", help);
            }
            if stage.hints.len() > HINTS {
                let message = format!("this stage has {} hints; up to {HINTS} are shown", stage.hints.len());
                self.error(
                    &place!["stages", i, "hints"],
                    message,
                    "keep those that say more, one after another",
                );
            }
            for (j, ask) in stage.asks.iter().enumerate() {
                match ask {
                    Ask::Predict { question, series, within, .. } => {
                        self.said(&place!["stages", i, "asks", j, "question"], question);
                        self.one_series(&place!["stages", i, "asks", j, "series"], series);
                        let place = place!["stages", i, "asks", j, "within"];
                        self.some_time(&place, *within);
                        let left = self.offset(file.clock.end).0.saturating_sub(self.offset(stage.opens).0);
                        if self.clock_runs && within.0 > left {
                            let help = format!("the clock ends at {}", file.clock.end);
                            self.warn(&place, "the run ends before this prediction is answered", help);
                        }
                    }
                    Ask::Choose { question, options, .. } => {
                        self.said(&place!["stages", i, "asks", j, "question"], question);
                        let place = place!["stages", i, "asks", j, "options"];
                        if options.len() < 2 {
                            self.error(
                                &place,
                                "there is nothing to choose between",
                                "give at least two options",
                            );
                        } else if !options.iter().any(|option| option.fits) {
                            self.error(
                                &place,
                                "no option fits",
                                "mark what the screen supports with `fits: true`",
                            );
                        } else if options.iter().all(|option| option.fits) {
                            self.warn(
                                &place,
                                "every option fits",
                                "add a reading that the screen contradicts",
                            );
                        }
                    }
                }
            }
        }
        let hypotheses = file.hypotheses.iter().enumerate();
        let ids = hypotheses.map(|(i, h)| (place!["hypotheses", i, "id"], h.id.as_str()));
        self.ids("hypothesis", ids.collect::<Vec<_>>());
        for (i, hypothesis) in file.hypotheses.iter().enumerate() {
            self.said(&place!["hypotheses", i, "text"], &hypothesis.text);
            for (j, source) in hypothesis.decided_by.iter().enumerate() {
                self.source(&place!["hypotheses", i, "decided_by", j], source);
            }
            if hypothesis.decided_by.is_empty() {
                let help = "name the series, logs or changes that decide it: it is unfair otherwise";
                self.error(
                    &place!["hypotheses", i, "decided_by"],
                    "nothing on the screen decides this",
                    help,
                );
            }
        }
        let true_ones = file.hypotheses.iter().filter(|h| h.holds).count();
        if true_ones == 0 || true_ones == file.hypotheses.len() {
            let help = "have some that hold and some that do not";
            self.warn(
                &place!["hypotheses"],
                "the explanations are all alike, so nothing is to be found out",
                help,
            );
        }
    }

    fn what_is_true(&mut self) {
        let file = self.file;
        let mechanism = &file.mechanism;
        let mut parts: Vec<(Path, &Part)> = vec![
            (place!["mechanism", "trigger"], &mechanism.trigger),
            (place!["mechanism", "bottleneck"], &mechanism.bottleneck),
        ];
        for (name, several) in [
            ("amplifiers", &mechanism.amplifiers),
            ("contributing", &mechanism.contributing),
            ("red_herrings", &mechanism.red_herrings),
        ] {
            parts.extend(several.iter().enumerate().map(|(i, part)| (place!["mechanism", name, i], part)));
        }
        let under = |place: &Path, name: &str| {
            let mut place = place.clone();
            place.push(name.into());
            place
        };
        for (place, part) in &parts {
            self.said(&under(place, "text"), &part.text);
        }
        self.ids("part of the mechanism", parts.iter().map(|(place, p)| (under(place, "id"), p.id.as_str())));
        for (i, step) in mechanism.sustained_by.iter().enumerate() {
            self.one_series(&place!["mechanism", "sustained_by", i, "series"], &step.series);
        }
        if mechanism.red_herrings.is_empty() {
            let help = "add parts that somebody might believe in";
            self.warn(
                &place!["mechanism", "red_herrings"],
                "a finding has only true parts to choose from",
                help,
            );
        }
        let comments = file.commentary.iter().enumerate();
        self.in_order(comments.map(|(i, c)| (place!["commentary", i, "at"], c.at)).collect::<Vec<_>>());
        for (i, comment) in file.commentary.iter().enumerate() {
            self.said(&place!["commentary", i, "says"], &comment.says);
            for (j, source) in comment.looks_at.iter().enumerate() {
                self.source(&place!["commentary", i, "looks_at", j], source);
            }
        }
        let follow_ups = file.follow_ups.iter().enumerate();
        let ids = follow_ups.map(|(i, f)| (place!["follow_ups", i, "id"], f.id.as_str()));
        self.ids("follow-up", ids.collect::<Vec<_>>());
    }

    fn expectations(&mut self) {
        let file = self.file;
        let mut names: BTreeMap<&str, usize> = BTreeMap::new();
        for (i, expect) in file.expect.iter().enumerate() {
            self.said(&place!["expect", i, "name"], &expect.name);
            if let Some(first) = names.insert(&expect.name, i) {
                let message = format!("expectation {} is called \"{}\" too", first + 1, expect.name);
                self.error(&place!["expect", i, "name"], message, "give each its own name");
            }
            if let Some(plan) = &expect.plan {
                self.known(&place!["expect", i, "plan"], "plan", plan, file.plans.keys().map(String::as_str));
            }
            self.window(&place!["expect", i, "over"], expect.over);
            let argument = place!["expect", i, "read", 0usize];
            let series = place!["expect", i, "read", "series"];
            match &expect.read {
                Reading::Mean(name) => self.one_series(&argument, name),
                Reading::Max(name) | Reading::Min(name) => self.series_pattern(&argument, name),
                Reading::Rise { series: name, from } | Reading::Factor { series: name, from } => {
                    self.one_series(&series, name);
                    self.window(&place!["expect", i, "read", "from"], *from);
                }
                Reading::FirstTime { series: name, is } => {
                    self.one_series(&series, name);
                    self.condition(&place!["expect", i, "read", "is"], *is);
                }
            }
            let place = place!["expect", i, "within"];
            let first_time = matches!(expect.read, Reading::FirstTime { .. });
            match expect.within {
                Band::Times(from, to) if first_time => self.window(&place, (from, to)),
                Band::Times(..) => {
                    let help =
                        "only FirstTime gives a time of day; write Between(low, high), AtLeast or AtMost";
                    self.error(&place, "a figure cannot lie between two times of day", help);
                }
                Band::Between(low, high) if low > high => {
                    self.error(
                        &place,
                        "this band is empty: its low end is above its high end",
                        "swap the two",
                    );
                }
                Band::Between(low, high) => {
                    self.finite(&place, low);
                    self.finite(&place, high);
                }
                Band::AtLeast(value) | Band::AtMost(value) => self.finite(&place, value),
            }
        }
        if !file.expect.iter().any(|expect| expect.key) {
            let help = "mark the figures that must hold with `key: true`";
            self.warn(&place!["expect"], "no figure must hold", help);
        }
    }
}

/// Columns that a diagram may have.
const DIAGRAM_COLUMNS: usize = 76;
/// Hints that a stage may have.
const HINTS: usize = 3;

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::incident::{library, load};
    use crate::sim::World;
    use crate::telemetry::Recorder;
    use crate::units::SimTime;

    /// The list above is written by hand so that a file can be checked without running it; here it meets a recorder.
    #[test]
    fn the_series_that_a_file_can_name_are_those_that_are_recorded() {
        for shipped in library::shipped() {
            let incident = load(&shipped.id, &shipped.text).incident.expect("a shipped incident loads");
            let spec = incident.prepared(0.01);
            let mut world = World::new(&spec, 1);
            let mut recorder = Recorder::new(&world);
            recorder.advance(&mut world, SimTime::from_secs(2));
            let recorded: Vec<String> = recorder.series().iter().map(|s| s.name.clone()).collect();
            let known = series_names(&spec);
            let missing: Vec<_> = recorded.iter().filter(|name| !known.contains(name)).collect();
            let unrecorded: Vec<_> = known.iter().filter(|name| !recorded.contains(name)).collect();
            assert!(
                missing.is_empty() && unrecorded.is_empty(),
                "missing {missing:?}, too many {unrecorded:?}"
            );
        }
    }
}
