//! Kernels that one after another go over the same memory.

use std::collections::{BTreeMap, HashMap};

use super::blame::Blamed;
use super::run::Run;
use super::{Found, Rule};
use crate::finding::Evidence;
use crate::kernel_name::short;
use crate::survey::buffers::{Buffer, Buffers};
use crate::survey::record::{Kernel, Place};
use crate::text::{bytes, count_of, duration, percent};

/// The rule.
pub(super) const RULE: Rule = Rule {
    name: "kernels-not-fused",
    summary: "kernels go over the same memory one after another",
    checks: "A kernel goes over memory that the kernel before it on the stream has just gone over, and both take about as long as \
             moving what they were given takes: as one kernel they would move it once.",
    hint: "Fuse neighbouring kernels where an element of the second needs only what the same thread or block made of the first: \
           keep it in registers instead of storing and loading it (in PyTorch, torch.compile does so for chains of elementwise \
           operations and the reductions behind them)",
    check,
};

/// What a launch was given must take this share of its time to be moved at the memory's peak rate, at least: a pass that writes
/// what it reads moves it twice, and plain passes reach two thirds of the peak (an element per thread, H100: 34% in place).
const STREAMS: f64 = 0.3;

/// And at most this multiple of it, which a cache can give; where it would take longer the kernel leaves some of it alone.
const FROM_CACHE: f64 = 2.5;

/// Pairs of kernels that are named.
const NAMED: usize = 3;

/// A launch as a pass over memory.
struct Pass<'a> {
    kernel: &'a Kernel,
    /// What it goes over, by address; nothing where it is no such pass.
    buffers: Vec<Buffer>,
    /// All of them, bytes.
    bytes: f64,
    /// Which launch of the same kernel with the same memory came first, by its place among the passes.
    first: usize,
}

/// What pairs of two kernels share.
#[derive(Default)]
struct Pair {
    count: usize,
    bytes: f64,
    saved_ns: f64,
}

fn check(run: &Run) -> Option<Found> {
    let passes = passes(run);
    let mut last: HashMap<(u32, u32, u32), usize> = HashMap::new();
    let mut pairs: BTreeMap<(u32, u32), Pair> = BTreeMap::new();
    // What goes of each pass: likely, at most.
    let mut goes = vec![[0.0_f64; 2]; passes.len()];
    for (at, pass) in passes.iter().enumerate() {
        let Place { device, context, stream, .. } = pass.kernel.place;
        let before = last.insert((device, context, stream), at);
        let Some(before) = before else { continue };
        let earlier = &passes[before];
        // The same kernel again is a step of an iteration, and what came first before comes round again.
        if earlier.kernel.shape == pass.kernel.shape || pass.first <= earlier.first {
            continue;
        }
        let shared = shared(&earlier.buffers, &pass.buffers);
        if shared <= 0.0 {
            continue;
        }
        // The second need not load it; and where nobody else wants it, the first need not store it.
        let saved = pass.kernel.span.ns() * shared / pass.bytes;
        goes[at] = goes[at].map(|goes| goes + saved);
        goes[before][1] += earlier.kernel.span.ns() * shared / earlier.bytes;
        let pair = pairs.entry((earlier.kernel.shape, pass.kernel.shape)).or_default();
        pair.count += 1;
        pair.bytes += shared;
        pair.saved_ns += saved;
    }
    let sum = |which: usize| -> f64 {
        let of = |(pass, goes): (&Pass, &[f64; 2])| goes[which].min(pass.kernel.span.ns());
        passes.iter().zip(&goes).map(of).sum()
    };
    let (likely, at_most) = (sum(0), sum(1));
    let count: usize = pairs.values().map(|pair| pair.count).sum();
    let moved: f64 = pairs.values().map(|pair| pair.bytes).sum();
    (count > 0).then(|| Found {
        hint: None,
        // Half of the pairs may need what other blocks made, for which only the end of a kernel waits.
        saved_ns: [likely, 0.5 * likely, at_most],
        message: format!(
            "{} over memory that the kernel before has just gone over, {} of it in all, and both take about as long as moving it \
             does; to move it again takes {}, {} of the time: {}",
            match count {
                1 => "1 kernel goes".to_owned(),
                _ => format!("{} go", count_of(count as f64, "kernel")),
            },
            bytes(moved),
            duration(likely),
            percent(likely / run.wall_ns),
            named(run, &pairs),
        ),
        evidence: vec![
            Evidence::new("kernels behind one with the same memory", count as f64, ""),
            Evidence::new("memory that they go over again", moved, "byte"),
            Evidence::new("time to move it again", likely, "ns"),
        ],
        blamed: blamed(&passes, &goes),
    })
}

/// The launches of the run in the order in which the device ran them.
fn passes<'a>(run: &Run<'a>) -> Vec<Pass<'a>> {
    let process = run.process;
    let buffers = Buffers::new(process);
    let mut kernels: Vec<&Kernel> = process.kernels.iter().collect();
    kernels.sort_by_key(|kernel| kernel.span.start);
    let mut known: HashMap<(u32, Vec<u64>), usize> = HashMap::new();
    let mut passes = Vec::new();
    for (at, kernel) in kernels.into_iter().enumerate() {
        let rate = process.devices.get(&kernel.place.device).map_or(0, |it| it.memory_bytes_per_s);
        let mut buffers = buffers.of(kernel).unwrap_or_default();
        let bytes: f64 = buffers.iter().map(|buffer| buffer.bytes as f64).sum();
        let needed = bytes / rate as f64 * 1e9 / kernel.span.ns().max(1.0);
        let addresses = buffers.iter().map(|buffer| buffer.address).collect();
        let first = *known.entry((kernel.shape, addresses)).or_insert(at);
        if !(STREAMS..=FROM_CACHE).contains(&needed) {
            buffers.clear();
        }
        passes.push(Pass { kernel, buffers, bytes, first });
    }
    passes
}

/// The bytes that two launches were both given.
fn shared(one: &[Buffer], other: &[Buffer]) -> f64 {
    let is_there =
        |buffer: &&Buffer| one.binary_search_by_key(&buffer.address, |known| known.address).is_ok();
    other.iter().filter(is_there).map(|buffer| buffer.bytes as f64).sum()
}

/// The pairs with the most to save, in words.
fn named(run: &Run, pairs: &BTreeMap<(u32, u32), Pair>) -> String {
    let name = |shape: u32| {
        let shape = run.process.shapes.get(shape as usize);
        shape.map_or_else(String::new, |shape| short(&shape.kernel, 40))
    };
    let mut most: Vec<(&(u32, u32), &Pair)> = pairs.iter().collect();
    most.sort_by(|a, b| b.1.saved_ns.total_cmp(&a.1.saved_ns).then(a.0.cmp(b.0)));
    let words = most.iter().take(NAMED).map(|((first, second), pair)| {
        let times = count_of(pair.count as f64, "time");
        let each = bytes(pair.bytes / pair.count as f64);
        format!("{} and then {} ({times}, {each} each)", name(*first), name(*second))
    });
    let more = if most.len() > NAMED { ", and others" } else { "" };
    format!("{}{more}", words.collect::<Vec<_>>().join(", "))
}

/// The launches that need not load again, by what that takes.
fn blamed(passes: &[Pass], goes: &[[f64; 2]]) -> Blamed {
    let saved = passes.iter().zip(goes).filter(|(_, [likely, _])| *likely > 0.0);
    let saved = saved.map(|(pass, [likely, _])| (pass.kernel.place.correlation, *likely));
    Blamed::weighted(saved, "time")
}

#[cfg(test)]
mod tests {
    use crate::around::testing::{Made, US, of, rules, saved};
    use crate::survey::memory::{Change, Memory, kind};
    use crate::survey::samples::{arguments, shape};

    const MB: u64 = 1_000_000;

    /// Buffers of 100 MB, of which 100 µs move one at 1 TB/s.
    fn address(buffer: u64) -> u64 {
        (1 << 40) + buffer * 100 * MB
    }

    /// A process of kernels with these shapes, times in µs, and buffers.
    fn made(launches: &[(u32, u64, &[u64])]) -> Made {
        let mut made = Made::new(vec![shape("a", 1000), shape("b", 1000), shape("c", 1000)]);
        let all = (0..5).filter_map(|it| Change::new(1, address(it), 100 * MB, 0, 1, kind::DEVICE));
        made.process.memory = Memory::new(all.collect());
        for (shape, us, buffers) in launches {
            made.launch(*shape, us * US);
            let correlation = made.process.kernels.last().unwrap().place.correlation;
            let words = arguments(buffers.iter().map(|&buffer| address(buffer)));
            made.process.arguments.insert(correlation, words);
        }
        made
    }

    #[test]
    fn a_chain_moves_what_lies_between_once_more() {
        // a: 0 to 1, b: 1 to 2, c: 2 to 3, each at the memory's rate.
        let chain = made(&[(0, 200, &[0, 1]), (1, 200, &[1, 2]), (2, 200, &[2, 3])]);
        let found = chain.found(1000 * US);
        let finding = of(&found, "kernels-not-fused");
        // Half of b and of c; a's and b's stores, too, where nobody else wants them.
        assert!((saved(finding.estimate.factor) - 0.2).abs() < 1e-9, "{finding:?}");
        assert!((saved(finding.estimate.low) - 0.1).abs() < 1e-9, "{finding:?}");
        assert!((saved(finding.estimate.high) - 0.4).abs() < 1e-9, "{finding:?}");
        assert!(finding.message.starts_with("2 kernels go over"), "{}", finding.message);
        assert!(finding.message.contains("a and then b (1 time, 100 MB each)"), "{finding:?}");
    }

    #[test]
    fn a_pass_in_place_is_not_needed_at_all() {
        // It moves its one buffer twice.
        let found = made(&[(0, 200, &[0, 1]), (1, 200, &[1])]).found(1000 * US);
        let estimate = of(&found, "kernels-not-fused").estimate;
        assert!((saved(estimate.factor) - 0.2).abs() < 1e-9, "{estimate:?}");
        assert!((saved(estimate.high) - 0.3).abs() < 1e-9, "{estimate:?}");
    }

    fn is_found(launches: &[(u32, u64, &[u64])]) -> bool {
        rules(&made(launches).found(2000 * US)).contains(&"kernels-not-fused")
    }

    #[test]
    fn only_kernels_as_fast_as_their_memory_are_passes() {
        assert!(is_found(&[(0, 200, &[0, 1]), (1, 200, &[1, 2])]));
        assert!(!is_found(&[(0, 200, &[0, 1]), (1, 200, &[2, 3])]), "other memory");
        // 200 µs of moving in 666, and in 80.
        assert!(is_found(&[(0, 200, &[0, 1]), (1, 666, &[1, 2])]));
        assert!(!is_found(&[(0, 200, &[0, 1]), (1, 667, &[1, 2])]), "it does other work");
        assert!(is_found(&[(0, 80, &[0, 1]), (1, 200, &[1, 2])]));
        assert!(!is_found(&[(0, 79, &[0, 1]), (1, 200, &[1, 2])]), "it can't go over all of it");
    }

    #[test]
    fn iterations_go_on_from_one_another() {
        assert!(!is_found(&[(0, 200, &[0, 1]), (0, 200, &[1, 0])]), "a step behind a step");
        // Of a loop of two, the second is behind the first three times, and the first behind the second never.
        let twice: [(u32, u64, &[u64]); 2] = [(0, 200, &[0, 1]), (1, 200, &[1, 2])];
        let found = made(&twice.repeat(3)).found(2000 * US);
        let message = &of(&found, "kernels-not-fused").message;
        assert!(message.contains("a and then b (3 times") && !message.contains("b and then"));
    }

    #[test]
    fn what_stands_between_parts_them() {
        assert!(!is_found(&[(0, 200, &[0, 1]), (2, 200, &[3, 4]), (1, 200, &[1, 2])]));
        assert!(!is_found(&[(0, 200, &[0, 1]), (2, 9000, &[3]), (1, 200, &[1, 2])]), "of no pass");
    }
}
