//! NVIDIA's instruction encodings, and the text that they stand for.
//!
//! A cubin holds instructions of 16 bytes. [`Isa::write`] gives the text that NVIDIA's disassembler and
//! ncu's source page print for one, so that nothing after it knows whether the text came from ncu or
//! from here. [`control::Control`] reads what the text leaves out: stall cycles, barriers, waits.
//!
//! What an opcode says is data: `isa/instructions.table`, a line for each opcode, described in [`table`].
//! It was found by experiments with NVIDIA's disassembler: bits set one at a time, and what changes in its
//! text. Modifiers that no compiler emits are not all in it.

pub mod architecture;
pub mod control;
pub mod encoding;
mod number;
mod render;
mod table;
mod template;

pub use render::{Isa, UNKNOWN};
