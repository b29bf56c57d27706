//! How quick the screens are: a frame, the way to the first one, and what a screen costs on which nothing happens.
//!
//! `cargo bench --bench terminal` prints a table of what is wanted beside what was measured. Names in the arguments
//! choose among the measurements.

use std::fs;
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use pagerdrill::incident::{Incident, library, load};
use pagerdrill::score::References;
use pagerdrill::tui::{Screen, in_background};
use pagerdrill::units::{SimSpan, SimTime};
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

const PROGRAM: &str = env!("CARGO_BIN_EXE_pagerdrill");
/// Announces a frame to terminals that show it at once.
const FRAME: &[u8] = b"\x1b[?2026h";

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let asked = |name: &str| wanted.is_empty() || wanted.iter().any(|w| name.contains(w.as_str()));
    println!("{:<58} {:>12} {:>12}", "", "wanted", "measured");
    let row = |name: &str, limit: String, measured: String, fine: bool| {
        println!("{name:<58} {limit:>12} {measured:>12} {}", if fine { "" } else { " MISSED" });
    };
    if asked("frame") {
        for (what, keys, runs, limit_ms) in [
            ("eight panels of 60 minutes", "", 0, 4),
            ("one of them expanded", "e", 0, 4),
            ("logs", "2", 0, 4),
            ("traces", "3", 0, 4),
            // A debrief may compute what each lever did and a fork at the same time.
            ("eight panels, two runs computed", "", 2, 16),
        ] {
            let times = while_computing(runs, || frames(keys));
            // On a machine that does other things too, the median says what a frame costs, the p99 what one waits.
            for (name, percent) in [("median", 50), ("p99", 99)] {
                let time = times[times.len() * percent / 100];
                let name = format!("frame at 200×60, {name} of {}: {what}", times.len());
                let fine = time < Duration::from_millis(limit_ms);
                row(&name, format!("< {limit_ms} ms"), format!("{:.2} ms", ms(time)), fine);
            }
        }
    }
    if asked("start") {
        let mut times: Vec<Duration> = (0..9).map(|_| first_frame()).collect();
        times.sort();
        let median = times[times.len() / 2];
        row(
            "start to the first frame, median of 9",
            "< 50 ms".to_owned(),
            format!("{:.0} ms", ms(median)),
            median < Duration::from_millis(50),
        );
    }
    if asked("idle") {
        let mut played = Played::paused();
        let before = played.frames();
        let cpu = played.cpu();
        thread::sleep(Duration::from_secs(4));
        let (frames, cpu) = (played.frames() - before, played.cpu() - cpu);
        row("frames in 4 s, paused and idle", "0".to_owned(), frames.to_string(), frames == 0);
        let share = cpu / 4.0 * 100.0;
        row("CPU of a core, paused and idle", "< 2 %".to_owned(), format!("{share:.1} %"), share < 2.0);
        // Ten keys a second, each of which moves the crosshair, are ten frames a second.
        played.press("e");
        thread::sleep(Duration::from_millis(300));
        let (before, cpu) = (played.frames(), played.cpu());
        for i in 0..50 {
            played.press(if i % 20 < 10 { "h" } else { "l" });
            thread::sleep(Duration::from_millis(100));
        }
        let (frames, cpu) = (played.frames() - before, played.cpu() - cpu);
        let share = cpu / 5.0 * 100.0;
        let name = format!("CPU of a core, paused, {} frames in 5 s", frames);
        row(&name, "< 2 %".to_owned(), format!("{share:.1} %"), share < 2.0);
        played.end();
    }
    if asked("size") {
        let bytes = fs::metadata(PROGRAM).map_or(0, |m| m.len());
        let name = if cfg!(debug_assertions) { "the program, not a release build" } else { "the program" };
        row(name, "< 15 MB".to_owned(), format!("{:.1} MB", bytes as f64 / 1e6), bytes < 15_000_000);
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// The largest of the shipped incidents, by its dashboards.
fn incident() -> Arc<Incident> {
    let all = library::shipped().into_iter().filter_map(|s| load(&s.id, &s.text).incident);
    Arc::new(all.max_by_key(|i| i.length()).expect("there are incidents"))
}

/// Does something while so many threads compute the runs that a player's is compared with, over and over.
fn while_computing<T>(threads: usize, work: impl FnOnce() -> T) -> T {
    let stop = Arc::new(AtomicBool::new(false));
    let (runs, over) = channel::<()>();
    for _ in 0..threads {
        let (incident, stop, runs) = (incident(), Arc::clone(&stop), runs.clone());
        let compute = move || {
            while !stop.load(Ordering::Relaxed) {
                References::compute(&incident, 1, 0.02).expect("the plans can be played");
            }
            drop(runs);
        };
        in_background("runs to compare with", compute).expect("a thread");
    }
    let done = work();
    stop.store(true, Ordering::Relaxed);
    drop(runs);
    // Nothing else is measured before the last of them has ended.
    let _ = over.recv();
    done
}

/// Sorted times of frames of a run whose clock goes on between them, on a dashboard of eight panels.
fn frames(keys: &str) -> Vec<Duration> {
    let incident = incident();
    // Not to the very end, where the debrief begins.
    let end = SimTime(incident.length().0) - SimSpan::from_secs(5);
    let mut screen = Screen::live(incident, 0.02, 200, 60);
    screen.play(end);
    for series in [
        "requests.received",
        "operations.failure_ratio",
        "latency.p50,latency.p95,latency.p99",
        "db.cpu.*",
        "cache.hit_ratio",
        "db.queries",
        "db.connections",
        "attempts.per_operation",
    ] {
        screen.press("n").expect("a key");
        screen.type_text(series);
        screen.press("Enter").expect("a key");
    }
    screen.press("- - - -").expect("keys");
    let shown = screen.text();
    assert!(shown.contains(" Own ") && shown.contains("last 60 min"), "eight panels of 60 minutes:\n{shown}");
    screen.press(keys).expect("keys");
    let mut times: Vec<Duration> = (0..600)
        .map(|i| {
            // Something changes each time, as it does while the clock runs.
            screen.press(if i % 2 == 0 { "T" } else { "B" }).expect("a key");
            let began = Instant::now();
            let written = screen.frame();
            let took = began.elapsed();
            assert!(written > 0);
            took
        })
        .collect();
    times.sort();
    times
}

/// From the start of the process to the end of the first frame.
fn first_frame() -> Duration {
    let began = Instant::now();
    let played = Played::start(&["play"]);
    while played.frames() == 0 {
        thread::sleep(Duration::from_micros(500));
    }
    let took = began.elapsed();
    let mut played = played;
    played.press("q");
    played.end();
    took
}

/// The program in a pty.
struct Played {
    child: Box<dyn Child + Send + Sync>,
    keys: Box<dyn Write + Send>,
    frames: Arc<AtomicUsize>,
    text: Arc<Mutex<Vec<u8>>>,
    _home: tempfile::TempDir,
    _master: Box<dyn MasterPty + Send>,
}

impl Played {
    fn start(args: &[&str]) -> Played {
        let size = PtySize { rows: 60, cols: 200, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).expect("a pty");
        let home = tempfile::tempdir().expect("a folder");
        let mut command = CommandBuilder::new(PROGRAM);
        command.args(args);
        command.env("PAGERDRILL_HOME", home.path());
        command.env("TERM", "xterm-256color");
        command.env("LANG", "C.UTF-8");
        let child = pair.slave.spawn_command(command).expect("the program starts");
        let mut reader = pair.master.try_clone_reader().expect("a reader");
        let keys = pair.master.take_writer().expect("a writer");
        let (frames, text) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
        let (counted, kept) = (Arc::clone(&frames), Arc::clone(&text));
        thread::spawn(move || {
            let mut buffer = [0; 65_536];
            let mut rest: Vec<u8> = Vec::new();
            while let Ok(n) = reader.read(&mut buffer) {
                if n == 0 {
                    return;
                }
                rest.extend_from_slice(&buffer[..n]);
                counted
                    .fetch_add(rest.windows(FRAME.len()).filter(|w| *w == FRAME).count(), Ordering::SeqCst);
                kept.lock().expect("one writer").extend_from_slice(&buffer[..n]);
                // What may be the start of the next one stays.
                rest.drain(..rest.len().saturating_sub(FRAME.len() - 1));
            }
        });
        Played { child, keys, frames, text, _home: home, _master: pair.master }
    }

    /// A run that is paused.
    fn paused() -> Played {
        let incident = incident();
        let mut played = Played::start(&["play", &incident.file().id, "--mode", "live", "--scale", "0.02"]);
        played.wait_for("Your part");
        played.press("\r");
        played.wait_for("PAGE");
        played.press(" ");
        played.wait_for("paused");
        // The runs to compare with are computed meanwhile.
        thread::sleep(Duration::from_secs(5));
        played
    }

    fn wait_for(&self, wanted: &str) {
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            let text = String::from_utf8_lossy(&self.text.lock().expect("one writer")).into_owned();
            if text.contains(wanted) {
                return;
            }
            assert!(Instant::now() < until, "`{wanted}` does not appear");
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("keys are taken");
        self.keys.flush().expect("keys are taken");
    }

    fn frames(&self) -> usize {
        self.frames.load(Ordering::SeqCst)
    }

    /// Seconds of processor time used so far, all threads together; 0 where the system does not say.
    fn cpu(&self) -> f64 {
        let Some(id) = self.child.process_id() else { return 0.0 };
        let Ok(stat) = fs::read_to_string(format!("/proc/{id}/stat")) else { return 0.0 };
        // The name in brackets may hold spaces; user and system time are the 12th and 13th field behind it.
        let behind = stat.rsplit(") ").next().unwrap_or_default();
        let ticks: u64 = behind.split(' ').skip(11).take(2).filter_map(|t| t.parse::<u64>().ok()).sum();
        ticks as f64 / 100.0
    }

    fn end(&mut self) {
        let _ = self.keys.write_all(b"\x03\x03");
        let _ = self.keys.flush();
        let until = Instant::now() + Duration::from_secs(10);
        while Instant::now() < until {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
    }
}
