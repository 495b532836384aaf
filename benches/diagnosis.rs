//! What a diagnosis costs from parsed data: time and memory a launch, over all shipped recordings,
//! beside what parsing the same recordings costs in the same run.
//!
//! `cargo bench --bench diagnosis`. The aim is under 5 ms and 50 KB for every launch. Parsing takes the
//! SASS apart too; what that costs alone, on a copy of the launch, has rows of its own.
#![expect(unsafe_code, reason = "an allocator that counts")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use adoprof::diagnose::diagnose;
use adoprof::frame::{Frames, Launch};
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

fn row(what: &str, values: &mut [f64], unit: &str) {
    values.sort_by(f64::total_cmp);
    println!(
        "{what:<34} median {:9.2} {unit}   95% {:9.2} {unit}   most {:9.2} {unit}",
        values[values.len() / 2],
        values[values.len() * 95 / 100],
        values[values.len() - 1]
    );
}

fn main() {
    let (mut parse_ms, mut diagnose_ms) = (Vec::new(), Vec::new());
    let (mut peak_kb, mut kept_kb, mut parsed_kb) = (Vec::new(), Vec::new(), Vec::new());
    let (mut sass_ms, mut sass_kb) = (Vec::new(), Vec::new());
    for (folder, meta) in store::recordings().expect("the recordings are whole") {
        let step = meta.step.expect("recordings are of steps");
        let saved = store::recording(&step.ladder, &step.name, &step.size)
            .expect("the recordings are whole")
            .expect("it is listed");
        let start = Instant::now();
        let before = USED.load(Ordering::Relaxed);
        let export = saved.pages.export(Path::new(&folder)).expect("the recordings can be read");
        let frames = Frames::new(export).expect("exports make frames");
        let launches = Launch::all(&frames).expect("the frames are whole");
        let each = launches.len().max(1) as f64;
        parse_ms.push(start.elapsed().as_secs_f64() * 1e3 / each);
        parsed_kb.push((USED.load(Ordering::Relaxed) - before) as f64 / 1024.0 / each);
        for launch in &launches {
            let copy = launch.clone();
            let before = USED.load(Ordering::Relaxed);
            let start = Instant::now();
            std::hint::black_box(copy.listing());
            sass_ms.push(start.elapsed().as_secs_f64() * 1e3);
            sass_kb.push((USED.load(Ordering::Relaxed) - before) as f64 / 1024.0);
            drop(copy);
            let before = USED.load(Ordering::Relaxed);
            PEAK.store(before, Ordering::Relaxed);
            let start = Instant::now();
            let diagnosis = diagnose(launch);
            diagnose_ms.push(start.elapsed().as_secs_f64() * 1e3);
            peak_kb.push((PEAK.load(Ordering::Relaxed) - before) as f64 / 1024.0);
            kept_kb.push((USED.load(Ordering::Relaxed) - before) as f64 / 1024.0);
            drop(diagnosis);
        }
    }
    println!("{} launches of the shipped recordings", diagnose_ms.len());
    row("parsing a launch's pages", &mut parse_ms, "ms");
    row("of it taking the SASS apart", &mut sass_ms, "ms");
    row("diagnosing a parsed launch", &mut diagnose_ms, "ms");
    row("parsed pages held", &mut parsed_kb, "KB");
    row("of them the SASS taken apart", &mut sass_kb, "KB");
    row("most memory during a diagnosis", &mut peak_kb, "KB");
    row("the diagnosis itself", &mut kept_kb, "KB");
}
