//! Predictions, readings chosen, and how sure the player was.

use super::{Dimension, Grade, Judged, Mark};
use crate::game::Session;
use crate::game::command::Command;
use crate::incident::schema::Ask;

const RULE: &str = "Mean Brier score of all predictions that were settled and readings that were chosen: 0 is sure and \
    right, 0.25 a coin toss, 1 sure and wrong. P up to 0.15, S up to 0.25, M up to 0.40. It is shown apart and asks for \
    honesty, not for luck.";

/// Confidence and whether it was right, for every prediction that was settled and every reading chosen.
pub(super) fn claims(session: &Session) -> Vec<(u8, bool)> {
    let file = session.incident().file();
    let mut all: Vec<(u8, bool)> = session
        .view()
        .predictions()
        .iter()
        .filter_map(|f| Some((f.prediction.sure, f.outcome?.right)))
        .collect();
    for (_, command) in session.journal() {
        let Command::Choose { ask, option, sure } = command else { continue };
        let asks = file.stages.iter().flat_map(|s| &s.asks);
        let chosen = asks.filter(|a| a.id() == ask).find_map(|a| match a {
            Ask::Choose { options, .. } => options.get(*option),
            Ask::Predict { .. } => None,
        });
        all.extend(chosen.map(|o| (*sure, o.fits)));
    }
    all
}

/// Mean Brier score of claims; `None` without any.
pub(super) fn brier(claims: &[(u8, bool)]) -> Option<f64> {
    let miss = |&(sure, right): &(u8, bool)| {
        let d = f64::from(sure) / 100.0 - if right { 1.0 } else { 0.0 };
        d * d
    };
    (!claims.is_empty()).then(|| claims.iter().map(miss).sum::<f64>() / claims.len() as f64)
}

pub(super) fn mark(session: &Session) -> Judged {
    let asked = session.incident().file().stages.iter().any(|s| !s.asks.is_empty());
    let claims = claims(session);
    let made = session.view().predictions();
    let unsettled = made.iter().filter(|f| f.outcome.is_none()).count();
    let Some(score) = brier(&claims) else {
        if unsettled > 0 {
            let why = match unsettled {
                1 => "The prediction that was made could not be settled: the run was over before it was due."
                    .to_owned(),
                n => format!(
                    "The {n} predictions that were made could not be settled: the run was over before they were due."
                ),
            };
            return Mark::not_asked(Dimension::Predictions, &why).into();
        }
        if !asked {
            return Mark::not_asked(
                Dimension::Predictions,
                "Nothing was predicted and nothing asked for it.",
            )
            .into();
        }
        let facts = vec!["Nothing was predicted, though it was asked for.".to_owned()];
        return Mark::new(Dimension::Predictions, Grade::U, RULE, facts).into();
    };
    let right = claims.iter().filter(|c| c.1).count();
    let sure = claims.iter().map(|c| f64::from(c.0)).sum::<f64>() / claims.len() as f64;
    let mut facts = vec![
        format!("{right} of {} right, at {sure:.0} % sure on average.", claims.len()),
        format!("Mean Brier score {score:.2}."),
    ];
    if unsettled > 0 {
        facts.push(format!("Not settled when the run was over: {unsettled}."));
    }
    // Smaller is better; the limits are written as distances from the worst.
    let grade = Grade::of_share(1.0 - score, [0.85, 0.75, 0.60]);
    let well = (right > 0).then(|| facts[0].clone());
    Mark::new(Dimension::Predictions, grade, RULE, facts).with(well)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coin_toss_scores_a_quarter_and_certainty_nothing_or_all() {
        assert_eq!(brier(&[(50, true), (50, false)]), Some(0.25));
        assert_eq!(brier(&[(100, true)]), Some(0.0));
        assert_eq!(brier(&[(100, false)]), Some(1.0));
        assert_eq!(brier(&[]), None);
    }
}
