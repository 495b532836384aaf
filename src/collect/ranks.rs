//! Collecting from the ranks of a program: its launcher starts each rank under an ncu of its own, so that each leaves a
//! report of its own, and one that hangs or fails spoils no other.

mod clock;
mod joined;
pub(crate) mod launcher;
pub(crate) mod port;
mod run;
pub(crate) mod wrapper;

pub(crate) use joined::joined;
pub(crate) use run::{RankProfiled, Ranked, collect};
