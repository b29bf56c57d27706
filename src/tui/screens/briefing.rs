//! The briefing: who you are, how the system is built, what to expect. The clock starts when it is left.

use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::game::{Mode, View};
use crate::tui::actions::{Context, Id, key_of};
use crate::tui::canvas::{Canvas, wrap};
use crate::tui::layer::{Layer, Outcome, Scene};
use crate::tui::theme::Role;
use crate::units::count;

/// The screen.
#[derive(Default)]
pub(crate) struct Briefing {
    top: usize,
    /// Rows that do not fit.
    hidden: usize,
    page: usize,
}

fn lines(canvas: &Canvas<'_>, view: &View<'_>, width: u16) -> Vec<Line<'static>> {
    let briefing = view.briefing();
    let mut out: Vec<Line<'static>> = Vec::new();
    let style = |role| canvas.style(role);
    let heading = |out: &mut Vec<Line<'static>>, text: &str| {
        if !out.is_empty() {
            out.push(Line::default());
        }
        out.push(Line::from(Span::styled(text.to_owned(), style(Role::Accent))));
    };
    let text = |out: &mut Vec<Line<'static>>, text: &str| {
        out.extend(wrap(text, width).into_iter().map(|l| Line::from(Span::styled(l, style(Role::Text)))));
    };
    heading(&mut out, "Your part");
    text(&mut out, &briefing.role);
    heading(&mut out, "The system");
    for (i, paragraph) in briefing.system.iter().enumerate() {
        if i > 0 {
            out.push(Line::default());
        }
        text(&mut out, paragraph);
    }
    out.push(Line::default());
    for line in briefing.diagram.trim_end().lines().skip_while(|l| l.trim().is_empty()) {
        out.push(Line::from(Span::styled(line.to_owned(), style(Role::Info))));
    }
    heading(&mut out, "What to expect");
    text(&mut out, expectation(view.mode()));
    heading(&mut out, "Keys");
    let keys = [
        (Id::Pause, "stops the clock"),
        (Id::ToNews, "runs on to the next news"),
        (Id::Expand, "enlarges a chart"),
        (Id::Pin, "pins evidence"),
        (Id::Mitigate, "opens the levers"),
        (Id::Help, "lists every key"),
    ];
    let mut spans = Vec::new();
    for (id, what) in keys {
        spans.push(Span::styled(format!("{} ", key_of(id)), style(Role::Accent)));
        spans.push(Span::raw(format!("{what}   ")));
    }
    // Two lines when the row is too narrow for all six.
    let line = Line::from(spans.clone());
    if line.width() > usize::from(width) {
        let rest = spans.split_off(6);
        out.push(Line::from(spans));
        out.push(Line::from(rest));
    } else {
        out.push(line);
    }
    out
}

fn expectation(mode: Mode) -> &'static str {
    match mode {
        Mode::Guided => {
            "It begins ten seconds before the page. The healthy minutes before it are already on the charts: they show what normal looks like. Each stage asks a question or two; the clock waits for your answers at the next stage, and stands still while a dialog is open."
        }
        Mode::Live => {
            "It begins ten seconds before the page. The healthy minutes before it are already on the charts: they show what normal looks like. From the page on the clock does not wait for you, and nobody gives hints."
        }
        Mode::Lab => {
            "Every lever works from the first second on. Nothing is scored: try what you like and watch."
        }
    }
}

impl Layer for Briefing {
    fn contexts(&self) -> Vec<Context> {
        vec![Context::Briefing, Context::Move]
    }

    fn covers(&self) -> bool {
        true
    }

    fn clock_runs(&self, _mode: Mode) -> bool {
        false
    }

    fn draw(&mut self, canvas: &mut Canvas<'_>, area: Rect, scene: &Scene<'_>) {
        let Some(play) = scene.play else { return };
        let view = play.view();
        let width = area.width.saturating_sub(4).min(84);
        let place = Rect { x: area.x + (area.width - width) / 2, width, ..area };
        let right =
            Line::from(Span::styled(format!("{} mode", view.mode().label()), canvas.style(Role::Muted)));
        let inside = canvas.frame(place, view.title(), &right, true);
        let inside = Rect { x: inside.x + 2, width: inside.width.saturating_sub(4), ..inside };
        let lines = lines(canvas, &view, inside.width);
        self.page = usize::from(inside.height);
        self.hidden = lines.len().saturating_sub(self.page);
        self.top = self.top.min(self.hidden);
        for (y, line) in lines.iter().skip(self.top).take(self.page).enumerate() {
            canvas.line(inside, y as u16, line);
        }
        if self.hidden > self.top && place.height > 0 {
            let row = Rect {
                y: place.bottom() - 1,
                height: 1,
                x: place.x + 2,
                width: place.width.saturating_sub(4),
            };
            let text = format!(
                " ↓ {}: PageDown ",
                count((self.hidden - self.top) as u64, "more line", "more lines")
            );
            canvas.line_right(row, 0, &Line::from(Span::styled(text, canvas.style(Role::Focus))));
        }
    }

    fn act(&mut self, id: Id, _scene: &Scene<'_>) -> Option<Vec<Outcome>> {
        let page = self.page.max(2) - 1;
        self.top = match id {
            Id::Up => self.top.saturating_sub(1),
            Id::Down => self.top + 1,
            Id::PageUp => self.top.saturating_sub(page),
            Id::PageDown => self.top + page,
            Id::Top => 0,
            Id::Bottom => self.hidden,
            Id::Open => return Some(vec![Outcome::Begin]),
            Id::Back => return Some(vec![Outcome::ToMenu]),
            _ => return None,
        }
        .min(self.hidden);
        Some(Vec::new())
    }
}
