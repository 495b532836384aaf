//! Sets of registers at the ends of blocks, as they are kept beside a launch.

/// A set of the general registers R0 to R254. Uniform registers and predicates have files of their own.
pub(in crate::sass) type Registers = [u64; 4];

/// The registers that are live at the start and at the end of each block: those that some way from there reads
/// before it writes them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Live {
    pub(in crate::sass) at_start: Vec<Registers>,
    pub(in crate::sass) at_end: Vec<Registers>,
}
