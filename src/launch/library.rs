//! Library routines that solve a ladder's problem: the yardstick for steps that arithmetic bounds.

use std::sync::Once;

use cudarc::cublas::{result as cublas, sys};
use cudarc::driver::DevicePtr;

use super::{Device, Prepared, Repetitions};
use crate::error::{Error, Result};
use crate::problem::routine::{self, Routine};
use crate::timing::LibraryTime;

impl Prepared {
    /// Times the library routine that the plan names, on the step's inputs and into its outputs.
    /// `None` where the plan names none.
    ///
    /// # Errors
    /// [`Error::Environment`] where the library is not there or refuses, [`Error::Usage`] for
    /// matrices that are too large for it, and as [`run`](Self::run).
    pub fn time_library(
        &self,
        device: &Device,
        repetitions: &Repetitions,
    ) -> Result<Option<LibraryTime>> {
        let Some(routine) = self.plan.library.as_deref().and_then(routine::find) else {
            return Ok(None);
        };
        let gemm = Gemm::new(self, routine)?;
        // The first call loads the library's kernels and chooses among them.
        self.between_events(|| gemm.launch())?;
        let timing =
            self.time_runs(device, repetitions, || self.between_events(|| gemm.launch()), |_| {})?;
        Ok(Some(LibraryTime { name: routine.name.to_owned(), ns: timing.median }))
    }
}

/// cuBLAS's product of two n × n matrices in single precision.
struct Gemm {
    handle: sys::cublasHandle_t,
    n: i32,
    /// Device addresses of A, B and C.
    matrices: [u64; 3],
}

impl Gemm {
    fn new(prepared: &Prepared, routine: &Routine) -> Result<Self> {
        let n = prepared.plan.size.get(routine.parameter).copied().unwrap_or(0);
        let n = i32::try_from(n).map_err(|_| {
            Error::Usage(format!(
                "{} does not take matrices of {n} rows; choose a smaller --size",
                routine.name
            ))
        })?;
        let address = |name: &str| {
            let place = prepared.plan.buffers.iter().position(|buffer| buffer.name == name);
            // A manifest is checked for the routine's buffers, a plan built otherwise may lack them.
            place
                .map(|place| {
                    prepared.on_device.buffers[place].device_ptr(&prepared.on_device.stream).0
                })
                .ok_or_else(|| {
                    Error::Usage(format!(
                        "{} needs a buffer `{name}`; add it to the manifest",
                        routine.name
                    ))
                })
        };
        let matrices = [address("A")?, address("B")?, address("C")?];
        if !is_present() {
            return Err(Error::Environment(format!(
                "{} was not timed: cuBLAS was not found; install the CUDA toolkit or the PyPI package \
                 nvidia-cublas, and put its library folder into LD_LIBRARY_PATH or its file into \
                 ADOPROF_CUBLAS",
                routine.name
            )));
        }
        let handle = cublas::create_handle().map_err(refused)?;
        let gemm = Self { handle, n, matrices };
        // SAFETY: the handle is alive and the stream is the context's own.
        unsafe { cublas::set_stream(handle, prepared.on_device.stream.cu_stream().cast()) }
            .map_err(refused)?;
        // Full single precision: no TF32 and no emulation by narrower types.
        // SAFETY: the handle is alive.
        unsafe { sys::cublasSetMathMode(handle, sys::cublasMath_t::CUBLAS_PEDANTIC_MATH) }
            .result()
            .map_err(refused)?;
        Ok(gemm)
    }

    /// Starts C = A·B. cuBLAS counts matrices column by column, where ours are their transposes:
    /// Cᵀ = Bᵀ·Aᵀ.
    fn launch(&self) -> Result<()> {
        let none = sys::cublasOperation_t::CUBLAS_OP_N;
        let (one, zero, n) = (1.0_f32, 0.0_f32, self.n);
        let [a, b, c] = self.matrices;
        // SAFETY: the handle is alive, the matrices are the plan's buffers of n·n floats, which
        // outlive the call's kernels, and the factors are read before the call returns.
        unsafe {
            cublas::sgemm(
                self.handle,
                none,
                none,
                n,
                n,
                n,
                &raw const one,
                b as *const f32,
                n,
                a as *const f32,
                n,
                &raw const zero,
                c as *mut f32,
                n,
            )
        }
        .map_err(refused)
    }
}

impl Drop for Gemm {
    fn drop(&mut self) {
        // SAFETY: the handle came from create_handle and is destroyed once.
        let _ = unsafe { cublas::destroy_handle(self.handle) };
    }
}

fn refused(error: cublas::CublasError) -> Error {
    Error::Environment(format!("cuBLAS failed: {error}"))
}

/// True where cuBLAS can be opened.
fn is_present() -> bool {
    preload();
    // SAFETY: only tries to open the library.
    unsafe { sys::is_culib_present() }
}

/// Opens a cuBLAS that the loader would not find by itself, once: the file in `ADOPROF_CUBLAS`, or
/// the one of a CUDA toolkit in its usual place. Loaded, it answers to its name.
fn preload() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let candidates = match std::env::var_os("ADOPROF_CUBLAS") {
            Some(own) => vec![own],
            None => ["libcublas.so", "libcublas.so.13", "libcublas.so.12", TOOLKIT]
                .map(std::ffi::OsString::from)
                .into(),
        };
        for path in candidates {
            // SAFETY: cuBLAS's initialisers have no preconditions; the library stays open for good.
            if let Ok(library) = unsafe { libloading::Library::new(&path) } {
                std::mem::forget(library);
                return;
            }
        }
    });
}

/// cuBLAS in a CUDA toolkit's usual place.
const TOOLKIT: &str = "/usr/local/cuda/lib64/libcublas.so";
