//! One launch of somebody's program as files: its machine code, its parameters, the memory that they reach, and what
//! the launch made of it. `adoprof capture` writes them; a ladder's step of this kind replays them.

mod contents;
mod hex;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::Error;

pub(crate) use contents::{read, write};

/// The file with everything but the memory.
pub(crate) const FILE: &str = "launch.toml";
/// The machine code beside it.
pub(crate) const CODE: &str = "kernel.cubin";
/// The folder of the memory.
pub(crate) const MEMORY: &str = "memory";

/// A launch that was captured, as [`FILE`] has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Launch {
    /// The kernel's symbol in the machine code.
    pub kernel: String,
    /// Its name as people read it.
    pub name: String,
    /// The program that launched it.
    pub program: String,
    /// Which of the kernel's launches in its process, from 1.
    pub number: u64,
    /// How long it took in the program, ns, without a profiler that serializes.
    pub original_ns: f64,
    /// The median of the launches like it in the program, ns.
    pub typical_ns: f64,
    /// The device that it ran on.
    pub device: String,
    /// The device's compute capability: the machine code runs on no other.
    pub compute_capability: [u32; 2],
    /// The day.
    pub date: String,
    /// The file with the machine code.
    pub code: String,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads per block in x, y, z.
    pub block: [u32; 3],
    /// Dynamic shared memory per block, bytes.
    pub shared_bytes: u32,
    /// All blocks must be resident together.
    pub cooperative: bool,
    /// Bytes of a thread's stack in the program's context.
    pub stack_bytes: u64,
    /// The most dynamic shared memory that the program allowed the kernel, bytes.
    pub most_shared_bytes: i32,
    /// The share of L1 that the program asked for as shared memory, percent; -1 for the driver's choice.
    pub carveout_percent: i32,
    /// The program allowed clusters of any size.
    pub any_cluster: bool,
    /// How many words of the memory point into it. Such memory must lie where it did.
    pub inner_pointers: u64,
    /// What the launch asks for beside its shape.
    #[serde(default)]
    pub attributes: Vec<Attribute>,
    /// The parameters in their order.
    #[serde(default)]
    pub parameters: Vec<Parameter>,
    /// The memory.
    #[serde(default)]
    pub memory: Vec<Memory>,
}

/// An attribute of a launch, such as the size of its clusters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Attribute {
    /// The driver's number (`CUlaunchAttributeID`).
    pub number: u32,
    /// Its value, 64 bytes.
    #[serde(with = "hex::bytes")]
    pub value: Vec<u8>,
}

/// A parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Parameter {
    /// Its bytes.
    #[serde(with = "hex::bytes")]
    pub bytes: Vec<u8>,
    /// What it points to, for readers: `m0 + 512`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub points_to: Vec<String>,
}

/// A stretch of memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Memory {
    /// Its name in reports.
    pub name: String,
    /// Where it lay.
    #[serde(with = "hex::address")]
    pub address: u64,
    /// Its size, bytes.
    pub bytes: u64,
    /// It is a variable of the module with this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    /// The file with what it held before the launch, compressed by zstd.
    pub before: String,
    /// The same after the launch, where that is something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// A launch to replay.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Replay {
    /// The launch.
    pub launch: Arc<Launch>,
    /// The folder of its files.
    pub folder: PathBuf,
    /// True where other code takes the place of the machine code.
    pub has_own_code: bool,
}

impl Replay {
    /// The machine code.
    ///
    /// # Errors
    /// [`Error::Input`] where it can't be read.
    pub(crate) fn code(&self) -> crate::error::Result<Vec<u8>> {
        let path = self.folder.join(&self.launch.code);
        crate::files::read(&path, MOST_CODE).map_err(|error| Error::io(&path, "read", &error))
    }
}

impl Launch {
    /// Takes the text of [`FILE`].
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let launch: Self = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        let files =
            launch.memory.iter().flat_map(|memory| [Some(&memory.before), memory.after.as_ref()]);
        for file in files.flatten().chain([&launch.code]) {
            if !is_inside(file) {
                return Err(format!("`{}` is not inside the folder", crate::text::printable(file)));
            }
        }
        if launch.attributes.iter().any(|attribute| attribute.value.len() != ATTRIBUTE_BYTES) {
            return Err(format!("an attribute's value has {ATTRIBUTE_BYTES} bytes"));
        }
        if launch.memory.iter().any(|memory| memory.bytes == 0 || memory.bytes > MOST_BYTES) {
            return Err("a stretch of memory is empty or larger than any device's".to_owned());
        }
        Ok(launch)
    }

    /// The text of [`FILE`].
    ///
    /// # Errors
    /// Where a number can't be written.
    pub(crate) fn text(&self) -> Result<String, String> {
        toml::to_string(self).map_err(|error| error.to_string())
    }

    /// What is wrong with a kernel whose parameters have these sizes, in one sentence; `None` where it takes what was
    /// captured.
    pub(crate) fn misfit(&self, kernel: &str, sizes: Option<&[u32]>) -> Option<String> {
        let own: Vec<u32> =
            self.parameters.iter().map(|parameter| parameter.bytes.len() as u32).collect();
        match sizes {
            None => Some(format!("which parameters `{kernel}` takes can't be read from its code")),
            Some(sizes) if sizes == own => None,
            Some(sizes) => Some(format!(
                "`{kernel}` takes parameters of {sizes:?} bytes, and {own:?} were captured: give it those of {}",
                self.name
            )),
        }
    }

    /// The stretch that an address lies in, and how far from its start.
    pub(crate) fn place(&self, address: u64) -> Option<(usize, u64)> {
        let holds =
            |memory: &Memory| address >= memory.address && address - memory.address < memory.bytes;
        let at = self.memory.iter().position(holds)?;
        Some((at, address - self.memory[at].address))
    }
}

/// Bytes of an attribute's value.
pub(crate) const ATTRIBUTE_BYTES: usize = 64;
/// The most machine code to read, bytes.
const MOST_CODE: u64 = 1 << 30;
/// A TiB: no device has more memory.
const MOST_BYTES: u64 = 1 << 40;

/// True for a path that stays in its folder.
fn is_inside(file: &str) -> bool {
    let mut parts = Path::new(file).components();
    !file.is_empty() && parts.all(|part| matches!(part, std::path::Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch() -> Launch {
        Launch {
            kernel: "_Z4axpyPf".into(),
            name: "axpy(float*)".into(),
            program: "./axpy 100".into(),
            number: 3,
            original_ns: 1234.0,
            typical_ns: 1200.5,
            device: "a GPU".into(),
            compute_capability: [9, 0],
            date: "2026-01-01".into(),
            code: CODE.into(),
            grid: [4, 1, 1],
            block: [128, 1, 1],
            shared_bytes: 0,
            cooperative: false,
            stack_bytes: 1024,
            most_shared_bytes: 49_152,
            carveout_percent: -1,
            any_cluster: false,
            inner_pointers: 0,
            attributes: vec![Attribute { number: 4, value: vec![2; 64] }],
            parameters: vec![Parameter {
                bytes: vec![0, 2, 0, 0x10, 0, 0x7f, 0, 0],
                points_to: vec!["m0 + 512".into()],
            }],
            memory: vec![Memory {
                name: "m0".into(),
                address: 0x7f00_1000_0000,
                bytes: 1024,
                variable: None,
                before: "memory/0.before.zst".into(),
                after: None,
            }],
        }
    }

    #[test]
    fn a_launch_is_read_as_it_was_written() {
        let launch = launch();
        let text = launch.text().unwrap();
        assert!(text.contains("address = \"0x7f0010000000\""), "{text}");
        assert!(text.contains("bytes = \"00020010007f0000\""), "{text}");
        assert_eq!(Launch::parse(&text).unwrap(), launch);
    }

    #[test]
    fn an_address_is_found_in_its_stretch_only() {
        let launch = launch();
        assert_eq!(launch.place(0x7f00_1000_0200), Some((0, 512)));
        assert_eq!(launch.place(0x7f00_1000_03ff), Some((0, 1023)));
        assert_eq!(launch.place(0x7f00_1000_0400), None);
        assert_eq!(launch.place(0x7f00_0fff_ffff), None);
    }

    #[test]
    fn a_kernel_takes_the_parameters_that_were_captured() {
        let launch = launch();
        assert_eq!(launch.misfit("axpy", Some(&[8])), None);
        let text = launch.misfit("axpy", Some(&[8, 4])).unwrap();
        assert!(text.contains("[8, 4] bytes, and [8] were captured"), "{text}");
        assert!(
            launch.misfit("axpy", None).is_some() && launch.misfit("axpy", Some(&[])).is_some()
        );
    }

    #[test]
    fn files_stay_in_the_folder_and_sizes_within_reason() {
        let text = launch().text().unwrap();
        for (from, to) in [
            ("memory/0.before.zst", "../0.before.zst"),
            ("memory/0.before.zst", "/etc/passwd"),
            ("bytes = 1024", "bytes = 0"),
            ("bytes = 1024", "bytes = 2000000000000"),
            ("0x7f0010000000", "7f0010000000"),
            ("00020010007f0000", "00020010007f000"),
            ("grid", "grids"),
        ] {
            assert!(text.contains(from), "{from}");
            assert!(Launch::parse(&text.replace(from, to)).is_err(), "{from} -> {to}");
        }
    }
}
