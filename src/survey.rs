//! The survey: everything that a program does on its devices, before anything is profiled.
//!
//! The driver loads a small library of ours into the program ([`library`]), which asks CUPTI for records and
//! writes one file per process. [`run()`] runs a program so, [`file`] reads what came, [`group`] puts launches
//! of one kind together, and [`choose`] says which launches to collect in full. [`window`] surveys some seconds of a
//! process that runs already.

pub(crate) mod alike;
pub mod buffers;
mod busy;
pub mod callers;
pub mod choose;
pub mod cupti;
pub mod file;
mod given;
pub mod group;
pub mod handed_on;
pub mod in_a_row;
mod in_order;
pub mod library;
pub mod memory;
pub mod phase;
pub mod places;
pub(crate) mod ranks;
pub mod record;
pub mod run;
#[cfg(test)]
pub(crate) mod samples;
pub mod sequences;
pub(crate) mod waits;
pub mod window;

use record::Process;

/// False on a system whose driver loads no library into programs.
#[must_use]
pub fn is_possible() -> bool {
    library::is_there()
}

/// What a run of a program did on its devices.
#[derive(Debug, Clone, Default)]
pub struct Survey {
    /// The program's time, from its start to its end, ns.
    pub wall_ns: f64,
    /// Its processes that used CUDA, in the order in which they began to.
    pub processes: Vec<Process>,
    /// What the user should know, each one sentence.
    pub notices: Vec<String>,
}

impl Survey {
    /// Time in which at least one kernel, copy or fill was under way, ns.
    #[must_use]
    pub fn gpu_busy_ns(&self) -> f64 {
        let spans = self.processes.iter().flat_map(Process::device_spans);
        busy::union_ns(spans.collect())
    }

    /// Time in which at least one kernel was under way, ns.
    #[must_use]
    pub fn kernel_busy_ns(&self) -> f64 {
        let kernels = self.processes.iter().flat_map(|process| &process.kernels);
        busy::union_ns(kernels.map(|kernel| kernel.span).collect())
    }

    /// How many kernels were launched.
    #[must_use]
    pub fn launches(&self) -> usize {
        self.processes.iter().map(|process| process.kernels.len()).sum()
    }
}
