//! The line in which a pane is filtered: words that a row must contain, in any order, whatever their case.

use crossterm::event::KeyCode;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};
use tui_input::{Input, InputRequest};

use crate::tui::actions::{Id, Key, key_of};
use crate::tui::canvas::Canvas;
use crate::tui::theme::Role;

/// Longest text that is taken.
const LONGEST: usize = 80;

/// A filter.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    input: Input,
    typing: bool,
    /// The words in small letters.
    words: Vec<String>,
}

impl Filter {
    /// Starts typing.
    pub(crate) fn start(&mut self) {
        self.typing = true;
    }

    /// Whether it is being typed into.
    pub(crate) fn types(&self) -> bool {
        self.typing
    }

    /// Whether rows are left out.
    pub(crate) fn active(&self) -> bool {
        !self.words.is_empty()
    }

    /// The words that a row must contain, in small letters.
    pub(crate) fn words(&self) -> &[String] {
        &self.words
    }

    /// Shows all rows again.
    pub(crate) fn clear(&mut self) {
        *self = Filter::default();
    }

    /// Takes a key while it is typed into; `false` when the key means something else.
    pub(crate) fn typed(&mut self, key: Key) -> bool {
        if !self.typing {
            return false;
        }
        let request = match key.code {
            KeyCode::Enter => {
                self.typing = false;
                return true;
            }
            KeyCode::Esc => {
                self.clear();
                return true;
            }
            _ => match key.edits() {
                Some(request) => request,
                None => return false,
            },
        };
        self.take(request);
        true
    }

    /// Takes pasted text while it is typed into.
    pub(crate) fn pasted(&mut self, text: &str) {
        if self.typing {
            for c in text.chars().filter(|c| !c.is_control()) {
                self.take(InputRequest::InsertChar(c));
            }
        }
    }

    fn take(&mut self, request: InputRequest) {
        let full = self.input.value().chars().count() >= LONGEST;
        if !(full && matches!(request, InputRequest::InsertChar(_))) {
            self.input.handle(request);
        }
        self.words = self.input.value().split_whitespace().map(str::to_lowercase).collect();
    }

    /// Whether a row of these parts contains all the words.
    pub(crate) fn fits(&self, parts: &[&str]) -> bool {
        self.words.iter().all(|word| parts.iter().any(|part| contains(part, word)))
    }

    /// Draws it into the first row of an area: how many were found, or what can be typed when nothing is filtered.
    pub(crate) fn draw(&self, canvas: &mut Canvas<'_>, area: Rect, found: &str, hint: &str) {
        let key = key_of(Id::Filter);
        let prompt = format!("{key} ");
        if !self.typing && !self.active() {
            let line = Line::from(vec![
                Span::styled(prompt, canvas.style(Role::Accent)),
                Span::styled(hint, canvas.style(Role::Muted)),
            ]);
            canvas.line(area, 0, &line);
            return;
        }
        let role = if self.typing { Role::Focus } else { Role::Accent };
        let mut spans = vec![
            Span::styled(prompt, canvas.style(role)),
            Span::styled(self.input.value(), canvas.style(Role::Text)),
        ];
        spans.push(Span::styled(format!("  {found}"), canvas.style(Role::Muted)));
        if self.typing {
            let x = area.x + (2 + self.input.visual_cursor() as u16).min(area.width.saturating_sub(1));
            *canvas.cursor = Some(Position { x, y: area.y });
        }
        canvas.line(area, 0, &Line::from(spans));
    }
}

/// Whether a text contains a word of small letters, whatever the case of ASCII letters in the text.
fn contains(text: &str, word: &str) -> bool {
    let (text, word) = (text.as_bytes(), word.as_bytes());
    text.len() >= word.len() && text.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(text: &str) -> Filter {
        let mut filter = Filter::default();
        filter.start();
        filter.pasted(text);
        filter
    }

    #[test]
    fn all_words_must_be_there_in_any_part_and_case() {
        for (words, fits) in
            [("", true), ("warn api-07", true), ("API-07 TIMEOUT", true), ("api-08", false), ("é", false)]
        {
            assert_eq!(filter(words).fits(&["WARN", "api-07", "query timeout"]), fits, "{words}");
        }
    }

    #[test]
    fn keys_are_text_until_enter_or_esc() {
        let key = |name: &str| Key::read(name).unwrap_or_else(|| panic!("{name}"));
        let mut one = filter("a");
        assert!(one.typed(key("q")) && one.typed(key("Enter")));
        assert!(!one.typed(key("q")));
        assert_eq!(one.words(), ["aq"]);
        one.start();
        assert!(one.typed(key("Esc")) && !one.active() && !one.typed(key("q")));
    }
}
