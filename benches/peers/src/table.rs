//! Rounds and the table that they end in.

use cpu_time::ThreadTime;

/// Nanoseconds per unit of every candidate in every round.
pub struct Table {
    title: String,
    names: Vec<&'static str>,
    /// The candidate that the others are compared with.
    reference: usize,
    /// By candidate, then by round.
    samples: Vec<Vec<f64>>,
    /// What each candidate's run came to, in words.
    remarks: Vec<String>,
}

impl Table {
    /// An empty table; the first name is the reference.
    pub fn new(title: String, names: &[&'static str]) -> Table {
        Table {
            title,
            names: names.to_vec(),
            reference: 0,
            samples: vec![Vec::new(); names.len()],
            remarks: vec![String::new(); names.len()],
        }
    }

    /// Adds one candidate's part of a round.
    pub fn add(&mut self, candidate: usize, ns_per_unit: f64, remark: String) {
        self.samples[candidate].push(ns_per_unit);
        self.remarks[candidate] = remark;
    }

    /// How many times as long as `to` the candidate took: median, least and most over the rounds.
    pub fn ratio(&self, candidate: usize, to: usize) -> (f64, f64, f64) {
        let ratios = self.samples[candidate].iter().zip(&self.samples[to]).map(|(a, b)| a / b).collect();
        let sorted = sorted(ratios);
        (middle(&sorted), sorted[0], sorted[sorted.len() - 1])
    }

    /// Prints it.
    pub fn print(&self) {
        println!("\n{}", self.title);
        println!("  {:<34} {:>9} {:>9}   {:<22} result", "", "ns", "(least)", "× reference [range]");
        for (i, name) in self.names.iter().enumerate() {
            let ns = sorted(self.samples[i].clone());
            let (ratio, least, most) = self.ratio(i, self.reference);
            let ratio = if i == self.reference {
                "1 (reference)".to_owned()
            } else {
                format!("{ratio:.2} [{least:.2} to {most:.2}]")
            };
            let (median, least) = (middle(&ns), ns[0]);
            println!("  {name:<34} {median:>9.1} {least:>9.1}   {ratio:<22} {}", self.remarks[i]);
        }
    }
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

fn middle(sorted: &[f64]) -> f64 {
    let n = sorted.len();
    (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0
}

/// Runs something and says how many nanoseconds this thread spent on it. All candidates run on the thread that starts them.
pub fn timed<T>(run: impl FnOnce() -> T) -> (T, f64) {
    let start = ThreadTime::now();
    let result = run();
    (result, start.elapsed().as_nanos() as f64)
}
