//! The incident file: schema, loading, checking, diagnostics, expectations, the shipped library.
//!
//! An [`Incident`] comes out of [`load`] and out of nothing else, so whoever holds one holds a file that was checked:
//! its names exist, its times lie on its clock, and the engine can run it. Loading takes text; reading files is the
//! business of whoever calls it.

mod check;
mod diagnose;
pub mod expect;
mod knob;
pub mod library;
mod load;
mod locate;
mod lower;
pub mod schema;
mod variant;

pub use crate::telemetry::closest;
pub use check::{LOG_STREAMS, series_of};
pub use diagnose::{Diagnostic, Severity};
pub use knob::Kind;
pub(crate) use load::unreadable;
pub use load::{Incident, Loaded, draw, load};
pub(crate) use locate::{Outline, Step};
pub use lower::lower;
pub use variant::VariantError;
