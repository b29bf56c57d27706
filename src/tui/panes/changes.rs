//! Changes: what others deployed, set and moved, the newest first, with the difference.

use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::{Look, Pane};
use crate::game::View;
use crate::game::command::Source;
use crate::incident::schema::Change;
use crate::tui::actions::{Context, Id, Key};
use crate::tui::canvas::{Canvas, Hit, wrap};
use crate::tui::dialogs;
use crate::tui::layer::Outcome;
use crate::tui::theme::Role;
use crate::tui::widgets::filter::Filter;
use crate::tui::widgets::list::Cursor;

/// The pane.
#[derive(Default)]
pub(crate) struct Changes {
    filter: Filter,
    /// The selected change's place in the file; the newest when there is none.
    at: Option<usize>,
    cursor: Cursor,
}

fn plain(change: &Change) -> String {
    format!("{} {} by {}: {}", change.at, change.kind, change.by, change.what)
}

impl Changes {
    /// The changes that fit the filter, the newest first.
    fn rows<'a>(&self, view: &View<'a>) -> Vec<(usize, &'a Change)> {
        let fits = |c: &Change| self.filter.fits(&[&c.kind, &c.by, &c.what]);
        let mut rows: Vec<(usize, &Change)> = view.changes().filter(|(_, c)| fits(c)).collect();
        rows.sort_by_key(|(i, c)| std::cmp::Reverse((c.at, *i)));
        rows
    }

    fn row(&self, rows: &[(usize, &Change)]) -> usize {
        self.at.and_then(|at| rows.iter().position(|r| r.0 == at)).unwrap_or(0)
    }

    fn selected<'a>(&self, view: &View<'a>) -> Option<(usize, &'a Change)> {
        let rows = self.rows(view);
        rows.get(self.row(&rows)).copied()
    }
}

impl Pane for Changes {
    fn name(&self) -> &'static str {
        "changes"
    }

    fn contexts(&self) -> &'static [Context] {
        &[Context::Search, Context::Move]
    }

    fn draw(&mut self, canvas: &mut Canvas<'_>, area: Rect, view: &View<'_>, look: Look) {
        let rows = self.rows(view);
        let right = Line::from(Span::styled("newest first", canvas.style(Role::Muted)));
        let inner = canvas.frame(area, "Changes", &right, look.focus);
        let inner = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
        if inner.height == 0 || inner.width == 0 {
            return;
        }
        self.filter.draw(canvas, inner, &format!("{} of {}", rows.len(), view.changes().count()), "filter");
        let rest = Rect { y: inner.y + 1, height: inner.height - 1, ..inner };
        if rows.is_empty() {
            let text = if self.filter.active() { "No change fits." } else { "Nothing was changed so far." };
            canvas.text(rest, 0, text, Role::Muted);
            return;
        }
        let at = self.row(&rows);
        self.cursor.at = at;
        // Below the list the difference of the selected change.
        let (_, change) = rows[at];
        let mut detail: Vec<(Role, String)> =
            wrap(&plain(change), rest.width).into_iter().map(|l| (Role::Accent, l)).collect();
        for line in &change.diff {
            let role = match line.chars().next() {
                Some('+') => Role::Ok,
                Some('-') => Role::Crit,
                _ => Role::Text,
            };
            detail.extend(
                wrap(line, rest.width.saturating_sub(2)).into_iter().map(|l| (role, format!("  {l}"))),
            );
        }
        if change.diff.is_empty() {
            detail.push((Role::Muted, "  No difference was recorded.".to_owned()));
        }
        let detail_height = (detail.len() as u16 + 1).min(rest.height / 2);
        let list_height = (rest.height - detail_height).min(rows.len() as u16);
        let list = Rect { height: list_height, ..rest };
        let shown = self.cursor.shown(rows.len(), usize::from(list.height));
        for (y, r) in shown.enumerate() {
            let (place, change) = rows[r];
            let line = Line::from(vec![
                Span::styled(format!("{}  ", change.at), canvas.style(Role::Muted)),
                Span::styled(format!("{:<12}", change.kind), canvas.style(Role::Info)),
                Span::raw(format!("{:<18} ", change.by)),
                Span::raw(change.what.clone()),
            ]);
            canvas.line(list, y as u16, &line);
            if r == at {
                let role = if look.focus { Role::Selection } else { Role::Focus };
                canvas.highlight(list, y as u16, role);
            }
            canvas.hit_row(list, y as u16, Hit::Item(place));
        }
        let foot = Rect { y: list.bottom(), height: rest.bottom() - list.bottom(), ..rest };
        canvas.text(foot, 0, &"─".repeat(usize::from(foot.width)), Role::Muted);
        for (i, (role, text)) in detail.iter().enumerate() {
            canvas.text(foot, i as u16 + 1, text, *role);
        }
    }

    fn act(&mut self, id: Id, view: &View<'_>) -> Option<Vec<Outcome>> {
        let rows = self.rows(view);
        self.cursor.at = self.row(&rows);
        match id {
            Id::Filter => self.filter.start(),
            Id::Back if self.filter.active() => self.filter.clear(),
            Id::Pin => {
                let (place, change) = self.selected(view)?;
                let sheet = dialogs::pin(Source::Change(place), &plain(change), view);
                return Some(vec![Outcome::Open(Box::new(sheet))]);
            }
            Id::NextMatch | Id::PreviousMatch => {
                self.cursor.act(if id == Id::NextMatch { Id::Down } else { Id::Up }, rows.len());
                self.at = rows.get(self.cursor.at).map(|r| r.0);
            }
            _ if self.cursor.act(id, rows.len()) => self.at = rows.get(self.cursor.at).map(|r| r.0),
            _ => return None,
        }
        Some(Vec::new())
    }

    fn types(&self) -> bool {
        self.filter.types()
    }

    fn typed(&mut self, key: Key, _view: &View<'_>) -> Option<Vec<Outcome>> {
        self.filter.typed(key).then(Vec::new)
    }

    fn pasted(&mut self, text: &str) {
        self.filter.pasted(text);
    }

    fn clicked(&mut self, item: usize, _view: &View<'_>) -> Vec<Outcome> {
        self.at = Some(item);
        Vec::new()
    }

    fn pinned(&self, view: &View<'_>) -> Option<Source> {
        self.selected(view).map(|(place, _)| Source::Change(place))
    }

    fn copied(&self, view: &View<'_>) -> Option<String> {
        self.selected(view).map(|(_, change)| format!("{}\n{}", plain(change), change.diff.join("\n")))
    }

    fn looked_at(&self, _view: &View<'_>) -> Vec<Source> {
        vec![Source::Pane("changes".to_owned())]
    }
}
