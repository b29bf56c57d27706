//! Screens: layers that cover everything below them.

pub(crate) mod again;
pub(crate) mod briefing;
pub(crate) mod console;
pub(crate) mod debrief;
pub(crate) mod library;
pub(crate) mod watch;
