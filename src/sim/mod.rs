//! The engine: a request-level simulation of a system. It knows no players, screens or files.

pub mod faults;
pub mod intervention;
pub mod spec;

pub use faults::Fault;
pub use intervention::Intervention;
