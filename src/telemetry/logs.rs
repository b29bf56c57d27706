//! Log lines sampled from simulated requests.

use std::sync::Arc;

use super::words::{self, Names};
#[cfg(test)]
use crate::sim::probe::LogKind;
use crate::sim::probe::LogRecord;
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
    /// What kind of line it is: `query_timeout`, `connection_refused`, `access`; the same kind reads alike.
    pub stream: &'static str,
    /// Severity.
    pub level: Level,
    /// The operation that it is about, as traces name it.
    pub operation: Option<u64>,
    /// For how many lines of this kind in this second it stands, itself included.
    pub alike: u32,
    record: LogRecord,
    names: Arc<Names>,
}

impl LogLine {
    /// The line of a record that stands for so many.
    pub(super) fn new(record: LogRecord, alike: u32, names: &Arc<Names>) -> LogLine {
        let (stream, level) = words::stream(&record);
        LogLine {
            at: SimTime(record.at),
            stream,
            level,
            operation: (record.operation > 0).then_some(record.operation),
            alike,
            record,
            names: names.clone(),
        }
    }

    /// A line of a kind that stands for so many, by nobody about nothing.
    #[cfg(test)]
    pub(crate) fn of_kind(kind: LogKind, at: SimTime, alike: u32) -> LogLine {
        LogLine::new(LogRecord::new(at.0, kind, 0), alike, &Arc::default())
    }

    /// Who wrote it, `api-07`, `balancer`, `catalog-cache`; and the text. They are put together anew each time.
    pub fn source_and_text(&self) -> (String, String) {
        self.names.source_and_text(&self.record)
    }
}
