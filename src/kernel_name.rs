//! Kernel names: taken apart, compared where two tools spell them differently, and made short enough to
//! read.
//!
//! ncu prints one kernel as `kernel<(int)4>(const T1 *)` on one page and as `void kernel<4>(const float *)`
//! on another; other tools give the mangled symbol. A name of PyTorch's or CUTLASS's has hundreds of
//! characters, of which a handful tell one kernel from the next.

mod short;

use std::borrow::Cow;

pub(crate) use short::short;

/// A kernel's name, taken apart: `void ns::scale<float, 4>(float *)`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Parts<'a> {
    /// The function's own name, `scale`.
    base: &'a str,
    /// The template's arguments, `float` and `4`; `None` where none are printed.
    arguments: Option<Vec<&'a str>>,
    /// ABI tags, as `v1` and `c5` of `force[abi:v1][abi:c5]`, which ncu prints as `force[v1,c5]`: Numba
    /// tells the versions of a function apart by them.
    tags: Vec<&'a str>,
    /// What stands between the parentheses, `float *`; `None` where nothing does.
    parameters: Option<&'a str>,
}

impl<'a> Parts<'a> {
    fn new(name: &'a str) -> Self {
        let name = name.trim();
        let (head, parameters) = match opening(name) {
            Some(at) => (&name[..at], Some(name[at + 1..].trim_end().trim_end_matches(')'))),
            None => (name, None),
        };
        let (path, arguments) = match template(head) {
            Some(at) => (&head[..at], Some(split_arguments(&head[at + 1..head.len() - 1]))),
            None => (head, None),
        };
        let (path, tags) = tags(path);
        let start = path.rfind([' ', ':', '>', '*', '&']).map_or(0, |at| at + 1);
        Self { base: &path[start..], arguments, tags, parameters }
    }
}

/// The function's own name, without return type, namespaces, template arguments and parameters: `scale`
/// of `void ns::scale<(int)4>(float *)`.
#[must_use]
pub(crate) fn base(name: &str) -> String {
    Parts::new(&readable(name)).base.to_owned()
}

/// True where a kernel's name says that the parameter with this number, counted from 0, points to what the kernel only reads.
#[must_use]
pub(crate) fn only_reads(name: &str, parameter: usize) -> bool {
    let name = readable(name);
    let parameters = Parts::new(&name).parameters.map(split_arguments).unwrap_or_default();
    let text = parameters.get(parameter).map(|text| text.trim_end_matches("__restrict__").trim());
    let Some(target) = text.and_then(|text| text.strip_suffix('*')) else { return false };
    target.trim_end().ends_with("const") || !target.contains('*') && target.starts_with("const ")
}

/// True where two names are of one kernel, however each is spelled. A name of which only one spelling has
/// template arguments or parameters (`--print-kernel-base function`) is the same kernel's.
#[must_use]
pub(crate) fn same(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    let (one, other) = (readable(one), readable(other));
    let (one, other) = (Parts::new(&one), Parts::new(&other));
    if one.base != other.base || one.tags != other.tags {
        return false;
    }
    match (&one.arguments, &other.arguments) {
        // The parameters follow from the arguments, and are printed with placeholders or without.
        (Some(a), Some(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| canonical(a) == canonical(b))
        }
        (None, None) => match (one.parameters, other.parameters) {
            (Some(a), Some(b)) => canonical(a) == canonical(b),
            _ => true,
        },
        (Some(_), None) => other.parameters.is_none(),
        (None, Some(_)) => one.parameters.is_none(),
    }
}

/// The name behind a mangled symbol; any other name as it is, and a symbol that is too deep as well.
#[must_use]
pub(crate) fn demangled(name: &str) -> Cow<'_, str> {
    /// Deeper names are nobody's: the demangler would work on them without an end in sight.
    const DEEPEST: u32 = 192;
    if !name.starts_with("_Z") {
        return Cow::Borrowed(name);
    }
    let options = cpp_demangle::ParseOptions::default().recursion_limit(DEEPEST);
    cpp_demangle::Symbol::new_with_options(name, &options)
        .ok()
        .and_then(|symbol| symbol.demangle().ok())
        .map_or(Cow::Borrowed(name), Cow::Owned)
}

/// How the names of namespaces without one are spelled, between angle brackets.
const UNNAMED: &str = "unnamed>::";

/// The name behind a mangled symbol, with the bracket that ncu loses before `unnamed>::` in what it prints:
/// `void unnamed>::f<unnamed>::Op<2>>(T1)` for `void <unnamed>::f<<unnamed>::Op<2>>(T1)`.
fn readable(name: &str) -> Cow<'_, str> {
    let name = demangled(name);
    let is_damaged = |before: &str| match before.strip_suffix('<') {
        // The bracket of a template's arguments: a namespace's stands behind no word.
        Some(before) => before.ends_with(is_word),
        None => !before.ends_with(is_word),
    };
    let damaged = |&(at, _): &(usize, &str)| is_damaged(&name[..at]);
    if !name.match_indices(UNNAMED).any(|found| damaged(&found)) {
        return name;
    }
    let mut whole = String::with_capacity(name.len() + 8);
    let mut end = 0;
    for (at, _) in name.match_indices(UNNAMED).filter(damaged) {
        whole.push_str(&name[end..at]);
        whole.push('<');
        end = at;
    }
    whole.push_str(&name[end..]);
    Cow::Owned(whole)
}

/// A name without its ABI tags, and the tags.
fn tags(path: &str) -> (&str, Vec<&str>) {
    match path.find('[') {
        Some(at) if at > 0 && path.ends_with(']') => {
            let tags = path[at..].split(['[', ']', ',']).map(str::trim);
            let tags = tags.map(|tag| tag.strip_prefix("abi:").unwrap_or(tag));
            (&path[..at], tags.filter(|tag| !tag.is_empty()).collect())
        }
        _ => (path, Vec::new()),
    }
}

/// One spelling for all: no casts before numbers, no suffixes behind them, no words for `bool`'s values, no `const`, which
/// some write before the type and others behind it, no spaces but between words, of nested namespaces the outermost.
fn canonical(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.trim();
    while let Some(c) = rest.chars().next() {
        if let Some(behind) = without_cast(rest) {
            rest = behind;
        } else if c.is_ascii_digit() && !out.ends_with(is_word) {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
            out.push_str(rest[..end].trim_end_matches(['u', 'U', 'l', 'L']));
            rest = &rest[end..];
        } else if is_word(c) {
            let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
            match &rest[..end] {
                "true" => out.push('1'),
                "false" => out.push('0'),
                "const" => {}
                word => {
                    if out.ends_with(is_word) {
                        out.push(' ');
                    }
                    out.push_str(word);
                }
            }
            rest = &rest[end..];
        } else {
            if !c.is_whitespace() {
                out.push(c);
            }
            rest = &rest[c.len_utf8()..];
        }
    }
    outermost(&without_unnamed(&out))
}

/// A name without the namespaces that have none.
fn without_unnamed(name: &str) -> String {
    ["(anonymous namespace)::", "(anonymousnamespace)::", "<unnamed>::"]
        .iter()
        .fold(name.to_owned(), |name, spelling| name.replace(spelling, ""))
}

/// `cub::detail::scan::Policy` as `cub::Policy`, the way ncu prints it on all pages but the source page.
fn outermost(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_word) {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let mut first = None;
        let last = loop {
            let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            let (word, behind) = rest.split_at(end);
            match behind.strip_prefix("::") {
                Some(inner) if inner.starts_with(is_word) => {
                    first.get_or_insert(word);
                    rest = inner;
                }
                _ => {
                    rest = behind;
                    break word;
                }
            }
        };
        if let Some(first) = first {
            out.push_str(first);
            out.push_str("::");
        }
        out.push_str(last);
    }
    out + rest
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// What follows a cast of a number, `4` of `(unsigned int)4`.
fn without_cast(text: &str) -> Option<&str> {
    let (kind, behind) = text.strip_prefix('(')?.split_once(')')?;
    let is_type = !kind.is_empty()
        && kind.chars().all(|c| is_word(c) || c == ' ' || c == ':')
        && kind.starts_with(|c: char| !c.is_ascii_digit());
    (is_type && behind.starts_with(|c: char| c.is_ascii_digit() || c == '-')).then_some(behind)
}

/// Where the parameter list opens: at the parenthesis that the last one closes. Namespaces without a name
/// and casts within template arguments have parentheses of their own.
fn opening(name: &str) -> Option<usize> {
    if !name.ends_with(')') {
        return None;
    }
    let mut depth = 0_usize;
    for (at, byte) in name.bytes().enumerate().rev() {
        match byte {
            b')' => depth += 1,
            b'(' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return (at > 0).then_some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// Where the template's arguments open, in a name without parameters that ends with them.
fn template(head: &str) -> Option<usize> {
    if !head.ends_with('>') || head.ends_with("operator>") || head.ends_with("->") {
        return None;
    }
    let mut depth = 0_usize;
    for (at, byte) in head.bytes().enumerate().rev() {
        match byte {
            b'>' if at == 0 || head.as_bytes()[at - 1] != b'-' => depth += 1,
            b'<' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// The arguments of a list, split at its own commas.
fn split_arguments(list: &str) -> Vec<&str> {
    let mut arguments = Vec::new();
    let (mut depth, mut start) = (0_usize, 0);
    for (at, byte) in list.bytes().enumerate() {
        match byte {
            b'<' | b'(' | b'[' | b'{' => depth += 1,
            b'>' | b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                arguments.push(list[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    arguments.push(list[start..].trim());
    arguments
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_pointer_to_constants_is_only_read() {
        let name =
            "keys(int const*, unsigned long*, const float *, float* const*, const float **, int)";
        let found: Vec<bool> = (0..7).map(|parameter| only_reads(name, parameter)).collect();
        assert_eq!(found, [true, false, true, true, false, false, false]);
        assert!(only_reads("_Z5scalePKfPf", 0) && !only_reads("_Z5scalePKfPf", 1));
        assert!(!only_reads("add_kernel", 0), "Triton's names have no parameters");
    }

    #[test]
    fn one_kernel_is_known_in_every_spelling() {
        for (one, other) in [
            ("f(int)", "f(int)"),
            ("void ns::f<(int)4>(float *)", "f"),
            ("(anonymous namespace)::f(int)", "f"),
            (
                "void histogram<(int)1024, float>(const T2 *)",
                "void histogram<1024, float>(const float *)",
            ),
            ("f<(unsigned int)4, (bool)1>(T1 *)", "void f<4u, true>(int*)"),
            (
                "void f<std::array<char *, 3ul>>(int)",
                "void f<std::array<char*, (unsigned long)3> >(int)",
            ),
            ("f(unsigned int *, const float*)", "f(unsigned int*, const float *)"),
            ("_Z5scalePfi", "scale(float *, int)"),
            ("ger(double const*, double*)", "ger(const double *, double *)"),
            ("_Z5scaleIfLi4EEvPT_", "void scale<float, (int)4>(T1 *)"),
            ("f<(anonymous namespace)::Op>(T1)", "void f<<unnamed>::Op>(int)"),
            (
                "void f<(anonymous namespace)::Op<2>>(float)",
                "void unnamed>::f<unnamed>::Op<(int)2>>(T1)",
            ),
            (
                "void cub::f<cub::zip<cuda::tuple<int>>, n::less<int>::type>(T1)",
                "void cub::V_3::detail::f<cub::V_3::zip<cuda::std::__4::tuple<int>>, n::less<int>::type>(T1)",
            ),
            ("m::f[abi:v1][abi:c5](A<float, 2>, long)", "f[v1,c5](A<float, 2>, long)"),
        ] {
            assert!(same(one, other) && same(other, one), "{one} and {other}");
        }
    }

    #[test]
    fn two_kernels_stay_two() {
        for (one, other) in [
            ("f(int)", "g(int)"),
            // Two instances of one template, two overloads.
            ("void f<float>(T1 *)", "void f<double>(T1 *)"),
            ("void f<(int)4>(T1 *)", "void f<(int)8>(T1 *)"),
            ("f(int)", "f(float)"),
            ("void f<4>(T1 *)", "void f<4, 8>(T1 *)"),
            ("void f<4>(int)", "f(int)"),
            ("f<-4>(int)", "f<4>(int)"),
            ("f<a::Op>(T1)", "f<b::Op>(T1)"),
            ("f[v1,c5](int)", "f[abi:v2][abi:c5](int)"),
        ] {
            assert!(!same(one, other) && !same(other, one), "{one} and {other}");
        }
    }

    #[test]
    fn the_base_is_the_functions_own_name() {
        for (name, expected) in [
            ("void ns::f<(int)4>(float *)", "f"),
            ("ns::f", "f"),
            ("gpu_version1(const float *, int)", "gpu_version1"),
            ("void (anonymous namespace)::k<a::b<c>, (int)3>(d<e>)", "k"),
            ("void <unnamed>::k<a, <unnamed>::b>(c)", "k"),
            ("void unnamed>::k<unnamed>::a<2>, unnamed>::b>(c)", "k"),
            ("unnamed>::k(int)", "k"),
            ("_Z5scalePfi", "scale"),
            ("allenCahn(double (*)[400][400], double)", "allenCahn"),
            ("triton_poi_fused_0", "triton_poi_fused_0"),
            ("force[v1,c5](Array<float, 2, C>)", "force"),
            ("__main__::force[abi:v1][abi:c5](long long)", "force"),
            ("[v1]", "[v1]"),
            ("", ""),
        ] {
            assert_eq!(base(name), expected, "{name}");
        }
    }

    #[test]
    fn arguments_part_at_their_own_commas() {
        let arguments = Parts::new("f<a<1, 2>, 3>").arguments;
        assert_eq!(arguments, Some(vec!["a<1, 2>", "3"]));
    }

    proptest! {
        #[test]
        fn no_name_panics(one in "\\PC{0,60}", other in "[_Zf<>(),:0-9 a-z]{0,60}") {
            let _ = (same(&one, &other), base(&one), base(&other), short(&one, 20), short(&other, 3));
        }
    }
}
