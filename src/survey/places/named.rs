//! What a file of code knows of an address.

/// What is at an address.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Named {
    /// The function as the compiler spells it.
    pub function: Option<String>,
    /// The source file and the line.
    pub line: Option<(String, u32)>,
}
