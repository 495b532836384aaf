//! How values flow through a listing.

mod awaited;
pub mod barriers;
pub mod cycles;
pub mod live;
pub mod producer;
pub mod reaching;
pub mod slice;
pub mod turns;
