//! Which frame of a stack is of interest: the program's own code, not what lies between it and CUDA.

use crate::survey::callers::Frame;

/// Programs that run other people's text: their own functions say nothing of it.
const INTERPRETERS: [&str; 8] =
    ["python", "julia", "ruby", "node", "perl", "java", "octave", "lua"];

/// Folders of libraries that somebody else wrote, in part or as the beginning of a path.
const FOLDERS_OF_OTHERS: [&str; 3] = ["/site-packages/", "/dist-packages/", "/.triton/"];
const ROOTS_OF_OTHERS: [&str; 6] = ["/usr/", "/lib/", "/lib64/", "/opt/", "/nix/", "/snap/"];

/// The runtime where it is a library of its own.
const RUNTIME: &str = "libcudart";

/// Libraries below everything: what they have on a stack is how it began.
const FLOOR: [&str; 10] = [
    RUNTIME,
    "libc.",
    "libc-",
    "ld-linux",
    "libpthread",
    "libstdc++",
    "libgcc_s",
    "libm.",
    "libdl",
    "libpython",
];

/// The file's name without folders.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// True for the program's own code: its executable, and libraries from no folder of the system's or of packages.
pub(super) fn is_own(frame: &Frame) -> bool {
    let name = file_name(&frame.file);
    if frame.is_executable {
        return !INTERPRETERS.iter().any(|interpreter| name.starts_with(interpreter));
    }
    let file = &*frame.file;
    !is_floor(name)
        && !ROOTS_OF_OTHERS.iter().any(|root| file.starts_with(root))
        && !FOLDERS_OF_OTHERS.iter().any(|folder| file.contains(folder))
        // Without a folder it is one that the loader found by its name alone.
        && file.contains('/')
}

/// True for a library of others whose functions tell what the program asked for (`at::native::…`).
pub(super) fn is_library_of_interest(frame: &Frame) -> bool {
    !frame.is_executable && !is_own(frame) && !is_floor(file_name(&frame.file))
}

/// True where the frame is in the runtime's own library.
pub(super) fn is_runtime(frame: &Frame) -> bool {
    file_name(&frame.file).starts_with(RUNTIME)
}

fn is_floor(name: &str) -> bool {
    FLOOR.iter().any(|floor| name.starts_with(floor))
}

/// True for functions of the runtime and the driver, which programs have inside them where they are linked statically,
/// and for those that the compiler makes for each kernel.
pub(super) fn is_plumbing(function: &str) -> bool {
    let name = function.trim_start_matches('_');
    let is_of = |prefix: &str| {
        let rest = name.strip_prefix(prefix);
        rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
    };
    is_of("cuda")
        || is_of("cu")
        || ["cudart", "libcudart_static", "device_stub_"].iter().any(|part| name.starts_with(part))
}

/// True for a mangled name of a namespace that programs have from headers: the standard library's, Thrust's, CUB's, and
/// libcu++'s.
pub(super) fn is_of_headers(symbol: &str) -> bool {
    let Some(name) = symbol.strip_prefix("_Z") else { return false };
    let name = name.strip_prefix("NK").or_else(|| name.strip_prefix('N')).unwrap_or(name);
    ["St", "9__gnu_cxx", "6thrust", "3cub", "4cuda"].iter().any(|space| name.starts_with(space))
}

/// True for a header of CUDA's, the compiler's, or the system's, whose functions are inlined into others.
pub(super) fn is_header_of_others(file: &str) -> bool {
    let roots = ["/usr/include/", "/usr/lib/", "/usr/local/cuda", "/opt/", "/rustc/"];
    roots.iter().any(|root| file.starts_with(root))
        || ["cuda_runtime.h", "cuda_runtime_api.h"].contains(&file_name(file))
        || ["/cuda/include/", "/cuda_runtime/include/", "/targets/x86_64-linux/include/", "/bits/"]
            .iter()
            .any(|folder| file.contains(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(file: &str, is_executable: bool) -> Frame {
        Frame { file: file.into(), is_executable, address: 1 }
    }

    #[test]
    fn programs_and_their_libraries_are_own_and_interpreters_and_packages_are_not() {
        for (file, is_executable, own, of_interest) in [
            ("/home/me/train", true, true, false),
            ("/usr/local/bin/train", true, true, false),
            ("/usr/bin/python3.12", true, false, false),
            ("/home/me/build/libsteps.so", false, true, false),
            ("./libsteps.so", false, true, false),
            (
                "/home/me/env/lib/python3.12/site-packages/torch/lib/libtorch_cuda.so",
                false,
                false,
                true,
            ),
            ("/usr/lib/x86_64-linux-gnu/libfoo.so", false, false, true),
            ("/home/me/.triton/cache/x/launcher.so", false, false, true),
            ("/usr/lib/x86_64-linux-gnu/libc.so.6", false, false, false),
            ("/home/me/env/libcudart.so.13", false, false, false),
            ("libfoo.so", false, false, true),
        ] {
            let frame = frame(file, is_executable);
            assert_eq!(
                (is_own(&frame), is_library_of_interest(&frame)),
                (own, of_interest),
                "{file}"
            );
        }
    }

    #[test]
    fn functions_of_cuda_are_plumbing() {
        for name in [
            "cudaLaunchKernel",
            "__cudaLaunchKernel_ptsz",
            "cuMemcpyHtoD_v2",
            "libcudart_static_4ca10aa9",
            "__cudart123",
            "__device_stub__Z3addPfi",
        ] {
            assert!(is_plumbing(name), "{name}");
        }
        for name in ["step", "cuda_step", "customize", "cudamatrix", "main", ""] {
            assert!(!is_plumbing(name), "{name}");
        }
    }

    #[test]
    fn templates_of_headers_are_not_the_programs_own() {
        // void thrust::copy<float*>(float*), std::vector<int>::size() const, std::terminate(), cuda::std::…
        for symbol in [
            "_ZN6thrust4copyIPfEEvT_",
            "_ZNKSt6vectorIiE4sizeEv",
            "_ZSt9terminatev",
            "_ZN4cuda3std1fEv",
        ] {
            assert!(is_of_headers(symbol), "{symbol}");
        }
        for symbol in ["_ZN3app4stepEv", "_Z4stepi", "main", "St", "_ZN7thrusts1fEv"] {
            assert!(!is_of_headers(symbol), "{symbol}");
        }
    }

    #[test]
    fn headers_of_others_are_not_where_a_program_calls() {
        for file in [
            "/usr/local/cuda-13.0/targets/x86_64-linux/include/cuda_runtime.h",
            "/usr/include/c++/13/bits/stl_vector.h",
            "../include/cuda_runtime.h",
        ] {
            assert!(is_header_of_others(file), "{file}");
        }
        assert!(!is_header_of_others("/home/me/include/step.h"));
        assert!(!is_header_of_others("src/main.cu"));
    }
}
