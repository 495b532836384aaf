//! Launches of a program that are of one kind, as data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::device::residency::residency;
use crate::handed_on::HandedOn;
use crate::kernel_name;
use crate::survey::Survey;
use crate::survey::group::Group;

/// Launches of one kernel and code, grid, block and class of duration.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProgramGroup {
    /// The kernel's name in C++.
    pub kernel: String,
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// How many there were.
    pub launches: u64,
    /// Their time together, ns.
    pub total_ns: f64,
    /// Their share of the time of all kernels, 0 to 1.
    pub share: f64,
    /// The duration in the middle, ns.
    pub median_ns: f64,
    /// Durations between which nine in ten lie, ns.
    pub range_ns: [f64; 2],
    /// Index into `launches` of the one that was profiled; null where none was.
    pub launch: Option<usize>,
    /// How they fill the device; null where the survey does not know.
    #[serde(default)]
    pub residency: Option<GroupResidency>,
    /// The most memory that any of the launches could reach, bytes: allocated on its device, managed, or page-locked
    /// on the host. ncu may have to save and restore so much. Null where no allocation was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reachable_bytes: Option<u64>,
    /// How many of them follow one another on a stream, each with memory of its own: one launch could do the work of all. Null
    /// where none do, or where it is not known what memory they were given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_a_row: Option<u64>,
    /// How many launches make up a turn, where these are launched in turn with others, and no turn needs what another made; on
    /// average where turns differ. Null where nothing is launched between two of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    /// Where the pointers stand, among the bytes of a launch's parameters, that launches in a row share and that nothing may be stored
    /// through, for one to do the work of all; absent where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub if_only_read: Vec<u32>,
    /// For how long the device has nothing to do before each of them, because the host launches more slowly than the device works: the
    /// median, ns. Null where there are no such pauses, or only a few.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause_ns: Option<u64>,
    /// What the launch before each may have stored, and it is given as well; null where the launches have no such neighbour in
    /// common, or where it is not known what memory they were given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<HandedOn>,
    /// What it may store itself for the launch behind it, and for no later one; null likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<HandedOn>,
    /// What the launch before each and it are both given, whether they read it or write it; null likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<HandedOn>,
}

impl ProgramGroup {
    /// A group of a survey; its launches are not profiled yet.
    pub(super) fn new(survey: &Survey, group: &Group) -> Self {
        Self {
            kernel: kernel_name::demangled(&group.shape.kernel).into_owned(),
            grid: group.shape.grid,
            block: group.shape.block,
            launches: group.launches.len() as u64,
            total_ns: group.total_ns,
            share: group.share,
            median_ns: group.median_ns,
            range_ns: group.range_ns,
            launch: None,
            residency: GroupResidency::of(survey, group),
            reachable_bytes: None,
            in_a_row: None,
            turn: None,
            if_only_read: Vec::new(),
            pause_ns: None,
            before: None,
            after: None,
            read: None,
        }
    }

    /// True for a launch of this kernel, whichever way its name is written, with this grid and block.
    pub(super) fn fits(&self, kernel: &str, grid: [u32; 3], block: [u32; 3]) -> bool {
        self.grid == grid
            && self.block == block
            && kernel_name::base(&self.kernel) == kernel_name::base(kernel)
    }

    /// True for a kernel of the same template arguments, as far as both names have them.
    pub(super) fn is_of(&self, kernel: &str) -> bool {
        kernel_name::same(&self.kernel, kernel)
    }
}

/// What a launch takes of an SM, and what an SM holds of it, without counters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupResidency {
    /// Registers per thread.
    pub registers: u32,
    /// Static and dynamic shared memory per block, bytes.
    pub shared_bytes: u64,
    /// Blocks that an SM holds at once.
    pub blocks_per_sm: u32,
    /// The theoretical occupancy, 0 to 1.
    pub occupancy: f64,
    /// What keeps it below 1: `registers`, `shared memory`, `block size` or `block slots`; null where it is 1.
    pub limited_by: Option<String>,
    /// The grid over what all SMs hold at once.
    pub waves: f64,
}

impl GroupResidency {
    fn of(survey: &Survey, group: &Group) -> Option<Self> {
        let launch = group.launches.first()?;
        let process = survey.processes.get(launch.process as usize)?;
        // All of one shape on the device of the first; a program's devices are nearly always alike.
        let device = process.devices.values().next()?;
        let shape = &group.shape;
        let found = residency(shape, device)?;
        Some(Self {
            registers: shape.registers,
            shared_bytes: u64::from(shape.static_shared) + u64::from(shape.dynamic_shared),
            blocks_per_sm: found.blocks_per_sm,
            occupancy: found.occupancy,
            limited_by: found.limit.map(str::to_owned),
            waves: found.waves,
        })
    }
}
