//! What all CUDA devices have alike.

/// Where a launch's parameters begin in constant bank 0, on a device with this compute capability (what ptxas 13.0 emits from 7.5 to
/// 12.0).
pub(crate) const fn first_parameter((major, _): (u32, u32)) -> u32 {
    match major {
        ..=8 => 0x160,
        9 => 0x210,
        _ => 0x380,
    }
}

/// Lanes of a warp.
pub(crate) const WARP_LANES: f64 = 32.0;

/// Lanes of a warp group, whose four warps multiply together (compute capability 9.0).
pub(crate) const GROUP_LANES: f64 = 4.0 * WARP_LANES;

/// Rows of the first operand that one matrix instruction of a warp multiplies (PTX ISA, `mma`).
pub(crate) const WARP_ROWS: f64 = 16.0;

/// Bytes of an operand's row that one matrix instruction of a warp group multiplies, whatever its type: 16 halves or 32 bytes
/// (PTX ISA, `wgmma`).
pub(crate) const GROUP_ROW_BYTES: f64 = 32.0;

/// Bytes of a float of 16 bits.
pub(crate) const HALF_BYTES: f64 = 2.0;

/// Bytes of a sector, the unit in which L1, L2, and DRAM move data.
pub(crate) const SECTOR_BYTES: f64 = 32.0;

/// Sectors of a cache line, which one look-up of a tag finds.
pub(crate) const SECTORS_PER_LINE: f64 = 4.0;

/// Bytes that one instruction moves per lane at most.
pub(crate) const WIDEST_ACCESS_BYTES: f64 = 16.0;

/// Bytes per lane that a warp moves in one wavefront of L1's data pipe.
pub(crate) const WAVEFRONT_BYTES_PER_LANE: f64 = 4.0;

/// Threads of a block, at most.
pub(crate) const MOST_THREADS: f64 = 1024.0;

/// Bytes of a register.
pub(crate) const REGISTER_BYTES: f64 = 4.0;

/// Registers of a thread, at most.
pub(crate) const MOST_REGISTERS: f64 = 255.0;

/// Bytes of an SM's L1 and shared memory together: 256 KB, the most of all architectures so far (NVIDIA, Hopper Tuning Guide, 2023).
pub(crate) const L1_BYTES: f64 = 262_144.0;
