//! DLPack: buffers out, tensors in, and descriptions that lie. POL-08
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use folio::cpu::CpuBackend;
use folio::dlpack::*;
use folio::*;
use folio_sim::{DeviceSpec, SimBackend};
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

fn cpu() -> (Runtime, DeviceRef) {
    let rt = Runtime::builder().backend(CpuBackend::builder().threads(2).build().unwrap());
    let rt = rt.build().unwrap();
    let device = rt.devices().remove(0);
    (rt, device)
}

/// A tensor of the test's own, which counts how often it is ended.
struct Theirs {
    managed: DLManagedTensorVersioned,
    shape: Vec<i64>,
    strides: Vec<i64>,
    data: Vec<f32>,
    ended: Arc<AtomicUsize>,
}

unsafe extern "C" fn ended(managed: *mut DLManagedTensorVersioned) {
    // SAFETY: `theirs` has made it, and this is called once.
    let theirs = unsafe { Box::from_raw((*managed).manager_ctx.cast::<Theirs>()) };
    theirs.ended.fetch_add(1, SeqCst);
}

const F32: DLDataType = <f32 as Element>::TYPE;

fn described(ndim: usize, dtype: DLDataType) -> DLTensor {
    let none = std::ptr::null_mut::<c_void>();
    let device = DLDevice { device_type: DLDevice::CPU, device_id: 0 };
    let (data, shape, strides) = (none, none.cast(), none.cast());
    DLTensor { data, device, ndim: ndim as i32, dtype, shape, strides, byte_offset: 0 }
}

/// A tensor, its data, and how often it has been ended.
fn theirs(
    shape: &[i64],
    strides: Option<&[i64]>,
    data: Vec<f32>,
    change: impl FnOnce(&mut DLManagedTensorVersioned),
) -> (*mut DLManagedTensorVersioned, *const f32, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let managed = DLManagedTensorVersioned {
        version: DLPackVersion { major: 1, minor: 3 },
        manager_ctx: std::ptr::null_mut(),
        deleter: Some(ended),
        flags: 0,
        dl_tensor: described(shape.len(), F32),
    };
    let (shape, ended) = (shape.to_vec(), count.clone());
    let has_strides = strides.is_some();
    let strides = strides.unwrap_or_default().to_vec();
    let theirs = Box::into_raw(Box::new(Theirs { managed, shape, strides, data, ended }));
    // SAFETY: the box from above, which nothing else has.
    unsafe {
        let tensor = &mut *theirs;
        tensor.managed.manager_ctx = theirs.cast();
        tensor.managed.dl_tensor.data = tensor.data.as_mut_ptr().cast();
        tensor.managed.dl_tensor.shape = tensor.shape.as_mut_ptr();
        if has_strides {
            tensor.managed.dl_tensor.strides = tensor.strides.as_mut_ptr();
        }
        change(&mut tensor.managed);
        (&raw mut (*theirs).managed, (*theirs).data.as_ptr(), count)
    }
}

fn is_held<T>(result: Result<T>) -> bool {
    matches!(result, Err(Error::HostAccessHeld { .. }))
}

#[test]
fn an_exported_buffer_is_held_until_the_consumer_lets_go() {
    let (rt, device) = cpu();
    let q = rt.queue().unwrap();
    let mut x = rt.buffer_from((&[1u16, 2, 3, 4, 5, 6], [2, 3])).unwrap();
    let tensor = Tensor::export(&x, &device).unwrap();
    assert!(tensor.is_read_only());
    let raw = tensor.into_raw();
    // SAFETY: what a consumer does: it reads the struct and the elements, and ends it once.
    unsafe {
        let tensor = (*raw).dl_tensor;
        assert_eq!((tensor.ndim, tensor.dtype), (2, <u16 as Element>::TYPE));
        assert_eq!(tensor.device, DLDevice { device_type: DLDevice::CPU, device_id: 0 });
        assert_eq!(std::slice::from_raw_parts(tensor.shape, 2), [2, 3]);
        assert_eq!(std::slice::from_raw_parts(tensor.strides, 2), [3, 1]);
        let data = tensor.data.cast::<u16>().add(tensor.byte_offset as usize);
        assert_eq!(std::slice::from_raw_parts(data, 6), [1, 2, 3, 4, 5, 6]);
        // Others may read, and nothing may write.
        assert_eq!(x.to_vec().unwrap(), [1, 2, 3, 4, 5, 6]);
        assert!(is_held(q.fill(&mut x, 0)) && is_held(x.write()));
        (*raw).deleter.unwrap()(raw);
    }
    q.fill(&mut x, 9).unwrap();
    let raw = Tensor::<DLManagedTensor>::export_mut(&mut x, &device).unwrap().into_raw();
    // SAFETY: as above; it may write.
    unsafe {
        assert!(is_held(q.fill(&mut x, 0)) && is_held(x.read()) && is_held(x.to_vec()));
        (*raw).dl_tensor.data.cast::<u16>().add(5).write(7);
        (*raw).deleter.unwrap()(raw);
    }
    assert_eq!(x.to_vec().unwrap(), [9, 9, 9, 9, 9, 7]);
}

#[test]
fn parts_and_empty_buffers_are_exported_and_gaps_are_refused() {
    let (rt, device) = cpu();
    let mut x = rt.buffer_from((&[0.0f64, 1.0, 2.0, 3.0, 4.0, 5.0], [3, 2])).unwrap();
    let rows = Tensor::export(x.slice([1, 0], [2, 2]).unwrap(), &device).unwrap();
    assert_eq!(rows.to_buffer::<f64, 2>(&rt).unwrap().to_vec().unwrap(), [2.0, 3.0, 4.0, 5.0]);
    drop(rows);
    let column = Tensor::export(x.slice([0, 1], [3, 1]).unwrap(), &device);
    assert!(matches!(column, Err(Error::NotContiguous { .. })));
    x.write().unwrap().fill(1.0);
    let none = rt.buffer::<u8, 2>([0, 7]).unwrap();
    let tensor = Tensor::export(&none, &device).unwrap();
    assert_eq!(tensor.layout::<u8, 2>().unwrap().shape, [0, 7]);
    let copied = tensor.import_read_only::<u8, 2>(&rt).unwrap();
    assert_eq!((copied.shape(), copied.to_vec().unwrap()), ([0, 7], vec![]));
}

#[test]
fn an_imported_tensor_is_the_buffers_memory_and_is_ended_once() {
    let (rt, _) = cpu();
    let q = rt.queue().unwrap();
    let (raw, data, ended) = theirs(&[2, 2], None, vec![1.0, 2.0, 3.0, 4.0], |_| ());
    // SAFETY: a tensor of the test's, as DLPack describes it.
    let tensor = unsafe { Tensor::from_raw(raw) }.unwrap();
    let mut x = tensor.import::<f32, 2>(&rt).unwrap();
    assert_eq!(x.counters().allocations, 0);
    assert_eq!(x.read().unwrap().as_ptr(), data);
    q.fill(x.slice_mut([1, 0], [1, 2]).unwrap(), 8.0).unwrap();
    assert_eq!(x.to_vec().unwrap(), [1.0, 2.0, 8.0, 8.0]);
    let guard = x.read().unwrap();
    drop(x);
    assert_eq!((guard[3], ended.load(SeqCst)), (8.0, 0), "a guard keeps it");
    drop(guard);
    rt.wait().unwrap();
    assert_eq!(ended.load(SeqCst), 1);
}

#[test]
fn a_drop_leaves_what_another_memory_has_in_the_tensor() {
    let sim = SimBackend::builder().devices(1, DeviceSpec::default()).build();
    let rt = Runtime::builder().backend(sim).build().unwrap();
    let q = rt.queue_on("sim:0").unwrap();
    let mut y = rt.buffer_from(&[1.0f32, 2.0, 3.0]).unwrap();
    let (_, host) = cpu();
    assert!(matches!(Tensor::export(&y, &host), Err(Error::WrongRuntime { .. })));
    let (raw, ..) = theirs(&[3], None, vec![0.0; 3], |_| ());
    // SAFETY: a tensor of the test's.
    let mut x = unsafe { Tensor::from_raw(raw) }.unwrap().import::<f32, 1>(&rt).unwrap();
    q.fill(&mut y, 4.5).unwrap();
    q.copy(&y, &mut x).unwrap();
    let seen = Arc::new(AtomicUsize::new(0));
    // The last look at the memory is the deleter's, which finds what was written.
    // SAFETY: as above; the manager is the test's own, and ends the tensor.
    let looked = unsafe {
        unsafe extern "C" fn look(managed: *mut DLManagedTensorVersioned) {
            // SAFETY: the struct and its manager, which the test has made.
            unsafe {
                let theirs = (*managed).manager_ctx.cast::<Theirs>();
                let data = &(*theirs).data;
                let bits = data[2].to_bits() as usize;
                (*theirs).ended.store(bits, SeqCst);
                drop(Box::from_raw(theirs));
            }
        }
        let (raw, _, bits) =
            theirs(&[3], None, vec![0.0; 3], |managed| managed.deleter = Some(look));
        let mut x = Tensor::from_raw(raw).unwrap().import::<f32, 1>(&rt).unwrap();
        q.copy(&y, &mut x).unwrap();
        drop(x);
        bits
    };
    drop((x, seen));
    assert_eq!(f32::from_bits(looked.load(SeqCst) as u32), 4.5);
}

#[test]
fn what_must_not_be_written_is_read() {
    let (rt, _) = cpu();
    let read_only = |managed: &mut DLManagedTensorVersioned| {
        managed.flags = DLManagedTensorVersioned::READ_ONLY;
    };
    let (raw, data, ended) = theirs(&[3], None, vec![1.0, 2.0, 3.0], read_only);
    // SAFETY: a tensor of the test's.
    let tensor = unsafe { Tensor::from_raw(raw) }.unwrap();
    let refused = tensor.import::<f32, 1>(&rt).err().unwrap();
    assert_eq!(refused.refusal, Some(Refusal::ReadOnly));
    let x = refused.tensor.unwrap().import_read_only::<f32, 1>(&rt).unwrap();
    assert_eq!(x.read().unwrap().as_ptr(), data);
    let q = rt.queue().unwrap();
    let mut y = rt.buffer::<f32, 1>(3).unwrap();
    q.copy(&*x, &mut y).unwrap();
    assert_eq!(y.to_vec().unwrap(), [1.0, 2.0, 3.0]);
    drop(x);
    rt.wait().unwrap();
    assert_eq!(ended.load(SeqCst), 1);
}

/// What is refused is as it was, and what is of another version is ended and not read.
#[test]
fn each_refusal_names_the_fault() {
    let (rt, _) = cpu();
    let refused = |change: fn(&mut DLManagedTensorVersioned)| {
        let (raw, _, ended) = theirs(&[2, 2], Some(&[2, 1]), vec![0.0; 4], change);
        // SAFETY: a tensor of the test's, whose description alone is looked at.
        let tensor = unsafe { Tensor::from_raw(raw) }.unwrap();
        let refused = tensor.import::<f32, 2>(&rt).err().unwrap();
        assert_eq!(ended.load(SeqCst), 0);
        let text = refused.to_string();
        drop(refused.tensor);
        assert_eq!(ended.load(SeqCst), 1);
        (refused.refusal.unwrap(), text)
    };
    let (why, _) = refused(|managed| managed.dl_tensor.ndim = -1);
    assert_eq!(why, Refusal::Dimensions { found: -1, expected: 2 });
    let (why, text) = refused(|managed| managed.dl_tensor.dtype.lanes = 4);
    assert!(matches!(why, Refusal::Type { .. }) && text.contains("4 times f32"), "{text}");
    let (why, text) = refused(|managed| {
        managed.dl_tensor.dtype = DLDataType { code: 17, bits: 4, lanes: 1 };
    });
    assert!(matches!(why, Refusal::Type { .. }) && text.contains("4 bits of DLPack's type 17"));
    let (why, _) = refused(|managed| managed.dl_tensor.data = std::ptr::null_mut());
    assert_eq!(why, Refusal::Null { what: "data" });
    let (why, _) = refused(|managed| managed.dl_tensor.shape = std::ptr::null_mut());
    assert_eq!(why, Refusal::Null { what: "shape" });
    let (why, _) = refused(|managed| managed.dl_tensor.byte_offset = 2);
    assert!(matches!(why, Refusal::Alignment { align: 4, .. }));
    let (why, _) = refused(|managed| managed.dl_tensor.byte_offset = u64::MAX);
    assert!(matches!(why, Refusal::Range { .. }));
    let (why, _) = refused(|managed| managed.dl_tensor.device.device_type = 7);
    assert!(matches!(why, Refusal::Device { found } if found.device_type == 7));
    let (why, _) = refused(|managed| managed.dl_tensor.device.device_type = DLDevice::CUDA);
    assert!(matches!(why, Refusal::Device { .. }));
    // SAFETY: the arrays of the tensor are the test's.
    let (why, _) = refused(|managed| unsafe { *managed.dl_tensor.shape = -3 });
    assert_eq!(why, Refusal::Extent { dimension: 0, extent: -3 });
    // SAFETY: as above.
    let (why, _) = refused(|managed| unsafe { *managed.dl_tensor.strides = 3 });
    assert_eq!(why, Refusal::Strides { strides: vec![3, 1] });

    // SAFETY: null is refused.
    let none = unsafe { Tensor::<DLManagedTensor>::from_raw(std::ptr::null_mut()) };
    assert_eq!(none.err(), Some(Refusal::Null { what: "struct" }));
    let (raw, _, ended) = theirs(&[1], None, vec![0.0], |managed| managed.version.major = 2);
    // SAFETY: a tensor of the test's.
    let why = unsafe { Tensor::from_raw(raw) }.err().unwrap();
    assert!(matches!(why, Refusal::Version { found } if found.major == 2));
    assert_eq!(ended.load(SeqCst), 1);
    let error = Error::from(why).to_string();
    assert!(error.contains("DLPack 2.3"), "{error}");
}

/// Random numbers; the same each time.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 11) % n
    }

    /// Mostly small, and sometimes at an edge.
    fn number(&mut self) -> i64 {
        let edges = [i64::MIN, i64::MAX, -1, 1 << 31, 1 << 32, 1 << 61, 1 << 62, i64::MAX / 4 + 1];
        match self.below(4) {
            0 => edges[self.below(edges.len() as u64) as usize],
            1 => self.next() as i64,
            _ => self.below(5) as i64,
        }
    }
}

/// Where the bytes of a description are, by arithmetic that does not overflow; nothing if there is
/// no such memory.
fn bytes_of(tensor: &DLTensor, shape: [i64; 3], strides: Option<[i64; 3]>) -> Option<[i128; 2]> {
    let extents = shape.map(i128::from);
    if extents.iter().any(|extent| *extent < 0) {
        return None;
    }
    let start = tensor.data as usize as i128 + i128::from(tensor.byte_offset);
    if start > i128::from(u64::MAX) {
        return None;
    }
    if extents.contains(&0) {
        return Some([start, start]);
    }
    let most = i128::from(i64::MAX);
    // Two factors below 2^63 fit, and a product beyond that is too large already.
    let mut len = 1;
    for extent in extents {
        len *= extent;
        if len * 4 > most {
            return None;
        }
    }
    let strides =
        strides.map_or([extents[1] * extents[2], extents[2], 1], |all| all.map(i128::from));
    let reach = |dim: usize| (extents[dim] - 1) * strides[dim];
    let low: i128 = (0..3).map(|dim| reach(dim).min(0)).sum();
    let high: i128 = (0..3).map(|dim| reach(dim).max(0)).sum();
    // Beyond this it is no address, whatever the size of an element is.
    if low < -(1 << 66) || high > 1 << 66 {
        return None;
    }
    let [low, high] = [start + low * 4, start + (high + 1) * 4];
    let is_memory = !tensor.data.is_null() && low > 0 && high <= i128::from(u64::MAX);
    (is_memory && high - low <= most).then_some([low, high])
}

/// An attacker's descriptions are told from true ones as by exact arithmetic. No element is read.
#[test]
fn random_descriptions_are_checked_like_exact_arithmetic() {
    let mut dice = Dice(0x5eed);
    let mut found = [0; 2];
    for turn in 0..20_000 {
        let mut shape = [0; 3].map(|_: i64| dice.number());
        let mut strides = [0; 3].map(|_: i64| dice.number());
        let has_strides = dice.below(3) > 0;
        let mut tensor = described(3, F32);
        let address = if dice.below(3) > 0 { dice.below(1 << 40) } else { dice.next() };
        tensor.data = std::ptr::without_provenance_mut::<c_void>(address as usize);
        tensor.byte_offset = if dice.below(3) > 0 { dice.below(64) } else { dice.next() };
        let expected = bytes_of(&tensor, shape, has_strides.then_some(strides));
        tensor.shape = shape.as_mut_ptr();
        if has_strides {
            tensor.strides = strides.as_mut_ptr();
        }
        let mut managed =
            DLManagedTensor { dl_tensor: tensor, manager_ctx: std::ptr::null_mut(), deleter: None };
        // SAFETY: the description is true in its pointers to numbers, and no element is read.
        let tensor = unsafe { Tensor::from_raw(&raw mut managed) }.unwrap();
        let layout = tensor.layout::<f32, 3>();
        let ends = |layout: &Layout<3>| [layout.bytes.0 as i128, layout.bytes.1 as i128];
        assert_eq!(
            layout.as_ref().ok().map(ends),
            expected,
            "{turn}: {tensor:?} {layout:?}",
            tensor = tensor.as_dl()
        );
        found[usize::from(layout.is_ok())] += 1;
    }
    assert!(found.iter().all(|count| *count > 2000), "{found:?}");
}

/// Strides of all signs, steps of 0 among them, beside a walk over the elements.
#[test]
fn copies_follow_the_strides() {
    let (rt, _) = cpu();
    let mut dice = Dice(77);
    let mut compact = 0;
    for turn in 0..300 {
        let shape = [0; 2].map(|_: i64| dice.below(5) as i64);
        let strides = [0; 2].map(|_: i64| dice.below(9) as i64 - 4);
        let data: Vec<f32> = (0..64).map(|k| k as f32).collect();
        let middle = 32;
        let at = |r: i64, c: i64| (middle + r * strides[0] + c * strides[1]) as f32;
        let wanted: Vec<f32> =
            (0..shape[0]).flat_map(|r| (0..shape[1]).map(move |c| at(r, c))).collect();
        let (raw, ..) = theirs(&shape, Some(&strides), data, |managed| {
            managed.dl_tensor.byte_offset = middle as u64 * 4;
        });
        // SAFETY: a tensor of the test's, whose strides stay within 64 elements.
        let tensor = unsafe { Tensor::from_raw(raw) }.unwrap();
        let copied = tensor.to_buffer::<f32, 2>(&rt).unwrap();
        assert_eq!(copied.shape().map(|n| n as i64), shape);
        assert_eq!(copied.to_vec().unwrap(), wanted, "{turn}: {shape:?} by {strides:?}");
        match tensor.import::<f32, 2>(&rt) {
            Ok(x) => {
                compact += 1;
                assert_eq!(x.to_vec().unwrap(), wanted, "{turn}: {shape:?} by {strides:?}");
            }
            Err(refused) => assert!(matches!(refused.refusal, Some(Refusal::Strides { .. }))),
        }
    }
    assert!((50..250).contains(&compact), "{compact}");
}

/// A device of its own memory: the contents are brought there once, and stay there.
#[test]
fn a_loan_has_the_contents_in_the_devices_memory() {
    let sim = SimBackend::builder().devices(2, DeviceSpec::default()).build();
    let rt = Runtime::builder().backend(sim).build().unwrap();
    let devices = rt.devices();
    let q = rt.queue_on("sim:1").unwrap();
    let mut x = rt.buffer_from(&[1u32, 2, 3, 4]).unwrap();
    assert!(matches!(Tensor::export(&x, &devices[0]), Err(Error::Unsupported { .. })));
    let before = x.counters().host_to_device.bytes;
    let loan = devices[0].lend(x.slice([1], [2]).unwrap()).unwrap();
    assert_eq!(x.counters().host_to_device.bytes - before, 16, "a page");
    assert_eq!((loan.shape(), loan.len(), loan.is_mutable()), ([2], 2, false));
    assert_eq!(loan.address(), x.pointer(&devices[0]).unwrap().address().unwrap() + 4);
    // Reads elsewhere go on, and nothing writes or frees.
    let mut y = rt.buffer::<u32, 1>(4).unwrap();
    q.copy(&x, &mut y).unwrap();
    assert_eq!(y.to_vec().unwrap(), [1, 2, 3, 4]);
    assert!(is_held(q.fill(&mut x, 0)));
    assert!(matches!(x.release(&devices[0]), Err(Error::InUse { .. })));
    drop(loan);
    q.fill(&mut x, 6).unwrap();
    let loan = devices[0].lend_mut(&mut x).unwrap();
    assert!(is_held(x.read()));
    let at = std::ptr::with_exposed_provenance_mut::<u32>(loan.address() as usize);
    // SAFETY: a simulated device's memory is the host's; it is lent to be written.
    unsafe { at.add(3).write(at.add(2).read() + 1) };
    drop(loan);
    assert_eq!(x.to_vec().unwrap(), [6, 6, 6, 7]);
    let usm = rt.usm::<u32>(&devices[1], UsmKind::Device, 4).unwrap();
    assert!(matches!(devices[0].lend(&usm), Err(Error::NotAccessible { .. })));
    assert_eq!(devices[1].lend(&usm).unwrap().address(), usm.pointer().address().unwrap());
}

#[test]
fn a_refused_loan_takes_no_memory() {
    let sim = SimBackend::builder().devices(1, DeviceSpec::default()).build();
    let rt = Runtime::builder().backend(sim).build().unwrap();
    let device = &rt.devices()[0];
    let mut x = rt.buffer_from(&[1u32, 2, 3, 4]).unwrap();
    let on_device = |x: &folio::Buffer<u32>| x.allocations().iter().any(|at| at.device.is_some());
    let guard = x.read().unwrap();
    assert!(is_held(device.lend_mut(&mut x)));
    assert!(!on_device(&x));
    drop(device.lend(&x).unwrap());
    assert!(on_device(&x));
    drop(guard);
}

/// A broadcast: one element in more places than there is memory.
#[test]
fn a_copy_that_no_memory_holds_is_refused() {
    let (rt, _) = cpu();
    let (raw, _, count) = theirs(&[1 << 60], Some(&[0]), vec![1.0], |_| ());
    // SAFETY: a tensor of the test's, whose elements are all the first one.
    let tensor = unsafe { Tensor::from_raw(raw) }.unwrap();
    let refused = tensor.to_buffer::<f32, 1>(&rt).unwrap_err();
    assert!(matches!(refused, Error::TooLarge { .. }), "{refused}");
    drop(tensor);
    assert_eq!(count.load(SeqCst), 1);
}
