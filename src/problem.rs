//! The problem that a step solves, seen from the host: its inputs, the right answer, and how far
//! from it an answer may be.

pub(crate) mod access_pattern;
pub(crate) mod ado;
pub(crate) mod buffer;
pub(crate) mod catalogue;
pub(crate) mod compare;
pub(crate) mod fill;
pub(crate) mod half;
pub(crate) mod increment;
pub(crate) mod matmul;
pub(crate) mod padding;
pub(crate) mod precision;
mod real;
pub(crate) mod reduce;
pub(crate) mod reference;
pub(crate) mod routine;
pub(crate) mod stencil;

pub(crate) use buffer::HostBuffer;
pub(crate) use compare::{Tolerance, compare};
pub(crate) use reference::Expected;
