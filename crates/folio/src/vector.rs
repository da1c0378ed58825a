//! Vectors of two, three and four numbers, in kernels and outside of them.
//!
//! ```
//! use folio::prelude::*;
//! use folio::vector::Vec3;
//!
//! #[kernel]
//! fn turn(i: Item, axis: Vec3<f32>, by: f32, p: InOut<Vec3<f32>>) {
//!     let around = axis.normalized().cross(p[i]);
//!     p[i] = p[i] + by * around;
//! }
//!
//! let rt = folio::runtime()?;
//! let mut p = rt.buffer_from(&[Vec3::new(1.0f32, 0.0, 0.0)])?;
//! rt.queue()?.run(1, turn(Vec3::new(0.0, 0.0, 2.0), 0.5, &mut p))?;
//! assert_eq!(p.to_vec()?, [Vec3::new(1.0, 0.5, 0.0)]);
//! assert_eq!(p.get(0)?.yx(), folio::vector::Vec2::new(0.5, 1.0));
//! # Ok::<(), folio::Error>(())
//! ```

use folio_core::ir::device::{Float, Number};
use folio_macros::{DeviceType, device_fn};
use std::ops::{Add, Div, Mul, Neg, Sub};

macro_rules! vectors {
    ($($(#[$doc:meta])* $name:ident { x $($part:ident)* }, $($to:ident $swizzle:ident($($from:ident)*))*;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, DeviceType)]
        #[repr(C)]
        pub struct $name<T> {
            /// The first number.
            pub x: T,
            $(
                /// A further number.
                pub $part: T,
            )*
        }

        #[device_fn]
        impl<T: Number> $name<T> {
            /// A vector of these numbers.
            pub fn new(x: T, $($part: T),*) -> Self {
                $name { x, $($part),* }
            }
            /// The same number in each place.
            pub fn splat(value: T) -> Self {
                $name { x: value, $($part: value),* }
            }
            /// The sum of the products of their numbers.
            pub fn dot(self, other: Self) -> T {
                self.x * other.x $(+ self.$part * other.$part)*
            }
            /// The products of their numbers.
            pub fn times(self, other: Self) -> Self {
                $name { x: self.x * other.x, $($part: self.$part * other.$part),* }
            }
            $(
                /// The numbers of these names.
                pub fn $swizzle(self) -> $to<T> {
                    $to::new($(self.$from),*)
                }
            )*
        }

        #[device_fn]
        impl<T: Float> $name<T> {
            /// The Euclidean length.
            pub fn length(self) -> T {
                self.dot(self).sqrt()
            }
            /// The same direction with length 1.
            pub fn normalized(self) -> Self {
                self / self.length()
            }
        }

        #[device_fn]
        impl<T: Number> Add for $name<T> {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                $name { x: self.x + other.x, $($part: self.$part + other.$part),* }
            }
        }

        #[device_fn]
        impl<T: Number> Sub for $name<T> {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                $name { x: self.x - other.x, $($part: self.$part - other.$part),* }
            }
        }

        #[device_fn]
        impl<T: Number> Mul<T> for $name<T> {
            type Output = Self;
            fn mul(self, by: T) -> Self {
                $name { x: self.x * by, $($part: self.$part * by),* }
            }
        }

        #[device_fn]
        impl Mul<$name<f32>> for f32 {
            type Output = $name<f32>;
            fn mul(self, of: $name<f32>) -> $name<f32> {
                of * self
            }
        }

        #[device_fn]
        impl Mul<$name<f64>> for f64 {
            type Output = $name<f64>;
            fn mul(self, of: $name<f64>) -> $name<f64> {
                of * self
            }
        }

        #[device_fn]
        impl<T: Number> Div<T> for $name<T> {
            type Output = Self;
            fn div(self, by: T) -> Self {
                $name { x: self.x / by, $($part: self.$part / by),* }
            }
        }

        #[device_fn]
        impl<T: Number> Neg for $name<T> {
            type Output = Self;
            fn neg(self) -> Self {
                $name { x: -self.x, $($part: -self.$part),* }
            }
        }
    )*};
}
vectors! {
    /// Two numbers.
    Vec2 { x y }, Vec2 yx(y x);
    /// Three numbers.
    Vec3 { x y z }, Vec2 xy(x y) Vec2 yx(y x) Vec2 xz(x z) Vec2 yz(y z) Vec3 yzx(y z x) Vec3 zxy(z x y) Vec3 zyx(z y x);
    /// Four numbers.
    Vec4 { x y z w }, Vec2 xy(x y) Vec2 zw(z w) Vec3 xyz(x y z) Vec4 wzyx(w z y x);
}

#[device_fn]
impl<T: Number> Vec3<T> {
    /// The vector at a right angle to both.
    pub fn cross(self, other: Self) -> Self {
        self.yzx().times(other.zxy()) - self.zxy().times(other.yzx())
    }
}
