//! `pagerdrill fork`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;

use anyhow::Context;
use serde::Serialize;

use super::progress::Progress;
use super::{FINE, print, replay, report};
use crate::game::Session;
use crate::incident::schema::Action;
use crate::incident::{Diagnostic, unreadable};
use crate::report::harm_curves;
use crate::score::{Change, Decision, Fork, ForkEntry, HarmSection, debrief, decisions, score};
use crate::units::SimSpan;

/// What to play again in another way.
#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// A saved run; `latest` for the newest one.
    run: PathBuf,
    /// The incident, when it is not a shipped one: the path of its file or folder.
    #[arg(long)]
    incident: Option<String>,
    /// The decision to change: the letter of a lever, `page`, or the name of a proposal that was declined. Without it the
    /// decisions are listed.
    #[arg(long, value_name = "DECISION", requires = "change")]
    at: Option<String>,
    /// Leave the lever out.
    #[arg(long, group = "change", requires = "at")]
    without: bool,
    /// Pull it so much later, such as 5m.
    #[arg(long, value_name = "SPAN", group = "change", requires = "at")]
    later: Option<SimSpan>,
    /// Do this instead, written as in a plan: 'RateLimit("4_500/s")'.
    #[arg(long, value_name = "ACTION", group = "change", requires = "at")]
    instead: Option<String>,
    /// Leave out the levers that were pulled after it, too; otherwise they are pulled again.
    #[arg(long, requires = "at")]
    drop_later: bool,
    /// Print it as JSON.
    #[arg(long)]
    json: bool,
}

/// A fork in a line: `B:without`, `B:+5m`, `page:RateLimit("4_500/s")`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Wanted {
    at: String,
    change: Change,
}

/// Reads an action as plans write it.
fn action(text: &str) -> Result<Action, String> {
    let options = ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME);
    let what = "an action is written as in a plan, such as RateLimit(\"4_500/s\") or Scale(service: \"api\", instances: 40)";
    options.from_str(text).map_err(|error| {
        let Diagnostic { message, help, .. } = unreadable("", text, &error);
        format!("{message}{}; {what}", help.map_or_else(String::new, |help| format!(", {help}")))
    })
}

impl FromStr for Wanted {
    type Err = String;

    fn from_str(text: &str) -> Result<Wanted, String> {
        let form = "a fork is written DECISION:without, DECISION:+5m or DECISION:ACTION";
        let (at, change) = text.split_once(':').ok_or(form)?;
        let change = match change.trim() {
            "without" => Change::Without,
            later if later.starts_with('+') => {
                Change::Later(later[1..].parse().map_err(|error| format!("{form}: {error}"))?)
            }
            other => Change::Instead(action(other).map_err(|error| format!("{form}; {error}"))?),
        };
        Ok(Wanted { at: at.trim().to_owned(), change })
    }
}

/// The decision of that name.
fn decision(session: &Session, name: &str) -> anyhow::Result<Decision> {
    let all = decisions(session);
    let known: Vec<&str> = all.iter().map(|d| d.name.as_str()).collect();
    let found = all.iter().find(|d| d.name.eq_ignore_ascii_case(name)).cloned();
    found.with_context(|| format!("the run has no decision \"{name}\"; it has: {}", known.join(", ")))
}

/// Plays a fork.
pub(super) fn play(session: &Session, wanted: &Wanted, drop_later: bool) -> anyhow::Result<ForkEntry> {
    let fork = Fork { decision: decision(session, &wanted.at)?, change: wanted.change.clone(), drop_later };
    let mut progress = Progress::new();
    let mut tell = |done: f64| {
        progress.say(&format!("{}: {:.0} %", fork.what(), done * 100.0));
        true
    };
    let again = fork.play(session, &mut tell)?;
    Ok(fork.entry(&again))
}

/// The decisions of a run, to choose one from.
fn list(all: &[Decision]) -> String {
    let width = all.iter().map(|d| d.name.chars().count()).max().unwrap_or(0);
    let mut out =
        all.iter().map(|d| format!("{:<width$}  {}  {}\n", d.name, d.clock, d.what)).collect::<String>();
    out += "\nfork --at NAME with --without, --later 5m or --instead ACTION plays the run with another decision.\n";
    out
}

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    #[derive(Serialize)]
    struct Listed<'a> {
        schema: u32,
        decisions: &'a [Decision],
    }
    #[derive(Serialize)]
    struct Forked<'a> {
        schema: u32,
        fork: &'a ForkEntry,
        harm: &'a HarmSection,
    }
    let change = match (&args.instead, args.later) {
        (Some(text), _) => {
            Change::Instead(action(text).map_err(|e| anyhow::anyhow!("--instead {text}: {e}"))?)
        }
        (None, Some(by)) => Change::Later(by),
        (None, None) => Change::Without,
    };
    let file = replay::saved(&args.run)?;
    let (incident, session) = replay::again(&file, args.incident.as_deref())?;
    let Some(at) = args.at else {
        let all = decisions(&session);
        print(&if args.json { json(&Listed { schema: 1, decisions: &all }) } else { list(&all) })?;
        return Ok(ExitCode::from(FINE));
    };
    let fork = play(&session, &Wanted { at, change }, args.drop_later)?;
    let references = replay::references(&incident, &session)?;
    let harm = debrief(&session, &references, &score(&session, &references)).harm;
    if args.json {
        print(&json(&Forked { schema: 1, fork: &fork, harm: &harm }))?;
        return Ok(ExitCode::from(FINE));
    }
    let mut out = format!("{}\n\n", fork.what);
    for line in harm_curves(&harm, std::slice::from_ref(&fork), report::width()) {
        out += &format!("{line}\n");
    }
    let totals = harm.totals.iter().map(|(who, total)| (who.as_str(), total.as_str()));
    let totals: Vec<(&str, &str)> =
        std::iter::once(("The fork", fork.total.as_str())).chain(totals).collect();
    let width = totals.iter().map(|t| t.0.chars().count()).max().unwrap_or(0);
    out.push('\n');
    for (who, total) in totals {
        out += &format!("{who:<width$}  {total}\n");
    }
    for skipped in &fork.skipped {
        out += &format!("Not pulled: {skipped}\n");
    }
    print(&out)?;
    Ok(ExitCode::from(FINE))
}

/// Plain data of strings, numbers and lists, which always serialises.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Rate;

    #[test]
    fn a_fork_in_a_line() {
        let read = |text: &str| text.parse::<Wanted>().map(|w| w.change);
        assert_eq!(read("B:without"), Ok(Change::Without));
        assert_eq!(read("B: +5m"), Ok(Change::Later(SimSpan::from_secs(300))));
        assert_eq!(
            read("page:RateLimit(\"4_500/s\")"),
            Ok(Change::Instead(Action::RateLimit(Rate(4_500.0))))
        );
        for (text, why) in [("B", "is written"), ("B:+soon", "is written"), ("B:Scale(", "as in a plan")] {
            let error = read(text).expect_err("not a fork");
            assert!(error.contains(why), "{error}");
        }
    }
}
