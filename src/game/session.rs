//! One run of an incident: the clock, what happens, what the player does.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::command::{Command, Expected, Finding, Prediction, Source, Verdict};
use super::evidence::{Evidence, log_line, reading, trace_line};
use super::feed::{Feed, FeedItem, FeedKind, fill};
use super::lever::{self, Settings};
use super::names;
use super::plant::Plant;
use super::prediction::{About, Forecast, TOLERANCE};
use super::refusal::Refusal;
use super::stage;
use super::view::View;
use crate::incident::Incident;
use crate::incident::schema::{Action, Ask, Name, Severity};
use crate::sim::Fault;
use crate::telemetry::{Query, SeriesSet};
use crate::units::{SECOND, SimSpan, SimTime, TimeOfDay};

/// How a run is played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub enum Mode {
    /// Stages open one after another; their questions are answered before the run goes on; hints on request.
    #[default]
    Guided,
    /// Everything is there from the page on, nobody helps.
    Live,
    /// Free play: levers at any time, no score.
    Lab,
}

impl Mode {
    /// As the command line writes it.
    pub fn label(self) -> &'static str {
        match self {
            Mode::Guided => "guided",
            Mode::Live => "live",
            Mode::Lab => "lab",
        }
    }
}

/// What a run starts from, beside the incident.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SessionOptions {
    /// Seed of the engine's random numbers.
    pub seed: u64,
    /// How it is played.
    pub mode: Mode,
    /// Size of the simulated system, 1 for the described one; smaller is faster and noisier.
    pub scale: f64,
}

impl Default for SessionOptions {
    fn default() -> SessionOptions {
        SessionOptions { seed: 1, mode: Mode::Guided, scale: 1.0 }
    }
}

/// A lever that was pulled, by the player's own hand or by accepting a proposal.
#[derive(Clone, Debug, PartialEq)]
pub struct Pulled {
    /// Its place in the journal.
    pub journal: usize,
    /// When.
    pub at: SimTime,
    /// What.
    pub action: Action,
    /// What was expected of it.
    pub prediction: Option<Prediction>,
    /// The proposal that was accepted.
    pub proposal: Option<Name>,
}

/// What the player thinks of an explanation.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Judgement {
    pub(super) verdict: Verdict,
    pub(super) evidence: Vec<super::command::EvidenceId>,
}

/// Something that the incident says at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Change(usize),
    Page,
    Message(usize),
    Proposal(usize),
}

/// How far an alert is.
#[derive(Clone, Copy, Debug, Default)]
struct AlertState {
    held_s: u64,
    fired: bool,
}

/// One run of an incident. A clone is a checkpoint that can be played on in another way.
#[derive(Clone)]
pub struct Session {
    pub(super) incident: Arc<Incident>,
    pub(super) options: SessionOptions,
    pub(super) plant: Plant,
    /// Operations offered per second at the start, at the run's scale.
    pub(super) normal_rate: f64,
    now: SimTime,
    over: bool,
    trigger: SimTime,
    script: Vec<(SimTime, Fault)>,
    scripted: usize,
    /// What others change, and how much of it they have done.
    others: Vec<(SimTime, Action)>,
    others_done: usize,
    timeline: Vec<(SimTime, Due)>,
    told: usize,
    alerts: Vec<AlertState>,
    journal: Vec<(SimTime, Command)>,
    pub(super) feed: Feed,
    pub(super) settings: Settings,
    pub(super) evidence: Vec<Evidence>,
    pub(super) forecasts: Vec<Forecast>,
    pub(super) judgements: Vec<Judgement>,
    pub(super) finding: Finding,
    pub(super) severity: Option<Severity>,
    pub(super) acknowledged: bool,
    /// Names of the questions that were answered.
    pub(super) answered: Vec<Name>,
    /// Stages that have opened.
    pub(super) opened: usize,
    /// Hints shown, by stage.
    pub(super) hints: Vec<usize>,
    pub(super) reflections: [String; 2],
    pub(super) follow_ups: Option<Vec<Name>>,
    pulled: Vec<Pulled>,
}

impl Session {
    /// A run at the start of the incident's clock; nothing is simulated yet.
    pub fn new(incident: Arc<Incident>, options: SessionOptions) -> Session {
        let file = incident.file();
        let spec = incident.prepared(options.scale);
        let normal_rate = spec.traffic.first().map_or(0.0, |t| t.1);
        let script = incident.prepared_script(options.scale);
        let page = incident.at(file.clock.page);
        let mut timeline: Vec<(SimTime, Due)> = vec![(page, Due::Page)];
        // What was changed before the clock starts is in the list of changes, not in the feed.
        let during = |c: &crate::incident::schema::Change| c.at > file.clock.start;
        let changes = file.changes.iter().enumerate().filter(|(_, c)| during(c));
        timeline.extend(changes.map(|(i, c)| (incident.at(c.at), Due::Change(i))));
        timeline.extend(file.messages.iter().enumerate().map(|(i, m)| (incident.at(m.at), Due::Message(i))));
        timeline
            .extend(file.proposals.iter().enumerate().map(|(i, p)| (incident.at(p.at), Due::Proposal(i))));
        timeline.sort();
        let mut session = Session {
            plant: Plant::new(&spec, options.seed, incident.instruments()),
            options,
            normal_rate,
            now: SimTime::ZERO,
            over: false,
            // What breaks first; where nothing does, traffic that changes starts it.
            trigger: script.first().map(|s| s.0).or(spec.traffic.get(1).map(|t| t.0)).unwrap_or(page),
            script,
            scripted: 0,
            others: incident.done_by_others(),
            others_done: 0,
            timeline,
            told: 0,
            alerts: vec![AlertState::default(); file.alerts.len()],
            journal: Vec::new(),
            feed: Feed::default(),
            settings: Settings::of(file),
            evidence: Vec::new(),
            forecasts: Vec::new(),
            judgements: vec![
                Judgement { verdict: Verdict::Open, evidence: Vec::new() };
                file.hypotheses.len()
            ],
            finding: Finding::default(),
            severity: None,
            acknowledged: false,
            answered: Vec::new(),
            opened: 0,
            hints: vec![0; file.stages.len()],
            reflections: [String::new(), String::new()],
            follow_ups: None,
            pulled: Vec::new(),
            incident,
        };
        session.second();
        session
    }

    /// The incident that is played.
    pub fn incident(&self) -> &Arc<Incident> {
        &self.incident
    }

    /// What the run was started with.
    pub fn options(&self) -> SessionOptions {
        self.options
    }

    /// The present instant.
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// The present time of day on the incident's clock.
    pub fn clock(&self) -> TimeOfDay {
        self.incident.clock(self.now)
    }

    /// The last instant of the run.
    pub fn end(&self) -> SimTime {
        self.incident.at(self.incident.file().clock.end)
    }

    /// When the player is paged.
    pub fn page_at(&self) -> SimTime {
        self.incident.at(self.incident.file().clock.page)
    }

    /// When the first thing breaks: the end of the healthy baseline.
    pub(crate) fn trigger_at(&self) -> SimTime {
        self.trigger
    }

    /// Whether the clock has run out or the player has ended the run.
    pub fn is_over(&self) -> bool {
        self.over || self.now >= self.end()
    }

    /// What the player did, with the instant at which it took effect.
    pub fn journal(&self) -> &[(SimTime, Command)] {
        &self.journal
    }

    /// The levers that were pulled, in order.
    pub fn pulled(&self) -> &[Pulled] {
        &self.pulled
    }

    /// What the player may see.
    pub fn view(&self) -> View<'_> {
        View::new(self)
    }

    /// A number that two runs share only when they recorded the same telemetry.
    pub fn digest(&self) -> u64 {
        self.plant.digest()
    }

    /// What the engine has counted so far.
    pub fn counters(&self) -> &crate::sim::meter::Counters {
        self.plant.world().counters()
    }

    /// The simulated system itself, for those who may look behind the screens.
    pub fn world(&self) -> &crate::sim::World {
        self.plant.world()
    }

    /// Caches keep how old their values are from now on, also where nothing that happens depends on it. The run stays the
    /// same; its telemetry says more.
    pub fn keep_ages(&mut self) {
        self.plant.keep_ages();
    }

    /// The same run without gates, played to the end of its clock with nobody at it any more.
    pub fn played_out(&self) -> Session {
        let mut session = self.clone();
        session.over = false;
        session.options.mode = Mode::Lab;
        session.advance(session.end());
        session
    }

    /// What was recorded.
    pub fn series(&self) -> &SeriesSet {
        self.plant.series()
    }

    /// Moves the run on. It stops at the end, and in a guided run at a gate; how the way there is split changes
    /// nothing.
    pub fn advance(&mut self, until: SimTime) {
        let until = until.min(self.end());
        while self.now < until && !self.over && !self.gated() {
            let next = SimTime((self.now.0 / SECOND + 1) * SECOND).min(until);
            self.plant.advance(next);
            self.now = next;
            if next.0.is_multiple_of(SECOND) {
                self.second();
            }
        }
    }

    /// Whether a guided run waits for answers before the next stage opens.
    pub(super) fn gated(&self) -> bool {
        let stages = &self.incident.file().stages;
        self.options.mode == Mode::Guided
            && self.opened > 0
            && stages.get(self.opened).is_some_and(|next| self.incident.at(next.opens) <= self.now)
            && self.open_asks().next().is_some()
    }

    /// Questions of the present stage without an answer.
    pub(super) fn open_asks(&self) -> impl Iterator<Item = &Ask> {
        let stage = self.opened.checked_sub(1).and_then(|i| self.incident.file().stages.get(i));
        stage.into_iter().flat_map(|s| &s.asks).filter(|a| !self.answered.iter().any(|n| n == a.id()))
    }

    // ------------------------------------------------------------------------------------- what happens by itself

    /// What happens at the whole second that has come: faults, then what is said, alerts, answers, stages.
    fn second(&mut self) {
        while let Some(&(at, fault)) = self.script.get(self.scripted)
            && at <= self.now
        {
            self.plant.inject(fault);
            self.scripted += 1;
        }
        while let Some((at, action)) = self.others.get(self.others_done)
            && *at <= self.now
        {
            self.settings.apply(action);
            self.others_done += 1;
        }
        while let Some(&(at, due)) = self.timeline.get(self.told)
            && at <= self.now
        {
            self.tell(due);
            self.told += 1;
        }
        self.alert();
        self.settle();
        self.open_stages();
    }

    fn tell(&mut self, due: Due) {
        let incident = Arc::clone(&self.incident);
        let file = incident.file();
        let person = |id: &str| {
            file.people.get(id).map_or((id.to_owned(), String::new()), |p| (p.name.clone(), p.role.clone()))
        };
        let filled = |text: &str| fill(text, self.plant.series());
        let only_if = match due {
            Due::Message(i) => file.messages[i].only_if.as_ref(),
            Due::Proposal(i) => file.proposals[i].only_if.as_ref(),
            Due::Page | Due::Change(_) => None,
        };
        if let Some((series, condition)) = only_if
            && !self.plant.series().get(series).and_then(|s| s.last()).is_some_and(|v| condition.holds(v))
        {
            return;
        }
        let item = match due {
            Due::Page => FeedItem::plain(self.now, FeedKind::Page, "pager", filled(&file.page.text)),
            Due::Change(i) => {
                let change = &file.changes[i];
                let text = format!("{}: {}", change.kind, change.what);
                FeedItem::plain(self.now, FeedKind::Change, &change.by, text)
            }
            Due::Message(i) => {
                let message = &file.messages[i];
                let (from, role) = person(&message.from);
                FeedItem {
                    role,
                    message: Some(i),
                    replies: message.replies.iter().map(|r| r.text.clone()).collect(),
                    ..FeedItem::plain(self.now, FeedKind::Message, &from, filled(&message.text))
                }
            }
            Due::Proposal(i) => {
                let proposal = &file.proposals[i];
                let (from, role) = person(&proposal.from);
                FeedItem {
                    role,
                    proposal: Some(proposal.id.clone()),
                    ..FeedItem::plain(self.now, FeedKind::Proposal, &from, filled(&proposal.text))
                }
            }
        };
        self.feed.push(item);
    }

    fn alert(&mut self) {
        let incident = Arc::clone(&self.incident);
        for (rule, state) in incident.file().alerts.iter().zip(&mut self.alerts) {
            let newest = self.plant.series().get(&rule.series).and_then(|s| s.last());
            let holds = newest.is_some_and(|v| rule.when.holds(v));
            state.held_s = if holds { state.held_s + 1 } else { 0 };
            if holds && !state.fired && SimSpan::from_secs(state.held_s) >= rule.held_for {
                state.fired = true;
                let text = fill(&rule.text, self.plant.series());
                self.feed.push(FeedItem::plain(self.now, FeedKind::Alert, &rule.name, text));
            }
        }
    }

    fn settle(&mut self) {
        let series = self.plant.series();
        let dashboards = &self.incident.file().dashboards;
        for forecast in &mut self.forecasts {
            if !forecast.settle(self.now, series) {
                continue;
            }
            let (Some(outcome), Some(found)) = (forecast.outcome, series.get(&forecast.prediction.series))
            else {
                continue;
            };
            let by = match forecast.prediction.expect {
                Expected::Direction(_) => TOLERANCE,
                Expected::Value(_) => "A value is right within a fifth, or within two points of a share.",
            };
            let text = format!(
                "Prediction settled: you expected {} to be {}, {} % sure. It was {} and is {}: {}. {by}",
                names::in_words(&forecast.prediction.series, dashboards, series),
                forecast.expected_text(series),
                forecast.prediction.sure,
                found.unit.show(forecast.before.unwrap_or(f64::NAN)),
                found.unit.show(outcome.value),
                if outcome.right { "right" } else { "not so" },
            );
            self.feed.push(FeedItem::plain(self.now, FeedKind::Note, "exercise", text));
        }
    }

    fn open_stages(&mut self) {
        let incident = Arc::clone(&self.incident);
        let stages = &incident.file().stages;
        while let Some(stage) = stages.get(self.opened)
            && incident.at(stage.opens) <= self.now
            && !self.gated()
        {
            self.opened += 1;
            if self.options.mode == Mode::Guided {
                let text = format!("Stage {} of {}: {}", self.opened, stages.len(), stage.title);
                self.feed.push(FeedItem::plain(self.now, FeedKind::Note, "exercise", text));
            }
        }
    }

    // ------------------------------------------------------------------------------------------- what the player does

    /// Carries out a command at the present instant and writes it into the journal.
    ///
    /// # Errors
    /// A [`Refusal`] when the command cannot be carried out now; nothing has changed then.
    pub fn submit(&mut self, command: Command) -> Result<(), Refusal> {
        self.timely(&command)?;
        match &command {
            Command::Acknowledge => self.acknowledge()?,
            Command::Declare(severity) => self.declare(*severity),
            Command::Pull { action, prediction } => self.pull(action, prediction.as_ref())?,
            Command::Respond { proposal, accept, prediction } => {
                self.respond(proposal, *accept, prediction.as_ref())?;
            }
            Command::Reply { message, reply } => self.reply(*message, *reply)?,
            Command::Pin { what, note } => self.pin(what, note)?,
            Command::Look(source) => self.visible(source)?,
            Command::Predict { ask, prediction } => self.predict(ask, prediction)?,
            Command::Choose { ask, option, sure } => self.choose(ask, *option, *sure)?,
            Command::Judge { hypothesis, verdict, evidence } => self.judge(hypothesis, *verdict, evidence)?,
            Command::Find(finding) => self.find(finding)?,
            Command::Status { text, failing } => self.status(text, *failing)?,
            Command::Hint => self.hint()?,
            Command::Reflect { question, text } => self.reflect(*question, text)?,
            Command::FollowUps(names) => self.choose_follow_ups(names)?,
            Command::End => self.over = true,
        }
        self.journal.push((self.now, command));
        self.open_stages();
        Ok(())
    }

    /// Whether a command fits the moment at all.
    fn timely(&self, command: &Command) -> Result<(), Refusal> {
        let afterwards = matches!(
            command,
            Command::Reflect { .. } | Command::FollowUps(_) | Command::Find(_) | Command::Judge { .. }
        );
        let what = describe(command);
        if self.is_over() && !afterwards {
            return Err(Refusal::new(
                what,
                "The run is over.",
                "Finish the finding and read the debrief, or start a new run.",
            ));
        }
        // Then the mechanism is shown, and what is written after that shows nothing.
        let told = self.is_over() && self.reflections.iter().all(|answer| !answer.trim().is_empty());
        if told && matches!(command, Command::Find(_) | Command::Judge { .. }) {
            return Err(Refusal::new(
                what,
                "Both questions of the debrief are answered, and the cause has been told.",
                "What you wrote before stands; play again to judge afresh.",
            ));
        }
        let debrief = matches!(command, Command::Reflect { .. } | Command::FollowUps(_));
        if debrief && !self.is_over() {
            return Err(Refusal::new(
                what,
                "The run is not over.",
                "This is asked in the debrief; end the run to get there.",
            ));
        }
        let acts = matches!(
            command,
            Command::Acknowledge
                | Command::Declare(_)
                | Command::Pull { .. }
                | Command::Respond { .. }
                | Command::Status { .. }
        );
        if acts && self.now < self.page_at() && self.options.mode != Mode::Lab {
            return Err(Refusal::new(
                what,
                "You have not been paged yet.",
                "Look around while all is well; this is possible from the page on, or at any time in the lab.",
            ));
        }
        Ok(())
    }

    fn own(&mut self, text: String) {
        self.feed.push(FeedItem::plain(self.now, FeedKind::Own, "you", text));
    }

    fn acknowledge(&mut self) -> Result<(), Refusal> {
        if self.acknowledged {
            return Err(Refusal::new(
                "acknowledge the page",
                "It is acknowledged already.",
                "Go on with the incident.",
            ));
        }
        self.acknowledged = true;
        self.own("Acknowledged the page.".to_owned());
        Ok(())
    }

    fn declare(&mut self, severity: Severity) {
        self.severity = Some(severity);
        self.own(format!("Declared {}.", severity_text(severity)));
    }

    fn pull(&mut self, action: &Action, prediction: Option<&Prediction>) -> Result<(), Refusal> {
        let what = lever::action_text(action);
        let incident = Arc::clone(&self.incident);
        let file = incident.file();
        if !file.levers.contains(&action.lever()) {
            return Err(Refusal::new(
                what,
                "This incident does not offer that lever.",
                "Choose one from the list of levers.",
            ));
        }
        if let Some((why, instead)) = lever::out_of_range(&incident, action) {
            return Err(Refusal::new(what, why, instead));
        }
        if let Some(p) = prediction {
            self.check_prediction(p)?;
        }
        self.act(action, prediction, None)
    }

    /// Does an action that was checked.
    fn act(
        &mut self,
        action: &Action,
        prediction: Option<&Prediction>,
        proposal: Option<&str>,
    ) -> Result<(), Refusal> {
        let what = lever::action_text(action);
        let Some(intervention) = self.incident.intervention(action, self.options.scale) else {
            return Err(Refusal::new(
                what,
                "The system has no such part.",
                "Choose one from the list of levers.",
            ));
        };
        self.plant.apply(intervention);
        self.settings.apply(action);
        let journal = self.journal.len();
        self.pulled.push(Pulled {
            journal,
            at: self.now,
            action: action.clone(),
            prediction: prediction.cloned(),
            proposal: proposal.map(str::to_owned),
        });
        if proposal.is_none() {
            if let Some(p) = prediction {
                self.forecast(About::Pull(journal), p.clone());
            }
            self.own(format!("Pulled a lever: {what}."));
        }
        Ok(())
    }

    fn respond(&mut self, id: &str, accept: bool, prediction: Option<&Prediction>) -> Result<(), Refusal> {
        let what = if accept { "accept the proposal" } else { "decline the proposal" };
        let incident = Arc::clone(&self.incident);
        let proposal = incident.file().proposals.iter().find(|p| p.id == id);
        let (Some(proposal), Some(item)) = (proposal, self.feed.proposal(id)) else {
            return Err(Refusal::new(
                what,
                "Nobody has proposed that.",
                "Answer a proposal that stands in the feed.",
            ));
        };
        if let Some(answer) = &item.answered {
            return Err(Refusal::new(
                what,
                format!("It is answered already: {answer}."),
                "Pull the lever itself to change what was done.",
            ));
        }
        if let Some(p) = prediction {
            self.check_prediction(p)?;
        }
        if accept {
            self.act(&proposal.action, prediction, Some(id))?;
        }
        if let Some(p) = prediction {
            self.forecast(About::Proposal(id.to_owned()), p.clone());
        }
        let answer = if accept { "accepted" } else { "declined" };
        if let Some(item) = self.feed.proposal(id) {
            item.answered = Some(answer.to_owned());
        }
        self.own(format!("Proposal {answer}: {}.", lever::action_text(&proposal.action)));
        Ok(())
    }

    fn reply(&mut self, message: usize, reply: usize) -> Result<(), Refusal> {
        let what = "reply to the message";
        let Some(item) = self.feed.message(message) else {
            return Err(Refusal::new(
                what,
                "There is no such message yet.",
                "Reply to one that stands in the feed.",
            ));
        };
        if let Some(answer) = &item.answered {
            return Err(Refusal::new(
                what,
                format!("It is answered already: \"{answer}\"."),
                "Send a status update to say more.",
            ));
        }
        let Some(text) = item.replies.get(reply).cloned() else {
            return Err(Refusal::new(
                what,
                format!("It has {} replies to choose from.", item.replies.len()),
                "Choose one of them.",
            ));
        };
        item.answered = Some(text.clone());
        self.own(text);
        Ok(())
    }

    /// Whether a source is on the screen at this moment.
    fn visible(&self, source: &Source) -> Result<(), Refusal> {
        let file = self.incident.file();
        let is_there = match source {
            Source::Series(name) => self.plant.shown().get(name).is_some(),
            Source::Log(i) => *i < self.plant.logs().len(),
            Source::Trace(i) => *i < self.plant.traces().len(),
            Source::Change(i) => file.changes.get(*i).is_some_and(|c| self.has_come(c.at)),
            Source::Runbook(i) => *i < file.runbook.len(),
            Source::Feed(i) => *i < self.feed.items().len(),
            Source::Query(text) => self.asked(text).is_some(),
            Source::Pane(_) => true,
        };
        if is_there {
            return Ok(());
        }
        Err(Refusal::new(
            format!("use {}", source_text(source)),
            "It is not on any screen at this moment.",
            "Choose a series, log line, trace, change, runbook section or message that you can see.",
        ))
    }

    /// What a query shows now.
    fn asked(&self, text: &str) -> Option<String> {
        Query::parse(text).ok()?.reading(self.plant.shown())
    }

    /// Whether a time of day of the incident has been reached.
    pub(super) fn has_come(&self, at: TimeOfDay) -> bool {
        at <= self.incident.file().clock.start || self.incident.at(at) <= self.now
    }

    fn pin(&mut self, what: &Source, note: &str) -> Result<(), Refusal> {
        self.visible(what)?;
        let file = self.incident.file();
        let showed = match what {
            Source::Series(name) => {
                self.plant.shown().get(name).map(|s| reading(s, &self.view().name_in_words(name)))
            }
            Source::Log(i) => self.plant.logs().get(*i).map(|l| log_line(l, self.incident.clock(l.at))),
            Source::Trace(i) => self.plant.traces().get(*i).map(trace_line),
            Source::Change(i) => file.changes.get(*i).map(|c| format!("{} {}: {}", c.at, c.kind, c.what)),
            Source::Runbook(i) => file.runbook.get(*i).map(|s| format!("runbook: {}", s.title)),
            Source::Feed(i) => self.feed.items().get(*i).map(|f| format!("{}: {}", f.from, f.text)),
            Source::Query(text) => self.asked(text),
            Source::Pane(_) => None,
        };
        let Some(showed) = showed else {
            return Err(Refusal::new(
                format!("pin {}", source_text(what)),
                "A whole pane is not evidence.",
                "Pin a reading, a line or a trace in it.",
            ));
        };
        let id = super::command::EvidenceId(self.evidence.len() as u32 + 1);
        self.evidence.push(Evidence { id, at: self.now, what: what.clone(), showed, note: note.to_owned() });
        Ok(())
    }

    fn check_prediction(&self, p: &Prediction) -> Result<(), Refusal> {
        let what = format!("predict {}", self.view().name_in_words(&p.series));
        if self.series().get(&p.series).is_none() {
            return Err(Refusal::new(what, "No such series is recorded.", "Choose one from the dashboards."));
        }
        if !(50..=100).contains(&p.sure) {
            return Err(Refusal::new(
                what,
                format!("A confidence is 50 to 100 %, not {} %.", p.sure),
                "Below 50 %, predict the opposite.",
            ));
        }
        if let Expected::Value(v) = p.expect
            && !v.is_finite()
        {
            return Err(Refusal::new(what, "The value is not a number.", "State one in the series' unit."));
        }
        if p.due <= self.now {
            return Err(Refusal::new(
                what,
                "It would be settled in the past.",
                "Choose a moment after the present one.",
            ));
        }
        Ok(())
    }

    fn forecast(&mut self, about: About, mut prediction: Prediction) {
        prediction.due = prediction.due.min(self.end());
        let forecast = Forecast::new(about, prediction, self.now, self.trigger, self.plant.series());
        self.forecasts.push(forecast);
    }

    /// A question that may be answered now.
    fn ask<'a>(&self, incident: &'a Incident, id: &str) -> Result<&'a Ask, Refusal> {
        let what = "answer the question";
        match stage::find(&incident.file().stages, id) {
            Some((at, ask)) if at < self.opened => {
                if self.answered.iter().any(|n| n == id) {
                    return Err(Refusal::new(
                        what,
                        "It is answered already, and an answer stands.",
                        "Go on with the next question.",
                    ));
                }
                Ok(ask)
            }
            _ => Err(Refusal::new(
                what,
                "No open stage asks this.",
                "Answer one of the questions shown with the stage.",
            )),
        }
    }

    fn predict(&mut self, id: &str, prediction: &Prediction) -> Result<(), Refusal> {
        let incident = Arc::clone(&self.incident);
        let Ask::Predict { series, within, .. } = self.ask(&incident, id)? else {
            return Err(Refusal::new(
                "answer with a prediction",
                "It offers readings to choose from.",
                "Choose one of them.",
            ));
        };
        if prediction.series != *series {
            return Err(Refusal::new(
                format!("answer with {}", self.view().name_in_words(&prediction.series)),
                format!("The question is about {}.", self.view().name_in_words(series)),
                "Predict that one.",
            ));
        }
        // The question says when it is settled, whatever the front has put in.
        let settled = Prediction { due: self.now + *within, ..prediction.clone() };
        self.check_prediction(&settled)?;
        self.forecast(About::Ask(id.to_owned()), settled);
        self.answered.push(id.to_owned());
        Ok(())
    }

    fn choose(&mut self, id: &str, option: usize, sure: u8) -> Result<(), Refusal> {
        let incident = Arc::clone(&self.incident);
        let Ask::Choose { options, .. } = self.ask(&incident, id)? else {
            return Err(Refusal::new(
                "answer with a choice",
                "It asks for a prediction.",
                "Predict a direction or a value.",
            ));
        };
        if option >= options.len() || !(50..=100).contains(&sure) {
            return Err(Refusal::new(
                "answer the question",
                format!("There are {} readings, and a confidence is 50 to 100 %.", options.len()),
                "Choose one of the readings shown.",
            ));
        }
        self.answered.push(id.to_owned());
        Ok(())
    }

    /// Refuses ids of evidence that was not pinned.
    fn pinned(&self, what: &str, ids: &[super::command::EvidenceId]) -> Result<(), Refusal> {
        match ids.iter().find(|id| !self.evidence.iter().any(|e| e.id == **id)) {
            None => Ok(()),
            Some(id) => {
                Err(Refusal::new(what, format!("{id} has not been pinned."), "Cite pinned evidence only."))
            }
        }
    }

    fn judge(
        &mut self,
        name: &str,
        verdict: Verdict,
        evidence: &[super::command::EvidenceId],
    ) -> Result<(), Refusal> {
        let what = "judge the explanation";
        let Some(i) = self.incident.file().hypotheses.iter().position(|h| h.id == name) else {
            return Err(Refusal::new(what, "There is no such explanation.", "Choose one of those listed."));
        };
        self.pinned(what, evidence)?;
        self.judgements[i] = Judgement { verdict, evidence: evidence.to_vec() };
        Ok(())
    }

    fn find(&mut self, finding: &Finding) -> Result<(), Refusal> {
        let what = "write the finding";
        let parts = self.view().finding_choices();
        let named = finding
            .trigger
            .iter()
            .chain(&finding.amplifiers)
            .chain(&finding.contributing)
            .chain(&finding.bottleneck);
        for name in named {
            if !parts.iter().any(|p| p.id == *name) {
                return Err(Refusal::new(
                    what,
                    format!("\"{name}\" is none of the parts to choose from."),
                    "Choose from the parts listed.",
                ));
            }
        }
        self.pinned(what, &finding.evidence)?;
        self.finding = finding.clone();
        Ok(())
    }

    fn status(&mut self, text: &str, failing: Option<f64>) -> Result<(), Refusal> {
        let what = "send a status update";
        if text.trim().is_empty() {
            return Err(Refusal::new(what, "It is empty.", "Say what users feel and what happens next."));
        }
        if failing.is_some_and(|f| !(0.0..=1.0).contains(&f)) {
            return Err(Refusal::new(
                what,
                "A share lies between 0 and 100 %.",
                "State it again, or leave it out.",
            ));
        }
        self.own(format!("Status update: {}", text.trim()));
        Ok(())
    }

    fn hint(&mut self) -> Result<(), Refusal> {
        let what = "show a hint";
        if self.options.mode != Mode::Guided {
            return Err(Refusal::new(what, "There are hints in guided runs only.", "Read the runbook."));
        }
        let stage = self.opened.checked_sub(1);
        let hints = stage.and_then(|i| self.incident.file().stages.get(i)).map_or(0, |s| s.hints.len());
        match stage {
            Some(i) if self.hints[i] < hints => {
                self.hints[i] += 1;
                Ok(())
            }
            _ => Err(Refusal::new(
                what,
                if hints == 0 {
                    "This stage has no hints."
                } else {
                    "All hints of this stage have been given."
                },
                "Answer as well as you can; a wrong answer costs less than none.",
            )),
        }
    }

    fn reflect(&mut self, question: usize, text: &str) -> Result<(), Refusal> {
        let what = "answer the debrief's question";
        if question < self.reflections.len() && text.trim().is_empty() {
            return Err(Refusal::new(
                what,
                "The answer is empty.",
                "Write a sentence, or leave the question open.",
            ));
        }
        match self.reflections.get_mut(question) {
            Some(answer) => {
                *answer = text.to_owned();
                Ok(())
            }
            None => Err(Refusal::new(what, "It has two questions.", "Answer one of them.")),
        }
    }

    fn choose_follow_ups(&mut self, names: &[Name]) -> Result<(), Refusal> {
        let what = "choose follow-ups";
        if self.follow_ups.is_some() {
            return Err(Refusal::new(
                what,
                "They are chosen already, and what each one does has been told.",
                "Your choice stands; play again to choose afresh.",
            ));
        }
        let offered = &self.incident.file().follow_ups;
        if let Some(name) = names.iter().find(|n| !offered.iter().any(|f| f.id == **n)) {
            return Err(Refusal::new(
                what,
                format!("\"{name}\" is not among them."),
                "Choose from those listed.",
            ));
        }
        if names.len() > FOLLOW_UPS_MAX {
            return Err(Refusal::new(
                what,
                format!("{} are too many to be done.", names.len()),
                format!("Choose up to {FOLLOW_UPS_MAX}."),
            ));
        }
        self.follow_ups = Some(names.to_vec());
        Ok(())
    }
}

/// Follow-ups that a player may choose at most.
const FOLLOW_UPS_MAX: usize = 3;

/// A severity as people say it.
pub(crate) fn severity_text(severity: Severity) -> &'static str {
    match severity {
        Severity::Sev1 => "SEV1",
        Severity::Sev2 => "SEV2",
        Severity::Sev3 => "SEV3",
        Severity::Sev4 => "SEV4",
    }
}

/// A source as it is named in messages.
pub(crate) fn source_text(source: &Source) -> String {
    match source {
        Source::Series(name) => format!("series {name}"),
        Source::Log(i) => format!("log line {i}"),
        Source::Trace(i) => format!("trace {i}"),
        Source::Change(i) => format!("change {i}"),
        Source::Runbook(i) => format!("runbook section {i}"),
        Source::Feed(i) => format!("message {i}"),
        Source::Query(text) => format!("query {text}"),
        Source::Pane(name) => format!("pane {name}"),
    }
}

/// A command as it is named in a refusal.
fn describe(command: &Command) -> String {
    match command {
        Command::Acknowledge => "acknowledge the page".to_owned(),
        Command::Declare(severity) => format!("declare {}", severity_text(*severity)),
        Command::Pull { action, .. } => lever::action_text(action),
        Command::Respond { accept: true, .. } => "accept the proposal".to_owned(),
        Command::Respond { .. } => "decline the proposal".to_owned(),
        Command::Reply { .. } => "reply to the message".to_owned(),
        Command::Pin { what, .. } => format!("pin {}", source_text(what)),
        Command::Look(what) => format!("look at {}", source_text(what)),
        Command::Predict { .. } | Command::Choose { .. } => "answer the question".to_owned(),
        Command::Judge { .. } => "judge the explanation".to_owned(),
        Command::Find(_) => "write the finding".to_owned(),
        Command::Status { .. } => "send a status update".to_owned(),
        Command::Hint => "show a hint".to_owned(),
        Command::Reflect { .. } => "answer the debrief's question".to_owned(),
        Command::FollowUps(_) => "choose follow-ups".to_owned(),
        Command::End => "end the run".to_owned(),
    }
}
