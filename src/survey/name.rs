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
}
