//! The future event set: what will happen, in order of (time, order of scheduling).
//!
//! Most delays of a system are constants: a query timeout, a pause before a retry. What is scheduled with a constant
//! delay comes due in the order in which it was scheduled, so a first-in-first-out ring is an exact priority queue for
//! it, at a fraction of a heap's cost. Servers keep their one next completion in a register. Only what is left,
//! times that vary and a few control events, goes through a heap. Ties are broken by a sequence number that counts every scheduling,
//! so the order does not depend on which structure an event happens to be in.
//!
//! Most time limits are met: what they were scheduled for is over long before they come due. Such void entries are
//! swept from the head of a ring in one go, and are no events.
//!
//! The earliest of all heads is looked for when the next event is wanted, not with every change.
//! Which source it is in cannot be guessed, so it is found without a branch.
//!
//! The set knows nothing of requests: any model can be built on it. One server with its queue, which theory (M/M/1) says keeps
//! a customer for 1 ms / (1 − 0.8) = 5 ms:
//!
//! ```
//! use std::collections::VecDeque;
//!
//! use pagerdrill::sim::events::{Events, NEVER, Source};
//! use pagerdrill::sim::math::Exponential;
//! use pagerdrill::sim::rng::Stream;
//!
//! let (unit, mut random) = (Exponential::new(), Stream::new(1, "an example"));
//! let mut draw = |mean_ns: u64| (unit.draw(&mut random) * mean_ns) >> 32;
//! let mut events: Events<u32> = Events::new();
//! let (arrival, departure) = (events.register(), events.register());
//! events.set(arrival, draw(1_250_000));
//! let (mut queue, mut served, mut sum_ns) = (VecDeque::new(), 0, 0);
//! while served < 500_000 {
//!     let (now, source) = events.earliest();
//!     if source == Source::Register(arrival) {
//!         queue.push_back(now);
//!         if queue.len() == 1 {
//!             events.set(departure, now + draw(1_000_000));
//!         }
//!         events.set(arrival, now + draw(1_250_000));
//!     } else if let Some(arrived) = queue.pop_front() {
//!         (served, sum_ns) = (served + 1, sum_ns + now - arrived);
//!         events.set(departure, if queue.is_empty() { NEVER } else { now + draw(1_000_000) });
//!     }
//! }
//! let mean_ms = sum_ns as f64 / f64::from(served) / 1e6;
//! assert!((mean_ms - 5.0).abs() < 0.2, "{mean_ms}");
//! ```

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::hint::select_unpredictable;

use super::heap::Heap;
use super::prefetch::prefetch;

/// How many entries of a ring ahead records are brought near, and places of the ring itself.
const RECORD_AHEAD: usize = 12;
const PLACE_AHEAD: usize = 48;

/// Nothing scheduled.
pub const NEVER: u64 = u64::MAX;

/// A ring's index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring(pub(super) usize);

/// A register's index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register(usize);

impl Register {
    /// Registers are numbered in the order in which they were made.
    pub(super) fn index(self) -> usize {
        self.0
    }
}

/// What is kept about an event in a ring: a record and the version of it that was meant. A version that no longer
/// fits is an event that was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The record.
    pub id: u32,
    /// Its version when the event was scheduled.
    pub version: u32,
}

/// Where the next event comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A ring.
    Ring(Ring),
    /// A register.
    Register(Register),
    /// The heap.
    Heap,
    /// The next arrival, where arrivals are events.
    Arrival,
}

#[derive(Clone, Copy, Debug)]
struct Due {
    at: u64,
    order: u64,
    entry: Entry,
}

/// A first-in-first-out queue of entries that all wait equally long.
#[derive(Clone, Debug)]
struct Fifo {
    delay: u64,
    /// A power of two of places, used one after the other and then again from the first.
    places: Vec<Due>,
    /// Entries taken, and entries put, since the start.
    taken: usize,
    put: usize,
}

impl Fifo {
    fn new(delay: u64) -> Fifo {
        let nothing = Due { at: NEVER, order: 0, entry: Entry { id: 0, version: 0 } };
        Fifo { delay, places: vec![nothing; 16], taken: 0, put: 0 }
    }

    /// What is or was at a place; the places go round.
    #[inline]
    fn at(&self, place: usize) -> &Due {
        &self.places[place & (self.places.len() - 1)]
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.taken == self.put
    }

    #[inline]
    fn push(&mut self, due: Due) {
        if self.put - self.taken == self.places.len() {
            self.grow();
        }
        let place = self.put & (self.places.len() - 1);
        self.places[place] = due;
        self.put += 1;
    }

    /// Hints that a place will be looked at soon.
    #[inline]
    fn bring_near(&self, place: usize) {
        prefetch(&self.places, place & (self.places.len() - 1));
    }

    /// Twice as many places.
    #[cold]
    fn grow(&mut self) {
        let all: Vec<Due> = (self.taken..self.put).map(|place| *self.at(place)).collect();
        self.places.resize(2 * all.len(), all[0]);
        (self.taken, self.put) = (0, all.len());
        self.places[..all.len()].copy_from_slice(&all);
    }
}

/// When a source's first event is due, in which order it was scheduled, and which source it is.
#[derive(Clone, Copy, Debug)]
struct Head {
    at: u64,
    /// The order, and in the lowest bits the source. No two schedulings have the same order.
    key: u64,
}

/// Bits of a key that say which source it is.
const SOURCE_BITS: u32 = 16;

impl Head {
    #[inline]
    fn new(at: u64, order: u64, source: usize) -> Head {
        Head { at, key: order << SOURCE_BITS | source as u64 }
    }

    /// Both in one number, which is compared in fewer steps.
    #[inline(always)]
    fn rank(self) -> u128 {
        u128::from(self.at) << 64 | u128::from(self.key)
    }

    #[inline]
    fn source(self) -> usize {
        (self.key & ((1 << SOURCE_BITS) - 1)) as usize
    }
}

/// The heads of some sources, and the earliest of them.
#[derive(Clone, Debug)]
struct Heads {
    heads: Vec<Head>,
    /// The earliest, unless `moved`.
    first: Head,
    /// A head is another one than when the earliest was looked for.
    moved: bool,
}

impl Heads {
    fn new() -> Heads {
        Heads { heads: Vec::new(), first: Head::new(NEVER, u64::MAX >> SOURCE_BITS, 0), moved: false }
    }

    /// A place for a source that has nothing coming.
    fn add(&mut self) -> usize {
        let source = self.heads.len();
        assert!(source < 1 << SOURCE_BITS, "an event set has room for 65,536 sources of a kind");
        self.heads.push(Head::new(NEVER, 0, source));
        source
    }

    /// The head of a source is another one now.
    #[inline(always)]
    fn set(&mut self, source: usize, at: u64, order: u64) {
        self.heads[source] = Head::new(at, order, source);
        self.moved = true;
    }

    /// The head of a source comes after others of its instant now.
    #[inline(always)]
    fn put_off(&mut self, source: usize, order: u64) {
        let head = &mut self.heads[source];
        head.key = Head::new(head.at, order, source).key;
        self.moved |= source == self.first.source();
    }

    /// The key of the head that comes first of those at an instant.
    #[cold]
    fn first_of_tie(&self, at: u64) -> u64 {
        let tied = self.heads.iter().filter(|head| head.at == at);
        tied.map(|head| head.key).min().unwrap_or(u64::MAX)
    }

    /// The earliest head.
    #[inline]
    fn first(&mut self) -> Head {
        if self.moved {
            self.moved = false;
            // Which one it is cannot be guessed, so there is no branch.
            let mut first = Head { at: NEVER, key: u64::MAX };
            let mut tie = NEVER;
            for &head in &self.heads {
                let earlier = head.at < first.at;
                tie = select_unpredictable(head.at == first.at, head.at, tie);
                first.at = select_unpredictable(earlier, head.at, first.at);
                first.key = select_unpredictable(earlier, head.key, first.key);
            }
            if tie == first.at && tie != NEVER {
                first.key = self.first_of_tie(tie);
            }
            self.first = first;
        }
        self.first
    }
}

/// The next event of a set: the earliest of the heap and the rings, and the earliest of the registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct First {
    front: Head,
    end: Head,
}

impl First {
    /// When it is due.
    #[inline]
    pub(super) fn at(self) -> u64 {
        self.front.at.min(self.end.at)
    }

    /// Where it comes from. No two schedulings have the same order, so it does not matter how sources are numbered.
    #[inline(always)]
    pub(super) fn source(self) -> Source {
        if self.end.rank() < self.front.rank() {
            return Source::Register(Register(self.end.source()));
        }
        match self.front.source() {
            0 => Source::Heap,
            ring => Source::Ring(Ring(ring - 1)),
        }
    }
}

/// The future event set; `T` are the events of the heap.
#[derive(Clone, Debug)]
pub struct Events<T> {
    order: u64,
    /// Of the heap, then of each ring.
    fronts: Heads,
    /// Of each register. They change with nearly every event, the others rarely, so they are apart.
    ends: Heads,
    rings: Vec<Fifo>,
    heap: Later<T>,
    plain: Option<PlainSet<T>>,
}

/// Events in a heap: their keys, and the events themselves apart, where they need not be moved.
#[derive(Clone, Debug)]
struct Later<T> {
    /// When an event is due, the order in which it was scheduled, and its slot.
    keys: Heap,
    slots: Vec<T>,
    /// Slots without an event, but for that of the event that was taken last while nothing is in its key's place.
    free: Vec<u32>,
}

/// Bits of a key that say which slot it is; what is left of 64 are those of the order.
const SLOT_BITS: u32 = 24;

/// The slot that a key says.
#[inline]
fn slot(key: u128) -> u32 {
    key as u32 & ((1 << SLOT_BITS) - 1)
}

impl<T: Copy> Later<T> {
    fn new() -> Later<T> {
        Later { keys: Heap::new(), slots: Vec::new(), free: Vec::new() }
    }

    #[inline]
    fn push(&mut self, at: u64, order: u64, event: T) {
        assert!(order < 1 << (u64::BITS - SLOT_BITS), "an event set counts 2^40 schedulings");
        let slot = match self.keys.taken().map(slot).or_else(|| self.free.pop()) {
            Some(slot) => {
                self.slots[slot as usize] = event;
                slot
            }
            None => {
                assert!(
                    self.slots.len() < 1 << SLOT_BITS,
                    "an event set has room for 2^24 events in its heap"
                );
                self.slots.push(event);
                self.slots.len() as u32 - 1
            }
        };
        self.keys.push(u128::from(at) << 64 | u128::from(order << SLOT_BITS | u64::from(slot)));
    }

    #[inline]
    fn close(&mut self) {
        if let Some(key) = self.keys.taken() {
            self.free.push(slot(key));
            self.keys.first();
        }
    }

    /// When the first event is due, and the order in which it was scheduled.
    #[inline]
    fn first(&mut self) -> (u64, u64) {
        self.close();
        self.keys.first().map_or((NEVER, 0), |key| ((key >> 64) as u64, key as u64 >> SLOT_BITS))
    }

    #[inline]
    fn pop(&mut self) -> Option<T> {
        self.close();
        let key = self.keys.pop()?;
        Some(self.slots[slot(key) as usize])
    }
}

/// The plainest event set there is: one heap for everything, arrivals too. A world on it is the twin that the quick
/// structures are held against: the same events in the same order, many times slower.
#[derive(Clone, Debug)]
struct PlainSet<T> {
    heap: BinaryHeap<Reverse<Plain<T>>>,
    /// Instant and scheduling that each register stands for; what it was set to before is void.
    registers: Vec<(u64, u64)>,
}

#[derive(Clone, Debug)]
struct Plain<T> {
    at: u64,
    order: u64,
    what: What<T>,
}

#[derive(Clone, Debug)]
enum What<T> {
    Ring(Ring, Entry),
    Register(Register),
    Heap(T),
    Arrival,
}

impl<T> PartialEq for Plain<T> {
    fn eq(&self, other: &Plain<T>) -> bool {
        (self.at, self.order) == (other.at, other.order)
    }
}

impl<T> Eq for Plain<T> {}

impl<T> PartialOrd for Plain<T> {
    fn partial_cmp(&self, other: &Plain<T>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Plain<T> {
    fn cmp(&self, other: &Plain<T>) -> Ordering {
        (self.at, self.order).cmp(&(other.at, other.order))
    }
}

impl<T> PlainSet<T> {
    fn push(&mut self, at: u64, order: u64, what: What<T>) {
        self.heap.push(Reverse(Plain { at, order, what }));
    }

    fn set(&mut self, register: Register, at: u64, order: u64) {
        if self.registers.len() <= register.0 {
            self.registers.resize(register.0 + 1, (NEVER, 0));
        }
        self.registers[register.0] = (at, order);
        if at != NEVER {
            self.push(at, order, What::Register(register));
        }
        self.drop_void();
    }

    /// Keeps a void event from being the first.
    fn drop_void(&mut self) {
        while let Some(Reverse(Plain { order, what: What::Register(register), .. })) = self.heap.peek()
            && self.registers[register.0].1 != *order
        {
            self.heap.pop();
        }
    }

    fn next(&self) -> (u64, Source) {
        self.heap.peek().map_or((NEVER, Source::Heap), |Reverse(first)| {
            let source = match first.what {
                What::Ring(ring, _) => Source::Ring(ring),
                What::Register(register) => Source::Register(register),
                What::Heap(_) => Source::Heap,
                What::Arrival => Source::Arrival,
            };
            (first.at, source)
        })
    }

    fn pop(&mut self) -> Option<What<T>> {
        let Reverse(first) = self.heap.pop()?;
        self.drop_void();
        Some(first.what)
    }
}

impl<T: Copy> Events<T> {
    /// An empty set.
    pub fn new() -> Events<T> {
        let mut fronts = Heads::new();
        fronts.add();
        Events { plain: None, order: 0, fronts, ends: Heads::new(), rings: Vec::new(), heap: Later::new() }
    }

    /// An empty set that keeps everything in one heap, for comparison.
    pub fn plain() -> Events<T> {
        let plain = PlainSet { heap: BinaryHeap::new(), registers: Vec::new() };
        Events { plain: Some(plain), ..Events::new() }
    }

    /// Whether this is the plain set.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.plain.is_some()
    }

    /// When a register's event is due.
    pub(super) fn register_at(&self, register: Register) -> u64 {
        match &self.plain {
            Some(plain) => plain.registers.get(register.0).map_or(NEVER, |r| r.0),
            None => self.ends.heads[register.0].at,
        }
    }

    /// Schedules the next arrival as an event: before everything else of the same instant.
    pub fn arrival(&mut self, at: u64) {
        if let Some(plain) = &mut self.plain {
            plain.push(at, 0, What::Arrival);
        }
    }

    /// Takes the arrival that is the next event.
    pub fn pop_arrival(&mut self) {
        if let Some(plain) = &mut self.plain {
            plain.pop();
        }
    }

    /// A ring for a delay in nanoseconds.
    pub fn ring(&mut self, delay_ns: u64) -> Ring {
        self.rings.push(Fifo::new(delay_ns));
        Ring(self.fronts.add() - 1)
    }

    /// A register, for a source that has at most one next event.
    pub fn register(&mut self) -> Register {
        Register(self.ends.add())
    }

    /// How many schedulings there have been: equal readings mean that nothing was scheduled between them.
    #[inline]
    pub fn scheduled(&self) -> u64 {
        self.order
    }

    #[inline]
    fn next_order(&mut self) -> u64 {
        self.order += 1;
        self.order
    }

    /// Schedules an entry after the ring's delay.
    #[inline(always)]
    pub fn after(&mut self, ring: Ring, now: u64, entry: Entry) {
        let order = self.next_order();
        let fifo = &mut self.rings[ring.0];
        let at = now.saturating_add(fifo.delay);
        if self.plain.is_some() {
            return self.push_plain(at, order, What::Ring(ring, entry));
        }
        if fifo.is_empty() {
            self.fronts.set(ring.0 + 1, at, order);
        }
        fifo.push(Due { at, order, entry });
    }

    #[cold]
    fn push_plain(&mut self, at: u64, order: u64, what: What<T>) {
        if let Some(plain) = &mut self.plain {
            plain.push(at, order, what);
        }
    }

    /// Sets or clears a register's event.
    #[inline(always)]
    pub fn set(&mut self, register: Register, at: u64) {
        let order = self.next_order();
        if self.plain.is_some() {
            return self.set_plain(register, at, order);
        }
        self.ends.set(register.0, at, order);
    }

    /// Schedules a register's event anew for the same instant: after what has been scheduled meanwhile.
    #[inline(always)]
    pub fn set_again(&mut self, register: Register) {
        let order = self.next_order();
        if let Some(plain) = &self.plain {
            let at = plain.registers.get(register.0).map_or(NEVER, |r| r.0);
            return self.set_plain(register, at, order);
        }
        self.ends.put_off(register.0, order);
    }

    #[cold]
    fn set_plain(&mut self, register: Register, at: u64, order: u64) {
        if let Some(plain) = &mut self.plain {
            plain.set(register, at, order);
        }
    }

    /// Schedules a control event.
    pub fn at(&mut self, at: u64, event: T) {
        let order = self.next_order();
        if let Some(plain) = &mut self.plain {
            return plain.push(at, order, What::Heap(event));
        }
        self.heap.push(at, order, event);
        self.head_of_heap();
    }

    /// Looks for the head of the heap.
    #[inline(always)]
    fn head_of_heap(&mut self) {
        let (at, order) = self.heap.first();
        self.fronts.set(0, at, order);
    }

    /// Looks for the heap's next first event where one was taken and none put in since.
    #[inline]
    pub(super) fn settle(&mut self) {
        if self.heap.keys.taken().is_some() {
            self.head_of_heap();
        }
    }

    /// The time and source of the next event.
    #[inline]
    pub fn earliest(&mut self) -> (u64, Source) {
        match &self.plain {
            Some(plain) => plain.next(),
            None => {
                self.settle();
                let first = self.first_of_quick();
                (first.at(), first.source())
            }
        }
    }

    /// The next event, where the set is known not to be the plain one and to be settled.
    #[inline]
    pub(super) fn first_of_quick(&mut self) -> First {
        debug_assert!(self.heap.keys.taken().is_none(), "the heap is not settled");
        First { front: self.fronts.first(), end: self.ends.first() }
    }

    /// Takes a ring's first entry, which is the next event, and drops those behind it that are void. `brings_near` hears of
    /// each record some entries before it comes up.
    #[inline(always)]
    pub fn pop_ring(
        &mut self,
        ring: Ring,
        is_void: impl Fn(Entry) -> bool,
        brings_near: impl Fn(u32),
    ) -> Option<Entry> {
        if self.plain.is_some() {
            return self.pop_plain();
        }
        let fifo = &mut self.rings[ring.0];
        if fifo.is_empty() {
            return None;
        }
        let entry = fifo.at(fifo.taken).entry;
        let mut next = fifo.taken;
        loop {
            next += 1;
            brings_near(fifo.at(next + RECORD_AHEAD).entry.id);
            if next == fifo.put || !is_void(fifo.at(next).entry) {
                break;
            }
        }
        fifo.bring_near(next + PLACE_AHEAD);
        fifo.taken = next;
        let (at, order) = if fifo.is_empty() { (NEVER, 0) } else { (fifo.at(next).at, fifo.at(next).order) };
        self.fronts.set(ring.0 + 1, at, order);
        Some(entry)
    }

    #[cold]
    fn pop_plain(&mut self) -> Option<Entry> {
        match self.plain.as_mut()?.pop() {
            Some(What::Ring(_, entry)) => Some(entry),
            _ => None,
        }
    }

    /// The record of the entry that will come up `ahead` entries later; where fewer wait, the record of some earlier one.
    #[inline]
    pub(super) fn look_ahead(&self, ring: Ring, ahead: usize) -> u32 {
        let fifo = &self.rings[ring.0];
        fifo.at(fifo.taken + ahead).entry.id
    }

    /// Takes the heap's first event. Which one is next is looked for later: most often another one is scheduled first.
    #[inline]
    pub fn pop_heap(&mut self) -> Option<T> {
        if let Some(plain) = &mut self.plain {
            return match plain.pop() {
                Some(What::Heap(event)) => Some(event),
                _ => None,
            };
        }
        self.heap.pop()
    }
}

impl<T: Copy> Default for Events<T> {
    fn default() -> Events<T> {
        Events::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever is scheduled and taken, and however much is asked between, both sets give the same events in the same
        /// order; many of them are due at the same instant.
        #[test]
        fn the_heap_gives_what_the_plain_set_gives(
            steps in proptest::collection::vec((0u64..20, 0u8..8), 0..400),
        ) {
            let (mut quick, mut plain) = (Events::new(), Events::plain());
            let ring = (quick.ring(7), plain.ring(7)).0;
            let mut now = 0;
            for (i, (wait, what)) in steps.into_iter().enumerate() {
                let event = i as u32;
                match what {
                    0..3 => {
                        quick.at(now + wait, event);
                        plain.at(now + wait, event);
                    }
                    3 => {
                        let entry = Entry { id: event, version: 0 };
                        quick.after(ring, now, entry);
                        plain.after(ring, now, entry);
                    }
                    _ => {
                        let next = plain.earliest();
                        prop_assert_eq!(quick.earliest().0, next.0);
                        if next.0 == NEVER {
                            continue;
                        }
                        prop_assert_eq!(quick.earliest(), next);
                        now = next.0;
                        if next.1 == Source::Heap {
                            prop_assert_eq!(quick.pop_heap(), plain.pop_heap());
                        } else {
                            let taken = |set: &mut Events<u32>| set.pop_ring(ring, |_| false, |_| {});
                            prop_assert_eq!(taken(&mut quick), taken(&mut plain));
                        }
                        if what > 5 {
                            quick.at(now + wait, event);
                            plain.at(now + wait, event);
                        }
                    }
                }
            }
            prop_assert_eq!(drain(&mut quick), drain(&mut plain));
        }
    }

    #[test]
    fn events_of_a_heap_can_be_taken_one_after_the_other() {
        let mut events = Events::new();
        (0..9).for_each(|event| events.at(100 - u64::from(event), event));
        let taken: Vec<u32> = std::iter::from_fn(|| events.pop_heap()).collect();
        assert_eq!(taken, [8, 7, 6, 5, 4, 3, 2, 1, 0]);
        events.at(5, 1);
        assert_eq!(
            (events.earliest(), events.heap.slots.len()),
            ((5, Source::Heap), 9),
            "slots are used again"
        );
    }

    /// Drains a set and says what came out, as (time, id or event).
    fn drain(events: &mut Events<u32>) -> Vec<(u64, u32)> {
        let mut out = Vec::new();
        loop {
            let (at, source) = events.earliest();
            if at == NEVER {
                return out;
            }
            out.push((
                at,
                match source {
                    Source::Ring(ring) => {
                        events.pop_ring(ring, |e| e.version > 0, |_| {}).map_or(0, |e| e.id)
                    }
                    Source::Heap => events.pop_heap().unwrap_or(0),
                    Source::Arrival => {
                        events.pop_arrival();
                        7
                    }
                    Source::Register(register) => {
                        events.set(register, NEVER);
                        99
                    }
                },
            ));
        }
    }

    #[test]
    fn equal_times_keep_the_order_of_scheduling_across_structures() {
        for mut events in [Events::new(), Events::plain()] {
            let (slow, fast, register) = (events.ring(100), events.ring(10), events.register());
            let entry = |id| Entry { id, version: 0 };
            events.after(slow, 0, entry(1));
            events.set(register, 20);
            events.at(100, 2);
            events.after(fast, 90, entry(3));
            events.set(register, 100);
            events.at(50, 4);
            events.arrival(100);
            let mut all = drain(&mut events);
            // Only the plain set has arrivals; they come before everything else of the same instant.
            all.retain(|e| *e != (100, 7));
            assert_eq!(all, [(50, 4), (100, 1), (100, 2), (100, 3), (100, 99)]);
        }
    }
}
