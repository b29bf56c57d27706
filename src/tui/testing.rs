//! Drawing into a buffer and reading it as text, for tests.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::canvas::{Canvas, Hit, to_ascii};
use super::theme::{Depth, Glyphs, Theme};

/// What is drawn on a surface of that size, a line a row, without trailing spaces.
pub(crate) fn draw(width: u16, height: u16, draw: impl FnOnce(&mut Canvas<'_>, Rect)) -> String {
    draw_with("mono", Glyphs::Braille, width, height, draw)
}

/// The same with a theme and glyphs.
pub(crate) fn draw_with(
    theme: &str,
    glyphs: Glyphs,
    width: u16,
    height: u16,
    draw: impl FnOnce(&mut Canvas<'_>, Rect),
) -> String {
    let area = Rect::new(0, 0, width, height);
    let mut buf = Buffer::empty(area);
    let theme = Theme::named(theme, Depth::True, glyphs);
    let (mut hits, mut cursor): (Vec<(Rect, Hit)>, _) = (Vec::new(), None);
    draw(&mut Canvas { buf: &mut buf, theme: &theme, hits: &mut hits, cursor: &mut cursor }, area);
    if glyphs == Glyphs::Ascii {
        to_ascii(&mut buf);
    }
    text(&buf)
}

/// A buffer as text, and below it how each row looks: runs of cells of one style, as in `a3 b77`, then what the letters are.
pub(crate) fn look(buf: &Buffer) -> String {
    let mut styles: Vec<String> = Vec::new();
    let mut rows = String::new();
    for y in buf.area.top()..buf.area.bottom() {
        let mut runs: Vec<(usize, u16)> = Vec::new();
        for x in buf.area.left()..buf.area.right() {
            let Some(cell) = buf.cell((x, y)) else { continue };
            let style = format!("{} on {} {:?}", cell.fg, cell.bg, cell.modifier);
            let known = styles.iter().position(|s| *s == style).unwrap_or_else(|| {
                styles.push(style);
                styles.len() - 1
            });
            match runs.last_mut() {
                Some((last, n)) if *last == known => *n += 1,
                _ => runs.push((known, 1)),
            }
        }
        let run = |(style, n): (usize, u16)| format!("{}{n}", letter(style));
        let runs: Vec<String> = runs.into_iter().map(run).collect();
        rows.push_str(&format!("{:>3} {}\n", y + 1, runs.join(" ")));
    }
    let styles = styles.iter().enumerate().map(|(i, style)| format!("  {} {style}\n", letter(i)));
    format!("{}\n\n{rows}\n{}", text(buf), styles.collect::<String>())
}

fn letter(style: usize) -> char {
    char::from(b'a' + (style % 26) as u8)
}

/// A buffer as text.
pub(crate) fn text(buf: &Buffer) -> String {
    let mut lines: Vec<String> = Vec::new();
    for y in buf.area.top()..buf.area.bottom() {
        let row: String = (buf.area.left()..buf.area.right())
            .filter_map(|x| buf.cell((x, y)))
            .map(|cell| cell.symbol())
            .collect();
        lines.push(row.trim_end().to_owned());
    }
    lines.join("\n")
}
