//! Arguments in, exit code out.

use std::process::ExitCode;

fn main() -> ExitCode {
    pagerdrill::cli::main(std::env::args_os())
}
