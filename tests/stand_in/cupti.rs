//! Stands in for libcupti.so: hands records to the callbacks as CUPTI does, and writes what it is asked for
//! into the file that `STAND_IN_CUPTI_LOG` names. Compiled by the test of the survey's library.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::io::Write;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, OnceLock};
use std::time::Instant;

type Requested = extern "C" fn(*mut *mut u8, *mut usize, *mut usize);
type Completed = extern "C" fn(*mut c_void, u32, *mut u8, usize, usize);
type Callback = extern "C" fn(*mut c_void, u32, u32, *const u32);

static BUFFERS: Mutex<Option<(Requested, Completed)>> = Mutex::new(None);
static CALLBACK: Mutex<Option<Callback>> = Mutex::new(None);
static RECORDS_MEMORY: AtomicBool = AtomicBool::new(false);
static RECORDS_KERNELS: AtomicBool = AtomicBool::new(false);
/// The first question for the time, from which a clock counts that runs.
static STARTED: OnceLock<Instant> = OnceLock::new();
/// Records that wait for a flush.
static WAITING: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

fn log(line: &str) {
    if let Some(path) = std::env::var_os("STAND_IN_CUPTI_LOG") {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        writeln!(file.unwrap(), "{line}").unwrap();
    }
}

fn is_case(case: &str) -> bool {
    std::env::var("STAND_IN_CUPTI").is_ok_and(|value| value == case)
}

/// A record of a kind: a length in bytes and fields at offsets.
fn record(kind: u32, length: usize, fields: &[(usize, &[u8])]) {
    let mut bytes = vec![0; length];
    bytes[..4].copy_from_slice(&kind.to_le_bytes());
    for (at, field) in fields {
        bytes[*at..*at + field.len()].copy_from_slice(field);
    }
    WAITING.lock().unwrap().push(bytes);
}

/// A kernel as the program launches one: the name stays for ever.
#[unsafe(no_mangle)]
pub extern "C" fn stand_in_kernel(name: *const c_char, correlation: u32, start: u64, end: u64) {
    let grid = if correlation % 2 == 0 { 64_u32 } else { 32 };
    record(
        10,
        216,
        &[
            (6, &40_u16.to_le_bytes()),
            (16, &start.to_le_bytes()),
            (24, &end.to_le_bytes()),
            (40, &0_u32.to_le_bytes()),
            (44, &1_u32.to_le_bytes()),
            (48, &7_u32.to_le_bytes()),
            (52, &grid.to_le_bytes()),
            (56, &2_u32.to_le_bytes()),
            (60, &1_u32.to_le_bytes()),
            (64, &128_u32.to_le_bytes()),
            (68, &1_u32.to_le_bytes()),
            (72, &1_u32.to_le_bytes()),
            (76, &1024_u32.to_le_bytes()),
            (80, &2048_u32.to_le_bytes()),
            (84, &16_u32.to_le_bytes()),
            (92, &correlation.to_le_bytes()),
            (104, &(name as u64).to_le_bytes()),
            (156, &0_u32.to_le_bytes()),
        ],
    );
}

#[unsafe(no_mangle)]
pub extern "C" fn stand_in_copy(correlation: u32, bytes: u64, start: u64, end: u64) {
    record(
        1,
        88,
        &[
            // Host to device, pageable to device, asynchronous.
            (4, &[1, 1, 3, 1]),
            (8, &bytes.to_le_bytes()),
            (16, &start.to_le_bytes()),
            (24, &end.to_le_bytes()),
            (40, &7_u32.to_le_bytes()),
            (44, &correlation.to_le_bytes()),
        ],
    );
}

/// Device memory that is taken (operation 1) or given back (2).
#[unsafe(no_mangle)]
pub extern "C" fn stand_in_memory(operation: u32, address: u64, bytes: u64, time: u64) {
    if !RECORDS_MEMORY.load(Relaxed) {
        return;
    }
    record(
        49,
        128,
        &[
            (4, &operation.to_le_bytes()),
            // The device's memory.
            (8, &3_u32.to_le_bytes()),
            (16, &address.to_le_bytes()),
            (24, &bytes.to_le_bytes()),
            (32, &time.to_le_bytes()),
            (52, &0_u32.to_le_bytes()),
        ],
    );
}

/// A call of the runtime's function number `function`.
#[unsafe(no_mangle)]
pub extern "C" fn stand_in_call(function: u32, correlation: u32, start: u64, end: u64) {
    record(
        5,
        40,
        &[
            (4, &function.to_le_bytes()),
            (8, &start.to_le_bytes()),
            (16, &end.to_le_bytes()),
            (28, &99_u32.to_le_bytes()),
            (32, &correlation.to_le_bytes()),
        ],
    );
    call_back(function, correlation);
}

/// The callbacks before and after a call, without a record.
fn call_back(function: u32, correlation: u32) {
    let callback = *CALLBACK.lock().unwrap();
    let Some(callback) = callback else { return };
    for side in [0, 1] {
        // As `CUpti_CallbackData` has them.
        let mut data = [0_u32; 18];
        (data[0], data[16]) = (side, correlation);
        callback(std::ptr::null_mut(), 2, function, data.as_ptr());
    }
}

/// So many calls without records: the log says how long the callbacks took, in ns per call.
#[unsafe(no_mangle)]
pub extern "C" fn stand_in_many_calls(function: u32, count: u32) {
    let start = std::time::Instant::now();
    for number in 0..count {
        call_back(function, 1000 + number);
    }
    let ns = start.elapsed().as_nanos() / u128::from(count.max(1));
    log(&format!("ns per call {ns}"));
}

#[unsafe(no_mangle)]
pub extern "C" fn cuptiGetVersion(version: *mut u32) -> c_int {
    unsafe { *version = if is_case("old") { 14 } else { 130_001 } };
    0
}

fn now() -> u64 {
    STARTED.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// A kernel that ends now, with the call that launched it, where somebody wants to know.
#[unsafe(no_mangle)]
pub extern "C" fn stand_in_kernel_now(name: *const c_char, correlation: u32) {
    if !RECORDS_KERNELS.load(Relaxed) {
        return;
    }
    let end = now() + 20_000;
    stand_in_call(3, correlation, end - 15_000, end - 11_000);
    stand_in_kernel(name, correlation, end - 10_000, end);
}

#[unsafe(no_mangle)]
pub extern "C" fn cuptiGetTimestamp(time: *mut u64) -> c_int {
    unsafe { *time = if is_case("clock") { now() } else { 500 } };
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn cuptiActivityRegisterCallbacks(
    requested: Requested,
    completed: Completed,
) -> c_int {
    *BUFFERS.lock().unwrap() = Some((requested, completed));
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn cuptiActivityEnable(kind: u32) -> c_int {
    log(&format!("kind {kind}"));
    if kind == 10 && is_case("refuses") {
        return 15;
    }
    if kind == 10 {
        RECORDS_KERNELS.store(true, Relaxed);
    }
    if kind == 49 {
        if is_case("no-memory-records") {
            return 15;
        }
        RECORDS_MEMORY.store(true, Relaxed);
    }
    if kind == 8 {
        record(
            8,
            160,
            &[
                (16, &16_000_000_000_u64.to_le_bytes()),
                (44, &132_u32.to_le_bytes()),
                (104, &9_u32.to_le_bytes()),
                (136, &(c"NVIDIA Stand-in".as_ptr() as u64).to_le_bytes()),
            ],
        );
    }
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn cuptiActivityDisable(kind: u32) -> c_int {
    log(&format!("no kind {kind}"));
    match kind {
        10 => RECORDS_KERNELS.store(false, Relaxed),
        49 => RECORDS_MEMORY.store(false, Relaxed),
        _ => {}
    }
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn cuptiActivityEnableDriverApi(_function: u32, _enable: u8) -> c_int {
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn cuptiActivityEnableRuntimeApi(function: u32, _enable: u8) -> c_int {
    log(&format!("function {function}"));
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn cuptiActivityFlushPeriod(_ms: u32) -> c_int {
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn cuptiActivityFlushAll(flag: u32) -> c_int {
    log(&format!("flush {flag}"));
    let records = std::mem::take(&mut *WAITING.lock().unwrap());
    let Some((requested, completed)) = *BUFFERS.lock().unwrap() else { return 0 };
    // Two buffers, so that one is used again.
    for part in records.chunks(records.len().div_ceil(2).max(1)) {
        let (mut buffer, mut size, mut most) = (std::ptr::null_mut(), 0, 0);
        requested(&mut buffer, &mut size, &mut most);
        let mut at = 0;
        for record in part {
            // Each record behind its length, which is how `cuptiActivityGetNextRecord` below walks.
            unsafe {
                buffer.add(at).cast::<u64>().write(record.len() as u64);
                std::ptr::copy_nonoverlapping(record.as_ptr(), buffer.add(at + 8), record.len());
            }
            at += 8 + record.len().next_multiple_of(8);
        }
        assert!(at <= size);
        completed(std::ptr::null_mut(), 0, buffer, size, at);
    }
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn cuptiActivityGetNextRecord(
    buffer: *mut u8,
    valid: usize,
    record: *mut *mut u8,
) -> c_int {
    unsafe {
        let next = if (*record).is_null() {
            buffer
        } else {
            let length = (*record).sub(8).cast::<u64>().read() as usize;
            (*record).add(length.next_multiple_of(8))
        };
        if next.offset_from(buffer) as usize >= valid {
            return 12;
        }
        *record = next.add(8);
    }
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn cuptiActivityGetNumDroppedRecords(
    _context: *mut c_void,
    _stream: u32,
    dropped: *mut usize,
) -> c_int {
    unsafe { *dropped = 3 };
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn cuptiActivityConfigureUnifiedMemoryCounter(_: *const [u32; 4], _: u32) -> c_int {
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn cuptiGetCallbackName(
    domain: u32,
    number: u32,
    name: *mut *const c_char,
) -> c_int {
    let found: &CStr = match (domain, number) {
        (2, 1) => c"cudaMalloc_v3020",
        (2, 2) => c"cudaGetLastError_v3020",
        (2, 3) => c"cudaLaunchKernel_v7000",
        (2, 4) => c"cudaDeviceReset_v3020",
        (1, 1) => c"cuMemcpyHtoD_v2_ptds",
        _ => return 1,
    };
    unsafe { *name = found.as_ptr() };
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn cuptiSubscribe(
    subscriber: *mut *mut c_void,
    callback: Callback,
    _user: *mut c_void,
) -> c_int {
    unsafe { *subscriber = 8 as *mut c_void };
    *CALLBACK.lock().unwrap() = Some(callback);
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn cuptiEnableCallback(_: u32, _: *mut c_void, domain: u32, number: u32) -> c_int {
    log(&format!("callback {domain} {number}"));
    0
}
