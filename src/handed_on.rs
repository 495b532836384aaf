//! Memory that one kernel hands on to the next on its stream, as a survey saw it.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a launch and one beside it on its stream are both given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HandedOn {
    /// The other launch's kernel, its name in C++.
    pub kernel: String,
    /// The pointers to it.
    pub pointers: Vec<Pointers>,
}

/// Where the pointers to one piece of memory stand among the bytes of two launches' parameters.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
pub struct Pointers {
    /// In this launch's.
    pub own: u32,
    /// In the other launch's.
    pub other: u32,
    /// How much memory it is, bytes.
    pub bytes: u64,
}

impl HandedOn {
    /// True for the same kernel and the same pointers, wherever they lead.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        let places = |each: &Self| -> Vec<[u32; 2]> {
            each.pointers.iter().map(|pointers| [pointers.own, pointers.other]).collect()
        };
        self.kernel == other.kernel && places(self) == places(other)
    }

    /// True for the same of this launch's pointers, whatever the other launch makes of them.
    #[must_use]
    pub fn has_places_of(&self, other: &Self) -> bool {
        let places = |each: &Self| -> BTreeSet<u32> {
            each.pointers.iter().map(|pointers| pointers.own).collect()
        };
        places(self) == places(other)
    }

    /// How much memory it is in all, bytes.
    #[must_use]
    pub fn bytes(&self) -> f64 {
        // The other launch may be given the same memory twice, to read and to write.
        let each: BTreeMap<u32, u64> = self.pointers.iter().map(|it| (it.own, it.bytes)).collect();
        each.into_values().map(|bytes| bytes as f64).sum()
    }
}

/// Launches that follow one another on a stream with nothing copied or filled between them, and what each was given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sequence {
    /// The launches in their order.
    pub launches: Vec<Link>,
    /// How often the program launches them so.
    pub times: u64,
    /// The buffers, by their number, that a later launch is given, other than one like the first that is given it here, which may
    /// store it anew.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wanted: Vec<u32>,
}

/// A launch in a sequence.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Link {
    /// The index of its group.
    pub group: usize,
    /// Where its pointers stand among the bytes of its parameters, each with the number of the buffer to which it points.
    pub given: Vec<[u32; 2]>,
}

/// What a launch has in common with others that one kernel could do the work of, as each works element by element.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chain {
    /// How many launches there are, this one included.
    pub launches: usize,
    /// Their kernels, each once, in the order of their first launches.
    pub kernels: Vec<String>,
    /// What an earlier one of them stored, and this one loads.
    pub loaded: Vec<Pointers>,
    /// What this one stores, and only later ones of them load.
    pub stored: Vec<Pointers>,
}

/// What the launches before and after a launch have to do with it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Neighbours {
    /// The index of its group in the survey, where the program's sequences name it.
    pub group: Option<usize>,
    /// How many launches its group has.
    pub launches: u64,
    /// For how long the device has nothing to do before each of them, because the launch comes late, ns.
    pub pause_ns: u64,
    /// The launches around it that one kernel could do the work of, where there are three or more.
    pub chain: Option<Chain>,
    /// What it stores and a later launch stores to the same place, as much as that one stores, before anything loads it.
    pub overwritten: Option<HandedOn>,
    /// What the launch before it may have written to memory that this one is given as well.
    pub before: Option<HandedOn>,
    /// What this one may write, and the launch after it, but no later one, is given.
    pub after: Option<HandedOn>,
    /// What this launch and the one before it are both given, and may both read.
    pub read: Option<HandedOn>,
}
