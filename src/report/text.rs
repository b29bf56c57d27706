//! Plain text for a terminal, a pipe or a mail.

use super::Block;

/// Columns that labels of a run of [`Block::Entry`]s take at most.
const LABEL_MAX: usize = 24;
/// The narrowest width that text is wrapped to.
const NARROWEST: usize = 40;

/// What stays with the number before it.
const UNITS: [&str; 7] = ["%", "s", "ms", "µs", "ns", "min", "h"];

/// Words that belong on one line; a unit stays with its number.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let unit = UNITS.contains(&word.trim_end_matches(['.', ',', ';', ':', ')', '?']));
        match all.last_mut() {
            Some(number) if unit && number.ends_with(|c: char| c.is_ascii_digit()) => {
                number.push(' ');
                number.push_str(word);
            }
            _ => all.push(word.to_owned()),
        }
    }
    all
}

/// Breaks text into lines of at most `width` characters at spaces; a longer word stays whole.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in words(text) {
        let longer = line.chars().count() + 1 + word.chars().count();
        if !line.is_empty() && longer > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&word);
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

/// Wrapped text behind `first`; further lines are indented by `indent` columns.
fn hang(out: &mut String, first: &str, indent: usize, text: &str, width: usize) {
    for (i, line) in wrap(text, width.saturating_sub(indent).max(20)).into_iter().enumerate() {
        if i == 0 {
            out.push_str(first);
        } else {
            out.push_str(&" ".repeat(indent));
        }
        out.push_str(&line);
        out.push('\n');
    }
}

/// The column at which the texts of a run of entries begin; a longer label pushes its own text, not everybody's.
fn label_column(blocks: &[Block]) -> usize {
    let run = blocks.iter().take_while(|b| matches!(b, Block::Entry(..) | Block::Detail(_)));
    let longest = run.filter_map(|b| match b {
        Block::Entry(label, _) => Some(label.chars().count()),
        _ => None,
    });
    longest.max().unwrap_or(0).min(LABEL_MAX) + 2
}

/// All blocks, one after another.
pub(super) fn render(blocks: &[Block], width: usize) -> String {
    let width = width.max(NARROWEST);
    let mut out = String::new();
    let mut column = 0;
    // Whether the block before belongs to the same run of entries.
    let mut in_run = false;
    for (i, block) in blocks.iter().enumerate() {
        in_run &= matches!(block, Block::Entry(..) | Block::Detail(_));
        match block {
            Block::Title(text) => {
                hang(&mut out, "", 0, text, width);
                out.push_str(&"=".repeat(text.chars().count().min(width)));
                out.push_str("\n\n");
            }
            Block::Section(section) => {
                let text = section.heading();
                out.push('\n');
                hang(&mut out, "", 0, &text, width);
                out.push_str(&"-".repeat(text.chars().count().min(width)));
                out.push('\n');
            }
            Block::Heading(text) => {
                out.push('\n');
                hang(&mut out, "", 0, text, width);
            }
            Block::Text(text) => hang(&mut out, "", 0, text, width),
            Block::Item(text) => hang(&mut out, "- ", 2, text, width),
            Block::Detail(text) => hang(&mut out, "    ", 4, text, width),
            Block::Entry(label, text) => {
                if !in_run {
                    column = label_column(&blocks[i..]);
                }
                in_run = true;
                let first = format!("{label:<w$} ", w = column - 1);
                hang(&mut out, &first, column, text, width);
            }
            Block::Fixed(lines) => {
                for line in lines {
                    out.push_str(line);
                    out.push('\n');
                }
                out.push('\n');
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_wrapped_at_spaces_and_never_lost() {
        for width in [1, 10, 20, 200] {
            let lines = wrap("Scaling out adds connections to the same database", width);
            assert_eq!(lines.join(" "), "Scaling out adds connections to the same database");
            assert!(lines.iter().all(|l| l.chars().count() <= width.max(11)), "{lines:?}");
        }
        assert_eq!(wrap("", 10), [""]);
        assert_eq!(wrap("about 35 % fail", 9), ["about", "35 % fail"]);
        assert_eq!(wrap("p99 is 1.2 s.", 10), ["p99 is", "1.2 s."]);
        assert_eq!(wrap("that is s", 8), ["that is", "s"]);
    }
}
