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
typedef struct { u64 words[7]; } Block;
ENTRY(1) folio_saxpy(
    const Block block,
    GLOBAL const f32 *RESTRICT x_p1_base,
    GLOBAL f32 *RESTRICT y_p2_base) {
  const u64 x_p1_low0 = block.words[0];
  const u64 y_p2_low0 = block.words[1];
  const u64 range0 = block.words[2];
  const u64 first0 = block.words[3];
  GLOBAL const f32 *x_p1 = x_p1_base + block.words[5];
  GLOBAL f32 *y_p2 = y_p2_base + block.words[6];
  const f32 a_p0 = F32_BITS((u32)block.words[4]);
  const u64 thread = get_group_id(0), threads = get_num_groups(0);
  const u64 even = range0 / threads, more = range0 % threads;
  const u64 before = thread * even + (thread < more ? thread : more);
  const u64 count = even + (thread < more ? 1 : 0);
  #pragma clang loop interleave_count(4)
  for (u64 turn = 0; turn < count; turn++) {
    const u64 pos0 = first0 + before + turn;
    const f32 t2 = x_p1[pos0 - x_p1_low0];
    const f32 t3 = a_p0 * t2;
    const f32 t4 = y_p2[pos0 - y_p2_low0];
    const f32 t5 = t3 + t4;
    y_p2[pos0 - y_p2_low0] = t5;
  }
}
