//! Small reports for tests, written message by message.

mod cubin;

use std::collections::BTreeMap;

use prost::Message;

use super::counters::FIELDS;
use super::messages::*;
use crate::export::{Export, SourceCounters};
use crate::metric::stall::StallReason;

pub(super) use cubin::cubin;

/// Where the sample's function `k` lay; `g` lies right behind its four instructions.
pub(super) const K: u64 = 0x7f00_0000_1000;
/// Where the sample's function `g` lay.
pub(super) const G: u64 = K + 0x40;

/// A launch's message: what is read with prost, and the metrics.
#[derive(Debug, Clone, Default)]
pub(super) struct Kernel {
    pub result: ProfileResult,
    pub metrics: Vec<MetricResult>,
}

impl Kernel {
    pub(super) fn encoded(&self) -> Vec<u8> {
        let metrics = Metrics { metrics: self.metrics.clone() };
        [self.result.encode_to_vec(), metrics.encode_to_vec()].concat()
    }
}

/// The part of a launch's message that holds its metrics.
#[derive(Clone, PartialEq, prost::Message)]
struct Metrics {
    #[prost(message, repeated, tag = "13")]
    metrics: Vec<MetricResult>,
}

/// The same of results of several kernels.
#[derive(Clone, PartialEq, prost::Message)]
struct OfSeveral {
    #[prost(uint64, tag = "1")]
    thread: u64,
    #[prost(uint64, tag = "2")]
    call: u64,
    #[prost(message, repeated, tag = "4")]
    metrics: Vec<MetricResult>,
}

/// The message of a range, a graph or a list of commands with these metrics.
pub(super) fn several(metrics: &[MetricResult]) -> Vec<u8> {
    OfSeveral { thread: 1, call: 2, metrics: metrics.to_vec() }.encode_to_vec()
}

/// One metric.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct MetricResult {
    #[prost(uint64, tag = "1")]
    pub name: u64,
    #[prost(message, optional, tag = "2")]
    pub value: Option<Value>,
    #[prost(message, repeated, tag = "3")]
    pub instances: Vec<Instance>,
}

/// One instance of a metric.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Instance {
    #[prost(message, optional, tag = "1")]
    pub of: Option<Value>,
    #[prost(message, optional, tag = "2")]
    pub value: Option<Value>,
}

/// A block: its header, and the entries of its payload.
#[derive(Default)]
pub(super) struct Block {
    pub header: BlockHeader,
    pub entries: Vec<Vec<u8>>,
}

impl Block {
    pub(super) fn strings(names: &[&str]) -> Self {
        let strings = names.iter().map(|name| name.as_bytes().to_vec()).collect();
        let header = BlockHeader { strings: Some(StringTable { strings }), ..Default::default() };
        Self { header, entries: Vec::new() }
    }

    pub(super) fn source(mut self, source: &SourceData) -> Self {
        self.header.sources += 1;
        self.entries.push(source.encode_to_vec());
        self
    }

    pub(super) fn result(mut self, result: &Kernel) -> Self {
        self.header.results += 1;
        self.entries.push(result.encoded());
        self
    }

    pub(super) fn session(mut self, session: &SessionDetails) -> Self {
        self.header.session = Some(session.encode_to_vec());
        self
    }
}

fn sized(message: &[u8]) -> Vec<u8> {
    let size = u32::try_from(message.len()).unwrap();
    [&size.to_le_bytes(), message].concat()
}

/// The file of these blocks.
pub(super) fn file(blocks: Vec<Block>) -> Vec<u8> {
    let mut bytes = b"NVR\0".to_vec();
    bytes.extend(sized(&FileHeader { version: 7 }.encode_to_vec()));
    for mut block in blocks {
        let payload: Vec<u8> = block.entries.iter().flat_map(|entry| sized(entry)).collect();
        block.header.payload_size = payload.len() as u64;
        bytes.extend(sized(&block.header.encode_to_vec()));
        bytes.extend(payload);
    }
    bytes
}

pub(super) fn double(value: f64) -> Value {
    Value { double: Some(value), ..Value::default() }
}

pub(super) fn integer(value: u64) -> Value {
    Value { long: Some(value), ..Value::default() }
}

pub(super) fn words(value: &str) -> Value {
    Value { text: Some(value.as_bytes().to_vec()), ..Value::default() }
}

pub(super) fn metric(name: u64, value: Option<Value>) -> MetricResult {
    MetricResult { name, value, instances: Vec::new() }
}

/// A metric with a value per address.
pub(super) fn instanced(name: u64, values: &[(u64, f64)]) -> MetricResult {
    let instances = values.iter().map(|&(address, value)| Instance {
        of: Some(integer(address)),
        value: Some(double(value)),
    });
    MetricResult { name, value: None, instances: instances.collect() }
}

pub(super) fn kernel(name: &str, metrics: Vec<MetricResult>) -> Kernel {
    let result = ProfileResult {
        demangled_name: name.as_bytes().to_vec(),
        grid: Some(Size { x: 6, y: 2, z: 1 }),
        block: Some(Size { x: 32, y: 4, z: 1 }),
        source: Some(SourceData { key: 9, ..SourceData::default() }),
        ..ProfileResult::default()
    };
    Kernel { result, metrics }
}

/// A report with everything that is read: two launches, a module in two pieces, a rule result, and
/// a string table in two blocks.
pub(super) fn report() -> Vec<u8> {
    let place = |symbol: &str, address| {
        let function = RelocatedFunction { symbol: symbol.as_bytes().to_vec(), address };
        Some(Relocation { functions: vec![function] })
    };
    let source = SourceFile { name: b"src/k.cu".to_vec(), content: b"\n  one\n".repeat(6) };
    let module = SourceData {
        key: 9,
        cubin: Some(cubin()),
        files: Some(SourceFiles { files: vec![source] }),
        relocation: place("k", K),
    };
    let rest = SourceData { key: 9, relocation: place("g", G), ..SourceData::default() };
    let rule = RuleResult {
        identifier: b"SOLBottleneck".to_vec(),
        section: b"SpeedOfLight".to_vec(),
        body: Some(RuleBody {
            items: vec![RuleItem {
                message: Some(RuleMessage {
                    text: b"Look at @section:A:the A@.".to_vec(),
                    kind: 4,
                }),
                speedup: Some(Speedup { scope: 2, percent: 12.5 }),
            }],
        }),
    };
    let mut first = kernel(
        "k(float *)",
        vec![
            metric(0, Some(integer(1_353_888))),
            metric(1, Some(words("NVIDIA H200"))),
            metric(2, None),
            metric(3, Some(double(f64::NAN))),
            instanced(4, &[(K, 4.0), (K + 0x10, 8.0), (K + 0x20, 2.0), (G, 3.0), (0x10, 1.0)]),
            instanced(5, &[(K + 0x10, 7.0)]),
            instanced(6, &[(K + 0x10, 5.0)]),
        ],
    );
    first.result.rules = vec![rule.encode_to_vec(), RuleResult::default().encode_to_vec()];
    let second = kernel("g(int)", vec![metric(7, Some(double(0.25)))]);
    let version =
        Version { provider: b"Nsight Compute Target".to_vec(), version: b"2025.3.1.0".to_vec() };
    let session = SessionDetails {
        versions: vec![version],
        devices: vec![Device {
            name: b"NVIDIA H200".to_vec(),
            attributes: vec![
                Attribute {
                    name: b"device__attribute_compute_capability_major".to_vec(),
                    value: Some(integer(9)),
                },
                Attribute {
                    name: b"device__attribute_compute_capability_minor".to_vec(),
                    value: Some(integer(0)),
                },
            ],
            ..Device::default()
        }],
    };
    file(vec![
        Block::default().session(&session),
        Block::default().source(&module),
        Block::strings(&[
            "gpu__time_duration.sum",
            "device__attribute_display_name",
            "sass__inst_executed_register_spilling_mem_local",
            "some__ratio.pct",
            "inst_executed",
            "smsp__pcsamp_warps_issue_stalled_no_instructions",
            "smsp__pcsamp_warps_issue_stalled_no_instructions_not_issued",
        ])
        .source(&rest)
        .result(&first)
        .result(&second),
        Block::strings(&["smsp__inst_executed.avg.per_cycle_active"]),
    ])
}

/// The report that pages were exported from, as far as it is read: each launch with its metrics and the
/// counters of its instructions, and with a cubin in which its kernel has a name and lay at an address.
pub(crate) fn of_pages(
    pages: &Export,
    modules: &BTreeMap<u32, (u64, String)>,
    cubin: &[u8],
) -> Vec<u8> {
    let mut names: Vec<String> = Vec::new();
    let mut number = |name: &str| {
        let place = names.iter().position(|known| known == name);
        place.unwrap_or_else(|| {
            names.push(name.to_owned());
            names.len() - 1
        }) as u64
    };
    let mut block = Block::default();
    for (&id, (address, symbol)) in modules {
        let function = RelocatedFunction { symbol: symbol.as_bytes().to_vec(), address: *address };
        block = block.source(&SourceData {
            key: u64::from(id),
            cubin: Some(cubin.to_vec()),
            relocation: Some(Relocation { functions: vec![function] }),
            ..SourceData::default()
        });
    }
    for launch in &pages.launches {
        let mut metrics: BTreeMap<String, MetricResult> = BTreeMap::new();
        for row in pages.metrics.iter().filter(|row| row.launch == launch.id) {
            let value = row.value.map(double).or_else(|| row.text.as_deref().map(words));
            metrics.insert(row.metric.to_string(), metric(number(&row.metric), value));
        }
        for (place, name) in instanced_names().enumerate() {
            let rows = pages.source.iter().filter(|row| row.launch == launch.id);
            let mut counted = rows.filter_map(|row| Some((row.address?, row.counters)));
            let values: Vec<(u64, f64)> = counted
                .by_ref()
                .map(|(address, mut counters)| (address, *counters.counter(place)))
                .collect();
            let known = metrics.entry(name.clone()).or_insert_with(|| metric(number(&name), None));
            known.instances = instanced(0, &values).instances;
        }
        let size =
            |[x, y, z]: [u32; 3]| Some(Size { x: u64::from(x), y: u64::from(y), z: u64::from(z) });
        let result = ProfileResult {
            mangled_name: modules
                .get(&launch.id)
                .map(|(_, symbol)| symbol.as_bytes().to_vec())
                .unwrap_or_default(),
            demangled_name: launch.kernel.as_bytes().to_vec(),
            grid: size(launch.grid),
            block: size(launch.block),
            source: Some(SourceData { key: u64::from(launch.id), ..SourceData::default() }),
            ..ProfileResult::default()
        };
        block = block.result(&Kernel { result, metrics: metrics.into_values().collect() });
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let strings = Block::strings(&names);
    file(vec![strings, block, capability(pages)])
}

/// The names of the metrics with a value per instruction, in the order of the counters.
fn instanced_names() -> impl Iterator<Item = String> {
    let stall = |reason: StallReason| {
        let word = reason.column().trim_start_matches("stall_").to_owned();
        format!("smsp__pcsamp_warps_issue_stalled_{word}")
    };
    let fields = FIELDS.iter().map(|(names, _)| names[0].to_owned());
    let names: Vec<String> = fields.chain(StallReason::all().map(stall)).collect();
    assert_eq!(names.len(), SourceCounters::COUNT);
    names.into_iter()
}

/// The session, which names the device of launches whose metrics don't.
fn capability(pages: &Export) -> Block {
    let Some(launch) = pages.launches.first() else { return Block::default() };
    let (major, minor) = launch.compute_capability.unwrap_or_default();
    let attribute = |name: &str, value: u32| Attribute {
        name: format!("device__attribute_compute_capability_{name}").into_bytes(),
        value: Some(integer(u64::from(value))),
    };
    Block::default().session(&SessionDetails {
        versions: Vec::new(),
        devices: vec![Device {
            name: launch.device.clone().unwrap_or_default().into_bytes(),
            attributes: vec![attribute("major", major), attribute("minor", minor)],
            ..Device::default()
        }],
    })
}
