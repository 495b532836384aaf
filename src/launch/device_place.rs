//! What belongs to one device, whoever uses it: a lock, and a folder for temporary files. Both are found by the device's
//! UUID, which is the same in every process, whatever number the device has there.

use std::fs::File;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::PathBuf;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::interrupt;

/// How often a lock that another process holds is tried again.
const TICK: Duration = Duration::from_millis(50);

/// A device that no other adoprof measures on; free again when this is dropped.
#[derive(Debug)]
pub(crate) struct DeviceLock {
    _file: File,
}

impl DeviceLock {
    /// Waits until no other process holds the device. `None` after Ctrl-C, and where no lock can be made: a device that
    /// can't be locked can still be used.
    pub(crate) fn take(device: &str) -> Option<Self> {
        let path = std::env::temp_dir().join(format!("adoprof-{device}.lock"));
        // Other users of the machine take the same lock; only to read it they need no right to write.
        let made = File::options().create(true).append(true).mode(0o666).open(&path);
        let file = made.or_else(|_| File::open(&path)).ok()?;
        while file.try_lock().is_err() {
            if interrupt::requested() {
                return None;
            }
            std::thread::sleep(TICK);
        }
        Some(Self { _file: file })
    }
}

/// A device's own folder for temporary files of this user. ncu puts its lock there, by which one process at a time
/// profiles; with one folder per device that holds for each device alone.
///
/// # Errors
/// [`Error::Input`] where it can't be made.
pub(crate) fn device_folder(device: &str) -> Result<PathBuf> {
    let owner = std::fs::metadata("/proc/self").map_or(0, |meta| meta.uid());
    let folder = std::env::temp_dir().join(format!("adoprof-{owner}-{device}"));
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder);
    made.map_err(|error| Error::io(&folder, "make the folder", &error))?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_device_is_held_by_one_at_a_time() {
        let device = format!("test-{}", std::process::id());
        let first = DeviceLock::take(&device).unwrap();
        assert!(DeviceLock::take("another-test-device").is_some());
        let start = Instant::now();
        let waited = std::thread::scope(|scope| {
            let second = scope.spawn(|| {
                let lock = DeviceLock::take(&device);
                (lock.is_some(), start.elapsed())
            });
            std::thread::sleep(4 * TICK);
            drop(first);
            second.join().unwrap()
        });
        assert!(waited.0 && waited.1 >= 4 * TICK, "{waited:?}");
        for device in [device.as_str(), "another-test-device"] {
            let _ =
                std::fs::remove_file(std::env::temp_dir().join(format!("adoprof-{device}.lock")));
        }
    }
}
