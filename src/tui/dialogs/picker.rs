//! A list to pick from: the palette, the help, the levers.

use std::ops::Range;

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};
use tui_input::{Input, InputRequest};

use super::{form, key_line};
use crate::game::{Argument, Mode, View, action_text, action_with};
use crate::score::{Change, Decision};
use crate::tui::actions::{ACTIONS, Context, Id, Key, Situation, key_in};
use crate::tui::canvas::{Canvas, Hit, centred, columns, wrap};
use crate::tui::layer::{Layer, Outcome, Scene};
use crate::tui::theme::Role;
use crate::tui::widgets::list::Cursor;
use crate::units::SimSpan;

/// What picking a row does.
#[derive(Clone, Debug, PartialEq)]
enum Pick {
    /// An action.
    Act(Id),
    /// The lever of that number.
    Lever(usize),
    /// A further action of the lever of that number.
    Also(usize, usize),
    /// What is done instead at a decision.
    Change(Change),
}

struct Row {
    /// Key or kind.
    left: String,
    title: String,
    /// Value or reason at the right end.
    right: String,
    /// What is said about the selected row.
    detail: Vec<(&'static str, String)>,
    pick: Pick,
    /// Heading that stands above it when nothing is searched.
    group: &'static str,
    /// Cannot be done now.
    blocked: bool,
}

/// A list, with or without a search line.
pub(crate) struct Picker {
    title: &'static str,
    rows: Vec<Row>,
    search: Option<Input>,
    /// Rows that fit the search, best first.
    found: Vec<usize>,
    cursor: Cursor,
    /// The clock goes on in live mode.
    part_of_play: bool,
    /// What is chosen is done instead of something else, in another run.
    fork: bool,
}

/// The rows of the table's actions in these contexts.
fn action_rows(contexts: &[Context], now: &Situation) -> Vec<Row> {
    let in_order = contexts.iter().flat_map(|c| ACTIONS.iter().filter(move |a| a.context == *c));
    in_order
        .filter(|a| !a.help.is_empty())
        .map(|a| {
            let reason = (a.enabled)(now).err();
            Row {
                left: a.keys().join(" "),
                title: a.title.to_owned(),
                right: reason.unwrap_or("").to_owned(),
                detail: vec![("", a.help.to_owned())],
                pick: Pick::Act(a.id),
                group: a.context.title(),
                blocked: reason.is_some(),
            }
        })
        .collect()
}

/// The rows of the levers.
fn lever_rows(view: &View<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for (i, lever) in view.levers().iter().enumerate() {
        let detail = vec![
            ("Changes", lever.effect.clone()),
            ("Takes", lever.takes.clone()),
            ("Undo", lever.undo.clone()),
        ];
        rows.push(Row {
            left: String::new(),
            title: lever.title.clone(),
            right: lever.now.clone(),
            detail: detail.clone(),
            pick: Pick::Lever(i),
            group: "Levers",
            blocked: false,
        });
        for (k, (title, _)) in lever.also.iter().enumerate() {
            rows.push(Row {
                left: String::new(),
                title: format!("  {title}"),
                right: String::new(),
                detail: detail.clone(),
                pick: Pick::Also(i, k),
                group: "Levers",
                blocked: false,
            });
        }
    }
    rows
}

/// Everything that can be done here, and every lever, found by a few letters.
pub(crate) fn palette(contexts: &[Context], now: &Situation, view: Option<&View<'_>>) -> Picker {
    let mut rows = action_rows(contexts, now);
    rows.retain(|r| !r.blocked);
    if let Some(view) = view.filter(|_| now.may_act && now.running) {
        rows.extend(lever_rows(view));
    }
    Picker::new("What do you want to do?", rows, true)
}

/// All keys, those of the present place first.
pub(crate) fn help(contexts: &[Context], now: &Situation) -> Picker {
    // Nothing is played while a film is watched, and the other way round.
    if contexts.contains(&Context::Film) {
        return Picker::new("Keys", action_rows(contexts, now), true);
    }
    let all = Context::ALL.into_iter().filter(|c| *c != Context::Film);
    let (here, elsewhere): (Vec<Context>, Vec<Context>) = all.partition(|c| contexts.contains(c));
    let order = [here, elsewhere].concat();
    Picker::new("Keys", action_rows(&order, now), true)
}

/// The levers.
pub(crate) fn levers(view: &View<'_>) -> Picker {
    let mut picker = Picker::new("Mitigations", lever_rows(view), false);
    picker.part_of_play = true;
    picker
}

/// How much later a lever can be pulled in a fork.
const LATER: [SimSpan; 3] = [SimSpan::from_secs(120), SimSpan::from_secs(300), SimSpan::from_secs(600)];

/// What could have been done instead at a decision.
pub(crate) fn fork(decision: &Decision, view: &View<'_>) -> Picker {
    let row = |title: String, change: Change| Row {
        left: String::new(),
        title,
        right: String::new(),
        detail: vec![("Instead", "The levers that you pulled later are pulled again.".to_owned())],
        pick: Pick::Change(change),
        group: "Instead",
        blocked: false,
    };
    let mut rows = Vec::new();
    if decision.lever.is_some() {
        rows.push(row("leave it out".to_owned(), Change::Without));
        let later = |by: SimSpan| row(format!("the same {} later", by.words()), Change::Later(by));
        rows.extend(LATER.map(later));
    }
    if let Some(action) = &decision.proposed {
        rows.push(row(format!("do it: {}", action_text(action)), Change::Instead(action.clone())));
    }
    rows.extend(lever_rows(view));
    // What a lever is set to at the end says nothing about that moment.
    for row in &mut rows {
        row.right.clear();
        row.detail.retain(|(head, _)| *head != "Undo");
    }
    let mut picker = Picker::new("What instead?", rows, false);
    picker.fork = true;
    picker
}

impl Picker {
    fn new(title: &'static str, rows: Vec<Row>, searched: bool) -> Picker {
        let found = (0..rows.len()).collect();
        Picker {
            title,
            rows,
            search: searched.then(Input::default),
            found,
            cursor: Cursor::default(),
            part_of_play: false,
            fork: false,
        }
    }

    fn searching(&self) -> bool {
        self.search.as_ref().is_some_and(|s| !s.value().is_empty())
    }

    fn find(&mut self) {
        let text = self.search.as_ref().map_or("", |s| s.value());
        self.cursor = Cursor::default();
        // What was typed as it stands, in a title, key or sentence; letters strewn over a row only when that finds none.
        let wanted = text.trim().to_lowercase();
        let has = |text: &str| text.to_lowercase().contains(&wanted);
        let in_title = |i: &usize| has(&self.rows[*i].title);
        let in_rest =
            |i: &usize| has(&self.rows[*i].left) || self.rows[*i].detail.first().is_some_and(|d| has(&d.1));
        let all = || 0..self.rows.len();
        let mut plain: Vec<usize> = all().filter(in_title).collect();
        plain.extend(all().filter(|i| !in_title(i) && in_rest(i)));
        if wanted.is_empty() {
            plain.sort_unstable();
        }
        if !plain.is_empty() {
            self.found = plain;
            return;
        }
        let pattern = Pattern::parse(text, CaseMatching::Ignore, Normalization::Smart);
        let mut matcher = Matcher::new(Config::DEFAULT);
        let mut scored: Vec<(u32, usize)> = Vec::new();
        for (i, row) in self.rows.iter().enumerate() {
            let mut letters = Vec::new();
            let mut score = |text: &str| pattern.score(Utf32Str::new(text, &mut letters), &mut matcher);
            // In a sentence some letters can be found anywhere.
            if let Some(score) = score(&row.title) {
                scored.push((score, i));
            }
        }
        scored.sort_by_key(|&(score, i)| (std::cmp::Reverse(score), i));
        self.found = scored.into_iter().map(|s| s.1).collect();
    }

    fn pick(&self, scene: &Scene<'_>) -> Vec<Outcome> {
        let Some(row) = self.found.get(self.cursor.at).and_then(|&i| self.rows.get(i)) else {
            return Vec::new();
        };
        let form = |lever: usize, also: Option<usize>| {
            let play = scene.play?;
            let view = play.view();
            let levers = view.levers();
            let lever = levers.get(lever)?;
            if self.fork {
                let now = match also {
                    Some(k) => Some(lever.also.get(k)?.1.clone()),
                    None => (lever.argument == Argument::None).then(|| action_with(&lever.lever, 0.0, 0.0)),
                };
                let next = match now {
                    Some(action) => Outcome::Fork(Change::Instead(action)),
                    None => Outcome::Open(Box::new(form::instead(lever))),
                };
                return Some(vec![Outcome::Close, next]);
            }
            let form = match also {
                None => form::pull(lever, &view),
                Some(k) => {
                    let (title, action) = lever.also.get(k)?;
                    form::perform(title, action, lever, &view)
                }
            };
            Some(vec![Outcome::Close, Outcome::Open(Box::new(form))])
        };
        match &row.pick {
            Pick::Act(id) => vec![Outcome::Close, Outcome::Act(*id)],
            Pick::Lever(i) => form(*i, None).unwrap_or_default(),
            Pick::Also(i, k) => form(*i, Some(*k)).unwrap_or_default(),
            Pick::Change(change) => vec![Outcome::Close, Outcome::Fork(change.clone())],
        }
    }
}

impl Layer for Picker {
    fn contexts(&self) -> Vec<Context> {
        vec![Context::Move]
    }

    fn clock_runs(&self, mode: Mode) -> bool {
        self.part_of_play && mode == Mode::Live
    }

    fn draw(&mut self, canvas: &mut Canvas<'_>, area: Rect, _scene: &Scene<'_>) {
        let width = area.width.saturating_sub(2).min(82);
        let inner_width = width.saturating_sub(4);
        let detail: Vec<(&'static str, String)> = self
            .found
            .get(self.cursor.at)
            .map(|&i| {
                let label = 9;
                self.rows[i]
                    .detail
                    .iter()
                    .flat_map(|(name, text)| {
                        let room = inner_width.saturating_sub(if name.is_empty() { 0 } else { label });
                        wrap(text, room)
                            .into_iter()
                            .enumerate()
                            .map(|(k, l)| (if k == 0 { *name } else { "" }, l))
                    })
                    .collect()
            })
            .unwrap_or_default();
        // Room for the longest detail, so that the list does not jump.
        let detail_height = if self.search.is_some() { 2 } else { 7 };
        let headings = if self.searching() { 0 } else { self.groups() };
        let search_height = u16::from(self.search.is_some()) * 2;
        let wanted = (self.rows.len() + headings) as u16 + search_height + detail_height + 4;
        let place = centred(area, width, wanted.min(area.height.saturating_sub(2)));
        canvas.clear(place);
        let inside = canvas.frame(place, self.title, &Line::default(), true);
        let mut inside = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
        if let Some(search) = &self.search {
            let y = inside.y;
            canvas.text(inside, 0, "> ", Role::Accent);
            let text = Rect { x: inside.x + 2, width: inside.width.saturating_sub(2), ..inside };
            if search.value().is_empty() {
                canvas.text(text, 0, "type to search", Role::Muted);
            } else {
                canvas.text(text, 0, search.value(), Role::Text);
            }
            let x = text.x + (search.visual_cursor() as u16).min(text.width.saturating_sub(1));
            *canvas.cursor = Some(Position { x, y });
            inside = below(inside, 2);
        }
        let bottom = (detail_height + 2).min(inside.height / 2);
        let list = Rect { height: inside.height - bottom, ..inside };
        let foot = below(inside, list.height);
        let shown = self.draw_rows(canvas, list);
        canvas.beyond(place, shown.start, self.found.len().saturating_sub(shown.end));
        let shown = detail.iter().take(usize::from(foot.height.saturating_sub(2)));
        for (row, (label, text)) in (1..).zip(shown) {
            let indent = if detail.iter().all(|d| d.0.is_empty()) { 0 } else { 9.min(foot.width) };
            canvas.text(foot, row, label, Role::Muted);
            canvas.text(
                Rect { x: foot.x + indent, width: foot.width - indent, ..foot },
                row,
                text,
                Role::Text,
            );
        }
        let keys = [
            (key_in(Context::Move, Id::Open).to_owned(), "choose"),
            ("↑ ↓".to_owned(), "move"),
            (key_in(Context::Global, Id::Back).to_owned(), "close"),
        ];
        let keys = key_line(canvas, &keys);
        if foot.height > 0 {
            canvas.line(foot, foot.height - 1, &keys);
        }
    }

    fn act(&mut self, id: Id, scene: &Scene<'_>) -> Option<Vec<Outcome>> {
        if self.cursor.act(id, self.found.len()) {
            return Some(Vec::new());
        }
        match id {
            Id::Open => Some(self.pick(scene)),
            Id::Back => Some(vec![Outcome::Close]),
            _ => None,
        }
    }

    fn typed(&mut self, key: Key, _scene: &Scene<'_>) -> Option<Vec<Outcome>> {
        let search = self.search.as_mut()?;
        search.handle(key.edits()?);
        self.find();
        Some(Vec::new())
    }

    fn pasted(&mut self, text: &str) {
        if let Some(search) = &mut self.search {
            for c in text.chars().filter(|c| !c.is_control()).take(100) {
                search.handle(InputRequest::InsertChar(c));
            }
            self.find();
        }
    }

    fn clicked(&mut self, hit: Hit, scene: &Scene<'_>) -> Vec<Outcome> {
        match hit {
            Hit::Item(i) if i == self.cursor.at => self.pick(scene),
            Hit::Item(i) => {
                self.cursor.at = i;
                Vec::new()
            }
            _ => Vec::new(),
        }
    }
}

impl Picker {
    fn groups(&self) -> usize {
        if self.search.is_none() {
            return 0;
        }
        1 + self.rows.windows(2).filter(|w| w[0].group != w[1].group).count()
    }

    /// Headings above these rows, when they are shown: one for each group that begins.
    fn headings(&self, shown: &Range<usize>) -> usize {
        let groups: Vec<&str> =
            self.found[shown.clone()].iter().filter_map(|&i| Some(self.rows.get(i)?.group)).collect();
        usize::from(!groups.is_empty()) + groups.windows(2).filter(|pair| pair[0] != pair[1]).count()
    }

    /// Draws as many rows as fit; which of those found they are.
    fn draw_rows(&mut self, canvas: &mut Canvas<'_>, list: Rect) -> Range<usize> {
        if self.found.is_empty() {
            let text = format!("Nothing fits. {} closes this.", key_in(Context::Global, Id::Back));
            canvas.text(list, 0, &text, Role::Muted);
            return 0..0;
        }
        // Headings take rows of their own; they are shown while nothing is searched.
        let with_headings = self.search.is_some() && !self.searching();
        let mut height = usize::from(list.height).max(1);
        let mut shown = self.cursor.shown(self.found.len(), height);
        while with_headings && height > 1 && shown.len() + self.headings(&shown) > usize::from(list.height) {
            height -= 1;
            shown = self.cursor.shown(self.found.len(), height);
        }
        let keys = self.rows.iter().map(|r| columns(&r.left)).max().unwrap_or(0).min(16) as u16;
        let indent = if keys == 0 { 0 } else { keys + 2 };
        let mut y = 0;
        let mut group = "";
        for i in shown.clone() {
            let row = &self.rows[self.found[i]];
            if with_headings && row.group != group {
                group = row.group;
                canvas.text(list, y, group, Role::Accent);
                y += 1;
            }
            let role = if row.blocked { Role::Muted } else { Role::Text };
            canvas.text(Rect { width: list.width.min(keys), ..list }, y, &row.left, Role::Info);
            let rest =
                Rect { x: list.x + indent.min(list.width), width: list.width.saturating_sub(indent), ..list };
            let used = canvas.text(rest, y, &row.title, role);
            if self.search.is_some() && !row.blocked && rest.width > 40 {
                let from = (used + 2).max(22).min(rest.width);
                let right = if row.right.is_empty() { 0 } else { columns(&row.right) as u16 + 2 };
                let beside =
                    Rect { x: rest.x + from, width: (rest.width - from).saturating_sub(right), ..rest };
                canvas.text(beside, y, row.detail.first().map_or("", |d| &d.1), Role::Muted);
            }
            let free = rest.width.saturating_sub(used + 2);
            if free > 4 && !row.right.is_empty() {
                let right = Rect { x: rest.x + used + 2, width: free, ..rest };
                canvas.line_right(
                    right,
                    y,
                    &Line::from(Span::styled(row.right.as_str(), canvas.style(Role::Muted))),
                );
            }
            if i == self.cursor.at {
                canvas.highlight(list, y, Role::Selection);
            }
            canvas.hit_row(list, y, Hit::Item(i));
            y += 1;
        }
        shown
    }
}

/// What is left of an area below its first rows.
fn below(area: Rect, rows: u16) -> Rect {
    let rows = rows.min(area.height);
    Rect { y: area.y + rows, height: area.height - rows, ..area }
}
