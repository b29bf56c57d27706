//! How levers were pulled, judged by what could be known then.

use super::look::seen;
use super::{Dimension, Grade, Mark};
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

/// The four questions for one lever, with their answers.
fn checks(session: &Session, pulled: &Pulled) -> [(&'static str, bool); 4] {
    let evidence = session.view().evidence().iter().any(|e| e.at <= pulled.at);
    let until = pulled.at + VERIFIED_WITHIN;
    let after = SimTime(pulled.at.0 + 1);
    let settled = pulled.prediction.as_ref().is_some_and(|p| p.due.min(session.end()) <= session.now());
    let status = session
        .journal()
        .iter()
        .any(|(at, c)| *at >= after && *at <= until && matches!(c, Command::Status { .. }));
    [
        ("looked first", looked_between(session, session.page_at(), pulled.at)),
        ("expectation stated", pulled.prediction.is_some()),
        ("can be taken back, or evidence first", reversible(&pulled.action) || evidence),
        ("effect checked", settled || status || looked_between(session, after, until)),
    ]
}

pub(super) fn mark(session: &Session) -> Mark {
    if session.pulled().is_empty() {
        return Mark::not_asked(Dimension::ActionQuality, "No lever was pulled.");
    }
    let mut good = 0usize;
    let mut facts = Vec::new();
    for pulled in session.pulled() {
        let checks = checks(session, pulled);
        good += checks.iter().filter(|c| c.1).count();
        let missing: Vec<&str> = checks.iter().filter(|c| !c.1).map(|c| c.0).collect();
        facts.push(format!(
            "{} {}: {}.",
            session.incident().clock(pulled.at),
            action_text(&pulled.action),
            if missing.is_empty() {
                "all four".to_owned()
            } else {
                format!("missing: {}", missing.join(", "))
            }
        ));
    }
    let share = good as f64 / (4 * session.pulled().len()) as f64;
    Mark::new(Dimension::ActionQuality, Grade::of_share(share, [0.75, 0.5, 0.25]), RULE, facts)
}
