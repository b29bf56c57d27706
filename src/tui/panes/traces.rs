//! Traces: operations to find, and one operation on a time axis.
//!
//! ```text
//!  operation 7f3a  popular/81273  failed after 26.4 s  4 attempts, 11 queries (1 expected)
//!                         0 s        5 s        10 s
//!  attempt 1  api-07      ├━━━━━━━━━━━━━━━┤                    8.0 s  failed: 500
//!    pool wait            ├────┤                               1.9 s  ok
//!    query 1  primary          ├─────┤                         2.0 s  failed: timed out
//! ```

use ratatui::layout::Rect;
use ratatui::text::{Line, Span as Text};

use super::{Look, Pane};
use crate::game::View;
use crate::game::command::Source;
use crate::telemetry::{Span, SpanStatus, Trace, TraceOutcome};
use crate::tui::actions::{Context, Id, Key, key_in};
use crate::tui::canvas::{Canvas, Hit, columns, wrap};
use crate::tui::dialogs;
use crate::tui::layer::Outcome;
use crate::tui::theme::Role;
use crate::tui::widgets::filter::Filter;
use crate::tui::widgets::list::Cursor;
use crate::units::{SECOND, SimSpan, Unit, count};

/// How operations are ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Order {
    /// The newest first.
    #[default]
    Newest,
    /// The slowest first.
    Slowest,
    /// Those that failed, the newest first.
    Failed,
    /// Those with the most attempts first, then those with the most queries.
    Attempts,
}

impl Order {
    const ALL: [Order; 4] = [Order::Newest, Order::Slowest, Order::Failed, Order::Attempts];

    fn label(self) -> &'static str {
        match self {
            Order::Newest => "newest",
            Order::Slowest => "slowest",
            Order::Failed => "failed",
            Order::Attempts => "most attempts",
        }
    }
}

/// The pane.
#[derive(Default)]
pub(crate) struct Traces {
    order: Order,
    filter: Filter,
    /// The selected operation; the first of the list when there is none.
    operation: Option<u64>,
    cursor: Cursor,
    /// Places in the record of the operations that are listed.
    rows: Vec<usize>,
    /// What [`Traces::rows`] was made for: operations of the record, the newest of them, order, words.
    made_for: (usize, u64, Order, Vec<String>),
    /// The operation has the pane for itself, with the span that is selected.
    spans: Option<Cursor>,
}

/// Operations listed at most.
const LISTED: usize = 1_000;

fn outcome(trace: &Trace) -> (&'static str, Role) {
    match trace.outcome {
        TraceOutcome::Served => ("served", Role::Ok),
        TraceOutcome::Late => ("late", Role::Warn),
        TraceOutcome::Failed => ("FAILED", Role::Crit),
        TraceOutcome::Shed => ("turned away", Role::Warn),
    }
}

fn span_words(span: &Span) -> (String, Role) {
    let (word, role) = match span.status {
        SpanStatus::Ok => ("ok", Role::Muted),
        SpanStatus::Failed => ("failed", Role::Crit),
        SpanStatus::Abandoned => ("abandoned", Role::Warn),
    };
    let text = if span.note.is_empty() { word.to_owned() } else { format!("{word}: {}", span.note) };
    (text, role)
}

/// The operation in a line: what it was, how it ended, what it cost.
fn head(trace: &Trace, method: &str) -> String {
    // One query answers a read that no cache does; every further one repeats it.
    let expected = if trace.queries > 1 { " (1 expected)" } else { "" };
    format!(
        "operation {:x}  {} {}/{}  {} {} {}  {}, {}{expected}",
        trace.operation,
        method,
        trace.read,
        trace.key,
        outcome(trace).0.to_lowercase(),
        if trace.outcome == TraceOutcome::Served || trace.outcome == TraceOutcome::Late {
            "in"
        } else {
            "after"
        },
        trace.took,
        count(trace.attempts.into(), "attempt", "attempts"),
        count(trace.queries.into(), "query", "queries"),
    )
}

impl Traces {
    /// Orders the record anew when it, the order or the filter has changed.
    fn refresh(&mut self, traces: &[Trace]) {
        let newest = traces.last().map_or(0, |t| t.operation);
        let (n, last, order, words) = &self.made_for;
        if (*n, *last, *order) == (traces.len(), newest, self.order) && words == self.filter.words() {
            return;
        }
        let mut text = String::new();
        let mut fits = |t: &Trace| {
            use std::fmt::Write as _;
            if !self.filter.active() {
                return true;
            }
            text.clear();
            let _ = write!(text, "{:x} {}/{} {} {}", t.operation, t.read, t.key, t.client, outcome(t).0);
            self.filter.fits(&[&text])
                || t.spans().iter().any(|s| self.filter.fits(&[&text, &s.place, s.note]))
        };
        let order = self.order;
        let wanted = |t: &Trace| order != Order::Failed || t.outcome == TraceOutcome::Failed;
        let mut rows: Vec<usize> =
            (0..traces.len()).rev().filter(|&i| wanted(&traces[i]) && fits(&traces[i])).collect();
        match order {
            Order::Newest | Order::Failed => {}
            Order::Slowest => rows.sort_by_key(|&i| std::cmp::Reverse(traces[i].took)),
            Order::Attempts => {
                rows.sort_by_key(|&i| std::cmp::Reverse((traces[i].attempts, traces[i].queries)));
            }
        }
        rows.truncate(LISTED);
        self.rows = rows;
        self.made_for = (traces.len(), newest, order, self.filter.words().to_vec());
    }

    /// Place of the selected operation among the rows; one that has left the list stays where the cursor was.
    fn row(&self, traces: &[Trace]) -> usize {
        let found = self.operation.and_then(|operation| {
            self.rows.iter().position(|&i| traces.get(i).is_some_and(|t| t.operation == operation))
        });
        found.unwrap_or(if self.operation.is_some() { self.cursor.at } else { 0 })
    }

    fn selected<'a>(&self, traces: &'a [Trace]) -> Option<(usize, &'a Trace)> {
        if self.spans.is_some() {
            // What is looked at closely does not change under the eye.
            let at = traces.iter().rposition(|t| Some(t.operation) == self.operation)?;
            return Some((at, &traces[at]));
        }
        let place = *self.rows.get(self.row(traces).min(self.rows.len().saturating_sub(1)))?;
        traces.get(place).map(|t| (place, t))
    }

    fn select(&mut self, row: usize, traces: &[Trace]) {
        self.operation = self.rows.get(row).and_then(|&i| traces.get(i)).map(|t| t.operation);
    }

    fn turn(&mut self, by: usize) {
        let at = Order::ALL.iter().position(|o| *o == self.order).unwrap_or(0);
        self.order = Order::ALL[(at + by) % Order::ALL.len()];
        (self.operation, self.cursor) = (None, Cursor::default());
    }

    fn draw_list(&mut self, canvas: &mut Canvas<'_>, area: Rect, view: &View<'_>, focus: bool) {
        let traces = view.traces();
        let mut spans = vec![Text::styled("find: ", canvas.style(Role::Muted))];
        for order in Order::ALL {
            let role = if order == self.order { Role::Selection } else { Role::Text };
            spans.push(Text::styled(format!(" {} ", order.label()), canvas.style(role)));
        }
        spans.push(Text::styled("  ← →", canvas.style(Role::Accent)));
        let used = canvas.line(area, 0, &Line::from(spans)) + 3;
        let found = format!("{} of {}", self.rows.len(), traces.len());
        let beside = area.width > used + 24;
        let filter = if beside {
            Rect { x: area.x + used, width: area.width - used, height: area.height.min(1), ..area }
        } else {
            Rect { y: area.y + 1.min(area.height), height: area.height.saturating_sub(1), ..area }
        };
        self.filter.draw(canvas, filter, &found, "filter");
        let taken = (if beside { 1 } else { 2 }).min(area.height);
        let list = Rect { y: area.y + taken, height: area.height - taken, ..area };
        let wide = list.width >= 76 + 8;
        let titles = format!(
            "{:<10}{:<11}{:<17}{:<12}{:>7} {:>9} {:>8}{}",
            "ended",
            "operation",
            "asked for",
            "how",
            "took",
            "attempts",
            "queries",
            if wide { "  client" } else { "" }
        );
        canvas.text(list, 0, &titles, Role::Muted);
        let below = list.height.min(1);
        let list = Rect { y: list.y + below, height: list.height - below, ..list };
        if self.rows.is_empty() {
            let text = if traces.is_empty() { "No operation was traced yet." } else { "No operation fits." };
            canvas.text(list, 0, text, Role::Muted);
            return;
        }
        let at = self.row(traces).min(self.rows.len() - 1);
        self.cursor.at = at;
        let shown = self.cursor.shown(self.rows.len(), usize::from(list.height));
        for (y, r) in shown.enumerate() {
            let Some(trace) = traces.get(self.rows[r]) else { continue };
            let (word, role) = outcome(trace);
            let read = format!("{}/{}", trace.read, trace.key);
            let many = |n: u32| if n > 1 { Role::Warn } else { Role::Text };
            let mut spans = vec![
                Text::styled(
                    format!("{:<10}", view.clock_at(trace.started + trace.took).to_string()),
                    canvas.style(Role::Muted),
                ),
                Text::styled(format!("{:<11x}", trace.operation), canvas.style(Role::Accent)),
                Text::raw(format!("{read:<16} ")),
                Text::styled(format!("{word:<12}"), canvas.style(role)),
                Text::raw(format!("{:>7}", trace.took.to_string())),
                Text::styled(format!("{:>10}", trace.attempts), canvas.style(many(trace.attempts))),
                Text::styled(format!("{:>9}", trace.queries), canvas.style(many(trace.queries))),
            ];
            if wide {
                spans.push(Text::styled(format!("  {}", trace.client), canvas.style(Role::Muted)));
            }
            canvas.line(list, y as u16, &Line::from(spans));
            if r == at && focus {
                canvas.highlight(list, y as u16, Role::Selection);
            } else if r == at {
                canvas.highlight(list, y as u16, Role::Focus);
            }
            canvas.hit_row(list, y as u16, Hit::Item(r));
        }
    }

    /// One operation on a time axis. `at` is the selected span; the rest of them scroll with it.
    fn draw_operation(
        canvas: &mut Canvas<'_>,
        area: Rect,
        (trace, method): (&Trace, &str),
        mut at: Option<&mut Cursor>,
    ) {
        let (_, role) = outcome(trace);
        let lines = wrap(&head(trace, method), area.width);
        let head_height = (lines.len() as u16).min(area.height);
        for (i, line) in lines.iter().enumerate() {
            canvas.text(area, i as u16, line, if role == Role::Ok { Role::Accent } else { role });
        }
        let rest = Rect { y: area.y + head_height, height: area.height - head_height, ..area };
        let detail_height = if at.is_some() && rest.height >= 8 { 2 } else { 0 };
        let rows_area = Rect { height: rest.height - detail_height, ..rest };
        let name_width = 2 + trace
            .spans()
            .iter()
            .enumerate()
            .map(|(i, s)| columns(&s.name) + INDENT * trace.depth(i))
            .max()
            .unwrap_or(8) as u16;
        let place_width = 1 + trace.spans().iter().map(|s| columns(&s.place)).max().unwrap_or(0) as u16;
        let place_width = if area.width < 66 { 0 } else { place_width.min(16) };
        let words_width = trace.spans().iter().map(|s| columns(&span_words(s).0)).max().unwrap_or(0) as u16;
        let words_width = words_width.clamp(2, (area.width / 4).max(17));
        let fixed = name_width + place_width + 10 + words_width;
        if area.width < fixed + 10 {
            canvas.text(rows_area, 0, "Too narrow for the time axis.", Role::Muted);
            return;
        }
        let axis = Axis {
            start: trace.started.0,
            span: trace
                .spans()
                .iter()
                .map(|s| s.start.0 + s.took.0)
                .max()
                .unwrap_or(0)
                .max(trace.started.0 + trace.took.0)
                .saturating_sub(trace.started.0)
                .max(1),
            left: area.x + name_width + place_width,
            width: area.width - fixed,
        };
        axis.draw(canvas, rows_area);
        let below = rows_area.height.min(1);
        let list = Rect { y: rows_area.y + below, height: rows_area.height - below, ..rows_area };
        let height = usize::from(list.height);
        let shown = match at.as_deref_mut() {
            Some(cursor) => cursor.shown(trace.spans().len(), height),
            None => 0..trace.spans().len().min(height),
        };
        let hidden = trace.spans().len() - shown.len();
        for (y, i) in shown.clone().enumerate() {
            let span = &trace.spans()[i];
            let y = y as u16;
            let parent = span.parent.is_none();
            let indent = " ".repeat(INDENT * trace.depth(i));
            let role = if parent { Role::Accent } else { Role::Text };
            canvas.text(Rect { width: name_width, ..list }, y, &format!("{indent}{}", span.name), role);
            let place = Rect { x: list.x + name_width, width: place_width.saturating_sub(1), ..list };
            canvas.text(place, y, &span.place, Role::Info);
            let (words, words_role) = span_words(span);
            axis.bar(canvas, list.y + y, span, if words_role == Role::Muted { role } else { words_role });
            let right = axis.left + axis.width;
            let took = Rect { x: right + 1, width: 7, ..list };
            canvas.line_right(took, y, &Line::from(span.took.to_string()));
            let note = Rect { x: right + 10, width: words_width, ..list };
            canvas.text(note, y, &words, words_role);
            if at.as_deref().is_some_and(|c| c.at == i) {
                canvas.highlight(list, y, Role::Selection);
            }
            canvas.hit_row(list, y, Hit::Item(i));
        }
        match at {
            Some(cursor) if detail_height > 0 => {
                let Some(span) = trace.spans().get(cursor.at) else { return };
                let since = SimSpan(span.start.0.saturating_sub(trace.started.0));
                let text = format!(
                    "{} at {}: began {since} after the user did, took {}, {}",
                    span.name,
                    span.place,
                    span.took,
                    span_words(span).0
                );
                canvas.text(rest, rest.height - 1, &text, Role::Text);
            }
            None if hidden > 0 && list.height > 0 => {
                let text = format!(" {hidden} more, {} shows all ", key_in(Context::Move, Id::Open));
                let line = Line::from(Text::styled(text, canvas.style(Role::Muted)));
                canvas.line_right(list, list.height - 1, &line);
            }
            _ => {}
        }
    }
}

/// Columns by which a span stands further right than what it is part of.
const INDENT: usize = 2;

/// The common time axis.
struct Axis {
    /// Nanosecond at its left end.
    start: u64,
    /// Nanoseconds that it shows.
    span: u64,
    left: u16,
    width: u16,
}

impl Axis {
    /// The column of an instant.
    fn column(&self, at: u64) -> u16 {
        let last = f64::from(self.width.saturating_sub(1));
        let share = at.saturating_sub(self.start) as f64 / self.span as f64;
        (share.clamp(0.0, 1.0) * last + 0.5) as u16
    }

    fn draw(&self, canvas: &mut Canvas<'_>, area: Rect) {
        // The smallest round step that leaves room for its label.
        let per_column = self.span as f64 / f64::from(self.width.max(1));
        let mut step = 1_000.0;
        let found = 'found: loop {
            for factor in [1.0, 2.0, 5.0] {
                if step * factor >= per_column * 9.0 {
                    break 'found step * factor;
                }
            }
            step *= 10.0;
        };
        let step = found as u64;
        let mut at = 0;
        while at <= self.span {
            let x = self.left + self.column(self.start + at);
            let seconds = at as f64 / SECOND as f64;
            let text = Unit::Seconds.show(seconds).replace(".0 ", " ");
            if x + columns(&text) as u16 <= self.left + self.width {
                let place = Rect { x, width: self.left + self.width - x, ..area };
                canvas.text(place, 0, &text, Role::Muted);
            }
            at += step;
        }
    }

    fn bar(&self, canvas: &mut Canvas<'_>, y: u16, span: &Span, role: Role) {
        let (from, to) = (self.column(span.start.0), self.column(span.start.0 + span.took.0));
        let style = canvas.style(role);
        let line = match (span.parent, span.status) {
            (_, SpanStatus::Abandoned) => "┄",
            (None, _) => "━",
            (Some(_), _) => "─",
        };
        for x in from..=to {
            let symbol = match (x == from, x == to) {
                (true, true) => "│",
                (true, false) => "├",
                (false, true) if span.status == SpanStatus::Failed => "×",
                (false, true) => "┤",
                _ => line,
            };
            if let Some(cell) = canvas.buf.cell_mut((self.left + x, y)) {
                cell.set_symbol(symbol).set_style(style);
            }
        }
    }
}

impl Pane for Traces {
    fn name(&self) -> &'static str {
        "traces"
    }

    fn contexts(&self) -> &'static [Context] {
        &[Context::Search, Context::Move]
    }

    fn draw(&mut self, canvas: &mut Canvas<'_>, area: Rect, view: &View<'_>, look: Look) {
        let traces = view.traces();
        self.refresh(traces);
        let right = if self.spans.is_some() {
            format!("{} back to the list", key_in(Context::Global, Id::Back))
        } else {
            format!("{} looks closer", key_in(Context::Move, Id::Open))
        };
        let right = Line::from(Text::styled(right, canvas.style(Role::Muted)));
        let inner = canvas.frame(area, "Traces", &right, look.focus);
        let inner = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
        if inner.height == 0 || inner.width == 0 {
            return;
        }
        if self.spans.is_some() && self.selected(traces).is_none() {
            self.spans = None;
        }
        let selected = self.selected(traces).map(|s| s.1);
        if let (Some(cursor), Some(trace)) = (&mut self.spans, selected) {
            Traces::draw_operation(canvas, inner, (trace, view.method(&trace.read)), Some(cursor));
            return;
        }
        let split = inner.height >= 18 && selected.is_some();
        let upper = if split { (inner.height * 2 / 5).max(8) } else { inner.height };
        self.draw_list(canvas, Rect { height: upper, ..inner }, view, look.focus);
        if let (true, Some((_, trace))) = (split, self.selected(traces)) {
            let rule = Rect { y: inner.y + upper, height: 1, ..inner };
            canvas.text(rule, 0, &"─".repeat(usize::from(inner.width)), Role::Muted);
            let lower = Rect { y: rule.y + 1, height: inner.height - upper - 1, ..inner };
            let before = canvas.hits.len();
            Traces::draw_operation(canvas, lower, (trace, view.method(&trace.read)), None);
            // The rows of the preview are not those of the list.
            canvas.hits.truncate(before);
        }
    }

    fn act(&mut self, id: Id, view: &View<'_>) -> Option<Vec<Outcome>> {
        let traces = view.traces();
        self.refresh(traces);
        if id == Id::Pin {
            let (place, trace) = self.selected(traces)?;
            let sheet = dialogs::pin(Source::Trace(place), &head(trace, view.method(&trace.read)), view);
            return Some(vec![Outcome::Open(Box::new(sheet))]);
        }
        let spans = self.selected(traces).map_or(0, |s| s.1.spans().len());
        if let Some(cursor) = &mut self.spans {
            match id {
                Id::Back | Id::Open => self.spans = None,
                _ if cursor.act(id, spans) => {}
                _ => return None,
            }
            return Some(Vec::new());
        }
        self.cursor.at = self.row(traces);
        match id {
            Id::Filter => self.filter.start(),
            Id::NextMatch => {
                self.cursor.act(Id::Down, self.rows.len());
                self.select(self.cursor.at, traces);
            }
            Id::PreviousMatch => {
                self.cursor.act(Id::Up, self.rows.len());
                self.select(self.cursor.at, traces);
            }
            Id::Left => self.turn(Order::ALL.len() - 1),
            Id::Right => self.turn(1),
            Id::Open => {
                let (_, trace) = self.selected(traces)?;
                self.operation = Some(trace.operation);
                self.spans = Some(Cursor::default());
            }
            Id::Back if self.filter.active() => self.filter.clear(),
            // At the top the list follows what comes in.
            Id::Top => self.operation = None,
            _ if self.cursor.act(id, self.rows.len()) => self.select(self.cursor.at, traces),
            _ => return None,
        }
        Some(Vec::new())
    }

    fn types(&self) -> bool {
        self.filter.types()
    }

    fn typed(&mut self, key: Key, _view: &View<'_>) -> Option<Vec<Outcome>> {
        self.filter.typed(key).then(Vec::new)
    }

    fn pasted(&mut self, text: &str) {
        self.filter.pasted(text);
    }

    fn clicked(&mut self, item: usize, view: &View<'_>) -> Vec<Outcome> {
        if let Some(cursor) = &mut self.spans {
            cursor.at = item;
            return Vec::new();
        }
        let before = self.operation;
        self.select(item, view.traces());
        if before == self.operation { self.act(Id::Open, view).unwrap_or_default() } else { Vec::new() }
    }

    fn pinned(&self, view: &View<'_>) -> Option<Source> {
        self.selected(view.traces()).map(|(place, _)| Source::Trace(place))
    }

    fn copied(&self, view: &View<'_>) -> Option<String> {
        self.selected(view.traces()).map(|(_, trace)| head(trace, view.method(&trace.read)))
    }

    fn looked_at(&self, view: &View<'_>) -> Vec<Source> {
        let mut seen = vec![Source::Pane("traces".to_owned())];
        if self.spans.is_some() {
            seen.extend(self.pinned(view));
        }
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::testing::draw;
    use crate::units::SimTime;

    fn span(
        parent: Option<usize>,
        name: &str,
        place: &str,
        at_ms: u64,
        ms: u64,
        end: (SpanStatus, &'static str),
    ) -> Span {
        Span {
            parent,
            name: name.to_owned(),
            place: place.to_owned(),
            start: SimTime(5 * SECOND + at_ms * 1_000_000),
            took: SimSpan(ms * 1_000_000),
            status: end.0,
            note: end.1,
        }
    }

    fn trace() -> Trace {
        use SpanStatus::{Abandoned, Failed, Ok};
        trace_of(vec![
            span(None, "attempt 1", "api-07", 0, 6_000, (Failed, "500")),
            span(Some(0), "cache get", "catalog-cache", 1, 1, (Ok, "miss")),
            span(Some(0), "pool wait", "api-07", 2, 1_900, (Ok, "")),
            span(Some(0), "query 1", "primary", 1_902, 2_000, (Failed, "timed out")),
            span(Some(0), "query 2", "primary", 3_902, 2_000, (Failed, "timed out")),
            span(None, "attempt 2", "api-13", 6_100, 6_000, (Failed, "503")),
            span(Some(5), "query 1", "replica-1", 8_000, 4_100, (Abandoned, "client gone")),
        ])
    }

    fn trace_of(spans: Vec<Span>) -> Trace {
        let mut trace = Trace::of_spans(spans);
        trace.operation = 0x7f3a;
        (trace.read, trace.key, trace.client) = ("popular".into(), 81_273, "mobile".into());
        (trace.started, trace.took) = (SimTime(5 * SECOND), SimSpan(12_100_000_000));
        (trace.outcome, trace.attempts, trace.queries) = (TraceOutcome::Failed, 2, 3);
        trace
    }

    #[test]
    fn one_operation_on_a_time_axis() {
        for width in [84, 76, 60] {
            insta::assert_snapshot!(
                format!("waterfall_{width}"),
                draw(width, 12, |canvas, area| {
                    Traces::draw_operation(canvas, area, (&trace(), "GET"), None);
                })
            );
        }
    }

    #[test]
    fn operations_are_found_by_what_was_slow_failed_or_repeated() {
        let one = |operation, took, outcome, attempts| {
            let mut one = trace();
            (one.operation, one.took, one.outcome, one.attempts) =
                (operation, SimSpan(took), outcome, attempts);
            one
        };
        let record = [
            one(1, 500, TraceOutcome::Served, 1),
            one(2, 900, TraceOutcome::Failed, 2),
            one(3, 100, TraceOutcome::Failed, 4),
        ];
        let mut traces = Traces::default();
        for (order, wanted) in [
            (Order::Newest, vec![2, 1, 0]),
            (Order::Slowest, vec![1, 0, 2]),
            (Order::Failed, vec![2, 1]),
            (Order::Attempts, vec![2, 1, 0]),
        ] {
            traces.order = order;
            traces.refresh(&record);
            assert_eq!(traces.rows, wanted, "{order:?}");
        }
        traces.filter.start();
        traces.filter.pasted("popular served");
        traces.order = Order::Newest;
        traces.refresh(&record);
        assert_eq!(traces.rows, [0]);
    }

    #[test]
    fn a_selected_operation_stays_selected_while_others_come() {
        let mut record = vec![trace()];
        let mut traces = Traces::default();
        traces.refresh(&record);
        traces.select(0, &record);
        record.push(trace());
        record[1].operation = 9;
        traces.refresh(&record);
        assert_eq!((traces.row(&record), traces.selected(&record).map(|s| s.0)), (1, Some(0)));
    }

    #[test]
    fn an_operation_without_spans_and_any_size_can_be_drawn() {
        let mut bare = trace_of(Vec::new());
        bare.took = SimSpan(0);
        for (width, height) in (0..90).step_by(7).flat_map(|w| (0..14).map(move |h| (w, h))) {
            for one in [&bare, &trace()] {
                draw(width, height, |canvas, area| {
                    Traces::draw_operation(canvas, area, (one, "GET"), Some(&mut Cursor::default()));
                });
            }
        }
    }
}
