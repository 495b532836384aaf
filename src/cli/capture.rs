//! The command line of a capture.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::common::FactOutput;
use super::profiling::duration;

/// `adoprof capture`.
#[derive(Debug, Args)]
#[command(after_help = "\
The program runs twice. In the first run, the survey records the launches and how long each takes. The second run \
copies the chosen launch with the memory that its parameters reach, as it is before the launch and after it. The folder is a \
ladder: `adoprof step --ladder DIR --kernel captured` replays the launch, checks every byte that it writes, times, \
profiles and diagnoses it. Give the step a `file` to run code of your own in place of the captured code.")]
pub struct CaptureArgs {
    /// Only kernels whose name matches this regular expression; by default, the kernel with the most time.
    #[arg(short, long, value_name = "REGEX")]
    pub kernel: Option<String>,
    /// Which of the matching launches, from 1; by default, one of median duration among those of the kernel with
    /// the most time.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub nth: Option<u64>,
    /// The folder for the ladder, which must not exist yet; by default, named after the kernel.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// The most memory to copy, such as 500MB or 8GB.
    #[arg(long, default_value = "8GB", value_parser = bytes, value_name = "BYTES")]
    pub limit: u64,
    /// Let the program run to its end instead of ending it once the launch is copied.
    #[arg(long)]
    pub keep_running: bool,
    /// Give up on a run of the program after this time, such as 90s or 10m.
    #[arg(long, default_value = "10m", value_parser = duration)]
    pub timeout: Duration,
    /// Format of the result.
    #[command(flatten)]
    pub result: FactOutput,
    /// The program and its arguments.
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

/// Bytes, of a number with `MB` or `GB` behind it.
fn bytes(text: &str) -> Result<u64, String> {
    let wrong = || "expected an amount of memory such as 500MB or 8GB".to_owned();
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text[number.len()..].to_ascii_uppercase().as_str() {
        "MB" | "M" => 1_000_000,
        "GB" | "G" => 1_000_000_000,
        _ => return Err(wrong()),
    };
    let number: u64 = number.parse().map_err(|_| wrong())?;
    number.checked_mul(unit).filter(|bytes| *bytes > 0).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_of_memory_have_a_unit() {
        assert_eq!(
            (bytes("500MB"), bytes("8gb"), bytes("2G")),
            (Ok(500_000_000), Ok(8_000_000_000), Ok(2_000_000_000))
        );
        for text in ["", "8", "8TB", "-1GB", "0GB", "1.5GB", "99999999999999GB"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }
}
