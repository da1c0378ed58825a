//! CUDA, by its driver's own calls. Folio's backend has found a device before, which loads the
//! driver.

use super::{Arg, Call, End, LANES, Memory, Native, Place, Rows, failed, usual_group};
use crate::error::Result;
use cudarc::driver::sys;
use cudarc::nvrtc::{CompileOptions, compile_ptx_with_opts};
use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, PoisonError};

const PRELUDE: &str = "
typedef unsigned int uint;
#define KERNEL extern \"C\" __global__ void
#define FUNCTION __device__
#define GLOBAL
#define LOCAL __shared__
#define RESTRICT __restrict__
#define X ((size_t)blockIdx.x * blockDim.x + threadIdx.x)
#define Y ((size_t)blockIdx.y * blockDim.y + threadIdx.y)
#define Z ((size_t)blockIdx.z * blockDim.z + threadIdx.z)
#define LX threadIdx.x
#define LY threadIdx.y
#define GX ((size_t)blockIdx.x)
#define BARRIER __syncthreads()
#define FMA(a, b, c) __fmaf_rn(a, b, c)
#define INCREMENT(p) atomicAdd(p, 1u)
#define ADD(p, n) atomicAdd(p, n)
#define GROUP(x, y) __launch_bounds__((x) * (y))
#define WIDE float
#define WITHIN(i, n) if ((i) >= (n)) return
#define ONE_OF_FOUR(k, ...) { size_t i = GX * 1024 + k * 256 + LX; __VA_ARGS__ }
#define STREAM(...) ONE_OF_FOUR(0, __VA_ARGS__) ONE_OF_FOUR(1, __VA_ARGS__) \\
                    ONE_OF_FOUR(2, __VA_ARGS__) ONE_OF_FOUR(3, __VA_ARGS__)
";

/// A device's primary context, with streams of its own.
pub struct Cuda {
    context: usize,
    streams: [usize; LANES],
    cache: u64,
    modules: Mutex<HashMap<String, usize>>,
    /// Executable graphs, which live as long as the process.
    kept: Mutex<Vec<usize>>,
}

fn ok(call: &'static str, result: sys::CUresult) -> Result<()> {
    match result {
        sys::CUresult::CUDA_SUCCESS => Ok(()),
        why => Err(failed(call, format!("{why:?}"))),
    }
}

fn ptr<T>(handle: usize) -> *mut T {
    std::ptr::with_exposed_provenance_mut(handle)
}

impl Cuda {
    /// The device of this number.
    pub fn open(ordinal: usize) -> Result<Cuda> {
        let (mut context, mut cache) = (null_mut(), 0);
        let device = ordinal as sys::CUdevice;
        let l2 = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE;
        let mut streams = [0; LANES];
        // SAFETY: the driver is initialised; places for the answers.
        unsafe {
            let retained = sys::cuDevicePrimaryCtxRetain(&raw mut context, device);
            ok("cuDevicePrimaryCtxRetain", retained)?;
            ok("cuCtxSetCurrent", sys::cuCtxSetCurrent(context))?;
            ok("cuDeviceGetAttribute", sys::cuDeviceGetAttribute(&raw mut cache, l2, device))?;
            for handle in &mut streams {
                let mut stream = null_mut();
                let made = sys::cuStreamCreateWithPriority(&raw mut stream, 1, 0);
                ok("cuStreamCreateWithPriority", made)?;
                *handle = stream.expose_provenance();
            }
        }
        let (context, cache) = (context.expose_provenance(), cache as u64);
        Ok(Cuda { context, streams, cache, modules: Mutex::default(), kept: Mutex::default() })
    }

    fn stream(&self, lane: usize) -> sys::CUstream {
        ptr(self.streams[lane % LANES])
    }

    fn module(&self, text: &str) -> Result<usize> {
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = modules.get(text) {
            return Ok(*module);
        }
        // Nothing is contracted, as in ours.
        let options = CompileOptions { fmad: Some(false), ..CompileOptions::default() };
        let ptx = compile_ptx_with_opts(format!("{PRELUDE}{text}"), options);
        let ptx = ptx.map_err(|why| failed("nvrtcCompileProgram", format!("{why:?}")))?;
        let ptx = CString::new(ptx.to_src()).map_err(|why| failed("nvrtcGetPTX", why))?;
        let mut module = null_mut();
        // SAFETY: text that ends with a zero; a place for the answer; the context is current.
        ok("cuModuleLoadData", unsafe {
            sys::cuModuleLoadData(&raw mut module, ptx.as_ptr().cast())
        })?;
        modules.insert(text.to_owned(), module.expose_provenance());
        Ok(module.expose_provenance())
    }
}

impl Native for Cuda {
    fn api(&self) -> &'static str {
        "CUDA"
    }

    fn is_cpu(&self) -> bool {
        false
    }

    fn cache_bytes(&self) -> u64 {
        self.cache
    }

    fn enter(&self) -> Result<()> {
        // SAFETY: a live context.
        ok("cuCtxSetCurrent", unsafe { sys::cuCtxSetCurrent(ptr(self.context)) })
    }

    fn allocate(&self, bytes: usize, _svm: bool) -> Result<Place> {
        self.enter()?;
        let mut at = 0;
        // SAFETY: a place for the answer.
        ok("cuMemAlloc", unsafe { sys::cuMemAlloc_v2(&raw mut at, bytes) })?;
        Ok(Place { at: at as usize, is_svm: false })
    }

    fn free(&self, place: Place) {
        // SAFETY: its owner is being dropped. A failure leaves the memory with the driver.
        let _ = unsafe { sys::cuMemFree_v2(place.at as u64) };
    }

    fn host_memory(&self, bytes: usize) -> Result<*mut u8> {
        self.enter()?;
        let mut at = null_mut();
        // SAFETY: a place for the answer.
        ok("cuMemHostAlloc", unsafe { sys::cuMemHostAlloc(&raw mut at, bytes, 0) })?;
        Ok(at.cast())
    }

    fn kernel(&self, text: &str, name: &str) -> Result<usize> {
        self.enter()?;
        let (module, mut function) = (self.module(text)?, null_mut());
        let name = CString::new(name).map_err(|why| failed("cuModuleGetFunction", why))?;
        // SAFETY: a live module; a place for the answer.
        ok("cuModuleGetFunction", unsafe {
            sys::cuModuleGetFunction(&raw mut function, ptr(module), name.as_ptr())
        })?;
        Ok(function.expose_provenance())
    }

    fn launch(&self, lane: usize, call: &Call) -> Result<()> {
        let stream = self.stream(lane);
        with_params(call, |p| {
            let (x, y, z, none) = (p.gridDimX, p.gridDimY, p.gridDimZ, null_mut());
            let (w, h, d) = (p.blockDimX, p.blockDimY, p.blockDimZ);
            // SAFETY: live handles, and the arguments are what the kernel has: little-endian words.
            ok("cuLaunchKernel", unsafe {
                sys::cuLaunchKernel(p.func, x, y, z, w, h, d, 0, stream, p.kernelParams, none)
            })
        })
    }

    unsafe fn copy(
        &self,
        lane: usize,
        (to, there): (End, Rows),
        (from, here): (End, Rows),
        [rows, bytes]: [usize; 2],
    ) -> Result<()> {
        let at = |end: End, rows: Rows| match end {
            End::Device(place) => (place.at + rows.offset) as u64,
            End::Host(at) => (at.expose_provenance() + rows.offset) as u64,
        };
        let (dst, src, stream) = (at(to, there), at(from, here), self.stream(lane));
        if rows == 1 {
            // SAFETY: our caller's promise; unified addresses.
            return ok("cuMemcpyAsync", unsafe { sys::cuMemcpyAsync(dst, src, bytes, stream) });
        }
        let kind = |end: End| match end {
            End::Device(_) => sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
            End::Host(_) => sys::CUmemorytype::CU_MEMORYTYPE_HOST,
        };
        let copy = sys::CUDA_MEMCPY2D {
            srcXInBytes: 0,
            srcY: 0,
            srcMemoryType: kind(from),
            srcHost: ptr(src as usize),
            srcDevice: src,
            srcArray: null_mut(),
            srcPitch: here.pitch,
            dstXInBytes: 0,
            dstY: 0,
            dstMemoryType: kind(to),
            dstHost: ptr(dst as usize),
            dstDevice: dst,
            dstArray: null_mut(),
            dstPitch: there.pitch,
            WidthInBytes: bytes,
            Height: rows,
        };
        // SAFETY: our caller's promise.
        ok("cuMemcpy2DAsync", unsafe { sys::cuMemcpy2DAsync_v2(&raw const copy, stream) })
    }

    fn record(&self, lane: usize) -> Result<usize> {
        let mut event: sys::CUevent = null_mut();
        // SAFETY: a place for the answer; a live stream. 2: without a time.
        unsafe {
            ok("cuEventCreate", sys::cuEventCreate(&raw mut event, 2))?;
            ok("cuEventRecord", sys::cuEventRecord(event, self.stream(lane)))?;
        }
        Ok(event.expose_provenance())
    }

    fn wait(&self, lane: usize, event: usize) -> Result<()> {
        // SAFETY: a live event and stream.
        ok("cuStreamWaitEvent", unsafe { sys::cuStreamWaitEvent(self.stream(lane), ptr(event), 0) })
    }

    fn forget(&self, event: usize) {
        // SAFETY: `record` made it, and the caller uses it no more.
        let _ = unsafe { sys::cuEventDestroy_v2(ptr(event)) };
    }

    fn keep(&self, calls: &[Call], again: Option<usize>) -> Result<usize> {
        self.enter()?;
        let (mut graph, mut exec) = (null_mut(), null_mut());
        // SAFETY: a place for the answer.
        ok("cuGraphCreate", unsafe { sys::cuGraphCreate(&raw mut graph, 0) })?;
        let mut last: HashMap<u64, sys::CUgraphNode> = HashMap::new();
        for call in calls {
            let used: Vec<u64> = call.args.iter().filter_map(memory_of).collect();
            let mut after: Vec<_> = used.iter().filter_map(|at| last.get(at).copied()).collect();
            after.dedup();
            let (mut node, count) = (null_mut(), after.len());
            with_params(call, |params| {
                // SAFETY: a live graph and its nodes; the arguments are what the kernel has.
                ok("cuGraphAddKernelNode", unsafe {
                    sys::cuGraphAddKernelNode_v2(
                        &raw mut node,
                        graph,
                        after.as_ptr(),
                        count,
                        params,
                    )
                })
            })?;
            last.extend(used.into_iter().map(|at| (at, node)));
        }
        // SAFETY: a live graph, which the executable does not need; a place for the answer.
        unsafe {
            let made = sys::cuGraphInstantiateWithFlags(&raw mut exec, graph, 0);
            ok("cuGraphInstantiate", made)?;
            ok("cuGraphDestroy", sys::cuGraphDestroy(graph))?;
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(index) = again else {
            kept.push(exec.expose_provenance());
            return Ok(kept.len() - 1);
        };
        let before = std::mem::replace(&mut kept[index], exec.expose_provenance());
        // SAFETY: made here, and its latest run has ended: the caller's promise.
        ok("cuGraphExecDestroy", unsafe { sys::cuGraphExecDestroy(ptr(before)) })?;
        Ok(index)
    }

    fn replay(&self, lane: usize, kept: usize) -> Result<()> {
        let exec = self.kept.lock().unwrap_or_else(PoisonError::into_inner)[kept];
        // SAFETY: a live executable and stream.
        ok("cuGraphLaunch", unsafe { sys::cuGraphLaunch(ptr(exec), self.stream(lane)) })
    }

    fn finish(&self, lane: usize) -> Result<()> {
        self.enter()?;
        // SAFETY: a live stream.
        ok("cuStreamSynchronize", unsafe { sys::cuStreamSynchronize(self.stream(lane)) })
    }
}

fn address(memory: &Arc<Memory>) -> u64 {
    memory.place.at as u64
}

fn memory_of(arg: &Arg) -> Option<u64> {
    match arg {
        Arg::Memory(memory) => Some(address(memory)),
        Arg::U32(_) | Arg::F32(_) => None,
    }
}

/// Calls with what the driver launches of a call; the arguments live as long.
fn with_params<R>(call: &Call, then: impl FnOnce(&sys::CUDA_KERNEL_NODE_PARAMS) -> R) -> R {
    let mut words = [0u64; 16];
    let mut args = [null_mut::<c_void>(); 16];
    for ((word, arg), given) in words.iter_mut().zip(&mut args).zip(&call.args) {
        *word = match given {
            Arg::U32(value) => u64::from(*value),
            Arg::F32(value) => u64::from(value.to_bits()),
            Arg::Memory(memory) => address(memory),
        };
        *arg = (&raw mut *word).cast();
    }
    let group = call.group.unwrap_or(usual_group(call.dims));
    let [x, y, z] = std::array::from_fn(|d| call.items[d].div_ceil(group[d]) as u32);
    let [w, h, d] = group.map(|g| g as u32);
    then(&sys::CUDA_KERNEL_NODE_PARAMS {
        func: ptr(call.kernel),
        gridDimX: x,
        gridDimY: y,
        gridDimZ: z,
        blockDimX: w,
        blockDimY: h,
        blockDimZ: d,
        sharedMemBytes: 0,
        kernelParams: args.as_mut_ptr(),
        extra: null_mut(),
        kern: null_mut(),
        ctx: null_mut(),
    })
}
