//! ncu's messages as they come: how far each kernel is, and which lines are the program's.
//!
//! ncu prints a kernel's progress into one line, a piece at a time and often with a warning in the
//! middle of it: `==PROF== Profiling "k" - 0: 0%....50%....100% - 34 passes`. A dot is 10%.

/// How far the profiling of one launch is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// The kernel's name as ncu prints it.
    pub kernel: String,
    /// The launch's number within the run, from 0.
    pub launch: u32,
    /// 0 to 100.
    pub percent: u8,
    /// How many passes it took, once it is done.
    pub passes: Option<u32>,
}

/// The most that is kept of what the program printed, bytes; a program may print gigabytes.
const MOST_LOG: usize = 16 << 20;
/// Longer lines are taken for several, bytes.
const LONGEST_LINE: usize = 1 << 20;

/// Follows ncu's output.
#[derive(Debug, Default)]
pub struct Follower {
    /// Everything read so far.
    log: String,
    /// What the program itself printed.
    program: String,
    /// Bytes of a character that is not complete yet.
    partial: Vec<u8>,
    /// The line being read, and where it begins in the log.
    line: String,
    line_start: usize,
    /// The launch being profiled.
    current: Option<Progress>,
    /// The line is the rest of the launch's progress.
    in_progress: bool,
    /// ncu lists the kernels that its filter passed over.
    in_list: bool,
    /// The line before was one of ncu's.
    after_message: bool,
}

impl Follower {
    /// Reads a piece of output and reports each step forward.
    pub fn feed(&mut self, piece: &[u8], report: &mut dyn FnMut(&Progress)) {
        self.partial.extend_from_slice(piece);
        let bytes = std::mem::take(&mut self.partial);
        let mut text = String::with_capacity(bytes.len());
        for chunk in bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            match std::str::from_utf8(chunk.invalid()) {
                Ok(_) => {}
                // A character cut in two, which the next piece completes.
                Err(error) if error.error_len().is_none() && bytes.ends_with(chunk.invalid()) => {
                    self.partial = chunk.invalid().to_vec();
                }
                Err(_) => text.push(char::REPLACEMENT_CHARACTER),
            }
        }
        for character in text.chars() {
            self.log.push(character);
            if character == '\n' {
                self.end_line();
                self.line_start = self.log.len();
            } else if self.line.len() >= LONGEST_LINE {
                // A program that prints without an end to its lines.
                self.line.push(character);
                self.end_line();
                self.line_start = self.log.len();
            } else {
                self.line.push(character);
                self.step(character, report);
            }
        }
    }

    /// Ends the reading: the whole log, and the program's own part of it.
    #[must_use]
    pub fn finish(mut self) -> (String, String) {
        if !self.partial.is_empty() {
            self.log.push(char::REPLACEMENT_CHARACTER);
            self.line.push(char::REPLACEMENT_CHARACTER);
        }
        if !self.line.is_empty() {
            self.end_line();
        }
        (self.log, self.program)
    }

    /// Takes a character of the line into account.
    fn step(&mut self, character: char, report: &mut dyn FnMut(&Progress)) {
        if !self.in_progress {
            if character == ':'
                && may_be_header(&self.line)
                && let Some((kernel, launch)) = header(&self.line)
            {
                let progress = Progress { kernel, launch, percent: 0, passes: None };
                report(&progress);
                self.current = Some(progress);
                self.in_progress = true;
                let line = std::mem::take(&mut self.line);
                self.own(line.find(MARKS[0]).map_or("", |at| &line[..at]));
            } else if self.current.as_ref().is_some_and(|progress| progress.passes.is_none())
                && matches!(self.line.as_str(), "." | "50%" | "100%")
            {
                // The progress goes on after a warning broke its line.
                self.in_progress = true;
            } else {
                return;
            }
        }
        let Some(progress) = &mut self.current else { return };
        match character {
            '.' => {
                progress.percent = (progress.percent + 10).min(100);
                report(progress);
            }
            '%' => {
                let digits: String =
                    self.line.chars().rev().skip(1).take_while(char::is_ascii_digit).collect();
                let value: String = digits.chars().rev().collect();
                if let Ok(percent) = value.parse::<u8>() {
                    progress.percent = percent.clamp(progress.percent, 100);
                    report(progress);
                }
            }
            's' => {
                if let Some(passes) = passes(&self.line)
                    && progress.passes.is_none()
                {
                    progress.percent = 100;
                    progress.passes = Some(passes);
                    report(progress);
                }
            }
            _ => {}
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.in_progress) {
            return;
        }
        if line == "Available Kernels:" {
            self.in_list = true;
            return;
        }
        // The program may leave a line open, which ncu then continues.
        if let Some(at) = MARKS.iter().filter_map(|mark| line.find(mark)).min() {
            self.in_list = false;
            self.own(&line[..at]);
            self.after_message = true;
            return;
        }
        let listed = self.in_list
            && line.split_once(". ").is_some_and(|(number, _)| number.parse::<u32>().is_ok());
        // ncu sets its longer warnings off with empty lines.
        if !(listed || line.is_empty() && self.after_message) {
            self.program.push_str(&line);
            self.program.push('\n');
            self.after_message = false;
            self.stay_small();
        }
    }

    /// Forgets what the program printed long ago. ncu's own messages are kept.
    fn stay_small(&mut self) {
        if self.log.len() > MOST_LOG {
            self.log.truncate(self.line_start);
        }
        if self.program.len() > 2 * MOST_LOG {
            let start = self.program.len() - MOST_LOG;
            let start = (start..self.program.len())
                .find(|&at| self.program.is_char_boundary(at))
                .unwrap_or(start);
            self.program.drain(..start);
        }
    }

    /// The beginning of a line that ncu continued.
    fn own(&mut self, text: &str) {
        if !text.is_empty() {
            self.program.push_str(text);
            self.program.push('\n');
        }
    }
}

/// How ncu's own messages begin.
const MARKS: [&str; 3] = ["==PROF== ", "==ERROR== ", "==WARNING== "];

/// True where a line ends as [`header`]'s does, `" - 0:` or `" - 0 (1/3):`. A program may print any number
/// of colons into one line, which must not be searched at each of them.
fn may_be_header(line: &str) -> bool {
    /// Longer than any launch's number with its total.
    const LONGEST: usize = 48;
    let start = line.len().saturating_sub(LONGEST);
    let end = (start..=line.len()).find_map(|at| line.get(at..)).unwrap_or_default();
    end.rsplit_once("\" - ")
        .is_some_and(|(_, number)| number.starts_with(|c: char| c.is_ascii_digit()))
}

/// Kernel and number in `==PROF== Profiling "kernel" - 0:`, with any text of the program before it.
fn header(line: &str) -> Option<(String, u32)> {
    let (_, rest) = line.split_once("==PROF== Profiling \"")?;
    let (kernel, number) = rest.strip_suffix(':')?.rsplit_once("\" - ")?;
    // Newer releases print the number with its total: `0 (1/3)`.
    let number = number.split_whitespace().next()?;
    Some((kernel.to_owned(), number.parse().ok()?))
}

/// The count in `… - 34 passes` or `… - 1 pass`, as soon as the word is there.
fn passes(line: &str) -> Option<u32> {
    let (before, word) = line.rsplit_once(' ')?;
    if !word.starts_with("pass") {
        return None;
    }
    let (_, number) = before.rsplit_once("- ")?;
    number.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds a text in pieces of a size and returns the reports and the program's output.
    fn follow(text: &str, size: usize) -> (Vec<Progress>, String) {
        let mut follower = Follower::default();
        let mut reports = Vec::new();
        for piece in text.as_bytes().chunks(size) {
            follower.feed(piece, &mut |progress| reports.push(progress.clone()));
        }
        let (log, program) = follower.finish();
        assert_eq!(log, text);
        (reports, program)
    }

    const PLAIN: &str = "==PROF== Connected to process 7 (/x)\n\
        ==PROF== Profiling \"void t<float>(T1 *)\" - 3: 0%....50%....100% - 34 passes\n\
        time 5 ms\n==PROF== Disconnected from process 7\n";

    #[test]
    fn progress_rises_to_the_passes_in_pieces_of_any_size() {
        for size in [1, 3, 1000] {
            let (reports, program) = follow(PLAIN, size);
            let percents: Vec<u8> = reports.iter().map(|progress| progress.percent).collect();
            assert!(percents.is_sorted(), "{percents:?}");
            for percent in [0, 10, 40, 50, 90, 100] {
                assert!(percents.contains(&percent), "{percent} in {percents:?}");
            }
            let last = reports.last().unwrap();
            assert_eq!(last.kernel, "void t<float>(T1 *)");
            assert_eq!((last.launch, last.passes), (3, Some(34)));
            assert_eq!(program, "time 5 ms\n");
        }
    }

    #[test]
    fn a_warning_in_the_middle_does_not_lose_the_launch() {
        let text = "==PROF== Profiling \"k\" - 0: 0%\n\
            ==WARNING== Launching the workload is taking more time than expected. See 50% of it...\n\
            ....50%....100% - 1 pass\nhello\n";
        let (reports, program) = follow(text, 1);
        let last = reports.last().unwrap();
        assert_eq!((last.percent, last.passes), (100, Some(1)));
        assert_eq!(program, "hello\n");
    }

    #[test]
    fn an_open_line_of_the_program_is_kept() {
        let text = "value 7==PROF== Disconnected from process 7\n\
            ==WARNING== No kernels were profiled.\nAvailable Kernels:\n1. ok\n2. bad\n";
        assert_eq!(follow(text, 5).1, "value 7\n");
    }

    #[test]
    fn a_program_that_prints_without_end_is_forgotten_and_ncu_is_not() {
        let mut follower = Follower::default();
        let line = format!("{}\n", "x".repeat(1 << 16));
        for _ in 0..640 {
            follower.feed(line.as_bytes(), &mut |_| {});
        }
        follower.feed("y".repeat(3 * LONGEST_LINE).as_bytes(), &mut |_| {});
        follower.feed(b"\n==ERROR== LaunchFailed\nthe end\n", &mut |_| {});
        let (log, program) = follower.finish();
        assert!(log.len() < 2 * MOST_LOG && program.len() <= 2 * MOST_LOG + LONGEST_LINE);
        assert!(log.contains("==ERROR== LaunchFailed"));
        assert!(program.ends_with("the end\n"));
    }

    #[test]
    fn broken_characters_do_no_harm() {
        let mut follower = Follower::default();
        follower.feed(&[b'a', 0xff, b'b', 0xc3], &mut |_| {});
        follower.feed(&[0xa9, b'\n'], &mut |_| {});
        assert_eq!(follower.finish().1, "a\u{fffd}bé\n");
    }

    proptest::proptest! {
        #[test]
        fn no_output_can_stop_the_follower(text in "(==PROF== Profiling \"|\" - |[0-9]{1,12}|:|%|\\.|pass|\n|[a-z ]{0,3}){0,40}") {
            let _ = follow(&text, 2);
        }
    }
}
