//! How the parts of the running system hang together, as an operator knows it.

use crate::incident::schema::Name;
use crate::sim::Spec;

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

/// A service and what it reads from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceNode {
    /// Its name.
    pub name: Name,
    /// The cache that it asks first.
    pub cache: Name,
    /// The database that it asks next.
    pub database: Name,
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
        let cache = |i: usize| spec.caches.get(i).map_or_else(String::new, |c| c.name.clone());
        let database = |i: usize| spec.databases.get(i).map_or_else(String::new, |d| d.name.clone());
        Topology {
            clients: spec.clients.iter().map(|c| (c.name.clone(), c.share)).collect(),
            balancer: spec.balancer.name.clone(),
            services: spec
                .services
                .iter()
                .map(|s| ServiceNode {
                    name: s.name.clone(),
                    cache: cache(s.cache),
                    database: database(s.database),
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
