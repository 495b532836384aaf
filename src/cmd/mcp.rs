//! `adoprof mcp`: the same facts for agents.

use crate::cli::McpArgs;
use crate::error::{Error, ExitCode, Result};
use crate::mcp::{Permission, Root, Service, TOOLS, serve};
use crate::settings::Settings;
use crate::text::nearest;

pub(super) fn run(args: &McpArgs, settings: &Settings) -> Result<ExitCode> {
    let program = std::env::current_exe().map_err(|error| {
        Error::Environment(format!("adoprof can't find its own program: {error}"))
    })?;
    let service = Service {
        program,
        root: Root::new(&args.root)?,
        allowed: allowed(settings)?,
        programs: settings.get("mcp.programs").map(|value| value.words.clone()).unwrap_or_default(),
    };
    serve(service, std::io::stdin(), std::io::stdout())
        .map_err(|error| Error::io("standard output", "write", &error))?;
    Ok(ExitCode::Success)
}

/// The tools that the user's own file allows to run programs.
fn allowed(settings: &Settings) -> Result<Vec<String>> {
    let Some(value) = settings.get("mcp.allow") else { return Ok(Vec::new()) };
    let names =
        || TOOLS.iter().filter(|tool| tool.permission == Permission::Runs).map(|tool| tool.name);
    for word in &value.words {
        if !TOOLS.iter().any(|tool| tool.name == word) {
            let meant = nearest(word, names());
            let meant =
                meant.map_or_else(|| ".".to_owned(), |near| format!("; did you mean `{near}`?"));
            let names: Vec<&str> = names().collect();
            return Err(value.error(format!(
                "`mcp.allow`: there is no tool `{word}`{meant} Tools that run programs are {}",
                names.join(", ")
            )));
        }
    }
    Ok(value.words.clone())
}
