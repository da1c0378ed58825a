//! Opaque kernels under the engine: in OpenCL C, with shared virtual memory and without, and in
//! CUDA C where there is a GPU. The kernels are the same text, behind a few macros.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

use folio::prelude::*;
use folio::{
    Error, UsmKind,
    error::GraphError,
    graph::FinalizeOptions,
    memory::Links,
    opaque::{Image, OpaqueArg, OpaqueKernel, Source},
};
use folio_core::hal::{Backend, HalErrorKind};
use folio_cpu::CpuBackend;
use folio_cuda::CudaBackend;
use folio_layers::Validate;
use folio_opencl::{Cache, OpenClBackend};
use folio_sim::{DeviceSpec, SimBackend};
use std::sync::Arc;

// SAFETY: nobody reads it: it is refused by devices for which it is not.
const NO_IMAGE: Image<'_> = unsafe { Image::new(&[]) };

const OPENCL_C: &str = "
#define KERNEL __kernel
#define GLOBAL __global
#define AT(d) ((unsigned)get_global_id(d))
#define ITEM get_local_id(0)
#define GROUP get_group_id(0)
#define ITEMS get_local_size(0)
#define TOGETHER barrier(CLK_LOCAL_MEM_FENCE)
#define AND_LOCAL , __local unsigned *room
#define LOCAL
";

const CUDA_C: &str = "
#define KERNEL extern \"C\" __global__
#define GLOBAL
#define AT(d) (d ? blockIdx.y * blockDim.y + threadIdx.y : blockIdx.x * blockDim.x + threadIdx.x)
#define ITEM threadIdx.x
#define GROUP blockIdx.x
#define ITEMS blockDim.x
#define TOGETHER __syncthreads()
#define AND_LOCAL
#define LOCAL extern __shared__ unsigned room[];
";

const KERNELS: &str = "
typedef struct { float a; int b; } Both;

KERNEL void affine(unsigned n, GLOBAL const float *x, Both by, GLOBAL float *y, unsigned char c) {
    unsigned i = AT(0);
    if (i < n) y[i] = by.a * x[i] + by.b + c;
}

KERNEL void mark(GLOBAL int *all, unsigned pitch, unsigned row, unsigned column) {
    all[(row + AT(1)) * pitch + column + AT(0)] += 100 * AT(1) + AT(0);
}

KERNEL void sums(GLOBAL const unsigned *x, GLOBAL unsigned *sum AND_LOCAL) {
    LOCAL
    room[ITEM] = x[AT(0)];
    for (unsigned s = ITEMS / 2; s > 0; s /= 2) {
        TOGETHER;
        if (ITEM < s) room[ITEM] += room[ITEM + s];
    }
    if (ITEM == 0) sum[GROUP] = room[0];
}
";

/// A backend that compiles a language.
struct Language {
    backend: fn() -> Box<dyn Backend>,
    text: String,
    source: for<'t> fn(&'t str) -> Source<'t>,
}

impl Language {
    fn opencl() -> Language {
        let text = format!("{OPENCL_C}{KERNELS}");
        Language {
            backend: || Box::new(OpenClBackend::new().with_all_svm()),
            text,
            source: |t| Source::OpenClC(t),
        }
    }

    fn opencl_without_svm() -> Language {
        Language { backend: || Box::new(OpenClBackend::without_svm()), ..Language::opencl() }
    }

    fn cuda() -> Language {
        let text = format!("{CUDA_C}{KERNELS}");
        Language { backend: || Box::new(CudaBackend::new()), text, source: |t| Source::CudaC(t) }
    }

    /// Runs a test in a runtime with the CPU beside the device, bare and watched; not at all where
    /// there is no device.
    #[track_caller]
    fn each(&self, test: impl Fn(&Language, &Runtime)) {
        // What is moved is known, and how memory is addressed.
        self.each_with(Links::Off, test);
    }

    #[track_caller]
    fn each_with(&self, links: Links, test: impl Fn(&Language, &Runtime)) {
        if let Err(why) = (self.backend)().devices() {
            println!("skipped: {}: {}", (self.backend)().name(), why.reason);
            return;
        }
        let validate = Validate::new();
        let report = validate.report();
        let bare: Arc<dyn Backend> = Arc::from((self.backend)());
        let watched = Arc::new(folio_layers::Layer::new(validate, bare.clone()));
        for backend in [bare, watched] {
            let cpu = CpuBackend::builder().threads(1).build().unwrap();
            let builder = Runtime::builder().shared_backend(backend).backend(cpu);
            let rt = builder.links(links).build().unwrap();
            test(self, &rt);
            rt.wait().unwrap();
        }
        assert!(report.is_silent(), "{report:?}");
    }

    fn load(&self, rt: &Runtime, name: &str) -> OpaqueKernel {
        rt.devices()[0].load((self.source)(&self.text), name).unwrap()
    }
}

/// Submits a command whose description cannot fail by itself.
fn submit(q: &Queue, build: impl FnOnce(&mut CommandGroup)) -> folio::Result<Event> {
    q.submit(|g| {
        build(g);
        Ok(())
    })
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Both {
    a: f32,
    b: i32,
}

#[kernel]
fn twice(i: Item, x: InOut<f32>) {
    x[i] = x[i] * 2.0;
}

/// scalars of any size, structs among them, in any place; data goes where it is needed, and no
/// further.
fn between_other_commands(language: &Language, rt: &Runtime) {
    let (gpu, cpu) = (rt.queue_on(&rt.devices()[0]).unwrap(), rt.queue_on("cpu").unwrap());
    let affine = language.load(rt, "affine");
    assert_eq!((affine.name(), affine.device().name()), ("affine", rt.devices()[0].name()));
    let n = 1000;
    let mut x = rt.buffer_from((0..n).map(|k| k as f32).collect::<Vec<_>>()).unwrap();
    let mut y = rt.buffer::<f32, 1>(n).unwrap();
    for turn in 0..3 {
        cpu.run(n, twice(&mut x)).unwrap();
        submit(&gpu, |g| {
            let (x, y) = (g.read(&x), g.write(&mut y));
            let by = OpaqueArg::value(Both { a: 0.5, b: -3 });
            let n = OpaqueArg::value(n as u32);
            let args = [n, x.into(), by, y.into(), OpaqueArg::value(turn as u8)];
            // SAFETY: the kernel's parameters; it reads `x` and writes `y` below `n`.
            unsafe { g.run_opaque(1024, &affine, args) };
        })
        .unwrap();
        gpu.run(n, twice(&mut y)).unwrap();
    }
    // Each turn the CPU's `x` came; `y` never moved.
    let moved = rt.counters();
    assert_eq!(moved.host_to_device.bytes, 3 * 4 * n as u64, "{moved:?}");
    let expected: Vec<f32> = (0..n).map(|k| 2.0 * (0.5 * 8.0 * k as f32 - 3.0 + 2.0)).collect();
    assert_eq!(y.to_vec().unwrap(), expected);
}

/// a kernel finds its buffer where it begins, whatever part is accessed; what is not accessed
/// is neither moved nor lost.
fn on_parts(language: &Language, rt: &Runtime) {
    let (gpu, cpu) = (rt.queue_on(&rt.devices()[0]).unwrap(), rt.queue_on("cpu").unwrap());
    let mark = language.load(rt, "mark");
    let options = BufferOptions::new().page([2, 4]);
    let mut all = rt.buffer_with((&[1i32; 48], [6, 8]), options).unwrap();
    let before = rt.counters().host_to_device.bytes;
    submit(&gpu, |g| {
        let part = g.read_write(all.slice_mut([2, 4], [2, 4]).unwrap());
        let values = [8u32, 2, 4].map(OpaqueArg::value);
        let args = [part.into()].into_iter().chain(values);
        // SAFETY: the kernel's parameters; each item updates its own element of the part.
        unsafe { g.run_opaque(folio::Items::from([2, 4]).groups([1, 4]), &mark, args) };
    })
    .unwrap();
    assert_eq!(rt.counters().host_to_device.bytes - before, 4 * 8);
    submit(&cpu, |g| g.fill(all.slice_mut([0, 0], [1, 8]).unwrap(), 7)).unwrap();
    let expected = |k: usize| match (k / 8, k % 8) {
        (0, _) => 7,
        (row @ 2..4, column @ 4..8) => 1 + 100 * (row as i32 - 2) + column as i32 - 4,
        _ => 1,
    };
    assert_eq!(all.to_vec().unwrap(), (0..48).map(expected).collect::<Vec<_>>());
}

/// groups, and memory that they share.
fn with_local_memory(language: &Language, rt: &Runtime) {
    let q = rt.queue_on(&rt.devices()[0]).unwrap();
    let sums = language.load(rt, "sums");
    let x = rt.buffer_from((0..256).collect::<Vec<u32>>()).unwrap();
    for group in [32usize, 64] {
        let mut sum = rt.buffer::<u32, 1>(256 / group).unwrap();
        submit(&q, |g| {
            let (x, sum) = (g.read(&x), g.discard(&mut sum));
            let args = [x.into(), sum.into(), OpaqueArg::local(4 * group)];
            // SAFETY: the kernel's parameters; groups of a power of two, with a word for each item.
            unsafe { g.run_opaque(folio::Items::from(256).groups([group]), &sums, args) };
        })
        .unwrap();
        let expected = (0..256).collect::<Vec<u32>>();
        let expected: Vec<u32> = expected.chunks(group).map(|of| of.iter().sum()).collect();
        assert_eq!(sum.to_vec().unwrap(), expected);
    }
}

/// Pointers, into USM and into buffers, in the order that the caller sees to.
fn on_pointers(language: &Language, rt: &Runtime) {
    let device = &rt.devices()[0];
    let q = rt.queue_on(device).unwrap();
    let affine = language.load(rt, "affine");
    let mut x = rt.usm::<f32>(device, UsmKind::Device, 64).unwrap();
    let y = rt.usm::<f32>(device, UsmKind::Device, 2048).unwrap();
    let filled = submit(&q, |g| g.fill(&mut x, 3.0)).unwrap();
    let write = |from: usize| {
        let to = y.pointer().offset(4 * from).unwrap();
        let done = submit(&q, |g| {
            g.after(&filled);
            let by = OpaqueArg::value(Both { a: 2.0, b: 1 });
            let n = OpaqueArg::value(32u32);
            let args = [n, x.pointer().into(), by, to.into(), OpaqueArg::value(0u8)];
            // SAFETY: the kernel's parameters; 32 elements at each pointer, used by nobody else
            // until the event.
            unsafe { g.run_opaque(32, &affine, args) };
        });
        done.unwrap().wait()
    };
    // Where parts of memory begin on any device, and beside that.
    let halfway = 1024;
    write(halfway).unwrap();
    let beside = write(3);
    if y.pointer().address().is_some() {
        beside.unwrap();
    } else {
        let said = beside.unwrap_err().to_string();
        assert!(said.contains("12 bytes into memory that has no address"), "{said}");
    }
    let mut out = rt.buffer::<f32, 1>(2048).unwrap();
    submit(&q, |g| g.copy(&y, &mut out)).unwrap();
    let out = out.to_vec().unwrap();
    let has = y.pointer().address().is_some();
    for (at, v) in out.iter().enumerate() {
        let written = (halfway..halfway + 32).contains(&at) || has && (3..35).contains(&at);
        assert_eq!(*v, if written { 7.0 } else { 0.0 }, "{at}");
    }
    let gone = y.pointer();
    drop(y);
    let args = [OpaqueArg::value(1u32), gone.into()];
    // SAFETY: not launched.
    let refused = submit(&q, |g| unsafe { g.run_opaque(1, &affine, args) });
    assert!(matches!(refused, Err(Error::Freed { .. } | Error::Device { .. })), "{refused:?}");
}

/// Linked buffers by their accesses, then by their addresses, then by accesses again.
fn on_linked_buffers(language: &Language, rt: &Runtime) {
    let device = &rt.devices()[0];
    let q = rt.queue_on(device).unwrap();
    let affine = language.load(rt, "affine");
    let args = |x: OpaqueArg, y: OpaqueArg, c: u8| {
        let by = OpaqueArg::value(Both { a: 2.0, b: 1 });
        [OpaqueArg::value(64u32), x, by, y, OpaqueArg::value(c)]
    };
    let by_access = |x: &Buffer<f32>, y: &mut Buffer<f32>| {
        let done = submit(&q, |g| {
            let (x, y) = (g.read(x), g.write(y));
            // SAFETY: the kernel's parameters; it reads `x` and writes `y`, of 64 elements.
            unsafe { g.run_opaque(64, &affine, args(x.into(), y.into(), 0)) };
        });
        done.unwrap();
    };
    let mut x = rt.buffer_from(&[3.0f32; 64]).unwrap();
    let mut y = rt.buffer::<f32, 1>(64).unwrap();
    by_access(&x, &mut y);
    assert_eq!(y.to_vec().unwrap(), [7.0; 64]);
    let (Ok(from), Ok(to)) = (x.pointer(device), y.pointer(device)) else {
        return println!("skipped: opaque addresses: the device's memory has none");
    };
    let ready = [x.written().unwrap(), y.written().unwrap()];
    let done = submit(&q, |g| {
        g.after(&ready[0]).after(&ready[1]);
        // SAFETY: as above, and nothing else uses the two until the event.
        unsafe { g.run_opaque(64, &affine, args(from.into(), to.into(), 5)) };
    });
    done.unwrap().wait().unwrap();
    // SAFETY: the kernel has written all of it, and nothing else uses the buffer.
    unsafe { y.assume_written([0], [64], device) }.unwrap();
    assert_eq!(y.to_vec().unwrap(), [12.0; 64]);
    by_access(&y, &mut x);
    assert_eq!(x.to_vec().unwrap(), [25.0; 64]);
    assert_eq!(x.pointer(device).unwrap().address(), from.address());
}

/// what is wrong is an error of its own kind, and nothing has happened.
fn refused(language: &Language, rt: &Runtime) {
    let [device, .., cpu] = &rt.devices()[..] else { unreachable!("devices and the CPU") };
    let source = (language.source)(&language.text);
    let none = device.load(source, "nobody").unwrap_err();
    let said = none.to_string();
    assert!(
        matches!(&none, Error::Device { cause, .. } if matches!(cause.kind, HalErrorKind::Build))
    );
    assert!(said.contains("there is no kernel `nobody`") && said.contains(device.name()), "{said}");
    let wrong = format!("{}\nKERNEL void bad() {{ oh no }}", language.text);
    let log = device.load((language.source)(&wrong), "bad").unwrap_err();
    assert!(
        matches!(&log, Error::Device { cause, .. } if matches!(cause.kind, HalErrorKind::Build))
    );
    assert!(log.to_string().contains("oh"), "the compiler's log: {log}");
    let cut = format!("{}\0 what comes behind it is not read", language.text);
    for text in ["", "\0", &cut] {
        let error = device.load((language.source)(text), "affine").unwrap_err();
        let kind = |error: &Error| match error {
            Error::Device { cause, .. } => Some(cause.kind.clone()),
            _ => None,
        };
        assert!(matches!(kind(&error), Some(HalErrorKind::Build)), "{error}");
        assert_eq!(error.to_string().contains("zero byte"), !text.is_empty(), "{text:?}: {error}");
    }
    let other = match source {
        Source::OpenClC(_) => Source::CudaC(CUDA_C),
        _ => Source::OpenClC(OPENCL_C),
    };
    for (device, source) in [(device, other), (device, Source::CudaBinary(NO_IMAGE)), (cpu, source)]
    {
        if matches!((device.name(), source), ("cuda:0", Source::CudaBinary(_))) {
            continue;
        }
        let error = device.load(source, "affine").unwrap_err();
        assert!(matches!(&error, Error::Unsupported { .. }), "{error}");
        assert!(error.to_string().contains(source.language()), "{error}");
    }
    let q = rt.queue_on(device).unwrap();
    let sums = language.load(rt, "sums");
    let (x, mut sum) = (rt.buffer_from(&[1u32; 64]).unwrap(), rt.buffer_from(&[9u32; 2]).unwrap());
    let before = rt.counters();
    type Make = fn(OpaqueArg, OpaqueArg) -> Vec<OpaqueArg>;
    let launches: [(usize, usize, Make, &str); 8] = [
        (64, 32, |x, _| vec![x, OpaqueArg::local(128)], "argument"),
        (64, 32, |x, s| vec![x, s, OpaqueArg::local(128), OpaqueArg::value(1u8)], "argument"),
        (64, 32, |x, _| vec![x, OpaqueArg::value(1u32), OpaqueArg::local(128)], "kernel"),
        (64, 32, |x, s| vec![x, s, OpaqueArg::local(1 << 30)], "memory"),
        (64, 32, |x, s| vec![x, s, OpaqueArg::local(1 << 33)], "more than any kernel's"),
        (64, 32, |x, _| vec![x; 1 << 17], "comes later than any kernel's"),
        (64, 3, |x, s| vec![x, s, OpaqueArg::local(128)], "does not divide"),
        (1 << 20, 1 << 16, |x, s| vec![x, s, OpaqueArg::local(128)], "65536"),
    ];
    for (items, group, make, said) in launches {
        let error = submit(&q, |g| {
            let args = make(g.read(&x).into(), g.write(&mut sum).into());
            // SAFETY: refused.
            unsafe { g.run_opaque(folio::Items::from(items).groups([group]), &sums, args) };
        });
        let error = error.unwrap_err().to_string();
        assert!(error.contains(said) && error.contains("sums"), "{said}: {error}");
    }
    let affine = language.load(rt, "affine");
    let size = submit(&q, |g| {
        let by = OpaqueArg::value(1u32);
        let args = [by.clone(), g.read(&x).into(), by.clone(), g.write(&mut sum).into(), by];
        // SAFETY: refused: the third takes 8 bytes.
        unsafe { g.run_opaque(64, &affine, args) };
    });
    let size = size.unwrap_err();
    let arguments = |error: &Error| matches!(error, Error::Device { cause, .. } if matches!(cause.kind, HalErrorKind::Arguments));
    assert!(arguments(&size), "{size}");
    let place = submit(&rt.queue_on(cpu).unwrap(), |g| {
        // SAFETY: refused.
        unsafe { g.run_opaque(64, &sums, []) };
    });
    assert!(matches!(place, Err(Error::Unsupported { .. })), "{place:?}");
    let offset = submit(&q, |g| {
        // SAFETY: refused.
        unsafe { g.run_opaque(1..64, &sums, []) };
    });
    assert!(matches!(offset, Err(Error::GroupSize { .. })), "{offset:?}");
    let twins = Runtime::builder().backend(CpuBackend::builder().build().unwrap()).build().unwrap();
    let foreign = submit(&twins.queue().unwrap(), |g| {
        // SAFETY: refused.
        unsafe { g.run_opaque(64, &sums, []) };
    });
    assert!(matches!(foreign, Err(Error::WrongRuntime { .. })), "{foreign:?}");
    assert_eq!(rt.counters(), before);
    assert_eq!(sum.to_vec().unwrap(), [9, 9]);
}

const TESTS: [fn(&Language, &Runtime); 6] =
    [between_other_commands, on_parts, with_local_memory, on_pointers, refused, in_fused_graphs];

/// FUSE-01, FUSE-04: a kernel of the driver's between two that could be one launch.
fn in_fused_graphs(language: &Language, rt: &Runtime) {
    let device = &rt.devices()[0];
    let q = rt.queue_on(device).unwrap();
    let affine = language.load(rt, "affine");
    let n = 100;
    let x = rt.buffer_from((0..n).map(|k| k as f32).collect::<Vec<_>>()).unwrap().into_shared();
    let y = rt.buffer::<f32, 1>(n).unwrap().into_shared();
    let graph = rt.graph(device).unwrap();
    graph.add(|g| g.run(n, twice(&x))).unwrap();
    graph
        .add(|g| {
            let (x, y) = (g.read(&x), g.write(&y));
            let by = OpaqueArg::value(Both { a: 0.5, b: -3 });
            let n = OpaqueArg::value(n as u32);
            let args = [n, x.into(), by, y.into(), OpaqueArg::value(1u8)];
            // SAFETY: the kernel's parameters; it reads `x` and writes `y` below `n`.
            unsafe { g.run_opaque(128, &affine, args) };
            Ok(())
        })
        .unwrap();
    graph.add(|g| g.run(n, twice(&y))).unwrap();
    let refused = graph.finalize_with(FinalizeOptions::new().require_fusion());
    let Err(Error::Graph { why, .. }) = refused else { panic!("{refused:?}") };
    assert!(matches!(*why, GraphError::KernelNotSupported { .. }), "{why}");
    assert!(why.to_string().contains("a kernel without IR"), "{why}");
    let run = graph.finalize_with(FinalizeOptions::new().enable_fusion()).unwrap();
    let report = run.fusion_report().unwrap().unwrap();
    assert_eq!((report.launches, report.launches_left), (2, 2));
    assert!(report.to_string().contains("a kernel without IR"), "{report}");
    let before = rt.counters().launches;
    q.run_graph(&run).unwrap().wait().unwrap();
    assert_eq!(rt.counters().launches - before, 3);
    let expected: Vec<f32> = (0..n).map(|k| 2.0 * (k as f32 - 3.0 + 1.0)).collect();
    assert_eq!(y.to_vec().unwrap(), expected);
}

/// KRN-05
#[test]
fn compile_opaque_opencl() {
    TESTS.iter().for_each(|test| Language::opencl().each(test));
}

/// KRN-05
#[test]
fn compile_opaque_opencl_without_svm() {
    TESTS.iter().for_each(|test| Language::opencl_without_svm().each(test));
}

/// BUF-03, LINK-02, KRN-05
#[test]
fn compile_opaque_opencl_over_linked_memory() {
    Language::opencl().each_with(Links::On, on_linked_buffers);
    Language::opencl_without_svm().each_with(Links::On, on_linked_buffers);
}

/// Options and names that a driver would end at a zero are errors.
#[test]
fn compile_opaque_opencl_has_no_zeros() {
    Language::opencl().each(|language, rt| {
        let cases: [(&str, &[&str]); 2] = [("affine", &["-DX=1\0-DY=2"]), ("aff\0ine", &[])];
        for (name, options) in cases {
            let source = (language.source)(&language.text);
            let loaded = rt.devices()[0].load_with(source, name, options);
            assert!(
                matches!(&loaded, Err(Error::Device { cause, .. })
                    if matches!(cause.kind, HalErrorKind::Build) && cause.message.contains("zero byte")),
                "{loaded:?}"
            );
        }
    });
}

const IMAGE: &str =
    "__kernel void image(__global uint *y, read_only image2d_t t) { y[0] = get_image_width(t); }";
const SAMPLED: &str = "
__kernel void sampled(__global float *y, read_only image2d_t t, sampler_t how) {
    y[0] = read_imagef(t, how, (int2)(0, 0)).x;
}
__kernel void alone(__global float *y, sampler_t how) { y[0] = 1; }
";
const MANY: &str = "
__kernel void many(__global float *y, float4 by, uint3 from, ushort2 small, __local int *room) {
    y[0] = by.x;
}
";

/// What a parameter takes is told by its type, also where the driver would take what it is given;
/// images and samplers are nothing that can be passed.
#[test]
fn compile_opaque_opencl_parameters() {
    Language::opencl().each(|_, rt| {
        let device = &rt.devices()[0];
        for (text, name, said) in [
            (IMAGE, "image", "argument 1 (`image2d_t t`)"),
            (SAMPLED, "alone", "argument 1 (`sampler_t how`)"),
        ] {
            let error = device.load(Source::OpenClC(text), name).unwrap_err();
            let build = matches!(&error, Error::Device { cause, .. } if matches!(cause.kind, HalErrorKind::Build));
            assert!(build && error.to_string().contains(said), "{error}");
        }
        let many = device.load(Source::OpenClC(MANY), "many").unwrap();
        let (q, mut y) = (rt.queue_on(device).unwrap(), rt.buffer_from(&[0.0f32; 4]).unwrap());
        let mut run = |with: &dyn Fn(&mut [OpaqueArg; 5])| {
            let done = submit(&q, |g| {
                let (by, from) = (OpaqueArg::value([7.0f32; 4]), OpaqueArg::value([1u32; 4]));
                let small = OpaqueArg::value([1u16; 2]);
                let mut args = [g.write(&mut y).into(), by, from, small, OpaqueArg::local(4)];
                with(&mut args);
                // SAFETY: these are the kernel's parameters, or it is refused.
                unsafe { g.run_opaque(1, &many, args) };
            });
            done.map(|event| event.wait().unwrap()).map_err(|error| error.to_string())
        };
        type Change = (&'static str, fn(&mut [OpaqueArg; 5]));
        let wrong: [Change; 6] = [
            ("argument 1 (`float4 by`) takes 16 bytes, and is given 12", |args| {
                args[1] = OpaqueArg::value([7.0f32; 3]);
            }),
            ("argument 2 (`uint3 from`) takes 16 bytes, and is given 12", |args| {
                args[2] = OpaqueArg::value([1u32; 3]);
            }),
            ("argument 3 (`ushort2 small`) takes 4 bytes, and is given 8", |args| {
                args[3] = OpaqueArg::value(1u64);
            }),
            ("argument 1 (`float4 by`) is a value, and is given local memory", |args| {
                args[1] = OpaqueArg::local(16);
            }),
            ("is a pointer to local memory, and is given a value", |args| {
                args[4] = OpaqueArg::value(1u32);
            }),
            ("is given no local memory at all", |args| args[4] = OpaqueArg::local(0)),
        ];
        for (said, change) in wrong {
            let error = run(&change).unwrap_err();
            assert!(error.contains(said) && error.contains("`many`"), "{said}: {error}");
        }
        run(&|_| ()).unwrap();
        assert_eq!(y.to_vec().unwrap()[0], 7.0);
    });
}

/// More groups than drivers count are refused, and groups that the device has not, whoever says how
/// large they are.
#[test]
fn compile_opaque_opencl_groups() {
    Language::opencl().each(|_, rt| {
        let device = &rt.devices()[0];
        // (NVIDIA's compiler fails for a kernel that has no parameters and does nothing.)
        let one = "__kernel void one(__global uint *n) { atomic_inc(n); }";
        let wide = format!("__attribute__((reqd_work_group_size(65536, 2, 1))) {one}");
        let load = |text: &str| device.load(Source::OpenClC(text), "one");
        let (q, one, mut n) =
            (rt.queue_on(device).unwrap(), load(one).unwrap(), rt.buffer_from(&[0u32]).unwrap());
        let mut run = |items: folio::Items<3>, kernel: &OpaqueKernel| {
            let done = submit(&q, |g| {
                let args = [g.read_write(&mut n).into()];
                // SAFETY: that is its parameter, or it is refused.
                unsafe { g.run_opaque(items, kernel, args) };
            });
            done.map(|event| event.wait().unwrap()).map_err(|error| error.to_string())
        };
        let many = 1 << 16;
        let grid = folio::Items::from([1, many, many]);
        for (items, said) in [
            (grid.groups([1, 1, 1]), "in more than 2^31 groups"),
            (grid, "of more than 2^31 items, and no size of groups"),
            (folio::Items::from([usize::MAX, 1, 1]), "of more than 2^31 items"),
        ] {
            let error = run(items, &one).unwrap_err();
            assert!(error.contains(said) && error.contains("`one`"), "{error}");
        }
        run(folio::Items::from([1, 1, 64]).groups([1, 1, 8]), &one).unwrap();
        run(folio::Items::from([1, 1, 64]), &one).unwrap();
        // Some drivers do not compile it at all.
        if let Ok(wide) = load(&wide) {
            let error = run(folio::Items::from([1, 2, 1 << 16]), &wide).unwrap_err();
            assert!(error.contains("a group of [1, 2, 65536]"), "{error}");
        }
        assert_eq!(n.to_vec().unwrap(), [128]);
    });
}

/// KRN-05, on machines with a GPU and NVRTC.
#[test]
fn compile_opaque_cuda() {
    TESTS.iter().for_each(|test| Language::cuda().each(test));
}

/// CACHE-01: one program for each text and options, in a process and after it.
#[test]
fn compile_opaque_opencl_once() {
    if let Err(why) = OpenClBackend::new().devices() {
        println!("skipped: opencl: {}", why.reason);
        return;
    }
    let folder = std::env::temp_dir().join(format!("folio-opaque-{}", std::process::id()));
    let text = format!("{OPENCL_C}{KERNELS}");
    let load = |options: &[&str]| {
        // SAFETY: the test's own directory.
        let cache = unsafe { Cache::at(&folder) };
        let backend = OpenClBackend::new().cache(cache.clone());
        let rt = Runtime::builder().backend(backend).build().unwrap();
        for name in ["affine", "affine", "mark"] {
            rt.devices()[0].load_with(Source::OpenClC(&text), name, options).unwrap();
        }
        (cache.counts().made, cache.counts().found)
    };
    // Two entries of one text: the second finds the program of the first.
    assert_eq!(load(&[]), (1, 1));
    assert_eq!(load(&[]), (0, 2));
    assert_eq!(load(&["-cl-fast-relaxed-math"]), (1, 1));
    std::fs::remove_dir_all(folder).unwrap();
}

/// Devices that run only what Rust and IR are.
#[test]
fn opaque_kernels_are_not_for_every_backend() {
    let cpu = CpuBackend::builder().threads(1).build().unwrap();
    let rt = Runtime::builder()
        .backend(cpu)
        .backend(SimBackend::builder().device(DeviceSpec::default()).build())
        .build()
        .unwrap();
    for device in rt.devices() {
        for source in [Source::OpenClC(OPENCL_C), Source::Ptx(""), Source::CudaBinary(NO_IMAGE)] {
            let error = device.load(source, "affine").unwrap_err();
            assert!(matches!(&error, Error::Unsupported { .. }), "{error}");
        }
    }
}
