//! Every figure that a shipped incident states, measured at full scale as `pagerdrill test` does: one seed here, three
//! there.

use std::process::Command;

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
        .args(["test", "--all", "--fair-seeds", "5", "--scale", "0.1"])
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn key_figures_hold_at_full_scale_and_the_incident_is_fair() {
    let names = shipped();
    assert!(!names.is_empty());
    for name in names {
        let output = Command::new(env!("CARGO_BIN_EXE_pagerdrill"))
            .args(["test", &name, "--seeds", "1"])
            .output()
            .expect("it runs");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
        // The verdict must rest on figures: a table without key rows would pass as well.
        assert!(said.lines().filter(|l| l.starts_with("ok   key")).count() >= 10, "{said}");
        // The command tells what is unfair and does not fail for it; a shipped incident has to be fair.
        let fairness: Vec<&str> = said
            .lines()
            .skip_while(|l| l.trim() != "fairness")
            .skip(1)
            .take_while(|l| !l.trim().is_empty())
            .collect();
        assert!(fairness.len() >= 4 && fairness.iter().all(|l| l.starts_with("ok  ")), "{said}");
    }
}
