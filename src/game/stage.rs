//! The parts of a run as the player sees them.

use crate::incident::schema::{Ask, Stage};
use crate::units::SimSpan;

/// The stage that is open.
#[derive(Clone, Debug, PartialEq)]
pub struct StageView {
    /// Counted from 1.
    pub number: usize,
    /// How many there are.
    pub of: usize,
    /// Title.
    pub title: String,
    /// What to do in it.
    pub text: String,
    /// The same for who plays by typing, where the incident has it.
    pub typed: Option<String>,
    /// Questions without an answer, in order.
    pub open_asks: Vec<AskView>,
    /// Questions that were answered.
    pub answered: usize,
    /// Hints given so far.
    pub hints_shown: Vec<String>,
    /// Hints that are left; none outside a guided run.
    pub hints_left: usize,
    /// Whether the run stops at the next stage's opening until the open questions are answered.
    pub gate: bool,
}

/// A question as the player sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct AskView {
    /// Its name, for the answer.
    pub id: String,
    /// Its place among the questions of its stage, counted from 1; it stays when others are answered.
    pub number: usize,
    /// The question.
    pub question: String,
    /// What kind of answer it wants.
    pub kind: AskKind,
}

/// What kind of answer a question wants.
#[derive(Clone, Debug, PartialEq)]
pub enum AskKind {
    /// `Command::Predict`.
    Predict {
        /// What it is about.
        series: String,
        /// From the answer to the moment at which it is settled.
        within: SimSpan,
    },
    /// `Command::Choose`.
    Choose {
        /// Readings to choose from.
        options: Vec<String>,
    },
}

impl AskView {
    /// The question without its answers.
    pub(super) fn of(ask: &Ask, number: usize) -> AskView {
        match ask {
            Ask::Predict { id, question, series, within } => AskView {
                id: id.clone(),
                number,
                question: question.clone(),
                kind: AskKind::Predict { series: series.clone(), within: *within },
            },
            Ask::Choose { id, question, options } => AskView {
                id: id.clone(),
                number,
                question: question.clone(),
                kind: AskKind::Choose { options: options.iter().map(|o| o.text.clone()).collect() },
            },
        }
    }
}

/// A question of a stage by its name, with the stage's index.
pub(super) fn find<'a>(stages: &'a [Stage], id: &str) -> Option<(usize, &'a Ask)> {
    stages.iter().enumerate().find_map(|(i, s)| s.asks.iter().find(|a| a.id() == id).map(|a| (i, a)))
}
