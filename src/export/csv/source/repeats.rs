//! Parts of the sass view that ncu prints twice.
//!
//! A kernel without line information comes twice, word for word, where its module was loaded at run time
//! (CuPy, PyTorch: ncu 2025.3). Taken for the part of the kernel's next launch, the second one would give
//! that launch the first one's counters.

use std::collections::HashMap;
use std::ops::Range;

use super::cells;
use crate::export::LaunchRow;
use crate::kernel_name;

/// The lines where a part begins that repeats the one before it, and the line behind each. As many parts stay
/// as the kernel has launches: two launches may well have the same counters.
pub(super) fn repeats(lines: &[&str], launches: &[LaunchRow]) -> HashMap<usize, usize> {
    if lines.iter().any(|line| cells::titled(line, "File Path").is_some()) {
        return HashMap::new();
    }
    let parts = parts(lines);
    let mut surplus: HashMap<&str, usize> = HashMap::new();
    for (function, _) in &parts {
        *surplus.entry(function).or_default() += 1;
    }
    let mut kernels: HashMap<&str, usize> = HashMap::new();
    for launch in launches {
        *kernels.entry(&launch.kernel).or_default() += 1;
    }
    for (function, count) in surplus.iter_mut().filter(|(_, count)| **count > 1) {
        *count -= launches_of(&kernels, function).clamp(1, *count);
    }
    let neighbours = parts.iter().zip(parts.iter().skip(1));
    neighbours
        .filter(|((one, before), (other, part))| {
            one == other && lines[before.clone()] == lines[part.clone()]
        })
        .filter_map(|(_, (function, part))| {
            let left = surplus.get_mut(function).filter(|left| **left > 0)?;
            *left -= 1;
            Some((part.start, part.end))
        })
        .collect()
}

/// The page's parts: the kernel of each, and its lines.
fn parts<'a>(lines: &[&'a str]) -> Vec<(&'a str, Range<usize>)> {
    let starts = lines.iter().enumerate().filter_map(|(at, line)| {
        let name = cells::titled(line, "Kernel Name");
        Some((name.or_else(|| cells::titled(line, "Function Name"))?, at))
    });
    let starts: Vec<(&str, usize)> = starts.collect();
    let ends = starts.iter().skip(1).map(|(_, at)| *at).chain([lines.len()]);
    starts.iter().zip(ends).map(|((name, at), end)| (*name, *at..end)).collect()
}

/// How many launches a kernel has.
fn launches_of(kernels: &HashMap<&str, usize>, function: &str) -> usize {
    kernels.get(function).copied().unwrap_or_else(|| {
        let same = kernels.iter().filter(|(kernel, _)| kernel_name::same(kernel, function));
        same.map(|(_, count)| count).sum()
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// The parts that are left of a page whose kernels and single rows these are.
    fn left<'a>(page: &[(&'a str, &'a str)], launches: &[&str]) -> Vec<(&'a str, &'a str)> {
        let text: Vec<String> = page
            .iter()
            .flat_map(|(kernel, row)| [format!("\"Kernel Name\",\"{kernel}\","), (*row).to_owned()])
            .collect();
        let lines: Vec<&str> = text.iter().map(String::as_str).collect();
        let row =
            |kernel: &&str| LaunchRow { kernel: (*kernel).to_owned(), ..LaunchRow::default() };
        let launches: Vec<LaunchRow> = launches.iter().map(row).collect();
        let gone: HashSet<usize> = repeats(&lines, &launches).into_keys().collect();
        page.iter()
            .enumerate()
            .filter(|(at, _)| !gone.contains(&(2 * at)))
            .map(|(_, part)| *part)
            .collect()
    }

    #[test]
    fn a_part_that_comes_twice_counts_once() {
        let page = [("f", "1"), ("f", "1"), ("g", "1"), ("f", "2"), ("f", "2")];
        assert_eq!(left(&page, &["f", "g", "f"]), [("f", "1"), ("g", "1"), ("f", "2")]);
    }

    #[test]
    fn launches_with_the_same_counters_keep_a_part_each() {
        let page = [("f", "1"), ("f", "1")];
        assert_eq!(left(&page, &["f", "f"]), page);
        let doubled = [("f", "1"), ("f", "1"), ("f", "1"), ("f", "1")];
        assert_eq!(left(&doubled, &["f", "f"]), page);
    }

    #[test]
    fn other_parts_stay() {
        let page = [("f", "1"), ("f", "2"), ("g", "2")];
        assert_eq!(left(&page, &["f"]), page, "what differs is no repetition");
    }
}
