//! A page of several runs that collected different parts of the same launches.

use std::collections::BTreeSet;
use std::path::Path;

use super::Pages;
use crate::error::Result;
use crate::export::csv::page::{self, PageKind, Table};
use crate::export::csv::raw;

impl Pages {
    /// Adds what another run collected of the same launches: its further metrics and sections, and its lines where these
    /// pages have none. What both have stays as it is here.
    ///
    /// # Errors
    /// [`crate::error::Error::Input`] where a page can't be read, or where the runs did not profile the same launches.
    pub(crate) fn add_part(&mut self, other: &Self) -> Result<()> {
        let raw = raw::merge(&self.raw, &other.raw)?;
        self.details = details(&self.details, &other.details)?;
        self.raw = raw;
        if self.source.is_empty() {
            self.source.clone_from(&other.source);
        }
        if self.sass.is_empty() {
            self.sass.clone_from(&other.sass);
        }
        Ok(())
    }
}

/// The first page with the second's further sections behind.
fn details(first: &str, second: &str) -> Result<String> {
    if first.is_empty() || second.is_empty() {
        return Ok(if first.is_empty() { second } else { first }.to_owned());
    }
    let tables = |text: &str| {
        page::tables(text, Path::new("a details page"), PageKind::Details).map(|(tables, _)| tables)
    };
    let (ones, others) = (tables(first)?, tables(second)?);
    let (Some(one), Some(other)) = (ones.first(), others.first()) else {
        return Ok(first.to_owned());
    };
    let of = |table: &Table, row: &page::Row, name: &str| -> String {
        row.get(table.column(name)).unwrap_or_default().to_owned()
    };
    let key =
        |table: &Table, row: &page::Row| (of(table, row, "ID"), of(table, row, "Section Name"));
    let known: BTreeSet<(String, String)> = one.rows.iter().map(|row| key(one, row)).collect();
    let new = other.rows.iter().filter(|row| !known.contains(&key(other, row)));
    let new = new.map(|row| one.header.iter().map(|name| of(other, row, name)).collect());
    let kept = one.rows.iter().map(|row| row.cells.iter().map(str::to_owned).collect());
    let lines: Vec<Vec<String>> = kept.chain(new).collect();
    page::write(std::iter::once(one.header.clone()).chain(lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "\"ID\",\"Kernel Name\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\",\"Rule Name\"\n";

    #[test]
    fn further_sections_come_behind() {
        let row = |section: &str, metric: &str, value: u32| {
            format!("\"0\",\"f\",\"{section}\",\"{metric}\",\"%\",\"{value}\",\"\"\n")
        };
        let first = format!("{HEADER}{}", row("Occupancy", "Achieved", 50));
        let second = format!(
            "{HEADER}{}{}",
            row("Occupancy", "Achieved", 51),
            row("Stalls", "No Eligible", 3)
        );
        let joined = details(&first, &second).unwrap();
        assert!(joined.contains("\"50\"") && !joined.contains("\"51\""), "{joined}");
        assert!(joined.contains("No Eligible"), "{joined}");
        assert_eq!(details("", &second).unwrap(), second);
        assert_eq!(details(&first, "").unwrap(), first);
    }
}
