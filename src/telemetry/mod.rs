//! What instruments recorded: one sample a second per series, log lines, traces; and questions about them.
//!
//! This is all that a player ever sees of the simulated system. Nothing here knows the incident.

mod logs;
mod record;
mod series;
mod trace;

pub use logs::{Level, LogLine};
pub use record::{Recorder, instance_name};
pub use series::{RECENT_S, Series, SeriesSet, matches, recent};
pub use trace::{Span, SpanStatus, Trace, TraceOutcome};
