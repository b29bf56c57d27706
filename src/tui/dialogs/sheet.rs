//! Sheets: texts and lists to choose from, one or several, for what a player writes down.
//!
//! ```text
//! ╭ Finding ─────────────────────────────────────────────────────────╮
//! │ Summary      [ Retries keep the database busy with work that     │
//! │                nobody waits for any more.                      ] │
//! │ Trigger      (•) the failover to an empty node                   │
//! │              ( ) a deploy                                        │
//! │ Amplifiers   [x] clients try four times                          │
//! │              [ ] …                                               │
//! │                                                                  │
//! │ Enter next field · Space choose · Ctrl-s save · Esc cancel       │
//! ╰──────────────────────────────────────────────────────────────────╯
//! ```

use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};
use tui_input::{Input, InputRequest};

use super::{Keyed, in_lines, key_line};
use crate::game::command::{Command, EvidenceId, Finding, Source, Verdict};
use crate::game::{HypothesisView, Mode, Refusal, View};
use crate::incident::schema::Name;
use crate::score::QUESTIONS;
use crate::tui::actions::{Context, Id, Key, Meaning, key_in, meaning};
use crate::tui::canvas::{Canvas, Hit, centred, columns, wrap};
use crate::tui::layer::{Layer, Outcome, Scene};
use crate::tui::theme::Role;

/// Longest text that a field takes.
const LONGEST: usize = 600;
/// Columns of the labels.
const LABEL: u16 = 14;
/// A list of more options than this is long.
const LONG: usize = 4;
/// Marks a click on a field that shows no option.
const NOTHING: usize = 999;
/// Follow-ups that can be chosen.
const FOLLOW_UPS: usize = 3;

/// A field.
enum Field {
    /// Words.
    Text { label: &'static str, input: Input },
    /// Options, of which at most so many are chosen.
    Pick { label: &'static str, options: Vec<String>, chosen: Vec<bool>, most: usize },
}

/// What is done with the fields.
enum Purpose {
    /// Keeps something as evidence, with a note.
    Pin(Source),
    /// Judges an explanation.
    Judge(Name),
    /// Writes the finding.
    Find,
    /// Answers a question of the debrief.
    Reflect(usize),
    /// Chooses the work that should follow.
    FollowUps,
}

/// A sheet.
pub(crate) struct Sheet {
    title: String,
    intro: String,
    fields: Vec<Field>,
    /// The field and the option in it that have the keys.
    at: (usize, usize),
    /// The option that has the keys has them by moving only: Enter chooses it when none of its field is chosen, and Space keeps
    /// one that is chosen already.
    offered: bool,
    purpose: Purpose,
    error: Option<String>,
    search: Search,
}

/// What is looked for among the options of a field by typing some of its letters.
#[derive(Default)]
struct Search {
    text: String,
    /// All letters so far are also keys, and did what these do.
    keys_only: bool,
    /// The option, whether it was offered, and what was chosen before the first letter.
    before: (usize, bool, Vec<bool>),
}

/// Letters that are also keys and may begin a word; more of them in a row are meant as keys.
const LEAD: usize = 2;

fn text(label: &'static str, value: &str) -> Field {
    Field::Text { label, input: Input::new(value.to_owned()) }
}

fn pick<T>(
    label: &'static str,
    most: usize,
    options: &[T],
    words: impl Fn(&T) -> String,
    chosen: impl Fn(&T) -> bool,
) -> Field {
    Field::Pick {
        label,
        options: options.iter().map(words).collect(),
        chosen: options.iter().map(chosen).collect(),
        most,
    }
}

fn evidence_field(view: &View<'_>, chosen: &[EvidenceId]) -> Field {
    pick(
        "Evidence",
        usize::MAX,
        view.evidence(),
        |e| {
            let time = view.clock_at(e.at).to_string();
            let note = if e.note.is_empty() { String::new() } else { format!(" ({})", e.note) };
            format!("{} {} {}{note}", e.id, &time[..5], e.showed)
        },
        |e| chosen.contains(&e.id),
    )
}

/// Keeps something as evidence.
pub(crate) fn pin(what: Source, shows: &str, view: &View<'_>) -> Sheet {
    let id = EvidenceId(view.evidence().len() as u32 + 1);
    let intro = format!("Seen at {}: {shows}", view.clock());
    Sheet::new(format!("Pin as {id}"), intro, vec![text("Note", "")], Purpose::Pin(what))
}

/// Judges an explanation.
pub(crate) fn judge(hypothesis: &HypothesisView, verdict: Verdict, view: &View<'_>) -> Sheet {
    let verdicts =
        [(Verdict::Accepted, "it holds"), (Verdict::Rejected, "it does not"), (Verdict::Open, "open")];
    let fields = vec![
        pick("Verdict", 1, &verdicts, |v| v.1.to_owned(), |v| v.0 == verdict),
        evidence_field(view, &hypothesis.evidence),
    ];
    let purpose = Purpose::Judge(hypothesis.id.clone());
    Sheet::new("Judge an explanation".to_owned(), hypothesis.text.clone(), fields, purpose)
}

/// Writes the finding.
pub(crate) fn finding(view: &View<'_>) -> Sheet {
    let f = view.finding();
    let parts = view.finding_choices();
    let one = |label, chosen: &Option<Name>| {
        pick(label, 1, &parts, |p| p.text.clone(), |p| chosen.as_ref() == Some(&p.id))
    };
    let many = |label, chosen: &[Name]| {
        pick(label, usize::MAX, &parts, |p| p.text.clone(), |p| chosen.contains(&p.id))
    };
    let fields = vec![
        text(Finding::SUMMARY, &f.summary),
        one(Finding::TRIGGER, &f.trigger),
        many(Finding::AMPLIFIERS, &f.amplifiers),
        text(Finding::HOLDS, &f.sustaining),
        many(Finding::CONTRIBUTING, &f.contributing),
        one(Finding::BOTTLENECK, &f.bottleneck),
        evidence_field(view, &f.evidence),
    ];
    let intro =
        "What started it, what made it larger, what keeps it going, and where the capacity is missing. \
        It can be rewritten until the debrief."
            .to_owned();
    Sheet::new("Finding".to_owned(), intro, fields, Purpose::Find)
}

/// Answers a question of the debrief.
pub(crate) fn reflect(question: usize, view: &View<'_>) -> Sheet {
    let asked = QUESTIONS.get(question).copied().unwrap_or_default();
    let given = view.reflections().get(question).map_or("", String::as_str);
    let fields = vec![text("Your answer", given)];
    Sheet::new("Before you read on".to_owned(), asked.to_owned(), fields, Purpose::Reflect(question))
}

/// Chooses the work that should follow.
pub(crate) fn follow_ups(view: &View<'_>) -> Sheet {
    let chosen = view.chosen_follow_ups().unwrap_or(&[]);
    let fields =
        vec![pick("Work", FOLLOW_UPS, view.follow_ups(), |f| f.text.clone(), |f| chosen.contains(&f.id))];
    let intro = format!("Choose up to {FOLLOW_UPS}: there is never time for all of them.");
    Sheet::new("What should follow?".to_owned(), intro, fields, Purpose::FollowUps)
}

impl Sheet {
    fn new(title: String, intro: String, fields: Vec<Field>, purpose: Purpose) -> Sheet {
        let search = Search::default();
        let mut sheet =
            Sheet { title, intro, fields, at: (0, 0), offered: false, purpose, error: None, search };
        sheet.enter(0);
        sheet
    }

    /// Gives a field the keys, at what is chosen in it.
    fn enter(&mut self, field: usize) {
        let first = match self.fields.get(field) {
            Some(Field::Pick { chosen, .. }) => chosen.iter().position(|c| *c).unwrap_or(0),
            _ => 0,
        };
        self.at = (field, first);
        self.search = Search::default();
        let open = |f: &Field| matches!(f, Field::Pick { most: 1, chosen, .. } if !chosen.contains(&true));
        self.offered = self.fields.get(field).is_some_and(open);
    }

    fn options(&self, field: usize) -> usize {
        match self.fields.get(field) {
            Some(Field::Pick { options, .. }) => options.len(),
            _ => 0,
        }
    }

    /// Moves to the neighbouring field.
    fn go(&mut self, down: bool) {
        let field = self.at.0;
        if down && field + 1 < self.fields.len() {
            self.enter(field + 1);
        } else if !down && field > 0 {
            self.enter(field - 1);
        }
    }

    /// Moves within a field. Where one option is chosen it is the one moved to; a field that is typed into has none.
    fn step(&mut self, down: bool) {
        let (field, option) = self.at;
        let options = self.options(field);
        if options == 0 {
            return self.go(down);
        }
        self.at.1 = if down { (option + 1).min(options - 1) } else { option.saturating_sub(1) };
        self.offered = true;
        if let Some(Field::Pick { chosen, most: 1, .. }) = self.fields.get_mut(field) {
            chosen.fill(false);
            chosen[self.at.1] = true;
        }
    }

    /// Enter keeps what the player is at, unless it was just taken back or something else is chosen: a highlighted
    /// option looks chosen to whoever goes on from it.
    fn keep(&mut self) {
        let (field, option) = self.at;
        if let Some(Field::Pick { chosen, .. }) = self.fields.get_mut(field)
            && option < chosen.len()
            && self.offered
            && !chosen.contains(&true)
        {
            chosen[option] = true;
        }
    }

    /// Takes a key that belongs to a word typed where options are. Says whether the key is used up by that.
    fn look_for(&mut self, key: Key) -> bool {
        let (field, option) = self.at;
        let Some(Field::Pick { chosen, .. }) = self.fields.get(field).filter(|_| self.options(field) > 0)
        else {
            return false;
        };
        let means = meaning(&[Context::Dialog, Context::Global], &[key]);
        let typing = !self.search.text.is_empty() && !self.search.keys_only;
        if let Some(c) = key.typed().filter(|c| c.is_alphanumeric()) {
            if self.search.text.is_empty() {
                let before = (option, self.offered, chosen.clone());
                self.search = Search { text: String::new(), keys_only: true, before };
            }
            self.search.text.push(c);
            if self.search.keys_only && means != Meaning::Nothing {
                if self.search.text.chars().count() > LEAD {
                    self.search = Search::default();
                }
                return false;
            }
            self.search.keys_only = false;
            self.find();
            return true;
        }
        if typing && key.edits() == Some(InputRequest::DeletePrevChar) {
            self.search.text.pop();
            self.find();
            return true;
        }
        // What was typed and stands nowhere is not taken for the option that happens to be selected.
        let missed = typing && self.error.is_some();
        self.search = Search::default();
        let takes = matches!(means, Meaning::Action(Id::Submit | Id::Toggle | Id::Save));
        missed && takes
    }

    /// Goes to the first option with a word that begins with what is looked for, or that has it somewhere. Where one option is
    /// chosen it is that one.
    fn find(&mut self) {
        let (option, offered, chosen_before) = self.search.before.clone();
        let sought = self.search.text.to_lowercase();
        let field = self.at.0;
        let Some(Field::Pick { options, chosen, most, .. }) = self.fields.get_mut(field) else { return };
        chosen.clone_from(&chosen_before);
        let begins = |o: &String| {
            o.to_lowercase().split(|c: char| !c.is_alphanumeric()).any(|w| w.starts_with(&sought))
        };
        let has = |o: &String| o.to_lowercase().contains(&sought);
        let found = options.iter().position(begins).or_else(|| options.iter().position(has));
        match found {
            _ if sought.is_empty() => (self.at.1, self.offered, self.error) = (option, offered, None),
            Some(found) => {
                if *most == 1 {
                    chosen.fill(false);
                    chosen[found] = true;
                }
                (self.at.1, self.offered, self.error) = (found, true, None);
            }
            None => {
                let toggle = key_in(Context::Dialog, Id::Toggle);
                let text = format!(
                    "None of these has \"{}\" in it. They are chosen from: ↑ ↓ move, {toggle} chooses.",
                    self.search.text
                );
                (self.at.1, self.offered, self.error) = (option, false, Some(text));
            }
        }
    }

    /// Chooses the option that has the keys, or takes the choice back. Where moving has chosen it, Space says the same once
    /// more.
    fn toggle(&mut self) {
        let moved_there = std::mem::take(&mut self.offered);
        let (field, option) = self.at;
        if let Some(Field::Pick { chosen, most, label, .. }) = self.fields.get_mut(field)
            && option < chosen.len()
        {
            if *most == 1 {
                let taken_back = chosen[option] && !moved_there;
                chosen.fill(false);
                chosen[option] = !taken_back;
            } else if !chosen[option] && chosen.iter().filter(|c| **c).count() >= *most {
                self.error = Some(format!("{label}: no more than {most}. Take another one back first."));
            } else {
                chosen[option] = !chosen[option];
            }
        }
    }

    fn words(&self, field: usize) -> String {
        match self.fields.get(field) {
            Some(Field::Text { input, .. }) => input.value().trim().to_owned(),
            _ => String::new(),
        }
    }

    /// Numbers of the options that are chosen.
    fn chosen(&self, field: usize) -> Vec<usize> {
        match self.fields.get(field) {
            Some(Field::Pick { chosen, .. }) => (0..chosen.len()).filter(|&i| chosen[i]).collect(),
            _ => Vec::new(),
        }
    }

    /// The command that the fields make, and what is said when it was carried out.
    fn command(&self, view: &View<'_>) -> Result<(Command, String), String> {
        let evidence = |field: usize| -> Vec<EvidenceId> {
            self.chosen(field).into_iter().filter_map(|i| view.evidence().get(i).map(|e| e.id)).collect()
        };
        match &self.purpose {
            Purpose::Pin(what) => {
                let id = EvidenceId(view.evidence().len() as u32 + 1);
                Ok((Command::Pin { what: what.clone(), note: self.words(0) }, format!("Pinned as {id}.")))
            }
            Purpose::Judge(hypothesis) => {
                let (verdict, said) = match self.chosen(0).first() {
                    Some(0) => (Verdict::Accepted, "Accepted."),
                    Some(1) => (Verdict::Rejected, "Rejected."),
                    Some(_) => (Verdict::Open, "Left open."),
                    None => return Err("Choose a verdict; Space does.".to_owned()),
                };
                let command =
                    Command::Judge { hypothesis: hypothesis.clone(), verdict, evidence: evidence(1) };
                Ok((command, said.to_owned()))
            }
            Purpose::Find => {
                let parts = view.finding_choices();
                let names = |field: usize| -> Vec<Name> {
                    self.chosen(field)
                        .into_iter()
                        .filter_map(|i| parts.get(i).map(|p| p.id.clone()))
                        .collect()
                };
                let finding = Finding {
                    summary: self.words(0),
                    trigger: names(1).pop(),
                    amplifiers: names(2),
                    sustaining: self.words(3),
                    contributing: names(4),
                    bottleneck: names(5).pop(),
                    evidence: evidence(6),
                };
                Ok((Command::Find(finding), "The finding is kept.".to_owned()))
            }
            Purpose::Reflect(question) => match self.words(0) {
                words if words.is_empty() => Err("A few words are enough.".to_owned()),
                text => Ok((Command::Reflect { question: *question, text }, "Kept.".to_owned())),
            },
            Purpose::FollowUps => {
                if self.chosen(0).is_empty() {
                    return Err("Choose at least one; Space does.".to_owned());
                }
                let all = view.follow_ups();
                let names = self.chosen(0).into_iter().filter_map(|i| all.get(i).map(|f| f.id.clone()));
                Ok((Command::FollowUps(names.collect()), "Chosen.".to_owned()))
            }
        }
    }

    fn submit(&mut self, view: &View<'_>) -> Vec<Outcome> {
        match self.command(view) {
            Ok((command, said)) => vec![Outcome::Finish(command, said)],
            Err(error) => {
                self.error = Some(error);
                Vec::new()
            }
        }
    }

    fn input(&mut self) -> Option<&mut Input> {
        match self.fields.get_mut(self.at.0)? {
            Field::Text { input, .. } => Some(input),
            Field::Pick { .. } => None,
        }
    }

    fn rows(&self, width: u16) -> Vec<Row> {
        let room = width.saturating_sub(LABEL);
        let mut rows: Vec<Row> =
            wrap(&self.intro, width).into_iter().map(|l| Row::Plain(Role::Accent, l)).collect();
        rows.push(Row::Plain(Role::Text, String::new()));
        for (f, field) in self.fields.iter().enumerate() {
            match field {
                Field::Text { input, .. } => {
                    let lines = cut(input.value(), usize::from(room.saturating_sub(4)).max(1));
                    let last = lines.len().saturating_sub(1);
                    for (i, line) in lines.into_iter().enumerate() {
                        rows.push(Row::Text { field: f, part: (i, i == last), line });
                    }
                }
                Field::Pick { options, .. } if options.is_empty() => {
                    rows.push(Row::None { field: f, line: "there is none yet" });
                }
                Field::Pick { options, chosen, .. } => {
                    // A long list is folded to what is chosen in it while another field has the keys.
                    let folded = f != self.at.0 && options.len() > LONG;
                    if folded && !chosen.contains(&true) {
                        rows.push(Row::None { field: f, line: "nothing chosen yet" });
                    }
                    for (o, option) in options.iter().enumerate().filter(|(o, _)| !folded || chosen[*o]) {
                        for (part, line) in wrap(option, room.saturating_sub(4)).into_iter().enumerate() {
                            rows.push(Row::Option { field: f, option: o, part, line });
                        }
                    }
                }
            }
        }
        rows
    }

    /// The keys that work now.
    fn keys(&self) -> Vec<Keyed> {
        let last = self.at.0 + 1 >= self.fields.len();
        let key = |id| key_in(Context::Dialog, id).to_owned();
        let mut keys = vec![if last {
            (key(Id::Submit), "save")
        } else {
            (format!("{} {}", key(Id::Submit), key(Id::NextField)), "next field")
        }];
        if matches!(self.fields.get(self.at.0), Some(Field::Pick { .. })) {
            keys.push((key(Id::Toggle), "choose"));
        }
        if self.options(self.at.0) > LONG {
            keys.push(("letters".to_owned(), "find"));
        }
        if self.fields.len() > 1 || self.options(0) > 0 {
            keys.push(("↑ ↓".to_owned(), "move"));
        }
        if !last {
            keys.push((key(Id::Save), "save"));
        }
        keys.push((key(Id::Back), "cancel"));
        keys
    }

    /// What is wrong, or the keys that work now, in lines of that width.
    fn foot(&self, canvas: &Canvas<'_>, width: u16) -> Vec<Line<'static>> {
        match &self.error {
            Some(error) => wrap(error, width)
                .into_iter()
                .map(|line| Line::from(Span::styled(line, canvas.style(Role::Warn))))
                .collect(),
            None => {
                let typed = Some(&self.search.text).filter(|t| !t.is_empty() && !self.search.keys_only);
                let typed = typed.map(|text| {
                    Line::from(Span::styled(format!("Found by \"{text}\""), canvas.style(Role::Info)))
                });
                let keys = in_lines(self.keys(), width);
                typed.into_iter().chain(keys.iter().map(|line| key_line(canvas, line))).collect()
            }
        }
    }

    /// Draws a row; the first one of a field has its label.
    fn draw_row(&self, canvas: &mut Canvas<'_>, inside: Rect, y: u16, row: &Row, first: bool) {
        let label_width = LABEL.min(inside.width);
        let place = Rect { x: inside.x + label_width, width: inside.width - label_width, ..inside };
        let field = match row {
            Row::Plain(role, text) => {
                canvas.text(inside, y, text, *role);
                return;
            }
            Row::Text { field, .. } | Row::Option { field, .. } | Row::None { field, .. } => *field,
        };
        let focus = field == self.at.0;
        if first {
            let (Field::Text { label, .. } | Field::Pick { label, .. }) = &self.fields[field];
            let role = if focus { Role::Focus } else { Role::Muted };
            canvas.text(Rect { width: label_width, ..inside }, y, label, role);
        }
        match row {
            Row::Plain(..) => {}
            Row::None { line, .. } => {
                canvas.text(place, y, line, Role::Muted);
                canvas.hit_row(place, y, Hit::Item(field * 1_000 + NOTHING));
            }
            Row::Text { part: (part, last), line, .. } => {
                let role = if focus { Role::Focus } else { Role::Muted };
                if *part == 0 {
                    canvas.text(place, y, "[", role);
                }
                if *last {
                    canvas.line_right(place, y, &Line::from(Span::styled("]", canvas.style(role))));
                }
                let text =
                    Rect { x: place.x + 2.min(place.width), width: place.width.saturating_sub(4), ..place };
                canvas.text(text, y, line, Role::Text);
                canvas.hit_row(place, y, Hit::Item(field * 1_000));
                if let (true, Field::Text { input, .. }) = (focus, &self.fields[field]) {
                    let (row, x) =
                        place_in(&cut(input.value(), usize::from(text.width).max(1)), input.cursor());
                    if row == *part {
                        let x = x as u16;
                        *canvas.cursor = Some(Position { x: text.x + x.min(text.width), y: inside.y + y });
                    }
                }
            }
            Row::Option { option, part, line, .. } => {
                let Field::Pick { chosen, most, .. } = &self.fields[field] else { return };
                let is_chosen = chosen[*option];
                let mark = match (*part, *most, is_chosen) {
                    (1.., ..) => "   ",
                    (_, 1, true) => "(•)",
                    (_, 1, false) => "( )",
                    (_, _, true) => "[x]",
                    (_, _, false) => "[ ]",
                };
                let role = if is_chosen { Role::Accent } else { Role::Text };
                canvas.text(place, y, &format!("{mark} {line}"), role);
                if self.at == (field, *option) {
                    canvas.highlight(place, y, Role::Selection);
                }
                canvas.hit_row(place, y, Hit::Item(field * 1_000 + option));
            }
        }
    }
}

/// Breaks a text into lines of at most `room` columns, before a word where possible. Unlike [`wrap`] it keeps every
/// character, spaces too: the cursor stands between them.
fn cut(text: &str, room: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for c in text.chars() {
        let wide = columns(c.encode_utf8(&mut [0; 4]));
        if columns(&line) + wide > room {
            // The word that does not fit goes on in the next line, when it does not fill this one.
            let start = if c == ' ' { line.len() } else { line.rfind(' ').map_or(line.len(), |i| i + 1) };
            let rest = line.split_off(start);
            lines.push(std::mem::replace(&mut line, rest));
        }
        line.push(c);
    }
    lines.push(line);
    lines
}

/// Line and column of the cursor that stands after so many characters.
fn place_in(lines: &[String], cursor: usize) -> (usize, usize) {
    let mut left = cursor;
    for (row, line) in lines.iter().enumerate() {
        let n = line.chars().count();
        if left < n || row + 1 == lines.len() {
            let before: String = line.chars().take(left).collect();
            return (row, columns(&before));
        }
        left -= n;
    }
    (0, 0)
}

enum Row {
    Plain(Role, String),
    Text {
        field: usize,
        part: (usize, bool),
        line: String,
    },
    Option {
        field: usize,
        option: usize,
        part: usize,
        line: String,
    },
    /// What stands there in place of options.
    None {
        field: usize,
        line: &'static str,
    },
}

impl Row {
    fn field(&self) -> Option<usize> {
        match self {
            Row::Plain(..) => None,
            Row::Text { field, .. } | Row::Option { field, .. } | Row::None { field, .. } => Some(*field),
        }
    }
}

impl Layer for Sheet {
    fn contexts(&self) -> Vec<Context> {
        vec![Context::Dialog]
    }

    fn clock_runs(&self, mode: Mode) -> bool {
        // What is pinned is what was seen when the key was pressed.
        mode == Mode::Live && !matches!(self.purpose, Purpose::Pin(_))
    }

    fn draw(&mut self, canvas: &mut Canvas<'_>, area: Rect, _scene: &Scene<'_>) {
        let width = area.width.saturating_sub(2).min(92);
        let rows = self.rows(width.saturating_sub(4));
        let foot = self.foot(canvas, width.saturating_sub(4));
        let place = centred(area, width, (rows.len() + foot.len()) as u16 + 3);
        canvas.clear(place);
        let inside = canvas.frame(place, &self.title, &Line::default(), true);
        let inside = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
        if inside.height == 0 {
            return;
        }
        let below = (foot.len() as u16).min(inside.height);
        let list = Rect { height: inside.height.saturating_sub(below + 1), ..inside };
        let here = |r: &Row| match r {
            Row::Text { field, .. } | Row::None { field, .. } => *field == self.at.0,
            Row::Option { field, option, .. } => (*field, *option) == self.at,
            Row::Plain(..) => false,
        };
        let height = usize::from(list.height);
        let at = rows.iter().rposition(here).unwrap_or(0);
        // The selected row with one below it, so that one sees that there is more.
        let skip = (at + 2).min(rows.len()).saturating_sub(height);
        for (i, row) in rows.iter().enumerate().skip(skip).take(height) {
            let first = i == 0 || rows[i - 1].field() != row.field();
            self.draw_row(canvas, list, (i - skip) as u16, row, first);
        }
        canvas.beyond(place, skip, rows.len().saturating_sub(skip + height));
        for (y, line) in foot.iter().enumerate() {
            canvas.line(inside, inside.height - below + y as u16, line);
        }
    }

    fn act(&mut self, id: Id, scene: &Scene<'_>) -> Option<Vec<Outcome>> {
        self.error = None;
        let view = scene.play?.view();
        match id {
            Id::NextField => self.go(true),
            Id::PreviousField => self.go(false),
            Id::Up => self.step(false),
            Id::Down => self.step(true),
            Id::Toggle => self.toggle(),
            Id::Submit if self.at.0 + 1 < self.fields.len() => {
                self.keep();
                self.go(true);
            }
            Id::Submit => {
                self.keep();
                return Some(self.submit(&view));
            }
            Id::Save => return Some(self.submit(&view)),
            Id::Answer | Id::SubmitPlain => {}
            Id::Back => return Some(vec![Outcome::Close]),
            _ => return None,
        }
        Some(Vec::new())
    }

    fn typed(&mut self, key: Key, _scene: &Scene<'_>) -> Option<Vec<Outcome>> {
        if self.look_for(key) {
            return Some(Vec::new());
        }
        let input = self.input()?;
        let request = key.edits()?;
        let full = input.value().chars().count() >= LONGEST;
        if !(full && matches!(request, InputRequest::InsertChar(_))) {
            input.handle(request);
        }
        self.error = None;
        Some(Vec::new())
    }

    fn pasted(&mut self, text: &str) {
        if let Some(input) = self.input() {
            let room = LONGEST.saturating_sub(input.value().chars().count());
            let plain = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c });
            for c in plain.filter(|c| !c.is_control()).take(room) {
                input.handle(InputRequest::InsertChar(c));
            }
        }
    }

    fn refused(&mut self, refusal: &Refusal) {
        self.error = Some(format!("{} {}", refusal.why, refusal.instead));
    }

    fn clicked(&mut self, hit: Hit, _scene: &Scene<'_>) -> Vec<Outcome> {
        if let Hit::Item(item) = hit {
            self.error = None;
            let field = (item / 1_000).min(self.fields.len().saturating_sub(1));
            match item % 1_000 {
                NOTHING => self.enter(field),
                option => {
                    self.at = (field, option);
                    self.offered = false;
                    self.search = Search::default();
                    self.toggle();
                }
            }
        }
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_text_is_broken_between_words_and_loses_nothing() {
        for (text, lines) in [
            ("one two three", vec!["one two ", "three"]),
            ("abcdefghijk", vec!["abcdefgh", "ijk"]),
            ("ab cdefghijklm", vec!["ab ", "cdefghij", "klm"]),
            ("", vec![""]),
        ] {
            let cut = cut(text, 8);
            assert_eq!(cut, lines);
            assert_eq!(cut.concat(), text);
        }
        let lines = cut("one two three", 8);
        assert_eq!(place_in(&lines, 3), (0, 3));
        assert_eq!(place_in(&lines, 8), (1, 0));
        assert_eq!(place_in(&lines, 13), (1, 5));
    }
}
