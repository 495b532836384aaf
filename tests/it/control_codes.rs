//! The control codes of every built-in kernel's machine code against its registers: a barrier that an instruction sets is
//! waited for before anything needs what it guards. A field that was read from the wrong bits would break this all over.
//!
//! No disassembler prints these codes, so that nothing else can be held against them.

use std::path::Path;

use adoprof::export::SourceRow;
use adoprof::isa::Isa;
use adoprof::isa::architecture::Architecture;
use adoprof::isa::control::Control;
use adoprof::isa::encoding::{SIZE, instructions};
use adoprof::ladder::{Ladder, Overrides};
use adoprof::launch::nvrtc::{self, Unit};
use adoprof::sass::code::sass::Use;
use adoprof::sass::flow::barriers::Waits;
use adoprof::sass::parse::operands::Role;
use adoprof::sass::{Instruction, Sass, Slot, Turns};
use object::{Object, ObjectSection};
use rayon::prelude::*;

/// Results that come after a time that nobody knows beforehand.
const VARIABLE: [&str; 8] = ["LDG", "LDL", "LDS", "LD", "ATOMG", "ATOMS", "MUFU", "S2R"];
/// Results of each of these come in their order: the barrier of a later one guards those before it too. Loads of shared memory
/// and shuffles share a unit.
const IN_ORDER: [&[&str]; 2] = [&["LDS", "SHFL"], &["MUFU"]];
/// Copies to shared memory take their addresses in their order too.
const COPY: &str = "LDGSTS";
/// Results of these are there after so many cycles, on each architecture since sm_70.
const FIXED: [&str; 4] = ["FADD", "FMUL", "FFMA", "IADD3"];
const FIXED_CYCLES: u32 = 4;

/// One pair in so many may break a law: more units than those above may keep their order.
const MOST_BROKEN: usize = 4000;

/// How often each law was asked for, and where it was broken.
#[derive(Debug, Default)]
struct Found {
    results: usize,
    operands: usize,
    fixed: usize,
    broken: Vec<String>,
}

impl Found {
    fn and(mut self, other: Self) -> Self {
        self.results += other.results;
        self.operands += other.operands;
        self.fixed += other.fixed;
        self.broken.extend(other.broken);
        self
    }
}

/// A function's instructions with what each reads and writes.
struct Code {
    controls: Vec<Control>,
    texts: Vec<String>,
    sass: Sass,
}

impl Code {
    fn new(isa: Isa, bytes: &[u8]) -> Self {
        let (mut controls, mut rows) = (Vec::new(), Vec::new());
        for (place, encoding) in (0_u64..).zip(instructions(bytes)) {
            let address = place * SIZE as u64;
            let mut text = String::new();
            isa.write(encoding, address, &mut text);
            let control = Control::of(encoding);
            controls.push(control);
            let (address, control) = (Some(address), Some(control));
            rows.push(SourceRow { address, text, control, ..SourceRow::default() });
        }
        let sass = Sass::new(&rows, Turns { half: 1, wide: 1 });
        assert_eq!(sass.entries.len(), rows.len(), "each instruction is taken apart");
        Self { controls, texts: rows.into_iter().map(|row| row.text).collect(), sass }
    }

    fn opcode(&self, index: usize) -> &str {
        Instruction::parse(&self.texts[index]).map_or("", |instruction| instruction.base())
    }

    fn writes(&self, index: usize, slots: &[Slot]) -> bool {
        self.sass.defs(index).iter().any(|slot| slots.contains(slot))
    }

    fn reads(&self, index: usize, slots: &[Slot]) -> bool {
        // What a guard may leave as it is waits for nothing: the other instruction has the opposite guard.
        let is_read = |one: &&Use| one.role != Role::Old;
        self.sass.uses(index).iter().filter(is_read).any(|one| slots.contains(&one.slot))
    }

    /// Registers alone: predicates are seldom all listed (`PR`).
    fn results(&self, index: usize) -> Vec<Slot> {
        self.sass.defs(index).iter().copied().filter(|slot| slot.is_general()).collect()
    }

    fn operands(&self, index: usize) -> Vec<Slot> {
        let slots = self.sass.uses(index).iter().map(|one| one.slot);
        slots.filter(|slot| slot.is_general()).collect()
    }

    /// True where a wait between an instruction and the one that needs it, the latter included, is for its barrier.
    fn is_awaited(&self, from: usize, to: usize, barrier: u8) -> bool {
        let Some(wait) = (from + 1..=to).find(|&at| self.controls[at].waits_for(barrier)) else {
            return false;
        };
        Waits::new(&self.sass).of(wait).iter().any(|one| one.at as usize == from)
    }

    fn check(&self, name: &str) -> Found {
        let mut found = Found::default();
        let mut broken = |law: &str, from: usize, to: usize| {
            let (one, other) = (&self.texts[from], &self.texts[to]);
            found.broken.push(format!("{name}: {law}: {from} {one} and {to} {other}"));
        };
        for block in &self.sass.flow.blocks {
            for at in block.start..block.end {
                let (control, results) = (self.controls[at], self.results(at));
                let rest = at + 1..block.end;
                let needed = rest.clone().find(|&next| self.reads(next, &results));
                let is_variable = VARIABLE.contains(&self.opcode(at));
                if let Some(needed) =
                    needed.filter(|_| is_variable || control.write_barrier.is_some())
                {
                    found.results += 1;
                    let guards = |one: &usize| {
                        let (own, other) = (self.opcode(at), self.opcode(*one));
                        let of_both = |unit: &&[&str]| unit.contains(&own) && unit.contains(&other);
                        *one == at || IN_ORDER.iter().any(of_both)
                    };
                    let is_guarded = (at..needed).filter(guards).any(|one| {
                        let barrier = self.controls[one].write_barrier;
                        barrier.is_some_and(|barrier| self.is_awaited(one, needed, barrier))
                    });
                    if !is_guarded {
                        broken("a result is not awaited", at, needed);
                    }
                }
                let operands = self.operands(at);
                let replaced = rest.clone().find(|&next| self.writes(next, &operands));
                // One unit takes its instructions in their order, and opposite guards keep two apart.
                let is_apart = |next: usize| {
                    self.sass.entries[next].family == self.sass.entries[at].family
                        || self.texts[at].starts_with('@')
                };
                if let (Some(barrier), Some(replaced)) = (control.read_barrier, replaced)
                    && !is_apart(replaced)
                {
                    found.operands += 1;
                    let guards = |one: &usize| {
                        *one == at || self.opcode(at) == COPY && self.opcode(*one) == COPY
                    };
                    let is_guarded = (at..replaced).filter(guards).any(|one| {
                        let own = self.controls[one].read_barrier;
                        own.is_some_and(|own| self.is_awaited(one, replaced, own))
                    });
                    // A fence waits until all accesses before it are done, their operands read.
                    let is_fenced = (at..replaced).any(|one| self.opcode(one) == "MEMBAR");
                    if !is_guarded && !is_fenced && !self.is_awaited(at, replaced, barrier) {
                        broken("an operand is replaced", at, replaced);
                    }
                }
                let used = rest.clone().find(|&next| self.reads(next, &results));
                if let (true, Some(used)) = (FIXED.contains(&self.opcode(at)), used) {
                    found.fixed += 1;
                    let cycles: u32 =
                        self.controls[at..used].iter().map(|one| u32::from(one.stall_cycles)).sum();
                    if cycles < FIXED_CYCLES {
                        broken("a result is used too soon", at, used);
                    }
                }
            }
        }
        found
    }
}

/// The laws in all steps of a ladder.
fn of_ladder(name: &str, architecture: Architecture) -> Found {
    let compute_capability = (u32::from(architecture.0 / 10), u32::from(architecture.0 % 10));
    let isa = Isa::of(architecture).unwrap();
    let ladder = Ladder::builtin(name).unwrap();
    let mut found = Found::default();
    if ladder.least_compute_capability().is_some_and(|least| least > compute_capability) {
        return found;
    }
    for step in ladder.steps() {
        let plan = ladder.plan(step.name(), &Overrides::new(), 132).unwrap();
        // Code for the debugger breaks these laws in a way that nobody here can explain: for sm_80, a move that follows a
        // read of a special register waits for no barrier.
        if plan.flags.iter().any(|flag| flag == "--device-debug") {
            continue;
        }
        let unit = Unit {
            text: &plan.source.text,
            path: Path::new(&plan.source.name),
            shown_as: step.name(),
            flags: &plan.flags,
            compute_capability,
        };
        let cubin = nvrtc::compile(&unit).unwrap();
        let elf = object::File::parse(&*cubin).unwrap();
        for section in elf.sections().filter(|one| one.name().unwrap().starts_with(".text.")) {
            let place = format!("sm_{} {name}/{}", architecture.0, step.name());
            found = found.and(Code::new(isa, section.data().unwrap()).check(&place));
        }
    }
    found
}

#[test]
#[cfg_attr(not(has_nvrtc), ignore = "needs NVRTC: set ADOPROF_NVRTC, see scripts/fetch-nvrtc")]
fn barriers_are_waited_for_before_anything_needs_what_they_guard() {
    for architecture in [Architecture(80), Architecture(90)] {
        let names = Ladder::builtin_names().into_par_iter();
        let found =
            names.map(|name| of_ladder(name, architecture)).reduce(Found::default, Found::and);
        let Found { results, operands, fixed, mut broken } = found;
        println!("sm_{}: {results} results, {operands} operands, {fixed} sums", architecture.0);
        assert!(results > 5000 && operands > 500 && fixed > 5000, "{results} {operands} {fixed}");
        let count = broken.len();
        let laws = ["not awaited", "replaced", "too soon"];
        let of = |law: &str| broken.iter().filter(|one| one.contains(law)).count();
        println!("broken: {:?}", laws.map(of));
        broken.truncate(20);
        assert!(MOST_BROKEN * count <= results + operands + fixed, "{count}: {broken:#?}");
    }
}
