//! Memory that is exported, and opened by another device of the driver's.

use super::{found, open, place, run};
use crate::device::VulkanDevice;
use folio_core::hal::{
    AllocKind, AllocReq, CopyRect, Device, FillRect, HalErrorKind, HostPtr, LaneKind, MemBase,
    MemRef, Op, RawMemory, UsmAllocator,
};
use std::os::fd::AsRawFd;

const SIZE: u64 = 100_000;

fn request() -> AllocReq<'static> {
    AllocReq {
        kind: AllocKind::Device,
        size: SIZE,
        align: 64,
        import: None,
        zeroed: false,
        linked: false,
        exported: false,
        label: "test",
    }
}

fn fill(device: &VulkanDevice, at: MemRef, value: u8) {
    let lane = device.lane(LaneKind::Compute, 0).unwrap();
    let rects = [FillRect { dst: at, pitch: [SIZE; 2], extent: [1, 1, SIZE] }];
    assert!(run(&lane, &[Op::Fill(&rects, &[value])]).is_empty());
}

fn bytes(device: &VulkanDevice, at: MemRef) -> Vec<u8> {
    let mut all = vec![0u8; SIZE as usize];
    let dst = MemRef { base: MemBase::Host(HostPtr(all.as_mut_ptr())), offset: 0 };
    let (src_pitch, dst_pitch) = ([SIZE; 2], [SIZE; 2]);
    let rect = CopyRect { src: at, src_pitch, dst, dst_pitch, extent: [1, 1, SIZE] };
    let lane = device.lane(LaneKind::Download, 0).unwrap();
    assert!(run(&lane, &[Op::Copy(&[rect])]).is_empty());
    all
}

/// USM-01: two devices of one driver have one memory, each sees what the other one has written, and
/// it stays until both have given it back.
#[test]
fn exported_memory_of_vulkan_is_opened_by_another_device() {
    let Some((found, messages)) = found() else { return };
    if !found.info.caps.exports {
        return println!("skipped: vulkan exports: {} exports no memory", found.info.name);
    }
    let [first, second] = [(); 2].map(|()| open(&found));
    let exports = AllocReq { exported: true, zeroed: true, ..request() };
    let made = first.alloc(&exports).unwrap();
    assert!(made.zeroed && made.host.is_none());
    assert_eq!(first.memory().in_use, SIZE);
    let exported = first.export(made.handle).unwrap();
    assert!(exported.bytes >= SIZE);
    let memory = RawMemory::File { file: exported.file.as_raw_fd(), bytes: exported.bytes };
    let opens = AllocReq { import: Some(memory), ..request() };
    let opened = second.alloc(&opens).unwrap();
    // The file has been only lent.
    let again = second.alloc(&opens).unwrap();
    drop(exported);
    assert_eq!(second.memory().in_use, 0);
    let [own, theirs, third] = [&made, &opened, &again].map(|made| place(made, 0));
    assert_eq!(bytes(&second, theirs), [0; SIZE as usize]);
    fill(&first, own, 7);
    assert_eq!(bytes(&second, theirs), [7; SIZE as usize]);
    fill(&second, theirs, 9);
    assert_eq!(bytes(&first, own), [9; SIZE as usize]);
    first.free(made.handle);
    assert_eq!(first.memory().in_use, 0);
    drop(first);
    assert_eq!(bytes(&second, third), [9; SIZE as usize]);
    assert!(messages.all().is_empty(), "{:?}", messages.all());
}

/// Memory that cannot be exported or opened is an error that says why, and leaves nothing behind.
#[test]
fn what_vulkan_cannot_export_or_open_is_refused() {
    let Some((found, messages)) = found() else { return };
    if !found.info.caps.exports {
        return println!("skipped: vulkan exports: {} exports no memory", found.info.name);
    }
    let device = open(&found);
    let refused = |request: AllocReq<'_>, why: &str| {
        let error = device.alloc(&request).unwrap_err();
        assert!(matches!(error.kind, HalErrorKind::Unsupported), "{error:?}");
        assert!(error.message.contains(why), "{error}");
    };
    let plain = device.alloc(&request()).unwrap();
    let error = device.export(plain.handle).unwrap_err();
    assert!(error.message.contains("not made for other drivers"), "{error}");
    let exports = AllocReq { exported: true, ..request() };
    refused(AllocReq { kind: AllocKind::Host, ..exports }, "several drivers");
    let exported = device.alloc(&exports).and_then(|made| device.export(made.handle)).unwrap();
    let (file, bytes) = (exported.file.as_raw_fd(), exported.bytes);
    let opens = |file, bytes, size| AllocReq {
        import: Some(RawMemory::File { file, bytes }),
        size,
        ..request()
    };
    refused(opens(file, bytes, 2 * SIZE), "bytes where");
    refused(opens(-1, bytes, SIZE), "memory of no file");
    let much = device.alloc(&opens(file, u64::MAX, u64::MAX)).unwrap_err();
    assert!(matches!(much.kind, HalErrorKind::OutOfMemory { asked: u64::MAX, .. }), "{much:?}");
    refused(opens(i32::MAX, bytes, SIZE), "this file");
    assert!(messages.all().is_empty(), "{:?}", messages.all());
}
