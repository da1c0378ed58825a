typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[10]; } Block;
ENTRY(256) folio_local_histogram(
    const Block block,
    GLOBAL const u32 *RESTRICT x_p0_base,
    GLOBAL u32 *bins_p2_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 bins_p2_low0 = block.words[3];
  const u64 bins_p2_size0 = block.words[4];
  const u64 bins_p2_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  GLOBAL const u32 *x_p0 = x_p0_base + block.words[8];
  GLOBAL u32 *bins_p2 = bins_p2_base + block.words[9];
  const u64 size0 = get_local_size(0);
  const u64 local0 = get_local_id(0);
  const u64 group0 = first0 + get_group_id(0);
  const u64 pos0 = offset0 + group0 * size0 + local0;
  const u32 thread = (u32)(get_local_id(0));
  const u32 threads = (u32)(get_local_size(0));
  SHARED u32 counts_p1[16];
  for (u32 k = thread; k < 16u; k += threads) {
    const u32 zero = 0u;
    counts_p1[k] = zero;
  }
  BARRIER;
  {
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    u32 t1 = 0u;
    if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
    else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
    const u32 t3 = (u32)(t1 % 16u);
    const u64 t4 = (u64)t3;
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    if (t4 < 16ul) atomic_add((volatile LOCAL u32 *)&counts_p1[t4], (u32)1u);
    else outside(verdict, 2u, t4, 0, 0, 16ul, 0, 0);
  }
  BARRIER;
  if (thread == 0u) {
    for (i32 k9 = 0; k9 < 16; k9++) {
      const u64 t10 = (u64)k9;
      const u64 t11 = (u64)k9;
      // crates/folio-conformance/src/engine/kernels/group_code.rs
      u32 t12 = 0u;
      if (t11 < 16ul) t12 = *(volatile LOCAL u32 *)&counts_p1[t11];
      else outside(verdict, 3u, t11, 0, 0, 16ul, 0, 0);
      // crates/folio-conformance/src/engine/kernels/group_code.rs
      if (t10 - bins_p2_low0 < bins_p2_size0) atomic_add((volatile GLOBAL u32 *)&bins_p2[t10 - bins_p2_low0], (u32)t12);
      else outside(verdict, 4u, t10, 0, 0, bins_p2_shape0, 0, 0);
    }
  }
  BARRIER;
}
