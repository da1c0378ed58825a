//! USM, scopes, and the first programs. BUF-03, POL-05, USM-01, USM-02
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use folio::cpu::CpuBackend;
use folio::*;
use folio_sim::SimBackend;

fn cpu(n: usize) -> Runtime {
    Runtime::builder().backend(CpuBackend::builder().domains(n).build().unwrap()).build().unwrap()
}

#[test]
fn saxpy() {
    for rt in [cpu(1), cpu(2)] {
        let last = rt.devices().len() - 1;
        let q = rt.queue_on(&rt.devices()[last]).unwrap();
        let x = rt.buffer_from(&[1.0f32; 1000]).unwrap();
        let mut y = rt.buffer::<f32, 1>(1000).unwrap();
        for _ in 0..3 {
            q.submit(|cg| {
                let (x, y) = (cg.read(&x), cg.read_write(&mut y));
                cg.host_kernel([1000], (x, y), |i, (x, mut y)| y[i] += 2.0 * x[i]);
                Ok(())
            })
            .unwrap();
        }
        assert_eq!(y.to_vec().unwrap(), vec![6.0; 1000]);
        println!("{:?}", rt.counters());
    }
}

#[test]
fn sim() {
    let backend = SimBackend::builder().devices(3, folio_sim::DeviceSpec::default()).build();
    let rt = Runtime::builder().backend(backend).build().unwrap();
    let a = rt.queue_on("sim:0").unwrap();
    let b = rt.queue_on("sim:1").unwrap();
    let c = rt.queue_on("sim:2").unwrap();
    let mut x = rt.buffer_with::<i32, 1>([8], BufferOptions::new().page([1])).unwrap();
    let one = |q: &Queue, x: &mut Buffer<i32>, at: usize, v: i32| {
        q.submit(|cg| {
            let s = x.slice_mut([at], [1])?;
            let x = cg.discard(s);
            cg.host_kernel([1], x, move |i, mut x| x.put(i, v));
            Ok(())
        })
        .unwrap();
    };
    one(&a, &mut x, 0, 7);
    one(&b, &mut x, 1, 8);
    let before = rt.counters();
    let mut y = rt.buffer::<i32, 1>(8).unwrap();
    c.submit(|cg| {
        let (x, y) = (cg.read(&x), cg.discard(&mut y));
        cg.host_kernel([8], (x, y), |i, (x, mut y)| y.put(i, x[i] + 1));
        Ok(())
    })
    .unwrap();
    println!("{:?}\n{:?}", before, rt.counters());
    assert_eq!(y.to_vec().unwrap(), [8, 9, 1, 1, 1, 1, 1, 1]);
}

#[test]
fn scopes_bring_back_what_was_written() {
    let rt = cpu(2);
    let q = rt.queue_on("cpu:1").unwrap();
    let a = vec![1u32, 2, 3];
    let mut b = vec![0u32; 3];
    let leaked = rt
        .scope(|s| {
            let x = s.view(&a).unwrap();
            let mut y = s.view_mut(&mut b).unwrap();
            q.submit(|cg| {
                let (x, y) = (cg.read(&x), cg.discard(&mut y));
                cg.host_kernel([3], (x, y), |i, (x, mut y)| y.put(i, x[i] * 10));
                Ok(())
            })
            .unwrap();
            assert!(y.read().is_err());
            assert_eq!(y.to_vec().unwrap(), [10, 20, 30]);
            y
        })
        .unwrap();
    assert_eq!(b, [10, 20, 30]);
    assert!(matches!(leaked.to_vec(), Err(Error::ScopeEnded { .. })));
}

#[test]
fn usm_stays_and_becomes_a_buffer() {
    let rt = cpu(2);
    let device = rt.device("cpu:1").unwrap();
    let q = rt.queue_on(&device).unwrap();
    let mut u = rt.usm::<u32>(&device, UsmKind::Device, 8).unwrap();
    q.submit(|cg| {
        cg.copy_from_slice(&[5u32; 8], &mut u);
        Ok(())
    })
    .unwrap();
    q.submit(|cg| {
        let u = cg.read_write(&mut u);
        cg.host_kernel([8], u, |i, mut u| u[i] += i.index() as u32);
        Ok(())
    })
    .unwrap();
    assert!(u.read().is_err());
    let p = u.pointer();
    let b = u.into_buffer();
    assert_eq!(b.to_vec().unwrap(), [5, 6, 7, 8, 9, 10, 11, 12]);
    assert_eq!(b.pointer(&device).unwrap().address(), p.address());
    assert_eq!(b.counters().allocations, 2);
}
