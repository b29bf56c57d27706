//! `pagerdrill report`.

use std::path::PathBuf;
use std::process::ExitCode;

use super::{FINE, print, replay};
use crate::report;
use crate::score::{debrief, score};

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
    let debrief = debrief(&session, &references, &score);
    let format = if args.json { Format::Json } else { args.format };
    let extent = report::Extent::Whole;
    print(&match format {
        Format::Text => report::text(&debrief, width(), extent),
        Format::Md => report::markdown(&debrief, extent),
        Format::Html => report::html(&debrief, extent)?,
        Format::Json | Format::Finding => report::json(&debrief),
    })?;
    Ok(ExitCode::from(FINE))
}

/// The terminal's width, but not so wide that lines are hard to read.
fn width() -> usize {
    let terminal = std::io::IsTerminal::is_terminal(&std::io::stdout());
    let columns = if terminal { crossterm::terminal::size().ok().map(|s| usize::from(s.0)) } else { None };
    columns.unwrap_or(PLAIN_WIDTH).clamp(40, 120)
}
