//! The life of instances: starting, draining, stopping, restarting.

use super::probe::LogKind;
use super::query::Planning;
use super::request::{LOCKED, Phase};
use super::service::InstanceState;
use super::world::{Control, World};

impl World {
    /// Starts or drains instances until there are as many as wanted.
    pub(super) fn scale(&mut self, service: u16, wanted: u32) {
        let now = self.now;
        let it = &mut self.services[service as usize];
        it.wanted = wanted;
        it.share_origin(now);
        let mut staying = it.staying();
        while (staying.len() as u32) < wanted {
            let instance = it.place_for_new();
            let version = it.set_state(instance, InstanceState::Starting);
            self.events.at(now + it.spec.start_up.0, Control::InstanceReady { service, instance, version });
            staying.push(instance);
        }
        // The newest go first: those that are not even ready cost nothing to stop.
        staying
            .sort_by_key(|&i| (it.instances[i as usize].state == InstanceState::Ready, std::cmp::Reverse(i)));
        for &instance in staying.iter().take(staying.len() - wanted as usize) {
            let it = &mut self.services[service as usize];
            if it.instances[instance as usize].in_flight == 0 {
                self.stop_instance(service, instance, InstanceState::Gone);
                continue;
            }
            let version = it.set_state(instance, InstanceState::Draining);
            self.events.at(now + it.spec.drain.0, Control::DrainOver { service, instance, version });
        }
    }

    /// Restarts the next batch when the one before is up again.
    pub(super) fn restart_next(&mut self, service: u16) {
        let it = &mut self.services[service as usize];
        if it.count(InstanceState::Restarting) > 0 {
            return;
        }
        for _ in 0..it.restart_batch {
            let it = &mut self.services[service as usize];
            let Some(instance) = it.to_restart.pop_front() else { return };
            if it.instances[instance as usize].state == InstanceState::Ready {
                self.restart_instance(service, instance);
            }
        }
    }

    /// An instance stops at once: what is in it is lost, its connections are closed, and a database notices that.
    pub(super) fn stop_instance(&mut self, service: u16, instance: u16, state: InstanceState) {
        self.services[service as usize].set_state(instance, state);
        let lost: Vec<u32> = self
            .requests
            .iter()
            .filter(|(_, r)| r.service == service && r.instance == instance && r.phase.inside())
            .map(|(id, _)| id)
            .collect();
        if self.services[service as usize].spec.database.is_some() {
            for &id in &lost {
                let request = *self.requests.get(id);
                if request.phase == Phase::Querying {
                    self.cancel_query(&request, Planning::Now);
                    self.hosts[request.host as usize].connections -= 1;
                }
            }
            for pool in self.services[service as usize].forget(instance) {
                for (host, _) in pool.idle {
                    self.hosts[host as usize].connections -= 1;
                }
            }
        } else {
            self.services[service as usize].forget(instance);
        }
        for id in lost {
            if self.requests.get(id).phase == Phase::Calling {
                self.abandon_call(id);
            }
            // A process that dies gives no lock back.
            self.requests.get_mut(id).clear(LOCKED);
            self.log_request(id, LogKind::InstanceLost);
            self.fail(id);
        }
        self.log_at(LogKind::InstanceStopped, service, u32::from(instance));
    }

    /// An instance crashes and starts again.
    pub(super) fn restart_instance(&mut self, service: u16, instance: u16) {
        self.stop_instance(service, instance, InstanceState::Restarting);
        let it = &mut self.services[service as usize];
        let version = it.set_state(instance, InstanceState::Restarting);
        let at = self.now + it.spec.start_up.0;
        self.events.at(at, Control::InstanceReady { service, instance, version });
    }
}
