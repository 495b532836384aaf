//! Other people's programs: what changes to their kernels gained, and how far that was from what rules
//! promise of them today.

mod first_sight;
mod said;
mod spread;
mod table;
pub mod thresholds;

pub use first_sight::{Judged, first_sight, judged_of};
pub use said::{Said, said};
pub use spread::ratio;
pub use table::{Change, ChangedKernel, PublicProgram, all};
