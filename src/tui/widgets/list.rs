//! Moving in rows: which is selected, and which part of them is shown.

use crate::tui::actions::Id;

/// Selection and scrolling of rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cursor {
    /// The selected row.
    pub(crate) at: usize,
    /// The first row shown.
    top: usize,
    /// Rows that were shown last.
    page: usize,
}

impl Cursor {
    /// Moves by an action; `false` when it is none of moving up or down.
    pub(crate) fn act(&mut self, id: Id, rows: usize) -> bool {
        let last = rows.saturating_sub(1);
        let page = self.page.max(2) - 1;
        self.at = match id {
            Id::Up => self.at.min(last).saturating_sub(1),
            Id::Down => self.at + 1,
            Id::PageUp => self.at.saturating_sub(page),
            Id::PageDown => self.at + page,
            Id::Top => 0,
            Id::Bottom => last,
            _ => return false,
        }
        .min(last);
        true
    }

    /// The rows to show on `height` lines when every row takes one, so that the selected one is among them.
    pub(crate) fn shown(&mut self, rows: usize, height: usize) -> std::ops::Range<usize> {
        self.page = height;
        self.at = self.at.min(rows.saturating_sub(1));
        self.top = self.top.min(self.at).max((self.at + 1).saturating_sub(height));
        self.top = self.top.min(rows.saturating_sub(height));
        self.top..(self.top + height).min(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_selected_row_is_always_shown() {
        let mut cursor = Cursor::default();
        for (id, wanted, shown) in [
            (Id::Down, 1, 0..5),
            (Id::PageDown, 5, 1..6),
            (Id::Bottom, 19, 15..20),
            (Id::Up, 18, 15..20),
            (Id::Top, 0, 0..5),
            (Id::Up, 0, 0..5),
        ] {
            assert!(cursor.act(id, 20));
            assert_eq!((cursor.shown(20, 5), cursor.at), (shown, wanted), "{id:?}");
        }
        assert_eq!(cursor.shown(0, 5), 0..0);
        assert!(!cursor.act(Id::Open, 20));
    }
}
