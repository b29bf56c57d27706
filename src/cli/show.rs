//! `pagerdrill show`.

use std::process::ExitCode;

/// What to show.
#[derive(Debug, Default, clap::Args)]
pub struct Args {}

/// Runs the subcommand.
pub fn run(_args: Args) -> anyhow::Result<ExitCode> {
    anyhow::bail!("`pagerdrill show` is not available yet")
}
