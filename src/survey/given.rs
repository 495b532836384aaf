//! What the launches of a process were given, and in which order.

use std::collections::HashMap;

use super::buffers::{Buffer, Buffers};
use super::record::{Argument, Kernel, Process};

/// The parameters of a launch that are addresses, and what lies there.
pub(super) type Arguments = Vec<(Argument, Buffer)>;

/// What the launches of a process were given.
pub(super) struct Given<'a> {
    pub process: &'a Process,
    /// By launch; nothing where it is not known.
    pub arguments: Vec<Arguments>,
    /// The launches that are given a buffer, by its address, in the order in which the device began them.
    pub users: HashMap<u64, Vec<u32>>,
    /// For each launch the first one of the same kernel with the same memory, by when it began, ns.
    pub first: Vec<u64>,
}

impl<'a> Given<'a> {
    pub(super) fn new(process: &'a Process) -> Self {
        let buffers = Buffers::new(process);
        let of = |kernel: &Kernel| buffers.arguments_of(kernel).unwrap_or_default();
        let arguments: Vec<Arguments> = process.kernels.iter().map(of).collect();
        let mut order: Vec<usize> = (0..process.kernels.len()).collect();
        order.sort_by_key(|&at| process.kernels[at].span.start);
        let mut users: HashMap<u64, Vec<u32>> = HashMap::new();
        let mut known: HashMap<(u32, Vec<u64>), u64> = HashMap::new();
        let mut first = vec![0; process.kernels.len()];
        for at in order {
            let kernel = &process.kernels[at];
            let addresses: Vec<u64> = arguments[at].iter().map(|(_, it)| it.address).collect();
            for address in &addresses {
                let users = users.entry(*address).or_default();
                if users.last() != Some(&(at as u32)) {
                    users.push(at as u32);
                }
            }
            first[at] = *known.entry((kernel.shape, addresses)).or_insert(kernel.span.start);
        }
        Self { process, arguments, users, first }
    }

    /// The first launch behind this one that is given a buffer at this address.
    pub(super) fn next_user(&self, address: u64, behind: u32) -> Option<u32> {
        let users = self.users.get(&address)?;
        let start = |at: u32| self.process.kernels[at as usize].span.start;
        let next = users.partition_point(|&user| start(user) <= start(behind));
        users.get(next).copied()
    }

    /// A launch's kernel, as the compiler spells it.
    pub(super) fn kernel(&self, at: u32) -> &'a str {
        let shape = self.process.shapes.get(self.process.kernels[at as usize].shape as usize);
        shape.map_or("", |shape| &shape.kernel)
    }
}
