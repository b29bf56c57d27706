//! The incident file: schema, loading, checking, diagnostics, the shipped library.

pub mod schema;
