//! The tools: names, what they do, and their arguments.

use serde_json::{Value, json};

/// Whether a tool runs other people's code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Permission {
    /// It reads files under the root.
    Reads,
    /// It starts programs, which the configuration must allow.
    Runs,
}

/// A tool.
#[derive(Debug)]
pub(crate) struct Tool {
    /// Its name.
    pub name: &'static str,
    /// Whether it runs anything.
    pub permission: Permission,
    /// What it does, for the agent.
    description: &'static str,
    /// Its arguments.
    pub(super) arguments: &'static [Argument],
}

/// An argument: its name, its kind, whether it must be given, and what it is.
#[derive(Debug)]
pub(super) struct Argument {
    pub name: &'static str,
    kind: &'static str,
    needed: bool,
    what: &'static str,
}

const fn needed(name: &'static str, kind: &'static str, what: &'static str) -> Argument {
    Argument { name, kind, needed: true, what }
}

const fn optional(name: &'static str, kind: &'static str, what: &'static str) -> Argument {
    Argument { name, kind, needed: false, what }
}

const PROFILE: &str =
    "a saved profile's folder, an .ncu-rep, an ncu CSV export, or a step such as ado/v2";
const KERNEL: Argument =
    optional("kernel", "string", "only kernels whose name matches this regular expression");
const PAGE: Argument = optional("page", "integer", "the page of a long answer, from 1");
const DETAIL: Argument =
    optional("detail", "boolean", "longer pages (20,000 tokens instead of 2,000) and more figures");
const COMMAND: Argument = needed(
    "command",
    "words",
    "the program and its arguments, as a list; the program is a file under the root",
);
const TIMEOUT: Argument =
    optional("timeout_s", "integer", "the longest that a run of the program may take, 1 to 600 s");

/// All tools.
pub(crate) const TOOLS: [Tool; 8] = [
    Tool {
        name: "analyze",
        permission: Permission::Reads,
        description: "Diagnose a CUDA profile: what limits each launch, ranked findings with the speed-up that each \
                      fix would give, evidence, source lines, and what to change.",
        arguments: &[
            needed("path", "string", PROFILE),
            KERNEL,
            optional("launch", "integer", "only this launch, by the number that answers give it"),
            DETAIL,
            PAGE,
        ],
    },
    Tool {
        name: "diff",
        permission: Permission::Reads,
        description: "Compare two CUDA profiles: the speed-up, findings that went and came, metrics that moved.",
        arguments: &[
            needed("base", "string", PROFILE),
            needed("new", "string", PROFILE),
            DETAIL,
            PAGE,
        ],
    },
    Tool {
        name: "source",
        permission: Permission::Reads,
        description: "The hottest source lines of a launch in a CUDA profile, with each line's share of the samples \
                      and what warps wait for there.",
        arguments: &[
            needed("path", "string", PROFILE),
            KERNEL,
            optional(
                "launch",
                "integer",
                "the launch by its number in the profile; the first one if left out",
            ),
            optional("lines", "integer", "how many lines, 1 to 200; 20 if left out"),
            DETAIL,
            PAGE,
        ],
    },
    Tool {
        name: "explain",
        permission: Permission::Reads,
        description: "What a rule checks, its thresholds with their sources, an example and its repair; without a \
                      rule, the list of all.",
        arguments: &[
            optional("rule", "string", "the rule's name, such as shared-bank-conflicts"),
            DETAIL,
            PAGE,
        ],
    },
    Tool {
        name: "ledger",
        permission: Permission::Reads,
        description: "How promises of speed-ups have held, per rule: measured gains against predicted ones.",
        arguments: &[optional("rule", "string", "only this rule"), DETAIL, PAGE],
    },
    Tool {
        name: "survey",
        permission: Permission::Runs,
        description: "Run a CUDA program once without the profiler and say where its time goes: kernels, copies, \
                      waits, and faults around the kernels.",
        arguments: &[COMMAND, TIMEOUT, DETAIL, PAGE],
    },
    Tool {
        name: "profile",
        permission: Permission::Runs,
        description: "Profile a CUDA program with ncu and diagnose the kernels that matter. Slow: the program runs \
                      several times.",
        arguments: &[
            COMMAND,
            KERNEL,
            optional("top", "integer", "how many kinds of launches are profiled at most, 1 to 50"),
            TIMEOUT,
            DETAIL,
            PAGE,
        ],
    },
    Tool {
        name: "try",
        permission: Permission::Runs,
        description: "Take a step of a ladder and try the changes that need no new code (compiler flags, a cap on \
                      registers, carve-out, tunables): each checked, timed, and held against its promise.",
        arguments: &[
            needed("step", "string", "the step, such as v2"),
            optional(
                "ladder",
                "string",
                "a built-in ladder, or a folder under the root with a ladder.toml",
            ),
            TIMEOUT,
            DETAIL,
            PAGE,
        ],
    },
];

impl Tool {
    /// The tool as the protocol lists it.
    pub(super) fn listed(&self) -> Value {
        let property = |argument: &Argument| {
            let kind = match argument.kind {
                "words" => json!({ "type": "array", "items": { "type": "string" } }),
                kind => json!({ "type": kind }),
            };
            let mut kind = kind;
            kind["description"] = json!(argument.what);
            (argument.name.to_owned(), kind)
        };
        let properties: serde_json::Map<String, Value> =
            self.arguments.iter().map(property).collect();
        let needed: Vec<&str> =
            self.arguments.iter().filter(|one| one.needed).map(|one| one.name).collect();
        json!({
            "name": self.name,
            "description": self.description,
            "inputSchema": {
                "type": "object",
                "properties": properties,
                "required": needed,
                "additionalProperties": false,
            },
            "annotations": {
                "readOnlyHint": self.permission == Permission::Reads,
                "openWorldHint": self.permission == Permission::Runs,
            },
        })
    }

    /// The names of its arguments.
    pub(super) fn names(&self) -> Vec<&'static str> {
        self.arguments.iter().map(|argument| argument.name).collect()
    }
}

/// The tool of that name.
pub(super) fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}
