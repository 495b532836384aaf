//! The adoprof program.

use std::process::ExitCode;

use adoprof::cli::Cli;
use adoprof::error::Error;
use adoprof::ncu::watcher;
use adoprof::text::{printable, printable_lines};
use adoprof::{cli, cmd, interrupt, launch};

fn main() -> ExitCode {
    cmd::honour_colour(std::env::args_os());
    let (parsed, wrong) = parsed();
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => {
            let text = error.render().to_string();
            match cli::meant(&error, words()) {
                Some(sentence) => eprintln!("adoprof: {}", printable(&sentence)),
                None => eprint!("adoprof: {}", text.strip_prefix("error: ").unwrap_or(&text)),
            }
            return ExitCode::from(adoprof::error::ExitCode::Usage as u8);
        }
        // --help and --version.
        Err(error) => error.exit(),
    };
    if let Some(error) = wrong {
        return failed(&error);
    }
    if let Ok(program) = std::env::current_exe() {
        watcher::enable(program);
    }
    if cmd::notices_interrupts(&cli) {
        interrupt::watch();
    }
    let result = cmd::run(&cli);
    watcher::dismiss();
    match result {
        Ok(code) => {
            launch::leave_if_stuck(code as i32);
            ExitCode::from(code as u8)
        }
        Err(error) => failed(&error),
    }
}

/// The words of the command line, what is no text made readable.
fn words() -> impl Iterator<Item = String> {
    std::env::args_os().map(|word| word.to_string_lossy().into_owned())
}

/// The command line with the settings as defaults, and what is wrong with those: then help and the version can be had
/// all the same, and nothing else.
fn parsed() -> (Result<Cli, clap::Error>, Option<Error>) {
    let parsed = cli::settings().and_then(|settings| {
        cmd::honour_colour_setting(&settings, std::env::args_os());
        cli::parse(settings)
    });
    match parsed {
        Ok(parsed) => (parsed, None),
        Err(error) => (cli::parse_alone(), Some(error)),
    }
}

/// Says what went wrong.
fn failed(error: &Error) -> ExitCode {
    eprintln!("adoprof: {}", printable_lines(&error.to_string()));
    launch::leave_if_stuck(error.exit_code() as i32);
    ExitCode::from(error.exit_code() as u8)
}
