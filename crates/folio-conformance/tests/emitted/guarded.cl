typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
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
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  const bool t3 = pos0 == 0ul;
  const u64 t5 = pos0 + 1ul;
  const bool t6 = t5 >= x_p0_shape0;
  const bool t7 = (t3 || t6);
  if (t7) {
    // crates/folio-conformance/src/engine/kernels/code.rs
    f32 t8 = 0.0f;
    if (pos0 - x_p0_low0 < x_p0_size0) t8 = x_p0[pos0 - x_p0_low0];
    else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
    // crates/folio-conformance/src/engine/kernels/code.rs
    if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t8;
    else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
    return;
  }
  const u64 t11 = pos0 - 1ul;
  // crates/folio-conformance/src/engine/kernels/code.rs
  f32 t12 = 0.0f;
  if (t11 - x_p0_low0 < x_p0_size0) t12 = x_p0[t11 - x_p0_low0];
  else outside(verdict, 3u, t11, 0, 0, x_p0_shape0, 0, 0);
  const u64 t14 = pos0 + 1ul;
  // crates/folio-conformance/src/engine/kernels/code.rs
  f32 t15 = 0.0f;
  if (t14 - x_p0_low0 < x_p0_size0) t15 = x_p0[t14 - x_p0_low0];
  else outside(verdict, 4u, t14, 0, 0, x_p0_shape0, 0, 0);
  const f32 t16 = t12 + t15;
  const f32 t17 = 0.5f * t16;
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t17;
  else outside(verdict, 5u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
