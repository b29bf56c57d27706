//! The harm curve in plain characters.

use crate::score::{ForkEntry, HarmSection};

/// Heights of a column, from nothing to full.
const STEPS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Columns of the labels in front of the curves.
const LABEL: usize = 10;

/// The largest value of each of `columns` equal parts, so that no spike is lost.
fn resample(values: &[f64], columns: usize, length: usize) -> Vec<Option<f64>> {
    (0..columns)
        .map(|c| {
            let from = c * length / columns;
            let to = ((c + 1) * length / columns).max(from + 1);
            let part = values.get(from..to.min(values.len())).unwrap_or(&[]);
            part.iter().copied().reduce(f64::max)
        })
        .collect()
}

/// A series as one line of `columns` characters: the mean of each part of it, a full column standing for `full`; a part
/// without a sample is left blank.
pub fn sparkline(values: &[f64], columns: usize, full: f64) -> String {
    let part = |c: usize| {
        let (from, to) = (c * values.len() / columns, (c + 1) * values.len() / columns);
        let part = values.get(from..to.max(from + 1).min(values.len())).unwrap_or(&[]);
        let (sum, n) = part.iter().filter(|v| v.is_finite()).fold((0.0, 0u32), |(s, n), v| (s + v, n + 1));
        (n > 0).then(|| sum / f64::from(n))
    };
    let draw = |value: Option<f64>| match value {
        Some(value) if full > 0.0 => STEPS[((value / full * 8.0).ceil() as usize).clamp(1, 8)],
        Some(_) => STEPS[1],
        None => STEPS[0],
    };
    (0..columns).map(|c| draw(part(c))).collect()
}

/// How a fork is called beside its curve.
pub fn fork_name(n: usize) -> String {
    format!("fork {}", n + 1)
}

/// Harmed share of the three runs and of forks over time, with a mark at each lever; the full height is everything.
pub fn harm_curves(harm: &HarmSection, forks: &[ForkEntry], width: usize) -> Vec<String> {
    let mut you = harm.you.clone();
    you.extend(&harm.played_out);
    let length = you.len().max(harm.none.len()).max(harm.senior.len()).max(1);
    let columns = width.saturating_sub(LABEL).clamp(10, length.max(10));
    let row = |label: &str, values: &[f64]| {
        let draw = |v: Option<f64>| match v {
            None => ' ',
            // Anything above nothing is drawn.
            Some(v) if v <= 0.001 => STEPS[0],
            Some(v) => STEPS[((v * 8.0).ceil() as usize).clamp(1, 8)],
        };
        let bars: String = resample(values, columns, length).into_iter().map(draw).collect();
        format!("{label:<LABEL$}{}", bars.trim_end())
    };
    let mut marks = vec![' '; columns];
    for lever in &harm.levers {
        let column = (lever.at_s as usize / harm.step_s.max(1)) * columns / length;
        // Levers pulled at the same time stand beside each other.
        if let Some(place) = marks.iter_mut().skip(column).find(|m| **m == ' ') {
            *place = lever.letter;
        }
    }
    let marks: String = marks.into_iter().collect();
    let minutes = length * harm.step_s / 60;
    let mut out = vec![
        format!("{:<LABEL$}Share of operations harmed, from {} over {minutes} minutes", "", harm.start),
        row("nobody", &harm.none),
        row("senior", &harm.senior),
        row("you", &you),
    ];
    out.extend(forks.iter().enumerate().map(|(n, fork)| row(&fork_name(n), &fork.harm)));
    if !harm.levers.is_empty() {
        out.push(format!("{:<LABEL$}{}", "levers", marks.trim_end()));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::LeverEntry;

    #[test]
    fn a_sparkline_has_a_character_for_every_part() {
        assert_eq!(sparkline(&[0.0, 0.25, f64::NAN, 1.0], 4, 1.0), "▁▂ █");
        assert_eq!(sparkline(&[1.0, 3.0, 8.0, 8.0], 2, 8.0), "▂█");
        assert_eq!(sparkline(&[], 3, 0.0), "   ");
        assert_eq!(sparkline(&[0.0, 0.0], 2, 0.0), "▁▁");
        assert_eq!(sparkline(&[f64::INFINITY, 9.0], 2, 1.0), " █");
    }

    #[test]
    fn a_spike_of_one_bucket_is_still_drawn() {
        let mut you = vec![0.0; 300];
        you[123] = 1.0;
        let lever = |letter| LeverEntry {
            letter,
            at_s: 1_500,
            clock: String::new(),
            what: String::new(),
            effect: None,
        };
        let harm = HarmSection {
            start: "13:50:00".to_owned(),
            step_s: 10,
            you,
            none: vec![0.5; 300],
            senior: vec![],
            played_out: vec![],
            levers: ['A', 'B'].map(lever).to_vec(),
            totals: vec![],
        };
        for width in [0, 20, 80, 400] {
            let lines = harm_curves(&harm, &[], width);
            assert!(lines[3].contains('█'), "{lines:?}");
            assert!(lines[4].contains("AB"), "{lines:?}");
        }
    }
}
