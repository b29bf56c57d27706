//! The work afterwards.

use super::{Dimension, Grade, Judged, Mark};
use crate::game::Session;
use crate::incident::schema::{Effect, FollowUp};

const RULE: &str = "Up to three follow-ups. P: one prevents it or keeps it small, and none changes little; S: one \
    prevents it or keeps it small; M: one shows it earlier; U: none of these.";

/// An effect in words.
pub(super) fn effect_text(effect: Effect) -> &'static str {
    match effect {
        Effect::Prevents => "prevents it",
        Effect::Limits => "keeps it small",
        Effect::Detects => "shows it earlier",
        Effect::Cosmetic => "changes little",
    }
}

pub(super) fn mark(session: &Session) -> Judged {
    let file = session.incident().file();
    let Some(chosen) = session.view().chosen_follow_ups() else {
        return Mark::not_asked(Dimension::FollowUps, "No follow-ups were chosen.").into();
    };
    let picked: Vec<_> = file.follow_ups.iter().filter(|f| chosen.contains(&f.id)).collect();
    let has = |wanted: &[Effect]| picked.iter().any(|f| wanted.contains(&f.effect));
    let strong = has(&[Effect::Prevents, Effect::Limits]);
    let grade = match (strong, has(&[Effect::Cosmetic]), has(&[Effect::Detects])) {
        (true, false, _) => Grade::P,
        (true, true, _) => Grade::S,
        (false, _, true) => Grade::M,
        _ => Grade::U,
    };
    let line = |f: &&FollowUp| format!("{} It {}: {}", f.text, effect_text(f.effect), f.why);
    let useful = picked.iter().find(|f| matches!(f.effect, Effect::Prevents | Effect::Limits));
    let well = useful.map(line);
    let facts = picked.iter().map(line).collect();
    Mark::new(Dimension::FollowUps, grade, RULE, facts).with(well)
}
