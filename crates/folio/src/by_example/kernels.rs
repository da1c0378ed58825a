//! Small programs, by what stands in kernels: parameters, items, groups, numbers.
//!
//! # [`Item`](crate::Item), [`In`](crate::In), [`Out`](crate::Out)
//!
//! ```
//! use folio::prelude::*;
//!
//! #[kernel]
//! fn transpose(i: Item<2>, x: In<u32, 2>, y: Out<u32, 2>) {
//!     let (r, c) = i.pos();
//!     y[i] = x[(c, r)]; // reads anywhere, writes its own element
//! }
//!
//! let rt = folio::runtime()?;
//! let x = rt.buffer_from((&[1, 2, 3, 4, 5, 6], [2, 3]))?;
//! let mut y = rt.buffer([3, 2])?;
//! rt.queue()?.run(y.range(), transpose(&x, &mut y))?;
//! assert_eq!(y.to_vec()?, [1, 4, 2, 5, 3, 6]);
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`InOut`](crate::InOut)
//!
//! ```
//! use folio::prelude::*;
//!
//! #[kernel]
//! fn clamp(i: Item, most: f32, x: InOut<f32>) {
//!     if x[i] > most {
//!         x[i] = most; // items that write nothing leave their element as it was
//!     }
//! }
//!
//! let rt = folio::runtime()?;
//! let mut x = rt.buffer_from(&[1.0f32, 5.0, 3.0])?;
//! rt.queue()?.run(x.range(), clamp(4.0, &mut x))?;
//! assert_eq!(x.to_vec()?, [1.0, 4.0, 3.0]);
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`OutRow`](crate::OutRow), [`InOutRow`](crate::InOutRow)
//!
//! ```
//! use folio::prelude::*;
//!
//! #[kernel]
//! fn running_sums(i: Item, x: InOutRow<i32>) {
//!     for c in 1..x.shape()[1] {
//!         x[(i, c)] = x[(i, c)] + x[(i, c - 1)];
//!     }
//! }
//!
//! let rt = folio::runtime()?;
//! let mut x = rt.buffer_from((&[1, 2, 3, 4, 5, 6], [2, 3]))?;
//! rt.queue()?.run(2, running_sums(&mut x))?; // an item for each row
//! assert_eq!(x.to_vec()?, [1, 3, 6, 4, 9, 15]);
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`OutColumn`](crate::OutColumn), [`InOutColumn`](crate::InOutColumn)
//!
//! ```
//! use folio::prelude::*;
//!
//! #[kernel]
//! fn running_sums(i: Item, x: InOutColumn<i32>) {
//!     for r in 1..x.shape()[0] {
//!         x[(r, i)] = x[(r, i)] + x[(r - 1, i)];
//!     }
//! }
//!
//! let rt = folio::runtime()?;
//! let mut x = rt.buffer_from((&[1, 2, 3, 4, 5, 6], [2, 3]))?;
//! rt.queue()?.run(3, running_sums(&mut x))?; // an item for each column
//! assert_eq!(x.to_vec()?, [1, 2, 3, 5, 7, 9]);
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`OutChunk`](crate::OutChunk)
//!
//! ```
//! use folio::prelude::*;
//!
//! #[kernel]
//! fn powers(i: Item, x: In<u32>, y: OutChunk<u32, 3>) {
//!     let mut power = 1;
//!     for k in 0..3 {
//!         power *= x[i];
//!         y[i][k] = power;
//!     }
//! }
//!
//! let rt = folio::runtime()?;
//! let x = rt.buffer_from(&[2u32, 3])?;
//! let mut y = rt.buffer::<[u32; 3], 1>(2)?;
//! rt.queue()?.run(2, powers(&x, &mut y))?;
//! assert_eq!(y.to_vec()?, [[2, 4, 8], [3, 9, 27]]);
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`Atomic`](crate::Atomic)
//!
//! ```
//! use folio::prelude::*;
//!
//! #[kernel]
//! fn count(i: Item, x: In<u32>, bins: Atomic<u32>) {
//!     bins.add(x[i], 1); // any element, from any item
//! }
//!
//! let rt = folio::runtime()?;
//! let x = rt.buffer_from(&[1u32, 2, 1, 1])?;
//! let mut bins = rt.buffer::<u32, 1>(3)?;
//! rt.queue()?.run(x.range(), count(&x, &mut bins))?;
//! assert_eq!(bins.to_vec()?, [0, 3, 1]);
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`Reduce`](crate::Reduce), [`combine`](crate::combine)
//!
//! ```
//! use folio::prelude::*;
//!
//! #[kernel]
//! fn range(i: Item, x: In<f32>, least: Reduce<f32, Min>, most: Reduce<f32, Max>) {
//!     least.give(x[i]);
//!     most.give(x[i]);
//! }
//!
//! let rt = folio::runtime()?;
//! let x = rt.buffer_from(&[2.0f32, -1.0, 7.0])?;
//! let (mut least, mut most) = (rt.buffer(1)?, rt.buffer(1)?);
//! rt.queue()?.run(3, range(&x, &mut least, &mut most))?;
//! assert_eq!((least.get(0)?, most.get(0)?), (-1.0, 7.0));
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`Group`](crate::Group), [`Local`](crate::Local), [`Private`](crate::Private)
//!
//! ```
//! use folio::prelude::*;
//!
//! /// Reverses each four elements.
//! #[kernel(group = 4)]
//! fn reverse(g: Group, x: InOut<u32>, tile: Local<u32, 4>) {
//!     let place = g.private(0usize); // a value of each item, from phase to phase
//!     g.each(|i| {
//!         place[i] = 3 - i.local_index();
//!         tile[i] = x[i];
//!     });
//!     g.each(|i| x[i] = tile[place[i]]); // begins when the phase before has ended
//! }
//!
//! let rt = folio::runtime()?;
//! let mut x = rt.buffer_from(&[1, 2, 3, 4, 5, 6, 7, 8])?;
//! rt.queue()?.run(8, reverse(&mut x))?;
//! assert_eq!(x.to_vec()?, [4, 3, 2, 1, 8, 7, 6, 5]);
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`OutGroup`](crate::OutGroup), [`InOutGroup`](crate::InOutGroup)
//!
//! ```
//! use folio::prelude::*;
//!
//! #[kernel(group = 4)]
//! fn sums(g: Group, x: In<u32>, y: OutGroup<u32>) {
//!     y[g] = g.reduce::<Add>(|i| x[i]);
//! }
//!
//! let rt = folio::runtime()?;
//! let x = rt.buffer_from(&[1, 2, 3, 4, 5, 6, 7, 8])?;
//! let mut y = rt.buffer::<u32, 1>(2)?; // an element for each group
//! rt.queue()?.run(8, sums(&x, &mut y))?;
//! assert_eq!(y.to_vec()?, [10, 26]);
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`Tile`](crate::Tile), [`OutTile`](crate::OutTile)
//!
//! ```
//! use folio::prelude::*;
//!
//! /// The squares of matrices of up to 32 x 32, and no more than 100.
//! #[kernel(group = [8, 8])]
//! fn squares(g: Group<2>, x: In<i32, 2>, y: OutTile<i32, 32, 32>) {
//!     let x = x.tile::<32, 32>((0, 0)); // zero where `x` has no elements
//!     let mut sum = Tile::<i32, 32, 32>::zero();
//!     sum.add_product(&x, &x);
//!     y.put(g, sum.map(|x| x.min(100)));
//! }
//!
//! let rt = folio::runtime()?;
//! let x = rt.buffer_from((&[1, 2, 3, 400], [2, 2]))?;
//! let mut y = rt.buffer::<i32, 2>([2, 2])?;
//! rt.queue()?.run([8, 8], squares(&x, &mut y))?;
//! assert_eq!(y.to_vec()?, [7, 100, 100, 100]);
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`LocalAtomic`](crate::LocalAtomic), [`GroupItem`](crate::GroupItem)
//!
//! ```
//! use folio::prelude::*;
//!
//! #[kernel(group = 4)]
//! fn evens(g: Group, x: In<u32>, found: LocalAtomic<u32, 1>, y: OutGroup<u32>) {
//!     g.each(|i| {
//!         if x[i] % 2 == 0 {
//!             found.add(0, 1);
//!         }
//!     });
//!     y[g] = g.reduce::<Max>(|_| found.load(0));
//! }
//!
//! let rt = folio::runtime()?;
//! let x = rt.buffer_from(&[1, 2, 3, 4, 5, 7, 9, 8])?;
//! let mut y = rt.buffer::<u32, 1>(2)?;
//! rt.queue()?.run(8, evens(&x, &mut y))?;
//! assert_eq!(y.to_vec()?, [2, 1]);
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`Scatter`](crate::Scatter), [`ScatterLast`](crate::ScatterLast)
//!
//! ```
//! use folio::prelude::*;
//!
//! #[kernel]
//! fn newest(i: Item, key: In<u32>, x: In<u32>, y: ScatterLast<u32>) {
//!     y[key[i]] = x[i];
//! }
//!
//! #[kernel]
//! fn inverse(i: Item, of: In<u32>, y: Scatter<u32>) {
//!     y[of[i]] = i.index() as u32;
//! }
//!
//! let rt = folio::runtime()?;
//! let q = rt.queue()?;
//! let (key, x) = (rt.buffer_from(&[2u32, 0, 2])?, rt.buffer_from(&[7u32, 8, 9])?);
//! let mut y = rt.buffer::<u32, 1>(3)?;
//! q.run(3, newest(&key, &x, &mut y))?;
//! assert_eq!(y.to_vec()?, [8, 0, 9]);
//! q.run(3, inverse(&rt.buffer_from(&[2u32, 0, 1])?, &mut y))?;
//! assert_eq!(y.to_vec()?, [1, 2, 0]);
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`Racy`](crate::Racy), [`RacyMemory`](crate::RacyMemory)
//!
//! ```
//! use folio::{RacyMemory, prelude::*};
//!
//! #[kernel]
//! fn scatter(i: Item, to: In<u32>, y: Racy<u32>) {
//!     y[to[i] as usize] = i.index() as u32;
//! }
//!
//! let rt = folio::runtime()?;
//! let to = rt.buffer_from(&[2u32, 0, 1])?;
//! let mut y = rt.buffer::<u32, 1>(3)?;
//! // SAFETY: no place is there twice, and nothing of `y` is read.
//! let places = unsafe { RacyMemory::new(&mut y) };
//! rt.queue()?.run(3, scatter(&to, places))?;
//! assert_eq!(y.to_vec()?, [1, 2, 0]);
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`Overwritten`](crate::buffer::Overwritten)
//!
//! ```
//! use folio::{buffer::Overwritten, prelude::*};
//!
//! #[kernel]
//! fn squares(i: Item, y: Out<u32>) {
//!     y[i] = i.index() as u32 * i.index() as u32;
//! }
//!
//! let rt = folio::runtime()?;
//! let mut y = rt.buffer::<u32, 1>(4)?;
//! // SAFETY: there is an item for each element.
//! let all = unsafe { Overwritten::new(&mut y) };
//! rt.queue()?.run(4, squares(all))?;
//! assert_eq!(y.to_vec()?, [0, 1, 4, 9]);
//! assert_eq!(y.counters().zero_fills, 0);
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`Number`](crate::Number), [`Float`](crate::Float), [`f16`](crate::f16)
//!
//! ```
//! use folio::{Float, f16, prelude::*};
//!
//! #[kernel]
//! fn lengths<T: Float>(i: Item, x: In<[T; 2]>, y: Out<T>) {
//!     let v = x[i];
//!     y[i] = (v[0] * v[0] + v[1] * v[1]).sqrt();
//! }
//!
//! let rt = folio::runtime()?;
//! let q = rt.queue()?;
//! let (x, mut y) = (rt.buffer_from(&[[3.0f64, 4.0]])?, rt.buffer(1)?);
//! q.run(1, lengths(&x, &mut y))?;
//! assert_eq!(y.to_vec()?, [5.0f64]);
//! let (x, mut y) = (rt.buffer_from(&[[f16::from_f32(3.0), f16::from_f32(4.0)]])?, rt.buffer(1)?);
//! q.run(1, lengths(&x, &mut y))?;
//! assert_eq!(y.to_vec()?, [f16::from_f32(5.0)]);
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`HostArgument`](crate::HostArgument)
//!
//! Each kernel has a function `host`, which runs it on slices, without a runtime.
//!
//! ```
//! use folio::prelude::*;
//!
//! #[kernel]
//! fn double(i: Item, x: In<i32>, y: Out<i32>) {
//!     y[i] = 2 * x[i];
//! }
//!
//! let mut y = vec![0; 3];
//! double::host(3, &[1, 2, 3], &mut y)?;
//! assert_eq!(y, [2, 4, 6]);
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`Violation`](crate::Violation)
//!
//! ```
//! use folio::{Cause, Error, ViolationKind, prelude::*};
//!
//! #[kernel]
//! fn next(i: Item, x: In<i32>, y: Out<i32>) {
//!     y[i] = x[i + 1];
//! }
//!
//! let rt = folio::runtime()?;
//! let (x, mut y) = (rt.buffer_from(&[1, 2, 3])?, rt.buffer(3)?);
//! let failed = rt.queue()?.run(3, next(&x, &mut y))?.wait(); // the last item has no next one
//! let Err(Error::Failed(failure)) = failed else { return Err(Error::ShutDown) };
//! let Cause::Kernel(violation) = failure.cause() else { return Err(Error::ShutDown) };
//! assert!(matches!(violation.kind, ViolationKind::OutOfBounds { .. }));
//! # Ok::<(), folio::Error>(())
//! ```
