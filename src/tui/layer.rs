//! Layers: the library, the console, a dialog. Drawing goes bottom up, the top one takes the keys.

use std::time::Duration;

use ratatui::layout::Rect;

use super::actions::{Context, Id, Key};
use super::canvas::{Canvas, Hit};
use super::play::Play;
use super::screens::library::Entry;
use crate::game::command::Command;
use crate::game::{Mode, Refusal};
use crate::score::Change;

/// What a layer sees when it draws or answers.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'a> {
    /// The run, when there is one.
    pub(crate) play: Option<&'a Play>,
    /// The incidents that can be played.
    pub(crate) library: &'a [Entry],
    /// The incident's clock stands still because of what is on top.
    pub(crate) held: bool,
}

/// What a layer or pane wants done.
pub(crate) enum Outcome {
    /// A command for the session; the text is said when it was carried out.
    Submit(Command, String),
    /// What the dialog that answers was opened for: it closes when the command was carried out, and the text is said. Otherwise
    /// it stays as it is and is told why not.
    Finish(Command, String),
    /// A layer on top.
    Open(Box<dyn Layer>),
    /// The layer that answers is finished.
    Close,
    /// As if the action's key were pressed on the layer below.
    Act(Id),
    /// A line in place of the footer about something that did not work.
    Warn(String),
    /// What is to be done instead at the decision that the layer below is about.
    Fork(Change),
    /// Text for the clipboard.
    Copy(String),
    /// Builds a run of the library's incident of that number and shows its briefing.
    Prepare {
        /// Number in the library.
        entry: usize,
        /// How it is played.
        mode: Mode,
    },
    /// Starts the clock of the run that was briefed.
    Begin,
    /// Back to the menu; the run is kept.
    ToMenu,
    /// Leaves the game; the run is kept.
    Leave,
}

/// One layer.
pub(crate) trait Layer {
    /// Where its keys come from, the most particular context first; the global one is added.
    fn contexts(&self) -> Vec<Context>;

    /// Whether it covers the whole screen, so that what is below need not be drawn.
    fn covers(&self) -> bool {
        false
    }

    /// Whether the incident's clock runs while it is on top: in live mode nobody waits for a dialog.
    fn clock_runs(&self, mode: Mode) -> bool {
        mode == Mode::Live
    }

    /// Draws it; `area` is the whole screen.
    fn draw(&mut self, canvas: &mut Canvas<'_>, area: Rect, scene: &Scene<'_>);

    /// Carries out an action; `None` when it has no use for it.
    fn act(&mut self, id: Id, scene: &Scene<'_>) -> Option<Vec<Outcome>>;

    /// Whether an action that could be done has a use in what it shows at the moment; the footer leaves out those that have none.
    fn offers(&self, _id: Id) -> bool {
        true
    }

    /// Takes a key before it is looked up, as fields that are typed into do; `None` when it is no text.
    fn typed(&mut self, _key: Key, _scene: &Scene<'_>) -> Option<Vec<Outcome>> {
        None
    }

    /// Takes pasted text; only fields that are typed into do.
    fn pasted(&mut self, _text: &str) {}

    /// Answers a click on something that it drew.
    fn clicked(&mut self, _hit: Hit, _scene: &Scene<'_>) -> Vec<Outcome> {
        Vec::new()
    }

    /// Takes the refusal of the command that it made with [`Outcome::Finish`].
    fn refused(&mut self, _refusal: &Refusal) {}

    /// Takes what is to be done instead at a decision, chosen in a dialog on top.
    fn fork(&mut self, _change: Change, _scene: &Scene<'_>) {}

    /// Whether something is being computed that it will show: it is drawn again until then.
    fn waits(&self, _scene: &Scene<'_>) -> bool {
        false
    }

    /// Whether it moves by itself, without a run that is played.
    fn moves(&self) -> bool {
        false
    }

    /// Lets wall time pass for what moves by itself.
    fn advance(&mut self, _wall: Duration) {}

    /// What is looked at, for the record of what was seen.
    fn looked_at(&self, _scene: &Scene<'_>) -> Vec<crate::game::command::Source> {
        Vec::new()
    }
}
