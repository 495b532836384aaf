//! The adoprof program.

fn main() {}
