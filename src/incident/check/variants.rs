//! Checks of variants and of the lab that compares them.

use super::Checker;
use super::names::series_of;
use crate::incident::diagnose::Severity;
use crate::incident::locate::{Path, Step, place};
use crate::incident::lower::lower;
use crate::incident::schema::{AS_IT_IS, Variant};
use crate::incident::variant::{self, VariantError};

/// A place below another one.
fn within(path: &Path, steps: &[Step]) -> Path {
    path.iter().chain(steps).cloned().collect()
}

impl<'a> Checker<'a> {
    /// Every variant, and what every follow-up changes, can be made and can run. They are only tried when the incident itself can: what is wrong with that
    /// would be said again for each.
    pub(super) fn variants(&mut self) {
        let file = self.file;
        for (name, variant) in &file.variants {
            self.part_name(&place!["variants", name], name);
            if name == AS_IT_IS {
                let help = "call it something else";
                let message = format!("\"{AS_IT_IS}\" is the incident without changes");
                self.error(&place!["variants", name], message, help);
            }
            self.said(&place!["variants", name, "what"], &variant.what);
            self.changes(place!["variants", name], variant);
        }
        for (i, follow_up) in file.follow_ups.iter().enumerate() {
            if let Some(variant) = &follow_up.applies {
                self.changes(place!["follow_ups", i, "applies"], variant);
            }
        }
        for (i, name) in file.blind.iter().enumerate() {
            let place = place!["blind", i];
            let known = self.known(&place, "variant", name, file.variants.keys().map(String::as_str));
            let story = file.variants.get(name).map(|variant| &variant.story);
            if known && story.is_some_and(|story| story.mechanism.is_none()) {
                let help = "give its `story` a `mechanism`, and what goes with it: hypotheses, changes, plans, commentary";
                let message = format!("\"{name}\" would be marked by the mechanism of another cause");
                self.error(&place, message, help);
            }
        }
        if self.found.iter().any(|d| d.severity == Severity::Error) {
            return;
        }
        for (name, variant) in &file.variants {
            if let Some(series) = self.tried(place!["variants", name], name, variant) {
                self.variants.insert(name, series);
            }
        }
        for (i, follow_up) in file.follow_ups.iter().enumerate() {
            if let Some(variant) = &follow_up.applies {
                self.tried(place!["follow_ups", i, "applies"], &follow_up.id, variant);
            }
        }
    }

    /// What a variant changes is said, and there is something.
    fn changes(&mut self, path: Path, variant: &Variant) {
        self.happenings(&within(&path, &["also".into()]), &variant.also);
        if variant.set.is_empty() && variant.without.is_empty() && variant.also.is_empty() {
            self.warn(&path, "this changes nothing", "give it `set`, `without` or `also`");
        }
    }

    /// Makes a variant and tries whether it can run; then the series that it records.
    fn tried(&mut self, path: Path, name: &str, variant: &Variant) -> Option<Vec<String>> {
        let changed = match variant::apply(self.file, variant) {
            Ok(changed) => changed,
            Err(error) => {
                let place = match &error {
                    VariantError::NoSuchPath { path: wrong, .. }
                    | VariantError::BadValue { path: wrong, .. } => {
                        within(&path, &["set".into(), wrong.as_str().into()])
                    }
                    VariantError::NoSuchHappening { name: missing, .. } => {
                        let i = variant.without.iter().position(|name| name == missing).unwrap_or(0);
                        within(&path, &["without".into(), i.into()])
                    }
                    VariantError::NoSuchVariant { .. } | VariantError::CannotRun(_) => path.clone(),
                };
                self.error(&place, error.to_string(), "paths are those of the file, below `system`");
                return None;
            }
        };
        let (spec, _) = lower(&changed);
        let problems = super::changed(&changed, &spec, variant.story.mechanism.is_some());
        for problem in &problems {
            self.error(&path, format!("with the changes of \"{name}\": {problem}"), "");
        }
        problems.is_empty().then(|| series_of(&changed, &spec))
    }

    pub(super) fn lab(&mut self) {
        let file = self.file;
        let Some(lab) = &file.lab else { return };
        // A row whose run does not record what a column reads shows a gap there.
        let mut all = self.series.clone();
        for (i, row) in lab.rows.iter().enumerate() {
            let rows = [AS_IT_IS].into_iter().chain(file.variants.keys().map(String::as_str));
            self.known(&place!["lab", "rows", i], "variant", row, rows);
            all.extend(self.variants.get(row.as_str()).into_iter().flatten().cloned());
        }
        all.sort();
        all.dedup();
        let own = std::mem::replace(&mut self.series, all);
        for (i, column) in lab.columns.iter().enumerate() {
            self.said(&place!["lab", "columns", i, "title"], &column.title);
            self.reading_of(&place!["lab", "columns", i, "read"], &column.read);
            self.window(&place!["lab", "columns", i, "over"], column.over);
        }
        if let Some(chart) = &lab.chart {
            self.one_series(&place!["lab", "chart"], chart);
        }
        self.series = own;
        for (list, is_empty) in [("rows", lab.rows.is_empty()), ("columns", lab.columns.is_empty())] {
            if is_empty {
                self.error(
                    &place!["lab", list],
                    format!("this lab has no {list}"),
                    "add some, or take it out",
                );
            }
        }
    }
}
