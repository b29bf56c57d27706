//! `pagerdrill list`: the incidents that this program ships.

use std::process::ExitCode;

use serde_json::json;

use super::input;

/// How to list.
#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// Print a JSON list: id, title, level, minutes, summary, source.
    #[arg(long)]
    pub json: bool,
}

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut text = String::new();
    let mut list = Vec::new();
    for incident in input::shipped() {
        let file = incident.file();
        list.push(json!({
            "id": file.id,
            "title": file.title,
            "level": file.level,
            "minutes": file.minutes,
            "summary": file.summary,
            "source": file.source,
        }));
        let level = file.level.words();
        text.push_str(&format!("{}  {} ({level}, about {} min)\n", file.id, file.title, file.minutes));
        text.push_str(&super::wrapped(&file.summary, "    "));
    }
    if text.is_empty() {
        text.push_str("this program ships no incidents; `pagerdrill play FILE` plays your own\n");
    }
    super::print(&if args.json { format!("{:#}\n", json!(list)) } else { text })?;
    Ok(ExitCode::from(super::FINE))
}
