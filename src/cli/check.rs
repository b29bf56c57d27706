//! `pagerdrill check`.

use std::process::ExitCode;

/// What to check.
#[derive(Debug, Default, clap::Args)]
pub struct Args {}

/// Runs the subcommand.
pub fn run(_args: Args) -> anyhow::Result<ExitCode> {
    anyhow::bail!("`pagerdrill check` is not available yet")
}
