//! What a player reads: where the run stands, charts as sentences, logs, traces, the system, and what people wrote.

use super::line::Typed;
use super::names;
use super::sentence::{extremes, sentence};
use super::{Done, Plain, item_lines};
use crate::game::command::Source;
use crate::game::{Mode, View};
use crate::incident::schema::{Panel, Severity};
use crate::telemetry::{Query, Series, Trace, TraceOutcome};
use crate::units::{SimSpan, SimTime, Unit, short};

/// Seconds that a sentence looks back when nothing else is asked for.
const WINDOW_S: usize = 900;
/// Series of a panel that get a sentence each; more are summed up.
const EACH: usize = 4;
/// Lines of a query that are read.
const ASKED: usize = 12;
/// Lines of logs, traces and the feed when no number is asked for.
const LINES: usize = 10;

fn start(view: &View<'_>) -> crate::units::TimeOfDay {
    view.clock_at(SimTime::ZERO)
}

/// The newest value of a series, when there is one.
fn shown(view: &View<'_>, name: &str) -> Option<String> {
    let series = view.series().get(name)?;
    series.recent().map(|v| series.unit.show(v))
}

/// What users feel and what the system is given to do.
fn felt(view: &View<'_>) -> Vec<String> {
    let get = |name: &str| shown(view, name);
    let mut lines = Vec::new();
    if let (Some(rate), Some(failing), Some(p99)) =
        (get("operations.started"), get("operations.failure_ratio"), get("latency.p99"))
    {
        lines.push(format!("Operations {rate}, {failing} failing, p99 {p99}."));
    }
    if let (Some(rate), Some(repeated)) = (get("requests.received"), get("requests.retry_ratio")) {
        lines.push(format!("Requests {rate}, {repeated} of them retries."));
    }
    if let Some(cpu) = get("db.cpu") {
        let hits = get("cache.hit_ratio").map_or(String::new(), |h| format!(" Cache hit ratio {h}."));
        lines.push(format!("Database CPU {cpu}.{hits}"));
    }
    lines
}

/// A panel in sentences, and the series that they tell of.
fn panel_lines(panel: &Panel, view: &View<'_>, window: usize) -> (Vec<String>, Vec<Source>) {
    let all: Vec<&Series> = panel.series.iter().flat_map(|name| view.series().matching(name)).collect();
    let mut lines = Vec::new();
    let limit = |s: &Series| {
        let (value, name) = panel.threshold.as_ref()?;
        let now = s.recent()?;
        let breached = if s.more_is_worse == Some(false) { now < *value } else { now > *value };
        let side = if s.more_is_worse == Some(false) { "Below" } else { "Above" };
        breached.then(|| format!(" {side} the line \"{name}\" at {}.", s.unit.show(*value)))
    };
    let say = |s: &Series, title: &str| {
        format!("{title}: {}.{}", sentence(s, start(view), window), limit(s).unwrap_or_default())
    };
    match all[..] {
        [] => lines.push(format!("{}: nothing is recorded.", panel.title)),
        [one] => lines.push(say(one, &panel.title)),
        _ if all.len() <= EACH => {
            lines.push(format!("{}:", panel.title));
            lines.extend(all.iter().map(|s| format!("  {}", say(s, &view.name_in_words(&s.name)))));
        }
        _ => {
            let now: Vec<(f64, &str)> =
                all.iter().filter_map(|s| Some((s.recent()?, s.name.as_str()))).collect();
            let unit = all[0].unit;
            let by_value = |a: &&(f64, &str), b: &&(f64, &str)| a.0.total_cmp(&b.0);
            if let (Some(low), Some(high)) = (now.iter().min_by(by_value), now.iter().max_by(by_value)) {
                let mean = now.iter().map(|v| v.0).sum::<f64>() / now.len() as f64;
                lines.push(format!(
                    "{}: {} of them, mean {}, from {} ({}) to {} ({}).",
                    panel.title,
                    all.len(),
                    unit.show(mean),
                    unit.show(low.0),
                    low.1,
                    unit.show(high.0),
                    high.1
                ));
            } else {
                lines.push(format!("{}: no data.", panel.title));
            }
        }
    }
    (lines, all.iter().take(8).map(|s| Source::Series(s.name.clone())).collect())
}

/// The length of time behind `--last`.
fn window(typed: &Typed) -> Result<usize, String> {
    let Some(text) = typed.option("last") else { return Ok(WINDOW_S) };
    match text.parse::<SimSpan>() {
        Ok(span) if span >= SimSpan::from_secs(10) => Ok(span.as_secs_f64() as usize),
        _ => Err(format!("--last is a length of time such as 5m or 90s, not `{text}`.")),
    }
}

/// How many lines are wanted.
fn count(typed: &Typed) -> Result<usize, String> {
    match typed.option("last") {
        None => Ok(LINES),
        Some(text) => match text.parse::<usize>() {
            Ok(n) if n > 0 => Ok(n),
            _ => Err(format!("--last is a number of lines, not `{text}`.")),
        },
    }
}

/// The one of several titled things that a text means: a number, or words of its title.
fn titled<'a>(titles: impl Iterator<Item = &'a str>, text: &str, what: &str) -> Result<usize, String> {
    let titles: Vec<String> = titles.map(str::to_lowercase).collect();
    let wanted = text.to_lowercase();
    if let Ok(n) = wanted.parse::<usize>() {
        let i = n.checked_sub(1).filter(|i| *i < titles.len());
        return i.ok_or_else(|| format!("There is no {what} {n}; they are 1 to {}.", titles.len()));
    }
    let fits: Vec<usize> = (0..titles.len()).filter(|&i| titles[i].contains(&wanted)).collect();
    match fits[..] {
        [i] => Ok(i),
        [] => Err(format!("No {what} is called `{text}`. They are: {}.", titles.join(", "))),
        _ => {
            let names: Vec<&str> = fits.iter().map(|&i| titles[i].as_str()).collect();
            Err(format!("`{text}` can be {}.", names.join(" or ")))
        }
    }
}

fn outcome(trace: &Trace) -> &'static str {
    match trace.outcome {
        TraceOutcome::Served => "served in",
        TraceOutcome::Late => "late after",
        TraceOutcome::Failed => "failed after",
        TraceOutcome::Shed => "turned away after",
    }
}

/// An operation in a line.
fn trace_line(trace: &Trace, view: &View<'_>) -> String {
    format!(
        "{:x}: {} {} {} {}/{}, {} {}, {}, {}.",
        trace.operation,
        view.clock_at(trace.started),
        trace.client,
        view.method(&trace.read),
        trace.read,
        trace.key,
        outcome(trace),
        trace.took,
        crate::units::count(trace.attempts.into(), "attempt", "attempts"),
        crate::units::count(trace.queries.into(), "query", "queries")
    )
}

fn severity_words(severity: Option<Severity>) -> &'static str {
    match severity {
        Some(Severity::Sev1) => "SEV1",
        Some(Severity::Sev2) => "SEV2",
        Some(Severity::Sev3) => "SEV3",
        Some(Severity::Sev4) => "SEV4",
        None => "No severity declared",
    }
}

impl Plain {
    /// The clock and what users feel, in two or three lines.
    pub(super) fn now(&mut self) {
        let Ok(view) = self.view() else { return };
        let mut lines = vec![format!("It is {}.", view.clock())];
        lines.extend(felt(&view).into_iter().take(1));
        self.say(&lines.join(" "));
    }

    pub(super) fn status(&mut self, _: &Typed) -> Done {
        let view = self.view()?;
        let clock = match (view.is_over(), self.runs) {
            (true, _) => "the exercise is over".to_owned(),
            (false, true) => {
                format!("the clock runs {} times as fast", self.play.as_ref().map_or(1, |p| p.pace.speed()))
            }
            (false, false) => "the clock stands still".to_owned(),
        };
        let page = if view.acknowledged() { "the page is acknowledged" } else { "nobody has acknowledged" };
        let mut lines = vec![
            format!("{}, {} mode, {clock}.", view.clock(), view.mode().label()),
            format!("{}; {page}.", severity_words(view.severity())),
        ];
        lines.extend(felt(&view));
        let budget = view.budget();
        let burn = if budget.burn >= 1.0 {
            format!("burning {} times as fast as it may", short(budget.burn))
        } else {
            "not burning".to_owned()
        };
        let objective = Unit::Ratio.show(view.slo().objective.0);
        lines.push(format!("Error budget of the {objective} objective: {}, {burn}.", budget.left_words()));
        if let Some(stage) = view.stage().filter(|_| view.mode() == Mode::Guided) {
            lines.push(format!(
                "Stage {} of {}, \"{}\": {} open, {} answered; hints left: {}.",
                stage.number,
                stage.of,
                stage.title,
                match stage.open_asks.len() {
                    1 => "1 question".to_owned(),
                    n => format!("{n} questions"),
                },
                stage.answered,
                stage.hints_left
            ));
        }
        let open: Vec<String> =
            view.feed().iter().filter(|i| i.asks()).map(|i| format!("{} ({})", i.number, i.from)).collect();
        if !open.is_empty() {
            lines.push(format!("Waiting for your answer: {}. `feed` reads them.", open.join(", ")));
        }
        lines.iter().for_each(|l| self.say(l));
        Ok(())
    }

    /// All panels, or those of a dashboard.
    pub(super) fn panels(&mut self, typed: &Typed) -> Done {
        let view = self.view()?;
        let window = window(typed)?;
        let only = if typed.words.is_empty() {
            None
        } else {
            Some(titled(view.dashboards().iter().map(|d| d.title.as_str()), &typed.text(), "dashboard")?)
        };
        let (mut lines, mut seen) = (Vec::new(), Vec::new());
        for (i, dashboard) in view.dashboards().iter().enumerate() {
            if only.is_some_and(|o| o != i) {
                continue;
            }
            lines.push(format!("Dashboard {}: {}", i + 1, dashboard.title));
            for panel in &dashboard.panels {
                let (said, sources) = panel_lines(panel, &view, window);
                lines.extend(said);
                seen.extend(sources);
            }
        }
        self.look(seen);
        lines.iter().for_each(|l| self.say(l));
        Ok(())
    }

    /// One series, or a panel by its title.
    pub(super) fn show(&mut self, typed: &Typed) -> Done {
        let view = self.view()?;
        let window = window(typed)?;
        let text = typed.text();
        let panels = view.dashboards().iter().flat_map(|d| &d.panels);
        let wanted = text.to_lowercase();
        let panel = panels.clone().find(|p| !wanted.is_empty() && p.title.to_lowercase() == wanted);
        let (lines, seen) = match panel {
            Some(panel) => {
                let (mut lines, seen) = panel_lines(panel, &view, window);
                if !panel.help.is_empty() {
                    lines.push(panel.help.clone());
                }
                (lines, seen)
            }
            None => {
                let series = match names::series(&view, &text) {
                    Ok(series) => series,
                    Err(_) if names::is_expression(&text) => return self.query(typed),
                    Err(why) => return Err(why),
                };
                let mut lines = vec![format!(
                    "{}: {}.",
                    view.name_in_words(&series.name),
                    sentence(series, start(&view), window)
                )];
                lines.extend(extremes(series, start(&view), window));
                let what = if series.what.is_empty() { String::new() } else { format!(": {}", series.what) };
                lines.push(format!("({}{what})", series.name));
                (lines, vec![Source::Series(series.name.clone())])
            }
        };
        self.look(seen);
        lines.iter().for_each(|l| self.say(l));
        Ok(())
    }

    /// The answer to an expression over series, a sentence for each line of it.
    pub(super) fn query(&mut self, typed: &Typed) -> Done {
        let view = self.view()?;
        let window = window(typed)?;
        let asked = |error: crate::telemetry::QueryError| format!("`{}`: {error}", typed.text());
        let query = Query::parse(&typed.text()).map_err(asked)?;
        let answer = query.answer(view.series()).map_err(asked)?;
        let mut lines = Vec::new();
        if let [one] = answer.as_slice() {
            lines.push(format!("{}: {}.", query.text(), sentence(one, start(&view), window)));
            lines.extend(extremes(one, start(&view), window));
        } else {
            lines.push(format!("{}:", query.text()));
            let told = answer.iter().take(ASKED);
            lines.extend(told.map(|s| format!("  {}: {}.", s.name, sentence(s, start(&view), window))));
            if let Some(more) = answer.len().checked_sub(ASKED).filter(|n| *n > 0) {
                lines.push(format!("  and {more} more; `max(…)` and `sum(…)` make one line of them."));
            }
        }
        // A name alone is that series, as on a panel of one's own.
        let source = match query.single().filter(|name| view.series().get(name).is_some()) {
            Some(name) => Source::Series(name.to_owned()),
            None => Source::Query(query.text().to_owned()),
        };
        self.look(vec![source]);
        lines.iter().for_each(|l| self.say(l));
        Ok(())
    }

    pub(super) fn series(&mut self, typed: &Typed) -> Done {
        let view = self.view()?;
        let wanted: Vec<String> = typed.words.iter().map(|w| w.to_lowercase()).collect();
        let fits =
            |s: &&Series| wanted.iter().all(|w| s.name.contains(w) || s.what.to_lowercase().contains(w));
        let lines: Vec<String> = view
            .series()
            .iter()
            .filter(fits)
            .map(|s| format!("{}: {}", s.name, s.unit.show(s.recent().unwrap_or(f64::NAN))))
            .collect();
        if lines.is_empty() {
            return Err(format!("No series has `{}` in its name. `series` lists all.", typed.text()));
        }
        lines.iter().for_each(|l| self.say(l));
        Ok(())
    }

    pub(super) fn logs(&mut self, typed: &Typed) -> Done {
        let view = self.view()?;
        let most = count(typed)?;
        let stream = typed.option("stream");
        let words: Vec<String> = typed.words.iter().map(|w| w.to_lowercase()).collect();
        let logs = view.logs();
        let mut streams: Vec<(&str, u64)> = Vec::new();
        let since = view.now() - SimSpan::from_secs(60);
        for line in logs.iter().rev().take_while(|l| l.at >= since) {
            let at = streams.iter().position(|s| s.0 == line.stream).unwrap_or_else(|| {
                streams.push((line.stream, 0));
                streams.len() - 1
            });
            streams[at].1 += u64::from(line.alike);
        }
        let known = logs.iter().any(|l| stream.is_none_or(|s| s == l.stream));
        if let Some(stream) = stream.filter(|_| !known) {
            let names: Vec<&str> = streams.iter().map(|s| s.0).collect();
            return Err(format!(
                "No stream is called `{stream}`. In the last minute there were: {}.",
                names.join(", ")
            ));
        }
        let fits = |i: &usize| {
            let line = &logs[*i];
            let says = || {
                let (source, text) = line.source_and_text();
                let text = format!("{} {} {source} {text}", line.level.label(), line.stream).to_lowercase();
                words.iter().all(|w| text.contains(w))
            };
            stream.is_none_or(|s| s == line.stream) && (words.is_empty() || says())
        };
        let found: Vec<usize> = (0..logs.len()).filter(fits).collect();
        let mut lines = Vec::new();
        if stream.is_none() && words.is_empty() {
            let counts: Vec<String> =
                streams.iter().map(|(name, n)| format!("{name} {}", short(*n as f64))).collect();
            lines.push(format!("Lines of the last minute by stream: {}.", counts.join(", ")));
        }
        let first = found.len().saturating_sub(most);
        let fitting = if stream.is_none() && words.is_empty() { "" } else { " that fit" };
        lines.push(match found.len() {
            0 => format!("None of the {} lines fits.", logs.len()),
            n if n <= most => format!("All {n} lines{fitting}, the newest last:"),
            n => format!("The last {most} of {n} lines{fitting}, the newest last; --last sets how many:"),
        });
        for &i in &found[first..] {
            let line = &logs[i];
            let alike = if line.alike > 1 {
                format!(" (one of {} such lines in that second)", short(f64::from(line.alike)))
            } else {
                String::new()
            };
            let operation = line.operation.map_or(String::new(), |o| format!(" [operation {o:x}]"));
            let (source, text) = line.source_and_text();
            lines.push(format!(
                "{i}: {} {} {source} {}: {text}{alike}{operation}",
                view.clock_at(line.at),
                line.level.label().trim_end(),
                line.stream,
            ));
        }
        self.look(vec![Source::Pane("logs".to_owned())]);
        lines.iter().for_each(|l| self.say(l));
        Ok(())
    }

    pub(super) fn traces(&mut self, typed: &Typed) -> Done {
        let view = self.view()?;
        let most = count(typed)?;
        let traces = view.traces();
        let order = typed.words.first().map(|w| w.to_lowercase());
        let known = ["newest", "slowest", "failed", "attempts"];
        let (order, words) = match order.as_deref() {
            Some(word) if known.contains(&word) => (word.to_owned(), &typed.words[1..]),
            _ => ("newest".to_owned(), &typed.words[..]),
        };
        let words: Vec<String> = words.iter().map(|w| w.to_lowercase()).collect();
        let fits = |t: &&Trace| {
            let line = trace_line(t, &view).to_lowercase();
            words.iter().all(|w| line.contains(w)) && (order != "failed" || t.outcome == TraceOutcome::Failed)
        };
        let mut found: Vec<&Trace> = traces.iter().rev().filter(fits).collect();
        match order.as_str() {
            "slowest" => found.sort_by_key(|t| std::cmp::Reverse(t.took)),
            "attempts" => found.sort_by_key(|t| std::cmp::Reverse((t.attempts, t.queries))),
            _ => {}
        }
        let first = match order.as_str() {
            "slowest" => "the slowest first",
            "attempts" => "those with the most attempts first",
            _ => "the newest first",
        };
        let fitting = if words.is_empty() && order != "failed" { "" } else { " that fit" };
        let mut lines = vec![match found.len() {
            0 => format!("None of the {} traced operations fits.", traces.len()),
            n if n <= most => format!("All {n} traced operations{fitting}, {first}:"),
            n => format!("{most} of the {n} traced operations{fitting}, {first}; --last sets how many:"),
        }];
        lines.extend(found.iter().take(most).map(|t| trace_line(t, &view)));
        lines.push("`trace` and the number in front reads one span by span.".to_owned());
        self.look(vec![Source::Pane("traces".to_owned())]);
        lines.iter().for_each(|l| self.say(l));
        Ok(())
    }

    pub(super) fn trace(&mut self, typed: &Typed) -> Done {
        let view = self.view()?;
        let at = trace(&view, &typed.text())?;
        let trace = &view.traces()[at];
        let mut lines = vec![trace_line(trace, &view)];
        for (i, span) in trace.spans().iter().enumerate() {
            let indent = "  ".repeat(trace.depth(i) + 1);
            let after = SimSpan(span.start.0.saturating_sub(trace.started.0));
            let end = match span.status {
                crate::telemetry::SpanStatus::Ok => "ok",
                crate::telemetry::SpanStatus::Failed => "failed",
                crate::telemetry::SpanStatus::Abandoned => "went on after its caller had given up",
            };
            let note = if span.note.is_empty() { String::new() } else { format!(" ({})", span.note) };
            let place = if span.place.is_empty() { String::new() } else { format!(" on {}", span.place) };
            lines.push(format!(
                "{indent}{}{place}: began after {after}, took {}, {end}{note}.",
                span.name, span.took
            ));
        }
        self.look(vec![Source::Pane("traces".to_owned()), Source::Trace(at)]);
        lines.iter().for_each(|l| self.say(l));
        Ok(())
    }

    pub(super) fn topology(&mut self, _: &Typed) -> Done {
        let view = self.view()?;
        let topology = view.topology();
        let status = view.status();
        let get = |name: &str| shown(&view, name).unwrap_or_else(|| "no data".to_owned());
        let mut lines = Vec::new();
        for (name, share) in &topology.clients {
            let allowed = shown(&view, &format!("client.attempts_allowed.{name}"));
            lines.push(format!(
                "Client {name}: {:.0} % of the operations, attempts of each: up to {}.",
                share * 100.0,
                allowed.unwrap_or_else(|| "an unknown number".to_owned())
            ));
        }
        let limit = |l: Option<f64>| l.map_or("none".to_owned(), |l| Unit::PerSecond.show(l));
        let (wanted, in_force) = status.rate_limit;
        let soon = if wanted == in_force { String::new() } else { format!(", soon {}", limit(wanted)) };
        lines.push(format!(
            "Balancer {}: receives {} requests, {} of them retries; limit {}{soon}; turns away {}.",
            topology.balancer,
            get("requests.received"),
            get("requests.retry_ratio"),
            limit(in_force),
            get("requests.rejected")
        ));
        for (i, service) in topology.services.iter().enumerate() {
            let mut joined = Vec::new();
            joined.extend(service.cache.iter().map(|c| format!("asks cache {c}")));
            joined.extend(service.database.iter().map(|d| format!("queries {d}")));
            joined.extend(service.calls.iter().map(|c| format!("calls {c}")));
            let counts = status.services.get(i).map_or(String::new(), |n| {
                let mut text = format!("{} instances ready", n.ready);
                if n.starting > 0 {
                    text.push_str(&format!(", {} starting", n.starting));
                }
                if n.draining > 0 {
                    text.push_str(&format!(", {} draining", n.draining));
                }
                format!("{text}; {} connections each", n.pool_size)
            });
            let does = if joined.is_empty() { String::new() } else { format!("; {}", joined.join(", ")) };
            lines.push(format!("Service {}: {counts}{does}.", service.name));
        }
        for (i, cache) in topology.caches.iter().enumerate() {
            let (up, warmed, to_warm) = status.caches.get(i).copied().unwrap_or((true, 0, 0));
            let warm =
                if to_warm > 0 { format!("; warm-up {warmed} of {to_warm} keys") } else { String::new() };
            let state = if up { "answers" } else { "cannot be reached" };
            lines.push(format!("Cache {cache}: {state}, hit ratio {}{warm}.", get("cache.hit_ratio")));
        }
        for database in &topology.databases {
            let cpu = |host: &String| format!("{host} {}", get(&format!("db.cpu.{host}")));
            let hosts: Vec<String> = database.hosts.iter().map(cpu).collect();
            lines.push(format!(
                "Database {}: CPU {}; {} queries, up to {} connections a host.",
                database.name,
                hosts.join(", "),
                get("db.queries"),
                database.connections
            ));
        }
        let mut seen = vec![Source::Pane("topology".to_owned())];
        for name in ["requests.received", "requests.retry_ratio", "cache.hit_ratio", "db.cpu"] {
            if view.series().get(name).is_some() {
                seen.push(Source::Series(name.to_owned()));
            }
        }
        self.look(seen);
        lines.iter().for_each(|l| self.say(l));
        Ok(())
    }

    pub(super) fn changes(&mut self, typed: &Typed) -> Done {
        let view = self.view()?;
        let asked = typed.words.first().map(|word| word.parse::<usize>());
        let wanted = match asked {
            Some(Err(_)) => {
                return Err("A change is asked for by its number: `changes` lists them.".to_owned());
            }
            Some(Ok(number)) => Some(number),
            None => None,
        };
        let mut lines = Vec::new();
        for (i, change) in view.changes().filter(|(i, _)| wanted.is_none_or(|number| number == i + 1)) {
            lines.push(format!("{}: {} {} by {}: {}", i + 1, change.at, change.kind, change.by, change.what));
            if wanted.is_some() {
                lines.extend(change.diff.iter().map(|line| format!("  {line}")));
            } else if !change.diff.is_empty() {
                lines.push(format!("  `changes {}` reads the difference.", i + 1));
            }
        }
        self.look(vec![Source::Pane("changes".to_owned())]);
        match (lines.is_empty(), wanted) {
            (true, Some(number)) => return Err(format!("There is no change {number}.")),
            (true, None) => self.say("Nothing was changed so far."),
            _ => lines.iter().for_each(|l| self.say(l)),
        }
        Ok(())
    }

    pub(super) fn runbook(&mut self, typed: &Typed) -> Done {
        let view = self.view()?;
        if typed.words.is_empty() {
            let sections = view.runbook().iter().enumerate();
            let mut lines: Vec<String> = sections.map(|(i, s)| format!("{}: {}", i + 1, s.title)).collect();
            lines.push("`runbook` with a number or words of a title reads that section.".to_owned());
            lines.iter().for_each(|l| self.say(l));
            return Ok(());
        }
        let i = titled(view.runbook().iter().map(|s| s.title.as_str()), &typed.text(), "section")?;
        let section = &view.runbook()[i];
        let mut lines = vec![section.title.clone()];
        lines.extend(section.text.iter().cloned());
        self.look(vec![Source::Runbook(i)]);
        lines.iter().for_each(|l| self.say(l));
        Ok(())
    }

    pub(super) fn feed(&mut self, typed: &Typed) -> Done {
        let view = self.view()?;
        let most = count(typed)?;
        let feed = view.feed();
        let mut lines: Vec<String> =
            feed[feed.len().saturating_sub(most)..].iter().flat_map(|i| item_lines(i, &view)).collect();
        if lines.is_empty() {
            lines.push("Nobody has said anything yet.".to_owned());
        }
        lines.iter().for_each(|l| self.say(l));
        Ok(())
    }
}

/// The trace that a text means, `7f3a`; its place in the record.
pub(super) fn trace(view: &View<'_>, text: &str) -> Result<usize, String> {
    let wanted = text.trim_end_matches(':').to_lowercase();
    let found = view.traces().iter().rposition(|t| format!("{:x}", t.operation) == wanted);
    found.ok_or_else(|| format!("No operation `{text}` was traced. `traces` lists those that were."))
}

/// The runbook section that a text means.
pub(super) fn section(view: &View<'_>, text: &str) -> Result<usize, String> {
    titled(view.runbook().iter().map(|s| s.title.as_str()), text, "section")
}
