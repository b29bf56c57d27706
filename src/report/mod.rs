//! The debrief as something to read: plain text, Markdown, one HTML page, JSON.
//!
//! Text and Markdown come from one sequence of [`Block`]s, so that neither says less than the other; the page is a template
//! with charts.

mod blocks;
mod chart;
mod curve;
mod finding;
mod html;
mod markdown;
mod section;
mod text;

use crate::score::Debrief;

pub use blocks::{Block, blocks};
pub use curve::{fork_name, harm_curves, sparkline};
pub use finding::finding_json;
pub use section::Section;
pub(crate) use text::words;

/// How much of a debrief is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// All of it.
    #[default]
    Whole,
    /// What happened and what the player said, but not what a senior made of it, what was true, and the marks.
    BeforeTheAnswer,
}

/// The debrief as plain text, at most `width` columns wide where words allow.
pub fn text(debrief: &Debrief, width: usize, extent: Extent) -> String {
    text::render(&blocks(debrief, width, extent), width)
}

/// The debrief as Markdown.
pub fn markdown(debrief: &Debrief, extent: Extent) -> String {
    /// Width of the curve inside a code block.
    const CURVE: usize = 100;
    markdown::render(&blocks(debrief, CURVE, extent))
}

/// The debrief as one HTML page that needs nothing else: no script, no network.
///
/// # Errors
/// When the page's template is wrong.
pub fn html(debrief: &Debrief, extent: Extent) -> Result<String, minijinja::Error> {
    html::render(debrief, extent)
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
    serde_json::to_string_pretty(&Report { schema: 3, debrief }).unwrap_or_default() + "\n"
}
