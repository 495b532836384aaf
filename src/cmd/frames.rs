//! `adoprof frames`: a profile's tables as files.

use std::path::Path;

use super::shared::diagnosed::kernel_filter;
use super::shared::open::{self, Opened};
use super::shared::printer::Printer;
use crate::cli::FramesArgs;
use crate::error::{Error, ExitCode, Result};
use crate::files::write_atomically;
use crate::tables::Table;
use crate::text::count_of;

pub(super) fn run(args: &FramesArgs, printer: &Printer) -> Result<ExitCode> {
    let Opened { mut profiles, notices, code } = open::all(&args.paths, &args.ladder)?;
    for notice in &notices {
        printer.notice(notice);
    }
    if let Some(pattern) = &args.kernel {
        let regex = kernel_filter(pattern)?;
        for profile in &mut profiles {
            profile.retain_kernels(|kernel| regex.is_match(kernel))?;
        }
    }
    for profile in &profiles {
        for notice in &profile.notices {
            printer.notice(notice);
        }
    }
    if args.output.is_none() && args.format.is_binary() && printer.is_terminal() {
        return Err(Error::Usage(
            "a Parquet file is not for a terminal; name a folder with -o, or redirect stdout"
                .to_owned(),
        ));
    }
    for table in Table::ALL.into_iter().filter(|table| args.table.is_none_or(|one| one == *table)) {
        let rows =
            table.rows(profiles.iter().map(|profile| (profile.name.as_str(), &profile.frames)))?;
        let mut bytes = Vec::new();
        args.format.write(&rows, &mut bytes)?;
        match &args.output {
            None => printer.bytes(&bytes)?,
            Some(folder) => {
                let path = folder.join(table.name()).with_extension(args.format.extension());
                write_atomically(&path, &bytes)?;
                printer.text(&line(&path, rows.height(), rows.width()))?;
            }
        }
    }
    Ok(code)
}

fn line(path: &Path, rows: usize, columns: usize) -> String {
    let (rows, columns) = (count_of(rows as f64, "row"), count_of(columns as f64, "column"));
    format!("{}: {rows}, {columns}", path.display())
}
