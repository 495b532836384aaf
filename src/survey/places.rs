//! Where in its code a program called CUDA: function and line of a stack's frame, from the files that it loaded.
//!
//! Files are read after the run, each once. One that is gone, stripped, or damaged names nothing.

mod choice;
mod code_file;
mod debug_lines;
mod named;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use super::callers::{Frame, Stack};
use crate::kernel_name;
use crate::text::{layout, printable};
use named::Named;

/// The longest function's name that is kept, columns.
const LONGEST_NAME: usize = 300;

/// A place in a program's code.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Site {
    /// The function, as C++ spells it; `None` where the file names none.
    pub function: Option<String>,
    /// The source file and the line; `None` without debug information.
    pub line: Option<(String, u32)>,
    /// The file of code, without folders.
    pub module: String,
    /// True for a library, false for the program itself.
    pub is_library: bool,
    /// The address in the file of code, where nothing else is known.
    pub address: Option<u64>,
}

/// Where each stack's call was made; `None` where that is not known.
///
/// `kernels` are the program's kernels as the compiler spells them: the host has a function of the same name, which
/// launches the kernel and is nobody's own code.
#[must_use]
pub fn sites(stacks: &[Stack], kernels: &BTreeSet<&str>) -> Vec<Option<Site>> {
    let mut code = Code::default();
    // Programs first: libraries are large and seldom asked.
    code.read(stacks.iter().flat_map(|stack| &**stack).filter(|frame| choice::is_own(frame)), true);
    let own = |stack: &Stack, code: &Code| {
        stack
            .iter()
            .filter(|frame| choice::is_own(frame))
            .find_map(|frame| code.named(frame, kernels))
    };
    let of_libraries = stacks.iter().filter(|stack| own(stack, &code).is_none());
    let libraries: Vec<&Frame> = of_libraries
        .flat_map(|stack| &**stack)
        .filter(|frame| choice::is_library_of_interest(frame))
        .collect();
    code.read(libraries.into_iter(), false);
    let site = |stack: &Stack| {
        let library = || {
            let mut frames = stack.iter().filter(|frame| choice::is_library_of_interest(frame));
            frames.find_map(|frame| code.named(frame, kernels))
        };
        // Of a program without names that has the runtime inside it, the address might be the runtime's own.
        let has_runtime = || stack.iter().any(choice::is_runtime);
        let bare = || stack.iter().find(|frame| choice::is_own(frame) && has_runtime()).map(bare);
        own(stack, &code).or_else(library).or_else(bare)
    };
    stacks.iter().map(site).collect()
}

/// What is known of the addresses of some files.
#[derive(Default)]
struct Code {
    /// By file and address, from the innermost function that was inlined there to the one that is there.
    named: HashMap<(Arc<str>, u64), Vec<Named>>,
}

impl Code {
    fn read<'a>(&mut self, frames: impl Iterator<Item = &'a Frame>, with_lines: bool) {
        let mut by_file: BTreeMap<Arc<str>, BTreeSet<u64>> = BTreeMap::new();
        for frame in frames {
            by_file.entry(Arc::clone(&frame.file)).or_default().insert(call(frame));
        }
        for (file, addresses) in by_file {
            let addresses: Vec<u64> = addresses.into_iter().collect();
            for (address, named) in code_file::named(Path::new(&*file), &addresses, with_lines) {
                self.named.insert((Arc::clone(&file), address), named);
            }
        }
    }

    /// The innermost function of a frame that is the program's own code.
    fn named(&self, frame: &Frame, kernels: &BTreeSet<&str>) -> Option<Site> {
        let functions = self.named.get(&(Arc::clone(&frame.file), call(frame)))?;
        let physical = functions.last()?;
        let is_plumbing = |named: &Named| {
            named.function.as_deref().is_some_and(|name| {
                kernels.contains(name)
                    || choice::is_of_headers(name)
                    || choice::is_plumbing(&kernel_name::base(name))
            })
        };
        if is_plumbing(physical) {
            return None;
        }
        let is_own = |named: &&Named| {
            let file = named.line.as_ref().map_or("", |(file, _)| file);
            !is_plumbing(named) && !choice::is_header_of_others(file)
        };
        let named = functions.iter().find(is_own).unwrap_or(physical);
        let function = named
            .function
            .as_deref()
            .map(|name| layout::fit(without_hash(&kernel_name::demangled(name)), LONGEST_NAME));
        let line = named.line.as_ref().map(|(file, line)| (printable(file), *line));
        (function.is_some() || line.is_some()).then(|| Site { function, line, ..bare_site(frame) })
    }
}

/// The name of one of Rust's functions without the hash at its end.
fn without_hash(name: &str) -> &str {
    let is_hash = |last: &str| {
        last.len() == 17
            && last.starts_with('h')
            && last.bytes().skip(1).all(|b| b.is_ascii_hexdigit())
    };
    name.rsplit_once("::").filter(|(_, last)| is_hash(last)).map_or(name, |(front, _)| front)
}

/// The call's own address: what is on the stack is where it returns to, the beginning of the next line perhaps.
fn call(frame: &Frame) -> u64 {
    frame.address.saturating_sub(1)
}

fn bare(frame: &Frame) -> Site {
    Site { address: Some(call(frame)), ..bare_site(frame) }
}

fn bare_site(frame: &Frame) -> Site {
    let module = printable(choice::file_name(&frame.file));
    Site { function: None, line: None, module, is_library: !frame.is_executable, address: None }
}

#[cfg(test)]
mod tests {
    use super::without_hash;

    #[test]
    fn rusts_functions_lose_their_hash() {
        assert_eq!(without_hash("app::step::h0123456789abcdef"), "app::step");
        assert_eq!(without_hash("app::step::h0123456789abcdeg"), "app::step::h0123456789abcdeg");
        assert_eq!(without_hash("app::h0123"), "app::h0123");
    }
}
