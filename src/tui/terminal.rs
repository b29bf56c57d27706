//! The terminal: what is switched on when the game starts, and given back exactly once however it ends.
//!
//! Raw mode, alternate screen, mouse capture, bracketed paste and the cursor belong together: whoever ends the
//! program (a quit, an error, a panic, a signal) gives all of them back by the one [`restore`].

use std::io::{self, IsTerminal, Stdout, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::cursor::{Hide, Show};
use crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use crossterm::execute;
use crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    disable_raw_mode, enable_raw_mode,
};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

/// Whether the terminal is ours at the moment.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Why the terminal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// Input or output is a file or a pipe.
    #[error(
        "this is not a terminal, so there is no screen to show it on.\nStart it in a terminal, or leave --watch out."
    )]
    NotATerminal,
    /// The terminal cannot move its cursor.
    #[error(
        "TERM={0} cannot show a screen of characters.\nSet TERM to what the terminal is (for example TERM=xterm-256color), or leave --watch out."
    )]
    Dumb(String),
}

/// Whether screens can be shown here.
///
/// # Errors
/// Why not.
pub(crate) fn usable(term: &str) -> Result<(), Unusable> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(Unusable::NotATerminal);
    }
    if term.is_empty() || term == "dumb" {
        return Err(Unusable::Dumb(term.to_owned()));
    }
    Ok(())
}

/// Holds the terminal; gives it back when dropped.
pub(crate) struct Guard {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl Guard {
    /// Takes the terminal.
    ///
    /// # Errors
    /// [`Unusable`] when it is not one or a dumb one; whatever the system says otherwise.
    pub(crate) fn take(term: &str) -> anyhow::Result<Guard> {
        usable(term)?;
        // Under NO_COLOR crossterm writes a reset in place of every colour, which takes bold and reverse with it.
        // Which colours there are is the theme's business.
        crossterm::style::force_color_output(true);
        restore_on_panic();
        enter()?;
        let terminal = Terminal::new(CrosstermBackend::new(io::stdout()));
        if terminal.is_err() {
            restore();
        }
        Ok(Guard { terminal: terminal? })
    }

    /// Draws a frame, shown at once by terminals that can.
    pub(crate) fn draw(&mut self, draw: impl FnOnce(&mut ratatui::Frame<'_>)) -> io::Result<()> {
        execute!(io::stdout(), BeginSynchronizedUpdate)?;
        let drawn = self.terminal.draw(draw).map(|_| ());
        execute!(io::stdout(), EndSynchronizedUpdate)?;
        drawn
    }

    /// Forgets what is on the screen, so that the next frame paints all of it.
    pub(crate) fn repaint(&mut self) -> io::Result<()> {
        // Not `Terminal::clear`: it asks the terminal where the cursor is, and the thread that listens for keys
        // would take the answer.
        let size = self.terminal.size()?;
        self.terminal.resize(size.into())
    }

    /// Gives the terminal back, stops the process until it is continued, and takes the terminal again.
    pub(crate) fn suspend(&mut self) -> io::Result<()> {
        restore();
        #[cfg(unix)]
        signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGTSTP)?;
        self.resume()
    }

    /// Takes the terminal again after somebody else had it.
    pub(crate) fn resume(&mut self) -> io::Result<()> {
        TAKEN.store(false, Ordering::SeqCst);
        enter()?;
        self.repaint()
    }

    /// Puts text on the clipboard of whoever looks at the terminal, also over SSH.
    pub(crate) fn copy(&mut self, text: &str) -> io::Result<()> {
        let mut out = io::stdout();
        write!(out, "\x1b]52;c;{}\x07", base64(text.as_bytes()))?;
        out.flush()
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        restore();
    }
}

fn enter() -> io::Result<()> {
    enable_raw_mode()?;
    TAKEN.store(true, Ordering::SeqCst);
    let entered =
        execute!(io::stdout(), EnterAlternateScreen, EnableMouseCapture, EnableBracketedPaste, Hide);
    if entered.is_err() {
        restore();
    }
    entered
}

/// Gives the terminal back; does nothing when it was given back before.
pub(crate) fn restore() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        // Nothing can be done about a terminal that is gone.
        let _ = execute!(
            io::stdout(),
            EndSynchronizedUpdate,
            DisableBracketedPaste,
            DisableMouseCapture,
            LeaveAlternateScreen,
            Show
        );
        let _ = disable_raw_mode();
    }
}

/// A panic gives the terminal back before it reports, so that the report can be read.
fn restore_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            restore();
            report(info);
        }));
    });
}

/// Base64 as OSC 52 wants it.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let n = chunk.iter().fold(0u32, |n, &b| n << 8 | u32::from(b)) << (8 * (3 - chunk.len()));
        for i in 0..4 {
            let letter = LETTERS[(n >> (18 - 6 * i) & 63) as usize];
            out.push(if i <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::base64;

    #[test]
    fn base64_pads_as_the_standard_says() {
        for (text, code) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")] {
            assert_eq!(base64(text.as_bytes()), code);
        }
    }
}
