//! The command line: one file per subcommand.
//!
//! Each subcommand has its arguments and a `run` that returns an exit code. An error out of `run` is bad input and
//! ends with 2; a check or a test that failed is no error, it returns [`FAILED`].

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub mod check;
pub mod completions;
pub mod fork;
mod hysteresis;
pub mod input;
pub mod lab;
pub mod list;
pub mod man;
mod many;
pub mod picture;
pub mod play;
mod progress;
mod real;
pub mod replay;
pub mod report;
pub mod run;
pub mod settings;
pub mod shard;
pub mod show;
pub mod stats;
mod table;
pub mod test;
mod watch;

/// All is well.
pub const FINE: u8 = 0;
/// The check or the test failed.
pub const FAILED: u8 = 1;
/// Wrong usage or bad input.
pub const BAD_INPUT: u8 = 2;

/// A flight simulator for on-call engineers: staged incidents on a request-level simulation.
#[derive(Debug, Parser)]
#[command(name = "pagerdrill", version, max_term_width = 100, after_help = AFTER_HELP)]
pub struct Cli {
    /// What to do; the menu opens when left out.
    #[command(subcommand)]
    pub command: Option<Command>,
}

const AFTER_HELP: &str = "INCIDENT is the name of a shipped incident, see `pagerdrill list`, or the path of a file or \
folder.\nExit codes: 0 fine, 1 the check or test failed, 2 wrong usage or bad input.";

/// What the program can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Play an incident in the terminal.
    Play(play::Args),
    /// Run an incident without a player and print what came of it.
    Run(run::Args),
    /// Compare what incidents' runs give with the figures that their files state.
    Test(test::Args),
    /// Put together what several `test --shard` have printed.
    Merge(shard::Args),
    /// Compare an incident with variants of it, side by side.
    Lab(lab::Args),
    /// Read and validate incident files; say what is wrong and where.
    Check(check::Args),
    /// Run a saved run again, or verify that it still gives the same.
    Replay(replay::Args),
    /// Print the report of a saved run.
    Report(report::Args),
    /// Play a saved run again with one decision changed, beside what it was.
    Fork(fork::Args),
    /// Show how far you are, and what to play next.
    Stats(stats::Args),
    /// List the incidents that this program ships.
    List(list::Args),
    /// Show what an incident is about, without giving its cause away.
    Show(show::Args),
    /// Print the keys in force as a file to start from, for keys of your own.
    Keys(settings::KeysArgs),
    /// Print a theme as a file to start from, for colours of your own.
    Theme(settings::ThemeArgs),
    /// Print completions for a shell.
    Completions(completions::Args),
    /// Print the manual page.
    Man(man::Args),
    /// Draw a screen as SVG, as the README's pictures are.
    #[command(hide = true)]
    Picture(picture::Args),
}

/// Runs the program with these arguments, the program's name first.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version come this way too: those go to standard output and are fine.
            let code = if error.use_stderr() { BAD_INPUT } else { FINE };
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    let result = match cli.command {
        None => play::run(play::Args::default()),
        Some(Command::Play(args)) => play::run(args),
        Some(Command::Run(args)) => run::run(args),
        Some(Command::Test(args)) => test::run(args),
        Some(Command::Lab(args)) => lab::run(args),
        Some(Command::Merge(args)) => shard::run(args),
        Some(Command::Check(args)) => check::run(args),
        Some(Command::Replay(args)) => replay::run(args),
        Some(Command::Report(args)) => report::run(args),
        Some(Command::Fork(args)) => fork::run(args),
        Some(Command::Stats(args)) => stats::run(args),
        Some(Command::List(args)) => list::run(args),
        Some(Command::Show(args)) => show::run(args),
        Some(Command::Keys(args)) => settings::keys(args),
        Some(Command::Theme(args)) => settings::theme(args),
        Some(Command::Completions(args)) => completions::run(args),
        Some(Command::Man(args)) => man::run(args),
        Some(Command::Picture(args)) => picture::run(args),
    };
    match result {
        Ok(code) => code,
        Err(error) if is_broken_pipe(&error) => ExitCode::from(FINE),
        Err(error) => {
            let _ = writeln!(io::stderr(), "pagerdrill: {error:#}");
            ExitCode::from(BAD_INPUT)
        }
    }
}

/// Writes text to standard output. A reader that has gone away is an error here and none for [`main`].
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Columns of the terminal that is written to, if it is one.
fn columns() -> Option<usize> {
    let terminal = std::io::IsTerminal::is_terminal(&std::io::stdout());
    crossterm::terminal::size().ok().filter(|_| terminal).map(|size| usize::from(size.0))
}

/// A paragraph, broken at spaces into lines of at most 78 columns, each indented and ended.
pub fn wrapped(paragraph: &str, indent: &str) -> String {
    const COLUMNS: usize = 78;
    let mut text = String::new();
    let mut column = 0;
    for word in paragraph.split_whitespace() {
        let width = word.chars().count();
        if column > 0 && column + 1 + width <= COLUMNS {
            text.push(' ');
            column += 1;
        } else {
            if column > 0 {
                text.push('\n');
            }
            text.push_str(indent);
            column = indent.chars().count();
        }
        text.push_str(word);
        column += width;
    }
    text.push('\n');
    text
}

/// Whoever reads our output may stop reading: `pagerdrill list | head -1`.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}
