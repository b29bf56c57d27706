//! The query line: panels of the player's own, each an expression over recorded series.

use crossterm::event::KeyCode;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};
use tui_input::{Input, InputRequest};

use super::dashboards::marks;
use super::{Look, Pane};
use crate::game::View;
use crate::game::command::Source;
use crate::telemetry::{Query, QueryError, Series};
use crate::tui::actions::{Context, Id, Key, key_of};
use crate::tui::canvas::{Canvas, Hit, wrap};
use crate::tui::layer::Outcome;
use crate::tui::theme::Role;
use crate::tui::widgets::chart::{Chart, Extras, Plotted};
use crate::tui::widgets::list::Cursor;
use crate::units::SimTime;

/// Longest text that is taken.
const LONGEST: usize = 200;
/// Rows that a chart needs.
const CHART_ROWS: u16 = 8;
/// Seconds that the charts show at most.
const WINDOW_S: usize = 900;
/// What a query may look like, for who has written none.
const EXAMPLES: [(&str, &str); 4] = [
    ("requests.received / operations.started", "attempts per operation"),
    ("ratio(operations.late, operations.started)", "the share that came late"),
    ("max(db.cpu.*)", "the busiest host"),
    ("avg_over(operations.started, 1m)", "the mean of each last minute"),
];

/// A panel of the player's own.
struct Own {
    query: Query,
    /// Seconds that were recorded when it was answered, and the answer.
    answered: (usize, Result<Vec<Series>, QueryError>),
}

impl Own {
    fn new(query: Query, view: &View<'_>) -> Own {
        let answered = (view.series().seconds(), query.answer(view.series()));
        Own { query, answered }
    }

    fn answer(&mut self, view: &View<'_>) -> &Result<Vec<Series>, QueryError> {
        if self.answered.0 != view.series().seconds() {
            self.answered = (view.series().seconds(), self.query.answer(view.series()));
        }
        &self.answered.1
    }
}

/// The pane.
#[derive(Default)]
pub(crate) struct Queries {
    input: Input,
    typing: bool,
    wrong: Option<QueryError>,
    own: Vec<Own>,
    cursor: Cursor,
}

impl Queries {
    fn enter(&mut self, view: &View<'_>) {
        let answered = Query::parse(self.input.value()).and_then(|query| {
            query.answer(view.series())?;
            Ok(query)
        });
        match answered {
            Ok(query) => {
                self.own.push(Own::new(query, view));
                self.cursor.at = self.own.len() - 1;
                *self = Queries {
                    own: std::mem::take(&mut self.own),
                    cursor: self.cursor.clone(),
                    ..Queries::default()
                };
            }
            Err(error) => {
                // The cursor goes to where it is wrong.
                self.input.handle(InputRequest::SetCursor(error.column.saturating_sub(1)));
                self.wrong = Some(error);
            }
        }
    }

    /// The name that is being written at the end of the line.
    fn word(&self) -> &str {
        let text = self.input.value();
        let belongs = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        text.rfind(|c| !belongs(c)).map_or(text, |at| text.get(at + 1..).unwrap_or_default())
    }

    /// Recorded names that begin as the word does.
    fn names<'a>(&'a self, view: &View<'a>) -> impl Iterator<Item = &'a str> {
        let word = self.word();
        let all = view.series().iter().map(|s| s.name.as_str());
        all.filter(move |name| !word.is_empty() && name.starts_with(word) && name.len() > word.len())
    }

    /// Writes on as far as all names that fit go the same way.
    fn complete(&mut self, view: &View<'_>) {
        let mut names = self.names(view);
        let Some(first) = names.next() else { return };
        let same = names.fold(first.len(), |n, name| {
            first.bytes().zip(name.bytes()).take(n).take_while(|(a, b)| a == b).count()
        });
        let rest = first.get(self.word().len()..same).unwrap_or_default().to_owned();
        self.input.handle(InputRequest::GoToEnd);
        for c in rest.chars() {
            self.input.handle(InputRequest::InsertChar(c));
        }
    }

    /// The line, and below it what is wrong with it, or names that fit. Returns the rows used.
    fn draw_line(&self, canvas: &mut Canvas<'_>, area: Rect, view: &View<'_>) -> u16 {
        let prompt = format!("{} ", key_of(Id::Query));
        let role = if self.typing { Role::Focus } else { Role::Accent };
        let mut spans = vec![Span::styled(prompt.clone(), canvas.style(role))];
        if self.typing {
            spans.push(Span::styled(self.input.value().to_owned(), canvas.style(Role::Text)));
            let x = prompt.len() + self.input.visual_cursor();
            let x = area.x + (x as u16).min(area.width.saturating_sub(1));
            *canvas.cursor = Some(Position { x, y: area.y });
        } else {
            spans.push(Span::styled("a query over recorded series adds a panel", canvas.style(Role::Muted)));
        }
        canvas.line(area, 0, &Line::from(spans));
        let Some(error) = &self.wrong else {
            if !self.typing {
                return 1;
            }
            let names = self.names(view).take(20).collect::<Vec<_>>().join("  ");
            let text = if names.is_empty() { String::new() } else { format!("Tab  {names}") };
            canvas.text(area, 1, &text, Role::Muted);
            return 2;
        };
        let lines = wrap(&error.to_string(), area.width);
        for (i, line) in lines.iter().take(2).enumerate() {
            canvas.text(area, i as u16 + 1, line, Role::Warn);
        }
        1 + (lines.len() as u16).min(2)
    }

    fn draw_examples(&self, canvas: &mut Canvas<'_>, area: Rect) {
        let width = EXAMPLES.iter().map(|e| e.0.len()).max().unwrap_or(0);
        for (i, (query, what)) in EXAMPLES.iter().enumerate() {
            let line = Line::from(vec![
                Span::styled(format!("{query:<width$}  "), canvas.style(Role::Text)),
                Span::styled(*what, canvas.style(Role::Muted)),
            ]);
            canvas.line(area, i as u16 + 1, &line);
        }
        let text = "Names that fit are shown while you write, and Tab goes on with them; * takes all that fit, one line each. Also + - * /, \
            sum, min, max, avg over lines; sum_over, min_over, max_over, avg_over over time; rate, ratio, p50, p95, p99.";
        for (i, line) in wrap(text, area.width).iter().enumerate() {
            canvas.text(area, EXAMPLES.len() as u16 + 2 + i as u16, line, Role::Muted);
        }
    }
}

impl Pane for Queries {
    fn name(&self) -> &'static str {
        "query"
    }

    fn brief(&self) -> &'static str {
        "ask"
    }

    fn contexts(&self) -> &'static [Context] {
        &[Context::Query, Context::Move]
    }

    fn draw(&mut self, canvas: &mut Canvas<'_>, area: Rect, view: &View<'_>, look: Look) {
        let inner = canvas.frame(area, "Query", &Line::default(), look.focus);
        let inner = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
        if inner.height == 0 || inner.width == 0 {
            return;
        }
        let used = self.draw_line(canvas, inner, view);
        let rest = Rect { y: inner.y + used, height: inner.height.saturating_sub(used), ..inner };
        if self.own.is_empty() {
            self.draw_examples(canvas, rest);
            return;
        }
        let fit = usize::from((rest.height / CHART_ROWS).max(1));
        let shown = if look.expanded {
            let at = self.cursor.at.min(self.own.len() - 1);
            at..at + 1
        } else {
            self.cursor.shown(self.own.len(), fit)
        };
        let n = shown.len().max(1) as u16;
        let all = marks(view);
        let window = WINDOW_S.min(view.series().seconds().div_ceil(60) * 60).max(60);
        for (row, i) in shown.enumerate() {
            let (y, bottom) = (rest.height * row as u16 / n, rest.height * (row as u16 + 1) / n);
            let place = Rect { y: rest.y + y, height: bottom - y, ..rest };
            let focus = look.focus && i == self.cursor.at;
            let own = &mut self.own[i];
            let title = own.query.text().to_owned();
            match own.answer(view) {
                Ok(lines) => {
                    let chart = Chart {
                        title: &title,
                        lines: lines.iter().map(plotted).collect(),
                        threshold: None,
                        marks: &all,
                        now: view.series().seconds(),
                        window,
                        crosshair: None,
                        clock: view.clock_at(SimTime::ZERO),
                        focus,
                        extras: Extras::default(),
                    };
                    chart.draw(canvas, place);
                }
                Err(error) => {
                    let text = format!("{title}: {error}");
                    canvas.text(place, 0, &text, Role::Warn);
                }
            }
            canvas.hit(place, Hit::Item(i));
        }
    }

    fn act(&mut self, id: Id, _view: &View<'_>) -> Option<Vec<Outcome>> {
        match id {
            Id::Query => self.typing = true,
            Id::RemovePanel if self.cursor.at < self.own.len() => {
                self.own.remove(self.cursor.at);
                self.cursor.at = self.cursor.at.min(self.own.len().saturating_sub(1));
            }
            Id::RemovePanel => {
                return Some(vec![Outcome::Warn("There is no panel to take away.".to_owned())]);
            }
            Id::Open if self.own.is_empty() => self.typing = true,
            Id::Open => return Some(vec![Outcome::Act(Id::Expand)]),
            _ if self.cursor.act(id, self.own.len()) => {}
            _ => return None,
        }
        Some(Vec::new())
    }

    fn typed(&mut self, key: Key, view: &View<'_>) -> Option<Vec<Outcome>> {
        if !self.typing {
            return None;
        }
        let request = match key.code {
            KeyCode::Enter => {
                self.enter(view);
                return Some(Vec::new());
            }
            KeyCode::Tab => {
                self.complete(view);
                return Some(Vec::new());
            }
            KeyCode::Esc => {
                (self.typing, self.wrong, self.input) = (false, None, Input::default());
                return Some(Vec::new());
            }
            _ => key.edits()?,
        };
        let full = self.input.value().chars().count() >= LONGEST;
        if !(full && matches!(request, InputRequest::InsertChar(_))) {
            self.input.handle(request);
        }
        self.wrong = None;
        Some(Vec::new())
    }

    fn pasted(&mut self, text: &str) {
        if self.typing {
            for c in text.chars().filter(|c| !c.is_control()).take(LONGEST) {
                self.input.handle(InputRequest::InsertChar(c));
            }
        }
    }

    fn clicked(&mut self, item: usize, _view: &View<'_>) -> Vec<Outcome> {
        if self.cursor.at == item {
            return vec![Outcome::Act(Id::Expand)];
        }
        self.cursor.at = item;
        Vec::new()
    }

    fn pinned(&self, _view: &View<'_>) -> Option<Source> {
        self.own.get(self.cursor.at).map(|own| Source::Query(own.query.text().to_owned()))
    }

    fn copied(&self, view: &View<'_>) -> Option<String> {
        let own = self.own.get(self.cursor.at)?;
        Some(format!("{} {}", view.clock(), own.query.reading(view.series())?))
    }

    fn looked_at(&self, _view: &View<'_>) -> Vec<Source> {
        self.own.iter().map(|own| Source::Query(own.query.text().to_owned())).collect()
    }
}

fn plotted(series: &Series) -> Plotted<'_> {
    Plotted {
        name: series.name.clone(),
        unit: series.unit,
        more_is_worse: series.more_is_worse,
        values: &series.values,
    }
}
