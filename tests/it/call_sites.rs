//! From a stack's addresses to functions and lines, with programs compiled in several ways.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use adoprof::survey::callers::{Frame, Stack};
use adoprof::survey::places::{Site, sites};

use object::{Object, ObjectSection, ObjectSymbol};

use crate::survey::{compile, surveyed};

/// The line of the stand-in that launches behind a pause.
pub(crate) fn line_of_the_launch() -> u32 {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stand_in/program.rs");
    let source = std::fs::read_to_string(source).unwrap();
    let before = source.lines().take_while(|line| !line.ends_with("// the launch")).count();
    before as u32 + 1
}

fn launch(program: &Path) -> Stack {
    let surveyed = surveyed(program, "idles");
    let callers = &surveyed.survey.processes[0].callers;
    Stack::clone(callers.of(101).unwrap().0)
}

fn site(stack: &Stack) -> Option<Site> {
    sites(std::slice::from_ref(stack), &BTreeSet::new()).remove(0)
}

/// The stand-in in several forms, and what is said of its launch after `change`.
fn of(options: &[&str], change: fn(&Path)) -> (Option<Site>, Stack) {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().canonicalize().unwrap().join("app");
    compile("program", options, &program);
    let stack = launch(&program);
    change(&program);
    (site(&stack), stack)
}

fn unchanged(_: &Path) {}

/// The same stack where the runtime is a library of its own.
fn with_runtime(stack: &Stack) -> Stack {
    let file = "/usr/local/cuda/lib64/libcudart.so.13".into();
    let runtime = Frame { file, is_executable: false, address: 0x40 };
    std::iter::once(runtime).chain(stack.iter().cloned()).collect()
}

#[test]
fn debug_information_has_the_line() {
    let position_independent = ["-g", "-C", "relocation-model=pie"];
    let fixed = ["-g", "-C", "relocation-model=static"];
    for options in [position_independent, fixed] {
        let site = of(&options, unchanged).0.unwrap();
        let (file, line) = site.line.unwrap();
        assert!(file.ends_with("tests/stand_in/program.rs"), "{file}");
        assert_eq!(line, line_of_the_launch(), "{options:?}");
        assert!(site.function.unwrap().contains("launches_one"), "the inlined one");
        assert_eq!((site.module.as_str(), site.is_library, site.address), ("app", false, None));
    }
}

#[test]
fn optimized_code_has_its_lines() {
    let site = of(&["-g", "-O"], unchanged).0.unwrap();
    assert_eq!(site.line.unwrap().1, line_of_the_launch());
    assert!(site.function.unwrap().contains("launches_one"));
}

#[test]
fn without_debug_information_the_function_is_named() {
    let site = of(&["-C", "debuginfo=0", "-C", "strip=debuginfo"], unchanged).0.unwrap();
    assert!(site.function.unwrap().contains("computes_alone"));
    assert_eq!((site.line, site.address), (None, None));
}

#[test]
fn where_there_is_no_name_the_address_stays() {
    let stripped = of(&["-C", "strip=symbols"], unchanged);
    let deleted = of(&["-g"], |program| std::fs::remove_file(program).unwrap());
    let a_folder = of(&["-g"], |program| {
        std::fs::remove_file(program).unwrap();
        std::fs::create_dir(program).unwrap();
    });
    let other = of(&["-g"], |program| std::fs::write(program, "#!/bin/sh\n").unwrap());
    for (unknown, stack) in [stripped, deleted, a_folder, other] {
        assert_eq!(unknown, None, "the runtime may be inside the program");
        let site = site(&with_runtime(&stack)).unwrap();
        assert_eq!((&site.function, &site.line), (&None, &None));
        assert_eq!((site.module.as_str(), site.address), ("app", Some(stack[0].address - 1)));
    }
}

#[test]
fn a_pipe_in_place_of_the_program_is_not_waited_for() {
    let (site, _) = of(&["-g"], |program| {
        std::fs::remove_file(program).unwrap();
        let made = std::process::Command::new("mkfifo").arg(program).status().unwrap();
        assert!(made.success());
    });
    assert_eq!(site, None);
}

#[test]
fn kernels_host_functions_and_the_runtimes_are_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("app");
    compile("program", &["-C", "debuginfo=0"], &program);
    let stack = launch(&program);
    let innermost = site(&stack).unwrap().function.unwrap();
    // The symbol as the linker has it, from the name that was made of it.
    let bytes = std::fs::read(&program).unwrap();
    let elf = object::File::parse(&*bytes).unwrap();
    let symbol = elf
        .symbols()
        .filter_map(|symbol| symbol.name().ok())
        .find(|name| name.contains("computes_alone"))
        .unwrap();
    let kernels = BTreeSet::from([symbol]);
    let next = sites(&[stack], &kernels).remove(0).unwrap().function.unwrap();
    assert!(innermost.contains("computes_alone") && next.contains("main"), "{innermost}, {next}");
}

/// A small program with debug information.
static PROGRAM: LazyLock<(tempfile::TempDir, Vec<u8>, Stack)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("app");
    compile("program", &["-g"], &program);
    let stack = launch(&program);
    let bytes = std::fs::read(&program).unwrap();
    (folder, bytes, stack)
});

/// What is said where the program's file has these bytes.
fn of_bytes(bytes: &[u8]) -> Option<Site> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app");
    std::fs::write(&path, bytes).unwrap();
    let file: std::sync::Arc<str> = path.to_str().unwrap().into();
    let stack: Stack = PROGRAM
        .2
        .iter()
        .filter(|frame| frame.is_executable)
        .map(|frame| Frame { file: std::sync::Arc::clone(&file), ..frame.clone() })
        .collect();
    site(&with_runtime(&stack))
}

#[test]
fn a_damaged_file_names_less_and_breaks_nothing() {
    let bytes = &PROGRAM.1;
    assert_eq!(of_bytes(bytes).unwrap().line.unwrap().1, line_of_the_launch());
    for length in [0, 1, 63, 64, 4096, bytes.len() / 2, bytes.len() - 100] {
        assert!(of_bytes(&bytes[..length]).is_some(), "{length}");
    }
    let elf = object::File::parse(&**bytes).unwrap();
    let mut seed = 1_u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below.max(1)
    };
    let parts = [
        ".debug_info",
        ".debug_abbrev",
        ".debug_line",
        ".debug_ranges",
        ".debug_str",
        ".symtab",
        ".strtab",
    ];
    for part in parts {
        let Some((start, size)) = elf.section_by_name(part).and_then(|found| found.file_range())
        else {
            continue;
        };
        for count in [1, 16, 4096] {
            let mut damaged = bytes.clone();
            for _ in 0..count {
                damaged[start as usize + random(size as usize)] = random(256) as u8;
            }
            assert!(of_bytes(&damaged).is_some(), "{part}");
        }
    }
    // The section headers at the file's end, and the header itself.
    for at in [0, bytes.len() - 4096] {
        let mut damaged = bytes.clone();
        for _ in 0..64 {
            damaged[at + 4 + random(if at == 0 { 60 } else { 4000 })] = random(256) as u8;
        }
        assert!(of_bytes(&damaged).is_some());
    }
}

#[test]
fn debug_information_above_a_limit_is_left_alone() {
    let (_, bytes, _) = &*PROGRAM;
    let elf = object::File::parse(&**bytes).unwrap();
    // One of the sections that begin with `.debug_` and have no say in lines.
    let (start, _) = elf.section_by_name(".debug_gdb_scripts").unwrap().file_range().unwrap();
    let u64_at =
        |bytes: &[u8], at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let (headers, count) =
        (u64_at(bytes, 0x28) as usize, u16::from_le_bytes([bytes[0x3c], bytes[0x3d]]));
    let header = (0..usize::from(count))
        .map(|number| headers + number * 64)
        .find(|&at| u64_at(bytes, at + 0x18) == start)
        .unwrap();
    let with_section_of = |megabytes: u64| {
        let mut changed = bytes.clone();
        changed[header + 0x20..header + 0x28].copy_from_slice(&(megabytes << 20).to_le_bytes());
        of_bytes(&changed).unwrap()
    };
    assert_eq!(with_section_of(400).line.unwrap().1, line_of_the_launch());
    let above = with_section_of(513);
    assert_eq!(above.line, None);
    assert!(above.function.unwrap().contains("computes_alone"), "symbols tell as before");
}

#[test]
fn hostile_names_of_functions_stay_on_their_line() {
    let hostile = b"co\x1b[31m\n::error::";
    let (_, bytes, _) = &*PROGRAM;
    let mut changed = bytes.clone();
    let name = b"computes_alone";
    let places: Vec<usize> =
        (0..bytes.len() - name.len()).filter(|&at| bytes[at..].starts_with(name)).collect();
    for at in places {
        changed[at..at + name.len()].copy_from_slice(&hostile[..name.len()]);
    }
    let elf = object::File::parse(&*changed).unwrap();
    let debug = elf.section_by_name(".debug_info").unwrap().file_range().unwrap();
    // Without debug information the symbol is all that there is.
    changed[debug.0 as usize..(debug.0 + debug.1) as usize].fill(0);
    let function = of_bytes(&changed).unwrap().function.unwrap();
    assert!(function.contains("[31m"), "{function:?}");
    assert!(!function.contains(['\u{1b}', '\n']), "{function:?}");
}
