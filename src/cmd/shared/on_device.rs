//! A process of adoprof's own that has one of several devices to itself.

use std::time::Duration;

use crate::error::Result;
use crate::interrupt;
use crate::launch::{DeviceLock, device_folder};
use crate::ncu::process::{Ended, Stderr, stream};
use crate::ncu::{Limits, NcuCommand};

/// How a process ended, and what it printed.
pub(crate) type Ran = (Result<Ended>, Vec<u8>);

/// Runs a command, on the device with this UUID alone where one is named; `None` after Ctrl-C.
///
/// # Errors
/// Where the device's folder can't be made.
pub(crate) fn run(
    mut command: NcuCommand,
    uuid: Option<&str>,
    timeout: Option<Duration>,
    what: &str,
) -> Result<Option<Ran>> {
    if let Some(uuid) = uuid {
        command.env.push(("CUDA_VISIBLE_DEVICES".into(), uuid.into()));
        command.env.push(("TMPDIR".into(), device_folder(uuid)?.into()));
    }
    // Two processes on one device would slow each other down, and ncu can't profile both.
    let _held = uuid.and_then(DeviceLock::take);
    if interrupt::requested() {
        return Ok(None);
    }
    let interrupted = interrupt::flag();
    let timeout = timeout.map(Into::into);
    let limits = Limits { timeout, interrupted: &interrupted, write_up: Duration::ZERO };
    let mut out = Vec::new();
    let ended = stream(&command, Stderr::Apart, limits, what, |piece| out.extend_from_slice(piece));
    Ok((!interrupt::requested()).then_some((ended, out)))
}
