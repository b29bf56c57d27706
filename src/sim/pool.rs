//! The connection pool inside an instance.

use std::collections::VecDeque;

use super::events::Entry;
use super::request::Requests;

/// How many places ahead in the queue records are brought near.
const AHEAD: usize = 4;

/// Connections of one instance to one database.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    /// Idle connections: host and since when; the one used last, at the end, is used first.
    pub idle: Vec<(u16, u64)>,
    /// Connections open or being opened.
    pub open: u32,
    /// Those of them that a request holds.
    pub in_use: u32,
    /// Requests waiting, in order of arrival, with since when; void entries are skipped when they come up.
    pub waiting: VecDeque<(Entry, u64)>,
    /// How many of them really wait.
    pub n_waiting: u32,
}

impl Pool {
    /// Takes the request that has waited longest, if it has not given up after `patience` nanoseconds.
    #[inline]
    pub(super) fn next_waiting(&mut self, requests: &Requests, patience: u64, now: u64) -> Option<u32> {
        if self.waiting.is_empty() { None } else { self.first_of_waiting(requests, patience, now) }
    }

    fn first_of_waiting(&mut self, requests: &Requests, patience: u64, now: u64) -> Option<u32> {
        while let Some((entry, since)) = self.waiting.pop_front() {
            if let Some((later, _)) = self.waiting.get(AHEAD) {
                requests.prefetch(later.id);
            }
            // Who has waited for longer than that is gone: no need to fetch the record to see it.
            if now - since <= patience && requests.is_meant(entry) {
                self.n_waiting -= 1;
                return Some(entry.id);
            }
        }
        None
    }
}
