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
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(Record *verdict, u32 point) { return atomicCAS(&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_guarded(
    const Block block,
    GLOBAL const f32 *RESTRICT x_p0_base,
    GLOBAL f32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_shape0 = block.words[0];
  const u64 x_p0_low0 = block.words[1];
  const u64 x_p0_size0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const f32 *x_p0 = x_p0_base + block.words[9];
  GLOBAL f32 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (pos0 - offset0 >= range0) return;
  const bool t4 = pos0 == 0ull;
  const u64 t5 = pos0 + 1ull;
  const bool t6 = t5 >= x_p0_shape0;
  const bool t7 = (t4 || t6);
  if (t7) {
    f32 t8 = 0.0f;
    if (pos0 - x_p0_low0 < x_p0_size0) t8 = x_p0[pos0 - x_p0_low0];
    else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
    if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t8;
    else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
    return;
  }
  const u64 t9 = pos0 - 1ull;
  f32 t10 = 0.0f;
  if (t9 - x_p0_low0 < x_p0_size0) t10 = x_p0[t9 - x_p0_low0];
  else outside(verdict, 3u, t9, 0, 0, x_p0_shape0, 0, 0);
  f32 t11 = 0.0f;
  if (t5 - x_p0_low0 < x_p0_size0) t11 = x_p0[t5 - x_p0_low0];
  else outside(verdict, 4u, t5, 0, 0, x_p0_shape0, 0, 0);
  const f32 t12 = t10 + t11;
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t12;
  else outside(verdict, 5u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
