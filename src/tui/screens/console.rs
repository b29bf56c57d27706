//! The console: header, the selected pane, feed and evidence at the side, tabs.
//!
//! ```text
//!  title │ 14:07:32 ▶ 8× │ SEV1 │ 99.9 % SLO: budget 41 % left, burning 312× │ stage 1 of 3
//! ╭ pane ─────────────────────────────────────────────────────╮╭ Feed ─────────────────────╮
//! │                                                           ││                           │
//! │                                                           │├ Evidence ─────────────────┤
//! ╰───────────────────────────────────────────────────────────╯╰───────────────────────────╯
//!  [1] dashboards  2 logs  3 traces …
//! ```
//!
//! On a narrow screen the side panes are tabs like the others.

use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::game::command::{Command, Source};
use crate::game::{Mode, View};
use crate::incident::schema::Severity;
use crate::tui::actions::{Context, Id, Key};
use crate::tui::canvas::{Canvas, Hit};
use crate::tui::layer::{Layer, Outcome, Scene};
use crate::tui::panes::{self, Look, Pane};
use crate::tui::play::Play;
use crate::tui::theme::Role;
use crate::units::{Unit, short};

/// From this width on there is a side column.
const WIDE: u16 = 100;
/// From this width on the two panes of a split stand beside each other.
const BESIDE: u16 = 140;
/// Width of the side column: a quarter of the screen within these.
const SIDE: (u16, u16) = (32, 48);

/// The screen.
pub(crate) struct Console {
    panes: Vec<Box<dyn Pane>>,
    /// The pane that has the keys.
    focus: usize,
    /// The pane that stands beside the side column.
    main: usize,
    /// A second one, when the place is split.
    second: Option<usize>,
    expanded: bool,
    /// The screen was wide enough for a side column when it was drawn last.
    wide: bool,
}

impl Default for Console {
    fn default() -> Console {
        Console { panes: panes::all(), focus: 0, main: 0, second: None, expanded: false, wide: true }
    }
}

impl Console {
    fn focus_on(&mut self, pane: usize) {
        if pane < self.panes.len() {
            let at_second = self.second == Some(self.focus);
            self.focus = pane;
            if self.panes[pane].side() || self.main == pane || self.second == Some(pane) {
                return;
            }
            match &mut self.second {
                Some(second) if at_second => *second = pane,
                _ => self.main = pane,
            }
        }
    }

    /// Shows a second pane beside the first, or one again.
    fn split(&mut self) {
        match self.second.take() {
            // The one that has the keys stays.
            Some(second) if self.focus == second => self.main = second,
            Some(_) => {}
            None => {
                let free = (0..self.panes.len()).find(|&i| i != self.main && !self.panes[i].side());
                self.second = free;
                self.expanded = false;
                self.focus = free.unwrap_or(self.focus);
            }
        }
    }

    /// The panes of the place that can be split.
    fn middle(&self) -> Vec<usize> {
        if self.panes[self.focus].side() && !self.wide {
            return vec![self.focus];
        }
        std::iter::once(self.main).chain(self.second).collect()
    }

    /// The panes that Tab goes round: those on the screen, or all when they are tabs.
    fn turn(&mut self, by: usize) {
        let round: Vec<usize> = (0..self.panes.len())
            .filter(|&i| !self.wide || self.expanded || self.middle().contains(&i) || self.panes[i].side())
            .collect();
        let at = round.iter().position(|&i| i == self.focus).unwrap_or(0);
        if let Some(&next) = round.get((at + by) % round.len().max(1)) {
            self.focus_on(next);
        }
    }

    /// The panes that are shown.
    fn shown(&self) -> Vec<usize> {
        if self.expanded || (!self.wide && self.second.is_none()) {
            return vec![self.focus];
        }
        let mut shown = self.middle();
        if self.wide {
            shown.extend((0..self.panes.len()).filter(|&i| self.panes[i].side()));
        }
        shown
    }

    fn draw_pane(&mut self, canvas: &mut Canvas<'_>, area: Rect, view: &View<'_>, pane: usize) {
        if area.width == 0 || area.height == 0 {
            return;
        }
        let look = Look { focus: pane == self.focus, expanded: self.expanded && pane == self.focus };
        canvas.hit(area, Hit::Pane(pane));
        let before = canvas.hits.len();
        self.panes[pane].draw(canvas, area, view, look);
        // An item of a pane is clicked together with its pane.
        for (_, hit) in &mut canvas.hits[before..] {
            if let Hit::Item(item) = *hit {
                *hit = Hit::InPane(pane, item);
            }
        }
    }

    fn draw_tabs(&self, canvas: &mut Canvas<'_>, row: Rect) {
        // On a narrow screen the panes have their short names, then only their digits.
        type Named = fn(&dyn Pane) -> &'static str;
        let namings: [(Named, u16); 3] = [(|p| p.name(), 2), (|p| p.brief(), 1), (|_| "", 1)];
        let named = |by: Named, i: usize| {
            let pane = self.panes[i].as_ref();
            // Where there is room for digits only, the one that has the keys says its name.
            if i == self.focus && by(pane).is_empty() { pane.name() } else { by(pane) }
        };
        let needed = |(by, gap): (Named, u16)| -> usize {
            let each = |i| named(by, i).len() + 2 + usize::from(gap);
            (0..self.panes.len()).map(each).sum::<usize>() + 3 - usize::from(gap)
        };
        let fits = namings.into_iter().find(|n| needed(*n) <= usize::from(row.width));
        let (by, gap) = fits.unwrap_or(namings[2]);
        let mut x = 1;
        for i in 0..self.panes.len() {
            let shown = i == self.focus || self.shown().contains(&i);
            let name = named(by, i);
            let text =
                if i == self.focus { format!("[{}] {name}", i + 1) } else { format!("{} {name}", i + 1) };
            let width = text.chars().count() as u16;
            if x + width > row.width {
                break;
            }
            let here = Rect { x: row.x + x, width, ..row };
            let role = match (i == self.focus, shown) {
                (true, _) => Role::Focus,
                (false, true) => Role::Text,
                _ => Role::Muted,
            };
            canvas.text(here, 0, &text, role);
            canvas.hit(here, Hit::Pane(i));
            x += width + gap;
        }
    }
}

/// What the header shows, the most important first when there is no room for all.
fn draw_header(canvas: &mut Canvas<'_>, row: Rect, play: &Play, held: bool) {
    let view = play.view();
    let style = |role| canvas.theme.style(role);
    let running = match (play.seeking(), play.pace.paused, view.is_over(), view.waiting().is_some()) {
        (_, _, true, _) => ("■ over".to_owned(), Role::Muted),
        (_, _, _, true) => ("⏸ waits for you".to_owned(), Role::Warn),
        _ if held => ("⏸ you decide".to_owned(), Role::Warn),
        (true, ..) if play.approaching() => ("▶▶ running up to the page".to_owned(), Role::Info),
        (true, ..) => ("▶▶ to the next news".to_owned(), Role::Info),
        (_, true, ..) => (format!("⏸ paused ({}×)", play.pace.speed()), Role::Warn),
        _ => (format!("▶ {}×", play.pace.speed()), Role::Ok),
    };
    let clock = vec![
        Span::styled(view.clock().to_string(), style(Role::Focus)),
        Span::raw(" "),
        Span::styled(running.0, style(running.1)),
    ];
    let severity = match view.severity() {
        Some(Severity::Sev1) => ("SEV1", Role::Crit),
        Some(Severity::Sev2) => ("SEV2", Role::Warn),
        Some(Severity::Sev3) => ("SEV3", Role::Info),
        Some(Severity::Sev4) => ("SEV4", Role::Muted),
        None => ("SEV?", Role::Muted),
    };
    let budget = view.budget();
    let burning = budget.burn >= 1.0;
    let objective = Unit::Ratio.show(view.slo().objective.0);
    let left = budget.left_words();
    let burn = if burning { format!("burning {}×", short(budget.burn)) } else { "not burning".to_owned() };
    let burn_role = match budget.burn {
        b if b >= 10.0 => Role::Crit,
        b if b >= 1.0 => Role::Warn,
        _ => Role::Ok,
    };
    let long = vec![
        Span::raw(format!("{objective} SLO: budget {left}, ")),
        Span::styled(burn.clone(), style(burn_role)),
    ];
    let brief = vec![Span::raw(format!("budget {left}, ")), Span::styled(burn, style(burn_role))];
    let guided = view.stage().filter(|_| view.mode() == Mode::Guided);
    let stage = guided.as_ref().map(|s| {
        let mut spans = vec![Span::raw(format!("stage {} of {}", s.number, s.of))];
        match s.open_asks.len() {
            0 => {}
            1 => spans.push(Span::styled(", 1 question", style(Role::Warn))),
            n => spans.push(Span::styled(format!(", {n} questions"), style(Role::Warn))),
        }
        spans
    });
    let stage_brief = guided.as_ref().map(|s| {
        let role = if s.open_asks.is_empty() { Role::Text } else { Role::Warn };
        vec![Span::styled(format!("stage {}/{}", s.number, s.of), style(role))]
    });
    let hints =
        guided.filter(|s| s.hints_left > 0).map(|s| vec![Span::raw(format!("hints {}", s.hints_left))]);
    let width_of = |spans: &[Span<'_>]| spans.iter().map(Span::width).sum::<usize>() + 3;
    let title = vec![Span::styled(view.title().to_owned(), style(Role::Accent))];
    let severity = vec![Span::styled(severity.0, style(severity.1))];
    let mut room =
        usize::from(row.width).saturating_sub(width_of(&clock) + width_of(&severity) + width_of(&brief));
    let mut fits = |spans: &[Span<'_>]| {
        let fits = width_of(spans) <= room;
        if fits {
            room -= width_of(spans);
        }
        fits
    };
    let stage = stage.filter(|s| fits(s)).or_else(|| stage_brief.filter(|s| fits(s)));
    let title = Some(title).filter(|t| fits(t));
    let mut budget = if fits(&[Span::raw(format!("{objective} SLO: "))]) { long } else { brief };
    let hints = hints.filter(|h| fits(h));
    // What counts against the budget, where there is room to say it.
    let counted = Span::styled(" (failed or late)", style(Role::Muted));
    if burning && fits(std::slice::from_ref(&counted)) {
        budget.push(counted);
    }
    let mut spans = vec![Span::raw(" ")];
    let parts = [title, Some(clock), Some(severity), Some(budget), stage, hints];
    for (i, part) in parts.into_iter().flatten().enumerate() {
        if i > 0 {
            spans.push(Span::styled(" │ ", style(Role::Muted)));
        }
        spans.extend(part);
    }
    canvas.line(row, 0, &Line::from(spans));
}

impl Layer for Console {
    fn contexts(&self) -> Vec<Context> {
        let mut contexts = self.panes[self.focus].contexts().to_vec();
        let at = contexts.iter().position(|c| *c == Context::Move).unwrap_or(contexts.len());
        contexts.insert(at, Context::Console);
        contexts
    }

    fn covers(&self) -> bool {
        true
    }

    fn clock_runs(&self, mode: Mode) -> bool {
        // What is typed here is held like a dialog.
        mode == Mode::Live || !self.panes[self.focus].types()
    }

    fn offers(&self, _id: Id) -> bool {
        !self.panes[self.focus].types()
    }

    fn draw(&mut self, canvas: &mut Canvas<'_>, area: Rect, scene: &Scene<'_>) {
        let Some(play) = scene.play else { return };
        if area.height < 3 {
            return;
        }
        let view = play.view();
        self.wide = area.width >= WIDE;
        draw_header(canvas, Rect { height: 1, ..area }, play, scene.held);
        let body = Rect { y: area.y + 1, height: area.height - 2, ..area };
        let shown = self.shown();
        let (side, main): (Vec<usize>, Vec<usize>) =
            shown.iter().partition(|&&i| self.panes[i].side() && shown.len() > 1);
        let side_width = if side.is_empty() { 0 } else { (area.width / 4).clamp(SIDE.0, SIDE.1) };
        let middle = Rect { width: body.width - side_width, ..body };
        let n = main.len().max(1) as u16;
        for (i, pane) in main.into_iter().enumerate() {
            let i = i as u16;
            // Beside each other where both can be read, else one above the other.
            let place = if middle.width >= BESIDE {
                let (x, right) = (middle.width * i / n, middle.width * (i + 1) / n);
                Rect { x: middle.x + x, width: right - x, ..middle }
            } else {
                let (y, bottom) = (middle.height * i / n, middle.height * (i + 1) / n);
                Rect { y: middle.y + y, height: bottom - y, ..middle }
            };
            self.draw_pane(canvas, place, &view, pane);
        }
        let n = side.len() as u16;
        let mut y = body.y;
        for (i, pane) in side.into_iter().enumerate() {
            // The first, which moves by itself, is given twice the room of each of the others.
            let height = if i as u16 + 1 == n {
                body.bottom() - y
            } else if i == 0 {
                body.height * 2 / (n + 1)
            } else {
                body.height / (n + 1)
            };
            let place = Rect { x: body.right() - side_width, width: side_width, y, height };
            self.draw_pane(canvas, place, &view, pane);
            y += height;
        }
        self.draw_tabs(canvas, Rect { y: area.bottom() - 1, height: 1, ..area });
    }

    fn act(&mut self, id: Id, scene: &Scene<'_>) -> Option<Vec<Outcome>> {
        let view = scene.play?.view();
        match id {
            Id::Pane(digit) => {
                self.focus_on(usize::from(digit).saturating_sub(1));
                return Some(Vec::new());
            }
            Id::NextPane => {
                self.turn(1);
                return Some(Vec::new());
            }
            Id::PreviousPane => {
                self.turn(self.panes.len().max(2) - 1);
                return Some(Vec::new());
            }
            Id::Split => {
                self.split();
                return Some(Vec::new());
            }
            Id::Expand => {
                self.expanded = !self.expanded;
                return Some(Vec::new());
            }
            _ => {}
        }
        let pane = &mut self.panes[self.focus];
        if let Some(outcomes) = pane.act(id, &view) {
            return Some(outcomes);
        }
        match id {
            Id::Back if self.expanded => self.expanded = false,
            Id::Back => {}
            Id::Pin => {
                let Some(what) = pane.pinned(&view) else {
                    return Some(vec![Outcome::Warn("Nothing here can be pinned.".to_owned())]);
                };
                let next = view.evidence().len() + 1;
                let note = pane.pin_note(&view);
                let said = format!("Pinned as E-{next:04}.");
                return Some(vec![Outcome::Submit(Command::Pin { what, note }, said)]);
            }
            Id::Copy => {
                return Some(vec![match pane.copied(&view) {
                    Some(text) => Outcome::Copy(text),
                    None => Outcome::Warn("Nothing here can be copied.".to_owned()),
                }]);
            }
            // Both belong to a pane. The finding is written on top of whatever is looked at, which stays.
            Id::Finding | Id::Query => {
                let home = if id == Id::Finding { "notebook" } else { "dashboards" };
                let pane = self.panes.iter().position(|p| p.name() == home)?;
                if id == Id::Query {
                    self.focus_on(pane);
                }
                let view = scene.play?.view();
                return self.panes[pane].act(id, &view).or_else(|| Some(Vec::new()));
            }
            _ => return None,
        }
        Some(Vec::new())
    }

    fn typed(&mut self, key: Key, scene: &Scene<'_>) -> Option<Vec<Outcome>> {
        let view = scene.play?.view();
        self.panes[self.focus].typed(key, &view)
    }

    fn pasted(&mut self, text: &str) {
        self.panes[self.focus].pasted(text);
    }

    fn clicked(&mut self, hit: Hit, scene: &Scene<'_>) -> Vec<Outcome> {
        let Some(play) = scene.play else { return Vec::new() };
        match hit {
            Hit::Pane(pane) => self.focus_on(pane),
            Hit::InPane(pane, item) => {
                self.focus_on(pane);
                return self.panes[pane].clicked(item, &play.view());
            }
            _ => {}
        }
        Vec::new()
    }

    fn looked_at(&self, scene: &Scene<'_>) -> Vec<Source> {
        let Some(play) = scene.play else { return Vec::new() };
        let view = play.view();
        self.shown().into_iter().flat_map(|i| self.panes[i].looked_at(&view)).collect()
    }
}
