//! Topology: the parts of the system from clients to database, with what flows between them now.
//!
//! ```text
//!  ╭ mobile ─────────────╮ ╭ web ────────────────╮
//!  │ 2.4k/s operations   │ │ 1.6k/s operations   │
//!  ╰─────────────────────╯ ╰─────────────────────╯
//!             ╰───────────┬───────────╯
//!                         │ 11.0k/s requests, 64 % of them repeated
//!  ╭ balancer ───────────────────────────────────╮
//!  …
//! ```
//!
//! Every number is the mean of the last seconds of a recorded series. Nodes can be selected and pinned.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::{Look, Pane};
use crate::game::command::Source;
use crate::game::{DatabaseNode, Topology, View};
use crate::telemetry::RECENT_S;
use crate::tui::actions::Id;
use crate::tui::canvas::{Canvas, Hit, columns};
use crate::tui::dialogs;
use crate::tui::layer::Outcome;
use crate::tui::theme::{Glyphs, Role};
use crate::units::{Unit, short};

/// From this share on a part is called busy, and full.
const BUSY: f64 = 0.8;
/// Below this width words are cut.
const BRIEF: u16 = 90;
/// See [`BUSY`].
const FULL: f64 = 0.97;

/// The pane.
#[derive(Default)]
pub(crate) struct TopologyPane {
    /// The selected node, from the clients down.
    at: usize,
    /// First row of the drawing that is shown.
    top: u16,
    /// The main series of each node.
    series: Vec<String>,
}

/// What is drawn: nodes on a surface that may be higher than the screen.
struct Drawing<'a, 'b> {
    view: &'a View<'a>,
    canvas: &'a mut Canvas<'b>,
    /// Nodes: place and main series.
    nodes: Vec<(Rect, String)>,
    selected: Option<usize>,
    width: u16,
    y: u16,
    /// There is no room for the lines that join boxes.
    compact: bool,
}

/// The last seconds of a series.
fn recent(view: &View<'_>, name: &str) -> Option<f64> {
    view.series().get(name)?.recent()
}

fn shown(view: &View<'_>, name: &str) -> String {
    let unit = view.series().get(name).map_or(Unit::Count, |s| s.unit);
    unit.show(recent(view, name).unwrap_or(f64::NAN))
}

fn state(share: Option<f64>, full: &'static str) -> (&'static str, Role) {
    match share {
        None => ("no data", Role::Muted),
        Some(s) if s >= FULL => (full, Role::Crit),
        Some(s) if s >= BUSY => ("busy", Role::Warn),
        Some(_) => ("has room", Role::Ok),
    }
}

/// The style of something drawn with blocks: reversed, they would look like nothing.
fn drawn(style: Style) -> Style {
    style.remove_modifier(Modifier::REVERSED)
}

/// A share as a bar.
fn bar(share: f64, width: usize, glyphs: Glyphs) -> String {
    let (on, off) = if glyphs == Glyphs::Ascii { ("#", ".") } else { ("█", "░") };
    let filled = ((share.clamp(0.0, 1.0) * width as f64) + 0.5) as usize;
    on.repeat(filled) + &off.repeat(width - filled)
}

impl Drawing<'_, '_> {
    /// A row of boxes of these shares of the width; each has a title, a state, and lines.
    fn tier(&mut self, boxes: Vec<(String, Line<'static>, Vec<Line<'static>>, String)>, shares: &[u16]) {
        let n = boxes.len() as u16;
        let all: u16 = shares.iter().sum::<u16>().max(1);
        let room = self.width.saturating_sub(n.saturating_sub(1));
        let height = boxes.iter().map(|b| b.2.len() as u16).max().unwrap_or(0) + 2;
        let mut x = 0;
        for (i, (title, right, lines, series)) in boxes.into_iter().enumerate() {
            let width = if i as u16 + 1 == n {
                self.width.saturating_sub(x)
            } else {
                (u32::from(room) * u32::from(shares.get(i).copied().unwrap_or(1)) / u32::from(all)) as u16
            };
            let place = Rect { x, y: self.y, width, height };
            let focus = self.selected == Some(self.nodes.len());
            let inner = self.canvas.frame(place, &title, &right, focus);
            let inner = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
            for (row, line) in lines.iter().enumerate() {
                self.canvas.line(inner, row as u16, line);
            }
            self.nodes.push((place, series));
            x += width + 1;
        }
        self.y += height;
    }

    /// Centres of the last boxes of a tier.
    fn centres(&self, boxes: usize) -> Vec<u16> {
        let from = self.nodes.len().saturating_sub(boxes);
        self.nodes[from..].iter().map(|(r, _)| r.x + r.width / 2).collect()
    }

    /// Lines that bring several boxes together in the middle, or apart from it.
    fn join(&mut self, centres: &[u16], apart: bool) {
        let middle = self.width / 2;
        let (Some(&first), Some(&last)) = (centres.iter().min(), centres.iter().max()) else { return };
        if self.compact || centres.len() < 2 {
            return;
        }
        let (left, right) = (first.min(middle), last.max(middle));
        for x in left..=right {
            let at_centre = centres.contains(&x);
            let symbol = match (x == left, x == right, at_centre, x == middle, apart) {
                (true, _, true, _, false) => "╰",
                (_, true, true, _, false) => "╯",
                (true, _, true, _, true) => "╭",
                (_, true, true, _, true) => "╮",
                (true, _, false, true, false) => "╭",
                (_, true, false, true, false) => "╮",
                (true, _, false, true, true) => "╰",
                (_, true, false, true, true) => "╯",
                (_, _, _, true, false) => "┬",
                (_, _, _, true, true) => "┴",
                (_, _, true, _, false) => "┴",
                (_, _, true, _, true) => "┬",
                _ => "─",
            };
            let place = Rect { x, y: self.y, width: 1, height: 1 };
            self.canvas.text(place, 0, symbol, Role::Muted);
        }
        self.y += 1;
    }

    /// What flows along lines at these columns.
    fn flows(&mut self, flows: &[(u16, String)]) {
        for (i, (x, text)) in flows.iter().enumerate() {
            let end = flows.get(i + 1).map_or(self.width, |next| next.0);
            let place = Rect { x: *x, y: self.y, width: end.saturating_sub(*x + 1), height: 1 };
            let line = Line::from(vec![
                Span::styled("│ ", self.canvas.style(Role::Muted)),
                Span::styled(text.clone(), self.canvas.style(Role::Accent)),
            ]);
            self.canvas.line(place, 0, &line);
        }
        self.y += 1;
    }

    fn clients(&mut self, topology: &Topology) {
        let started = recent(self.view, "operations.started");
        let boxes: Vec<_> = topology
            .clients
            .iter()
            .map(|(name, share)| {
                let rate = Unit::PerSecond.show(started.map_or(f64::NAN, |s| s * share));
                let allowed = format!("client.attempts_allowed.{name}");
                let attempts =
                    recent(self.view, &allowed).map_or("no data".to_owned(), |a| format!("{a:.1}"));
                let first = format!("{rate} operations ({:.0} %)", share * 100.0);
                let second = format!("up to {attempts} attempts each");
                let lines = if self.compact {
                    vec![Line::from(format!("{rate}, up to {attempts} attempts each"))]
                } else {
                    vec![Line::from(first), Line::from(second)]
                };
                (name.clone(), Line::default(), lines, allowed)
            })
            .collect();
        let n = boxes.len();
        self.tier(boxes, &vec![1; n]);
        let centres = self.centres(n);
        self.join(&centres, false);
        let text = format!(
            "{} requests, {} of them repeated",
            shown(self.view, "requests.received"),
            shown(self.view, "requests.retry_ratio")
        );
        self.flow(text);
    }

    /// What flows along the middle, or left of it when the text is too long.
    fn flow(&mut self, text: String) {
        let least = self.width.saturating_sub(columns(&text) as u16 + 3);
        self.flows(&[((self.width / 2).min(least), text)]);
    }

    fn balancer(&mut self, topology: &Topology) {
        let (wanted, in_force) = self.view.status().rate_limit;
        let say = |limit: Option<f64>| limit.map_or("none".to_owned(), |l| Unit::PerSecond.show(l));
        let limit = if wanted == in_force {
            say(in_force)
        } else {
            format!("{}, soon {}", say(in_force), say(wanted))
        };
        let rejected = recent(self.view, "requests.rejected");
        let text = format!("limit {limit}   turned away {}", shown(self.view, "requests.rejected"));
        let state = match rejected {
            Some(r) if r > 0.0 => Span::styled("limiting", self.canvas.style(Role::Warn)),
            _ => Span::styled("lets all through", self.canvas.style(Role::Muted)),
        };
        let lines = vec![Line::from(text)];
        let series = "requests.received".to_owned();
        self.tier(vec![(topology.balancer.clone(), Line::from(state), lines, series)], &[1]);
        let received = recent(self.view, "requests.received");
        let through = received.map_or(f64::NAN, |r| r - rejected.unwrap_or(0.0));
        let text = format!("{} requests let through", Unit::PerSecond.show(through.max(0.0)));
        self.flow(text);
    }

    fn services(&mut self, topology: &Topology) {
        let view = self.view;
        let status = view.status().services;
        let glyphs = self.canvas.theme.glyphs;
        let mut boxes = Vec::new();
        let narrow = self.width / (topology.services.len().max(1) as u16) < NARROW;
        for i in in_order_of_calls(topology) {
            let Some(service) = topology.services.get(i) else { continue };
            let pattern = format!("pool.in_use.{}-*", service.name);
            let used: Vec<f64> = view.series().matching(&pattern).filter_map(|s| s.recent()).collect();
            let mean = (!used.is_empty()).then(|| used.iter().sum::<f64>() / used.len() as f64);
            let (word, role) = state(mean, "pools full");
            let n = status.get(i);
            let mut count = n.map_or(String::new(), |n| format!("{} ready", n.ready));
            if let Some(n) = n.filter(|n| n.starting > 0) {
                count.push_str(&format!(", {} starting", n.starting));
            }
            if let Some(n) = n.filter(|n| n.draining > 0) {
                count.push_str(&format!(", {} draining", n.draining));
            }
            let waiting = if topology.services.len() == 1 {
                format!("   {} wait for a connection", shown(view, "pool.waiting"))
            } else {
                String::new()
            };
            let mut lines = Vec::new();
            if service.database.is_some() {
                let (cells, in_use) = if narrow { (6, "") } else { (12, " in use") };
                let share = Unit::Ratio.show(mean.unwrap_or(f64::NAN));
                lines.push(Line::from(vec![
                    Span::raw("pools "),
                    Span::styled(bar(mean.unwrap_or(0.0), cells, glyphs), drawn(self.canvas.style(role))),
                    Span::raw(format!(" {share}{in_use}{waiting}")),
                ]));
                let each: String = used.iter().map(|v| level(*v, glyphs)).collect();
                let size = n.map_or(0, |n| n.pool_size);
                let size =
                    if narrow { format!(" of {size}") } else { format!("  {size} connections a pool") };
                lines.push(Line::from(vec![
                    Span::raw("each  "),
                    Span::styled(each, self.canvas.style(Role::Series(0))),
                    Span::styled(size, self.canvas.style(Role::Muted)),
                ]));
            } else {
                lines.push(Line::from(Span::styled("no database", self.canvas.style(Role::Muted))));
            }
            if !service.calls.is_empty() {
                let mut called = service.calls.clone();
                called.dedup();
                lines.push(Line::from(format!("calls {}", called.join(", "))));
            }
            let right = Line::from(vec![
                Span::raw(format!("{count}, ")),
                Span::styled(word, self.canvas.style(role)),
            ]);
            boxes.push((service.name.clone(), right, lines, "pool.in_use".to_owned()));
        }
        let n = boxes.len();
        self.tier(boxes, &vec![1; n]);
    }

    fn stores(&mut self, topology: &Topology) {
        let view = self.view;
        let (caches, databases) = (topology.caches.len(), topology.databases.len());
        let reachable = view.status().caches;
        let mut boxes = Vec::new();
        for (i, cache) in topology.caches.iter().enumerate() {
            let (up, warmed, to_warm) = reachable.get(i).copied().unwrap_or((true, 0, 0));
            let state = if up { ("answers", Role::Ok) } else { ("UNREACHABLE", Role::Crit) };
            let mut lines = vec![
                Line::from(format!("hit ratio {}", shown(view, "cache.hit_ratio"))),
                Line::from(format!("fills {}", shown(view, "cache.fills"))),
            ];
            if to_warm > 0 {
                let text = format!("warm-up {} of {}", short(f64::from(warmed)), short(f64::from(to_warm)));
                lines.push(Line::from(text));
            }
            let right = Line::from(Span::styled(state.0, self.canvas.style(state.1)));
            boxes.push((cache.clone(), right, lines, "cache.hit_ratio".to_owned()));
        }
        for database in &topology.databases {
            boxes.push(self.database(database));
        }
        let shares: Vec<u16> =
            std::iter::repeat_n(2, caches).chain(std::iter::repeat_n(5, databases)).collect();
        // The lines from the services are drawn above the boxes, at their centres.
        let n = boxes.len() as u16;
        let all: u16 = shares.iter().sum::<u16>().max(1);
        let room = self.width.saturating_sub(n.saturating_sub(1));
        let mut x = 0;
        let centres: Vec<u16> = shares
            .iter()
            .map(|s| {
                let width = (u32::from(room) * u32::from(*s) / u32::from(all)) as u16;
                let centre = x + width / 2;
                x += width + 1;
                centre
            })
            .collect();
        let (mut flows, mut beside) = (Vec::new(), 0);
        if let Some(&first) = centres.first().filter(|_| caches > 0) {
            let text = format!("{} look-ups", shown(view, "cache.lookups"));
            beside = 4 + columns(&text) as u16 + 3;
            flows.push((first.min(4), text));
        }
        if let Some(&first) = centres.get(caches) {
            // Shares, not rates: a repeated query for a miss counts in both, so that they do not add up.
            let all = recent(view, "db.queries");
            let share = |name: &str| {
                let part = recent(view, name).zip(all).filter(|(_, all)| *all > 0.0).map(|(n, all)| n / all);
                Unit::Ratio.show(part.unwrap_or(f64::NAN))
            };
            let (queries, misses) = (shown(view, "db.queries"), share("db.queries.misses"));
            let repeats = share("db.queries.retries");
            let text = if self.width < BRIEF {
                format!("{queries} queries, {misses} for misses; {repeats} repeated")
            } else {
                format!("{queries} queries, {misses} of them for misses; {repeats} of all are repeats")
            };
            let least = self.width.saturating_sub(columns(&text) as u16 + 3);
            flows.push((first.min(least).max(beside), text));
        }
        let starts: Vec<u16> = flows.iter().map(|f| f.0).collect();
        self.join(&starts, true);
        self.flows(&flows);
        self.tier(boxes, &shares);
    }

    fn database(&self, database: &DatabaseNode) -> (String, Line<'static>, Vec<Line<'static>>, String) {
        let view = self.view;
        let glyphs = self.canvas.theme.glyphs;
        let brief = self.width < BRIEF;
        let mut worst: Option<f64> = None;
        let name_width = database.hosts.iter().map(String::len).max().unwrap_or(0);
        let mut lines = Vec::new();
        for host in &database.hosts {
            let cpu = recent(view, &format!("db.cpu.{host}"));
            worst = worst.into_iter().chain(cpu).reduce(f64::max);
            let connections = recent(view, &format!("db.connections.{host}"));
            let limit = f64::from(database.connections);
            let full = connections.is_some_and(|c| c >= limit * FULL);
            let running = recent(view, &format!("db.running.{host}"));
            let role = state(cpu, "").1;
            lines.push(Line::from(vec![
                Span::raw(format!("{host:name_width$} CPU ")),
                Span::styled(
                    bar(cpu.unwrap_or(0.0), if brief { 4 } else { 6 }, glyphs),
                    drawn(self.canvas.style(role)),
                ),
                Span::raw(format!(" {:<6} ", Unit::Ratio.show(cpu.unwrap_or(f64::NAN)))),
                Span::styled(
                    format!("{} of {}", connections.map_or("no data".to_owned(), short), short(limit)),
                    self.canvas.style(if full { Role::Crit } else { Role::Text }),
                ),
                Span::styled(if brief { " conn" } else { " connections" }, self.canvas.style(Role::Muted)),
                Span::raw(format!("  {} run", running.map_or("no data".to_owned(), short))),
            ]));
        }
        lines.push(Line::from(format!(
            "returned {}  timed out {}  refused {}",
            shown(view, "db.finished"),
            shown(view, "db.timeouts"),
            shown(view, "db.refused")
        )));
        let (word, role) = state(worst, "SATURATED");
        let right = Line::from(Span::styled(word, self.canvas.style(role)));
        (database.name.clone(), right, lines, "db.cpu".to_owned())
    }
}

/// A share as one character.
fn level(share: f64, glyphs: Glyphs) -> char {
    const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    const PLAIN: [char; 8] = ['.', '.', ':', ':', '=', '=', '#', '#'];
    let step = ((share.clamp(0.0, 1.0) * 8.0) as usize).min(7);
    if glyphs == Glyphs::Ascii { PLAIN[step] } else { BLOCKS[step] }
}

impl TopologyPane {
    fn drawing(
        &self,
        theme: &crate::tui::theme::Theme,
        view: &View<'_>,
        width: u16,
        compact: bool,
        focus: bool,
    ) -> (Buffer, Vec<(Rect, String)>) {
        let topology = view.topology();
        let hosts = topology.databases.iter().map(|d| d.hosts.len()).max().unwrap_or(0) as u16;
        let mut buf = Buffer::empty(Rect::new(0, 0, width, 24 + hosts));
        let (mut hits, mut cursor) = (Vec::new(), None);
        let mut canvas = Canvas { buf: &mut buf, theme, hits: &mut hits, cursor: &mut cursor };
        let mut drawing = Drawing {
            view,
            canvas: &mut canvas,
            nodes: Vec::new(),
            selected: focus.then_some(self.at),
            width,
            y: 0,
            compact,
        };
        drawing.clients(&topology);
        drawing.balancer(&topology);
        drawing.services(&topology);
        drawing.stores(&topology);
        let nodes = drawing.nodes;
        (buf, nodes)
    }
}

/// Below this width a service's box has room for few words.
const NARROW: u16 = 34;

/// The services' places: those in front first, each followed by those that it calls.
fn in_order_of_calls(topology: &Topology) -> Vec<usize> {
    fn visit(topology: &Topology, i: usize, order: &mut Vec<usize>) {
        if order.contains(&i) {
            return;
        }
        order.push(i);
        for called in &topology.services[i].calls {
            if let Some(next) = topology.services.iter().position(|s| s.name == *called) {
                visit(topology, next, order);
            }
        }
    }
    let mut order = Vec::new();
    let front = |front: bool| move |i: &usize| topology.services[*i].in_front == front;
    let all = || 0..topology.services.len();
    for i in all().filter(front(true)).chain(all().filter(front(false))) {
        visit(topology, i, &mut order);
    }
    order
}

impl Pane for TopologyPane {
    fn name(&self) -> &'static str {
        "topology"
    }

    fn brief(&self) -> &'static str {
        "map"
    }

    fn draw(&mut self, canvas: &mut Canvas<'_>, area: Rect, view: &View<'_>, look: Look) {
        let right = format!("means of the last {RECENT_S} s");
        let right = Line::from(Span::styled(right, canvas.style(Role::Muted)));
        let inner = canvas.frame(area, "Topology", &right, look.focus);
        let inner = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
        if inner.height == 0 || inner.width < 30 {
            canvas.text(inner, 0, "Too narrow.", Role::Muted);
            return;
        }
        let bottom = |nodes: &[(Rect, String)]| nodes.iter().map(|n| n.0.bottom()).max().unwrap_or(0);
        let (mut buf, mut nodes) = self.drawing(canvas.theme, view, inner.width, false, look.focus);
        if bottom(&nodes) > inner.height {
            (buf, nodes) = self.drawing(canvas.theme, view, inner.width, true, look.focus);
        }
        self.at = self.at.min(nodes.len().saturating_sub(1));
        let height = bottom(&nodes);
        if let Some((node, _)) = nodes.get(self.at) {
            // The selected node is on the screen.
            self.top = self.top.clamp(node.bottom().saturating_sub(inner.height), node.y);
        }
        self.top = self.top.min(height.saturating_sub(inner.height));
        for y in 0..inner.height.min(height - self.top) {
            for x in 0..inner.width {
                if let (Some(from), Some(to)) =
                    (buf.cell((x, self.top + y)), canvas.buf.cell_mut((inner.x + x, inner.y + y)))
                {
                    *to = from.clone();
                }
            }
        }
        for (i, (node, _)) in nodes.iter().enumerate() {
            let y = node.y.max(self.top);
            let end = node.bottom().min(self.top + inner.height);
            if y < end {
                let place = Rect {
                    x: inner.x + node.x,
                    y: inner.y + y - self.top,
                    width: node.width,
                    height: end - y,
                };
                canvas.hit(place, Hit::Item(i));
            }
        }
        self.series = nodes.into_iter().map(|n| n.1).collect();
    }

    fn act(&mut self, id: Id, view: &View<'_>) -> Option<Vec<Outcome>> {
        let last = self.series.len().saturating_sub(1);
        match id {
            Id::Up | Id::Left => self.at = self.at.saturating_sub(1),
            Id::Down | Id::Right => self.at = (self.at + 1).min(last),
            Id::Top | Id::PageUp => self.at = 0,
            Id::Bottom | Id::PageDown => self.at = last,
            Id::Pin => {
                let what = self.pinned(view)?;
                let shows = self.copied(view)?;
                return Some(vec![Outcome::Open(Box::new(dialogs::pin(what, &shows, view)))]);
            }
            _ => return None,
        }
        Some(Vec::new())
    }

    fn clicked(&mut self, item: usize, _view: &View<'_>) -> Vec<Outcome> {
        self.at = item;
        Vec::new()
    }

    fn pinned(&self, view: &View<'_>) -> Option<Source> {
        let name = self.series.get(self.at)?;
        view.series().get(name).map(|s| Source::Series(s.name.clone()))
    }

    fn copied(&self, view: &View<'_>) -> Option<String> {
        let name = self.series.get(self.at)?;
        Some(format!("{name} {}", shown(view, name)))
    }

    fn looked_at(&self, view: &View<'_>) -> Vec<Source> {
        let mut seen = vec![Source::Pane("topology".to_owned())];
        // What the drawing shows as a number was seen as that series.
        for name in ["requests.received", "requests.retry_ratio", "cache.hit_ratio", "db.cpu", "pool.in_use"]
        {
            if view.series().get(name).is_some() {
                seen.push(Source::Series(name.to_owned()));
            }
        }
        seen
    }
}
