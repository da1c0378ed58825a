//! Devices, their memory, and copies and fills in and between them.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod common;

use common::*;
use folio_core::hal::{
    AllocKind, AllocReq, Allocation, Backend, CopyRect, Device, DeviceKind, FillRect, HalErrorKind,
    HostPtr, MemBase, MemRef, MemoryHome, Notify, Op, RawMemory,
};
use folio_cpu::{Builder, CpuBackend};
use std::sync::Arc;

fn request(kind: AllocKind, size: u64) -> AllocReq<'static> {
    AllocReq {
        kind,
        size,
        align: 8,
        import: None,
        zeroed: false,
        linked: false,
        exported: false,
        label: "test",
    }
}

fn alloc(device: &Arc<dyn Device>, size: u64) -> (Allocation, MemRef) {
    let found = device.usm().alloc(&request(AllocKind::Device, size)).unwrap();
    let device = match device.info().home {
        MemoryHome::Host => 0,
        MemoryHome::Own(i) => i,
    };
    (found, MemRef { base: MemBase::Device { device, handle: found.handle }, offset: 0 })
}

fn rows(src: MemRef, dst: MemRef, rows: u64, bytes: u64, pitch: u64) -> CopyRect {
    let pitch = [rows * pitch, pitch];
    CopyRect { src, src_pitch: pitch, dst, dst_pitch: pitch, extent: [1, rows, bytes] }
}

#[test]
fn devices_say_what_they_are() {
    let backend = CpuBackend::builder().domains(3).threads(6).memory_limit(4096).build().unwrap();
    assert_eq!(backend.name(), "cpu");
    let devices = backend.devices().unwrap();
    let homes: Vec<_> = devices.iter().map(|d| d.home).collect();
    assert_eq!(homes, [MemoryHome::Host, MemoryHome::Own(1), MemoryHome::Own(2)]);
    for (i, info) in devices.iter().enumerate() {
        let caps = &info.caps;
        assert_eq!((info.kind, info.memory, info.compute_units), (DeviceKind::Cpu, 4096, 2));
        assert!(caps.closures && caps.notifies && caps.timing);
        assert_eq!(caps.wait_group, devices[0].caps.wait_group);
        assert!(caps.wait_group.is_some());
        assert_eq!(caps.unified, i == 0);
        assert_eq!(device(&backend, i).info().name, info.name);
    }
    // SAFETY: there is nothing to use.
    let error = unsafe { backend.open(3, Notify::none()) }.err().unwrap();
    assert!(error.message.contains("no device 3"), "{error}");
    let named = CpuBackend::builder().name("cpu-b").unified(true).domains(2).build().unwrap();
    assert_eq!(named.name(), "cpu-b");
    assert!(named.devices().unwrap().iter().all(|info| info.caps.unified));
}

#[test]
fn builders_refuse_what_cannot_be() {
    let refused = |builder: Builder| builder.build().err().unwrap();
    let error = refused(CpuBackend::builder().domains(0));
    assert_eq!((error.setting.as_str(), error.value.as_str()), ("domains", "0"));
    assert_eq!(refused(CpuBackend::builder().threads(usize::MAX)).setting, "threads");
    for name in ["", "CPU", "cpu:0", "zwölf"] {
        let error = refused(CpuBackend::builder().name(name));
        assert_eq!((error.setting.as_str(), error.value.as_str()), ("name", name));
    }
}

#[test]
fn peers_are_domains_of_one_backend() {
    let with = CpuBackend::builder().domains(2).build().unwrap();
    let without = CpuBackend::builder().domains(2).peer(false).build().unwrap();
    let [a, b] = [0, 1].map(|i| device(&with, i));
    let [c, d] = [0, 1].map(|i| device(&without, i));
    assert!(a.peer(&*b).is_some() && b.peer(&*a).is_some());
    assert!(c.peer(&*d).is_none() && a.peer(&*c).is_none());
}

#[test]
fn memory_is_zeroed_aligned_apart_and_counted() {
    let backend = CpuBackend::builder().domains(2).memory_limit(1 << 24).build().unwrap();
    for index in 0..2 {
        let device = device(&backend, index);
        let usm = device.usm();
        let mut held: Vec<(u64, u64)> = Vec::new();
        for align in [1, 16, 64, 4096, 1 << 16] {
            for size in [1, 63, 4097, 300_000] {
                let req = AllocReq { align, ..request(AllocKind::Shared, size) };
                let found = usm.alloc(&req).unwrap();
                assert!(found.zeroed && found.handle.is_multiple_of(align.max(64)));
                let HostPtr(at) = found.host.unwrap();
                // SAFETY: freshly allocated with this size.
                let bytes = unsafe { std::slice::from_raw_parts_mut(at, size as usize) };
                assert!(bytes.iter().all(|&b| b == 0));
                bytes.fill(0xee);
                held.push((found.handle, size));
            }
        }
        let sum: u64 = held.iter().map(|(_, size)| size).sum();
        assert_eq!(usm.memory().in_use, sum);
        assert_eq!(usm.memory().total, 1 << 24);
        for &(handle, size) in &held {
            let last = usm.query(handle + size - 1).unwrap();
            assert_eq!((last.handle, last.offset, last.size), (handle, size - 1, size));
            assert!(usm.query(handle + size).is_none_or(|other| other.handle != handle));
        }
        for (handle, _) in held {
            usm.free(handle);
        }
        assert_eq!(usm.memory().in_use, 0);
        // Memory that was used before reads as zero too.
        let again = usm.alloc(&request(AllocKind::Host, 300_000)).unwrap();
        // SAFETY: as above.
        let bytes = unsafe { std::slice::from_raw_parts(again.host.unwrap().0, 300_000) };
        assert!(again.zeroed && bytes.iter().all(|&b| b == 0));
        usm.free(again.handle);
    }
}

#[test]
fn the_limit_is_told_with_sizes_and_per_domain() {
    let backend = CpuBackend::builder().domains(2).memory_limit(1000).build().unwrap();
    let [a, b] = [0, 1].map(|i| device(&backend, i));
    let (held, _) = alloc(&a, 600);
    for size in [401, 1 << 40, u64::MAX] {
        let error = a.usm().alloc(&request(AllocKind::Device, size)).unwrap_err();
        let HalErrorKind::OutOfMemory { asked, in_use, limit } = error.kind else {
            panic!("{error}")
        };
        assert_eq!((asked, in_use, limit), (size, 600, 1000));
    }
    alloc(&a, 400);
    alloc(&b, 1000);
    a.usm().free(held.handle);
    alloc(&a, 600);
}

#[test]
fn what_the_system_refuses_is_out_of_memory() {
    let backend = CpuBackend::builder().memory_limit(u64::MAX).build().unwrap();
    let device = device(&backend, 0);
    for size in [1 << 60, u64::MAX / 2, u64::MAX] {
        let error = device.usm().alloc(&request(AllocKind::Device, size)).unwrap_err();
        assert!(matches!(error.kind, HalErrorKind::OutOfMemory { .. }), "{error}");
    }
    assert_eq!(device.usm().memory().in_use, 0);
}

#[test]
fn separate_domains_hide_their_memory_unless_they_are_unified() {
    for unified in [false, true] {
        let backend = CpuBackend::builder().domains(2).unified(unified).build().unwrap();
        let [a, b] = [0, 1].map(|i| device(&backend, i));
        assert!(alloc(&a, 8).0.host.is_some());
        assert_eq!(alloc(&b, 8).0.host.is_some(), unified);
        assert!(b.usm().alloc(&request(AllocKind::Host, 8)).unwrap().host.is_some());
    }
}

#[test]
fn host_memory_can_be_adopted() {
    let backend = CpuBackend::builder().domains(2).build().unwrap();
    let [a, b] = [0, 1].map(|i| device(&backend, i));
    let mut memory = vec![7u8; 100];
    let at = HostPtr(memory.as_mut_ptr());
    let req = AllocReq { import: Some(RawMemory::Host(at)), ..request(AllocKind::Device, 100) };
    let (first, second) = (a.usm().alloc(&req).unwrap(), a.usm().alloc(&req).unwrap());
    assert_eq!((first.host, first.zeroed, second.handle), (Some(at), false, first.handle));
    assert_eq!(a.usm().memory().in_use, 0);
    a.usm().free(first.handle);
    assert!(a.usm().query(first.handle + 99).is_some());
    a.usm().free(first.handle);
    assert!(a.usm().query(first.handle).is_none());
    assert!(matches!(b.usm().alloc(&req).unwrap_err().kind, HalErrorKind::Unsupported));
    assert_eq!(memory, vec![7; 100]);
}

#[test]
fn bytes_travel_through_every_domain() {
    for threads in [1, 3] {
        let backend = CpuBackend::builder().domains(4).threads(threads).build().unwrap();
        let devices = [0, 1, 2, 3].map(|i| device(&backend, i));
        let mut script = Script::new(&devices[3]);
        // Small; large in one piece; large in rows.
        for (lines, bytes, pitch) in
            [(1, 5, 5), (3, 7, 9), (1, 3 << 20, 3 << 20), (700, 4000, 4001)]
        {
            let size = lines * pitch;
            let mut source: Vec<u8> = (0..size).map(|i| (i % 251) as u8).collect();
            let mut target = vec![0u8; size as usize];
            let mut route = vec![host(&mut source)];
            route.extend(devices.iter().map(|device| alloc(device, size).1));
            route.push(host(&mut target));
            for pair in route.windows(2) {
                let rect = rows(pair[0], pair[1], lines, bytes, pitch);
                script.enqueue(&[], |lane, head| lane.enqueue(head, Op::Copy(&[rect]))).unwrap();
            }
            script.lane.drive();
            script.finish();
            for (i, (&from, &to)) in source.iter().zip(&target).enumerate() {
                let inside = i as u64 % pitch < bytes;
                assert_eq!(to, if inside { from } else { 0 }, "{lines} x {bytes} at {i}");
            }
        }
        assert!(script.failures().is_empty());
    }
}

#[test]
fn separate_memory_is_separate() {
    let backend = CpuBackend::builder().domains(2).build().unwrap();
    let [a, b] = [0, 1].map(|i| device(&backend, i));
    let mut script = Script::new(&b);
    let (on_a, on_b) = (alloc(&a, 4).1, alloc(&b, 4).1);
    let mut memory = vec![1u8, 2, 3, 4];
    let mut back = vec![0u8; 8];
    let second = MemRef { offset: 4, ..host(&mut back) };
    let fill = FillRect { dst: on_b, pitch: [4; 2], extent: [1, 1, 4] };
    let from_host = rows(host(&mut memory), on_a, 1, 4, 4);
    let copies = [
        rows(on_a, on_b, 1, 4, 4),
        rows(on_b, host(&mut back), 1, 4, 4),
        rows(on_a, second, 1, 4, 4),
    ];
    script.enqueue(&[], |lane, head| lane.enqueue(head, Op::Copy(&[from_host]))).unwrap();
    script.enqueue(&[], |lane, head| lane.enqueue(head, Op::Copy(&copies[..1]))).unwrap();
    script.enqueue(&[], |lane, head| lane.enqueue(head, Op::Fill(&[fill], &[9]))).unwrap();
    script.enqueue(&[], |lane, head| lane.enqueue(head, Op::Copy(&copies[1..]))).unwrap();
    script.lane.drive();
    script.finish();
    assert_eq!(back, [9, 9, 9, 9, 1, 2, 3, 4]);
}

#[test]
fn fills_of_any_pattern_and_many_rectangles() {
    let backend = backend(2);
    let mut script = Script::new(&device(&backend, 0));
    for (length, repeats) in [(1, 10), (3, 5), (12, 1), (16, 200_000), (5000, 300)] {
        let pattern: Vec<u8> = (0..length).map(|i| (i % 255) as u8 + 1).collect();
        let row = length * repeats;
        let mut memory = vec![0u8; 3 * row + 2];
        let rects: Vec<FillRect> = [0, 2 * row + 2]
            .into_iter()
            .map(|offset| FillRect {
                dst: MemRef { offset: offset as u64, ..host(&mut memory) },
                pitch: [0, row as u64],
                extent: [1, 1, row as u64],
            })
            .collect();
        script.enqueue(&[], |lane, head| lane.enqueue(head, Op::Fill(&rects, &pattern))).unwrap();
        script.lane.drive();
        script.finish();
        let expect: Vec<u8> = pattern.repeat(repeats);
        assert!(memory[..row] == expect && memory[2 * row + 2..] == expect);
        assert!(memory[row..2 * row + 2].iter().all(|&b| b == 0));
    }
}

#[test]
fn memory_outlives_devices_while_work_uses_it() {
    within_time(|| {
        for _ in 0..100 {
            let backend = CpuBackend::builder().domains(2).threads(2).build().unwrap();
            let [a, b] = [0, 1].map(|i| device(&backend, i));
            let mut script = Script::new(&a);
            let (from, to) = (alloc(&a, 2 << 20).1, alloc(&b, 2 << 20).1);
            for _ in 0..4 {
                let rect = rows(from, to, 1, 2 << 20, 2 << 20);
                script.enqueue(&[], |lane, head| lane.enqueue(head, Op::Copy(&[rect]))).unwrap();
            }
            script.lane.drive();
        }
    });
}
