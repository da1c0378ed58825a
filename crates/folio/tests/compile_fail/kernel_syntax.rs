//! KRN-06: what kernels do not support is refused where it stands, with what to write instead.
use folio::prelude::*;

const LIMIT: i32 = 3;

#[kernel]
fn expressions(i: Item, x: In<i32>, y: Out<i32>) {
    let closure = move |a: i32| a + 1;
    let reference = &x;
    let value = *reference;
    let text = "text";
    let letter = 'c';
    let range = 0..5;
    let question = value?;
    let block = const { 5 };
    let guessed = value as _;
    let rest = Pair { a: 1, ..value };
    // SAFETY: it is refused.
    unsafe { value };
    if let 1 = value {}
    while let 1 = value {}
    let 1 = value else { return };
    fn inner() {}
    println!("{value}");
    let list = vec![1, 2];
    assert_eq!(value, 1);
    assert_ne!(value, 1);
    assert!(value > 0, "{value}");
    panic!("{value}");
    unreachable!(value);
    other!(value);
    5 = value;
    y[i] = 1;
}

#[kernel]
fn loops(i: Item, x: In<i32>, y: Out<i32>) {
    for k in x {}
    for k in 0.. {}
    for k in (0..9).step_by(2).rev() {}
    for k in x.iter() {}
    break;
    continue;
    loop {
        break 'nowhere;
    }
    let (a, b);
    y[i] = 1;
}

#[kernel]
fn choices(i: Item, x: In<i32>, y: Out<i32>) {
    match x[i] {
        Some(n) => {}
        [a, b] => {}
        "text" => {}
        ref n => {}
        mut n => {}
        n if n > LIMIT => {}
    }
    match x[i] {
        n if n > 0 => {}
    }
    y[i] = 1;
}

#[kernel]
fn alternatives(i: Item, x: In<i32>, y: Out<i32>) {
    y[i] = match (x[i], i.index()) {
        (n, 0) | (_, n) if n > 3 => n,
        (n, 0) | (n, 1) if n > 3 => n,
        _ => 5,
    };
}

#[kernel]
fn guards(i: Item, x: In<i32>, c: Atomic<u32>, y: Out<i32>) {
    let mut asked = 0;
    y[i] = match (x[i], i.index()) {
        (0, _) | (_, 0) if c.add(0, 1) == 1 => 1,
        (k @ 1..5, _) | (k, 1..3) if called(k, c) => 2,
        (0 | _, 9) if c.max(0, 1) == 1 => 3,
        (_, 4 | LIMIT) if { asked += 1; asked == 1 } => 4,
        (1, _) | (2 | 3, 5) if c.add(0, 1) == 1 => 5,
        (n, 0) | (n, 1..9) if n.min(3) > i.index() as i32 => n,
        _ => 6,
    };
}

#[kernel]
fn operands(i: Item, x: In<f32>, y: Out<f32>) {
    let a = x + 1.0;
    let b = i + 1;
    let mut c = 1.0 < x;
    c |= i == i;
    y[i] = 1.0;
}

#[kernel]
fn methods(i: Item, x: In<i32>, y: Out<i32>) {
    y[i] = x[i].div_euclid(3) + x[i].ilog2() as i32;
    y[i] = x[i].clone() + x.get(3).unwrap() + x[i].checked_add(1) + x[i].to_radians();
    (x[i])(3);
}

#[kernel]
fn alternatives_within(i: Item, x: In<i32>, y: Out<i32>) {
    let mut asked = 0;
    let n = if x[i] > 0 { Some(x[i]) } else { None };
    y[i] = match n {
        Some(1 | _) if { asked += 1; asked == 3 } => 1,
        Some(2 | 3) if { asked += 1; asked == 3 } => 2,
        _ => asked,
    };
}

fn main() {}
