//! What ncu is to collect, as far as it depends on what rules need.

pub mod second_run;
