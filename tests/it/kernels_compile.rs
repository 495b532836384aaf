//! Every built-in kernel compiles for every architecture that adoprof promises, without a GPU.
//!
//! Needs an NVRTC when the tests are built: `export ADOPROF_NVRTC=$(scripts/fetch-nvrtc
//! target/test-tools/nvrtc)`. Without it the test runner lists these tests as ignored.

use std::path::Path;

use adoprof::ladder::{Ladder, Overrides};
use adoprof::launch::nvrtc::{self, Unit};
use adoprof::sweep::{Axis, grid};
use rayon::prelude::*;

/// Turing, Ampere (data centre and consumer), Hopper, Blackwell.
const ARCHITECTURES: [(u32, u32); 5] = [(7, 5), (8, 0), (8, 6), (9, 0), (10, 0)];

fn sources(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "cu") {
            found.push(path);
        }
    }
}

#[test]
#[cfg_attr(not(has_nvrtc), ignore = "needs NVRTC: set ADOPROF_NVRTC, see scripts/fetch-nvrtc")]
fn every_kernel_of_the_ordinary_ladders_compiles_for_every_architecture() {
    let mut paths = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels"), &mut paths);
    // Those of the fault bench may need their step's flags: the next test compiles them.
    paths.retain(|path| !path.components().any(|part| part.as_os_str() == "faults"));
    assert!(!paths.is_empty());
    paths.par_iter().for_each(|path| {
        let text = std::fs::read_to_string(path).unwrap();
        let shown = path.file_name().unwrap().to_string_lossy().into_owned();
        for compute_capability in ARCHITECTURES {
            let unit = Unit { text: &text, path, shown_as: &shown, flags: &[], compute_capability };
            let cubin = nvrtc::compile(&unit).unwrap_or_else(|error| panic!("{error}"));
            assert!(cubin.starts_with(b"\x7fELF"), "{shown} for {compute_capability:?}");
        }
    });
}

/// Flags choose variants of a file: each step compiles as its manifest wants it.
#[test]
#[cfg_attr(not(has_nvrtc), ignore = "needs NVRTC: set ADOPROF_NVRTC, see scripts/fetch-nvrtc")]
fn every_planted_fault_and_every_step_with_flags_compiles_for_every_architecture() {
    Ladder::builtin_names().into_par_iter().for_each(|name| {
        let ladder = Ladder::builtin(name).unwrap();
        for step in ladder.steps() {
            let plan = ladder.plan(step.name(), &Overrides::new(), 132).unwrap();
            if plan.flags.is_empty() && ladder.set().is_none() {
                continue;
            }
            let shown = format!("{name}/{}", step.name());
            let least = ladder.least_compute_capability().unwrap_or_default();
            for compute_capability in ARCHITECTURES.into_iter().filter(|&each| each >= least) {
                let unit = Unit {
                    text: &plan.source.text,
                    path: Path::new(&plan.source.name),
                    shown_as: &shown,
                    flags: &plan.flags,
                    compute_capability,
                };
                let cubin = nvrtc::compile(&unit).unwrap_or_else(|error| panic!("{error}"));
                assert!(cubin.starts_with(b"\x7fELF"), "{shown} for {compute_capability:?}");
            }
        }
    });
}

#[test]
#[cfg_attr(not(has_nvrtc), ignore = "needs NVRTC: set ADOPROF_NVRTC, see scripts/fetch-nvrtc")]
fn steps_with_flags_compile_with_them_and_have_their_kernels() {
    for name in Ladder::builtin_names() {
        let ladder = Ladder::builtin(name).unwrap();
        for step in ladder.steps() {
            let plan = ladder.plan(step.name(), &Overrides::new(), 132).unwrap();
            if plan.flags.is_empty() {
                continue;
            }
            let unit = Unit {
                text: &plan.source.text,
                path: Path::new(&plan.source.name),
                shown_as: &plan.source.name,
                flags: &plan.flags,
                compute_capability: (9, 0),
            };
            let cubin = nvrtc::compile(&unit).unwrap_or_else(|error| panic!("{error}"));
            for launch in &plan.launches {
                let symbol = launch.kernel.as_bytes();
                assert!(
                    cubin.windows(symbol.len()).any(|part| part == symbol),
                    "{}",
                    launch.kernel
                );
            }
        }
    }
}

#[test]
#[cfg_attr(not(has_nvrtc), ignore = "needs NVRTC: set ADOPROF_NVRTC, see scripts/fetch-nvrtc")]
fn every_variant_compiles_for_every_architecture_and_has_its_kernels() {
    let mut seen = 0;
    for name in Ladder::builtin_names() {
        let ladder = Ladder::builtin(name).unwrap();
        for step in ladder.steps() {
            let own = ladder.plan(step.name(), &Overrides::new(), 132).unwrap();
            for variant in step.variants() {
                seen += 1;
                let of = format!("{name}/{} {}", step.name(), variant.name());
                let plan = ladder
                    .variant_plan(step.name(), variant.name(), &Overrides::new(), 132)
                    .unwrap();
                for compute_capability in ARCHITECTURES {
                    let compiled = |flags: &[String]| {
                        let unit = Unit {
                            text: &plan.source.text,
                            path: Path::new(&plan.source.name),
                            shown_as: &plan.source.name,
                            flags,
                            compute_capability,
                        };
                        nvrtc::compile(&unit).unwrap_or_else(|error| panic!("{of}: {error}"))
                    };
                    let cubin = compiled(&plan.flags);
                    for launch in &plan.launches {
                        let symbol = launch.kernel.as_bytes();
                        assert!(cubin.windows(symbol.len()).any(|part| part == symbol), "{of}");
                    }
                    // A flag that the source does not know would time the step itself again.
                    if plan.source == own.source {
                        assert!(cubin != compiled(&own.flags), "{of} is the step itself");
                    }
                }
            }
        }
    }
    assert!(seen > 0);
}

#[test]
#[cfg_attr(not(has_nvrtc), ignore = "needs NVRTC: set ADOPROF_NVRTC, see scripts/fetch-nvrtc")]
fn a_kernel_that_does_not_compile_gives_the_line() {
    let unit = Unit {
        text: "extern \"C\" __global__ void f(float *a) {\n  a[0] = b;\n}\n",
        path: Path::new("/somewhere/else/f.cu"),
        shown_as: "mine/f.cu",
        flags: &[],
        compute_capability: (9, 0),
    };
    let error = nvrtc::compile(&unit).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("mine/f.cu(2)") && text.contains("\"b\" is undefined"), "{text}");
    assert!(!text.contains("/somewhere"), "{text}");
    assert_eq!(error.exit_code() as u8, 4);
}

#[test]
#[cfg_attr(not(has_nvrtc), ignore = "needs NVRTC: set ADOPROF_NVRTC, see scripts/fetch-nvrtc")]
fn what_a_sweep_tells_the_compiler_is_understood() {
    let ladder = Ladder::builtin("increment").unwrap();
    let step = ladder.step("i5").unwrap();
    for over in [
        "maxrregcount=default,32,255",
        "dlcm=ca,cg,cs,cv",
        "ftz=true,false",
        "prec-div=true,false",
        "prec-sqrt=true,false",
        "fast-math=true,false",
        "flags=|-DA='1 + 1' -ftz=true",
        "BLOCK=64,1024",
    ] {
        let axis = Axis::parse(over, &ladder, step).unwrap();
        for point in grid::points(&[axis], &Overrides::new()).unwrap() {
            let plan = ladder.plan_tuned("i5", &point.size, &point.tuning, 132).unwrap();
            let unit = Unit {
                text: &plan.source.text,
                path: Path::new(&plan.source.name),
                shown_as: &plan.source.name,
                flags: &plan.flags,
                compute_capability: (9, 0),
            };
            nvrtc::compile(&unit).unwrap_or_else(|error| panic!("{over}: {error}"));
        }
    }
}
