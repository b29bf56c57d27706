//! The finding and the verdicts, against the mechanism.

use super::{Dimension, Grade, Judged, Mark};
use crate::game::Session;
use crate::game::command::{Finding, Verdict};
use crate::incident::schema::Part;

const RULE: &str = "Trigger, bottleneck, amplifiers, contributing conditions and verdicts count alike; a part that was \
    named and is not true takes half a true one away. P from 80 %, S from 60 %, M from 35 %.";

/// Share of the true parts that were named, less half a part for each one that is not true; never below 0.
fn named(truth: &[&Part], said: &[String]) -> f64 {
    let right = truth.iter().filter(|p| said.contains(&p.id)).count() as f64;
    let wrong = said.iter().filter(|id| !truth.iter().any(|p| p.id == **id)).count() as f64;
    ((right - wrong / 2.0) / truth.len().max(1) as f64).max(0.0)
}

pub(super) fn mark(session: &Session) -> Judged {
    let file = session.incident().file();
    let truth = &file.mechanism;
    let view = session.view();
    let finding = view.finding();
    let text = |id: &str| {
        let found = view.finding_choices().into_iter().find(|p| p.id == id);
        found.map_or(id.to_owned(), |p| p.text.clone())
    };
    let one = |id: &Option<String>| id.iter().cloned().collect::<Vec<_>>();
    let list = |ids: &[String]| match ids {
        [] => "nothing".to_owned(),
        _ => ids.iter().map(|id| text(id)).collect::<Vec<_>>().join("; "),
    };
    let trigger = one(&finding.trigger);
    let bottleneck = one(&finding.bottleneck);
    let mut scores = Vec::new();
    let mut facts = Vec::new();
    let mut well = None;
    let groups: [(&str, Vec<&Part>, &[String]); 4] = [
        (Finding::TRIGGER, vec![&truth.trigger], &trigger),
        (Finding::BOTTLENECK, vec![&truth.bottleneck], &bottleneck),
        (Finding::AMPLIFIERS, truth.amplifiers.iter().collect(), &finding.amplifiers),
        (Finding::CONTRIBUTING, truth.contributing.iter().collect(), &finding.contributing),
    ];
    for (label, parts, said) in groups {
        if parts.is_empty() {
            continue;
        }
        let share = named(&parts, said);
        if share == 1.0 {
            well.get_or_insert_with(|| format!("{label}: you named {}.", list(said)));
        }
        facts.push(format!("{label}: you named {} ({:.0} %).", list(said), share * 100.0));
        scores.push(share);
    }
    if !file.hypotheses.is_empty() {
        let right = file
            .hypotheses
            .iter()
            .zip(view.hypotheses())
            .filter(|(h, v)| v.verdict == if h.holds { Verdict::Accepted } else { Verdict::Rejected })
            .count();
        let fact = format!("Verdicts: {right} of {} explanations judged as they are.", file.hypotheses.len());
        if right == file.hypotheses.len() {
            well.get_or_insert_with(|| fact.clone());
        }
        facts.push(fact);
        scores.push(right as f64 / file.hypotheses.len() as f64);
    }
    let share = scores.iter().sum::<f64>() / scores.len().max(1) as f64;
    Mark::new(Dimension::Diagnosis, Grade::of_share(share, [0.8, 0.6, 0.35]), RULE, facts).with(well)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_parts_cost_half_a_right_one() {
        let part = |id: &str| Part { id: id.to_owned(), text: String::new() };
        let (a, b) = (part("a"), part("b"));
        let said = |ids: &[&str]| ids.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
        for (ids, share) in
            [(&["a", "b"][..], 1.0), (&["a"], 0.5), (&["a", "x"], 0.25), (&["x"], 0.0), (&[], 0.0)]
        {
            assert_eq!(named(&[&a, &b], &said(ids)), share, "{ids:?}");
        }
    }
}
