//! What a person calls the things that an incident file names.

use crate::incident::schema::Dashboard;
use crate::telemetry::{SeriesSet, matches};

/// A name of the incident file in words: a series by the panel that shows it (`CPU (primary)`), or else by what it
/// measures; `log:STREAM` as log lines. Other names stay as they are.
pub(super) fn in_words(name: &str, dashboards: &[Dashboard], series: &SeriesSet) -> String {
    if let Some(stream) = name.strip_prefix("log:") {
        return format!("log lines of {stream}");
    }
    let panels = || dashboards.iter().flat_map(|d| &d.panels);
    // A panel of its own comes first, then one that shows the parts of it, then one that shows it among others.
    if let Some(panel) = panels().find(|p| matches!(&p.series[..], [only] if only == name)) {
        return panel.title.clone();
    }
    let parts = |pattern: &str| pattern.strip_suffix(".*").is_some_and(|head| head == name);
    if let Some(panel) = panels().find(|p| matches!(&p.series[..], [only] if parts(only))) {
        return panel.title.clone();
    }
    let mut said = panels().filter_map(|panel| match &panel.series[..] {
        [pattern] => {
            let (head, _) = pattern.split_once('*').filter(|_| matches(pattern, name))?;
            Some(format!("{} ({})", panel.title, name.strip_prefix(head)?))
        }
        several => {
            // Told apart by their last words only where they are the same thing otherwise: p50, p95, p99.
            several.iter().find(|s| *s == name)?;
            let (head, tail) = name.rsplit_once('.')?;
            let alike = several.iter().all(|s| s.rsplit_once('.').is_some_and(|(h, _)| h == head));
            alike.then(|| format!("{} ({tail})", panel.title))
        }
    });
    said.next().unwrap_or_else(|| match series.get(name).filter(|s| !s.what.is_empty()) {
        Some(found) => {
            let first = found.what.split([':', ';', ',']).next().unwrap_or(&found.what);
            first.trim_end_matches('.').to_owned()
        }
        None => name.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::incident::schema::Panel;

    #[test]
    fn a_series_is_called_by_its_panel() {
        let panel = |title: &str, series: &[&str]| Panel {
            title: title.to_owned(),
            series: series.iter().map(|s| (*s).to_owned()).collect(),
            threshold: None,
            help: String::new(),
        };
        let panels = vec![
            panel("CPU", &["db.cpu.*"]),
            panel("Latency", &["latency.p50", "latency.p99"]),
            panel("Answers", &["requests.ok", "other.errors"]),
            panel("Failing operations", &["operations.failure_ratio"]),
        ];
        let dashboards = [Dashboard { title: String::new(), panels }];
        for (name, words) in [
            ("operations.failure_ratio", "Failing operations"),
            ("db.cpu", "CPU"),
            ("db.cpu.primary", "CPU (primary)"),
            ("latency.p99", "Latency (p99)"),
            ("log:cache", "log lines of cache"),
            ("traces", "traces"),
            ("requests.ok", "requests.ok"),
        ] {
            assert_eq!(in_words(name, &dashboards, &SeriesSet::default()), words);
        }
    }
}
