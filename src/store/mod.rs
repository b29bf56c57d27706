//! Files that are kept between runs: saved runs, progress, and where the player's settings lie.
//!
//! They lie in the platform's place for the program's data, or where `PAGERDRILL_HOME` points. Every file is written
//! beside its final name and moved there, so that a crash leaves the old one or the new one, never half of one.

mod curriculum;
mod progress;
mod runs;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::incident::Incident;

pub use curriculum::{BLIND, Curriculum, Drill, RETEST_DAYS, Standing, Suggestion, Trend};
pub use progress::{Finished, Progress};
pub use runs::{Saved, latest_run, load_run, runs_folder, save_finding, save_run, save_run_to, saved_runs};

/// Where the program keeps its files.
///
/// # Errors
/// When the platform names no such place.
pub fn home() -> io::Result<PathBuf> {
    if let Some(place) = std::env::var_os("PAGERDRILL_HOME").filter(|p| !p.is_empty()) {
        return Ok(PathBuf::from(place));
    }
    directories::ProjectDirs::from("", "", "pagerdrill").map(|d| d.data_dir().to_owned()).ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::NotFound,
            "there is no home directory to keep files in; set PAGERDRILL_HOME to a folder",
        )
    })
}

/// Where the player's settings lie.
///
/// # Errors
/// When the platform names no such place.
pub fn settings_folder() -> io::Result<PathBuf> {
    if std::env::var_os("PAGERDRILL_HOME").is_some_and(|p| !p.is_empty()) {
        return home();
    }
    directories::ProjectDirs::from("", "", "pagerdrill").map(|d| d.config_dir().to_owned()).ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::NotFound,
            "there is no home directory to keep settings in; set PAGERDRILL_HOME to a folder",
        )
    })
}

/// How somebody stands today with these incidents, and with the blind drill where there is something to draw.
pub fn curriculum(incidents: &[Arc<Incident>], progress: &Progress) -> Curriculum {
    let mut drills: Vec<Drill> = incidents.iter().map(|incident| Drill::of(incident.file())).collect();
    if incidents.iter().any(|incident| !incident.file().blind.is_empty()) {
        drills.push(Drill::blind());
    }
    Curriculum::of(drills, progress, chrono::Local::now().date_naive())
}

/// Writes a file whole or not at all.
///
/// # Errors
/// What the file system says.
pub fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
        fs::create_dir_all(folder)?;
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let beside = path.with_file_name(name);
    let written = fs::File::create(&beside).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    let moved = written.and_then(|()| fs::rename(&beside, path));
    if moved.is_err() {
        let _ = fs::remove_file(&beside);
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_written_whole_and_nothing_is_left_beside_it() {
        let folder = tempfile::TempDir::new().expect("a folder");
        let path = folder.path().join("deep").join("run.ron");
        write_whole(&path, "one").expect("written");
        write_whole(&path, "two").expect("written again");
        assert_eq!(fs::read_to_string(&path).expect("read"), "two");
        let blocked = folder.path().join("deep").join("folder");
        fs::create_dir_all(blocked.join("full")).expect("a folder");
        assert!(write_whole(&blocked, "x").is_err(), "a folder is in the way");
        let left = fs::read_dir(folder.path().join("deep")).expect("a folder").count();
        assert_eq!(left, 2, "the file and the folder");
    }
}
