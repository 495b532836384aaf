//! Launches whose code says nothing of its source lines.

use crate::frame::Launch;
use crate::text::{count, count_of};

/// How many launches have instructions, and how many of these have no lines.
#[derive(Debug, Default)]
pub(super) struct Lineless {
    with_code: usize,
    lineless: usize,
}

impl Lineless {
    /// Counts a launch.
    pub(super) fn note(&mut self, launch: &Launch) {
        if !launch.instructions.is_empty() {
            self.with_code += 1;
            self.lineless += usize::from(launch.lines.is_empty());
        }
    }

    /// What a user should know where launches have instructions and no lines, in one sentence with the flag that
    /// mends it; `None` where all have lines.
    pub(super) fn remark(&self) -> Option<String> {
        let Self { with_code, lineless } = *self;
        let whose = match lineless {
            0 => return None,
            _ if lineless == with_code => count_of(lineless as f64, "launch"),
            _ => format!("{} of {}", count(lineless as f64), count_of(with_code as f64, "launch")),
        };
        let has = if lineless == 1 { "has" } else { "have" };
        Some(format!(
            "{whose} {has} no line information, so findings name instructions instead of source lines: compile \
             your own kernels with -lineinfo (nvcc and NVRTC), which costs no speed"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::SourceRow;

    fn launch(lines: usize, instructions: usize) -> Launch {
        let rows = |number| vec![SourceRow::default(); number];
        let mut launch = Launch::default();
        launch.lines = rows(lines);
        launch.instructions = rows(instructions);
        launch
    }

    #[test]
    fn launches_without_lines_are_counted_among_those_with_code() {
        let remark = |launches: &[Launch]| {
            let mut counted = Lineless::default();
            for launch in launches {
                counted.note(launch);
            }
            counted.remark()
        };
        assert_eq!(remark(&[launch(2, 9), launch(0, 0)]), None);
        let text = remark(&[launch(2, 9), launch(0, 9), launch(0, 0)]).unwrap();
        assert!(text.starts_with("1 of 2 launches has no line"), "{text}");
        let text = remark(&[launch(0, 9), launch(0, 4)]).unwrap();
        assert!(
            text.starts_with("2 launches have no line") && text.contains("-lineinfo"),
            "{text}"
        );
    }
}
