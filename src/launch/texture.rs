//! Texture objects over a plan's buffers.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::mem::zeroed;

use cudarc::driver::sys;

use super::device::describe;
use crate::error::{Error, Result};
use crate::plan::{Argument, Buffer, DType, PlannedLaunch, Texture};

/// The texture objects that some launches take. The buffers must outlive them.
pub(super) struct Textures {
    objects: HashMap<Texture, sys::CUtexObject>,
}

impl Textures {
    /// Makes each texture that the launches take, over buffers at these addresses. The device's
    /// context must be current, as it is once a buffer was made.
    ///
    /// # Errors
    /// [`Error::Usage`] where the driver refuses, as it does beyond the most elements of a texture.
    pub(super) fn new(
        buffers: &[Buffer],
        launches: &[PlannedLaunch],
        address: impl Fn(usize) -> u64,
    ) -> Result<Self> {
        // Those made so far are given back with `textures` where one is refused.
        let mut textures = Self { objects: HashMap::new() };
        for argument in launches.iter().flat_map(|launch| &launch.arguments) {
            let Argument::Texture(texture) = *argument else { continue };
            if let Entry::Vacant(place) = textures.objects.entry(texture) {
                let buffer = &buffers[texture.buffer];
                place.insert(create(texture, buffer, address(texture.buffer))?);
            }
        }
        Ok(textures)
    }

    /// The object that a kernel takes. Zero, which no kernel can read, for a texture of other launches.
    pub(super) fn object(&self, texture: Texture) -> u64 {
        self.objects.get(&texture).copied().unwrap_or(0)
    }
}

impl Drop for Textures {
    fn drop(&mut self) {
        for object in self.objects.values() {
            // SAFETY: the object was created here and is destroyed once. An error at the end of a run
            // changes nothing any more.
            let _destroyed = unsafe { sys::cuTexObjectDestroy(*object) };
        }
    }
}

/// A texture over linear memory: a fetch by element, numbers as they are.
fn create(texture: Texture, buffer: &Buffer, address: u64) -> Result<sys::CUtexObject> {
    // SAFETY: both are plain C structures of numbers, for which all zeros are valid.
    let (mut resource, mut view): (sys::CUDA_RESOURCE_DESC, sys::CUDA_TEXTURE_DESC) =
        unsafe { (zeroed(), zeroed()) };
    resource.resType = sys::CUresourcetype::CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear = sys::CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_3 {
        devPtr: address,
        format: format(buffer.dtype),
        numChannels: texture.channels,
        sizeInBytes: buffer.bytes() as usize,
    };
    // Integers would be scaled to [0, 1] otherwise; it means nothing to fractions.
    view.flags = sys::CU_TRSF_READ_AS_INTEGER;
    let mut object = 0;
    // SAFETY: the pointers are to live values; the buffer outlives the object.
    unsafe {
        sys::cuTexObjectCreate(
            &raw mut object,
            &raw const resource,
            &raw const view,
            std::ptr::null(),
        )
    }
    .result()
    .map_err(|e| {
        Error::Usage(format!(
            "no texture could be made over `{}` of {} elements: {}; is it larger than the {} \
             elements that a texture can have?",
            buffer.name,
            buffer.elements() / u64::from(texture.channels),
            describe(e),
            MOST_ELEMENTS,
        ))
    })?;
    Ok(object)
}

/// Elements of the largest texture over linear memory (CUDA C++ Programming Guide, "Technical
/// Specifications per Compute Capability": 2^28 from 8.0, 2^27 before).
const MOST_ELEMENTS: u64 = 1 << 28;

/// How the texture units read a type. A manifest with another never passes its checks.
fn format(dtype: DType) -> sys::CUarray_format {
    match dtype {
        DType::F16 => sys::CUarray_format::CU_AD_FORMAT_HALF,
        DType::I32 => sys::CUarray_format::CU_AD_FORMAT_SIGNED_INT32,
        DType::U8 => sys::CUarray_format::CU_AD_FORMAT_UNSIGNED_INT8,
        DType::F32 => sys::CUarray_format::CU_AD_FORMAT_FLOAT,
        DType::U32 | DType::F64 | DType::U64 => sys::CUarray_format::CU_AD_FORMAT_UNSIGNED_INT32,
    }
}
