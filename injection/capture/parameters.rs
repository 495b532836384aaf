//! A launch as the program asks for it, from the arguments of the driver's function.

use core::ptr;

use super::driver::{Driver, Handle};
use super::file::{File, Tag};
use super::{COOPERATIVE, EXTENDED, PLAIN};

/// The function's attributes that a replay needs (`CUfunction_attribute`): registers, static shared memory, the most
/// dynamic shared memory, the preferred carve-out, cluster x, y and z, clusters of any size, cluster scheduling.
const ATTRIBUTES: [u32; 9] = [4, 1, 8, 9, 11, 12, 13, 14, 15];

/// Parameters of a kernel, at most.
const MOST_PARAMETERS: usize = 4096;
/// Bytes of them, at most: what a driver allows.
const MOST_BYTES: usize = 32 * 1024;

/// What `extra` says: the parameters as one piece of memory, and its size.
const POINTER: usize = 1;
const SIZE: usize = 2;

/// A launch.
pub struct Launch {
    pub function: Handle,
    pub stream: Handle,
    /// Grid x y z, block x y z, dynamic shared memory.
    shape: [u32; 7],
    is_cooperative: bool,
    parameters: *const *const u8,
    extra: *const usize,
    attributes: *const u8,
    attribute_count: u32,
}

impl Launch {
    /// # Safety
    /// `arguments` are those of the function with this number.
    pub unsafe fn of(number: u32, arguments: *const u8) -> Option<Self> {
        if arguments.is_null() {
            return None;
        }
        // SAFETY: the places are those of the fields in CUDA's own header, which the caller vouches for.
        unsafe {
            let pointer =
                |from: *const u8, at: usize| from.add(at).cast::<*mut u8>().read_unaligned();
            let shape = |from: *const u8, at: usize| {
                [0, 1, 2, 3, 4, 5, 6]
                    .map(|field| from.add(at + 4 * field).cast::<u32>().read_unaligned())
            };
            if PLAIN.contains(&number) || COOPERATIVE.contains(&number) {
                let is_cooperative = COOPERATIVE.contains(&number);
                let extra = if is_cooperative { ptr::null_mut() } else { pointer(arguments, 56) };
                return Some(Self {
                    function: pointer(arguments, 0).cast(),
                    stream: pointer(arguments, 40).cast(),
                    shape: shape(arguments, 8),
                    is_cooperative,
                    parameters: pointer(arguments, 48).cast_const().cast(),
                    extra: extra.cast_const().cast(),
                    attributes: ptr::null(),
                    attribute_count: 0,
                });
            }
            let config = pointer(arguments, 0);
            if !EXTENDED.contains(&number) || config.is_null() {
                return None;
            }
            Some(Self {
                function: pointer(arguments, 8).cast(),
                stream: pointer(config, 32).cast(),
                shape: shape(config, 0),
                is_cooperative: false,
                parameters: pointer(arguments, 16).cast_const().cast(),
                extra: pointer(arguments, 24).cast_const().cast(),
                attributes: pointer(config, 40),
                attribute_count: config.add(48).cast::<u32>().read_unaligned(),
            })
        }
    }

    /// Writes the launch's shape and attributes.
    ///
    /// # Safety
    /// The launch is about to be made.
    pub unsafe fn write(&self, driver: &Driver, function: Handle, file: &File) -> bool {
        let asked =
            ATTRIBUTES.map(|attribute| driver.attribute(function, attribute).cast_unsigned());
        let length = 4 * (self.shape.len() + 2 + asked.len()) + 8;
        let more = [u32::from(self.is_cooperative), driver.version()];
        let mut is_written = file.head(Tag::Launch, 0, length as u64);
        for number in self.shape.iter().chain(&more).chain(&asked) {
            is_written &= file.write(&number.to_le_bytes());
        }
        is_written &= file.write(&driver.stack().to_le_bytes());
        for at in 0..self.attribute_count as usize {
            // SAFETY: each attribute is a number, 4 bytes of nothing, and 64 bytes.
            unsafe {
                let attribute = self.attributes.add(72 * at);
                let number = attribute.cast::<u32>().read_unaligned();
                let value = &*ptr::slice_from_raw_parts(attribute.add(8), 64);
                is_written &= file.record(Tag::Attribute, number, &[value]);
            }
        }
        is_written
    }

    /// Writes the parameters and calls `each` with every word that may be an address.
    ///
    /// # Safety
    /// The launch is about to be made.
    pub unsafe fn write_parameters(
        &self,
        driver: &Driver,
        function: Handle,
        file: &File,
        mut each: impl FnMut(u64),
    ) -> bool {
        let write = |index: usize, offset: usize, bytes: &[u8]| {
            let offset = (offset as u64).to_le_bytes();
            let is_written = file.record(Tag::Parameter, index as u32, &[&offset, bytes]);
            for word in bytes.chunks_exact(8) {
                if let Ok(word) = word.try_into() {
                    each(u64::from_le_bytes(word));
                }
            }
            is_written
        };
        // SAFETY: as the caller vouches.
        unsafe { self.each_parameter(driver, function, write) }
    }

    /// Hands over each parameter's number, offset, and bytes, as long as the answer is true; false where not all were.
    ///
    /// # Safety
    /// The launch is about to be made.
    pub unsafe fn each_parameter(
        &self,
        driver: &Driver,
        function: Handle,
        mut each: impl FnMut(usize, usize, &[u8]) -> bool,
    ) -> bool {
        // SAFETY: the launch is about to be made, so that `extra` is as CUDA wants it.
        let packed = unsafe { self.packed() };
        for index in 0..MOST_PARAMETERS {
            let Some((offset, size)) = driver.parameter(function, index) else { break };
            if offset.saturating_add(size) > MOST_BYTES {
                return false;
            }
            // SAFETY: a launch has a good pointer for each parameter, or one piece of memory for all.
            let bytes = unsafe {
                let from = match packed {
                    Some(packed) => packed.add(offset),
                    None if self.parameters.is_null() => return true,
                    None => self.parameters.add(index).read_unaligned(),
                };
                &*ptr::slice_from_raw_parts(from, size)
            };
            if !each(index, offset, bytes) {
                return false;
            }
        }
        true
    }

    /// The parameters as one piece of memory, where the program gives them so.
    ///
    /// # Safety
    /// The launch is about to be made.
    unsafe fn packed(&self) -> Option<*const u8> {
        if self.extra.is_null() {
            return None;
        }
        let mut found = None;
        for at in (0..16).step_by(2) {
            // SAFETY: pairs of a number and a pointer, with a 0 behind the last.
            unsafe {
                match self.extra.add(at).read_unaligned() {
                    POINTER => {
                        found = Some(self.extra.add(at + 1).cast::<*const u8>().read_unaligned())
                    }
                    SIZE => {}
                    _ => break,
                }
            }
        }
        found
    }
}
