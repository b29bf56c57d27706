//! Conservation: what must be true of a world at every instant, counted again from its records.
//!
//! This is an independent look at the state: it shares no counter with the code that it checks.

use super::events::NEVER;
use super::request::{AFTER_SOURCE, BUDGETED, OFF_CPU, ORPHAN, Phase, Request, Role};
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
        let (mut operations, mut requests) = (0u64, 0u64);
        let of_clients = |r: &Request| r.role == Role::Client && r.phase != Phase::Free && !r.is(ORPHAN);
        for (_, r) in self.requests.iter().filter(|(_, r)| of_clients(r)) {
            operations += 1;
            requests += u64::from(r.phase.inside());
        }
        same("operations under way".to_owned(), operations, c.operations_started() - c.operations_ended());
        let answered = c.requests_ok() + c.requests_errors + c.requests_rejected + c.requests_abandoned;
        same("requests under way".to_owned(), requests, c.requests_received() - answered);

        for (s, service) in self.services.iter().enumerate() {
            let in_service = |r: &&Request| r.service as usize == s && r.phase.inside();
            let all = self.requests.iter().map(|(_, r)| r).filter(in_service);
            let after_source = all.filter(|r| r.is(AFTER_SOURCE)).count() as u64;
            let name = format!("service {s}");
            same(format!("{name}: after the source"), after_source, u64::from(service.origin_in_flight));
            for (i, instance) in service.instances.iter().enumerate() {
                let here: Vec<&Request> = self
                    .requests
                    .iter()
                    .map(|(_, r)| r)
                    .filter(|r| in_service(r) && r.instance as usize == i)
                    .collect();
                let count = |test: &dyn Fn(&Request) -> bool| here.iter().filter(|r| test(r)).count() as u64;
                let name = format!("instance {i} of service {s}");
                same(format!("{name}: records in it"), here.len() as u64, u64::from(instance.in_flight));
                let busy = count(&|r| r.role != Role::Refresh);
                same(format!("{name}: workers busy"), busy, u64::from(instance.busy()));
                let budgeted = count(&|r| r.is(BUDGETED));
                same(format!("{name}: reads of the source"), budgeted, u64::from(instance.origin.running));
                for flight in instance.flights.values() {
                    let reader = self.requests.get(flight.record);
                    let reads = reader.role == Role::Refresh && reader.phase.inside();
                    same(format!("{name}: who reads for others is there"), u64::from(reads), 1);
                }
                for (p, pool) in service.pools_of(i).iter().enumerate() {
                    let name = format!("pool {p} of {name}");
                    let in_pool =
                        |r: &Request, phases: &[Phase]| r.pool as usize == p && phases.contains(&r.phase);
                    let holding = count(&|r| in_pool(r, &[Phase::Connecting, Phase::Querying]));
                    let open = holding + pool.idle.len() as u64;
                    same(format!("{name}: connections open"), open, u64::from(pool.open));
                    let waiting = count(&|r| in_pool(r, &[Phase::Waiting]));
                    same(format!("{name}: waiting"), waiting, u64::from(pool.n_waiting));
                }
            }
        }
        for (h, host) in self.hosts.iter().enumerate() {
            let name = format!("host {h}");
            let here = |r: &&Request| r.phase == Phase::Querying && r.host as usize == h;
            let all = || self.requests.iter().map(|(_, r)| r).filter(here);
            let off_cpu = all().filter(|r| r.query == OFF_CPU).count() as u64;
            let on_cpu = all().count() as u64 - off_cpu;
            let (for_requests, others) = host.owners();
            same(format!("{name}: queries of requests"), on_cpu, for_requests);
            same(format!("{name}: queries running"), for_requests + others, u64::from(host.running()));
            let idle: usize = self
                .services
                .iter()
                .flat_map(|s| &s.pools)
                .map(|p| p.idle.iter().filter(|c| c.0 as usize == h).count())
                .sum();
            let open = on_cpu + off_cpu + others + idle as u64;
            same(format!("{name}: connections"), open, u64::from(host.connections));
            // Cancelled or not, the next query that ends is the one that is scheduled.
            let (scheduled, mut host) = (self.events.register_at(host.register), host.clone());
            same(format!("{name}: its next end"), host.next_end().unwrap_or(NEVER), scheduled);
        }
        found
    }
}
