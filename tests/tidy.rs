//! What a compiler cannot check: layers that point one way, names that must not appear, files that must agree.

use std::fs;
use std::path::{Path, PathBuf};

/// Layers from the bottom up; a module may use those before it.
const LAYERS: &[&str] = &["units", "sim", "telemetry", "incident", "game", "score", "report"];
/// What stands on top of them, with what each may use besides.
const TOPS: &[(&str, &[&str])] = &[
    ("headless", &[]),
    ("store", &[]),
    ("tui", &["headless", "store"]),
    ("cli", &["headless", "store", "tui"]),
];

/// Modules that must give the same on every machine.
const REPEATABLE: &[&str] = &["sim", "telemetry", "incident", "game", "score"];

fn rust_files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else if entry.extension().is_some_and(|e| e == "rs") {
                found.push(entry);
            }
        }
    }
    found.sort();
    found
}

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The module that a file belongs to: `sim` for `src/sim/world.rs`.
fn module(file: &Path) -> String {
    let inside = file.strip_prefix(src()).unwrap();
    inside.components().next().unwrap().as_os_str().to_string_lossy().trim_end_matches(".rs").to_owned()
}

/// Code without comments and without the tests at its end.
fn code(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap();
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    text.lines().map(|l| l.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

fn allowed(module: &str) -> Vec<&str> {
    if let Some(i) = LAYERS.iter().position(|l| *l == module) {
        return LAYERS[..=i].to_vec();
    }
    let mut all = LAYERS.to_vec();
    all.push(
        TOPS.iter().find(|t| t.0 == module).unwrap_or_else(|| panic!("src/{module} is no known layer")).0,
    );
    all.extend(TOPS.iter().find(|t| t.0 == module).unwrap().1);
    all
}

#[test]
fn layers_point_one_way() {
    let mut wrong = Vec::new();
    for file in rust_files(&src()) {
        let own = module(&file);
        if own == "lib" || own == "main" {
            continue;
        }
        let allowed = allowed(&own);
        for (i, line) in code(&file).lines().enumerate() {
            for part in line.split("crate::").skip(1) {
                let used: String = part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                let known = LAYERS.contains(&used.as_str()) || TOPS.iter().any(|t| t.0 == used);
                if known && !allowed.contains(&used.as_str()) {
                    wrong.push(format!("{}:{}: {own} uses {used}", file.display(), i + 1));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "arrows the wrong way:\n{}", wrong.join("\n"));
}

#[test]
fn repeatable_layers_touch_nothing_outside() {
    let outside = [
        "std::fs",
        "std::env",
        "std::thread",
        "std::time",
        "std::process",
        "std::net",
        "std::io",
        "HashMap",
        "HashSet",
        "Instant::now",
        "SystemTime",
        "ratatui",
        "crossterm",
        "chrono::",
        "directories::",
        "println!",
        "eprintln!",
    ];
    let mut wrong = Vec::new();
    for file in rust_files(&src()).iter().filter(|f| REPEATABLE.contains(&module(f).as_str())) {
        for (i, line) in code(file).lines().enumerate() {
            for word in outside.iter().filter(|w| line.contains(*w)) {
                wrong.push(format!("{}:{}: {word}", file.display(), i + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "reaching outside:\n{}", wrong.join("\n"));
}

#[test]
fn nothing_in_the_source_knows_an_incident_by_name() {
    let incidents = Path::new(env!("CARGO_MANIFEST_DIR")).join("incidents");
    let names: Vec<String> = fs::read_dir(incidents)
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.is_dir())
        .map(|p| p.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    assert!(!names.is_empty());
    let mut wrong = Vec::new();
    for file in rust_files(&src()) {
        let text = code(&file);
        wrong.extend(names.iter().filter(|n| text.contains(*n)).map(|n| format!("{}: {n}", file.display())));
    }
    assert!(wrong.is_empty(), "an incident's name in the source:\n{}", wrong.join("\n"));
}

#[test]
fn every_dependency_says_why_it_is_there() {
    let manifest = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).unwrap();
    let mut inside = false;
    let mut wrong = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            inside = line.ends_with("dependencies]");
        } else if inside && line.contains(" = ") && !line.starts_with('#') && !line.contains(" # ") {
            wrong.push(line.to_owned());
        }
    }
    assert!(wrong.is_empty(), "no reason given:\n{}", wrong.join("\n"));
}
