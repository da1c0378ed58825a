//! Groups {x, y} and {y, x} from two threads, on devices that cannot wait for each other.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use folio_core::hal::Link;
use folio_core::{Queue, Runtime, RuntimeBuilder, Shared};
use folio_cpu::CpuBackend;
use folio_model::suite::{Budget, cases, line};
use folio_sim::{DeviceSpec, Script, SimBackend};
use std::time::Instant;

/// Groups of each thread.
const GROUPS: usize = 500;

/// Devices of which the first and the last cannot wait for each other.
fn devices(seed: u64) -> RuntimeBuilder {
    let builder = Runtime::builder();
    let script = Script::new().seed(seed).jitter(seed / 4 % 5);
    let sim = SimBackend::builder().script(script).peers(Link::default());
    let group = |n| DeviceSpec::new().wait_group(Some(n));
    let one_cpu = || CpuBackend::builder().threads(1).build().unwrap();
    match seed % 4 {
        0 => builder.backend(sim.devices(2, DeviceSpec::new().wait_group(None)).build()),
        1 => builder.backend(sim.device(group(0)).device(group(1)).notifies(true).build()),
        2 => builder.backend(sim.device(group(0)).build()).backend(one_cpu()),
        _ => builder.backend(CpuBackend::builder().domains(2).threads(2).build().unwrap()),
    }
}

/// Numbers the groups in the order in which they ran, for both buffers.
fn both(q: &Queue, x: &Shared<i64>, y: &Shared<i64>, factor: i64) -> folio_core::Result<()> {
    for n in 0..GROUPS {
        q.submit(|cg| {
            let (x, y) = (cg.read_write(x), cg.read_write(y));
            cg.host_kernel([1], (x, y), move |i, (mut x, mut y)| {
                x[i] = (x[i] * factor + 1) % 1_000_003;
                y[i] = (y[i] * factor + 1) % 1_000_003;
            });
            Ok(())
        })?;
        // So that memory stays small; the other thread goes on.
        if n % 128 == 127 {
            q.wait()?;
        }
    }
    Ok(())
}

fn one_order(seed: u64) -> folio_core::Result<()> {
    let rt = devices(seed).build()?;
    let all = rt.devices();
    let (a, b) = (rt.queue_on(&all[0])?, rt.queue_on(&all[all.len() - 1])?);
    let (x, y) = (rt.buffer_from(&[1i64])?.into_shared(), rt.buffer_from(&[1i64])?.into_shared());
    std::thread::scope(|scope| {
        let other = scope.spawn(|| both(&b, &y, &x, 3));
        both(&a, &x, &y, 7)?;
        other.join().unwrap_or(Err(folio_core::Error::ShutDown))
    })?;
    // Two factors in two orders give different values.
    assert_eq!(x.to_vec()?, y.to_vec()?, "seed {seed}: x and y were written in different orders");
    let ran = rt.counters().launches;
    assert_eq!(ran, 2 * GROUPS as u64, "seed {seed}");
    Ok(())
}

/// DEP-01, DEP-02, DEP-03: one order for both buffers, and no deadlock.
#[test]
fn suite_order() {
    let budget = Budget::of("ORDER");
    let start = Instant::now();
    let (done, wrong) =
        cases(budget, 1, &|seed| one_order(seed).map_err(|e| format!("seed {seed}: {e}")));
    println!("{}", line("order", done, start.elapsed(), wrong.len(), budget.seed));
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let least = budget.cases.unwrap_or(budget.least);
    assert!(done >= least, "{done} cases, at least {least} asked");
}
