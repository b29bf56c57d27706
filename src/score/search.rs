//! What was looked at before the first lever.

use super::look::{any_seen, in_words};
use super::{Dimension, Grade, Judged, Mark};
use crate::game::Session;

const RULE: &str = "Before the first lever (or by the end, without one): for how many explanations something was opened \
    or pinned that decides them. P from 75 %, S from 50 %, M from 25 %.";

pub(super) fn mark(session: &Session) -> Judged {
    let file = session.incident().file();
    if file.hypotheses.is_empty() {
        return Mark::not_asked(Dimension::Search, "The incident has no explanations to search for.").into();
    }
    let first = session.pulled().first().map(|p| p.at);
    let before = first.unwrap_or(session.now());
    let mut facts = vec![match first {
        Some(at) => format!("First lever at {}.", session.incident().clock(at)),
        None => "No lever was pulled.".to_owned(),
    }];
    let mut found = 0;
    for hypothesis in &file.hypotheses {
        if any_seen(session, &hypothesis.decided_by, before) {
            found += 1;
        } else {
            facts.push(format!(
                "Not looked at before: what decides \"{}\" ({}).",
                hypothesis.text,
                in_words(session, &hypothesis.decided_by)
            ));
        }
    }
    let looked = format!("Looked at: what decides {found} of {} explanations.", file.hypotheses.len());
    let well = (found > 0).then(|| looked.clone());
    facts.push(looked);
    let share = f64::from(found) / file.hypotheses.len() as f64;
    Mark::new(Dimension::Search, Grade::of_share(share, [0.75, 0.5, 0.25]), RULE, facts).with(well)
}
