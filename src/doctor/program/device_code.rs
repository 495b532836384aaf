//! The device code of one host file: for which architectures, and what its kernels were compiled with.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;

use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSection, ReadCache};

use super::fatbin::{Image, Kind, images};

/// Sections with fat binaries, of whole programs and of code that is linked again.
const SECTIONS: [&str; 2] = [".nv_fatbin", "__nv_relfatbin"];
/// Images that are looked at: libraries have tens of thousands, and the first tell what all were compiled with.
const MOST_IMAGES: usize = 100_000;
/// Cubins that are unpacked, and how many bytes of them at most.
const MOST_UNPACKED: usize = 500;
const MOST_BYTES: u64 = 256 << 20;

/// What a host file has of device code.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct DeviceCode {
    /// Architectures with machine code, 90 of `sm_90`, and whether only that one takes it.
    pub machine: BTreeSet<(u32, bool)>,
    /// Architectures with PTX.
    pub ptx: BTreeSet<u32>,
    /// Kernels and other functions of the cubins that were looked at.
    pub functions: usize,
    /// Those of cubins with line information.
    pub with_lines: usize,
    /// True where something was compiled with `-G`.
    pub is_debug: bool,
}

impl DeviceCode {
    /// That of a host file, for a device of this compute capability where one is known; `None` where the file is no
    /// ELF file or has no device code.
    pub(super) fn read(path: &Path, device: Option<(u32, u32)>) -> Option<Self> {
        let file = File::open(path).ok()?;
        let cache = ReadCache::new(&file);
        let elf = ElfFile64::<Endianness, _>::parse(&cache).ok()?;
        let mut found = Vec::new();
        for name in SECTIONS {
            let Some((start, size)) = elf.section_by_name(name).and_then(|at| at.file_range())
            else {
                continue;
            };
            found.extend(images(&file, start, size, MOST_IMAGES).ok()?);
        }
        let mut code = Self::default();
        for image in &found {
            code.is_debug |= image.is_debug;
            match image.kind {
                Kind::Ptx => _ = code.ptx.insert(image.architecture),
                Kind::Cubin => _ = code.machine.insert((image.architecture, image.is_specific)),
            }
        }
        // The code that would run, and without a device that of the newest architecture.
        let newest = found.iter().map(|image| image.architecture).max().unwrap_or_default();
        let runs = |image: &&Image| match device {
            Some(device) => runs_on(image.architecture, image.is_specific, device),
            None => image.architecture == newest,
        };
        let cubins = found.iter().filter(|image| image.kind == Kind::Cubin).filter(runs);
        let mut bytes = 0;
        for image in cubins.take(MOST_UNPACKED) {
            bytes += image.size();
            if bytes > MOST_BYTES {
                break;
            }
            let (functions, has_lines) = image.code(&file).map_or((0, false), |code| cubin(&code));
            code.functions += functions;
            code.with_lines += if has_lines { functions } else { 0 };
        }
        (!found.is_empty()).then_some(code)
    }

    /// How it comes to run on a device.
    pub(super) fn fits(&self, device: (u32, u32)) -> Fits {
        if self.machine.iter().any(|&(of, is_specific)| runs_on(of, is_specific, device)) {
            return Fits::Ready;
        }
        let own = 10 * device.0 + device.1;
        if self.ptx.iter().any(|&of| of <= own) { Fits::Compiled } else { Fits::Not }
    }
}

/// How code comes to run on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fits {
    /// There is machine code for it.
    Ready,
    /// The driver compiles PTX when the program starts.
    Compiled,
    /// Not at all.
    Not,
}

/// Machine code runs on devices of its major version from its minor one on, and specific code on its own alone.
fn runs_on(architecture: u32, is_specific: bool, (major, minor): (u32, u32)) -> bool {
    let (of_major, of_minor) = (architecture / 10, architecture % 10);
    of_major == major && if is_specific { of_minor == minor } else { of_minor <= minor }
}

/// A cubin's functions, and whether it knows their source lines.
fn cubin(code: &[u8]) -> (usize, bool) {
    let Ok(elf) = ElfFile64::<Endianness, _>::parse(code) else { return (0, false) };
    let functions = elf
        .sections()
        .filter(|section| section.name().is_ok_and(|name| name.starts_with(".text.")))
        .count();
    (functions, elf.section_by_name(".debug_line").is_some_and(|lines| lines.size() > 0))
}

#[cfg(test)]
mod tests {
    use super::super::sample::{Stored, elf, fatbin, image};
    use super::*;

    const WITH_LINES: [(&str, &[u8]); 2] = [(".text._Z1kv", b"code"), (".debug_line", b"lines")];

    fn read(images: &[Vec<u8>], device: Option<(u32, u32)>) -> Option<DeviceCode> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        std::fs::write(&path, elf(&[(".nv_fatbin", &fatbin(images))])).unwrap();
        DeviceCode::read(&path, device)
    }

    #[test]
    fn what_would_run_is_looked_at() {
        let (lines, none) = (elf(&WITH_LINES), elf(&[(".text.a", b"x"), (".text.b", b"y")]));
        let images = [
            image(2, 80, 0, &lines, Stored::Zstd),
            image(2, 90, 0, &none, Stored::Lz4),
            image(1, 75, 0, b"text", Stored::Plain),
        ];
        let of = |device| {
            let code = read(&images, device).unwrap();
            (code.functions, code.with_lines)
        };
        assert_eq!((of(Some((8, 6))), of(Some((9, 0))), of(None)), ((1, 1), (2, 0), (2, 0)));
        let code = read(&images, None).unwrap();
        assert_eq!(code.machine.iter().copied().collect::<Vec<_>>(), [(80, false), (90, false)]);
        assert!(code.ptx.contains(&75) && !code.is_debug);
        assert!(read(&[image(2, 80, 2, &lines, Stored::Plain)], None).unwrap().is_debug);
        assert_eq!(read(&[], None), None);
        assert_eq!(DeviceCode::read(Path::new("/dev/null"), None), None);
    }

    #[test]
    fn code_runs_where_cuda_lets_it() {
        let code = |machine: &[(u32, bool)], ptx: &[u32]| DeviceCode {
            machine: machine.iter().copied().collect(),
            ptx: ptx.iter().copied().collect(),
            ..DeviceCode::default()
        };
        for (code, device, expected) in [
            (code(&[(80, false)], &[]), (8, 6), Fits::Ready),
            (code(&[(86, false)], &[]), (8, 0), Fits::Not),
            (code(&[(80, false)], &[80]), (9, 0), Fits::Compiled),
            (code(&[(80, false)], &[]), (9, 0), Fits::Not),
            (code(&[(90, true)], &[90]), (9, 0), Fits::Ready),
            (code(&[(100, true)], &[]), (10, 3), Fits::Not),
            (code(&[(120, false)], &[]), (12, 1), Fits::Ready),
            (code(&[], &[100]), (9, 0), Fits::Not),
        ] {
            assert_eq!(code.fits(device), expected, "{code:?} {device:?}");
        }
    }
}
