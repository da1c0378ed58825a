//! Copies between the host, the device and another device: plain, and of the middle of rows.

use crate::bench::{Bench, Case, Pair, Side, Site, Workload, side};
use crate::error::{Error, Result};
use crate::hand::host::owned;
use crate::hand::{End, Hand, Memory, Native, Rows};
use crate::options::backend;
use crate::record::Work;
use folio::prelude::*;
use folio::{Usm, UsmKind};
use rayon::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// The workload.
pub struct Transfer;

/// Floats of a row of a rectangle, which is the middle half of the memory's rows.
const WIDTH: usize = 256;

/// Rows within memory, counted in floats.
#[derive(Clone, Copy)]
struct Shape {
    rows: usize,
    pitch: usize,
    offset: usize,
    width: usize,
}

impl Shape {
    fn of(mode: &str, n: usize) -> Shape {
        if !mode.ends_with("2D") {
            return Shape { rows: 1, pitch: n, offset: 0, width: n };
        }
        Shape { rows: n / WIDTH, pitch: 2 * WIDTH, offset: WIDTH / 2, width: WIDTH }
    }

    /// Floats of the memory.
    fn len(self) -> usize {
        self.rows * self.pitch
    }

    fn all(self) -> [usize; 2] {
        [self.rows, self.pitch]
    }

    fn from(self) -> [usize; 2] {
        [0, self.offset]
    }

    fn extent(self) -> [usize; 2] {
        [self.rows, self.width]
    }
}

impl Workload for Transfer {
    fn name(&self) -> &'static str {
        "transfer"
    }

    fn about(&self) -> &'static str {
        "copies between host, device and peer; 2D: the middle half of rows of 2 KiB"
    }

    fn unit(&self) -> &'static str {
        "bytes"
    }

    fn modes(&self) -> &'static [&'static str] {
        &[
            "upload, page-locked",
            "upload, pageable",
            "upload, 2D",
            "download, page-locked",
            "download, pageable",
            "download, 2D",
            "in the device",
            "in the device, 2D",
            "from a peer",
        ]
    }

    fn sizes(&self, _: &str, site: Site) -> Vec<usize> {
        site.powers(&[22, 16, 26], &[26, 20, 28], 1, 2)
    }

    fn prepare(&self, bench: &Bench, case: Case) -> Result<Pair> {
        let shape = Shape::of(case.mode, case.size / 4);
        let mut work = Work { working_set: 2.0 * case.size as f64, ..Work::default() };
        match case.mode.split([',', ' ']).next() {
            Some("upload") => work.upload = case.size as f64,
            Some("download") => work.download = case.size as f64,
            // Each byte is read and written.
            _ => work.bytes = 2.0 * case.size as f64,
        }
        let values = bench.floats(shape.len(), 1);
        let ours = ours(bench, case.mode, shape, &values)?;
        let theirs = match &bench.hand {
            Hand::Host => host(shape, values),
            Hand::Native(native) => driver(native, case.mode, shape, values)?,
        };
        Ok(Pair { tolerance: 0.0, ..bench.pair(work, ours, theirs) })
    }
}

/// Our side: a copy that is submitted so many times, and a wait.
fn copies(
    bench: &Bench,
    mut copy: impl FnMut(&Queue) -> folio::Result<()> + 'static,
    results: impl FnMut() -> folio::Result<Vec<f32>> + 'static,
) -> Side {
    let (q, mut results) = (bench.q.clone(), results);
    let run = move |times| {
        (0..times).try_for_each(|_| copy(&q))?;
        Ok(q.wait()?)
    };
    side(run, Box::new(move || Ok(results()?.into())))
}

fn ours(bench: &Bench, mode: &str, shape: Shape, values: &[f32]) -> Result<Side> {
    let zeros = vec![0.0f32; shape.len()];
    let (all, from, extent) = (shape.all(), shape.from(), shape.extent());
    let rt = bench.rt.clone();
    match mode {
        "upload, page-locked" | "upload, 2D" => {
            let host = locked(bench, values)?;
            let to = bench.buffer(all, &zeros)?;
            let out = to.clone();
            let copy = move |q: &Queue| {
                q.copy(host.window(all, from, extent)?, to.slice_mut(from, extent)?).map(drop)
            };
            Ok(copies(bench, copy, move || out.to_vec()))
        }
        "upload, pageable" => {
            let (host, to) = (values.to_vec(), bench.buffer([values.len()], &zeros)?);
            let out = to.clone();
            let copy =
                move |q: &Queue| rt.scope(|scope| q.copy(&scope.view(&host)?, &to).map(drop))?;
            Ok(copies(bench, copy, move || out.to_vec()))
        }
        "download, page-locked" | "download, 2D" => {
            let host = Rc::new(RefCell::new(locked(bench, &zeros)?));
            let (out, device) = (host.clone(), bench.buffer(all, values)?);
            let copy = move |q: &Queue| {
                let mut host = host.borrow_mut();
                q.copy(device.slice(from, extent)?, host.window_mut(all, from, extent)?).map(drop)
            };
            Ok(copies(bench, copy, move || Ok(out.borrow().read()?.to_vec())))
        }
        "download, pageable" => {
            let (host, device) = (owned(zeros), bench.buffer([values.len()], values)?);
            let out = host.clone();
            let copy = move |q: &Queue| {
                let mut host = host.lock();
                rt.scope(|scope| q.copy(&device, &mut scope.view_mut(&mut host)?).map(drop))?
            };
            Ok(copies(bench, copy, move || Ok(out.lock().clone())))
        }
        "from a peer" => {
            let mut peer = on_peer(bench, values.len())?;
            let to = bench.buffer([values.len()], &zeros)?;
            bench.q.submit(|group| {
                group.copy_from_slice(values, &mut peer);
                Ok(())
            })?;
            let out = to.clone();
            let copy = move |q: &Queue| q.copy(&peer, &to).map(drop);
            Ok(copies(bench, copy, move || out.to_vec()))
        }
        _ => {
            let (device, to) = (bench.buffer(all, values)?, bench.buffer(all, &zeros)?);
            let out = to.clone();
            let copy = move |q: &Queue| {
                q.copy(device.slice(from, extent)?, to.slice_mut(from, extent)?).map(drop)
            };
            Ok(copies(bench, copy, move || out.to_vec()))
        }
    }
}

fn locked(bench: &Bench, values: &[f32]) -> Result<Usm<f32>> {
    let mut host = bench.usm::<f32>(UsmKind::Host, values.len())?;
    host.write()?.copy_from_slice(values);
    Ok(host)
}

/// Memory of another device of the same backend.
fn on_peer(bench: &Bench, n: usize) -> Result<Usm<f32>> {
    let name = bench.device.name();
    let mut others = bench.rt.devices().into_iter();
    let other = others.find(|d| d.name() != name && backend(d.name()) == backend(name));
    let none = || Error::NotHere(format!("{} has one device here", backend(name)));
    Ok(bench.rt.usm(&other.ok_or_else(none)?, UsmKind::Device, n)?)
}

/// On a processor everything is the host's memory.
fn host(shape: Shape, from: Vec<f32>) -> Side {
    let to = owned(vec![0.0f32; from.len()]);
    let tell = to.clone();
    let run = move |times| {
        let to = &mut to.lock()[..];
        rayon::scope(|_| (0..times).for_each(|_| copy(shape, &from, to)));
        Ok(())
    };
    side(run, Box::new(move || Ok(tell.lock().clone().into())))
}

fn copy(shape: Shape, from: &[f32], to: &mut [f32]) {
    if shape.rows == 1 {
        return crate::hand::host::copy(from, to);
    }
    let rows = to.par_chunks_mut(shape.pitch).zip(from.par_chunks(shape.pitch));
    let middle = shape.offset..shape.offset + shape.width;
    rows.with_min_len(64).for_each(|(to, from)| {
        to[middle.clone()].copy_from_slice(&from[middle.clone()]);
    });
}

/// Host memory, page-locked or not.
pub(super) struct HostMemory {
    pub(super) at: *mut f32,
    len: usize,
    _pageable: Vec<f32>,
}

impl HostMemory {
    pub(super) fn of(
        native: &Arc<dyn Native>,
        values: Vec<f32>,
        is_locked: bool,
    ) -> Result<HostMemory> {
        let len = values.len();
        if !is_locked {
            let mut values = values;
            return Ok(HostMemory { at: values.as_mut_ptr(), len, _pageable: values });
        }
        let at = native.host_memory(4 * len)?.cast::<f32>();
        // SAFETY: so many floats, which nothing else uses.
        unsafe { at.copy_from_nonoverlapping(values.as_ptr(), len) };
        Ok(HostMemory { at, len, _pageable: Vec::new() })
    }

    fn values(&self) -> Vec<f32> {
        // SAFETY: so many floats, which no copy writes any more.
        unsafe { std::slice::from_raw_parts(self.at, self.len) }.to_vec()
    }
}

fn driver(native: &Arc<dyn Native>, mode: &str, shape: Shape, values: Vec<f32>) -> Result<Side> {
    let zeros = vec![0.0f32; values.len()];
    let (native, len) = (native.clone(), values.len());
    let is_locked = !mode.ends_with("pageable");
    let device =
        Rc::new(Memory::of(&native, if mode.starts_with("down") { &values } else { &zeros })?);
    let rows = Rows { offset: 4 * shape.offset, pitch: 4 * shape.pitch };
    let extent = [shape.rows, 4 * shape.width];
    let (host, source) = match mode.split([',', ' ']).next() {
        Some("upload") => (Some(HostMemory::of(&native, values, is_locked)?), None),
        Some("download") => (Some(HostMemory::of(&native, zeros, is_locked)?), None),
        _ => (None, Some(Memory::of(&native, &values)?)),
    };
    let host = Rc::new(host);
    let (kept, device_end) = (host.clone(), End::Device(device.place));
    let host_end = host.as_ref().as_ref().map(|host| End::Host(host.at.cast()));
    let (to, from) = match (host_end, &source) {
        (Some(host), _) if mode.starts_with("up") => (device_end, host),
        (Some(host), _) => (host, device_end),
        (None, Some(source)) => (device_end, End::Device(source.place)),
        (None, None) => (device_end, device_end),
    };
    let (results, is_down) = (device.clone(), mode.starts_with("down"));
    let run = move |times| {
        let _alive = (&kept, &device, &source);
        for _ in 0..times {
            // SAFETY: the memory on both sides is this large, alive (above), and we wait.
            unsafe { native.copy(0, (to, rows), (from, rows), extent) }?;
        }
        native.finish(0)
    };
    let tell = move || match (is_down, host.as_ref()) {
        (true, Some(host)) => Ok(host.values().into()),
        _ => Ok(results.read::<f32>(len)?.into()),
    };
    Ok(side(run, Box::new(tell)))
}
