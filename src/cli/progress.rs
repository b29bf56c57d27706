//! A line on stderr that says what is being run, so that a long wait is no silence.

use std::io::{IsTerminal, Write};

/// The line. It is written on a terminal only, over itself, and goes when this is dropped.
pub(super) struct Progress {
    shown: bool,
}

impl Progress {
    /// No line yet.
    pub(super) fn new() -> Progress {
        Progress { shown: false }
    }

    /// Shows a text in place of the one before.
    pub(super) fn say(&mut self, text: &str) {
        let mut stderr = std::io::stderr();
        if stderr.is_terminal() {
            // A terminal that does not know its size says 0.
            let known = crossterm::terminal::size().ok().map(|s| usize::from(s.0)).filter(|c| *c > 0);
            let columns = known.unwrap_or(80);
            // A line that wraps could not be written over.
            let cut: String = text.chars().take(columns.saturating_sub(1)).collect();
            let _ = write!(stderr, "\r\x1b[K{cut}");
            let _ = stderr.flush();
            self.shown = true;
        }
    }

    /// Shows how many of all runs are done.
    pub(super) fn bar(&mut self, done: usize, of: usize) {
        let full = done * BAR / of.max(1);
        self.say(&format!("{}{} {done} of {of} runs", "█".repeat(full), "░".repeat(BAR - full)));
    }
}

/// Columns of the bar.
const BAR: usize = 30;

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
