//! Pictures of the program, for the README: a screen drawn into a buffer and written as SVG.

use std::cell::Cell as Shared;
use std::fmt::Write as _;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::backend::CrosstermBackend;
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};
use ratatui::{Terminal, TerminalOptions, Viewport};

use super::actions::Key;
use super::app::{App, Setup};
use super::screens::library::Entry;
use super::theme::{Depth, Glyphs, Surroundings, Theme};
use crate::game::Mode;
use crate::incident::Incident;
use crate::units::SimTime;

/// Colours of a terminal's own text and background.
const TEXT: (u8, u8, u8) = (0xd5, 0xd8, 0xdf);
const BACKGROUND: (u8, u8, u8) = (0x0f, 0x11, 0x17);
/// Size of a cell in the picture.
const CELL: (u32, u32) = (9, 19);

/// The screens without a terminal: for pictures and for measuring them.
pub struct Screen {
    app: App,
    terminal: Terminal<CrosstermBackend<Counted>>,
    written: Counted,
    area: Rect,
}

/// Counts what is written and keeps none of it.
#[derive(Clone, Default)]
struct Counted(Rc<Shared<usize>>);

impl io::Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.set(self.0.get() + bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Screen {
    /// An incident that is played live, at the start of its clock.
    pub fn live(incident: Arc<Incident>, scale: f64, columns: u16, rows: u16) -> Screen {
        let library = vec![Entry::new(incident)];
        let theme = Theme::named("default", Depth::True, Glyphs::Braille);
        let setup = Setup { seed: 1, scale, speed: 60, calm: false };
        let nothing_kept = Arc::new(|_: &super::Kept<'_>| Ok(String::new()));
        let mut app = App::new(library, theme, Surroundings::default(), setup, nothing_kept);
        let area = Rect::new(0, 0, columns, rows);
        app.resize(columns, rows);
        app.prepare(0, Mode::Live);
        let options = TerminalOptions { viewport: Viewport::Fixed(area) };
        let written = Counted::default();
        let terminal = Terminal::with_options(CrosstermBackend::new(written.clone()), options);
        let terminal = terminal.expect("a surface of a fixed size asks nobody for its size");
        let mut screen = Screen { app, terminal, written, area };
        screen.press_one(Key { code: KeyCode::Enter, ctrl: false, alt: false });
        screen
    }

    /// Lets the clock go on until an instant.
    pub fn play(&mut self, until: SimTime) {
        while self.app.play().is_some_and(|p| p.moves() && p.view().now() < until) {
            self.app.advance(Duration::from_millis(17));
        }
    }

    /// Presses keys, written as in the help and separated by spaces.
    ///
    /// # Errors
    /// When one is no key.
    pub fn press(&mut self, keys: &str) -> anyhow::Result<()> {
        for name in keys.split_whitespace() {
            let key = Key::read(name).ok_or_else(|| anyhow::anyhow!("`{name}` is not a key"))?;
            self.press_one(key);
        }
        Ok(())
    }

    /// Types text, a key a character.
    pub fn type_text(&mut self, text: &str) {
        for c in text.chars() {
            self.press_one(Key { code: KeyCode::Char(c), ctrl: false, alt: false });
        }
    }

    fn press_one(&mut self, key: Key) {
        let control = if key.ctrl { KeyModifiers::CONTROL } else { KeyModifiers::NONE };
        let alt = if key.alt { KeyModifiers::ALT } else { KeyModifiers::NONE };
        self.app.key(KeyEvent::new(key.code, control | alt));
    }

    /// Draws a frame as a terminal would get it; says how many bytes that took.
    pub fn frame(&mut self) -> usize {
        // Counting does not fail.
        let _ = self.terminal.draw(|frame| {
            self.app.draw(frame.buffer_mut());
        });
        self.written.0.take()
    }

    /// The screen as text, a line a row.
    pub fn text(&mut self) -> String {
        let mut buffer = Buffer::empty(self.area);
        self.app.draw(&mut buffer);
        let rows = buffer.content.chunks(usize::from(self.area.width.max(1)));
        let row = |cells: &[Cell]| cells.iter().map(Cell::symbol).collect::<String>() + "\n";
        rows.map(row).collect()
    }

    /// The screen as SVG.
    pub fn svg(&mut self) -> String {
        let mut buffer = Buffer::empty(self.area);
        self.app.draw(&mut buffer);
        // A picture shows what is being computed.
        while self.app.waits() {
            std::thread::sleep(Duration::from_millis(50));
            buffer.reset();
            self.app.draw(&mut buffer);
        }
        svg(&buffer)
    }
}

/// A colour as hexadecimal; the sixteen of a terminal do not occur in the theme that is drawn.
fn hex(color: Color, own: (u8, u8, u8)) -> String {
    let (r, g, b) = if let Color::Rgb(r, g, b) = color { (r, g, b) } else { own };
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Colours and weight of a cell, reversal resolved.
fn look(cell: &Cell) -> (String, String, bool) {
    let (text, background) = (hex(cell.fg, TEXT), hex(cell.bg, BACKGROUND));
    let bold = cell.modifier.contains(Modifier::BOLD);
    if cell.modifier.contains(Modifier::REVERSED) {
        (background, text, bold)
    } else {
        (text, background, bold)
    }
}

/// A buffer as SVG: a rectangle and a text for each run of cells that look alike, every character on the grid of cells.
fn svg(buffer: &Buffer) -> String {
    let area = buffer.area;
    let (width, height) = (u32::from(area.width) * CELL.0, u32::from(area.height) * CELL.1);
    let ground = hex(Color::Reset, BACKGROUND);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-8 -8 {} {}\" \
         font-family=\"'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"15\">\n\
         <rect x=\"-8\" y=\"-8\" width=\"100%\" height=\"100%\" fill=\"{ground}\"/>\n",
        width + 16,
        height + 16,
    );
    for y in area.top()..area.bottom() {
        let cells: Vec<&Cell> = (area.left()..area.right()).filter_map(|x| buffer.cell((x, y))).collect();
        let mut x = 0;
        while x < cells.len() {
            let looks = look(cells[x]);
            let end = (x..cells.len()).find(|&i| look(cells[i]) != looks).unwrap_or(cells.len());
            let text: String = cells[x..end].iter().map(|c| c.symbol()).collect();
            run(&mut out, (x as u32, u32::from(y - area.y)), &text, &looks, &ground);
            x = end;
        }
    }
    out.push_str("</svg>\n");
    out
}

/// One run of cells.
fn run(out: &mut String, at: (u32, u32), text: &str, looks: &(String, String, bool), ground: &str) {
    let (color, background, bold) = looks;
    let columns = text.chars().count() as u32;
    let (x, y) = (at.0 * CELL.0, at.1 * CELL.1);
    if background != ground {
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" fill=\"{background}\"/>",
            columns * CELL.0,
            CELL.1
        );
    }
    let kept = text.trim_end();
    let shown = kept.trim_start();
    if shown.is_empty() {
        return;
    }
    let skipped = (kept.chars().count() - shown.chars().count()) as u32;
    let weight = if *bold { " font-weight=\"bold\"" } else { "" };
    // Every character has its place: not every font gives all of them the same width.
    let places: Vec<String> =
        (0..shown.chars().count() as u32).map(|i| (x + (skipped + i) * CELL.0).to_string()).collect();
    let escaped = shown.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let _ = writeln!(
        out,
        "<text x=\"{}\" y=\"{}\" xml:space=\"preserve\" fill=\"{color}\"{weight}>{escaped}</text>",
        places.join(" "),
        y + 14,
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_cells_become_texts_on_the_grid() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 8, 1));
        buffer.set_string(1, 0, "a<b", ratatui::style::Style::new().fg(Color::Rgb(1, 2, 3)));
        let svg = svg(&buffer);
        assert!(svg.contains("x=\"9 18 27\" y=\"14\"") && svg.contains(">a&lt;b</text>"), "{svg}");
        assert!(svg.contains("fill=\"#010203\""), "{svg}");
        assert_eq!(svg.matches("<text").count(), 1);
    }
}
