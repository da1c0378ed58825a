//! Modules of SPIR-V that others have made: what is wrong with one is told before the driver is
//! given it, and what is wrong with a launch before it is recorded.

use super::{alloc, found, open, param, run};
use crate::VulkanBackend;
use crate::device::VulkanDevice;
use folio_core::hal::{
    AllocKind, Args, Argument, Device, Geometry, HalError, HalErrorKind, Image, KernelHandle,
    KernelRef, KernelSource, LaneKind, Op, Source,
};
use folio_kernel::emit::spirv::Capabilities;

/// Numbers of instructions.
const CAPABILITY: u32 = 17;
const MEMORY_MODEL: u32 = 14;
const ENTRY_POINT: u32 = 15;
const EXECUTION_MODE: u32 = 16;
const EXECUTION_MODE_ID: u32 = 331;
const FUNCTION_END: u32 = 56;
const VARIABLE: u32 = 59;

type Code = Vec<Vec<u32>>;

fn op(code: u32, operands: &[u32]) -> Vec<u32> {
    let mut words = vec![(operands.len() as u32 + 1) << 16 | code];
    words.extend(operands);
    words
}

/// `main`, as a word and its end.
const MAIN: [u32; 2] = [u32::from_le_bytes(*b"main"), 0];

/// `*out = value`, whose arguments are a struct of an address and a number.
fn stores() -> Code {
    let [push, x, y, z, main] = [1, 2, 3, 4, 5];
    let [void, call, u32, u64, block, block_pointer, pushed, pushed_pointer] =
        [6, 7, 8, 9, 10, 11, 12, 13];
    let [to_block, to_u64, to_u32, zero, one, label] = [14, 15, 16, 17, 18, 19];
    let [p0, p1, p2, out, at, p3, value] = [20, 21, 22, 23, 24, 25, 26];
    const PHYSICAL: u32 = 5349;
    vec![
        op(CAPABILITY, &[1]),
        op(CAPABILITY, &[11]),
        op(CAPABILITY, &[5347]),
        op(CAPABILITY, &[5345]),
        op(MEMORY_MODEL, &[5348, 3]),
        op(ENTRY_POINT, &[5, main, MAIN[0], MAIN[1], push]),
        op(EXECUTION_MODE_ID, &[main, 38, x, y, z]),
        op(71, &[x, 1, 0]),
        op(71, &[y, 1, 1]),
        op(71, &[z, 1, 2]),
        op(71, &[block, 2]),
        op(72, &[block, 0, 35, 0]),
        op(72, &[block, 1, 35, 8]),
        op(71, &[pushed, 2]),
        op(72, &[pushed, 0, 35, 0]),
        op(19, &[void]),
        op(33, &[call, void]),
        op(21, &[u32, 32, 0]),
        op(21, &[u64, 64, 0]),
        op(30, &[block, u64, u32]),
        op(32, &[block_pointer, PHYSICAL, block]),
        op(30, &[pushed, block_pointer]),
        op(32, &[pushed_pointer, 9, pushed]),
        op(32, &[to_block, 9, block_pointer]),
        op(32, &[to_u64, PHYSICAL, u64]),
        op(32, &[to_u32, PHYSICAL, u32]),
        op(50, &[u32, x, 1]),
        op(50, &[u32, y, 1]),
        op(50, &[u32, z, 1]),
        op(43, &[u32, zero, 0]),
        op(43, &[u32, one, 1]),
        op(VARIABLE, &[pushed_pointer, push, 9]),
        op(54, &[void, main, 0, call]),
        op(248, &[label]),
        op(65, &[to_block, p0, push, zero]),
        op(61, &[block_pointer, p1, p0]),
        op(65, &[to_u64, p2, p1, zero]),
        op(61, &[u64, out, p2, 2, 8]),
        op(120, &[to_u32, at, out]),
        op(65, &[to_u32, p3, p1, one]),
        op(61, &[u32, value, p3, 2, 4]),
        op(62, &[at, value, 2, 4]),
        op(253, &[]),
        op(56, &[]),
    ]
}

fn bytes_of(head: [u32; 5], code: &Code) -> Vec<u8> {
    let words = head.iter().chain(code.iter().flatten());
    words.flat_map(|word| word.to_le_bytes()).collect()
}

const HEAD: [u32; 5] = [0x0723_0203, 0x0001_0600, 0, 27, 0];

fn load(device: &VulkanDevice, name: &str, bytes: &[u8]) -> Result<KernelHandle, HalError> {
    // SAFETY: a valid module, or one that is refused before the driver is given it.
    let source = Source::SpirV(unsafe { Image::new(bytes) });
    device.load(&KernelSource::Opaque { name, source, options: &[] })
}

/// The module with some instructions of a kind in place of the first such.
fn with(code: u32, others: &[Vec<u32>]) -> Code {
    let mut all = stores();
    let at = all.iter().position(|own| own[0] & 0xffff == code).unwrap();
    all.splice(at..=at, others.iter().cloned());
    all
}

/// KRN-05: what is no module, or not one for this device, is an error that names the kernel and
/// what is wrong. The driver is not given it: the validation layer would speak.
#[test]
fn opaque_modules_of_vulkan_that_are_wrong_are_refused() {
    let Some((found, messages)) = found() else { return };
    let device = open(&found);
    let good = bytes_of(HEAD, &stores());
    let head = |at: usize, word: u32| {
        let mut head = HEAD;
        head[at] = word;
        bytes_of(head, &stores())
    };
    let module = |code: u32, others: &[Vec<u32>]| bytes_of(HEAD, &with(code, others));
    let other_end: Vec<u8> = good.chunks(4).flat_map(|word| word.iter().rev().copied()).collect();
    // An instruction whose length leads beyond the end; one of no length.
    let long = module(FUNCTION_END, &[vec![9 << 16 | FUNCTION_END]]);
    let none = module(FUNCTION_END, &[vec![FUNCTION_END]]);
    let endless = module(ENTRY_POINT, &[op(ENTRY_POINT, &[5, 5, MAIN[0]])]);
    let short = module(CAPABILITY, &[op(CAPABILITY, &[])]);
    let entry = |model: u32| op(ENTRY_POINT, &[model, 5, MAIN[0], MAIN[1], 1]);
    // A variable that a descriptor is for, of the class Uniform.
    let uniform = op(VARIABLE, &[13, 27, 2]);
    let used = op(ENTRY_POINT, &[5, 5, MAIN[0], MAIN[1], 1, 27]);
    let mut described = with(ENTRY_POINT, &[used]);
    let at = described.iter().position(|own| own[0] & 0xffff == VARIABLE).unwrap();
    described.insert(at, uniform);
    // A second member of what is pushed.
    let wide = |own: &Vec<u32>| own[..] == op(30, &[12, 11]);
    let mut pushed = stores();
    let at = pushed.iter().position(wide).unwrap();
    pushed[at] = op(30, &[12, 11, 9]);
    pushed.insert(15, op(72, &[12, 1, 35, 8]));
    let cases: [(Vec<u8>, &str); 22] = [
        (vec![], "no head"),
        (good[..16].to_vec(), "no head"),
        (good[..good.len() - 3].to_vec(), "no whole words"),
        (good[..good.len() - 12].to_vec(), "ends at word"),
        (good[..good.len() - 4].to_vec(), "the last function does not end"),
        (module(FUNCTION_END, &[vec![1 << 16 | FUNCTION_END; 2]]), "function before word"),
        (module(253, &[op(253, &[]), op(54, &[6, 27, 0, 7])]), "function before word"),
        (module(ENTRY_POINT, &[op(ENTRY_POINT, &[5, 6, MAIN[0], MAIN[1], 1])]), "no function"),
        (head(0, 0x0723_0204), "no SPIR-V"),
        (other_end, "other byte order"),
        (head(1, 0x0001_0700), "SPIR-V 1.7"),
        (head(1, 0x0002_0000), "SPIR-V 2.0"),
        (head(3, 0), "damaged"),
        (head(3, u32::MAX), "damaged"),
        (long, "ends at word"),
        (none, "ends at word"),
        (endless, "too short"),
        (short, "too short"),
        (module(ENTRY_POINT, &[entry(4)]), "does not compute"),
        (module(MEMORY_MODEL, &[op(MEMORY_MODEL, &[2, 2])]), "models [2, 2]"),
        (bytes_of(HEAD, &described), "class Uniform"),
        (bytes_of(HEAD, &pushed), "push constants of 16 bytes"),
    ];
    for (bytes, said) in cases {
        let error = load(&device, "main", &bytes).unwrap_err();
        assert!(matches!(error.kind, HalErrorKind::Build), "{said}: {error:?}");
        assert!(
            error.message.contains(said) && error.message.contains("`main`"),
            "{said}: {error}"
        );
    }
    let error = load(&device, "mains", &good).unwrap_err();
    assert!(matches!(error.kind, HalErrorKind::Build), "{error:?}");
    assert!(error.message.contains("there are [\"main\"]"), "{error}");
    // Such as no device of Folio's is asked for, such as OpenCL's, and one that is none.
    for (capability, name) in [(4472, "RayQueryKHR"), (6, "Kernel"), (999_999, "999999")] {
        let one = [op(CAPABILITY, &[1]), op(CAPABILITY, &[capability])];
        let error = load(&device, "main", &module(CAPABILITY, &one)).unwrap_err();
        assert!(matches!(error.kind, HalErrorKind::Unsupported), "{error:?}");
        for part in [name, "`main`", &found.info.name] {
            assert!(error.message.contains(part), "{part}: {error}");
        }
    }
    device.unload(load(&device, "main", &good).unwrap());
    assert!(messages.all().is_empty(), "{:?}", messages.all());
}

/// KRN-06: the same of a feature that is masked.
#[test]
fn masked_features_of_vulkan_are_typed_errors_of_opaque_modules() {
    type Mask = fn(&mut Capabilities);
    let cases: [(Mask, u32, &str); 4] = [
        (|m| m.base.f64 = false, 10, "Float64"),
        (|m| m.int8 = false, 39, "Int8"),
        (|m| m.int16 = false, 22, "Int16"),
        (|m| m.base.atomics64 = false, 12, "Int64Atomics"),
    ];
    for (mask, capability, name) in cases {
        let one = [op(CAPABILITY, &[1]), op(CAPABILITY, &[capability])];
        let bytes = bytes_of(HEAD, &with(CAPABILITY, &one));
        let mut limit = Capabilities::ALL;
        mask(&mut limit);
        let backend = VulkanBackend::new().validated().limited_to(limit);
        let Ok([first, ..]) = backend.found() else {
            return println!("skipped: vulkan: no device");
        };
        let error = load(&open(first), "main", &bytes).unwrap_err();
        assert!(matches!(error.kind, HalErrorKind::Unsupported), "{error:?}");
        assert!(error.message.contains(name), "{error}");
        assert!(backend.messages().all().is_empty(), "{:?}", backend.messages().all());
    }
}

/// KRN-05: a launch that passes fewer bytes than the module reads, or other groups than it has, is
/// refused where it is submitted and where it is recorded. A launch that is right computes.
#[test]
fn opaque_launches_of_vulkan_fit_their_modules() {
    let Some((found, messages)) = found() else { return };
    let device = open(&found);
    let sized = with(EXECUTION_MODE_ID, &[op(EXECUTION_MODE, &[5, 17, 4, 2, 1])]);
    let made = alloc(&device, AllocKind::Host, 64);
    let params = [param(&made, 16, 4, true)];
    let right = [Argument::Memory(0), Argument::Value(4)];
    let blob = 0x0102_0304u64.to_le_bytes();
    let launch = |handle: KernelHandle, arguments: &[Argument], group: Option<[usize; 3]>| {
        let geometry = Geometry { group, ..Geometry::new(2, [1, 2, 4]) };
        let args = Args { blob: &blob, arguments, ..Args::new(&params) };
        let checked = device.check(handle, &geometry, arguments);
        let lane = device.lane(LaneKind::Compute, 0).unwrap();
        let failures = run(&lane, &[Op::Launch(KernelRef::Loaded(handle), &geometry, args)]);
        // The lane does what the check lets through, and refuses what it does not.
        let recorded = failures.into_iter().next().map_or(Ok(()), |(_, error)| Err(error));
        assert_eq!(checked.is_ok(), recorded.is_ok(), "{checked:?}, {recorded:?}");
        checked
    };
    let number = || {
        // SAFETY: the allocation has a number there, and no lane is under way.
        unsafe { made.host.unwrap().0.cast::<u32>().read_volatile() }
    };
    let any = load(&device, "main", &bytes_of(HEAD, &stores())).unwrap();
    let fixed = load(&device, "main", &bytes_of(HEAD, &sized)).unwrap();
    let few = [Argument::Memory(0)];
    let no_groups = [1, 1, 8];
    for (handle, arguments, group, said) in [
        (any, &few[..], None, "arguments of 8 bytes, of which it reads 12"),
        (any, &[], None, "arguments of 0 bytes, of which it reads 12"),
        (any, &[Argument::Memory(0), Argument::Local(8)], None, "local memory"),
        (fixed, &right, Some(no_groups), "its own are [1, 2, 4]"),
    ] {
        let error = launch(handle, arguments, group).unwrap_err();
        assert!(matches!(error.kind, HalErrorKind::Arguments), "{error:?}");
        assert!(error.message.contains(said) && error.message.contains("`main`"), "{error}");
        assert_eq!(number(), 0, "{said}");
    }
    for (handle, group) in [(any, None), (any, Some(no_groups)), (fixed, None)] {
        launch(handle, &right, group).unwrap();
        assert_eq!(number(), 0x0102_0304);
        // SAFETY: as above.
        unsafe { made.host.unwrap().0.cast::<u32>().write_volatile(0) };
    }
    launch(fixed, &right, Some([1, 2, 4])).unwrap();
    assert_eq!(number(), 0x0102_0304);
    assert!(messages.all().is_empty(), "{:?}", messages.all());
}
