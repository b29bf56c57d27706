//! What a player has looked at, and whether it is what an explanation is decided by.

use crate::game::Session;
use crate::game::command::{Command, Source};
use crate::telemetry::{Query, matches};
use crate::units::SimTime;

/// Whether a source is one that a name of the incident file means: a series, `log:STREAM`, `traces`, `changes`,
/// `runbook`.
pub(super) fn is_meant(session: &Session, source: &Source, name: &str) -> bool {
    let view = session.view();
    match source {
        Source::Series(series) => covers(series, name),
        Source::Log(i) => {
            let stream = view.logs().get(*i).map(|l| l.stream);
            name == "logs" || stream.is_some_and(|s| name.strip_prefix("log:") == Some(s))
        }
        Source::Trace(_) => name == "traces",
        Source::Change(_) => name == "changes",
        Source::Runbook(_) => name == "runbook",
        Source::Feed(_) => false,
        // Who builds a panel looks at all that goes into it.
        Source::Query(text) => Query::parse(text)
            .is_ok_and(|query| query.reads(view.series()).iter().any(|series| covers(series, name))),
        Source::Pane(pane) => name == pane || (pane == "logs" && name.starts_with("log:")),
    }
}

/// Whether a series, or the pattern of a panel, shows what a name means: the series itself, or its parts such as
/// `db.cpu.primary` for `db.cpu`.
pub(super) fn covers(shown: &str, name: &str) -> bool {
    let part = shown.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
    part || matches(name, shown) || matches(shown, name)
}

/// Names of the incident file as a person calls them.
pub(super) fn in_words(session: &Session, names: &[String]) -> String {
    let view = session.view();
    let mut all: Vec<String> = names.iter().map(|n| view.name_in_words(n)).collect();
    all.dedup();
    all.join(", ")
}

/// Everything that was opened or pinned before an instant, with the instant.
pub(super) fn seen(session: &Session, before: SimTime) -> impl Iterator<Item = (SimTime, &Source)> {
    session.journal().iter().filter(move |(at, _)| *at <= before).filter_map(|(at, c)| match c {
        Command::Look(source) | Command::Pin { what: source, .. } => Some((*at, source)),
        _ => None,
    })
}

/// Whether any of the names was looked at or pinned before an instant.
pub(super) fn any_seen(session: &Session, names: &[String], before: SimTime) -> bool {
    seen(session, before).any(|(_, source)| names.iter().any(|n| is_meant(session, source, n)))
}
