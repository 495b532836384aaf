//! Ladders: kernels as data.
//!
//! A ladder is a directory with a `ladder.toml` and `.cu` files. Read, checked, and with its
//! expressions evaluated for one problem size, a step is a [`plan::Plan`], which is all that the
//! launcher sees.

pub mod plan;
