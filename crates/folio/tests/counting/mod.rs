//! The system's allocator, counting, and the programs whose allocations are counted.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

use folio::cpu::CpuBackend;
use folio::{Buffer, Queue, Runtime};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering};

struct Counting;

/// Allocations so far, of all threads.
pub static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);
/// Bytes in use now.
pub static IN_USE: AtomicIsize = AtomicIsize::new(0);

// SAFETY: passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        IN_USE.fetch_add(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

pub fn runtime(domains: usize) -> Runtime {
    let backend = CpuBackend::builder().domains(domains).threads(2).build().unwrap();
    Runtime::builder().backend(backend).build().unwrap()
}

pub fn one(q: &Queue, x: &mut Buffer<u32>) {
    q.submit(|cg| {
        let x = cg.read_write(x);
        cg.host_kernel([1], x, |i, mut x| x[i] += 1);
        Ok(())
    })
    .unwrap();
}

#[allow(dead_code, reason = "not every binary uses it")]
pub fn four(q: &Queue, [a, b, c, d]: &mut [Buffer<u32>; 4]) {
    q.submit(|cg| {
        let args = (cg.read(&*a), cg.read(&*b), cg.read_write(c), cg.read_write(d));
        cg.host_kernel([1], args, |i, (a, b, mut c, mut d)| {
            c[i] += a[i] + 1;
            d[i] += b[i] + 1;
        });
        Ok(())
    })
    .unwrap();
}
