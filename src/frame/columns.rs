//! The frames' columns, each name once: which frame has which stands at [`Frames`](super::Frames).

/// The launch's number within the profile (u32), in every frame.
pub const LAUNCH: &str = "launch";

/// The kernel's demangled name with its parameters.
pub const KERNEL: &str = "kernel";
/// Blocks along x, y, z (u32).
pub const GRID: [&str; 3] = ["grid_x", "grid_y", "grid_z"];
/// Threads per block along x, y, z (u32).
pub const BLOCK: [&str; 3] = ["block_x", "block_y", "block_z"];
/// The device's name; null where the export does not tell it.
pub const DEVICE: &str = "device";
/// The compute capability's major and minor number (u32); null where the export does not tell it.
pub const CAPABILITY: [&str; 2] = ["cc_major", "cc_minor"];

/// The section's identifier, empty where the export does not say it.
pub const SECTION: &str = "section";
/// A metric's name: ncu's in [`metrics`](super::Frames::metrics), the catalogue's where
/// [`by_catalogue`](super::by_catalogue) has renamed it.
pub const METRIC: &str = "metric";
/// ncu's base unit, empty for plain counts.
pub const UNIT: &str = "unit";
/// A metric's value (f64); null for text and for what was not available.
pub const VALUE: &str = "value";
/// The text of a text metric, of a source line, or of an instruction.
pub const TEXT: &str = "text";

/// The identifier or title of ncu's rule.
pub const RULE: &str = "rule";
/// How ncu's rule ended, in the words of [`NcuRuleKind::word`](crate::export::NcuRuleKind::word).
pub const KIND: &str = "kind";
/// ncu's text.
pub const MESSAGE: &str = "message";
/// ncu's estimate in percent (f64); null where it gives none.
pub const ESTIMATE: &str = "estimate_percent";
/// True where the estimate is of the whole kernel.
pub const GLOBAL: &str = "global";

/// The source file; null without line information.
pub const FILE: &str = "file";
/// The line from 1 (u32); null without line information.
pub const LINE: &str = "line";
/// The instruction's address (u64).
pub const ADDRESS: &str = "address";

/// An instruction's control codes as they stand in it from bit 105 on (u32): stall cycles, barriers, waits; null
/// where the export does not tell them.
pub const CONTROL: &str = "control";

/// What makes two launches alike: the same kernel with the same grid and block.
pub const ALIKE: [&str; 7] = [KERNEL, GRID[0], GRID[1], GRID[2], BLOCK[0], BLOCK[1], BLOCK[2]];
