//! The terminal front end: it moves a session on, submits commands, and draws views of it. It holds no game state.
//!
//! - [`actions`](self) is the one table of what can be done; keys, help, palette, footer and mouse are made from it.
//! - Layers stand on each other: the top one takes the keys, drawing goes bottom up.
//! - Panes are listed in one place; each draws itself and answers its own actions.

mod actions;
mod app;
mod background;
mod canvas;
mod dialogs;
mod input;
mod keymap;
mod layer;
mod pace;
mod panes;
mod picture;
mod plain;
mod play;
mod screens;
mod settings;
mod terminal;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod theme;
mod theme_file;
mod widgets;

use std::process::ExitCode;
use std::sync::Arc;

use crate::game::{Mode, Session};
use crate::incident::Incident;
use crate::store;
use screens::library::Entry;

pub use background::in_background;
pub use picture::Screen;
pub use screens::watch::{FilmOptions, FilmRow};
pub use settings::{Settings, SettingsFile};
pub use terminal::Unusable;

/// A run as it stands, for those who keep something of it.
pub struct Kept<'a> {
    /// The run.
    pub session: &'a Session,
    /// When it was begun, `20260301-140312`.
    pub begun: &'a str,
    /// Its marks by dimension; none until the runs to compare with are computed.
    pub marks: &'a [(String, String)],
}

/// Keeps a run, or something of it, and says where.
pub type Save = Arc<dyn Fn(&Kept<'_>) -> anyhow::Result<String> + Send + Sync>;

/// What to play and how.
pub struct Options {
    /// The incidents of the menu.
    pub library: Vec<Arc<Incident>>,
    /// Goes straight to the briefing of the incident of that number, in that mode.
    pub start: Option<(usize, Mode)>,
    /// Seed of the engine's random numbers.
    pub seed: u64,
    /// Size of the simulated system, 1 for the described one.
    pub scale: f64,
    /// Speed of the clock at the start.
    pub speed: u32,
    /// A theme, or what suits the terminal.
    pub theme: Option<String>,
    /// `braille`, `block` or `ascii`, or what suits the terminal.
    pub glyphs: Option<String>,
    /// What moves by itself is drawn once a second.
    pub reduced_motion: bool,
    /// The player's own keys and theme.
    pub settings: Settings,
    /// Goes by lines instead of screens.
    pub plain: bool,
    /// Keeps a run and says where.
    pub save: Save,
    /// Writes the finding of a run as JSON and says where.
    pub export: Save,
}

/// Names that [`Options::theme`] takes.
pub const THEMES: [&str; 6] = theme::THEMES;

/// Writes into the entries of the menu how the player stands with them, and which comes next.
type Standings = fn(&mut [Entry]);

/// The [`Standings`] of the progress file, as it is now.
fn read_standings(library: &mut [Entry]) {
    // A progress file that cannot be read is no reason not to play.
    let progress = store::Progress::load().unwrap_or_default();
    let incidents: Vec<Arc<Incident>> =
        library.iter().filter(|entry| !entry.blind).map(|entry| Arc::clone(&entry.incident)).collect();
    let curriculum = store::curriculum(&incidents, &progress);
    for entry in library {
        let id = if entry.blind { store::BLIND } else { entry.incident.file().id.as_str() };
        let found = curriculum.drills.iter().find(|drill| drill.id == id);
        let [best, last] = found.map_or_else(Default::default, |d| [d.best.clone(), d.last.clone()]);
        let next = curriculum.next.as_ref().filter(|next| next.id == id).map(|next| next.why.clone());
        (entry.best, entry.last, entry.next) = (best, last, next);
    }
}

/// Plays in the terminal until the player leaves: on screens, or in lines where there is no terminal that can show one.
///
/// # Errors
/// What the terminal reports.
pub fn play(options: Options) -> anyhow::Result<ExitCode> {
    let surroundings = options.settings.in_force();
    let glyphs = options.glyphs.as_deref().and_then(theme::Glyphs::named);
    let theme = surroundings.theme(options.theme.as_deref(), glyphs);
    let mut library: Vec<Entry> = options.library.iter().map(|i| Entry::new(Arc::clone(i))).collect();
    let setup = app::Setup {
        seed: options.seed,
        scale: options.scale,
        speed: options.speed,
        calm: options.reduced_motion,
    };
    if options.plain || terminal::usable(&surroundings.term).is_err() {
        let ascii = theme.glyphs == theme::Glyphs::Ascii;
        read_standings(&mut library);
        return plain::play(library, setup, (options.save, options.export), options.start, ascii);
    }
    if let Some(first) = options.library.iter().find(|incident| !incident.file().blind.is_empty()) {
        library.push(Entry { blind: true, ..Entry::new(Arc::clone(first)) });
    }
    read_standings(&mut library);
    let guard = terminal::Guard::take(&surroundings.term)?;
    let mut app = app::App::new(library, theme, surroundings, setup, options.save)
        .with_export(options.export)
        .with_standings(read_standings);
    if let Some((entry, mode)) = options.start {
        app.prepare(entry, mode);
    }
    app::run(app, guard)
}

/// Shows runs second by second until the viewer leaves.
///
/// # Errors
/// [`Unusable`] when there is no terminal to show it on, and what the terminal itself reports.
pub fn watch(options: FilmOptions, settings: Settings) -> anyhow::Result<ExitCode> {
    let surroundings = settings.in_force();
    let theme = surroundings.theme(None, None);
    let guard = terminal::Guard::take(&surroundings.term)?;
    let setup = app::Setup { seed: options.seed, scale: options.scale, speed: 1, calm: false };
    let nothing_kept = Arc::new(|_: &Kept<'_>| Ok(String::new()));
    let app = app::App::new(Vec::new(), theme, surroundings, setup, nothing_kept)
        .with_first(Box::new(screens::watch::Watch::new(options)));
    app::run(app, guard)
}
