//! Another device whose memory this one can reach.

use std::sync::Arc;

use cudarc::driver::{CudaContext, DriverError, sys};

use super::device::{Device, describe};
use crate::error::{Error, Result};

/// The other device, its memory open to the one that the kernels run on.
pub(super) struct Peer {
    pub context: Arc<CudaContext>,
}

impl Peer {
    /// The first other device that this one can reach. `buffer` is what wants to lie there.
    ///
    /// # Errors
    /// [`Error::Environment`] where there is none.
    pub(super) fn of(device: &Device, buffer: &str) -> Result<Self> {
        let refused = |e| Error::Environment(format!("no peer can be used: {}", describe(e)));
        for ordinal in 0..Device::count()? {
            if ordinal == device.context.ordinal() {
                continue;
            }
            let context = CudaContext::new(ordinal).map_err(refused)?;
            if can_reach(&device.context, &context).map_err(refused)? {
                open(&device.context, &context).map_err(refused)?;
                return Ok(Self { context });
            }
        }
        Err(Error::Environment(format!(
            "`{buffer}` has to be in another device's memory, and {} can reach no other device \
             (`nvidia-smi topo -p2p r` shows which can); run it on a machine with two devices, or \
             use --recorded",
            device.name
        )))
    }
}

fn can_reach(from: &CudaContext, to: &CudaContext) -> std::result::Result<bool, DriverError> {
    let mut reaches = 0;
    // SAFETY: both devices are open and the pointer is to a live value.
    unsafe { sys::cuDeviceCanAccessPeer(&raw mut reaches, from.cu_device(), to.cu_device()) }
        .result()?;
    Ok(reaches != 0)
}

/// Lets kernels of one context follow pointers into the other's memory. Twice does no harm.
fn open(from: &CudaContext, to: &CudaContext) -> std::result::Result<(), DriverError> {
    from.bind_to_thread()?;
    // SAFETY: both contexts are alive, and `from` is current.
    match unsafe { sys::cuCtxEnablePeerAccess(to.cu_ctx(), 0) } {
        sys::CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED => Ok(()),
        code => code.result(),
    }
}
