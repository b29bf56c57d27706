//! User harm: operations that failed, came late, or were turned away.

use serde::{Deserialize, Serialize};

use super::reference::References;
use super::{Dimension, Grade, Judged, Mark};
use crate::game::Session;
use crate::telemetry::SeriesSet;
use crate::units::{Unit, short};

/// How much of the harm an operation counts that was turned away by a limit: it failed, but fast and on purpose.
const SHED_COUNTS: f64 = 0.5;

/// What counts as harm, for those who read figures of it.
pub const HARMED: &str = "Harmed are operations that failed or came late; those turned away count half.";

/// Harmed share of a minute below which users hardly notice.
pub(super) const WELL: f64 = 0.02;

/// Harm of a run: how its operations ended, in all and second by second.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Harm {
    /// Operations that succeeded in time.
    pub served: f64,
    /// That succeeded late.
    pub late: f64,
    /// That were turned away by a limit.
    pub shed: f64,
    /// That failed.
    pub failed: f64,
    /// Share of the operations that ended in each second that was harmed, 0 to 1; late ones count whole, those
    /// turned away half.
    pub per_second: Vec<f64>,
}

impl Harm {
    /// The harm that was recorded.
    pub fn of(series: &SeriesSet) -> Harm {
        let mut harm = Harm::default();
        let value = |name: &str, i: usize| {
            let found = series.get(name).and_then(|s| s.values.get(i)).copied();
            found.filter(|v| v.is_finite()).unwrap_or(0.0)
        };
        for i in 0..series.seconds() {
            let served = value("operations.served", i);
            let late = value("operations.late", i);
            let shed = value("operations.shed", i);
            // The series counts those turned away among the failed ones.
            let failed = value("operations.failed", i) - shed;
            harm.served += served;
            harm.late += late;
            harm.shed += shed;
            harm.failed += failed;
            let all = served + late + shed + failed;
            let harmed = failed + late + SHED_COUNTS * shed;
            harm.per_second.push(if all > 0.0 { harmed / all } else { 0.0 });
        }
        harm
    }

    /// Operations that ended.
    pub fn ended(&self) -> f64 {
        self.served + self.late + self.shed + self.failed
    }

    /// Harmed operations; those turned away count half.
    pub fn total(&self) -> f64 {
        self.failed + self.late + SHED_COUNTS * self.shed
    }

    /// Harmed share of all operations, so that runs of different size can be compared.
    pub fn share(&self) -> f64 {
        if self.ended() > 0.0 { self.total() / self.ended() } else { 0.0 }
    }

    /// Mean harmed share of a window of seconds; 0 when nothing was recorded there.
    pub fn mean(&self, seconds: std::ops::Range<usize>) -> f64 {
        let end = seconds.end.min(self.per_second.len());
        let window = &self.per_second[seconds.start.min(end)..end];
        if window.is_empty() { 0.0 } else { window.iter().sum::<f64>() / window.len() as f64 }
    }

    /// Whole minutes from a second on (the last one may be shorter): its first second and its mean harmed share.
    pub(super) fn minutes(&self, from: usize) -> impl Iterator<Item = (usize, f64)> {
        let rest = self.per_second.get(from..).unwrap_or(&[]);
        rest.chunks(60).enumerate().map(move |(i, m)| (from + i * 60, m.iter().sum::<f64>() / m.len() as f64))
    }

    /// The seconds of the worst minute from a second on, as far as it was recorded.
    pub fn worst(&self, from: usize) -> std::ops::Range<usize> {
        let worst = self.minutes(from).max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
        worst.map_or(from..from, |(start, _)| start..(start + 60).min(self.per_second.len()))
    }

    /// The harmed share of the worst minute from a second on.
    pub fn worst_minute(&self, from: usize) -> f64 {
        self.minutes(from).map(|m| m.1).fold(0.0, f64::max)
    }

    /// The second after which no minute is bad any more, counted in minutes from `from`; `None` when the last one
    /// is, or nothing was recorded from there on.
    pub fn recovered_at(&self, from: usize) -> Option<usize> {
        let mut well_since = None;
        for (start, share) in self.minutes(from) {
            if share > WELL {
                well_since = None;
            } else {
                well_since = well_since.or(Some(start));
            }
        }
        well_since
    }

    /// In a line.
    pub fn text(&self) -> String {
        format!(
            "{} failed, {} late, {} turned away of {} operations",
            short(self.failed),
            short(self.late),
            short(self.shed),
            short(self.ended())
        )
    }
}

/// How much of the harm that can be avoided was avoided: 0 for doing nothing, 1 for the senior's run, below 0 when
/// it got worse. `None` when doing nothing does no harm to speak of.
pub(super) fn avoided(own: &Harm, references: &References) -> Option<f64> {
    let possible = references.none.share() - references.senior.share();
    (possible > 1e-3).then(|| (references.none.share() - own.share()) / possible)
}

/// [`avoided`] in a sentence.
fn avoided_text(avoided: f64) -> String {
    let share = |part: f64| format!("{:.0} %", part * 100.0);
    match avoided {
        a if a < 0.0 => {
            format!("You did more harm than doing nothing: by {} of what the senior avoided.", share(-a))
        }
        a if a > 1.0 => {
            format!("You avoided all the harm that the senior avoided, and {} of it more.", share(a - 1.0))
        }
        a => format!("You avoided {} of the harm that the senior avoided.", share(a)),
    }
}

const RULE: &str = "Harm is failed plus late operations plus half of those turned away. Of the harm that \
    the senior avoids, on the same seed, against nobody doing anything: P from 75 % avoided, S from 40 %, M from 5 %.";

pub(super) fn mark(session: &Session, references: &References) -> Judged {
    let own = references.own_harm(session);
    let Some(avoided) = avoided(&own, references) else {
        return Mark::not_asked(Dimension::UserHarm, "Doing nothing does no harm in this incident.").into();
    };
    let mut facts = vec![
        format!("You: {}.", own.text()),
        format!(
            "Harmed share of all operations: you {}, nobody {}, the senior {}.",
            Unit::Ratio.show(own.share()),
            Unit::Ratio.show(references.none.share()),
            Unit::Ratio.show(references.senior.share())
        ),
        avoided_text(avoided),
    ];
    facts.extend(references.played_on(session));
    let well = (avoided > 0.0).then(|| {
        format!(
            "{} of the operations were harmed in your run, {} when nobody acts.",
            Unit::Ratio.show(own.share()),
            Unit::Ratio.show(references.none.share())
        )
    });
    Mark::new(Dimension::UserHarm, Grade::of_share(avoided, [0.75, 0.4, 0.05]), RULE, facts).with(well)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recovery_is_the_first_minute_after_the_last_bad_one() {
        let mut run = Harm { per_second: vec![0.0; 120], ..Harm::default() };
        run.per_second.extend([0.5; 180]);
        assert_eq!(run.recovered_at(120), None);
        assert_eq!(run.worst_minute(0), 0.5);
        run.per_second.extend([0.0; 90]);
        assert_eq!(run.recovered_at(120), Some(300));
        assert_eq!(run.recovered_at(10_000), None);
    }

    #[test]
    fn what_was_avoided_is_said_in_words() {
        for (avoided, wanted) in [
            (-0.3, "You did more harm than doing nothing: by 30 % of what the senior avoided."),
            (0.55, "You avoided 55 % of the harm that the senior avoided."),
            (1.23, "You avoided all the harm that the senior avoided, and 23 % of it more."),
        ] {
            assert_eq!(avoided_text(avoided), wanted);
        }
    }

    #[test]
    fn turned_away_counts_half() {
        let harm = Harm { served: 80.0, late: 5.0, shed: 10.0, failed: 5.0, per_second: vec![] };
        assert_eq!(harm.share(), 0.15);
    }
}
