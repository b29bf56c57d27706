//! The engine: a request-level discrete-event simulation of a system. It knows no players, screens or files.
//!
//! A [`World`] is built from a [`Spec`] and a seed and advanced to instants of simulated time. Operators change it
//! through [`Intervention`]s, accidents through [`Fault`]s. Same spec, seed and changes give the same run, bit by bit.

pub mod balancer;
pub mod cache;
mod call;
mod check;
pub mod client;
pub mod database;
pub mod digest;
pub mod events;
pub mod faults;
mod flow;
mod heap;
pub mod inspect;
mod instances;
pub mod intervention;
mod local;
pub mod math;
pub mod meter;
pub mod pool;
mod prefetch;
pub mod probe;
mod protect;
mod query;
mod read;
mod request;
pub mod rng;
pub mod service;
mod settings;
pub mod spec;
mod warm_up;
mod workload;
mod world;

pub use faults::Fault;
pub use intervention::Intervention;
pub use spec::Spec;
pub use world::{ServiceStatus, Status, World};

/// Version of the engine: it grows with every change of a run's results, so that a run file can say what made it.
pub const ENGINE_VERSION: u32 = 5;
