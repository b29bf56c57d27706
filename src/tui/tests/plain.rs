//! Play in lines: what is typed, what is answered, and that it is the same game.

use std::io::Write;
use std::sync::Mutex;

use super::*;
use crate::score::{References, score};
use crate::tui::plain::Plain;

/// What was written so far.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("one writer").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A player at the menu, and what they were told.
fn player(incident: crate::incident::Incident, scale: f64) -> (Plain, Written) {
    let library = vec![Entry::new(Arc::new(incident))];
    let written = Written::default();
    let save: crate::tui::Save = Arc::new(|_: &Kept<'_>| Ok("a file".to_owned()));
    let setup = Setup { seed: 1, scale, speed: 8, calm: false };
    (Plain::new(library, setup, (Arc::clone(&save), save), Box::new(written.clone())), written)
}

fn plain() -> (Plain, Written) {
    let file = include_str!("../../../tests/incidents/good/minimal.ron");
    player(load("minimal.ron", file).incident.expect("the fixture is a good incident"), 1.0)
}

/// Types lines; what is answered to the last of them.
fn typed(plain: &mut Plain, written: &Written, lines: &str) -> String {
    let mut answer = String::new();
    for line in lines.lines().map(str::trim) {
        written.0.lock().expect("one writer").clear();
        plain.line(line);
        answer = String::from_utf8(written.0.lock().expect("one writer").clone()).expect("UTF-8");
    }
    answer
}

/// A run in that mode at the page.
fn paged(mode: &str) -> (Plain, Written) {
    let (mut plain, written) = plain();
    let said = typed(&mut plain, &written, &format!("play minimal {mode}\nbegin\nnext"));
    assert!(said.contains("10:03:00 PAGE"), "{said}");
    (plain, written)
}

fn done(plain: &Plain) -> Vec<Command> {
    let journal = plain.played().map(|p| p.view().journal().to_vec()).unwrap_or_default();
    journal.into_iter().map(|j| j.1).filter(|c| !matches!(c, Command::Look(_))).collect()
}

#[test]
fn mistakes_are_answered_with_what_was_expected() {
    let (mut plain, written) = plain();
    for (line, wanted) in [
        ("statsu", "Did you mean `status`?"),
        ("xyzzy", "`help` lists them"),
        ("status", "once an incident has begun"),
        ("debrief", "once the exercise is over"),
        ("play minimul", "Did you mean `minimal`?"),
        ("play 1 hard", "guided, live or lab"),
        ("list now", "takes nothing behind it"),
        ("7", "No incident is called `7`"),
    ] {
        let said = typed(&mut plain, &written, line);
        assert!(said.contains(wanted), "{line}: {said}");
    }
    let (mut plain, written) = paged("live");
    for (line, wanted) in [
        ("go soon", "such as 5m"),
        ("go 10:01", "has passed"),
        ("do", "Which lever?"),
        ("do rate", "requests per second, 1/s to 400/s"),
        ("do rate x", "No lever is called `rate x`"),
        ("do rate 0.5", "can be 1 to 400"),
        ("do rate 30 --expct lower", "Did you mean --expect?"),
        ("do rate 30 --expect sideways", "much higher, higher, about the same, lower, back to normal"),
        ("do rate 30 --expect lower --sure 20", "50 to 100"),
        ("do rate 30 --sure 80", "--expect, which is missing"),
        ("do 9 1", "they are 1 to 3"),
        ("show nonsense", "No series is called"),
        ("pin", "A series, `log N`"),
        ("pin log 999999", "It is not on any screen"),
        ("judge 1 maybe", "holds, rejected or open"),
        ("judge 9 holds", "they are 1 to 2"),
        ("judge 1 holds --evidence 1", "There is no evidence yet"),
        ("severity bad", "SEV1 (most users cannot work)"),
        ("update", "It is empty"),
        ("reply 1", "No message waits"),
        ("hint", "hints in guided runs only"),
        ("run", "In a pipe the clock goes only by"),
        ("trace zz", "`traces` lists those"),
        ("runbook 7", "they are 1 to 1"),
        ("2", "Say what it is the number of: `answer 1 2`"),
    ] {
        let said = typed(&mut plain, &written, line);
        assert!(said.contains(wanted), "{line}: {said}");
    }
    assert_eq!(done(&plain), []);
}

#[test]
fn charts_are_sentences() {
    let (mut plain, written) = paged("live");
    let said = typed(&mut plain, &written, "show cache.hit_ratio");
    assert!(said.contains(" %, as before a dip to ") && said.contains("lowest 0 % at 10:02:00"), "{said}");
    let said = typed(&mut plain, &written, "panels");
    assert!(said.contains("Requests (1): ") && said.contains("steady for 3 minutes"), "{said}");
    let looked = plain.played().map(|p| p.view().journal().to_vec()).unwrap_or_default();
    let first = Command::Look(Source::Series("cache.hit_ratio".to_owned()));
    assert!(looked.iter().any(|j| j.1 == first), "what is read is noted as looked at");
}

#[test]
fn an_expression_over_series_is_answered_as_the_query_line_does() {
    let (mut plain, written) = paged("live");
    let wanted = "requests.received / operations.started";
    let said = typed(&mut plain, &written, &format!("show {wanted}"));
    assert!(said.starts_with(&format!("{wanted}: 1.")) && said.contains("Highest second "), "{said}");
    assert_eq!(said, typed(&mut plain, &written, &format!("query {wanted}")));
    assert_eq!(done(&plain), []);
    let looked = plain.played().map(|p| p.view().journal().to_vec()).unwrap_or_default();
    assert!(looked.iter().any(|j| j.1 == Command::Look(Source::Query(wanted.to_owned()))), "{looked:?}");
    let said = typed(&mut plain, &written, "query requests.attempt.*");
    assert!(said.contains("requests.attempt.*:\n  1: "), "{said}");
    let said = typed(&mut plain, &written, "show avg_over(latency.p50, 1m)");
    assert!(said.contains("column 10: ") && said.contains("percentile"), "{said}");
    let said = typed(&mut plain, &written, &format!("pin {wanted}"));
    assert!(said.contains(&format!("Pinned as E-0001: {wanted}: ")), "{said}");
}

#[test]
fn a_guided_run_waits_for_answers_and_gives_hints() {
    let (mut plain, written) = paged("guided");
    let said = typed(&mut plain, &written, "stage");
    assert!(
        said.contains("Question 1: And in a minute?") && said.contains("Question 2: What is it?"),
        "{said}"
    );
    let said = typed(&mut plain, &written, "hint");
    assert!(said.contains("Hint: Look at the cache."), "{said}");
    let said = typed(&mut plain, &written, "answer 1 about the same --sure 90");
    assert!(said.contains("will be about the same at 10:0") && said.contains(", 90 % sure."), "{said}");
    let said = typed(&mut plain, &written, "stage");
    assert!(said.contains("Question 2: What is it?") && said.contains("`answer 2 NUMBER"), "{said}");
    let said = typed(&mut plain, &written, "answer 1 2");
    assert!(said.contains("No question `1` waits for an answer: 2 is open."), "{said}");
    let said = typed(&mut plain, &written, "answer 2 2");
    assert!(said.contains("Noted: \"") && said.contains("\", 70 % sure."), "{said}");
    let done = done(&plain);
    let [Command::Hint, Command::Predict { prediction, .. }, Command::Choose { .. }] = done.as_slice() else {
        panic!("{done:?}")
    };
    assert_eq!((prediction.expect, prediction.sure), (Expected::Direction(Direction::Same), 90));
}

#[test]
fn a_number_chooses_what_is_numbered_and_the_mode_is_told() {
    let (mut plain, written) = plain();
    let said = typed(&mut plain, &written, "list");
    assert!(said.contains("`play 1 live` as it would be"), "{said}");
    let said = typed(&mut plain, &written, "1 live");
    assert!(said.contains("live mode: everything is there from the page on"), "{said}");
    let said = typed(&mut plain, &written, "1");
    assert!(said.contains("`begin` starts the clock, and `menu`"), "{said}");
    let said = typed(&mut plain, &written, "menu\n\"1\"\nplay \"minimal\" \"lab\"");
    assert!(said.contains("lab mode: every lever works"), "{said}");
}

#[test]
fn the_way_to_the_next_news_waits_for_the_last_stages_questions() {
    let (mut plain, written) = paged("guided");
    let clock = |plain: &Plain| plain.played().map(|p| p.view().clock().to_string()).expect("a run");
    let said = typed(&mut plain, &written, "next");
    assert!(said.contains("The last stage has 2 open questions. `stage` reads"), "{said}");
    assert_eq!(clock(&plain), "10:03:00");
    let said = typed(&mut plain, &written, "answer 1 lower\nnext");
    assert!(said.contains("The last stage has an open question."), "{said}");
    typed(&mut plain, &written, "go 10s");
    assert_eq!(clock(&plain), "10:03:10", "a length of time is one's own decision");
    let said = typed(&mut plain, &written, "answer 1\nnext");
    assert!(!said.contains("The last stage"), "{said}");
}

#[test]
fn what_is_left_out_of_a_list_is_said() {
    let (mut plain, written) = paged("live");
    let logs = plain.played().map(|p| p.view().logs().len()).expect("a run");
    let said = typed(&mut plain, &written, "logs --last 3");
    assert!(said.contains(&format!("The last 3 of {logs} lines, the newest last")), "{said}");
    let said = typed(&mut plain, &written, "logs GET --last 3");
    assert!(said.contains("lines that fit, the newest last"), "{said}");
    assert!(
        typed(&mut plain, &written, "logs nonsense").contains(&format!("None of the {logs} lines fits."))
    );
    let said = typed(&mut plain, &written, "traces slowest --last 2");
    assert!(
        said.contains("traced operations, the slowest first; --last sets") && said.contains(" GET item/"),
        "{said}"
    );
}

#[test]
fn a_lever_has_what_else_can_be_done_with_it() {
    let (mut plain, written) = plain();
    let said = typed(&mut plain, &written, "play 1 lab\nbegin\nstep\ndo \"warm\" 100 \"10\"");
    assert!(said.contains("You: ") && said.contains("No prediction was made"), "{said}");
    let said = typed(&mut plain, &written, "do stop-the-warm-up --expect failing about the same");
    assert!(
        matches!(done(&plain).last(), Some(Command::Pull { action: Action::StopWarming(_), .. })),
        "{said}"
    );
}

/// The whole exercise in lines and by keys: the same commands, the same telemetry, the same marks.
#[test]
fn a_run_in_lines_is_the_run_by_keys() {
    let (mut plain, written) = paged("live");
    typed(
        &mut plain,
        &written,
        "ack
         severity sev2
         show requests.attempt.1
         do rate-limit 30 --expect failing lower --sure 70
         go 2m
         update Some cannot buy; we limit traffic. --failing 40%
         decline
         reply 1
         judge 1 holds
         end
         reflect 1 A spike.
         reflect 2 The cache.",
    );

    let mut app = playing(Mode::Live);
    shown(&mut app);
    until(&mut app, 180);
    press(&mut app, "a v Down Down Enter");
    press(&mut app, "m Enter Ctrl-u");
    type_text(&mut app, "30");
    press(&mut app, "Enter Right Right Right Right Enter Enter Enter");
    until(&mut app, 300);
    press(&mut app, "u");
    type_text(&mut app, "Some cannot buy; we limit traffic.");
    press(&mut app, "Enter");
    type_text(&mut app, "40");
    press(&mut app, "Enter");
    press(&mut app, "r Down Down Tab s");
    press(&mut app, "r Down Enter");
    press(&mut app, "7");
    shown(&mut app);
    press(&mut app, "A");
    press(&mut app, ":");
    type_text(&mut app, "end the");
    press(&mut app, "Enter Down Down Enter");
    for (question, answer) in ["A spike.", "The cache."].iter().enumerate() {
        app.answer_for_test(Command::Reflect { question, text: (*answer).to_owned() });
    }

    assert_eq!(done(&plain), journal(&app));
    let (lines, keys) = (plain.played().expect("a run").session(), app.play().expect("a run").session());
    assert_eq!(lines.digest(), keys.digest());
    let incident = lines.incident();
    let references = References::compute(incident, 1, 1.0).expect("plans that can be played");
    // What was looked at is told by the screens themselves; every other mark must be the same.
    let letters = |session| {
        let all = score(session, &references).letters();
        all.into_iter().filter(|l| l.0 != "Search" && l.0 != "Evidence").collect::<Vec<_>>()
    };
    assert_eq!(letters(lines), letters(keys));
}

#[test]
fn what_cannot_be_undone_is_asked_twice() {
    let file = include_str!("../../../tests/incidents/good/stuck.ron");
    let incident = load("stuck.ron", file).incident.expect("the fixture is a good incident");
    let (mut plain, written) = player(incident, 0.1);
    let said = typed(&mut plain, &written, "play 1 lab\nbegin\nstep\ndo flush");
    assert!(
        said.contains("Not done yet") && said.contains("Cannot be undone") && said.contains("--yes"),
        "{said}"
    );
    assert_eq!(done(&plain), []);
    typed(&mut plain, &written, "do flush --yes");
    assert!(matches!(done(&plain).as_slice(), [Command::Pull { action: Action::FlushCache(_), .. }]));
}
