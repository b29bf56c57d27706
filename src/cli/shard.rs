//! A part of the work of `test`, for a scheduler that spreads parts over machines, and `pagerdrill merge`, which puts the
//! parts together: the answer is the one that `test` gives when it does everything itself.

use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};

use super::input;
use super::test::{self, AllMade, Asked, Drill, Made, Run};
use crate::headless::fairness::Trial;
use crate::incident::Incident;
use crate::sim::ENGINE_VERSION;

/// Version of what a shard writes.
const SCHEMA: u32 = 2;

/// One of several parts, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    part: u64,
    of: u64,
}

impl Shard {
    /// Whether a seed belongs to it.
    pub(super) fn has(self, seed: u64) -> bool {
        seed % self.of == self.part % self.of
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let parts = text.split_once('/').and_then(|(part, of)| Some((part.parse().ok()?, of.parse().ok()?)));
        match parts {
            Some((part, of)) if (1..=of).contains(&part) => Ok(Shard { part, of }),
            _ => Err("a shard is a part and the number of parts, 1/4 to 4/4".to_owned()),
        }
    }
}

/// What a shard writes.
#[derive(Serialize, Deserialize)]
struct Written {
    schema: u32,
    engine: u32,
    shard: Shard,
    asked: Asked,
    /// Content hashes of the incidents, in the order of their names.
    hashes: Vec<String>,
    runs: Vec<(Run, Made)>,
    trials: Vec<(Drill, Trial)>,
}

fn hashes(incidents: &[Arc<Incident>]) -> Vec<String> {
    incidents.iter().map(|incident| format!("{:016x}", incident.hash())).collect()
}

/// A shard's results as JSON.
pub(super) fn written(
    shard: Shard,
    asked: &Asked,
    incidents: &[Arc<Incident>],
    made: AllMade,
) -> anyhow::Result<String> {
    let written = Written {
        schema: SCHEMA,
        engine: ENGINE_VERSION,
        shard,
        asked: asked.clone(),
        hashes: hashes(incidents),
        runs: made.runs.into_iter().collect(),
        trials: made.trials.into_iter().collect(),
    };
    Ok(format!("{}\n", serde_json::to_string(&written)?))
}

/// What to merge.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What `test --shard` has printed, all parts of it.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs `merge`.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut parts = Vec::new();
    for path in &args.files {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
        let part: Written = serde_json::from_str(&text)
            .with_context(|| format!("{} is not what `test --shard` prints", path.display()))?;
        ensure!(
            (part.schema, part.engine) == (SCHEMA, ENGINE_VERSION),
            "{} was made by another version of the program: make all parts with the same one",
            path.display()
        );
        parts.push((path, part));
    }
    let (first_path, first) = &parts[0];
    let asked = first.asked.clone();
    let incidents = input::incidents(&asked.names)?;
    ensure!(
        hashes(&incidents) == first.hashes,
        "{} belongs to other versions of these incidents: make the parts anew",
        first_path.display()
    );
    let of = first.shard.of;
    let mut seen: Vec<Option<&PathBuf>> = vec![None; of as usize];
    for (path, part) in &parts {
        ensure!(
            part.asked == asked && part.hashes == first.hashes && part.shard.of == of,
            "{} and {} belong to different tests",
            first_path.display(),
            path.display()
        );
        if let Some(other) = seen[part.shard.part as usize - 1].replace(path) {
            bail!("{} and {} are the same part", other.display(), path.display());
        }
    }
    if let Some(missing) = seen.iter().position(Option::is_none) {
        bail!("part {} of {of} is missing", missing + 1);
    }
    let mut made = AllMade::default();
    for (_, part) in parts {
        made.runs.extend(part.runs);
        made.trials.extend(part.trials);
    }
    test::answer(&asked, &incidents, &made, args.json)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_seed_belongs_to_one_part() {
        for of in 1..6 {
            for seed in 1..40 {
                assert_eq!(
                    (1..=of).filter(|&part| Shard { part, of }.has(seed)).count(),
                    1,
                    "{seed} of {of}"
                );
            }
        }
    }

    #[test]
    fn a_shard_is_read() {
        assert_eq!("2/4".parse(), Ok(Shard { part: 2, of: 4 }));
        for wrong in ["0/4", "5/4", "1/0", "1", "a/b", "1/4/4", "-1/4"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }
}
