typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
FN u32 gap_of(u32 n) { u32 s = 1; while (s < n) s <<= 1; return s >> 1; }
typedef struct { u64 words[10]; } Block;
ENTRY(256) folio_reduced(
    const Block block,
    GLOBAL const u32 *RESTRICT x_p0_base,
    GLOBAL u32 *o_p2_base,
    GLOBAL Record *verdict,
    LOCAL u64 *scratch) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 o_p2_low0 = block.words[3];
  const u64 o_p2_size0 = block.words[4];
  const u64 o_p2_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  GLOBAL const u32 *x_p0 = x_p0_base + block.words[8];
  GLOBAL u32 *o_p2 = o_p2_base + block.words[9];
  const u64 size0 = get_local_size(0);
  const u64 local0 = get_local_id(0);
  const u64 group0 = first0 + get_group_id(0);
  const u64 pos0 = offset0 + group0 * size0 + local0;
  const u32 thread = (u32)(get_local_id(0));
  const u32 threads = (u32)(get_local_size(0));
  SHARED u32 t_p1[8];
  for (u32 k = thread; k < 8u; k += threads) {
    const u32 zero = 0u;
    t_p1[k] = zero;
  }
  BARRIER;
  u32 collected_v0 = 0u;
  {
    // crates/folio-conformance/src/engine/kernels/ways.rs
    if (local0 < 8ul) t_p1[local0] = 3u;
    else outside(verdict, 1u, local0, 0, 0, 8ul, 0, 0);
  }
  BARRIER;
  {
    LOCAL u32 *all = (LOCAL u32 *)scratch;
    {
      // crates/folio-conformance/src/engine/kernels/ways.rs
      u32 t4 = 0u;
      if (pos0 - x_p0_low0 < x_p0_size0) t4 = x_p0[pos0 - x_p0_low0];
      else outside(verdict, 2u, pos0, 0, 0, x_p0_shape0, 0, 0);
      all[thread] = t4;
    }
    BARRIER;
    for (u32 gap = gap_of(threads); gap > 0u; gap >>= 1) {
      if (thread < gap && thread + gap < threads) all[thread] = (all[thread] > all[thread + gap] ? all[thread] : all[thread + gap]);
      BARRIER;
    }
    collected_v0 = all[0];
    BARRIER;
  }
  const u32 t5 = collected_v0;
  const bool t7 = t5 > 50u;
  if (t7) {
    if (thread == 0u) {
      // crates/folio-conformance/src/engine/kernels/ways.rs
      if (group0 - o_p2_low0 < o_p2_size0) o_p2[group0 - o_p2_low0] = 7u;
      else outside(verdict, 3u, group0, 0, 0, o_p2_shape0, 0, 0);
    }
    BARRIER;
  } else {
    // crates/folio-conformance/src/engine/kernels/ways.rs
    const u32 t11 = t_p1[3ul];
    BARRIER;
    {
      // crates/folio-conformance/src/engine/kernels/ways.rs
      if (local0 < 8ul) t_p1[local0] = 9u;
      else outside(verdict, 4u, local0, 0, 0, 8ul, 0, 0);
    }
    BARRIER;
    const u32 t14 = t5 + t11;
    // crates/folio-conformance/src/engine/kernels/ways.rs
    const u32 t16 = t_p1[5ul];
    const u32 t17 = t14 + t16;
    BARRIER;
    if (thread == 0u) {
      // crates/folio-conformance/src/engine/kernels/ways.rs
      if (group0 - o_p2_low0 < o_p2_size0) o_p2[group0 - o_p2_low0] = t17;
      else outside(verdict, 5u, group0, 0, 0, o_p2_shape0, 0, 0);
    }
    BARRIER;
  }
  {
    // crates/folio-conformance/src/engine/kernels/ways.rs
    if (local0 < 8ul) t_p1[local0] = 1u;
    else outside(verdict, 6u, local0, 0, 0, 8ul, 0, 0);
  }
  BARRIER;
}
