//! How levers were pulled, judged by what could be known then.

use super::look::seen;
use super::reference::References;
use super::{Dimension, Grade, Judged, Mark};
use crate::game::command::Command;
use crate::game::{Pulled, Session, action_text};
use crate::incident::schema::Action;
use crate::units::{SimSpan, SimTime};

/// How soon after a lever its effect should be looked at.
const VERIFIED_WITHIN: SimSpan = SimSpan::from_secs(300);

const RULE: &str = "For each lever: something was looked at since the page, an expectation was stated, it can be taken \
    back (or evidence was pinned before), and its effect was looked at, pinned or settled by a prediction within five \
    minutes. What came of it counts elsewhere. P from 75 %, S from 50 %, M from 25 %.";

/// Whether an action can be taken back.
fn reversible(action: &Action) -> bool {
    !matches!(action, Action::FlushCache(_) | Action::RollingRestart { .. })
}

fn looked_between(session: &Session, from: SimTime, to: SimTime) -> bool {
    seen(session, to).any(|(at, _)| at >= from)
}

/// The four things for one lever: what to say when it was done and when it was not, and which of them it is.
fn checks(session: &Session, pulled: &Pulled) -> [(&'static str, &'static str, bool); 4] {
    let evidence = session.view().evidence().iter().any(|e| e.at <= pulled.at);
    let until = pulled.at + VERIFIED_WITHIN;
    let after = SimTime(pulled.at.0 + 1);
    let settled = pulled.prediction.as_ref().is_some_and(|p| p.due.min(session.end()) <= session.now());
    let status = session
        .journal()
        .iter()
        .any(|(at, c)| *at >= after && *at <= until && matches!(c, Command::Status { .. }));
    [
        (
            "you looked at something first",
            "you looked at nothing first",
            looked_between(session, session.page_at(), pulled.at),
        ),
        ("you said what to expect", "you did not say what to expect", pulled.prediction.is_some()),
        (
            if reversible(&pulled.action) { "it can be taken back" } else { "you pinned evidence before" },
            "it cannot be taken back, and no evidence was pinned before",
            reversible(&pulled.action) || evidence,
        ),
        (
            "you checked its effect",
            "you did not check its effect within five minutes",
            settled || status || looked_between(session, after, until),
        ),
    ]
}

pub(super) fn mark(session: &Session, references: &References) -> Judged {
    if session.pulled().is_empty() {
        return Mark::not_asked(Dimension::ActionQuality, "No lever was pulled.").into();
    }
    let mut good = 0usize;
    let mut facts = Vec::new();
    let mut well = None;
    for (i, pulled) in session.pulled().iter().enumerate() {
        let checks = checks(session, pulled);
        let done = checks.iter().filter(|c| c.2).count();
        good += done;
        let said: Vec<&str> = checks.iter().map(|c| if c.2 { c.0 } else { c.1 }).collect();
        let fact = format!(
            "{} {}: {}.",
            session.incident().clock(pulled.at),
            action_text(&pulled.action),
            said.join(", ")
        );
        // Careful or not, a lever that made it worse is nothing to name under what went well.
        let hurt = references.own.as_ref().is_some_and(|own| own.hurt(i));
        if done == checks.len() && !hurt {
            well.get_or_insert_with(|| fact.clone());
        }
        facts.push(fact);
    }
    let share = good as f64 / (4 * session.pulled().len()) as f64;
    Mark::new(Dimension::ActionQuality, Grade::of_share(share, [0.75, 0.5, 0.25]), RULE, facts).with(well)
}
