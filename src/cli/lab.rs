//! `pagerdrill lab`: the same incident with something changed, one row each.

use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use serde_json::{Value, json};

use super::table::fitted;
use super::{input, many};
use crate::headless::{self, Capacity, Options};
use crate::incident::Incident;
use crate::incident::expect::{self, Figure};
use crate::incident::schema::{AS_IT_IS, Column, Knob, Lever, Reading, Story, Variant};
use crate::report::sparkline;
use crate::score::Staircase;
use crate::sim::ENGINE_VERSION;
use crate::tui::FilmRow;
use crate::units::Unit;

/// Version of what `--json` prints.
const SCHEMA: u32 = 1;
/// Columns of the chart beside each row.
const CHART: usize = 40;
/// Columns of a line where there is no terminal that has so many.
const WIDTH: usize = 120;
/// What is drawn when the file does not say.
const DRAWN: &str = "operations.served_ratio";

/// What to compare.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A shipped incident, or the path of a file or folder.
    incident: String,
    /// Change a value: its path below `system` and what would stand there, services.api.deadline=750ms.
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// One row for each of several values: services.api.workers=100,200,None.
    #[arg(long, value_name = "PATH=A,B,C")]
    sweep: Option<String>,
    /// Who acts: none, a plan of the incident such as senior, or the path of a plan in RON.
    #[arg(long, default_value = "none", value_name = "none|NAME|FILE")]
    plan: String,
    /// Seed of the random numbers.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Size of the simulated system; 0.1 is ten times as fast and noisier. 1 when left out; --hysteresis then
    /// chooses one that takes seconds.
    #[arg(long, value_name = "F", value_parser = super::run::scale)]
    scale: Option<f64>,
    /// Runs at the same time; when left out two, if there are as many processors.
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Draw this series beside each row.
    #[arg(long, value_name = "SERIES")]
    chart: Option<String>,
    /// Raise the load step by step until it falls over, then lower it again: where it falls, where it comes back.
    #[arg(long, conflicts_with_all = ["sweep", "chart", "real", "watch", "plan"])]
    hysteresis: bool,
    /// Ask a real database file with real threads instead, and set what the model says beside it.
    #[arg(long, conflicts_with_all = ["set", "sweep", "chart"])]
    real: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Watch one row or variant second by second, the first row when ROW is left out; where the output is no terminal, a
    /// line for each second.
    #[arg(long, value_name = "ROW", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["json", "chart", "jobs"])]
    watch: Option<String>,
}

impl Args {
    fn scale(&self) -> f64 {
        self.scale.unwrap_or(1.0)
    }
}

/// A row: what it is called, what is different in it, the incident so changed.
struct Row {
    name: String,
    what: String,
    incident: Arc<Incident>,
}

/// What a run gave.
struct Made {
    figures: Vec<Figure>,
    /// The series that is drawn, if the run recorded it.
    drawn: Option<(Unit, Vec<f64>)>,
}

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let incident = input::incident(&args.incident)?;
    if args.real {
        super::print(&super::real::run(&incident, args.json)?)?;
        return Ok(ExitCode::from(super::FINE));
    }
    if args.hysteresis {
        let usual = Staircase::usual(&incident);
        let staircase = Staircase { seed: args.seed, scale: args.scale.unwrap_or(usual.scale), ..usual };
        let incident = with_set(&incident, &args)?;
        super::print(&super::hysteresis::run(&incident, staircase, args.json))?;
        return Ok(ExitCode::from(super::FINE));
    }
    let pilot = super::run::pilot(&incident, &args.plan)?;
    if let Some(wanted) = &args.watch {
        let options = Options { seed: args.seed, scale: args.scale(), until: None };
        return super::watch::run(watchable(&incident, &args)?, wanted, pilot, options);
    }
    let lab = incident.file().lab.clone();
    let columns = lab.as_ref().map_or_else(|| usual_columns(&incident), |lab| lab.columns.clone());
    let chart = args.chart.clone().or_else(|| lab.and_then(|lab| lab.chart));
    let chart = chart.unwrap_or_else(|| DRAWN.to_owned());
    let rows = rows(&incident, &args)?;
    let ends = columns.iter().map(|column| expect::ends(&incident, &column.read, column.over)).max();
    let made: Vec<Made> = many::all(many::jobs(args.jobs), rows.len(), |i| {
        let options = Options { seed: args.seed, scale: args.scale(), until: ends };
        let run = headless::run(&rows[i].incident, &pilot, options)?;
        let series = run.session.series();
        Ok(Made {
            figures: columns
                .iter()
                .map(|column| expect::figure(&incident, &column.read, column.over, series))
                .collect(),
            drawn: series.get(&chart).map(|series| (series.unit, series.values.clone())),
        })
    })
    .into_iter()
    .collect::<Result<_, headless::RunError>>()?;
    anyhow::ensure!(
        args.chart.is_none() || made.iter().any(|made| made.drawn.is_some()),
        "--chart {chart}: no run has recorded such a series; `pagerdrill show {} --names` lists them",
        args.incident
    );
    let text = if args.json {
        format!("{:#}\n", as_json(&incident, &args, &columns, &rows, &made))
    } else {
        table(&incident, &args, &columns, &rows, &made, &chart)
    };
    super::print(&text)?;
    Ok(ExitCode::from(super::FINE))
}

/// What is compared when the file does not say: how users fare from the page on, and how busy the database is.
fn usual_columns(incident: &Incident) -> Vec<Column> {
    let clock = incident.file().clock;
    let over = (clock.page, clock.end);
    let column = |title: &str, read| Column { title: title.to_owned(), read, over };
    vec![
        column("served", Reading::Mean("operations.served_ratio".to_owned())),
        column("failing", Reading::Mean("operations.failure_ratio".to_owned())),
        column("p99", Reading::Mean("latency.p99".to_owned())),
        column("queries", Reading::Mean("db.queries".to_owned())),
        column("CPU", Reading::Mean("db.cpu".to_owned())),
    ]
}

/// A path and the value that would stand there.
fn split(text: &str) -> anyhow::Result<(String, String)> {
    let (path, value) = text
        .split_once('=')
        .with_context(|| format!("`{text}` is no change; one looks like services.api.deadline=750ms"))?;
    Ok((path.trim().to_owned(), value.trim().to_owned()))
}

/// The changes of `--set`.
fn set(args: &Args) -> anyhow::Result<Vec<(String, String)>> {
    args.set.iter().map(|text| split(text)).collect()
}

fn named(values: &[(String, String)]) -> String {
    values.iter().map(|(path, value)| format!("{path}={value}")).collect::<Vec<_>>().join(" ")
}

/// The incident with other values in some places.
fn changed(incident: &Incident, name: &str, values: &[(String, String)]) -> anyhow::Result<Arc<Incident>> {
    let variant = Variant {
        what: String::new(),
        set: values.iter().cloned().collect(),
        without: Vec::new(),
        also: Vec::new(),
        story: Story::default(),
    };
    Ok(Arc::new(incident.changed(name, &variant)?))
}

/// The incident with the changes of `--set`, if there are any.
fn with_set(incident: &Arc<Incident>, args: &Args) -> anyhow::Result<Arc<Incident>> {
    match set(args)? {
        none if none.is_empty() => Ok(Arc::clone(incident)),
        set => changed(incident, &named(&set), &set),
    }
}

/// The rows that are asked for, or those of the file.
fn rows(incident: &Arc<Incident>, args: &Args) -> anyhow::Result<Vec<Row>> {
    let as_it_is = || Row { name: AS_IT_IS.to_owned(), what: String::new(), incident: Arc::clone(incident) };
    let set = set(args)?;
    let sweep = args.sweep.as_deref().map(split).transpose()?;
    let changed = |name: String, values: &[(String, String)]| -> anyhow::Result<Row> {
        let incident = changed(incident, &name, values)?;
        Ok(Row { name, what: String::new(), incident })
    };
    match (sweep, &incident.file().lab) {
        (Some((path, values)), _) => apart(&values)
            .into_iter()
            .map(|value| {
                let mut all = set.clone();
                all.push((path.clone(), value.clone()));
                changed(format!("{path}={value}"), &all)
            })
            .collect(),
        (None, _) if !set.is_empty() => Ok(vec![as_it_is(), changed(named(&set), &set)?]),
        (None, Some(lab)) => {
            let variants = &incident.file().variants;
            let row = |name: &String| match variants.get(name) {
                Some(variant) => anyhow::Ok(Row {
                    name: name.clone(),
                    what: variant.what.clone(),
                    incident: Arc::new(incident.variant(name)?),
                }),
                None => Ok(as_it_is()),
            };
            lab.rows.iter().map(row).collect()
        }
        (None, None) => anyhow::bail!(
            "{} has no lab; say what to change: --set PATH=VALUE or --sweep PATH=A,B,C",
            incident.file().id
        ),
    }
}

/// The rows that can be watched: those that are compared, and the variants that are not among them.
fn watchable(incident: &Arc<Incident>, args: &Args) -> anyhow::Result<Vec<FilmRow>> {
    let own = !args.set.is_empty() || args.sweep.is_some();
    let mut found = if own || incident.file().lab.is_some() {
        rows(incident, args)?
    } else {
        vec![Row { name: AS_IT_IS.to_owned(), what: String::new(), incident: Arc::clone(incident) }]
    };
    for (name, variant) in incident.file().variants.iter().filter(|_| !own) {
        if found.iter().all(|row| row.name != *name) {
            let (name, what) = (name.clone(), variant.what.clone());
            let incident = Arc::new(incident.variant(&name)?);
            found.push(Row { name, what, incident });
        }
    }
    Ok(found.into_iter().map(|Row { name, what, incident }| FilmRow { name, what, incident }).collect())
}

/// Values with commas between; a comma inside brackets or quotes belongs to its value.
fn apart(values: &str) -> Vec<String> {
    let (mut depth, mut quoted, mut all) = (0i32, false, vec![String::new()]);
    for c in values.chars() {
        match c {
            '"' => quoted = !quoted,
            '(' | '[' | '{' if !quoted => depth += 1,
            ')' | ']' | '}' if !quoted => depth -= 1,
            _ => {}
        }
        match all.last_mut() {
            Some(last) if c != ',' || quoted || depth > 0 => last.push(c),
            _ => all.push(String::new()),
        }
    }
    all.into_iter().map(|value| value.trim().to_owned()).collect()
}

fn table(
    incident: &Incident,
    args: &Args,
    columns: &[Column],
    rows: &[Row],
    made: &[Made],
    chart: &str,
) -> String {
    let mut head = vec![String::new()];
    head.extend(columns.iter().map(|column| column.title.clone()));
    head.push(chart.to_owned());
    let mut cells = vec![head];
    // One scale for all rows, or they could not be compared.
    let all = made.iter().filter_map(|made| made.drawn.as_ref()).flat_map(|(_, values)| values);
    let highest = all.copied().filter(|value| value.is_finite()).fold(0.0, f64::max);
    for (row, made) in rows.iter().zip(made) {
        let mut line = vec![row.name.clone()];
        line.extend(made.figures.iter().map(|figure| figure.shown.clone()));
        line.push(made.drawn.as_ref().map_or(String::new(), |(unit, values)| {
            let full = if *unit == Unit::Ratio { highest.max(1.0) } else { highest };
            sparkline(values, CHART, full)
        }));
        cells.push(line);
    }
    let (file, Args { plan, seed, .. }) = (incident.file(), args);
    let mut text = format!(
        "{}  {}\nplan {plan}, seed {seed}, scale {}\n\n{}",
        file.id,
        file.title,
        args.scale(),
        fitted(&cells, super::columns().unwrap_or(WIDTH))
    );
    let told: Vec<&Row> = rows.iter().filter(|row| !row.what.is_empty()).collect();
    for row in &told {
        text.push('\n');
        text.push_str(&super::wrapped(&format!("{}: {}", row.name, row.what), "  "));
    }
    for (service, database, capacity) in capacities(incident, args.seed) {
        text.push('\n');
        text.push_str(&super::wrapped(&safe_limit(&service, &database, &capacity), ""));
    }
    text
}

/// What the databases can take behind services whose reads of the source an operator can limit: service, database,
/// measured capacity.
fn capacities(incident: &Incident, seed: u64) -> Vec<(String, String, Capacity)> {
    let limits = |lever: &Lever| match lever {
        Lever::Set(Knob::OriginRate(service)) => Some(service.clone()),
        _ => None,
    };
    let spec = incident.spec();
    let measured = |name: String| {
        let index = spec.services.iter().position(|s| s.name == name)?;
        let database = spec.databases[spec.services[index].database?].name.clone();
        Some((name, database, headless::capacity(spec, index, seed)?))
    };
    incident.file().levers.iter().filter_map(limits).filter_map(measured).collect()
}

fn safe_limit(service: &str, database: &str, capacity: &Capacity) -> String {
    let rate = |per_s: f64| Unit::PerSecond.show(per_s);
    format!(
        "A limit for reads of the source, from a load test of the model: {database} uses all its cores at {}, and its \
         p99 grows by half above {}. Operations that are never cached need {}. A fifth is left for what nobody has \
         measured; that leaves {} for {service}, {} for each of its {} instances.",
        rate(capacity.saturates_at),
        rate(capacity.grows_above),
        rate(capacity.never_cached),
        rate(capacity.limit),
        rate(capacity.limit_each),
        capacity.instances,
    )
}

fn as_json(incident: &Incident, args: &Args, columns: &[Column], rows: &[Row], made: &[Made]) -> Value {
    let column = |column: &Column| {
        json!({
            "title": column.title,
            "read": column.read,
            "window": [column.over.0, column.over.1],
        })
    };
    let row = |(row, made): (&Row, &Made)| {
        let values: Vec<Value> =
            made.figures.iter().map(|f| json!({ "value": f.value, "shown": f.shown })).collect();
        json!({ "name": row.name, "what": row.what, "values": values })
    };
    let capacity = |(service, database, c): &(String, String, Capacity)| {
        json!({
            "service": service,
            "database": database,
            "saturates_at": c.saturates_at,
            "grows_above": c.grows_above,
            "never_cached": c.never_cached,
            "limit": c.limit,
            "limit_each": c.limit_each,
            "instances": c.instances,
        })
    };
    json!({
        "schema": SCHEMA,
        "engine": ENGINE_VERSION,
        "incident": incident.file().id,
        "hash": format!("{:016x}", incident.hash()),
        "plan": args.plan,
        "seed": args.seed,
        "scale": args.scale(),
        "columns": columns.iter().map(column).collect::<Vec<_>>(),
        "rows": rows.iter().zip(made).map(row).collect::<Vec<_>>(),
        "capacity": capacities(incident, args.seed).iter().map(capacity).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_apart_at_commas_outside_of_brackets() {
        assert_eq!(apart("100, 200,None"), ["100", "200", "None"]);
        assert_eq!(apart(r#"(rate: "5/s", at_once: 2),None"#), [r#"(rate: "5/s", at_once: 2)"#, "None"]);
        assert_eq!(apart(""), [""]);
        assert_eq!(apart("a),b"), ["a)", "b"]);
    }
}
