//! Everything that can go wrong, each with one sentence for the user and one exit code.

use std::path::{Path, PathBuf};

/// A result that fails with an [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// What the process exits with; the meaning of each number is part of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitCode {
    /// The command did its work, or a gate passed.
    Success = 0,
    /// A gate found a regression.
    Regression = 1,
    /// Bad usage or unreadable input.
    Usage = 2,
    /// The environment lacks something: no device, no ncu, counters forbidden.
    Environment = 3,
    /// The kernel failed: build, launch, or a wrong answer.
    Kernel = 4,
    /// A gate could not decide.
    Undecided = 5,
}

/// An expected failure: what happened, where, and what to do about it.
///
/// `Display` gives the whole text: one sentence of what happened, then, where there is one, the
/// remedy. The variants are the exit codes' classes, so a new failure needs a message, not a type.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The command line asks for something that does not exist or makes no sense.
    #[error("{0}")]
    Usage(String),
    /// A file or directory that can't be read, written or understood.
    #[error("{}: {problem}", path.display())]
    Input {
        /// The file or directory.
        path: PathBuf,
        /// What is wrong with it and what to do.
        problem: String,
    },
    /// A profile's frames lack a column, or their columns do not fit each other.
    #[error("the profile's tables do not fit together ({0}); export it again")]
    Frames(String),
    /// A ladder's manifest says something that can't be.
    #[error("{}:{line}: {problem}", path.display())]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong and what to write instead.
        problem: String,
    },
    /// The machine lacks something.
    #[error("{0}")]
    Environment(String),
    /// The kernel does not compile, does not launch, or gives a wrong answer.
    #[error("{0}")]
    Kernel(String),
    /// Ctrl-C, or a time limit, ended the work.
    #[error("{0}")]
    Interrupted(String),
}

impl From<polars::error::PolarsError> for Error {
    fn from(error: polars::error::PolarsError) -> Self {
        Self::Frames(error.to_string())
    }
}

impl Error {
    /// An unreadable or senseless file.
    pub fn input(path: impl AsRef<Path>, problem: impl Into<String>) -> Self {
        Self::Input { path: path.as_ref().to_owned(), problem: problem.into() }
    }

    /// An I/O error at a path, in the operating system's words.
    pub fn io(path: impl AsRef<Path>, doing: &str, error: &std::io::Error) -> Self {
        Self::input(path, format!("cannot {doing}: {error}"))
    }

    /// The process exit code of this failure.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) | Self::Input { .. } | Self::Frames(_) | Self::Manifest { .. } => {
                ExitCode::Usage
            }
            Self::Environment(_) | Self::Interrupted(_) => ExitCode::Environment,
            Self::Kernel(_) => ExitCode::Kernel,
        }
    }
}
