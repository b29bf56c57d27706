//! Sessions: what happens by itself, what a player may do and what is refused, journal and replay, marks, debrief.

use std::sync::Arc;

use pagerdrill::game::command::{
    Command, Direction, EvidenceId, Expected, Finding, Prediction, Source, Verdict,
};
use pagerdrill::game::{
    Argument, FeedKind, Mode, ReplayError, RunFile, Session, SessionOptions, action_text, action_with, holds,
    play_plan, replay,
};
use pagerdrill::incident::schema::{Action, Knob, Lever, Setting, Severity};
use pagerdrill::incident::{Incident, load};
use pagerdrill::report::{self, Extent, Section};
use pagerdrill::score::{Dimension, Grade, References, Score, Seen, debrief, score};
use pagerdrill::telemetry::Series;
use pagerdrill::units::{Rate, Ratio, SECOND, SimSpan, SimTime, TimeOfDay, Unit};
use proptest::prelude::*;

fn incident() -> Arc<Incident> {
    let text = include_str!("incidents/good/stuck.ron");
    Arc::new(load("stuck.ron", text).incident.expect("the fixture loads"))
}

fn session(mode: Mode) -> Session {
    Session::new(incident(), SessionOptions { mode, ..SessionOptions::default() })
}

fn at(session: &Session, clock: &str) -> SimTime {
    session.incident().at(clock.parse::<TimeOfDay>().expect("a time"))
}

/// Goes to a time of day, as far as the session lets us.
fn go(session: &mut Session, clock: &str) {
    session.advance(at(session, clock));
}

fn retries_off(client: &str) -> Action {
    Action::ClientRetries { client: client.to_owned(), attempts: 1 }
}

fn pull(action: Action) -> Command {
    Command::Pull { action, prediction: None }
}

fn expects(session: &Session, series: &str, direction: Direction, sure: u8, seconds: u64) -> Prediction {
    Prediction {
        series: series.to_owned(),
        expect: Expected::Direction(direction),
        sure,
        due: SimTime(session.now().0 + seconds * SECOND),
    }
}

fn choose(ask: &str, option: usize) -> Command {
    Command::Choose { ask: ask.to_owned(), option, sure: 90 }
}

fn look(series: &str) -> Command {
    Command::Look(Source::Series(series.to_owned()))
}

fn pin(series: &str) -> Command {
    Command::Pin { what: Source::Series(series.to_owned()), note: String::new() }
}

// ---------------------------------------------------------------------------------------- what happens by itself

#[test]
fn a_page_a_message_and_an_alert_come_at_their_time_with_numbers() {
    let mut s = session(Mode::Live);
    go(&mut s, "10:02:59");
    let early = |i: &pagerdrill::game::FeedItem| matches!(i.kind, FeedKind::Change | FeedKind::Alert);
    assert!(s.view().feed().iter().all(early), "nobody says anything before the page");
    go(&mut s, "10:06:00");
    let feed = s.view().feed();
    let of = |kind| feed.iter().filter(move |i| i.kind == kind).collect::<Vec<_>>();
    assert_eq!(of(FeedKind::Page).len(), 1);
    assert_eq!(of(FeedKind::Page)[0].at, s.page_at());
    assert!(of(FeedKind::Page)[0].text.contains('%'), "{:?}", of(FeedKind::Page));
    assert_eq!(of(FeedKind::Alert).len(), 1, "an alert fires once");
    assert!(of(FeedKind::Alert)[0].at >= at(&s, "10:02:30"));
    assert!(of(FeedKind::Message)[0].text.starts_with("CPU is 100 %"));
    assert_eq!(of(FeedKind::Proposal)[0].proposal.as_deref(), Some("more"));
    let changes: Vec<&str> = s.view().changes().map(|(_, c)| c.what.as_str()).collect();
    assert_eq!(changes, ["api 2", "cache: another node takes over"]);
    assert!(s.view().budget().burn > 10.0 && s.view().budget().left < 1.0);
}

#[test]
fn changes_are_not_shown_before_they_are_made() {
    let s = session(Mode::Lab);
    assert_eq!(s.view().changes().count(), 1);
    assert!(s.view().follow_ups().is_empty());
}

#[test]
fn a_guided_run_waits_for_answers_and_goes_on_after_them() {
    let mut s = session(Mode::Guided);
    go(&mut s, "10:05:00");
    let stage = s.view().stage().expect("the first stage");
    assert_eq!((stage.number, stage.of, stage.open_asks.len(), stage.gate), (1, 2, 2, true));
    assert_eq!(s.view().waiting(), None);
    go(&mut s, "10:20:00");
    assert_eq!(s.clock().to_string(), "10:08:00", "it stops where the second stage would open");
    assert!(s.view().waiting().is_some_and(|w| w.contains("2 open questions")));
    let prediction = expects(&s, "operations.failure_ratio", Direction::Same, 70, 1);
    s.submit(Command::Predict { ask: "later".to_owned(), prediction }).expect("answered");
    assert_eq!(s.view().stage().map(|v| v.number), Some(1));
    s.submit(choose("what", 0)).expect("answered");
    assert_eq!(s.view().stage().map(|v| v.number), Some(2));
    assert_eq!(s.view().waiting(), None);
    go(&mut s, "10:20:00");
    assert_eq!(s.clock().to_string(), "10:20:00");
    let forecast = &s.view().predictions()[0];
    assert_eq!(forecast.prediction.due, at(&s, "10:09:00"), "the question says when it is settled");
    let brier = |o: pagerdrill::game::Outcome| (o.brier - if o.right { 0.09 } else { 0.49 }).abs() < 1e-9;
    assert!(forecast.outcome.is_some_and(brier), "{forecast:?}");
    let told = s.view().feed().iter().find(|i| i.text.starts_with("Prediction settled")).expect("an answer");
    assert!(
        told.text
            .starts_with("Prediction settled: you expected Failing to be about the same, 70 % sure. It was "),
        "{}",
        told.text
    );
    assert!(told.text.contains("within a tenth"), "{}", told.text);
}

#[test]
fn a_live_run_waits_for_nobody_and_hints_are_for_guided_runs() {
    let mut s = session(Mode::Live);
    go(&mut s, "10:20:00");
    assert_eq!(s.clock().to_string(), "10:20:00");
    assert!(s.submit(Command::Hint).is_err());
    let mut s = session(Mode::Guided);
    assert!(s.submit(Command::Hint).is_err(), "no stage is open");
    go(&mut s, "10:04:00");
    s.submit(Command::Hint).expect("a hint");
    s.submit(Command::Hint).expect("another");
    assert!(s.submit(Command::Hint).is_err(), "there are two");
    assert_eq!(s.view().stage().map(|v| (v.hints_shown.len(), v.hints_left)), Some((2, 0)));
}

// ------------------------------------------------------------------------------------------- what a player may do

/// Refusals name what was asked for, why it is not done, and what to do instead; and they change nothing.
fn refused(s: &mut Session, command: Command, why: &str) {
    let journal = s.journal().len();
    let error = s.submit(command.clone()).expect_err(&format!("{command:?} should be refused")).to_string();
    assert!(error.contains(why), "{command:?}: {error}");
    assert_eq!(s.journal().len(), journal);
}

#[test]
fn what_cannot_be_done_is_refused_with_the_reason() {
    let mut s = session(Mode::Live);
    go(&mut s, "10:00:00");
    refused(&mut s, pull(Action::NoRateLimit), "not been paged");
    refused(&mut s, Command::Acknowledge, "not been paged");
    refused(&mut s, Command::Pin { what: Source::Change(1), note: String::new() }, "not on any screen");
    go(&mut s, "10:05:00");
    refused(&mut s, pull(Action::RollingRestart { service: "api".to_owned(), batch: 1 }), "not offer");
    refused(&mut s, pull(retries_off("fax")), "not offer");
    refused(&mut s, pull(Action::RateLimit(Rate(0.0))), "can be 1 to");
    refused(&mut s, pull(Action::RateLimit(Rate(f64::NAN))), "can be 1 to");
    refused(&mut s, pull(Action::Scale { service: "api".to_owned(), instances: 0 }), "can be 1 to 100");
    let warm = Action::WarmCache { cache: "cache".to_owned(), keys: 1_000_000, rate: Rate(5.0) };
    refused(&mut s, pull(warm), "Keys can be");
    refused(
        &mut s,
        Command::Respond { proposal: "more".to_owned(), accept: true, prediction: None },
        "Nobody",
    );
    refused(&mut s, Command::Reply { message: 9, reply: 0 }, "no such message");
    refused(&mut s, Command::Reply { message: 0, reply: 9 }, "2 replies");
    refused(&mut s, choose("what", 7), "2 readings");
    refused(&mut s, choose("later", 0), "prediction");
    refused(&mut s, choose("nothing", 0), "No open stage");
    for (series, sure, seconds, why) in
        [("no.such", 70, 60, "No such series"), ("db.cpu", 40, 60, "50 to 100"), ("db.cpu", 70, 0, "past")]
    {
        let prediction = Some(expects(&s, series, Direction::Better, sure, seconds));
        refused(&mut s, Command::Pull { action: retries_off("web"), prediction }, why);
    }
    refused(
        &mut s,
        Command::Pin { what: Source::Pane("logs".to_owned()), note: String::new() },
        "whole pane",
    );
    refused(&mut s, Command::Pin { what: Source::Log(usize::MAX), note: String::new() }, "not on any screen");
    let cites = |ids: Vec<EvidenceId>| Command::Judge {
        hypothesis: "spike".to_owned(),
        verdict: Verdict::Rejected,
        evidence: ids,
    };
    refused(&mut s, cites(vec![EvidenceId(1)]), "E-0001 has not been pinned");
    let finding = Finding { trigger: Some("moon".to_owned()), ..Finding::default() };
    refused(&mut s, Command::Find(finding), "none of the parts");
    refused(&mut s, Command::Status { text: " ".to_owned(), failing: None }, "empty");
    refused(&mut s, Command::Status { text: "x".to_owned(), failing: Some(7.0) }, "between 0 and 100");
    refused(&mut s, Command::FollowUps(vec![]), "not over");
    s.submit(Command::Acknowledge).expect("once");
    refused(&mut s, Command::Acknowledge, "already");
    s.submit(Command::Reply { message: 0, reply: 0 }).expect("once");
    refused(&mut s, Command::Reply { message: 0, reply: 1 }, "already");
    go(&mut s, "10:07:00");
    let respond = |accept| Command::Respond { proposal: "more".to_owned(), accept, prediction: None };
    s.submit(respond(false)).expect("once");
    refused(&mut s, respond(true), "already");
    s.submit(Command::End).expect("it ends");
    refused(&mut s, pull(Action::NoRateLimit), "over");
    refused(&mut s, Command::End, "over");
    refused(&mut s, Command::FollowUps(vec!["moon".to_owned()]), "not among them");
    refused(&mut s, Command::Reflect { question: 2, text: String::new() }, "two questions");
    refused(&mut s, Command::Reflect { question: 0, text: "  ".to_owned() }, "empty");
}

#[test]
fn after_the_two_questions_the_finding_and_the_verdicts_stand() {
    let mut s = session(Mode::Live);
    go(&mut s, "10:05:00");
    s.submit(Command::End).expect("it ends");
    let judge =
        Command::Judge { hypothesis: "spike".to_owned(), verdict: Verdict::Rejected, evidence: Vec::new() };
    let answer = |question| Command::Reflect { question, text: "Thought so.".to_owned() };
    s.submit(answer(1)).expect("in the debrief");
    s.submit(judge.clone()).expect("one question is open");
    s.submit(Command::Find(Finding::default())).expect("one question is open");
    s.submit(answer(0)).expect("in the debrief");
    refused(&mut s, judge.clone(), "the cause has been told");
    refused(&mut s, Command::Find(Finding::default()), "the cause has been told");
    refused(&mut s, Command::Reflect { question: 0, text: String::new() }, "empty");
    refused(&mut s, judge, "the cause has been told");
    s.submit(answer(0)).expect("an answer may be written again");
    s.submit(Command::FollowUps(vec!["budget".to_owned()])).expect("once");
    refused(&mut s, Command::FollowUps(vec!["posters".to_owned()]), "chosen already");
    assert_eq!(s.view().chosen_follow_ups(), Some(&["budget".to_owned()][..]));
    replay(&s.run_file(), incident()).expect("it replays");
}

#[test]
fn in_the_lab_levers_work_before_the_page() {
    let mut s = session(Mode::Lab);
    go(&mut s, "10:00:00");
    s.submit(pull(Action::RateLimit(Rate(50.0)))).expect("free play");
    go(&mut s, "10:01:30");
    assert!(s.view().series().get("requests.rejected").and_then(|r| r.last()).is_some_and(|v| v > 5.0));
    assert!(s.view().levers().iter().any(|l| l.now == "limit 50/s" && l.also.len() == 1));
}

#[test]
fn evidence_keeps_what_was_shown_and_what_it_was_ten_minutes_before() {
    let mut s = session(Mode::Live);
    go(&mut s, "10:10:00");
    s.submit(pin("operations.failure_ratio")).expect("pinned");
    s.submit(Command::Pin { what: Source::Change(1), note: "late".to_owned() }).expect("pinned");
    let all = s.view().evidence();
    assert_eq!(all[0].id.to_string(), "E-0001");
    assert!(all[0].showed.ends_with("0 % ten minutes before"), "{}", all[0].showed);
    assert_eq!(all[1].showed, "10:02:00 failover: cache: another node takes over");
    let showed = all[0].showed.clone();
    go(&mut s, "10:20:00");
    assert_eq!(s.view().evidence()[0].showed, showed);
}

#[test]
fn the_parts_of_a_finding_tell_nothing_by_their_order() {
    let s = session(Mode::Live);
    let view = s.view();
    let ids: Vec<&str> = view.finding_choices().iter().map(|p| p.id.as_str()).collect();
    assert_eq!(ids.len(), 7);
    assert_eq!(ids, s.view().finding_choices().iter().map(|p| p.id.as_str()).collect::<Vec<_>>());
    assert_ne!(ids[..2], ["node", "database"]);
}

#[test]
fn every_lever_says_what_it_takes_and_how_to_undo_it() {
    let s = session(Mode::Live);
    let levers = s.view().levers();
    assert_eq!(levers.len(), s.incident().file().levers.len());
    for lever in &levers {
        for text in [&lever.title, &lever.now, &lever.takes, &lever.undo, &lever.effect] {
            assert!(!text.is_empty(), "{lever:?}");
        }
    }
    let text = |l: &pagerdrill::game::LeverView| {
        format!("{}: {}\n  {}\n  {}\n  {}\n", l.title, l.now, l.takes, l.undo, l.effect)
    };
    insta::assert_snapshot!(levers.iter().map(text).collect::<String>());
    let mobile = levers.iter().find(|l| l.title.contains("mobile")).expect("a lever");
    assert!(mobile.takes.contains("60 s"), "{}", mobile.takes);
}

/// A system with every part, a small part of it: settings are the same at any size.
fn with_settings() -> Session {
    let incident = load("calls.ron", include_str!("incidents/good/calls.ron")).incident.expect("a good file");
    Session::new(
        Arc::new(incident),
        SessionOptions { mode: Mode::Live, scale: 0.2, ..SessionOptions::default() },
    )
}

/// What a setting's lever shows as its present value.
fn shown(session: &Session, knob: &Knob) -> String {
    let levers = session.view().levers();
    levers.into_iter().find(|l| l.lever == Lever::Set(knob.clone())).expect("the lever is offered").now
}

#[test]
fn a_setting_shows_what_it_was_last_set_to_by_whomever() {
    let mut s = with_settings();
    let call = Knob::CallTimeout("edge".to_owned(), "stock.reserve".to_owned());
    let (stale, rate) = (Knob::ServeStale("stock".to_owned()), Knob::OriginRate("stock".to_owned()));
    let (workers, route) = (Knob::Workers("edge".to_owned()), Knob::Route("canary".to_owned()));
    go(&mut s, "10:02:00");
    assert_eq!(shown(&s, &call), "800 ms");
    assert_eq!(shown(&s, &stale), "on");
    assert_eq!(shown(&s, &rate), "50/s");
    assert_eq!(shown(&s, &workers), "50");
    assert_eq!(shown(&s, &route), "0 %");
    // Somebody else has changed it by then.
    go(&mut s, "10:03:00");
    assert_eq!(shown(&s, &call), "250 ms");
    let set = |knob: &Knob, setting| pull(Action::Set(knob.clone(), setting));
    for (knob, setting, now) in [
        (&call, Setting::Span(SimSpan::from_millis(1_500)), "1.5 s"),
        (&call, Setting::Span(SimSpan::from_millis(800)), "800 ms"),
        (&stale, Setting::Off, "off"),
        (&rate, Setting::Off, "off"),
        (&rate, Setting::Rate(Rate(25.0)), "25/s"),
        (&workers, Setting::Number(80.0), "80"),
        (&route, Setting::Share(Ratio(0.5)), "50.0 %"),
    ] {
        s.submit(set(knob, setting)).expect("it can be set");
        assert_eq!(shown(&s, knob), now);
    }
    refused(&mut s, set(&rate, Setting::On), "does not take such a value");
    refused(&mut s, set(&workers, Setting::Number(2.5)), "whole number");
    refused(&mut s, set(&workers, Setting::Number(0.0)), "can be 1 to");
    refused(&mut s, set(&workers, Setting::Number(f64::NAN)), "whole number");
    refused(&mut s, set(&route, Setting::Share(Ratio(1.5))), "can be 0 % to 100 %");
    refused(&mut s, set(&Knob::Deadline("edge".to_owned()), Setting::Off), "not offer");
    go(&mut s, "10:04:00");
}

#[test]
fn a_setting_is_a_lever_with_its_own_argument() {
    let s = with_settings();
    let levers = s.view().levers();
    assert_eq!(levers.len(), s.incident().file().levers.len());
    let text = |l: &pagerdrill::game::LeverView| {
        let also: String = l.also.iter().map(|(title, _)| format!("  also: {title}\n")).collect();
        format!("{}: {}\n  {}\n  {}\n  {}\n{also}", l.title, l.now, l.takes, l.undo, l.effect)
    };
    let set = levers.iter().filter(|l| matches!(l.lever, Lever::Set(_) | Lever::PoolSize { .. }));
    insta::assert_snapshot!(set.map(text).collect::<String>());
    for lever in &levers {
        // Whatever a dialog offers to start from can be done.
        let action = match lever.argument {
            Argument::None => action_with(&lever.lever, 0.0, 0.0),
            Argument::Switch { on } => action_with(&lever.lever, if on { 0.0 } else { 1.0 }, 0.0),
            Argument::Number { min, max, suggested, .. } => {
                assert!((min..=max).contains(&suggested), "{lever:?}");
                action_with(&lever.lever, suggested, 0.0)
            }
            Argument::WarmUp { suggested_keys, suggested_rate, .. } => {
                action_with(&lever.lever, f64::from(suggested_keys), suggested_rate)
            }
        };
        assert_eq!(action.lever(), lever.lever);
        assert!(!action_text(&action).is_empty());
        let mut s = with_settings();
        go(&mut s, "10:03:00");
        s.submit(pull(action)).expect("what is suggested can be done");
        for (_, also) in &lever.also {
            s.submit(pull(also.clone())).expect("and so can what is offered beside it");
        }
    }
}

// -------------------------------------------------------------------------------------------------- predictions

#[test]
fn directions_are_right_when_they_are_true() {
    let series = |unit, more_is_worse, values: Vec<f64>| Series {
        name: "x".to_owned(),
        unit,
        what: String::new(),
        more_is_worse,
        values,
        merged: None,
    };
    let failing = series(Unit::Ratio, Some(true), vec![0.4]);
    let hits = series(Unit::Ratio, Some(false), vec![0.97]);
    let rate = series(Unit::PerSecond, None, vec![11_000.0]);
    use Direction::{Better, MuchWorse, Recovered, Same, Worse};
    for (s, before, healthy, after, right) in [
        (&failing, 0.35, 0.0, 0.52, vec![MuchWorse, Worse]),
        (&failing, 0.35, 0.0, 0.39, vec![Worse]),
        // An untouched system wanders as far as this.
        (&failing, 0.40, 0.0, 0.435, vec![Same]),
        (&failing, 0.40, 0.0, 0.365, vec![Same]),
        (&failing, 0.40, 0.0, 0.355, vec![Better]),
        (&failing, 0.05, 0.0, 0.068, vec![Same]),
        (&failing, 0.05, 0.0, 0.075, vec![MuchWorse, Worse]),
        (&failing, 0.35, 0.0, 0.355, vec![Same]),
        (&failing, 0.35, 0.0, 0.10, vec![Better]),
        (&failing, 0.35, 0.0, 0.001, vec![Better, Recovered]),
        (&failing, 0.001, 0.0, 0.002, vec![Same, Recovered]),
        (&hits, 0.12, 0.97, 0.08, vec![MuchWorse, Worse]),
        (&hits, 0.12, 0.97, 0.95, vec![Better, Recovered]),
        (&rate, 11_000.0, 4_000.0, 4_100.0, vec![Better, Recovered]),
        (&rate, 11_000.0, 4_000.0, 12_000.0, vec![Same]),
        (&rate, 11_000.0, 4_000.0, 13_000.0, vec![Worse]),
        (&rate, 11_000.0, 4_000.0, 14_000.0, vec![MuchWorse, Worse]),
        (&rate, 0.0, 0.0, 0.0, vec![Same, Recovered]),
    ] {
        for direction in [MuchWorse, Worse, Same, Better, Recovered] {
            let held = holds(Expected::Direction(direction), s, before, healthy, after);
            assert_eq!(held, right.contains(&direction), "{before} -> {after}: {direction:?}");
        }
    }
    for (s, value, after, right) in [
        (&failing, 0.01, 0.03, true),
        (&failing, 0.01, 0.04, false),
        (&failing, 0.5, 0.58, true),
        (&rate, 4_500.0, 5_300.0, true),
        (&rate, 4_500.0, 5_500.0, false),
    ] {
        assert_eq!(holds(Expected::Value(value), s, 0.0, 0.0, after), right, "{value} {after}");
    }
}

// -------------------------------------------------------------------------------------------- journal and replay

fn a_command() -> impl Strategy<Value = Command> {
    prop_oneof![
        (1u32..5).prop_map(|attempts| pull(Action::ClientRetries { client: "web".to_owned(), attempts })),
        (20u32..400).prop_map(|r| pull(Action::RateLimit(Rate(f64::from(r))))),
        (1u32..50).prop_map(|instances| pull(Action::Scale { service: "api".to_owned(), instances })),
        Just(pull(Action::FlushCache("cache".to_owned()))),
        Just(Command::Respond { proposal: "more".to_owned(), accept: true, prediction: None }),
        Just(choose("what", 0)),
        Just(pin("cache.hit_ratio")),
        Just(Command::Acknowledge),
        Just(Command::Declare(Severity::Sev2)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]

    /// However the way is split, the same commands at the same instants give the same run.
    #[test]
    fn chunking_changes_nothing(
        mut commands in prop::collection::vec((60_000u64..540_000, a_command()), 0..8),
        chunks in prop::collection::vec(1u64..40_000, 1..20),
    ) {
        commands.sort_by_key(|c| c.0);
        let end = SimTime::from_secs(600);
        let whole = |mode| {
            let mut s = session(mode);
            for (ms, command) in &commands {
                s.advance(SimTime(ms * 1_000_000));
                let _ = s.submit(command.clone());
            }
            s.advance(end);
            s
        };
        let split = |mode| {
            let mut s = session(mode);
            let mut chunk = chunks.iter().cycle();
            let mut step = |s: &mut Session, until: SimTime| {
                while s.now() < until {
                    let before = s.now();
                    let next = SimTime(before.0 + chunk.next().copied().unwrap_or(1) * 1_000_000);
                    s.advance(next.min(until));
                    if s.now() == before {
                        break;
                    }
                }
            };
            for (ms, command) in &commands {
                step(&mut s, SimTime(ms * 1_000_000));
                let _ = s.submit(command.clone());
            }
            step(&mut s, end);
            s
        };
        for mode in [Mode::Lab, Mode::Guided] {
            let (a, b) = (whole(mode), split(mode));
            prop_assert_eq!(a.digest(), b.digest());
            prop_assert_eq!(a.now(), b.now());
            prop_assert_eq!(a.journal(), b.journal());
            prop_assert_eq!(a.view().feed(), b.view().feed());
            prop_assert_eq!(a.view().evidence(), b.view().evidence());
            let again = replay(&a.run_file(), incident()).expect("it replays");
            prop_assert_eq!(again.digest(), a.digest());
            prop_assert_eq!(again.view().feed(), a.view().feed());
        }
    }
}

#[test]
fn a_run_file_reads_back_and_replays() {
    let s = good_run();
    let text = s.run_file().to_text();
    let run = RunFile::from_text(&text).expect("it reads back");
    assert_eq!(run, s.run_file());
    let again = replay(&run, incident()).expect("it replays");
    assert_eq!(again.digest(), s.digest());
    assert_eq!(again.view().feed(), s.view().feed());
    assert_eq!(again.view().predictions(), s.view().predictions());
    assert_eq!(again.view().evidence(), s.view().evidence());
}

#[test]
fn a_bad_run_file_is_refused_with_a_clear_message() {
    let s = {
        let mut s = session(Mode::Live);
        go(&mut s, "10:04:00");
        s.submit(Command::Acknowledge).expect("acknowledged");
        s
    };
    let text = s.run_file().to_text();
    for (bad, why) in [
        (String::new(), "not a run file"),
        ("Run(format: 1)".to_owned(), "not a run file"),
        (text.replace("format: 1", "format: 2"), "has format 2"),
        (text.replace("seed", "sed"), "not a run file"),
        (text.replace("Acknowledge", "Explode"), "not a run file"),
    ] {
        let error = RunFile::from_text(&bad).expect_err("it is bad").to_string();
        assert!(error.contains(why), "{error}");
    }
    let run = s.run_file();
    let error = |change: fn(&mut RunFile)| {
        let mut run = run.clone();
        change(&mut run);
        replay(&run, incident()).err().expect("it is refused")
    };
    assert!(matches!(error(|r| r.engine += 1), ReplayError::EngineChanged { .. }));
    assert!(matches!(error(|r| r.hash = "00".to_owned()), ReplayError::IncidentChanged { .. }));
    assert!(matches!(error(|r| r.incident = "other".to_owned()), ReplayError::OtherIncident { .. }));
    assert!(matches!(error(|r| r.scale = f64::NAN), ReplayError::Impossible(_)));
    assert!(matches!(error(|r| r.scale = 1e9), ReplayError::Impossible(_)));
    let twice = |r: &mut RunFile| r.journal.push(r.journal[0].clone());
    assert!(matches!(error(twice), ReplayError::Refused { entry: 2, .. }));
    let back = |r: &mut RunFile| r.journal.push((SimTime::ZERO, Command::End));
    assert!(matches!(error(back), ReplayError::Refused { entry: 2, .. }));
}

// ---------------------------------------------------------------------------------------------------------- marks

/// Somebody who does it well.
fn good_run() -> Session {
    let mut s = session(Mode::Guided);
    go(&mut s, "10:04:30");
    let do_ = |s: &mut Session, command: Command| {
        s.submit(command.clone()).unwrap_or_else(|e| panic!("{command:?}: {e}"));
    };
    do_(&mut s, Command::Acknowledge);
    do_(&mut s, Command::Declare(Severity::Sev2));
    do_(&mut s, Command::Reply { message: 0, reply: 0 });
    for series in ["requests.attempt.1", "requests.attempt.2"] {
        do_(&mut s, look(series));
        do_(&mut s, pin(series));
    }
    do_(&mut s, Command::Pin { what: Source::Change(0), note: "two hours old".to_owned() });
    for (name, verdict, id) in
        [("retries", Verdict::Accepted, 2), ("spike", Verdict::Rejected, 1), ("deploy", Verdict::Rejected, 3)]
    {
        let hypothesis = name.to_owned();
        do_(&mut s, Command::Judge { hypothesis, verdict, evidence: vec![EvidenceId(id)] });
    }
    let failing =
        s.view().series().get("operations.failure_ratio").and_then(|f| f.mean(360..390)).expect("recorded");
    do_(&mut s, Command::Status { text: "Many fail.".to_owned(), failing: Some(failing) });
    do_(&mut s, choose("what", 0));
    let prediction = expects(&s, "operations.failure_ratio", Direction::Same, 60, 60);
    do_(&mut s, Command::Predict { ask: "later".to_owned(), prediction });
    let prediction = Some(expects(&s, "requests.received", Direction::Better, 95, 240));
    do_(&mut s, Command::Pull { action: retries_off("web"), prediction });
    let prediction = Some(expects(&s, "requests.received", Direction::Better, 95, 240));
    do_(&mut s, Command::Pull { action: retries_off("mobile"), prediction });
    let prediction = Some(expects(&s, "operations.failure_ratio", Direction::Recovered, 80, 1_200));
    do_(&mut s, Command::Pull { action: Action::RateLimit(Rate(120.0)), prediction });
    go(&mut s, "10:06:30");
    do_(&mut s, look("requests.received"));
    do_(&mut s, Command::Respond { proposal: "more".to_owned(), accept: false, prediction: None });
    go(&mut s, "10:30:00");
    assert!(s.is_over());
    let finding = Finding {
        summary: "Retries.".to_owned(),
        trigger: Some("node".to_owned()),
        amplifiers: vec!["client-retries".to_owned(), "query-retries".to_owned()],
        sustaining: "Misses, time-outs, misses.".to_owned(),
        contributing: vec!["fill-on-success".to_owned()],
        bottleneck: Some("database".to_owned()),
        evidence: vec![EvidenceId(2)],
    };
    do_(&mut s, Command::Find(finding));
    do_(&mut s, Command::FollowUps(vec!["budget".to_owned()]));
    s
}

fn marked(s: &Session) -> (References, Score) {
    let options = s.options();
    let references = References::compute(&incident(), options.seed, options.scale)
        .expect("the plans can be played")
        .with_own(s);
    let score = score(s, &references);
    (references, score)
}

fn grade(score: &Score, dimension: Dimension) -> Grade {
    score.mark(dimension).expect("marked").grade
}

#[test]
fn a_good_run_performs_in_every_dimension_and_its_debrief_says_so() {
    let s = good_run();
    let (references, score) = marked(&s);
    for mark in &score.dimensions {
        assert_eq!(mark.grade, Grade::P, "{mark:#?}");
        assert!(!mark.rule.is_empty() && !mark.facts.is_empty());
    }
    assert_eq!(score.dimensions.len(), Dimension::ALL.len());
    let d = debrief(&s, &references, &score);
    assert!(d.missed.is_empty(), "{:?}", d.missed);
    assert!(d.went_well.len() >= 10);
    assert!(
        d.predictions.len() > 1 && d.predictions.is_sorted_by_key(|p| p.from_to_s.0),
        "as they were made"
    );
    assert_eq!(d.harm.you.len(), d.harm.none.len());
    let seen: Vec<Seen> = d.reading[0].looks_at.iter().map(|e| e.seen).collect();
    use Seen::{LookedAt, NotLookedAt, NotVisible};
    // cache.fills is on no dashboard; timeouts are logged and nobody opened the logs.
    assert_eq!(seen, [NotLookedAt, NotLookedAt, NotVisible, NotLookedAt, LookedAt]);
    assert!(d.reading[0].looks_at[0].showed.ends_with("/s"));
    assert_eq!(d.trap.as_ref().map(|t| t.taken), Some(false));
    let quality = score.mark(Dimension::ActionQuality).expect("marked");
    assert!(quality.facts[0].contains("you said what to expect, it can be taken back"), "{quality:#?}");
    assert!(d.went_well.iter().any(|w| w.contains("you declined \"api to ")), "{:#?}", d.went_well);
    assert!(d.why_it_held[0].series.starts_with("Share of the cache look-ups"), "{:?}", d.why_it_held[0]);
    assert!(d.why_it_held[0].healthy.ends_with('%'));
    for width in [0, 60, 100, 300] {
        let text = report::text(&d, width, Extent::Whole);
        for part in
            ["Marks", "What you pinned", "The trap, played again", "Load without users.", "To discuss"]
        {
            assert!(text.contains(part), "{text}");
        }
    }
    let markdown = report::markdown(&d, Extent::Whole);
    assert!(markdown.starts_with("# Stuck: debrief\n"), "{markdown}");
    let json: serde_json::Value = serde_json::from_str(&report::json(&d)).expect("JSON");
    assert_eq!(json["finding"]["trigger"], "node");
    assert_eq!(json["evidence"][1]["id"], "E-0002");
    assert_eq!(json["schema"], 3);
    assert_eq!(json["score"]["dimensions"][0]["grade"], "P");
}

#[test]
fn a_finding_is_told_to_other_programs_with_what_was_ruled_out() {
    let s = good_run();
    let told: serde_json::Value = serde_json::from_str(&report::finding_json(&s.view())).expect("JSON");
    assert_eq!((told["schema"].as_u64(), told["summary"].as_str()), (Some(1), Some("Retries.")));
    assert_eq!(told["effect"], "Misses, time-outs, misses.");
    assert_eq!(told["evidence_cell_ids"][0], "E-0002");
    let trigger = told["trigger"]["text"].as_str().expect("a text");
    assert!(told["root_cause"].as_str().is_some_and(|cause| cause.starts_with(trigger)), "{told}");
    let rejected: Vec<&str> =
        told["rejected"].as_array().expect("a list").iter().filter_map(|h| h["id"].as_str()).collect();
    assert_eq!(rejected, ["spike", "deploy"]);
    assert_eq!(told["rejected"][0]["evidence_cell_ids"][0], "E-0001");
}

#[test]
fn doing_nothing_is_unable_wherever_something_was_asked() {
    let mut s = session(Mode::Live);
    s.advance(SimTime::NEVER);
    let (references, score) = marked(&s);
    for dimension in Dimension::ALL {
        let wanted = match dimension {
            Dimension::ActionQuality | Dimension::FollowUps => Grade::NotAsked,
            _ => Grade::U,
        };
        assert_eq!(grade(&score, dimension), wanted, "{:#?}", score.mark(dimension));
    }
    let d = debrief(&s, &references, &score);
    assert_eq!(d.missed.len(), 3);
}

#[test]
fn the_trap_hurts_and_careless_levers_are_marked_as_such() {
    let mut s = session(Mode::Live);
    go(&mut s, "10:06:30");
    s.submit(Command::Respond { proposal: "more".to_owned(), accept: true, prediction: None })
        .expect("pulled");
    s.submit(Command::Choose { ask: "what".to_owned(), option: 1, sure: 100 }).expect("answered");
    s.submit(pull(Action::FlushCache("cache".to_owned()))).expect("pulled");
    s.submit(Command::Status { text: "All fine.".to_owned(), failing: Some(0.0) }).expect("sent");
    s.advance(SimTime::NEVER);
    s.submit(Command::FollowUps(vec!["posters".to_owned()])).expect("chosen");
    let (references, score) = marked(&s);
    for dimension in Dimension::ALL {
        assert_eq!(grade(&score, dimension), Grade::U, "{:#?}", score.mark(dimension));
    }
    let facts = &score.mark(Dimension::Stabilise).expect("marked").facts;
    assert!(facts.iter().any(|f| f.contains("hurt")), "{facts:?}");
    assert!(facts.iter().all(|f| f.contains("In re-runs")), "{facts:?}");
    assert!(references.trap.as_ref().is_some_and(|t| t.share() > references.none.share()));
    assert!(debrief(&s, &references, &score).trap.is_some_and(|t| t.taken));
}

#[test]
fn a_trap_that_was_accepted_with_care_is_not_named_among_what_went_well() {
    let mut s = session(Mode::Live);
    go(&mut s, "10:06:30");
    s.submit(look("operations.failure_ratio")).expect("looked at");
    let prediction = Some(expects(&s, "operations.failure_ratio", Direction::Better, 60, 240));
    s.submit(Command::Respond { proposal: "more".to_owned(), accept: true, prediction }).expect("pulled");
    s.advance(SimTime::NEVER);
    let (references, score) = marked(&s);
    assert_eq!(
        grade(&score, Dimension::ActionQuality),
        Grade::P,
        "the decision is judged, not what came of it"
    );
    let d = debrief(&s, &references, &score);
    assert!(d.went_well.iter().all(|w| !w.contains("instances")), "{:#?}", d.went_well);
    assert!(d.trap.is_some_and(|t| t.taken));
}

#[test]
fn the_same_run_is_marked_the_same_and_a_run_that_was_ended_early_is_played_out() {
    let mut s = session(Mode::Live);
    go(&mut s, "10:05:00");
    s.submit(pull(retries_off("web"))).expect("pulled");
    s.submit(pull(retries_off("mobile"))).expect("pulled");
    s.submit(pull(Action::RateLimit(Rate(90.0)))).expect("pulled");
    go(&mut s, "10:08:00");
    s.submit(Command::End).expect("ended");
    let (references, first) = marked(&s);
    assert_eq!(marked(&s).1, first);
    let own = references.own.as_ref().expect("computed");
    assert_eq!(own.without.len(), 3);
    assert_eq!(own.played_out.per_second.len(), references.none.per_second.len());
    assert_eq!(grade(&first, Dimension::UserHarm), Grade::P, "{:#?}", first.mark(Dimension::UserHarm));
    let d = debrief(&s, &references, &first);
    assert_eq!(d.harm.totals.len(), 4);
    assert!(d.reading[0].looks_at.iter().all(|l| !l.showed.contains("ended")));
    assert_eq!(d.trap.map(|t| t.taken), Some(false));
    let mut s = session(Mode::Live);
    go(&mut s, "10:05:00");
    s.submit(pull(Action::Scale { service: "api".to_owned(), instances: 3 })).expect("pulled");
    let other = debrief(&s, &references, &first);
    assert_eq!(other.trap.map(|t| t.taken), Some(true), "the same lever set otherwise was not left alone");
}

#[test]
fn a_lever_that_was_pulled_twice_is_left_out_with_its_repeat() {
    let limit = || pull(Action::RateLimit(Rate(90.0)));
    let effects = |repeats: &[Command]| {
        let mut s = session(Mode::Live);
        go(&mut s, "10:05:00");
        for client in ["web", "mobile"] {
            s.submit(pull(retries_off(client))).expect("pulled");
        }
        s.submit(limit()).expect("pulled");
        go(&mut s, "10:06:00");
        for repeat in repeats {
            s.submit(repeat.clone()).expect("pulled");
        }
        s.advance(SimTime::NEVER);
        let own = marked(&s).0.own.expect("computed");
        own.without.iter().map(|harm| harm.total()).collect::<Vec<f64>>()
    };
    let (once, twice) = (effects(&[]), effects(&[limit()]));
    assert_eq!(once[2], twice[2], "the repeat is left out with it");
    // What was set otherwise in between is a decision of its own.
    let back = effects(&[pull(Action::NoRateLimit), limit()]);
    assert_ne!(once[2], back[2]);
}

#[test]
fn a_run_that_was_ended_early_is_told_as_far_as_it_came() {
    let mut s = session(Mode::Guided);
    go(&mut s, "10:03:30");
    let prediction = Some(expects(&s, "operations.failure_ratio", Direction::Better, 90, 240));
    s.submit(Command::Pull { action: retries_off("web"), prediction }).expect("pulled");
    go(&mut s, "10:03:50");
    s.submit(Command::End).expect("ended");
    let (references, score) = marked(&s);
    let d = debrief(&s, &references, &score);
    let early = d.ended_early.as_ref().expect("it was");
    assert_eq!((early.clock.as_str(), early.clock_end.as_str()), ("10:03:50", "10:30:00"));
    assert_eq!(early.not_yet, ["1 stage", "1 message", "1 proposal"]);
    assert_eq!(early.not_judged, ["your prediction of Failing for 10:07:30"]);
    assert!(!d.recovered);
    assert!(d.outcome.starts_with("In its last minute ") && d.outcome.contains("Played on"), "{}", d.outcome);
    assert_eq!(
        d.predictions[0].story().split_once("; ").expect("two parts").1,
        "the run was ended at 10:03:50, and it was due at 10:07:30"
    );
    let worst = d.why_it_held[0].windows[1];
    assert!(worst.0 < worst.1 && worst.1 <= s.series().seconds(), "of what was recorded: {worst:?}");
    let last = d.timeline.last().expect("it is told");
    assert_eq!((last.clock.as_str(), last.text.as_str()), ("10:03:50", "Ended the run."));
    let said = score.mark(Dimension::Predictions).expect("marked");
    assert_eq!(said.grade, Grade::NotAsked, "what was not settled is no miss: {said:?}");
    let played_on =
        "You ended the run at 10:03:50; from there it was played on to 10:30:00 with nobody at it.";
    for dimension in [Dimension::UserHarm, Dimension::Recovery] {
        let mark = score.mark(dimension).expect("marked");
        assert!(mark.facts.iter().any(|f| f == played_on), "{mark:?}");
    }
    let whole = report::text(&d, 300, Extent::Whole);
    let rests = "Your run had ended by then. The reading rests on: ";
    assert!(!d.reading[0].reached && whole.contains(rests) && !whole.contains("in your run; you"), "{whole}");
    let text = report::text(&d, 100, Extent::BeforeTheAnswer);
    assert!(text.contains("You ended the run at 10:03:50, before its clock did at 10:30:00."), "{text}");
    assert!(!text.contains("Recovered") && !text.contains("no data"), "{text}");
}

#[test]
fn a_run_that_was_ended_early_and_well_is_a_recovery_and_a_few_quiet_seconds_are_none() {
    let well = |end: &str| {
        let mut s = session(Mode::Live);
        go(&mut s, "10:05:00");
        for action in [retries_off("web"), retries_off("mobile"), Action::RateLimit(Rate(90.0))] {
            s.submit(pull(action)).expect("pulled");
        }
        go(&mut s, end);
        s.submit(Command::End).expect("ended");
        let (references, score) = marked(&s);
        debrief(&s, &references, &score)
    };
    let d = well("10:25:00");
    assert!(d.recovered && d.outcome.starts_with("Users had been well since "), "{}", d.outcome);
    let d = well("10:05:20");
    assert!(!d.recovered && d.outcome.contains("it recovers at "), "{}", d.outcome);
    // Ended before anything broke.
    let mut s = session(Mode::Live);
    go(&mut s, "10:00:00");
    s.submit(Command::End).expect("ended");
    let (references, score) = marked(&s);
    let d = debrief(&s, &references, &score);
    assert!(!d.recovered && d.outcome.starts_with("Nothing had broken yet."), "{}", d.outcome);
    let early = d.ended_early.expect("it was");
    assert_eq!(early.not_yet[..2], ["what breaks", "the page at 10:03:00"]);
}

#[test]
fn what_the_stages_asked_is_told_with_what_fits_and_why() {
    let mut s = session(Mode::Guided);
    go(&mut s, "10:03:30");
    s.submit(Command::Choose { ask: "what".to_owned(), option: 1, sure: 80 }).expect("answered");
    go(&mut s, "10:04:00");
    let prediction = expects(&s, "operations.failure_ratio", Direction::Same, 60, 60);
    s.submit(Command::Predict { ask: "later".to_owned(), prediction }).expect("answered");
    go(&mut s, "10:30:00");
    let (references, score) = marked(&s);
    let d = debrief(&s, &references, &score);
    let [later, what] = d.asked.as_slice() else { panic!("{:?}", d.asked) };
    let answer = later.answer.as_ref().expect("predicted");
    assert_eq!(
        (answer.clock.as_str(), answer.text.as_str(), answer.sure),
        ("10:04:00", "about the same", 60)
    );
    assert_eq!(answer.right, d.predictions[0].right);
    assert!(answer.right.is_some() && later.fits.is_empty());
    let answer = what.answer.as_ref().expect("chosen");
    assert_eq!((what.stage.as_str(), what.question.as_str()), ("First look", "What is it?"));
    assert_eq!((answer.clock.as_str(), answer.text.as_str(), answer.sure), ("10:03:30", "A spike", 80));
    assert_eq!((answer.right, answer.why.as_str()), (Some(false), "No."));
    assert_eq!((what.fits[0].text.as_str(), what.fits[0].why.as_str()), ("Retries", "Yes."));
    let told = |extent| {
        let html = report::html(&d, extent).expect("a page").replace("<b>", "").replace("</b>", "");
        [report::text(&d, 200, extent), report::markdown(&d, extent), html]
    };
    for form in told(Extent::Whole) {
        for part in ["10:03:30", "A spike", "80 % sure: not so. No.", "What fits: Retries. Yes."] {
            assert!(form.contains(part), "{part}: {form}");
        }
    }
    for form in told(Extent::BeforeTheAnswer) {
        assert!(!form.contains("What fits"), "{form}");
    }
    let json: serde_json::Value = serde_json::from_str(&report::json(&d)).expect("JSON");
    assert_eq!(json["asked"][1]["answer"]["right"], false);
    // Whoever answered nothing is told what was asked; where nobody asks, nothing is.
    let mut s = session(Mode::Guided);
    go(&mut s, "10:05:00");
    let d = debrief(&s, &references, &score);
    assert!(d.asked.len() == 2 && d.asked.iter().all(|a| a.answer.is_none()));
    assert_eq!(d.asked[1].fits.len(), 1);
    let mut s = session(Mode::Live);
    go(&mut s, "10:05:00");
    assert_eq!(debrief(&s, &references, &score).asked, []);
}

#[test]
fn every_form_of_the_debrief_has_the_same_sections_in_the_same_order() {
    let mut s = session(Mode::Live);
    s.advance(SimTime::NEVER);
    let (references, score) = marked(&s);
    let d = debrief(&s, &references, &score);
    for extent in [Extent::Whole, Extent::BeforeTheAnswer] {
        let html = report::html(&d, extent).expect("a page").replace("&#x27;", "'");
        for (form, before) in
            [(report::text(&d, 80, extent), "\n"), (report::markdown(&d, extent), "\n## "), (html, "><h2>")]
        {
            let told = |section: Section| form.find(&format!("{before}{}", section.heading()));
            let places: Vec<Option<usize>> = Section::ALL.map(told).to_vec();
            let (open, closed): (Vec<Section>, Vec<Section>) = Section::ALL
                .into_iter()
                .partition(|section| extent == Extent::Whole || !section.tells_the_cause());
            assert!(places[..open.len()].iter().all(Option::is_some), "{places:?} {form}");
            assert!(places[..open.len()].is_sorted(), "{places:?}");
            assert!(closed.iter().all(|section| told(*section).is_none()), "{places:?}");
        }
    }
}

#[test]
fn free_play_is_not_marked() {
    let mut s = session(Mode::Lab);
    s.advance(SimTime::NEVER);
    let (references, score) = marked(&s);
    assert!(score.dimensions.is_empty());
    assert!(report::text(&debrief(&s, &references, &score), 80, Extent::Whole).contains("not marked"));
}

#[test]
fn plans_outside_the_clock_or_out_of_order_are_refused() {
    let incident = incident();
    for (steps, why) in [
        (r#"[("09:00:00", NoRateLimit)]"#, "outside the incident's clock"),
        (r#"[("11:00:00", NoRateLimit)]"#, "outside the incident's clock"),
        (r#"[("10:05:00", NoRateLimit), ("10:04:00", NoRateLimit)]"#, "before the step"),
        (r#"[("10:05:00", RateLimit("0/s"))]"#, "step 1 at 10:05:00: Not done"),
    ] {
        let plan = ron::from_str(&format!("(what: \"\", steps: {steps})")).expect("a plan");
        let error = play_plan(&incident, Some(&plan), SessionOptions::default(), SimTime::NEVER)
            .err()
            .expect("refused")
            .to_string();
        assert!(error.contains(why), "{error}");
    }
    let early = ron::from_str(r#"(what: "", steps: [("10:00:00", RateLimit("50/s"))])"#).expect("a plan");
    let s = play_plan(&incident, Some(&early), SessionOptions::default(), SimTime::from_secs(200));
    assert_eq!(s.map(|s| s.options().mode).ok(), Some(Mode::Lab), "a step before the page needs the lab");
}
