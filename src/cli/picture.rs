//! `pagerdrill picture`: a screen as SVG, for the README.

use std::process::ExitCode;

use super::input;
use crate::tui;
use crate::units::TimeOfDay;

/// What to draw.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Name of a shipped incident, or the path of an incident file or its folder.
    pub incident: String,
    /// Time of day to play to; once for each of the keys.
    #[arg(long, required = true)]
    pub at: Vec<TimeOfDay>,
    /// Keys to press then, as the help writes them, separated by spaces; text to type stands between double quotes.
    #[arg(long)]
    pub keys: Vec<String>,
    /// Size of the simulated system.
    #[arg(long, default_value_t = 1.0)]
    pub scale: f64,
    /// Columns.
    #[arg(long, default_value_t = 120, value_parser = clap::value_parser!(u16).range(20..=400))]
    pub columns: u16,
    /// Rows.
    #[arg(long, default_value_t = 36, value_parser = clap::value_parser!(u16).range(10..=200))]
    pub rows: u16,
}

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let incident = input::incident(&args.incident)?;
    let moments: Vec<_> = args.at.iter().map(|at| incident.at(*at)).collect();
    let mut screen = tui::Screen::live(incident, args.scale, args.columns, args.rows);
    for (i, until) in moments.into_iter().enumerate() {
        screen.play(until);
        // Words between quotes are typed; everything else is keys.
        let keys = args.keys.get(i).map_or("", String::as_str);
        for (k, part) in keys.split('"').enumerate() {
            if k % 2 == 0 {
                screen.press(part)?;
            } else {
                screen.type_text(part);
            }
        }
    }
    super::print(&screen.svg())?;
    Ok(ExitCode::from(super::FINE))
}
