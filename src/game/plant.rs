//! The simulated system with its instruments.

use crate::sim::{Fault, Intervention, Spec, World};
use crate::telemetry::{LogLine, Recorder, SeriesSet, Trace};
use crate::units::SimTime;

/// A world and the recorder that watches it.
#[derive(Clone)]
pub(super) struct Plant {
    world: World,
    recorder: Recorder,
}

impl Plant {
    pub(super) fn new(spec: &Spec, seed: u64) -> Plant {
        let world = World::new(spec, seed);
        let recorder = Recorder::new(&world);
        Plant { world, recorder }
    }

    pub(super) fn advance(&mut self, until: SimTime) {
        self.recorder.advance(&mut self.world, until);
    }

    pub(super) fn inject(&mut self, fault: Fault) {
        self.world.inject(fault);
    }

    pub(super) fn apply(&mut self, intervention: Intervention) {
        self.world.apply(intervention);
    }

    pub(super) fn keep_ages(&mut self) {
        self.world.keep_ages();
    }

    pub(super) fn world(&self) -> &World {
        &self.world
    }

    pub(super) fn series(&self) -> &SeriesSet {
        self.recorder.series()
    }

    pub(super) fn logs(&self) -> &[LogLine] {
        self.recorder.logs()
    }

    pub(super) fn traces(&self) -> &[Trace] {
        self.recorder.traces()
    }

    pub(super) fn digest(&self) -> u64 {
        self.recorder.digest()
    }
}
