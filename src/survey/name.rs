//! Kernels' names for people.

/// A kernel's name in C++, where it is a mangled one; itself otherwise, as Triton and others name theirs.
#[must_use]
pub fn demangled(name: &str) -> String {
    let options = cpp_demangle::DemangleOptions::new().recursion_limit(128);
    cpp_demangle::Symbol::new(name)
        .ok()
        .and_then(|symbol| symbol.demangle_with_options(&options).ok())
        .unwrap_or_else(|| name.to_owned())
}

/// A C++ name without template arguments, parameters, result and namespaces: what ncu calls the function.
#[must_use]
pub fn function(demangled: &str) -> &str {
    const UNNAMED: &str = "(anonymous namespace)::";
    let end = demangled.find(['<', '(']).unwrap_or(demangled.len());
    if let Some(rest) = demangled[end..].strip_prefix(UNNAMED) {
        return function(rest);
    }
    // A result type stands before a space.
    let bare = demangled[..end].rsplit([' ', ':']).next().unwrap_or_default();
    if bare.is_empty() { demangled } else { bare }
}

/// A C++ name without its result, parameters and namespaces; template arguments stay, without theirs.
#[must_use]
pub fn short(demangled: &str) -> String {
    let name = demangled.replace("(anonymous namespace)::", "");
    let name = without_parameters(&name);
    let name = without_result(name);
    let mut short = String::new();
    // What stands before `::` is a namespace.
    for part in name.split_inclusive(|c: char| "<>, ()&*".contains(c)) {
        let (word, end) = match part.char_indices().next_back() {
            Some((at, c)) if "<>, ()&*".contains(c) => part.split_at(at),
            _ => (part, ""),
        };
        short.push_str(word.rsplit("::").next().unwrap_or(word));
        short.push_str(end);
    }
    if short.is_empty() { demangled.to_owned() } else { short }
}

/// Up to the bracket that opens the parameters: the last one at the depth of no template.
fn without_parameters(name: &str) -> &str {
    let mut depth = 0_u32;
    for (at, c) in name.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            '(' if depth == 0 && at > 0 => return &name[..at],
            _ => {}
        }
    }
    name
}

/// From behind the last space that is in no template.
fn without_result(name: &str) -> &str {
    let (mut depth, mut start) = (0_u32, 0);
    for (at, c) in name.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 => start = at + 1,
            _ => {}
        }
    }
    &name[start..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read() {
        for (mangled, whole, short) in [
            ("_Z3addPfi", "add(float*, int)", "add"),
            ("triton_poi_fused_0", "triton_poi_fused_0", "triton_poi_fused_0"),
            ("_ZN2at6native3runILi4EfEEvPT0_", "void at::native::run<4, float>(float*)", "run"),
            ("_Zbroken", "_Zbroken", "_Zbroken"),
        ] {
            assert_eq!(demangled(mangled), whole);
            assert_eq!(function(whole), short);
        }
        assert_eq!(function("void (anonymous namespace)::run<int>(int*)"), "run");
    }

    #[test]
    fn names_are_short() {
        for (whole, expected) in [
            ("add(float*, int)", "add"),
            (
                "void at::native::run<4, at::Fill<float> >(int, at::Fill<float>)",
                "run<4, Fill<float> >",
            ),
            ("void (anonymous namespace)::k<std::pair<int, long>>(int)", "k<pair<int, long>>"),
            ("triton_poi_fused_0", "triton_poi_fused_0"),
            ("", ""),
        ] {
            assert_eq!(short(whole), expected);
        }
    }
}
