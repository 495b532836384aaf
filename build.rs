//! Writes the registries of rules and report formats and the tables that ranges and the ledger come from, compiles the library of the survey,
//! packs the kernels and the table of encodings, rebuilds when what travels inside the binary changes, and tells the tests which tools they have.

#[path = "build/injection.rs"]
mod injection;
#[path = "build/first_sight.rs"]
mod first_sight;
#[path = "build/formats.rs"]
mod formats;
#[path = "build/kernels.rs"]
mod kernels;
#[path = "build/registry.rs"]
mod registry;
#[path = "build/said.rs"]
mod said;
#[path = "build/table.rs"]
mod table;

use std::env;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    registry::write()?;
    formats::write()?;
    injection::write()?;
    first_sight::write()?;
    said::write()?;
    kernels::pack()?;
    table::pack()?;
    rebuild_with_embedded_folders();
    link_at_a_fixed_address();
    tell_tests_of_tool("ADOPROF_NVRTC", "has_nvrtc");
    tell_tests_of_tool("ADOPROF_TEST_NCU", "has_ncu");
    tell_tests_of_tool("ADOPROF_NVDISASM", "has_nvdisasm");
    tell_tests_of_tool("ADOPROF_PROGRAMS", "has_programs");
    Ok(())
}

fn rebuild_with_embedded_folders() {
    for folder in ["devices", "kernels", "profiles", "sections"] {
        println!("cargo::rerun-if-changed={folder}");
    }
}

/// Links the program at a fixed address, where the loader need not relocate the 40,000 pointers of polars' tables at every start:
/// a third of what `adoprof --help` takes, and a megabyte of the file.
fn link_at_a_fixed_address() {
    let target = |part: &str| env::var(format!("CARGO_CFG_TARGET_{part}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}

/// Sets `cfg` where a variable names a tool, so that the test runner lists tests without their tool as
/// ignored.
fn tell_tests_of_tool(variable: &str, cfg: &str) {
    println!("cargo::rustc-check-cfg=cfg({cfg})");
    println!("cargo::rerun-if-env-changed={variable}");
    if env::var_os(variable).is_some_and(|path| !path.is_empty()) {
        println!("cargo::rustc-cfg={cfg}");
    }
}
