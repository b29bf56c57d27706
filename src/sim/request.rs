//! Records of requests in flight and of operations between two attempts.

use super::events::Entry;
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

impl Operation {
    /// One that nobody has begun.
    pub(super) const NONE: Operation =
        Operation { number: 0, started: u64::MAX, key: 0, read: 0, client: 0, attempt: 1, traced: false };
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
    /// Its query runs, on a core or off it.
    Querying,
    /// Own work.
    Working,
    /// Waiting for a cache that does not answer.
    AskingCache,
    /// Waiting for a read of the source that another request began.
    Joined,
    /// Another process holds the lock; it will look again.
    LockedOut,
    /// Waiting for a call to another service.
    Calling,
    /// Pausing before the next attempt of a call.
    BetweenCalls,
    /// Watching for its request key after the last attempt of a call.
    Confirming,
    /// Done; its answer is on the way.
    Answering,
    /// Failed; the client pauses before the next attempt.
    Pausing,
}

impl Phase {
    /// Whether the request is in an instance.
    pub(super) fn inside(self) -> bool {
        !matches!(self, Phase::Free | Phase::Pausing)
    }
}

/// For whom a record works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A client's attempt.
    Client,
    /// An attempt of a call between services.
    Call,
    /// A read of the source behind an answer, or for requests that joined it.
    Refresh,
}

/// A query that is off the CPU.
pub(super) const OFF_CPU: u32 = u32::MAX;

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
    /// The query, while one runs on a core; else [`OFF_CPU`].
    pub(super) query: u32,
    /// Service.
    pub(super) service: u16,
    /// Instance.
    pub(super) instance: u16,
    /// Database host of its connection.
    pub(super) host: u16,
    /// Try of the database client, or attempt of the call that is under way, from 1.
    pub(super) try_number: u8,
    /// What it is doing.
    pub(super) phase: Phase,
    /// The step of its service that it is at.
    pub(super) step: u8,
    /// Pool of its connection.
    pub(super) pool: u8,
    /// For whom it works.
    pub(super) role: Role,
    /// Caller gone, after the source, holding a place in the budget, and so on: see the constants.
    flags: u8,
}

/// Whoever waited for it has stopped waiting.
pub(super) const ORPHAN: u8 = 1;
/// It is after the source.
pub(super) const AFTER_SOURCE: u8 = 2;
/// It has a place in its process's budget for reads of the source.
pub(super) const BUDGETED: u8 = 4;
/// It holds its key's lock.
pub(super) const LOCKED: u8 = 8;
/// The query that it wants or has is a step of its service, not for what it reads.
pub(super) const OWN_QUERY: u8 = 16;

impl Request {
    /// Whether a flag is set.
    #[inline]
    pub(super) fn is(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// A client's request that nobody looks at and that holds nothing but its connection.
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        self.flags == 0 && self.role == Role::Client && !self.operation.traced
    }

    /// Sets a flag.
    #[inline]
    pub(super) fn set(&mut self, flag: u8) {
        self.flags |= flag;
    }

    /// Clears a flag and says whether it was set.
    #[inline]
    pub(super) fn clear(&mut self, flag: u8) -> bool {
        let was = self.is(flag);
        self.flags &= !flag;
        was
    }

    /// Puts it into a phase and voids what was scheduled for the one before. Returns the new version.
    #[inline]
    pub(super) fn enter(&mut self, phase: Phase, now: u64) -> u32 {
        self.phase = phase;
        self.since = now;
        self.version = self.version.wrapping_add(1);
        self.version
    }
}

/// What ties a record to others; kept apart, since most records of most systems have none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    /// The caller's record, and its version while it waits for this one.
    pub(super) parent: Entry,
    /// The record of the client's request that all this is for, and the number of its operation.
    pub(super) root: (u32, u64),
    /// The attempt of a call that is under way.
    pub(super) child: u32,
    /// Of a client's request: services that an attempt on its behalf has got through, one bit each.
    pub(super) through: u64,
    /// Of a client's request: who watches for its request key.
    pub(super) watcher: Option<Entry>,
    /// When it began to want the source, where that is not when it was sent.
    pub(super) wanted_at: u64,
    /// The call that it is an attempt of.
    pub(super) call: u16,
    /// Number of its span in a trace, and of the span that it is part of.
    pub(super) span: u16,
    pub(super) parent_span: u16,
}

/// All records. Free ones are reused last in, first out, while they are still near in memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Requests {
    records: Vec<Request>,
    free: Vec<u32>,
    /// By record, as far as any has been tied.
    links: Vec<Link>,
}

impl Requests {
    /// A record that there has not been before.
    #[cold]
    fn add(&mut self) -> u32 {
        self.records.push(Request {
            operation: Operation::NONE,
            sent: 0,
            since: 0,
            version: 0,
            attempt_version: 0,
            query: OFF_CPU,
            service: 0,
            instance: 0,
            host: 0,
            try_number: 0,
            phase: Phase::Free,
            step: 0,
            pool: 0,
            role: Role::Client,
            flags: 0,
        });
        self.records.len() as u32 - 1
    }

    /// Gives a record back.
    #[inline(always)]
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

    /// Whether what was scheduled for a record is still meant: it is in the phase for which it was scheduled.
    #[inline]
    pub(super) fn is_meant(&self, entry: Entry) -> bool {
        self.get(entry.id).version == entry.version
    }

    /// The same for what was scheduled for a whole attempt.
    #[inline]
    pub(super) fn is_meant_for_attempt(&self, entry: Entry) -> bool {
        self.get(entry.id).attempt_version == entry.version
    }

    /// Hints that a record will be needed soon.
    #[inline]
    pub(super) fn prefetch(&self, id: u32) {
        prefetch(&self.records, id as usize);
    }

    /// Puts a record for an operation, its own or a free one, at the beginning of its way through an instance.
    #[inline(always)]
    pub(super) fn place(
        &mut self,
        own: Option<u32>,
        operation: Operation,
        role: Role,
        place: (u16, u16),
        now: u64,
    ) -> (u32, &mut Request) {
        let id = match own.or_else(|| self.free.pop()) {
            Some(id) => id,
            None => self.add(),
        };
        let record = &mut self.records[id as usize];
        (record.operation, record.sent) = (operation, now);
        (record.role, (record.service, record.instance)) = (role, place);
        (record.step, record.flags, record.query) = (0, 0, OFF_CPU);
        (id, record)
    }

    /// A record, to change it, and what ties it to others.
    #[inline(always)]
    pub(super) fn with_link(&mut self, id: u32) -> (&mut Request, Option<&Link>) {
        (&mut self.records[id as usize], self.links.get(id as usize))
    }

    /// What ties a record to others.
    pub(super) fn link(&self, id: u32) -> Option<&Link> {
        self.links.get(id as usize)
    }

    /// What ties a record to others, to change it.
    pub(super) fn link_mut(&mut self, id: u32) -> &mut Link {
        if self.links.len() <= id as usize {
            let none = Entry { id: u32::MAX, version: 0 };
            let unlinked = Link {
                parent: none,
                root: (u32::MAX, 0),
                child: u32::MAX,
                through: 0,
                watcher: None,
                wanted_at: 0,
                call: 0,
                span: 0,
                parent_span: 0,
            };
            self.links.resize(id as usize + 1, unlinked);
        }
        &mut self.links[id as usize]
    }

    /// A record, to change it.
    #[inline]
    pub(super) fn get_mut(&mut self, id: u32) -> &mut Request {
        &mut self.records[id as usize]
    }

    /// Puts a record into a phase and voids what was scheduled for the one before. Returns the new version.
    #[inline]
    pub(super) fn enter(&mut self, id: u32, phase: Phase, now: u64) -> u32 {
        self.get_mut(id).enter(phase, now)
    }

    /// All records, free ones too.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Request)> {
        self.records.iter().enumerate().map(|(i, r)| (i as u32, r))
    }
}
