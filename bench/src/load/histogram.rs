use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// 64 buckets per power of two, a relative error of about 1.6 %.
const SUB_BUCKET_BITS: u32 = 6;
const SUB_BUCKETS: usize = 1 << SUB_BUCKET_BITS;
/// 2^40 ns is 18 minutes, longer than any run.
const POWERS: usize = 40;

/// A histogram of latencies in logarithmic buckets. All connections of a run share it, hence the atomics.
pub struct Histogram {
    buckets: Vec<AtomicU64>,
}

impl Default for Histogram {
    fn default() -> Self {
        let mut buckets = Vec::new();
        buckets.resize_with(SUB_BUCKETS * POWERS, AtomicU64::default);
        Self { buckets }
    }
}

impl Histogram {
    pub fn record(&self, latency: Duration) {
        let nanos = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX);
        self.buckets[bucket_of(nanos)].fetch_add(1, Relaxed);
    }

    pub fn count(&self) -> u64 {
        self.buckets.iter().map(|bucket| bucket.load(Relaxed)).sum()
    }

    /// The latency that `share` of all requests did not exceed; zero when nothing was recorded.
    pub fn quantile(&self, share: f64) -> Duration {
        let count = self.count();
        let rank = ((count as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        for (index, bucket) in self.buckets.iter().enumerate() {
            seen += bucket.load(Relaxed);
            if seen >= rank {
                return Duration::from_nanos(middle_of(index));
            }
        }
        Duration::ZERO
    }
}

/// Values below 64 have a bucket each; above, the leading bit picks the power and the next six bits its sub-bucket.
fn bucket_of(nanos: u64) -> usize {
    let leading = u64::BITS - 1 - nanos.max(1).leading_zeros();
    if leading < SUB_BUCKET_BITS {
        return nanos as usize;
    }
    let shift = leading - SUB_BUCKET_BITS;
    let place = (nanos >> shift) as usize - SUB_BUCKETS;
    let power = (shift + 1) as usize;
    (power * SUB_BUCKETS + place).min(SUB_BUCKETS * POWERS - 1)
}

fn middle_of(bucket: usize) -> u64 {
    let power = bucket / SUB_BUCKETS;
    let place = bucket % SUB_BUCKETS;
    if power == 0 {
        return place as u64;
    }
    let width = 1u64 << (power - 1);
    (SUB_BUCKETS + place) as u64 * width + width / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_comes_back_within_two_percent() {
        for nanos in [1u64, 63, 64, 65, 1_000, 123_456, 9_999_999, 3_000_000_000] {
            let back = middle_of(bucket_of(nanos));
            assert!(back.abs_diff(nanos) * 50 <= nanos, "{nanos} came back as {back}");
        }
    }

    #[test]
    fn quantiles_follow_the_order_of_the_values() {
        let histogram = Histogram::default();
        for micros in 1..=1000 {
            histogram.record(Duration::from_micros(micros));
        }
        let middle = histogram.quantile(0.5).as_micros();
        let high = histogram.quantile(0.99).as_micros();
        assert!(middle.abs_diff(500) <= 10, "{middle}");
        assert!(high.abs_diff(990) <= 20, "{high}");
        assert_eq!(histogram.count(), 1000);
    }

    #[test]
    fn an_absurd_latency_lands_in_the_last_bucket() {
        let histogram = Histogram::default();
        histogram.record(Duration::MAX);
        assert_eq!(histogram.count(), 1);
    }
}
