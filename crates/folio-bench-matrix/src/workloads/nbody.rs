//! Forces of all bodies on each: arithmetic that no memory bounds.

use crate::bench::{Bench, Case, Pair, Side, Site, Workload, on_host, on_native, read, told};
use crate::error::Result;
use crate::hand::host::{loops, owned};
use crate::hand::{Arg, Call, Hand, Memory};
use crate::record::Work;
use folio::prelude::*;
use rayon::prelude::*;
use std::sync::Arc;

/// The workload.
pub struct NBody;

/// Operations of one body on another: 3 differences, 6 for the distance, root and quotient, 4 for
/// the pull, 6 to add it.
const FLOPS: f64 = 20.0;

#[kernel]
fn bodies(i: Item, p: In<[f32; 4]>, out: Out<[f32; 4]>) {
    let at = p[i];
    let mut sum_x = 0.0;
    let mut sum_y = 0.0;
    let mut sum_z = 0.0;
    for j in 0..p.len() {
        let other = p[j];
        let x = other[0] - at[0];
        let y = other[1] - at[1];
        let z = other[2] - at[2];
        let near = 1.0 / (x * x + y * y + z * z + 1e-4).sqrt();
        let pull = other[3] * near * near * near;
        sum_x += x * pull;
        sum_y += y * pull;
        sum_z += z * pull;
    }
    out[i] = [sum_x, sum_y, sum_z, 0.0];
}

loops! {
    // 16 bodies at a time.
    fn bodies_loop(all: &[[f32; 4]], at: &[[f32; 4]], out: &mut [[f32; 4]]) {
        for (out, at) in out.chunks_exact_mut(16).zip(at.chunks_exact(16)) {
            let mut sum = [[0.0f32; 16]; 3];
            let own: [[f32; 16]; 3] = std::array::from_fn(|d| std::array::from_fn(|l| at[l][d]));
            for other in all {
                for l in 0..16 {
                    let x = other[0] - own[0][l];
                    let y = other[1] - own[1][l];
                    let z = other[2] - own[2][l];
                    let near = 1.0 / (x * x + y * y + z * z + 1e-4).sqrt();
                    let pull = other[3] * near * near * near;
                    sum[0][l] += x * pull;
                    sum[1][l] += y * pull;
                    sum[2][l] += z * pull;
                }
            }
            for (l, out) in out.iter_mut().enumerate() {
                *out = [sum[0][l], sum[1][l], sum[2][l], 0.0];
            }
        }
    }
}

const TEXT: &str = "
KERNEL bodies(uint n, GLOBAL const float4 *RESTRICT p, GLOBAL float4 *RESTRICT out) {
    WITHIN(X, n);
    float4 at = p[X], sum;
    sum.x = sum.y = sum.z = sum.w = 0.0f;
    for (uint j = 0; j < n; j++) {
        float4 other = p[j];
        float x = other.x - at.x, y = other.y - at.y, z = other.z - at.z;
        float near = 1.0f / sqrt(x * x + y * y + z * z + 1e-4f);
        float pull = other.w * near * near * near;
        sum.x += x * pull; sum.y += y * pull; sum.z += z * pull;
    }
    out[X] = sum;
}
";

impl Workload for NBody {
    fn name(&self) -> &'static str {
        "nbody"
    }

    fn about(&self) -> &'static str {
        "gravity between all pairs of bodies"
    }

    fn unit(&self) -> &'static str {
        "bodies"
    }

    fn modes(&self) -> &'static [&'static str] {
        &[""]
    }

    fn sizes(&self, _: &str, site: Site) -> Vec<usize> {
        site.powers(&[12, 10, 14], &[16, 14, 17], 1, 2)
    }

    fn prepare(&self, bench: &Bench, case: Case) -> Result<Pair> {
        let n = case.size;
        let (work, theirs) = by_hand(bench, n)?;
        let (p, out) = (bench.buffer([n], &positions(bench, n))?, bench.buffer([n], &zeros(n))?);
        let results = out.clone();
        let ours = bench.ours(&results, move |q| q.run(n, bodies(&p, &out)).map(drop));
        // Pulls from all sides leave little: what GLSL rounds otherwise is a larger part of that.
        Ok(Pair { tolerance: 1e-2, ..bench.pair(work, ours, theirs) })
    }
}

fn positions(bench: &Bench, n: usize) -> Vec<[f32; 4]> {
    bench.floats(4 * n, 1).as_chunks().0.to_vec()
}

fn zeros(n: usize) -> Vec<[f32; 4]> {
    vec![[0.0; 4]; n]
}

/// The work, and the hand-written side.
pub fn by_hand(bench: &Bench, n: usize) -> Result<(Work, Side)> {
    let work = Work {
        flops: FLOPS * (n * n) as f64,
        bytes: (32 * n) as f64,
        launches: 1.0,
        working_set: (32 * n) as f64,
        ..Work::default()
    };
    let p = positions(bench, n);
    let side = match &bench.hand {
        Hand::Host => {
            let out = owned(zeros(n));
            let tell = told(&out);
            let work = move || {
                let mut out = out.lock();
                let chunks = out.par_chunks_mut(256).zip(p.par_chunks(256));
                chunks.for_each(|(out, at)| bodies_loop(&p, at, out));
            };
            on_host(work, tell)
        }
        Hand::Native(native) => {
            let p = Arc::new(Memory::of(native, &p)?);
            let out = Arc::new(Memory::of(native, &zeros(n))?);
            let args = [n.into(), Arg::from(&p), Arg::from(&out)];
            let call = Call::new(native, (TEXT, "bodies"), [n], args)?;
            on_native(native, vec![call], read::<[f32; 4]>(&out, n))
        }
    };
    Ok((work, side))
}
