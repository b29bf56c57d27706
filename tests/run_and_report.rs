//! The subcommands that run an incident, report a saved run, and play it again.

use assert_cmd::Command;
use predicates::prelude::*;
use serde_json::Value;
use tempfile::TempDir;

const INCIDENT: &str = "tests/incidents/good/stuck.ron";

fn pagerdrill(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("pagerdrill").expect("the program");
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(args);
    command
}

fn json(plan: &str, more: &[&str]) -> String {
    let out = pagerdrill(&["run", INCIDENT, "--plan", plan, "--json"]).args(more).assert().success();
    String::from_utf8(out.get_output().stdout.clone()).expect("UTF-8")
}

fn read(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn the_json_of_a_run_has_its_fields_and_is_the_same_twice() {
    let text = json("senior", &[]);
    let run = read(&text);
    assert_eq!(run["schema"], 1);
    for (field, value) in [("incident", "stuck"), ("plan", "senior"), ("start", "09:58:00")] {
        assert_eq!(run[field], value);
    }
    assert_eq!(run["outcome"]["state"], "recovered");
    assert_eq!(run["score"], Value::Null);
    assert_eq!(run["expectations"][0]["name"], "it ends");
    assert_eq!(run["expectations"][0]["held"], true);
    assert_eq!(run["journal"].as_array().map(Vec::len), Some(3));
    let series = &run["series"]["operations.failure_ratio"];
    assert_eq!((series["unit"].as_str(), series["step_s"].as_u64()), (Some("ratio"), Some(1)));
    assert_eq!(series["values"].as_array().map(Vec::len), Some(32 * 60));
    let harm = &run["harm"];
    let sum: u64 = ["served", "late", "shed", "failed"].iter().filter_map(|f| harm[f].as_u64()).sum();
    assert!((140_000..165_000).contains(&sum), "{harm}");
    assert!(run["requests_simulated"].as_u64() > Some(sum));

    let without_wall = |text: &str| text[..text.rfind("\"wall_s\"").expect("wall_s")].to_owned();
    assert_eq!(without_wall(&text), without_wall(&json("senior", &[])));
    assert_ne!(without_wall(&text), without_wall(&json("senior", &["--seed", "2"])));
}

#[test]
fn a_query_is_worked_out_from_what_was_recorded() {
    let query = "requests.received / operations.started";
    let run = read(&json("none", &["--query", query, "--query", "db.cpu.*", "--until", "10:01:00"]));
    let answers = run["queries"].as_array().expect("a list");
    assert_eq!((answers[0]["query"].as_str(), answers[0]["unit"].as_str()), (Some(query), Some("factor")));
    assert_eq!(answers[0]["values"], run["series"]["attempts.per_operation"]["values"]);
    let line = answers[1]["line"].as_str().expect("a name");
    assert_eq!(answers[1]["values"], run["series"][&format!("db.cpu.{line}")]["values"]);
    assert!(read(&json("none", &["--until", "10:01:00"])).get("queries").is_none());

    let args = ["run", INCIDENT, "--until", "10:01:00", "--query"];
    let refused = |query: &str| pagerdrill(&args).arg(query).assert().code(2);
    refused("operations.startet").stderr(predicates::str::contains("did you mean `operations.started`?"));
    refused("1 +").stderr(predicates::str::contains("column 4"));
    let out = pagerdrill(&args).arg(query).assert().success();
    out.stdout(predicates::str::contains("requests.received / operations.started: 1.00×"));
}

#[test]
fn a_run_of_a_variant_is_saved_and_replayed() {
    let folder = TempDir::new().expect("a folder");
    let saved = folder.path().join("variant.run");
    let saved = saved.to_str().expect("a path");
    const CALLS: &str = "tests/incidents/good/calls.ron";
    pagerdrill(&["run", CALLS, "--variant", "no job", "--scale", "0.2", "--save", saved]).assert().success();
    pagerdrill(&["replay", saved, "--incident", CALLS, "--verify"])
        .assert()
        .success()
        .stdout(predicates::str::contains("telemetry: the same"));
}

#[test]
fn stats_say_what_to_play_first() {
    let folder = TempDir::new().expect("a folder");
    let stats = |args: &[&str]| {
        let mut command = pagerdrill(&[&["stats"], args].concat());
        command.env("PAGERDRILL_HOME", folder.path());
        command.assert().success().get_output().stdout.clone()
    };
    let text = String::from_utf8(stats(&[])).expect("UTF-8");
    assert!(text.contains("Next: ") && text.contains("blind"), "{text}");
    let told: Value = serde_json::from_slice(&stats(&["--json"])).expect("JSON");
    assert_eq!(told["schema"], 1);
    assert_eq!(told["next"]["id"], told["drills"][0]["id"]);
    assert_eq!(told["drills"][0]["runs"], 0);
    assert!(told["drills"].as_array().is_some_and(|drills| drills.last().unwrap()["id"] == "blind"));
}

#[test]
fn doing_nothing_fails_and_until_stops_early() {
    let run = read(&json("none", &[]));
    assert_eq!(run["outcome"]["state"], "failing");
    assert!(run["outcome"]["failing"].as_f64() > Some(0.2));
    let run = read(&json("none", &["--until", "10:01:00"]));
    assert_eq!(run["outcome"]["state"], "unharmed");
    assert_eq!(run["simulated_s"], 180.0);
}

#[test]
fn a_plan_of_ones_own_is_read_from_a_file() {
    let folder = TempDir::new().expect("a folder");
    let plan = folder.path().join("plan.ron");
    std::fs::write(&plan, r#"(what: "mine", steps: [("10:00:00", RateLimit("40/s"))])"#).expect("written");
    let path = plan.to_str().expect("UTF-8");
    let run = read(&json(path, &["--until", "10:01:00"]));
    assert!(run["harm"]["shed"].as_u64() > Some(100), "{}", run["harm"]);
    assert_eq!(run["expectations"].as_array().map(Vec::len), Some(0));
    std::fs::write(&plan, "(what: 1)").expect("written");
    let bad = pagerdrill(&["run", INCIDENT, "--plan", path]).assert().code(2);
    bad.stderr(predicate::str::contains("is not a plan"));
}

#[test]
fn bad_arguments_are_said_and_end_with_2() {
    for (args, why) in [
        (&["run", "no-such"][..], "no incident is called"),
        (&["run", INCIDENT, "--plan", "junior"], "no plan \"junior\"; it has: senior, trap, none"),
        (&["run", INCIDENT, "--plan", "senoir"], "did you mean `senior`?"),
        (&["run", INCIDENT, "--plan", "nope.ron"], "nope.ron: there is no such file"),
        (&["run", INCIDENT, "--until", "23:00:00"], "not on the incident's clock"),
        (&["run", INCIDENT, "--until", "soon"], "time of day"),
        (&["run", INCIDENT, "--scale", "0"], "from 0.001 to 10"),
        (
            &["report", "no-such.ron"],
            "cannot read no-such.ron: there is no such file; `latest` names the run kept last",
        ),
        (&["report", "nope"], "/runs"),
        (&["report", "Cargo.toml"], "not a run file"),
        (&["replay", "latest"], "no run has been saved"),
    ] {
        let home = TempDir::new().expect("a folder");
        let out = pagerdrill(args).env("PAGERDRILL_HOME", home.path()).assert().code(2);
        out.stderr(predicate::str::contains(why));
    }
}

#[test]
fn a_saved_run_is_reported_in_three_forms_and_verified() {
    let folder = TempDir::new().expect("a folder");
    let run = folder.path().join("run.ron");
    let path = run.to_str().expect("UTF-8");
    pagerdrill(&["run", INCIDENT, "--plan", "trap", "--save", path]).assert().success();
    let form = |form: &str| {
        let out = pagerdrill(&["report", path, "--incident", INCIDENT, "--spoilers", "--format", form])
            .assert()
            .success();
        String::from_utf8(out.get_output().stdout.clone()).expect("UTF-8")
    };
    assert!(form("text").contains("Stabilise first"));
    assert!(form("md").starts_with("# Stuck: debrief"));
    assert!(form("html").starts_with("<!DOCTYPE html>"));
    assert_eq!(read(&form("json"))["trap"]["taken"], true);

    let verify = || pagerdrill(&["replay", path, "--incident", INCIDENT, "--verify"]);
    verify()
        .assert()
        .success()
        .stdout("telemetry: the same\nmarks: none were kept with this run (it was not finished)\n")
        .stderr("");
    let text = std::fs::read_to_string(&run).expect("the run");
    std::fs::write(&run, text.replace("telemetry: Some(\"", "telemetry: Some(\"0")).expect("written");
    verify().assert().code(1).stdout(predicate::str::contains("differs"));
    std::fs::write(&run, text.replace("engine: ", "engine: 9")).expect("written");
    verify().assert().code(2).stderr(predicate::str::contains("engine version"));
    std::fs::write(&run, text.replace("hash: \"", "hash: \"0")).expect("written");
    verify().assert().code(2).stderr(predicate::str::contains("has changed since this run"));
    let unknown = pagerdrill(&["replay", path]).assert().code(2);
    unknown.stderr(predicate::str::contains("--incident names its file"));
}

#[test]
fn a_first_loss_is_not_told_the_cause_before_something_was_written() {
    let home = TempDir::new().expect("a folder");
    let run = home.path().join("run.ron");
    let path = run.to_str().expect("UTF-8");
    let report = |more: &[&str]| {
        let out = pagerdrill(&["report", path, "--incident", INCIDENT])
            .args(more)
            .env("PAGERDRILL_HOME", home.path())
            .assert()
            .success();
        String::from_utf8(out.get_output().stdout.clone()).expect("UTF-8")
    };
    const CAUSE: &str = "Stuck by its own retries.";
    pagerdrill(&["run", INCIDENT, "--plan", "trap", "--save", path]).assert().success();
    for form in ["text", "md", "html"] {
        let told = report(&["--format", form]);
        assert!(!told.contains(CAUSE) && told.contains("spoilers"), "{told}");
    }
    assert!(report(&["--spoilers"]).contains(CAUSE));
    // An account of one's own, here an answer after the end, is all that is asked for.
    let lost = std::fs::read_to_string(&run).expect("the run");
    let answer = |question: u8| {
        format!("        (\"1920s\", Reflect(question: {question}, text: \"The database.\")),\n")
    };
    let with =
        |answers: &str| lost.replace("    ],\n    telemetry", &format!("{answers}    ],\n    telemetry"));
    std::fs::write(&run, with(&answer(0))).expect("written");
    assert!(report(&[]).contains(CAUSE));
    // And whoever has read the whole debrief of an earlier run knows it already.
    let runs = home.path().join("runs");
    std::fs::create_dir_all(&runs).expect("a folder");
    std::fs::write(&run, &lost).expect("written");
    assert!(!report(&[]).contains(CAUSE));
    std::fs::write(runs.join("earlier.ron"), with(&(answer(0) + &answer(1)))).expect("written");
    assert!(report(&[]).contains(CAUSE));
    // Nobody who recovered is asked.
    pagerdrill(&["run", INCIDENT, "--plan", "senior", "--save", path]).assert().success();
    std::fs::remove_dir_all(&runs).expect("removed");
    assert!(report(&[]).contains(CAUSE));
}

#[test]
fn a_run_is_forked_and_played_with_follow_ups() {
    let folder = TempDir::new().expect("a folder");
    let run = folder.path().join("run.ron");
    let path = run.to_str().expect("UTF-8");
    pagerdrill(&["run", INCIDENT, "--plan", "trap", "--save", path]).assert().success();
    let on = |args: &[&str], more: &[&str]| {
        pagerdrill(args).args([path, "--incident", INCIDENT]).args(more).assert()
    };
    on(&["fork"], &[]).success().stdout(predicate::str::contains("A     10:06:00  api to 40 instances"));
    let out = on(&["fork"], &["--at", "a", "--instead", "RateLimit(\"40/s\")", "--json"]).success();
    let told = read(&String::from_utf8_lossy(&out.get_output().stdout));
    assert_eq!(told["fork"]["what"], "A 10:06:00 api to 40 instances: instead rate limit 40/s");
    assert_eq!(told["fork"]["harm"].as_array().map(Vec::len), told["harm"]["none"].as_array().map(Vec::len));
    let shown = on(&["fork"], &["--at", "A", "--later", "2m"]).success();
    shown.stdout(predicate::str::contains("fork 1").and(predicate::str::contains("The fork")));
    let report = on(&["report"], &["--fork", "A:without", "--spoilers"]).success();
    report.stdout(predicate::str::contains("fork 1: A 10:06:00 api to 40 instances: left out"));
    for (args, why) in [
        (&["--at", "B", "--without"][..], "it has: page, A"),
        (&["--at", "page", "--without"], "say what to do instead"),
        (&["--at", "A", "--later", "5h"], "has run out"),
        (&["--at", "A", "--instead", "RollingRestart(service: \"api\", batch: 1)"], "does not offer"),
        (&["--at", "A", "--instead", "Faster"], "as in a plan"),
        (&["--at", "A"], "--without"),
    ] {
        on(&["fork"], args).code(2).stderr(predicate::str::contains(why));
    }
    let mended = on(&["replay"], &["--with", "budget"]).success();
    mended.stdout(
        predicate::str::contains("A retry budget.").and(predicate::str::contains("Nobody acts, with these")),
    );
    let none = on(&["replay"], &["--with", "alert"]).code(2);
    none.stderr(predicate::str::contains("no follow-up \"alert\" that can be switched on; there is budget"));
}
