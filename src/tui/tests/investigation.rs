//! The panes that are investigated with, the notebook, and the debrief.

use super::*;
use crate::game::SessionOptions;
use crate::game::command::{EvidenceId, Verdict};
use crate::incident::library;
use crate::report::Section;
use crate::tui::Kept;
use crate::tui::layer::{Layer as _, Scene};
use crate::tui::panes;
use crate::tui::play::Play;
use crate::tui::screens::debrief::DebriefScreen;
use crate::tui::testing::draw;

const LOGS: &str = "2";
const TRACES: &str = "3";
const TOPOLOGY: &str = "4";
const CHANGES: &str = "5";
const RUNBOOK: &str = "6";
const NOTEBOOK: &str = "7";

/// A run of the fixture at that second, with that pane open.
fn investigating(second: u64, pane: &str) -> App {
    let mut app = playing(Mode::Live);
    until(&mut app, second);
    press(&mut app, pane);
    shown(&mut app);
    app
}

fn pins(app: &App) -> Vec<(Source, String)> {
    let pin = |c| match c {
        Command::Pin { what, note } => Some((what, note)),
        _ => None,
    };
    journal(app).into_iter().filter_map(pin).collect()
}

#[test]
fn a_log_line_is_pinned_with_a_note_and_typed_letters_are_text() {
    let mut app = investigating(200, LOGS);
    let seen = shown(&mut app);
    assert!(seen.contains("following the newest") && seen.contains("access"), "{seen}");
    press(&mut app, "b");
    assert!(!app.moves(), "what is pinned is what was seen");
    type_text(&mut app, "b q 7");
    press(&mut app, "Enter");
    let pins = pins(&app);
    assert!(matches!(pins.as_slice(), [(Source::Log(_), note)] if note == "b q 7"), "{pins:?}");
}

#[test]
fn a_query_adds_a_panel_that_can_be_pinned_and_taken_away() {
    // From any pane the line is written on the dashboards.
    let mut app = investigating(200, "2 0");
    assert!(shown(&mut app).contains("A panel of your own"));
    type_text(&mut app, "requests.recieved / operations.started");
    press(&mut app, "Enter");
    let seen = shown(&mut app);
    assert!(seen.contains("column 1: no series is called") && seen.contains("did you mean"), "{seen}");
    press(&mut app, "Esc");
    press(&mut app, "n");
    type_text(&mut app, "requests.rec");
    assert!(shown(&mut app).contains("1 series"));
    press(&mut app, "Tab");
    type_text(&mut app, " / operations.started");
    press(&mut app, "Enter");
    let seen = shown(&mut app);
    assert!(seen.contains("requests.received / operations.started") && seen.contains("×"), "{seen}");
    press(&mut app, "b");
    let pins = pins(&app);
    let query = Source::Query("requests.received / operations.started".to_owned());
    assert!(matches!(pins.as_slice(), [(what, _)] if *what == query), "{pins:?}");
    until(&mut app, 280);
    shown(&mut app);
    let journal = app.play().map(|p| p.view().journal().to_vec()).unwrap_or_default();
    let looked = journal.iter().any(|(_, command)| *command == Command::Look(query.clone()));
    assert!(looked, "what is shown counts as looked at");
    press(&mut app, "X");
    let seen = shown(&mut app);
    assert!(!seen.contains("requests.received / operations.started"), "{seen}");
}

#[test]
fn a_few_letters_make_a_panel_of_the_series_that_they_find() {
    let mut app = investigating(200, "1");
    press(&mut app, "n");
    type_text(&mut app, "requests.rec");
    press(&mut app, "Enter b");
    assert_eq!(pins(&app)[0].0, Source::Series("requests.received".to_owned()), "as recorded, by its name");
}

#[test]
fn logs_are_filtered_by_words_and_streams() {
    let mut app = investigating(200, LOGS);
    press(&mut app, "/");
    type_text(&mut app, "failover finished");
    press(&mut app, "Enter");
    let seen = shown(&mut app);
    assert!(seen.contains("1 of ") && seen.contains("10:02:10"), "{seen}");
    assert!(!seen.contains("GET item"), "{seen}");
    press(&mut app, "Enter");
    assert!(shown(&mut app).contains("cluster status: healthy"));
    press(&mut app, "Esc Esc");
    assert!(shown(&mut app).contains("GET"));
    press(&mut app, "/");
    type_text(&mut app, "no such line");
    assert!(shown(&mut app).contains("No line fits"));
    press(&mut app, "Esc");
    assert!(shown(&mut app).contains("GET"), "Esc shows all again");
}

#[test]
fn logs_stay_where_they_are_read_until_the_end_is_asked_for() {
    let mut app = investigating(200, LOGS);
    press(&mut app, "k k k");
    assert!(shown(&mut app).contains("3 newer below"));
    until(&mut app, 203);
    let seen = shown(&mut app);
    assert!(!seen.contains("3 newer below") && seen.contains("newer below"), "{seen}");
    press(&mut app, "G");
    assert!(shown(&mut app).contains("following the newest"));
}

#[test]
fn an_operation_is_looked_at_closely_and_pinned() {
    let mut app = investigating(200, TRACES);
    press(&mut app, "Right");
    let seen = shown(&mut app);
    assert!(seen.contains("slowest") && seen.contains("attempt 1"), "{seen}");
    press(&mut app, "Enter j");
    let seen = shown(&mut app);
    assert!(seen.contains("Esc back to the list") && seen.contains("after the user did"), "{seen}");
    press(&mut app, "b Enter");
    assert!(matches!(pins(&app).as_slice(), [(Source::Trace(_), _)]));
    press(&mut app, "Esc");
    assert!(shown(&mut app).contains("Enter looks closer"));
}

#[test]
fn traces_are_filtered() {
    let mut app = investigating(200, TRACES);
    press(&mut app, "/");
    type_text(&mut app, "nothing like it");
    press(&mut app, "Enter");
    assert!(shown(&mut app).contains("No operation fits"));
    press(&mut app, "Esc");
    assert!(shown(&mut app).contains("attempt 1"));
}

#[test]
fn the_topology_names_every_part_and_pins_a_series() {
    let mut app = investigating(200, TOPOLOGY);
    for (width, height) in [(120, 36), (80, 24)] {
        let seen = screen(&mut app, width, height);
        for part in ["mobile", "web", " lb ", " api ", " cache ", " db ", "primary", "of 100", "hit ratio"] {
            assert!(seen.contains(part), "{part} at {width}×{height}\n{seen}");
        }
    }
    press(&mut app, "j j b Enter");
    assert_eq!(pins(&app)[0].0, Source::Series("requests.received".to_owned()));
}

#[test]
fn changes_runbook_and_notebook_as_they_look() {
    for (name, pane) in [("changes", CHANGES), ("runbook", RUNBOOK), ("notebook", NOTEBOOK)] {
        // Nothing has happened yet: the picture does not depend on the engine.
        let mut app = playing(Mode::Lab);
        press(&mut app, "Space");
        press(&mut app, pane);
        for (width, height) in [(120, 36), (80, 24)] {
            insta::assert_snapshot!(format!("{name}_{width}x{height}"), pictured(&mut app, width, height));
        }
    }
}

#[test]
fn changes_and_sections_are_pinned() {
    let mut app = investigating(200, CHANGES);
    press(&mut app, "b Enter");
    press(&mut app, RUNBOOK);
    press(&mut app, "b Enter");
    let pins: Vec<Source> = pins(&app).into_iter().map(|p| p.0).collect();
    assert_eq!(pins, [Source::Change(0), Source::Runbook(0)]);
}

#[test]
fn an_explanation_is_judged_with_evidence() {
    let mut app = investigating(200, CHANGES);
    press(&mut app, "b Enter");
    press(&mut app, NOTEBOOK);
    press(&mut app, "A");
    let seen = shown(&mut app);
    assert!(seen.contains("(•) it holds") && seen.contains("E-0001"), "{seen}");
    press(&mut app, "Enter Space Enter j R Ctrl-s");
    let verdicts: Vec<Command> =
        journal(&app).into_iter().filter(|c| matches!(c, Command::Judge { .. })).collect();
    let judge = |hypothesis: &str, verdict, evidence: &[u32]| Command::Judge {
        hypothesis: hypothesis.to_owned(),
        verdict,
        evidence: evidence.iter().map(|e| EvidenceId(*e)).collect(),
    };
    assert_eq!(verdicts, [judge("cold", Verdict::Accepted, &[1]), judge("spike", Verdict::Rejected, &[])]);
    let seen = shown(&mut app);
    assert!(seen.contains("ACCEPTED") && seen.contains("rests on E-0001"), "{seen}");
    press(&mut app, "O");
    assert!(!shown(&mut app).contains("REJECTED"));
}

#[test]
fn a_finding_is_written_and_kept() {
    let mut app = investigating(200, NOTEBOOK);
    press(&mut app, "f");
    type_text(&mut app, "Cold, and it stays so.");
    // The first part as trigger, the next field's first two as amplifiers.
    press(&mut app, "Enter Space Enter Space j Space Ctrl-s");
    let view = app.play().map(Play::view).expect("a run");
    let parts: Vec<String> = view.finding_choices().iter().map(|p| p.id.clone()).collect();
    let finding = view.finding();
    assert_eq!(finding.summary, "Cold, and it stays so.");
    assert_eq!(finding.trigger.as_deref(), Some(parts[0].as_str()));
    assert_eq!(finding.amplifiers, parts[..2]);
    let seen = shown(&mut app);
    assert!(seen.contains("finding 3 of 7 parts"), "{seen}");
    // Space takes the only choice back.
    press(&mut app, "f Enter Space Ctrl-s");
    assert_eq!(app.play().map(|p| p.view().finding().trigger.clone()), Some(None));
}

#[test]
fn space_keeps_what_moving_has_chosen_and_takes_it_back_when_pressed_again() {
    let mut app = investigating(200, NOTEBOOK);
    let trigger = |app: &App| app.play().map(|p| p.view().finding().trigger.clone()).expect("a run");
    let second = app.play().map(|p| p.view().finding_choices()[1].id.clone());
    press(&mut app, "f Tab j Space Ctrl-s");
    assert_eq!(trigger(&app), second);
    press(&mut app, "f Tab k j Space Space Ctrl-s");
    assert_eq!(trigger(&app), None);
}

#[test]
fn the_finding_is_written_on_top_of_what_is_looked_at() {
    let mut app = investigating(200, CHANGES);
    let before = shown(&mut app);
    press(&mut app, "f");
    assert!(shown(&mut app).contains("What holds it"));
    press(&mut app, "Esc");
    assert_eq!(shown(&mut app), before);
    // The notebook stays on its page too.
    press(&mut app, NOTEBOOK);
    press(&mut app, "f Esc R");
    assert!(matches!(journal(&app).last(), Some(Command::Judge { verdict: Verdict::Rejected, .. })));
}

#[test]
fn the_finding_is_written_to_a_file() {
    let app = investigating(200, NOTEBOOK);
    let written = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&written);
    let mut app = app.with_export(Arc::new(move |_: &Kept<'_>| {
        counted.fetch_add(1, Ordering::SeqCst);
        Ok("finding.json".to_owned())
    }));
    press(&mut app, "x");
    assert_eq!(written.load(Ordering::SeqCst), 1);
    assert!(shown(&mut app).contains("finding.json"));
}

/// A run of the fixture that is over, with its debrief on top.
fn debriefed() -> App {
    let mut app = playing(Mode::Live);
    until(&mut app, 200);
    finish(&mut app);
    app
}

fn finish(app: &mut App) {
    press(app, ":");
    type_text(app, "end the exercise");
    press(app, "Enter Right Right Enter");
}

/// A small run of a shipped incident in that mode.
fn shipped(mode: Mode) -> App {
    let shipped = library::shipped().into_iter().next().expect("there is an incident");
    let incident = load(&shipped.id, &shipped.text).incident.expect("it is a good one");
    let library = vec![Entry::new(Arc::new(incident))];
    let around = Surroundings::default();
    let theme = around.theme(Some("mono"), Some(Glyphs::Braille));
    let setup = Setup { seed: 1, scale: 0.02, speed: 8, calm: false };
    let mut app = App::new(library, theme, around, setup, Arc::new(|_: &Kept<'_>| Ok(String::new())));
    app.prepare(0, mode);
    press(&mut app, "Enter");
    app
}

/// The same, soon over, with its debrief on top.
fn shipped_and_debriefed() -> App {
    let mut app = shipped(Mode::Live);
    until(&mut app, 5);
    finish(&mut app);
    app
}

#[test]
fn what_cannot_be_taken_back_is_asked_twice() {
    let mut app = shipped(Mode::Lab);
    let flush = |app: &mut App| {
        press(app, ":");
        type_text(app, "flush ");
        press(app, "Enter s");
    };
    flush(&mut app);
    let seen = shown(&mut app);
    assert!(seen.contains("is thrown away") && seen.contains("Cannot be undone"), "{seen}");
    press(&mut app, "Enter");
    assert!(journal(&app).is_empty());
    flush(&mut app);
    press(&mut app, "Right Right Enter");
    assert!(matches!(journal(&app).as_slice(), [Command::Pull { prediction: None, .. }]));
}

#[test]
fn a_highlighted_part_is_part_of_the_finding_after_enter() {
    let mut app = investigating(200, NOTEBOOK);
    press(&mut app, "f Tab Enter j Enter Tab Tab j Ctrl-s");
    let view = app.play().map(Play::view).expect("a run");
    let parts: Vec<String> = view.finding_choices().iter().map(|p| p.id.clone()).collect();
    let finding = view.finding();
    assert_eq!(finding.trigger.as_deref(), Some(parts[0].as_str()));
    assert_eq!(finding.amplifiers, parts[1..2]);
    assert!(finding.contributing.is_empty());
    assert_eq!(finding.bottleneck.as_deref(), Some(parts[1].as_str()));
}

#[test]
fn letters_find_a_part_and_what_is_found_nowhere_chooses_nothing() {
    let mut app = investigating(200, NOTEBOOK);
    let trigger = |app: &App| {
        let view = app.play().map(Play::view).expect("a run");
        let of = |id: &String| view.finding_choices().iter().find(|p| p.id == *id).map(|p| p.text.clone());
        view.finding().trigger.as_ref().and_then(of)
    };
    press(&mut app, "f Enter");
    // Some of its letters are keys of dialogs; r and l begin words all the same.
    type_text(&mut app, "retr");
    let seen = shown(&mut app);
    assert!(seen.contains("(•) Retries") && seen.contains("Found by \"retr\""), "{seen}");
    press(&mut app, "Enter Ctrl-s");
    assert_eq!(trigger(&app).as_deref(), Some("Retries"));
    press(&mut app, "f Enter");
    type_text(&mut app, "lost");
    press(&mut app, "Enter Ctrl-s");
    assert_eq!(trigger(&app).as_deref(), Some("A node was lost"));
    // What stands nowhere leaves the choice as it was.
    press(&mut app, "f Enter");
    type_text(&mut app, "slow");
    let seen = shown(&mut app);
    assert!(seen.contains("None of these has \"slow\" in it."), "{seen}");
    press(&mut app, "Enter Esc f Enter Space Ctrl-s");
    assert_eq!(trigger(&app), None);
    press(&mut app, "f Enter");
    type_text(&mut app, "nothing like it");
    press(&mut app, "Enter");
    assert!(shown(&mut app).contains("None of these"), "it is said once more");
    press(&mut app, "Enter Ctrl-s");
    assert_eq!(trigger(&app), None);
}

#[test]
fn a_run_that_is_left_before_its_marks_are_there_is_kept_with_them_later() {
    let marked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&marked);
    let save = move |kept: &Kept<'_>| {
        counted.fetch_add(usize::from(!kept.marks.is_empty()), Ordering::SeqCst);
        Ok("a file".to_owned())
    };
    let mut app = started(app_that_keeps(MINIMAL, Arc::new(save)), Mode::Live);
    until(&mut app, 200);
    finish(&mut app);
    // The debrief is closed and the run is left, before anything can have been worked out.
    press(&mut app, "Esc q");
    assert!(app.play().is_none());
    while app.waits() {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(!app.marks_are_due());
    assert_eq!(marked.load(Ordering::SeqCst), 1);
}

#[test]
fn every_section_of_the_debrief_has_a_key() {
    let mut app = explained();
    let last = Section::ALL.len();
    for (key, section) in [("1", 1), ("9", 9), ("0", 10), ("g 1", 11), ("g 2", 12), ("g 3", 13), ("g 4", 14)]
    {
        press(&mut app, key);
        let seen = shown(&mut app);
        assert!(seen.contains(&format!("section {section} of {last} ")), "{key}: {seen}");
    }
    assert_eq!(last, 14, "further sections need keys");
    // Where the number is no key, the key stands beside the title.
    let seen = shown(&mut app);
    let row = seen.lines().find(|l| l.contains("11 Missed signals")).unwrap_or_default();
    assert!(row.chars().take(27).collect::<String>().contains("g 1"), "{seen}");
}

/// A run with a lever and a prediction that is over, with both questions of its debrief answered and all computed.
fn explained() -> App {
    let mut app = playing(Mode::Live);
    until(&mut app, 200);
    press(&mut app, "b m Enter");
    press(&mut app, "Ctrl-u");
    type_text(&mut app, "1");
    press(&mut app, "Enter j Enter Enter Enter");
    until(&mut app, 400);
    finish(&mut app);
    press(&mut app, "4 Enter");
    type_text(&mut app, "The cache.");
    press(&mut app, "Enter Enter");
    type_text(&mut app, "Flat users.");
    press(&mut app, "Enter");
    while app.waits() {
        std::thread::sleep(Duration::from_millis(20));
    }
    app
}

#[test]
fn sections_of_the_debrief_as_they_look() {
    let mut app = explained();
    press(&mut app, "1");
    for section in 1..=99 {
        for (width, height) in [(120, 36), (80, 24)] {
            let seen = pictured(&mut app, width, height);
            insta::assert_snapshot!(format!("debrief_{section}_{width}x{height}"), seen);
        }
        if shown(&mut app).contains(&format!("section {section} of {section} ")) {
            return;
        }
        press(&mut app, "Tab");
    }
    panic!("no last section");
}

#[test]
fn the_debrief_keeps_the_seniors_reading_until_both_questions_are_answered() {
    let mut app = debriefed();
    let seen = shown(&mut app);
    assert!(seen.contains("1 What happened") && seen.contains("page"), "{seen}");
    press(&mut app, "Tab Tab Tab Tab");
    assert!(shown(&mut app).contains("This opens when you have answered"));
    // Enter on a closed section goes to the questions.
    press(&mut app, "Enter Enter Enter");
    assert!(shown(&mut app).contains("A few words are enough"));
    type_text(&mut app, "The cache.");
    // The question without an answer is the next one.
    press(&mut app, "Enter");
    assert!(shown(&mut app).contains("1 of 2 answered"));
    press(&mut app, "Enter");
    type_text(&mut app, "Flat users.");
    press(&mut app, "Enter");
    let reflections: Vec<Command> =
        journal(&app).into_iter().filter(|c| matches!(c, Command::Reflect { .. })).collect();
    assert_eq!(reflections.len(), 2);
    press(&mut app, "Tab");
    assert!(shown(&mut app).contains("No stage asked you anything"));
    press(&mut app, "Tab");
    let seen = shown(&mut app);
    assert!(seen.contains("on your screen"), "{seen}");
    press(&mut app, "Tab");
    assert!(shown(&mut app).contains("and so back to 1"));
}

#[test]
fn the_footer_of_the_debrief_shows_the_keys_that_have_a_use_in_the_section() {
    let mut app = shipped_and_debriefed();
    let footer = |app: &mut App, key: &str| {
        press(app, key);
        shown(app).lines().last().unwrap_or_default().to_owned()
    };
    for (section, opens) in [("1", false), ("2", true), ("3", false), ("4", true), ("5", true)] {
        let seen = footer(&mut app, section);
        assert_eq!(seen.contains("Enter open"), opens, "{section}: {seen}");
        assert!(seen.contains("Tab next section") && seen.contains("Esc to the console"), "{seen}");
        assert!(!seen.contains("Space"), "{section}: {seen}");
    }
    press(&mut app, "4 Enter x Enter Enter x Enter");
    assert!(!footer(&mut app, "5").contains("Enter open"), "it is no longer locked");
    press(&mut app, "0 Tab Tab Tab");
    assert!(!footer(&mut app, "k").contains("Space"));
    press(&mut app, "Enter Space Enter");
    assert!(footer(&mut app, "k").contains("Space switch on"));
}

#[test]
fn follow_ups_are_chosen_in_the_debrief_and_no_more_than_three() {
    let mut app = shipped_and_debriefed();
    press(&mut app, "4 Enter x Enter Enter x Enter");
    press(&mut app, "0 Tab Tab Tab");
    assert!(shown(&mut app).contains("Which work should follow?"));
    press(&mut app, "Enter Space j Space j Space j Space");
    assert!(shown(&mut app).contains("no more than 3"));
    press(&mut app, "Enter");
    assert!(matches!(journal(&app).last(), Some(Command::FollowUps(names)) if names.len() == 3));
    assert!(shown(&mut app).contains("(your choice)"));
}

/// Draws until something is shown that another thread computes.
fn wait_for(app: &mut App, text: &str) {
    for _ in 0..600 {
        if shown(app).contains(text) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    panic!("{text:?} is not shown: {}", shown(app));
}

#[test]
fn the_run_is_played_again_with_another_decision_and_with_work_that_should_follow() {
    let mut app = shipped_and_debriefed();
    press(&mut app, "2");
    assert!(shown(&mut app).contains("you were paged"));
    let fork = |app: &mut App| {
        press(app, "Enter");
        assert!(shown(app).contains("What instead?"), "{}", shown(app));
        press(app, "Enter");
        assert!(shown(app).contains("Instead: "), "{}", shown(app));
        press(app, "5 0 0 Enter");
    };
    fork(&mut app);
    let before = journal(&app);
    wait_for(&mut app, "fork 1  page");
    assert_eq!(journal(&app), before, "a fork is another run");
    fork(&mut app);
    press(&mut app, "Esc");
    assert!(shown(&mut app).contains("Debrief:") && !shown(&mut app).contains("playing again"));
    assert!(!shown(&mut app).contains("fork 2"), "it was stopped");

    press(&mut app, "4 Enter x Enter Enter x Enter");
    press(&mut app, "0 Tab Tab Tab");
    press(&mut app, "Enter Space Enter");
    assert!(shown(&mut app).contains("Space switches work on"), "{}", shown(&mut app));
    press(&mut app, "Space");
    assert!(shown(&mut app).contains("[x]"));
    press(&mut app, "Enter");
    wait_for(&mut app, "nobody, with it");
    assert!(shown(&mut app).contains("Played again with"), "{}", shown(&mut app));
}

#[test]
fn the_console_can_be_read_again_after_the_debrief() {
    let mut app = debriefed();
    press(&mut app, "Esc 2");
    assert!(shown(&mut app).contains("[2] logs"));
    press(&mut app, "d");
    assert!(shown(&mut app).contains("1 What happened"));
    press(&mut app, "q");
    assert!(app.play().is_none(), "q leaves to the menu");
}

#[test]
fn every_pane_and_the_debrief_at_every_size() {
    let app = debriefed();
    let play = app.play().expect("a run");
    let view = play.view();
    let scene = Scene { play: Some(play), library: &[], held: false };
    let sizes = (1..12).flat_map(|w| (1..12).map(move |h| (w, h)));
    let larger = [(1, 40), (200, 1), (40, 12), (60, 18), (80, 23), (96, 30), (97, 8), (120, 35), (250, 80)];
    let mut debrief = DebriefScreen::default();
    for (width, height) in sizes.chain(larger) {
        for mut pane in panes::all() {
            for look in [panes::Look { focus: true, expanded: false }, panes::Look::default()] {
                draw(width, height, |canvas, area| pane.draw(canvas, area, &view, look));
            }
        }
        for _ in crate::report::Section::ALL {
            draw(width, height, |canvas, area| debrief.draw(canvas, area, &scene));
            debrief.act(Id::NextPane, &scene);
        }
    }
}

#[test]
fn a_bare_run_has_panes_too() {
    // Nothing was recorded: no log line, no trace, no sample.
    let session = SessionOptions { seed: 1, mode: Mode::Lab, scale: 1.0 };
    let file = include_str!("../../../tests/incidents/good/minimal.ron");
    let incident = load("minimal.ron", file).incident.expect("the fixture is a good incident");
    let play = Play::new(Arc::new(incident), session, 8, Arc::new(|_: &Kept<'_>| Ok(String::new())));
    for mut pane in panes::all() {
        let look = panes::Look { focus: true, expanded: false };
        let seen = draw(100, 30, |canvas, area| pane.draw(canvas, area, &play.view(), look));
        assert!(!seen.trim().is_empty(), "{}", pane.name());
        pane.pinned(&play.view());
        pane.copied(&play.view());
        for id in [Id::Up, Id::Down, Id::Bottom, Id::Open, Id::NextMatch, Id::Back] {
            pane.act(id, &play.view());
        }
    }
}
