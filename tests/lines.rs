//! A whole incident through a pipe, from the first line to the marks; keys and themes of one's own.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use pagerdrill::game::command::{Command as Play, Direction, Expected, Prediction, Source, Verdict};
use pagerdrill::game::{Mode, Session, SessionOptions};
use pagerdrill::incident::load;
use pagerdrill::incident::schema::{Action, Severity};
use pagerdrill::score::{References, score};
use pagerdrill::units::{Rate, SimSpan};

const STUCK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/incidents/good/stuck.ron");

/// What a script says that plays the whole incident, live.
const SCRIPT: &str = "\
# Everything in this file is typed into a pipe.
begin
next
ack
severity sev1
show failing
panels
logs timed out
traces attempts --last 3
changes
pin requests.attempt.2 --note we send it ourselves
judge 1 holds --evidence 1
go 10:06
reply 1
decline --expect about the same --sure 80
do attempts-of-web 1 --expect failing lower --sure 70
do attempts mobile 1 --expect lower
go 30s
do rate-limit 90
update A part of the orders fails since 10:02. We take load away. Next update in 10 minutes. --failing 60%
finding --trigger 1 --summary Clients and the service repeat what fails. --evidence 1
export
go 1h
reflect 1 That the database was too small.
reflect 2 The attempts per operation.
follow-ups 1 2
marks
quit
";

fn typed(args: &[&str], home: &Path, script: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_pagerdrill"))
        .args(args)
        .env("PAGERDRILL_HOME", home)
        .env("LANG", "C.UTF-8")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut pipe = child.stdin.take().expect("a pipe");
    // A program that ends early reads no more of it.
    let _ = std::io::Write::write_all(&mut pipe, script.as_bytes());
    drop(pipe);
    child.wait_with_output().expect("it ends")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The same commands at the same moments, without any front end.
fn by_commands() -> (Session, Vec<(String, String)>) {
    let file = std::fs::read_to_string(STUCK).expect("the fixture");
    let incident = Arc::new(load(STUCK, &file).incident.expect("a good incident"));
    let options = SessionOptions { seed: 1, mode: Mode::Live, scale: 1.0 };
    let mut session = Session::new(Arc::clone(&incident), options);
    let at = |time: &str| incident.at(time.parse().expect("a time of day"));
    let predict = |session: &Session, direction, sure| Prediction {
        series: "operations.failure_ratio".to_owned(),
        expect: Expected::Direction(direction),
        sure,
        due: session.now() + SimSpan::from_secs(300),
    };
    let fine = |session: &mut Session, command: Play| session.submit(command).expect("a command that fits");
    session.advance(at("10:03:00"));
    let look = |session: &mut Session, name: &str| {
        session.submit(Play::Look(Source::Series(name.to_owned()))).expect("it is there");
    };
    fine(&mut session, Play::Acknowledge);
    fine(&mut session, Play::Declare(Severity::Sev1));
    for name in ["operations.failure_ratio", "requests.attempt.1", "requests.attempt.2", "requests.attempt.3"]
    {
        look(&mut session, name);
    }
    for name in ["requests.attempt.4", "requests.received", "db.cpu.primary", "db.cpu.replica", "db.timeouts"]
    {
        look(&mut session, name);
    }
    for pane in ["logs", "traces", "changes"] {
        fine(&mut session, Play::Look(Source::Pane(pane.to_owned())));
    }
    let what = Source::Series("requests.attempt.2".to_owned());
    fine(&mut session, Play::Pin { what, note: "we send it ourselves".to_owned() });
    let evidence = vec![session.view().evidence()[0].id];
    let hypothesis = "retries".to_owned();
    fine(&mut session, Play::Judge { hypothesis, verdict: Verdict::Accepted, evidence: evidence.clone() });
    session.advance(at("10:06:00"));
    // Replies are read in an order of their own, so which of them is the first is taken from the run in lines.
    fine(&mut session, Play::Reply { message: 0, reply: first_reply() });
    let prediction = Some(predict(&session, Direction::Same, 80));
    fine(&mut session, Play::Respond { proposal: "more".to_owned(), accept: false, prediction });
    let web = Action::ClientRetries { client: "web".to_owned(), attempts: 1 };
    let prediction = Some(predict(&session, Direction::Better, 70));
    fine(&mut session, Play::Pull { action: web, prediction });
    let mobile = Action::ClientRetries { client: "mobile".to_owned(), attempts: 1 };
    let prediction = Some(predict(&session, Direction::Better, 70));
    fine(&mut session, Play::Pull { action: mobile, prediction });
    session.advance(at("10:06:30"));
    fine(&mut session, Play::Pull { action: Action::RateLimit(Rate(90.0)), prediction: None });
    let update = "A part of the orders fails since 10:02. We take load away. Next update in 10 minutes.";
    fine(&mut session, Play::Status { text: update.to_owned(), failing: Some(0.6) });
    let mut finding = session.view().finding().clone();
    finding.trigger = Some(session.view().finding_choices()[0].id.clone());
    finding.summary = "Clients and the service repeat what fails.".to_owned();
    finding.evidence = evidence;
    fine(&mut session, Play::Find(finding));
    session.advance(session.end());
    let answers = ["That the database was too small.", "The attempts per operation."];
    for (question, text) in answers.into_iter().enumerate() {
        fine(&mut session, Play::Reflect { question, text: text.to_owned() });
    }
    fine(&mut session, Play::FollowUps(vec!["budget".to_owned(), "alert".to_owned()]));
    let references = References::compute(&incident, 1, 1.0).expect("plans that can be played");
    let letters = score(&session, &references.with_own(&session)).letters();
    (session, letters)
}

/// Which of the message's replies is read first: found by asking for it.
fn first_reply() -> usize {
    let home = tempfile::tempdir().expect("a folder");
    let said = typed(&["play", STUCK, "--plain", "--mode", "live"], home.path(), "begin\ngo 2m\nquit\n");
    let said = text(&said.stdout);
    usize::from(!said.contains("  1: Thanks, looking at who sends it."))
}

#[test]
fn a_whole_incident_through_a_pipe_gets_the_marks_of_its_commands() {
    let home = tempfile::tempdir().expect("a folder");
    let output = typed(&["play", STUCK, "--plain", "--mode", "live"], home.path(), SCRIPT);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}\n{}", text(&output.stderr));
    for wanted in [
        "> ack\n",
        "10:03:00 PAGE: ",
        "10:03:00 You: Declared SEV1.",
        "Failing: ",
        "10:06:00 Ann (database) proposes: More?",
        "The exercise is over. The run is kept in ",
        "The run is kept in ",
    ] {
        assert!(said.contains(wanted), "{wanted:?} is missing:\n{said}");
    }
    assert!(!said.contains("Not understood") && !said.contains("Not done"), "{said}");

    let (session, letters) = by_commands();
    for (dimension, letter) in &letters {
        assert!(said.contains(&format!("{dimension}: {letter} (")), "{dimension} is not {letter}:\n{said}");
    }
    assert!(letters.iter().any(|l| l.1 == "P"), "{letters:?}");
    // The finding lies in a folder of its own.
    let findings = std::fs::read_dir(home.path().join("findings")).expect("a folder").count();
    assert_eq!((findings, std::fs::read_dir(home.path().join("runs")).expect("a folder").count()), (1, 1));
    let kept =
        std::fs::read_dir(home.path().join("runs")).expect("a folder").next().expect("a run").expect("a run");
    let kept = std::fs::read_to_string(kept.path()).expect("a run file");
    let digest = session.run_file().telemetry.expect("a finished run");
    assert!(kept.contains(&digest), "{digest} is not in\n{kept}");

    // And it can be run again from the file.
    let again = typed(&["replay", "latest", "--verify", "--incident", STUCK], home.path(), "");
    let said = text(&again.stdout);
    assert_eq!(again.status.code(), Some(0), "{said}\n{}", text(&again.stderr));
    assert!(said.contains("telemetry: the same") && said.contains("marks: the same"), "{said}");
}

#[test]
fn without_a_terminal_play_goes_by_lines() {
    let home = tempfile::tempdir().expect("a folder");
    let output = typed(&["play"], home.path(), "hlep\nlist\n");
    let said = text(&output.stdout);
    assert!(said.contains("Did you mean `help`?") && said.contains("`play` with a number"), "{said}");
    assert_eq!(output.status.code(), Some(2), "a script with a mistake in it is told");
    for (script, code) in [("", 0), ("list\n", 0), ("play 99\n", 2), ("play 1 hard\n", 2)] {
        assert_eq!(typed(&[], home.path(), script).status.code(), Some(code), "{script}");
    }
    assert!(!home.path().join("runs").exists(), "nothing was played");
}

#[test]
fn the_player_who_hangs_up_keeps_the_run() {
    let home = tempfile::tempdir().expect("a folder");
    let output = typed(&["play", STUCK, "--plain"], home.path(), "begin\nnext\nack\n");
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).contains("You: Acknowledged the page."));
    assert_eq!(std::fs::read_dir(home.path().join("runs")).expect("a folder").count(), 1);
}

#[test]
fn a_run_that_is_left_without_its_debrief_counts_as_played() {
    for left in ["menu\nquit\n", "quit\n", ""] {
        let home = tempfile::tempdir().expect("a folder");
        let output = typed(&["play", STUCK, "--plain"], home.path(), &format!("begin\nnext\nend\n{left}"));
        let said = text(&output.stdout);
        assert!(said.contains("The marks are worked out before the run is kept"), "{said}");
        assert_eq!(said.contains(" Best run: "), left.starts_with("menu"), "{said}");
        let progress = std::fs::read_to_string(home.path().join("progress.ron")).expect("it was played");
        assert!(progress.contains("incident: \"stuck\""), "{progress}");
    }
}

#[test]
fn without_utf_8_lines_are_ascii() {
    let home = tempfile::tempdir().expect("a folder");
    let output = Command::new(env!("CARGO_BIN_EXE_pagerdrill"))
        .args(["play", STUCK, "--plain"])
        .env("PAGERDRILL_HOME", home.path())
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .expect("it runs");
    assert!(output.stdout.is_ascii(), "{}", text(&output.stdout));
}

#[test]
fn keys_and_themes_of_ones_own_are_read_and_mistakes_named() {
    let home = tempfile::tempdir().expect("a folder");
    for (file, command) in [("keys.ron", "keys"), ("theme.ron", "theme")] {
        let output = typed(&[command, "--write"], home.path(), "");
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let path = home.path().join(file);
        assert!(path.exists() && text(&output.stdout).contains(file));
        // It is no overwritten file, and it can be read.
        let output = typed(&[command, "--write"], home.path(), "");
        assert_eq!(output.status.code(), Some(2));
        let said = text(&output.stderr);
        assert!(said.contains("there is a file already") && said.contains("--write --force"), "{said}");
        assert_eq!(typed(&["play"], home.path(), "").status.code(), Some(0));
    }
    std::fs::write(home.path().join("keys.ron"), "{\n  \"console\": { \"puase\": [\"x\"] },\n}\n")
        .expect("written");
    let output = typed(&["play"], home.path(), "");
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    for wanted in ["keys.ron:2:16", "`puase` is no action of console", "did you mean `pause`?"] {
        assert!(said.contains(wanted), "{said}");
    }
    assert!(said.contains("cannot be used; mend it"), "{said}");
    // Also one that cannot be used is written over, when that is asked for.
    let output = typed(&["keys", "--write"], home.path(), "");
    assert_eq!(output.status.code(), Some(2));
    let output = typed(&["keys", "--write", "--force"], home.path(), "");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(typed(&["play"], home.path(), "").status.code(), Some(0));
}

#[test]
fn the_readme_lists_the_keys_that_there_are() {
    let readme =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).expect("the README");
    let (begin, end) = ("<!-- keys: written by `pagerdrill keys --markdown` -->", "<!-- end of keys -->");
    let listed =
        readme.split_once(begin).and_then(|(_, rest)| rest.split_once(end)).map(|(listed, _)| listed);
    let home = tempfile::tempdir().expect("a folder");
    let wanted = text(&typed(&["keys", "--markdown"], home.path(), "").stdout);
    assert_eq!(
        listed.map(str::trim),
        Some(wanted.trim()),
        "the keys in README.md are not those of the program: put what `pagerdrill keys --markdown` prints between the markers"
    );
}
