//! Verdicts and sentences against numbers worked by hand.

use super::*;
use crate::document::SCHEMA;
use crate::plan::VariantKind;

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-6 * b.abs().max(1.0)
}

/// GTC 2010, 3DFD of the wave equation: 35.39 ms, memory alone 33.27, arithmetic alone 16.25.
#[test]
fn the_case_study_of_gtc_2010_is_memory_bound() {
    let said = verdict(35.39e6, 33.27e6, 16.25e6);
    assert_eq!(said.limiter, Limiter::Memory);
    assert!(near(said.exposed_ns, 2.12e6));
    // 2.12 / 16.25 = 0.13046…: "13% of math-only time are not overlapped".
    assert!((said.arithmetic_exposed - 0.1305).abs() < 1e-4, "{said:?}");
    assert!(near(said.sum_ns, 49.52e6));
}

#[test]
fn each_verdict_has_its_picture() {
    for (full, memory, arithmetic, limiter) in [
        // Full is the longer part.
        (10.0, 10.0, 4.0, Limiter::Memory),
        (10.0, 4.0, 10.0, Limiter::Arithmetic),
        (10.0, 9.9, 9.5, Limiter::Balanced),
        // Four fifths of the longer part are alike, and less is not.
        (10.0, 10.0, 8.0, Limiter::Balanced),
        (10.0, 7.9, 10.0, Limiter::Arithmetic),
        // Full is the sum: 4 + 6, and 10 of 9.9 beyond 6.
        (10.0, 4.0, 6.0, Limiter::Latency),
        (9.9, 6.0, 4.0, Limiter::Latency),
        // More than the sum: waiting that neither part has.
        (20.0, 4.0, 6.0, Limiter::Latency),
        // Exactly half of the shorter part is exposed: 8 - 6 = 4 / 2.
        (8.0, 6.0, 4.0, Limiter::Latency),
        (7.9, 6.0, 4.0, Limiter::Memory),
        // 3.75 of 7.5 are exposed, 27% of the whole, and then 3.7 of 7.5, still more than a quarter of it.
        (13.75, 10.0, 7.5, Limiter::Latency),
        (13.7, 10.0, 7.5, Limiter::Memory),
        // All of a small part is exposed, but a twentieth of the whole is no matter.
        (10.5, 10.0, 0.5, Limiter::Memory),
        // All of the short part is exposed, and more: 13 - 10 is 23% of the whole, not a quarter.
        (13.0, 2.0, 10.0, Limiter::Arithmetic),
        // 14 - 10 is 29%.
        (14.0, 2.0, 10.0, Limiter::Latency),
        // A variant may take longer than the whole.
        (9.0, 10.0, 1.0, Limiter::Memory),
    ] {
        let said = verdict(full, memory, arithmetic);
        assert_eq!(said.limiter, limiter, "{full} {memory} {arithmetic}: {said:?}");
        assert!(said.exposed_share >= 0.0 && said.arithmetic_exposed >= 0.0);
    }
    for odd in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let said = verdict(odd, odd, odd);
        assert!(said.exposed_share.is_finite() && said.arithmetic_exposed.is_finite());
    }
}

/// Figures that divide well: 100 SMs at 1 GHz, 4 TB/s.
fn device() -> DeviceFigures {
    DeviceFigures {
        name: "Device".to_owned(),
        compute_capability: (9, 0),
        sm_count: 100,
        clock_hz: Some(1e9),
        peak_bytes_per_s: Some(4e12),
    }
}

#[test]
fn rates_and_bytes_in_flight_follow_littles_law() {
    let rates = throughput(1e6, 1e9, Some(2e9), &device(), Some(3e12));
    // 1 GB and 2 GB in 1 ms.
    assert!(near(rates.application_bytes_per_s, 1e12));
    assert_eq!(rates.hardware_bytes_per_s.map(|rate| near(rate, 2e12)), Some(true));
    assert_eq!(rates.reachable_bytes_per_s, Some(4e12));
    // 690 cycles at 1 GHz are 690 ns: 4 TB/s · 690 ns / 100 = 27,600 bytes, half of them at 2 TB/s.
    let flight = in_flight(&rates, &device(), 1000).unwrap();
    assert!(near(flight.needed_bytes_per_sm, 27_600.0), "{flight:?}");
    assert!(near(flight.achieved_bytes_per_sm, 13_800.0), "{flight:?}");
    assert!(near(flight.needed_per_thread(), 27.6) && near(flight.achieved_per_thread(), 13.8));
    let unknown = DeviceFigures { compute_capability: (3, 0), ..device() };
    assert_eq!(in_flight(&rates, &unknown, 1000), None);
    let rates = throughput(
        1e6,
        1e9,
        None,
        &DeviceFigures { peak_bytes_per_s: None, ..device() },
        Some(3e12),
    );
    assert_eq!((rates.hardware_bytes_per_s, rates.reachable_bytes_per_s), (None, Some(3e12)));
}

/// GTC 2010: 18,194,139 instructions issued, 1,708,032 transactions of 128 bytes, a ratio of 2.66.
#[test]
fn instructions_a_byte_are_counted_as_in_gtc_2010() {
    let own = balance(18_194_139.0, 1_708_032.0 * 128.0, &device(), Some(4e12)).unwrap();
    assert!((own.instructions_per_byte - 2.66).abs() < 0.005, "{own:?}");
    // 100 SMs · 4 · 32 · 1 GHz = 12.8 T instructions per second, over 4 TB/s.
    assert!(near(own.device_instructions_per_byte, 3.2), "{own:?}");
    assert_eq!(balance(1.0, 0.0, &device(), Some(4e12)), None);
    assert_eq!(balance(1.0, 1.0, &DeviceFigures { clock_hz: None, ..device() }, Some(4e12)), None);
}

fn entrant(ms: f64) -> Entrant {
    let ns = ms * 1e6;
    Entrant {
        time_ns: Timing { median: ns, low: ns, high: ns, n: 10 },
        blocks: 1024,
        threads_per_block: 256,
        blocks_per_sm: 4,
        added_shared_bytes: 0,
    }
}

fn variant(name: &str, kind: VariantKind, ms: f64, full_ms: f64) -> VariantTime {
    VariantTime {
        name: name.to_owned(),
        kind,
        title: String::new(),
        removes: Vec::new(),
        entrant: entrant(ms),
        factor: full_ms / ms,
        accesses: None,
    }
}

/// The case study with all that a device adds.
pub(crate) fn sample() -> LimiterDocument {
    let device = device();
    let rates = throughput(35.39e6, 62e9 * 35.39e-3, None, &device, None);
    LimiterDocument {
        schema: SCHEMA.to_owned(),
        adoprof: crate::document::Version::default(),
        step: StepInfo {
            ladder: "stencil".to_owned(),
            name: "plane".to_owned(),
            title: "planes in shared memory".to_owned(),
            size: [("NX".to_owned(), 512)].into(),
            verified: true,
            max_error: 0.0,
            time_ns: entrant(35.4).time_ns,
            total_ns: None,
            samples_ns: Vec::new(),
            warm_ns: None,
            bytes: 1,
            flops: 1,
            rate: None,
            cpu: Vec::new(),
            copy_bytes_per_s: None,
            library: None,
            program: None,
            recorded: None,
        },
        date: "2010-09-23".to_owned(),
        full: entrant(35.39),
        variants: vec![
            variant("memory", VariantKind::MemoryOnly, 33.27, 35.39),
            variant("arithmetic", VariantKind::ArithmeticOnly, 16.25, 35.39),
            VariantTime {
                removes: vec!["barrier-stalls".to_owned()],
                ..variant("no-barrier", VariantKind::WhatIf, 17.695, 35.39)
            },
        ],
        verdict: None,
        in_flight: in_flight(&rates, &device, 1024),
        throughput: rates,
        balance: None,
        copies: vec![CopyRate { bytes_per_thread: 4, threads_per_sm: 1024, bytes_per_s: 3e12 }],
        growth: Some(Growth {
            parameter: "NX".to_owned(),
            from: 256,
            to: 512,
            work_ratio: 2.0,
            time_ratio: 1.98,
        }),
        device,
        profile_bound: None,
        profile_unit: None,
        conclusions: Vec::new(),
        notices: Vec::new(),
    }
    .concluded()
}

#[test]
fn conclusions_say_what_the_deck_concludes() {
    let document = sample();
    let all = document.conclusions.join("\n");
    for words in [
        "Memory-bound",
        "2.12 ms more than the longer of its two parts",
        "13% of the arithmetic does not overlap",
        "outputs of the problem take 62.0 GB/s (2% of the device's 4.00 TB/s)",
        "accesses alone reach",
        "3.00 TB/s with 4 bytes per thread",
        "690 cycles",
        "the work grows 2.00×, the time 1.98×.",
        "If no-barrier (barrier-stalls): 17.7 ms, at most 2.00× faster",
    ] {
        assert!(all.contains(words), "{words} is missing in\n{all}");
    }
}

#[test]
fn doubts_are_named() {
    let mut document = sample();
    document.variants[1].entrant = Entrant { blocks_per_sm: 2, ..entrant(16.25) };
    document.variants[0].accesses =
        Some(Accesses { loads: 90.0, stores: 10.0, full_loads: 100.0, full_stores: 10.0 });
    document.growth = document.growth.map(|growth| Growth { time_ratio: 1.02, ..growth });
    let all = document.clone().concluded().conclusions.join("\n");
    assert!(all.contains("executes 90 loads and 10 stores of global memory, the whole"), "{all}");
    let counted =
        |loads, stores| Some(Accesses { loads, stores, full_loads: 100.0, full_stores: 10.0 });
    for (kind, accesses, doubted) in [
        (VariantKind::StoreOnly, counted(0.0, 10.0), false),
        (VariantKind::StoreOnly, counted(0.0, 9.0), true),
        (VariantKind::StoreOnly, counted(50.0, 10.0), true),
        (VariantKind::ArithmeticOnly, counted(1.0, 0.0), false),
        (VariantKind::ArithmeticOnly, counted(0.0, 10.0), true),
        (VariantKind::WhatIf, counted(50.0, 5.0), false),
    ] {
        let mut document = sample();
        document.variants[1] = VariantTime { accesses, ..variant("x", kind, 16.25, 35.39) };
        let all = document.concluded().conclusions.join("\n");
        assert_eq!(all.contains("`x` is not"), doubted, "{kind:?} {accesses:?}\n{all}");
    }
    assert!(all.contains("has 512 threads resident per SM and the whole kernel 1,024"), "{all}");
    assert!(all.contains("too few threads are launched"), "{all}");
    document.variants[2] = variant("slower", VariantKind::WhatIf, 40.0, 35.39);
    let all = document.clone().concluded().conclusions.join("\n");
    assert!(all.contains("slower: 40.0 ms, so there is nothing to gain."), "{all}");
    document.variants[0] = variant("memory", VariantKind::MemoryOnly, 40.0, 35.39);
    let all = document.clone().concluded().conclusions.join("\n");
    assert!(all.contains("`memory` alone takes longer (40.0 ms)"), "{all}");
    document.variants.remove(1);
    let document = document.concluded();
    assert_eq!(document.verdict, None);
    assert!(document.conclusions[0].contains("no arithmetic-only variant"));
}

#[test]
fn a_stored_run_reads_back() {
    let document = sample();
    let text = serde_json::to_string(&document).unwrap();
    assert_eq!(serde_json::from_str::<LimiterDocument>(&text).unwrap(), document);
}

/// All that is said of a document.
fn said(document: LimiterDocument) -> String {
    document.concluded().conclusions.join("\n")
}

#[test]
fn time_that_neither_part_has_is_named_where_it_is_beyond_noise() {
    // The parts take 10 ms together.
    let waits = |full: f64| {
        let mut document = sample();
        document.full = entrant(full);
        document.variants = vec![
            variant("memory", VariantKind::MemoryOnly, 6.0, full),
            variant("arithmetic", VariantKind::ArithmeticOnly, 4.0, full),
        ];
        said(document).contains("Neither part contains")
    };
    assert!(waits(10.31) && !waits(10.29));
}

#[test]
fn a_part_that_takes_longer_than_the_whole_is_doubted_beyond_noise() {
    let doubted = |memory: f64| {
        let mut document = sample();
        document.full = entrant(10.0);
        document.variants = vec![variant("memory", VariantKind::MemoryOnly, memory, 10.0)];
        said(document).contains("`memory` alone takes longer")
    };
    assert!(doubted(10.31) && !doubted(10.29));
}

#[test]
fn accesses_are_the_same_up_to_a_hundredth() {
    let doubted = |loads: f64| {
        let mut document = sample();
        document.variants[0].accesses =
            Some(Accesses { loads, stores: 10.0, full_loads: 100.0, full_stores: 10.0 });
        said(document).contains("`memory` is not")
    };
    assert!(!doubted(99.0) && doubted(98.95) && !doubted(101.0) && doubted(101.05));
}

#[test]
fn accesses_alone_are_told_of_below_four_fifths_of_the_reachable_rate() {
    // The whole takes 10 ms and its accesses 8 ms, in which they move the same bytes: 5/4 of the rate.
    let told = |share: f64| {
        let mut document = sample();
        document.full = entrant(10.0);
        document.variants = vec![
            variant("memory", VariantKind::MemoryOnly, 8.0, 10.0),
            variant("arithmetic", VariantKind::ArithmeticOnly, 2.0, 10.0),
        ];
        let reachable = document.throughput.reachable_bytes_per_s.unwrap();
        document.throughput.application_bytes_per_s = share * reachable * 0.8;
        said(document).contains("accesses alone reach")
    };
    assert!(told(0.79) && !told(0.81));
}

#[test]
fn a_time_that_grows_by_less_than_a_tenth_while_the_work_grows_by_more_is_steady() {
    let steady = |work_ratio: f64, time_ratio: f64| {
        let mut document = sample();
        document.growth = document.growth.map(|growth| Growth { work_ratio, time_ratio, ..growth });
        said(document).contains("too few threads are launched")
    };
    assert!(steady(1.11, 1.0) && !steady(1.09, 1.0));
    assert!(steady(2.0, 1.09) && !steady(2.0, 1.11));
}
