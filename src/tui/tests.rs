//! The whole front end without a terminal: state, keys, state; and pictures of the screens as text.

mod investigation;
mod plain;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::actions::{Id, Key};
use super::app::{App, Setup};
use super::screens::library::Entry;
use super::testing::{look, text};
use super::theme::{Depth, Glyphs, Surroundings, Theme};
use crate::game::Mode;
use crate::game::command::{Command, Direction, Expected, Source};
use crate::incident::load;
use crate::incident::schema::{Action, Severity};
use crate::tui::{Kept, Save};
use crate::units::{Rate, SimTime};

const MINIMAL: &str = include_str!("../../tests/incidents/good/minimal.ron");

/// An application with one small incident in its menu, and how often a run was kept.
fn app_and_saves() -> (App, Arc<AtomicUsize>) {
    app_of(MINIMAL)
}

/// The same with an incident of this text.
fn app_of(file: &str) -> (App, Arc<AtomicUsize>) {
    let saves = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&saves);
    let save = move |_: &Kept<'_>| {
        counted.fetch_add(1, Ordering::SeqCst);
        Ok("a file".to_owned())
    };
    (app_that_keeps(file, Arc::new(save)), saves)
}

/// An application that keeps runs in that way.
fn app_that_keeps(file: &str, save: Save) -> App {
    let incident = load("minimal.ron", file).incident.expect("the fixture is a good incident");
    let library = vec![Entry::new(Arc::new(incident))];
    let around = Surroundings::default();
    let theme = Theme::named("default", Depth::True, Glyphs::Braille);
    let setup = Setup { seed: 1, scale: 1.0, speed: 8, calm: false };
    App::new(library, theme, around, setup, save)
}

fn app() -> App {
    app_and_saves().0
}

/// Presses keys, written as in the table and separated by spaces.
fn press(app: &mut App, keys: &str) {
    for name in keys.split(' ') {
        let key = Key::read(name).unwrap_or_else(|| panic!("`{name}` is not a key"));
        let modifiers = if key.ctrl { KeyModifiers::CONTROL } else { KeyModifiers::NONE };
        app.key(KeyEvent::new(key.code, modifiers));
    }
}

/// Types text.
fn type_text(app: &mut App, text: &str) {
    for c in text.chars() {
        app.key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE));
    }
}

/// What is on the screen.
fn screen(app: &mut App, width: u16, height: u16) -> String {
    let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
    app.draw(&mut buf);
    text(&buf)
}

/// What is on the screen and how it looks.
fn pictured(app: &mut App, width: u16, height: u16) -> String {
    let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
    app.draw(&mut buf);
    look(&buf)
}

fn shown(app: &mut App) -> String {
    screen(app, 120, 36)
}

/// A run in that mode with its clock started.
fn playing(mode: Mode) -> App {
    started(app(), mode)
}

fn started(mut app: App, mode: Mode) -> App {
    app.prepare(0, mode);
    press(&mut app, "Enter");
    app
}

/// Lets the clock go on, a second at a time, until that second or something stops it.
fn until(app: &mut App, second: u64) {
    while now(app) < SimTime::from_secs(second) {
        let before = now(app);
        press(app, ".");
        if now(app) == before {
            return;
        }
    }
}

fn now(app: &App) -> SimTime {
    app.play().map(|p| p.view().now()).unwrap_or_default()
}

/// What the player did, looks left out.
fn journal(app: &App) -> Vec<Command> {
    let journal = app.play().map(|p| p.view().journal().to_vec()).unwrap_or_default();
    journal.into_iter().map(|j| j.1).filter(|c| !matches!(c, Command::Look(_))).collect()
}

#[test]
fn a_list_that_does_not_fit_says_how_much_is_left_out() {
    let mut app = playing(Mode::Live);
    until(&mut app, 190);
    press(&mut app, "?");
    let all = screen(&mut app, 80, 24);
    assert!(all.contains(" more below ") && !all.contains(" more above "), "{all}");
    (0..12).for_each(|_| press(&mut app, "PageDown"));
    let all = screen(&mut app, 80, 24);
    assert!(all.contains(" more above ") && !all.contains(" more below "), "{all}");
}

#[test]
fn what_is_found_keeps_its_description() {
    let mut app = playing(Mode::Live);
    until(&mut app, 190);
    press(&mut app, "?");
    type_text(&mut app, "sever");
    let found = shown(&mut app);
    let row = found.lines().find(|line| line.contains(" severity ")).unwrap_or_default();
    assert!(row.contains("Declares how bad it is, SEV1 to SEV4."), "{found}");
}

#[test]
fn the_menu_is_read_anew_when_one_comes_back_to_it() {
    let played = |library: &mut [Entry]| library.iter_mut().for_each(|e| e.best = "PSM".to_owned());
    let mut app = app().with_standings(played);
    assert!(shown(&mut app).contains("not played yet"));
    press(&mut app, "Enter Enter Enter");
    until(&mut app, 190);
    app.answer_for_test(Command::End);
    press(&mut app, "q");
    let menu = shown(&mut app);
    assert!(menu.contains("best PSM") && menu.contains("Incidents"), "{menu}");
}

#[test]
fn from_the_menu_to_a_running_clock_in_three_keys() {
    let mut app = app();
    assert!(shown(&mut app).contains("Small"));
    press(&mut app, "Enter");
    assert!(shown(&mut app).contains("Guided"));
    press(&mut app, "Enter");
    assert!(shown(&mut app).contains("Your part"));
    assert!(!app.moves());
    press(&mut app, "Enter");
    assert!(app.moves());
    // The baseline is run through at once: the clock a player sees begins shortly before the page.
    let page = app.play().map(|p| p.session().page_at()).unwrap_or_default();
    for _ in 0..200 {
        app.advance(Duration::from_millis(50));
        if !app.play().is_some_and(|p| p.seeking()) {
            break;
        }
    }
    assert_eq!(now(&app), page - crate::units::SimSpan::from_secs(10));
    assert!(shown(&mut app).contains("▶ 8×"));
}

/// More incidents than fit: the list says so at its border, and each summary that is cut ends with an ellipsis.
#[test]
fn a_menu_that_does_not_fit_says_what_is_left_out() {
    let incidents = crate::incident::library::shipped();
    let library = incidents.iter().map(|shipped| {
        Entry::new(Arc::new(load(&shipped.id, &shipped.text).incident.expect("a good incident")))
    });
    let around = Surroundings::default();
    let theme = around.theme(Some("mono"), Some(Glyphs::Braille));
    let setup = Setup { seed: 1, scale: 1.0, speed: 8, calm: false };
    let save: crate::tui::Save = Arc::new(|_: &Kept<'_>| Ok(String::new()));
    let mut app = App::new(library.collect(), theme, around, setup, save);
    let seen = screen(&mut app, 80, 24);
    let hidden = incidents.len() - 4;
    assert!(seen.contains(&format!("{hidden} more below")) && !seen.contains("above"), "{seen}");
    assert!(seen.contains(" …") && seen.matches("not played yet").count() == 4, "{seen}");
    press(&mut app, "G");
    let seen = screen(&mut app, 80, 24);
    assert!(seen.contains(&format!("{hidden} more above")) && !seen.contains("more below"), "{seen}");
    assert!(!screen(&mut app, 120, 60).contains("more above"));
}

#[test]
fn wall_time_moves_the_clock_by_the_speed_and_a_pause_stops_it() {
    let mut app = playing(Mode::Lab);
    for _ in 0..4 {
        app.advance(Duration::from_millis(250));
    }
    // A slow machine may give some of it up; it never goes faster.
    assert!(now(&app) > SimTime::ZERO && now(&app) <= SimTime::from_secs(8));
    press(&mut app, "Space");
    let stopped = now(&app);
    app.advance(Duration::from_millis(250));
    assert_eq!(now(&app), stopped);
    assert!(!app.moves());
    assert!(shown(&mut app).contains("paused"));
    press(&mut app, ".");
    assert_eq!(now(&app), stopped + crate::units::SimSpan::from_secs(1));
}

#[test]
fn escape_never_leaves_and_q_asks_once() {
    let (mut app, saves) = app_and_saves();
    app.prepare(0, Mode::Live);
    press(&mut app, "Enter Esc Esc Esc");
    assert!(!app.wishes.leave);
    assert!(app.moves());
    press(&mut app, "q");
    assert!(shown(&mut app).contains("Leave the incident?"));
    assert!(!app.moves(), "the clock waits for the answer");
    press(&mut app, "Esc q q");
    assert!(app.wishes.leave);
    drop(app);
    assert_eq!(saves.load(Ordering::SeqCst), 1, "the run is kept when the game is left");
}

#[test]
fn going_back_to_the_menu_keeps_the_run() {
    let (mut app, saves) = app_and_saves();
    app.prepare(0, Mode::Live);
    press(&mut app, "Enter q Down Enter");
    assert!(app.play().is_none());
    assert_eq!(saves.load(Ordering::SeqCst), 1);
    assert!(shown(&mut app).contains("Incidents"));
}

#[test]
fn a_panic_keeps_the_run() {
    let (mut app, saves) = app_and_saves();
    app.prepare(0, Mode::Live);
    press(&mut app, "Enter");
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
        let _app = app;
        std::panic::resume_unwind(Box::new("a fault"));
    }));
    assert!(outcome.is_err());
    assert_eq!(saves.load(Ordering::SeqCst), 1);
}

#[test]
fn actions_say_why_they_cannot_be_done() {
    let mut app = playing(Mode::Live);
    press(&mut app, "m");
    assert!(shown(&mut app).contains("you have not been paged"));
    press(&mut app, "r");
    assert!(shown(&mut app).contains("Nobody waits for an answer"));
}

#[test]
fn a_stage_opens_its_questions_and_the_clock_waits() {
    let mut app = playing(Mode::Guided);
    until(&mut app, 181);
    let seen = shown(&mut app);
    assert!(seen.contains("Stage 1 of 1: First look"), "{seen}");
    assert!(seen.contains("What is it?"), "{seen}");
    assert!(!app.moves());
    // The first question is a prediction: back to normal, 90 % sure.
    press(&mut app, "Enter Right Right Right Enter Enter Right Right Enter");
    // The second is a choice.
    press(&mut app, "Enter Right Enter Enter");
    let journal = journal(&app);
    let Some(Command::Predict { ask, prediction }) = journal.first() else { panic!("{journal:?}") };
    assert_eq!((ask.as_str(), prediction.sure), ("later", 90));
    assert_eq!(prediction.expect, Expected::Direction(Direction::Same));
    assert_eq!(prediction.due, SimTime::from_secs(181 + 59));
    assert!(matches!(&journal[1], Command::Choose { option: 0, sure: 70, .. }), "{journal:?}");
    press(&mut app, "i");
    assert!(shown(&mut app).contains("Hint 1: Look at the cache."));
}

#[test]
fn only_the_last_of_several_dialogs_is_shown() {
    let mut app = playing(Mode::Guided);
    until(&mut app, 190);
    let stage = screen(&mut app, 80, 24);
    assert!(stage.contains("Stage 1 of 1: First look"), "{stage}");
    press(&mut app, "Enter");
    let question = screen(&mut app, 80, 24);
    assert!(!question.contains("Stage 1 of 1: First look"), "{question}");
    // That of the pane and its own.
    assert_eq!(question.matches('┗').count(), 2, "{question}");
    press(&mut app, "Esc");
    assert_eq!(screen(&mut app, 80, 24), stage);
}

#[test]
fn a_step_ends_the_run_up_to_the_page() {
    let mut app = playing(Mode::Live);
    assert!(shown(&mut app).contains("running up to the page"));
    press(&mut app, ".");
    let seen = shown(&mut app);
    assert!(seen.contains("paused") && !seen.contains("running up") && !app.moves(), "{seen}");
    press(&mut app, "Space");
    assert!(app.moves() && !shown(&mut app).contains("running up"));
}

#[test]
fn a_long_message_takes_more_rows() {
    let mut app = playing(Mode::Live);
    until(&mut app, 200);
    press(&mut app, "y");
    let copied = app.wishes.copy.clone().expect("something is copied");
    let message = format!("Copied: {copied}");
    assert!((79..200).contains(&message.len()), "{message}");
    let seen = screen(&mut app, 80, 24);
    let rows: Vec<&str> = seen.lines().skip(24 - message.len().div_ceil(78)).map(str::trim).collect();
    assert_eq!(rows.join(" "), message, "{seen}");
    // What is longer still ends with an ellipsis.
    let seen = screen(&mut app, 60, 18);
    let rows: Vec<&str> = seen.lines().rev().take(3).collect();
    assert!(message.len() < 170 || rows[0].ends_with('…'), "{seen}");
}

#[test]
fn a_stage_that_was_seen_and_left_does_not_come_back() {
    let file = include_str!("../../tests/incidents/good/minimal.ron");
    let second = r#"        (
            title: "Second look", opens: "10:05:00", text: "Look again.",
            asks: [Predict(id: "again", question: "And then?", series: "operations.failure_ratio", within: "1m")],
        ),
    ],
    hypotheses: ["#;
    let (mut app, _) = app_of(&file.replace("    ],\n    hypotheses: [", second));
    app.prepare(0, Mode::Guided);
    press(&mut app, "Enter");
    until(&mut app, 181);
    press(&mut app, "Esc");
    until(&mut app, 1_000);
    // At the second stage the clock waits for the answers of the first.
    press(&mut app, "s Enter Right Right Right Enter Enter Right Right Enter Enter Right Enter Enter");
    assert!(shown(&mut app).contains("And then?"));
    press(&mut app, "Esc");
    press(&mut app, ".");
    let seen = shown(&mut app);
    assert!(!seen.contains("And then?"), "it was seen and left\n{seen}");
}

#[test]
fn what_is_typed_in_a_pane_holds_a_guided_clock_and_has_the_keys() {
    for keys in ["0", "2 /"] {
        let mut app = playing(Mode::Guided);
        until(&mut app, 170);
        while !app.moves() {
            press(&mut app, "Space");
        }
        press(&mut app, keys);
        assert!(!app.moves(), "{keys}: the clock is held");
        let seen = shown(&mut app);
        assert!(!seen.contains("m mitigate"), "{keys}: keys that are text now\n{seen}");
        press(&mut app, "Esc");
        assert!(app.moves(), "{keys}: and goes on");
    }
}

#[test]
fn the_way_to_the_next_news_waits_for_the_last_stages_questions() {
    let mut app = playing(Mode::Guided);
    until(&mut app, 181);
    press(&mut app, "Esc w");
    let seen = screen(&mut app, 80, 24);
    let wanted = "The last stage has 2 open questions. s shows what is asked, Space goes on.";
    assert!(seen.contains(wanted), "{seen}");
    assert!(!app.play().is_some_and(|p| p.seeking() && !p.approaching()));
    let before = now(&app);
    press(&mut app, ".");
    let second = crate::units::SimSpan::from_secs(1);
    assert_eq!(now(&app), before + second, "a second at a time is one's own decision");
}

#[test]
fn nobody_helps_in_a_live_run_and_the_lab_has_no_stages() {
    let mut app = playing(Mode::Live);
    press(&mut app, "a");
    assert!(shown(&mut app).contains("you have not been paged"));
    until(&mut app, 181);
    let seen = shown(&mut app);
    let header = seen.lines().next().unwrap_or_default();
    assert!(!header.contains("stage") && !header.contains("hints"), "{header}");
    assert!(!seen.contains("First look:"), "{seen}");
    press(&mut app, "i");
    assert!(shown(&mut app).contains("Only a guided run has hints"));
    press(&mut app, "a");
    assert_eq!(journal(&app), [Command::Acknowledge]);
    let mut app = playing(Mode::Lab);
    until(&mut app, 181);
    press(&mut app, "s");
    assert!(shown(&mut app).contains("No stage is open"));
}

#[test]
fn a_value_filled_in_beforehand_is_replaced_by_what_is_typed() {
    let mut app = playing(Mode::Lab);
    press(&mut app, "m Enter");
    type_text(&mut app, "41");
    press(&mut app, "Backspace");
    type_text(&mut app, "5");
    press(&mut app, "Enter s");
    let journal = journal(&app);
    assert!(
        matches!(journal.as_slice(), [Command::Pull { action: Action::RateLimit(rate), .. }] if rate.0 == 45.0),
        "{journal:?}"
    );
}

#[test]
fn a_lever_is_pulled_with_a_prediction() {
    let mut app = playing(Mode::Live);
    until(&mut app, 181);
    press(&mut app, "m");
    assert!(shown(&mut app).contains("Mitigations"));
    press(&mut app, "Enter Ctrl-u");
    type_text(&mut app, "30");
    press(&mut app, "Enter Right Right Right Right Enter Enter Enter");
    let journal = journal(&app);
    let [Command::Pull { action, prediction: Some(prediction) }] = journal.as_slice() else {
        panic!("{journal:?}")
    };
    assert_eq!(*action, Action::RateLimit(Rate(30.0)));
    assert_eq!(prediction.expect, Expected::Direction(Direction::Better));
    assert_eq!((prediction.sure, prediction.due), (70, SimTime::from_secs(181 + 300)));
}

#[test]
fn a_lever_is_pulled_without_a_prediction_only_on_purpose() {
    let mut app = playing(Mode::Lab);
    press(&mut app, "m Enter Enter Enter Enter Enter");
    assert!(shown(&mut app).contains("Say what you expect"));
    assert!(journal(&app).is_empty());
    press(&mut app, "s");
    assert!(matches!(journal(&app).as_slice(), [Command::Pull { prediction: None, .. }]));
}

#[test]
fn a_bad_number_is_answered_with_what_a_good_one_is() {
    let mut app = playing(Mode::Lab);
    press(&mut app, "m Enter");
    type_text(&mut app, "x.");
    press(&mut app, "Tab s");
    assert!(shown(&mut app).contains("is not a number"));
    press(&mut app, "BackTab");
    type_text(&mut app, "s");
    assert!(shown(&mut app).contains("`s` was left out"), "letters are refused as they are typed");
    press(&mut app, "Tab");
    press(&mut app, "BackTab Ctrl-u Tab s");
    assert!(shown(&mut app).contains("A number is missing"));
}

#[test]
fn a_value_out_of_range_is_said_at_its_field_and_nothing_that_was_typed_is_lost() {
    let mut app = playing(Mode::Live);
    until(&mut app, 181);
    press(&mut app, "m Enter");
    type_text(&mut app, "90000");
    press(&mut app, "Enter Right Right Enter Enter Enter");
    let seen = shown(&mut app);
    assert!(seen.contains("1/s to 400/s is possible, not 90000"), "{seen}");
    let row = |needle: &str| seen.lines().position(|l| l.contains(needle)).expect(needle);
    assert_eq!(row("is possible"), row("[ 90000") + 1, "{seen}");
    assert!(seen.contains("(•) higher") && seen.contains("Esc cancel"), "{seen}");
    assert_eq!(journal(&app), []);
    // The field has the keys again.
    press(&mut app, "Ctrl-u");
    type_text(&mut app, "90");
    press(&mut app, "Ctrl-s");
    assert!(
        matches!(journal(&app).as_slice(), [Command::Pull { action: Action::RateLimit(rate), prediction: Some(_) }] if rate.0 == 90.0)
    );
    assert!(!shown(&mut app).contains("How sure"), "it closes once it is done");
}

#[test]
fn a_dialog_whose_command_is_refused_stays_and_says_why() {
    let mut app = playing(Mode::Live);
    until(&mut app, 301);
    press(&mut app, "r");
    let proposal = app.play().and_then(|p| p.view().feed().iter().find_map(|i| i.proposal.clone()));
    // Somebody else was quicker.
    let proposal = proposal.expect("there is one");
    app.answer_for_test(Command::Respond { proposal, accept: false, prediction: None });
    press(&mut app, "Left s");
    let seen = shown(&mut app);
    assert!(seen.contains("It is answered already: declined.") && seen.contains("proposes"), "{seen}");
    press(&mut app, "Esc");
    assert!(!shown(&mut app).contains("proposes "));
}

#[test]
fn the_keys_of_a_dialog_fit_into_it() {
    let mut app = playing(Mode::Live);
    until(&mut app, 301);
    press(&mut app, "r");
    for (width, height) in [(120, 36), (80, 24), (60, 18)] {
        let seen = screen(&mut app, width, height);
        for key in ["next field", "choose", "s apply without a prediction", "r next one", "Esc cancel"] {
            assert!(seen.contains(key), "{key} at {width}×{height}: {seen}");
        }
    }
}

#[test]
fn typed_text_is_text() {
    let mut app = playing(Mode::Live);
    until(&mut app, 181);
    press(&mut app, "u");
    type_text(&mut app, "q? :m sites fail");
    app.paste(" since\n10:02\u{1b}");
    press(&mut app, "Enter");
    type_text(&mut app, "40 %");
    press(&mut app, "Enter");
    assert!(!app.wishes.leave);
    let wanted = Command::Status { text: "q? :m sites fail since 10:02".to_owned(), failing: Some(0.4) };
    assert_eq!(journal(&app), [wanted]);
}

#[test]
fn a_paste_outside_a_field_does_nothing() {
    let mut app = playing(Mode::Live);
    app.paste("qqqq m : ?");
    assert!(!app.wishes.leave);
    assert!(app.moves());
    assert!(journal(&app).is_empty());
}

#[test]
fn a_severity_is_declared() {
    let mut app = playing(Mode::Live);
    until(&mut app, 181);
    press(&mut app, "a v Down Down Enter");
    assert_eq!(journal(&app), [Command::Acknowledge, Command::Declare(Severity::Sev2)]);
    assert!(shown(&mut app).contains("SEV2"));
}

#[test]
fn proposals_and_questions_are_answered_from_the_feed() {
    let mut app = playing(Mode::Live);
    until(&mut app, 301);
    assert!(shown(&mut app).contains("2 open"));
    // The newest open item is the proposal; r again shows the question.
    press(&mut app, "r");
    assert!(shown(&mut app).contains("proposes"));
    press(&mut app, "r");
    assert!(shown(&mut app).contains("Reply to"));
    press(&mut app, "Right Enter");
    assert!(matches!(journal(&app).last(), Some(Command::Reply { .. })));
    // What was said stands in the feed once, as what it answers only says that it was answered.
    let seen = shown(&mut app);
    let said: usize = ["Thanks, looking.", "Not ours."].iter().map(|text| seen.matches(text).count()).sum();
    assert!(said == 1 && seen.contains("→ answered"), "{seen}");
    press(&mut app, "r Left Enter s");
    assert!(matches!(journal(&app).last(), Some(Command::Respond { accept: false, prediction: None, .. })));
    assert!(!shown(&mut app).contains("open"));
}

#[test]
fn evidence_is_pinned_with_what_stood_beside_it() {
    let mut app = playing(Mode::Live);
    until(&mut app, 3);
    press(&mut app, "b");
    let journal = journal(&app);
    let [Command::Pin { what: Source::Series(name), note }] = journal.as_slice() else {
        panic!("{journal:?}")
    };
    assert_eq!(name, "requests.attempt.1");
    assert!(note.starts_with("beside requests.attempt.2"), "{note}");
    let seen = shown(&mut app);
    assert!(seen.contains("E-0001"), "{seen}");
}

#[test]
fn the_crosshair_reads_an_earlier_second() {
    let mut app = playing(Mode::Live);
    until(&mut app, 30);
    shown(&mut app);
    press(&mut app, "e");
    shown(&mut app);
    press(&mut app, "h h");
    let seen = shown(&mut app);
    assert!(seen.contains("10:00:27"), "{seen}");
    press(&mut app, "Esc");
    assert!(!shown(&mut app).contains("10:00:27"));
}

#[test]
fn what_is_on_the_screen_is_noted_once_a_minute() {
    let mut app = playing(Mode::Live);
    until(&mut app, 3);
    (0..5).for_each(|_| drop(shown(&mut app)));
    let looks = |app: &App| {
        let journal = app.play().map(|p| p.view().journal().to_vec()).unwrap_or_default();
        let first = Source::Series("requests.attempt.1".to_owned());
        journal.iter().filter(|j| j.1 == Command::Look(first.clone())).count()
    };
    assert_eq!(looks(&app), 1);
    until(&mut app, 62);
    shown(&mut app);
    assert_eq!(looks(&app), 2);
}

#[test]
fn a_screen_that_is_too_small_holds_the_clock() {
    let mut app = playing(Mode::Live);
    let seen = screen(&mut app, 40, 10);
    assert!(seen.contains("40 × 10"), "{seen}");
    assert!(!app.moves());
    screen(&mut app, 80, 24);
    assert!(app.moves());
}

#[test]
fn the_palette_finds_actions_and_levers() {
    let mut app = playing(Mode::Lab);
    press(&mut app, ":");
    type_text(&mut app, "ratelim");
    press(&mut app, "Enter");
    assert!(shown(&mut app).contains("Rate limit"));
    assert!(shown(&mut app).contains("How sure"));
    press(&mut app, "Esc Ctrl-p");
    type_text(&mut app, "paus");
    press(&mut app, "Enter");
    assert!(!app.moves(), "the palette pauses");
}

#[test]
fn the_mouse_does_what_keys_do() {
    let mut app = playing(Mode::Live);
    let seen = shown(&mut app);
    let at = |needle: &str| {
        let row = seen.lines().position(|l| l.contains(needle)).expect(needle);
        let line = seen.lines().nth(row).unwrap_or_default();
        let column = line.find(needle).map(|b| line[..b].chars().count()).unwrap_or_default();
        (column as u16, row as u16)
    };
    let click = |app: &mut App, (column, row): (u16, u16)| {
        let kind = MouseEventKind::Down(MouseButton::Left);
        app.mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE });
    };
    click(&mut app, at("pause"));
    assert!(shown(&mut app).contains("paused"));
    click(&mut app, at("evidence"));
    assert!(shown(&mut app).contains("] evidence"));
    let inside = at("Quiet so far");
    app.mouse(MouseEvent {
        kind: MouseEventKind::ScrollDown,
        column: inside.0,
        row: inside.1,
        modifiers: KeyModifiers::NONE,
    });
    assert!(shown(&mut app).contains("] feed"));
}

#[test]
fn a_run_ends_and_says_where_it_is_kept() {
    let (mut app, saves) = app_and_saves();
    app.prepare(0, Mode::Live);
    press(&mut app, "Enter");
    until(&mut app, 10_000);
    assert!(shown(&mut app).contains("Debrief"));
    assert!(saves.load(Ordering::SeqCst) > 0);
    press(&mut app, "q");
    assert!(shown(&mut app).contains("Incidents"), "an exercise that is over is left without a question");
}

/// Every screen by name, as it stands after some keys.
fn screens() -> Vec<(&'static str, App)> {
    let at_start = |keys: &str| {
        let mut app = playing(Mode::Lab);
        shown(&mut app);
        press(&mut app, keys);
        app
    };
    let mut menu = app();
    let mut mode = app();
    press(&mut mode, "Enter");
    let mut briefing = app();
    briefing.prepare(0, Mode::Guided);
    let mut stage = playing(Mode::Guided);
    until(&mut stage, 181);
    let mut question = playing(Mode::Guided);
    until(&mut question, 181);
    press(&mut question, "Enter");
    let paged = |keys: &str| {
        let mut app = playing(Mode::Live);
        until(&mut app, 200);
        shown(&mut app);
        press(&mut app, keys);
        app
    };
    shown(&mut menu);
    vec![
        ("menu", menu),
        ("mode", mode),
        ("briefing", briefing),
        ("console", at_start("Space")),
        ("expanded", at_start("Space e")),
        ("levers", at_start("Space m")),
        ("lever", at_start("Space m Enter")),
        ("warm_up", at_start("Space m G Enter")),
        ("help", at_start("Space ?")),
        ("palette", at_start("Space :")),
        ("severity", at_start("Space v")),
        ("status", at_start("Space u")),
        ("quit", at_start("Space q")),
        ("stage", stage),
        ("question", question),
        ("page", paged("Space")),
        ("crosshair", paged("e h h")),
        ("two_panes", paged("| 4")),
        ("logs", paged("2 / w a r n Enter")),
        ("traces", paged("3 Right")),
        ("topology", paged("4")),
        ("feed", paged("b 8")),
        ("evidence", paged("b 9")),
        ("finding", paged("b f")),
        ("query", paged("0 d b")),
    ]
}

#[test]
fn every_screen_as_it_looks() {
    for (name, mut app) in screens() {
        for (width, height) in [(120, 36), (80, 24)] {
            insta::assert_snapshot!(format!("{name}_{width}x{height}"), pictured(&mut app, width, height));
        }
    }
}

#[test]
fn every_screen_at_every_size() {
    const SIZES: [(u16, u16); 20] = [
        (1, 1),
        (1, 50),
        (200, 1),
        (2, 2),
        (10, 5),
        (40, 12),
        (59, 18),
        (60, 17),
        (60, 18),
        (61, 19),
        (79, 23),
        (80, 24),
        (80, 18),
        (99, 30),
        (100, 30),
        (120, 18),
        (120, 36),
        (60, 60),
        (200, 60),
        (300, 100),
    ];
    for (name, mut app) in screens() {
        for (width, height) in SIZES {
            let seen = screen(&mut app, width, height);
            assert!(!seen.trim().is_empty() || width * height < 60, "{name} at {width}×{height}");
        }
        app.perform(Id::NextGlyphs);
        app.perform(Id::NextGlyphs);
        for (width, height) in [(80, 24), (120, 36)] {
            assert!(screen(&mut app, width, height).is_ascii(), "{name} in ASCII");
        }
    }
}

#[test]
fn a_window_of_earlier_time_is_looked_at_and_left_again() {
    let mut app = playing(Mode::Live);
    until(&mut app, 150);
    press(&mut app, "+ + +");
    assert!(shown(&mut app).contains("last 1 min"));
    press(&mut app, "H");
    let seen = shown(&mut app);
    assert!(seen.contains("1 min up to 10:02:00, L later"), "{seen}");
    press(&mut app, "H H H H H");
    assert!(shown(&mut app).contains("1 min up to 10:01:00"), "no further than the first minute");
    press(&mut app, "L L L L L");
    assert!(shown(&mut app).contains("last 1 min"));
}

#[test]
fn charts_are_looked_at_in_other_ways() {
    let mut app = playing(Mode::Live);
    until(&mut app, 150);
    press(&mut app, "e o");
    assert!(shown(&mut app).contains("log"));
    press(&mut app, "o c");
    assert!(shown(&mut app).contains("5 min earlier"));
    press(&mut app, "c c c c");
    assert!(!shown(&mut app).contains("min earlier"));
    press(&mut app, "x");
    let seen = shown(&mut app);
    assert!(seen.contains("● 1 ") && seen.contains("· 2 ") && seen.contains("· 3 "), "{seen}");
    press(&mut app, "x x x");
    assert!(shown(&mut app).contains("▲ 2 "));
}

#[test]
fn a_panel_of_ones_own_is_added_and_taken_away() {
    let mut app = playing(Mode::Live);
    until(&mut app, 30);
    press(&mut app, "n");
    type_text(&mut app, "nosuchthing");
    press(&mut app, "Enter");
    assert!(shown(&mut app).contains("no series is called `nosuchthing`"));
    press(&mut app, "Ctrl-u");
    type_text(&mut app, "cache.hit_r");
    assert!(shown(&mut app).contains("cache.hit_ratio"));
    press(&mut app, "Tab");
    type_text(&mut app, ", db.cpu.*");
    press(&mut app, "Enter");
    let seen = shown(&mut app);
    assert!(seen.contains(" Own ") && seen.contains("cache.hit_ratio, db.cpu.*"), "{seen}");
    press(&mut app, "b");
    assert!(
        matches!(journal(&app).last(), Some(Command::Pin { what: Source::Query(text), .. }) if text == "cache.hit_ratio, db.cpu.*")
    );
    press(&mut app, "X");
    assert!(!shown(&mut app).contains(" Own "));
    press(&mut app, "X");
    assert!(shown(&mut app).contains("Only panels of your own"));
}

#[test]
fn two_panes_stand_beside_each_other() {
    let mut app = playing(Mode::Live);
    until(&mut app, 30);
    press(&mut app, "|");
    for (width, height) in [(200, 60), (120, 36), (80, 24)] {
        let seen = screen(&mut app, width, height);
        assert!(seen.contains("Requests") && seen.contains("following the newest"), "{width}: {seen}");
    }
    // A digit puts another pane where the keys are; the first stays.
    press(&mut app, "5");
    let seen = shown(&mut app);
    assert!(
        seen.contains("Requests") && seen.contains("api 2") && !seen.contains("following the newest"),
        "{seen}"
    );
    press(&mut app, "|");
    let seen = shown(&mut app);
    assert!(!seen.contains("Requests ") && seen.contains("api 2"), "the one with the keys stays: {seen}");
}

#[test]
fn every_action_is_found_in_the_help() {
    let mut app = playing(Mode::Live);
    for action in super::actions::ACTIONS {
        if action.help.is_empty() || action.context == super::actions::Context::Film {
            continue;
        }
        press(&mut app, "?");
        type_text(&mut app, action.title);
        let seen = shown(&mut app);
        assert!(seen.contains(&format!(" {} ", action.title)), "{}: {seen}", action.title);
        press(&mut app, "Esc");
    }
}
