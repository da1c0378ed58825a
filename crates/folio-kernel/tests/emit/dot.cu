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
FN u32 lanes(u32 thread, u32 threads) { const u32 rest = threads - (thread & ~31u); return rest < 32u ? rest : 32u; }
FN u32 lanes_mask(u32 thread, u32 threads) { return ~0u >> (32u - lanes(thread, threads)); }
FN f32 lane_of_f32(f32 x, u32 lane, u32 thread, u32 threads) {
  const u32 y = __shfl_sync(lanes_mask(thread, threads), BITS_F32(x), (i32)(lane & 31u));
  return lane < lanes(thread, threads) ? F32_BITS(y) : x;
}
typedef struct { u64 words[8]; } Block;
ENTRY(256) folio_dot(
    const Block block,
    GLOBAL const f32 *RESTRICT x_p0_base,
    GLOBAL const f32 *RESTRICT y_p1_base,
    GLOBAL f32 *RESTRICT total_p2_base) {
  const u64 x_p0_low0 = (u32)(block.words[0]);
  const u64 y_p1_low0 = (u32)(block.words[1]);
  const u64 offset0 = (u32)(block.words[2]);
  const u64 first_block = (u32)(block.words[3]);
  const u64 range0 = (u32)(block.words[4]);
  GLOBAL const f32 *x_p0 = x_p0_base + block.words[5];
  GLOBAL const f32 *y_p1 = y_p1_base + block.words[6];
  GLOBAL f32 *total_p2 = total_p2_base + block.words[7];
  SHARED f32 total_p2_lanes[256];
  const u64 items = (u32)(range0);
  const u64 number = first_block + blockIdx.x;
  const u64 from = (u32)(number * 4096);
  const u64 count = items - from;
  const u32 thread = (u32)(threadIdx.x);
  const u32 threads = (u32)(blockDim.x);
  const u32 end = count < 4096 ? (u32)count : 4096u;
  for (u32 lane = thread; lane < 256u && lane < end; lane += threads) {
    f32 total_p2_lane = (-0.0f);
    #pragma unroll 16
    for (u32 turn = lane; turn < end; turn += 256u) {
      const u64 pos0 = offset0 + from + turn;
      f32 total_p2_own = (-0.0f);
      {
      const f32 t1 = x_p0[pos0 - x_p0_low0];
      const f32 t2 = y_p1[pos0 - y_p1_low0];
      const f32 t3 = t1 * t2;
      total_p2_own = total_p2_own + t3;
      }
      total_p2_lane = total_p2_lane + total_p2_own;
    }
    total_p2_lanes[lane] = total_p2_lane;
  }
  BARRIER;
  {
    u32 gap = 128u;
    const u32 least = threads < 32u ? 0u : 16u;
    for (; gap > least; gap >>= 1) {
      for (u32 lane = thread; lane < gap && lane + gap < end; lane += threads) {
        total_p2_lanes[lane] = total_p2_lanes[lane] + total_p2_lanes[lane + gap];
      }
      BARRIER;
    }
    if (gap > 0u && thread < 32u) {
      f32 own0 = total_p2_lanes[thread];
      for (; gap > 0u; gap >>= 1) {
        const f32 other0 = lane_of_f32(own0, thread + gap & 31u, thread, threads);
        if (thread < gap && thread + gap < end) own0 = own0 + other0;
      }
      if (thread == 0u) total_p2_lanes[0] = own0;
    }
  }
  if (thread == 0u) total_p2[number] = total_p2_lanes[0];
}
ENTRY(256) folio_dot_finish_p2(
    GLOBAL const f32 *RESTRICT in,
    GLOBAL f32 *RESTRICT out,
    const u64 values,
    const u64 place) {
  SHARED f32 lanes[256];
  const u64 from = (u64)blockIdx.x * 4096;
  const u64 count = values - from;
  const u32 thread = (u32)threadIdx.x;
  const u32 threads = (u32)blockDim.x;
  const u32 end = count < 4096 ? (u32)count : 4096u;
  for (u32 lane = thread; lane < 256u && lane < end; lane += threads) {
    f32 sum = in[from + lane];
    #pragma unroll 16
    for (u32 turn = lane + 256u; turn < end; turn += 256u) {
      sum = sum + in[from + turn];
    }
    lanes[lane] = sum;
  }
  BARRIER;
  {
    u32 gap = 128u;
    const u32 least = threads < 32u ? 0u : 16u;
    for (; gap > least; gap >>= 1) {
      for (u32 lane = thread; lane < gap && lane + gap < end; lane += threads) {
        lanes[lane] = lanes[lane] + lanes[lane + gap];
      }
      BARRIER;
    }
    if (gap > 0u && thread < 32u) {
      f32 own0 = lanes[thread];
      for (; gap > 0u; gap >>= 1) {
        const f32 other0 = lane_of_f32(own0, thread + gap & 31u, thread, threads);
        if (thread < gap && thread + gap < end) own0 = own0 + other0;
      }
      if (thread == 0u) lanes[0] = own0;
    }
  }
  if (thread == 0u) out[place + (u64)blockIdx.x] = lanes[0];
}
