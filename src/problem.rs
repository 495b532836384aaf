//! The problem that a step solves, seen from the host: its inputs, the right answer, and how far
//! from it an answer may be.

pub mod access_pattern;
pub mod ado;
pub mod buffer;
pub mod catalogue;
pub mod compare;
pub mod fill;
pub mod half;
pub mod increment;
pub mod matmul;
pub mod padding;
pub mod precision;
mod real;
pub mod reduce;
pub mod reference;
pub mod routine;
pub mod stencil;

pub use buffer::HostBuffer;
pub use compare::{Tolerance, compare};
pub use reference::Expected;
