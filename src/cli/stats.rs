//! `pagerdrill stats`: how far somebody is, and what to play next.

use std::process::ExitCode;

use serde_json::json;

use super::table::aligned;
use super::{FINE, input, print};
use crate::score::Dimension;
use crate::store::{self, Curriculum, Progress};

/// Version of what `--json` prints.
const SCHEMA: u32 = 1;

/// How to print.
#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let progress = Progress::load()?;
    let curriculum = store::curriculum(&input::shipped(), &progress);
    print(&if args.json {
        let mut told = serde_json::to_value(&curriculum)?;
        told["schema"] = json!(SCHEMA);
        format!("{told:#}\n")
    } else {
        text(&curriculum)
    })?;
    Ok(ExitCode::from(FINE))
}

fn text(curriculum: &Curriculum) -> String {
    let mut rows = vec![["drill", "", "best", "last", "runs", "last played"].map(str::to_owned).to_vec()];
    let or_dash = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
    for drill in &curriculum.drills {
        rows.push(vec![
            drill.id.clone(),
            drill.title.clone(),
            or_dash(&drill.best),
            or_dash(&drill.last),
            drill.runs.to_string(),
            drill.played.map_or("-".to_owned(), |day| day.to_string()),
        ]);
    }
    let mut text = aligned(&rows);
    let labels: Vec<&str> = Dimension::ALL.into_iter().map(Dimension::label).collect();
    text.push('\n');
    text.push_str(&super::wrapped(
        &format!(
            "A letter for each of: {}. P performed, S with some challenge, M mended at a cost, U unable, - not asked.",
            labels.join(", ").to_lowercase()
        ),
        "",
    ));
    let played = curriculum.trends.iter().filter(|trend| !trend.letters.is_empty());
    let mut rows = vec![["dimension", "from the first run to the last", "trend"].map(str::to_owned).to_vec()];
    rows.extend(played.map(|trend| {
        let direction = match trend.change {
            None => "too few runs to say",
            Some(change) if change >= 0.5 => "better",
            Some(change) if change <= -0.5 => "worse",
            Some(_) => "about the same",
        };
        vec![trend.dimension.to_owned(), trend.letters.clone(), direction.to_owned()]
    }));
    if rows.len() > 1 {
        text.push('\n');
        text.push_str(&aligned(&rows));
    }
    if let Some(next) = &curriculum.next {
        text.push('\n');
        text.push_str(&super::wrapped(&format!("Next: {}. {}", next.id, next.why), ""));
    }
    for due in curriculum.due.iter().skip(1) {
        text.push_str(&super::wrapped(&format!("Due too: {}. {}", due.id, due.why), ""));
    }
    text
}
