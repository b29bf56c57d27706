//! The one table of what can be done by key, palette and mouse.
//!
//! Key handling, the help overlay, the palette, the footer and the boxes that the mouse can hit are all made from
//! [`ACTIONS`]; there is no second list to forget. An action says itself whether it can be done now and why not.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use tui_input::InputRequest;

/// What can be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Id {
    /// Shows the help.
    Help,
    /// Shows the palette.
    Palette,
    /// Closes the top layer.
    Back,
    /// Leaves the screen, or the game.
    Quit,
    /// Paints the screen anew.
    Redraw,
    /// Hands the terminal to the shell.
    Suspend,
    /// The next theme.
    NextTheme,
    /// The next way of drawing charts.
    NextGlyphs,
    /// One up.
    Up,
    /// One down.
    Down,
    /// One to the left.
    Left,
    /// One to the right.
    Right,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// To the first.
    Top,
    /// To the last.
    Bottom,
    /// Opens what is selected.
    Open,
    /// Stops or goes on.
    Pause,
    /// One second.
    Step,
    /// Slower.
    Slower,
    /// Faster.
    Faster,
    /// As fast as possible until something is said.
    ToNews,
    /// A pane by its digit, 1 to 9.
    Pane(u8),
    /// The next pane.
    NextPane,
    /// The one before.
    PreviousPane,
    /// Full size and back.
    Expand,
    /// The list of levers.
    Mitigate,
    /// What the stage asks.
    Stage,
    /// Answers what somebody asked.
    Answer,
    /// Says that somebody is on it.
    Acknowledge,
    /// Declares how bad it is.
    Severity,
    /// Writes a status update.
    StatusUpdate,
    /// Asks for a hint.
    Hint,
    /// Opens the finding.
    Finding,
    /// Keeps what is looked at as evidence.
    Pin,
    /// Puts what is looked at on the clipboard.
    Copy,
    /// Filters the pane.
    Filter,
    /// Next match.
    NextMatch,
    /// Match before.
    PreviousMatch,
    /// A shorter window of time.
    ZoomIn,
    /// A longer window of time.
    ZoomOut,
    /// The window before.
    Earlier,
    /// The window after.
    Later,
    /// A logarithmic axis and back.
    LogAxis,
    /// The comparison with an earlier window.
    Compare,
    /// Each line of a chart by itself.
    Lines,
    /// Takes a panel of the player's own away.
    RemovePanel,
    /// A second pane beside the first.
    Split,
    /// Writes a query, which adds a panel.
    Query,
    /// Next dashboard.
    NextDashboard,
    /// Dashboard before.
    PreviousDashboard,
    /// Ends the exercise before its clock does.
    End,
    /// Opens the debrief of a run that is over.
    Debrief,
    /// The next field of a dialog.
    NextField,
    /// The field before.
    PreviousField,
    /// Does what the dialog says.
    Submit,
    /// Does it without a prediction.
    SubmitPlain,
    /// Chooses an option or takes the choice back.
    Toggle,
    /// Does what the dialog says from any of its fields.
    Save,
    /// Accepts an explanation.
    Accept,
    /// Rejects an explanation.
    Reject,
    /// Leaves an explanation open again.
    Reopen,
    /// Writes the finding into a file.
    Export,
    /// The next row of the lab.
    NextRow,
    /// The row before.
    PreviousRow,
}

/// Where a key means something. A layer names its contexts, the most particular first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Context {
    /// Everywhere.
    Global,
    /// Wherever there are rows, a grid or a text to move in.
    Move,
    /// The list of incidents.
    Library,
    /// The briefing.
    Briefing,
    /// The console, whichever pane has the keys.
    Console,
    /// The dashboards.
    Charts,
    /// A pane that can be filtered.
    Search,
    /// What a stage asks.
    Stage,
    /// A form.
    Dialog,
    /// The notebook.
    Notebook,
    /// The debrief.
    Debrief,
    /// A film of a run.
    Film,
}

impl Context {
    /// All of them, in the order of the help.
    pub(crate) const ALL: [Context; 12] = [
        Context::Console,
        Context::Charts,
        Context::Search,
        Context::Notebook,
        Context::Move,
        Context::Stage,
        Context::Dialog,
        Context::Library,
        Context::Briefing,
        Context::Debrief,
        Context::Film,
        Context::Global,
    ];

    /// Name in a file of keys.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Context::Global => "everywhere",
            Context::Move => "moving",
            Context::Library => "incidents",
            Context::Briefing => "briefing",
            Context::Console => "console",
            Context::Charts => "dashboards",
            Context::Search => "searching",
            Context::Stage => "stage",
            Context::Dialog => "dialogs",
            Context::Notebook => "notebook",
            Context::Debrief => "debrief",
            Context::Film => "film",
        }
    }

    /// Heading in the help.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Context::Global => "Everywhere",
            Context::Move => "Moving",
            Context::Library => "Incidents",
            Context::Briefing => "Briefing",
            Context::Console => "During an incident",
            Context::Charts => "Dashboards",
            Context::Search => "Searching",
            Context::Stage => "Stage questions",
            Context::Dialog => "Dialogs",
            Context::Notebook => "Notebook",
            Context::Debrief => "Debrief",
            Context::Film => "Watching a run",
        }
    }
}

/// What decides whether an action can be done now, copied from the session's view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Situation {
    /// There is a run and it has not ended.
    pub(crate) running: bool,
    /// The run has ended.
    pub(crate) over: bool,
    /// Stages, questions and hints are part of the run.
    pub(crate) guided: bool,
    /// The player has been paged.
    pub(crate) paged: bool,
    /// Levers work: from the page on, in the lab from the start.
    pub(crate) may_act: bool,
    /// Somebody has said that they are on it.
    pub(crate) acknowledged: bool,
    /// The stage's questions hold the clock.
    pub(crate) waiting: bool,
    /// The run has stages.
    pub(crate) staged: bool,
    /// Feed items that want an answer.
    pub(crate) unanswered: usize,
    /// Hints that the stage still has.
    pub(crate) hints_left: usize,
}

impl Action {
    /// The keys in force: the player's own, or the usual ones.
    pub(crate) fn keys(&self) -> &'static [&'static str] {
        super::keymap::keys_of(self)
    }
}

type Enabled = fn(&Situation) -> Result<(), &'static str>;

/// An entry of the table.
pub(crate) struct Action {
    /// What.
    pub(crate) id: Id,
    /// Its usual keys, any of which will do; a space separates keys to be pressed one after the other.
    pub(super) usual: &'static [&'static str],
    /// A word or two, for footer and palette.
    pub(crate) title: &'static str,
    /// A sentence, for the help.
    pub(crate) help: &'static str,
    /// Where.
    pub(crate) context: Context,
    /// Place in the footer, the smallest first; 0 keeps it out.
    pub(crate) footer: u8,
    /// Whether it can be done now, or the reason why not.
    pub(crate) enabled: Enabled,
}

fn always(_: &Situation) -> Result<(), &'static str> {
    Ok(())
}

fn running(now: &Situation) -> Result<(), &'static str> {
    if now.running { Ok(()) } else { Err("no incident is running") }
}

const NOT_PAGED: &str = "nothing has happened yet: you have not been paged";

fn may_act(now: &Situation) -> Result<(), &'static str> {
    running(now)?;
    if now.may_act { Ok(()) } else { Err(NOT_PAGED) }
}

fn clock_free(now: &Situation) -> Result<(), &'static str> {
    running(now)?;
    if now.waiting { Err("the clock waits for your answers to this stage") } else { Ok(()) }
}

fn unacknowledged(now: &Situation) -> Result<(), &'static str> {
    running(now)?;
    if !now.paged {
        return Err(NOT_PAGED);
    }
    if now.acknowledged { Err("you have acknowledged the page already") } else { Ok(()) }
}

fn over(now: &Situation) -> Result<(), &'static str> {
    if now.over { Ok(()) } else { Err("the run is not over") }
}

fn answerable(now: &Situation) -> Result<(), &'static str> {
    running(now)?;
    if now.unanswered > 0 { Ok(()) } else { Err("nobody waits for an answer") }
}

/// Whether an action that can be done is also offered: questions of stages are no part of a live run.
fn offered(id: Id, now: &Situation) -> bool {
    id != Id::Stage || now.guided
}

fn staged(now: &Situation) -> Result<(), &'static str> {
    running(now)?;
    if now.staged { Ok(()) } else { Err("no stage is open") }
}

fn hints(now: &Situation) -> Result<(), &'static str> {
    running(now)?;
    if !now.guided {
        return Err("only a guided run has hints");
    }
    staged(now)?;
    if now.hints_left > 0 { Ok(()) } else { Err("this stage has no more hints") }
}

const fn action(
    context: Context,
    id: Id,
    usual: &'static [&'static str],
    title: &'static str,
    help: &'static str,
    footer: u8,
    enabled: Enabled,
) -> Action {
    Action { id, usual, title, help, context, footer, enabled }
}

/// Everything that can be done.
#[rustfmt::skip]
pub(crate) static ACTIONS: &[Action] = {
    use Context::{Briefing, Charts, Console, Debrief, Dialog, Film, Global, Library, Move, Notebook, Search, Stage};
    &[
        action(Console, Id::Pause, &["Space"], "pause", "Stops the clock, and lets it go on.", 1, running),
        action(Console, Id::Step, &["."], "one second", "Lets the clock go on by one second.", 0, clock_free),
        action(Console, Id::Slower, &["<", ","], "slower", "Halves the clock's speed, down to 1×.", 0, running),
        action(Console, Id::Faster, &[">"], "faster", "Doubles the clock's speed, up to 60×.", 3, clock_free),
        action(Console, Id::ToNews, &["w"], "wait for news", "Runs on as fast as possible until something new stands in the feed.", 4, clock_free),
        action(Console, Id::Acknowledge, &["a"], "acknowledge", "Says that you are on it. Others stop looking for somebody.", 2, unacknowledged),
        action(Console, Id::Mitigate, &["m"], "mitigate", "Opens the levers: what each does, what it takes, and your prediction.", 2, may_act),
        action(Console, Id::Answer, &["r"], "answer", "Answers the proposal or question that is selected in the feed, or the newest open one; again shows the others.", 1, answerable),
        action(Console, Id::Stage, &["s", "p"], "stage", "Shows what this stage is about and asks; predictions are made here.", 3, staged),
        action(Console, Id::Hint, &["i"], "hint", "Asks for the stage's next hint. It lowers no mark but the independence line.", 0, hints),
        action(Console, Id::Severity, &["v"], "severity", "Declares how bad it is, SEV1 to SEV4.", 0, may_act),
        action(Console, Id::StatusUpdate, &["u"], "status update", "Tells everybody what users feel and what you are doing.", 0, may_act),
        action(Console, Id::Pin, &["b"], "pin", "Keeps what you look at as evidence, with the time and what it showed.", 5, running),
        action(Console, Id::Finding, &["f"], "finding", "Opens your explanation: trigger, amplifiers, loop, bottleneck, evidence.", 6, may_act),
        action(Console, Id::Expand, &["e"], "expand", "Gives what you look at the whole screen, with a crosshair on charts; again brings it back.", 5, always),
        action(Console, Id::Split, &["|"], "split", "Shows a second pane beside the first, or below it on a narrow screen; digits put panes into the one that has the keys. Again shows one.", 0, always),
        action(Console, Id::NextPane, &["Tab"], "next pane", "Gives the keys to the next pane.", 7, always),
        action(Console, Id::PreviousPane, &["BackTab"], "previous pane", "Gives the keys to the pane before.", 0, always),
        action(Console, Id::Pane(1), &["1"], "pane 1 to 9", "Shows the pane of that digit; so do 2 to 9.", 0, always),
        action(Console, Id::Pane(2), &["2"], "pane 2", "", 0, always),
        action(Console, Id::Pane(3), &["3"], "pane 3", "", 0, always),
        action(Console, Id::Pane(4), &["4"], "pane 4", "", 0, always),
        action(Console, Id::Pane(5), &["5"], "pane 5", "", 0, always),
        action(Console, Id::Pane(6), &["6"], "pane 6", "", 0, always),
        action(Console, Id::Pane(7), &["7"], "pane 7", "", 0, always),
        action(Console, Id::Pane(8), &["8"], "pane 8", "", 0, always),
        action(Console, Id::Pane(9), &["9"], "pane 9", "", 0, always),
        action(Console, Id::Query, &["0"], "query", "Writes a query over recorded series, which adds a chart to a dashboard of your own.", 0, always),
        action(Console, Id::Copy, &["y"], "copy", "Puts what you look at on the clipboard as text, also over SSH.", 0, always),
        action(Console, Id::End, &[], "end the exercise", "Ends the run before its clock does and goes to the debrief.", 0, running),

        action(Console, Id::Debrief, &["d"], "debrief", "Opens the debrief of a run that is over.", 1, over),

        action(Charts, Id::ZoomIn, &["+", "="], "shorter window", "Shows a shorter window of time in all charts, down to 1 minute.", 0, always),
        action(Charts, Id::ZoomOut, &["-"], "longer window", "Shows a longer window of time in all charts, up to 60 minutes.", 0, always),
        action(Charts, Id::NextDashboard, &["]"], "next dashboard", "Shows the next dashboard.", 6, always),
        action(Charts, Id::PreviousDashboard, &["["], "previous dashboard", "Shows the dashboard before.", 0, always),

        action(Charts, Id::Earlier, &["H"], "earlier", "Moves the window of all charts half a window back.", 0, always),
        action(Charts, Id::Later, &["L"], "later", "Moves the window of all charts half a window on, up to now.", 0, always),
        action(Charts, Id::Compare, &["c"], "compare", "Draws what was 5, 15, 30 and 60 minutes earlier behind all charts, then nothing again.", 0, always),
        action(Charts, Id::LogAxis, &["o"], "log axis", "Gives all charts an axis on which every step is ten times the one before, and back.", 0, always),
        action(Charts, Id::Lines, &["x"], "lines", "Draws each line of the selected chart by itself, then all again.", 0, always),
        action(Charts, Id::Query, &["n"], "new panel", "Writes a query over recorded series, which adds a chart to a dashboard of your own.", 0, always),
        action(Charts, Id::RemovePanel, &["X"], "remove panel", "Takes a panel of your own away.", 0, always),

        action(Search, Id::Filter, &["/"], "filter", "Shows only rows with what you type; Esc shows all again.", 2, always),
        action(Search, Id::NextMatch, &["n"], "next match", "Goes to the next match.", 0, always),
        action(Search, Id::PreviousMatch, &["N"], "match before", "Goes to the match before.", 0, always),

        action(Notebook, Id::Open, &["Enter"], "open", "Judges the selected explanation with its evidence, or opens the finding.", 1, always),
        action(Notebook, Id::Accept, &["A"], "accept", "Accepts the selected explanation.", 2, always),
        action(Notebook, Id::Reject, &["R"], "reject", "Rejects the selected explanation.", 2, always),
        action(Notebook, Id::Reopen, &["O"], "reopen", "Leaves the selected explanation open again.", 0, always),
        action(Notebook, Id::Export, &["x"], "write to a file", "Writes the finding as JSON into a folder beside the kept runs.", 0, always),

        action(Library, Id::Open, &["Enter"], "choose", "Chooses the selected incident.", 1, always),
        action(Briefing, Id::Open, &["Enter"], "start", "Starts the clock.", 1, always),
        action(Debrief, Id::Open, &["Enter"], "open", "Answers a question, shows why a mark was given, forks from a decision, chooses follow-ups and plays the run with them; elsewhere goes to the next section.", 1, always),
        action(Debrief, Id::Toggle, &["Space"], "switch on", "Switches work that should follow on or off, to play the run with it.", 3, always),
        action(Debrief, Id::Back, &["Esc"], "to the console", "Goes back to the charts, logs and traces of the run; d comes back here.", 4, always),
        action(Debrief, Id::Pane(1), &["1"], "section 1 to 9", "Shows the section of that digit; so do 2 to 9. 0 shows section 10, and g with 1 to 4 after it sections 11 to 14.", 0, always),
        action(Debrief, Id::Pane(2), &["2"], "section 2", "", 0, always),
        action(Debrief, Id::Pane(3), &["3"], "section 3", "", 0, always),
        action(Debrief, Id::Pane(4), &["4"], "section 4", "", 0, always),
        action(Debrief, Id::Pane(5), &["5"], "section 5", "", 0, always),
        action(Debrief, Id::Pane(6), &["6"], "section 6", "", 0, always),
        action(Debrief, Id::Pane(7), &["7"], "section 7", "", 0, always),
        action(Debrief, Id::Pane(8), &["8"], "section 8", "", 0, always),
        action(Debrief, Id::Pane(9), &["9"], "section 9", "", 0, always),
        action(Debrief, Id::Pane(10), &["0"], "section 10", "", 0, always),
        action(Debrief, Id::Pane(11), &["g 1"], "section 11", "", 0, always),
        action(Debrief, Id::Pane(12), &["g 2"], "section 12", "", 0, always),
        action(Debrief, Id::Pane(13), &["g 3"], "section 13", "", 0, always),
        action(Debrief, Id::Pane(14), &["g 4"], "section 14", "", 0, always),
        action(Debrief, Id::NextPane, &["Tab"], "next section", "Goes to the next section.", 2, always),
        action(Debrief, Id::PreviousPane, &["BackTab"], "section before", "Goes to the section before.", 0, always),

        action(Stage, Id::Hint, &["i"], "hint", "Asks for the stage's next hint.", 1, hints),

        action(Dialog, Id::Submit, &["Enter"], "apply", "Does what the dialog says; in a field that is not the last, keeps what is chosen and goes to the next one.", 1, always),
        action(Dialog, Id::SubmitPlain, &["s"], "apply without a prediction", "Pulls the lever without saying what you expect.", 2, always),
        action(Dialog, Id::Toggle, &["Space"], "choose", "Chooses an option; in a list, takes the choice back as well.", 2, always),
        action(Dialog, Id::Answer, &["r"], "next open one", "In an answer, shows the next proposal or question that waits for one.", 0, always),
        action(Dialog, Id::Save, &["Ctrl-s"], "save", "Does what the dialog says from any of its fields.", 0, always),
        action(Dialog, Id::NextField, &["Tab"], "next field", "Goes to the next field.", 3, always),
        action(Dialog, Id::PreviousField, &["BackTab"], "field before", "Goes to the field before.", 0, always),
        action(Dialog, Id::Up, &["Up", "k", "Left", "h"], "option before", "Chooses the option before.", 0, always),
        action(Dialog, Id::Down, &["Down", "j", "Right", "l"], "next option", "Chooses the next option.", 0, always),
        action(Dialog, Id::Back, &["Esc"], "cancel", "Closes the dialog without doing anything.", 4, always),

        action(Move, Id::Up, &["Up", "k"], "up", "One up.", 0, always),
        action(Move, Id::Down, &["Down", "j"], "down", "One down.", 0, always),
        action(Move, Id::Left, &["Left", "h"], "left", "One to the left; moves the crosshair of a chart.", 0, always),
        action(Move, Id::Right, &["Right", "l"], "right", "One to the right.", 0, always),
        action(Move, Id::PageUp, &["PageUp", "Ctrl-b"], "page up", "A page up; ten steps of the crosshair to the left.", 0, always),
        action(Move, Id::PageDown, &["PageDown", "Ctrl-f"], "page down", "A page down; ten steps of the crosshair to the right.", 0, always),
        action(Move, Id::Top, &["g g", "Home"], "to the first", "To the first row.", 0, always),
        action(Move, Id::Bottom, &["G", "End"], "to the last", "To the last row.", 0, always),
        action(Move, Id::Open, &["Enter"], "open", "Opens what is selected.", 8, always),

        action(Film, Id::Pause, &["Space"], "pause", "Stops the film, and lets it go on.", 1, always),
        action(Film, Id::Left, &["Left", "h"], "second back", "One second back.", 2, always),
        action(Film, Id::Right, &["Right", "l", "."], "second on", "One second on.", 2, always),
        action(Film, Id::PageUp, &["[", "PageUp"], "ten back", "Ten seconds back.", 0, always),
        action(Film, Id::PageDown, &["]", "PageDown"], "ten on", "Ten seconds on.", 0, always),
        action(Film, Id::Top, &["Home", "g g"], "to the start", "To the first second.", 0, always),
        action(Film, Id::Bottom, &["End", "G"], "to the end", "To the last second, or as far as the run is simulated.", 0, always),
        action(Film, Id::Faster, &["+", "=", ">"], "faster", "Doubles the film's speed, up to 60×.", 4, always),
        action(Film, Id::Slower, &["-", "<", ","], "slower", "Halves the film's speed, down to 1×.", 0, always),
        action(Film, Id::NextRow, &["n", "Down", "j"], "next row", "Shows the same second of the lab's next row.", 3, always),
        action(Film, Id::PreviousRow, &["p", "Up", "k"], "row before", "Shows the same second of the row before.", 0, always),
        action(Film, Id::Back, &["Esc"], "leave", "Leaves the film.", 0, always),

        action(Global, Id::Back, &["Esc"], "back", "Closes what is on top. It never leaves the game.", 0, always),
        action(Global, Id::Quit, &["q", "Ctrl-c"], "quit", "Leaves this screen or the game; asks first while an incident runs.", 9, always),
        action(Global, Id::Help, &["?", "F1"], "help", "Shows this list of keys; type to search it.", 10, always),
        action(Global, Id::Palette, &[":", "Ctrl-p"], "palette", "Finds anything that can be done by a few letters of its name.", 9, always),
        action(Global, Id::NextTheme, &["T"], "next theme", "Changes the colours: default, light, ansi16, okabe-ito, high-contrast, mono.", 0, always),
        action(Global, Id::NextGlyphs, &["B"], "next glyphs", "Draws charts with braille dots, blocks or plain ASCII.", 0, always),
        action(Global, Id::Redraw, &["Ctrl-l"], "redraw", "Paints the screen anew, when something else wrote on it.", 0, always),
        action(Global, Id::Suspend, &["Ctrl-z"], "suspend", "Goes back to the shell; fg comes back here. The clock waits.", 0, always),
    ]
};

/// The first entry of an action.
pub(crate) fn find(id: Id) -> Option<&'static Action> {
    ACTIONS.iter().find(|a| a.id == id)
}

/// The keys of an action as the footer and texts show them: the first of them.
pub(crate) fn key_of(id: Id) -> &'static str {
    find(id).and_then(|a| a.keys().first().copied()).unwrap_or("")
}

/// The same for an action that has keys of its own in that place.
pub(crate) fn key_in(context: Context, id: Id) -> &'static str {
    let own = ACTIONS.iter().find(|a| (a.context, a.id) == (context, id));
    own.and_then(|a| a.keys().first().copied()).unwrap_or("")
}

/// A text of an incident with its keys filled in: `{key:pin}` becomes the key of the action that is called so. What names no
/// action stays as it is.
pub(crate) fn with_keys(text: &str) -> String {
    filled(text, |title| ACTIONS.iter().find(|a| a.title == title)?.keys().first().copied())
}

/// A text with what stands for `{key:…}` in it filled in, as `said` has it for the title of an action.
pub(crate) fn filled(text: &str, said: impl Fn(&str) -> Option<&'static str>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("{key:") {
        let (before, named) = rest.split_at(at);
        out.push_str(before);
        let found = named.find('}').and_then(|end| Some((said(&named["{key:".len()..end])?, end + 1)));
        let (shown, taken) = found.unwrap_or(("{", 1));
        out.push_str(shown);
        rest = &named[taken..];
    }
    out.push_str(rest);
    out
}

/// A key without the differences between terminals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// Which.
    pub(crate) code: KeyCode,
    /// With Ctrl.
    pub(crate) ctrl: bool,
    /// With Alt.
    pub(crate) alt: bool,
}

impl From<KeyEvent> for Key {
    fn from(event: KeyEvent) -> Key {
        let shift = event.modifiers.contains(KeyModifiers::SHIFT);
        let code = match event.code {
            KeyCode::Tab if shift => KeyCode::BackTab,
            // Some terminals send the small letter and Shift.
            KeyCode::Char(c) if shift => KeyCode::Char(c.to_uppercase().next().unwrap_or(c)),
            other => other,
        };
        Key {
            code,
            ctrl: event.modifiers.contains(KeyModifiers::CONTROL),
            alt: event.modifiers.contains(KeyModifiers::ALT),
        }
    }
}

impl Key {
    /// Reads a key as the table writes it.
    pub(crate) fn read(text: &str) -> Option<Key> {
        let (alt, text) = text.strip_prefix("Alt-").map_or((false, text), |rest| (true, rest));
        let (ctrl, name) = text.strip_prefix("Ctrl-").map_or((false, text), |rest| (true, rest));
        let mut chars = name.chars();
        let code = match (chars.next(), chars.next()) {
            (Some(c), None) => KeyCode::Char(c),
            _ => match name {
                "Space" => KeyCode::Char(' '),
                "Enter" => KeyCode::Enter,
                "Esc" => KeyCode::Esc,
                "Tab" => KeyCode::Tab,
                "BackTab" => KeyCode::BackTab,
                "Backspace" => KeyCode::Backspace,
                "Delete" => KeyCode::Delete,
                "Up" => KeyCode::Up,
                "Down" => KeyCode::Down,
                "Left" => KeyCode::Left,
                "Right" => KeyCode::Right,
                "PageUp" => KeyCode::PageUp,
                "PageDown" => KeyCode::PageDown,
                "Home" => KeyCode::Home,
                "End" => KeyCode::End,
                _ => KeyCode::F(name.strip_prefix('F')?.parse().ok()?),
            },
        };
        Some(Key { code, ctrl, alt })
    }

    /// What the key does in a line of text that is being written.
    pub(crate) fn edits(self) -> Option<InputRequest> {
        Some(match self.code {
            KeyCode::Char('u') if self.ctrl => InputRequest::DeleteLine,
            KeyCode::Char('w') if self.ctrl => InputRequest::DeletePrevWord,
            KeyCode::Backspace => InputRequest::DeletePrevChar,
            KeyCode::Delete => InputRequest::DeleteNextChar,
            KeyCode::Left => InputRequest::GoToPrevChar,
            KeyCode::Right => InputRequest::GoToNextChar,
            KeyCode::Home => InputRequest::GoToStart,
            KeyCode::End => InputRequest::GoToEnd,
            _ => InputRequest::InsertChar(self.typed()?),
        })
    }

    /// The character that the key types, when it types one.
    pub(crate) fn typed(self) -> Option<char> {
        match self.code {
            KeyCode::Char(c) if !self.ctrl && !self.alt => Some(c),
            _ => None,
        }
    }
}

/// What keys pressed so far mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// This action.
    Action(Id),
    /// The start of a longer one.
    Begun,
    /// Nothing.
    Nothing,
}

/// What keys mean in these contexts, the first of them first.
pub(crate) fn meaning(contexts: &[Context], pressed: &[Key]) -> Meaning {
    let mut begun = false;
    for &context in contexts {
        for action in ACTIONS.iter().filter(|a| a.context == context) {
            for keys in action.keys() {
                let wanted = keys.split(' ').map(Key::read);
                let mut given = pressed.iter().copied().map(Some);
                let n = keys.split(' ').count();
                if n >= pressed.len() && wanted.take(pressed.len()).eq(given.by_ref()) {
                    if n == pressed.len() {
                        return Meaning::Action(action.id);
                    }
                    begun = true;
                }
            }
        }
    }
    if begun { Meaning::Begun } else { Meaning::Nothing }
}

/// The footer's entries: what can be done now in these contexts, most useful first, at most seven.
pub(crate) fn footer(contexts: &[Context], now: &Situation) -> Vec<&'static Action> {
    let mut shown: Vec<&Action> = Vec::new();
    for action in ACTIONS.iter().filter(|a| a.footer > 0 && contexts.contains(&a.context)) {
        let can = (action.enabled)(now).is_ok() && offered(action.id, now);
        if can && !shown.iter().any(|s| s.keys().first() == action.keys().first()) {
            shown.push(action);
        }
    }
    shown.sort_by_key(|a| a.footer);
    let help = shown.iter().position(|a| a.id == Id::Help).map(|i| shown.remove(i));
    shown.truncate(6);
    shown.extend(help);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Key {
        Key::read(text).unwrap_or_else(|| panic!("`{text}` is not a key"))
    }

    #[test]
    fn every_action_can_be_reached_and_is_explained() {
        for action in ACTIONS {
            assert!(!action.title.is_empty(), "{:?}", action.id);
            // Entries without a key are reached by the palette, which lists every entry with a title and help.
            if action.usual.is_empty() || !matches!(action.id, Id::Pane(2..)) {
                assert!(action.help.ends_with('.'), "{:?}", action.id);
            }
            for keys in action.usual {
                for name in keys.split(' ') {
                    assert!(Key::read(name).is_some(), "`{name}` of {:?} is not a key", action.id);
                }
                let pressed: Vec<Key> = keys.split(' ').map(key).collect();
                assert_eq!(meaning(&[action.context], &pressed), Meaning::Action(action.id), "{keys}");
            }
        }
    }

    #[test]
    fn no_key_means_two_things_in_one_context() {
        for (i, a) in ACTIONS.iter().enumerate() {
            for b in ACTIONS[i + 1..].iter().filter(|b| b.context == a.context) {
                for keys in a.usual {
                    assert!(!b.usual.contains(keys), "{keys}: {:?} and {:?}", a.id, b.id);
                }
            }
        }
    }

    #[test]
    fn texts_of_shipped_incidents_name_keys_by_what_they_do() {
        assert_eq!(with_keys("{key:pin} keeps {db.cpu}, {key:nothing}"), "b keeps {db.cpu}, {key:nothing}");
        assert_eq!(with_keys("{key:"), "{key:");
        for shipped in crate::incident::library::shipped() {
            let filled = with_keys(&shipped.text);
            assert!(!filled.contains("{key:"), "{}: a key that no action has", shipped.id);
        }
    }

    #[test]
    fn keys_one_after_the_other() {
        assert_eq!(meaning(&[Context::Move], &[key("g")]), Meaning::Begun);
        assert_eq!(meaning(&[Context::Move], &[key("g"), key("g")]), Meaning::Action(Id::Top));
        assert_eq!(meaning(&[Context::Move], &[key("g"), key("x")]), Meaning::Nothing);
    }

    #[test]
    fn the_more_particular_context_wins() {
        let contexts = [Context::Dialog, Context::Global];
        assert_eq!(meaning(&contexts, &[key("Esc")]), Meaning::Action(Id::Back));
        assert_eq!(meaning(&contexts, &[key("?")]), Meaning::Action(Id::Help));
    }

    #[test]
    fn shift_makes_the_capital_letter_whatever_the_terminal_sends() {
        let event = KeyEvent::new(KeyCode::Char('g'), KeyModifiers::SHIFT);
        assert_eq!(meaning(&[Context::Move], &[event.into()]), Meaning::Action(Id::Bottom));
        let event = KeyEvent::new(KeyCode::Tab, KeyModifiers::SHIFT);
        assert_eq!(meaning(&[Context::Console], &[event.into()]), Meaning::Action(Id::PreviousPane));
    }

    #[test]
    fn the_footer_shows_what_works_and_always_the_help() {
        let contexts = [Context::Charts, Context::Console, Context::Move, Context::Global];
        let before = footer(&contexts, &Situation { running: true, ..Situation::default() });
        assert!(before.iter().all(|a| a.id != Id::Mitigate));
        let paged = Situation { running: true, paged: true, may_act: true, ..Situation::default() };
        let after = footer(&contexts, &paged);
        assert!(after.iter().any(|a| a.id == Id::Mitigate));
        for shown in [before, after] {
            assert!((5..=7).contains(&shown.len()));
            assert_eq!(shown.last().map(|a| a.id), Some(Id::Help));
        }
    }
}
