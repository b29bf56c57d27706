//! Panes of the console.
//!
//! A pane shows one kind of thing and answers the actions of its contexts. [`all`] is the only list of them: its
//! order is that of the digits, the tabs and Tab.

mod changes;
mod dashboards;
mod evidence;
mod feed;
mod logs;
mod notebook;
mod own;
mod runbook;
mod topology;
mod traces;

use ratatui::layout::Rect;

use super::actions::{Context, Id, Key};
use super::canvas::Canvas;
use super::layer::Outcome;
use crate::game::View;
use crate::game::command::Source;

/// How a pane is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Look {
    /// It has the keys.
    pub(crate) focus: bool,
    /// It has the whole screen.
    pub(crate) expanded: bool,
}

/// A pane. It keeps what is selected and scrolled, and nothing of the game.
pub(crate) trait Pane {
    /// Name, in lower case, as tabs show it.
    fn name(&self) -> &'static str;

    /// A short name, for tabs that have no room for the name.
    fn brief(&self) -> &'static str {
        self.name()
    }

    /// Whether it stands at the side of a wide screen, beside whatever else is shown.
    fn side(&self) -> bool {
        false
    }

    /// Contexts of its keys, before those of the console.
    fn contexts(&self) -> &'static [Context] {
        &[Context::Move]
    }

    /// Draws it, its border included.
    fn draw(&mut self, canvas: &mut Canvas<'_>, area: Rect, view: &View<'_>, look: Look);

    /// Carries out an action; `None` when it has no use for it.
    fn act(&mut self, id: Id, view: &View<'_>) -> Option<Vec<Outcome>>;

    /// Whether something is being typed: keys are text then.
    fn types(&self) -> bool {
        false
    }

    /// Takes a key before it is looked up, while something is typed; `None` when it is no text.
    fn typed(&mut self, _key: Key, _view: &View<'_>) -> Option<Vec<Outcome>> {
        None
    }

    /// Takes pasted text, while something is typed.
    fn pasted(&mut self, _text: &str) {}

    /// Answers a click on an item that it drew.
    fn clicked(&mut self, _item: usize, _view: &View<'_>) -> Vec<Outcome> {
        Vec::new()
    }

    /// What the pin key keeps.
    fn pinned(&self, _view: &View<'_>) -> Option<Source> {
        None
    }

    /// What stands beside the pinned reading, when it does not say all that was looked at.
    fn pin_note(&self, _view: &View<'_>) -> String {
        String::new()
    }

    /// What the copy key takes.
    fn copied(&self, _view: &View<'_>) -> Option<String> {
        None
    }

    /// What is looked at while it is shown.
    fn looked_at(&self, _view: &View<'_>) -> Vec<Source> {
        Vec::new()
    }
}

/// All panes, in the order of their digits.
pub(crate) fn all() -> Vec<Box<dyn Pane>> {
    vec![
        Box::new(dashboards::Dashboards::default()),
        Box::new(logs::Logs::default()),
        Box::new(traces::Traces::default()),
        Box::new(topology::TopologyPane::default()),
        Box::new(changes::Changes::default()),
        Box::new(runbook::Runbook::default()),
        Box::new(notebook::Notebook::default()),
        Box::new(feed::Feed::default()),
        Box::new(evidence::EvidenceList::default()),
    ]
}
