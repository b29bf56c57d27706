//! Whether something helped, and whether something made it worse.

use super::reference::References;
use super::{Dimension, Grade, Mark};
use crate::game::{Session, action_text};
use crate::units::Unit;

/// A lever helped when it avoided this share of the harm of doing nothing.
const HELPED: f64 = 0.10;
/// A lever hurt when it added this share of it.
const HURT: f64 = 0.02;

const RULE: &str = "The run is played again without each single lever. A lever hurts when it adds more than 2 % of the \
    harm of doing nothing; the levers help when one of them, or all together, avoid 10 % of it. P: they help and none \
    hurts; S: they help, and what was added is below 10 %; M: they help, and more was added; U: nothing helped.";

pub(super) fn mark(session: &Session, references: &References) -> Mark {
    let dimension = Dimension::Stabilise;
    if session.pulled().is_empty() {
        return Mark::new(dimension, Grade::U, RULE, vec!["No lever was pulled.".to_owned()]);
    }
    let Some(own) = &references.own else {
        return Mark::not_asked(dimension, "The runs without each lever have not been computed.");
    };
    let none = own.none.total().max(1.0);
    let mut added = 0.0;
    let mut helped = (own.none.total() - own.with.total()) / none >= HELPED;
    let mut facts = Vec::new();
    for (pulled, without) in session.pulled().iter().zip(&own.without) {
        let share = (own.with.total() - without.total()) / none;
        let effect = match share {
            s if s > HURT => {
                added += s;
                "hurt"
            }
            s if s < -HELPED => {
                helped = true;
                "helped"
            }
            _ => "changed little",
        };
        facts.push(format!(
            "{} {}: {effect}. Without it {} of the operations are harmed, with it {}.",
            session.incident().clock(pulled.at),
            action_text(&pulled.action),
            Unit::Ratio.show(without.share()),
            Unit::Ratio.show(own.with.share()),
        ));
    }
    let grade = match (helped, added) {
        (false, _) => Grade::U,
        (true, a) if a <= 0.0 => Grade::P,
        (true, a) if a <= 0.1 => Grade::S,
        _ => Grade::M,
    };
    Mark::new(dimension, grade, RULE, facts)
}
