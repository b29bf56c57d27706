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

use super::layer::Layer;
use crate::game::{FeedItem, View};

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
