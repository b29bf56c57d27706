//! A loop around the standard library's binary heap: what anybody would write first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::cold_cache::{Engine, Event, Later, Model};
use crate::station::{Station, increments};

/// Time and order of scheduling in one number, so that one comparison decides.
fn key(at: u64, order: u64) -> u128 {
    u128::from(at) << 64 | u128::from(order)
}

/// M/M/1.
pub fn mm1() -> Station {
    const ARRIVAL: u64 = 0;
    const DEPARTURE: u64 = 1;
    let mut station = Station::new();
    let mut heap = BinaryHeap::new();
    let mut order = 0;
    let mut push = |heap: &mut BinaryHeap<Reverse<u128>>, at: u64, kind: u64| {
        order += 1;
        heap.push(Reverse(key(at, order << 1 | kind)));
    };
    if let Some(gap) = station.gap() {
        push(&mut heap, gap, ARRIVAL);
    }
    while let Some(Reverse(next)) = heap.pop() {
        let now = (next >> 64) as u64;
        if next as u64 & 1 == ARRIVAL {
            if let Some(service) = station.arrive(now) {
                push(&mut heap, now + service, DEPARTURE);
            }
            if let Some(gap) = station.gap() {
                push(&mut heap, now + gap, ARRIVAL);
            }
        } else if let Some(service) = station.depart(now) {
            push(&mut heap, now + service, DEPARTURE);
        }
    }
    station
}

/// The hold model; the clock at its end.
pub fn hold(size: u32, holds: u32) -> impl FnOnce() -> u64 {
    let mut draws = increments(size);
    let mut heap: BinaryHeap<Reverse<u128>> =
        (0..size).map(|id| Reverse(key(draws.next(), u64::from(id) << 20))).collect();
    move || {
        let (mut now, mut order) = (0, u64::from(size));
        for _ in 0..holds {
            let Some(Reverse(next)) = heap.pop() else { break };
            now = (next >> 64) as u64;
            order += 1;
            let id = next as u64 & 0xfffff;
            heap.push(Reverse(key(now + draws.next(), order << 20 | id)));
        }
        now
    }
}

/// The cold-cache model with every event in one heap.
pub struct StdHeap {
    model: Model,
    pending: Pending,
}

#[derive(Default)]
struct Pending {
    heap: BinaryHeap<Reverse<Due>>,
    order: u64,
}

struct Due {
    key: u128,
    event: Event,
}

impl PartialEq for Due {
    fn eq(&self, other: &Due) -> bool {
        self.key == other.key
    }
}
impl Eq for Due {}
impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Due) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Due {
    fn cmp(&self, other: &Due) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

impl Later for Pending {
    #[inline]
    fn at(&mut self, at: u64, event: Event) {
        self.order += 1;
        self.heap.push(Reverse(Due { key: key(event.rank(at), self.order), event }));
    }
}

impl Engine for StdHeap {
    fn new(mut model: Model) -> StdHeap {
        let mut pending = Pending::default();
        model.start(&mut pending);
        StdHeap { model, pending }
    }

    fn run_until(&mut self, until: u64) {
        let end = key(until << 1, 0);
        while let Some(Reverse(due)) = self.pending.heap.peek() {
            if due.key >= end {
                break;
            }
            let Some(Reverse(due)) = self.pending.heap.pop() else { break };
            self.model.handle((due.key >> 65) as u64, due.event, &mut self.pending);
        }
    }

    fn model<T>(&self, look: impl FnOnce(&Model) -> T) -> T {
        look(&self.model)
    }
}
