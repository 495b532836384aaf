//! SASS, the machine code as text, as data: what an instruction reads, writes and costs.
//!
//! The text comes from ncu's source page, instruction by instruction, with the counts of each. What
//! is worked out here is pure and forgiving: text of an unknown form is an instruction of family
//! [`Family::Other`], never an error. Opcodes are told apart by families, because the compiler
//! picks different ones for each architecture (sm_75 to sm_120 were read for this).

pub mod code;
pub mod flow;
pub mod parse;
pub mod questions;
pub mod thresholds;

pub use code::charge::{Charge, Link};
pub use code::counts::Counts;
pub use code::facts::Facts;
pub use code::listed_instruction::{ListedInstruction, Operation};
pub use code::listing::Listing;
pub use code::marks::Marks;
pub use code::mix::Mix;
pub use code::sass::Sass;
pub use flow::producer::Blame;
pub use parse::access::{Space, width_bytes};
pub use parse::instruction::{Instruction, Operand, OperandKind};
pub use parse::library::Routine;
pub use parse::opcode::{Class, Family, Turns};
pub use parse::register::Slot;
