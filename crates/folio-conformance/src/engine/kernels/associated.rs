//! Kernels that are functions of a type.
#![forbid(unsafe_code)]

use super::agree::*;
use crate::engine::rig::*;
use folio::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, DeviceType, Columns)]
#[repr(C)]
struct Cell {
    level: f32,
    turns: u32,
}

#[device_fn]
impl Cell {
    const MOST: f32 = 8.0;

    fn grown(self, by: f32) -> Self {
        Cell { level: (self.level + by).min(Self::MOST), turns: self.turns + 1 }
    }

    /// Makes each cell grow.
    #[kernel]
    fn step(i: Item, by: f32, x: In<Self>, y: Out<Cell>) {
        y[i] = Self::grown(x[i], by);
    }

    #[kernel]
    fn step_of_columns(i: Item, by: f32, cells: InOutColumns<Cell>, log: Log) {
        cells[i] = cells[i].grown(by * Self::MOST);
        if cells[i].level < 0.0 {
            print!("{}", cells[i].turns);
        }
    }
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Scale<T> {
    by: T,
}

#[device_fn]
impl<T: Number> Scale<T> {
    fn of(self, x: T) -> T {
        self.by * x
    }

    #[kernel(group = 4)]
    fn apply(g: Group, scale: Self, x: In<T>, y: Out<T>, held: Local<T, 4>) {
        g.each(|i| held[i] = scale.of(x[i]));
        g.each(|i| y[i] = held[3 - i.local_index()]);
    }
}

pub(super) fn kernels_are_functions_of_types(rig: &Rig) -> Outcome {
    let cell = |k: usize| Cell { level: wave(k), turns: k as u32 };
    for device in rig.rt.devices() {
        let (rt, q) = (&rig.rt, rig.rt.queue_on(&device)?);
        let all: Vec<_> = (0..50).map(cell).collect();
        let (x, mut y) = (rt.buffer_from(&all)?, rt.buffer(50)?);
        q.run(50, Cell::step(0.5, &x, &mut y))?;
        let wanted: Vec<_> = all.iter().map(|cell| cell.grown(0.5)).collect();
        ensure!(y.to_vec()? == wanted, "{}", device.info().name);

        let (mut columns, log) = (Cell::of_rows(rt, &all)?, Log::new(rt, 1000)?);
        q.run(50, Cell::step_of_columns(0.125, &mut columns, &log))?;
        let wanted: Vec<_> = all.iter().map(|cell| cell.grown(1.0)).collect();
        ensure!(Cell::rows(&columns)? == wanted, "{}", device.info().name);
        let below = wanted.iter().filter(|cell| cell.level < 0.0).count();
        ensure_eq!(log.take()?.lines.len(), below);

        let (x, mut y) = (rt.buffer_from(&[1u16, 2, 3, 4, 5, 6, 7, 8])?, rt.buffer(8)?);
        q.run(8, Scale::apply(Scale { by: 3 }, &x, &mut y))?;
        ensure_eq!(y.to_vec()?, [12, 9, 6, 3, 24, 21, 18, 15]);
    }
    Ok(())
}
