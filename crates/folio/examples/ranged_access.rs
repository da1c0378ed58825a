//! Parts of a 2D buffer, and what moves for them.
//!
//! The CPU acts as two devices, the second of which has memory of its own. A buffer of 1024 x 1024
//! numbers is cut into pages of 256 x 256. Accesses to parts of it move the pages they overlap, and
//! only those that are outdated where the command runs.
#![forbid(unsafe_code)]

use folio::cpu::CpuBackend;
use folio::prelude::*;
use std::error::Error;

const SIDE: usize = 1024;
const PAGE: usize = 256;
const PAGE_BYTES: u64 = (PAGE * PAGE * size_of::<i32>()) as u64;

fn expect(what: &str, found: u64, wanted: u64) -> Result<(), Box<dyn Error>> {
    println!("{what:<58} {found:>8}");
    if found == wanted { Ok(()) } else { Err(format!("{what}: not {wanted}").into()) }
}

fn main() -> Result<(), Box<dyn Error>> {
    let rt = Runtime::builder().backend(CpuBackend::builder().domains(2).build()?).build()?;
    let q = rt.queue_on("cpu:1")?;

    let ones = vec![1i32; SIDE * SIDE];
    let options = BufferOptions::new().label("image").page([PAGE, PAGE]);
    let mut image: Buffer<i32, 2> = rt.buffer_with((&ones, [SIDE, SIDE]), options)?;

    // A window of 300 x 400 at (100, 200): rows 100..400 lie in 2 rows of pages, columns 200..600
    // in 3 columns of pages. Inside the kernel the window begins at (0, 0).
    q.submit(|cg| {
        let window = cg.read_write(image.slice_mut([100, 200], [300, 400])?);
        cg.host_kernel([300, 400], window, |i, mut window| window[i] += 1);
        Ok(())
    })?;
    let moved = image.counters().host_to_device;
    expect("pages to the device for the window", moved.pages, 6)?;
    expect("copies that this took (the pages are adjacent)", moved.operations, 1)?;

    // The host reads one corner. Its page was written on the device, and it comes back alone.
    let corner = image.slice([0, 0], [10, 10])?.to_vec()?;
    if corner != [1; 100] {
        return Err("the corner was outside of the window".into());
    }
    expect("bytes to the host for one corner", image.counters().device_to_host.bytes, PAGE_BYTES)?;

    // The opposite corner was never outdated on the host.
    image.slice([1000, 1000], [24, 24])?.to_vec()?;
    expect(
        "bytes to the host so far, after the other",
        image.counters().device_to_host.bytes,
        PAGE_BYTES,
    )?;

    // A discard says that earlier contents do not matter, so nothing is brought. This one covers a
    // part of a page only: the rest of that page stays current on the host.
    q.submit(|cg| {
        let patch = cg.discard(image.slice_mut([600, 600], [50, 50])?);
        cg.host_kernel([50, 50], patch, |i, mut patch| patch.put(i, 7));
        Ok(())
    })?;
    expect("pages to the device, after a discard", image.counters().host_to_device.pages, 6)?;

    // Reading that page on the host brings the patch, not the page.
    let before = image.counters().device_to_host.bytes;
    let page = image.slice([512, 512], [PAGE, PAGE])?.to_vec()?;
    let moved = image.counters().device_to_host.bytes - before;
    expect("bytes to the host for the page with the patch", moved, 50 * 50 * 4)?;

    for (at, value) in page.iter().enumerate() {
        let inside = |x: usize| (600..650).contains(&(512 + x));
        let wanted = if inside(at / PAGE) && inside(at % PAGE) { 7 } else { 1 };
        if *value != wanted {
            return Err(format!("element {at} of the page is {value}, not {wanted}").into());
        }
    }
    let sum: i64 = image.read()?.iter().map(|v| i64::from(*v)).sum();
    let wanted = (SIDE * SIDE + 300 * 400 + 6 * 50 * 50) as i64;
    if sum != wanted {
        return Err(format!("the sum is {sum}, not {wanted}").into());
    }
    println!("all elements are right; their sum is {sum}");
    Ok(())
}
