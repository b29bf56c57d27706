//! Forms: fields with a label, one of which has the keys, and what is done with them.
//!
//! ```text
//! ╭ Rate limit at the load balancer ─────────────────────────────────╮
//! │ Now         none                                                 │
//! │ Takes       about 10 s                                           │
//! │                                                                  │
//! │ Limit       [ 4500          ] per second, 0 to 100k              │
//! │ Expect      ( ) much higher  ( ) higher  (•) lower  …            │
//! │ or a number [               ] %                                  │
//! │ How sure    ( ) 50 %  (•) 70 %  ( ) 90 %                         │
//! │                                                                  │
//! │ Enter Tab next field · s apply without a prediction · Esc cancel │
//! ╰──────────────────────────────────────────────────────────────────╯
//! ```

use std::ops::Range;

use ratatui::layout::{Position, Rect};
use ratatui::text::Line;
use tui_input::{Input, InputRequest};

use super::{Keyed, in_lines, key_line};
use crate::game::command::{Command, Direction, Expected, Prediction};
use crate::game::{
    Argument, AskKind, AskView, FeedItem, LeverView, Refusal, View, action_text, action_with, direction_words,
};
use crate::incident::schema::{Action, Lever, Name, Severity};
use crate::score::Change;
use crate::tui::actions::{Context, Id, Key, key_in};
use crate::tui::canvas::{Canvas, Hit, centred, columns, wrap};
use crate::tui::layer::{Layer, Outcome, Scene};
use crate::tui::theme::Role;
use crate::units::{SimSpan, Unit};

/// The series that predictions about levers are made on: what users feel.
pub(crate) const FELT: &str = "operations.failure_ratio";
/// How far a prediction about a lever looks ahead.
pub(crate) const AHEAD: SimSpan = SimSpan::from_secs(300);
/// How sure one can be.
const SURE: [u8; 6] = [50, 60, 70, 80, 90, 100];
pub(crate) const DIRECTIONS: [Direction; 5] =
    [Direction::MuchWorse, Direction::Worse, Direction::Same, Direction::Better, Direction::Recovered];
const SEVERITIES: [(Severity, &str); 4] = [
    (Severity::Sev1, "SEV1  most users cannot work"),
    (Severity::Sev2, "SEV2  many users are affected"),
    (Severity::Sev3, "SEV3  some users are affected"),
    (Severity::Sev4, "SEV4  nobody notices yet"),
];
/// Longest text that a field takes.
const LONGEST: usize = 500;
/// Columns of the labels.
const LABEL: u16 = 13;

/// A field.
enum Field {
    /// One of several.
    Choice { label: &'static str, options: Vec<String>, chosen: Option<usize> },
    /// A number in a unit, between two values where it has limits. What was filled in beforehand is replaced by the first
    /// character typed.
    Number {
        label: &'static str,
        input: Input,
        unit: Unit,
        range: Option<(f64, f64)>,
        hint: String,
        replaced: bool,
    },
    /// Words.
    Text { label: &'static str, input: Input },
}

/// What is done with the fields.
enum Purpose {
    /// Pulls a lever with an argument.
    Pull(Lever),
    /// Pulls a lever that needs none.
    Do(Action),
    /// Pulls a lever with an argument in another run, in place of what was done.
    Instead(Lever),
    /// Accepts or declines a proposal; the number of its feed item.
    Respond(Name, usize),
    /// Answers a message; the number of its feed item, and the order in which the replies are shown.
    Reply(usize, usize, Vec<usize>),
    /// Answers a stage's question by a prediction.
    Predict { ask: Name, series: Name, within: SimSpan },
    /// Answers a stage's question by a choice, whose options are shown in that order.
    Choose(Name, Vec<usize>),
    /// Does what cannot be undone, once it is confirmed; what is said then.
    Confirm(Command, String),
    /// Declares a severity.
    Declare,
    /// Sends a status update.
    Status,
    /// Ends the exercise.
    End,
}

/// The number of a field, and what is wrong in it.
type Fault = (usize, String);

/// A form.
pub(crate) struct Form {
    title: String,
    /// Facts above the fields: label and text.
    facts: Vec<(&'static str, String)>,
    fields: Vec<Field>,
    focus: usize,
    purpose: Purpose,
    /// What is wrong, and the field below which that is said.
    error: Option<Fault>,
    /// Feed items that wait for an answer, this one among them.
    open: usize,
}

/// An order that is the same each time for a question and says nothing about its options, which are written down
/// with the best one first.
pub(crate) fn scattered(options: usize, question: &str) -> Vec<usize> {
    // FNV-1a, the same on every machine. The number comes first, so that the whole name spreads it.
    let spread = |i: &usize| {
        let bytes = i.to_string().into_bytes().into_iter().chain(question.bytes());
        let hash =
            bytes.fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
        (hash ^ (hash >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
    };
    let mut order: Vec<usize> = (0..options).collect();
    order.sort_by_key(|i| (spread(i), *i));
    order
}

/// The options in that order.
fn in_order(options: &[String], order: &[usize]) -> Vec<String> {
    order.iter().filter_map(|&i| options.get(i).cloned()).collect()
}

fn choice(label: &'static str, options: Vec<String>) -> Field {
    Field::Choice { label, options, chosen: None }
}

fn number(label: &'static str, value: Option<String>, unit: Unit, hint: String) -> Field {
    let replaced = value.is_some();
    Field::Number { label, input: Input::new(value.unwrap_or_default()), unit, range: None, hint, replaced }
}

/// A number of a lever: there is one beforehand, and it has limits.
fn limited(label: &'static str, value: String, unit: Unit, limits: (f64, f64), hint: String) -> Field {
    Field::Number { label, input: Input::new(value), unit, range: Some(limits), hint, replaced: true }
}

fn unit_word(unit: Unit) -> &'static str {
    match unit {
        Unit::Ratio => "%",
        Unit::PerSecond => "per second",
        Unit::Seconds => "s",
        Unit::Count => "",
        Unit::Factor => "×",
    }
}

/// A number as a field shows it, in the unit that a person types.
fn typed_value(value: f64, unit: Unit) -> String {
    let shown = if unit == Unit::Ratio { value * 100.0 } else { value };
    // Seconds to the millisecond.
    let digits = if unit == Unit::Seconds { 3 } else { 1 };
    let text = format!("{shown:.digits$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Reads what a person types: `4500`, `4,500`, `4.5k`, `41 %`; for a length of time also `250ms`.
pub(crate) fn read_number(text: &str, unit: Unit) -> Option<f64> {
    if unit == Unit::Seconds
        && let Ok(span) = text.parse::<SimSpan>()
    {
        return Some(span.as_secs_f64());
    }
    let mut plain: String = text.chars().filter(|c| !matches!(c, ' ' | '_' | ',' | '%' | '×')).collect();
    let mut factor = if unit == Unit::Ratio { 0.01 } else { 1.0 };
    if let Some(c) = plain.chars().last().filter(char::is_ascii_alphabetic) {
        plain.pop();
        factor *= match c.to_ascii_lowercase() {
            'k' => 1e3,
            'm' => 1e6,
            's' if unit == Unit::Seconds => 1.0,
            _ => return None,
        };
    }
    let value = plain.parse::<f64>().ok()? * factor;
    (value.is_finite() && value >= 0.0).then_some(value)
}

/// Whether a character can be part of a number as [`read_number`] reads it.
fn may_be_in_a_number(c: char, unit: Unit) -> bool {
    let letters = if unit == Unit::Seconds { "numshiµ" } else { "kKmM" };
    c.is_ascii_digit() || " .,_%×".contains(c) || letters.contains(c)
}

/// The fields of a prediction about a series.
fn prediction_fields(view: &View<'_>, series: &str) -> Vec<Field> {
    let found = view.series().get(series);
    let more_is_worse = found.and_then(|s| s.more_is_worse).or(Some(true));
    let unit = found.map_or(Unit::Ratio, |s| s.unit);
    let words = DIRECTIONS.map(|d| direction_words(d, more_is_worse).to_owned());
    let sure = SURE.map(|s| format!("{s} %")).to_vec();
    vec![
        choice("Expect", words.to_vec()),
        number("or a number", None, unit, unit_word(unit).to_owned()),
        Field::Choice { label: "How sure", options: sure, chosen: Some(2) },
    ]
}

/// What a prediction is about, in words: the series by the name that its chart has, what it shows now, and when it is answered.
fn about(view: &View<'_>, series: &str, within: SimSpan) -> String {
    let within = within.words();
    let name = view.name_in_words(series);
    match view.series().get(series) {
        Some(found) => {
            let now = found.unit.show(found.recent().unwrap_or(f64::NAN));
            format!("{name}: {now} now. What will it be in {within}?")
        }
        None => format!("{name}: what will it be in {within}?"),
    }
}

/// The fields of what a lever is set to.
fn argument_fields(lever: &LeverView) -> Vec<Field> {
    match &lever.argument {
        Argument::None => Vec::new(),
        Argument::Number { label, min, max, suggested, unit } => {
            let hint = format!("{label}, {} to {}", typed_value(*min, *unit), crate::units::short(*max));
            vec![limited("Value", typed_value(*suggested, *unit), *unit, (*min, *max), hint)]
        }
        Argument::Switch { on } => {
            let options = ["on", "off"].map(str::to_owned).to_vec();
            // Whoever opens this wants the other one.
            vec![Field::Choice { label: "Set to", options, chosen: Some(usize::from(*on)) }]
        }
        Argument::WarmUp { max_keys, suggested_keys, max_rate, suggested_rate } => vec![
            limited(
                "Keys",
                suggested_keys.to_string(),
                Unit::Count,
                (1.0, f64::from(*max_keys)),
                format!("the most popular first, up to {}", crate::units::short(f64::from(*max_keys))),
            ),
            limited(
                "Rate",
                typed_value(*suggested_rate, Unit::PerSecond),
                Unit::PerSecond,
                (1.0, *max_rate),
                format!("queries per second, up to {}", crate::units::short(*max_rate)),
            ),
        ],
    }
}

/// The form of a lever that is pulled in another run.
pub(crate) fn instead(lever: &LeverView) -> Form {
    let mut fields = argument_fields(lever);
    // What it is set to at the end says nothing about that moment.
    for field in &mut fields {
        if let Field::Number { input, replaced, .. } = field {
            (*input, *replaced) = (Input::default(), false);
        }
    }
    Form {
        title: format!("Instead: {}", lever.title),
        facts: vec![("Changes", lever.effect.clone()), ("Takes", lever.takes.clone())],
        fields,
        focus: 0,
        purpose: Purpose::Instead(lever.lever.clone()),
        error: None,
        open: 0,
    }
}

/// The form of a lever.
pub(crate) fn pull(lever: &LeverView, view: &View<'_>) -> Form {
    let mut fields = argument_fields(lever);
    fields.extend(prediction_fields(view, FELT));
    Form {
        title: lever.title.clone(),
        facts: vec![
            ("Now", lever.now.clone()),
            ("Changes", lever.effect.clone()),
            ("Takes", lever.takes.clone()),
            ("Undo", lever.undo.clone()),
            ("Predict", about(view, FELT, AHEAD)),
        ],
        fields,
        focus: 0,
        purpose: Purpose::Pull(lever.lever.clone()),
        error: None,
        open: 0,
    }
}

/// The form of an action that needs no argument.
pub(crate) fn perform(title: &str, action: &Action, lever: &LeverView, view: &View<'_>) -> Form {
    Form {
        title: title.to_owned(),
        facts: vec![
            ("Now", lever.now.clone()),
            ("Takes", lever.takes.clone()),
            ("Predict", about(view, FELT, AHEAD)),
        ],
        fields: prediction_fields(view, FELT),
        focus: 0,
        purpose: Purpose::Do(action.clone()),
        error: None,
        open: 0,
    }
}

/// The form of a proposal.
pub(crate) fn respond(id: &str, item: &FeedItem, view: &View<'_>) -> Form {
    let mut fields = vec![choice("Answer", vec!["do it".to_owned(), "leave it".to_owned()])];
    fields.extend(prediction_fields(view, FELT));
    Form {
        title: format!("{} proposes", item.from),
        facts: vec![("Says", item.text.clone()), ("Predict", about(view, FELT, AHEAD))],
        fields,
        focus: 0,
        purpose: Purpose::Respond(id.to_owned(), item.number),
        error: None,
        open: open(view),
    }
}

/// Feed items that wait for an answer.
fn open(view: &View<'_>) -> usize {
    view.feed().iter().filter(|i| i.asks()).count()
}

/// The form of a message that asks for a reply.
pub(crate) fn reply(message: usize, item: &FeedItem, view: &View<'_>) -> Form {
    let order = scattered(item.replies.len(), &format!("reply to {message}"));
    Form {
        title: format!("Reply to {}", item.from),
        facts: vec![("Says", item.text.clone())],
        fields: vec![choice("Reply", in_order(&item.replies, &order))],
        focus: 0,
        purpose: Purpose::Reply(message, item.number, order),
        error: None,
        open: open(view),
    }
}

/// The form of a stage's question.
pub(crate) fn ask(ask: &AskView, view: &View<'_>) -> Form {
    let (facts, fields, purpose) = match &ask.kind {
        AskKind::Predict { series, within } => (
            vec![("", ask.question.clone()), ("Predict", about(view, series, *within))],
            prediction_fields(view, series),
            Purpose::Predict { ask: ask.id.clone(), series: series.clone(), within: *within },
        ),
        AskKind::Choose { options } => {
            let sure = SURE.map(|s| format!("{s} %")).to_vec();
            let order = scattered(options.len(), &ask.id);
            (
                vec![("", ask.question.clone())],
                vec![
                    choice("Answer", in_order(options, &order)),
                    Field::Choice { label: "How sure", options: sure, chosen: Some(2) },
                ],
                Purpose::Choose(ask.id.clone(), order),
            )
        }
    };
    Form { title: "A question".to_owned(), facts, fields, focus: 0, purpose, error: None, open: 0 }
}

/// The form that declares a severity.
pub(crate) fn declare(view: &View<'_>) -> Form {
    let chosen = SEVERITIES.iter().position(|s| Some(s.0) == view.severity());
    let options = SEVERITIES.map(|s| s.1.to_owned()).to_vec();
    Form {
        title: "How bad is it?".to_owned(),
        facts: Vec::new(),
        fields: vec![Field::Choice { label: "Severity", options, chosen }],
        focus: 0,
        purpose: Purpose::Declare,
        error: None,
        open: 0,
    }
}

/// Asks again before something that cannot be taken back, and says what it costs.
fn confirm(lever: &LeverView, command: Command, said: String) -> Form {
    Form {
        title: format!("{}?", lever.title),
        facts: vec![("It costs", lever.effect.clone()), ("Undo", lever.undo.clone())],
        fields: vec![choice("Go on", vec!["not now".to_owned(), "do it".to_owned()])],
        focus: 0,
        purpose: Purpose::Confirm(command, said),
        error: None,
        open: 0,
    }
}

/// The form of a status update.
pub(crate) fn status(view: &View<'_>) -> Form {
    Form {
        title: "Status update".to_owned(),
        facts: vec![(
            "Good ones",
            format!(
                "At {}: what users feel, since when, what is being done, when the next update comes. In their words, not in the system's.",
                view.clock()
            ),
        )],
        fields: vec![
            Field::Text { label: "Text", input: Input::default() },
            number("Failing", None, Unit::Ratio, "% of operations, when you state it".to_owned()),
        ],
        focus: 0,
        purpose: Purpose::Status,
        error: None,
        open: 0,
    }
}

/// The form that ends the exercise.
pub(crate) fn finish() -> Form {
    Form {
        title: "End the exercise?".to_owned(),
        facts: vec![(
            "Then",
            "the clock stops and the debrief compares your run with doing nothing and with the senior's."
                .to_owned(),
        )],
        fields: vec![choice("End it", vec!["not yet".to_owned(), "end it now".to_owned()])],
        focus: 0,
        purpose: Purpose::End,
        error: None,
        open: 0,
    }
}

impl Form {
    /// The n-th choice's answer.
    fn chosen(&self, field: usize) -> Option<usize> {
        match self.fields.get(field) {
            Some(Field::Choice { chosen, .. }) => *chosen,
            _ => None,
        }
    }

    /// The n-th number: `Ok(None)` when it is empty.
    fn number(&self, field: usize) -> Result<Option<f64>, Fault> {
        let Some(Field::Number { label, input, unit, range, .. }) = self.fields.get(field) else {
            return Ok(None);
        };
        let text = input.value().trim();
        if text.is_empty() {
            return Ok(None);
        }
        let wrong = || (field, format!("{label}: `{text}` is not a number such as 4500 or 4.5k."));
        let value = read_number(text, *unit).ok_or_else(wrong)?;
        match range {
            Some((min, max)) if !(*min..=*max).contains(&value) => {
                let (min, max) = (unit.show(*min), unit.show(*max));
                Err((field, format!("{label}: {min} to {max} is possible, not {text}.")))
            }
            _ => Ok(Some(value)),
        }
    }

    /// The prediction in the three fields from `first` on: `Ok(None)` when nothing was said.
    fn prediction(
        &self,
        first: usize,
        series: &str,
        within: SimSpan,
        view: &View<'_>,
    ) -> Result<Option<Prediction>, Fault> {
        let expect = match (self.number(first + 1)?, self.chosen(first)) {
            (Some(value), _) => Expected::Value(value),
            (None, Some(i)) => Expected::Direction(DIRECTIONS[i]),
            (None, None) => return Ok(None),
        };
        let sure = SURE[self.chosen(first + 2).unwrap_or(0)];
        Ok(Some(Prediction { series: series.to_owned(), expect, sure, due: view.now() + within }))
    }

    /// A lever with the argument that stands in the first fields.
    fn action(&self, lever: &Lever, fields: usize) -> Result<Action, Fault> {
        let mut values = [0.0; 2];
        for (i, value) in values.iter_mut().enumerate().take(fields) {
            *value = match self.chosen(i) {
                // A switch: on, off.
                Some(0) => 1.0,
                Some(_) => 0.0,
                None => self.number(i)?.ok_or_else(|| (i, "A number is missing.".to_owned()))?,
            };
        }
        Ok(action_with(lever, values[0], values[1]))
    }

    /// The command that the fields make. `plain` leaves the prediction out.
    fn command(&self, view: &View<'_>, plain: bool) -> Result<(Command, String), Fault> {
        let needed = |first: usize, series: &str, within: SimSpan| {
            if plain {
                return Ok(None);
            }
            let given = self.prediction(first, series, within, view)?;
            given.map(Some).ok_or_else(|| {
                let plain = key_in(Context::Dialog, Id::SubmitPlain);
                let text = format!(
                    "Say what you expect, or press {plain} on a choice to go on without a prediction."
                );
                (first, text)
            })
        };
        match &self.purpose {
            Purpose::Confirm(command, said) => match self.chosen(0) {
                Some(1) => Ok((command.clone(), said.clone())),
                _ => Err((0, String::new())),
            },
            Purpose::Pull(lever) => {
                let arguments = self.fields.len() - 3;
                let action = self.action(lever, arguments)?;
                let said = format!("Done: {}.", action_text(&action));
                Ok((Command::Pull { action, prediction: needed(arguments, FELT, AHEAD)? }, said))
            }
            Purpose::Instead(lever) => {
                let action = self.action(lever, self.fields.len())?;
                Ok((Command::Pull { action, prediction: None }, String::new()))
            }
            Purpose::Do(action) => {
                let said = format!("Done: {}.", action_text(action));
                Ok((Command::Pull { action: action.clone(), prediction: needed(0, FELT, AHEAD)? }, said))
            }
            Purpose::Respond(proposal, _) => {
                let accept = match self.chosen(0) {
                    Some(0) => true,
                    Some(_) => false,
                    None => return Err((0, "Do it, or leave it?".to_owned())),
                };
                let prediction = needed(1, FELT, AHEAD)?;
                let said = if accept { "Accepted; it is being done." } else { "Declined." };
                let proposal = proposal.clone();
                Ok((Command::Respond { proposal, accept, prediction }, said.to_owned()))
            }
            Purpose::Reply(message, _, order) => {
                let chosen = self.chosen(0).and_then(|i| order.get(i));
                let reply = *chosen.ok_or_else(|| (0, "Choose a reply.".to_owned()))?;
                Ok((Command::Reply { message: *message, reply }, "Sent.".to_owned()))
            }
            Purpose::Predict { ask, series, within } => {
                let prediction = self.prediction(0, series, *within, view)?;
                let prediction =
                    prediction.ok_or_else(|| (0, "Choose a direction or give a number.".to_owned()))?;
                let said = format!("Noted. The answer comes in {}.", within.words());
                Ok((Command::Predict { ask: ask.clone(), prediction }, said))
            }
            Purpose::Choose(ask, order) => {
                let chosen = self.chosen(0).and_then(|i| order.get(i));
                let option = *chosen.ok_or_else(|| (0, "Choose an answer.".to_owned()))?;
                let sure = SURE[self.chosen(1).unwrap_or(0)];
                let said = "Noted; the debrief comes back to it.".to_owned();
                Ok((Command::Choose { ask: ask.clone(), option, sure }, said))
            }
            Purpose::Declare => {
                let chosen = self.chosen(0).ok_or_else(|| (0, "Choose a severity.".to_owned()))?;
                let severity = SEVERITIES[chosen];
                Ok((Command::Declare(severity.0), format!("Declared {}.", &severity.1[..4])))
            }
            Purpose::Status => {
                let text = match &self.fields[0] {
                    Field::Text { input, .. } => input.value().trim().to_owned(),
                    _ => String::new(),
                };
                if text.is_empty() {
                    return Err((0, "Write a sentence for the people who wait.".to_owned()));
                }
                Ok((Command::Status { text, failing: self.number(1)? }, "Sent.".to_owned()))
            }
            Purpose::End => match self.chosen(0) {
                None => Err((0, "Choose whether to end it.".to_owned())),
                Some(1) => Ok((Command::End, "The exercise is over.".to_owned())),
                Some(_) => Err((0, String::new())),
            },
        }
    }

    fn submit(&mut self, view: &View<'_>, plain: bool) -> Vec<Outcome> {
        match self.command(view, plain) {
            Ok((command, said)) if self.final_lever().is_some() => {
                let lever = self.final_lever();
                let levers = view.levers();
                match levers.iter().find(|l| Some(&l.lever) == lever) {
                    Some(lever) => {
                        vec![Outcome::Close, Outcome::Open(Box::new(confirm(lever, command, said)))]
                    }
                    None => vec![Outcome::Close],
                }
            }
            Ok((Command::Pull { action, .. }, _)) if matches!(self.purpose, Purpose::Instead(_)) => {
                vec![Outcome::Close, Outcome::Fork(Change::Instead(action))]
            }
            Ok((command, said)) => vec![Outcome::Finish(command, said)],
            Err((_, error)) if error.is_empty() => vec![Outcome::Close],
            Err(fault) => {
                self.fault(fault);
                Vec::new()
            }
        }
    }

    /// Says what is wrong at the field where it is, and gives that field the keys.
    fn fault(&mut self, fault: Fault) {
        self.focus = fault.0;
        self.error = Some(fault);
    }

    fn predicts(&self) -> bool {
        matches!(self.purpose, Purpose::Pull(_) | Purpose::Do(_) | Purpose::Respond(..))
    }

    /// The lever, when what it does cannot be taken back.
    fn final_lever(&self) -> Option<&Lever> {
        match &self.purpose {
            Purpose::Pull(lever @ (Lever::FlushCache(_) | Lever::RollingRestart(_))) => Some(lever),
            _ => None,
        }
    }

    /// The next item of the feed that waits for an answer, after the one that this form answers, as a form: from
    /// the newest to the oldest and round again.
    fn next_open(&self, view: &View<'_>) -> Option<Box<dyn Layer>> {
        let (Purpose::Respond(_, number) | Purpose::Reply(_, number, _)) = self.purpose else { return None };
        let open = || view.feed().iter().rev().filter(|i| i.asks());
        let next = open().find(|i| i.number < number).or_else(|| open().next())?;
        super::answer(next, view)
    }

    /// The field is edited: a value filled in beforehand makes room for what is typed.
    fn touch(&mut self, types: bool) {
        if let Some(Field::Number { input, replaced, .. }) = self.fields.get_mut(self.focus)
            && std::mem::take(replaced)
            && types
        {
            input.reset();
        }
    }

    fn input(&mut self) -> Option<&mut Input> {
        match self.fields.get_mut(self.focus)? {
            Field::Number { input, .. } | Field::Text { input, .. } => Some(input),
            Field::Choice { .. } => None,
        }
    }

    /// Chooses the option that comes so many later; where something is typed, goes to the neighbouring field.
    fn choose(&mut self, by: isize) {
        match self.fields.get_mut(self.focus) {
            Some(Field::Choice { options, chosen, .. }) => {
                let last = options.len().saturating_sub(1) as isize;
                let at = chosen.map_or(if by < 0 { last } else { 0 }, |c| (c as isize + by).clamp(0, last));
                *chosen = Some(at as usize);
            }
            _ => self.go(by),
        }
    }

    /// Moves to another field.
    fn go(&mut self, by: isize) {
        let last = self.fields.len().saturating_sub(1) as isize;
        self.focus = (self.focus as isize + by).clamp(0, last) as usize;
    }

    /// The rows of the form: label, text, and what is special about them.
    fn rows(&self, width: u16) -> Vec<Row> {
        let mut rows = Vec::new();
        let room = width.saturating_sub(LABEL);
        for (label, text) in &self.facts {
            if label.is_empty() {
                let lines = wrap(text, width);
                rows.extend(lines.into_iter().map(|l| Row::Plain(Role::Accent, l)));
            } else {
                for (i, line) in wrap(text, room).into_iter().enumerate() {
                    rows.push(Row::Fact(if i == 0 { label } else { "" }, line));
                }
            }
        }
        if !self.facts.is_empty() {
            rows.push(Row::Plain(Role::Text, String::new()));
        }
        for (f, field) in self.fields.iter().enumerate() {
            match field {
                Field::Choice { options, .. } if !stacked(options) => {
                    rows.extend(flow(options, room).into_iter().map(|range| Row::Choices(f, range)));
                }
                Field::Choice { options, .. } => {
                    for (i, option) in options.iter().enumerate() {
                        for (part, line) in wrap(option, room.saturating_sub(4)).into_iter().enumerate() {
                            rows.push(Row::Option { field: f, option: i, first: part == 0, line });
                        }
                    }
                }
                _ => rows.push(Row::Field(f)),
            }
            if let Some((_, error)) = self.error.as_ref().filter(|(at, _)| *at == f) {
                rows.extend(wrap(error, room).into_iter().map(|line| Row::Error(f, line)));
            }
        }
        rows
    }

    /// The keys that work now.
    fn keys(&self) -> Vec<Keyed> {
        let key = |id| key_in(Context::Dialog, id).to_owned();
        let mut keys = Vec::new();
        if self.focus + 1 >= self.fields.len() {
            keys.push((key(Id::Submit), "apply"));
        } else {
            keys.push((format!("{} {}", key(Id::Submit), key(Id::NextField)), "next field"));
        }
        if let Some(Field::Choice { options, .. }) = self.fields.get(self.focus) {
            keys.push((if stacked(options) { "↑ ↓" } else { "← →" }.to_owned(), "choose"));
            if self.predicts() {
                keys.push((key(Id::SubmitPlain), "apply without a prediction"));
            }
            if self.open > 1 {
                keys.push((key(Id::Answer), "next one"));
            }
        }
        keys.push((key(Id::Back), "cancel"));
        keys
    }
}

/// Whether a choice has options of more than a few words, so that they stand one below the other.
fn stacked(options: &[String]) -> bool {
    options.iter().any(|o| columns(o) > 20)
}

/// The options that stand in each row of a choice of short ones.
fn flow(options: &[String], width: u16) -> Vec<Range<usize>> {
    let (mut rows, mut first, mut used) = (Vec::new(), 0, 0);
    for (i, option) in options.iter().enumerate() {
        let needs = columns(option) + 4;
        if i > first && used + needs > usize::from(width) {
            rows.push(first..i);
            (first, used) = (i, 0);
        }
        used += needs + 2;
    }
    rows.push(first..options.len());
    rows
}

enum Row {
    Plain(Role, String),
    Fact(&'static str, String),
    Field(usize),
    /// Those options of a choice of short ones.
    Choices(usize, Range<usize>),
    Option {
        field: usize,
        option: usize,
        first: bool,
        line: String,
    },
    /// What is wrong in that field.
    Error(usize, String),
}

impl Layer for Form {
    fn contexts(&self) -> Vec<Context> {
        vec![Context::Dialog]
    }

    fn draw(&mut self, canvas: &mut Canvas<'_>, area: Rect, _scene: &Scene<'_>) {
        let width = area.width.saturating_sub(2).min(82);
        let inner_width = width.saturating_sub(4);
        let rows = self.rows(inner_width);
        let keys = in_lines(self.keys(), inner_width);
        let place = centred(area, width, (rows.len() + 1 + keys.len()) as u16 + 2);
        canvas.clear(place);
        let inside = canvas.frame(place, &self.title, &Line::default(), true);
        let inside = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
        // The keys keep their place at the bottom; when not everything fits, the field that has the keys is shown.
        let foot = (keys.len() as u16).min(inside.height);
        let body = Rect { height: inside.height.saturating_sub(foot + 1), ..inside };
        let focus_row = rows.iter().rposition(|r| match r {
            Row::Field(f) | Row::Choices(f, _) | Row::Option { field: f, .. } | Row::Error(f, _) => {
                *f == self.focus
            }
            _ => false,
        });
        let height = usize::from(body.height);
        let skip = match focus_row {
            Some(at) if rows.len() > height => (at + 2).min(rows.len()).saturating_sub(height),
            _ => 0,
        };
        for (i, row) in rows.iter().skip(skip).take(height).enumerate() {
            let y = i as u16;
            match row {
                Row::Plain(role, text) => {
                    canvas.text(body, y, text, *role);
                }
                Row::Fact(label, text) => {
                    canvas.text(body, y, label, Role::Muted);
                    canvas.text(beside(body), y, text, Role::Text);
                }
                Row::Field(f) => self.draw_field(canvas, body, y, *f),
                Row::Choices(f, range) => self.draw_choices(canvas, body, y, *f, range.clone()),
                Row::Option { field, option, first, line } => {
                    self.draw_option(canvas, body, y, (*field, *option), *first, line);
                }
                Row::Error(_, text) => {
                    canvas.text(beside(body), y, text, Role::Warn);
                }
            }
        }
        let foot = Rect { y: inside.bottom() - foot, height: foot, ..inside };
        for (y, line) in keys.iter().enumerate() {
            let line = key_line(canvas, line);
            canvas.line(foot, y as u16, &line);
        }
    }

    fn act(&mut self, id: Id, scene: &Scene<'_>) -> Option<Vec<Outcome>> {
        self.error = None;
        let play = scene.play?;
        match id {
            Id::NextField => self.go(1),
            Id::PreviousField => self.go(-1),
            Id::Up => self.choose(-1),
            Id::Down => self.choose(1),
            Id::Toggle => self.choose(0),
            Id::Answer => {
                let next = self.next_open(&play.view());
                return Some(next.map_or(Vec::new(), |form| vec![Outcome::Close, Outcome::Open(form)]));
            }
            Id::Submit if self.focus + 1 < self.fields.len() => self.focus += 1,
            Id::Submit | Id::Save => return Some(self.submit(&play.view(), false)),
            Id::SubmitPlain if self.predicts() => return Some(self.submit(&play.view(), true)),
            Id::SubmitPlain => {}
            Id::Back => return Some(vec![Outcome::Close]),
            _ => return None,
        }
        Some(Vec::new())
    }

    fn typed(&mut self, key: Key, _scene: &Scene<'_>) -> Option<Vec<Outcome>> {
        self.input()?;
        let request = key.edits()?;
        if let (InputRequest::InsertChar(c), Some(Field::Number { unit, .. })) =
            (&request, self.fields.get(self.focus))
            && !may_be_in_a_number(*c, *unit)
        {
            let example = if *unit == Unit::Seconds { "250ms or 1.5" } else { "4500 or 4.5k" };
            let text = format!("A number such as {example} stands here: `{c}` was left out.");
            self.error = Some((self.focus, text));
            return Some(Vec::new());
        }
        self.touch(matches!(request, InputRequest::InsertChar(_)));
        let input = self.input()?;
        let full = input.value().chars().count() >= LONGEST;
        if !(full && matches!(request, InputRequest::InsertChar(_))) {
            input.handle(request);
        }
        self.error = None;
        Some(Vec::new())
    }

    fn pasted(&mut self, text: &str) {
        self.touch(true);
        if let Some(input) = self.input() {
            let room = LONGEST.saturating_sub(input.value().chars().count());
            // A field is one line: breaks become spaces, other control characters are left out.
            let plain = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c });
            for c in plain.filter(|c| !c.is_control()).take(room) {
                input.handle(InputRequest::InsertChar(c));
            }
        }
    }

    fn refused(&mut self, refusal: &Refusal) {
        // What is asked for stands in the first field; what is left out of it is refused there.
        self.fault((0, format!("{} {}", refusal.why, refusal.instead)));
    }

    fn clicked(&mut self, hit: Hit, _scene: &Scene<'_>) -> Vec<Outcome> {
        if let Hit::Item(item) = hit {
            let (field, option) = (item / 100, item % 100);
            self.focus = field.min(self.fields.len().saturating_sub(1));
            if let Some(Field::Choice { options, chosen, .. }) = self.fields.get_mut(self.focus)
                && option < options.len()
            {
                *chosen = Some(option);
            }
        }
        Vec::new()
    }
}

/// The part of the form right of the labels.
fn beside(inside: Rect) -> Rect {
    let label = LABEL.min(inside.width);
    Rect { x: inside.x + label, width: inside.width - label, ..inside }
}

fn mark(chosen: bool) -> &'static str {
    if chosen { "(•)" } else { "( )" }
}

impl Form {
    fn draw_option(
        &self,
        canvas: &mut Canvas<'_>,
        inside: Rect,
        y: u16,
        (field, option): (usize, usize),
        first: bool,
        text: &str,
    ) {
        let Some(Field::Choice { label, chosen, .. }) = self.fields.get(field) else { return };
        let focus = field == self.focus;
        if first && option == 0 {
            canvas.text(inside, y, label, if focus { Role::Focus } else { Role::Muted });
        }
        let is_chosen = *chosen == Some(option);
        let place = beside(inside);
        let role = if is_chosen { Role::Accent } else { Role::Text };
        let head = if first { mark(is_chosen) } else { "   " };
        canvas.text(place, y, &format!("{head} {text}"), role);
        if focus && is_chosen {
            canvas.highlight(place, y, Role::Selection);
        }
        canvas.hit_row(place, y, Hit::Item(field * 100 + option));
    }

    fn draw_choices(&self, canvas: &mut Canvas<'_>, inside: Rect, y: u16, f: usize, range: Range<usize>) {
        let Some(Field::Choice { label, options, chosen }) = self.fields.get(f) else { return };
        let focus = f == self.focus;
        if range.start == 0 {
            canvas.text(inside, y, label, if focus { Role::Focus } else { Role::Muted });
        }
        let place = beside(inside);
        let mut x = 0;
        for (i, option) in options.iter().enumerate().take(range.end).skip(range.start) {
            let is_chosen = *chosen == Some(i);
            let text = format!("{} {option}", mark(is_chosen));
            let width = columns(&text) as u16;
            if x >= place.width {
                break;
            }
            let here = Rect { x: place.x + x, width: width.min(place.width - x), ..place };
            let role = match (is_chosen, focus) {
                (true, true) => Role::Selection,
                (true, false) => Role::Accent,
                _ => Role::Text,
            };
            canvas.text(here, y, &text, role);
            canvas.hit_row(here, y, Hit::Item(f * 100 + i));
            x += width + 2;
        }
    }

    fn draw_field(&self, canvas: &mut Canvas<'_>, inside: Rect, y: u16, f: usize) {
        let focus = f == self.focus;
        let label_role = if focus { Role::Focus } else { Role::Muted };
        let place = beside(inside);
        match &self.fields[f] {
            Field::Choice { .. } => {}
            Field::Number { label, input, hint, replaced, .. } => {
                canvas.text(inside, y, label, label_role);
                let field = Rect { width: place.width.min(16), ..place };
                self.draw_input(canvas, field, y, input, focus);
                if focus && *replaced && field.width > 4 {
                    // Selected as a whole: what is typed takes its place.
                    let width = (columns(input.value()) as u16).min(field.width - 4);
                    canvas.highlight(Rect { x: field.x + 2, width, ..field }, y, Role::Selection);
                }
                let after = place.width.min(17);
                let rest = Rect { x: place.x + after, width: place.width - after, ..place };
                canvas.text(rest, y, hint, Role::Muted);
                canvas.hit_row(place, y, Hit::Item(f * 100 + 99));
            }
            Field::Text { label, input } => {
                canvas.text(inside, y, label, label_role);
                self.draw_input(canvas, place, y, input, focus);
                canvas.hit_row(place, y, Hit::Item(f * 100 + 99));
            }
        }
    }

    fn draw_input(&self, canvas: &mut Canvas<'_>, place: Rect, y: u16, input: &Input, focus: bool) {
        if place.width < 6 || y >= place.height {
            return;
        }
        let role = if focus { Role::Focus } else { Role::Muted };
        let room = usize::from(place.width - 4);
        canvas.text(place, y, "[", role);
        canvas.text(Rect { x: place.right() - 1, width: 1, ..place }, y, "]", role);
        let scroll = input.visual_scroll(room);
        let shown: String = input.value().chars().skip(scroll).take(room).collect();
        let text = Rect { x: place.x + 2, width: room as u16, ..place };
        canvas.text(text, y, &shown, Role::Text);
        if focus {
            let x = text.x + (input.visual_cursor().saturating_sub(scroll) as u16).min(text.width);
            *canvas.cursor = Some(Position { x, y: place.y + y });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::incident::schema::{Knob, Setting};

    #[test]
    fn the_order_of_options_tells_nothing_and_stays() {
        let mut first = [0; 4];
        for n in 0..400 {
            let name = format!("question-{n}");
            let order = scattered(4, &name);
            assert_eq!(order, scattered(4, &name));
            let mut all = order.clone();
            all.sort_unstable();
            assert_eq!(all, [0, 1, 2, 3]);
            first[order[0]] += 1;
        }
        assert!(first.iter().all(|n| (60..140).contains(n)), "{first:?}");
        let options = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(in_order(&options, &[2, 0, 1]), ["c", "a", "b"]);
    }

    #[test]
    fn numbers_are_read_as_people_type_them() {
        for (text, unit, value) in [
            ("4500", Unit::PerSecond, Some(4_500.0)),
            ("4,500", Unit::PerSecond, Some(4_500.0)),
            ("4.5k", Unit::PerSecond, Some(4_500.0)),
            ("40 %", Unit::Ratio, Some(0.4)),
            ("8s", Unit::Seconds, Some(8.0)),
            ("250ms", Unit::Seconds, Some(0.25)),
            ("1.5", Unit::Seconds, Some(1.5)),
            ("-1", Unit::Count, None),
            ("inf", Unit::Count, None),
            ("x", Unit::Count, None),
            ("é", Unit::Count, None),
            ("", Unit::Count, None),
        ] {
            assert_eq!(read_number(text, unit), value, "{text}");
        }
    }

    #[test]
    fn what_a_field_shows_reads_back() {
        for (value, unit, shown) in [
            (0.25, Unit::Seconds, "0.25"),
            (90.0, Unit::Seconds, "90"),
            (0.5, Unit::Ratio, "50"),
            (4_500.0, Unit::PerSecond, "4500"),
            (0.0, Unit::Count, "0"),
            (4.5, Unit::Count, "4.5"),
        ] {
            assert_eq!(typed_value(value, unit), shown);
            assert_eq!(read_number(shown, unit), Some(value), "{shown}");
        }
    }

    /// A switch is set to what it is not, unless the player says otherwise.
    #[test]
    fn a_switch_is_a_lever_with_two_positions() {
        let text = include_str!("../../../tests/incidents/good/calls.ron");
        let incident = crate::incident::load("calls", text).incident.expect("a good file");
        let options = crate::game::SessionOptions { scale: 0.1, ..Default::default() };
        let session = crate::game::Session::new(std::sync::Arc::new(incident), options);
        let view = session.view();
        let knob = Knob::ServeStale("stock".to_owned());
        let levers = view.levers();
        let lever = levers.iter().find(|l| l.lever == Lever::Set(knob.clone())).expect("it is offered");
        let mut form = pull(lever, &view);
        for setting in [Setting::Off, Setting::On] {
            let Ok((Command::Pull { action, prediction }, said)) = form.command(&view, true) else {
                panic!("the form is complete")
            };
            assert_eq!((action, prediction), (Action::Set(knob.clone(), setting), None));
            assert!(said.starts_with("Done: stale values served by stock o"), "{said}");
            form.choose(-1);
        }
    }
}
