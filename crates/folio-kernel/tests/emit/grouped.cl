#pragma OPENCL FP_CONTRACT OFF
#ifdef __clang__
#pragma clang diagnostic ignored "-Wunknown-warning-option"
#pragma clang diagnostic ignored "-Wtautological-compare"
#pragma clang diagnostic ignored "-Wconstant-logical-operand"
#pragma clang diagnostic ignored "-Wunused-value"
#pragma clang diagnostic ignored "-Wxor-used-as-pow"
#pragma clang diagnostic ignored "-Warray-bounds"
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
FN u32 gap_of(u32 n) { u32 s = 1; while (s < n) s <<= 1; return s >> 1; }
typedef struct { u64 words[7]; } Block;
ENTRY(256) folio_grouped(
    const Block block,
    GLOBAL const f32 *RESTRICT x_p0_base,
    GLOBAL f32 *sums_p1_base,
    GLOBAL f32 *RESTRICT all_p2_base,
    LOCAL u64 *scratch) {
  const u64 x_p0_low0 = block.words[0];
  const u64 sums_p1_low0 = block.words[1];
  const u64 first0 = block.words[2];
  const u64 offset0 = block.words[3];
  GLOBAL const f32 *x_p0 = x_p0_base + block.words[4];
  GLOBAL f32 *sums_p1 = sums_p1_base + block.words[5];
  GLOBAL f32 *all_p2 = all_p2_base + block.words[6];
  const u64 size0 = get_local_size(0);
  const u64 local0 = get_local_id(0);
  const u64 group0 = first0 + get_group_id(0);
  const u64 pos0 = offset0 + group0 * size0 + local0;
  const u32 thread = (u32)(get_local_id(0));
  const u32 threads = (u32)(get_local_size(0));
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
      for (u32 gap = gap_of(threads); gap > 0u; gap >>= 1) {
        if (thread < gap && thread + gap < threads) all[thread] = all[thread] + all[thread + gap];
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
    for (u32 gap = gap_of(threads); gap > 0u; gap >>= 1) {
      if (thread < gap && thread + gap < threads) all[thread] = all[thread] + all[thread + gap];
      BARRIER;
    }
    if (thread == 0u) all_p2[group0] = all[0];
    BARRIER;
  }
}
ENTRY(256) folio_grouped_finish_p2(
    GLOBAL const f32 *RESTRICT in,
    GLOBAL f32 *RESTRICT out,
    const u64 values,
    const u64 place) {
  SHARED f32 lanes[256];
  const u64 from = (u64)get_group_id(0) * 4096;
  const u64 count = values - from;
  const u32 thread = (u32)get_local_id(0);
  const u32 threads = (u32)get_local_size(0);
  const u32 end = count < 4096 ? (u32)count : 4096u;
  for (u32 lane = thread; lane < 256u && lane < end; lane += threads) {
    f32 sum = in[from + lane];
    for (u32 turn = lane + 256u; turn < end; turn += 256u) {
      sum = sum + in[from + turn];
    }
    lanes[lane] = sum;
  }
  BARRIER;
  for (u32 gap = 128u; gap > 0u; gap >>= 1) {
    for (u32 lane = thread; lane < gap && lane + gap < end; lane += threads) {
      lanes[lane] = lanes[lane] + lanes[lane + gap];
    }
    BARRIER;
  }
  if (thread == 0u) out[place + (u64)get_group_id(0)] = lanes[0];
}
