//! What is asked of a capture, and what it came to.

use std::path::Path;

use super::choose::Chosen;
use crate::survey::run::Program;

/// What to capture.
pub(crate) struct Request<'a> {
    /// The program.
    pub program: Program<'a>,
    /// Its launches that will do: the next is taken where one changes nothing.
    pub chosen: &'a [Chosen],
    /// The ladder's folder, which is not there yet.
    pub output: &'a Path,
    /// The most memory to copy, bytes.
    pub limit: u64,
    /// The program runs to its end.
    pub keep_running: bool,
}

/// What was captured.
pub(crate) struct Captured {
    /// The launch.
    pub chosen: Chosen,
    /// Stretches of memory.
    pub stretches: usize,
    /// Their size, bytes.
    pub bytes: u64,
    /// What the user should know, each one sentence.
    pub notices: Vec<String>,
}
