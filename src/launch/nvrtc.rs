//! CUDA source to a CUBIN for one architecture, through NVRTC, cached by content.
//!
//! The CUBIN and not the PTX is loaded: the driver would compile PTX once more and ptxas options
//! would be lost.
#![expect(unsafe_code, reason = "NVRTC's C interface; every call is commented")]

use std::ffi::{CStr, CString};
use std::path::{Path, PathBuf};

use cudarc::nvrtc::{result as nvrtc, sys};
use sha2::{Digest, Sha256};

use super::cache;
use crate::error::{Error, Result};
use crate::files::{self, write_atomically};
use crate::includes;
use crate::text::hex;

/// What to compile.
#[derive(Debug, Clone, PartialEq)]
pub struct Unit<'a> {
    /// The CUDA source text.
    pub text: &'a str,
    /// The file that the compiler is told it compiles; ncu looks for the source there.
    pub path: &'a Path,
    /// The name to show in messages instead of that path.
    pub shown_as: &'a str,
    /// Flags beyond the ones that every kernel gets.
    pub flags: &'a [String],
    /// Compute capability, major and minor.
    pub compute_capability: (u32, u32),
}

/// True where an NVRTC library can be opened.
fn is_present() -> bool {
    preload();
    // SAFETY: only tries to open the library.
    unsafe { sys::is_culib_present() }
}

/// NVRTC's version, major and minor; `None` where there is no NVRTC.
#[must_use]
pub fn version() -> Option<(i32, i32)> {
    if !is_present() {
        return None;
    }
    let (mut major, mut minor) = (0, 0);
    // SAFETY: the library is there and both pointers are valid for writing.
    unsafe { sys::nvrtcVersion(&raw mut major, &raw mut minor) }.result().ok()?;
    Some((major, minor))
}

/// Compiles a unit, or takes the CUBIN of an earlier run.
///
/// # Errors
/// [`Error::Environment`] without NVRTC or with one that does not know the architecture,
/// [`Error::Kernel`] with the compiler's log where the source does not compile.
pub fn compile(unit: &Unit) -> Result<Vec<u8>> {
    let version = version().ok_or_else(missing)?;
    let cached = cache::folder().join("cubin").join(format!("{}.cubin", key(unit, version)));
    if let Ok(cubin) = std::fs::read(&cached)
        && cubin.starts_with(b"\x7fELF")
    {
        return Ok(cubin);
    }
    let cubin = compile_now(unit)?;
    // A cache that can't be written costs the next run a second, no more.
    let _ = write_atomically(&cached, &cubin);
    Ok(cubin)
}

/// What to fail with where there is no NVRTC.
#[must_use]
pub fn missing() -> Error {
    Error::Environment(
        "NVRTC, the CUDA run-time compiler, was not found: install the CUDA toolkit or the PyPI \
         package nvidia-cuda-nvrtc, and put its library folder into LD_LIBRARY_PATH or its file \
         into ADOPROF_NVRTC"
            .to_owned(),
    )
}

/// The options every unit gets, then its own.
fn options(unit: &Unit) -> Vec<String> {
    let (major, minor) = unit.compute_capability;
    let mut options = vec![
        format!("--gpu-architecture=sm_{major}{minor}"),
        "--std=c++17".to_owned(),
        "-lineinfo".to_owned(),
    ];
    options.extend(unit.flags.iter().cloned());
    options
}

/// The content key: everything that changes the CUBIN.
fn key(unit: &Unit, version: (i32, i32)) -> String {
    let mut hash = Sha256::new();
    hash.update(format!("{version:?}\0{}\0", unit.path.display()));
    for option in options(unit) {
        hash.update(option);
        hash.update([0]);
    }
    hash.update(unit.text);
    let folders = includes::folders(unit.flags.iter().map(String::as_str));
    for header in includes::headers(unit.path, unit.text, &folders) {
        hash.update([0]);
        hash.update(files::read(&header, files::MOST_TEXT).unwrap_or_default());
    }
    hex(&hash.finalize()[..16])
}

/// An NVRTC program that is destroyed when it goes out of scope.
struct Program(sys::nvrtcProgram);

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: the handle came from create_program and is destroyed once.
        let _ = unsafe { nvrtc::destroy_program(self.0) };
    }
}

fn compile_now(unit: &Unit) -> Result<Vec<u8>> {
    let text = c_string(unit.text, unit.shown_as)?;
    let path = c_string(&unit.path.to_string_lossy(), unit.shown_as)?;
    let program = nvrtc::create_program(&text, Some(&path))
        .map(Program)
        .map_err(|e| Error::Environment(format!("NVRTC could not start: {e}")))?;
    let options = options(unit);
    if let Some(bad) = options.iter().find(|option| option.contains('\0')) {
        return Err(Error::Kernel(format!(
            "{}: the flag {bad:?} contains a zero byte",
            unit.shown_as
        )));
    }
    // SAFETY: the program is alive.
    if let Err(error) = unsafe { nvrtc::compile_program(program.0, &options) } {
        // SAFETY: the program is alive.
        let log = unsafe { nvrtc::get_program_log(program.0) }.unwrap_or_default();
        return Err(refused(unit, &log_text(&log), &error.to_string()));
    }
    let mut size = 0;
    // SAFETY: the program is alive and compiled, the pointer valid.
    unsafe { sys::nvrtcGetCUBINSize(program.0, &raw mut size) }
        .result()
        .map_err(|e| Error::Environment(format!("NVRTC gave no CUBIN: {e}")))?;
    let mut cubin = vec![0_u8; size];
    // SAFETY: the buffer has the size that NVRTC asked for.
    unsafe { sys::nvrtcGetCUBIN(program.0, cubin.as_mut_ptr().cast()) }
        .result()
        .map_err(|e| Error::Environment(format!("NVRTC gave no CUBIN: {e}")))?;
    Ok(cubin)
}

fn c_string(text: &str, shown_as: &str) -> Result<CString> {
    CString::new(text).map_err(|_| {
        Error::Kernel(format!("{shown_as}: the source contains a zero byte; remove it"))
    })
}

fn log_text(log: &[std::ffi::c_char]) -> String {
    let bytes: Vec<u8> = log.iter().map(|&c| c as u8).collect();
    CStr::from_bytes_until_nul(&bytes)
        .map_or_else(|_| String::from_utf8_lossy(&bytes), |text| text.to_string_lossy())
        .into_owned()
}

fn refused(unit: &Unit, log: &str, error: &str) -> Error {
    let (major, minor) = unit.compute_capability;
    let log = log.replace(&*unit.path.to_string_lossy(), unit.shown_as);
    let log = log.trim();
    if log.contains("gpu-architecture") {
        return Error::Environment(format!(
            "NVRTC does not know compute capability {major}.{minor}: install a CUDA toolkit that \
             does ({log})"
        ));
    }
    let log = if log.is_empty() { error } else { log };
    Error::Kernel(format!("{} does not compile:\n{log}", unit.shown_as))
}

/// Opens an NVRTC that the loader would not find by itself, once: the file in `ADOPROF_NVRTC`, or
/// the one of a CUDA toolkit in its usual place. Loaded, it answers to its name.
fn preload() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        for path in candidates() {
            // SAFETY: NVRTC's initialisers have no preconditions; the library stays open for good.
            if let Ok(library) = unsafe { libloading::Library::new(&path) } {
                std::mem::forget(library);
                return;
            }
        }
    });
}

fn candidates() -> Vec<PathBuf> {
    if let Some(own) = std::env::var_os("ADOPROF_NVRTC") {
        return vec![own.into()];
    }
    // The loader's own search comes first: what LD_LIBRARY_PATH names is what the user wants.
    let mut found: Vec<PathBuf> =
        ["libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"].map(PathBuf::from).into();
    for folder in ["/usr/local/cuda/lib64", "/usr/local/cuda/targets/x86_64-linux/lib"] {
        found.push(Path::new(folder).join("libnvrtc.so"));
    }
    found
}
