//! Medians, and how far they can be trusted.

use crate::record::Estimate;

/// The median; not a number for no samples.
pub fn median(samples: &[f64]) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match (sorted.len() % 2, sorted.get(middle)) {
        (_, None) => f64::NAN,
        (1, Some(value)) => *value,
        (_, Some(value)) => (value + sorted[middle - 1]) / 2.0,
    }
}

/// The median with its interval. That is between two samples by rank: of `n` samples, as many are
/// below the true median as heads in `n` throws of a coin. No distribution is assumed.
pub fn estimate(samples: &[f64]) -> Estimate {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let at = |rank: usize| sorted.get(rank.min(n.saturating_sub(1))).copied().unwrap_or(f64::NAN);
    let low = lower_rank(n);
    Estimate {
        median: median(samples),
        low: at(low),
        high: at(n.saturating_sub(1 + low)),
        quarter: at(n / 4),
        three_quarters: at(n - n.div_ceil(4)),
    }
}

/// As [`estimate`], of samples that were taken in several passes. A pass begins anew, minutes after
/// the one before, so the interval holds the medians of all passes, too.
pub fn of_passes(samples: &[f64], passes: &[usize]) -> Estimate {
    let (mut all, mut rest) = (estimate(samples), samples);
    for count in passes {
        let (pass, more) = rest.split_at((*count).min(rest.len()));
        rest = more;
        if !pass.is_empty() {
            let median = median(pass);
            (all.low, all.high) = (all.low.min(median), all.high.max(median));
        }
    }
    all
}

/// The largest rank that is above the median with a probability of 2.5 % at most, or 0.
fn lower_rank(n: usize) -> usize {
    let (mut term, mut sum) = (0.5f64.powi(n as i32), 0.0);
    for rank in 0..n / 2 {
        sum += term;
        if sum > 0.025 {
            return rank.saturating_sub(1);
        }
        term *= (n - rank) as f64 / (rank + 1) as f64;
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_of_odd_and_even_numbers_of_samples() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(&[]).is_nan());
    }

    /// The ranks of tables of the sign test.
    #[test]
    fn intervals_hold_the_median_with_95_percent() {
        assert_eq!([5, 6, 9, 15, 25].map(lower_rank), [0, 0, 1, 3, 7]);
        let samples: Vec<f64> = (1..=15).map(f64::from).collect();
        let estimate = estimate(&samples);
        assert_eq!((estimate.low, estimate.median, estimate.high), (4.0, 8.0, 12.0));
        assert_eq!((estimate.quarter, estimate.three_quarters), (4.0, 12.0));
    }

    #[test]
    fn intervals_hold_the_medians_of_passes() {
        let samples: Vec<f64> = (1..=15).map(f64::from).collect();
        let estimate = of_passes(&samples, &[3, 9, 3]);
        assert_eq!((estimate.low, estimate.median, estimate.high), (2.0, 8.0, 14.0));
    }
}
