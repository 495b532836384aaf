//! Bytes to the device and back.

use std::time::{Duration, Instant};

use cudarc::driver::{DevicePtrMut, result};

use super::Prepared;
use crate::error::{Error, Result};
use crate::plan::Role;
use crate::problem::buffer::poison_byte;

impl Prepared {
    /// Copies host bytes to a buffer and returns how long the copy took.
    ///
    /// # Errors
    /// [`Error::Kernel`] where the driver refuses.
    pub fn upload(&mut self, buffer: usize, bytes: &[u8]) -> Result<Duration> {
        let start = Instant::now();
        let stream = self.on_device.stream.clone();
        if let Some(place) = self.on_device.buffers[buffer].host_bytes() {
            let bytes = &bytes[..bytes.len().min(place.len())];
            place[..bytes.len()].copy_from_slice(bytes);
            return Ok(start.elapsed());
        }
        stream
            .memcpy_htod(bytes, &mut *self.on_device.buffers[buffer])
            .and_then(|()| stream.synchronize())
            .map_err(|e| self.failed("copying an input to the device", e))?;
        let spent = start.elapsed();
        self.remember(buffer)?;
        Ok(spent)
    }

    /// Copies a buffer back and returns it with how long the copy took.
    ///
    /// # Errors
    /// [`Error::Kernel`] where the driver refuses.
    pub fn download(&self, buffer: usize) -> Result<(Vec<u8>, Duration)> {
        let start = Instant::now();
        let mut bytes = vec![0_u8; self.on_device.buffers[buffer].len()];
        self.on_device
            .stream
            .memcpy_dtoh(&*self.on_device.buffers[buffer], &mut bytes)
            .and_then(|()| self.on_device.stream.synchronize())
            .map_err(|e| self.failed("copying the output back", e))?;
        Ok((bytes, start.elapsed()))
    }

    /// Fills outputs and scratch memory with NaN or unlikely integers, so that a kernel
    /// that forgets an element can't pass by luck.
    ///
    /// # Errors
    /// [`Error::Kernel`] where the driver refuses.
    pub fn poison(&mut self) -> Result<()> {
        for (index, buffer) in self.plan.buffers.iter().enumerate() {
            if !matches!(buffer.role, Role::Output | Role::Scratch) {
                continue;
            }
            let stream = self.on_device.stream.clone();
            let bytes = self.on_device.buffers[index].len();
            let (pointer, _guard) = self.on_device.buffers[index].device_ptr_mut(&stream);
            // SAFETY: the pointer and the length are of one live allocation.
            unsafe {
                result::memset_d8_async(
                    pointer,
                    poison_byte(buffer.dtype),
                    bytes,
                    stream.cu_stream(),
                )
            }
            .map_err(|e| Error::Kernel(format!("poisoning `{}`: {e}", buffer.name)))?;
        }
        Ok(())
    }
}
