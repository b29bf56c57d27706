//! `pagerdrill run`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;

use super::{FINE, input, print};
use crate::headless::{self, Ending, Options, Pilot, RunResult};
use crate::incident::schema::Plan;
use crate::incident::{Incident, closest};
use crate::score::Harm;
use crate::store;
use crate::telemetry::{Query, Series};
use crate::units::{SimTime, TimeOfDay, short};

/// What to run.
#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// A shipped incident, or the path of a file or folder.
    incident: String,
    /// Run a variant of the incident, by its name in the file.
    #[arg(long, value_name = "NAME")]
    variant: Option<String>,
    /// Who acts: none, a plan of the incident such as senior, or the path of a plan in RON.
    #[arg(long, default_value = "none", value_name = "none|NAME|FILE")]
    plan: String,
    /// Seed of the random numbers.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Stop at this time of the incident's clock.
    #[arg(long, value_name = "HH:MM:SS")]
    until: Option<TimeOfDay>,
    /// Size of the simulated system; 0.1 is ten times as fast and noisier.
    #[arg(long, default_value_t = 1.0, value_parser = scale)]
    scale: f64,
    /// Work out an expression over recorded series too: `requests.received / operations.started`; may be given several times.
    #[arg(long, value_name = "QUERY")]
    query: Vec<String>,
    /// Print everything that was recorded as JSON.
    #[arg(long)]
    json: bool,
    /// Save the run, for `report` and `replay`.
    #[arg(long, value_name = "RUN")]
    save: Option<PathBuf>,
}

/// A scale that a system can have.
pub(super) fn scale(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(scale) if (0.001..=10.0).contains(&scale) => Ok(scale),
        _ => Err("a scale is a number from 0.001 to 10; 1 is the system as described".to_owned()),
    }
}

/// An instant of an incident's clock.
fn instant(incident: &Incident, at: TimeOfDay) -> anyhow::Result<SimTime> {
    let clock = incident.file().clock;
    let instant = incident.at(at);
    // Times outside the clock are read as its start; what the clock shows there gives them away.
    anyhow::ensure!(
        incident.clock(instant) == at && instant > SimTime::ZERO,
        "--until {at} is not on the incident's clock, which goes from {} to {}",
        clock.start,
        clock.end
    );
    Ok(instant)
}

/// The plan that `--plan` names.
pub(super) fn pilot(incident: &Incident, name: &str) -> anyhow::Result<Pilot> {
    if name == "none" {
        return Ok(Pilot::Nobody);
    }
    let plans = &incident.file().plans;
    if plans.contains_key(name) {
        return Ok(Pilot::Named(name.to_owned()));
    }
    let path = Path::new(name);
    if !path.is_file() {
        // A name has no dot and no slash, so this was meant as a path.
        anyhow::ensure!(!name.contains(['.', '/', '\\']), "--plan {name}: there is no such file");
        let known: Vec<&str> = plans.keys().map(String::as_str).chain(["none"]).collect();
        let meant = closest(name, known.iter().copied())
            .map(|meant| format!("; did you mean `{meant}`?"))
            .unwrap_or_default();
        anyhow::bail!("the incident has no plan \"{name}\"; it has: {}{meant}", known.join(", "));
    }
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {name}"))?;
    let plan: Plan = ron::Options::default()
        .with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME)
        .from_str(&text)
        .with_context(|| {
            format!("{name} is not a plan; one looks like (what: \"…\", steps: [(\"14:20:00\", RateLimit(\"4_500/s\"))])")
        })?;
    Ok(Pilot::Own(name.to_owned(), plan))
}

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let incident = input::incident(&args.incident)?;
    let incident = match &args.variant {
        Some(name) => Arc::new(incident.variant(name)?),
        None => incident,
    };
    let until = args.until.map(|at| instant(&incident, at)).transpose()?;
    let pilot = pilot(&incident, &args.plan)?;
    let queries: Vec<Query> = args
        .query
        .iter()
        .map(|text| Query::parse(text).with_context(|| format!("--query {text}")))
        .collect::<anyhow::Result<_>>()?;
    let began = Instant::now();
    let options = Options { seed: args.seed, scale: args.scale, until };
    let result = headless::run(&incident, &pilot, options)?;
    let wall_s = began.elapsed().as_secs_f64();
    if let Some(path) = &args.save {
        let file = result.session.run_file();
        store::save_run_to(&file, path).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let mut answers = Vec::new();
    for query in &queries {
        let answered = query.answer(result.session.series());
        answers.extend(answered.with_context(|| format!("--query {}", query.text()))?);
    }
    print(&if args.json {
        result.json(wall_s, &answers)
    } else {
        summary(&incident, &result, &answers, wall_s)
    })?;
    Ok(ExitCode::from(FINE))
}

/// The run in a few lines, for a person.
fn summary(incident: &Arc<Incident>, run: &RunResult, answers: &[Series], wall_s: f64) -> String {
    let session = &run.session;
    let harm = Harm::of(session.series());
    let ending = match run.ending() {
        Ending::Unharmed => "Users were hardly harmed.".to_owned(),
        Ending::Recovered(at) => format!("Recovered at {}.", incident.clock(at)),
        Ending::Failing => format!("Still failing at {}.", session.clock()),
    };
    let mut out = format!(
        "{}, plan {}, seed {}: {ending}\nOperations: {}.\n",
        incident.file().id,
        run.plan,
        session.options().seed,
        harm.text()
    );
    let measured = run.expectations();
    if !measured.is_empty() {
        let held = measured.iter().filter(|m| m.held).count();
        out += &format!("Figures of the incident: {held} of {} held.\n", measured.len());
        for m in measured.iter().filter(|m| !m.held) {
            out += &format!("  {}: {}, wanted {}\n", m.expect.name, m.shown, m.wanted);
        }
    }
    for answer in answers {
        let show = |value: Option<f64>| answer.unit.show(value.unwrap_or(f64::NAN));
        let (least, most) = answer.range(0..answer.values.len()).unzip();
        let label = if answer.name == answer.what {
            answer.what.clone()
        } else {
            format!("{} {}", answer.what, answer.name)
        };
        out += &format!(
            "{label}: {} at the end, {} to {} in all.\n",
            show(answer.recent()),
            show(least),
            show(most)
        );
    }
    let simulated = session.now().as_secs_f64();
    out += &format!(
        "{} requests over {} of the incident's clock, simulated in {wall_s:.1} s.\n",
        short(session.counters().requests_received() as f64),
        session.now().since(SimTime::ZERO),
    );
    if wall_s > 0.0 && simulated > 0.0 {
        out += &format!("That is {} times as fast as it happened.\n", short(simulated / wall_s));
    }
    out
}
