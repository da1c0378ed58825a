//! Functions with `#[kernel]`, for a crate that depends on `folio` only. Tests of every backend are
//! in `folio-conformance`.
#![forbid(unsafe_code)]
#![deny(rust_2018_idioms)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use folio::prelude::*;

mod library {
    use folio::prelude::*;

    /// A pair.
    #[derive(Clone, Copy, PartialEq, Debug, DeviceType)]
    #[repr(C)]
    pub struct Pair<T> {
        /// One.
        pub a: T,
        /// And another.
        pub b: T,
    }

    #[device_fn]
    fn swapped<T: DeviceType + Number>(of: Pair<T>) -> Pair<T> {
        Pair { a: of.b, b: of.a }
    }

    /// Documented, like the function that it is.
    #[kernel]
    pub fn swap<T: DeviceType + Number>(i: Item, by: T, x: In<Pair<T>>, y: Out<Pair<T>>) {
        let mut it = swapped(x[i]);
        it.a += by;
        y[i] = it;
    }
}

use library::Pair;

/// KRN-01: kernels are items like others: in modules, generic, with structs that are generic.
#[test]
fn kernels_are_items_like_others() {
    let rt = folio::runtime().unwrap();
    let q = rt.queue().unwrap();
    let x = rt.buffer_from(&[Pair { a: 1.0f32, b: 2.0 }; 9]).unwrap();
    let mut y = rt.buffer(9).unwrap();
    q.run(y.range(), library::swap(0.5, &x, &mut y)).unwrap();
    assert_eq!(y.to_vec().unwrap(), [Pair { a: 2.5, b: 1.0 }; 9]);
    let x = rt.buffer_from(&[Pair { a: 1u8, b: 2 }; 9]).unwrap();
    let mut y = rt.buffer(9).unwrap();
    q.run(1..2, library::swap::<u8>(254, &x, &mut y)).unwrap();
    assert_eq!(y.to_vec().unwrap()[..2], [Pair { a: 0, b: 0 }, Pair { a: 0, b: 1 }]);
}

mod renamed {
    use folio::prelude::*;
    use std::ops::Add as Plus;

    #[derive(Clone, Copy, PartialEq, Debug, DeviceType)]
    #[repr(C)]
    pub struct Whole {
        pub n: i32,
    }

    #[device_fn]
    impl Plus<Self> for Whole {
        type Output = Self;
        fn add(self, b: Self) -> Self {
            Whole { n: self.n + b.n }
        }
    }

    #[kernel]
    pub fn doubles(i: Item, x: InOut<Whole>) {
        x[i] = x[i] + x[i];
    }
}

/// KRN-01: an operator is what its trait is, by whatever name that is imported.
#[test]
fn an_operator_of_a_renamed_trait_is_that_operator() {
    use renamed::{Whole, doubles};
    let rt = folio::runtime().unwrap();
    let mut x = rt.buffer_from(&[Whole { n: 4 }]).unwrap();
    rt.queue().unwrap().run(1, doubles(&mut x)).unwrap();
    assert_eq!(x.to_vec().unwrap(), [Whole { n: 4 } + Whole { n: 4 }]);
}

#[kernel]
fn windows(i: Item, first: usize, n: usize, x: In<f32>, y: Out<f32>) {
    let mut sum = 0.0;
    for k in first..first + n {
        sum += x[i.index() + k];
    }
    y[i] = sum;
}

/// KRN-09: what loops read is known as exactly as their ends are.
#[test]
fn loops_access_what_they_read() {
    let cpu = folio::cpu::CpuBackend::builder().domains(2).build().unwrap();
    let rt = Runtime::builder().backend(cpu).build().unwrap();
    let q = rt.queue_on("cpu:1").unwrap();
    let page = BufferOptions::new().page([1]);
    let x = rt.buffer_with(&[1.0f32; 1000], page).unwrap();
    let mut y = rt.buffer(1000).unwrap();
    q.run(100..200, windows(50, 7, &x, &mut y)).unwrap().wait().unwrap();
    // Elements 150 to 255.
    assert_eq!(x.counters().host_to_device.bytes, 106 * 4);
    assert_eq!(y.to_vec().unwrap()[150], 7.0);
}

#[kernel]
fn crossed(i: Item<2>, x: In<f32, 2>, y: Out<f32, 2>) {
    let [r, c] = i.pos();
    y[i] = x[[r - 1, c]] + x[(r + 1, c)] + x[[r, c - 1]] + x[[r, c + 1]];
}

#[kernel]
fn crossed_by_numbers(i: Item<2>, x: In<f32, 2>, y: Out<f32, 2>) {
    let p = i.pos();
    y[i] =
        x[[p[0] - 1, p[1]]] + x[(i.pos()[0] + 1, p.1)] + x[[p[0], p[1] - 1]] + x[[p[0], p[1] + 1]];
}

/// KRN-09: parts of a position by their numbers are known as exactly as by names.
#[test]
fn halos_are_those_of_numbered_parts() {
    let cpu = folio::cpu::CpuBackend::builder().domains(2).build().unwrap();
    let rt = Runtime::builder().backend(cpu).build().unwrap();
    let q = rt.queue_on("cpu:1").unwrap();
    let rows = BufferOptions::new().page([1, 20]);
    let x = rt.buffer_with((vec![1.0f32; 400], (20, 20)), rows).unwrap();
    let mut y = rt.buffer([20, 20]).unwrap();
    q.run((5..10, 1..19), crossed_by_numbers(&x, &mut y)).unwrap();
    assert_eq!((y.get((9, 18)).unwrap(), y.get([10, 18]).unwrap()), (4.0, 0.0));
    assert_eq!(x.counters().host_to_device.bytes, 7 * 20 * 4);
}

/// KRN-03, KRN-09: what is indexed by arrays is known as exactly as by tuples, and checked alike.
#[test]
fn halos_are_those_of_arrays_and_tuples() {
    let cpu = folio::cpu::CpuBackend::builder().domains(2).build().unwrap();
    let rt = Runtime::builder().backend(cpu).build().unwrap();
    let q = rt.queue_on("cpu:1").unwrap();
    let rows = BufferOptions::new().page([1, 20]);
    let x = rt.buffer_with((vec![1.0f32; 400], (20, 20)), rows).unwrap();
    let mut y = rt.buffer([20, 20]).unwrap();
    q.run((5..10, 1..19), crossed(&x, &mut y)).unwrap();
    assert_eq!((y.get((9, 18)).unwrap(), y.get([10, 18]).unwrap()), (4.0, 0.0));
    assert_eq!(x.counters().host_to_device.bytes, 7 * 20 * 4);

    q.run([5..6, 19..20], crossed(&x, &mut y)).unwrap();
    let Err(Error::Failed(failure)) = y.get([5, 19]) else {
        panic!("a column is read that is none")
    };
    assert!(failure.to_string().contains("[5, 20]"), "{failure}");
}

/// Everything of the prelude beside everything of these modules.
mod beside_std {
    use folio::prelude::*;
    use std::{cmp::*, collections::*, iter::*, marker::*, mem::*, ops::*, sync::*, time::*};

    #[derive(Clone, Copy, PartialEq, Debug, DeviceType)]
    #[repr(C)]
    pub struct Money {
        cents: i64,
    }

    impl Add for Money {
        type Output = Money;
        fn add(self, other: Money) -> Money {
            Money { cents: self.cents + other.cents }
        }
    }

    impl Mul<i64> for Money {
        type Output = Money;
        fn mul(self, by: i64) -> Money {
            Money { cents: self.cents * by }
        }
    }

    #[kernel]
    pub fn folds(i: Item, x: In<i64>, sum: Reduce<i64, Add>, least: Reduce<i64, Min>) {
        sum.give(x[i]);
        least.give(x[i]);
    }

    #[kernel(group = 4)]
    pub fn products(g: Group, x: In<i64>, y: OutGroup<i64>, up: Out<i64>) {
        let product = g.reduce::<Mul>(|i| x[i]);
        let so_far = g.inclusive_scan::<Add>(|i| x[i]);
        y[g] = product;
        g.each(|i| {
            let all = i.subgroup_reduce::<Max>(x[i]);
            up[i] = so_far[i] + (all - all);
        });
    }

    pub fn money() -> [Money; 2] {
        let ordering: Ordering = 1.cmp(&2);
        let all: VecDeque<Money> = repeat_n(Money { cents: 3 }, 2).collect();
        assert!(ordering == Ordering::Less && size_of::<PhantomData<Mutex<Duration>>>() == 0);
        [all[0] + all[1], all[0] * 2]
    }
}

/// KRN-01: the prelude has no type of the name of one of `std::ops`, and kernels know what combines
/// by its name.
#[test]
fn names_of_std_stay_std() {
    let rt = folio::runtime().unwrap();
    let q = rt.queue().unwrap();
    let [a, b] = beside_std::money();
    assert_eq!(a, b);
    let x = rt.buffer_from((1..=8).collect::<Vec<i64>>()).unwrap();
    let (mut sum, mut least) = (rt.buffer(1).unwrap(), rt.buffer(1).unwrap());
    q.run(8, beside_std::folds(&x, &mut sum, &mut least)).unwrap();
    assert_eq!((sum.get(0).unwrap(), least.get(0).unwrap()), (36, 1));
    let (mut y, mut up) = (rt.buffer(2).unwrap(), rt.buffer(8).unwrap());
    q.run(8, beside_std::products(&x, &mut y, &mut up)).unwrap();
    assert_eq!(y.to_vec().unwrap(), [24, 1680]);
    assert_eq!(up.to_vec().unwrap(), [1, 3, 6, 10, 5, 11, 18, 26]);
}

/// Names that are Rust's own words, and a name that a column's view has.
#[derive(Clone, Copy, Debug, PartialEq, DeviceType, Columns)]
#[repr(C)]
struct r#Words {
    r#type: u32,
    len: u32,
    of: u32,
}

#[kernel]
fn words(i: Item, r#in: InOutColumns<Words>, in_len: u32, y: Out<u32>) {
    r#in[i].r#type += in_len;
    y[i] = r#in[i].r#type * 100 + r#in[i].len * 10 + r#in.len() as u32;
}

#[test]
fn columns_have_any_names() {
    let rt = folio::runtime().unwrap();
    let mut all = Words::of_rows(&rt, &[Words { r#type: 1, len: 2, of: 3 }; 4]).unwrap();
    let mut y = rt.buffer(4).unwrap();
    rt.queue().unwrap().run(4, words(&mut all, 5, &mut y)).unwrap();
    assert_eq!(y.to_vec().unwrap(), [624; 4]);
    assert_eq!(Words::rows(&all).unwrap(), [Words { r#type: 6, len: 2, of: 3 }; 4]);
}

/// Columns are buffers of the program's, which may put in others.
#[test]
fn columns_of_different_lengths_are_refused() {
    let rt = folio::runtime().unwrap();
    for len in [0, 3, 5] {
        let mut all = Words::empty(&rt, 4).unwrap();
        all.of = rt.buffer(len).unwrap();
        let refused = Words::rows(&all);
        assert!(matches!(refused, Err(Error::Mismatch { what: "columns", .. })), "{refused:?}");
    }
}
