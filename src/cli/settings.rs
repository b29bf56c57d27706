//! `pagerdrill keys` and `pagerdrill theme`, and the reading of what they write.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;

use super::{FINE, input, print};
use crate::incident::Diagnostic;
use crate::store;
use crate::tui::{self, Settings, SettingsFile};

/// The keys in force, as a file to start from.
#[derive(Debug, clap::Args)]
pub struct KeysArgs {
    /// Puts the file where the program reads it, unless there is one.
    #[arg(long)]
    write: bool,
    /// Writes over the file that is there, whatever is in it, with the usual keys.
    #[arg(long, requires = "write")]
    force: bool,
    /// As the tables of the README.
    #[arg(long, hide = true, conflicts_with = "write")]
    markdown: bool,
}

/// A theme, as a file to start from.
#[derive(Debug, clap::Args)]
pub struct ThemeArgs {
    /// The theme; your own, or the default one, when left out.
    #[arg(value_parser = clap::builder::PossibleValuesParser::new(tui::THEMES))]
    name: Option<String>,
    /// Puts the file where the program reads it, unless there is one.
    #[arg(long)]
    write: bool,
    /// Writes over the file that is there, whatever is in it, with the theme that is named, or else the default one.
    #[arg(long, requires = "write")]
    force: bool,
}

/// Where the program reads the player's keys.
fn keys_place() -> anyhow::Result<PathBuf> {
    Ok(store::settings_folder()?.join("keys.ron"))
}

/// Where the program reads the player's theme.
fn theme_place() -> anyhow::Result<PathBuf> {
    Ok(store::settings_folder()?.join("theme.ron"))
}

/// The text of a file that need not be there.
fn read(place: &Path) -> anyhow::Result<Option<String>> {
    match std::fs::read_to_string(place) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", place.display())),
    }
}

/// The player's settings: what is said in the files that are there.
///
/// # Errors
/// When a file cannot be used; what is wrong in it has been said by then.
pub fn settings() -> anyhow::Result<Settings> {
    let mut settings = Settings::default();
    // Without a place for settings there are none.
    for place in keys_place().into_iter().chain(theme_place()) {
        let Some(text) = read(&place)? else { continue };
        let label = place.display().to_string();
        let file = SettingsFile { label: &label, text: &text };
        let keys = place.file_name().is_some_and(|name| name == "keys.ron");
        let added = if keys { settings.with_keys(file) } else { settings.with_theme(file) };
        settings = added.map_err(|wrong| unusable(&wrong, &label, &text))?;
    }
    Ok(settings)
}

/// Says what is wrong in a file and what can be done about it.
fn unusable(wrong: &[Diagnostic], label: &str, text: &str) -> anyhow::Error {
    let terminal = std::io::IsTerminal::is_terminal(&std::io::stderr());
    let shown = input::show(wrong, text, terminal);
    let _ = std::io::stderr().write_all(shown.as_bytes());
    anyhow::anyhow!("{label} cannot be used; mend it, or move it away to play with the usual settings")
}

/// Prints a file, or puts it in its place: over one that is there only when that is asked for.
fn written(text: &str, place: &Path, write: bool, force: bool) -> anyhow::Result<ExitCode> {
    if !write {
        print(text)?;
        return Ok(ExitCode::from(FINE));
    }
    anyhow::ensure!(
        force || !place.exists(),
        "there is a file already: {}; change that one, or write over it with --write --force",
        place.display()
    );
    store::write_whole(place, text).with_context(|| format!("cannot write {}", place.display()))?;
    print(&format!("Written to {}. Change what you like; the next start reads it.\n", place.display()))?;
    Ok(ExitCode::from(FINE))
}

/// What a file is made from: the settings in force, or the usual ones where a file is written over, which may be unusable.
fn start(force: bool) -> anyhow::Result<Settings> {
    if force { Ok(Settings::default()) } else { settings() }
}

/// Runs `keys`.
pub fn keys(args: KeysArgs) -> anyhow::Result<ExitCode> {
    if args.markdown {
        print(&Settings::keys_markdown())?;
        return Ok(ExitCode::from(FINE));
    }
    let place = keys_place()?;
    written(&start(args.force)?.keys_file(&place.display().to_string()), &place, args.write, args.force)
}

/// Runs `theme`.
pub fn theme(args: ThemeArgs) -> anyhow::Result<ExitCode> {
    let place = theme_place()?;
    let text = start(args.force)?.theme_file(args.name.as_deref(), &place.display().to_string());
    written(&text, &place, args.write, args.force)
}
