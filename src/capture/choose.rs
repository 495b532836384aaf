//! Which launch of a surveyed program is meant.

use regex::Regex;

use crate::error::{Error, Result};
use crate::kernel_name;
use crate::survey::Survey;
use crate::survey::record::Process;
use crate::text;

/// A launch of a surveyed program.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Chosen {
    /// The kernel's name as the compiler spells it.
    pub kernel: String,
    /// Which of the kernel's launches in its process, from 0.
    pub number: u64,
    /// How long it took, ns.
    pub ns: f64,
    /// The median of the launches like it, of one kernel and shape in one process, ns.
    pub typical_ns: f64,
    /// The device's name.
    pub device: String,
    /// The device's compute capability.
    pub compute_capability: [u32; 2],
}

/// A launch that may be chosen: its process, its place among the process's kernels, its number.
#[derive(Clone, Copy)]
struct Candidate<'a> {
    process: &'a Process,
    at: usize,
    number: u64,
}

impl Candidate<'_> {
    fn name(&self) -> &str {
        self.process
            .shapes
            .get(self.process.kernels[self.at].shape as usize)
            .map_or("", |shape| shape.kernel.as_str())
    }

    fn ns(&self) -> f64 {
        self.process.kernels[self.at].span.ns()
    }

    fn chosen(&self) -> Chosen {
        let kernel = &self.process.kernels[self.at];
        let alike = self.process.kernels.iter().filter(|other| other.shape == kernel.shape);
        let mut times: Vec<f64> = alike.map(|other| other.span.ns()).collect();
        times.sort_by(f64::total_cmp);
        let device = self.process.devices.get(&kernel.place.device);
        Chosen {
            kernel: self.name().to_owned(),
            number: self.number,
            ns: self.ns(),
            typical_ns: times.get(times.len() / 2).copied().unwrap_or_default(),
            device: device.map(|device| device.name.clone()).unwrap_or_default(),
            compute_capability: device.map(|device| device.capability).unwrap_or_default(),
        }
    }
}

/// The launch that is meant: the `nth` of those whose kernel's name matches, or, without a number, one of median
/// duration of the kernel with the most time. Behind it comes, without a number, that kernel's first launch: a program
/// that repeats a launch finds in memory what it is about to write, and only its first changes anything.
///
/// # Errors
/// [`Error::Usage`] where no launch matches, or none that can be captured.
pub(crate) fn chosen(
    survey: &Survey,
    pattern: Option<&str>,
    nth: Option<u64>,
) -> Result<Vec<Chosen>> {
    let pattern = pattern
        .map(Regex::new)
        .transpose()
        .map_err(|error| Error::Usage(format!("-k is not a regular expression: {error}")))?;
    let matches = |name: &str| {
        pattern.as_ref().is_none_or(|pattern| {
            pattern.is_match(&kernel_name::demangled(name)) || pattern.is_match(name)
        })
    };
    let mut candidates = Vec::new();
    let mut in_graphs = 0_u64;
    for process in &survey.processes {
        let wanted: Vec<bool> = process.shapes.iter().map(|shape| matches(&shape.kernel)).collect();
        let mut numbers = std::collections::HashMap::new();
        for (at, kernel) in process.kernels.iter().enumerate() {
            let Some(shape) = process.shapes.get(kernel.shape as usize) else { continue };
            if !wanted[kernel.shape as usize] {
                continue;
            }
            if kernel.place.graph != 0 {
                in_graphs += 1;
                continue;
            }
            let number = numbers.entry(shape.kernel.as_str()).or_insert(0_u64);
            candidates.push(Candidate { process, at, number: *number });
            *number += 1;
        }
    }
    if candidates.is_empty() && in_graphs > 0 {
        return Err(Error::Usage(
            "the kernel is launched by CUDA graphs only, which can't be captured: run the program without graphs"
                .to_owned(),
        ));
    }
    let found = match nth {
        Some(nth) => candidates.get(usize::try_from(nth - 1).unwrap_or(usize::MAX)).copied(),
        None => typical(&candidates),
    };
    let found = found.ok_or_else(|| {
        Error::Usage(match candidates.len() {
            0 => "no kernel of the program has a name that matches; `adoprof profile --survey` lists them".to_owned(),
            count => format!("the program makes {} that match", text::count_of(count as f64, "launch")),
        })
    })?;
    let first = candidates.iter().find(|other| other.name() == found.name()).copied();
    let first = first.filter(|first| nth.is_none() && first.number != found.number);
    Ok([Some(found), first].into_iter().flatten().map(|candidate| candidate.chosen()).collect())
}

/// A launch of median duration of the kernel with the most time.
fn typical<'a>(candidates: &[Candidate<'a>]) -> Option<Candidate<'a>> {
    let mut times: std::collections::BTreeMap<&str, f64> = std::collections::BTreeMap::new();
    for candidate in candidates {
        *times.entry(candidate.name()).or_default() += candidate.ns();
    }
    let (kernel, _) = times.iter().max_by(|a, b| a.1.total_cmp(b.1))?;
    let mut own: Vec<Candidate> =
        candidates.iter().filter(|candidate| candidate.name() == *kernel).copied().collect();
    own.sort_by(|a, b| a.ns().total_cmp(&b.ns()));
    own.get((own.len().max(1) - 1) / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::survey::record::{Kernel, Place, Shape, Span};

    fn survey(launches: &[(&str, u64, u32)]) -> Survey {
        let mut process = Process::default();
        for (at, (name, ns, graph)) in launches.iter().enumerate() {
            process.shapes.push(Shape {
                kernel: (*name).to_owned(),
                grid: [1; 3],
                block: [1; 3],
                registers: 0,
                static_shared: 0,
                dynamic_shared: 0,
                local: 0,
            });
            let start = 1000 * at as u64;
            process.kernels.push(Kernel {
                span: Span { start, end: start + ns },
                place: Place {
                    device: 0,
                    context: 1,
                    stream: 7,
                    correlation: at as u32,
                    graph: *graph,
                },
                shape: at as u32,
            });
        }
        Survey { processes: vec![process], ..Survey::default() }
    }

    fn which(survey: &Survey, pattern: Option<&str>, nth: Option<u64>) -> (String, u64) {
        let found = chosen(survey, pattern, nth).unwrap();
        (found[0].kernel.clone(), found[0].number)
    }

    #[test]
    fn a_number_counts_all_that_match_and_the_launch_its_own_kernels() {
        let survey =
            survey(&[("_Z3addPf", 5, 0), ("mul", 5, 0), ("_Z3addPf", 5, 0), ("other", 5, 0)]);
        assert_eq!(which(&survey, Some("add|mul"), Some(3)), ("_Z3addPf".into(), 1));
        assert_eq!(which(&survey, Some(r"^add\(float"), Some(2)), ("_Z3addPf".into(), 1));
        let refused = chosen(&survey, Some("add"), Some(3)).unwrap_err().to_string();
        assert!(refused.contains("2 launches"), "{refused}");
        assert!(
            chosen(&survey, Some("div"), None).is_err()
                && chosen(&survey, Some("("), None).is_err()
        );
    }

    #[test]
    fn without_a_number_the_median_of_the_longest_kernel_is_taken() {
        let survey = survey(&[("a", 90, 0), ("b", 50, 0), ("b", 10, 0), ("b", 70, 0)]);
        assert_eq!(which(&survey, None, None), ("b".into(), 0));
        assert_eq!(which(&survey, Some("a"), None), ("a".into(), 0));
    }

    #[test]
    fn the_kernels_first_launch_comes_behind_unless_a_number_was_given() {
        let survey = survey(&[("b", 50, 0), ("b", 10, 0), ("b", 20, 0)]);
        let numbers = |nth| {
            let found = chosen(&survey, None, nth).unwrap();
            found.iter().map(|chosen| (chosen.number, chosen.ns)).collect::<Vec<_>>()
        };
        assert_eq!(numbers(None), [(2, 20.0), (0, 50.0)]);
        assert_eq!(numbers(Some(2)), [(1, 10.0)]);
        assert_eq!(numbers(Some(1)), [(0, 50.0)]);
    }

    #[test]
    fn launches_of_graphs_are_not_counted_and_alone_are_refused() {
        let survey = survey(&[("a", 1, 9), ("a", 2, 0), ("g", 1, 9)]);
        assert_eq!(which(&survey, Some("a"), Some(1)), ("a".into(), 0));
        let refused = chosen(&survey, Some("g"), None).unwrap_err().to_string();
        assert!(refused.contains("graphs"), "{refused}");
    }
}
