//! adoprof as a user runs it: its arguments, streams, exit codes and files. No device is needed, and
//! ncu is a stand-in.
#![cfg(target_os = "linux")]

mod analyze;
mod attached;
mod bad_input;
mod bench;
mod check;
mod check_examples;
mod config;
mod copied;
mod frames;
mod history;
mod hostile;
mod html;
mod killed;
mod doctor;
mod facts;
mod examples;
mod ladder_check;
mod ledger;
mod limiter;
mod newcomer;
mod profile;
mod ranks;
mod report;
mod rules;
mod slurm;
mod streams;
mod survey;
mod program_step;
mod sweep;
mod watch;
mod wrong_commands;
