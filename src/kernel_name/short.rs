//! A kernel's name, short enough for a table and long enough to tell it from its neighbours.

use super::{Parts, is_word, readable, without_unnamed};
use crate::text::layout::{columns, fit};

/// Words in template arguments that wrap an operation and don't name it: C++'s, and those of PyTorch,
/// Thrust and CUB.
const WRAPPERS: [&str; 21] = [
    "BUnaryFunctor",
    "AUnaryFunctor",
    "BinaryFunctor",
    "LoadWithCast",
    "LoadWithoutCast",
    "OffsetCalculator",
    "ReduceOp",
    "StoreWithCast",
    "StoreWithoutCast",
    "TensorIteratorBase",
    "TrivialOffsetCalculator",
    "__parallel_for",
    "__transform",
    "__half",
    "func_wrapper_t",
    "gpu_kernel_impl",
    "gpu_kernel_impl_nocast",
    "gpu_kernel_with_scalars",
    "integral_constant",
    "multi_outputs",
    "opmath_gpu_kernel_with_scalars",
];

/// The name in at most `most` columns, safe to print: without return type, namespaces and parameters, and
/// where its template arguments don't fit with the one that names the operation.
/// `vectorized_elementwise_kernel<4, CUDAFunctor_add<float>, array<char *, 3>>` becomes
/// `vectorized_elementwise_kernel<…CUDAFunctor_add…>`.
#[must_use]
pub(crate) fn short(name: &str, most: usize) -> String {
    let name = readable(name);
    let parts = Parts::new(&name);
    let base = if parts.base.is_empty() { &*name } else { parts.base };
    let Some(arguments) = parts.arguments else { return fit(base, most) };
    let whole: Vec<String> = arguments.iter().map(|text| without_namespaces(text)).collect();
    let folded = arguments.iter().find_map(|argument| operation(argument));
    let folded = folded.map_or_else(|| "…".to_owned(), |word| format!("…{word}…"));
    [whole.join(", "), folded]
        .into_iter()
        .map(|arguments| format!("{base}<{arguments}>"))
        .find(|name| columns(name) <= most)
        .map_or_else(|| fit(base, most), |name| fit(&name, most))
}

/// The functor in an argument, or the function that its lambda was written in.
fn operation(argument: &str) -> Option<&str> {
    words(argument)
        .filter(|(word, behind)| !behind.starts_with("::") && names_something(word))
        .map(|(word, _)| word)
        .find(|word| !WRAPPERS.contains(word))
}

/// True for a name that somebody chose, not a number or one of C++'s plain words.
fn names_something(word: &str) -> bool {
    !word.starts_with(|c: char| c.is_ascii_digit())
        && (word.contains('_') || word.contains(char::is_uppercase))
        && word.len() > 2
}

/// The words of a text, each with what follows it.
fn words(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = &rest[rest.find(is_word)?..];
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        rest = behind;
        Some((word, behind))
    })
}

/// `a::b<c::d>` as `b<d>`.
fn without_namespaces(argument: &str) -> String {
    let argument = without_unnamed(argument);
    let mut out = String::with_capacity(argument.len());
    let mut rest = argument.as_str();
    while let Some(c) = rest.chars().next() {
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end.max(if is_word(c) { end } else { c.len_utf8() }));
        match behind.strip_prefix("::") {
            Some(inner) if is_word(c) => rest = inner,
            _ => {
                out.push_str(word);
                rest = behind;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADD: &str = "void at::native::vectorized_elementwise_kernel<(int)4, \
        at::native::CUDAFunctor_add<float>, std::array<char *, (unsigned long)3>>(int, T2, T3)";

    #[test]
    fn the_operation_stays_where_the_whole_does_not_fit() {
        assert_eq!(
            short(ADD, 200),
            "vectorized_elementwise_kernel<(int)4, CUDAFunctor_add<float>, array<char *, (unsigned long)3>>"
        );
        assert_eq!(short(ADD, 60), "vectorized_elementwise_kernel<…CUDAFunctor_add…>");
        assert_eq!(short(ADD, 30), "vectorized_elementwise_kernel");
        assert_eq!(short(ADD, 10), "vectorize…");
    }

    #[test]
    fn a_lambda_is_named_by_the_function_around_it() {
        let copy = "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<\
            at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() \
            const::{lambda(float)#1}>(at::TensorIteratorBase&, int const&)::{lambda(int)#1}>(int, int)";
        assert_eq!(short(copy, 70), "elementwise_kernel<…direct_copy_kernel_cuda…>");
        let mean = "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, \
            at::native::MeanOps<float, float, float, float>, unsigned int, float, 4>>(T3)";
        assert_eq!(short(mean, 40), "reduce_kernel<…MeanOps…>");
    }

    #[test]
    fn namespaces_without_a_name_go() {
        for name in [
            "void (anonymous namespace)::apply<(anonymous namespace)::Tensors<2>, a::Op>(T1)",
            "void <unnamed>::apply<<unnamed>::Tensors<2>, a::Op>(T1)",
            "void unnamed>::apply<unnamed>::Tensors<2>, a::Op>(T1)",
            "void apply<Tensors<2>, a::<unnamed>::Op>(T1)",
        ] {
            assert_eq!(short(name, 40), "apply<Tensors<2>, Op>", "{name}");
        }
    }

    #[test]
    fn plain_names_lose_their_parameters_only() {
        assert_eq!(short("gpu_version1(const float *, float *, int)", 40), "gpu_version1");
        assert_eq!(short("_Z5scaleIfLi4EEvPT_", 40), "scale<float, 4>");
        assert_eq!(short("_Z5scaleIfLi4EEvPT_", 15), "scale<float, 4>");
        assert_eq!(short("void f<1, 2, 3, 4, 5, 6, 7, 8, 9>(int)", 8), "f<…>");
        assert_eq!(short("", 5), "");
    }

    #[test]
    fn hostile_names_stay_on_their_line() {
        assert!(!short("f\u{1b}[2J\n<g\u{202e}>", 40).contains(['\u{1b}', '\n', '\u{202e}']));
    }

    #[test]
    fn namespaces_and_letters_name_no_operation() {
        let array = "std::array<char *, 3>";
        assert_eq!(
            short(&format!("f<at_native::add_functor<int>, {array}>"), 20),
            "f<…add_functor…>"
        );
        assert_eq!(short(&format!("f<T_<add_functor<int>>, {array}>"), 20), "f<…add_functor…>");
    }
}
