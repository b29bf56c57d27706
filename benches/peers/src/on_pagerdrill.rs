//! The engine itself: M/M/1 on its set of future events and through a whole system of its components, the hold model, and
//! the shipped incident.

use pagerdrill::sim::events::{Events, NEVER, Source};
use pagerdrill::sim::{Fault, Spec, World};
use pagerdrill::units::SimTime;

use crate::station::{Station, components, increments};

/// M/M/1 on the set of future events, with the handlers that the peers have: a register for the next arrival, and one for
/// the end of the service.
pub fn mm1_events() -> Station {
    let mut station = Station::new();
    let mut events: Events<u32> = Events::new();
    let (arrival, departure) = (events.register(), events.register());
    if let Some(gap) = station.gap() {
        events.set(arrival, gap);
    }
    loop {
        let (now, source) = events.earliest();
        if now == NEVER {
            return station;
        }
        if source == Source::Register(arrival) {
            if let Some(service) = station.arrive(now) {
                events.set(departure, now + service);
            }
            events.set(arrival, station.gap().map_or(NEVER, |gap| now + gap));
        } else {
            events.set(departure, station.depart(now).map_or(NEVER, |service| now + service));
        }
    }
}

/// M/M/1 as a system of clients, a balancer, a service, a pool and a database, every request of which is counted, timed and
/// could be traced: customers that came, and the share of the time in which the server was busy.
pub fn mm1(customers: u32) -> impl FnOnce() -> (u64, f64) {
    let mut world = World::new(&components::spec(), 1);
    move || {
        let until = components::until(customers);
        world.advance(until);
        let busy = world.hosts(0)[0].busy_s(until.0) / until.as_secs_f64();
        (world.counters().operations_started(), busy)
    }
}

/// The hold model through the heap of the event set; the clock at its end.
pub fn hold(size: u32, holds: u32) -> impl FnOnce() -> u64 {
    let mut draws = increments(size);
    let mut events: Events<u32> = Events::new();
    for id in 0..size {
        events.at(draws.next(), id);
    }
    move || {
        let mut now = 0;
        for _ in 0..holds {
            (now, _) = events.earliest();
            let Some(id) = events.pop_heap() else { break };
            events.at(now + draws.next(), id);
        }
        now
    }
}

/// A run of an incident in which nobody does anything.
pub struct Run {
    /// The simulated system.
    pub world: World,
    fault: Option<(SimTime, Fault)>,
}

impl Run {
    /// At its start.
    pub fn new(spec: &Spec, fault: (SimTime, Fault)) -> Run {
        Run { world: World::new(spec, crate::cold_cache::SEED), fault: Some(fault) }
    }

    /// Goes on to an instant.
    pub fn until(&mut self, until: SimTime) {
        if let Some((at, fault)) = self.fault.take_if(|f| f.0 < until) {
            self.world.advance(at);
            self.world.inject(fault);
        }
        self.world.advance(until);
    }
}
