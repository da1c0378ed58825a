//! Small programs, by public type: documentation, and nothing else. The types of kernels (`In`,
//! `Group`, `Reduce`, ..) are in [`kernels`].
//!
//! # [`Runtime`](crate::Runtime)
//!
//! ```
//! let rt = folio::runtime()?;
//! assert!(rt.devices().iter().any(|device| device.name() == "cpu:0"));
//! let q = rt.queue_on("cpu")?;
//! let x = rt.buffer_from(&[1, 2, 3])?;
//! assert_eq!(x.to_vec()?, [1, 2, 3]);
//! rt.wait()?; // for everything, on every queue
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`RuntimeBuilder`](crate::RuntimeBuilder)
//!
//! ```
//! use folio::Runtime;
//! use folio::cpu::CpuBackend;
//!
//! let rt = Runtime::builder()
//!     .backend(CpuBackend::builder().domains(2).build()?)
//!     .budget("cpu:1", 1 << 20)
//!     .on_failure(|failure| eprintln!("{failure}"))
//!     .build()?;
//! assert_eq!(rt.device("cpu:1")?.budget(), (1 << 20, 0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # [`DeviceRef`](crate::DeviceRef)
//!
//! ```
//! let rt = folio::runtime()?;
//! let device = rt.device("cpu:0")?;
//! println!("{} has {} units", device.info().name, device.info().compute_units);
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`Selector`](crate::Selector)
//!
//! ```
//! use folio::Selector;
//! use folio::hal::DeviceKind;
//!
//! let rt = folio::runtime()?;
//! let roomy = Selector::any().kind(DeviceKind::Cpu).that(|info| info.memory >= 1 << 20);
//! assert!(rt.device(roomy)?.name().starts_with("cpu:"));
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`Buffer`](crate::Buffer)
//!
//! ```
//! use folio::{Buffer, BufferOptions};
//!
//! let rt = folio::runtime()?;
//! let mut x: Buffer<u32, 2> = rt.buffer_with([4, 5], BufferOptions::new().label("x"))?;
//! x.discard()?.fill(7);
//! x.write()?[(1, 4)] = 8;
//! assert_eq!(x.slice([1, 3], [2, 2])?.to_vec()?, [7, 8, 7, 7]);
//! let flat: Buffer<u8> = x.reinterpret([80])?;
//! assert_eq!((flat.len(), flat.label()), (80, "x"));
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! Of any shape, without options, and with data: a vector by value is not copied.
//!
//! ```
//! let rt = folio::runtime()?;
//! let zeros = rt.buffer::<f32, 2>([30, 40])?;
//! let grid = rt.buffer_from((vec![1, 2, 3, 4, 5, 6], (2, 3)))?;
//! assert_eq!((zeros.shape(), grid.shape()), ([30, 40], [2, 3]));
//! assert_eq!((grid.get((1, 0))?, grid.counters().allocations), (4, 0));
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`Slice`](crate::Slice), [`SliceMut`](crate::SliceMut)
//!
//! ```
//! let rt = folio::runtime()?;
//! let q = rt.queue()?;
//! let mut x = rt.buffer_from(&[1, 2, 3, 4, 5, 6])?;
//! let mut middle = x.slice_mut([2], [3])?;
//! q.submit(|cg| {
//!     let (range, part) = (middle.range(), cg.read_write(&mut middle));
//!     cg.host_kernel(range, part, |i, mut part| part[i] *= 10);
//!     Ok(())
//! })?;
//! assert_eq!(x.slice([1], [5])?.to_vec()?, [2, 30, 40, 50, 6]);
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`Scope`](crate::Scope)
//!
//! ```
//! let rt = folio::runtime()?;
//! let q = rt.queue()?;
//! let (weights, mut totals) = (vec![1.0f32, 2.0, 3.0], vec![0.0f32; 3]);
//! rt.scope(|scope| {
//!     // Nothing is copied where the device computes in the host's memory.
//!     let (weights, mut totals) = (scope.view(&weights)?, scope.view_mut(&mut totals)?);
//!     q.submit(|cg| {
//!         let (w, t) = (cg.read(&weights), cg.discard(&mut totals));
//!         cg.host_kernel([3], (w, t), |i, (w, mut t)| t.put(i, 2.0 * w[i]));
//!         Ok(())
//!     })?;
//!     Ok::<(), folio::Error>(())
//! })??; // waits for everything that uses the slices, and brings back what was written
//! assert_eq!(totals, [2.0, 4.0, 6.0]);
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`Usm`](crate::Usm)
//!
//! ```
//! use folio::UsmKind;
//!
//! let rt = folio::runtime()?;
//! let device = rt.device("cpu:0")?;
//! let mut memory = rt.usm::<u32>(&device, UsmKind::Shared, 4)?; // stays where it is
//! rt.queue_on(&device)?.submit(|cg| {
//!     cg.fill(&mut memory, 7);
//!     Ok(())
//! })?;
//! assert_eq!(memory.read()?[..], [7; 4]);
//! assert!(memory.pointer().address().is_some());
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`BufferOptions`](crate::BufferOptions)
//!
//! ```
//! use folio::BufferOptions;
//!
//! let rt = folio::runtime()?;
//! let tiles = BufferOptions::new().label("tiles").page([16, 16]);
//! let x = rt.buffer_with::<f32, 2>([100, 100], tiles)?;
//! assert_eq!(x.page(), [1, 16, 16]);
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`Shared`](crate::Shared)
//!
//! ```
//! let rt = folio::runtime()?;
//! let q = rt.queue()?;
//! let x = rt.buffer::<u64, 1>(10)?.into_shared();
//! let other = x.clone();
//! q.submit(|cg| {
//!     cg.fill(&other, 3);
//!     Ok(())
//! })?;
//! assert_eq!(x.read()?[9], 3);
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`Queue`](crate::Queue)
//!
//! ```
//! let rt = folio::runtime()?;
//! let q = rt.queue()?;
//! let mut x = rt.buffer::<u64, 1>(10)?;
//! let event = q.submit(|cg| {
//!     let x = cg.discard(&mut x);
//!     cg.host_kernel([10], x, |i, mut x| x.put(i, i.index() as u64));
//!     Ok(())
//! })?;
//! event.wait()?; // one command
//! q.wait()?; // all of this queue's
//! assert_eq!(q.counters().launches, 1);
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! Fills and copies, and how long they took.
//!
//! ```
//! let rt = folio::runtime()?;
//! let q = rt.queue()?;
//! let (mut x, mut y) = (rt.buffer::<u32, 2>([4, 4])?, rt.buffer([4, 4])?);
//! q.fill(&mut x, 7)?;
//! let event = q.timed().copy(&x, &mut y)?; // the same queue
//! assert_eq!(y.get((3, 3))?, 7);
//! event.wait()?;
//! assert!(event.timing().is_some_and(|timing| timing.started <= timing.ended));
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`CommandGroup`](crate::CommandGroup)
//!
//! ```
//! let rt = folio::runtime()?;
//! let q = rt.queue()?;
//! let table = rt.buffer_from(&[10u32, 20, 30])?;
//! let index = rt.buffer_from(&[2usize, 0])?;
//! let mut out = rt.buffer::<u32, 1>(2)?;
//! q.submit(|cg| {
//!     cg.label("gather");
//!     let args = (cg.read(&table), cg.read(&index), cg.discard(&mut out));
//!     cg.host_kernel([2], args, |i, (table, index, mut out)| out.put(i, table[index[i]]));
//!     Ok(())
//! })?;
//! assert_eq!(out.to_vec()?, [30, 10]);
//!
//! // Commands that are no kernels.
//! let mut copy = rt.buffer::<u32, 1>(3)?;
//! q.submit(|cg| {
//!     cg.copy(&table, &mut copy);
//!     Ok(())
//! })?;
//! q.submit(|cg| {
//!     cg.copy_from_slice(&[1, 2], copy.slice_mut([1], [2])?);
//!     Ok(())
//! })?;
//! assert_eq!(copy.to_vec()?, [10, 1, 2]);
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`Event`](crate::Event)
//!
//! ```
//! use folio::Status;
//! use std::time::Duration;
//!
//! let rt = folio::runtime()?;
//! let q = rt.queue()?;
//! let event = q.submit(|cg| {
//!     cg.host_task((), |()| Err::<(), _>("no"));
//!     Ok(())
//! })?;
//! assert!(event.wait_timeout(Duration::from_secs(60)).is_err());
//! assert!(matches!(event.status(), Status::Failed(_)));
//! assert!(event.wait().is_err()); // and again, for ever
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`Failure`](crate::Failure)
//!
//! ```
//! use folio::{Cause, Error};
//!
//! let rt = folio::runtime()?;
//! let q = rt.queue()?;
//! let event = q.submit(|cg| {
//!     cg.label("parse");
//!     cg.host_task((), |()| "x".parse::<u8>().map(|_| ()));
//!     Ok(())
//! })?;
//! let Err(Error::Failed(failure)) = event.wait() else { return Err(Error::ShutDown) };
//! assert_eq!((failure.what(), failure.label()), ("host task", "parse"));
//! assert!(matches!(failure.cause(), Cause::Task(_)));
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`Counters`](crate::Counters)
//!
//! ```
//! let rt = folio::runtime()?;
//! let q = rt.queue()?;
//! let mut x = rt.buffer::<u8, 1>(100)?;
//! q.submit(|cg| {
//!     cg.fill(&mut x, 1);
//!     Ok(())
//! })?;
//! assert_eq!(rt.counters().fills, 1);
//! assert_eq!(x.counters().allocated_bytes, 100);
//! assert_eq!(x.counters().transfers().bytes, 0);
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`DeviceType`](crate::DeviceType)
//!
//! ```
//! #[derive(Clone, Copy, PartialEq, Debug, folio::DeviceType)]
//! #[repr(C)]
//! struct Rgb {
//!     parts: [u8; 3],
//! }
//!
//! let rt = folio::runtime()?;
//! assert_eq!(rt.buffer::<Rgb, 1>(2)?.to_vec()?, [Rgb { parts: [0; 3] }; 2]);
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`kernel`](crate::kernel), [`device_fn`](crate::device_fn)
//!
//! ```
//! use folio::prelude::*;
//!
//! #[device_fn]
//! fn square(v: i32) -> i32 {
//!     v * v
//! }
//!
//! /// The squares of a vector, times a number.
//! #[kernel]
//! fn squares(i: Item, by: i32, x: In<i32>, y: Out<i32>) {
//!     y[i] = by * square(x[i]);
//! }
//!
//! let rt = folio::runtime()?;
//! let q = rt.queue()?;
//! let (x, mut y) = (rt.buffer_from(&[1, 2, 3, 4])?, rt.buffer(4)?);
//! q.run(1..3, squares(10, &x, &mut y))?;
//! assert_eq!(y.to_vec()?, [0, 40, 90, 0]);
//! assert_eq!(square(5), 25);
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`KernelCall`](crate::KernelCall), [`Items`](crate::Items)
//!
//! A call is a value. Items have as many dimensions as the kernel's.
//!
//! ```
//! use folio::prelude::*;
//!
//! #[kernel]
//! fn mark(i: Item<2>, x: InOut<u8, 2>) {
//!     x[i] += 1;
//! }
//!
//! let rt = folio::runtime()?;
//! let q = rt.queue()?;
//! let mut x = rt.buffer::<u8, 2>([3, 3])?;
//! let call = mark(&mut x);
//! q.submit(|cg| {
//!     cg.label("marks").run([1..3, 0..2], call);
//!     Ok(())
//! })?;
//! assert_eq!(x.to_vec()?, [0, 0, 0, 1, 1, 0, 1, 1, 0]);
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`Edge`](crate::Edge), [`Margin`](crate::Margin)
//!
//! ```
//! use folio::prelude::*;
//!
//! #[kernel]
//! fn mark(i: Item<2>, by: u8, x: InOut<u8, 2>) {
//!     x[i] = by;
//! }
//!
//! let rt = folio::runtime()?;
//! let q = rt.queue()?;
//! let mut x = rt.buffer::<u8, 2>([3, 4])?;
//! q.run(x.interior(1), mark(1, &mut x))?; // what has a neighbour on each side
//! q.run_each(x.edge([0, 1]), mark(2, &mut x))?; // the first and the last column
//! assert_eq!(x.to_vec()?, [2, 0, 0, 2, 2, 1, 1, 2, 2, 0, 0, 2]);
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`Timing`](crate::Timing)
//!
//! ```
//! let rt = folio::runtime()?;
//! let q = rt.queue()?;
//! let mut x = rt.buffer::<f32, 1>(1000)?;
//! let event = q.timed().fill(&mut x, 1.0)?;
//! event.wait()?;
//! assert!(event.timing().is_some_and(|t| t.started <= t.ended)); // nanoseconds, of the device
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`UsmPtr`](crate::UsmPtr)
//!
//! ```
//! use folio::UsmKind;
//!
//! let rt = folio::runtime()?;
//! let device = rt.device("cpu:0")?;
//! let q = rt.queue_on(&device)?;
//! let memory = rt.usm::<u32>(&device, UsmKind::Shared, 4)?;
//! let second = memory.pointer().offset(4).ok_or(folio::Error::ShutDown)?;
//! q.submit(|cg| {
//!     // SAFETY: eight bytes of live memory, which no other command uses.
//!     unsafe { cg.fill_raw(second, [2], 9u32) };
//!     Ok(())
//! })?
//! .wait()?;
//! assert_eq!(memory.read()?[..], [0, 9, 9, 0]);
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`Scheduler`](crate::sched::Scheduler)
//!
//! ```
//! use folio::cpu::CpuBackend;
//! use folio::sched::RoundRobin;
//!
//! let cpu = CpuBackend::builder().domains(2).build()?;
//! let rt = folio::Runtime::builder().backend(cpu).build()?;
//! let q = rt.queue_over(&rt.devices(), RoundRobin)?;
//! let mut x = rt.buffer::<u8, 1>(1)?;
//! let mut ran = Vec::new();
//! for _ in 0..2 {
//!     let event = q.submit(|cg| {
//!         let x = cg.read_write(&mut x);
//!         cg.host_kernel([1], x, |i, mut x| x[i] += 1);
//!         Ok(())
//!     })?;
//!     ran.extend(event.device().map(|device| device.name().to_owned()));
//! }
//! assert_eq!(ran, ["cpu:0", "cpu:1"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # [`Split`](crate::sched::Split), [`Spread`](crate::Spread)
//!
//! ```
//! use folio::cpu::CpuBackend;
//! use folio::prelude::*;
//! use folio::sched::Split;
//!
//! #[kernel]
//! fn next(i: Item, x: In<u32>, y: Out<u32>) {
//!     y[i] = x[i.index() + 1];
//! }
//!
//! let cpu = CpuBackend::builder().domains(2).build()?;
//! let rt = folio::Runtime::builder().backend(cpu).build()?;
//! let q = rt.queue_over(&rt.devices(), Split::weights(&[1.0, 3.0]))?;
//! let (x, mut y) = (rt.buffer_from(&[7; 9])?, rt.buffer(8)?);
//! let told = q.explain_spread(8, &next(&x, &mut y))?;
//! assert_eq!((told.parts[1].range[0], told.parts[1].reads[0].bytes), (6, 4));
//! q.spread(8, next(&x, &mut y))?;
//! assert_eq!(y.to_vec()?, [7; 8]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # [`Error`](crate::Error)
//!
//! ```
//! use folio::{BufferOptions, Error};
//!
//! let rt = folio::runtime()?;
//! let x = rt.buffer_with::<u8, 1>([10], BufferOptions::new().label("x"))?;
//! let error = x.slice([8], [3]).err();
//! assert!(matches!(error, Some(Error::OutOfRange { .. })));
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`ClosureIn`](crate::ClosureIn)
//!
//! A view of rank 2 in a closure of rank 1.
//!
//! ```
//! let rt = folio::runtime()?;
//! let q = rt.queue()?;
//! let m = rt.buffer_from((&[1, 2, 3, 4, 5, 6], [2, 3]))?;
//! let mut sums = rt.buffer::<i32, 1>(2)?;
//! q.submit(|cg| {
//!     let (m, sums) = (cg.read(&m), cg.discard(&mut sums));
//!     cg.host_kernel([2], (m, sums), |i, (m, mut sums)| {
//!         let [_, columns] = m.shape();
//!         sums.put(i, (0..columns).map(|c| m[(i.index(), c)]).sum());
//!     });
//!     Ok(())
//! })?;
//! assert_eq!(sums.to_vec()?, [6, 15]);
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`HostWrite`](crate::HostWrite)
//!
//! ```
//! let rt = folio::runtime()?;
//! let q = rt.queue()?;
//! let mut x = rt.buffer_from(&[1, 2, 3])?;
//! let last = q.submit(|cg| {
//!     let x = cg.read_write(&mut x);
//!     cg.host_task(x, |mut x| x.reverse());
//!     Ok(())
//! })?;
//! last.wait()?;
//! assert_eq!(x.to_vec()?, [3, 2, 1]);
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`HostRead`](crate::HostRead)
//!
//! ```
//! use std::sync::mpsc::channel;
//!
//! let rt = folio::runtime()?;
//! let q = rt.queue()?;
//! let x = rt.buffer_from(&[1, 2, 3])?;
//! let (result, sum) = channel();
//! q.submit(|cg| {
//!     let x = cg.read(&x);
//!     cg.host_task(x, move |x| _ = result.send(x.iter().sum::<i32>()));
//!     Ok(())
//! })?;
//! assert_eq!(sum.recv(), Ok(6));
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`ReadGuard`](crate::ReadGuard)
//!
//! ```
//! let rt = folio::runtime()?;
//! let x = rt.buffer_from(&[1, 2, 3])?;
//! let (a, b) = (x.read()?, x.read()?); // readers do not exclude each other
//! assert_eq!(a.iter().sum::<i32>(), b.iter().sum());
//! assert_eq!((a.shape(), a[1]), ([3], 2));
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`WriteGuard`](crate::WriteGuard)
//!
//! ```
//! let rt = folio::runtime()?;
//! let mut x = rt.buffer::<i32, 1>(3)?;
//! let mut guard = x.write()?;
//! guard[1] = 5;
//! drop(guard); // commands that use `x` are refused until here
//! assert_eq!(x.to_vec()?, [0, 5, 0]);
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`ReadRows`](crate::buffer::ReadRows), [`WriteRows`](crate::buffer::WriteRows)
//!
//! ```
//! let rt = folio::runtime()?;
//! let mut x = rt.buffer::<i32, 2>([3, 4])?;
//! let mut part = x.slice_mut([1, 2], [2, 2])?; // rows of it are apart in memory
//! if let Some(row) = part.write_rows()?.row_mut(1) {
//!     row.copy_from_slice(&[7, 8]);
//! }
//! assert_eq!(x.slice([2, 1], [1, 3])?.read_rows()?.row(0), Some(&[0, 7, 8][..]));
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`ReadFuture`](crate::buffer::ReadFuture)
//!
//! ```
//! let rt = folio::runtime()?;
//! let x = rt.buffer_from(&[1, 2, 3])?;
//! let soon = x.read_async()?; // in an async function: `x.read_async()?.await?`
//! assert_eq!(soon.wait()?[..], [1, 2, 3]);
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`ManagedPtr`](crate::managed::ManagedPtr), [`Executor`](crate::managed::Executor)
//!
//! ```
//! use folio::prelude::*;
//!
//! #[kernel]
//! fn doubles(i: Item, x: InOut<f32>) {
//!     x[i] *= 2.0;
//! }
//!
//! let rt = folio::runtime()?;
//! let gpu = rt.executor("cpu:0")?;
//! let x = rt.managed_from(vec![1.0f32; 100])?; // accessible in one memory at a time
//! gpu.run(x.len(), doubles(&x)).then_get(&gpu, &x).wait()?;
//! assert_eq!(x.read()?[99], 2.0);
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`HostExecutor`](crate::managed::HostExecutor), `ManagedFuture`
//!
//! ```
//! let rt = folio::runtime()?;
//! let host = rt.host_executor()?;
//! let x = rt.managed_from(vec![3, 1, 2])?;
//! let sorted = host.run(&x, |mut x| x.sort()); // has started; `sorted.await` waits, too
//! sorted.wait()?;
//! assert_eq!(x.read()?[..], [1, 2, 3]);
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! # [`ManagedVec`](crate::managed::ManagedVec), [`ManagedArray`](crate::managed::ManagedArray)
//!
//! ```
//! use folio::managed::{ManagedArray, ManagedVec};
//!
//! let rt = folio::runtime()?;
//! let (gpu, host) = (rt.executor("cpu:0")?, rt.host_executor()?);
//! let mut x = ManagedVec::new(&rt)?;
//! x.extend_from_slice(&[1, 2, 3])?;
//! let sum = ManagedArray::new(&rt, [0])?;
//! gpu.put(&x).then_host(&host, (&x, &sum), |(x, mut sum)| sum[0] = x.iter().sum()).wait()?;
//! assert_eq!((x.pop()?, sum.to_array()?), (Some(3), [6]));
//! # Ok::<(), folio::Error>(())
//! ```

pub mod kernels;
