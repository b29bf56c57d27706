//! The run that is being played: a session, its pace beside the wall clock, and the reference runs in the background.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::actions::Situation;
use super::pace::Pace;
use super::{Kept, Save};
use crate::game::command::{Command, Source};
use crate::game::{Mode, Refusal, Session, SessionOptions, View};
use crate::incident::Incident;
use crate::score::{Descent, OwnRuns, References, Staircase, score};
use crate::tui::background::in_background;
use crate::tui::screens::again::Job;
use crate::units::{SimSpan, SimTime};

/// How long before the page a played run begins: the charts have their healthy baseline, and nobody waits for it.
const LEAD: SimSpan = SimSpan::from_secs(10);

/// Until when a run goes on as fast as possible.
#[derive(Clone, Copy, Debug)]
enum Seek {
    /// The feed has more items than this.
    News(usize),
    /// This instant.
    Until(SimTime),
}

/// A run with its clock.
pub(crate) struct Play {
    session: Session,
    /// Speed and pause.
    pub(crate) pace: Pace,
    /// The briefing has been read and the clock started.
    pub(crate) begun: bool,
    /// Runs on as fast as possible until then.
    seeking: Option<Seek>,
    /// The last minute in which something was noted as looked at.
    looked: BTreeMap<Source, u64>,
    /// The runs that this one is compared with, once they are computed.
    references: Arc<OnceLock<Result<References, String>>>,
    /// The player's own run with one lever left out each, once it is over and they are computed.
    own: Arc<OnceLock<OwnRuns>>,
    /// The load at which it would come back.
    load: Arc<OnceLock<Descent>>,
    own_started: Cell<bool>,
    save: Save,
    /// The marks, once the debrief has them.
    marks: RefCell<Vec<(String, String)>>,
    /// When the player began, for the name of the file that keeps the run.
    started: String,
}

impl Play {
    /// A run at the start of its clock.
    pub(crate) fn new(incident: Arc<Incident>, options: SessionOptions, speed: u32, save: Save) -> Play {
        Play {
            session: Session::new(incident, options),
            pace: Pace::new(speed),
            begun: false,
            seeking: None,
            looked: BTreeMap::new(),
            references: Arc::default(),
            own: Arc::default(),
            load: Arc::default(),
            own_started: Cell::new(false),
            save,
            marks: RefCell::default(),
            started: chrono::Local::now().format("%Y%m%d-%H%M%S").to_string(),
        }
    }

    /// Starts the clock shortly before the page, and the runs that this one will be compared with.
    pub(crate) fn begin(&mut self) {
        self.begun = true;
        if self.view().mode() != Mode::Lab {
            self.seeking = Some(Seek::Until(self.session.page_at() - LEAD));
        }
        let (incident, options) = (Arc::clone(self.session.incident()), self.session.options());
        let place = Arc::clone(&self.references);
        let computed = move || {
            let result = References::compute(&incident, options.seed, options.scale);
            let _ = place.set(result.map_err(|e| e.to_string()));
        };
        if let Err(error) = in_background("reference runs", computed) {
            let _ = self.references.set(Err(error.to_string()));
        }
    }

    /// The runs that this one is compared with; `None` while they are being computed.
    pub(crate) fn references(&self) -> Option<&Result<References, String>> {
        self.references.get()
    }

    /// The same, however long it takes.
    pub(crate) fn wait_for_references(&self) -> &Result<References, String> {
        self.references.wait()
    }

    /// Starts the runs that leave out one lever each of a run that is over.
    pub(crate) fn start_own(&self) {
        if self.own_started.get() {
            return;
        }
        let (place, load, session) = (Arc::clone(&self.own), Arc::clone(&self.load), self.session.clone());
        let compute = move || {
            let incident = session.incident();
            let _ = load.set(Descent::of(incident, Staircase::small(incident)));
            let _ = place.set(OwnRuns::compute(&session));
        };
        // Without a thread there are none; it is tried again when they are next asked for.
        self.own_started.set(in_background("own runs", compute).is_ok());
    }

    /// The player's own run with one lever left out each; `None` while they are being computed.
    pub(crate) fn own(&self) -> Option<&OwnRuns> {
        self.own.get()
    }

    /// The load at which it would come back; `None` while it is being found.
    pub(crate) fn load(&self) -> Option<&Descent> {
        self.load.get()
    }

    /// What may be seen of it.
    pub(crate) fn view(&self) -> View<'_> {
        self.session.view()
    }

    /// The session, for those who read a run that is over.
    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    /// Notes the marks of a run that is over, to be kept with it.
    pub(crate) fn set_marks(&self, marks: Vec<(String, String)>) {
        *self.marks.borrow_mut() = marks;
    }

    /// Whether its marks are there to be kept with it.
    pub(crate) fn marked(&self) -> bool {
        !self.marks.borrow().is_empty()
    }

    /// Whether it runs on as fast as possible.
    pub(crate) fn seeking(&self) -> bool {
        self.seeking.is_some()
    }

    /// Whether it runs through the healthy minutes, up to shortly before the page.
    pub(crate) fn approaching(&self) -> bool {
        matches!(self.seeking, Some(Seek::Until(_)))
    }

    /// Runs on as fast as possible until something is said.
    pub(crate) fn seek_news(&mut self) {
        self.seeking = Some(Seek::News(self.view().feed().len()));
    }

    /// Runs on as fast as possible until an instant.
    pub(crate) fn seek(&mut self, until: SimTime) {
        self.seeking = Some(Seek::Until(until));
    }

    /// Stops a run to the next news or to an instant.
    pub(crate) fn stop_seeking(&mut self) {
        self.seeking = None;
    }

    /// Whether time passes at the moment.
    pub(crate) fn moves(&self) -> bool {
        let stopped = self.pace.paused && !self.seeking();
        self.begun && !stopped && !self.session.is_over() && self.view().waiting().is_none()
    }

    /// Moves the session on for `wall` of wall time, spending no more than `budget` of it on the work.
    pub(crate) fn advance(&mut self, wall: Duration, budget: Duration) {
        let began = Instant::now();
        if let Some(seek) = self.seeking {
            while began.elapsed() < budget {
                self.session.advance(self.session.now() + SimSpan::from_secs(1));
                let view = self.session.view();
                let there = match seek {
                    Seek::News(seen) => view.feed().len() > seen,
                    Seek::Until(at) => view.now() >= at,
                };
                if there || view.waiting().is_some() || view.is_over() {
                    self.seeking = None;
                    break;
                }
            }
            return;
        }
        self.pace.passed(u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX));
        self.work_off(began, budget);
    }

    /// Moves the session on by a second.
    pub(crate) fn step(&mut self) {
        self.pace.step();
        self.work_off(Instant::now(), Duration::from_secs(1));
    }

    fn work_off(&mut self, began: Instant, budget: Duration) {
        while let Some(span) = self.pace.next() {
            self.session.advance(self.session.now() + span);
            if began.elapsed() > budget {
                self.pace.give_up();
            }
        }
    }

    /// Submits a command.
    ///
    /// # Errors
    /// The session's refusal.
    pub(crate) fn submit(&mut self, command: Command) -> Result<(), Refusal> {
        self.session.submit(command)
    }

    /// Notes what is looked at, each source once in a simulated minute.
    pub(crate) fn look(&mut self, sources: Vec<Source>) {
        if !self.begun || self.session.is_over() {
            return;
        }
        let minute = self.session.now().as_secs() / 60;
        for source in sources {
            if self.looked.get(&source) != Some(&minute) {
                self.looked.insert(source.clone(), minute);
                // A look that is refused was no look: nothing to tell the player.
                let _ = self.session.submit(Command::Look(source));
            }
        }
    }

    /// What decides which actions can be done.
    pub(crate) fn situation(&self) -> Situation {
        let view = self.view();
        let mode = view.mode();
        // The lab has no stages; in a live run their questions can be answered, and nobody mentions them.
        let stage = view.stage().filter(|_| mode != Mode::Lab);
        let paged = view.now() >= self.session.page_at();
        Situation {
            running: self.begun && !view.is_over(),
            over: self.begun && view.is_over(),
            guided: mode == Mode::Guided,
            paged,
            may_act: paged || mode == Mode::Lab,
            acknowledged: view.acknowledged(),
            waiting: view.waiting().is_some(),
            staged: stage.is_some(),
            unanswered: view.feed().iter().filter(|i| i.asks()).count(),
            hints_left: stage.map_or(0, |s| s.hints_left),
        }
    }

    /// Keeps the run so far.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn save(&self) -> anyhow::Result<String> {
        self.write(&self.save)
    }

    /// Keeps the run and ends with it; says where it is kept, when it was begun and could be.
    pub(crate) fn leave(mut self) -> Left {
        let place = if self.begun { self.save().ok() } else { None };
        let counts = self.view().is_over() && self.view().mode() != Mode::Lab && !self.marked();
        let marks = if counts && place.is_some() { self.mark_later() } else { None };
        // It need not be kept a second time.
        self.begun &= place.is_none();
        Left { place, marks }
    }

    /// Works out the marks of a run that is left before they are there, and keeps it once more with them: only a run with marks
    /// counts as played.
    fn mark_later(&self) -> Option<Job<()>> {
        self.start_own();
        let (session, save, begun) = (self.session.clone(), Arc::clone(&self.save), self.started.clone());
        let (references, own) = (Arc::clone(&self.references), Arc::clone(&self.own));
        let work = move |_: &mut dyn FnMut(f64) -> bool| {
            if let Ok(references) = references.wait() {
                let references = References { own: Some(own.wait().clone()), ..references.clone() };
                let marks = score(&session, &references).letters();
                // Whoever would be told that it cannot be kept has left.
                let _ = save(&Kept { session: &session, begun: &begun, marks: &marks });
            }
            Ok(())
        };
        self.own_started.get().then(|| Job::start(work))
    }

    /// Writes something of the run, under the name that the run is kept by, and says where.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn write(&self, to: &Save) -> anyhow::Result<String> {
        to(&Kept { session: &self.session, begun: &self.started, marks: &self.marks.borrow() })
    }
}

/// What remains of a run that was left.
#[derive(Default)]
pub(crate) struct Left {
    /// Where it is kept.
    pub(crate) place: Option<String>,
    /// Its marks are still being worked out, and then kept with it.
    pub(crate) marks: Option<Job<()>>,
}

impl Drop for Play {
    /// However it ends, by a quit, a signal or a panic, the run so far is kept.
    fn drop(&mut self) {
        if self.begun {
            let _ = self.save();
        }
    }
}
