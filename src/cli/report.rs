//! `pagerdrill report`.

use std::process::ExitCode;

/// What to report.
#[derive(Debug, Default, clap::Args)]
pub struct Args {}

/// Runs the subcommand.
pub fn run(_args: Args) -> anyhow::Result<ExitCode> {
    anyhow::bail!("`pagerdrill report` is not available yet")
}
