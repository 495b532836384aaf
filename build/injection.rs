//! Compiles the library that the CUDA driver loads into a surveyed program.
//!
//! It is not a crate of the workspace: `cargo install` builds one package, and a dependency can't be built as
//! a library of its own kind beside the program that embeds it. It uses nothing but `core`, so that the
//! compiler of this build makes it in a second, for whatever target adoprof is built for.

use std::env;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Writes `adoprof_survey.so` to the build's output: the library on Linux, nothing elsewhere, where CUDA's
/// driver loads no such library.
pub(crate) fn write() -> Result<()> {
    let source = Path::new("injection");
    println!("cargo::rerun-if-changed={}", source.display());
    let to = PathBuf::from(env::var_os("OUT_DIR").ok_or("no OUT_DIR")?).join("adoprof_survey.so");
    if env::var("CARGO_CFG_TARGET_OS")? != "linux" {
        return Ok(std::fs::write(to, "")?);
    }
    let mut rustc = Command::new(env::var_os("RUSTC").ok_or("no RUSTC")?);
    rustc.args(["--edition", "2024", "--crate-name", "adoprof_survey", "--crate-type", "cdylib"]);
    rustc.arg("--target").arg(env::var("TARGET")?);
    for option in ["panic=abort", "opt-level=s", "lto=fat", "codegen-units=1", "strip=symbols"] {
        rustc.args(["-C", option]);
    }
    // Neither the C library nor start files: it takes the functions of the program that it is loaded into,
    // so that it asks for no version of them, and serves programs of glibc and of musl.
    rustc.args(["-C", "link-arg=-nostdlib", "-C", "link-arg=-nostartfiles"]);
    if env::var("CARGO_CFG_TARGET_ENV")? == "musl" {
        rustc.args(["-C", "target-feature=-crt-static"]);
    }
    if let Some(linker) = env::var_os("RUSTC_LINKER") {
        let mut option = std::ffi::OsString::from("linker=");
        option.push(linker);
        rustc.arg("-C").arg(option);
    }
    let status = rustc.arg("-o").arg(&to).arg(source.join("lib.rs")).status()?;
    if status.success() { Ok(()) } else { Err("the survey's library does not compile".into()) }
}
