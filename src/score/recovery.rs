//! Whether it recovered, and stayed so.

use super::harm::{Harm, WELL};
use super::reference::References;
use super::{Dimension, Grade, Judged, Mark};
use crate::game::{Pulled, Session, action_text};
use crate::incident::schema::{Action, Knob};
use crate::units::{SimTime, Unit};

/// Harmed share above which it is an incident again.
const RELAPSED: f64 = 0.10;

const RULE: &str = "Recovered: from some minute on, at most 2 % of every minute's operations are harmed. P: recovered, \
    no protection was taken away while more than 5 % were still harmed, and no relapse above 10 %; S: recovered in \
    spite of one of these; M: the last five minutes are below half of the worst; U: still failing.";

/// Whether a setting protects less with the second value than with the first.
fn relaxes(knob: &Knob, before: Option<f64>, after: Option<f64>) -> bool {
    match knob {
        Knob::OriginRate(_)
        | Knob::OriginAtOnce(_)
        | Knob::Workers(_)
        | Knob::RetryBudget(_)
        | Knob::CallAttempts(..)
        | Knob::CacheAttempts(_) => after.unwrap_or(f64::INFINITY) > before.unwrap_or(f64::INFINITY),
        Knob::Lock(_) | Knob::Breaker(_) | Knob::LocalEntries(_) | Knob::Deadline(_) => {
            before.is_some() && after.is_none()
        }
        Knob::ServeStale(_) | Knob::Coalesce(_) | Knob::StaticAnswer(_) | Knob::RetryAfter(_) => {
            before > after
        }
        _ => false,
    }
}

/// Levers that take a protection away which the player had put up before: a raised or removed limit, more attempts
/// again, a defence switched off.
fn taken_away(pulled: &[Pulled]) -> Vec<&Pulled> {
    let mut limit: Option<f64> = None;
    let mut attempts: Vec<(&str, u32)> = Vec::new();
    let mut settings: Vec<(&Knob, Option<f64>)> = Vec::new();
    let mut found = Vec::new();
    for p in pulled {
        match &p.action {
            Action::RateLimit(rate) => {
                if limit.is_some_and(|l| rate.0 > l) {
                    found.push(p);
                }
                limit = Some(rate.0);
            }
            Action::NoRateLimit => found.extend(limit.take().map(|_| p)),
            Action::ClientRetries { client, attempts: n } => {
                match attempts.iter_mut().find(|a| a.0 == client) {
                    Some(last) => {
                        if *n > last.1 {
                            found.push(p);
                        }
                        last.1 = *n;
                    }
                    None => attempts.push((client, *n)),
                }
            }
            Action::Set(knob, setting) => {
                let Some(value) = knob.value(*setting) else { continue };
                match settings.iter_mut().find(|s| s.0 == knob) {
                    Some(last) => {
                        if relaxes(knob, last.1, value) {
                            found.push(p);
                        }
                        last.1 = value;
                    }
                    None => settings.push((knob, value)),
                }
            }
            _ => {}
        }
    }
    found
}

pub(super) fn mark(session: &Session, references: &References) -> Judged {
    let dimension = Dimension::Recovery;
    let harm = references.own_harm(session);
    let trigger = session.trigger_at().as_secs() as usize;
    let worst = harm.worst_minute(trigger);
    if worst <= RELAPSED {
        return Mark::not_asked(dimension, "Users were never harmed enough to recover from.").into();
    }
    let clock = |s: usize| session.incident().clock(SimTime::from_secs(s as u64));
    let seconds = harm.per_second.len();
    let at_end = harm.mean(seconds.saturating_sub(300)..seconds);
    let mut facts = vec![format!(
        "Worst minute: {} harmed. Last five minutes: {}.",
        Unit::Ratio.show(worst),
        Unit::Ratio.show(at_end)
    )];
    facts.extend(references.played_on(session));
    let Some(recovered) = harm.recovered_at(trigger) else {
        facts.push("It had not recovered by the end.".to_owned());
        let grade = if at_end <= worst / 2.0 { Grade::M } else { Grade::U };
        return Mark::new(dimension, grade, RULE, facts).into();
    };
    let after = if SimTime::from_secs(recovered as u64) > session.now() {
        ", after you had ended the run"
    } else {
        ""
    };
    let well = format!("Recovered for good at {}{after}.", clock(recovered));
    facts.push(well.clone());
    let mut spoilt = false;
    for p in taken_away(session.pulled()) {
        let at = p.at.as_secs() as usize;
        let before = harm.mean(at.saturating_sub(60)..at);
        let early = before > 0.05;
        spoilt |= early;
        facts.push(format!(
            "{} {}: {} harmed in the minute before{}.",
            session.incident().clock(p.at),
            action_text(&p.action),
            Unit::Ratio.show(before),
            if early { ", too early" } else { "" }
        ));
    }
    if let Some(first) = first_well(&harm, trigger)
        && let Some(again) = harm.minutes(first).find(|m| m.1 > RELAPSED)
    {
        spoilt = true;
        facts.push(format!("It relapsed at {} after a good minute at {}.", clock(again.0), clock(first)));
    }
    Mark::new(dimension, if spoilt { Grade::S } else { Grade::P }, RULE, facts).with(Some(well))
}

/// The first good minute after the first bad one.
fn first_well(harm: &Harm, from: usize) -> Option<usize> {
    harm.minutes(from).skip_while(|m| m.1 <= RELAPSED).find(|m| m.1 <= WELL).map(|m| m.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::incident::schema::Action;
    use crate::units::Rate;

    #[test]
    fn only_a_protection_that_was_put_up_can_be_taken_away() {
        let pulled = |action: Action| Pulled {
            journal: 0,
            at: SimTime::ZERO,
            action,
            prediction: None,
            proposal: None,
        };
        let retries = |attempts| Action::ClientRetries { client: "web".to_owned(), attempts };
        let all: Vec<Pulled> = [
            Action::NoRateLimit,
            Action::RateLimit(Rate(10.0)),
            Action::RateLimit(Rate(5.0)),
            Action::RateLimit(Rate(7.0)),
            Action::NoRateLimit,
            retries(1),
            retries(4),
        ]
        .map(pulled)
        .into();
        let found: Vec<&Action> = taken_away(&all).into_iter().map(|p| &p.action).collect();
        assert_eq!(found, [&Action::RateLimit(Rate(7.0)), &Action::NoRateLimit, &retries(4)]);
    }

    #[test]
    fn a_setting_protects_less_when_it_lets_more_through_or_is_off() {
        let api = || "api".to_owned();
        for (knob, before, after, less) in [
            (Knob::OriginRate(api()), Some(25.0), Some(50.0), true),
            (Knob::OriginRate(api()), Some(25.0), None, true),
            (Knob::OriginRate(api()), None, Some(25.0), false),
            (Knob::Coalesce(api()), Some(1.0), Some(0.0), true),
            (Knob::Coalesce(api()), Some(0.0), Some(1.0), false),
            (Knob::Breaker(api()), Some(5.0), None, true),
            (Knob::Breaker(api()), Some(5.0), Some(50.0), false),
            (Knob::Ttl(api()), Some(30.0), Some(5.0), false),
        ] {
            assert_eq!(relaxes(&knob, before, after), less, "{knob:?} {before:?} {after:?}");
        }
    }
}
