//! What is written as in every Rust function: references, methods that change their value, loops
//! over arrays, assignments of several values. Each function is compiled twice from the same text,
//! as a device function and by rustc alone, and kernels give what rustc's gives (KRN-01).
#![forbid(unsafe_code)]
#![allow(
    clippy::needless_range_loop,
    clippy::manual_is_multiple_of,
    clippy::question_mark,
    reason = "these are written in every way that there is"
)]

use super::agree::*;
use super::language::mapped;
use crate::engine::rig::*;
use folio::prelude::*;

/// The same types and functions for rustc alone, in `plain`, and for devices.
macro_rules! twice {
    ({$($types:item)*} $($code:item)*) => {
        pub mod plain {
            $($types)*
            $($code)*
        }
        pub mod device {
            use folio::prelude::*;
            $($types)*
            $(#[device_fn] $code)*
        }
    };
}

twice! {
    {
        #[derive(Clone, Copy, Debug, PartialEq, folio::DeviceType)]
        #[repr(C)]
        pub struct Pair {
            pub a: u32,
            pub b: u32,
        }

        #[derive(Clone, Copy, Debug, PartialEq, folio::DeviceType)]
        #[repr(C)]
        pub struct Random {
            pub state: u32,
            pub drawn: [u32; 3],
            pub last: Pair,
        }
    }

    impl Pair {
        pub fn sum(&self) -> u32 {
            self.a.wrapping_add(self.b)
        }
        pub fn scaled(self, by: u32) -> Pair {
            Pair { a: self.a.wrapping_mul(by), b: self.b.wrapping_mul(by) }
        }
        pub fn add(&mut self, other: &Pair) {
            self.a = self.a.wrapping_add(other.a);
            self.b = self.b.wrapping_add(other.sum());
        }
        pub fn swap(&mut self) {
            (self.a, self.b) = (self.b, self.a);
        }
        pub fn draws(self, random: &mut Random) -> u32 {
            self.sum() ^ random.next()
        }
    }

    impl Random {
        pub fn new(seed: u32) -> Random {
            Random { state: seed, drawn: [0; 3], last: Pair { a: 0, b: 1 } }
        }
        pub fn next(&mut self) -> u32 {
            self.state = self.state.wrapping_mul(1664525).wrapping_add(1013904223);
            if self.state & 8 == 0 {
                return self.state;
            }
            self.drawn[(self.state >> 3) as usize % 3] += 1;
            self.last.add(&Pair { a: self.state, b: 2 });
            self.last.swap();
            self.state >> 4
        }
        pub fn below(&mut self, n: u32) -> u32 {
            let drawn = self.next();
            drawn % n
        }
    }

    fn first(of: &[u32; 4]) -> u32 {
        of[0]
    }

    fn turn(of: &mut [u32; 4], by: &u32) -> u32 {
        let before = first(of);
        for k in 0..of.len() {
            of[k] = of[k].rotate_left(*by);
        }
        let added = &of[1];
        before.wrapping_add(*added)
    }

    fn twice(a: &mut u32, b: &mut u32) {
        *a += 1;
        if *a > 40 {
            return;
        }
        *b = a.wrapping_mul(3);
        bump(a);
        bump(b);
    }

    fn bump(a: &mut u32) {
        *a = a.wrapping_mul(2);
    }

    pub fn references(x: u32) -> u32 {
        let mut random = Random::new(x);
        let mut four = [x, x + 1, x + 2, x + 3];
        let (mut a, mut b) = (x, 7);
        twice(&mut a, &mut b);
        bump(&mut random.state);
        let turned = turn(&mut four, &(b & 7));
        let drawn = random.next();
        let again = random.below(17);
        let mut pair = Pair { a: again, b: drawn };
        pair.add(&random.last);
        pair.swap();
        let scaled = pair.scaled(pair.sum()).draws(&mut random);
        let counted = random.drawn[0] + 3 * random.drawn[1] + 9 * random.drawn[2];
        let order = pair.scaled({ pair.swap(); 3 }).a;
        turned ^ scaled ^ a ^ b.wrapping_mul(5) ^ four[2] ^ counted ^ pair.b ^ order ^ random.state
    }

    pub fn loops(x: u32) -> u32 {
        let few = [x, x * 3, x + 9, 5, x / 2];
        let mut seen = [1, 2, 3, 4, 5u32];
        let mut sum = 0u32;
        for k in few {
            sum = sum.wrapping_mul(3).wrapping_add(k);
        }
        for k in &few {
            sum = sum.wrapping_mul(5).wrapping_add(*k);
        }
        for (at, k) in few.iter().enumerate() {
            sum ^= (at as u32).wrapping_mul(*k);
        }
        for (at, &k) in few.iter().enumerate().rev() {
            sum = sum.rotate_left(at as u32) ^ k;
        }
        for (at, k) in few.iter().rev().enumerate() {
            sum = sum.rotate_left(at as u32 + 1) ^ *k;
        }
        for (a, b) in few.iter().zip(seen.iter()) {
            sum = sum.wrapping_add(a * b);
        }
        for (seen, few) in few.iter().zip(seen.iter()) {
            sum = sum.wrapping_mul(3).wrapping_add(seen ^ (few << 1));
        }
        for (at, (a, b)) in few.iter().zip(&[9, 8, 7u32]).enumerate() {
            sum = sum.wrapping_add(a ^ (b << at));
        }
        for k in seen {
            seen[(k % 5) as usize] += sum & 1;
            sum = sum.wrapping_add(k * 7);
        }
        'all: for a in few.iter().copied() {
            for b in seen.iter() {
                if *b > 5 && a % 3 == 1 {
                    continue 'all;
                }
                if a + b > 90 {
                    break 'all;
                }
                sum += a ^ b;
            }
        }
        for (at, k) in few.iter().enumerate().skip(1).step_by(2) {
            sum = sum.wrapping_mul(at as u32 + 7) ^ k;
        }
        for k in few.iter().rev().take(3).skip((x % 5) as usize).copied() {
            sum = sum.rotate_right(5) ^ k;
        }
        for k in [[1u32, 2], [3, 4]] {
            sum = sum.wrapping_mul(k[0]) + k[1];
        }
        sum
    }

    fn map3(of: [u32; 3], f: impl Fn(u32) -> u32) -> [u32; 3] {
        [f(of[0]), f(of[1]), f(of[2])]
    }

    fn fold(of: &[u32; 3], first: u32, f: impl Fn(u32, u32) -> u32) -> u32 {
        let mut all = first;
        for v in of {
            all = f(all, *v);
        }
        all
    }

    fn twice_of(f: impl Fn(u32) -> u32, g: impl Fn() -> u32, x: u32) -> u32 {
        if x % 3 == 0 {
            return f(g());
        }
        fold(&map3([x, g(), 3], |v| f(v).wrapping_add(1)), g(), |a, b| a.rotate_left(3) ^ f(b))
    }

    pub fn closures(x: u32) -> u32 {
        let by = x % 29 + 1;
        let parts = map3([x, x / 2, 9], |v| {
            let scaled = v.wrapping_mul(by);
            if scaled % 2 == 0 { scaled / 2 } else { scaled ^ by }
        });
        let sum = fold(&parts, by, |a: u32, b| a.wrapping_mul(7).wrapping_add(b));
        let longest = fold(&parts, 0, |a, b| a.max(first(&[b, 1, 2, 3])));
        // A closure calls the function that it is given to.
        let nested = map3(parts, |v| fold(&map3([v, by, 3], |w| w ^ v), v, |a, b| a.max(b)));
        sum ^ longest ^ nested[1] ^ twice_of(|v| v.wrapping_sub(by), || parts[1], x)
    }

    pub fn several(x: u32) -> u32 {
        const STEPS: u32 = 6;
        const MORE: usize = 2 + 1;
        let (mut a, mut b) = (x % 19, x % 7 + 1);
        let mut kept = [0u32; MORE];
        for k in 0..STEPS {
            (a, b) = (b, a + b);
            [kept[0], _, kept[(k % 3) as usize]] = [a, 4, b + 1];
            ((a, kept[1]), b) = ((a % 1000, kept[1] + k), b % 1000);
        }
        let odd = matches!(a % 5, 1 | 3) as u32 + 2 * (matches!((a, b), (p, 3..=900) if p > b) as u32);
        kept[0] + 3 * kept[1] + 5 * kept[2] + 100 * odd + (a + 1).div_ceil(b + 1)
    }
}

mod fields {
    //! A trait with functions of devices, and what is generic over it.

    twice! {
        {
            #[derive(Clone, Copy, folio::DeviceType)]
            #[repr(C)]
            pub struct Slope {
                pub by: i32,
            }

            #[derive(Clone, Copy, folio::DeviceType)]
            #[repr(C)]
            pub struct Steps<T> {
                pub wide: T,
                pub high: T,
            }
        }

        pub trait Field {
            const LEAST: i32;
            fn at(&self, x: i32) -> i32;
            fn moved(self, by: i32) -> Self;
            fn step(&mut self, by: &i32) -> i32;
            fn bias(x: i32) -> i32;
        }

        impl Field for Slope {
            const LEAST: i32 = -40;
            fn at(&self, x: i32) -> i32 {
                self.by * x + Self::LEAST
            }
            fn moved(self, by: i32) -> Self {
                Slope { by: self.by + by }
            }
            fn step(&mut self, by: &i32) -> i32 {
                self.by += *by;
                self.by * 2
            }
            fn bias(x: i32) -> i32 {
                x ^ 5
            }
        }

        impl Field for Steps<i32> {
            const LEAST: i32 = 7;
            fn at(&self, x: i32) -> i32 {
                x / self.wide * self.high
            }
            fn moved(self, by: i32) -> Self {
                Steps { wide: self.wide, high: self.high - by }
            }
            fn step(&mut self, by: &i32) -> i32 {
                (self.wide, self.high) = (self.high | 1, *by);
                self.wide
            }
            fn bias(x: i32) -> i32 {
                x - 9
            }
        }

        pub fn slope_and_steps(x: u32) -> u32 {
            let x = x as i32 % 1000;
            let slope = Slope { by: x % 11 };
            (walked(slope, x) ^ walked(Steps { wide: 3, high: x % 5 }, x + 1)) as u32
        }

        fn walked<F: Field + folio::DeviceType>(field: F, x: i32) -> i32 {
            let mut own = field.moved(2);
            let stepped = own.step(&(x % 13 + 1));
            read(&own, x) + stepped * 3 + field.at(x) + F::bias(x)
        }

        fn read<F: Field + folio::DeviceType>(field: &F, x: i32) -> i32 {
            if field.at(x) > F::LEAST { field.at(x + 1) } else { F::bias(F::LEAST) }
        }
    }
}

mod options {
    //! `Option`, and `let` in conditions.

    twice! {
        {}

        fn half(x: u32) -> Option<u32> {
            if x % 2 == 1 {
                return None;
            }
            Some(x / 2)
        }

        fn quarter(x: u32) -> Option<u32> {
            let Some(once) = half(x) else {
                return None;
            };
            half(once)
        }

        fn eighth(x: u32) -> Option<u32> {
            let once = half(quarter(x)?)?;
            if once > 1000 { None } else { Some(once + half(x)?) }
        }

        fn or(first: Option<u32>, second: &Option<u32>) -> Option<u32> {
            match (first, *second) {
                (Some(a), Some(b)) if a > b => Some(a - b),
                (Some(a), None) | (None, Some(a)) => Some(a),
                (Some(0), _) => None,
                (Some(a), Some(b)) => Some(b - a + 1),
                (None, None) => None,
            }
        }

        fn odd_part(of: &mut u32) -> u32 {
            let mut turns = 0;
            while let Some(less) = half(*of)
                && turns < 9
            {
                *of = less;
                turns += 1;
            }
            turns
        }

        fn within(a: i32, b: i32, c: u8, d: i64) -> u32 {
            let small = (a as i8, b as i8);
            let least = a.checked_mul(b).unwrap_or(a ^ b).saturating_mul(b);
            let sums = [
                a.checked_add(b).unwrap_or(-1),
                a.checked_sub(b).unwrap_or(-2),
                small.0.checked_add(small.1).unwrap_or(3) as i32,
                small.0.checked_sub(small.1).unwrap_or(4) as i32,
                small.0.checked_mul(small.1).unwrap_or(5) as i32,
                small.0.saturating_mul(small.1) as i32,
                c.checked_add(a as u8).unwrap_or(6) as i32,
                c.checked_sub(b as u8).unwrap_or(7) as i32,
                c.checked_mul(b as u8).unwrap_or(8) as i32,
                c.saturating_mul(b as u8) as i32,
                d.checked_mul(a as i64).unwrap_or(9) as i32,
                (d as u64).checked_mul(c as u64).unwrap_or(10) as i32,
                d.saturating_mul(b as i64) as i32,
                (d as u64).checked_add((d as u64).wrapping_mul(2)).unwrap_or(11) as i32,
                (c as u16).checked_mul(b as u16).unwrap_or(12) as i32,
                a.checked_div(b % 3).unwrap_or(13),
                (small.0 | -128).checked_div(small.1 % 2).unwrap_or(14) as i32,
                (small.0 | -128).checked_rem(small.1 % 2).unwrap_or(15) as i32,
                c.checked_rem(b as u8 & 3).unwrap_or(16) as i32,
                (d as u64).checked_div(c as u64 & 1).unwrap_or(17) as i32,
            ];
            let mut all = least as u32;
            for sum in sums {
                all = all.rotate_left(3) ^ sum as u32;
            }
            all
        }

        pub fn options(x: u32) -> u32 {
            let mixed = x.wrapping_mul(2654435761);
            options_of(x) ^ within(mixed as i32, (mixed as i32).rotate_left((x % 31) + 1) >> (x % 20),
                (mixed >> 24) as u8, ((mixed as i64) << (x % 33)).wrapping_sub(7))
        }

        fn options_of(x: u32) -> u32 {
            let mut rest = x | 64;
            let turns = odd_part(&mut rest);
            let mut sum = quarter(x).unwrap_or(77) + 3 * turns + eighth(x).unwrap_or(5);
            let both = or(half(x), &quarter(x + 2));
            if let Some(value) = both {
                sum = sum.wrapping_mul(31) ^ value;
            } else if let (1 | 3, low) = (x % 5, x % 7) {
                sum += low;
            } else {
                sum ^= 0x55;
            }
            let mut least: Option<u32> = None;
            for k in [x % 17, x % 13, rest % 23] {
                least = match least {
                    Some(so_far @ 3..=9) if so_far < k => Some(so_far),
                    Some(_) if k == 4 => None,
                    _ => Some(k),
                };
            }
            'all: while let Some(k) = least {
                for step in 0..k {
                    if step == 6 {
                        break 'all;
                    }
                    sum = sum.rotate_left(step);
                }
                least = if k > 2 { Some(k - 2) } else { None };
            }
            if least.is_some() && or(least, &both).is_none() {
                sum += 1000;
            }
            sum ^ rest
        }
    }
}

mod enums {
    //! Enums without data.

    twice! {
        {
            #[derive(Clone, Copy, PartialEq, folio::DeviceType)]
            #[repr(u8)]
            pub enum Turn {
                Left,
                Right = 200,
                U = 3,
            }

            #[derive(Clone, Copy, PartialEq, folio::DeviceType)]
            #[repr(i32)]
            pub enum Side {
                Before = -4,
                At = 0,
                Behind,
            }
        }

        fn turned(side: Side, turn: &Turn) -> Side {
            match (side, *turn) {
                (Side::Before, Turn::Left) | (Side::Behind, Turn::Right) => Side::At,
                (other, Turn::U) => match other {
                    Side::Before => Side::Behind,
                    Side::At => Side::At,
                    Side::Behind => Side::Before,
                },
                (Side::At, Turn::Left) => Side::Behind,
                _ => Side::Before,
            }
        }

        fn turn(by: u32) -> Option<Turn> {
            match by % 4 {
                0 => Some(Turn::Left),
                1 => Some(Turn::Right),
                2 => Some(Turn::U),
                _ => None,
            }
        }

        pub fn enums(x: u32) -> u32 {
            let (mut side, mut sum) = (if x & 1 == 0 { Side::At } else { Side::Behind }, 0);
            for step in [x, x / 3, x / 7, x / 11] {
                let Some(by) = turn(step) else { continue };
                side = turned(side, &by);
                sum = sum * 3 + (side == Side::Behind && by != Turn::U) as u32;
                sum = sum * 3 + matches!(side, Side::Behind) as u32;
                if let Side::Before = side {
                    sum += 10;
                }
            }
            sum
        }
    }
}

mod shapes {
    //! Enums with data.

    twice! {
        {
            #[derive(Clone, Copy, PartialEq, folio::DeviceType)]
            #[repr(u32)]
            pub enum Shape {
                Empty,
                Circle(u32),
                Box { width: u32, height: u32 },
                Polygon([u32; 3], bool),
            }

            #[derive(Clone, Copy, folio::DeviceType)]
            #[repr(u8)]
            pub enum Step {
                A1(u32),
                Swap(Shape, Shape),
                Nothing,
            }

            use self::Shape as Alias;
            const UNIT: Shape = Shape::Circle(1);
        }

        impl Shape {
            pub fn area(&self) -> u32 {
                match *self {
                    Shape::Empty => 0,
                    UNIT => 55,
                    Self::Circle(0) => 100,
                    Self::Circle(r) => r.wrapping_mul(r).wrapping_mul(3),
                    Self::Box { width, height: 1 } => width,
                    Shape::Box { width: w, height: h } => w.wrapping_mul(h),
                    Shape::Polygon(_, true) => 7,
                    Shape::Polygon(of, _) => of[0] ^ of[1] ^ of[2],
                }
            }
            pub fn grow(&mut self, by: u32) {
                let grown = match *self {
                    Shape::Circle(r) if r > 9 => Shape::Empty,
                    Shape::Circle(r) => Shape::Circle(r + by),
                    Shape::Box { width, .. } => Shape::Box { height: width, width: by },
                    Shape::Polygon(of, odd) => Alias::Polygon([of[1], by, of[0]], !odd),
                    Shape::Empty => Shape::Circle(by % 12),
                };
                *self = grown;
            }
        }

        fn stepped(shape: Shape, step: Step) -> Shape {
            let mut own = shape;
            match step {
                Step::A1(by) => own.grow(by),
                Step::Swap(Shape::Circle(r), Shape::Box { width, .. })
                | Step::Swap(Shape::Box { width, .. }, Shape::Circle(r)) => {
                    own = Shape::Box { width: r, height: width };
                }
                Step::Swap(a, _) => own = a,
                Step::Nothing => {}
            }
            own
        }

        fn circle(of: Shape) -> Option<u32> {
            let Shape::Circle(r) = of else { return None };
            Some(r)
        }

        pub fn shapes(x: u32) -> u32 {
            let few = [Shape::Circle(x % 13), Shape::Empty, Shape::Box { width: x, height: x & 1 }];
            let mut all = [few[0], few[1], few[2], Shape::Polygon([x, 3, 5], x & 1 == 0)];
            let mut sum = 0u32;
            for (nth, k) in [x % 4, (x / 3) % 4, (x / 7) % 4].iter().enumerate() {
                let (at, other) = (*k as usize, (*k as usize + nth) % 4);
                let step = if x & (1 << nth) == 0 {
                    Step::A1(x % 5)
                } else if x % 11 == 3 {
                    Step::Nothing
                } else {
                    Step::Swap(all[at], all[other])
                };
                all[at] = stepped(all[at], step);
                sum = sum.wrapping_mul(31).wrapping_add(all[at].area());
                if let Shape::Box { width, height } = all[other] {
                    sum ^= width.wrapping_sub(height);
                }
                sum ^= matches!(all[at], Shape::Polygon(_, false)) as u32;
                sum ^= circle(all[other]).unwrap_or(5);
            }
            sum
        }
    }
}

/// An enum with data is a variable, and what a function gives.
#[kernel]
fn has_shapes(i: Item, x: In<u32>, y: Out<u32>) {
    y[i] = shapes::device::shapes(x[i]);
}

/// An enum is a kernel's parameter.
#[kernel]
fn faces(i: Item, first: enums::device::Side, turn: enums::device::Turn, y: Out<u32>) {
    let side = if i.index() % 3 == 0 { first } else { enums::device::Side::Behind };
    y[i] = match (side, turn) {
        (enums::device::Side::Before, enums::device::Turn::Right) => 1,
        (enums::device::Side::Behind, _) => 2,
        _ => 3,
    };
}

#[kernel]
fn takes_sides(i: Item, x: In<u32>, y: Out<u32>) {
    y[i] = enums::device::enums(x[i]);
}

#[kernel]
fn chooses(i: Item, x: In<u32>, y: Out<u32>) {
    y[i] = options::device::options(x[i]);
}

#[kernel]
fn by_traits(i: Item, x: In<u32>, y: Out<u32>) {
    y[i] = fields::device::slope_and_steps(x[i]);
}

/// A kernel that is generic over a trait of the program's.
#[kernel]
fn of_a_field<F: fields::device::Field + DeviceType>(i: Item, field: F, x: In<i32>, y: Out<i32>) {
    let mut own = field;
    own.step(&3);
    y[i] = own.at(x[i]) + F::bias(x[i]);
}

#[kernel]
fn refers(i: Item, x: In<u32>, y: Out<u32>) {
    y[i] = device::references(x[i]);
}

#[kernel]
fn goes_through(i: Item, x: In<u32>, y: Out<u32>) {
    y[i] = device::loops(x[i]);
}

#[kernel]
fn closes_over(i: Item, x: In<u32>, y: Out<u32>) {
    y[i] = device::closures(x[i]);
}

#[device_fn]
fn sum_of(n: usize, f: impl Fn(usize) -> u32) -> u32 {
    let mut sum = 0;
    for k in 0..n {
        sum += f(k);
    }
    sum
}

/// A closure has the kernel's views.
#[kernel]
fn convolves(i: Item, weights: In<u32>, x: In<u32>, y: Out<u32>) {
    y[i] = sum_of(weights.len(), |k| weights[k] * x[(i.index() + k).min(x.len() - 1)]);
}

#[kernel]
fn assigns(i: Item, x: In<u32>, y: Out<u32>) {
    y[i] = device::several(x[i]);
}

/// In a kernel itself, with views.
#[kernel]
fn within(i: Item, weights: In<u32>, x: In<u32>, y: Out<u32>) {
    const SHIFT: usize = 1;
    let mut sum = 0;
    for (k, w) in weights.iter().enumerate() {
        sum += *w * x[(i.index() + k + SHIFT).min(x.len() - 1)];
    }
    let mut random = device::Random::new(x[i]);
    sum ^= random.next();
    let pair = &random.last;
    let (low, high) = (pair.a & 0xffff, random.last.sum() >> 16);
    y[i] = sum ^ (low << 1) ^ high;
}

/// By items of a group.
#[kernel(group = 8)]
fn by_groups(g: Group, x: In<u32>, tile: Local<u32, 8>, y: Out<u32>) {
    let mut turns = device::Random::new(3);
    let by = turns.below(5) + 1;
    g.each(|i| {
        let mut own = device::Random::new(x[i]);
        own.next();
        let mut few = [own.state, own.drawn[0], own.drawn[1]];
        (few[0], few[1]) = (few[1], few[0]);
        let mut sum = 0u32;
        for (k, v) in few.iter().enumerate() {
            sum = sum.wrapping_add(v.rotate_left(k as u32 * by));
        }
        tile[i] = sum;
    });
    g.each(|i| y[i] = tile[7 - i.local_index()]);
}

fn angle(k: usize) -> f32 {
    k as f32 * 0.37 - 9.0
}

/// Devices have sines of their own, but one of them.
#[kernel]
fn turns(i: Item, x: In<f32>, y: Out<u32>) {
    let (s, c) = x[i].sin_cos();
    y[i] = (s == x[i].sin() && c == x[i].cos() && s * s + c * c > 0.9) as u32;
}

fn given(k: usize) -> u32 {
    (k as u32).wrapping_mul(2654435761) >> 9
}

/// KRN-01: what rustc makes of the same text is what every form of a kernel gives.
pub(super) fn references_and_loops_are_those_of_rust(rig: &Rig) -> Outcome {
    type Plain = fn(u32) -> u32;
    fine(mapped(rig, given, 0, |x, y| refers(x, y))?)?;
    fine(mapped(rig, given, 0, |x, y| goes_through(x, y))?)?;
    fine(mapped(rig, given, 0, |x, y| assigns(x, y))?)?;
    fine(mapped(rig, given, 0, |x, y| chooses(x, y))?)?;
    fine(mapped(rig, given, 0, |x, y| by_traits(x, y))?)?;
    fine(mapped(rig, given, 0, |x, y| closes_over(x, y))?)?;
    fine(mapped(rig, given, 0, |x, y| takes_sides(x, y))?)?;
    fine(mapped(rig, given, 0, |x, y| has_shapes(x, y))?)?;
    let (side, turn) = (enums::device::Side::Before, enums::device::Turn::Right);
    let y = data([64], |_| 0);
    let args = vec![scalar(side as i32), scalar(turn as u8), y.arg()];
    fine(agree::<faces>(rig, &[64], args, |rt, q| {
        let mut y = y.buffer(rt)?;
        q.run(64, faces(side, turn, &mut y))?;
        let got = contents(&y)?;
        Ok(vec![got])
    })?)?;
    let slope = fields::device::Slope { by: 3 };
    let (a, b) = (data([64], |k| k as i32 - 9), data([64], |_| 0));
    let args = vec![scalar(3), a.arg(), b.arg()];
    fine(agree::<of_a_field<fields::device::Slope>>(rig, &[64], args, |rt, q| {
        let (a, mut b) = (a.buffer(rt)?, b.buffer(rt)?);
        q.run(64, of_a_field(slope, &a, &mut b))?;
        Ok(vec![contents(&b)?])
    })?)?;
    fine(mapped(rig, angle, 0, |x, y| turns(x, y))?)?;
    let x: Vec<u32> = (0..64).map(given).collect();
    let mut got = [[0; 64]; 8];
    refers::host(64, &x, &mut got[0])?;
    goes_through::host(64, &x, &mut got[1])?;
    assigns::host(64, &x, &mut got[2])?;
    chooses::host(64, &x, &mut got[3])?;
    by_traits::host(64, &x, &mut got[4])?;
    takes_sides::host(64, &x, &mut got[5])?;
    closes_over::host(64, &x, &mut got[6])?;
    has_shapes::host(64, &x, &mut got[7])?;
    let plain: [Plain; 8] = [
        plain::references,
        plain::loops,
        plain::several,
        options::plain::options,
        fields::plain::slope_and_steps,
        enums::plain::enums,
        plain::closures,
        shapes::plain::shapes,
    ];
    let device: [Plain; 8] = [
        device::references,
        device::loops,
        device::several,
        options::device::options,
        fields::device::slope_and_steps,
        enums::device::enums,
        device::closures,
        shapes::device::shapes,
    ];
    for ((plain, device), got) in plain.into_iter().zip(device).zip(got) {
        for (x, got) in x.iter().zip(got) {
            ensure_eq!((got, device(*x)), (plain(*x), plain(*x)), "of {x}");
        }
    }
    Ok(())
}

/// The same in kernels, with views and in groups.
pub(super) fn references_and_loops_in_kernels(rig: &Rig) -> Outcome {
    let (weights, x, y) = (data([5], |k| k as u32 * 3), data([64], given), data([64], |_| 0));
    let args = vec![weights.arg(), x.arg(), y.arg()];
    fine(agree::<within>(rig, &[64], args, |rt, q| {
        let (weights, x, mut y) = (weights.buffer(rt)?, x.buffer(rt)?, y.buffer(rt)?);
        q.run(64, within(&weights, &x, &mut y))?;
        Ok(vec![contents(&y)?])
    })?)?;
    let args = vec![weights.arg(), x.arg(), y.arg()];
    fine(agree::<convolves>(rig, &[64], args, |rt, q| {
        let (weights, x, mut y) = (weights.buffer(rt)?, x.buffer(rt)?, y.buffer(rt)?);
        q.run(64, convolves(&weights, &x, &mut y))?;
        Ok(vec![contents(&y)?])
    })?)?;
    let args = vec![x.arg(), folio_interp::interp::Arg::Local, y.arg()];
    fine(agree_in::<by_groups>(rig, (&[64], Some(&[8])), args, |rt, q| {
        let (x, mut y) = (x.buffer(rt)?, y.buffer(rt)?);
        q.run(folio_core::Items::from(64).groups([8]), by_groups(&x, &mut y))?;
        Ok(vec![contents(&y)?])
    })?)
}
