//! The text of every built-in kernel's machine code: ours against NVIDIA's disassembler.
//!
//! Needs an NVRTC and an nvdisasm when the tests are built: `export ADOPROF_NVRTC=$(scripts/fetch-nvrtc
//! target/test-tools/nvrtc) ADOPROF_NVDISASM=$(scripts/fetch-nvdisasm target/test-tools/nvdisasm)`.
//! Without them the test runner lists these tests as ignored.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use adoprof::isa::Isa;
use adoprof::isa::architecture::Architecture;
use adoprof::isa::encoding::{Encoding, SIZE, instructions};
use adoprof::ladder::{Ladder, Overrides};
use adoprof::launch::nvrtc::{self, Unit};
use object::{Object, ObjectSection};
use rayon::prelude::*;

/// The bits of stall cycles, barriers and waits, which no text shows.
const CONTROL: u128 = 0x1_ffff << 105 & !(1 << 109);

/// The instructions in the code sections of a cubin, each once.
fn of_cubin(cubin: &[u8]) -> BTreeSet<u128> {
    let elf = object::File::parse(cubin).unwrap();
    let code = elf.sections().filter(|section| section.name().unwrap().starts_with(".text."));
    code.flat_map(|section| {
        let found: Vec<_> = instructions(section.data().unwrap()).map(shown).collect();
        found
    })
    .collect()
}

/// The bits that the text depends on.
fn shown(encoding: Encoding) -> u128 {
    encoding.0 & !CONTROL | 1 << 105 | 0b11_1111 << 110
}

/// The instructions of all ladders' steps, built for an architecture.
fn built(architecture: Architecture) -> BTreeSet<u128> {
    let compute_capability = (u32::from(architecture.0 / 10), u32::from(architecture.0 % 10));
    let of_ladder = |name: &str| {
        let ladder = Ladder::builtin(name).unwrap();
        let mut found = BTreeSet::new();
        if ladder.least_compute_capability().is_some_and(|least| least > compute_capability) {
            return found;
        }
        for step in ladder.steps() {
            let plan = ladder.plan(step.name(), &Overrides::new(), 132).unwrap();
            // A step that names an architecture is built for that one whatever is asked for.
            let own = format!("--gpu-architecture=sm_{}", architecture.0);
            let names = |flag: &&String| flag.starts_with("--gpu-architecture");
            if plan.flags.iter().find(names).is_some_and(|flag| !flag.starts_with(&own)) {
                continue;
            }
            let unit = Unit {
                text: &plan.source.text,
                path: Path::new(&plan.source.name),
                shown_as: step.name(),
                flags: &plan.flags,
                compute_capability,
            };
            found.extend(of_cubin(&nvrtc::compile(&unit).unwrap()));
        }
        found
    };
    Ladder::builtin_names().into_par_iter().map(of_ladder).reduce(
        BTreeSet::new,
        |mut all, found| {
            all.extend(found);
            all
        },
    )
}

/// What nvdisasm prints for instructions that lie one after the other from address 0.
fn disassembled(architecture: Architecture, code: &BTreeSet<u128>) -> Vec<String> {
    let program = PathBuf::from(std::env::var_os("ADOPROF_NVDISASM").expect("names an nvdisasm"));
    let file = tempfile::NamedTempFile::new().unwrap();
    let bytes: Vec<u8> = code.iter().flat_map(|encoding| encoding.to_le_bytes()).collect();
    std::fs::write(file.path(), bytes).unwrap();
    let target = format!("SM{}", architecture.0);
    let output =
        Command::new(program).args(["-ndf", "-raw", "-b", &target]).arg(file.path()).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().filter_map(|line| line.trim_start().strip_prefix("/*"));
    lines.filter_map(|line| Some(plain(line.split_once("*/")?.1))).collect()
}

/// An instruction's text with single blanks.
fn plain(text: &str) -> String {
    let words: Vec<_> = text.trim_end().trim_end_matches(';').split_whitespace().collect();
    words.join(" ")
}

/// Up to here every instruction of ours reads as NVIDIA's disassembler prints it.
const NEWEST_COMPLETE: Architecture = Architecture(90);
/// Of the newer ones' instructions one in so many may differ: their table is not complete.
const LEAST_RIGHT: usize = 200;

#[test]
#[cfg_attr(
    not(all(has_nvrtc, has_nvdisasm)),
    ignore = "needs NVRTC and nvdisasm: set ADOPROF_NVRTC and ADOPROF_NVDISASM, see scripts/"
)]
fn every_kernel_that_ships_reads_as_nvdisasm_prints_it() {
    let mut wrong = Vec::new();
    for architecture in Architecture::KNOWN {
        let code = built(architecture);
        let theirs = disassembled(architecture, &code);
        assert_eq!(theirs.len(), code.len());
        assert!(code.len() > 1000, "sm_{} has {} instructions", architecture.0, code.len());
        let isa = Isa::of(architecture).unwrap();
        let mut differ = Vec::new();
        let mut ours = String::new();
        for ((place, encoding), theirs) in (0_u64..).zip(&code).zip(&theirs) {
            ours.clear();
            isa.write(Encoding(*encoding), place * SIZE as u64, &mut ours);
            let ours = plain(&ours);
            if ours != *theirs {
                differ.push(format!("{encoding:#x}: {ours} and not {theirs}"));
            }
        }
        println!("sm_{}: {} instructions, {} differ", architecture.0, code.len(), differ.len());
        let most = if architecture <= NEWEST_COMPLETE { 0 } else { code.len() / LEAST_RIGHT };
        if differ.len() > most {
            differ.truncate(20);
            wrong.push((architecture, differ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A product of a warp group with the opcode's twelve bits and these bits beside those that each has: `R24` are the sums,
/// `UR4` the descriptors, `R88` A where it is in registers; no barrier of its own.
fn of_warp_group(opcode: u128, bits: u128) -> u128 {
    let a_in_registers = opcode >> 8 == 0xd;
    let sources = if a_in_registers { 88 << 24 | 4 << 32 } else { 4 << 24 };
    shown(Encoding(opcode | 7 << 12 | 24 << 16 | sources | 24 << 64 | 7 << 84 | bits | 1 << 91))
}

#[test]
#[cfg_attr(not(has_nvdisasm), ignore = "needs nvdisasm: set ADOPROF_NVDISASM, see scripts/")]
fn products_of_warp_groups_read_as_nvdisasm_prints_them() {
    let mut code = BTreeSet::new();
    for opcode in [0x9f0, 0x9f1, 0x9f2, 0x9f3, 0xdf0, 0xdf1, 0xdf2, 0xdf3] {
        // The type of the sums stands in bit 75, what BGMMA does in two bits that no other form has.
        let base = if opcode & 0xf == 2 { 1 << 78 | 1 << 80 } else { 1 << 75 };
        // All shapes, dense and sparse.
        for shape in 0..128 {
            code.insert(of_warp_group(opcode, base | shape << 53));
            if opcode & 0xf != 2 {
                code.insert(of_warp_group(opcode, base | shape << 53 | 1 << 73 | 40 << 40));
            }
        }
        // Every pair of modifiers: transposed, negated, types, the sums' old value, and the group's end.
        let flags: [u128; 11] = [61, 62, 63, 72, 75, 76, 77, 82, 90, 84, 87];
        // A product has one type.
        let types = [76, 77];
        let pairs = flags.iter().flat_map(|one| flags.iter().map(move |other| [*one, *other]));
        for [one, other] in pairs.filter(|pair| *pair != types && *pair != [types[1], types[0]]) {
            let ends = |bit: u128| if bit == 84 { 0b111 << 84 } else { 1 << bit };
            code.insert(of_warp_group(opcode, base) ^ (ends(one) | ends(other)));
        }
    }
    let architecture = NEWEST_COMPLETE;
    let theirs = disassembled(architecture, &code);
    assert_eq!(theirs.len(), code.len());
    let isa = Isa::of(architecture).unwrap();
    let (mut right, mut differ) = (0, Vec::new());
    for (encoding, theirs) in code.iter().zip(&theirs) {
        // Codes that stand for nothing.
        if theirs.contains("INVALID") || theirs.contains("???") {
            continue;
        }
        let mut ours = String::new();
        isa.write(Encoding(*encoding), 0, &mut ours);
        if plain(&ours) == *theirs {
            right += 1;
        } else {
            differ.push(format!("{encoding:#x}: {ours} and not {theirs}"));
        }
    }
    println!("{right} products of {} codes, {} differ", code.len(), differ.len());
    differ.truncate(20);
    assert!(differ.is_empty(), "{differ:#?}");
    assert!(right > 600, "{right}");
}
