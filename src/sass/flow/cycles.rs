//! Instructions that lie on a cycle of the data flow: they use, by way of others, what they made themselves.

use crate::sass::code::marks::Marks;

/// Those on a cycle among all that some instructions are made of. `sources` puts the places of what an
/// instruction is made of behind what is in the list.
///
/// A cycle is a strongly connected component, found by Tarjan's algorithm (1972): each instruction is looked
/// at once, however many are asked for.
#[must_use]
pub fn cycles(
    count: usize,
    roots: impl Iterator<Item = usize>,
    mut sources: impl FnMut(usize, &mut Vec<u32>),
) -> Marks {
    let mut turning = Marks::new(count);
    let mut pending = Marks::new(count);
    // In the order in which they were come to, from 1, and the earliest that each leads back to.
    let mut order = vec![0_u32; count];
    let mut earliest = vec![0_u32; count];
    let mut met = 0;
    let mut component: Vec<u32> = Vec::new();
    // The way to the instruction that is looked at, each with where its sources begin among those that are open.
    let mut way: Vec<(usize, usize)> = Vec::new();
    let mut open: Vec<u32> = Vec::new();
    for root in roots {
        if order[root] > 0 {
            continue;
        }
        open.push(root as u32);
        loop {
            let (at, first) = way.last().copied().unwrap_or((root, 0));
            if open.len() > first
                && let Some(next) = open.pop()
            {
                let to = next as usize;
                if order[to] == 0 {
                    met += 1;
                    (order[to], earliest[to]) = (met, met);
                    pending.insert(to);
                    component.push(next);
                    way.push((to, open.len()));
                    sources(to, &mut open);
                } else if pending[to] {
                    earliest[at] = earliest[at].min(order[to]);
                    if to == at {
                        turning.insert(at);
                    }
                }
                continue;
            }
            if earliest[at] == order[at] {
                let is_cycle = component.last().is_some_and(|&last| last as usize != at);
                while let Some(of_it) = component.pop().map(|of_it| of_it as usize) {
                    pending.remove(of_it);
                    if is_cycle {
                        turning.insert(of_it);
                    }
                    if of_it == at {
                        break;
                    }
                }
            }
            way.pop();
            let Some(&(before, _)) = way.last() else { break };
            earliest[before] = earliest[before].min(earliest[at]);
        }
    }
    turning
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(edges: &[(usize, u32)], count: usize, roots: &[usize]) -> Vec<usize> {
        let sources = |at: usize, open: &mut Vec<u32>| {
            open.extend(edges.iter().filter(|(from, _)| *from == at).map(|(_, to)| *to));
        };
        cycles(count, roots.iter().copied(), sources).iter().collect()
    }

    #[test]
    fn what_leads_back_to_itself_is_on_a_cycle() {
        // 0 to 1 to 2 to 1, and on to 3; 4 to itself.
        let edges = [(0, 1), (1, 2), (2, 1), (2, 3), (4, 4), (4, 0)];
        assert_eq!(of(&edges, 5, &[0]), [1, 2]);
        assert_eq!(of(&edges, 5, &[0, 4]), [1, 2, 4]);
        assert!(of(&edges, 5, &[3]).is_empty());
    }

    proptest! {
        #[test]
        fn it_is_what_a_walk_from_each_comes_back_to(
            edges in prop::collection::vec((0_usize..12, 0_u32..12), 0..30)
        ) {
            let comes_back = |&start: &usize| {
                let (mut seen, mut open) = (vec![false; 12], vec![start]);
                while let Some(at) = open.pop() {
                    for &(_, to) in edges.iter().filter(|(from, _)| *from == at) {
                        if to as usize == start {
                            return true;
                        }
                        if !std::mem::replace(&mut seen[to as usize], true) {
                            open.push(to as usize);
                        }
                    }
                }
                false
            };
            let expected: Vec<usize> = (0..12).filter(comes_back).collect();
            prop_assert_eq!(of(&edges, 12, &(0..12).collect::<Vec<_>>()), expected);
        }
    }
}
