//! A sweep as Markdown.

use std::io::{self, Write};

use crate::report::markdown::push;
use crate::report::markdown::tables::{escape, table};
use crate::report::words::sweep::{brief, cells, moving_cells, sentence, values};
use crate::sweep::SweepDocument;
use crate::text::count_of;

/// For a pull request's comment.
pub(super) fn markdown(document: &SweepDocument, out: &mut dyn Write) -> io::Result<()> {
    let mut text = format!(
        "### Sweep of {}/{} on {}\n\n",
        escape(&document.ladder),
        escape(&document.step),
        escape(&document.device)
    );
    let titles: Vec<String> = document.axes.iter().map(|axis| escape(&axis.name)).collect();
    let head: Vec<&str> =
        titles.iter().map(String::as_str).chain(["time", "5% to 95%", "rate", "error"]).collect();
    let rows = document.points.iter().map(|point| {
        let error = point.error.as_deref().map(|error| escape(&brief(error))).unwrap_or_default();
        let escaped =
            values(document, point).into_iter().chain(cells(point)).map(|cell| escape(&cell));
        escaped.chain([error]).collect()
    });
    table(&mut text, &head, rows);
    for best in &document.best {
        push(&mut text, &format!("{}\n\n", escape(&sentence(document, best))));
    }
    if !document.moving.is_empty() {
        let n = document.moving.iter().map(|moving| moving.n).max().unwrap_or(0);
        let points = count_of(n as f64, "point");
        push(
            &mut text,
            &format!(
                "What moves with the time, over {points}:

"
            ),
        );
        let rows = document
            .moving
            .iter()
            .map(|moving| moving_cells(moving).iter().map(|cell| escape(cell)).collect());
        table(&mut text, &["metric", "correlation", "fastest", "slowest"], rows);
    }
    out.write_all(text.trim_end().as_bytes())?;
    out.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples::sweep as sample;

    #[test]
    fn markdown_cannot_be_broken_by_a_value() {
        let mut document = sample();
        document.points[0].settings.insert("flags".to_owned(), "-DA='|`<b>".to_owned());
        let mut out = Vec::new();
        markdown(&document, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("-DA='\\|\\`\\<b\\>"), "{text}");
        assert!(text.contains("Best: BLOCK=128, flags=none (100 µs)"), "{text}");
    }
}
