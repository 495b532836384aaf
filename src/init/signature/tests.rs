//! The tests of signatures.

use super::*;

fn of(text: &str) -> Vec<Kernel> {
    kernels(&Source::new(text))
}

/// Name, type, pointer, constant.
fn words(kernel: &Kernel) -> Vec<(&str, &str, bool, bool)> {
    let parameters = kernel.parameters.iter();
    parameters.map(|p| (p.name.as_str(), p.kind.as_str(), p.is_pointer, p.is_const)).collect()
}

#[test]
fn a_signature_is_read_word_by_word() {
    let found = of("extern \"C\" __global__ void __launch_bounds__(128, 4)\n\
         scale(const float* __restrict__ in, float *out, unsigned int n, const double a = 1.0) { \
         extern __shared__ float s[]; int y = blockIdx.y; }");
    let [kernel] = &found[..] else { panic!("{found:?}") };
    assert_eq!((kernel.name.as_str(), kernel.is_extern_c), ("scale", true));
    assert_eq!((kernel.most_threads, &kernel.template), (Some(128), &None));
    assert_eq!(
        words(kernel),
        [
            ("in", "float", true, true),
            ("out", "float", true, false),
            ("n", "unsigned int", false, false),
            ("a", "double", false, true)
        ]
    );
    let body = Body { is_there: true, uses_y: true, has_dynamic_shared: true };
    assert_eq!(kernel.body, body);
}

#[test]
fn templates_blocks_of_extern_c_and_declarations_are_told_apart() {
    let found =
        of("template <typename T, int N = 4> __global__ void t(T const* x, std::array<T, 2> y);\n\
         template __global__ void t<float, 4>(float const*, std::array<float, 2>);\n\
         extern \"C\" { __global__ static void c(int[], unsigned long long); }\n\
         namespace n { __launch_bounds__(B) __global__ void d(void) {} }\n\
         extern \"C\" __global__ void c(int v[], unsigned long long n) { if (n) { v[0] = 1; } }\n\
         __global__ void e(dim3 g) {}");
    let names: Vec<_> = found.iter().map(|k| (k.name.as_str(), k.is_extern_c)).collect();
    assert_eq!(names, [("t", false), ("c", true), ("d", false), ("e", false)]);
    assert_eq!(found[0].template.as_deref(), Some("typename T, int N=4"));
    assert_eq!(words(&found[0]), [("x", "T", true, true), ("y", "std::array<T, 2>", false, false)]);
    assert!(found[1].body.is_there, "the definition takes the declaration's place");
    assert_eq!(
        words(&found[1]),
        [("v", "int", true, false), ("n", "unsigned long long", false, false)]
    );
    assert!(found[2].parameters.is_empty());
    assert_eq!(found[2].most_threads, None);
    assert_eq!(words(&found[3]), [("g", "dim3", false, false)]);
}

#[test]
fn what_is_no_kernel_is_none() {
    for text in
        ["__global__", "__global__ void f", "__global__ void f(", "// __global__ void f() {}"]
    {
        assert!(of(text).is_empty(), "{text}");
    }
}

#[test]
fn a_source_of_broken_declarations_takes_no_longer_than_its_length() {
    for broken in ["__global__ f(", "__global__ void ", "template <", "{ __global__ f("] {
        let text = broken.repeat(100_000);
        let start = std::time::Instant::now();
        assert!(of(&text).is_empty(), "{broken}");
        assert!(start.elapsed().as_secs() < 20, "{broken}: {:?}", start.elapsed());
    }
}

#[test]
fn every_kernel_that_ships_is_found() {
    fn walk(folder: &std::path::Path, found: &mut usize) {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "cu") {
                let text = std::fs::read_to_string(&path).unwrap();
                let kernels = of(&text);
                assert!(!kernels.is_empty(), "{}", path.display());
                *found += kernels.len();
            }
        }
    }
    let mut found = 0;
    walk(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels"), &mut found);
    assert!(found >= 369, "{found}");
}
