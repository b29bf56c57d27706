//! Progress: the finished runs with their marks.

use std::fs;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{home, write_whole};

/// The version of the progress file.
const FORMAT: u32 = 1;
/// Finished runs that are kept; the oldest go first.
const KEPT: usize = 1_000;

/// What was played so far.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    format: u32,
    /// Finished runs, the oldest first.
    pub finished: Vec<Finished>,
}

/// A finished run.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Finished {
    /// The incident.
    pub incident: String,
    /// When it was begun: `20260301-140312`.
    pub when: String,
    /// How it was played.
    pub mode: String,
    /// Seed.
    pub seed: u64,
    /// Marks by dimension.
    pub marks: Vec<(String, String)>,
}

impl Finished {
    /// A number to compare runs by: P counts 3, S 2, M 1.
    pub fn points(&self) -> usize {
        let worth = |letter: &str| match letter {
            "P" => 3,
            "S" => 2,
            "M" => 1,
            _ => 0,
        };
        self.marks.iter().map(|m| worth(&m.1)).sum()
    }
}

impl Default for Progress {
    fn default() -> Progress {
        Progress { format: FORMAT, finished: Vec::new() }
    }
}

fn path() -> io::Result<PathBuf> {
    Ok(home()?.join("progress.ron"))
}

impl Progress {
    /// What was kept; nothing when there is no file yet.
    ///
    /// # Errors
    /// When there is a file and it cannot be read; it is then better not to write over it.
    pub fn load() -> io::Result<Progress> {
        let path = path()?;
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Progress::default()),
            Err(e) => return Err(e),
        };
        let bad =
            |what: String| io::Error::new(io::ErrorKind::InvalidData, format!("{}: {what}", path.display()));
        let progress: Progress = ron::from_str(&text).map_err(|e| bad(e.to_string()))?;
        if progress.format != FORMAT {
            return Err(bad(format!("format {} is not {FORMAT}", progress.format)));
        }
        Ok(progress)
    }

    /// Adds a finished run, in place of what was kept of the same run before, and writes the file.
    ///
    /// # Errors
    /// What the file system says.
    pub fn add(&mut self, run: Finished) -> io::Result<()> {
        self.finished.retain(|f| (&f.incident, &f.when, f.seed) != (&run.incident, &run.when, run.seed));
        self.finished.push(run);
        let spare = self.finished.len().saturating_sub(KEPT);
        self.finished.drain(..spare);
        let style = ron::ser::PrettyConfig::new().depth_limit(3);
        let text = ron::ser::to_string_pretty(self, style).map_err(io::Error::other)?;
        write_whole(&path()?, &(text + "\n"))
    }

    /// The last run of an incident.
    pub fn last(&self, incident: &str) -> Option<&Finished> {
        self.finished.iter().rev().find(|f| f.incident == incident)
    }

    /// The best run of an incident, the later one of two that are as good.
    pub fn best(&self, incident: &str) -> Option<&Finished> {
        self.finished.iter().filter(|f| f.incident == incident).max_by_key(|f| f.points())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_run_has_the_most_points_and_the_last_is_the_newest() {
        let run = |incident: &str, when: &str, marks: &[&str]| Finished {
            incident: incident.to_owned(),
            when: when.to_owned(),
            mode: "live".to_owned(),
            seed: 1,
            marks: marks.iter().map(|m| (String::new(), (*m).to_owned())).collect(),
        };
        let progress = Progress {
            finished: vec![
                run("a", "1", &["P", "S"]),
                run("a", "2", &["P", "P", "-"]),
                run("b", "3", &["P", "P", "P"]),
                run("a", "4", &["U", "M"]),
            ],
            ..Progress::default()
        };
        assert_eq!(progress.best("a").map(|r| r.when.as_str()), Some("2"));
        assert_eq!(progress.last("a").map(|r| r.when.as_str()), Some("4"));
        assert_eq!(progress.best("c"), None);
    }
}
