//! What one kernel has just loaded, and the next one loads again.

use crate::evidence::launches_as_one::{
    MOST_IS_SHARED, RESULTS_PER_THREAD, in_a_row, side_by_side,
};
use crate::evidence::modeled_launch::place;
use crate::evidence::passed_on::{
    FROM_L1, HELD, READ, READINGS, Traffic, WRITTEN, effect, passed, sectors,
};
use crate::evidence::removal::{ISSUE_BUSY, MATTERS_LIMIT, gains, locations};
use crate::evidence::{Draft, ModeledLaunch, Threshold, pauses};
use crate::finding::Evidence;
use crate::frame::Reads;
use crate::hardware::first_parameter;
use crate::kernel_name::{same, short};
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::text::{bytes, percent};

/// The part of a kernel's launches that load again what the one before them has loaded.
const OF_ITS_OWN: Threshold = Threshold {
    what: "constant: share of a kernel's launches that load what its launch before them has just loaded",
    value: 0.5,
    unit: "share",
    source: "derivation: of two launches the second; of more in a row, more",
};

/// The rule.
pub const RULE: Rule = Rule {
    name: "input-read-again",
    kind: Kind::Cause,
    summary: "the kernel loads what the kernel before it has just loaded",
    explanation: "\
Two kernels, or two launches of one, that run one after the other read the same array, each from memory: two passes over the scores of a softmax, a result in two \
formats, a product with a matrix before the matrix is updated. As one kernel they would load each element once, and keep it in registers or \
in shared memory for both. A survey of the program tells which pointers each launch was given; the instructions of both kernels tell what \
they load through them. The rule counts loads of what the kernel before loads as well and does not store. Where L2 delivers it more than \
twice, many blocks need each element, and it does not count. Of launches in a row that need nothing of one another a thread can do \
the work of several side by side: it needs addresses, loops, and barriers once for all of them, and what each loads for itself arrives meanwhile. Where the second kernel needs the first one's result for a whole row, let one \
block do both for that row; where it needs it for the whole array, fusing is not possible.",
    examples: &[Example {
        fault: "\
norms<<<rows, 256>>>(x, norm, columns);      // loads each row
scale<<<rows, 256>>>(x, norm, y, columns);   // loads it again",
        repair: "\
__global__ void scaled(const float* x, float* y) {
    const float own = x[blockIdx.x * 256 + threadIdx.x];
    y[blockIdx.x * 256 + threadIdx.x] = own * rsqrtf(block_sum(own * own));
}",
        note: "\
A block keeps its row of 256 values in registers between the sum and the scaling, so that the row is loaded once. Longer rows \
have several values per thread, or lie in shared memory.",
    }],
    section: "MemoryWorkloadAnalysis",
    thresholds: &[MATTERS_LIMIT, READINGS, HELD, OF_ITS_OWN, RESULTS_PER_THREAD, MOST_IS_SHARED],
    needs: &[ISSUE_BUSY],
    sharpened_by: &[Reads::always(&[FROM_L1, READ, WRITTEN])],
    source_page: SourcePage::Needed,
    unrecorded: Some(
        "only the survey of a program tells which memory its launches share, and a ladder's steps are not surveyed; seen on \
         programs of other people",
    ),
    explains: &["long-scoreboard-stalls", "lg-throttle", "issue-slots-underused"],
    in_triton: "\
let one kernel load the tile and make both results from it; where the second needs a sum over a row, give each program whole rows.",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let with = launch.profile.neighbours.read.as_ref()?;
    let listing = launch.profile.listing()?;
    let asked = launch.get(FROM_L1).filter(|&asked| asked > 0.0)?;
    let traffic = Traffic::new(&listing, asked);
    let begin = first_parameter(launch.profile.row.compute_capability?);
    let is_itself = same(&launch.profile.row.kernel, &with.kernel);
    let loaded = passed(&listing, &traffic, with, begin, false)?;
    let launches = (in_a_row(launch) as f64).min(RESULTS_PER_THREAD.value);
    let is_in_a_row = is_itself && launches >= 2.0;
    let again = if is_in_a_row { 1.0 - 1.0 / launches } else { OF_ITS_OWN.value };
    let loaded = if is_itself { loaded.in_some(again) } else { loaded };
    let mut effect = effect(launch, &traffic, Some(&loaded), None, None)?;
    let of_loads = traffic.part_of_loads(&listing, &loaded.accesses);
    if is_in_a_row && of_loads >= MOST_IS_SHARED.value {
        effect = side_by_side(launch, &loaded, launches, effect)?;
    }
    if !gains(launch, &effect) {
        return None;
    }
    let weight =
        |at: usize| if loaded.accesses.contains(&at) { sectors(&listing, at) } else { 0.0 };
    let locations = locations(launch, listing, weight, "sectors of what is loaded again");
    let kernel = short(&with.kernel, 40);
    Some(Draft {
        message: format!(
            "It loads {} that the kernel before it, {kernel}, has just loaded as well. That is {} of what L1 asks of L2.{}",
            bytes(with.bytes()),
            percent((loaded.sectors / asked).min(1.0)),
            pauses::said(launch),
        ),
        evidence: vec![Evidence::new("sectors that are loaded again", loaded.sectors, "sector")],
        hint: format!(
            "{}: load each element at {} once, and keep it in registers or shared memory for \
             all. Where one needs the other's result for a whole row, let a block have that row.",
            if is_itself {
                "Do the work of these launches in one".to_owned()
            } else {
                format!("Do the work of {kernel} in this kernel, too")
            },
            place(&locations, "its loads"),
        ),
        locations,
        effect,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::passed_on::testing;
    use crate::frame::Launch;
    use crate::handed_on::{HandedOn, Neighbours, Pointers};
    use crate::rules::testing::check;
    use crate::term::Term;

    /// A launch that loads through such a parameter what the kernel before has loaded.
    fn made(own: u32, bytes: u64) -> Launch {
        let mut launch = testing::made();
        let pointers = vec![Pointers { own, other: 0, bytes }];
        let read = HandedOn { kernel: "norms(float const*)".to_owned(), pointers };
        launch.neighbours = Neighbours { read: Some(read), ..Neighbours::default() };
        launch
    }

    #[test]
    fn one_kernel_for_both_loads_it_once() {
        let draft = check(&RULE, &made(0, 2048)).unwrap();
        assert!((draft.effect.share_of(Term::L2) - 2.0 / 3.0).abs() < 1e-12);
        assert!((draft.effect.share_of(Term::Dram) - 2.0 / 3.0).abs() < 1e-12);
        let said = "It loads 2.05 kB that the kernel before it, norms, has just loaded as well.";
        assert!(draft.message.starts_with(said), "{}", draft.message);
    }

    #[test]
    fn launches_of_one_kernel_become_one() {
        let mut launch = made(0, 2048);
        launch.row.kernel = "norms(float const*)".to_owned();
        let draft = check(&RULE, &launch).unwrap();
        assert!((draft.effect.share_of(Term::L2) - 1.0 / 3.0).abs() < 1e-12, "half of them");
        assert!(draft.hint.starts_with("Do the work of these launches in one"), "{}", draft.hint);
    }

    #[test]
    fn launches_in_a_row_are_done_side_by_side_by_each_thread() {
        let in_a_row = |launches: u64| {
            let mut launch = made(0, 2048);
            launch.row.kernel = "norms(float const*)".to_owned();
            launch.in_a_row = launches;
            check(&RULE, &launch).unwrap().effect
        };
        // Where they may need one another, half of what both load is spared, and as much of the blocks as goes with that.
        let blocks = in_a_row(1).share_of(Term::BlockScheduler);
        assert!((blocks - 0.5 / 1.5).abs() < 1e-12, "{blocks}");
        for (launches, spared) in [(2, 0.5), (4, 0.75), (32, 0.75)] {
            let effect = in_a_row(launches);
            let blocks = effect.share_of(Term::BlockScheduler);
            assert!((blocks - spared).abs() < 1e-12, "{launches}: {blocks}");
            let traffic = effect.share_of(Term::L2);
            assert!((traffic - spared * 2.0 / 3.0).abs() < 1e-12, "{launches}: {traffic}");
            // The load, and six of the others: all but the store.
            let issued = effect.share_of(Term::Issue);
            assert!((issued - spared * 7.0 / 8.0).abs() < 1e-12, "{launches}: {issued}");
        }
    }

    #[test]
    fn what_many_blocks_need_and_what_is_stored_stay() {
        assert!(check(&RULE, &made(0, 512)).is_none(), "L2 delivers it four times");
        assert!(check(&RULE, &made(8, 1024)).is_none(), "only stored");
        let mut alone = made(0, 2048);
        alone.neighbours.read = None;
        assert!(check(&RULE, &alone).is_none());
    }
}
