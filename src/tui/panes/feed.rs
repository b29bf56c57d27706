//! The feed: pages, alerts, people, changes, and what the player did. What waits for an answer says so.

use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::{Look, Pane};
use crate::game::command::Source;
use crate::game::{FeedItem, FeedKind, View};
use crate::tui::actions::{Id, key_of};
use crate::tui::canvas::{Canvas, Hit, columns, wrap};
use crate::tui::dialogs;
use crate::tui::layer::Outcome;
use crate::tui::theme::Role;

/// The pane.
#[derive(Default)]
pub(crate) struct Feed {
    /// The selected item; the newest when there is none.
    at: Option<usize>,
}

/// What kind of item it is, in a word, and its colour.
fn label(item: &FeedItem) -> (String, Role) {
    match item.kind {
        FeedKind::Page => ("PAGE".to_owned(), Role::Crit),
        FeedKind::Alert => (format!("ALERT {}", item.from), Role::Warn),
        FeedKind::Change => (format!("CHANGE {}", item.from), Role::Info),
        FeedKind::Own => ("you".to_owned(), Role::Muted),
        FeedKind::Note => ("note".to_owned(), Role::Muted),
        FeedKind::Message | FeedKind::Proposal => (item.from.clone(), Role::Accent),
    }
}

/// An item as lines of a column.
fn lines(canvas: &Canvas<'_>, item: &FeedItem, view: &View<'_>, width: u16) -> Vec<Line<'static>> {
    let time = view.clock_at(item.at).to_string();
    let (mut who, role) = label(item);
    let mut more = Vec::new();
    if columns(&who) + 6 > usize::from(width) {
        // A name that does not fit goes on below; names of alerts are one long word.
        let mut parts = wrap(&who, width.saturating_sub(6)).into_iter();
        who = parts.next().unwrap_or_default();
        more = parts.collect();
    }
    let head = format!("{} {who}", &time[..5]);
    let quiet = matches!(item.kind, FeedKind::Own | FeedKind::Note);
    let text_role = if quiet { Role::Muted } else { Role::Text };
    let mut out = Vec::new();
    let mut first = vec![
        Span::styled(format!("{} ", &time[..5]), canvas.style(Role::Muted)),
        Span::styled(who, canvas.style(role)),
    ];
    let room = usize::from(width).saturating_sub(columns(&head));
    let room = if more.is_empty() { room } else { 0 };
    let named = !item.role.is_empty() && columns(&item.role) + 2 <= room;
    if named {
        first.push(Span::styled(format!("  {}", item.role), canvas.style(Role::Muted)));
    }
    // Short texts go on behind the name.
    let goes_on =
        more.into_iter().map(|l| Line::from(Span::styled(format!("      {l}"), canvas.style(role))));
    if !named && columns(&item.text) + 2 <= room {
        first.push(Span::styled(format!("  {}", item.text), canvas.style(text_role)));
        out.push(Line::from(first));
    } else {
        out.push(Line::from(first));
        out.extend(goes_on);
        for line in wrap(&item.text, width.saturating_sub(2)) {
            out.push(Line::from(Span::styled(format!("  {line}"), canvas.style(text_role))));
        }
    }
    if item.asks() {
        let text = format!("  [{}] answer", key_of(Id::Answer));
        out.push(Line::from(Span::styled(text, canvas.style(Role::Warn))));
    } else if let Some(answer) = &item.answered {
        // What was replied stands in the feed as an item of its own.
        let answer = if item.proposal.is_some() { answer } else { "answered" };
        out.push(Line::from(Span::styled(format!("  → {answer}"), canvas.style(Role::Muted))));
    }
    out
}

impl Pane for Feed {
    fn name(&self) -> &'static str {
        "feed"
    }

    fn side(&self) -> bool {
        true
    }

    fn draw(&mut self, canvas: &mut Canvas<'_>, area: Rect, view: &View<'_>, look: Look) {
        let open = view.feed().iter().filter(|i| i.asks()).count();
        let right = match open {
            0 => Line::default(),
            n => Line::from(Span::styled(format!("{n} open"), canvas.style(Role::Warn))),
        };
        let inner = canvas.frame(area, "Feed", &right, look.focus);
        let items = view.feed();
        if items.is_empty() {
            canvas.text(inner, 0, "Quiet so far.", Role::Muted);
            return;
        }
        let selected = self.at.filter(|_| look.focus);
        // From the selected item, or the newest, upwards; what follows the selected one below it.
        let last = selected.unwrap_or(items.len() - 1).min(items.len() - 1);
        let mut blocks = Vec::new();
        let mut used = 0;
        for item in items[..=last].iter().rev() {
            let block = lines(canvas, item, view, inner.width);
            used += block.len();
            blocks.push((item.number, block));
            if used >= usize::from(inner.height) {
                break;
            }
        }
        blocks.reverse();
        for item in &items[last + 1..] {
            if used >= usize::from(inner.height) {
                break;
            }
            let block = lines(canvas, item, view, inner.width);
            used += block.len();
            blocks.push((item.number, block));
        }
        let upper: usize = blocks.iter().filter(|b| b.0 <= last).map(|b| b.1.len()).sum();
        let skip = upper.saturating_sub(usize::from(inner.height));
        let mut row = 0u16;
        for (line_number, (number, line)) in
            blocks.iter().flat_map(|(n, block)| block.iter().map(move |l| (*n, l))).enumerate()
        {
            if line_number < skip || row >= inner.height {
                continue;
            }
            canvas.line(inner, row, line);
            if selected == Some(number) {
                canvas.highlight(inner, row, Role::Selection);
            }
            canvas.hit_row(inner, row, Hit::Item(number));
            row += 1;
        }
    }

    fn act(&mut self, id: Id, view: &View<'_>) -> Option<Vec<Outcome>> {
        let last = view.feed().len().checked_sub(1)?;
        let at = self.at.unwrap_or(last).min(last);
        match id {
            Id::Up => self.at = Some(at.saturating_sub(1)),
            // Below the newest item the feed follows again.
            Id::Down => self.at = (at < last).then_some(at + 1),
            Id::PageUp => self.at = Some(at.saturating_sub(5)),
            Id::PageDown => self.at = (at + 5 <= last).then_some(at + 5),
            Id::Top => self.at = Some(0),
            Id::Bottom => self.at = None,
            Id::Open | Id::Answer => {
                let item = view.feed().get(at).filter(|i| i.asks());
                return item.and_then(|i| dialogs::answer(i, view)).map(|layer| vec![Outcome::Open(layer)]);
            }
            _ => return None,
        }
        Some(Vec::new())
    }

    fn clicked(&mut self, item: usize, view: &View<'_>) -> Vec<Outcome> {
        if self.at == Some(item) {
            return self.act(Id::Open, view).unwrap_or_default();
        }
        self.at = Some(item);
        Vec::new()
    }

    fn pinned(&self, view: &View<'_>) -> Option<Source> {
        let last = view.feed().len().checked_sub(1)?;
        Some(Source::Feed(self.at.unwrap_or(last).min(last)))
    }

    fn copied(&self, view: &View<'_>) -> Option<String> {
        let item = view.feed().get(self.at.unwrap_or(view.feed().len().checked_sub(1)?))?;
        Some(format!("{} {}: {}", view.clock_at(item.at), label(item).0, item.text))
    }
}
