//! adoprof: analysis-driven optimization of CUDA kernels from the command line.
//!
//! A profile comes in as an [`export`], becomes [`frame`]s, the [`model`] and the [`rules`] turn each
//! launch into findings, and a report prints them. Everything from the export on is pure: no GPU, no
//! ncu, no clock.
//!
//! These are the parts from top to bottom. Each imports only from those below it, which a test checks:
//!
//! - `cmd`: the subcommands: they wire the parts together, and they alone print to standard
//!   output
//! - `cli`: the command line, as types
//! - `mcp`: the same facts for agents: a server of the Model Context Protocol
//! - `fuzzing`: what reads foreign bytes, as functions of them
//! - `doctor`: what is missing on this machine
//! - `page`: a page with pictures, of whatever a user names
//! - `picture`: a chart as a PNG
//! - `report`: the forms in which documents are written
//! - `explain`: the rules in words, from what each says of itself
//! - `capture`: one launch of any program, copied while it runs
//! - `init`: a first manifest for existing kernels or an existing program
//! - `bench`: how right the findings are on kernels with planted faults
//! - `ledger`: predicted against measured gains
//! - `trial`: changes without new code, for the findings that ask for them
//! - `gate`: whether a candidate is slower than a baseline
//! - `sweep`: a step over a grid of settings
//! - `watch`: a step run again at every edit
//! - `history`: many profiles over a project's commits, and where something jumped
//! - `profile`: whatever a user names as a profile, read and diagnosed
//! - `program_run`: a step that is a program: built, run, its answer checked, its time measured
//! - `limiter`: what limits a step, from the times of its variants
//! - `diff`: two profiles side by side
//! - `document`: all that a command says, as data: the JSON
//! - `around`: what lies around the kernels of a program
//! - `collect`: a run of ncu, and a second one where the first leaves open what could matter most
//! - `agreement`: what ncu's rules say beside our findings
//! - `diagnose`: the findings of all rules, ranked
//! - `user_rules`: rules that users write, as data
//! - `rules`: one fault, one file
//! - `evidence`: questions that several rules ask of a launch
//! - `probe`: kernels and arithmetic that measure what a device can reach
//! - `model`: how long each unit is busy, and what would be left without a fault
//! - `tables`: frames as files for other tools
//! - `frame`: launches, metrics and source lines as frames
//! - `device`: what a device can reach
//! - `sass`: machine code: read, followed, and asked questions
//! - `timed_run`: a step on the device: its answer checked, its time measured without the
//!   profiler
//! - `launch`: the CUDA driver, the compiler, and memory on the device
//! - `ladder`: ladders: kernels as data
//! - `problem`: inputs, right answers, and how far from them an answer may be
//! - `plan`: a step at one size, ready to be built and launched
//! - `captured`: one launch of a program as files
//! - `store`: saved profiles and the recordings inside the binary
//! - `survey`: what a whole program does on its devices, recorded while it runs
//! - `ncu`: NVIDIA's profiler: found, asked, run, read back
//! - `export`: ncu's reports and CSV pages as rows
//! - `isa`: instruction encodings, and the text that they stand for
//! - `timing`: what a step's run came to, as data
//! - `outside`: what changes to other people's programs gained
//! - `term`: the resources that the model counts
//! - `finding`: what a rule found, as data
//! - `metric`: the catalogue of ncu's metrics
//! - `threshold`: numbers that decide, each with its source
//! - `hardware`: what all CUDA devices have alike
//! - `settings`: what adoprof.toml of the project and of the user says
//! - `slurm`: commands as tasks of a Slurm cluster
//! - `progress`: what is going on, on standard error
//! - `interrupt`: Ctrl-C
//! - `rank`: which of a program's ranks a process is
//! - `side_by_side`: a few threads for what takes milliseconds
//! - `handed_on`: memory that one kernel hands on to the next
//! - `includes`: the headers that a source includes
//! - `files`: files read within bounds, and written whole or not at all
//! - `error`: what can go wrong, and the exit codes
//! - `kernel_name`: kernels' names compared and made short
//! - `text`: numbers and names in words

mod agreement;
mod around;
pub mod bench;
mod capture;
mod captured;
pub mod cli;
pub mod cmd;
pub mod collect;
mod device;
pub mod diagnose;
mod diff;
mod doctor;
pub mod document;
pub mod error;
mod evidence;
mod explain;
pub mod export;
mod files;
pub mod finding;
pub mod frame;
#[doc(hidden)]
pub mod fuzzing;
pub mod gate;
mod handed_on;
mod hardware;
pub mod history;
mod includes;
mod init;
pub mod interrupt;
pub mod isa;
mod kernel_name;
pub mod ladder;
pub mod launch;
pub mod ledger;
pub mod limiter;
mod mcp;
pub mod metric;
pub mod model;
pub mod ncu;
pub mod outside;
mod page;
mod picture;
mod plan;
mod probe;
mod problem;
pub mod profile;
mod program_run;
mod progress;
pub mod rank;
pub mod report;
pub mod rules;
pub mod sass;
pub mod settings;
mod side_by_side;
mod slurm;
pub mod store;
pub mod survey;
pub mod sweep;
pub mod tables;
pub mod term;
pub mod text;
mod threshold;
mod timed_run;
mod timing;
mod trial;
mod user_rules;
mod watch;
