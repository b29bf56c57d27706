//! `pagerdrill lab INCIDENT --watch`: one row second by second, on a screen or as a line for each second.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use crate::headless::frames::{Cast, film};
use crate::headless::{Options, Pilot};
use crate::incident::closest;
use crate::tui::{self, FilmOptions, FilmRow};

/// Most names that an error lists.
const NAMES_LISTED: usize = 16;

/// Shows a row of the lab; the first one when `wanted` is empty.
pub(super) fn run(
    rows: Vec<FilmRow>,
    wanted: &str,
    pilot: Pilot,
    options: Options,
) -> anyhow::Result<ExitCode> {
    let at = find(&rows, wanted)?;
    let dumb = std::env::var("TERM").is_ok_and(|term| term == "dumb");
    if io::stdin().is_terminal() && io::stdout().is_terminal() && !dumb {
        let film = FilmOptions { rows, at, pilot, seed: options.seed, scale: options.scale };
        return tui::watch(film, super::settings::settings()?);
    }
    let row = &rows[at];
    let cast = Cast::of(&row.incident, options.scale);
    let mut out = io::stdout().lock();
    let key = cast.key.as_deref().map(|key| format!("; cache entry: {key}")).unwrap_or_default();
    writeln!(
        out,
        "{}, {}; seed {}, scale {}{key}",
        row.incident.file().id,
        row.name,
        options.seed,
        options.scale
    )?;
    let mut written = Ok(());
    film(&row.incident, &pilot, options, |frame| {
        written = writeln!(out, "{}", frame.line(&cast));
        written.is_ok()
    })?;
    written?;
    out.flush()?;
    Ok(ExitCode::from(super::FINE))
}

/// The row of that name.
fn find(rows: &[FilmRow], wanted: &str) -> anyhow::Result<usize> {
    if wanted.is_empty() {
        anyhow::ensure!(!rows.is_empty(), "the lab has no row to watch");
        return Ok(0);
    }
    if let Some(at) = rows.iter().position(|row| row.name == wanted) {
        return Ok(at);
    }
    let names = || rows.iter().map(|row| row.name.as_str());
    let help = match closest(wanted, names()) {
        Some(meant) => format!("did you mean \"{meant}\"?"),
        None => {
            let listed: Vec<String> = names().take(NAMES_LISTED).map(|name| format!("\"{name}\"")).collect();
            format!("there is {}", listed.join(", "))
        }
    };
    anyhow::bail!("--watch: no row or variant is called \"{wanted}\"; {help}")
}
