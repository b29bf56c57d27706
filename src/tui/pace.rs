//! How fast simulated time runs beside the wall clock.
//!
//! The loop tells how much wall time has passed; this says how far the session should be. Work that does not fit
//! into a frame is given up, so that a slow machine slows the incident's clock and never the keys.

use crate::units::{SECOND, SimSpan};

/// The speeds that can be chosen.
pub(crate) const SPEEDS: [u32; 7] = [1, 2, 4, 8, 15, 30, 60];

/// Speed and pause.
#[derive(Clone, Debug)]
pub(crate) struct Pace {
    index: usize,
    /// Whether the player has stopped the clock.
    pub(crate) paused: bool,
    /// Simulated time that is owed, in nanoseconds.
    owed: u64,
}

impl Pace {
    /// Stopped, at the speed nearest to the one asked for.
    pub(crate) fn new(speed: u32) -> Pace {
        let index = (0..SPEEDS.len()).min_by_key(|&i| SPEEDS[i].abs_diff(speed)).unwrap_or(0);
        Pace { index, paused: false, owed: 0 }
    }

    /// Times as fast as the wall clock.
    pub(crate) fn speed(&self) -> u32 {
        SPEEDS[self.index]
    }

    /// One speed up.
    pub(crate) fn faster(&mut self) {
        self.index = (self.index + 1).min(SPEEDS.len() - 1);
    }

    /// One speed down.
    pub(crate) fn slower(&mut self) {
        self.index = self.index.saturating_sub(1);
    }

    /// That much wall time has passed.
    pub(crate) fn passed(&mut self, wall_ns: u64) {
        if !self.paused {
            // No more than a quarter of a second at a time: after a suspend or a long frame the clock goes on
            // from where it stood.
            let wall_ns = wall_ns.min(SECOND / 4);
            self.owed = self.owed.saturating_add(wall_ns.saturating_mul(u64::from(self.speed())));
        }
    }

    /// One second, also when paused.
    pub(crate) fn step(&mut self) {
        self.owed = self.owed.max(SECOND);
    }

    /// The next piece of work: at most half a simulated second, so that the loop can look at its budget often.
    pub(crate) fn next(&mut self) -> Option<SimSpan> {
        // Samples are a second apart; smaller steps than this would change nothing that is seen.
        const LEAST: u64 = SECOND / 20;
        if self.owed < LEAST {
            return None;
        }
        let piece = self.owed.min(SECOND / 2);
        self.owed -= piece;
        Some(SimSpan(piece))
    }

    /// Gives up what did not fit into the frame.
    pub(crate) fn give_up(&mut self) {
        self.owed = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(pace: &mut Pace) -> u64 {
        std::iter::from_fn(|| pace.next()).map(|span| span.0).sum()
    }

    #[test]
    fn simulated_time_follows_wall_time_times_speed() {
        let mut pace = Pace::new(8);
        let mut total = 0;
        for _ in 0..10 {
            pace.passed(SECOND / 10);
            total += run(&mut pace);
        }
        assert_eq!(total, 8 * SECOND);
    }

    #[test]
    fn a_pause_stops_time_and_a_step_moves_it_by_a_second() {
        let mut pace = Pace::new(1);
        pace.paused = true;
        pace.passed(SECOND);
        assert_eq!(run(&mut pace), 0);
        pace.step();
        assert_eq!(run(&mut pace), SECOND);
    }

    #[test]
    fn a_long_gap_of_wall_time_is_not_caught_up() {
        let mut pace = Pace::new(60);
        pace.passed(3_600 * SECOND);
        assert_eq!(run(&mut pace), 15 * SECOND);
    }

    #[test]
    fn speeds_end_at_both_ends() {
        let mut pace = Pace::new(4);
        (0..9).for_each(|_| pace.faster());
        assert_eq!(pace.speed(), 60);
        (0..9).for_each(|_| pace.slower());
        assert_eq!(pace.speed(), 1);
    }
}
