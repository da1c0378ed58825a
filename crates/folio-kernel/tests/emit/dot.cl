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
  const u64 number = first_block + get_group_id(0);
  const u64 from = (u32)(number * 4096);
  const u64 count = items - from;
  const u32 thread = (u32)(get_local_id(0));
  const u32 threads = (u32)(get_local_size(0));
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
  for (u32 gap = 128u; gap > 0u; gap >>= 1) {
    for (u32 lane = thread; lane < gap && lane + gap < end; lane += threads) {
      total_p2_lanes[lane] = total_p2_lanes[lane] + total_p2_lanes[lane + gap];
    }
    BARRIER;
  }
  if (thread == 0u) total_p2[number] = total_p2_lanes[0];
}
ENTRY(256) folio_dot_finish_p2(
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
    #pragma unroll 16
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
