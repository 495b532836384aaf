//! One launch of any program, copied while it runs, as a ladder.
//!
//! [`choose`] says which launch of a survey is meant, [`run()`] runs the program until the library inside has copied it,
//! [`dump`] reads what that wrote, [`code`] finds the kernel's machine code, and [`folder`] writes the ladder.

mod choose;
mod code;
mod dump;
mod folder;
mod request;
mod run;

pub(crate) use choose::{Chosen, chosen};
pub(crate) use request::Request;
pub(crate) use run::run;
