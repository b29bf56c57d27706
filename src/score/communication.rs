//! What others were told.

use super::{Dimension, Grade, Judged, Mark};
use crate::game::Session;
use crate::game::command::Command;
use crate::units::{SimSpan, SimTime, Unit, count};

/// How soon a page should be acknowledged.
const ACKNOWLEDGE_WITHIN: SimSpan = SimSpan::from_secs(300);
/// How far a stated share may be from the measured one.
const CLOSE: f64 = 0.10;

const RULE: &str = "Acknowledged within five minutes, a severity declared, a status update sent, every stated share of \
    failing operations within ten points of the measured one, and for each question that was asked a reply that is true \
    and useful to who asked. Each counts alike. P from 80 %, S from 60 %, M from 30 %.";

/// Shares that a player may fairly call failing at a moment: of users' operations, or those not served in time.
fn measured(session: &Session, at: SimTime) -> Vec<f64> {
    let end = at.as_secs() as usize;
    let window = end.saturating_sub(60)..end;
    let series = session.series();
    let mut all: Vec<f64> =
        series.get("operations.failure_ratio").and_then(|s| s.mean(window.clone())).into_iter().collect();
    let sum = |name: &str| -> f64 {
        let values = series.get(name).map_or(&[][..], |s| s.window(window.clone()));
        values.iter().filter(|v| v.is_finite()).sum()
    };
    let bad = sum("operations.failed") + sum("operations.late");
    let ended = bad + sum("operations.served");
    if ended > 0.0 {
        all.push(bad / ended);
    }
    all
}

pub(super) fn mark(session: &Session) -> Judged {
    let file = session.incident().file();
    let clock = |at: SimTime| session.incident().clock(at);
    let mut items: Vec<(bool, String)> = Vec::new();
    let find = |wanted: fn(&Command) -> bool| session.journal().iter().find(|(_, c)| wanted(c)).map(|e| e.0);
    let acknowledged = find(|c| matches!(c, Command::Acknowledge));
    items.push(match acknowledged {
        Some(at) => {
            let took = at.since(session.page_at());
            (took <= ACKNOWLEDGE_WITHIN, format!("Acknowledged after {took}."))
        }
        None => (false, "The page was not acknowledged.".to_owned()),
    });
    items.push(match find(|c| matches!(c, Command::Declare(_))) {
        Some(at) => (true, format!("Severity declared at {}.", clock(at))),
        None => (false, "No severity was declared.".to_owned()),
    });
    let updates: Vec<(SimTime, Option<f64>)> = session
        .journal()
        .iter()
        .filter_map(|(at, c)| match c {
            Command::Status { failing, .. } => Some((*at, *failing)),
            _ => None,
        })
        .collect();
    items.push((
        !updates.is_empty(),
        match updates.len() {
            0 => "No status update.".to_owned(),
            n => format!("{}.", count(n as u64, "status update", "status updates")),
        },
    ));
    for (at, stated) in updates.iter().filter_map(|u| Some((u.0, u.1?))) {
        let facts = measured(session, at);
        let shown = facts.first().map_or("nothing".to_owned(), |v| Unit::Ratio.show(*v));
        items.push((
            facts.iter().any(|v| (v - stated).abs() <= CLOSE),
            format!(
                "{}: you said {} are failing; {shown} were measured.",
                clock(at),
                Unit::Ratio.show(stated)
            ),
        ));
    }
    for item in session.view().feed().iter().filter(|i| !i.replies.is_empty()) {
        let message = item.message.and_then(|m| file.messages.get(m));
        let chosen = item.answered.as_ref();
        let reply = message.zip(chosen).and_then(|(m, text)| m.replies.iter().find(|r| r.text == *text));
        items.push(match reply {
            Some(r) => (r.fits, format!("{} asked at {}: {}", item.from, clock(item.at), r.why)),
            None => (false, format!("{} asked at {} and got no answer.", item.from, clock(item.at))),
        });
    }
    let good = items.iter().filter(|i| i.0).count();
    let share = good as f64 / items.len() as f64;
    let well = items.iter().find(|i| i.0).map(|i| i.1.clone());
    let facts = items.into_iter().map(|i| i.1).collect();
    Mark::new(Dimension::Communication, Grade::of_share(share, [0.8, 0.6, 0.3]), RULE, facts).with(well)
}
