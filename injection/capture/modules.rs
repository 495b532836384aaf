//! Modules that have the wanted kernel: their machine code is kept from the moment they are loaded, because the
//! driver shows it only then.

use core::ffi::CStr;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use super::file::{File, Tag};
use super::symbols::Elf;
use crate::sys;

/// Modules with a kernel of one name, at most.
const MOST: usize = 256;

struct Module {
    code: AtomicPtr<u8>,
    length: AtomicUsize,
}

static MODULES: [Module; MOST] =
    [const { Module { code: AtomicPtr::new(ptr::null_mut()), length: AtomicUsize::new(0) } }; MOST];
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Keeps a module's machine code where it has the kernel.
///
/// # Safety
/// `data` is CUPTI's structure for a module that was loaded.
pub unsafe fn loaded(data: *const u32, kernel: &[u8]) {
    // SAFETY: the third field points to the module's structure: a number, the size, and the code.
    unsafe {
        let module = data.cast::<*const u8>().add(2).read_unaligned();
        if module.is_null() {
            return;
        }
        let length = module.add(8).cast::<usize>().read_unaligned();
        let code = module.add(16).cast::<*const u8>().read_unaligned();
        if code.is_null() || !has_kernel(&*ptr::slice_from_raw_parts(code, length), kernel) {
            return;
        }
        let Some(place) = MODULES.get(COUNT.fetch_add(1, Ordering::AcqRel)) else { return };
        let Some(copy) = sys::memory(length) else { return };
        ptr::copy_nonoverlapping(code, copy, length);
        place.length.store(length, Ordering::Release);
        place.code.store(copy, Ordering::Release);
    }
}

/// True where a section holds the kernel's code: `.text.` and its name, between zeros of the table of names.
fn has_kernel(code: &[u8], kernel: &[u8]) -> bool {
    let prefix = b".text.";
    let mut rest = code;
    while let Some(at) = rest.iter().position(|&byte| byte == b'.') {
        let Some(from) = rest.get(at..) else { return false };
        if let Some(name) = from.strip_prefix(prefix)
            && name.get(..kernel.len()) == Some(kernel)
            && name.get(kernel.len()) == Some(&0)
        {
            return true;
        }
        let Some(next) = from.get(1..) else { return false };
        rest = next;
    }
    false
}

fn each(mut work: impl FnMut(&'static [u8])) {
    for module in &MODULES {
        let code = module.code.load(Ordering::Acquire);
        if !code.is_null() {
            // SAFETY: the code was written before the pointer to it, and stays.
            work(unsafe {
                &*ptr::slice_from_raw_parts(code, module.length.load(Ordering::Acquire))
            });
        }
    }
}

/// Writes every kept module. False where there is none, or the file can't be written.
pub fn write(file: &File) -> bool {
    let (mut any, mut all) = (false, true);
    each(|code| {
        any = true;
        all &= file.record(Tag::Cubin, 0, &[code]);
    });
    any && all
}

/// The names of the variables of all kept modules.
pub fn each_variable(mut work: impl FnMut(&'static CStr)) {
    each(|code| {
        Elf(code).variables(&mut work);
    });
}
