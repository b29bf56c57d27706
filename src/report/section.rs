//! The sections of a debrief. The screen, lines, and every form of the report have the same ones, in this order, under these
//! names and numbers.

/// A section of a debrief.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    /// The timeline.
    Happened,
    /// The harm over time, over doing nothing and the senior's run.
    Felt,
    /// Predictions against their outcomes.
    Predictions,
    /// The player's own account: two questions.
    Words,
    /// What the stages asked, what was answered, and what fits.
    Asked,
    /// The senior's reading of the same moments.
    Senior,
    /// The loop, with this run's figures.
    Held,
    /// The player's finding and verdicts beside what was true.
    Diagnosis,
    /// The documented mistake, played again.
    Trap,
    /// What went well.
    Well,
    /// What was missed, by kind.
    Missed,
    /// The marks with their rules.
    Marks,
    /// Work that should follow, and what to play next.
    Next,
    /// Questions for a team.
    Discuss,
}

impl Section {
    /// All of them, in the order in which they are read.
    pub const ALL: [Section; 14] = [
        Section::Happened,
        Section::Felt,
        Section::Predictions,
        Section::Words,
        Section::Asked,
        Section::Senior,
        Section::Held,
        Section::Diagnosis,
        Section::Trap,
        Section::Well,
        Section::Missed,
        Section::Marks,
        Section::Next,
        Section::Discuss,
    ];

    /// Its number, counted from 1.
    pub fn number(self) -> usize {
        self as usize + 1
    }

    /// Its name.
    pub fn title(self) -> &'static str {
        match self {
            Section::Happened => "What happened",
            Section::Felt => "What users felt",
            Section::Predictions => "Your predictions",
            Section::Words => "In your own words",
            Section::Asked => "The stages' questions",
            Section::Senior => "The senior's reading",
            Section::Held => "What held it up",
            Section::Diagnosis => "Your diagnosis",
            Section::Trap => "The trap, played again",
            Section::Well => "What went well",
            Section::Missed => "Missed signals",
            Section::Marks => "Marks",
            Section::Next => "Try next",
            Section::Discuss => "To discuss",
        }
    }

    /// Number and name, as they stand above it.
    pub fn heading(self) -> String {
        format!("{}. {}", self.number(), self.title())
    }

    /// A word for it: the anchor on a page.
    pub fn id(self) -> &'static str {
        match self {
            Section::Happened => "happened",
            Section::Felt => "users",
            Section::Predictions => "predictions",
            Section::Words => "words",
            Section::Asked => "asked",
            Section::Senior => "reading",
            Section::Held => "held",
            Section::Diagnosis => "diagnosis",
            Section::Trap => "trap",
            Section::Well => "well",
            Section::Missed => "missed",
            Section::Marks => "marks",
            Section::Next => "next",
            Section::Discuss => "discuss",
        }
    }

    /// Whether it says what was true, so that it is read after the player's own account and not before.
    pub fn tells_the_cause(self) -> bool {
        self > Section::Words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_places_in_the_list() {
        for (i, section) in Section::ALL.into_iter().enumerate() {
            assert_eq!(section.number(), i + 1, "{section:?}");
        }
    }
}
