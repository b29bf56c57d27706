//! Conservation: what must be true of a world at every instant, counted again from its records.
//!
//! This is an independent look at the state: it shares no counter with the code that it checks.

use super::request::Phase;
use super::world::World;

impl World {
    /// What does not add up, in words; empty when all is well. Walks over every record, so it is for tests.
    pub fn contradictions(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut same = |what: String, counted: u64, kept: u64| {
            if counted != kept {
                found.push(format!("{what}: counted {counted}, kept {kept}"));
            }
        };
        let c = &self.counters;
        let in_flight = |p: Phase| matches!(p, Phase::Waiting | Phase::Connecting | Phase::Querying);
        let (mut operations, mut requests) = (0u64, 0u64);
        for (_, r) in self.requests.iter().filter(|(_, r)| r.phase != Phase::Free && !r.orphan) {
            operations += 1;
            requests += u64::from(in_flight(r.phase));
        }
        same("operations under way".to_owned(), operations, c.operations_started - c.operations_ended());
        let answered = c.requests_ok + c.requests_errors + c.requests_rejected + c.requests_abandoned;
        same("requests under way".to_owned(), requests, c.requests_received() - answered);

        for (s, service) in self.services.iter().enumerate() {
            for (i, instance) in service.instances.iter().enumerate() {
                let here = |phases: &[Phase]| {
                    self.requests
                        .iter()
                        .filter(|(_, r)| {
                            r.service as usize == s && r.instance as usize == i && phases.contains(&r.phase)
                        })
                        .count() as u64
                };
                let name = format!("instance {i} of service {s}");
                let pool = &instance.pool;
                same(
                    format!("{name}: requests in it"),
                    here(&[Phase::Waiting, Phase::Connecting, Phase::Querying]),
                    u64::from(instance.in_flight),
                );
                let holding = here(&[Phase::Connecting, Phase::Querying]);
                same(format!("{name}: connections in use"), holding, u64::from(pool.in_use));
                let open = u64::from(pool.in_use) + pool.idle.len() as u64;
                same(format!("{name}: connections open"), open, u64::from(pool.open));
                same(format!("{name}: waiting"), here(&[Phase::Waiting]), u64::from(pool.n_waiting));
            }
        }
        for (d, database) in self.databases.iter().enumerate() {
            for (h, host) in database.hosts.iter().enumerate() {
                let name = format!("host {h} of database {d}");
                let querying = self
                    .requests
                    .iter()
                    .filter(|(_, r)| r.phase == Phase::Querying && r.host as usize == h)
                    .filter(|(_, r)| self.services[r.service as usize].spec.database == d)
                    .count() as u64;
                let (for_requests, others) = host.owners();
                same(format!("{name}: queries of requests"), querying, for_requests);
                same(format!("{name}: queries running"), for_requests + others, u64::from(host.running()));
                let idle: usize = self
                    .services
                    .iter()
                    .filter(|s| s.spec.database == d)
                    .flat_map(|s| &s.instances)
                    .map(|i| i.pool.idle.iter().filter(|c| c.0 as usize == h).count())
                    .sum();
                let open = querying + others + idle as u64;
                same(format!("{name}: connections"), open, u64::from(host.connections));
                let over = host.connections.saturating_sub(host.connection_limit);
                same(format!("{name}: connections over the limit"), 0, u64::from(over));
            }
        }
        found
    }
}
