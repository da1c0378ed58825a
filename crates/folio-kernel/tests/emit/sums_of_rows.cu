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
ENTRY(1) folio_sums(
    const Block block,
    GLOBAL const f32 *RESTRICT x_p0_base,
    GLOBAL f32 *RESTRICT y_p1_base) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_pitch0 = block.words[1];
  const u64 x_p0_low1 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 range0 = block.words[4];
  const u64 first0 = block.words[5];
  GLOBAL const f32 *x_p0 = x_p0_base + block.words[6];
  GLOBAL f32 *y_p1 = y_p1_base + block.words[7];
  const u64 thread = blockIdx.x, threads = gridDim.x;
  const u64 even = range0 / threads, more = range0 % threads;
  const u64 before = thread * even + (thread < more ? thread : more);
  const u64 count = even + (thread < more ? 1 : 0);
  u64 turn = 0;
  for (; count - turn >= 8; turn += 8) {
    const u64 pos0_0 = first0 + before + turn;
    const u64 pos0_1 = first0 + before + turn + 1;
    const u64 pos0_2 = first0 + before + turn + 2;
    const u64 pos0_3 = first0 + before + turn + 3;
    const u64 pos0_4 = first0 + before + turn + 4;
    const u64 pos0_5 = first0 + before + turn + 5;
    const u64 pos0_6 = first0 + before + turn + 6;
    const u64 pos0_7 = first0 + before + turn + 7;
    f32 sum_v0 = 0.0f;
    f32 sum_v1 = 0.0f;
    f32 sum_v2 = 0.0f;
    f32 sum_v3 = 0.0f;
    f32 sum_v4 = 0.0f;
    f32 sum_v5 = 0.0f;
    f32 sum_v6 = 0.0f;
    f32 sum_v7 = 0.0f;
    sum_v0 = 0.0f;
    sum_v1 = 0.0f;
    sum_v2 = 0.0f;
    sum_v3 = 0.0f;
    sum_v4 = 0.0f;
    sum_v5 = 0.0f;
    sum_v6 = 0.0f;
    sum_v7 = 0.0f;
    for (u64 k4 = 0ull; k4 < 9ull; k4++) {
      const f32 t5 = x_p0[(k4 - x_p0_low0) * x_p0_pitch0 + (pos0_0 - x_p0_low1)];
      const f32 t14 = x_p0[(k4 - x_p0_low0) * x_p0_pitch0 + (pos0_1 - x_p0_low1)];
      const f32 t23 = x_p0[(k4 - x_p0_low0) * x_p0_pitch0 + (pos0_2 - x_p0_low1)];
      const f32 t32 = x_p0[(k4 - x_p0_low0) * x_p0_pitch0 + (pos0_3 - x_p0_low1)];
      const f32 t41 = x_p0[(k4 - x_p0_low0) * x_p0_pitch0 + (pos0_4 - x_p0_low1)];
      const f32 t50 = x_p0[(k4 - x_p0_low0) * x_p0_pitch0 + (pos0_5 - x_p0_low1)];
      const f32 t59 = x_p0[(k4 - x_p0_low0) * x_p0_pitch0 + (pos0_6 - x_p0_low1)];
      const f32 t68 = x_p0[(k4 - x_p0_low0) * x_p0_pitch0 + (pos0_7 - x_p0_low1)];
      const f32 t6 = sum_v0;
      const f32 t15 = sum_v1;
      const f32 t24 = sum_v2;
      const f32 t33 = sum_v3;
      const f32 t42 = sum_v4;
      const f32 t51 = sum_v5;
      const f32 t60 = sum_v6;
      const f32 t69 = sum_v7;
      const f32 t7 = t5 + t6;
      const f32 t16 = t14 + t15;
      const f32 t25 = t23 + t24;
      const f32 t34 = t32 + t33;
      const f32 t43 = t41 + t42;
      const f32 t52 = t50 + t51;
      const f32 t61 = t59 + t60;
      const f32 t70 = t68 + t69;
      sum_v0 = t7;
      sum_v1 = t16;
      sum_v2 = t25;
      sum_v3 = t34;
      sum_v4 = t43;
      sum_v5 = t52;
      sum_v6 = t61;
      sum_v7 = t70;
    }
    const f32 t8 = sum_v0;
    const f32 t17 = sum_v1;
    const f32 t26 = sum_v2;
    const f32 t35 = sum_v3;
    const f32 t44 = sum_v4;
    const f32 t53 = sum_v5;
    const f32 t62 = sum_v6;
    const f32 t71 = sum_v7;
    y_p1[pos0_0 - y_p1_low0] = t8;
    y_p1[pos0_1 - y_p1_low0] = t17;
    y_p1[pos0_2 - y_p1_low0] = t26;
    y_p1[pos0_3 - y_p1_low0] = t35;
    y_p1[pos0_4 - y_p1_low0] = t44;
    y_p1[pos0_5 - y_p1_low0] = t53;
    y_p1[pos0_6 - y_p1_low0] = t62;
    y_p1[pos0_7 - y_p1_low0] = t71;
  }
  for (; turn < count; turn++) {
    const u64 pos0_0 = first0 + before + turn;
    f32 sum_v0 = 0.0f;
    sum_v0 = 0.0f;
    for (u64 k4 = 0ull; k4 < 9ull; k4++) {
      const f32 t5 = x_p0[(k4 - x_p0_low0) * x_p0_pitch0 + (pos0_0 - x_p0_low1)];
      const f32 t6 = sum_v0;
      const f32 t7 = t5 + t6;
      sum_v0 = t7;
    }
    const f32 t8 = sum_v0;
    y_p1[pos0_0 - y_p1_low0] = t8;
  }
}
