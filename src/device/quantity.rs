//! What a device's file can say: each quantity's key, unit and name in words.

/// A figure of a device. The unit is that of its [`Definition`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Quantity {
    /// Bytes per second of a kernel that only reads device memory.
    DramReadRate,
    /// Bytes per second, read plus written, of a copy within device memory.
    DramCopyRate,
    /// The share of the DRAM's peak that a kernel which only reads reaches, 0 to 1.
    DramReadShare,
    /// The same for a copy, read plus written.
    DramCopyShare,
    /// Cycles from a load to its data from an idle DRAM.
    DramLatency,
    /// Bytes per second that all SMs read from L2 together.
    L2ReadRate,
    /// Cycles from a load to its data from an idle L2.
    L2Latency,
    /// Cycles from a load to its data from L1.
    L1Latency,
    /// Cycles from a load to its data from shared memory.
    SharedLatency,
    /// The share of the FMA pipes' peak that a kernel of multiply-adds reaches, 0 to 1.
    FmaShare,
    /// Schedulers per SM, each of which issues one instruction per cycle.
    Schedulers,
    /// 32-bit registers per SM.
    Registers,
    /// The number of registers in whose multiples a thread gets them.
    RegisterGranule,
    /// Warps that an SM holds at most.
    Warps,
    /// Blocks that an SM holds at most.
    Blocks,
    /// Bytes of shared memory that an SM has for its blocks, at the largest carve-out.
    SharedBytes,
    /// Bytes of shared memory that the system takes of each block; nothing where no file says so.
    SharedReserved,
    /// The number of bytes in whose multiples a block gets shared memory.
    SharedGranule,
    /// Single-precision multiply-adds per cycle and SM, in lanes.
    FmaRate,
    /// Integer additions, logic and comparisons per cycle and SM, in lanes.
    AluRate,
    /// Double-precision multiply-adds per cycle and SM, in lanes.
    Fp64Rate,
    /// Special functions and conversions per cycle and SM, in lanes.
    XuRate,
    /// Warp instructions per cycle that the load/store unit of an SM takes.
    LsuRate,
    /// Wavefronts per cycle of an SM's L1 data pipe.
    L1Rate,
    /// 16-bit multiply-adds per cycle and SM on the tensor units, dense.
    TensorHalfRate,
    /// 8-bit multiply-adds per cycle and SM on the tensor units, dense.
    TensorByteRate,
    /// Double-precision multiply-adds per cycle and SM on the tensor units.
    TensorDoubleRate,
    /// 8-bit multiply-adds per cycle and SM of the plain four-way product.
    ByteProductRate,
    /// Turns of the FMA pipe that an instruction of 16-bit arithmetic takes.
    HalfTurns,
    /// Turns of the FMA pipe that a 64-bit or upper integer product takes.
    WideProductTurns,
    /// Nanoseconds under the profiler of a launch that does nothing.
    EmptyKernel,
    /// The same of one block that does nothing.
    EmptyBlockProfiled,
    /// Nanoseconds between two events around one block that does nothing, launched by itself.
    EmptyBlockEvents,
    /// Cycles between the starts of two blocks, on the whole device.
    BlockStart,
    /// The share of an L2 slice's atomic unit that additions of floats on one address reach, 0 to 1.
    AtomicFloatShare,
    /// The same for integers.
    AtomicIntegerShare,
    /// Additions of floats per second on one address, one per instruction.
    AtomicFloatRate,
    /// The same for integers.
    AtomicIntegerRate,
}

/// How a quantity stands in a device's file and in text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Definition {
    /// The quantity.
    pub quantity: Quantity,
    /// Its key in a file.
    pub key: &'static str,
    /// Its unit there.
    pub unit: &'static str,
    /// Its name in words.
    pub title: &'static str,
}

const fn define(
    quantity: Quantity,
    key: &'static str,
    unit: &'static str,
    title: &'static str,
) -> Definition {
    Definition { quantity, key, unit, title }
}

/// The unit of shares of a unit's peak; their values are at most 1.
pub(super) const OF_PEAK: &str = "of peak";

use Quantity as Q;

/// All quantities, in the order of [`Quantity`].
pub(super) const ALL: [Definition; Quantity::COUNT] = [
    define(Q::DramReadRate, "dram_read_rate", "byte/s", "DRAM read rate"),
    define(Q::DramCopyRate, "dram_copy_rate", "byte/s", "DRAM copy rate"),
    define(Q::DramReadShare, "dram_read_share", OF_PEAK, "DRAM read rate"),
    define(Q::DramCopyShare, "dram_copy_share", OF_PEAK, "DRAM copy rate"),
    define(Q::DramLatency, "dram_latency", "cycle", "DRAM latency"),
    define(Q::L2ReadRate, "l2_read_rate", "byte/s", "L2 read rate"),
    define(Q::L2Latency, "l2_latency", "cycle", "L2 latency"),
    define(Q::L1Latency, "l1_latency", "cycle", "L1 latency"),
    define(Q::SharedLatency, "shared_latency", "cycle", "shared memory latency"),
    define(Q::FmaShare, "fma_share", OF_PEAK, "reachable FMA rate"),
    define(Q::Schedulers, "schedulers", "scheduler", "schedulers"),
    define(Q::Registers, "registers", "register", "registers"),
    define(Q::RegisterGranule, "register_granule", "register", "register granule"),
    define(Q::Warps, "warps", "warp", "warps"),
    define(Q::Blocks, "blocks", "block", "blocks"),
    define(Q::SharedBytes, "shared_bytes", "byte", "shared memory"),
    define(Q::SharedReserved, "shared_reserved", "byte", "shared memory that each block loses"),
    define(Q::SharedGranule, "shared_granule", "byte", "shared memory granule"),
    define(Q::FmaRate, "fma_rate", "lane/cycle", "FMA rate"),
    define(Q::AluRate, "alu_rate", "lane/cycle", "ALU rate"),
    define(Q::Fp64Rate, "fp64_rate", "lane/cycle", "FP64 rate"),
    define(Q::XuRate, "xu_rate", "lane/cycle", "special function rate"),
    define(Q::LsuRate, "lsu_rate", "inst/cycle", "LSU rate"),
    define(Q::L1Rate, "l1_rate", "wavefront/cycle", "L1 rate"),
    define(Q::TensorHalfRate, "tensor_half_rate", "fma/cycle", "16-bit tensor rate"),
    define(Q::TensorByteRate, "tensor_byte_rate", "fma/cycle", "8-bit tensor rate"),
    define(Q::TensorDoubleRate, "tensor_double_rate", "fma/cycle", "FP64 tensor rate"),
    define(Q::ByteProductRate, "byte_product_rate", "fma/cycle", "8-bit product rate"),
    define(Q::HalfTurns, "half_turns", "turn", "16-bit arithmetic on the FMA pipe"),
    define(Q::WideProductTurns, "wide_product_turns", "turn", "wide products on the FMA pipe"),
    define(Q::EmptyKernel, "empty_kernel", "ns", "empty kernel, profiled"),
    define(Q::EmptyBlockProfiled, "empty_block_profiled", "ns", "empty block, profiled"),
    define(Q::EmptyBlockEvents, "empty_block_events", "ns", "empty launch between events"),
    define(Q::BlockStart, "block_start", "cycle", "start of a block"),
    define(Q::AtomicFloatShare, "atomic_float_share", OF_PEAK, "float atomics on one address"),
    define(
        Q::AtomicIntegerShare,
        "atomic_integer_share",
        OF_PEAK,
        "integer atomics on one address",
    ),
    define(Q::AtomicFloatRate, "atomic_float_rate", "op/s", "float atomics on one address"),
    define(Q::AtomicIntegerRate, "atomic_integer_rate", "op/s", "integer atomics on one address"),
];

impl Quantity {
    /// How many there are.
    pub const COUNT: usize = 38;

    /// Key, unit and name.
    #[must_use]
    pub fn definition(self) -> &'static Definition {
        &ALL[self as usize]
    }

    /// The quantity of a key.
    pub(super) fn of_key(key: &str) -> Option<Self> {
        ALL.iter().find(|definition| definition.key == key).map(|definition| definition.quantity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_quantity_finds_its_own_definition() {
        for (at, definition) in ALL.iter().enumerate() {
            assert_eq!(definition.quantity as usize, at, "{}", definition.key);
            assert_eq!(Quantity::of_key(definition.key), Some(definition.quantity));
        }
    }
}
