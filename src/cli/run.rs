//! `pagerdrill run`.

use std::process::ExitCode;

/// What to run.
#[derive(Debug, Default, clap::Args)]
pub struct Args {}

/// Runs the subcommand.
pub fn run(_args: Args) -> anyhow::Result<ExitCode> {
    anyhow::bail!("`pagerdrill run` is not available yet")
}
