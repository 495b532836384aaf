//! What the index of an access to shared memory is made of: where a lane stands, what it loaded, and numbers that
//! change from iteration to iteration.

use crate::sass::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::instruction::Instruction;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::questions::alike;

/// The instructions behind an access's address in which loaded values take part and the thread's index does not, up to
/// the loads themselves; none where no lane has loaded values of its own there.
#[must_use]
pub fn of_data_alone(listing: &Listing, access: usize) -> Marks {
    let sass = listing.sass;
    let own = alike::of_threads_own(listing);
    let behind = behind(listing, access, |_| true);
    let begins = |at: usize, of_data: bool| {
        let family = sass.entries[at].family;
        if of_data { is_read(family) && own[at] } else { is_position(listing, at) }
    };
    let between = Marks::of(sass.entries.len(), |at| behind[at] && !is_end(listing, at));
    let mut reaching = Reaching::with_guards(sass);
    let mut made_of = |of_data: bool| {
        let mut made = Marks::of(sass.entries.len(), |at| behind[at] && begins(at, of_data));
        made.spread(&between, |at, made| {
            let mut uses = sass.uses(at).iter().filter(|each| is_value(each.role));
            uses.any(|each| reaching.definitions(at, *each).any(|by| made[by as usize]))
        });
        made
    };
    let (of_data, of_position) = (made_of(true), made_of(false));
    Marks::of(sass.entries.len(), |at| at != access && of_data[at] && !of_position[at])
}

/// True where the thread's index in an access's address is multiplied by a number that changes from iteration to
/// iteration of the loop around it, so that the lanes lie at another distance each time.
#[must_use]
pub fn distance_changes(listing: &Listing, access: usize) -> bool {
    let sass = listing.sass;
    let Some(around) = sass.flow.innermost(access) else { return false };
    let blocks = &sass.flow.loops[around].blocks;
    let is_inside = |at: usize| blocks.contains(&sass.flow.block_of[at]);
    let own = alike::of_threads_own(listing);
    let mut reaching = Reaching::new(sass);
    let sums = behind(listing, access, |at| is_linear(listing.text(at)));
    sums.iter().filter(|&at| is_inside(at)).any(|at| {
        if !is_product(listing.text(at)) {
            return false;
        }
        let uses = sass.uses(at).iter().filter(|each| each.role == Role::Data);
        let factors: Vec<Vec<usize>> = uses
            .take(2)
            .map(|each| reaching.definitions(at, *each).map(|by| by as usize).collect())
            .collect();
        let [one, other] = &factors[..] else { return false };
        let mut are = |place: &[usize], number: &[usize]| {
            goes_by_thread(listing, &mut reaching, place)
                && !number.iter().any(|&by| own[by])
                && changes(listing, &mut reaching, number, &is_inside)
        };
        are(one, other) || are(other, one)
    })
}

/// True where what one of these instructions makes is the thread's index, perhaps with multiples and sums.
fn goes_by_thread(listing: &Listing, reaching: &mut Reaching, makers: &[usize]) -> bool {
    let mut seen = Marks::new(listing.sass.entries.len());
    let mut open = makers.to_vec();
    while let Some(at) = open.pop() {
        if is_position(listing, at) {
            return true;
        }
        if seen.insert(at) && is_linear(listing.text(at)) {
            let uses = listing.sass.uses(at).iter().filter(|each| is_value(each.role));
            for each in uses {
                open.extend(reaching.definitions(at, *each).map(|by| by as usize));
            }
        }
    }
    false
}

/// True for sums, multiples and copies: what a hash or a mask makes lies at no distance.
fn is_linear(text: &str) -> bool {
    Instruction::parse(text).is_some_and(|parsed| match parsed.base() {
        "MOV" | "UMOV" | "R2UR" | "IADD" | "IADD3" | "UIADD3" | "VIADD" => true,
        "LEA" | "ULEA" | "IMAD" | "UIMAD" => !parsed.has("HI"),
        "SHF" | "USHF" => parsed.has("L"),
        _ => false,
    })
}

/// True for a multiplication or a shift to the left by what a register holds.
fn is_product(text: &str) -> bool {
    let Some(parsed) = Instruction::parse(text) else { return false };
    match parsed.base() {
        "IMAD" | "UIMAD" => !["MOV", "IADD", "HI"].iter().any(|each| parsed.has(each)),
        "SHF" | "USHF" => parsed.has("L"),
        _ => false,
    }
}

/// True where one of these instructions, or one behind them, sees a value both from before the loop and from its
/// previous iteration.
fn changes(
    listing: &Listing,
    reaching: &mut Reaching,
    makers: &[usize],
    is_inside: &impl Fn(usize) -> bool,
) -> bool {
    let is_both = |makers: &[usize]| {
        makers.iter().any(|&at| is_inside(at)) && makers.iter().any(|&at| !is_inside(at))
    };
    if is_both(makers) {
        return true;
    }
    let mut seen = Marks::new(listing.sass.entries.len());
    let mut open: Vec<usize> = makers.iter().copied().filter(|&at| is_inside(at)).collect();
    while let Some(at) = open.pop() {
        if !seen.insert(at) || is_end(listing, at) {
            continue;
        }
        for each in listing.sass.uses(at).iter().filter(|each| is_value(each.role)) {
            let makers: Vec<usize> =
                reaching.definitions(at, *each).map(|by| by as usize).collect();
            if is_both(&makers) {
                return true;
            }
            open.extend(makers.into_iter().filter(|&at| is_inside(at)));
        }
    }
    false
}

/// The instructions behind an access's address, this among them, up to reads of memory and of special registers, and as far
/// as instructions pass.
fn behind(listing: &Listing, access: usize, passes: impl Fn(usize) -> bool) -> Marks {
    let sass = listing.sass;
    let mut reaching = Reaching::with_guards(sass);
    let mut behind = Marks::new(sass.entries.len());
    let mut open = vec![access];
    while let Some(at) = open.pop() {
        let is_access = at == access;
        if !behind.insert(at) || !is_access && (is_end(listing, at) || !passes(at)) {
            continue;
        }
        let is_followed = |role| if is_access { role == Role::Address } else { is_value(role) };
        for each in sass.uses(at).iter().filter(|each| is_followed(each.role)) {
            open.extend(reaching.definitions(at, *each).map(|by| by as usize));
        }
    }
    behind
}

/// Not the condition under which a value is made, and not what was there before.
fn is_value(role: Role) -> bool {
    matches!(role, Role::Data | Role::Address)
}

/// True for what an index begins with.
fn is_end(listing: &Listing, at: usize) -> bool {
    let family = listing.sass.entries[at].family;
    is_read(family) || family == Family::System
}

/// True for reads of what is no parameter.
fn is_read(family: Family) -> bool {
    matches!(family, Family::Load(_) | Family::Atomic(_) | Family::Texture)
}

/// True for what tells a lane where it stands.
fn is_position(listing: &Listing, at: usize) -> bool {
    let text = listing.text(at);
    ["SR_TID", "SR_LANEID", "SR_VIRTID"].iter().any(|name| text.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    #[test]
    fn what_only_data_go_into_is_told_from_what_the_thread_goes_into() {
        let code = launch(&[
            ("S2R R2, SR_TID.X", 1.0),
            ("IMAD.WIDE.U32 R6, R2, 0x4, R4", 1.0),
            ("LDG.E R8, desc[UR4][R6.64]", 1.0),
            ("LOP3.LUT R9, R8, 0x7c, RZ, 0xc0, !PT", 1.0),
            ("IMAD R10, R2, 0x80, R9", 1.0),
            ("LDS R11, [R10]", 1.0),
        ]);
        let found = of_data_alone(&code.listing().unwrap(), 5);
        assert_eq!(found.iter().collect::<Vec<_>>(), [2, 3]);
        let uniform = launch(&[
            ("S2R R2, SR_TID.X", 1.0),
            ("LDC.64 R6, c[0x0][0x210]", 1.0),
            ("LDG.E R8, desc[UR4][R6.64]", 1.0),
            ("IMAD R10, R2, 0x80, R8", 1.0),
            ("LDS R11, [R10]", 1.0),
        ]);
        assert!(of_data_alone(&uniform.listing().unwrap(), 4).are_none(), "one value for all");
    }

    #[test]
    fn what_a_guarded_address_replaces_goes_nowhere() {
        let code = launch(&[
            ("S2R R2, SR_TID.X", 1.0),
            ("IMAD.WIDE.U32 R6, R2, 0x4, R4", 1.0),
            ("LDG.E R8, desc[UR4][R6.64]", 1.0),
            ("STS [R10], R8", 1.0),
            ("@!P1 LEA R8, R2, UR4, 0x3", 1.0),
            ("@!P1 LDS R11, [R8+0x4]", 1.0),
        ]);
        assert!(of_data_alone(&code.listing().unwrap(), 5).are_none(), "the value was stored");
    }

    #[test]
    fn a_factor_that_doubles_in_the_loop_changes_the_distance() {
        let changes = |turn: &str, product: &str| {
            let code = launch(&[
                ("S2R R2, SR_TID.X", 1.0),
                ("MOV R5, 0x4", 1.0),
                (product, 10.0),
                ("LDS R8, [R4]", 10.0),
                (turn, 10.0),
                ("ISETP.LE.U32.AND P1, PT, R5, c[0x0][0x0], PT", 10.0),
                ("@P1 BRA 0x120", 10.0),
                ("EXIT", 1.0),
            ]);
            distance_changes(&code.listing().unwrap(), 3)
        };
        let doubles = "IMAD.SHL.U32 R5, R5, 0x2, RZ";
        assert!(changes(doubles, "IMAD R4, R2, R5, RZ"));
        assert!(changes(doubles, "SHF.L.U32 R4, R2, R5, RZ"));
        assert!(!changes(doubles, "IMAD.IADD R4, R2, 0x1, R5"), "moved along");
        assert!(!changes("IADD3 R3, R3, 0x1, RZ", "IMAD R4, R2, R5, RZ"), "the same each time");
    }

    #[test]
    fn a_hash_of_the_index_lies_at_no_distance() {
        let code = launch(&[
            ("S2R R2, SR_TID.X", 1.0),
            ("MOV R5, 0x4", 1.0),
            ("IMAD R4, R2, R5, RZ", 10.0),
            ("LOP3.LUT R4, R4, 0xff, RZ, 0x3c, !PT", 10.0),
            ("LDS R8, [R4]", 10.0),
            ("IMAD.SHL.U32 R5, R5, 0x2, RZ", 10.0),
            ("ISETP.LE.U32.AND P1, PT, R5, c[0x0][0x0], PT", 10.0),
            ("@P1 BRA 0x120", 10.0),
            ("EXIT", 1.0),
        ]);
        assert!(!distance_changes(&code.listing().unwrap(), 4));
    }
}
