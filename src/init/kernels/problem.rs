//! What the kernels of a ladder have in common: sizes and buffers, as the parameters suggest them.

use super::types::{dtype, vector};
use crate::init::lines::Lines;
use crate::init::signature::{Kernel, Parameter};
use crate::init::{GUESS, quoted};
use crate::ladder::is_free_name;
use crate::plan::DType;

/// What the kernels of a ladder have in common.
#[derive(Debug, PartialEq)]
pub(super) struct Problem {
    /// Sizes with their values.
    pub parameters: Vec<(String, u64)>,
    pub buffers: Vec<Buffer>,
}

impl Problem {
    pub(super) fn of(kernel: &Kernel) -> Self {
        let mut parameters: Vec<String> = Vec::new();
        for parameter in kernel.parameters.iter().filter(|parameter| is_size(parameter)) {
            if let Some(name) = size_name(parameter).filter(|name| !parameters.contains(name)) {
                parameters.push(name);
            }
        }
        if parameters.is_empty() {
            parameters.push("N".to_owned());
        }
        // Their product stays near 2^24.
        let value = match parameters.len() {
            1 => 1 << 24,
            2 => 1 << 12,
            3 => 1 << 8,
            4 => 1 << 6,
            _ => 16,
        };
        let buffers = kernel.parameters.iter().enumerate();
        let buffers = buffers.filter(|(_, parameter)| parameter.is_pointer);
        Self {
            parameters: parameters.into_iter().map(|name| (name, value)).collect(),
            buffers: buffers.map(|(at, parameter)| Buffer::new(at, parameter)).collect(),
        }
    }

    /// True where both have the same buffers, whatever their kernels do with these.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let pairs = self.buffers.iter().zip(&other.buffers);
        self.buffers.len() == other.buffers.len() && pairs.into_iter().all(|(a, b)| a.is_like(b))
    }

    /// What another kernel with the same buffers reads is read.
    pub(super) fn join(&mut self, other: &Self) {
        if !self.is_like(other) {
            return;
        }
        for (own, other) in self.buffers.iter_mut().zip(&other.buffers) {
            own.is_read |= other.is_read;
        }
    }

    /// How many elements there are at most.
    pub(super) fn elements(&self) -> String {
        let names: Vec<&str> = self.parameters.iter().map(|(name, _)| name.as_str()).collect();
        names.join(" * ")
    }

    /// The ladder's parameter that a kernel's is.
    pub(super) fn parameter_of(&self, parameter: &Parameter) -> Option<String> {
        let name = size_name(parameter).filter(|_| is_size(parameter))?;
        self.parameters.iter().any(|(known, _)| *known == name).then_some(name)
    }
}

/// A buffer as a pointer suggests it.
#[derive(Debug, PartialEq)]
pub(super) struct Buffer {
    name: String,
    kind: String,
    dtype: Option<DType>,
    /// Numbers of the type per element of the pointer: 4 of a `float4`.
    width: u64,
    is_input: bool,
    /// True where a kernel is seen to read it.
    is_read: bool,
}

impl Buffer {
    fn new(at: usize, parameter: &Parameter) -> Self {
        let (dtype, width) = match vector(&parameter.kind) {
            Some((dtype, width)) => (Some(dtype), width),
            None => (dtype(&parameter.kind), 1),
        };
        Self {
            name: buffer_name(at, parameter),
            kind: parameter.kind.clone(),
            dtype,
            width,
            is_input: parameter.is_const,
            is_read: parameter.is_read,
        }
    }

    /// True for the same buffer, whatever a kernel does with it.
    fn is_like(&self, other: &Self) -> bool {
        let what = |buffer: &Self| (buffer.dtype, buffer.width, buffer.is_input);
        self.name == other.name && self.kind == other.kind && what(self) == what(other)
    }

    /// True for a buffer that holds nothing but an answer.
    fn is_only_written(&self) -> bool {
        !self.is_input && !self.is_read
    }

    /// True for a buffer that is read and written.
    fn is_updated(&self) -> bool {
        self.is_read && !self.is_input
    }

    /// Bytes that move for an element, in both directions where it is read and written.
    pub(super) fn bytes_per_element(&self) -> u64 {
        let ways = if self.is_updated() { 2 } else { 1 };
        self.dtype.unwrap_or(DType::F32).size() * self.width * ways
    }

    pub(super) fn write(&self, lines: &mut Lines, problem: &Problem) {
        lines.line("[[buffers]]");
        lines.entry("name", &quoted(&self.name), "");
        let word = quoted(self.dtype.unwrap_or(DType::F32).word());
        let comment = match self.dtype {
            Some(_) => String::new(),
            None => format!("{GUESS}: `{}` is not a type that a manifest has", self.kind),
        };
        lines.entry("dtype", &word, &comment);
        let mut shape: Vec<String> =
            problem.parameters.iter().map(|(name, _)| quoted(name)).collect();
        if self.width > 1 {
            shape.push(self.width.to_string());
        }
        let comment = format!("{GUESS}: extents, slowest first");
        lines.entry("shape", &format!("[{}]", shape.join(", ")), &comment);
        // An answer there must be: where a kernel reads all that it writes, one of these stays an output.
        let is_state = self.is_updated() && problem.buffers.iter().any(Self::is_only_written);
        if self.is_input || is_state {
            let (role, comment) = if is_state {
                ("\"state\"", format!("{GUESS}: the kernel reads and writes it"))
            } else {
                ("\"input\"", "the kernel takes it as `const`".to_owned())
            };
            lines.entry("role", role, &comment);
            let is_float = self.dtype.is_none_or(DType::is_float);
            let fill = match (is_state, is_float) {
                (true, _) => "{ constant = 0 }",
                (false, true) => "{ uniform = { low = -1, high = 1 } }",
                (false, false) => "{ choice = [0, 1, 2, 3] }",
            };
            lines.entry("fill", fill, &format!("{GUESS}: the values that it holds"));
        } else {
            let comment = if self.is_updated() {
                format!(
                    "{GUESS}: the kernel reads it too, and an output holds poison before a checked run: read the \
                     old values from an input of its own"
                )
            } else {
                format!("{GUESS}: \"state\" or \"input\" with a `fill` if the kernel reads it")
            };
            lines.entry("role", "\"output\"", &comment);
        }
    }
}

/// An integer that may be a size.
fn is_size(parameter: &Parameter) -> bool {
    let is_whole = |dtype: DType| !dtype.is_float() && dtype != DType::U8;
    !parameter.is_pointer && dtype(&parameter.kind).is_some_and(is_whole)
}

/// The ladder's name of a size: the kernel's in capitals.
fn size_name(parameter: &Parameter) -> Option<String> {
    let name = parameter.name.to_ascii_uppercase();
    is_free_name(&name).then_some(name)
}

/// The name of the buffer behind a pointer.
pub(super) fn buffer_name(at: usize, parameter: &Parameter) -> String {
    if parameter.name.is_empty() { format!("buffer{at}") } else { parameter.name.clone() }
}
