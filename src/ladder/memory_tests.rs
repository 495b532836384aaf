//! Memory of the host and of other devices, and textures: plans and mistakes.

use super::Overrides;
use super::tests::broken;
use crate::plan::{Argument, Place, Texture};

#[test]
fn buffers_lie_where_the_step_wants_them() {
    let step = "file = \"scan.cu\"";
    let places = |keys: &str| {
        let ladder = broken(step, &format!("{step}\n{keys}")).unwrap();
        let plan = ladder.plan("plain", &Overrides::new(), 132).unwrap();
        plan.buffers.iter().map(|buffer| buffer.place).collect::<Vec<_>>()
    };
    assert_eq!(places(""), [Place::Device, Place::Device]);
    assert_eq!(places("host = [\"values\"]"), [Place::Host, Place::Device]);
    assert_eq!(places("peer = [\"sums\"]"), [Place::Device, Place::Peer]);
    for (keys, words) in [
        ("peer = [\"valeus\"]", "did you mean `values`?"),
        ("peer = [\"sums\"]\nhost = [\"sums\"]", "is in host memory already"),
    ] {
        let error = broken(step, &format!("{step}\n{keys}")).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn a_texture_is_a_view_of_a_buffer() {
    let with = |argument: &str| broken("args = [\"values\"", &format!("args = [{argument}"));
    let ladder = with("{ texture = \"values\", channels = 4 }").unwrap();
    let plan = ladder.plan("plain", &Overrides::new(), 132).unwrap();
    let texture = Argument::Texture(Texture { buffer: 0, channels: 4 });
    assert_eq!(plan.launches[0].arguments[0], texture);
    for (argument, words) in [
        ("{ texture = \"valeus\" }", "did you mean `values`?"),
        ("{ texture = \"values\", channels = 3 }", "has 1, 2 or 4 channels, not 3"),
        ("{ texture = \"values\", type = \"f32\" }", "a texture or a number"),
        ("{ channels = 2 }", "the key `texture` is missing"),
        ("{ type = \"i32\" }", "the key `value` is missing"),
    ] {
        let error = with(argument).unwrap_err().to_string();
        assert!(error.contains(words), "{argument}: {error}");
    }
}
