#![doc = include_str!("architecture.md")]

pub mod cli;
pub mod game;
pub mod headless;
pub mod incident;
pub mod report;
pub mod score;
pub mod sim;
pub mod store;
pub mod telemetry;
pub mod tui;
pub mod units;
