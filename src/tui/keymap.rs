//! The player's own keys: a file that says which action has which keys, where it differs from the table.
//!
//! ```ron
//! {
//!     "console": { "pause": ["Space", "F5"], "one-second": ["."] },
//!     "everywhere": { "quit": ["Ctrl-q"] },
//! }
//! ```

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::OnceLock;

use super::actions::{ACTIONS, Action, Context, Id, Key};
use crate::incident::{Diagnostic, Outline, Severity, Step, closest, unreadable};

/// Keys of every action, in the order of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyMap(Vec<Vec<&'static str>>);

/// The keys in force: said once, at the start, by whoever read the player's file.
static IN_FORCE: OnceLock<KeyMap> = OnceLock::new();

/// What must have a key, since it leads to everything else or out of it.
const NEEDED: [Id; 4] = [Id::Quit, Id::Back, Id::Help, Id::Palette];

/// The keys of an action that are in force.
pub(super) fn keys_of(action: &Action) -> &'static [&'static str] {
    let own = IN_FORCE.get().and_then(|map| map.0.get(place(action)?));
    own.map_or(action.usual, |keys| keys.as_slice())
}

/// The action's place in the table.
fn place(action: &Action) -> Option<usize> {
    ACTIONS.iter().position(|a| (a.context, a.id) == (action.context, action.id))
}

/// The name of an action in the file: its title as one word.
pub(crate) fn name(action: &Action) -> String {
    match (action.id, action.title.split(' ').next()) {
        // The help tells of all digits where it tells of the first.
        (Id::Pane(digit), Some(word)) => format!("{word}-{digit}"),
        _ => action.title.replace(' ', "-"),
    }
}

/// What the player wrote about one action.
struct Own {
    place: usize,
    keys: Vec<String>,
    /// Where each of the keys stands.
    spans: Vec<Range<usize>>,
}

impl KeyMap {
    /// The keys of the table.
    pub(crate) fn usual() -> KeyMap {
        KeyMap(ACTIONS.iter().map(|a| a.usual.to_vec()).collect())
    }

    /// Reads a player's file; what it does not mention keeps the keys of the table.
    ///
    /// # Errors
    /// Everything that is wrong in it, with its place.
    pub(crate) fn read(label: &str, text: &str) -> Result<KeyMap, Vec<Diagnostic>> {
        let file: BTreeMap<String, BTreeMap<String, Vec<String>>> =
            ron::from_str(text).map_err(|error| vec![unreadable(label, text, &error)])?;
        let outline = Outline::of(text);
        let mut wrong: Vec<Diagnostic> = Vec::new();
        let mut say = |span: Range<usize>, message: String, help: Option<String>| {
            wrong.push(Diagnostic::new(Severity::Error, label, text, span, message, help));
        };
        for (name, span) in outline.twice() {
            say(span.clone(), format!("`{name}` stands twice"), Some("keep one of them".to_owned()));
        }
        let mut own = Vec::new();
        for (context_name, actions) in &file {
            let Some(context) = Context::ALL.into_iter().find(|c| c.name() == context_name) else {
                let names = Context::ALL.map(Context::name);
                let span = outline.name(&[Step::from(context_name)]).unwrap_or(0..0);
                say(
                    span,
                    format!("`{context_name}` is no place where keys work"),
                    meant(context_name, &names),
                );
                continue;
            };
            let here: Vec<(usize, String)> = ACTIONS
                .iter()
                .enumerate()
                .filter(|(_, a)| a.context == context)
                .map(|(i, a)| (i, name(a)))
                .collect();
            for (action_name, keys) in actions {
                let path = [Step::from(context_name), Step::from(action_name)];
                let Some((place, _)) = here.iter().find(|(_, n)| n == action_name) else {
                    let names: Vec<&str> = here.iter().map(|h| h.1.as_str()).collect();
                    let span = outline.name(&path).unwrap_or(0..0);
                    say(
                        span,
                        format!("`{action_name}` is no action of {context_name}"),
                        meant(action_name, &names),
                    );
                    continue;
                };
                let spans: Vec<Range<usize>> = (0..keys.len())
                    .map(|i| outline.find(text, &[path[0].clone(), path[1].clone(), Step::Index(i)]))
                    .collect();
                for (key, span) in keys.iter().zip(&spans) {
                    if !readable(key) {
                        let help = "a key is written a, A, Space, Enter, Esc, Tab, BackTab, Up, PageDown, F1, Ctrl-p or \
                                    Alt-x; \"g g\" is one after the other";
                        say(span.clone(), format!("`{key}` is no key"), Some(help.to_owned()));
                    }
                }
                let keys = keys.iter().map(|k| k.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
                own.push(Own { place: *place, keys, spans });
            }
        }
        let mut all: Vec<Vec<String>> =
            ACTIONS.iter().map(|a| a.usual.iter().map(|k| (*k).to_owned()).collect()).collect();
        for o in &own {
            all[o.place].clone_from(&o.keys);
        }
        for o in &own {
            let action = &ACTIONS[o.place];
            for (n, (key, span)) in o.keys.iter().zip(&o.spans).enumerate() {
                // What is no key has been told, and so has one that stands there before.
                if !readable(key) || o.keys[..n].contains(key) {
                    continue;
                }
                let (mut same, mut alike) = (Vec::new(), Vec::new());
                for (i, other) in ACTIONS.iter().enumerate().filter(|(_, a)| a.context == action.context) {
                    // Of two of the player's own bindings the later one is told about.
                    let told = own.iter().any(|p| p.place == i) && i > o.place;
                    if i == o.place || told {
                        continue;
                    }
                    for theirs in all[i].iter().filter(|t| readable(t) && clash(t, key)) {
                        if theirs == key { same.push(other) } else { alike.push((other, theirs)) }
                    }
                }
                let place = action.context.name();
                let names = |actions: &[&Action]| {
                    let all: Vec<String> =
                        actions.iter().map(|a| format!("{{\"{}\": […]}}", name(a))).collect();
                    format!("give \"{place}\": {} another key too", all.join(" and "))
                };
                if !same.is_empty() {
                    let titles: Vec<String> = same.iter().map(|a| format!("\"{}\"", a.title)).collect();
                    let message =
                        format!("`{key}` would mean \"{}\" and {}", action.title, titles.join(" and "));
                    say(span.clone(), message, Some(names(&same)));
                }
                for (other, theirs) in alike {
                    let message = format!(
                        "`{key}` for \"{}\" and `{theirs}` for \"{}\" begin alike, so one is never reached",
                        action.title, other.title
                    );
                    say(span.clone(), message, Some(names(&[other])));
                }
            }
            if NEEDED.contains(&action.id) && action.context == Context::Global && o.keys.is_empty() {
                let context = Step::from(action.context.name());
                let span = outline.name(&[context, Step::from(name(action).as_str())]).unwrap_or(0..0);
                let help = "without it one could not get on, or not get out".to_owned();
                say(span, format!("\"{}\" needs a key", action.title), Some(help));
            }
        }
        if !wrong.is_empty() {
            wrong.sort_by_key(|d| (d.line, d.column));
            return Err(wrong);
        }
        // They last as long as the program does.
        let keep = |keys: Vec<String>| keys.into_iter().map(|k| &*Box::leak(k.into_boxed_str())).collect();
        Ok(KeyMap(all.into_iter().map(keep).collect()))
    }

    /// Puts the map in force, for as long as the program runs.
    pub(crate) fn put_in_force(self) {
        // Only the first counts; a program reads its settings once.
        let _ = IN_FORCE.set(self);
    }

    /// The map as a file that can be changed.
    pub(crate) fn file(&self, place: &str) -> String {
        let mut text = format!(
            "// The keys of pagerdrill. It reads them from {place}; what stands there may be left\n\
             // out, and then has its usual keys. Keys are written a, A, Space, Enter, Esc, Tab, BackTab, Up, PageDown, F1,\n\
             // Ctrl-p, Alt-x; \"g g\" is one after the other. An action without keys, [], is still found in the palette.\n{{\n"
        );
        for context in Context::ALL {
            let _ = writeln!(text, "    // {}\n    \"{}\": {{", context.title(), context.name());
            for (action, keys) in ACTIONS.iter().zip(&self.0).filter(|(a, _)| a.context == context) {
                let keys: Vec<String> = keys.iter().map(|k| format!("{k:?}")).collect();
                let help =
                    if action.help.is_empty() { String::new() } else { format!(" // {}", action.help) };
                let _ = writeln!(text, "        \"{}\": [{}],{help}", name(action), keys.join(", "));
            }
            text.push_str("    },\n");
        }
        text.push_str("}\n");
        text
    }

    /// All keys as tables of Markdown, for the README.
    pub(crate) fn markdown(&self) -> String {
        let mut text = String::new();
        for context in Context::ALL {
            let _ = writeln!(text, "\n**{}**\n\n| keys | |\n|---|---|", context.title());
            for (action, keys) in ACTIONS.iter().zip(&self.0).filter(|(a, _)| a.context == context) {
                // The digits stand together in the entry of the first.
                if action.help.is_empty() {
                    continue;
                }
                let keys: Vec<String> = keys.iter().map(|k| format!("`{}`", k.replace('|', "\\|"))).collect();
                let keys = if keys.is_empty() { "palette".to_owned() } else { keys.join(" ") };
                let _ = writeln!(text, "| {keys} | {} |", action.help);
            }
        }
        text
    }
}

/// The keys in force, as a file.
pub(crate) fn file_in_force(place: &str) -> String {
    IN_FORCE.get().cloned().unwrap_or_else(KeyMap::usual).file(place)
}

/// Whether a text is one key, or several to be pressed one after the other.
fn readable(keys: &str) -> bool {
    !keys.trim().is_empty() && keys.split_whitespace().all(|key| Key::read(key).is_some())
}

/// Whether two bindings of one place are the same, or one begins the other.
fn clash(a: &str, b: &str) -> bool {
    let keys = |text: &str| text.split(' ').map(Key::read).collect::<Vec<_>>();
    let (a, b) = (keys(a), keys(b));
    a.iter().zip(&b).all(|(a, b)| a == b)
}

fn meant(name: &str, known: &[&str]) -> Option<String> {
    Some(match closest(name, known.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("there is {}", known.join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_changes_what_it_mentions_and_nothing_else() {
        let map = KeyMap::read("keys.ron", r#"{ "console": { "pause": ["F5", "Alt-p"], "answer": [] } }"#)
            .expect("a good file");
        for (action, keys) in ACTIONS.iter().zip(&map.0) {
            match (action.context, action.id) {
                (Context::Console, Id::Pause) => assert_eq!(keys[..], ["F5", "Alt-p"]),
                (Context::Console, Id::Answer) => assert!(keys.is_empty()),
                _ => assert_eq!(keys, action.usual),
            }
        }
    }

    #[test]
    fn the_file_that_is_written_is_one_that_can_be_read() {
        let usual = KeyMap::usual();
        let text = usual.file("keys.ron");
        assert_eq!(KeyMap::read("keys.ron", &text), Ok(usual), "{text}");
    }

    #[test]
    fn mistakes_are_named_with_line_and_column() {
        for (text, wanted) in [
            (
                "{\n  \"consle\": {},\n}",
                "keys.ron:2:3: error: `consle` is no place where keys work (did you mean `console`?)",
            ),
            (
                "{\n  \"console\": { \"puase\": [\"x\"] },\n}",
                "keys.ron:2:16: error: `puase` is no action of console (did you mean `pause`?)",
            ),
            (
                "{ \"console\": { \"pause\": [\"Spcae\"] } }",
                "keys.ron:1:26: error: `Spcae` is no key (a key is written",
            ),
            (
                "{ \"console\": { \"pause\": [\"w\"] } }",
                "keys.ron:1:26: error: `w` would mean \"pause\" and \"wait for news\" (give \"console\": {\"wait-for-news\": […]} \
                 another key too)",
            ),
            ("{ \"moving\": { \"up\": [\"g\"] } }", "begin alike, so one is never reached"),
            ("{ \"everywhere\": { \"quit\": [] } }", "\"quit\" needs a key"),
            ("{ \"console\": { \"pause\": \"w\" } }", "keys.ron:1:"),
            ("{ \"console\": {", "keys.ron:1:"),
            ("{ \"console\": {}, \"console\": {} }", "`console` stands twice"),
        ] {
            let wrong = KeyMap::read("keys.ron", text).expect_err(text);
            let said: Vec<String> = wrong.iter().map(ToString::to_string).collect();
            assert!(said.iter().any(|s| s.contains(wanted)), "{text}: {said:?}");
        }
    }

    #[test]
    fn a_key_that_clashes_is_told_once_wherever_it_stands() {
        for (text, wanted) in [
            (r#"{ "console": { "pause": ["z"], "mitigate": ["z"] } }"#, 1),
            (r#"{ "console": { "pause": ["w", "w"] } }"#, 1),
            (r#"{ "console": { "pause": ["z"], "mitigate": ["z"], "answer": ["z"] } }"#, 2),
            (r#"{ "console": { "pause": ["Spcae"], "mitigate": ["foo"] } }"#, 2),
            (r#"{ "console": { "pause": ["w"], "mitigate": ["w"] } }"#, 2),
        ] {
            let wrong = KeyMap::read("keys.ron", text).expect_err("a clash");
            assert_eq!(wrong.len(), wanted, "{text}: {wrong:?}");
        }
        let text = r#"{ "console": { "pause": ["w"], "mitigate": ["w"] } }"#;
        let wrong = KeyMap::read("keys.ron", text).expect_err("a clash");
        let said = wrong[1].to_string();
        assert!(said.contains("`w` would mean \"mitigate\" and \"pause\" and \"wait for news\""), "{said}");
    }

    #[test]
    fn names_of_actions_are_unique_in_their_place() {
        for (i, a) in ACTIONS.iter().enumerate() {
            for b in ACTIONS[i + 1..].iter().filter(|b| b.context == a.context) {
                assert_ne!(name(a), name(b), "{:?}", a.context);
            }
        }
    }
}
