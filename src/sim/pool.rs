//! The connection pool inside an instance.

use std::collections::VecDeque;

use super::events::{Entry, Ring};
use super::request::Requests;
use super::spec::PoolSpec;

/// How many places ahead in the queue records are brought near.
const AHEAD: usize = 4;

/// Connections of one instance to one database.
#[derive(Clone, Debug)]
pub struct Pool {
    /// Connections at most, as that is set now.
    pub(super) size: u32,
    /// Nobody waits longer than that, nanoseconds.
    longest_wait: u64,
    /// How long a query may take.
    pub(super) limit: Ring,
    /// Idle connections: host and since when; the one used last, at the end, is used first.
    pub idle: Vec<(u16, u64)>,
    /// Connections open or being opened.
    pub open: u32,
    /// Requests waiting, in order of arrival, with since when; void entries are skipped when they come up.
    pub waiting: VecDeque<(Entry, u64)>,
    /// How many of them really wait.
    pub n_waiting: u32,
}

impl Pool {
    /// One without connections, whose queries may take as long as a ring says.
    pub(super) fn new(spec: &PoolSpec, limit: Ring) -> Pool {
        Pool {
            size: spec.size,
            longest_wait: spec.longest_wait(),
            limit,
            idle: Vec::new(),
            open: 0,
            waiting: VecDeque::new(),
            n_waiting: 0,
        }
    }

    /// Connections that a request holds.
    #[inline]
    pub fn in_use(&self) -> u32 {
        self.open - self.idle.len() as u32
    }

    /// Puts a connection aside that a request gives back. Says whether that is all: nobody waits for it, and there is a
    /// place for it.
    #[inline(always)]
    pub(super) fn put_aside(&mut self, host: u16, now: u64) -> bool {
        let is_all = self.open <= self.size && self.waiting.is_empty();
        if is_all {
            self.idle.push((host, now));
        }
        is_all
    }

    /// Takes the request that has waited longest.
    pub(super) fn next_waiting(&mut self, requests: &Requests, now: u64) -> Option<u32> {
        while let Some((entry, since)) = self.waiting.pop_front() {
            if let Some((later, _)) = self.waiting.get(AHEAD) {
                requests.prefetch(later.id);
            }
            // Who has waited for longer than that is gone: no need to fetch the record to see it.
            if now - since <= self.longest_wait && requests.is_meant(entry) {
                self.n_waiting -= 1;
                return Some(entry.id);
            }
        }
        None
    }
}
