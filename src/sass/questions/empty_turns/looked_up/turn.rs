//! An iteration of a loop: what it always does, and what it seldom does.

use std::collections::BTreeSet;

use super::WITH_WORK;
use crate::hardware::WARP_LANES;
use crate::sass::code::blocks::Exit;
use crate::sass::code::listing::Listing;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::operands::Role;
use crate::sass::questions::matrix_loops::members;
use crate::sass::thresholds::THREADS_MEET;

/// A branch that passes work by in most turns, or an access that is switched off in most.
pub(super) struct Test {
    pub(super) at: usize,
    /// Executions of the work.
    pub(super) with_work: f64,
    /// True where the lanes of a warp have work in the same turns.
    pub(super) together: bool,
}

/// What a loop does in each turn, and the branches around what it seldom does.
pub(super) struct Turn<'a> {
    pub(super) listing: Listing<'a>,
    pub(super) of: usize,
    pub(super) inside: Vec<usize>,
    /// Issued whether there is work or not.
    pub(super) issued: Vec<usize>,
    /// Done whether there is work or not.
    pub(super) always: Vec<usize>,
    pub(super) tests: Vec<Test>,
}

impl<'a> Turn<'a> {
    pub(super) fn new(listing: &Listing<'a>, of: usize) -> Self {
        let sass = listing.sass;
        let flow = &sass.flow;
        let blocks = &flow.loops[of].blocks;
        let inside = members(listing, of);
        let executed = |at: usize| listing.executed(at);
        let mut tests = Vec::new();
        let mut seldom: BTreeSet<u32> = BTreeSet::new();
        for &branch in &inside {
            let Exit::Branch(target) = sass.entries[branch].exit() else { continue };
            let next = branch + 1;
            let stays = |at: usize| flow.block_of.get(at).is_some_and(|it| blocks.contains(it));
            if !stays(target) || !stays(next) || target == next {
                continue;
            }
            let work = if executed(target) < executed(next) { target } else { next };
            let block = flow.block_of[work];
            let only_from_here = flow.blocks[block as usize].before == [flow.block_of[branch]];
            let with_work = executed(work);
            if only_from_here && with_work <= WITH_WORK * executed(branch) {
                let lanes = lanes_on(listing, work) / WARP_LANES;
                let together = lanes >= THREADS_MEET.value * with_work;
                // What is never done, such as a slow path of a division, is no work.
                if with_work > 0.0 {
                    tests.push(Test { at: branch, with_work, together });
                }
                seldom.insert(block);
            }
        }
        let issued =
            if seldom.is_empty() { inside.clone() } else { each_turn(listing, of, &seldom) };
        tests.retain(|test| issued.binary_search(&test.at).is_ok());
        let off = |at: &usize| {
            let with_work = lanes_on(listing, *at) / WARP_LANES;
            let entry = &sass.entries[*at];
            let is_off = with_work > 0.0 && with_work <= WITH_WORK * executed(*at);
            entry.conditional && entry.exit() == Exit::Next && is_off
        };
        let switched: Vec<usize> = issued.iter().copied().filter(off).collect();
        let mut conditions = BTreeSet::new();
        let accesses = switched.iter().filter(|at| sass.entries[**at].family.is_memory());
        let mut reaching = Reaching::new(sass);
        for &at in accesses {
            let guard = sass.uses(at).iter().filter(|each| each.role == Role::Guard);
            let made = guard.flat_map(|each| reaching.definitions(at, *each).collect::<Vec<_>>());
            // Several accesses under one condition are one piece of work.
            if conditions.insert(made.collect::<Vec<_>>()) {
                let with_work = lanes_on(listing, at) / WARP_LANES;
                tests.push(Test { at, with_work, together: false });
            }
        }
        let mut always = issued.clone();
        always.retain(|at| switched.binary_search(at).is_err());
        Self { listing: *listing, of, inside, issued, always, tests }
    }

    pub(super) fn is_inside(&self, at: usize) -> bool {
        self.inside.binary_search(&at).is_ok()
    }

    pub(super) fn is_always(&self, at: usize) -> bool {
        self.always.binary_search(&at).is_ok()
    }
}

fn lanes_on(listing: &Listing, at: usize) -> f64 {
    listing.row(at).counters.thread_inst_executed_pred_on
}

/// The executed instructions of a loop that a turn comes to without some blocks.
fn each_turn(listing: &Listing, of: usize, without: &BTreeSet<u32>) -> Vec<usize> {
    let flow = &listing.sass.flow;
    let each = &flow.loops[of];
    let head = flow.block_of[each.head];
    let mut reached = BTreeSet::from([head]);
    // Mostly in the order of the code: a second look finds nothing.
    let mut grows = true;
    while grows {
        grows = false;
        for block in &each.blocks {
            let comes = !reached.contains(block)
                && !without.contains(block)
                && flow.blocks[*block as usize].before.iter().any(|from| reached.contains(from));
            if comes {
                reached.insert(*block);
                grows = true;
            }
        }
    }
    let places = reached.into_iter().map(|block| &flow.blocks[block as usize]);
    places
        .flat_map(|block| block.start..block.end)
        .filter(|&at| listing.executed(at) > 0.0)
        .collect()
}
