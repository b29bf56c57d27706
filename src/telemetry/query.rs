//! The query line: a small language over recorded series, for the panel that nobody has built.
//!
//! ```text
//! requests.received / operations.started          attempts per operation, as a factor
//! ratio(db.timeouts, db.queries)                  a share, in per cent
//! sum(pool.in_use.*)   max(db.cpu.*)              one line from several
//! avg_over(latency.p50, 1m)                       refused: percentiles are never averaged
//! max_over(db.running, 30s)   rate(warm.keys)     over time
//! p99(latency)                                    the recorded percentile
//! db.queries, db.timeouts                         side by side, when they measure the same
//! "operations.served_ratio.by id"                 a name with a space stands in quotes
//! ```
//!
//! A name with a `*` gives a line for each series that fits, called by what stood in place of it; lines of the same name meet
//! in `a / b`, and a single line meets all. Units follow: things of the same unit give a factor when they are divided, a rate
//! times a length of time gives a count. What cannot be added is refused.

use super::nearest::closest;
use super::series::{Series, SeriesSet, matches, recent};
use crate::units::{SimSpan, Unit};

/// Longest text of a query.
const LONGEST: usize = 200;
/// Deepest nesting of brackets and functions.
const DEEPEST: usize = 16;
/// Most lines that an answer may have.
const LINES: usize = 64;

/// What is wrong with a query, where, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: {message}; {help}")]
pub struct QueryError {
    /// Counted from 1, in characters.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
}

/// A query that was read.
#[derive(Clone, Debug)]
pub struct Query {
    text: String,
    root: Node,
}

#[derive(Clone, Debug)]
struct Node {
    /// Where it begins, in characters from 0.
    at: usize,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    Number(f64),
    Name(String),
    Binary(char, Box<Node>, Box<Node>),
    Call(Function, Vec<Node>),
    Span(SimSpan),
    /// Side by side, each as it was written.
    List(Vec<(String, Node)>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    /// Of several lines, second by second.
    Sum,
    Max,
    Min,
    Avg,
    /// Over the time before each second.
    SumOver,
    MaxOver,
    MinOver,
    AvgOver,
    /// What a count grew by in each second.
    Rate,
    /// A share.
    Ratio,
    /// A recorded percentile, by the last part of its name.
    Percentile(&'static str),
}

const FUNCTIONS: [(&str, Function); 13] = [
    ("sum", Function::Sum),
    ("max", Function::Max),
    ("min", Function::Min),
    ("avg", Function::Avg),
    ("sum_over", Function::SumOver),
    ("max_over", Function::MaxOver),
    ("min_over", Function::MinOver),
    ("avg_over", Function::AvgOver),
    ("rate", Function::Rate),
    ("ratio", Function::Ratio),
    ("p50", Function::Percentile("p50")),
    ("p95", Function::Percentile("p95")),
    ("p99", Function::Percentile("p99")),
];

impl Function {
    fn name(self) -> &'static str {
        FUNCTIONS.iter().find(|f| f.1 == self).map_or("", |f| f.0)
    }

    fn over_time(self) -> bool {
        matches!(self, Function::SumOver | Function::MaxOver | Function::MinOver | Function::AvgOver)
    }

    fn arguments(self) -> usize {
        if self.over_time() || self == Function::Ratio { 2 } else { 1 }
    }

    fn averages(self) -> bool {
        matches!(self, Function::Sum | Function::Avg | Function::SumOver | Function::AvgOver)
    }
}

fn error(at: usize, message: impl Into<String>, help: impl Into<String>) -> QueryError {
    QueryError { column: at + 1, message: message.into(), help: help.into() }
}

// ---------------------------------------------------------------------------------------------------- reading

struct Reader<'a> {
    text: &'a [char],
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn peek(&mut self) -> Option<char> {
        while self.text.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn takes(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn needs(&mut self, wanted: char) -> Result<(), QueryError> {
        if self.takes(wanted) {
            return Ok(());
        }
        let found = self.peek().map_or("the end".to_owned(), |c| format!("`{c}`"));
        Err(error(self.at, format!("`{wanted}` is wanted here, not {found}"), format!("write `{wanted}`")))
    }

    /// The whole query: lines side by side, or what there is one of.
    fn list(&mut self) -> Result<Node, QueryError> {
        let mut parts = Vec::new();
        loop {
            self.peek();
            let start = self.at;
            let node = self.sum()?;
            let text: String = self.text[start..self.at].iter().collect();
            parts.push((text.trim().to_owned(), node));
            if !self.takes(',') {
                break;
            }
        }
        match parts.pop() {
            Some((_, only)) if parts.is_empty() => Ok(only),
            last => {
                parts.extend(last);
                Ok(Node { at: 0, what: What::List(parts) })
            }
        }
    }

    fn sum(&mut self) -> Result<Node, QueryError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(error(self.at, "this is nested too deeply", "make two queries of it"));
        }
        let node = self.chain(&['+', '-'], Reader::product);
        self.depth -= 1;
        node
    }

    fn product(&mut self) -> Result<Node, QueryError> {
        self.chain(&['*', '/'], Reader::factor)
    }

    fn chain(
        &mut self,
        operators: &[char],
        part: fn(&mut Self) -> Result<Node, QueryError>,
    ) -> Result<Node, QueryError> {
        let mut left = part(self)?;
        while let Some(operator) = self.peek().filter(|c| operators.contains(c)) {
            self.at += 1;
            let right = part(self)?;
            left = Node { at: left.at, what: What::Binary(operator, Box::new(left), Box::new(right)) };
        }
        Ok(left)
    }

    fn factor(&mut self) -> Result<Node, QueryError> {
        let Some(first) = self.peek() else {
            return Err(error(self.at, "the query ends where a name or a number is wanted", "name a series"));
        };
        let at = self.at;
        if self.takes('(') {
            let inside = self.sum()?;
            self.needs(')')?;
            return Ok(inside);
        }
        if first.is_ascii_digit() {
            return self.number();
        }
        if first == '"' {
            return self.quoted();
        }
        if !first.is_ascii_alphabetic() {
            let help = "series are named as `pagerdrill show INCIDENT --names` lists them";
            return Err(error(at, format!("`{first}` is no beginning of a name or a number"), help));
        }
        let name = self.name();
        if !self.takes('(') {
            return Ok(Node { at, what: What::Name(name) });
        }
        let Some((_, function)) = FUNCTIONS.iter().find(|f| f.0 == name) else {
            let names = FUNCTIONS.map(|f| f.0);
            let help = match closest(&name, names) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("there is {}", names.join(", ")),
            };
            return Err(error(at, format!("there is no function `{name}`"), help));
        };
        self.call(at, *function)
    }

    /// The arguments of a function, after its bracket.
    fn call(&mut self, at: usize, function: Function) -> Result<Node, QueryError> {
        let mut arguments = vec![self.sum()?];
        while self.takes(',') {
            arguments.push(self.sum()?);
        }
        self.needs(')')?;
        let name = function.name();
        let example = match function {
            Function::Ratio => "ratio(db.timeouts, db.queries)".to_owned(),
            f if f.over_time() => format!("{name}(db.running, 1m)"),
            Function::Percentile(_) => format!("{name}(latency)"),
            _ => format!("{name}(pool.in_use.*)"),
        };
        if arguments.len() != function.arguments() {
            let message = format!("`{name}` takes {}, not {}", function.arguments(), arguments.len());
            return Err(error(at, message, format!("write it as in {example}")));
        }
        for (i, argument) in arguments.iter().enumerate() {
            let span = matches!(argument.what, What::Span(_));
            let wants_span = function.over_time() && i == 1;
            if span != wants_span {
                let wanted = if wants_span { "a length of time" } else { "a series" };
                return Err(error(
                    argument.at,
                    format!("{wanted} is wanted here"),
                    format!("write it as in {example}"),
                ));
            }
        }
        if let (Function::Percentile(_), What::Name(_)) | (Function::Percentile(_), What::Number(_)) =
            (function, &arguments[0].what)
        {
            return Ok(Node { at, what: What::Call(function, arguments) });
        }
        if matches!(function, Function::Percentile(_)) {
            let help = format!("a percentile is recorded, not computed: {example}");
            return Err(error(arguments[0].at, "the name of a series is wanted here", help));
        }
        Ok(Node { at, what: What::Call(function, arguments) })
    }

    /// A number, or a length of time such as `30s`.
    fn number(&mut self) -> Result<Node, QueryError> {
        let at = self.at;
        let part = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_');
        let text: String = self.text[at..].iter().take_while(|c| part(c)).collect();
        self.at += text.chars().count();
        if let Ok(number) = text.replace('_', "").parse::<f64>()
            && number.is_finite()
        {
            return Ok(Node { at, what: What::Number(number) });
        }
        match text.parse::<SimSpan>() {
            Ok(span) if span > SimSpan::ZERO => Ok(Node { at, what: What::Span(span) }),
            _ => {
                let help = "numbers are written 3, 0.5, 1_000; lengths of time 30s, 5m";
                Err(error(at, format!("`{text}` is no number and no length of time"), help))
            }
        }
    }

    /// A name in quotes.
    fn quoted(&mut self) -> Result<Node, QueryError> {
        let at = self.at;
        let rest = &self.text[at + 1..];
        let Some(length) = rest.iter().position(|c| *c == '"') else {
            return Err(error(at, "a name in quotes does not end", "write `\"` after it"));
        };
        self.at += length + 2;
        Ok(Node { at, what: What::Name(rest[..length].iter().collect()) })
    }

    /// The name of a series: a hyphen belongs to it between letters, a star after a point.
    fn name(&mut self) -> String {
        let start = self.at;
        while let Some(&c) = self.text.get(self.at) {
            let before = if self.at > start { self.text[self.at - 1] } else { ' ' };
            let after = self.text.get(self.at + 1).copied().unwrap_or(' ');
            let belongs = match c {
                '-' => before.is_ascii_alphanumeric() && after.is_ascii_alphanumeric(),
                '*' => before == '.',
                '.' | '_' => true,
                _ => c.is_ascii_alphanumeric(),
            };
            if !belongs {
                break;
            }
            self.at += 1;
        }
        self.text[start..self.at].iter().collect()
    }
}

// --------------------------------------------------------------------------------------------------- answering

/// A line of an answer while it is worked out.
#[derive(Clone, Debug)]
struct Line {
    /// What stood in place of the star; empty for a single series and for what came out of several.
    label: String,
    values: Vec<f64>,
    /// The same from what percentiles were merged to; see [`Series::merged`].
    merged: Option<Vec<f64>>,
}

impl Line {
    /// A line without percentiles.
    fn new(label: String, values: Vec<f64>) -> Line {
        Line { label, values, merged: None }
    }

    /// What stands for the last seconds at each of them.
    fn recents(&self) -> Vec<f64> {
        let merged = self.merged.as_deref();
        (0..self.values.len()).map(|i| recent(&self.values, merged, i + 1).unwrap_or(f64::NAN)).collect()
    }
}

#[derive(Clone, Debug)]
struct Lines {
    unit: Unit,
    more_is_worse: Option<bool>,
    /// A number: it has no unit, and is the same at all times.
    number: Option<f64>,
    /// Of percentiles, which cannot be averaged.
    percentile: bool,
    lines: Vec<Line>,
}

impl Query {
    /// Reads a query. Whether its series exist shows when it is answered.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn parse(text: &str) -> Result<Query, QueryError> {
        let chars: Vec<char> = text.chars().collect();
        if chars.len() > LONGEST {
            let message = format!("this query has {} characters; {LONGEST} are enough", chars.len());
            return Err(error(LONGEST, message, "make two queries of it"));
        }
        let mut reader = Reader { text: &chars, at: 0, depth: 0 };
        let root = reader.list()?;
        if let Some(rest) = reader.peek() {
            let help = "put an operator between two parts: + - * /";
            return Err(error(reader.at, format!("`{rest}` does not go on from what is before it"), help));
        }
        let parts = match &root.what {
            What::List(parts) => parts.iter().map(|(_, part)| part).collect(),
            _ => vec![&root],
        };
        if let Some(part) = parts.iter().find(|p| matches!(p.what, What::Number(_) | What::Span(_))) {
            return Err(error(part.at, "a number alone is no line", "name a series in it"));
        }
        Ok(Query { text: text.trim().to_owned(), root })
    }

    /// The series that it shows as it was recorded, when it does no more than that.
    pub fn single(&self) -> Option<&str> {
        match &self.root.what {
            What::Name(name) if !name.contains('*') => Some(name),
            _ => None,
        }
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The series that it reads, by name.
    pub fn reads<'a>(&self, set: &'a SeriesSet) -> Vec<&'a str> {
        let mut names = Vec::new();
        collect(&self.root, set, &mut names);
        names.sort_unstable();
        names.dedup();
        names
    }

    /// What it shows now, in a line; `None` when it cannot be answered.
    pub fn reading(&self, set: &SeriesSet) -> Option<String> {
        let lines = self.answer(set).ok()?;
        let now = |s: &Series| s.unit.show(s.recent().unwrap_or(f64::NAN));
        let text = match lines.as_slice() {
            [one] => now(one),
            all => all.iter().map(|s| format!("{} {}", s.name, now(s))).collect::<Vec<_>>().join(", "),
        };
        Some(format!("{}: {text}", self.text))
    }

    /// The answer: a series for each line, called by its label, or by the query where there is one only.
    ///
    /// # Errors
    /// When a series is not recorded, or units do not go together.
    pub fn answer(&self, set: &SeriesSet) -> Result<Vec<Series>, QueryError> {
        let found = work_out(&self.root, set)?;
        let series = |line: Line| Series {
            name: if line.label.is_empty() { self.text.clone() } else { line.label },
            unit: found.unit,
            what: self.text.clone(),
            more_is_worse: found.more_is_worse,
            values: line.values,
            merged: line.merged,
        };
        Ok(found.lines.into_iter().map(series).collect())
    }
}

fn collect<'a>(node: &Node, set: &'a SeriesSet, names: &mut Vec<&'a str>) {
    match &node.what {
        What::Number(_) | What::Span(_) => {}
        What::Name(pattern) => {
            names.extend(set.iter().filter(|s| matches(pattern, &s.name)).map(|s| s.name.as_str()));
        }
        What::Binary(_, left, right) => {
            collect(left, set, names);
            collect(right, set, names);
        }
        What::Call(Function::Percentile(p), arguments) => {
            if let Some(What::Name(name)) = arguments.first().map(|a| &a.what) {
                let pattern = format!("{name}.{p}");
                names.extend(set.iter().filter(|s| matches(&pattern, &s.name)).map(|s| s.name.as_str()));
            }
        }
        What::Call(_, arguments) => arguments.iter().for_each(|a| collect(a, set, names)),
        What::List(parts) => parts.iter().for_each(|(_, part)| collect(part, set, names)),
    }
}

fn work_out(node: &Node, set: &SeriesSet) -> Result<Lines, QueryError> {
    match &node.what {
        What::Number(number) => Ok(Lines {
            unit: Unit::Count,
            more_is_worse: None,
            number: Some(*number),
            percentile: false,
            lines: vec![Line::new(String::new(), vec![*number; set.seconds()])],
        }),
        What::Span(_) => Err(error(node.at, "a length of time is no series", "it goes into avg_over(x, 1m)")),
        What::Name(pattern) => named(pattern, node.at, set),
        What::Binary(operator, left, right) => {
            combined(*operator, node.at, work_out(left, set)?, work_out(right, set)?)
        }
        What::Call(function, arguments) => called(*function, node.at, arguments, set),
        What::List(parts) => side_by_side(parts, set),
    }
}

/// Lines of several parts, each called by its part.
fn side_by_side(parts: &[(String, Node)], set: &SeriesSet) -> Result<Lines, QueryError> {
    let mut all: Option<Lines> = None;
    for (text, node) in parts {
        let mut part = work_out(node, set)?;
        for line in &mut part.lines {
            line.label = match (&node.what, line.label.as_str()) {
                (_, "") => text.clone(),
                // The name as it was recorded: another part may have the same in place of its star.
                (What::Name(pattern), label) => pattern.replacen('*', label, 1),
                (_, label) => format!("{text} {label}"),
            };
        }
        match &mut all {
            None => all = Some(part),
            Some(all) if all.unit == part.unit => {
                all.percentile |= part.percentile;
                all.more_is_worse = all.more_is_worse.filter(|more| part.more_is_worse == Some(*more));
                all.lines.extend(part.lines);
            }
            Some(all) => {
                let message = format!("{} cannot stand beside {}", unit_word(part.unit), unit_word(all.unit));
                return Err(error(node.at, message, "make two queries of it"));
            }
        }
    }
    let all = all.ok_or_else(|| error(0, "nothing is named here", "name a series"))?;
    if all.lines.len() > LINES {
        let message = format!("these are {} lines; {LINES} can be read", all.lines.len());
        return Err(error(0, message, "make two queries of it"));
    }
    Ok(all)
}

fn named(pattern: &str, at: usize, set: &SeriesSet) -> Result<Lines, QueryError> {
    let found: Vec<&Series> = set.matching(pattern).collect();
    let Some(first) = found.first() else {
        let help = match closest(pattern, set.iter().map(|s| s.name.as_str())) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => match set.iter().find(|s| s.name.starts_with(&format!("{pattern}."))) {
                Some(part) => format!("there is `{}`; `{pattern}.*` takes all of them", part.name),
                None => "`pagerdrill show INCIDENT --names` lists what is recorded".to_owned(),
            },
        };
        return Err(error(at, format!("no series is called `{pattern}`"), help));
    };
    if found.len() > LINES {
        let message = format!("`{pattern}` takes {} series; {LINES} can be read", found.len());
        return Err(error(at, message, "say more of the name"));
    }
    if let Some(other) = found.iter().find(|s| s.unit != first.unit) {
        let message = format!("`{}` and `{}` measure different things", first.name, other.name);
        return Err(error(at, message, "say more of the name"));
    }
    let (head, tail) = pattern.split_once('*').unwrap_or((pattern, ""));
    let label = |s: &Series| {
        let rest = s.name.strip_prefix(head).unwrap_or_default();
        rest.strip_suffix(tail).unwrap_or(rest).to_owned()
    };
    let is_percentile = |s: &Series| {
        s.name.split('.').any(|p| p.len() == 3 && p.starts_with('p') && p[1..].parse::<u8>().is_ok())
    };
    Ok(Lines {
        unit: first.unit,
        more_is_worse: first.more_is_worse,
        number: None,
        percentile: found.iter().any(|s| is_percentile(s)),
        lines: found
            .iter()
            .map(|s| Line { label: label(s), values: s.values.clone(), merged: s.merged.clone() })
            .collect(),
    })
}

fn unit_word(unit: Unit) -> &'static str {
    match unit {
        Unit::PerSecond => "a rate",
        Unit::Ratio => "a share",
        Unit::Seconds => "a length of time",
        Unit::Count => "a count",
        Unit::Factor => "a factor",
    }
}

/// The unit of what two come to.
fn unit_of(operator: char, at: usize, left: &Lines, right: &Lines) -> Result<Unit, QueryError> {
    use Unit::{Count, Factor, PerSecond, Ratio, Seconds};
    if right.number.is_some() && (operator != '/' || left.number.is_none()) {
        return Ok(left.unit);
    }
    if left.number.is_some() && operator != '/' {
        return Ok(right.unit);
    }
    match (operator, left.unit, right.unit) {
        ('+' | '-', a, b) if a == b => Ok(a),
        ('+' | '-', a, b) => {
            let verb = if operator == '+' { "added to" } else { "taken from" };
            let (a, b) = if operator == '+' { (a, b) } else { (b, a) };
            let message = format!("{} cannot be {verb} {}", unit_word(a), unit_word(b));
            Err(error(at, message, "use two that measure the same"))
        }
        ('/', a, b) if a == b => Ok(Factor),
        ('/', Count, PerSecond) => Ok(Seconds),
        ('/', Count, Seconds) => Ok(PerSecond),
        ('*', PerSecond, Seconds) | ('*', Seconds, PerSecond) => Ok(Count),
        (_, a, Ratio | Factor) => Ok(a),
        ('*', Ratio | Factor, b) => Ok(b),
        _ => Ok(Count),
    }
}

fn combined(operator: char, at: usize, left: Lines, right: Lines) -> Result<Lines, QueryError> {
    let unit = unit_of(operator, at, &left, &right)?;
    let calculate = |a: f64, b: f64| match operator {
        '+' => a + b,
        '-' => a - b,
        '*' => a * b,
        // Nothing of nothing is not known.
        _ if b == 0.0 => f64::NAN,
        _ => a / b,
    };
    let each = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| calculate(*a, *b)).collect::<Vec<f64>>();
    let meet = |a: &Line, b: &Line, label: &str| Line {
        label: label.to_owned(),
        values: each(&a.values, &b.values),
        merged: (a.merged.is_some() || b.merged.is_some()).then(|| each(&a.recents(), &b.recents())),
    };
    let lines: Vec<Line> = match (left.lines.as_slice(), right.lines.as_slice()) {
        ([one], all) => {
            all.iter().map(|b| meet(one, b, if all.len() == 1 { "" } else { &b.label })).collect()
        }
        (all, [one]) => all.iter().map(|a| meet(a, one, &a.label)).collect(),
        (all, others) => all
            .iter()
            .filter_map(|a| others.iter().find(|b| b.label == a.label).map(|b| meet(a, b, &a.label)))
            .collect(),
    };
    if lines.is_empty() {
        let message = "no line on the left has the name of one on the right";
        return Err(error(at, message, "lines meet by what stands in place of the star"));
    }
    // Adding keeps what is good and bad; dividing may turn it over.
    let more_is_worse = match operator {
        '+' | '-' | '*' => left.more_is_worse.or(right.more_is_worse),
        _ => left.more_is_worse,
    };
    Ok(Lines { unit, more_is_worse, number: None, percentile: left.percentile || right.percentile, lines })
}

fn called(function: Function, at: usize, arguments: &[Node], set: &SeriesSet) -> Result<Lines, QueryError> {
    let Some(first) = arguments.first() else {
        return Err(error(at, "nothing is named here", "name a series"));
    };
    if let (Function::Percentile(p), What::Name(name)) = (function, &first.what) {
        let pattern = format!("{name}.{p}");
        return named(&pattern, first.at, set).map_err(|_| {
            let recorded: Vec<&str> =
                set.iter().filter_map(|s| s.name.strip_suffix(p)?.strip_suffix('.')).collect();
            let help = match closest(name, recorded.iter().copied()) {
                Some(meant) => format!("did you mean {p}({meant})?"),
                None => format!("it is recorded for {}", recorded.join(", ")),
            };
            error(first.at, format!("no {p} is recorded for `{name}`"), help)
        });
    }
    let mut of = work_out(first, set)?;
    if of.percentile && function.averages() {
        let help = if function.over_time() { "use max_over or min_over" } else { "use max or min" };
        return Err(error(first.at, "percentiles cannot be added up or averaged", help));
    }
    match function {
        Function::Ratio => {
            let other = work_out(&arguments[1], set)?;
            if of.unit != other.unit {
                let message = format!("{} is no share of {}", unit_word(of.unit), unit_word(other.unit));
                return Err(error(at, message, "use two that measure the same"));
            }
            Ok(Lines { unit: Unit::Ratio, ..combined('/', at, of, other)? })
        }
        Function::Rate => {
            if of.unit != Unit::Count {
                let message = format!("this is {} already, not a count that grows", unit_word(of.unit));
                return Err(error(first.at, message, "most series are per second: leave rate() out"));
            }
            for line in &mut of.lines {
                let before = std::iter::once(f64::NAN).chain(line.values.iter().copied());
                // A count that began anew fell; that is no rate.
                let grown = line.values.iter().zip(before).map(|(now, before)| now - before);
                line.values = grown.map(|v| if v < 0.0 { f64::NAN } else { v }).collect();
                line.merged = None;
            }
            Ok(Lines { unit: Unit::PerSecond, ..of })
        }
        Function::Sum | Function::Max | Function::Min | Function::Avg => {
            let fold = |lines: &[&[f64]]| -> Vec<f64> {
                let n = lines.iter().map(|line| line.len()).max().unwrap_or(0);
                let second = |i: usize| {
                    let values = || lines.iter().filter_map(|l| l.get(i)).copied().filter(|v| v.is_finite());
                    folded(function, values)
                };
                (0..n).map(second).collect()
            };
            let values = fold(&of.lines.iter().map(|l| l.values.as_slice()).collect::<Vec<_>>());
            let merged: Option<Vec<&[f64]>> = of.lines.iter().map(|l| l.merged.as_deref()).collect();
            let merged = merged.map(|lines| fold(&lines));
            Ok(Lines { lines: vec![Line { label: String::new(), values, merged }], ..of })
        }
        _ => {
            let Some(What::Span(span)) = arguments.get(1).map(|a| &a.what) else {
                return Err(error(
                    at,
                    "a length of time is wanted",
                    "write it as in avg_over(db.running, 1m)",
                ));
            };
            let seconds = (span.as_secs_f64() as usize).max(1);
            for line in &mut of.lines {
                let window = |end: usize| {
                    let from = (end + 1).saturating_sub(seconds);
                    let values = || line.values[from..=end].iter().copied().filter(|v| v.is_finite());
                    folded(function, values)
                };
                line.values = (0..line.values.len()).map(window).collect();
                // The extreme up to now is what it is: a mean of it would be one of percentiles.
                line.merged = line.merged.take().map(|_| line.values.clone());
            }
            // Each sample stands for a second.
            let counts = function == Function::SumOver && of.unit == Unit::PerSecond;
            Ok(Lines { unit: if counts { Unit::Count } else { of.unit }, ..of })
        }
    }
}

/// Several values as one; a gap when there is none.
fn folded<I: Iterator<Item = f64>>(function: Function, values: impl Fn() -> I) -> f64 {
    let n = values().count();
    if n == 0 {
        return f64::NAN;
    }
    match function {
        Function::Max | Function::MaxOver => values().fold(f64::NEG_INFINITY, f64::max),
        Function::Min | Function::MinOver => values().fold(f64::INFINITY, f64::min),
        Function::Sum | Function::SumOver => values().sum(),
        _ => values().sum::<f64>() / n as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set() -> SeriesSet {
        let gap = f64::NAN;
        SeriesSet::from_samples([
            ("operations.started", Unit::PerSecond, vec![10.0, 10.0, 0.0, 10.0]),
            ("requests.received", Unit::PerSecond, vec![10.0, 25.0, 5.0, gap]),
            ("db.cpu.primary", Unit::Ratio, vec![0.2, 0.4, 0.6, 0.8]),
            ("db.cpu.replica-1", Unit::Ratio, vec![0.4, 0.2, 0.8, gap]),
            ("db.running.primary", Unit::Count, vec![2.0, 4.0, 6.0, 8.0]),
            ("db.running.replica-1", Unit::Count, vec![4.0, 8.0, 0.0, 8.0]),
            ("latency.p50", Unit::Seconds, vec![0.5; 4]),
            ("latency.p99", Unit::Seconds, vec![1.0, 2.0, 3.0, 4.0]),
            ("warm.keys", Unit::Count, vec![0.0, 5.0, 15.0, 0.0]),
            ("served.by id", Unit::PerSecond, vec![1.0, 2.0, 3.0, 4.0]),
        ])
    }

    fn check(query: &str, unit: Unit, expected: &[(&str, &str)]) {
        let answer =
            Query::parse(query).and_then(|q| q.answer(&set())).unwrap_or_else(|e| panic!("{query}: {e}"));
        let shown: Vec<(String, String)> = answer
            .iter()
            .map(|s| {
                let values: Vec<String> = s
                    .values
                    .iter()
                    .map(|v| if v.is_nan() { "-".to_owned() } else { format!("{v:.2}") })
                    .collect();
                (s.name.clone(), values.join(" "))
            })
            .collect();
        let shown: Vec<(&str, &str)> = shown.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        assert_eq!(shown, expected, "{query}");
        assert!(answer.iter().all(|s| s.unit == unit), "{query}: {:?}", answer[0].unit);
    }

    #[test]
    fn the_panel_that_is_missing() {
        let q = "requests.received / operations.started";
        check(q, Unit::Factor, &[(q, "1.00 2.50 - -")]);
        let q = "ratio(requests.received - operations.started, requests.received)";
        check(q, Unit::Ratio, &[(q, "0.00 0.60 1.00 -")]);
        let q = "max(db.cpu.*)";
        check(q, Unit::Ratio, &[(q, "0.40 0.40 0.80 0.80")]);
        check(
            "db.cpu.*",
            Unit::Ratio,
            &[("primary", "0.20 0.40 0.60 0.80"), ("replica-1", "0.40 0.20 0.80 -")],
        );
        check(
            "db.running.* * 2",
            Unit::Count,
            &[("primary", "4.00 8.00 12.00 16.00"), ("replica-1", "8.00 16.00 0.00 16.00")],
        );
        check(
            "db.cpu.* / db.running.*",
            Unit::Count,
            &[("primary", "0.10 0.10 0.10 0.10"), ("replica-1", "0.10 0.03 - -")],
        );
    }

    #[test]
    fn lines_stand_side_by_side_when_they_measure_the_same() {
        check(
            "warm.keys, max(db.running.*), db.running.*",
            Unit::Count,
            &[
                ("warm.keys", "0.00 5.00 15.00 0.00"),
                ("max(db.running.*)", "4.00 8.00 6.00 8.00"),
                ("db.running.primary", "2.00 4.00 6.00 8.00"),
                ("db.running.replica-1", "4.00 8.00 0.00 8.00"),
            ],
        );
        let q = "\"served.by id\" / operations.started";
        check(q, Unit::Factor, &[(q, "0.10 0.20 - 0.40")]);
        let single = |text: &str| Query::parse(text).ok().and_then(|q| q.single().map(str::to_owned));
        assert_eq!(single("\"served.by id\"").as_deref(), Some("served.by id"));
        assert_eq!((single("db.cpu.*"), single("warm.keys, warm.keys")), (None, None));
    }

    #[test]
    fn functions_over_lines_and_over_time() {
        let q = "sum(db.running.*)";
        check(q, Unit::Count, &[(q, "6.00 12.00 6.00 16.00")]);
        let q = "avg_over(operations.started, 2s)";
        check(q, Unit::PerSecond, &[(q, "10.00 10.00 5.00 5.00")]);
        let q = "sum_over(operations.started, 1m)";
        check(q, Unit::Count, &[(q, "10.00 20.00 20.00 30.00")]);
        let q = "rate(warm.keys)";
        check(q, Unit::PerSecond, &[(q, "- 5.00 10.00 -")]);
        let q = "p99(latency)";
        check(q, Unit::Seconds, &[(q, "1.00 2.00 3.00 4.00")]);
        // Little's law: how many are inside.
        let q = "operations.started * latency.p50";
        check(q, Unit::Count, &[(q, "5.00 5.00 0.00 5.00")]);
        let q = "db.running.replica-1 - db.running.primary";
        check(q, Unit::Count, &[(q, "2.00 4.00 -6.00 0.00")]);
    }

    #[test]
    fn what_percentiles_were_merged_to_goes_through_a_query() {
        let mut set = SeriesSet::default();
        for second in 0..4 {
            let [p50, p99] =
                ["latency.p50", "latency.p99"].map(|name| set.add(name, Unit::Seconds, None, ""));
            let started = set.add("operations.started", Unit::PerSecond, None, "");
            set.put(p50, 9.0);
            set.put_merged(p50, 2.0);
            set.put(p99, f64::from(second));
            set.put_merged(p99, 3.0);
            set.put(started, f64::from(second));
            set.end_second();
        }
        for (query, recent) in [
            ("p50(latency)", 2.0),
            // Little's law: the mean of a rate, and what the percentile was over the same time.
            ("operations.started * latency.p50", 1.5 * 2.0),
            ("latency.p99 - latency.p50", 1.0),
            ("max(latency.*)", 3.0),
            // The largest of the last minute, not a mean of such.
            ("max_over(latency.p99, 1m)", 3.0),
            ("operations.started", 1.5),
        ] {
            let answer =
                Query::parse(query).and_then(|q| q.answer(&set)).unwrap_or_else(|e| panic!("{query}: {e}"));
            assert_eq!(answer[0].recent(), Some(recent), "{query}");
        }
    }

    #[test]
    fn mistakes_are_told_with_their_column() {
        for (query, told) in [
            ("", "column 1: the query ends where a name or a number is wanted; name a series"),
            (
                "requests.recieved",
                "column 1: no series is called `requests.recieved`; did you mean `requests.received`?",
            ),
            (
                "1 + db.cpu",
                "column 5: no series is called `db.cpu`; there is `db.cpu.primary`; `db.cpu.*` takes all of them",
            ),
            (
                "warm.keys, requests.received",
                "column 12: a rate cannot stand beside a count; make two queries of it",
            ),
            ("warm.keys, 3", "column 12: a number alone is no line; name a series in it"),
            ("\"served", "column 1: a name in quotes does not end; write `\"` after it"),
            ("summ(db.cpu.*)", "column 1: there is no function `summ`; did you mean `sum`?"),
            (
                "latency.p99 + db.running.primary",
                "column 1: a length of time cannot be added to a count; use two that measure the same",
            ),
            (
                "avg_over(latency.p99, 1m)",
                "column 10: percentiles cannot be added up or averaged; use max_over or min_over",
            ),
            (
                "avg_over(db.cpu.primary, 3)",
                "column 26: a length of time is wanted here; write it as in avg_over(db.running, 1m)",
            ),
            (
                "rate(requests.received)",
                "column 6: this is a rate already, not a count that grows; most series are per second: leave rate() out",
            ),
            ("p99(latenzy)", "column 5: no p99 is recorded for `latenzy`; did you mean p99(latency)?"),
            (
                "ratio(db.cpu.primary)",
                "column 1: `ratio` takes 2, not 1; write it as in ratio(db.timeouts, db.queries)",
            ),
            ("max(db.cpu.*", "column 13: `)` is wanted here, not the end; write `)`"),
            (
                "db.cpu.primary db.cpu.primary",
                "column 16: `d` does not go on from what is before it; put an operator between two parts: + - * /",
            ),
            ("3 * 4", ""),
            ("5", "column 1: a number alone is no line; name a series in it"),
            (
                "ä",
                "column 1: `ä` is no beginning of a name or a number; series are named as `pagerdrill show INCIDENT --names` lists them",
            ),
            (
                "1x",
                "column 1: `1x` is no number and no length of time; numbers are written 3, 0.5, 1_000; lengths of time 30s, 5m",
            ),
        ] {
            let said = Query::parse(query)
                .and_then(|q| q.answer(&set()))
                .err()
                .map_or(String::new(), |e| e.to_string());
            assert_eq!(said, told, "{query}");
        }
        assert!(Query::parse(&"(".repeat(100)).is_err());
        assert!(Query::parse(&"a".repeat(300)).is_err());
    }

    #[test]
    fn a_query_says_which_series_it_reads() {
        let query = Query::parse("sum(db.cpu.*) / p99(latency) + 1").expect("it reads");
        assert_eq!(query.reads(&set()), ["db.cpu.primary", "db.cpu.replica-1", "latency.p99"]);
    }
}
