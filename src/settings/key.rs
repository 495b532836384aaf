//! The keys that there are.

/// A setting.
#[derive(Debug, PartialEq, Eq)]
pub struct Key {
    /// Its name, with its table: `check.max-time`.
    pub name: &'static str,
    /// The identifier of the option that it is the default of; empty where there is none.
    pub option: &'static str,
    /// The only command that it is for; empty for all that have the option.
    pub command: &'static str,
    /// What holds where nobody says anything.
    pub built_in: &'static str,
    /// The environment variable that says the same.
    pub variable: Option<&'static str>,
    /// True where only the user's own file may say it.
    pub is_users_alone: bool,
    /// What it is, in a few words.
    pub purpose: &'static str,
}

/// A key of all commands that anyone may set.
const COMMON: Key = Key {
    name: "",
    option: "",
    command: "",
    built_in: "",
    variable: None,
    is_users_alone: false,
    purpose: "",
};

/// All keys, in the order in which `config` shows them.
pub const KEYS: &[Key] = &[
    Key {
        name: "device",
        option: "device",
        built_in: "0",
        purpose: "number of the device",
        ..COMMON
    },
    Key {
        name: "ladder",
        option: "ladder",
        built_in: "ado",
        purpose: "the ladder that bare step names belong to",
        ..COMMON
    },
    Key {
        name: "ncu",
        option: "ncu",
        built_in: "looked up in PATH and CUDA's folders",
        variable: Some("ADOPROF_NCU"),
        is_users_alone: true,
        purpose: "the ncu program to use",
        ..COMMON
    },
    Key {
        name: "ncu-args",
        option: "ncu_args",
        built_in: "none",
        is_users_alone: true,
        purpose: "extra arguments for ncu",
        ..COMMON
    },
    Key {
        name: "timeout",
        option: "timeout",
        built_in: "10m",
        purpose: "the longest run",
        ..COMMON
    },
    Key {
        name: "format",
        option: "format",
        built_in: "text",
        purpose: "form of results",
        ..COMMON
    },
    Key {
        name: "color",
        option: "color",
        built_in: "auto",
        purpose: "when to use colour: auto, always, never",
        ..COMMON
    },
    Key {
        name: "rules",
        built_in: "adoprof-rules/ of the project, rules/ beside your own adoprof.toml",
        variable: Some("ADOPROF_RULES"),
        purpose: "more files and folders of your own rules",
        ..COMMON
    },
    Key {
        name: "mcp.allow",
        built_in: "none",
        is_users_alone: true,
        purpose: "tools of `adoprof mcp` that may run programs",
        ..COMMON
    },
    Key {
        name: "mcp.programs",
        built_in: "those under the root",
        is_users_alone: true,
        purpose: "programs from elsewhere that these tools may run",
        ..COMMON
    },
    Key {
        name: "check.max-slowdown",
        option: "max_slowdown",
        command: "check",
        built_in: "0.5%",
        purpose: "the largest slow-down that passes",
        ..COMMON
    },
    Key {
        name: "check.max-time",
        option: "max_time",
        command: "check",
        built_in: "5s for kernels, 60s for programs",
        purpose: "how long to time both at most",
        ..COMMON
    },
    Key {
        name: "check.fail-on",
        option: "fail_on",
        command: "check",
        built_in: "none",
        purpose: "further gates",
        ..COMMON
    },
    Key {
        name: "history.store",
        option: "store",
        command: "history",
        built_in: ".adoprof/history",
        variable: Some("ADOPROF_STORE"),
        purpose: "the store of profiles: a folder, or s3://BUCKET/FOLDER",
        ..COMMON
    },
    Key {
        name: "slurm.partition",
        option: "slurm_partition",
        built_in: "the cluster's own",
        purpose: "the partition for --on slurm",
        ..COMMON
    },
    Key {
        name: "slurm.account",
        option: "slurm_account",
        built_in: "the cluster's own",
        purpose: "the account for --on slurm",
        ..COMMON
    },
    Key {
        name: "slurm.gpus-per-task",
        option: "slurm_gpus",
        built_in: "1",
        purpose: "GPUs of each task",
        ..COMMON
    },
    Key {
        name: "slurm.retries",
        option: "slurm_retries",
        built_in: "3",
        purpose: "how often a task that is lost is queued again",
        ..COMMON
    },
    Key {
        name: "slurm.sbatch-args",
        option: "slurm_arg",
        built_in: "none",
        is_users_alone: true,
        purpose: "more arguments for sbatch",
        ..COMMON
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart() {
        let mut names: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), KEYS.len());
        assert!(KEYS.iter().all(|key| !key.purpose.is_empty() && !key.built_in.is_empty()));
    }
}
