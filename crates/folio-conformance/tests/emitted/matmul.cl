typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[28]; } Block;
ENTRY(64) folio_matmul(
    const Block block,
    GLOBAL const f32 *RESTRICT a_p0_base,
    GLOBAL const f32 *RESTRICT b_p1_base,
    GLOBAL f32 *RESTRICT c_p4_base,
    GLOBAL Record *verdict) {
  const u64 a_p0_shape1 = block.words[0];
  const u64 a_p0_low0 = block.words[1];
  const u64 a_p0_size0 = block.words[2];
  const u64 a_p0_pitch0 = block.words[3];
  const u64 a_p0_low1 = block.words[4];
  const u64 a_p0_size1 = block.words[5];
  const u64 a_p0_shape0 = block.words[6];
  const u64 b_p1_low0 = block.words[7];
  const u64 b_p1_size0 = block.words[8];
  const u64 b_p1_pitch0 = block.words[9];
  const u64 b_p1_low1 = block.words[10];
  const u64 b_p1_size1 = block.words[11];
  const u64 b_p1_shape0 = block.words[12];
  const u64 b_p1_shape1 = block.words[13];
  const u64 c_p4_low0 = block.words[14];
  const u64 c_p4_size0 = block.words[15];
  const u64 c_p4_pitch0 = block.words[16];
  const u64 c_p4_low1 = block.words[17];
  const u64 c_p4_size1 = block.words[18];
  const u64 c_p4_shape0 = block.words[19];
  const u64 c_p4_shape1 = block.words[20];
  const u64 first0 = block.words[21];
  const u64 offset0 = block.words[22];
  const u64 first1 = block.words[23];
  const u64 offset1 = block.words[24];
  GLOBAL const f32 *a_p0 = a_p0_base + block.words[25];
  GLOBAL const f32 *b_p1 = b_p1_base + block.words[26];
  GLOBAL f32 *c_p4 = c_p4_base + block.words[27];
  const u64 size0 = get_local_size(1);
  const u64 local0 = get_local_id(1);
  const u64 group0 = first0 + get_group_id(1);
  const u64 pos0 = offset0 + group0 * size0 + local0;
  const u64 size1 = get_local_size(0);
  const u64 local1 = get_local_id(0);
  const u64 group1 = first1 + get_group_id(0);
  const u64 pos1 = offset1 + group1 * size1 + local1;
  const u32 thread = (u32)(get_local_id(1) * get_local_size(0) + get_local_id(0));
  const u32 threads = (u32)(64u);
  SHARED f32 ta_p2[64];
  SHARED f32 tb_p3[64];
  for (u32 k = thread; k < 64u; k += threads) {
    const f32 zero = 0.0f;
    ta_p2[k] = zero;
  }
  for (u32 k = thread; k < 64u; k += threads) {
    const f32 zero = 0.0f;
    tb_p3[k] = zero;
  }
  BARRIER;
  f32 private_v0 = 0.0f;
  f32 l16_v1 = 0.0f;
  {
    private_v0 = 0.0f;
  }
  // crates/folio-conformance/src/engine/kernels/group_code.rs
  const u64 t5 = (u64)(a_p0_shape1 / 8ul);
  for (u64 k6 = 0ul; k6 < t5; k6++) {
    {
      const u64 t12 = k6 * 8ul;
      const u64 t13 = t12 + local1;
      // crates/folio-conformance/src/engine/kernels/group_code.rs
      f32 t14 = 0.0f;
      if (pos0 - a_p0_low0 < a_p0_size0 && t13 - a_p0_low1 < a_p0_size1) t14 = a_p0[(pos0 - a_p0_low0) * a_p0_pitch0 + (t13 - a_p0_low1)];
      else outside(verdict, 1u, pos0, t13, 0, a_p0_shape0, a_p0_shape1, 0);
      const u64 t17 = local0 * size1;
      const u64 t18 = t17 + local1;
      // crates/folio-conformance/src/engine/kernels/group_code.rs
      if (t18 < 64ul) ta_p2[t18] = t14;
      else outside(verdict, 2u, t18, 0, 0, 64ul, 0, 0);
      const u64 t20 = k6 * 8ul;
      const u64 t21 = t20 + local0;
      // crates/folio-conformance/src/engine/kernels/group_code.rs
      f32 t22 = 0.0f;
      if (t21 - b_p1_low0 < b_p1_size0 && pos1 - b_p1_low1 < b_p1_size1) t22 = b_p1[(t21 - b_p1_low0) * b_p1_pitch0 + (pos1 - b_p1_low1)];
      else outside(verdict, 3u, t21, pos1, 0, b_p1_shape0, b_p1_shape1, 0);
      const u64 t23 = local0 * size1;
      const u64 t24 = t23 + local1;
      // crates/folio-conformance/src/engine/kernels/group_code.rs
      if (t24 < 64ul) tb_p3[t24] = t22;
      else outside(verdict, 4u, t24, 0, 0, 64ul, 0, 0);
    }
    BARRIER;
    {
      const f32 t27 = private_v0;
      l16_v1 = t27;
      #pragma unroll
      for (u64 k30 = 0ul; k30 < 8ul; k30++) {
        const u64 t32 = local0 * 8ul;
        const u64 t33 = t32 + k30;
        // crates/folio-conformance/src/engine/kernels/group_code.rs
        f32 t34 = 0.0f;
        if (t33 < 64ul) t34 = ta_p2[t33];
        else outside(verdict, 5u, t33, 0, 0, 64ul, 0, 0);
        const u64 t36 = k30 * 8ul;
        const u64 t37 = t36 + local1;
        // crates/folio-conformance/src/engine/kernels/group_code.rs
        f32 t38 = 0.0f;
        if (t37 < 64ul) t38 = tb_p3[t37];
        else outside(verdict, 6u, t37, 0, 0, 64ul, 0, 0);
        const f32 t39 = t34 * t38;
        // crates/folio-conformance/src/engine/kernels/group_code.rs
        const f32 t40 = l16_v1;
        const f32 t41 = t40 + t39;
        l16_v1 = t41;
      }
      // crates/folio-conformance/src/engine/kernels/group_code.rs
      const f32 t42 = l16_v1;
      private_v0 = t42;
    }
    BARRIER;
  }
  {
    const f32 t43 = private_v0;
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    if (pos0 - c_p4_low0 < c_p4_size0 && pos1 - c_p4_low1 < c_p4_size1) c_p4[(pos0 - c_p4_low0) * c_p4_pitch0 + (pos1 - c_p4_low1)] = t43;
    else outside(verdict, 7u, pos0, pos1, 0, c_p4_shape0, c_p4_shape1, 0);
  }
  BARRIER;
}
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[30]; } Block;
ENTRY(256) folio_matmul(
    const Block block,
    GLOBAL const f32 *RESTRICT a_p0_base,
    GLOBAL const f32 *RESTRICT b_p1_base,
    GLOBAL f32 *RESTRICT y_p2_base,
    GLOBAL Record *verdict) {
  const u64 a_p0_shape1 = block.words[0];
  const u64 a_p0_low0 = block.words[1];
  const u64 a_p0_size0 = block.words[2];
  const u64 a_p0_pitch0 = block.words[3];
  const u64 a_p0_low1 = block.words[4];
  const u64 a_p0_size1 = block.words[5];
  const u64 a_p0_shape0 = block.words[6];
  const u64 b_p1_low0 = block.words[7];
  const u64 b_p1_size0 = block.words[8];
  const u64 b_p1_pitch0 = block.words[9];
  const u64 b_p1_low1 = block.words[10];
  const u64 b_p1_size1 = block.words[11];
  const u64 b_p1_shape0 = block.words[12];
  const u64 b_p1_shape1 = block.words[13];
  const u64 y_p2_low0 = block.words[14];
  const u64 y_p2_size0 = block.words[15];
  const u64 y_p2_pitch0 = block.words[16];
  const u64 y_p2_low1 = block.words[17];
  const u64 y_p2_size1 = block.words[18];
  const u64 y_p2_shape0 = block.words[19];
  const u64 y_p2_shape1 = block.words[20];
  const u64 first0 = block.words[21];
  const u64 offset0 = block.words[22];
  const u64 range0 = block.words[23];
  const u64 first1 = block.words[24];
  const u64 offset1 = block.words[25];
  const u64 range1 = block.words[26];
  GLOBAL const f32 *a_p0 = a_p0_base + block.words[27];
  GLOBAL const f32 *b_p1 = b_p1_base + block.words[28];
  GLOBAL f32 *y_p2 = y_p2_base + block.words[29];
  const u64 pos0 = first0 + (u64)get_group_id(1) * get_local_size(1) + get_local_id(1);
  const u64 pos1 = first1 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0 || pos1 - offset1 >= range1) return;
  f32 l6_v0 = 0.0f;
  l6_v0 = 0.0f;
  for (u64 k6 = 0ul; k6 < a_p0_shape1; k6++) {
    // crates/folio-conformance/src/engine/kernels/computations.rs
    f32 t7 = 0.0f;
    if (pos0 - a_p0_low0 < a_p0_size0 && k6 - a_p0_low1 < a_p0_size1) t7 = a_p0[(pos0 - a_p0_low0) * a_p0_pitch0 + (k6 - a_p0_low1)];
    else outside(verdict, 1u, pos0, k6, 0, a_p0_shape0, a_p0_shape1, 0);
    // crates/folio-conformance/src/engine/kernels/computations.rs
    f32 t8 = 0.0f;
    if (k6 - b_p1_low0 < b_p1_size0 && pos1 - b_p1_low1 < b_p1_size1) t8 = b_p1[(k6 - b_p1_low0) * b_p1_pitch0 + (pos1 - b_p1_low1)];
    else outside(verdict, 2u, k6, pos1, 0, b_p1_shape0, b_p1_shape1, 0);
    const f32 t9 = t7 * t8;
    // crates/folio-conformance/src/engine/kernels/computations.rs
    const f32 t10 = l6_v0;
    const f32 t11 = t10 + t9;
    l6_v0 = t11;
  }
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const f32 t12 = l6_v0;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p2_low0 < y_p2_size0 && pos1 - y_p2_low1 < y_p2_size1) y_p2[(pos0 - y_p2_low0) * y_p2_pitch0 + (pos1 - y_p2_low1)] = t12;
  else outside(verdict, 3u, pos0, pos1, 0, y_p2_shape0, y_p2_shape1, 0);
}
