//! A chart of series over time.
//!
//! ```text
//! ╭ Requests ───────────────── 11.0k/s ╮   name, newest value; what is breached, in words
//! │● received 11.0k/s  ▲ operations …  │   legend, with the values at the crosshair when there is one
//! │      C    P                        │   annotations: change, page, ! alert, A your action
//! │      ┊  ⣠⣤⣤┊⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤●   12k │   the plot; the right edge is now
//! │⠶⠶⠶⠶⠶⠶┊⠶⠶⠶⠶⠶┊⠶⠶⠶⠶⠶⠶⠶⠶⠶⠶⠶⠶▲     0 │
//! │13:57      14:00      14:03         │
//! ╰────────────────────────────────────╯
//! ```

use std::ops::Range;

use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use crate::telemetry::recent;
use crate::tui::canvas::{Canvas, columns};
use crate::tui::theme::{Glyphs, Role, marker};
use crate::units::{SimSpan, TimeOfDay, Unit, short};

/// A line of a chart.
#[derive(Clone, Debug)]
pub(crate) struct Plotted<'a> {
    /// Name in the legend.
    pub(crate) name: String,
    /// What the numbers measure.
    pub(crate) unit: Unit,
    /// Whether more is worse; decides on which side of the threshold the breach lies.
    pub(crate) more_is_worse: Option<bool>,
    /// A sample a second from the start of the clock; NaN in gaps.
    pub(crate) values: &'a [f64],
    /// Of a percentile: what was merged over the seconds up to each sample.
    pub(crate) merged: Option<&'a [f64]>,
}

/// Something that happened, marked above the plot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Second since the start of the clock.
    pub(crate) second: usize,
    /// The letter.
    pub(crate) letter: char,
    /// Its colour.
    pub(crate) role: Role,
}

/// A chart.
pub(crate) struct Chart<'a> {
    /// Title.
    pub(crate) title: &'a str,
    /// Lines, the most important first.
    pub(crate) lines: Vec<Plotted<'a>>,
    /// A dashed line and its name.
    pub(crate) threshold: Option<(f64, &'a str)>,
    /// What happened. Of marks of the same moment the last one stands where it belongs, the others beside it.
    pub(crate) marks: &'a [Mark],
    /// Seconds recorded.
    pub(crate) now: usize,
    /// Seconds shown.
    pub(crate) window: usize,
    /// The second that the crosshair stands on.
    pub(crate) crosshair: Option<usize>,
    /// Time of day of second 0.
    pub(crate) clock: TimeOfDay,
    /// Whether it has the keys.
    pub(crate) focus: bool,
    /// What a viewer asked for.
    pub(crate) extras: Extras,
}

/// What a viewer can ask of a chart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extras {
    /// An axis on which every step is ten times the one before.
    pub(crate) log: bool,
    /// The same lines that many seconds earlier, in the background.
    pub(crate) earlier: Option<usize>,
    /// Lines that are left out, a bit each.
    pub(crate) hidden: u64,
}

/// More lines than this are drawn alike, as a bundle.
const TOLD_APART: usize = 8;
/// From this width on, labels have at least [`LABEL`] columns: enough for most of them.
const WIDE: u16 = 30;
const LABEL: u16 = 5;

impl Plotted<'_> {
    /// The value drawn for a second: of rates and percentiles the figure that is said for it. What single seconds of few
    /// requests give jumps too much to be a line.
    pub(crate) fn at(&self, second: usize) -> Option<f64> {
        let raw = self.values.get(second).copied().filter(|v| v.is_finite())?;
        if self.unit == Unit::PerSecond || self.merged.is_some() { self.reading(second) } else { Some(raw) }
    }

    /// The figure said for a second, by the same rule as every present value.
    pub(crate) fn reading(&self, second: usize) -> Option<f64> {
        recent(self.values, self.merged, second + 1)
    }

    /// The smallest value above 0 in a range of seconds.
    fn least(&self, seconds: Range<usize>) -> Option<f64> {
        seconds.filter_map(|s| self.at(s)).filter(|v| *v > 0.0).reduce(f64::min)
    }

    /// Smallest and largest value shown in a range of seconds.
    fn range(&self, seconds: Range<usize>) -> Option<(f64, f64)> {
        seconds
            .filter_map(|s| self.at(s))
            .fold(None, |acc, v| Some(acc.map_or((v, v), |(lo, hi): (f64, f64)| (lo.min(v), hi.max(v)))))
    }
}

impl<'a> Chart<'a> {
    /// The lines that are not left out, with their numbers.
    fn visible(&self) -> impl DoubleEndedIterator<Item = (usize, &Plotted<'a>)> {
        let hidden = self.extras.hidden;
        self.lines.iter().enumerate().filter(move |(i, _)| hidden >> (i % 64) & 1 == 0)
    }

    /// What stands at the right of the title beside the values: what was asked for and changes how it is read.
    fn asked(&self) -> String {
        let mut words = Vec::new();
        if self.extras.log {
            words.push("log".to_owned());
        }
        if let Some(earlier) = self.extras.earlier {
            words.push(format!("┄ {} min earlier", earlier / 60));
        }
        if words.is_empty() { String::new() } else { format!("  {}", words.join("  ")) }
    }

    /// Whether the newest values lie on the wrong side of the threshold.
    pub(crate) fn breached(&self) -> bool {
        let Some((limit, _)) = self.threshold else { return false };
        let Some(last) = self.now.checked_sub(1) else { return false };
        self.lines.iter().any(|line| {
            line.reading(last)
                .is_some_and(|v| if line.more_is_worse == Some(false) { v < limit } else { v > limit })
        })
    }

    /// Draws it with its border.
    pub(crate) fn draw(&self, canvas: &mut Canvas<'_>, area: Rect) {
        let breached = self.breached();
        let mut right: Vec<Span<'_>> = Vec::new();
        if let [line] = self.lines.as_slice() {
            let value = self.now.checked_sub(1).and_then(|s| line.reading(s)).unwrap_or(f64::NAN);
            let role = if breached { Role::Crit } else { Role::Text };
            right.push(Span::styled(line.unit.show(value), canvas.style(role).add_modifier(Modifier::BOLD)));
        }
        if let Some((_, name)) = self.threshold.filter(|_| breached) {
            // The name of what is breached where there is room for it, a word or a sign where there is not.
            let space = if right.is_empty() { "" } else { "  " };
            let used = columns(self.title) + right.iter().map(Span::width).sum::<usize>() + 8;
            let room = usize::from(area.width).saturating_sub(used);
            let words = [format!("{space}! {name}"), format!("{space}! breached")];
            let text = words.into_iter().find(|w| columns(w) <= room).unwrap_or(format!("{space}!"));
            right.push(Span::styled(text, canvas.style(Role::Crit)));
        }
        let asked = self.asked();
        let used = columns(self.title) + right.iter().map(Span::width).sum::<usize>() + 6;
        if !asked.is_empty() && used + columns(&asked) <= usize::from(area.width) {
            let asked = if right.is_empty() { asked.trim_start().to_owned() } else { asked };
            right.push(Span::styled(asked, canvas.style(Role::Muted)));
        }
        let inner = canvas.frame(area, self.title, &Line::from(right), self.focus);
        self.draw_inside(canvas, inner);
    }

    /// Draws it without a border.
    pub(crate) fn draw_inside(&self, canvas: &mut Canvas<'_>, area: Rect) {
        if area.width < 8 || area.height == 0 {
            return;
        }
        if self.now == 0 || self.lines.is_empty() {
            canvas.text(area, area.height / 2, "no data yet", Role::Muted);
            return;
        }
        let wants_legend = self.lines.len() > 1 || self.crosshair.is_some();
        let legend_rows =
            if wants_legend { self.legend(canvas, area.width, area.height) } else { Vec::new() };
        let mut rest = area;
        let mut take = |needs: u16| -> Option<Rect> {
            (rest.height >= needs).then(|| {
                let row = Rect { height: 1, ..rest };
                rest.y += 1;
                rest.height -= 1;
                row
            })
        };
        let legend: Vec<Rect> = legend_rows.iter().filter_map(|_| take(3)).collect();
        let marks = take(5);
        let times = if rest.height >= 4 {
            rest.height -= 1;
            Some(Rect { y: rest.bottom(), height: 1, ..rest })
        } else {
            None
        };
        let unit = self.lines[0].unit;
        let top = self.axis_top(unit);
        let bottom = self.extras.log.then(|| self.axis_bottom(top));
        let ticks = match bottom {
            Some(bottom) => log_ticks(unit, bottom, top, rest.height),
            None => ticks(unit, top, rest.height),
        };
        let label_width = ticks.iter().map(|(_, text)| columns(text)).max().unwrap_or(0) as u16;
        // A time stands in the same column in charts above one another, whatever their labels.
        let label_width = if rest.width >= WIDE { label_width.max(LABEL) } else { label_width };
        if rest.width <= label_width + 2 {
            return;
        }
        let plot = Rect { width: rest.width - label_width - 1, ..rest };
        let labels = Rect { x: plot.right() + 1, width: label_width, ..rest };
        for (row, text) in &ticks {
            canvas.line_right(
                labels,
                *row,
                &Line::from(Span::styled(text.as_str(), canvas.style(Role::Muted))),
            );
        }
        let scale = Scale::new(self, plot, canvas.theme.glyphs, (bottom, top));
        for (row, line) in legend.iter().zip(&legend_rows) {
            canvas.line(*row, 0, line);
        }
        self.draw_guides(canvas, &scale, marks);
        self.draw_lines(canvas, &scale);
        self.draw_crosshair(canvas, &scale);
        if let Some(row) = times {
            self.draw_times(canvas, &scale, Rect { width: plot.width, ..row });
        }
    }

    /// The value at the top of the axis: a round number not far above everything shown. All axes start at 0.
    fn axis_top(&self, unit: Unit) -> f64 {
        let shown = self.now.saturating_sub(self.window)..self.now;
        let before =
            self.extras.earlier.map(|by| shown.start.saturating_sub(by)..shown.end.saturating_sub(by));
        let highest = self
            .visible()
            .flat_map(|(_, l)| {
                [Some(&shown), before.as_ref()].into_iter().flatten().filter_map(|s| l.range(s.clone()))
            })
            .map(|r| r.1)
            .fold(0.0, f64::max);
        let (least, most) = match unit {
            // A hundredth is noise; more than the whole does not exist.
            Unit::Ratio => (0.01, if highest <= 1.0 { 1.0 } else { f64::INFINITY }),
            Unit::Seconds => (0.001, f64::INFINITY),
            _ => (1.0, f64::INFINITY),
        };
        round_up(highest.max(least)).min(most)
    }

    /// The value at the bottom of a logarithmic axis: a power of ten not far below everything shown, at most six steps
    /// below the top.
    fn axis_bottom(&self, top: f64) -> f64 {
        let shown = self.now.saturating_sub(self.window)..self.now;
        let least = self.visible().filter_map(|(_, l)| l.least(shown.clone())).fold(top, f64::min);
        let mut bottom = 1.0;
        while bottom > least.max(top / 1e6) {
            bottom /= 10.0;
        }
        while bottom * 10.0 <= least.max(top / 1e6) {
            bottom *= 10.0;
        }
        if bottom >= top { top / 10.0 } else { bottom }
    }

    /// The legend in as many rows as it needs and a chart of that height can spare.
    fn legend(&self, canvas: &Canvas<'_>, width: u16, height: u16) -> Vec<Line<'static>> {
        let at = self.crosshair.unwrap_or(self.now.saturating_sub(1));
        let mut spans = Vec::new();
        if self.crosshair.is_some() {
            let time = self.clock.after(SimSpan::from_secs(at as u64));
            spans.push(Span::styled(format!("{time}  "), canvas.style(Role::Focus)));
        }
        if self.lines.len() > TOLD_APART {
            let values = self.lines.iter().filter_map(|l| l.reading(at));
            let range = values.fold(None, |acc: Option<(f64, f64)>, v| {
                Some(acc.map_or((v, v), |(lo, hi)| (lo.min(v), hi.max(v))))
            });
            let unit = self.lines[0].unit;
            let text = match range {
                Some((lo, hi)) => {
                    format!("{} lines, {} to {}", self.lines.len(), unit.show(lo), unit.show(hi))
                }
                None => format!("{} lines, no data", self.lines.len()),
            };
            spans.push(Span::styled(text, canvas.style(Role::Text)));
        } else {
            // The value belongs to its name: what does not fit goes into a further row where there is room for one, and
            // only then do the longest names lose their ends.
            let values: Vec<String> =
                self.lines.iter().map(|l| l.unit.show(l.reading(at).unwrap_or(f64::NAN))).collect();
            let rows_most = 1 + usize::from(height >= 9) + usize::from(height >= 14);
            let first = spans.iter().map(Span::width).sum::<usize>();
            let room = usize::from(width);
            let longest = self.lines.iter().map(|l| columns(&l.name)).max().unwrap_or(0);
            // The entries of each row, when names have at most so many columns; none when that is too many rows.
            let flow = |space: usize, most: usize| -> Option<Vec<Range<usize>>> {
                let (mut rows, mut from, mut used) = (Vec::new(), 0, first);
                for (i, value) in values.iter().enumerate() {
                    let needs = 1 + space + columns(&self.lines[i].name).min(most) + 1 + columns(value);
                    let gap = if i == from { 0 } else { space + 1 };
                    if used + gap + needs > room && i > from {
                        rows.push(from..i);
                        (from, used) = (i, needs);
                    } else {
                        used += gap + needs;
                    }
                    if used > room {
                        return None;
                    }
                }
                rows.push(from..values.len());
                (rows.len() <= rows_most).then_some(rows)
            };
            let fit = (0..=longest).rev().find_map(|most| Some((1, most, flow(1, most)?)));
            let fit = fit.or_else(|| (0..=longest).rev().find_map(|most| Some((0, most, flow(0, most)?))));
            let (space, allowed, rows) =
                fit.unwrap_or_else(|| (0, 0, std::iter::once(0..self.lines.len()).collect()));
            let mut lines = Vec::new();
            for row in rows {
                for i in row.clone() {
                    let line = &self.lines[i];
                    let shown = self.extras.hidden >> (i % 64) & 1 == 0;
                    let style = canvas.style(if shown { Role::Series(i) } else { Role::Muted });
                    let sign = if shown { marker(i) } else { '·' };
                    let gap = if i == row.start { 0 } else { space + 1 };
                    spans.push(Span::styled(format!("{:gap$}{sign}{:space$}", "", ""), style));
                    spans.push(Span::styled(cut(&line.name, allowed), canvas.style(Role::Muted)));
                    spans.push(Span::styled(format!(" {}", values[i]), style.add_modifier(Modifier::BOLD)));
                }
                lines.push(Line::from(std::mem::take(&mut spans)));
            }
            return lines;
        }
        vec![Line::from(spans)]
    }

    /// Annotations in their row with a guide through the plot, and the threshold.
    fn draw_guides(&self, canvas: &mut Canvas<'_>, scale: &Scale, marks: Option<Rect>) {
        let muted = canvas.style(Role::Muted);
        let mut taken: Vec<(u16, char)> = Vec::new();
        for mark in self.marks.iter().rev() {
            let Some(column) = scale.cell_of(mark.second) else { continue };
            let x = scale.plot.x + column;
            for y in scale.plot.y..scale.plot.bottom() {
                if let Some(cell) = canvas.buf.cell_mut((x, y)) {
                    cell.set_symbol("┊").set_style(muted);
                }
            }
            if let Some(row) = marks {
                // Marks of the same moment stand side by side, but never so far off that they seem to belong to
                // another one; one that says the same again, here or next to it, stands in its place.
                if taken.iter().any(|&(at, letter)| letter == mark.letter && at.abs_diff(column) <= 1) {
                    continue;
                }
                let right = (column..scale.plot.width).take(4);
                let mut columns = right.chain((0..column).rev().take(2));
                let free = columns.find(|c| !taken.iter().any(|(t, _)| t == c));
                let Some(column) = free else { continue };
                taken.push((column, mark.letter));
                let style = canvas.style(mark.role).add_modifier(Modifier::BOLD);
                if let Some(cell) = canvas.buf.cell_mut((scale.plot.x + column, row.y)) {
                    cell.set_char(mark.letter).set_style(style);
                }
            }
        }
        if let Some((limit, _)) = self.threshold
            && limit <= scale.top
        {
            let role = if self.breached() { Role::Crit } else { Role::Muted };
            let row = scale.row_of(limit);
            let style = canvas.style(role).remove_modifier(Modifier::REVERSED);
            for x in scale.plot.x..scale.plot.right() {
                if let Some(cell) = canvas.buf.cell_mut((x, scale.plot.y + row)) {
                    cell.set_symbol("╌").set_style(style);
                }
            }
        }
    }

    fn draw_lines(&self, canvas: &mut Canvas<'_>, scale: &Scale) {
        let mut raster = Raster::new(scale.plot, canvas.theme.glyphs);
        let bundle = self.lines.len() > TOLD_APART;
        if let Some(earlier) = self.extras.earlier {
            self.draw_earlier(canvas, scale, earlier);
        }
        for (i, line) in self.visible().rev() {
            let series = if bundle { 0 } else { i };
            let mut before: Option<(u32, u32)> = None;
            for x in 0..scale.dots_wide {
                let seconds = scale.seconds_of(x, self.now);
                if line.merged.is_some() {
                    // Between the levels that a percentile jumps between there is nothing: few requests took that long.
                    for value in seconds.into_iter().flatten().filter_map(|s| line.at(s)) {
                        raster.set(x, scale.dot_of(value), series);
                    }
                    continue;
                }
                let Some((lo, hi)) = seconds.and_then(|s| line.range(s)) else {
                    before = None;
                    continue;
                };
                let (mut top, mut bottom) = (scale.dot_of(hi), scale.dot_of(lo));
                let own = (top, bottom);
                // Join with the column before, so that a steep rise is one line.
                if let Some((top_before, bottom_before)) = before {
                    if top > bottom_before {
                        top = bottom_before + 1;
                    } else if bottom < top_before {
                        bottom = top_before - 1;
                    }
                }
                for y in top..=bottom {
                    raster.set(x, y, series);
                }
                before = Some(own);
            }
        }
        raster.paint(canvas);
        if self.lines.len() > 1 && !bundle && canvas.theme.glyphs != Glyphs::Ascii {
            let last = self.now.saturating_sub(1);
            for (i, line) in self.visible().rev() {
                let Some(value) = line.at(last) else { continue };
                let (x, y) = (scale.plot.right() - 1, scale.plot.y + scale.row_of(value));
                let style = canvas.style(Role::Series(i)).add_modifier(Modifier::BOLD);
                if let Some(cell) = canvas.buf.cell_mut((x, y)) {
                    cell.set_char(marker(i)).set_style(style);
                }
            }
        }
    }

    /// The lines as they were so many seconds before, a dash in every second cell.
    fn draw_earlier(&self, canvas: &mut Canvas<'_>, scale: &Scale, earlier: usize) {
        let style = canvas.style(Role::Muted);
        for (_, line) in self.visible() {
            for x in (0..scale.plot.width).step_by(2) {
                let seconds = scale.seconds_of(u32::from(x) * scale.dots.0, self.now);
                let before =
                    seconds.and_then(|s| Some(s.start.checked_sub(earlier)?..s.end.checked_sub(earlier)?));
                let Some((lo, hi)) = before.and_then(|s| line.range(s)) else { continue };
                let row = scale.row_of((lo + hi) / 2.0);
                if let Some(cell) = canvas.buf.cell_mut((scale.plot.x + x, scale.plot.y + row)) {
                    cell.set_symbol("┄").set_style(style);
                }
            }
        }
    }

    fn draw_crosshair(&self, canvas: &mut Canvas<'_>, scale: &Scale) {
        let Some(column) = self.crosshair.and_then(|s| scale.cell_of(s)) else { return };
        let style = canvas.style(Role::Focus);
        for y in scale.plot.y..scale.plot.bottom() {
            if let Some(cell) = canvas.buf.cell_mut((scale.plot.x + column, y))
                && matches!(cell.symbol(), " " | "┊" | "╌")
            {
                cell.set_symbol("│").set_style(style);
            }
        }
    }

    fn draw_times(&self, canvas: &mut Canvas<'_>, scale: &Scale, row: Rect) {
        const STEPS_S: [u32; 9] = [10, 15, 30, 60, 120, 300, 600, 900, 1_800];
        let per_cell = self.window as f64 / f64::from(row.width.max(1));
        let Some(&step) = STEPS_S.iter().find(|&&s| f64::from(s) / per_cell >= 11.0) else { return };
        let first = self.now.saturating_sub(self.window) as u32;
        let of_day = self.clock.0;
        let mut at = (of_day + first).div_ceil(step) * step - of_day;
        let mut free = 0;
        while (at as usize) < self.now {
            let time = self.clock.after(SimSpan::from_secs(u64::from(at))).to_string();
            let text = if step % 60 == 0 { &time[..5] } else { &time };
            if let Some(column) = scale.cell_of(at as usize)
                && column >= free
                && usize::from(column) + text.len() <= usize::from(row.width)
            {
                canvas.text(
                    Rect { x: row.x + column, width: row.width - column, ..row },
                    0,
                    text,
                    Role::Muted,
                );
                free = column + text.len() as u16 + 1;
            }
            at += step;
        }
    }
}

/// From seconds and values to dots.
struct Scale {
    plot: Rect,
    dots_wide: u32,
    dots_high: u32,
    /// Dots of a cell, across and down.
    dots: (u32, u32),
    /// Seconds of a dot column.
    per_dot: f64,
    /// The bucket of the leftmost dot column. Buckets are counted from second 0, so that a line does not shimmer as
    /// time goes on.
    first: i64,
    top: f64,
    /// The value at the bottom of a logarithmic axis.
    bottom: Option<f64>,
}

impl Scale {
    fn new(chart: &Chart<'_>, plot: Rect, glyphs: Glyphs, (bottom, top): (Option<f64>, f64)) -> Scale {
        let dots = match glyphs {
            Glyphs::Braille => (2, 4),
            Glyphs::Block => (2, 2),
            Glyphs::Ascii => (1, 1),
        };
        let dots_wide = u32::from(plot.width) * dots.0;
        let per_dot = chart.window.max(1) as f64 / f64::from(dots_wide.max(1));
        let newest = (chart.now.saturating_sub(1) as f64 / per_dot) as i64;
        Scale {
            plot,
            dots_wide,
            dots_high: u32::from(plot.height) * dots.1,
            dots,
            per_dot,
            first: newest - i64::from(dots_wide) + 1,
            top,
            bottom,
        }
    }

    /// The seconds of a dot column: at least one, even where a dot is shorter than a second.
    fn seconds_of(&self, x: u32, now: usize) -> Option<Range<usize>> {
        let bucket = self.first + i64::from(x);
        if bucket < 0 {
            return None;
        }
        let from = (bucket as f64 * self.per_dot).ceil() as usize;
        let until = ((bucket + 1) as f64 * self.per_dot).ceil() as usize;
        let range = if from < until { from..until } else { from.saturating_sub(1)..from.max(1) };
        (range.start < now).then(|| range.start..range.end.min(now))
    }

    /// The cell column of a second, when it is shown.
    fn cell_of(&self, second: usize) -> Option<u16> {
        let dot = (second as f64 / self.per_dot) as i64 - self.first;
        let cell = dot.div_euclid(i64::from(self.dots.0));
        u16::try_from(cell).ok().filter(|&c| c < self.plot.width)
    }

    /// The dot row of a value, counted from the top.
    fn dot_of(&self, value: f64) -> u32 {
        let share = match self.bottom {
            Some(bottom) if value > bottom => log_share(value, bottom, self.top),
            Some(_) => 0.0,
            None => value / self.top,
        };
        let share = share.clamp(0.0, 1.0);
        let last = self.dots_high.saturating_sub(1);
        last - (share * f64::from(last) + 0.5) as u32
    }

    /// The cell row of a value, counted from the top.
    fn row_of(&self, value: f64) -> u16 {
        (self.dot_of(value) / self.dots.1) as u16
    }
}

/// Dots gathered to characters.
struct Raster {
    plot: Rect,
    glyphs: Glyphs,
    dots: (u32, u32),
    /// Dots and series of each cell.
    cells: Vec<(u8, usize)>,
}

impl Raster {
    fn new(plot: Rect, glyphs: Glyphs) -> Raster {
        let dots = match glyphs {
            Glyphs::Braille => (2, 4),
            Glyphs::Block => (2, 2),
            Glyphs::Ascii => (1, 1),
        };
        Raster { plot, glyphs, dots, cells: vec![(0, 0); plot.area() as usize] }
    }

    fn set(&mut self, x: u32, y: u32, series: usize) {
        // Bits as Unicode numbers the dots of a braille character.
        const BRAILLE: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
        let (column, row) = (x / self.dots.0, y / self.dots.1);
        let (dx, dy) = ((x % self.dots.0) as usize, (y % self.dots.1) as usize);
        let bit = match self.glyphs {
            Glyphs::Braille => BRAILLE[dy][dx],
            Glyphs::Block => 1 << (2 * dy + dx),
            Glyphs::Ascii => 1,
        };
        let index = row as usize * usize::from(self.plot.width) + column as usize;
        if column < u32::from(self.plot.width)
            && let Some(cell) = self.cells.get_mut(index)
        {
            *cell = (cell.0 | bit, series);
        }
    }

    fn paint(&self, canvas: &mut Canvas<'_>) {
        const QUADRANTS: [char; 16] =
            [' ', '▘', '▝', '▀', '▖', '▌', '▞', '▛', '▗', '▚', '▐', '▜', '▄', '▙', '▟', '█'];
        for (position, &(dots, series)) in self.plot.positions().zip(&self.cells) {
            if dots == 0 {
                continue;
            }
            let symbol = match self.glyphs {
                Glyphs::Braille => char::from_u32(0x2800 + u32::from(dots)).unwrap_or('.'),
                Glyphs::Block => QUADRANTS[usize::from(dots & 15)],
                Glyphs::Ascii => marker(series),
            };
            let style = canvas.style(Role::Series(series));
            if let Some(cell) = canvas.buf.cell_mut(position) {
                cell.set_char(symbol).set_style(style);
            }
        }
    }
}

/// The next of 1, 1.2, 1.5, 2, 2.5, 5, 10 times a power of ten.
fn round_up(value: f64) -> f64 {
    let mut power = 1.0;
    while power * 10.0 <= value {
        power *= 10.0;
    }
    while power > value {
        power /= 10.0;
    }
    let step = [1.0, 1.2, 1.5, 2.0, 2.5, 5.0].into_iter().find(|s| s * power >= value * 0.999);
    step.unwrap_or(10.0) * power
}

/// A name of at most so many columns; what was cut off is shown to be missing.
fn cut(name: &str, most: usize) -> String {
    if columns(name) <= most {
        return name.to_owned();
    }
    let mut kept: String = name.chars().take(most.saturating_sub(1)).collect();
    if most > 0 {
        kept.push('…');
    }
    kept
}

/// How far up a logarithmic axis from `bottom` to `top` a value lies, 0 to 1.
fn log_share(value: f64, bottom: f64, top: f64) -> f64 {
    libm::log(value / bottom) / libm::log(top / bottom)
}

/// A value beside the axis.
fn tick(unit: Unit, value: f64) -> String {
    match unit {
        Unit::PerSecond | Unit::Count => short(value).replace(".0", ""),
        Unit::Factor => format!("{}×", (value * 1e2 + 0.5).floor() / 1e2),
        _ if value == 0.0 => "0".to_owned(),
        Unit::Ratio => format!("{} %", (value * 1e4 + 0.5).floor() / 100.0),
        Unit::Seconds => unit.show(value).replace(".0 ", " "),
    }
}

/// Labels of a logarithmic axis: its top and the powers of ten below it that have room.
fn log_ticks(unit: Unit, bottom: f64, top: f64, rows: u16) -> Vec<(u16, String)> {
    if rows == 0 {
        return Vec::new();
    }
    let last = f64::from(rows - 1);
    let mut labels = vec![(0, tick(unit, top))];
    let mut value = bottom;
    let mut below: Vec<(u16, String)> = Vec::new();
    while value < top && below.len() < 8 {
        let row = (last - log_share(value, bottom, top) * last + 0.5) as u16;
        if row > 0 && below.last().is_none_or(|b| b.0 > row + 1) {
            below.push((row, tick(unit, value)));
        }
        value *= 10.0;
    }
    labels.extend(below.into_iter().rev().filter(|l| l.0 > 1));
    labels
}

/// Labels of the axis: the row and the text, from the top down.
fn ticks(unit: Unit, top: f64, rows: u16) -> Vec<(u16, String)> {
    let text = |value: f64| tick(unit, value);
    let last = rows.saturating_sub(1);
    match rows {
        0 => Vec::new(),
        1 | 2 => vec![(0, text(top))],
        3..=8 => vec![(0, text(top)), (last, text(0.0))],
        _ => vec![(0, text(top)), ((f64::from(last) / 2.0 + 0.5) as u16, text(top / 2.0)), (last, text(0.0))],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::testing::{draw, draw_with};

    fn steps() -> Vec<f64> {
        (0..900).map(|s| if s < 600 { 4_000.0 } else { 11_000.0 }).collect()
    }

    fn chart<'a>(lines: Vec<Plotted<'a>>, marks: &'a [Mark]) -> Chart<'a> {
        Chart {
            title: "Requests",
            lines,
            threshold: None,
            marks,
            now: 900,
            window: 600,
            crosshair: None,
            clock: TimeOfDay(13 * 3_600 + 50 * 60),
            focus: false,
            extras: Extras::default(),
        }
    }

    fn line<'a>(name: &str, unit: Unit, values: &'a [f64]) -> Plotted<'a> {
        Plotted { name: name.to_owned(), unit, more_is_worse: Some(true), values, merged: None }
    }

    fn mark() -> [Mark; 1] {
        [Mark { second: 600, letter: 'P', role: Role::Crit }]
    }

    #[test]
    fn a_rise_with_an_annotation() {
        let values = steps();
        let marks = mark();
        insta::assert_snapshot!(draw(48, 11, |canvas, area| {
            chart(vec![line("received", Unit::PerSecond, &values)], &marks).draw(canvas, area);
        }));
    }

    #[test]
    fn two_lines_have_markers_and_a_legend() {
        let values = steps();
        let flat = vec![4_000.0; 900];
        insta::assert_snapshot!(draw(48, 11, |canvas, area| {
            let lines =
                vec![line("received", Unit::PerSecond, &values), line("operations", Unit::PerSecond, &flat)];
            chart(lines, &[]).draw(canvas, area);
        }));
    }

    #[test]
    fn a_breach_is_named() {
        let values: Vec<f64> = (0..900).map(|s| if s < 600 { 0.0 } else { 0.38 }).collect();
        insta::assert_snapshot!(draw(48, 11, |canvas, area| {
            let mut chart = chart(vec![line("failing", Unit::Ratio, &values)], &[]);
            chart.threshold = Some((0.05, "page above 5 %"));
            chart.draw(canvas, area);
        }));
    }

    #[test]
    fn blocks_and_ascii() {
        let values = steps();
        for glyphs in [Glyphs::Block, Glyphs::Ascii] {
            insta::assert_snapshot!(draw_with("mono", glyphs, 40, 8, |canvas, area| {
                chart(vec![line("received", Unit::PerSecond, &values)], &[]).draw(canvas, area);
            }));
        }
    }

    #[test]
    fn a_crosshair_shows_the_value_below_it() {
        let values = steps();
        let shown = draw(48, 11, |canvas, area| {
            let mut chart = chart(vec![line("received", Unit::PerSecond, &values)], &[]);
            chart.crosshair = Some(500);
            chart.draw(canvas, area);
        });
        assert!(shown.contains("13:58:20"), "{shown}");
        assert!(shown.contains("4.0k/s"), "{shown}");
    }

    #[test]
    fn a_logarithmic_axis_shows_what_is_small_beside_what_is_large() {
        let large = vec![8_000.0; 900];
        let small: Vec<f64> = (0..900).map(|s| if s < 600 { 5.0 } else { 40.0 }).collect();
        insta::assert_snapshot!(draw(48, 14, |canvas, area| {
            let lines = vec![line("all", Unit::PerSecond, &large), line("refused", Unit::PerSecond, &small)];
            let mut chart = chart(lines, &[]);
            chart.extras.log = true;
            chart.draw(canvas, area);
        }));
    }

    #[test]
    fn an_earlier_window_stands_behind_and_a_line_that_is_left_out_is_named() {
        let values = steps();
        let flat = vec![4_000.0; 900];
        insta::assert_snapshot!(draw(64, 14, |canvas, area| {
            let lines =
                vec![line("received", Unit::PerSecond, &values), line("operations", Unit::PerSecond, &flat)];
            let mut chart = chart(lines, &[]);
            chart.extras = Extras { log: false, earlier: Some(300), hidden: 0b10 };
            chart.draw(canvas, area);
        }));
    }

    #[test]
    fn a_long_legend_takes_another_row_before_it_loses_letters() {
        let values = steps();
        let names =
            ["attempts that the mobile app may make", "attempts of the web", "attempts of the partners"];
        let shown = draw(60, 16, |canvas, area| {
            chart(names.map(|n| line(n, Unit::PerSecond, &values)).into(), &[]).draw(canvas, area);
        });
        assert!(names.iter().all(|n| shown.contains(n)), "{shown}");
        let shown = draw(60, 8, |canvas, area| {
            chart(names.map(|n| line(n, Unit::PerSecond, &values)).into(), &[]).draw(canvas, area);
        });
        assert!(shown.contains("…"), "{shown}");
    }

    #[test]
    fn gaps_stay_gaps() {
        let values: Vec<f64> =
            (0..900).map(|s| if (500..700).contains(&s) { f64::NAN } else { 0.5 }).collect();
        let shown = draw_with("mono", Glyphs::Ascii, 50, 9, |canvas, area| {
            chart(vec![line("x", Unit::Ratio, &values)], &[]).draw(canvas, area);
        });
        let plotted = shown.lines().find(|l| l.contains("***")).unwrap_or_default();
        assert!(plotted.contains("* ") && plotted.contains(" *"), "{shown}");
    }

    #[test]
    fn a_spike_of_one_second_survives_an_hour_on_forty_columns() {
        let mut values = vec![0.1; 3_600];
        values[1_777] = 0.9;
        let mut one = chart(vec![line("x", Unit::Ratio, &values)], &[]);
        (one.now, one.window) = (3_600, 3_600);
        let shown = draw_with("mono", Glyphs::Ascii, 40, 12, |canvas, area| one.draw(canvas, area));
        let high = shown.lines().take(4).filter(|l| l.contains('*')).count();
        assert!(high > 0, "{shown}");
    }

    #[test]
    fn rates_are_means_and_percentiles_are_merged() {
        let values = [0.0, 10.0, 0.0, 10.0, 5.0];
        assert_eq!(line("x", Unit::PerSecond, &values).at(4), Some(5.0));
        assert_eq!(line("x", Unit::Seconds, &values).at(3), Some(10.0));
        let merged = [0.0, 4.0, f64::NAN, 6.0, 6.0];
        let percentile = Plotted { merged: Some(&merged), ..line("p50", Unit::Seconds, &values) };
        assert_eq!(
            (percentile.at(1), percentile.at(2), percentile.reading(4)),
            (Some(4.0), Some(4.0), Some(6.0))
        );
    }

    #[test]
    fn a_percentile_that_jumps_between_two_levels_is_drawn_as_two_levels() {
        let values: Vec<f64> = (0..900).map(|s| if s >= 300 && s % 7 < 3 { 1.0 } else { 0.02 }).collect();
        insta::assert_snapshot!(draw(48, 13, |canvas, area| {
            let p50 = Plotted { merged: Some(&values), ..line("p50", Unit::Seconds, &values) };
            chart(vec![p50], &[]).draw(canvas, area);
        }));
    }

    #[test]
    fn axes_end_at_round_numbers() {
        for (value, top) in [(11_000.0, 12_000.0), (4_100.0, 5_000.0), (0.38, 0.5), (9.0, 10.0), (1.0, 1.0)] {
            assert!((round_up(value) - top).abs() < 1e-9 * top, "{value} {}", round_up(value));
        }
    }

    #[test]
    fn any_size_is_drawn() {
        let values = steps();
        for width in 0..40 {
            for height in 0..14 {
                draw(width, height, |canvas, area| {
                    let lines = vec![
                        line("received", Unit::PerSecond, &values),
                        line("operations", Unit::PerSecond, &values),
                    ];
                    chart(lines, &mark()).draw(canvas, area);
                });
            }
        }
    }
}
