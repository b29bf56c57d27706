//! Several runs at the same time, with a bar that says how many are done.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::progress::Progress;

/// Worlds that are simulated at the same time when nobody says how many: each takes a core and some hundred megabytes.
const AT_ONCE: usize = 2;

/// How many runs to make at the same time.
pub(super) fn jobs(asked: Option<NonZeroUsize>) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    asked.map_or_else(|| cores().min(AT_ONCE), NonZeroUsize::get)
}

/// The results of `one` for 0 to `n`, in that order, whatever the number of threads and the order in which they finish.
pub(super) fn all<T: Send>(jobs: usize, n: usize, one: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new((BTreeMap::new(), Progress::new()));
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(n) {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    if i >= n {
                        return;
                    }
                    let result = one(i);
                    let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
                    done.0.insert(i, result);
                    let finished = done.0.len();
                    done.1.bar(finished, n);
                }
            });
        }
    });
    let (results, _) = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_for_any_number_of_threads() {
        let squares: Vec<usize> = (0..100).map(|i| i * i).collect();
        for jobs in [1, 2, 7, 200] {
            assert_eq!(all(jobs, 100, |i| i * i), squares);
        }
        assert!(all(3, 0, |i| i).is_empty());
    }
}
