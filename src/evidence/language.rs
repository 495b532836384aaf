//! The language that a kernel is written in.

use std::path::Path;

use crate::frame::Launch;

/// How hints for kernels of Triton begin.
pub(crate) const BEGIN: &str = "In Triton: ";

/// A hint that begins with what the change is in Triton.
pub(crate) fn begun(change: &str, in_cuda: &str) -> String {
    format!("{BEGIN}{change} In terms of CUDA: {in_cuda}")
}

/// True for a kernel whose lines are Python's and whose name has no parameters. Numba's kernels, which are Python
/// too, have the mangled names of functions in C++.
pub(crate) fn is_of_triton(launch: &Launch) -> bool {
    let is_python = |file: &str| Path::new(file).extension().is_some_and(|kind| kind == "py");
    let mut files = launch.lines.iter().filter_map(|row| row.file.as_deref()).peekable();
    files.peek().is_some() && files.all(is_python) && !launch.row.kernel.contains(['(', ':'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::SourceRow;

    fn launch(kernel: &str, file: Option<&str>) -> Launch {
        let mut launch = Launch::default();
        launch.row.kernel = kernel.to_owned();
        launch.lines = vec![SourceRow { file: file.map(Into::into), ..SourceRow::default() }];
        launch
    }

    #[test]
    fn kernels_of_triton_are_told_by_their_lines_and_names() {
        assert!(is_of_triton(&launch("softmax", Some("/home/me/rows.py"))));
        assert!(is_of_triton(&launch("triton_poi_fused_add_0", Some("/tmp/torchinductor/c.py"))));
        assert!(!is_of_triton(&launch("softmax", Some("rows.cu"))));
        assert!(!is_of_triton(&launch(
            "cudapy::__main__::add[abi:v1](Array<float>)",
            Some("a.py")
        )));
        assert!(!is_of_triton(&launch("softmax", None)), "without lines nobody knows");
    }
}
