//! `--on slurm` with stand-ins for Slurm's commands; `scripts/check-slurm` has the real ones.

use std::os::unix::fs::PermissionsExt;

use crate::cli::bench::{Bench, Ran, ran};

/// Holds the first jobs, as Slurm does where a node refuses them, and runs each later one at once.
const SBATCH: &str = r#"
job=$(($(cat "$QUEUE/jobs" 2>/dev/null || echo 0) + 1))
echo "$job" > "$QUEUE/jobs"
while [ $# -gt 3 ]; do shift; done
if [ "$job" -le "$HOLDS" ]; then
    echo "$job" > "$QUEUE/held"
else
    SLURM_JOB_ID=$job SLURM_ARRAY_TASK_ID=0 sh "$1" "$2" "$3"
fi
"#;
const SQUEUE: &str = r#"
[ ! -e "$QUEUE/held" ] || echo "0 0 $(cat "$QUEUE/held")_0 launch failed requeued held"
"#;
const SCANCEL: &str = r#"
echo "$1" >> "$QUEUE/cancelled"
rm -f "$QUEUE/held"
"#;

/// `run` of a recorded ladder as a job, the first so many of which Slurm holds.
fn run(bench: &Bench, holds: u32) -> Ran {
    for (name, script) in [("sbatch", SBATCH), ("squeue", SQUEUE), ("scancel", SCANCEL)] {
        let path = format!("slurm/{name}");
        bench.write(&path, format!("#!/bin/sh{script}"));
        std::fs::set_permissions(bench.path(&path), PermissionsExt::from_mode(0o755)).unwrap();
    }
    bench.write("adoprof.toml", "[slurm]\nretries = 1\n");
    let path = format!("{}:{}", bench.path("slurm").display(), std::env::var("PATH").unwrap());
    let mut command = bench.command(&["run", "--ladder", "ado", "--recorded", "--on", "slurm"]);
    ran(command.env("PATH", path).env("QUEUE", bench.path("slurm")).env("HOLDS", holds.to_string()))
}

#[test]
fn a_task_that_slurm_holds_is_queued_again() {
    let bench = Bench::new();
    let ran = run(&bench, 1);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.contains("v6"), "the task's output is the command's: {ran:?}");
    assert!(ran.err.contains("launch failed requeued held"), "it says why it waits: {ran:?}");
    assert_eq!(std::fs::read_to_string(bench.path("slurm/cancelled")).unwrap(), "1_0\n");
    assert_eq!(bench.left(".adoprof/slurm"), [""; 0].map(std::path::PathBuf::from));
}

#[test]
fn a_task_that_slurm_holds_too_often_is_given_up() {
    let bench = Bench::new();
    let ran = run(&bench, 9);
    assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""), "{ran:?}");
    assert!(ran.err.contains("was lost 2 times"), "{ran:?}");
    assert!(ran.err.contains("refused by its node"), "{ran:?}");
}
