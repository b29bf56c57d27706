//! `pagerdrill list`.

use std::process::ExitCode;

/// What to list.
#[derive(Debug, Default, clap::Args)]
pub struct Args {}

/// Runs the subcommand.
pub fn run(_args: Args) -> anyhow::Result<ExitCode> {
    anyhow::bail!("`pagerdrill list` is not available yet")
}
