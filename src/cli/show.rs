//! `pagerdrill show`: what an incident is about. Without `--spoilers` it says what a player knows before the page.

use std::process::ExitCode;

use serde_json::json;

use super::input;
use crate::incident::schema::{IncidentFile, Part};
use crate::incident::{Incident, LOG_STREAMS, series_of};

/// What to show.
#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// Name of a shipped incident, or a path.
    pub incident: String,
    /// Tell the cause, the plans and the figures too.
    #[arg(long)]
    pub spoilers: bool,
    /// List the series and log streams that the incident's files and plans can name.
    #[arg(long)]
    pub names: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let incident = input::incident(&args.incident)?;
    let text =
        if args.json { format!("{:#}\n", as_json(&incident, &args)) } else { as_text(&incident, &args) };
    super::print(&text)?;
    Ok(ExitCode::from(super::FINE))
}

fn as_json(incident: &Incident, args: &Args) -> serde_json::Value {
    let file = incident.file();
    let mut shown = json!({
        "id": file.id,
        "title": file.title,
        "level": file.level,
        "minutes": file.minutes,
        "summary": file.summary,
        "source": file.source,
        "hash": format!("{:016x}", incident.hash()),
        "clock": file.clock,
        "slo": file.slo,
        "briefing": file.briefing,
        "plans": file.plans.keys().collect::<Vec<_>>(),
    });
    if args.names {
        shown["series"] = json!(series_of(incident.file(), incident.spec()));
        shown["log_streams"] = json!(LOG_STREAMS);
    }
    if args.spoilers {
        shown["mechanism"] = json!(file.mechanism);
        shown["plans"] = json!(file.plans);
        shown["expect"] = json!(file.expect);
        shown["follow_ups"] = json!(file.follow_ups);
    }
    shown
}

fn as_text(incident: &Incident, args: &Args) -> String {
    let file = incident.file();
    let level = file.level.words();
    let mut text = format!("{}\n{} - {level}, about {} min\n\n", file.title, file.id, file.minutes);
    text.push_str(&super::wrapped(&file.summary, ""));
    text.push_str(&format!(
        "\nThe clock runs from {} to {}; the page comes at {}.\n\
         Promise to users: {} % of operations over {} succeed within {}.\n\n",
        file.clock.start,
        file.clock.end,
        file.clock.page,
        // A share such as 0.999 is not exact in binary; four digits of a per cent are enough for any promise.
        (file.slo.objective.0 * 1e6 + 0.5).floor() / 1e4,
        days(file.slo.window.as_secs_f64()),
        file.slo.late_after,
    ));
    text.push_str(&super::wrapped(&file.briefing.role, ""));
    for paragraph in &file.briefing.system {
        text.push('\n');
        text.push_str(&super::wrapped(paragraph, ""));
    }
    text.push('\n');
    text.push_str(file.briefing.diagram.trim_matches('\n'));
    text.push('\n');
    if args.names {
        text.push_str("\nSeries\n");
        for name in series_of(incident.file(), incident.spec()) {
            text.push_str(&format!("  {name}\n"));
        }
        text.push_str("\nLog streams\n");
        for stream in LOG_STREAMS {
            text.push_str(&format!("  log:{stream}\n"));
        }
    }
    if args.spoilers {
        spoil(&mut text, file);
    } else {
        text.push_str("\n`pagerdrill show --spoilers` tells the cause. Play first.\n");
    }
    text
}

/// The mechanism, the plans.
fn spoil(text: &mut String, file: &IncidentFile) {
    let mechanism = &file.mechanism;
    text.push_str("\nWHAT IS TRUE\n\n");
    text.push_str(&super::wrapped(&mechanism.summary, ""));
    let mut part = |title: &str, parts: &[&Part]| {
        text.push_str(&format!("\n{title}\n"));
        for part in parts {
            text.push_str(&super::wrapped(&part.text, "  "));
        }
    };
    part("Trigger", &[&mechanism.trigger]);
    part("Amplifiers", &mechanism.amplifiers.iter().collect::<Vec<_>>());
    part("Contributing", &mechanism.contributing.iter().collect::<Vec<_>>());
    part("Bottleneck", &[&mechanism.bottleneck]);
    text.push_str("\nWhat keeps it going\n");
    for (i, step) in mechanism.sustained_by.iter().enumerate() {
        text.push_str(&super::wrapped(&format!("{}. {} ({})", i + 1, step.text, step.series), "  "));
    }
    for (name, plan) in &file.plans {
        text.push_str(&format!("\nPlan \"{name}\"\n"));
        text.push_str(&super::wrapped(&plan.what, "  "));
        for (time, action) in &plan.steps {
            let action = ron::to_string(action).unwrap_or_default();
            text.push_str(&format!("  {time}  {action}\n"));
        }
    }
}

/// A long span as a promise states it.
fn days(seconds: f64) -> String {
    let days = seconds / 86_400.0;
    if days >= 1.0 { format!("{days} days") } else { format!("{} hours", seconds / 3_600.0) }
}
