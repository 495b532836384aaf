//! Other people's programs: what changes to their kernels gained, and how far that was from what rules
//! promise of them today.

mod said;
mod spread;
mod table;
pub mod thresholds;

pub use said::{Said, said};
pub use spread::{Spread, spread};
pub use table::{Change, ChangedKernel, PublicProgram, all};
