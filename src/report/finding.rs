//! The finding as JSON, for other tools: what was named, in words, with the evidence behind it.

use serde::Serialize;

use crate::game::View;
use crate::game::command::{EvidenceId, Verdict};
use crate::incident::schema::Name;

#[derive(Serialize)]
struct File<'a> {
    schema: u32,
    incident: &'a str,
    title: &'a str,
    clock: String,
    summary: &'a str,
    /// What it did: the loop in the player's words, or where the capacity was missing.
    effect: String,
    /// What started it with what made it larger, in a sentence.
    root_cause: String,
    /// Ids of the evidence that it rests on.
    evidence_cell_ids: Vec<String>,
    trigger: Option<Named>,
    amplifiers: Vec<Named>,
    sustaining: &'a str,
    contributing: Vec<Named>,
    bottleneck: Option<Named>,
    /// Explanations that were ruled out.
    rejected: Vec<Rejected>,
    evidence: Vec<Piece>,
}

/// An explanation that was ruled out, with the evidence for that.
#[derive(Serialize)]
struct Rejected {
    id: Name,
    text: String,
    evidence_cell_ids: Vec<String>,
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
    let ids = |ids: &[EvidenceId]| ids.iter().map(EvidenceId::to_string).collect::<Vec<_>>();
    let said = |id: &Option<Name>| id.as_ref().map(|id| named(id).text).unwrap_or_default();
    let mut causes = vec![said(&finding.trigger)];
    causes.extend(finding.amplifiers.iter().map(|id| named(id).text));
    causes.retain(|cause| !cause.is_empty());
    let effect = match finding.sustaining.trim() {
        "" => said(&finding.bottleneck),
        words => words.to_owned(),
    };
    let rejected = view.hypotheses().into_iter().filter(|h| h.verdict == Verdict::Rejected);
    let cited = view.evidence().iter().filter(|e| finding.evidence.contains(&e.id));
    let file = File {
        schema: 1,
        incident: view.id(),
        title: view.title(),
        clock: view.clock().to_string(),
        summary: &finding.summary,
        effect,
        root_cause: causes.join("; "),
        evidence_cell_ids: ids(&finding.evidence),
        trigger: finding.trigger.as_ref().map(named),
        amplifiers: finding.amplifiers.iter().map(named).collect(),
        sustaining: &finding.sustaining,
        contributing: finding.contributing.iter().map(named).collect(),
        bottleneck: finding.bottleneck.as_ref().map(named),
        rejected: rejected
            .map(|h| Rejected { evidence_cell_ids: ids(&h.evidence), id: h.id, text: h.text })
            .collect(),
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
