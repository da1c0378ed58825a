//! Calls of `folio::algorithms`, for which a user would otherwise take a library: `--peers` measures
//! these beside them.
//!
//! By hand, a kernel copies as many bytes as the work has to move, so that a ratio says how far the
//! call is from the memory's limit. Results are those of plain Rust.

use super::stream;
use crate::bench::{Bench, Case, Pair, Side, Site, Values, Workload};
use crate::error::Result;
use crate::peers::rust::long_words;
use crate::record::Work;
use folio::algorithms::{self, Direction};
use folio::prelude::*;
use rayon::prelude::*;
use std::cell::{Cell, RefCell};
use std::cmp::Ordering;
use std::rc::Rc;

/// The workload.
pub struct Library;

#[kernel]
fn moments(
    i: Item,
    x: In<f32>,
    most: Reduce<f32, Max>,
    sum: Reduce<f32, Add>,
    square: Reduce<f32, Add>,
) {
    let v = x[i] - 1.0;
    most.give(v.abs());
    sum.give(v.abs());
    square.give(v * v);
}

#[kernel]
fn before(i: Item, x: In<f32>, y: Out<f32>) {
    y[i] = 0.5 * x[i] + 0.25;
}

#[kernel]
fn after(i: Item, x: In<f32>, y: Out<f32>) {
    y[i] = x[i] * 0.25 + 1.0;
}

impl Workload for Library {
    fn name(&self) -> &'static str {
        "library"
    }

    fn about(&self) -> &'static str {
        "calls of folio::algorithms; by hand a copy of as many bytes, the memory's limit"
    }

    fn unit(&self) -> &'static str {
        "elements"
    }

    fn modes(&self) -> &'static [&'static str] {
        &[
            "sum f32",
            "three sums",
            "scan f32",
            "scan u32",
            "map, scan, map",
            "sort f32",
            "sort u64",
            "sort by key",
            "sort order",
            "compact",
            "gather",
        ]
    }

    fn sizes(&self, mode: &str, site: Site) -> Vec<usize> {
        match mode {
            "sort u64" => site.powers(&[20, 16, 24], &[25, 20, 27], 1, 2),
            _ => site.powers(&[20, 16, 24], &[26, 20, 28], 1, 2),
        }
    }

    fn prepare(&self, bench: &Bench, case: Case) -> Result<Pair> {
        let Call { bytes, ours, expected } = call(bench, case)?;
        let work = Work {
            bytes: bytes as f64,
            launches: 1.0,
            working_set: bytes as f64,
            ..Work::default()
        };
        let theirs = copy_of(bench, bytes, expected)?;
        Ok(Pair { against: "a copy".to_owned(), ..bench.pair(work, ours, theirs) })
    }
}

/// A call of the library.
pub struct Call {
    /// Bytes that it has to read and to write.
    pub bytes: usize,
    /// Our side.
    pub ours: Side,
    /// Results by plain Rust.
    pub expected: Values,
}

/// A kernel by hand that copies: as many bytes are read and written in all. Its results, once it has
/// run, are the expected ones.
pub fn copy_of(bench: &Bench, bytes: usize, expected: Values) -> Result<Side> {
    let words = (bytes / 8).next_multiple_of(1024).max(1024);
    let (_, mut copy) = stream::by_hand(bench, "copy", words)?;
    let has_run = Rc::new(Cell::new(false));
    let runs = has_run.clone();
    Ok(Side {
        run: Box::new(move |times| {
            runs.set(true);
            (copy.run)(times)
        }),
        results: Box::new(move || {
            Ok(if has_run.get() { expected.clone() } else { Values::U32(Vec::new()) })
        }),
        counted: None,
    })
}

/// A call that makes its results: those of the last one are told.
pub fn returning<R: 'static>(
    bench: &Bench,
    mut call: impl FnMut(&Queue) -> folio::Result<R> + 'static,
    tell: impl Fn(&R) -> Result<Values> + 'static,
) -> Side {
    let (q, last) = (bench.q.clone(), Rc::new(RefCell::new(None)));
    let told = last.clone();
    Side {
        run: Box::new(move |times| {
            for _ in 0..times {
                *last.borrow_mut() = Some(call(&q)?);
            }
            Ok(q.wait()?)
        }),
        results: Box::new(move || {
            told.borrow().as_ref().map_or_else(|| Ok(Values::U32(Vec::new())), &tell)
        }),
        counted: None,
    }
}

fn call(bench: &Bench, Case { mode, size: n }: Case) -> Result<Call> {
    match mode {
        "sum f32" | "three sums" => sums(bench, mode, n),
        "scan f32" | "map, scan, map" => scans(bench, mode, n),
        "scan u32" => {
            let x = bench.words(n, 1);
            let expected = scanned(&x, 0, u32::wrapping_add).into();
            let (x, y) = (bench.buffer([n], &x)?, bench.buffer([n], &vec![0u32; n])?);
            let out = y.clone();
            let ours = bench.ours(&out, move |q| algorithms::inclusive_scan(q, Add, &x, &y));
            Ok(Call { bytes: 8 * n, ours, expected })
        }
        "sort f32" => sorted(bench, bench.floats(n, 1), f32::total_cmp),
        "sort u64" => sorted(bench, long_words(bench.seed, n), u64::cmp),
        "sort by key" | "sort order" => orders(bench, mode, n),
        "compact" => compacted(bench, n),
        _ => gathered(bench, n),
    }
}

fn sums(bench: &Bench, mode: &str, n: usize) -> Result<Call> {
    let values = bench.floats(n, 1);
    let x = bench.buffer([n], &values)?;
    if mode == "sum f32" {
        let sum: f64 = values.iter().map(|x| f64::from(*x)).sum();
        let work = move |q: &Queue| algorithms::reduce(q, Add, &x);
        let ours = returning(bench, work, |sum| Ok(sum.to_vec()?.into()));
        return Ok(Call { bytes: 4 * n, ours, expected: vec![sum as f32].into() });
    }
    let size = |x: &f32| f64::from((x - 1.0).abs());
    let mean = |total: f64| (total / n as f64) as f32;
    let expected = vec![
        values.iter().map(size).fold(0.0, f64::max) as f32,
        mean(values.iter().map(size).sum()),
        mean(values.iter().map(size).map(|x| x * x).sum()),
    ];
    let all =
        [bench.buffer([1], &[0.0f32])?, bench.buffer([1], &[0.0])?, bench.buffer([1], &[0.0])?];
    let work = move |q: &Queue| {
        q.run(n, moments(&x, &all[0], &all[1], &all[2]))?;
        Ok(all.clone())
    };
    let ours = returning(bench, work, move |all| {
        let [most, sum, square] = all.each_ref().map(|one| one.get(0));
        Ok(vec![most?, sum? / n as f32, square? / n as f32].into())
    });
    Ok(Call { bytes: 4 * n, ours, expected: expected.into() })
}

/// For each element, all up to it as one.
fn scanned<T: Copy, U: Copy>(x: &[T], zero: U, add: impl Fn(U, T) -> U) -> Vec<U> {
    let next = |sum: &mut U, x: &T| {
        *sum = add(*sum, *x);
        Some(*sum)
    };
    x.iter().scan(zero, next).collect()
}

fn scans(bench: &Bench, mode: &str, n: usize) -> Result<Call> {
    let values = bench.floats(n, 1);
    let (x, y) = (bench.buffer([n], &values)?, bench.buffer([n], &vec![0.0f32; n])?);
    let out = y.clone();
    if mode == "scan f32" {
        let sums = scanned(&values, 0.0f64, |sum, x| sum + f64::from(x));
        let ours = bench.ours(&out, move |q| algorithms::inclusive_scan(q, Add, &x, &y));
        return Ok(Call { bytes: 8 * n, ours, expected: narrow(sums) });
    }
    let sums = scanned(&values, 0.0f64, |sum, x| sum + 0.5 * f64::from(x) + 0.25);
    let ours = bench.ours(&out, move |q| {
        let run = |q: &Queue| {
            let (mut mapped, mut sums) = (q.runtime().buffer(n)?, q.runtime().buffer(n)?);
            q.run(n, before(&x, &mut mapped))?;
            algorithms::inclusive_scan(q, Add, &mapped, &mut sums)?;
            q.run(n, after(&sums, &y))
        };
        q.batch_fused(run).map(drop)
    });
    let expected = narrow(sums.into_iter().map(|sum| sum * 0.25 + 1.0).collect());
    Ok(Call { bytes: 8 * n, ours, expected })
}

fn narrow(values: Vec<f64>) -> Values {
    values.into_iter().map(|value| value as f32).collect::<Vec<_>>().into()
}

/// A sort of a copy: a sort has its keys where they are.
fn sorted<K>(bench: &Bench, keys: Vec<K>, order: impl Fn(&K, &K) -> Ordering + Sync) -> Result<Call>
where
    K: algorithms::Key,
    Values: From<Vec<K>>,
{
    let n = keys.len();
    let (x, y) = (bench.buffer([n], &keys)?, bench.buffer([n], &keys)?);
    let out = y.clone();
    let ours = bench.ours(&out, move |q| {
        q.copy(&x, &y)?;
        algorithms::sort(q, Direction::Ascending, &y)
    });
    let mut keys = keys;
    keys.par_sort_unstable_by(order);
    Ok(Call { bytes: 2 * size_of::<K>() * n, ours, expected: keys.into() })
}

fn orders(bench: &Bench, mode: &str, n: usize) -> Result<Call> {
    let (keys, values) = (bench.words(n, 1), bench.words(n, 2));
    let mut order: Vec<u32> = (0..n as u32).collect();
    order.par_sort_by_key(|at| keys[*at as usize]);
    let x = bench.buffer([n], &keys)?;
    if mode == "sort order" {
        let work = move |q: &Queue| algorithms::sort_order(q, Direction::Ascending, &x);
        let ours = returning(bench, work, |order| Ok(order.to_vec()?.into()));
        return Ok(Call { bytes: 8 * n, ours, expected: order.into() });
    }
    let expected: Vec<u32> = order.iter().map(|at| values[*at as usize]).collect();
    let v = bench.buffer([n], &values)?;
    let (keys, values) = (bench.buffer([n], &keys)?, bench.buffer([n], &values)?);
    let out = values.clone();
    let ours = bench.ours(&out, move |q| {
        q.copy(&x, &keys)?;
        q.copy(&v, &values)?;
        algorithms::sort_by_key(q, Direction::Ascending, &keys, &values)
    });
    Ok(Call { bytes: 16 * n, ours, expected: expected.into() })
}

/// About half of the elements.
fn compacted(bench: &Bench, n: usize) -> Result<Call> {
    let values = bench.floats(n, 1);
    let flags: Vec<u32> = bench.words(n, 2).into_iter().map(|word| word & 1).collect();
    let chosen = values.iter().zip(&flags).filter(|(_, flag)| **flag == 1).map(|(x, _)| *x);
    let chosen: Vec<f32> = chosen.collect();
    let (x, keep) = (bench.buffer([n], &values)?, bench.buffer([n], &flags)?);
    let work = move |q: &Queue| algorithms::compact(q, &x, &keep);
    let ours = returning(bench, work, |(y, count)| {
        let mut values = y.to_vec()?;
        values.truncate(count.get(0)? as usize);
        Ok(values.into())
    });
    Ok(Call { bytes: 10 * n, ours, expected: chosen.into() })
}

fn gathered(bench: &Bench, n: usize) -> Result<Call> {
    let at: Vec<u32> = bench.words(n, 1).into_iter().map(|word| word % n as u32).collect();
    let values = bench.floats(n, 2);
    let expected: Vec<f32> = at.iter().map(|at| values[*at as usize]).collect();
    let (at, x) = (bench.buffer([n], &at)?, bench.buffer([n], &values)?);
    let y = bench.buffer([n], &vec![0.0f32; n])?;
    let out = y.clone();
    let ours = bench.ours(&out, move |q| algorithms::gather(q, &at, &x, &y));
    Ok(Call { bytes: 12 * n, ours, expected: expected.into() })
}
