//! Progress: the finished runs with their marks.

use std::fs;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::curriculum::BLIND;
use super::{home, write_whole};

/// The version of the progress file.
const FORMAT: u32 = 1;
/// Finished runs that are kept; the oldest go first.
const KEPT: usize = 1_000;

/// What was played so far.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    pub(super) format: u32,
    /// Finished runs, the oldest first.
    pub finished: Vec<Finished>,
}

/// A finished run.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Finished {
    /// The incident.
    pub incident: String,
    /// It was a blind drill on that incident's system.
    #[serde(default)]
    pub blind: bool,
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

    /// The runs of a drill, the oldest first: of an incident, or of the blind drill.
    pub fn runs<'a>(&'a self, drill: &'a str) -> impl Iterator<Item = &'a Finished> {
        self.finished.iter().filter(move |f| if f.blind { drill == BLIND } else { f.incident == drill })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_blind_drills_is_read() {
        let old =
            "(format: 1, finished: [(incident: \"a\", when: \"1\", mode: \"live\", seed: 1, marks: [])])";
        let progress: Progress = ron::from_str(old).expect("it is read");
        assert_eq!((progress.runs("a").count(), progress.runs(BLIND).count()), (1, 0));
    }
}
