//! A buffer that kernels see: in device memory, in pinned host memory behind the bus, or in another
//! device's.

use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DriverError, result, sys};

use super::peer::Peer;
use super::stretch::Stretch;

/// Bytes at an address that the device can reach.
pub(super) struct Memory {
    /// The address and the length, for launches. Only the device's own memory is given back through it.
    slice: ManuallyDrop<CudaSlice<u8>>,
    owner: Owner,
}

/// Whose memory it is, and what gives it back.
enum Owner {
    Device,
    /// The same bytes as the host sees them.
    Host(NonNull<u8>),
    /// The other device, and the address that it gave.
    Peer(Arc<CudaContext>, sys::CUdeviceptr),
    /// A part of a larger stretch, which gives itself back, or a module's.
    Part(#[expect(dead_code, reason = "held until the part is gone")] Option<Arc<Stretch>>),
}

impl Memory {
    /// Device memory, not yet filled.
    pub(super) fn on_device(stream: &Arc<CudaStream>, bytes: usize) -> Result<Self, DriverError> {
        // SAFETY: the memory is filled or poisoned before any kernel reads it.
        let slice = unsafe { stream.alloc::<u8>(bytes) }?;
        Ok(Self { slice: ManuallyDrop::new(slice), owner: Owner::Device })
    }

    /// Pinned host memory, not yet filled, which has one address for host and device.
    pub(super) fn on_host(stream: &Arc<CudaStream>, bytes: usize) -> Result<Self, DriverError> {
        stream.context().bind_to_thread()?;
        // SAFETY: the memory is filled or poisoned before any kernel reads it.
        let pointer = unsafe { result::malloc_host(bytes, sys::CU_MEMHOSTALLOC_DEVICEMAP) }?;
        let host = NonNull::new(pointer.cast::<u8>())
            .ok_or(DriverError(sys::cudaError_enum::CUDA_ERROR_OUT_OF_MEMORY))?;
        // SAFETY: under unified addressing, which every 64-bit system has, the host's address is the
        // device's. The slice is never dropped, so it does not free what it did not allocate.
        let slice = unsafe { stream.upgrade_device_ptr(pointer as sys::CUdeviceptr, bytes) };
        Ok(Self { slice: ManuallyDrop::new(slice), owner: Owner::Host(host) })
    }

    /// Another device's memory, not yet filled, at an address that is good on this one too.
    pub(super) fn on_peer(
        stream: &Arc<CudaStream>,
        peer: &Peer,
        bytes: usize,
    ) -> Result<Self, DriverError> {
        peer.context.bind_to_thread()?;
        // Not from the other device's pool, whose memory peer access would not reach.
        // SAFETY: the memory is filled or poisoned before any kernel reads it.
        let address = unsafe { result::malloc_sync(bytes) };
        stream.context().bind_to_thread()?;
        let address = address?;
        // SAFETY: unified addressing gives memory one address for all devices. The slice is never
        // dropped, so it does not free what it did not allocate.
        let slice = unsafe { stream.upgrade_device_ptr(address, bytes) };
        let owner = Owner::Peer(peer.context.clone(), address);
        Ok(Self { slice: ManuallyDrop::new(slice), owner })
    }

    /// A part of a stretch at its place, or, without one, memory of a module's variable.
    pub(super) fn part(
        stream: &Arc<CudaStream>,
        address: sys::CUdeviceptr,
        bytes: usize,
        of: Option<Arc<Stretch>>,
    ) -> Self {
        // SAFETY: the caller vouches that the bytes are there. The slice is never dropped, so it does not free
        // what it did not allocate.
        let slice = unsafe { stream.upgrade_device_ptr(address, bytes) };
        Self { slice: ManuallyDrop::new(slice), owner: Owner::Part(of) }
    }

    /// The bytes, where they are the host's. No kernel may be running on them.
    pub(super) fn host_bytes(&mut self) -> Option<&mut [u8]> {
        let Owner::Host(pointer) = self.owner else { return None };
        let bytes = self.slice.len();
        // SAFETY: pointer and length are of one live allocation, borrowed as `self` is.
        Some(unsafe { std::slice::from_raw_parts_mut(pointer.as_ptr(), bytes) })
    }
}

impl Deref for Memory {
    type Target = CudaSlice<u8>;

    fn deref(&self) -> &CudaSlice<u8> {
        &self.slice
    }
}

impl DerefMut for Memory {
    fn deref_mut(&mut self) -> &mut CudaSlice<u8> {
        &mut self.slice
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // An error at the end of a run changes nothing any more.
        match &self.owner {
            // SAFETY: the pointer is malloc_host's and is freed once, here.
            Owner::Host(pointer) => {
                let _freed = unsafe { result::free_host(pointer.as_ptr().cast::<c_void>()) };
            }
            // SAFETY: the address is malloc_sync's and is freed once, here, in its own context.
            Owner::Peer(context, address) => {
                let _bound = context.bind_to_thread();
                let _freed = unsafe { result::free_sync(*address) };
                let _bound = self.slice.context().bind_to_thread();
            }
            Owner::Part(_) => {}
            // SAFETY: dropped once, here, and not used afterwards.
            Owner::Device => unsafe { ManuallyDrop::drop(&mut self.slice) },
        }
    }
}
