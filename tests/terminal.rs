//! What only a real terminal shows: the program in a pty, its screen read back.

#![cfg(unix)]

use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

/// How long something may take to appear on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn cells(n: u16) -> NonZeroU16 {
    NonZeroU16::new(n).expect("a screen has cells")
}

/// The program in a pty.
struct Played {
    master: Box<dyn MasterPty + Send>,
    keys: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    output: Receiver<Vec<u8>>,
    screen: vt100::Parser,
    /// All that was written, for what a screen does not show.
    raw: Vec<u8>,
    home: tempfile::TempDir,
}

impl Played {
    fn start(args: &[&str], env: &[(&str, &str)], columns: u16, rows: u16) -> Played {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).expect("a pty");
        let home = tempfile::tempdir().expect("a folder");
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_pagerdrill"));
        command.args(args);
        command.env("PAGERDRILL_HOME", home.path());
        command.env("TERM", "xterm-256color");
        command.env("LANG", "C.UTF-8");
        command.env_remove("LC_ALL");
        command.env_remove("NO_COLOR");
        for (name, value) in env {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).expect("the program starts");
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().expect("a reader");
        let keys = pair.master.take_writer().expect("a writer");
        let (send, output) = channel();
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(n) = reader.read(&mut buffer) {
                if n == 0 || send.send(buffer[..n].to_vec()).is_err() {
                    return;
                }
            }
        });
        let screen = vt100::Parser::new(cells(rows), cells(columns), 0);
        Played { master: pair.master, keys, child, output, screen, raw: Vec::new(), home }
    }

    fn read(&mut self, wait: Duration) -> bool {
        let Ok(bytes) = self.output.recv_timeout(wait) else { return false };
        self.screen.process(&bytes);
        self.raw.extend(bytes);
        true
    }

    fn text(&self) -> String {
        self.screen.screen().contents()
    }

    /// Waits until the text is on the screen.
    fn wait_for(&mut self, text: &str) {
        let until = Instant::now() + PATIENCE;
        while !self.text().contains(text) {
            assert!(Instant::now() < until, "`{text}` does not appear in\n{}", self.text());
            self.read(Duration::from_millis(100));
        }
    }

    /// Waits until the text is no longer on the screen.
    fn wait_until_gone(&mut self, text: &str) {
        let until = Instant::now() + PATIENCE;
        while self.text().contains(text) {
            assert!(Instant::now() < until, "`{text}` does not go away:\n{}", self.text());
            self.read(Duration::from_millis(100));
        }
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("keys are taken");
        self.keys.flush().expect("keys are taken");
    }

    fn resize(&mut self, columns: u16, rows: u16) {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        self.master.resize(size).expect("a pty can be resized");
        self.screen.screen_mut().set_size(cells(rows), cells(columns));
    }

    fn signal(&self, name: &str) {
        let id = self.child.process_id().expect("it runs").to_string();
        let sent = std::process::Command::new("kill").args(["-s", name, &id]).status();
        assert!(sent.is_ok_and(|s| s.success()), "{name} was not sent");
    }

    /// Waits for the end; returns the exit code.
    fn end(&mut self) -> u32 {
        let until = Instant::now() + PATIENCE;
        loop {
            while self.read(Duration::from_millis(20)) {}
            if let Some(status) = self.child.try_wait().expect("it can be waited for") {
                while self.read(Duration::from_millis(100)) {}
                return status.exit_code();
            }
            assert!(Instant::now() < until, "it does not end:\n{}", self.text());
        }
    }

    /// Whether everything that was switched on was switched off again, once.
    fn restored(&self) {
        let raw = String::from_utf8_lossy(&self.raw);
        for (on, off) in
            [("\x1b[?1049h", "\x1b[?1049l"), ("\x1b[?1000h", "\x1b[?1000l"), ("\x1b[?2004h", "\x1b[?2004l")]
        {
            assert_eq!(raw.matches(on).count(), raw.matches(off).count(), "{on:?}");
        }
        let (hidden, shown) = (raw.rfind("\x1b[?25l"), raw.rfind("\x1b[?25h"));
        assert!(hidden < shown, "the cursor stays hidden");
    }

    /// Whether it said where the run is kept, once the terminal was given back.
    fn says_where(&self) {
        let raw = String::from_utf8_lossy(&self.raw);
        let after = raw.rsplit("\x1b[?1049l").next().unwrap_or_default();
        assert!(
            after.contains("The run is kept in") && after.contains("pagerdrill report latest"),
            "{after:?}"
        );
    }

    /// The run that was kept gives the same without this terminal, its size and its speed.
    fn replays(&self) {
        let mut replay = assert_cmd::Command::cargo_bin("pagerdrill").expect("the program");
        replay.args(["replay", "latest", "--verify"]).env("PAGERDRILL_HOME", self.home.path());
        let verified = replay.assert().success();
        let told = String::from_utf8_lossy(&verified.get_output().stdout).into_owned();
        assert!(told.contains("telemetry: the same") && !told.contains("differs"), "{told}");
    }

    fn saved(&self) -> usize {
        let runs: &Path = &self.home.path().join("runs");
        std::fs::read_dir(runs).map_or(0, |entries| entries.count())
    }
}

/// A run with its clock started, at a small scale.
fn running(env: &[(&str, &str)]) -> Played {
    let args = ["play", "cold-cache-failover", "--mode", "live", "--scale", "0.02"];
    let mut played = Played::start(&args, env, 120, 36);
    played.wait_for("Your part");
    played.press("\r");
    played.wait_for("Evidence");
    played
}

#[test]
fn from_the_menu_to_the_page_and_out_again() {
    let mut played = Played::start(&["play", "--scale", "0.02"], &[], 120, 36);
    played.wait_for("Incidents");
    played.press("\r");
    played.wait_for("How do you want to play it?");
    played.press("\r");
    played.wait_for("Your part");
    played.press("\r");
    played.wait_for("Evidence");
    for _ in 0..12 {
        if played.text().contains("Stage 1 of") {
            break;
        }
        played.press("w");
        thread::sleep(Duration::from_millis(300));
        while played.read(Duration::from_millis(50)) {}
    }
    played.wait_for("Stage 1 of");
    // A lone Esc is told from the start of a longer key by a pause.
    played.press("\x1b");
    thread::sleep(Duration::from_millis(200));
    played.press("q");
    played.wait_for("Leave the incident?");
    played.press("q");
    assert_eq!(played.end(), 0);
    played.restored();
    assert_eq!(played.saved(), 1);
}

/// A whole run by keys: menu, briefing, page, two levers with a prediction on one of them, the clock run out, debrief.
#[test]
fn a_whole_run_from_the_menu_to_the_marks() {
    let mut played = Played::start(&["play", "--scale", "0.02"], &[], 120, 36);
    played.wait_for("Incidents");
    // Past the tour, to an incident with two populations of clients.
    played.press("\x1b[B\x1b[B\x1b[B\r");
    played.wait_for("How do you want to play it?");
    // Live: nothing waits for an answer.
    played.press("\x1b[B\r");
    played.wait_for("Your part");
    played.press("\r");
    played.wait_for("PAGE");
    played.press("a");
    played.wait_for("Acknowledged");

    // The web's retries off, expecting fewer failures.
    played.press("m");
    played.wait_for("Mitigations");
    played.press("\x1b[B\r");
    played.wait_for("Attempts of web");
    played.press("\x7f1\r");
    played.wait_for("s apply without a prediction");
    played.press("\x1b[C\x1b[C\x1b[C\x1b[C\r");
    played.press("\r\r");
    played.wait_for("retries of\u{20}");

    // The mobile app's too, without saying what is expected.
    played.press("m");
    played.wait_for("Mitigations");
    played.press("\r");
    played.wait_for("Attempts of mobile");
    played.press("\x7f1\r");
    played.wait_for("s apply without a prediction");
    played.press("s");
    played.wait_for("mobile off");

    let until = Instant::now() + PATIENCE;
    while !played.text().contains("section 1 of") {
        assert!(Instant::now() < until, "the run does not end:\n{}", played.text());
        played.press("w");
        let pause = Instant::now() + Duration::from_millis(150);
        while Instant::now() < pause {
            played.read(Duration::from_millis(20));
        }
    }
    let text = played.text();
    assert!(text.contains("What happened") && text.contains("Acknowledged the page."), "{text}");
    // The marks, once the two questions are answered.
    played.press("\t\t");
    played.wait_for("section 3 of");
    // Back to the menu, and out.
    played.press("q");
    played.wait_for("Incidents");
    played.press("q");
    assert_eq!(played.end(), 0);
    played.restored();
    played.says_where();
    assert_eq!(played.saved(), 1);
    played.replays();
}

#[test]
fn signals_give_the_terminal_back_and_keep_the_run() {
    for (signal, code) in [("TERM", 143), ("HUP", 129), ("INT", 130)] {
        let mut played = running(&[]);
        played.signal(signal);
        assert_eq!(played.end(), code, "{signal}");
        played.restored();
        played.says_where();
        assert_eq!(played.saved(), 1, "{signal}");
    }
}

/// What a mistake in the program leaves behind. The build of the tests panics when it is asked to.
#[cfg(debug_assertions)]
#[test]
fn a_panic_gives_the_terminal_back_and_keeps_the_run() {
    let args = ["play", "cold-cache-failover", "--mode", "live", "--scale", "0.02"];
    let mut played = Played::start(&args, &[("PAGERDRILL_TEST_PANIC", "1")], 120, 36);
    played.wait_for("Your part");
    played.press("\r");
    assert_eq!(played.end(), 101);
    played.restored();
    assert_eq!(played.saved(), 1);
    assert!(String::from_utf8_lossy(&played.raw).contains("a panic was asked for"));
}

#[test]
fn a_storm_of_resizes() {
    let mut played = running(&[]);
    for (columns, rows) in [(80, 24), (1, 1), (200, 60), (2, 50), (59, 17), (300, 2), (120, 36)] {
        played.resize(columns, rows);
        while played.read(Duration::from_millis(60)) {}
    }
    played.resize(40, 10);
    played.wait_for("The game needs");
    played.resize(80, 24);
    played.wait_for("[1] charts");
    played.press("\x03\x03");
    assert_eq!(played.end(), 0);
    played.restored();
}

#[test]
fn a_terminal_of_one_column_is_waited_on() {
    let mut played = Played::start(&["play"], &[], 1, 24);
    let until = Instant::now() + PATIENCE;
    while played.raw.len() < 40 {
        assert!(Instant::now() < until, "nothing is drawn");
        played.read(Duration::from_millis(50));
    }
    played.press("?");
    played.resize(120, 36);
    played.wait_for("type to search");
    played.press("\x03");
    assert_eq!(played.end(), 0);
    played.restored();
}

#[test]
fn keys_of_ones_own_work_and_the_footer_shows_them() {
    let home = tempfile::tempdir().expect("a folder");
    std::fs::write(home.path().join("keys.ron"), "{ \"incidents\": { \"choose\": [\"F5\"] } }")
        .expect("written");
    let env = [("PAGERDRILL_HOME", home.path().to_str().expect("a path"))];
    let mut played = Played::start(&["play"], &env, 120, 36);
    played.wait_for("F5 choose");
    played.press("\x1b[15~");
    played.wait_for("How do you want to play it?");
    played.press("\x03");
    played.wait_until_gone("How do you want");
    played.press("\x03");
    assert_eq!(played.end(), 0);
}

#[test]
fn ten_thousand_pasted_letters_press_no_key() {
    let mut played = running(&[]);
    let paste = format!("\x1b[200~{}\x1b[201~", "q".repeat(10_000));
    played.press(&paste);
    played.press("?");
    played.wait_for("type to search");
    played.press("\x03");
    played.wait_for("Leave the incident?");
    played.press("\x03");
    assert_eq!(played.end(), 0);
}

#[test]
fn suspended_and_resumed() {
    let mut played = running(&[]);
    played.press("\x1a");
    let left = Instant::now() + PATIENCE;
    while !String::from_utf8_lossy(&played.raw).contains("\x1b[?1049l") {
        assert!(Instant::now() < left, "the screen is not given back");
        played.read(Duration::from_millis(100));
    }
    thread::sleep(Duration::from_millis(300));
    played.signal("CONT");
    thread::sleep(Duration::from_millis(300));
    played.press(" ");
    played.wait_for("paused");
    played.press("\x03\x03");
    assert_eq!(played.end(), 0);
}

#[test]
fn no_colour_means_no_colour_and_keeps_bold() {
    let mut played = running(&[("NO_COLOR", "1")]);
    played.press("\x03\x03");
    played.end();
    let raw = String::from_utf8_lossy(&played.raw).into_owned();
    assert!(!raw.contains("\x1b[38;") && !raw.contains("\x1b[48;"), "there are colours");
    assert!(raw.contains("\x1b[1m"), "nothing is bold");
}

#[test]
fn without_unicode_everything_is_ascii() {
    let mut played = running(&[("LANG", "C"), ("LC_ALL", "C")]);
    assert!(played.text().is_ascii(), "{}", played.text());
    played.press("\x03\x03");
    played.end();
}

#[test]
fn a_dumb_terminal_is_played_on_by_lines() {
    let mut played = Played::start(&["play"], &[("TERM", "dumb")], 80, 24);
    played.wait_for("`play` with a number chooses one");
    played.press("play 99\n");
    played.wait_for("No incident is called");
    played.press("quit\n");
    assert_eq!(played.end(), 0, "a slip of the fingers is no failure");
    assert!(!played.raw.contains(&0x1b), "no escape sequences");
    assert_eq!(played.saved(), 0);
}

/// Somebody at a terminal who asked for lines: the clock runs beside the wall clock, and an empty line stops it.
#[test]
fn in_lines_the_clock_can_run_by_itself() {
    let incident = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/incidents/good/minimal.ron");
    let mut played = Played::start(&["play", incident, "--plain"], &[], 100, 40);
    played.wait_for("`begin` starts the clock");
    played.press("begin\n");
    played.wait_for("`next` lets the clock go on");
    played.press("run 60\n");
    played.wait_for("PAGE");
    played.press("\n");
    played.wait_for("It is 10:0");
    played.press("ack\n");
    played.wait_for("You: Acknowledged");
    played.press("\x03");
    assert_eq!(played.end(), 130);
    assert_eq!(played.saved(), 1);
}

#[test]
fn a_run_is_watched_and_left() {
    let incident = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/incidents/good/minimal.ron");
    let mut film = Played::start(&["lab", incident, "--watch"], &[], 100, 30);
    film.wait_for("1 of 1");
    film.wait_for("Processes");
    film.press("]");
    film.wait_for("paused");
    film.press("?");
    film.wait_for("Watching a run");
    // Sent together with another key, Esc would be Alt.
    film.press("\x1b");
    film.wait_until_gone("type to search");
    film.press("q");
    assert_eq!(film.end(), 0);
    film.restored();
    assert_eq!(film.saved(), 0, "nothing was played");
}
