//! Double-precision arithmetic that no double-precision data asks for.

use crate::sass::code::listed_instruction::place;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::code::sass::{Sass, Use};
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::questions::alike;

/// Double-precision arithmetic on values that are no doubles in memory: chains of it that neither begin at a 64-bit
/// load nor end in a 64-bit store or atomic. A load of one address by all threads of a block fetches a parameter, such as
/// a rate, and no data: it does not ask for doubles, just as a double that the kernel is given does not. Neither do doubles
/// in shared memory where all that passes through it in accesses as wide are doubles that the kernel has made.
#[derive(Debug)]
pub struct Strays {
    /// Chains with which floats are exchanged, as a literal like `0.5` next to floats or a maths function of the wrong
    /// name makes them, with their conversions.
    pub among_floats: Marks,
    /// Chains that begin at integers and are rounded to whole numbers, as `ceil(n / 16.0)` makes them, with their
    /// conversions. Others that begin at integers are doubles because someone wants doubles.
    pub counts: Marks,
}

/// Finds them.
#[must_use]
pub fn strays(listing: &Listing) -> Strays {
    let sass = listing.sass;
    let is_double = |index: usize| sass.entries[index].family == Family::Fp64;
    let none = || Marks::new(sass.entries.len());
    if !(0..sass.entries.len()).any(is_double) {
        return Strays { among_floats: none(), counts: none() };
    }
    let mut chains = Chains::new(sass.entries.len());
    let mut declared = Marks::new(sass.entries.len());
    let mut conversions: Vec<(u32, u32)> = Vec::new();
    let mut sources = Sources::new(listing);
    let shared = passed_through_shared_memory(listing, &mut sources);
    // Only kernels that load doubles for their arithmetic pay for it.
    let mut own = None;
    for (index, entry) in listing.entries() {
        let wide = entry.width >= 8;
        let ends = match entry.family {
            Family::Fp64 | Family::ConvertFp64 => false,
            Family::Store(_) | Family::Atomic(_) | Family::Reduction(_) => wide,
            _ => continue,
        };
        for each in sass.uses(index).iter().filter(|each| each.role == Role::Data) {
            for &source in sources.of(index, *each) {
                let family = sass.entries[source].family;
                match (entry.family, family) {
                    (Family::Fp64, Family::Fp64) => chains.join(index, source),
                    (Family::Fp64, _) if shared[source] => chains.join(index, source),
                    (_, Family::Fp64) if shared[index] => chains.join(index, source),
                    (Family::Fp64, Family::Load(_))
                        if sass.entries[source].width >= 8
                            && own.get_or_insert_with(|| alike::of_threads_own(listing))
                                [source] =>
                    {
                        declared.insert(index);
                    }
                    (Family::Fp64, Family::ConvertFp64) => {
                        conversions.push((place(source), place(index)));
                    }
                    (Family::ConvertFp64, Family::Fp64) => {
                        conversions.push((place(index), place(source)));
                    }
                    (Family::ConvertFp64, Family::Load(Space::Shared)) if shared[source] => {
                        conversions.push((place(index), place(source)));
                    }
                    (Family::Store(Space::Shared), Family::ConvertFp64) if shared[index] => {
                        conversions.push((place(source), place(index)));
                    }
                    (_, Family::Fp64) if ends => {
                        declared.insert(source);
                    }
                    _ => {}
                }
            }
        }
    }
    // Which load reads what a store has written is not followed: they are one set.
    let mut exchanges = shared.iter();
    if let Some(first) = exchanges.next() {
        exchanges.for_each(|each| chains.join(first, each));
    }
    let mut declared_roots = Marks::new(sass.entries.len());
    for index in declared.iter() {
        declared_roots.insert(chains.root(index));
    }
    let mut roots_of = |operation: &str| {
        let mut roots = none();
        for &(conversion, double) in &conversions {
            if listing.text(conversion as usize).contains(operation) {
                roots.insert(chains.root(double as usize));
            }
        }
        roots
    };
    let (with_floats, with_integers, rounded) =
        (roots_of("F2F"), roots_of("I2F"), roots_of("FRND"));
    let given = of_parameters(listing, &mut chains, &conversions);
    let mut strays = |is_stray: &dyn Fn(usize) -> bool| {
        let mut strays = Marks::of(sass.entries.len(), |index| {
            let root = chains.root(index);
            is_double(index) && !declared_roots[root] && is_stray(root)
        });
        for &(conversion, double) in &conversions {
            if strays[double as usize] {
                strays.insert(conversion as usize);
            }
        }
        strays
    };
    Strays {
        among_floats: strays(&|root| with_floats[root]),
        counts: strays(&|root| {
            rounded[root] && with_integers[root] && !with_floats[root] && !given[root]
        }),
    }
}

/// The chains that a double among the kernel's parameters takes part in, also behind a rounding: it is one because someone wants
/// doubles.
fn of_parameters(listing: &Listing, chains: &mut Chains, conversions: &[(u32, u32)]) -> Marks {
    let sass = listing.sass;
    let none = || Marks::new(sass.entries.len());
    let is_double = |index: usize| sass.entries[index].family == Family::Fp64;
    let reads_parameter = |at: usize| listing.text(at).contains("c[0x0]");
    let mut given = none();
    for index in (0..sass.entries.len()).filter(|&at| is_double(at) && reads_parameter(at)) {
        given.insert(chains.root(index));
    }
    let mut rounds_given = none();
    for &(conversion, double) in conversions {
        let at = conversion as usize;
        let is_given = given[chains.root(double as usize)] || reads_parameter(at);
        if is_given && listing.text(at).contains("FRND") {
            rounds_given.insert(at);
        }
    }
    for &(conversion, double) in conversions {
        if rounds_given[conversion as usize] {
            given.insert(chains.root(double as usize));
        }
    }
    given
}

/// The wide accesses to shared memory, where nothing but doubles that the kernel has made passes through it in them; none
/// elsewhere.
fn passed_through_shared_memory(listing: &Listing, sources: &mut Sources) -> Marks {
    let sass = listing.sass;
    let none = || Marks::new(sass.entries.len());
    let mut wide = none();
    for (index, entry) in listing.entries() {
        match entry.family {
            Family::AsyncCopy => return none(),
            Family::Load(Space::Shared) if entry.width >= 8 => {
                wide.insert(index);
            }
            Family::Store(Space::Shared) if entry.width >= 8 => {
                for each in sass.uses(index).iter().filter(|each| each.role == Role::Data) {
                    let makes_doubles = |&source: &usize| {
                        let family = sass.entries[source].family;
                        let converts = || listing.text(source).starts_with("F2F.F64");
                        family == Family::Fp64 || family == Family::ConvertFp64 && converts()
                    };
                    let made = sources.of(index, *each);
                    if made.is_empty() || !made.iter().all(makes_doubles) {
                        return none();
                    }
                }
                wide.insert(index);
            }
            _ => {}
        }
    }
    wide
}

/// Where values come from, copies and selections looked through, with room that is used again.
struct Sources<'a> {
    sass: &'a Sass,
    reaching: Reaching<'a>,
    found: Vec<usize>,
    open: Vec<u32>,
    seen: Vec<u32>,
}

impl<'a> Sources<'a> {
    fn new(listing: &Listing<'a>) -> Self {
        let sass = listing.sass;
        let reaching = Reaching::new(sass);
        Self { sass, reaching, found: Vec::new(), open: Vec::new(), seen: Vec::new() }
    }

    fn of(&mut self, index: usize, each: Use) -> &[usize] {
        self.found.clear();
        self.seen.clear();
        self.open.extend(self.reaching.definitions(index, each));
        while let Some(definition) = self.open.pop() {
            if self.seen.contains(&definition) {
                continue;
            }
            self.seen.push(definition);
            let at = definition as usize;
            if matches!(self.sass.entries[at].family, Family::Move | Family::Fp32Other) {
                for each in self.sass.uses(at).iter().filter(|each| each.role == Role::Data) {
                    self.open.extend(self.reaching.definitions(at, *each));
                }
            } else {
                self.found.push(at);
            }
        }
        &self.found
    }
}

/// Sets of instructions that exchange doubles.
struct Chains(Vec<u32>);

impl Chains {
    fn new(count: usize) -> Self {
        Self((0..place(count)).collect())
    }

    fn root(&mut self, mut index: usize) -> usize {
        while self.0[index] as usize != index {
            self.0[index] = self.0[self.0[index] as usize];
            index = self.0[index] as usize;
        }
        index
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b)] = place(a.min(b));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    fn of(code: &[&str]) -> Vec<usize> {
        let code: Vec<(&str, f64)> = code.iter().map(|text| (*text, 1.0)).collect();
        strays(&launch(&code).listing().unwrap()).among_floats.iter().collect()
    }

    #[test]
    fn a_literal_among_floats_makes_strays() {
        let code = [
            "LDG.E R0, desc[UR4][R20.64]",
            "F2F.F64.F32 R2, R0",
            "DFMA R4, R2, R8, 1",
            "MOV R6, R4",
            "MOV R7, R5",
            "DADD R10, R6, R2",
            "F2F.F32.F64 R0, R10",
            "STG.E desc[UR4][R20.64], R0",
        ];
        assert_eq!(of(&code), [1, 2, 5, 6]);
    }

    #[test]
    fn doubles_in_memory_ask_for_double_arithmetic() {
        let loads = ["LDG.E.64 R2, desc[UR4][R20.64]", "DADD R4, R2, 1", "F2F.F32.F64 R0, R4"];
        assert!(of(&loads).is_empty());
        let stores = ["F2F.F64.F32 R2, R0", "DMUL R4, R2, R2", "STG.E.64 desc[UR4][R20.64], R4"];
        assert!(of(&stores).is_empty());
        assert!(of(&["FADD R0, R1, R2"]).is_empty());
    }

    #[test]
    fn a_double_that_all_threads_load_alike_is_a_parameter() {
        let by = |index: &'static str| {
            of(&[
                index,
                "LDC.64 R4, c[0x0][0x210]",
                "IMAD.WIDE R6, R0, 0x8, R4",
                "LDG.E.64 R8, desc[UR4][R6.64]",
                "F2F.F64.F32 R2, R10",
                "DMUL R2, R2, R8",
                "F2F.F32.F64 R12, R2",
            ])
        };
        assert_eq!(by("S2R R0, SR_CTAID.X"), [4, 5, 6]);
        assert!(by("S2R R0, SR_TID.X").is_empty(), "data");
    }

    #[test]
    fn halves_of_doubles_in_memory_ask_for_none() {
        let stored = ["F2F.F64.F32 R2, R0", "DMUL R4, R2, R2", "STG.E desc[UR4][R20.64], R4"];
        assert_eq!(of(&stored), [0, 1]);
        let loaded = ["LDG.E R2, desc[UR4][R20.64]", "DADD R4, R2, 1", "F2F.F32.F64 R0, R4"];
        assert_eq!(of(&loaded), [1, 2]);
    }

    #[test]
    fn doubles_that_threads_exchange_in_shared_memory_are_no_data() {
        let exchanged = |stored: &'static str| {
            of(&[
                "LDG.E R0, desc[UR4][R20.64]",
                "F2F.F64.F32 R2, R0",
                "DMUL R4, R2, R2",
                stored, // 3
                "BAR.SYNC.DEFER_BLOCKING 0x0",
                "LDS.64 R8, [R30]",
                "DADD R10, R8, 1",
                "F2F.F32.F64 R0, R10",
                "STG.E desc[UR4][R20.64], R0",
            ])
        };
        assert_eq!(exchanged("STS.64 [R31], R4"), [1, 2, 6, 7]);
        // Data that was copied there may be doubles.
        let copied = of(&[
            "LDG.E.64 R4, desc[UR4][R20.64]",
            "STS.64 [R31], R4",
            "LDS.64 R8, [R30]",
            "DADD R10, R8, 1",
            "F2F.F32.F64 R0, R10",
        ]);
        assert!(copied.is_empty(), "{copied:?}");
    }

    #[test]
    fn a_count_that_is_rounded_up_needs_no_doubles() {
        let counts = |scaling: &'static str, rounding: &'static str| -> Vec<usize> {
            let code = [
                ("I2F.F64 R2, c[0x0][0x180]", 1.0),
                (scaling, 1.0),
                (rounding, 1.0),
                ("I2F.F64 R4, R9", 1.0),
                ("DSETP.GT.AND P0, PT, R2, R4, PT", 1.0),
                ("@P0 BRA 0x130", 1.0),
                ("EXIT", 1.0),
            ];
            strays(&launch(&code).listing().unwrap()).counts.iter().collect()
        };
        let (sixteenth, up) = ("DMUL R2, R2, 0.0625", "FRND.F64.CEIL R2, R2");
        assert_eq!(counts(sixteenth, up), [0, 1, 2, 3, 4]);
        assert!(
            counts(sixteenth, "DADD R2, R2, 0.5").is_empty(),
            "a bound that is no whole number"
        );
        assert!(counts("DMUL R2, R2, c[0x0][0x188]", up).is_empty(), "of a double that was given");
    }
}
