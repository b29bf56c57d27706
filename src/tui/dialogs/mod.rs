//! Dialogs: what is asked of the player, on top of the console.

mod form;
mod picker;
mod quit;
mod sheet;
mod stage;

pub(crate) use form::{AHEAD, DIRECTIONS, FELT, declare, finish, read_number, scattered, status};
pub(crate) use picker::{fork, help, levers, palette};
pub(crate) use quit::Quit;
pub(crate) use sheet::{finding, follow_ups, judge, pin, reflect};
pub(crate) use stage::StageDialog;

use ratatui::text::{Line, Span};

use super::canvas::{Canvas, columns};
use super::layer::Layer;
use super::theme::Role;
use crate::game::{FeedItem, View};

/// A key and what it does.
type Keyed = (String, &'static str);

/// What stands between two keys.
const BETWEEN: &str = " · ";

/// The keys at the foot of a dialog, in as many lines of that width as they need.
fn in_lines(keys: Vec<Keyed>, width: u16) -> Vec<Vec<Keyed>> {
    let mut lines: Vec<Vec<Keyed>> = vec![Vec::new()];
    let mut used = 0;
    for (key, what) in keys {
        let needs = columns(&key) + 1 + columns(what);
        let there = lines.last().is_some_and(|line| !line.is_empty());
        if there && used + columns(BETWEEN) + needs > usize::from(width) {
            lines.push(Vec::new());
            used = 0;
        } else if there {
            used += columns(BETWEEN);
        }
        used += needs;
        if let Some(line) = lines.last_mut() {
            line.push((key, what));
        }
    }
    lines
}

/// A line of keys.
fn key_line(canvas: &Canvas<'_>, keys: &[Keyed]) -> Line<'static> {
    let mut spans = Vec::new();
    for (i, (key, what)) in keys.iter().enumerate() {
        if i > 0 {
            spans.push(Span::styled(BETWEEN, canvas.style(Role::Muted)));
        }
        spans.push(Span::styled(format!("{key} "), canvas.style(Role::Accent)));
        spans.push(Span::styled(*what, canvas.style(Role::Text)));
    }
    Line::from(spans)
}

/// The dialog that answers a feed item; `None` when it waits for nothing.
pub(crate) fn answer(item: &FeedItem, view: &View<'_>) -> Option<Box<dyn Layer>> {
    if !item.asks() {
        return None;
    }
    match (&item.proposal, item.message) {
        (Some(id), _) => Some(Box::new(form::respond(id, item, view))),
        (None, Some(message)) => Some(Box::new(form::reply(message, item, view))),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_take_a_further_line_before_one_of_them_is_cut() {
        let keys: Vec<Keyed> =
            ["Enter", "s", "r", "Esc"].map(|key| (key.to_owned(), "does something")).to_vec();
        for (width, wanted) in [(200, vec![4]), (60, vec![3, 1]), (40, vec![2, 2]), (5, vec![1, 1, 1, 1])] {
            let lines = in_lines(keys.clone(), width);
            assert_eq!(lines.iter().map(Vec::len).collect::<Vec<_>>(), wanted, "{width}");
            assert_eq!(lines.concat(), keys);
        }
    }
}
