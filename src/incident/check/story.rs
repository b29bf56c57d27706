//! Checks of what a player sees, is told and is asked, and of what is said to be true.

use std::collections::BTreeMap;

use super::Checker;
use crate::incident::locate::{Path, Step, place};
use crate::incident::schema::{Ask, Band, Part, Reading};

/// Hints that a stage may have.
const HINTS: usize = 3;

impl Checker<'_> {
    pub(super) fn what_can_be_seen(&mut self) {
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

    pub(super) fn people(&mut self) {
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
            if let Some((series, _)) = &message.only_if {
                self.one_series(&place!["messages", i, "only_if"], series);
            }
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
            if let Some((series, _)) = &proposal.only_if {
                self.one_series(&place!["proposals", i, "only_if"], series);
            }
            self.offered_action(place!["proposals", i, "action"], &proposal.action);
        }
    }

    pub(super) fn what_is_asked(&mut self) {
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

    pub(super) fn what_is_true(&mut self) {
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
        for (i, name) in file.look_alikes.iter().enumerate() {
            self.id(&place!["look_alikes", i], name);
            if *name == file.id {
                self.error(
                    &place!["look_alikes", i],
                    "the incident is no look-alike of itself",
                    "name another one",
                );
            }
        }
    }

    pub(super) fn expectations(&mut self) {
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
            // A variant that is not known has no series of its own; one that cannot run was reported.
            let own = expect.variant.as_deref().and_then(|variant| self.variants.get(variant).cloned());
            if let Some(variant) = &expect.variant {
                let variants = file.variants.keys().map(String::as_str);
                self.known(&place!["expect", i, "variant"], "variant", variant, variants);
            }
            let all = own.map(|own| std::mem::replace(&mut self.series, own));
            self.window(&place!["expect", i, "over"], expect.over);
            self.reading_of(&place!["expect", i, "read"], &expect.read);
            if let Some(all) = all {
                self.series = all;
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

    /// A number read from a recorded series.
    pub(super) fn reading_of(&mut self, path: &[Step], read: &Reading) {
        let under = |step: Step| {
            let mut place = path.to_vec();
            place.push(step);
            place
        };
        let (argument, series) = (under(0usize.into()), under("series".into()));
        match read {
            Reading::Mean(name) => self.one_series(&argument, name),
            Reading::Max(name) | Reading::Min(name) => self.series_pattern(&argument, name),
            Reading::Rise { series: name, from } | Reading::Factor { series: name, from } => {
                self.one_series(&series, name);
                self.window(&under("from".into()), *from);
            }
            Reading::FirstTime { series: name, is } => {
                self.one_series(&series, name);
                self.condition(&under("is".into()), *is);
            }
        }
    }
}
