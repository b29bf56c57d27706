//! `pagerdrill check`: reads and validates incident files, and says what is wrong and where.

use std::io::IsTerminal;
use std::process::ExitCode;

use serde_json::json;

use super::input;
use crate::incident::{Severity, load};

/// What to check.
#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// Incident files, folders of them, or names of shipped incidents.
    #[arg(required = true, value_name = "FILE|DIR")]
    pub files: Vec<String>,
    /// Print a JSON list: file, line, column, severity, message, help.
    #[arg(long)]
    pub json: bool,
    /// Let warnings count as errors.
    #[arg(long)]
    pub strict: bool,
}

/// Runs the subcommand. A file with an error is bad input; with `--strict`, a file with a warning has failed.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let sources = input::sources(&args.files)?;
    let (mut errors, mut warnings) = (0, 0);
    let (mut text, mut list) = (String::new(), Vec::new());
    for source in &sources {
        let found = load(&source.label, &source.text).diagnostics;
        errors += found.iter().filter(|d| d.severity == Severity::Error).count();
        warnings += found.iter().filter(|d| d.severity == Severity::Warning).count();
        if args.json {
            list.extend(found.iter().map(|d| d.json()));
        } else if found.is_empty() {
            text.push_str(&format!("{}: fine\n", source.label));
        } else {
            text.push_str(&input::show(&found, &source.text, std::io::stdout().is_terminal()));
        }
    }
    if args.json {
        text = format!("{:#}\n", json!(list));
    } else if errors + warnings > 0 {
        text.push_str(&format!("{}, {}\n", count(errors, "error"), count(warnings, "warning")));
    }
    super::print(&text)?;
    Ok(ExitCode::from(match (errors, warnings) {
        (0, 0) => super::FINE,
        (0, _) if args.strict => super::FAILED,
        (0, _) => super::FINE,
        _ => super::BAD_INPUT,
    }))
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
