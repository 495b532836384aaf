//! What series over commits are called.

use crate::history::{Point, Series, short};
use crate::kernel_name;

/// What a series is of; the kernel's name takes so many columns at most.
pub(crate) fn name(series: &Series, most: usize) -> String {
    let kernel = series.kernel.as_deref().map(|kernel| kernel_name::short(kernel, most));
    let size = if series.size.is_empty() { String::new() } else { format!(" at {}", series.size) };
    match kernel {
        Some(kernel) => format!("{kernel} of {}{size}", series.program),
        None => format!("{}{size}", series.program),
    }
}

/// The same with the device, where that is known.
pub(crate) fn title(series: &Series, most: usize) -> String {
    let name = name(series, most);
    if series.device.is_empty() { name } else { format!("{name} on {}", series.device) }
}

/// A commit's name for people; of a profile without one its date.
pub(crate) fn commit(point: &Point) -> &str {
    point.commit.as_deref().map_or(point.date.as_str(), short)
}
