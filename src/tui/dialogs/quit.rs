//! Asked once when somebody wants to leave a running incident.

use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::game::Mode;
use crate::tui::actions::{Context, Id, key_in, key_of};
use crate::tui::canvas::{Canvas, Hit, centred};
use crate::tui::layer::{Layer, Outcome, Scene};
use crate::tui::theme::Role;
use crate::tui::widgets::list::Cursor;

const CHOICES: [(&str, &str); 3] = [
    ("go on playing", "The clock stood still meanwhile."),
    ("back to the menu", "The run so far is kept."),
    ("leave the game", "The run so far is kept."),
];

/// The question.
#[derive(Default)]
pub(crate) struct Quit {
    cursor: Cursor,
}

impl Quit {
    fn choose(&self) -> Vec<Outcome> {
        match self.cursor.at {
            0 => vec![Outcome::Close],
            1 => vec![Outcome::Close, Outcome::ToMenu],
            _ => vec![Outcome::Close, Outcome::Leave],
        }
    }
}

impl Layer for Quit {
    fn contexts(&self) -> Vec<Context> {
        vec![Context::Move]
    }

    fn clock_runs(&self, _mode: Mode) -> bool {
        false
    }

    fn draw(&mut self, canvas: &mut Canvas<'_>, area: Rect, _scene: &Scene<'_>) {
        let place = centred(area, 60, 8);
        canvas.clear(place);
        let inside = canvas.frame(place, "Leave the incident?", &Line::default(), true);
        let inside = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
        for (i, (title, what)) in CHOICES.iter().enumerate() {
            let row = i as u16 + 1;
            canvas.text(inside, row, &format!(" {title:<18}"), Role::Text);
            let rest =
                Rect { x: inside.x + 19.min(inside.width), width: inside.width.saturating_sub(19), ..inside };
            canvas.text(rest, row, what, Role::Muted);
            if i == self.cursor.at {
                canvas.highlight(inside, row, Role::Selection);
            }
            canvas.hit_row(inside, row, Hit::Item(i));
        }
        let (open, back) = (key_in(Context::Move, Id::Open), key_in(Context::Global, Id::Back));
        let keys = format!("{open} choose · {back} go on · {} leave the game", key_of(Id::Quit));
        canvas.text(inside, 5, &keys, Role::Muted);
    }

    fn act(&mut self, id: Id, _scene: &Scene<'_>) -> Option<Vec<Outcome>> {
        if self.cursor.act(id, CHOICES.len()) {
            return Some(Vec::new());
        }
        match id {
            Id::Open => Some(self.choose()),
            Id::Back => Some(vec![Outcome::Close]),
            Id::Quit => Some(vec![Outcome::Leave]),
            _ => None,
        }
    }

    fn clicked(&mut self, hit: Hit, _scene: &Scene<'_>) -> Vec<Outcome> {
        if let Hit::Item(i) = hit {
            self.cursor.at = i;
            return self.choose();
        }
        Vec::new()
    }
}
