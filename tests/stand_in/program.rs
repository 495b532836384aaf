//! Stands in for a CUDA program and its driver: loads what `CUDA_INJECTION64_PATH` names as the driver does,
//! and has the stand-in for CUPTI record what its argument says.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::mem::transmute;

unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn fork() -> c_int;
    fn _exit(code: c_int) -> !;
    fn waitpid(process: c_int, status: *mut c_int, options: c_int) -> c_int;
}

fn open(path: &str) -> *mut c_void {
    let path = CString::new(path).unwrap();
    let library = unsafe { dlopen(path.as_ptr(), 2) };
    assert!(!library.is_null(), "{path:?} does not open");
    library
}

fn function(library: *mut c_void, name: &CStr) -> *mut c_void {
    let function = unsafe { dlsym(library, name.as_ptr()) };
    assert!(!function.is_null(), "no {name:?}");
    function
}

/// How long a kernel takes: the second rank works half as long again, and the first one waits for it.
fn duration(is_mul: bool) -> u64 {
    let rank = ["RANK", "OMPI_COMM_WORLD_RANK"].iter().find_map(|name| std::env::var(name).ok());
    // Ranks that do the same work.
    let is_alike = std::env::args().nth(1).is_some_and(|what| what == "alike");
    match rank.as_deref().filter(|_| !is_alike) {
        Some("0") if is_mul => 300,
        Some("1") if !is_mul => 150,
        _ => 100,
    }
}

/// What a survey should name as the caller of a million launches.
#[inline(never)]
fn in_a_loop(many: extern "C" fn(u32, u32)) {
    many(3, 1_000_000);
    std::hint::black_box(many);
}

#[inline(always)]
fn launches_one(call: extern "C" fn(u32, u32, u64, u64), number: u32, start: u64) {
    call(3, 100 + number, start - 5000, start - 1000); // the launch
}

/// Launches three kernels with a long pause before each: a survey should name the launch's line, and
/// the function that was inlined here where there is debug information.
#[inline(never)]
fn computes_alone(
    call: extern "C" fn(u32, u32, u64, u64),
    kernel: extern "C" fn(*const c_char, u32, u64, u64),
) {
    for number in 0..3_u32 {
        let start = 1_000_000_000 + 20_000_000 * u64::from(number);
        launches_one(call, number, start);
        kernel(c"_Z3addPfi".as_ptr(), 100 + number, start, start + 10_000_000);
    }
}

/// A child as a data loader's: it has its parent's memory, and none of its threads.
fn forks(end: &str) {
    let parent = std::process::id();
    // SAFETY: takes nothing; the child only sleeps and ends.
    if unsafe { fork() } == 0 {
        while std::os::unix::process::parent_id() == parent && !std::path::Path::new(end).exists() {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        // SAFETY: takes a number; what the parent has set up for its end is the parent's.
        unsafe { _exit(0) };
    }
}

/// Launches a kernel each ms until the file that the second argument names is there.
fn serves(cupti: *mut c_void) {
    type Kernel = extern "C" fn(*const c_char, u32);
    let kernel: Kernel = unsafe { transmute(function(cupti, c"stand_in_kernel_now")) };
    let end = std::env::args().nth(2).expect("a file whose presence ends the service");
    forks(&end);
    for number in 0.. {
        kernel(c"_Z3addPfi".as_ptr(), number);
        std::thread::sleep(std::time::Duration::from_millis(1));
        if std::path::Path::new(&end).exists() {
            return;
        }
    }
}

fn main() {
    let what = std::env::args().nth(1).unwrap_or_default();
    println!("the program runs");
    if what == "no-cuda" {
        return;
    }
    if let Ok(path) = std::env::var("CUDA_INJECTION64_PATH") {
        let initialize = function(open(&path), c"InitializeInjection");
        let initialize: extern "C" fn() -> c_int = unsafe { transmute(initialize) };
        assert_eq!(initialize(), 1);
        // Another copy of the driver would call it again.
        assert_eq!(initialize(), 1);
    }
    let Ok(cupti) = std::env::var("STAND_IN_CUPTI_PATH") else { return };
    let cupti = open(&cupti);
    type Kernel = extern "C" fn(*const c_char, u32, u64, u64);
    let kernel: Kernel = unsafe { transmute(function(cupti, c"stand_in_kernel")) };
    type Span = extern "C" fn(u32, u32, u64, u64);
    let call: Span = unsafe { transmute(function(cupti, c"stand_in_call")) };
    type Copy = extern "C" fn(u32, u64, u64, u64);
    let copy: Copy = unsafe { transmute(function(cupti, c"stand_in_copy")) };
    if what == "serves" {
        serves(cupti);
        return;
    }
    copy(1, 4096, 1000, 1500);
    type Memory = extern "C" fn(u32, u64, u64, u64);
    let memory: Memory = unsafe { transmute(function(cupti, c"stand_in_memory")) };
    // Three gigabytes for all launches, and six more for the second half of them.
    memory(1, 0x7000_0000, 3_000_000_000, 900);
    memory(1, 0x9000_0000, 6_000_000_000, 6500);
    memory(2, 0x9000_0000, 0, 60_000);
    let (mut add, mut mul) = (c"_Z3addPfi".as_ptr(), c"_Z3mulPf".as_ptr());
    // What a rank of several launches: one kernel that computes and one that waits, or the latter alone.
    let waits = c"_Z23ncclDevKernel_AllReducePf".as_ptr();
    match what.as_str() {
        "collective" => mul = waits,
        "collectives" => (add, mul) = (waits, waits),
        _ => {}
    }
    if what == "idles" {
        computes_alone(call, kernel);
        return;
    }
    if what == "many-calls" {
        type Many = extern "C" fn(u32, u32);
        let many: Many = unsafe { transmute(function(cupti, c"stand_in_many_calls")) };
        in_a_loop(many);
    }
    for number in 0..10_u32 {
        let start = 2000 + 1000 * u64::from(number);
        call(3, 2 + number, start - 100, start - 50);
        call(2, 0, start - 50, start - 49);
        let is_mul = number % 5 == 4;
        kernel(if is_mul { mul } else { add }, 2 + number, start, start + duration(is_mul));
    }
    match what.as_str() {
        "reset" => call(4, 50, 20_000, 20_010),
        "hangs" => {
            call(4, 50, 20_000, 20_010);
            std::thread::sleep(std::time::Duration::from_secs(600));
        }
        "lingers" => std::thread::sleep(std::time::Duration::from_millis(1500)),
        "fails" => std::process::exit(3),
        "aborts" => {
            // What CUPTI handed over until then stays.
            call(4, 50, 20_000, 20_010);
            std::process::abort()
        }
        "forks" => {
            let child = unsafe { fork() };
            if child == 0 {
                // The child ends in an orderly way too, with the parent's memory.
                std::process::exit(0);
            }
            unsafe { waitpid(child, std::ptr::null_mut(), 0) };
        }
        _ => {}
    }
}
