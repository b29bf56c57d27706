//! What a report says, without saying how it looks.

use super::{Extent, curve};
use crate::game::TOLERANCE;
use crate::score::{Debrief, Mark, PredictionEntry, ReadingEntry, Seen};

/// A piece of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// The title of the whole.
    Title(String),
    /// The title of a section.
    Heading(String),
    /// A paragraph.
    Text(String),
    /// A point of a list.
    Item(String),
    /// A detail of the point before it.
    Detail(String),
    /// A label with what belongs to it.
    Entry(String, String),
    /// Lines that keep their columns.
    Fixed(Vec<String>),
}

use Block::{Detail, Entry, Fixed, Heading, Item, Text, Title};

/// Heading above the incidents that look the same at first.
pub(super) const LOOK_ALIKE: &str = "To try next, some days from now: it looks the same and is not";

/// What stands where a debrief stops before the answer.
pub(super) const HOW_TO_GO_ON: &str = "The rest tells the cause: the senior's reading, what held it up, your marks. Your own \
    account is worth most before you have read another, so write down first what you think happened. Then --spoilers \
    prints the rest; in the game, the debrief goes on when its two questions are answered.";

/// The debrief in order; `width` is the width of the harm curve.
pub fn blocks(debrief: &Debrief, width: usize, extent: Extent) -> Vec<Block> {
    let mut out = vec![
        Title(format!("{}: debrief", debrief.title)),
        Text(format!(
            "{}, {}, seed {}{}.",
            debrief.incident,
            debrief.mode,
            debrief.seed,
            if debrief.scale == 1.0 { String::new() } else { format!(", scale {}", debrief.scale) }
        )),
    ];
    out.push(Text(debrief.outcome.clone()));
    facts(debrief, width, &mut out);
    own_view(debrief, &mut out);
    if extent == Extent::BeforeTheAnswer {
        out.push(Text(HOW_TO_GO_ON.to_owned()));
        return out;
    }
    if !debrief.reading.is_empty() {
        out.push(Heading("The senior's reading of the same moments".to_owned()));
    }
    for entry in &debrief.reading {
        reading(entry, &mut out);
    }
    mechanism(debrief, &mut out);
    signals(debrief, &mut out);
    marks(debrief, &mut out);
    outlook(debrief, &mut out);
    out
}

fn marks(debrief: &Debrief, out: &mut Vec<Block>) {
    let score = &debrief.score;
    if score.dimensions.is_empty() {
        out.push(Text("Free play in the lab is not marked.".to_owned()));
        return;
    }
    out.push(Heading("Marks".to_owned()));
    score.dimensions.iter().for_each(|m| reasons(m, out));
    let hints = score.independence;
    out.push(Entry(
        "Independence".to_owned(),
        format!("{} of {} hints used; hints lower nothing else", hints.hints, hints.of),
    ));
}

fn facts(debrief: &Debrief, width: usize, out: &mut Vec<Block>) {
    out.push(Heading("What happened".to_owned()));
    for entry in &debrief.timeline {
        out.push(Entry(entry.clock.clone(), format!("[{}] {}", entry.kind, entry.text)));
    }
    out.push(Heading("What users felt".to_owned()));
    out.push(Fixed(curve::harm_curves(&debrief.harm, &debrief.forks, width)));
    for (who, total) in &debrief.harm.totals {
        out.push(Entry(who.clone(), total.clone()));
    }
    for lever in &debrief.harm.levers {
        out.push(Item(format!("{} {} {}", lever.letter, lever.clock, lever.what)));
        out.extend(lever.effect.iter().map(|effect| Detail(format!("Played again: {effect}."))));
    }
    for (n, fork) in debrief.forks.iter().enumerate() {
        out.push(Item(format!("{}: {}", curve::fork_name(n), fork.what)));
        out.push(Detail(fork.total.clone()));
        out.extend(fork.skipped.iter().map(|skipped| Detail(format!("Not pulled: {skipped}"))));
    }
}

fn prediction(p: &PredictionEntry) -> [Block; 2] {
    let verdict = match p.right {
        Some(true) => "right",
        Some(false) => "not so",
        None => "not settled",
    };
    [
        Item(format!("{} {}", p.clock, p.about)),
        Detail(format!(
            "{}: expected {} at {} % sure; {} before, {} when due: {verdict}.",
            p.series, p.expected, p.sure, p.before, p.became
        )),
    ]
}

fn own_view(debrief: &Debrief, out: &mut Vec<Block>) {
    out.push(Heading("Predictions, the biggest surprise first".to_owned()));
    if debrief.predictions.is_empty() {
        out.push(Text("You made none.".to_owned()));
    }
    out.extend(debrief.predictions.iter().flat_map(prediction));
    if !debrief.predictions.is_empty() {
        out.push(Text(TOLERANCE.to_owned()));
    }
    if let Some(brier) = debrief.brier {
        out.push(Text(format!(
            "Mean Brier score of all that you were sure of: {brier:.2} (0 is sure and right, 0.25 a coin toss)."
        )));
    }
    out.push(Heading("In your own words".to_owned()));
    for (question, answer) in &debrief.reflections {
        let answer = if answer.trim().is_empty() { "no answer" } else { answer.trim() };
        out.push(Item(question.clone()));
        out.push(Detail(answer.to_owned()));
    }
}

fn reading(entry: &ReadingEntry, out: &mut Vec<Block>) {
    out.push(Entry(entry.clock.clone(), entry.says.clone()));
    for signal in &entry.looks_at {
        let mark = match signal.seen {
            Seen::LookedAt => "you looked at it",
            Seen::NotLookedAt => "you had not looked at it",
            Seen::NotVisible => "it was not visible",
        };
        out.push(Detail(format!("{}: {} in your run; {mark}.", signal.name, signal.showed)));
    }
    for other in &entry.alternatives {
        out.push(Detail(format!("As good: {other}")));
    }
}

fn mechanism(debrief: &Debrief, out: &mut Vec<Block>) {
    let m = &debrief.mechanism;
    out.push(Heading("Why it did not recover by itself".to_owned()));
    out.push(Text(m.summary.clone()));
    let steps = &debrief.why_it_held;
    for (i, step) in steps.iter().enumerate() {
        let arrow = if i + 1 == steps.len() { "and so back to the first" } else { "so" };
        out.push(Item(step.text.clone()));
        out.push(Detail(format!(
            "{}: {} before, {} during, {} at the end; {arrow}",
            step.series, step.healthy, step.during, step.at_end
        )));
    }
    if let Some(load) = &debrief.load {
        out.push(Text(load.text()));
    }
    for (label, pair) in [
        ("Trigger", &m.trigger),
        ("Amplified by", &m.amplifiers),
        ("Made possible by", &m.contributing),
        ("Bottleneck", &m.bottleneck),
    ] {
        out.push(Entry(label.to_owned(), pair.0.clone()));
        out.push(Detail(format!("You named: {}.", pair.1)));
    }
    if !m.your_loop.trim().is_empty() {
        out.push(Entry("Your loop".to_owned(), m.your_loop.clone()));
    }
    if !m.your_summary.trim().is_empty() {
        out.push(Entry("Your finding".to_owned(), m.your_summary.clone()));
    }
    if !debrief.evidence.is_empty() {
        out.push(Heading("What you pinned".to_owned()));
    }
    for e in &debrief.evidence {
        out.push(Entry(e.id.clone(), format!("{} {}", e.clock, e.showed)));
        if !e.note.trim().is_empty() {
            out.push(Detail(e.note.clone()));
        }
    }
    if !debrief.hypotheses.is_empty() {
        out.push(Heading("Explanations".to_owned()));
    }
    for h in &debrief.hypotheses {
        let truth = if h.holds { "It holds" } else { "It does not hold" };
        out.push(Item(h.text.clone()));
        let cited =
            if h.evidence.is_empty() { String::new() } else { format!(" citing {}", h.evidence.join(", ")) };
        out.push(Detail(format!("You: {}{cited}. {truth}: {}", h.verdict, h.why)));
    }
    if let Some(trap) = &debrief.trap {
        out.push(Heading("The trap, played again".to_owned()));
        let taken = if trap.taken { "You pulled this lever too." } else { "You left it alone." };
        out.push(Text(format!("{} {taken}", trap.what)));
        out.push(Entry("With it".to_owned(), trap.with.clone()));
        out.push(Entry("Doing nothing".to_owned(), trap.without.clone()));
    }
}

fn list(title: &str, items: impl Iterator<Item = String>, none: &str, out: &mut Vec<Block>) {
    out.push(Heading(title.to_owned()));
    let before = out.len();
    out.extend(items.map(Item));
    if out.len() == before {
        out.push(Text(none.to_owned()));
    }
}

fn signals(debrief: &Debrief, out: &mut Vec<Block>) {
    list("What went well", debrief.went_well.iter().cloned(), "Nothing stood out in the marks.", out);
    let missed = debrief.missed.iter().map(|m| format!("{}: {}", m.kind.label(), m.text));
    list("Missed signals", missed, "None.", out);
}

fn outlook(debrief: &Debrief, out: &mut Vec<Block>) {
    if !debrief.follow_ups.is_empty() {
        let line = |f: &crate::score::FollowUpEntry| {
            let chosen = if f.chosen { "chosen: " } else { "" };
            format!("{chosen}{} ({}). {}", f.text.trim_end_matches('.'), f.effect, f.why)
        };
        list("Follow-ups", debrief.follow_ups.iter().map(line), "", out);
    }
    if !debrief.discuss.is_empty() {
        list("To discuss", debrief.discuss.iter().cloned(), "", out);
    }
    if !debrief.look_alikes.is_empty() {
        let play = |name: &String| format!("pagerdrill play {name}");
        list(LOOK_ALIKE, debrief.look_alikes.iter().map(play), "", out);
    }
}

fn reasons(mark: &Mark, out: &mut Vec<Block>) {
    out.push(Item(format!("{}: {} ({})", mark.dimension.label(), mark.grade.letter(), mark.grade.words())));
    out.push(Detail(format!("Rule: {}", mark.rule)));
    out.extend(mark.facts.iter().cloned().map(Detail));
}
