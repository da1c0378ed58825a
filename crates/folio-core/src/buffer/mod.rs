//! Buffers: data that moves itself.

/// The functions of what has a shape, by that and the number of elements.
macro_rules! shaped {
    (|$own:ident| $shape:expr, $len:expr) => {
        /// Its shape.
        pub fn shape(&self) -> [usize; D] {
            let $own = self;
            $shape
        }

        /// Its shape, as the items of a launch: see [`Items`].
        pub fn range(&self) -> [usize; D] {
            self.shape()
        }

        /// Items for a kernel that looks `width` elements around: see [`Items::interior`].
        pub fn interior(&self, width: impl Into<Margin<D>>) -> Items<D> {
            Items::from(self.range()).interior(width)
        }

        /// Items for a kernel of red and black cells: see [`Items::half`].
        pub fn half(&self) -> Items<D> {
            Items::from(self.range()).half()
        }

        /// The other items, in boxes: see [`Items::edge`].
        pub fn edge(&self, width: impl Into<Margin<D>>) -> Edge<D> {
            Items::from(self.range()).edge(width)
        }

        /// Number of elements.
        pub fn len(&self) -> usize {
            let $own = self;
            $len
        }

        /// True when it has no elements.
        pub fn is_empty(&self) -> bool {
            self.len() == 0
        }
    };
}

pub use crate::coords::ElementIndex;
pub use crate::marks::{MarkedArgument, Marks};
pub use crate::scope::ReadView;

mod guard;
mod make;
mod options;
mod outside;
mod overwritten;
mod part;
mod policy;
mod reclaim;
mod view;

pub use guard::{Loan, ReadFuture, ReadGuard, ReadRows, WriteGuard, WriteRows};
pub(crate) use guard::{vec_from_anywhere, vec_of, widened};
pub use make::{Contents, Initial};
pub use options::BufferOptions;
pub(crate) use options::default_page;
pub use overwritten::Overwritten;
pub(crate) use part::sealed::{Sealed, SealedMut};
pub use part::{AsPart, AsPartMut, Part, Slice, SliceMut};
pub(crate) use policy::{End, view_over};
pub use policy::{HostStorage, OwnedView, Policy, ViewOptions, ViewPolicy};
pub use reclaim::{Reclaim, ReclaimError, ViewError};
pub(crate) use view::View;

use crate::coords::Coords;
use crate::element::DeviceType;
use crate::engine::pages::storage::StorageId;
use crate::engine::terms::access::Mode;
use crate::error::{Error, Label, Result};
use crate::event::Event;
use crate::geom::{Box3, Dims, Grid};
use crate::items::{Edge, Items, Margin};
use crate::managed::whereabouts::Whereabouts;
use crate::pages::DomainId;
use crate::report::Counters;
use crate::runtime::Core;
use crate::spread::Owners;
use crate::sync::Mutex;
use folio_kernel::words;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// The last handle of a storage tells the engine when it goes.
pub(crate) struct StorageHandle {
    pub(crate) core: Arc<Core>,
    pub(crate) id: StorageId,
    pub(crate) label: Label,
    /// The shape that the engine knows.
    pub(crate) grid: Grid,
    pub(crate) element_bytes: usize,
    /// The largest alignment of the types that the program has seen it by.
    pub(crate) align: AtomicUsize,
    /// USM: the only domain where it is (or [`UNBOUND`]), and whether the host reaches it there.
    home: AtomicU8,
    pub(crate) host_reachable: AtomicBool,
    /// Its memory is borrowed by a scope: no guard may outlive a call.
    pub(crate) borrowed: AtomicBool,
    /// Its memory may be another storage's, too.
    pub(crate) imported: AtomicBool,
    /// What its last handle does; nothing for a plain buffer.
    pub(crate) end: Option<Box<End>>,
    /// It is a managed pointer's: where that is accessible.
    pub(crate) managed: OnceLock<Box<Whereabouts>>,
    /// For the fusion of kernels that use it.
    pub(crate) marks: Mutex<Marks>,
    /// Its elements are divided among devices.
    pub(crate) owners: Mutex<Option<Arc<Owners>>>,
}

/// No domain: a buffer.
const UNBOUND: u8 = u8::MAX;

impl StorageHandle {
    pub(crate) fn new(
        core: Arc<Core>,
        id: StorageId,
        label: Label,
        (grid, element_bytes, align): (Grid, usize, usize),
        home: Option<DomainId>,
    ) -> StorageHandle {
        core.engine.storages_made.fetch_add(1, Ordering::Relaxed);
        let home = AtomicU8::new(home.map_or(UNBOUND, |d| d.0));
        let host_reachable = AtomicBool::new(false);
        let [borrowed, imported] = [false; 2].map(AtomicBool::new);
        StorageHandle {
            core,
            id,
            label,
            grid,
            element_bytes,
            align: AtomicUsize::new(align),
            home,
            host_reachable,
            borrowed,
            imported,
            end: None,
            managed: OnceLock::new(),
            marks: Mutex::default(),
            owners: Mutex::default(),
        }
    }

    /// The only domain where it is, if it is USM.
    pub(crate) fn home(&self) -> Option<DomainId> {
        Some(self.home.load(Ordering::Relaxed)).filter(|d| *d != UNBOUND).map(DomainId)
    }

    /// From now on it is a buffer's.
    pub(crate) fn unbind(&self) {
        self.home.store(UNBOUND, Ordering::Relaxed);
    }
}

/// Widens a shape of `D` dimensions to three.
pub(crate) fn widen<const D: usize>(range: [usize; D]) -> Dims {
    const { assert!(D >= 1 && D <= 3, "buffers have one to three dimensions") };
    let mut dims = [1; 3];
    dims[3 - D..].copy_from_slice(&range);
    dims
}

/// As [`widen`], for offsets.
pub(crate) fn widen_at<const D: usize>(at: [usize; D]) -> Dims {
    let mut dims = [0; 3];
    dims[3 - D..].copy_from_slice(&at);
    dims
}

/// Data of a fixed shape that is wherever it is needed.
///
/// A buffer keeps an allocation in each memory in which it is used, made on first use, and
/// knows for each *page* (a box of elements) where it is current. Commands say what they read and
/// write; the pages that are missing where a command runs are copied there before it, and
/// nothing else is. Elements that nobody has written read as zero.
///
/// A `Buffer` is owned by one place at a time, and writing takes `&mut`: other threads, and slices
/// that are held, are kept out by the compiler. An access borrows the buffer only while it is made,
/// so whether the accesses of one command share elements is checked when the command is submitted
/// ([`Error::Aliasing`]). [`Buffer::into_shared`] gives handles for several places; they rest on
/// that check alone.
///
/// Dropping a buffer never blocks: its memory lives until the last operation that uses it has
/// ended.
pub struct Buffer<T, const D: usize = 1> {
    pub(crate) view: View,
    _elements: PhantomData<fn() -> T>,
}

/// A buffer with many handles; made by [`Buffer::into_shared`].
#[derive(Clone)]
pub struct Shared<T, const D: usize = 1> {
    pub(crate) view: View,
    _elements: PhantomData<fn() -> T>,
}

macro_rules! common {
    ($name:ident) => {
        // Of any type: of one that is none for devices it is told where a buffer of it is made.
        impl<T, const D: usize> $name<T, D> {
            shaped!(
                |own| std::array::from_fn(|dim| own.view.dims[3 - D + dim]),
                Box3::whole(own.view.dims).volume()
            );

            /// The name it was given, or an empty string.
            pub fn label(&self) -> &str {
                self.view.storage.label.as_str()
            }

            /// The shape of its pages, in elements of the buffer as it was made.
            pub fn page(&self) -> [usize; 3] {
                self.view.storage.grid.page
            }

            /// What has been moved, filled and allocated for it.
            pub fn counters(&self) -> Counters {
                let id = self.view.storage.id;
                self.view.storage.core.engine.counters_of(id)
            }
        }

        impl<T: DeviceType, const D: usize> $name<T, D> {
            pub(crate) fn from_view(view: View) -> Self {
                const { T::CHECKED };
                $name { view, _elements: PhantomData }
            }

            /// A part of it, to read: `extent` elements from `offset` on, `x.slice(2, 3)`,
            /// `m.slice([1, 2], [2, 3])`.
            pub fn slice(
                &self,
                offset: impl Coords<D>,
                extent: impl Coords<D>,
            ) -> Result<Slice<'_, T, D>> {
                Slice::new(&self.view, widen_at(offset.coords()), widen(extent.coords()))
            }

            /// All its elements in one dimension, row after row: borrowed, without a copy. For
            /// kernels and algorithms that take one dimension, whatever the buffer's shape is.
            ///
            /// ```
            /// # fn main() -> folio_core::Result<()> {
            /// # let rt = folio_core::Runtime::builder().build()?;
            /// let image = rt.buffer_from((&[1, 2, 3, 4, 5, 6], [2, 3]))?;
            /// assert_eq!((image.flat().len(), image.flat().get(4)?), (6, 5));
            /// # Ok(())
            /// # }
            /// ```
            pub fn flat(&self) -> Slice<'_, T> {
                Slice::of(self.view.flat().whole())
            }

            /// Waits for its latest contents and keeps everybody from writing them while the guard
            /// lives: commands that would are refused with [`Error::HostAccessHeld`].
            pub fn read(&self) -> Result<ReadGuard<T, D>> {
                self.slice([0; D], self.range())?.read()
            }

            /// As [`read`](Self::read), as rows of the last dimension.
            ///
            /// ```
            /// # fn main() -> folio_core::Result<()> {
            /// # let rt = folio_core::Runtime::builder().build()?;
            /// let image = rt.buffer_from((&[1, 2, 3, 4, 5, 6], [2, 3]))?;
            /// assert_eq!(image.read_rows()?.row(1), Some(&[4, 5, 6][..]));
            /// # Ok(())
            /// # }
            /// ```
            pub fn read_rows(&self) -> Result<ReadRows<T, D>> {
                self.slice([0; D], self.range())?.read_rows()
            }

            /// As [`read`](Self::read), as a future.
            pub fn read_async(&self) -> Result<ReadFuture<T, D>> {
                self.slice([0; D], self.range())?.read_async()
            }

            /// Copies its latest contents into a new vector. That is an operation like a command:
            /// what other threads submit meanwhile comes after it, and is not refused.
            pub fn to_vec(&self) -> Result<Vec<T>> {
                self.slice([0; D], self.range())?.to_vec()
            }

            /// Waits for the latest value of the element at `at`, and copies it. The page that it
            /// is in is brought to the host; of many elements, [`read`](Self::read) brings all at
            /// once. [`Error::OutOfRange`] if there is none.
            ///
            /// ```
            /// # fn main() -> folio_core::Result<()> {
            /// # let rt = folio_core::Runtime::builder().build()?;
            /// let x = rt.buffer_from((&[1, 2, 3, 4, 5, 6], [2, 3]))?;
            /// assert_eq!((x.get([1, 2])?, x.get((0, 1))?), (6, 2));
            /// assert!(x.get([2, 0]).is_err());
            /// # Ok(())
            /// # }
            /// ```
            pub fn get(&self, at: impl Coords<D>) -> Result<T> {
                self.slice([0; D], self.range())?.get(at)
            }

            /// When everything submitted so far that writes it is done.
            pub fn written(&self) -> Result<Event> {
                self.slice([0; D], self.range())?.written()
            }
        }
    };
}
common!(Buffer);
common!(Shared);

impl<T: DeviceType, const D: usize> Buffer<T, D> {
    /// A handle that can be cloned, and used from several threads.
    pub fn into_shared(self) -> Shared<T, D> {
        Shared::from_view(self.view)
    }

    /// A part of it, to write.
    pub fn slice_mut(
        &mut self,
        offset: impl Coords<D>,
        extent: impl Coords<D>,
    ) -> Result<SliceMut<'_, T, D>> {
        SliceMut::new(&self.view, widen_at(offset.coords()), widen(extent.coords()))
    }

    /// All its elements in one dimension, to write: see [`flat`](Self::flat).
    pub fn flat_mut(&mut self) -> SliceMut<'_, T> {
        SliceMut::of(self.view.flat().whole())
    }

    /// Two parts, cut at `at` in the first dimension.
    pub fn split_at_mut(&mut self, at: usize) -> Result<(SliceMut<'_, T, D>, SliceMut<'_, T, D>)> {
        let range = self.range();
        let (mut low, mut high, mut offset) = (range, range, [0; D]);
        low[0] = at;
        offset[0] = at;
        high[0] = range[0].checked_sub(at).unwrap_or(usize::MAX);
        let low = SliceMut::new(&self.view, [0; 3], widen(low))?;
        Ok((low, SliceMut::new(&self.view, widen_at(offset), widen(high))?))
    }

    /// Waits for its latest contents and gives the host the only access while the guard lives.
    pub fn write(&mut self) -> Result<WriteGuard<T, D>> {
        let all = self.range();
        WriteGuard::take(&self.slice_mut([0; D], all)?.part, Mode::Update)
    }

    /// As [`write`](Self::write), without bringing what was there: what is not written reads as
    /// zero or as an earlier value.
    pub fn discard(&mut self) -> Result<WriteGuard<T, D>> {
        let all = self.range();
        WriteGuard::take(&self.slice_mut([0; D], all)?.part, Mode::Discard { whole: false })
    }

    /// All its elements in another shape, to write, without a copy: where items own rows or columns
    /// of a vector. They must be equally many.
    ///
    /// ```
    /// # fn main() -> folio_core::Result<()> {
    /// # let rt = folio_core::Runtime::builder().build()?;
    /// let mut x = rt.buffer_from(&[1, 2, 3, 4, 5, 6])?;
    /// let mut halves = x.in_shape_mut([2, 3])?;
    /// halves.slice_mut([1, 0], [1, 3])?.write()?.fill(9);
    /// assert_eq!(x.to_vec()?, [1, 2, 3, 9, 9, 9]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn in_shape_mut<const E: usize>(
        &mut self,
        shape: impl Coords<E>,
    ) -> Result<SliceMut<'_, T, E>> {
        Ok(SliceMut::of(reinterpreted::<T, E>(&self.view, shape.coords())?.whole()))
    }

    /// The same data as elements of another type or in another shape, without a copy. The bytes
    /// must be equally many.
    ///
    /// It takes the buffer, since a `Buffer` is the only one for its data: give it its old shape
    /// back by another `reinterpret`. To look at it in one dimension meanwhile,
    /// [`flat`](Self::flat) borrows it. For two shapes that stay, make it shared first
    /// ([`into_shared`](Self::into_shared)): [`Shared::reinterpret`] takes a reference.
    ///
    /// ```
    /// # use folio_core::Buffer;
    /// # fn main() -> folio_core::Result<()> {
    /// # let rt = folio_core::Runtime::builder().build()?;
    /// let image = rt.buffer_from((&[1u32, 2, 3, 4, 5, 6], [2, 3]))?;
    /// let bytes: Buffer<u8> = image.reinterpret(24)?; // `image` is gone
    /// let image: Buffer<u32, 2> = bytes.reinterpret([2, 3])?;
    /// assert_eq!(image.get([1, 2])?, 6);
    /// # Ok(())
    /// # }
    /// ```
    pub fn reinterpret<U: DeviceType, const E: usize>(
        self,
        shape: impl Coords<E>,
    ) -> Result<Buffer<U, E>> {
        Ok(Buffer::from_view(reinterpreted::<U, E>(&self.view, shape.coords())?))
    }
}

impl<T: DeviceType, const D: usize> Shared<T, D> {
    /// A part of it, to write. Aliasing in one command is checked when it is submitted.
    pub fn slice_mut(
        &self,
        offset: impl Coords<D>,
        extent: impl Coords<D>,
    ) -> Result<SliceMut<'_, T, D>> {
        SliceMut::new(&self.view, widen_at(offset.coords()), widen(extent.coords()))
    }

    /// All its elements in one dimension, to write: see [`flat`](Self::flat).
    pub fn flat_mut(&self) -> SliceMut<'_, T> {
        SliceMut::of(self.view.flat().whole())
    }

    /// Waits for its latest contents and gives the host the only access while the guard lives.
    pub fn write(&self) -> Result<WriteGuard<T, D>> {
        WriteGuard::take(&self.slice_mut([0; D], self.range())?.part, Mode::Update)
    }

    /// As [`write`](Self::write), without bringing what was there.
    pub fn discard(&self) -> Result<WriteGuard<T, D>> {
        let all = self.slice_mut([0; D], self.range())?;
        WriteGuard::take(&all.part, Mode::Discard { whole: false })
    }

    /// The same data as elements of another type or in another shape; both handles stay.
    pub fn reinterpret<U: DeviceType, const E: usize>(
        &self,
        shape: impl Coords<E>,
    ) -> Result<Shared<U, E>> {
        Ok(Shared::from_view(reinterpreted::<U, E>(&self.view, shape.coords())?))
    }
}

/// A storage in another shape, and of another type of as many bytes.
pub(crate) fn reinterpreted<U: DeviceType, const E: usize>(
    view: &View,
    range: [usize; E],
) -> Result<View> {
    let dims = widen(range);
    let element_bytes = size_of::<U>();
    let label = &view.storage.label;
    let refused = |why: String| Error::Reinterpret { buffer: label.clone(), why };
    let have = Box3::whole(view.dims).volume() * view.element_bytes;
    let want = crate::geom::checked_volume(dims).and_then(|n| n.checked_mul(element_bytes));
    if want != Some(have) {
        // Exactly: they may differ by a byte.
        let exactly = |bytes: usize| words::count(bytes as u64, "byte");
        let (want, have) = (want.map_or("too many bytes".to_owned(), exactly), exactly(have));
        return Err(refused(format!("{want} asked for, {have} there")));
    }
    if element_bytes == 0 {
        return Err(refused("elements without a size".to_owned()));
    }
    if align_of::<U>() > crate::engine::terms::lender::ALIGN {
        return Err(refused(format!("alignment {} is larger than the storage's", align_of::<U>())));
    }
    // What the engine allocates is aligned for any element; memory of the program may not be.
    let (id, align) = (view.storage.id, align_of::<U>() as u64);
    if !view.storage.core.engine.align(id, align) {
        return Err(refused(format!("its memory is not aligned to {}", words::bytes(align))));
    }
    view.storage.align.fetch_max(align_of::<U>(), Ordering::Relaxed);
    Ok(View::new(view.storage.clone(), (dims, E), element_bytes))
}

impl<T: DeviceType, const D: usize> std::fmt::Debug for Buffer<T, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Buffer {} {:?}", self.view.storage.label, self.range())
    }
}

impl<T: DeviceType, const D: usize> std::fmt::Debug for Shared<T, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Shared {} {:?}", self.view.storage.label, self.range())
    }
}
