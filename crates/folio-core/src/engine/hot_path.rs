//! What a submission takes: two locks, no clock, and nothing from the heap. (The last is tested
//! with a real backend, too, in `folio`.)

use super::null::{Null, POLLS};
use crate::sync::LOCKS;
use crate::{Buffer, Event, In, InOut, KernelCall, Queue, Result, Runtime};
use folio_device::{
    Built, Code, Gaps, Kernel, Launched, Mode, ParamPtr, Positions, Shared, ViewParam, code_of,
};
use folio_kernel::source::{Entry, Function, Text};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::OnceLock;
use std::time::Instant;

thread_local!(static CLOCKS: Cell<u64> = const { Cell::new(0) });
thread_local!(static ALLOCATIONS: Cell<u64> = const { Cell::new(0) });

/// Takes the place of the system's allocator in this test binary, and counts.
struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise; all memory is from the system's allocator.
        unsafe { System.dealloc(ptr, layout) }
    }
}

/// Takes the place of the system's function in this test binary, and counts.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod clock {
    use std::ffi::{c_int, c_long, c_void};

    unsafe extern "C" {
        fn syscall(number: c_long, ...) -> c_long;
    }

    // SAFETY: the signature and the effect are those of the function that it replaces.
    #[unsafe(no_mangle)]
    unsafe extern "C" fn clock_gettime(clock: c_int, time: *mut c_void) -> c_int {
        const CLOCK_GETTIME: c_long = 228;
        super::CLOCKS.set(super::CLOCKS.get() + 1);
        // SAFETY: the caller's arguments, as they are.
        unsafe { syscall(CLOCK_GETTIME, c_long::from(clock), time) as c_int }
    }
}

fn submit(q: &Queue, [a, b, c]: &mut [Buffer<u32>; 3]) -> Result<Event> {
    q.submit(|cg| {
        let args = (cg.read(&*a), cg.read_write(b), cg.read_write(c));
        cg.host_kernel([1], args, |_, _| {});
        Ok(())
    })
}

fn discard(q: &Queue, [a, b, c]: &mut [Buffer<u32>; 3]) -> Result<Event> {
    q.submit(|cg| {
        let args = (cg.read(&*a), cg.discard(b), cg.discard(c));
        cg.host_kernel([4], args, |_, _| {});
        Ok(())
    })
}

/// `y[i] += x[i]`, as the macro would say it, and a scalar; it is never run. If `GENERIC`, its code
/// is looked up.
struct Adds<const GENERIC: bool>;

impl<const GENERIC: bool> Adds<GENERIC> {
    const FUNCTION: Function = {
        static TEXT: Text =
            Text("local 3 local 0 index 1 1 local 2 local 0 index 1 1 assign_op + - 1 1 body 1 - ");
        Function {
            name: "adds",
            file: file!(),
            group: &[],
            block: &[],
            floats: crate::ir::source::Floats::Exact,
            deny_checks: false,
            looked_at: &[],
            item_by_item: None,
            params: &["i", "a", "x", "y"],
            printed: &[],
            body: &TEXT,
            table: || {
                let (x, y) = (In::<u32>::entry(), InOut::<u32>::entry());
                vec![Entry::Item(1), Entry::Type(u64::describe), x, y, Entry::Unit]
            },
        }
    };
}

// SAFETY: it touches nothing.
unsafe impl<const GENERIC: bool> Kernel for Adds<GENERIC> {
    const FUNCTION: &'static Function = &Self::FUNCTION;
    const IN_DEVELOPMENT: bool = true;
    fn code() -> &'static Built {
        static CODE: OnceLock<Built> = OnceLock::new();
        if GENERIC { code_of::<Self>() } else { CODE.get_or_init(|| Code::of(&Self::FUNCTION)) }
    }
    unsafe fn unproved(_: &[u64], _: &[ParamPtr], _: &Positions, _: &Launched, _: &Gaps) -> usize {
        0
    }
    unsafe fn items<M: Mode>(_: &[u64], _: &[ParamPtr], _: &Positions, _: &Launched) {}
}

fn run<const GENERIC: bool>(q: &Queue, [a, b, _]: &mut [Buffer<u32>; 3]) -> Result<Event> {
    // SAFETY: the arguments of its parameters.
    let call = unsafe {
        let mut call = KernelCall::<Adds<GENERIC>, 1>::begin();
        call.value(0x0707_0707_0707_0707u64);
        call.memory::<In<u32>>(&*a);
        call.memory::<InOut<u32>>(b);
        call
    };
    q.run(4, call)
}

type Submit = fn(&Queue, &mut [Buffer<u32>; 3]) -> Result<Event>;

/// What a thousand submissions take beyond two locks: how many took more, and their allocations.
fn taken(q: &Queue, mut all: [Buffer<u32>; 3], submit: Submit) -> Result<(u32, u64)> {
    for _ in 0..1000 {
        submit(q, &mut all)?;
    }
    q.wait()?;
    let (mut more, mut allocations) = (0, 0);
    for n in 0..1000 {
        let before = (LOCKS.get(), CLOCKS.get(), ALLOCATIONS.get());
        submit(q, &mut all)?;
        let (locks, clocks) = (LOCKS.get() - before.0, CLOCKS.get() - before.1);
        allocations += ALLOCATIONS.get() - before.2;
        assert_eq!(clocks, 0);
        assert!(locks >= 2, "the counter does not count");
        // Now and then the reaper has gone to sleep and is called.
        more += u32::from(locks > 2);
        if n % 16 == 0 {
            q.wait()?;
        }
    }
    Ok((more, allocations))
}

/// DEP-02: what nothing must be brought or waited for costs two locks, no clock and no memory,
/// whether the device runs the host's code or what it has loaded.
#[test]
fn a_submission_takes_two_locks_and_no_clock() {
    let ways: [&[Submit]; 2] =
        [&[submit, discard, run::<false>, run::<true>], &[run::<false>, run::<true>]];
    for (closures, ways) in [true, false].into_iter().zip(ways) {
        let rt = Runtime::builder().backend(Null { closures, ..Null::new(1) }).build().unwrap();
        let queues = [rt.queue_on("null:0").unwrap(), rt.in_order_queue_on("null:0").unwrap()];
        for (q, way) in queues.iter().flat_map(|q| ways.iter().map(move |way| (q, *way))) {
            let (more, allocations) =
                taken(q, std::array::from_fn(|_| rt.buffer(4).unwrap()), way).unwrap();
            assert!(more <= 50, "{more} of 1000 submissions took more than two locks");
            assert!(allocations <= 5, "{allocations} allocations in 1000 submissions");
        }
    }
    // Where a courier does the rest, it is one lock.
    let rt = Runtime::builder().backend(Null { courier: Some(1), ..Null::new(1) }).build().unwrap();
    let q = rt.queue_on("null:0").unwrap();
    let mut all = std::array::from_fn(|_| rt.buffer(4).unwrap());
    let takes_one_lock = |_| {
        let before = (LOCKS.get(), CLOCKS.get());
        submit(&q, &mut all).unwrap();
        assert_eq!(CLOCKS.get(), before.1);
        LOCKS.get() - before.0 == 1
    };
    assert!((0..1_000_000).any(takes_one_lock), "the courier takes nothing");
    let counted = (CLOCKS.get(), ALLOCATIONS.get());
    let _ = (Instant::now(), std::hint::black_box(Box::new(0u8)));
    assert_eq!(ALLOCATIONS.get(), counted.1 + 1, "the counter does not count");
    if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        assert_eq!(CLOCKS.get(), counted.0 + 1, "the counter does not count");
    }
}

/// DEP-02: a command that follows the last operation of a lane asks no lane how far it is, but for
/// one in sixteen.
#[test]
fn a_chain_seldom_polls() {
    let rt = Runtime::builder().backend(Null { closures: true, ..Null::new(1) }).build().unwrap();
    for q in [rt.queue_on("null:0").unwrap(), rt.in_order_queue_on("null:0").unwrap()] {
        let mut x = rt.buffer::<u32, 1>(4).unwrap();
        let mut submit = || {
            let submitted = q.submit(|cg| {
                let x = cg.read_write(&mut x);
                cg.host_kernel([1], x, |_, _| {});
                Ok(())
            });
            submitted.unwrap();
        };
        submit();
        let before = POLLS.get();
        (0..1600).for_each(|_| submit());
        let polls = POLLS.get() - before;
        assert!((50..=150).contains(&polls), "{polls} polls in 1600 submissions");
    }
}
