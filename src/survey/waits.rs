//! Kernels that wait for other devices or ranks while they run. ncu replays a launch alone: such a kernel then
//! waits for ever.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::Survey;
use super::group::Group;
use crate::kernel_name;

/// Whom a kernel waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Peer {
    /// The same kernel of other ranks: collectives of communication libraries.
    Ranks,
    /// Its own blocks on other devices: a cooperative launch over several.
    Devices,
}

impl Peer {
    /// Whom, in words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Ranks => "other ranks",
            Self::Devices => "its blocks on other devices",
        }
    }
}

/// How the functions of communication libraries begin. NCCL: `ncclKernel_…` until 2.17, `ncclDevKernel_…`
/// since, `ncclSym…` for symmetric memory since 2.27.
const BEGINNINGS: [&str; 9] = [
    "ncclKernel_",
    "ncclDevKernel",
    "ncclSymDevKernel",
    "ncclSymkDevKernel",
    "nvshmem",
    // The all-reduce of vLLM and of programs that took it over.
    "cross_device_reduce_",
    // PyTorch's collectives on symmetric memory.
    "multimem_all_",
    "one_shot_all_reduce_",
    "two_shot_all_reduce_",
];

/// The namespace of PyTorch's barriers and signals between ranks, whose functions have common names.
const NAMESPACE: &str = "c10d::symmetric_memory::";

/// The calls that launch one kernel on several devices, which wait for one another.
const ON_SEVERAL_DEVICES: &str = "LaunchCooperativeKernelMultiDevice";

/// The kernels' names, as the survey spells them, that wait, and for whom.
pub(crate) fn waiting(survey: &Survey, groups: &[Group]) -> BTreeMap<String, Peer> {
    let on_several = on_several_devices(survey);
    let mut found = BTreeMap::new();
    for group in groups {
        let name = &group.shape.kernel;
        if is_collective(name) {
            found.insert(name.clone(), Peer::Ranks);
        } else if on_several.contains(name.as_str()) {
            found.insert(name.clone(), Peer::Devices);
        }
    }
    found
}

/// True for a kernel of a communication library.
pub(crate) fn is_collective(name: &str) -> bool {
    let base = kernel_name::base(name);
    BEGINNINGS.iter().any(|beginning| base.starts_with(beginning))
        || kernel_name::demangled(name).trim_start_matches("void ").starts_with(NAMESPACE)
}

/// The names of kernels of which a launch came from a call that spans devices.
fn on_several_devices(survey: &Survey) -> HashSet<&str> {
    let mut names = HashSet::new();
    for process in &survey.processes {
        let spans = |name: &str| name.contains(ON_SEVERAL_DEVICES);
        let functions: Vec<bool> = process.functions.iter().map(|name| spans(name)).collect();
        if !functions.contains(&true) {
            continue;
        }
        let calls: HashMap<u32, u32> =
            process.calls.iter().map(|call| (call.correlation, call.function)).collect();
        for kernel in &process.kernels {
            let function = calls.get(&kernel.place.correlation);
            if function.is_some_and(|&at| functions.get(at as usize) == Some(&true))
                && let Some(shape) = process.shapes.get(kernel.shape as usize)
            {
                names.insert(shape.kernel.as_str());
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::survey::group::groups;
    use crate::survey::record::{Call, Span};
    use crate::survey::samples::{process, shape};

    #[test]
    fn collectives_are_known_by_their_names() {
        for name in [
            "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)",
            "_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE",
            "ncclSymkDevKernel_AllReduce_RSxLD_AGxST_sum_f32",
            "void nvshmemi_barrier_threadgroup<(int)1>(int)",
            "void vllm::cross_device_reduce_1stage<float, 2>(vllm::RankData*, int)",
            "void c10d::symmetric_memory::barrier_kernel(unsigned int**, int)",
        ] {
            assert!(is_collective(name), "{name}");
        }
        for name in [
            "void my::barrier_kernel(c10d::symmetric_memory::T*)",
            "nccl_like(float*)",
            "reduce(float*)",
            "void cub::DeviceReduceKernel<ncclDevKernel_x>(int)",
        ] {
            assert!(!is_collective(name), "{name}");
        }
    }

    #[test]
    fn a_cooperative_launch_waits_only_where_it_spans_devices() {
        for (function, expected) in [
            ("cudaLaunchCooperativeKernel", None),
            ("cudaLaunchCooperativeKernelMultiDevice", Some(Peer::Devices)),
            ("cuLaunchCooperativeKernelMultiDevice", Some(Peer::Devices)),
        ] {
            let mut process = process(&[shape("a", 1), shape("b", 1)], &[(0, 10), (1, 10)]);
            process.functions = vec!["cudaLaunchKernel".to_owned(), function.to_owned()];
            let span = Span { start: 0, end: 1 };
            let call = |function, correlation| {
                let (is_driver, thread, result) = (false, 1, 0);
                Call { span, function, is_driver, thread, correlation, result }
            };
            process.calls = vec![call(0, 1), call(1, 2)];
            let survey = Survey { processes: vec![process], ..Survey::default() };
            let found = waiting(&survey, &groups(&survey));
            assert_eq!((found.get("a"), found.get("b")), (None, expected.as_ref()), "{function}");
        }
    }
}
