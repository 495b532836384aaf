//! Ladders as records, and what is wrong with one.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::document::{SCHEMA, Version};
use crate::ladder::{Ladder, NamedSize, Published, Step, Variant};

/// What `ladder list` and `ladder show` print.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LaddersDocument {
    /// Always [`SCHEMA`](crate::document::SCHEMA).
    pub schema: &'static str,
    /// The version that wrote it.
    pub adoprof: Version,
    /// The ladders.
    pub ladders: Vec<LadderRecord>,
}

/// One ladder.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LadderRecord {
    /// Its name.
    pub name: String,
    /// What it computes.
    pub title: String,
    /// What else there is to say.
    pub description: String,
    /// The planted fault that it shows, `limits`, or `lookalikes`; null where it is none of the fault bench.
    pub fault: Option<String>,
    /// The set of the fault bench that it belongs to, or null.
    pub set: Option<u32>,
    /// The problem's parameters and their values.
    pub size: BTreeMap<String, u64>,
    /// What its kernels read and write.
    pub buffers: Vec<LadderBuffer>,
    /// Its steps, in order.
    pub steps: Vec<LadderStep>,
    /// Sizes with a name.
    pub sizes: Vec<LadderSize>,
}

/// A buffer.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LadderBuffer {
    /// Its name.
    pub name: String,
    /// The type of its elements.
    #[serde(rename = "type")]
    pub dtype: String,
    /// Its extents, as the manifest writes them.
    pub shape: String,
    /// What it is for.
    pub role: String,
}

/// A step.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LadderStep {
    /// Its name.
    pub name: String,
    /// What it is.
    pub title: String,
    /// The step that it branches from; null for a step of the main line.
    pub from: Option<String>,
    /// What it changes.
    pub changes: String,
    /// The faults that it removes.
    pub removes: Vec<String>,
    /// A remark; empty where there is none.
    pub note: String,
    /// What `sweep` may vary, with its values here.
    pub tunables: BTreeMap<String, u64>,
    /// What `limiter` times beside it.
    pub variants: Vec<LadderVariant>,
    /// What is run, for a step that is a program; null otherwise.
    pub program: Option<StepProgram>,
    /// Figures that others published.
    pub published: Vec<Published>,
}

/// A step with something left out.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LadderVariant {
    /// Its name.
    pub name: String,
    /// What kind of variant it is.
    pub kind: String,
    /// What it is.
    pub title: String,
    /// The faults that it removes.
    pub removes: Vec<String>,
}

/// A step that is a program.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StepProgram {
    /// The commands that build and run it.
    pub runs: String,
    /// Which kernels count.
    pub kernels: String,
    /// What checks its answer.
    pub checked_by: String,
    /// What tells its time.
    pub timed_by: String,
}

/// A size with a name.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LadderSize {
    /// Its name.
    pub name: String,
    /// The step that it is for.
    pub step: String,
    /// The problem's parameters.
    pub size: BTreeMap<String, u64>,
    /// Where it comes from.
    pub note: String,
}

/// What `ladder check` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LadderCheckDocument {
    /// Always [`SCHEMA`](crate::document::SCHEMA).
    pub schema: &'static str,
    /// The version that wrote it.
    pub adoprof: Version,
    /// The ladder's name; null where the manifest can't be read as a whole.
    pub ladder: Option<String>,
    /// How many steps it has.
    pub steps: usize,
    /// What is wrong with the manifest, by line.
    pub mistakes: Vec<ManifestMistake>,
    /// The compiler's words on sources that do not compile.
    pub refused: Vec<String>,
    /// What was not checked, and why.
    pub unchecked: Vec<String>,
}

/// Something wrong with a manifest.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ManifestMistake {
    /// The file; null where the mistake is in none.
    pub file: Option<String>,
    /// The line, from 1; null where it is in none.
    pub line: Option<usize>,
    /// What is wrong, and what to write instead.
    pub problem: String,
}

impl LaddersDocument {
    /// Of these ladders.
    #[must_use]
    pub fn new(ladders: &[Ladder]) -> Self {
        Self {
            schema: SCHEMA,
            adoprof: Version::default(),
            ladders: ladders.iter().map(LadderRecord::from).collect(),
        }
    }
}

impl From<&Ladder> for LadderRecord {
    fn from(ladder: &Ladder) -> Self {
        let buffer =
            |[name, dtype, shape, role]: [String; 4]| LadderBuffer { name, dtype, shape, role };
        Self {
            name: ladder.name().to_owned(),
            title: ladder.title().to_owned(),
            description: ladder.description().to_owned(),
            fault: ladder.kind().map(str::to_owned),
            set: ladder.set(),
            size: ladder.parameters().iter().cloned().collect(),
            buffers: ladder.buffer_words().map(buffer).collect(),
            steps: ladder.steps().iter().map(LadderStep::from).collect(),
            sizes: ladder.named_sizes().iter().map(LadderSize::from).collect(),
        }
    }
}

impl From<&Step> for LadderStep {
    fn from(step: &Step) -> Self {
        let program = |[runs, kernels, checked_by, timed_by]: [String; 4]| StepProgram {
            runs,
            kernels,
            checked_by,
            timed_by,
        };
        Self {
            name: step.name().to_owned(),
            title: step.title().to_owned(),
            from: step.from().map(str::to_owned),
            changes: step.changes().to_owned(),
            removes: step.answers().to_vec(),
            note: step.note().to_owned(),
            tunables: step.tunables().clone(),
            variants: step.variants().iter().map(LadderVariant::from).collect(),
            program: step.program_words().map(program),
            published: step.published().to_vec(),
        }
    }
}

impl From<&Variant> for LadderVariant {
    fn from(variant: &Variant) -> Self {
        Self {
            name: variant.name().to_owned(),
            kind: variant.kind().word().to_owned(),
            title: variant.title().to_owned(),
            removes: variant.removes().to_vec(),
        }
    }
}

impl From<&NamedSize> for LadderSize {
    fn from(size: &NamedSize) -> Self {
        Self {
            name: size.name.clone(),
            step: size.step.clone(),
            size: size.size.clone(),
            note: size.note.clone(),
        }
    }
}
