//! The cells of a row, in as little memory as they take: a page of 10,000 launches has millions.

use csv::StringRecord;

/// The cells of one row.
#[derive(Debug)]
pub(in crate::export) struct Cells {
    text: Box<str>,
    /// Where each cell ends in the text.
    ends: Box<[u32]>,
}

impl Cells {
    /// Those of a record. A row of 4 GiB has no cells.
    pub(super) fn of(record: &StringRecord) -> Self {
        let mut end = 0;
        let ends: Option<Box<[u32]>> = record
            .iter()
            .map(|cell| {
                end += cell.len();
                u32::try_from(end).ok()
            })
            .collect();
        match ends {
            Some(ends) => Self { text: record.as_slice().into(), ends },
            None => Self { text: "".into(), ends: Box::default() },
        }
    }

    /// Those of a record, empty in columns that nobody needs. A cell with a quote stays: it tells of damage.
    pub(super) fn of_needed(record: &StringRecord, needed: &[bool]) -> Self {
        let is_needed = |(column, cell): &(usize, &str)| {
            needed.get(*column).copied().unwrap_or(true) || cell.contains('"')
        };
        let kept = record.iter().enumerate().map(|one| if is_needed(&one) { one.1 } else { "" });
        Self::of(&kept.collect())
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The cell in a column.
    pub(crate) fn get(&self, column: usize) -> Option<&str> {
        let end = *self.ends.get(column)? as usize;
        let start = column.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        self.text.get(start..end)
    }

    /// All of them, from the left.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).filter_map(|column| self.get(column))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_those_of_the_record() {
        let record = StringRecord::from(vec!["a", "", "bc", "ä"]);
        let cells = Cells::of(&record);
        assert_eq!(cells.len(), 4);
        assert_eq!(cells.iter().collect::<Vec<_>>(), ["a", "", "bc", "ä"]);
        assert_eq!((cells.get(2), cells.get(4)), (Some("bc"), None));
        assert_eq!(Cells::of(&StringRecord::new()).iter().count(), 0);
    }

    #[test]
    fn cells_that_nobody_needs_are_empty_in_their_place() {
        let record = StringRecord::from(vec!["a", "b", "c\"", "d", "e"]);
        let cells = Cells::of_needed(&record, &[true, false, false, true]);
        assert_eq!(cells.iter().collect::<Vec<_>>(), ["a", "", "c\"", "d", "e"]);
    }
}
