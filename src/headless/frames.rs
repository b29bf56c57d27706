//! A run as a film: what the whole system is doing at every second, as plain data.
//!
//! It shows what no dashboard of the incident does: each process for itself, and how old a cached value is beside how old
//! the cache believes it to be. The lab plays it.

use std::sync::Arc;

use super::{Options, Pilot, RunError};
use crate::game::{Session, SessionOptions, watch_plan};
use crate::incident::Incident;
use crate::sim::Spec;
use crate::sim::inspect::KeyOf;
use crate::units::{SECOND, SimTime, TimeOfDay};

pub use crate::sim::cache::Found;
pub use crate::sim::inspect::{Entry, Held, Process};
pub use crate::sim::service::InstanceState;

/// What stays the same over all frames of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Cast {
    /// What the clock shows in the first frame.
    pub start: TimeOfDay,
    /// Frames of the whole run; the first one is at second 0.
    pub frames: usize,
    /// Names of the services.
    pub services: Vec<String>,
    /// Whether a service's processes may have copies of cached values, by service.
    pub copies: Vec<bool>,
    /// Names of the caches.
    pub caches: Vec<String>,
    /// Names of the database hosts.
    pub hosts: Vec<String>,
    /// Connections that each host accepts at the start.
    pub limits: Vec<u32>,
    /// The key looked at: the most popular one of the kind of read with the largest share among those that are cached.
    /// `None` when nothing is cached.
    pub key: Option<String>,
    read: usize,
}

/// One second of a run: the state at its end, and what happened in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Seconds since the start.
    pub second: usize,
    /// What each process of each service is doing.
    pub services: Vec<Vec<Process>>,
    /// What each cache holds for the key.
    pub entries: Vec<Option<Entry>>,
    /// What each database host is doing.
    pub hosts: Vec<Host>,
    /// Share of the operations ended in this second that were served in time; NaN when none ended.
    pub served: f64,
    /// Queries started, all hosts, per second; NaN in the first frame.
    pub queries: f64,
    /// Requests turned away by a limit, per second; NaN in the first frame.
    pub refused: f64,
}

/// What a database host is doing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Host {
    /// Queries on its cores now, abandoned ones too.
    pub running: u32,
    /// Busy share of its cores in this second; NaN in the first frame.
    pub cpu: f64,
    /// Connections open.
    pub connections: u32,
    /// It answers nobody.
    pub down: bool,
}

impl Cast {
    /// What a run of the incident at that scale will show.
    pub fn of(incident: &Incident, scale: f64) -> Cast {
        let spec = incident.prepared(scale);
        let clock = incident.file().clock;
        let read = watched_read(&spec);
        let hosts = || spec.databases.iter().flat_map(|d| d.hosts.iter().map(move |host| (d, host)));
        let key = read.map(|i| {
            let read = &spec.reads[i];
            match read.keys.len() {
                1 => read.name.clone(),
                n => format!("{}, most popular of {n}", read.name),
            }
        });
        Cast {
            start: clock.start,
            frames: incident.at(clock.end).as_secs() as usize + 1,
            services: spec.services.iter().map(|s| s.name.clone()).collect(),
            copies: spec.services.iter().map(|s| s.reading.local.is_some()).collect(),
            caches: spec.caches.iter().map(|c| c.name.clone()).collect(),
            hosts: hosts()
                .map(
                    |(d, host)| {
                        if spec.databases.len() > 1 { format!("{} {host}", d.name) } else { host.clone() }
                    },
                )
                .collect(),
            limits: hosts().map(|(d, _)| d.connections).collect(),
            key,
            read: read.unwrap_or(0),
        }
    }

    /// What a session shows at the whole second that it stands at.
    fn frame(&self, session: &Session) -> Frame {
        let (world, series) = (session.world(), session.series());
        let last = |name: &str| series.get(name).and_then(|s| s.last()).unwrap_or(f64::NAN);
        let key = KeyOf { read: self.read, key: 0 };
        let databases = 0..world.spec().databases.len();
        let host = |(host, name): (&crate::sim::database::Host, &String)| Host {
            running: host.running(),
            cpu: last(&format!("db.cpu.{name}")),
            connections: host.connections,
            down: host.down,
        };
        Frame {
            second: (session.now().0 / SECOND) as usize,
            services: (0..self.services.len()).map(|s| world.processes(s, key)).collect(),
            entries: (0..self.caches.len()).map(|c| world.cache_entry(c, key)).collect(),
            hosts: databases
                .flat_map(|d| world.hosts(d).iter().zip(&world.spec().databases[d].hosts))
                .map(host)
                .collect(),
            served: last("operations.served_ratio"),
            queries: last("db.queries"),
            refused: last("requests.rejected"),
        }
    }
}

/// The kind of read with the largest share among those that are cached; the first of equals.
fn watched_read(spec: &Spec) -> Option<usize> {
    let cached = spec.reads.iter().enumerate().filter(|(_, r)| r.ttl.is_some());
    cached
        .fold(None, |best: Option<(usize, f64)>, (i, read)| match best {
            Some((_, share)) if share >= read.share => best,
            _ => Some((i, read.share)),
        })
        .map(|(i, _)| i)
}

/// Runs an incident and hands over its frames as they come; `each` says `false` when it has seen enough.
///
/// # Errors
/// When the plan is unknown or cannot be played.
pub fn film(
    incident: &Arc<Incident>,
    pilot: &Pilot,
    options: Options,
    mut each: impl FnMut(Frame) -> bool,
) -> Result<(), RunError> {
    let (name, plan) = pilot.plan(incident)?;
    let cast = Cast::of(incident, options.scale);
    let session = SessionOptions { seed: options.seed, scale: options.scale, ..SessionOptions::default() };
    let until = options.until.unwrap_or(SimTime::NEVER);
    watch_plan(incident, plan, session, until, |session| each(cast.frame(session)))
        .map_err(|error| RunError::Plan { plan: name.to_owned(), error })?;
    Ok(())
}

impl Frame {
    /// The frame in one line: age of each cache's entry, processes, database, users. Times without a label are ages.
    pub fn line(&self, cast: &Cast) -> String {
        use crate::units::{SimSpan, Unit, short};
        let mut parts = vec![cast.start.after(SimSpan::from_secs(self.second as u64)).to_string()];
        let age = |age: Option<u64>| age.map_or("?".to_owned(), |ns| format!("{:.1} s", ns as f64 / 1e9));
        for (entry, name) in self.entries.iter().zip(&cast.caches) {
            let Some(entry) = entry else { continue };
            parts.push(match entry.held {
                Held { believed_age: None, .. } => format!("{name} {}", entry.state()),
                held => format!(
                    "{name} {}, age {}, believed {}",
                    entry.state(),
                    age(held.true_age),
                    age(held.believed_age)
                ),
            });
        }
        for (processes, name) in self.services.iter().zip(&cast.services) {
            let sum = Sum::of(processes);
            let mut text = format!(
                "{name} {}/{} ready, {} busy, {}/{} connections, {} waiting",
                sum.ready, sum.there, sum.busy, sum.connections, sum.size, sum.waiting
            );
            if sum.flights > 0 {
                text += &format!(", {} sharing a read", sum.flights);
            }
            if let (Some(copies), Some(oldest)) = (sum.copies_text(), sum.oldest) {
                text += &format!(
                    ", {copies}, oldest {}, believed {}",
                    age(oldest.true_age),
                    age(oldest.believed_age)
                );
            }
            parts.push(text);
        }
        for (host, name) in self.hosts.iter().zip(&cast.hosts) {
            let down = if host.down { " down" } else { "" };
            parts.push(format!("{name}{down} {} running, CPU {}", host.running, percent(host.cpu)));
        }
        let rate = |v: f64| if v.is_finite() { short(v) } else { "-".to_owned() };
        parts.push(format!(
            "served {}, {} queries, {} refused",
            percent(self.served),
            rate(self.queries),
            rate(self.refused)
        ));
        return parts.join(" | ");

        fn percent(value: f64) -> String {
            if value.is_finite() { Unit::Ratio.show(value) } else { "-".to_owned() }
        }
    }
}

impl Entry {
    /// The state in a word or two.
    pub fn state(&self) -> &'static str {
        if !self.reachable {
            return "unreachable";
        }
        match self.held.found {
            Found::Fresh => "fresh",
            Found::Stale => "stale",
            Found::Missing if self.held.believed_age.is_some() => "expired",
            Found::Missing => "empty",
        }
    }
}

/// The processes of a service, added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// Those that are there, in any state.
    pub there: u32,
    /// Those that take requests.
    pub ready: u32,
    /// Requests in them.
    pub busy: u32,
    /// Requests and refreshes that wait for a connection.
    pub waiting: u32,
    /// Connections in use.
    pub connections: u32,
    /// Connections that those which are there may have.
    pub size: u32,
    /// Processes in which requests share a read of the key.
    pub flights: u32,
    /// Copies of the key that are fresh, stale, expired.
    pub copies: [u32; 3],
    /// The copy of the largest true age among those that are not expired.
    pub oldest: Option<Held>,
    /// Processes that hold back calls to the cache.
    pub breakers_open: u32,
}

impl Sum {
    /// Adds up.
    pub fn of(processes: &[Process]) -> Sum {
        let mut sum = Sum::default();
        for process in processes.iter().filter(|p| p.state != InstanceState::Gone) {
            sum.there += 1;
            sum.ready += u32::from(process.state == InstanceState::Ready);
            sum.busy += process.busy;
            sum.waiting += process.waiting;
            sum.connections += process.connections;
            sum.size += process.size;
            sum.flights += u32::from(process.flight.is_some());
            sum.breakers_open += u32::from(process.breaker_open);
            let Some(copy) = process.copy else { continue };
            sum.copies[copy.found as usize] += 1;
            let older = sum.oldest.is_none_or(|oldest| oldest.true_age < copy.true_age);
            if copy.found != Found::Missing && older {
                sum.oldest = Some(copy);
            }
        }
        sum
    }

    /// How many copies of the key can be used, in words; `None` when no process has one.
    pub fn copies_text(&self) -> Option<String> {
        let [fresh, stale, _] = self.copies;
        (fresh + stale > 0).then(|| format!("copies {fresh} fresh {stale} stale"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::play_plan;
    use crate::incident::load;
    use crate::incident::schema::{Story, Variant};

    fn incident(set: &[(&str, &str)]) -> Arc<Incident> {
        let file = include_str!("../../tests/incidents/good/minimal.ron");
        let incident = load("minimal.ron", file).incident.expect("the fixture is a good incident");
        let set = set.iter().map(|&(path, value)| (path.to_owned(), value.to_owned())).collect();
        let variant = Variant {
            what: String::new(),
            set,
            without: Vec::new(),
            also: Vec::new(),
            story: Story::default(),
        };
        Arc::new(incident.changed("changed", &variant).expect("it can be changed"))
    }

    fn frames(incident: &Arc<Incident>, seconds: u64) -> Vec<Frame> {
        let options = Options { until: Some(SimTime::from_secs(seconds)), ..Options::default() };
        let mut frames = Vec::new();
        film(incident, &Pilot::Nobody, options, |frame| {
            frames.push(frame);
            true
        })
        .expect("it runs");
        frames
    }

    const COPIES: [(&str, &str); 3] = [
        ("traffic.reads.item.soft_ttl", "10s"),
        ("services.api.reading.serve_stale", "true"),
        ("services.api.reading.local", "(entries: 40, stamps: Renewed)"),
    ];

    /// The largest difference between the two ages of a usable copy over a run, seconds.
    fn hidden_s(set: &[(&str, &str)]) -> u64 {
        let frames = frames(&incident(set), 120);
        let copies = frames.iter().flat_map(|f| f.services.iter().flatten()).filter_map(|p| p.copy);
        let usable = copies.filter(|held| held.found != Found::Missing);
        let hidden = usable.filter_map(|h| Some(h.true_age?.saturating_sub(h.believed_age?)));
        hidden.max().expect("some process has a copy") / SECOND
    }

    #[test]
    fn a_copy_stamped_anew_is_older_than_it_believes() {
        let kept = [COPIES[0], COPIES[1], ("services.api.reading.local", "(entries: 40, stamps: Kept)")];
        assert!(hidden_s(&COPIES) >= 5, "{} s", hidden_s(&COPIES));
        assert_eq!(hidden_s(&kept), 0);
    }

    #[test]
    fn there_is_a_frame_for_every_second() {
        let incident = incident(&[]);
        let frames = frames(&incident, 130);
        let cast = Cast::of(&incident, 1.0);
        assert_eq!(frames.iter().map(|f| f.second).collect::<Vec<_>>(), (0..=130).collect::<Vec<_>>());
        assert_eq!(cast.key.as_deref(), Some("item, most popular of 100"));
        let entry = |second: usize| frames[second].entries[0].expect("the key is cached");
        assert_eq!(entry(60).state(), "fresh");
        let (age, believed) = (entry(60).held.true_age, entry(60).held.believed_age);
        assert!(believed.is_some_and(|age| age <= 30 * SECOND), "{believed:?}");
        assert!(age >= believed, "a value is at least as old as the time since its query came back");
        assert_eq!(entry(121).state(), "unreachable");
        assert!(frames[121..].iter().any(|f| f.hosts[0].running > 0));
        assert!(frames[60].line(&cast).starts_with("10:01:00 | cache fresh, age "));
    }

    #[test]
    fn a_run_that_is_looked_at_is_the_same_run() {
        for incident in [incident(&[]), incident(&COPIES)] {
            let (until, options) = (SimTime::from_secs(150), SessionOptions::default());
            let cast = Cast::of(&incident, 1.0);
            let watched = watch_plan(&incident, None, options, until, |session| {
                cast.frame(session);
                true
            });
            let plain = play_plan(&incident, None, options, until);
            let digest = |s: Session| s.world().digest();
            assert_eq!(watched.map(digest), plain.map(digest));
        }
    }

    #[test]
    fn whoever_has_seen_enough_ends_the_run() {
        let mut seen = 0;
        let options = Options::default();
        film(&incident(&[]), &Pilot::Nobody, options, |_| {
            seen += 1;
            seen < 3
        })
        .expect("it runs");
        assert_eq!(seen, 3);
    }
}
