//! A run second by second: the fleet as a grid of processes, the shared cache's entry with its two ages, the database,
//! and where in the run that second lies.
//!
//! The run is simulated in a thread of its own and can be watched from its first second on.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::Duration;

use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use crate::headless::frames::{Cast, Found, Frame, Held, InstanceState, Process, Sum, film};
use crate::headless::{Options, Pilot};
use crate::incident::Incident;
use crate::tui::actions::{Context, Id};
use crate::tui::background::in_background;
use crate::tui::canvas::{Canvas, columns, wrap};
use crate::tui::layer::{Layer, Outcome, Scene};
use crate::tui::pace::Pace;
use crate::tui::theme::Role;
use crate::tui::widgets::chart::{Chart, Extras, Mark, Plotted};
use crate::units::{SECOND, SimSpan, Unit, short};

/// Speed at the start.
const SPEED: u32 = 4;
/// Frames that are taken over at a time, so that the keys are answered in between.
const BATCH: usize = 512;

/// A run that can be watched.
pub struct FilmRow {
    /// What it is called.
    pub name: String,
    /// What is different in it, in a sentence; may be empty.
    pub what: String,
    /// The incident, so changed.
    pub incident: Arc<Incident>,
}

/// What to watch.
pub struct FilmOptions {
    /// The runs, at least one.
    pub rows: Vec<FilmRow>,
    /// The one to begin with.
    pub at: usize,
    /// Who acts.
    pub pilot: Pilot,
    /// Seed.
    pub seed: u64,
    /// Size of the simulated system, 1 for the described one.
    pub scale: f64,
}

/// A run as far as it is simulated.
struct Film {
    cast: Cast,
    frames: Vec<Frame>,
    /// Two figures of every frame, for the charts.
    served: Vec<f64>,
    queries: Vec<f64>,
    coming: Option<Receiver<Result<Frame, String>>>,
    problem: Option<String>,
}

impl Film {
    /// Begins to simulate.
    fn begin(incident: &Arc<Incident>, pilot: &Pilot, options: Options) -> Film {
        let (to_screen, coming) = channel();
        let (incident, pilot) = (Arc::clone(incident), pilot.clone());
        let cast = Cast::of(&incident, options.scale);
        let thread = in_background("film", move || {
            // Nobody takes frames of a film that is not shown any more: then it ends.
            let made = film(&incident, &pilot, options, |frame| to_screen.send(Ok(frame)).is_ok());
            if let Err(error) = made {
                let _ = to_screen.send(Err(error.to_string()));
            }
        });
        let problem = thread.err().map(|error| error.to_string());
        Film {
            cast,
            frames: Vec::new(),
            served: Vec::new(),
            queries: Vec::new(),
            coming: Some(coming),
            problem,
        }
    }

    /// Takes over what has been simulated meanwhile.
    fn take(&mut self) {
        let Some(coming) = &self.coming else { return };
        for _ in 0..BATCH {
            match coming.try_recv() {
                Ok(Ok(frame)) => {
                    self.served.push(frame.served);
                    self.queries.push(frame.queries);
                    self.frames.push(frame);
                }
                Ok(Err(problem)) => self.problem = Some(problem),
                Err(TryRecvError::Empty) => return,
                Err(TryRecvError::Disconnected) => {
                    self.coming = None;
                    return;
                }
            }
        }
    }

    /// The last second that can be shown.
    fn last(&self) -> usize {
        self.frames.len().saturating_sub(1)
    }
}

/// The screen.
pub(crate) struct Watch {
    rows: Vec<FilmRow>,
    at: usize,
    pilot: Pilot,
    options: Options,
    films: Vec<Option<Film>>,
    pace: Pace,
    /// The instant that is watched, nanoseconds since the start; it may lie beyond what is simulated so far.
    position: u64,
}

impl Watch {
    /// A screen with the first film running.
    pub(crate) fn new(options: FilmOptions) -> Watch {
        let FilmOptions { rows, at, pilot, seed, scale } = options;
        let mut watch = Watch {
            at: at.min(rows.len().saturating_sub(1)),
            films: rows.iter().map(|_| None).collect(),
            rows,
            pilot,
            options: Options { seed, scale, until: None },
            pace: Pace::new(SPEED),
            position: 0,
        };
        watch.show(watch.at);
        watch
    }

    /// Shows a row. What is not complete of the others is given up: it would only keep the machine busy.
    fn show(&mut self, at: usize) {
        self.at = at;
        for (i, film) in self.films.iter_mut().enumerate() {
            if i != at && film.as_ref().is_some_and(|f| f.coming.is_some()) {
                *film = None;
            }
        }
        if let (Some(row), Some(film)) = (self.rows.get(at), self.films.get_mut(at)) {
            film.get_or_insert_with(|| Film::begin(&row.incident, &self.pilot, self.options));
        }
    }

    fn film(&self) -> Option<&Film> {
        self.films.get(self.at).and_then(Option::as_ref)
    }

    fn take(&mut self) {
        if let Some(film) = self.films.get_mut(self.at).and_then(Option::as_mut) {
            film.take();
        }
    }

    /// The second that is watched.
    fn second(&self) -> usize {
        (self.position / SECOND) as usize
    }

    /// Goes to a second, if the run has it.
    fn go(&mut self, second: usize) {
        let last = self.film().map_or(0, |f| f.cast.frames.saturating_sub(1));
        self.position = second.min(last) as u64 * SECOND;
    }

    fn draw_head(&self, canvas: &mut Canvas<'_>, area: Rect, film: &Film) -> u16 {
        let Some(row) = self.rows.get(self.at) else { return 0 };
        let time = |second: usize| film.cast.start.after(SimSpan::from_secs(second as u64));
        let moving = if self.pace.paused { "paused" } else { "▶" };
        let waits = if self.second() > film.last() { "simulating  " } else { "" };
        let right = Line::from(vec![
            Span::styled(waits, canvas.style(Role::Info)),
            Span::styled(
                time(self.second().min(film.cast.frames.saturating_sub(1))).to_string(),
                canvas.style(Role::Text).add_modifier(Modifier::BOLD),
            ),
            Span::styled(
                format!(" of {}  ", time(film.cast.frames.saturating_sub(1))),
                canvas.style(Role::Muted),
            ),
            Span::styled(format!("{moving} {}×", self.pace.speed()), canvas.style(Role::Accent)),
        ]);
        let room = area.width.saturating_sub(right.width() as u16 + 2);
        let place = format!("  {} of {}", self.at + 1, self.rows.len());
        let left = Line::from(vec![
            Span::styled(format!("{}  ", row.incident.file().id), canvas.style(Role::Accent)),
            Span::styled(row.name.as_str(), canvas.style(Role::Text).add_modifier(Modifier::BOLD)),
            Span::styled(if self.rows.len() > 1 { place.as_str() } else { "" }, canvas.style(Role::Muted)),
        ]);
        canvas.line(Rect { width: room, ..area }, 0, &left);
        canvas.line_right(area, 0, &right);
        let most = if area.height >= 30 { 2 } else { 1 };
        let lines = if row.what.is_empty() { Vec::new() } else { wrap(&row.what, area.width) };
        for (i, line) in lines.iter().take(most).enumerate() {
            let cut = i + 1 == most && lines.len() > most;
            let line = if cut { format!("{line} …") } else { line.clone() };
            canvas.text(area, 1 + i as u16, &line, Role::Muted);
        }
        1 + lines.len().min(most) as u16
    }

    fn draw_charts(&self, canvas: &mut Canvas<'_>, area: Rect, film: &Film) {
        let Some(row) = self.rows.get(self.at) else { return };
        let page = row.incident.at(row.incident.file().clock.page).as_secs() as usize;
        let mut marks = vec![Mark { second: page, letter: 'P', role: Role::Crit }];
        let plan = match &self.pilot {
            Pilot::Nobody => None,
            Pilot::Named(name) => row.incident.file().plans.get(name),
            Pilot::Own(_, plan) => Some(plan),
        };
        marks.extend(plan.into_iter().flat_map(|plan| &plan.steps).map(|step| Mark {
            second: row.incident.at(step.0).as_secs() as usize,
            letter: 'A',
            role: Role::Accent,
        }));
        let second = self.second().min(film.last());
        // The last one stands where it belongs whatever else happened in that second.
        marks.push(Mark { second, letter: '▼', role: Role::Focus });
        let half = Rect { width: area.width / 2, ..area };
        let other = Rect { x: half.right(), width: area.width - half.width, ..area };
        let charts = [
            (half, "Served in time", Unit::Ratio, &film.served),
            (other, "Queries started", Unit::PerSecond, &film.queries),
        ];
        for (place, title, unit, values) in charts {
            let line = Plotted { name: String::new(), unit, more_is_worse: None, values, merged: None };
            let chart = Chart {
                title,
                lines: vec![line],
                threshold: None,
                marks: &marks,
                now: film.cast.frames,
                window: film.cast.frames,
                crosshair: None,
                clock: film.cast.start,
                focus: false,
                extras: Extras::default(),
            };
            // Of this very second: a chart by itself says the mean of the last few.
            let value = unit.show(values.get(second).copied().unwrap_or(f64::NAN));
            let value = Line::from(Span::styled(value, canvas.style(Role::Text)));
            let inside = canvas.frame(place, title, &value, false);
            chart.draw_inside(canvas, inside);
        }
    }
}

impl Layer for Watch {
    fn contexts(&self) -> Vec<Context> {
        vec![Context::Film]
    }

    fn covers(&self) -> bool {
        true
    }

    fn moves(&self) -> bool {
        !self.pace.paused
    }

    fn waits(&self, _scene: &Scene<'_>) -> bool {
        self.film().is_some_and(|f| f.coming.is_some())
    }

    fn advance(&mut self, wall: Duration) {
        self.take();
        self.pace.passed(u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX));
        let passed: u64 = std::iter::from_fn(|| self.pace.next()).map(|span| span.0).sum();
        let Some(film) = self.film() else { return };
        let (last, complete) = (film.last() as u64 * SECOND, film.coming.is_none());
        // It waits for what is not simulated yet, and stops at the end.
        if self.position < last {
            self.position = (self.position + passed).min(last);
        } else if complete {
            self.position = last;
            self.pace.paused = true;
        }
    }

    fn draw(&mut self, canvas: &mut Canvas<'_>, area: Rect, _scene: &Scene<'_>) {
        self.take();
        canvas.clear(area);
        let Some(film) = self.film() else { return };
        let area = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
        let head = self.draw_head(canvas, area, film);
        let rest = Rect { y: area.y + head, height: area.height.saturating_sub(head), ..area };
        if let Some(problem) = &film.problem {
            for (i, line) in wrap(problem, rest.width).iter().enumerate() {
                canvas.text(rest, 1 + i as u16, line, Role::Crit);
            }
            return;
        }
        let Some(frame) = film.frames.get(self.second().min(film.last())) else {
            canvas.text(rest, 1, "The first second is being simulated.", Role::Muted);
            return;
        };
        let charts = (rest.height / 4 + 2).clamp(7, 11);
        let main = Rect { height: rest.height.saturating_sub(charts), ..rest };
        let below = Rect { y: main.bottom(), height: rest.height - main.height, ..rest };
        let side = (main.width * 2 / 5).clamp(36, 50).min(main.width);
        let left = Rect { width: main.width - side, ..main };
        let right = Rect { x: left.right(), width: side, ..main };
        draw_fleet(canvas, left, &film.cast, frame);
        let used = draw_entries(canvas, right, &film.cast, frame);
        let database = Rect { y: right.y + used, height: right.height - used, ..right };
        draw_database(canvas, database, &film.cast, frame);
        self.draw_charts(canvas, below, film);
    }

    fn act(&mut self, id: Id, _scene: &Scene<'_>) -> Option<Vec<Outcome>> {
        self.take();
        let (second, rows) = (self.second(), self.rows.len());
        match id {
            Id::Pause => {
                let at_end = self.film().is_some_and(|f| f.coming.is_none() && second >= f.last());
                if self.pace.paused && at_end {
                    self.go(0);
                }
                self.pace.paused = !self.pace.paused;
            }
            Id::Left => self.go(second.saturating_sub(1)),
            Id::Right => self.go(second + 1),
            Id::PageUp => self.go(second.saturating_sub(10)),
            Id::PageDown => self.go(second + 10),
            Id::Top => self.go(0),
            Id::Bottom => self.go(self.film().map_or(0, Film::last)),
            Id::Faster => self.pace.faster(),
            Id::Slower => self.pace.slower(),
            Id::NextRow if rows > 0 => self.show((self.at + 1) % rows),
            Id::PreviousRow if rows > 0 => self.show((self.at + rows - 1) % rows),
            Id::Back => return Some(vec![Outcome::Leave]),
            _ => return None,
        }
        // A step is for looking at what it leads to.
        if matches!(id, Id::Left | Id::Right | Id::PageUp | Id::PageDown | Id::Bottom) {
            self.pace.paused = true;
        }
        Some(Vec::new())
    }
}

// ---------------------------------------------------------------------------------------------------- the fleet

/// What a process is doing, the most telling thing first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    Gone,
    Starting,
    Draining,
    Full,
    Waiting,
    Breaker,
    Shared,
    Reading,
    Calm,
}

impl Doing {
    const ALL: [Doing; 9] = [
        Doing::Calm,
        Doing::Reading,
        Doing::Shared,
        Doing::Waiting,
        Doing::Full,
        Doing::Breaker,
        Doing::Starting,
        Doing::Draining,
        Doing::Gone,
    ];

    fn of(process: &Process) -> Doing {
        match process.state {
            InstanceState::Gone => Doing::Gone,
            InstanceState::Starting | InstanceState::Restarting => Doing::Starting,
            InstanceState::Draining => Doing::Draining,
            InstanceState::Ready if process.workers.is_some_and(|w| process.busy >= w) => Doing::Full,
            InstanceState::Ready if process.waiting > 0 => Doing::Waiting,
            InstanceState::Ready if process.breaker_open => Doing::Breaker,
            InstanceState::Ready if process.flight.is_some() => Doing::Shared,
            InstanceState::Ready if process.connections > 0 || process.source_reads > 0 => Doing::Reading,
            InstanceState::Ready => Doing::Calm,
        }
    }

    /// Sign, words of the legend, colour.
    fn look(self) -> (char, &'static str, Role) {
        match self {
            Doing::Calm => ('○', "no query", Role::Ok),
            Doing::Reading => ('●', "queries", Role::Info),
            Doing::Shared => ('◆', "one read for many", Role::Accent),
            Doing::Waiting => ('▲', "waits for a connection", Role::Warn),
            Doing::Full => ('■', "workers full", Role::Crit),
            Doing::Breaker => ('□', "breaker open", Role::Warn),
            Doing::Starting => ('△', "starting", Role::Info),
            Doing::Draining => ('◇', "leaving", Role::Muted),
            Doing::Gone => ('·', "gone", Role::Muted),
        }
    }
}

/// The letter and colour of a process's copy of the key.
fn copy_mark(copy: Option<&Held>) -> (char, Role) {
    match copy.map(|held| held.found) {
        Some(Found::Fresh) => ('c', Role::Ok),
        Some(Found::Stale) => ('s', Role::Warn),
        Some(Found::Missing) => ('x', Role::Muted),
        None => (' ', Role::Muted),
    }
}

/// How much of a process is shown, from much to little.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cell {
    /// As the next, with a bar for the connections.
    Bar,
    /// Number, sign, connections, waiting, copy with its age.
    Figures,
    /// Number, sign, copy.
    Number,
    /// Sign and copy with a gap.
    Sign,
    /// Sign and copy.
    Dense,
}

impl Cell {
    fn line(self, canvas: &Canvas<'_>, number: usize, process: &Process, widths: &Widths) -> Line<'static> {
        let (sign, _, role) = Doing::of(process).look();
        let sign = Span::styled(sign.to_string(), canvas.style(role));
        let (mark, mark_role) = copy_mark(process.copy.as_ref());
        let mut copy = if widths.copies { mark.to_string() } else { String::new() };
        let Widths { number: n, connections: c, .. } = *widths;
        let number = format!("{number:0>n$}");
        let muted = canvas.style(Role::Muted);
        match self {
            Cell::Bar | Cell::Figures => {
                let gone = process.state == InstanceState::Gone;
                let figures = if gone {
                    format!(" {:width$} {:5}", "", "", width = 2 * c + 1)
                } else {
                    let waiting = match process.waiting {
                        0 => String::new(),
                        n => format!("+{}", short(f64::from(n))),
                    };
                    format!(" {:>c$}/{:<c$} {waiting:<5}", process.connections, process.size)
                };
                let age = process.copy.filter(|held| held.found != Found::Missing).and_then(|h| h.true_age);
                if widths.copies {
                    let age = age.map(|ns| format!("{}s", ns / SECOND)).unwrap_or_default();
                    copy = format!("{copy}{age:<5}");
                }
                let mut spans = vec![Span::styled(format!("{number} "), muted), sign];
                if self == Cell::Bar {
                    let full = BAR * process.connections as usize;
                    let filled = full.div_ceil(process.size.max(1) as usize).min(BAR);
                    let style = canvas.style(role).remove_modifier(Modifier::REVERSED);
                    spans.push(Span::styled(format!(" {}", "■".repeat(filled)), style));
                    spans.push(Span::styled("·".repeat(BAR - filled), muted));
                }
                spans.push(Span::styled(figures, canvas.style(Role::Text)));
                spans.push(Span::styled(copy, canvas.style(mark_role)));
                spans.push(Span::raw(" "));
                Line::from(spans)
            }
            Cell::Number => Line::from(vec![
                Span::styled(number, muted),
                sign,
                Span::styled(copy, canvas.style(mark_role)),
                Span::raw(" "),
            ]),
            Cell::Sign => Line::from(vec![sign, Span::styled(copy, canvas.style(mark_role)), Span::raw(" ")]),
            Cell::Dense => Line::from(vec![sign, Span::styled(copy, canvas.style(mark_role))]),
        }
    }

    fn width(self, widths: &Widths) -> usize {
        let Widths { number, connections, copies } = *widths;
        let copy = usize::from(copies);
        match self {
            Cell::Bar => Cell::Figures.width(widths) + 1 + BAR,
            Cell::Figures => number + 2 + 1 + 2 * connections + 1 + 1 + 5 + 6 * copy + 1,
            Cell::Number => number + 1 + copy + 1,
            Cell::Sign => 1 + copy + 1,
            Cell::Dense => 1 + copy,
        }
    }
}

/// Columns of the bar of a process.
const BAR: usize = 10;

/// Digits of what a cell shows; whether there are copies.
struct Widths {
    number: usize,
    connections: usize,
    copies: bool,
}

fn draw_fleet(canvas: &mut Canvas<'_>, area: Rect, cast: &Cast, frame: &Frame) {
    let all = || frame.services.iter().flatten();
    let right = format!("{} processes", all().filter(|p| p.state != InstanceState::Gone).count());
    let right = Line::from(Span::styled(right, canvas.style(Role::Muted)));
    let inside = canvas.frame(area, "Processes", &right, false);
    let legend =
        legend(canvas, inside.width, all(), cast.copies.contains(&true) || all().any(|p| p.copy.is_some()));
    let height = inside.height.saturating_sub(legend.len() as u16);
    for (i, line) in legend.iter().enumerate() {
        canvas.line(inside, height + i as u16, line);
    }
    let inside = Rect { height, ..inside };
    let most = frame.services.iter().map(Vec::len).max().unwrap_or(0);
    let widths = |service: usize| Widths {
        number: most.max(10).to_string().len(),
        connections: all().map(|p| p.size).max().unwrap_or(0).to_string().len(),
        copies: cast.copies.get(service).copied().unwrap_or(false)
            || frame.services[service].iter().any(|p| p.copy.is_some()),
    };
    let per_row =
        |cell: Cell, service: usize| (usize::from(inside.width) / cell.width(&widths(service)).max(1)).max(1);
    let rows = |cell: Cell| -> usize {
        let of = |(s, p): (usize, &Vec<Process>)| 1 + p.len().div_ceil(per_row(cell, s));
        frame.services.iter().enumerate().map(of).sum()
    };
    let cells = [Cell::Bar, Cell::Figures, Cell::Number, Cell::Sign, Cell::Dense];
    let cell = cells.into_iter().find(|&c| rows(c) <= usize::from(height)).unwrap_or(Cell::Dense);
    let mut row = 0u16;
    for (service, processes) in frame.services.iter().enumerate() {
        let sum = Sum::of(processes);
        let name = cast.services.get(service).map_or("", String::as_str);
        let count = |n: u32| short(f64::from(n));
        let mut heading = Line::from(Span::styled(name.to_owned(), canvas.style(Role::Accent)));
        // What does not fit is left out, the least important first.
        for (text, role) in [
            (format!("{} of {} ready", sum.ready, sum.there), Role::Text),
            (format!("{} wait", count(sum.waiting)), if sum.waiting > 0 { Role::Warn } else { Role::Muted }),
            (format!("{} requests", count(sum.busy)), Role::Text),
            (format!("{}/{} connections", sum.connections, sum.size), Role::Text),
        ] {
            if heading.width() + 2 + columns(&text) <= usize::from(inside.width) {
                heading.push_span(Span::styled(format!("  {text}"), canvas.style(role)));
            }
        }
        canvas.line(inside, row, &heading);
        row += 1;
        let (columns, widths) = (per_row(cell, service), widths(service));
        let step = cell.width(&widths) as u16;
        for (i, line) in processes.chunks(columns).enumerate() {
            // Where not all of them fit, the last row says how many are left out.
            let rest = processes.len() - i * columns;
            if row + 1 >= height && rest > columns {
                canvas.text(inside, row, &format!("and {rest} more"), Role::Muted);
                break;
            }
            for (k, process) in line.iter().enumerate() {
                let x = inside.x + k as u16 * step;
                let place = Rect { x, width: inside.right().saturating_sub(x), ..inside };
                let shown = cell.line(canvas, i * columns + k + 1, process, &widths);
                canvas.line(place, row, &shown);
            }
            row += 1;
        }
    }
}

/// What the signs mean and how many processes have them, in as many lines as that takes.
fn legend<'a>(
    canvas: &Canvas<'_>,
    width: u16,
    processes: impl Iterator<Item = &'a Process>,
    copies: bool,
) -> Vec<Line<'static>> {
    let mut counts = [0usize; Doing::ALL.len()];
    for process in processes {
        let doing = Doing::of(process);
        if let Some(i) = Doing::ALL.iter().position(|d| *d == doing) {
            counts[i] += 1;
        }
    }
    let mut items: Vec<Vec<Span<'static>>> = Vec::new();
    for (doing, count) in Doing::ALL.into_iter().zip(counts) {
        let (sign, words, role) = doing.look();
        let strong = canvas.style(if count > 0 { Role::Text } else { Role::Muted });
        items.push(vec![
            Span::styled(format!("{sign} "), canvas.style(role)),
            Span::styled(words, canvas.style(Role::Muted)),
            Span::styled(format!(" {count:<3}"), strong),
        ]);
    }
    if copies {
        let words = "own copy: c fresh  s stale  x expired";
        items.push(vec![Span::styled(words, canvas.style(Role::Muted))]);
    }
    let mut lines: Vec<Vec<Span<'static>>> = Vec::new();
    let mut used = usize::from(width) + 1;
    for item in items {
        let needs: usize = item.iter().map(|s| columns(&s.content)).sum();
        if used + needs > usize::from(width) {
            lines.push(Vec::new());
            used = 0;
        }
        used += needs + 1;
        if let Some(line) = lines.last_mut() {
            line.extend(item);
            line.push(Span::raw(" "));
        }
    }
    lines.into_iter().map(Line::from).collect()
}

// ------------------------------------------------------------------------------------------------- cache, database

/// Seconds with a decimal, or minutes.
fn age_text(ns: u64) -> String {
    let seconds = ns as f64 / 1e9;
    if seconds < 99.95 { format!("{seconds:.1} s") } else { Unit::Seconds.show(seconds) }
}

/// A panel for each cache, as far as there is room. Returns the rows used.
fn draw_entries(canvas: &mut Canvas<'_>, area: Rect, cast: &Cast, frame: &Frame) -> u16 {
    // Border, key, two ages, scale; the same ages of the oldest copy that a process keeps for itself.
    const HEIGHT: u16 = 6;
    const OF_COPIES: u16 = 3;
    let sum = Sum::of(&frame.services.concat());
    let mut used = 0;
    for (i, (entry, name)) in frame.entries.iter().zip(&cast.caches).enumerate() {
        let (Some(entry), Some(key)) = (entry, &cast.key) else { continue };
        let copies = i == 0 && (cast.copies.contains(&true) || sum.oldest.is_some());
        let height = HEIGHT + if copies { OF_COPIES } else { 0 };
        // The database keeps its two rows and border.
        if used + height + 4 > area.height {
            break;
        }
        let place = Rect { y: area.y + used, height, ..area };
        used += height;
        let role = match (entry.reachable, entry.held.found) {
            (false, _) | (_, Found::Missing) => Role::Crit,
            (_, Found::Stale) => Role::Warn,
            (_, Found::Fresh) => Role::Ok,
        };
        let state = Line::from(Span::styled(entry.state(), canvas.style(role)));
        let inside = canvas.frame(place, name, &state, false);
        canvas.text(inside, 0, key, Role::Muted);
        draw_ages(canvas, Rect { y: inside.y + 1, height: 2, ..inside }, &entry.held);
        if let Some(oldest) = sum.oldest.as_ref().filter(|_| copies) {
            let text = sum.copies_text().unwrap_or_default();
            canvas.text(inside, 3, &format!("{text}, oldest:"), Role::Muted);
            draw_ages(canvas, Rect { y: inside.y + 4, height: 2, ..inside }, oldest);
        } else if copies {
            canvas.text(inside, 3, "no process has a copy that can be used", Role::Muted);
        }
        let held = if entry.held.hard.is_some() { Some(entry.held) } else { sum.oldest };
        let text = match held.and_then(|h| h.soft.zip(h.hard)) {
            Some((soft, hard)) if soft < hard => {
                format!("┊ fresh {}  │ kept {}", age_text(soft), age_text(hard))
            }
            Some((_, hard)) => format!("│ kept {}", age_text(hard)),
            None => String::new(),
        };
        canvas.text(inside, inside.height.saturating_sub(1), &text, Role::Muted);
    }
    used
}

/// The two ages of a value as bars against the time that it is fresh and the time that it is kept.
fn draw_ages(canvas: &mut Canvas<'_>, area: Rect, held: &Held) {
    const LABEL: u16 = 10;
    const VALUE: u16 = 9;
    let (Some(soft), Some(hard)) = (held.soft, held.hard) else {
        canvas.text(area, 0, "Nothing is there.", Role::Muted);
        return;
    };
    let width = area.width.saturating_sub(LABEL + VALUE);
    let full = (hard as f64 * 1.15).max(1.0);
    let column = |ns: u64| ((ns as f64 / full * f64::from(width)) as u16).min(width.saturating_sub(1));
    let ages = [("true age", held.true_age), ("believed", held.believed_age)];
    for (row, (label, age)) in (0u16..).zip(ages) {
        canvas.text(area, row, label, Role::Text);
        let Some(age) = age else {
            let place = Rect { x: area.x + LABEL, width: area.width.saturating_sub(LABEL), ..area };
            canvas.text(place, row, "not kept here", Role::Muted);
            continue;
        };
        let role = match age {
            a if a < soft => Role::Ok,
            a if a < hard => Role::Warn,
            _ => Role::Crit,
        };
        let filled = column(age);
        for x in 0..width {
            let (symbol, role) = match x {
                x if x + 1 == width && age as f64 > full => ("›", role),
                x if x == column(hard) => ("│", Role::Text),
                x if x == column(soft) => ("┊", Role::Text),
                x if x < filled => ("■", role),
                _ => ("·", Role::Muted),
            };
            put(canvas, area.x + LABEL + x, area.y + row, symbol, role);
        }
        let value = Line::from(Span::styled(age_text(age), canvas.style(Role::Text)));
        canvas.line_right(area, row, &value);
    }
}

/// One cell of a bar: plain, also in themes that reverse what is critical.
fn put(canvas: &mut Canvas<'_>, x: u16, y: u16, symbol: &str, role: Role) {
    let style = canvas.style(role).remove_modifier(Modifier::REVERSED);
    if let Some(cell) = canvas.buf.cell_mut((x, y)) {
        cell.set_symbol(symbol).set_style(style);
    }
}

fn draw_database(canvas: &mut Canvas<'_>, area: Rect, cast: &Cast, frame: &Frame) {
    let rate = |v: f64| if v.is_finite() { Unit::PerSecond.show(v) } else { "–".to_owned() };
    let right =
        Line::from(Span::styled(format!("{} started", rate(frame.queries)), canvas.style(Role::Text)));
    let height = (frame.hosts.len() as u16 * 2 + 3).clamp(3, area.height.max(3));
    let inside = canvas.frame(Rect { height, ..area }, "Database", &right, false);
    let names = cast.hosts.iter().map(|n| columns(n)).max().unwrap_or(0).min(12) as u16;
    let two = usize::from(inside.height) > frame.hosts.len() * 2;
    let mut row = 0;
    for (host, name) in frame.hosts.iter().zip(&cast.hosts) {
        let share = if host.cpu.is_finite() { host.cpu } else { 0.0 };
        let role = match share {
            s if s >= 0.95 => Role::Crit,
            s if s >= 0.8 => Role::Warn,
            _ => Role::Ok,
        };
        canvas.text(Rect { width: names.min(inside.width), ..inside }, row, name, Role::Text);
        let cpu = if host.cpu.is_finite() { Unit::Ratio.show(host.cpu) } else { "–".to_owned() };
        let text = format!(" {} running", host.running);
        let figures = if host.down { " down".to_owned() } else { format!(" CPU {cpu:>6}") };
        let figures = if two { figures } else { format!("{figures}{text}") };
        let start = names + 1;
        let width = inside.width.saturating_sub(start + columns(&figures) as u16);
        let filled = (share * f64::from(width) + 0.5) as u16;
        for x in 0..width {
            let (symbol, role) = if x < filled { ("■", role) } else { ("·", Role::Muted) };
            put(canvas, inside.x + start + x, inside.y + row, symbol, role);
        }
        canvas.line_right(inside, row, &Line::from(Span::styled(figures, canvas.style(Role::Text))));
        row += 1;
        if two {
            let text = format!("{} running, {} connections", host.running, host.connections);
            let place = Rect { x: inside.x + start, width: inside.width.saturating_sub(start), ..inside };
            canvas.text(place, row, &text, Role::Text);
            row += 1;
        }
    }
    let role = if frame.refused > 0.0 { Role::Warn } else { Role::Muted };
    canvas.text(inside, row, &format!("{} turned away at the door", rate(frame.refused)), role);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headless::frames::film;
    use crate::incident::load;
    use crate::incident::schema::{Story, Variant};
    use crate::tui::testing::{draw, draw_with};
    use crate::tui::theme::Glyphs;

    /// A screen with its one run complete, at a second: the small incident with copies that are stamped anew.
    fn watch(processes: u32, second: usize) -> Watch {
        let file = include_str!("../../../tests/incidents/good/minimal.ron");
        let incident = load("minimal.ron", file).incident.expect("the fixture is a good incident");
        let set = [
            ("traffic.reads.item.soft_ttl", "12s".to_owned()),
            ("services.api.reading.serve_stale", "true".to_owned()),
            ("services.api.reading.local", "(entries: 40, stamps: Renewed)".to_owned()),
            ("services.api.instances", processes.to_string()),
        ];
        let variant = Variant {
            what: String::new(),
            set: set.into_iter().map(|(path, value)| (path.to_owned(), value)).collect(),
            without: Vec::new(),
            also: Vec::new(),
            story: Story::default(),
        };
        let incident = Arc::new(incident.changed("copies", &variant).expect("it can be changed"));
        let options = Options { until: Some(crate::units::SimTime::from_secs(200)), ..Options::default() };
        let mut frames = Vec::new();
        film(&incident, &Pilot::Nobody, options, |frame| {
            frames.push(frame);
            true
        })
        .expect("it runs");
        let row = FilmRow {
            name: "copies".to_owned(),
            what: "Every process keeps a copy, and takes it for new.".to_owned(),
            incident: Arc::clone(&incident),
        };
        let film = Film {
            cast: Cast::of(&incident, 1.0),
            served: frames.iter().map(|f| f.served).collect(),
            queries: frames.iter().map(|f| f.queries).collect(),
            frames,
            coming: None,
            problem: None,
        };
        Watch {
            rows: vec![row],
            at: 0,
            pilot: Pilot::Nobody,
            options,
            films: vec![Some(film)],
            pace: Pace::new(SPEED),
            position: second as u64 * SECOND,
        }
    }

    const SCENE: Scene<'static> = Scene { play: None, library: &[], held: false };

    fn shown(watch: &mut Watch, width: u16, height: u16) -> String {
        draw(width, height, |canvas, area| watch.draw(canvas, area, &SCENE))
    }

    #[test]
    fn a_second_with_the_cache_lost() {
        let mut watch = watch(20, 126);
        insta::assert_snapshot!("watch_120x36", shown(&mut watch, 120, 36));
        insta::assert_snapshot!("watch_80x24", shown(&mut watch, 80, 24));
    }

    #[test]
    fn sixty_and_a_hundred_processes_have_a_sign_each() {
        for (processes, width, height) in [(60, 80, 24), (60, 120, 36), (100, 80, 24), (100, 120, 36)] {
            let mut watch = watch(processes, 126);
            let shown = shown(&mut watch, width, height);
            assert!(!shown.contains("more"), "{shown}");
            let of_legend = 9;
            let signs = shown.chars().filter(|c| "○●◆▲□△◇".contains(*c)).count();
            assert!(signs + 2 >= processes as usize + of_legend - 2, "{signs}\n{shown}");
            assert!(shown.contains(&format!("{processes} of {processes} ready")), "{shown}");
        }
    }

    #[test]
    fn ascii_alone_tells_the_states_apart() {
        let mut watch = watch(20, 126);
        let shown =
            draw_with("mono", Glyphs::Ascii, 120, 36, |canvas, area| watch.draw(canvas, area, &SCENE));
        assert!(shown.is_ascii(), "{shown}");
        for sign in ["o no query", "* queries", "A waits", "# workers full", "= breaker", "a starting"] {
            assert!(shown.contains(sign), "{sign}\n{shown}");
        }
    }

    #[test]
    fn any_size_is_drawn() {
        let mut watch = watch(100, 126);
        for (width, height) in [(0, 0), (1, 1), (10, 40), (60, 18), (61, 19), (200, 12), (240, 70)] {
            shown(&mut watch, width, height);
        }
    }

    #[test]
    fn keys_move_in_the_film() {
        let mut watch = watch(2, 100);
        let mut press = |id: Id| {
            watch.act(id, &SCENE);
            (watch.second(), watch.pace.paused)
        };
        assert_eq!(press(Id::Right), (101, true));
        assert_eq!(press(Id::PageUp), (91, true));
        assert_eq!(press(Id::Top), (0, true));
        assert_eq!(press(Id::Left), (0, true));
        assert_eq!(press(Id::Bottom), (200, true));
        assert_eq!(press(Id::Pause), (0, false), "from the end it begins anew");
        assert_eq!(press(Id::NextRow), (0, false));
        watch.advance(Duration::from_millis(250));
        assert_eq!(watch.second(), 1, "four times as fast as the wall clock");
        watch.go(200);
        watch.advance(Duration::from_millis(250));
        assert!(watch.pace.paused, "it stops at the end");
    }
}
