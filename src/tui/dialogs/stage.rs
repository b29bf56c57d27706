//! What a stage is about, what it asks, and its hints.

use ratatui::layout::Rect;
use ratatui::text::Line;

use super::{form, in_lines, key_line};
use crate::game::command::Command;
use crate::tui::actions::{Context, Id, key_in, key_of, with_keys};
use crate::tui::canvas::{Canvas, Hit, centred, wrap};
use crate::tui::layer::{Layer, Outcome, Scene};
use crate::tui::theme::Role;
use crate::tui::widgets::list::Cursor;

/// The dialog. It is drawn from the view each time, so answers and hints show at once.
#[derive(Default)]
pub(crate) struct StageDialog {
    cursor: Cursor,
}

enum Row {
    Text(Role, String),
    /// An open question: its number, and whether it is the first line of it.
    Ask(usize, bool, String),
}

impl StageDialog {
    fn rows(scene: &Scene<'_>, width: u16) -> (String, Vec<Row>) {
        let Some(play) = scene.play else { return (String::new(), Vec::new()) };
        let view = play.view();
        let Some(stage) = view.stage() else { return ("No stage is open".to_owned(), Vec::new()) };
        let mut rows = Vec::new();
        let mut text = |role: Role, text: &str| {
            rows.extend(wrap(text, width).into_iter().map(|l| Row::Text(role, l)));
        };
        text(Role::Text, &with_keys(&stage.text));
        for (i, hint) in stage.hints_shown.iter().enumerate() {
            text(Role::Text, "");
            text(Role::Info, &format!("Hint {}: {}", i + 1, with_keys(hint)));
        }
        text(Role::Text, "");
        if stage.open_asks.is_empty() {
            let done =
                if stage.answered > 0 { "All questions are answered." } else { "Nothing is asked here." };
            text(Role::Ok, &format!("{done} Look around, act, and let the clock go on."));
        } else {
            let gate = if stage.gate { " The clock waits at the next stage for your answers." } else { "" };
            text(
                Role::Muted,
                &format!("{} to answer, {} answered.{gate}", stage.open_asks.len(), stage.answered),
            );
        }
        for (i, ask) in stage.open_asks.iter().enumerate() {
            for (k, line) in wrap(&ask.question, width.saturating_sub(4)).into_iter().enumerate() {
                rows.push(Row::Ask(i, k == 0, line));
            }
        }
        (format!("Stage {} of {}: {}", stage.number, stage.of, stage.title), rows)
    }

    fn open(&self, scene: &Scene<'_>) -> Vec<Outcome> {
        let Some(play) = scene.play else { return Vec::new() };
        let view = play.view();
        let asks = view.stage().map(|s| s.open_asks).unwrap_or_default();
        match asks.get(self.cursor.at) {
            Some(ask) => vec![Outcome::Open(Box::new(form::ask(ask, &view)))],
            None => vec![Outcome::Close],
        }
    }
}

impl Layer for StageDialog {
    fn contexts(&self) -> Vec<Context> {
        vec![Context::Stage, Context::Move]
    }

    fn draw(&mut self, canvas: &mut Canvas<'_>, area: Rect, scene: &Scene<'_>) {
        let width = area.width.saturating_sub(2).min(82);
        let (title, rows) = Self::rows(scene, width.saturating_sub(4));
        let asks = rows.iter().filter(|r| matches!(r, Row::Ask(_, true, _))).count();
        let hints = scene.play.and_then(|p| p.view().stage()).map_or(0, |s| s.hints_left);
        let mut keys = vec![(key_in(Context::Move, Id::Open).to_owned(), "close")];
        if asks > 0 {
            keys[0].1 = "answer";
        }
        if hints > 0 {
            keys.push((key_of(Id::Hint).to_owned(), "hint"));
        }
        keys.push((key_in(Context::Global, Id::Back).to_owned(), "look around first"));
        let keys = in_lines(keys, width.saturating_sub(4));
        let place = centred(area, width, ((rows.len() + keys.len()) as u16 + 3).min(area.height));
        canvas.clear(place);
        let inside = canvas.frame(place, &title, &Line::default(), true);
        let inside = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
        let foot = (keys.len() as u16).min(inside.height);
        self.cursor.at = self.cursor.at.min(asks.saturating_sub(1));
        let room = usize::from(inside.height.saturating_sub(foot + 1));
        let selected = rows.iter().rposition(|r| matches!(r, Row::Ask(i, ..) if *i == self.cursor.at));
        let skip = selected.map_or(0, |at| (at + 1).saturating_sub(room));
        for (y, row) in rows.iter().skip(skip).take(room).enumerate() {
            let y = y as u16;
            match row {
                Row::Text(role, text) => {
                    canvas.text(inside, y, text, *role);
                }
                Row::Ask(i, first, text) => {
                    canvas.text(
                        inside,
                        y,
                        &format!("{} {text}", if *first { " ?" } else { "  " }),
                        Role::Text,
                    );
                    if *i == self.cursor.at {
                        canvas.highlight(inside, y, Role::Selection);
                    }
                    canvas.hit_row(inside, y, Hit::Item(*i));
                }
            }
        }
        for (y, line) in keys.iter().enumerate() {
            let line = key_line(canvas, line);
            canvas.line(inside, inside.height - foot + y as u16, &line);
        }
    }

    fn act(&mut self, id: Id, scene: &Scene<'_>) -> Option<Vec<Outcome>> {
        let asks = scene.play.and_then(|p| p.view().stage()).map_or(0, |s| s.open_asks.len());
        if self.cursor.act(id, asks) {
            return Some(Vec::new());
        }
        match id {
            Id::Open => Some(self.open(scene)),
            Id::Hint => Some(vec![Outcome::Submit(Command::Hint, String::new())]),
            Id::Back => Some(vec![Outcome::Close]),
            _ => None,
        }
    }

    fn clicked(&mut self, hit: Hit, scene: &Scene<'_>) -> Vec<Outcome> {
        if let Hit::Item(i) = hit {
            self.cursor.at = i;
            return self.open(scene);
        }
        Vec::new()
    }
}
