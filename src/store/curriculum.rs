//! The order in which drills are best played, how far somebody is, and what to play next.

use chrono::NaiveDate;
use serde::Serialize;

use super::progress::{Finished, Progress};
use crate::incident::schema::{IncidentFile, Level};
use crate::score::Dimension;

/// The name of the drill that draws another cause each time.
pub const BLIND: &str = "blind";
/// Days after which somebody who has played an incident is tested with its look-alike.
pub const RETEST_DAYS: i64 = 3;
/// Runs that a trend compares with those before them.
const RECENT: usize = 3;

/// A drill of the curriculum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drill {
    /// The incident, or [`BLIND`].
    pub id: String,
    /// Title, as shown.
    pub title: String,
    level: Level,
    minutes: u32,
    look_alikes: Vec<String>,
}

impl Drill {
    /// The drill that is an incident.
    pub fn of(file: &IncidentFile) -> Drill {
        Drill {
            id: file.id.clone(),
            title: file.title.clone(),
            level: file.level,
            minutes: file.minutes,
            look_alikes: file.look_alikes.clone(),
        }
    }

    /// The blind drill, which comes after all others.
    pub fn blind() -> Drill {
        Drill {
            id: BLIND.to_owned(),
            title: "Blind drill".to_owned(),
            level: Level::Advanced,
            minutes: u32::MAX,
            look_alikes: Vec::new(),
        }
    }
}

/// How somebody stands with a drill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Standing {
    /// The incident, or [`BLIND`].
    pub id: String,
    /// Title.
    pub title: String,
    /// Finished runs.
    pub runs: usize,
    /// Letters of the best run, one for each dimension; empty without one.
    pub best: String,
    /// Letters of the last run.
    pub last: String,
    /// The day of the last run.
    #[serde(serialize_with = "date")]
    pub played: Option<NaiveDate>,
}

/// Marks of one dimension over all runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trend {
    /// What is marked.
    pub dimension: &'static str,
    /// Letters, the oldest first, of the runs in which it was asked.
    pub letters: String,
    /// Points of the last runs minus those of the runs before, each between 0 and 3 on average; nothing without both.
    pub change: Option<f64>,
}

/// What to play next, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Suggestion {
    /// The incident, or [`BLIND`].
    pub id: String,
    /// Why, in a sentence.
    pub why: String,
}

/// Somebody's way through the drills.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curriculum {
    /// All drills, in the order in which they are best played.
    pub drills: Vec<Standing>,
    /// Dimension by dimension.
    pub trends: Vec<Trend>,
    /// Look-alikes that are due.
    pub due: Vec<Suggestion>,
    /// What to play next; nothing where there is nothing to play.
    pub next: Option<Suggestion>,
}

/// A date as text.
fn date<S: serde::Serializer>(day: &Option<NaiveDate>, serializer: S) -> Result<S::Ok, S::Error> {
    day.map(|day| day.to_string()).serialize(serializer)
}

/// The letters of a run in the order of the dimensions.
fn letters(run: &Finished) -> String {
    run.marks.iter().map(|mark| mark.1.as_str()).collect()
}

fn points(letter: char) -> Option<f64> {
    match letter {
        'P' => Some(3.0),
        'S' => Some(2.0),
        'M' => Some(1.0),
        'U' => Some(0.0),
        _ => None,
    }
}

/// Points of a run as a share of those that it could have had.
fn share(letters: &str) -> f64 {
    let all: Vec<f64> = letters.chars().filter_map(points).collect();
    all.iter().sum::<f64>() / (3 * all.len().max(1)) as f64
}

/// The day on which a run was begun.
fn day(run: &Finished) -> Option<NaiveDate> {
    NaiveDate::parse_from_str(run.when.get(..8)?, "%Y%m%d").ok()
}

impl Curriculum {
    /// How somebody stands today.
    pub fn of(mut drills: Vec<Drill>, progress: &Progress, today: NaiveDate) -> Curriculum {
        drills.sort_by(|a, b| (a.level, a.minutes, &a.id).cmp(&(b.level, b.minutes, &b.id)));
        let standings: Vec<Standing> = drills.iter().map(|drill| standing(drill, progress)).collect();
        let due = due(&drills, &standings, today);
        let first_new = || {
            standings.iter().position(|s| s.runs == 0).map(|i| {
                let why = if i == 0 {
                    "It comes first: it shows where everything is.".to_owned()
                } else {
                    "You have not played it, and it is the next in order.".to_owned()
                };
                Suggestion { id: standings[i].id.clone(), why }
            })
        };
        let weakest = || {
            let weakest = standings.iter().min_by(|a, b| share(&a.best).total_cmp(&share(&b.best)))?;
            let why = format!("Of all drills, your best run leaves most room here: {}.", weakest.best);
            Some(Suggestion { id: weakest.id.clone(), why })
        };
        let next = due.first().cloned().or_else(first_new).or_else(weakest);
        Curriculum { drills: standings, trends: trends(progress), due, next }
    }
}

fn standing(drill: &Drill, progress: &Progress) -> Standing {
    let runs: Vec<&Finished> = progress.runs(&drill.id).collect();
    let best = runs.iter().copied().max_by_key(|run| run.points());
    Standing {
        id: drill.id.clone(),
        title: drill.title.clone(),
        runs: runs.len(),
        best: best.map(letters).unwrap_or_default(),
        last: runs.last().map(|run| letters(run)).unwrap_or_default(),
        played: runs.last().and_then(|run| day(run)),
    }
}

/// Look-alikes of what was played some days ago that were not played since.
fn due(drills: &[Drill], standings: &[Standing], today: NaiveDate) -> Vec<Suggestion> {
    let mut all = Vec::new();
    for (drill, own) in drills.iter().zip(standings) {
        let since = |other: &str| {
            let other = standings.iter().find(|s| s.id == other)?;
            let played = other.played?;
            let days = (today - played).num_days();
            let again = own.played.is_some_and(|own| own >= played);
            (days >= RETEST_DAYS && !again).then_some((days, other))
        };
        if let Some((days, other)) = drill.look_alikes.iter().find_map(|other| since(other)) {
            let why = format!(
                "You played \"{}\" {days} days ago. This one begins with the same page.",
                other.title
            );
            all.push(Suggestion { id: drill.id.clone(), why });
        }
    }
    all
}

fn trends(progress: &Progress) -> Vec<Trend> {
    let of = |dimension: Dimension| {
        let mark = |run: &Finished| {
            let found = run.marks.iter().find(|mark| mark.0 == dimension.label())?;
            found.1.chars().next().filter(|letter| points(*letter).is_some())
        };
        let letters: String = progress.finished.iter().filter_map(mark).collect();
        let values: Vec<f64> = letters.chars().filter_map(points).collect();
        let (before, recent) = values.split_at(values.len().saturating_sub(RECENT));
        let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
        let change =
            (!before.is_empty()).then(|| mean(recent) - mean(&before[before.len().saturating_sub(RECENT)..]));
        Trend { dimension: dimension.label(), letters, change }
    };
    Dimension::ALL.into_iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drill(id: &str, level: Level, look_alikes: &[&str]) -> Drill {
        let look_alikes = look_alikes.iter().map(|name| (*name).to_owned()).collect();
        Drill { id: id.to_owned(), title: id.to_uppercase(), level, minutes: 10, look_alikes }
    }

    fn run(incident: &str, when: &str, marks: &str) -> Finished {
        let labels = Dimension::ALL.into_iter().map(Dimension::label);
        Finished {
            incident: incident.to_owned(),
            blind: false,
            when: when.to_owned(),
            mode: "live".to_owned(),
            seed: 1,
            marks: labels.zip(marks.chars()).map(|(l, m)| (l.to_owned(), m.to_string())).collect(),
        }
    }

    fn curriculum(runs: &[Finished], today: &str) -> Curriculum {
        let drills = vec![
            Drill::blind(),
            drill("hard", Level::Advanced, &["middle"]),
            drill("middle", Level::Intermediate, &["hard"]),
            drill("tour", Level::Beginner, &[]),
        ];
        let progress = Progress { finished: runs.to_vec(), ..Progress::default() };
        Curriculum::of(drills, &progress, today.parse().expect("a date"))
    }

    fn next(runs: &[Finished], today: &str) -> String {
        curriculum(runs, today).next.expect("there are drills").id
    }

    #[test]
    fn drills_go_from_easy_to_blind() {
        let ids: Vec<String> = curriculum(&[], "2026-03-01").drills.into_iter().map(|d| d.id).collect();
        assert_eq!(ids, ["tour", "middle", "hard", BLIND]);
        let tour = run("tour", "20260301-120000", "PPPP");
        assert_eq!(next(&[], "2026-03-01"), "tour");
        assert_eq!(next(std::slice::from_ref(&tour), "2026-03-01"), "middle");
    }

    #[test]
    fn a_look_alike_is_due_after_some_days_until_it_is_played() {
        let mut runs = vec![run("tour", "20260301-120000", "PPPP"), run("hard", "20260301-130000", "PPPP")];
        assert_eq!(curriculum(&runs, "2026-03-03").due, []);
        let due = curriculum(&runs, "2026-03-05").due;
        assert_eq!(due.len(), 1);
        assert_eq!(due[0].id, "middle");
        assert!(due[0].why.contains("\"HARD\" 4 days ago"), "{}", due[0].why);
        runs.push(run("middle", "20260305-100000", "PPPP"));
        assert_eq!(curriculum(&runs, "2026-03-06").due, []);
    }

    #[test]
    fn who_has_played_all_is_sent_where_most_room_is_left() {
        let mut runs: Vec<Finished> = [("tour", "PPPP"), ("middle", "PSPM"), ("hard", "PPPS")]
            .map(|(id, marks)| run(id, "20260301-120000", marks))
            .to_vec();
        assert_eq!(next(&runs, "2026-03-01"), BLIND);
        runs.push(Finished { blind: true, ..run("tour", "20260301-120000", "UUUU") });
        assert_eq!(next(&runs, "2026-03-01"), BLIND);
        runs.push(Finished { blind: true, ..run("tour", "20260301-120500", "PPPP") });
        assert_eq!(next(&runs, "2026-03-01"), "middle");
        // A blind run is none of the incident that it was drawn from.
        assert_eq!(curriculum(&runs, "2026-03-01").drills[0].runs, 1);
    }

    #[test]
    fn a_trend_compares_the_last_runs_with_those_before() {
        let runs: Vec<Finished> =
            ["U", "M", "S", "-", "P", "P", "P"].map(|marks| run("tour", "20260301-120000", marks)).to_vec();
        let trend = &curriculum(&runs, "2026-03-01").trends[0];
        assert_eq!((trend.letters.as_str(), trend.change), ("UMSPPP", Some(2.0)));
        assert_eq!(curriculum(&runs[..2], "2026-03-01").trends[0].change, None);
    }
}
