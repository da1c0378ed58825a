//! Groups that go one way or another, with phases and reductions on each: barriers in branches, of
//! which compilers for CPUs have made wrong code. Semantics 1.3 to 1.5.
#![forbid(unsafe_code)]

use super::agree::*;
use crate::engine::rig::*;
use folio::prelude::*;
use folio_interp::interp::Arg;

#[kernel]
fn one_of_two(g: Group, x: In<u32>, t: Local<u32, 8>, o: OutGroup<u32>) {
    if x[0] > 5 {
        o[g] = 7;
    } else {
        o[g] = 5 + t[3];
    }
}

#[kernel]
fn reduced(g: Group, x: In<u32>, t: Local<u32, 8>, o: OutGroup<u32>) {
    g.each(|i| t[i] = 3);
    let most = g.reduce::<Max>(|i| x[i]);
    if most > 50 {
        g.once(|| o[g] = 7);
    } else {
        let v = t[3];
        g.each(|i| t[i] = 9);
        o[g] = most + v + t[5];
    }
    g.each(|i| t[i] = 1);
}

#[kernel]
fn reduced_on_one_way(g: Group, x: In<u32>, t: Local<u32, 8>, o: OutGroup<u32>) {
    let sum = g.reduce::<Add>(|i| x[i]);
    if sum > 50 {
        g.once(|| o[g] = 100 + t[1]);
    } else {
        let most = g.reduce::<Max>(|i| x[i] + sum + t[i]);
        g.once(|| o[g] = most);
        return;
    }
    o[g] = t[0];
}

#[kernel]
fn one_of_many(g: Group, x: In<u32>, t: Local<u32, 8>, o: OutGroup<u32>) {
    g.each(|i| t[i] = 3);
    match x[0] {
        0 => o[g] = t[0],
        1 => o[g] = 5 + t[3],
        2 if x[1] > 2 => o[g] = 9,
        _ => {
            if t[2] == x[1] {
                g.each(|i| t[i] = x[i]);
            }
            o[g] = 10 + t[4];
        }
    }
}

#[kernel]
fn ways_in_a_loop(g: Group, x: In<u32>, t: Local<u32, 8>, o: OutGroup<u32>) {
    g.each(|i| t[i] = 3);
    let mut sum = x[0];
    for k in 0..6u32 {
        if k == 2 {
            g.once(|| t[3] = t[3] * 2);
        } else if k == 4 {
            if x[0] == 1 {
                continue;
            }
            let all = g.reduce::<Add>(|i| t[i] + x[i]);
            sum += all;
        } else {
            sum += t[3];
            g.once(|| t[3] = t[3] + sum);
            if sum > 300 {
                break;
            }
        }
        g.each(|i| t[i] += sum);
    }
    o[g] = t[3] + sum;
}

#[kernel]
fn loops_in_ways(g: Group, x: In<u32>, t: Local<u32, 8>, o: OutGroup<u32>) {
    let mut sum = 0;
    if x[0] % 2 == 0 {
        for k in 0..x[0] {
            g.each(|i| t[i] += k);
            sum += t[1];
        }
    } else {
        loop {
            g.each(|i| t[i] += x[i]);
            sum += t[2];
            if sum > 20 {
                break;
            }
        }
    }
    o[g] = sum;
}

pub(super) fn groups_go_their_ways(rig: &Rig) -> Outcome {
    macro_rules! each {
        ($($kernel:ident)*) => {$(
            for first in [0, 1, 2, 9, 60] {
                let x = data([32], |k| if k == 0 { first } else { 3 + k as u32 % 5 });
                let o = data([4], |_| 1234);
                let args = vec![x.arg(), Arg::Local, o.arg()];
                fine(agree_in::<$kernel>(rig, (&[32], Some(&[8])), args, |rt, q| {
                    let (x, mut o) = (x.buffer(rt)?, o.buffer(rt)?);
                    q.run(Items::from(32).groups([8]), $kernel(&x, &mut o))?;
                    Ok(vec![contents(&o)?])
                })?)?;
            }
        )*};
    }
    each!(one_of_two reduced reduced_on_one_way one_of_many ways_in_a_loop loops_in_ways);
    Ok(())
}
