//! The debrief as a page, in a real browser without a network.

use std::path::Path;
use std::process::Command as Program;
use std::sync::Arc;

use pagerdrill::game::command::{Command, Direction, Expected, Finding, Prediction};
use pagerdrill::game::{Mode, Session, SessionOptions};
use pagerdrill::incident::load;
use pagerdrill::incident::schema::Action;
use pagerdrill::report::{self, Extent};
use pagerdrill::score::{Debrief, References, debrief, score};
use pagerdrill::units::{Rate, SimSpan, SimTime};

/// What a player may write.
const MARKUP: &str =
    "</p><script>document.title = 'run'</script><img src=x onerror=\"document.title = 'run'\">";

/// A run with levers, predictions and a finding; everything that is written is markup.
fn played() -> Debrief {
    let text = include_str!("incidents/good/stuck.ron");
    let incident = Arc::new(load("stuck.ron", text).incident.expect("a good incident"));
    let options = SessionOptions { mode: Mode::Live, ..SessionOptions::default() };
    let mut s = Session::new(Arc::clone(&incident), options);
    let mut pull = |at: &str, action: Action, expect: Expected| {
        s.advance(incident.at(at.parse().expect("a time")));
        let due = s.now() + SimSpan::from_secs(240);
        let series = "operations.failure_ratio".to_owned();
        let prediction = Some(Prediction { series, expect, sure: 80, due });
        s.submit(Command::Pull { action, prediction }).expect("pulled");
    };
    let retries = |client: &str| Action::ClientRetries { client: client.to_owned(), attempts: 1 };
    let scale = Action::Scale { service: "api".to_owned(), instances: 40 };
    pull("10:06:00", scale, Expected::Direction(Direction::Better));
    pull("10:10:00", retries("web"), Expected::Value(0.2));
    pull("10:10:00", retries("mobile"), Expected::Direction(Direction::Recovered));
    pull("10:10:30", Action::RateLimit(Rate(90.0)), Expected::Direction(Direction::Same));
    s.advance(SimTime::NEVER);
    let finding = Finding { summary: MARKUP.to_owned(), ..Finding::default() };
    s.submit(Command::Find(finding)).expect("written");
    for question in 0..2 {
        s.submit(Command::Reflect { question, text: MARKUP.to_owned() }).expect("answered");
    }
    let references = References::compute(&incident, 1, 1.0).expect("the plans can be played").with_own(&s);
    debrief(&s, &references, &score(&s, &references))
}

/// Debian's browser; `None` when it is not installed, which CI does not accept.
fn browser() -> Option<&'static str> {
    let there = |name: &&str| Program::new(name).arg("--version").output().is_ok_and(|o| o.status.success());
    let found = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(there);
    if found.is_none() {
        assert!(std::env::var_os("CI").is_none(), "no chromium: apt-get install chromium");
        eprintln!("SKIPPED: the page was NOT looked at in a browser. For that: apt-get install chromium");
    }
    found
}

/// What a script that looks around in the page finds. The page itself forbids scripts, so its copy is allowed one.
fn looked_at(browser: &str, folder: &Path, page: &str, width: u32) -> serde_json::Value {
    const LOOK: &str = "<script>
        const box = e => { const r = e.getBoundingClientRect(); return [r.width, r.height]; };
        const all = [...document.querySelectorAll('figure svg')];
        const found = {
            title: document.title,
            scripts: document.scripts.length, images: document.images.length,
            fetched: performance.getEntriesByType('resource').length,
            wide: document.documentElement.scrollWidth - window.innerWidth,
            charts: all.map(svg => ({
                id: svg.closest('figure').id, box: box(svg),
                named: svg.querySelector('title').textContent, says: svg.querySelector('desc').textContent,
                lines: [...svg.querySelectorAll('polyline')].map(box).filter(b => b[0] > 50).length,
                labels: [...svg.querySelectorAll('text')].map(box).filter(b => b[0] > 0 && b[1] > 0).length,
            })),
            sections: [...document.querySelectorAll('section')].map(s => s.id),
        };
        document.body.innerHTML = '';
        document.body.textContent = 'FOUND' + JSON.stringify(found) + 'END';
        </script></body>";
    let start = page.find("<meta http-equiv=\"Content-Security-Policy\"").expect("a policy");
    let end = start + page[start..].find('>').expect("its end") + 1;
    let copy = format!("{}{}", &page[..start], &page[end..]).replace("</body>", LOOK);
    let path = folder.join(format!("page-{width}.html"));
    std::fs::write(&path, copy).expect("written");
    let out = Program::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-sync",
        ])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"])
        .args(["--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=2000"])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(format!("--window-size={width},900"))
        .arg("--dump-dom")
        .arg(format!("file://{}", path.display()))
        .output()
        .expect("the browser runs");
    let shown = String::from_utf8_lossy(&out.stdout);
    let found = shown.split("FOUND").nth(1).and_then(|s| s.split("END").next());
    let found = found.unwrap_or_else(|| {
        panic!("the page was not shown: {shown}\n{}", String::from_utf8_lossy(&out.stderr))
    });
    let found = found.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    serde_json::from_str(&found).expect("what was found")
}

#[test]
fn the_page_needs_nothing_else_and_its_charts_are_seen() {
    let debrief = played();
    let page = report::html(&debrief, Extent::Whole).expect("the template is good");
    for outside in ["http:", "https:", "src=\"", "url(", "@import", "<link"] {
        assert!(!page.contains(outside), "{outside} in the page");
    }
    assert!(page.contains("&lt;script&gt;") && !page.contains("<script"), "what was written stays text");
    let Some(browser) = browser() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    for width in [1_200, 500] {
        let found = looked_at(browser, folder.path(), &page, width);
        assert_eq!(found["title"], "Stuck: debrief", "a script of the player's ran");
        assert_eq!([&found["scripts"], &found["images"], &found["fetched"]], [1, 0, 0], "{found:#}");
        assert_eq!(
            found["wide"].as_f64().map(|w| w <= 0.0),
            Some(true),
            "the page is wider than the window: {found:#}"
        );
        let charts = found["charts"].as_array().expect("charts");
        let ids: Vec<&str> = charts.iter().filter_map(|c| c["id"].as_str()).collect();
        let predictions = ["prediction-1", "prediction-2", "prediction-3", "prediction-4"];
        for id in ["harm", "loop-1", "loop-2", "amplification"].iter().chain(&predictions) {
            assert!(ids.contains(id), "no chart {id}: {ids:?}");
        }
        for chart in charts {
            let side = |i: usize| chart["box"][i].as_f64().unwrap_or(0.0);
            assert!(side(0) >= 250.0 && side(1) >= 100.0, "too small to be read: {chart:#}");
            let least = if chart["id"] == "harm" { 3 } else { 1 };
            assert!(chart["lines"].as_u64() >= Some(least), "no line was drawn: {chart:#}");
            assert!(chart["labels"].as_u64() >= Some(4), "{chart:#}");
            assert!(chart["named"].as_str().is_some_and(|s| !s.is_empty()), "{chart:#}");
            assert!(chart["says"].as_str().is_some_and(|s| s.len() > 20), "{chart:#}");
        }
        let sections: Vec<&str> =
            found["sections"].as_array().into_iter().flatten().filter_map(|s| s.as_str()).collect();
        let order = report::Section::ALL.map(report::Section::id);
        assert_eq!(sections, order);
    }
}

#[test]
fn a_report_that_stops_before_the_answer_does_not_tell_it() {
    let debrief = played();
    let told = [debrief.mechanism.summary.as_str(), debrief.reading[0].says.as_str(), "Rule:", "The trap"];
    for report in [
        report::html(&debrief, Extent::BeforeTheAnswer).expect("the template is good"),
        report::text(&debrief, 80, Extent::BeforeTheAnswer),
        report::markdown(&debrief, Extent::BeforeTheAnswer),
    ] {
        for part in told {
            assert!(!report.contains(part), "{part}: {report}");
        }
        assert!(report.contains("--spoilers") || report.contains("\\--spoilers"), "{report}");
    }
    let whole = report::text(&debrief, 80, Extent::Whole);
    assert!(told.iter().all(|part| whole.contains(part)), "{whole}");
    let long = whole.lines().find(|l| l.chars().count() > 80);
    assert_eq!(long, None, "a line that 80 columns do not hold");
}
