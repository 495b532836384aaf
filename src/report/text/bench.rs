//! The fault bench as text.

mod kernels;
mod ladders;
mod sets;
#[cfg(test)]
pub(crate) mod tests;

use std::io::{self, Write};

use crate::bench::BenchDocument;
use crate::report::style::Style;
use crate::report::text::page::{Ink, Page};
use crate::report::text::programs;
use kernels::{cases, quiet};
use ladders::ladders;
use sets::{figures, of_set};

/// Writes the cases, the steps of which nothing should be said, and the figures.
pub(crate) fn bench(document: &BenchDocument, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(style);
    if !page.style.quiet {
        if !document.cases.is_empty() {
            page.inked("", "planted faults", Ink::Bold);
            cases(&mut page, &document.cases);
            page.blank();
        }
        if !document.quiet.is_empty() {
            page.inked("", "kernels at a limit, and faults that are not there", Ink::Bold);
            quiet(&mut page, &document.quiet);
            page.blank();
        }
    }
    for set in &document.sets {
        of_set(&mut page, set);
        page.blank();
    }
    if let Some(together) = &document.together {
        page.inked("", "all of these sets together, by today's rules", Ink::Bold);
        figures(&mut page, None, together);
        page.blank();
    }
    if let Some(transitions) = &document.ladders {
        ladders(&mut page, transitions);
    }
    if let Some(programs) = &document.programs {
        programs::programs(&mut page, programs);
    }
    page.write(out)
}
