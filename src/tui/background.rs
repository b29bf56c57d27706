//! Work beside the screen: runs to compare with, forks, films.

use std::io;
use std::thread;

/// How much a thread's claim to the processor is lowered. A tenth of the share of one that is not is enough for it to be
/// through in time, and a screen that wants to be drawn does not wait for it.
#[cfg(target_os = "linux")]
const NICE: i32 = 10;

/// Starts a thread that leaves the processor to the screen, where the system has priorities of threads.
///
/// # Errors
/// When there can be no further thread.
pub fn in_background(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let run = move || {
        // Elsewhere than on Linux this would slow the whole program. Work is as good without.
        #[cfg(target_os = "linux")]
        let _ = rustix::process::nice(NICE);
        work();
    };
    thread::Builder::new().name(name.to_owned()).spawn(run).map(drop)
}
