//! The subcommands that read incident files: what they print, and their exit codes.

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;

const MINIMAL: &str = "tests/incidents/good/minimal.ron";
const CALLS: &str = "tests/incidents/good/calls.ron";
const MISTAKES: &str = "tests/incidents/bad/several-mistakes.ron";

fn pagerdrill(args: &[&str]) -> assert_cmd::assert::Assert {
    let mut command = Command::cargo_bin("pagerdrill").expect("the program is built");
    command.current_dir(env!("CARGO_MANIFEST_DIR")).env("NO_COLOR", "1").args(args).assert()
}

#[test]
fn check_accepts_good_files_and_folders_of_them() {
    pagerdrill(&["check", MINIMAL]).code(0).stdout(contains("minimal.ron: fine"));
    pagerdrill(&["check", "incidents"]).code(0).stdout(contains("error").not());
    pagerdrill(&["check", MINIMAL, "--json"]).code(0).stdout("[]\n");
}

#[test]
fn check_says_where_and_what_to_do() {
    pagerdrill(&["check", MISTAKES])
        .code(2)
        .stdout(contains("several-mistakes.ron:33:24"))
        .stdout(contains("there is no cache \"cahce\""))
        .stdout(contains("did you mean \"cache\"?"))
        .stdout(contains("7 errors"))
        .stdout(contains("\u{1b}").not());
    pagerdrill(&["check", "tests/incidents/bad", "--json"])
        .code(2)
        .stderr(contains("there is no incident.ron"));
}

#[test]
fn check_as_json_is_a_list_of_places() {
    let out = pagerdrill(&["check", MISTAKES, "--json"]).code(2).get_output().stdout.clone();
    let list: serde_json::Value = serde_json::from_slice(&out).expect("JSON");
    assert_eq!(list.as_array().map(Vec::len), Some(7));
    assert_eq!(list[2]["line"], 33);
    assert_eq!(list[2]["column"], 24);
    assert_eq!(list[2]["severity"], "error");
    assert_eq!(list[2]["file"], MISTAKES);
    assert_eq!(list[2]["message"], "there is no cache \"cahce\"");
    assert_eq!(list[2]["help"], "did you mean \"cache\"?");
}

#[test]
fn warnings_fail_only_when_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = std::fs::read_to_string(MINIMAL).expect("the fixture").replace("key: true", "key: false");
    let path = folder.path().join("incident.ron");
    std::fs::write(&path, text).expect("written");
    let path = path.to_str().expect("a path");
    pagerdrill(&["check", path]).code(0).stdout(contains("0 errors, 1 warning"));
    pagerdrill(&["check", "--strict", path]).code(1);
}

#[test]
fn bad_names_and_bad_files_end_with_2_and_say_why() {
    pagerdrill(&["check", "no/such/file.ron"]).code(2).stderr(contains("no such file or folder"));
    pagerdrill(&["check"]).code(2).stderr(contains("FILE|DIR"));
    pagerdrill(&["show", MISTAKES]).code(2).stderr(contains("cannot be used"));
    pagerdrill(&["test", MISTAKES]).code(2).stderr(contains("cahce"));
    pagerdrill(&["test", MINIMAL, "--seeds", "0"]).code(2);
    pagerdrill(&["test", MINIMAL, "--scale", "nought"]).code(2).stderr(contains("a scale is a number"));
}

#[test]
fn every_shipped_incident_is_listed_and_shown_without_giving_it_away() {
    let out = pagerdrill(&["list", "--json"]).code(0).get_output().stdout.clone();
    let list: serde_json::Value = serde_json::from_slice(&out).expect("JSON");
    for incident in list.as_array().expect("a list") {
        let id = incident["id"].as_str().expect("an id");
        pagerdrill(&["list"]).code(0).stdout(contains(id));
        let told = pagerdrill(&["show", id, "--json", "--spoilers"]).code(0).get_output().stdout.clone();
        let told: serde_json::Value = serde_json::from_slice(&told).expect("JSON");
        let summary = told["mechanism"]["summary"].as_str().expect("a summary");
        pagerdrill(&["show", id, "--json"]).code(0).stdout(contains(summary).not());
        let start: String = summary.chars().take(30).collect();
        pagerdrill(&["show", id]).code(0).stdout(contains(start.as_str()).not());
        pagerdrill(&["show", id, "--spoilers"]).code(0).stdout(contains(start.as_str()));
    }
}

#[test]
fn names_lists_what_a_file_can_name() {
    pagerdrill(&["show", MINIMAL, "--names"])
        .code(0)
        .stdout(contains("db.cpu.primary"))
        .stdout(contains("log:query_timeout"));
}

#[test]
fn tests_print_the_same_whatever_runs_at_the_same_time() {
    let told = |jobs: &str| {
        let args = ["test", CALLS, "--seeds", "2", "--scale", "0.2", "--only-figures", "--jobs", jobs];
        let out = pagerdrill(&args).code(0).get_output().stdout.clone();
        String::from_utf8(out).expect("text")
    };
    let one = told("1");
    assert_eq!(one, told("3"));
    assert!(one.contains("without the job") && one.contains("seed 2"), "{one}");
    pagerdrill(&["test", "--all", CALLS]).code(2).stderr(contains("cannot be used with"));
}

#[test]
fn fairness_alone_fails_when_an_incident_is_not_fair() {
    // Nothing is harmed in it, so doing nothing is as good as anything.
    pagerdrill(&["test", CALLS, "--fair-seeds", "2", "--scale", "0.2"])
        .code(1)
        .stdout(contains("unfair  doing nothing does not help"))
        .stdout(contains("follows the senior's plan"))
        .stdout(contains("figure").not());
    pagerdrill(&["test", CALLS, "--fair-seeds", "2", "--seeds", "3"]).code(2);
}

#[test]
fn a_lab_compares_variants_and_values() {
    let lab = |args: &[&str]| {
        let mut all = vec!["lab", CALLS, "--scale", "0.2"];
        all.extend(args);
        pagerdrill(&all)
    };
    lab(&[]).code(0).stdout(contains("as it is")).stdout(contains("patient: The call may take longer"));
    lab(&["--sweep", "services.edge.workers=1,50,None", "--set", "services.edge.deadline=None"])
        .code(0)
        .stdout(contains("services.edge.workers=None"))
        .stdout(contains("as it is").not());
    lab(&["--set", "services.edge.workers=1"]).code(0).stdout(contains("as it is"));
    let out = lab(&["--json"]).code(0).get_output().stdout.clone();
    let told: serde_json::Value = serde_json::from_slice(&out).expect("JSON");
    assert_eq!(told["rows"].as_array().map(Vec::len), Some(3));
    assert_eq!(told["rows"][1]["name"], "no job");
    assert!(told["rows"][1]["values"][1]["value"].as_f64().is_some_and(|calls| calls > 0.0));
    lab(&["--set", "services.edge.worker=1"]).code(2).stderr(contains("did you mean `workers`?"));
    lab(&["--set", "services.edge.workers=many"]).code(2).stderr(contains("cannot be `many`"));
    lab(&["--set", "services.edge.workers=0"]).code(2).stderr(contains("cannot run"));
    lab(&["--set", "workers"]).code(2).stderr(contains("is no change"));
    lab(&["--chart", "no.series"]).code(2).stderr(contains("--names"));
    pagerdrill(&["lab", MINIMAL]).code(2).stderr(contains("has no lab"));
    pagerdrill(&["run", CALLS, "--variant", "no job", "--scale", "0.2"])
        .code(0)
        .stdout(contains("Figures of the incident: 1 of 1 held"));
    pagerdrill(&["run", CALLS, "--variant", "no jog"]).code(2).stderr(contains("did you mean \"no job\"?"));
}

#[test]
fn test_fails_exactly_when_a_figure_that_must_hold_does_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = std::fs::read_to_string(MINIMAL).expect("the fixture");
    // Only the figure of the healthy minute is left.
    let cut = text.find("        (\n            name: \"it ends\"").expect("the second figure");
    let good = format!("{}    ],\n)\n", &text[..cut]);
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        path.to_str().expect("a path").to_owned()
    };
    let good_file = write("good.ron", &good);
    pagerdrill(&["test", &good_file, "--only-figures", "--seeds", "2"])
        .code(0)
        .stdout(contains("seed 2"))
        .stdout(contains("1 of 1 figures hold, 1 of 1 key figures"));

    let missed = good.replace("AtMost(0.01)", "AtLeast(0.5)");
    let missed_file = write("missed.ron", &missed);
    pagerdrill(&["test", &missed_file, "--only-figures"]).code(1).stdout(contains("MISS key"));
    pagerdrill(&["test", &missed_file, "--only-figures", "--scale", "0.5"])
        .code(0)
        .stdout(contains("at full size only"));
    let out =
        pagerdrill(&["test", &missed_file, "--only-figures", "--json"]).code(1).get_output().stdout.clone();
    let told: serde_json::Value = serde_json::from_slice(&out).expect("JSON");
    assert_eq!(told["incidents"][0]["held"], false);
    assert_eq!(told["incidents"][0]["expectations"][0]["seeds"][0]["held"], false);

    let noted = missed.replace("key: true, source", "note: \"the system is too small\", source");
    pagerdrill(&["test", &write("noted.ron", &noted), "--only-figures"])
        .code(0)
        .stdout(contains("note"))
        .stdout(contains("the system is too small"));
}

/// What a scheduler would do: one part for each machine, then the parts together.
#[test]
fn parts_of_a_test_merge_into_the_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let test = ["test", "tests/incidents/good/calls.ron", "--seeds", "3"];
    let whole = pagerdrill(&test).get_output().clone();
    let part = |shard: &str| {
        let made = pagerdrill(&[&test[..], &["--shard", shard]].concat()).code(0).get_output().stdout.clone();
        let path = folder.path().join(shard.replace('/', "-of-"));
        std::fs::write(&path, made).expect("written");
        path.to_str().expect("a path").to_owned()
    };
    let (one, two) = (part("1/2"), part("2/2"));
    let merged = pagerdrill(&["merge", &two, &one]).get_output().clone();
    assert_eq!((merged.status.code(), merged.stdout), (whole.status.code(), whole.stdout));

    pagerdrill(&["merge", &one]).code(2).stderr(contains("part 2 of 2 is missing"));
    pagerdrill(&["merge", &one, &one]).code(2).stderr(contains("are the same part"));
    pagerdrill(&["merge", "Cargo.toml"]).code(2).stderr(contains("is not what `test --shard` prints"));
    pagerdrill(&[&test[..], &["--shard", "3/2"]].concat()).code(2).stderr(contains("1/4 to 4/4"));
}

#[test]
fn real_threads_read_as_often_as_the_model_says() {
    let out =
        pagerdrill(&["lab", "load-bearing-cache", "--real", "--json"]).code(0).get_output().stdout.clone();
    let told: serde_json::Value = serde_json::from_slice(&out).expect("JSON");
    for (way, reads) in [(0, 100), (1, 1)] {
        for counted in ["reads_real", "reads_model", "served"] {
            let expected = if counted == "served" { 100 } else { reads };
            assert_eq!(told["outcomes"][way][counted], expected, "{told:#}");
        }
    }
}

#[test]
fn a_run_is_watched_second_by_second_where_there_is_no_terminal() {
    let out = pagerdrill(&["lab", MINIMAL, "--watch", "--scale", "0.5"]).code(0).get_output().stdout.clone();
    let text = String::from_utf8(out).expect("text");
    let lines: Vec<&str> = text.lines().collect();
    // A heading, and a line for each second of ten minutes with both ends.
    assert_eq!(lines.len(), 602);
    assert!(lines[0].starts_with("minimal, as it is; seed 1, scale 0.5; cache entry: item"), "{}", lines[0]);
    assert!(lines[122].starts_with("10:02:01 | cache unreachable"), "{}", lines[122]);
    assert!(lines[122].contains("api 2/2 ready") && lines[122].contains("served "), "{}", lines[122]);
    assert!(!text.contains('\u{1b}'));
}

#[test]
fn a_row_that_is_not_there_is_refused_with_the_nearest() {
    pagerdrill(&["lab", MINIMAL, "--watch", "as it was"])
        .code(2)
        .stderr(contains("no row or variant is called \"as it was\"; did you mean \"as it is\"?"));
    pagerdrill(&["lab", MINIMAL, "--watch", "quite another"])
        .code(2)
        .stderr(contains("there is \"as it is\""));
}

/// The outage outlives its cause: a load that the system carries when it is healthy holds it down once it is down.
#[test]
fn lab_finds_the_load_that_brings_it_down_and_the_one_at_which_it_comes_back() {
    let args = ["lab", "load-bearing-cache", "--hysteresis", "--json"];
    let out = pagerdrill(&args).code(0).get_output().stdout.clone();
    let found: serde_json::Value = serde_json::from_slice(&out).expect("JSON");
    let load = |name: &str| found[name].as_f64().expect(name);
    let normal = found["sweep"]["normal"].as_f64().expect("normal");
    assert!(load("returns_after_at") < normal && normal < load("falls_at"), "{found:#}");
    let again = pagerdrill(&args).code(0).get_output().stdout.clone();
    assert_eq!(out, again, "the same every time");
    pagerdrill(&["lab", "load-bearing-cache", "--hysteresis", "--sweep", "a=1"])
        .code(2)
        .stderr(contains("cannot be used with"));
}
