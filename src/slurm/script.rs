//! The scripts that Slurm runs.

/// What a task runs: the line of its number among the commands. Its output and its end are given their names only when
/// they are whole; the exit code last.
pub(super) const TASK: &str = r#"#!/bin/sh
# Written by adoprof: one task of a job array.
folder=$1
task=$(($2 + SLURM_ARRAY_TASK_ID))
command=$(sed -n "$((task + 1))p" "$folder/commands")
echo "$SLURM_JOB_ID" >> "$folder/begun-$task"
sh -c "exec $command" > "$folder/out-$task.part" 2> "$folder/err-$task"
code=$?
mv "$folder/out-$task.part" "$folder/out-$task"
echo "$code" > "$folder/end-$task.part"
mv "$folder/end-$task.part" "$folder/end-$task"
"#;

/// What is run once all tasks are over, whoever waits for them.
pub(super) const MERGE: &str = r#"#!/bin/sh
# Written by adoprof: puts the tasks' results together.
folder=$1
sh -c "exec $(cat "$folder/merge")" > "$folder/merge.log" 2>&1
"#;
