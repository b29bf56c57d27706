//! Everything a player can do, as one value. The journal of a run is the list of these and nothing else.

use serde::{Deserialize, Serialize};

use crate::incident::schema::{Action, Name, Severity};
use crate::units::SimTime;

/// Something the player does. It takes effect at the session's present instant.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub enum Command {
    /// Says that somebody is on it.
    Acknowledge,
    /// Declares how bad it is.
    Declare(Severity),
    /// Pulls a lever, with or without saying what will happen.
    Pull {
        /// The lever and its argument.
        action: Action,
        /// What the player expects of it.
        prediction: Option<Prediction>,
    },
    /// Accepts or declines a teammate's proposal; accepting pulls its lever.
    Respond {
        /// The proposal.
        proposal: Name,
        /// Whether to do it.
        accept: bool,
        /// What the player expects of it, done or left.
        prediction: Option<Prediction>,
    },
    /// Answers a message, by its place in the incident file and that of the reply.
    Reply {
        /// Index of the message.
        message: usize,
        /// Index of the reply.
        reply: usize,
    },
    /// Keeps what an instrument shows as evidence.
    Pin {
        /// What.
        what: Source,
        /// The player's own words.
        note: String,
    },
    /// Notes that a part of the screen was opened. It moves no mark down; it tells "not looked at" from "misread".
    Look(Source),
    /// Answers a stage's question with a prediction.
    Predict {
        /// The question's name.
        ask: Name,
        /// The answer.
        prediction: Prediction,
    },
    /// Answers a stage's question with one of its options.
    Choose {
        /// The question's name.
        ask: Name,
        /// Index of the option.
        option: usize,
        /// How sure, 50 to 100 %.
        sure: u8,
    },
    /// Accepts, rejects or reopens an explanation.
    Judge {
        /// The hypothesis.
        hypothesis: Name,
        /// What the player thinks of it.
        verdict: Verdict,
        /// Ids of the evidence that supports the verdict.
        evidence: Vec<EvidenceId>,
    },
    /// Writes or rewrites the finding.
    Find(Finding),
    /// Sends a status update.
    Status {
        /// What users feel, in the player's words.
        text: String,
        /// Share of user operations said to fail, when the player states one.
        failing: Option<f64>,
    },
    /// Asks for the next hint of the stage.
    Hint,
    /// Answers one of the two questions before the senior's reading is shown.
    Reflect {
        /// Which question, 0 or 1.
        question: usize,
        /// The answer.
        text: String,
    },
    /// Chooses the work that should follow, in the debrief, by the names of the incident's follow-ups.
    FollowUps(Vec<Name>),
    /// Ends the exercise before its clock does.
    End,
}

/// An evidence id, shown as E-0001.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
pub struct EvidenceId(pub u32);

impl std::fmt::Display for EvidenceId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "E-{:04}", self.0)
    }
}

/// Something on the screen that can be looked at and pinned.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub enum Source {
    /// A recorded series.
    Series(Name),
    /// A log line, by its number in the record.
    Log(usize),
    /// A trace, by its number in the record.
    Trace(usize),
    /// A change, by its place in the incident file.
    Change(usize),
    /// A runbook section, by its place in the incident file.
    Runbook(usize),
    /// Something in the feed, by its number.
    Feed(usize),
    /// A query over recorded series, as it was written.
    Query(String),
    /// A whole pane: `logs`, `traces`, `topology`, `changes`, `runbook`.
    Pane(Name),
}

/// What the player thinks of an explanation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub enum Verdict {
    /// Undecided.
    Open,
    /// It holds.
    Accepted,
    /// It does not.
    Rejected,
}

/// A prediction with a confidence.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Prediction {
    /// What it is about.
    pub series: Name,
    /// What is expected.
    pub expect: Expected,
    /// How sure, 50 to 100 %.
    pub sure: u8,
    /// The moment at which it is answered.
    pub due: SimTime,
}

/// What is expected of a series.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub enum Expected {
    /// A direction, compared with the mean of the minute before.
    Direction(Direction),
    /// A value in the series' own unit, right within a fifth of it or two points of a ratio.
    Value(f64),
}

/// A direction. For a series where less is better, `MuchWorse` is much higher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub enum Direction {
    /// More than a quarter worse, and outside what counts as the same.
    MuchWorse,
    /// Worse than what counts as the same.
    Worse,
    /// Within a tenth of what it was or two points of a ratio, whichever is wider: an untouched system moves as much.
    Same,
    /// Better than what counts as the same.
    Better,
    /// As it was before the trigger, or better, give or take what counts as the same.
    Recovered,
}

/// The player's explanation. Parts are named by the ids of the incident's mechanism and red herrings.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Finding {
    /// In a few sentences.
    pub summary: String,
    /// What started it.
    pub trigger: Option<Name>,
    /// What made it larger.
    pub amplifiers: Vec<Name>,
    /// What keeps it going, in the player's words.
    pub sustaining: String,
    /// What made it possible.
    pub contributing: Vec<Name>,
    /// Where the capacity is missing.
    pub bottleneck: Option<Name>,
    /// Evidence that the finding rests on.
    pub evidence: Vec<EvidenceId>,
}

/// What the parts are called, where they are written and where they are read.
impl Finding {
    /// [`Finding::summary`].
    pub const SUMMARY: &str = "Summary";
    /// [`Finding::trigger`].
    pub const TRIGGER: &str = "Trigger";
    /// [`Finding::amplifiers`].
    pub const AMPLIFIERS: &str = "Amplifiers";
    /// [`Finding::sustaining`].
    pub const HOLDS: &str = "What holds it";
    /// [`Finding::contributing`].
    pub const CONTRIBUTING: &str = "Contributing";
    /// [`Finding::bottleneck`].
    pub const BOTTLENECK: &str = "Bottleneck";
}
