//! Writes out of bounds, of every owner, and reads in two dimensions by data: the failure names
//! parameter, index and extent, memory around stays as it is, and what is overwritten is well again
//! (KRN-03, KRN-07).

use super::bounds;
use super::code::{adds_at, columns, copies, looks_up, puts_at, slots};
use crate::engine::rig::*;
use folio::prelude::*;
use folio_core::RacyMemory;

/// The refusals of a launch on the middle of a buffer, and the elements around that.
fn around<T: DeviceType + PartialEq + std::fmt::Debug>(
    rig: &Rig,
    old: T,
    launch: impl Fn(&mut Buffer<T>) -> Result<Event, Error>,
) -> Result<(String, Vec<i64>, Vec<usize>), Stop> {
    let mut y = rig.rt.buffer_with(&[old; 12], BufferOptions::new().page([1]))?;
    let found = bounds(launch(&mut y)?.wait())?;
    ensure!(y.slice([4], [4])?.to_vec().is_err(), "what failed can be read");
    ensure_eq!(y.slice([0], [4])?.to_vec()?, [old; 4]);
    ensure_eq!(y.slice([8], [4])?.to_vec()?, [old; 4]);
    Ok(found)
}

pub(super) fn atomics_out_of_bounds(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let indices = rig.rt.buffer_from(&[0, 3, 4, 1])?;
        let found = around(rig, 7u32, |y| q.run(4, adds_at(&indices, y.slice_mut([4], [4])?)))?;
        ensure_eq!(found, ("n".to_owned(), vec![4], vec![4]));
        let indices = rig.rt.buffer_from(&[0, -1, 0, 0])?;
        let found = around(rig, 7u32, |y| q.run(4, adds_at(&indices, y.slice_mut([4], [4])?)))?;
        ensure_eq!(found, ("n".to_owned(), vec![-1], vec![4]));
    }
    Ok(())
}

pub(super) fn scattered_writes_out_of_bounds(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let indices = rig.rt.buffer_from(&[3, 2, 4, 1])?;
        let found = around(rig, 7, |y| {
            // SAFETY: the indices differ.
            let shares = unsafe { RacyMemory::new(y.slice_mut([4], [4])?) };
            q.run(4, puts_at(&indices, shares))
        })?;
        ensure_eq!(found, ("y".to_owned(), vec![4], vec![4]));
    }
    Ok(())
}

pub(super) fn slots_out_of_bounds(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let slot = rig.rt.buffer_from(&[0, 1, 3, 2])?;
        let found = around(rig, [7; 3], |y| q.run(4, slots(&slot, y.slice_mut([4], [4])?)))?;
        ensure_eq!((found.1, found.2), (vec![3], vec![3]));
    }
    Ok(())
}

pub(super) fn columns_out_of_bounds(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let mut y = rig.rt.buffer_with((&[7; 30], [5, 6]), BufferOptions::new().page([1, 1]))?;
        let event = q.run(3, columns(3, y.slice_mut([1, 1], [3, 3])?))?;
        let (param, index, extent) = bounds(event.wait())?;
        ensure_eq!((param.as_str(), index[1], extent), ("y", 3, vec![3, 3]));
        ensure_eq!(y.slice([1, 4], [3, 2])?.to_vec()?, [7; 6]);
        ensure_eq!(y.slice([4, 0], [1, 6])?.to_vec()?, [7; 6]);
        ensure!(y.to_vec().is_err(), "what failed can be read");
        q.run(3, columns(2, y.slice_mut([1, 1], [3, 3])?))?;
        ensure_eq!(y.slice([1, 0], [1, 6])?.to_vec()?, [7, 1, 1, 2, 7, 7]);
        y.to_vec()?;
    }
    Ok(())
}

pub(super) fn reads_by_data_in_two_dimensions(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let x = rig.rt.buffer_from((&[1; 30], [5, 6]))?;
        let mut y = rig.rt.buffer::<i32, 1>(2)?;
        // Within the buffer, and within the part's number of elements; but beyond its columns.
        for (place, wanted) in [([1, 3], vec![1, 3]), ([3, 0], vec![3, 0]), ([-1, 1], vec![-1, 1])]
        {
            let places = rig.rt.buffer_from(&[[0, 0], place])?;
            let event = q.run(2, looks_up(&places, x.slice([1, 1], [3, 3])?, &mut y))?;
            ensure_eq!(bounds(event.wait())?, ("x".to_owned(), wanted, vec![3, 3]));
        }
        q.run(2, copies(&rig.rt.buffer_from(&[8, 9])?, &mut y))?;
        ensure_eq!(y.to_vec()?, [8, 9]);
    }
    Ok(())
}
