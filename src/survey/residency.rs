//! How a launch fills its device, from what the survey knows of it: no counter is needed.

use super::record::{Device, Shape};

/// What an SM of a compute capability holds.
struct Sm {
    capability: [u32; 2],
    warps: u32,
    blocks: u32,
    shared_bytes: u32,
}

const fn sm(capability: [u32; 2], warps: u32, blocks: u32, shared_kib: u32) -> Sm {
    Sm { capability, warps, blocks, shared_bytes: shared_kib * 1024 }
}

/// CUDA C++ Programming Guide, technical specifications per compute capability.
const SMS: [Sm; 10] = [
    sm([7, 0], 64, 32, 96),
    sm([7, 5], 32, 16, 64),
    sm([8, 0], 64, 32, 164),
    sm([8, 6], 48, 16, 100),
    sm([8, 7], 48, 16, 164),
    sm([8, 9], 48, 24, 100),
    sm([9, 0], 64, 32, 228),
    sm([10, 0], 64, 32, 228),
    sm([10, 3], 64, 32, 228),
    sm([12, 0], 48, 24, 100),
];

const WARP_THREADS: u32 = 32;
/// Registers of each of an SM's four parts, from which its warps get theirs.
const REGISTERS_PER_PART: u32 = 16_384;
const PARTS: u32 = 4;
/// A warp gets registers in multiples of this.
const REGISTERS_AT_ONCE: u32 = 256;
/// Shared memory that the system takes of each block since compute capability 8.0, bytes.
const RESERVED_BYTES: u32 = 1024;

/// How a launch fills its device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Residency {
    /// Blocks that an SM holds at once.
    pub blocks_per_sm: u32,
    /// Its warps of those that an SM has room for, 0 to 1.
    pub occupancy: f64,
    /// What keeps it below 1, in a word; `None` where it is 1.
    pub limit: Option<&'static str>,
    /// The grid over what the whole device holds at once.
    pub waves: f64,
}

/// How a launch fills a device; `None` for a device that is not known, or a block that does not fit.
pub(crate) fn residency(shape: &Shape, device: &Device) -> Option<Residency> {
    let sm = SMS.iter().find(|sm| sm.capability == device.capability)?;
    let extent = |[x, y, z]: [u32; 3]| u64::from(x) * u64::from(y) * u64::from(z);
    let warps = u32::try_from(extent(shape.block)).ok()?.div_ceil(WARP_THREADS);
    if warps == 0 || shape.registers == 0 || device.multiprocessors == 0 {
        return None;
    }
    let of_warp = shape.registers.checked_mul(WARP_THREADS)?.next_multiple_of(REGISTERS_AT_ONCE);
    let by_registers = REGISTERS_PER_PART / of_warp * PARTS / warps;
    let (reserved, at_once) = if sm.capability[0] >= 8 { (RESERVED_BYTES, 128) } else { (0, 256) };
    let shared = shape.static_shared.checked_add(shape.dynamic_shared)?.checked_add(reserved)?;
    let shared = shared.checked_next_multiple_of(at_once)?;
    let by_shared = sm.shared_bytes.checked_div(shared).unwrap_or(u32::MAX);
    let limits = [
        (sm.warps / warps, "block size"),
        (sm.blocks, "block slots"),
        (by_registers, "registers"),
        (by_shared, "shared memory"),
    ];
    // Of equal limits the first: more registers would not help where the block's size stands in the way.
    let (blocks_per_sm, limit) = limits.into_iter().min_by_key(|(blocks, _)| *blocks)?;
    if blocks_per_sm == 0 {
        return None;
    }
    let resident = blocks_per_sm * warps;
    let at_once = f64::from(device.multiprocessors) * f64::from(blocks_per_sm);
    Some(Residency {
        blocks_per_sm,
        occupancy: f64::from(resident) / f64::from(sm.warps),
        limit: (resident < sm.warps).then_some(limit),
        waves: extent(shape.grid) as f64 / at_once,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(capability: [u32; 2], threads: u32, registers: u32, shared: u32) -> Option<Residency> {
        let name = "NVIDIA X".to_owned();
        let device = Device { name, multiprocessors: 132, capability };
        let shape = Shape {
            kernel: "k".to_owned(),
            grid: [132, 10, 1],
            block: [threads, 1, 1],
            registers,
            static_shared: shared,
            dynamic_shared: 0,
            local: 0,
        };
        residency(&shape, &device)
    }

    #[test]
    fn the_scarcest_resource_decides() {
        let blocks = |capability, threads, registers, shared| {
            let found = of(capability, threads, registers, shared).unwrap();
            (found.blocks_per_sm, found.limit)
        };
        // 8 warps of 32 × 32 registers: all 64 warps have theirs.
        assert_eq!(blocks([9, 0], 256, 32, 0), (8, None));
        // 33 registers are 40 of each thread: 12 warps per part, 48 in all, 6 blocks of 8.
        assert_eq!(blocks([9, 0], 256, 33, 0), (6, Some("registers")));
        // 255 registers are 8192 of a warp: 2 per part, one block of 8 warps.
        assert_eq!(blocks([9, 0], 256, 255, 0), (1, Some("registers")));
        // 32 KiB and the system's KiB: 6 times in 228 KiB.
        assert_eq!(blocks([9, 0], 128, 32, 32 * 1024), (6, Some("shared memory")));
        // No KiB of the system's on Turing, whose SM has 64.
        assert_eq!(blocks([7, 5], 128, 32, 32 * 1024), (2, Some("shared memory")));
        assert_eq!(blocks([9, 0], 32, 16, 0), (32, Some("block slots")));
        // 48 warps hold one block of 32.
        assert_eq!(blocks([8, 6], 1024, 16, 0), (1, Some("block size")));
    }

    #[test]
    fn waves_are_the_grid_over_what_is_resident() {
        // 1320 blocks on 132 SMs of 8 blocks.
        let found = of([9, 0], 256, 32, 0).unwrap();
        assert!((found.waves - 1.25).abs() < 1e-12 && (found.occupancy - 1.0).abs() < 1e-12);
        let found = of([9, 0], 256, 33, 0).unwrap();
        assert!((found.occupancy - 0.75).abs() < 1e-12);
    }

    #[test]
    fn what_is_not_known_is_left_open() {
        assert_eq!(of([6, 0], 128, 32, 0), None);
        assert_eq!(of([9, 0], 128, 0, 0), None, "ncu's durations come without registers");
        assert_eq!(of([9, 0], 128, 32, 4 << 20), None, "a block that does not fit");
        assert_eq!(of([9, 0], 128, u32::MAX, u32::MAX), None);
    }
}
