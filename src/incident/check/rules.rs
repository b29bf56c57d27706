//! Rules that every part of a file is held to.

use std::collections::BTreeSet;
use std::ops::Range;

use super::Checker;
use super::names::{LOG_STREAMS, SOURCES};
use crate::incident::diagnose::Severity;
use crate::incident::locate::{Path, Step};
use crate::incident::lower::span_of_day;
use crate::incident::schema::Condition;
use crate::telemetry::closest;
use crate::telemetry::matches;
use crate::units::{SimSpan, TimeOfDay};

impl Checker<'_> {
    /// A text that must not be empty.
    pub(super) fn said(&mut self, path: &[Step], text: &str) {
        if text.trim().is_empty() {
            self.error(path, "this text is empty", "write it, or leave the whole entry out");
        }
    }

    /// A name of lower-case letters, digits and hyphens.
    pub(super) fn id(&mut self, path: &[Step], id: &str) {
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
    pub(super) fn ids<'b>(&mut self, what: &str, ids: impl IntoIterator<Item = (Path, &'b str)>) {
        let mut seen = BTreeSet::new();
        for (path, id) in ids {
            self.id(&path, id);
            if !seen.insert(id) {
                self.error(&path, format!("another {what} is called \"{id}\" too"), "give each its own name");
            }
        }
    }

    /// A name that must be among others.
    pub(super) fn known<'b>(
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

    pub(super) fn client(&mut self, path: &[Step], name: &str) -> bool {
        let file = self.file;
        self.known(path, "client population", name, file.system.clients.keys().map(String::as_str))
    }

    pub(super) fn service(&mut self, path: &[Step], name: &str) -> bool {
        let file = self.file;
        self.known(path, "service", name, file.system.services.keys().map(String::as_str))
    }

    pub(super) fn cache(&mut self, path: &[Step], name: &str) -> bool {
        let file = self.file;
        self.known(path, "cache", name, file.system.caches.keys().map(String::as_str))
    }

    pub(super) fn database(&mut self, path: &[Step], name: &str) -> bool {
        let file = self.file;
        self.known(path, "database", name, file.system.databases.keys().map(String::as_str))
    }

    pub(super) fn person(&mut self, path: &[Step], name: &str) {
        let file = self.file;
        self.known(path, "person", name, file.people.keys().map(String::as_str));
    }

    /// A recorded series by its whole name.
    pub(super) fn one_series(&mut self, path: &[Step], name: &str) {
        self.series_at(self.outline.find(self.text, path), name);
    }

    pub(super) fn series_at(&mut self, span: Range<usize>, name: &str) {
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

    pub(super) fn series_help(&self, name: &str) -> String {
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
    pub(super) fn series_pattern(&mut self, path: &[Step], pattern: &str) {
        if !self.series.iter().any(|name| matches(pattern, name)) {
            let help = self.series_help(pattern);
            self.error(path, format!("\"{pattern}\" matches no recorded series"), help);
        }
    }

    /// A series, a log stream, or another part of the screen.
    pub(super) fn source(&mut self, path: &[Step], name: &str) {
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
    pub(super) fn placeholders(&mut self, path: &[Step], text: &str) {
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
    pub(super) fn on_clock(&mut self, path: &[Step], time: TimeOfDay) -> bool {
        let clock = self.file.clock;
        if !self.clock_runs || self.offset(time) <= self.offset(clock.end) {
            return true;
        }
        let help = format!("the clock runs from {} to {}", clock.start, clock.end);
        self.error(path, format!("{time} is outside the incident's clock"), help);
        false
    }

    pub(super) fn offset(&self, time: TimeOfDay) -> SimSpan {
        span_of_day(self.file.clock.start, time)
    }

    /// Times on the clock, each no earlier than the one before.
    pub(super) fn in_order(&mut self, times: impl IntoIterator<Item = (Path, TimeOfDay)>) {
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

    pub(super) fn window(&mut self, path: &[Step], (from, to): (TimeOfDay, TimeOfDay)) {
        let on = [0usize, 1].map(|i| {
            let mut end = path.to_vec();
            end.push(i.into());
            self.on_clock(&end, [from, to][i])
        });
        if self.clock_runs && on == [true, true] && self.offset(to) < self.offset(from) {
            self.error(path, format!("this window ends at {to}, before it begins"), "swap the two times");
        }
    }

    pub(super) fn share(&mut self, path: &[Step], ratio: f64) {
        if !(0.0..=1.0).contains(&ratio) {
            self.error(path, "a share above 100 % is not possible here", "write 0% to 100%");
        }
    }

    pub(super) fn finite(&mut self, path: &[Step], value: f64) {
        if !value.is_finite() {
            self.error(path, "this is not a finite number", "");
        }
    }

    pub(super) fn condition(&mut self, path: &[Step], condition: Condition) {
        let (Condition::Above(value) | Condition::Below(value)) = condition;
        self.finite(path, value);
    }

    pub(super) fn between(&mut self, path: &[Step], what: &str, value: u32, from: u32, to: u32) {
        if !(from..=to).contains(&value) {
            self.error(path, format!("{value} {what} is not possible"), format!("{from} to {to} is"));
        }
    }

    pub(super) fn some_time(&mut self, path: &[Step], span: SimSpan) {
        if span == SimSpan::ZERO {
            self.error(path, "this cannot take no time at all", "write a length of time such as \"2s\"");
        }
    }
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}
