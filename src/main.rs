//! The adoprof program.

use std::process::ExitCode;

use clap::Parser;

use adoprof::cli::Cli;
use adoprof::{cmd, interrupt};

fn main() -> ExitCode {
    let cli = Cli::parse();
    interrupt::watch();
    match cmd::run(&cli) {
        Ok(code) => ExitCode::from(code as u8),
        Err(error) => {
            eprintln!("adoprof: {error}");
            ExitCode::from(error.exit_code() as u8)
        }
    }
}
