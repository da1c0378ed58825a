//! A vector that becomes a buffer is neither copied nor leaked, and goes as it was allocated. One
//! test in a process of its own, because the memory of all threads is counted. BUF-05, POL-07
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

mod counting;

use counting::{IN_USE, one, runtime};
use std::sync::atomic::Ordering;

/// Memory that the runtime itself takes or gives back meanwhile, in any of its threads.
const OWN: isize = 64 << 10;

fn in_use() -> isize {
    IN_USE.load(Ordering::Relaxed)
}

/// BUF-05, POL-07
#[test]
fn a_vector_is_moved_in_and_freed_with_its_buffer() {
    const BYTES: isize = 4 << 20;
    for domains in [1, 2] {
        let rt = runtime(domains);
        let q = rt.queue_on(&rt.devices()[domains - 1]).unwrap();
        let mut warm = rt.buffer::<u32, 1>(1).unwrap();
        one(&q, &mut warm);
        q.wait().unwrap();
        let before = in_use();
        let mut data = Vec::with_capacity(BYTES as usize / 4);
        data.extend(0..BYTES as u32 / 8); // half of it
        let x = rt.buffer_from(data).unwrap();
        let took = in_use() - before;
        assert!((took - BYTES).abs() < OWN, "{took} bytes for {BYTES}");
        assert_eq!(x.get(1000).unwrap(), 1000);
        drop(x);
        rt.wait().unwrap();
        let left = in_use() - before;
        assert!(left.abs() < OWN, "{left} bytes are left");

        // A vector that is refused is freed, too.
        let refused = rt.buffer_from((vec![1u8; BYTES as usize], [3, 3]));
        assert!(refused.is_err());
        rt.device("cpu:0").unwrap().set_budget(1000);
        assert!(rt.buffer_from(vec![1u8; BYTES as usize]).is_err());
        let left = in_use() - before;
        assert!(left.abs() < OWN, "{left} bytes are left");
    }
}
