use folio::prelude::*;

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Counter {
    n: u32,
}

#[device_fn]
impl Counter {
    fn next(&mut self) -> u32 {
        self.n += 1;
        self.n
    }
    fn read(&self) -> u32 {
        self.n
    }
}

struct Named {
    n: u32,
}

#[device_fn]
impl Named {
    fn unwrap_or(self, other: u32) -> u32 {
        other
    }
    fn sin_cos(self) -> u32 {
        self.n
    }
}

#[device_fn]
fn bump(a: &mut u32, by: &u32) {
    *a += *by;
}

#[device_fn]
fn rebinds(mut a: &mut u32) {
    a = 3;
}

#[device_fn]
fn changes_what_it_reads(a: &u32) {
    *a = 3;
}

#[kernel]
fn changes_elements(i: Item, x: InOut<u32>, y: Out<u32>) {
    let mut few = [1, 2];
    bump(&mut few[0], &1);
    bump(&mut x[i], &few[1]);
    let value = few[0];
    y[i] = *value;
}

#[kernel]
fn changes_values(i: Item, x: In<Counter>, y: Out<u32>) {
    y[i] = x[i].next() + Counter { n: 1 }.read();
}

#[kernel]
fn changes_a_constant_variable(i: Item, y: Out<u32>) {
    let a = 1u32;
    let counter = Counter { n: 1 };
    bump(&mut a, &2);
    y[i] = counter.next() + a;
}

#[kernel]
fn lends_twice(i: Item, y: Out<u32>) {
    let mut a = 1u32;
    bump(&mut a, &a);
    y[i] = a;
}

#[kernel]
fn keeps_options(i: Item, last: Option<u32>, x: In<Option<u32>>, y: Out<u32>) {
    if let Some(a) = last && let Some(b) = x[i] {
        y[i] = a + b;
    }
}

#[kernel]
fn has_constants(i: Item, y: Out<u32>) {
    const ONE: u32 = one!();
    if i.index() > 1 {
        const TWO: u32 = 2;
        y[i] = TWO;
    } else {
        y[i] = ONE;
    }
}

#[derive(Clone, Copy, DeviceType)]
#[repr(u32)]
enum NoZero {
    One = 1,
    Two,
}

#[derive(Clone, Copy, DeviceType)]
#[repr(u32)]
enum Numbered {
    None,
    Some(u32) = 3,
}

#[derive(Clone, Copy, DeviceType)]
#[repr(u32)]
enum Bracketed {
    None(),
    Some(u32),
}

#[derive(Clone, Copy, DeviceType)]
enum NoNumbers {
    First,
}

#[derive(Clone, Copy, DeviceType)]
#[repr(u8)]
enum Fine {
    First,
    Second,
}

#[kernel]
fn has_enums_in_memory(i: Item, x: In<Fine>, y: Out<u32>) {
    y[i] = match x[i] {
        Fine::First => 1,
    };
}

#[device_fn]
trait Gives {
    fn give(self) -> u32 {
        3
    }
    fn generic<T: Number>(of: T) -> T;
}

#[device_fn]
impl std::ops::AddAssign for Counter {
    fn add_assign(&mut self, other: Counter) {
        self.n += other.n;
    }
}

#[device_fn]
impl std::ops::Div<Counter> for u32 {
    type Output = Counter;
    fn div(self, other: Counter) -> Counter {
        Counter { n: self * other.n }
    }
}

fn main() {
    let rt = folio::runtime().unwrap();
    let _ = rt.buffer_from(&[Fine::First]);
}
