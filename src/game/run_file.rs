//! The run file: what it takes to have a run again.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::command::Command;
use super::session::{Mode, Session, SessionOptions};
use crate::incident::Incident;
use crate::units::SimTime;

/// The version of the run file that this program writes and reads.
pub const FORMAT: u32 = 1;

/// A run: the incident, the seed, and what the player did. Everything else follows from these.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename = "Run")]
pub struct RunFile {
    /// Version of the format.
    pub format: u32,
    /// Name of the incident.
    pub incident: String,
    /// The variant of it that was played, when it was not the incident itself.
    #[serde(default)]
    pub variant: Option<String>,
    /// Hash of the incident's content, in hexadecimal.
    pub hash: String,
    /// Version of the engine.
    pub engine: u32,
    /// Seed.
    pub seed: u64,
    /// How it was played.
    pub mode: Mode,
    /// Size of the simulated system.
    pub scale: f64,
    /// How far the run got.
    pub until: SimTime,
    /// What the player did, and when.
    pub journal: Vec<(SimTime, Command)>,
    /// Digest of the recorded telemetry, in hexadecimal, to check a replay against.
    #[serde(default)]
    pub telemetry: Option<String>,
    /// Marks by dimension, to check a replay against; empty while a run is not scored.
    #[serde(default)]
    pub marks: Vec<(String, String)>,
}

/// Why a run file could not be read or replayed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ReplayError {
    /// It is not a run file.
    #[error("this is not a run file: {0}")]
    Unreadable(String),
    /// It was written by a newer or older program.
    #[error(
        "the run file has format {found}; this program reads format {FORMAT}. Use the version that wrote it."
    )]
    Format {
        /// The file's format.
        found: u32,
    },
    /// It is of another incident.
    #[error("the run is of \"{wanted}\", not of \"{given}\". Give the incident that was played.")]
    OtherIncident {
        /// The incident in the run file.
        wanted: String,
        /// The incident at hand.
        given: String,
    },
    /// The incident file has changed since.
    #[error(
        "the incident \"{incident}\" has changed since this run (content {found}, played with {wanted}). The run \
         can only be replayed with the file it was played with."
    )]
    IncidentChanged {
        /// The incident.
        incident: String,
        /// The hash in the run file.
        wanted: String,
        /// The hash of the incident at hand.
        found: String,
    },
    /// The engine has changed since.
    #[error(
        "the run was played with engine version {wanted}; this program has version {found}. Use the version that wrote it."
    )]
    EngineChanged {
        /// The version in the run file.
        wanted: u32,
        /// This program's.
        found: u32,
    },
    /// A value that no run can have.
    #[error("the run file cannot be replayed: {0}")]
    Impossible(String),
    /// The journal holds a command that the session refuses.
    #[error("entry {entry} of the journal is not possible at that moment. {refusal}")]
    Refused {
        /// Counted from 1.
        entry: usize,
        /// What the session said.
        refusal: String,
    },
}

impl Session {
    /// The run so far, ready to be saved.
    pub fn run_file(&self) -> RunFile {
        RunFile {
            format: FORMAT,
            incident: self.incident.file().id.clone(),
            variant: self.incident.variant_name().map(str::to_owned),
            hash: hex(self.incident.hash()),
            engine: crate::sim::ENGINE_VERSION,
            seed: self.options.seed,
            mode: self.options.mode,
            scale: self.options.scale,
            until: self.now(),
            journal: self.journal().to_vec(),
            telemetry: Some(hex(self.digest())),
            marks: Vec::new(),
        }
    }
}

/// Sixteen hexadecimal digits.
pub(crate) fn hex(value: u64) -> String {
    format!("{value:016x}")
}

impl RunFile {
    /// The file's text.
    pub fn to_text(&self) -> String {
        let style = ron::ser::PrettyConfig::new().depth_limit(3).struct_names(true);
        // Plain data of strings, numbers and lists always serialises.
        ron::ser::to_string_pretty(self, style).unwrap_or_default() + "\n"
    }

    /// Reads a file's text.
    ///
    /// # Errors
    /// When the text is not a run file, or one of another format.
    pub fn from_text(text: &str) -> Result<RunFile, ReplayError> {
        /// The part that every format has.
        #[derive(Deserialize)]
        #[serde(rename = "Run")]
        struct Head {
            format: u32,
        }
        let unreadable = |e: ron::error::SpannedError| ReplayError::Unreadable(e.to_string());
        let options = ron::Options::default();
        if let Ok(head) = options.from_str::<Head>(text)
            && head.format != FORMAT
        {
            return Err(ReplayError::Format { found: head.format });
        }
        options.from_str(text).map_err(unreadable)
    }
}

/// Plays a run again: the same incident, seed and journal give the same telemetry.
///
/// # Errors
/// When the incident or the engine is not the one that the run was played with, or a command is not possible.
pub fn replay(run: &RunFile, incident: Arc<Incident>) -> Result<Session, ReplayError> {
    let file = incident.file();
    if run.format != FORMAT {
        return Err(ReplayError::Format { found: run.format });
    }
    if run.incident != file.id {
        return Err(ReplayError::OtherIncident { wanted: run.incident.clone(), given: file.id.clone() });
    }
    if run.engine != crate::sim::ENGINE_VERSION {
        return Err(ReplayError::EngineChanged { wanted: run.engine, found: crate::sim::ENGINE_VERSION });
    }
    let incident = match &run.variant {
        Some(name) if incident.variant_name() != Some(name) => {
            Arc::new(incident.variant(name).map_err(|error| ReplayError::Impossible(error.to_string()))?)
        }
        _ => incident,
    };
    let file = incident.file();
    let found = hex(incident.hash());
    if run.hash != found {
        return Err(ReplayError::IncidentChanged {
            incident: file.id.clone(),
            wanted: run.hash.clone(),
            found,
        });
    }
    if !(run.scale > 0.0 && run.scale <= 10.0) {
        return Err(ReplayError::Impossible(format!("its scale is {}", run.scale)));
    }
    let options = SessionOptions { seed: run.seed, mode: run.mode, scale: run.scale };
    let mut session = Session::new(incident, options);
    for (i, (at, command)) in run.journal.iter().enumerate() {
        session.advance(*at);
        let refused = |refusal: String| ReplayError::Refused { entry: i + 1, refusal };
        if session.now() != *at {
            return Err(refused("The run cannot be at that moment then.".to_owned()));
        }
        session.submit(command.clone()).map_err(|r| refused(r.to_string()))?;
    }
    session.advance(run.until);
    Ok(session)
}
