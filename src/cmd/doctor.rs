//! `adoprof doctor`: what is missing on this machine, and what its device can do.

mod measure;

use std::path::{Path, PathBuf};

use super::shared::facts::show;
use super::shared::printer::Printer;
use crate::cli::DoctorArgs;
use crate::doctor::{self, DeviceProbe};
use crate::error::{ExitCode, Result};
use crate::launch::{Device, cache, nvrtc};

pub(super) fn run(args: &DoctorArgs, printer: &Printer) -> Result<ExitCode> {
    if args.measure {
        return measure::run(args, printer);
    }
    let folders = [("profiles", PathBuf::from(".adoprof")), ("cache", cache::folder())];
    let mut checks = doctor::examine(&Cuda, args.ncu.as_deref(), &folders);
    if let Some(program) = args.program.first() {
        let devices = Cuda.devices().unwrap_or_default();
        let device = devices.get(args.device).map(|device| device.compute_capability);
        checks.extend(doctor::program_checks(Path::new(program), device));
    }
    let document = doctor::document(&checks);
    let text = || doctor::render(&checks, printer.style.prose(), printer.style.verbose);
    show(args.result, printer, text, &document)?;
    Ok(doctor::exit_code(&checks))
}

/// The CUDA libraries of this machine.
struct Cuda;

impl DeviceProbe for Cuda {
    fn driver(&self) -> std::result::Result<(u32, u32), String> {
        crate::launch::driver_version().ok_or_else(|| "libcuda.so was not found".to_owned())
    }

    fn devices(&self) -> std::result::Result<Vec<doctor::Device>, String> {
        (0..Device::count().map_err(|e| e.to_string())?)
            .map(|ordinal| {
                let device = Device::open(ordinal).map_err(|e| e.to_string())?;
                Ok(doctor::Device {
                    name: device.name,
                    compute_capability: device.compute_capability,
                })
            })
            .collect()
    }

    fn nvrtc(&self) -> std::result::Result<(u32, u32), String> {
        nvrtc::version()
            .map(|(major, minor)| (major as u32, minor as u32))
            .ok_or_else(|| "libnvrtc.so was not found".to_owned())
    }
}
