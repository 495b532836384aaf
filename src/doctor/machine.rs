//! What the operating system says: counter permission, other profilers, folders.

use std::path::{Path, PathBuf};

use super::{CheckResult, Status};

/// Bit of `CAP_SYS_ADMIN` in a capability set (linux/capability.h).
const CAP_SYS_ADMIN: u32 = 21;

/// What decides whether this process may read the GPU's counters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Facts {
    /// The nvidia module's setting; `None` where there is no module or it does not say.
    pub admin_only: Option<bool>,
    /// This process has `CAP_SYS_ADMIN`.
    pub sys_admin: bool,
    /// It runs in a container, which its own root can't give more rights.
    pub in_container: bool,
}

impl Facts {
    /// Reads them from `/proc`.
    pub(super) fn read() -> Self {
        let read = |path| std::fs::read_to_string(path).unwrap_or_default();
        Self {
            admin_only: admin_only(&read("/proc/driver/nvidia/params")),
            sys_admin: has_sys_admin(&read("/proc/self/status")),
            in_container: in_container(),
        }
    }
}

/// The line `RmProfilingAdminOnly: 1` of the module's parameters.
fn admin_only(params: &str) -> Option<bool> {
    let line = params.lines().find_map(|line| line.strip_prefix("RmProfilingAdminOnly:"))?;
    Some(line.trim() != "0")
}

/// The effective capabilities in `/proc/self/status`, a hexadecimal set.
fn has_sys_admin(status: &str) -> bool {
    status
        .lines()
        .find_map(|line| line.strip_prefix("CapEff:"))
        .and_then(|set| u64::from_str_radix(set.trim(), 16).ok())
        .is_some_and(|set| set & (1 << CAP_SYS_ADMIN) != 0)
}

/// True in a container of Docker, Podman or Kubernetes, which leave a file or a variable there.
pub(super) fn in_container() -> bool {
    let files = ["/.dockerenv", "/run/.containerenv"];
    let variables = ["KUBERNETES_SERVICE_HOST", "container"];
    files.iter().any(|file| Path::new(file).exists())
        || variables.iter().any(|name| std::env::var_os(name).is_some())
}

/// Whether the counters may be read.
pub(super) fn counters(facts: Facts) -> CheckResult {
    const NAME: &str = "counters";
    match (facts.admin_only, facts.sys_admin) {
        (Some(false), _) => CheckResult::ok(NAME, "open to every user"),
        (Some(true), true) => CheckResult::ok(NAME, "for administrators, and this process is one"),
        (Some(true), false) if facts.in_container => CheckResult::not_ok(
            NAME,
            Status::Missing,
            "for administrators only (RmProfilingAdminOnly is 1), and root in a container is not one",
            "start the container with --cap-add=SYS_ADMIN (Kubernetes: securityContext.capabilities.add: \
             [SYS_ADMIN]), or load the host's nvidia module with NVreg_RestrictProfilingToAdminUsers=0",
        ),
        (Some(true), false) => CheckResult::not_ok(
            NAME,
            Status::Missing,
            "for administrators only (RmProfilingAdminOnly is 1)",
            "run as root, or load the nvidia module with NVreg_RestrictProfilingToAdminUsers=0 (a \
             line `options nvidia NVreg_RestrictProfilingToAdminUsers=0` in /etc/modprobe.d, then \
             reboot)",
        ),
        (None, _) => CheckResult::not_ok(
            NAME,
            Status::Warn,
            "the nvidia module does not say who may read the counters",
            "if ncu reports ERR_NVGPUCTRPERM, run as root; under WSL, allow counters in the Windows \
             NVIDIA control panel",
        ),
    }
}

/// Whether DCGM runs, which holds the counters on data-center machines.
pub(super) fn dcgm(processes: &[String]) -> CheckResult {
    const NAME: &str = "dcgm";
    if processes.iter().any(|name| name == "nv-hostengine" || name == "dcgm-exporter") {
        CheckResult::not_ok(
            NAME,
            Status::Warn,
            "running, and it may hold the counters",
            "if ncu reports that a driver resource is unavailable: `dcgmi profile --pause`, and `--resume` \
             afterwards",
        )
    } else {
        CheckResult::minor(NAME, "not running here")
    }
}

/// The names of all processes that this one can see (15 characters at most, as the kernel keeps
/// them).
pub(super) fn process_names() -> Vec<String> {
    std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().bytes().all(|b| b.is_ascii_digit()))
        .filter_map(|entry| std::fs::read_to_string(entry.path().join("comm")).ok())
        .map(|name| name.trim_end().to_owned())
        .collect()
}

/// The kernel module's release, such as `580.159`.
#[must_use]
pub(crate) fn driver_version() -> Option<String> {
    module_release(&std::fs::read_to_string("/proc/driver/nvidia/version").ok()?)
}

/// The first word of the `NVRM version` line that is a release: digits and points.
fn module_release(text: &str) -> Option<String> {
    text.lines()
        .find(|line| line.starts_with("NVRM version"))?
        .split_whitespace()
        .find(|word| word.contains('.') && word.chars().all(|c| c.is_ascii_digit() || c == '.'))
        .map(str::to_owned)
}

/// A folder, or the nearest one above it that exists.
pub(super) fn nearest(folder: &Path) -> Option<PathBuf> {
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    absolute.ancestors().find(|folder| folder.is_dir()).map(Path::to_owned)
}

/// Whether a folder, or the nearest one above it that exists, can be written to.
pub(super) fn writable(name: &'static str, folder: &Path) -> CheckResult {
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let problem = match nearest(folder) {
        None => "none of its parent folders exists".to_owned(),
        // Trying is the only answer that knows read-only mounts, quotas and ACLs.
        Some(existing) => match tempfile::tempfile_in(existing) {
            Ok(_) => return CheckResult::minor(name, absolute.display().to_string()),
            Err(error) => error.to_string(),
        },
    };
    CheckResult::not_ok(
        name,
        Status::Missing,
        format!("{}: {problem}", absolute.display()),
        if name == super::TEMPORARY {
            "name another one: TMPDIR=DIR"
        } else {
            "make it writable, or run in another folder (profiles: -o DIR)"
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_modules_setting_is_read() {
        assert_eq!(admin_only("A: 1\nRmProfilingAdminOnly: 1\nB: 0\n"), Some(true));
        assert_eq!(admin_only("RmProfilingAdminOnly: 0\n"), Some(false));
        assert_eq!(admin_only("A: 1\n"), None);
    }

    #[test]
    fn sys_admin_is_bit_21() {
        assert!(has_sys_admin("Name:\tx\nCapEff:\t0000000000200000\n"));
        assert!(!has_sys_admin("CapEff:\t00000000a80425fb\n"));
        assert!(!has_sys_admin("CapEff:\tnonsense\n"));
    }

    #[test]
    fn counters_are_missing_only_where_they_are_forbidden() {
        let status = |admin_only, sys_admin| {
            counters(Facts { admin_only, sys_admin, in_container: false }).status
        };
        assert_eq!(status(Some(false), false), Status::Ok);
        assert_eq!(status(Some(true), true), Status::Ok);
        assert_eq!(status(Some(true), false), Status::Missing);
        assert_eq!(status(None, true), Status::Warn);
    }

    #[test]
    fn a_containers_root_is_told_of_the_capability() {
        let remedy = |in_container| {
            let facts = Facts { admin_only: Some(true), sys_admin: false, in_container };
            counters(facts).remedy.unwrap()
        };
        assert!(remedy(true).contains("--cap-add=SYS_ADMIN"));
        assert!(remedy(false).contains("run as root") && !remedy(false).contains("--cap-add"));
    }

    #[test]
    fn dcgm_is_a_warning() {
        assert_eq!(dcgm(&["bash".to_owned(), "nv-hostengine".to_owned()]).status, Status::Warn);
        assert_eq!(dcgm(&["bash".to_owned()]).status, Status::Ok);
    }

    #[test]
    fn the_modules_release_is_found_in_both_layouts() {
        let closed = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.54.03  Tue Jun  6\nGCC";
        let open = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159  Release\n";
        assert_eq!(module_release(closed).as_deref(), Some("535.54.03"));
        assert_eq!(module_release(open).as_deref(), Some("580.159"));
        assert_eq!(module_release("nothing"), None);
    }

    #[test]
    fn folders_need_not_exist_yet() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(writable("cache", &dir.path().join("a/b")).status, Status::Ok);
        assert!(!dir.path().join("a").exists());
        assert_eq!(writable("cache", Path::new("/proc/none")).status, Status::Missing);
    }
}
