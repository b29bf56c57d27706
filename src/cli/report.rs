//! `pagerdrill report`.

use std::path::PathBuf;
use std::process::ExitCode;

use super::{FINE, fork, print, replay};
use crate::game::Session;
use crate::game::command::{Command, Finding};
use crate::report::{self, Extent};
use crate::score::{debrief, score};
use crate::store;

/// What to report.
#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// A saved run; `latest` for the newest one.
    run: PathBuf,
    /// The incident, when it is not a shipped one: the path of its file or folder.
    #[arg(long)]
    incident: Option<String>,
    /// How to write it.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// The same as `--format json`.
    #[arg(long)]
    json: bool,
    /// Add the run with one decision changed, as `B:without`, `B:+5m` or `page:RateLimit("4_500/s")`; `pagerdrill fork RUN`
    /// lists the decisions. May be given several times.
    #[arg(long, value_name = "FORK")]
    fork: Vec<fork::Wanted>,
    /// Tell the cause also after a first loss, before anything was written about it.
    #[arg(long)]
    spoilers: bool,
}

/// How a report is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For a terminal.
    #[default]
    Text,
    /// Markdown.
    Md,
    /// One page for a browser, with charts; it needs no network.
    Html,
    /// For other programs.
    Json,
    /// The finding alone, as JSON.
    Finding,
}

/// Columns when the output is no terminal.
const PLAIN_WIDTH: usize = 100;

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let file = replay::saved(&args.run)?;
    let (incident, session) = replay::again(&file, args.incident.as_deref())?;
    if args.format == Format::Finding && !args.json {
        print(&report::finding_json(&session.view()))?;
        return Ok(ExitCode::from(FINE));
    }
    let references = replay::references(&incident, &session)?;
    let score = score(&session, &references);
    let mut debrief = debrief(&session, &references, &score);
    for wanted in &args.fork {
        debrief.forks.push(fork::play(&session, wanted, false)?);
    }
    let told = args.spoilers || debrief.recovered || has_written(&session) || knows_the_cause(&file.incident);
    let extent = if told { Extent::Whole } else { Extent::BeforeTheAnswer };
    let format = if args.json { Format::Json } else { args.format };
    print(&match format {
        Format::Text => report::text(&debrief, width(), extent),
        Format::Md => report::markdown(&debrief, extent),
        Format::Html => report::html(&debrief, extent)?,
        Format::Json | Format::Finding => report::json(&debrief),
    })?;
    Ok(ExitCode::from(FINE))
}

/// Whether the player has written an account of their own: a finding, or an answer of the debrief.
fn has_written(session: &Session) -> bool {
    let view = session.view();
    *view.finding() != Finding::default() || view.reflections().iter().any(|answer| !answer.trim().is_empty())
}

/// Whether the cause was told after an earlier run of the incident: both questions of its debrief were answered.
fn knows_the_cause(incident: &str) -> bool {
    let answered = |run: &crate::game::RunFile| {
        let to = |n| {
            run.journal.iter().any(|(_, c)| matches!(c, Command::Reflect { question, .. } if *question == n))
        };
        run.incident == incident && to(0) && to(1)
    };
    store::saved_runs().iter().any(|saved| answered(&saved.run))
}

/// The terminal's width, but not so wide that lines are hard to read.
pub(super) fn width() -> usize {
    super::columns().unwrap_or(PLAIN_WIDTH).clamp(40, 120)
}
