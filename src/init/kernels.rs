//! The manifest of a ladder of kernels, from their signatures.

mod problem;
mod types;

use super::lines::Lines;
use super::signature::{Kernel, Parameter, kernels};
use super::{GUESS, Source, quoted};
use problem::{Buffer, Problem, buffer_name};
use types::dtype;

/// Threads of a block where nothing says how many.
const THREADS: u64 = 256;

/// Threads of a block in x and in y where a kernel reads indices in y.
const SIDE: u64 = 16;

/// A manifest for the kernels of a file.
///
/// # Errors
/// Why none can be written.
pub(crate) fn manifest(ladder: &str, file: &str, source: &Source) -> Result<String, String> {
    let kernels = kernels(source);
    let Some(first) = kernels.iter().find(|kernel| obstacle(kernel).is_none()) else {
        return Err(match kernels.first() {
            None => "it declares no `__global__` function".to_owned(),
            Some(kernel) => format!(
                "a manifest can launch none of its kernels: `{}` {}",
                kernel.name,
                obstacle(kernel).unwrap_or_default()
            ),
        });
    };
    let mut problem = Problem::of(first);
    for other in kernels.iter().map(Problem::of) {
        problem.join(&other);
    }
    let mut lines = Lines::default();
    lines.comment(&format!(
        "A ladder for {file}, from its kernels' signatures: names, types, and blocks with launch bounds were \
         read; what is marked {GUESS} was not and is yours to correct. `adoprof ladder check` finds what does \
         not fit, and docs/ladder-manifest.md has every key."
    ));
    lines.gap();
    head(&mut lines, ladder, first, &problem);
    for buffer in &problem.buffers {
        lines.gap();
        buffer.write(&mut lines, &problem);
    }
    for kernel in &kernels {
        lines.gap();
        let obstacle = obstacle(kernel).or_else(|| {
            (!Problem::of(kernel).is_like(&problem)).then(|| {
                format!(
                    "does not take the buffers of `{}`: a step of the same problem writes the same outputs; \
                     declare the buffers that it lacks, or launch it in a step with others",
                    first.name
                )
            })
        });
        if let Some(obstacle) = &obstacle {
            lines.comment(&format!("`{}` {obstacle}.", kernel.name));
        }
        lines.commented(obstacle.is_some());
        step(&mut lines, file, kernel, &problem);
        lines.commented(false);
    }
    Ok(lines.finish())
}

fn head(lines: &mut Lines, ladder: &str, first: &Kernel, problem: &Problem) {
    let elements = problem.elements();
    let per_element: u64 = problem.buffers.iter().map(Buffer::bytes_per_element).sum();
    let bytes = quoted(&format!("{} * {elements}", per_element.max(1)));
    lines.entry("name", &quoted(ladder), "");
    lines.entry("title", &quoted(&format!("what {} computes", first.name)), GUESS);
    lines.entry("reference", &quoted(&first.name), "the step whose answer is right");
    let comment = "how far the others may be from it; 0 demands equality";
    lines.entry("tolerance", "{ relative = 1e-5 }", comment);
    lines.entry("bytes", &bytes, &format!("{GUESS}: bytes that the problem has to move"));
    lines.entry("flops", &quoted(&elements), &format!("{GUESS}: its floating-point operations"));
    lines.entry(
        "metric",
        &format!("{{ unit = \"GB/s\", work = {bytes} }}"),
        "the figure of merit: work / seconds / 10^9",
    );
    lines.gap();
    lines.line("[parameters]");
    for (name, value) in &problem.parameters {
        let comment = format!("{GUESS}: `--size {name}=…` overrides it");
        lines.entry(name, &value.to_string(), &comment);
    }
}

fn step(lines: &mut Lines, file: &str, kernel: &Kernel, problem: &Problem) {
    lines.line("[[steps]]");
    lines.entry("name", &quoted(&kernel.name), "");
    lines.entry("title", &quoted(&format!("{} as it is", kernel.name)), GUESS);
    lines.entry("file", &quoted(file), "");
    lines.gap();
    lines.line("[[steps.launches]]");
    lines.entry("kernel", &quoted(&kernel.name), "");
    let (grid, block, comment) = shape(kernel, problem);
    lines.entry("grid", &grid, &format!("{GUESS}: blocks in x, y, z"));
    lines.entry("block", &block, &comment);
    if kernel.body.has_dynamic_shared {
        let comment = format!("{GUESS}: bytes of dynamic shared memory per block");
        lines.entry("shared", "1024", &comment);
    }
    let mut is_guess = false;
    let arguments: Vec<String> = kernel
        .parameters
        .iter()
        .enumerate()
        .map(|(at, parameter)| match (parameter.is_pointer, dtype(&parameter.kind)) {
            (true, _) => quoted(&buffer_name(at, parameter)),
            (false, Some(dtype)) => {
                let name = problem.parameter_of(parameter);
                is_guess |= name.is_none();
                let value = name.unwrap_or_else(|| "1".to_owned());
                format!("{{ type = \"{}\", value = \"{value}\" }}", dtype.word())
            }
            (false, None) => {
                is_guess = true;
                "{ type = \"i32\", value = \"1\" }".to_owned()
            }
        })
        .collect();
    let comment = if is_guess { format!("{GUESS}: the values 1") } else { String::new() };
    lines.entry("args", &format!("[{}]", arguments.join(", ")), &comment);
}

/// Grid, block, and what to say of the block.
fn shape(kernel: &Kernel, problem: &Problem) -> (String, String, String) {
    let read = kernel.most_threads.map(|most| format!("`__launch_bounds__` allows {most} threads"));
    let guess = format!("{GUESS}: threads in x, y, z");
    let names: Vec<&str> = problem.parameters.iter().map(|(name, _)| name.as_str()).collect();
    if let ([.., y, x], true) = (&names[..], kernel.body.uses_y) {
        let fits = kernel.most_threads.is_none_or(|most| most >= SIDE * SIDE);
        let side = if fits { SIDE } else { 8 };
        let grid = format!("[\"ceil({x} / {side})\", \"ceil({y} / {side})\"]");
        return (grid, format!("[{side}, {side}]"), read.unwrap_or(guess));
    }
    let threads = kernel.most_threads.unwrap_or(THREADS).clamp(1, 1024);
    let grid = format!("[\"ceil({} / {threads})\"]", problem.elements());
    (grid, format!("[{threads}]"), read.unwrap_or(guess))
}

/// Why a manifest can't launch a kernel.
fn obstacle(kernel: &Kernel) -> Option<String> {
    if kernel.template.is_some() {
        return Some(
            "is a template: declare an extern \"C\" kernel that calls its body with the arguments that you \
             want, and take the lines below for that one"
                .to_owned(),
        );
    }
    let by_value =
        |parameter: &&Parameter| !parameter.is_pointer && dtype(&parameter.kind).is_none();
    if let Some(parameter) = kernel.parameters.iter().find(by_value) {
        return Some(format!(
            "takes a `{}` by value, which a manifest can't pass: split it into numbers and buffers, or make \
             the step a program with `run`",
            parameter.kind
        ));
    }
    let writes = |parameter: &Parameter| parameter.is_pointer && !parameter.is_const;
    if !kernel.parameters.iter().any(writes) {
        return Some("writes to no pointer, so there is no answer to check".to_owned());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ladder::{Ladder, Overrides};
    use crate::plan::{Argument, DType, Role};

    /// The ladder that a source's manifest makes.
    fn ladder(text: &str) -> (Ladder, String) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("k.cu"), text).unwrap();
        let written = manifest("mine", "k.cu", &Source::new(text)).unwrap();
        std::fs::write(dir.path().join("ladder.toml"), &written).unwrap();
        (Ladder::load(dir.path()).unwrap_or_else(|error| panic!("{error}\n{written}")), written)
    }

    #[test]
    fn what_is_written_is_a_ladder_that_plans() {
        let (ladder, text) = ladder(
            "__global__ __launch_bounds__(128) void scale(const float* in, float4* out, float a, int n) {}\n\
             extern \"C\" __global__ void faster(const float* in, float4* out, float a, int n) {}\n\
             __global__ void other(double* sums) {}\n\
             template <int N> __global__ void wide(const float* in, float4* out, float a, int n) {}\n",
        );
        let plan = ladder.plan("scale", &Overrides::new(), 1).unwrap();
        // 2^24 elements in blocks of 128.
        assert_eq!((plan.launches[0].grid[0], plan.launches[0].block[0]), (131_072, 128));
        let roles: Vec<_> = plan.buffers.iter().map(|b| (b.role, b.dtype, b.elements())).collect();
        let count = 1 << 24;
        assert_eq!(
            roles,
            [(Role::Input, DType::F32, count), (Role::Output, DType::F32, 4 * count)]
        );
        let arguments = &plan.launches[0].arguments;
        assert_eq!(
            arguments[2..],
            [Argument::Scalar(DType::F32, 1.0), Argument::Scalar(DType::I32, 16_777_216.0)]
        );
        assert_eq!(plan.bytes, 20 * count);
        let steps: Vec<&str> = ladder.steps().iter().map(crate::ladder::Step::name).collect();
        assert_eq!(steps, ["scale", "faster"], "the others are comments");
        for words in [
            "# name = \"wide\"",
            "is a template",
            "# name = \"other\"",
            "does not take the buffers",
        ] {
            assert!(text.contains(words), "no {words} in\n{text}");
        }
    }

    #[test]
    fn indices_in_y_make_a_grid_of_two_extents() {
        let (ladder, _) = ladder(
            "__global__ void t(const unsigned char* a, double* b, int rows, int cols) { int y = threadIdx.y; \
             extern __shared__ int s[]; }",
        );
        let plan = ladder
            .plan("t", &Overrides::from([("ROWS".into(), 100), ("COLS".into(), 33)]), 1)
            .unwrap();
        // 33 / 16 and 100 / 16, rounded up.
        assert_eq!((plan.launches[0].grid, plan.launches[0].block), ([3, 7, 1], [16, 16, 1]));
        assert_eq!(plan.launches[0].shared_bytes, 1024);
        assert_eq!(plan.buffers[0].shape, [100, 33]);
    }

    #[test]
    fn what_a_kernel_reads_and_writes_moves_twice() {
        let (ladder, text) = ladder(
            "__global__ void saxpy(const float* x, float* y, float a, int n) \
             { int i = threadIdx.x; if (i < n) y[i] = a * x[i] + y[i]; }\n\
             __global__ void zero(const float* x, float* y, float a, int n) { y[threadIdx.x] = 0; }",
        );
        let plan = ladder.plan("saxpy", &Overrides::new(), 1).unwrap();
        assert_eq!((plan.bytes, plan.buffers[1].role), (12 << 24, Role::Output));
        assert!(text.contains("the kernel reads it too"), "{text}");
        assert_eq!(ladder.steps().len(), 2, "{text}");
    }

    #[test]
    fn what_is_read_beside_an_answer_is_a_state() {
        let (ladder, text) =
            ladder("__global__ void k(unsigned* count, float* y) { y[atomicAdd(count, 1u)] = 1; }");
        let plan = ladder.plan("k", &Overrides::new(), 1).unwrap();
        let roles: Vec<_> = plan.buffers.iter().map(|buffer| buffer.role).collect();
        assert_eq!(roles, [Role::State, Role::Output], "{text}");
        assert_eq!(plan.bytes, 12 << 24);
        assert!(text.contains("fill = { constant = 0 }"), "{text}");
    }

    #[test]
    fn what_can_not_be_launched_is_said() {
        for (text, words) in [
            ("int main() {}", "no `__global__`"),
            ("__global__ void k(Params p, float* x) {}", "takes a `Params` by value"),
            ("__global__ void k(const float* x) {}", "writes to no pointer"),
            ("template <class T> __global__ void k(T* x) {}", "is a template"),
        ] {
            let problem = manifest("m", "k.cu", &Source::new(text)).unwrap_err();
            assert!(problem.contains(words), "{problem}");
        }
    }
}
