//! How much memory a process had allocated, over time: what ncu may have to save before it replays a kernel.
//!
//! Memory from a pool (`cudaMallocAsync`) counts until it is released, not as long as the pool keeps it, and what an
//! allocator of the program's own keeps (PyTorch's) counts wholly, because CUDA knows of nothing else.

use std::collections::{BTreeMap, HashMap};

use kind::{ARRAY, DEVICE, DEVICE_STATIC, MANAGED, MANAGED_STATIC, PINNED};

/// Kinds of memory, as CUPTI counts them; another is 0, for unknown.
pub mod kind {
    /// Host memory that is not page-locked.
    pub const PAGEABLE: u8 = 1;
    /// Page-locked host memory.
    pub const PINNED: u8 = 2;
    /// The device's memory.
    pub const DEVICE: u8 = 3;
    /// A CUDA array in the device's memory.
    pub const ARRAY: u8 = 4;
    /// Managed memory.
    pub const MANAGED: u8 = 5;
    /// A variable of the device.
    pub const DEVICE_STATIC: u8 = 6;
    /// A managed variable.
    pub const MANAGED_STATIC: u8 = 7;
}

/// Where memory is that a kernel may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Home {
    /// In a device's memory.
    Device(u32),
    /// Wherever it was used last: any device may reach it.
    Managed,
    /// In page-locked host memory, which any device may reach.
    Pinned,
}

/// An allocation or a release.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Change {
    time: u64,
    address: u64,
    /// Bytes allocated; `None` for a release.
    bytes: Option<u64>,
    home: Home,
}

impl Change {
    /// A record of CUPTI's; `None` for one that changes nothing that a kernel may write.
    pub(crate) fn new(
        time: u64,
        address: u64,
        bytes: u64,
        device: u32,
        operation: u8,
        kind: u8,
    ) -> Option<Self> {
        let home = match kind {
            DEVICE | ARRAY | DEVICE_STATIC => Home::Device(device),
            MANAGED | MANAGED_STATIC => Home::Managed,
            PINNED => Home::Pinned,
            _ => return None,
        };
        let bytes = match operation {
            1 => Some(bytes),
            2 => None,
            _ => return None,
        };
        (address != 0).then_some(Self { time, address, bytes, home })
    }
}

/// The memory of a process over time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Memory {
    /// For each place, from when on so many bytes were allocated there.
    steps: BTreeMap<Home, Vec<(u64, u64)>>,
    /// What was allocated at each address of devices' memory.
    allocations: BTreeMap<u64, Vec<Allocation>>,
}

/// Memory at an address, from when to when it was there.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Allocation {
    bytes: u64,
    from: u64,
    until: u64,
}

/// Allocations that began before an address, of which one may hold it: others were given back meanwhile.
const MOST_BEFORE: usize = 16;

/// Memory that a kernel can reach.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reach {
    /// In its device's memory, bytes; managed memory counts as if all of it was there.
    pub device: u64,
    /// In page-locked host memory, bytes.
    pub host: u64,
}

impl Reach {
    /// Both together, bytes.
    #[must_use]
    pub fn bytes(self) -> u64 {
        self.device.saturating_add(self.host)
    }
}

impl Memory {
    /// From records in any order.
    pub(crate) fn new(mut changes: Vec<Change>) -> Self {
        changes.sort_by_key(|change| change.time);
        let mut live: HashMap<u64, (Home, u64)> = HashMap::new();
        let mut totals: BTreeMap<Home, u64> = BTreeMap::new();
        let mut memory = Self::default();
        for change in changes {
            // What lay at the same address was given back without a record, as a reset of the device does.
            let before = live.remove(&change.address);
            let after = change.bytes.map(|bytes| (change.home, bytes));
            let there = memory.allocations.get_mut(&change.address);
            if let Some(last) = there.and_then(|all| all.last_mut()).filter(|_| before.is_some()) {
                last.until = last.until.min(change.time);
            }
            if let Some((_, bytes)) = after.filter(|(home, _)| *home != Home::Pinned) {
                let allocation = Allocation { bytes, from: change.time, until: u64::MAX };
                memory.allocations.entry(change.address).or_default().push(allocation);
            }
            if let Some((home, bytes)) = before {
                let total = totals.entry(home).or_default();
                *total = total.saturating_sub(bytes);
            }
            if let Some((home, bytes)) = after {
                live.insert(change.address, (home, bytes));
                let total = totals.entry(home).or_default();
                *total = total.saturating_add(bytes);
            }
            for home in before.into_iter().chain(after).map(|(home, _)| home) {
                let bytes = totals.get(&home).copied().unwrap_or(0);
                memory.steps.entry(home).or_default().push((change.time, bytes));
            }
        }
        memory
    }

    /// What a kernel on a device could reach at a time; `None` where no allocation was recorded.
    #[must_use]
    pub fn at(&self, device: u32, time: u64) -> Option<Reach> {
        let at = |home: Home| {
            let steps = self.steps.get(&home).map_or(&[][..], Vec::as_slice);
            let next = steps.partition_point(|(from, _)| *from <= time);
            next.checked_sub(1).and_then(|last| steps.get(last)).map_or(0, |(_, bytes)| *bytes)
        };
        (!self.steps.is_empty()).then(|| Reach {
            device: at(Home::Device(device)).saturating_add(at(Home::Managed)),
            host: at(Home::Pinned),
        })
    }

    /// Where the memory ends that an address lay in at a time; `None` where it was none of a device's.
    #[must_use]
    pub(crate) fn end_of(&self, address: u64, time: u64) -> Option<u64> {
        let before = self.allocations.range(..=address).rev().take(MOST_BEFORE);
        // A program may allocate at one address a million times.
        let mut ends = before.filter_map(|(begin, all)| {
            let next = all.partition_point(|each| each.from <= time);
            let last = all.get(next.checked_sub(1)?).filter(|each| time <= each.until)?;
            Some(begin.saturating_add(last.bytes))
        });
        ends.find(|end| address < *end)
    }

    /// The most that lay in a device's memory at once, bytes, with all managed memory.
    #[must_use]
    pub fn peak(&self, device: u32) -> u64 {
        let times = [Home::Device(device), Home::Managed].into_iter();
        let times = times.filter_map(|home| self.steps.get(&home)).flatten();
        let at = |time: u64| self.at(device, time).map_or(0, |reach| reach.device);
        times.map(|(time, _)| at(*time)).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GB: u64 = 1_000_000_000;

    fn memory(changes: &[(u64, u64, u64, u32, u8, u8)]) -> Memory {
        let of = |&(time, address, bytes, device, operation, kind)| {
            Change::new(time, address, bytes, device, operation, kind)
        };
        Memory::new(changes.iter().filter_map(of).collect())
    }

    fn device(memory: &Memory, device: u32, time: u64) -> u64 {
        memory.at(device, time).unwrap().device
    }

    #[test]
    fn allocations_add_up_until_they_are_released() {
        // Out of order, as buffers of several threads come; a release need not say how much.
        let memory = memory(&[
            (30, 0x1000, 0, 0, 2, DEVICE),
            (10, 0x1000, 3 * GB, 0, 1, DEVICE),
            (20, 0x2000, GB, 0, 1, ARRAY),
            (20, 0x3000, 5 * GB, 1, 1, DEVICE_STATIC),
        ]);
        let at = |time| device(&memory, 0, time);
        assert_eq!([9, 10, 19, 20, 30, 99].map(at), [0, 3 * GB, 3 * GB, 4 * GB, GB, GB]);
        assert_eq!((memory.peak(0), memory.peak(1), memory.peak(2)), (4 * GB, 5 * GB, 0));
    }

    #[test]
    fn every_device_reaches_managed_and_page_locked_memory() {
        let memory = memory(&[
            (1, 0x1000, GB, 0, 1, DEVICE),
            (2, 0x2000, 2 * GB, 0, 1, MANAGED),
            (3, 0x3000, 4 * GB, 0, 1, PINNED),
            (4, 0x4000, 8 * GB, 0, 1, 1),
        ]);
        assert_eq!(memory.at(0, 9), Some(Reach { device: 3 * GB, host: 4 * GB }));
        assert_eq!(memory.at(1, 9), Some(Reach { device: 2 * GB, host: 4 * GB }));
        assert_eq!(memory.at(1, 9).unwrap().bytes(), 6 * GB);
        assert_eq!((memory.peak(0), memory.peak(1)), (3 * GB, 2 * GB));
    }

    #[test]
    fn an_address_is_allocated_once() {
        // A device was reset: its allocations went without records, and the address comes again.
        let reset = memory(&[(1, 0x1000, GB, 0, 1, DEVICE), (2, 0x1000, 2 * GB, 0, 1, DEVICE)]);
        assert_eq!((device(&reset, 0, 1), device(&reset, 0, 2)), (GB, 2 * GB));
        // Released twice, never allocated, or failed.
        let odd = memory(&[
            (1, 0x1000, GB, 0, 1, DEVICE),
            (2, 0x1000, GB, 0, 2, DEVICE),
            (3, 0x1000, GB, 0, 2, DEVICE),
            (4, 0x5000, GB, 0, 2, DEVICE),
            (5, 0, GB, 0, 1, DEVICE),
        ]);
        assert_eq!((device(&odd, 0, 9), odd.peak(0)), (0, GB));
    }

    #[test]
    fn an_address_lies_in_what_was_there_at_the_time() {
        let memory = memory(&[
            (10, 0x1000, 0x100, 0, 1, DEVICE),
            (20, 0x1000, 0, 0, 2, DEVICE),
            (30, 0x1000, 0x800, 0, 1, DEVICE),
            (30, 0x4000, 0x100, 0, 1, PINNED),
        ]);
        let end = |address, time| memory.end_of(address, time);
        assert_eq!(
            [9, 10, 25, 30].map(|time| end(0x1080, time)),
            [None, Some(0x1100), None, Some(0x1800)]
        );
        assert_eq!((end(0x1800, 40), end(0x0fff, 40), end(0x4000, 40)), (None, None, None));
    }

    #[test]
    fn nothing_is_known_where_nothing_was_recorded() {
        assert_eq!(Memory::default().at(0, 1), None);
        assert_eq!(memory(&[(1, 0x1000, GB, 0, 3, DEVICE)]), Memory::default());
    }
}
