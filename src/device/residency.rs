//! How a launch fills its device, from what the survey knows of it: no counter is needed.

use super::{DeviceFacts, Quantity};
use crate::hardware::WARP_LANES;
use crate::survey::record::{Device, Shape};

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
    let [major, minor] = device.capability;
    let facts = DeviceFacts::of(Some(&device.name), Some((major, minor)));
    let fact = |quantity| facts.get(quantity).map(|value| value as u32);
    let extent = |[x, y, z]: [u32; 3]| u64::from(x) * u64::from(y) * u64::from(z);
    let lanes = WARP_LANES as u32;
    let warps = u32::try_from(extent(shape.block)).ok()?.div_ceil(lanes);
    if warps == 0 || shape.registers == 0 || device.multiprocessors == 0 {
        return None;
    }
    let by_registers = warps_by_registers(&facts, shape.registers)? / warps;
    let shared = shape.static_shared.checked_add(shape.dynamic_shared)?;
    // Where no file says so, the system takes nothing.
    let shared = shared.checked_add(fact(Quantity::SharedReserved).unwrap_or(0))?;
    let shared = shared.checked_next_multiple_of(fact(Quantity::SharedGranule)?)?;
    let by_shared = fact(Quantity::SharedBytes)?.checked_div(shared).unwrap_or(u32::MAX);
    let most_warps = fact(Quantity::Warps)?;
    let limits = [
        (most_warps / warps, "block size"),
        (fact(Quantity::Blocks)?, "block slots"),
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
        occupancy: f64::from(resident) / f64::from(most_warps),
        limit: (resident < most_warps).then_some(limit),
        waves: extent(shape.grid) as f64 / at_once,
    })
}

/// Warps of this many registers per thread for which an SM has enough. Each of its parts has its own
/// registers, and a warp gets them in multiples.
fn warps_by_registers(facts: &DeviceFacts, registers: u32) -> Option<u32> {
    let fact = |quantity| facts.get(quantity).map(|value| value as u32);
    let parts = fact(Quantity::Schedulers)?;
    let of_part = fact(Quantity::Registers)?.checked_div(parts)?;
    let of_thread = registers.checked_next_multiple_of(fact(Quantity::RegisterGranule)?)?;
    let of_warp = of_thread.checked_mul(WARP_LANES as u32)?;
    Some(of_part.checked_div(of_warp)? * parts)
}

/// The most registers per thread with which an SM holds this many warps; `None` where it can't.
pub(crate) fn registers_for_warps(facts: &DeviceFacts, warps: u32) -> Option<u32> {
    let fact = |quantity| facts.get(quantity).map(|value| value as u32);
    let (parts, granule) = (fact(Quantity::Schedulers)?, fact(Quantity::RegisterGranule)?);
    let of_part = fact(Quantity::Registers)?.checked_div(parts)?;
    let lanes = warps.div_ceil(parts).checked_mul(WARP_LANES as u32)?;
    let registers = of_part.checked_div(lanes)?;
    Some(registers - registers % granule).filter(|registers| *registers > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(capability: [u32; 2], threads: u32, registers: u32, shared: u32) -> Option<Residency> {
        let name = "NVIDIA X".to_owned();
        let device = Device {
            name,
            multiprocessors: 132,
            capability,
            uuid: None,
            memory_bytes: 0,
            memory_bytes_per_s: 0,
        };
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
    fn a_part_of_a_warp_takes_a_whole_one_and_shared_memory_comes_in_steps() {
        // 100 threads are 4 warps of 64.
        assert_eq!(of([9, 0], 100, 32, 0).unwrap().blocks_per_sm, 16);
        // 228 KiB hold 18 blocks of 12,928 bytes, which is 11,904 and the system's KiB, 101 times 128. One byte
        // more takes another 128: 17.
        let blocks = |shared| of([9, 0], 64, 16, shared).unwrap().blocks_per_sm;
        assert_eq!(228 * 1024 / (11_904 + 1024), 18);
        assert_eq!((blocks(11_904), blocks(11_905)), (18, 17));
    }

    #[test]
    fn what_is_asked_for_at_the_launch_counts_with_the_kernels_own() {
        let name = "NVIDIA X".to_owned();
        let device = Device {
            name,
            multiprocessors: 132,
            capability: [9, 0],
            uuid: None,
            memory_bytes: 0,
            memory_bytes_per_s: 0,
        };
        let shape = Shape {
            kernel: "k".to_owned(),
            grid: [132, 1, 1],
            block: [128, 1, 1],
            registers: 32,
            static_shared: 16 * 1024,
            dynamic_shared: 16 * 1024,
            local: 0,
        };
        // 32 KiB and the system's KiB: 6 times in 228 KiB.
        assert_eq!(residency(&shape, &device).unwrap().blocks_per_sm, 6);
    }

    #[test]
    fn what_is_not_known_is_left_open() {
        assert_eq!(of([6, 0], 128, 32, 0), None);
        assert_eq!(of([9, 0], 128, 0, 0), None, "ncu's durations come without registers");
        assert_eq!(of([9, 0], 128, 32, 4 << 20), None, "a block that does not fit");
        assert_eq!(of([9, 0], 128, u32::MAX, u32::MAX), None);
    }

    #[test]
    fn a_cap_on_registers_lets_so_many_warps_in() {
        let facts = DeviceFacts::shipped(None, Some((9, 0)));
        // 24 warps are 6 of each part: 16,384 / (6 × 32) = 85.3, in multiples of 8.
        assert_eq!(registers_for_warps(&facts, 24), Some(80));
        // 12 of each part: 42.7; 13 warps are 4 of one part: 128.
        assert_eq!(registers_for_warps(&facts, 48), Some(40));
        assert_eq!(registers_for_warps(&facts, 13), Some(128));
        assert_eq!(registers_for_warps(&facts, 0), None);
        // 512 warps of a part leave a register per thread, which is no multiple of 8.
        assert_eq!(registers_for_warps(&facts, 2048), None);
        for warps in 1..=64 {
            let cap = registers_for_warps(&facts, warps).unwrap();
            assert!(warps_by_registers(&facts, cap.min(255)).unwrap() >= warps, "{warps}");
            if cap < 255 {
                assert!(warps_by_registers(&facts, cap + 1).unwrap() < warps, "{warps}");
            }
        }
    }
}
