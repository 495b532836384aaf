//! The text of an instruction, taken apart.

pub mod access;
pub mod instruction;
pub mod library;
pub mod number;
pub mod opcode;
pub mod operands;
pub mod register;
pub mod system_register;
