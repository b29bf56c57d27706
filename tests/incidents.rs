//! Incident files, good and bad: what loads, what is reported, and where it points.

use std::fs;
use std::path::{Path, PathBuf};

use pagerdrill::incident::{Diagnostic, Severity, library, load};
use proptest::prelude::*;

const MINIMAL: &str = include_str!("incidents/good/minimal.ron");

fn fixtures(kind: &str) -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/incidents").join(kind);
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).expect("fixtures").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files.into_iter().map(|path| (path.clone(), fs::read_to_string(path).expect("text"))).collect()
}

fn in_a_line(d: &Diagnostic) -> String {
    format!("{}:{} {}: {}", d.line, d.column, d.severity.label(), d.message)
}

#[test]
fn every_shipped_incident_loads_without_a_diagnostic() {
    for shipped in library::shipped() {
        let loaded = load(&shipped.id, &shipped.text);
        assert_eq!(loaded.diagnostics, [], "{}", shipped.id);
        assert_eq!(
            loaded.incident.expect("loads").file().id,
            shipped.id,
            "a folder is named like its incident"
        );
    }
}

#[test]
fn good_files_load_without_a_diagnostic() {
    for (path, text) in fixtures("good") {
        let loaded = load("good", &text);
        assert!(
            loaded.diagnostics.is_empty() && loaded.incident.is_some(),
            "{path:?}: {:?}",
            loaded.diagnostics
        );
    }
}

#[test]
fn bad_files_are_refused_with_everything_that_is_wrong() {
    let mut found = String::new();
    for (path, text) in fixtures("bad") {
        let loaded = load("bad", &text);
        assert!(loaded.incident.is_none(), "{path:?}");
        found.push_str(&format!("{}\n", path.file_name().unwrap_or_default().display()));
        for d in &loaded.diagnostics {
            found.push_str(&format!("  {}\n", in_a_line(d)));
            found.push_str(&d.help.as_ref().map(|help| format!("    {help}\n")).unwrap_or_default());
        }
    }
    insta::assert_snapshot!(found);
}

/// Replaces the first `from` in the smallest good file, and expects one diagnostic with this severity, pointing at
/// text that begins like this, with a message that contains this.
#[track_caller]
fn check(from: &str, to: &str, (severity, at, message): (Severity, &str, &str)) {
    assert!(MINIMAL.contains(from), "the fixture has no {from}");
    let text = MINIMAL.replacen(from, to, 1);
    let loaded = load("edited", &text);
    let all: Vec<String> = loaded.diagnostics.iter().map(in_a_line).collect();
    let [found] = loaded.diagnostics.as_slice() else { panic!("{from} -> {to}: {all:#?}") };
    let pointed_at = found.span.clone().map(|span| &text[span]);
    assert!(
        found.severity == severity
            && pointed_at.is_some_and(|text| text.starts_with(at))
            && found.message.contains(message),
        "{from} -> {to}: {all:?} at {pointed_at:?}"
    );
    assert_eq!(loaded.incident.is_some(), severity == Severity::Warning);
}

const E: Severity = Severity::Error;
const W: Severity = Severity::Warning;

#[test]
fn what_the_reader_of_the_text_finds() {
    check("format: 1", "format: 0", (E, "0", "too old"));
    check("format: 1", "format: 2", (E, "2", "newer"));
    check("level: Beginner", "level: Beginer", (E, "Beginer", "Beginer"));
    check("\"100ms\"", "\"100 parsecs\"", (E, "100 parsecs", "not a length of time"));
    check("size: 10", "size: -10", (E, "", ""));
    check("size: 10,", "", (E, "", "size"));
}

#[test]
fn names_that_do_not_exist() {
    check(
        "levers: [RateLimit, Scale(\"api\")",
        "levers: [RateLimit, Scale(\"api\"), PoolSize(\"app\")",
        (E, "\"app\"", "no service \"app\""),
    );
    check(
        "CacheNodeLost(cache: \"cache\"",
        "CacheNodeLost(cache: \"cash\"",
        (E, "\"cash\"", "no cache \"cash\""),
    );
    check("database: \"db\"", "database: \"bd\"", (E, "\"bd\"", "no database \"bd\""));
    check("from: \"ann\"", "from: \"bob\"", (E, "\"bob\"", "no person \"bob\""));
    check(
        "service: \"api\", instances: 4",
        "service: \"ipa\", instances: 4",
        (E, "\"ipa\"", "no service \"ipa\""),
    );
    check("plan: \"senior\"", "plan: \"junior\"", (E, "\"junior\"", "no plan \"junior\""));
    check("\"log:cache\"", "\"log:cash\"", (E, "\"log:cash\"", "no log stream"));
    check("\"traces\"", "\"trace\"", (E, "\"trace\"", "nothing on the screen"));
    check(
        "series: \"latency.p99\"",
        "series: \"latency.p98\"",
        (E, "\"latency.p98\"", "no series \"latency.p98\""),
    );
    check("{db.cpu.primary}", "{db.cpu.replica}", (E, "{db.cpu.replica}", "no series \"db.cpu.replica\""));
    check("p99 {latency.p99}", "p99 {latency.p99", (E, "{", "not closed"));
    check(
        "requests.attempt.*",
        "requests.atempt.*",
        (E, "\"requests.atempt.*\"", "matches no recorded series"),
    );
    check(
        "Mean(\"operations.failure_ratio\")",
        "Mean(\"operations.*\")",
        (E, "\"operations.*\"", "no series"),
    );
    check(
        "Reads miss\", series: \"cache.hit_ratio\"",
        "Reads miss\", series: \"cache.hits\"",
        (E, "\"cache.hits\"", "no series"),
    );
}

#[test]
fn times_that_do_not_fit_the_clock() {
    check("(at: \"10:02:00\"", "(at: \"11:02:00\"", (E, "\"11:02:00\"", "outside the incident's clock"));
    check(
        "(\"10:05:00\", \"50/s\")",
        "(\"09:05:00\", \"50/s\")",
        (E, "\"09:05:00\"", "outside the incident's clock"),
    );
    check(
        "(\"10:07:00\", NoRateLimit)",
        "(\"10:03:30\", NoRateLimit)",
        (E, "\"10:03:30\"", "stands behind 10:05:00"),
    );
    check("page: \"10:03:00\"", "page: \"12:03:00\"", (E, "\"12:03:00\"", "outside the incident's clock"));
    check("end: \"10:10:00\"", "end: \"10:00:00\"", (E, "\"10:00:00\"", "ends when it starts"));
    check(
        "(\"10:00:00\", \"10:01:00\")",
        "(\"10:02:00\", \"10:01:00\")",
        (E, "(\"10:02:00\", \"10:01:00\")", "before it begins"),
    );
    check("opens: \"10:03:00\"", "opens: \"10:02:30\"", (W, "\"10:02:30\"", "before the page"));
    check("within: \"1m\"", "within: \"20m\"", (W, "\"20m\"", "the run ends before"));
    check(
        "\"10:00:00\", \"40/s\"",
        "\"10:01:00\", \"40/s\"",
        (W, "\"10:01:00\"", "does not begin with the clock"),
    );
}

#[test]
fn a_system_that_cannot_run() {
    check("share: \"60%\"", "share: \"50%\"", (E, "clients", "do not add up"));
    check("share: \"75%\"", "share: \"70%\"", (E, "reads", "do not add up"));
    check("cores: 1.0", "cores: 0.0", (E, "(hosts", "0 cores"));
    check("instances: 2", "instances: 0", (E, "\"api\"", "0 instances"));
    check("n: 100, s: 1.0", "n: 0, s: 1.0", (E, "(share", "has no keys"));
    check("s: 1.0", "s: NaN", (E, "NaN", "exponent"));
    check("k: 4", "k: 0", (E, "0", "0 stages"));
    check("warm: \"100%\"", "warm: \"101%\"", (E, "\"101%\"", "above 100 %"));
    check("RateLimit(\"30/s\")", "RateLimit(\"0/s\")", (E, "\"0/s\"", "lets nothing through"));
    check("hosts: [\"primary\"]", "hosts: [\"primary\", \"primary\"]", (E, "\"primary\"", "too"));
    check("\"mobile\":", "\"mob*ile\":", (E, "(share", "cannot be the name"));
}

#[test]
fn a_story_that_does_not_hold_together() {
    check("id: \"minimal\"", "id: \"Not Good\"", (E, "\"Not Good\"", "cannot be a name"));
    check("id: \"deploy\"", "id: \"node\"", (E, "\"node\"", "too"));
    check("id: \"what\"", "id: \"later\"", (E, "\"later\"", "too"));
    check("title: \"Small\"", "title: \" \"", (E, "\" \"", "empty"));
    check("web -> api", &"-".repeat(80), (E, "----", "columns"));
    check("plans: {", "plans: { \"Big Plan\": (what: \"x\", steps: []),", (E, "(what", "cannot be a name"));
    check("\"deploy\", by", "\"big deploy\", by", (E, "\"big deploy\"", "not one word"));
    check("within: AtMost(0.01)", "within: Between(2.0, 1.0)", (E, "Between(2.0, 1.0)", "empty"));
    check("within: AtMost(0.01)", "within: Times(\"10:01\", \"10:02\")", (E, "Times(", "two times of day"));
    check("name: \"it ends\"", "name: \"quiet before\"", (E, "\"quiet before\"", "too"));
    check("hints: [\"Look at the cache.\"]", "hints: [\"a\", \"b\", \"c\", \"d\"]", (E, "[\"a\"", "4 hints"));
    check("text: \"Cold\", fits: true", "text: \"Cold\", fits: false", (E, "[(text", "no option fits"));
    check("key: true", "key: false", (W, "expect", "no figure must hold"));
    check("[RateLimit, Scale(\"api\"), ", "[RateLimit, ", (W, "Scale(", "no lever offers"));
    check("people: {", "people: { \"ann\": (name: \"Ann\", role: \"x\"),", (E, "\"ann\"", "twice"));
}

#[test]
fn two_files_that_differ_in_line_ends_have_one_hash() {
    let hash = |text: &str| load("f", text).incident.map(|incident| incident.hash());
    assert_eq!(hash(MINIMAL), hash(&MINIMAL.replace('\n', "\r\n")));
    assert_ne!(hash(MINIMAL), hash(&MINIMAL.replacen("Small", "Smaller", 1)));
}

/// Whatever text is loaded: no panic, and every place is in the text.
fn survives(text: &str) {
    let loaded = load("mutated", text);
    for d in &loaded.diagnostics {
        let span = d.span.clone().unwrap_or_default();
        assert!(text.get(span).is_some(), "{d}");
        let _ = d.to_string();
    }
    let broken = loaded.diagnostics.iter().any(|d| d.severity == Severity::Error);
    assert_eq!(loaded.incident.is_none(), broken);
    if let Some(incident) = loaded.incident {
        let _ = incident.prepared(0.01);
    }
}

/// The last character boundary at or before a share of the text.
fn place(text: &str, share: f64) -> usize {
    let mut at = ((text.len() as f64) * share) as usize;
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn no_cut_or_changed_text_breaks_the_loader(
        which in 0usize..4,
        cuts in proptest::collection::vec((0.0f64..1.0, 0usize..40, "[\\PC\\n]{0,6}|[(){}\\[\\],:\"]|[0-9]{1,12}|NaN|-1"), 1..4),
        end in 0.0f64..1.0,
        truncate in any::<bool>(),
    ) {
        let mut texts: Vec<String> = library::shipped().into_iter().map(|shipped| shipped.text).collect();
        texts.push(MINIMAL.to_owned());
        let mut text = texts[which % texts.len()].clone();
        for (share, length, insert) in cuts {
            let from = place(&text, share);
            let mut to = (from + length).min(text.len());
            while !text.is_char_boundary(to) {
                to += 1;
            }
            text.replace_range(from..to, &insert);
        }
        if truncate {
            text.truncate(place(&text, end));
        }
        survives(&text);
    }

    #[test]
    fn no_changed_value_breaks_the_loader(pick in 0.0f64..1.0, value in "[0-9]{1,20}|-?[0-9]\\.[0-9]e[0-9]{1,3}|inf|NaN|\"[a-z0-9:/%.* ]{0,12}\"|None|\\[\\]|\\(\\)|\\{\\}") {
        // Values stand behind a colon.
        let colons: Vec<usize> = MINIMAL.match_indices(": ").map(|(i, _)| i + 2).collect();
        let from = colons[((colons.len() - 1) as f64 * pick) as usize];
        let length = MINIMAL[from..].find([',', ')', '\n']).unwrap_or(0);
        let mut text = MINIMAL.to_owned();
        text.replace_range(from..from + length, &value);
        survives(&text);
    }
}
