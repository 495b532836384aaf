//! The adoprof program.

use std::process::ExitCode;

use clap::Parser;

use adoprof::cli::Cli;
use adoprof::{cmd, interrupt, launch};

fn main() -> ExitCode {
    let cli = Cli::parse();
    interrupt::watch();
    match cmd::run(&cli) {
        Ok(code) => {
            launch::leave_if_stuck(code as i32);
            ExitCode::from(code as u8)
        }
        Err(error) => {
            eprintln!("adoprof: {error}");
            launch::leave_if_stuck(error.exit_code() as i32);
            ExitCode::from(error.exit_code() as u8)
        }
    }
}
