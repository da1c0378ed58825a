//! Instruction sets. The loop over a block is compiled for several of them, and the best one that
//! the processor has is taken. All give the same bits: nothing is contracted or reordered for any
//! (semantics 5.2). Each one costs the compiler as much as the others, so large bodies have fewer.

use super::{Checked, Kernel, Launched, ParamPtr, Positions, Proved};
use std::sync::atomic::{AtomicU8, Ordering};

/// The instructions that a loop is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Instructions {
    /// The compiler's own options; by default, any processor of the kind.
    Any,
    /// x86-64 with AVX2 and FMA, which only `mul_add` uses.
    Avx2,
    /// x86-64 with AVX-512: F, BW, DQ, VL.
    Avx512,
}

/// 0 before the processor was asked; then 1 for `Any`, and so on.
static BEST: AtomicU8 = AtomicU8::new(0);

impl Instructions {
    /// The best that is taken here.
    #[inline]
    pub fn best() -> Instructions {
        match BEST.load(Ordering::Relaxed) {
            1 => Instructions::Any,
            2 => Instructions::Avx2,
            3 => Instructions::Avx512,
            _ => Instructions::Avx512.limit(),
        }
    }

    /// From now on the best is this, or less if the processor lacks it; tells which. For tests: no
    /// result depends on it.
    #[doc(hidden)]
    #[cold]
    pub fn limit(self) -> Instructions {
        let best = self.min(Instructions::of_processor());
        BEST.store(best as u8 + 1, Ordering::Relaxed);
        best
    }

    #[cfg(target_arch = "x86_64")]
    fn of_processor() -> Instructions {
        use std::arch::is_x86_feature_detected as has;
        let avx2 = has!("avx2") && has!("fma");
        let wide = has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl");
        match (avx2, wide) {
            (true, true) => Instructions::Avx512,
            (true, false) => Instructions::Avx2,
            _ => Instructions::Any,
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn of_processor() -> Instructions {
        Instructions::Any
    }
}

/// The mode of each: were it one for all, they would share the closures of a body, which are
/// inlined where there is one call, and are compiled for any processor where they are not.
const ANY: u8 = Instructions::Any as u8;
#[cfg(target_arch = "x86_64")]
const AVX2: u8 = Instructions::Avx2 as u8;
#[cfg(target_arch = "x86_64")]
const AVX512: u8 = Instructions::Avx512 as u8;

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn avx2<K: Kernel, const INTERIOR: bool>(
    scalars: &[u64],
    memory: &[ParamPtr],
    block: &Positions,
    launch: &Launched,
) {
    // SAFETY: the caller's promise.
    unsafe { K::items::<Proved<AVX2, INTERIOR>>(scalars, memory, block, launch) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
unsafe fn avx512<K: Kernel, const INTERIOR: bool>(
    scalars: &[u64],
    memory: &[ParamPtr],
    block: &Positions,
    launch: &Launched,
) {
    // SAFETY: the caller's promise.
    unsafe { K::items::<Proved<AVX512, INTERIOR>>(scalars, memory, block, launch) }
}

/// Computes the items of a block with each access checked, for any processor.
///
/// # Safety
/// That of [`Kernel::items`].
#[inline(never)]
pub(super) unsafe fn checked<K: Kernel>(
    scalars: &[u64],
    memory: &[ParamPtr],
    block: &Positions,
    launch: &Launched,
) {
    // SAFETY: the caller's promise.
    unsafe { K::items::<Checked>(scalars, memory, block, launch) }
}

/// Bytes of the text of a body's tree from which on the body is large: about 60 lines. The tree is
/// all that a constant can say of a body.
#[cfg(target_arch = "x86_64")]
const LARGE: usize = 4096;

/// The loop is compiled for AVX-512.
#[cfg(target_arch = "x86_64")]
const fn has_avx512<K: Kernel, const INTERIOR: bool>() -> bool {
    !K::IN_DEVELOPMENT && (K::FUNCTION.body.0.len() < LARGE || INTERIOR == K::GUARDED)
}

/// The loop is compiled once more for processors of x86-64 without AVX2.
#[cfg(target_arch = "x86_64")]
const fn has_any<K: Kernel>() -> bool {
    !K::IN_DEVELOPMENT && K::FUNCTION.body.0.len() < LARGE
}

/// Computes the items of a block, of which nothing is unproved, and in its interior nothing
/// undecided, with the best instructions. Where it is called nothing of a body is compiled once
/// more.
///
/// A large body is not compiled for AVX-512 where guards are undecided, which are borders, and not
/// once more for processors of x86-64 without AVX2: these run the checked form. In a build for
/// development ([`Kernel::IN_DEVELOPMENT`]) no body is compiled for either.
///
/// # Safety
/// That of [`Kernel::items`].
#[inline(never)]
pub unsafe fn best<K: Kernel, const INTERIOR: bool>(
    scalars: &[u64],
    memory: &[ParamPtr],
    block: &Positions,
    launch: &Launched,
) {
    #[cfg(target_arch = "x86_64")]
    match Instructions::best() {
        Instructions::Avx512 if const { has_avx512::<K, INTERIOR>() } => {
            // SAFETY: the processor has them (`limit`); the rest is the caller's promise.
            return unsafe { avx512::<K, INTERIOR>(scalars, memory, block, launch) };
        }
        Instructions::Avx512 | Instructions::Avx2 => {
            // SAFETY: as above.
            return unsafe { avx2::<K, INTERIOR>(scalars, memory, block, launch) };
        }
        Instructions::Any if const { has_any::<K>() } => {}
        Instructions::Any => {
            // SAFETY: the caller's promise.
            return unsafe { checked::<K>(scalars, memory, block, launch) };
        }
    }
    // SAFETY: the caller's promise.
    unsafe { K::items::<Proved<ANY, INTERIOR>>(scalars, memory, block, launch) }
}
