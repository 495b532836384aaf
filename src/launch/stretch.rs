//! Device memory at addresses of our choice.

use std::sync::Arc;

use cudarc::driver::{CudaContext, DriverError, sys};

use crate::launch::device::{Device, describe};

/// The driver gives addresses out in pieces of this size: what lies in one piece must be asked for at once.
const PIECE: u64 = 32 << 20;
/// Places that are no further apart are asked for at once; addresses between them cost nothing.
const NEAR: u64 = 1 << 30;

/// Addresses that are ours, without memory.
struct Addresses {
    start: u64,
    bytes: usize,
    context: Arc<CudaContext>,
}

/// Device memory that lies where it was asked for.
pub(in crate::launch) struct Stretch {
    start: u64,
    bytes: usize,
    handle: sys::CUmemGenericAllocationHandle,
    /// Given back once no stretch is in them any more.
    addresses: Arc<Addresses>,
}

/// Makes stretches that hold all of these places, each an address and a size.
///
/// # Errors
/// Which addresses are taken, or what the driver says of the memory.
pub(super) fn place(device: &Device, places: &[(u64, u64)]) -> Result<Vec<Stretch>, String> {
    let said = |error: DriverError| describe(error);
    device.context.bind_to_thread().map_err(said)?;
    let properties = properties(&device.context);
    let mut grain = 0;
    let least = sys::CUmemAllocationGranularity_flags::CU_MEM_ALLOC_GRANULARITY_MINIMUM;
    // SAFETY: the place is filled.
    unsafe { sys::cuMemGetAllocationGranularity(&raw mut grain, &raw const properties, least) }
        .result()
        .map_err(said)?;
    let stretches = merged(places, grain.max(1) as u64, 0);
    let mut all = Vec::new();
    for (start, end) in merged(places, PIECE.max(grain as u64), NEAR) {
        let addresses = Arc::new(Addresses::new(&device.context, start, (end - start) as usize)?);
        for (from, to) in stretches.iter().filter(|(from, _)| (start..end).contains(from)) {
            let bytes = (to - from) as usize;
            all.push(Stretch::new(&addresses, &properties, *from, bytes).map_err(said)?);
        }
    }
    Ok(all)
}

/// Places in whole grains, those that are no more than `apart` from each other as one: starts and ends.
fn merged(places: &[(u64, u64)], grain: u64, apart: u64) -> Vec<(u64, u64)> {
    let mut whole: Vec<(u64, u64)> = places
        .iter()
        .map(|(start, bytes)| (start / grain * grain, (start + bytes).div_ceil(grain) * grain))
        .collect();
    whole.sort_unstable();
    let mut merged: Vec<(u64, u64)> = Vec::new();
    for (start, end) in whole {
        match merged.last_mut() {
            Some(last) if start <= last.1 + apart => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    merged
}

fn properties(context: &CudaContext) -> sys::CUmemAllocationProp {
    sys::CUmemAllocationProp {
        type_: sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        requestedHandleTypes: sys::CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE,
        location: location(context),
        win32HandleMetaData: std::ptr::null_mut(),
        allocFlags: sys::CUmemAllocationProp_st__bindgen_ty_1 {
            compressionType: 0,
            gpuDirectRDMACapable: 0,
            usage: 0,
            reserved: [0; 4],
        },
    }
}

fn location(context: &CudaContext) -> sys::CUmemLocation {
    sys::CUmemLocation {
        type_: sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
        id: context.cu_device(),
    }
}

impl Addresses {
    fn new(context: &Arc<CudaContext>, start: u64, bytes: usize) -> Result<Self, String> {
        let mut address = 0;
        // SAFETY: the place is filled.
        unsafe { sys::cuMemAddressReserve(&raw mut address, bytes, 0, start, 0) }
            .result()
            .map_err(describe)?;
        // Given back where it is not what was asked for.
        let taken = Self { start: address, bytes, context: context.clone() };
        if address == start {
            return Ok(taken);
        }
        Err(format!(
            "{} at {start:#x} are taken, it offers {address:#x}",
            crate::text::bytes(bytes as f64)
        ))
    }
}

impl Drop for Addresses {
    fn drop(&mut self) {
        // An error at the end of a run changes nothing any more.
        let _bound = self.context.bind_to_thread();
        // SAFETY: given back once, here, with no memory in them.
        let _freed = unsafe { sys::cuMemAddressFree(self.start, self.bytes) };
    }
}

impl Stretch {
    fn new(
        addresses: &Arc<Addresses>,
        properties: &sys::CUmemAllocationProp,
        start: u64,
        bytes: usize,
    ) -> Result<Self, DriverError> {
        // SAFETY: each place is filled, the addresses are ours, and the memory is given back where a call fails.
        unsafe {
            let mut handle = 0;
            sys::cuMemCreate(&raw mut handle, bytes, properties, 0).result()?;
            let stretch = Self { start, bytes, handle, addresses: Arc::clone(addresses) };
            sys::cuMemMap(start, bytes, 0, handle, 0).result()?;
            let access = sys::CUmemAccessDesc {
                location: properties.location,
                flags: sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
            };
            sys::cuMemSetAccess(start, bytes, &raw const access, 1).result()?;
            Ok(stretch)
        }
    }

    /// True where all of these bytes are in it.
    pub(super) fn holds(&self, address: u64, bytes: u64) -> bool {
        address >= self.start && address + bytes <= self.start + self.bytes as u64
    }
}

impl Drop for Stretch {
    fn drop(&mut self) {
        // An error at the end of a run changes nothing any more.
        let _bound = self.addresses.context.bind_to_thread();
        // SAFETY: the stretch is unmapped and given back once, here, before its addresses are.
        unsafe {
            let _unmapped = sys::cuMemUnmap(self.start, self.bytes);
            let _released = sys::cuMemRelease(self.handle);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_one_grain_or_beside_each_other_are_one_stretch() {
        let places = [(0x5000, 0x10), (0x1200, 0x100), (0x1f00, 0x101), (0x3000, 0x1000)];
        assert_eq!(merged(&places, 0x1000, 0), [(0x1000, 0x4000), (0x5000, 0x6000)]);
        assert_eq!(merged(&[(0x1200, 0x100), (0x1f00, 0x100)], 0x1000, 0), [(0x1000, 0x2000)]);
        assert_eq!(merged(&places, 0x1000, 0x1000), [(0x1000, 0x6000)]);
        assert!(merged(&[], 0x1000, 0).is_empty());
    }
}
