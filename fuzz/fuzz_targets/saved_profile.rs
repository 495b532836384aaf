#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| adoprof::fuzzing::saved_profile(bytes));
