//! Logs: streams with their counts, and lines, the newest at the bottom.
//!
//! ```text
//! ╭ Logs ─────────────────────────────────────────────────── following ╮
//! │ [all]  access ▃▃▃▃▅█ 1.2k/s   query_timeout ▁▁▁▁▅█ 940/s  …        │  what each stream counted
//! │ / error api-07  940 of 7144 lines                                  │
//! │ shown  ▁▁▁▂▅▆█▇▇▇▇  940/s                                          │  what those lines count, by half a minute
//! │ 14:05:01 WARN  api-07       ×940   db client: query gave no answer │
//! ╰────────────────────────────────────────────────────────────────────╯
//! ```

use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::{Look, Pane};
use crate::game::View;
use crate::game::command::Source;
use crate::telemetry::{Level, LogLine};
use crate::tui::actions::{Context, Id, Key};
use crate::tui::canvas::{Canvas, Hit, columns, wrap};
use crate::tui::dialogs;
use crate::tui::layer::Outcome;
use crate::tui::theme::{Glyphs, Role};
use crate::tui::widgets::filter::Filter;
use crate::tui::widgets::list::Cursor;
use crate::units::{SimTime, short};

/// Seconds of a bar of a stream's small chart.
const BAR_S: usize = 30;
/// Bars of a stream's small chart.
const BARS: usize = 8;
/// Columns that a stream takes.
const STREAM: u16 = 38;

/// What lines counted over time, those that sampling left out included, by [`BAR_S`] seconds.
#[derive(Default)]
struct Counts {
    bars: Vec<u64>,
}

impl Counts {
    fn add(&mut self, line: &LogLine) {
        let second = line.at.as_secs();
        let bar = second as usize / BAR_S;
        if self.bars.len() <= bar {
            self.bars.resize(bar + 1, 0);
        }
        self.bars[bar] += u64::from(line.alike);
    }

    /// The last so many bars; the one that has just begun would look like a drop.
    fn recent(&self, now: SimTime, bars: usize) -> Vec<u64> {
        let begun = now.as_secs() as usize / BAR_S;
        let bar =
            |i: usize| (begun + i).checked_sub(bars).and_then(|b| self.bars.get(b)).copied().unwrap_or(0);
        (0..bars).map(bar).collect()
    }

    /// Lines per second in the bar that has begun, or in the one before when that says little.
    fn rate(&self, now: SimTime) -> f64 {
        let begun = now.as_secs() as usize / BAR_S;
        let count = |bar: usize| self.bars.get(bar).copied().unwrap_or(0) as f64;
        match now.as_secs() as usize % BAR_S {
            0..10 => begun.checked_sub(1).map_or(0.0, count) / BAR_S as f64,
            since => count(begun) / since as f64,
        }
    }
}

/// The pane.
#[derive(Default)]
pub(crate) struct Logs {
    filter: Filter,
    /// The stream that is shown alone.
    stream: Option<&'static str>,
    /// The selected line's place in the record; follows the newest when there is none.
    at: Option<usize>,
    /// The whole line is shown.
    whole: bool,
    cursor: Cursor,
    /// Places in the record of the lines that are shown.
    rows: Vec<usize>,
    /// What [`Logs::rows`] was made for: lines of the record, words, stream.
    made_for: (usize, Vec<String>, Option<&'static str>),
    /// What each stream counted.
    counted: Vec<(&'static str, Counts)>,
    /// Lines of the record that were counted.
    counted_upto: usize,
    /// What the lines that are shown counted.
    shown: Counts,
}

impl Logs {
    /// Brings rows and counts up to the record: only what is new is read, unless the filter is another one.
    fn refresh(&mut self, logs: &[LogLine]) {
        if logs.len() < self.counted_upto {
            (self.counted, self.counted_upto) = (Vec::new(), 0);
        }
        for line in &logs[self.counted_upto..] {
            let at = self.counted.iter().position(|c| c.0 == line.stream).unwrap_or_else(|| {
                self.counted.push((line.stream, Counts::default()));
                self.counted.len() - 1
            });
            self.counted[at].1.add(line);
        }
        self.counted_upto = logs.len();
        let (upto, words, stream) = &self.made_for;
        if logs.len() < *upto || words != self.filter.words() || *stream != self.stream {
            self.rows.clear();
            self.shown = Counts::default();
            self.made_for = (0, self.filter.words().to_vec(), self.stream);
        }
        let says = |line: &LogLine| {
            let (source, text) = line.source_and_text();
            self.filter.fits(&[line.level.label(), line.stream, &source, &text])
        };
        let fits = |line: &LogLine| {
            self.stream.is_none_or(|s| s == line.stream) && (!self.filter.active() || says(line))
        };
        for i in (self.made_for.0..logs.len()).filter(|&i| fits(&logs[i])) {
            self.rows.push(i);
            self.shown.add(&logs[i]);
        }
        self.made_for.0 = logs.len();
    }

    /// Place of the selected line among the rows.
    fn row(&self) -> usize {
        let last = self.rows.len().saturating_sub(1);
        self.at.map_or(last, |at| self.rows.partition_point(|&i| i < at).min(last))
    }

    fn selected(&self) -> Option<usize> {
        self.rows.get(self.row()).copied()
    }

    /// Selects a row; beyond the last one the newest is followed again.
    fn select(&mut self, row: usize) {
        self.at = self.rows.get(row).copied();
    }

    fn turn_stream(&mut self, by: isize) {
        let n = self.counted.len() as isize + 1;
        let at = self.stream.and_then(|s| self.counted.iter().position(|c| c.0 == s));
        let next = (at.map_or(0, |a| a as isize + 1) + by).rem_euclid(n);
        self.stream = usize::try_from(next - 1).ok().and_then(|i| self.counted.get(i)).map(|c| c.0);
    }

    /// The streams with their counts. Returns the rows used.
    fn draw_streams(&self, canvas: &mut Canvas<'_>, area: Rect, now: SimTime) -> u16 {
        let per_row = (area.width / STREAM).max(1);
        let wanted = (self.counted.len() as u16 + 1).div_ceil(per_row);
        let height = wanted.min(area.height / 3);
        let on = |chosen: bool| if chosen { Role::Selection } else { Role::Text };
        let cells = u16::min(height * per_row, self.counted.len() as u16 + 1);
        for cell in 0..cells {
            let place = Rect {
                x: area.x + cell % per_row * STREAM,
                y: area.y + cell / per_row,
                width: STREAM.min(area.width),
                height: 1,
            };
            if cell == 0 {
                let line = Line::from(vec![
                    Span::styled("all streams", canvas.style(on(self.stream.is_none()))),
                    Span::styled("  ← → choose", canvas.style(Role::Muted)),
                ]);
                canvas.line(place, 0, &line);
                continue;
            }
            let Some((stream, counts)) = self.counted.get(usize::from(cell) - 1) else { continue };
            let role = on(self.stream == Some(*stream));
            let line = Line::from(vec![
                Span::styled(*stream, canvas.style(role)),
                Span::raw(" ".repeat(19usize.saturating_sub(columns(stream)))),
                Span::styled(
                    bars(&counts.recent(now, BARS), canvas.theme.glyphs),
                    canvas.style(Role::Series(0)),
                ),
                Span::styled(format!(" {}/s", short(counts.rate(now))), canvas.style(Role::Muted)),
            ]);
            canvas.line(place, 0, &line);
        }
        height
    }

    /// What the shown lines count, over as many half minutes as there is room for.
    fn draw_shown(&self, canvas: &mut Canvas<'_>, area: Rect, now: SimTime) {
        const HEAD: &str = "shown  ";
        let begun = now.as_secs() as usize / BAR_S;
        let room = usize::from(area.width).saturating_sub(HEAD.len() + 28).min(begun);
        let line = Line::from(vec![
            Span::styled(HEAD, canvas.style(Role::Muted)),
            Span::styled(
                bars(&self.shown.recent(now, room), canvas.theme.glyphs),
                canvas.style(Role::Series(0)),
            ),
            Span::styled(format!(" {}/s", short(self.shown.rate(now))), canvas.style(Role::Text)),
            Span::styled(format!("  {BAR_S} s a bar"), canvas.style(Role::Muted)),
        ]);
        canvas.line(area, 0, &line);
    }

    fn draw_whole(&self, canvas: &mut Canvas<'_>, area: Rect, line: &LogLine, view: &View<'_>) {
        let at = line.at.0 % 1_000_000_000 / 1_000_000;
        let mut head = format!("{}.{at:03}  {}", view.clock_at(line.at), line.stream);
        if let Some(operation) = line.operation {
            head.push_str(&format!("  operation {operation:x}"));
        }
        if line.alike > 1 {
            head.push_str(&format!(
                "  stands for {} such lines of that second",
                short(f64::from(line.alike))
            ));
        }
        canvas.text(area, 0, &"─".repeat(usize::from(area.width)), Role::Muted);
        canvas.text(area, 1, &head, Role::Accent);
        let (source, text) = line.source_and_text();
        let text = format!("{} {source}: {text}", line.level.label().trim_end());
        for (i, part) in wrap(&text, area.width).iter().enumerate() {
            canvas.text(area, i as u16 + 2, part, Role::Text);
        }
    }
}

/// Counts as a row of small bars, the highest of them full.
fn bars(counts: &[u64], glyphs: Glyphs) -> String {
    const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    const PLAIN: [char; 9] = [' ', '.', '.', ':', ':', '=', '=', '#', '#'];
    let steps = if glyphs == Glyphs::Ascii { PLAIN } else { BLOCKS };
    let highest = counts.iter().copied().max().unwrap_or(0).max(1);
    counts.iter().map(|&c| steps[(c * 8).div_ceil(highest).min(8) as usize]).collect()
}

fn level_role(level: Level) -> Role {
    match level {
        Level::Info => Role::Muted,
        Level::Warn => Role::Warn,
        Level::Error => Role::Crit,
    }
}

/// A line as a row: time, level, source, for how many it stands, text.
fn row(
    canvas: &Canvas<'_>,
    line: &LogLine,
    (source, text): (String, String),
    sources: usize,
    view: &View<'_>,
) -> Line<'static> {
    let alike =
        if line.alike > 1 { format!("×{:<6}", short(f64::from(line.alike))) } else { "       ".to_owned() };
    Line::from(vec![
        Span::styled(format!("{} ", view.clock_at(line.at)), canvas.style(Role::Muted)),
        Span::styled(line.level.label(), canvas.style(level_role(line.level))),
        Span::styled(format!(" {source:<sources$} "), canvas.style(Role::Info)),
        Span::styled(alike, canvas.style(Role::Accent)),
        Span::styled(text, canvas.style(Role::Text)),
    ])
}

/// A line as text.
fn plain(line: &LogLine, view: &View<'_>) -> String {
    let (source, text) = line.source_and_text();
    let level = line.level.label().trim_end();
    format!("{} {level} {source} {}: {text}", view.clock_at(line.at), line.stream)
}

impl Pane for Logs {
    fn name(&self) -> &'static str {
        "logs"
    }

    fn contexts(&self) -> &'static [Context] {
        &[Context::Search, Context::Move]
    }

    fn draw(&mut self, canvas: &mut Canvas<'_>, area: Rect, view: &View<'_>, look: Look) {
        let logs = view.logs();
        self.refresh(logs);
        let row_at = self.row();
        let below = self.rows.len().saturating_sub(row_at + 1);
        let right = match (self.at, below) {
            (None, _) => Span::styled("following the newest", canvas.style(Role::Muted)),
            (Some(_), n) => Span::styled(format!("{n} newer below, G goes there"), canvas.style(Role::Info)),
        };
        let inner = canvas.frame(area, "Logs", &Line::from(right), look.focus);
        let inner = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
        if inner.height == 0 || inner.width == 0 {
            return;
        }
        if logs.is_empty() {
            canvas.text(inner, 0, "No line yet.", Role::Muted);
            return;
        }
        let used = self.draw_streams(canvas, inner, view.now());
        let rest = Rect { y: inner.y + used, height: inner.height - used, ..inner };
        let found = format!("{} of {} lines", self.rows.len(), logs.len());
        self.filter.draw(canvas, rest, &found, "filter: words, a level, a source, as in error api-07");
        let taken = if rest.height >= 8 { 2 } else { rest.height.min(1) };
        if taken > 1 {
            self.draw_shown(canvas, Rect { y: rest.y + 1, height: 1, ..rest }, view.now());
        }
        let mut list = Rect { y: rest.y + taken, height: rest.height - taken, ..rest };
        let whole = self.selected().and_then(|i| logs.get(i)).filter(|_| self.whole && list.height >= 8);
        if let Some(line) = whole {
            let height = (list.height / 2).min(6);
            list.height -= height;
            self.draw_whole(canvas, Rect { y: list.bottom(), height, ..list }, line, view);
        }
        if self.rows.is_empty() {
            canvas.text(list, 0, "No line fits. Esc shows all again.", Role::Muted);
        }
        self.cursor.at = row_at;
        let shown = self.cursor.shown(self.rows.len(), usize::from(list.height));
        let lines = shown.filter_map(|r| Some((r, logs.get(*self.rows.get(r)?)?)));
        let lines: Vec<_> = lines.map(|(r, line)| (r, line, line.source_and_text())).collect();
        let sources = lines.iter().map(|(_, _, words)| columns(&words.0)).max().unwrap_or(0);
        for (y, (r, line, words)) in lines.into_iter().enumerate() {
            let text = row(canvas, line, words, sources, view);
            canvas.line(list, y as u16, &text);
            if look.focus && (self.at.is_some() || self.whole) && r == row_at {
                canvas.highlight(list, y as u16, Role::Selection);
            }
            canvas.hit_row(list, y as u16, Hit::Item(self.rows[r]));
        }
    }

    fn act(&mut self, id: Id, view: &View<'_>) -> Option<Vec<Outcome>> {
        self.refresh(view.logs());
        self.cursor.at = self.row();
        match id {
            // Below the newest line it is followed again.
            Id::Down if self.row() + 1 >= self.rows.len() => self.at = None,
            Id::Bottom => self.at = None,
            Id::Filter => self.filter.start(),
            Id::NextMatch | Id::PreviousMatch if !self.filter.active() => {
                return Some(vec![Outcome::Warn("Nothing is searched for: / does.".to_owned())]);
            }
            Id::NextMatch => self.select(self.row() + 1),
            Id::PreviousMatch => self.select(self.row().saturating_sub(1)),
            Id::Left => self.turn_stream(-1),
            Id::Right => self.turn_stream(1),
            Id::Open => self.whole = !self.whole,
            Id::Back if self.whole => self.whole = false,
            Id::Back if self.filter.active() => self.filter.clear(),
            Id::Back if self.stream.is_some() => self.stream = None,
            Id::Pin => {
                let place = self.selected()?;
                let line = view.logs().get(place)?;
                let sheet = dialogs::pin(Source::Log(place), &plain(line, view), view);
                return Some(vec![Outcome::Open(Box::new(sheet))]);
            }
            _ if self.cursor.act(id, self.rows.len()) => self.select(self.cursor.at),
            _ => return None,
        }
        Some(Vec::new())
    }

    fn types(&self) -> bool {
        self.filter.types()
    }

    fn typed(&mut self, key: Key, _view: &View<'_>) -> Option<Vec<Outcome>> {
        self.filter.typed(key).then(Vec::new)
    }

    fn pasted(&mut self, text: &str) {
        self.filter.pasted(text);
    }

    fn clicked(&mut self, item: usize, _view: &View<'_>) -> Vec<Outcome> {
        if self.at == Some(item) {
            self.whole = !self.whole;
        }
        self.at = Some(item);
        Vec::new()
    }

    fn pinned(&self, _view: &View<'_>) -> Option<Source> {
        self.selected().map(Source::Log)
    }

    fn copied(&self, view: &View<'_>) -> Option<String> {
        view.logs().get(self.selected()?).map(|line| plain(line, view))
    }

    fn looked_at(&self, _view: &View<'_>) -> Vec<Source> {
        vec![Source::Pane("logs".to_owned())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::probe::LogKind;

    fn line(second: u64, kind: LogKind, alike: u32) -> LogLine {
        LogLine::of_kind(kind, SimTime::from_secs(second), alike)
    }

    #[test]
    fn sampled_lines_count_for_all_that_they_stand_for() {
        let mut logs = Logs::default();
        let record = [
            line(1, LogKind::Access, 900),
            line(1, LogKind::Access, 100),
            line(1, LogKind::CacheFlushed, 1),
            line(2, LogKind::Access, 100),
            line(31, LogKind::Access, 10),
        ];
        logs.refresh(&record);
        let access = &logs.counted[0].1;
        assert_eq!(access.bars, [1_100, 10]);
        assert_eq!(access.recent(SimTime::from_secs(60), 3), [0, 1_100, 10]);
        assert_eq!(access.rate(SimTime::from_secs(51)), 10.0 / 21.0);
        assert_eq!(access.recent(SimTime::ZERO, 2), [0, 0]);
        assert_eq!(logs.shown.bars, [1_101, 10], "all streams are shown");
        logs.stream = Some("cache");
        logs.refresh(&record);
        assert_eq!(logs.shown.bars, [1], "counts follow what is shown");
    }

    #[test]
    fn only_new_lines_are_read_until_the_filter_changes() {
        let mut record: Vec<LogLine> = (0..60_000).map(|i| line(i / 20, LogKind::Access, 5)).collect();
        let mut logs = Logs::default();
        logs.refresh(&record);
        // A line that was read stays as it was read: nobody looks at it again.
        record[0].stream = "changed";
        record.push(line(3_000, LogKind::CacheFlushed, 1));
        logs.refresh(&record);
        assert_eq!((logs.rows.len(), logs.counted.len()), (60_001, 2));
        logs.filter.start();
        logs.filter.pasted("FLUSHED");
        logs.refresh(&record);
        assert_eq!(logs.rows, [60_000]);
        logs.filter.clear();
        logs.stream = Some("changed");
        logs.refresh(&record);
        assert_eq!(logs.rows, [0]);
    }

    #[test]
    fn bars_show_even_one_line_and_fill_at_the_highest() {
        assert_eq!(bars(&[0, 1, 500, 1_000], Glyphs::Braille), " ▁▄█");
        assert!(bars(&[0, 1, 500, 1_000], Glyphs::Ascii).is_ascii());
        assert_eq!(bars(&[0, 0], Glyphs::Block), "  ");
    }
}
