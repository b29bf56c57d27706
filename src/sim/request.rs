//! Records of requests in flight and of operations between two attempts.

use super::prefetch::prefetch;

/// An operation: what a user wants, over all its attempts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    /// Number, from 1, in order of arrival.
    pub(super) number: u64,
    /// When the user began.
    pub(super) started: u64,
    /// Key within its kind of read.
    pub(super) key: u32,
    /// Kind of read.
    pub(super) read: u8,
    /// Client population.
    pub(super) client: u8,
    /// The attempt under way, from 1.
    pub(super) attempt: u8,
    /// Whether it leaves a trace.
    pub(super) traced: bool,
}

/// What a request is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// The record is free.
    Free,
    /// Waiting for a connection.
    Waiting,
    /// Opening a connection.
    Connecting,
    /// Its query runs.
    Querying,
    /// Failed; the client pauses before the next attempt.
    Pausing,
}

/// One record: one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Request {
    /// The operation.
    pub(super) operation: Operation,
    /// When the attempt reached the balancer.
    pub(super) sent: u64,
    /// When the phase began.
    pub(super) since: u64,
    /// Grows with every phase: what was scheduled for an earlier one is void.
    pub(super) version: u32,
    /// Grows with every attempt.
    pub(super) attempt_version: u32,
    /// The query, while one runs.
    pub(super) query: u32,
    /// Service.
    pub(super) service: u16,
    /// Instance.
    pub(super) instance: u16,
    /// Database host of its connection.
    pub(super) host: u16,
    /// Try of the database client, from 1.
    pub(super) query_attempt: u8,
    /// What it is doing.
    pub(super) phase: Phase,
    /// The client has stopped waiting.
    pub(super) orphan: bool,
}

/// All records. Free ones are reused last in, first out, while they are still near in memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Requests {
    records: Vec<Request>,
    free: Vec<u32>,
}

impl Requests {
    /// A record for an operation.
    #[inline]
    pub(super) fn allocate(&mut self, operation: Operation, now: u64) -> u32 {
        match self.free.pop() {
            Some(id) => {
                let record = &mut self.records[id as usize];
                record.operation = operation;
                record.sent = now;
                record.orphan = false;
                id
            }
            None => {
                self.records.push(Request {
                    operation,
                    sent: now,
                    since: now,
                    version: 0,
                    attempt_version: 0,
                    query: 0,
                    service: 0,
                    instance: 0,
                    host: 0,
                    query_attempt: 0,
                    phase: Phase::Free,
                    orphan: false,
                });
                self.records.len() as u32 - 1
            }
        }
    }

    /// Gives a record back.
    #[inline]
    pub(super) fn release(&mut self, id: u32) {
        let record = &mut self.records[id as usize];
        record.phase = Phase::Free;
        record.version = record.version.wrapping_add(1);
        record.attempt_version = record.attempt_version.wrapping_add(1);
        self.free.push(id);
    }

    /// A record.
    #[inline]
    pub(super) fn get(&self, id: u32) -> &Request {
        &self.records[id as usize]
    }

    /// Hints that a record will be needed soon.
    #[inline]
    pub(super) fn prefetch(&self, id: u32) {
        prefetch(&self.records, id as usize);
    }

    /// A record, to change it.
    #[inline]
    pub(super) fn get_mut(&mut self, id: u32) -> &mut Request {
        &mut self.records[id as usize]
    }

    /// Puts a record into a phase and voids what was scheduled for the one before. Returns the new version.
    #[inline]
    pub(super) fn enter(&mut self, id: u32, phase: Phase, now: u64) -> u32 {
        let record = &mut self.records[id as usize];
        record.phase = phase;
        record.since = now;
        record.version = record.version.wrapping_add(1);
        record.version
    }

    /// All records, free ones too.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Request)> {
        self.records.iter().enumerate().map(|(i, r)| (i as u32, r))
    }
}
