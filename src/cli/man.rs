//! `pagerdrill man`.

use std::process::ExitCode;

use clap::CommandFactory;

/// No arguments.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the subcommand.
pub fn run(_args: Args) -> anyhow::Result<ExitCode> {
    let mut page = Vec::new();
    clap_mangen::Man::new(super::Cli::command()).render(&mut page)?;
    super::print(&String::from_utf8(page)?)?;
    Ok(ExitCode::from(super::FINE))
}
