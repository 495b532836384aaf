//! What to divide among more blocks, in words.

use crate::finding::Location;
use crate::sass::questions::independence::{Results, Shareable, What};
use crate::text::{count, count_of, percent};

/// What to do: more blocks where there is a loop to share out, smaller ones elsewhere. `lanes` is the size of blocks
/// that do not fill a warp; `wider` how many times the threads blocks could have that wait for one another.
pub(super) fn hint(
    blocks: f64,
    lanes: Option<f64>,
    wider: Option<f64>,
    then: f64,
    more: f64,
    work: Option<Shareable>,
    locations: &[Location],
) -> String {
    if more <= 1.0 {
        return "Use smaller blocks, so that their warps spread over more SMs. More threads would have nothing \
                to do: no loop here has independent iterations. Where an iteration needs only the best match \
                or the state so far, let several threads each take a part of the iterations and merge their \
                results in a second step."
            .to_owned();
    }
    let then = count(then.ceil());
    let launch = match lanes {
        _ if let Some(wider) = wider => format!(
            "Give each of the {} {} times the threads. Blocks wait for one another here, which takes longer the more there are, so \
             that more threads are better than more blocks",
            count_of(blocks, "block"),
            count(wider),
        ),
        Some(lanes) => format!(
            "Launch at least {then} blocks of whole warps (32 threads or more) instead of {} of {}",
            count(blocks),
            count_of(lanes, "thread")
        ),
        None => format!("Launch at least {then} blocks instead of {}", count(blocks)),
    };
    let of = |results| work.is_some_and(|work| work.results == results);
    let line = locations.first().map_or_else(String::new, |at| format!(" at {}", at.name()));
    match work.map(|work| work.what) {
        Some(What::Queue(_)) => format!(
            "{launch}: blocks fetch their work from the counter{line}, so only the number of blocks has to \
             change."
        ),
        Some(What::Strided(_)) => format!(
            "{launch}: the counter of {} moves on by the size of the grid, so only the number of blocks has to change.",
            which_loop(work, locations),
        ),
        Some(What::Statements(_)) => format!(
            "{launch}: divide the statements from the store{line} on among blocks (a switch on blockIdx.y). \
             None needs another's value; make sure that none reads what another stores."
        ),
        Some(What::Turns(_)) if of(Results::Appended) && blocks <= 1.0 && lanes == Some(1.0) => {
            format!(
                "Divide the iterations of {} among threads and blocks. In a first kernel each part counts what it will store; a prefix \
             sum over the counts (cub::DeviceScan) then gives each part its first place or number, and a second kernel stores. \
             cub::DeviceSelect does all three where whole elements are kept. A limit on the count holds for the number that the sum \
             gives.",
                which_loop(work, locations),
            )
        }
        Some(What::Turns(_)) if of(Results::Appended) => format!(
            "Give each item to a warp: its lanes take an iteration each of {} and vote which of them store a result \
             (__ballot_sync). The votes of lower lanes (__popc) give each its place, those of all lanes where the next iterations \
             go on. That makes 32 times as many threads.",
            which_loop(work, locations),
        ),
        Some(What::Turns(_)) if of(Results::OfStep) => format!(
            "Give each item to a warp or a block: its threads take an iteration each of {}, and meet at __syncwarp or __syncthreads \
             before the next step of the loop around it, which needs what this one stores. What they hand on fits in shared memory \
             more often than not.",
            which_loop(work, locations),
        ),
        Some(What::Turns(_)) if of(Results::OfThreads) => format!(
            "{launch}: the threads of a block share the iterations of {} already; divide them among blocks as well \
             (add blockIdx.x times the step to the first index, and multiply the step by gridDim.x). Let each block write what \
             it combines of its threads, and combine the blocks' results the same way in a second step.",
            which_loop(work, locations),
        ),
        Some(What::Turns(_)) if of(Results::OfBlocks) => format!(
            "{launch}: blocks share the iterations of {} already, each from its own index on. If their results are combined \
             afterwards, let more of them take part; if each is a result of its own, divide its iterations among further \
             blocks (blockIdx.y), and combine these in a second step.",
            which_loop(work, locations),
        ),
        _ => format!(
            "{launch}: divide the iterations of {} among {} instead of the loop variable){}.",
            which_loop(work, locations),
            match lanes {
                _ if wider.is_some() => "threads (a further dimension of threadIdx",
                Some(_) => "threads and blocks (blockIdx.x * blockDim.x + threadIdx.x",
                None => "blocks (blockIdx.x",
            },
            match work.map_or(Results::Summed, |work| work.results) {
                Results::Scaled =>
                    ", and combine their sums in a second kernel. As each iteration scales the sums so far, each \
                     part must also write what its sums are scaled by (of a softmax, its maximum), and the second \
                     kernel scales them alike before it adds them up",
                Results::Summed | Results::OfThreads | Results::OfBlocks =>
                    ", and combine their sums by atomics or in a second step",
                Results::HandedOn | Results::Appended =>
                    ". Each iteration stores its own result, but goes on from values that earlier ones handed on (a \
                     window, a running sum): let each part first work out those that it begins with",
                Results::Apart | Results::OfStep =>
                    ". Each iteration stores its own results, so that nothing is left to combine",
            }
        ),
    }
}

/// What to do where the turns of a loop need one another, and each thread takes several elements through it.
pub(super) fn fewer_elements(elements: f64, locations: &[Location]) -> String {
    format!(
        "Give each thread fewer of the {} elements that it takes through the loop{} side by side, down to one, and launch as many \
         times the blocks: no element needs another. Then each turn also waits for memory once, not for one group of loads \
         after another.",
        count(elements),
        locations.first().map_or_else(String::new, |at| format!(" at {}", at.name())),
    )
}

/// A warning of one part more, where that would not run at once: readers round up.
pub(super) fn second_wave(blocks: f64, parts: f64, places: f64) -> String {
    let more = parts + 1.0;
    if parts.is_finite() && parts >= 2.0 && blocks * more > places {
        format!(
            " No more parts than that: {} times the present {} would be {}, and {} run at once.",
            count(more),
            count_of(blocks, "block"),
            count((blocks * more).ceil()),
            count(places),
        )
    } else {
        String::new()
    }
}

/// The loop to divide, so that a reader finds it: by its line and by how often it turns.
fn which_loop(work: Option<Shareable>, locations: &[Location]) -> String {
    let turns = work.filter(|work| matches!(work.what, What::Turns(_) | What::Strided(_)));
    let iterations = |work: Shareable| format!("some {} iterations", count(work.turns.round()));
    let share = |work: Shareable| percent(work.share);
    match (locations.first(), turns) {
        (Some(at), Some(work)) if at.offset.is_some() => format!(
            "the loop of {} that ends at {} ({} of the executed instructions are in such loops)",
            iterations(work),
            at.name(),
            share(work)
        ),
        (Some(at), Some(work)) => format!("the loop at {} ({})", at.name(), iterations(work)),
        (Some(at), None) => format!("the loop at {}", at.name()),
        (None, Some(work)) => format!(
            "the loop of {} that most of the work is in ({} of the executed instructions are in such loops)",
            iterations(work),
            share(work)
        ),
        (None, None) => {
            "the outermost loop in which no iteration needs what another one computes".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_shares_the_iterations_already_is_said() {
        let of = |results, wider| {
            let work = Shareable {
                share: 0.9,
                time_share: 0.9,
                turns: 40.0,
                what: What::Turns(0),
                results,
            };
            hint(4.0, None, wider, 160.0, 40.0, Some(work), &[])
        };
        let said = |results| of(results, None);
        let meeting = of(Results::Apart, Some(8.0));
        assert!(meeting.starts_with("Give each of the 4 blocks 8 times the threads."), "{meeting}");
        assert!(meeting.contains("among threads (a further dimension"), "{meeting}");
        assert!(said(Results::OfThreads).contains("divide them among blocks as well"));
        assert!(said(Results::OfBlocks).contains("let more of them take part"));
        assert!(said(Results::Summed).contains("combine their sums by atomics"));
        let steps = said(Results::OfStep);
        assert!(steps.starts_with("Give each item to a warp or a block: its threads"), "{steps}");
    }
}
