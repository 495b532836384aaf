//! Loops that multiply on the tensor units: what brings their operands, and whether it runs ahead.

mod behind;
mod conversions;
mod depth;
mod group_tiles;
mod masked;
mod operands;
mod padded;
mod products;
mod repeated_rows;
mod staged;
mod symmetric;
mod unrolled;

pub use conversions::{Conversions, conversions};
pub use depth::{DepthStep, depth_step};
pub use group_tiles::{GroupTile, group_tiles};
pub use masked::{MaskedLoop, masked};
pub use operands::{Operands, operand_loads};
pub use padded::{emptiest, filled};
pub use products::{is_warp_product, members};
pub use repeated_rows::{Fetch, RepeatedRows, repeated_rows};
pub use staged::{StagedLoop, Way, staged};
pub use symmetric::symmetric;
pub use unrolled::unrolled;
