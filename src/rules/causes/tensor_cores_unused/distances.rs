//! Squared distances between the rows of two matrices, taken pair by pair: a product in another form.

use super::{FIRST_WITH_TF32, LEAST_MULTIPLY_ADDS, keep_fragments, rate};
use crate::evidence::language::is_of_triton;
use crate::evidence::modeled_launch::place;
use crate::evidence::removal::{Removal, gains, locations, matters};
use crate::evidence::{Draft, ModeledLaunch};
use crate::finding::Evidence;
use crate::sass::Marks;
use crate::sass::questions::product::Element;
use crate::sass::questions::squared_distances::{SquaredDistances, squared_distances};
use crate::term::Term;
use crate::text::{count, percent};

pub(super) fn check(launch: &ModeledLaunch, mut removal: Removal) -> Option<Draft> {
    let (listing, total) = (removal.listing, removal.mix.total);
    let found = squared_distances(&listing, launch.profile.row.block)?;
    let executed = |marks: &Marks| -> f64 { marks.iter().map(|at| listing.executed(at)).sum() };
    let multiply_adds = executed(&found.squares);
    let all = multiply_adds + executed(&found.differences) + executed(&found.sums);
    if all / total < LEAST_MULTIPLY_ADDS {
        return None;
    }
    let factor = on_tensor(launch, found.element);
    found.differences.iter().for_each(|at| removal.remove(at, 1.0));
    if let Some(factor) = factor {
        found.squares.iter().for_each(|at| removal.remove(at, 1.0 - 1.0 / factor));
        found.sums.iter().for_each(|at| removal.remove(at, 1.0));
        let beside = removal.beside(|at| found.squares[at]);
        let is_counted = |at: usize| found.squares[at] || found.differences[at] || found.sums[at];
        keep_fragments(&mut removal, &beside, is_counted);
    }
    // An addition and a multiply-add by -2 bring the norms of both rows to each element of the product.
    removal.add(Term::Fma, 2.0 * found.distances);
    let effect = removal.effect(launch);
    // On the plain pipe nothing but the subtractions goes: whether loads are used often enough is another rule's question.
    let counts = if factor.is_some() { matters(launch, &effect) } else { gains(launch, &effect) };
    if !counts {
        return None;
    }
    let weight = |at: usize| if found.differences[at] { listing.executed(at) } else { 0.0 };
    let locations = locations(launch, listing, weight, "differences that are squared");
    let at = place(&locations, "the innermost loop");
    let gain = match factor {
        Some(factor) => format!(
            "none runs on the tensor pipe, which does {factor:.0} times as many multiply-adds per cycle"
        ),
        None => "it takes one multiply-add where there are a subtraction and a multiply-add now"
            .to_owned(),
    };
    Some(Draft {
        message: format!(
            "{} of {} executed warp instructions ({}) take differences, square them, and add them up to squared distances of {:.0} \
             features between all rows of two matrices. That is a matrix product, and {gain}.",
            count(all),
            count(total),
            percent(all / total),
            found.depth,
        ),
        evidence: vec![
            Evidence::new("executed squares of differences", multiply_adds, "inst"),
            Evidence::new("features of a distance", found.depth, ""),
            Evidence::new("smsp__inst_executed.sum", total, "inst"),
        ],
        hint: hint(launch, &found, factor, &at),
        locations,
        effect,
    })
}

/// How many times as many multiply-adds the tensor units do; `None` where they would round the factors and nobody asked
/// for that, or where there are none.
fn on_tensor(launch: &ModeledLaunch, element: Element) -> Option<f64> {
    let has_tf32 =
        launch.profile.row.compute_capability.is_some_and(|each| each >= FIRST_WITH_TF32);
    let is_kept = element == Element::Half || has_tf32 && is_of_triton(launch.profile);
    is_kept.then(|| rate(&launch.profile.device_facts(), element)).flatten()
}

fn hint(launch: &ModeledLaunch, found: &SquaredDistances, factor: Option<f64>, at: &str) -> String {
    let by = match (found.element, factor) {
        (Element::Half, Some(_)) => {
            "multiply the matrices on the tensor units (wmma with __half or __nv_bfloat16 fragments, or cuBLAS, CUTLASS), which \
             multiply 16-bit numbers exactly and sum in 32 bits"
                .to_owned()
        }
        (_, Some(_)) => {
            "multiply the matrices on the tensor units in TF32, which rounds each factor to 11 bits (or in three TF32 products, \
             3xTF32, which keep nearly all of them)"
                .to_owned()
        }
        _ => {
            let facts = launch.profile.device_facts();
            let tf32 = rate(&facts, Element::Single).filter(|_| {
                launch.profile.row.compute_capability.is_some_and(|each| each >= FIRST_WITH_TF32)
            });
            let faster = tf32.map_or(String::new(), |tf32| {
                format!(
                    ". The tensor units do {tf32:.0} times as many multiply-adds per cycle in TF32, which rounds each factor to 11 \
                     bits; three TF32 products (3xTF32) keep nearly all of them"
                )
            });
            format!("multiply the matrices (cublasSgemm, or a loop of multiply-adds alone){faster}")
        }
    };
    format!(
        "Write the distance of x and y at {at} as |x|² + |y|² - 2xy: sum the squares of each row once, and {by}. Precision: where points \
         are close, |x|² + |y|² and 2xy cancel, and the distance is only as exact as they are, so take it as 0 where it comes out \
         negative, subtract a common mean from all rows beforehand, and compute the few smallest distances by differences again if they \
         matter."
    )
}

#[cfg(test)]
mod tests;
