//! What is said of narrow accesses.

use crate::evidence::ModeledLaunch;
use crate::evidence::modeled_launch::GRID;
use crate::term::Term;
use crate::text::{count, percent};

/// What to do, for so many elements per access at a place; more where addresses take more than the accesses, where a thread moves
/// neighbouring elements one after the other, and where what it moves are operands of matrix products.
pub(super) fn hint(
    elements: f64,
    at: &str,
    [is_few, are_pairs, are_operands]: [bool; 3],
) -> String {
    let said = |when: bool, text: &'static str| if when { text } else { "" };
    format!(
        "Let each thread take {} neighbouring elements per access at {at} (float4, uint4 or \
         uchar4, by reinterpret_cast or as the array's type). Addresses must be multiples of \
         the width, the end of the array needs separate code, and each thread needs more \
         registers.{}{}{}",
        count(elements),
        said(
            is_few,
            " Compute the offset once per vector: contiguous arrays need a path of their own, without loops over dimensions, and \
             elsewhere the innermost dimension must be contiguous and a multiple of the vector. What all threads work out alike, \
             such as whether an array is contiguous, the host can pass as an argument."
        ),
        said(
            are_pairs,
            " A thread moves two neighbouring elements one after the other there: one access of twice the width does for both. \
             Where records begin at addresses that are no multiple of that width, let a warp bring them to shared memory by \
             whole words first."
        ),
        said(
            are_operands,
            " These are operands of matrix products: 16 bytes at a time, they can be copied past the \
             registers while earlier ones are multiplied (cp.async, 4 bytes per lane at least)."
        ),
    )
}

/// What goes with accesses that are few themselves.
pub(super) fn said_of(beside: f64, total: f64) -> String {
    format!(
        " {} of {} executed warp instructions ({}) make addresses, conditions and whatever else is the same for all elements of a \
         vector or one constant apart: a thread would execute them once for all.",
        count(beside),
        count(total),
        percent(beside / total),
    )
}

/// What blocks with little to do cost, where starting them takes longer than anything else.
pub(super) fn starts(launch: &ModeledLaunch) -> String {
    let longest = launch.model.busiest().filter(|(term, _)| *term == Term::BlockScheduler);
    let blocks = launch.get(GRID);
    longest.zip(blocks).map_or_else(String::new, |((_, share), blocks)| {
        format!(
            " Threads with more elements, of several rows where a row is short, also need fewer blocks: starting {} one after another \
             takes {} of the time now.",
            crate::text::count_of(blocks, "block"),
            percent(share),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_meant_is_said() {
        let plain = hint(8.0, "line 5", [false; 3]);
        assert!(plain.contains("8 neighbouring elements per access at line 5"), "{plain}");
        assert!(plain.ends_with("registers."), "{plain}");
        let few = hint(8.0, "line 5", [true, false, false]);
        assert!(few.contains("once per vector") && !few.contains("matrix"), "{few}");
        assert!(said_of(40.0, 50.0).starts_with(" 40 of 50 executed warp instructions (80%)"));
    }
}
