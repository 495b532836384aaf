//! Results as GitHub's workflow commands, which its runner shows as annotations at their lines.

use std::io::{self, Write};

use super::format::Renderer;
use super::remarks::{self, Level, REFUSAL, Remark};
use super::{Content, Style};
use crate::document::Document;
use crate::text::printable_lines;

/// The form.
pub(super) struct Form;

impl Renderer for Form {
    fn name(&self) -> &'static str {
        "github"
    }

    fn purpose(&self) -> &'static str {
        "Annotations of a GitHub workflow"
    }

    fn refuses_tables(&self) -> Option<&'static str> {
        Some(REFUSAL)
    }

    fn is_commands(&self) -> bool {
        true
    }

    fn one(&self, content: Content<'_>, _: Style, out: &mut dyn Write) -> io::Result<()> {
        let remarks = remarks::remarks(content)
            .ok_or_else(|| io::Error::new(io::ErrorKind::Unsupported, REFUSAL))?;
        commands(&remarks, out)
    }

    fn several(
        &self,
        documents: &[(String, Document)],
        _: &[String],
        _: Style,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        documents.iter().try_for_each(|(_, of)| commands(&remarks::document(of), out))
    }
}

fn commands(remarks: &[Remark], out: &mut dyn Write) -> io::Result<()> {
    remarks.iter().filter(|one| one.is_shown).try_for_each(|one| writeln!(out, "{}", command(one)))
}

/// `::error file=…,line=…,title=…::…`
fn command(remark: &Remark) -> String {
    let level = match remark.level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Notice => "notice",
    };
    let mut properties = Vec::new();
    if let Some((file, line)) = &remark.place {
        properties.push(format!("file={}", property(file)));
        if *line > 0 {
            properties.push(format!("line={line}"));
        }
    }
    properties.push(format!("title={}", property(&remark.title)));
    format!("::{level} {}::{}", properties.join(","), message(&remark.text))
}

/// A message on one line: the runner undoes these escapes.
fn message(text: &str) -> String {
    printable_lines(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property's value, in which the separators are escaped too.
fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    fn lines(content: Content<'_>) -> Vec<String> {
        let mut out = Vec::new();
        Form.one(content, Style::default(), &mut out).unwrap();
        String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn nothing_in_a_name_ends_a_command() {
        let remark = Remark {
            level: Level::Error,
            case: String::new(),
            title: "a: 100%, b".to_owned(),
            text: "first\nsecond :: 50%\u{1b}[31m".to_owned(),
            place: Some(("a,b:c.cu".to_owned(), 7)),
            is_shown: true,
        };
        let line = command(&remark);
        assert!(
            line.starts_with(
                "::error file=a%2Cb%3Ac.cu,line=7,title=a%3A 100%25%2C b::first%0Asecond :: 50%25"
            ),
            "{line}"
        );
        assert!(!line.contains('\n') && !line.contains('\u{1b}'), "{line:?}");
    }

    #[test]
    fn a_slower_candidate_is_an_error_at_the_line_of_what_came() {
        let check = samples::check();
        let lines = lines((&check).into());
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[0].starts_with(
            "::error file=kernels/ado/v2.cu,line=23,title=adoprof%3A SLOWER::v2 → v3"
        ));
        assert!(
            lines[1].starts_with("::error title=") && lines[1].contains("metric:dram__bytes.sum"),
            "{lines:?}"
        );
    }

    #[test]
    fn a_diff_tells_the_findings_of_the_new_profile_at_their_lines() {
        let lines = lines((&samples::compared()).into());
        // What is gone has no line to stand at. 1.00× is to know, 1.30× worth a look.
        let place = "file=kernels/ado/v2.cu,line=23,title=adoprof%3A";
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[0].starts_with(&format!("::notice {place} at-memory-roof (new)::")));
        let kept = format!("::warning {place} shared-memory-pressure (still there)::");
        assert!(lines[1].starts_with(&kept) && lines[1].contains("Worth 1.30×"), "{lines:?}");
    }

    #[test]
    fn what_lies_around_a_programs_kernels_is_told() {
        let document = Document { program: Some(samples::around()), ..Document::default() };
        let lines = lines((&document).into());
        let place = "::warning file=main.cpp,line=57,title=adoprof%3A small-copies::";
        assert!(lines[0].starts_with(place), "{lines:?}");
        assert!(
            lines[0].ends_with("Worth 1.20× (1.00 to 1.20) of the whole program."),
            "{lines:?}"
        );
    }

    #[test]
    fn findings_are_warnings_at_their_lines() {
        let step = samples::recorded_step();
        let lines = lines((&step).into());
        assert!(lines[0].starts_with("::warning file=kernels/ado/v2.cu,line=23,"), "{lines:?}");
    }
}
