//! Numbers that are widened only to be multiplied on the tensor units: bytes to 16 bits, or floats of 16 bits to 32.

use std::collections::BTreeMap;

use crate::device::{DeviceFacts, Quantity};
use crate::evidence::modeled_launch::place;
use crate::evidence::products::least;
use crate::evidence::removal::{ISSUE_BUSY, MATTERS_LIMIT, Removal, gains, locations};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::hardware::{REGISTER_BYTES, WIDEST_ACCESS_BYTES};
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::questions::widened::{Narrow, WIDER, Widened, widened};
use crate::sass::{Family, Listing, Space};
use crate::term::Term;
use crate::text::{count, percent};

const BLOCK: &str = "launch__block_size";

/// The first compute capability whose tensor units multiply floats of 8 bits.
const FLOATS_OF_A_BYTE: (u32, u32) = (8, 9);

/// The rule.
pub const RULE: Rule = Rule {
    name: "operands-widened",
    kind: Kind::Cause,
    summary: "operands are widened before tensor units multiply them, though these multiply them as they are",
    explanation: "\
Tensor units multiply 8-bit integers, and from compute capability 8.9 on 8-bit floats, twice as fast as floats of 16 bits. A loop \
that converts both operands to 16 bits first gives that away, and pays for the conversions: some instructions for each pair of \
numbers, registers for the results, and where a warp group multiplies, a way back through shared memory, since it reads its \
operands there. The same holds for floats of 16 bits that are widened to 32: as TF32 they are multiplied at half the rate, and \
take twice the room in shared memory. Products of 8-bit integers are summed in 32 bits and exact. Scales of rows, columns, and whole matrices can be applied \
to the sums. Where one operand alone is narrow (weights of 8 bits, activations of 16), it needs its conversion; only a product of 32-bit floats \
whose other operand was worked out in the kernel, such as the probabilities of an attention, can have that rounded to 16 bits. The rule follows both \
operands back to loads, through conversions and scales alone, and asks whether they take at least twice the bytes that were \
loaded. The estimate takes away conversions, stores of what was converted, and half of the products.",
    examples: &[Example {
        fault: "\
// char a[16][32], b[32][8]: to halves, then mma.m16n8k16
for (int i = lane; i < 512; i += 32)
    half_a[i] = __int2half_rn(a[i]);
…
mma_half(sum, a_piece(0), b_piece(0));
mma_half(sum, a_piece(16), b_piece(16));",
        repair: "\
int sum[4] = {};
mma_bytes(sum, a_piece(0), b_piece(0));   // mma.m16n8k32.s8.s8.s32
c = scale_a[row] * scale_b[column] * sum[i];",
        note: "\
Both operands must lie along the side that is summed over: tensor units transpose no bytes. Sums of 8-bit floats keep fewer bits inside \
the tensor units of compute capability 9.0: where many are added, add them up in registers from time to time.",
    }],
    section: "InstructionStats",
    thresholds: &[
        MATTERS_LIMIT,
        Threshold {
            what: "operands of a product, in bytes of what is loaded for them, at least",
            value: WIDER,
            unit: "times",
            source: "definition: a byte that becomes a float of 16 bits, or that one of 32",
        },
    ],
    needs: &[ISSUE_BUSY, BLOCK],
    source_page: SourcePage::Needed,
    explains: &[
        "math-pipe-throttle",
        "short-scoreboard-stalls",
        "barrier-stalls",
        "mio-throttle",
        "fixed-latency-stalls",
        "issue-slots-underused",
    ],
    in_triton: "\
leave the conversion (.to) out in front of tl.dot: 16-bit operands as they are, with p.to(v.dtype) where the other one was computed; int8 with out_dtype=tl.int32, or float8 with float32; both operands along K.",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let mut found = widened(&listing, launch.need(BLOCK));
    found.retain(|each| {
        each.were != Narrow::Floats
            || launch.profile.row.compute_capability >= Some(FLOATS_OF_A_BYTE)
    });
    if found.is_empty() {
        return None;
    }
    let facts = launch.profile.device_facts();
    let kept = |each: &Widened| {
        let rate = if each.were == Narrow::Halves { Some(WIDER) } else { rate(&facts) };
        rate.map(|rate| 1.0 / rate)
    };
    found.retain(|each| kept(each).is_some());
    let kept = |each: &Widened| kept(each).unwrap_or(1.0);
    for each in &found {
        remove(&mut removal, each, kept(each));
    }
    let executed = |list: &[usize]| list.iter().map(|&at| listing.executed(at)).sum::<f64>();
    let of = |family: Family| listing.entries().filter(move |(_, entry)| entry.family == family);
    // A product of 32-bit floats takes twice as long as one of as many 16-bit ones.
    let weight = |at: usize| {
        let width = if listing.text(at).contains(".TF32") { WIDER } else { 1.0 };
        width * listing.executed(at)
    };
    let weighed = |list: &[usize]| list.iter().map(|&at| weight(at)).sum::<f64>();
    let all: f64 = of(Family::Tensor).map(|(at, _)| weight(at)).sum();
    let theirs: f64 = found.iter().map(|each| executed(&each.products)).sum();
    let mut effect = removal.effect(launch);
    effect.removed.retain(|(term, _)| *term != Term::Tensor);
    let spared = |each: &Widened| (1.0 - kept(each)) * weighed(&each.products);
    let faster = found.iter().map(spared).sum::<f64>() / all;
    effect.removed.push((Term::Tensor, faster));
    effect.least = least(launch) * (1.0 - faster);
    if !gains(launch, &effect) {
        return None;
    }
    let is_conversion =
        |at: usize| found.iter().any(|each| each.conversions.binary_search(&at).is_ok());
    let weight = |at: usize| if is_conversion(at) { listing.executed(at) } else { 0.0 };
    let locations = locations(launch, listing, weight, "conversions of operands");
    let converted: f64 = found.iter().map(|each| executed(&each.conversions)).sum();
    let at = place(&locations, "the loop with the products");
    let of_tiles = if found.iter().any(|each| each.scaled) {
        " (of each tile alone, where scales change along the side that is summed over)"
    } else {
        ""
    };
    let of_words = found.iter().any(|each| each.were == Narrow::Halves);
    let message = if of_words {
        format!(
            "Operands of {} matrix instructions are floats of 16 bits that {at} widens to 32, by {} instructions, {} of all executed \
             ones. The tensor units multiply them twice as fast as they are.",
            count(theirs),
            count(converted),
            percent(converted / removal.mix.total),
        )
    } else {
        format!(
            "Both operands of {} matrix instructions are bytes that {at} widens to 16 bits before they are multiplied, by {} \
             instructions, {} of all executed ones. The tensor units multiply bytes {:.0} times as fast.",
            count(theirs),
            count(converted),
            percent(converted / removal.mix.total),
            1.0 / found.first().map_or(1.0, kept),
        )
    };
    let hint = if of_words {
        format!(
            "Multiply at {at} the 16-bit floats as they are, with sums of 32 bits. Round the other operand to 16 bits where it was worked \
             out: as half it keeps the ten bits of TF32, if its range allows, as bfloat16 seven."
        )
    } else {
        let (words, sums) = if found.iter().all(|each| each.were == Narrow::Floats) {
            ("8-bit floats", "sums in single precision")
        } else {
            ("8-bit integers", "sums of 32-bit integers")
        };
        format!(
            "Multiply the bytes at {at} as they are: {words}, {sums}, and the scales applied to the sums{of_tiles}. Both operands must \
             lie along the side that is summed over, since tensor units transpose no bytes.",
        )
    };
    Some(Draft {
        message,
        evidence: vec![
            Evidence::new("executed conversions of operands", converted, "inst"),
            Evidence::new("executed matrix instructions on widened operands", theirs, "inst"),
            Evidence::new("smsp__inst_executed.sum", removal.mix.total, "inst"),
        ],
        hint,
        locations,
        effect,
    })
}

/// Takes away what no product of bytes needs.
fn remove(removal: &mut Removal, found: &Widened, kept: f64) {
    let listing = removal.listing;
    found.conversions.iter().for_each(|&at| removal.remove(at, 1.0));
    if found.scaled {
        removal.add(Term::Fma, scalings_of_sums(&listing, found));
    }
    // Half of the numbers' bytes in each instruction, twice as many numbers.
    found.products.iter().for_each(|&at| removal.remove(at, 1.0 - kept));
    found.reads.iter().for_each(|&at| removal.remove(at, 1.0 - 1.0 / WIDER));
    let is_shared = |at: &usize| listing.sass.entries[*at].family == Family::Load(Space::Shared);
    let loads: Vec<usize> = found.loads.iter().copied().filter(is_shared).collect();
    // Where bytes are in shared memory already, they need not be written there once more.
    let stored = if loads.is_empty() { 1.0 - 1.0 / WIDER } else { 1.0 };
    found.stores.iter().for_each(|&at| removal.remove(at, stored));
    if found.by_groups || !found.stores.is_empty() {
        // A warp group reads its operands itself, and loads of operands read what is there.
        for &at in &loads {
            removal.remove(at, 1.0);
        }
        return;
    }
    let executed = |list: &[usize]| list.iter().map(|&at| listing.executed(at)).sum::<f64>();
    let registers = executed(&found.last) / WIDER;
    let wavefronts: f64 = loads.iter().map(|&at| listing.wavefronts(at)).sum();
    let gone = |then: f64, now: f64| if now > 0.0 { (1.0 - then / now).max(0.0) } else { 0.0 };
    for &at in &loads {
        let instructions = registers * REGISTER_BYTES / WIDEST_ACCESS_BYTES;
        removal.remove_but_l1(at, gone(instructions, executed(&loads)));
        removal.remove_wavefronts(at, gone(registers, wavefronts));
    }
}

/// Multiplications that apply scales to the sums of each turn: one for each register of sums.
fn scalings_of_sums(listing: &Listing, found: &Widened) -> f64 {
    let sums = found.products.iter().map(|&at| {
        let written = listing.sass.defs(at).to_vec();
        (written, listing.executed(at))
    });
    let by_registers: BTreeMap<_, f64> = sums.collect();
    by_registers.iter().map(|(written, executed)| written.len() as f64 * executed).sum()
}

/// How many times as fast tensor units multiply bytes; `None` where they don't, or not faster.
fn rate(facts: &DeviceFacts) -> Option<f64> {
    let rate = facts.get(Quantity::TensorByteRate)? / facts.get(Quantity::TensorHalfRate)?;
    (rate > 1.0).then_some(rate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Launch;
    use crate::rules::testing::{assert_sides, check, sass};

    const ALU: &str = "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_elapsed";
    const DRAM: &str = "dram__cycles_active.avg.pct_of_peak_sustained_elapsed";
    const TENSOR: &str = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed";

    fn of(unpack: &'static str, capability: (u32, u32)) -> Launch {
        let code = [
            ("LDS R4, [R20]", 100.0),
            ("LDS R5, [R21]", 100.0),
            ("F2FP.F16.E4M3.UNPACK_B R8, R4", 100.0),
            ("F2FP.F16.E4M3.UNPACK_B R9, R4.H1", 100.0),
            (unpack, 100.0),
            ("HMMA.1688.F32 R24, R8, R12, R24", 100.0),
            ("@P0 BRA 0x100", 100.0),
            ("EXIT", 1.0),
        ];
        let metrics = [(ISSUE_BUSY, 60.0), (ALU, 80.0), (TENSOR, 20.0), (BLOCK, 128.0)];
        let mut launch = sass(&metrics, &code);
        launch.row.compute_capability = Some(capability);
        launch.instructions[1].text = "LDS.U16 R5, [R21]".to_owned();
        launch
    }

    const UNPACKED: &str = "F2FP.F16.E4M3.UNPACK_B R12, R5";

    #[test]
    fn conversions_go_and_half_of_the_products() {
        let draft = assert_sides(
            &RULE,
            &of(UNPACKED, (9, 0)),
            &[&[(ALU, 5.0), (TENSOR, 2.0), (DRAM, 92.0)]],
        );
        assert!((draft.effect.share_of(Term::Tensor) - 0.5).abs() < 1e-12);
        // Three conversions, half of the product, and of two loads all but three eighths of one.
        let gone = 3.0 + 0.5 + (2.0 - 0.375);
        let share = draft.effect.share_of(Term::Issue);
        assert!((share - gone * 100.0 / 701.0).abs() < 1e-12, "{share}");
        assert!((draft.effect.least - 0.1 / 0.75).abs() < 1e-12);
        assert!(draft.hint.contains("8-bit floats"), "{}", draft.hint);
    }

    #[test]
    fn devices_without_such_products_need_the_conversion() {
        assert!(check(&RULE, &of(UNPACKED, (8, 9))).is_some());
        assert!(check(&RULE, &of(UNPACKED, (8, 6))).is_none(), "no 8-bit floats");
        assert!(check(&RULE, &of("MOV R12, R5", (9, 0))).is_none(), "halves");
    }
}
