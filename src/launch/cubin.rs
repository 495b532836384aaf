//! The kernels in a cubin, with what the compiler says of each.

use object::{Object, ObjectSection};

use crate::kernel_name;

/// A kernel in a cubin.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CubinKernel {
    /// Its symbol, mangled where it is not `extern "C"`.
    pub symbol: String,
    /// Threads of a block in x, y, z at most, where `__launch_bounds__` says so; ptxas keeps their product.
    pub most_threads: Option<[u32; 3]>,
    /// The size of each parameter in bytes, in order; `None` where the cubin has them in another form.
    pub parameters: Option<Vec<u32>>,
    /// Static shared memory per block, bytes.
    pub static_shared: u64,
}

/// A kernel's code lies in a section of this name and its own.
const CODE: &str = ".text.";
/// What is known of it lies in one of this.
const INFO: &str = ".nv.info.";
/// Its static shared memory is one of this.
const SHARED: &str = ".nv.shared.";

/// An attribute whose value has a length of its own.
const SIZED: u8 = 4;
/// `EIATTR_MAX_THREADS`: three numbers.
const MOST_THREADS: u8 = 0x05;
/// `EIATTR_KPARAM_INFO`: a parameter's number, and in the top 14 bits of the last word its size.
const PARAMETER: u8 = 0x17;

/// The kernels of a cubin by their symbols; none where it can't be read. Functions that are no kernels have no
/// information of their own.
#[must_use]
pub fn kernels(cubin: &[u8]) -> Vec<CubinKernel> {
    let Ok(elf) = object::read::elf::ElfFile64::<object::Endianness>::parse(cubin) else {
        return Vec::new();
    };
    let mut kernels = Vec::new();
    for section in elf.sections() {
        let Some(symbol) = section.name().ok().and_then(|name| name.strip_prefix(CODE)) else {
            continue;
        };
        let Some(info) = elf.section_by_name(&format!("{INFO}{symbol}")) else { continue };
        let info = info.data().unwrap_or_default();
        let mut kernel = CubinKernel { symbol: symbol.to_owned(), ..CubinKernel::default() };
        let shared = elf.section_by_name(&format!("{SHARED}{symbol}"));
        kernel.static_shared = shared.map_or(0, |section| section.size());
        describe(info, &mut kernel);
        kernels.push(kernel);
    }
    kernels.sort_by(|a, b| a.symbol.cmp(&b.symbol));
    kernels
}

/// Reads a kernel's attributes.
fn describe(mut info: &[u8], kernel: &mut CubinKernel) {
    let word = |bytes: &[u8], at: usize| {
        let bytes = bytes.get(at..at + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    };
    let mut parameters: Vec<(u16, u32)> = Vec::new();
    while let [form, attribute, low, high, rest @ ..] = info {
        let length =
            if *form == SIZED { usize::from(u16::from_le_bytes([*low, *high])) } else { 0 };
        let Some((value, behind)) = rest.split_at_checked(length) else { break };
        match (*attribute, word(value, 0), word(value, 4), word(value, 8)) {
            (MOST_THREADS, Some(x), Some(y), Some(z)) => kernel.most_threads = Some([x, y, z]),
            (PARAMETER, Some(_), Some(place), Some(packed)) => {
                parameters.push((place as u16, packed >> 18));
            }
            _ => {}
        }
        info = behind;
    }
    parameters.sort_unstable();
    let in_order = parameters.iter().zip(0..).all(|((place, _), at)| *place == at);
    kernel.parameters = in_order.then(|| parameters.into_iter().map(|(_, size)| size).collect());
}

/// The kernel that a manifest's name means: the symbol of that name, or the only one whose function is called so.
///
/// # Errors
/// What is wrong with the name, and which there are.
pub fn find<'a>(kernels: &'a [CubinKernel], name: &str) -> Result<&'a CubinKernel, String> {
    if let Some(kernel) = kernels.iter().find(|kernel| kernel.symbol == name) {
        return Ok(kernel);
    }
    let alike: Vec<&CubinKernel> =
        kernels.iter().filter(|kernel| kernel_name::base(&kernel.symbol) == name).collect();
    let shown = |kernels: &[&CubinKernel], name: &dyn Fn(&str) -> String| {
        let mut names: Vec<String> = kernels.iter().map(|kernel| name(&kernel.symbol)).collect();
        names.dedup();
        names.join(", ")
    };
    match alike[..] {
        [kernel] => Ok(kernel),
        [] if kernels.is_empty() => Err(format!(
            "the source has no kernel at all, so none called `{name}`: a template has one only where it is \
             instantiated"
        )),
        [] => Err(format!(
            "the source has no kernel `{name}`; it has {}",
            shown(&kernels.iter().collect::<Vec<_>>(), &kernel_name::base)
        )),
        _ => Err(format!(
            "several kernels of the source are called `{name}`: name one by its symbol, {}",
            shown(&alike, &str::to_owned)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(symbols: &[&str]) -> Vec<CubinKernel> {
        let kernel =
            |symbol: &&str| CubinKernel { symbol: (*symbol).to_owned(), ..CubinKernel::default() };
        symbols.iter().map(kernel).collect()
    }

    #[test]
    fn a_name_is_a_symbol_or_the_only_function_called_so() {
        let kernels = named(&["scale", "_Z5scalePf", "_Z3addPf", "_Z3mulIfEvPT_", "_Z3mulIdEvPT_"]);
        let symbol = |name: &str| find(&kernels, name).map(|kernel| kernel.symbol.as_str());
        assert_eq!((symbol("scale"), symbol("add")), (Ok("scale"), Ok("_Z3addPf")));
        assert_eq!(symbol("_Z3mulIdEvPT_"), Ok("_Z3mulIdEvPT_"));
        let error = symbol("mul").unwrap_err();
        assert!(error.contains("by its symbol, _Z3mulIfEvPT_, _Z3mulIdEvPT_"), "{error}");
        let error = symbol("sub").unwrap_err();
        assert!(error.contains("no kernel `sub`; it has scale, add, mul"), "{error}");
        assert!(find(&[], "sub").unwrap_err().contains("no kernel at all"));
    }

    #[test]
    fn attributes_are_read_and_damage_ends_them() {
        let parameter = |place: u8, size: u32| {
            let mut entry = vec![4, 0x17, 12, 0, 0, 0, 0, 0, place, 0, 0, 0];
            entry.extend((size << 18 | 0x1f000).to_le_bytes());
            entry
        };
        // A half-word, then two parameters from the last to the first, then 128 x 2 x 1 threads.
        let mut info = vec![3, 0x19, 12, 0];
        info.extend(parameter(1, 4));
        info.extend(parameter(0, 8));
        info.extend([4, 5, 12, 0, 128, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0]);
        let mut kernel = CubinKernel::default();
        describe(&info, &mut kernel);
        assert_eq!((kernel.parameters, kernel.most_threads), (Some(vec![8, 4]), Some([128, 2, 1])));
        for end in 0..info.len() {
            describe(&info[..end], &mut CubinKernel::default());
        }
        assert!(kernels(&info).is_empty());
    }
}
