//! desru 0.1: boxed closures in a binary heap, 64-bit floats as time. Its log of events is turned off: it would keep all of
//! them. It has no rule for events at the same time, which neither model here depends on.

use std::cell::RefCell;
use std::rc::Rc;

use desru::{Event, EventScheduler};

use crate::station::{Draws, Station, increments};

type Action = Box<dyn FnMut(&mut EventScheduler) -> Option<String>>;

fn arrival(station: Rc<RefCell<Station>>) -> Action {
    Box::new(move |scheduler| {
        let mut it = station.borrow_mut();
        if let Some(service) = it.arrive(scheduler.current_time as u64) {
            scheduler.timeout(service as f64, Some(departure(station.clone())), None);
        }
        if let Some(gap) = it.gap() {
            scheduler.timeout(gap as f64, Some(arrival(station.clone())), None);
        }
        None
    })
}

fn departure(station: Rc<RefCell<Station>>) -> Action {
    Box::new(move |scheduler| {
        if let Some(service) = station.borrow_mut().depart(scheduler.current_time as u64) {
            scheduler.timeout(service as f64, Some(departure(station.clone())), None);
        }
        None
    })
}

/// M/M/1.
pub fn mm1() -> Station {
    let station = Rc::new(RefCell::new(Station::new()));
    let mut scheduler = EventScheduler::new();
    if let Some(gap) = station.borrow_mut().gap() {
        scheduler.timeout(gap as f64, Some(arrival(station.clone())), None);
    }
    scheduler.run(Box::new(|_| false), Some(Box::new(|_, _| false)));
    station.replace(Station::new())
}

struct Holds {
    draws: Draws,
    left: u32,
}

fn held(holds: Rc<RefCell<Holds>>) -> Action {
    Box::new(move |scheduler| {
        let mut it = holds.borrow_mut();
        it.left -= 1;
        let at = scheduler.current_time + it.draws.next() as f64;
        scheduler.schedule(Event::new(at, Some(held(holds.clone())), None));
        None
    })
}

/// The hold model; the clock at its end.
pub fn hold(size: u32, left: u32) -> impl FnOnce() -> u64 {
    let holds = Rc::new(RefCell::new(Holds { draws: increments(size), left }));
    let mut scheduler = EventScheduler::new();
    for _ in 0..size {
        let at = holds.borrow_mut().draws.next() as f64;
        scheduler.schedule(Event::new(at, Some(held(holds.clone())), None));
    }
    move || {
        let end = holds.clone();
        scheduler.run(Box::new(move |_| end.borrow().left == 0), Some(Box::new(|_, _| false)));
        scheduler.current_time as u64
    }
}
