//! Small reports for tests, written message by message.

mod cubin;

use prost::Message;

use super::messages::*;

pub(super) use cubin::cubin;

/// Where the sample's function `k` lay; `g` lies right behind its four instructions.
pub(super) const K: u64 = 0x7f00_0000_1000;
/// Where the sample's function `g` lay.
pub(super) const G: u64 = K + 0x40;

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

    pub(super) fn result(mut self, result: &ProfileResult) -> Self {
        self.header.results += 1;
        self.entries.push(result.encode_to_vec());
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

pub(super) fn kernel(name: &str, metrics: Vec<MetricResult>) -> ProfileResult {
    ProfileResult {
        demangled_name: name.as_bytes().to_vec(),
        grid: Some(Size { x: 6, y: 2, z: 1 }),
        block: Some(Size { x: 32, y: 4, z: 1 }),
        source: Some(SourceData { key: 9, ..SourceData::default() }),
        metrics,
        ..ProfileResult::default()
    }
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
    first.rules = vec![rule.encode_to_vec(), RuleResult::default().encode_to_vec()];
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
