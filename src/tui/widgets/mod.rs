//! Pieces that several screens draw.

pub(crate) mod chart;
pub(crate) mod filter;
pub(crate) mod list;
