//! Metrics with one value per SASS address, as counters per instruction and per source line.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use foldhash::{HashMap, HashMapExt};

use super::code::{Code, Line};
use super::container::Source;
use super::launch_metric::LaunchMetric;
use super::lines::{LineTable, clean_path};
use super::messages::{ProfileResult, text};
use crate::export::csv::source::is_toolkit;
use crate::export::{SharedTexts, SourceCounters, SourceRow};
use crate::metric::stall::StallReason;

/// A counter's place.
pub(super) type Field = fn(&mut SourceCounters) -> &mut f64;

/// The metric's names, newest first, and where its values go.
pub(super) const FIELDS: [(&[&str], Field); 10] = [
    (&["smsp__pcsamp_sample_count"], |c| &mut c.samples),
    (&["inst_executed"], |c| &mut c.inst_executed),
    (&["thread_inst_executed"], |c| &mut c.thread_inst_executed),
    (&["thread_inst_executed_true"], |c| &mut c.thread_inst_executed_pred_on),
    (&["memory_l1_tag_requests_global"], |c| &mut c.l1_tag_requests_global),
    (&["memory_l1_wavefronts_shared"], |c| &mut c.wavefronts_shared),
    (&["memory_l1_wavefronts_shared_ideal"], |c| &mut c.wavefronts_shared_ideal),
    (&["memory_l2_theoretical_sectors_global", "memory_l2_transactions_global"], |c| {
        &mut c.l2_sectors_global
    }),
    (&["memory_l2_theoretical_sectors_global_ideal", "memory_ideal_l2_transactions_global"], |c| {
        &mut c.l2_sectors_global_ideal
    }),
    (&["memory_l2_theoretical_sectors_local", "memory_l2_transactions_local"], |c| {
        &mut c.l2_sectors_local
    }),
];

/// The metrics with the samples of one stall reason each; those that end in `_not_issued` count a
/// part of the same samples again.
const STALL_PREFIX: &str = "smsp__pcsamp_warps_issue_stalled_";

/// One counter of an instruction.
#[derive(Debug, Clone, Copy)]
enum Counter {
    Field(Field),
    Stall(StallReason),
}

impl Counter {
    fn of(metric: &str) -> Option<Self> {
        if let Some(word) = metric.strip_prefix(STALL_PREFIX) {
            return StallReason::from_column(&format!("stall_{word}")).map(Self::Stall);
        }
        let (_, field) = FIELDS.iter().find(|(names, _)| names.contains(&metric))?;
        Some(Self::Field(*field))
    }

    fn place(self, counters: &mut SourceCounters) -> &mut f64 {
        match self {
            Self::Field(field) => field(counters),
            Self::Stall(reason) => &mut counters.stall_samples[reason as usize],
        }
    }
}

/// A source file: its text, and where each line begins. A line break takes one byte, a text for each line
/// would take thirty.
#[derive(Debug, Default)]
struct Text {
    whole: String,
    starts: Vec<u32>,
}

impl Text {
    fn new(whole: String) -> Self {
        let breaks = whole.match_indices('\n').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(breaks);
        let starts = starts.map_while(|start| u32::try_from(start).ok()).collect();
        Self { whole, starts }
    }

    /// A line by its number from 0, without its line break.
    fn line(&self, index: usize) -> Option<&str> {
        let start = usize::try_from(*self.starts.get(index)?).ok()?;
        self.whole.get(start..)?.lines().next()
    }
}

/// A module: where its functions lay, its line table, and its imported sources.
#[derive(Debug, Default)]
struct Module<'a> {
    /// Address of the first instruction → the function's linker name.
    functions: BTreeMap<u64, String>,
    lines: LineTable,
    code: Code<'a>,
    /// Path → text.
    texts: HashMap<String, Text>,
}

impl Module<'_> {
    /// The instruction's line, then those it is inlined at.
    fn locate(&self, address: u64) -> Vec<(&str, u32)> {
        let function = self.functions.range(..=address).next_back();
        function
            .map(|(start, function)| self.lines.locate(function, address - start).collect())
            .unwrap_or_default()
    }

    /// Where a function lay, by its linker name.
    fn address_of(&self, function: &[u8]) -> Option<u64> {
        let mut functions = self.functions.iter();
        functions.find(|(_, name)| name.as_bytes() == function).map(|(address, _)| *address)
    }

    /// All instructions of the functions that these addresses lie in, with their text, by address.
    fn listing(&self, addresses: impl Iterator<Item = u64>) -> Vec<(u64, &Line)> {
        let mut listing = Vec::new();
        let mut listed = 0..0;
        for address in addresses {
            if listed.contains(&address) {
                continue;
            }
            let Some((&start, name)) = self.functions.range(..=address).next_back() else {
                continue;
            };
            let next = self.functions.range((Bound::Excluded(start), Bound::Unbounded)).next();
            listed = start..next.map_or(u64::MAX, |(next, _)| *next);
            listing.extend(self.code.listing(name, start, listed.end - start));
        }
        listing.sort_by_key(|(address, _)| *address);
        listing.dedup_by_key(|(address, _)| *address);
        listing
    }

    fn text(&self, file: &str, line: u32) -> Option<&str> {
        let index = usize::try_from(line.checked_sub(1)?).ok()?;
        Some(self.texts.get(file)?.line(index)?.trim())
    }
}

/// The modules of a report by their processes and keys: each process counts its modules from the same number on.
#[derive(Debug, Default)]
pub(super) struct Modules<'a> {
    modules: HashMap<(Option<u64>, u64), Module<'a>>,
    /// The counter of each name in the string table.
    counters: Vec<Option<Counter>>,
}

impl<'a> Modules<'a> {
    /// Puts the pieces of each module together.
    #[must_use]
    pub(super) fn new(sources: &'a [Source], strings: &[Arc<str>]) -> Self {
        let mut modules: HashMap<(Option<u64>, u64), Module> = HashMap::new();
        for Source { process, data: source } in sources {
            let module = modules.entry((*process, source.key)).or_default();
            if let Some(cubin) = source.cubin.as_deref().filter(|cubin| !cubin.is_empty()) {
                module.lines = LineTable::read(cubin);
                module.code = Code::read(cubin);
            }
            for function in source.relocation.iter().flat_map(|relocation| &relocation.functions) {
                module.functions.insert(function.address, text(&function.symbol));
            }
            for file in source.files.iter().flat_map(|files| &files.files) {
                module.texts.insert(clean_path(&text(&file.name)), Text::new(text(&file.content)));
            }
        }
        for module in modules.values_mut().filter(|module| module.functions.is_empty()) {
            module.functions.clone_from(module.code.loaded());
        }
        let counters = strings.iter().map(|name| Counter::of(name)).collect();
        Self { modules, counters }
    }

    /// The module of a process's launch. Where the report does not say for both whose they are, the only one with that key.
    fn find(&self, process: Option<u64>, key: u64) -> Option<&Module<'a>> {
        let exact = self.modules.get(&(process, key));
        exact.or_else(|| {
            let may_be = |of: Option<u64>| of.is_none() || process.is_none();
            let mut others = self.modules.iter().filter(|((of, k), _)| *k == key && may_be(*of));
            others.next().filter(|_| others.next().is_none()).map(|(_, module)| module)
        })
    }

    /// A launch's counters: first its lines by file and number, then its instructions by address; `None` where
    /// its message is damaged.
    ///
    /// As on ncu's source page, inlined code counts for its own line and for the line of each other file that
    /// it is called from, so that a call of a header's function shows what it costs. An instruction names one
    /// of them: the line that the user can change, chosen as for the source page.
    #[must_use]
    pub(super) fn rows(
        &self,
        (process, result): (Option<u64>, &ProfileResult),
        metrics: &[LaunchMetric],
        launch: u32,
    ) -> Option<Vec<SourceRow>> {
        let none = Module::default();
        let key = result.source.as_ref().map(|source| source.key);
        let module = key.and_then(|key| self.find(process, key)).unwrap_or(&none);
        let mut counted = self.counted(metrics)?;
        // The launch's own function is listed whether or not anything was counted in it.
        let own = module.address_of(&result.mangled_name);
        let listing = module.listing(counted.addresses().chain(own));
        // Those that never ran are listed too, as on the page.
        let counters = counted.and_of(listing.iter().map(|(address, _)| *address));
        let mut lines: BTreeMap<(&str, u32), SourceCounters> = BTreeMap::new();
        // Of each file whether the user can change it, and how many instructions it has.
        let mut of_file: HashMap<&str, (bool, usize)> = HashMap::new();
        let mut places: Vec<(&str, u32)> = Vec::new();
        // For each instruction where its places end.
        let mut ends = Vec::with_capacity(counters.len());
        for (address, counters) in &counters {
            let start = places.len();
            for place in module.locate(*address) {
                // In each file the innermost line counts, as nearly always on ncu's page: of a function that
                // is inlined where its own file calls it, that is its statement and not the call.
                if places[start..].iter().all(|(file, _)| *file != place.0) {
                    *lines.entry(place).or_default() += **counters;
                    of_file.entry(place.0).or_insert_with(|| (!is_toolkit(place.0), 0)).1 += 1;
                    places.push(place);
                }
            }
            ends.push(places.len());
        }
        let weight = |file: &str| of_file.get(file).copied();
        let mut files = SharedTexts::default();
        let mut rows = Vec::with_capacity(lines.len() + counters.len());
        rows.extend(lines.into_iter().map(|((file, line), counters)| SourceRow {
            launch,
            file: Some(files.get(file)),
            line: Some(line),
            address: None,
            text: module.text(file, line).unwrap_or_default().to_owned(),
            control: None,
            counters,
        }));
        let mut start = 0;
        let mut listing = listing.into_iter().peekable();
        for ((address, counters), end) in counters.into_iter().zip(ends) {
            // Of equals the innermost.
            let place = places[start..end].iter().rev().max_by_key(|(file, _)| weight(file));
            start = end;
            let line = listing.next_if(|(listed, _)| *listed == address).map(|(_, line)| line);
            rows.push(SourceRow {
                launch,
                file: place.map(|(file, _)| files.get(file)),
                line: place.map(|(_, line)| *line),
                address: Some(address),
                text: line.map(|line| line.text.clone()).unwrap_or_default(),
                control: line.map(|line| line.control),
                counters: *counters,
            });
        }
        Some(rows)
    }

    /// The counters of each address that any of the metrics names; `None` where one of them is damaged.
    fn counted(&self, metrics: &[LaunchMetric]) -> Option<Counted> {
        let mut counted = Counted::default();
        for metric in metrics {
            let name = usize::try_from(metric.name).ok().and_then(|name| self.counters.get(name));
            let Some(kind) = name.copied().flatten() else { continue };
            for instance in metric.instances() {
                let (address, value) = instance?;
                *kind.place(counted.at(address)) = value;
            }
        }
        Some(counted)
    }
}

/// The counters of instructions by their addresses.
#[derive(Debug, Default)]
struct Counted {
    counters: Vec<(u64, SourceCounters)>,
    places: HashMap<u64, usize>,
    /// The place behind the one that was asked for last: most metrics name the same addresses in one order.
    next: usize,
}

impl Counted {
    fn at(&mut self, address: u64) -> &mut SourceCounters {
        let place = match self.counters.get(self.next) {
            Some((next, _)) if *next == address => self.next,
            _ => *self.places.entry(address).or_insert_with(|| {
                self.counters.push((address, SourceCounters::default()));
                self.counters.len() - 1
            }),
        };
        self.next = place + 1;
        &mut self.counters[place].1
    }

    fn addresses(&self) -> impl Iterator<Item = u64> {
        self.counters.iter().map(|(address, _)| *address)
    }

    /// The counters by address, with those of these addresses, of which some may not be known yet.
    fn and_of(&mut self, addresses: impl Iterator<Item = u64>) -> Vec<(u64, &SourceCounters)> {
        for address in addresses {
            self.at(address);
        }
        let mut by_address: Vec<_> =
            self.counters.iter().map(|(address, counters)| (*address, counters)).collect();
        by_address.sort_unstable_by_key(|(address, _)| *address);
        by_address
    }
}

#[cfg(test)]
mod tests {
    use super::super::launch_metric::{self, METRICS};
    use super::super::sample::{Kernel, instanced, kernel};
    use super::*;

    /// A file, a line, its executions.
    type Line = (String, u32, f64);
    /// Files and lines, inside out.
    type Places<'a> = &'a [(&'a str, u32)];

    const TOOLKIT: &str = "/usr/local/cuda/include/sm_30_intrinsics.hpp";

    /// The rows of a launch whose instructions ran so often and have these places, inside out: each with its file,
    /// its line, and its executions; instructions have an address.
    fn rows(instructions: &[(Places, f64)]) -> (Vec<Line>, Vec<(String, u32)>) {
        let places: Vec<_> = instructions.iter().map(|(places, _)| *places).collect();
        let module = Module {
            functions: [(0x1000, "k".to_owned())].into(),
            lines: LineTable::by_hand(&places),
            ..Module::default()
        };
        let mut modules = Modules::new(&[], &[Arc::from("inst_executed")]);
        modules.modules.insert((None, 9), module);
        let ran = (0x1000..).step_by(16).zip(instructions.iter().map(|(_, ran)| *ran));
        let Kernel { result, metrics } =
            kernel("k()", vec![instanced(0, &ran.collect::<Vec<_>>())]);
        let message = Kernel { result: result.clone(), metrics }.encoded();
        let metrics = launch_metric::read(&message, METRICS).unwrap();
        let rows = modules.rows((None, &result), &metrics, 0).unwrap();
        let place = |row: &SourceRow| {
            (row.file.as_deref().unwrap_or_default().to_owned(), row.line.unwrap_or_default())
        };
        let (instructions, lines): (Vec<_>, Vec<_>) =
            rows.into_iter().partition(SourceRow::is_instruction);
        let lines = lines.iter().map(|row| {
            let (file, line) = place(row);
            (file, line, row.counters.inst_executed)
        });
        (lines.collect(), instructions.iter().map(place).collect())
    }

    #[test]
    fn of_a_files_lines_the_innermost_counts() {
        let (lines, instructions) = rows(&[(&[("k.cu", 5), ("k.cu", 9)], 4.0)]);
        assert_eq!(lines, [("k.cu".to_owned(), 5, 4.0)]);
        assert_eq!(instructions, [("k.cu".to_owned(), 5)]);
    }

    #[test]
    fn an_instruction_is_of_the_users_file_and_not_of_the_toolkits() {
        // The header has two instructions, the user's file one.
        let (lines, instructions) =
            rows(&[(&[(TOOLKIT, 440), ("k.cu", 51)], 4.0), (&[(TOOLKIT, 441)], 2.0)]);
        let header = |line, ran| (TOOLKIT.to_owned(), line, ran);
        assert_eq!(lines, [header(440, 4.0), header(441, 2.0), ("k.cu".to_owned(), 51, 4.0)]);
        assert_eq!(instructions, [("k.cu".to_owned(), 51), (TOOLKIT.to_owned(), 441)]);
    }

    #[test]
    fn of_two_files_with_as_many_instructions_the_innermost_counts() {
        let (_, instructions) = rows(&[(&[("a.h", 1), ("b.h", 2)], 4.0)]);
        assert_eq!(instructions, [("a.h".to_owned(), 1)]);
        let (_, instructions) = rows(&[(&[("a.h", 1), ("b.h", 2)], 4.0), (&[("b.h", 3)], 4.0)]);
        assert_eq!(instructions[0], ("b.h".to_owned(), 2), "the file with more of them");
    }
}
