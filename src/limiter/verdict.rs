//! The whole kernel's time against its parts'.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the whole kernel's time is nearer to the sum of both parts than to the longer one, they
/// follow each other rather than overlap: latency (GTC 2010: "full time near the maximum: good
/// overlap; near the sum: latency"). The middle between the two is ours: half of the shorter part.
const POOR_OVERLAP: f64 = 0.5;

/// Latency is the limit only where at least this share of the whole time is beyond the longer part:
/// the deck asks for a time "significantly larger" than it. Where one part is short, the longer part
/// and the sum of both lie close together, and being near the sum says little: a kernel of which
/// arithmetic alone fills more than three quarters is bound by arithmetic, and the rest is what better
/// overlap could still give. The quarter is ours.
const SIGNIFICANT: f64 = 0.25;

/// Parts whose times differ by less than a fifth are balanced: improving one alone gains no more
/// than that. Ours.
const BALANCED: f64 = 0.8;

/// What limits a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Limiter {
    /// Its accesses to memory.
    Memory,
    /// Its instructions: arithmetic, shared memory and all else that is not global memory.
    Arithmetic,
    /// Neither: one waits for the other.
    Latency,
    /// Both alike.
    Balanced,
}

impl Limiter {
    /// The verdict in a word or two.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Memory => "memory-bound",
            Self::Arithmetic => "arithmetic-bound",
            Self::Latency => "latency",
            Self::Balanced => "balanced",
        }
    }
}

/// What limits a kernel, and the figures that say so.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// What limits it.
    pub limiter: Limiter,
    /// The longer part, ns.
    pub longest_ns: f64,
    /// Both parts, one after the other, ns.
    pub sum_ns: f64,
    /// The time of the whole kernel beyond its longer part, ns; 0 where there is none.
    pub exposed_ns: f64,
    /// That over the shorter part: 0 for perfect overlap, 1 for none, more where the whole kernel
    /// spends time that neither part has.
    pub exposed_share: f64,
    /// The share of the arithmetic that does not hide behind memory accesses:
    /// (full − memory-only) / arithmetic-only, 0 at least.
    pub arithmetic_exposed: f64,
}

/// What limits a kernel of which the whole, the accesses to memory alone and the arithmetic alone
/// take these times, ns. Times that are no positive numbers count as next to nothing.
#[must_use]
pub(crate) fn verdict(full: f64, memory: f64, arithmetic: f64) -> Verdict {
    let [full, memory, arithmetic] =
        [full, memory, arithmetic].map(|ns| if ns.is_finite() { ns.max(1e-9) } else { 1e-9 });
    let (longest, shorter) = (memory.max(arithmetic), memory.min(arithmetic));
    let exposed = (full - longest).max(0.0);
    let exposed_share = exposed / shorter;
    let limiter = if exposed_share >= POOR_OVERLAP && exposed >= SIGNIFICANT * full {
        Limiter::Latency
    } else if shorter >= BALANCED * longest {
        Limiter::Balanced
    } else if memory > arithmetic {
        Limiter::Memory
    } else {
        Limiter::Arithmetic
    };
    Verdict {
        limiter,
        longest_ns: longest,
        sum_ns: memory + arithmetic,
        exposed_ns: exposed,
        exposed_share,
        arithmetic_exposed: ((full - memory) / arithmetic).max(0.0),
    }
}
