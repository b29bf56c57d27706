//! The application: the stack of layers, the run, and the loop that moves, draws and listens.

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use crossterm::event::{Event, KeyEvent, KeyEventKind, MouseButton, MouseEvent, MouseEventKind};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use super::actions::{self, Context, Id, Key, Meaning, Situation};
use super::canvas::{Canvas, Hit, to_ascii, wrap};
use super::dialogs;
use super::input::{Input, listen};
use super::layer::{Layer, Outcome, Scene};
use super::play::Play;
use super::screens::again::Job;
use super::screens::briefing::Briefing;
use super::screens::console::Console;
use super::screens::debrief::DebriefScreen;
use super::screens::library::{Entry, Library};
use super::terminal::Guard;
use super::theme::{Glyphs, Role, Surroundings, Theme};
use super::{Save, Standings};
use crate::game::command::Command;
use crate::game::{Mode, SessionOptions};
use crate::incident::{self, Incident};

/// Time between frames while the clock runs: about fifteen a second.
const FRAME: Duration = Duration::from_millis(66);
/// The same for those who want less to move.
const CALM_FRAME: Duration = Duration::from_secs(1);
/// Wall time of a frame that may be spent on simulating. The rest is for keys and drawing.
const BUDGET: Duration = Duration::from_millis(45);
/// Time between looks at what is being computed in the background.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// Rows that a message takes at most.
const MESSAGE_ROWS: usize = 3;
/// Smallest screen that is played on.
const LEAST: (u16, u16) = (60, 18);

/// What a run from the menu starts with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setup {
    /// Seed of the engine's random numbers.
    pub(crate) seed: u64,
    /// Size of the simulated system.
    pub(crate) scale: f64,
    /// Speed at the start.
    pub(crate) speed: u32,
    /// What moves by itself is drawn once a second.
    pub(crate) calm: bool,
}

/// Where the terminal's own part of an outcome goes: tests have none.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Wishes {
    /// Text for the clipboard.
    pub(crate) copy: Option<String>,
    /// Paint everything anew.
    pub(crate) repaint: bool,
    /// Hand the terminal to the shell.
    pub(crate) suspend: bool,
    /// End the program.
    pub(crate) leave: bool,
}

/// The application.
pub(crate) struct App {
    layers: Vec<Box<dyn Layer>>,
    play: Option<Play>,
    library: Vec<Entry>,
    theme: Theme,
    surroundings: Surroundings,
    setup: Setup,
    save: Save,
    export: Option<Save>,
    standings: Option<Standings>,
    /// Keys pressed so far of a longer one.
    pressed: Vec<Key>,
    message: Option<(Role, String)>,
    hits: Vec<(Rect, Hit)>,
    size: Rect,
    /// Something changed since the last frame.
    changed: bool,
    /// The stage whose dialog was opened by itself.
    stage_shown: usize,
    /// The end of the run was told.
    end_shown: bool,
    /// Where the run that was left last is kept.
    kept: Option<String>,
    /// The marks of runs that were left before they were there.
    marking: Vec<Job<()>>,
    /// What the terminal is to do.
    pub(crate) wishes: Wishes,
}

impl App {
    /// The application with the menu open.
    pub(crate) fn new(
        library: Vec<Entry>,
        theme: Theme,
        surroundings: Surroundings,
        setup: Setup,
        save: Save,
    ) -> App {
        App {
            layers: vec![Box::new(Library::default())],
            play: None,
            library,
            theme,
            surroundings,
            setup,
            save,
            export: None,
            standings: None,
            pressed: Vec::new(),
            message: None,
            hits: Vec::new(),
            size: Rect::new(0, 0, 120, 36),
            changed: true,
            stage_shown: 0,
            end_shown: false,
            kept: None,
            marking: Vec::new(),
            wishes: Wishes::default(),
        }
    }

    /// The same with a place for findings.
    pub(crate) fn with_export(mut self, export: Save) -> App {
        self.export = Some(export);
        self
    }

    /// The same with how the player stands, which is read anew whenever the menu opens again.
    pub(crate) fn with_standings(mut self, standings: Standings) -> App {
        self.standings = Some(standings);
        self
    }

    /// The same with another screen in place of the menu.
    pub(crate) fn with_first(mut self, first: Box<dyn Layer>) -> App {
        self.layers = vec![first];
        self
    }

    /// The run, when there is one.
    pub(crate) fn play(&self) -> Option<&Play> {
        self.play.as_ref()
    }

    /// Builds a run of an incident of the library and shows its briefing.
    pub(crate) fn prepare(&mut self, entry: usize, mode: Mode) {
        let Some(entry) = self.library.get(entry) else { return };
        let mut options = SessionOptions { seed: self.setup.seed, mode, scale: self.setup.scale };
        let mut incident = Arc::clone(&entry.incident);
        if entry.blind {
            // Another one each time; the file of the run keeps which.
            options.seed = chrono::Local::now().timestamp_millis().unsigned_abs();
            let all: Vec<Arc<Incident>> =
                self.library.iter().filter(|e| !e.blind).map(|e| Arc::clone(&e.incident)).collect();
            let Some(drawn) = incident::draw(&all, options.seed) else { return };
            incident = drawn;
        }
        self.play = Some(Play::new(incident, options, self.setup.speed, Arc::clone(&self.save)));
        self.layers.truncate(1);
        self.layers.push(Box::new(Briefing::default()));
        (self.stage_shown, self.end_shown) = (0, false);
    }

    fn scene_parts(&mut self) -> (&mut Vec<Box<dyn Layer>>, Scene<'_>) {
        let mode = self.play.as_ref().map(|p| p.view().mode());
        let held = mode.is_some_and(|mode| self.layers.last().is_some_and(|l| !l.clock_runs(mode)));
        (&mut self.layers, Scene { play: self.play.as_ref(), library: &self.library, held })
    }

    fn situation(&self) -> Situation {
        self.play.as_ref().map(Play::situation).unwrap_or_default()
    }

    fn contexts(&self) -> Vec<Context> {
        let mut contexts = self.layers.last().map(|l| l.contexts()).unwrap_or_default();
        contexts.push(Context::Global);
        contexts
    }

    fn too_small(&self) -> bool {
        self.size.width < LEAST.0 || self.size.height < LEAST.1
    }

    /// Whether the incident's clock runs at the moment, or what is on top moves by itself.
    pub(crate) fn moves(&self) -> bool {
        if self.layers.last().is_some_and(|top| top.moves()) {
            return !self.too_small();
        }
        let Some(play) = self.play.as_ref().filter(|p| p.moves()) else { return false };
        let mode = play.view().mode();
        !self.too_small() && self.layers.last().is_some_and(|l| l.clock_runs(mode))
    }

    /// Lets wall time pass.
    pub(crate) fn advance(&mut self, wall: Duration) {
        if !self.moves() {
            return;
        }
        if let Some(top) = self.layers.last_mut().filter(|top| top.moves()) {
            top.advance(wall);
            self.changed = true;
            return;
        }
        if let Some(play) = &mut self.play {
            let news = play.view().feed().len();
            play.advance(wall, BUDGET);
            self.changed = true;
            if play.view().feed().len() > news {
                self.message = None;
            }
        }
        self.notice();
    }

    /// A stage whose questions the player has in front of them need not be opened by itself.
    fn note_stage(&mut self) {
        let top = self.layers.last();
        if let (Some(play), true) = (&self.play, top.is_some_and(|l| l.contexts().contains(&Context::Stage)))
        {
            self.stage_shown = play.view().stage().map_or(0, |s| s.number);
        }
    }

    /// Opens what opens by itself: a stage's questions, the end.
    fn notice(&mut self) {
        let Some(play) = &self.play else { return };
        let view = play.view();
        if view.is_over() {
            if !self.end_shown && play.begun {
                self.end_shown = true;
                self.layers.truncate(2);
                self.show_end();
            }
            return;
        }
        let stage = view.stage().map_or(0, |s| s.number);
        let console_on_top = self.layers.len() == 2;
        if view.mode() == Mode::Guided && console_on_top && stage > self.stage_shown {
            self.stage_shown = stage;
            self.layers.push(Box::new(dialogs::StageDialog::default()));
        } else if view.waiting().is_some() && console_on_top && self.message.is_none() {
            let text =
                format!("{} {} opens them.", view.waiting().unwrap_or_default(), actions::key_of(Id::Stage));
            self.message = Some((Role::Warn, text));
        }
    }

    fn show_end(&mut self) {
        let kept = self.play.as_ref().map(Play::save);
        let text = match kept {
            Some(Ok(place)) => format!("The exercise is over. The run is kept in {place}."),
            Some(Err(error)) => format!("The exercise is over. The run could not be kept: {error}."),
            None => return,
        };
        self.message = Some((Role::Info, text));
        self.layers.push(Box::new(DebriefScreen::default()));
    }

    /// Whether the top layer shows something that is still being computed, or marks of a run that was left are.
    pub(crate) fn waits(&mut self) -> bool {
        let due = self.marking.len();
        self.marking.retain(|job| job.result().is_none());
        if self.marking.len() < due {
            self.read_standings();
        }
        let (layers, scene) = self.scene_parts();
        let waits = layers.last().is_some_and(|top| top.waits(&scene));
        self.changed |= waits;
        waits || !self.marking.is_empty()
    }

    /// Answers a key.
    pub(crate) fn key(&mut self, event: KeyEvent) {
        if event.kind == KeyEventKind::Release {
            return;
        }
        self.changed = true;
        self.message = None;
        self.note_stage();
        let key = Key::from(event);
        let (layers, scene) = self.scene_parts();
        if let Some(outcomes) = layers.last_mut().and_then(|top| top.typed(key, &scene)) {
            self.pressed.clear();
            self.carry_out(outcomes);
            return;
        }
        self.pressed.push(key);
        let contexts = self.contexts();
        let mut meaning = actions::meaning(&contexts, &self.pressed);
        if meaning == Meaning::Nothing && self.pressed.len() > 1 {
            self.pressed = vec![key];
            meaning = actions::meaning(&contexts, &self.pressed);
        }
        match meaning {
            Meaning::Begun => {}
            Meaning::Nothing => self.pressed.clear(),
            Meaning::Action(id) => {
                self.pressed.clear();
                self.perform(id);
            }
        }
    }

    /// Answers a paste.
    pub(crate) fn paste(&mut self, text: &str) {
        self.changed = true;
        if let Some(top) = self.layers.last_mut() {
            top.pasted(text);
        }
    }

    /// Answers the mouse.
    pub(crate) fn mouse(&mut self, event: MouseEvent) {
        let place = Position { x: event.column, y: event.row };
        let hit = self.hits.iter().rev().find(|(area, _)| area.contains(place)).map(|h| h.1);
        let wheel = match event.kind {
            MouseEventKind::Down(MouseButton::Left) => None,
            MouseEventKind::ScrollUp => Some(Id::Up),
            MouseEventKind::ScrollDown => Some(Id::Down),
            _ => return,
        };
        self.changed = true;
        match (wheel, hit) {
            (Some(id), hit) => {
                if let Some(Hit::InPane(pane, _) | Hit::Pane(pane)) = hit {
                    self.click(Hit::Pane(pane));
                }
                self.perform(id);
            }
            (None, Some(Hit::Act(id))) => {
                self.message = None;
                self.perform(id);
            }
            (None, Some(hit)) => {
                self.message = None;
                self.click(hit);
            }
            (None, None) => {}
        }
    }

    fn click(&mut self, hit: Hit) {
        let (layers, scene) = self.scene_parts();
        let outcomes = layers.last_mut().map(|top| top.clicked(hit, &scene)).unwrap_or_default();
        self.carry_out(outcomes);
    }

    /// The screen has another size.
    pub(crate) fn resize(&mut self, width: u16, height: u16) {
        self.size = Rect::new(0, 0, width, height);
        self.changed = true;
    }

    /// Carries out an action: the top layer's way, or the application's.
    pub(crate) fn perform(&mut self, id: Id) {
        let now = self.situation();
        let contexts = self.contexts();
        let here = |a: &&actions::Action| a.id == id && contexts.contains(&a.context);
        let action = actions::ACTIONS.iter().find(here).or_else(|| actions::find(id));
        if let Some(Err(reason)) = action.map(|a| (a.enabled)(&now)) {
            let title = action.map_or("", |a| a.title);
            self.message = Some((Role::Warn, format!("Not now: {title}. {}.", capital(reason))));
            return;
        }
        let (layers, scene) = self.scene_parts();
        if let Some(outcomes) = layers.last_mut().and_then(|top| top.act(id, &scene)) {
            self.carry_out(outcomes);
            return;
        }
        match id {
            Id::Back => {
                if self.layers.len() > 1 && !self.layers.last().is_some_and(|l| l.covers()) {
                    self.layers.pop();
                }
            }
            Id::Quit => self.quit(),
            Id::Help => self.open(Box::new(dialogs::help(&contexts, &now))),
            Id::Palette => {
                let view = self.play.as_ref().map(Play::view);
                let palette = dialogs::palette(&contexts, &now, view.as_ref());
                self.open(Box::new(palette));
            }
            Id::Redraw => self.wishes.repaint = true,
            Id::Suspend => self.wishes.suspend = true,
            Id::NextTheme => {
                let all = self.surroundings.themes();
                let at = all.iter().position(|t| *t == self.theme.name).unwrap_or(0);
                let name = all[(at + 1) % all.len()];
                self.theme = self.surroundings.theme(Some(name), Some(self.theme.glyphs));
                self.message = Some((Role::Info, format!("Theme {name}.")));
            }
            Id::NextGlyphs => {
                let (glyphs, name) = match self.theme.glyphs {
                    Glyphs::Braille => (Glyphs::Block, "blocks"),
                    Glyphs::Block => (Glyphs::Ascii, "plain ASCII"),
                    Glyphs::Ascii => (Glyphs::Braille, "braille"),
                };
                self.theme.glyphs = glyphs;
                self.message = Some((Role::Info, format!("Charts in {name}.")));
            }
            _ => self.perform_on_run(id),
        }
    }

    fn perform_on_run(&mut self, id: Id) {
        let Some(play) = &mut self.play else { return };
        match id {
            Id::Pause => {
                let stop = play.seeking() || !play.pace.paused;
                play.stop_seeking();
                play.pace.paused = stop;
            }
            Id::Slower => play.pace.slower(),
            Id::Faster => play.pace.faster(),
            Id::Step => {
                play.stop_seeking();
                play.pace.paused = true;
                play.step();
                self.notice();
            }
            Id::ToNews => match play.view().last_questions() {
                None => play.seek_news(),
                Some(open) => {
                    let (stage, pause) = (actions::key_of(Id::Stage), actions::key_of(Id::Pause));
                    let text = format!("{open} {stage} shows what is asked, {pause} goes on.");
                    self.message = Some((Role::Warn, text));
                }
            },
            Id::Acknowledge => {
                self.submit(Command::Acknowledge, "Acknowledged: everybody sees that you are on it.")
            }
            Id::Hint => {
                self.submit(Command::Hint, "");
                self.open(Box::new(dialogs::StageDialog::default()));
            }
            Id::Stage => self.open(Box::new(dialogs::StageDialog::default())),
            Id::Mitigate => {
                let levers = dialogs::levers(&play.view());
                self.open(Box::new(levers));
            }
            Id::Severity => {
                let form = dialogs::declare(&play.view());
                self.open(Box::new(form));
            }
            Id::StatusUpdate => {
                let form = dialogs::status(&play.view());
                self.open(Box::new(form));
            }
            Id::Answer => {
                let view = play.view();
                let newest = view.feed().iter().rev().find(|i| i.asks());
                if let Some(layer) = newest.and_then(|item| dialogs::answer(item, &view)) {
                    self.open(layer);
                }
            }
            Id::End => self.open(Box::new(dialogs::finish())),
            Id::Export => {
                let Some(export) = &self.export else { return };
                self.message = Some(match play.write(export) {
                    Ok(place) => (Role::Ok, format!("The finding is written to {place}.")),
                    Err(error) => (Role::Warn, format!("The finding could not be written: {error}.")),
                });
            }
            Id::Debrief => self.open(Box::new(DebriefScreen::default())),
            _ => {}
        }
    }

    fn open(&mut self, layer: Box<dyn Layer>) {
        self.layers.push(layer);
    }

    fn submit(&mut self, command: Command, said: &str) {
        let Some(play) = &mut self.play else { return };
        self.message = match play.submit(command) {
            Ok(()) if said.is_empty() => None,
            Ok(()) => Some((Role::Ok, said.to_owned())),
            Err(refusal) => Some((Role::Warn, refusal.to_string())),
        };
        self.notice();
    }

    /// Submits the command that the dialog on top was opened for, and closes it when it was carried out.
    fn finish(&mut self, command: Command, said: &str) {
        let Some(play) = &mut self.play else { return };
        match play.submit(command) {
            Ok(()) => {
                if self.layers.len() > 1 {
                    self.layers.pop();
                }
                self.message = (!said.is_empty()).then(|| (Role::Ok, said.to_owned()));
            }
            Err(refusal) => {
                if let Some(top) = self.layers.last_mut() {
                    top.refused(&refusal);
                }
            }
        }
        self.notice();
    }

    /// Submits a command as a dialog would.
    #[cfg(test)]
    pub(crate) fn answer_for_test(&mut self, command: Command) {
        self.submit(command, "");
    }

    fn carry_out(&mut self, outcomes: Vec<Outcome>) {
        for outcome in outcomes {
            match outcome {
                Outcome::Submit(command, said) => self.submit(command, &said),
                Outcome::Finish(command, said) => self.finish(command, &said),
                Outcome::Open(layer) => self.open(layer),
                Outcome::Close => {
                    if self.layers.len() > 1 {
                        self.layers.pop();
                    }
                }
                Outcome::Act(id) => self.perform(id),
                Outcome::Fork(change) => {
                    let (layers, scene) = self.scene_parts();
                    if let Some(top) = layers.last_mut() {
                        top.fork(change, &scene);
                    }
                }
                Outcome::Warn(text) => self.message = Some((Role::Warn, text)),
                Outcome::Copy(text) => {
                    self.message = Some((Role::Info, format!("Copied: {text}")));
                    self.wishes.copy = Some(text);
                }
                Outcome::Prepare { entry, mode } => self.prepare(entry, mode),
                Outcome::Begin => {
                    if let Some(play) = &mut self.play {
                        play.begin();
                    }
                    self.layers.truncate(1);
                    self.layers.push(Box::new(Console::default()));
                }
                Outcome::ToMenu => self.back_to_menu(),
                Outcome::Leave => self.wishes.leave = true,
            }
        }
    }

    fn back_to_menu(&mut self) {
        self.layers.truncate(1);
        self.leave_run();
        self.read_standings();
    }

    fn read_standings(&mut self) {
        if let Some(read) = self.standings {
            read(&mut self.library);
            self.changed = true;
        }
    }

    /// Ends with the run and keeps it. Says where the run that was left last is kept, when there is one.
    fn leave_run(&mut self) -> Option<String> {
        let left = self.play.take().map(Play::leave).unwrap_or_default();
        self.kept = left.place.or(self.kept.take());
        self.marking.retain(|job| job.result().is_none());
        self.marking.extend(left.marks);
        self.kept.clone()
    }

    /// Whether marks of runs that were left are still being worked out.
    pub(crate) fn marks_are_due(&self) -> bool {
        self.marking.iter().any(|job| job.result().is_none())
    }

    fn quit(&mut self) {
        let running = self.play.as_ref().is_some_and(|p| p.begun && !p.view().is_over());
        if running {
            self.open(Box::new(dialogs::Quit::default()));
        } else if self.layers.len() > 1 && self.play.is_some() {
            self.back_to_menu();
        } else {
            self.wishes.leave = true;
        }
    }

    /// Draws everything. Returns where the cursor stands, when something is typed into.
    pub(crate) fn draw(&mut self, buf: &mut Buffer) -> Option<Position> {
        self.changed = false;
        let area = buf.area;
        self.size = area;
        let mut hits = std::mem::take(&mut self.hits);
        hits.clear();
        let mut cursor = None;
        if self.too_small() {
            self.draw_too_small(buf);
        } else {
            let screen = Rect { height: area.height - 1, ..area };
            let from = self.layers.iter().rposition(|l| l.covers()).unwrap_or(0);
            let top = self.layers.len().saturating_sub(1);
            let theme = self.theme.clone();
            let (layers, scene) = self.scene_parts();
            // Of dialogs on top of each other only the last one is shown: what stuck out from below it would belong to nothing.
            for (_, layer) in layers.iter_mut().enumerate().filter(|(i, _)| *i == from || *i == top) {
                // The top layer takes the clicks.
                hits.clear();
                cursor = None;
                let mut canvas = Canvas { buf, theme: &theme, hits: &mut hits, cursor: &mut cursor };
                layer.draw(&mut canvas, screen, &scene);
            }
            let footer = Rect { y: area.bottom() - 1, height: 1, ..area };
            let mut canvas = Canvas { buf, theme: &theme, hits: &mut hits, cursor: &mut cursor };
            self.draw_footer(&mut canvas, footer);
            self.note_looks();
        }
        if self.theme.glyphs == Glyphs::Ascii {
            to_ascii(buf);
        }
        self.hits = hits;
        cursor
    }

    fn note_looks(&mut self) {
        let (layers, scene) = self.scene_parts();
        let sources = layers.last().map(|top| top.looked_at(&scene)).unwrap_or_default();
        if let Some(play) = &mut self.play {
            play.look(sources);
        }
    }

    fn draw_footer(&self, canvas: &mut Canvas<'_>, row: Rect) {
        if let Some((role, text)) = &self.message {
            self.draw_message(canvas, row, *role, text);
            return;
        }
        // A dialog says its own keys.
        if !self.layers.last().is_some_and(|l| l.covers()) {
            return;
        }
        let mut shown: Vec<(Id, Line<'_>)> = actions::footer(&self.contexts(), &self.situation())
            .into_iter()
            .filter(|action| self.layers.last().is_none_or(|top| top.offers(action.id)))
            .map(|action| {
                let key = action.keys().first().copied().unwrap_or("");
                let key = Span::styled(format!("{key} "), canvas.style(Role::Accent));
                (action.id, Line::from(vec![key, Span::styled(action.title, canvas.style(Role::Text))]))
            })
            .collect();
        // The last one, which is the help, stays whatever the width.
        let width = |shown: &[(Id, Line<'_>)]| shown.iter().map(|s| s.1.width() + 3).sum::<usize>();
        while shown.len() > 1 && width(&shown) > usize::from(row.width) + 1 {
            shown.remove(shown.len() - 2);
        }
        let mut x = 1;
        for (i, (id, line)) in shown.iter().enumerate() {
            if i > 0 {
                canvas.text(Rect { x: row.x + x, width: 3, ..row }, 0, " · ", Role::Muted);
                x += 3;
            }
            let here = Rect { x: row.x + x, width: line.width() as u16, ..row };
            canvas.line(here, 0, line);
            canvas.hit(here, Hit::Act(*id));
            x += here.width;
        }
    }

    /// A message in the footer's row, and in those above it when it is longer than that.
    fn draw_message(&self, canvas: &mut Canvas<'_>, row: Rect, role: Role, text: &str) {
        let room = row.width.saturating_sub(2);
        let mut lines = wrap(text, room);
        if lines.len() > MESSAGE_ROWS {
            let rest = lines.split_off(MESSAGE_ROWS - 1).join(" ");
            lines.push(rest);
        }
        let height = lines.len() as u16;
        let place = Rect { y: row.bottom() - height, height, ..row };
        canvas.clear(place);
        let place = Rect { x: place.x + 1, width: room, ..place };
        for (y, line) in lines.iter().enumerate() {
            canvas.text(place, y as u16, line, role);
        }
    }

    fn draw_too_small(&self, buf: &mut Buffer) {
        let (mut hits, mut cursor) = (Vec::new(), None);
        let area = buf.area;
        let mut canvas = Canvas { buf, theme: &self.theme, hits: &mut hits, cursor: &mut cursor };
        let text = format!(
            "This screen is {} × {}. The game needs {} × {}; the clock stands still until then.",
            area.width, area.height, LEAST.0, LEAST.1
        );
        let lines = wrap(&text, area.width);
        let top = area.height.saturating_sub(lines.len() as u16) / 2;
        for (i, line) in lines.iter().enumerate() {
            canvas.text(area, top + i as u16, line, Role::Text);
        }
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|c| c.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// Runs the application until it is left.
///
/// # Errors
/// When the terminal cannot be used.
pub(crate) fn run(mut app: App, mut guard: Guard) -> anyhow::Result<ExitCode> {
    let inputs = listen()?;
    let mut drawn = Instant::now();
    let mut moved = Instant::now();
    let mut answered = true;
    loop {
        let due = !app.setup.calm || !app.moves() || drawn.elapsed() >= CALM_FRAME;
        if app.changed && (due || std::mem::take(&mut answered)) {
            guard.draw(|frame| {
                if let Some(cursor) = app.draw(frame.buffer_mut()) {
                    frame.set_cursor_position(cursor);
                }
            })?;
            drawn = Instant::now();
        }
        // In a debug build only: a test looks at what a panic leaves behind.
        #[cfg(debug_assertions)]
        if std::env::var_os("PAGERDRILL_TEST_PANIC").is_some() {
            assert!(!app.play().is_some_and(|play| play.begun), "a panic was asked for");
        }
        let until_frame = if app.moves() {
            // The clock goes on in small steps, whether each of them is drawn or not.
            Some(FRAME.saturating_sub(drawn.elapsed().min(moved.elapsed())))
        } else {
            app.waits().then_some(LOOK_AGAIN)
        };
        let first = next(&inputs, until_frame);
        let mut code = None;
        for input in first.into_iter().chain(std::iter::from_fn(|| inputs.try_recv().ok())) {
            answered = true;
            code = code.or(answer(&mut app, &mut guard, input)?);
        }
        let wishes = std::mem::take(&mut app.wishes);
        if let Some(text) = &wishes.copy {
            guard.copy(text)?;
        }
        if wishes.suspend {
            guard.suspend()?;
            moved = Instant::now();
        }
        if wishes.repaint || wishes.suspend {
            guard.repaint()?;
            app.changed = true;
        }
        if wishes.leave {
            code = code.or(Some(0));
        }
        if let Some(code) = code {
            let kept = app.leave_run();
            drop(guard);
            if wishes.leave {
                wait_for_marks(&app, &inputs);
            }
            if let Some(place) = kept {
                // Nobody may be there to read it: a terminal that hung up is no reason to fail.
                let _ = writeln!(
                    std::io::stderr(),
                    "The run is kept in {place}. To read about it: pagerdrill report latest"
                );
            }
            return Ok(ExitCode::from(code));
        }
        let now = Instant::now();
        app.advance(now - moved);
        moved = now;
    }
}

/// Waits for the marks of runs that were left before they were there, unless somebody wants to be gone.
fn wait_for_marks(app: &App, inputs: &Receiver<Input>) {
    if app.marks_are_due() {
        let _ = writeln!(
            std::io::stderr(),
            "The marks are worked out, so that the run counts as played; this takes a moment. Ctrl-C leaves without them."
        );
    }
    while app.marks_are_due() {
        match inputs.recv_timeout(FRAME) {
            Ok(Input::End(_) | Input::Closed) => return,
            Ok(_) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Waits for input: until the next frame while the clock runs, else for as long as it takes.
fn next(inputs: &Receiver<Input>, until_frame: Option<Duration>) -> Option<Input> {
    match until_frame {
        None => Some(inputs.recv().unwrap_or(Input::Closed)),
        Some(wait) => match inputs.recv_timeout(wait) {
            Ok(input) => Some(input),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Input::Closed),
        },
    }
}

/// Answers one input; an exit code when the program is to end.
fn answer(app: &mut App, guard: &mut Guard, input: Input) -> anyhow::Result<Option<u8>> {
    match input {
        Input::Terminal(Event::Key(key)) => app.key(key),
        Input::Terminal(Event::Mouse(mouse)) => app.mouse(mouse),
        Input::Terminal(Event::Paste(text)) => app.paste(&text),
        Input::Terminal(Event::Resize(width, height)) => app.resize(width, height),
        Input::Terminal(Event::FocusGained | Event::FocusLost) | Input::Line(_) => {}
        Input::Closed => return Ok(Some(0)),
        Input::End(signal) => return Ok(Some(128 + u8::try_from(signal).unwrap_or(0))),
        Input::Suspend => app.wishes.suspend = true,
        Input::Resumed => {
            guard.resume()?;
            app.changed = true;
        }
    }
    Ok(None)
}
