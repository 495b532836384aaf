//! What a diagnosis costs from parsed data: time and memory per launch, over all shipped recordings and,
//! with `ADOPROF_PROGRAMS` naming the folder of their profiles, over other people's programs, beside what
//! parsing the same pages costs in the same run.
//!
//! `cargo bench --bench diagnosis`. The aim is under 5 ms in the 99th percentile and 50 KB per launch. Parsing
//! takes the SASS apart too; what that costs alone, on a copy of the launch, has rows of its own. The launches with
//! most instructions are diagnosed again and again, each time from a fresh copy: `-- largest` does only that.
#![expect(unsafe_code, reason = "an allocator that counts")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use adoprof::diagnose::diagnose;
use adoprof::frame::{Frames, Launch};
use adoprof::outside;
use adoprof::profile::read_packed;
use adoprof::store;

/// The system's allocator, with the bytes in use and their peak.
struct Counting;

static USED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator unchanged; only sizes are added up.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let used = USED.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(used, Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The folder of other people's profiles.
const PROGRAMS: &str = "ADOPROF_PROGRAMS";
/// How many of the slowest diagnoses are named.
const SLOWEST: usize = 5;

fn row(what: &str, values: &mut [f64], unit: &str) {
    values.sort_by(f64::total_cmp);
    let at = |percent: usize| values[(values.len() * percent / 100).min(values.len() - 1)];
    println!(
        "{what:<34} median {:9.2} {unit}   95% {:9.2} {unit}   99% {:9.2} {unit}   most {:9.2} {unit}",
        at(50),
        at(95),
        at(99),
        at(100)
    );
}

/// How many of the launches with most instructions are diagnosed again and again, and how often.
const LARGEST: usize = 8;
const AGAIN: usize = 25;

/// What launches of one origin cost.
#[derive(Default)]
struct Costs {
    only_largest: bool,
    largest: Vec<(String, Launch)>,
    parse_ms: Vec<f64>,
    diagnose_ms: Vec<f64>,
    slowest: Vec<(f64, String)>,
    peak_kb: Vec<f64>,
    kept_kb: Vec<f64>,
    parsed_kb: Vec<f64>,
    sass_ms: Vec<f64>,
    sass_kb: Vec<f64>,
}

impl Costs {
    /// Reads a profile's frames by a given way and diagnoses its launches.
    fn measure(&mut self, name: &str, read: impl FnOnce() -> Frames) {
        let start = Instant::now();
        let before = USED.load(Ordering::Relaxed);
        let frames = read();
        let launches = Launch::all(&frames).expect("the frames are whole");
        self.keep_largest(name, &launches);
        if self.only_largest {
            return;
        }
        let each = launches.len().max(1) as f64;
        self.parse_ms.push(start.elapsed().as_secs_f64() * 1e3 / each);
        self.parsed_kb.push((USED.load(Ordering::Relaxed) - before) as f64 / 1024.0 / each);
        for launch in &launches {
            let copy = launch.clone();
            let before = USED.load(Ordering::Relaxed);
            let start = Instant::now();
            std::hint::black_box(copy.listing());
            self.sass_ms.push(start.elapsed().as_secs_f64() * 1e3);
            self.sass_kb.push((USED.load(Ordering::Relaxed) - before) as f64 / 1024.0);
            drop(copy);
            let before = USED.load(Ordering::Relaxed);
            PEAK.store(before, Ordering::Relaxed);
            let start = Instant::now();
            let diagnosis = diagnose(launch);
            let ms = start.elapsed().as_secs_f64() * 1e3;
            self.diagnose_ms.push(ms);
            self.slowest.push((ms, format!("{name}: {}", launch.row.kernel)));
            self.peak_kb.push((PEAK.load(Ordering::Relaxed) - before) as f64 / 1024.0);
            self.kept_kb.push((USED.load(Ordering::Relaxed) - before) as f64 / 1024.0);
            drop(diagnosis);
        }
    }

    /// Keeps those with most instructions of all so far, before anything is worked out of them.
    fn keep_largest(&mut self, name: &str, launches: &[Launch]) {
        let named = |launch: &Launch| (format!("{name}: {}", launch.row.kernel), launch.clone());
        self.largest.extend(launches.iter().map(named));
        self.largest.sort_by_key(|(_, launch)| std::cmp::Reverse(launch.instructions.len()));
        self.largest.truncate(LARGEST);
    }

    /// Times each of the largest several times, which one time alone is too uncertain for.
    fn again(&self) {
        for (name, launch) in &self.largest {
            let once = || {
                let copy = launch.clone();
                std::hint::black_box(copy.listing());
                let start = Instant::now();
                std::hint::black_box(diagnose(&copy));
                start.elapsed().as_secs_f64() * 1e3
            };
            let mut times: Vec<f64> = (0..AGAIN).map(|_| once()).collect();
            times.sort_by(f64::total_cmp);
            let (count, name) = (launch.instructions.len(), name.as_str());
            println!(
                "  {:9.2} ms, at least {:.2} ms, {count} instructions  {name:.80}",
                times[AGAIN / 2],
                times[0]
            );
        }
    }

    fn print(mut self, origin: &str) {
        self.again();
        if self.diagnose_ms.is_empty() {
            return;
        }
        println!("{} launches of {origin}", self.diagnose_ms.len());
        row("parsing a launch's pages", &mut self.parse_ms, "ms");
        row("of it taking the SASS apart", &mut self.sass_ms, "ms");
        row("diagnosing a parsed launch", &mut self.diagnose_ms, "ms");
        row("parsed pages held", &mut self.parsed_kb, "KB");
        row("of them the SASS taken apart", &mut self.sass_kb, "KB");
        row("most memory during a diagnosis", &mut self.peak_kb, "KB");
        row("the diagnosis itself", &mut self.kept_kb, "KB");
        self.slowest.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (ms, launch) in self.slowest.iter().take(SLOWEST) {
            println!("  {ms:9.2} ms  {launch:.100}");
        }
    }
}

fn main() {
    let only_largest = std::env::args().any(|argument| argument == "largest");
    let mut shipped = Costs { only_largest, ..Costs::default() };
    for (folder, meta) in store::recordings().expect("the recordings are whole") {
        let step = meta.step.expect("recordings are of steps");
        let saved = store::recording(&step.ladder, &step.name, &step.size)
            .expect("the recordings are whole")
            .expect("it is listed");
        shipped.measure(&folder, || {
            let export =
                saved.pages.export(Path::new(&folder)).expect("the recordings can be read");
            Frames::new(export).expect("exports make frames")
        });
    }
    shipped.print("the shipped recordings");
    let Some(folder) = std::env::var_os(PROGRAMS) else { return };
    let mut programs = Costs { only_largest, ..Costs::default() };
    for program in outside::all().expect("the shipped table is whole") {
        let place = Path::new(&folder).join(&program.name);
        let read = || read_packed(&place).expect("the program's pages can be read");
        if place.is_dir() {
            programs.measure(&program.name, || read().expect("there is a profile").frames);
        }
    }
    programs.print("other people's programs");
}
