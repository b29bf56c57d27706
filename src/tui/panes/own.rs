//! Panels of the player's own: each a query over recorded series, and the line in which one is written.

use crossterm::event::KeyCode;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};
use tui_input::{Input, InputRequest};

use crate::game::View;
use crate::game::command::Source;
use crate::telemetry::{Query, QueryError, Series};
use crate::tui::actions::Key;
use crate::tui::canvas::{Canvas, centred, wrap};
use crate::tui::theme::Role;

/// Longest text that is taken, in characters.
const LONGEST: usize = 200;
/// Most columns of the box in which a query is written.
const WIDEST: u16 = 100;
/// What can be written, for who has never done it.
const GRAMMAR: &str = "As in ratio(db.timeouts, db.queries), max(db.cpu.*), avg_over(operations.started, 1m). * takes all that fit, \
    one line each; commas put lines side by side; also + - * /, sum, min, avg, the same with _over, rate, p50, p95, p99.";

/// A panel of the player's own.
pub(super) struct Own {
    query: Query,
    /// Seconds that were recorded when it was answered.
    seconds: usize,
    answer: Result<Vec<Series>, QueryError>,
}

impl Own {
    /// Reads and answers a query.
    ///
    /// # Errors
    /// Where it cannot be read or answered.
    fn new(text: &str, view: &View<'_>) -> Result<Own, QueryError> {
        let query = Query::parse(text)?;
        let answer = Ok(query.answer(view.series())?);
        Ok(Own { query, seconds: view.series().seconds(), answer })
    }

    /// Answers it again when more has been recorded, or less after the clock was set back.
    pub(super) fn refresh(&mut self, view: &View<'_>) {
        if self.seconds != view.series().seconds() {
            self.seconds = view.series().seconds();
            self.answer = self.query.answer(view.series());
        }
    }

    /// The series that it shows as they were recorded, when it is no more than that.
    fn recorded<'a>(&self, view: &View<'a>) -> Option<&'a Series> {
        view.series().get(self.query.single()?)
    }

    pub(super) fn title(&self, view: &View<'_>) -> String {
        match self.query.single() {
            Some(name) => view.name_in_words(name),
            None => self.query.text().to_owned(),
        }
    }

    /// What an expanded panel says.
    pub(super) fn help(&self, view: &View<'_>) -> String {
        match (&self.answer, self.recorded(view)) {
            (Err(error), _) => error.to_string(),
            (_, Some(series)) if !series.what.is_empty() => series.what.clone(),
            _ => "A panel of your own.".to_owned(),
        }
    }

    pub(super) fn lines(&self) -> &[Series] {
        self.answer.as_deref().unwrap_or_default()
    }

    /// What was looked at in it.
    pub(super) fn source(&self, view: &View<'_>) -> Source {
        match self.recorded(view) {
            Some(series) => Source::Series(series.name.clone()),
            None => Source::Query(self.query.text().to_owned()),
        }
    }
}

/// What a key did to the line.
pub(super) enum Asked {
    /// It is still being written.
    Open(Asking),
    /// It was left.
    Left,
    /// It is a panel now.
    Panel(Own),
}

/// The line in which a query is written.
#[derive(Default)]
pub(super) struct Asking {
    input: Input,
    /// The series among those found that Tab or Enter takes.
    at: usize,
    error: Option<QueryError>,
}

impl Asking {
    /// The name that is being written at the end of the line.
    fn word(&self) -> &str {
        let text = self.input.value();
        let belongs = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        text.rfind(|c| !belongs(c)).map_or(text, |at| text.get(at + 1..).unwrap_or_default())
    }

    /// Series that the word may stand for: all of them where none has been begun.
    fn found<'a>(&self, view: &View<'a>) -> Vec<&'a Series> {
        let word = self.word().to_lowercase();
        let fits = |s: &&Series| s.name.contains(&word) || s.what.to_lowercase().contains(&word);
        let mut found: Vec<&Series> = view.series().iter().filter(fits).collect();
        found.sort_by_key(|s| (!s.name.starts_with(&word), !s.name.contains(&word), s.name.clone()));
        found
    }

    /// The text with the selected series in place of the word; `None` when there is none.
    fn completed(&self, view: &View<'_>) -> Option<String> {
        let found = self.found(view);
        let series = found.get(self.at.min(found.len().saturating_sub(1)))?;
        let text = self.input.value();
        let before = text.get(..text.len() - self.word().len()).unwrap_or_default();
        // A name that no bare word can be stands in quotes.
        let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        Some(if series.name.chars().all(bare) {
            format!("{before}{}", series.name)
        } else {
            format!("{}\"{}\"", before.trim_end_matches('"'), series.name)
        })
    }

    /// Makes a panel of the text. A few letters at its end stand for the series that they find.
    fn enter(mut self, view: &View<'_>) -> Asked {
        let meant = || self.completed(view).filter(|_| !self.word().is_empty());
        let made = Own::new(self.input.value(), view);
        match made.or_else(|error| meant().and_then(|text| Own::new(&text, view).ok()).ok_or(error)) {
            Ok(own) => Asked::Panel(own),
            Err(error) => {
                // The cursor goes to where it is wrong.
                self.input.handle(InputRequest::SetCursor(error.column.saturating_sub(1)));
                self.error = Some(error);
                Asked::Open(self)
            }
        }
    }

    /// Takes a key. Whatever means nothing in a line changes nothing.
    pub(super) fn typed(mut self, key: Key, view: &View<'_>) -> Asked {
        match key.code {
            KeyCode::Enter => return self.enter(view),
            KeyCode::Esc => return Asked::Left,
            KeyCode::Up => self.at = self.at.saturating_sub(1),
            KeyCode::Down => self.at = (self.at + 1).min(self.found(view).len().saturating_sub(1)),
            KeyCode::Tab => {
                if let Some(text) = self.completed(view) {
                    self.write(|_| Input::new(text));
                }
            }
            _ => {
                if let Some(request) = key.edits() {
                    let full = self.input.value().chars().count() >= LONGEST;
                    if !(full && matches!(request, InputRequest::InsertChar(_))) {
                        self.write(|mut input| {
                            input.handle(request);
                            input
                        });
                    }
                }
            }
        }
        Asked::Open(self)
    }

    /// Takes pasted text, as much as there is room for.
    pub(super) fn pasted(&mut self, text: &str) {
        let room = LONGEST.saturating_sub(self.input.value().chars().count());
        self.write(|mut input| {
            for c in text.chars().filter(|c| !c.is_control()).take(room) {
                input.handle(InputRequest::InsertChar(c));
            }
            input
        });
    }

    fn write(&mut self, change: impl FnOnce(Input) -> Input) {
        self.input = change(std::mem::take(&mut self.input));
        (self.at, self.error) = (0, None);
    }

    /// Draws the line over a pane, with what the letters so far find.
    pub(super) fn draw(&self, canvas: &mut Canvas<'_>, area: Rect, view: &View<'_>) {
        let found = self.found(view);
        let width = area.width.saturating_sub(4).min(WIDEST);
        let below = match &self.error {
            Some(error) => (wrap(&error.to_string(), width.saturating_sub(4)), Role::Warn),
            None => (wrap(GRAMMAR, width.saturating_sub(4)), Role::Muted),
        };
        let fixed = below.0.len() as u16 + 4;
        let place = centred(area, width, (found.len() as u16 + fixed).clamp(fixed + 2, 20).min(area.height));
        canvas.clear(place);
        let right = format!("{} series", found.len());
        let right = Line::from(Span::styled(right, canvas.style(Role::Muted)));
        let inner = canvas.frame(place, "A panel of your own", &right, true);
        let inner = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
        canvas.text(inner, 0, "> ", Role::Accent);
        let text = Rect { x: inner.x + 2, width: inner.width.saturating_sub(2), ..inner };
        // A text that is longer than the box is moved along with the cursor.
        let skip = self.input.visual_scroll(usize::from(text.width.saturating_sub(1)));
        if self.input.value().is_empty() {
            canvas.text(text, 0, "a series, a few letters of one, or an expression", Role::Muted);
        } else {
            let shown: String = self.input.value().chars().skip(skip).collect();
            canvas.text(text, 0, &shown, Role::Text);
        }
        let x = text.x
            + (self.input.visual_cursor().saturating_sub(skip) as u16).min(text.width.saturating_sub(1));
        *canvas.cursor = Some(Position { x, y: inner.y });
        let rows = inner.height.saturating_sub(2 + below.0.len() as u16);
        let list = Rect { y: inner.y + 1, height: rows, ..inner };
        let at = self.at.min(found.len().saturating_sub(1));
        let first = (at + 1).saturating_sub(usize::from(rows));
        for (row, series) in found.iter().enumerate().skip(first).take(usize::from(rows)) {
            let y = (row - first) as u16;
            let line = Line::from(vec![
                Span::styled(format!("{:<34} ", series.name), canvas.style(Role::Text)),
                Span::styled(series.what.clone(), canvas.style(Role::Muted)),
            ]);
            canvas.line(list, y, &line);
            if row == at {
                canvas.highlight(list, y, Role::Selection);
            }
        }
        let foot = Rect { y: list.bottom(), height: inner.bottom().saturating_sub(list.bottom()), ..inner };
        for (i, line) in below.0.iter().enumerate() {
            canvas.text(foot, i as u16, line, below.1);
        }
        let keys = "Enter add · Tab complete · ↑ ↓ choose · Esc cancel";
        canvas.text(foot, below.0.len() as u16, keys, Role::Muted);
    }
}
