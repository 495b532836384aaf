//! Steps that replay a launch of somebody's program.

use std::sync::Arc;

use toml::Spanned;

use super::{Checker, ReadSource};
use crate::captured::{Launch, Replay};
use crate::error::Result;
use crate::ladder::manifest;

impl Checker<'_> {
    /// The launch that a step replays.
    pub(super) fn captured(
        &self,
        step: &manifest::Step,
        file: &Spanned<String>,
        read: ReadSource,
    ) -> Result<Replay> {
        let text = self.source(file, read)?;
        let folder = text.path.as_ref().and_then(|path| path.parent());
        let Some(folder) = folder else {
            return self.fail(
                file,
                "a captured launch lies in its ladder's folder, and a built-in ladder has none",
            );
        };
        match Launch::parse(&text.text) {
            Ok(launch) => Ok(Replay {
                launch: Arc::new(launch),
                folder: folder.to_owned(),
                has_own_code: step.file.is_some(),
            }),
            Err(problem) => self.fail(
                file,
                format!(
                    "`{}` is not a captured launch: {problem}; capture it again",
                    file.get_ref()
                ),
            ),
        }
    }

    /// A captured launch brings its memory and its arguments; its code is its own or that of a file.
    pub(super) fn nothing_but_captured(&self, step: &manifest::Step) {
        self.no_program(step);
        let mut misplaced = vec![
            ("run", step.run.as_ref().map(Spanned::span)),
            ("host", step.host.first().map(Spanned::span)),
            ("peer", step.peer.first().map(Spanned::span)),
        ];
        if step.file.is_none() {
            misplaced.push(("launches", step.launches.as_ref().map(Spanned::span)));
            misplaced.push(("flags", step.flags.first().map(Spanned::span)));
            misplaced.push(("tune", step.tune.keys().next().map(Spanned::span)));
            misplaced.push(("variants", step.variants.first().map(|variant| variant.name.span())));
        }
        for (key, span) in misplaced {
            let Some(span) = span else { continue };
            let problem = match key {
                "run" | "host" | "peer" => {
                    format!(
                        "`captured` makes this step a launch of its own, where `{key}` means nothing: remove it"
                    )
                }
                _ => format!(
                    "`{key}` is for code that is compiled: add `file`, the .cu file that takes the place of the captured code"
                ),
            };
            self.mistakes.borrow_mut().push(self.origin.error(&span, problem));
        }
        let of_variants = step.variants.iter().filter_map(|variant| variant.launches.as_ref());
        for launches in step.launches.iter().chain(of_variants) {
            self.keep(self.one_launch(launches));
            for launch in launches.get_ref() {
                self.launch(launch, &step.tune);
            }
        }
    }

    /// The code that takes the place of the captured one is launched once, with the captured parameters.
    fn one_launch(&self, launches: &Spanned<Vec<manifest::DeclaredLaunch>>) -> Result<()> {
        match launches.get_ref().as_slice() {
            [launch] if launch.args.is_empty() && launch.repeat.is_none() => Ok(()),
            [launch] => match launch.args.first() {
                Some(argument) => self.fail(
                    argument,
                    "the kernel gets the parameters that were captured: remove `args`",
                ),
                None => self.fail(launches, "a captured launch is made once: remove `repeat`"),
            },
            _ => self.fail(launches, "one launch was captured, and one takes its place: write one"),
        }
    }
}
