//! The debrief as one page: no script, nothing to fetch. Charts are drawn by [`super::chart`], the page is a template.

use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment};
use plotters::style::text_anchor::HPos;
use serde::Serialize;
use std::collections::BTreeMap;

use super::blocks::{
    HOW_TO_GO_ON, LOOK_ALIKE, NO_COMMENTARY, NO_DISCUSSION, NO_TRAP, NOT_ANSWERED, NOTHING_ASKED,
};
use super::chart::{Chart, Mark, Plot, Tone};
use super::curve::fork_name;
use super::{Extent, Section};
use crate::game::TOLERANCE;
use crate::game::command::Finding;
use crate::score::{
    AnswerEntry, Curve, Debrief, Descent, EndedEarly, ForkEntry, Grade, HARMED, HarmSection, LoopEntry,
    MissedKind, PredictionEntry, ReadingEntry,
};
use crate::units::{SimSpan, TimeOfDay, Unit};

/// The page without what is in it.
const TEMPLATE: &str = include_str!("../../assets/report.html");
/// Sizes of charts on the page: across it, and beside another one.
const WIDE: (u32, u32) = (860, 270);
const HALF: (u32, u32) = (420, 190);
/// Seconds of a row of the table behind a chart.
const ROW_S: usize = 60;

/// What stands for something in a chart.
#[derive(Serialize)]
struct Label {
    tone: &'static str,
    shape: &'static str,
    text: String,
}

impl Label {
    fn line(tone: Tone, text: &str) -> Label {
        Label { tone: tone.name(), shape: "line", text: text.to_owned() }
    }
}

/// A chart with what is said beside it.
#[derive(Serialize)]
struct Figure {
    id: String,
    title: String,
    /// What is to be seen, for those who do not see it.
    says: String,
    svg: String,
    width: u32,
    height: u32,
    legend: Vec<Label>,
    /// The numbers behind it: heads of columns, and rows.
    heads: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// A mark in words.
#[derive(Serialize)]
struct Marked<'a> {
    label: &'static str,
    letter: &'static str,
    words: &'static str,
    rule: &'a str,
    facts: &'a [String],
}

/// Missed signals of a kind.
#[derive(Serialize)]
struct MissedOfAKind<'a> {
    kind: &'static str,
    means: &'static str,
    all: Vec<&'a str>,
}

#[derive(Serialize)]
struct Page<'a> {
    debrief: &'a Debrief,
    whole: bool,
    /// Anchors and names of the sections that are told, in order.
    sections: Vec<(&'static str, &'static str)>,
    /// What stands above each section, by its anchor.
    headings: BTreeMap<&'static str, String>,
    /// What stands in sections of which the incident has nothing, by their anchors.
    nothing: BTreeMap<&'static str, &'static str>,
    how_to_go_on: &'static str,
    version: &'static str,
    marks: Vec<Marked<'a>>,
    harm: Figure,
    /// What counts as harm.
    harmed: &'static str,
    /// Names and tones of the forks.
    forks: Vec<(String, &'static str)>,
    look_alike: &'static str,
    predictions: Vec<Option<Figure>>,
    /// What became of each prediction, and whether it held.
    stories: Vec<(String, &'static str)>,
    /// What is missing in a run that was ended early.
    ended_early: Vec<String>,
    /// What stands where a stage's question has no answer.
    not_answered: &'static str,
    /// Whether each answer to a stage was right, in words.
    verdicts: Vec<Option<&'static str>>,
    /// What became of each step's series.
    loop_figures: Vec<String>,
    tolerance: &'static str,
    seen: Vec<Vec<(&'static str, bool)>>,
    /// What is said of moments of the senior's reading that the run did not reach.
    not_reached: Vec<Option<String>>,
    loop_charts: Vec<Option<Figure>>,
    amplification: Option<Figure>,
    load: Option<String>,
    named: [(&'static str, &'a (String, String)); 4],
    missed: Vec<MissedOfAKind<'a>>,
}

/// Seconds of the run as a time of day.
fn clock(start: TimeOfDay, second: usize) -> String {
    start.after(SimSpan::from_secs(second as u64)).to_string()
}

/// Rows of a table: the mean of each minute of all columns, which have buckets of `step_s` seconds from `from_s` on.
fn rows(
    start: TimeOfDay,
    from_s: usize,
    step_s: usize,
    columns: &[(Unit, Vec<Option<f64>>)],
) -> Vec<Vec<String>> {
    let per_row = (ROW_S / step_s.max(1)).max(1);
    let length = columns.iter().map(|c| c.1.len()).max().unwrap_or(0);
    let cell = |(unit, values): &(Unit, Vec<Option<f64>>), at: usize| {
        let end = (at + per_row).min(values.len());
        let part = || values.get(at..end).unwrap_or(&[]).iter().flatten();
        let n = part().count();
        if n == 0 { "–".to_owned() } else { unit.show(part().sum::<f64>() / n as f64) }
    };
    let row = |at: usize| {
        let time = clock(start, from_s + at * step_s);
        std::iter::once(time).chain(columns.iter().map(|c| cell(c, at))).collect()
    };
    (0..length).step_by(per_row).map(row).collect()
}

/// Means of buckets as a line, each at the middle of its bucket.
fn line(tone: Tone, from: usize, step_s: usize, values: &[f64]) -> Plot {
    let point = |(i, v): (usize, &f64)| (((from + i) * step_s) as f64 + step_s as f64 / 2.0, Some([*v; 3]));
    Plot { tone, points: values.iter().enumerate().map(point).collect() }
}

/// A recorded series as a line with the range of its samples.
fn recorded(tone: Tone, curve: &Curve) -> Plot {
    let at = |i: usize| (curve.from_s + i * curve.step_s) as f64 + curve.step_s as f64 / 2.0;
    Plot { tone, points: curve.buckets.iter().enumerate().map(|(i, b)| (at(i), *b)).collect() }
}

fn means(curve: &Curve) -> (Unit, Vec<Option<f64>>) {
    (curve.unit, curve.buckets.iter().map(|b| b.map(|b| b[0])).collect())
}

fn figure(id: String, title: String, says: String, chart: Chart, legend: Vec<Label>) -> Figure {
    let (svg, width, height) = chart.draw();
    Figure { id, title, says, svg, width, height, legend, heads: Vec::new(), rows: Vec::new() }
}

impl Figure {
    fn with_table(mut self, heads: &[&str], rows: Vec<Vec<String>>) -> Figure {
        self.heads = heads.iter().map(|h| (*h).to_owned()).collect();
        self.rows = rows;
        self
    }
}

fn harm_figure(harm: &HarmSection, forks: &[ForkEntry], start: TimeOfDay) -> Figure {
    let mut you = harm.you.clone();
    you.extend(&harm.played_out);
    let mut runs: Vec<(Tone, String, &[f64])> = vec![
        (Tone::You, "you".to_owned(), &you),
        (Tone::Senior, "the senior".to_owned(), &harm.senior),
        (Tone::Nobody, "nobody acts".to_owned(), &harm.none),
    ];
    runs.extend(forks.iter().enumerate().map(|(n, f)| (Tone::Fork(n), fork_name(n), f.harm.as_slice())));
    // The player's line lies on top.
    let plots = runs.iter().rev().map(|(tone, _, values)| line(*tone, 0, harm.step_s, values)).collect();
    let mut marks: Vec<Mark> = harm.levers.iter().map(|l| Mark::Letter(l.at_s, l.letter)).collect();
    if !harm.played_out.is_empty() {
        let (end, all) = (harm.you.len() * harm.step_s, you.len() * harm.step_s);
        marks.push(Mark::Window((end, all), "after you left", HPos::Left));
    }
    let worst = |values: &[f64]| Unit::Ratio.show(values.iter().copied().fold(0.0, f64::max));
    let says = format!(
        "Share of operations that were harmed, from {}. At its worst: you {}, the senior {}, nobody acting {}.",
        harm.start,
        worst(&you),
        worst(&harm.senior),
        worst(&harm.none)
    );
    let columns: Vec<(Unit, Vec<Option<f64>>)> =
        runs.iter().map(|run| (Unit::Ratio, run.2.iter().copied().map(Some).collect())).collect();
    let legend = runs.iter().map(|(tone, name, _)| Label::line(*tone, name)).collect();
    let heads: Vec<&str> = std::iter::once("from").chain(runs.iter().map(|run| run.1.as_str())).collect();
    let table = rows(start, 0, harm.step_s, &columns);
    let chart = Chart { size: WIDE, unit: Unit::Ratio, start, plots, marks };
    let title = "Operations harmed".to_owned();
    figure("harm".to_owned(), title, says, chart, legend).with_table(&heads, table)
}

fn prediction_figure(n: usize, p: &PredictionEntry, start: TimeOfDay) -> Option<Figure> {
    let curve = p.curve.as_ref()?;
    let became = p.value.zip(p.right);
    let says = format!("{} around {}. You {}; {}.", p.series, p.clock, p.expectation(), p.story());
    let shape = |tone: Tone, shape, text: &str| Label { shape, ..Label::line(tone, text) };
    let mut legend =
        vec![Label::line(Tone::You, "recorded"), shape(Tone::Right, "area", "right if it ends here")];
    if let Some((_, right)) = became {
        let tone = if right { Tone::Right } else { Tone::Wrong };
        legend.push(shape(tone, "dot", &format!("it became {}", p.became)));
    }
    let marks = vec![Mark::Target { from_to_s: p.from_to_s, right: p.right_from_to, became }];
    let chart = Chart { size: HALF, unit: curve.unit, start, plots: vec![recorded(Tone::You, curve)], marks };
    let table = rows(start, curve.from_s, curve.step_s, &[means(curve)]);
    let figure = figure(format!("prediction-{n}"), p.series.clone(), says, chart, legend);
    Some(figure.with_table(&["from", &p.series], table))
}

fn loop_figure(n: usize, step: &LoopEntry, start: TimeOfDay) -> Option<Figure> {
    let curve = step.curve.as_ref()?;
    let says = format!("{}: {}.", step.series, step.figures());
    let words = [("before", HPos::Right), ("worst", HPos::Left), ("end", HPos::Right)];
    let marks = step
        .windows
        .iter()
        .zip(words)
        .filter(|(window, _)| window.0 < window.1)
        .map(|(window, (word, side))| Mark::Window(*window, word, side))
        .collect();
    let chart = Chart { size: HALF, unit: curve.unit, start, plots: vec![recorded(Tone::You, curve)], marks };
    let table = rows(start, curve.from_s, curve.step_s, &[means(curve)]);
    let figure = figure(format!("loop-{n}"), step.series.clone(), says, chart, Vec::new());
    Some(figure.with_table(&["from", &step.series], table))
}

fn amplification_figure(debrief: &Debrief, start: TimeOfDay) -> Option<Figure> {
    let curves = &debrief.amplification;
    let first = curves.first()?;
    let tones = [Tone::You, Tone::Fork(1)];
    let named = || curves.iter().zip(tones);
    let highest = |c: &Curve| c.unit.show(c.highest().unwrap_or(f64::NAN));
    let says: Vec<String> = curves.iter().map(|c| format!("{}: up to {}.", c.name, highest(c))).collect();
    let chart = Chart {
        size: WIDE,
        unit: first.unit,
        start,
        plots: named().map(|(c, tone)| recorded(tone, c)).collect(),
        marks: debrief.harm.levers.iter().map(|l| Mark::Letter(l.at_s, l.letter)).collect(),
    };
    let legend = named().map(|(c, tone)| Label::line(tone, &c.name)).collect();
    let heads: Vec<&str> = std::iter::once("from").chain(curves.iter().map(|c| c.name.as_str())).collect();
    let columns: Vec<(Unit, Vec<Option<f64>>)> = curves.iter().map(means).collect();
    let table = rows(start, first.from_s, first.step_s, &columns);
    let title = "Work made by one operation".to_owned();
    Some(figure("amplification".to_owned(), title, says.join(" "), chart, legend).with_table(&heads, table))
}

fn missed(debrief: &Debrief) -> Vec<MissedOfAKind<'_>> {
    let kinds = [
        (MissedKind::NotVisible, "it was on no screen"),
        (MissedKind::NotLookedAt, "it was there and you did not open it"),
        (MissedKind::Misread, "you looked, and your verdict does not fit what it showed"),
    ];
    let of = |(kind, means): (MissedKind, &'static str)| MissedOfAKind {
        kind: kind.label(),
        means,
        all: debrief.missed.iter().filter(|m| m.kind == kind).map(|m| m.text.as_str()).collect(),
    };
    kinds.into_iter().map(of).filter(|k| !k.all.is_empty()).collect()
}

/// The page. An error is a mistake in the template.
pub(super) fn render(debrief: &Debrief, extent: Extent) -> Result<String, minijinja::Error> {
    let start: TimeOfDay = debrief.harm.start.parse().unwrap_or_default();
    let marks = debrief.score.dimensions.iter().map(|m| Marked {
        label: m.dimension.label(),
        letter: m.grade.letter(),
        words: m.grade.words(),
        rule: &m.rule,
        facts: if m.grade == Grade::NotAsked && m.facts.is_empty() { &[] } else { &m.facts },
    });
    let m = &debrief.mechanism;
    let seen = |s: &crate::score::SeenEntry| (s.seen.label(), s.seen == crate::score::Seen::LookedAt);
    let whole = extent == Extent::Whole;
    let told = || Section::ALL.into_iter().filter(|s| whole || !s.tells_the_cause());
    let nothing = [
        (Section::Asked, NOTHING_ASKED),
        (Section::Senior, NO_COMMENTARY),
        (Section::Trap, NO_TRAP),
        (Section::Discuss, NO_DISCUSSION),
    ];
    let page = Page {
        debrief,
        whole,
        sections: told().map(|s| (s.id(), s.title())).collect(),
        headings: told().map(|s| (s.id(), s.heading())).collect(),
        nothing: nothing.into_iter().map(|(s, text)| (s.id(), text)).collect(),
        how_to_go_on: HOW_TO_GO_ON,
        version: env!("CARGO_PKG_VERSION"),
        marks: marks.collect(),
        harm: harm_figure(&debrief.harm, &debrief.forks, start),
        harmed: HARMED,
        forks: (0..debrief.forks.len()).map(|n| (fork_name(n), Tone::Fork(n).name())).collect(),
        predictions: debrief
            .predictions
            .iter()
            .enumerate()
            .map(|(n, p)| prediction_figure(n + 1, p, start))
            .collect(),
        stories: debrief.predictions.iter().map(|p| (p.story(), p.verdict())).collect(),
        ended_early: debrief.ended_early.iter().flat_map(EndedEarly::sentences).collect(),
        not_answered: NOT_ANSWERED,
        verdicts: debrief.asked.iter().map(|a| a.answer.as_ref().map(AnswerEntry::verdict)).collect(),
        loop_figures: debrief.why_it_held.iter().map(LoopEntry::figures).collect(),
        look_alike: LOOK_ALIKE,
        tolerance: TOLERANCE,
        seen: debrief.reading.iter().map(|r| r.looks_at.iter().map(seen).collect()).collect(),
        not_reached: debrief.reading.iter().map(ReadingEntry::not_reached).collect(),
        loop_charts: debrief
            .why_it_held
            .iter()
            .enumerate()
            .map(|(n, step)| loop_figure(n + 1, step, start))
            .collect(),
        amplification: amplification_figure(debrief, start),
        load: debrief.load.as_ref().map(Descent::text),
        named: [
            (Finding::TRIGGER, &m.trigger),
            (Finding::AMPLIFIERS, &m.amplifiers),
            (Finding::CONTRIBUTING, &m.contributing),
            (Finding::BOTTLENECK, &m.bottleneck),
        ],
        missed: missed(debrief),
    };
    let mut environment = Environment::new();
    // Whatever a player or an author wrote is text; only our own drawings are markup.
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.add_template("report.html", TEMPLATE)?;
    environment.get_template("report.html")?.render(Value::from(Serde(page)))
}
