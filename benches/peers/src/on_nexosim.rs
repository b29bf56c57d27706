//! nexosim 1.0, one thread: models whose methods are scheduled as asynchronous messages. Models must be serializable; what
//! these two hold is not, so it is left out, and handed over through a shared place at the end.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use nexosim::model::{Context, Model, schedulable};
use nexosim::simulation::{Mailbox, SimInit, Simulation};
use nexosim::time::MonotonicTime;
use serde::{Deserialize, Serialize};

use crate::station::{Draws, Station, increments};

const START: MonotonicTime = MonotonicTime::EPOCH;

fn nanoseconds(time: MonotonicTime) -> u64 {
    time.duration_since(START).as_nanos() as u64
}

fn build<M: Model<Env = ()>>(model: M) -> Simulation {
    SimInit::with_num_threads(1).add_model(model, Mailbox::new(), "model").init(START).expect("it begins")
}

#[derive(Serialize, Deserialize)]
struct Mm1 {
    #[serde(skip)]
    station: Option<Box<Station>>,
    #[serde(skip)]
    result: Arc<Mutex<Option<Station>>>,
}

#[Model]
impl Mm1 {
    #[nexosim(init)]
    async fn init(&mut self, cx: &Context<Self>) {
        if let Some(gap) = self.station.as_mut().and_then(|s| s.gap()) {
            self.after(gap, true, cx);
        }
    }

    fn after(&self, span: u64, arrival: bool, cx: &Context<Self>) {
        let span = Duration::from_nanos(span);
        let scheduled = if arrival {
            cx.schedule_event(span, schedulable!(Self::arrive), ())
        } else {
            cx.schedule_event(span, schedulable!(Self::depart), ())
        };
        scheduled.expect("it is in the future");
    }

    #[nexosim(schedulable)]
    fn arrive(&mut self, _: (), cx: &Context<Self>) {
        let now = nanoseconds(cx.time());
        let Some(station) = &mut self.station else { return };
        let (service, gap) = (station.arrive(now), station.gap());
        if let Some(service) = service {
            self.after(service, false, cx);
        }
        if let Some(gap) = gap {
            self.after(gap, true, cx);
        }
    }

    #[nexosim(schedulable)]
    fn depart(&mut self, _: (), cx: &Context<Self>) {
        let now = nanoseconds(cx.time());
        let Some(station) = &mut self.station else { return };
        match station.depart(now) {
            Some(service) => self.after(service, false, cx),
            None if station.served == crate::station::CUSTOMERS => {
                *self.result.lock().expect("one thread") = self.station.take().map(|s| *s);
            }
            None => {}
        }
    }
}

/// M/M/1.
pub fn mm1() -> Station {
    let result = Arc::new(Mutex::new(None));
    let model = Mm1 { station: Some(Box::new(Station::new())), result: result.clone() };
    build(model).run().expect("it runs");
    let station = result.lock().expect("one thread").take();
    station.expect("everybody was served")
}

#[derive(Serialize, Deserialize)]
struct Holds {
    #[serde(skip)]
    draws: Option<Box<Draws>>,
    size: u32,
    #[serde(skip)]
    left: Arc<Mutex<u32>>,
}

#[Model]
impl Holds {
    #[nexosim(init)]
    async fn init(&mut self, cx: &Context<Self>) {
        for id in 0..self.size {
            self.again(id, cx);
        }
    }

    fn again(&mut self, id: u32, cx: &Context<Self>) {
        if let Some(draws) = &mut self.draws {
            let span = Duration::from_nanos(draws.next());
            cx.schedule_event(span, schedulable!(Self::hold), id).expect("it is in the future");
        }
    }

    #[nexosim(schedulable)]
    fn hold(&mut self, id: u32, cx: &Context<Self>) {
        let mut left = self.left.lock().expect("one thread");
        if *left > 0 {
            *left -= 1;
            drop(left);
            self.again(id, cx);
        }
    }
}

/// The hold model; the clock at its end.
pub fn hold(size: u32, holds: u32) -> impl FnOnce() -> u64 {
    let left = Arc::new(Mutex::new(holds));
    let mut simulation = build(Holds { draws: Some(Box::new(increments(size))), size, left: left.clone() });
    move || {
        while *left.lock().expect("one thread") > 0 {
            simulation.step().expect("it runs");
        }
        nanoseconds(simulation.time())
    }
}
