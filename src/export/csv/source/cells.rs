//! Rows of the source page, taken apart from the right.

use std::borrow::Cow;

use crate::export::SourceCounters;
use crate::export::csv::number::Style;
use crate::export::csv::source::columns::Columns;

/// The most lines that one row may take: a text cell with line breaks, never a whole page.
const MOST_LINES: usize = 64;

/// What stands between two cells.
const BETWEEN: &str = "\",\"";

/// One row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cells<'a> {
    /// The line number; empty for instructions and in the sass view.
    pub line: &'a str,
    /// The address as printed: `0x…`, `-` for a source line, `...` for a gap.
    pub address: &'a str,
    /// The source text of a source line, the SASS text of an instruction.
    pub text: &'a str,
    /// The cells right of the first text.
    pub right: Vec<&'a str>,
    /// The counters among them; `None` where none applies to the row (a line without code).
    pub counters: Option<SourceCounters>,
}

/// Reads the row that begins on this line, and gives the line after it. A row goes on over line breaks
/// within its text until all its cells are there; where they never come, nothing is read and `false`
/// comes back.
pub(super) fn row(
    lines: &[&str],
    at: usize,
    columns: &Columns,
    style: Style,
    read: impl FnOnce(&Cells),
) -> (bool, usize) {
    let mut text = Cow::Borrowed(lines[at]);
    let mut next = at + 1;
    loop {
        if let Some(cells) = Cells::split(&text, columns, style) {
            read(&cells);
            return (true, next);
        }
        match lines.get(next) {
            Some(line) if next - at < MOST_LINES && !begins_row(line) => {
                text = Cow::Owned(format!("{text}\n{line}"));
                next += 1;
            }
            // The row is broken: what follows is read on its own.
            _ => return (false, at + 1),
        }
    }
}

impl<'a> Cells<'a> {
    /// The cells of a row's text; `None` where it is not whole.
    pub(super) fn split(text: &'a str, columns: &Columns, style: Style) -> Option<Self> {
        let inner = text.trim_end().strip_prefix('"')?;
        let inner = inner.strip_suffix(',').unwrap_or(inner).strip_suffix('"')?;
        // From the right no cell holds text but the SASS, which has no quotes; whatever quotes and
        // commas are left stand in the source text.
        let (left, right) = from_the_right(inner, columns.right())?;
        let (first, source) = left.split_once(BETWEEN)?;
        let counters = columns.counters(&right, style).ok()?;
        // An instruction's row has no source text beside its SASS, and no SASS holds a cell's end: what is
        // more there is a cell of counters that the header does not know.
        let of_instruction = if columns.has_lines() { first.is_empty() } else { true };
        let surplus =
            if columns.has_lines() { !source.is_empty() } else { source.contains(BETWEEN) };
        if of_instruction && surplus {
            return None;
        }
        if !columns.has_lines() {
            return Some(Self { line: "", address: first, text: source, right, counters });
        }
        let (address, sass) = (*right.first()?, *right.get(1)?);
        let text = if first.is_empty() { sass } else { source };
        Some(Self { line: first, address, text, right, counters })
    }

    /// The instruction's address; `None` for source lines and gaps.
    pub(super) fn address(&self) -> Option<u64> {
        u64::from_str_radix(self.address.trim().strip_prefix("0x")?, 16).ok()
    }
}

/// So many cells from the right of a row, in the row's order, and what stands before them; `None` where
/// there are fewer. A page has tens of cells per row, so this is where reading it takes its time: cells
/// are short, and looking at each byte finds their ends sooner than a search for the separator does.
fn from_the_right(row: &str, count: usize) -> Option<(&str, Vec<&str>)> {
    let (bytes, between) = (row.as_bytes(), BETWEEN.as_bytes());
    let mut cells = vec![""; count];
    let mut end = row.len();
    for cell in cells.iter_mut().rev() {
        let mut start = end;
        while !(bytes[..start].last() == between.last() && bytes[..start].ends_with(between)) {
            start = start.checked_sub(1)?;
        }
        *cell = &row[start..end];
        end = start - between.len();
    }
    Some((&row[..end], cells))
}

/// The cells of a header.
pub(super) fn split(header: &str) -> Vec<&str> {
    let inner = header.trim().trim_end_matches(',').trim_matches('"');
    inner.split(BETWEEN).collect()
}

/// The value of a title line such as `"File Path","ado.cu"`.
pub(super) fn titled<'a>(line: &'a str, title: &str) -> Option<&'a str> {
    let value = line.strip_prefix('"')?.strip_prefix(title)?.strip_prefix("\",")?;
    let value = value.trim().trim_end_matches(',');
    Some(value.strip_prefix('"').unwrap_or(value).strip_suffix('"').unwrap_or(value))
}

/// True for the line with the columns' labels.
pub(super) fn is_header(line: &str) -> bool {
    line.starts_with("\"Address\",") || line.starts_with("\"Line No\",")
}

/// True for a line on which a row begins.
pub(super) fn is_data(line: &str) -> bool {
    let Some((first, _)) = line.strip_prefix('"').and_then(|line| line.split_once(BETWEEN)) else {
        return false;
    };
    first == "..." || first.starts_with("0x") || first.bytes().all(|byte| byte.is_ascii_digit())
}

/// True for a line that may hold a number with a separator. Few lines do, and only such a number tells
/// a page's style. What comes before its first separator is a digit or one of the signs that group
/// digits: an apostrophe, or a space outside ASCII.
pub(super) fn has_separator(line: &str) -> bool {
    let is_separator = |byte: u8| byte == b'.' || byte == b',';
    let ends_digits = |byte: u8| byte.is_ascii_digit() || byte == b'\'' || !byte.is_ascii();
    line.as_bytes().windows(2).any(|pair| is_separator(pair[1]) && ends_digits(pair[0]))
}

/// The cells of a data line that can only be numbers.
pub(super) fn numbers(line: &str) -> impl Iterator<Item = &str> {
    from_the_left(line).skip(4).map(|cell| cell.trim_end_matches(['"', ',']))
}

/// What `split(BETWEEN)` gives, found as in [`from_the_right`].
fn from_the_left(line: &str) -> impl Iterator<Item = &str> {
    let (bytes, between) = (line.as_bytes(), BETWEEN.as_bytes());
    let mut next = Some(0);
    std::iter::from_fn(move || {
        let start = next?;
        let ends = |at: usize| bytes[at] == between[0] && bytes[at..].starts_with(between);
        let end = (start..bytes.len()).find(|&at| ends(at));
        next = end.map(|end| end + between.len());
        Some(&line[start..end.unwrap_or(line.len())])
    })
}

fn begins_row(line: &str) -> bool {
    is_data(line)
        || is_header(line)
        || ["File Path", "Function Name", "Kernel Name"]
            .iter()
            .any(|title| titled(line, title).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> Columns {
        let header = "\"Line No\",\"Source\",\"Address\",\"Source\",\"# Samples\",\"stall_wait\"";
        Columns::new(&split(header)).unwrap()
    }

    fn read(lines: &[&str]) -> Option<(String, String, String)> {
        let mut seen = None;
        row(lines, 0, &columns(), Style::Point, |cells| {
            seen = Some((cells.line.to_owned(), cells.text.to_owned(), cells.right.join("|")));
        });
        seen
    }

    #[test]
    fn unescaped_quotes_and_commas_stay_in_the_text() {
        let line = r#""1","extern "C" __global__ void scale(const float* a, float* b, int n)","-","-","23","4""#;
        let (number, text, right) = read(&[line]).unwrap();
        assert_eq!(number, "1");
        assert_eq!(text, "extern \"C\" __global__ void scale(const float* a, float* b, int n)");
        assert_eq!(right, "-|-|23|4");
    }

    #[test]
    fn a_text_with_the_very_separator_is_kept_whole() {
        let line = r#""7","printf("%s","a","b");","-","-","1","0","#;
        let (_, text, right) = read(&[line]).unwrap();
        assert_eq!(text, r#"printf("%s","a","b");"#);
        assert_eq!(right, "-|-|1|0");
    }

    #[test]
    fn line_breaks_in_the_text_are_read_over() {
        let lines = [r#""7","a = b +"#, r#"  c;","-","-","1","0""#, r#""8","d","-","-","1","0""#];
        let seen = row(&lines, 0, &columns(), Style::Point, |cells| {
            assert_eq!(cells.text, "a = b +\n  c;");
        });
        assert_eq!(seen, (true, 2));
    }

    #[test]
    fn cells_from_the_left_are_those_of_a_split() {
        for line in
            ["", "\"", "\"1\",\"a\"", "\",\"", "\",\",\"", "\"\",\"\",\"é\",\"2\",", "a,b\",\"c"]
        {
            let split: Vec<&str> = line.split(BETWEEN).collect();
            assert_eq!(from_the_left(line).collect::<Vec<_>>(), split, "{line}");
            let count = split.len() - 1;
            let (first, cells) = from_the_right(line, count).unwrap();
            let mut backwards: Vec<&str> = line.rsplit(BETWEEN).collect();
            backwards.reverse();
            assert_eq!(
                std::iter::once(first).chain(cells).collect::<Vec<_>>(),
                backwards,
                "{line}"
            );
            assert_eq!(from_the_right(line, count + 1), None, "{line}");
        }
    }

    #[test]
    fn a_broken_row_does_not_take_its_neighbour() {
        let lines = [r#""7","a","-","-","1"#, r#""8","d","-","-","1","0""#];
        let seen = row(&lines, 0, &columns(), Style::Point, |_| panic!("it is broken"));
        assert_eq!(seen, (false, 1));
    }

    #[test]
    fn lines_whose_numbers_have_no_separator_tell_no_style() {
        for line in [r#""7","a","-","-","1","0""#, r#""7","v.x, v.y","-","LDG.E","1","0""#, "", "."]
        {
            assert!(!has_separator(line), "{line}");
        }
        let numbers =
            ["1.5", "1,5", "4.096", "1'000.5", "1\u{a0}000,5", "1\u{202f}000.5", "5.", "-1.5"];
        for number in numbers {
            let line = format!("\"7\",\"a\",\"-\",\"-\",\"{number}\",\"0\"");
            assert!(has_separator(&line), "{line}");
        }
    }

    #[test]
    fn titles_lose_their_quotes() {
        assert_eq!(
            titled("\"Kernel Name\",\"f<int, 2>(int)\",", "Kernel Name"),
            Some("f<int, 2>(int)")
        );
        assert_eq!(titled("\"File Path\",\"a,b.cu\"", "File Path"), Some("a,b.cu"));
        assert_eq!(titled("\"Address\",\"Source\"", "File Path"), None);
    }
}
