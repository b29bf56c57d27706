//! One exercise: what happens, what the player does, what is seen.

pub mod command;
