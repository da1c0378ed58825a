//! Devices that lack something: what kernels then are told, or do without.

use super::{alloc, open, param, run};
use crate::device::VulkanDevice;
use crate::device::platform::Found;
use crate::kernels::subgroups;
use crate::{Capabilities, VulkanBackend};
use folio_core::hal::{
    AllocKind, Allocation, Args, Device, Geometry, HalError, HalErrorKind, KernelRef, KernelSource,
    LaneKind, Op,
};
use folio_kernel::emit::spirv::{Adds, Controls};
use folio_kernel::{
    Access, Atomic, Binary, Builder, Kernel, Op as IrOp, Owner, ParamKind, Place, Query, Scalar,
    Unary, Value,
};

/// A kernel of items that does something with each element of a view.
fn items(of: Scalar, op: &dyn Fn(&mut Builder, Value) -> Value) -> Kernel {
    let mut b = Builder::items("k", 1);
    let x = b.view("x", of, 1, Access::InOut, Owner::Item);
    let i = b.position(0);
    let value = b.load_at(x, [i]);
    let value = op(&mut b, value);
    b.store_at(x, [i], value);
    b.finish().unwrap()
}

/// A kernel of groups that counts in an array of the group.
fn counts(of: Scalar) -> Kernel {
    let mut b = Builder::groups("k", 1);
    let y = b.view("y", of, 1, Access::Out, Owner::Item);
    let tile = b.param("tile", ParamKind::Local { element: of.into(), len: 32 });
    b.phase(|b| {
        let (i, zero, one) = (b.position(0), b.index(0), b.int(of, 1));
        let before = b.atomic(Atomic::Add, Place::element(tile, [zero]), &[one]);
        b.store_at(y, [i], before);
    });
    b.finish().unwrap()
}

/// A kernel of items that counts in a view.
fn counts_in_view(of: Scalar) -> Kernel {
    let mut b = Builder::items("k", 1);
    let n = b.view("n", of, 1, Access::InOut, Owner::Atomic);
    let (zero, one) = (b.index(0), b.int(of, 1));
    b.atomic(Atomic::Add, Place::element(n, [zero]), &[one]);
    b.finish().unwrap()
}

/// A kernel of groups of which each item tells how many its sub-group has.
fn widths() -> Kernel {
    let mut b = Builder::groups("k", 1);
    let y = b.view("y", Scalar::U32, 1, Access::Out, Owner::Item);
    b.phase(|b| {
        let i = b.position(0);
        let size = b.query(Query::SubgroupSize, 0);
        let size = b.cast(size, Scalar::U32);
        b.store_at(y, [i], size);
    });
    b.finish().unwrap()
}

/// The first device, as if it could do no more than this; with the validation layer.
fn limited(limit: Capabilities) -> Option<(Found, VulkanDevice, VulkanBackend)> {
    let backend = VulkanBackend::new().validated().limited_to(limit);
    let found = match backend.found() {
        Ok(all) => all[0].clone(),
        Err(why) => {
            println!("skipped: vulkan: {}", why.reason);
            return None;
        }
    };
    let device = open(&found);
    Some((found, device, backend))
}

fn without(mask: &dyn Fn(&mut Capabilities)) -> Capabilities {
    let mut limit = Capabilities::ALL;
    mask(&mut limit);
    limit
}

/// Each feature that is masked is named when a kernel is loaded, with the kernel and the place
/// (KRN-06).
#[test]
fn masked_features_of_vulkan_are_typed_errors() {
    type Mask = fn(&mut Capabilities);
    let same = |_: &mut Builder, value| value;
    let sine = |b: &mut Builder, value| b.op(IrOp::Unary(Unary::Sin, value));
    let twice = |b: &mut Builder, value| b.binary(Binary::Add, value, value);
    let local = "128 bytes of local memory (the device has 64)";
    let atomics = "atomic operations on 64 bits, which";
    let local_atomics = "atomic operations on 64 bits of local memory";
    let cases: [(Mask, Kernel, &str, &str); 12] = [
        (|m| m.int8 = false, items(Scalar::I8, &same), "integers of 8 bits", "`x`"),
        (|m| m.int8 = false, items(Scalar::U8, &twice), "integers of 8 bits", "`x`"),
        (|m| m.int16 = false, items(Scalar::U16, &same), "numbers of 16 bits", "`x`"),
        (|m| m.int16 = false, items(Scalar::F16, &twice), "numbers of 16 bits", "`x`"),
        (|m| m.int16 = false, items(Scalar::Bf16, &same), "numbers of 16 bits", "`x`"),
        (|m| m.base.f64 = false, items(Scalar::F64, &twice), "`f64`", "`x`"),
        (|m| m.base.f64 = false, items(Scalar::F32, &sine), "`f64`, in which `sin`", "value"),
        (|m| m.base.atomics64 = false, counts_in_view(Scalar::U64), atomics, "`n`"),
        (|m| m.base.atomics64 = false, counts(Scalar::I64), atomics, "`tile`"),
        (|m| m.local_atomics64 = false, counts(Scalar::U64), local_atomics, "`tile`"),
        (|m| m.local_atomics64 = false, counts(Scalar::I64), local_atomics, "`tile`"),
        (|m| m.base.local_memory = 64, counts(Scalar::U32), local, "local arrays"),
    ];
    for (mask, kernel, names, place) in cases {
        let Some((_, device, backend)) = limited(without(&mask)) else { return };
        let error = device.load(&KernelSource::Ir(&kernel)).unwrap_err();
        assert!(matches!(error.kind, HalErrorKind::Unsupported), "{error:?}");
        for part in [names, place, "`k`"] {
            assert!(error.message.contains(part), "{part}: {error}");
        }
        assert!(backend.messages().all().is_empty(), "{:?}", backend.messages().all());
    }
    assert_ne!(Capabilities::ALL.controls, Controls::default());
}

/// Features that are not masked go on: atomic operations of views where local ones are, and of 32
/// bits where those of 64 are.
#[test]
fn masked_features_of_vulkan_leave_the_others() {
    type Mask = fn(&mut Capabilities);
    let cases: [(Mask, Kernel); 4] = [
        (|m| m.local_atomics64 = false, counts_in_view(Scalar::U64)),
        (|m| m.base.atomics64 = false, counts_in_view(Scalar::U32)),
        (|m| m.base.atomics64 = false, counts(Scalar::I32)),
        (|m| m.base.local_memory = 128, counts(Scalar::U32)),
    ];
    for (mask, kernel) in cases {
        let Some((_, device, backend)) = limited(without(&mask)) else { return };
        device.load(&KernelSource::Ir(&kernel)).unwrap();
        assert!(backend.messages().all().is_empty(), "{:?}", backend.messages().all());
    }
}

/// Each item adds 1 to one float, and says what was there before.
fn sums(of: Scalar) -> Kernel {
    let mut b = Builder::items("k", 1);
    let n = b.view("n", of, 1, Access::InOut, Owner::Atomic);
    let y = b.view("y", of, 1, Access::Out, Owner::Item);
    let (i, zero) = (b.position(0), b.index(0));
    let one = b.bits(of, if of == Scalar::F64 { 1f64.to_bits() } else { 1f32.to_bits().into() });
    let before = b.atomic(Atomic::Add, Place::element(n, [zero]), &[one]);
    b.store_at(y, [i], before);
    b.finish().unwrap()
}

/// Semantics 9: sums by the device's instruction, where it has one that rounds as its other sums
/// do, are those by comparing and exchanging: each item finds another number, and none is lost.
#[test]
fn masked_atomic_sums_of_vulkan_are_the_same() {
    const COUNT: usize = 4096;
    for adds in [Capabilities::ALL.adds, Adds::default()] {
        let Some((found, device, backend)) = limited(Capabilities { adds, ..Capabilities::ALL })
        else {
            return;
        };
        println!("of {adds:?}: {:?}", found.target.capabilities.adds);
        for (of, size) in [(Scalar::F32, 4), (Scalar::F64, 8)] {
            if of == Scalar::F64 && !found.target.capabilities.base.f64 {
                continue;
            }
            let handle = device.load(&KernelSource::Ir(&sums(of))).unwrap();
            let [n, y] = [1, COUNT]
                .map(|count| alloc(&device, AllocKind::Host, (count * size as usize) as u64));
            let params = [param(&n, 1, size, true), param(&y, COUNT, size, true)];
            let (geometry, args) = (Geometry::new(1, [1, 1, COUNT]), Args::new(&params));
            let launch = Op::Launch(KernelRef::Loaded(handle), &geometry, args);
            let lane = device.lane(LaneKind::Compute, 0).unwrap();
            assert!(run(&lane, &[launch]).is_empty());
            let number = |made: &Allocation, at: usize| {
                let start = made.host.unwrap().0;
                // SAFETY: the allocation has so many numbers, and the lane has ended.
                unsafe {
                    match of {
                        Scalar::F64 => start.cast::<f64>().add(at).read(),
                        _ => start.cast::<f32>().add(at).read().into(),
                    }
                }
            };
            assert_eq!(number(&n, 0), COUNT as f64, "{of}");
            let mut before: Vec<usize> = (0..COUNT).map(|at| number(&y, at) as usize).collect();
            before.sort_unstable();
            assert!(before.into_iter().eq(0..COUNT), "{of}");
        }
        assert!(backend.messages().all().is_empty(), "{:?}", backend.messages().all());
    }
}

/// The sub-group that each item of a launch in groups tells, or why there is none.
fn widths_on(device: &VulkanDevice, group: usize) -> Result<Vec<u32>, HalError> {
    const COUNT: usize = 96;
    let handle = device.load(&KernelSource::Ir(&widths()))?;
    let made = alloc(device, AllocKind::Host, 4 * COUNT as u64);
    let geometry = Geometry { group: Some([1, 1, group]), ..Geometry::new(1, [1, 1, COUNT]) };
    let params = [param(&made, COUNT, 4, true)];
    let args = Args { proved: true, ..Args::new(&params) };
    let lane = device.lane(LaneKind::Compute, 0)?;
    let launch = Op::Launch(KernelRef::Loaded(handle), &geometry, args);
    if let Some((_, error)) = run(&lane, &[launch]).into_iter().next() {
        return Err(error);
    }
    // SAFETY: the allocation has so many numbers, and the lane has ended.
    let found = unsafe { std::slice::from_raw_parts(made.host.unwrap().0.cast::<u32>(), COUNT) };
    Ok(found.to_vec())
}

/// Sub-groups are as wide as was measured, and have one item where they are masked.
#[test]
fn masked_sub_groups_of_vulkan_have_one_item() {
    let all = Capabilities::ALL;
    let Some((found, device, backend)) = limited(all) else { return };
    let width = found.target.capabilities.subgroup;
    println!("sub-groups of {width}");
    assert!(width.is_power_of_two() && width <= 128, "{width}");
    // Measured again, the same.
    let mut again = found.clone();
    subgroups::measure(&mut again);
    assert_eq!(again.target.capabilities.subgroup, width);
    // Groups of whole sub-groups and others.
    for group in [32, 48, 3] {
        assert_eq!(widths_on(&device, group).unwrap(), [width; 96], "groups of {group}");
    }
    assert!(backend.messages().all().is_empty(), "{:?}", backend.messages().all());
    let Some((_, device, backend)) = limited(Capabilities { subgroup: 1, ..all }) else { return };
    assert_eq!(widths_on(&device, 32).unwrap(), [1; 96]);
    assert!(backend.messages().all().is_empty(), "{:?}", backend.messages().all());
}

/// A device whose sub-groups are not as kernels rely on has none: one that makes them of another
/// size than it says is found.
#[test]
fn planted_other_size_of_sub_groups_is_measured() {
    let Some((mut found, ..)) = limited(Capabilities::ALL) else { return };
    let width = found.target.capabilities.subgroup;
    if width == 1 || found.target.subgroups.is_asked() {
        return println!("skipped: vulkan: no sub-groups of one size");
    }
    found.target.capabilities.subgroup = 2 * width;
    subgroups::measure(&mut found);
    assert_eq!(found.target.capabilities.subgroup, 1);
}

/// Groups larger than the device's blocks are refused where they are launched, and the error says
/// what was asked and what there is.
#[test]
fn masked_blocks_of_vulkan_are_typed_errors() {
    let limit = without(&|mask| mask.base.block = 16);
    let Some((_, device, backend)) = limited(limit) else { return };
    widths_on(&device, 16).unwrap();
    let error = widths_on(&device, 32).unwrap_err();
    assert!(matches!(error.kind, HalErrorKind::Unsupported), "{error:?}");
    for part in ["[1, 1, 32]", "groups of 16 items at most"] {
        assert!(error.message.contains(part), "{error}");
    }
    assert!(backend.messages().all().is_empty(), "{:?}", backend.messages().all());
}
