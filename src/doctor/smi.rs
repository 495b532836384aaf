//! What `nvidia-smi` says of the devices: MIG, virtual GPUs, clocks that are held down.

use std::path::PathBuf;
use std::time::Duration;

use super::{CheckResult, Status};
use crate::interrupt;
use crate::ncu::NcuCommand;
use crate::ncu::process::{Limits, Stderr, stream};

/// It takes a second with eight devices; more than this long only where the driver hangs.
const PATIENCE: Duration = Duration::from_secs(20);

/// More is not read.
const LONGEST: usize = 1 << 20;

/// A device as `nvidia-smi -q` lists it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Listed {
    /// It is cut into instances.
    is_mig: bool,
    /// It is a part of a device that a hypervisor hands out.
    is_vgpu: bool,
    /// What holds its clocks down now, in its own words.
    slowed_by: Vec<String>,
}

/// What slows a device that has work, and what mends it. `Idle` is none of these.
const SLOWED: [(&str, &str); 5] = [
    ("HW Thermal Slowdown", "too hot: `nvidia-smi -q -d TEMPERATURE`; check its cooling"),
    ("SW Thermal Slowdown", "too hot: `nvidia-smi -q -d TEMPERATURE`; check its cooling"),
    ("HW Power Brake Slowdown", "the power supply asks for less: check the machine's power supply"),
    (
        "SW Power Cap",
        "at its power limit: `nvidia-smi -q -d POWER` has the largest, `sudo nvidia-smi -pl WATTS` sets it",
    ),
    (
        "Applications Clocks Setting",
        "somebody set its clocks: `sudo nvidia-smi -rac` and `sudo nvidia-smi -rgc` undo that",
    ),
];

/// The devices; `None` where there is no `nvidia-smi` or it does not answer.
pub(super) fn devices() -> Option<Vec<Listed>> {
    let command = NcuCommand {
        program: PathBuf::from("nvidia-smi"),
        args: vec!["-q".into()],
        env: vec![("LC_ALL".into(), "C".into())],
        cwd: None,
    };
    let interrupted = interrupt::flag();
    let limits = Limits {
        timeout: Some(PATIENCE.into()),
        interrupted: &interrupted,
        write_up: Duration::ZERO,
    };
    let mut output = Vec::new();
    let ended = stream(&command, Stderr::Merged, limits, "nvidia-smi", |piece| {
        output.extend_from_slice(&piece[..piece.len().min(LONGEST.saturating_sub(output.len()))]);
    });
    let answered = ended.is_ok_and(|ended| ended.status.success());
    answered.then(|| listed(&String::from_utf8_lossy(&output)))
}

/// The devices in the answer. A heading stands above lines that are indented further.
fn listed(text: &str) -> Vec<Listed> {
    let mut devices: Vec<Listed> = Vec::new();
    let mut heading = "";
    for line in text.lines() {
        if line.starts_with("GPU ") {
            devices.push(Listed::default());
        }
        let Some(device) = devices.last_mut() else { continue };
        let Some((key, value)) = line.split_once(" : ") else {
            heading = line.trim();
            continue;
        };
        match (heading, key.trim(), value.trim()) {
            ("MIG Mode", "Current", "Enabled") => device.is_mig = true,
            (_, "Virtualization Mode", "VGPU") => device.is_vgpu = true,
            ("Clocks Event Reasons" | "Clocks Throttle Reasons", reason, "Active")
                if SLOWED.iter().any(|(name, _)| *name == reason) =>
            {
                device.slowed_by.push(reason.to_owned());
            }
            _ => {}
        }
    }
    devices
}

/// The numbers of the devices that something holds for, from 0.
fn numbers(devices: &[Listed], holds: impl Fn(&Listed) -> bool) -> Option<String> {
    let of = devices.iter().enumerate().filter(|(_, device)| holds(device));
    let numbers: Vec<String> = of.map(|(number, _)| number.to_string()).collect();
    (!numbers.is_empty()).then(|| format!("device {}", numbers.join(", ")))
}

/// The checks of the devices.
pub(super) fn checks(devices: Option<&[Listed]>) -> Vec<CheckResult> {
    let Some(devices) = devices else {
        return vec![CheckResult::minor("clocks", "unknown: nvidia-smi does not answer")];
    };
    vec![mig(devices), vgpu(devices), clocks(devices)]
}

fn mig(devices: &[Listed]) -> CheckResult {
    match numbers(devices, |device| device.is_mig) {
        None => CheckResult::minor("mig", "off"),
        Some(which) => CheckResult::not_ok(
            "mig",
            Status::Warn,
            format!("on for {which}"),
            "ncu has no counters of what instances share (L2, DRAM): take a compute instance that has its GPU \
             instance to itself (CUDA_VISIBLE_DEVICES=MIG-<uuid>, from `nvidia-smi -L`), or, where nobody uses the device, \
             `sudo nvidia-smi -i N -mig 0`",
        ),
    }
}

fn vgpu(devices: &[Listed]) -> CheckResult {
    match numbers(devices, |device| device.is_vgpu) {
        None => CheckResult::minor("vgpu", "none"),
        Some(which) => CheckResult::not_ok(
            "vgpu",
            Status::Warn,
            format!("{which} is a virtual GPU"),
            "its counters are closed until the hypervisor's administrator sets the plugin parameter \
             enable_profiling=1 for this virtual machine",
        ),
    }
}

fn clocks(devices: &[Listed]) -> CheckResult {
    let found: Vec<String> = devices
        .iter()
        .enumerate()
        .filter(|(_, device)| !device.slowed_by.is_empty())
        .map(|(number, device)| format!("{number}: {}", device.slowed_by.join(", ")))
        .collect();
    if found.is_empty() {
        return CheckResult::minor("clocks", "nothing holds them down at the moment");
    }
    let is_active = |name: &str| {
        devices.iter().any(|device| device.slowed_by.iter().any(|reason| reason == name))
    };
    let mut remedies: Vec<&str> = Vec::new();
    for (name, remedy) in SLOWED {
        if is_active(name) && !remedies.contains(&remedy) {
            remedies.push(remedy);
        }
    }
    CheckResult::not_ok(
        "clocks",
        Status::Warn,
        format!(
            "held down at the moment, so times are longer than necessary: device {}",
            found.join("; ")
        ),
        remedies.join("; "),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two devices in the words of drivers since 535, the second with everything that is looked for.
    const ANSWER: &str = "\
==============NVSMI LOG==============

Driver Version                            : 580.95.05
CUDA Version                              : 13.0
Attached GPUs                             : 2
GPU 00000000:18:00.0
    MIG Mode
        Current                           : Disabled
        Pending                           : Enabled
    GPU Virtualization Mode
        Virtualization Mode               : Pass-Through
        Host VGPU Mode                    : N/A
    Clocks Event Reasons
        Idle                              : Active
        Applications Clocks Setting       : Not Active
        SW Power Cap                      : Not Active
        HW Slowdown                       : Not Active
            HW Thermal Slowdown           : Not Active
            HW Power Brake Slowdown       : Not Active
        SW Thermal Slowdown               : Not Active
    Clocks Event Reasons Counters
        SW Power Capping                  : 0 us
GPU 00000000:2A:00.0
    MIG Mode
        Current                           : Enabled
        Pending                           : Enabled
    GPU Virtualization Mode
        Virtualization Mode               : VGPU
    Clocks Throttle Reasons
        SW Power Cap                      : Active
        HW Slowdown                       : Active
            HW Thermal Slowdown           : Active
        SW Thermal Slowdown               : Active
";

    #[test]
    fn every_device_has_its_own_state() {
        let slowed_by = ["SW Power Cap", "HW Thermal Slowdown", "SW Thermal Slowdown"];
        let slowed_by = slowed_by.map(str::to_owned).to_vec();
        let second = Listed { is_mig: true, is_vgpu: true, slowed_by };
        assert_eq!(listed(ANSWER), [Listed::default(), second]);
        assert_eq!(listed("NVIDIA-SMI has failed"), []);
    }

    #[test]
    fn what_holds_a_device_down_is_mended() {
        let devices = listed(ANSWER);
        assert!(checks(Some(&devices[..1])).iter().all(|check| check.status == Status::Ok));
        let checks = checks(Some(&devices));
        assert!(checks.iter().all(|check| check.status == Status::Warn), "{checks:?}");
        let of = |name| checks.iter().find(|check| check.name == name).unwrap();
        assert!(of("mig").found.contains("device 1") && of("vgpu").found.contains("device 1"));
        let clocks = of("clocks");
        assert!(clocks.found.contains("device 1: SW Power Cap, HW Thermal"), "{clocks:?}");
        let remedy = clocks.remedy.as_deref().unwrap();
        assert_eq!(remedy.matches("check its cooling").count(), 1, "two reasons, one remedy");
        assert!(remedy.contains("nvidia-smi -pl WATTS"), "{remedy}");
    }

    #[test]
    fn without_an_answer_nothing_is_said_to_be_wrong() {
        assert!(checks(None).iter().all(|check| check.status == Status::Ok));
    }
}
