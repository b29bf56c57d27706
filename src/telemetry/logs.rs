//! Log lines sampled from simulated requests.

use std::sync::Arc;

use crate::units::SimTime;

/// Severity of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Normal business.
    Info,
    /// Something to look at.
    Warn,
    /// Something failed.
    Error,
}

impl Level {
    /// As log viewers write it, five characters wide.
    pub fn label(self) -> &'static str {
        match self {
            Level::Info => "INFO ",
            Level::Warn => "WARN ",
            Level::Error => "ERROR",
        }
    }
}

/// One line. Lines of one second and one kind are sampled: those kept together stand for all.
#[derive(Clone, Debug, PartialEq)]
pub struct LogLine {
    /// When.
    pub at: SimTime,
    /// Who wrote it: `api-07`, `balancer`, `catalog-cache`.
    pub source: Arc<str>,
    /// What kind of line it is: `query_timeout`, `connection_refused`, `access`; the same kind reads alike.
    pub stream: &'static str,
    /// Severity.
    pub level: Level,
    /// The text.
    pub text: String,
    /// The operation that it is about, as traces name it.
    pub operation: Option<u64>,
    /// For how many lines of this kind in this second it stands, itself included.
    pub alike: u32,
}
