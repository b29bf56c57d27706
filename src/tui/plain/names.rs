//! What was meant by words that somebody typed: levers, series, evidence, directions.

use crate::game::command::{Direction, EvidenceId, Expected};
use crate::game::{AskKind, AskView, FeedItem, LeverView, View, direction_words};
use crate::incident::closest;
use crate::incident::schema::{Action, Lever};
use crate::telemetry::Series;
use crate::tui::dialogs::{DIRECTIONS, FELT, read_number, scattered};
use crate::units::Unit;

/// Something that can be pulled, with the name by which it is typed.
pub(super) struct Handle {
    /// `rate-limit-at-balancer`: its title in lower case.
    pub(super) name: String,
    /// Further words that find it.
    also: &'static str,
    pub(super) lever: LeverView,
    /// What it does, when it is a further action of the lever: remove the limit.
    pub(super) action: Option<Action>,
}

/// A title as one word.
pub(super) fn slug(title: &str) -> String {
    let letters = title.chars().map(|c| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { ' ' });
    letters.collect::<String>().split_whitespace().collect::<Vec<_>>().join("-")
}

/// Words that operators use for a kind of lever.
fn also(lever: &Lever) -> &'static str {
    match lever {
        Lever::ClientRetries(_) => "client retries",
        Lever::RateLimit => "limit shed",
        Lever::Scale(_) => "scale",
        Lever::QueryAttempts(_) => "query retries attempts",
        Lever::PoolSize { .. } => "pool size",
        Lever::FlushCache(_) => "flush",
        Lever::WarmCache(_) => "warm-up",
        Lever::RollingRestart(_) => "restart rolling",
        Lever::Set(_) => "set",
    }
}

/// All that can be pulled now, in the order of the numbers by which it is called.
pub(super) fn handles(view: &View<'_>) -> Vec<Handle> {
    let mut all = Vec::new();
    for lever in view.levers() {
        let words = also(&lever.lever);
        let further = lever.also.clone();
        all.push(Handle { name: slug(&lever.title), also: words, lever: lever.clone(), action: None });
        for (title, action) in further {
            // The same further action can belong to several levers, so their names go with it.
            let name = format!("{}-{}", slug(&title), slug(&lever.title));
            all.push(Handle { name, also: "", lever: lever.clone(), action: Some(action) });
        }
    }
    all
}

/// The lever that the first of these words mean, and how many of them name it: the words up to a number, `on` or `off`.
pub(super) fn lever(view: &View<'_>, words: &[String]) -> Result<(Handle, usize), String> {
    let mut all = handles(view);
    if all.is_empty() {
        return Err("There is no lever here.".to_owned());
    }
    let is_value =
        |w: &String| w.starts_with(|c: char| c.is_ascii_digit()) || matches!(w.as_str(), "on" | "off");
    if let Some(n) = words.first().and_then(|w| w.parse::<usize>().ok()) {
        let last = all.len();
        return match n.checked_sub(1).filter(|i| *i < last) {
            Some(i) => Ok((all.swap_remove(i), 1)),
            None => Err(format!("There is no lever {n}; they are 1 to {last}. `levers` lists them.")),
        };
    }
    let named = words.iter().position(is_value).unwrap_or(words.len());
    let wanted: Vec<String> = words[..named].iter().map(|w| w.to_lowercase()).collect();
    if wanted.is_empty() {
        return Err("Which lever? `levers` lists them with their names.".to_owned());
    }
    let whole = wanted.join("-");
    if let Some(i) = all.iter().position(|h| h.name == whole) {
        return Ok((all.swap_remove(i), named));
    }
    let has = |h: &Handle, w: &String| h.name.contains(w.as_str()) || h.also.contains(w.as_str());
    let mut fits: Vec<usize> = (0..all.len()).filter(|&i| wanted.iter().all(|w| has(&all[i], w))).collect();
    // A lever itself comes before what else can be done with it.
    if fits.iter().any(|&i| all[i].action.is_none()) {
        fits.retain(|&i| all[i].action.is_none());
    }
    // One that begins with the words comes before those that have them somewhere.
    if fits.iter().any(|&i| all[i].name.starts_with(&whole)) {
        fits.retain(|&i| all[i].name.starts_with(&whole));
    }
    match fits[..] {
        [i] => Ok((all.swap_remove(i), named)),
        [] => {
            let meant = closest(&whole, all.iter().map(|h| h.name.as_str()));
            let hint = meant.map_or("`levers` lists them.".to_owned(), |m| format!("Did you mean `{m}`?"));
            Err(format!("No lever is called `{}`. {hint}", wanted.join(" ")))
        }
        _ => {
            let names: Vec<String> = fits.iter().map(|&i| format!("`{}`", all[i].name)).collect();
            Err(format!("`{}` can be {}. Say one more word of it.", wanted.join(" "), names.join(" or ")))
        }
    }
}

/// The series of the dashboards with their panels' titles come before all others.
fn on_dashboards<'a>(view: &View<'a>) -> Vec<&'a Series> {
    let mut found: Vec<&Series> = Vec::new();
    for name in view.dashboards().iter().flat_map(|d| &d.panels).flat_map(|p| &p.series) {
        for series in view.series().matching(name) {
            if !found.iter().any(|s| s.name == series.name) {
                found.push(series);
            }
        }
    }
    found
}

/// The series that a text means: its name, what a panel calls it, or words of either.
pub(super) fn series<'a>(view: &View<'a>, text: &str) -> Result<&'a Series, String> {
    let wanted = text.trim().to_lowercase();
    if view.series().seconds() == 0 {
        return Err("Nothing is recorded yet; `step` or `go` lets the clock go first.".to_owned());
    }
    if wanted.is_empty() {
        return Err("Which series? `panels` reads the charts, `series` lists all names.".to_owned());
    }
    // What users feel has a short name of its own.
    let wanted = if wanted == "failing" { FELT.to_owned() } else { wanted };
    if let Some(found) = view.series().get(&wanted) {
        return Ok(found);
    }
    let words = |s: &Series| view.name_in_words(&s.name).to_lowercase();
    let charted = on_dashboards(view);
    let all: Vec<&Series> = view.series().iter().collect();
    if let Some(found) = charted.iter().chain(&all).find(|s| words(s) == wanted) {
        return Ok(found);
    }
    let parts: Vec<&str> = wanted.split([' ', '.']).filter(|p| !p.is_empty()).collect();
    let has = |s: &&&Series| {
        let (name, words) = (s.name.to_lowercase(), words(s));
        parts.iter().all(|p| name.contains(p) || words.contains(p))
    };
    for among in [&charted, &all] {
        let fits: Vec<&Series> = among.iter().filter(has).copied().collect();
        match fits[..] {
            [] => {}
            [one] => return Ok(one),
            // The whole of which the others are parts: `db.cpu` of `db.cpu.primary`.
            [first, ..] if fits.iter().all(|s| s.name.starts_with(&first.name)) => return Ok(first),
            _ => {
                let names: Vec<&str> = fits.iter().take(8).map(|s| s.name.as_str()).collect();
                let more =
                    if fits.len() > 8 { format!(" and {} more", fits.len() - 8) } else { String::new() };
                return Err(format!("`{text}` can be {}{more}.", names.join(", ")));
            }
        }
    }
    let hint = match closest(&wanted, view.series().iter().map(|s| s.name.as_str())) {
        Some(meant) => format!("Did you mean `{meant}`?"),
        None => "`panels` reads the charts, `series` lists all names.".to_owned(),
    };
    Err(format!("No series is called `{text}`. {hint}"))
}

/// Whether a text has what a name has not: brackets, a `*`, or a sign between two names.
pub(super) fn is_expression(text: &str) -> bool {
    text.contains(['(', ')', '*', '/', '+', ',']) || text.contains(" - ")
}

/// What is expected of a series: a number in its unit, or a direction, `lower` or `better`.
pub(super) fn expectation(text: &str, series: &Series) -> Option<Expected> {
    if let Some(value) = read_number(text, series.unit) {
        return Some(Expected::Value(value));
    }
    let wanted = slug(text);
    let more_is_worse = series.more_is_worse.or(Some(true));
    let named = |d: &Direction| {
        let plain = match d {
            Direction::MuchWorse => "much-worse",
            Direction::Worse => "worse",
            Direction::Same => "same",
            Direction::Better => "better",
            Direction::Recovered => "recovered",
        };
        wanted == plain || wanted == slug(direction_words(*d, more_is_worse))
    };
    DIRECTIONS.into_iter().find(named).map(Expected::Direction)
}

/// The words for a direction, as an error lists them.
pub(super) fn directions(series: &Series) -> String {
    let more_is_worse = series.more_is_worse.or(Some(true));
    DIRECTIONS.map(|d| direction_words(d, more_is_worse)).join(", ")
}

/// A number that a person typed for a unit, or what was expected.
pub(super) fn number(text: &str, unit: Unit) -> Result<f64, String> {
    read_number(text, unit).ok_or_else(|| format!("`{text}` is no number such as 4500, 4.5k or 40%."))
}

/// Numbers between 1 and `most`: `1 3`, `1,3`; `none` is no number at all.
pub(super) fn numbers(text: &str, most: usize, what: &str) -> Result<Vec<usize>, String> {
    let words = text.split([' ', ',']).filter(|w| !w.is_empty() && *w != "none");
    words
        .map(|w| match w.parse::<usize>() {
            Ok(n) if (1..=most).contains(&n) => Ok(n - 1),
            _ if most == 0 => Err(format!("There is no {what} yet.")),
            _ => Err(format!("`{w}` is no {what}; they are 1 to {most}.")),
        })
        .collect()
}

/// Ids of evidence: `E-0001`, `1`, `1,2`.
pub(super) fn evidence(view: &View<'_>, text: &str) -> Result<Vec<EvidenceId>, String> {
    let plain: Vec<String> = text
        .split([' ', ','])
        .filter(|w| !w.is_empty())
        .map(|w| w.trim_start_matches(['E', 'e']).trim_start_matches('-').trim_start_matches('0').to_owned())
        .collect();
    let found = numbers(&plain.join(" "), view.evidence().len(), "evidence")?;
    Ok(found.into_iter().filter_map(|i| view.evidence().get(i).map(|e| e.id)).collect())
}

/// How sure one is: 50 to 100, 70 when nothing was said.
pub(super) fn sure(text: Option<&str>) -> Result<u8, String> {
    let Some(text) = text else { return Ok(70) };
    match text.trim_end_matches(['%', ' ']).parse::<u8>() {
        Ok(sure @ 50..=100) => Ok(sure),
        _ => Err(format!("--sure is 50 to 100 (per cent), not `{text}`. Below 50, predict the opposite.")),
    }
}

/// The order in which a message's replies are read: one that says nothing about them.
pub(super) fn reply_order(item: &FeedItem) -> Vec<usize> {
    scattered(item.replies.len(), &format!("reply to {}", item.message.unwrap_or_default()))
}

/// The order in which a question's options are read, and the options; nothing for one that wants a prediction.
pub(super) fn options(ask: &AskView) -> (Vec<usize>, &[String]) {
    match &ask.kind {
        AskKind::Choose { options } => (scattered(options.len(), &ask.id), options),
        AskKind::Predict { .. } => (Vec::new(), &[]),
    }
}
