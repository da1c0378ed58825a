//! A kernel's names mean in its IR what they mean in Rust, and to what is proved of its indices,
//! also where the user has others that read the same (KRN-01, KRN-06).
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use folio::prelude::*;
use folio_core::Cause;
use folio_model::interp::Interpreter;
use folio_sim::{DeviceSpec, SimBackend};
use std::sync::Arc;

/// A label of the macro's, and one of the user's with the same name.
macro_rules! of_two_macros {
    ($outer:lifetime) => {
        #[kernel]
        fn leaves(i: Item, y: InOut<u32>) {
            let mut n = 0;
            $outer: for _ in 0..3 {
                'a: for b in 0..3 {
                    n += 1;
                    if b == 1 {
                        continue $outer;
                    }
                    if n > 100 {
                        break 'a;
                    }
                }
                n += 100;
            }
            y[i] = n;
        }
    };
}
of_two_macros!('a);

/// Two loops of one name: the nearer one is meant.
#[kernel]
fn leaves_the_nearer(i: Item, y: InOut<u32>) {
    let mut n = 0;
    'a: for _ in 0..3 {
        'a: for b in 0..3 {
            n += 1;
            if b == 1 {
                continue 'a;
            }
            n += 10;
        }
        n += 100;
        if n > 230 {
            break 'a;
        }
    }
    y[i] = n;
}

/// Names of the language's for other types.
#[allow(non_camel_case_types, dead_code, unused_imports, reason = "that is what is tested")]
mod others {
    use core::primitive;
    use folio::prelude::*;
    type usize = i32;
    type u32 = primitive::u64;
    type u64 = u8;
    enum Option {
        Some,
        None,
    }
    use Option::{None, Some};

    /// The sum wraps in 32 bits.
    #[kernel]
    pub fn suffixed(i: Item, y: InOut<primitive::u32>) {
        let n = 4_000_000_000u32;
        y[i] = ((n + n) / 1000) as primitive::u32;
    }

    /// In 64 bits the index would be a small one.
    #[kernel]
    pub fn cast(i: Item, n: primitive::usize, x: In<f32>, y: InOut<f32>) {
        y[i] = x[n as usize / 1_000_000 - 4294];
    }

    #[kernel]
    pub fn in_strips(i: Item, n: primitive::usize, x: In<f32>, y: InOut<f32>) {
        let mut sum = 0.0;
        for k in 0..n {
            sum += x[k];
        }
        y[i] = sum;
    }

    #[kernel]
    pub fn filled(g: Group, t: Local<f32, 16>, y: InOut<f32>) {
        t.fill(|k| k as f32);
        g.each(|i| y[i] = t[15 - i.local_index()]);
    }
}

/// The CPU, and a device that interprets IR.
fn everywhere(check: impl Fn(&Runtime, &Queue)) {
    let spec = DeviceSpec::new().closures(false).ir(Arc::new(Interpreter));
    let sim = SimBackend::builder().device(spec).build();
    let rt = folio::builder().unwrap().backend(sim).build().unwrap();
    for device in ["cpu:0", "sim:0"] {
        check(&rt, &rt.queue_on(device).unwrap());
    }
}

#[test]
fn labels_are_those_of_their_macro() {
    everywhere(|rt, q| {
        let mut y = rt.buffer_from(&[0; 4]).unwrap();
        q.run(4, leaves(&mut y)).unwrap();
        assert_eq!(y.to_vec().unwrap(), [6; 4]);
        q.run(4, leaves_the_nearer(&mut y)).unwrap();
        assert_eq!(y.to_vec().unwrap(), [246; 4]);
    });
}

#[test]
fn types_of_the_language_may_have_other_names() {
    everywhere(|rt, q| {
        let mut y = rt.buffer_from(&[0; 4]).unwrap();
        q.run(4, others::suffixed(&mut y)).unwrap();
        assert_eq!(y.to_vec().unwrap(), [4_000_000_000u32.wrapping_mul(2) / 1000; 4]);
        let x = rt.buffer_from(&[1.0; 100]).unwrap();
        let mut y = rt.buffer_from(&[0.0; 96]).unwrap();
        q.run(96, others::in_strips(64, &x, &mut y)).unwrap();
        assert_eq!(y.to_vec().unwrap(), [64.0; 96]);
        q.run(Items::from(96).groups([16]), others::filled(&mut y)).unwrap();
        assert_eq!(y.to_vec().unwrap()[..3], [15.0, 14.0, 13.0]);
        q.run(96, others::cast((1 << 32) - 4, &x, &mut y)).unwrap();
        let Err(Error::Failed(failure)) = y.to_vec() else { panic!("outside of `x`") };
        assert!(matches!(failure.cause(), Cause::Kernel(_)), "{failure:?}");
    });
}
