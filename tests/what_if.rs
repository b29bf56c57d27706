//! Runs played again with another decision or in a mended system, and ways to play that no file has written down.

use std::sync::Arc;

use pagerdrill::game::command::{Command, Direction, Expected, Finding, Prediction, Source, Verdict};
use pagerdrill::game::{Mode, Session, SessionOptions};
use pagerdrill::incident::schema::Action;
use pagerdrill::incident::{Incident, library, load};
use pagerdrill::score::{
    Change, Decision, Dimension, Fork, ForkError, Grade, Harm, Mended, References, decisions, score,
};
use pagerdrill::units::{Rate, SimSpan, SimTime};

fn stuck() -> Arc<Incident> {
    Arc::new(load("stuck.ron", include_str!("incidents/good/stuck.ron")).incident.expect("a good incident"))
}

fn retries_off(client: &str) -> Action {
    Action::ClientRetries { client: client.to_owned(), attempts: 1 }
}

/// A run that pulls these levers and is played to its end.
fn played(incident: &Arc<Incident>, scale: f64, levers: &[(&str, Action)]) -> Session {
    let options = SessionOptions { mode: Mode::Live, scale, ..SessionOptions::default() };
    let mut s = Session::new(Arc::clone(incident), options);
    for (at, action) in levers {
        s.advance(incident.at(at.parse().expect("a time")));
        s.submit(Command::Pull { action: action.clone(), prediction: None }).expect("pulled");
    }
    s.advance(SimTime::NEVER);
    s
}

fn named(session: &Session, name: &str) -> Decision {
    decisions(session).into_iter().find(|d| d.name == name).expect("the decision")
}

fn fork(session: &Session, name: &str, change: Change) -> Result<Harm, ForkError> {
    let fork = Fork { decision: named(session, name), change, drop_later: false };
    fork.play(session, &mut |_| true).map(|again| again.harm)
}

#[test]
fn a_fork_is_the_run_up_to_the_decision_and_another_one_from_there() {
    let incident = stuck();
    let limit = Action::RateLimit(Rate(90.0));
    let scale = Action::Scale { service: "api".to_owned(), instances: 40 };
    let levers = [
        ("10:06:00", scale),
        ("10:10:00", retries_off("web")),
        ("10:10:00", retries_off("mobile")),
        ("10:12:00", limit.clone()),
    ];
    let s = played(&incident, 1.0, &levers);
    let own = Harm::of(s.series());
    assert_eq!(
        fork(&s, "D", Change::Instead(limit.clone())),
        Ok(own.clone()),
        "the same decision is the same run"
    );
    let without = played(&incident, 1.0, &levers[..3]);
    assert_eq!(fork(&s, "D", Change::Without), Ok(Harm::of(without.series())), "left out is never pulled");
    let later = fork(&s, "B", Change::Later(SimSpan::from_secs(600))).expect("played");
    let left = (incident.at("10:10:00".parse().expect("a time"))).as_secs() as usize;
    assert_eq!(later.per_second[..left], own.per_second[..left], "nothing before the decision changes");
    assert!(later.total() > own.total(), "to wait costs");
    let page = fork(&s, "page", Change::Instead(limit)).expect("played");
    assert!(page.total() != own.total());
    // Whoever drops what came later is left with what was before.
    let alone = Fork { decision: named(&s, "A"), change: Change::Without, drop_later: true };
    let nobody = played(&incident, 1.0, &[]);
    assert_eq!(alone.play(&s, &mut |_| true).map(|a| a.harm), Ok(Harm::of(nobody.series())));
    // It can be stopped at any time.
    let mut asked = 0;
    let stopped = alone.play(&s, &mut |_| {
        asked += 1;
        asked < 5
    });
    assert_eq!((stopped, asked), (Err(ForkError::Stopped), 5));
}

#[test]
fn a_declined_proposal_is_a_decision_and_can_be_accepted() {
    let incident = stuck();
    let mut s =
        Session::new(Arc::clone(&incident), SessionOptions { mode: Mode::Live, ..SessionOptions::default() });
    s.advance(incident.at("10:07:00".parse().expect("a time")));
    let decline = Command::Respond { proposal: "more".to_owned(), accept: false, prediction: None };
    s.submit(decline).expect("declined");
    s.submit(Command::End).expect("ended");
    let proposed = named(&s, "more").proposed.expect("an action");
    let accepted = fork(&s, "more", Change::Instead(proposed)).expect("played");
    assert!(accepted.total() > Harm::of(played(&incident, 1.0, &[]).series()).total(), "it is the trap");
    assert!(matches!(fork(&s, "more", Change::Without), Err(ForkError::NoLever(_))));
}

#[test]
fn follow_ups_are_switched_on_and_what_cannot_be_pulled_then_is_told() {
    let s =
        played(&stuck(), 1.0, &[("10:06:00", Action::Scale { service: "api".to_owned(), instances: 40 })]);
    let mended = Mended::play(&s, &["budget".to_owned()], &mut |_| true).expect("played");
    assert_eq!(mended.what, ["A retry budget."]);
    assert!(mended.you.skipped.is_empty());
    assert!(
        mended.nobody.harm.share() < Harm::of(s.series()).share() / 4.0,
        "{:?}",
        mended.nobody.harm.text()
    );
    let unknown = Mended::play(&s, &["posters".to_owned()], &mut |_| true);
    assert!(matches!(unknown, Err(ForkError::NoFollowUp(..))));
}

#[test]
fn every_shipped_follow_up_that_can_be_switched_on_does_what_it_says() {
    use pagerdrill::incident::schema::Effect;
    let mut seen = 0;
    for shipped in library::shipped() {
        let incident = load(&shipped.id, &shipped.text).incident.expect("a good incident");
        for follow_up in incident.file().follow_ups.iter().filter(|f| f.applies.is_some()) {
            pagerdrill::score::mended(&incident, std::slice::from_ref(&follow_up.id))
                .expect("it can be switched on");
            assert_ne!(
                follow_up.effect,
                Effect::Detects,
                "{}: nothing in the system shows it earlier",
                follow_up.id
            );
            seen += 1;
        }
    }
    assert!(seen >= 3 * library::shipped().len(), "{seen}");
}

/// A careful run of a shipped incident with these levers: each is looked at before and after, and predicted.
fn careful(incident: &Arc<Incident>, levers: &[(&str, Action)]) -> Session {
    let options = SessionOptions { mode: Mode::Live, scale: 0.05, ..SessionOptions::default() };
    let mut s = Session::new(Arc::clone(incident), options);
    let failing = "operations.failure_ratio".to_owned();
    s.advance(s.page_at() + SimSpan::from_secs(30));
    s.submit(Command::Acknowledge).expect("acknowledged");
    for (at, action) in levers {
        s.advance(incident.at(at.parse().expect("a time")));
        s.submit(Command::Look(Source::Series(failing.clone()))).expect("looked at");
        let due = s.now() + SimSpan::from_secs(240);
        let expect = Expected::Direction(Direction::Better);
        let prediction = Some(Prediction { series: failing.clone(), expect, sure: 60, due });
        s.submit(Command::Pull { action: action.clone(), prediction }).expect("pulled");
    }
    s.advance(SimTime::NEVER);
    s.submit(Command::Find(Finding { summary: "Its own retries.".to_owned(), ..Finding::default() }))
        .expect("written");
    let hypotheses: Vec<String> = incident.file().hypotheses.iter().map(|h| h.id.clone()).collect();
    for hypothesis in hypotheses {
        s.submit(Command::Judge { hypothesis, verdict: Verdict::Rejected, evidence: vec![] })
            .expect("judged");
    }
    s
}

/// Marks compare effects: right things in an order that no file has are worth as much.
#[test]
fn an_order_that_nobody_wrote_down_scores_on_its_effects() {
    // Any folder may be taken out.
    let Some(shipped) = library::find("cold-cache-failover") else { return };
    let incident = Arc::new(load(&shipped.id, &shipped.text).incident.expect("a good incident"));
    let limit = Action::RateLimit(Rate(4_500.0));
    let (web, mobile) = (retries_off("web"), retries_off("mobile"));
    // The senior's levers, and all of them the other way round.
    let written = [("14:20:00", web.clone()), ("14:20:00", mobile.clone()), ("14:20:30", limit.clone())];
    let other = [("14:20:00", limit), ("14:20:30", mobile), ("14:21:00", web)];
    let known = |levers: &[(&str, Action)]| {
        let order: Vec<&Action> = levers.iter().map(|l| &l.1).collect();
        let plans = incident.file().plans.values();
        plans.into_iter().any(|p| p.steps.iter().map(|s| &s.1).collect::<Vec<_>>().starts_with(&order))
    };
    assert!(known(&written) && !known(&other));
    let references = References::compute(&incident, 1, 0.05).expect("the plans can be played");
    let [written, other] = [&written[..], &other[..]].map(|levers| {
        let s = careful(&incident, levers);
        let references = references.clone().with_own(&s);
        score(&s, &references)
    });
    assert_eq!(other.mark(Dimension::UserHarm).map(|m| m.grade), Some(Grade::P), "{other:#?}");
    for (a, b) in written.dimensions.iter().zip(&other.dimensions) {
        // Grades are ordered from the best on.
        assert!(b.grade <= a.grade, "worse for the order alone: {a:#?} {b:#?}");
    }
}
