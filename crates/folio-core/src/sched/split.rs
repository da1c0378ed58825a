//! Splits: which items of a launch each device of a queue computes. Pure.

use crate::geom::{Box3, Dims};
use smallvec::SmallVec;
use std::sync::Arc;

/// The items of each device, in the order of the devices: disjoint boxes, some perhaps empty.
pub(crate) type Parts = SmallVec<[Box3; 8]>;

/// A function of the items and the number of devices.
type Custom = dyn Fn(&Box3, usize) -> Vec<Box3> + Send + Sync;

/// How [`Queue::spread`](crate::Queue::spread) divides the items of a launch among the devices of a
/// queue.
///
/// A split chooses places and never results: what each part reads and writes follows from the
/// kernel. A buffer that a spread launch has written remembers how its elements were divided, and
/// later launches over it keep to that division while it stays balanced.
///
/// ```
/// use folio_core::sched::Split;
/// use folio_core::{Queue, Result, Runtime};
///
/// fn over_all(rt: &Runtime) -> Result<Queue> {
///     rt.queue_over(&rt.devices(), Split::rows())
/// }
/// ```
#[derive(Clone)]
pub struct Split(Way);

#[derive(Clone)]
enum Way {
    Rows,
    Measured,
    Blocks(SmallVec<[usize; 3]>),
    Weights(Arc<[f64]>),
    By(Arc<Custom>),
}

impl Split {
    /// Equal bands of the slowest dimension that has an item for each device.
    pub fn rows() -> Split {
        Split(Way::Rows)
    }

    /// Bands in proportion to how fast each device has been for kernels of that name on this queue,
    /// which has what it spreads timed by the devices. The first launches are in equal bands. A
    /// device takes part if a launch is faster by 5 % with it. Data move to another division where
    /// ten launches save more than that costs.
    pub fn measured() -> Split {
        Split(Way::Measured)
    }

    /// It goes by times.
    pub(crate) fn is_measured(&self) -> bool {
        matches!(self.0, Way::Measured)
    }

    /// A grid of so many blocks in each dimension of the launch, one for each device.
    pub fn blocks(counts: impl AsRef<[usize]>) -> Split {
        Split(Way::Blocks(counts.as_ref().into()))
    }

    /// Bands as by [`rows`](Self::rows), in proportion to a weight of each device. A device of
    /// weight 0 has none.
    pub fn weights(weights: &[f64]) -> Split {
        Split(Way::Weights(weights.into()))
    }

    /// As a function says: of the items of a launch, a box for each device. The boxes are disjoint,
    /// and together all of the items. Borders move down to those of groups, and of leaves of
    /// reductions. A position in one dimension is `[0, 0, i]`, in two `[0, row, column]`.
    ///
    /// ```
    /// use folio_core::geom::Box3;
    /// use folio_core::sched::Split;
    ///
    /// /// The first device has everything.
    /// let split = Split::by(|items, devices| {
    ///     let mut parts = vec![Box3::EMPTY; devices];
    ///     parts[0] = *items;
    ///     parts
    /// });
    /// # drop(split);
    /// ```
    pub fn by(parts: impl Fn(&Box3, usize) -> Vec<Box3> + Send + Sync + 'static) -> Split {
        Split(Way::By(Arc::new(parts)))
    }

    /// Both divide in the same way.
    pub(crate) fn is_same(&self, other: &Split) -> bool {
        match (&self.0, &other.0) {
            (Way::Rows, Way::Rows) | (Way::Measured, Way::Measured) => true,
            (Way::Blocks(a), Way::Blocks(b)) => a == b,
            (Way::Weights(a), Way::Weights(b)) => a == b,
            (Way::By(a), Way::By(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }

    /// The parts of `items`, a box of a launch of `rank` dimensions, for each device. Parts are of
    /// whole `units`, but for the last ones. An error says what is wrong with the split.
    pub(crate) fn parts(
        &self,
        items: &Box3,
        (rank, unit): (usize, Dims),
        devices: usize,
    ) -> Result<Parts, String> {
        let units = |dim: usize| items.extent()[dim].div_ceil(unit[dim].max(1));
        let equal = vec![1.0; devices];
        match &self.0 {
            Way::Rows | Way::Measured => Ok(bands(items, (rank, unit), &equal)),
            Way::Weights(weights) => {
                check_weights(weights, devices)?;
                Ok(bands(items, (rank, unit), weights))
            }
            Way::Blocks(counts) => {
                let blocks = counts.iter().try_fold(1usize, |all, n| all.checked_mul(*n));
                if counts.len() != rank || blocks != Some(devices) {
                    return Err(format!(
                        "blocks of {counts:?} for {devices} devices and {rank} dimensions"
                    ));
                }
                let mut ends: [Vec<usize>; 3] = std::array::from_fn(|_| vec![0, 1]);
                for (dim, end) in ends.iter_mut().enumerate() {
                    let count = (dim + counts.len()).checked_sub(3).map_or(1, |at| counts[at]);
                    *end = shares(units(dim), &vec![1.0; count]);
                }
                let counts = Box3::whole([0, 1, 2].map(|dim| ends[dim].len() - 1));
                let block = |at: Dims| {
                    let of = |dim: usize| ends[dim][at[dim]]..ends[dim][at[dim] + 1];
                    in_items(items, unit, [0, 1, 2].map(of))
                };
                Ok(counts.cells().map(block).collect())
            }
            Way::By(parts) => {
                let parts = parts(items, devices);
                match parts.len() == devices && tile(&parts, items, [1; 3]) {
                    true => Ok(parts.iter().map(|part| rounded(part, items, unit)).collect()),
                    false => {
                        let wrong = format!("{parts:?} are no parts of {items:?}");
                        Err(format!("{wrong} for {devices} devices"))
                    }
                }
            }
        }
    }
}

impl std::fmt::Debug for Split {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            Way::Rows => f.write_str("Split by rows"),
            Way::Measured => f.write_str("Split by what is measured"),
            Way::Blocks(counts) => write!(f, "Split in blocks of {counts:?}"),
            Way::Weights(weights) => write!(f, "Split by weights {weights:?}"),
            Way::By(_) => f.write_str("Split by a function"),
        }
    }
}

fn check_weights(weights: &[f64], devices: usize) -> Result<(), String> {
    let fine = weights.iter().all(|weight| weight.is_finite() && *weight >= 0.0);
    if weights.len() == devices && fine && weights.iter().sum::<f64>() > 0.0 {
        return Ok(());
    }
    Err(format!("weights of {weights:?} for {devices} devices"))
}

/// Bands in proportion to weights, of the slowest dimension in which each device can have a unit,
/// or else of the one with most units.
fn bands(items: &Box3, (rank, unit): (usize, Dims), weights: &[f64]) -> Parts {
    let units = |dim: usize| items.extent()[dim].div_ceil(unit[dim].max(1));
    let dims = 3 - rank..3;
    let most = dims.clone().rev().max_by_key(|dim| units(*dim)).unwrap_or(2);
    let dim = dims.clone().find(|dim| units(*dim) >= weights.len()).unwrap_or(most);
    let ends = shares(units(dim), weights);
    let band = |at: usize| {
        let mut of = [0, 1, 2].map(|dim| 0..units(dim));
        of[dim] = ends[at]..ends[at + 1];
        in_items(items, unit, of)
    };
    (0..weights.len()).map(band).collect()
}

/// Where the shares of `n` units begin and end, in proportion to weights.
fn shares(n: usize, weights: &[f64]) -> Vec<usize> {
    let all: f64 = weights.iter().sum();
    let mut before = 0.0;
    let mut ends = vec![0];
    for weight in weights {
        before += weight;
        let end = (before / all * n as f64).round() as usize;
        ends.push(end.clamp(ends[ends.len() - 1], n));
    }
    // Weights of 0 at the end have nothing: the last one that has some reaches the end.
    let last = weights.iter().rposition(|weight| *weight > 0.0).unwrap_or(0);
    ends[last + 1..].fill(n);
    ends
}

/// The items of a box of units.
fn in_items(items: &Box3, unit: Dims, units: [std::ops::Range<usize>; 3]) -> Box3 {
    let at = |n: usize, dim: usize| {
        n.saturating_mul(unit[dim].max(1)).saturating_add(items.min[dim]).min(items.max[dim])
    };
    let part = Box3 {
        min: [0, 1, 2].map(|dim| at(units[dim].start, dim)),
        max: [0, 1, 2].map(|dim| at(units[dim].end, dim)),
    };
    if part.is_empty() { Box3::EMPTY } else { part }
}

/// A part whose borders are moved to those of units. Each border of two parts is moved alike, so
/// parts stay disjoint and together the same.
pub(crate) fn rounded(part: &Box3, items: &Box3, unit: Dims) -> Box3 {
    let border = |at: usize, d: usize| match at == items.max[d] {
        true => at,
        false => at - (at - items.min[d]) % unit[d].max(1),
    };
    if part.is_empty() {
        return Box3::EMPTY;
    }
    let rounded = Box3 {
        min: [0, 1, 2].map(|d| border(part.min[d], d)),
        max: [0, 1, 2].map(|d| border(part.max[d], d)),
    };
    if rounded.is_empty() { Box3::EMPTY } else { rounded }
}

/// Disjoint boxes that together are `items`, and begin at borders of units.
pub(crate) fn tile(parts: &[Box3], items: &Box3, unit: Dims) -> bool {
    let full: SmallVec<[&Box3; 8]> = parts.iter().filter(|part| !part.is_empty()).collect();
    let starts = |part: &Box3| {
        (0..3).all(|d| (part.min[d].wrapping_sub(items.min[d])).is_multiple_of(unit[d].max(1)))
    };
    full.iter().all(|part| items.contains(part) && starts(part))
        && full.iter().enumerate().all(|(at, a)| full[..at].iter().all(|b| !a.overlaps(b)))
        && full.iter().map(|part| part.volume()).sum::<usize>() == items.volume()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(split: &Split, items: Box3, rank: usize, unit: Dims, devices: usize) -> Parts {
        let parts = split.parts(&items, (rank, unit), devices).unwrap();
        assert_eq!(parts.len(), devices);
        assert!(tile(&parts, &items, unit), "{split:?} of {items:?} in {unit:?}: {parts:?}");
        parts
    }

    fn volumes(parts: &Parts) -> Vec<usize> {
        parts.iter().map(Box3::volume).collect()
    }

    #[test]
    fn parts_are_all_items_once() {
        let splits = [Split::rows(), Split::weights(&[1.0, 0.0, 3.0, 2.0]), Split::blocks([2, 2])];
        for split in &splits {
            for (rows, columns) in [(0, 3), (1, 1), (1, 9), (2, 2), (3, 50), (40, 7), (64, 64)] {
                let items = Box3 { min: [0, 5, 2], max: [1, 5 + rows, 2 + columns] };
                parts(split, items, 2, [1; 3], 4);
                parts(split, items, 2, [1, 4, 3], 4);
            }
        }
        for devices in 1..=8 {
            for n in 0..40 {
                let found = parts(&Split::rows(), Box3::whole([1, 1, n]), 1, [1; 3], devices);
                let volumes = volumes(&found);
                let [least, most] = [volumes.iter().min(), volumes.iter().max()];
                assert!(most.unwrap() - least.unwrap() <= 1, "{volumes:?}");
            }
        }
    }

    #[test]
    fn parts_of_a_function_end_at_units() {
        let split = Split::by(|items, devices| {
            let ends: Vec<usize> =
                (0..=devices).map(|k| 3 + k * items.extent()[2] / devices).collect();
            let part = |k: usize| Box3 { min: [0, 0, ends[k]], max: [1, 1, ends[k + 1]] };
            (0..devices).map(part).collect()
        });
        let items = Box3 { min: [0, 0, 3], max: [1, 1, 53] };
        assert_eq!(volumes(&parts(&split, items, 1, [1, 1, 8], 4)), [8, 16, 8, 18]);
        assert_eq!(volumes(&parts(&split, items, 1, [1, 1, 64], 4)), [0, 0, 0, 50]);
    }

    #[test]
    fn weights_are_proportions() {
        let of = |weights: &[f64], n| {
            let split = Split::weights(weights);
            volumes(&parts(&split, Box3::whole([1, 1, n]), 1, [1; 3], weights.len()))
        };
        assert_eq!(of(&[1.0, 3.0], 100), [25, 75]);
        assert_eq!(of(&[0.0, 1.0, 0.0], 7), [0, 7, 0]);
        assert_eq!(of(&[1.0, 1.0, 1.0], 2), [1, 0, 1]);
        assert_eq!(of(&[1e-9, 1.0], 1), [0, 1]);
    }

    #[test]
    fn narrow_launches_are_cut_where_there_are_items() {
        let items = Box3::whole([1, 2, 100]);
        let found = parts(&Split::rows(), items, 2, [1; 3], 4);
        assert_eq!(volumes(&found), [50; 4]);
        let groups = parts(&Split::rows(), Box3::whole([1, 1, 96]), 1, [1, 1, 32], 4);
        assert_eq!(volumes(&groups), [32, 32, 0, 32]);
    }

    #[test]
    fn splits_that_fit_no_launch_are_refused() {
        let refused = |split: Split, devices| {
            split.parts(&Box3::whole([1, 4, 4]), (2, [1; 3]), devices).unwrap_err()
        };
        refused(Split::blocks([2, 2]), 3);
        refused(Split::blocks([4]), 4);
        refused(Split::blocks([usize::MAX, 2]), 4);
        refused(Split::weights(&[1.0]), 2);
        refused(Split::weights(&[0.0, 0.0]), 2);
        refused(Split::weights(&[1.0, f64::NAN]), 2);
        refused(Split::weights(&[2.0, -1.0]), 2);
        refused(Split::by(|_, _| vec![]), 1);
        refused(Split::by(|items, _| vec![*items, *items]), 2);
        refused(Split::by(|items, n| vec![Box3::EMPTY; n + items.min[0]]), 2);
        assert!(
            Split::rows().is_same(&Split::rows()) && !Split::rows().is_same(&Split::blocks([1]))
        );
    }
}
