//! What can break, or be changed by somebody else, as one value.

use super::intervention::Intervention;
use super::math::Sampler;
use super::probe::LogKind;
use super::spec::{CacheIndex, DatabaseIndex, ServiceIndex, Spread};
use super::world::{Control, World};
use crate::units::SimSpan;

/// Something that goes wrong in a system, or that others do to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// The cache is unreachable for `failover`; the node that takes over has kept a share of the entries.
    CacheNodeLost {
        /// Which cache.
        cache: CacheIndex,
        /// How long nobody answers.
        failover: SimSpan,
        /// Share of the entries that the new node has, 0 to 1.
        survivors: f64,
    },
    /// A database answers nobody: running queries are lost, connections are refused.
    DatabaseDown {
        /// Which database.
        database: DatabaseIndex,
        /// How long.
        lasts: SimSpan,
    },
    /// A background job makes every `Work` step of a service take longer: it holds locks that the work waits for.
    SlowWork {
        /// Which service.
        service: ServiceIndex,
        /// What it adds.
        adds: Spread,
        /// How long the job runs.
        lasts: SimSpan,
    },
    /// Instances crash and start again.
    InstancesLost {
        /// Which service.
        service: ServiceIndex,
        /// How many, those with the lowest numbers.
        count: u32,
    },
    /// The process that holds a lock of the service's cache crashes, or the next one to take it.
    LockHolderLost {
        /// Which service.
        service: ServiceIndex,
    },
    /// Somebody else makes a change.
    Change(Intervention),
}

impl World {
    /// Breaks something.
    pub fn inject(&mut self, fault: Fault) {
        let now = self.now;
        self.digest.add(now);
        match fault {
            Fault::CacheNodeLost { cache, failover, survivors } => {
                (self.caches[cache].down, self.caches[cache].down_since) = (true, now);
                self.caches[cache].survivors = survivors;
                self.log(LogKind::CacheDown, cache as u32);
                self.events.at(now + failover.0, Control::CacheBack { cache: cache as u16 });
            }
            Fault::DatabaseDown { database, lasts } => {
                self.database_lost(database);
                self.log(LogKind::DatabaseDown, database as u32);
                self.events.at(now + lasts.0, Control::DatabaseBack { database: database as u16 });
            }
            Fault::SlowWork { service, adds, lasts } => {
                let it = &mut self.services[service];
                it.jobs += 1;
                it.slowed = Some((Sampler::new(adds), it.jobs));
                let (service, job) = (service as u16, it.jobs);
                self.events.at(now + lasts.0, Control::JobOver { service, job });
            }
            Fault::InstancesLost { service, count } => {
                let ready = self.services[service].staying();
                for instance in ready.into_iter().take(count as usize) {
                    self.restart_instance(service as u16, instance);
                }
            }
            Fault::LockHolderLost { service } => {
                self.services[service].loses_lock_holder = true;
                let holder = self.services[service].spec.cache.and_then(|cache| {
                    let held = |l: &&((u16, u16), u64)| l.0.0 == service as u16 && l.1 > now;
                    self.caches[cache].locks.values().find(held).map(|l| l.0.1)
                });
                if let Some(instance) = holder {
                    self.lose_lock_holder(service as u16, instance);
                }
            }
            Fault::Change(intervention) => self.apply(intervention),
        }
    }

    /// The process that holds a lock crashes; it gives nothing back.
    pub(super) fn lose_lock_holder(&mut self, service: u16, instance: u16) {
        self.services[service as usize].loses_lock_holder = false;
        self.restart_instance(service, instance);
    }
}
