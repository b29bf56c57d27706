//! `pagerdrill test`.

use std::process::ExitCode;

/// What to test.
#[derive(Debug, Default, clap::Args)]
pub struct Args {}

/// Runs the subcommand.
pub fn run(_args: Args) -> anyhow::Result<ExitCode> {
    anyhow::bail!("`pagerdrill test` is not available yet")
}
