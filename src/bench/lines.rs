//! Where a planted fault is: the lines that its repair changes, and those that use what such a line
//! defines. Of two steps in one file the compiler sees different lines by their flags.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use similar::{Algorithm, DiffTag, capture_diff_slices};

use crate::document::Document;
use crate::finding::Location;
use crate::ladder::{Ladder, Overrides, Step};

/// The line that a finding names first, and whether it is one of the fault's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PointedAt {
    /// The file, as the finding names it.
    pub file: String,
    /// The line.
    pub line: u32,
    /// True where the repair changes this line, or the line uses what a changed one defines.
    pub of_the_fault: bool,
}

/// The first line that the finding of a fault names; `None` where it names none, and where the repair
/// changes no line of the kernel but its launch.
pub(super) fn pointed_at(
    ladder: &Ladder,
    step: &Step,
    repair: &Step,
    document: &Document,
    fault: &str,
) -> Option<PointedAt> {
    let location = first_location(document, fault)?;
    let (faulty, repaired) = (Seen::of(ladder, step)?, Seen::of(ladder, repair)?);
    let lines = faulty.lines_unlike(&repaired);
    (!lines.is_empty()).then(|| PointedAt {
        file: location.file.clone(),
        line: location.line,
        of_the_fault: location.file == faulty.file && lines.contains(&location.line),
    })
}

/// Of several launches the one that takes longest counts.
fn first_location<'a>(document: &'a Document, fault: &str) -> Option<&'a Location> {
    document
        .launches
        .iter()
        .filter_map(|launch| {
            let finding = launch.findings.iter().find(|finding| finding.rule == fault)?;
            Some((launch.time_share, finding.locations.first()?))
        })
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, location)| location)
}

/// A source file as the compiler sees it for one step.
#[derive(Debug)]
struct Seen {
    file: String,
    /// The values that its flags give to macros.
    macros: BTreeMap<String, String>,
    /// Its lines without comments, by number from 1; directives, empty and inactive lines left out.
    lines: Vec<(u32, String)>,
}

impl Seen {
    fn of(ladder: &Ladder, step: &Step) -> Option<Self> {
        // Flags depend on the size, not on the number of SMs.
        let plan = ladder.plan(step.name(), &Overrides::new(), 1).ok()?;
        Some(Self::new(plan.source.name, &plan.source.text, &plan.flags))
    }

    fn new(file: String, text: &str, flags: &[String]) -> Self {
        let macros: BTreeMap<String, String> = flags
            .iter()
            .filter_map(|flag| flag.strip_prefix("-D"))
            .map(|word| word.split_once('=').unwrap_or((word, "1")))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let lines = active_lines(text, &macros);
        Self { file, macros, lines }
    }

    fn lines_unlike(&self, other: &Self) -> BTreeSet<u32> {
        let texts = |seen: &'_ Self| -> Vec<String> {
            seen.lines.iter().map(|(_, text)| text.clone()).collect()
        };
        let changed = capture_diff_slices(Algorithm::Patience, &texts(self), &texts(other));
        let mut unlike: BTreeSet<u32> = changed
            .iter()
            .filter(|change| change.tag() != DiffTag::Equal)
            .flat_map(|change| self.lines[change.old_range()].iter().map(|(number, _)| *number))
            .collect();
        let set_otherwise: BTreeSet<&str> = self
            .macros
            .keys()
            .chain(other.macros.keys())
            .filter(|name| self.macros.get(*name) != other.macros.get(*name))
            .map(String::as_str)
            .collect();
        unlike.extend(self.lines_with(&set_otherwise));
        let changed_lines = self.lines.iter().filter(|(number, _)| unlike.contains(number));
        let names: BTreeSet<&str> = changed_lines.flat_map(|(_, text)| defined(text)).collect();
        unlike.extend(self.lines_with(&names));
        unlike
    }

    fn lines_with(&self, names: &BTreeSet<&str>) -> BTreeSet<u32> {
        let has = |text: &str| WORD.find_iter(text).any(|word| names.contains(word.as_str()));
        self.lines.iter().filter(|(_, text)| has(text)).map(|(number, _)| *number).collect()
    }
}

/// A pattern of this file.
fn pattern(text: &str) -> Regex {
    Regex::new(text).unwrap_or_else(|error| unreachable!("{text}: {error}"))
}

static WORD: LazyLock<Regex> = LazyLock::new(|| pattern(r"[A-Za-z_]\w*"));
/// A name after a type, as in `const float *values` and `__shared__ int counts[64]`.
static DECLARED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?x) \b(?: void|bool|char|short|int|long|float|double|unsigned|half|auto
          | __half2?|__nv_bfloat162? | (?:u?(?:char|short|int|long)|float|double)[1234] | half2
          | \w+_t ) (?: \s*[*&]\s* | \s+(?:const\s+)?) (?:__restrict__\s+)? ([A-Za-z_]\w*)",
    )
});
/// A name, or an element of it, that is given a value.
static ASSIGNED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"([A-Za-z_]\w*)(?:\s*\[[^\]]*\])*\s*(?:[-+*/%&|^]|<<|>>)?=(?:[^=]|$)")
});
static MACRO: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\s*#\s*define\s+(\w+)"));

/// The names that a line declares or gives a value.
fn defined(line: &str) -> Vec<&str> {
    [&*DECLARED, &*ASSIGNED, &*MACRO]
        .iter()
        .flat_map(|pattern| pattern.captures_iter(line))
        .filter_map(|found| found.get(1))
        .map(|name| name.as_str())
        .collect()
}

/// One `#if` that is open.
struct Branch {
    /// This part is compiled.
    active: bool,
    /// This part or one before it is.
    taken: bool,
}

fn active_lines(text: &str, macros: &BTreeMap<String, String>) -> Vec<(u32, String)> {
    let mut open: Vec<Branch> = Vec::new();
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let code = line.split("//").next().unwrap_or_default().trim();
        let directive = code.strip_prefix('#').map(str::trim_start);
        let (word, rest) = directive
            .map_or(("", ""), |text| text.split_once(char::is_whitespace).unwrap_or((text, "")));
        match word {
            "if" | "ifdef" | "ifndef" => {
                let active = holds(word, rest.trim(), macros);
                open.push(Branch { active, taken: active });
            }
            "elif" | "else" => {
                if let Some(branch) = open.last_mut() {
                    branch.active = !branch.taken && (word == "else" || holds("if", rest, macros));
                    branch.taken |= branch.active;
                }
            }
            "endif" => drop(open.pop()),
            _ if !code.is_empty() && open.iter().all(|branch| branch.active) => {
                lines.push((number, code.to_owned()));
            }
            _ => {}
        }
    }
    lines
}

/// Whether a part is compiled: what kernels ask for is that a macro is set, or set to a number. All
/// else they ask of the compute capability, and get what they need.
fn holds(word: &str, condition: &str, macros: &BTreeMap<String, String>) -> bool {
    match word {
        "ifdef" => macros.contains_key(condition),
        "ifndef" => !macros.contains_key(condition),
        _ => condition.split_once("==").is_none_or(|(name, value)| {
            macros.get(name.trim()).is_some_and(|set| set.as_str() == value.trim())
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(text: &str, flags: &[&str]) -> Seen {
        let flags: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
        Seen::new("k.cu".to_owned(), text, &flags)
    }

    fn unlike(faulty: &Seen, repaired: &Seen) -> Vec<u32> {
        faulty.lines_unlike(repaired).into_iter().collect()
    }

    #[test]
    fn a_changed_line_and_those_that_use_what_it_defines_are_the_faults() {
        let faulty = "__shared__ float tile[32][32]; // no padding\nint x = threadIdx.x;\n\
                      tile[x][0] = 1.0f;\nout[x] = 2.0f;\n";
        let repaired = faulty.replace("[32][32]; // no", "[32][33]; // with");
        assert_eq!(unlike(&seen(faulty, &[]), &seen(&repaired, &[])), [1, 3]);
        let only_comments = faulty.replace("no padding", "rows");
        assert_eq!(unlike(&seen(faulty, &[]), &seen(&only_comments, &[])), [0_u32; 0]);
    }

    #[test]
    fn flags_choose_the_lines_that_the_compiler_sees() {
        let text = "#ifdef SLOW\nfloat y = sin(x);\n#else\nfloat y = __sinf(x);\n#endif\n\
                    out[0] = y;\nout[1] = x;\n#if WIDTH == 4\nout[2] = x;\n#endif\n";
        let slow = seen(text, &["-DSLOW"]);
        let numbers: Vec<u32> = slow.lines.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, [2, 6, 7]);
        assert_eq!(unlike(&slow, &seen(text, &[])), [2, 6]);
        let wide = seen(text, &["-DWIDTH=4"]);
        assert_eq!(wide.lines.last().map(|(number, _)| *number), Some(9));
    }

    #[test]
    fn a_line_that_uses_a_macro_of_another_value_is_the_faults() {
        let text = "int i = threadIdx.x * STRIDE;\nout[i] = 1.0f;\nout[0] = 2.0f;\n";
        let strided = seen(text, &["-DSTRIDE=32"]);
        assert_eq!(unlike(&strided, &seen(text, &["-DSTRIDE=1"])), [1, 2]);
        assert_eq!(unlike(&strided, &strided), [0_u32; 0]);
    }

    #[test]
    fn definitions_are_told_from_uses() {
        assert_eq!(defined("const float *values, int n"), ["values", "n"]);
        assert_eq!(defined("sum += a[i] * b;"), ["sum"]);
        assert_eq!(defined("bins[key & 63] = 1;"), ["bins"]);
        assert_eq!(defined("if (a == b) return c;"), [""; 0]);
        assert_eq!(defined("#define PITCH 33"), ["PITCH"]);
    }
}
