//! ncu's pages as CSV: `raw`, `details` and `source`.

pub mod details;
pub mod ncu_message;
pub mod number;
pub mod page;
pub mod pages;
pub mod raw;
pub mod source;

pub(crate) use pages::DETAILS_ALONE;
pub use pages::Pages;
