//! Runs that are played again on a thread of their own, so that the screen stays as quick as it is.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use crate::score::ForkError;
use crate::tui::background::in_background;

/// What the thread and the screen share.
struct Shared<T> {
    /// How far it is, in thousandths.
    done: AtomicU32,
    stop: AtomicBool,
    result: OnceLock<Result<T, String>>,
}

/// A run that is being played again. It stops when this is dropped.
pub(crate) struct Job<T> {
    shared: Arc<Shared<T>>,
}

impl<T: Send + Sync + 'static> Job<T> {
    /// Begins it. `work` tells now and then how far it is, and ends when it is told not to go on.
    pub(crate) fn start(
        work: impl FnOnce(&mut dyn FnMut(f64) -> bool) -> Result<T, ForkError> + Send + 'static,
    ) -> Job<T> {
        let shared = Arc::new(Shared {
            done: AtomicU32::new(0),
            stop: AtomicBool::new(false),
            result: OnceLock::new(),
        });
        let its = Arc::clone(&shared);
        let run = move || {
            let mut go_on = |done: f64| {
                its.done.store((done * 1_000.0) as u32, Ordering::Relaxed);
                !its.stop.load(Ordering::Relaxed)
            };
            let result = work(&mut go_on).map_err(|error| error.to_string());
            let _ = its.result.set(result);
        };
        if let Err(error) = in_background("played again", run) {
            let _ = shared.result.set(Err(error.to_string()));
        }
        Job { shared }
    }

    /// How far it is, from 0 to 1.
    pub(crate) fn done(&self) -> f64 {
        f64::from(self.shared.done.load(Ordering::Relaxed)) / 1_000.0
    }

    /// What came of it, once it is over.
    pub(crate) fn result(&self) -> Option<&Result<T, String>> {
        self.shared.result.get()
    }
}

impl<T> Drop for Job<T> {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn a_job_tells_how_far_it_is_and_ends_when_it_is_dropped() {
        let (step, steps) = mpsc::channel();
        let (ended, end) = mpsc::channel();
        let job = Job::start(move |go_on| {
            let mut done = 0.0;
            while go_on(done) {
                done = steps.recv().unwrap_or(done);
                ended.send(done).expect("somebody waits");
            }
            ended.send(9.0).expect("somebody waits");
            Err::<(), _>(ForkError::Stopped)
        });
        for done in [0.25, 0.5] {
            step.send(done).expect("it runs");
            assert_eq!(end.recv(), Ok(done));
        }
        assert!(job.result().is_none() && job.done() <= 0.5);
        drop(job);
        // It may wait for a step or not have asked yet; it takes one more at most.
        let _ = step.send(0.75);
        assert_eq!(end.iter().last(), Some(9.0));
    }
}
