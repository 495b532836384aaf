//! The hidden subcommand that a launcher runs in the program's place.

use crate::cli::RankArgs;
use crate::collect::ranks::wrapper;
use crate::error::{ExitCode, Result};

pub(super) fn run(args: &RankArgs) -> Result<ExitCode> {
    match wrapper::become_rank(&args.folder, &args.program)? {}
}
