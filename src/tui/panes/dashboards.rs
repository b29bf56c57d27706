//! Dashboards: the incident's charts in a grid, one dashboard at a time, and last one with the player's own panels.

use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::own::{Asked, Asking, Own};
use super::{Look, Pane};
use crate::game::command::Source;
use crate::game::{AnnotationKind, View};
use crate::incident::schema::Panel;
use crate::telemetry::{RECENT_S, Series};
use crate::tui::actions::{Context, Id, Key, key_of};
use crate::tui::canvas::{Canvas, Hit, wrap};
use crate::tui::layer::Outcome;
use crate::tui::theme::Role;
use crate::tui::widgets::chart::{Chart, Extras, Mark, Plotted};
use crate::units::Unit;

/// Minutes of the shared window of time.
const WINDOWS_MIN: [usize; 6] = [1, 3, 5, 15, 30, 60];
/// Smallest size of a chart that can be read.
const LEAST: (u16, u16) = (36, 7);
/// Series of one panel that are noted as looked at.
const NOTED: usize = 8;
/// How far back the window lies that the present one can be compared with.
const EARLIER_MIN: [usize; 4] = [5, 15, 30, 60];

/// The pane.
pub(crate) struct Dashboards {
    dashboard: usize,
    panel: usize,
    /// First row of the grid that is shown.
    top: usize,
    /// Columns of the grid when it was drawn last, and rows that were shown.
    grid: (usize, usize),
    window: usize,
    /// The crosshair, as seconds since the start of the clock.
    crosshair: Option<usize>,
    expanded: bool,
    /// Seconds between the right edge and now, when an earlier window is looked at.
    back: usize,
    log: bool,
    /// The comparison with an earlier window, by its place in [`EARLIER_MIN`].
    earlier: Option<usize>,
    /// The only line of a chart that is drawn.
    alone: Option<usize>,
    /// The player's own panels.
    own: Vec<Own>,
    /// A panel that is being asked for.
    asking: Option<Asking>,
}

impl Default for Dashboards {
    fn default() -> Dashboards {
        Dashboards {
            dashboard: 0,
            panel: 0,
            top: 0,
            grid: (1, 1),
            window: 3,
            crosshair: None,
            expanded: false,
            back: 0,
            log: false,
            earlier: None,
            alone: None,
            own: Vec::new(),
            asking: None,
        }
    }
}

/// A panel as it is drawn.
#[derive(Clone, Copy)]
enum Shown<'a> {
    Authored(&'a Panel),
    Own(&'a Own),
}

impl<'a> Shown<'a> {
    fn title(self, view: &View<'_>) -> String {
        match self {
            Shown::Authored(panel) => panel.title.clone(),
            Shown::Own(own) => own.title(view),
        }
    }

    fn lines(self, view: &View<'a>) -> Vec<&'a Series> {
        match self {
            Shown::Authored(panel) => {
                panel.series.iter().flat_map(|name| view.series().matching(name)).collect()
            }
            Shown::Own(own) => own.lines().iter().collect(),
        }
    }

    /// What looking at it tells: its series, as far as they are noted.
    fn sources(self, view: &View<'a>) -> Vec<Source> {
        match self {
            Shown::Authored(_) => {
                let lines = self.lines(view);
                lines.into_iter().take(NOTED).map(|s| Source::Series(s.name.clone())).collect()
            }
            Shown::Own(own) => vec![own.source(view)],
        }
    }

    fn help(self, view: &View<'_>) -> String {
        match self {
            Shown::Authored(panel) => panel.help.clone(),
            Shown::Own(own) => own.help(view),
        }
    }
}

impl Dashboards {
    /// The panels of the dashboard that is shown.
    fn panels<'a>(&'a self, view: &View<'a>) -> Vec<Shown<'a>> {
        match view.dashboards().get(self.dashboard) {
            Some(dashboard) => dashboard.panels.iter().map(Shown::Authored).collect(),
            None => self.own.iter().map(Shown::Own).collect(),
        }
    }

    fn panel<'a>(&'a self, view: &View<'a>) -> Option<Shown<'a>> {
        self.panels(view).get(self.panel).copied()
    }

    /// Whether the dashboard that is shown is the player's own.
    fn at_own(&self, view: &View<'_>) -> bool {
        self.dashboard >= view.dashboards().len()
    }

    /// How many dashboards there are.
    fn count(&self, view: &View<'_>) -> usize {
        view.dashboards().len() + usize::from(!self.own.is_empty())
    }

    /// The second at the right edge.
    fn edge(&self, view: &View<'_>) -> usize {
        view.series().seconds().saturating_sub(self.back)
    }

    /// Moves the window by that many halves of it, to earlier times when negative.
    fn pan(&mut self, view: &View<'_>, by: isize) {
        let recorded = view.series().seconds();
        let half = (self.shown_s(view) / 2).max(1) as isize;
        let most = recorded.saturating_sub(self.shown_s(view)) as isize;
        self.back = (self.back as isize - by * half).clamp(0, most.max(0)) as usize;
    }

    /// The lines that are drawn: all, or each by itself in turn.
    fn turn_lines(&mut self, view: &View<'_>) {
        let lines = self.panel(view).map_or(0, |panel| panel.lines(view).len().min(NOTED));
        self.alone = match self.alone {
            None if lines > 1 => Some(0),
            Some(i) if i + 1 < lines => Some(i + 1),
            _ => None,
        };
    }

    fn extras(&self, lines: usize, selected: bool) -> Extras {
        let hidden = match self.alone {
            Some(i) if selected && i < lines => !(1 << i),
            _ => 0,
        };
        Extras { log: self.log, earlier: self.earlier.map(|i| EARLIER_MIN[i] * 60), hidden }
    }

    fn window_s(&self) -> usize {
        WINDOWS_MIN[self.window] * 60
    }

    /// Seconds that are shown: no more than there are, in whole minutes.
    fn shown_s(&self, view: &View<'_>) -> usize {
        let recorded = view.series().seconds().div_ceil(60) * 60;
        self.window_s().min(recorded.max(60))
    }

    fn turn(&mut self, view: &View<'_>, by: isize) {
        let n = self.count(view).max(1) as isize;
        self.dashboard = (self.dashboard as isize + by).rem_euclid(n) as usize;
        (self.panel, self.top, self.alone) = (0, 0, None);
    }

    fn select(&mut self, view: &View<'_>, by: isize) {
        let n = self.panels(view).len();
        self.panel = (self.panel as isize + by).clamp(0, n.saturating_sub(1) as isize) as usize;
        self.alone = None;
    }

    /// Moves the crosshair by that many hundredths of the window, to the left when negative.
    fn move_crosshair(&mut self, view: &View<'_>, by: isize) {
        let now = self.edge(view);
        let Some(newest) = now.checked_sub(1) else { return };
        let oldest = now.saturating_sub(self.shown_s(view));
        let step = (self.shown_s(view) / 100).max(1) as isize;
        let at = self.crosshair.unwrap_or(newest) as isize + by * step;
        self.crosshair = Some((at.max(0) as usize).clamp(oldest, newest));
    }

    fn draw_panel(
        &self,
        canvas: &mut Canvas<'_>,
        area: Rect,
        view: &View<'_>,
        at: usize,
        marks: &[Mark],
        focus: bool,
    ) {
        let Some(panel) = self.panels(view).get(at).copied() else { return };
        let lines = panel.lines(view);
        let (patterns, threshold): (&[String], _) = match panel {
            Shown::Authored(panel) => (&panel.series, panel.threshold.as_ref()),
            Shown::Own(_) => (&[], None),
        };
        let chart = Chart {
            title: &panel.title(view),
            extras: self.extras(lines.len(), at == self.panel),
            lines: lines.into_iter().map(|s| plotted(s, patterns)).collect(),
            threshold: threshold.map(|(value, name)| (*value, name.as_str())),
            marks,
            now: self.edge(view),
            window: self.shown_s(view),
            crosshair: self.crosshair,
            clock: view.clock_at(crate::units::SimTime::ZERO),
            focus: focus && at == self.panel,
        };
        chart.draw(canvas, area);
    }

    /// The tabs of the dashboards and the window of time.
    fn draw_tabs(&self, canvas: &mut Canvas<'_>, row: Rect, view: &View<'_>) {
        let mut spans = vec![Span::raw(" ")];
        for (i, dashboard) in view.dashboards().iter().enumerate() {
            let role = if i == self.dashboard { Role::Selection } else { Role::Muted };
            spans.push(Span::styled(format!(" {} ", dashboard.title), canvas.style(role)));
            spans.push(Span::raw(" "));
        }
        if !self.own.is_empty() {
            let role = if self.at_own(view) { Role::Selection } else { Role::Muted };
            spans.push(Span::styled(" Own ", canvas.style(role)));
            spans.push(Span::raw(" "));
        }
        if self.count(view) > 1 {
            spans.push(Span::styled("[ ]", canvas.style(Role::Accent)));
        }
        let used = canvas.line(row, 0, &Line::from(spans));
        let minutes = WINDOWS_MIN[self.window];
        let window = if self.back > 0 {
            let edge = view.clock_at(crate::units::SimTime::from_secs(self.edge(view) as u64));
            Span::styled(
                format!("{minutes} min up to {edge}, {} later ", key_of(Id::Later)),
                canvas.style(Role::Warn),
            )
        } else {
            Span::styled(format!("last {minutes} min "), canvas.style(Role::Muted))
        };
        let right = Line::from(vec![window, Span::styled("+ - ", canvas.style(Role::Accent))]);
        if usize::from(row.width) > usize::from(used) + right.width() {
            canvas.line_right(row, 0, &right);
        }
    }
}

/// A series as a line of a chart. The name leaves out what all lines of the panel have in common.
fn plotted<'a>(series: &'a Series, patterns: &[String]) -> Plotted<'a> {
    let short = patterns.iter().find_map(|p| {
        let (head, tail) = p.split_once('*')?;
        series.name.strip_prefix(head)?.strip_suffix(tail)
    });
    let (first, rest) = series.name.split_once('.').unwrap_or((&series.name, ""));
    let of_that_word = patterns.iter().filter(|p| p.split('.').next() == Some(first)).count();
    let name = match short {
        Some(short) => short,
        None if of_that_word == patterns.len() && !rest.is_empty() => rest,
        None if of_that_word == 1 => first,
        None => series.name.as_str(),
    };
    Plotted {
        name: name.to_owned(),
        unit: series.unit,
        more_is_worse: series.more_is_worse,
        values: &series.values,
        merged: series.merged.as_deref(),
    }
}

/// The annotations of all charts.
fn marks(view: &View<'_>) -> Vec<Mark> {
    let mark = |a: crate::game::Annotation| {
        let (letter, role) = match a.kind {
            AnnotationKind::Page => ('P', Role::Crit),
            AnnotationKind::Alert => ('!', Role::Warn),
            AnnotationKind::Change => ('C', Role::Info),
            AnnotationKind::Action => ('Y', Role::Accent),
        };
        Mark { second: a.at.as_secs() as usize, letter, role }
    };
    let mut all = view.annotations();
    // The later ones are drawn over the others where they share a column.
    all.sort_by_key(|a| match a.kind {
        AnnotationKind::Change => 0,
        AnnotationKind::Alert => 1,
        AnnotationKind::Action => 2,
        AnnotationKind::Page => 3,
    });
    all.into_iter().map(mark).collect()
}

impl Pane for Dashboards {
    fn name(&self) -> &'static str {
        "dashboards"
    }

    fn brief(&self) -> &'static str {
        "charts"
    }

    fn contexts(&self) -> &'static [Context] {
        &[Context::Charts, Context::Move]
    }

    fn draw(&mut self, canvas: &mut Canvas<'_>, area: Rect, view: &View<'_>, look: Look) {
        self.expanded = look.expanded;
        if !look.expanded {
            self.crosshair = None;
        }
        self.dashboard = self.dashboard.min(self.count(view).saturating_sub(1));
        for own in &mut self.own {
            own.refresh(view);
        }
        let marks = marks(view);
        self.panel = self.panel.min(self.panels(view).len().saturating_sub(1));
        if look.expanded {
            let Some(panel) = self.panel(view) else { return };
            let help = expanded_help(panel, view);
            let lines = wrap(&help, area.width.saturating_sub(2));
            let below = (lines.len() as u16).min(area.height / 3);
            let chart = Rect { height: area.height - below, ..area };
            self.draw_panel(canvas, chart, view, self.panel, &marks, look.focus);
            let text =
                Rect { x: area.x + 1, y: chart.bottom(), width: area.width.saturating_sub(2), height: below };
            for (i, line) in lines.iter().enumerate() {
                canvas.text(text, i as u16, line, Role::Muted);
            }
            if let Some(asking) = &self.asking {
                asking.draw(canvas, area, view);
            }
            return;
        }
        let whole = area;
        let tabs = Rect { height: area.height.min(1), ..area };
        self.draw_tabs(canvas, tabs, view);
        let area = Rect { y: area.y + tabs.height, height: area.height - tabs.height, ..area };
        let n = self.panels(view).len();
        if area.height == 0 || area.width == 0 || n == 0 {
            return;
        }
        let most_columns = usize::from((area.width / LEAST.0).max(1));
        let columns = most_columns.min(if n <= 2 { 1 } else { n.div_ceil(2).min(3) }).max(1);
        let rows = n.div_ceil(columns);
        let shown = rows.min(usize::from((area.height / LEAST.1).max(1)));
        self.grid = (columns, shown);
        let selected_row = self.panel / columns;
        self.top = self.top.clamp((selected_row + 1).saturating_sub(shown), selected_row).min(rows - shown);
        for i in (self.top * columns)..n.min((self.top + shown) * columns) {
            let (row, column) = ((i / columns - self.top) as u16, (i % columns) as u16);
            let in_row = columns.min(n - (i / columns) * columns) as u16;
            let (x, right) = (area.width * column / in_row, area.width * (column + 1) / in_row);
            let (y, bottom) = (area.height * row / shown as u16, area.height * (row + 1) / shown as u16);
            let place = Rect { x: area.x + x, y: area.y + y, width: right - x, height: bottom - y };
            self.draw_panel(canvas, place, view, i, &marks, look.focus);
            canvas.hit(place, Hit::Item(i));
        }
        if rows > shown {
            let text = format!(" row {} of {rows} ", self.top + 1);
            let row =
                Rect { y: area.bottom() - 1, height: 1, x: area.x + 2, width: area.width.saturating_sub(4) };
            canvas.line_right(row, 0, &Line::from(Span::styled(text, canvas.style(Role::Muted))));
        }
        if let Some(asking) = &self.asking {
            asking.draw(canvas, whole, view);
        }
    }

    fn types(&self) -> bool {
        self.asking.is_some()
    }

    fn typed(&mut self, key: Key, view: &View<'_>) -> Option<Vec<Outcome>> {
        match self.asking.take()?.typed(key, view) {
            Asked::Open(asking) => self.asking = Some(asking),
            Asked::Left => {}
            Asked::Panel(own) => {
                self.own.push(own);
                (self.dashboard, self.panel) = (view.dashboards().len(), self.own.len() - 1);
            }
        }
        Some(Vec::new())
    }

    fn pasted(&mut self, text: &str) {
        if let Some(asking) = &mut self.asking {
            asking.pasted(text);
        }
    }

    fn act(&mut self, id: Id, view: &View<'_>) -> Option<Vec<Outcome>> {
        let columns = self.grid.0 as isize;
        match id {
            Id::ZoomIn => self.window = self.window.saturating_sub(1),
            Id::ZoomOut => self.window = (self.window + 1).min(WINDOWS_MIN.len() - 1),
            Id::Earlier => self.pan(view, -1),
            Id::Later => self.pan(view, 1),
            Id::LogAxis => self.log = !self.log,
            Id::Compare => {
                self.earlier = match self.earlier {
                    None => Some(0),
                    Some(i) if i + 1 < EARLIER_MIN.len() => Some(i + 1),
                    Some(_) => None,
                };
            }
            Id::Lines => self.turn_lines(view),
            Id::Query => self.asking = Some(Asking::default()),
            Id::RemovePanel if self.at_own(view) && self.panel < self.own.len() => {
                self.own.remove(self.panel);
            }
            Id::RemovePanel => {
                return Some(vec![Outcome::Warn("Only panels of your own can be taken away.".to_owned())]);
            }
            Id::NextDashboard => self.turn(view, 1),
            Id::PreviousDashboard => self.turn(view, -1),
            Id::Left if self.expanded => self.move_crosshair(view, -1),
            Id::Right if self.expanded => self.move_crosshair(view, 1),
            Id::PageUp if self.expanded => self.move_crosshair(view, -10),
            Id::PageDown if self.expanded => self.move_crosshair(view, 10),
            Id::Up if self.expanded => self.select(view, -1),
            Id::Down if self.expanded => self.select(view, 1),
            Id::Left => self.select(view, -1),
            Id::Right => self.select(view, 1),
            Id::Up if self.panel >= self.grid.0 => self.select(view, -columns),
            Id::Down => self.select(view, columns),
            Id::PageUp => self.select(view, -columns * self.grid.1 as isize),
            Id::PageDown => self.select(view, columns * self.grid.1 as isize),
            Id::Top => self.panel = 0,
            Id::Bottom => self.select(view, 1_000),
            Id::Open => return Some(vec![Outcome::Act(Id::Expand)]),
            Id::Up => {}
            _ => return None,
        }
        Some(Vec::new())
    }

    fn clicked(&mut self, item: usize, _view: &View<'_>) -> Vec<Outcome> {
        if self.panel == item {
            return vec![Outcome::Act(Id::Expand)];
        }
        self.panel = item;
        Vec::new()
    }

    fn pinned(&self, view: &View<'_>) -> Option<Source> {
        self.panel(view)?.sources(view).into_iter().next()
    }

    fn pin_note(&self, view: &View<'_>) -> String {
        let Some(panel) = self.panel(view) else { return String::new() };
        let series = || panel.lines(view).into_iter();
        let value = |s: &Series, v: f64| format!("{} {}", s.name, s.unit.show(v));
        if let Some(second) = self.crosshair {
            let at = |s: &Series| s.recent_at(second + 1).map(|v| value(s, v));
            let values: Vec<String> = series().take(NOTED).filter_map(at).collect();
            let time = view.clock_at(crate::units::SimTime::from_secs(second as u64));
            return format!("at {time}: {}", values.join(", "));
        }
        let others: Vec<String> =
            series().skip(1).take(NOTED).map(|s| value(s, s.recent().unwrap_or(f64::NAN))).collect();
        if others.is_empty() { String::new() } else { format!("beside {}", others.join(", ")) }
    }

    fn copied(&self, view: &View<'_>) -> Option<String> {
        let panel = self.panel(view)?;
        let value = |s: &Series| format!("{} {}", s.name, s.unit.show(s.recent().unwrap_or(f64::NAN)));
        let values: Vec<String> = panel.lines(view).into_iter().map(value).collect();
        Some(format!("{} {}: {}", view.clock(), panel.title(view), values.join(", ")))
    }

    fn looked_at(&self, view: &View<'_>) -> Vec<Source> {
        let shown = if self.expanded {
            self.panel..self.panel + 1
        } else {
            self.top * self.grid.0..(self.top + self.grid.1) * self.grid.0
        };
        let panels = self.panels(view).into_iter().skip(shown.start).take(shown.len());
        panels.flat_map(|panel| panel.sources(view)).collect()
    }
}

/// What an expanded panel says below its chart.
fn expanded_help(panel: Shown<'_>, view: &View<'_>) -> String {
    let lines = panel.lines(view);
    let rates = lines.iter().any(|s| s.unit == Unit::PerSecond);
    let smoothed = if lines.iter().any(|s| s.merged.is_some()) {
        format!(
            " Percentiles are those of {RECENT_S} s of requests; they jump where few requests lie between two levels."
        )
    } else if rates {
        format!(" Rates are drawn as means of {RECENT_S} s; so are all figures.")
    } else {
        format!(" Figures are means of {RECENT_S} s.")
    };
    format!(
        "{}{smoothed} Marks: P page, ! alert, C change, Y your action. h and l move the crosshair, j and k change \
         the chart, b pins the reading.",
        panel.help(view)
    )
}
