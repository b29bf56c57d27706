//! desque 0.4: boxed events that change a state, any ordered type as time.

use desque::serial::{Event as Scheduled, Simulation};
use desque::{Result, SimState};

use crate::cold_cache::{Engine, Event, Later, Model};
use crate::station::{Draws, Station, increments};

struct Mm1(Station);

impl SimState<u64> for Mm1 {}

#[derive(Debug)]
struct Arrival;

impl Scheduled<Mm1, u64> for Arrival {
    fn execute(&mut self, simulation: &mut Simulation<Mm1, u64>) -> Result {
        let now = *simulation.current_time();
        let station = &mut simulation.state_mut().0;
        let (service, gap) = (station.arrive(now), station.gap());
        if let Some(service) = service {
            simulation.schedule(Departure, now + service)?;
        }
        if let Some(gap) = gap {
            simulation.schedule(Arrival, now + gap)?;
        }
        Ok(())
    }
}

#[derive(Debug)]
struct Departure;

impl Scheduled<Mm1, u64> for Departure {
    fn execute(&mut self, simulation: &mut Simulation<Mm1, u64>) -> Result {
        let now = *simulation.current_time();
        if let Some(service) = simulation.state_mut().0.depart(now) {
            simulation.schedule(Departure, now + service)?;
        }
        Ok(())
    }
}

/// M/M/1.
pub fn mm1() -> Station {
    let mut station = Station::new();
    let first = station.gap();
    let mut simulation = Simulation::new(Mm1(station), 0);
    if let Some(gap) = first {
        simulation.schedule(Arrival, gap).expect("it is not in the past");
    }
    simulation.run().expect("nothing is scheduled in the past");
    std::mem::replace(&mut simulation.state_mut().0, Station::new())
}

struct Holds {
    draws: Draws,
    left: u32,
}

impl SimState<u64> for Holds {
    fn is_complete(&self, _: &u64) -> bool {
        self.left == 0
    }
}

#[derive(Debug)]
struct Hold {
    id: u32,
}

impl Scheduled<Holds, u64> for Hold {
    fn execute(&mut self, simulation: &mut Simulation<Holds, u64>) -> Result {
        let state = simulation.state_mut();
        state.left -= 1;
        let increment = state.draws.next();
        let now = *simulation.current_time();
        simulation.schedule(Hold { id: self.id }, now + increment)
    }
}

/// The hold model; the clock at its end.
pub fn hold(size: u32, holds: u32) -> impl FnOnce() -> u64 {
    let mut simulation = Simulation::new(Holds { draws: increments(size), left: holds }, 0);
    for id in 0..size {
        let at = simulation.state_mut().draws.next();
        simulation.schedule(Hold { id }, at).expect("it is not in the past");
    }
    move || {
        simulation.run().expect("nothing is scheduled in the past");
        *simulation.current_time()
    }
}

/// The cold-cache model.
pub struct Desque(Simulation<State, u64>);

/// The model is taken out while an event changes it, so that the event can schedule others.
struct State {
    model: Option<Box<Model>>,
    stopped: bool,
}

impl SimState<u64> for State {
    fn is_complete(&self, _: &u64) -> bool {
        self.stopped
    }
}

impl Scheduled<State, u64> for Event {
    fn execute(&mut self, simulation: &mut Simulation<State, u64>) -> Result {
        if let Some(mut model) = simulation.state_mut().model.take() {
            let now = *simulation.current_time() >> 1;
            model.handle(now, *self, simulation);
            simulation.state_mut().model = Some(model);
        }
        Ok(())
    }
}

impl Later for Simulation<State, u64> {
    #[inline]
    fn at(&mut self, at: u64, event: Event) {
        self.schedule(event, event.rank(at)).expect("nothing is scheduled in the past");
    }
}

#[derive(Debug)]
struct Stop;

impl Scheduled<State, u64> for Stop {
    fn execute(&mut self, simulation: &mut Simulation<State, u64>) -> Result {
        simulation.state_mut().stopped = true;
        Ok(())
    }
}

impl Engine for Desque {
    fn new(mut model: Model) -> Desque {
        let mut simulation = Simulation::new(State { model: None, stopped: false }, 0);
        model.start(&mut simulation);
        simulation.state_mut().model = Some(Box::new(model));
        Desque(simulation)
    }

    fn run_until(&mut self, until: u64) {
        self.0.state_mut().stopped = false;
        self.0.schedule(Stop, (until << 1) - 1).expect("it is not in the past");
        self.0.run().expect("nothing is scheduled in the past");
    }

    fn model<T>(&self, look: impl FnOnce(&Model) -> T) -> T {
        look(self.0.state().model.as_ref().expect("no event is under way"))
    }
}
