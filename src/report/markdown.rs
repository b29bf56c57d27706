//! Markdown for a wiki or a pull request.

use super::Block;

/// Text in which nothing is read as markup.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|') {
            out.push('\\');
        }
        out.push(if c == '\n' { ' ' } else { c });
    }
    out
}

/// All blocks, one after another.
pub(super) fn render(blocks: &[Block]) -> String {
    let mut out = String::new();
    let mut in_list = false;
    for block in blocks {
        let listed = matches!(block, Block::Item(_) | Block::Detail(_) | Block::Entry(..));
        if in_list && !listed {
            out.push('\n');
        }
        in_list = listed;
        match block {
            Block::Title(text) => out.push_str(&format!("# {}\n\n", escape(text))),
            Block::Section(section) => out.push_str(&format!("## {}\n\n", escape(&section.heading()))),
            Block::Heading(text) => out.push_str(&format!("### {}\n\n", escape(text))),
            Block::Text(text) => out.push_str(&format!("{}\n\n", escape(text))),
            Block::Item(text) => out.push_str(&format!("- {}\n", escape(text))),
            Block::Detail(text) => out.push_str(&format!("  - {}\n", escape(text))),
            Block::Entry(label, text) => {
                out.push_str(&format!("- **{}** {}\n", escape(label), escape(text)));
            }
            Block::Fixed(lines) => out.push_str(&format!("```text\n{}\n```\n\n", lines.join("\n"))),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_becomes_markup() {
        let out = render(&[Block::Text("a_b *c* <d>".to_owned()), Block::Item("x".to_owned())]);
        assert_eq!(out, "a\\_b \\*c\\* \\<d\\>\n\n- x\n");
    }
}
