//! The evidence list: what was pinned, when, and what it showed then.

use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::{Look, Pane};
use crate::game::{Evidence, View};
use crate::tui::actions::{Id, key_of};
use crate::tui::canvas::{Canvas, Hit, wrap};
use crate::tui::layer::Outcome;
use crate::tui::theme::Role;

/// The pane.
#[derive(Default)]
pub(crate) struct EvidenceList {
    /// The selected piece; the newest when there is none.
    at: Option<usize>,
}

impl EvidenceList {
    fn selected<'a>(&self, view: &View<'a>) -> Option<&'a Evidence> {
        let all = view.evidence();
        all.get(self.at.unwrap_or(all.len().checked_sub(1)?))
    }
}

impl Pane for EvidenceList {
    fn name(&self) -> &'static str {
        "evidence"
    }

    fn brief(&self) -> &'static str {
        "pins"
    }

    fn side(&self) -> bool {
        true
    }

    fn draw(&mut self, canvas: &mut Canvas<'_>, area: Rect, view: &View<'_>, look: Look) {
        let all = view.evidence();
        let count = if all.is_empty() { String::new() } else { all.len().to_string() };
        let inner = canvas.frame(area, "Evidence", &Line::from(count), look.focus);
        if all.is_empty() {
            let text = format!("Nothing pinned. {} keeps what you look at, with the time.", key_of(Id::Pin));
            for (i, line) in wrap(&text, inner.width).iter().enumerate() {
                canvas.text(inner, i as u16, line, Role::Muted);
            }
            return;
        }
        let selected = self.at.filter(|_| look.focus);
        let last = selected.unwrap_or(all.len() - 1).min(all.len() - 1);
        let mut rows: Vec<(usize, Line<'static>)> = Vec::new();
        for (i, evidence) in all.iter().enumerate().take(last + 1).rev() {
            let time = view.clock_at(evidence.at).to_string();
            let mut block = vec![Line::from(vec![
                Span::styled(evidence.id.to_string(), canvas.style(Role::Accent)),
                Span::styled(format!(" {}", &time[..5]), canvas.style(Role::Muted)),
            ])];
            let note = if evidence.note.is_empty() { String::new() } else { format!(" ({})", evidence.note) };
            for line in wrap(&format!("{}{note}", evidence.showed), inner.width.saturating_sub(2)) {
                block.push(Line::from(Span::styled(format!("  {line}"), canvas.style(Role::Text))));
            }
            rows.extend(block.into_iter().rev().map(|line| (i, line)));
            if rows.len() >= usize::from(inner.height) {
                break;
            }
        }
        rows.truncate(usize::from(inner.height));
        for (row, (i, line)) in rows.iter().rev().enumerate() {
            canvas.line(inner, row as u16, line);
            if selected == Some(*i) {
                canvas.highlight(inner, row as u16, Role::Selection);
            }
            canvas.hit_row(inner, row as u16, Hit::Item(*i));
        }
    }

    fn act(&mut self, id: Id, view: &View<'_>) -> Option<Vec<Outcome>> {
        let last = view.evidence().len().checked_sub(1)?;
        let at = self.at.unwrap_or(last).min(last);
        self.at = match id {
            Id::Up => Some(at.saturating_sub(1)),
            Id::Down => (at < last).then_some(at + 1),
            Id::Top => Some(0),
            Id::Bottom => None,
            _ => return None,
        };
        Some(Vec::new())
    }

    fn clicked(&mut self, item: usize, _view: &View<'_>) -> Vec<Outcome> {
        self.at = Some(item);
        Vec::new()
    }

    fn copied(&self, view: &View<'_>) -> Option<String> {
        let evidence = self.selected(view)?;
        Some(format!("{} {} {}", evidence.id, view.clock_at(evidence.at), evidence.showed))
    }
}
