//! Code of every kind that the backend takes, launched by way of the HAL, where there is a GPU.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

use folio_core::hal::{
    AllocKind, AllocReq, Args, Argument, Backend, CopyRect, Device, FillRect, Geometry,
    HalErrorKind, Head, HostPtr, Image, KernelRef, KernelSource, LaneKind, MemBase, MemRef, Notify,
    Op, Order, Param, Source, Tick,
};
use folio_cuda::CudaBackend;
use std::sync::Arc;

const PTX: &str = "
.version 7.0
.target sm_50
.address_size 64
.visible .entry add(.param .u64 at, .param .u32 n, .param .u32 by) {
    .reg .pred %p<2>;
    .reg .u32 %r<8>;
    .reg .u64 %d<4>;
    ld.param.u64 %d1, [at];
    ld.param.u32 %r1, [n];
    ld.param.u32 %r2, [by];
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mov.u32 %r5, %tid.x;
    mad.lo.u32 %r6, %r3, %r4, %r5;
    setp.ge.u32 %p1, %r6, %r1;
    @%p1 bra END;
    mul.wide.u32 %d2, %r6, 4;
    add.u64 %d3, %d1, %d2;
    ld.global.u32 %r7, [%d3];
    add.u32 %r7, %r7, %r2;
    st.global.u32 [%d3], %r7;
END:
    ret;
}
";

const CUDA_C: &str = "
extern \"C\" __global__ void add(unsigned *at, unsigned n, unsigned by) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) at[i] += by;
}
";

fn open() -> Option<Arc<dyn Device>> {
    let backend = CudaBackend::new();
    if let Err(why) = backend.devices() {
        println!("skipped: cuda: {}", why.reason);
        return None;
    }
    // SAFETY: these tests keep the contract.
    Some(unsafe { backend.open(0, Notify::none()) }.unwrap())
}

fn head(tick: Tick) -> Head<'static> {
    Head { tick, order: Order::AfterPrevious, waits: &[], label: "", timed: false }
}

/// Adds to a part of some memory, by code of one kind, and looks at all of it.
fn adds(device: &Arc<dyn Device>, source: Source<'_>) {
    const N: u32 = 100_003;
    let kernel = device.load(&KernelSource::Opaque { name: "add", source, options: &[] }).unwrap();
    let bytes = u64::from(N) * 4;
    let req = AllocReq {
        kind: AllocKind::Device,
        size: bytes,
        align: 4,
        import: None,
        zeroed: false,
        linked: false,
        exported: false,
        label: "",
    };
    let memory = device.usm().alloc(&req).unwrap();
    let lane = device.lane(LaneKind::Compute, 0).unwrap();
    let mem = MemRef { base: MemBase::Device { device: 0, handle: memory.handle }, offset: 0 };
    let fill = FillRect { dst: mem, pitch: [bytes; 2], extent: [1, 1, bytes] };
    lane.enqueue(&head(1), Op::Fill(&[fill], &5u32.to_ne_bytes())).unwrap();
    // From element 3 on, as if the argument were a slice.
    let param = Param {
        mem,
        size: 4,
        write: true,
        dims: [1, 1, N as usize],
        origin: [0, 0, 3],
        extent: [1, 1, N as usize - 3],
        index: [0; 3],
        shape: [1, 1, N as usize - 3],
    };
    let geometry = Geometry::new(1, [1, 1, N as usize - 3]);
    let blob: Vec<u8> = [u64::from(N - 3), 7].into_iter().flat_map(u64::to_le_bytes).collect();
    let params = [param];
    let arguments = [Argument::Memory(0), Argument::Value(4), Argument::Value(4)];
    let args = Args { blob: &blob, arguments: &arguments, ..Args::new(&params) };
    device.check(kernel, &geometry, &arguments).unwrap();
    let empty = Args { arguments: &arguments, ..Args::new(&params) };
    let wrong = lane.enqueue(&head(2), Op::Launch(KernelRef::Loaded(kernel), &geometry, empty));
    assert!(matches!(wrong.unwrap_err().kind, HalErrorKind::Arguments), "scalars are missing");
    lane.enqueue(&head(3), Op::Launch(KernelRef::Loaded(kernel), &geometry, args)).unwrap();
    let mut out = vec![0u32; N as usize];
    let to = MemRef { base: MemBase::Host(HostPtr(out.as_mut_ptr().cast())), offset: 0 };
    let pitch = [bytes; 2];
    let copy =
        CopyRect { src: mem, src_pitch: pitch, dst: to, dst_pitch: pitch, extent: [1, 1, bytes] };
    lane.enqueue(&head(4), Op::Copy(&[copy])).unwrap();
    assert!(lane.wait(4, None).unwrap());
    assert_eq!(out[..3], [5; 3]);
    assert!(out[3..].iter().all(|n| *n == 12));
    device.usm().free(memory.handle);
    // Every operation that names it has ended. Kernels that are loaded beside it stay.
    let beside = device.load(&KernelSource::Opaque { name: "add", source, options: &[] }).unwrap();
    device.unload(kernel);
    device.check(beside, &geometry, &arguments).unwrap();
}

#[test]
fn cuda_runs_ptx() {
    if let Some(device) = open() {
        adds(&device, Source::Ptx(PTX));
    }
}

#[test]
fn cuda_compiles_cuda_c() {
    if let Some(device) = open() {
        adds(&device, Source::CudaC(CUDA_C));
    }
}

#[test]
fn cuda_says_what_is_wrong_with_code() {
    let Some(device) = open() else { return };
    for (name, source, said) in [
        ("add", Source::CudaC("__global__ void add(int *x) { y = 1; }"), "\"y\" is undefined"),
        ("sub", Source::CudaC(CUDA_C), "there is no kernel `sub`"),
        ("add", Source::Ptx(".version 7.0\n.target sm_50\nnonsense"), "ptxas"),
        ("add", Source::Ptx("\x7fELF is an image"), "no PTX"),
        ("a\0b", Source::CudaC(CUDA_C), "zero byte"),
        // SAFETY: what is no image is refused before the driver sees it.
        ("add", Source::CudaBinary(unsafe { Image::new(b"no cubin") }), "neither a cubin nor"),
    ] {
        let error = device.load(&KernelSource::Opaque { name, source, options: &[] }).unwrap_err();
        assert!(matches!(error.kind, HalErrorKind::Build), "{error}");
        assert!(error.message.contains(said), "{error}");
    }
}
