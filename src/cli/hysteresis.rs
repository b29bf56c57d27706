//! `pagerdrill lab --hysteresis`: the load at which a system falls over, and the one at which it comes back.

use serde_json::json;

use super::table::aligned;
use crate::incident::Incident;
use crate::score::{Hysteresis, Level, Staircase, hysteresis};
use crate::sim::ENGINE_VERSION;
use crate::units::Unit;

/// Version of what `--json` prints.
const SCHEMA: u32 = 1;
/// Columns of a full bar.
const BAR: usize = 12;

/// The staircase, as text or JSON.
pub(super) fn run(incident: &Incident, staircase: Staircase, as_json: bool) -> String {
    let swept = hysteresis(incident, staircase);
    if as_json {
        let value = json!({
            "schema": SCHEMA,
            "engine": ENGINE_VERSION,
            "incident": incident.file().id,
            "hash": format!("{:016x}", incident.hash()),
            "seed": staircase.seed,
            "scale": staircase.scale,
            "falls_at": swept.falls_at(),
            "returns_at": swept.returns_at(),
            "returns_after_at": swept.after.returns_at(),
            "sweep": swept,
        });
        return format!("{value:#}\n");
    }
    let file = incident.file();
    format!(
        "{}  {}\nload up and down, {} s a step, seed {}, scale {}; share of operations not served in time\n\n{}\n{}",
        file.id,
        file.title,
        swept.hold_s,
        staircase.seed,
        staircase.scale,
        aligned(&rows(&swept)),
        super::wrapped(&swept.text(), ""),
    )
}

/// A row for each load, the highest first: how it went on the way up and on the way down.
fn rows(swept: &Hysteresis) -> Vec<Vec<String>> {
    let cells = |level: Option<Level>| match level {
        Some(Level { harmed, .. }) => {
            let full = (harmed * BAR as f64).ceil() as usize;
            [Unit::Ratio.show(harmed), "█".repeat(full.min(BAR))]
        }
        None => [String::new(), String::new()],
    };
    let head = ["operations", "up", "", "down", "", "after what happens", ""].map(str::to_owned).to_vec();
    // The levels of two ways down are the same but for rounding.
    let at =
        |levels: &[Level], per_s: f64| levels.iter().copied().find(|l| (l.per_s / per_s - 1.0).abs() < 0.01);
    let row = |up: &Level| {
        let mut row = vec![Unit::PerSecond.show(up.per_s)];
        row.extend(cells(Some(*up)));
        row.extend(cells(at(&swept.down, up.per_s)));
        row.extend(cells(at(&swept.after.levels, up.per_s)));
        row
    };
    std::iter::once(head).chain(swept.up.iter().rev().map(row)).collect()
}
