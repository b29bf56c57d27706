//! A typed line: the command, its words, and what stands behind `--options`.

/// A line that was typed, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Typed {
    /// The first word, in lower case.
    pub(super) verb: String,
    /// The words before the first option.
    pub(super) words: Vec<String>,
    /// Options with all words up to the next one: nothing has to be put between quotes.
    pub(super) options: Vec<(String, String)>,
}

/// Words without quotes around all of them.
fn joined(words: &[&str]) -> String {
    let text = words.join(" ");
    let inside = text.strip_prefix('"').and_then(|t| t.strip_suffix('"')).filter(|t| !t.contains('"'));
    inside.map_or_else(|| text.clone(), str::to_owned)
}

/// The name of an option: two dashes and letters.
fn option(word: &str) -> Option<&str> {
    word.strip_prefix("--").filter(|name| name.starts_with(|c: char| c.is_alphabetic()))
}

impl Typed {
    /// Takes a line apart; `None` when nothing is in it, or a comment.
    pub(super) fn read(line: &str) -> Option<Typed> {
        let line: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let all: Vec<&str> = line.split_whitespace().collect();
        let (verb, rest) = all.split_first()?;
        if verb.starts_with('#') {
            return None;
        }
        let first = rest.iter().position(|w| option(w).is_some()).unwrap_or(rest.len());
        let mut typed = Typed {
            verb: verb.to_lowercase(),
            words: rest[..first].iter().map(|w| (*w).to_owned()).collect(),
            options: Vec::new(),
        };
        let mut at = first;
        while let Some(name) = rest.get(at).and_then(|w| option(w)) {
            let end = (at + 1..rest.len()).find(|&i| option(rest[i]).is_some()).unwrap_or(rest.len());
            // `--sure=70` is the same as `--sure 70`.
            let (name, value) = match name.split_once('=') {
                Some((name, value)) => (name, joined(&[&[value], &rest[at + 1..end]].concat())),
                None => (name, joined(&rest[at + 1..end])),
            };
            typed.options.push((name.to_lowercase(), value));
            at = end;
        }
        Some(typed)
    }

    /// The words as a text.
    pub(super) fn text(&self) -> String {
        joined(&self.words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// The words as parts of names, which may stand between quotes.
    pub(super) fn names(&self) -> Vec<String> {
        let bare = self.words.iter().map(|word| word.trim_matches(['"', '\'', '`']).to_owned());
        bare.filter(|word| !word.is_empty()).collect()
    }

    /// What stands behind an option, when it was given.
    pub(super) fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().find(|o| o.0 == name).map(|o| o.1.as_str())
    }

    /// Whether an option was given.
    pub(super) fn has(&self, name: &str) -> bool {
        self.option(name).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_words_and_then_options() {
        let typed =
            Typed::read("do rate-limit 4500 --expect failing better --sure=70 --yes").expect("a command");
        assert_eq!((typed.verb.as_str(), typed.text().as_str()), ("do", "rate-limit 4500"));
        assert_eq!(typed.option("expect"), Some("failing better"));
        assert_eq!(typed.option("sure"), Some("70"));
        assert!(typed.has("yes") && !typed.has("note"));
    }

    #[test]
    fn texts_need_no_quotes_and_may_have_them() {
        for line in ["update We don't know -- yet.", "update \"We don't know -- yet.\""] {
            assert_eq!(Typed::read(line).expect("a command").text(), "We don't know -- yet.");
        }
    }

    #[test]
    fn names_may_stand_between_quotes() {
        for line in [
            "do rate limit 4500",
            "do \"rate limit\" 4500",
            "do 'rate' \"limit\" \"4500\"",
            "do `rate limit` 4500",
        ] {
            assert_eq!(Typed::read(line).expect("a command").names(), ["rate", "limit", "4500"], "{line}");
        }
        assert_eq!(
            Typed::read("update Don't say \"fixed\".").expect("a command").text(),
            "Don't say \"fixed\"."
        );
    }

    #[test]
    fn nothing_and_comments_are_no_commands() {
        for line in ["", "  \t", "# a note", "\u{7}"] {
            assert_eq!(Typed::read(line), None, "{line:?}");
        }
    }
}
