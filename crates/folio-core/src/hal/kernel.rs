//! Kernels as a backend sees them.

use super::{Argument, Foreign, MemRef, Source};
use crate::geom::{Box3, Dims, linear};
use crate::notice;
pub use folio_device::{ParamPtr, Verdict};
use std::any::TypeId;
use std::cell::Cell;
use std::hint::black_box;
use std::mem::{ManuallyDrop, MaybeUninit, align_of, size_of};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The items that one call of a native kernel computes: a box of the launch range.
pub type Block = Box3;

/// The shape of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// 1, 2 or 3: how many dimensions the user sees.
    pub rank: u8,
    /// Position of the first item, as kernels in IR count. [`Block`]s and native kernels count
    /// from 0.
    pub offset: Dims,
    /// Items in each dimension, slowest first; none is 0.
    pub range: Dims,
    /// Work-group size, when the user gave one; divides `range`.
    pub group: Option<Dims>,
    /// Which of the device's shapes a launch of items has, below
    /// [`Caps::shapes`](super::Caps::shapes); 0 is the usual one. A backend that has no choice, or
    /// none for this kernel, passes it over.
    pub shape: u8,
}

impl Geometry {
    /// This many items from position 0 on, in groups of the backend's choice.
    pub fn new(rank: u8, range: Dims) -> Geometry {
        Geometry { rank, offset: [0; 3], range, group: None, shape: 0 }
    }

    /// Number of items.
    pub fn items(&self) -> usize {
        self.range[0] * self.range[1] * self.range[2]
    }
}

/// A memory parameter of a launch, as the engine names it. A native kernel knows its element types;
/// `size` and `write` are there for what stands between it and the engine: bounds, races.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// Start of the allocation.
    pub mem: MemRef,
    /// Bytes of one element; never 0.
    pub size: u32,
    /// The kernel may write it.
    pub write: bool,
    /// Shape of the whole allocation in elements: `dims[1] * dims[2]` and `dims[2]` are the
    /// pitches.
    pub dims: Dims,
    /// First element of the accessed box.
    pub origin: Dims,
    /// Extent of the accessed box. Of a reduction that is one element. Where it is more, the launch
    /// leaves a value of each leaf of the reduction's tree there, in their order: of each group, or
    /// of each 4096 items in row-major order.
    pub extent: Dims,
    /// The index, as the kernel counts, of the accessed box's first element.
    pub index: Dims,
    /// The extent that the kernel sees: that of its argument, of which it may access a part.
    pub shape: Dims,
}

impl Param {
    /// Bytes from `mem` to where an opaque kernel finds it: to the element that it counts as the
    /// first.
    pub fn ahead(&self) -> i64 {
        let bytes = |at| linear(self.dims, at) as i64 * i64::from(self.size);
        bytes(self.origin) - bytes(self.index)
    }

    /// The same parameter with its allocation found at `base`.
    pub fn at(&self, base: *mut u8) -> ParamPtr {
        let Param { dims, origin, extent, index, shape, .. } = *self;
        ParamPtr { base, dims, origin, extent, index, shape }
    }
}

/// The arguments of a launch.
#[derive(Clone, Copy, Debug)]
pub struct Args<'a> {
    /// The scalars in their order, in the host's byte order, each from a multiple of 8 bytes on.
    /// Native kernels have theirs in themselves.
    pub blob: &'a [u8],
    /// The memory parameters in their order; local memory is not among them.
    pub params: &'a [Param],
    /// In this launch no index can be out of bounds: those of memory parameters are inside of the
    /// accessed boxes, those of arrays and of local memory inside of these. Nobody needs to test
    /// that. Otherwise a kernel in IR tests what it has no proof for itself.
    pub proved: bool,
    /// The arguments of an opaque kernel, in its order; others have their own.
    pub arguments: &'a [Argument],
}

impl<'a> Args<'a> {
    /// Of a kernel that has no scalars, or has them in itself.
    pub fn new(params: &'a [Param]) -> Args<'a> {
        Args { blob: &[], params, proved: false, arguments: &[] }
    }
}

/// Code to load.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum KernelSource<'a> {
    /// A kernel in IR, verified; for devices with [`Caps::ir`](super::Caps::ir). Its launches
    /// follow `docs/semantics.md`; a violation fails them with
    /// [`HalErrorKind::Violation`](super::HalErrorKind::Violation).
    Ir(&'a folio_kernel::Kernel),
    /// In a language of the driver's; others are
    /// [`HalErrorKind::Unsupported`](super::HalErrorKind::Unsupported).
    Opaque {
        /// Entry point.
        name: &'a str,
        /// The code.
        source: Source<'a>,
        /// For the compiler, if there is one.
        options: &'a [&'a str],
    },
}

/// Code that a device has loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KernelHandle(pub u64);

/// The code of a launch.
#[derive(Clone, Copy)]
pub enum KernelRef<'a> {
    /// Loaded before.
    Loaded(KernelHandle),
    /// Host code. A lane that accepts the operation takes it out, to own it; one that refuses the
    /// operation leaves it.
    Native(&'a Cell<Option<NativeKernel>>),
    /// Commands that a closure enqueues, over the parameters.
    Foreign(&'a dyn Foreign),
}

impl std::fmt::Debug for KernelRef<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            KernelRef::Loaded(handle) => handle.fmt(f),
            KernelRef::Native(_) => f.write_str("Native"),
            KernelRef::Foreign(_) => f.write_str("Foreign"),
        }
    }
}

/// Host code that computes any block of a launch.
pub trait BlockKernel: Send + Sync + 'static {
    /// Computes the items in `block`. Called for disjoint blocks that together are the launch
    /// range, from several threads at once, in any order. A violation fails the operation
    /// ([`HalError::violation`](super::HalError::violation)); after one, blocks that have not begun
    /// may be left out. May panic.
    ///
    /// # Safety
    /// `params` point to live memory of their shapes; for the length of the call nobody else
    /// writes what the kernel declared as read, nor touches what it declared as written, other
    /// than this kernel's own other blocks.
    unsafe fn run(&self, params: &[ParamPtr], block: &Block) -> Verdict;

    /// A launch begins that is not the kernel's first: a graph keeps it. No block of an earlier one
    /// runs any more, though that may have failed half-way.
    fn begin(&self) {}

    /// Where a launch has one dimension, blocks that begin at multiples of this are the quickest.
    fn grain(&self) -> usize {
        1
    }

    /// Tells kernels of one type apart that take different time.
    fn number(&self) -> u64 {
        0
    }

    /// The same computation in IR, for layers that keep launches.
    fn described(&self) -> Option<NativeIr<'_>> {
        None
    }
}

/// A native kernel's computation in IR.
#[derive(Clone, Copy, Debug)]
pub struct NativeIr<'k> {
    /// The kernel, verified. Its memory parameters are those of the launch.
    pub ir: &'k Arc<folio_kernel::Kernel>,
    /// Its scalars, as [`Args::blob`] has them.
    pub scalars: &'k [u64],
}

/// Which code a native kernel is: equal for all launches of one closure or function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KernelId(TypeId, u64);

/// Room for a kernel's captures without an allocation.
const INLINE: usize = 128;
type Store = MaybeUninit<[u64; INLINE / 8]>;

struct VTable {
    id: unsafe fn(*const u8) -> KernelId,
    run: unsafe fn(*const u8, &[ParamPtr], &Block) -> Verdict,
    begin: unsafe fn(*const u8),
    described: for<'k> unsafe fn(&'k Store) -> Option<NativeIr<'k>>,
    grain: unsafe fn(*const u8) -> usize,
    unoptimised: fn() -> bool,
    drop: unsafe fn(*mut u8),
    /// Moves what the store holds into one that can be shared.
    share: unsafe fn(*const u8) -> NativeKernel,
    /// Another owner of the same, if it is shared.
    again: unsafe fn(*const u8) -> Option<NativeKernel>,
}

/// An owned [`BlockKernel`] of any type; small ones are kept in place.
pub struct NativeKernel {
    store: Store,
    vtable: &'static VTable,
}

// SAFETY: only made from `K: BlockKernel`, which is `Send + Sync`.
unsafe impl Send for NativeKernel {}
// SAFETY: as above.
unsafe impl Sync for NativeKernel {}

struct Make<K>(std::marker::PhantomData<K>);

fn id<K: BlockKernel>(kernel: &K) -> KernelId {
    KernelId(TypeId::of::<K>(), kernel.number())
}

impl<K: BlockKernel> Make<K> {
    const IN_PLACE: bool = size_of::<K>() <= INLINE && align_of::<K>() <= align_of::<u64>();

    const IN_PLACE_VTABLE: VTable = VTable {
        // SAFETY: the store holds a `K`.
        id: |store| unsafe { id(&*store.cast::<K>()) },
        // SAFETY: the store holds a `K` (see `NativeKernel::new`); the rest is `run`'s contract.
        run: |store, params, block| unsafe { (*store.cast::<K>()).run(params, block) },
        // SAFETY: the store holds a `K`.
        begin: |store| unsafe { (*store.cast::<K>()).begin() },
        // SAFETY: the store holds a `K`.
        described: |store| unsafe { (*store.as_ptr().cast::<K>()).described() },
        // SAFETY: the store holds a `K`.
        grain: |store| unsafe { (*store.cast::<K>()).grain() },
        unoptimised: unoptimised::<K>,
        // SAFETY: the store holds a `K`, dropped once, by `NativeKernel::drop`.
        drop: |store| unsafe { store.cast::<K>().drop_in_place() },
        // SAFETY: the store holds a `K`, which `NativeKernel::shared` does not use again.
        share: |store| Make::of(Arc::new(unsafe { store.cast::<K>().read() })),
        again: |_| None,
    };

    const BOXED_VTABLE: VTable = VTable {
        // SAFETY: the store holds a `Box<K>`.
        id: |store| unsafe { id(&**store.cast::<Box<K>>()) },
        // SAFETY: the store holds a `Box<K>`; the rest is `run`'s contract.
        run: |store, params, block| unsafe { (**store.cast::<Box<K>>()).run(params, block) },
        // SAFETY: the store holds a `Box<K>`.
        begin: |store| unsafe { (**store.cast::<Box<K>>()).begin() },
        // SAFETY: the store holds a `Box<K>`.
        described: |store| unsafe { (**store.as_ptr().cast::<Box<K>>()).described() },
        // SAFETY: the store holds a `Box<K>`.
        grain: |store| unsafe { (**store.cast::<Box<K>>()).grain() },
        unoptimised: unoptimised::<K>,
        // SAFETY: the store holds a `Box<K>`, dropped once, by `NativeKernel::drop`.
        drop: |store| unsafe { store.cast::<Box<K>>().drop_in_place() },
        // SAFETY: the store holds a `Box<K>`, which `NativeKernel::shared` does not use again.
        share: |store| Make::of(Arc::new(*unsafe { store.cast::<Box<K>>().read() })),
        again: |_| None,
    };

    const SHARED_VTABLE: VTable = VTable {
        // SAFETY: the store holds an `Arc<K>`.
        id: |store| unsafe { id(&**store.cast::<Arc<K>>()) },
        // SAFETY: the store holds an `Arc<K>`; the rest is `run`'s contract.
        run: |store, params, block| unsafe { (**store.cast::<Arc<K>>()).run(params, block) },
        // SAFETY: the store holds an `Arc<K>`.
        begin: |store| unsafe { (**store.cast::<Arc<K>>()).begin() },
        // SAFETY: the store holds a `Arc<K>`.
        described: |store| unsafe { (**store.as_ptr().cast::<Arc<K>>()).described() },
        // SAFETY: the store holds an `Arc<K>`.
        grain: |store| unsafe { (**store.cast::<Arc<K>>()).grain() },
        unoptimised: unoptimised::<K>,
        // SAFETY: the store holds an `Arc<K>`, dropped once, by `NativeKernel::drop`.
        drop: |store| unsafe { store.cast::<Arc<K>>().drop_in_place() },
        // SAFETY: the store holds an `Arc<K>`, which `NativeKernel::shared` does not use again.
        share: |store| Make::of(unsafe { store.cast::<Arc<K>>().read() }),
        // SAFETY: the store holds an `Arc<K>`.
        again: |store| Some(Make::of(unsafe { (*store.cast::<Arc<K>>()).clone() })),
    };

    /// A kernel that other owners may have, too.
    fn of(kernel: Arc<K>) -> NativeKernel {
        let mut store: Store = MaybeUninit::uninit();
        // SAFETY: a thin `Arc` fits in the store and is aligned.
        unsafe { store.as_mut_ptr().cast::<Arc<K>>().write(kernel) };
        NativeKernel { store, vtable: const { &Make::<K>::SHARED_VTABLE } }
    }
}

impl NativeKernel {
    /// Takes `kernel`; allocates only when its captures are larger than 128 bytes.
    pub fn new<K: BlockKernel>(kernel: K) -> NativeKernel {
        let mut store: Store = MaybeUninit::uninit();
        let vtable = if Make::<K>::IN_PLACE {
            // SAFETY: `IN_PLACE` says that a `K` fits and is aligned.
            unsafe { store.as_mut_ptr().cast::<K>().write(kernel) };
            const { &Make::<K>::IN_PLACE_VTABLE }
        } else {
            // SAFETY: a thin `Box` fits in the store and is aligned.
            unsafe { store.as_mut_ptr().cast::<Box<K>>().write(Box::new(kernel)) };
            const { &Make::<K>::BOXED_VTABLE }
        };
        NativeKernel { store, vtable }
    }

    /// The same kernel, of which there may be several owners; see [`again`](Self::again).
    #[must_use]
    pub fn shared(self) -> NativeKernel {
        let moved = ManuallyDrop::new(self);
        // SAFETY: the vtable was made for what the store holds, which is not used again.
        unsafe { (moved.vtable.share)(moved.store.as_ptr().cast()) }
    }

    /// Another owner of a [shared](Self::shared) kernel; none of another one. Launches of the two
    /// may run at once.
    pub fn again(&self) -> Option<NativeKernel> {
        // SAFETY: the vtable was made for what the store holds.
        unsafe { (self.vtable.again)(self.store.as_ptr().cast()) }
    }

    /// Which code this is.
    pub fn id(&self) -> KernelId {
        // SAFETY: the vtable was made for what the store holds.
        unsafe { (self.vtable.id)(self.store.as_ptr().cast()) }
    }

    /// Computes the items in `block`.
    ///
    /// # Safety
    /// As [`BlockKernel::run`].
    pub unsafe fn run(&self, params: &[ParamPtr], block: &Block) -> Verdict {
        // SAFETY: the vtable was made for what the store holds; the caller keeps `run`'s contract.
        unsafe { (self.vtable.run)(self.store.as_ptr().cast(), params, block) }
    }

    /// See [`BlockKernel::begin`]: a device that runs a kernel again calls it before each run.
    pub fn begin(&self) {
        // SAFETY: the vtable was made for what the store holds.
        unsafe { (self.vtable.begin)(self.store.as_ptr().cast()) }
    }

    /// See [`BlockKernel::described`].
    pub fn described(&self) -> Option<NativeIr<'_>> {
        // SAFETY: the vtable was made for what the store holds.
        unsafe { (self.vtable.described)(&self.store) }
    }

    /// See [`BlockKernel::grain`].
    pub fn grain(&self) -> usize {
        // SAFETY: the vtable was made for what the store holds.
        unsafe { (self.vtable.grain)(self.store.as_ptr().cast()) }
    }

    /// For a device that runs it on the host, once for each kernel: says, once in a process, that
    /// it is slow if it is compiled without optimisation.
    pub fn check_optimised(&self) {
        if !HINTED.load(Ordering::Relaxed)
            && (self.vtable.unoptimised)()
            && !HINTED.swap(true, Ordering::Relaxed)
        {
            notice::hint_on_a_lane(
                "the kernels of this program are compiled without optimisation, and can be hundreds of times slower \
                 for it: write `[profile.dev]` and `opt-level = 1` into its Cargo.toml, or build with `--release` \
                 (`FOLIO_QUIET=1` hides this)",
            );
        }
    }
}

/// Whether the hint was given that kernels are not optimised.
static HINTED: AtomicBool = AtomicBool::new(false);

/// Bytes of an array that nothing reads.
const UNUSED: usize = 1 << 12;

/// Whether what is generic over `K`, such as its loop over items, is compiled without optimisation:
/// the crate that makes the kernel compiles this, too. There the frame of [`below`] has an array
/// that any optimisation removes. A guess, for a hint; the sizes of frames are nobody's promise.
fn unoptimised<K>() -> bool {
    let local = 0u8;
    let above = black_box(std::ptr::from_ref(&local)).addr();
    // An interpreter's addresses say nothing.
    !cfg!(miri) && (UNUSED..8 * UNUSED).contains(&above.abs_diff(below::<K>()))
}

/// Where the stack is below an array that nothing reads. The function depends on `K`, so that no
/// compiler of this crate removes it for all.
#[inline(never)]
fn below<K>() -> usize {
    let mut unused = [0u8; UNUSED];
    // SAFETY: it is the array, and all of it.
    unsafe { std::ptr::write_bytes(unused.as_mut_ptr(), size_of::<K>() as u8, UNUSED) };
    stack()
}

#[inline(never)]
fn stack() -> usize {
    let local = 0u8;
    black_box(std::ptr::from_ref(&local)).addr()
}

impl Drop for NativeKernel {
    fn drop(&mut self) {
        // SAFETY: the store holds what the vtable was made for and is not used again.
        unsafe { (self.vtable.drop)(self.store.as_mut_ptr().cast()) }
    }
}

impl std::fmt::Debug for NativeKernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("NativeKernel").field(&self.id()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    struct Counts<const N: usize>(Arc<AtomicUsize>, [u8; N]);
    impl<const N: usize> BlockKernel for Counts<N> {
        unsafe fn run(&self, _: &[ParamPtr], block: &Block) -> Verdict {
            self.0.fetch_add(block.volume() * usize::from(self.1[N - 1]), Ordering::Relaxed);
            Ok(())
        }

        fn grain(&self) -> usize {
            N
        }
    }

    fn runs_and_drops<const N: usize>() {
        let hits = Arc::new(AtomicUsize::new(0));
        let kernel = NativeKernel::new(Counts(hits.clone(), [2; N]));
        let id = kernel.id();
        let moved = Box::new(kernel);
        // SAFETY: this kernel touches no memory.
        unsafe { moved.run(&[], &Block::whole([1, 2, 3])).unwrap() };
        assert_eq!((hits.load(Ordering::Relaxed), moved.grain()), (12, N));
        assert_eq!(id, NativeKernel::new(Counts(hits.clone(), [1; N])).id());
        assert_eq!(Arc::strong_count(&hits), 2);
        drop(moved);
        assert_eq!(Arc::strong_count(&hits), 1);
    }

    /// The tests of this workspace are optimised, with debug assertions: no hint.
    #[test]
    fn optimised_kernels_are_known() {
        let optimised = option_env!("CARGO_PROFILE_TEST_OPT_LEVEL") != Some("0");
        let closure = || 1;
        fn of<K>(_: &K) -> bool {
            super::unoptimised::<K>()
        }
        assert_eq!((of(&closure), of(&[1u64; 40]), of(&())), (!optimised, !optimised, !optimised));
    }

    #[test]
    fn a_shared_kernel_is_dropped_with_its_last_owner() {
        let hits = Arc::new(AtomicUsize::new(0));
        for kernel in [
            NativeKernel::new(Counts(hits.clone(), [1; 8])),
            NativeKernel::new(Counts(hits.clone(), [1; 200])),
        ] {
            assert!(kernel.again().is_none());
            let (id, kernel) = (kernel.id(), kernel.shared().shared());
            let again = kernel.again().unwrap();
            drop(kernel);
            assert_eq!(again.id(), id);
            // SAFETY: this kernel touches no memory.
            unsafe { again.again().unwrap().run(&[], &Block::whole([1, 1, 5])).unwrap() };
        }
        assert_eq!((hits.load(Ordering::Relaxed), Arc::strong_count(&hits)), (10, 1));
    }

    #[test]
    fn captures_live_in_place_or_in_a_box_and_are_dropped_once() {
        runs_and_drops::<8>();
        runs_and_drops::<120>();
        runs_and_drops::<121>();
        runs_and_drops::<4096>();
    }
}
