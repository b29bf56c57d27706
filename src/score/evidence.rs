//! Whether verdicts and the finding rest on something that decides them.

use super::look::is_meant;
use super::{Dimension, Grade, Judged, Mark};
use crate::game::Session;
use crate::game::command::{EvidenceId, Verdict};
use crate::units::count;

const RULE: &str = "A verdict, or the finding, rests on evidence when it cites a pinned reading that decides it. Share \
    of the verdicts and the finding that do: P from 75 %, S from 50 %, M from 25 % or when something was pinned.";

pub(super) fn mark(session: &Session) -> Judged {
    let file = session.incident().file();
    if file.hypotheses.is_empty() {
        return Mark::not_asked(Dimension::Evidence, "The incident has no explanations to judge.").into();
    }
    let view = session.view();
    let supports = |cited: &[EvidenceId], names: &[String]| {
        cited
            .iter()
            .filter_map(|id| view.evidence().iter().find(|e| e.id == *id))
            .any(|e| names.iter().any(|n| is_meant(session, &e.what, n)))
    };
    let mut facts = vec![format!("{} pinned.", count(view.evidence().len() as u64, "reading", "readings"))];
    let mut well = None;
    let mut based = 0;
    let mut asked = 0;
    for (hypothesis, seen) in file.hypotheses.iter().zip(view.hypotheses()) {
        if seen.verdict == Verdict::Open {
            continue;
        }
        asked += 1;
        let rests = supports(&seen.evidence, &hypothesis.decided_by);
        based += u32::from(rests);
        let cited: Vec<String> = seen.evidence.iter().map(EvidenceId::to_string).collect();
        let fact = format!(
            "\"{}\": {}.",
            hypothesis.text,
            match (cited.join(", "), rests) {
                (ids, _) if ids.is_empty() => "judged without citing evidence".to_owned(),
                (ids, true) => format!("judged citing {ids}, and what decides it is among that"),
                (ids, false) => format!("judged citing {ids}, and nothing of that decides it"),
            },
        );
        if rests {
            well.get_or_insert_with(|| fact.clone());
        }
        facts.push(fact);
    }
    let finding = view.finding();
    if *finding != Default::default() {
        asked += 1;
        let deciding: Vec<String> =
            file.hypotheses.iter().filter(|h| h.holds).flat_map(|h| h.decided_by.clone()).collect();
        let rests = supports(&finding.evidence, &deciding);
        based += u32::from(rests);
        let text = if rests { "rests on evidence that decides it" } else { "cites nothing that decides it" };
        let fact = format!("The finding {text}.");
        if rests {
            well.get_or_insert_with(|| fact.clone());
        }
        facts.push(fact);
    }
    if asked == 0 {
        facts.push("Nothing was judged and no finding was written.".to_owned());
        return Mark::new(Dimension::Evidence, Grade::U, RULE, facts).into();
    }
    let share = f64::from(based) / f64::from(asked);
    let grade = match Grade::of_share(share, [0.75, 0.5, 0.25]) {
        Grade::U if !view.evidence().is_empty() => Grade::M,
        grade => grade,
    };
    Mark::new(Dimension::Evidence, grade, RULE, facts).with(well)
}
