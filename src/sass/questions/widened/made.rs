//! What the operands of matrix instructions are made of.

use std::collections::BTreeSet;

use crate::hardware::REGISTER_BYTES;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::code::sass::Use;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::parse::register::Slot;
use crate::sass::questions::moved_down::taking_part;

/// What values are made of.
#[derive(Default)]
pub(super) struct Made {
    /// The instructions whose results they are.
    pub(super) last: Vec<usize>,
    /// Those of the values that were loaded as they are, by their loads.
    pub(super) as_they_are: Vec<usize>,
    /// The instructions that make them of what was loaded.
    pub(super) conversions: Vec<usize>,
    /// The loads, by the registers that are taken of each.
    pub(super) loads: BTreeSet<(usize, Slot)>,
    /// Bytes of what was loaded.
    pub(super) bytes: f64,
    /// True where something makes floats of them.
    pub(super) is_float: bool,
    /// True where floats of a byte were unpacked.
    pub(super) floats: bool,
    /// Additions of floats: one is split so into a large part and the rest.
    pub(super) additions: usize,
    /// True where numbers are multiplied by others that were loaded as they are: scales.
    pub(super) scaled: bool,
}

impl Made {
    /// Follows values back to loads, through what rearranges and converts; `None` where anything else takes part.
    pub(super) fn of(
        listing: &Listing,
        reaching: &mut Reaching,
        values: &[(usize, Use)],
    ) -> Option<Self> {
        let sass = listing.sass;
        let mut made = Self::default();
        let mut seen = Marks::new(sass.entries.len());
        let mut open = Vec::new();
        for &(at, each) in values {
            for by in reaching.definitions(at, each).map(|by| by as usize) {
                match sass.entries[by].family {
                    Family::Load(Space::Shared | Space::Global | Space::Generic) => {
                        made.as_they_are.push(by);
                    }
                    _ if !made.last.contains(&by) => {
                        made.last.push(by);
                        open.push(by);
                    }
                    _ => {}
                }
            }
        }
        while let Some(at) = open.pop() {
            if !seen.insert(at) {
                continue;
            }
            if is_parameter(listing, at) {
                continue;
            }
            if !converts(listing, at) {
                return None;
            }
            made.conversions.push(at);
            // Conversions from integers are no arithmetic of floats.
            let family = sass.entries[at].family;
            made.is_float |= family.is_float() || family == Family::Convert;
            made.additions += usize::from(family == Family::Fp32Add);
            made.floats |= unpacks_floats(listing.text(at));
            for each in taking_part(listing, at).filter(|each| {
                each.slot.is_general() && matches!(each.role, Role::Data | Role::Old)
            }) {
                if family == Family::Fp32Mul && is_loaded(listing, reaching, at, *each) {
                    made.scaled = true;
                    continue;
                }
                for by in reaching.definitions(at, *each).map(|by| by as usize) {
                    match sass.entries[by].family {
                        Family::Load(Space::Shared | Space::Global | Space::Generic) => {
                            made.loads.insert((by, each.slot));
                        }
                        _ => open.push(by),
                    }
                }
            }
        }
        let bytes = |at: usize| f64::from(sass.entries[at].width).min(REGISTER_BYTES);
        made.bytes = made.loads.iter().map(|(at, _)| bytes(*at)).sum();
        (made.last.is_empty() || made.bytes > 0.0).then_some(made)
    }
}

/// True for a value that is worked out in the kernel: a matrix instruction's sums go into it, or nothing that was loaded does.
pub(super) fn is_worked_out(
    listing: &Listing,
    reaching: &mut Reaching,
    at: usize,
    value: Use,
) -> bool {
    let sass = listing.sass;
    let mut seen = Marks::new(sass.entries.len());
    let mut open: Vec<(usize, Use)> = vec![(at, value)];
    let mut is_loaded = false;
    while let Some((at, each)) = open.pop() {
        for by in reaching.definitions(at, each).map(|by| by as usize) {
            let family = sass.entries[by].family;
            if family == Family::Tensor {
                return true;
            }
            if family.is_memory() {
                is_loaded = true;
            } else if seen.insert(by) {
                let data = taking_part(listing, by).filter(|each| each.slot.is_general());
                open.extend(data.map(|each| (by, *each)));
            }
        }
    }
    !is_loaded
}

/// True for a conversion from floats of a byte. The disassembler of ncu 2025.3 writes it as one that packs, with a single operand.
fn unpacks_floats(text: &str) -> bool {
    let packs_one = || text.contains("F2FP.F16.F32.PACK_AB") && text.matches(',').count() == 1;
    ["E4M3", "E5M2"].iter().any(|name| text.contains(name)) || packs_one()
}

/// True for what comes from memory as it is.
fn is_loaded(listing: &Listing, reaching: &mut Reaching, at: usize, each: Use) -> bool {
    let mut made_at = reaching.definitions(at, each).peekable();
    let is_load = |by: u32| {
        let family = listing.sass.entries[by as usize].family;
        matches!(family, Family::Load(Space::Shared | Space::Global | Space::Generic))
    };
    made_at.peek().is_some() && made_at.all(is_load)
}

/// True for a constant of the launch in a register of its own: no other than one that an instruction reads from constant memory
/// itself. A table there, whose place the numbers choose, is none.
fn is_parameter(listing: &Listing, at: usize) -> bool {
    let sass = listing.sass;
    sass.entries[at].family == Family::Constant
        && !sass.uses(at).iter().any(|each| each.slot.is_general())
}

/// True for what may stand between a byte and the number that is multiplied: conversions, permutations of bytes, logic, the
/// additions of tricks that let a byte's bits become those of a float, and products of floats of 32 bits with scales.
fn converts(listing: &Listing, at: usize) -> bool {
    match listing.sass.entries[at].family {
        Family::Move
        | Family::Integer
        | Family::IntegerMultiply
        | Family::HalfConvert
        | Family::Convert
        | Family::Fp32Add
        | Family::Fp32Mul => true,
        Family::HalfPacked | Family::HalfScalar => {
            ["HADD2", "HFMA2"].iter().any(|name| listing.text(at).contains(name))
        }
        _ => false,
    }
}
