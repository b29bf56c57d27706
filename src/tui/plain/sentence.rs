//! A chart as a sentence: what a series shows now, what it came from, and since when it has stayed there.

use crate::telemetry::Series;
use crate::units::{SimSpan, TimeOfDay, Unit};

/// Seconds whose level is one point of the sentence's own, coarse view of a series.
const POINT_S: usize = 10;
/// A change of this share of the larger of both values is one that a person would see.
const SEEN: f64 = 0.12;
/// Points of a ratio that make a difference.
const SEEN_RATIO: f64 = 0.03;
/// A value has stayed where it is when it has done so for this many points.
const STAYED: usize = 4;

/// The newest point first; each is the median of three levels, so that one odd second moves nothing.
fn points(series: &Series, window: usize) -> Vec<f64> {
    let end = series.values.len();
    let mut levels = Vec::new();
    while levels.len() * POINT_S < window {
        let to = end.saturating_sub(levels.len() * POINT_S);
        match series.level(to.saturating_sub(POINT_S)..to).filter(|_| to > 0) {
            Some(level) => levels.push(level),
            None => break,
        }
    }
    let median = |i: usize| {
        let mut three = [levels[i.saturating_sub(1)], levels[i], levels[(i + 1).min(levels.len() - 1)]];
        three.sort_by(f64::total_cmp);
        three[1]
    };
    (0..levels.len()).map(median).collect()
}

/// How far a value can be from another one that is not told apart from it.
fn tolerance(value: f64, unit: Unit, largest: f64) -> f64 {
    let least = if unit == Unit::Ratio { SEEN_RATIO } else { largest / 50.0 };
    (value.abs() * SEEN).max(least)
}

/// What a series shows, in words that stand behind its name: `98 %, up from 38 % at 14:02, flat since 14:04`.
///
/// `start` is the time of day of the first sample, `window` the seconds that are looked back.
pub(super) fn sentence(series: &Series, start: TimeOfDay, window: usize) -> String {
    let show = |value: f64| series.unit.show(value);
    let Some(now) = series.recent() else { return "no data".to_owned() };
    let points = points(series, window);
    let largest = points.iter().fold(0.0f64, |most, v| most.max(v.abs()));
    let differ = |a: f64, b: f64| (a - b).abs() > tolerance(a.abs().max(b.abs()), series.unit, largest);
    // Minutes are enough to find the place on a chart, and shorter to listen to.
    let time = |point: usize| {
        let second = series.values.len().saturating_sub(point * POINT_S);
        start.after(SimSpan::from_secs(second as u64)).to_string()[..5].to_owned()
    };
    let Some(&newest) = points.first() else { return show(now) };
    let Some(left) = points.iter().position(|v| differ(*v, newest)) else {
        let minutes = points.len() * POINT_S / 60;
        return match minutes {
            0 => show(now),
            1 => format!("{}, steady for a minute", show(now)),
            n => format!("{}, steady for {n} minutes", show(now)),
        };
    };
    // From there back for as long as it goes on in the same direction: a level that holds for a minute ends the way.
    let rose = points[left] < newest;
    let further = |a: f64, b: f64| if rose { a < b } else { a > b };
    let mut from = left;
    for i in left + 1..points.len() {
        if further(points[i], points[from]) {
            from = i;
        } else if differ(points[i], points[from]) && !further(points[i], points[left])
            || i - from > 2 * STAYED
        {
            break;
        }
    }
    // The last moment at which it was still there.
    while from > left && !differ(points[from - 1], points[from]) {
        from -= 1;
    }
    // It stays where it is when the newer half of that time is like the older one.
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len().max(1) as f64;
    let (newer, older) = points[..left].split_at(left / 2);
    let stays =
        left >= STAYED && (mean(newer) - mean(older)).abs() * 3.0 <= tolerance(newest, series.unit, largest);
    let since = if stays { format!(", flat since {}", time(left)) } else { String::new() };
    let moving = match (stays, rose) {
        (true, _) => "",
        (false, true) => ", still rising",
        (false, false) => ", still falling",
    };
    // A peak or a dip is no level to come from: what stood before it is.
    let held = |i: usize| points.get(i..i + STAYED).is_some_and(|p| p.iter().all(|v| !differ(*v, p[0])));
    let passing = !held(from);
    let before = (from..points.len()).find(|&i| passing && held(i) && differ(points[i], points[from]));
    if let Some(before) = before {
        let what = if rose { "a dip to" } else { "a peak of" };
        let extreme = format!("{what} {} at {}", show(points[from]), time(from));
        if !differ(points[before], newest) {
            return format!("{}, as before {extreme}{since}", show(now));
        }
        let word = if points[before] < now { "up" } else { "down" };
        return format!(
            "{}, {word} from {} at {}, after {extreme}{since}{moving}",
            show(now),
            show(points[before]),
            time(before)
        );
    }
    let word = if points[from] < now { "up" } else { "down" };
    format!("{}, {word} from {} at {}{since}{moving}", show(now), show(points[from]), time(from))
}

/// The highest and the lowest point of the window.
pub(super) fn extremes(series: &Series, start: TimeOfDay, window: usize) -> Option<String> {
    let end = series.values.len();
    let from = end.saturating_sub(window);
    let measured = (from..end).filter(|&i| series.values[i].is_finite());
    let by_value = |a: &usize, b: &usize| series.values[*a].total_cmp(&series.values[*b]);
    let (low, high) = (measured.clone().min_by(by_value)?, measured.max_by(by_value)?);
    let say = |i: usize| {
        format!("{} at {}", series.unit.show(series.values[i]), start.after(SimSpan::from_secs(i as u64)))
    };
    Some(format!("Highest second {}, lowest {}.", say(high), say(low)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::SeriesSet;

    fn said(unit: Unit, values: Vec<f64>) -> String {
        let set = SeriesSet::from_samples([("x", unit, values)]);
        sentence(set.get("x").expect("the series"), "14:00".parse().expect("a time"), 900)
    }

    /// Values that hold for so many seconds each.
    fn levels(parts: &[(usize, f64)]) -> Vec<f64> {
        parts.iter().flat_map(|&(n, v)| std::iter::repeat_n(v, n)).collect()
    }

    #[test]
    fn a_chart_is_a_sentence() {
        for (values, wanted) in [
            (levels(&[(300, 0.4)]), "40.0 %, steady for 5 minutes"),
            (levels(&[(120, 0.38), (240, 0.98)]), "98.0 %, up from 38.0 % at 14:02, flat since 14:02"),
            (levels(&[(120, 0.98), (240, 0.16)]), "16.0 %, down from 98.0 % at 14:02, flat since 14:02"),
            (
                levels(&[(300, 0.01), (30, 0.66), (120, 0.45)]),
                "45.0 %, up from 1.0 % at 14:05, after a peak of 66.0 % at 14:05, flat since 14:05",
            ),
            (
                levels(&[(300, 0.9), (30, 0.2), (120, 0.9)]),
                "90.0 %, as before a dip to 20.0 % at 14:05, flat since 14:05",
            ),
            (levels(&[(30, 0.4)]), "40.0 %"),
            (vec![f64::NAN; 60], "no data"),
            (Vec::new(), "no data"),
        ] {
            assert_eq!(said(Unit::Ratio, values), wanted);
        }
    }

    #[test]
    fn a_wobble_is_not_worth_a_word() {
        let wobble = (0..300).map(|i| if i % 2 == 0 { 103.0 } else { 97.0 }).collect();
        let said = said(Unit::PerSecond, wobble);
        assert!(said.ends_with("/s, steady for 5 minutes"), "{said}");
    }

    #[test]
    fn what_still_moves_is_said_to_move() {
        let rising: Vec<f64> = (0..300).map(|i| if i < 120 { 100.0 } else { f64::from(i) * 5.0 }).collect();
        let said = said(Unit::PerSecond, rising);
        assert!(said.contains("up from 100/s at 14:0") && said.ends_with("still rising"), "{said}");
    }
}
