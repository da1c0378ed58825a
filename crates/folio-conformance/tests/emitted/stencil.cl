typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[22]; } Block;
ENTRY(256) folio_stencil(
    const Block block,
    GLOBAL const f32 *RESTRICT x_p0_base,
    GLOBAL f32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_shape0 = block.words[0];
  const u64 x_p0_shape1 = block.words[1];
  const u64 x_p0_low0 = block.words[2];
  const u64 x_p0_size0 = block.words[3];
  const u64 x_p0_pitch0 = block.words[4];
  const u64 x_p0_low1 = block.words[5];
  const u64 x_p0_size1 = block.words[6];
  const u64 y_p1_low0 = block.words[7];
  const u64 y_p1_size0 = block.words[8];
  const u64 y_p1_pitch0 = block.words[9];
  const u64 y_p1_low1 = block.words[10];
  const u64 y_p1_size1 = block.words[11];
  const u64 y_p1_shape0 = block.words[12];
  const u64 y_p1_shape1 = block.words[13];
  const u64 first0 = block.words[14];
  const u64 offset0 = block.words[15];
  const u64 range0 = block.words[16];
  const u64 first1 = block.words[17];
  const u64 offset1 = block.words[18];
  const u64 range1 = block.words[19];
  GLOBAL const f32 *x_p0 = x_p0_base + block.words[20];
  GLOBAL f32 *y_p1 = y_p1_base + block.words[21];
  const u64 pos0 = first0 + (u64)get_group_id(1) * get_local_size(1) + get_local_id(1);
  const u64 pos1 = first1 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0 || pos1 - offset1 >= range1) return;
  bool lazy_v0 = false;
  bool lazy_v1 = false;
  const bool t5 = pos0 == 0ul;
  const bool t7 = pos1 == 0ul;
  const bool t8 = (t5 || t7);
  lazy_v0 = t8;
  if (!t8) {
    const u64 t10 = pos0 + 1ul;
    const bool t11 = t10 == x_p0_shape0;
    lazy_v0 = t11;
  }
  // crates/folio-conformance/src/engine/kernels/code.rs
  const bool t12 = lazy_v0;
  lazy_v1 = t12;
  if (!t12) {
    const u64 t14 = pos1 + 1ul;
    const bool t15 = t14 == x_p0_shape1;
    lazy_v1 = t15;
  }
  // crates/folio-conformance/src/engine/kernels/code.rs
  const bool t16 = lazy_v1;
  if (t16) {
    // crates/folio-conformance/src/engine/kernels/code.rs
    f32 t17 = 0.0f;
    if (pos0 - x_p0_low0 < x_p0_size0 && pos1 - x_p0_low1 < x_p0_size1) t17 = x_p0[(pos0 - x_p0_low0) * x_p0_pitch0 + (pos1 - x_p0_low1)];
    else outside(verdict, 1u, pos0, pos1, 0, x_p0_shape0, x_p0_shape1, 0);
    // crates/folio-conformance/src/engine/kernels/code.rs
    if (pos0 - y_p1_low0 < y_p1_size0 && pos1 - y_p1_low1 < y_p1_size1) y_p1[(pos0 - y_p1_low0) * y_p1_pitch0 + (pos1 - y_p1_low1)] = t17;
    else outside(verdict, 2u, pos0, pos1, 0, y_p1_shape0, y_p1_shape1, 0);
  } else {
    const u64 t20 = pos0 - 1ul;
    // crates/folio-conformance/src/engine/kernels/code.rs
    f32 t21 = 0.0f;
    if (t20 - x_p0_low0 < x_p0_size0 && pos1 - x_p0_low1 < x_p0_size1) t21 = x_p0[(t20 - x_p0_low0) * x_p0_pitch0 + (pos1 - x_p0_low1)];
    else outside(verdict, 3u, t20, pos1, 0, x_p0_shape0, x_p0_shape1, 0);
    const u64 t23 = pos0 + 1ul;
    // crates/folio-conformance/src/engine/kernels/code.rs
    f32 t24 = 0.0f;
    if (t23 - x_p0_low0 < x_p0_size0 && pos1 - x_p0_low1 < x_p0_size1) t24 = x_p0[(t23 - x_p0_low0) * x_p0_pitch0 + (pos1 - x_p0_low1)];
    else outside(verdict, 4u, t23, pos1, 0, x_p0_shape0, x_p0_shape1, 0);
    const f32 t25 = t21 + t24;
    const u64 t27 = pos1 - 1ul;
    // crates/folio-conformance/src/engine/kernels/code.rs
    f32 t28 = 0.0f;
    if (pos0 - x_p0_low0 < x_p0_size0 && t27 - x_p0_low1 < x_p0_size1) t28 = x_p0[(pos0 - x_p0_low0) * x_p0_pitch0 + (t27 - x_p0_low1)];
    else outside(verdict, 5u, pos0, t27, 0, x_p0_shape0, x_p0_shape1, 0);
    const f32 t29 = t25 + t28;
    const u64 t31 = pos1 + 1ul;
    // crates/folio-conformance/src/engine/kernels/code.rs
    f32 t32 = 0.0f;
    if (pos0 - x_p0_low0 < x_p0_size0 && t31 - x_p0_low1 < x_p0_size1) t32 = x_p0[(pos0 - x_p0_low0) * x_p0_pitch0 + (t31 - x_p0_low1)];
    else outside(verdict, 6u, pos0, t31, 0, x_p0_shape0, x_p0_shape1, 0);
    const f32 t33 = t29 + t32;
    const f32 t34 = 0.25f * t33;
    // crates/folio-conformance/src/engine/kernels/code.rs
    if (pos0 - y_p1_low0 < y_p1_size0 && pos1 - y_p1_low1 < y_p1_size1) y_p1[(pos0 - y_p1_low0) * y_p1_pitch0 + (pos1 - y_p1_low1)] = t34;
    else outside(verdict, 7u, pos0, pos1, 0, y_p1_shape0, y_p1_shape1, 0);
  }
}
