//! `pagerdrill test`: compares what incidents' runs give with the figures that their files state.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::shard::{self, Shard};
use super::table::aligned;
use super::{input, many};
use crate::headless::fairness::{self, Rule, Trial, trial};
use crate::headless::{self, Options, Pilot, Robot};
use crate::incident::expect;
use crate::incident::schema::Expect;
use crate::incident::{Incident, library};
use crate::sim::ENGINE_VERSION;
use crate::units::{SimTime, Unit};

/// Version of what `--json` prints.
const SCHEMA: u32 = 2;
/// Seeds that fairness is judged with when nobody says how many.
const FAIR_SEEDS: u64 = 20;

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
    /// Judges only whether the incidents are fair, with the seeds 1 to N; 20 seeds beside the figures when left out.
    #[arg(long, value_name = "N", conflicts_with = "seeds", value_parser = clap::value_parser!(u64).range(1..=1_000))]
    pub fair_seeds: Option<u64>,
    /// Judges only the figures, not whether the incidents are fair: each run ends with its last figure.
    #[arg(long, conflicts_with = "fair_seeds")]
    pub only_figures: bool,
    /// Size of the simulated system. Figures count at full size: at another, none fails the test. Fairness is judged at a
    /// size that is enough for it, or at this one when it is smaller.
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
    /// Seeds that fairness is judged with.
    pub(super) fair_seeds: u64,
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
pub(super) struct Outcome {
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
    let asked = Asked {
        names,
        seeds: args.seeds,
        fair_seeds: args.fair_seeds.unwrap_or(FAIR_SEEDS),
        only_fairness: args.fair_seeds.is_some(),
        only_figures: args.only_figures,
        scale: args.scale,
    };
    let mut work = plan_work(&incidents, &asked);
    if let Some(shard) = args.shard {
        work.retain(|work| shard.has(work.seed()));
    }
    let made = make(&incidents, &work, &args)?;
    // What is printed is the same each time; how long it took is not.
    let trials = made.trials.values().map(|trial| trial.played.len()).sum::<usize>();
    eprintln!("{} runs in {:.1} s", made.runs.len() + trials, started.elapsed().as_secs_f64());
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
        let fairness = if asked.only_figures { Vec::new() } else { reports(incident, i, made) };
        let figures = if asked.only_fairness { Vec::new() } else { figures(incident, i, asked.seeds, made) };
        // Figures count at full size.
        let missed = figures.iter().any(|figure| figure.verdict() == Verdict::Missed);
        failed |= (missed && asked.scale == 1.0) || !fairness.iter().all(Report::is_fair);
        text.push_str(&table(incident, &figures, asked));
        for report in &fairness {
            text.push_str(&fairness_table(report));
            text.push('\n');
        }
        list.push(self::as_json(incident, &figures, &fairness, asked));
    }
    if as_json {
        text = format!("{:#}\n", json!({ "schema": SCHEMA, "engine": ENGINE_VERSION, "incidents": list }));
    }
    super::print(&text)?;
    Ok(ExitCode::from(if failed { super::FAILED } else { super::FINE }))
}

/// Robots play an incident, or a variant of it, with a seed.
pub(super) type Drill = (usize, Option<String>, u64);

/// What is held to be fair: the incident, and the variants that a blind drill draws.
fn drills(incident: &Incident) -> Vec<Option<String>> {
    [None].into_iter().chain(incident.file().blind.iter().cloned().map(Some)).collect()
}

/// The incident, or a variant of it.
fn variant(incident: &Arc<Incident>, name: Option<&str>) -> anyhow::Result<Arc<Incident>> {
    Ok(match name {
        Some(name) => Arc::new(incident.variant(name)?),
        None => Arc::clone(incident),
    })
}

/// A piece of the work, and where a run may stop.
enum Work {
    /// A run that a figure is stated for.
    Run(Run, SimTime),
    /// All robots, with one seed of one incident or variant.
    Trial(Drill),
}

impl Work {
    fn seed(&self) -> u64 {
        match self {
            Work::Run(run, _) => run.3,
            Work::Trial((.., seed)) => *seed,
        }
    }
}

/// One run for each seed and each plan of each variant that has a figure, which ends when its last figure has been recorded;
/// and the robots for each seed that fairness is judged by.
fn plan_work(incidents: &[Arc<Incident>], asked: &Asked) -> Vec<Work> {
    let mut runs: BTreeMap<Run, SimTime> = BTreeMap::new();
    let mut trials = Vec::new();
    for (i, incident) in incidents.iter().enumerate() {
        for seed in 1..=asked.seeds {
            for expect in incident.file().expect.iter().filter(|_| !asked.only_fairness) {
                let ends = expect::ends(incident, &expect.read, expect.over);
                let run = (i, expect.variant.clone(), expect.plan.clone(), seed);
                let until = runs.entry(run).or_insert(SimTime::ZERO);
                *until = (*until).max(ends);
            }
        }
        if !asked.only_figures {
            for variant in drills(incident) {
                trials.extend((1..=asked.fair_seeds).map(|seed| Work::Trial((i, variant.clone(), seed))));
            }
        }
    }
    runs.into_iter().map(|(run, until)| Work::Run(run, until)).chain(trials).collect()
}

/// What came of a run, by name of the figure: where it must lie, and what it gave.
pub(super) type Made = BTreeMap<String, (String, Outcome)>;

/// What came of everything.
#[derive(Default)]
pub(super) struct AllMade {
    pub(super) runs: BTreeMap<Run, Made>,
    pub(super) trials: BTreeMap<Drill, Trial>,
}

/// Does the work, several pieces at a time.
fn make(incidents: &[Arc<Incident>], work: &[Work], args: &Args) -> anyhow::Result<AllMade> {
    enum Done {
        Run(Run, Made),
        Trial(Drill, Trial),
    }
    let results = many::all(many::jobs(args.jobs), work.len(), |i| -> anyhow::Result<Done> {
        Ok(match &work[i] {
            Work::Run(run, until) => Done::Run(run.clone(), one(&incidents[run.0], run, *until, args.scale)?),
            Work::Trial(drill) => {
                let incident = variant(&incidents[drill.0], drill.1.as_deref())?;
                Done::Trial(drill.clone(), trial(&incident, drill.2, args.scale)?)
            }
        })
    });
    let mut made = AllMade::default();
    for result in results {
        match result? {
            Done::Run(run, outcome) => drop(made.runs.insert(run, outcome)),
            Done::Trial(drill, trial) => drop(made.trials.insert(drill, trial)),
        }
    }
    Ok(made)
}

/// Makes one run and reads its figures.
fn one(incident: &Arc<Incident>, run: &Run, until: SimTime, scale: f64) -> anyhow::Result<Made> {
    let (_, name, plan, seed) = run;
    let incident = variant(incident, name.as_deref())?;
    let pilot = plan.clone().map_or(Pilot::Nobody, Pilot::Named);
    let result = headless::run(&incident, &pilot, Options { seed: *seed, scale, until: Some(until) })?;
    let figures = result.expectations().into_iter().map(|m| {
        let outcome = Outcome { measured: m.measured, shown: m.shown, held: m.held };
        (m.expect.name.clone(), (m.wanted, outcome))
    });
    Ok(figures.collect())
}

fn figures<'a>(incident: &'a Incident, i: usize, seeds: u64, made: &AllMade) -> Vec<Figure<'a>> {
    let all = incident.file().expect.iter();
    all.map(|expect| {
        let found = (1..=seeds).filter_map(|seed| {
            let run = (i, expect.variant.clone(), expect.plan.clone(), seed);
            made.runs.get(&run)?.get(&expect.name)
        });
        Figure {
            expect,
            wanted: found.clone().map(|(wanted, _)| wanted.clone()).next().unwrap_or_default(),
            outcomes: found.map(|(_, outcome)| outcome.clone()).collect(),
        }
    })
    .collect()
}

/// Something that a fair incident does, and whether this one does it.
struct Fairness {
    rule: Rule,
    holds: bool,
    /// The seed, what it gave, whether that is fair.
    seeds: Vec<(u64, String, bool)>,
}

impl Fairness {
    /// A cell for every seed; of more seeds than fit beside each other, how many were fair, and those that were not.
    fn cells(&self) -> Vec<String> {
        const FIT: usize = 2;
        if self.seeds.len() <= FIT {
            return self.seeds.iter().map(|(_, shown, fair)| marked(shown, *fair)).collect();
        }
        let fair = self.seeds.iter().filter(|(_, _, fair)| *fair).count();
        let unfair = self.seeds.iter().filter(|(_, _, fair)| !fair);
        let unfair = unfair.map(|(seed, shown, _)| format!("seed {seed}: {shown}"));
        [format!("{fair} of {} seeds", self.seeds.len())].into_iter().chain(unfair).collect()
    }
}

/// The trials of an incident or a variant, in order of seed.
fn trials<'a>(i: usize, name: Option<&'a str>, made: &'a AllMade) -> impl Iterator<Item = &'a Trial> + Clone {
    let is_it = move |drill: &Drill| drill.0 == i && drill.1.as_deref() == name;
    made.trials.iter().filter(move |(drill, _)| is_it(drill)).map(|(_, trial)| trial)
}

/// Whether an incident, or a variant, is fair.
struct Report {
    variant: Option<String>,
    rules: Vec<Fairness>,
    robots: Vec<RobotLine>,
}

impl Report {
    fn is_fair(&self) -> bool {
        self.rules.iter().all(|fairness| fairness.holds)
    }

    fn as_json(&self) -> Value {
        let rule = |fairness: &Fairness| {
            let seed = |(seed, shown, fair): &(u64, String, bool)| json!({ "seed": seed, "shown": shown, "fair": fair });
            json!({
                "what": fairness.rule.label(),
                "fair": fairness.holds,
                "seeds": fairness.seeds.iter().map(seed).collect::<Vec<_>>(),
            })
        };
        let robot = |line: &RobotLine| {
            let [least, mean, most] = line.harm;
            json!({
                "robot": line.robot.label(),
                "harm": { "least": least, "mean": mean, "most": most },
                "well": line.well,
                "seeds": line.seeds,
            })
        };
        json!({
            "variant": self.variant,
            "rules": self.rules.iter().map(rule).collect::<Vec<_>>(),
            "robots": self.robots.iter().map(robot).collect::<Vec<_>>(),
        })
    }
}

fn reports(incident: &Incident, i: usize, made: &AllMade) -> Vec<Report> {
    let report = |variant: Option<String>| {
        let name = variant.as_deref();
        Report { rules: judged(i, name, made), robots: robots(i, name, made), variant }
    };
    drills(incident).into_iter().map(report).collect()
}

fn judged(i: usize, name: Option<&str>, made: &AllMade) -> Vec<Fairness> {
    let judge = |rule: Rule| {
        let of = |trial: &Trial| rule.judge(trial).map(|(shown, fair)| (trial.seed, shown, fair));
        Fairness {
            rule,
            holds: rule.keeps(trials(i, name, made)),
            seeds: trials(i, name, made).filter_map(of).collect(),
        }
    };
    // What the incident has no plan for is not judged.
    Rule::ALL.into_iter().map(judge).filter(|fairness| !fairness.seeds.is_empty()).collect()
}

/// What a robot came to over all seeds.
struct RobotLine {
    robot: Robot,
    /// Harmed shares of all operations: smallest, mean, largest.
    harm: [f64; 3],
    well: usize,
    seeds: usize,
}

fn robots(i: usize, name: Option<&str>, made: &AllMade) -> Vec<RobotLine> {
    let line = |robot: Robot| {
        let played = || trials(i, name, made).filter_map(move |t| t.played.iter().find(|p| p.robot == robot));
        let seeds = played().count();
        let harms = || played().map(|p| p.harm);
        let harm = [
            harms().fold(f64::INFINITY, f64::min),
            harms().sum::<f64>() / seeds.max(1) as f64,
            harms().fold(0.0, f64::max),
        ];
        (seeds > 0).then(|| RobotLine { robot, harm, well: played().filter(|p| p.well).count(), seeds })
    };
    Robot::ALL.into_iter().filter_map(line).collect()
}

fn fairness_table(report: &Report) -> String {
    let title = match &report.variant {
        Some(name) => format!("fairness of the blind drill \"{name}\""),
        None => "fairness".to_owned(),
    };
    let mut rows = vec![vec![String::new(), title]];
    for fairness in &report.rules {
        let mut row =
            vec![if fairness.holds { "ok" } else { "unfair" }.to_owned(), fairness.rule.label().to_owned()];
        row.extend(fairness.cells());
        rows.push(row);
    }
    let mut text = aligned(&rows) + "\n";
    let mut rows =
        vec![["a robot that", "harms", "least", "most", "well at the end"].map(str::to_owned).to_vec()];
    for line in &report.robots {
        let [least, mean, most] = line.harm.map(|harm| Unit::Ratio.show(harm));
        let well = format!("{} of {}", line.well, line.seeds);
        rows.push(vec![line.robot.label().to_owned(), mean, least, most, well]);
    }
    text.push_str(&aligned(&rows));
    text
}

fn table(incident: &Incident, figures: &[Figure<'_>], asked: &Asked) -> String {
    let file = incident.file();
    let mut text = format!("{}  {}\n\n", file.id, file.title);
    if !asked.only_fairness {
        text.push_str(&figure_table(figures, asked));
        text.push('\n');
    }
    if asked.scale != 1.0 && !asked.only_fairness {
        text.push_str(&format!("at a scale of {}: figures count at full size only\n\n", asked.scale));
    }
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

fn as_json(incident: &Incident, figures: &[Figure<'_>], fairness: &[Report], asked: &Asked) -> Value {
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
        "fair": fairness.iter().all(Report::is_fair),
        "fair_scale": fairness::size(incident, asked.scale),
        "fairness": fairness.iter().map(Report::as_json).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_seeds_are_counted_and_the_unfair_ones_are_told() {
        let seeds = |n: u64| (1..=n).map(|seed| (seed, format!("at {seed}"), seed != 2)).collect();
        let few = Fairness { rule: Rule::Senior, holds: false, seeds: seeds(2) };
        assert_eq!(few.cells(), ["at 1", "at 2 x"]);
        let many = Fairness { rule: Rule::Senior, holds: false, seeds: seeds(20) };
        assert_eq!(many.cells(), ["19 of 20 seeds", "seed 2: at 2"]);
    }
}
