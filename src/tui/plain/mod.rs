//! Play in lines: commands are typed, answers are appended, charts are sentences.
//!
//! For pipes, scripts, screen readers and terminals that cannot move their cursor. It drives the same [`Play`] with the
//! same commands as the screens do and holds no game state either.
//!
//! ```text
//! 14:03:00 PAGE: API error rate 35 %, p99 9 s.
//! > show cache hit
//! Cache hit ratio: 16 %, down from 96 % at 14:02, flat since 14:03.
//! > do rate-limit 4500 --expect failing lower --sure 70
//! 14:05:10 You: Pulled a lever: rate limit 4.5k/s.
//! ```
//!
//! In a pipe the clock goes only by `go`, `next` and `step`, so that a script gives the same run each time. Somebody at a
//! terminal may let it `run` beside the wall clock too.

mod act;
mod commands;
mod explain;
mod line;
mod names;
mod see;
mod sentence;

use std::collections::VecDeque;
use std::io::{self, BufRead, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use line::Typed;

use super::app::Setup;
use super::canvas::{ascii, wrap};
use super::input::{self, Input};
use super::play::Play;
use super::screens::library::Entry;
use super::{Save, Standings};
use crate::game::command::{Command, Source};
use crate::game::{FeedItem, FeedKind, Mode, SessionOptions, View};
use crate::score::References;
use crate::units::SimTime;

/// Time between looks at a clock that runs beside the wall clock.
const FRAME: Duration = Duration::from_millis(100);
/// Work between looks at what was typed meanwhile.
const BUDGET: Duration = Duration::from_millis(200);
/// Longest line of a terminal's width that is read without effort.
const WIDEST: u16 = 100;
/// Longest line that is read.
const LONGEST: u64 = 10_000;

/// What came of a command: nothing to add, or why it was not done.
type Done = Result<(), String>;

/// Where a player is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// At the list of incidents.
    Menu,
    /// An incident is chosen and its clock stands still.
    Briefing,
    /// The incident runs.
    Run,
    /// It is over.
    Over,
}

/// A player who types.
pub(crate) struct Plain {
    library: Vec<Entry>,
    setup: Setup,
    save: Save,
    export: Save,
    /// Reads anew how the player stands, whenever the list of incidents is told again.
    standings: Option<Standings>,
    play: Option<Play>,
    out: Box<dyn Write>,
    /// Columns to break lines at; none in a pipe.
    width: Option<u16>,
    /// Only ASCII is written.
    ascii: bool,
    /// Somebody types at a terminal: there is a prompt, and the clock may run by itself.
    person: bool,
    /// The clock runs beside the wall clock.
    runs: bool,
    /// Feed items that were told.
    told: usize,
    /// The end of the run was told.
    end_told: bool,
    /// Why the clock waits, when that was told.
    waiting_told: bool,
    /// The runs to compare with, those of the player's own levers among them.
    compared: Option<Arc<References>>,
    /// What was typed or arrived while the clock went.
    arrived: VecDeque<Input>,
    heard: Option<Receiver<Input>>,
    left: bool,
    /// What was asked for last was understood, and the game does not allow it now.
    refused: bool,
    /// A line was not understood.
    misunderstood: bool,
    /// Where the run that was left last is kept.
    kept: Option<String>,
    /// Nobody reads any more.
    gone: Option<io::Error>,
}

/// Plays in lines, from standard input to standard output.
///
/// # Errors
/// When standard output cannot be written to, or signals cannot be had.
pub(super) fn play(
    library: Vec<Entry>,
    setup: Setup,
    saves: (Save, Save),
    start: Option<(usize, Mode)>,
    ascii: bool,
) -> anyhow::Result<ExitCode> {
    let mut plain = Plain::new(library, setup, saves, Box::new(io::stdout()));
    plain.person = io::stdin().is_terminal();
    plain.ascii = ascii;
    if io::stdout().is_terminal() {
        plain.width = crossterm::terminal::size().ok().map(|size| size.0.clamp(20, WIDEST));
    }
    plain.standings = Some(super::read_standings);
    plain.heard = Some(listen()?);
    plain.welcome(start);
    let code = plain.converse();
    match plain.gone.take() {
        Some(error) => Err(error.into()),
        None => Ok(ExitCode::from(code)),
    }
}

/// Lines from standard input and signals.
fn listen() -> io::Result<Receiver<Input>> {
    let (to_loop, arriving) = channel();
    input::signals(to_loop.clone())?;
    thread::Builder::new().name("lines".to_owned()).spawn(move || read_lines(&to_loop))?;
    Ok(arriving)
}

fn read_lines(to_loop: &Sender<Input>) {
    let mut input = io::stdin().lock();
    loop {
        let mut bytes = Vec::new();
        let read = io::Read::take(&mut input, LONGEST).read_until(b'\n', &mut bytes);
        let input = match read {
            Ok(n) if n > 0 => Input::Line(String::from_utf8_lossy(&bytes).trim_end().to_owned()),
            _ => Input::Closed,
        };
        let last = matches!(input, Input::Closed);
        if to_loop.send(input).is_err() || last {
            return;
        }
    }
}

impl Plain {
    /// A player at the menu whose answers go to `out`.
    pub(in crate::tui) fn new(
        library: Vec<Entry>,
        setup: Setup,
        (save, export): (Save, Save),
        out: Box<dyn Write>,
    ) -> Plain {
        Plain {
            library,
            setup,
            save,
            export,
            standings: None,
            play: None,
            out,
            width: None,
            ascii: false,
            person: false,
            runs: false,
            told: 0,
            end_told: false,
            waiting_told: false,
            compared: None,
            arrived: VecDeque::new(),
            heard: None,
            left: false,
            refused: false,
            misunderstood: false,
            kept: None,
            gone: None,
        }
    }

    fn welcome(&mut self, start: Option<(usize, Mode)>) {
        self.say(
            "pagerdrill, a flight simulator for on-call engineers, in lines. `help` says what can be typed.",
        );
        match start {
            Some((entry, mode)) => self.prepare(entry, mode),
            None => self.list(),
        }
    }

    /// Answers lines until the player leaves; the exit code.
    fn converse(&mut self) -> u8 {
        let mut moved = Instant::now();
        while !self.left && self.gone.is_none() {
            self.prompt();
            let input = self.arrived.pop_front().or_else(|| self.listen());
            match input {
                Some(Input::Line(line)) => {
                    if !self.person && !line.trim().is_empty() {
                        self.say(&format!("> {line}"));
                    }
                    if self.runs && line.trim().is_empty() {
                        self.pause();
                    }
                    self.line(&line);
                    moved = Instant::now();
                }
                Some(Input::Closed) => break,
                Some(Input::End(signal)) => {
                    // Who sends a signal does not want to wait.
                    self.keep_run();
                    return 128 + u8::try_from(signal).unwrap_or(0);
                }
                Some(Input::Suspend) => {
                    #[cfg(unix)]
                    let _ = signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGTSTP);
                    moved = Instant::now();
                }
                Some(Input::Resumed | Input::Terminal(_)) => {}
                None => {
                    let now = Instant::now();
                    if let Some(play) = &mut self.play {
                        play.advance(now - moved, FRAME);
                    }
                    moved = now;
                    self.tell_news();
                }
            }
        }
        self.leave_run();
        if let Some(place) = self.kept.take() {
            self.say(&format!("The run is kept in {place}. To read about it: pagerdrill report latest"));
        }
        // Who types sees what was wrong; a script is told by the exit code.
        if self.misunderstood && !self.person { 2 } else { 0 }
    }

    /// The next input; none when it is time to move a clock that runs.
    fn listen(&mut self) -> Option<Input> {
        let heard = self.heard.as_ref()?;
        if !self.runs {
            return Some(heard.recv().unwrap_or(Input::Closed));
        }
        match heard.recv_timeout(FRAME) {
            Ok(input) => Some(input),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Input::Closed),
        }
    }

    fn prompt(&mut self) {
        if self.person && !self.runs && self.arrived.is_empty() {
            let written = self.out.write_all(b"> ").and_then(|()| self.out.flush());
            self.gone = self.gone.take().or(written.err());
        }
    }

    /// Appends a line.
    fn say(&mut self, text: &str) {
        let lines = match self.width {
            Some(width) => wrap(text, width),
            None => vec![text.to_owned()],
        };
        self.say_as_it_is(&lines);
    }

    /// Appends lines that keep their columns.
    fn say_as_it_is(&mut self, lines: &[String]) {
        for line in lines {
            let line: String =
                if self.ascii { line.chars().map(ascii).collect() } else { line.trim_end().to_owned() };
            let written = writeln!(self.out, "{line}");
            self.gone = self.gone.take().or(written.err());
        }
        let flushed = self.out.flush();
        self.gone = self.gone.take().or(flushed.err());
    }

    /// Answers a line.
    pub(in crate::tui) fn line(&mut self, line: &str) {
        let Some(typed) = Typed::read(line) else { return };
        self.refused = false;
        if let Err(why) = commands::carry_out(self, &typed) {
            self.misunderstood |= !self.refused;
            self.say(&why);
        }
        self.tell_news();
    }

    /// The run, when there is one.
    #[cfg(test)]
    pub(in crate::tui) fn played(&self) -> Option<&Play> {
        self.play.as_ref()
    }

    fn place(&self) -> Place {
        match &self.play {
            None => Place::Menu,
            Some(play) if !play.begun => Place::Briefing,
            Some(play) if play.view().is_over() => Place::Over,
            Some(_) => Place::Run,
        }
    }

    fn view(&self) -> Result<View<'_>, String> {
        self.play
            .as_ref()
            .map(Play::view)
            .ok_or_else(|| "No incident is chosen; `list` shows them.".to_owned())
    }

    /// Submits a command; what it says comes from the feed or from the one who calls this.
    fn submit(&mut self, command: Command) -> Done {
        match &mut self.play {
            Some(play) => match play.submit(command) {
                Ok(()) => Ok(()),
                Err(refusal) => self.refuse(refusal.to_string()),
            },
            None => Err("No incident is chosen; `list` shows them.".to_owned()),
        }
    }

    /// What was asked for is not done now, and no mistake.
    fn refuse(&mut self, why: String) -> Done {
        self.refused = true;
        Err(why)
    }

    /// Notes what was read.
    fn look(&mut self, sources: Vec<Source>) {
        if let Some(play) = &mut self.play {
            play.look(sources);
        }
    }

    /// Builds a run and tells its briefing.
    fn prepare(&mut self, entry: usize, mode: Mode) {
        let Some(entry) = self.library.get(entry) else { return };
        let options = SessionOptions { seed: self.setup.seed, mode, scale: self.setup.scale };
        let mut play =
            Play::new(Arc::clone(&entry.incident), options, self.setup.speed, Arc::clone(&self.save));
        play.pace.paused = true;
        self.play = Some(play);
        (self.told, self.end_told, self.waiting_told, self.runs) = (0, false, false, false);
        self.compared = None;
        self.briefing();
    }

    /// Starts the clock shortly before the page.
    fn begin(&mut self) -> Done {
        if let Some(play) = &mut self.play {
            play.begin();
        }
        self.run_on();
        let clock = self.view()?.clock();
        let text = if self.view()?.mode() == Mode::Lab {
            format!("It is {clock}. Everything can be done from now on.")
        } else {
            format!("It is {clock}, and you are on call. `next` lets the clock go on until there is news.")
        };
        self.say(&text);
        Ok(())
    }

    /// Lets the clock go until an instant, or until there is news.
    fn go(&mut self, until: Option<SimTime>) -> Done {
        let play = self.play.as_mut().ok_or("No incident is chosen.")?;
        if let Some(waiting) = play.view().waiting() {
            return self.refuse(format!("{waiting} `stage` reads them."));
        }
        if let Some(open) = play.view().last_questions().filter(|_| until.is_none()) {
            return self.refuse(format!(
                "{open} `stage` reads what is asked; `go 1m` lets the clock go on all the same."
            ));
        }
        match until {
            Some(at) => play.seek(at),
            None => play.seek_news(),
        }
        self.run_on();
        if self.place() == Place::Run {
            self.now();
        }
        Ok(())
    }

    fn run_on(&mut self) {
        while let Some(play) = self.play.as_mut().filter(|p| p.seeking()) {
            play.advance(Duration::ZERO, BUDGET);
            self.tell_news();
            while let Some(input) = self.heard.as_ref().and_then(|h| h.try_recv().ok()) {
                if matches!(input, Input::End(_)) {
                    if let Some(play) = &mut self.play {
                        play.stop_seeking();
                    }
                    self.arrived.push_front(input);
                    return;
                }
                self.arrived.push_back(input);
            }
        }
    }

    /// Tells what is new in the feed, why the clock waits, and the end.
    fn tell_news(&mut self) {
        let Some(play) = self.play.as_ref().filter(|p| p.begun) else { return };
        let view = play.view();
        let mut lines = Vec::new();
        for item in view.feed().iter().skip(self.told) {
            lines.extend(item_lines(item, &view));
        }
        self.told = view.feed().len();
        let waiting = view.waiting();
        let over = view.is_over();
        lines.into_iter().for_each(|l| self.say(&l));
        match waiting {
            Some(text) if !self.waiting_told => {
                self.runs = false;
                self.say(&format!("The clock waits. {text} `stage` reads them."));
                self.waiting_told = true;
            }
            Some(_) => {}
            None => self.waiting_told = false,
        }
        if over && !self.end_told {
            self.end_told = true;
            self.runs = false;
            let kept = self.play.as_ref().map(Play::save);
            match kept {
                Some(Ok(place)) => self.say(&format!("The exercise is over. The run is kept in {place}.")),
                Some(Err(error)) => {
                    self.say(&format!("The exercise is over. The run could not be kept: {error}."));
                }
                None => {}
            }
            self.say("`debrief` goes through it with you; `menu` goes back to the list of incidents.");
        }
    }

    /// Ends with the run and keeps it, with its marks when it is over: only a run with marks counts as played.
    fn leave_run(&mut self) {
        let unmarked = |play: &Play| play.view().mode() != Mode::Lab && !play.marked();
        if self.place() == Place::Over && self.play.as_ref().is_some_and(unmarked) {
            self.say("The marks are worked out before the run is kept; this takes a moment.");
            if let Err(why) = self.judged() {
                self.say(&format!("The marks could not be worked out: {why}."));
            }
        }
        self.keep_run();
    }

    /// Ends with the run and keeps it as it is.
    fn keep_run(&mut self) {
        self.runs = false;
        if let Some(place) = self.play.take().and_then(|play| play.leave().place) {
            self.kept = Some(place);
        }
    }

    fn list(&mut self) {
        let line = |(i, entry): (usize, &Entry)| {
            let file = entry.incident.file();
            let best =
                if entry.best.is_empty() { String::new() } else { format!(" Best run: {}.", entry.best) };
            format!(
                "{}: {} ({}, about {} minutes). {}{best}",
                i + 1,
                file.title,
                file.id,
                file.minutes,
                file.summary
            )
        };
        let lines: Vec<String> = self.library.iter().enumerate().map(line).collect();
        if lines.is_empty() {
            self.say("No incident could be loaded; `pagerdrill list` says why.");
        }
        lines.iter().for_each(|l| self.say(l));
        self.say(
            "`play` with a number chooses one: `play 1` stage by stage, with questions and hints; `play 1 live` as it would be, \
             where nobody helps; `play 1 lab` with every lever and without marks.",
        );
    }

    fn briefing(&mut self) {
        let Ok(view) = self.view() else { return };
        let briefing = view.briefing();
        let mut lines = vec![
            format!("{}, {} mode: {}", view.title(), view.mode().label(), means(view.mode())),
            format!("Your part: {}", briefing.role),
        ];
        lines.extend(briefing.system.iter().cloned());
        let objective = crate::units::Unit::Ratio.show(view.slo().objective.0);
        lines.push(format!(
            "The promise to users: {objective} of the operations succeed within {}.",
            view.slo().late_after
        ));
        let begun = self.play.as_ref().is_some_and(|p| p.begun);
        // A drawing is of no use to those who listen, and the topology can be read in words.
        lines.push("`topology` reads how the parts hang together, once the clock has started.".to_owned());
        if !begun {
            lines.push(
                "`begin` starts the clock. For another mode, `menu` goes back to the list, where `play` takes guided, live or lab."
                    .to_owned(),
            );
        }
        lines.iter().for_each(|l| self.say(l));
    }

    fn menu(&mut self) {
        self.leave_run();
        if let Some(place) = self.kept.take() {
            self.say(&format!("The run is kept in {place}."));
        }
        if let Some(read) = self.standings {
            read(&mut self.library);
        }
        self.list();
    }

    fn quit(&mut self) {
        self.left = true;
    }

    /// Lets the clock run beside the wall clock.
    fn run_beside(&mut self, speed: Option<u32>) -> Done {
        let play = self.play.as_mut().ok_or("No incident is chosen.")?;
        if let Some(waiting) = play.view().waiting() {
            return self.refuse(format!("{waiting} `stage` reads them."));
        }
        if let Some(speed) = speed {
            play.pace = super::pace::Pace::new(speed);
        }
        play.pace.paused = false;
        let now = play.pace.speed();
        self.runs = true;
        if let Some(asked) = speed.filter(|asked| *asked != now) {
            self.say(&format!(
                "{asked} is not one of its speeds, {}; {now} is the nearest.",
                commands::speeds()
            ));
        }
        self.say(&format!("The clock runs {now} times as fast as yours. An empty line stops it."));
        Ok(())
    }

    fn pause(&mut self) {
        if let Some(play) = &mut self.play {
            play.pace.paused = true;
        }
        if std::mem::take(&mut self.runs) {
            self.now();
        }
    }
}

/// What a mode means for who plays in it.
fn means(mode: Mode) -> &'static str {
    match mode {
        Mode::Guided => {
            "stage by stage, with questions and hints; the clock waits for your answers where the next stage begins."
        }
        Mode::Live => {
            "everything is there from the page on; the clock waits for no answer, and nobody gives hints."
        }
        Mode::Lab => "every lever works from the first second on, and nothing is marked.",
    }
}

/// A feed item in lines, with what can be answered to it.
fn item_lines(item: &FeedItem, view: &View<'_>) -> Vec<String> {
    let who = if item.role.is_empty() { item.from.clone() } else { format!("{} ({})", item.from, item.role) };
    let who = match item.kind {
        FeedKind::Page => "PAGE".to_owned(),
        FeedKind::Alert => format!("ALERT {}", item.from),
        FeedKind::Message => who,
        FeedKind::Proposal => format!("{who} proposes"),
        FeedKind::Change => format!("CHANGE by {}", item.from),
        FeedKind::Own => "You".to_owned(),
        FeedKind::Note => "Exercise".to_owned(),
    };
    let mut lines = vec![format!("{} {who}: {}", view.clock_at(item.at), item.text)];
    if item.kind == FeedKind::Note {
        // A stage that opens asks something, most of the time.
        let open = view.stage().map_or(0, |s| s.open_asks.len());
        if open > 0 && item.text.starts_with("Stage") {
            lines.push("  `stage` reads what it is about and asks.".to_owned());
        }
    }
    match &item.answered {
        Some(answer) => lines.push(format!("  You answered: {answer}")),
        None if item.proposal.is_some() => {
            lines.push(format!("  `accept {0}` or `decline {0}` answers.", item.number));
        }
        None if !item.replies.is_empty() => {
            lines.push(format!("  `reply {} NUMBER` answers with one of these:", item.number));
            let order = names::reply_order(item);
            for (n, reply) in order.iter().filter_map(|&i| item.replies.get(i)).enumerate() {
                lines.push(format!("  {}: {reply}", n + 1));
            }
        }
        None => {}
    }
    lines
}
