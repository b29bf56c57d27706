//! What reaches the loop: keys, mouse, paste and resizes from one thread, signals from another.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use crossterm::event::Event;

use super::terminal;

/// Something that the loop must answer.
#[derive(Debug)]
pub(crate) enum Input {
    /// A key, the mouse, a paste, a resize.
    Terminal(Event),
    /// A line that was typed, where play goes by lines.
    Line(String),
    /// The terminal is gone.
    Closed,
    /// Asked to end, by this signal.
    End(i32),
    /// Asked to stop until continued.
    Suspend,
    /// Continued after a stop.
    Resumed,
}

/// Starts listening.
///
/// # Errors
/// When signals or a thread cannot be had.
pub(crate) fn listen() -> std::io::Result<Receiver<Input>> {
    let (to_loop, from_outside) = channel();
    let to_loop_too = to_loop.clone();
    thread::Builder::new().name("terminal input".to_owned()).spawn(move || {
        loop {
            let input = match crossterm::event::read() {
                Ok(event) => Input::Terminal(event),
                Err(_) => Input::Closed,
            };
            let last = matches!(input, Input::Closed);
            if to_loop.send(input).is_err() || last {
                return;
            }
        }
    })?;
    signals(to_loop_too)?;
    Ok(from_outside)
}

/// Sends the signals that concern whoever plays.
///
/// # Errors
/// When a thread cannot be had.
#[cfg(unix)]
pub(crate) fn signals(to_loop: Sender<Input>) -> std::io::Result<()> {
    use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP};
    let mut arriving = signal_hook::iterator::Signals::new([SIGTERM, SIGHUP, SIGINT, SIGTSTP, SIGCONT])?;
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in arriving.forever() {
            let input = match signal {
                SIGTSTP => Input::Suspend,
                SIGCONT => Input::Resumed,
                _ => Input::End(signal),
            };
            let ends = matches!(input, Input::End(_));
            let _ = to_loop.send(input);
            if ends {
                // The loop saves and leaves. One that hangs must not keep the terminal.
                thread::sleep(Duration::from_secs(3));
                terminal::restore();
                std::process::exit(128 + signal);
            }
        }
    })?;
    Ok(())
}

/// There are no signals here.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub(crate) fn signals(_: Sender<Input>) -> std::io::Result<()> {
    Ok(())
}
