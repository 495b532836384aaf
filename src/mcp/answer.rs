//! Answers of bounded length: blocks of text on pages.

/// The tokens of a page, and of one with all the detail that was asked for.
pub(crate) const PAGE_TOKENS: usize = 2000;
const DETAILED_TOKENS: usize = 20_000;

/// What an answer's end takes: where the rest is.
const END_TOKENS: usize = 60;

/// Which part of an answer is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wanted {
    /// The page, from 1.
    pub page: usize,
    /// True where long pages and all figures are asked for.
    pub detail: bool,
}

/// The tokens that a text takes at most, by a rule that errs upwards: three letters of a word, two digits, or one other
/// sign are one. Tokenizers of language models need three to five letters of English and up to three digits each.
pub(crate) fn tokens(text: &str) -> usize {
    let (mut tokens, mut letters, mut digits) = (0, 0_usize, 0_usize);
    let close = |letters: &mut usize, digits: &mut usize| {
        std::mem::take(letters).div_ceil(3) + std::mem::take(digits).div_ceil(2)
    };
    for c in text.chars() {
        if c.is_ascii_alphabetic() {
            tokens += std::mem::take(&mut digits).div_ceil(2);
            letters += 1;
        } else if c.is_ascii_digit() {
            tokens += std::mem::take(&mut letters).div_ceil(3);
            digits += 1;
        } else {
            tokens += close(&mut letters, &mut digits);
            // A single space belongs to the word after it.
            tokens += usize::from(c != ' ') * c.len_utf8();
        }
    }
    tokens + close(&mut letters, &mut digits)
}

/// The wanted page of an answer of these blocks, with what remains.
///
/// # Errors
/// That there is no such page.
pub(super) fn page(blocks: &[String], wanted: Wanted) -> Result<String, String> {
    let most = if wanted.detail { DETAILED_TOKENS } else { PAGE_TOKENS } - END_TOKENS;
    let mut pages: Vec<(usize, Vec<String>)> = vec![(0, Vec::new())];
    for block in blocks {
        let block = cut(block, most);
        let its = tokens(&block) + 1;
        let is_full =
            pages.last().is_some_and(|(used, blocks)| !blocks.is_empty() && used + its > most);
        if is_full {
            pages.push((0, Vec::new()));
        }
        if let Some((used, blocks)) = pages.last_mut() {
            *used += its;
            blocks.push(block);
        }
    }
    let count = pages.len();
    let Some((_, blocks)) = pages.get(wanted.page - 1) else {
        return Err(format!("the answer has {count} pages, and there is no page {}", wanted.page));
    };
    let mut text = blocks.join("\n");
    if count > 1 {
        let next = if wanted.page < count {
            format!("; ask again with \"page\": {} for more", wanted.page + 1)
        } else {
            String::new()
        };
        text.extend([format!("\n(page {} of {count}{next})", wanted.page)]);
    }
    Ok(text)
}

/// A block that fits onto a page by itself.
fn cut(block: &str, most: usize) -> String {
    if tokens(block) < most {
        return block.to_owned();
    }
    let mut kept = String::new();
    let mut used = 8;
    for word in block.split_inclusive(' ') {
        used += tokens(word) + 1;
        if used > most {
            break;
        }
        kept.push_str(word);
    }
    kept + "… (cut)"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_counted_upwards() {
        assert_eq!(tokens("the cat sat"), 3);
        assert_eq!(tokens("1,208,959,488"), 1 + 1 + 2 + 1 + 2 + 1 + 2);
        assert_eq!(tokens("dram__bytes_read.sum"), 2 + 2 + 2 + 1 + 2 + 1 + 1);
        assert_eq!(tokens(""), 0);
    }

    #[test]
    fn an_answer_is_a_page_at_a_time() {
        let blocks: Vec<String> =
            (0..100).map(|at| format!("block {at} {}", "word ".repeat(100))).collect();
        let of = |page: usize, detail: bool| super::page(&blocks, Wanted { page, detail });
        let first = of(1, false).unwrap();
        assert!(
            tokens(&first) <= PAGE_TOKENS && tokens(&first) > PAGE_TOKENS / 2,
            "{}",
            tokens(&first)
        );
        assert!(first.contains("\"page\": 2"), "{first}");
        assert!(of(1000, false).is_err());
        assert!(tokens(&of(1, true).unwrap()) > 10 * PAGE_TOKENS / 2);
        // Nothing is lost between pages.
        let mut seen = String::new();
        let mut page = 1;
        while let Ok(text) = of(page, false) {
            seen += &text;
            page += 1;
        }
        assert!((0..100).all(|at| seen.contains(&format!("block {at} "))));
    }

    #[test]
    fn a_block_of_any_length_fits() {
        let huge = ["x".repeat(100_000), "word ".repeat(50_000), "€".repeat(10_000)];
        for block in huge {
            let page = page(&[block], Wanted { page: 1, detail: false }).unwrap();
            assert!(tokens(&page) <= PAGE_TOKENS, "{}", tokens(&page));
        }
    }
}
