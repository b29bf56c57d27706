//! Incident files, good and bad: what loads, what is reported, and where it points.

use std::fs;
use std::path::{Path, PathBuf};

use pagerdrill::incident::{Diagnostic, Severity, library, load};
use proptest::prelude::*;

const MINIMAL: &str = include_str!("incidents/good/minimal.ron");
const CALLS: &str = include_str!("incidents/good/calls.ron");

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
fn check(from: &str, to: &str, expected: (Severity, &str, &str)) {
    check_in(MINIMAL, from, to, expected);
}

/// The same in the file that has every part.
#[track_caller]
fn check_calls(from: &str, to: &str, expected: (Severity, &str, &str)) {
    check_in(CALLS, from, to, expected);
}

#[track_caller]
fn check_in(text: &str, from: &str, to: &str, (severity, at, message): (Severity, &str, &str)) {
    assert!(text.contains(from), "the fixture has no {from}");
    let text = text.replacen(from, to, 1);
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
        "levers: [RateLimit, Scale(\"api\"), PoolSize(service: \"app\")",
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
fn services_calls_and_pools_that_do_not_fit() {
    check_calls(
        "service: \"stock\", timeout",
        "service: \"stick\", timeout",
        (E, "\"stick\"", "no service \"stick\""),
    );
    check_calls("confirm: (service: \"stock\"", "confirm: (service: \"s\"", (E, "\"s\"", "no service \"s\""));
    check_calls(
        "routes: { \"edge\": \"100%\", ",
        "routes: { \"edge\": \"90%\", ",
        (E, "{ \"edge\"", "do not add up"),
    );
    let second = "services: { \"b\": (instances: 1, start_up: \"1s\", drain: \"1s\", handling: Fixed(\"1ms\"), steps: \
        [Work(name: \"w\", takes: Fixed(\"1ms\"))]),";
    check("services: {", second, (E, "(name: \"lb\"", "no route to any of them"));
    check_calls(
        "name: \"canary.reserve\"",
        "name: \"stock.reserve\"",
        (E, "\"stock.reserve\"", "another service"),
    );
    check_calls(
        "query: Fixed(\"2ms\"), pool: \"writes\"",
        "query: Fixed(\"2ms\")",
        (E, "Query(", "has 2 pools"),
    );
    check_calls(
        "io: Fixed(\"5ms\"), pool: \"reads\"",
        "io: Fixed(\"5ms\"), pool: \"read\"",
        (E, "\"read\"", "called \"read\""),
    );
    check_calls(
        "low: \"1ms\", high: \"3ms\"",
        "low: \"4ms\", high: \"3ms\"",
        (E, "Uniform", "longer than the longest"),
    );
    check_calls("soft_ttl: \"20s\"", "soft_ttl: \"40s\"", (E, "\"40s\"", "longer than the `ttl`"));
    check_calls("factor: 2.0", "factor: 0.5", (E, "0.5", "a factor of 0.5"));
    check_calls("wait: (\"50ms\", \"200ms\")", "wait: (\"5s\", \"200ms\")", (E, "(\"5s\"", "shortest wait"));
    check(
        "cache: \"cache\", database: \"db\",",
        "database: \"db\", reading: (coalesce: true),",
        (E, "true", "does nothing"),
    );
}

#[test]
fn settings_of_what_is_not_there() {
    let lever = |to: &str| format!("Set({to}), Set(ServeStale(\"stock\"))");
    let check_lever = |to: &str, expected| check_calls("Set(ServeStale(\"stock\"))", &lever(to), expected);
    check_lever(
        "CallTimeout(\"edge\", \"stock.reserv\")",
        (E, "\"stock.reserv\"", "no call of service \"edge\""),
    );
    check_lever("Coalesce(\"edge\")", (E, "\"edge\"", "has no cache"));
    check_lever("OriginRate(\"edge\")", (E, "\"edge\"", "has no pool"));
    check_lever("Route(\"stock\")", (E, "\"stock\"", "no route to service \"stock\""));
    check_lever("Ttl(\"order\")", (E, "\"order\"", "no cached kind of read \"order\""));
    check_lever("Cores(\"bd\")", (E, "\"bd\"", "no database \"bd\""));
    let value = |knob: &str, to: &str| format!("(\"10:07:00\", Set({knob}, {to}))");
    let check_value = |knob: &str, to: &str, expected| {
        check_calls("(\"10:07:00\", Set(OriginRate(\"stock\"), Off))", &value(knob, to), expected);
    };
    check_value("OriginRate(\"stock\")", "On", (E, "On", "does not suit"));
    check_value("OriginRate(\"stock\")", "Rate(\"0/s\")", (E, "Rate(", "not possible here"));
    check_value("Cores(\"db\")", "Off", (E, "Off", "does not suit"));
    check_value("Workers(\"edge\")", "Number(2.5)", (E, "Number(2.5)", "not a whole number"));
    check_value("Route(\"canary\")", "Share(\"150%\")", (E, "Share(", "not possible here"));
    check_value("Coalesce(\"stock\")", "On", (W, "Set(Coalesce", "no lever offers this"));
}

/// What is not there at the start can be charted when a lever can bring it.
#[test]
fn a_lever_brings_series_of_its_own() {
    let charted = MINIMAL.replacen("series: \"latency.p99\"", "series: \"origin.refused\"", 1);
    let refused = load("charted", &charted).diagnostics;
    assert!(
        matches!(refused.as_slice(), [d] if d.message.contains("no series \"origin.refused\"")),
        "{refused:?}"
    );
    let offered = charted.replacen("levers: [", "levers: [Set(OriginRate(\"api\")), ", 1);
    assert_eq!(load("offered", &offered).diagnostics, []);
}

#[test]
fn what_others_do_must_be_possible_too() {
    check_calls(
        "SlowWork(service: \"stock\"",
        "SlowWork(service: \"canary\"",
        (E, "\"canary\"", "no step `Work`"),
    );
    check_calls(
        "Do(Set(CallTimeout(\"edge\", \"stock",
        "Do(Set(CallTimeout(\"edge\", \"stack",
        (E, "\"stack.reserve\"", "no call"),
    );
    check_calls("Span(\"250ms\")", "Number(2)", (E, "Number(2)", "does not suit"));
}

#[test]
fn variants_that_cannot_be_made_or_cannot_run() {
    let patient = "\"services.stock.instances\": \"3\"";
    let set = |to: &str, expected| check_calls(patient, to, expected);
    set("\"services.stok.instances\": \"3\"", (E, "\"3\"", "did you mean `stock`?"));
    set("\"services.stock.reading.orgin.rate\": \"3\"", (E, "\"3\"", "did you mean `origin`?"));
    set("\"services.stock.deadline\": \"500 parsecs\"", (E, "\"500 parsecs\"", "not a length of time"));
    set("\"services.stock.instances\": \"3, workers: 4\"", (E, "\"3, workers: 4\"", "cannot be"));
    set("\"services.stock.instances\": \"0\"", (E, "\"patient\"", "0 instances"));
    set("\"services.stock.database\": \"bd\"", (E, "\"patient\"", "no database \"bd\""));
    check_calls(
        "without: [\"a job\"]",
        "without: [\"job\"]",
        (E, "\"job\"", "nothing that happens is called"),
    );
    check_calls(
        "service: \"stock\", count: 1",
        "service: \"stack\", count: 1",
        (E, "\"stack\"", "no service"),
    );
    check_calls("variant: \"no job\"", "variant: \"no jog\"", (E, "\"no jog\"", "no variant"));
    check_calls("\"as it is\", \"no job\"", "\"as it was\", \"no job\"", (E, "\"as it was\"", "no variant"));
    check_calls("chart: \"operations", "chart: \"operation", (E, "\"operation.failure_ratio\"", "no series"));
}

#[test]
fn what_a_follow_up_applies_is_held_to_what_variants_are() {
    let stuck = include_str!("incidents/good/stuck.ron");
    let attempts = "\"services.api.pools.main.attempts\": \"1\"";
    check_in(
        stuck,
        attempts,
        "\"services.api.pols.main.attempts\": \"1\"",
        (E, "\"1\"", "did you mean `pools`?"),
    );
    check_in(stuck, attempts, "\"services.api.pools.main.attempts\": \"few\"", (E, "\"few\"", "cannot be"));
    check_in(stuck, attempts, "\"services.api.instances\": \"0\"", (E, "applies", "0 instances"));
    check_in(
        stuck,
        "    follow_ups: [",
        "    look_alikes: [\"stuck\"],\n    follow_ups: [",
        (E, "\"stuck\"", "no look-alike of itself"),
    );
}

/// Times and words that a variant changes, and all the rest stays.
#[test]
fn a_variant_is_the_incident_with_its_changes_and_no_others() {
    let incident = load("calls", CALLS).incident.expect("a good file");
    let patient = incident.variant("patient").expect("a variant");
    let (was, is) = (incident.spec(), patient.spec());
    assert_eq!(patient.variant_name(), Some("patient"));
    assert_ne!(incident.hash(), patient.hash());
    assert_eq!(patient.script().len(), incident.script().len() + 1);
    let mut back = is.clone();
    let stock = back.services.iter().position(|s| s.name == "stock").expect("the service");
    assert_eq!((back.services[stock].instances, was.services[stock].instances), (3, 2));
    for (changed, original) in back.services.iter_mut().zip(&was.services) {
        (changed.instances, changed.workers) = (original.instances, original.workers);
        (changed.steps, changed.reading) = (original.steps.clone(), original.reading);
    }
    back.reads[0].keys = was.reads[0].keys;
    assert_eq!(back, *was);
    let quiet = incident.variant("no job").expect("a variant");
    assert_eq!((quiet.spec(), quiet.script().len()), (was, incident.script().len() - 1));
    let error = incident.variant("no jog").expect_err("there is none");
    assert_eq!(error.to_string(), "the incident has no variant \"no jog\"; did you mean \"no job\"?");
}

/// Whatever is written out and read in again is the same: variants rest on it.
#[test]
fn changing_nothing_changes_nothing() {
    let mut incidents: Vec<_> = library::shipped().into_iter().map(|shipped| shipped.text).collect();
    incidents.extend(fixtures("good").into_iter().map(|(_, text)| text));
    for text in incidents {
        let incident = load("same", &text).incident.expect("a good file");
        let balancer = format!("{:?}", incident.file().system.balancer.name);
        let set = format!("(what: \"same\", set: {{ \"balancer.name\": {balancer} }})");
        let variant = ron::from_str(&set).expect("a variant");
        let same = incident.changed("same", &variant).expect("nothing is changed");
        assert_eq!(same.spec(), incident.spec());
        assert_eq!(same.script(), incident.script());
    }
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
        which in 0usize..8,
        cuts in proptest::collection::vec((0.0f64..1.0, 0usize..40, "[\\PC\\n]{0,6}|[(){}\\[\\],:\"]|[0-9]{1,12}|NaN|-1"), 1..4),
        end in 0.0f64..1.0,
        truncate in any::<bool>(),
    ) {
        let mut texts: Vec<String> = library::shipped().into_iter().map(|shipped| shipped.text).collect();
        texts.extend([MINIMAL.to_owned(), CALLS.to_owned()]);
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
        let colons: Vec<usize> = CALLS.match_indices(": ").map(|(i, _)| i + 2).collect();
        let from = colons[((colons.len() - 1) as f64 * pick) as usize];
        let length = CALLS[from..].find([',', ')', '\n']).unwrap_or(0);
        let mut text = CALLS.to_owned();
        text.replace_range(from..from + length, &value);
        survives(&text);
    }
}
