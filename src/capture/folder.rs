//! The ladder of a captured launch.

use std::path::Path;

use super::choose::Chosen;
use super::code;
use super::dump::{Dump, Stretch};
use super::request::{Captured, Request};
use crate::captured::{self, Attribute, CODE, FILE, Launch, MEMORY, Memory, Parameter};
use crate::error::{Error, Result};
use crate::files::write_atomically;
use crate::ladder::manifest;
use crate::{init, kernel_name, text};

/// Attributes of a launch that a replay keeps: clusters, their scheduling, their preferred size, and the carve-out.
/// Others order it among other work.
const KEPT: [u32; 4] = [4, 5, 11, 14];

/// Writes the ladder beside its place first, and renames it.
///
/// # Errors
/// [`Error::Environment`] where the launch can't be replayed, with the reason; [`Error::Input`] where the folder can't be
/// written.
pub(super) fn write(
    dump: &Dump,
    request: &Request,
    chosen: &Chosen,
    scratch: &Path,
) -> Result<Captured> {
    let kernel = &chosen.kernel;
    let cant = |why: String| Error::Environment(format!("the launch can't be captured: {why}"));
    let module = code::module(&dump.modules, kernel, dump.registers());
    let module = module.ok_or_else(|| cant("its machine code was not seen".to_owned()))?;
    if let Some(instruction) = code::texture_instruction(module, kernel) {
        return Err(cant(format!(
            "the kernel reads a texture or a surface ({instruction}), whose handle means nothing in another process"
        )));
    }
    if dump.stretches.iter().any(|stretch| stretch.is_host) {
        return Err(cant(
            "a parameter points to pinned memory of the host, which is not copied".to_owned(),
        ));
    }
    let staging = scratch.join("ladder");
    let mut memory = Vec::new();
    for (at, stretch) in dump.stretches.iter().enumerate() {
        memory.push(stored(dump, at, stretch, &staging)?);
    }
    let launch = launch(dump, request, chosen, memory);
    let problem = |why: String| Error::input(request.output, format!("can't be written: {why}"));
    write_atomically(&staging.join(CODE), module)?;
    write_atomically(&staging.join(FILE), launch.text().map_err(problem)?.as_bytes())?;
    let manifest = manifest_text(&launch, request.output);
    write_atomically(&staging.join(manifest::FILE), manifest.as_bytes())?;
    std::fs::rename(&staging, request.output)
        .map_err(|error| Error::io(request.output, "write", &error))?;
    Ok(Captured {
        chosen: chosen.clone(),
        stretches: launch.memory.len(),
        bytes: launch.memory.iter().map(|memory| memory.bytes).sum(),
        notices: notices(dump, &launch),
    })
}

/// Stores a stretch of memory.
fn stored(dump: &Dump, at: usize, stretch: &Stretch, staging: &Path) -> Result<Memory> {
    let (before, after) = dump.contents(stretch)?;
    let variable = dump.variables.iter().find(|(address, _)| *address == stretch.address);
    let variable = variable.map(|(_, name)| name.clone());
    let file = |when: &str| format!("{MEMORY}/{at}.{when}.zst");
    captured::write(&staging.join(file("before")), &before)?;
    let changed = before != after;
    if changed {
        captured::write(&staging.join(file("after")), &after)?;
    }
    Ok(Memory {
        name: format!("m{at}"),
        address: stretch.address,
        bytes: stretch.bytes,
        variable,
        before: file("before"),
        after: changed.then(|| file("after")),
    })
}

fn launch(dump: &Dump, request: &Request, chosen: &Chosen, memory: Vec<Memory>) -> Launch {
    let program = std::iter::once(request.program.program.to_string_lossy())
        .chain(request.program.args.iter().map(|word| word.to_string_lossy()));
    let attributes = dump.attributes.iter().filter(|(number, _)| KEPT.contains(number));
    let mut launch = Launch {
        kernel: chosen.kernel.clone(),
        name: kernel_name::demangled(&chosen.kernel).into_owned(),
        program: shell_words::join(program),
        number: chosen.number + 1,
        original_ns: chosen.ns,
        typical_ns: chosen.typical_ns,
        device: chosen.device.clone(),
        compute_capability: chosen.compute_capability,
        date: jiff::Zoned::now().strftime("%Y-%m-%d").to_string(),
        code: CODE.to_owned(),
        grid: dump.grid(),
        block: dump.block(),
        shared_bytes: dump.shared_bytes(),
        cooperative: dump.is_cooperative() || dump.attributes.iter().any(is_cooperative),
        stack_bytes: dump.stack_bytes,
        most_shared_bytes: dump.most_shared_bytes(),
        carveout_percent: dump.carveout_percent(),
        any_cluster: dump.any_cluster(),
        inner_pointers: dump.inner_pointers,
        attributes: attributes
            .map(|(number, value)| Attribute { number: *number, value: value.clone() })
            .collect(),
        parameters: Vec::new(),
        memory,
    };
    let parameter = |bytes: &Vec<u8>| {
        let words = bytes
            .chunks_exact(8)
            .filter_map(|word| Some(u64::from_le_bytes(word.try_into().ok()?)));
        let places = words.filter_map(|word| launch.place(word));
        let names = places.map(|(at, offset)| match offset {
            0 => launch.memory[at].name.clone(),
            _ => format!("{} + {offset}", launch.memory[at].name),
        });
        Parameter { bytes: bytes.clone(), points_to: names.collect() }
    };
    launch.parameters = dump.parameters.iter().map(parameter).collect();
    launch
}

/// The attribute that asks for all blocks at once.
fn is_cooperative((number, value): &(u32, Vec<u8>)) -> bool {
    *number == 2 && value.iter().take(4).any(|byte| *byte != 0)
}

fn notices(dump: &Dump, launch: &Launch) -> Vec<String> {
    let mut notices = Vec::new();
    if launch.memory.iter().all(|memory| memory.after.is_none()) {
        notices.push(
            "the launch changes nothing, because the memory already held what it writes, so a replay that wrote \
             nothing would pass as correct; choose another launch with --nth"
                .to_owned(),
        );
    }
    if dump.stretches.iter().any(|stretch| stretch.is_managed) {
        notices.push(
            "the launch reaches managed memory, which a replay keeps on the device, so the cost of moving it is \
             left out"
                .to_owned(),
        );
    }
    let ordered = |(number, _): &&(u32, Vec<u8>)| matches!(number, 1 | 6 | 7 | 12);
    if dump.attributes.iter().any(|attribute| ordered(&attribute)) {
        notices.push(
            "the program launches the kernel beside other work (programmatic dependent launch, events, or an access \
             policy of L2), and a replay launches it alone"
                .to_owned(),
        );
    }
    notices
}

fn manifest_text(launch: &Launch, folder: &Path) -> String {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let title = format!(
        "{}, launch {} in {}",
        kernel_name::base(&launch.kernel),
        launch.number,
        launch.program
    );
    let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
    format!(
        "# Written by adoprof capture. launch.toml has the launch: its parameters, its memory, its shape.\n\
         name = {name}\n\
         title = {title}\n\
         \n\
         [[steps]]\n\
         name = \"captured\"\n\
         title = \"the machine code that the program launched, which took {took} there\"\n\
         captured = \"{FILE}\"\n\
         \n\
         # Code of yours on the same memory with the same parameters, checked against the same bytes:\n\
         # [[steps]]\n\
         # name = \"mine\"\n\
         # title = \"what I changed\"\n\
         # captured = \"{FILE}\"\n\
         # file = \"kernel.cu\"\n\
         # launches = [{{ kernel = \"{base}\", grid = [{grid}], block = [{block}], shared = {shared} }}]\n",
        name = quoted(&init::name_of(&name)),
        title = quoted(&title),
        took = text::duration(launch.typical_ns),
        base = kernel_name::base(&launch.kernel),
        grid = expressions(launch.grid),
        block = expressions(launch.block),
        shared = quoted(&launch.shared_bytes.to_string()),
    )
}

/// Extents as a manifest has them.
fn expressions(extents: [u32; 3]) -> String {
    extents.map(|extent| format!("\"{extent}\"")).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::choose::Chosen;
    use crate::capture::dump::samples;
    use crate::ladder::{Ladder, Overrides};
    use crate::plan::Role;
    use crate::survey::run::Program;

    fn captured(output: &Path) -> Captured {
        let scratch = tempfile::tempdir_in(output.parent().unwrap()).unwrap();
        let path = scratch.path().join("1.captured");
        std::fs::write(&path, samples::bytes()).unwrap();
        let chosen = Chosen {
            kernel: "_Z5scalePfi".into(),
            number: 2,
            ns: 5000.0,
            typical_ns: 4000.0,
            device: "a GPU".into(),
            compute_capability: [9, 0],
        };
        let args = ["a \"b\"".into()];
        let request = Request {
            program: Program {
                program: Path::new("./prog"),
                args: &args,
                folder: None,
                env: Vec::new(),
            },
            chosen: std::slice::from_ref(&chosen),
            output,
            limit: 1 << 30,
            keep_running: false,
        };
        write(&Dump::open(&path).unwrap(), &request, &chosen, scratch.path()).unwrap()
    }

    #[test]
    fn what_was_captured_is_a_ladder_whose_step_has_its_memory() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("scale it");
        let captured = captured(&output);
        assert_eq!((captured.stretches, captured.bytes), (2, 24));
        let ladder = Ladder::load(&output).unwrap();
        assert!(
            ladder.title().contains("scale, launch 3 in ./prog 'a \"b\"'"),
            "{}",
            ladder.title()
        );
        let plan = ladder.plan("captured", &Overrides::new(), 1).unwrap();
        let launch = &plan.launches[0];
        assert_eq!(
            (launch.kernel.as_str(), launch.grid, launch.block),
            ("_Z5scalePfi", [4, 2, 1], [128, 1, 1])
        );
        assert_eq!(launch.shared_bytes, 64);
        let roles: Vec<_> =
            plan.buffers.iter().map(|buffer| (buffer.bytes(), buffer.role)).collect();
        assert_eq!(roles, [(8, Role::Input), (16, Role::State)]);
        let replay = plan.captured.unwrap();
        assert_eq!(replay.launch.memory[0].variable.as_deref(), Some("table"));
        assert_eq!(replay.launch.parameters[0].points_to, ["m1 + 8"]);
        assert_eq!(replay.launch.attributes.len(), 1);
        let after = replay.folder.join(replay.launch.memory[1].after.as_ref().unwrap());
        assert_eq!(captured::read(&after, 16).unwrap()[..2], [9, 1]);
    }

    #[test]
    fn the_step_for_code_of_ones_own_only_needs_its_marks_removed() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("own");
        captured(&output);
        let path = output.join(manifest::FILE);
        let text = std::fs::read_to_string(&path).unwrap();
        let (head, own) = text.split_once("# [[steps]]").unwrap();
        let own = format!("[[steps]]{}", own.replace("\n# ", "\n"));
        std::fs::write(&path, format!("{head}{own}")).unwrap();
        std::fs::write(output.join("kernel.cu"), "__global__ void scale(float *a, int n) {}\n")
            .unwrap();
        let ladder = Ladder::load(&output).unwrap();
        let plan = ladder.plan("mine", &Overrides::new(), 1).unwrap();
        assert!(plan.captured.unwrap().has_own_code && plan.source.text.contains("scale"));
        assert_eq!(plan.launches[0].kernel, "scale");
        assert_eq!((plan.launches[0].grid, plan.launches[0].shared_bytes), ([4, 2, 1], 64));
        // The step as captured takes no flags; one's own does.
        let flags = crate::ladder::Tuning { flags: vec!["-DX".into()], ..Default::default() };
        assert!(ladder.plan_tuned("captured", &Overrides::new(), &flags, 1).is_err());
        assert_eq!(ladder.plan_tuned("mine", &Overrides::new(), &flags, 1).unwrap().flags, ["-DX"]);
    }
}
