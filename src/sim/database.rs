//! A database host: queries share its cores.
//!
//! Processor sharing by virtual time: with n queries running, each advances at
//! `min(1, cores/n) / (1 + contention × max(0, n/cores − 1))` of an idle core's speed. All advance alike, so one clock V
//! with that derivative serves all of them: a query that needs work w ends when V has grown by w (Kleinrock 1967 for the
//! model; fair-queueing virtual time for the method; the term for contention is an assumption of ours, the simplest that lets more
//! queries than cores cost more than their share). The ends are kept in order: in a short sorted list, and in a heap
//! what is far away, so that starting, ending and cancelling a query cost one step or one heap operation each.

use std::hint::select_unpredictable;

use super::cache::TICK_BITS;
use super::events::Register;
use super::heap::Heap;
use super::math::Exponential;
use super::meter::{Histogram, HostCounters};
use super::rng::Stream;
use super::spec::{Abandoned, DatabaseSpec};

/// Fraction bits of a rate.
const RATE_BITS: u32 = 32;
/// An idle core's.
const FULL_SPEED: u64 = 1 << RATE_BITS;
/// Fraction bits of virtual time.
const WORK_BITS: u32 = 16;

/// A query's index.
pub type QueryIndex = u32;

/// For whom a query runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A request record.
    Request(u32),
    /// The warm-up of a cache: the key to fill.
    WarmUp {
        /// Which cache.
        cache: u16,
        /// Kind of read.
        read: u8,
        /// Key within its kind.
        key: u32,
    },
    /// Nobody any more.
    Nobody,
}

#[derive(Clone, Copy, Debug)]
struct Query {
    /// Tells a reused slot from the query that was meant; zero for a free one.
    serial: u64,
    owner: Owner,
}

/// How it goes with a certain number of queries running.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// Speed of each, Q32 of an idle core's.
    rate: u64,
    /// Busy share of the cores, Q16.
    busy: u64,
}

/// One host.
#[derive(Clone, Debug)]
pub struct Host {
    /// What its next end is scheduled with.
    pub(super) register: Register,
    cores: f64,
    contention: f64,
    /// What becomes of queries that are given up.
    pub(super) abandoned: Abandoned,
    /// Line of the slow-query log, nanoseconds.
    pub(super) slow_query: u64,
    /// How long queries took that ended well, on the CPU and off it.
    pub duration: Histogram,
    /// By number running; shared between copies of a world.
    paces: std::sync::Arc<[Pace]>,
    /// The one that is in force.
    pace: Pace,
    queries: Vec<Query>,
    free: Vec<QueryIndex>,
    /// Tag (virtual time of the end, Q16), serial, slot.
    ends: Ends,
    running: u32,
    /// Entries of cancelled queries that are still among the ends.
    cancelled: u32,
    serial: u64,
    /// Virtual time, Q16 nanoseconds of work, as of `as_of`.
    virtual_time: u64,
    as_of: u64,
    /// Integral of the busy share of the cores, Q16 nanoseconds, as of `as_of`.
    busy: u64,
    /// Connections open.
    pub connections: u32,
    /// Connections accepted at most.
    pub connection_limit: u32,
    /// It answers nobody.
    pub down: bool,
    /// Tick of the last read of each page; zero when it is not in memory.
    pages: Vec<u32>,
    page_stays_ticks: u32,
    /// Counts.
    pub counters: HostCounters,
}

const SLOT_BITS: u32 = 24;

impl Host {
    /// A host as described, idle, with cold memory.
    pub fn new(spec: &DatabaseSpec, register: Register) -> Host {
        let mut host = Host {
            register,
            abandoned: spec.abandoned,
            slow_query: spec.slow_query.map_or(u64::MAX, |span| span.0),
            duration: Histogram::new(),
            cores: spec.cores,
            contention: spec.contention,
            paces: std::sync::Arc::new([]),
            pace: Pace { rate: 1, busy: 0 },
            queries: Vec::new(),
            free: Vec::new(),
            ends: Ends::new(),
            running: 0,
            cancelled: 0,
            serial: 0,
            virtual_time: 0,
            as_of: 0,
            busy: 0,
            connections: 0,
            connection_limit: spec.connections,
            down: false,
            pages: vec![0; spec.pages as usize],
            page_stays_ticks: (spec.page_stays.0 >> TICK_BITS).min(1 << 30) as u32,
            counters: HostCounters::default(),
        };
        host.tabulate();
        host
    }

    fn tabulate(&mut self) {
        let table = self.connection_limit.min(100_000) + 64;
        self.paces = (0..=table).map(|n| self.pace_for(n)).collect();
        self.set_running(self.running);
    }

    /// Changes its cores.
    pub fn resize(&mut self, cores: f64, now: u64) {
        self.catch_up(now);
        self.cores = cores;
        self.tabulate();
    }

    /// The model's formula, for `n` running queries.
    fn pace_for(&self, n: u32) -> Pace {
        let per_core = f64::from(n.max(1)) / self.cores;
        let share = if per_core > 1.0 { 1.0 / per_core } else { 1.0 };
        let slowed = 1.0 + self.contention * if per_core > 1.0 { per_core - 1.0 } else { 0.0 };
        let rate = ((share / slowed * (1u64 << RATE_BITS) as f64) as u64).max(1);
        let busy = f64::from(n) / self.cores;
        let busy = ((if busy < 1.0 { busy } else { 1.0 }) * f64::from(1 << WORK_BITS)) as u64;
        Pace { rate, busy }
    }

    /// So many queries run from now on.
    #[inline]
    fn set_running(&mut self, n: u32) {
        self.running = n;
        self.pace = match self.paces.get(n as usize) {
            Some(&pace) => pace,
            None => self.pace_for(n),
        };
    }

    /// Brings virtual time up to now. Only the host's own events call it, so that rounding does not depend on when
    /// somebody looks.
    #[inline]
    fn catch_up(&mut self, now: u64) {
        // It goes on while nothing runs, too: only how far away the ends are matters.
        let elapsed = now - self.as_of;
        let Pace { rate, busy } = self.pace;
        let grown = (u128::from(elapsed) * u128::from(rate)) >> (RATE_BITS - WORK_BITS);
        self.virtual_time += grown as u64;
        self.busy += elapsed * busy;
        self.as_of = now;
    }

    /// Busy core time since the start as a share of one host's cores, in seconds.
    pub fn busy_s(&self, now: u64) -> f64 {
        let busy = self.busy + (now - self.as_of) * self.pace.busy;
        busy as f64 / f64::from(1 << WORK_BITS) / 1e9
    }

    /// Queries running, abandoned ones too.
    pub fn running(&self) -> u32 {
        self.running
    }

    /// Running queries that a request waits for, and others (warm-ups, abandoned ones); counted one by one.
    pub(super) fn owners(&self) -> (u64, u64) {
        self.queries.iter().filter(|q| q.serial > 0).fold((0, 0), |(requests, others), q| match q.owner {
            Owner::Request(_) => (requests + 1, others),
            Owner::WarmUp { .. } | Owner::Nobody => (requests, others + 1),
        })
    }

    /// Cores; a fraction is possible.
    pub fn cores(&self) -> f64 {
        self.cores
    }

    /// Whether the page of a key has to be brought into memory first; reading it does that.
    #[inline]
    pub fn read_page(&mut self, page_hash: u64, now: u64) -> bool {
        if self.pages.is_empty() {
            return false;
        }
        let page = super::math::scale_to(page_hash >> 32, self.pages.len() as u32) as usize;
        let tick = self.page_tick(now);
        let last = std::mem::replace(&mut self.pages[page], tick);
        last == 0 || tick - last > self.page_stays_ticks
    }

    /// Hints that the page of a key will be read soon.
    #[inline]
    pub(super) fn prefetch_page(&self, page_hash: u64) {
        let page = super::math::scale_to(page_hash >> 32, self.pages.len() as u32);
        super::prefetch::prefetch(&self.pages, page as usize);
    }

    /// Ticks as pages count them: later than any page's stay even at the start, so that reads from before the start have
    /// a tick of their own.
    fn page_tick(&self, now: u64) -> u32 {
        (now >> TICK_BITS) as u32 + 1 + self.page_stays_ticks
    }

    /// Fills the memory as a healthy system would have it at the start: pages that are read `per_s` times a second in
    /// all were last read an exponential time ago.
    pub fn warm_memory(&mut self, per_s: f64, exponential: &Exponential, rng: &mut Stream) {
        if self.pages.is_empty() || per_s <= 0.0 {
            return;
        }
        let start = self.page_tick(0);
        let gap_ns = self.pages.len() as f64 / per_s * 1e9;
        for page in 0..self.pages.len() {
            let ago = exponential.draw(rng) as f64 / 4_294_967_296.0 * gap_ns;
            let ticks = (ago as u64 >> TICK_BITS).min(u64::from(u32::MAX)) as u32;
            if ticks < self.page_stays_ticks {
                self.pages[page] = start - ticks;
            }
        }
    }

    /// Starts a query that needs `work` nanoseconds of CPU. Says also whether the host's next end may be another one now.
    #[inline(always)]
    pub fn start(&mut self, owner: Owner, work: u64, now: u64) -> (QueryIndex, bool) {
        self.catch_up(now);
        self.serial += 1;
        let query = Query { serial: self.serial, owner };
        let slot = match self.free.pop() {
            Some(slot) => {
                self.queries[slot as usize] = query;
                slot
            }
            None => {
                self.queries.push(query);
                self.queries.len() as u32 - 1
            }
        };
        let tag = self.virtual_time + (work.max(1) << WORK_BITS);
        let low = self.serial << SLOT_BITS | u64::from(slot);
        let is_first = self.ends.push(u128::from(tag) << 64 | u128::from(low));
        self.set_running(self.running + 1);
        self.counters.started += 1;
        // While everybody has a core to himself, nobody is slowed down by one who starts.
        (slot, is_first || self.pace.rate != FULL_SPEED || self.cancelled > 0)
    }

    /// Takes a query out before its end.
    pub fn cancel(&mut self, slot: QueryIndex, now: u64) {
        self.catch_up(now);
        self.queries[slot as usize] = Query { serial: 0, owner: Owner::Nobody };
        self.free.push(slot);
        self.set_running(self.running - 1);
        // Entries of cancelled queries stay until they come up; sweep when they are the majority.
        self.cancelled += 1;
        if self.ends.len() > 1_024 + 2 * self.running as usize {
            let queries = &self.queries;
            self.ends.retain(|key| alive(queries, key));
            self.cancelled = 0;
        }
    }

    /// Leaves a query running for nobody.
    pub fn abandon(&mut self, slot: QueryIndex) {
        self.queries[slot as usize].owner = Owner::Nobody;
    }

    /// When the next query ends, if none starts or is taken out before.
    #[inline(always)]
    pub fn next_end(&mut self) -> Option<u64> {
        if self.cancelled > 0 {
            self.drop_cancelled();
        }
        let key = self.ends.first()?;
        let left = ((key >> 64) as u64).saturating_sub(self.virtual_time);
        let rate = self.pace.rate;
        let shift = RATE_BITS - WORK_BITS;
        // A host with a core for everybody needs no division, and most queries are short enough for the cheap one.
        let span = if rate == FULL_SPEED {
            left.div_ceil(1 << WORK_BITS)
        } else if left < 1 << (63 - shift) {
            (left << shift).div_ceil(rate)
        } else {
            u64::try_from((u128::from(left) << shift).div_ceil(u128::from(rate))).unwrap_or(u64::MAX >> 1)
        };
        Some(self.as_of + span)
    }

    /// The request whose query ends next, where so many run that its record will not be near.
    #[inline(always)]
    pub(super) fn far_request(&self) -> Option<u32> {
        if self.ends.far.len() == 0 {
            return None;
        }
        let slot = (self.ends.first()? & ((1 << SLOT_BITS) - 1)) as usize;
        match self.queries[slot].owner {
            Owner::Request(id) => Some(id),
            _ => None,
        }
    }

    /// Drops entries of cancelled queries that have come up.
    fn drop_cancelled(&mut self) {
        while let Some(key) = self.ends.first()
            && !alive(&self.queries, key)
        {
            self.ends.pop();
            self.cancelled -= 1;
        }
    }

    /// Ends the query whose time has come and says for whom it ran.
    #[inline(always)]
    pub fn finish(&mut self, now: u64) -> Option<Owner> {
        self.catch_up(now);
        let key = self.ends.pop()?;
        debug_assert!(alive(&self.queries, key) && (key >> 64) as u64 <= self.virtual_time);
        let slot = (key & ((1 << SLOT_BITS) - 1)) as u32;
        let owner = self.queries[slot as usize].owner;
        self.queries[slot as usize] = Query { serial: 0, owner: Owner::Nobody };
        self.free.push(slot);
        self.set_running(self.running - 1);
        if owner != Owner::Nobody {
            self.counters.finished += 1;
        }
        Some(owner)
    }
}

/// Whether an entry's query is still the one in its slot.
#[inline]
fn alive(queries: &[Query], key: u128) -> bool {
    let slot = (key & ((1 << SLOT_BITS) - 1)) as usize;
    queries[slot].serial == (key as u64) >> SLOT_BITS
}

/// Keys in order, the smallest first. The nearest ones are in a list that is kept sorted: most hosts run a few queries at
/// a time, and what is put in there moves only those that come before it. What is further away waits in a heap, until the
/// list has run out.
#[derive(Clone, Debug)]
struct Ends {
    /// The smallest keys, `n_near` of them, the smallest last; before them, so that a few steps can be made without asking
    /// whether there are so many, the largest key.
    near: [u128; STEPS + NEAR],
    n_near: usize,
    /// The rest, none of which is smaller than a near one.
    far: Heap,
}

/// Places in the list, and how many keys go from and to the heap at a time.
const NEAR: usize = 32;
const MOVED: usize = NEAR / 2;
/// Steps without a branch towards the place of a new key.
const STEPS: usize = 4;

impl Ends {
    fn new() -> Ends {
        Ends { near: [u128::MAX; STEPS + NEAR], n_near: 0, far: Heap::new() }
    }

    fn len(&self) -> usize {
        self.n_near + self.far.len()
    }

    /// The near keys.
    fn near(&mut self) -> &mut [u128] {
        &mut self.near[STEPS..STEPS + self.n_near]
    }

    #[inline(always)]
    fn first(&self) -> Option<u128> {
        let first = self.near.get(STEPS - 1 + self.n_near);
        first.copied().filter(|_| self.n_near > 0)
    }

    /// Puts a key in. Says whether it is the first now.
    #[inline(always)]
    fn push(&mut self, key: u128) -> bool {
        let last = self.n_near;
        if last >= NEAR || self.far.len() > 0 {
            return self.push_far(key);
        }
        // Where it belongs cannot be guessed, but it is seldom far from the first: a few steps without a branch, in which the
        // keys that come before it pass it.
        let Some(window) = self.near[last..].first_chunk_mut::<{ STEPS + 1 }>() else {
            return self.push_far(key);
        };
        self.n_near += 1;
        let mut held = key;
        for step in (0..STEPS).rev() {
            let other = window[step];
            let passes = other < key;
            window[step + 1] = select_unpredictable(passes, other, held);
            held = select_unpredictable(passes, held, other);
        }
        window[0] = held;
        let is_first = window[STEPS] == key;
        let mut at = last;
        while at > 0 && self.near[at - 1] < key {
            self.near.swap(at, at - 1);
            at -= 1;
        }
        is_first
    }

    /// The same where some keys are far, or one has to go there.
    #[inline(never)]
    fn push_far(&mut self, key: u128) -> bool {
        if self.n_near == NEAR {
            self.make_room();
        }
        if key > self.near[STEPS] {
            self.far.push(key);
            return false;
        }
        let last = self.n_near;
        self.n_near += 1;
        let near = self.near();
        let at = near[..last].partition_point(|&nearer| nearer > key);
        near.copy_within(at..last, at + 1);
        near[at] = key;
        at == last
    }

    #[inline(always)]
    fn pop(&mut self) -> Option<u128> {
        let first = self.first()?;
        self.n_near -= 1;
        if self.n_near == 0 && self.far.len() > 0 {
            self.come_near();
        }
        Some(first)
    }

    /// The larger ones of a full list go to the heap.
    #[cold]
    fn make_room(&mut self) {
        for &key in &self.near[STEPS..STEPS + MOVED] {
            self.far.push(key);
        }
        self.near.copy_within(STEPS + MOVED.., STEPS);
        self.n_near = NEAR - MOVED;
    }

    /// The heap's first ones come into the empty list.
    #[inline(never)]
    fn come_near(&mut self) {
        self.n_near = self.far.len().min(MOVED);
        for place in self.near[STEPS..STEPS + self.n_near].iter_mut().rev() {
            *place = self.far.pop().unwrap_or(u128::MAX);
        }
    }

    /// Drops the keys that do not pass a test.
    fn retain(&mut self, test: impl Fn(u128) -> bool) {
        let mut kept = 0;
        let near = self.near();
        for i in 0..near.len() {
            if test(near[i]) {
                near[kept] = near[i];
                kept += 1;
            }
        }
        self.n_near = kept;
        self.far.retain(test);
        if self.n_near == 0 {
            self.come_near();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::sim::events::Events;
    use crate::sim::spec::Abandoned;
    use crate::units::SimSpan;
    use proptest::prelude::*;

    proptest! {
        /// Keys come out in the order of a sorted list, also after some have been dropped.
        #[test]
        fn ends_come_in_order(keys in proptest::collection::vec(any::<u128>(), 0..200), taken in 0usize..100, bit in 0u32..128) {
            let (mut ends, mut list) = (Ends::new(), Vec::new());
            for &key in &keys {
                list.push(key);
                prop_assert_eq!(ends.push(key), list.iter().all(|&other| key <= other));
            }
            list.sort_unstable();
            let first: Vec<u128> = list.drain(..taken.min(list.len())).collect();
            let popped: Vec<u128> = (0..first.len()).filter_map(|_| ends.pop()).collect();
            prop_assert_eq!(popped, first);
            let kept = |key: u128| key >> bit & 1 == 0;
            ends.retain(kept);
            list.retain(|&key| kept(key));
            let popped: Vec<u128> = std::iter::from_fn(|| ends.pop()).collect();
            prop_assert_eq!(popped, list);
        }
    }

    fn host(cores: f64, contention: f64) -> Host {
        let register = Events::<u32>::new().register();
        let spec = DatabaseSpec {
            name: "db".to_owned(),
            hosts: vec!["primary".to_owned()],
            cores,
            contention,
            connections: 1_000,
            abandoned: Abandoned::Cancelled,
            pages: 0,
            page_stays: SimSpan::ZERO,
            slow_query: None,
            resize_after: SimSpan::ZERO,
        };
        Host::new(&spec, register)
    }

    proptest! {
        /// Whatever comes and goes, the smallest key is the first: also where some are near and some far.
        #[test]
        fn ends_that_come_and_go_are_those_of_a_sorted_list(steps in proptest::collection::vec((any::<u64>(), 0u8..32), 0..400)) {
            let (mut ends, mut list) = (Ends::new(), BTreeSet::new());
            for (i, (key, what)) in steps.into_iter().enumerate() {
                if what == 31 {
                    let kept = |other: u128| other >> 64 & 7 != u128::from(key) & 7;
                    ends.retain(kept);
                    list.retain(|&other| kept(other));
                } else if what < 10 {
                    prop_assert_eq!(ends.pop(), list.pop_first());
                } else {
                    let key = u128::from(key) << 64 | i as u128;
                    prop_assert_eq!(ends.push(key), list.first().is_none_or(|&first| key < first));
                    list.insert(key);
                }
                prop_assert_eq!((ends.first(), ends.len()), (list.first().copied(), list.len()));
            }
        }
    }

    /// Starts queries of these lengths (ms) together and says when each ends (ms).
    fn ends(host: &mut Host, lengths_ms: &[u64]) -> Vec<f64> {
        for (i, ms) in lengths_ms.iter().enumerate() {
            host.start(Owner::Request(i as u32), ms * 1_000_000, 0);
        }
        let mut out = Vec::new();
        while let Some(at) = host.next_end() {
            host.finish(at);
            out.push((at as f64 / 1e3).round() / 1e3);
        }
        out
    }

    #[test]
    fn queries_share_the_cores() {
        assert_eq!(ends(&mut host(2.0, 0.0), &[10, 10]), [10.0, 10.0], "as many cores as queries");
        assert_eq!(ends(&mut host(1.0, 0.0), &[10, 20]), [20.0, 30.0], "two on one core");
        assert_eq!(ends(&mut host(2.0, 0.0), &[10; 4]), [20.0; 4], "four on two cores");
        assert_eq!(ends(&mut host(1.0, 0.5), &[10, 10]), [30.0, 30.0], "contention: half as fast again");
    }

    #[test]
    fn a_cancelled_query_frees_its_share() {
        let mut host = host(1.0, 0.0);
        let (first, _) = host.start(Owner::Request(0), 10_000_000, 0);
        host.start(Owner::Request(1), 10_000_000, 0);
        host.cancel(first, 10_000_000);
        assert_eq!(host.next_end(), Some(15_000_000));
        assert_eq!(host.finish(15_000_000), Some(Owner::Request(1)));
        assert_eq!((host.running(), host.next_end()), (0, None));
        assert!((host.busy_s(20_000_000) - 0.015).abs() < 1e-6);
    }

    #[test]
    fn five_hundred_on_eight_cores_never_make_500_ms() {
        let all = ends(&mut host(8.0, 0.0), &[12; 500]);
        assert!(all.iter().all(|&ms| (ms - 750.0).abs() < 0.1), "500 × 12 / 8 = 750 ms");
    }

    #[test]
    fn a_page_is_cold_until_read_and_again_after_it_was_pushed_out() {
        let mut host = host(1.0, 0.0);
        host.pages = vec![0; 4];
        host.page_stays_ticks = 100;
        assert!(host.read_page(0, 0));
        assert!(!host.read_page(0, 50 << TICK_BITS));
        assert!(host.read_page(0, 200 << TICK_BITS));
        assert!(host.read_page(u64::MAX, 0), "another page");
    }
}
