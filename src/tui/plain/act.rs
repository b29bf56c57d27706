//! What a player does: levers with predictions, answers, evidence, words to others.

use super::commands::with_commands;
use super::line::Typed;
use super::names::{self, Handle};
use super::{Done, Plain, see};
use crate::game::command::{Command, Expected, Prediction, Source};
use crate::game::{Argument, AskKind, AskView, FeedItem, View, action_text, action_with, expected_words};
use crate::incident::schema::{Action, Lever, Severity};
use crate::tui::dialogs::{AHEAD, FELT};
use crate::units::{SimSpan, Unit};

/// What an argument is and between which values, in words.
fn range(argument: &Argument) -> String {
    match argument {
        Argument::None => "needs no value".to_owned(),
        Argument::Switch { .. } => "on or off".to_owned(),
        Argument::Number { label, min, max, unit, .. } => {
            format!("{label}, {} to {}", unit.show(*min), unit.show(*max))
        }
        Argument::WarmUp { max_keys, max_rate, .. } => {
            format!(
                "how many keys, up to {max_keys}, and how many a second, up to {}",
                Unit::PerSecond.show(*max_rate)
            )
        }
    }
}

/// The action that a lever and the words behind its name make.
fn action(handle: &Handle, values: &[String]) -> Result<Action, String> {
    if let Some(action) = &handle.action {
        return Ok(action.clone());
    }
    let lever = &handle.lever;
    let wanted = || format!("`{}` wants: {}.", handle.name, range(&lever.argument));
    let most = match &lever.argument {
        Argument::None => 0,
        Argument::Number { .. } | Argument::Switch { .. } => 1,
        Argument::WarmUp { .. } => 2,
    };
    if values.len() > most {
        return Err(format!("`{}` is too much. {}", values[most..].join(" "), wanted()));
    }
    let value = |i: usize, unit: Unit| match values.get(i) {
        Some(text) => names::number(text, unit).map_err(|why| format!("{why} {}", wanted())),
        None => Err(wanted()),
    };
    let (first, second) = match &lever.argument {
        Argument::None => (0.0, 0.0),
        Argument::Number { unit, .. } => (value(0, *unit)?, 0.0),
        Argument::Switch { .. } => match values.first().map(|w| w.to_lowercase()).as_deref() {
            Some("on") => (1.0, 0.0),
            Some("off") => (0.0, 0.0),
            _ => return Err(wanted()),
        },
        Argument::WarmUp { .. } => (value(0, Unit::Count)?, value(1, Unit::PerSecond)?),
    };
    Ok(action_with(&lever.lever, first, second))
}

/// What was said to be expected: `--expect [SERIES] DIRECTION-OR-NUMBER --sure N --within SPAN`.
fn prediction(typed: &Typed, view: &View<'_>) -> Result<Option<Prediction>, String> {
    let Some(text) = typed.option("expect") else {
        let alone = ["sure", "within"].into_iter().find(|o| typed.has(o));
        return alone.map_or(Ok(None), |o| Err(format!("--{o} says more about --expect, which is missing.")));
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    // The series comes first; the shortest end that is an expectation leaves the most of it.
    let split = (0..words.len()).rev().find_map(|at| {
        let name = words[..at].join(" ");
        let series =
            if name.is_empty() { names::series(view, FELT) } else { names::series(view, &name) }.ok()?;
        names::expectation(&words[at..].join(" "), series).map(|expect| (series, expect))
    });
    let Some((series, expect)) = split else {
        let felt = names::series(view, FELT)?;
        return Err(format!(
            "--expect is a direction or a number, behind a series when it is not about failing operations: {}. Not \
             understood: `{text}`.",
            names::directions(felt)
        ));
    };
    let within = match typed.option("within") {
        None => AHEAD,
        Some(text) => text
            .parse::<SimSpan>()
            .map_err(|_| format!("--within is a length of time such as 5m, not `{text}`."))?,
    };
    let sure = names::sure(typed.option("sure"))?;
    Ok(Some(Prediction { series: series.name.clone(), expect, sure, due: view.now() + within }))
}

/// A prediction as it was understood, with its unit.
fn noted(prediction: &Prediction, view: &View<'_>) -> String {
    format!(
        "Noted: {} will be {} at {}, {} % sure.",
        view.name_in_words(&prediction.series),
        expected_words(prediction.expect, view.series().get(&prediction.series)),
        view.clock_at(prediction.due),
        prediction.sure
    )
}

/// Numbers of questions that wait for an answer, in words.
fn numbered(asks: &[AskView]) -> String {
    let numbers: Vec<String> = asks.iter().map(|ask| ask.number.to_string()).collect();
    match numbers.as_slice() {
        [one] => format!("{one} is open"),
        all => format!("{} are open", all.join(", ")),
    }
}

/// The feed item that a number means, or the only one that waits for an answer.
fn open_item<'a>(
    view: &View<'a>,
    number: Option<&str>,
    fits: impl Fn(&FeedItem) -> bool,
    what: &str,
) -> Result<&'a FeedItem, String> {
    let open: Vec<&FeedItem> = view.feed().iter().filter(|i| i.asks() && fits(i)).collect();
    let Some(text) = number else {
        return match open[..] {
            [] => Err(format!("No {what} waits for an answer.")),
            [one] => Ok(one),
            _ => {
                let numbers: Vec<String> = open.iter().map(|i| i.number.to_string()).collect();
                Err(format!("Which {what}? Those numbered {} wait for an answer.", numbers.join(", ")))
            }
        };
    };
    let found = text.parse::<usize>().ok().and_then(|n| view.feed().get(n)).filter(|i| fits(i));
    found.ok_or_else(|| format!("There is no {what} numbered `{text}`. `feed` reads what was said."))
}

impl Plain {
    pub(super) fn levers(&mut self, typed: &Typed) -> Done {
        let view = self.view()?;
        let mut lines = Vec::new();
        let words = typed.names();
        if words.is_empty() {
            for (i, handle) in names::handles(&view).iter().enumerate() {
                let now =
                    if handle.action.is_some() { String::new() } else { format!(": {}", handle.lever.now) };
                lines.push(format!("{}: {}{now}", i + 1, handle.name));
            }
            lines.push(
                "`levers` with a name says what one changes; `do` with a name and a value pulls it. A few words of a \
                 name are enough, and so is its number."
                    .to_owned(),
            );
        } else {
            let (handle, _) = names::lever(&view, &words)?;
            let lever = &handle.lever;
            lines.push(format!("{}: {}", handle.name, lever.title));
            lines.push(format!("Now: {}", lever.now));
            lines.push(format!("Changes: {}", lever.effect));
            lines.push(format!("Takes: {}", lever.takes));
            lines.push(format!("Undo: {}", lever.undo));
            if handle.action.is_none() {
                lines.push(format!("Value: {}", range(&lever.argument)));
            }
        }
        lines.iter().for_each(|l| self.say(l));
        Ok(())
    }

    pub(super) fn pull(&mut self, typed: &Typed) -> Done {
        let view = self.view()?;
        let words = typed.names();
        let (handle, named) = names::lever(&view, &words)?;
        let action = action(&handle, &words[named..])?;
        let prediction = prediction(typed, &view)?;
        let lever = &handle.lever;
        let final_one = matches!(lever.lever, Lever::FlushCache(_) | Lever::RollingRestart(_));
        if final_one && !typed.has("yes") {
            let why = format!(
                "Not done yet: {}. {} {} Type it again with --yes to do it.",
                action_text(&action),
                lever.effect,
                lever.undo
            );
            return self.refuse(why);
        }
        let takes = lever.takes.clone();
        let said = match &prediction {
            Some(prediction) => noted(prediction, &view),
            None => "No prediction was made; --expect and --sure make one, and one learns most from those."
                .to_owned(),
        };
        self.submit(Command::Pull { action, prediction })?;
        self.tell_news();
        self.say(&takes);
        self.say(&said);
        Ok(())
    }

    pub(super) fn accept(&mut self, typed: &Typed) -> Done {
        self.respond(typed, true)
    }

    pub(super) fn decline(&mut self, typed: &Typed) -> Done {
        self.respond(typed, false)
    }

    fn respond(&mut self, typed: &Typed, accept: bool) -> Done {
        let view = self.view()?;
        let number = typed.words.first().map(String::as_str);
        let item = open_item(&view, number, |i| i.proposal.is_some(), "proposal")?;
        let proposal = item.proposal.clone().unwrap_or_default();
        let prediction = prediction(typed, &view)?;
        let said = prediction.as_ref().map(|prediction| noted(prediction, &view));
        self.submit(Command::Respond { proposal, accept, prediction })?;
        self.tell_news();
        said.iter().for_each(|said| self.say(said));
        Ok(())
    }

    pub(super) fn reply(&mut self, typed: &Typed) -> Done {
        let view = self.view()?;
        let (item, choice) = match &typed.words[..] {
            [choice] => (None, choice),
            [item, choice] => (Some(item.as_str()), choice),
            _ => return Err("`reply` wants the number of the message and that of a reply.".to_owned()),
        };
        let item = open_item(&view, item, |i| !i.replies.is_empty(), "message")?;
        let order = names::reply_order(item);
        let chosen = names::numbers(choice, order.len(), "reply")?;
        let (Some(message), Some(&reply)) = (item.message, chosen.first().and_then(|i| order.get(*i))) else {
            return Err(format!("Which reply? They are 1 to {}.", order.len()));
        };
        self.submit(Command::Reply { message, reply })
    }

    pub(super) fn acknowledge(&mut self, _: &Typed) -> Done {
        self.submit(Command::Acknowledge)
    }

    pub(super) fn severity(&mut self, typed: &Typed) -> Done {
        let text = typed.text().to_lowercase();
        let severity = match text.trim_start_matches("sev") {
            "1" => Severity::Sev1,
            "2" => Severity::Sev2,
            "3" => Severity::Sev3,
            "4" => Severity::Sev4,
            _ => {
                return Err(
                    "A severity is SEV1 (most users cannot work), SEV2 (many are affected), SEV3 (some are \
                            affected) or SEV4 (nobody notices yet)."
                        .to_owned(),
                );
            }
        };
        self.submit(Command::Declare(severity))
    }

    pub(super) fn update(&mut self, typed: &Typed) -> Done {
        let failing = match typed.option("failing") {
            None => None,
            Some(text) => Some(names::number(text, Unit::Ratio)?),
        };
        self.submit(Command::Status { text: typed.text(), failing })
    }

    pub(super) fn pin(&mut self, typed: &Typed) -> Done {
        let view = self.view()?;
        let note = typed.option("note").unwrap_or("").to_owned();
        let rest = || typed.words[1..].join(" ");
        let number = |what: &str| {
            let text = rest();
            text.trim_end_matches(':').parse::<usize>().map_err(|_| format!("Which {what}? Give its number."))
        };
        let what = match typed.words.first().map(|w| w.to_lowercase()).as_deref() {
            None => {
                return Err(
                    "What? A series, `log N`, `trace N`, `change N`, `runbook N` or `feed N`.".to_owned()
                );
            }
            Some("log") => Source::Log(number("log line")?),
            Some("trace") => Source::Trace(see::trace(&view, &rest())?),
            Some("change") => {
                let n = number("change")?;
                Source::Change(n.checked_sub(1).ok_or("Changes are numbered from 1.")?)
            }
            Some("runbook") => Source::Runbook(see::section(&view, &rest())?),
            Some("feed") => Source::Feed(number("item of the feed")?),
            Some(_) => match names::series(&view, &typed.text()) {
                Ok(series) => Source::Series(series.name.clone()),
                Err(_) if names::is_expression(&typed.text()) => Source::Query(typed.text()),
                Err(why) => return Err(why),
            },
        };
        self.submit(Command::Pin { what, note })?;
        let view = self.view()?;
        let said = view.evidence().last().map(|e| format!("Pinned as {}: {}", e.id, e.showed));
        self.say(&said.unwrap_or_default());
        Ok(())
    }

    /// What the stage is about and asks, and the hints so far.
    pub(super) fn stage(&mut self, _: &Typed) -> Done {
        let view = self.view()?;
        let Some(stage) = view.stage() else { return Err("No stage is open yet.".to_owned()) };
        let mut lines = vec![
            format!("Stage {} of {}: {}", stage.number, stage.of, stage.title),
            with_commands(stage.typed.as_ref().unwrap_or(&stage.text)),
        ];
        lines.extend(
            stage
                .hints_shown
                .iter()
                .enumerate()
                .map(|(i, h)| format!("Hint {}: {}", i + 1, with_commands(h))),
        );
        for ask in &stage.open_asks {
            let n = ask.number;
            lines.push(format!("Question {n}: {}", ask.question));
            let (order, options) = names::options(ask);
            for (k, option) in order.iter().filter_map(|&i| options.get(i)).enumerate() {
                lines.push(format!("  {}: {option}", k + 1));
            }
            lines.push(match &ask.kind {
                AskKind::Choose { .. } => format!("  `answer {n} NUMBER --sure 70` answers."),
                AskKind::Predict { series, within } => {
                    let words = view.name_in_words(series);
                    let found = names::series(&view, series)?;
                    format!(
                        "  What it is about: {words}, in {}. `answer {n} WHAT --sure 70` answers, with a number or one of: {}.",
                        within.words(),
                        names::directions(found)
                    )
                }
            });
        }
        if stage.open_asks.is_empty() {
            lines.push(
                if stage.answered > 0 { "All questions are answered." } else { "Nothing is asked." }
                    .to_owned(),
            );
        }
        lines.iter().for_each(|l| self.say(l));
        Ok(())
    }

    /// Answers a question of the stage.
    pub(super) fn answer(&mut self, typed: &Typed) -> Done {
        let view = self.view()?;
        let asks = view.stage().map(|s| s.open_asks).unwrap_or_default();
        if asks.is_empty() {
            return Err(
                "No question is open. `reply` answers messages, `accept` and `decline` proposals.".to_owned()
            );
        }
        let numbered_ask = |n: &str| asks.iter().find(|ask| n.parse() == Ok(ask.number));
        let (ask, answer) = match (&typed.words[..], asks.as_slice()) {
            ([], _) => return Err("Which question, and what? `stage` reads the questions.".to_owned()),
            ([answer], [only]) => (only, answer.clone()),
            // Words of a direction have no number before them.
            ([word, ..], [only]) if word.parse::<usize>().is_err() => (only, typed.text()),
            ([n, answer @ ..], _) => match numbered_ask(n) {
                Some(ask) => (ask, answer.join(" ")),
                None => {
                    return Err(format!("No question `{n}` waits for an answer: {}.", numbered(&asks)));
                }
            },
        };
        let sure = names::sure(typed.option("sure"))?;
        let (command, said) = match &ask.kind {
            AskKind::Predict { series, within } => {
                let found = names::series(&view, series)?;
                let expect: Expected = names::expectation(&answer, found).ok_or_else(|| {
                    format!("`{answer}` is no number and none of: {}.", names::directions(found))
                })?;
                let prediction =
                    Prediction { series: series.clone(), expect, sure, due: view.now() + *within };
                let said = noted(&prediction, &view);
                (Command::Predict { ask: ask.id.clone(), prediction }, said)
            }
            AskKind::Choose { .. } => {
                let (order, options) = names::options(ask);
                let chosen = names::numbers(&answer, order.len(), "answer")?;
                let option = chosen.first().and_then(|i| order.get(*i)).copied();
                let option = option.ok_or_else(|| format!("Which answer? They are 1 to {}.", order.len()))?;
                let text = options[option].trim_end_matches('.');
                let said = format!("Noted: \"{text}\", {sure} % sure. The debrief comes back to it.");
                (Command::Choose { ask: ask.id.clone(), option, sure }, said)
            }
        };
        self.submit(command)?;
        self.say(&said);
        Ok(())
    }

    pub(super) fn hint(&mut self, _: &Typed) -> Done {
        self.submit(Command::Hint)?;
        let view = self.view()?;
        let hint = view.stage().and_then(|s| s.hints_shown.last().cloned()).unwrap_or_default();
        self.say(&format!("Hint: {}", with_commands(&hint)));
        Ok(())
    }
}
