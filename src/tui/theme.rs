//! Colours by role, themes that map the roles, and the glyphs that charts are drawn with.
//!
//! Nothing is told by colour alone: severity has a word, a series has a marker, focus has a thicker border. So a
//! theme without any colour is a theme like the others.

use ratatui::style::{Color, Modifier, Style};

use super::theme_file::ThemeFile;

/// What a colour stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Plain text.
    Text,
    /// Less important text, axes, borders.
    Muted,
    /// Titles and keys.
    Accent,
    /// As it should be.
    Ok,
    /// Look at it.
    Warn,
    /// Breached, failed.
    Crit,
    /// News.
    Info,
    /// The border and title of what has the keys.
    Focus,
    /// The row that Enter would take.
    Selection,
    /// A line of a chart, counted from 0; eight differ.
    Series(usize),
}

/// The name of the player's own theme.
pub(crate) const OWN: &str = "own";

/// The themes by name, in the order in which they are offered.
pub(crate) const THEMES: [&str; 6] = ["default", "light", "ansi16", "okabe-ito", "high-contrast", "mono"];

/// A theme: a style for each role.
#[derive(Clone, Debug)]
pub(crate) struct Theme {
    /// Its name.
    pub(crate) name: &'static str,
    /// What charts are drawn with.
    pub(crate) glyphs: Glyphs,
    text: Style,
    muted: Style,
    accent: Style,
    ok: Style,
    warn: Style,
    crit: Style,
    info: Style,
    focus: Style,
    selection: Style,
    series: [Style; 8],
}

/// What charts and borders are drawn with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Glyphs {
    /// Two by four dots a character.
    Braille,
    /// Two by two blocks a character.
    Block,
    /// Plain ASCII, for terminals and fonts that have nothing else.
    Ascii,
}

impl Glyphs {
    /// The glyphs of that name.
    pub(crate) fn named(name: &str) -> Option<Glyphs> {
        match name {
            "braille" => Some(Glyphs::Braille),
            "block" => Some(Glyphs::Block),
            "ascii" => Some(Glyphs::Ascii),
            _ => None,
        }
    }
}

/// How many colours the terminal shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// 24 bits.
    True,
    /// The 256 of xterm.
    Indexed,
    /// The 16 that the user's own palette defines.
    Sixteen,
}

/// What the environment says about the terminal; read once, at the edge.
#[derive(Clone, Debug, Default)]
pub(crate) struct Surroundings {
    /// `NO_COLOR` is set and not empty.
    pub(crate) no_color: bool,
    /// `COLORTERM`.
    pub(crate) colorterm: String,
    /// `TERM`.
    pub(crate) term: String,
    /// `COLORFGBG`: some terminals say here that they are light.
    pub(crate) colorfgbg: String,
    /// `LC_ALL`, `LC_CTYPE` or `LANG`, the first that is set.
    pub(crate) locale: String,
    /// The player's own theme.
    pub(crate) own: Option<ThemeFile>,
}

impl Surroundings {
    /// Reads the environment.
    pub(crate) fn read() -> Surroundings {
        let get = |name: &str| std::env::var(name).unwrap_or_default();
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].map(get).into_iter().find(|v| !v.is_empty());
        Surroundings {
            no_color: !get("NO_COLOR").is_empty(),
            colorterm: get("COLORTERM"),
            term: get("TERM"),
            colorfgbg: get("COLORFGBG"),
            locale: locale.unwrap_or_default(),
            own: None,
        }
    }

    fn depth(&self) -> Depth {
        if self.colorterm.contains("truecolor") || self.colorterm.contains("24bit") {
            Depth::True
        } else if self.term.contains("256color") || self.term.contains("kitty") {
            Depth::Indexed
        } else {
            Depth::Sixteen
        }
    }

    fn light(&self) -> bool {
        let background = self.colorfgbg.rsplit(';').next().and_then(|v| v.parse::<u8>().ok());
        background.is_some_and(|b| b == 7 || (9..=15).contains(&b))
    }

    /// The themes that can be chosen, the player's own first.
    pub(crate) fn themes(&self) -> Vec<&'static str> {
        self.own.iter().map(|_| OWN).chain(THEMES).collect()
    }

    /// The theme to use: the one asked for, the player's own, or what suits the terminal.
    pub(crate) fn theme(&self, asked: Option<&str>, glyphs: Option<Glyphs>) -> Theme {
        let depth = self.depth();
        let name = match asked {
            Some(name) => name,
            None if self.no_color => "mono",
            None if depth == Depth::Sixteen => "ansi16",
            None if self.light() => "light",
            None => "default",
        };
        let ascii_only = ["C", "POSIX"].contains(&self.locale.as_str()) || self.term == "linux";
        let glyphs = glyphs.unwrap_or(if ascii_only { Glyphs::Ascii } else { Glyphs::Braille });
        match &self.own {
            // What a player has written for this program counts for more than what is said to all of them.
            Some(own) if asked.is_none_or(|name| name == OWN) => own.theme(depth, glyphs),
            _ => Theme::named(name, depth, glyphs),
        }
    }
}

const fn rgb(hex: u32) -> Color {
    Color::Rgb((hex >> 16) as u8, (hex >> 8) as u8, hex as u8)
}

fn fg(color: Color) -> Style {
    Style::new().fg(color)
}

fn bold(color: Color) -> Style {
    fg(color).add_modifier(Modifier::BOLD)
}

impl Theme {
    /// The theme of that name, for that many colours; the default one when there is none of the name.
    pub(crate) fn named(name: &str, depth: Depth, glyphs: Glyphs) -> Theme {
        // Said, not left out: it covers the colour of what stood there before.
        let plain = fg(Color::Reset);
        let reversed = plain.bg(Color::Reset).add_modifier(Modifier::REVERSED);
        let mut theme = match name {
            "light" => Theme {
                name: "light",
                glyphs,
                text: plain,
                muted: fg(rgb(0x6b7280)),
                accent: bold(rgb(0x1d4ed8)),
                ok: fg(rgb(0x15803d)),
                warn: bold(rgb(0xa15c00)),
                crit: bold(rgb(0xb91c1c)),
                info: fg(rgb(0x0369a1)),
                focus: bold(rgb(0x1d4ed8)),
                selection: Style::new().bg(rgb(0xdbe6fb)).fg(rgb(0x111827)).add_modifier(Modifier::BOLD),
                series: [0x1d4ed8, 0xc2410c, 0x0f766e, 0x9d174d, 0x4d7c0f, 0x6d28d9, 0x92660a, 0x374151]
                    .map(|c| fg(rgb(c))),
            },
            "ansi16" => Theme {
                name: "ansi16",
                glyphs,
                text: plain,
                muted: fg(Color::DarkGray),
                accent: bold(Color::Cyan),
                ok: fg(Color::Green),
                warn: bold(Color::Yellow),
                crit: bold(Color::Red),
                info: fg(Color::Cyan),
                focus: bold(Color::Cyan),
                selection: reversed,
                series: [
                    Color::Cyan,
                    Color::Yellow,
                    Color::Green,
                    Color::Magenta,
                    Color::Blue,
                    Color::Red,
                    Color::Reset,
                    Color::DarkGray,
                ]
                .map(fg),
            },
            // The eight colours of Okabe and Ito, which keep apart under every common colour vision. Black is
            // replaced by the terminal's own foreground.
            "okabe-ito" => Theme {
                name: "okabe-ito",
                glyphs,
                text: plain,
                muted: fg(rgb(0x8a8f98)),
                accent: bold(rgb(0x56b4e9)),
                ok: fg(rgb(0x56b4e9)),
                warn: bold(rgb(0xe69f00)),
                crit: bold(rgb(0xd55e00)),
                info: fg(rgb(0x009e73)),
                focus: bold(rgb(0xe69f00)),
                selection: reversed,
                series: [
                    fg(rgb(0x56b4e9)),
                    fg(rgb(0xe69f00)),
                    fg(rgb(0x009e73)),
                    fg(rgb(0xcc79a7)),
                    plain,
                    fg(rgb(0xd55e00)),
                    fg(rgb(0x0072b2)),
                    fg(rgb(0xf0e442)),
                ],
            },
            "high-contrast" => Theme {
                name: "high-contrast",
                glyphs,
                text: plain.add_modifier(Modifier::BOLD),
                muted: plain,
                accent: bold(Color::LightCyan),
                ok: bold(Color::LightGreen),
                warn: bold(Color::LightYellow),
                crit: bold(Color::LightRed).add_modifier(Modifier::REVERSED),
                info: bold(Color::LightCyan),
                focus: bold(Color::LightYellow),
                selection: bold(Color::Black).bg(Color::LightYellow),
                series: [
                    Color::LightCyan,
                    Color::LightYellow,
                    Color::LightGreen,
                    Color::LightMagenta,
                    Color::White,
                    Color::LightRed,
                    Color::LightBlue,
                    Color::Gray,
                ]
                .map(bold),
            },
            "mono" => Theme {
                name: "mono",
                glyphs,
                text: plain,
                muted: plain.add_modifier(Modifier::DIM),
                accent: plain.add_modifier(Modifier::BOLD),
                ok: plain,
                warn: plain.add_modifier(Modifier::BOLD),
                crit: plain.add_modifier(Modifier::BOLD | Modifier::REVERSED),
                info: plain,
                focus: plain.add_modifier(Modifier::BOLD),
                selection: reversed,
                series: [plain; 8],
            },
            // Mid tones that can be read on black and on white: most terminals do not say which they are.
            _ => Theme {
                name: "default",
                glyphs,
                text: plain,
                muted: fg(rgb(0x7f8694)),
                accent: bold(rgb(0x3b8eea)),
                ok: fg(rgb(0x2fa35a)),
                warn: bold(rgb(0xc98a1b)),
                crit: bold(rgb(0xe5484d)),
                info: fg(rgb(0x1f9bb3)),
                focus: bold(rgb(0x3b8eea)),
                selection: reversed,
                series: [0x3b8eea, 0xd9822b, 0x1fa67a, 0xb765d3, 0xc9a21a, 0xe0577b, 0x6f7fe0, 0x8a8f98]
                    .map(|c| fg(rgb(c))),
            },
        };
        theme.reduce(depth);
        theme
    }

    /// The style of a role.
    pub(crate) fn style(&self, role: Role) -> Style {
        match role {
            Role::Text => self.text,
            Role::Muted => self.muted,
            Role::Accent => self.accent,
            Role::Ok => self.ok,
            Role::Warn => self.warn,
            Role::Crit => self.crit,
            Role::Info => self.info,
            Role::Focus => self.focus,
            Role::Selection => self.selection,
            Role::Series(i) => self.series[i % self.series.len()],
        }
    }

    /// Gives a role another style.
    pub(super) fn set(&mut self, role: Role, style: Style, depth: Depth) {
        let place = match role {
            Role::Text => &mut self.text,
            Role::Muted => &mut self.muted,
            Role::Accent => &mut self.accent,
            Role::Ok => &mut self.ok,
            Role::Warn => &mut self.warn,
            Role::Crit => &mut self.crit,
            Role::Info => &mut self.info,
            Role::Focus => &mut self.focus,
            Role::Selection => &mut self.selection,
            Role::Series(i) => &mut self.series[i % 8],
        };
        *place = style;
        reduced(place, depth);
    }

    /// Replaces 24-bit colours by what a terminal with fewer has.
    fn reduce(&mut self, depth: Depth) {
        let roles = [
            &mut self.text,
            &mut self.muted,
            &mut self.accent,
            &mut self.ok,
            &mut self.warn,
            &mut self.crit,
            &mut self.info,
            &mut self.focus,
            &mut self.selection,
        ];
        roles.into_iter().chain(&mut self.series).for_each(|style| reduced(style, depth));
    }
}

fn reduced(style: &mut Style, depth: Depth) {
    for color in [&mut style.fg, &mut style.bg] {
        if let Some(Color::Rgb(r, g, b)) = *color {
            *color = Some(match depth {
                Depth::True => Color::Rgb(r, g, b),
                Depth::Indexed => Color::Indexed(nearest_256(r, g, b)),
                Depth::Sixteen => nearest_16(r, g, b),
            });
        }
    }
}

/// The nearest colour of xterm's 6×6×6 cube or its greys.
fn nearest_256(r: u8, g: u8, b: u8) -> u8 {
    let level = |i: u8| if i == 0 { 0 } else { 55 + 40 * i };
    let near = |v: u8| (0..6u8).min_by_key(|&i| level(i).abs_diff(v)).unwrap_or(0);
    let (cr, cg, cb) = (near(r), near(g), near(b));
    let mean = ((u16::from(r) + u16::from(g) + u16::from(b)) / 3) as u8;
    let grey = (0..24u8).min_by_key(|&i| (8 + 10 * i).abs_diff(mean)).unwrap_or(0);
    let off = |x: u8, y: u8, z: u8| {
        let square = |a: u8, b: u8| u32::from(a.abs_diff(b)).pow(2);
        square(x, r) + square(y, g) + square(z, b)
    };
    let grey_level = 8 + 10 * grey;
    if off(grey_level, grey_level, grey_level) < off(level(cr), level(cg), level(cb)) {
        232 + grey
    } else {
        16 + 36 * cr + 6 * cg + cb
    }
}

/// The nearest of the 16 named colours, by hue, since palettes differ in everything else.
fn nearest_16(r: u8, g: u8, b: u8) -> Color {
    let (max, min) = (r.max(g).max(b), r.min(g).min(b));
    if max - min < 40 {
        return match max {
            0..=60 => Color::Black,
            61..=160 => Color::DarkGray,
            161..=220 => Color::Gray,
            _ => Color::White,
        };
    }
    let half = min + (max - min) / 2;
    match (r > half, g > half, b > half) {
        (true, false, false) => Color::Red,
        (true, true, false) => Color::Yellow,
        (false, true, false) => Color::Green,
        (false, true, true) => Color::Cyan,
        (false, false, true) => Color::Blue,
        _ => Color::Magenta,
    }
}

/// The marker of a series: what tells lines apart without colour.
pub(crate) fn marker(series: usize) -> char {
    ['●', '▲', '■', '◆', '○', '△', '□', '◇'][series % 8]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_terminal_decides_unless_a_theme_is_asked_for() {
        let plain = Surroundings { term: "xterm".to_owned(), ..Surroundings::default() };
        let rich = Surroundings { colorterm: "truecolor".to_owned(), ..plain.clone() };
        let light = Surroundings { colorfgbg: "0;15".to_owned(), ..rich.clone() };
        let bare = Surroundings { no_color: true, ..rich.clone() };
        for (around, asked, wanted) in [
            (&plain, None, "ansi16"),
            (&rich, None, "default"),
            (&light, None, "light"),
            (&bare, None, "mono"),
            (&bare, Some("okabe-ito"), "okabe-ito"),
        ] {
            assert_eq!(around.theme(asked, None).name, wanted);
        }
    }

    #[test]
    fn every_theme_is_found_by_its_name() {
        for name in THEMES {
            assert_eq!(Theme::named(name, Depth::Indexed, Glyphs::Braille).name, name);
        }
    }

    #[test]
    fn mono_has_no_colour_at_all() {
        let theme = Theme::named("mono", Depth::True, Glyphs::Braille);
        for role in [Role::Text, Role::Muted, Role::Crit, Role::Selection, Role::Series(3)] {
            let style = theme.style(role);
            let none = |c: Option<Color>| c.is_none_or(|c| c == Color::Reset);
            assert!(none(style.fg) && none(style.bg), "{role:?}");
        }
    }
}
