//! Everything that looks at adoprof as a whole: one program, because each links all of polars.

mod bench_figures;
mod call_sites;
mod cli;
mod constructed;
mod control_codes;
mod devices;
mod faults_page;
mod kernels_compile;
mod model_counts;
mod mutations;
mod ncu_collect;
mod nvdisasm;
mod pages;
mod programs;
mod real_ncu;
mod recorded;
mod release;
mod revision;
mod rule_cases;
mod rules_on_ado;
mod second_run;
mod shipped;
mod structure;
mod survey;
