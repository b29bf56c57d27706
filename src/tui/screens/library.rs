//! The menu: incidents to choose from, and how to play the chosen one.

use std::sync::Arc;

use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::game::Mode;
use crate::incident::Incident;
use crate::incident::schema::Level;
use crate::tui::actions::{Context, Id, key_in};
use crate::tui::canvas::{Canvas, Hit, centred, columns, wrap};
use crate::tui::layer::{Layer, Outcome, Scene};
use crate::tui::theme::Role;
use crate::tui::widgets::list::Cursor;

/// An incident that can be played.
pub(crate) struct Entry {
    /// The checked incident.
    pub(crate) incident: Arc<Incident>,
    /// Marks of the best run so far, a letter each; empty when there is none.
    pub(crate) best: String,
    /// Marks of the last run.
    pub(crate) last: String,
    /// Why it is what should be played next, when it is.
    pub(crate) next: Option<String>,
    /// It stands for the blind drill: what is played is drawn when it is chosen.
    pub(crate) blind: bool,
}

impl Entry {
    /// An incident that has not been played.
    pub(crate) fn new(incident: Arc<Incident>) -> Entry {
        Entry { incident, best: String::new(), last: String::new(), next: None, blind: false }
    }

    fn title(&self) -> &str {
        if self.blind { "Blind drill" } else { &self.incident.file().title }
    }

    fn summary(&self) -> &str {
        if self.blind {
            "The page of one of the systems above, and another cause behind it. Nobody helps, and nothing tells you which it is \
             before the debrief."
        } else {
            &self.incident.file().summary
        }
    }

    /// What is said beside the title, in the longest form that fits.
    fn facts(&self, width: usize) -> String {
        let marks = match (self.best.as_str(), self.last.as_str()) {
            ("", _) => "not played yet".to_owned(),
            (best, last) if best == last => format!("best {best}"),
            (best, last) => format!("best {best}, last {last}"),
        };
        let file = self.incident.file();
        let (of_whom, long) = match self.blind {
            true => (Level::Advanced.words(), String::new()),
            false => (file.level.words(), format!("about {} min", file.minutes)),
        };
        let joined = |parts: &[&str]| {
            parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(" · ")
        };
        let forms = [joined(&[of_whom, &long, &marks]), joined(&[&long, &marks]), long.clone()];
        forms.into_iter().find(|form| columns(form) <= width).unwrap_or_default()
    }
}

/// The list.
#[derive(Default)]
pub(crate) struct Library {
    cursor: Cursor,
}

/// What a newcomer should know before the first run.
const HOW_IT_GOES: [(&str, &str); 4] = [
    (
        "You read",
        "dashboards, logs, traces, changes and a runbook of a system that is simulated request by request.",
    ),
    ("You decide", "what it is, how bad it is, which lever to pull, and what you expect of it."),
    ("It answers", "with what such a system would do. No lever is labelled right or wrong."),
    (
        "Afterwards",
        "your run is set beside doing nothing and beside a senior engineer's reading of the same screens.",
    ),
];

/// The first lines of a text; the last of them ends with an ellipsis when there are more.
fn cut(text: &str, width: u16, most: usize) -> Vec<String> {
    let mut lines = wrap(text, width);
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            while columns(last) + 2 > usize::from(width)
                && let Some((before, _)) = last.rsplit_once(' ')
            {
                *last = before.to_owned();
            }
            last.push_str(" …");
        }
    }
    lines
}

impl Layer for Library {
    fn contexts(&self) -> Vec<Context> {
        vec![Context::Library, Context::Move]
    }

    fn covers(&self) -> bool {
        true
    }

    fn clock_runs(&self, _mode: Mode) -> bool {
        false
    }

    fn draw(&mut self, canvas: &mut Canvas<'_>, area: Rect, scene: &Scene<'_>) {
        let width = area.width.saturating_sub(4).min(100);
        let column = Rect { x: area.x + (area.width - width) / 2, width, ..area };
        let top =
            Rect { y: column.y + 1.min(column.height), height: column.height.saturating_sub(1), ..column };
        let name = Line::from(vec![
            Span::styled("pagerdrill", canvas.style(Role::Accent)),
            Span::styled("  a flight simulator for on-call engineers", canvas.style(Role::Muted)),
        ]);
        canvas.line(top, 0, &name);
        let rest = Rect { y: top.y + 2, height: top.height.saturating_sub(2), ..top };
        if rest.height < 3 {
            return;
        }
        // As high as the list needs, and how it goes below it when there is room.
        let wanted = (scene.library.len() as u16).saturating_mul(4) + 2;
        let list = Rect { height: wanted.clamp(3, rest.height), ..rest };
        let below =
            Rect { y: list.bottom() + 1, height: rest.height.saturating_sub(list.height + 1), ..rest };
        let mut row = 0;
        for (title, text) in HOW_IT_GOES {
            let lines = wrap(text, below.width.saturating_sub(14));
            canvas.text(below, row, title, Role::Accent);
            for line in lines {
                let x = 14.min(below.width);
                canvas.text(
                    Rect { x: below.x + x, width: below.width - x, ..below },
                    row,
                    &line,
                    Role::Muted,
                );
                row += 1;
            }
        }
        let inside = canvas.frame(list, "Incidents", &Line::default(), true);
        let inside = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
        if scene.library.is_empty() {
            canvas.text(inside, 0, "No incident could be loaded; `pagerdrill list` says why.", Role::Warn);
            return;
        }
        // Four rows each: title, summary in two lines, a gap, which the last one needs not.
        let per = 4;
        let shown = self.cursor.shown(scene.library.len(), usize::from((inside.height + 1) / per).max(1));
        for (i, entry) in scene.library.iter().enumerate().skip(shown.start).take(shown.len()) {
            let y = (i - shown.start) as u16 * per;
            if y >= inside.height {
                break;
            }
            let block = Rect { y: inside.y + y, height: per.min(inside.height - y), ..inside };
            let selected = i == self.cursor.at;
            let marker = if selected { "▶ " } else { "  " };
            let title = Line::from(vec![
                Span::styled(marker, canvas.style(Role::Focus)),
                Span::styled(
                    entry.title().to_owned(),
                    canvas.style(if selected { Role::Accent } else { Role::Text }),
                ),
            ]);
            canvas.line(block, 0, &title);
            let facts = entry.facts(usize::from(block.width).saturating_sub(title.width() + 3));
            canvas.line_right(block, 0, &Line::from(Span::styled(facts, canvas.style(Role::Muted))));
            let text =
                Rect { x: block.x + 2.min(block.width), width: block.width.saturating_sub(4), ..block };
            for (k, line) in cut(entry.summary(), text.width, 2).iter().enumerate() {
                canvas.text(text, k as u16 + 1, line, if selected { Role::Text } else { Role::Muted });
            }
            if let Some(why) = entry.next.as_ref().filter(|_| block.height >= per) {
                canvas.text(text, per - 1, &format!("Next: {why}"), Role::Ok);
            }
            canvas.hit(block, Hit::Item(i));
        }
        // What does not fit is there all the same, and the border says so.
        canvas.beyond(list, shown.start, scene.library.len() - shown.end);
    }

    fn act(&mut self, id: Id, scene: &Scene<'_>) -> Option<Vec<Outcome>> {
        if self.cursor.act(id, scene.library.len()) {
            return Some(Vec::new());
        }
        match id {
            Id::Open if scene.library.get(self.cursor.at).is_some_and(|entry| entry.blind) => {
                // Stages and hints would say what to look for.
                Some(vec![Outcome::Prepare { entry: self.cursor.at, mode: Mode::Live }])
            }
            Id::Open if self.cursor.at < scene.library.len() => {
                Some(vec![Outcome::Open(Box::new(ModeChoice::new(self.cursor.at)))])
            }
            _ => None,
        }
    }

    fn clicked(&mut self, hit: Hit, scene: &Scene<'_>) -> Vec<Outcome> {
        match hit {
            Hit::Item(i) if i == self.cursor.at => self.act(Id::Open, scene).unwrap_or_default(),
            Hit::Item(i) => {
                self.cursor.at = i;
                Vec::new()
            }
            _ => Vec::new(),
        }
    }
}

const MODES: [(Mode, &str, &str); 3] = [
    (
        Mode::Guided,
        "Guided",
        "Stage by stage, with questions and hints. The clock waits while you answer. Start here.",
    ),
    (Mode::Live, "Live", "Everything is there from the page on, the clock does not wait, and nobody helps."),
    (Mode::Lab, "Lab", "Free play with every lever, from the first second on. No score."),
];

/// How to play the chosen incident.
pub(crate) struct ModeChoice {
    entry: usize,
    cursor: Cursor,
}

impl ModeChoice {
    fn new(entry: usize) -> ModeChoice {
        ModeChoice { entry, cursor: Cursor::default() }
    }

    fn choose(&self) -> Vec<Outcome> {
        vec![Outcome::Close, Outcome::Prepare { entry: self.entry, mode: MODES[self.cursor.at.min(2)].0 }]
    }
}

impl Layer for ModeChoice {
    fn contexts(&self) -> Vec<Context> {
        vec![Context::Library, Context::Move]
    }

    fn draw(&mut self, canvas: &mut Canvas<'_>, area: Rect, _scene: &Scene<'_>) {
        let place = centred(area, 66.min(area.width.saturating_sub(2)), 13);
        canvas.clear(place);
        let inside = canvas.frame(place, "How do you want to play it?", &Line::default(), true);
        let inside = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
        for (i, (_, title, what)) in MODES.iter().enumerate() {
            let y = i as u16 * 3;
            canvas.text(inside, y + 1, &format!(" {title}"), Role::Text);
            if i == self.cursor.at {
                canvas.highlight(inside, y + 1, Role::Selection);
            }
            let text =
                Rect { x: inside.x + 10.min(inside.width), width: inside.width.saturating_sub(11), ..inside };
            for (k, line) in wrap(what, text.width).iter().take(2).enumerate() {
                canvas.text(
                    text,
                    y + 1 + k as u16,
                    line,
                    if i == self.cursor.at && k == 0 { Role::Selection } else { Role::Muted },
                );
            }
            for row in y + 1..y + 3 {
                canvas.hit_row(inside, row, Hit::Item(i));
            }
        }
        let (open, back) = (key_in(Context::Library, Id::Open), key_in(Context::Global, Id::Back));
        canvas.text(inside, 10, &format!("{open} choose · {back} back"), Role::Muted);
    }

    fn act(&mut self, id: Id, _scene: &Scene<'_>) -> Option<Vec<Outcome>> {
        if self.cursor.act(id, MODES.len()) {
            return Some(Vec::new());
        }
        match id {
            Id::Open => Some(self.choose()),
            Id::Back | Id::Quit => Some(vec![Outcome::Close]),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_cut_says_so() {
        for (width, wanted) in [
            (40, vec!["one two three four five"]),
            (13, vec!["one two three", "four five"]),
            (9, vec!["one two", "three …"]),
            (7, vec!["one two", "three …"]),
        ] {
            assert_eq!(cut("one two three four five", width, 2), wanted, "{width}");
        }
    }
}
