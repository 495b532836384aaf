//! The library routine that is timed beside the steps.

use super::Checker;
use crate::error::Result;
use crate::problem::routine;
use crate::text::nearest::hint;
use crate::text::printable;

impl Checker<'_> {
    /// The routine is one that the program knows, and the ladder has what it works on.
    pub(super) fn library(&self) -> Result<()> {
        let Some(name) = &self.manifest.library else { return Ok(()) };
        let Some(routine) = routine::find(name.get_ref()) else {
            let known: Vec<&str> = routine::ROUTINES.iter().map(|routine| routine.name).collect();
            return self.fail(
                name,
                format!(
                    "no library routine is called `{}`{}",
                    printable(name.get_ref()),
                    hint(name.get_ref(), &known)
                ),
            );
        };
        if !self.parameters().any(|known| known == routine.parameter) {
            return self.fail(
                name,
                format!(
                    "the routine `{}` needs a parameter `{}`: add it to [parameters]",
                    routine.name, routine.parameter
                ),
            );
        }
        for (needed, role, dtype) in routine.buffers {
            if !self.manifest.buffers.iter().any(|buffer| {
                buffer.name.get_ref() == needed && buffer.role == *role && buffer.dtype == *dtype
            }) {
                return self.fail(name, format!(
                    "the routine `{}` needs a buffer `{needed}` of role \"{}\" and dtype \"{}\": add it",
                    routine.name,
                    role.word(),
                    dtype.word()
                ));
            }
        }
        Ok(())
    }
}
