//! Damaged input of every kind: whatever it holds, reading it ends, and without a panic. The fuzz targets
//! under `fuzz/` look for more, and so does `ADOPROF_MUTATIONS=1000`, which repeats all this so often with
//! other mutations.

use std::path::Path;
use std::time::{Duration, Instant};

use adoprof::fuzzing;

/// No input of some kilobytes may take longer, in a debug build beside other tests.
const LONGEST: Duration = Duration::from_secs(60);
/// What mutations put in: numbers at an edge, signs that mean something somewhere.
const WORDS: [&[u8]; 16] = [
    b"18446744073709551616",
    b"-1",
    b"1e999",
    b"nan",
    b"4294967295",
    b"\"",
    b"\",\"",
    b"\n",
    b"\0",
    b"\xff\xff\xff\xff",
    b"(((((((((((((((((((((((((((((((",
    b"<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<",
    b"0x",
    b"@",
    b"_ZN",
    b"\xe2\x80\xae",
];

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides.max(1) as u64) as usize
    }
}

/// One to eight changes: bytes flipped, cut out, doubled, moved, replaced by a word; the end cut off.
fn mutated(seed: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=dice.below(8) {
        let from = dice.below(bytes.len());
        let to = (from + dice.below(64)).min(bytes.len());
        let part = bytes[from..to].to_vec();
        match dice.below(6) {
            0 if !bytes.is_empty() => bytes[from] ^= 1 << dice.below(8),
            1 => drop(bytes.drain(from..to)),
            2 => drop(bytes.splice(from..from, part)),
            3 => {
                let at = dice.below(bytes.len());
                bytes.splice(at..at, part);
            }
            4 => drop(bytes.splice(from..to, WORDS[dice.below(WORDS.len())].iter().copied())),
            _ if dice.below(4) == 0 => bytes.truncate(from),
            _ => {}
        }
    }
    bytes
}

fn check(name: &str, seeds: &[Vec<u8>], rounds: usize, read: impl Fn(&[u8]) -> bool) {
    let repeated = std::env::var("ADOPROF_MUTATIONS").ok().and_then(|text| text.parse().ok());
    let rounds = rounds * repeated.unwrap_or(1);
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15 ^ rounds as u64);
    for (at, seed) in seeds.iter().enumerate() {
        for round in 0..rounds {
            let bytes = if round == 0 { seed.clone() } else { mutated(seed, &mut dice) };
            let start = Instant::now();
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| read(&bytes)));
            let what = format!("{name}, seed {at}, round {round}");
            if outcome.is_err() || start.elapsed() >= LONGEST {
                let kept = std::env::temp_dir().join(format!("adoprof-{name}-{at}-{round}"));
                std::fs::write(&kept, &bytes).unwrap();
                panic!("{what}: panic or {:?}; the input is {}", start.elapsed(), kept.display());
            }
            // What is not read at all finds nothing.
            assert!(round > 0 || outcome.is_ok_and(|is_read| is_read), "{what}: it was not read");
        }
    }
}

fn fixture(path: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

#[test]
fn damaged_pages() {
    let between = [0xff];
    let multi = fixture("tests/fixtures/csv/multi.raw.csv");
    let details = fixture("tests/fixtures/csv/multi.details.csv");
    let raw = fixture("tests/fixtures/rules/ado_v2.raw.csv");
    let source = fixture("tests/fixtures/rules/ado_v2.source.cuda-sass.csv");
    let head: Vec<u8> =
        source.split_inclusive(|&byte| byte == b'\n').take(60).flatten().copied().collect();
    let seeds = [
        [&multi, &between[..], &details].concat(),
        [&raw, &between[..], &head].concat(),
        fixture("tests/fixtures/csv/printed.txt"),
    ];
    check("pages", &seeds, 60, fuzzing::csv_pages);
}

#[test]
fn damaged_reports() {
    let packed = fixture("tests/fixtures/report/ado-v4.ncu-repz");
    let plain = zstd::decode_all(packed.as_slice()).unwrap();
    check("reports", &[packed, plain], 30, fuzzing::binary_report);
}

#[test]
fn damaged_profiles() {
    let meta = fixture("profiles/ado/v2/profile.json");
    let raw = fixture("tests/fixtures/csv/multi.raw.csv");
    let packed = fixture("profiles/ado/v2/raw.csv.zst");
    check("profiles", &[[&meta, &[0xff][..], &raw].concat(), packed], 60, fuzzing::saved_profile);
}

#[test]
fn damaged_manifests() {
    let seeds = ["tests/fixtures/ladder/scan/ladder.toml", "kernels/ado/ladder.toml"].map(fixture);
    check("manifests", &seeds, 200, fuzzing::manifest);
}

#[test]
fn damaged_rules() {
    let example = fixture("src/cmd/rules/example.toml");
    let example = String::from_utf8(example).unwrap().replace("NAME", "one").into_bytes();
    check("rules", &[example, fixture("tests/fixtures/rules/team.toml")], 200, fuzzing::user_rules);
}

#[test]
fn damaged_tables() {
    let launches = polars::df!(
        "schema_version" => [1_u32, 1, 1],
        "kernel" => [Some("gemm"), None, Some("reduce")],
        "gpu__time_duration.sum" => [Some(1e6), None, Some(2e6)],
        "committed" => [1_u64, 2, 3],
    );
    let mut bytes = Vec::new();
    adoprof::tables::Form::Parquet.write(&launches.unwrap(), &mut bytes).unwrap();
    check("tables", &[bytes], 2000, fuzzing::table_file);
}

#[test]
fn damaged_ledgers() {
    let outcome = r#"{"kind":"outcome","schema":"adoprof-ledger/1","of":"0123456789ab","date":"2026-11-20","by":"ado/v3","gain":1.5,"gone":true,"counts":true}"#;
    let hint = r#"{"kind":"hint","schema":"adoprof-ledger/1","id":"0123456789ab","date":"2026-11-20","subject":{"of":"ado","step":"v2","size":{"N":8}},"device":"NVIDIA H200","kernel":"k(int)","time_share":1.0,"time_ns":5e5,"rule":"partial-wave","version":"0123456789ab","rank":1,"estimate":{"factor":1.5,"low":1.2,"high":1.9}}"#;
    check("ledgers", &[format!("{hint}\n{outcome}\n").into_bytes()], 300, fuzzing::ledger_file);
}

#[test]
fn machine_code_that_nobody_compiled() {
    let mut dice = Dice(7);
    let mut code = |size: usize| (0..size).map(|_| dice.below(256) as u8).collect::<Vec<u8>>();
    let seeds: Vec<Vec<u8>> = (0..10).map(|at| [vec![at], code(1024)].concat()).collect();
    check("machine code", &seeds, 20, fuzzing::machine_code);
}
