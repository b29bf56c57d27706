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
