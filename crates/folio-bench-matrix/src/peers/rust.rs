//! Libraries of Rust as peers: this program, started with [`WORD`], answers by the protocol.

use super::arrays;
use super::protocol::{Line, Request, check, print};
use crate::bench::{Side, Values, floats, on_host, told, words};
use crate::error::Result;
use crate::hand::host::owned;
use rayon::prelude::*;
use std::io::{BufRead, Write};
use std::time::Instant;

/// The word that makes this program a peer.
pub const WORD: &str = "peer";

/// A form of a row: a library, its version, and its work.
pub(super) struct Form {
    name: &'static str,
    version: &'static str,
    side: Side,
}

/// The standard library, whose version is that of the oldest compiler that builds this program.
const STD: [&str; 2] = ["the standard library", env!("CARGO_PKG_RUST_VERSION")];
const RAYON: [&str; 2] = ["rayon", "1"];

/// Answers requests.
pub fn serve(requests: impl BufRead, mut out: impl Write) -> std::io::Result<()> {
    for line in requests.lines() {
        let Ok(request) = serde_json::from_str::<Request>(&line?) else { continue };
        for mut form in forms(&request).into_iter().chain(arrays::made(&request)) {
            writeln!(out, "{}", print(&answer(&request, &mut form)))?;
        }
        writeln!(out, "{}", print(&Line::Done))?;
        out.flush()?;
    }
    Ok(())
}

fn answer(request: &Request, form: &mut Form) -> Line {
    let name = form.name.to_owned();
    match measured(request, form) {
        Ok((check, samples)) => Line::Result {
            workload: request.workload.clone(),
            mode: request.mode.clone(),
            size: request.size,
            name,
            version: form.version.to_owned(),
            samples,
            check,
        },
        Err(why) => Line::Failed { name, reason: why.to_string() },
    }
}

/// The check value and the samples of a form.
fn measured(request: &Request, form: &mut Form) -> Result<(Vec<f64>, Vec<f64>)> {
    timed(form, 1)?;
    let check = check(&(form.side.results)()?);
    let once = timed(form, 1)?.max(1.0);
    let times = (request.sample as f64 / once).round().clamp(1.0, 1e6) as usize;
    let samples = (0..request.rounds).map(|_| timed(form, times)).collect::<Result<_>>()?;
    Ok((check, samples))
}

/// Nanoseconds of one of so many runs.
fn timed(form: &mut Form, times: usize) -> Result<f64> {
    let started = Instant::now();
    (form.side.run)(times)?;
    Ok(started.elapsed().as_nanos() as f64 / times as f64)
}

/// Work that fills results.
pub(super) fn form<T: Clone + Send + 'static>(
    [name, version]: [&'static str; 2],
    results: Vec<T>,
    mut work: impl FnMut(&mut [T]) + Send + 'static,
) -> Form
where
    Values: From<Vec<T>>,
{
    let y = owned(results);
    let tell = told(&y);
    Form { name, version, side: on_host(move || work(&mut y.lock()), tell) }
}

/// The forms of a row; none of a row that is not known.
fn forms(request: &Request) -> Vec<Form> {
    let (n, seed) = (request.size as usize, request.seed);
    match (&*request.workload, &*request.mode) {
        ("algorithms", "sort") => sorts(words(seed, n, 1)),
        ("algorithms", "scan") => vec![scan(words(seed, n, 1), u32::wrapping_add)],
        ("algorithms", "reduction") => {
            let x = words(seed, n, 1);
            let sum =
                move |y: &mut [u32]| y[0] = x.par_iter().copied().reduce(|| 0, u32::wrapping_add);
            vec![form(RAYON, vec![0], sum)]
        }
        ("library", "scan u32") => vec![scan(words(seed, n, 1), u32::wrapping_add)],
        ("library", "scan f32") => vec![scan(floats(seed, n, 1), |a, b| a + b)],
        ("library", "sum f32") => {
            let x = floats(seed, n, 1);
            vec![form(RAYON, vec![0.0f32], move |y| y[0] = x.par_iter().sum())]
        }
        ("library", "sort f32") => {
            let x = floats(seed, n, 1);
            vec![
                sort(STD, &x, |y| y.sort_unstable_by(f32::total_cmp)),
                sort(RAYON, &x, |y| y.par_sort_unstable_by(f32::total_cmp)),
            ]
        }
        ("library", "sort u64") => sorts(long_words(seed, n)),
        ("library", "sort by key" | "sort order") => orders(request, words(seed, n, 1)),
        ("library", "gather") => {
            let (at, x) = (words(seed, n, 1), floats(seed, n, 2));
            let at: Vec<usize> = at.iter().map(|at| *at as usize % n).collect();
            let gather = move |y: &mut [f32]| {
                y.par_iter_mut().zip(&at).for_each(|(y, at)| *y = x[*at]);
            };
            vec![form(RAYON, vec![0.0; n], gather)]
        }
        ("linear", "product f32") | ("matmul", "tiled") => vec![product(seed, n)],
        _ => Vec::new(),
    }
}

/// The product of two matrices of `n` rows.
fn product(seed: u64, n: usize) -> Form {
    let (a, b) = (floats(seed, n * n, 1), floats(seed, n * n, 2));
    let (row, n) = (n as isize, n);
    form(["gemm", "0.19"], vec![0.0f32; n * n], move |y| {
        let (a, b, y) = (a.as_ptr(), b.as_ptr(), y.as_mut_ptr());
        // SAFETY: three matrices of `n` rows and columns without gaps; nothing else writes `y`.
        unsafe {
            gemm::gemm(
                n,
                n,
                n,
                y,
                1,
                row,
                false,
                a,
                1,
                row,
                b,
                1,
                row,
                0.0,
                1.0,
                false,
                false,
                false,
                gemm::Parallelism::Rayon(0),
            );
        }
    })
}

/// Words of 64 bits, of two random ones each.
pub fn long_words(seed: u64, n: usize) -> Vec<u64> {
    let word = |pair: &[u32; 2]| u64::from(pair[0]) | u64::from(pair[1]) << 32;
    words(seed, 2 * n, 1).as_chunks().0.iter().map(word).collect()
}

/// Stable sorts of pairs of a key and a value, or a place.
fn orders(request: &Request, keys: Vec<u32>) -> Vec<Form> {
    let values = match &*request.mode {
        "sort order" => (0..keys.len() as u32).collect(),
        _ => words(request.seed, keys.len(), 2),
    };
    let pairs: Vec<(u32, u32)> = keys.into_iter().zip(values).collect();
    let sort = |library, sort: fn(&mut [(u32, u32)])| {
        let (from, mut all) = (pairs.clone(), pairs.clone());
        form(library, vec![0u32; pairs.len()], move |y| {
            all.copy_from_slice(&from);
            sort(&mut all);
            y.iter_mut().zip(&all).for_each(|(y, pair)| *y = pair.1);
        })
    };
    vec![
        sort(STD, |all| all.sort_by_key(|pair| pair.0)),
        sort(RAYON, |all| all.par_sort_by_key(|pair| pair.0)),
    ]
}

/// A sort of a copy.
fn sort<T>(library: [&'static str; 2], x: &[T], sort: fn(&mut [T])) -> Form
where
    T: Copy + Default + Send + Sync + 'static,
    Values: From<Vec<T>>,
{
    let x = x.to_vec();
    form(library, vec![T::default(); x.len()], move |y: &mut [T]| {
        y.copy_from_slice(&x);
        sort(y);
    })
}

/// Sorts of keys by their order.
fn sorts<T>(x: Vec<T>) -> Vec<Form>
where
    T: Ord + Copy + Default + Send + Sync + 'static,
    Values: From<Vec<T>>,
{
    vec![sort(STD, &x, |y| y.sort_unstable()), sort(RAYON, &x, |y| y.par_sort_unstable())]
}

/// A plain loop.
fn scan<T: Copy + Default + Send + 'static>(
    x: Vec<T>,
    add: impl Fn(T, T) -> T + Send + 'static,
) -> Form
where
    Values: From<Vec<T>>,
{
    form(["a plain loop", STD[1]], vec![T::default(); x.len()], move |y: &mut [T]| {
        let mut sum = T::default();
        for (y, x) in y.iter_mut().zip(&x) {
            sum = add(sum, *x);
            *y = sum;
        }
    })
}
