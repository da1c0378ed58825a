//! Buffers that go from device to device, whatever these are, and are always right.

use folio::prelude::*;
use folio_model::rng::Rng;

#[kernel]
fn mix(i: Item, n: i32, x: In<i32>, y: InOut<i32>) {
    let k = i.index();
    let before = if k == 0 { x[0] } else { x[k - 1] };
    y[i] = y[i] * 3 + x[i] - n ^ before;
}

#[kernel]
fn picks(i: Item, at: In<u32>, x: In<i32>, y: Out<i32>) {
    y[i] = x[at[i] as usize];
}

/// Random parts of two buffers on random devices of fresh runtimes.
pub fn all_take_turns(build: impl Fn() -> Runtime) {
    for seed in 0..20 {
        let (mut rng, rt) = (Rng::new(seed), build());
        let queues: Vec<Queue> =
            rt.devices().iter().map(|device| rt.queue_on(device).unwrap()).collect();
        let n = 1 + rng.below(5_000);
        let mut x: Vec<i32> = (0..n).map(|_| rng.below(1 << 20) as i32).collect();
        let mut y = vec![7i32; n];
        let page = BufferOptions::new().page([1 + rng.below(700)]);
        let mut a = rt.buffer_with(&x, page.clone()).unwrap();
        let mut b = rt.buffer_with(&y, page).unwrap();
        for turn in 0..60 {
            let q = &queues[rng.below(queues.len())];
            let (first, end) = (rng.below(n), rng.below(n) + 1);
            let items = first.min(end)..first.max(end);
            q.run(items.clone(), mix(turn, &a, &mut b)).unwrap();
            for k in items {
                let before = x[k.saturating_sub(1)];
                y[k] = y[k].wrapping_mul(3).wrapping_add(x[k]).wrapping_sub(turn) ^ before;
            }
            if rng.below(3) == 0 {
                std::mem::swap(&mut a, &mut b);
                std::mem::swap(&mut x, &mut y);
            }
            if rng.below(10) == 0 {
                assert_eq!(b.to_vec().unwrap(), y, "seed {seed}, turn {turn}");
            }
        }
        assert_eq!(a.to_vec().unwrap(), x, "seed {seed}");
        assert_eq!(b.to_vec().unwrap(), y, "seed {seed}");
    }
}

/// What fails on one device is read on no other.
pub fn failures_reach_all(rt: &Runtime) {
    let n = 1000;
    let at: Vec<u32> = (0..n as u32).map(|k| if k == 700 { 5000 } else { k }).collect();
    let (at, x) = (rt.buffer_from(&at).unwrap(), rt.buffer_from(vec![1i32; n]).unwrap());
    for device in rt.devices() {
        let mut y = rt.buffer::<i32, 1>(n).unwrap();
        let mut z = rt.buffer::<i32, 1>(n).unwrap();
        let mut events =
            vec![rt.queue_on(&device).unwrap().run(n, picks(&at, &x, &mut y)).unwrap()];
        for other in rt.devices() {
            events.push(rt.queue_on(&other).unwrap().run(n, mix(1, &y, &mut z)).unwrap());
        }
        for event in events {
            let told = event.wait().unwrap_err().to_string();
            assert!(told.contains("index [5000] is outside of `x`"), "{}: {told}", device.name());
        }
    }
}
