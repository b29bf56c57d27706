//! Marks: ten dimensions, each with the rule that gave it and the facts it used.
//!
//! Marks compare effects, evidence and the mechanism. They never compare what a player did with what the senior did,
//! so another way that works is worth as much.

mod action_quality;
mod communication;
mod curve;
mod debrief;
mod diagnosis;
mod evidence;
mod follow_ups;
mod fork;
mod harm;
mod hysteresis;
mod look;
mod predictions;
mod recovery;
mod reference;
mod search;
mod stabilise;

use serde::{Deserialize, Serialize};

use crate::game::{Mode, Session};

pub use curve::Curve;
pub use debrief::{
    AnswerEntry, AskedEntry, Debrief, EndedEarly, EvidenceEntry, FitEntry, FollowUpEntry, HARM_STEP_S,
    HarmSection, HypothesisEntry, LeverEntry, LoopEntry, MechanismSection, Missed, MissedKind,
    PredictionEntry, QUESTIONS, ReadingEntry, Seen, SeenEntry, TimelineEntry, TrapEntry, brier_text, debrief,
    harm_text, letter,
};
pub use fork::{Again, Change, Decision, Fork, ForkEntry, ForkError, Mended, decisions, mended};
pub use harm::{HARMED, Harm};
pub use hysteresis::{Descent, Hysteresis, Level, Staircase, hysteresis};
pub use reference::{OwnRuns, References};

/// What is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub enum Dimension {
    /// Failed and late operations, between doing nothing and the senior's run.
    UserHarm,
    /// Whether something helped, and whether something made it worse.
    Stabilise,
    /// The finding and the verdicts on the explanations.
    Diagnosis,
    /// What the verdicts rest on.
    Evidence,
    /// What was looked at before the first lever.
    Search,
    /// Predictions and their confidence.
    Predictions,
    /// How levers were pulled, judged by what was known then.
    ActionQuality,
    /// Whether it recovered and stayed so.
    Recovery,
    /// What others were told.
    Communication,
    /// The work afterwards.
    FollowUps,
}

impl Dimension {
    /// All of them, in the order of the debrief.
    pub const ALL: [Dimension; 10] = [
        Dimension::UserHarm,
        Dimension::Stabilise,
        Dimension::Diagnosis,
        Dimension::Evidence,
        Dimension::Search,
        Dimension::Predictions,
        Dimension::ActionQuality,
        Dimension::Recovery,
        Dimension::Communication,
        Dimension::FollowUps,
    ];

    /// As shown.
    pub fn label(self) -> &'static str {
        match self {
            Dimension::UserHarm => "User harm",
            Dimension::Stabilise => "Stabilise first",
            Dimension::Diagnosis => "Diagnosis",
            Dimension::Evidence => "Evidence",
            Dimension::Search => "Search",
            Dimension::Predictions => "Predictions",
            Dimension::ActionQuality => "Action quality",
            Dimension::Recovery => "Recovery",
            Dimension::Communication => "Communication",
            Dimension::FollowUps => "Follow-ups",
        }
    }
}

/// A step of the scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub enum Grade {
    /// Performed.
    P,
    /// Performed with some challenge.
    S,
    /// Mended at a cost.
    M,
    /// Unable.
    U,
    /// Nothing was asked about it.
    NotAsked,
}

impl Grade {
    /// The letter, or a dash.
    pub fn letter(self) -> &'static str {
        match self {
            Grade::P => "P",
            Grade::S => "S",
            Grade::M => "M",
            Grade::U => "U",
            Grade::NotAsked => "-",
        }
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Grade::P => "performed",
            Grade::S => "performed with some challenge",
            Grade::M => "mended at a cost",
            Grade::U => "unable",
            Grade::NotAsked => "not asked",
        }
    }

    /// The grade of a share that is better the larger it is: at least the first, second and third limit.
    fn of_share(share: f64, limits: [f64; 3]) -> Grade {
        match share {
            s if s >= limits[0] => Grade::P,
            s if s >= limits[1] => Grade::S,
            s if s >= limits[2] => Grade::M,
            _ => Grade::U,
        }
    }
}

/// A mark with its reasons.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Mark {
    /// What is marked.
    pub dimension: Dimension,
    /// The mark.
    pub grade: Grade,
    /// The rule that gave it.
    pub rule: String,
    /// The facts that the rule used.
    pub facts: Vec<String>,
}

impl Mark {
    fn new(dimension: Dimension, grade: Grade, rule: &str, facts: Vec<String>) -> Mark {
        Mark { dimension, grade, rule: rule.to_owned(), facts }
    }

    fn not_asked(dimension: Dimension, why: &str) -> Mark {
        Mark::new(dimension, Grade::NotAsked, "Nothing was asked about this.", vec![why.to_owned()])
    }

    /// With the fact that speaks for the player.
    fn with(self, well: Option<String>) -> Judged {
        Judged { mark: self, well }
    }
}

/// A mark, and what was good about it.
struct Judged {
    mark: Mark,
    /// The fact that speaks for the player, to be named under what went well; nothing when there is none.
    well: Option<String>,
}

impl From<Mark> for Judged {
    fn from(mark: Mark) -> Judged {
        mark.with(None)
    }
}

/// How often a player asked for help.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Independence {
    /// Hints shown.
    pub hints: usize,
    /// Hints that there are.
    pub of: usize,
}

/// All marks of a run.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Score {
    /// The ten dimensions in order; none in the lab, which is free play.
    pub dimensions: Vec<Mark>,
    /// Hints lower this line and nothing else.
    pub independence: Independence,
}

impl Score {
    /// The mark of a dimension.
    pub fn mark(&self, dimension: Dimension) -> Option<&Mark> {
        self.dimensions.iter().find(|m| m.dimension == dimension)
    }

    /// Dimension and letter, as a run file keeps them.
    pub fn letters(&self) -> Vec<(String, String)> {
        self.dimensions
            .iter()
            .map(|m| (m.dimension.label().to_owned(), m.grade.letter().to_owned()))
            .collect()
    }
}

/// Marks a run against the reference runs.
pub fn score(session: &Session, references: &References) -> Score {
    let file = session.incident().file();
    let asked =
        session.journal().iter().filter(|(_, c)| matches!(c, crate::game::command::Command::Hint)).count();
    let independence = Independence { hints: asked, of: file.stages.iter().map(|s| s.hints.len()).sum() };
    let dimensions = judge(session, references).into_iter().map(|j| j.mark).collect();
    Score { dimensions, independence }
}

/// All dimensions in order; none in the lab.
fn judge(session: &Session, references: &References) -> Vec<Judged> {
    if session.options().mode == Mode::Lab {
        return Vec::new();
    }
    vec![
        harm::mark(session, references),
        stabilise::mark(session, references),
        diagnosis::mark(session),
        evidence::mark(session),
        search::mark(session),
        predictions::mark(session),
        action_quality::mark(session, references),
        recovery::mark(session, references),
        communication::mark(session),
        follow_ups::mark(session),
    ]
}
