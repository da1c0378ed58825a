typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
FN u32 gap_of(u32 n) { u32 s = 1; while (s < n) s <<= 1; return s >> 1; }
typedef struct { u64 words[12]; } Block;
ENTRY(256) folio_group_dot(
    const Block block,
    GLOBAL const f32 *RESTRICT x_p0_base,
    GLOBAL const f32 *RESTRICT y_p1_base,
    GLOBAL f32 *RESTRICT sum_p2_base,
    GLOBAL u32 *RESTRICT groups_p3_base,
    GLOBAL Record *verdict,
    LOCAL u64 *scratch) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  GLOBAL const f32 *x_p0 = x_p0_base + block.words[8];
  GLOBAL const f32 *y_p1 = y_p1_base + block.words[9];
  GLOBAL f32 *sum_p2 = sum_p2_base + block.words[10];
  GLOBAL u32 *groups_p3 = groups_p3_base + block.words[11];
  const u64 size0 = get_local_size(0);
  const u64 local0 = get_local_id(0);
  const u64 group0 = first0 + get_group_id(0);
  const u64 pos0 = offset0 + group0 * size0 + local0;
  const u32 thread = (u32)(get_local_id(0));
  const u32 threads = (u32)(get_local_size(0));
  f32 sum_p2_own = (-0.0f);
  u32 groups_p3_own = 0u;
  {
    {
      // crates/folio-conformance/src/engine/kernels/group_code.rs
      f32 t1 = 0.0f;
      if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
      else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
      // crates/folio-conformance/src/engine/kernels/group_code.rs
      f32 t2 = 0.0f;
      if (pos0 - y_p1_low0 < y_p1_size0) t2 = y_p1[pos0 - y_p1_low0];
      else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
      const f32 t3 = t1 * t2;
      sum_p2_own = sum_p2_own + t3;
    }
    BARRIER;
    {
      sum_p2_own = sum_p2_own + 0.125f;
    }
    BARRIER;
    if (thread == 0u) {
      groups_p3_own = groups_p3_own + 1u;
    }
    BARRIER;
  }
  {
    LOCAL f32 *all = (LOCAL f32 *)scratch;
    all[thread] = sum_p2_own;
    BARRIER;
    for (u32 gap = gap_of(threads); gap > 0u; gap >>= 1) {
      if (thread < gap && thread + gap < threads) all[thread] = all[thread] + all[thread + gap];
      BARRIER;
    }
    if (thread == 0u) sum_p2[group0] = all[0];
    BARRIER;
  }
  {
    LOCAL u32 *all = (LOCAL u32 *)scratch;
    all[thread] = groups_p3_own;
    BARRIER;
    for (u32 gap = gap_of(threads); gap > 0u; gap >>= 1) {
      if (thread < gap && thread + gap < threads) all[thread] = all[thread] + all[thread + gap];
      BARRIER;
    }
    if (thread == 0u) groups_p3[group0] = all[0];
    BARRIER;
  }
}
ENTRY(256) folio_group_dot_finish_p2(
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
ENTRY(256) folio_group_dot_finish_p3(
    GLOBAL const u32 *RESTRICT in,
    GLOBAL u32 *RESTRICT out,
    const u64 values,
    const u64 place) {
  SHARED u32 lanes[256];
  const u64 from = (u64)get_group_id(0) * 4096;
  const u64 count = values - from;
  const u32 thread = (u32)get_local_id(0);
  const u32 threads = (u32)get_local_size(0);
  const u32 end = count < 4096 ? (u32)count : 4096u;
  for (u32 lane = thread; lane < 256u && lane < end; lane += threads) {
    u32 sum = in[from + lane];
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
