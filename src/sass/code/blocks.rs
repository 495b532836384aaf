//! The flow of control: blocks, their order, and the loops among them.

/// How an instruction passes control on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// To the next instruction.
    Next,
    /// To a target, or on where the condition fails.
    Branch(usize),
    /// To a target.
    Jump(usize),
    /// Nowhere that is known: an exit, a return, an indirect branch.
    End,
    /// As [`Exit::End`] or on where the condition fails.
    MaybeEnd,
}

/// A run of instructions that control enters at its first and leaves at its last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The first instruction.
    pub start: usize,
    /// One past the last.
    pub end: usize,
    /// Blocks that control comes from.
    pub before: Vec<u32>,
}

/// A natural loop: a branch back to a block that every way to the branch goes through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loop {
    /// The first instruction of the loop's head.
    pub head: usize,
    /// The branch back.
    pub back: usize,
    /// The loop's blocks, ascending.
    pub blocks: Vec<u32>,
}

impl Loop {
    /// True for a block of the loop.
    #[must_use]
    pub fn holds(&self, block: u32) -> bool {
        self.blocks.binary_search(&block).is_ok()
    }

    /// True where all of its blocks are another one's.
    #[must_use]
    pub fn lies_in(&self, outer: &Self) -> bool {
        self.blocks.iter().all(|&block| outer.holds(block))
    }
}

/// Blocks and loops of a kernel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flow {
    /// The blocks in address order.
    pub blocks: Vec<Block>,
    /// The block of each instruction.
    pub block_of: Vec<u32>,
    /// The loops, in the order of their branches; those with one head are one loop.
    pub loops: Vec<Loop>,
    /// For each block the smallest loop that holds it, by its place in `loops`.
    innermost: Vec<Option<u32>>,
}

impl Flow {
    /// The flow among so many instructions in address order, by how each passes control on. Code that
    /// nothing branches to, such as called functions, begins anew.
    #[must_use]
    pub fn new(count: usize, exit: impl Fn(usize) -> Exit) -> Self {
        Self::with_choices(count, exit, &[])
    }

    /// The same with indirect branches, as of a `switch`, each with the place at which its ways meet again, ascending. Where such a branch
    /// goes stands in a table; each of its ways begins with a block that nothing else leads to, before the place where they meet.
    #[must_use]
    pub fn with_choices(
        count: usize,
        exit: impl Fn(usize) -> Exit,
        choices: &[(usize, usize)],
    ) -> Self {
        let (mut blocks, block_of) = split(count, &exit);
        let mut after: Vec<Vec<u32>> =
            blocks.iter().map(|block| successors(exit(block.end - 1), block, &block_of)).collect();
        for (from, targets) in (0_u32..).zip(&after) {
            for &to in targets {
                blocks[to as usize].before.push(from);
            }
        }
        let lonely: Vec<bool> = blocks.iter().map(|block| block.before.is_empty()).collect();
        for &(choice, meet) in choices {
            let (from, end) = (block_of[choice], block_of.get(meet).copied().unwrap_or(0));
            for to in (from + 1..end).filter(|&to| lonely[to as usize]) {
                after[from as usize].push(to);
                blocks[to as usize].before.push(from);
            }
        }
        let dominators = Dominators::new(&blocks, &after);
        let mut loops: Vec<Loop> = Vec::new();
        for (from, targets) in (0_u32..).zip(&after) {
            for &head in targets {
                if !dominators.dominates(head, from) {
                    continue;
                }
                let body = body(&blocks, head, from);
                let (start, back) = (blocks[head as usize].start, blocks[from as usize].end - 1);
                if let Some(known) = loops.iter_mut().find(|each| each.head == start) {
                    known.back = known.back.max(back);
                    known.blocks.extend(body);
                    known.blocks.sort_unstable();
                    known.blocks.dedup();
                } else {
                    loops.push(Loop { head: start, back, blocks: body });
                }
            }
        }
        let innermost = smallest(&loops, blocks.len());
        Self { blocks, block_of, loops, innermost }
    }

    /// The smallest loop that holds an instruction, by its place in [`Flow::loops`].
    #[must_use]
    pub fn innermost(&self, index: usize) -> Option<usize> {
        let block = *self.block_of.get(index)?;
        self.innermost[block as usize].map(|at| at as usize)
    }

    /// True for an instruction of a loop.
    #[must_use]
    pub fn is_in(&self, of: &Loop, index: usize) -> bool {
        self.block_of.get(index).is_some_and(|&block| of.holds(block))
    }

    /// The instructions of a loop, ascending.
    pub fn places(&self, of: &Loop) -> impl Iterator<Item = usize> {
        let blocks = of.blocks.iter().map(|&block| &self.blocks[block as usize]);
        blocks.flat_map(|block| block.start..block.end)
    }
}

/// The smallest loop that holds each block; the first of two of one size.
fn smallest(loops: &[Loop], blocks: usize) -> Vec<Option<u32>> {
    let mut smallest: Vec<Option<u32>> = vec![None; blocks];
    for (place, each) in (0_u32..).zip(loops) {
        for &block in &each.blocks {
            let known = &mut smallest[block as usize];
            if known.is_none_or(|at| each.blocks.len() < loops[at as usize].blocks.len()) {
                *known = Some(place);
            }
        }
    }
    smallest
}

/// Blocks without their predecessors, and the block of each instruction.
fn split(count: usize, exit: impl Fn(usize) -> Exit) -> (Vec<Block>, Vec<u32>) {
    let mut leads = vec![false; count];
    for index in 0..count {
        let exit = exit(index);
        if let Exit::Branch(target) | Exit::Jump(target) = exit
            && let Some(lead) = leads.get_mut(target)
        {
            *lead = true;
        }
        if exit != Exit::Next
            && let Some(lead) = leads.get_mut(index + 1)
        {
            *lead = true;
        }
    }
    let mut blocks: Vec<Block> = Vec::new();
    let mut block_of = Vec::with_capacity(count);
    for (index, leads) in leads.into_iter().enumerate() {
        match blocks.last_mut() {
            Some(block) if !leads => block.end = index + 1,
            _ => blocks.push(Block { start: index, end: index + 1, before: Vec::new() }),
        }
        block_of.push(u32::try_from(blocks.len() - 1).unwrap_or(u32::MAX));
    }
    (blocks, block_of)
}

fn successors(exit: Exit, block: &Block, block_of: &[u32]) -> Vec<u32> {
    let next = block_of.get(block.end).copied();
    let at = |target: usize| block_of.get(target).copied();
    match exit {
        Exit::Next | Exit::MaybeEnd => next.into_iter().collect(),
        Exit::Branch(target) => {
            let mut both: Vec<u32> = next.into_iter().chain(at(target)).collect();
            both.dedup();
            both
        }
        Exit::Jump(target) => at(target).into_iter().collect(),
        Exit::End => Vec::new(),
    }
}

/// The blocks from which `back` is reached without passing `head`, and `head`.
fn body(blocks: &[Block], head: u32, back: u32) -> Vec<u32> {
    let mut seen = vec![false; blocks.len()];
    seen[head as usize] = true;
    let mut open = vec![back];
    while let Some(block) = open.pop() {
        if !std::mem::replace(&mut seen[block as usize], true) {
            open.extend(&blocks[block as usize].before);
        }
    }
    (0_u32..).zip(seen).filter_map(|(block, seen)| seen.then_some(block)).collect()
}

/// Immediate dominators, by the iteration of Cooper, Harvey and Kennedy (2001).
struct Dominators {
    /// Of each block; the virtual root is `blocks.len()`.
    immediate: Vec<Option<usize>>,
    /// Place of each block in the order; the root is first.
    place: Vec<usize>,
}

impl Dominators {
    fn new(blocks: &[Block], after: &[Vec<u32>]) -> Self {
        let root = blocks.len();
        let (order, is_entry) = reverse_postorder(blocks, after);
        let mut place = vec![usize::MAX; root + 1];
        place[root] = 0;
        for (index, &block) in order.iter().enumerate() {
            place[block] = index + 1;
        }
        let mut found = Self { immediate: vec![None; root + 1], place };
        found.immediate[root] = Some(root);
        loop {
            let mut changed = false;
            for &block in &order {
                let entry = is_entry[block].then_some(root);
                let known = blocks[block].before.iter().map(|&before| before as usize);
                let known = known.filter(|&before| found.immediate[before].is_some());
                let new = entry.into_iter().chain(known).reduce(|a, b| found.meet(a, b));
                if new.is_some() && new != found.immediate[block] {
                    found.immediate[block] = new;
                    changed = true;
                }
            }
            if !changed {
                return found;
            }
        }
    }

    /// The nearest common dominator.
    fn meet(&self, mut a: usize, mut b: usize) -> usize {
        while a != b {
            let later = if self.place[a] > self.place[b] { &mut a } else { &mut b };
            match self.immediate[*later] {
                Some(up) if up != *later => *later = up,
                _ => return self.immediate.len() - 1,
            }
        }
        a
    }

    fn dominates(&self, over: u32, block: u32) -> bool {
        let (over, mut block) = (over as usize, block as usize);
        loop {
            if block == over {
                return true;
            }
            match self.immediate[block] {
                Some(up) if up != block => block = up,
                _ => return false,
            }
        }
    }
}

/// All blocks, each after those before it except in loops, and whether each is an entry: the first,
/// and those that no other entry reaches.
fn reverse_postorder(blocks: &[Block], after: &[Vec<u32>]) -> (Vec<usize>, Vec<bool>) {
    let mut seen = vec![false; blocks.len()];
    let mut is_entry = vec![false; blocks.len()];
    let mut trees: Vec<Vec<usize>> = Vec::new();
    // Blocks without predecessors first: a loop that nothing enters comes last.
    let lonely = (0..blocks.len()).filter(|&block| block == 0 || blocks[block].before.is_empty());
    for entry in lonely.chain(0..blocks.len()) {
        if seen[entry] {
            continue;
        }
        seen[entry] = true;
        is_entry[entry] = true;
        let mut order = Vec::new();
        let mut stack = vec![(entry, 0)];
        while let Some((block, next)) = stack.last_mut() {
            if let Some(&to) = after[*block].get(*next) {
                *next += 1;
                if !seen[to as usize] {
                    seen[to as usize] = true;
                    stack.push((to as usize, 0));
                }
            } else {
                order.push(*block);
                stack.pop();
            }
        }
        order.reverse();
        trees.push(order);
    }
    // A later tree may lead into an earlier one, never the other way: later trees go first.
    (trees.into_iter().rev().flatten().collect(), is_entry)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn flow(exits: &[Exit]) -> Flow {
        Flow::new(exits.len(), |index| exits[index])
    }

    use Exit::{Branch, End, Jump, MaybeEnd, Next};

    #[test]
    fn a_branch_back_is_a_loop() {
        // 0; 1 head; 2 exit if; 3 back to 1; 4 end.
        let flow = flow(&[Next, Next, MaybeEnd, Branch(1), End]);
        assert_eq!(flow.loops.len(), 1);
        assert_eq!((flow.loops[0].head, flow.loops[0].back), (1, 3));
        assert_eq!([0, 2, 4].map(|index| flow.innermost(index)), [None, Some(0), None]);
    }

    #[test]
    fn a_loop_goes_on_behind_a_choice() {
        // 1 head; 2 goes by a table to 3 or 5, which both go on at 6; 7 back to 1; 9 is called.
        let exits = [Next, Next, End, Next, Jump(6), Next, Next, Branch(1), End, End];
        assert_eq!(flow(&exits).loops, []);
        let found = Flow::with_choices(exits.len(), |index| exits[index], &[(2, 6)]);
        assert_eq!((found.loops[0].head, found.loops[0].back), (1, 7));
        assert!([3, 5, 6].iter().all(|&at| found.is_in(&found.loops[0], at)));
        assert!(found.blocks[found.block_of[9] as usize].before.is_empty());
    }

    #[test]
    fn the_inner_of_two_loops_is_found() {
        // 1 outer head; 2 inner head; 3 inner back; 4 outer back.
        let flow = flow(&[Next, Next, Next, Branch(2), Branch(1), End]);
        let backs: Vec<usize> = flow.loops.iter().map(|each| each.back).collect();
        assert_eq!(backs, [3, 4]);
        assert_eq!((flow.innermost(3), flow.innermost(1)), (Some(0), Some(1)));
    }

    #[test]
    fn a_cold_block_at_the_end_that_jumps_back_is_none() {
        // 1 branches to the cold block 4, which rejoins at 2.
        let flow = flow(&[Next, Branch(4), Next, End, Jump(2)]);
        assert_eq!(flow.loops, []);
        let joins: Vec<usize> = flow.blocks.iter().map(|block| block.before.len()).collect();
        assert_eq!(joins, [0, 2, 1]);
    }

    #[test]
    fn ways_through_a_loop_and_functions_behind_the_end_are_no_matter() {
        // 1 head; 1 branches over 2; 3 back. 5 to 6: a called function with a loop of its own.
        let flow = flow(&[Next, Branch(3), Next, Branch(1), End, Next, Branch(5), End]);
        let heads: Vec<usize> = flow.loops.iter().map(|each| each.head).collect();
        assert_eq!(heads, [1, 5]);
        assert_eq!(flow.innermost(2), Some(0));
    }

    proptest! {
        #[test]
        fn any_flow_is_taken(exits in prop::collection::vec((0_u8..5, 0_usize..40), 0..40)) {
            let exits: Vec<Exit> = exits
                .into_iter()
                .map(|(kind, to)| match kind {
                    0 => Next,
                    1 => Branch(to),
                    2 => Jump(to),
                    3 => End,
                    _ => MaybeEnd,
                })
                .collect();
            let flow = flow(&exits);
            prop_assert_eq!(flow.block_of.len(), exits.len());
        }
    }
}
