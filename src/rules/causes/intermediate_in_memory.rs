//! What one kernel stores, and the next one loads at once.

use crate::evidence::modeled_launch::place;
use crate::evidence::passed_on::{
    FROM_L1, HELD, Passed, READ, READINGS, Traffic, WRITTEN, effect, passed, sectors,
};
use crate::evidence::removal::{ISSUE_BUSY, MATTERS_LIMIT, gains, locations};
use crate::evidence::{Draft, ModeledLaunch, Threshold, pauses};
use crate::finding::Evidence;
use crate::frame::Reads;
use crate::handed_on::{Chain, HandedOn, Pointers};
use crate::hardware::first_parameter;
use crate::kernel_name::short;
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::text::{bytes, percent};

/// What an average SM may idle where a kernel takes over the work of the one before it.
const MOST_IDLE: Threshold = Threshold {
    what: "share of the time for which an average SM has no warp, for the kernel to take over the work of the one before it, below",
    value: 0.5,
    unit: "share",
    source: "derivation: half of the device would do at best half as fast what the kernel before it does on the whole of it",
};

/// The rule.
pub const RULE: Rule = Rule {
    name: "intermediate-in-memory",
    kind: Kind::Cause,
    summary: "the kernel loads what the kernel before it has just stored, or stores what only the next one loads",
    explanation: "\
Two kernels that run one after the other pass what lies between them through memory: the first stores it, the second loads it again. As one \
kernel they would keep it in registers, or in shared memory where neighbouring elements are needed. A survey of the program tells which \
pointers each launch was given; the instructions tell what goes through these pointers. Counted are loads of what the kernel before on the \
stream may have written, and stores of what the next kernel is given but no later one. Where L2 delivers it more than twice, many blocks need each \
element, and it is not counted. Where three or more launches in a row pass arrays on so, what all of them would spare as one kernel \
is counted. Fusing is not possible where an element of the second kernel needs all of the first one's results, as a \
normalization needs the whole sum.",
    examples: &[Example {
        fault: "\
cells<<<grid, 256>>>(points, ijk, n);  // stores 12 bytes per point
keys<<<grid, 256>>>(ijk, key, n);      // loads them again",
        repair: "\
__global__ void keys(const float3* points, long* key, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) key[i] = key_of(cell_of(points[i]));
}",
        note: "\
The first kernel's work moves to where its result is used, and 24 bytes per point need not be moved at all. What \
something else reads as well must still be stored.",
    }],
    section: "MemoryWorkloadAnalysis",
    thresholds: &[MATTERS_LIMIT, READINGS, HELD, MOST_IDLE],
    needs: &[ISSUE_BUSY],
    sharpened_by: &[Reads::always(&[FROM_L1, READ, WRITTEN])],
    source_page: SourcePage::Needed,
    unrecorded: Some(
        "only the survey of a program tells which memory its launches share, and a ladder's steps are not surveyed; seen on a \
         program of other people",
    ),
    explains: &["long-scoreboard-stalls", "lg-throttle", "issue-slots-underused"],
    in_triton: "\
put the body of the one kernel into the other, so that the tile stays in registers between them; torch.compile does so for chains of \
elementwise operations and the reductions behind them.",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let neighbours = &launch.profile.neighbours;
    if neighbours.before.is_none() && neighbours.after.is_none() && neighbours.chain.is_none() {
        return None;
    }
    let listing = launch.profile.listing()?;
    let asked = launch.get(FROM_L1).filter(|&asked| asked > 0.0)?;
    let traffic = Traffic::new(&listing, asked);
    let begin = first_parameter(launch.profile.row.compute_capability?);
    // Few blocks would take over the work of many.
    let takes_over = launch.model.idle() < MOST_IDLE.value;
    let chain = neighbours.chain.as_ref().filter(|_| takes_over);
    let (before, after) = match chain {
        Some(chain) => (chained(&chain.loaded), chained(&chain.stored)),
        None => (neighbours.before.clone().filter(|_| takes_over), neighbours.after.clone()),
    };
    let through = |with, stores| passed(&listing, &traffic, with, begin, stores);
    let loaded = before.as_ref().and_then(|with| through(with, false));
    let stored = after.as_ref().and_then(|with| through(with, true));
    if loaded.is_none() && stored.is_none() {
        return None;
    }
    let launches = chain.map(|chain| chain.launches);
    let effect = effect(launch, &traffic, loaded.as_ref(), stored.as_ref(), launches)?;
    if !gains(launch, &effect) {
        return None;
    }
    let accesses: Vec<usize> =
        [&loaded, &stored].into_iter().flatten().flat_map(|it| it.accesses.clone()).collect();
    let weight = |at: usize| if accesses.contains(&at) { sectors(&listing, at) } else { 0.0 };
    let locations = locations(launch, listing, weight, "sectors of what goes through memory");
    let at = place(&locations, "its accesses");
    let gone: f64 = [&loaded, &stored].into_iter().flatten().map(|it| it.sectors).sum();
    let share = (gone / asked).min(1.0);
    let (message, hint) = match chain {
        Some(chain) => {
            let kernels = names(chain);
            (
                message_of_chain(chain, &kernels, [&loaded, &stored], share),
                hint_of_chain(chain, &kernels, &at),
            )
        }
        None => (
            message(loaded.as_ref(), stored.as_ref(), share),
            hint(loaded.as_ref(), stored.as_ref(), &at),
        ),
    };
    Some(Draft {
        message: message + &pauses::said(launch),
        evidence: vec![Evidence::new(
            "sectors that go through memory between kernels",
            gone,
            "sector",
        )],
        hint,
        locations,
        effect,
    })
}

/// What goes through these pointers between launches of a chain.
fn chained(pointers: &[Pointers]) -> Option<HandedOn> {
    let pointers = pointers.to_vec();
    (!pointers.is_empty()).then_some(HandedOn { kernel: String::new(), pointers })
}

/// The kernels of a chain, the first three by name.
fn names(chain: &Chain) -> String {
    match &chain.kernels[..] {
        [] => String::new(),
        [one] => one.clone(),
        [first, second] => format!("{first} and {second}"),
        [first, second, third] => format!("{first}, {second} and {third}"),
        [first, second, third, others @ ..] => {
            format!("{first}, {second}, {third} and {} more", others.len())
        }
    }
}

fn message_of_chain(
    chain: &Chain,
    kernels: &str,
    [loaded, stored]: [&Option<Passed>; 2],
    share: f64,
) -> String {
    let of = |passed: &Option<Passed>| passed.as_ref().map(|passed| bytes(passed.with.bytes()));
    let does = match (of(loaded), of(stored)) {
        (Some(loaded), Some(stored)) => format!(
            "it loads {loaded} that those before it stored, and stores {stored} that only those behind it load"
        ),
        (Some(loaded), None) => format!("it loads {loaded} that those before it stored"),
        (None, stored) => {
            format!("it stores {} that only those behind it load", stored.unwrap_or_default())
        }
    };
    format!(
        "It is one of {} launches in a row, of {kernels}, that pass arrays on to one another: {does}. \
         That is {} of what L1 asks of L2.",
        chain.launches,
        percent(share)
    )
}

fn hint_of_chain(chain: &Chain, kernels: &str, at: &str) -> String {
    format!(
        "Do the work of all {} launches, of {kernels}, in one kernel: take each element from the first inputs to the last result in \
         registers, or in shared memory where neighbouring elements are needed, in place of the loads and stores at {at}. Still store \
         what something else reads.",
        chain.launches
    )
}

fn message(loaded: Option<&Passed>, stored: Option<&Passed>, share: f64) -> String {
    let of = |passed: &Passed| (bytes(passed.with.bytes()), short(&passed.with.kernel, 40));
    let said: Vec<String> = [
        loaded.map(|passed| {
            let (bytes, kernel) = of(passed);
            format!("It loads {bytes} that the kernel before it, {kernel}, may just have stored.")
        }),
        stored.map(|passed| {
            let (bytes, kernel) = of(passed);
            format!(
                "It stores {bytes} that the kernel behind it, {kernel}, is given, and no later one."
            )
        }),
    ]
    .into_iter()
    .flatten()
    .collect();
    format!("{} That is {} of what L1 asks of L2.", said.join(" "), percent(share))
}

fn hint(loaded: Option<&Passed>, stored: Option<&Passed>, at: &str) -> String {
    let kernel = |passed: &Passed| short(&passed.with.kernel, 40);
    match (loaded, stored) {
        (Some(first), Some(second)) => format!(
            "Do the work of {}, of this kernel, and of {} in one: work out each element where it is used, and keep it in registers, or in \
             shared memory where neighbouring elements are needed, in place of the loads and stores at {at}.",
            kernel(first),
            kernel(second)
        ),
        (Some(first), None) => format!(
            "Do the work of {} in this kernel, too: at {at}, work out the element where it is loaded now, and keep it in registers, or in \
             shared memory where neighbouring elements are needed. Still store what something else reads.",
            kernel(first)
        ),
        (None, second) => format!(
            "Do the work of {} in this kernel, too: go on with the element in registers, or in shared memory where neighbouring elements are \
             needed, in place of storing it at {at}. Still store what is copied to the host.",
            second.map_or_else(String::new, kernel)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::passed_on::testing::made;
    use crate::handed_on::Neighbours;
    use crate::rules::testing::check;
    use crate::term::Term;

    fn with(own: u32, bytes: u64) -> HandedOn {
        let pointers = vec![Pointers { own, other: 0, bytes }];
        HandedOn { kernel: "other(float*)".to_owned(), pointers }
    }

    fn of(neighbours: Neighbours) -> Option<Draft> {
        let mut launch = made();
        launch.neighbours = neighbours;
        check(&RULE, &launch)
    }

    #[test]
    fn loads_of_what_the_kernel_before_stored_go() {
        let draft =
            of(Neighbours { before: Some(with(0, 2048)), ..Neighbours::default() }).unwrap();
        assert!((draft.effect.share_of(Term::Dram) - 2.0 / 3.0).abs() < 1e-12);
        assert!((draft.effect.share_of(Term::L2) - 2.0 / 3.0).abs() < 1e-12);
        assert!(
            draft.message.starts_with("It loads 2.05 kB that the kernel before it, other,"),
            "{}",
            draft.message
        );
    }

    #[test]
    fn stores_for_the_kernel_behind_go() {
        let draft = of(Neighbours { after: Some(with(8, 1024)), ..Neighbours::default() }).unwrap();
        assert!((draft.effect.share_of(Term::Dram) - 1.0 / 3.0).abs() < 1e-12);
        assert!(
            of(Neighbours { before: Some(with(8, 1024)), ..Neighbours::default() }).is_none(),
            "only stored"
        );
        assert!(
            of(Neighbours { after: Some(with(0, 1024)), ..Neighbours::default() }).is_none(),
            "only loaded"
        );
    }

    #[test]
    fn one_kernel_does_the_work_of_a_whole_chain() {
        let through = |own, bytes| vec![Pointers { own, other: 0, bytes }];
        let chain = |launches| Chain {
            launches,
            kernels: ["square", "add", "root", "scale"].map(str::to_owned).to_vec(),
            loaded: through(0, 2048),
            stored: through(8, 1024),
        };
        let draft = of(Neighbours { chain: Some(chain(8)), ..Neighbours::default() }).unwrap();
        assert!((draft.effect.share_of(Term::Dram) - 1.0).abs() < 1e-12);
        assert!((draft.effect.share_of(Term::BlockScheduler) - 7.0 / 8.0).abs() < 1e-12);
        let said = "It is one of 8 launches in a row, of square, add, root and 1 more, that";
        assert!(draft.message.starts_with(said), "{}", draft.message);
        assert!(
            draft.hint.starts_with("Do the work of all 8 launches, of square"),
            "{}",
            draft.hint
        );
        let before = Some(with(0, 2048));
        let both = Neighbours { chain: Some(chain(4)), before, ..Neighbours::default() };
        let draft = of(both).unwrap();
        assert!((draft.effect.share_of(Term::BlockScheduler) - 0.75).abs() < 1e-12);
    }

    #[test]
    fn a_fill_goes_with_its_blocks() {
        let of = |loads: f64| {
            let mut launch = made();
            launch.instructions[3].counters.l2_sectors_global = loads;
            launch.neighbours = Neighbours { after: Some(with(8, 1024)), ..Neighbours::default() };
            check(&RULE, &launch).unwrap().effect.share_of(Term::BlockScheduler)
        };
        assert!((of(0.0) - 1.0).abs() < 1e-12);
        assert!((of(64.0) - 0.5).abs() < 1e-12, "one of the two kernels' blocks: {}", of(64.0));
    }

    #[test]
    fn what_many_blocks_need_is_left() {
        assert!(of(Neighbours { before: Some(with(0, 512)), ..Neighbours::default() }).is_none());
        assert!(of(Neighbours::default()).is_none());
    }

    #[test]
    fn what_l2_still_holds_may_not_come_from_dram() {
        let at_least = |bytes| {
            of(Neighbours { before: Some(with(0, bytes)), ..Neighbours::default() })
                .unwrap()
                .effect
                .at_least
        };
        let least = at_least(2048).unwrap();
        assert!(least.share_of(Term::Dram) < 1e-12 && least.share_of(Term::L2) > 0.6);
        assert!(at_least(60_000_000).is_none(), "more than L2 can hold");
    }
}
