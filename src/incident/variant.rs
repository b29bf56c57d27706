//! The same incident with something changed: values by their path, happenings left out and added.

use std::collections::BTreeMap;

use ron::extensions::Extensions;

use super::locate::{Lost, Outline};
use super::schema::{IncidentFile, Story, System, Variant};
use crate::telemetry::closest;

/// Most names that an error lists.
const NAMES_LISTED: usize = 16;

/// Why a change cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VariantError {
    /// The incident has no variant of that name.
    #[error("the incident has no variant \"{wanted}\"{help}")]
    NoSuchVariant {
        /// What was asked for.
        wanted: String,
        /// What there is.
        help: String,
    },
    /// The system has nothing at that path.
    #[error("`{path}` leads nowhere: {found} has no `{step}`{help}")]
    NoSuchPath {
        /// The path as it was given.
        path: String,
        /// The part of it that exists.
        found: String,
        /// What is not there.
        step: String,
        /// What is.
        help: String,
    },
    /// The value does not suit.
    #[error("`{path}` cannot be `{value}`: {why}")]
    BadValue {
        /// The path.
        path: String,
        /// The value as it was given.
        value: String,
        /// What the reader of files says.
        why: String,
    },
    /// Nothing that happens has that name.
    #[error("nothing that happens is called \"{name}\"{help}")]
    NoSuchHappening {
        /// What was to be left out.
        name: String,
        /// What there is.
        help: String,
    },
    /// The changed system cannot run.
    #[error("the changed system cannot run: {0}")]
    CannotRun(String),
}

/// The file with a variant's changes, not checked.
///
/// # Errors
/// The first change that cannot be made.
pub(super) fn apply(file: &IncidentFile, variant: &Variant) -> Result<IncidentFile, VariantError> {
    let mut changed = file.clone();
    if !variant.set.is_empty() {
        changed.system = with_values(&changed.system, &variant.set)?;
    }
    for name in &variant.without {
        let before = changed.happens.len();
        changed.happens.retain(|happening| happening.name.as_ref() != Some(name));
        if changed.happens.len() == before {
            let names = file.happens.iter().filter_map(|happening| happening.name.as_deref());
            return Err(VariantError::NoSuchHappening { name: name.clone(), help: known(name, names, "\"") });
        }
    }
    changed.happens.extend(variant.also.iter().cloned());
    // Those of the same time stay in the order of the file.
    let start = file.clock.start;
    changed.happens.sort_by_key(|happening| super::lower::span_of_day(start, happening.at));
    tell(&mut changed, &variant.story);
    Ok(changed)
}

/// Puts what a variant tells in place of what the incident tells.
fn tell(file: &mut IncidentFile, story: &Story) {
    fn put<T: Clone>(place: &mut T, told: &Option<T>) {
        if let Some(told) = told {
            place.clone_from(told);
        }
    }
    put(&mut file.changes, &story.changes);
    put(&mut file.messages, &story.messages);
    put(&mut file.proposals, &story.proposals);
    put(&mut file.stages, &story.stages);
    put(&mut file.hypotheses, &story.hypotheses);
    put(&mut file.mechanism, &story.mechanism);
    put(&mut file.plans, &story.plans);
    put(&mut file.commentary, &story.commentary);
    put(&mut file.discuss, &story.discuss);
    put(&mut file.follow_ups, &story.follow_ups);
}

/// The system with values replaced. The system is written as text, each value is put in its place there, and the whole is
/// read again: a value is thus held to exactly what the file is held to.
fn with_values(system: &System, values: &BTreeMap<String, String>) -> Result<System, VariantError> {
    let options = ron::Options::default().with_default_extension(Extensions::IMPLICIT_SOME);
    let mut system = system.clone();
    let mut text: Option<(String, Outline)> = None;
    for (path, value) in values {
        let bad = |why: String| VariantError::BadValue { path: path.clone(), value: value.clone(), why };
        let (written, outline) = match text.take() {
            Some(text) => text,
            None => {
                let text = options.to_string(&system).map_err(|error| bad(error.to_string()))?;
                let outline = Outline::of(&text);
                (text, outline)
            }
        };
        let place = outline.follow(&written, path).map_err(|Lost { found, step, names }| {
            let found = if found.is_empty() { "the system".to_owned() } else { format!("`{found}`") };
            let help = known(&step, names.iter().map(String::as_str), "`");
            VariantError::NoSuchPath { path: path.clone(), found, step, help }
        })?;
        let read = |value: &str| -> Result<(System, String, Outline), ron::Error> {
            let mut changed = written.clone();
            changed.replace_range(place.clone(), value);
            let outline = Outline::of(&changed);
            // The value must be one value: what it says beside that would change something else.
            match outline.follow(&changed, path) {
                Ok(found) if found == (place.start..place.start + value.len()) => {
                    let system = options.from_str(&changed).map_err(|error| error.code)?;
                    Ok((system, changed, outline))
                }
                _ => Err(ron::Error::Message("this is not one value".to_owned())),
            }
        };
        // A value stands as in the file, and what stands between quotes there may be written without.
        let with = match read(value.trim()) {
            Ok(with) => with,
            Err(plain) => {
                let quoted = ron::to_string(value).map_err(|error| bad(error.to_string()))?;
                read(&quoted).map_err(|error| match error {
                    ron::Error::Message(why) => bad(why),
                    _ => bad(plain.to_string()),
                })?
            }
        };
        system = with.0;
        text = Some((with.1, with.2));
    }
    Ok(system)
}

/// `; did you mean …?`, or what there is.
pub(super) fn known<'a>(wanted: &str, names: impl Iterator<Item = &'a str> + Clone, quote: &str) -> String {
    if let Some(meant) = closest(wanted, names.clone()) {
        return format!("; did you mean {quote}{meant}{quote}?");
    }
    let listed: Vec<String> = names.take(NAMES_LISTED).map(|name| format!("{quote}{name}{quote}")).collect();
    if listed.is_empty() { String::new() } else { format!("; there is {}", listed.join(", ")) }
}
