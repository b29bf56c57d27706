//! One exercise: what happens, what the player does, what is seen.
//!
//! A [`Session`] is built from a checked incident, moved on by [`Session::advance`], and acted on by
//! [`Session::submit`]. Fronts read it through a [`View`]; what a player may not see has no accessor there.

mod budget;
pub mod command;
mod evidence;
mod feed;
mod lever;
mod names;
mod plan;
mod plant;
mod prediction;
mod refusal;
pub mod run_file;
mod session;
mod setting;
mod stage;
mod topology;
mod view;

pub use budget::Budget;
pub use evidence::Evidence;
pub use feed::{FeedItem, FeedKind, fill};
pub use lever::{Argument, LeverView, action_text, action_with};
pub use plan::{PlanError, play_on, play_plan, watch_plan};
pub use prediction::{About, Forecast, Outcome, TOLERANCE, direction_words, expected_words, holds};
pub use refusal::Refusal;
pub use run_file::{ReplayError, RunFile, replay};
pub use session::{Mode, Pulled, Session, SessionOptions};
pub use stage::{AskKind, AskView, StageView};
pub use topology::{DatabaseNode, ServiceNode, Topology};
pub use view::{Annotation, AnnotationKind, HypothesisView, View};
