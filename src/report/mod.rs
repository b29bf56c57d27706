//! The debrief as something to read: plain text, Markdown, JSON.
//!
//! All forms come from one sequence of [`Block`]s, so that none of them says less than another. An HTML form goes
//! beside [`markdown`].

mod blocks;
mod curve;
mod finding;
mod markdown;
mod text;

use crate::score::Debrief;

pub use blocks::{Block, blocks};
pub use curve::sparkline;
pub use finding::finding_json;

/// The debrief as plain text, at most `width` columns wide where words allow.
pub fn text(debrief: &Debrief, width: usize) -> String {
    text::render(&blocks(debrief, width), width)
}

/// The debrief as Markdown.
pub fn markdown(debrief: &Debrief) -> String {
    /// Width of the curve inside a code block.
    const CURVE: usize = 100;
    markdown::render(&blocks(debrief, CURVE))
}

/// The debrief as JSON, with a `schema` number.
pub fn json(debrief: &Debrief) -> String {
    #[derive(serde::Serialize)]
    struct Report<'a> {
        schema: u32,
        #[serde(flatten)]
        debrief: &'a Debrief,
    }
    // Plain data of strings, numbers and lists always serialises.
    serde_json::to_string_pretty(&Report { schema: 1, debrief }).unwrap_or_default() + "\n"
}
