//! The player's own settings, read once before the first screen.

use super::keymap::{self, KeyMap};
use super::theme::{Surroundings, Theme};
use super::theme_file::{self, ThemeFile};
use crate::incident::Diagnostic;

/// A file of settings: what messages call it, and its text.
#[derive(Clone, Copy, Debug)]
pub struct SettingsFile<'a> {
    /// Its path.
    pub label: &'a str,
    /// What stands in it.
    pub text: &'a str,
}

/// Keys and theme.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    keys: Option<KeyMap>,
    pub(super) theme: Option<ThemeFile>,
}

impl Settings {
    /// Adds what a file of keys says.
    ///
    /// # Errors
    /// Everything that is wrong in it, with line and column.
    pub fn with_keys(mut self, file: SettingsFile<'_>) -> Result<Settings, Vec<Diagnostic>> {
        self.keys = Some(KeyMap::read(file.label, file.text)?);
        Ok(self)
    }

    /// Adds what a theme's file says.
    ///
    /// # Errors
    /// What is wrong in it, with line and column.
    pub fn with_theme(mut self, file: SettingsFile<'_>) -> Result<Settings, Vec<Diagnostic>> {
        self.theme = Some(ThemeFile::read(file.label, file.text)?);
        Ok(self)
    }

    /// Puts the keys in force and says what is known of the terminal, the player's theme included.
    pub(super) fn in_force(self) -> Surroundings {
        if let Some(keys) = self.keys {
            keys.put_in_force();
        }
        Surroundings { own: self.theme, ..Surroundings::read() }
    }

    /// The keys as a file to start from, for that place.
    pub fn keys_file(self, place: &str) -> String {
        self.in_force();
        keymap::file_in_force(place)
    }

    /// All usual keys as Markdown, as the README has them.
    pub fn keys_markdown() -> String {
        KeyMap::usual().markdown()
    }

    /// A theme as a file to start from, for that place: the one of that name, or the player's own.
    pub fn theme_file(self, name: Option<&str>, place: &str) -> String {
        use super::theme::{Depth, Glyphs};
        let theme = match (name, &self.theme) {
            (None, Some(own)) => own.theme(Depth::True, Glyphs::Braille),
            (name, _) => Theme::named(name.unwrap_or("default"), Depth::True, Glyphs::Braille),
        };
        theme_file::file(&theme, place)
    }
}
