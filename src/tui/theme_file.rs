//! A player's own theme: a file that gives roles colours, on top of a theme that the program has.
//!
//! ```ron
//! (
//!     based_on: "default",
//!     accent: "bold #3b8eea",
//!     selection: "black on bright-yellow",
//!     series: ["#56b4e9", "#e69f00"],
//! )
//! ```

use std::fmt::Write as _;

use ratatui::style::{Color, Modifier, Style};
use serde::{Deserialize, Deserializer};

use super::theme::{Depth, Glyphs, Role, THEMES, Theme};
use crate::incident::{Diagnostic, Outline, Severity, Step, closest, unreadable};

/// What the file can say.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename = "Theme")]
pub(crate) struct ThemeFile {
    based_on: Option<String>,
    text: Option<Look>,
    muted: Option<Look>,
    accent: Option<Look>,
    ok: Option<Look>,
    warn: Option<Look>,
    crit: Option<Look>,
    info: Option<Look>,
    focus: Option<Look>,
    selection: Option<Look>,
    series: Vec<Look>,
}

/// A style as it is written: `bold #3b8eea on black`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Look(Style);

const COLORS: [(&str, Color); 17] = [
    ("default", Color::Reset),
    ("black", Color::Black),
    ("red", Color::Red),
    ("green", Color::Green),
    ("yellow", Color::Yellow),
    ("blue", Color::Blue),
    ("magenta", Color::Magenta),
    ("cyan", Color::Cyan),
    ("white", Color::Gray),
    ("bright-black", Color::DarkGray),
    ("bright-red", Color::LightRed),
    ("bright-green", Color::LightGreen),
    ("bright-yellow", Color::LightYellow),
    ("bright-blue", Color::LightBlue),
    ("bright-magenta", Color::LightMagenta),
    ("bright-cyan", Color::LightCyan),
    ("bright-white", Color::White),
];

const MODIFIERS: [(&str, Modifier); 5] = [
    ("bold", Modifier::BOLD),
    ("dim", Modifier::DIM),
    ("italic", Modifier::ITALIC),
    ("underlined", Modifier::UNDERLINED),
    ("reversed", Modifier::REVERSED),
];

fn color(word: &str) -> Option<Color> {
    if let Some(hex) = word.strip_prefix('#').filter(|h| h.len() == 6 && h.is_ascii()) {
        let part = |i: usize| u8::from_str_radix(&hex[i..i + 2], 16).ok();
        return Some(Color::Rgb(part(0)?, part(2)?, part(4)?));
    }
    if let Ok(index) = word.parse::<u8>() {
        return Some(Color::Indexed(index));
    }
    COLORS.iter().find(|c| c.0 == word).map(|c| c.1)
}

impl Look {
    fn read(text: &str) -> Result<Look, String> {
        let mut style = Style::new().fg(Color::Reset);
        let mut behind = false;
        for word in text.split_whitespace() {
            if word == "on" {
                behind = true;
            } else if let Some((_, modifier)) = MODIFIERS.iter().find(|m| m.0 == word) {
                style = style.add_modifier(*modifier);
            } else if let Some(color) = color(word) {
                style = if behind { style.bg(color) } else { style.fg(color) };
                behind = false;
            } else {
                let known = COLORS.iter().map(|c| c.0).chain(MODIFIERS.iter().map(|m| m.0));
                let hint = match closest(word, known) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => "a colour is #3b8eea, 0 to 255, or a name such as cyan or bright-cyan; beside it may stand bold, \
                             dim, italic, underlined, reversed, and `on` with the colour behind"
                        .to_owned(),
                };
                return Err(format!("`{word}` is no colour; {hint}"));
            }
        }
        if behind { Err("a colour is missing behind `on`".to_owned()) } else { Ok(Look(style)) }
    }

    fn words(style: Style) -> String {
        let name = |color: Color| match color {
            Color::Rgb(r, g, b) => format!("#{r:02x}{g:02x}{b:02x}"),
            Color::Indexed(i) => i.to_string(),
            other => COLORS.iter().find(|c| c.1 == other).map_or("default", |c| c.0).to_owned(),
        };
        let mut words: Vec<String> =
            MODIFIERS.iter().filter(|m| style.add_modifier.contains(m.1)).map(|m| m.0.to_owned()).collect();
        words.push(name(style.fg.unwrap_or(Color::Reset)));
        if let Some(behind) = style.bg.filter(|c| *c != Color::Reset) {
            words.push(format!("on {}", name(behind)));
        }
        words.join(" ")
    }
}

impl<'de> Deserialize<'de> for Look {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Look, D::Error> {
        Look::read(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl ThemeFile {
    /// Reads a player's file.
    ///
    /// # Errors
    /// What is wrong in it, with its place.
    pub(crate) fn read(label: &str, text: &str) -> Result<ThemeFile, Vec<Diagnostic>> {
        let options =
            ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME);
        let file: ThemeFile =
            options.from_str(text).map_err(|error| vec![unreadable(label, text, &error)])?;
        let outline = Outline::of(text);
        let mut wrong = Vec::new();
        let mut say = |field: &str, message: String, help: String| {
            let span = outline.find(text, &[Step::from(field)]);
            wrong.push(Diagnostic::new(Severity::Error, label, text, span, message, Some(help)));
        };
        if let Some(name) = file.based_on.as_deref().filter(|n| !THEMES.contains(n)) {
            let help = match closest(name, THEMES) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("there is {}", THEMES.join(", ")),
            };
            say("based_on", format!("`{name}` is no theme"), help);
        }
        if file.series.len() > 8 {
            let n = file.series.len();
            say("series", format!("{n} colours are too many"), "charts have up to eight lines".to_owned());
        }
        if wrong.is_empty() { Ok(file) } else { Err(wrong) }
    }

    /// The theme that the file makes.
    pub(crate) fn theme(&self, depth: Depth, glyphs: Glyphs) -> Theme {
        let mut theme = Theme::named(self.based_on.as_deref().unwrap_or("default"), depth, glyphs);
        for (role, look) in [
            (Role::Text, self.text),
            (Role::Muted, self.muted),
            (Role::Accent, self.accent),
            (Role::Ok, self.ok),
            (Role::Warn, self.warn),
            (Role::Crit, self.crit),
            (Role::Info, self.info),
            (Role::Focus, self.focus),
            (Role::Selection, self.selection),
        ] {
            if let Some(look) = look {
                theme.set(role, look.0, depth);
            }
        }
        for (i, look) in self.series.iter().enumerate() {
            theme.set(Role::Series(i), look.0, depth);
        }
        theme.name = super::theme::OWN;
        theme
    }
}

/// A theme as a file that can be changed.
pub(crate) fn file(theme: &Theme, place: &str) -> String {
    let based_on = if theme.name == super::theme::OWN { "default" } else { theme.name };
    let mut text = format!(
        "// A theme of pagerdrill. It reads it from {place}; what is left out is as in the theme that\n\
         // it is based on. A colour is #3b8eea, a number of the 256, or one of the sixteen names (cyan, bright-cyan),\n\
         // with bold, dim, italic, underlined or reversed beside it, and `on` before the colour behind.\n(\n    \
         based_on: \"{based_on}\",\n"
    );
    for (name, role, what) in [
        ("text", Role::Text, "plain text"),
        ("muted", Role::Muted, "less important text, axes, borders"),
        ("accent", Role::Accent, "titles and keys"),
        ("ok", Role::Ok, "as it should be"),
        ("warn", Role::Warn, "look at it"),
        ("crit", Role::Crit, "breached, failed"),
        ("info", Role::Info, "news"),
        ("focus", Role::Focus, "border and title of what has the keys"),
        ("selection", Role::Selection, "the row that Enter would take"),
    ] {
        let _ = writeln!(text, "    {name}: \"{}\", // {what}", Look::words(theme.style(role)));
    }
    let series: Vec<String> =
        (0..8).map(|i| format!("\"{}\"", Look::words(theme.style(Role::Series(i))))).collect();
    let _ = writeln!(text, "    series: [{}], // lines of a chart\n)", series.join(", "));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_changes_the_roles_that_it_mentions() {
        let text = "(based_on: \"mono\", crit: \"bold #ff0000 on black\", series: [\"cyan\"])";
        let theme =
            ThemeFile::read("theme.ron", text).expect("a good file").theme(Depth::True, Glyphs::Block);
        let red = Style::new().fg(Color::Rgb(255, 0, 0)).bg(Color::Black).add_modifier(Modifier::BOLD);
        assert_eq!(theme.style(Role::Crit), red);
        assert_eq!(theme.style(Role::Series(0)).fg, Some(Color::Cyan));
        let mono = Theme::named("mono", Depth::True, Glyphs::Block);
        assert_eq!(theme.style(Role::Muted), mono.style(Role::Muted));
    }

    #[test]
    fn every_theme_can_be_written_and_read_again() {
        for name in THEMES {
            let theme = Theme::named(name, Depth::True, Glyphs::Braille);
            let text = file(&theme, "theme.ron");
            let again = ThemeFile::read("theme.ron", &text)
                .expect("its own file")
                .theme(Depth::True, Glyphs::Braille);
            for role in [Role::Muted, Role::Crit, Role::Accent, Role::Series(3)] {
                assert_eq!(again.style(role).fg, theme.style(role).fg, "{name}: {text}");
                assert_eq!(again.style(role).add_modifier, theme.style(role).add_modifier, "{name}: {text}");
            }
        }
    }

    #[test]
    fn mistakes_are_named_with_line_and_column() {
        for (text, wanted) in [
            (
                "(\n  acent: \"red\",\n)",
                "theme.ron:2:3: error: `acent` is no field of Theme (did you mean `accent`?)",
            ),
            ("(accent: \"blod red\")", "`blod` is no colour; did you mean `bold`?"),
            ("(accent: \"#12345\")", "`#12345` is no colour; a colour is #3b8eea"),
            ("(accent: \"red on\")", "a colour is missing behind `on`"),
            (
                "(based_on: \"defualt\")",
                "theme.ron:1:12: error: `defualt` is no theme (did you mean `default`?)",
            ),
            ("(accent: 5)", "theme.ron:1:"),
        ] {
            let wrong = ThemeFile::read("theme.ron", text).expect_err(text);
            let said: Vec<String> = wrong.iter().map(ToString::to_string).collect();
            assert!(said.iter().any(|s| s.contains(wanted)), "{text}: {said:?}");
        }
    }
}
