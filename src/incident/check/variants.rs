//! Checks of variants and of the lab that compares them.

use super::Checker;
use super::names::series_of;
use crate::incident::diagnose::Severity;
use crate::incident::locate::place;
use crate::incident::lower::lower;
use crate::incident::schema::AS_IT_IS;
use crate::incident::variant::{self, VariantError};

impl<'a> Checker<'a> {
    /// Every variant can be made and can run. They are only tried when the incident itself can: what is wrong with that
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
            self.happenings(&place!["variants", name, "also"], &variant.also);
            if variant.set.is_empty() && variant.without.is_empty() && variant.also.is_empty() {
                self.warn(
                    &place!["variants", name],
                    "this variant changes nothing",
                    "give it `set`, `without` or `also`",
                );
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
            let changed = match variant::apply(file, variant) {
                Ok(changed) => changed,
                Err(error) => {
                    let place = match &error {
                        VariantError::NoSuchPath { path, .. } | VariantError::BadValue { path, .. } => {
                            place!["variants", name, "set", path]
                        }
                        VariantError::NoSuchHappening { name: missing, .. } => {
                            let i = variant.without.iter().position(|name| name == missing).unwrap_or(0);
                            place!["variants", name, "without", i]
                        }
                        VariantError::NoSuchVariant { .. } | VariantError::CannotRun(_) => {
                            place!["variants", name]
                        }
                    };
                    self.error(&place, error.to_string(), "paths are those of the file, below `system`");
                    continue;
                }
            };
            let (spec, _) = lower(&changed);
            let problems = super::changed(&changed, &spec, variant.story.mechanism.is_some());
            if problems.is_empty() {
                self.variants.insert(name, series_of(&changed, &spec));
            }
            for problem in problems {
                let message = format!("with the changes of \"{name}\": {problem}");
                self.error(&place!["variants", name], message, "");
            }
        }
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
