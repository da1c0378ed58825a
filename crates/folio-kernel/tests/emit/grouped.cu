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
FN u32 gap_of(u32 n) { u32 s = 1; while (s < n) s <<= 1; return s >> 1; }
FN u32 lanes(u32 thread, u32 threads) { const u32 rest = threads - (thread & ~31u); return rest < 32u ? rest : 32u; }
FN u32 lanes_mask(u32 thread, u32 threads) { return ~0u >> (32u - lanes(thread, threads)); }
FN f32 lane_of_f32(f32 x, u32 lane, u32 thread, u32 threads) {
  const u32 y = __shfl_sync(lanes_mask(thread, threads), BITS_F32(x), (i32)(lane & 31u));
  return lane < lanes(thread, threads) ? F32_BITS(y) : x;
}
typedef struct { u64 words[7]; } Block;
ENTRY(1024) folio_grouped(
    const Block block,
    GLOBAL const f32 *RESTRICT x_p0_base,
    GLOBAL f32 *sums_p1_base,
    GLOBAL f32 *RESTRICT all_p2_base) {
  extern SHARED u64 scratch[];
  const u64 x_p0_low0 = block.words[0];
  const u64 sums_p1_low0 = block.words[1];
  const u64 first0 = block.words[2];
  const u64 offset0 = block.words[3];
  GLOBAL const f32 *x_p0 = x_p0_base + block.words[4];
  GLOBAL f32 *sums_p1 = sums_p1_base + block.words[5];
  GLOBAL f32 *all_p2 = all_p2_base + block.words[6];
  const u64 size0 = blockDim.x;
  const u64 local0 = threadIdx.x;
  const u64 group0 = first0 + blockIdx.x;
  const u64 pos0 = offset0 + group0 * size0 + local0;
  const u32 thread = (u32)(threadIdx.x);
  const u32 threads = (u32)(blockDim.x);
  SHARED f32 scratch_p3[256];
  for (u32 k = thread; k < 256u; k += threads) {
    const f32 zero = 0.0f;
    scratch_p3[k] = zero;
  }
  BARRIER;
  f32 sum_v0 = 0.0f;
  f32 mine_v1 = 0.0f;
  f32 all_p2_own = (-0.0f);
  {
    {
      const f32 t3 = x_p0[pos0 - x_p0_low0];
      mine_v1 = t3;
      scratch_p3[local0] = t3;
      all_p2_own = all_p2_own + t3;
    }
    BARRIER;
    {
      LOCAL f32 *all = (LOCAL f32 *)scratch;
      {
        const f32 t4 = mine_v1;
        all[thread] = t4;
      }
      BARRIER;
      {
        u32 gap = gap_of(threads);
        for (; gap >= 32u; gap >>= 1) {
          if (thread < gap && thread + gap < threads) all[thread] = all[thread] + all[thread + gap];
          BARRIER;
        }
        if (thread < 32u) {
          f32 own = all[thread];
          for (; gap > 0u; gap >>= 1) {
            const f32 other = lane_of_f32(own, thread + gap, thread, threads);
            if (thread < gap && thread + gap < threads) own = own + other;
          }
          if (thread == 0u) all[0] = own;
        }
        BARRIER;
      }
      sum_v0 = all[0];
      BARRIER;
    }
    if (thread == 0u) {
      const f32 t5 = sum_v0;
      sums_p1[group0 - sums_p1_low0] = t5;
    }
    BARRIER;
  }
  {
    LOCAL f32 *all = (LOCAL f32 *)scratch;
    all[thread] = all_p2_own;
    BARRIER;
    {
      u32 gap = gap_of(threads);
      for (; gap >= 32u; gap >>= 1) {
        if (thread < gap && thread + gap < threads) all[thread] = all[thread] + all[thread + gap];
        BARRIER;
      }
      if (thread < 32u) {
        f32 own = all[thread];
        for (; gap > 0u; gap >>= 1) {
          const f32 other = lane_of_f32(own, thread + gap, thread, threads);
          if (thread < gap && thread + gap < threads) own = own + other;
        }
        if (thread == 0u) all[0] = own;
      }
      BARRIER;
    }
    if (thread == 0u) all_p2[group0] = all[0];
    BARRIER;
  }
}
ENTRY(1024) folio_grouped_finish_p2(
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
