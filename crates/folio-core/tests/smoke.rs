//! The first programs.
use folio_core::*;
use folio_cpu::CpuBackend;
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
        let mut y = rt.buffer::<f32>(1000).unwrap();
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
    let mut y = rt.buffer::<i32>(8).unwrap();
    c.submit(|cg| {
        let (x, y) = (cg.read(&x), cg.discard(&mut y));
        cg.host_kernel([8], (x, y), |i, (x, mut y)| y.put(i, x[i] + 1));
        Ok(())
    })
    .unwrap();
    println!("{:?}\n{:?}", before, rt.counters());
    assert_eq!(y.to_vec().unwrap(), [8, 9, 1, 1, 1, 1, 1, 1]);
}
