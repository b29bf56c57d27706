//! The one table of what can be typed. Reading a line, the help and the hints about mistakes are made from it.

use super::line::Typed;
use super::{Done, Place, Plain};
use crate::game::Mode;
use crate::incident::closest;
use crate::tui::actions::filled;
use crate::tui::pace::SPEEDS;
use crate::units::{SimSpan, SimTime, TimeOfDay};

/// A command.
pub(super) struct Verb {
    /// Its name, and others by which it can be called.
    pub(super) names: &'static [&'static str],
    /// What stands behind it.
    pub(super) usage: &'static str,
    /// Options that it takes.
    options: &'static [&'static str],
    /// What it does, in a sentence or two.
    pub(super) help: &'static str,
    /// A line to copy.
    pub(super) example: &'static str,
    /// Where it works.
    places: &'static [Place],
    run: fn(&mut Plain, &Typed) -> Done,
}

const ANYWHERE: &[Place] = &[Place::Menu, Place::Briefing, Place::Run, Place::Over];
const CHOSEN: &[Place] = &[Place::Briefing, Place::Run, Place::Over];
/// Instruments can be read afterwards too.
const PLAYED: &[Place] = &[Place::Run, Place::Over];
const RUN: &[Place] = &[Place::Run];
const OVER: &[Place] = &[Place::Over];

const fn verb(
    names: &'static [&'static str],
    usage: &'static str,
    options: &'static [&'static str],
    places: &'static [Place],
    run: fn(&mut Plain, &Typed) -> Done,
    help: &'static str,
    example: &'static str,
) -> Verb {
    Verb { names, usage, options, help, example, places, run }
}

const PREDICTION: &[&str] = &["expect", "sure", "within"];

/// What is typed here for what is an action on screens, by the action's title; texts of incidents name actions.
const FOR_ACTIONS: &[(&str, &str)] = &[
    ("accept", "judge"),
    ("acknowledge", "ack"),
    ("answer", "reply"),
    ("expand", "show"),
    ("filter", "logs"),
    ("finding", "finding"),
    ("mitigate", "levers"),
    ("next dashboard", "panels"),
    ("open", "trace"),
    ("palette", "end"),
    ("pane 2", "logs"),
    ("pane 3", "traces"),
    ("pane 5", "changes"),
    ("pane 6", "runbook"),
    ("pane 7", "evidence"),
    ("pause", "go"),
    ("pin", "pin"),
    ("reject", "judge"),
    ("severity", "severity"),
    ("stage", "stage"),
    ("status update", "update"),
];

/// A text of an incident with commands where it names actions.
pub(super) fn with_commands(text: &str) -> String {
    filled(text, |title| FOR_ACTIONS.iter().find(|known| known.0 == title).map(|known| known.1))
}

/// Everything that can be typed, in the order of the help.
#[rustfmt::skip]
pub(super) static VERBS: &[Verb] = &[
    verb(&["list"], "", &[], &[Place::Menu], |p, _| { p.list(); Ok(()) },
        "Lists the incidents.", "list"),
    verb(&["play"], "NUMBER or NAME [guided, live or lab]", &[], &[Place::Menu], play,
        "Chooses an incident and reads its briefing. Guided: stage by stage, with questions and hints; start there. Live: nobody helps. Lab: free play, no marks.", "play 1 guided"),
    verb(&["briefing"], "", &[], CHOSEN, |p, _| { p.briefing(); Ok(()) },
        "Reads the briefing again.", "briefing"),
    verb(&["begin", "start"], "", &[], &[Place::Briefing], |p, _| p.begin(),
        "Starts the clock shortly before the page.", "begin"),

    verb(&["status", "s"], "", &[], PLAYED, Plain::status,
        "Says the time, what users feel, the error budget, the stage and who waits for you.", "status"),
    verb(&["go"], "LENGTH or TIME OF DAY", &[], RUN, go,
        "Lets the clock go on for so long, or until then. It stops where the stage's questions wait.", "go 5m"),
    verb(&["next", "n"], "", &[], RUN, |p, _| p.go(None),
        "Lets the clock go on until there is news, or up to the last stage's questions.", "next"),
    verb(&["step"], "", &[], RUN, |p, _| { let now = p.view()?.now(); p.go(Some(now + SimSpan::from_secs(1))) },
        "Lets the clock go on by one second.", "step"),
    verb(&["run"], "[SPEED]", &[], RUN, run,
        "Lets the clock run beside the wall clock, 1, 2, 4, 8, 15, 30 or 60 times as fast; an empty line or `pause` stops it. Only at a terminal.", "run 8"),
    verb(&["pause"], "", &[], RUN, |p, _| { p.pause(); Ok(()) },
        "Stops a clock that runs.", "pause"),

    verb(&["panels", "dashboards"], "[DASHBOARD]", &["last"], PLAYED, Plain::panels,
        "Reads the charts, a sentence each; --last sets how far they look back.", "panels 1 --last 5m"),
    verb(&["show"], "PANEL, SERIES or EXPRESSION", &["last"], PLAYED, Plain::show,
        "Reads one chart in more detail. A few words of its name are enough.", "show cache.hit_ratio --last 20m"),
    verb(&["query"], "EXPRESSION", &["last"], PLAYED, Plain::query,
        "Answers an expression over series, for the chart that nobody has built: + - * / between names, ratio, sum, max, min, avg, the same with _over and a length of time, rate, p99; * stands for what differs, commas put lines side by side. `show` takes it too.", "query ratio(db.timeouts, db.queries) --last 5m"),
    verb(&["series"], "[WORDS]", &[], PLAYED, Plain::series,
        "Lists everything that is recorded, with its value now.", "series db"),
    verb(&["logs"], "[WORDS]", &["stream", "last"], PLAYED, Plain::logs,
        "Reads the newest log lines that have all the words; --last sets how many.", "logs timed out --stream query_timeout --last 5"),
    verb(&["traces"], "[newest, slowest, failed or attempts] [WORDS]", &["last"], PLAYED, Plain::traces,
        "Lists traced operations.", "traces slowest mobile"),
    verb(&["trace"], "OPERATION", &[], PLAYED, Plain::trace,
        "Reads one operation span by span.", "trace 7f3a"),
    verb(&["topology"], "", &[], PLAYED, Plain::topology,
        "Reads the parts of the system and what flows between them now.", "topology"),
    verb(&["changes"], "[NUMBER]", &[], PLAYED, Plain::changes,
        "Lists what others have changed, or reads one change with its difference.", "changes 3"),
    verb(&["runbook"], "[NUMBER or WORDS]", &[], PLAYED, Plain::runbook,
        "Lists the runbook's sections, or reads one.", "runbook 2"),
    verb(&["feed", "messages"], "", &["last"], PLAYED, Plain::feed,
        "Reads again what was said and done, with the numbers to answer by.", "feed --last 5"),

    verb(&["ack", "acknowledge"], "", &[], RUN, Plain::acknowledge,
        "Says that you are on it.", "ack"),
    verb(&["severity"], "SEV1 to SEV4", &[], RUN, Plain::severity,
        "Declares how bad it is.", "severity sev2"),
    verb(&["update"], "WORDS", &["failing"], RUN, Plain::update,
        "Tells everybody what users feel and what is being done; --failing states the share of operations that fail.", "update A third of the requests fail; we are limiting traffic. Next update in 10 minutes. --failing 35%"),
    verb(&["levers", "mitigations"], "[LEVER]", &[], RUN, Plain::levers,
        "Lists what can be pulled, or says what one lever changes, takes and how to undo it.", "levers rate-limit"),
    verb(&["do"], "LEVER [VALUE] [RATE]", &["expect", "sure", "within", "yes"], RUN, Plain::pull,
        "Pulls a lever. --expect says what you think failing operations, or another series, will be in five minutes: much higher, higher, about the same, lower, back to normal, or a number; --sure is 50 to 100.", "do rate-limit 4500 --expect failing lower --sure 70"),
    verb(&["accept"], "[NUMBER]", PREDICTION, RUN, Plain::accept,
        "Does what somebody proposed; --expect as with `do`.", "accept 7 --expect about the same --sure 60"),
    verb(&["decline"], "[NUMBER]", PREDICTION, RUN, Plain::decline,
        "Leaves what somebody proposed.", "decline 7"),
    verb(&["reply"], "[MESSAGE] REPLY", &[], RUN, Plain::reply,
        "Answers a message with one of its replies.", "reply 5 2"),
    verb(&["stage"], "", &[], RUN, Plain::stage,
        "Reads what the stage is about, its questions and the hints so far.", "stage"),
    verb(&["answer"], "[QUESTION] ANSWER", &["sure"], RUN, Plain::answer,
        "Answers a question of the stage: with the number of an answer, or with a direction or value.", "answer 1 2 --sure 80"),
    verb(&["hint"], "", &[], RUN, Plain::hint,
        "Asks for the stage's next hint. It lowers no mark but the independence line.", "hint"),

    verb(&["pin"], "SERIES, log N, trace N, change N, runbook N or feed N", &["note"], RUN, Plain::pin,
        "Keeps what it shows now as evidence.", "pin cache.hit_ratio --note fell with the failover"),
    verb(&["evidence"], "", &[], PLAYED, Plain::evidence,
        "Lists what is pinned.", "evidence"),
    verb(&["hypotheses"], "", &[], PLAYED, Plain::hypotheses,
        "Lists the explanations and what you think of them.", "hypotheses"),
    verb(&["judge"], "NUMBER holds, rejected or open", &["evidence"], PLAYED, Plain::judge,
        "Says whether an explanation holds, and what speaks for that.", "judge 2 rejected --evidence 1 3"),
    verb(&["finding"], "", &["summary", "trigger", "amplifiers", "holds", "contributing", "bottleneck", "evidence"], PLAYED, Plain::finding,
        "Reads your finding and the parts it can name; options write it.", "finding --trigger 3 --amplifiers 1 4 --summary Retries keep it busy."),
    verb(&["export"], "", &[], PLAYED, Plain::export,
        "Writes the finding as JSON into a folder beside the kept runs.", "export"),
    verb(&["end"], "", &[], RUN, Plain::end,
        "Ends the exercise before its clock does.", "end"),

    verb(&["debrief"], "[SECTION or all]", &[], OVER, Plain::debrief,
        "Lists the sections of the debrief, or reads one.", "debrief 2"),
    verb(&["reflect"], "[1 or 2 and your words]", &[], OVER, Plain::reflect,
        "Reads the two questions that come before what others thought, or answers one.", "reflect 1 I thought that the deploy had done it."),
    verb(&["marks"], "[NAME]", &[], OVER, Plain::marks,
        "Reads the marks, or why one was given.", "marks diagnosis"),
    verb(&["follow-ups"], "[NUMBERS]", &[], OVER, Plain::follow_ups,
        "Lists the work that could follow, or chooses up to three.", "follow-ups 1 3"),

    verb(&["menu"], "", &[], CHOSEN, |p, _| { p.menu(); Ok(()) },
        "Goes back to the list of incidents; the run so far is kept.", "menu"),
    verb(&["help", "?"], "[COMMAND or all]", &[], ANYWHERE, help,
        "Lists what can be typed now, or says more about one command.", "help do"),
    verb(&["quit", "exit", "q"], "", &[], ANYWHERE, |p, _| { p.quit(); Ok(()) },
        "Leaves; the run so far is kept.", "quit"),
];

fn find(name: &str) -> Option<&'static Verb> {
    VERBS.iter().find(|v| v.names.contains(&name))
}

/// What is not a command, and what was meant.
fn unknown(name: &str) -> String {
    let hint = match closest(name, VERBS.iter().flat_map(|v| v.names).copied()) {
        Some(meant) => format!("Did you mean `{meant}`?"),
        None => "`help` lists them.".to_owned(),
    };
    format!("Not understood: `{name}` is no command. {hint}")
}

/// Answers a line that begins with a number: at the list of incidents it chooses one.
fn number(plain: &mut Plain, typed: &Typed) -> Done {
    let what = match plain.place() {
        Place::Menu => {
            let words = std::iter::once(typed.verb.clone()).chain(typed.words.clone()).collect();
            return play(plain, &Typed { verb: "play".to_owned(), words, options: Vec::new() });
        }
        Place::Briefing => "`begin` starts the clock, and `menu` goes back to the numbered incidents.",
        Place::Run => {
            "Say what it is the number of: `answer 1 2`, `reply 5 2`, `accept 7`, `do 3 20`; `stage` and `feed` read what is \
             asked."
        }
        Place::Over => "`debrief 2` reads that section, `follow-ups 1 3` chooses.",
    };
    Err(format!("Not understood: `{}` is a number and no command. {what}", typed.verb))
}

/// Carries out a line that was typed.
pub(super) fn carry_out(plain: &mut Plain, typed: &Typed) -> Done {
    let Some(verb) = find(&typed.verb) else {
        if typed.verb.parse::<usize>().is_ok() {
            return number(plain, typed);
        }
        return Err(unknown(&typed.verb));
    };
    let name = verb.names[0];
    if !verb.places.contains(&plain.place()) {
        let when = match verb.places {
            [Place::Menu] => "at the list of incidents; `menu` goes there",
            [Place::Briefing] => "before the clock has started",
            [Place::Over] => "once the exercise is over; `end` ends it",
            [Place::Run] => "while an incident runs",
            [Place::Run, ..] => "once an incident has begun; `begin` starts its clock",
            _ => "once an incident is chosen; `play` chooses one",
        };
        return Err(format!("Not now: `{name}` works {when}."));
    }
    if let Some((option, _)) = typed.options.iter().find(|o| !verb.options.contains(&o.0.as_str())) {
        let known: Vec<String> = verb.options.iter().map(|o| format!("--{o}")).collect();
        let hint = match closest(option, verb.options.iter().copied()) {
            Some(meant) => format!("Did you mean --{meant}?"),
            None if known.is_empty() => "It takes no options.".to_owned(),
            None => format!("It takes {}.", known.join(", ")),
        };
        return Err(format!("Not understood: `{name}` has no option --{option}. {hint}"));
    }
    if verb.usage.is_empty() && !typed.words.is_empty() {
        return Err(format!("Not understood: `{name}` takes nothing behind it, not `{}`.", typed.text()));
    }
    (verb.run)(plain, typed)
}

fn play(plain: &mut Plain, typed: &Typed) -> Done {
    let words = typed.names();
    let Some(name) = words.first() else {
        return Err("Which incident? Give its number or its name; `list` shows them.".to_owned());
    };
    let ids: Vec<&str> = plain.library.iter().map(|e| e.incident.file().id.as_str()).collect();
    let number = name.parse::<usize>().ok().and_then(|n| n.checked_sub(1)).filter(|i| *i < ids.len());
    let Some(entry) = number.or_else(|| ids.iter().position(|id| id == name)) else {
        let hint = match closest(name, ids) {
            Some(meant) => format!("Did you mean `{meant}`?"),
            None => "`list` shows them.".to_owned(),
        };
        return Err(format!("No incident is called `{name}`. {hint}"));
    };
    let mode = match words.get(1).map(|w| w.to_lowercase()).as_deref() {
        None | Some("guided") => Mode::Guided,
        Some("live") => Mode::Live,
        Some("lab") => Mode::Lab,
        Some(other) => return Err(format!("An incident is played guided, live or lab, not `{other}`.")),
    };
    plain.prepare(entry, mode);
    Ok(())
}

fn go(plain: &mut Plain, typed: &Typed) -> Done {
    let text = typed.text();
    let view = plain.view()?;
    let wanted = "a length of time such as 5m or 90s, or a time of day such as 14:20";
    let until = if text.contains(':') {
        let at: TimeOfDay = text.parse().map_err(|_| format!("`{text}` is not {wanted}."))?;
        let ahead = (at.0 + 86_400 - view.clock().0) % 86_400;
        if ahead == 0 || ahead > 43_200 {
            return Err(format!("It is {}; {at} has passed.", view.clock()));
        }
        SimTime(view.now().0) + SimSpan::from_secs(u64::from(ahead))
    } else {
        let span: SimSpan = text.parse().map_err(|_| format!("`{text}` is not {wanted}."))?;
        if span < SimSpan::from_secs(1) {
            return Err("The clock goes on by at least a second.".to_owned());
        }
        view.now() + span
    };
    plain.go(Some(until))
}

/// The speeds at which the clock can run, as a text lists them.
pub(super) fn speeds() -> String {
    let all: Vec<String> = SPEEDS.iter().map(ToString::to_string).collect();
    all.join(", ")
}

fn run(plain: &mut Plain, typed: &Typed) -> Done {
    if !plain.person {
        return Err("In a pipe the clock goes only by `go`, `next` and `step`.".to_owned());
    }
    let speed = match typed.words.first() {
        None => None,
        Some(text) => match text.trim_end_matches(['x', '×']).parse::<u32>() {
            Ok(speed @ 1..=60) => Some(speed),
            _ => return Err(format!("A speed is one of {}, not `{text}`.", speeds())),
        },
    };
    plain.run_beside(speed)
}

fn help(plain: &mut Plain, typed: &Typed) -> Done {
    let text = typed.text().to_lowercase();
    if text.is_empty() || text == "all" {
        let place = plain.place();
        let mut lines: Vec<String> = Vec::new();
        for verb in VERBS.iter().filter(|v| text == "all" || v.places.contains(&place)) {
            lines.push(format!("{}: {}", head(verb), verb.help));
        }
        lines.push(
            "`help` with a command says more about it; `help all` lists those for other moments too."
                .to_owned(),
        );
        lines.iter().for_each(|l| plain.say(l));
        return Ok(());
    }
    let Some(verb) = find(&text) else {
        return Err(unknown(&text));
    };
    plain.say(&format!("{}: {}", head(verb), verb.help));
    if verb.names.len() > 1 {
        plain.say(&format!("Also called: {}.", verb.names[1..].join(", ")));
    }
    if !verb.options.is_empty() {
        let options: Vec<String> = verb.options.iter().map(|o| format!("--{o}")).collect();
        plain.say(&format!("Options: {}.", options.join(", ")));
    }
    plain.say(&format!("For example: {}", verb.example));
    Ok(())
}

fn head(verb: &Verb) -> String {
    if verb.usage.is_empty() { verb.names[0].to_owned() } else { format!("{} {}", verb.names[0], verb.usage) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_explained_and_its_example_is_one_of_its_lines() {
        for (i, verb) in VERBS.iter().enumerate() {
            let name = verb.names[0];
            assert!(verb.help.ends_with('.'), "{name}");
            let typed = Typed::read(verb.example).expect("an example");
            assert!(verb.names.contains(&typed.verb.as_str()), "{name}: {}", verb.example);
            for (option, _) in &typed.options {
                assert!(verb.options.contains(&option.as_str()), "{name}: --{option}");
            }
            assert!(!verb.usage.is_empty() || typed.words.is_empty(), "{name}");
            for other in &VERBS[i + 1..] {
                assert!(!other.names.iter().any(|n| verb.names.contains(n)), "{name} twice");
            }
        }
    }

    #[test]
    fn texts_of_shipped_incidents_name_commands_here() {
        for shipped in crate::incident::library::shipped() {
            assert!(!with_commands(&shipped.text).contains("{key:"), "{}", shipped.id);
        }
        for (_, command) in FOR_ACTIONS {
            assert!(VERBS.iter().any(|verb| verb.names.contains(command)), "{command}");
        }
    }
}
