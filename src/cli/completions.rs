//! `pagerdrill completions`.

use std::process::ExitCode;

use clap::CommandFactory;

/// For which shell.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell that is to complete.
    pub shell: clap_complete::Shell,
}

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut super::Cli::command(), "pagerdrill", &mut script);
    super::print(&String::from_utf8(script)?)?;
    Ok(ExitCode::from(super::FINE))
}
