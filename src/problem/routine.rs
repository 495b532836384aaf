//! The library routines that are timed beside a ladder's steps: which there are, and what they work on.

use crate::plan::{DType, Role};

/// A routine that a manifest can name as `library`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Routine {
    /// Its name.
    pub name: &'static str,
    /// The parameter that is the extent of its square matrices.
    pub parameter: &'static str,
    /// Buffers that it works on, with their roles and element types.
    pub buffers: &'static [(&'static str, Role, DType)],
}

/// The routines that the program can time.
pub(crate) const ROUTINES: &[Routine] = &[Routine {
    name: "cublas-sgemm",
    parameter: "n",
    buffers: &[
        ("A", Role::Input, DType::F32),
        ("B", Role::Input, DType::F32),
        ("C", Role::Output, DType::F32),
    ],
}];

/// The routine of that name.
#[must_use]
pub(crate) fn find(name: &str) -> Option<&'static Routine> {
    ROUTINES.iter().find(|routine| routine.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routines_are_found_by_name() {
        assert_eq!(find("cublas-sgemm").map(|routine| routine.parameter), Some("n"));
        assert!(find("cublas").is_none());
    }
}
