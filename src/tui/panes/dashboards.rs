//! Dashboards: the incident's charts in a grid, one dashboard at a time, and last one with the player's own panels.

use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::{Look, Pane};
use crate::game::command::Source;
use crate::game::{AnnotationKind, View};
use crate::incident::schema::Panel;
use crate::telemetry::{RECENT_S, Series, recent};
use crossterm::event::KeyCode;
use ratatui::layout::Position;
use tui_input::{Input, InputRequest};

use crate::incident::closest;
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
/// Longest text that asks for a panel.
const LONGEST: usize = 120;

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
    own: Vec<Panel>,
    /// A panel that is being asked for.
    asking: Option<Asking>,
}

/// The line in which a panel is asked for.
#[derive(Default)]
struct Asking {
    input: Input,
    /// The series among those found that Tab or Enter takes.
    at: usize,
    error: Option<String>,
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

/// The panel that a text asks for: names of series, or patterns with a `*`, with commas between.
fn panel_of(text: &str, view: &View<'_>) -> Result<Panel, String> {
    let names: Vec<&str> = text.split(',').map(str::trim).filter(|n| !n.is_empty()).collect();
    for name in &names {
        if view.series().matching(name).next().is_none() {
            let hint = match closest(name, view.series().iter().map(|s| s.name.as_str())) {
                Some(meant) => format!("did you mean {meant}?"),
                None => "a few letters find what there is".to_owned(),
            };
            return Err(format!("no series is called {name}; {hint}"));
        }
    }
    let title = match names[..] {
        [] => return Err("type a series' name, or a few letters of it".to_owned()),
        [one] if !one.contains('*') => view.name_in_words(one),
        _ => names.join(", "),
    };
    let what = names.iter().filter_map(|n| view.series().get(n)).map(|s| s.what.clone());
    let help: Vec<String> = what.filter(|w| !w.is_empty()).collect();
    Ok(Panel {
        title,
        series: names.into_iter().map(str::to_owned).collect(),
        threshold: None,
        help: if help.is_empty() { "A panel of your own.".to_owned() } else { help.join(" ") },
    })
}

impl Dashboards {
    /// The panels of the dashboard that is shown.
    fn panels<'a>(&'a self, view: &View<'a>) -> &'a [Panel] {
        match view.dashboards().get(self.dashboard) {
            Some(dashboard) => &dashboard.panels,
            None => &self.own,
        }
    }

    fn panel<'a>(&'a self, view: &View<'a>) -> Option<&'a Panel> {
        self.panels(view).get(self.panel)
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
        let lines = self
            .panel(view)
            .map_or(0, |p| p.series.iter().flat_map(|name| view.series().matching(name)).count().min(NOTED));
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

    /// Series that the text of a panel can go on with.
    fn found<'a>(&self, view: &View<'a>) -> Vec<&'a Series> {
        let text = self.asking.as_ref().map_or("", |a| a.input.value());
        let last = text.rsplit(',').next().unwrap_or("").trim().to_lowercase();
        let fits = |s: &&Series| s.name.contains(&last) || s.what.to_lowercase().contains(&last);
        let mut found: Vec<&Series> = view.series().iter().filter(fits).collect();
        found.sort_by_key(|s| (!s.name.starts_with(&last), !s.name.contains(&last), s.name.clone()));
        found
    }

    /// Puts the series that is selected in place of the letters that found it.
    fn complete(&mut self, view: &View<'_>) {
        let found = self.found(view);
        let Some(asking) = &mut self.asking else { return };
        let Some(series) = found.get(asking.at.min(found.len().saturating_sub(1))) else { return };
        let text = asking.input.value();
        let before = text.rfind(',').map_or(String::new(), |i| format!("{}, ", &text[..i]));
        asking.input = Input::new(format!("{before}{}", series.name));
        asking.at = 0;
    }

    /// Adds the panel that is asked for.
    fn add(&mut self, view: &View<'_>) {
        let text = self.asking.as_ref().map(|a| a.input.value().to_owned()).unwrap_or_default();
        let panel = match panel_of(&text, view) {
            // A few letters stand for the series that they find.
            Err(_) if !text.trim().is_empty() && !self.found(view).is_empty() => {
                self.complete(view);
                let text = self.asking.as_ref().map(|a| a.input.value().to_owned()).unwrap_or_default();
                panel_of(&text, view)
            }
            result => result,
        };
        match panel {
            Ok(panel) => {
                self.own.push(panel);
                (self.dashboard, self.panel) = (view.dashboards().len(), self.own.len() - 1);
                self.asking = None;
            }
            Err(error) => {
                if let Some(asking) = &mut self.asking {
                    asking.error = Some(error);
                }
            }
        }
    }

    /// The line in which a panel is asked for, with what the letters so far find.
    fn draw_asking(&self, canvas: &mut Canvas<'_>, area: Rect, view: &View<'_>) {
        let Some(asking) = &self.asking else { return };
        let found = self.found(view);
        let height = (found.len() as u16 + 5).clamp(7, 16).min(area.height);
        let place = crate::tui::canvas::centred(area, area.width.saturating_sub(4).min(90), height);
        canvas.clear(place);
        let right = format!("{} series", found.len());
        let right = Line::from(Span::styled(right, canvas.style(Role::Muted)));
        let inner = canvas.frame(place, "A panel of your own", &right, true);
        let inner = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
        canvas.text(inner, 0, "> ", Role::Accent);
        let text = Rect { x: inner.x + 2, width: inner.width.saturating_sub(2), ..inner };
        if asking.input.value().is_empty() {
            canvas.text(text, 0, "series, with commas between; * stands for anything", Role::Muted);
        } else {
            canvas.text(text, 0, asking.input.value(), Role::Text);
        }
        let x = text.x + (asking.input.visual_cursor() as u16).min(text.width.saturating_sub(1));
        *canvas.cursor = Some(Position { x, y: inner.y });
        let rows = usize::from(inner.height.saturating_sub(2));
        let at = asking.at.min(found.len().saturating_sub(1));
        let skip = (at + 1).saturating_sub(rows);
        for (row, series) in found.iter().enumerate().skip(skip).take(rows) {
            let y = (row - skip) as u16 + 1;
            let line = Line::from(vec![
                Span::styled(format!("{:<34} ", series.name), canvas.style(Role::Text)),
                Span::styled(series.what.clone(), canvas.style(Role::Muted)),
            ]);
            canvas.line(inner, y, &line);
            if row == at {
                canvas.highlight(inner, y, Role::Selection);
            }
        }
        let foot = inner.height.saturating_sub(1);
        match &asking.error {
            Some(error) => canvas.text(inner, foot, error, Role::Warn),
            None => {
                canvas.text(inner, foot, "Enter add · Tab complete · ↑ ↓ choose · Esc cancel", Role::Muted)
            }
        };
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
        panel: &Panel,
        marks: &[Mark],
        focus: bool,
    ) {
        let recorded: Vec<&Series> =
            panel.series.iter().flat_map(|name| view.series().matching(name)).collect();
        let selected = self.panel(view).is_some_and(|p| std::ptr::eq(p, panel));
        let chart = Chart {
            title: &panel.title,
            extras: self.extras(recorded.len(), selected),
            lines: recorded.iter().map(|s| plotted(s, &panel.series)).collect(),
            threshold: panel.threshold.as_ref().map(|(value, name)| (*value, name.as_str())),
            marks,
            now: self.edge(view),
            window: self.shown_s(view),
            crosshair: self.crosshair,
            clock: view.clock_at(crate::units::SimTime::ZERO),
            focus,
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
    }
}

/// The annotations of all charts.
pub(super) fn marks(view: &View<'_>) -> Vec<Mark> {
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
        let marks = marks(view);
        self.panel = self.panel.min(self.panels(view).len().saturating_sub(1));
        if look.expanded {
            let Some(panel) = self.panel(view) else { return };
            let help = expanded_help(panel, view);
            let lines = wrap(&help, area.width.saturating_sub(2));
            let below = (lines.len() as u16).min(area.height / 3);
            let chart = Rect { height: area.height - below, ..area };
            self.draw_panel(canvas, chart, view, panel, &marks, look.focus);
            let text =
                Rect { x: area.x + 1, y: chart.bottom(), width: area.width.saturating_sub(2), height: below };
            for (i, line) in lines.iter().enumerate() {
                canvas.text(text, i as u16, line, Role::Muted);
            }
            self.draw_asking(canvas, area, view);
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
        for (i, panel) in self.panels(view).iter().enumerate().skip(self.top * columns).take(shown * columns)
        {
            let (row, column) = ((i / columns - self.top) as u16, (i % columns) as u16);
            let in_row = columns.min(n - (i / columns) * columns) as u16;
            let (x, right) = (area.width * column / in_row, area.width * (column + 1) / in_row);
            let (y, bottom) = (area.height * row / shown as u16, area.height * (row + 1) / shown as u16);
            let place = Rect { x: area.x + x, y: area.y + y, width: right - x, height: bottom - y };
            self.draw_panel(canvas, place, view, panel, &marks, look.focus && i == self.panel);
            canvas.hit(place, Hit::Item(i));
        }
        if rows > shown {
            let text = format!(" row {} of {rows} ", self.top + 1);
            let row =
                Rect { y: area.bottom() - 1, height: 1, x: area.x + 2, width: area.width.saturating_sub(4) };
            canvas.line_right(row, 0, &Line::from(Span::styled(text, canvas.style(Role::Muted))));
        }
        self.draw_asking(canvas, whole, view);
    }

    fn typed(&mut self, key: Key, view: &View<'_>) -> Option<Vec<Outcome>> {
        let found = if self.asking.is_some() { self.found(view).len() } else { 0 };
        let asking = self.asking.as_mut()?;
        asking.error = None;
        let request = match key.code {
            KeyCode::Enter => {
                self.add(view);
                return Some(Vec::new());
            }
            KeyCode::Esc => {
                self.asking = None;
                return Some(Vec::new());
            }
            KeyCode::Tab => {
                self.complete(view);
                return Some(Vec::new());
            }
            KeyCode::Up => {
                asking.at = asking.at.saturating_sub(1);
                return Some(Vec::new());
            }
            KeyCode::Down => {
                asking.at = (asking.at + 1).min(found.saturating_sub(1));
                return Some(Vec::new());
            }
            _ => key.edits()?,
        };
        if asking.input.value().chars().count() < LONGEST || !matches!(request, InputRequest::InsertChar(_)) {
            asking.input.handle(request);
        }
        asking.at = 0;
        Some(Vec::new())
    }

    fn pasted(&mut self, text: &str) {
        if let Some(asking) = &mut self.asking {
            let room = LONGEST.saturating_sub(asking.input.value().chars().count());
            for c in text.chars().filter(|c| !c.is_control()).take(room) {
                asking.input.handle(InputRequest::InsertChar(c));
            }
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
            Id::AddPanel => self.asking = Some(Asking::default()),
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
        let name = self.panel(view)?.series.first()?;
        let series = view.series().matching(name).next()?;
        Some(Source::Series(series.name.clone()))
    }

    fn pin_note(&self, view: &View<'_>) -> String {
        let Some(panel) = self.panel(view) else { return String::new() };
        let series = || panel.series.iter().flat_map(|name| view.series().matching(name));
        let value = |s: &Series, v: f64| format!("{} {}", s.name, s.unit.show(v));
        if let Some(second) = self.crosshair {
            let at = |s: &Series| recent(&s.values, second + 1).map(|v| value(s, v));
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
        let values: Vec<String> = panel
            .series
            .iter()
            .flat_map(|name| view.series().matching(name))
            .map(|s| format!("{} {}", s.name, s.unit.show(s.recent().unwrap_or(f64::NAN))))
            .collect();
        Some(format!("{} {}: {}", view.clock(), panel.title, values.join(", ")))
    }

    fn looked_at(&self, view: &View<'_>) -> Vec<Source> {
        let shown = if self.expanded {
            self.panel..self.panel + 1
        } else {
            self.top * self.grid.0..(self.top + self.grid.1) * self.grid.0
        };
        let panels = self.panels(view).iter().skip(shown.start).take(shown.len());
        panels
            .flat_map(|p| p.series.iter().flat_map(|name| view.series().matching(name)).take(NOTED))
            .map(|s| Source::Series(s.name.clone()))
            .collect()
    }
}

/// What an expanded panel says below its chart.
fn expanded_help(panel: &Panel, view: &View<'_>) -> String {
    let rates =
        panel.series.iter().flat_map(|name| view.series().matching(name)).any(|s| s.unit == Unit::PerSecond);
    let smoothed = if rates {
        format!(" Rates are drawn as means of {RECENT_S} s; so are all figures.")
    } else {
        format!(" Figures are means of {RECENT_S} s.")
    };
    format!(
        "{}{smoothed} Marks: P page, ! alert, C change, Y your action. h and l move the crosshair, j and k change \
         the chart, b pins the reading.",
        panel.help
    )
}
