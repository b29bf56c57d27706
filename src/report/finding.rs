//! The finding as JSON, for other tools: what was named, in words, with the evidence behind it.

use serde::Serialize;

use crate::game::View;
use crate::incident::schema::Name;

#[derive(Serialize)]
struct File<'a> {
    schema: u32,
    incident: &'a str,
    title: &'a str,
    clock: String,
    summary: &'a str,
    trigger: Option<Named>,
    amplifiers: Vec<Named>,
    sustaining: &'a str,
    contributing: Vec<Named>,
    bottleneck: Option<Named>,
    evidence: Vec<Piece>,
}

/// A part of the explanation.
#[derive(Serialize)]
struct Named {
    id: Name,
    text: String,
}

/// A piece of evidence that the finding rests on.
#[derive(Serialize)]
struct Piece {
    id: String,
    clock: String,
    showed: String,
    note: String,
}

/// The player's finding as JSON, with a `schema` number.
pub fn finding_json(view: &View<'_>) -> String {
    let finding = view.finding();
    let parts = view.finding_choices();
    let named = |id: &Name| Named {
        id: id.clone(),
        text: parts.iter().find(|p| p.id == *id).map_or_else(String::new, |p| p.text.clone()),
    };
    let cited = view.evidence().iter().filter(|e| finding.evidence.contains(&e.id));
    let file = File {
        schema: 1,
        incident: view.id(),
        title: view.title(),
        clock: view.clock().to_string(),
        summary: &finding.summary,
        trigger: finding.trigger.as_ref().map(named),
        amplifiers: finding.amplifiers.iter().map(named).collect(),
        sustaining: &finding.sustaining,
        contributing: finding.contributing.iter().map(named).collect(),
        bottleneck: finding.bottleneck.as_ref().map(named),
        evidence: cited
            .map(|e| Piece {
                id: e.id.to_string(),
                clock: view.clock_at(e.at).to_string(),
                showed: e.showed.clone(),
                note: e.note.clone(),
            })
            .collect(),
    };
    // Plain data of strings and lists always serialises.
    serde_json::to_string_pretty(&file).unwrap_or_default() + "\n"
}
