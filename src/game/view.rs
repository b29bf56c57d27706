//! What a player may see of a run. What a player may not see has no accessor here.

use super::budget::Budget;
use super::command::{Command, EvidenceId, Finding, Verdict};
use super::evidence::Evidence;
use super::feed::{FeedItem, FeedKind};
use super::lever::{self, LeverView};
use super::names;
use super::prediction::Forecast;
use super::session::{Mode, Session};
use super::stage::{AskView, StageView};
use super::topology::Topology;
use crate::incident::schema::{
    Briefing, Change, Dashboard, FollowUp, Level, Name, Part, Person, Section, Severity, Slo,
};
use crate::sim::Status;
use crate::telemetry::{LogLine, SeriesSet, Trace};
use crate::units::{SimTime, TimeOfDay};
use std::collections::BTreeMap;

/// A read-only look at a run.
#[derive(Clone, Copy)]
pub struct View<'a> {
    session: &'a Session,
}

/// An explanation as the player sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct HypothesisView {
    /// Its name, for `Command::Judge`.
    pub id: Name,
    /// The explanation.
    pub text: String,
    /// What the player thinks of it.
    pub verdict: Verdict,
    /// Evidence cited for it.
    pub evidence: Vec<EvidenceId>,
}

/// A mark above the charts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// When.
    pub at: SimTime,
    /// What kind of mark.
    pub kind: AnnotationKind,
    /// In a few words.
    pub label: String,
}

/// What an annotation marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AnnotationKind {
    /// The page.
    Page,
    /// An alert.
    Alert,
    /// A change by others.
    Change,
    /// A lever that the player pulled.
    Action,
}

impl<'a> View<'a> {
    pub(super) fn new(session: &'a Session) -> View<'a> {
        View { session }
    }

    /// The present instant.
    pub fn now(&self) -> SimTime {
        self.session.now()
    }

    /// The present time of day.
    pub fn clock(&self) -> TimeOfDay {
        self.session.clock()
    }

    /// An instant as a time of day.
    pub fn clock_at(&self, at: SimTime) -> TimeOfDay {
        self.session.incident.clock(at)
    }

    /// How the run is played.
    pub fn mode(&self) -> Mode {
        self.session.options.mode
    }

    /// Whether the run is over.
    pub fn is_over(&self) -> bool {
        self.session.is_over()
    }

    /// The incident's name.
    pub fn id(&self) -> &'a str {
        &self.session.incident.file().id
    }

    /// The incident's title.
    pub fn title(&self) -> &'a str {
        &self.session.incident.file().title
    }

    /// What the player should bring along.
    pub fn level(&self) -> Level {
        self.session.incident.file().level
    }

    /// What the player is told before the clock starts.
    pub fn briefing(&self) -> &'a Briefing {
        &self.session.incident.file().briefing
    }

    /// The promise to users.
    pub fn slo(&self) -> Slo {
        self.session.incident.file().slo
    }

    /// Charts.
    pub fn dashboards(&self) -> &'a [Dashboard] {
        &self.session.incident.file().dashboards
    }

    /// Who speaks in the feed.
    pub fn people(&self) -> &'a BTreeMap<Name, Person> {
        &self.session.incident.file().people
    }

    /// Sections of the runbook.
    pub fn runbook(&self) -> &'a [Section] {
        &self.session.incident.file().runbook
    }

    /// Changes made so far, with their place in the file, oldest first as the file lists them.
    pub fn changes(&self) -> impl Iterator<Item = (usize, &'a Change)> + use<'a> {
        let session = self.session;
        session.incident.file().changes.iter().enumerate().filter(|(_, c)| session.has_come(c.at))
    }

    /// What a person calls something that a name of the incident file means: a series by the panel that shows it,
    /// `log:STREAM` as log lines. Other names stay as they are.
    pub fn name_in_words(&self, name: &str) -> String {
        names::in_words(name, self.dashboards(), self.series())
    }

    /// What the instruments show: the recorded series, some of them late or with gaps.
    pub fn series(&self) -> &'a SeriesSet {
        self.session.plant.shown()
    }

    /// Log lines.
    pub fn logs(&self) -> &'a [LogLine] {
        self.session.plant.logs()
    }

    /// How a kind of operation is asked for at the front door, by its name: `POST` what changes something, `GET` what does not.
    pub fn method(&self, kind: &str) -> &'static str {
        let traffic = &self.session.incident.file().system.traffic;
        let posts =
            traffic.writes.contains_key(kind) || traffic.reads.get(kind).is_some_and(|read| read.posts);
        if posts { "POST" } else { "GET" }
    }

    /// Traces.
    pub fn traces(&self) -> &'a [Trace] {
        self.session.plant.traces()
    }

    /// What was said and done so far.
    pub fn feed(&self) -> &'a [FeedItem] {
        self.session.feed.items()
    }

    /// Pinned evidence.
    pub fn evidence(&self) -> &'a [Evidence] {
        &self.session.evidence
    }

    /// Predictions with their outcomes.
    pub fn predictions(&self) -> &'a [Forecast] {
        &self.session.forecasts
    }

    /// Explanations with the player's verdicts.
    pub fn hypotheses(&self) -> Vec<HypothesisView> {
        let hypotheses = &self.session.incident.file().hypotheses;
        hypotheses
            .iter()
            .zip(&self.session.judgements)
            .map(|(h, j)| HypothesisView {
                id: h.id.clone(),
                text: h.text.clone(),
                verdict: j.verdict,
                evidence: j.evidence.clone(),
            })
            .collect()
    }

    /// The finding so far.
    pub fn finding(&self) -> &'a Finding {
        &self.session.finding
    }

    /// Parts that a finding can name: the true ones among others, in an order that tells nothing.
    pub fn finding_choices(&self) -> Vec<&'a Part> {
        let m = &self.session.incident.file().mechanism;
        let mut parts: Vec<&Part> = vec![&m.trigger, &m.bottleneck];
        parts.extend(&m.amplifiers);
        parts.extend(&m.contributing);
        parts.extend(&m.red_herrings);
        parts.sort_by(|a, b| (scatter(&a.id), &a.id).cmp(&(scatter(&b.id), &b.id)));
        parts.dedup_by(|a, b| a.id == b.id);
        parts
    }

    /// The stage that is open; `None` before the first.
    pub fn stage(&self) -> Option<StageView> {
        let session = self.session;
        let stages = &session.incident.file().stages;
        let index = session.opened.checked_sub(1)?;
        let stage = stages.get(index)?;
        let number = |id: &str| 1 + stage.asks.iter().take_while(|a| a.id() != id).count();
        let open_asks: Vec<AskView> =
            session.open_asks().map(|ask| AskView::of(ask, number(ask.id()))).collect();
        let shown = session.hints[index];
        let guided = session.options.mode == Mode::Guided;
        Some(StageView {
            number: session.opened,
            of: stages.len(),
            title: stage.title.clone(),
            text: stage.text.clone(),
            typed: stage.typed.clone(),
            answered: stage.asks.len() - open_asks.len(),
            gate: guided && session.opened < stages.len() && !open_asks.is_empty(),
            open_asks,
            hints_shown: stage.hints.iter().take(shown).cloned().collect(),
            hints_left: if guided { stage.hints.len() - shown } else { 0 },
        })
    }

    /// Why the run does not go on, when it waits for the player.
    pub fn waiting(&self) -> Option<String> {
        let left = self.session.open_asks().count();
        self.session.gated().then(|| {
            format!(
                "Answer to go on: {left} open question{} in stage {}.",
                if left == 1 { "" } else { "s" },
                self.session.opened
            )
        })
    }

    /// Why a run to the next news does not begin: questions of the last stage are open, and no further stage waits for their
    /// answers.
    pub fn last_questions(&self) -> Option<String> {
        let stage = self.stage().filter(|stage| self.mode() == Mode::Guided && stage.number == stage.of)?;
        match stage.open_asks.len() {
            0 => None,
            1 => Some("The last stage has an open question.".to_owned()),
            n => Some(format!("The last stage has {n} open questions.")),
        }
    }

    /// Levers with their present values.
    pub fn levers(&self) -> Vec<LeverView> {
        let incident = &self.session.incident;
        let view = |l| lever::view(l, incident, &self.session.settings, self.series());
        incident.file().levers.iter().filter_map(view).collect()
    }

    /// Values of the levers in the running system, and how far their effects have come.
    pub fn status(&self) -> Status {
        self.session.plant.world().status()
    }

    /// How the parts of the running system hang together.
    pub fn topology(&self) -> Topology {
        Topology::of(self.session.plant.world().spec())
    }

    /// Marks above the charts, in order of time.
    pub fn annotations(&self) -> Vec<Annotation> {
        let mut marks: Vec<Annotation> = Vec::new();
        for item in self.feed() {
            let kind = match item.kind {
                FeedKind::Page => AnnotationKind::Page,
                FeedKind::Alert => AnnotationKind::Alert,
                FeedKind::Change => AnnotationKind::Change,
                _ => continue,
            };
            let label = match kind {
                AnnotationKind::Page => "page".to_owned(),
                AnnotationKind::Alert => item.from.clone(),
                _ => item.text.clone(),
            };
            marks.push(Annotation { at: item.at, kind, label });
        }
        for pulled in self.session.pulled() {
            marks.push(Annotation {
                at: pulled.at,
                kind: AnnotationKind::Action,
                label: lever::action_text(&pulled.action),
            });
        }
        marks.sort_by_key(|m| m.at);
        marks
    }

    /// Whether the page was acknowledged.
    pub fn acknowledged(&self) -> bool {
        self.session.acknowledged
    }

    /// The severity that was declared last.
    pub fn severity(&self) -> Option<Severity> {
        self.session.severity
    }

    /// How much of the error budget is left, and how fast it is spent. Operations that failed and those that came too
    /// late spend it alike, so it can burn while hardly any operation fails.
    pub fn budget(&self) -> Budget {
        let slo = self.slo();
        Budget::of(self.series(), slo.objective.0, slo.window.as_secs_f64(), self.session.normal_rate)
    }

    /// The follow-ups to choose from, once the run is over.
    pub fn follow_ups(&self) -> &'a [FollowUp] {
        if self.is_over() { &self.session.incident.file().follow_ups } else { &[] }
    }

    /// The follow-ups that the player chose.
    pub fn chosen_follow_ups(&self) -> Option<&'a [Name]> {
        self.session.follow_ups.as_deref()
    }

    /// The player's answers to the debrief's two questions.
    pub fn reflections(&self) -> &'a [String; 2] {
        &self.session.reflections
    }

    /// What the player did.
    pub fn journal(&self) -> &'a [(SimTime, Command)] {
        self.session.journal()
    }
}

/// A number that scatters names, the same on every machine (FNV-1a).
fn scatter(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}
