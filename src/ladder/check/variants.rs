//! Variants of steps.

use toml::Spanned;

use super::{Checker, ReadSource};
use crate::error::Result;
use crate::ladder::Variant;
use crate::ladder::manifest::{self, DeclaredLaunch};
use crate::plan::{Source, VariantKind};
use crate::text::printable;

impl Checker<'_> {
    /// The variants of a step, whose own source is `own`.
    pub(super) fn variants(
        &self,
        step: &manifest::Step,
        own: Option<&Source>,
        read: ReadSource,
    ) -> Vec<Variant> {
        self.unique("variant", step.variants.iter().map(|variant| &variant.name));
        for (at, variant) in step.variants.iter().enumerate() {
            self.keep(self.kind(step, at, variant));
        }
        step.variants
            .iter()
            .filter_map(|variant| {
                self.flags(&variant.flags, &step.tune);
                let removes = self.rules(&variant.removes);
                for launch in variant.launches.iter().flat_map(Spanned::get_ref) {
                    self.launch(launch, &step.tune);
                    self.keep(self.own_buffers(step, launch));
                }
                let source = match &variant.file {
                    Some(file) => self.keep(self.source(file, read))?,
                    None => own?.clone(),
                };
                Some(Variant { manifest: variant.clone(), removes, source })
            })
            .collect()
    }

    /// A kind that a time is compared with stands once; only what-ifs remove faults; and a variant
    /// differs from its step.
    fn kind(&self, step: &manifest::Step, at: usize, variant: &manifest::Variant) -> Result<()> {
        let (name, kind) = (variant.name.get_ref(), variant.kind);
        let twice = step.variants.iter().take(at).any(|other| other.kind == kind);
        if twice && kind != VariantKind::WhatIf {
            return self.fail(
                &variant.name,
                format!(
                    "`{}` has a {} variant above: remove one, or make `{name}` a \"what-if\"",
                    step.name.get_ref(),
                    kind.word()
                ),
            );
        }
        if let (Some(fault), false) = (variant.removes.first(), kind == VariantKind::WhatIf) {
            return self.fail(fault, format!(
                "`{name}` is {}, and such a variant removes no fault: remove `removes`, or make its kind \"what-if\"",
                kind.word()
            ));
        }
        if variant.flags.is_empty() && variant.file.is_none() && variant.launches.is_none() {
            return self.fail(&variant.name, format!(
                "`{name}` is the same as its step: give it `flags`, a `file` or `launches` of its own"
            ));
        }
        match &variant.launches {
            Some(launches) if launches.get_ref().is_empty() => self
                .fail(launches, "the variant launches nothing: add a launch, or remove `launches`"),
            _ => Ok(()),
        }
    }

    /// A variant works on the memory of its step, so it takes no other buffers.
    fn own_buffers(&self, step: &manifest::Step, launch: &DeclaredLaunch) -> Result<()> {
        for argument in &launch.args {
            let Some(name) = argument.get_ref().buffer() else { continue };
            let steps = step.launches().iter().flat_map(|launch| &launch.args);
            let mut steps = steps.map(Spanned::get_ref);
            if !steps.any(|own| own.buffer() == Some(name)) {
                return self.fail(
                    argument,
                    format!(
                        "`{}` is not passed to any launch of the step, and a variant works on its \
                     step's memory: pass one of the step's buffers",
                        printable(name)
                    ),
                );
            }
        }
        Ok(())
    }
}
