//! The connection pool inside an instance.

use std::collections::VecDeque;

use super::events::Entry;

/// Connections of one instance to one database.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    /// Idle connections: host and since when; the one used last is used first.
    pub idle: VecDeque<(u16, u64)>,
    /// Connections open or being opened.
    pub open: u32,
    /// Those of them that a request holds.
    pub in_use: u32,
    /// Requests waiting, in order of arrival, with since when; void entries are skipped when they come up.
    pub waiting: VecDeque<(Entry, u64)>,
    /// How many of them really wait.
    pub n_waiting: u32,
}
