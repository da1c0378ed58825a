//! What these kernels test on GPUs: no index, since each one is bounded where it is computed. One
//! index that is not would have a kernel run with all of its tests. And that what is written and
//! overlaps what is read is refused.

use crate::map::Same;
use crate::prelude::*;
use crate::{compact, keyed, reduce, scan, segmented};
use folio::RacyMemory;
use folio_sim::SimBackend;

type Plain = Same<f32>;

/// Checks that are left to devices, as text, without assertions.
fn left<C: IntoIterator<Item = folio::error::Check>>(checks: Result<C>) -> Result<Vec<String>> {
    let checks = checks?.into_iter().filter(|check| !check.only_on_hosts());
    let texts = checks.map(|check| check.to_string());
    Ok(texts.filter(|text| !text.contains("an assertion")).collect())
}

#[test]
fn kernels_of_groups_test_no_index_on_devices() -> Result<()> {
    let rt = folio::Runtime::builder().backend(SimBackend::builder().build()).build()?;
    let (n, count, chunk) = (100_000, 98, scan::TILE);
    let (x, keep, keys) = (rt.buffer(n)?, rt.buffer(n)?, rt.buffer(n)?);
    let (totals, counts, mut all) = (rt.buffer(count)?, rt.buffer(count)?, rt.buffer(1)?);
    let (mut y, mut small, mut at) = (rt.buffer(n)?, rt.buffer(count)?, rt.buffer(count)?);
    let (mut starts, mut sum) = (rt.buffer(count)?, rt.buffer(1)?);
    let mut begins = rt.buffer(count + 1)?;
    let (lanes, items) = (count * scan::GROUP, count * scan::SCANS);
    let same = Plain::new();
    let mut found = vec![];

    let call = scan::chunk_totals::<f32, f32, Add, Plain>(same, chunk, &x, &mut small);
    found.extend(left(call.checks(lanes - scan::GROUP))?);
    let call = reduce::chunk_extremes::<f32, Min>(chunk, &x, &mut small, &mut at);
    found.extend(left(call.checks(lanes))?);
    let call = compact::count_kept::<u8, 0>(chunk, &keep, &mut starts);
    found.extend(left(call.checks(lanes))?);
    let offsets = counts.slice([0], [count])?;
    let mut one_less = small.slice_mut([0], [count - 1])?;
    let call = segmented::fold_segments::<f32, Add, u32>(&offsets, &x, &mut one_less);
    found.extend(left(call.checks((count - 1) * 64))?);
    // SAFETY: nothing is launched.
    let racy = unsafe { RacyMemory::new(&mut begins) };
    let call = compact::start_chunks(&counts, racy, &mut sum);
    found.extend(left(call.checks(scan::GROUP))?);
    // SAFETY: as above.
    let racy = unsafe { RacyMemory::new(&mut small) };
    let call = scan::scan_few::<f32, f32, f32, Add, Plain, Plain>(same, same, 1, &totals, racy);
    found.extend(left(call.checks(Items::from(13).groups([13])))?);
    // SAFETY: as above.
    let racy = unsafe { RacyMemory::new(&mut y) };
    let call = scan::scan_chunks::<f32, f32, f32, Add, Plain, Plain>(
        same, same, 1, chunk, 0, 1, &x, &totals, racy,
    );
    found.extend(left(call.checks(items))?);
    // SAFETY: as above.
    let racy = unsafe { RacyMemory::new(&mut y) };
    let call = keyed::scan_runs::<f32, Add, u32>(0, 1, chunk, 0, &keys, &x, &totals, racy);
    found.extend(left(call.checks(items))?);
    // SAFETY: as above.
    let racy = unsafe { RacyMemory::new(&mut y) };
    // SAFETY: as above.
    let total = unsafe { RacyMemory::new(&mut all) };
    let call =
        compact::move_kept::<f32, u8, 0>(0, 1, chunk, &keep, &begins, &counts, &x, total, racy);
    found.extend(left(call.checks(items))?);
    assert_eq!(found, Vec::<String>::new());
    Ok(())
}

/// ERR-01: of several commands, the first ones would have written some when a later one is refused,
/// or read what they have overwritten themselves.
#[test]
#[allow(clippy::unwrap_used, reason = "a test")]
fn parts_that_overlap_are_refused_before_anything_is_written() {
    let cpu = folio::Runtime::builder().backend(folio_cpu::CpuBackend::new().unwrap());
    let sim = folio::Runtime::builder().backend(SimBackend::builder().build());
    for rt in [cpu.build().unwrap(), sim.build().unwrap()] {
        let q = rt.queue().unwrap();
        let all: Vec<u32> = (0..10_000).map(|k| k % 7).collect();
        let s = rt.buffer_from(&all).unwrap().into_shared();
        let part = |first: usize, len: usize| s.slice([first], [len]).unwrap();
        let written = |first: usize, len: usize| s.slice_mut([first], [len]).unwrap();
        let (n, last) = (5000, 4 * scan::TILE);
        let rows = s.reinterpret::<[u32; 4], 1>(2500).unwrap();
        let refused = [
            crate::inclusive_scan(&q, Add, part(0, n), written(last, n)),
            crate::inclusive_scan(&q, Add, part(last, n), written(0, n)),
            crate::exclusive_scan_by_key(&q, Add, part(0, n), part(n, n), written(last, n)),
            crate::bincount_into(&q, part(0, n), written(last, n)),
            crate::sort_by_key(&q, crate::Direction::Ascending, written(0, 2500), &rows),
        ];
        for (nth, result) in refused.into_iter().enumerate() {
            assert!(matches!(result, Err(folio::Error::Aliasing { .. })), "{nth}: {result:?}");
        }
        assert_eq!(s.to_vec().unwrap(), all);
        crate::inclusive_scan(&q, Add, part(0, n), written(n, n)).unwrap();
    }
}
