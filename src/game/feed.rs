//! What is said while it happens: pages, alerts, messages, proposals, changes, and the player's own words.

use crate::telemetry::SeriesSet;
use crate::units::SimTime;

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FeedKind {
    /// The page that starts the incident.
    Page,
    /// A rule over telemetry that held.
    Alert,
    /// Somebody says something.
    Message,
    /// Somebody proposes a lever.
    Proposal,
    /// Somebody else changed something.
    Change,
    /// What the player did or said.
    Own,
    /// A note of the exercise itself: a stage opens, a prediction is answered.
    Note,
}

/// One item of the feed.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedItem {
    /// Its number, counted from 0 in the order of appearance.
    pub number: usize,
    /// When.
    pub at: SimTime,
    /// Who, as shown.
    pub from: String,
    /// Team or part of the person, empty for machines.
    pub role: String,
    /// What kind of item it is.
    pub kind: FeedKind,
    /// The text, with numbers filled in as recorded at that second.
    pub text: String,
    /// The proposal that `Command::Respond` answers.
    pub proposal: Option<String>,
    /// The message that `Command::Reply` answers.
    pub message: Option<usize>,
    /// Replies to choose from.
    pub replies: Vec<String>,
    /// What the player answered.
    pub answered: Option<String>,
}

impl FeedItem {
    /// An item that asks for nothing. [`Feed::push`] numbers it.
    pub(super) fn plain(at: SimTime, kind: FeedKind, from: &str, text: String) -> FeedItem {
        FeedItem {
            number: 0,
            at,
            from: from.to_owned(),
            role: String::new(),
            kind,
            text,
            proposal: None,
            message: None,
            replies: Vec::new(),
            answered: None,
        }
    }

    /// Whether it waits for an answer.
    pub fn asks(&self) -> bool {
        self.answered.is_none() && (self.proposal.is_some() || !self.replies.is_empty())
    }
}

/// The items so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Feed {
    items: Vec<FeedItem>,
}

impl Feed {
    /// Appends an item and numbers it.
    pub(super) fn push(&mut self, mut item: FeedItem) {
        item.number = self.items.len();
        self.items.push(item);
    }

    /// All items.
    pub(super) fn items(&self) -> &[FeedItem] {
        &self.items
    }

    /// The item of a proposal.
    pub(super) fn proposal(&mut self, id: &str) -> Option<&mut FeedItem> {
        self.items.iter_mut().find(|i| i.proposal.as_deref() == Some(id))
    }

    /// The item of a message.
    pub(super) fn message(&mut self, message: usize) -> Option<&mut FeedItem> {
        self.items.iter_mut().find(|i| i.message == Some(message))
    }
}

/// Replaces every `{series.name}` by the newest sample with its unit. Braces that name no series stay as they are.
pub fn fill(text: &str, series: &SeriesSet) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        out.push_str(&rest[..open]);
        let after = &rest[open + 1..];
        let named = after.find('}').and_then(|close| Some((close, series.get(&after[..close])?)));
        match named {
            Some((close, found)) => {
                out.push_str(&found.unit.show(found.recent().unwrap_or(f64::NAN)));
                rest = &after[close + 1..];
            }
            None => {
                out.push('{');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}
