//! Whether something helped, and whether something made it worse.

use super::reference::References;
use super::{Dimension, Grade, Judged, Mark};
use crate::game::{Session, action_text};
use crate::units::Unit;

/// A lever helped when it avoided this share of the harm of doing nothing.
const HELPED: f64 = 0.10;

const RULE: &str = "The run is played again without each single lever, at a reduced size where that is enough. A lever hurts when it adds more than 2 % of the \
    harm of doing nothing; the levers help when one of them, or all together, avoid 10 % of it. P: they help and none \
    hurts; S: they help, and what was added is below 10 %; M: they help, and more was added; U: nothing helped.";

pub(super) fn mark(session: &Session, references: &References) -> Judged {
    let dimension = Dimension::Stabilise;
    if session.pulled().is_empty() {
        return Mark::new(dimension, Grade::U, RULE, vec!["No lever was pulled.".to_owned()]).into();
    }
    let Some(own) = &references.own else {
        return Mark::not_asked(dimension, "The runs without each lever have not been computed.").into();
    };
    let none = own.none.total().max(1.0);
    let mut added = 0.0;
    let mut helped = (own.none.total() - own.with.total()) / none >= HELPED;
    let label = own.label();
    let together = format!(
        "{label}, {} of the operations are harmed with all your levers, {} when nobody acts.",
        Unit::Ratio.show(own.with.share()),
        Unit::Ratio.show(own.none.share()),
    );
    let mut well = helped.then(|| together.clone());
    let mut facts = vec![together];
    for (i, (pulled, without)) in session.pulled().iter().zip(&own.without).enumerate() {
        let share = own.added(i).unwrap_or(0.0);
        let effect = if own.hurt(i) {
            added += share;
            "hurt"
        } else if share < -HELPED {
            "helped"
        } else {
            "changed little"
        };
        let fact = format!(
            "{} {}: {effect}. {label}, {} of the operations are harmed without it and {} with it.",
            session.incident().clock(pulled.at),
            action_text(&pulled.action),
            Unit::Ratio.show(without.share()),
            Unit::Ratio.show(own.with.share()),
        );
        if share < -HELPED {
            helped = true;
            well.get_or_insert_with(|| fact.clone());
        }
        facts.push(fact);
    }
    let grade = match (helped, added) {
        (false, _) => Grade::U,
        (true, a) if a <= 0.0 => Grade::P,
        (true, a) if a <= 0.1 => Grade::S,
        _ => Grade::M,
    };
    Mark::new(dimension, grade, RULE, facts).with(well)
}
