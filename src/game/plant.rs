//! The simulated system with its instruments.

use crate::sim::{Fault, Intervention, Spec, World};
use crate::telemetry::{Instruments, LogLine, Recorder, SeriesSet, Shown, Trace};
use crate::units::SimTime;

/// A world and the recorder that watches it.
#[derive(Clone)]
pub(super) struct Plant {
    world: World,
    recorder: Recorder,
    /// What the instruments make of it, where that is not the same.
    shown: Option<Shown>,
}

impl Plant {
    pub(super) fn new(spec: &Spec, seed: u64, instruments: Instruments) -> Plant {
        let world = World::new(spec, seed);
        let recorder = Recorder::new(&world);
        let shown = (!instruments.are_plain()).then(|| Shown::new(instruments));
        Plant { world, recorder, shown }
    }

    pub(super) fn advance(&mut self, until: SimTime) {
        self.recorder.advance(&mut self.world, until);
        if let Some(shown) = &mut self.shown {
            shown.follow(self.recorder.series());
        }
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

    /// What the player's instruments show of it.
    pub(super) fn shown(&self) -> &SeriesSet {
        self.shown.as_ref().map_or(self.recorder.series(), Shown::series)
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
