//! Checks of a file that reads well: names that exist, times on the clock, shares that add up, a system that the
//! engine can run, references of the story to the telemetry.

use std::collections::BTreeMap;
use std::ops::Range;

use super::diagnose::{Diagnostic, Severity};
use super::library;
use super::locate::{Outline, Step, place};
use super::schema::IncidentFile;
use crate::sim::spec::Spec;

mod actions;
mod names;
mod rules;
mod story;
mod system;
mod variants;

pub use names::{LOG_STREAMS, series_of};

/// Columns that a diagram may have.
const DIAGRAM_COLUMNS: usize = 76;

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
        series: series_of(file, spec),
        variants: BTreeMap::new(),
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
    checker.variants();
    checker.expectations();
    checker.lab();
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

/// What is wrong with a file whose system, script or story was changed, in words, errors only.
/// `told` says whether it has a story of its own, which is held to what the incident's is held to.
pub(super) fn changed(file: &IncidentFile, spec: &Spec, told: bool) -> Vec<String> {
    let outline = Outline::of("");
    let mut checker = Checker {
        label: "",
        text: "",
        outline: &outline,
        file,
        series: series_of(file, spec),
        variants: BTreeMap::new(),
        clock_runs: true,
        found: Vec::new(),
    };
    checker.clock();
    checker.system(spec);
    checker.what_happens_and_what_can_be_done();
    if told {
        checker.what_can_be_seen();
        checker.people();
        checker.what_is_asked();
        checker.what_is_true();
    }
    let errors = checker.found.into_iter().filter(|d| d.severity == Severity::Error);
    errors.map(|d| d.help.map_or(d.message.clone(), |help| format!("{} ({help})", d.message))).collect()
}

struct Checker<'a> {
    label: &'a str,
    text: &'a str,
    outline: &'a Outline,
    file: &'a IncidentFile,
    /// Series that a run will have.
    series: Vec<String>,
    /// Series that a run of a variant will have, for the variants that can run.
    variants: BTreeMap<&'a str, Vec<String>>,
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

    fn head(&mut self) {
        let file = self.file;
        self.id(&place!["id"], &file.id);
        self.said(&place!["title"], &file.title);
        self.said(&place!["summary"], &file.summary);
        self.said(&place!["source"], &file.source);
        self.between(&place!["minutes"], "minutes", file.minutes, 1, 600);
        for (i, name) in file.look_alikes.iter().enumerate() {
            let place = place!["look_alikes", i];
            self.id(&place, name);
            if *name == file.id {
                self.error(&place, "an incident is no look-alike of itself", "name another one");
            } else if library::find(name).is_none() {
                let help = "`pagerdrill list` names them; nothing is suggested for one that is not there";
                self.warn(&place, format!("no shipped incident is called \"{name}\""), help);
            }
        }
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
}
