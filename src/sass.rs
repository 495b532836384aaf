//! SASS, the machine code as text, as data: what an instruction reads, writes and costs.
//!
//! The text comes from ncu's source page, instruction by instruction, with the counts of each. What
//! is worked out here is pure and forgiving: text of an unknown form is an instruction of family
//! [`Family::Other`], never an error. Opcodes are told apart by families, because the compiler
//! picks different ones for each architecture (sm_75 to sm_120 were read for this).

pub mod access;
pub mod arrays;
pub mod chain;
pub mod counts;
pub mod doubles;
pub mod entry;
pub mod facts;
pub mod flow;
pub mod idle;
pub mod instruction;
pub mod library;
pub mod listing;
pub mod live;
pub mod marks;
pub mod mix;
pub mod opcode;
pub mod operands;
pub mod producer;
pub mod product;
pub mod reaching;
pub mod register;
pub mod sharing;
pub mod slice;

pub use access::{Space, width_bytes};
pub use counts::Counts;
pub use entry::{Entry, Operation};
pub use facts::Facts;
pub use instruction::{Instruction, Operand, OperandKind};
pub use library::Routine;
pub use listing::{Listing, Sass};
pub use marks::Marks;
pub use mix::Mix;
pub use opcode::{Class, Family};
pub use producer::{Blame, Link};
pub use register::Slot;
