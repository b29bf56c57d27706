//! The runbook: its sections, and the text of one of them.
//!
//! On a wide screen the titles stand at the left and the text beside them; on a narrow one above it.

use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::{Look, Pane};
use crate::game::View;
use crate::game::command::Source;
use crate::incident::schema::Section;
use crate::tui::actions::{Context, Id, Key};
use crate::tui::canvas::{Canvas, Hit, columns, wrap};
use crate::tui::dialogs;
use crate::tui::layer::Outcome;
use crate::tui::theme::Role;
use crate::tui::widgets::filter::Filter;
use crate::tui::widgets::list::Cursor;
use crate::units::count;

/// Longest line that is read without effort.
const LINE: u16 = 76;
/// From this width on the titles stand beside the text.
const BESIDE: u16 = 70;

/// The pane.
#[derive(Default)]
pub(crate) struct Runbook {
    filter: Filter,
    /// Selection among the sections that fit.
    cursor: Cursor,
    /// First line of the text that is shown.
    top: usize,
    /// Lines of the text that did not fit.
    hidden: usize,
}

impl Runbook {
    /// Places of the sections that fit the filter.
    fn rows(&self, view: &View<'_>) -> Vec<usize> {
        let fits = |s: &Section| {
            let mut parts: Vec<&str> = s.text.iter().map(String::as_str).collect();
            parts.push(&s.title);
            self.filter.fits(&parts)
        };
        let all = view.runbook();
        (0..all.len()).filter(|&i| fits(&all[i])).collect()
    }

    fn selected<'a>(&self, view: &View<'a>) -> Option<(usize, &'a Section)> {
        let rows = self.rows(view);
        let place = *rows.get(self.cursor.at.min(rows.len().saturating_sub(1)))?;
        view.runbook().get(place).map(|s| (place, s))
    }

    fn draw_text(&mut self, canvas: &mut Canvas<'_>, area: Rect, section: &Section) {
        let mut lines = vec![(Role::Accent, section.title.clone()), (Role::Text, String::new())];
        for (i, paragraph) in section.text.iter().enumerate() {
            if i > 0 {
                lines.push((Role::Text, String::new()));
            }
            lines.extend(wrap(paragraph, area.width.min(LINE)).into_iter().map(|l| (Role::Text, l)));
        }
        let height = usize::from(area.height);
        self.hidden = lines.len().saturating_sub(height);
        self.top = self.top.min(self.hidden);
        for (y, (role, line)) in lines.iter().skip(self.top).take(height).enumerate() {
            canvas.text(area, y as u16, line, *role);
        }
        let below = lines.len().saturating_sub(self.top + height);
        if below > 0 && area.height > 0 {
            let more = Line::from(Span::styled(
                format!(" PageDown: {} ", count(below as u64, "more line", "more lines")),
                canvas.style(Role::Info),
            ));
            canvas.line_right(area, area.height - 1, &more);
        }
    }
}

impl Pane for Runbook {
    fn name(&self) -> &'static str {
        "runbook"
    }

    fn brief(&self) -> &'static str {
        "book"
    }

    fn contexts(&self) -> &'static [Context] {
        &[Context::Search, Context::Move]
    }

    fn draw(&mut self, canvas: &mut Canvas<'_>, area: Rect, view: &View<'_>, look: Look) {
        let inner = canvas.frame(area, "Runbook", &Line::default(), look.focus);
        let inner = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
        if inner.height == 0 || inner.width == 0 {
            return;
        }
        let rows = self.rows(view);
        let all = view.runbook();
        self.filter.draw(canvas, inner, &format!("{} of {} sections", rows.len(), all.len()), "filter");
        let rest = Rect { y: inner.y + 1, height: inner.height - 1, ..inner };
        if rows.is_empty() {
            let text = if all.is_empty() { "There is no runbook." } else { "No section fits." };
            canvas.text(rest, 0, text, Role::Muted);
            return;
        }
        let longest = rows.iter().map(|&i| columns(&all[i].title)).max().unwrap_or(0) as u16;
        let beside = rest.width >= BESIDE;
        let titles = if beside {
            Rect { width: (longest + 2).min(rest.width / 3), ..rest }
        } else {
            Rect { height: (rows.len() as u16).min(rest.height / 3), ..rest }
        };
        let shown = self.cursor.shown(rows.len(), usize::from(titles.height));
        for (y, r) in shown.enumerate() {
            canvas.text(titles, y as u16, &format!(" {}", all[rows[r]].title), Role::Text);
            if r == self.cursor.at {
                let role = if look.focus { Role::Selection } else { Role::Focus };
                canvas.highlight(titles, y as u16, role);
            }
            canvas.hit_row(titles, y as u16, Hit::Item(r));
        }
        let text = if beside {
            Rect { x: titles.right() + 2, width: rest.width.saturating_sub(titles.width + 2), ..rest }
        } else {
            let taken = (titles.height + 1).min(rest.height);
            Rect { y: rest.y + taken, height: rest.height - taken, ..rest }
        };
        if beside {
            for y in rest.y..rest.bottom() {
                canvas.text(Rect { x: titles.right(), y, width: 1, height: 1 }, 0, "│", Role::Muted);
            }
        } else if rest.height > titles.height {
            canvas.text(rest, titles.height, &"─".repeat(usize::from(rest.width)), Role::Muted);
        }
        if let Some((_, section)) = self.selected(view) {
            self.draw_text(canvas, text, section);
        }
    }

    fn act(&mut self, id: Id, view: &View<'_>) -> Option<Vec<Outcome>> {
        let rows = self.rows(view).len();
        match id {
            Id::Filter => self.filter.start(),
            Id::Back if self.filter.active() => self.filter.clear(),
            Id::PageDown => self.top = (self.top + 10).min(self.hidden),
            Id::PageUp => self.top = self.top.saturating_sub(10),
            Id::Pin => {
                let (place, section) = self.selected(view)?;
                let shows = format!("runbook: {}", section.title);
                let sheet = dialogs::pin(Source::Runbook(place), &shows, view);
                return Some(vec![Outcome::Open(Box::new(sheet))]);
            }
            Id::NextMatch | Id::Right | Id::PreviousMatch | Id::Left => {
                let down = matches!(id, Id::NextMatch | Id::Right);
                self.cursor.act(if down { Id::Down } else { Id::Up }, rows);
                self.top = 0;
            }
            _ if self.cursor.act(id, rows) => self.top = 0,
            _ => return None,
        }
        Some(Vec::new())
    }

    fn types(&self) -> bool {
        self.filter.types()
    }

    fn typed(&mut self, key: Key, _view: &View<'_>) -> Option<Vec<Outcome>> {
        let taken = self.filter.typed(key);
        if taken {
            (self.cursor.at, self.top) = (0, 0);
        }
        taken.then(Vec::new)
    }

    fn pasted(&mut self, text: &str) {
        self.filter.pasted(text);
    }

    fn clicked(&mut self, item: usize, _view: &View<'_>) -> Vec<Outcome> {
        (self.cursor.at, self.top) = (item, 0);
        Vec::new()
    }

    fn pinned(&self, view: &View<'_>) -> Option<Source> {
        self.selected(view).map(|(place, _)| Source::Runbook(place))
    }

    fn copied(&self, view: &View<'_>) -> Option<String> {
        self.selected(view).map(|(_, s)| format!("{}\n\n{}", s.title, s.text.join("\n\n")))
    }

    fn looked_at(&self, view: &View<'_>) -> Vec<Source> {
        self.pinned(view).into_iter().collect()
    }
}
