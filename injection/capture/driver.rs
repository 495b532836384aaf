//! The driver's functions that a capture needs, taken from the driver that the process has loaded.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::mem;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU8, Ordering};

use crate::sys::{self, Library};

/// A handle or an address of the driver's.
pub type Handle = *mut c_void;
/// A device address.
pub type Address = u64;

/// What is asked of a pointer (`CUpointer_attribute`).
pub mod pointer {
    pub const MEMORY_TYPE: u32 = 2;
    pub const IS_MANAGED: u32 = 8;
    pub const RANGE_START: u32 = 11;
    pub const RANGE_SIZE: u32 = 12;
}

/// Pinned memory of the host (`CU_MEMORYTYPE_HOST`).
pub const HOST: u32 = 1;

/// The stream that stands for 0 where a function's name ends with `_ptsz`.
const PER_THREAD: usize = 2;

/// The limit of a thread's stack (`CU_LIMIT_STACK_SIZE`).
const STACK: u32 = 0;

/// The driver's functions, each returning 0 for success.
pub struct Driver {
    version: unsafe extern "C" fn(*mut c_int) -> c_int,
    synchronize: unsafe extern "C" fn() -> c_int,
    copy_to_host: unsafe extern "C" fn(*mut c_void, Address, usize) -> c_int,
    pointer: unsafe extern "C" fn(*mut c_void, u32, Address) -> c_int,
    module_of: unsafe extern "C" fn(*mut Handle, Handle) -> c_int,
    global: unsafe extern "C" fn(*mut Address, *mut usize, Handle, *const c_char) -> c_int,
    attribute: unsafe extern "C" fn(*mut c_int, u32, Handle) -> c_int,
    limit: unsafe extern "C" fn(*mut usize, u32) -> c_int,
    capturing: unsafe extern "C" fn(Handle, *mut u32) -> c_int,
    /// From CUDA 12.0 on.
    function_of: Option<unsafe extern "C" fn(*mut Handle, Handle) -> c_int>,
    /// From CUDA 12.4 on.
    parameter: unsafe extern "C" fn(Handle, usize, *mut usize, *mut usize) -> c_int,
    load: Option<unsafe extern "C" fn(Handle) -> c_int>,
}

static KEPT: AtomicPtr<Driver> = AtomicPtr::new(ptr::null_mut());
static ATTEMPTS: AtomicU8 = AtomicU8::new(0);

impl Driver {
    /// The functions, looked up once; `None` where the driver lacks one, and to whoever asks while another thread looks.
    pub fn kept() -> Option<&'static Self> {
        if ATTEMPTS.swap(1, Ordering::AcqRel) == 0 {
            let place = Self::open().zip(sys::memory(mem::size_of::<Self>()));
            if let Some((driver, place)) = place {
                let place = place.cast::<Self>();
                // SAFETY: fresh memory, large enough and aligned to a page, which is never given back.
                unsafe { place.write(driver) };
                KEPT.store(place, Ordering::Release);
            }
        }
        // SAFETY: null or what was put there, which stays for ever.
        unsafe { KEPT.load(Ordering::Acquire).as_ref() }
    }

    /// The functions of the loaded driver; `None` where it lacks one, as before CUDA 12.4.
    pub fn open() -> Option<Self> {
        let library = Library::loaded(c"libcuda.so.1")?;
        let function = |name: &CStr| library.function(name);
        // SAFETY: each is the function of that name in the driver's header, whose versions keep their types; a
        // pointer to it is as large as `*mut c_void`.
        unsafe {
            Some(Self {
                version: mem::transmute(function(c"cuDriverGetVersion")?),
                synchronize: mem::transmute(function(c"cuCtxSynchronize")?),
                copy_to_host: mem::transmute(function(c"cuMemcpyDtoH_v2")?),
                pointer: mem::transmute(function(c"cuPointerGetAttribute")?),
                module_of: mem::transmute(function(c"cuFuncGetModule")?),
                global: mem::transmute(function(c"cuModuleGetGlobal_v2")?),
                attribute: mem::transmute(function(c"cuFuncGetAttribute")?),
                limit: mem::transmute(function(c"cuCtxGetLimit")?),
                capturing: mem::transmute(function(c"cuStreamIsCapturing")?),
                function_of: mem::transmute(function(c"cuKernelGetFunction")),
                parameter: mem::transmute(function(c"cuFuncGetParamInfo")?),
                load: mem::transmute(function(c"cuFuncLoad")),
            })
        }
    }

    pub fn version(&self) -> u32 {
        let mut version = 0;
        // SAFETY: fills the place.
        unsafe { (self.version)(&raw mut version) };
        version as u32
    }

    /// Waits for everything in the context.
    pub fn synchronize(&self) -> bool {
        // SAFETY: takes nothing.
        unsafe { (self.synchronize)() == 0 }
    }

    /// # Safety
    /// `to` has room for `length` bytes.
    pub unsafe fn read(&self, from: Address, to: *mut u8, length: usize) -> bool {
        // SAFETY: the caller vouches for the room; the driver checks the address.
        unsafe { (self.copy_to_host)(to.cast(), from, length) == 0 }
    }

    /// An attribute of whatever lies at an address; `None` where nothing of CUDA's does.
    pub fn pointer(&self, attribute: u32, address: Address) -> Option<u64> {
        let mut value = 0_u64;
        // SAFETY: no attribute asked for here is larger than 8 bytes.
        let result = unsafe { (self.pointer)((&raw mut value).cast(), attribute, address) };
        (result == 0).then_some(value)
    }

    /// The function of what a launch names, which may be a kernel of a library, and its module.
    pub fn function(&self, launched: Handle) -> Option<(Handle, Handle)> {
        let mut module = ptr::null_mut();
        // SAFETY: fills the place, or refuses a handle of another kind.
        if unsafe { (self.module_of)(&raw mut module, launched) } == 0 {
            return Some((launched, module));
        }
        let mut function = ptr::null_mut();
        // SAFETY: as above.
        unsafe {
            let found = (self.function_of?)(&raw mut function, launched) == 0
                && (self.module_of)(&raw mut module, function) == 0;
            found.then_some((function, module))
        }
    }

    /// Has a function's code loaded, which the driver puts off until it is first launched.
    pub fn load(&self, function: Handle) {
        if let Some(load) = self.load {
            // SAFETY: the handle is a function's.
            unsafe { load(function) };
        }
    }

    /// The offset and the size of a parameter; `None` behind the last.
    pub fn parameter(&self, function: Handle, index: usize) -> Option<(usize, usize)> {
        let (mut offset, mut size) = (0, 0);
        // SAFETY: the handle is a function's, and both places are filled.
        let result = unsafe { (self.parameter)(function, index, &raw mut offset, &raw mut size) };
        (result == 0).then_some((offset, size))
    }

    /// An attribute of a function (`CUfunction_attribute`); -1 where the driver doesn't know it.
    pub fn attribute(&self, function: Handle, attribute: u32) -> i32 {
        let mut value = -1;
        // SAFETY: the handle is a function's, and the place is filled.
        let result = unsafe { (self.attribute)(&raw mut value, attribute, function) };
        if result == 0 { value } else { -1 }
    }

    /// Where a variable of a module lies, and its size.
    pub fn global(&self, module: Handle, name: &CStr) -> Option<(Address, usize)> {
        let (mut address, mut size) = (0, 0);
        // SAFETY: the handle is a module's, the name ends with a zero, and both places are filled.
        let result =
            unsafe { (self.global)(&raw mut address, &raw mut size, module, name.as_ptr()) };
        (result == 0 && size > 0).then_some((address, size))
    }

    /// The bytes of a thread's stack.
    pub fn stack(&self) -> u64 {
        let mut bytes = 0;
        // SAFETY: fills the place.
        unsafe { (self.limit)(&raw mut bytes, STACK) };
        bytes as u64
    }

    /// True where work on this stream goes into a graph instead of being run. Not known means so too.
    pub fn is_capturing(&self, stream: Handle, is_per_thread: bool) -> bool {
        let default = ptr::without_provenance_mut(PER_THREAD);
        let stream = if stream.is_null() && is_per_thread { default } else { stream };
        let mut status = 0;
        // SAFETY: the stream is one that the program launches on, and the place is filled.
        let result = unsafe { (self.capturing)(stream, &raw mut status) };
        result != 0 || status != 0
    }
}
