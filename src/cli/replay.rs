//! `pagerdrill replay`.

use std::process::ExitCode;

/// What to replay.
#[derive(Debug, Default, clap::Args)]
pub struct Args {}

/// Runs the subcommand.
pub fn run(_args: Args) -> anyhow::Result<ExitCode> {
    anyhow::bail!("`pagerdrill replay` is not available yet")
}
