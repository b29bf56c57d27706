//! What screens, panes and dialogs draw on: a buffer, the theme, and the boxes that the mouse can hit.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::symbols::border;
use ratatui::text::{Line, Span};

use super::actions::Id;
use super::theme::{Role, Theme};

/// What a click on a place means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hit {
    /// As if the action's key were pressed.
    Act(Id),
    /// The drawing layer or pane knows what its item of that number is.
    Item(usize),
    /// That item of the pane of the first number.
    InPane(usize, usize),
    /// A pane, by its number; also takes the wheel.
    Pane(usize),
}

/// A surface with a theme.
pub(crate) struct Canvas<'a> {
    /// The cells.
    pub(crate) buf: &'a mut Buffer,
    /// The theme.
    pub(crate) theme: &'a Theme,
    /// Boxes that the mouse can hit, later ones on top.
    pub(crate) hits: &'a mut Vec<(Rect, Hit)>,
    /// Where the cursor stands, when something is typed into.
    pub(crate) cursor: &'a mut Option<Position>,
}

impl Canvas<'_> {
    /// The style of a role.
    pub(crate) fn style(&self, role: Role) -> Style {
        self.theme.style(role)
    }

    /// Writes text into a row of `area`, cut with an ellipsis; returns the columns used.
    pub(crate) fn text(&mut self, area: Rect, row: u16, text: &str, role: Role) -> u16 {
        let style = self.style(role);
        self.line(area, row, &Line::from(Span::styled(text, style)))
    }

    /// Writes a line into a row of `area`, cut with an ellipsis; returns the columns used.
    pub(crate) fn line(&mut self, area: Rect, row: u16, line: &Line<'_>) -> u16 {
        let area = area.intersection(self.buf.area);
        if row >= area.height || area.width == 0 {
            return 0;
        }
        let y = area.y + row;
        // What stood there before leaves nothing behind, neither its colour nor that it was dim.
        let width = (line.width() as u16).min(area.width);
        self.buf.set_style(Rect { y, height: 1, width, ..area }, Style::reset());
        let (end, _) = self.buf.set_line(area.x, y, line, area.width);
        if line.width() > usize::from(area.width)
            && let Some(cell) = self.buf.cell_mut((area.right() - 1, y))
        {
            cell.set_symbol("…");
        }
        end.saturating_sub(area.x)
    }

    /// Writes a line at the right end of a row.
    pub(crate) fn line_right(&mut self, area: Rect, row: u16, line: &Line<'_>) {
        let width = (line.width() as u16).min(area.width);
        let right = Rect { x: area.right() - width, width, ..area };
        self.line(right, row, line);
    }

    /// Says in the border of a list how many of its rows lie above and below what is shown.
    pub(crate) fn beyond(&mut self, frame: Rect, above: usize, below: usize) {
        let border = Rect { x: frame.x + 2, width: frame.width.saturating_sub(4), ..frame };
        for (row, n, place) in [(0, above, "above"), (frame.height.saturating_sub(1), below, "below")] {
            if n > 0 {
                let text = format!(" {n} more {place} ");
                self.line_right(border, row, &Line::from(Span::styled(text, self.style(Role::Info))));
            }
        }
    }

    /// A border with a title, and something at the right of the top line; what has the keys gets a thick one. Returns the inside.
    pub(crate) fn frame(&mut self, area: Rect, title: &str, right: &Line<'_>, focus: bool) -> Rect {
        let area = area.intersection(self.buf.area);
        if area.width < 2 || area.height < 2 {
            return Rect { width: 0, height: 0, ..area };
        }
        let (set, role) = if focus { (border::THICK, Role::Focus) } else { (border::ROUNDED, Role::Muted) };
        let style = self.style(role);
        let (left, top, end, bottom) = (area.x, area.y, area.right() - 1, area.bottom() - 1);
        let mut put = |x: u16, y: u16, symbol: &str| {
            if let Some(cell) = self.buf.cell_mut((x, y)) {
                cell.set_symbol(symbol).set_style(style);
            }
        };
        for x in left..=end {
            put(x, top, set.horizontal_top);
            put(x, bottom, set.horizontal_bottom);
        }
        for y in top..=bottom {
            put(left, y, set.vertical_left);
            put(end, y, set.vertical_right);
        }
        put(left, top, set.top_left);
        put(end, top, set.top_right);
        put(left, bottom, set.bottom_left);
        put(end, bottom, set.bottom_right);
        let top_line = Rect { x: left + 2, y: top, width: area.width.saturating_sub(4), height: 1 };
        let mut used = 0;
        if !title.is_empty() {
            let title_style = if focus { style } else { self.style(Role::Text) };
            used = self.line(top_line, 0, &Line::from(Span::styled(format!(" {title} "), title_style)));
        }
        let width = right.width() as u16;
        if width > 0 && used + width + 2 <= top_line.width {
            let place = Rect { x: top_line.right() - width - 2, width: width + 2, ..top_line };
            self.line(place, 0, &Line::from(" "));
            self.line(Rect { x: place.x + 1, width, ..place }, 0, right);
            self.line(Rect { x: place.right() - 1, width: 1, ..place }, 0, &Line::from(" "));
        }
        Rect { x: left + 1, y: top + 1, width: area.width - 2, height: area.height - 2 }
    }

    /// Empties an area.
    pub(crate) fn clear(&mut self, area: Rect) {
        for position in area.intersection(self.buf.area).positions() {
            if let Some(cell) = self.buf.cell_mut(position) {
                cell.reset();
            }
        }
    }

    /// Styles a row over its whole width, as for the selected one.
    pub(crate) fn highlight(&mut self, area: Rect, row: u16, role: Role) {
        if row < area.height {
            let style = Style::reset().patch(self.style(role));
            let row = Rect { y: area.y + row, height: 1, ..area }.intersection(self.buf.area);
            // One style for the whole row: reversed, every colour of its own would become a background.
            self.buf.set_style(row, Style::reset());
            self.buf.set_style(row, style);
        }
    }

    /// Makes an area clickable.
    pub(crate) fn hit(&mut self, area: Rect, hit: Hit) {
        self.hits.push((area, hit));
    }

    /// Makes a row of an area clickable.
    pub(crate) fn hit_row(&mut self, area: Rect, row: u16, hit: Hit) {
        if row < area.height {
            self.hit(Rect { y: area.y + row, height: 1, ..area }, hit);
        }
    }
}

/// Breaks text into lines of at most `width` columns, at spaces where possible. Line breaks in the text stay.
pub(crate) fn wrap(text: &str, width: u16) -> Vec<String> {
    let width = usize::from(width.max(1));
    let mut lines = Vec::new();
    for paragraph in text.split('\n') {
        let mut line = String::new();
        let mut used = 0;
        for word in crate::report::words(paragraph) {
            let word_width = columns(&word);
            if used > 0 && used + 1 + word_width <= width {
                line.push(' ');
                line.push_str(&word);
                used += 1 + word_width;
                continue;
            }
            if used > 0 {
                lines.push(std::mem::take(&mut line));
            }
            used = 0;
            for c in word.chars() {
                let wide = columns(c.encode_utf8(&mut [0; 4]));
                if used + wide > width && used > 0 {
                    lines.push(std::mem::take(&mut line));
                    used = 0;
                }
                line.push(c);
                used += wide;
            }
        }
        lines.push(line);
    }
    lines
}

/// Columns that a text takes.
pub(crate) fn columns(text: &str) -> usize {
    Span::raw(text).width()
}

/// A rectangle of at most that size in the middle of an area.
pub(crate) fn centred(area: Rect, width: u16, height: u16) -> Rect {
    let (width, height) = (width.min(area.width), height.min(area.height));
    Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height }
}

/// Replaces everything that is not ASCII by what comes nearest to it.
pub(crate) fn to_ascii(buf: &mut Buffer) {
    for cell in &mut buf.content {
        if !cell.symbol().is_ascii() {
            let plain = cell.symbol().chars().next().map_or(' ', ascii);
            cell.set_char(plain);
        }
    }
}

/// What comes nearest to a character in ASCII.
pub(crate) fn ascii(c: char) -> char {
    match c {
        c if c.is_ascii() => c,
        '─' | '━' | '–' | '—' | '╌' | '┄' => '-',
        '│' | '┃' | '┊' | '╎' => '|',
        '╭' | '╮' | '╰' | '╯' | '┏' | '┓' | '┗' | '┛' | '┌' | '┐' | '└' | '┘' | '├' | '┤' | '┬' | '┴'
        | '┼' => '+',
        '·' | '…' => '.',
        '×' => 'x',
        '▶' | '›' | '→' | '▸' => '>',
        '◀' | '‹' | '←' => '<',
        '↑' | '▴' => '^',
        '↓' | '▼' | '▾' => 'v',
        '●' | '•' => '*',
        '▲' => 'A',
        '■' => '#',
        '◆' => '%',
        '○' => 'o',
        '△' => 'a',
        '□' => '=',
        '◇' => '&',
        '⏸' => '=',
        'µ' => 'u',
        '’' | '‘' => '\'',
        '“' | '”' => '"',
        'á' | 'à' | 'ä' | 'â' => 'a',
        'é' | 'è' | 'ë' | 'ê' => 'e',
        'í' | 'ï' => 'i',
        'ó' | 'ö' | 'ô' => 'o',
        'ú' | 'ü' => 'u',
        'ñ' => 'n',
        'ç' => 'c',
        _ => '?',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_broken_at_spaces_and_long_words_anywhere() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefgh ij", 3), ["abc", "def", "gh", "ij"]);
        assert_eq!(wrap("a\n\nb", 9), ["a", "", "b"]);
        assert_eq!(wrap("about 35 % fail", 9), ["about", "35 % fail"]);
        assert_eq!(wrap("", 9), [""]);
        assert_eq!(wrap("x", 0), ["x"]);
    }
}
