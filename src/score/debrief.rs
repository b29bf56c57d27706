//! The debrief as plain data, in the order in which it is read.

use serde::Serialize;

use super::curve::Curve;
use super::follow_ups::effect_text;
use super::fork::{Decision, ForkEntry, decisions};
use super::harm::{Harm, WELL};
use super::hysteresis::Descent;
use super::look::{any_seen, covers, in_words, is_meant, seen};
use super::predictions::{brier, claims};
use super::reference::References;
use super::{Grade, Judged, Score, judge};
use crate::game::command::{Command, Finding, Verdict};
use crate::game::{About, FeedKind, Mode, Session, action_text};
use crate::incident::schema::{Ask, Hypothesis, Name, Part};
use crate::units::{SimTime, Unit, count};

/// Seconds of a bucket of the harm curve.
pub const HARM_STEP_S: usize = 10;

/// Seconds before and after a prediction that its curve shows.
const AROUND_S: usize = 180;

/// The two questions that are asked before the senior's reading is shown.
pub const QUESTIONS: [&str; 2] = [
    "What did you think was going on when you pulled the first lever, or decided to pull none?",
    "What would have changed your mind?",
];

/// Everything that a debrief shows, section by section in order.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Debrief {
    /// The incident's name.
    pub incident: String,
    /// Its title.
    pub title: String,
    /// How it was played.
    pub mode: String,
    /// Seed.
    pub seed: u64,
    /// Size of the simulated system.
    pub scale: f64,
    /// Whether users were well again by the end of the clock.
    pub recovered: bool,
    /// How it ended, in a sentence.
    pub outcome: String,
    /// What is missing in a run that was ended before its clock.
    pub ended_early: Option<EndedEarly>,
    /// 12: marks with their rules.
    pub score: Score,
    /// 1: what happened.
    pub timeline: Vec<TimelineEntry>,
    /// 2: what users felt, over doing nothing and the senior's run.
    pub harm: HarmSection,
    /// 3: predictions, in the order in which they were made.
    pub predictions: Vec<PredictionEntry>,
    /// Mean Brier score of all that was claimed with a confidence.
    pub brier: Option<f64>,
    /// 4: the player's own account: questions and answers.
    pub reflections: Vec<(String, String)>,
    /// 5: what the stages asked, and what was answered.
    pub asked: Vec<AskedEntry>,
    /// 6: the senior's reading beside what was on the player's screens.
    pub reading: Vec<ReadingEntry>,
    /// 8: the mechanism, and the player's finding beside it.
    pub mechanism: MechanismSection,
    /// The player's finding as it was written, by the ids of the parts.
    pub finding: Finding,
    /// What the player pinned.
    pub evidence: Vec<EvidenceEntry>,
    /// Explanations with the player's verdicts.
    pub hypotheses: Vec<HypothesisEntry>,
    /// 7: what held it up: the loop, with this run's figures at each arrow.
    pub why_it_held: Vec<LoopEntry>,
    /// The load at which it would come back, after what happens in the incident.
    pub load: Option<Descent>,
    /// Attempts for each operation and the like, where the run has more than one.
    pub amplification: Vec<Curve>,
    /// 9: the trap, played again.
    pub trap: Option<TrapEntry>,
    /// 10: what went well.
    pub went_well: Vec<String>,
    /// 11: what was missed, by kind.
    pub missed: Vec<Missed>,
    /// The decisions that a fork can be made from.
    pub decisions: Vec<Decision>,
    /// Runs in which one decision was another, when some were played.
    pub forks: Vec<ForkEntry>,
    /// 13: follow-ups.
    pub follow_ups: Vec<FollowUpEntry>,
    /// 14: questions for a team.
    pub discuss: Vec<String>,
    /// Incidents that look the same at first and are not, by name.
    pub look_alikes: Vec<Name>,
}

/// A run that was ended before its clock: what is missing in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EndedEarly {
    /// Time of day at which it was ended.
    pub clock: String,
    /// Time of day at which its clock would have ended it.
    pub clock_end: String,
    /// What had not happened by then.
    pub not_yet: Vec<String>,
    /// What can therefore not be said.
    pub not_judged: Vec<String>,
}

impl EndedEarly {
    /// In sentences.
    pub fn sentences(&self) -> Vec<String> {
        let mut all =
            vec![format!("You ended the run at {}, before its clock did at {}.", self.clock, self.clock_end)];
        for (what, list) in
            [("Had not happened yet", &self.not_yet), ("Could not be judged", &self.not_judged)]
        {
            if !list.is_empty() {
                all.push(format!("{what}: {}.", list.join("; ")));
            }
        }
        all
    }
}

/// A line of the timeline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TimelineEntry {
    /// Time of day.
    pub clock: String,
    /// What kind of entry: `page`, `alert`, `message`, `proposal`, `change`, `you`.
    pub kind: String,
    /// What.
    pub text: String,
}

/// Harm over time and in all.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HarmSection {
    /// Time of day of the first bucket.
    pub start: String,
    /// Seconds of a bucket.
    pub step_s: usize,
    /// Harmed share by bucket: the player's run.
    pub you: Vec<f64>,
    /// Nobody does anything.
    pub none: Vec<f64>,
    /// The senior's run.
    pub senior: Vec<f64>,
    /// What followed when the run was ended before the clock ran out and nobody acted any more; the first bucket follows
    /// on the last one of `you`.
    pub played_out: Vec<f64>,
    /// The levers that were pulled, in order.
    pub levers: Vec<LeverEntry>,
    /// Totals in words: the player, nobody, the senior.
    pub totals: Vec<(String, String)>,
}

/// A lever that was pulled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeverEntry {
    /// How charts and lists call it: `A`, `B`, …
    pub letter: char,
    /// Seconds since the start.
    pub at_s: u64,
    /// Time of day.
    pub clock: String,
    /// What.
    pub what: String,
    /// What the same run without it says about it, once that was computed.
    pub effect: Option<String>,
}

/// The letter of the n-th lever, from 0; after `Z` they begin again.
pub fn letter(n: usize) -> char {
    char::from(b'A' + (n % 26) as u8)
}

/// A prediction against its outcome.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PredictionEntry {
    /// Time of day at which it was made.
    pub clock: String,
    /// What it was about.
    pub about: String,
    /// The series, as a person calls it.
    pub series: String,
    /// What was expected.
    pub expected: String,
    /// How sure, per cent.
    pub sure: u8,
    /// Value before.
    pub before: String,
    /// Time of day at which it was due.
    pub due: String,
    /// Value when it was due, or why there is none.
    pub became: String,
    /// Whether it held; `None` when the run ended before.
    pub right: Option<bool>,
    /// Brier score; `None` when the run ended before.
    pub brier: Option<f64>,
    /// Seconds since the start at which it was made, and when it was due.
    pub from_to_s: (u64, u64),
    /// The smallest and the largest value with which it is right; nothing where any will do.
    pub right_from_to: (Option<f64>, Option<f64>),
    /// What it became, as a number.
    pub value: Option<f64>,
    /// The series around that time.
    pub curve: Option<Curve>,
}

/// What the mean Brier score counts and how it is read, in a sentence.
pub fn brier_text(brier: f64) -> String {
    format!(
        "Mean Brier score of these predictions and of your answers to the stages' questions: {brier:.2}. 0 is sure and \
         right, 0.25 a coin toss, 1 sure and wrong."
    )
}

impl PredictionEntry {
    /// What was expected, in words that stand behind "you": `expected Failing to be lower, 70 % sure`.
    pub fn expectation(&self) -> String {
        format!("expected {} to be {}, {} % sure", self.series, self.expected, self.sure)
    }

    /// What it was before, and what became of it, in words.
    pub fn story(&self) -> String {
        match self.right {
            Some(_) => format!("it was {} before and {} when it was due", self.before, self.became),
            None => format!("it was {} before; {}", self.before, self.became),
        }
    }

    /// Whether it held, in words.
    pub fn verdict(&self) -> &'static str {
        verdict_of(self.right)
    }
}

/// Whether something said was right, in words.
fn verdict_of(right: Option<bool>) -> &'static str {
    match right {
        Some(true) => "right",
        Some(false) => "not so",
        None => "not settled",
    }
}

/// A question of a stage, and what was answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AskedEntry {
    /// The stage's title.
    pub stage: String,
    /// The question.
    pub question: String,
    /// The answer; `None` when there was none.
    pub answer: Option<AnswerEntry>,
    /// Readings that were offered and fit, other than the one that was chosen. Nothing for a prediction: its outcome is told
    /// with the other predictions.
    pub fits: Vec<FitEntry>,
}

/// What was answered to a question of a stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AnswerEntry {
    /// Time of day.
    pub clock: String,
    /// The reading that was chosen, or what was predicted.
    pub text: String,
    /// How sure, per cent.
    pub sure: u8,
    /// Whether the reading fits what was on the screens, or the prediction held; `None` for one that was not settled.
    pub right: Option<bool>,
    /// Why the reading fits or does not; empty for a prediction.
    pub why: String,
}

impl AnswerEntry {
    /// Whether it was right, in words.
    pub fn verdict(&self) -> &'static str {
        verdict_of(self.right)
    }
}

/// A reading that fits what was on the screens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FitEntry {
    /// The reading.
    pub text: String,
    /// Why it fits.
    pub why: String,
}

/// The senior's reading of a moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReadingEntry {
    /// Time of day.
    pub clock: String,
    /// The reading.
    pub says: String,
    /// What another good engineer might do instead.
    pub alternatives: Vec<String>,
    /// Whether the player's run had come that far.
    pub reached: bool,
    /// What it rests on, as it was in the player's run.
    pub looks_at: Vec<SeenEntry>,
}

impl ReadingEntry {
    /// What stands in place of the instruments for a moment that the player's run did not reach.
    pub fn not_reached(&self) -> Option<String> {
        let names: Vec<&str> = self.looks_at.iter().map(|signal| signal.name.as_str()).collect();
        let rests = if names.is_empty() {
            String::new()
        } else {
            format!(" The reading rests on: {}.", names.join(", "))
        };
        (!self.reached).then(|| format!("Your run had ended by then.{rests}"))
    }
}

/// An instrument at a moment of the player's run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SeenEntry {
    /// The instrument, as a person calls it.
    pub name: String,
    /// What it showed in the player's run.
    pub showed: String,
    /// Whether the player had seen it.
    pub seen: Seen,
}

/// Whether a signal could be seen, and was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Seen {
    /// It was on no screen then.
    NotVisible,
    /// It was there and was not opened.
    NotLookedAt,
    /// It was opened or pinned.
    LookedAt,
}

impl Seen {
    /// In words.
    pub fn label(self) -> &'static str {
        match self {
            Seen::NotVisible => "not visible",
            Seen::NotLookedAt => "not looked at",
            Seen::LookedAt => "looked at",
        }
    }
}

/// What was true, beside what was found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MechanismSection {
    /// The whole, in a few sentences.
    pub summary: String,
    /// What started it; what the player named.
    pub trigger: (String, String),
    /// What made it larger; what the player named.
    pub amplifiers: (String, String),
    /// What made it possible; what the player named.
    pub contributing: (String, String),
    /// Where the capacity is missing; what the player named.
    pub bottleneck: (String, String),
    /// The player's own summary.
    pub your_summary: String,
    /// What keeps it going, in the player's words.
    pub your_loop: String,
}

/// A pinned piece of evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EvidenceEntry {
    /// Its id, `E-0001`.
    pub id: String,
    /// Time of day at which it was pinned.
    pub clock: String,
    /// What it showed then.
    pub showed: String,
    /// The player's own words.
    pub note: String,
}

/// An explanation with the verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HypothesisEntry {
    /// The explanation.
    pub text: String,
    /// Whether it holds.
    pub holds: bool,
    /// `accepted`, `rejected`, `open`.
    pub verdict: String,
    /// Ids of the evidence cited.
    pub evidence: Vec<String>,
    /// Why.
    pub why: String,
}

/// A step of the loop with this run's figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LoopEntry {
    /// In words.
    pub text: String,
    /// The series at this arrow, as a person calls it.
    pub series: String,
    /// Mean of the five minutes before the trigger.
    pub healthy: String,
    /// Mean of the minute in which most users were harmed; `None` when the run was ended before the trigger.
    pub during: Option<String>,
    /// Mean of the last minute.
    pub at_end: String,
    /// The series over the whole run.
    pub curve: Option<Curve>,
    /// The seconds of these three means: first and the one after the last. One that the run did not reach has no length.
    pub windows: [(usize, usize); 3],
}

impl LoopEntry {
    /// The three figures in words.
    pub fn figures(&self) -> String {
        let during = self.during.as_ref().map_or(String::new(), |d| format!("{d} at worst, "));
        format!("{} before, {during}{} at the end", self.healthy, self.at_end)
    }
}

/// The documented mistake, played again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TrapEntry {
    /// What it is.
    pub what: String,
    /// Whether the player pulled the same lever, in the same way or another.
    pub taken: bool,
    /// Harm with it.
    pub with: String,
    /// Harm of doing nothing.
    pub without: String,
}

/// A signal that was missed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Missed {
    /// How.
    pub kind: MissedKind,
    /// What.
    pub text: String,
}

/// How a signal was missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum MissedKind {
    /// It was on no screen.
    NotVisible,
    /// It was there and was not opened.
    NotLookedAt,
    /// It was opened, and the verdict does not fit it.
    Misread,
}

impl MissedKind {
    /// In words.
    pub fn label(self) -> &'static str {
        match self {
            MissedKind::NotVisible => "not visible",
            MissedKind::NotLookedAt => "not looked at",
            MissedKind::Misread => "misread",
        }
    }
}

/// A follow-up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FollowUpEntry {
    /// In words.
    pub text: String,
    /// Its name in the incident file.
    pub id: Name,
    /// Whether it can be switched on and played again.
    pub can_be_played: bool,
    /// Whether the player chose it.
    pub chosen: bool,
    /// What it does.
    pub effect: String,
    /// Why.
    pub why: String,
}

/// Sets a run beside the reference runs and the mechanism.
pub fn debrief(session: &Session, references: &References, score: &Score) -> Debrief {
    let file = session.incident().file();
    let options = session.options();
    let (recovered, outcome) = outcome(session, references);
    Debrief {
        incident: file.id.clone(),
        title: file.title.clone(),
        mode: options.mode.label().to_owned(),
        seed: options.seed,
        scale: options.scale,
        recovered,
        outcome,
        ended_early: ended_early(session),
        score: score.clone(),
        timeline: timeline(session),
        harm: harm_section(session, references),
        predictions: predictions(session),
        brier: brier(&claims(session)),
        reflections: QUESTIONS
            .iter()
            .zip(session.view().reflections())
            .map(|(q, a)| ((*q).to_owned(), a.clone()))
            .collect(),
        asked: asked(session),
        reading: reading(session),
        mechanism: mechanism(session),
        finding: session.view().finding().clone(),
        evidence: evidence(session),
        hypotheses: hypotheses(session),
        why_it_held: why_it_held(session),
        load: references.load.clone(),
        amplification: amplification(session),
        trap: trap(session, references),
        went_well: went_well(session, references),
        missed: missed(session),
        decisions: decisions(session),
        forks: Vec::new(),
        follow_ups: follow_ups(session),
        look_alikes: file.look_alikes.clone(),
        discuss: file.discuss.clone(),
    }
}

fn clock(session: &Session, at: SimTime) -> String {
    session.incident().clock(at).to_string()
}

/// Whether users were well again by the end of the run, and how it ended in a sentence.
///
/// A run that was ended before its clock is judged by what was recorded until then: what it would have come to is said, and
/// counts for nothing here.
fn outcome(session: &Session, references: &References) -> (bool, String) {
    let trigger = session.trigger_at().as_secs() as usize;
    let (now, end) = (session.now().as_secs() as usize, session.end().as_secs() as usize);
    let recorded = Harm::of(session.series());
    let time = |second: usize| clock(session, SimTime::from_secs(second as u64));
    if now >= end {
        return match recorded.recovered_at(trigger) {
            _ if recorded.worst_minute(trigger) <= WELL => (true, "Users were hardly harmed.".to_owned()),
            Some(second) => (true, format!("Recovered for good at {}.", time(second))),
            None => (false, "Users were still harmed at the end.".to_owned()),
        };
    }
    // A whole minute that is well is the least that can be called so: a rest of some seconds says nothing.
    let well_since = recorded.recovered_at(trigger).filter(|second| second + MINUTE_S <= now);
    let last = Unit::Ratio.show(recorded.mean(now.saturating_sub(MINUTE_S)..now));
    let so_far = match well_since {
        _ if now < trigger => "Nothing had broken yet.".to_owned(),
        _ if recorded.worst_minute(trigger) <= WELL => "Users had hardly been harmed by then.".to_owned(),
        Some(second) => format!("Users had been well since {}.", time(second)),
        None => format!("In its last minute {last} of the operations were harmed."),
    };
    let Some(own) = &references.own else { return (false, so_far) };
    let (recovers, then) = match own.played_out.recovered_at(trigger) {
        _ if own.played_out.worst_minute(trigger) <= WELL => (true, "users are hardly harmed".to_owned()),
        Some(second) if well_since.is_some_and(|since| second <= since) => (true, "it stays so".to_owned()),
        Some(second) if second <= now => (true, format!("users are well from {} on", time(second))),
        Some(second) => (false, format!("it recovers at {}", time(second))),
        None => (false, format!("users are still harmed at {}", time(end))),
    };
    let recovered = recovers && well_since.is_some();
    (recovered, format!("{so_far} Played on from there with nobody at it, {then}."))
}

/// Seconds of a minute.
const MINUTE_S: usize = 60;

/// What had not happened and could not be judged when a run was ended before its clock.
fn ended_early(session: &Session) -> Option<EndedEarly> {
    let now = session.now();
    if now >= session.end() {
        return None;
    }
    let file = session.incident().file();
    let ahead = |at: crate::units::TimeOfDay| session.incident().at(at) > now;
    let mut not_yet = Vec::new();
    if now < session.trigger_at() {
        not_yet.push("what breaks".to_owned());
    }
    if ahead(file.clock.page) {
        not_yet.push(format!("the page at {}", file.clock.page));
    }
    let stages = if session.options().mode == Mode::Guided { file.stages.len() } else { 0 };
    let opened = session.view().stage().map_or(0, |stage| stage.number);
    for (n, one, many) in [
        (stages.saturating_sub(opened), "stage", "stages"),
        (file.messages.iter().filter(|m| ahead(m.at)).count(), "message", "messages"),
        (file.proposals.iter().filter(|p| ahead(p.at)).count(), "proposal", "proposals"),
        (file.changes.iter().filter(|c| ahead(c.at)).count(), "change by others", "changes by others"),
    ] {
        if n > 0 {
            not_yet.push(count(n as u64, one, many));
        }
    }
    let not_judged = session
        .view()
        .predictions()
        .iter()
        .filter(|f| f.outcome.is_none() && f.prediction.due > now)
        .map(|f| {
            let what = session.view().name_in_words(&f.prediction.series);
            format!("your prediction of {what} for {}", clock(session, f.prediction.due))
        })
        .collect();
    Some(EndedEarly {
        clock: clock(session, now),
        clock_end: clock(session, session.end()),
        not_yet,
        not_judged,
    })
}

fn timeline(session: &Session) -> Vec<TimelineEntry> {
    let feed = session.view().feed();
    let entries = feed.iter().filter_map(|item| {
        let kind = match item.kind {
            FeedKind::Page => "page",
            FeedKind::Alert => "alert",
            FeedKind::Message => "message",
            FeedKind::Proposal => "proposal",
            FeedKind::Change => "change",
            FeedKind::Own => "you",
            FeedKind::Note => return None,
        };
        let text = if item.kind == FeedKind::Own || item.from.is_empty() {
            item.text.clone()
        } else {
            format!("{}: {}", item.from, item.text)
        };
        Some(TimelineEntry { clock: clock(session, item.at), kind: kind.to_owned(), text })
    });
    let ended = (session.now() < session.end()).then(|| TimelineEntry {
        clock: clock(session, session.now()),
        kind: "you".to_owned(),
        text: "Ended the run.".to_owned(),
    });
    entries.chain(ended).collect()
}

/// Means of the harmed share by bucket, rounded so that files stay small.
pub(super) fn buckets(harm: &Harm) -> Vec<f64> {
    let mean = |chunk: &[f64]| chunk.iter().sum::<f64>() / chunk.len() as f64;
    harm.per_second.chunks(HARM_STEP_S).map(|c| (mean(c) * 1e4).round() / 1e4).collect()
}

/// Harm in a line, with its share.
pub fn harm_text(harm: &Harm) -> String {
    format!("{} ({} harmed)", harm.text(), Unit::Ratio.show(harm.share()))
}

fn harm_section(session: &Session, references: &References) -> HarmSection {
    let own = Harm::of(session.series());
    let line = harm_text;
    let mut totals = vec![
        ("You".to_owned(), line(&own)),
        ("Nobody does anything".to_owned(), line(&references.none)),
        ("The senior".to_owned(), line(&references.senior)),
    ];
    if let Some(played_out) = references.own.as_ref().map(|o| &o.played_out)
        && played_out.per_second.len() > own.per_second.len()
    {
        totals.insert(1, ("You, played to the end of the clock".to_owned(), line(played_out)));
    }
    let you = buckets(&own);
    let rest = references.own.as_ref().map(|o| buckets(&o.played_out)).unwrap_or_default();
    let lever = |(n, p): (usize, &crate::game::Pulled)| LeverEntry {
        letter: letter(n),
        at_s: p.at.as_secs(),
        clock: clock(session, p.at),
        what: action_text(&p.action),
        effect: references.own.as_ref().and_then(|own| own.effect_text(n)),
    };
    HarmSection {
        start: session.incident().file().clock.start.to_string(),
        step_s: HARM_STEP_S,
        played_out: rest.get(you.len()..).unwrap_or(&[]).to_vec(),
        you,
        none: buckets(&references.none),
        senior: buckets(&references.senior),
        levers: session.pulled().iter().enumerate().map(lever).collect(),
        totals,
    }
}

fn predictions(session: &Session) -> Vec<PredictionEntry> {
    let file = session.incident().file();
    let series = session.series();
    let about = |about: &About| match about {
        About::Ask(id) => file
            .stages
            .iter()
            .flat_map(|s| &s.asks)
            .find(|a| a.id() == id)
            .map_or(id.clone(), |a| question(a).to_owned()),
        About::Pull(entry) => session
            .pulled()
            .iter()
            .find(|p| p.journal == *entry)
            .map_or(String::new(), |p| action_text(&p.action)),
        About::Proposal(id) => {
            let proposal = file.proposals.iter().find(|p| p.id == *id);
            proposal.map_or(id.clone(), |p| format!("proposal: {}", action_text(&p.action)))
        }
    };
    session
        .view()
        .predictions()
        .iter()
        .map(|f| {
            let found = series.get(&f.prediction.series);
            let unit = found.map_or(Unit::Count, |s| s.unit);
            let (from, to) = (f.at.as_secs(), f.prediction.due.as_secs());
            let around = (from as usize).saturating_sub(AROUND_S)..to as usize + AROUND_S;
            let name = session.view().name_in_words(&f.prediction.series);
            let due = clock(session, f.prediction.due);
            let became = match f.outcome {
                Some(outcome) => unit.show(outcome.value),
                None if f.prediction.due > session.now() => {
                    format!("the run was ended at {}, and it was due at {due}", session.clock())
                }
                None => format!("nothing was measured at {due}, when it was due"),
            };
            PredictionEntry {
                clock: clock(session, f.at),
                about: about(&f.about),
                series: session.view().name_in_words(&f.prediction.series),
                expected: f.expected_text(series),
                sure: f.prediction.sure,
                before: unit.show(f.before.unwrap_or(f64::NAN)),
                due,
                became,
                right: f.outcome.map(|o| o.right),
                brier: f.outcome.map(|o| o.brier),
                from_to_s: (from, to),
                right_from_to: found.map_or((None, None), |s| f.right_range(s)),
                value: f.outcome.map(|o| o.value),
                curve: found.map(|s| Curve::of(s, name, around)),
            }
        })
        .collect()
}

/// What the stages asked: those that opened in a guided run, and whatever was answered in another.
fn asked(session: &Session) -> Vec<AskedEntry> {
    let view = session.view();
    let opened = view.stage().map_or(0, |stage| stage.number);
    let guided = session.options().mode == Mode::Guided;
    let mut all = Vec::new();
    for (i, stage) in session.incident().file().stages.iter().enumerate() {
        for ask in &stage.asks {
            let answer = answer(session, ask);
            if answer.is_none() && !(guided && i < opened) {
                continue;
            }
            let fits = match ask {
                Ask::Predict { .. } => Vec::new(),
                Ask::Choose { options, .. } => options
                    .iter()
                    .filter(|o| o.fits && answer.as_ref().is_none_or(|a| a.text != o.text))
                    .map(|o| FitEntry { text: o.text.clone(), why: o.why.clone() })
                    .collect(),
            };
            all.push(AskedEntry {
                stage: stage.title.clone(),
                question: question(ask).to_owned(),
                answer,
                fits,
            });
        }
    }
    all
}

/// What was answered to a question of a stage.
fn answer(session: &Session, ask: &Ask) -> Option<AnswerEntry> {
    match ask {
        Ask::Predict { id, .. } => {
            let of = |f: &&crate::game::Forecast| f.about == About::Ask(id.clone());
            let forecast = session.view().predictions().iter().find(of)?;
            Some(AnswerEntry {
                clock: clock(session, forecast.at),
                text: forecast.expected_text(session.series()),
                sure: forecast.prediction.sure,
                right: forecast.outcome.map(|o| o.right),
                why: String::new(),
            })
        }
        Ask::Choose { id, options, .. } => session.journal().iter().find_map(|(at, command)| match command {
            Command::Choose { ask, option, sure } if ask == id => {
                let chosen = options.get(*option)?;
                Some(AnswerEntry {
                    clock: clock(session, *at),
                    text: chosen.text.clone(),
                    sure: *sure,
                    right: Some(chosen.fits),
                    why: chosen.why.clone(),
                })
            }
            _ => None,
        }),
    }
}

fn question(ask: &Ask) -> &str {
    match ask {
        Ask::Predict { question, .. } | Ask::Choose { question, .. } => question,
    }
}

/// Whether an instrument was on any screen at a moment.
fn visible(session: &Session, name: &str, at: SimTime) -> bool {
    let file = session.incident().file();
    let view = session.view();
    match name {
        "traces" => view.traces().iter().any(|t| t.started <= at),
        "changes" => file.changes.iter().any(|c| session.incident().at(c.at) <= at),
        "runbook" => !file.runbook.is_empty(),
        _ => match name.strip_prefix("log:") {
            Some(stream) => view.logs().iter().any(|l| l.stream == stream && l.at <= at),
            None => file
                .dashboards
                .iter()
                .flat_map(|d| &d.panels)
                .flat_map(|p| &p.series)
                .any(|shown| covers(shown, name)),
        },
    }
}

/// What an instrument showed at a moment of this run.
fn showed(session: &Session, name: &str, at: SimTime) -> String {
    let end = at.as_secs() as usize;
    let view = session.view();
    if end > session.series().seconds() {
        return "the run had ended".to_owned();
    }
    match name {
        "traces" => {
            let recent =
                |t: &&crate::telemetry::Trace| t.started <= at && at.since(t.started).0 <= 60_000_000_000;
            let all: Vec<_> = view.traces().iter().filter(recent).collect();
            match all.iter().map(|t| t.queries).max() {
                Some(most) => format!(
                    "{} in that minute, up to {} in one",
                    count(all.len() as u64, "trace", "traces"),
                    count(u64::from(most), "query", "queries")
                ),
                None => "no trace of that minute was kept".to_owned(),
            }
        }
        "changes" => {
            let n = view.changes().filter(|(_, c)| session.incident().at(c.at) <= at).count();
            format!("{} listed", count(n as u64, "change", "changes"))
        }
        "runbook" => count(view.runbook().len() as u64, "section", "sections"),
        _ => match name.strip_prefix("log:") {
            Some(stream) => {
                let recent = |l: &&crate::telemetry::LogLine| {
                    l.stream == stream && l.at <= at && at.since(l.at).0 <= 60_000_000_000
                };
                let mut per_second: Vec<(u64, u32)> =
                    view.logs().iter().filter(recent).map(|l| (l.at.as_secs(), l.alike)).collect();
                per_second.dedup_by_key(|l| l.0);
                let lines: u64 = per_second.iter().map(|l| u64::from(l.1)).sum();
                format!("{} in that minute", count(lines, "line", "lines"))
            }
            None => {
                let all: Vec<String> = session
                    .series()
                    .matching(name)
                    .take(4)
                    .map(|s| s.unit.show(s.mean(end.saturating_sub(10)..end).unwrap_or(f64::NAN)))
                    .collect();
                if all.is_empty() { "not recorded".to_owned() } else { all.join(", ") }
            }
        },
    }
}

fn had_seen(session: &Session, name: &str, at: SimTime) -> Seen {
    if seen(session, at).any(|(_, source)| is_meant(session, source, name)) {
        Seen::LookedAt
    } else if visible(session, name, at) {
        Seen::NotLookedAt
    } else {
        Seen::NotVisible
    }
}

fn reading(session: &Session) -> Vec<ReadingEntry> {
    let comments = &session.incident().file().commentary;
    let entry = |c: &crate::incident::schema::Comment| {
        let at = session.incident().at(c.at);
        ReadingEntry {
            clock: c.at.to_string(),
            says: c.says.clone(),
            alternatives: c.alternatives.clone(),
            reached: at <= session.now(),
            looks_at: c
                .looks_at
                .iter()
                .map(|name| SeenEntry {
                    name: session.view().name_in_words(name),
                    showed: showed(session, name, at),
                    seen: had_seen(session, name, at),
                })
                .collect(),
        }
    };
    comments.iter().map(entry).collect()
}

fn mechanism(session: &Session) -> MechanismSection {
    let view = session.view();
    let truth = &session.incident().file().mechanism;
    let finding = view.finding();
    let parts = view.finding_choices();
    let texts = |ids: &[Name]| {
        let text = |id: &Name| parts.iter().find(|p| p.id == *id).map_or(id.clone(), |p| p.text.clone());
        if ids.is_empty() {
            "nothing".to_owned()
        } else {
            ids.iter().map(text).collect::<Vec<_>>().join("; ")
        }
    };
    let all = |parts: &[Part]| parts.iter().map(|p| p.text.clone()).collect::<Vec<_>>().join("; ");
    let one = |id: &Option<Name>| texts(&id.iter().cloned().collect::<Vec<_>>());
    MechanismSection {
        summary: truth.summary.clone(),
        trigger: (truth.trigger.text.clone(), one(&finding.trigger)),
        amplifiers: (all(&truth.amplifiers), texts(&finding.amplifiers)),
        contributing: (all(&truth.contributing), texts(&finding.contributing)),
        bottleneck: (truth.bottleneck.text.clone(), one(&finding.bottleneck)),
        your_summary: finding.summary.clone(),
        your_loop: finding.sustaining.clone(),
    }
}

fn evidence(session: &Session) -> Vec<EvidenceEntry> {
    let entry = |e: &crate::game::Evidence| EvidenceEntry {
        id: e.id.to_string(),
        clock: clock(session, e.at),
        showed: e.showed.clone(),
        note: e.note.clone(),
    };
    session.view().evidence().iter().map(entry).collect()
}

/// A verdict in words.
fn verdict_text(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Open => "open",
        Verdict::Accepted => "accepted",
        Verdict::Rejected => "rejected",
    }
}

/// Whether a verdict is what is true.
fn judged_right(hypothesis: &Hypothesis, verdict: Verdict) -> bool {
    verdict == if hypothesis.holds { Verdict::Accepted } else { Verdict::Rejected }
}

fn hypotheses(session: &Session) -> Vec<HypothesisEntry> {
    let truth = &session.incident().file().hypotheses;
    truth
        .iter()
        .zip(session.view().hypotheses())
        .map(|(h, v)| HypothesisEntry {
            text: h.text.clone(),
            holds: h.holds,
            verdict: verdict_text(v.verdict).to_owned(),
            evidence: v.evidence.iter().map(ToString::to_string).collect(),
            why: h.why.clone(),
        })
        .collect()
}

fn why_it_held(session: &Session) -> Vec<LoopEntry> {
    let series = session.series();
    let trigger = session.trigger_at().as_secs() as usize;
    let end = series.seconds();
    let worst = Harm::of(series).worst(trigger);
    // A run that was ended early reached a part of a window, or none of it.
    let windows =
        [(trigger.saturating_sub(300), trigger), (worst.start, worst.end), (end.saturating_sub(60), end)]
            .map(|(from, to)| (from.min(end), to.min(end)));
    let steps = &session.incident().file().mechanism.sustained_by;
    let entry = |step: &crate::incident::schema::LoopStep| {
        let found = series.get(&step.series);
        let mean = |(from, to): (usize, usize)| match found {
            Some(s) => s.unit.show(s.mean(from..to).unwrap_or(f64::NAN)),
            None => "not recorded".to_owned(),
        };
        let name = session.view().name_in_words(&step.series);
        LoopEntry {
            text: step.text.clone(),
            series: name.clone(),
            healthy: mean(windows[0]),
            during: (windows[1].0 < windows[1].1).then(|| mean(windows[1])),
            at_end: mean(windows[2]),
            curve: found.map(|s| Curve::of(s, name, 0..end)),
            windows,
        }
    };
    steps.iter().map(entry).collect()
}

/// Series that say how much work one operation makes.
const AMPLIFICATION: [&str; 2] = ["attempts.per_operation", "queries.per_operation"];
/// From this factor on an operation makes more work than it should.
const AMPLIFIED: f64 = 1.2;

fn amplification(session: &Session) -> Vec<Curve> {
    let series = session.series();
    let curve = |name: &&str| {
        let words = session.view().name_in_words(name);
        Some(Curve::of(series.get(name)?, words, 0..series.seconds()))
    };
    let amplified = |c: &Curve| c.highest().is_some_and(|v| v >= AMPLIFIED);
    AMPLIFICATION.iter().filter_map(curve).filter(amplified).collect()
}

fn trap(session: &Session, references: &References) -> Option<TrapEntry> {
    let plan = session.incident().file().plans.get("trap")?;
    let harm = references.trap.as_ref()?;
    let taken = session.pulled().iter().any(|p| plan.steps.iter().any(|s| s.1.lever() == p.action.lever()));
    Some(TrapEntry { what: plan.what.clone(), taken, with: harm.text(), without: references.none.text() })
}

fn went_well(session: &Session, references: &References) -> Vec<String> {
    let judged = judge(session, references);
    let of = |grade| {
        let line = |j: &Judged| Some(format!("{}: {}", j.mark.dimension.label(), j.well.as_ref()?));
        judged.iter().filter(|j| j.mark.grade == grade).filter_map(line).collect::<Vec<String>>()
    };
    let mut all = of(Grade::P);
    if all.is_empty() {
        all = of(Grade::S);
    }
    for f in session.view().predictions() {
        if f.prediction.sure >= 80 && f.outcome.is_some_and(|o| o.right) {
            all.push(format!(
                "You were {} % sure about \"{}\" and right.",
                f.prediction.sure,
                session.view().name_in_words(&f.prediction.series)
            ));
        }
    }
    all.extend(trap_declined(session, references));
    all
}

/// That the documented mistake was proposed and left alone, when playing it again shows that it is one.
fn trap_declined(session: &Session, references: &References) -> Option<String> {
    let file = session.incident().file();
    let harm = references.trap.as_ref()?;
    let (at, action) = session.journal().iter().find_map(|(at, c)| match c {
        Command::Respond { proposal, accept: false, .. } => {
            let action = &file.proposals.iter().find(|p| p.id == *proposal)?.action;
            references.is_trap(session.incident(), action).then_some((*at, action))
        }
        _ => None,
    })?;
    if session.pulled().iter().any(|p| p.action == *action) {
        return None;
    }
    Some(format!(
        "At {} you declined \"{}\". Played again with it and nothing else, {} of the operations are harmed; {} when \
         nobody acts.",
        clock(session, at),
        action_text(action),
        Unit::Ratio.show(harm.share()),
        Unit::Ratio.show(references.none.share())
    ))
}

fn missed(session: &Session) -> Vec<Missed> {
    let file = session.incident().file();
    let now = session.now();
    let mut all = Vec::new();
    for (hypothesis, v) in file.hypotheses.iter().zip(session.view().hypotheses()) {
        if judged_right(hypothesis, v.verdict) {
            continue;
        }
        let looked = any_seen(session, &hypothesis.decided_by, now);
        let there = hypothesis.decided_by.iter().any(|n| visible(session, n, now));
        let kind = match (looked, there) {
            (true, _) if v.verdict == Verdict::Open => continue,
            (true, _) => MissedKind::Misread,
            (false, true) => MissedKind::NotLookedAt,
            (false, false) => MissedKind::NotVisible,
        };
        let text = format!(
            "\"{}\" (your verdict: {}) is decided by {}.",
            hypothesis.text.trim_end_matches('.'),
            verdict_text(v.verdict),
            in_words(session, &hypothesis.decided_by)
        );
        all.push(Missed { kind, text });
    }
    all.sort_by_key(|m| m.kind);
    all
}

fn follow_ups(session: &Session) -> Vec<FollowUpEntry> {
    let chosen = session.view().chosen_follow_ups().unwrap_or(&[]);
    let all = &session.incident().file().follow_ups;
    all.iter()
        .map(|f| FollowUpEntry {
            text: f.text.clone(),
            id: f.id.clone(),
            can_be_played: f.applies.is_some(),
            chosen: chosen.contains(&f.id),
            effect: effect_text(f.effect).to_owned(),
            why: f.why.clone(),
        })
        .collect()
}
