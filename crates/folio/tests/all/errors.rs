//! Error messages, as a person reads them.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use folio::prelude::*;
use folio::{
    BufferOptions, Error,
    error::{Label, UseSite},
};

#[kernel]
fn adds(i: Item, n: i32, x: InOut<i32>) {
    x[i] += n;
}

#[kernel]
fn adds_up(i: Item, n: i32, x: In<i32>, y: InOut<i32>) {
    y[i] += n * x[i];
}

fn runtime() -> Runtime {
    let cpu = folio::cpu::CpuBackend::builder().domains(1).build().unwrap();
    Runtime::builder().backend(cpu).build().unwrap()
}

/// ERR-01, DEP-05: an overlap is told by the names of the kernel's parameters; an access that is
/// for none, by its position.
#[test]
fn aliasing_names_parameters() {
    let rt = runtime();
    let q = rt.queue().unwrap();
    let x = rt.buffer_from(&[1i32; 8]).unwrap().into_shared();
    let names = |result: folio::Result<folio::Event>| match result {
        Err(Error::Aliasing { accesses, parameters, .. }) => {
            (accesses, parameters.map(|name| name.as_str().to_owned()))
        }
        other => panic!("{other:?}"),
    };
    let named = |names: [&str; 2]| ([0, 1], names.map(str::to_owned));
    assert_eq!(names(q.run(8, adds_up(2, &x, &x))), named(["x", "y"]));
    let declared = q.submit(|cg| {
        cg.read(&x);
        cg.run(8, adds(2, &x));
        Ok(())
    });
    assert_eq!(names(declared), named(["", "x"]));
    let closure = q.submit(|cg| {
        let (a, b) = (cg.read(&x), cg.write(&x));
        cg.host_kernel([8], (a, b), |_, _| {});
        Ok(())
    });
    assert_eq!(names(closure), named(["", ""]));
    let twice = q.submit(|cg| {
        let x = cg.write(&x);
        cg.host_kernel([8], [x, x], |_, _| {});
        Ok(())
    });
    assert_eq!(names(twice), named(["", ""]));
    let text = q.run(8, adds_up(2, &x, &x)).unwrap_err().to_string();
    let begin = "command `adds_up`: parameter `x` and parameter `y` overlap in one buffer";
    assert!(text.starts_with(begin), "{text}");
}

/// ERR-01: what a guard holds, and what is another runtime's, is told by the parameter's name.
#[test]
fn guards_and_foreign_buffers_name_parameters() {
    let (rt, other) = (runtime(), runtime());
    let q = rt.queue().unwrap();
    let (x, y) =
        (rt.buffer_from(&[1i32; 8]).unwrap(), rt.buffer::<i32, 1>(8).unwrap().into_shared());
    let theirs = other.buffer_from(&[1i32; 8]).unwrap();
    let of = |command: &str, access, parameter: &str| {
        let parameter = if parameter.is_empty() { Label::NONE } else { Label::from(parameter) };
        Some(UseSite { command: Label::from(command), access: Some(access), parameter })
    };
    let held = y.write().unwrap();
    match q.run(8, adds_up(2, &x, &y)) {
        Err(Error::HostAccessHeld { by, .. }) => assert_eq!(by, of("adds_up", 1, "y")),
        other => panic!("{other:?}"),
    }
    let closure = q.submit(|cg| {
        let y = cg.label("mine").write(&y);
        cg.host_kernel([8], y, |i, mut y| y.put(i, 1));
        Ok(())
    });
    match closure {
        Err(Error::HostAccessHeld { by, .. }) => assert_eq!(by, of("mine", 0, "")),
        other => panic!("{other:?}"),
    }
    drop(held);
    match q.run(8, adds_up(2, &theirs, &y)) {
        Err(Error::WrongRuntime { what: "buffer", by, .. }) => {
            assert_eq!(by, of("adds_up", 0, "x"));
        }
        other => panic!("{other:?}"),
    }
    q.run(8, adds_up(2, &x, &y)).unwrap();
    assert_eq!(y.to_vec().unwrap(), [2; 8]);
}

/// ERR-01: a launch that is too large names the parameter beside the buffer.
#[test]
fn a_launch_that_is_too_large_names_the_parameter() {
    let rt = runtime();
    let q = rt.queue().unwrap();
    let mut sums = rt.buffer_with::<i32, 1>([4], BufferOptions::new().label("sums")).unwrap();
    let text = q.run(5, adds(1, &mut sums)).unwrap_err().to_string();
    assert!(text.contains("beyond parameter `x` to buffer `sums`, which covers [4]"), "{text}");
}

#[kernel]
fn begins_rows(i: Item, y: OutRow<i32>) {
    y[(i, 0)] = 1;
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Body {
    at: [f32; 2],
    velocity: f32,
}

#[kernel]
fn begins_bodies(i: Item, y: Out<Body>) {
    y[i].at = [0.0; 2];
    if i.index() > 2 {
        y[i].velocity = 1.0;
    }
}

#[kernel(group = 32)]
fn in_groups(g: Group, y: Out<i32>) {
    g.each(|i| y[i] = 1);
}

/// ERR-01, KRN-02: a row of which not all is written, a launch that no group divides, a position
/// outside, and copies of other extents: each says what to write, or which is which.
#[test]
fn launches_and_parts_say_what_to_write() {
    let rt = runtime();
    let q = rt.queue().unwrap();
    let mut m = rt.buffer::<i32, 2>([4, 4]).unwrap();
    let rows = q.run(4, begins_rows(&mut m)).unwrap_err().to_string();
    let instead = "`for k in 0..y.shape()[1] { y[(i, k)] = ..; }`, or make it `InOutRow`";
    assert!(rows.starts_with("kernel `begins_rows`: ") && rows.ends_with(instead), "{rows}");
    let mut bodies = rt.buffer::<Body, 1>(4).unwrap();
    let fields = q.run(4, begins_bodies(&mut bodies)).unwrap_err().to_string();
    let left = "writes all of its element (`velocity` is left out); make it `InOut`";
    assert!(fields.ends_with(left), "{fields}");
    let mut y = rt.buffer::<i32, 1>(100).unwrap();
    let groups = q.run(100, in_groups(&mut y)).unwrap_err().to_string();
    assert!(groups.contains("`n.next_multiple_of(size)`"), "{groups}");
    let outside = y.get(100).unwrap_err().to_string();
    assert!(outside.ends_with(": position [100] is outside [100]"), "{outside}");
    let mut z = rt.buffer::<i32, 1>(99).unwrap();
    let copy = q.copy(&y, &mut z).unwrap_err().to_string();
    assert!(copy.ends_with("extents do not match: from [100] to [99]"), "{copy}");
}

/// Half floats are in the prelude.
#[test]
fn half_floats_are_known() {
    let (a, b) = (f16::from_f32(1.5), bf16::from_f32(1.5));
    assert_eq!((a.to_f32(), b.to_f32()), (1.5, 1.5));
}
