use std::hint::black_box;
use std::time::{Duration, Instant};

const WARM_UP: Duration = Duration::from_millis(500);
const BATCH: Duration = Duration::from_millis(60);
const BATCHES_MAX: usize = 11;
const BATCHES_MIN: usize = 3;
/// Of batches, for an engine that is slow.
const ENOUGH: Duration = Duration::from_secs(3);

/// Asks all requests in turn, batch after batch: the median and the least cost of one decision, in
/// nanoseconds of CPU time.
pub fn measure(count: usize, mut ask: impl FnMut(usize) -> bool) -> (f64, f64) {
    let mut round = || {
        for i in 0..count {
            black_box(ask(i));
        }
    };
    let (begin, mut rounds) = (Instant::now(), 0);
    while rounds == 0 || begin.elapsed() < WARM_UP {
        round();
        rounds += 1;
    }
    let each = begin.elapsed().as_secs_f64() / f64::from(rounds);
    let rounds = (BATCH.as_secs_f64() / each).max(1.0) as usize;
    let (begin, mut costs) = (Instant::now(), Vec::new());
    while costs.len() < BATCHES_MAX && (costs.len() < BATCHES_MIN || begin.elapsed() < ENOUGH) {
        let before = spent();
        (0..rounds).for_each(|_| round());
        costs.push((spent() - before).as_nanos() as f64 / (rounds * count) as f64);
    }
    costs.sort_by(f64::total_cmp);
    (costs[costs.len() / 2], costs[0])
}

/// The CPU time of this process.
fn spent() -> Duration {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `now` is ours, and outlives the call.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut now) };
    assert_eq!(status, 0, "the clock of this process can be read");
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}
