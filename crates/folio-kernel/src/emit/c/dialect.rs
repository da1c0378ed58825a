//! The differences between the C dialects: a few macros at the head of each text, the names of
//! functions, and how threads are counted. All else is written once, over these.

use crate::names::names;

names! {
    /// A dialect of C.
    pub enum Dialect {
        /// OpenCL C 1.2.
        OpenCl = "opencl",
        /// CUDA C++, as NVRTC takes it: without headers.
        Cuda = "cuda",
    }
}

/// A needless computation is the author's business, and nothing to warn about; nor is an index
/// beyond an array, which is checked.
const OPENCL: &str = "\
#pragma OPENCL FP_CONTRACT OFF
#ifdef __clang__
#pragma clang diagnostic ignored \"-Wunknown-warning-option\"
#pragma clang diagnostic ignored \"-Wtautological-compare\"
#pragma clang diagnostic ignored \"-Wconstant-logical-operand\"
#pragma clang diagnostic ignored \"-Wunused-value\"
#pragma clang diagnostic ignored \"-Wxor-used-as-pow\"
#pragma clang diagnostic ignored \"-Warray-bounds\"
#endif
typedef char i8; typedef uchar u8; typedef short i16; typedef ushort u16;
typedef int i32; typedef uint u32; typedef long i64; typedef ulong u64;
typedef u16 f16; typedef u16 bf16; typedef float f32;
#define ENTRY(threads) __kernel void
#define FN static inline
#define GLOBAL __global
#define LOCAL __local
#define SHARED __local
#define RESTRICT restrict
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define BITS_F32(x) as_uint(x)
#define F32_BITS(x) as_float(x)
#define BITS_F64(x) as_ulong(x)
#define F64_BITS(x) as_double(x)
";

/// Switched on only where there are doubles: a device without them need not know the word.
const OPENCL_F64: &str = "\
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double f64;
";

const OPENCL_ATOMICS64: &str = "\
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
";

/// The numbers: not reachable (two of them), never referenced, set but never used, pointless
/// comparison with zero, a constant that does not fit or is infinite, a division of constants by
/// zero.
const CUDA: &str = "\
#pragma nv_diag_suppress 111, 128, 177, 550, 186, 221, 222, 39
typedef signed char i8; typedef unsigned char u8; typedef short i16; typedef unsigned short u16;
typedef int i32; typedef unsigned int u32; typedef long long i64; typedef unsigned long long u64;
typedef u16 f16; typedef u16 bf16; typedef float f32; typedef double f64;
#define ENTRY(threads) extern \"C\" __global__ void __launch_bounds__(threads)
#define FN static __device__ __forceinline__
#define GLOBAL
#define LOCAL
#define SHARED __shared__ __align__(16)
#define RESTRICT __restrict__
#define BARRIER __syncthreads()
#define BITS_F32(x) __float_as_uint(x)
#define F32_BITS(x) __uint_as_float(x)
#define BITS_F64(x) ((u64)__double_as_longlong(x))
#define F64_BITS(x) __longlong_as_double((i64)(x))
";

impl Dialect {
    /// The head of a text.
    pub(super) fn head(self, f64: bool, atomics64: bool) -> String {
        match self {
            Dialect::Cuda => CUDA.to_owned(),
            Dialect::OpenCl => {
                let f64 = if f64 { OPENCL_F64 } else { "" };
                let atomics = if atomics64 { OPENCL_ATOMICS64 } else { "" };
                format!("{f64}{atomics}{OPENCL}")
            }
        }
    }

    /// The options of the compiler. `exact`: divisions and square roots of the device can be
    /// correctly rounded.
    pub fn options(self, exact: bool) -> &'static [&'static str] {
        match self {
            Dialect::OpenCl if exact => {
                &["-cl-std=CL1.2", "-cl-fp32-correctly-rounded-divide-sqrt"]
            }
            Dialect::OpenCl => &["-cl-std=CL1.2"],
            Dialect::Cuda => {
                &["--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true"]
            }
        }
    }

    /// The suffixes of literals of `i64` and `u64`.
    pub(super) fn long(self) -> (&'static str, &'static str) {
        match self {
            Dialect::OpenCl => ("l", "ul"),
            Dialect::Cuda => ("ll", "ull"),
        }
    }

    fn axis(at: u8) -> char {
        ['x', 'y', 'z'][usize::from(at.min(2))]
    }

    /// The index of the thread in its block; axis 0 is the fastest.
    pub(super) fn thread(self, axis: u8) -> String {
        match self {
            Dialect::OpenCl => format!("get_local_id({axis})"),
            Dialect::Cuda => format!("threadIdx.{}", Dialect::axis(axis)),
        }
    }

    /// The index of the block.
    pub(super) fn block(self, axis: u8) -> String {
        match self {
            Dialect::OpenCl => format!("get_group_id({axis})"),
            Dialect::Cuda => format!("blockIdx.{}", Dialect::axis(axis)),
        }
    }

    /// Blocks of the grid.
    pub(super) fn blocks(self, axis: u8) -> String {
        match self {
            Dialect::OpenCl => format!("get_num_groups({axis})"),
            Dialect::Cuda => format!("gridDim.{}", Dialect::axis(axis)),
        }
    }

    /// Threads of a block.
    pub(super) fn threads(self, axis: u8) -> String {
        match self {
            Dialect::OpenCl => format!("get_local_size({axis})"),
            Dialect::Cuda => format!("blockDim.{}", Dialect::axis(axis)),
        }
    }

    /// A mathematical function, by the name that OpenCL C has for it.
    pub(super) fn function(self, name: &str, double: bool) -> String {
        match self {
            Dialect::Cuda if !double => format!("{name}f"),
            _ => name.to_owned(),
        }
    }
}
