#pragma nv_diag_suppress 111, 128, 177, 550, 186, 221, 222, 39
typedef signed char i8; typedef unsigned char u8; typedef short i16; typedef unsigned short u16;
typedef int i32; typedef unsigned int u32; typedef long long i64; typedef unsigned long long u64;
typedef u16 f16; typedef u16 bf16; typedef float f32; typedef double f64;
#define ENTRY(threads) extern "C" __global__ void __launch_bounds__(threads)
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
typedef struct { u64 words[8]; } Block;
ENTRY(256) folio_saxpy(
    const Block block,
    GLOBAL const f32 *RESTRICT x_p1_base,
    GLOBAL f32 *RESTRICT y_p2_base) {
  const u64 x_p1_low0 = block.words[0];
  const u64 y_p2_low0 = block.words[1];
  const u64 first0 = block.words[2];
  const u64 offset0 = block.words[3];
  const u64 range0 = block.words[4];
  GLOBAL const f32 *x_p1 = x_p1_base + block.words[6];
  GLOBAL f32 *y_p2 = y_p2_base + block.words[7];
  const f32 a_p0 = F32_BITS((u32)block.words[5]);
  const u64 pos0 = first0 + (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (pos0 - offset0 >= range0) return;
  const f32 t2 = x_p1[pos0 - x_p1_low0];
  const f32 t3 = a_p0 * t2;
  const f32 t4 = y_p2[pos0 - y_p2_low0];
  const f32 t5 = t3 + t4;
  y_p2[pos0 - y_p2_low0] = t5;
}
