//! Registers hold resident warps down, and latency shows for it.

use crate::device::Quantity;
use crate::evidence::occupancy::{
    BY_REGISTERS, BY_SHARED, BY_WARPS, EXPLAINS, GRID_SIZE, HIGH_ENOUGH_LIMIT, NEEDS, Resource,
    WORTH_LIMIT,
};
use crate::evidence::threshold::NOISE;
use crate::evidence::{ModeledLaunch, Threshold};
use crate::hardware::WARP_LANES;
use crate::rules::said_by_ncu::{Acts, SaidByNcu};
use crate::rules::{Cure, Example, Kind, Rule, Trial};
use crate::sass::flow::live;
use crate::text::count;

const RESOURCE: Resource = Resource {
    name: "registers",
    limits: &[BY_REGISTERS],
    use_of: |launch| {
        launch.quote("launch__registers_per_thread").map_or_else(String::new, |each| {
            format!(", and a thread takes {} registers", count(each))
        })
    },
    at_most: blocks_that_fit,
    hint: |launch| {
        format!(
            "Use fewer registers per thread, so that {{then}} blocks fit on an SM instead of {{now}}: \
             __launch_bounds__, less unrolling, shorter lifetimes of values. Watch for spills: they can cost \
             more than the extra warps gain.{}",
            smaller_blocks(launch).unwrap_or_default(),
        )
    },
};

/// The advice to use smaller blocks, where more of their threads fit with as many registers: a large block leaves what is too little
/// for another one.
fn smaller_blocks(launch: &ModeledLaunch) -> Option<String> {
    let registers = Registers::of(launch)?;
    let each = launch.quote("launch__registers_per_thread")?;
    let threads = threads_of(launch);
    let now = registers.blocks(each, threads) * threads;
    let halves = std::iter::successors(Some(threads / 2.0), |size| Some(size / 2.0));
    let sizes = halves.take_while(|&size| size >= LEAST_BLOCK && size % WARP_LANES == 0.0);
    let slots = launch.need(BY_WARPS) * threads;
    // What a block takes of shared memory may be the same for any size.
    let by_shared = launch.need(BY_SHARED);
    let fit = |size: f64| (size, registers.blocks(each, size).min(slots / size).min(by_shared));
    let (size, blocks) = sizes
        .map(fit)
        .find(|(size, blocks)| now > 0.0 && size * blocks.floor() >= now * MORE_THREADS)?;
    Some(format!(
        " Smaller blocks help, too: {} of {} threads fit with as many registers, {} threads instead of {}. Where a block's threads share \
         a row, each then takes more of its elements.",
        count(blocks.floor()),
        count(size),
        count(size * blocks.floor()),
        count(now),
    ))
}

/// Threads of the smallest block that is advised.
const LEAST_BLOCK: f64 = 128.0;

/// Threads that fit with smaller blocks, over those that fit now, from which that is worth saying.
const MORE_THREADS: f64 = 1.25;

/// What an SM has of registers, and in which pieces it gives them out.
struct Registers {
    all: f64,
    granule: f64,
    schedulers: f64,
}

impl Registers {
    fn of(launch: &ModeledLaunch) -> Option<Self> {
        let facts = launch.profile.device_facts();
        Some(Self {
            all: facts.get(Quantity::Registers)?,
            granule: facts.get(Quantity::RegisterGranule)?,
            schedulers: facts.get(Quantity::Schedulers)?,
        })
    }

    /// Blocks of so many threads that fit an SM with so many registers per thread.
    fn blocks(&self, each: f64, threads: f64) -> f64 {
        // Warps are spread over the schedulers, which have equal parts of the registers.
        let warps = (threads / WARP_LANES / self.schedulers).ceil() * self.schedulers;
        let each = (each.max(1.0) / self.granule).ceil() * self.granule;
        (self.all / (each * WARP_LANES * warps)).floor()
    }
}

fn threads_of(launch: &ModeledLaunch) -> f64 {
    launch.profile.row.block.iter().map(|&side| f64::from(side)).product()
}

/// The rule.
pub const RULE: Rule = Rule {
    name: "occupancy-limited-by-registers",
    kind: Kind::Cause,
    summary: "registers keep too few warps resident to hide latency",
    explanation: "\
An SM has a fixed number of registers, and each resident thread takes its share of them. Where \
registers keep further blocks out, warps are few and schedulers idle because no warp is ready; \
fewer registers per thread then let more warps in. Values that a loop carries from one iteration \
to the next have to stay in registers (the sums of a register tile, for example). If the profile has the \
machine code, the rule therefore counts how many blocks would fit with only those values and the operands of \
one instruction, and how many would fit with all values in use at once, inside loops and outside. It promises \
at most one block more than the latter. It does not fire where no further block would fit even \
then, nor where the grid has no further block for an SM, nor where the time model expects less than 5% from more warps because a unit is near its \
limit.",
    examples: &[Example {
        fault: "\
// the compiler takes 168 registers per thread: 12 of 64 warps fit on an SM
__global__ void __launch_bounds__(128) react(Cell *cells, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        advance(cells[i]);
}",
        repair: "\
// at least six blocks per SM: 80 registers per thread, 24 warps
__global__ void __launch_bounds__(128, 6) react(Cell *cells, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        advance(cells[i]);
}",
        note: "\
The second argument of __launch_bounds__ makes the compiler live with fewer registers, and twice \
the warps hide latency; it pays as long as little spills (see register-spilling).",
    }],
    section: "Occupancy",
    thresholds: &[
        HIGH_ENOUGH_LIMIT,
        WORTH_LIMIT,
        Threshold {
            what: "constant: blocks that fit by another order of the instructions, beyond what the registers in \
                   use at once allow",
            value: ONE_MORE,
            unit: "block",
            source: "derivation: one block is the smallest step in occupancy; two changes to \
                     other people's kernels that capped registers far below what is in use at once \
                     gained 0.79 and 0.87",
        },
        Threshold {
            what: "constant: threads of the smallest block that is advised",
            value: LEAST_BLOCK,
            unit: "thread",
            source: "CUDA C++ Best Practices Guide: between 128 and 256 threads per block are a good start",
        },
        Threshold {
            what: "threads that fit with smaller blocks, over those that fit now, for the advice to use them, at least",
            value: MORE_THREADS,
            unit: "times",
            source: "derivation: a quarter more warps cover a fifth of the waiting, a tenth of the time where half of it is waiting",
        },
    ],
    needs: NEEDS,
    sharpened_by: &[GRID_SIZE],
    cure: Cure::MoreWarps,
    trials: &[Trial::RegistersForAnotherBlock, Trial::Tunables],
    said_by_ncu: &[
        // The message lists every resource that is short.
        SaidByNcu::with("TheoreticalOccupancy", &["registers"], Acts::Latency),
    ],
    explains: EXPLAINS,
    in_triton: "\
the next higher num_warps leaves each thread fewer elements of the tile, and maxnreg=N at \
the launch caps its registers.",
    check: |launch| crate::evidence::occupancy::check(launch, &RESOURCE),
    ..Rule::DEFAULT
};

/// Blocks that a compiler makes room for by another order of the same instructions.
const ONE_MORE: f64 = 1.0;

/// Blocks that fit an SM with the registers that the loops can't do without, and without spilling what is in
/// use at once anywhere. `None` where the profile does not tell.
fn blocks_that_fit(launch: &ModeledLaunch) -> Option<f64> {
    let listing = launch.profile.listing()?;
    let registers = Registers::of(launch)?;
    let live = live::of(&listing);
    let carried = f64::from(live::needed_in_loops(&listing, live, NOISE / 100.0));
    let in_use = f64::from(live::most_in_use(&listing, live, NOISE / 100.0));
    let threads = threads_of(launch);
    let blocks = |needed: f64| registers.blocks(needed, threads);
    // A compiler orders instructions anew to make room for one block more. With less than what is in use
    // at once now, values spill.
    let now = launch.need(BY_REGISTERS);
    (threads > 0.0).then(|| blocks(carried).min(blocks(in_use).max(now + ONE_MORE)))
}

#[cfg(test)]
mod tests {
    #[test]
    fn fires_where_registers_are_the_smallest_limit() {
        crate::rules::testing::assert_occupancy_rule(
            &super::RULE,
            super::BY_REGISTERS,
            super::RESOURCE.limits,
        );
    }

    /// 2 blocks of 256 threads where 4 would fit without this limit, in a loop that carries so many sums.
    fn sums(count: u32) -> crate::frame::Launch {
        let mut code: Vec<(String, f64)> =
            (10..10 + count).map(|sum| (format!("FADD R{sum}, R{sum}, R2"), 9.0)).collect();
        code.push(("@P0 BRA 0x100".to_owned(), 9.0));
        code.extend((10..10 + count).map(|sum| (format!("STG.E desc[UR4][R4.64], R{sum}"), 1.0)));
        code.push(("EXIT".to_owned(), 1.0));
        of(&code)
    }

    /// The same launch with other code.
    fn of(code: &[(String, f64)]) -> crate::frame::Launch {
        let code: Vec<(&str, f64)> = code.iter().map(|(text, ran)| (text.as_str(), *ran)).collect();
        let metrics: Vec<(&str, f64)> = super::NEEDS
            .iter()
            .map(|&name| match name {
                super::BY_REGISTERS => (name, 2.0),
                name if name.starts_with("launch__") => (name, 4.0),
                name if name.starts_with("sm__maximum") => (name, 50.0),
                name => (name, 30.0),
            })
            .collect();
        let mut launch = crate::rules::testing::sass(&metrics, &code);
        launch.row.block = [256, 1, 1];
        launch
    }

    #[test]
    fn smaller_blocks_are_advised_where_more_of_their_threads_fit() {
        let hint = |registers: f64| {
            let mut launch = sums(4);
            launch.row.block = [1024, 1, 1];
            launch.set(super::BY_REGISTERS, Some(1.0));
            launch.set(super::BY_WARPS, Some(2.0));
            launch.set(super::BY_SHARED, Some(32.0));
            launch.set("launch__registers_per_thread", Some(registers));
            crate::rules::testing::check(&super::RULE, &launch).unwrap().hint
        };
        // 65,536 registers hold 1,638 threads of 40: one block of 1,024, or three of 512.
        assert!(hint(40.0).contains("3 of 512 threads fit"), "{}", hint(40.0));
        // 1,170 of 56: two of 512, or nine of 128, which is less than a quarter more.
        assert!(!hint(56.0).contains("Smaller blocks"), "{}", hint(56.0));
    }

    #[test]
    fn what_a_loop_carries_cannot_make_room() {
        let hidden = |count| {
            let draft = crate::rules::testing::check(&super::RULE, &sums(count));
            draft.map(|draft| draft.effect.hidden)
        };
        let near = |value: Option<f64>, to: f64| value.is_some_and(|v| (v - to).abs() < 1e-12);
        // A few sums leave room for all 4 blocks; 70 and what they add are 71 registers, given out as
        // 72, of which 65536 / (72 * 256) = 3.6 blocks have enough; with 100 no third block fits.
        assert!(near(hidden(4), 0.5), "{:?}", hidden(4));
        assert!(near(hidden(70), 1.0 - 2.0 / 3.0), "{:?}", hidden(70));
        assert_eq!(hidden(100), None);
    }

    #[test]
    fn another_order_makes_room_for_one_block() {
        // A loop works out 150 values before it adds them to a sum: it carries little and has 150 in use at once,
        // with which not even the 2 blocks fit.
        let mut code: Vec<(String, f64)> =
            (10..160).map(|at| (format!("FMUL R{at}, R6, R7"), 9.0)).collect();
        code.extend((10..160).map(|at| (format!("FADD R2, R2, R{at}"), 9.0)));
        code.push(("@P0 BRA 0x100".to_owned(), 9.0));
        code.push(("STG.E desc[UR4][R4.64], R2".to_owned(), 1.0));
        code.push(("EXIT".to_owned(), 1.0));
        let hidden = crate::rules::testing::check(&super::RULE, &of(&code)).unwrap().effect.hidden;
        // 3 blocks instead of 2.
        assert!((hidden - (1.0 - 2.0 / 3.0)).abs() < 1e-12, "{hidden}");
    }

    #[test]
    fn a_grid_without_more_blocks_fills_no_more_slots() {
        let hidden = |blocks| {
            let mut launch = sums(4);
            launch.set("launch__grid_size", Some(blocks));
            launch.set("launch__sm_count", Some(100.0));
            let draft = crate::rules::testing::check(&super::RULE, &launch);
            draft.map(|draft| draft.effect.hidden)
        };
        assert_eq!(hidden(200.0), None, "the 2 blocks that an SM holds are all that it gets");
        assert!(hidden(300.0).is_some_and(|hidden| (hidden - (1.0 - 2.0 / 3.0)).abs() < 1e-12));
    }
}
