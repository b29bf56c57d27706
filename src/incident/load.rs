//! From text to a checked incident.

use std::sync::Arc;

use ron::error::SpannedError;
use ron::extensions::Extensions;

use super::check;
use super::diagnose::{Diagnostic, Severity};
use super::locate::Outline;
use super::lower::{intervention, lower, scaled, span_of_day};
use super::schema::{self, Action, FORMAT, Happening, IncidentFile, Variant};
use super::variant::{self, VariantError};
use crate::sim::rng::Stream;
use crate::sim::spec::Spec;
use crate::sim::{Fault, Intervention};
use crate::telemetry::{Instruments, closest};
use crate::units::{SimSpan, SimTime, TimeOfDay};

/// A checked incident. It can only come out of [`load`].
#[derive(Clone, Debug)]
pub struct Incident {
    file: IncidentFile,
    hash: u64,
    spec: Spec,
    script: Vec<(SimTime, Fault)>,
    /// The variant that this is.
    variant: Option<String>,
}

/// What came of loading a text.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The incident, unless there is an error among the diagnostics.
    pub incident: Option<Incident>,
    /// Everything that was found, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads and checks the text of an incident file. `name` is what diagnostics call the file. Never panics; finds as
/// much as it can at once.
pub fn load(name: &str, text: &str) -> Loaded {
    let outline = Outline::of(text);
    if let Some(problem) = wrong_format(name, text, &outline) {
        return Loaded { incident: None, diagnostics: vec![problem] };
    }
    let file: IncidentFile = match ron::Options::default()
        .with_default_extension(Extensions::IMPLICIT_SOME)
        .from_str(text)
    {
        Ok(file) => file,
        Err(error) => return Loaded { incident: None, diagnostics: vec![unreadable(name, text, &error)] },
    };
    let (spec, script) = lower(&file);
    let diagnostics = check::check(name, text, &outline, &file, &spec);
    let good = diagnostics.iter().all(|d| d.severity != Severity::Error);
    let incident = good.then(|| Incident { file, hash: content_hash(text), spec, script, variant: None });
    Loaded { incident, diagnostics }
}

impl Incident {
    /// The file, as it was written.
    pub fn file(&self) -> &IncidentFile {
        &self.file
    }

    /// The variant that this is; `None` for the incident itself.
    pub fn variant_name(&self) -> Option<&str> {
        self.variant.as_deref()
    }

    /// The same incident with the changes of one of its variants.
    ///
    /// # Errors
    /// When the incident has no such variant.
    pub fn variant(&self, name: &str) -> Result<Incident, VariantError> {
        let variants = &self.file.variants;
        match variants.get(name) {
            Some(variant) => self.changed(name, variant),
            None => Err(VariantError::NoSuchVariant {
                wanted: name.to_owned(),
                help: variant::known(name, variants.keys().map(String::as_str), "\""),
            }),
        }
    }

    /// The same incident with changes of somebody's own, under a name.
    ///
    /// # Errors
    /// When a change cannot be made, or the changed system cannot run.
    pub fn changed(&self, name: &str, variant: &Variant) -> Result<Incident, VariantError> {
        let file = variant::apply(&self.file, variant)?;
        let (spec, script) = lower(&file);
        if let Some(problem) = check::changed(&file, &spec, variant.story.mechanism.is_some()).first() {
            return Err(VariantError::CannotRun(problem.clone()));
        }
        // Another system is another text: what was recorded of one is not compared with the other.
        let hash = content_hash(&format!("{:016x} {name} {variant:?}", self.hash));
        Ok(Incident { file, hash, spec, script, variant: Some(name.to_owned()) })
    }

    /// A hash of the file's text that is the same on every machine and for either kind of line end. A saved run
    /// names it, so that it is not replayed against another text.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// The system, as the engine takes it, at full scale.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// What breaks and when, in order of time.
    pub fn script(&self) -> &[(SimTime, Fault)] {
        &self.script
    }

    /// What a player's instruments make of what is recorded.
    pub fn instruments(&self) -> Instruments {
        let file = &self.file.telemetry;
        let second = |time: TimeOfDay| self.at(time).as_secs() as usize;
        Instruments {
            lags: file
                .lags
                .iter()
                .map(|(name, lag)| (name.clone(), lag.as_secs_f64().ceil() as usize))
                .collect(),
            gaps: file.gaps.iter().map(|g| (g.series.clone(), second(g.from)..second(g.to))).collect(),
            health: file.health.iter().map(|(name, what)| (format!("health.{name}"), what.clone())).collect(),
        }
    }

    /// How long the run is.
    pub fn length(&self) -> SimSpan {
        span_of_day(self.file.clock.start, self.file.clock.end)
    }

    /// The instant at which the incident's clock shows this time of day. What lies before the start (a change made in
    /// the morning) is as if it had been so when the clock started.
    pub fn at(&self, time: TimeOfDay) -> SimTime {
        let span = span_of_day(self.file.clock.start, time);
        if span > self.length() { SimTime::ZERO } else { SimTime(span.0) }
    }

    /// What the incident's clock shows at an instant.
    pub fn clock(&self, at: SimTime) -> TimeOfDay {
        self.file.clock.start.after(SimSpan(at.0))
    }

    /// What the engine does when this lever is pulled in the system at a share of its size; `None` when the action names
    /// a part that the system lacks.
    pub fn intervention(&self, action: &Action, scale: f64) -> Option<Intervention> {
        intervention(&self.spec, action).map(|intervention| scaled(intervention, scale))
    }

    /// The system at a share of its size: 1 is what the file says.
    pub fn prepared(&self, scale: f64) -> Spec {
        if scale == 1.0 { self.spec.clone() } else { self.spec.scaled(scale) }
    }

    /// What happens in the system at a share of its size, and when, in order of time.
    pub fn prepared_script(&self, scale: f64) -> Vec<(SimTime, Fault)> {
        let fault = |fault: Fault| match fault {
            Fault::Change(intervention) => Fault::Change(scaled(intervention, scale)),
            fault => fault,
        };
        self.script.iter().map(|&(at, what)| (at, fault(what))).collect()
    }

    /// What others change while the clock runs, in order of time.
    pub fn done_by_others(&self) -> Vec<(SimTime, Action)> {
        let change = |happening: &Happening| match &happening.what {
            schema::Fault::Do(action) => Some((self.at(happening.at), action.clone())),
            _ => None,
        };
        let mut all: Vec<(SimTime, Action)> = self.file.happens.iter().filter_map(change).collect();
        all.sort_by_key(|&(at, _)| at);
        all
    }
}

/// What a blind drill draws with a seed: one of the variants that these incidents name for it, all alike; `None` when they
/// name none.
pub fn draw(incidents: &[Arc<Incident>], seed: u64) -> Option<Arc<Incident>> {
    let all: Vec<(&Arc<Incident>, &str)> =
        incidents.iter().flat_map(|i| i.file().blind.iter().map(move |name| (i, name.as_str()))).collect();
    let place = Stream::new(seed, "a blind drill").draw().checked_rem(all.len() as u64)?;
    let (incident, name) = all.get(usize::try_from(place).ok()?)?;
    incident.variant(name).ok().map(Arc::new)
}

/// 64-bit FNV-1a over the text with CRLF read as LF.
fn content_hash(text: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut bytes = text.bytes().peekable();
    while let Some(byte) = bytes.next() {
        if byte == b'\r' && bytes.peek() == Some(&b'\n') {
            continue;
        }
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash
}

/// A format that this program does not read gets its own message: field errors about it would mislead.
fn wrong_format(name: &str, text: &str, outline: &Outline) -> Option<Diagnostic> {
    let span = outline.find_exactly(&["format".into()])?;
    let format: u64 = text.get(span.clone())?.trim().replace('_', "").parse().ok()?;
    let (message, help) = match format.cmp(&u64::from(FORMAT)) {
        std::cmp::Ordering::Equal => return None,
        std::cmp::Ordering::Less => (
            format!("format {format} is too old; this program reads format {FORMAT}"),
            format!("rewrite the file to format {FORMAT} as incidents/README.md describes it"),
        ),
        std::cmp::Ordering::Greater => (
            format!("format {format} is newer than this program, which reads format {FORMAT}"),
            "install a newer pagerdrill".to_owned(),
        ),
    };
    Some(Diagnostic::new(Severity::Error, name, text, span, message, Some(help)))
}

/// What the reader of the text stumbled over.
pub(crate) fn unreadable(name: &str, text: &str, error: &SpannedError) -> Diagnostic {
    use ron::Error as E;
    let one_of = |kind: &str, found: &str, expected: &[&str], outer: &Option<String>| {
        let of = outer.as_ref().map(|outer| format!(" of {outer}")).unwrap_or_default();
        let help = match closest(found, expected.iter().copied()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("there is {}", expected.join(", ")),
        };
        (format!("`{found}` is no {kind}{of}"), Some(help))
    };
    let said = error.code.to_string();
    let (message, help) = match &error.code {
        E::NoSuchStructField { expected, found, outer } => one_of("field", found, expected, outer),
        E::NoSuchEnumVariant { expected, found, outer } => one_of("kind", found, expected, outer),
        E::MissingStructField { field, outer } => (
            format!("`{field}` is missing in {}", outer.as_deref().unwrap_or("this entry")),
            Some(format!("add `{field}: …,`")),
        ),
        E::ExpectedString => (said, Some("put the text between double quotes: \"…\"".to_owned())),
        E::ExpectedComma => (said, Some("separate entries with a comma".to_owned())),
        E::ExpectedStringEnd => {
            (said, Some("the text that begins here is not closed with a quote".to_owned()))
        }
        E::Eof => (said, Some("the file ends in the middle; is a bracket not closed?".to_owned())),
        _ => (said, None),
    };
    let span = offset(text, error.span.start)..offset(text, error.span.end);
    Diagnostic::new(Severity::Error, name, text, span, message, help)
}

/// Byte offset of a line and column, both from 1 and in characters.
fn offset(text: &str, at: ron::error::Position) -> usize {
    let line = text.split_inclusive('\n').take(at.line.saturating_sub(1)).map(str::len).sum::<usize>();
    let rest = text.get(line..).unwrap_or("");
    line + rest.char_indices().nth(at.col.saturating_sub(1)).map_or(rest.len(), |(i, _)| i)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_do_not_change_the_hash_and_text_does() {
        assert_eq!(content_hash("a\r\nb\n"), content_hash("a\nb\n"));
        assert_ne!(content_hash("a\nb"), content_hash("a\nc"));
        assert_eq!(content_hash(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(content_hash("foobar"), 0x8594_4171_f739_67e8);
    }
}
