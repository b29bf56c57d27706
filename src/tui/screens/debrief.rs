//! The debrief: sections at the left, one of them at a time beside them.
//!
//! ```text
//!  Debrief: The cache is healthy            marks P S M …
//! ╭ Sections ─────────╮╭ 2 What users felt ──────────────────────────╮
//! │ 1 What happened   ││                                             │
//! │ 2 What users felt ││                                             │
//! ╰───────────────────╯╰─────────────────────────────────────────────╯
//! ```
//!
//! What needs the reference runs says so until they are there. Everything after the two questions waits for their
//! answers, so that nobody reads the senior's account before giving one of their own.

use std::sync::Arc;

use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::game::Mode;
use crate::game::command::Finding;
use crate::report::{Section, fork_name};
use crate::score::{
    Again, Change, Debrief, EndedEarly, Fork, ForkEntry, Grade, HARM_STEP_S, HARMED, Harm, HarmSection,
    LoopEntry, Mended, QUESTIONS, ReadingEntry, References, Seen, brier_text, debrief, harm_text, score,
};
use crate::tui::actions::{Context, Id, key_in};
use crate::tui::canvas::{Canvas, Hit, columns, wrap};
use crate::tui::dialogs;
use crate::tui::layer::{Layer, Outcome, Scene};
use crate::tui::play::Play;
use crate::tui::screens::again::Job;
use crate::tui::theme::{Role, Theme};
use crate::tui::widgets::chart::{Chart, Extras, Mark, Plotted};
use crate::units::{TimeOfDay, Unit, count};

/// From this width on the sections stand at the left.
const WIDE: u16 = 96;
/// Columns of the sections.
const CONTENTS: u16 = 27;
/// Forks that are drawn beside the other curves at most.
const FORKS_DRAWN: usize = 2;
/// Longest line that is read without effort.
const LINE: u16 = 92;

/// The runs to compare with, as far as they have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Computed {
    Nothing,
    /// The runs without the player.
    References,
    /// Also those of the player with one lever left out.
    All,
    Failed,
}

/// The screen.
#[derive(Default)]
pub(crate) struct DebriefScreen {
    section: usize,
    /// First line that is shown.
    top: usize,
    /// Lines of the section, and how many fitted.
    size: (usize, usize),
    /// The selected item of a section that has some.
    item: usize,
    /// The section is shown from its first line on, also when the first item lies below the screen then; and whether it does.
    from_top: bool,
    item_below: bool,
    /// Marks whose rule and facts are shown.
    open: Vec<usize>,
    /// The decision that is forked from, by its place.
    decision: usize,
    /// A fork that is being played, and those that were.
    forking: Option<(Fork, Job<Again>)>,
    forks: Vec<(ForkEntry, Harm)>,
    /// Work that is switched on, by its place.
    on: Vec<usize>,
    /// A run with that work that is being played, and the last one that was.
    mending: Option<Job<Mended>>,
    mended: Option<Mended>,
    /// Why something could not be played.
    trouble: Option<String>,
    /// Follow-ups were chosen, and what each does has been told.
    told: bool,
    /// The debrief, and what it was made from: length of the journal, and the runs to compare with.
    made: Option<(usize, Computed, Arc<Debrief>)>,
}

/// A section as lines, each with the item that it belongs to.
struct Text<'a> {
    theme: &'a Theme,
    width: u16,
    lines: Vec<(Option<usize>, Line<'static>)>,
    item: Option<usize>,
}

impl Text<'_> {
    fn push(&mut self, spans: Vec<Span<'static>>) {
        self.lines.push((self.item, Line::from(spans)));
    }

    fn gap(&mut self) {
        let item = self.item.take();
        self.push(Vec::new());
        self.item = item;
    }

    fn heading(&mut self, text: &str) {
        if !self.lines.is_empty() {
            self.gap();
        }
        self.say(Role::Accent, text);
    }

    fn span(&self, role: Role, text: impl Into<String>) -> Span<'static> {
        Span::styled(text.into(), self.theme.style(role))
    }

    /// A paragraph.
    fn say(&mut self, role: Role, text: &str) {
        self.hang(0, Vec::new(), role, text);
    }

    /// A paragraph behind a head that stands in the first `indent` columns.
    fn hang(&mut self, indent: u16, head: Vec<Span<'static>>, role: Role, text: &str) {
        let room = self.width.saturating_sub(indent).clamp(10, LINE);
        let used = head.iter().map(Span::width).sum::<usize>();
        for (i, line) in wrap(text, room).into_iter().enumerate() {
            let mut spans = if i == 0 { head.clone() } else { Vec::new() };
            let before = if i == 0 { used } else { 0 };
            spans.push(Span::raw(" ".repeat(usize::from(indent).saturating_sub(before))));
            spans.push(self.span(role, line));
            self.push(spans);
        }
    }

    /// A point of a list.
    fn point(&mut self, text: &str) {
        let head = vec![self.span(Role::Accent, "•")];
        self.hang(2, head, Role::Text, text);
    }
}

/// What a mark's colour is; the letter says it as well.
fn grade_role(grade: Grade) -> Role {
    match grade {
        Grade::P => Role::Ok,
        Grade::S => Role::Info,
        Grade::M => Role::Warn,
        Grade::U => Role::Crit,
        Grade::NotAsked => Role::Muted,
    }
}

fn answered(debrief: &Debrief) -> bool {
    debrief.reflections.iter().all(|(_, answer)| !answer.trim().is_empty())
}

/// How the run ended, and what is missing in one that was ended early; then what happened in it.
fn happened(debrief: &Debrief, out: &mut Text<'_>) {
    for sentence in debrief.ended_early.iter().flat_map(EndedEarly::sentences) {
        out.say(Role::Warn, &sentence);
    }
    out.say(Role::Text, &debrief.outcome);
    out.gap();
    for entry in &debrief.timeline {
        let role = match entry.kind.as_str() {
            "page" => Role::Crit,
            "alert" => Role::Warn,
            "change" => Role::Info,
            "you" => Role::Accent,
            _ => Role::Muted,
        };
        let head = vec![
            out.span(Role::Muted, format!("{} ", entry.clock)),
            out.span(role, format!("{:<9} ", entry.kind)),
        ];
        out.hang(19, head, Role::Text, &entry.text);
    }
    if debrief.timeline.is_empty() {
        out.say(Role::Muted, "Nothing.");
    }
}

fn harm(debrief: &Debrief, computed: Computed, out: &mut Text<'_>) {
    for (i, (who, total)) in debrief.harm.totals.iter().enumerate() {
        // The first is the player's own; the others come from the reference runs.
        if i == 0 || matches!(computed, Computed::References | Computed::All) {
            let head = vec![out.span(Role::Accent, format!("{who}  "))];
            let indent = debrief.harm.totals.iter().map(|t| columns(&t.0)).max().unwrap_or(0) as u16 + 2;
            out.hang(indent, head, Role::Text, total);
        }
    }
    out.say(Role::Muted, HARMED);
    out.gap();
    for (i, decision) in debrief.decisions.iter().enumerate() {
        let lever = decision.lever.and_then(|n| debrief.harm.levers.get(n));
        let text = match lever.and_then(|l| l.effect.as_ref()) {
            Some(effect) => format!("{}: {effect}", decision.what),
            None => decision.what.clone(),
        };
        let mark = lever.map_or('·', |l| l.letter);
        let head = vec![
            out.span(Role::Accent, format!("{mark} ")),
            out.span(Role::Muted, format!("{}  ", decision.clock)),
        ];
        out.item = Some(i);
        out.hang(12, head, Role::Text, &text);
    }
    out.item = None;
    if debrief.harm.levers.is_empty() {
        out.say(Role::Muted, "You pulled no lever.");
    }
    let pending = debrief.harm.levers.iter().any(|lever| lever.effect.is_none());
    if pending && computed != Computed::Failed {
        out.say(Role::Muted, "The runs without each of these levers are being computed.");
    }
    out.say(Role::Muted, "Enter plays the run again with something else done at the selected moment.");
}

fn forks(forks: &[(ForkEntry, Harm)], out: &mut Text<'_>) {
    for (n, (fork, _)) in forks.iter().enumerate() {
        let head = vec![out.span(Role::Accent, format!("{}  ", fork_name(n)))];
        out.hang(8, head, Role::Text, &fork.what);
        out.hang(8, Vec::new(), Role::Text, &fork.total);
        for skipped in &fork.skipped {
            out.hang(8, Vec::new(), Role::Muted, &format!("not pulled: {skipped}"));
        }
        out.gap();
    }
}

/// What the work that was switched on would have changed.
fn with_work(mended: &Mended, you: Option<&Harm>, nobody: Option<&Harm>, out: &mut Text<'_>) {
    out.say(Role::Accent, "Played again with");
    mended.what.iter().for_each(|what| out.point(what));
    out.gap();
    for (who, was, is) in [("you", you, &mended.you.harm), ("nobody acts", nobody, &mended.nobody.harm)] {
        let mut head = vec![out.span(Role::Accent, format!("{who}  "))];
        // What it was is there once the runs to compare with are.
        if let Some(was) = was {
            out.hang(13, std::mem::take(&mut head), Role::Muted, &format!("as it was: {}", harm_text(was)));
        }
        out.hang(13, head, Role::Text, &format!("with it: {}", harm_text(is)));
    }
    for skipped in &mended.you.skipped {
        out.say(Role::Muted, &format!("Not pulled: {skipped}"));
    }
    out.gap();
}

/// What the colour of an answer is; a word says it as well.
fn right_role(right: Option<bool>) -> Role {
    match right {
        Some(true) => Role::Ok,
        Some(false) => Role::Warn,
        None => Role::Muted,
    }
}

fn predictions(debrief: &Debrief, out: &mut Text<'_>) {
    if debrief.predictions.is_empty() {
        out.say(Role::Muted, "You made none. A prediction before each lever is what one learns from most.");
    }
    for p in &debrief.predictions {
        let head = vec![
            out.span(right_role(p.right), format!("{:<12}", p.verdict())),
            out.span(Role::Muted, format!("{} ", p.clock)),
        ];
        out.hang(21, head, Role::Accent, &p.about);
        out.hang(21, Vec::new(), Role::Text, &format!("you {}", p.expectation()));
        out.hang(21, Vec::new(), Role::Text, &p.story());
        out.gap();
    }
    if let Some(brier) = debrief.brier {
        out.say(Role::Muted, &brier_text(brier));
    }
}

fn questions(debrief: &Debrief, out: &mut Text<'_>) {
    out.say(
        Role::Text,
        "Before you read what a senior made of the same screens, two questions. Enter answers the selected one, j and \
         k move.",
    );
    let given = debrief.reflections.iter().filter(|r| !r.1.trim().is_empty()).count();
    let role = if answered(debrief) { Role::Ok } else { Role::Warn };
    out.say(role, &format!("{given} of {} answered.", debrief.reflections.len()));
    out.gap();
    for (i, (question, answer)) in debrief.reflections.iter().enumerate() {
        out.item = Some(i);
        let head = vec![out.span(Role::Accent, format!("{} ", i + 1))];
        out.hang(2, head, Role::Accent, question);
        let (role, text) = if answer.trim().is_empty() {
            (Role::Warn, "not answered yet")
        } else {
            (Role::Text, answer.trim())
        };
        out.hang(2, Vec::new(), role, text);
        out.item = None;
        out.gap();
    }
    if answered(debrief) {
        out.say(Role::Ok, "Thank you. The sections below are open.");
    }
}

/// What the stages asked, what was answered, and what fits.
fn asked(debrief: &Debrief, out: &mut Text<'_>) {
    for entry in &debrief.asked {
        out.say(Role::Accent, &format!("{} ({})", entry.question, entry.stage));
        match &entry.answer {
            None => out.say(Role::Muted, "not answered"),
            Some(answer) => {
                let head = vec![
                    out.span(right_role(answer.right), format!("{:<12}", answer.verdict())),
                    out.span(Role::Muted, format!("{} ", answer.clock)),
                ];
                out.hang(21, head, Role::Text, &format!("{}, {} % sure", answer.text, answer.sure));
                let why = if answer.why.is_empty() {
                    format!("Section {} has the figures.", Section::Predictions.number())
                } else {
                    answer.why.clone()
                };
                out.hang(21, Vec::new(), Role::Muted, &why);
            }
        }
        for fit in &entry.fits {
            let head = vec![out.span(Role::Ok, "what fits")];
            out.hang(21, head, Role::Text, &fit.text);
            out.hang(21, Vec::new(), Role::Muted, &fit.why);
        }
        out.gap();
    }
    if debrief.asked.is_empty() {
        out.say(Role::Muted, "No stage asked you anything: they do in guided runs.");
    }
}

/// The instruments at the left as they were in the player's run, the reading at the right.
fn reading(entry: &ReadingEntry, out: &mut Text<'_>) {
    out.say(Role::Accent, &entry.clock);
    let beside = out.width >= 70;
    let left_width = if beside { out.width * 2 / 5 } else { out.width };
    let mut left: Vec<(Role, String)> = vec![(Role::Muted, "on your screen".to_owned())];
    let told = left_width.saturating_sub(2);
    left.extend(entry.not_reached().iter().flat_map(|text| wrap(text, told)).map(|line| (Role::Muted, line)));
    for signal in entry.looks_at.iter().filter(|_| entry.reached) {
        left.extend(wrap(&signal.name, left_width).into_iter().map(|line| (Role::Info, line)));
        let role = if signal.seen == Seen::LookedAt { Role::Text } else { Role::Warn };
        let text = format!("{}, {}", signal.showed, signal.seen.label());
        left.extend(wrap(&text, left_width.saturating_sub(4)).into_iter().map(|l| (role, format!("  {l}"))));
    }
    if entry.looks_at.is_empty() && entry.reached {
        left.push((Role::Muted, "nothing in particular".to_owned()));
    }
    let right_width = if beside { out.width - left_width - 3 } else { out.width };
    let mut right: Vec<(Role, String)> =
        wrap(&entry.says, right_width).into_iter().map(|l| (Role::Text, l)).collect();
    for other in &entry.alternatives {
        right.push((Role::Text, String::new()));
        let text = format!("As good: {other}");
        right.extend(wrap(&text, right_width).into_iter().map(|l| (Role::Muted, l)));
    }
    if !beside {
        for (role, line) in left.into_iter().chain(right) {
            out.push(vec![out.span(role, line)]);
        }
        return;
    }
    for i in 0..left.len().max(right.len()) {
        let (role, line) = left.get(i).cloned().unwrap_or((Role::Text, String::new()));
        let fill = usize::from(left_width).saturating_sub(columns(&line));
        let mut spans = vec![out.span(role, line), Span::raw(" ".repeat(fill)), out.span(Role::Muted, " │ ")];
        if let Some((role, line)) = right.get(i) {
            spans.push(out.span(*role, line.clone()));
        }
        out.push(spans);
    }
}

fn senior(debrief: &Debrief, out: &mut Text<'_>) {
    for (i, entry) in debrief.reading.iter().enumerate() {
        if i > 0 {
            out.gap();
        }
        reading(entry, out);
    }
    if debrief.reading.is_empty() {
        out.say(Role::Muted, "This incident has no commentary.");
    }
}

/// The loop, with this run's figures at each arrow.
fn draw_loop(steps: &[LoopEntry], out: &mut Text<'_>) {
    let last = steps.len().saturating_sub(1);
    for (i, step) in steps.iter().enumerate() {
        let edge = if i == 0 { "╭─▶ " } else { "│   " };
        let mut head =
            Some(vec![out.span(Role::Accent, edge), out.span(Role::Accent, format!("{} ", i + 1))]);
        for line in wrap(&step.text, out.width.saturating_sub(6).min(LINE)) {
            let mut spans = head.take().unwrap_or_else(|| vec![out.span(Role::Accent, "│     ")]);
            spans.push(out.span(Role::Text, line));
            out.push(spans);
        }
        let series = out.span(Role::Info, format!("{}  ", step.series));
        let mut figures = vec![out.span(Role::Muted, format!("{} before, ", step.healthy))];
        figures.extend(step.during.iter().map(|during| out.span(Role::Warn, format!("{during} at worst, "))));
        figures.push(out.span(Role::Muted, format!("{} at the end", step.at_end)));
        let edge = out.span(Role::Accent, "│     ");
        let mut first = vec![edge.clone(), series];
        let wide = first.iter().chain(&figures).map(Span::width).sum::<usize>() > usize::from(out.width);
        if wide {
            out.push(std::mem::replace(&mut first, vec![edge]));
        }
        first.extend(figures);
        out.push(first);
        if i < last {
            out.push(vec![out.span(Role::Accent, "│     ▼")]);
        }
    }
    if !steps.is_empty() {
        out.push(vec![out.span(Role::Accent, "╰──── "), out.span(Role::Muted, "and so back to 1")]);
    }
}

fn held(debrief: &Debrief, out: &mut Text<'_>) {
    out.say(Role::Text, &debrief.mechanism.summary);
    out.gap();
    draw_loop(&debrief.why_it_held, out);
    if let Some(load) = &debrief.load {
        out.gap();
        out.say(Role::Text, &load.text());
    }
}

fn diagnosis(debrief: &Debrief, out: &mut Text<'_>) {
    let m = &debrief.mechanism;
    for (label, pair) in [
        (Finding::TRIGGER, &m.trigger),
        (Finding::AMPLIFIERS, &m.amplifiers),
        (Finding::CONTRIBUTING, &m.contributing),
        (Finding::BOTTLENECK, &m.bottleneck),
    ] {
        let head = vec![out.span(Role::Accent, label)];
        out.hang(18, head, Role::Text, &pair.0);
        let (word, role) = if pair.0 == pair.1 { ("you: the same", Role::Ok) } else { ("", Role::Muted) };
        let yours = if word.is_empty() { format!("you: {}", pair.1) } else { word.to_owned() };
        out.hang(18, Vec::new(), role, &yours);
    }
    for (label, text) in [(Finding::HOLDS, &m.your_loop), (Finding::SUMMARY, &m.your_summary)] {
        if !text.trim().is_empty() {
            let head = vec![out.span(Role::Accent, label)];
            out.hang(18, head, Role::Text, &format!("you: {text}"));
        }
    }
    if !debrief.hypotheses.is_empty() {
        out.heading("Explanations");
    }
    for h in &debrief.hypotheses {
        let right = h.verdict == if h.holds { "accepted" } else { "rejected" };
        let (word, role) = match (right, h.verdict.as_str()) {
            (true, _) => ("right", Role::Ok),
            (false, "open") => ("left open", Role::Muted),
            (false, _) => ("not so", Role::Warn),
        };
        let head = vec![out.span(role, word)];
        out.hang(11, head, Role::Text, &h.text);
        let cited = match h.evidence.as_slice() {
            [] => String::new(),
            ids => format!(" with {}", ids.join(", ")),
        };
        let truth = if h.holds { "It holds" } else { "It does not hold" };
        let verdict =
            if h.verdict == "open" { String::new() } else { format!("You {} it{cited}. ", h.verdict) };
        out.hang(11, Vec::new(), Role::Muted, &format!("{verdict}{truth}: {}", h.why));
    }
}

fn trap(debrief: &Debrief, out: &mut Text<'_>) {
    let Some(trap) = &debrief.trap else {
        out.say(Role::Muted, "This incident has no documented mistake to play again.");
        return;
    };
    out.say(Role::Text, &trap.what);
    out.gap();
    let head = vec![out.span(Role::Accent, "with it")];
    out.hang(15, head, Role::Text, &trap.with);
    let head = vec![out.span(Role::Accent, "doing nothing")];
    out.hang(15, head, Role::Text, &trap.without);
    out.gap();
    let (role, text) = if trap.taken {
        let felt = Section::Felt.number();
        (Role::Warn, format!("You pulled this lever too. In section {felt} you see what it did in your run."))
    } else {
        (Role::Ok, "You left it alone.".to_owned())
    };
    out.say(role, &text);
}

fn signals(debrief: &Debrief, out: &mut Text<'_>) {
    let open: Vec<_> = debrief.hypotheses.iter().filter(|h| h.verdict == "open").collect();
    // One that stands among the missed says there that it was left open.
    let told = |text: &str| debrief.missed.iter().any(|m| m.text.contains(text.trim_end_matches('.')));
    let unjudged: Vec<_> = open.iter().filter(|h| !told(&h.text)).collect();
    for missed in &debrief.missed {
        let head = vec![out.span(Role::Warn, missed.kind.label())];
        out.hang(15, head, Role::Text, &missed.text);
        out.gap();
    }
    if debrief.missed.is_empty() {
        let text = if unjudged.is_empty() {
            "None: what decides each explanation was looked at and read as it was."
        } else if open.len() < debrief.hypotheses.len() {
            "None among the explanations that you judged."
        } else {
            "You judged no explanation, so this run does not say how you read what decides them."
        };
        out.say(if unjudged.is_empty() { Role::Ok } else { Role::Text }, text);
        out.gap();
    }
    for h in unjudged {
        let head = vec![out.span(Role::Muted, "left unjudged")];
        out.hang(15, head, Role::Text, &h.text);
    }
}

fn marks(debrief: &Debrief, open: &[usize], out: &mut Text<'_>) {
    if debrief.score.dimensions.is_empty() {
        out.say(Role::Text, "Free play in the lab is not marked.");
        return;
    }
    out.say(
        Role::Muted,
        "P performed, S with some challenge, M mended at a cost, U unable. Enter shows why.",
    );
    out.gap();
    for (i, mark) in debrief.score.dimensions.iter().enumerate() {
        out.item = Some(i);
        let spans = vec![
            out.span(grade_role(mark.grade), format!(" {}  ", mark.grade.letter())),
            out.span(Role::Text, format!("{:<18}", mark.dimension.label())),
            out.span(Role::Muted, mark.grade.words()),
        ];
        out.push(spans);
        if open.contains(&i) {
            out.item = None;
            let head = vec![Span::raw("    "), out.span(Role::Accent, "rule")];
            out.hang(10, head, Role::Text, &mark.rule);
            for fact in &mark.facts {
                let head = vec![Span::raw("    "), out.span(Role::Accent, "fact")];
                out.hang(10, head, Role::Text, fact);
            }
        }
    }
    out.item = None;
    out.gap();
    let hints = debrief.score.independence;
    out.say(Role::Muted, &format!("Hints: {} of {}. They lower no mark.", hints.hints, hints.of));
}

/// Whether any of the work that should follow changes the simulated system.
fn playable(debrief: &Debrief) -> bool {
    debrief.follow_ups.iter().any(|f| f.can_be_played)
}

/// Work that should follow, and other ways to go on. `on` is the work that is switched on; nothing before some was chosen.
fn next(debrief: &Debrief, on: Option<&[usize]>, out: &mut Text<'_>) {
    match on {
        _ if debrief.follow_ups.is_empty() => out.say(Role::Muted, "This incident offers no follow-ups."),
        None => {
            out.say(
                Role::Text,
                "Which work should follow? Enter chooses up to three, once; then you see what each does.",
            );
            out.gap();
            debrief.follow_ups.iter().for_each(|f| out.point(&f.text));
        }
        Some(on) => {
            let how = if playable(debrief) {
                "Space switches work on, Enter plays the incident again with all that is on."
            } else {
                "All of it changes what people see or do and nothing in the simulated system, so there is nothing to play \
                 again."
            };
            out.say(Role::Text, how);
            out.gap();
            for (i, f) in debrief.follow_ups.iter().enumerate() {
                out.item = playable(debrief).then_some(i);
                let (mark, role) = match (f.can_be_played, on.contains(&i)) {
                    (false, _) if !playable(debrief) => ("•   ", Role::Accent),
                    (false, _) => ("    ", Role::Muted),
                    (true, true) => ("[x] ", Role::Accent),
                    (true, false) => ("[ ] ", Role::Muted),
                };
                let head = vec![out.span(role, mark)];
                let chosen = if f.chosen { " (your choice)" } else { "" };
                out.hang(4, head, Role::Text, &format!("{}{chosen}", f.text));
                out.hang(4, Vec::new(), Role::Muted, &format!("{}. {}", f.effect, f.why));
            }
            out.item = None;
        }
    }
    out.heading("Another decision");
    out.say(
        Role::Text,
        &format!(
            "Section {} plays the run again from any of your decisions, with something else done there.",
            Section::Felt.number()
        ),
    );
    if !debrief.look_alikes.is_empty() {
        out.heading("Looks the same and is not");
        out.say(Role::Text, &format!("Some days from now: {}.", debrief.look_alikes.join(", ")));
    }
}

/// Harmed shares over time, each with its name, and the player's levers as letters.
fn harm_chart(
    canvas: &mut Canvas<'_>,
    area: Rect,
    harm: &HarmSection,
    curves: &[(&str, &[f64])],
    levers: bool,
) {
    let now = curves.iter().map(|c| c.1.len()).max().unwrap_or(0);
    let line = |(name, values): &(&str, &'_ [f64])| -> (String, Vec<f64>) {
        // Means over some seconds: single ones are as noisy as a die.
        let smooth = |chunk: &[f64]| {
            let mean = chunk.iter().sum::<f64>() / chunk.len() as f64;
            std::iter::repeat_n(mean, chunk.len())
        };
        ((*name).to_owned(), values.chunks(HARM_STEP_S).flat_map(smooth).collect())
    };
    let smoothed: Vec<(String, Vec<f64>)> = curves.iter().map(line).collect();
    let lines = smoothed
        .iter()
        .map(|(name, values)| Plotted {
            name: name.clone(),
            unit: Unit::Ratio,
            more_is_worse: Some(true),
            values,
            merged: None,
        })
        .collect();
    let marks: Vec<Mark> = harm
        .levers
        .iter()
        .filter(|_| levers)
        .rev()
        .map(|lever| Mark { second: lever.at_s as usize, letter: lever.letter, role: Role::Accent })
        .collect();
    let chart = Chart {
        title: "Operations harmed",
        lines,
        threshold: None,
        marks: &marks,
        now,
        window: now.max(1),
        crosshair: None,
        clock: harm.start.parse::<TimeOfDay>().unwrap_or_default(),
        focus: false,
        extras: Extras::default(),
    };
    chart.draw(canvas, area);
}

impl DebriefScreen {
    fn computed(play: &Play) -> Computed {
        match play.references() {
            None => Computed::Nothing,
            Some(Err(_)) => Computed::Failed,
            Some(Ok(_)) if play.own().is_some() => Computed::All,
            Some(Ok(_)) => Computed::References,
        }
    }

    /// Takes over what was played again.
    fn collect(&mut self) {
        if let Some((fork, result)) = self.forking.as_ref().and_then(|(f, job)| Some((f, job.result()?))) {
            match result {
                Ok(again) => {
                    self.forks.push((fork.entry(again), again.harm.clone()));
                    (self.item, self.from_top) = (0, true);
                }
                Err(error) => self.trouble = Some(error.clone()),
            }
            self.forking = None;
        }
        if let Some(result) = self.mending.as_ref().and_then(Job::result) {
            match result {
                Ok(mended) => {
                    self.mended = Some(mended.clone());
                    (self.item, self.from_top) = (0, true);
                }
                Err(error) => self.trouble = Some(error.clone()),
            }
            self.mending = None;
        }
    }

    /// How far the run is that is being played again.
    fn playing(&self) -> Option<String> {
        let forking = self.forking.as_ref().map(|(_, job)| job.done());
        let done = forking.or(self.mending.as_ref().map(Job::done))?;
        Some(format!("playing again, {:.0} %; Esc stops it", done * 100.0))
    }

    /// Whether a run is being played again.
    fn busy(&self) -> bool {
        self.forking.is_some() || self.mending.is_some()
    }

    /// Plays the incident again with the work that is switched on, or else with the selected one.
    fn mend(&mut self, play: &Play, debrief: &Debrief) {
        let can = |i: &usize| debrief.follow_ups.get(*i).is_some_and(|f| f.can_be_played);
        if self.on.is_empty() && can(&self.item) {
            self.on.push(self.item);
        }
        let names: Vec<_> =
            self.on.iter().filter_map(|i| debrief.follow_ups.get(*i)).map(|f| f.id.clone()).collect();
        if names.is_empty() {
            return;
        }
        let session = play.session().clone();
        self.trouble = None;
        self.mending = Some(Job::start(move |go_on| Mended::play(&session, &names, go_on)));
    }

    /// Brings the debrief up to what was answered and computed since.
    fn refresh(&mut self, play: &Play) {
        self.collect();
        let session = play.session();
        play.start_own();
        let computed = Self::computed(play);
        self.told = play.view().chosen_follow_ups().is_some();
        let entries = session.journal().len();
        if self.made.as_ref().is_some_and(|m| (m.0, m.1) == (entries, computed)) {
            return;
        }
        let nothing = References {
            none: Default::default(),
            senior: Default::default(),
            trap: None,
            own: None,
            load: None,
        };
        let references = match play.references() {
            Some(Ok(references)) => {
                let (own, load) = (play.own().cloned(), play.load().cloned());
                References { own, load, ..references.clone() }
            }
            _ => nothing,
        };
        let score = score(session, &references);
        // Only final ones: a replay of the run is held against what is kept.
        if computed == Computed::All {
            play.set_marks(score.letters());
        }
        let made = debrief(session, &references, &score);
        // An answer was given: on to the question that has none.
        let open = made.reflections.iter().position(|r| r.1.trim().is_empty());
        let grew = self.made.as_ref().is_some_and(|m| m.0 < entries);
        if let Some(open) = open.filter(|_| grew && self.section() == Section::Words) {
            self.item = open;
        }
        self.made = Some((entries, computed, Arc::new(made)));
    }

    fn section(&self) -> Section {
        Section::ALL[self.section % Section::ALL.len()]
    }

    fn locked(&self, section: Section) -> bool {
        section.tells_the_cause() && !self.made.as_ref().is_some_and(|m| answered(&m.2))
    }

    /// Items of the section that can be selected.
    fn items(&self) -> usize {
        match (self.section(), &self.made) {
            (Section::Words, _) => QUESTIONS.len(),
            (section @ Section::Marks, Some(made)) if !self.locked(section) => made.2.score.dimensions.len(),
            (Section::Felt, Some(made)) => made.2.decisions.len(),
            (section @ Section::Next, Some(made))
                if !self.locked(section) && self.told && playable(&made.2) =>
            {
                made.2.follow_ups.len()
            }
            _ => 0,
        }
    }

    fn turn(&mut self, by: usize) {
        self.go_to((self.section + by) % Section::ALL.len());
    }

    fn go_to(&mut self, section: usize) {
        (self.section, self.top, self.item) = (section.min(Section::ALL.len() - 1), 0, 0);
        (self.from_top, self.item_below) = (true, false);
    }

    /// What the runs that it needs say about the section, when they are not there.
    fn missing(&self, computed: Computed, play: &Play) -> Option<(Role, String)> {
        let needs = matches!(self.section(), Section::Trap | Section::Well | Section::Marks | Section::Felt);
        match computed {
            _ if !needs => None,
            Computed::All => None,
            Computed::Nothing => Some((
                Role::Info,
                "The runs to compare with are still being computed. This fills in by itself.".to_owned(),
            )),
            Computed::Failed => {
                let why = play.references().and_then(|r| r.as_ref().err()).cloned().unwrap_or_default();
                Some((Role::Warn, format!("The runs to compare with could not be computed: {why}.")))
            }
            Computed::References if self.section() == Section::Marks => Some((
                Role::Info,
                "Runs without each of your levers are still being computed; marks that use them may change."
                    .to_owned(),
            )),
            Computed::References => None,
        }
    }

    fn draw_contents(&self, canvas: &mut Canvas<'_>, area: Rect) {
        let inner = canvas.frame(area, "Sections", &Line::default(), false);
        for (i, section) in Section::ALL.into_iter().enumerate() {
            let locked = self.locked(section);
            let role = if locked { Role::Muted } else { Role::Text };
            let used =
                canvas.text(inner, i as u16, &format!("{:>2} {}", section.number(), section.title()), role);
            // A number of two digits is no key; the key stands beside it.
            let key = key_in(Context::Debrief, Id::Pane(section.number() as u8));
            if key != section.number().to_string()
                && usize::from(used) + columns(key) < usize::from(inner.width)
            {
                let key = Span::styled(key, canvas.style(Role::Muted));
                canvas.line_right(inner, i as u16, &Line::from(key));
            }
            if i == self.section {
                canvas.highlight(inner, i as u16, Role::Selection);
            }
            canvas.hit_row(inner, i as u16, Hit::Item(CONTENTS_ITEM + i));
        }
        if self.locked(Section::Senior) {
            let room = inner.height.saturating_sub(Section::ALL.len() as u16 + 1);
            let place = Rect { y: inner.bottom() - room, height: room, ..inner };
            let (first, last) = (Section::Words.number() + 1, Section::ALL.len());
            let text = format!(
                "{first} to {last} are locked until both questions in {} are answered.",
                Section::Words.number()
            );
            for (i, line) in wrap(&text, inner.width).iter().enumerate() {
                canvas.text(place, i as u16, line, Role::Muted);
            }
        }
    }

    fn text<'t>(
        &self,
        theme: &'t Theme,
        width: u16,
        computed: Computed,
        play: &Play,
        made: &Debrief,
    ) -> Text<'t> {
        let mut out = Text { theme, width, lines: Vec::new(), item: None };
        let section = self.section();
        if self.locked(section) {
            let given = made.reflections.iter().filter(|r| !r.1.trim().is_empty()).count();
            let words = Section::Words.number();
            out.say(
                Role::Text,
                &format!("Locked. This opens when you have answered the two questions of section {words}."),
            );
            out.say(Role::Muted, "Your own account is worth most before you have read another.");
            out.gap();
            let text =
                format!("{given} of {} answered. Enter or {words} goes there.", made.reflections.len());
            out.say(Role::Warn, &text);
            return out;
        }
        if let Some((role, text)) = self.missing(computed, play) {
            out.say(role, &text);
            out.gap();
        }
        if let Some(why) = self.trouble.as_ref().filter(|_| matches!(section, Section::Felt | Section::Next))
        {
            out.say(Role::Warn, &format!("That could not be played again: {why}"));
            out.gap();
        }
        let compared = matches!(computed, Computed::References | Computed::All);
        match section {
            Section::Happened => happened(made, &mut out),
            Section::Felt => {
                forks(&self.forks, &mut out);
                harm(made, computed, &mut out);
            }
            Section::Predictions => predictions(made, &mut out),
            Section::Words => questions(made, &mut out),
            Section::Asked => asked(made, &mut out),
            Section::Senior => senior(made, &mut out),
            Section::Held => held(made, &mut out),
            Section::Diagnosis => diagnosis(made, &mut out),
            Section::Trap if compared => trap(made, &mut out),
            Section::Well if compared => {
                made.went_well.iter().for_each(|line| out.point(line));
                if made.went_well.is_empty() {
                    out.say(Role::Muted, "Nothing stood out in the marks.");
                }
            }
            Section::Trap | Section::Well => {}
            Section::Missed => signals(made, &mut out),
            Section::Marks if compared => marks(made, &self.open, &mut out),
            Section::Marks => {}
            Section::Next => {
                if let Some(mended) = &self.mended {
                    let nobody = play.references().and_then(|r| r.as_ref().ok()).map(|r| &r.none);
                    with_work(mended, play.own().map(|o| &o.played_out), nobody, &mut out);
                }
                next(made, self.told.then_some(self.on.as_slice()), &mut out);
            }
            Section::Discuss => {
                made.discuss.iter().for_each(|line| {
                    out.point(line);
                    out.gap();
                });
                if made.discuss.is_empty() {
                    out.say(Role::Muted, "This incident has no questions for a team.");
                }
            }
        }
        if let Some(why) = self.trouble.as_ref().filter(|_| matches!(section, Section::Felt | Section::Next))
        {
            out.gap();
            out.say(Role::Warn, &format!("That could not be played again: {why}"));
        }
        out
    }

    fn draw_section(&mut self, canvas: &mut Canvas<'_>, area: Rect, play: &Play, made: &Debrief) {
        let computed = Self::computed(play);
        let section = self.section();
        let locked = if self.locked(section) { ", locked" } else { "" };
        let title = format!("{} {}{locked}", section.number(), section.title());
        let (role, right) = match self.playing() {
            Some(text) => (Role::Info, text),
            None => (Role::Muted, format!("section {} of {}", section.number(), Section::ALL.len())),
        };
        let right = Line::from(Span::styled(right, canvas.style(role)));
        let inner = canvas.frame(area, &title, &right, true);
        let mut inner = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
        if inner.height == 0 || inner.width == 0 {
            return;
        }
        let references = play.references().and_then(|r| r.as_ref().ok());
        let own = match (section, play.own()) {
            (Section::Felt | Section::Next, Some(own)) => own.played_out.per_second.clone(),
            (Section::Felt | Section::Next, None) => Harm::of(play.session().series()).per_second,
            _ => Vec::new(),
        };
        let names: Vec<String> = (0..self.forks.len()).map(fork_name).collect();
        let curves: Vec<(&str, &[f64])> = match (section, references) {
            (Section::Felt, _) => {
                let mut curves = vec![("you", own.as_slice())];
                if let Some(references) = references {
                    curves.push(("senior", &references.senior.per_second));
                    curves.push(("nobody acts", &references.none.per_second));
                }
                // Last, so that the others keep their markers; the newest ones: more could not be told apart.
                let newest = names.iter().zip(&self.forks).rev().take(FORKS_DRAWN).rev();
                curves.extend(newest.map(|(name, fork)| (name.as_str(), fork.1.per_second.as_slice())));
                curves
            }
            (Section::Next, references) if self.mended.is_some() && !self.locked(section) => {
                let mended = self
                    .mended
                    .iter()
                    .flat_map(|m| [("you, with it", &m.you), ("nobody, with it", &m.nobody)]);
                let mut curves = vec![("you", own.as_slice())];
                curves.extend(references.map(|r| ("nobody acts", r.none.per_second.as_slice())));
                curves.extend(mended.map(|(name, again)| (name, again.harm.per_second.as_slice())));
                curves
            }
            (Section::Trap, Some(References { trap: Some(trap), none, .. })) if !self.locked(section) => {
                vec![("with it", trap.per_second.as_slice()), ("nobody acts", &none.per_second)]
            }
            _ => Vec::new(),
        };
        if !curves.is_empty() {
            let height = (inner.height * 3 / 5).min(16);
            let chart = Rect { height, ..inner };
            harm_chart(canvas, chart, &made.harm, &curves, matches!(section, Section::Felt | Section::Next));
            inner = Rect { y: inner.y + height, height: inner.height - height, ..inner };
        }
        let theme = canvas.theme;
        let text = self.text(theme, inner.width, computed, play, made);
        let height = usize::from(inner.height);
        self.size = (text.lines.len(), height);
        if self.items() > 0 {
            let own = |l: &(Option<usize>, Line<'_>)| l.0 == Some(self.item);
            let first = text.lines.iter().position(own).unwrap_or(0);
            // What was opened below the item is shown with it where it fits.
            let next = text.lines.iter().position(|l| l.0.is_some_and(|i| i > self.item));
            let last = next.unwrap_or(text.lines.len());
            self.top = self.top.max(last.saturating_sub(height)).min(first);
            // What stands above the first item is read first.
            let at_top = self.item == 0 && self.from_top && !self.open.contains(&0);
            self.item_below = at_top && first >= height;
            if at_top || self.item == 0 && last <= height {
                self.top = 0;
            }
        }
        self.top = self.top.min(text.lines.len().saturating_sub(height));
        for (y, (item, line)) in text.lines.iter().skip(self.top).take(height).enumerate() {
            canvas.line(inner, y as u16, line);
            if let Some(item) = *item {
                if item == self.item {
                    canvas.highlight(inner, y as u16, Role::Selection);
                }
                canvas.hit_row(inner, y as u16, Hit::Item(item));
            }
        }
        let below = text.lines.len().saturating_sub(self.top + height);
        if below > 0 {
            let text = format!(" {} below ", count(below as u64, "more line", "more lines"));
            let row = Rect { x: area.x + 2, width: area.width.saturating_sub(4), ..area };
            let line = Line::from(Span::styled(text, canvas.style(Role::Info)));
            canvas.line_right(row, area.height - 1, &line);
        }
    }

    fn open(&mut self, play: &Play) -> Vec<Outcome> {
        let section = self.section();
        if self.locked(section) {
            self.go_to(Section::Words as usize);
            return Vec::new();
        }
        let view = play.view();
        if self.busy() && (section == Section::Felt || section == Section::Next && self.told) {
            return vec![Outcome::Warn("A run is being played again already; Esc stops it.".to_owned())];
        }
        match section {
            Section::Felt => {
                let Some((_, _, made)) = &self.made else { return Vec::new() };
                let Some(decision) = made.decisions.get(self.item) else { return Vec::new() };
                self.decision = self.item;
                vec![Outcome::Open(Box::new(dialogs::fork(decision, &view)))]
            }
            Section::Next if self.told && self.items() > 0 => {
                if let Some(made) = self.made.as_ref().map(|m| Arc::clone(&m.2)) {
                    self.mend(play, &made);
                }
                Vec::new()
            }
            Section::Words => {
                vec![Outcome::Open(Box::new(dialogs::reflect(self.item, &view)))]
            }
            Section::Marks => {
                match self.open.iter().position(|i| *i == self.item) {
                    Some(at) => {
                        self.open.remove(at);
                    }
                    None => self.open.push(self.item),
                }
                Vec::new()
            }
            Section::Next if !view.follow_ups().is_empty() && view.chosen_follow_ups().is_none() => {
                vec![Outcome::Open(Box::new(dialogs::follow_ups(&view)))]
            }
            _ => {
                self.turn(1);
                Vec::new()
            }
        }
    }

    /// Switches the selected work on or off.
    fn toggle(&mut self) -> Vec<Outcome> {
        let Some((_, _, made)) = self.made.as_ref().filter(|_| self.section() == Section::Next && self.told)
        else {
            return Vec::new();
        };
        match made.follow_ups.get(self.item) {
            Some(f) if f.can_be_played => {
                match self.on.iter().position(|i| *i == self.item) {
                    Some(at) => drop(self.on.remove(at)),
                    None => self.on.push(self.item),
                }
                Vec::new()
            }
            Some(_) => {
                vec![Outcome::Warn(
                    "This changes what people see or do, and nothing in the simulated system.".to_owned(),
                )]
            }
            None => Vec::new(),
        }
    }

    fn scroll(&mut self, id: Id) -> bool {
        let page = self.size.1.max(2) - 1;
        let last = self.size.0.saturating_sub(self.size.1);
        let items = self.items();
        if items > 0 && matches!(id, Id::Up | Id::Down) {
            self.from_top = id == Id::Up && self.item == 0;
            if std::mem::take(&mut self.item_below) && id == Id::Down {
                return true;
            }
            self.item =
                if id == Id::Up { self.item.saturating_sub(1) } else { (self.item + 1).min(items - 1) };
            return true;
        }
        self.top = match id {
            Id::Up => self.top.saturating_sub(1),
            Id::Down => self.top + 1,
            Id::PageUp => self.top.saturating_sub(page),
            Id::PageDown => self.top + page,
            Id::Top => 0,
            Id::Bottom => last,
            _ => return false,
        }
        .min(last);
        if items > 0 && matches!(id, Id::Top | Id::Bottom) {
            self.item = if id == Id::Top { 0 } else { items - 1 };
            self.from_top = id == Id::Top;
        }
        true
    }
}

/// Items from here on are the sections at the left.
const CONTENTS_ITEM: usize = 10_000;

/// The first line: what was played, and the marks in short.
fn draw_header(canvas: &mut Canvas<'_>, row: Rect, made: &Debrief, computed: Computed) {
    let mut spans = vec![
        Span::styled(format!(" Debrief: {}", made.title), canvas.style(Role::Accent)),
        Span::styled(format!("  {}, seed {}", made.mode, made.seed), canvas.style(Role::Muted)),
    ];
    if computed == Computed::Nothing {
        spans.push(Span::styled("  runs to compare with are being computed …", canvas.style(Role::Info)));
    } else if computed == Computed::References && !made.score.dimensions.is_empty() {
        // Some rest on runs that are not there yet: letters that change while one looks would be no marks.
        spans.push(Span::styled("  marks are being worked out …", canvas.style(Role::Info)));
    } else if computed == Computed::All && !made.score.dimensions.is_empty() && answered(made) {
        spans.push(Span::raw("  marks "));
        for mark in &made.score.dimensions {
            spans.push(Span::styled(
                format!("{} ", mark.grade.letter()),
                canvas.style(grade_role(mark.grade)),
            ));
        }
    }
    canvas.line(row, 0, &Line::from(spans));
}

impl Layer for DebriefScreen {
    fn contexts(&self) -> Vec<Context> {
        vec![Context::Debrief, Context::Move]
    }

    fn covers(&self) -> bool {
        true
    }

    fn clock_runs(&self, _mode: Mode) -> bool {
        false
    }

    fn draw(&mut self, canvas: &mut Canvas<'_>, area: Rect, scene: &Scene<'_>) {
        let Some(play) = scene.play else { return };
        if area.height < 3 {
            return;
        }
        self.refresh(play);
        let Some((_, computed, made)) = self.made.as_ref() else { return };
        draw_header(canvas, Rect { height: 1, ..area }, made, *computed);
        let made = Arc::clone(made);
        let body = Rect { y: area.y + 1, height: area.height - 1, ..area };
        let contents = if area.width >= WIDE { CONTENTS } else { 0 };
        if contents > 0 {
            self.draw_contents(canvas, Rect { width: contents, ..body });
        }
        let place = Rect { x: body.x + contents, width: body.width - contents, ..body };
        self.draw_section(canvas, place, play, &made);
    }

    fn act(&mut self, id: Id, scene: &Scene<'_>) -> Option<Vec<Outcome>> {
        let play = scene.play?;
        // Keys may come faster than frames.
        self.refresh(play);
        match id {
            Id::Pane(digit) => self.go_to(usize::from(digit).saturating_sub(1)),
            Id::NextPane | Id::Right => self.turn(1),
            Id::PreviousPane | Id::Left => self.turn(Section::ALL.len() - 1),
            Id::Open => return Some(self.open(play)),
            Id::Back if self.busy() => (self.forking, self.mending) = (None, None),
            Id::Back => return Some(vec![Outcome::Close]),
            Id::Toggle => return Some(self.toggle()),
            _ if self.scroll(id) => {}
            _ => return None,
        }
        Some(Vec::new())
    }

    fn clicked(&mut self, hit: Hit, scene: &Scene<'_>) -> Vec<Outcome> {
        let Hit::Item(item) = hit else { return Vec::new() };
        if let Some(section) = item.checked_sub(CONTENTS_ITEM) {
            self.go_to(section);
            return Vec::new();
        }
        if self.item == item {
            return scene.play.map(|play| self.open(play)).unwrap_or_default();
        }
        self.item = item;
        Vec::new()
    }

    fn offers(&self, id: Id) -> bool {
        let section = self.section();
        let next = section == Section::Next && !self.locked(section);
        let made = self.made.as_ref().map(|m| &m.2);
        let choose = next && !self.told && made.is_some_and(|m| !m.follow_ups.is_empty());
        match id {
            // Elsewhere it goes to the next section, as Tab does.
            Id::Open => self.locked(section) || self.items() > 0 || choose,
            Id::Toggle => next && self.items() > 0,
            _ => true,
        }
    }

    fn fork(&mut self, change: Change, scene: &Scene<'_>) {
        let Some(play) = scene.play else { return };
        let decision = self.made.as_ref().and_then(|m| m.2.decisions.get(self.decision).cloned());
        let Some(decision) = decision.filter(|_| !self.busy()) else { return };
        let fork = Fork { decision, change, drop_later: false };
        let (session, its) = (play.session().clone(), fork.clone());
        self.trouble = None;
        let job = Job::start(move |go_on| its.play(&session, go_on));
        self.forking = Some((fork, job));
    }

    fn waits(&self, scene: &Scene<'_>) -> bool {
        if self.busy() {
            return true;
        }
        let pending = |play: &Play| matches!(Self::computed(play), Computed::Nothing | Computed::References);
        scene.play.is_some_and(pending)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::{
        AnswerEntry, AskedEntry, Descent, Dimension, FitEntry, FollowUpEntry, HypothesisEntry, Level,
        MechanismSection, Missed, MissedKind, PredictionEntry, Score, SeenEntry, TimelineEntry, TrapEntry,
    };
    use crate::tui::testing::draw;
    use crate::tui::theme::{Depth, Glyphs};

    fn text(value: &str) -> String {
        value.to_owned()
    }

    fn made() -> Debrief {
        let pair = |a: &str, b: &str| (text(a), text(b));
        let step = |what: &str, series: &str| LoopEntry {
            text: text(what),
            series: text(series),
            healthy: text("97 %"),
            during: Some(text("12 %")),
            at_end: text("96 %"),
            curve: None,
            windows: [(0, 0); 3],
        };
        Debrief {
            incident: text("one"),
            title: text("One"),
            finding: Finding::default(),
            evidence: Vec::new(),
            mode: text("live"),
            seed: 1,
            scale: 1.0,
            recovered: false,
            outcome: text("In its last minute 41.2 % of the operations were harmed."),
            ended_early: Some(EndedEarly {
                clock: text("14:09:00"),
                clock_end: text("14:50:00"),
                not_yet: vec![text("2 stages"), text("1 proposal")],
                not_judged: vec![text("your prediction of Failing operations for 14:11:00")],
            }),
            score: Score {
                dimensions: vec![
                    crate::score::Mark {
                        dimension: Dimension::UserHarm,
                        grade: Grade::S,
                        rule: text("Of the harm that the senior avoids: P from 75 % avoided, S from 40 %."),
                        facts: vec![text("You avoided 55 % of it.")],
                    },
                    crate::score::Mark {
                        dimension: Dimension::Evidence,
                        grade: Grade::NotAsked,
                        rule: text("Nothing was asked about this."),
                        facts: Vec::new(),
                    },
                ],
                independence: Default::default(),
            },
            timeline: vec![
                TimelineEntry { clock: text("14:03:00"), kind: text("page"), text: text("35 % fail.") },
                TimelineEntry {
                    clock: text("14:04:20"),
                    kind: text("message"),
                    text: text(
                        "Teo: all nodes answer in under a millisecond, the cluster has been healthy since.",
                    ),
                },
            ],
            harm: HarmSection {
                start: text("13:50:00"),
                step_s: HARM_STEP_S,
                you: Vec::new(),
                none: Vec::new(),
                senior: Vec::new(),
                played_out: Vec::new(),
                levers: vec![crate::score::LeverEntry {
                    letter: 'A',
                    at_s: 600,
                    clock: text("14:00:00"),
                    what: text("rate limit 4.5k/s"),
                    effect: None,
                }],
                totals: vec![
                    pair("You", "812k failed"),
                    pair("Nobody does anything", "3.9M failed"),
                    pair("The senior", "301k failed"),
                ],
            },
            predictions: vec![PredictionEntry {
                clock: text("14:06:00"),
                about: text("api to 40 instances"),
                series: text("operations.failure_ratio"),
                expected: text("better"),
                sure: 90,
                before: text("38 %"),
                due: text("14:11:00"),
                became: text("52 %"),
                right: Some(false),
                brier: Some(0.81),
                from_to_s: (960, 1_260),
                right_from_to: (None, None),
                value: None,
                curve: None,
            }],
            brier: Some(0.81),
            reflections: vec![
                pair("What did you think?", "The cache."),
                pair("What would have changed it?", ""),
            ],
            asked: vec![
                AskedEntry {
                    stage: text("The first five minutes"),
                    question: text("What is new since 14:02?"),
                    answer: Some(AnswerEntry {
                        clock: text("14:05:00"),
                        text: text("Far more users than usual"),
                        sure: 70,
                        right: Some(false),
                        why: text("Operations are as many as before."),
                    }),
                    fits: vec![FitEntry {
                        text: text("Requests that are tried again"),
                        why: text("Attempts per operation went from 1 to 2.6."),
                    }],
                },
                AskedEntry {
                    stage: text("The first five minutes"),
                    question: text("And in five minutes?"),
                    answer: None,
                    fits: Vec::new(),
                },
            ],
            reading: vec![ReadingEntry {
                clock: text("14:04:00"),
                says: text(
                    "I let the cache be for now. Users are flat, and we receive almost three times as much.",
                ),
                alternatives: vec![text("Starting at the database.")],
                reached: true,
                looks_at: vec![SeenEntry {
                    name: text("requests.received"),
                    showed: text("11.0k/s"),
                    seen: Seen::NotLookedAt,
                }],
            }],
            mechanism: MechanismSection {
                summary: text("A cold cache that cannot fill."),
                trigger: pair("A node was lost", "A node was lost"),
                amplifiers: pair("Retries", "nothing"),
                contributing: pair("Fills on success only", "The deploy"),
                bottleneck: pair("The database", "nothing"),
                your_summary: text("It is cold."),
                your_loop: String::new(),
            },
            hypotheses: vec![HypothesisEntry {
                text: text("The cache is broken."),
                holds: false,
                verdict: text("rejected"),
                evidence: vec![text("E-0001")],
                why: text("It answered every look-up."),
            }],
            load: Some(Descent { normal: 4_000.0, levels: vec![Level { per_s: 4_000.0, harmed: 0.9 }] }),
            why_it_held: vec![step("Reads miss", "cache.hit_ratio"), step("Queries time out", "db.timeouts")],
            amplification: Vec::new(),
            trap: Some(TrapEntry {
                what: text("Scale out."),
                taken: true,
                with: text("900k failed"),
                without: text("700k failed"),
            }),
            went_well: vec![text("User harm.")],
            missed: vec![Missed {
                kind: MissedKind::NotLookedAt,
                text: text("cache.fills: what decides it."),
            }],
            follow_ups: vec![FollowUpEntry {
                text: text("One query per key."),
                id: text("one-query"),
                can_be_played: true,
                chosen: true,
                effect: text("keeps it small"),
                why: text("Popular keys cost one query."),
            }],
            decisions: vec![
                crate::score::Decision {
                    name: text("page"),
                    clock: text("14:03:00"),
                    what: text("you were paged"),
                    at: crate::units::SimTime::ZERO,
                    lever: None,
                    proposed: None,
                },
                crate::score::Decision {
                    name: text("A"),
                    clock: text("14:00:00"),
                    what: text("rate limit 4.5k/s"),
                    at: crate::units::SimTime::ZERO,
                    lever: Some(0),
                    proposed: None,
                },
            ],
            forks: Vec::new(),
            discuss: vec![text("Which layer?")],
            look_alikes: vec![text("another-one")],
        }
    }

    fn fork() -> ForkEntry {
        ForkEntry {
            what: text("A 14:00:00 rate limit 4.5k/s: 5 min later"),
            at_s: 600,
            step_s: HARM_STEP_S,
            harm: Vec::new(),
            total: text("900k failed"),
            skipped: vec![text("14:10:00 api to 40 instances: Not done.")],
        }
    }

    fn mended() -> Mended {
        let again =
            Again { harm: Harm { served: 90.0, failed: 10.0, ..Harm::default() }, skipped: Vec::new() };
        Mended { what: vec![text("One query per key.")], you: again.clone(), nobody: again }
    }

    /// All sections as text of that width.
    fn sections(width: u16) -> String {
        let theme = Theme::named("mono", Depth::True, Glyphs::Braille);
        let made = made();
        let mut out = Text { theme: &theme, width, lines: Vec::new(), item: None };
        let mut all = String::new();
        let mut add = |name: &str, section: &dyn Fn(&mut Text<'_>)| {
            out.lines.clear();
            section(&mut out);
            all.push_str(&format!("== {name}\n"));
            for (_, line) in &out.lines {
                let line: String = line.spans.iter().map(|s| s.content.as_ref()).collect();
                assert!(columns(&line) <= usize::from(width), "{name}: {line}");
                all.push_str(line.trim_end());
                all.push('\n');
            }
        };
        add("happened", &|out| happened(&made, out));
        add("harm", &|out| harm(&made, Computed::References, out));
        add("harm before the reference runs", &|out| harm(&made, Computed::Nothing, out));
        add("predictions", &|out| predictions(&made, out));
        add("questions", &|out| questions(&made, out));
        add("asked", &|out| asked(&made, out));
        add("senior", &|out| senior(&made, out));
        add("loop", &|out| held(&made, out));
        add("diagnosis", &|out| diagnosis(&made, out));
        add("trap", &|out| trap(&made, out));
        add("signals", &|out| signals(&made, out));
        add("marks", &|out| marks(&made, &[0], out));
        add("next", &|out| next(&made, None, out));
        add("next, chosen", &|out| next(&made, Some(&[0]), out));
        let mut words_only = made.clone();
        words_only.follow_ups[0].can_be_played = false;
        add("next, none can be played", &|out| next(&words_only, Some(&[]), out));
        add("forks", &|out| forks(&[(fork(), Harm::default())], out));
        add("with work", &|out| with_work(&mended(), Some(&Harm::default()), None, out));
        all
    }

    #[test]
    fn every_section_as_text() {
        for width in [89, 56] {
            insta::assert_snapshot!(format!("sections_{width}"), sections(width));
        }
    }

    #[test]
    fn marks_stand_in_the_header_once_they_are_final() {
        let mut made = made();
        made.reflections.iter_mut().for_each(|r| r.1 = text("An answer."));
        for (computed, wanted) in [
            (Computed::Nothing, "runs to compare with are being computed …"),
            (Computed::References, "marks are being worked out …"),
            (Computed::All, "marks S -"),
        ] {
            let drawn = draw(80, 1, |canvas, area| draw_header(canvas, area, &made, computed));
            assert!(drawn.contains(wanted), "{drawn}");
            assert_eq!(drawn.contains("marks S"), computed == Computed::All, "{drawn}");
        }
    }

    #[test]
    fn the_harm_of_three_runs_with_the_levers() {
        let rise = |until: usize| -> Vec<f64> {
            (0..1_200).map(|s| if (300..until).contains(&s) { 0.4 } else { 0.0 }).collect()
        };
        let (you, senior, none) = (rise(900), rise(600), rise(1_200));
        insta::assert_snapshot!(draw(80, 12, |canvas, area| {
            let curves: [(&str, &[f64]); 3] = [("you", &you), ("senior", &senior), ("nobody acts", &none)];
            harm_chart(canvas, area, &made().harm, &curves, true);
        }));
    }
}
