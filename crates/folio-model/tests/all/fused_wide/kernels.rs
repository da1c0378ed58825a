//! The kernels of wide fused graphs, of one to three dimensions and any number.

use super::{Buffers, Env, Step, What};
use folio::prelude::*;
use folio_core::combine::{Add, Max};
use folio_core::ir::device::Combine;
use folio_core::{Result, opaque::OpaqueArg};
use std::fmt::Debug;

/// A number that buffers have.
pub trait Element: Number + DeviceType + Debug + PartialEq {
    /// Its name in OpenCL C, as a number of bits.
    const BITS: &'static str;
    fn of(value: i64) -> Self;
    fn bits(self) -> u64;
}

macro_rules! element {
    ($($t:ty, $bits:literal, $to_bits:expr;)*) => {
        $(
            impl Element for $t {
                const BITS: &'static str = $bits;
                fn of(value: i64) -> Self {
                    value as $t
                }
                fn bits(self) -> u64 {
                    $to_bits(self)
                }
            }
        )*
    };
}

element! {
    u32, "uint", u64::from;
    i64, "ulong", |x: i64| x as u64;
    f32, "uint", |x: f32| u64::from(x.to_bits());
    f64, "ulong", f64::to_bits;
}

/// In place of a dimension.
pub struct Of<const D: usize>;

/// Types and kernels of a number of dimensions.
pub trait Ranked<T: Element, const D: usize> {
    /// The size of groups.
    const GROUP: [usize; D];
    /// Describes a step over these buffers.
    fn describe(
        step: &Step<D>,
        all: &Buffers<T, D>,
        env: &Env,
        cg: &mut CommandGroup,
    ) -> Result<()>;
}

macro_rules! kernels {
    ($module:ident, $D:tt, $group:tt) => {
        pub mod $module {
            use folio::prelude::*;
            use folio_core::combine::{Add, Max};
            use folio_core::ir::device::Combine;

            #[kernel]
            pub fn puts<T: Number>(i: Item<$D>, term: T, x: Out<T, $D>) {
                x[i] = term;
            }

            #[kernel]
            pub fn sums<T: Number>(i: Item<$D>, x: In<T, $D>, y: In<T, $D>, z: Out<T, $D>) {
                z[i] = x[i] * T::lit(3.0) + y[i];
            }

            #[kernel]
            pub fn joins<T: Number>(i: Item<$D>, term: T, x: In<T, $D>, y: InOut<T, $D>) {
                y[i] = y[i] * term - x[i];
            }

            #[kernel]
            pub fn diverges<T: Number>(i: Item<$D>, x: In<T, $D>, y: InOut<T, $D>) {
                if x[i] < y[i] {
                    y[i] = x[i] + T::ONE;
                }
            }

            #[kernel]
            pub fn loops<T: Number>(i: Item<$D>, times: u32, x: In<T, $D>, y: Out<T, $D>) {
                let mut value = x[i];
                for k in 0..times {
                    value = value * T::lit(2.0) - k as T;
                }
                y[i] = value;
            }

            #[kernel]
            pub fn asserts<T: Number>(i: Item<$D>, most: T, x: In<T, $D>, y: InOut<T, $D>) {
                assert!(x[i] < most, "too large");
                y[i] = y[i] + x[i];
            }

            #[kernel]
            pub fn reduces<T: Number>(i: Item<$D>, x: In<T, $D>, sum: Reduce<T, Add>)
            where
                Add: Combine<T>,
            {
                sum.give(x[i] * T::lit(0.375));
            }

            #[kernel(group = $group)]
            pub fn tops<T: Number>(g: Group<$D>, x: In<T, $D>, y: Out<T, $D>)
            where
                Max: Combine<T>,
            {
                let most = g.reduce::<Max>(|i| x[i]);
                g.each(|i| y[i] = most - x[i]);
            }
        }
    };
}

kernels!(one, 1, 16);
kernels!(two, 2, [4, 8]);
kernels!(three, 3, [2, 4, 4]);

#[kernel]
fn beside_1<T: Number>(i: Item, x: In<T>, y: Out<T>) {
    y[i] = x[i.index().max(1) - 1] + T::ONE;
}

#[kernel]
fn beside_2<T: Number>(i: Item<2>, x: In<T, 2>, y: Out<T, 2>) {
    let (r, c) = i.pos();
    y[i] = x[(r.max(1) - 1, c)] + T::ONE;
}

#[kernel]
fn beside_3<T: Number>(i: Item<3>, x: In<T, 3>, y: Out<T, 3>) {
    let (p, r, c) = i.pos();
    y[i] = x[(p, r, (c + 1).min(x.shape()[2] - 1))] + T::ONE;
}

#[kernel]
fn counts_1<T: Number>(i: Item, x: In<T>, n: Atomic<u32>) {
    if T::ZERO < x[i] {
        n.add(i.index() % n.len(), 1);
    }
}

#[kernel]
fn counts_2<T: Number>(i: Item<2>, x: In<T, 2>, n: Atomic<u32>) {
    let (r, c) = i.pos();
    if T::ZERO < x[i] {
        n.add((r + c) % n.len(), 1);
    }
}

#[kernel]
fn counts_3<T: Number>(i: Item<3>, x: In<T, 3>, n: Atomic<u32>) {
    let (p, r, c) = i.pos();
    if T::ZERO < x[i] {
        n.add((p + r + c) % n.len(), 1);
    }
}

/// Mirrored in the group, by local memory.
#[kernel(group = 16)]
fn tiles_1<T: Number>(g: Group, x: In<T>, tile: Local<T, 16>, y: Out<T>) {
    g.each(|i| tile[i] = x[i]);
    g.each(|i| y[i] = tile[15 - i.local_index()]);
}

#[kernel(group = [4, 8])]
fn tiles_2<T: Number>(g: Group<2>, x: In<T, 2>, tile: Local<T, 32>, y: Out<T, 2>) {
    g.each(|i| tile[i] = x[i]);
    g.each(|i| {
        let (r, c) = i.local_pos();
        y[i] = tile[(3 - r) * 8 + c];
    });
}

#[kernel(group = [2, 4, 4])]
fn tiles_3<T: Number>(g: Group<3>, x: In<T, 3>, tile: Local<T, 32>, y: Out<T, 3>) {
    g.each(|i| tile[i] = x[i]);
    g.each(|i| {
        let (p, r, c) = i.local_pos();
        y[i] = tile[(p * 4 + r) * 4 + 3 - c];
    });
}

/// Mirrored in the group, by memory.
#[kernel(group = 16)]
fn mirrors_1<T: Number>(g: Group, x: In<T>, y: Out<T>) {
    g.each(|i| {
        let first = i.index() - i.local_index();
        y[i] = x[first + (15 - i.local_index())];
    });
}

#[kernel(group = [4, 8])]
fn mirrors_2<T: Number>(g: Group<2>, x: In<T, 2>, y: Out<T, 2>) {
    g.each(|i| {
        let ((r, c), (row, column)) = (i.local_pos(), i.pos());
        y[i] = x[(row - r + (3 - r), column - c + (7 - c))];
    });
}

#[kernel(group = [2, 4, 4])]
fn mirrors_3<T: Number>(g: Group<3>, x: In<T, 3>, y: Out<T, 3>) {
    g.each(|i| {
        let ((p, r, c), (plane, row, column)) = (i.local_pos(), i.pos());
        y[i] = x[(plane - p + (1 - p), row - r + (3 - r), column - c + (3 - c))];
    });
}

macro_rules! ranked {
    ($module:ident, $D:tt, $group:expr, $beside:ident, $counts:ident, $tiles:ident, $mirrors:ident) => {
        impl<T: Element> Ranked<T, $D> for Of<$D>
        where
            Add: Combine<T>,
            Max: Combine<T>,
        {
            const GROUP: [usize; $D] = $group;

            fn describe(
                step: &Step<$D>,
                all: &Buffers<T, $D>,
                env: &Env,
                cg: &mut CommandGroup,
            ) -> Result<()> {
                let (first, extent) = step.part(all.of[0].shape());
                let part = |buffer: usize| all.of[buffer].slice(first, extent);
                let (x, z) = (part(step.from[0])?, part(step.from[1])?);
                let mut to = all.of[step.to].slice_mut(first, extent)?;
                let n: Items<$D> = step.items().into();
                let (marks, term) = (step.marks, T::of(step.term));
                match step.what {
                    What::Puts => cg.run(n, $module::puts(term, marks.on(to))),
                    What::Sums => cg.run(n, $module::sums(&x, marks.on(&z), to)),
                    What::Joins => cg.run(n, $module::joins(term, marks.on(&x), to)),
                    What::Beside => cg.run(n, $beside(marks.on(&x), to)),
                    What::Diverges => cg.run(n, $module::diverges(&x, marks.on(to))),
                    What::Loops => {
                        cg.run(n, $module::loops(step.term as u32, marks.on(&x), to));
                    }
                    What::Asserts => {
                        let most = T::of(env.most);
                        cg.run(n, $module::asserts(most, &x, to));
                    }
                    What::Counts => cg.run(n, $counts(marks.on(&x), &all.counts)),
                    What::Reduces => cg.run(n, $module::reduces(&x, &all.sum)),
                    What::Tops => cg.run(n, $module::tops(marks.on(&x), to)),
                    What::Tiles => cg.run(n, $tiles(&x, marks.on(to))),
                    What::Mirrors => cg.run(n, $mirrors(marks.on(&x), to)),
                    What::Fill => cg.fill(to, term),
                    What::Copy => cg.copy(&x, to),
                    What::Task => {
                        let to = cg.read_write(&mut to);
                        cg.each_run().host_task(to, move |mut to| to[[0; $D]] = term);
                    }
                    What::Opaque => match &env.opaque {
                        Opaque::Copy => cg.copy(&x, to),
                        Opaque::Closure => {
                            let (x, to) = (cg.read(&x), cg.write(&mut to));
                            cg.host_kernel(extent, (x, to), move |i, (x, mut to)| {
                                let at = i.position();
                                let last: [usize; $D] =
                                    std::array::from_fn(|dim| extent[dim] - 1 - at[dim]);
                                to.put(i, x[last]);
                            });
                        }
                        Opaque::Program(kernel) => {
                            let n: usize = extent.iter().product();
                            let (x, to) = (cg.read(&x), cg.write(&mut to));
                            let args = [OpaqueArg::value(n as u32), x.into(), to.into()];
                            // SAFETY: the kernel's parameters: it reads `n` elements of the first
                            // and writes as many of the second, which are whole buffers.
                            unsafe { cg.run_opaque(n, kernel, args) };
                        }
                    },
                }
                Ok(())
            }
        }
    };
}

ranked!(one, 1, [16], beside_1, counts_1, tiles_1, mirrors_1);
ranked!(two, 2, [4, 8], beside_2, counts_2, tiles_2, mirrors_2);
ranked!(three, 3, [2, 4, 4], beside_3, counts_3, tiles_3, mirrors_3);

/// A kernel without IR: it reverses all elements of its buffer.
pub enum Opaque {
    /// The device has none: a copy in its place.
    Copy,
    /// A closure.
    Closure,
    /// A kernel in the driver's language.
    Program(folio_core::opaque::OpaqueKernel),
}

/// In OpenCL C, for elements of a type.
pub fn opencl_text(bits: &str) -> String {
    format!(
        "__kernel void reverses(uint n, __global const {bits} *x, __global {bits} *y) {{
            uint i = get_global_id(0);
            if (i < n) y[n - 1 - i] = x[i];
        }}"
    )
}
