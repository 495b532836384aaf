//! The reasons for which a warp does not issue, and the names that ncu gives them.

/// Why a warp could not issue in a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StallReason {
    /// Waits for the block's other warps at a barrier.
    Barrier,
    /// Waits for a branch target.
    BranchResolving,
    /// The dispatcher holds the instruction back.
    Dispatch,
    /// Waits after EXIT for outstanding stores.
    Drain,
    /// Waits for an immediate constant that missed its cache.
    ImcMiss,
    /// The queue of local and global memory instructions is full.
    LgThrottle,
    /// Waits for data from L1TEX: global, local, texture.
    LongScoreboard,
    /// The math pipe is busy.
    MathPipeThrottle,
    /// Waits for a memory fence.
    Membar,
    /// The queue of memory input/output instructions is full: shared memory, special functions.
    MioThrottle,
    /// Anything else.
    Misc,
    /// Waits for an instruction fetch.
    NoInstruction,
    /// Could issue; another warp was picked.
    NotSelected,
    /// Issues: no stall at all.
    Selected,
    /// Waits for a result of shared memory or of a special function.
    ShortScoreboard,
    /// Sleeps by its own request.
    Sleeping,
    /// The texture queue is full.
    TexThrottle,
    /// Waits for the fixed latency of its own last instruction.
    Wait,
    /// Waits at a warp-group arrive (Hopper).
    WarpgroupArrive,
}

use StallReason as R;

/// Reason, the word in `smsp__average_warps_issue_stalled_<word>_per_issue_active.ratio`, and the
/// source page's column.
const NAMES: [(StallReason, &str, &str); StallReason::COUNT] = [
    (R::Barrier, "barrier", "stall_barrier"),
    (R::BranchResolving, "branch_resolving", "stall_branch_resolving"),
    (R::Dispatch, "dispatch_stall", "stall_dispatch"),
    (R::Drain, "drain", "stall_drain"),
    (R::ImcMiss, "imc_miss", "stall_imc"),
    (R::LgThrottle, "lg_throttle", "stall_lg"),
    (R::LongScoreboard, "long_scoreboard", "stall_long_sb"),
    (R::MathPipeThrottle, "math_pipe_throttle", "stall_math"),
    (R::Membar, "membar", "stall_membar"),
    (R::MioThrottle, "mio_throttle", "stall_mio"),
    (R::Misc, "misc", "stall_misc"),
    (R::NoInstruction, "no_instruction", "stall_no_inst"),
    (R::NotSelected, "not_selected", "stall_not_selected"),
    (R::Selected, "selected", "stall_selected"),
    (R::ShortScoreboard, "short_scoreboard", "stall_short_sb"),
    (R::Sleeping, "sleeping", "stall_sleep"),
    (R::TexThrottle, "tex_throttle", "stall_tex"),
    (R::Wait, "wait", "stall_wait"),
    (R::WarpgroupArrive, "gmma", "stall_gmma"),
];

impl StallReason {
    /// How many reasons there are.
    pub const COUNT: usize = 19;

    /// All reasons, in the order of their numbers.
    pub fn all() -> impl Iterator<Item = Self> {
        NAMES.iter().map(|(reason, ..)| *reason)
    }

    /// ncu's word for it in metric names.
    #[must_use]
    pub fn word(self) -> &'static str {
        NAMES[self as usize].1
    }

    /// Its column of ncu's source page: `stall_long_sb`.
    #[must_use]
    pub fn column(self) -> &'static str {
        NAMES[self as usize].2
    }

    /// The metric with the average cycles a warp spends so per issued instruction.
    #[must_use]
    pub fn ratio_metric(self) -> String {
        format!("smsp__average_warps_issue_stalled_{}_per_issue_active.ratio", self.word())
    }

    /// The reason behind a column of the source page (`stall_long_sb`), whatever its spelling.
    #[must_use]
    pub fn from_column(column: &str) -> Option<Self> {
        // `stall_sleep` stands beside `stall_sleeping (Not Issued)`, and `no_instructions` beside
        // `no_inst`: ncu is not of one mind, so a known beginning is enough.
        NAMES
            .iter()
            .find(|(_, word, label)| {
                column == *label || column.strip_prefix("stall_") == Some(word)
            })
            .or_else(|| match column {
                "stall_sleeping" => Some(&NAMES[R::Sleeping as usize]),
                "stall_no_instructions" => Some(&NAMES[R::NoInstruction as usize]),
                "stall_warpgroup_arrive" => Some(&NAMES[R::WarpgroupArrive as usize]),
                _ => None,
            })
            .map(|(reason, ..)| *reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_in_the_order_of_the_enum() {
        for (index, reason) in StallReason::all().enumerate() {
            assert_eq!(reason as usize, index, "{reason:?}");
        }
    }
}
