//! KRN-06: names of other places, languages and libraries, each told once with what a kernel has.
use folio::In as Input;
use folio::prelude::*;

// Where kernels are.

struct Simulation {
    factor: f32,
}

impl Simulation {
    #[kernel]
    fn step(&self, i: Item, x: In<f32>, y: Out<f32>) {
        y[i] = self.factor * x[i];
    }

    #[kernel]
    fn free(i: Item, x: In<f32>, y: Out<f32>) {
        y[i] = x[i];
    }

    #[device_fn]
    fn twice(x: f32) -> f32 {
        2.0 * x
    }

    fn run(&self, q: &Queue, x: &Buffer<f32>, y: &mut Buffer<f32>) -> folio::Result<()> {
        q.run(10, self.step(x, &mut *y))?;
        q.run(10, Self::free(x, y))?;
        // Items of a body are free ones.
        #[kernel]
        fn within(i: Item, y: Out<f32>) {
            y[i] = 1.0;
        }
        Ok(())
    }
}

trait Stepped {
    fn step(&self);
}

impl Stepped for Simulation {
    #[kernel]
    fn step(&self) {}
}

// What kernels see.

fn captures(q: &Queue, x: &Buffer<f32>, y: &mut Buffer<f32>) -> folio::Result<()> {
    let factor = 2.0f32;
    #[kernel]
    fn scale(i: Item, x: In<f32>, y: Out<f32>) {
        y[i] = factor * x[i];
    }
    q.run(10, scale(x, y))?;
    Ok(())
}

#[kernel]
fn misspelt(i: Item, factor: f32, x: In<f32>, y: Out<f32>) {
    y[i] = factr * x[i] + n as f32;
}

#[kernel]
fn renamed_view(i: Item, x: Input<f32>, y: Out<f32>) {
    y[i] = x[i];
}

#[kernel]
fn counted(i: usize, x: In<f32>, y: Out<f32>) {
    y[i] = x[i];
}

// CUDA, OpenCL, C, Python.

#[kernel]
fn of_cuda(n: usize, x: In<f32>, y: InOut<f32>) {
    let i = blockIdx.x * blockDim.x + threadIdx.x;
    if i < n {
        y[i] += x[i];
    }
}

#[kernel(group = 64)]
fn of_groups(g: Group, x: In<f32>, sums: Atomic<f32>, y: Out<f32>) {
    g.each(|i| {
        let own = x[get_global_id(0)];
        __syncthreads();
        atomicAdd(sums[0], own);
        y[i] = __shfl_xor_sync(0xffffffff, own, 1);
    });
    barrier();
}

#[kernel]
fn of_c(i: Item, x: In<f32>, y: Out<f32>) {
    y[i] = sqrtf(x[i]) + fmaxf(x[i], 0.0) + sqrt(x[i]) + f32::sin(x[i]) + math::cos(x[i]);
}

#[kernel]
fn of_python(i: Item<2>, x: In<f32, 2>, v: In<f32>, y: Out<f32, 2>) {
    y[i] = np.sqrt(x[i]) + x[i] ** 2 + v[-1] + x[(0, -1)];
}

// What is of the host.

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Fast,
    Slow,
}

#[kernel]
fn compared(i: Item, mode: Mode, x: In<f32>, y: Out<f32>) {
    y[i] = if mode == Mode::Fast { x[i] } else { 2.0 * x[i] };
}

#[kernel]
fn matched(i: Item, mode: Mode, x: In<f32>, y: Out<f32>) {
    y[i] = match mode {
        Mode::Fast => x[i],
        Mode::Slow => 2.0 * x[i],
    };
}

#[kernel]
fn allocates(i: Item, n: u128, x: In<f32>, y: Out<f32>) {
    let all = Vec::with_capacity(10);
    let name = String::new();
    let rest: &[f32] = x;
    let part: Vec<f32> = rest;
    y[i] = x[i] + (n as i128) as f32;
}

fn main() {}
