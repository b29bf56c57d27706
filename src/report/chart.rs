//! Charts as SVG, for a page. What is drawn is data; which colour a tone has is up to the page's style sheet.

use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::units::{SimSpan, TimeOfDay, Unit};

/// Pixels of the drawing for one of the page: lines lie on whole pixels of the drawing.
const FINE: u32 = 2;
/// Size of letters.
const LETTERS: u32 = 15 * FINE;
/// Above the plot, for the letters of levers.
const ABOVE: u32 = 20 * FINE;
/// Columns of the labels at the left.
const LEFT: u32 = 58 * FINE;
/// Lines of a grid, about.
const GRID_LINES: usize = 4;

/// What a colour says. The page maps the colour that is written to one of its theme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    /// The player's run.
    You,
    /// Nobody acts.
    Nobody,
    /// The senior's run.
    Senior,
    /// A fork, by its number.
    Fork(usize),
    /// What was predicted, and held.
    Right,
    /// What was predicted, and did not hold.
    Wrong,
    /// Letters and axes.
    Ink,
    /// Lines of the grid.
    Grid,
}

/// Tones of forks that can be told apart.
const FORKS: [(&str, RGBColor); 3] = [
    ("fork-1", RGBColor(0xCC, 0x79, 0xA7)),
    ("fork-2", RGBColor(0xD5, 0x5E, 0x00)),
    ("fork-3", RGBColor(0x8C, 0x6D, 0x1F)),
];

impl Tone {
    /// The name that the style sheet knows it by.
    pub(super) fn name(self) -> &'static str {
        match self {
            Tone::You => "you",
            Tone::Nobody => "nobody",
            Tone::Senior => "senior",
            Tone::Fork(n) => FORKS[n % FORKS.len()].0,
            Tone::Right => "right",
            Tone::Wrong => "wrong",
            Tone::Ink => "ink",
            Tone::Grid => "grid",
        }
    }

    fn colour(self) -> RGBColor {
        match self {
            Tone::You => RGBColor(0x00, 0x72, 0xB2),
            Tone::Nobody => RGBColor(0x70, 0x70, 0x70),
            Tone::Senior => RGBColor(0x00, 0x9E, 0x73),
            Tone::Fork(n) => FORKS[n % FORKS.len()].1,
            Tone::Right => RGBColor(0x11, 0x77, 0x33),
            Tone::Wrong => RGBColor(0xB0, 0x3A, 0x1E),
            Tone::Ink => RGBColor(0x11, 0x11, 0x11),
            Tone::Grid => RGBColor(0xDD, 0xDD, 0xDD),
        }
    }
}

/// A line: a value, and the smallest and largest around it, at each second; a gap where nothing was measured.
pub(super) struct Plot {
    pub(super) tone: Tone,
    pub(super) points: Vec<(f64, Option<[f64; 3]>)>,
}

/// Something that is marked in a chart.
pub(super) enum Mark {
    /// A letter above the plot, with a line through it.
    Letter(u64, char),
    /// A stretch of time, with a word above it, at its left end or its right one.
    Window((usize, usize), &'static str, HPos),
    /// From a moment to another, between which values was right, and what it became.
    Target { from_to_s: (u64, u64), right: (Option<f64>, Option<f64>), became: Option<(f64, bool)> },
}

/// A chart over time, from zero.
pub(super) struct Chart {
    /// Width and height on the page, in pixels.
    pub(super) size: (u32, u32),
    pub(super) unit: Unit,
    /// Time of day at second 0.
    pub(super) start: TimeOfDay,
    pub(super) plots: Vec<Plot>,
    pub(super) marks: Vec<Mark>,
}

type Failed = DrawingAreaErrorKind<std::io::Error>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Plane<'a> = DrawingArea<SVGBackend<'a>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// The step between lines of a grid: 1, 2, 2.5 or 5 of some power of ten, so that there are few of them.
fn step(top: f64) -> f64 {
    let mut power = 1e-9;
    while power * 10.0 * GRID_LINES as f64 <= top {
        power *= 10.0;
    }
    let fits = |s: &f64| s * power * GRID_LINES as f64 >= top * 0.999;
    [1.0, 2.0, 2.5, 5.0].into_iter().find(fits).unwrap_or(10.0) * power
}

/// Seconds between labels of time, so that there are few of them.
fn time_step(seconds: f64, labels: f64) -> u64 {
    let fits = |s: &u64| *s as f64 * labels >= seconds;
    [60, 120, 300, 600, 900, 1_200, 1_800].into_iter().find(fits).unwrap_or(3_600)
}

impl Chart {
    /// Seconds from the first to the last point.
    fn seconds(&self) -> (f64, f64) {
        let all = || self.plots.iter().flat_map(|p| &p.points).map(|p| p.0);
        let (first, last) = (all().fold(f64::MAX, f64::min), all().fold(0.0, f64::max));
        if first < last { (first, last) } else { (0.0, 60.0) }
    }

    /// The highest value that is drawn, rounded up to a line of the grid.
    fn top(&self) -> f64 {
        let values = self.plots.iter().flat_map(|p| &p.points).filter_map(|p| p.1).map(|v| v[2]);
        let marks = self.marks.iter().flat_map(|m| match m {
            Mark::Target { right, became, .. } => [right.0, right.1, became.map(|b| b.0)],
            _ => [None; 3],
        });
        let highest = values.chain(marks.flatten()).filter(|v| v.is_finite()).fold(0.0, f64::max);
        if highest <= 0.0 {
            return 1.0;
        }
        let step = step(highest);
        // A share has no more than all of it.
        let top = (highest / step * 0.999).ceil() * step;
        if self.unit == Unit::Ratio { top.min(1.0) } else { top }
    }

    /// The drawing, and its width and height; nothing but what stands between the SVG's own tags.
    pub(super) fn draw(&self) -> (String, u32, u32) {
        let (width, height) = (self.size.0 * FINE, self.size.1 * FINE);
        let mut svg = String::new();
        // Writing into a string does not fail; what is missing in a drawing is missing, and no reason to have no page.
        let _ = self.paint(&SVGBackend::with_string(&mut svg, (width, height)).into_drawing_area());
        let inside = svg.find("<svg").and_then(|at| svg[at..].find('>').map(|end| at + end + 1));
        let inside = svg.get(inside.unwrap_or(0)..).unwrap_or("").trim();
        (inside.strip_suffix("</svg>").unwrap_or(inside).trim().to_owned(), width, height)
    }

    fn paint(&self, root: &Area<'_>) -> Result<(), Failed> {
        let (first, last) = self.seconds();
        let top = self.top();
        let chart = ChartBuilder::on(root)
            .margin_top(ABOVE)
            .margin_right(14 * FINE)
            .x_label_area_size(22 * FINE)
            .y_label_area_size(LEFT)
            .build_cartesian_2d(first..last, 0.0..top)?;
        let plane = chart.plotting_area();
        self.axes(root, plane, (first, last), top)?;
        for mark in &self.marks {
            if let Mark::Window((from, to), word, side) = mark {
                let shade = Tone::You.colour().mix(0.10).filled();
                let (from, to) = ((*from as f64).max(first), (*to as f64).min(last));
                plane.draw(&Rectangle::new([(from, 0.0), (to, top)], shade))?;
                let end = if matches!(side, HPos::Right) { to } else { from };
                let at = plane.map_coordinate(&(end, top));
                write(root, word, (at.0, at.1 - 4 * FINE as i32), (*side, VPos::Bottom), Tone::Ink)?;
            }
        }
        for plot in &self.plots {
            line(plane, plot)?;
        }
        let mut free = 0;
        for mark in &self.marks {
            match mark {
                Mark::Letter(second, letter) => {
                    let at = plane.map_coordinate(&(*second as f64, top));
                    let foot = plane.map_coordinate(&(*second as f64, 0.0));
                    root.draw(&PathElement::new(
                        vec![at, foot],
                        Tone::Ink.colour().mix(0.45).stroke_width(FINE),
                    ))?;
                    // Letters of the same minute stand beside each other.
                    let x = at.0.max(free);
                    free = x + 12 * FINE as i32;
                    let place = (x, at.1 - 4 * FINE as i32);
                    write(root, &letter.to_string(), place, (HPos::Center, VPos::Bottom), Tone::Ink)?;
                }
                Mark::Target { from_to_s, right, became } => {
                    target(root, plane, *from_to_s, *right, *became, top)?;
                }
                Mark::Window(..) => {}
            }
        }
        root.present()
    }

    /// Lines of the grid with their values, and times below.
    fn axes(
        &self,
        root: &Area<'_>,
        plane: &Plane<'_>,
        (first, last): (f64, f64),
        top: f64,
    ) -> Result<(), Failed> {
        let gap = 6 * FINE as i32;
        let step = step(top);
        for n in 0..=(top / step * 1.001) as usize {
            let value = n as f64 * step;
            let (left, right) = (plane.map_coordinate(&(first, value)), plane.map_coordinate(&(last, value)));
            let tone = if n == 0 { Tone::Ink } else { Tone::Grid };
            root.draw(&PathElement::new(vec![left, right], tone.colour().stroke_width(FINE)))?;
            write(
                root,
                &self.unit.show(value),
                (left.0 - gap, left.1),
                (HPos::Right, VPos::Center),
                Tone::Ink,
            )?;
        }
        let labels = f64::from(self.size.0) / 95.0;
        let step = time_step(last - first, labels);
        // Labels stand at round times of day, not at round times of the run.
        let offset = u64::from(self.start.0) % step;
        let mut second = (step - offset) % step;
        while second as f64 <= last {
            if second as f64 >= first {
                let at = plane.map_coordinate(&(second as f64, 0.0));
                root.draw(&PathElement::new(
                    vec![at, (at.0, at.1 + gap)],
                    Tone::Ink.colour().stroke_width(FINE),
                ))?;
                let clock = self.start.after(SimSpan::from_secs(second)).to_string();
                let place = (at.0, at.1 + gap);
                write(root, clock.get(..5).unwrap_or(&clock), place, (HPos::Center, VPos::Top), Tone::Ink)?;
            }
            second += step;
        }
        Ok(())
    }
}

fn write(
    root: &Area<'_>,
    text: &str,
    at: (i32, i32),
    anchor: (HPos, VPos),
    tone: Tone,
) -> Result<(), Failed> {
    let style = ("sans-serif", LETTERS).into_font().color(&tone.colour()).pos(Pos::new(anchor.0, anchor.1));
    root.draw(&Text::new(text.to_owned(), at, style))
}

/// A line with the range around it, in pieces where there are gaps.
fn line(plane: &Plane<'_>, plot: &Plot) -> Result<(), Failed> {
    let colour = plot.tone.colour();
    for piece in plot.points.split(|p| p.1.is_none()) {
        let points: Vec<(f64, [f64; 3])> = piece.iter().filter_map(|p| Some((p.0, p.1?))).collect();
        let upper = points.iter().map(|p| (p.0, p.1[2]));
        let lower = points.iter().rev().map(|p| (p.0, p.1[1]));
        if points.iter().any(|p| p.1[1] < p.1[2]) {
            plane.draw(&Polygon::new(upper.chain(lower).collect::<Vec<_>>(), colour.mix(0.16)))?;
        }
        let middle: Vec<(f64, f64)> = points.iter().map(|p| (p.0, p.1[0])).collect();
        if middle.len() > 1 {
            plane.draw(&PathElement::new(middle, colour.stroke_width(2 * FINE + 1)))?;
        }
    }
    Ok(())
}

/// Where a prediction began, between which values it would be right, and what came.
fn target(
    root: &Area<'_>,
    plane: &Plane<'_>,
    (from, to): (u64, u64),
    right: (Option<f64>, Option<f64>),
    became: Option<(f64, bool)>,
    top: f64,
) -> Result<(), Failed> {
    let px = FINE as i32;
    let at = |second: u64, value: f64| plane.map_coordinate(&(second as f64, value.clamp(0.0, top)));
    let made = vec![at(from, 0.0), at(from, top)];
    root.draw(&PathElement::new(made, Tone::Ink.colour().mix(0.45).stroke_width(FINE)))?;
    write(
        root,
        "made",
        (at(from, top).0, at(from, top).1 - 4 * px),
        (HPos::Center, VPos::Bottom),
        Tone::Ink,
    )?;
    write(root, "due", (at(to, top).0, at(to, top).1 - 4 * px), (HPos::Center, VPos::Bottom), Tone::Ink)?;
    let (low, high) = (at(to, right.0.unwrap_or(0.0)), at(to, right.1.unwrap_or(top)));
    let bar = [(low.0 - 5 * px, high.1.min(low.1 - 2 * px)), (low.0 + 5 * px, low.1)];
    root.draw(&Rectangle::new(bar, Tone::Right.colour().mix(0.30).filled()))?;
    if let Some((value, held)) = became {
        let tone = if held { Tone::Right } else { Tone::Wrong };
        root.draw(&Circle::new(at(to, value), 5 * px, tone.colour().filled()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_have_few_round_lines() {
        for (top, wanted) in
            [(1.0, 0.25), (0.93, 0.25), (11_300.0, 5_000.0), (3.9, 1.0), (0.004, 0.001), (120.0, 50.0)]
        {
            let found = step(top);
            assert!((found / wanted - 1.0).abs() < 1e-6, "{top}: {found}");
        }
        assert_eq!([time_step(600.0, 5.0), time_step(3_600.0, 8.0), time_step(1e6, 2.0)], [120, 600, 3_600]);
    }

    #[test]
    fn gaps_stay_gaps_and_nothing_is_drawn_of_nothing() {
        let chart = |points: Vec<(f64, Option<[f64; 3]>)>| Chart {
            size: (400, 200),
            unit: Unit::Ratio,
            start: TimeOfDay::default(),
            plots: vec![Plot { tone: Tone::You, points }],
            marks: vec![Mark::Letter(20, '<')],
        };
        let (svg, width, height) =
            chart((0..9).map(|i| (f64::from(i) * 10.0, (i != 4).then_some([0.5, 0.4, 0.6]))).collect())
                .draw();
        let drawn = svg.matches("stroke=\"#0072B2\"").count();
        assert_eq!((drawn, width, height), (2, 800, 400), "{svg}");
        assert!(svg.contains("&lt;") && !svg.contains("<svg") && !svg.contains("NaN"), "{svg}");
        assert!(!chart(Vec::new()).draw().0.contains("NaN"));
    }
}
