//! Why a command was not carried out.

use std::fmt;

/// A command that was not carried out: what it was, why not, and what to do instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Refusal {
    /// What was asked for, such as `limit requests to 0/s`.
    pub what: String,
    /// Why it was refused.
    pub why: String,
    /// What to do instead.
    pub instead: String,
}

impl Refusal {
    /// A refusal in three short parts.
    pub fn new(what: impl Into<String>, why: impl Into<String>, instead: impl Into<String>) -> Refusal {
        Refusal { what: what.into(), why: why.into(), instead: instead.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Not done: {}. {} {}", self.what, self.why, self.instead)
    }
}
