//! Matrix products on the plain pipes.

mod distances;

use crate::device::{DeviceFacts, Quantity};
use crate::evidence::language::is_of_triton;
use crate::evidence::local_memory::{self, BY_HIT_RATE, TO_L2};
use crate::evidence::modeled_launch::place;
use crate::evidence::removal::{ISSUE_BUSY, MATTERS_LIMIT, Removal, locations, matters};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::rules::said_by_ncu::{Acts, SaidByNcu};
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::flow::slice;
use crate::sass::questions::chosen_sums::chosen_sums;
use crate::sass::questions::product::{Element, element, products, products_to_be_rounded};
use crate::sass::{Family, Listing, Marks, Space};
use crate::term::Term;
use crate::text::{count, percent};

/// Multiply-adds of the product of all executed instructions, from which the kernel is a product.
const LEAST_MULTIPLY_ADDS: f64 = 0.1;

/// How often a fragment uses an element that it loads: fragments have 16 rows or columns, 8 at least.
const REUSE: f64 = 8.0;

/// How many 16-bit multiply-adds a tensor unit does in the time of one of TF32.
const TF32_OVER_HALF: f64 = 2.0;

/// The first compute capability whose tensor units multiply TF32 numbers.
const FIRST_WITH_TF32: (u32, u32) = (8, 0);

/// The rule.
pub const RULE: Rule = Rule {
    name: "tensor-cores-unused",
    kind: Kind::Cause,
    summary: "a matrix product runs without the tensor units",
    explanation: "\
A tensor instruction does the multiply-adds of two whole matrix fragments: 4 to 32 times as many \
per cycle as the FMA pipe, from operands that the lanes of the warp share. The rule follows \
factors and sums through the SASS: it counts multiply-adds into a sum that a loop carries, whose \
factors are both loaded in that loop as 16-bit floats, 8-bit integers, or doubles where the device \
has tensor units for them. Tensor units round single-precision factors to TF32 (10 bits behind the \
leading one), which gives another result: the rule names those in Triton alone, where \
input_precision tells tl.dot whether to. Squared distances between all rows of two matrices are a \
product as well, |x|² + |y|² - 2xy: the rule looks for sums of squared differences of loaded values \
where each side has rows that meet several of the other's, and takes floats in CUDA C++ to stay on \
the FMA pipe, without the subtractions. A matrix-vector product looks the same but is limited by \
memory, so memory must be less busy than the pipe. Use a library (cuBLAS, CUTLASS) or \
nvcuda::wmma.",
    examples: &[Example {
        fault: "\
// one 16 x 16 tile of scores per block of 256 threads
int row = threadIdx.x / 16, col = threadIdx.x % 16;
float sum = 0.0f;
for (int k = 0; k < width; ++k)
    sum += __half2float(query[row * width + k]) *
           __half2float(key[col * width + k]);
score[row * 16 + col] = sum;",
        repair: "\
fragment<matrix_a, 16, 16, 16, __half, row_major> a;     // nvcuda::wmma
fragment<matrix_b, 16, 16, 16, __half, col_major> b;
fragment<accumulator, 16, 16, 16, float> sum;
fill_fragment(sum, 0.0f);
for (int k = 0; k < width; k += 16) {
    load_matrix_sync(a, query + k, width);
    load_matrix_sync(b, key + k, width);
    mma_sync(sum, a, b, sum);
}
store_matrix_sync(score, sum, 16, mem_row_major);",
        note: "\
A warp multiplies two tiles of 16 x 16 halves at a time and sums in single precision, as before, \
though in another order; width must be a multiple of 16.",
    }],
    section: "ComputeWorkloadAnalysis",
    thresholds: &[
        Threshold {
            what: "multiply-adds of the product, share of all executed instructions, at least",
            value: LEAST_MULTIPLY_ADDS,
            unit: "share",
            source: "derivation: for each multiply-add, the plainest product of halves executes 2 \
                     loads, 2 conversions and about 5 instructions for two addresses and the loop",
        },
        Threshold {
            what: "constant: 16-bit multiply-adds of a tensor unit in the time of one of TF32",
            value: TF32_OVER_HALF,
            unit: "",
            source: "data sheet: dense rates of A100, H100 and H200",
        },
        MATTERS_LIMIT,
    ],
    needs: &[ISSUE_BUSY],
    sharpened_by: &[TO_L2, BY_HIT_RATE],
    source_page: SourcePage::Needed,
    said_by_ncu: &[SaidByNcu::with(
        "TileAnalysis",
        &["tensor core"],
        Acts::Units(&[Term::Fma, Term::Issue]),
    )],
    explains: &[
        "math-pipe-throttle",
        "short-scoreboard-stalls",
        "mio-throttle",
        "fixed-latency-stalls",
        "issue-slots-underused",
    ],
    in_triton: "\
tl.dot on 16-bit operands, or on floats with input_precision=\"tf32\" (or \"tf32x3\") in place of \
\"ieee\"; for squared distances x2[:, None] + y2[None, :] - 2 * tl.dot(x, tl.trans(y)) in place of a sum \
over (x[:, None, :] - y[None, :, :])²; in PyTorch's own kernels \
torch.set_float32_matmul_precision(\"high\").",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let (listing, total) = (removal.listing, removal.mix.total);
    let on_tensor = removal.mix.family(Family::Tensor);
    // The flow of data need not be followed where these tell enough.
    if on_tensor > 0.0 || total <= 0.0 || hangs_on_memory(launch) {
        return None;
    }
    let Some((products, element)) = multiplied(launch, &listing) else {
        return distances::check(launch, removal);
    };
    let factor = rate(&launch.profile.device_facts(), element)?;
    let is_product = |index: usize| products[index];
    let multiply_adds: f64 = products.iter().map(|at| listing.executed(at)).sum();
    if multiply_adds / total < LEAST_MULTIPLY_ADDS {
        return None;
    }
    // Triton unrolls the whole depth of a tile where no tensor unit takes it, and holds all of its factors in registers.
    let spills = element == Element::Single;
    for (index, entry) in listing.entries() {
        if is_product(index) {
            removal.remove(index, 1.0 - 1.0 / factor);
        } else if spills && is_local(entry.family) {
            removal.remove(index, 1.0);
        }
    }
    let beside = removal.beside(is_product);
    keep_fragments(&mut removal, &beside, |index| {
        is_product(index) || spills && is_local(listing.sass.entries[index].family)
    });
    let mut effect = removal.effect(launch);
    if spills {
        effect.removed.extend(local_memory::l2(launch, 1.0));
    }
    if !matters(launch, &effect) {
        return None;
    }
    let weight = |index: usize| if is_product(index) { listing.executed(index) } else { 0.0 };
    let locations = locations(launch, listing, weight, "multiply-adds of the product");
    let (words, call, sums) = match element {
        Element::Half => (
            "16-bit floats",
            "wmma with __half or __nv_bfloat16 fragments",
            "sums are added in another order, and they have 32 bits if the accumulator is declared as 32 bits",
        ),
        Element::Double => {
            ("doubles", "wmma with double fragments (8x8x4)", "sums are added in another order")
        }
        Element::Byte => (
            "8-bit integers",
            "wmma with signed char fragments",
            "the accumulator is a 32-bit integer, so that sums stay exact",
        ),
        Element::Single => (
            "32-bit floats",
            "TF32, which rounds each factor to 11 bits (or three TF32 products, 3xTF32, which keep nearly all of them)",
            "sums keep 32 bits but are added in another order",
        ),
    };
    Some(Draft {
        message: format!(
            "{} of {} executed warp instructions ({}) are multiply-adds of a matrix product of \
             {words}, and none runs on the tensor pipe, which does {factor:.0} times as many per \
             cycle.",
            count(multiply_adds),
            count(total),
            percent(multiply_adds / total),
        ),
        evidence: vec![
            Evidence::new("executed multiply-adds of a product", multiply_adds, "inst"),
            Evidence::new("executed tensor instructions", on_tensor, "inst"),
            Evidence::new("smsp__inst_executed.sum", total, "inst"),
        ],
        hint: format!(
            "Compute the product at {} on the tensor units: {call}, or a library (cuBLAS, \
             CUTLASS). Tiles must be multiples of the fragments; {sums}.",
            place(&locations, "the innermost loop"),
        ),
        locations,
        effect,
    })
}

/// The product's instructions, and what they multiply. Single-precision factors count in Triton alone, where
/// one word tells whether tensor units round them.
fn multiplied(launch: &ModeledLaunch, listing: &Listing) -> Option<(Marks, Element)> {
    let exact = products(listing);
    let first = exact.iter().find_map(|index| element(listing.sass, index));
    if let Some(first) = first {
        return Some((exact, first));
    }
    let has_tf32 =
        launch.profile.row.compute_capability.is_some_and(|each| each >= FIRST_WITH_TF32);
    if !has_tf32 || !is_of_triton(launch.profile) {
        return None;
    }
    let rounded = products_to_be_rounded(listing);
    // Products with ones and zeros are sums, which need no product at all.
    let row = &launch.profile.row;
    let are_sums = || chosen_sums(listing, row.block, row.grid).is_some();
    (!rounded.are_none() && !are_sums()).then_some((rounded, Element::Single))
}

/// The rate of the tensor units over that of the plain pipes. Doubles on tensor units are held against
/// those of the plain pipe, bytes against the integer product of four; halves are taken to run at the rate
/// of single precision, which they do in loops that widen them. `None` where the device has no such
/// tensor units, or they are not known.
fn rate(facts: &DeviceFacts, element: Element) -> Option<f64> {
    let (tensor, plain) = match element {
        Element::Half | Element::Single => (Quantity::TensorHalfRate, Quantity::FmaRate),
        Element::Double => (Quantity::TensorDoubleRate, Quantity::Fp64Rate),
        Element::Byte => (Quantity::TensorByteRate, Quantity::ByteProductRate),
    };
    let width = if element == Element::Single { TF32_OVER_HALF } else { 1.0 };
    Some(facts.get(tensor)? / facts.get(plain)? / width)
}

/// Takes away what fragments do not need beside a product: their elements are loaded once for several multiply-adds, as
/// they are.
fn keep_fragments(removal: &mut Removal, beside: &Marks, is_counted: impl Fn(usize) -> bool) {
    let listing = removal.listing;
    let work = slice::work(&listing);
    for (index, entry) in listing.entries().filter(|(index, _)| beside[*index]) {
        if is_counted(index) {
            continue;
        }
        if entry.family.is_memory() || !work[index] {
            removal.remove(index, 1.0 - 1.0 / REUSE);
        } else if entry.family == Family::HalfConvert {
            removal.remove(index, 1.0);
        }
    }
}

fn is_local(family: Family) -> bool {
    matches!(family, Family::Load(Space::Local) | Family::Store(Space::Local))
}

/// True where DRAM or L2 is busier than every unit that the product keeps busy, spilled registers aside: a product of a
/// matrix with few vectors, which tensor units do not make faster.
fn hangs_on_memory(launch: &ModeledLaunch) -> bool {
    let spilled = local_memory::l2(launch, 1.0);
    let without = |term: Term| {
        let theirs: f64 =
            spilled.iter().filter(|(of, _)| *of == term).map(|(_, share)| share).sum();
        launch.model.utilization(term).map(|busy| busy * (1.0 - theirs))
    };
    let busiest =
        |terms: &[Term]| terms.iter().filter_map(|&term| without(term)).fold(0.0, f64::max);
    let inside = [Term::Issue, Term::Fma, Term::Fp64, Term::Alu, Term::L1Data, Term::Lsu];
    busiest(&[Term::Dram, Term::L2, Term::L2Requests]) > busiest(&inside)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::SourceRow;
    use crate::frame::Launch;
    use crate::rules::testing::{assert_sides, check, sass};

    const DRAM: &str = "dram__cycles_active.avg.pct_of_peak_sustained_elapsed";
    const FMA: &str = "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed";

    /// A product loop of halves with so many other instructions per iteration.
    fn product(others: f64) -> Launch {
        let code = [
            ("LDS.U16 R0, [R20]", 100.0),
            ("LDS.U16 R2, [R22]", 100.0),
            ("HADD2.F32 R4, -RZ, R0.H0_H0", 100.0),
            ("HADD2.F32 R5, -RZ, R2.H0_H0", 100.0),
            ("FFMA R6, R4, R5, R6", 100.0),
            ("FADD R9, R9, R9", others),
            ("@P0 BRA 0x100", 100.0),
            ("STG.E.U16 desc[UR4][R20.64], R6", 1.0),
        ];
        let mut launch = sass(&[(ISSUE_BUSY, 60.0), (FMA, 30.0), (DRAM, 10.0)], &code);
        launch.row.compute_capability = Some((9, 0));
        launch
    }

    #[test]
    fn products_of_halves_count_where_memory_is_not_the_limit() {
        let draft = assert_sides(
            &RULE,
            &product(399.0),
            &[&[(DRAM, 61.0)], &[(ISSUE_BUSY, 4.0), (FMA, 4.0), (DRAM, 0.0)]],
        );
        // Of 699 on the FMA pipes: 15 of 16 products and both conversions go.
        assert!((draft.effect.share_of(Term::Fma) - 293.75 / 699.0).abs() < 1e-12);
        assert_eq!(draft.locations[0].line, 5);
        assert_eq!(check(&RULE, &product(400.0)), None, "less than a tenth");
    }

    #[test]
    fn single_precision_and_kernels_with_tensor_instructions_are_left_alone() {
        let mut single = product(10.0);
        single.instructions[2].text = "FADD R4, R0, 1".to_owned();
        assert_eq!(check(&RULE, &single), None);
        let mut tensor = product(10.0);
        tensor.instructions[5].text = "HMMA.16816.F32 R12, R24, R28, R12".to_owned();
        assert_eq!(check(&RULE, &tensor), None);
    }

    #[test]
    fn floats_are_told_to_be_rounded_in_triton_alone() {
        let code = [
            ("LDS R0, [R20]", 100.0),
            ("LDS R2, [R22]", 100.0),
            ("FFMA R6, R0, R2, R6", 100.0),
            ("@P0 BRA 0x100", 100.0),
            ("STG.E desc[UR4][R20.64], R6", 1.0),
        ];
        let mut launch = sass(&[(ISSUE_BUSY, 60.0), (FMA, 30.0), (DRAM, 10.0)], &code);
        launch.row.compute_capability = Some((9, 0));
        assert_eq!(check(&RULE, &launch), None, "CUDA C++");
        let of_triton =
            SourceRow { file: Some("/home/me/scores.py".into()), ..SourceRow::default() };
        launch.lines = vec![of_triton];
        let draft = check(&RULE, &launch).unwrap();
        // 7 of 8 multiply-adds go.
        assert!((draft.effect.share_of(Term::Fma) - 0.875).abs() < 1e-12);
        assert!(draft.hint.contains("3xTF32"), "{}", draft.hint);
        launch.row.compute_capability = Some((7, 5));
        assert_eq!(check(&RULE, &launch), None, "tensor units without TF32");
    }

    #[test]
    fn what_is_said_of_sums_fits_their_type() {
        let halves = check(&RULE, &product(100.0)).unwrap().hint;
        assert!(halves.ends_with("they have 32 bits if the accumulator is declared as 32 bits."));
        let code = [
            ("LDS R0, [R20]", 100.0),
            ("LDS R2, [R22]", 100.0),
            ("IDP.4A.S8.S8 R6, R0, R2, R6", 100.0),
            ("@P0 BRA 0x100", 100.0),
            ("STG.E desc[UR4][R20.64], R6", 1.0),
        ];
        let mut launch = sass(&[(ISSUE_BUSY, 60.0), (FMA, 30.0), (DRAM, 10.0)], &code);
        launch.row.compute_capability = Some((9, 0));
        let bytes = check(&RULE, &launch).unwrap().hint;
        assert!(bytes.ends_with("32-bit integer, so that sums stay exact."), "{bytes}");
    }

    #[test]
    fn rates_follow_the_architecture() {
        let rate = |capability, element| rate(&DeviceFacts::of(None, Some(capability)), element);
        // 2048 / 128, 512 / 128, 128 / 64; 1024 / 256.
        assert_eq!(rate((9, 0), Element::Half), Some(16.0));
        assert_eq!(rate((8, 6), Element::Half), Some(4.0));
        assert_eq!(rate((8, 6), Element::Double), None);
        assert_eq!(rate((9, 0), Element::Double), Some(2.0));
        assert_eq!(rate((7, 5), Element::Byte), Some(4.0));
        assert_eq!(rate((7, 0), Element::Byte), None);
        assert_eq!(rate((6, 1), Element::Half), None);
        assert_eq!(rate((9, 0), Element::Single), Some(8.0));
    }
}
