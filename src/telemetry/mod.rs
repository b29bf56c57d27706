//! What instruments recorded: one sample a second per series, log lines, traces; and questions about them.
//!
//! This is all that a player ever sees of the simulated system. Nothing here knows the incident.

mod instruments;
mod logs;
mod nearest;
mod query;
mod record;
mod series;
mod trace;
mod window;
mod words;

pub use instruments::{Instruments, Shown};
pub use logs::{Level, LogLine};
pub use nearest::closest;
pub use query::{Query, QueryError};
pub use record::{Recorder, instance_name};
pub use series::{RECENT_S, Series, SeriesSet, matches, recent};
pub use trace::{Span, SpanStatus, Trace, TraceOutcome};
