//! Saved runs: one RON file each.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{home, write_whole};
use crate::game::RunFile;

/// A saved run in the list of saved runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Saved {
    /// Where it lies.
    pub path: PathBuf,
    /// When it was written last.
    pub written: SystemTime,
    /// The run.
    pub run: RunFile,
}

/// The folder of saved runs.
///
/// # Errors
/// When there is no place for files.
pub fn runs_folder() -> io::Result<PathBuf> {
    Ok(home()?.join("runs"))
}

/// The name of a run's file: what it is and when it was begun, so that saving a run again replaces it. `begun` is a
/// date and time without spaces, such as `20260301-140312`.
fn name(run: &RunFile, begun: &str) -> String {
    format!("{}-{begun}-seed{}.ron", run.incident, run.seed)
}

/// Saves a run among the saved runs. Saving it again under the same `begun` replaces the file.
///
/// Everything that ends a run goes through here: quitting, signals, panics. It needs no terminal.
///
/// # Errors
/// What the file system says, or that there is no place for files.
pub fn save_run(run: &RunFile, begun: &str) -> io::Result<PathBuf> {
    let path = runs_folder()?.join(name(run, begun));
    write_whole(&path, &run.to_text())?;
    Ok(path)
}

/// Saves a finding, as JSON, under the name of the run that it belongs to, in a folder of its own: the folder of runs holds runs
/// only. Saving it again replaces the file.
///
/// # Errors
/// What the file system says, or that there is no place for files.
pub fn save_finding(json: &str, run: &RunFile, begun: &str) -> io::Result<PathBuf> {
    let path = home()?.join("findings").join(name(run, begun)).with_extension("json");
    write_whole(&path, json)?;
    Ok(path)
}

/// Saves a run as a file of the caller's choice.
///
/// # Errors
/// What the file system says.
pub fn save_run_to(run: &RunFile, path: &Path) -> io::Result<()> {
    write_whole(path, &run.to_text())
}

/// Reads a saved run.
///
/// # Errors
/// With the path and what is wrong with the file.
pub fn load_run(path: &Path) -> anyhow::Result<RunFile> {
    use anyhow::Context;
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    RunFile::from_text(&text).with_context(|| path.display().to_string())
}

/// Saved runs, the newest first. Files that are no runs are left out.
pub fn saved_runs() -> Vec<Saved> {
    let Ok(entries) = runs_folder().and_then(fs::read_dir) else { return Vec::new() };
    let mut all: Vec<Saved> = entries
        .filter_map(Result::ok)
        .filter(|e| e.path().extension().is_some_and(|x| x == "ron"))
        .filter_map(|e| {
            let written = e.metadata().ok()?.modified().ok()?;
            Some(Saved { run: load_run(&e.path()).ok()?, path: e.path(), written })
        })
        .collect();
    all.sort_by(|a, b| (b.written, &b.path).cmp(&(a.written, &a.path)));
    all
}

/// The newest saved run.
pub fn latest_run() -> Option<Saved> {
    saved_runs().into_iter().next()
}
