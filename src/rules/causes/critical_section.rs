//! Threads that take turns at locks.

use crate::evidence::modeled_launch::place;
use crate::evidence::removal::{ISSUE_BUSY, MATTERS_LIMIT, Removal, gains, locations};
use crate::evidence::{Draft, ModeledLaunch};
use crate::finding::Evidence;
use crate::hardware::WARP_LANES;
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::questions::locks::{Lock, locks};
use crate::sass::{Family, Listing, Space};
use crate::term::Term;
use crate::text::{count, percent};

/// The rule.
pub const RULE: Rule = Rule {
    name: "critical-section",
    kind: Kind::Cause,
    summary: "threads take a lock, so that they do one after another what they could do at once",
    explanation: "\
A lock lets one thread at a time into a section of code. On a GPU thousands wait for it, and the lanes of a warp often go in a few \
at a time even where each has a lock of its own, since a warp runs one path at a time. Around the section stand fences, each of which waits \
until L2 has seen all that the thread wrote. The rule looks for a loop around a compare-and-swap of two constants, and behind it \
an exchange or store that other threads see, at the same address. Most such sections can be done without: data of a thread's or \
block's own, combined at the end; one atomic, where a word holds the result; or a compare-and-swap of 64 bits, where two words \
belong together. The estimate takes the lock and its fences away, and lets all lanes do at once what is between.",
    examples: &[Example {
        fault: "\
while (atomicCAS(&lock[cell], 0, 1) != 0) {}
__threadfence();
if (height > top[cell]) { top[cell] = height; who[cell] = tree; }
__threadfence();
atomicExch(&lock[cell], 0);",
        repair: "\
// the bits of heights from 0 on have the order of the heights
unsigned long long mine = __float_as_uint(height);
atomicMax(&top_and_who[cell], mine << 32 | tree);",
        note: "\
The two words become one of 64 bits. Of two equal heights the larger number of a tree wins, where before the first to come did.",
    }],
    section: "WarpStateStats",
    thresholds: &[MATTERS_LIMIT],
    needs: &[ISSUE_BUSY],
    source_page: SourcePage::Needed,
    explains: &[
        "memory-fence-stalls",
        "long-scoreboard-stalls",
        "lg-throttle",
        "fixed-latency-stalls",
        "issue-slots-underused",
    ],
    in_triton: "\
keep partial results in registers over the rows that a program takes, and write one row per program, which a second kernel or \
torch.sum adds up; or tl.atomic_add with sem=\"relaxed\".",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let found = locks(&listing);
    if found.is_empty() {
        return None;
    }
    let (mut of_requests, mut of_atomics) = (Share::default(), Share::default());
    for (at, entry) in listing.entries() {
        let goes = found.iter().map(|lock| goes(listing, lock, at)).fold(0.0, f64::max);
        removal.remove(at, goes);
        of_requests.add(goes, listing.row(at).counters.l1_tag_requests_global);
        if matches!(entry.family, Family::Atomic(Space::Global | Space::Generic)) {
            of_atomics.add(goes, listing.executed(at));
        }
    }
    let mut effect = removal.effect(launch);
    effect.removed.extend([
        (Term::L2, of_requests.share()),
        (Term::L2Requests, of_requests.share()),
        (Term::Atomic, of_atomics.share()),
    ]);
    if !gains(launch, &effect) {
        return None;
    }
    let is_taken = |at: usize| found.iter().any(|lock| lock.taken == at);
    let weight = |at: usize| if is_taken(at) { listing.executed(at) } else { 0.0 };
    let locations = locations(launch, listing, weight, "attempts at locks");
    let at = place(&locations, "the lock");
    let sections: f64 = found.iter().map(|lock| listing.executed(lock.released)).sum();
    let threads: f64 =
        found.iter().map(|lock| listing.row(lock.released).counters.thread_inst_executed).sum();
    Some(Draft {
        message: format!(
            "Threads take a lock at {at} and give it back {} times, {:.1} lanes of a warp at a time. While they hold it or wait for it, warps spend {} of \
             their waiting.",
            count(sections),
            threads / sections.max(1.0),
            percent(launch.model.stall_share(&effect.stalls)),
        ),
        evidence: vec![
            Evidence::new("executed releases of locks", sections, "inst"),
            Evidence::new("threads that release one", threads, "thread"),
        ],
        hint: format!(
            "Do without the lock at {at}: give each thread or block data of its own, and combine it at the end; or let one atomic do it, \
             where a word holds the result (atomicAdd, atomicMax; of 64 bits where two words belong together). Where \
             all lanes of a warp want the same lock and it must stay, let one of them take it for all."
        ),
        locations,
        effect,
    })
}

/// What goes of something, over all of it.
#[derive(Default)]
struct Share {
    gone: f64,
    all: f64,
}

impl Share {
    fn add(&mut self, goes: f64, count: f64) {
        self.gone += goes * count;
        self.all += count;
    }

    fn share(&self) -> f64 {
        if self.all > 0.0 { self.gone / self.all } else { 0.0 }
    }
}

/// The share of an instruction's executions that goes without a lock: all of it and its fences, and of what is done while it is
/// held what other lanes could do at once.
fn goes(listing: Listing, lock: &Lock, at: usize) -> f64 {
    let is_fence = || {
        let text = listing.text(at);
        ["MEMBAR", "ERRBAR", "CCTL"].iter().any(|name| text.contains(name))
    };
    if at == lock.released || lock.attempts.binary_search(&at).is_ok() {
        return 1.0;
    }
    if lock.held.binary_search(&at).is_err() {
        return 0.0;
    }
    if is_fence() {
        return 1.0;
    }
    let counters = &listing.row(at).counters;
    let lanes = counters.thread_inst_executed / counters.inst_executed.max(1.0);
    1.0 - (lanes / WARP_LANES).clamp(0.0, 1.0)
}
