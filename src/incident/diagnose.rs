//! What is wrong with an incident file, where, and what to do about it.

use std::fmt;
use std::ops::Range;

use serde_json::{Value, json};

/// How bad a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The incident cannot be used.
    Error,
    /// The incident works; its author probably meant something else.
    Warning,
}

impl Severity {
    /// In a word.
    pub fn label(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad.
    pub severity: Severity,
    /// The file, as its reader named it.
    pub label: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The bytes of the text that it is about; always on character boundaries.
    pub span: Option<Range<usize>>,
    /// What is wrong.
    pub message: String,
    /// What was expected, or what to do.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A diagnostic about a span of `text`; a span that does not lie in it is cut to it.
    pub fn new(
        severity: Severity,
        label: &str,
        text: &str,
        span: Range<usize>,
        message: impl Into<String>,
        help: Option<String>,
    ) -> Diagnostic {
        let start = floor_boundary(text, span.start);
        let end = floor_boundary(text, span.end).max(start);
        let before = &text[..start];
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        Diagnostic {
            severity,
            label: label.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            span: Some(start..end),
            message: message.into(),
            help,
        }
    }

    /// For other programs: file, line, column, severity, message, help.
    pub fn json(&self) -> Value {
        json!({
            "file": self.label,
            "line": self.line,
            "column": self.column,
            "severity": self.severity.label(),
            "message": self.message,
            "help": self.help,
        })
    }

    /// For people: with the file's name, the line, and a mark under what it is about. `text` is what was loaded.
    pub fn report(&self, text: &str) -> miette::Report {
        let mut diagnostic = miette::MietteDiagnostic::new(self.message.clone())
            .with_severity(match self.severity {
                Severity::Error => miette::Severity::Error,
                Severity::Warning => miette::Severity::Warning,
            })
            .with_code(self.severity.label());
        if let Some(help) = &self.help {
            diagnostic = diagnostic.with_help(help.clone());
        }
        if let Some(span) = &self.span {
            diagnostic = diagnostic
                .with_label(miette::LabeledSpan::new_with_span(None, (span.start, span.end - span.start)));
        }
        miette::Report::new(diagnostic)
            .with_source_code(miette::NamedSource::new(&self.label, text.to_owned()))
    }
}

impl fmt::Display for Diagnostic {
    /// In a line: `file:line:column: error: what; what to do`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (label, line, column) = (&self.label, self.line, self.column);
        write!(f, "{label}:{line}:{column}: {}: {}", self.severity.label(), self.message)?;
        match &self.help {
            Some(help) => write!(f, " ({help})"),
            None => Ok(()),
        }
    }
}

/// The last character boundary at or before `at`.
fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_outside_the_text_is_cut_to_it() {
        let d = Diagnostic::new(Severity::Error, "f", "é\nxé", 4..900, "m", None);
        assert_eq!((d.line, d.column, d.span), (2, 2, Some(4..6)));
    }
}
