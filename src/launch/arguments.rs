//! A launch with its arguments.

use cudarc::driver::{CudaFunction, LaunchConfig, PushKernelArg};

use super::Prepared;
use super::texture::Textures;
use crate::error::Result;
use crate::plan::{Argument, DType, PlannedLaunch};

/// A kernel argument in the form the driver wants it: something to point at.
enum Scalar {
    F32(f32),
    F64(f64),
    I32(i32),
    U8(u8),
    U16(u16),
    U32(u32),
    U64(u64),
}

impl Prepared {
    pub(super) fn launch(
        &self,
        launch: &PlannedLaunch,
        function: &CudaFunction,
        textures: &Textures,
    ) -> Result<()> {
        if let Some(replay) = &self.plan.captured {
            return self.replay(launch, function, replay);
        }
        let scalar = |argument: &Argument| match argument {
            Argument::Buffer(_) => None,
            Argument::Texture(texture) => Some(Scalar::U64(textures.object(*texture))),
            Argument::Scalar(dtype, value) => Some(scalar(*dtype, *value)),
        };
        let scalars: Vec<Option<Scalar>> = launch.arguments.iter().map(scalar).collect();
        let mut builder = self.on_device.stream.launch_builder(function);
        for (argument, scalar) in launch.arguments.iter().zip(&scalars) {
            match (argument, scalar) {
                (Argument::Buffer(index), _) => builder.arg(&*self.on_device.buffers[*index]),
                (_, Some(Scalar::F32(value))) => builder.arg(value),
                (_, Some(Scalar::F64(value))) => builder.arg(value),
                (_, Some(Scalar::I32(value))) => builder.arg(value),
                (_, Some(Scalar::U8(value))) => builder.arg(value),
                (_, Some(Scalar::U16(value))) => builder.arg(value),
                (_, Some(Scalar::U32(value))) => builder.arg(value),
                (_, Some(Scalar::U64(value))) => builder.arg(value),
                (_, None) => unreachable!("all but buffers are scalars"),
            };
        }
        let [gx, gy, gz] = launch.grid;
        let [bx, by, bz] = launch.block;
        let config = LaunchConfig {
            grid_dim: (gx, gy, gz),
            block_dim: (bx, by, bz),
            shared_mem_bytes: launch.shared_bytes,
        };
        // SAFETY: argument types and order are the manifest's promise; the buffers outlive the
        // launch. A wrong promise faults on the device and comes back as an error.
        unsafe { builder.launch(config) }.map(|_| ()).map_err(|e| self.refused(launch, e))
    }
}

fn scalar(dtype: DType, value: f64) -> Scalar {
    match dtype {
        DType::F32 => Scalar::F32(value as f32),
        DType::F64 => Scalar::F64(value),
        DType::F16 => Scalar::U16(crate::problem::half::from_f64(value)),
        DType::I32 => Scalar::I32(value as i32),
        DType::U8 => Scalar::U8(value as u8),
        DType::U32 => Scalar::U32(value as u32),
        DType::U64 => Scalar::U64(value as u64),
    }
}
