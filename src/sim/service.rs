//! A stateless service: its instances, and which of them gets the next request.

use std::collections::VecDeque;

use super::events::Ring;
use super::math::Sampler;
use super::pool::Pool;
use super::spec::ServiceSpec;

/// What an instance is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstanceState {
    /// Starting for the first time.
    Starting,
    /// Taking requests.
    Ready,
    /// Finishing what it has begun.
    Draining,
    /// Starting again.
    Restarting,
    /// Not there.
    Gone,
}

/// One instance.
#[derive(Clone, Debug)]
pub struct Instance {
    /// What it is doing.
    pub state: InstanceState,
    /// Grows with every change of state; what was scheduled for an earlier one is void.
    pub version: u32,
    /// Its connections.
    pub pool: Pool,
    /// Requests in it.
    pub in_flight: u32,
}

impl Instance {
    fn new(state: InstanceState) -> Instance {
        Instance { state, version: 0, pool: Pool::default(), in_flight: 0 }
    }
}

/// A service.
#[derive(Clone, Debug)]
pub struct Service {
    /// As described; pool size and query attempts as they are set now.
    pub spec: ServiceSpec,
    /// Instances, by their number less one.
    pub instances: Vec<Instance>,
    /// Those that take requests.
    ready: Vec<u16>,
    turn: usize,
    /// Wanted instances.
    pub wanted: u32,
    /// Instances that a rolling restart has still to restart, and how many are down for it.
    pub to_restart: VecDeque<u16>,
    /// Instances down at a time.
    pub restart_batch: u32,
    /// Latency of its own handling.
    pub handling: Sampler,
    /// Where those who wait for a connection are kept.
    pub acquire_ring: Ring,
    /// Where running queries are kept.
    pub query_ring: Ring,
    /// Where connections being opened are kept.
    pub connect_ring: Ring,
}

impl Service {
    /// A service with its instances ready.
    pub fn new(spec: &ServiceSpec, acquire_ring: Ring, query_ring: Ring, connect_ring: Ring) -> Service {
        let mut service = Service {
            instances: vec![Instance::new(InstanceState::Ready); spec.instances as usize],
            ready: Vec::new(),
            turn: 0,
            wanted: spec.instances,
            to_restart: VecDeque::new(),
            restart_batch: 1,
            handling: Sampler::new(spec.handling),
            acquire_ring,
            query_ring,
            connect_ring,
            spec: spec.clone(),
        };
        service.list_ready();
        service
    }

    fn list_ready(&mut self) {
        self.ready = (0..self.instances.len())
            .filter(|&i| self.instances[i].state == InstanceState::Ready)
            .map(|i| i as u16)
            .collect();
    }

    /// The instance that gets the next request; round robin over those that are ready.
    #[inline]
    pub fn route(&mut self) -> Option<u16> {
        if self.turn >= self.ready.len() {
            self.turn = 0;
        }
        let instance = self.ready.get(self.turn).copied();
        self.turn += 1;
        instance
    }

    /// Changes an instance's state. Returns the version that later events must carry.
    pub fn set_state(&mut self, instance: u16, state: InstanceState) -> u32 {
        let it = &mut self.instances[instance as usize];
        it.state = state;
        it.version += 1;
        let version = it.version;
        self.list_ready();
        version
    }

    /// A place for a new instance: the lowest number that is free.
    pub fn place_for_new(&mut self) -> u16 {
        let free = self.instances.iter().position(|i| i.state == InstanceState::Gone);
        let at = free.unwrap_or_else(|| {
            self.instances.push(Instance::new(InstanceState::Gone));
            self.instances.len() - 1
        });
        at as u16
    }

    /// Instances in a state.
    pub fn count(&self, state: InstanceState) -> u32 {
        self.instances.iter().filter(|i| i.state == state).count() as u32
    }

    /// Instances that are there or will be, the draining ones left out; by number.
    pub fn staying(&self) -> Vec<u16> {
        (0..self.instances.len() as u16)
            .filter(|&i| {
                matches!(
                    self.instances[i as usize].state,
                    InstanceState::Starting | InstanceState::Ready | InstanceState::Restarting
                )
            })
            .collect()
    }
}
