//! Finds the place in the text of an incident file that a value came from.
//!
//! The typed reader keeps no positions, so a check that finds something wrong with `system.clients."mobile".share`
//! asks the outline where that stands. The outline knows brackets, strings, comments and names, and no types; it is
//! lenient, because it is only asked about texts that the typed reader has read, or about the format number.

use std::ops::Range;

/// A step from a value into one of its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The field or map entry of this name.
    Name(String),
    /// The entry of a list, or the argument of a variant, from 0.
    Index(usize),
}

impl From<&str> for Step {
    fn from(name: &str) -> Step {
        Step::Name(name.to_owned())
    }
}

impl From<&String> for Step {
    fn from(name: &String) -> Step {
        Step::Name(name.clone())
    }
}

impl From<usize> for Step {
    fn from(index: usize) -> Step {
        Step::Index(index)
    }
}

/// A path from the whole file to one of its values.
pub(super) type Path = Vec<Step>;

/// A path written as it reads: `place!["system", "clients", name, "share"]`.
macro_rules! place {
    ($($step:expr),* $(,)?) => { Vec::from([$($crate::incident::locate::Step::from($step)),*]) };
}
pub(super) use place;

/// Deeper nesting than any incident file has; what lies deeper has no place of its own.
const DEPTH_LIMIT: usize = 64;

/// The brackets and names of a text.
#[derive(Clone, Debug)]
pub(crate) struct Outline {
    root: Node,
    twice: Vec<(String, Range<usize>)>,
}

#[derive(Clone, Debug)]
struct Node {
    span: Range<usize>,
    parts: Vec<Part>,
}

#[derive(Clone, Debug)]
struct Part {
    /// Name of the field or key and where it stands; none in a list.
    name: Option<(String, Range<usize>)>,
    value: Node,
}

impl Outline {
    /// Reads the outline of a text, as far as it has one.
    pub(crate) fn of(text: &str) -> Outline {
        let mut reader = Reader { text, tokens: tokens(text), next: 0, twice: Vec::new() };
        let root = reader.value(0).unwrap_or(Node { span: 0..0, parts: Vec::new() });
        Outline { root, twice: reader.twice }
    }

    /// The value at a path; `None` when the text has no such value.
    pub(super) fn find_exactly(&self, path: &[Step]) -> Option<Range<usize>> {
        let mut node = &self.root;
        for step in path {
            node = &node.part(step)?.value;
        }
        Some(node.span.clone())
    }

    /// The place to point at for a path: the value, or its name where the value fills several lines; when the text
    /// has no such value, the innermost one around it that it has.
    pub(crate) fn find(&self, text: &str, path: &[Step]) -> Range<usize> {
        let mut node = &self.root;
        let mut name = None;
        for step in path {
            let Some(part) = node.part(step) else { break };
            name = part.name.as_ref().map(|(_, span)| span.clone());
            node = &part.value;
        }
        let value = text.get(node.span.clone()).unwrap_or("");
        match (value.find('\n'), name) {
            (None, _) => node.span.clone(),
            (Some(_), Some(name)) => name,
            (Some(line), None) => node.span.start..node.span.start + value[..line].trim_end().len(),
        }
    }

    /// Where the name of the value at a path stands.
    pub(crate) fn name(&self, path: &[Step]) -> Option<Range<usize>> {
        let mut node = &self.root;
        let mut name = None;
        for step in path {
            let part = node.part(step)?;
            name = part.name.as_ref().map(|(_, span)| span.clone());
            node = &part.value;
        }
        name
    }

    /// The value at a path as people write it: names and numbers of entries with dots between, `services.api.deadline`.
    /// Names may have dots of their own; an entry of a list that has a name goes by that too. `text` is what the outline
    /// is of.
    pub(super) fn follow(&self, text: &str, path: &str) -> Result<Range<usize>, Lost> {
        let mut node = &self.root;
        let mut rest = path.trim();
        loop {
            // The longest name that the rest begins with: of "a" and "a.b", "a.b.c" means the second.
            let next = node
                .parts
                .iter()
                .enumerate()
                .flat_map(|(i, part)| part.names(i, text).into_iter().map(move |name| (name, part)))
                .filter(|(name, _)| {
                    rest.strip_prefix(name.as_str())
                        .is_some_and(|after| after.is_empty() || after.starts_with('.'))
                })
                .max_by_key(|(name, _)| name.len());
            let Some((name, part)) = next else {
                let found =
                    path.trim().strip_suffix(rest).unwrap_or_default().trim_end_matches('.').to_owned();
                let step = rest.split('.').next().unwrap_or_default().to_owned();
                let names = node.parts.iter().enumerate().flat_map(|(i, part)| part.names(i, text)).collect();
                return Err(Lost { found, step, names });
            };
            node = &part.value;
            match rest[name.len()..].strip_prefix('.') {
                Some(after) => rest = after,
                None => return Ok(node.span.clone()),
            }
        }
    }

    /// Names that stand twice in one map, with the place of the second. A map keeps only one of them.
    pub(crate) fn twice(&self) -> &[(String, Range<usize>)] {
        &self.twice
    }
}

/// Where a written path leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lost {
    /// The part of it that exists.
    pub(super) found: String,
    /// What is not there.
    pub(super) step: String,
    /// What is.
    pub(super) names: Vec<String>,
}

impl Part {
    /// What a written path may call the part: its name; in a list the name that it gives itself, else its number.
    fn names(&self, index: usize, text: &str) -> Vec<String> {
        if let Some((name, _)) = &self.name {
            return vec![name.clone()];
        }
        let own = self.value.part(&Step::from("name")).and_then(|name| text.get(name.value.span.clone()));
        let own = own.and_then(|quoted| quoted.strip_prefix('"')?.strip_suffix('"'));
        own.map(str::to_owned).into_iter().chain([index.to_string()]).collect()
    }
}

impl Node {
    fn part(&self, step: &Step) -> Option<&Part> {
        match step {
            Step::Index(i) => self.parts.get(*i),
            Step::Name(name) => {
                self.parts.iter().find(|part| part.name.as_ref().is_some_and(|(found, _)| found == name))
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    /// A bracket, comma or colon.
    Mark(u8),
    /// The content of a string.
    Text(String),
    /// A name, a number, a character.
    Word,
}

struct Token {
    kind: Kind,
    span: Range<usize>,
}

/// Splits a text into tokens; whatever is not understood is a word.
fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &text[at..];
        let first = bytes[at];
        if first.is_ascii_whitespace() {
            at += 1;
        } else if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            at += block_comment(rest);
        } else if b"()[]{},:".contains(&first) {
            found.push(Token { kind: Kind::Mark(first), span: at..at + 1 });
            at += 1;
        } else if let Some((content, length)) = string(rest) {
            found.push(Token { kind: Kind::Text(content), span: at..at + length });
            at += length;
        } else {
            let end = rest
                .char_indices()
                .skip(1)
                .find(|(_, c)| c.is_whitespace() || "()[]{},:\"/".contains(*c))
                .map_or(rest.len(), |(i, _)| i);
            found.push(Token { kind: Kind::Word, span: at..at + end });
            at += end;
        }
    }
    found
}

/// Length of the block comment at the start of `rest`; they nest.
fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0usize, 0);
    loop {
        let here = &rest[at..];
        if here.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if here.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            match here.chars().next() {
                Some(c) => at += c.len_utf8(),
                None => return rest.len(),
            }
        }
    }
}

/// The string at the start of `rest`: its content and its length with quotes. Escapes stay as they are written: names
/// have none.
fn string(rest: &str) -> Option<(String, usize)> {
    let raw = rest.strip_prefix('r');
    let hashes = raw.map_or(0, |raw| raw.len() - raw.trim_start_matches('#').len());
    let start = if raw.is_some() { 1 + hashes } else { 0 };
    let body = rest.get(start..)?.strip_prefix('"')?;
    let end = if raw.is_some() {
        body.find(&format!("\"{}", "#".repeat(hashes))).unwrap_or(body.len())
    } else {
        let mut escaped = false;
        body.char_indices()
            .find(|&(_, c)| {
                let closes = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                closes
            })
            .map_or(body.len(), |(i, _)| i)
    };
    let length = (start + 1 + end + 1 + hashes).min(rest.len());
    Some((body[..end].to_owned(), length))
}

struct Reader<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    next: usize,
    twice: Vec<(String, Range<usize>)>,
}

impl Reader<'_> {
    fn mark(&self, ahead: usize) -> Option<u8> {
        match self.tokens.get(self.next + ahead)?.kind {
            Kind::Mark(mark) => Some(mark),
            _ => None,
        }
    }

    /// Reads a value: an optional name and what stands in brackets behind it, a string, a word.
    fn value(&mut self, depth: usize) -> Option<Node> {
        let token = self.tokens.get(self.next)?;
        let mut span = token.span.clone();
        let mut named = false;
        match &token.kind {
            Kind::Text(_) => {
                self.next += 1;
                return Some(Node { span, parts: Vec::new() });
            }
            Kind::Word => {
                named = true;
                self.next += 1;
            }
            Kind::Mark(_) => {}
        }
        let opened = match self.mark(0) {
            Some(b'(') => b'(',
            Some(mark @ (b'[' | b'{')) if !named => mark,
            _ if named => return Some(Node { span, parts: Vec::new() }),
            _ => return None,
        };
        if depth >= DEPTH_LIMIT {
            return None;
        }
        self.next += 1;
        let close = match opened {
            b'(' => b')',
            b'[' => b']',
            _ => b'}',
        };
        let mut parts: Vec<Part> = Vec::new();
        loop {
            match self.mark(0) {
                Some(mark) if mark == close => {
                    span.end = self.tokens[self.next].span.end;
                    self.next += 1;
                    break;
                }
                Some(b',') => self.next += 1,
                _ => {
                    let Some(part) = self.part(opened, depth) else {
                        span.end = self.text.len();
                        break;
                    };
                    if let (b'{', Some((name, at))) = (opened, &part.name)
                        && parts.iter().any(|p| p.name.as_ref().is_some_and(|(other, _)| other == name))
                    {
                        self.twice.push((name.clone(), at.clone()));
                    }
                    parts.push(part);
                }
            }
        }
        // `Some(x)` is x: a path does not say whether a field may be left out.
        if named && self.text.get(span.clone()).is_some_and(|t| t.starts_with("Some")) && parts.len() == 1 {
            return parts.pop().map(|part| part.value);
        }
        Some(Node { span, parts })
    }

    /// Reads an entry: a value, with a name in front of it in a map or a struct.
    fn part(&mut self, opened: u8, depth: usize) -> Option<Part> {
        let token = self.tokens.get(self.next)?;
        let named = match (&token.kind, opened) {
            (Kind::Text(content), b'{') => Some(content.clone()),
            (Kind::Word, b'(' | b'{') => self.text.get(token.span.clone()).map(str::to_owned),
            _ => None,
        };
        let name = match (named, self.mark(1)) {
            (Some(name), Some(b':')) => {
                let span = token.span.clone();
                self.next += 2;
                Some((name, span))
            }
            _ => None,
        };
        Some(Part { name, value: self.value(depth + 1)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r##"// a comment with ( and "
Incident(
    format: 1, /* a /* nested */ one ) */
    system: (
        clients: {
            "mobile": (share: "60%", config: RemoteConfig(half_life: "90s")),
            "a \" quote": (share: "40%"),
            "mobile": (share: "1%"),
        },
    ),
    raw: r#"text with " and ( in it"#,
    list: [Scale("api"), Some(RateLimit("5/s")), (1, "two"), (
        id: "three",
    )],
)"##;

    #[track_caller]
    fn check(path: Path, expected: &str) {
        assert_eq!(&TEXT[Outline::of(TEXT).find(TEXT, &path)], expected);
    }

    #[test]
    fn paths_lead_to_the_text_they_name() {
        check(place!["format"], "1");
        check(place!["system", "clients", "mobile", "share"], r#""60%""#);
        check(place!["system", "clients", "mobile", "config", "half_life"], r#""90s""#);
        check(place!["raw"], r##"r#"text with " and ( in it"#"##);
        check(place!["list", 0, 0], r#""api""#);
        check(place!["list", 1, 0], r#""5/s""#);
        check(place!["list", 2, 1], r#""two""#);
        check(place!["list", 3, "id"], r#""three""#);
    }

    #[test]
    fn a_value_of_several_lines_is_pointed_at_by_its_name_or_its_first_line() {
        check(place!["system"], "system");
        check(place!["system", "clients"], "clients");
        check(place!["list", 3], "(");
    }

    #[test]
    fn what_is_missing_is_pointed_at_where_it_would_stand() {
        check(
            place!["system", "clients", "mobile", "nothing"],
            r#"(share: "60%", config: RemoteConfig(half_life: "90s"))"#,
        );
        check(place!["list", 0, 7], r#"Scale("api")"#);
    }

    #[test]
    fn a_written_path_is_followed() {
        let text = r#"(a:{"b":(c:1),"b.c":(d:2)},e:[Call(name:"x.y",t:3),Read],f:Zipf(n:4))"#;
        let outline = Outline::of(text);
        let follow = |path: &str| outline.follow(text, path).map(|span| &text[span]);
        for (path, value) in [
            ("a.b", "(c:1)"),
            ("a.b.c.d", "2"),
            ("e.x.y.t", "3"),
            ("e.0.t", "3"),
            ("e.1", "Read"),
            ("f.n", "4"),
        ] {
            assert_eq!(follow(path), Ok(value), "{path}");
        }
        for (path, found, step) in [
            ("a.x.y", "a", "x"),
            ("", "", ""),
            ("e.7", "e", "7"),
            ("f.n.z", "f.n", "z"),
            ("a.", "a", ""),
            ("a.bc", "a", "bc"),
        ] {
            let lost = follow(path).expect_err("it leads nowhere");
            assert_eq!((lost.found.as_str(), lost.step.as_str()), (found, step), "{path}");
        }
    }

    #[test]
    fn a_name_that_stands_twice_is_found() {
        let outline = Outline::of(TEXT);
        let [(name, span)] = outline.twice() else { panic!("{:?}", outline.twice()) };
        assert_eq!((name.as_str(), &TEXT[span.clone()]), ("mobile", r#""mobile""#));
        assert_eq!(TEXT[..span.start].matches('\n').count(), 7);
    }

    #[test]
    fn no_text_is_too_broken_for_an_outline() {
        for text in ["", "(", ")", "((((", "\"", "r#\"", "/*", "a:", "a(b:", "{1:", "[,", "ä(ö: ü", "r", "r#"]
        {
            Outline::of(text).find(text, &place!["a", 1usize]);
        }
        Outline::of(&"(".repeat(100_000));
        Outline::of(&"[a(".repeat(100_000));
    }
}
