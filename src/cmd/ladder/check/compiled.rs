//! A plan against its compiled kernels.

use crate::error::Error;
use crate::ladder::Ladder;
use crate::launch::cubin::{self, CubinKernel};
use crate::launch::{Device, nvrtc, place_source};
use crate::plan::{Argument, Plan, PlannedLaunch};

/// What kernels are compiled for without a device: the oldest architecture that today's NVRTC knows and that has
/// what most kernels use.
const ARCHITECTURE: (u32, u32) = (8, 0);
/// The multiprocessors of such a device.
const MULTIPROCESSORS: u32 = 108;
/// Shared memory of a block at most, by compute capability, bytes (CUDA C++ Programming Guide, "Technical
/// Specifications per Compute Capability": 64, 96, 99, 163 and 227 KB).
const SHARED_BYTES: [((u32, u32), u64); 8] = [
    ((7, 0), 96 << 10),
    ((7, 5), 64 << 10),
    ((8, 0), 163 << 10),
    ((8, 6), 99 << 10),
    ((8, 7), 163 << 10),
    ((8, 9), 99 << 10),
    ((9, 0), 227 << 10),
    ((12, 0), 99 << 10),
];

/// What kernels are compiled for.
pub(super) struct Target {
    /// Compute capability, major and minor.
    pub compute_capability: (u32, u32),
    /// Multiprocessors, `SMS` in expressions.
    pub multiprocessors: u32,
    /// True where it is a device that is there.
    pub is_of_device: bool,
}

impl Target {
    /// The first device, or one that most have.
    pub(super) fn of_this_machine(ladder: &Ladder) -> Self {
        if Device::is_present()
            && let Ok(device) = Device::open(0)
        {
            return Self {
                compute_capability: device.compute_capability,
                multiprocessors: device.sm_count,
                is_of_device: true,
            };
        }
        let least = ladder.least_compute_capability().unwrap_or(ARCHITECTURE);
        Self {
            compute_capability: least.max(ARCHITECTURE),
            multiprocessors: MULTIPROCESSORS,
            is_of_device: false,
        }
    }

    /// `8.0`.
    pub(super) fn words(&self) -> String {
        format!("{}.{}", self.compute_capability.0, self.compute_capability.1)
    }

    /// Shared memory of a block at most; `None` where the architecture is not known.
    fn shared_bytes(&self) -> Option<u64> {
        let known = |(capability, _): &&((u32, u32), u64)| *capability <= self.compute_capability;
        SHARED_BYTES.iter().rev().find(known).map(|(_, bytes)| *bytes)
    }
}

/// What came of a plan's compilation.
#[derive(Default)]
pub(super) struct Checked {
    /// What of the manifest does not fit the kernels, each one sentence.
    pub problems: Vec<String>,
    /// The compiler's words where the source does not compile.
    pub refused: Option<String>,
    /// Why something was not checked.
    pub unchecked: Option<String>,
}

/// Compiles a plan's source and holds its launches against the kernels.
pub(super) fn check(plan: &Plan, target: &Target) -> Checked {
    let path = match place_source(&plan.source) {
        Ok(path) => path,
        Err(error) => return Checked { refused: Some(error.to_string()), ..Checked::default() },
    };
    let compiled = match plan.captured.as_ref().filter(|replay| !replay.has_own_code) {
        Some(replay) => replay.code(),
        None => nvrtc::compile(&nvrtc::Unit {
            text: &plan.source.text,
            path: &path,
            shown_as: &plan.source.name,
            flags: &plan.flags,
            compute_capability: target.compute_capability,
        }),
    };
    let cubin = match compiled {
        Ok(cubin) => cubin,
        Err(Error::Environment(why)) => {
            let unchecked = Some(format!("kernels were not checked: {why}"));
            return Checked { unchecked, ..Checked::default() };
        }
        Err(error) => return Checked { refused: Some(error.to_string()), ..Checked::default() },
    };
    let kernels = cubin::kernels(&cubin);
    let mut problems: Vec<String> = Vec::new();
    for launch in &plan.launches {
        let of_launch = match cubin::find(&kernels, &launch.kernel) {
            Ok(kernel) => of_kernel(plan, launch, kernel, target),
            Err(problem) => vec![problem],
        };
        for problem in of_launch {
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        }
    }
    Checked { problems, ..Checked::default() }
}

/// What of a launch does not fit its kernel.
fn of_kernel(
    plan: &Plan,
    launch: &PlannedLaunch,
    kernel: &CubinKernel,
    target: &Target,
) -> Vec<String> {
    let name = &launch.kernel;
    let mut problems = Vec::new();
    let threads: u32 = launch.block.iter().product();
    let most = kernel.most_threads.map(|threads| threads.iter().product::<u32>());
    if let Some(most) = most.filter(|most| threads > *most) {
        problems.push(format!(
            "blocks of `{name}` have {threads} threads, and its __launch_bounds__ allow {most}: the launch would \
             fail"
        ));
    }
    let shared = kernel.static_shared + u64::from(launch.shared_bytes);
    if let Some(most) = target.shared_bytes().filter(|most| shared > *most) {
        problems.push(format!(
            "a block of `{name}` takes {shared} bytes of shared memory, and one of compute capability {} has \
             {most} at most",
            target.words()
        ));
    }
    if let Some(replay) = &plan.captured {
        problems.extend(replay.launch.misfit(name, kernel.parameters.as_deref()));
        return problems;
    }
    let Some(parameters) = &kernel.parameters else { return problems };
    if parameters.len() != launch.arguments.len() {
        problems.push(format!(
            "`{name}` takes {} arguments, and `args` has {}",
            parameters.len(),
            launch.arguments.len()
        ));
        return problems;
    }
    for ((argument, size), number) in launch.arguments.iter().zip(parameters).zip(1..) {
        let (given, what) = match argument {
            Argument::Buffer(buffer) => (8, format!("the buffer `{}`", plan.buffers[*buffer].name)),
            Argument::Texture(_) => (8, "a texture".to_owned()),
            Argument::Scalar(dtype, _) => {
                (dtype.size(), format!("a number of type {}", dtype.word()))
            }
        };
        if given != u64::from(*size) {
            problems.push(format!(
                "argument {number} of `{name}` has {size} bytes, and `args` gives it {what}, which has {given}"
            ));
        }
    }
    problems
}
