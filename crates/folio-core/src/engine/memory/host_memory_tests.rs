//! Allocators of programs, without a device that does anything: what they give comes back once.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use super::*;
use crate::allocator::{AllocatorFault, HostAllocator, HostBlock};
use crate::engine::null::Null;
use crate::engine::terms::lender::layout;
use crate::{Buffer, BufferOptions, Destination, Queue, Result, Runtime, memory::Evict};
use std::alloc::{alloc, dealloc};
use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// What the allocator does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Does {
    Gives,
    Refuses,
    GivesNull,
    GivesMisaligned,
    Panics,
}

/// An allocator that keeps count.
struct Pool {
    does: Mutex<Does>,
    /// Where its memory is, and by which layout.
    live: Mutex<BTreeMap<usize, Layout>>,
    /// It refuses beyond so many pieces.
    room: usize,
    given: AtomicUsize,
    back: AtomicUsize,
    /// Memory came back that is not out, or by another layout.
    wrong: AtomicUsize,
}

impl Pool {
    fn new(room: usize) -> Arc<Pool> {
        let (does, live) = (Mutex::new(Does::Gives), Mutex::default());
        let [given, back, wrong] = [0; 3].map(AtomicUsize::new);
        Arc::new(Pool { does, live, room, given, back, wrong })
    }

    fn set(&self, does: Does) {
        *self.does.lock().unwrap() = does;
    }

    /// Pieces given, come back, and come back wrongly.
    fn counts(&self) -> [usize; 3] {
        [&self.given, &self.back, &self.wrong].map(|count| count.load(Ordering::SeqCst))
    }
}

// SAFETY: memory of the global allocator, which is freed once, when it comes back; some of it
// another address of the same memory.
unsafe impl HostAllocator for Pool {
    fn allocate(&self, layout: Layout) -> Option<HostBlock> {
        let does = *self.does.lock().unwrap();
        assert!(does != Does::Panics, "no such thing");
        if does == Does::Refuses || self.live.lock().unwrap().len() == self.room {
            return None;
        }
        if does == Does::GivesNull {
            return Some(HostBlock::zeroed(std::ptr::null_mut()));
        }
        let whole = Layout::from_size_align(layout.size() + 128, layout.align()).unwrap();
        // SAFETY: its size is not 0.
        let at = unsafe { alloc(whole) };
        // SAFETY: there are so many bytes.
        unsafe { at.write_bytes(0xa5, whole.size()) };
        let at = if does == Does::GivesMisaligned { at.wrapping_add(64) } else { at };
        self.live.lock().unwrap().insert(at.addr(), layout);
        self.given.fetch_add(1, Ordering::SeqCst);
        Some(HostBlock::unknown(at))
    }

    unsafe fn deallocate(&self, at: NonNull<u8>, layout: Layout) {
        if self.live.lock().unwrap().remove(&at.addr().get()) != Some(layout) {
            self.wrong.fetch_add(1, Ordering::SeqCst);
            return;
        }
        self.back.fetch_add(1, Ordering::SeqCst);
        let at = at.as_ptr();
        let at = if at.addr().is_multiple_of(128) { at } else { at.wrapping_sub(64) };
        let whole = Layout::from_size_align(layout.size() + 128, layout.align()).unwrap();
        // SAFETY: it was allocated by this layout, and is out once.
        unsafe { dealloc(at, whole) };
        assert!(*self.does.lock().unwrap() != Does::Panics, "no such thing");
    }
}

const N: usize = 256;
const BYTES: u64 = 4 * N as u64;

fn rig() -> (Runtime, Queue) {
    let rt = Runtime::builder().backend(Null::new(1)).budget("host", 4 * BYTES).build().unwrap();
    let q = rt.queue().unwrap();
    (rt, q)
}

fn of(pool: &Arc<Pool>) -> BufferOptions {
    BufferOptions::new().label("x").allocator(pool.clone())
}

fn buffer(rt: &Runtime, pool: &Arc<Pool>) -> Result<Buffer<u32>> {
    rt.buffer_with(vec![7; N], of(pool))
}

fn in_use(rt: &Runtime) -> u64 {
    rt.core.engine.host_budget.in_use()
}

/// MPTR-01: the memory is the allocator's from the beginning on, and goes back once, when the last
/// handle does and nothing uses it.
#[test]
fn memory_of_an_allocator_comes_back_once() {
    let (rt, q) = rig();
    let pool = Pool::new(9);
    let mut x = buffer(&rt, &pool).unwrap();
    assert_eq!((pool.counts(), in_use(&rt)), ([1, 0, 0], BYTES));
    q.fill(&mut x, 1).unwrap();
    x.write().unwrap()[0] = 2;
    x.read().unwrap();
    assert_eq!(pool.counts(), [1, 0, 0]);
    drop(x);
    rt.wait().unwrap();
    assert_eq!((pool.counts(), in_use(&rt)), ([1, 1, 0], 0));
    let empty = rt.buffer_with::<u32, 1>(0, of(&pool)).unwrap();
    assert_eq!((empty.to_vec().unwrap(), pool.counts()), (vec![], [1, 1, 0]), "it has no bytes");
}

/// MPTR-01, ERR-01: an allocator that gives no memory that can be used changes nothing. The error
/// names what was asked for.
#[test]
fn allocators_that_give_nothing_change_nothing() {
    let (rt, _q) = rig();
    let pool = Pool::new(9);
    let before = rt.counters();
    let cases = [
        (Does::Refuses, "it refused"),
        (Does::GivesNull, "it gave a null pointer"),
        (Does::GivesMisaligned, "it gave memory at 0x"),
        (Does::Panics, "it panicked: no such thing"),
    ];
    for (does, why) in cases {
        pool.set(does);
        let error = buffer(&rt, &pool).map(drop).unwrap_err();
        let asked = "the program's allocator, for buffer `x`: asked for 1024 bytes aligned to 128";
        assert!(error.to_string().starts_with(&format!("{asked}, {why}")), "{error}");
        assert!(matches!(error, Error::Allocator { asked: BYTES, align: 128, .. }), "{error:?}");
        assert_eq!((rt.counters(), in_use(&rt)), (before, 0), "{does:?}");
    }
    assert_eq!(pool.counts(), [1, 1, 0], "what was not aligned came back");
    pool.set(Does::Gives);
    assert_eq!(buffer(&rt, &pool).unwrap().to_vec().unwrap(), [7; N]);
    // A panic when memory comes back ends there.
    let x = buffer(&rt, &pool).unwrap();
    pool.set(Does::Panics);
    drop(x);
    assert_eq!((pool.counts(), in_use(&rt)), ([3, 3, 0], 0));
}

/// MPTR-01, ERR-03: of several pieces all are given, or none stays so.
#[test]
fn allocations_that_fail_half_way_give_back_the_other_half() {
    let (rt, _q) = rig();
    let pool = Pool::new(1);
    let options = || of(&pool);
    let views = [0, 1].map(|_| rt.storage::<u32>([1, 1, N], 1, options(), None).unwrap());
    let missing = [0, 1].map(|at| (views[at].storage.id, DomainId::HOST));
    let refused = rt.core.engine.allocate(&missing);
    assert!(matches!(refused, Err(Error::Allocator { fault: AllocatorFault::Refused, .. })));
    let [given, back, wrong] = pool.counts();
    assert_eq!((given, wrong, in_use(&rt), rt.counters().allocations), (back, 0, 0, 0));
    assert!(given >= 1, "the first was given");
}

/// MEM-01: a pool that has no more gets back what may go, and only of its own memory.
#[test]
fn a_pool_without_room_gets_back_what_may_go() {
    let (rt, q) = rig();
    let [pool, other] = [1, 9].map(Pool::new);
    let may_go = |of: BufferOptions| of.evict(Evict::clean());
    let strange = rt.buffer_with(vec![7; N], may_go(of(&other))).unwrap();
    let x = rt.buffer_with(vec![7; N], may_go(of(&pool))).unwrap();
    refused_by(&pool, buffer(&rt, &pool));
    for buffer in [&strange, &x] {
        // Then a device has it, too.
        let bring = |cg: &mut crate::CommandGroup| {
            cg.prefetch(buffer, Destination::Device);
            Ok(())
        };
        q.submit(bring).unwrap().wait().unwrap();
    }
    let y = buffer(&rt, &pool).unwrap();
    assert_eq!((pool.counts(), other.counts()), ([2, 1, 0], [1, 0, 0]));
    assert_eq!(rt.counters().evictions, 1);
    // It is made again where it was: by the pool, which has room again.
    refused_by(&pool, x.to_vec());
    drop(y);
    x.to_vec().unwrap();
    drop((x, strange));
    assert_eq!((pool.counts(), other.counts(), in_use(&rt)), ([3, 3, 0], [1, 1, 0], 0));
}

#[track_caller]
fn refused_by<T>(pool: &Pool, result: Result<T>) {
    let before = pool.counts();
    let error = result.map(drop).unwrap_err();
    assert!(matches!(error, Error::Allocator { fault: AllocatorFault::Refused, .. }), "{error}");
    assert_eq!(pool.counts(), before);
}

/// MEM-01: it counts against the host's budget, and an allocator beyond that is not asked.
#[test]
fn an_allocator_is_not_asked_beyond_the_budget() {
    let (rt, _q) = rig();
    let pool = Pool::new(9);
    let all: Vec<_> = (0..4).map(|_| buffer(&rt, &pool).unwrap()).collect();
    let error = buffer(&rt, &pool).map(drop).unwrap_err();
    assert!(matches!(error, Error::OutOfMemory { limit, .. } if limit == 4 * BYTES), "{error}");
    assert_eq!(pool.counts(), [4, 0, 0]);
    drop(all);
    buffer(&rt, &pool).unwrap();
    assert_eq!((pool.counts(), in_use(&rt)), ([5, 5, 0], 0));
}

/// An allocator that uses the runtime of its own buffers.
struct Inside(Mutex<Option<Runtime>>, Arc<Pool>);

impl Inside {
    fn uses(&self) {
        let rt = self.0.lock().unwrap().clone();
        if let Some(rt) = rt {
            assert_eq!(rt.buffer_from(vec![5; 10]).unwrap().to_vec().unwrap(), [5; 10]);
            rt.counters();
        }
    }
}

// SAFETY: the memory is the pool's.
unsafe impl HostAllocator for Inside {
    fn allocate(&self, layout: Layout) -> Option<HostBlock> {
        self.uses();
        self.1.allocate(layout)
    }
    unsafe fn deallocate(&self, at: NonNull<u8>, layout: Layout) {
        self.uses();
        // SAFETY: the pool gave it.
        unsafe { self.1.deallocate(at, layout) }
    }
}

/// MPTR-01: foreign code runs without a lock of the runtime's.
#[test]
fn an_allocator_may_use_the_runtime() {
    let (rt, q) = rig();
    let pool = Pool::new(9);
    let inside = Arc::new(Inside(Mutex::new(Some(rt.clone())), pool.clone()));
    let options = BufferOptions::new().allocator(inside.clone());
    let mut x = rt.buffer_with::<u32, 1>(N, options).unwrap();
    q.fill(&mut x, 1).unwrap();
    drop(x);
    rt.wait().unwrap();
    assert_eq!(pool.counts(), [1, 1, 0]);
    *inside.0.lock().unwrap() = None;
}

/// MPTR-01: the allocator outlives its memory, whatever handles go first; memory of a forgotten
/// handle stays out.
#[test]
fn an_allocator_lives_as_long_as_its_memory() {
    let pool = Pool::new(9);
    let (rt, q) = rig();
    let mut x = buffer(&rt, &pool).unwrap();
    q.fill(&mut x, 1).unwrap();
    drop((rt, q));
    assert_eq!(pool.counts(), [1, 0, 0]);
    let weak = Arc::downgrade(&pool);
    drop(pool);
    assert!(weak.upgrade().is_some(), "its memory is out");
    drop(x);
    assert!(weak.upgrade().is_none(), "nothing keeps it");
    let pool = Pool::new(9);
    let (rt, _q) = rig();
    std::mem::forget(buffer(&rt, &pool).unwrap());
    drop(rt);
    assert_eq!((pool.counts(), Arc::strong_count(&pool) > 1), ([1, 0, 0], true));
}

/// BUF-05: whose memory a buffer has on the host is said once.
#[test]
fn one_source_of_host_memory_is_chosen() {
    let (rt, q) = rig();
    let pool = Pool::new(9);
    let both = of(&pool).page_locked(&q.device());
    let error = rt.buffer_with::<u32, 1>(N, both).map(drop).unwrap_err();
    assert!(matches!(error, Error::Configuration { .. }), "{error}");
    let view = rt.view(N, vec![1; N], crate::buffer::ViewPolicy::Async.with(of(&pool))).map(drop);
    let error = Error::from(view.unwrap_err());
    assert!(matches!(error, Error::Configuration { .. }), "{error}");
    assert_eq!(pool.counts(), [0; 3]);
}

/// The count that the tests rest on finds memory that comes back twice, and by another layout.
#[test]
fn a_pool_finds_what_comes_back_wrongly() {
    let pool = Pool::new(9);
    let program = Program::new(pool.clone());
    let [x, y] = [0, 1].map(|_| take(Some(&program), 100).unwrap());
    let at = |memory: &HostMemory| NonNull::new(memory.at.0).unwrap();
    let layout = layout(100).unwrap();
    // SAFETY: the pool frees nothing that is not out.
    unsafe {
        pool.deallocate(at(&x), layout);
        pool.deallocate(at(&x), layout);
        assert_eq!(pool.counts(), [2, 1, 1]);
        pool.deallocate(at(&y), Layout::new::<u64>());
        assert_eq!(pool.counts(), [2, 1, 2]);
    }
}
