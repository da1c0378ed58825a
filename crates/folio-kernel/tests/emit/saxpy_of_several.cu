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
typedef struct { u64 words[6]; } Block;
ENTRY(256) folio_saxpy(
    const Block block,
    GLOBAL const f32 *RESTRICT x_p1_base,
    GLOBAL f32 *RESTRICT y_p2_base) {
  const u64 x_p1_low0 = (u32)(block.words[0]);
  const u64 y_p2_low0 = (u32)(block.words[1]);
  const u64 first0 = (u32)(block.words[2]);
  GLOBAL const f32 *x_p1 = x_p1_base + block.words[4];
  GLOBAL f32 *y_p2 = y_p2_base + block.words[5];
  const f32 a_p0 = F32_BITS((u32)block.words[3]);
  const u64 own = (u32)(first0 + (u64)blockIdx.x * (256 * 4) + threadIdx.x);
  const u64 pos0_0 = own + 256 * 0;
  const u64 pos0_1 = own + 256 * 1;
  const u64 pos0_2 = own + 256 * 2;
  const u64 pos0_3 = own + 256 * 3;
  const f32 t2 = x_p1[pos0_0 - x_p1_low0];
  const f32 t8 = x_p1[pos0_1 - x_p1_low0];
  const f32 t14 = x_p1[pos0_2 - x_p1_low0];
  const f32 t20 = x_p1[pos0_3 - x_p1_low0];
  const f32 t3 = a_p0 * t2;
  const f32 t9 = a_p0 * t8;
  const f32 t15 = a_p0 * t14;
  const f32 t21 = a_p0 * t20;
  const f32 t4 = y_p2[pos0_0 - y_p2_low0];
  const f32 t10 = y_p2[pos0_1 - y_p2_low0];
  const f32 t16 = y_p2[pos0_2 - y_p2_low0];
  const f32 t22 = y_p2[pos0_3 - y_p2_low0];
  const f32 t5 = t3 + t4;
  const f32 t11 = t9 + t10;
  const f32 t17 = t15 + t16;
  const f32 t23 = t21 + t22;
  y_p2[pos0_0 - y_p2_low0] = t5;
  y_p2[pos0_1 - y_p2_low0] = t11;
  y_p2[pos0_2 - y_p2_low0] = t17;
  y_p2[pos0_3 - y_p2_low0] = t23;
}
