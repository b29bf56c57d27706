//! Finds and reads what INCIDENT names: a shipped incident, a file, or a folder with an `incident.ron` in it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use miette::{GraphicalReportHandler, GraphicalTheme};

use crate::incident::{Diagnostic, Incident, closest, library, load};

/// The file that an incident's folder holds.
const FILE_NAME: &str = "incident.ron";

/// The text of an incident file.
#[derive(Clone, Debug)]
pub struct Source {
    /// What messages call it: a path, or the name of a shipped incident's file.
    pub label: String,
    /// The text.
    pub text: String,
}

/// Reads what `name` names. A path wins over a shipped name when there is such a file or folder.
pub fn source(name: &str) -> anyhow::Result<Source> {
    let path = Path::new(name);
    if path.is_dir() && path.join(FILE_NAME).is_file() {
        return read(&path.join(FILE_NAME));
    }
    if path.is_file() {
        return read(path);
    }
    if let Some(shipped) = library::find(name) {
        return Ok(Source { label: format!("{}/{FILE_NAME}", shipped.id), text: shipped.text });
    }
    let shipped = library::shipped();
    let hint = match closest(name, shipped.iter().map(|s| s.id.as_str())) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "`pagerdrill list` shows the shipped ones".to_owned(),
    };
    anyhow::bail!("no incident is called `{name}`, and there is no such file or folder; {hint}")
}

/// The shipped incidents, the easier first.
pub fn shipped() -> Vec<Arc<Incident>> {
    // Each on a thread of its own: the first screen waits for them.
    let shipped = library::shipped();
    let mut all: Vec<Arc<Incident>> = std::thread::scope(|threads| {
        let load = |shipped| threads.spawn(move || incident_of(shipped));
        let loading: Vec<_> = shipped.iter().map(load).collect();
        loading.into_iter().filter_map(|thread| thread.join().ok().flatten()).map(Arc::new).collect()
    });
    all.sort_by_key(|incident| (incident.file().level, incident.file().minutes));
    all
}

fn incident_of(shipped: &library::Shipped) -> Option<Incident> {
    load(&shipped.id, &shipped.text).incident
}

/// Loads what `name` names. Warnings are kept quiet: they are for authors, who use `check`.
pub fn incident(name: &str) -> anyhow::Result<Arc<Incident>> {
    loaded(source(name)?)
}

/// Loads all that the given names mean, as [`sources`] reads them.
pub fn incidents(names: &[String]) -> anyhow::Result<Vec<Arc<Incident>>> {
    sources(names)?.into_iter().map(loaded).collect()
}

fn loaded(source: Source) -> anyhow::Result<Arc<Incident>> {
    let loaded = load(&source.label, &source.text);
    match loaded.incident {
        Some(incident) => Ok(Arc::new(incident)),
        None => {
            let shown =
                show(&loaded.diagnostics, &source.text, std::io::IsTerminal::is_terminal(&std::io::stderr()));
            let _ = std::io::stderr().write_all(shown.as_bytes());
            anyhow::bail!("{} cannot be used", source.label)
        }
    }
}

/// All incident files that the given names mean; a folder without an `incident.ron` stands for those of its folders.
pub fn sources(names: &[String]) -> anyhow::Result<Vec<Source>> {
    let mut found = Vec::new();
    for name in names {
        let path = Path::new(name);
        if path.is_dir() && !path.join(FILE_NAME).is_file() {
            let mut files: Vec<PathBuf> = fs::read_dir(path)
                .with_context(|| format!("cannot read the folder {name}"))?
                .filter_map(|entry| entry.ok().map(|entry| entry.path().join(FILE_NAME)))
                .filter(|file| file.is_file())
                .collect();
            files.sort();
            anyhow::ensure!(!files.is_empty(), "there is no {FILE_NAME} in {name} or in its folders");
            for file in files {
                found.push(read(&file)?);
            }
        } else {
            found.push(source(name)?);
        }
    }
    Ok(found)
}

fn read(path: &Path) -> anyhow::Result<Source> {
    let label = path.display().to_string();
    let bytes = fs::read(path).with_context(|| format!("cannot read {label}"))?;
    let text = String::from_utf8(bytes).ok().with_context(|| format!("{label} is not UTF-8 text"))?;
    // Editors on Windows may put a mark in front of UTF-8 text.
    let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
    Ok(Source { label, text })
}

/// Diagnostics for a person, each with its line of the file; in colour on a terminal, unless NO_COLOR says otherwise.
pub fn show(diagnostics: &[Diagnostic], text: &str, terminal: bool) -> String {
    let colour = terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let theme = if colour { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let handler = GraphicalReportHandler::new_themed(theme).with_width(100).with_context_lines(1);
    let mut shown = String::new();
    for diagnostic in diagnostics {
        let report = diagnostic.report(text);
        if handler.render_report(&mut shown, report.as_ref()).is_err() {
            shown.push_str(&diagnostic.to_string());
        }
        shown.push('\n');
    }
    shown
}
