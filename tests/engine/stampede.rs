//! Whether a stampede recovers follows from cores, query cost, connections, deadline and arrival rate.

use pagerdrill::sim::spec::{KeySpace, Spec, Spread};
use pagerdrill::sim::{World, math};
use pagerdrill::units::{SimSpan, SimTime};

use crate::{ms, small};

/// One hot key that is missing from the start.
struct Stampede {
    per_s: f64,
    cores: f64,
    work_ms: f64,
    connections: u32,
    deadline_ms: f64,
}

impl Stampede {
    /// When the first query ends: with n = λt queries on c cores each advances at c/n of a core once n > c, so it has
    /// had (c/λ)(1 + ln(λt/c)) by the time t; once all N connections are taken it goes on at c/N.
    fn first_answer_ms(&self) -> f64 {
        let (rate, cores, all) = (self.per_s / 1e3, self.cores, f64::from(self.connections));
        let gap = cores / rate;
        if self.work_ms <= gap {
            return self.work_ms;
        }
        let when_full = all / rate;
        let had = gap * (1.0 + math::ln(all / cores));
        if had >= self.work_ms {
            gap * math::exp(self.work_ms / gap - 1.0)
        } else {
            when_full + (self.work_ms - had) * all / cores
        }
    }

    /// On which side of the boundary it lies; `None` when a parameter that differs by 5 % would lie on the other.
    fn should_recover(&self) -> Option<bool> {
        let side = |rate: f64, cores: f64, work: f64| {
            let per_s = self.per_s * rate;
            let case = Stampede { per_s, cores: self.cores * cores, work_ms: self.work_ms * work, ..*self };
            [0.95, 1.05].map(|d| case.first_answer_ms() < self.deadline_ms * d)
        };
        let sides: Vec<bool> = [(1.0, 1.0, 1.0), (0.95, 1.0, 1.0), (1.05, 1.0, 1.0)]
            .into_iter()
            .chain([(1.0, 0.95, 1.0), (1.0, 1.05, 1.0), (1.0, 1.0, 0.95), (1.0, 1.0, 1.05)])
            .flat_map(|(rate, cores, work)| side(rate, cores, work))
            .collect();
        sides.iter().all(|s| *s == sides[0]).then_some(sides[0])
    }

    fn spec(&self) -> Spec {
        let mut spec = small(self.per_s, Spread::Fixed(SimSpan((self.work_ms * 1e6) as u64)));
        spec.reads[0].keys = KeySpace::Even { n: 1 };
        spec.reads[0].ttl = Some(SimSpan::from_secs(1_000));
        spec.caches[0].warm = 0.0;
        spec.databases[0].cores = self.cores;
        spec.databases[0].connections = self.connections;
        let service = &mut spec.services[0];
        service.pools[0].size = self.connections;
        service.deadline = Some(SimSpan((self.deadline_ms * 1e6) as u64));
        spec
    }

    /// Whether reads are served again, some deadlines later.
    fn recovers(&self, seed: u64) -> bool {
        let mut world = World::new(&self.spec(), seed);
        let until = SimTime((self.deadline_ms * 1e6 * 6.0) as u64);
        world.advance(until);
        let before = world.counters().operations_served();
        world.advance(SimTime(until.0 + 500_000_000));
        assert_eq!(world.contradictions(), Vec::<String>::new());
        world.counters().operations_served() > before
    }
}

#[test]
fn the_known_cases_need_no_tuning() {
    let case =
        |per_s, deadline_ms| Stampede { per_s, cores: 8.0, work_ms: 12.0, connections: 500, deadline_ms };
    assert!((case(20_000.0, 500.0).first_answer_ms() - 646.6).abs() < 1.0);
    assert!((case(10_000.0, 500.0).first_answer_ms() - 543.0).abs() < 2.0);
    assert!((case(5_000.0, 500.0).first_answer_ms() - 337.0).abs() < 2.0);
    assert!(!case(20_000.0, 500.0).recovers(1));
    assert!(case(20_000.0, 750.0).recovers(1));
    assert!(!case(10_000.0, 500.0).recovers(1));
    assert!(case(5_000.0, 500.0).recovers(1));
}

#[test]
fn it_agrees_with_the_closed_form_away_from_the_boundary() {
    let (mut compared, mut recovered) = (0, 0);
    for per_s in [2_000.0, 5_000.0, 10_000.0] {
        for cores in [2.0, 4.0, 8.0] {
            for work_ms in [6.0, 12.0, 24.0] {
                for connections in [60, 250, 500] {
                    for deadline_ms in [100.0, 250.0, 600.0, 1_400.0] {
                        let case = Stampede { per_s, cores, work_ms, connections, deadline_ms };
                        let Some(should) = case.should_recover() else { continue };
                        let recovers = case.recovers(1);
                        let (rate, first) = (per_s, case.first_answer_ms());
                        assert_eq!(
                            recovers, should,
                            "{rate}/s, {cores} cores, {work_ms} ms, {connections} connections, {deadline_ms} ms: \
                             first answer after {first:.1} ms"
                        );
                        compared += 1;
                        recovered += u32::from(recovers);
                    }
                }
            }
        }
    }
    assert!(compared >= 200, "{compared} compared");
    assert!(
        recovered > 40 && compared - recovered > 40,
        "{recovered} of {compared} recover: both sides are tried"
    );
}

#[test]
fn requests_of_a_process_share_one_read_of_the_source() {
    // 100 callers of one process ask for one cold key within 10 ms: 1 read; without coalescing each reads.
    for (coalesce, reads) in [(true, 1..=1), (false, 60..=140)] {
        let mut spec = small(10_000.0, Spread::Fixed(ms(20)));
        spec.traffic.push((SimTime(10_000_000), 0.0));
        spec.reads[0].keys = KeySpace::Even { n: 1 };
        spec.reads[0].ttl = Some(SimSpan::from_secs(100));
        spec.caches[0].warm = 0.0;
        spec.databases[0].cores = 200.0;
        spec.services[0].reading.coalesce = coalesce;
        let mut world = World::new(&spec, 3);
        world.advance(SimTime::from_secs(1));
        assert!(
            reads.contains(&world.hosts(0)[0].counters.started),
            "{}",
            world.hosts(0)[0].counters.started
        );
        assert_eq!(world.counters().operations_served(), world.counters().operations_started());
        assert_eq!(world.contradictions(), Vec::<String>::new());
    }
}
