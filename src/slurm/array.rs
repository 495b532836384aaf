//! Numbers of tasks as Slurm writes them: `0-3,7`.

/// The numbers of some tasks in Slurm's form.
pub(super) fn written(tasks: &[usize]) -> String {
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for &task in tasks {
        match spans.last_mut() {
            Some((_, last)) if *last + 1 == task => *last = task,
            _ => spans.push((task, task)),
        }
    }
    let span = |&(first, last): &(usize, usize)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    spans.iter().map(span).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_written_as_spans() {
        assert_eq!(written(&[0, 1, 2, 3, 7, 9, 10]), "0-3,7,9-10");
        assert_eq!(written(&[5]), "5");
        assert_eq!(written(&[]), "");
    }
}
