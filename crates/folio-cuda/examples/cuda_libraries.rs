//! cuFFT and cuBLAS, by way of cudarc, inside of commands: on Folio's buffers and in Folio's order,
//! without a wait on the host. A signal's high frequencies are taken away: by commands, and by a
//! graph that repeats what the libraries have enqueued. Without a GPU or the libraries it says so.

use cudarc::cublas::{result as blas, sys as blas_sys};
use cudarc::cufft::{result as fft, sys as fft_sys};
use folio_core::{Buffer, Queue, Runtime};
use folio_cuda::{CudaBackend, Native};
use std::error::Error;
use std::sync::Arc;

/// The error of a task.
type Failure = Box<dyn Error + Send + Sync>;

/// Samples of the signal.
const N: usize = 1 << 16;
/// Frequencies that stay, of `N / 2 + 1`.
const KEPT: usize = 100;
/// Runs of the graph.
const RUNS: u64 = 4;

/// The libraries' handles, for tasks that are called one at a time.
struct Libraries {
    blas: blas_sys::cublasHandle_t,
    forward: fft_sys::cufftHandle,
    back: fft_sys::cufftHandle,
}

// SAFETY: any thread may use the handles, one at a time.
unsafe impl Send for Libraries {}
// SAFETY: as above: this program has one task at a time.
unsafe impl Sync for Libraries {}

impl Libraries {
    fn new() -> Result<Libraries, Failure> {
        // cudarc panics where a library is missing.
        // SAFETY: the libraries' initialisers are trusted.
        if !unsafe { blas_sys::is_culib_present() && fft_sys::is_culib_present() } {
            return Err("cuBLAS and cuFFT are not installed".into());
        }
        let n = N as i32;
        Ok(Libraries {
            blas: blas::create_handle()?,
            forward: fft::plan_1d(n, fft_sys::cufftType::CUFFT_R2C, 1)?,
            back: fft::plan_1d(n, fft_sys::cufftType::CUFFT_C2R, 1)?,
        })
    }

    /// The first access's frequencies go to the second.
    fn forward(&self, cuda: &Native) -> Result<(), Failure> {
        let [signal, frequencies] = addresses(cuda)?;
        // SAFETY: the task's stream; both accesses have the plan's size.
        unsafe {
            fft::set_stream(self.forward, cuda.stream.cast())?;
            fft::exec_r2c(self.forward, pointer(signal), pointer(frequencies))?;
        }
        Ok(())
    }

    /// The signal of the first access's frequencies goes to the second, as large as it was.
    fn back(&self, cuda: &Native) -> Result<(), Failure> {
        let [frequencies, signal] = addresses(cuda)?;
        let scale = 1.0 / N as f32;
        // SAFETY: the task's stream; both accesses have the plan's size, and the second `N` values.
        unsafe {
            fft::set_stream(self.back, cuda.stream.cast())?;
            fft::exec_c2r(self.back, pointer(frequencies), pointer(signal))?;
            blas::set_stream(self.blas, cuda.stream.cast())?;
            let n = N as i32;
            blas_sys::cublasSscal_v2(self.blas, n, &raw const scale, pointer(signal), 1)
                .result()?;
        }
        Ok(())
    }
}

impl Drop for Libraries {
    fn drop(&mut self) {
        // SAFETY: ours, and all of their work has ended: the program has read the results.
        unsafe {
            let _ = blas::destroy_handle(self.blas);
            let _ = fft::destroy(self.forward);
            let _ = fft::destroy(self.back);
        }
    }
}

/// Where the two accesses are.
fn addresses(cuda: &Native) -> Result<[u64; 2], Failure> {
    match &cuda.memory[..] {
        [first, second] => Ok([first.address, second.address]),
        _ => Err("two accesses are needed".into()),
    }
}

/// A `CUdeviceptr` as libraries have it.
fn pointer<T>(address: u64) -> *mut T {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

fn wave(frequency: usize, at: usize) -> f32 {
    let turns = (frequency * at % N) as f32 / N as f32;
    (turns * std::f32::consts::TAU).cos()
}

fn main() -> Result<(), Box<dyn Error>> {
    let rt = Runtime::builder().backend(CudaBackend::new()).build()?;
    let Some(device) = rt.devices().into_iter().next() else {
        println!("skipped: cuda: {}", rt.missing_backends().join("; "));
        return Ok(());
    };
    let libraries = match Libraries::new() {
        Ok(libraries) => Arc::new(libraries),
        Err(why) => {
            println!("skipped: libraries: {why}");
            return Ok(());
        }
    };
    let q = rt.queue_on(&device)?;
    let samples: Vec<f32> = (0..N).map(|at| wave(3, at) + wave(1000, at)).collect();
    let mut filter = Filter {
        libraries,
        signal: rt.buffer_from(&samples)?,
        frequencies: rt.buffer(N + 2)?,
        smooth: rt.buffer(N)?,
    };
    filter.submit(&q)?;
    filter.check()?;
    let [up, down] = [rt.counters().host_to_device, rt.counters().device_to_host];
    assert_eq!([up.bytes, down.bytes], [4 * N as u64; 2], "nothing else has moved");
    println!("{device:?}: of {N} samples' frequencies the lowest {KEPT} are left");

    // The same function, recorded.
    let graph = rt.graph(&device)?;
    let recording = graph.record([&q])?;
    filter.submit(&q)?;
    drop(recording);
    let run = graph.finalize()?;
    for _ in 0..RUNS {
        q.fill(&mut filter.smooth, 0.0)?;
        q.run_graph(&run)?;
        filter.check()?;
    }
    let report = run.replay_report();
    // All but the first run, unless the libraries cannot be captured.
    match report.why_not() {
        None => assert_eq!(report.replays, RUNS, "{report:?}"),
        Some(why) => println!("not one operation: {why}"),
    }
    println!("{} of {RUNS} runs of the graph were one operation of the device", report.replays);
    Ok(())
}

/// The work, and its libraries.
struct Filter {
    libraries: Arc<Libraries>,
    signal: Buffer<f32>,
    /// Pairs: a real and an imaginary part.
    frequencies: Buffer<f32>,
    smooth: Buffer<f32>,
}

impl Filter {
    fn submit(&mut self, q: &Queue) -> folio_core::Result<()> {
        let Filter { libraries, signal, frequencies, smooth } = self;
        let all = libraries.clone();
        q.submit(|g| {
            let accesses = (g.label("forward").read(&*signal), g.discard(&mut *frequencies));
            // SAFETY: it reads the one and writes the other, all of it, on the task's stream. The
            // plan lives as long as the task, and with it what a graph repeats.
            unsafe {
                g.each_run().capturable().interop(accesses, move |cuda: &Native| all.forward(cuda))
            };
            Ok(())
        })?;
        q.fill(frequencies.slice_mut([2 * KEPT], [N + 2 - 2 * KEPT])?, 0.0)?;
        let all = libraries.clone();
        q.submit(|g| {
            let accesses = (g.label("back").read_write(frequencies), g.discard(smooth));
            // SAFETY: it uses up the one and writes the other, all of it, on the task's stream. The
            // handles live as long as the task; the factor goes with the call.
            unsafe {
                g.each_run().capturable().interop(accesses, move |cuda: &Native| all.back(cuda))
            };
            Ok(())
        })?;
        Ok(())
    }

    fn check(&self) -> Result<(), Box<dyn Error>> {
        let smooth = self.smooth.to_vec()?;
        let far = |(at, value): (usize, &f32)| (value - wave(3, at)).abs() > 1e-4;
        match smooth.iter().enumerate().position(far) {
            Some(at) => Err(format!("sample {at} is {}, not {}", smooth[at], wave(3, at)).into()),
            None => Ok(()),
        }
    }
}
