//! `pagerdrill play`.

use std::process::ExitCode;

/// How to play.
#[derive(Debug, Default, clap::Args)]
pub struct Args {}

/// Runs the subcommand.
pub fn run(_args: Args) -> anyhow::Result<ExitCode> {
    anyhow::bail!("`pagerdrill play` is not available yet")
}
