//! simcore 0.1, the core of DSLab: components that send each other boxed events, 64-bit floats as time. Times here are whole
//! numbers far below 2⁵³, so they are exact.

use std::cell::RefCell;
use std::rc::Rc;

use serde::Serialize;
use simcore::{Event as Delivered, EventHandler, Simulation, SimulationContext, cast};

use crate::cold_cache::{Engine, Event, Later, Model};
use crate::station::{Draws, Station, increments};

#[derive(Clone, Serialize)]
struct Arrival {}

#[derive(Clone, Serialize)]
struct Departure {}

struct Mm1 {
    station: Station,
    context: SimulationContext,
}

impl EventHandler for Mm1 {
    fn on(&mut self, event: Delivered) {
        let now = event.time as u64;
        cast!(match event.data {
            Arrival {} => {
                if let Some(service) = self.station.arrive(now) {
                    self.context.emit_self(Departure {}, service as f64);
                }
                if let Some(gap) = self.station.gap() {
                    self.context.emit_self(Arrival {}, gap as f64);
                }
            }
            Departure {} => {
                if let Some(service) = self.station.depart(now) {
                    self.context.emit_self(Departure {}, service as f64);
                }
            }
        })
    }
}

/// M/M/1.
pub fn mm1() -> Station {
    let mut simulation = Simulation::new(1);
    let mut station = Station::new();
    let context = simulation.create_context("station");
    if let Some(gap) = station.gap() {
        context.emit_self(Arrival {}, gap as f64);
    }
    let component = Rc::new(RefCell::new(Mm1 { station, context }));
    simulation.add_handler("station", component.clone());
    simulation.step_until_no_events();
    std::mem::replace(&mut component.borrow_mut().station, Station::new())
}

#[derive(Clone, Serialize)]
struct Hold {
    id: u32,
}

struct Holds {
    draws: Draws,
    context: SimulationContext,
}

impl EventHandler for Holds {
    fn on(&mut self, event: Delivered) {
        cast!(match event.data {
            Hold { id } => {
                self.context.emit_self(Hold { id }, self.draws.next() as f64);
            }
        })
    }
}

/// The hold model; the clock at its end.
pub fn hold(size: u32, holds: u32) -> impl FnOnce() -> u64 {
    let mut simulation = Simulation::new(1);
    let context = simulation.create_context("holds");
    let mut draws = increments(size);
    for id in 0..size {
        context.emit_self(Hold { id }, draws.next() as f64);
    }
    simulation.add_handler("holds", Rc::new(RefCell::new(Holds { draws, context })));
    move || {
        simulation.steps(u64::from(holds));
        simulation.time() as u64
    }
}

/// The cold-cache model.
pub struct Simcore {
    simulation: Simulation,
    component: Rc<RefCell<Component>>,
}

struct Component {
    model: Model,
    context: SimulationContext,
}

impl Later for SimulationContext {
    #[inline]
    fn at(&mut self, at: u64, event: Event) {
        self.emit_self(event, event.rank(at) as f64 - self.time());
    }
}

impl EventHandler for Component {
    fn on(&mut self, event: Delivered) {
        let now = event.time as u64 >> 1;
        if let Ok(event) = event.data.downcast::<Event>() {
            self.model.handle(now, *event, &mut self.context);
        }
    }
}

impl Engine for Simcore {
    fn new(mut model: Model) -> Simcore {
        let mut simulation = Simulation::new(1);
        let mut context = simulation.create_context("model");
        model.start(&mut context);
        let component = Rc::new(RefCell::new(Component { model, context }));
        simulation.add_handler("model", component.clone());
        Simcore { simulation, component }
    }

    fn run_until(&mut self, until: u64) {
        self.simulation.step_until_time(((until << 1) - 1) as f64);
    }

    fn model<T>(&self, look: impl FnOnce(&Model) -> T) -> T {
        look(&self.component.borrow().model)
    }
}
