//! The notebook: explanations to accept or reject, the finding, and the evidence for both.
//!
//! Three pages, turned with ← and →. Everything that is written down is a command of the session; the pane keeps
//! only what is selected.

use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::{Look, Pane};
use crate::game::View;
use crate::game::command::{Command, EvidenceId, Finding, Source, Verdict};
use crate::incident::schema::Name;
use crate::tui::actions::{Context, Id, key_in, key_of};
use crate::tui::canvas::{Canvas, Hit, wrap};
use crate::tui::dialogs;
use crate::tui::layer::Outcome;
use crate::tui::theme::Role;
use crate::units::count;

/// A page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Page {
    /// What may be behind it.
    #[default]
    Explanations,
    /// What the player says it is.
    Finding,
    /// What was pinned.
    Evidence,
}

impl Page {
    const ALL: [Page; 3] = [Page::Explanations, Page::Finding, Page::Evidence];
}

/// The pane.
#[derive(Default)]
pub(crate) struct Notebook {
    page: Page,
    /// The selected explanation, and the selected piece of evidence.
    explanation: usize,
    evidence: usize,
    /// First line of the page that is shown.
    top: usize,
    /// Lines of the page, and how many fitted.
    size: (usize, usize),
}

/// A page as lines, each with the item that it belongs to.
type Lines = Vec<(Option<usize>, Line<'static>)>;

fn verdict(verdict: Verdict) -> (&'static str, Role) {
    match verdict {
        Verdict::Open => ("open", Role::Muted),
        Verdict::Accepted => ("ACCEPTED", Role::Ok),
        Verdict::Rejected => ("REJECTED", Role::Warn),
    }
}

fn ids(evidence: &[EvidenceId]) -> String {
    evidence.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// How many of the finding's seven parts say something.
fn filled(f: &Finding) -> usize {
    [
        !f.summary.is_empty(),
        f.trigger.is_some(),
        !f.amplifiers.is_empty(),
        !f.sustaining.is_empty(),
        !f.contributing.is_empty(),
        f.bottleneck.is_some(),
        !f.evidence.is_empty(),
    ]
    .iter()
    .filter(|f| **f)
    .count()
}

impl Notebook {
    fn turn(&mut self, by: usize) {
        let at = Page::ALL.iter().position(|p| *p == self.page).unwrap_or(0);
        self.page = Page::ALL[(at + by) % Page::ALL.len()];
        self.top = 0;
    }

    fn draw_tabs(&self, canvas: &mut Canvas<'_>, row: Rect, view: &View<'_>) {
        let hypotheses = view.hypotheses();
        let judged = hypotheses.iter().filter(|h| h.verdict != Verdict::Open).count();
        let texts = [
            format!(" explanations {judged} of {} judged ", hypotheses.len()),
            format!(" finding {} of 7 parts ", filled(view.finding())),
            format!(" evidence {} ", view.evidence().len()),
        ];
        let mut x = 0;
        for (i, (page, text)) in Page::ALL.iter().zip(texts).enumerate() {
            let role = if *page == self.page { Role::Selection } else { Role::Muted };
            let place = Rect { x: row.x + x.min(row.width), width: row.width.saturating_sub(x), ..row };
            let used = canvas.text(place, 0, &text, role);
            canvas.hit(Rect { width: used, height: row.height.min(1), ..place }, Hit::Item(PAGES + i));
            x += used + 1;
        }
        let place = Rect { x: row.x + x.min(row.width), width: row.width.saturating_sub(x), ..row };
        canvas.text(place, 0, "← →", Role::Accent);
    }

    fn explanations(&self, canvas: &Canvas<'_>, view: &View<'_>, width: u16) -> Lines {
        let mut lines: Lines = Vec::new();
        for (i, h) in view.hypotheses().into_iter().enumerate() {
            let (word, role) = verdict(h.verdict);
            for (part, text) in wrap(&h.text, width.saturating_sub(11)).into_iter().enumerate() {
                let word = if part == 0 { word } else { "" };
                lines.push((
                    Some(i),
                    Line::from(vec![
                        Span::styled(format!("{word:<11}"), canvas.style(role)),
                        Span::styled(text, canvas.style(Role::Text)),
                    ]),
                ));
            }
            if !h.evidence.is_empty() {
                let text = format!("{:<11}rests on {}", "", ids(&h.evidence));
                lines.push((Some(i), Line::from(Span::styled(text, canvas.style(Role::Muted)))));
            }
            lines.push((None, Line::default()));
        }
        lines
    }

    fn finding(canvas: &Canvas<'_>, view: &View<'_>, width: u16) -> Lines {
        let f = view.finding();
        let parts = view.finding_choices();
        let name = |id: &Name| parts.iter().find(|p| p.id == *id).map_or(id.clone(), |p| p.text.clone());
        let one = |id: &Option<Name>| id.iter().map(name).collect::<Vec<_>>();
        let many = |ids: &[Name]| ids.iter().map(name).collect::<Vec<_>>();
        let words = |text: &str| if text.is_empty() { Vec::new() } else { vec![text.to_owned()] };
        let evidence = if f.evidence.is_empty() { Vec::new() } else { vec![ids(&f.evidence)] };
        let rows = [
            (Finding::SUMMARY, words(&f.summary)),
            (Finding::TRIGGER, one(&f.trigger)),
            (Finding::AMPLIFIERS, many(&f.amplifiers)),
            (Finding::HOLDS, words(&f.sustaining)),
            (Finding::CONTRIBUTING, many(&f.contributing)),
            (Finding::BOTTLENECK, one(&f.bottleneck)),
            ("Evidence", evidence),
        ];
        let mut lines: Lines = Vec::new();
        for (label, values) in rows {
            let missing = values.is_empty();
            let values = if missing { vec!["nothing yet".to_owned()] } else { values };
            let role = if missing { Role::Muted } else { Role::Text };
            let mut first = true;
            for value in values {
                for text in wrap(&value, width.saturating_sub(15)) {
                    let label = if first { label } else { "" };
                    first = false;
                    lines.push((
                        None,
                        Line::from(vec![
                            Span::styled(format!("{label:<15}"), canvas.style(Role::Accent)),
                            Span::styled(text, canvas.style(role)),
                        ]),
                    ));
                }
            }
            lines.push((None, Line::default()));
        }
        lines
    }

    fn pieces(canvas: &Canvas<'_>, view: &View<'_>, width: u16) -> Lines {
        let mut lines: Lines = Vec::new();
        for (i, e) in view.evidence().iter().enumerate() {
            let head = format!("{} {}  ", e.id, view.clock_at(e.at));
            for (part, text) in wrap(&e.showed, width.saturating_sub(17)).into_iter().enumerate() {
                let head = if part == 0 { head.as_str() } else { "" };
                lines.push((
                    Some(i),
                    Line::from(vec![
                        Span::styled(format!("{head:<17}"), canvas.style(Role::Accent)),
                        Span::styled(text, canvas.style(Role::Text)),
                    ]),
                ));
            }
            if !e.note.is_empty() {
                for text in wrap(&e.note, width.saturating_sub(17)) {
                    let text = format!("{:<17}{text}", "");
                    lines.push((Some(i), Line::from(Span::styled(text, canvas.style(Role::Muted)))));
                }
            }
        }
        lines
    }

    /// The keys of a page, in a line at its end.
    fn keys(&self) -> String {
        match self.page {
            Page::Explanations => format!(
                "{} accept · {} reject · {} reopen · {} with evidence",
                key_of(Id::Accept),
                key_of(Id::Reject),
                key_of(Id::Reopen),
                key_in(Context::Notebook, Id::Open)
            ),
            Page::Finding => {
                let open = key_in(Context::Notebook, Id::Open);
                format!("{open} write · {} write to a file", key_of(Id::Export))
            }
            Page::Evidence => format!("{} pins in any pane", key_of(Id::Pin)),
        }
    }

    fn selected(&self) -> Option<usize> {
        match self.page {
            Page::Explanations => Some(self.explanation),
            Page::Finding => None,
            Page::Evidence => Some(self.evidence),
        }
    }

    /// Moves among the page's items, or scrolls a page that has none.
    fn go(&mut self, id: Id, view: &View<'_>) -> bool {
        let (at, rows) = match self.page {
            Page::Explanations => (&mut self.explanation, view.hypotheses().len()),
            Page::Evidence => (&mut self.evidence, view.evidence().len()),
            Page::Finding => (&mut self.top, self.size.0.saturating_sub(self.size.1) + 1),
        };
        let last = rows.saturating_sub(1);
        *at = match id {
            Id::Up => at.saturating_sub(1),
            Id::Down => (*at + 1).min(last),
            Id::PageUp => at.saturating_sub(5),
            Id::PageDown => (*at + 5).min(last),
            Id::Top => 0,
            Id::Bottom => last,
            _ => return false,
        };
        true
    }

    fn judge(&self, to: Verdict, view: &View<'_>) -> Option<Vec<Outcome>> {
        if read_on(view) {
            return Some(closed());
        }
        let h = view.hypotheses().into_iter().nth(self.explanation)?;
        if to != Verdict::Open && h.evidence.is_empty() && !view.evidence().is_empty() {
            // There is something to cite: ask what the verdict rests on.
            return Some(vec![Outcome::Open(Box::new(dialogs::judge(&h, to, view)))]);
        }
        let said = format!("{}: {}", capital(verdict(to).0), h.text);
        Some(vec![Outcome::Submit(
            Command::Judge { hypothesis: h.id, verdict: to, evidence: h.evidence },
            said,
        )])
    }

    fn open(&self, view: &View<'_>) -> Vec<Outcome> {
        match self.page {
            Page::Explanations | Page::Finding if read_on(view) => closed(),
            Page::Explanations => view
                .hypotheses()
                .get(self.explanation)
                .map(|h| Outcome::Open(Box::new(dialogs::judge(h, h.verdict, view))))
                .into_iter()
                .collect(),
            Page::Finding => vec![Outcome::Open(Box::new(dialogs::finding(view)))],
            Page::Evidence => Vec::new(),
        }
    }
}

/// Whether the player has come to the part of the debrief that says what was true.
fn read_on(view: &View<'_>) -> bool {
    view.is_over() && view.reflections().iter().all(|answer| !answer.trim().is_empty())
}

fn closed() -> Vec<Outcome> {
    vec![Outcome::Warn("The debrief says what was true: what you wrote before it stands.".to_owned())]
}

/// Items from here on are the tabs of the pages.
const PAGES: usize = 10_000;

fn capital(word: &str) -> String {
    let mut chars = word.chars();
    let first = chars.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(chars.map(|c| c.to_ascii_lowercase())).collect()
}

impl Pane for Notebook {
    fn name(&self) -> &'static str {
        "notebook"
    }

    fn brief(&self) -> &'static str {
        "notes"
    }

    fn contexts(&self) -> &'static [Context] {
        &[Context::Notebook, Context::Move]
    }

    fn draw(&mut self, canvas: &mut Canvas<'_>, area: Rect, view: &View<'_>, look: Look) {
        let inner = canvas.frame(area, "Notebook", &Line::default(), look.focus);
        let inner = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
        if inner.height < 2 || inner.width == 0 {
            return;
        }
        self.draw_tabs(canvas, Rect { height: 1, ..inner }, view);
        let body = Rect { y: inner.y + 2, height: inner.height.saturating_sub(4), ..inner };
        canvas.text(inner, inner.height - 1, &self.keys(), Role::Muted);
        let lines = match self.page {
            Page::Explanations => self.explanations(canvas, view, body.width),
            Page::Finding => Notebook::finding(canvas, view, body.width),
            Page::Evidence => Notebook::pieces(canvas, view, body.width),
        };
        if lines.is_empty() {
            let text = match self.page {
                Page::Evidence => "Nothing is pinned. b in any pane keeps what you look at, with the time.",
                _ => "There is nothing to judge.",
            };
            canvas.text(body, 0, text, Role::Muted);
            return;
        }
        let height = usize::from(body.height);
        self.size = (lines.len(), height);
        let selected = self.selected();
        if let Some(at) = selected {
            let own = |l: &(Option<usize>, Line<'_>)| l.0 == Some(at);
            let first = lines.iter().position(own).unwrap_or(0);
            let last = lines.iter().rposition(own).unwrap_or(0);
            self.top = self.top.min(first).max((last + 1).saturating_sub(height));
        }
        self.top = self.top.min(lines.len().saturating_sub(height));
        for (y, (item, line)) in lines.iter().skip(self.top).take(height).enumerate() {
            canvas.line(body, y as u16, line);
            if let Some(item) = *item {
                if selected == Some(item) {
                    canvas.highlight(body, y as u16, if look.focus { Role::Selection } else { Role::Focus });
                }
                canvas.hit_row(body, y as u16, Hit::Item(item));
            }
        }
        let below = lines.len().saturating_sub(self.top + height);
        if below > 0 {
            let text = format!(" {} below ", count(below as u64, "more line", "more lines"));
            canvas.line_right(
                inner,
                inner.height - 1,
                &Line::from(Span::styled(text, canvas.style(Role::Info))),
            );
        }
    }

    fn act(&mut self, id: Id, view: &View<'_>) -> Option<Vec<Outcome>> {
        match id {
            Id::Left => self.turn(Page::ALL.len() - 1),
            Id::Right => self.turn(1),
            Id::Open => return Some(self.open(view)),
            Id::Finding if read_on(view) => return Some(closed()),
            Id::Finding => return Some(vec![Outcome::Open(Box::new(dialogs::finding(view)))]),
            Id::Accept | Id::Reject | Id::Reopen if self.page != Page::Explanations => {
                let text = "Choose an explanation first: ← and → turn to them.".to_owned();
                return Some(vec![Outcome::Warn(text)]);
            }
            Id::Accept => return self.judge(Verdict::Accepted, view),
            Id::Reject => return self.judge(Verdict::Rejected, view),
            Id::Reopen => return self.judge(Verdict::Open, view),
            _ if self.go(id, view) => {}
            _ => return None,
        }
        Some(Vec::new())
    }

    fn clicked(&mut self, item: usize, view: &View<'_>) -> Vec<Outcome> {
        if let Some(page) = item.checked_sub(PAGES).and_then(|i| Page::ALL.get(i)) {
            (self.page, self.top) = (*page, 0);
            return Vec::new();
        }
        let same = self.selected() == Some(item);
        match self.page {
            Page::Explanations => self.explanation = item,
            Page::Evidence => self.evidence = item,
            Page::Finding => {}
        }
        if same { self.open(view) } else { Vec::new() }
    }

    fn pinned(&self, _view: &View<'_>) -> Option<Source> {
        None
    }

    fn copied(&self, view: &View<'_>) -> Option<String> {
        match self.page {
            Page::Explanations => view
                .hypotheses()
                .get(self.explanation)
                .map(|h| format!("{}: {} {}", verdict(h.verdict).0.to_lowercase(), h.text, ids(&h.evidence))),
            Page::Finding => Some(view.finding().summary.clone()).filter(|s| !s.is_empty()),
            Page::Evidence => view
                .evidence()
                .get(self.evidence)
                .map(|e| format!("{} {} {} {}", e.id, view.clock_at(e.at), e.showed, e.note)),
        }
    }
}
