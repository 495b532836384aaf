//! What kernels take.

use toml::Spanned;

use super::Checker;
use crate::error::Result;
use crate::ladder::manifest::{self, Argument, Sizes, Texture};
use crate::text::nearest::hint;
use crate::text::printable;

impl Checker<'_> {
    /// An argument of a launch, which knows `i` where the launch is repeated.
    pub(super) fn argument(
        &self,
        kernel: &str,
        argument: &Spanned<Argument>,
        repeated: bool,
        tune: &Sizes,
    ) -> Result<()> {
        match argument.get_ref() {
            Argument::Scalar(scalar) => self.formula_of(&scalar.value, repeated, tune),
            Argument::Buffer(name) => self.passed(kernel, name, argument).map(|_| ()),
            Argument::Texture(texture) => self.texture(kernel, texture, argument),
        }
    }

    /// The buffer of that name, which a kernel takes.
    fn passed(
        &self,
        kernel: &str,
        name: &str,
        argument: &Spanned<Argument>,
    ) -> Result<&manifest::Buffer> {
        let mut buffers = self.manifest.buffers.iter();
        if let Some(buffer) = buffers.find(|buffer| buffer.name.get_ref() == name) {
            return Ok(buffer);
        }
        let known: Vec<&str> = self.buffer_names().collect();
        self.fail(argument, format!(
            "`{kernel}` takes `{}`, which is not a buffer{}; a number is written {{ type = \"i32\", value = \"N\" }}",
            printable(name),
            hint(name, &known)
        ))
    }

    /// What a texture unit can read: numbers of up to 32 bits, one, two or four per element.
    fn texture(&self, kernel: &str, texture: &Texture, argument: &Spanned<Argument>) -> Result<()> {
        let buffer = self.passed(kernel, &texture.buffer, argument)?;
        if buffer.dtype.size() > 4 {
            return self.fail(argument, format!(
                "the elements of a texture have at most 32 bits, and those of `{}` are {}: pass it \
                 as a buffer",
                texture.buffer,
                buffer.dtype.word()
            ));
        }
        if ![1, 2, 4].contains(&texture.channels) {
            return self.fail(
                argument,
                format!(
                    "an element of a texture has 1, 2 or 4 channels, not {}: write one of them",
                    texture.channels
                ),
            );
        }
        Ok(())
    }
}
