//! Every figure that a shipped incident states, measured at full scale as `pagerdrill test` does: one seed here, three
//! there.

use std::process::Command;

/// Operations of one run above which an incident's figures take many minutes in a test build: `pagerdrill test --all`
/// measures those, and here they are only held to be fair.
const MOST_OPERATIONS: f64 = 60e6;

/// Operations of a whole run at full scale.
fn operations(name: &str) -> f64 {
    let shipped = pagerdrill::incident::library::find(name).expect("it is shipped");
    let incident = pagerdrill::incident::load(&shipped.id, &shipped.text).incident.expect("it loads");
    let traffic = &incident.spec().traffic;
    let ends = traffic.iter().skip(1).map(|t| t.0.0).chain([incident.length().0]);
    traffic.iter().zip(ends).map(|(&(from, per_s), to)| per_s * to.saturating_sub(from.0) as f64 / 1e9).sum()
}

/// The names of the shipped incidents, as the program lists them.
fn shipped() -> Vec<String> {
    let output =
        Command::new(env!("CARGO_BIN_EXE_pagerdrill")).args(["list", "--json"]).output().expect("it runs");
    let list: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let incidents = list["incidents"].as_array().or_else(|| list.as_array()).expect("a list");
    incidents.iter().map(|i| i["id"].as_str().expect("an id").to_owned()).collect()
}

/// Many seeds at a small scale, where a run takes little: chance must not decide who wins. `--fair-seeds 20` does more of
/// them.
#[test]
fn shipped_incidents_are_fair_for_several_seeds() {
    let output = Command::new(env!("CARGO_BIN_EXE_pagerdrill"))
        .args(["test", "--all", "--fair-seeds", "3", "--scale", "0.1"])
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn key_figures_hold_at_full_scale() {
    let names = shipped();
    let (names, dear): (Vec<String>, Vec<String>) =
        names.into_iter().partition(|name| operations(name) <= MOST_OPERATIONS);
    assert!(names.len() > dear.len(), "{dear:?} are too large to test here");
    for name in names {
        let output = Command::new(env!("CARGO_BIN_EXE_pagerdrill"))
            .args(["test", &name, "--only-figures"])
            .output()
            .expect("it runs");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
        // The verdict must rest on figures: a table without key rows would pass as well.
        assert!(said.lines().filter(|l| l.starts_with("ok   key")).count() >= 10, "{said}");
    }
}
