//! Rebuilds when what travels inside the binary changes.

fn main() {
    for folder in ["kernels", "profiles", "sections"] {
        println!("cargo:rerun-if-changed={folder}");
    }
}
