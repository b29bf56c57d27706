//! How the parts of the running system hang together, as an operator knows it.

use crate::incident::schema::Name;
use crate::sim::Spec;
use crate::sim::spec::Step;

/// The parts and how they are joined. Sizes are those of the run, which may be smaller than described.
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    /// Client populations with their share of the operations.
    pub clients: Vec<(Name, f64)>,
    /// The load balancer.
    pub balancer: Name,
    /// Services behind it.
    pub services: Vec<ServiceNode>,
    /// Caches.
    pub caches: Vec<Name>,
    /// Databases.
    pub databases: Vec<DatabaseNode>,
}

/// A service, what it reads from and whom it calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceNode {
    /// Its name.
    pub name: Name,
    /// The cache that it asks first.
    pub cache: Option<Name>,
    /// The database that it asks next.
    pub database: Option<Name>,
    /// Services that it calls, in the order of its steps.
    pub calls: Vec<Name>,
    /// Whether the balancer sends requests to it.
    pub in_front: bool,
}

/// A database with its hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseNode {
    /// Its name.
    pub name: Name,
    /// Its hosts, the primary first.
    pub hosts: Vec<Name>,
    /// Connections that each host accepts.
    pub connections: u32,
}

impl Topology {
    pub(super) fn of(spec: &Spec) -> Topology {
        let cache = |i: usize| spec.caches.get(i).map(|c| c.name.clone());
        let database = |i: usize| spec.databases.get(i).map(|d| d.name.clone());
        let called = |step: &Step| match step {
            Step::Call(call) => spec.services.get(call.service).map(|s| s.name.clone()),
            _ => None,
        };
        Topology {
            clients: spec.clients.iter().map(|c| (c.name.clone(), c.share)).collect(),
            balancer: spec.balancer.name.clone(),
            services: spec
                .services
                .iter()
                .enumerate()
                .map(|(i, s)| ServiceNode {
                    name: s.name.clone(),
                    cache: s.cache.and_then(cache),
                    database: s.database.and_then(database),
                    calls: s.steps.iter().filter_map(called).collect(),
                    in_front: spec.balancer.routes.iter().any(|route| route.0 == i),
                })
                .collect(),
            caches: spec.caches.iter().map(|c| c.name.clone()).collect(),
            databases: spec
                .databases
                .iter()
                .map(|d| DatabaseNode {
                    name: d.name.clone(),
                    hosts: d.hosts.clone(),
                    connections: d.connections,
                })
                .collect(),
        }
    }
}
