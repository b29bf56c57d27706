//! `pagerdrill test`: compares what incidents' runs give with the figures that their files state.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::shard::{self, Shard};
use super::table::aligned;
use super::{input, many};
use crate::headless::{self, Ending, Options, Pilot};
use crate::incident::expect;
use crate::incident::schema::Expect;
use crate::incident::{Incident, library};
use crate::score::Harm;
use crate::sim::ENGINE_VERSION;
use crate::units::{SimTime, Unit};

/// Version of what `--json` prints.
const SCHEMA: u32 = 1;
/// The plan that a player is compared with.
const SENIOR: &str = "senior";
/// The documented mistake.
const TRAP: &str = "trap";

/// What to test.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Names of shipped incidents, files, or folders of them; all shipped ones when left out.
    #[arg(value_name = "INCIDENT|DIR")]
    pub incidents: Vec<String>,
    /// All shipped incidents, as when none is named.
    #[arg(long, conflicts_with = "incidents")]
    pub all: bool,
    /// Runs each plan with the seeds 1 to N.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000))]
    pub seeds: u64,
    /// Judges only whether the incidents are fair, with the seeds 1 to N, and fails when one is not.
    #[arg(long, value_name = "N", conflicts_with = "seeds", value_parser = clap::value_parser!(u64).range(1..=1_000))]
    pub fair_seeds: Option<u64>,
    /// Judges only the figures, not whether the incidents are fair: each run ends with its last figure.
    #[arg(long, conflicts_with = "fair_seeds")]
    pub only_figures: bool,
    /// Size of the simulated system. Figures count at full size: at another, nothing fails the test.
    #[arg(long, default_value_t = 1.0, value_name = "F", value_parser = super::run::scale)]
    pub scale: f64,
    /// Runs at the same time; when left out two, if there are as many processors.
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Makes only the runs of the seeds i, i + n, i + 2n, … and prints what came of them, for `merge`.
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// What is asked of the runs: with the runs' results, all that the answer depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Asked {
    /// Names of incidents, files or folders.
    pub(super) names: Vec<String>,
    pub(super) seeds: u64,
    /// Only whether the incidents are fair.
    pub(super) only_fairness: bool,
    /// Only the figures.
    pub(super) only_figures: bool,
    pub(super) scale: f64,
}

/// A run to be made: which incident, which variant of it, which plan, which seed.
pub(super) type Run = (usize, Option<String>, Option<String>, u64);

/// What one seed gave for one figure.
#[derive(Clone, Serialize, Deserialize)]
struct Outcome {
    measured: Option<f64>,
    shown: String,
    held: bool,
}

/// A figure with what every seed gave.
struct Figure<'a> {
    expect: &'a Expect,
    wanted: String,
    /// By seed, from 1.
    outcomes: Vec<Outcome>,
}

/// How a figure counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Held,
    /// It does not hold, is no key figure, and the file says why.
    Noted,
    Missed,
}

impl Figure<'_> {
    fn verdict(&self) -> Verdict {
        if self.outcomes.iter().all(|outcome| outcome.held) {
            Verdict::Held
        } else if self.expect.note.is_some() && !self.expect.key {
            Verdict::Noted
        } else {
            Verdict::Missed
        }
    }
}

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let names = if args.incidents.is_empty() {
        library::shipped().into_iter().map(|shipped| shipped.id).collect()
    } else {
        args.incidents.clone()
    };
    let incidents = input::incidents(&names)?;
    let started = Instant::now();
    let only_fairness = args.fair_seeds.is_some();
    let seeds = args.fair_seeds.unwrap_or(args.seeds);
    let asked = Asked { names, seeds, only_fairness, only_figures: args.only_figures, scale: args.scale };
    let mut runs = plan_runs(&incidents, &asked);
    if let Some(shard) = args.shard {
        runs.retain(|run, _| shard.has(run.3));
    }
    let made = make(&incidents, &runs, &args)?;
    // What is printed is the same each time; how long it took is not.
    eprintln!("{} runs in {:.1} s", runs.len(), started.elapsed().as_secs_f64());
    match args.shard {
        Some(shard) => {
            super::print(&shard::written(shard, &asked, &incidents, made)?)?;
            Ok(ExitCode::from(super::FINE))
        }
        None => answer(&asked, &incidents, &made, args.json),
    }
}

/// Judges the runs, prints the tables, and returns the exit code.
pub(super) fn answer(
    asked: &Asked,
    incidents: &[Arc<Incident>],
    made: &AllMade,
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    let (mut text, mut list, mut failed) = (String::new(), Vec::new(), false);
    for (i, incident) in incidents.iter().enumerate() {
        let fairness = if asked.only_figures { Vec::new() } else { fairness(i, asked.seeds, made) };
        let figures = if asked.only_fairness { Vec::new() } else { figures(incident, i, asked.seeds, made) };
        failed |= if asked.only_fairness {
            fairness.iter().any(|fairness| !fairness.holds())
        } else {
            // Figures count at full size.
            asked.scale == 1.0 && figures.iter().any(|figure| figure.verdict() == Verdict::Missed)
        };
        text.push_str(&table(incident, &figures, &fairness, asked));
        list.push(self::as_json(incident, &figures, &fairness, asked));
    }
    if as_json {
        text = format!("{:#}\n", json!({ "schema": SCHEMA, "engine": ENGINE_VERSION, "incidents": list }));
    }
    super::print(&text)?;
    Ok(ExitCode::from(if failed { super::FAILED } else { super::FINE }))
}

/// One run for each seed and each plan of each variant that has a figure or that fairness is judged by, with where it may
/// stop: a run that fairness is not judged by ends when its last figure has been recorded.
fn plan_runs(incidents: &[Arc<Incident>], asked: &Asked) -> BTreeMap<Run, Option<SimTime>> {
    let mut runs = BTreeMap::new();
    for (i, incident) in incidents.iter().enumerate() {
        let file = incident.file();
        let known = [SENIOR, TRAP].iter().filter(|&&plan| file.plans.contains_key(plan));
        let judged: BTreeSet<Option<String>> =
            known.map(|&plan| Some(plan.to_owned())).chain([None]).collect();
        for seed in 1..=asked.seeds {
            for expect in file.expect.iter().filter(|_| !asked.only_fairness) {
                let ends = expect::ends(incident, &expect.read, expect.over);
                let until = runs
                    .entry((i, expect.variant.clone(), expect.plan.clone(), seed))
                    .or_insert(Some(SimTime::ZERO));
                *until = until.map(|until| until.max(ends));
            }
            if !asked.only_figures {
                runs.extend(judged.iter().map(|plan| ((i, None, plan.clone(), seed), None)));
            }
        }
    }
    runs
}

/// What came of a run.
#[derive(Serialize, Deserialize)]
pub(super) struct Made {
    /// By name of the figure: where it must lie, and what it gave.
    figures: BTreeMap<String, (String, Outcome)>,
    /// Harmed share of all operations.
    harm: f64,
    /// It was well at the end.
    well: bool,
    /// The ending for people, with the incident's clock.
    ended: String,
}

/// What came of every run.
pub(super) type AllMade = BTreeMap<Run, Made>;

/// Makes the runs, several at a time.
fn make(
    incidents: &[Arc<Incident>],
    runs: &BTreeMap<Run, Option<SimTime>>,
    args: &Args,
) -> anyhow::Result<AllMade> {
    let runs: Vec<(&Run, Option<SimTime>)> = runs.iter().map(|(run, until)| (run, *until)).collect();
    let results = many::all(many::jobs(args.jobs), runs.len(), |i| {
        let (run, until) = &runs[i];
        one(&incidents[run.0], run, *until, args.scale)
    });
    runs.iter().zip(results).map(|((run, _), made)| Ok(((*run).clone(), made?))).collect()
}

/// Makes one run and reads its figures.
fn one(incident: &Arc<Incident>, run: &Run, until: Option<SimTime>, scale: f64) -> anyhow::Result<Made> {
    let (_, variant, plan, seed) = run;
    let incident = match variant {
        Some(variant) => Arc::new(incident.variant(variant)?),
        None => Arc::clone(incident),
    };
    let pilot = plan.clone().map_or(Pilot::Nobody, Pilot::Named);
    let result = headless::run(&incident, &pilot, Options { seed: *seed, scale, until })?;
    let figures = result
        .expectations()
        .into_iter()
        .map(|m| {
            let outcome = Outcome { measured: m.measured, shown: m.shown, held: m.held };
            (m.expect.name.clone(), (m.wanted, outcome))
        })
        .collect();
    let ending = result.ending();
    let ended = match ending {
        Ending::Unharmed => "hardly any harm".to_owned(),
        Ending::Recovered(at) => format!("well at {}", incident.clock(at)),
        Ending::Failing => "failing at the end".to_owned(),
    };
    let harm = Harm::of(result.session.series()).share();
    Ok(Made { figures, harm, well: ending != Ending::Failing, ended })
}

fn figures<'a>(incident: &'a Incident, i: usize, seeds: u64, made: &AllMade) -> Vec<Figure<'a>> {
    let all = incident.file().expect.iter();
    all.map(|expect| {
        let found = (1..=seeds).filter_map(|seed| {
            let run = (i, expect.variant.clone(), expect.plan.clone(), seed);
            made.get(&run)?.figures.get(&expect.name)
        });
        Figure {
            expect,
            wanted: found.clone().map(|(wanted, _)| wanted.clone()).next().unwrap_or_default(),
            outcomes: found.map(|(_, outcome)| outcome.clone()).collect(),
        }
    })
    .collect()
}

/// Something that a fair incident does, and whether every seed did it.
struct Fairness {
    what: &'static str,
    /// By seed, from 1: what it was, whether it is fair.
    seeds: Vec<(String, bool)>,
}

impl Fairness {
    fn holds(&self) -> bool {
        self.seeds.iter().all(|(_, fair)| *fair)
    }

    /// A cell for every seed; of more seeds than fit beside each other, how many were fair, and those that were not.
    fn cells(&self) -> Vec<String> {
        const FIT: usize = 5;
        if self.seeds.len() <= FIT {
            return self.seeds.iter().map(|(shown, fair)| marked(shown, *fair)).collect();
        }
        let fair = self.seeds.iter().filter(|(_, fair)| *fair).count();
        let unfair = self.seeds.iter().zip(1..).filter(|((_, fair), _)| !fair);
        let unfair = unfair.map(|((shown, _), seed): (_, u64)| format!("seed {seed}: {shown}"));
        [format!("{fair} of {} seeds", self.seeds.len())].into_iter().chain(unfair).collect()
    }
}

fn fairness(i: usize, seeds: u64, made: &AllMade) -> Vec<Fairness> {
    let run = |plan: Option<&str>, seed| made.get(&(i, None, plan.map(str::to_owned), seed));
    let judge = |what, of: &dyn Fn(&Made, &Made) -> (String, bool), plan: Option<&str>| Fairness {
        what,
        seeds: (1..=seeds).filter_map(|seed| Some(of(run(plan, seed)?, run(None, seed)?))).collect(),
    };
    let harms = |made: &Made, idle: &Made| {
        format!("{}, idle {}", Unit::Ratio.show(made.harm), Unit::Ratio.show(idle.harm))
    };
    let mut all = vec![
        judge("doing nothing does not help", &|_, idle| (idle.ended.clone(), !idle.well), None),
        judge("the senior's plan gets well", &|made, _| (made.ended.clone(), made.well), Some(SENIOR)),
        judge(
            "the senior's plan harms fewer users",
            &|made, idle| (harms(made, idle), made.harm < idle.harm),
            Some(SENIOR),
        ),
        judge(
            "the trap harms more users",
            &|made, idle| (harms(made, idle), made.harm > idle.harm),
            Some(TRAP),
        ),
    ];
    all.retain(|fairness| !fairness.seeds.is_empty());
    all
}

fn table(incident: &Incident, figures: &[Figure<'_>], fairness: &[Fairness], asked: &Asked) -> String {
    let file = incident.file();
    let mut text = format!("{}  {}\n\n", file.id, file.title);
    if !asked.only_fairness {
        text.push_str(&figure_table(figures, asked));
        text.push('\n');
    }
    let mut rows = vec![vec![String::new(), "fairness".to_owned()]];
    for fairness in fairness {
        let mut row =
            vec![if fairness.holds() { "ok" } else { "unfair" }.to_owned(), fairness.what.to_owned()];
        row.extend(fairness.cells());
        rows.push(row);
    }
    if !asked.only_figures {
        text.push_str(&aligned(&rows));
    }
    if asked.scale != 1.0 && !asked.only_fairness {
        text.push_str(&format!("at a scale of {}: figures count at full size only\n", asked.scale));
    }
    text.push('\n');
    text
}

fn figure_table(figures: &[Figure<'_>], asked: &Asked) -> String {
    let mut rows: Vec<Vec<String>> = vec![vec![String::new(), "figure".to_owned(), "wanted".to_owned()]];
    rows[0].extend((1..=asked.seeds).map(|seed| format!("seed {seed}")));
    rows[0].push("source".to_owned());
    for figure in figures {
        let mark = match (figure.verdict(), figure.expect.key) {
            (Verdict::Held, true) => "ok   key",
            (Verdict::Held, false) => "ok",
            (Verdict::Noted, _) => "note",
            (Verdict::Missed, true) => "MISS key",
            (Verdict::Missed, false) => "MISS",
        };
        let mut row = vec![mark.to_owned(), figure.expect.name.clone(), figure.wanted.clone()];
        row.extend(figure.outcomes.iter().map(|o| marked(&o.shown, o.held)));
        row.push(figure.expect.source.clone());
        rows.push(row);
    }
    let mut text = aligned(&rows);
    for figure in figures.iter().filter(|figure| figure.verdict() != Verdict::Held) {
        if let Some(note) = &figure.expect.note {
            text.push('\n');
            text.push_str(&super::wrapped(&format!("{}: {note}", figure.expect.name), "  "));
        }
    }
    let key = |figure: &&Figure<'_>| figure.expect.key;
    let held = |figure: &&Figure<'_>| figure.verdict() == Verdict::Held;
    let noted = figures.iter().filter(|figure| figure.verdict() == Verdict::Noted).count();
    text.push_str(&format!(
        "\n{} of {} figures hold, {} of {} key figures; {noted} are noted in the file\n",
        figures.iter().filter(held).count(),
        figures.len(),
        figures.iter().filter(key).filter(held).count(),
        figures.iter().filter(key).count(),
    ));
    text
}

/// A cell that does not hold says so by itself: the reader looks for the seed.
fn marked(shown: &str, held: bool) -> String {
    format!("{shown}{}", if held { "" } else { " x" })
}

fn as_json(incident: &Incident, figures: &[Figure<'_>], fairness: &[Fairness], asked: &Asked) -> Value {
    let file = incident.file();
    let expectations: Vec<Value> = figures
        .iter()
        .map(|figure| {
            let expect = figure.expect;
            let seeds: Vec<Value> = figure
                .outcomes
                .iter()
                .zip(1..)
                .map(|(o, seed): (&Outcome, u64)| {
                    json!({ "seed": seed, "measured": o.measured, "shown": o.shown, "held": o.held })
                })
                .collect();
            json!({
                "name": expect.name,
                "plan": expect.plan.as_deref().unwrap_or("none"),
                "variant": expect.variant,
                "key": expect.key,
                "source": expect.source,
                "note": expect.note,
                "read": expect.read,
                "window": [expect.over.0, expect.over.1],
                "within": expect.within,
                "wanted": figure.wanted,
                "held": figure.verdict() == Verdict::Held,
                "seeds": seeds,
            })
        })
        .collect();
    json!({
        "incident": file.id,
        "hash": format!("{:016x}", incident.hash()),
        "scale": asked.scale,
        "held": figures.iter().all(|figure| figure.verdict() != Verdict::Missed),
        "expectations": expectations,
        "fairness": fairness
            .iter()
            .map(|fairness| {
                let seeds: Vec<Value> = fairness
                    .seeds
                    .iter()
                    .zip(1..)
                    .map(|((shown, fair), seed): (&(String, bool), u64)| {
                        json!({ "seed": seed, "shown": shown, "fair": fair })
                    })
                    .collect();
                json!({ "what": fairness.what, "seeds": seeds })
            })
            .collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_seeds_are_counted_and_the_unfair_ones_are_told() {
        let seeds = |n: usize| (1..=n).map(|seed| (format!("at {seed}"), seed != 3)).collect();
        let few = Fairness { what: "it recovers", seeds: seeds(4) };
        assert_eq!(few.cells(), ["at 1", "at 2", "at 3 x", "at 4"]);
        let many = Fairness { what: "it recovers", seeds: seeds(20) };
        assert_eq!(many.cells(), ["19 of 20 seeds", "seed 3: at 3"]);
        assert!(!many.holds());
    }
}
