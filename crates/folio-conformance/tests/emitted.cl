// accumulates
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
FN u32 gap_of(u32 n) { u32 s = 1; while (s < n) s <<= 1; return s >> 1; }
typedef struct { u64 words[28]; } Block;
ENTRY(256) folio_accumulates(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL i32 *sums_p1_base,
    GLOBAL i32 *seen_p2_base,
    GLOBAL Record *verdict,
    LOCAL u64 *scratch) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_pitch0 = block.words[2];
  const u64 x_p0_low1 = block.words[3];
  const u64 x_p0_size1 = block.words[4];
  const u64 x_p0_shape0 = block.words[5];
  const u64 x_p0_shape1 = block.words[6];
  const u64 sums_p1_low0 = block.words[7];
  const u64 sums_p1_size0 = block.words[8];
  const u64 sums_p1_pitch0 = block.words[9];
  const u64 sums_p1_low1 = block.words[10];
  const u64 sums_p1_size1 = block.words[11];
  const u64 sums_p1_shape0 = block.words[12];
  const u64 sums_p1_shape1 = block.words[13];
  const u64 seen_p2_low0 = block.words[14];
  const u64 seen_p2_size0 = block.words[15];
  const u64 seen_p2_pitch0 = block.words[16];
  const u64 seen_p2_low1 = block.words[17];
  const u64 seen_p2_size1 = block.words[18];
  const u64 seen_p2_shape0 = block.words[19];
  const u64 seen_p2_shape1 = block.words[20];
  const u64 first0 = block.words[21];
  const u64 offset0 = block.words[22];
  const u64 first1 = block.words[23];
  const u64 offset1 = block.words[24];
  GLOBAL const i32 *x_p0 = x_p0_base + block.words[25];
  GLOBAL i32 *sums_p1 = sums_p1_base + block.words[26];
  GLOBAL i32 *seen_p2 = seen_p2_base + block.words[27];
  const u64 size0 = get_local_size(1);
  const u64 local0 = get_local_id(1);
  const u64 group0 = first0 + get_group_id(1);
  const u64 pos0 = offset0 + group0 * size0 + local0;
  const u64 size1 = get_local_size(0);
  const u64 local1 = get_local_id(0);
  const u64 group1 = first1 + get_group_id(0);
  const u64 pos1 = offset1 + group1 * size1 + local1;
  const u32 thread = (u32)(get_local_id(1) * get_local_size(0) + get_local_id(0));
  const u32 threads = (u32)(get_local_size(1) * get_local_size(0));
  i32 collected_v0 = 0;
  {
    LOCAL i32 *all = (LOCAL i32 *)scratch;
    {
      // crates/folio-conformance/src/engine/kernels/group_code.rs
      i32 t2 = 0;
      if (pos0 - x_p0_low0 < x_p0_size0 && pos1 - x_p0_low1 < x_p0_size1) t2 = x_p0[(pos0 - x_p0_low0) * x_p0_pitch0 + (pos1 - x_p0_low1)];
      else outside(verdict, 1u, pos0, pos1, 0, x_p0_shape0, x_p0_shape1, 0);
      all[thread] = t2;
    }
    BARRIER;
    for (u32 gap = gap_of(threads); gap > 0u; gap >>= 1) {
      if (thread < gap && thread + gap < threads) all[thread] = (i32)((u32)all[thread] + (u32)all[thread + gap]);
      BARRIER;
    }
    collected_v0 = all[0];
    BARRIER;
  }
  const i32 t3 = collected_v0;
  // crates/folio-conformance/src/engine/kernels/group_code.rs
  i32 t6 = 0;
  if (group0 - sums_p1_low0 < sums_p1_size0 && group1 - sums_p1_low1 < sums_p1_size1) t6 = sums_p1[(group0 - sums_p1_low0) * sums_p1_pitch0 + (group1 - sums_p1_low1)];
  else outside(verdict, 2u, group0, group1, 0, sums_p1_shape0, sums_p1_shape1, 0);
  const i32 t7 = (i32)((u32)t6 + (u32)t3);
  BARRIER;
  if (thread == 0u) {
    if (group0 - sums_p1_low0 < sums_p1_size0 && group1 - sums_p1_low1 < sums_p1_size1) sums_p1[(group0 - sums_p1_low0) * sums_p1_pitch0 + (group1 - sums_p1_low1)] = t7;
    else outside(verdict, 3u, group0, group1, 0, sums_p1_shape0, sums_p1_shape1, 0);
  }
  BARRIER;
  // crates/folio-conformance/src/engine/kernels/group_code.rs
  i32 t8 = 0;
  if (group0 - sums_p1_low0 < sums_p1_size0 && group1 - sums_p1_low1 < sums_p1_size1) t8 = sums_p1[(group0 - sums_p1_low0) * sums_p1_pitch0 + (group1 - sums_p1_low1)];
  else outside(verdict, 4u, group0, group1, 0, sums_p1_shape0, sums_p1_shape1, 0);
  const bool t10 = t8 > 100;
  if (t10) {
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    i32 t11 = 0;
    if (group0 - sums_p1_low0 < sums_p1_size0 && group1 - sums_p1_low1 < sums_p1_size1) t11 = sums_p1[(group0 - sums_p1_low0) * sums_p1_pitch0 + (group1 - sums_p1_low1)];
    else outside(verdict, 5u, group0, group1, 0, sums_p1_shape0, sums_p1_shape1, 0);
    BARRIER;
    if (thread == 0u) {
      // crates/folio-conformance/src/engine/kernels/group_code.rs
      i32 t12 = 0;
      if (group0 - seen_p2_low0 < seen_p2_size0 && group1 - seen_p2_low1 < seen_p2_size1) t12 = seen_p2[(group0 - seen_p2_low0) * seen_p2_pitch0 + (group1 - seen_p2_low1)];
      else outside(verdict, 6u, group0, group1, 0, seen_p2_shape0, seen_p2_shape1, 0);
      const i32 t13 = (i32)((u32)t12 + (u32)t11);
      // crates/folio-conformance/src/engine/kernels/group_code.rs
      if (group0 - seen_p2_low0 < seen_p2_size0 && group1 - seen_p2_low1 < seen_p2_size1) seen_p2[(group0 - seen_p2_low0) * seen_p2_pitch0 + (group1 - seen_p2_low1)] = t13;
      else outside(verdict, 7u, group0, group1, 0, seen_p2_shape0, seen_p2_shape1, 0);
    }
    BARRIER;
  }
}
// acos_of
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_acos_of(
    const Block block,
    GLOBAL const f32 *RESTRICT x_p0_base,
    GLOBAL f32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
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
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f32 t1 = 0.0f;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const f32 t2 = acos(t1);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t2;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// acos_of
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_acos_of(
    const Block block,
    GLOBAL const f64 *RESTRICT x_p0_base,
    GLOBAL f64 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const f64 *x_p0 = x_p0_base + block.words[9];
  GLOBAL f64 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f64 t1 = 0.0;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const f64 t2 = acos(t1);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t2;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// adds
typedef struct { i32 at[3]; } array_t0;
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_adds(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL i32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const i32 *x_p0 = x_p0_base + block.words[9];
  GLOBAL i32 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  array_t0 l3_v0 = { { 0 } };
  const array_t0 t3 = { { 1, 2, 3 } };
  l3_v0 = t3;
  // crates/folio-conformance/src/engine/kernels/rare.rs
  i32 t6 = 0;
  if (pos0 - x_p0_low0 < x_p0_size0) t6 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const u64 t7 = (u64)t6;
  // crates/folio-conformance/src/engine/kernels/rare.rs
  i32 t8 = 0;
  if (t7 < 3ul) t8 = l3_v0.at[t7];
  else outside(verdict, 2u, t7, 0, 0, 3ul, 0, 0);
  const i32 t9 = (i32)((u32)t8 + (u32)9);
  if (t7 < 3ul) l3_v0.at[t7] = t9;
  else outside(verdict, 3u, t7, 0, 0, 3ul, 0, 0);
  // crates/folio-conformance/src/engine/kernels/rare.rs
  const i32 t11 = l3_v0.at[0ul];
  // crates/folio-conformance/src/engine/kernels/rare.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t11;
  else outside(verdict, 4u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// adds_at
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_adds_at(
    const Block block,
    GLOBAL const i32 *RESTRICT at_p0_base,
    GLOBAL u32 *n_p1_base,
    GLOBAL Record *verdict) {
  const u64 at_p0_low0 = block.words[0];
  const u64 at_p0_size0 = block.words[1];
  const u64 at_p0_shape0 = block.words[2];
  const u64 n_p1_low0 = block.words[3];
  const u64 n_p1_size0 = block.words[4];
  const u64 n_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const i32 *at_p0 = at_p0_base + block.words[9];
  GLOBAL u32 *n_p1 = n_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/code.rs
  i32 t1 = 0;
  if (pos0 - at_p0_low0 < at_p0_size0) t1 = at_p0[pos0 - at_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, at_p0_shape0, 0, 0);
  const u64 t2 = (u64)t1;
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (t2 - n_p1_low0 < n_p1_size0) atomic_add((volatile GLOBAL u32 *)&n_p1[t2 - n_p1_low0], (u32)1u);
  else outside(verdict, 2u, t2, 0, 0, n_p1_shape0, 0, 0);
}
// alternatives
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
FN i32 rem_i32(i32 a, i32 b) { return b == -1 ? 0 : (i32)(a % b); }
FN i32 div_i32(i32 a, i32 b) { return b == -1 ? (i32)((u32)0 - (u32)a) : (i32)(a / b); }
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_alternatives(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL i32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const i32 *x_p0 = x_p0_base + block.words[9];
  GLOBAL i32 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  i32 if_v0 = 0;
  i32 if_v1 = 0;
  i32 if_v2 = 0;
  i32 if_v3 = 0;
  i32 if_v4 = 0;
  i32 if_v5 = 0;
  i32 if_v6 = 0;
  i32 if_v7 = 0;
  i32 if_v8 = 0;
  i32 if_v9 = 0;
  i32 if_v10 = 0;
  i32 if_v11 = 0;
  // crates/folio-conformance/src/engine/kernels/language.rs
  i32 t1 = 0;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const i32 t3 = rem_i32(t1, 3);
  // crates/folio-conformance/src/engine/kernels/language.rs
  i32 t4 = 0;
  if (pos0 - x_p0_low0 < x_p0_size0) t4 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 2u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const i32 t6 = div_i32(t4, 3);
  const i32 t8 = rem_i32(t6, 3);
  const bool t10 = t8 == 0;
  if (t10) {
    if_v0 = t3;
  } else {
    if_v0 = t8;
  }
  // crates/folio-conformance/src/engine/kernels/language.rs
  const i32 t11 = if_v0;
  const bool t13 = t3 == 1;
  if (t13) {
    if_v1 = t3;
  } else {
    if_v1 = t8;
  }
  const i32 t14 = if_v1;
  const bool t16 = t8 == 0;
  const bool t18 = t3 == 0;
  const bool t19 = (t16 || t18);
  if (t19) {
    if_v2 = t11;
  } else {
    const bool t21 = t3 == 1;
    const bool t23 = t8 == 1;
    const bool t25 = t8 == (-0 - 1);
    const bool t26 = (t23 || t25);
    const bool t27 = (t21 || t26);
    if (t27) {
      const i32 t29 = (i32)((u32)t14 + (u32)10);
      if_v3 = t29;
    } else {
      if_v3 = 99;
    }
    // crates/folio-conformance/src/engine/kernels/language.rs
    const i32 t31 = if_v3;
    if_v2 = t31;
  }
  const i32 t32 = if_v2;
  // crates/folio-conformance/src/engine/kernels/language.rs
  i32 t33 = 0;
  if (pos0 - x_p0_low0 < x_p0_size0) t33 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 3u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const bool t35 = t3 == 1;
  if (t35) {
    if_v4 = t32;
  } else {
    const bool t37 = t32 == 2;
    if (t37) {
      if_v5 = t8;
    } else {
      if_v5 = t3;
    }
    // crates/folio-conformance/src/engine/kernels/language.rs
    const i32 t38 = if_v5;
    if_v4 = t38;
  }
  const i32 t39 = if_v4;
  const bool t41 = t3 == 1;
  if (t41) {
    if_v6 = t8;
  } else {
    const bool t43 = t32 == 2;
    if (t43) {
      if_v7 = t3;
    } else {
      if_v7 = t33;
    }
    const i32 t44 = if_v7;
    if_v6 = t44;
  }
  const i32 t45 = if_v6;
  const bool t47 = t8 == 1;
  const bool t49 = t8 == 2;
  const bool t50 = (t47 || t49);
  if (t50) {
    if_v8 = t32;
  } else {
    if_v8 = t8;
  }
  const i32 t51 = if_v8;
  const bool t53 = t3 == 1;
  const bool t55 = t32 == 2;
  const bool t56 = (t53 || t55);
  const bool t58 = t32 == 0;
  const bool t60 = t8 == 0;
  const bool t62 = t8 == 1;
  const bool t63 = (t60 || t62);
  const bool t64 = (t58 && t63);
  const bool t65 = (t56 || t64);
  if (t65) {
    const i32 t67 = (i32)((u32)t39 * (u32)5);
    const i32 t68 = (i32)((u32)t67 - (u32)t45);
    if_v9 = t68;
  } else {
    const bool t70 = t8 == 1;
    const bool t72 = t8 == 2;
    const bool t73 = (t70 || t72);
    const bool t75 = t33 >= (-39 - 1);
    const bool t76 = (t73 || t75);
    if (t76) {
      if_v10 = t51;
    } else {
      const bool t78 = t33 < (-44 - 1);
      if (t78) {
        if_v11 = 7;
      } else {
        if_v11 = 8;
      }
      // crates/folio-conformance/src/engine/kernels/language.rs
      const i32 t81 = if_v11;
      if_v10 = t81;
    }
    const i32 t82 = if_v10;
    if_v9 = t82;
  }
  const i32 t83 = if_v9;
  const i32 t85 = (i32)((u32)t32 * (u32)100);
  const i32 t86 = (i32)((u32)t85 + (u32)t83);
  // crates/folio-conformance/src/engine/kernels/language.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t86;
  else outside(verdict, 4u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// around
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[33]; } Block;
ENTRY(256) folio_around(
    const Block block,
    GLOBAL const f64 *RESTRICT x_p0_base,
    GLOBAL f64 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_shape0 = block.words[0];
  const u64 x_p0_shape1 = block.words[1];
  const u64 x_p0_shape2 = block.words[2];
  const u64 x_p0_low0 = block.words[3];
  const u64 x_p0_size0 = block.words[4];
  const u64 x_p0_pitch0 = block.words[5];
  const u64 x_p0_low1 = block.words[6];
  const u64 x_p0_size1 = block.words[7];
  const u64 x_p0_pitch1 = block.words[8];
  const u64 x_p0_low2 = block.words[9];
  const u64 x_p0_size2 = block.words[10];
  const u64 y_p1_low0 = block.words[11];
  const u64 y_p1_size0 = block.words[12];
  const u64 y_p1_pitch0 = block.words[13];
  const u64 y_p1_low1 = block.words[14];
  const u64 y_p1_size1 = block.words[15];
  const u64 y_p1_pitch1 = block.words[16];
  const u64 y_p1_low2 = block.words[17];
  const u64 y_p1_size2 = block.words[18];
  const u64 y_p1_shape0 = block.words[19];
  const u64 y_p1_shape1 = block.words[20];
  const u64 y_p1_shape2 = block.words[21];
  const u64 first0 = block.words[22];
  const u64 offset0 = block.words[23];
  const u64 range0 = block.words[24];
  const u64 first1 = block.words[25];
  const u64 offset1 = block.words[26];
  const u64 range1 = block.words[27];
  const u64 first2 = block.words[28];
  const u64 offset2 = block.words[29];
  const u64 range2 = block.words[30];
  GLOBAL const f64 *x_p0 = x_p0_base + block.words[31];
  GLOBAL f64 *y_p1 = y_p1_base + block.words[32];
  const u64 pos0 = first0 + (u64)get_group_id(2) * get_local_size(2) + get_local_id(2);
  const u64 pos1 = first1 + (u64)get_group_id(1) * get_local_size(1) + get_local_id(1);
  const u64 pos2 = first2 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0 || pos1 - offset1 >= range1 || pos2 - offset2 >= range2) return;
  bool lazy_v0 = false;
  bool lazy_v1 = false;
  bool lazy_v2 = false;
  f64 if_v3 = 0.0;
  const bool t7 = pos0 > 0ul;
  const bool t9 = pos1 > 0ul;
  const bool t10 = (t7 && t9);
  const bool t12 = pos2 > 0ul;
  const bool t13 = (t10 && t12);
  lazy_v0 = t13;
  if (t13) {
    const u64 t15 = pos0 + 1ul;
    const bool t16 = t15 < x_p0_shape0;
    lazy_v0 = t16;
  }
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const bool t17 = lazy_v0;
  lazy_v1 = t17;
  if (t17) {
    const u64 t19 = pos1 + 1ul;
    const bool t20 = t19 < x_p0_shape1;
    lazy_v1 = t20;
  }
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const bool t21 = lazy_v1;
  lazy_v2 = t21;
  if (t21) {
    const u64 t23 = pos2 + 1ul;
    const bool t24 = t23 < x_p0_shape2;
    lazy_v2 = t24;
  }
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const bool t25 = lazy_v2;
  if (t25) {
    const u64 t27 = pos0 - 1ul;
    // crates/folio-conformance/src/engine/kernels/computations.rs
    f64 t28 = 0.0;
    if (t27 - x_p0_low0 < x_p0_size0 && pos1 - x_p0_low1 < x_p0_size1 && pos2 - x_p0_low2 < x_p0_size2) t28 = x_p0[(t27 - x_p0_low0) * x_p0_pitch0 + (pos1 - x_p0_low1) * x_p0_pitch1 + (pos2 - x_p0_low2)];
    else outside(verdict, 1u, t27, pos1, pos2, x_p0_shape0, x_p0_shape1, x_p0_shape2);
    const u64 t30 = pos0 + 1ul;
    // crates/folio-conformance/src/engine/kernels/computations.rs
    f64 t31 = 0.0;
    if (t30 - x_p0_low0 < x_p0_size0 && pos1 - x_p0_low1 < x_p0_size1 && pos2 - x_p0_low2 < x_p0_size2) t31 = x_p0[(t30 - x_p0_low0) * x_p0_pitch0 + (pos1 - x_p0_low1) * x_p0_pitch1 + (pos2 - x_p0_low2)];
    else outside(verdict, 2u, t30, pos1, pos2, x_p0_shape0, x_p0_shape1, x_p0_shape2);
    const f64 t32 = t28 + t31;
    const u64 t34 = pos1 - 1ul;
    // crates/folio-conformance/src/engine/kernels/computations.rs
    f64 t35 = 0.0;
    if (pos0 - x_p0_low0 < x_p0_size0 && t34 - x_p0_low1 < x_p0_size1 && pos2 - x_p0_low2 < x_p0_size2) t35 = x_p0[(pos0 - x_p0_low0) * x_p0_pitch0 + (t34 - x_p0_low1) * x_p0_pitch1 + (pos2 - x_p0_low2)];
    else outside(verdict, 3u, pos0, t34, pos2, x_p0_shape0, x_p0_shape1, x_p0_shape2);
    const f64 t36 = t32 + t35;
    const u64 t38 = pos1 + 1ul;
    // crates/folio-conformance/src/engine/kernels/computations.rs
    f64 t39 = 0.0;
    if (pos0 - x_p0_low0 < x_p0_size0 && t38 - x_p0_low1 < x_p0_size1 && pos2 - x_p0_low2 < x_p0_size2) t39 = x_p0[(pos0 - x_p0_low0) * x_p0_pitch0 + (t38 - x_p0_low1) * x_p0_pitch1 + (pos2 - x_p0_low2)];
    else outside(verdict, 4u, pos0, t38, pos2, x_p0_shape0, x_p0_shape1, x_p0_shape2);
    const f64 t40 = t36 + t39;
    const u64 t42 = pos2 - 1ul;
    // crates/folio-conformance/src/engine/kernels/computations.rs
    f64 t43 = 0.0;
    if (pos0 - x_p0_low0 < x_p0_size0 && pos1 - x_p0_low1 < x_p0_size1 && t42 - x_p0_low2 < x_p0_size2) t43 = x_p0[(pos0 - x_p0_low0) * x_p0_pitch0 + (pos1 - x_p0_low1) * x_p0_pitch1 + (t42 - x_p0_low2)];
    else outside(verdict, 5u, pos0, pos1, t42, x_p0_shape0, x_p0_shape1, x_p0_shape2);
    const f64 t44 = t40 + t43;
    const u64 t46 = pos2 + 1ul;
    // crates/folio-conformance/src/engine/kernels/computations.rs
    f64 t47 = 0.0;
    if (pos0 - x_p0_low0 < x_p0_size0 && pos1 - x_p0_low1 < x_p0_size1 && t46 - x_p0_low2 < x_p0_size2) t47 = x_p0[(pos0 - x_p0_low0) * x_p0_pitch0 + (pos1 - x_p0_low1) * x_p0_pitch1 + (t46 - x_p0_low2)];
    else outside(verdict, 6u, pos0, pos1, t46, x_p0_shape0, x_p0_shape1, x_p0_shape2);
    const f64 t48 = t44 + t47;
    const f64 t50 = t48 / 6.0;
    if_v3 = t50;
  } else {
    // crates/folio-conformance/src/engine/kernels/computations.rs
    f64 t51 = 0.0;
    if (pos0 - x_p0_low0 < x_p0_size0 && pos1 - x_p0_low1 < x_p0_size1 && pos2 - x_p0_low2 < x_p0_size2) t51 = x_p0[(pos0 - x_p0_low0) * x_p0_pitch0 + (pos1 - x_p0_low1) * x_p0_pitch1 + (pos2 - x_p0_low2)];
    else outside(verdict, 7u, pos0, pos1, pos2, x_p0_shape0, x_p0_shape1, x_p0_shape2);
    if_v3 = t51;
  }
  const f64 t52 = if_v3;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p1_low0 < y_p1_size0 && pos1 - y_p1_low1 < y_p1_size1 && pos2 - y_p1_low2 < y_p1_size2) y_p1[(pos0 - y_p1_low0) * y_p1_pitch0 + (pos1 - y_p1_low1) * y_p1_pitch1 + (pos2 - y_p1_low2)] = t52;
  else outside(verdict, 8u, pos0, pos1, pos2, y_p1_shape0, y_p1_shape1, y_p1_shape2);
}
// array
typedef struct { i32 at[3]; } array_t0;
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_array(
    const Block block,
    GLOBAL const i32 *RESTRICT at_p0_base,
    GLOBAL i32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 y_p1_low0 = block.words[0];
  const u64 y_p1_size0 = block.words[1];
  const u64 y_p1_shape0 = block.words[2];
  const u64 at_p0_low0 = block.words[3];
  const u64 at_p0_size0 = block.words[4];
  const u64 at_p0_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const i32 *at_p0 = at_p0_base + block.words[9];
  GLOBAL i32 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  array_t0 l3_v0 = { { 0 } };
  const array_t0 t3 = { { 1, 2, 3 } };
  l3_v0 = t3;
  // crates/folio-conformance/src/engine/kernels/code.rs
  i32 t5 = 0;
  if (pos0 - y_p1_low0 < y_p1_size0) t5 = y_p1[pos0 - y_p1_low0];
  else outside(verdict, 1u, pos0, 0, 0, y_p1_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/code.rs
  const i32 t7 = l3_v0.at[0ul];
  const i32 t8 = (i32)((u32)t7 + (u32)t5);
  l3_v0.at[0ul] = t8;
  // crates/folio-conformance/src/engine/kernels/code.rs
  i32 t9 = 0;
  if (pos0 - at_p0_low0 < at_p0_size0) t9 = at_p0[pos0 - at_p0_low0];
  else outside(verdict, 2u, pos0, 0, 0, at_p0_shape0, 0, 0);
  const u64 t10 = (u64)t9;
  // crates/folio-conformance/src/engine/kernels/code.rs
  i32 t11 = 0;
  if (t10 < 3ul) t11 = l3_v0.at[t10];
  else outside(verdict, 3u, t10, 0, 0, 3ul, 0, 0);
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t11;
  else outside(verdict, 4u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// as_arrays
typedef struct { u64 at[2]; } array_t0;
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[30]; } Block;
ENTRY(256) folio_as_arrays(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL u32 *n_p1_base,
    GLOBAL i32 *RESTRICT y_p2_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_shape0 = block.words[0];
  const u64 x_p0_shape1 = block.words[1];
  const u64 n_p1_low0 = block.words[2];
  const u64 n_p1_size0 = block.words[3];
  const u64 n_p1_pitch0 = block.words[4];
  const u64 n_p1_low1 = block.words[5];
  const u64 n_p1_size1 = block.words[6];
  const u64 n_p1_shape0 = block.words[7];
  const u64 n_p1_shape1 = block.words[8];
  const u64 x_p0_low0 = block.words[9];
  const u64 x_p0_size0 = block.words[10];
  const u64 x_p0_pitch0 = block.words[11];
  const u64 x_p0_low1 = block.words[12];
  const u64 x_p0_size1 = block.words[13];
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
  GLOBAL const i32 *x_p0 = x_p0_base + block.words[27];
  GLOBAL u32 *n_p1 = n_p1_base + block.words[28];
  GLOBAL i32 *y_p2 = y_p2_base + block.words[29];
  const u64 pos0 = first0 + (u64)get_group_id(1) * get_local_size(1) + get_local_id(1);
  const u64 pos1 = first1 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0 || pos1 - offset1 >= range1) return;
  i32 l11_v0 = 0;
  const u64 t5 = x_p0_shape0 - 1ul;
  const u64 t7 = x_p0_shape1 - 1ul;
  const array_t0 t8 = { { t5, t7 } };
  const u64 t9 = t8.at[0];
  const u64 t10 = t8.at[1];
  // crates/folio-conformance/src/engine/kernels/positions.rs
  const u64 t12 = (u64)(pos0 % 2ul);
  const array_t0 t14 = { { t12, 0ul } };
  const u64 t15 = t14.at[0];
  const u64 t16 = t14.at[1];
  // crates/folio-conformance/src/engine/kernels/positions.rs
  if (t15 - n_p1_low0 < n_p1_size0 && t16 - n_p1_low1 < n_p1_size1) atomic_add((volatile GLOBAL u32 *)&n_p1[(t15 - n_p1_low0) * n_p1_pitch0 + (t16 - n_p1_low1)], (u32)1u);
  else outside(verdict, 1u, t15, t16, 0, n_p1_shape0, n_p1_shape1, 0);
  const u64 t19 = t9 - pos0;
  const u64 t20 = t10 - pos1;
  const array_t0 t21 = { { t19, t20 } };
  // crates/folio-conformance/src/engine/kernels/positions.rs
  i32 t22 = 0;
  if (pos0 - x_p0_low0 < x_p0_size0 && pos1 - x_p0_low1 < x_p0_size1) t22 = x_p0[(pos0 - x_p0_low0) * x_p0_pitch0 + (pos1 - x_p0_low1)];
  else outside(verdict, 2u, pos0, pos1, 0, x_p0_shape0, x_p0_shape1, 0);
  const i32 t24 = (i32)((u32)t22 * (u32)3);
  const u64 t25 = t9 - pos0;
  // crates/folio-conformance/src/engine/kernels/positions.rs
  i32 t26 = 0;
  if (t25 - x_p0_low0 < x_p0_size0 && pos1 - x_p0_low1 < x_p0_size1) t26 = x_p0[(t25 - x_p0_low0) * x_p0_pitch0 + (pos1 - x_p0_low1)];
  else outside(verdict, 3u, t25, pos1, 0, x_p0_shape0, x_p0_shape1, 0);
  const i32 t27 = (i32)((u32)t24 + (u32)t26);
  const u64 t29 = pos1 + 1ul;
  // crates/folio-conformance/src/engine/kernels/positions.rs
  if (x_p0_shape1 == 0) fail(verdict, 4u);
  const u64 t30 = x_p0_shape1 == 0 ? 0 : (u64)(t29 % x_p0_shape1);
  // crates/folio-conformance/src/engine/kernels/positions.rs
  i32 t31 = 0;
  if (pos0 - x_p0_low0 < x_p0_size0 && t30 - x_p0_low1 < x_p0_size1) t31 = x_p0[(pos0 - x_p0_low0) * x_p0_pitch0 + (t30 - x_p0_low1)];
  else outside(verdict, 5u, pos0, t30, 0, x_p0_shape0, x_p0_shape1, 0);
  const i32 t32 = (i32)((u32)t27 - (u32)t31);
  l11_v0 = t32;
  for (u64 k34 = 0ul; k34 < x_p0_shape1; k34++) {
    // crates/folio-conformance/src/engine/kernels/positions.rs
    i32 t36 = 0;
    if (0ul - x_p0_low0 < x_p0_size0 && k34 - x_p0_low1 < x_p0_size1) t36 = x_p0[(0ul - x_p0_low0) * x_p0_pitch0 + (k34 - x_p0_low1)];
    else outside(verdict, 6u, 0ul, k34, 0, x_p0_shape0, x_p0_shape1, 0);
    const u64 t37 = t21.at[0];
    const u64 t38 = t21.at[1];
    // crates/folio-conformance/src/engine/kernels/positions.rs
    i32 t39 = 0;
    if (t37 - x_p0_low0 < x_p0_size0 && t38 - x_p0_low1 < x_p0_size1) t39 = x_p0[(t37 - x_p0_low0) * x_p0_pitch0 + (t38 - x_p0_low1)];
    else outside(verdict, 7u, t37, t38, 0, x_p0_shape0, x_p0_shape1, 0);
    const i32 t40 = (i32)((u32)t36 * (u32)t39);
    // crates/folio-conformance/src/engine/kernels/positions.rs
    const i32 t41 = l11_v0;
    const i32 t42 = (i32)((u32)t41 + (u32)t40);
    l11_v0 = t42;
  }
  // crates/folio-conformance/src/engine/kernels/positions.rs
  const i32 t43 = l11_v0;
  // crates/folio-conformance/src/engine/kernels/positions.rs
  if (pos0 - y_p2_low0 < y_p2_size0 && pos1 - y_p2_low1 < y_p2_size1) y_p2[(pos0 - y_p2_low0) * y_p2_pitch0 + (pos1 - y_p2_low1)] = t43;
  else outside(verdict, 8u, pos0, pos1, 0, y_p2_shape0, y_p2_shape1, 0);
}
// as_tuples
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[30]; } Block;
ENTRY(256) folio_as_tuples(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL u32 *n_p1_base,
    GLOBAL i32 *RESTRICT y_p2_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_shape0 = block.words[0];
  const u64 x_p0_shape1 = block.words[1];
  const u64 n_p1_low0 = block.words[2];
  const u64 n_p1_size0 = block.words[3];
  const u64 n_p1_pitch0 = block.words[4];
  const u64 n_p1_low1 = block.words[5];
  const u64 n_p1_size1 = block.words[6];
  const u64 n_p1_shape0 = block.words[7];
  const u64 n_p1_shape1 = block.words[8];
  const u64 x_p0_low0 = block.words[9];
  const u64 x_p0_size0 = block.words[10];
  const u64 x_p0_pitch0 = block.words[11];
  const u64 x_p0_low1 = block.words[12];
  const u64 x_p0_size1 = block.words[13];
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
  GLOBAL const i32 *x_p0 = x_p0_base + block.words[27];
  GLOBAL u32 *n_p1 = n_p1_base + block.words[28];
  GLOBAL i32 *y_p2 = y_p2_base + block.words[29];
  const u64 pos0 = first0 + (u64)get_group_id(1) * get_local_size(1) + get_local_id(1);
  const u64 pos1 = first1 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0 || pos1 - offset1 >= range1) return;
  i32 l11_v0 = 0;
  const u64 t5 = x_p0_shape0 - 1ul;
  const u64 t7 = x_p0_shape1 - 1ul;
  // crates/folio-conformance/src/engine/kernels/positions.rs
  const u64 t9 = (u64)(pos0 % 2ul);
  // crates/folio-conformance/src/engine/kernels/positions.rs
  if (t9 - n_p1_low0 < n_p1_size0 && 0ul - n_p1_low1 < n_p1_size1) atomic_add((volatile GLOBAL u32 *)&n_p1[(t9 - n_p1_low0) * n_p1_pitch0 + (0ul - n_p1_low1)], (u32)1u);
  else outside(verdict, 1u, t9, 0ul, 0, n_p1_shape0, n_p1_shape1, 0);
  const u64 t13 = t5 - pos0;
  const u64 t14 = t7 - pos1;
  // crates/folio-conformance/src/engine/kernels/positions.rs
  i32 t15 = 0;
  if (pos0 - x_p0_low0 < x_p0_size0 && pos1 - x_p0_low1 < x_p0_size1) t15 = x_p0[(pos0 - x_p0_low0) * x_p0_pitch0 + (pos1 - x_p0_low1)];
  else outside(verdict, 2u, pos0, pos1, 0, x_p0_shape0, x_p0_shape1, 0);
  const i32 t17 = (i32)((u32)t15 * (u32)3);
  const u64 t18 = t5 - pos0;
  // crates/folio-conformance/src/engine/kernels/positions.rs
  i32 t19 = 0;
  if (t18 - x_p0_low0 < x_p0_size0 && pos1 - x_p0_low1 < x_p0_size1) t19 = x_p0[(t18 - x_p0_low0) * x_p0_pitch0 + (pos1 - x_p0_low1)];
  else outside(verdict, 3u, t18, pos1, 0, x_p0_shape0, x_p0_shape1, 0);
  const i32 t20 = (i32)((u32)t17 + (u32)t19);
  const u64 t22 = pos1 + 1ul;
  // crates/folio-conformance/src/engine/kernels/positions.rs
  if (x_p0_shape1 == 0) fail(verdict, 4u);
  const u64 t23 = x_p0_shape1 == 0 ? 0 : (u64)(t22 % x_p0_shape1);
  // crates/folio-conformance/src/engine/kernels/positions.rs
  i32 t24 = 0;
  if (pos0 - x_p0_low0 < x_p0_size0 && t23 - x_p0_low1 < x_p0_size1) t24 = x_p0[(pos0 - x_p0_low0) * x_p0_pitch0 + (t23 - x_p0_low1)];
  else outside(verdict, 5u, pos0, t23, 0, x_p0_shape0, x_p0_shape1, 0);
  const i32 t25 = (i32)((u32)t20 - (u32)t24);
  l11_v0 = t25;
  for (u64 k27 = 0ul; k27 < x_p0_shape1; k27++) {
    // crates/folio-conformance/src/engine/kernels/positions.rs
    i32 t29 = 0;
    if (0ul - x_p0_low0 < x_p0_size0 && k27 - x_p0_low1 < x_p0_size1) t29 = x_p0[(0ul - x_p0_low0) * x_p0_pitch0 + (k27 - x_p0_low1)];
    else outside(verdict, 6u, 0ul, k27, 0, x_p0_shape0, x_p0_shape1, 0);
    // crates/folio-conformance/src/engine/kernels/positions.rs
    i32 t30 = 0;
    if (t13 - x_p0_low0 < x_p0_size0 && t14 - x_p0_low1 < x_p0_size1) t30 = x_p0[(t13 - x_p0_low0) * x_p0_pitch0 + (t14 - x_p0_low1)];
    else outside(verdict, 7u, t13, t14, 0, x_p0_shape0, x_p0_shape1, 0);
    const i32 t31 = (i32)((u32)t29 * (u32)t30);
    // crates/folio-conformance/src/engine/kernels/positions.rs
    const i32 t32 = l11_v0;
    const i32 t33 = (i32)((u32)t32 + (u32)t31);
    l11_v0 = t33;
  }
  // crates/folio-conformance/src/engine/kernels/positions.rs
  const i32 t34 = l11_v0;
  // crates/folio-conformance/src/engine/kernels/positions.rs
  if (pos0 - y_p2_low0 < y_p2_size0 && pos1 - y_p2_low1 < y_p2_size1) y_p2[(pos0 - y_p2_low0) * y_p2_pitch0 + (pos1 - y_p2_low1)] = t34;
  else outside(verdict, 8u, pos0, pos1, 0, y_p2_shape0, y_p2_shape1, 0);
}
// asin_of
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_asin_of(
    const Block block,
    GLOBAL const f32 *RESTRICT x_p0_base,
    GLOBAL f32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
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
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f32 t1 = 0.0f;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const f32 t2 = asin(t1);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t2;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// asin_of
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_asin_of(
    const Block block,
    GLOBAL const f64 *RESTRICT x_p0_base,
    GLOBAL f64 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const f64 *x_p0 = x_p0_base + block.words[9];
  GLOBAL f64 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f64 t1 = 0.0;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const f64 t2 = asin(t1);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t2;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// asserts
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_asserts(
    const Block block,
    GLOBAL const f32 *RESTRICT x_p0_base,
    GLOBAL f32 *RESTRICT o_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 o_p1_low0 = block.words[3];
  const u64 o_p1_size0 = block.words[4];
  const u64 o_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const f32 *x_p0 = x_p0_base + block.words[9];
  GLOBAL f32 *o_p1 = o_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/code.rs
  f32 t1 = 0.0f;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const bool t3 = t1 >= 0.0f;
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (!t3) {
    fail(verdict, 2u);
    return;
  }
  // crates/folio-conformance/src/engine/kernels/code.rs
  f32 t4 = 0.0f;
  if (pos0 - x_p0_low0 < x_p0_size0) t4 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 3u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const f32 t5 = sqrt(t4);
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (pos0 - o_p1_low0 < o_p1_size0) o_p1[pos0 - o_p1_low0] = t5;
  else outside(verdict, 4u, pos0, 0, 0, o_p1_shape0, 0, 0);
}
// at_distance
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[12]; } Block;
ENTRY(256) folio_at_distance(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p1_base,
    GLOBAL i32 *RESTRICT y_p2_base,
    GLOBAL Record *verdict) {
  const u64 x_p1_low0 = block.words[0];
  const u64 x_p1_size0 = block.words[1];
  const u64 x_p1_shape0 = block.words[2];
  const u64 y_p2_low0 = block.words[3];
  const u64 y_p2_size0 = block.words[4];
  const u64 y_p2_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const i32 *x_p1 = x_p1_base + block.words[10];
  GLOBAL i32 *y_p2 = y_p2_base + block.words[11];
  const u64 by_p0 = block.words[9];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  const u64 t2 = pos0 + by_p0;
  // crates/folio-conformance/src/engine/kernels/code.rs
  i32 t3 = 0;
  if (t2 - x_p1_low0 < x_p1_size0) t3 = x_p1[t2 - x_p1_low0];
  else outside(verdict, 1u, t2, 0, 0, x_p1_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (pos0 - y_p2_low0 < y_p2_size0) y_p2[pos0 - y_p2_low0] = t3;
  else outside(verdict, 2u, pos0, 0, 0, y_p2_shape0, 0, 0);
}
// atan2_of
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[15]; } Block;
ENTRY(256) folio_atan2_of(
    const Block block,
    GLOBAL const f32 *RESTRICT a_p0_base,
    GLOBAL const f32 *RESTRICT b_p1_base,
    GLOBAL f32 *RESTRICT y_p2_base,
    GLOBAL Record *verdict) {
  const u64 a_p0_low0 = block.words[0];
  const u64 a_p0_size0 = block.words[1];
  const u64 a_p0_shape0 = block.words[2];
  const u64 b_p1_low0 = block.words[3];
  const u64 b_p1_size0 = block.words[4];
  const u64 b_p1_shape0 = block.words[5];
  const u64 y_p2_low0 = block.words[6];
  const u64 y_p2_size0 = block.words[7];
  const u64 y_p2_shape0 = block.words[8];
  const u64 first0 = block.words[9];
  const u64 offset0 = block.words[10];
  const u64 range0 = block.words[11];
  GLOBAL const f32 *a_p0 = a_p0_base + block.words[12];
  GLOBAL const f32 *b_p1 = b_p1_base + block.words[13];
  GLOBAL f32 *y_p2 = y_p2_base + block.words[14];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f32 t1 = 0.0f;
  if (pos0 - a_p0_low0 < a_p0_size0) t1 = a_p0[pos0 - a_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, a_p0_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f32 t2 = 0.0f;
  if (pos0 - b_p1_low0 < b_p1_size0) t2 = b_p1[pos0 - b_p1_low0];
  else outside(verdict, 2u, pos0, 0, 0, b_p1_shape0, 0, 0);
  const f32 t3 = atan2(t1, t2);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p2_low0 < y_p2_size0) y_p2[pos0 - y_p2_low0] = t3;
  else outside(verdict, 3u, pos0, 0, 0, y_p2_shape0, 0, 0);
}
// atan2_of
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[15]; } Block;
ENTRY(256) folio_atan2_of(
    const Block block,
    GLOBAL const f64 *RESTRICT a_p0_base,
    GLOBAL const f64 *RESTRICT b_p1_base,
    GLOBAL f64 *RESTRICT y_p2_base,
    GLOBAL Record *verdict) {
  const u64 a_p0_low0 = block.words[0];
  const u64 a_p0_size0 = block.words[1];
  const u64 a_p0_shape0 = block.words[2];
  const u64 b_p1_low0 = block.words[3];
  const u64 b_p1_size0 = block.words[4];
  const u64 b_p1_shape0 = block.words[5];
  const u64 y_p2_low0 = block.words[6];
  const u64 y_p2_size0 = block.words[7];
  const u64 y_p2_shape0 = block.words[8];
  const u64 first0 = block.words[9];
  const u64 offset0 = block.words[10];
  const u64 range0 = block.words[11];
  GLOBAL const f64 *a_p0 = a_p0_base + block.words[12];
  GLOBAL const f64 *b_p1 = b_p1_base + block.words[13];
  GLOBAL f64 *y_p2 = y_p2_base + block.words[14];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f64 t1 = 0.0;
  if (pos0 - a_p0_low0 < a_p0_size0) t1 = a_p0[pos0 - a_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, a_p0_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f64 t2 = 0.0;
  if (pos0 - b_p1_low0 < b_p1_size0) t2 = b_p1[pos0 - b_p1_low0];
  else outside(verdict, 2u, pos0, 0, 0, b_p1_shape0, 0, 0);
  const f64 t3 = atan2(t1, t2);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p2_low0 < y_p2_size0) y_p2[pos0 - y_p2_low0] = t3;
  else outside(verdict, 3u, pos0, 0, 0, y_p2_shape0, 0, 0);
}
// atan_of
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_atan_of(
    const Block block,
    GLOBAL const f32 *RESTRICT x_p0_base,
    GLOBAL f32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
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
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f32 t1 = 0.0f;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const f32 t2 = atan(t1);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t2;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// atan_of
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_atan_of(
    const Block block,
    GLOBAL const f64 *RESTRICT x_p0_base,
    GLOBAL f64 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const f64 *x_p0 = x_p0_base + block.words[9];
  GLOBAL f64 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f64 t1 = 0.0;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const f64 t2 = atan(t1);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t2;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// atomics
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
FN f32 atomic_add_f32_global(volatile GLOBAL f32 *at, f32 by) {
  volatile GLOBAL u32 *bits = (volatile GLOBAL u32 *)at;
  u32 old = *bits;
  for (;;) {
    const u32 seen = atomic_cmpxchg(bits, old, BITS_F32(F32_BITS(old) + by));
    if (seen == old) return F32_BITS(old);
    old = seen;
  }
}
FN i64 i64_of_f32(f32 x) { return x >= -9.223372036854776e18f ? x < 9.223372036854776e18f ? (i64)x : 9223372036854775807l : x < 0 ? (-9223372036854775807l - 1l) : 0; }
typedef struct { u64 words[23]; } Block;
ENTRY(256) folio_atomics(
    const Block block,
    GLOBAL const i64 *RESTRICT x_p0_base,
    GLOBAL i64 *bits_p1_base,
    GLOBAL f32 *f_p2_base,
    GLOBAL i64 *RESTRICT old_p3_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 bits_p1_low0 = block.words[3];
  const u64 bits_p1_size0 = block.words[4];
  const u64 bits_p1_shape0 = block.words[5];
  const u64 f_p2_low0 = block.words[6];
  const u64 f_p2_size0 = block.words[7];
  const u64 f_p2_pitch0 = block.words[8];
  const u64 f_p2_low1 = block.words[9];
  const u64 f_p2_size1 = block.words[10];
  const u64 f_p2_shape0 = block.words[11];
  const u64 f_p2_shape1 = block.words[12];
  const u64 old_p3_low0 = block.words[13];
  const u64 old_p3_size0 = block.words[14];
  const u64 old_p3_shape0 = block.words[15];
  const u64 first0 = block.words[16];
  const u64 offset0 = block.words[17];
  const u64 range0 = block.words[18];
  GLOBAL const i64 *x_p0 = x_p0_base + block.words[19];
  GLOBAL i64 *bits_p1 = bits_p1_base + block.words[20];
  GLOBAL f32 *f_p2 = f_p2_base + block.words[21];
  GLOBAL i64 *old_p3 = old_p3_base + block.words[22];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  i64 l7_v0 = 0l;
  // crates/folio-conformance/src/engine/kernels/group_code.rs
  i64 t1 = 0l;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/group_code.rs
  i64 t2 = 0l;
  if (pos0 - bits_p1_low0 < bits_p1_size0) t2 = *(volatile GLOBAL i64 *)&bits_p1[pos0 - bits_p1_low0];
  else outside(verdict, 2u, pos0, 0, 0, bits_p1_shape0, 0, 0);
  l7_v0 = t2;
  // crates/folio-conformance/src/engine/kernels/group_code.rs
  i64 t3 = 0l;
  if (pos0 - bits_p1_low0 < bits_p1_size0) t3 = atom_sub((volatile GLOBAL i64 *)&bits_p1[pos0 - bits_p1_low0], (i64)t1);
  else outside(verdict, 3u, pos0, 0, 0, bits_p1_shape0, 0, 0);
  const i64 t4 = l7_v0;
  const i64 t5 = (i64)((u64)t4 + (u64)t3);
  l7_v0 = t5;
  // crates/folio-conformance/src/engine/kernels/group_code.rs
  i64 t6 = 0l;
  if (pos0 - bits_p1_low0 < bits_p1_size0) t6 = atom_min((volatile GLOBAL i64 *)&bits_p1[pos0 - bits_p1_low0], (i64)t1);
  else outside(verdict, 4u, pos0, 0, 0, bits_p1_shape0, 0, 0);
  const i64 t7 = l7_v0;
  const i64 t8 = (i64)((u64)t7 ^ (u64)t6);
  l7_v0 = t8;
  const i64 t10 = (i64)((u64)t1 + (u64)1l);
  // crates/folio-conformance/src/engine/kernels/group_code.rs
  i64 t11 = 0l;
  if (pos0 - bits_p1_low0 < bits_p1_size0) t11 = atom_max((volatile GLOBAL i64 *)&bits_p1[pos0 - bits_p1_low0], (i64)t10);
  else outside(verdict, 5u, pos0, 0, 0, bits_p1_shape0, 0, 0);
  const i64 t12 = l7_v0;
  const i64 t13 = (i64)((u64)t12 + (u64)t11);
  l7_v0 = t13;
  const u32 t14 = (u32)pos0;
  const u64 t15 = (u64)t14;
  const i64 t17 = (i64)((u64)t1 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/group_code.rs
  i64 t18 = 0l;
  if (t15 - bits_p1_low0 < bits_p1_size0) t18 = atom_and((volatile GLOBAL i64 *)&bits_p1[t15 - bits_p1_low0], (i64)t17);
  else outside(verdict, 6u, t15, 0, 0, bits_p1_shape0, 0, 0);
  const i64 t19 = l7_v0;
  const i64 t20 = (i64)((u64)t19 ^ (u64)t18);
  l7_v0 = t20;
  // crates/folio-conformance/src/engine/kernels/group_code.rs
  i64 t22 = 0l;
  if (pos0 - bits_p1_low0 < bits_p1_size0) t22 = atom_or((volatile GLOBAL i64 *)&bits_p1[pos0 - bits_p1_low0], (i64)8l);
  else outside(verdict, 7u, pos0, 0, 0, bits_p1_shape0, 0, 0);
  const i64 t23 = l7_v0;
  const i64 t24 = (i64)((u64)t23 + (u64)t22);
  l7_v0 = t24;
  // crates/folio-conformance/src/engine/kernels/group_code.rs
  i64 t25 = 0l;
  if (pos0 - bits_p1_low0 < bits_p1_size0) t25 = atom_xor((volatile GLOBAL i64 *)&bits_p1[pos0 - bits_p1_low0], (i64)t1);
  else outside(verdict, 8u, pos0, 0, 0, bits_p1_shape0, 0, 0);
  const i64 t26 = l7_v0;
  const i64 t27 = (i64)((u64)t26 ^ (u64)t25);
  l7_v0 = t27;
  // crates/folio-conformance/src/engine/kernels/group_code.rs
  const i64 t28 = l7_v0;
  // crates/folio-conformance/src/engine/kernels/group_code.rs
  i64 t29 = 0l;
  if (pos0 - bits_p1_low0 < bits_p1_size0) t29 = atom_xchg((volatile GLOBAL i64 *)&bits_p1[pos0 - bits_p1_low0], (i64)t28);
  else outside(verdict, 9u, pos0, 0, 0, bits_p1_shape0, 0, 0);
  const i64 t30 = l7_v0;
  const i64 t31 = (i64)((u64)t30 + (u64)t29);
  l7_v0 = t31;
  // crates/folio-conformance/src/engine/kernels/group_code.rs
  const i64 t32 = l7_v0;
  // crates/folio-conformance/src/engine/kernels/group_code.rs
  i64 t34 = 0l;
  if (pos0 - bits_p1_low0 < bits_p1_size0) t34 = atom_cmpxchg((volatile GLOBAL i64 *)&bits_p1[pos0 - bits_p1_low0], (i64)t32, (i64)7l);
  else outside(verdict, 10u, pos0, 0, 0, bits_p1_shape0, 0, 0);
  const i64 t35 = l7_v0;
  const i64 t36 = (i64)((u64)t35 ^ (u64)t34);
  l7_v0 = t36;
  // crates/folio-conformance/src/engine/kernels/group_code.rs
  if (0ul - f_p2_low0 < f_p2_size0 && pos0 - f_p2_low1 < f_p2_size1) atomic_add_f32_global(&f_p2[(0ul - f_p2_low0) * f_p2_pitch0 + (pos0 - f_p2_low1)], 0.5f);
  else outside(verdict, 11u, 0ul, pos0, 0, f_p2_shape0, f_p2_shape1, 0);
  const f32 t41 = (f32)t1;
  // crates/folio-conformance/src/engine/kernels/group_code.rs
  f32 t42 = 0.0f;
  if (0ul - f_p2_low0 < f_p2_size0 && pos0 - f_p2_low1 < f_p2_size1) t42 = F32_BITS(atomic_xchg((volatile GLOBAL u32 *)&f_p2[(0ul - f_p2_low0) * f_p2_pitch0 + (pos0 - f_p2_low1)], BITS_F32(t41)));
  else outside(verdict, 12u, 0ul, pos0, 0, f_p2_shape0, f_p2_shape1, 0);
  // crates/folio-conformance/src/engine/kernels/group_code.rs
  if (1ul - f_p2_low0 < f_p2_size0 && pos0 - f_p2_low1 < f_p2_size1) atomic_add_f32_global(&f_p2[(1ul - f_p2_low0) * f_p2_pitch0 + (pos0 - f_p2_low1)], t42);
  else outside(verdict, 13u, 1ul, pos0, 0, f_p2_shape0, f_p2_shape1, 0);
  const i64 t45 = l7_v0;
  // crates/folio-conformance/src/engine/kernels/group_code.rs
  f32 t47 = 0.0f;
  if (1ul - f_p2_low0 < f_p2_size0 && pos0 - f_p2_low1 < f_p2_size1) t47 = *(volatile GLOBAL f32 *)&f_p2[(1ul - f_p2_low0) * f_p2_pitch0 + (pos0 - f_p2_low1)];
  else outside(verdict, 14u, 1ul, pos0, 0, f_p2_shape0, f_p2_shape1, 0);
  const i64 t48 = i64_of_f32(t47);
  const i64 t49 = (i64)((u64)t45 + (u64)t48);
  // crates/folio-conformance/src/engine/kernels/group_code.rs
  if (pos0 - old_p3_low0 < old_p3_size0) old_p3[pos0 - old_p3_low0] = t49;
  else outside(verdict, 15u, pos0, 0, 0, old_p3_shape0, 0, 0);
}
// backwards
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
FN u64 sat_add_u64(u64 a, u64 b) { return a + b < a ? ~(u64)0 : a + b; }
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_backwards(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL i32 *RESTRICT y_p1_base,
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
  GLOBAL const i32 *x_p0 = x_p0_base + block.words[9];
  GLOBAL i32 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  i32 l3_v0 = 0;
  l3_v0 = 0;
  const u64 t4 = x_p0_shape0 - 0ul;
  const bool t8 = 0ul < x_p0_shape0;
  const u64 t9 = t8 ? t4 : 0ul;
  for (u64 k10 = 0ul; k10 < t9; k10++) {
    const u64 t12 = x_p0_shape0 - 1ul;
    const u64 t13 = t12 - k10;
    const i32 t14 = l3_v0;
    const i32 t16 = (i32)((u32)t14 * (u32)3);
    // crates/folio-conformance/src/engine/kernels/language.rs
    i32 t17 = 0;
    if (t13 - x_p0_low0 < x_p0_size0) t17 = x_p0[t13 - x_p0_low0];
    else outside(verdict, 1u, t13, 0, 0, x_p0_shape0, 0, 0);
    const i32 t18 = (i32)((u32)t16 + (u32)t17);
    l3_v0 = t18;
  }
  const u64 t22 = x_p0_shape0 - 0ul;
  const u64 t25 = t22 - 1ul;
  const u64 t26 = (3ul > 1ul ? 3ul : 1ul);
  // crates/folio-conformance/src/engine/kernels/language.rs
  if (t26 == 0) fail(verdict, 2u);
  const u64 t27 = t26 == 0 ? 0 : (u64)(t25 / t26);
  const u64 t28 = sat_add_u64(t27, 1ul);
  const bool t29 = 0ul < x_p0_shape0;
  const bool t30 = 3ul != 0ul;
  const bool t31 = (t29 && t30);
  const u64 t32 = t31 ? t28 : 0ul;
  for (u64 k33 = 0ul; k33 < t32; k33++) {
    const u64 t34 = k33 * 3ul;
    const u64 t36 = x_p0_shape0 - 1ul;
    const u64 t37 = t36 - t34;
    // crates/folio-conformance/src/engine/kernels/language.rs
    i32 t38 = 0;
    if (t37 - x_p0_low0 < x_p0_size0) t38 = x_p0[t37 - x_p0_low0];
    else outside(verdict, 3u, t37, 0, 0, x_p0_shape0, 0, 0);
    const i32 t39 = l3_v0;
    const i32 t40 = (i32)((u32)t39 - (u32)t38);
    l3_v0 = t40;
  }
  // crates/folio-conformance/src/engine/kernels/language.rs
  const i32 t41 = l3_v0;
  // crates/folio-conformance/src/engine/kernels/language.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t41;
  else outside(verdict, 4u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// beyond_an_array
typedef struct { i32 at[3]; } array_t0;
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_beyond_an_array(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL i32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const i32 *x_p0 = x_p0_base + block.words[9];
  GLOBAL i32 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  array_t0 array_v0 = { { 0 } };
  i32 if_v1 = 0;
  array_t0 array_v2 = { { 0 } };
  array_t0 array_v3 = { { 0 } };
  // crates/folio-conformance/src/engine/kernels/code.rs
  i32 t1 = 0;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const array_t0 t4 = { { t1, 2, 3 } };
  // crates/folio-conformance/src/engine/kernels/code.rs
  i32 t5 = 0;
  if (pos0 - x_p0_low0 < x_p0_size0) t5 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 2u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const bool t7 = t5 == 3;
  if (t7) {
    array_v0 = t4;
    // crates/folio-conformance/src/engine/kernels/code.rs
    i32 t9 = 0;
    if (3ul < 3ul) t9 = array_v0.at[3ul];
    else outside(verdict, 3u, 3ul, 0, 0, 3ul, 0, 0);
    if_v1 = t9;
  } else {
    array_v2 = t4;
    // crates/folio-conformance/src/engine/kernels/code.rs
    const i32 t11 = array_v2.at[0ul];
    array_v3 = t4;
    // crates/folio-conformance/src/engine/kernels/code.rs
    const i32 t13 = array_v3.at[2ul];
    const i32 t14 = (i32)((u32)t11 + (u32)t13);
    if_v1 = t14;
  }
  // crates/folio-conformance/src/engine/kernels/code.rs
  const i32 t15 = if_v1;
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t15;
  else outside(verdict, 4u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// bitonic
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[6]; } Block;
ENTRY(256) folio_bitonic(
    const Block block,
    GLOBAL u32 *RESTRICT x_p0_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 first0 = block.words[3];
  const u64 offset0 = block.words[4];
  GLOBAL u32 *x_p0 = x_p0_base + block.words[5];
  const u64 size0 = get_local_size(0);
  const u64 local0 = get_local_id(0);
  const u64 group0 = first0 + get_group_id(0);
  const u64 pos0 = offset0 + group0 * size0 + local0;
  const u32 thread = (u32)(get_local_id(0));
  const u32 threads = (u32)(get_local_size(0));
  SHARED u32 keys_p1[64];
  SHARED u32 next_p2[64];
  for (u32 k = thread; k < 64u; k += threads) {
    const u32 zero = 0u;
    keys_p1[k] = zero;
  }
  for (u32 k = thread; k < 64u; k += threads) {
    const u32 zero = 0u;
    next_p2[k] = zero;
  }
  BARRIER;
  u64 l5_v0 = 0ul;
  u64 l6_v1 = 0ul;
  u32 if_v2 = 0u;
  {
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    u32 t1 = 0u;
    if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
    else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    if (local0 < 64ul) keys_p1[local0] = t1;
    else outside(verdict, 2u, local0, 0, 0, 64ul, 0, 0);
  }
  BARRIER;
  l5_v0 = 2ul;
  for (u64 turn0 = 0; turn0 >> 63 == 0; turn0++) {
    const u64 t5 = l5_v0;
    const bool t6 = t5 <= size0;
    if (!t6) {
      break;
    }
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    const u64 t7 = l5_v0;
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    const u64 t9 = (u64)(t7 / 2ul);
    l6_v1 = t9;
    for (u64 turn1 = 0; turn1 >> 63 == 0; turn1++) {
      const u64 t10 = l6_v1;
      const bool t12 = t10 > 0ul;
      if (!t12) {
        break;
      }
      {
        // crates/folio-conformance/src/engine/kernels/group_code.rs
        u32 t14 = 0u;
        if (local0 < 64ul) t14 = keys_p1[local0];
        else outside(verdict, 3u, local0, 0, 0, 64ul, 0, 0);
        const u64 t15 = l6_v1;
        const u64 t16 = local0 ^ t15;
        // crates/folio-conformance/src/engine/kernels/group_code.rs
        u32 t17 = 0u;
        if (t16 < 64ul) t17 = keys_p1[t16];
        else outside(verdict, 4u, t16, 0, 0, 64ul, 0, 0);
        const u64 t18 = l5_v0;
        const u64 t19 = local0 & t18;
        const bool t21 = t19 == 0ul;
        // crates/folio-conformance/src/engine/kernels/group_code.rs
        const u64 t22 = l6_v1;
        const u64 t23 = local0 & t22;
        const bool t25 = t23 == 0ul;
        const bool t26 = t21 == t25;
        if (t26) {
          const u32 t27 = (t14 < t17 ? t14 : t17);
          if_v2 = t27;
        } else {
          const u32 t28 = (t14 > t17 ? t14 : t17);
          if_v2 = t28;
        }
        // crates/folio-conformance/src/engine/kernels/group_code.rs
        const u32 t29 = if_v2;
        // crates/folio-conformance/src/engine/kernels/group_code.rs
        if (local0 < 64ul) next_p2[local0] = t29;
        else outside(verdict, 5u, local0, 0, 0, 64ul, 0, 0);
      }
      BARRIER;
      {
        // crates/folio-conformance/src/engine/kernels/group_code.rs
        u32 t31 = 0u;
        if (local0 < 64ul) t31 = next_p2[local0];
        else outside(verdict, 6u, local0, 0, 0, 64ul, 0, 0);
        // crates/folio-conformance/src/engine/kernels/group_code.rs
        if (local0 < 64ul) keys_p1[local0] = t31;
        else outside(verdict, 7u, local0, 0, 0, 64ul, 0, 0);
      }
      BARRIER;
      const u64 t33 = l6_v1;
      // crates/folio-conformance/src/engine/kernels/group_code.rs
      const u64 t34 = (u64)(t33 / 2ul);
      l6_v1 = t34;
    }
    const u64 t36 = l5_v0;
    const u64 t37 = t36 * 2ul;
    l5_v0 = t37;
  }
  {
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    u32 t39 = 0u;
    if (local0 < 64ul) t39 = keys_p1[local0];
    else outside(verdict, 8u, local0, 0, 0, 64ul, 0, 0);
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    if (pos0 - x_p0_low0 < x_p0_size0) x_p0[pos0 - x_p0_low0] = t39;
    else outside(verdict, 9u, pos0, 0, 0, x_p0_shape0, 0, 0);
  }
  BARRIER;
}
// black_scholes
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
#ifdef POCL_DEVICE_ADDRESS_BITS
#define OR_NAN(of, nan, x) ((of) != (of) ? (nan) : (x))
#else
#define OR_NAN(of, nan, x) x
#endif
typedef struct { u64 words[20]; } Block;
ENTRY(256) folio_black_scholes(
    const Block block,
    GLOBAL const f32 *RESTRICT spot_p1_base,
    GLOBAL const f32 *RESTRICT strike_p2_base,
    GLOBAL f32 *RESTRICT call_p3_base,
    GLOBAL f32 *RESTRICT put_p4_base,
    GLOBAL Record *verdict) {
  const u64 spot_p1_low0 = block.words[0];
  const u64 spot_p1_size0 = block.words[1];
  const u64 spot_p1_shape0 = block.words[2];
  const u64 strike_p2_low0 = block.words[3];
  const u64 strike_p2_size0 = block.words[4];
  const u64 strike_p2_shape0 = block.words[5];
  const u64 call_p3_low0 = block.words[6];
  const u64 call_p3_size0 = block.words[7];
  const u64 call_p3_shape0 = block.words[8];
  const u64 put_p4_low0 = block.words[9];
  const u64 put_p4_size0 = block.words[10];
  const u64 put_p4_shape0 = block.words[11];
  const u64 first0 = block.words[12];
  const u64 offset0 = block.words[13];
  const u64 range0 = block.words[14];
  GLOBAL const f32 *spot_p1 = spot_p1_base + block.words[16];
  GLOBAL const f32 *strike_p2 = strike_p2_base + block.words[17];
  GLOBAL f32 *call_p3 = call_p3_base + block.words[18];
  GLOBAL f32 *put_p4 = put_p4_base + block.words[19];
  const f32 rate_p0 = F32_BITS((u32)block.words[15]);
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  f32 normal_v0 = 0.0f;
  f32 if_v1 = 0.0f;
  f32 normal_v2 = 0.0f;
  f32 if_v3 = 0.0f;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f32 t2 = 0.0f;
  if (pos0 - spot_p1_low0 < spot_p1_size0) t2 = spot_p1[pos0 - spot_p1_low0];
  else outside(verdict, 1u, pos0, 0, 0, spot_p1_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f32 t3 = 0.0f;
  if (pos0 - strike_p2_low0 < strike_p2_size0) t3 = strike_p2[pos0 - strike_p2_low0];
  else outside(verdict, 2u, pos0, 0, 0, strike_p2_shape0, 0, 0);
  const f32 t5 = (f32)0.3;
  const f32 t6 = t2 / t3;
  const f32 t7 = log(t6);
  const f32 t8 = t7 + rate_p0;
  const f32 t10 = (f32)0.5;
  const f32 t11 = t10 * t5;
  const f32 t12 = t11 * t5;
  const f32 t13 = t8 + t12;
  const f32 t14 = t13 / t5;
  const f32 t15 = t14 - t5;
  const f32 t16 = -rate_p0;
  const f32 t17 = OR_NAN(t16, t16, exp(t16));
  const f32 t18 = t3 * t17;
  {
    const f32 t22 = (f32)0.2316419;
    const f32 t23 = fabs(t14);
    const f32 t24 = t22 * t23;
    const f32 t25 = 1.0f + t24;
    const f32 t26 = 1.0f / t25;
    const f32 t28 = (f32)0.31938153;
    const f32 t30 = (f32)(-0.356563782);
    const f32 t32 = (f32)1.781477937;
    const f32 t34 = (f32)(-1.821255978);
    const f32 t36 = (f32)1.330274429;
    const f32 t37 = t26 * t36;
    const f32 t38 = t34 + t37;
    const f32 t39 = t26 * t38;
    const f32 t40 = t32 + t39;
    const f32 t41 = t26 * t40;
    const f32 t42 = t30 + t41;
    const f32 t43 = t26 * t42;
    const f32 t44 = t28 + t43;
    const f32 t46 = (f32)0.3989422804014327;
    const f32 t48 = (f32)(-0.5);
    const f32 t49 = t48 * t14;
    const f32 t50 = t49 * t14;
    const f32 t51 = OR_NAN(t50, t50, exp(t50));
    const f32 t52 = t46 * t51;
    const f32 t53 = t52 * t26;
    const f32 t54 = t53 * t44;
    const bool t56 = t14 < 0.0f;
    if (t56) {
      if_v1 = t54;
    } else {
      const f32 t58 = 1.0f - t54;
      if_v1 = t58;
    }
    // crates/folio-conformance/src/engine/kernels/computations.rs
    const f32 t59 = if_v1;
    normal_v0 = t59;
  }
  const f32 t60 = normal_v0;
  const f32 t61 = t2 * t60;
  {
    const f32 t65 = (f32)0.2316419;
    const f32 t66 = fabs(t15);
    const f32 t67 = t65 * t66;
    const f32 t68 = 1.0f + t67;
    const f32 t69 = 1.0f / t68;
    const f32 t71 = (f32)0.31938153;
    const f32 t73 = (f32)(-0.356563782);
    const f32 t75 = (f32)1.781477937;
    const f32 t77 = (f32)(-1.821255978);
    const f32 t79 = (f32)1.330274429;
    const f32 t80 = t69 * t79;
    const f32 t81 = t77 + t80;
    const f32 t82 = t69 * t81;
    const f32 t83 = t75 + t82;
    const f32 t84 = t69 * t83;
    const f32 t85 = t73 + t84;
    const f32 t86 = t69 * t85;
    const f32 t87 = t71 + t86;
    const f32 t89 = (f32)0.3989422804014327;
    const f32 t91 = (f32)(-0.5);
    const f32 t92 = t91 * t15;
    const f32 t93 = t92 * t15;
    const f32 t94 = OR_NAN(t93, t93, exp(t93));
    const f32 t95 = t89 * t94;
    const f32 t96 = t95 * t69;
    const f32 t97 = t96 * t87;
    const bool t99 = t15 < 0.0f;
    if (t99) {
      if_v3 = t97;
    } else {
      const f32 t101 = 1.0f - t97;
      if_v3 = t101;
    }
    const f32 t102 = if_v3;
    normal_v2 = t102;
  }
  const f32 t103 = normal_v2;
  const f32 t104 = t18 * t103;
  const f32 t105 = t61 - t104;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - call_p3_low0 < call_p3_size0) call_p3[pos0 - call_p3_low0] = t105;
  else outside(verdict, 3u, pos0, 0, 0, call_p3_shape0, 0, 0);
  const f32 t106 = t105 - t2;
  const f32 t107 = t106 + t18;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - put_p4_low0 < put_p4_size0) put_p4[pos0 - put_p4_low0] = t107;
  else outside(verdict, 4u, pos0, 0, 0, put_p4_shape0, 0, 0);
}
// black_scholes
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
#ifdef POCL_DEVICE_ADDRESS_BITS
#define OR_NAN(of, nan, x) ((of) != (of) ? (nan) : (x))
#else
#define OR_NAN(of, nan, x) x
#endif
typedef struct { u64 words[20]; } Block;
ENTRY(256) folio_black_scholes(
    const Block block,
    GLOBAL const f64 *RESTRICT spot_p1_base,
    GLOBAL const f64 *RESTRICT strike_p2_base,
    GLOBAL f64 *RESTRICT call_p3_base,
    GLOBAL f64 *RESTRICT put_p4_base,
    GLOBAL Record *verdict) {
  const u64 spot_p1_low0 = block.words[0];
  const u64 spot_p1_size0 = block.words[1];
  const u64 spot_p1_shape0 = block.words[2];
  const u64 strike_p2_low0 = block.words[3];
  const u64 strike_p2_size0 = block.words[4];
  const u64 strike_p2_shape0 = block.words[5];
  const u64 call_p3_low0 = block.words[6];
  const u64 call_p3_size0 = block.words[7];
  const u64 call_p3_shape0 = block.words[8];
  const u64 put_p4_low0 = block.words[9];
  const u64 put_p4_size0 = block.words[10];
  const u64 put_p4_shape0 = block.words[11];
  const u64 first0 = block.words[12];
  const u64 offset0 = block.words[13];
  const u64 range0 = block.words[14];
  GLOBAL const f64 *spot_p1 = spot_p1_base + block.words[16];
  GLOBAL const f64 *strike_p2 = strike_p2_base + block.words[17];
  GLOBAL f64 *call_p3 = call_p3_base + block.words[18];
  GLOBAL f64 *put_p4 = put_p4_base + block.words[19];
  const f64 rate_p0 = F64_BITS((u64)block.words[15]);
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  f64 normal_v0 = 0.0;
  f64 if_v1 = 0.0;
  f64 normal_v2 = 0.0;
  f64 if_v3 = 0.0;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f64 t2 = 0.0;
  if (pos0 - spot_p1_low0 < spot_p1_size0) t2 = spot_p1[pos0 - spot_p1_low0];
  else outside(verdict, 1u, pos0, 0, 0, spot_p1_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f64 t3 = 0.0;
  if (pos0 - strike_p2_low0 < strike_p2_size0) t3 = strike_p2[pos0 - strike_p2_low0];
  else outside(verdict, 2u, pos0, 0, 0, strike_p2_shape0, 0, 0);
  const f64 t5 = t2 / t3;
  const f64 t6 = log(t5);
  const f64 t7 = t6 + rate_p0;
  const f64 t9 = 0.5 * 0.3;
  const f64 t10 = t9 * 0.3;
  const f64 t11 = t7 + t10;
  const f64 t12 = t11 / 0.3;
  const f64 t13 = t12 - 0.3;
  const f64 t14 = -rate_p0;
  const f64 t15 = OR_NAN(t14, t14, exp(t14));
  const f64 t16 = t3 * t15;
  {
    const f64 t20 = fabs(t12);
    const f64 t21 = 0.2316419 * t20;
    const f64 t22 = 1.0 + t21;
    const f64 t23 = 1.0 / t22;
    const f64 t29 = t23 * 1.330274429;
    const f64 t30 = (-1.821255978) + t29;
    const f64 t31 = t23 * t30;
    const f64 t32 = 1.781477937 + t31;
    const f64 t33 = t23 * t32;
    const f64 t34 = (-0.356563782) + t33;
    const f64 t35 = t23 * t34;
    const f64 t36 = 0.31938153 + t35;
    const f64 t39 = (-0.5) * t12;
    const f64 t40 = t39 * t12;
    const f64 t41 = OR_NAN(t40, t40, exp(t40));
    const f64 t42 = 0.3989422804014327 * t41;
    const f64 t43 = t42 * t23;
    const f64 t44 = t43 * t36;
    const bool t46 = t12 < 0.0;
    if (t46) {
      if_v1 = t44;
    } else {
      const f64 t48 = 1.0 - t44;
      if_v1 = t48;
    }
    // crates/folio-conformance/src/engine/kernels/computations.rs
    const f64 t49 = if_v1;
    normal_v0 = t49;
  }
  const f64 t50 = normal_v0;
  const f64 t51 = t2 * t50;
  {
    const f64 t55 = fabs(t13);
    const f64 t56 = 0.2316419 * t55;
    const f64 t57 = 1.0 + t56;
    const f64 t58 = 1.0 / t57;
    const f64 t64 = t58 * 1.330274429;
    const f64 t65 = (-1.821255978) + t64;
    const f64 t66 = t58 * t65;
    const f64 t67 = 1.781477937 + t66;
    const f64 t68 = t58 * t67;
    const f64 t69 = (-0.356563782) + t68;
    const f64 t70 = t58 * t69;
    const f64 t71 = 0.31938153 + t70;
    const f64 t74 = (-0.5) * t13;
    const f64 t75 = t74 * t13;
    const f64 t76 = OR_NAN(t75, t75, exp(t75));
    const f64 t77 = 0.3989422804014327 * t76;
    const f64 t78 = t77 * t58;
    const f64 t79 = t78 * t71;
    const bool t81 = t13 < 0.0;
    if (t81) {
      if_v3 = t79;
    } else {
      const f64 t83 = 1.0 - t79;
      if_v3 = t83;
    }
    const f64 t84 = if_v3;
    normal_v2 = t84;
  }
  const f64 t85 = normal_v2;
  const f64 t86 = t16 * t85;
  const f64 t87 = t51 - t86;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - call_p3_low0 < call_p3_size0) call_p3[pos0 - call_p3_low0] = t87;
  else outside(verdict, 3u, pos0, 0, 0, call_p3_shape0, 0, 0);
  const f64 t88 = t87 - t2;
  const f64 t89 = t88 + t16;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - put_p4_low0 < put_p4_size0) put_p4[pos0 - put_p4_low0] = t89;
  else outside(verdict, 4u, pos0, 0, 0, put_p4_shape0, 0, 0);
}
// blend
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
FN f32 f32_of_bf16(bf16 x) { return F32_BITS((u32)x << 16); }
FN bf16 bf16_of_f32(f32 x) {
  const u32 bits = BITS_F32(x);
  return x != x ? (bf16)0x7fc0 : (bf16)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
FN f32 odd_of_f64(f64 x) {
  const f32 y = (f32)x;
  if (x != x || (f64)y == x) return y;
  const u32 bits = BITS_F32(y);
  const bool away = (f64)F32_BITS(bits & 0x7fffffffu) > (x < 0 ? -x : x);
  return F32_BITS((away ? bits - 1u : bits) | 1u);
}
typedef struct { u64 words[16]; } Block;
ENTRY(256) folio_blend(
    const Block block,
    GLOBAL const bf16 *RESTRICT a_p1_base,
    GLOBAL const bf16 *RESTRICT b_p2_base,
    GLOBAL bf16 *RESTRICT o_p3_base,
    GLOBAL Record *verdict) {
  const u64 a_p1_low0 = block.words[0];
  const u64 a_p1_size0 = block.words[1];
  const u64 a_p1_shape0 = block.words[2];
  const u64 b_p2_low0 = block.words[3];
  const u64 b_p2_size0 = block.words[4];
  const u64 b_p2_shape0 = block.words[5];
  const u64 o_p3_low0 = block.words[6];
  const u64 o_p3_size0 = block.words[7];
  const u64 o_p3_shape0 = block.words[8];
  const u64 first0 = block.words[9];
  const u64 offset0 = block.words[10];
  const u64 range0 = block.words[11];
  GLOBAL const bf16 *a_p1 = a_p1_base + block.words[13];
  GLOBAL const bf16 *b_p2 = b_p2_base + block.words[14];
  GLOBAL bf16 *o_p3 = o_p3_base + block.words[15];
  const bf16 t_p0 = (bf16)block.words[12];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  bf16 lerp_v0 = 0x0;
  // crates/folio-conformance/src/engine/kernels/code.rs
  bf16 t2 = 0x0;
  if (pos0 - a_p1_low0 < a_p1_size0) t2 = a_p1[pos0 - a_p1_low0];
  else outside(verdict, 1u, pos0, 0, 0, a_p1_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/code.rs
  bf16 t3 = 0x0;
  if (pos0 - b_p2_low0 < b_p2_size0) t3 = b_p2[pos0 - b_p2_low0];
  else outside(verdict, 2u, pos0, 0, 0, b_p2_shape0, 0, 0);
  {
    const bf16 t4 = bf16_of_f32(f32_of_bf16(t3) - f32_of_bf16(t2));
    const bf16 t5 = bf16_of_f32(f32_of_bf16(t4) * f32_of_bf16(t_p0));
    const bf16 t6 = bf16_of_f32(f32_of_bf16(t2) + f32_of_bf16(t5));
    lerp_v0 = t6;
  }
  // crates/folio-conformance/src/engine/kernels/code.rs
  const bf16 t7 = lerp_v0;
  const bf16 t9 = bf16_of_f32(odd_of_f64(1.0));
  const bf16 t10 = bf16_of_f32(f32_of_bf16(t7) + f32_of_bf16(t9));
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (pos0 - o_p3_low0 < o_p3_size0) o_p3[pos0 - o_p3_low0] = t10;
  else outside(verdict, 3u, pos0, 0, 0, o_p3_shape0, 0, 0);
}
// blend
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
FN f32 f32_of_f16(f16 x) { return vload_half(0, (const half *)&x); }
FN f16 f16_of_f32(f32 x) { f16 y; vstore_half_rte(x, 0, (half *)&y); return y; }
FN f32 odd_of_f64(f64 x) {
  const f32 y = (f32)x;
  if (x != x || (f64)y == x) return y;
  const u32 bits = BITS_F32(y);
  const bool away = (f64)F32_BITS(bits & 0x7fffffffu) > (x < 0 ? -x : x);
  return F32_BITS((away ? bits - 1u : bits) | 1u);
}
typedef struct { u64 words[16]; } Block;
ENTRY(256) folio_blend(
    const Block block,
    GLOBAL const f16 *RESTRICT a_p1_base,
    GLOBAL const f16 *RESTRICT b_p2_base,
    GLOBAL f16 *RESTRICT o_p3_base,
    GLOBAL Record *verdict) {
  const u64 a_p1_low0 = block.words[0];
  const u64 a_p1_size0 = block.words[1];
  const u64 a_p1_shape0 = block.words[2];
  const u64 b_p2_low0 = block.words[3];
  const u64 b_p2_size0 = block.words[4];
  const u64 b_p2_shape0 = block.words[5];
  const u64 o_p3_low0 = block.words[6];
  const u64 o_p3_size0 = block.words[7];
  const u64 o_p3_shape0 = block.words[8];
  const u64 first0 = block.words[9];
  const u64 offset0 = block.words[10];
  const u64 range0 = block.words[11];
  GLOBAL const f16 *a_p1 = a_p1_base + block.words[13];
  GLOBAL const f16 *b_p2 = b_p2_base + block.words[14];
  GLOBAL f16 *o_p3 = o_p3_base + block.words[15];
  const f16 t_p0 = (f16)block.words[12];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  f16 lerp_v0 = 0x0;
  // crates/folio-conformance/src/engine/kernels/code.rs
  f16 t2 = 0x0;
  if (pos0 - a_p1_low0 < a_p1_size0) t2 = a_p1[pos0 - a_p1_low0];
  else outside(verdict, 1u, pos0, 0, 0, a_p1_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/code.rs
  f16 t3 = 0x0;
  if (pos0 - b_p2_low0 < b_p2_size0) t3 = b_p2[pos0 - b_p2_low0];
  else outside(verdict, 2u, pos0, 0, 0, b_p2_shape0, 0, 0);
  {
    const f16 t4 = f16_of_f32(f32_of_f16(t3) - f32_of_f16(t2));
    const f16 t5 = f16_of_f32(f32_of_f16(t4) * f32_of_f16(t_p0));
    const f16 t6 = f16_of_f32(f32_of_f16(t2) + f32_of_f16(t5));
    lerp_v0 = t6;
  }
  // crates/folio-conformance/src/engine/kernels/code.rs
  const f16 t7 = lerp_v0;
  const f16 t9 = f16_of_f32(odd_of_f64(1.0));
  const f16 t10 = f16_of_f32(f32_of_f16(t7) + f32_of_f16(t9));
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (pos0 - o_p3_low0 < o_p3_size0) o_p3[pos0 - o_p3_low0] = t10;
  else outside(verdict, 3u, pos0, 0, 0, o_p3_shape0, 0, 0);
}
// blend
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
FN i32 i32_of_f64(f64 x) { return x >= -2147483648.0 ? x < 2147483648.0 ? (i32)x : 2147483647 : x < 0 ? (-2147483647 - 1) : 0; }
typedef struct { u64 words[16]; } Block;
ENTRY(256) folio_blend(
    const Block block,
    GLOBAL const i32 *RESTRICT a_p1_base,
    GLOBAL const i32 *RESTRICT b_p2_base,
    GLOBAL i32 *RESTRICT o_p3_base,
    GLOBAL Record *verdict) {
  const u64 a_p1_low0 = block.words[0];
  const u64 a_p1_size0 = block.words[1];
  const u64 a_p1_shape0 = block.words[2];
  const u64 b_p2_low0 = block.words[3];
  const u64 b_p2_size0 = block.words[4];
  const u64 b_p2_shape0 = block.words[5];
  const u64 o_p3_low0 = block.words[6];
  const u64 o_p3_size0 = block.words[7];
  const u64 o_p3_shape0 = block.words[8];
  const u64 first0 = block.words[9];
  const u64 offset0 = block.words[10];
  const u64 range0 = block.words[11];
  GLOBAL const i32 *a_p1 = a_p1_base + block.words[13];
  GLOBAL const i32 *b_p2 = b_p2_base + block.words[14];
  GLOBAL i32 *o_p3 = o_p3_base + block.words[15];
  const i32 t_p0 = (i32)block.words[12];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  i32 lerp_v0 = 0;
  // crates/folio-conformance/src/engine/kernels/code.rs
  i32 t2 = 0;
  if (pos0 - a_p1_low0 < a_p1_size0) t2 = a_p1[pos0 - a_p1_low0];
  else outside(verdict, 1u, pos0, 0, 0, a_p1_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/code.rs
  i32 t3 = 0;
  if (pos0 - b_p2_low0 < b_p2_size0) t3 = b_p2[pos0 - b_p2_low0];
  else outside(verdict, 2u, pos0, 0, 0, b_p2_shape0, 0, 0);
  {
    const i32 t4 = (i32)((u32)t3 - (u32)t2);
    const i32 t5 = (i32)((u32)t4 * (u32)t_p0);
    const i32 t6 = (i32)((u32)t2 + (u32)t5);
    lerp_v0 = t6;
  }
  // crates/folio-conformance/src/engine/kernels/code.rs
  const i32 t7 = lerp_v0;
  const i32 t9 = i32_of_f64(1.0);
  const i32 t10 = (i32)((u32)t7 + (u32)t9);
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (pos0 - o_p3_low0 < o_p3_size0) o_p3[pos0 - o_p3_low0] = t10;
  else outside(verdict, 3u, pos0, 0, 0, o_p3_shape0, 0, 0);
}
// blend
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
FN i64 i64_of_f64(f64 x) { return x >= -9.223372036854776e18 ? x < 9.223372036854776e18 ? (i64)x : 9223372036854775807l : x < 0 ? (-9223372036854775807l - 1l) : 0; }
typedef struct { u64 words[16]; } Block;
ENTRY(256) folio_blend(
    const Block block,
    GLOBAL const i64 *RESTRICT a_p1_base,
    GLOBAL const i64 *RESTRICT b_p2_base,
    GLOBAL i64 *RESTRICT o_p3_base,
    GLOBAL Record *verdict) {
  const u64 a_p1_low0 = block.words[0];
  const u64 a_p1_size0 = block.words[1];
  const u64 a_p1_shape0 = block.words[2];
  const u64 b_p2_low0 = block.words[3];
  const u64 b_p2_size0 = block.words[4];
  const u64 b_p2_shape0 = block.words[5];
  const u64 o_p3_low0 = block.words[6];
  const u64 o_p3_size0 = block.words[7];
  const u64 o_p3_shape0 = block.words[8];
  const u64 first0 = block.words[9];
  const u64 offset0 = block.words[10];
  const u64 range0 = block.words[11];
  GLOBAL const i64 *a_p1 = a_p1_base + block.words[13];
  GLOBAL const i64 *b_p2 = b_p2_base + block.words[14];
  GLOBAL i64 *o_p3 = o_p3_base + block.words[15];
  const i64 t_p0 = (i64)block.words[12];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  i64 lerp_v0 = 0l;
  // crates/folio-conformance/src/engine/kernels/code.rs
  i64 t2 = 0l;
  if (pos0 - a_p1_low0 < a_p1_size0) t2 = a_p1[pos0 - a_p1_low0];
  else outside(verdict, 1u, pos0, 0, 0, a_p1_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/code.rs
  i64 t3 = 0l;
  if (pos0 - b_p2_low0 < b_p2_size0) t3 = b_p2[pos0 - b_p2_low0];
  else outside(verdict, 2u, pos0, 0, 0, b_p2_shape0, 0, 0);
  {
    const i64 t4 = (i64)((u64)t3 - (u64)t2);
    const i64 t5 = (i64)((u64)t4 * (u64)t_p0);
    const i64 t6 = (i64)((u64)t2 + (u64)t5);
    lerp_v0 = t6;
  }
  // crates/folio-conformance/src/engine/kernels/code.rs
  const i64 t7 = lerp_v0;
  const i64 t9 = i64_of_f64(1.0);
  const i64 t10 = (i64)((u64)t7 + (u64)t9);
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (pos0 - o_p3_low0 < o_p3_size0) o_p3[pos0 - o_p3_low0] = t10;
  else outside(verdict, 3u, pos0, 0, 0, o_p3_shape0, 0, 0);
}
// blend
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
FN u32 u32_of_f64(f64 x) { return x > 0 ? x < 4294967296.0 ? (u32)x : 4294967295u : 0; }
typedef struct { u64 words[16]; } Block;
ENTRY(256) folio_blend(
    const Block block,
    GLOBAL const u32 *RESTRICT a_p1_base,
    GLOBAL const u32 *RESTRICT b_p2_base,
    GLOBAL u32 *RESTRICT o_p3_base,
    GLOBAL Record *verdict) {
  const u64 a_p1_low0 = block.words[0];
  const u64 a_p1_size0 = block.words[1];
  const u64 a_p1_shape0 = block.words[2];
  const u64 b_p2_low0 = block.words[3];
  const u64 b_p2_size0 = block.words[4];
  const u64 b_p2_shape0 = block.words[5];
  const u64 o_p3_low0 = block.words[6];
  const u64 o_p3_size0 = block.words[7];
  const u64 o_p3_shape0 = block.words[8];
  const u64 first0 = block.words[9];
  const u64 offset0 = block.words[10];
  const u64 range0 = block.words[11];
  GLOBAL const u32 *a_p1 = a_p1_base + block.words[13];
  GLOBAL const u32 *b_p2 = b_p2_base + block.words[14];
  GLOBAL u32 *o_p3 = o_p3_base + block.words[15];
  const u32 t_p0 = (u32)block.words[12];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  u32 lerp_v0 = 0u;
  // crates/folio-conformance/src/engine/kernels/code.rs
  u32 t2 = 0u;
  if (pos0 - a_p1_low0 < a_p1_size0) t2 = a_p1[pos0 - a_p1_low0];
  else outside(verdict, 1u, pos0, 0, 0, a_p1_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/code.rs
  u32 t3 = 0u;
  if (pos0 - b_p2_low0 < b_p2_size0) t3 = b_p2[pos0 - b_p2_low0];
  else outside(verdict, 2u, pos0, 0, 0, b_p2_shape0, 0, 0);
  {
    const u32 t4 = t3 - t2;
    const u32 t5 = t4 * t_p0;
    const u32 t6 = t2 + t5;
    lerp_v0 = t6;
  }
  // crates/folio-conformance/src/engine/kernels/code.rs
  const u32 t7 = lerp_v0;
  const u32 t9 = u32_of_f64(1.0);
  const u32 t10 = t7 + t9;
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (pos0 - o_p3_low0 < o_p3_size0) o_p3[pos0 - o_p3_low0] = t10;
  else outside(verdict, 3u, pos0, 0, 0, o_p3_shape0, 0, 0);
}
// blend
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
FN u64 u64_of_f64(f64 x) { return x > 0 ? x < 1.8446744073709552e19 ? (u64)x : 18446744073709551615ul : 0; }
typedef struct { u64 words[16]; } Block;
ENTRY(256) folio_blend(
    const Block block,
    GLOBAL const u64 *RESTRICT a_p1_base,
    GLOBAL const u64 *RESTRICT b_p2_base,
    GLOBAL u64 *RESTRICT o_p3_base,
    GLOBAL Record *verdict) {
  const u64 a_p1_low0 = block.words[0];
  const u64 a_p1_size0 = block.words[1];
  const u64 a_p1_shape0 = block.words[2];
  const u64 b_p2_low0 = block.words[3];
  const u64 b_p2_size0 = block.words[4];
  const u64 b_p2_shape0 = block.words[5];
  const u64 o_p3_low0 = block.words[6];
  const u64 o_p3_size0 = block.words[7];
  const u64 o_p3_shape0 = block.words[8];
  const u64 first0 = block.words[9];
  const u64 offset0 = block.words[10];
  const u64 range0 = block.words[11];
  GLOBAL const u64 *a_p1 = a_p1_base + block.words[13];
  GLOBAL const u64 *b_p2 = b_p2_base + block.words[14];
  GLOBAL u64 *o_p3 = o_p3_base + block.words[15];
  const u64 t_p0 = block.words[12];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  u64 lerp_v0 = 0ul;
  // crates/folio-conformance/src/engine/kernels/code.rs
  u64 t2 = 0ul;
  if (pos0 - a_p1_low0 < a_p1_size0) t2 = a_p1[pos0 - a_p1_low0];
  else outside(verdict, 1u, pos0, 0, 0, a_p1_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/code.rs
  u64 t3 = 0ul;
  if (pos0 - b_p2_low0 < b_p2_size0) t3 = b_p2[pos0 - b_p2_low0];
  else outside(verdict, 2u, pos0, 0, 0, b_p2_shape0, 0, 0);
  {
    const u64 t4 = t3 - t2;
    const u64 t5 = t4 * t_p0;
    const u64 t6 = t2 + t5;
    lerp_v0 = t6;
  }
  // crates/folio-conformance/src/engine/kernels/code.rs
  const u64 t7 = lerp_v0;
  const u64 t9 = u64_of_f64(1.0);
  const u64 t10 = t7 + t9;
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (pos0 - o_p3_low0 < o_p3_size0) o_p3[pos0 - o_p3_low0] = t10;
  else outside(verdict, 3u, pos0, 0, 0, o_p3_shape0, 0, 0);
}
// blend
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[16]; } Block;
ENTRY(256) folio_blend(
    const Block block,
    GLOBAL const f32 *RESTRICT a_p1_base,
    GLOBAL const f32 *RESTRICT b_p2_base,
    GLOBAL f32 *RESTRICT o_p3_base,
    GLOBAL Record *verdict) {
  const u64 a_p1_low0 = block.words[0];
  const u64 a_p1_size0 = block.words[1];
  const u64 a_p1_shape0 = block.words[2];
  const u64 b_p2_low0 = block.words[3];
  const u64 b_p2_size0 = block.words[4];
  const u64 b_p2_shape0 = block.words[5];
  const u64 o_p3_low0 = block.words[6];
  const u64 o_p3_size0 = block.words[7];
  const u64 o_p3_shape0 = block.words[8];
  const u64 first0 = block.words[9];
  const u64 offset0 = block.words[10];
  const u64 range0 = block.words[11];
  GLOBAL const f32 *a_p1 = a_p1_base + block.words[13];
  GLOBAL const f32 *b_p2 = b_p2_base + block.words[14];
  GLOBAL f32 *o_p3 = o_p3_base + block.words[15];
  const f32 t_p0 = F32_BITS((u32)block.words[12]);
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  f32 lerp_v0 = 0.0f;
  // crates/folio-conformance/src/engine/kernels/code.rs
  f32 t2 = 0.0f;
  if (pos0 - a_p1_low0 < a_p1_size0) t2 = a_p1[pos0 - a_p1_low0];
  else outside(verdict, 1u, pos0, 0, 0, a_p1_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/code.rs
  f32 t3 = 0.0f;
  if (pos0 - b_p2_low0 < b_p2_size0) t3 = b_p2[pos0 - b_p2_low0];
  else outside(verdict, 2u, pos0, 0, 0, b_p2_shape0, 0, 0);
  {
    const f32 t4 = t3 - t2;
    const f32 t5 = t4 * t_p0;
    const f32 t6 = t2 + t5;
    lerp_v0 = t6;
  }
  // crates/folio-conformance/src/engine/kernels/code.rs
  const f32 t7 = lerp_v0;
  const f32 t9 = (f32)1.0;
  const f32 t10 = t7 + t9;
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (pos0 - o_p3_low0 < o_p3_size0) o_p3[pos0 - o_p3_low0] = t10;
  else outside(verdict, 3u, pos0, 0, 0, o_p3_shape0, 0, 0);
}
// blend
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[16]; } Block;
ENTRY(256) folio_blend(
    const Block block,
    GLOBAL const f64 *RESTRICT a_p1_base,
    GLOBAL const f64 *RESTRICT b_p2_base,
    GLOBAL f64 *RESTRICT o_p3_base,
    GLOBAL Record *verdict) {
  const u64 a_p1_low0 = block.words[0];
  const u64 a_p1_size0 = block.words[1];
  const u64 a_p1_shape0 = block.words[2];
  const u64 b_p2_low0 = block.words[3];
  const u64 b_p2_size0 = block.words[4];
  const u64 b_p2_shape0 = block.words[5];
  const u64 o_p3_low0 = block.words[6];
  const u64 o_p3_size0 = block.words[7];
  const u64 o_p3_shape0 = block.words[8];
  const u64 first0 = block.words[9];
  const u64 offset0 = block.words[10];
  const u64 range0 = block.words[11];
  GLOBAL const f64 *a_p1 = a_p1_base + block.words[13];
  GLOBAL const f64 *b_p2 = b_p2_base + block.words[14];
  GLOBAL f64 *o_p3 = o_p3_base + block.words[15];
  const f64 t_p0 = F64_BITS((u64)block.words[12]);
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  f64 lerp_v0 = 0.0;
  // crates/folio-conformance/src/engine/kernels/code.rs
  f64 t2 = 0.0;
  if (pos0 - a_p1_low0 < a_p1_size0) t2 = a_p1[pos0 - a_p1_low0];
  else outside(verdict, 1u, pos0, 0, 0, a_p1_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/code.rs
  f64 t3 = 0.0;
  if (pos0 - b_p2_low0 < b_p2_size0) t3 = b_p2[pos0 - b_p2_low0];
  else outside(verdict, 2u, pos0, 0, 0, b_p2_shape0, 0, 0);
  {
    const f64 t4 = t3 - t2;
    const f64 t5 = t4 * t_p0;
    const f64 t6 = t2 + t5;
    lerp_v0 = t6;
  }
  // crates/folio-conformance/src/engine/kernels/code.rs
  const f64 t7 = lerp_v0;
  const f64 t9 = t7 + 1.0;
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (pos0 - o_p3_low0 < o_p3_size0) o_p3[pos0 - o_p3_low0] = t9;
  else outside(verdict, 3u, pos0, 0, 0, o_p3_shape0, 0, 0);
}
// brains
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
FN f32 odd_of_f64(f64 x) {
  const f32 y = (f32)x;
  if (x != x || (f64)y == x) return y;
  const u32 bits = BITS_F32(y);
  const bool away = (f64)F32_BITS(bits & 0x7fffffffu) > (x < 0 ? -x : x);
  return F32_BITS((away ? bits - 1u : bits) | 1u);
}
FN bf16 bf16_of_f32(f32 x) {
  const u32 bits = BITS_F32(x);
  return x != x ? (bf16)0x7fc0 : (bf16)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
FN f32 f32_of_bf16(bf16 x) { return F32_BITS((u32)x << 16); }
FN f32 min_f32(f32 a, f32 b) { return b != b || a < b || (a == b && (BITS_F32(a) >> 31) != 0) ? a : b; }
FN f32 max_f32(f32 a, f32 b) { return b != b || a > b || (a == b && (BITS_F32(a) >> 31) == 0) ? a : b; }
#ifdef POCL_DEVICE_ADDRESS_BITS
#define OR_NAN(of, nan, x) ((of) != (of) ? (nan) : (x))
#else
#define OR_NAN(of, nan, x) x
#endif
FN i32 i32_of_f32(f32 x) { return x >= -2147483648.0f ? x < 2147483648.0f ? (i32)x : 2147483647 : x < 0 ? (-2147483647 - 1) : 0; }
FN i32 i32_of_f64(f64 x) { return x >= -2147483648.0 ? x < 2147483648.0 ? (i32)x : 2147483647 : x < 0 ? (-2147483647 - 1) : 0; }
FN i32 rem_i32(i32 a, i32 b) { return b == -1 ? 0 : (i32)(a % b); }
FN u32 clz_u64(u64 x) { return (u32)clz(x); }
FN bf16 bf16_of_u64(u64 x) {
  if (x >> 24 != 0) {
    const u32 drop = 40u - clz_u64(x);
    const u64 rest = x & (((u64)1 << drop) - 1);
    x = (x >> drop | (rest != 0 ? 1 : 0)) << drop;
  }
  return bf16_of_f32((f32)x);
}
FN bf16 bf16_of_i64(i64 x) {
  return x < 0 ? (bf16)(bf16_of_u64((u64)0 - (u64)x) | 0x8000) : bf16_of_u64((u64)x);
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_brains(
    const Block block,
    GLOBAL const bf16 *RESTRICT x_p0_base,
    GLOBAL bf16 *RESTRICT y_p1_base,
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
  GLOBAL const bf16 *x_p0 = x_p0_base + block.words[9];
  GLOBAL bf16 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  bf16 l6_v0 = 0x0;
  bf16 if_v1 = 0x0;
  bf16 l8_v2 = 0x0;
  bf16 if_v3 = 0x0;
  // crates/folio-conformance/src/engine/kernels/language.rs
  bf16 t1 = 0x0;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const u64 t3 = pos0 * 7ul;
  const u64 t5 = t3 + 3ul;
  // crates/folio-conformance/src/engine/kernels/language.rs
  if (x_p0_shape0 == 0) fail(verdict, 2u);
  const u64 t7 = x_p0_shape0 == 0 ? 0 : (u64)(t5 % x_p0_shape0);
  // crates/folio-conformance/src/engine/kernels/language.rs
  bf16 t8 = 0x0;
  if (t7 - x_p0_low0 < x_p0_size0) t8 = x_p0[t7 - x_p0_low0];
  else outside(verdict, 3u, t7, 0, 0, x_p0_shape0, 0, 0);
  const bf16 t10 = bf16_of_f32(odd_of_f64(1.5));
  const bf16 t11 = bf16_of_f32(f32_of_bf16(t1) * f32_of_bf16(t8));
  const bf16 t12 = bf16_of_f32(f32_of_bf16(t10) / f32_of_bf16(t1));
  const bf16 t13 = bf16_of_f32(f32_of_bf16(t11) + f32_of_bf16(t12));
  const bf16 t14 = bf16_of_f32(fmod(f32_of_bf16(t8), f32_of_bf16(t10)));
  const bf16 t15 = bf16_of_f32(f32_of_bf16(t13) - f32_of_bf16(t14));
  l6_v0 = t15;
  const bf16 t16 = bf16_of_f32(fma(f32_of_bf16(t1), f32_of_bf16(t8), f32_of_bf16(t10)));
  const bf16 t17 = bf16_of_f32(fabs(f32_of_bf16(t16)));
  const bf16 t18 = bf16_of_f32(min_f32(f32_of_bf16(t17), f32_of_bf16(t8)));
  const bf16 t19 = bf16_of_f32(max_f32(f32_of_bf16(t18), f32_of_bf16(t10)));
  const bf16 t20 = bf16_of_f32(sqrt(f32_of_bf16(t19)));
  // crates/folio-conformance/src/engine/kernels/language.rs
  const bf16 t21 = l6_v0;
  const bf16 t22 = bf16_of_f32(f32_of_bf16(t21) + f32_of_bf16(t20));
  l6_v0 = t22;
  const bool t23 = f32_of_bf16(t1) < f32_of_bf16(t8);
  const bf16 t25 = bf16_of_f32(fabs(f32_of_bf16(t1)));
  const bool t26 = f32_of_bf16(t25) == f32_of_bf16(0x7f80);
  const bool t27 = (t23 || t26);
  if (t27) {
    // crates/folio-conformance/src/engine/kernels/language.rs
    const bf16 t28 = l6_v0;
    const bf16 t29 = bf16_of_f32(OR_NAN(f32_of_bf16(t28), f32_of_bf16(t28), floor(f32_of_bf16(t28))));
    if_v1 = t29;
  } else {
    // crates/folio-conformance/src/engine/kernels/language.rs
    const bf16 t30 = l6_v0;
    const bf16 t31 = bf16_of_f32(copysign(f32_of_bf16(t30), f32_of_bf16(t8)));
    const bf16 t32 = bf16_of_f32(-f32_of_bf16(t31));
    if_v1 = t32;
  }
  // crates/folio-conformance/src/engine/kernels/language.rs
  const bf16 t33 = if_v1;
  l6_v0 = t33;
  const i32 t34 = i32_of_f32(f32_of_bf16(t1));
  const f64 t35 = (f64)f32_of_bf16(t8);
  const f64 t37 = t35 * 3.0;
  const i32 t38 = i32_of_f64(t37);
  // crates/folio-conformance/src/engine/kernels/language.rs
  const i32 t40 = rem_i32(t38, 7);
  const i32 t41 = (i32)((u32)t34 + (u32)t40);
  // crates/folio-conformance/src/engine/kernels/language.rs
  const bf16 t42 = l6_v0;
  const bf16 t43 = bf16_of_i64((i64)t41);
  const bf16 t44 = bf16_of_f32(f32_of_bf16(t42) + f32_of_bf16(t43));
  const f32 t45 = (f32)f32_of_bf16(t1);
  const f32 t47 = t45 * 0.1f;
  const bf16 t48 = bf16_of_f32(t47);
  const bf16 t49 = bf16_of_f32(f32_of_bf16(t44) + f32_of_bf16(t48));
  const f64 t50 = (f64)f32_of_bf16(t1);
  const f64 t52 = t50 / 3.0;
  const bf16 t53 = bf16_of_f32(odd_of_f64(t52));
  const bf16 t54 = bf16_of_f32(f32_of_bf16(t49) + f32_of_bf16(t53));
  l8_v2 = t54;
  const u16 t55 = (u16)t1;
  const u16 t57 = (u16)((u32)t55 & (u32)33791);
  const bf16 t58 = (bf16)t57;
  const bf16 t59 = bf16_of_f32(OR_NAN(f32_of_bf16(t8), f32_of_bf16(t8), trunc(f32_of_bf16(t8))));
  const bf16 t60 = bf16_of_f32(f32_of_bf16(t8) - f32_of_bf16(t59));
  const bf16 t61 = bf16_of_f32(f32_of_bf16(t58) + f32_of_bf16(t60));
  const bf16 t63 = bf16_of_f32(copysign(f32_of_bf16(0x3f80), f32_of_bf16(t10)));
  const bool t64 = f32_of_bf16(t10) != f32_of_bf16(t10);
  const bf16 t65 = t64 ? t10 : t63;
  const bf16 t66 = bf16_of_f32(f32_of_bf16(t61) + f32_of_bf16(t65));
  // crates/folio-conformance/src/engine/kernels/language.rs
  const bf16 t67 = l8_v2;
  const bf16 t68 = bf16_of_f32(f32_of_bf16(t67) + f32_of_bf16(t66));
  l8_v2 = t68;
  // crates/folio-conformance/src/engine/kernels/language.rs
  const bf16 t69 = l8_v2;
  const bool t70 = f32_of_bf16(t69) != f32_of_bf16(t69);
  if (t70) {
    if_v3 = 0x3f80;
  } else {
    // crates/folio-conformance/src/engine/kernels/language.rs
    const bf16 t72 = l8_v2;
    if_v3 = t72;
  }
  const bf16 t73 = if_v3;
  // crates/folio-conformance/src/engine/kernels/language.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t73;
  else outside(verdict, 4u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// cbrt_of
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_cbrt_of(
    const Block block,
    GLOBAL const f32 *RESTRICT x_p0_base,
    GLOBAL f32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
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
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f32 t1 = 0.0f;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const f32 t2 = cbrt(t1);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t2;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// cbrt_of
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_cbrt_of(
    const Block block,
    GLOBAL const f64 *RESTRICT x_p0_base,
    GLOBAL f64 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const f64 *x_p0 = x_p0_base + block.words[9];
  GLOBAL f64 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f64 t1 = 0.0;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const f64 t2 = cbrt(t1);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t2;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// chunks
typedef struct { i32 at[4]; } array_t0;
typedef struct { i32 at[3]; } array_t1;
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[15]; } Block;
ENTRY(256) folio_chunks(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL array_t0 *RESTRICT y_p1_base,
    GLOBAL array_t1 *RESTRICT z_p2_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 z_p2_low0 = block.words[6];
  const u64 z_p2_size0 = block.words[7];
  const u64 z_p2_shape0 = block.words[8];
  const u64 first0 = block.words[9];
  const u64 offset0 = block.words[10];
  const u64 range0 = block.words[11];
  GLOBAL const i32 *x_p0 = x_p0_base + block.words[12];
  GLOBAL array_t0 *y_p1 = y_p1_base + block.words[13];
  GLOBAL array_t1 *z_p2 = z_p2_base + block.words[14];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  for (u64 k2 = 0ul; k2 < 4ul; k2++) {
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    i32 t4 = 0;
    if (pos0 - x_p0_low0 < x_p0_size0) t4 = x_p0[pos0 - x_p0_low0];
    else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
    const i32 t5 = (i32)k2;
    const i32 t6 = (i32)((u32)t4 + (u32)t5);
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    if (pos0 - y_p1_low0 < y_p1_size0 && k2 < 4ul) y_p1[pos0 - y_p1_low0].at[k2] = t6;
    else if (!(pos0 - y_p1_low0 < y_p1_size0)) outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
    else outside(verdict, 3u, k2, 0, 0, 4ul, 0, 0);
  }
  // crates/folio-conformance/src/engine/kernels/group_code.rs
  i32 t7 = 0;
  if (pos0 - x_p0_low0 < x_p0_size0) t7 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 4u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const bool t9 = t7 > 0;
  if (t9) {
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    i32 t10 = 0;
    if (pos0 - x_p0_low0 < x_p0_size0) t10 = x_p0[pos0 - x_p0_low0];
    else outside(verdict, 5u, pos0, 0, 0, x_p0_shape0, 0, 0);
    const array_t1 t13 = { { t10, 1, 2 } };
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    if (pos0 - z_p2_low0 < z_p2_size0) z_p2[pos0 - z_p2_low0] = t13;
    else outside(verdict, 6u, pos0, 0, 0, z_p2_shape0, 0, 0);
  } else {
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    if (pos0 - z_p2_low0 < z_p2_size0) z_p2[pos0 - z_p2_low0].at[0ul] = (-0 - 1);
    else outside(verdict, 7u, pos0, 0, 0, z_p2_shape0, 0, 0);
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    i32 t16 = 0;
    if (pos0 - x_p0_low0 < x_p0_size0) t16 = x_p0[pos0 - x_p0_low0];
    else outside(verdict, 8u, pos0, 0, 0, x_p0_shape0, 0, 0);
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    if (pos0 - z_p2_low0 < z_p2_size0) z_p2[pos0 - z_p2_low0].at[1ul] = t16;
    else outside(verdict, 9u, pos0, 0, 0, z_p2_shape0, 0, 0);
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    if (pos0 - z_p2_low0 < z_p2_size0) z_p2[pos0 - z_p2_low0].at[2ul] = 3;
    else outside(verdict, 10u, pos0, 0, 0, z_p2_shape0, 0, 0);
  }
}
// collatz
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_collatz(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL i32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const i32 *x_p0 = x_p0_base + block.words[9];
  GLOBAL i32 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  u64 l3_v0 = 0ul;
  i32 l4_v1 = 0;
  u64 if_v2 = 0ul;
  // crates/folio-conformance/src/engine/kernels/language.rs
  i32 t1 = 0;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const u64 t2 = (u64)t1;
  const u64 t4 = t2 + 1ul;
  l3_v0 = t4;
  l4_v1 = 0;
  for (u64 turn0 = 0; turn0 >> 63 == 0; turn0++) {
    const u64 t6 = l3_v0;
    const bool t8 = t6 != 1ul;
    if (!t8) {
      break;
    }
    // crates/folio-conformance/src/engine/kernels/language.rs
    const u64 t9 = l3_v0;
    // crates/folio-conformance/src/engine/kernels/language.rs
    const u64 t11 = (u64)(t9 % 2ul);
    const bool t13 = t11 == 0ul;
    if (t13) {
      const u64 t14 = l3_v0;
      // crates/folio-conformance/src/engine/kernels/language.rs
      const u64 t16 = (u64)(t14 / 2ul);
      if_v2 = t16;
    } else {
      const u64 t18 = l3_v0;
      const u64 t19 = 3ul * t18;
      const u64 t21 = t19 + 1ul;
      if_v2 = t21;
    }
    // crates/folio-conformance/src/engine/kernels/language.rs
    const u64 t22 = if_v2;
    l3_v0 = t22;
    const i32 t24 = l4_v1;
    const i32 t25 = (i32)((u32)t24 + (u32)1);
    l4_v1 = t25;
  }
  // crates/folio-conformance/src/engine/kernels/language.rs
  const u64 t26 = l3_v0;
  const bool t28 = t26 == 1ul;
  // crates/folio-conformance/src/engine/kernels/language.rs
  if (!t28) {
    fail(verdict, 2u);
    return;
  }
  // crates/folio-conformance/src/engine/kernels/language.rs
  const i32 t29 = l4_v1;
  // crates/folio-conformance/src/engine/kernels/language.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t29;
  else outside(verdict, 3u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// columns
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[12]; } Block;
ENTRY(256) folio_columns(
    const Block block,
    GLOBAL i32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 y_p1_shape1 = block.words[0];
  const u64 y_p1_low0 = block.words[1];
  const u64 y_p1_size0 = block.words[2];
  const u64 y_p1_pitch0 = block.words[3];
  const u64 y_p1_low1 = block.words[4];
  const u64 y_p1_size1 = block.words[5];
  const u64 y_p1_shape0 = block.words[6];
  const u64 first0 = block.words[7];
  const u64 offset0 = block.words[8];
  const u64 range0 = block.words[9];
  GLOBAL i32 *y_p1 = y_p1_base + block.words[11];
  const u64 at_p0 = block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  for (u64 k4 = 0ul; k4 < y_p1_shape1; k4++) {
    // crates/folio-conformance/src/engine/kernels/code.rs
    if (pos0 - y_p1_low0 < y_p1_size0 && k4 - y_p1_low1 < y_p1_size1) y_p1[(pos0 - y_p1_low0) * y_p1_pitch0 + (k4 - y_p1_low1)] = 1;
    else outside(verdict, 1u, pos0, k4, 0, y_p1_shape0, y_p1_shape1, 0);
  }
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (pos0 - y_p1_low0 < y_p1_size0 && at_p0 - y_p1_low1 < y_p1_size1) y_p1[(pos0 - y_p1_low0) * y_p1_pitch0 + (at_p0 - y_p1_low1)] = 2;
  else outside(verdict, 2u, pos0, at_p0, 0, y_p1_shape0, y_p1_shape1, 0);
}
// contracted
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[15]; } Block;
ENTRY(256) folio_contracted(
    const Block block,
    GLOBAL const f32 *RESTRICT a_p0_base,
    GLOBAL const f32 *RESTRICT b_p1_base,
    GLOBAL f32 *RESTRICT y_p2_base,
    GLOBAL Record *verdict) {
  const u64 a_p0_low0 = block.words[0];
  const u64 a_p0_size0 = block.words[1];
  const u64 a_p0_shape0 = block.words[2];
  const u64 b_p1_low0 = block.words[3];
  const u64 b_p1_size0 = block.words[4];
  const u64 b_p1_shape0 = block.words[5];
  const u64 y_p2_low0 = block.words[6];
  const u64 y_p2_size0 = block.words[7];
  const u64 y_p2_shape0 = block.words[8];
  const u64 first0 = block.words[9];
  const u64 offset0 = block.words[10];
  const u64 range0 = block.words[11];
  GLOBAL const f32 *a_p0 = a_p0_base + block.words[12];
  GLOBAL const f32 *b_p1 = b_p1_base + block.words[13];
  GLOBAL f32 *y_p2 = y_p2_base + block.words[14];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f32 t1 = 0.0f;
  if (pos0 - a_p0_low0 < a_p0_size0) t1 = a_p0[pos0 - a_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, a_p0_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f32 t2 = 0.0f;
  if (pos0 - b_p1_low0 < b_p1_size0) t2 = b_p1[pos0 - b_p1_low0];
  else outside(verdict, 2u, pos0, 0, 0, b_p1_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f32 t4 = 0.0f;
  if (pos0 - b_p1_low0 < b_p1_size0) t4 = b_p1[pos0 - b_p1_low0];
  else outside(verdict, 3u, pos0, 0, 0, b_p1_shape0, 0, 0);
  const f32 t6 = -t4;
  const f32 t5 = fma(t1, t2, t6);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p2_low0 < y_p2_size0) y_p2[pos0 - y_p2_low0] = t5;
  else outside(verdict, 4u, pos0, 0, 0, y_p2_shape0, 0, 0);
}
// copies
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_copies(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL i32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const i32 *x_p0 = x_p0_base + block.words[9];
  GLOBAL i32 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/code.rs
  i32 t1 = 0;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t1;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// cos_of
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_cos_of(
    const Block block,
    GLOBAL const f32 *RESTRICT x_p0_base,
    GLOBAL f32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
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
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f32 t1 = 0.0f;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const f32 t2 = cos(t1);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t2;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// cos_of
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_cos_of(
    const Block block,
    GLOBAL const f64 *RESTRICT x_p0_base,
    GLOBAL f64 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const f64 *x_p0 = x_p0_base + block.words[9];
  GLOBAL f64 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f64 t1 = 0.0;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const f64 t2 = cos(t1);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t2;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// cosh_of
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_cosh_of(
    const Block block,
    GLOBAL const f32 *RESTRICT x_p0_base,
    GLOBAL f32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
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
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f32 t1 = 0.0f;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const f32 t2 = cosh(t1);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t2;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// cosh_of
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_cosh_of(
    const Block block,
    GLOBAL const f64 *RESTRICT x_p0_base,
    GLOBAL f64 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const f64 *x_p0 = x_p0_base + block.words[9];
  GLOBAL f64 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f64 t1 = 0.0;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const f64 t2 = cosh(t1);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t2;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// counts
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[7]; } Block;
ENTRY(256) folio_counts(
    const Block block,
    GLOBAL i32 *RESTRICT y_p0_base,
    GLOBAL Record *verdict) {
  const u64 y_p0_low0 = block.words[0];
  const u64 y_p0_size0 = block.words[1];
  const u64 y_p0_shape0 = block.words[2];
  const u64 first0 = block.words[3];
  const u64 offset0 = block.words[4];
  const u64 range0 = block.words[5];
  GLOBAL i32 *y_p0 = y_p0_base + block.words[6];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/code.rs
  i32 t2 = 0;
  if (pos0 - y_p0_low0 < y_p0_size0) t2 = y_p0[pos0 - y_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, y_p0_shape0, 0, 0);
  const i32 t3 = (i32)((u32)t2 + (u32)1);
  if (pos0 - y_p0_low0 < y_p0_size0) y_p0[pos0 - y_p0_low0] = t3;
  else outside(verdict, 2u, pos0, 0, 0, y_p0_shape0, 0, 0);
}
// diagonal
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[22]; } Block;
ENTRY(256) folio_diagonal(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL i32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_pitch0 = block.words[2];
  const u64 x_p0_low1 = block.words[3];
  const u64 x_p0_size1 = block.words[4];
  const u64 x_p0_shape0 = block.words[5];
  const u64 x_p0_shape1 = block.words[6];
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
  GLOBAL const i32 *x_p0 = x_p0_base + block.words[20];
  GLOBAL i32 *y_p1 = y_p1_base + block.words[21];
  const u64 pos0 = first0 + (u64)get_group_id(1) * get_local_size(1) + get_local_id(1);
  const u64 pos1 = first1 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0 || pos1 - offset1 >= range1) return;
  const u64 t3 = pos0 - 1ul;
  const u64 t5 = pos1 - 1ul;
  // crates/folio-conformance/src/engine/kernels/code.rs
  i32 t6 = 0;
  if (t3 - x_p0_low0 < x_p0_size0 && t5 - x_p0_low1 < x_p0_size1) t6 = x_p0[(t3 - x_p0_low0) * x_p0_pitch0 + (t5 - x_p0_low1)];
  else outside(verdict, 1u, t3, t5, 0, x_p0_shape0, x_p0_shape1, 0);
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (pos0 - y_p1_low0 < y_p1_size0 && pos1 - y_p1_low1 < y_p1_size1) y_p1[(pos0 - y_p1_low0) * y_p1_pitch0 + (pos1 - y_p1_low1)] = t6;
  else outside(verdict, 2u, pos0, pos1, 0, y_p1_shape0, y_p1_shape1, 0);
}
// divides
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
FN i32 div_i32(i32 a, i32 b) { return b == -1 ? (i32)((u32)0 - (u32)a) : (i32)(a / b); }
FN i32 rem_i32(i32 a, i32 b) { return b == -1 ? 0 : (i32)(a % b); }
typedef struct { u64 words[15]; } Block;
ENTRY(256) folio_divides(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL const i32 *RESTRICT y_p1_base,
    GLOBAL i32 *RESTRICT o_p2_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 o_p2_low0 = block.words[6];
  const u64 o_p2_size0 = block.words[7];
  const u64 o_p2_shape0 = block.words[8];
  const u64 first0 = block.words[9];
  const u64 offset0 = block.words[10];
  const u64 range0 = block.words[11];
  GLOBAL const i32 *x_p0 = x_p0_base + block.words[12];
  GLOBAL const i32 *y_p1 = y_p1_base + block.words[13];
  GLOBAL i32 *o_p2 = o_p2_base + block.words[14];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/code.rs
  i32 t1 = 0;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/code.rs
  i32 t2 = 0;
  if (pos0 - y_p1_low0 < y_p1_size0) t2 = y_p1[pos0 - y_p1_low0];
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (t2 == 0) fail(verdict, 3u);
  const i32 t3 = t2 == 0 ? 0 : div_i32(t1, t2);
  // crates/folio-conformance/src/engine/kernels/code.rs
  i32 t4 = 0;
  if (pos0 - x_p0_low0 < x_p0_size0) t4 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 4u, pos0, 0, 0, x_p0_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/code.rs
  i32 t5 = 0;
  if (pos0 - y_p1_low0 < y_p1_size0) t5 = y_p1[pos0 - y_p1_low0];
  else outside(verdict, 5u, pos0, 0, 0, y_p1_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (t5 == 0) fail(verdict, 6u);
  const i32 t6 = t5 == 0 ? 0 : rem_i32(t4, t5);
  const i32 t7 = (i32)((u32)t3 + (u32)t6);
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (pos0 - o_p2_low0 < o_p2_size0) o_p2[pos0 - o_p2_low0] = t7;
  else outside(verdict, 7u, pos0, 0, 0, o_p2_shape0, 0, 0);
}
// dot
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[12]; } Block;
ENTRY(256) folio_dot(
    const Block block,
    GLOBAL const f32 *RESTRICT x_p0_base,
    GLOBAL const f32 *RESTRICT y_p1_base,
    GLOBAL f32 *RESTRICT sum_p2_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 offset0 = block.words[6];
  const u64 first_block = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const f32 *x_p0 = x_p0_base + block.words[9];
  GLOBAL const f32 *y_p1 = y_p1_base + block.words[10];
  GLOBAL f32 *sum_p2 = sum_p2_base + block.words[11];
  SHARED f32 sum_p2_lanes[256];
  const u64 items = range0;
  const u64 number = first_block + get_group_id(0);
  const u64 from = number * 4096;
  const u64 count = items - from;
  const u32 thread = (u32)(get_local_id(0));
  const u32 threads = (u32)(get_local_size(0));
  const u32 end = count < 4096 ? (u32)count : 4096u;
  for (u32 lane = thread; lane < 256u && lane < end; lane += threads) {
    f32 sum_p2_lane = (-0.0f);
    for (u32 turn = lane; turn < end; turn += 256u) {
      u64 rest = from + turn;
      const u64 pos0 = offset0 + rest;
      f32 sum_p2_own = (-0.0f);
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
      sum_p2_lane = sum_p2_lane + sum_p2_own;
    }
    sum_p2_lanes[lane] = sum_p2_lane;
  }
  BARRIER;
  for (u32 gap = 128u; gap > 0u; gap >>= 1) {
    for (u32 lane = thread; lane < gap && lane + gap < end; lane += threads) {
      sum_p2_lanes[lane] = sum_p2_lanes[lane] + sum_p2_lanes[lane + gap];
    }
    BARRIER;
  }
  if (thread == 0u) sum_p2[number] = sum_p2_lanes[0];
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
// eight
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[37]; } Block;
ENTRY(256) folio_eight(
    const Block block,
    GLOBAL const i32 *RESTRICT a_p0_base,
    GLOBAL const i32 *RESTRICT b_p1_base,
    GLOBAL const i32 *RESTRICT c_p2_base,
    GLOBAL const i32 *RESTRICT d_p3_base,
    GLOBAL i32 *RESTRICT e_p5_base,
    GLOBAL i32 *RESTRICT f_p6_base,
    GLOBAL i32 *RESTRICT g_p7_base,
    GLOBAL i32 *RESTRICT h_p9_base,
    GLOBAL Record *verdict) {
  const u64 a_p0_low0 = block.words[0];
  const u64 a_p0_size0 = block.words[1];
  const u64 a_p0_shape0 = block.words[2];
  const u64 e_p5_low0 = block.words[3];
  const u64 e_p5_size0 = block.words[4];
  const u64 e_p5_shape0 = block.words[5];
  const u64 b_p1_low0 = block.words[6];
  const u64 b_p1_size0 = block.words[7];
  const u64 b_p1_shape0 = block.words[8];
  const u64 f_p6_low0 = block.words[9];
  const u64 f_p6_size0 = block.words[10];
  const u64 f_p6_shape0 = block.words[11];
  const u64 c_p2_low0 = block.words[12];
  const u64 c_p2_size0 = block.words[13];
  const u64 c_p2_shape0 = block.words[14];
  const u64 g_p7_low0 = block.words[15];
  const u64 g_p7_size0 = block.words[16];
  const u64 g_p7_shape0 = block.words[17];
  const u64 d_p3_low0 = block.words[18];
  const u64 d_p3_size0 = block.words[19];
  const u64 d_p3_shape0 = block.words[20];
  const u64 h_p9_low0 = block.words[21];
  const u64 h_p9_size0 = block.words[22];
  const u64 h_p9_shape0 = block.words[23];
  const u64 first0 = block.words[24];
  const u64 offset0 = block.words[25];
  const u64 range0 = block.words[26];
  GLOBAL const i32 *a_p0 = a_p0_base + block.words[27];
  GLOBAL const i32 *b_p1 = b_p1_base + block.words[28];
  GLOBAL const i32 *c_p2 = c_p2_base + block.words[29];
  GLOBAL const i32 *d_p3 = d_p3_base + block.words[30];
  GLOBAL i32 *e_p5 = e_p5_base + block.words[32];
  GLOBAL i32 *f_p6 = f_p6_base + block.words[33];
  GLOBAL i32 *g_p7 = g_p7_base + block.words[34];
  GLOBAL i32 *h_p9 = h_p9_base + block.words[36];
  const i32 s_p4 = (i32)block.words[31];
  const i64 t_p8 = (i64)block.words[35];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/code.rs
  i32 t3 = 0;
  if (pos0 - a_p0_low0 < a_p0_size0) t3 = a_p0[pos0 - a_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, a_p0_shape0, 0, 0);
  const i32 t4 = (i32)((u32)t3 + (u32)s_p4);
  // crates/folio-conformance/src/engine/kernels/code.rs
  i32 t5 = 0;
  if (pos0 - e_p5_low0 < e_p5_size0) t5 = e_p5[pos0 - e_p5_low0];
  else outside(verdict, 2u, pos0, 0, 0, e_p5_shape0, 0, 0);
  const i32 t6 = (i32)((u32)t5 + (u32)t4);
  if (pos0 - e_p5_low0 < e_p5_size0) e_p5[pos0 - e_p5_low0] = t6;
  else outside(verdict, 3u, pos0, 0, 0, e_p5_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/code.rs
  i32 t7 = 0;
  if (pos0 - b_p1_low0 < b_p1_size0) t7 = b_p1[pos0 - b_p1_low0];
  else outside(verdict, 4u, pos0, 0, 0, b_p1_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/code.rs
  i32 t8 = 0;
  if (pos0 - f_p6_low0 < f_p6_size0) t8 = f_p6[pos0 - f_p6_low0];
  else outside(verdict, 5u, pos0, 0, 0, f_p6_shape0, 0, 0);
  const i32 t9 = (i32)((u32)t8 + (u32)t7);
  if (pos0 - f_p6_low0 < f_p6_size0) f_p6[pos0 - f_p6_low0] = t9;
  else outside(verdict, 6u, pos0, 0, 0, f_p6_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/code.rs
  i32 t10 = 0;
  if (pos0 - c_p2_low0 < c_p2_size0) t10 = c_p2[pos0 - c_p2_low0];
  else outside(verdict, 7u, pos0, 0, 0, c_p2_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (pos0 - g_p7_low0 < g_p7_size0) g_p7[pos0 - g_p7_low0] = t10;
  else outside(verdict, 8u, pos0, 0, 0, g_p7_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/code.rs
  i32 t11 = 0;
  if (pos0 - d_p3_low0 < d_p3_size0) t11 = d_p3[pos0 - d_p3_low0];
  else outside(verdict, 9u, pos0, 0, 0, d_p3_shape0, 0, 0);
  const i32 t12 = (i32)t_p8;
  const i32 t13 = (i32)((u32)t11 + (u32)t12);
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (pos0 - h_p9_low0 < h_p9_size0) h_p9[pos0 - h_p9_low0] = t13;
  else outside(verdict, 10u, pos0, 0, 0, h_p9_shape0, 0, 0);
}
// exp2_of
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
#ifdef POCL_DEVICE_ADDRESS_BITS
#define OR_NAN(of, nan, x) ((of) != (of) ? (nan) : (x))
#else
#define OR_NAN(of, nan, x) x
#endif
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_exp2_of(
    const Block block,
    GLOBAL const f32 *RESTRICT x_p0_base,
    GLOBAL f32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
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
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f32 t1 = 0.0f;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const f32 t2 = OR_NAN(t1, t1, exp2(t1));
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t2;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// exp2_of
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
#ifdef POCL_DEVICE_ADDRESS_BITS
#define OR_NAN(of, nan, x) ((of) != (of) ? (nan) : (x))
#else
#define OR_NAN(of, nan, x) x
#endif
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_exp2_of(
    const Block block,
    GLOBAL const f64 *RESTRICT x_p0_base,
    GLOBAL f64 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const f64 *x_p0 = x_p0_base + block.words[9];
  GLOBAL f64 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f64 t1 = 0.0;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const f64 t2 = OR_NAN(t1, t1, exp2(t1));
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t2;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// exp_m1_of
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
#ifdef POCL_DEVICE_ADDRESS_BITS
#define OR_NAN(of, nan, x) ((of) != (of) ? (nan) : (x))
#else
#define OR_NAN(of, nan, x) x
#endif
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_exp_m1_of(
    const Block block,
    GLOBAL const f32 *RESTRICT x_p0_base,
    GLOBAL f32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
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
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f32 t1 = 0.0f;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const f32 t2 = OR_NAN(t1, t1, expm1(t1));
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t2;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// exp_m1_of
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
#ifdef POCL_DEVICE_ADDRESS_BITS
#define OR_NAN(of, nan, x) ((of) != (of) ? (nan) : (x))
#else
#define OR_NAN(of, nan, x) x
#endif
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_exp_m1_of(
    const Block block,
    GLOBAL const f64 *RESTRICT x_p0_base,
    GLOBAL f64 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const f64 *x_p0 = x_p0_base + block.words[9];
  GLOBAL f64 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f64 t1 = 0.0;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const f64 t2 = OR_NAN(t1, t1, expm1(t1));
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t2;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// exp_of
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
#ifdef POCL_DEVICE_ADDRESS_BITS
#define OR_NAN(of, nan, x) ((of) != (of) ? (nan) : (x))
#else
#define OR_NAN(of, nan, x) x
#endif
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_exp_of(
    const Block block,
    GLOBAL const f32 *RESTRICT x_p0_base,
    GLOBAL f32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
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
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f32 t1 = 0.0f;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const f32 t2 = OR_NAN(t1, t1, exp(t1));
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t2;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// exp_of
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
#ifdef POCL_DEVICE_ADDRESS_BITS
#define OR_NAN(of, nan, x) ((of) != (of) ? (nan) : (x))
#else
#define OR_NAN(of, nan, x) x
#endif
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_exp_of(
    const Block block,
    GLOBAL const f64 *RESTRICT x_p0_base,
    GLOBAL f64 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const f64 *x_p0 = x_p0_base + block.words[9];
  GLOBAL f64 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f64 t1 = 0.0;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const f64 t2 = OR_NAN(t1, t1, exp(t1));
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t2;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// floats
typedef struct { u32 at[20]; } array_t0;
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
FN f32 min_f32(f32 a, f32 b) { return b != b || a < b || (a == b && (BITS_F32(a) >> 31) != 0) ? a : b; }
FN f32 max_f32(f32 a, f32 b) { return b != b || a > b || (a == b && (BITS_F32(a) >> 31) == 0) ? a : b; }
#ifdef POCL_DEVICE_ADDRESS_BITS
#define OR_NAN(of, nan, x) ((of) != (of) ? (nan) : (x))
#else
#define OR_NAN(of, nan, x) x
#endif
FN f32 even_f32(f32 x) {
  const f32 size = fabs(x);
  return size < 8388608.0f ? copysign(size + 8388608.0f - 8388608.0f, x) : x;
}
FN i32 i32_of_f32(f32 x) { return x >= -2147483648.0f ? x < 2147483648.0f ? (i32)x : 2147483647 : x < 0 ? (-2147483647 - 1) : 0; }
FN u8 u8_of_f32(f32 x) { return x > 0 ? x < 256.0f ? (u8)x : 255 : 0; }
FN i64 i64_of_f32(f32 x) { return x >= -9.223372036854776e18f ? x < 9.223372036854776e18f ? (i64)x : 9223372036854775807l : x < 0 ? (-9223372036854775807l - 1l) : 0; }
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_floats(
    const Block block,
    GLOBAL const f32 *RESTRICT x_p0_base,
    GLOBAL array_t0 *RESTRICT y_p1_base,
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
  GLOBAL array_t0 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  u32 bits_of_v0 = 0u;
  u32 if_v1 = 0u;
  u32 bits_of_v2 = 0u;
  u32 if_v3 = 0u;
  u32 bits_of_v4 = 0u;
  u32 if_v5 = 0u;
  u32 bits_of_v6 = 0u;
  u32 if_v7 = 0u;
  u32 bits_of_v8 = 0u;
  u32 if_v9 = 0u;
  u32 bits_of_v10 = 0u;
  u32 if_v11 = 0u;
  u32 bits_of_v12 = 0u;
  u32 if_v13 = 0u;
  u32 bits_of_v14 = 0u;
  u32 if_v15 = 0u;
  u32 bits_of_v16 = 0u;
  u32 if_v17 = 0u;
  u32 bits_of_v18 = 0u;
  u32 if_v19 = 0u;
  u32 bits_of_v20 = 0u;
  u32 if_v21 = 0u;
  u32 bits_of_v22 = 0u;
  u32 if_v23 = 0u;
  u32 bits_of_v24 = 0u;
  u32 if_v25 = 0u;
  u32 bits_of_v26 = 0u;
  u32 if_v27 = 0u;
  u32 bits_of_v28 = 0u;
  u32 if_v29 = 0u;
  u32 bits_of_v30 = 0u;
  u32 if_v31 = 0u;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f32 t2 = 0.0f;
  if (pos0 - x_p0_low0 < x_p0_size0) t2 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const u64 t4 = pos0 * 7ul;
  const u64 t6 = t4 + 1ul;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (x_p0_shape0 == 0) fail(verdict, 2u);
  const u64 t7 = x_p0_shape0 == 0 ? 0 : (u64)(t6 % x_p0_shape0);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f32 t8 = 0.0f;
  if (t7 - x_p0_low0 < x_p0_size0) t8 = x_p0[t7 - x_p0_low0];
  else outside(verdict, 3u, t7, 0, 0, x_p0_shape0, 0, 0);
  const f32 t9 = t2 + t8;
  {
    const bool t10 = t9 != t9;
    if (t10) {
      if_v1 = 2143289344u;
    } else {
      const u32 t12 = (u32)BITS_F32(t9);
      if_v1 = t12;
    }
    // crates/folio-conformance/src/engine/kernels/computations.rs
    const u32 t13 = if_v1;
    bits_of_v0 = t13;
  }
  const u32 t14 = bits_of_v0;
  const f32 t15 = t2 - t8;
  {
    const bool t16 = t15 != t15;
    if (t16) {
      if_v3 = 2143289344u;
    } else {
      const u32 t18 = (u32)BITS_F32(t15);
      if_v3 = t18;
    }
    const u32 t19 = if_v3;
    bits_of_v2 = t19;
  }
  const u32 t20 = bits_of_v2;
  const f32 t21 = t2 * t8;
  {
    const bool t22 = t21 != t21;
    if (t22) {
      if_v5 = 2143289344u;
    } else {
      const u32 t24 = (u32)BITS_F32(t21);
      if_v5 = t24;
    }
    const u32 t25 = if_v5;
    bits_of_v4 = t25;
  }
  const u32 t26 = bits_of_v4;
  const f32 t27 = t2 / t8;
  {
    const bool t28 = t27 != t27;
    if (t28) {
      if_v7 = 2143289344u;
    } else {
      const u32 t30 = (u32)BITS_F32(t27);
      if_v7 = t30;
    }
    const u32 t31 = if_v7;
    bits_of_v6 = t31;
  }
  const u32 t32 = bits_of_v6;
  const f32 t33 = fmod(t2, t8);
  {
    const bool t34 = t33 != t33;
    if (t34) {
      if_v9 = 2143289344u;
    } else {
      const u32 t36 = (u32)BITS_F32(t33);
      if_v9 = t36;
    }
    const u32 t37 = if_v9;
    bits_of_v8 = t37;
  }
  const u32 t38 = bits_of_v8;
  const f32 t39 = min_f32(t2, t8);
  {
    const bool t40 = t39 != t39;
    if (t40) {
      if_v11 = 2143289344u;
    } else {
      const u32 t42 = (u32)BITS_F32(t39);
      if_v11 = t42;
    }
    const u32 t43 = if_v11;
    bits_of_v10 = t43;
  }
  const u32 t44 = bits_of_v10;
  const f32 t45 = max_f32(t2, t8);
  {
    const bool t46 = t45 != t45;
    if (t46) {
      if_v13 = 2143289344u;
    } else {
      const u32 t48 = (u32)BITS_F32(t45);
      if_v13 = t48;
    }
    const u32 t49 = if_v13;
    bits_of_v12 = t49;
  }
  const u32 t50 = bits_of_v12;
  const f32 t51 = fma(t2, t8, t2);
  {
    const bool t52 = t51 != t51;
    if (t52) {
      if_v15 = 2143289344u;
    } else {
      const u32 t54 = (u32)BITS_F32(t51);
      if_v15 = t54;
    }
    const u32 t55 = if_v15;
    bits_of_v14 = t55;
  }
  const u32 t56 = bits_of_v14;
  const f32 t57 = sqrt(t2);
  {
    const bool t58 = t57 != t57;
    if (t58) {
      if_v17 = 2143289344u;
    } else {
      const u32 t60 = (u32)BITS_F32(t57);
      if_v17 = t60;
    }
    const u32 t61 = if_v17;
    bits_of_v16 = t61;
  }
  const u32 t62 = bits_of_v16;
  const f32 t63 = OR_NAN(t2, t2, floor(t2));
  {
    const bool t64 = t63 != t63;
    if (t64) {
      if_v19 = 2143289344u;
    } else {
      const u32 t66 = (u32)BITS_F32(t63);
      if_v19 = t66;
    }
    const u32 t67 = if_v19;
    bits_of_v18 = t67;
  }
  const u32 t68 = bits_of_v18;
  const f32 t69 = OR_NAN(t2, t2, round(t2));
  {
    const bool t70 = t69 != t69;
    if (t70) {
      if_v21 = 2143289344u;
    } else {
      const u32 t72 = (u32)BITS_F32(t69);
      if_v21 = t72;
    }
    const u32 t73 = if_v21;
    bits_of_v20 = t73;
  }
  const u32 t74 = bits_of_v20;
  const f32 t75 = even_f32(t2);
  {
    const bool t76 = t75 != t75;
    if (t76) {
      if_v23 = 2143289344u;
    } else {
      const u32 t78 = (u32)BITS_F32(t75);
      if_v23 = t78;
    }
    const u32 t79 = if_v23;
    bits_of_v22 = t79;
  }
  const u32 t80 = bits_of_v22;
  const f32 t81 = copysign(t2, t8);
  {
    const bool t82 = t81 != t81;
    if (t82) {
      if_v25 = 2143289344u;
    } else {
      const u32 t84 = (u32)BITS_F32(t81);
      if_v25 = t84;
    }
    const u32 t85 = if_v25;
    bits_of_v24 = t85;
  }
  const u32 t86 = bits_of_v24;
  const f32 t88 = copysign(1.0f, t2);
  const bool t89 = t2 != t2;
  const f32 t90 = t89 ? t2 : t88;
  {
    const bool t91 = t90 != t90;
    if (t91) {
      if_v27 = 2143289344u;
    } else {
      const u32 t93 = (u32)BITS_F32(t90);
      if_v27 = t93;
    }
    const u32 t94 = if_v27;
    bits_of_v26 = t94;
  }
  const u32 t95 = bits_of_v26;
  const f32 t96 = fabs(t2);
  const f32 t97 = -t96;
  {
    const bool t98 = t97 != t97;
    if (t98) {
      if_v29 = 2143289344u;
    } else {
      const u32 t100 = (u32)BITS_F32(t97);
      if_v29 = t100;
    }
    const u32 t101 = if_v29;
    bits_of_v28 = t101;
  }
  const u32 t102 = bits_of_v28;
  const i32 t103 = i32_of_f32(t2);
  const u32 t104 = (u32)t103;
  const u8 t105 = u8_of_f32(t2);
  const u32 t106 = (u32)t105;
  const i64 t107 = i64_of_f32(t2);
  const i64 t109 = (i64)(t107 >> ((u32)7 & 63u));
  const u32 t110 = (u32)t109;
  const f64 t111 = (f64)t2;
  const f64 t112 = (f64)t8;
  const f64 t113 = t111 * t112;
  const f32 t114 = (f32)t113;
  {
    const bool t115 = t114 != t114;
    if (t115) {
      if_v31 = 2143289344u;
    } else {
      const u32 t117 = (u32)BITS_F32(t114);
      if_v31 = t117;
    }
    const u32 t118 = if_v31;
    bits_of_v30 = t118;
  }
  const u32 t119 = bits_of_v30;
  const bool t120 = t2 < t8;
  const u32 t121 = (u32)t120;
  const bool t122 = t2 == t8;
  const u32 t123 = (u32)t122;
  const u32 t125 = (u32)((u32)t123 << ((u32)1 & 31u));
  const u32 t126 = t121 | t125;
  const f32 t128 = fabs(t2);
  const bool t129 = t128 < F32_BITS(0x7f800000u);
  const u32 t130 = (u32)t129;
  const u32 t132 = (u32)((u32)t130 << ((u32)2 & 31u));
  const u32 t133 = t126 | t132;
  const array_t0 t134 = { { t14, t20, t26, t32, t38, t44, t50, t56, t62, t68, t74, t80, t86, t95, t102, t104, t106, t110, t119, t133 } };
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t134;
  else outside(verdict, 4u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// folds
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
FN u32 gap_of(u32 n) { u32 s = 1; while (s < n) s <<= 1; return s >> 1; }
typedef struct { u64 words[26]; } Block;
ENTRY(256) folio_folds(
    const Block block,
    GLOBAL const f32 *RESTRICT x_p0_base,
    GLOBAL const u32 *RESTRICT n_p1_base,
    GLOBAL f32 *sums_p2_base,
    GLOBAL u32 *most_p3_base,
    GLOBAL f32 *RESTRICT scans_p4_base,
    GLOBAL u32 *RESTRICT before_p5_base,
    GLOBAL Record *verdict,
    LOCAL u64 *scratch) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 sums_p2_low0 = block.words[3];
  const u64 sums_p2_size0 = block.words[4];
  const u64 sums_p2_shape0 = block.words[5];
  const u64 n_p1_low0 = block.words[6];
  const u64 n_p1_size0 = block.words[7];
  const u64 n_p1_shape0 = block.words[8];
  const u64 most_p3_low0 = block.words[9];
  const u64 most_p3_size0 = block.words[10];
  const u64 most_p3_shape0 = block.words[11];
  const u64 scans_p4_low0 = block.words[12];
  const u64 scans_p4_size0 = block.words[13];
  const u64 scans_p4_shape0 = block.words[14];
  const u64 before_p5_low0 = block.words[15];
  const u64 before_p5_size0 = block.words[16];
  const u64 before_p5_shape0 = block.words[17];
  const u64 first0 = block.words[18];
  const u64 offset0 = block.words[19];
  GLOBAL const f32 *x_p0 = x_p0_base + block.words[20];
  GLOBAL const u32 *n_p1 = n_p1_base + block.words[21];
  GLOBAL f32 *sums_p2 = sums_p2_base + block.words[22];
  GLOBAL u32 *most_p3 = most_p3_base + block.words[23];
  GLOBAL f32 *scans_p4 = scans_p4_base + block.words[24];
  GLOBAL u32 *before_p5 = before_p5_base + block.words[25];
  const u64 size0 = get_local_size(0);
  const u64 local0 = get_local_id(0);
  const u64 group0 = first0 + get_group_id(0);
  const u64 pos0 = offset0 + group0 * size0 + local0;
  const u32 thread = (u32)(get_local_id(0));
  const u32 threads = (u32)(get_local_size(0));
  f32 collected_v0 = 0.0f;
  u32 collected_v1 = 0u;
  u32 collected_v2 = 0u;
  f32 collected_v3 = 0.0f;
  u32 collected_v4 = 0u;
  {
    LOCAL f32 *all = (LOCAL f32 *)scratch;
    {
      // crates/folio-conformance/src/engine/kernels/group_code.rs
      f32 t1 = 0.0f;
      if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
      else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
      all[thread] = t1;
    }
    BARRIER;
    for (u32 gap = gap_of(threads); gap > 0u; gap >>= 1) {
      if (thread < gap && thread + gap < threads) all[thread] = all[thread] + all[thread + gap];
      BARRIER;
    }
    collected_v0 = all[0];
    BARRIER;
  }
  const f32 t2 = collected_v0;
  if (thread == 0u) {
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    if (group0 - sums_p2_low0 < sums_p2_size0) sums_p2[group0 - sums_p2_low0] = t2;
    else outside(verdict, 2u, group0, 0, 0, sums_p2_shape0, 0, 0);
  }
  BARRIER;
  {
    LOCAL u32 *all = (LOCAL u32 *)scratch;
    {
      // crates/folio-conformance/src/engine/kernels/group_code.rs
      u32 t5 = 0u;
      if (pos0 - n_p1_low0 < n_p1_size0) t5 = n_p1[pos0 - n_p1_low0];
      else outside(verdict, 3u, pos0, 0, 0, n_p1_shape0, 0, 0);
      all[thread] = t5;
    }
    BARRIER;
    for (u32 gap = gap_of(threads); gap > 0u; gap >>= 1) {
      if (thread < gap && thread + gap < threads) all[thread] = (all[thread] < all[thread + gap] ? all[thread] : all[thread + gap]);
      BARRIER;
    }
    collected_v1 = all[0];
    BARRIER;
  }
  const u32 t6 = collected_v1;
  {
    LOCAL u32 *all = (LOCAL u32 *)scratch;
    {
      // crates/folio-conformance/src/engine/kernels/group_code.rs
      u32 t8 = 0u;
      if (pos0 - n_p1_low0 < n_p1_size0) t8 = n_p1[pos0 - n_p1_low0];
      else outside(verdict, 4u, pos0, 0, 0, n_p1_shape0, 0, 0);
      const u32 t10 = t8 ^ 5u;
      all[thread] = t10;
    }
    BARRIER;
    for (u32 gap = gap_of(threads); gap > 0u; gap >>= 1) {
      if (thread < gap && thread + gap < threads) all[thread] = (all[thread] > all[thread + gap] ? all[thread] : all[thread + gap]);
      BARRIER;
    }
    collected_v2 = all[0];
    BARRIER;
  }
  const u32 t11 = collected_v2;
  const u32 t12 = t11 - t6;
  if (thread == 0u) {
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    if (group0 - most_p3_low0 < most_p3_size0) most_p3[group0 - most_p3_low0] = t12;
    else outside(verdict, 5u, group0, 0, 0, most_p3_shape0, 0, 0);
  }
  BARRIER;
  {
    LOCAL f32 *all = (LOCAL f32 *)scratch;
    {
      // crates/folio-conformance/src/engine/kernels/group_code.rs
      f32 t14 = 0.0f;
      if (pos0 - x_p0_low0 < x_p0_size0) t14 = x_p0[pos0 - x_p0_low0];
      else outside(verdict, 6u, pos0, 0, 0, x_p0_shape0, 0, 0);
      const f32 t15 = t14 + t2;
      all[thread] = t15;
    }
    BARRIER;
    for (u32 step = 1; step < threads; step <<= 1) {
      const f32 before = all[thread < step ? thread : thread - step];
      BARRIER;
      if (thread >= step) all[thread] = before + all[thread];
      BARRIER;
    }
    collected_v3 = all[thread];
    BARRIER;
  }
  {
    LOCAL u32 *all = (LOCAL u32 *)scratch;
    {
      // crates/folio-conformance/src/engine/kernels/group_code.rs
      u32 t17 = 0u;
      if (pos0 - n_p1_low0 < n_p1_size0) t17 = n_p1[pos0 - n_p1_low0];
      else outside(verdict, 7u, pos0, 0, 0, n_p1_shape0, 0, 0);
      all[thread] = t17;
    }
    BARRIER;
    for (u32 step = 1; step < threads; step <<= 1) {
      const u32 before = all[thread < step ? thread : thread - step];
      BARRIER;
      if (thread >= step) all[thread] = before ^ all[thread];
      BARRIER;
    }
    collected_v4 = thread == 0u ? 0u : all[thread - 1u];
    BARRIER;
  }
  {
    const f32 t18 = collected_v3;
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    if (pos0 - scans_p4_low0 < scans_p4_size0) scans_p4[pos0 - scans_p4_low0] = t18;
    else outside(verdict, 8u, pos0, 0, 0, scans_p4_shape0, 0, 0);
    const u32 t20 = collected_v4;
    const u32 t23 = (u32)local0;
    const u32 t24 = t20 + t23;
    const u32 t25 = (u32)group0;
    const u32 t26 = t24 + t25;
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    if (pos0 - before_p5_low0 < before_p5_size0) before_p5[pos0 - before_p5_low0] = t26;
    else outside(verdict, 9u, pos0, 0, 0, before_p5_shape0, 0, 0);
  }
  BARRIER;
}
// gathers
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[15]; } Block;
ENTRY(256) folio_gathers(
    const Block block,
    GLOBAL const i32 *RESTRICT at_p0_base,
    GLOBAL const f32 *RESTRICT x_p1_base,
    GLOBAL f32 *RESTRICT o_p2_base,
    GLOBAL Record *verdict) {
  const u64 at_p0_low0 = block.words[0];
  const u64 at_p0_size0 = block.words[1];
  const u64 at_p0_shape0 = block.words[2];
  const u64 x_p1_low0 = block.words[3];
  const u64 x_p1_size0 = block.words[4];
  const u64 x_p1_shape0 = block.words[5];
  const u64 o_p2_low0 = block.words[6];
  const u64 o_p2_size0 = block.words[7];
  const u64 o_p2_shape0 = block.words[8];
  const u64 first0 = block.words[9];
  const u64 offset0 = block.words[10];
  const u64 range0 = block.words[11];
  GLOBAL const i32 *at_p0 = at_p0_base + block.words[12];
  GLOBAL const f32 *x_p1 = x_p1_base + block.words[13];
  GLOBAL f32 *o_p2 = o_p2_base + block.words[14];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/code.rs
  i32 t1 = 0;
  if (pos0 - at_p0_low0 < at_p0_size0) t1 = at_p0[pos0 - at_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, at_p0_shape0, 0, 0);
  const u64 t2 = (u64)t1;
  // crates/folio-conformance/src/engine/kernels/code.rs
  f32 t3 = 0.0f;
  if (t2 - x_p1_low0 < x_p1_size0) t3 = x_p1[t2 - x_p1_low0];
  else outside(verdict, 2u, t2, 0, 0, x_p1_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (pos0 - o_p2_low0 < o_p2_size0) o_p2[pos0 - o_p2_low0] = t3;
  else outside(verdict, 3u, pos0, 0, 0, o_p2_shape0, 0, 0);
}
// generic_vectors
typedef struct { f32 x_f0; f32 y_f1; } V2_t0;
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_generic_vectors(
    const Block block,
    GLOBAL const V2_t0 *RESTRICT x_p0_base,
    GLOBAL f32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const V2_t0 *x_p0 = x_p0_base + block.words[9];
  GLOBAL f32 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  V2_t0 new_v0 = { 0.0f, 0.0f };
  V2_t0 mul_v1 = { 0.0f, 0.0f };
  V2_t0 new_v2 = { 0.0f, 0.0f };
  V2_t0 add_v3 = { 0.0f, 0.0f };
  V2_t0 new_v4 = { 0.0f, 0.0f };
  f32 norm2_v5 = 0.0f;
  f32 dot_v6 = 0.0f;
  const f32 t1 = (f32)3.0;
  const f32 t3 = (f32)7;
  {
    const V2_t0 t4 = { t1, t3 };
    new_v0 = t4;
  }
  const V2_t0 t5 = new_v0;
  // crates/folio-conformance/src/engine/kernels/language.rs
  V2_t0 t7 = { 0.0f, 0.0f };
  if (pos0 - x_p0_low0 < x_p0_size0) t7 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  {
    const f32 t9 = t5.x_f0;
    const f32 t10 = t9 * 1.0f;
    const f32 t11 = t5.y_f1;
    const f32 t12 = t11 * 1.0f;
    {
      const V2_t0 t13 = { t10, t12 };
      new_v2 = t13;
    }
    // crates/folio-conformance/src/engine/kernels/language.rs
    const V2_t0 t14 = new_v2;
    mul_v1 = t14;
  }
  const V2_t0 t15 = mul_v1;
  {
    const f32 t16 = t7.x_f0;
    const f32 t17 = t15.x_f0;
    const f32 t18 = t16 + t17;
    const f32 t19 = t7.y_f1;
    const f32 t20 = t15.y_f1;
    const f32 t21 = t19 + t20;
    {
      const V2_t0 t22 = { t18, t21 };
      new_v4 = t22;
    }
    // crates/folio-conformance/src/engine/kernels/language.rs
    const V2_t0 t23 = new_v4;
    add_v3 = t23;
  }
  const V2_t0 t24 = add_v3;
  {
    {
      const f32 t25 = t24.x_f0;
      const f32 t26 = t24.x_f0;
      const f32 t27 = t25 * t26;
      const f32 t28 = t24.y_f1;
      const f32 t29 = t24.y_f1;
      const f32 t30 = t28 * t29;
      const f32 t31 = t27 + t30;
      dot_v6 = t31;
    }
    // crates/folio-conformance/src/engine/kernels/language.rs
    const f32 t32 = dot_v6;
    norm2_v5 = t32;
  }
  const f32 t33 = norm2_v5;
  const f32 t35 = t33 - 0.0f;
  const f32 t36 = (f32)pos0;
  const f32 t37 = t35 + t36;
  // crates/folio-conformance/src/engine/kernels/language.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t37;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// generic_vectors
typedef struct { i64 x_f0; i64 y_f1; } V2_t0;
FN i64 i64_of_f64(f64 x) { return x >= -9.223372036854776e18 ? x < 9.223372036854776e18 ? (i64)x : 9223372036854775807l : x < 0 ? (-9223372036854775807l - 1l) : 0; }
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_generic_vectors(
    const Block block,
    GLOBAL const V2_t0 *RESTRICT x_p0_base,
    GLOBAL i64 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const V2_t0 *x_p0 = x_p0_base + block.words[9];
  GLOBAL i64 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  V2_t0 new_v0 = { 0l, 0l };
  V2_t0 mul_v1 = { 0l, 0l };
  V2_t0 new_v2 = { 0l, 0l };
  V2_t0 add_v3 = { 0l, 0l };
  V2_t0 new_v4 = { 0l, 0l };
  i64 norm2_v5 = 0l;
  i64 dot_v6 = 0l;
  const i64 t1 = i64_of_f64(3.0);
  const i64 t3 = (i64)7;
  {
    const V2_t0 t4 = { t1, t3 };
    new_v0 = t4;
  }
  const V2_t0 t5 = new_v0;
  // crates/folio-conformance/src/engine/kernels/language.rs
  V2_t0 t7 = { 0l, 0l };
  if (pos0 - x_p0_low0 < x_p0_size0) t7 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  {
    const i64 t9 = t5.x_f0;
    const i64 t10 = (i64)((u64)t9 * (u64)1l);
    const i64 t11 = t5.y_f1;
    const i64 t12 = (i64)((u64)t11 * (u64)1l);
    {
      const V2_t0 t13 = { t10, t12 };
      new_v2 = t13;
    }
    // crates/folio-conformance/src/engine/kernels/language.rs
    const V2_t0 t14 = new_v2;
    mul_v1 = t14;
  }
  const V2_t0 t15 = mul_v1;
  {
    const i64 t16 = t7.x_f0;
    const i64 t17 = t15.x_f0;
    const i64 t18 = (i64)((u64)t16 + (u64)t17);
    const i64 t19 = t7.y_f1;
    const i64 t20 = t15.y_f1;
    const i64 t21 = (i64)((u64)t19 + (u64)t20);
    {
      const V2_t0 t22 = { t18, t21 };
      new_v4 = t22;
    }
    // crates/folio-conformance/src/engine/kernels/language.rs
    const V2_t0 t23 = new_v4;
    add_v3 = t23;
  }
  const V2_t0 t24 = add_v3;
  {
    {
      const i64 t25 = t24.x_f0;
      const i64 t26 = t24.x_f0;
      const i64 t27 = (i64)((u64)t25 * (u64)t26);
      const i64 t28 = t24.y_f1;
      const i64 t29 = t24.y_f1;
      const i64 t30 = (i64)((u64)t28 * (u64)t29);
      const i64 t31 = (i64)((u64)t27 + (u64)t30);
      dot_v6 = t31;
    }
    // crates/folio-conformance/src/engine/kernels/language.rs
    const i64 t32 = dot_v6;
    norm2_v5 = t32;
  }
  const i64 t33 = norm2_v5;
  const i64 t35 = (i64)((u64)t33 - (u64)0l);
  const i64 t36 = (i64)pos0;
  const i64 t37 = (i64)((u64)t35 + (u64)t36);
  // crates/folio-conformance/src/engine/kernels/language.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t37;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// gives
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
FN u32 gap_of(u32 n) { u32 s = 1; while (s < n) s <<= 1; return s >> 1; }
typedef struct { u64 words[6]; } Block;
ENTRY(256) folio_gives(
    const Block block,
    GLOBAL u64 *y_p0_base,
    GLOBAL u64 *RESTRICT total_p1_base,
    GLOBAL Record *verdict,
    LOCAL u64 *scratch) {
  const u64 y_p0_low0 = block.words[0];
  const u64 y_p0_size0 = block.words[1];
  const u64 y_p0_shape0 = block.words[2];
  const u64 first0 = block.words[3];
  GLOBAL u64 *y_p0 = y_p0_base + block.words[4];
  GLOBAL u64 *total_p1 = total_p1_base + block.words[5];
  const u64 local0 = get_local_id(0);
  const u64 group0 = first0 + get_group_id(0);
  const u32 thread = (u32)(get_local_id(0));
  const u32 threads = (u32)(get_local_size(0));
  u64 total_p1_own = 0ul;
  {
    {
      total_p1_own = total_p1_own + local0;
    }
    BARRIER;
    if (thread == 0u) {
      // crates/folio-conformance/src/engine/kernels/limits.rs
      if (group0 - y_p0_low0 < y_p0_size0) y_p0[group0 - y_p0_low0] = 1ul;
      else outside(verdict, 1u, group0, 0, 0, y_p0_shape0, 0, 0);
    }
    BARRIER;
  }
  {
    LOCAL u64 *all = (LOCAL u64 *)scratch;
    all[thread] = total_p1_own;
    BARRIER;
    for (u32 gap = gap_of(threads); gap > 0u; gap >>= 1) {
      if (thread < gap && thread + gap < threads) all[thread] = all[thread] + all[thread + gap];
      BARRIER;
    }
    if (thread == 0u) total_p1[group0] = all[0];
    BARRIER;
  }
}
ENTRY(256) folio_gives_finish_p1(
    GLOBAL const u64 *RESTRICT in,
    GLOBAL u64 *RESTRICT out,
    const u64 values,
    const u64 place) {
  SHARED u64 lanes[256];
  const u64 from = (u64)get_group_id(0) * 4096;
  const u64 count = values - from;
  const u32 thread = (u32)get_local_id(0);
  const u32 threads = (u32)get_local_size(0);
  const u32 end = count < 4096 ? (u32)count : 4096u;
  for (u32 lane = thread; lane < 256u && lane < end; lane += threads) {
    u64 sum = in[from + lane];
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
// group_dot
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
// groups_of_rows
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[12]; } Block;
ENTRY(256) folio_groups_of_rows(
    const Block block,
    GLOBAL u32 *RESTRICT y_p0_base,
    GLOBAL Record *verdict) {
  const u64 y_p0_low0 = block.words[0];
  const u64 y_p0_size0 = block.words[1];
  const u64 y_p0_pitch0 = block.words[2];
  const u64 y_p0_low1 = block.words[3];
  const u64 y_p0_size1 = block.words[4];
  const u64 y_p0_shape0 = block.words[5];
  const u64 y_p0_shape1 = block.words[6];
  const u64 first0 = block.words[7];
  const u64 offset0 = block.words[8];
  const u64 first1 = block.words[9];
  const u64 offset1 = block.words[10];
  GLOBAL u32 *y_p0 = y_p0_base + block.words[11];
  const u64 size0 = get_local_size(1);
  const u64 local0 = get_local_id(1);
  const u64 group0 = first0 + get_group_id(1);
  const u64 pos0 = offset0 + group0 * size0 + local0;
  const u64 size1 = get_local_size(0);
  const u64 local1 = get_local_id(0);
  const u64 group1 = first1 + get_group_id(0);
  const u64 pos1 = offset1 + group1 * size1 + local1;
  {
    const u64 t5 = pos0 * 100ul;
    const u64 t7 = pos1 * 10ul;
    const u64 t8 = t5 + t7;
    const u64 t10 = local0 * 3ul;
    const u64 t11 = t8 + t10;
    const u64 t12 = t11 + local1;
    const u32 t13 = (u32)t12;
    // crates/folio-conformance/src/engine/kernels/limits.rs
    if (pos0 - y_p0_low0 < y_p0_size0 && pos1 - y_p0_low1 < y_p0_size1) y_p0[(pos0 - y_p0_low0) * y_p0_pitch0 + (pos1 - y_p0_low1)] = t13;
    else outside(verdict, 1u, pos0, pos1, 0, y_p0_shape0, y_p0_shape1, 0);
  }
  BARRIER;
}
// guarded
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
// guarded_space
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[33]; } Block;
ENTRY(256) folio_guarded_space(
    const Block block,
    GLOBAL const f32 *RESTRICT x_p0_base,
    GLOBAL f32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_shape0 = block.words[0];
  const u64 x_p0_shape2 = block.words[1];
  const u64 x_p0_low0 = block.words[2];
  const u64 x_p0_size0 = block.words[3];
  const u64 x_p0_pitch0 = block.words[4];
  const u64 x_p0_low1 = block.words[5];
  const u64 x_p0_size1 = block.words[6];
  const u64 x_p0_pitch1 = block.words[7];
  const u64 x_p0_low2 = block.words[8];
  const u64 x_p0_size2 = block.words[9];
  const u64 x_p0_shape1 = block.words[10];
  const u64 y_p1_low0 = block.words[11];
  const u64 y_p1_size0 = block.words[12];
  const u64 y_p1_pitch0 = block.words[13];
  const u64 y_p1_low1 = block.words[14];
  const u64 y_p1_size1 = block.words[15];
  const u64 y_p1_pitch1 = block.words[16];
  const u64 y_p1_low2 = block.words[17];
  const u64 y_p1_size2 = block.words[18];
  const u64 y_p1_shape0 = block.words[19];
  const u64 y_p1_shape1 = block.words[20];
  const u64 y_p1_shape2 = block.words[21];
  const u64 first0 = block.words[22];
  const u64 offset0 = block.words[23];
  const u64 range0 = block.words[24];
  const u64 first1 = block.words[25];
  const u64 offset1 = block.words[26];
  const u64 range1 = block.words[27];
  const u64 first2 = block.words[28];
  const u64 offset2 = block.words[29];
  const u64 range2 = block.words[30];
  GLOBAL const f32 *x_p0 = x_p0_base + block.words[31];
  GLOBAL f32 *y_p1 = y_p1_base + block.words[32];
  const u64 pos0 = first0 + (u64)get_group_id(2) * get_local_size(2) + get_local_id(2);
  const u64 pos1 = first1 + (u64)get_group_id(1) * get_local_size(1) + get_local_id(1);
  const u64 pos2 = first2 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0 || pos1 - offset1 >= range1 || pos2 - offset2 >= range2) return;
  bool lazy_v0 = false;
  const bool t7 = pos0 < 1ul;
  const bool t9 = pos2 < 2ul;
  const bool t10 = (t7 || t9);
  const u64 t12 = pos0 + 1ul;
  const bool t13 = t12 >= x_p0_shape0;
  lazy_v0 = t13;
  if (!t13) {
    const u64 t15 = pos2 + 1ul;
    const bool t16 = t15 >= x_p0_shape2;
    lazy_v0 = t16;
  }
  // crates/folio-conformance/src/engine/kernels/borders.rs
  const bool t17 = lazy_v0;
  const bool t18 = (t10 || t17);
  if (t18) {
    // crates/folio-conformance/src/engine/kernels/borders.rs
    f32 t19 = 0.0f;
    if (pos0 - x_p0_low0 < x_p0_size0 && pos1 - x_p0_low1 < x_p0_size1 && pos2 - x_p0_low2 < x_p0_size2) t19 = x_p0[(pos0 - x_p0_low0) * x_p0_pitch0 + (pos1 - x_p0_low1) * x_p0_pitch1 + (pos2 - x_p0_low2)];
    else outside(verdict, 1u, pos0, pos1, pos2, x_p0_shape0, x_p0_shape1, x_p0_shape2);
    const f32 t20 = -t19;
    // crates/folio-conformance/src/engine/kernels/borders.rs
    if (pos0 - y_p1_low0 < y_p1_size0 && pos1 - y_p1_low1 < y_p1_size1 && pos2 - y_p1_low2 < y_p1_size2) y_p1[(pos0 - y_p1_low0) * y_p1_pitch0 + (pos1 - y_p1_low1) * y_p1_pitch1 + (pos2 - y_p1_low2)] = t20;
    else outside(verdict, 2u, pos0, pos1, pos2, y_p1_shape0, y_p1_shape1, y_p1_shape2);
  } else {
    const u64 t22 = pos0 - 1ul;
    // crates/folio-conformance/src/engine/kernels/borders.rs
    f32 t23 = 0.0f;
    if (t22 - x_p0_low0 < x_p0_size0 && pos1 - x_p0_low1 < x_p0_size1 && pos2 - x_p0_low2 < x_p0_size2) t23 = x_p0[(t22 - x_p0_low0) * x_p0_pitch0 + (pos1 - x_p0_low1) * x_p0_pitch1 + (pos2 - x_p0_low2)];
    else outside(verdict, 3u, t22, pos1, pos2, x_p0_shape0, x_p0_shape1, x_p0_shape2);
    const u64 t25 = pos0 + 1ul;
    const u64 t27 = pos2 - 2ul;
    // crates/folio-conformance/src/engine/kernels/borders.rs
    f32 t28 = 0.0f;
    if (t25 - x_p0_low0 < x_p0_size0 && pos1 - x_p0_low1 < x_p0_size1 && t27 - x_p0_low2 < x_p0_size2) t28 = x_p0[(t25 - x_p0_low0) * x_p0_pitch0 + (pos1 - x_p0_low1) * x_p0_pitch1 + (t27 - x_p0_low2)];
    else outside(verdict, 4u, t25, pos1, t27, x_p0_shape0, x_p0_shape1, x_p0_shape2);
    const f32 t29 = t23 + t28;
    const u64 t31 = pos2 + 1ul;
    // crates/folio-conformance/src/engine/kernels/borders.rs
    f32 t32 = 0.0f;
    if (pos0 - x_p0_low0 < x_p0_size0 && pos1 - x_p0_low1 < x_p0_size1 && t31 - x_p0_low2 < x_p0_size2) t32 = x_p0[(pos0 - x_p0_low0) * x_p0_pitch0 + (pos1 - x_p0_low1) * x_p0_pitch1 + (t31 - x_p0_low2)];
    else outside(verdict, 5u, pos0, pos1, t31, x_p0_shape0, x_p0_shape1, x_p0_shape2);
    const f32 t33 = t29 + t32;
    // crates/folio-conformance/src/engine/kernels/borders.rs
    if (pos0 - y_p1_low0 < y_p1_size0 && pos1 - y_p1_low1 < y_p1_size1 && pos2 - y_p1_low2 < y_p1_size2) y_p1[(pos0 - y_p1_low0) * y_p1_pitch0 + (pos1 - y_p1_low1) * y_p1_pitch1 + (pos2 - y_p1_low2)] = t33;
    else outside(verdict, 6u, pos0, pos1, pos2, y_p1_shape0, y_p1_shape1, y_p1_shape2);
  }
}
// halo
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[10]; } Block;
ENTRY(256) folio_halo(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL i32 *RESTRICT y_p2_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_shape0 = block.words[0];
  const u64 x_p0_low0 = block.words[1];
  const u64 x_p0_size0 = block.words[2];
  const u64 y_p2_low0 = block.words[3];
  const u64 y_p2_size0 = block.words[4];
  const u64 y_p2_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  GLOBAL const i32 *x_p0 = x_p0_base + block.words[8];
  GLOBAL i32 *y_p2 = y_p2_base + block.words[9];
  const u64 size0 = get_local_size(0);
  const u64 local0 = get_local_id(0);
  const u64 group0 = first0 + get_group_id(0);
  const u64 pos0 = offset0 + group0 * size0 + local0;
  const u32 thread = (u32)(get_local_id(0));
  const u32 threads = (u32)(get_local_size(0));
  SHARED i32 tile_p1[18];
  for (u32 k = thread; k < 18u; k += threads) {
    const i32 zero = 0;
    tile_p1[k] = zero;
  }
  BARRIER;
  i32 if_v0 = 0;
  const u64 t2 = group0 * size0;
  {
    const u64 t5 = 17ul + size0;
    const u64 t6 = t5 - local0;
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    if (size0 == 0) fail(verdict, 1u);
    const u64 t7 = size0 == 0 ? 0 : (u64)(t6 / size0);
    for (u64 k8 = 0ul; k8 < t7; k8++) {
      const u64 t9 = k8 * size0;
      const u64 t10 = t9 + local0;
      const u64 t11 = t2 + t10;
      const u64 t13 = size0 + 2ul;
      const bool t14 = t10 < t13;
      const bool t16 = t11 > 0ul;
      const bool t17 = (t14 && t16);
      const bool t19 = t11 <= x_p0_shape0;
      const bool t20 = (t17 && t19);
      if (t20) {
        const u64 t22 = t11 - 1ul;
        // crates/folio-conformance/src/engine/kernels/group_code.rs
        i32 t23 = 0;
        if (t22 - x_p0_low0 < x_p0_size0) t23 = x_p0[t22 - x_p0_low0];
        else outside(verdict, 2u, t22, 0, 0, x_p0_shape0, 0, 0);
        if_v0 = t23;
      } else {
        if_v0 = 0;
      }
      const i32 t25 = if_v0;
      if (t10 < 18ul) tile_p1[t10] = t25;
      else outside(verdict, 3u, t10, 0, 0, 18ul, 0, 0);
    }
  }
  BARRIER;
  {
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    i32 t28 = 0;
    if (local0 < 18ul) t28 = tile_p1[local0];
    else outside(verdict, 4u, local0, 0, 0, 18ul, 0, 0);
    const u64 t31 = local0 + 1ul;
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    i32 t32 = 0;
    if (t31 < 18ul) t32 = tile_p1[t31];
    else outside(verdict, 5u, t31, 0, 0, 18ul, 0, 0);
    const i32 t33 = (i32)((u32)10 * (u32)t32);
    const i32 t34 = (i32)((u32)t28 + (u32)t33);
    const u64 t37 = local0 + 2ul;
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    i32 t38 = 0;
    if (t37 < 18ul) t38 = tile_p1[t37];
    else outside(verdict, 6u, t37, 0, 0, 18ul, 0, 0);
    const i32 t39 = (i32)((u32)100 * (u32)t38);
    const i32 t40 = (i32)((u32)t34 + (u32)t39);
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    if (pos0 - y_p2_low0 < y_p2_size0) y_p2[pos0 - y_p2_low0] = t40;
    else outside(verdict, 7u, pos0, 0, 0, y_p2_shape0, 0, 0);
  }
  BARRIER;
}
// halts
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
FN i32 div_i32(i32 a, i32 b) { return b == -1 ? (i32)((u32)0 - (u32)a) : (i32)(a / b); }
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_halts(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL i32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const i32 *x_p0 = x_p0_base + block.words[9];
  GLOBAL i32 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  i32 l3_v0 = 0;
  i32 reciprocal_v1 = 0;
  l3_v0 = 0;
  for (u64 turn0 = 0; turn0 >> 63 == 0; turn0++) {
    const i32 t1 = l3_v0;
    const bool t3 = t1 == 0;
    if (!t3) {
      break;
    }
    // crates/folio-conformance/src/engine/kernels/language.rs
    i32 t5 = 0;
    if (pos0 - x_p0_low0 < x_p0_size0) t5 = x_p0[pos0 - x_p0_low0];
    else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
    {
      const bool t7 = t5 != 40;
      // crates/folio-conformance/src/engine/kernels/language.rs
      if (!t7) {
        fail(verdict, 2u);
        return;
      }
      // crates/folio-conformance/src/engine/kernels/language.rs
      if (t5 == 0) fail(verdict, 3u);
      const i32 t9 = t5 == 0 ? 0 : div_i32(1000, t5);
      reciprocal_v1 = t9;
    }
    const i32 t10 = reciprocal_v1;
    l3_v0 = t10;
  }
  const i32 t11 = l3_v0;
  // crates/folio-conformance/src/engine/kernels/language.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t11;
  else outside(verdict, 4u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// halves
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
FN f32 odd_of_f64(f64 x) {
  const f32 y = (f32)x;
  if (x != x || (f64)y == x) return y;
  const u32 bits = BITS_F32(y);
  const bool away = (f64)F32_BITS(bits & 0x7fffffffu) > (x < 0 ? -x : x);
  return F32_BITS((away ? bits - 1u : bits) | 1u);
}
FN f16 f16_of_f32(f32 x) { f16 y; vstore_half_rte(x, 0, (half *)&y); return y; }
FN f32 f32_of_f16(f16 x) { return vload_half(0, (const half *)&x); }
FN f32 min_f32(f32 a, f32 b) { return b != b || a < b || (a == b && (BITS_F32(a) >> 31) != 0) ? a : b; }
FN f32 max_f32(f32 a, f32 b) { return b != b || a > b || (a == b && (BITS_F32(a) >> 31) == 0) ? a : b; }
#ifdef POCL_DEVICE_ADDRESS_BITS
#define OR_NAN(of, nan, x) ((of) != (of) ? (nan) : (x))
#else
#define OR_NAN(of, nan, x) x
#endif
FN i32 i32_of_f32(f32 x) { return x >= -2147483648.0f ? x < 2147483648.0f ? (i32)x : 2147483647 : x < 0 ? (-2147483647 - 1) : 0; }
FN i32 i32_of_f64(f64 x) { return x >= -2147483648.0 ? x < 2147483648.0 ? (i32)x : 2147483647 : x < 0 ? (-2147483647 - 1) : 0; }
FN i32 rem_i32(i32 a, i32 b) { return b == -1 ? 0 : (i32)(a % b); }
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_halves(
    const Block block,
    GLOBAL const f16 *RESTRICT x_p0_base,
    GLOBAL f16 *RESTRICT y_p1_base,
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
  GLOBAL const f16 *x_p0 = x_p0_base + block.words[9];
  GLOBAL f16 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  f16 l6_v0 = 0x0;
  f16 if_v1 = 0x0;
  f16 l8_v2 = 0x0;
  f16 if_v3 = 0x0;
  // crates/folio-conformance/src/engine/kernels/language.rs
  f16 t1 = 0x0;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const u64 t3 = pos0 * 7ul;
  const u64 t5 = t3 + 3ul;
  // crates/folio-conformance/src/engine/kernels/language.rs
  if (x_p0_shape0 == 0) fail(verdict, 2u);
  const u64 t7 = x_p0_shape0 == 0 ? 0 : (u64)(t5 % x_p0_shape0);
  // crates/folio-conformance/src/engine/kernels/language.rs
  f16 t8 = 0x0;
  if (t7 - x_p0_low0 < x_p0_size0) t8 = x_p0[t7 - x_p0_low0];
  else outside(verdict, 3u, t7, 0, 0, x_p0_shape0, 0, 0);
  const f16 t10 = f16_of_f32(odd_of_f64(1.5));
  const f16 t11 = f16_of_f32(f32_of_f16(t1) * f32_of_f16(t8));
  const f16 t12 = f16_of_f32(f32_of_f16(t10) / f32_of_f16(t1));
  const f16 t13 = f16_of_f32(f32_of_f16(t11) + f32_of_f16(t12));
  const f16 t14 = f16_of_f32(fmod(f32_of_f16(t8), f32_of_f16(t10)));
  const f16 t15 = f16_of_f32(f32_of_f16(t13) - f32_of_f16(t14));
  l6_v0 = t15;
  const f16 t16 = f16_of_f32(fma(f32_of_f16(t1), f32_of_f16(t8), f32_of_f16(t10)));
  const f16 t17 = f16_of_f32(fabs(f32_of_f16(t16)));
  const f16 t18 = f16_of_f32(min_f32(f32_of_f16(t17), f32_of_f16(t8)));
  const f16 t19 = f16_of_f32(max_f32(f32_of_f16(t18), f32_of_f16(t10)));
  const f16 t20 = f16_of_f32(sqrt(f32_of_f16(t19)));
  // crates/folio-conformance/src/engine/kernels/language.rs
  const f16 t21 = l6_v0;
  const f16 t22 = f16_of_f32(f32_of_f16(t21) + f32_of_f16(t20));
  l6_v0 = t22;
  const bool t23 = f32_of_f16(t1) < f32_of_f16(t8);
  const f16 t25 = f16_of_f32(fabs(f32_of_f16(t1)));
  const bool t26 = f32_of_f16(t25) == f32_of_f16(0x7c00);
  const bool t27 = (t23 || t26);
  if (t27) {
    // crates/folio-conformance/src/engine/kernels/language.rs
    const f16 t28 = l6_v0;
    const f16 t29 = f16_of_f32(OR_NAN(f32_of_f16(t28), f32_of_f16(t28), floor(f32_of_f16(t28))));
    if_v1 = t29;
  } else {
    // crates/folio-conformance/src/engine/kernels/language.rs
    const f16 t30 = l6_v0;
    const f16 t31 = f16_of_f32(copysign(f32_of_f16(t30), f32_of_f16(t8)));
    const f16 t32 = f16_of_f32(-f32_of_f16(t31));
    if_v1 = t32;
  }
  // crates/folio-conformance/src/engine/kernels/language.rs
  const f16 t33 = if_v1;
  l6_v0 = t33;
  const i32 t34 = i32_of_f32(f32_of_f16(t1));
  const f64 t35 = (f64)f32_of_f16(t8);
  const f64 t37 = t35 * 3.0;
  const i32 t38 = i32_of_f64(t37);
  // crates/folio-conformance/src/engine/kernels/language.rs
  const i32 t40 = rem_i32(t38, 7);
  const i32 t41 = (i32)((u32)t34 + (u32)t40);
  // crates/folio-conformance/src/engine/kernels/language.rs
  const f16 t42 = l6_v0;
  const f16 t43 = f16_of_f32((f32)t41);
  const f16 t44 = f16_of_f32(f32_of_f16(t42) + f32_of_f16(t43));
  const f32 t45 = (f32)f32_of_f16(t1);
  const f32 t47 = t45 * 0.1f;
  const f16 t48 = f16_of_f32(t47);
  const f16 t49 = f16_of_f32(f32_of_f16(t44) + f32_of_f16(t48));
  const f64 t50 = (f64)f32_of_f16(t1);
  const f64 t52 = t50 / 3.0;
  const f16 t53 = f16_of_f32(odd_of_f64(t52));
  const f16 t54 = f16_of_f32(f32_of_f16(t49) + f32_of_f16(t53));
  l8_v2 = t54;
  const u16 t55 = (u16)t1;
  const u16 t57 = (u16)((u32)t55 & (u32)33791);
  const f16 t58 = (f16)t57;
  const f16 t59 = f16_of_f32(OR_NAN(f32_of_f16(t8), f32_of_f16(t8), trunc(f32_of_f16(t8))));
  const f16 t60 = f16_of_f32(f32_of_f16(t8) - f32_of_f16(t59));
  const f16 t61 = f16_of_f32(f32_of_f16(t58) + f32_of_f16(t60));
  const f16 t63 = f16_of_f32(copysign(f32_of_f16(0x3c00), f32_of_f16(t10)));
  const bool t64 = f32_of_f16(t10) != f32_of_f16(t10);
  const f16 t65 = t64 ? t10 : t63;
  const f16 t66 = f16_of_f32(f32_of_f16(t61) + f32_of_f16(t65));
  // crates/folio-conformance/src/engine/kernels/language.rs
  const f16 t67 = l8_v2;
  const f16 t68 = f16_of_f32(f32_of_f16(t67) + f32_of_f16(t66));
  l8_v2 = t68;
  // crates/folio-conformance/src/engine/kernels/language.rs
  const f16 t69 = l8_v2;
  const bool t70 = f32_of_f16(t69) != f32_of_f16(t69);
  if (t70) {
    if_v3 = 0x3c00;
  } else {
    // crates/folio-conformance/src/engine/kernels/language.rs
    const f16 t72 = l8_v2;
    if_v3 = t72;
  }
  const f16 t73 = if_v3;
  // crates/folio-conformance/src/engine/kernels/language.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t73;
  else outside(verdict, 4u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// hides
typedef struct { f32 x_f0; f32 y_f1; } V2_t0;
typedef struct { V2_t0 at[2]; } array_t1;
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_hides(
    const Block block,
    GLOBAL const f32 *RESTRICT x_p0_base,
    GLOBAL f32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
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
  f32 l3_v0 = 0.0f;
  u32 order_v1 = 0u;
  u64 l4_v2 = 0ul;
  array_t1 l5_v3 = { { { 0.0f, 0.0f } } };
  // crates/folio-conformance/src/engine/kernels/language.rs
  f32 t1 = 0.0f;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  l3_v0 = t1;
  const f32 t2 = l3_v0;
  const bool t4 = t2 > 0.5f;
  if (t4) {
    l3_v0 = 0.5f;
  }
  // crates/folio-conformance/src/engine/kernels/language.rs
  const f32 t6 = l3_v0;
  const bool t8 = t6 > 0.0f;
  // crates/folio-conformance/src/engine/kernels/language.rs
  const f32 t9 = l3_v0;
  const bool t11 = t9 < 0.25f;
  {
    const bool t12 = !t8;
    const bool t13 = (t12 && t11);
    const u32 t14 = (u32)t13;
    const bool t16 = !t8;
    const bool t17 = (t16 || t11);
    const u32 t18 = (u32)t17;
    const u32 t19 = 2u * t18;
    const u32 t20 = t14 + t19;
    const bool t22 = !t11;
    const bool t23 = (t8 && t22);
    const u32 t24 = (u32)t23;
    const u32 t25 = 4u * t24;
    const u32 t26 = t20 + t25;
    const bool t28 = !t11;
    const bool t29 = (t8 || t28);
    const u32 t30 = (u32)t29;
    const u32 t31 = 8u * t30;
    const u32 t32 = t26 + t31;
    order_v1 = t32;
  }
  // crates/folio-conformance/src/engine/kernels/language.rs
  const u32 t33 = order_v1;
  const f32 t34 = (f32)t33;
  const f32 t35 = l3_v0;
  const f32 t36 = t35 + t34;
  l3_v0 = t36;
  l4_v2 = pos0;
  // crates/folio-conformance/src/engine/kernels/language.rs
  const u64 t37 = l4_v2;
  const u64 t39 = t37 * 2ul;
  l4_v2 = t39;
  // crates/folio-conformance/src/engine/kernels/language.rs
  const u64 t41 = l4_v2;
  const u64 t42 = t41 + 1ul;
  l4_v2 = t42;
  // crates/folio-conformance/src/engine/kernels/language.rs
  const f32 t43 = l3_v0;
  const V2_t0 t45 = { t43, 1.0f };
  const array_t1 t46 = { { t45, t45 } };
  l5_v3 = t46;
  const u64 t48 = l4_v2;
  // crates/folio-conformance/src/engine/kernels/language.rs
  const u64 t50 = (u64)(t48 % 2ul);
  if (t50 < 2ul) l5_v3.at[t50].x_f0 = 3.0f;
  else outside(verdict, 2u, t50, 0, 0, 2ul, 0, 0);
  const f32 t51 = l3_v0;
  // crates/folio-conformance/src/engine/kernels/language.rs
  const f32 t53 = l5_v3.at[0ul].y_f1;
  const f32 t54 = t53 - t51;
  l5_v3.at[0ul].y_f1 = t54;
  // crates/folio-conformance/src/engine/kernels/language.rs
  const V2_t0 t56 = l5_v3.at[1ul];
  // crates/folio-conformance/src/engine/kernels/language.rs
  const V2_t0 t58 = l5_v3.at[0ul];
  const array_t1 t59 = { { t56, t58 } };
  l5_v3 = t59;
  // crates/folio-conformance/src/engine/kernels/language.rs
  const V2_t0 t61 = l5_v3.at[0ul];
  const f32 t62 = t61.x_f0;
  // crates/folio-conformance/src/engine/kernels/language.rs
  const V2_t0 t64 = l5_v3.at[1ul];
  const f32 t65 = t64.y_f1;
  const u64 t66 = l4_v2;
  const f32 t67 = (f32)t66;
  const f32 t68 = t65 * t67;
  const f32 t69 = t62 + t68;
  // crates/folio-conformance/src/engine/kernels/language.rs
  const f32 t70 = l3_v0;
  const f32 t71 = t69 - t70;
  // crates/folio-conformance/src/engine/kernels/language.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t71;
  else outside(verdict, 3u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// histogram
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_histogram(
    const Block block,
    GLOBAL const u32 *RESTRICT x_p0_base,
    GLOBAL u32 *bins_p1_base,
    GLOBAL Record *verdict) {
  const u64 bins_p1_shape0 = block.words[0];
  const u64 x_p0_low0 = block.words[1];
  const u64 x_p0_size0 = block.words[2];
  const u64 x_p0_shape0 = block.words[3];
  const u64 bins_p1_low0 = block.words[4];
  const u64 bins_p1_size0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const u32 *x_p0 = x_p0_base + block.words[9];
  GLOBAL u32 *bins_p1 = bins_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/group_code.rs
  u32 t1 = 0u;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const u32 t3 = (u32)bins_p1_shape0;
  if (t3 == 0) fail(verdict, 2u);
  const u32 t4 = t3 == 0 ? 0 : (u32)(t1 % t3);
  const u64 t5 = (u64)t4;
  // crates/folio-conformance/src/engine/kernels/group_code.rs
  if (t5 - bins_p1_low0 < bins_p1_size0) atomic_add((volatile GLOBAL u32 *)&bins_p1[t5 - bins_p1_low0], (u32)1u);
  else outside(verdict, 3u, t5, 0, 0, bins_p1_shape0, 0, 0);
}
// hypot_of
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[15]; } Block;
ENTRY(256) folio_hypot_of(
    const Block block,
    GLOBAL const f32 *RESTRICT a_p0_base,
    GLOBAL const f32 *RESTRICT b_p1_base,
    GLOBAL f32 *RESTRICT y_p2_base,
    GLOBAL Record *verdict) {
  const u64 a_p0_low0 = block.words[0];
  const u64 a_p0_size0 = block.words[1];
  const u64 a_p0_shape0 = block.words[2];
  const u64 b_p1_low0 = block.words[3];
  const u64 b_p1_size0 = block.words[4];
  const u64 b_p1_shape0 = block.words[5];
  const u64 y_p2_low0 = block.words[6];
  const u64 y_p2_size0 = block.words[7];
  const u64 y_p2_shape0 = block.words[8];
  const u64 first0 = block.words[9];
  const u64 offset0 = block.words[10];
  const u64 range0 = block.words[11];
  GLOBAL const f32 *a_p0 = a_p0_base + block.words[12];
  GLOBAL const f32 *b_p1 = b_p1_base + block.words[13];
  GLOBAL f32 *y_p2 = y_p2_base + block.words[14];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f32 t1 = 0.0f;
  if (pos0 - a_p0_low0 < a_p0_size0) t1 = a_p0[pos0 - a_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, a_p0_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f32 t2 = 0.0f;
  if (pos0 - b_p1_low0 < b_p1_size0) t2 = b_p1[pos0 - b_p1_low0];
  else outside(verdict, 2u, pos0, 0, 0, b_p1_shape0, 0, 0);
  const f32 t3 = hypot(t1, t2);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p2_low0 < y_p2_size0) y_p2[pos0 - y_p2_low0] = t3;
  else outside(verdict, 3u, pos0, 0, 0, y_p2_shape0, 0, 0);
}
// hypot_of
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[15]; } Block;
ENTRY(256) folio_hypot_of(
    const Block block,
    GLOBAL const f64 *RESTRICT a_p0_base,
    GLOBAL const f64 *RESTRICT b_p1_base,
    GLOBAL f64 *RESTRICT y_p2_base,
    GLOBAL Record *verdict) {
  const u64 a_p0_low0 = block.words[0];
  const u64 a_p0_size0 = block.words[1];
  const u64 a_p0_shape0 = block.words[2];
  const u64 b_p1_low0 = block.words[3];
  const u64 b_p1_size0 = block.words[4];
  const u64 b_p1_shape0 = block.words[5];
  const u64 y_p2_low0 = block.words[6];
  const u64 y_p2_size0 = block.words[7];
  const u64 y_p2_shape0 = block.words[8];
  const u64 first0 = block.words[9];
  const u64 offset0 = block.words[10];
  const u64 range0 = block.words[11];
  GLOBAL const f64 *a_p0 = a_p0_base + block.words[12];
  GLOBAL const f64 *b_p1 = b_p1_base + block.words[13];
  GLOBAL f64 *y_p2 = y_p2_base + block.words[14];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f64 t1 = 0.0;
  if (pos0 - a_p0_low0 < a_p0_size0) t1 = a_p0[pos0 - a_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, a_p0_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f64 t2 = 0.0;
  if (pos0 - b_p1_low0 < b_p1_size0) t2 = b_p1[pos0 - b_p1_low0];
  else outside(verdict, 2u, pos0, 0, 0, b_p1_shape0, 0, 0);
  const f64 t3 = hypot(t1, t2);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p2_low0 < y_p2_size0) y_p2[pos0 - y_p2_low0] = t3;
  else outside(verdict, 3u, pos0, 0, 0, y_p2_shape0, 0, 0);
}
// in_groups
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[22]; } Block;
ENTRY(256) folio_in_groups(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL i32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 groups0 = block.words[0];
  const u64 groups1 = block.words[1];
  const u64 x_p0_low0 = block.words[2];
  const u64 x_p0_size0 = block.words[3];
  const u64 x_p0_pitch0 = block.words[4];
  const u64 x_p0_low1 = block.words[5];
  const u64 x_p0_size1 = block.words[6];
  const u64 x_p0_shape0 = block.words[7];
  const u64 x_p0_shape1 = block.words[8];
  const u64 y_p1_low0 = block.words[9];
  const u64 y_p1_size0 = block.words[10];
  const u64 y_p1_pitch0 = block.words[11];
  const u64 y_p1_low1 = block.words[12];
  const u64 y_p1_size1 = block.words[13];
  const u64 y_p1_shape0 = block.words[14];
  const u64 y_p1_shape1 = block.words[15];
  const u64 first0 = block.words[16];
  const u64 offset0 = block.words[17];
  const u64 first1 = block.words[18];
  const u64 offset1 = block.words[19];
  GLOBAL const i32 *x_p0 = x_p0_base + block.words[20];
  GLOBAL i32 *y_p1 = y_p1_base + block.words[21];
  const u64 size0 = get_local_size(1);
  const u64 local0 = get_local_id(1);
  const u64 group0 = first0 + get_group_id(1);
  const u64 pos0 = offset0 + group0 * size0 + local0;
  const u64 size1 = get_local_size(0);
  const u64 local1 = get_local_id(0);
  const u64 group1 = first1 + get_group_id(0);
  const u64 pos1 = offset1 + group1 * size1 + local1;
  {
    const u64 t8 = group0 * size0;
    const u64 t9 = t8 + local0;
    const u64 t10 = group1 * size1;
    const u64 t11 = t10 + local1;
    // crates/folio-conformance/src/engine/kernels/positions.rs
    i32 t12 = 0;
    if (t9 - x_p0_low0 < x_p0_size0 && t11 - x_p0_low1 < x_p0_size1) t12 = x_p0[(t9 - x_p0_low0) * x_p0_pitch0 + (t11 - x_p0_low1)];
    else outside(verdict, 1u, t9, t11, 0, x_p0_shape0, x_p0_shape1, 0);
    const u64 t13 = local0 * size1;
    const u64 t14 = t13 + local1;
    const i32 t15 = (i32)t14;
    const i32 t16 = (i32)((u32)t12 * (u32)t15);
    const u64 t17 = groups0 * groups1;
    const i32 t18 = (i32)t17;
    const i32 t19 = (i32)((u32)t16 - (u32)t18);
    // crates/folio-conformance/src/engine/kernels/positions.rs
    if (pos0 - y_p1_low0 < y_p1_size0 && pos1 - y_p1_low1 < y_p1_size1) y_p1[(pos0 - y_p1_low0) * y_p1_pitch0 + (pos1 - y_p1_low1)] = t19;
    else outside(verdict, 2u, pos0, pos1, 0, y_p1_shape0, y_p1_shape1, 0);
  }
  BARRIER;
}
// inner_line
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_inner_line(
    const Block block,
    GLOBAL const f32 *RESTRICT x_p0_base,
    GLOBAL f32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
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
  const u64 t3 = pos0 - 1ul;
  // crates/folio-conformance/src/engine/kernels/borders.rs
  f32 t4 = 0.0f;
  if (t3 - x_p0_low0 < x_p0_size0) t4 = x_p0[t3 - x_p0_low0];
  else outside(verdict, 1u, t3, 0, 0, x_p0_shape0, 0, 0);
  const u64 t6 = pos0 + 1ul;
  // crates/folio-conformance/src/engine/kernels/borders.rs
  f32 t7 = 0.0f;
  if (t6 - x_p0_low0 < x_p0_size0) t7 = x_p0[t6 - x_p0_low0];
  else outside(verdict, 2u, t6, 0, 0, x_p0_shape0, 0, 0);
  const f32 t8 = t4 + t7;
  const f32 t9 = 0.5f * t8;
  // crates/folio-conformance/src/engine/kernels/borders.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t9;
  else outside(verdict, 3u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// inner_plane
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[22]; } Block;
ENTRY(256) folio_inner_plane(
    const Block block,
    GLOBAL const f32 *RESTRICT x_p0_base,
    GLOBAL f32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_pitch0 = block.words[2];
  const u64 x_p0_low1 = block.words[3];
  const u64 x_p0_size1 = block.words[4];
  const u64 x_p0_shape0 = block.words[5];
  const u64 x_p0_shape1 = block.words[6];
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
  const u64 t4 = pos0 - 1ul;
  // crates/folio-conformance/src/engine/kernels/borders.rs
  f32 t5 = 0.0f;
  if (t4 - x_p0_low0 < x_p0_size0 && pos1 - x_p0_low1 < x_p0_size1) t5 = x_p0[(t4 - x_p0_low0) * x_p0_pitch0 + (pos1 - x_p0_low1)];
  else outside(verdict, 1u, t4, pos1, 0, x_p0_shape0, x_p0_shape1, 0);
  const u64 t7 = pos0 + 1ul;
  // crates/folio-conformance/src/engine/kernels/borders.rs
  f32 t8 = 0.0f;
  if (t7 - x_p0_low0 < x_p0_size0 && pos1 - x_p0_low1 < x_p0_size1) t8 = x_p0[(t7 - x_p0_low0) * x_p0_pitch0 + (pos1 - x_p0_low1)];
  else outside(verdict, 2u, t7, pos1, 0, x_p0_shape0, x_p0_shape1, 0);
  const f32 t9 = t5 + t8;
  const u64 t11 = pos1 - 1ul;
  // crates/folio-conformance/src/engine/kernels/borders.rs
  f32 t12 = 0.0f;
  if (pos0 - x_p0_low0 < x_p0_size0 && t11 - x_p0_low1 < x_p0_size1) t12 = x_p0[(pos0 - x_p0_low0) * x_p0_pitch0 + (t11 - x_p0_low1)];
  else outside(verdict, 3u, pos0, t11, 0, x_p0_shape0, x_p0_shape1, 0);
  const f32 t13 = t9 + t12;
  const u64 t15 = pos1 + 1ul;
  // crates/folio-conformance/src/engine/kernels/borders.rs
  f32 t16 = 0.0f;
  if (pos0 - x_p0_low0 < x_p0_size0 && t15 - x_p0_low1 < x_p0_size1) t16 = x_p0[(pos0 - x_p0_low0) * x_p0_pitch0 + (t15 - x_p0_low1)];
  else outside(verdict, 4u, pos0, t15, 0, x_p0_shape0, x_p0_shape1, 0);
  const f32 t17 = t13 + t16;
  const f32 t18 = 0.25f * t17;
  // crates/folio-conformance/src/engine/kernels/borders.rs
  if (pos0 - y_p1_low0 < y_p1_size0 && pos1 - y_p1_low1 < y_p1_size1) y_p1[(pos0 - y_p1_low0) * y_p1_pitch0 + (pos1 - y_p1_low1)] = t18;
  else outside(verdict, 5u, pos0, pos1, 0, y_p1_shape0, y_p1_shape1, 0);
}
// inner_space
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[33]; } Block;
ENTRY(256) folio_inner_space(
    const Block block,
    GLOBAL const f32 *RESTRICT x_p0_base,
    GLOBAL f32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_pitch0 = block.words[2];
  const u64 x_p0_low1 = block.words[3];
  const u64 x_p0_size1 = block.words[4];
  const u64 x_p0_pitch1 = block.words[5];
  const u64 x_p0_low2 = block.words[6];
  const u64 x_p0_size2 = block.words[7];
  const u64 x_p0_shape0 = block.words[8];
  const u64 x_p0_shape1 = block.words[9];
  const u64 x_p0_shape2 = block.words[10];
  const u64 y_p1_low0 = block.words[11];
  const u64 y_p1_size0 = block.words[12];
  const u64 y_p1_pitch0 = block.words[13];
  const u64 y_p1_low1 = block.words[14];
  const u64 y_p1_size1 = block.words[15];
  const u64 y_p1_pitch1 = block.words[16];
  const u64 y_p1_low2 = block.words[17];
  const u64 y_p1_size2 = block.words[18];
  const u64 y_p1_shape0 = block.words[19];
  const u64 y_p1_shape1 = block.words[20];
  const u64 y_p1_shape2 = block.words[21];
  const u64 first0 = block.words[22];
  const u64 offset0 = block.words[23];
  const u64 range0 = block.words[24];
  const u64 first1 = block.words[25];
  const u64 offset1 = block.words[26];
  const u64 range1 = block.words[27];
  const u64 first2 = block.words[28];
  const u64 offset2 = block.words[29];
  const u64 range2 = block.words[30];
  GLOBAL const f32 *x_p0 = x_p0_base + block.words[31];
  GLOBAL f32 *y_p1 = y_p1_base + block.words[32];
  const u64 pos0 = first0 + (u64)get_group_id(2) * get_local_size(2) + get_local_id(2);
  const u64 pos1 = first1 + (u64)get_group_id(1) * get_local_size(1) + get_local_id(1);
  const u64 pos2 = first2 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0 || pos1 - offset1 >= range1 || pos2 - offset2 >= range2) return;
  const u64 t4 = pos0 - 1ul;
  // crates/folio-conformance/src/engine/kernels/borders.rs
  f32 t5 = 0.0f;
  if (t4 - x_p0_low0 < x_p0_size0 && pos1 - x_p0_low1 < x_p0_size1 && pos2 - x_p0_low2 < x_p0_size2) t5 = x_p0[(t4 - x_p0_low0) * x_p0_pitch0 + (pos1 - x_p0_low1) * x_p0_pitch1 + (pos2 - x_p0_low2)];
  else outside(verdict, 1u, t4, pos1, pos2, x_p0_shape0, x_p0_shape1, x_p0_shape2);
  const u64 t7 = pos0 + 1ul;
  const u64 t9 = pos2 - 2ul;
  // crates/folio-conformance/src/engine/kernels/borders.rs
  f32 t10 = 0.0f;
  if (t7 - x_p0_low0 < x_p0_size0 && pos1 - x_p0_low1 < x_p0_size1 && t9 - x_p0_low2 < x_p0_size2) t10 = x_p0[(t7 - x_p0_low0) * x_p0_pitch0 + (pos1 - x_p0_low1) * x_p0_pitch1 + (t9 - x_p0_low2)];
  else outside(verdict, 2u, t7, pos1, t9, x_p0_shape0, x_p0_shape1, x_p0_shape2);
  const f32 t11 = t5 + t10;
  const u64 t13 = pos2 + 1ul;
  // crates/folio-conformance/src/engine/kernels/borders.rs
  f32 t14 = 0.0f;
  if (pos0 - x_p0_low0 < x_p0_size0 && pos1 - x_p0_low1 < x_p0_size1 && t13 - x_p0_low2 < x_p0_size2) t14 = x_p0[(pos0 - x_p0_low0) * x_p0_pitch0 + (pos1 - x_p0_low1) * x_p0_pitch1 + (t13 - x_p0_low2)];
  else outside(verdict, 3u, pos0, pos1, t13, x_p0_shape0, x_p0_shape1, x_p0_shape2);
  const f32 t15 = t11 + t14;
  // crates/folio-conformance/src/engine/kernels/borders.rs
  if (pos0 - y_p1_low0 < y_p1_size0 && pos1 - y_p1_low1 < y_p1_size1 && pos2 - y_p1_low2 < y_p1_size2) y_p1[(pos0 - y_p1_low0) * y_p1_pitch0 + (pos1 - y_p1_low1) * y_p1_pitch1 + (pos2 - y_p1_low2)] = t15;
  else outside(verdict, 4u, pos0, pos1, pos2, y_p1_shape0, y_p1_shape1, y_p1_shape2);
}
// integers
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
FN i32 i32_of_f32(f32 x) { return x >= -2147483648.0f ? x < 2147483648.0f ? (i32)x : 2147483647 : x < 0 ? (-2147483647 - 1) : 0; }
FN u32 ones_u32(u32 x) { return popcount(x); }
FN u8 u8_of_f32(f32 x) { return x > 0 ? x < 256.0f ? (u8)x : 255 : 0; }
typedef struct { u64 words[15]; } Block;
ENTRY(256) folio_integers(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL const i32 *RESTRICT y_p1_base,
    GLOBAL i64 *RESTRICT o_p2_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 o_p2_low0 = block.words[6];
  const u64 o_p2_size0 = block.words[7];
  const u64 o_p2_shape0 = block.words[8];
  const u64 first0 = block.words[9];
  const u64 offset0 = block.words[10];
  const u64 range0 = block.words[11];
  GLOBAL const i32 *x_p0 = x_p0_base + block.words[12];
  GLOBAL const i32 *y_p1 = y_p1_base + block.words[13];
  GLOBAL i64 *o_p2 = o_p2_base + block.words[14];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/code.rs
  i32 t1 = 0;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/code.rs
  i32 t2 = 0;
  if (pos0 - y_p1_low0 < y_p1_size0) t2 = y_p1[pos0 - y_p1_low0];
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
  const i8 t3 = (i8)t1;
  const i32 t4 = (i32)t3;
  const u8 t5 = (u8)t2;
  const i32 t6 = (i32)t5;
  const i32 t7 = (i32)((u32)t4 + (u32)t6);
  const i64 t8 = (i64)t1;
  const u32 t9 = (u32)t2;
  const i64 t10 = (i64)((u64)t8 << ((u32)t9 & 63u));
  const u32 t11 = (u32)t2;
  const i64 t12 = (i64)t11;
  const i64 t14 = (i64)(t12 >> ((u32)3 & 63u));
  const i64 t15 = (i64)((u64)t10 | (u64)t14);
  const f32 t16 = (f32)t1;
  const f32 t17 = (f32)t2;
  const f32 t18 = t16 / t17;
  const i32 t19 = (i32)((u32)t1 * (u32)t2);
  const i32 t21 = (i32)((u32)t7 << ((u32)5u & 31u) | (u32)t7 >> ((0u - (u32)5u) & 31u));
  const i32 t22 = (i32)((u32)t19 - (u32)t21);
  const i64 t23 = (i64)t22;
  const i64 t24 = (i64)((u64)t15 + (u64)t23);
  const i32 t25 = i32_of_f32(t18);
  const i32 t26 = (i32)((u32)t25 * (u32)t1);
  const i64 t27 = (i64)t26;
  const i64 t28 = (i64)((u64)t24 + (u64)t27);
  const i32 t29 = (i32)~(u32)t1;
  const u32 t30 = ones_u32((u32)t29);
  const i64 t31 = (i64)t30;
  const i64 t32 = (i64)((u64)t28 + (u64)t31);
  const u8 t33 = u8_of_f32(t18);
  const i64 t34 = (i64)t33;
  const i64 t35 = (i64)((u64)t32 + (u64)t34);
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (pos0 - o_p2_low0 < o_p2_size0) o_p2[pos0 - o_p2_low0] = t35;
  else outside(verdict, 3u, pos0, 0, 0, o_p2_shape0, 0, 0);
}
// keeps
FN u32 gap_of(u32 n) { u32 s = 1; while (s < n) s <<= 1; return s >> 1; }
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[5]; } Block;
ENTRY(256) folio_keeps(
    const Block block,
    GLOBAL u64 *y_p0_base,
    GLOBAL Record *verdict,
    LOCAL u64 *scratch) {
  const u64 y_p0_low0 = block.words[0];
  const u64 y_p0_size0 = block.words[1];
  const u64 y_p0_shape0 = block.words[2];
  const u64 first0 = block.words[3];
  GLOBAL u64 *y_p0 = y_p0_base + block.words[4];
  const u64 local0 = get_local_id(0);
  const u64 group0 = first0 + get_group_id(0);
  const u32 thread = (u32)(get_local_id(0));
  const u32 threads = (u32)(get_local_size(0));
  u64 private_v0 = 0ul;
  u64 collected_v1 = 0ul;
  {
    private_v0 = 7ul;
  }
  {
    const u64 t3 = private_v0;
    const u64 t4 = t3 + local0;
    private_v0 = t4;
  }
  {
    LOCAL u64 *all = (LOCAL u64 *)scratch;
    {
      // crates/folio-conformance/src/engine/kernels/limits.rs
      const u64 t5 = private_v0;
      all[thread] = t5;
    }
    BARRIER;
    for (u32 gap = gap_of(threads); gap > 0u; gap >>= 1) {
      if (thread < gap && thread + gap < threads) all[thread] = (all[thread] > all[thread + gap] ? all[thread] : all[thread + gap]);
      BARRIER;
    }
    collected_v1 = all[0];
    BARRIER;
  }
  const u64 t6 = collected_v1;
  if (thread == 0u) {
    // crates/folio-conformance/src/engine/kernels/limits.rs
    if (group0 - y_p0_low0 < y_p0_size0) y_p0[group0 - y_p0_low0] = t6;
    else outside(verdict, 1u, group0, 0, 0, y_p0_shape0, 0, 0);
  }
  BARRIER;
}
// lazily
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
FN i32 rem_i32(i32 a, i32 b) { return b == -1 ? 0 : (i32)(a % b); }
typedef struct { u64 words[15]; } Block;
ENTRY(256) folio_lazily(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL u32 *n_p1_base,
    GLOBAL i32 *RESTRICT y_p2_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_shape0 = block.words[0];
  const u64 x_p0_low0 = block.words[1];
  const u64 x_p0_size0 = block.words[2];
  const u64 n_p1_low0 = block.words[3];
  const u64 n_p1_size0 = block.words[4];
  const u64 n_p1_shape0 = block.words[5];
  const u64 y_p2_low0 = block.words[6];
  const u64 y_p2_size0 = block.words[7];
  const u64 y_p2_shape0 = block.words[8];
  const u64 first0 = block.words[9];
  const u64 offset0 = block.words[10];
  const u64 range0 = block.words[11];
  GLOBAL const i32 *x_p0 = x_p0_base + block.words[12];
  GLOBAL u32 *n_p1 = n_p1_base + block.words[13];
  GLOBAL i32 *y_p2 = y_p2_base + block.words[14];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  bool lazy_v0 = false;
  bool lazy_v1 = false;
  bool lazy_v2 = false;
  bool lazy_v3 = false;
  // crates/folio-conformance/src/engine/kernels/language.rs
  i32 t1 = 0;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/language.rs
  i32 t2 = 0;
  if (pos0 - x_p0_low0 < x_p0_size0) t2 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 2u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const i32 t4 = rem_i32(t2, 4);
  const bool t6 = t1 > 40;
  lazy_v0 = t6;
  if (t6) {
    // crates/folio-conformance/src/engine/kernels/language.rs
    u32 t9 = 0u;
    if (0ul - n_p1_low0 < n_p1_size0) t9 = atomic_add((volatile GLOBAL u32 *)&n_p1[0ul - n_p1_low0], (u32)1u);
    else outside(verdict, 3u, 0ul, 0, 0, n_p1_shape0, 0, 0);
    const bool t11 = t9 < 1000u;
    lazy_v0 = t11;
  }
  // crates/folio-conformance/src/engine/kernels/language.rs
  const bool t12 = lazy_v0;
  const bool t14 = t4 == 0;
  lazy_v1 = t14;
  if (!t14) {
    // crates/folio-conformance/src/engine/kernels/language.rs
    if (t4 == 0) fail(verdict, 4u);
    const i32 t15 = t4 == 0 ? 0 : rem_i32(t1, t4);
    const bool t17 = t15 < 0;
    const i32 t18 = (t4 < 0 ? (i32)((u32)0 - (u32)t4) : t4);
    const i32 t19 = (i32)((u32)t15 + (u32)t18);
    const i32 t20 = t17 ? t19 : t15;
    const bool t22 = t20 == 1;
    lazy_v1 = t22;
  }
  // crates/folio-conformance/src/engine/kernels/language.rs
  const bool t23 = lazy_v1;
  const bool t25 = t4 != 0;
  lazy_v2 = t25;
  if (t25) {
    const bool t27 = t1 < 0;
    lazy_v3 = t27;
    if (!t27) {
      const u32 t29 = (u32)t1;
      // crates/folio-conformance/src/engine/kernels/language.rs
      u32 t30 = 0u;
      if (1ul - n_p1_low0 < n_p1_size0) t30 = atomic_max((volatile GLOBAL u32 *)&n_p1[1ul - n_p1_low0], (u32)t29);
      else outside(verdict, 5u, 1ul, 0, 0, n_p1_shape0, 0, 0);
      const bool t32 = t30 > 2000u;
      lazy_v3 = t32;
    }
    // crates/folio-conformance/src/engine/kernels/language.rs
    const bool t33 = lazy_v3;
    const bool t34 = !t33;
    lazy_v2 = t34;
  }
  const bool t35 = lazy_v2;
  const u64 t38 = pos0 + 1ul;
  const bool t39 = x_p0_shape0 > t38;
  const bool t40 = (t35 && t39);
  const i32 t41 = (i32)t12;
  const i32 t43 = (i32)t23;
  const i32 t44 = (i32)((u32)2 * (u32)t43);
  const i32 t45 = (i32)((u32)t41 + (u32)t44);
  const i32 t47 = (i32)t40;
  const i32 t48 = (i32)((u32)4 * (u32)t47);
  const i32 t49 = (i32)((u32)t45 + (u32)t48);
  // crates/folio-conformance/src/engine/kernels/language.rs
  if (pos0 - y_p2_low0 < y_p2_size0) y_p2[pos0 - y_p2_low0] = t49;
  else outside(verdict, 6u, pos0, 0, 0, y_p2_shape0, 0, 0);
}
// leaves
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
FN i32 rem_i32(i32 a, i32 b) { return b == -1 ? 0 : (i32)(a % b); }
FN i32 div_i32(i32 a, i32 b) { return b == -1 ? (i32)((u32)0 - (u32)a) : (i32)(a / b); }
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_leaves(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL i32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 y_p1_low0 = block.words[0];
  const u64 y_p1_size0 = block.words[1];
  const u64 y_p1_shape0 = block.words[2];
  const u64 x_p0_low0 = block.words[3];
  const u64 x_p0_size0 = block.words[4];
  const u64 x_p0_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const i32 *x_p0 = x_p0_base + block.words[9];
  GLOBAL i32 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  bool lazy_v0 = false;
  i32 l3_v1 = 0;
  bool lazy_v2 = false;
  bool lazy_v3 = false;
  bool lazy_v4 = false;
  i32 half_of_even_v5 = 0;
  bool lazy_v6 = false;
  // crates/folio-conformance/src/engine/kernels/rare.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = (-0 - 1);
  else outside(verdict, 1u, pos0, 0, 0, y_p1_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/rare.rs
  i32 t2 = 0;
  if (pos0 - x_p0_low0 < x_p0_size0) t2 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 2u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const bool t4 = t2 > 3;
  lazy_v0 = t4;
  if (!t4) {
    return;
  }
  l3_v1 = 0;
  for (i32 k9 = 0; k9 < 20; k9++) {
    // crates/folio-conformance/src/engine/kernels/rare.rs
    i32 t10 = 0;
    if (pos0 - x_p0_low0 < x_p0_size0) t10 = x_p0[pos0 - x_p0_low0];
    else outside(verdict, 3u, pos0, 0, 0, x_p0_shape0, 0, 0);
    const bool t11 = k9 < t10;
    lazy_v2 = t11;
    if (!t11) {
      break;
    }
    // crates/folio-conformance/src/engine/kernels/rare.rs
    // crates/folio-conformance/src/engine/kernels/rare.rs
    const i32 t14 = rem_i32(k9, 3);
    const bool t16 = t14 != 1;
    lazy_v3 = t16;
    if (!t16) {
      continue;
    }
    const i32 t18 = l3_v1;
    const bool t20 = t18 > 50;
    lazy_v4 = t20;
    if (t20) {
      // crates/folio-conformance/src/engine/kernels/rare.rs
      const i32 t21 = l3_v1;
      // crates/folio-conformance/src/engine/kernels/rare.rs
      if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t21;
      else outside(verdict, 4u, pos0, 0, 0, y_p1_shape0, 0, 0);
      return;
    }
    const i32 t23 = l3_v1;
    const i32 t24 = (i32)((u32)t23 + (u32)k9);
    l3_v1 = t24;
  }
  // crates/folio-conformance/src/engine/kernels/rare.rs
  const i32 t25 = l3_v1;
  // crates/folio-conformance/src/engine/kernels/rare.rs
  i32 t26 = 0;
  if (pos0 - x_p0_low0 < x_p0_size0) t26 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 5u, pos0, 0, 0, x_p0_shape0, 0, 0);
  {
    // crates/folio-conformance/src/engine/kernels/rare.rs
    const i32 t28 = rem_i32(t26, 2);
    const bool t30 = t28 == 0;
    lazy_v6 = t30;
    if (!t30) {
      half_of_even_v5 = 100;
      goto end1;
    }
    // crates/folio-conformance/src/engine/kernels/rare.rs
    const i32 t34 = div_i32(t26, 2);
    half_of_even_v5 = t34;
  }
  end1: ;
  const i32 t35 = half_of_even_v5;
  const i32 t36 = (i32)((u32)t25 + (u32)t35);
  // crates/folio-conformance/src/engine/kernels/rare.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t36;
  else outside(verdict, 6u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// leaves
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[10]; } Block;
ENTRY(256) folio_leaves(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL i32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  GLOBAL const i32 *x_p0 = x_p0_base + block.words[8];
  GLOBAL i32 *y_p1 = y_p1_base + block.words[9];
  const u64 size0 = get_local_size(0);
  const u64 local0 = get_local_id(0);
  const u64 group0 = first0 + get_group_id(0);
  const u64 pos0 = offset0 + group0 * size0 + local0;
  i32 l3_v0 = 0;
  const bool t2 = group0 == 1ul;
  if (t2) {
    return;
  }
  l3_v0 = 0;
  for (u64 turn0 = 0; turn0 >> 63 == 0; turn0++) {
    {
      // crates/folio-conformance/src/engine/kernels/group_code.rs
      i32 t5 = 0;
      if (pos0 - x_p0_low0 < x_p0_size0) t5 = x_p0[pos0 - x_p0_low0];
      else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
      const i32 t6 = l3_v0;
      const bool t7 = t5 < t6;
      if (t7) {
        goto phase1;
      }
      // crates/folio-conformance/src/engine/kernels/group_code.rs
      i32 t9 = 0;
      if (pos0 - y_p1_low0 < y_p1_size0) t9 = y_p1[pos0 - y_p1_low0];
      else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
      const i32 t10 = (i32)((u32)t9 + (u32)1);
      if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t10;
      else outside(verdict, 3u, pos0, 0, 0, y_p1_shape0, 0, 0);
    }
    phase1: ;
    BARRIER;
    const i32 t12 = l3_v0;
    const i32 t13 = (i32)((u32)t12 + (u32)1);
    l3_v0 = t13;
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    const i32 t14 = l3_v0;
    const bool t16 = t14 == 5;
    if (t16) {
      break;
    }
  }
}
// lengths
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[8]; } Block;
ENTRY(256) folio_lengths(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL u64 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_shape0 = block.words[0];
  const u64 y_p1_low0 = block.words[1];
  const u64 y_p1_size0 = block.words[2];
  const u64 y_p1_shape0 = block.words[3];
  const u64 first0 = block.words[4];
  const u64 offset0 = block.words[5];
  const u64 range0 = block.words[6];
  GLOBAL u64 *y_p1 = y_p1_base + block.words[7];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = x_p0_shape0;
  else outside(verdict, 1u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// line
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_line(
    const Block block,
    GLOBAL const f32 *RESTRICT x_p0_base,
    GLOBAL f32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
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
  // crates/folio-conformance/src/engine/kernels/borders.rs
  f32 t1 = 0.0f;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/borders.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t1;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// ln_1p_of
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_ln_1p_of(
    const Block block,
    GLOBAL const f32 *RESTRICT x_p0_base,
    GLOBAL f32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
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
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f32 t1 = 0.0f;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const f32 t2 = log1p(t1);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t2;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// ln_1p_of
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_ln_1p_of(
    const Block block,
    GLOBAL const f64 *RESTRICT x_p0_base,
    GLOBAL f64 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const f64 *x_p0 = x_p0_base + block.words[9];
  GLOBAL f64 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f64 t1 = 0.0;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const f64 t2 = log1p(t1);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t2;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// ln_of
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_ln_of(
    const Block block,
    GLOBAL const f32 *RESTRICT x_p0_base,
    GLOBAL f32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
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
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f32 t1 = 0.0f;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const f32 t2 = log(t1);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t2;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// ln_of
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_ln_of(
    const Block block,
    GLOBAL const f64 *RESTRICT x_p0_base,
    GLOBAL f64 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const f64 *x_p0 = x_p0_base + block.words[9];
  GLOBAL f64 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f64 t1 = 0.0;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const f64 t2 = log(t1);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t2;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// local_histogram
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
// log10_of
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_log10_of(
    const Block block,
    GLOBAL const f32 *RESTRICT x_p0_base,
    GLOBAL f32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
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
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f32 t1 = 0.0f;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const f32 t2 = log10(t1);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t2;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// log10_of
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_log10_of(
    const Block block,
    GLOBAL const f64 *RESTRICT x_p0_base,
    GLOBAL f64 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const f64 *x_p0 = x_p0_base + block.words[9];
  GLOBAL f64 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f64 t1 = 0.0;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const f64 t2 = log10(t1);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t2;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// log2_of
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_log2_of(
    const Block block,
    GLOBAL const f32 *RESTRICT x_p0_base,
    GLOBAL f32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
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
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f32 t1 = 0.0f;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const f32 t2 = log2(t1);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t2;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// log2_of
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_log2_of(
    const Block block,
    GLOBAL const f64 *RESTRICT x_p0_base,
    GLOBAL f64 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const f64 *x_p0 = x_p0_base + block.words[9];
  GLOBAL f64 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f64 t1 = 0.0;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const f64 t2 = log2(t1);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t2;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// long_array
typedef struct { i32 at[300]; } array_t0;
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_long_array(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL i32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const i32 *x_p0 = x_p0_base + block.words[9];
  GLOBAL i32 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  array_t0 l3_v0 = { { 0 } };
  const array_t0 t1 = { { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 } };
  l3_v0 = t1;
  // crates/folio-conformance/src/engine/kernels/rare.rs
  i32 t3 = 0;
  if (pos0 - x_p0_low0 < x_p0_size0) t3 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const u64 t5 = pos0 + 100ul;
  // crates/folio-conformance/src/engine/kernels/rare.rs
  if (t5 < 300ul) l3_v0.at[t5] = t3;
  else outside(verdict, 2u, t5, 0, 0, 300ul, 0, 0);
  const u64 t7 = pos0 + 100ul;
  // crates/folio-conformance/src/engine/kernels/rare.rs
  i32 t8 = 0;
  if (t7 < 300ul) t8 = l3_v0.at[t7];
  else outside(verdict, 3u, t7, 0, 0, 300ul, 0, 0);
  // crates/folio-conformance/src/engine/kernels/rare.rs
  const i32 t10 = l3_v0.at[299ul];
  const i32 t11 = (i32)((u32)t8 + (u32)t10);
  // crates/folio-conformance/src/engine/kernels/rare.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t11;
  else outside(verdict, 4u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// looks_up
typedef struct { i32 at[2]; } array_t0;
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[19]; } Block;
ENTRY(256) folio_looks_up(
    const Block block,
    GLOBAL const array_t0 *RESTRICT at_p0_base,
    GLOBAL const i32 *RESTRICT x_p1_base,
    GLOBAL i32 *RESTRICT y_p2_base,
    GLOBAL Record *verdict) {
  const u64 at_p0_low0 = block.words[0];
  const u64 at_p0_size0 = block.words[1];
  const u64 at_p0_shape0 = block.words[2];
  const u64 x_p1_low0 = block.words[3];
  const u64 x_p1_size0 = block.words[4];
  const u64 x_p1_pitch0 = block.words[5];
  const u64 x_p1_low1 = block.words[6];
  const u64 x_p1_size1 = block.words[7];
  const u64 x_p1_shape0 = block.words[8];
  const u64 x_p1_shape1 = block.words[9];
  const u64 y_p2_low0 = block.words[10];
  const u64 y_p2_size0 = block.words[11];
  const u64 y_p2_shape0 = block.words[12];
  const u64 first0 = block.words[13];
  const u64 offset0 = block.words[14];
  const u64 range0 = block.words[15];
  GLOBAL const array_t0 *at_p0 = at_p0_base + block.words[16];
  GLOBAL const i32 *x_p1 = x_p1_base + block.words[17];
  GLOBAL i32 *y_p2 = y_p2_base + block.words[18];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  array_t0 array_v0 = { { 0 } };
  array_t0 array_v1 = { { 0 } };
  // crates/folio-conformance/src/engine/kernels/code.rs
  array_t0 t1 = { { 0 } };
  if (pos0 - at_p0_low0 < at_p0_size0) t1 = at_p0[pos0 - at_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, at_p0_shape0, 0, 0);
  array_v0 = t1;
  const i32 t3 = array_v0.at[0ul];
  const u64 t4 = (u64)t3;
  // crates/folio-conformance/src/engine/kernels/code.rs
  array_t0 t5 = { { 0 } };
  if (pos0 - at_p0_low0 < at_p0_size0) t5 = at_p0[pos0 - at_p0_low0];
  else outside(verdict, 2u, pos0, 0, 0, at_p0_shape0, 0, 0);
  array_v1 = t5;
  const i32 t7 = array_v1.at[1ul];
  const u64 t8 = (u64)t7;
  // crates/folio-conformance/src/engine/kernels/code.rs
  i32 t9 = 0;
  if (t4 - x_p1_low0 < x_p1_size0 && t8 - x_p1_low1 < x_p1_size1) t9 = x_p1[(t4 - x_p1_low0) * x_p1_pitch0 + (t8 - x_p1_low1)];
  else outside(verdict, 3u, t4, t8, 0, x_p1_shape0, x_p1_shape1, 0);
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (pos0 - y_p2_low0 < y_p2_size0) y_p2[pos0 - y_p2_low0] = t9;
  else outside(verdict, 4u, pos0, 0, 0, y_p2_shape0, 0, 0);
}
// loops
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
FN u64 sat_add_u64(u64 a, u64 b) { return a + b < a ? ~(u64)0 : a + b; }
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_loops(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL i32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const i32 *x_p0 = x_p0_base + block.words[9];
  GLOBAL i32 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  i32 l4_v0 = 0;
  i32 l10_v1 = 0;
  i32 if_v2 = 0;
  i32 l12_v3 = 0;
  i32 if_v4 = 0;
  // crates/folio-conformance/src/engine/kernels/language.rs
  i32 t1 = 0;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const u32 t2 = (u32)t1;
  const u32 t4 = (u32)(t2 % 20u);
  const i32 t5 = (i32)t4;
  l4_v0 = 0;
  for (i32 k8 = 0; k8 < t5; k8++) {
  {
    const u64 t11 = (u64)0;
    const u64 t12 = (u64)k8;
    const u64 t13 = t12 - t11;
    const u64 t16 = sat_add_u64(t13, 1ul);
    const bool t17 = 0 <= k8;
    const u64 t18 = t17 ? t16 : 0ul;
    for (u64 k19 = 0ul; k19 < t18; k19++) {
      const i32 t20 = (i32)k19;
      const i32 t21 = (i32)((u32)k8 - (u32)t20);
      const bool t23 = t21 == 7;
      if (t23) {
        goto next0;
      }
      const i32 t24 = (i32)((u32)k8 * (u32)t21);
      const bool t26 = t24 > 90;
      if (t26) {
        goto end0;
      }
      const i32 t28 = (i32)((u32)k8 * (u32)3);
      const i32 t29 = (i32)((u32)t28 - (u32)t21);
      // crates/folio-conformance/src/engine/kernels/language.rs
      const i32 t30 = l4_v0;
      const i32 t31 = (i32)((u32)t30 + (u32)t29);
      l4_v0 = t31;
    }
    // crates/folio-conformance/src/engine/kernels/language.rs
    const i32 t33 = l4_v0;
    const i32 t34 = (i32)((u32)t33 + (u32)1000);
    l4_v0 = t34;
  }
  next0: ;
  }
  end0: ;
  const u64 t38 = (u64)1;
  const u64 t39 = (u64)t5;
  const u64 t40 = t39 - t38;
  const u64 t43 = t40 - 1ul;
  const u64 t44 = (3ul > 1ul ? 3ul : 1ul);
  // crates/folio-conformance/src/engine/kernels/language.rs
  if (t44 == 0) fail(verdict, 2u);
  const u64 t45 = t44 == 0 ? 0 : (u64)(t43 / t44);
  const u64 t46 = sat_add_u64(t45, 1ul);
  const bool t47 = 1 < t5;
  const bool t48 = 3ul != 0ul;
  const bool t49 = (t47 && t48);
  const u64 t50 = t49 ? t46 : 0ul;
  for (u64 k51 = 0ul; k51 < t50; k51++) {
    const u64 t52 = k51 * 3ul;
    const i32 t53 = (i32)t52;
    const i32 t54 = (i32)((u32)1 + (u32)t53);
    const i32 t56 = (i32)((u32)t54 << ((u32)4 & 31u));
    // crates/folio-conformance/src/engine/kernels/language.rs
    const i32 t57 = l4_v0;
    const i32 t58 = (i32)((u32)t57 ^ (u32)t56);
    l4_v0 = t58;
  }
  const u64 t60 = (u64)t5;
  // crates/folio-conformance/src/engine/kernels/language.rs
  const u64 t62 = (u64)(t60 / 4ul);
  const u64 t64 = (u64)(-4 - 1);
  const u64 t65 = (u64)t5;
  const u64 t66 = t65 - t64;
  const u64 t69 = (t62 > 1ul ? t62 : 1ul);
  if (t69 == 0) fail(verdict, 3u);
  const u64 t70 = t69 == 0 ? 0 : (u64)(t66 / t69);
  const u64 t71 = sat_add_u64(t70, 1ul);
  const bool t72 = (-4 - 1) <= t5;
  const bool t73 = t62 != 0ul;
  const bool t74 = (t72 && t73);
  const u64 t75 = t74 ? t71 : 0ul;
  for (u64 k76 = 0ul; k76 < t75; k76++) {
    const u64 t77 = k76 * t62;
    const i32 t78 = (i32)t77;
    const i32 t79 = (i32)((u32)t5 - (u32)t78);
    const i32 t80 = l4_v0;
    const i32 t82 = (i32)((u32)t80 * (u32)3);
    const i32 t83 = (i32)((u32)t82 + (u32)t79);
    l4_v0 = t83;
  }
  const u64 t88 = (u64)0;
  const u64 t89 = (u64)255;
  const u64 t90 = t89 - t88;
  const u64 t93 = (50ul > 1ul ? 50ul : 1ul);
  // crates/folio-conformance/src/engine/kernels/language.rs
  if (t93 == 0) fail(verdict, 4u);
  const u64 t94 = t93 == 0 ? 0 : (u64)(t90 / t93);
  const u64 t95 = sat_add_u64(t94, 1ul);
  const bool t96 = 0 <= 255;
  const bool t97 = 50ul != 0ul;
  const bool t98 = (t96 && t97);
  const u64 t99 = t98 ? t95 : 0ul;
  for (u64 k100 = 0ul; k100 < t99; k100++) {
    const u64 t101 = k100 * 50ul;
    const u8 t102 = (u8)t101;
    const u8 t103 = (u8)((u32)0 + (u32)t102);
    const i32 t104 = (i32)t103;
    const i32 t105 = l4_v0;
    const i32 t106 = (i32)((u32)t105 + (u32)t104);
    l4_v0 = t106;
  }
  l10_v1 = 0;
  for (u64 turn5 = 0; turn5 >> 63 == 0; turn5++) {
    // crates/folio-conformance/src/engine/kernels/language.rs
    const i32 t109 = l10_v1;
    const i32 t110 = (i32)((u32)t109 + (u32)1);
    l10_v1 = t110;
    // crates/folio-conformance/src/engine/kernels/language.rs
    const i32 t111 = l10_v1;
    const i32 t112 = l10_v1;
    const i32 t113 = (i32)((u32)t111 * (u32)t112);
    const bool t114 = t113 >= t5;
    if (t114) {
      // crates/folio-conformance/src/engine/kernels/language.rs
      const i32 t115 = l10_v1;
      if_v2 = t115;
      break;
    }
  }
  const i32 t116 = if_v2;
  const bool t118 = t116 > 3;
  if (t118) {
    const i32 t120 = (i32)((u32)t116 * (u32)2);
    l12_v3 = t120;
  } else {
    const i32 t121 = (i32)((u32)0 - (u32)t116);
    l12_v3 = t121;
  }
  {
    // crates/folio-conformance/src/engine/kernels/language.rs
    const i32 t122 = l4_v0;
    const bool t124 = t122 < 0;
    if (t124) {
      if_v4 = 1;
      goto end6;
    }
    // crates/folio-conformance/src/engine/kernels/language.rs
    const i32 t126 = l12_v3;
    const bool t128 = t126 > 5;
    if (t128) {
      // crates/folio-conformance/src/engine/kernels/language.rs
      const i32 t129 = l12_v3;
      if_v4 = t129;
      goto end6;
    }
    const i32 t130 = l4_v0;
    const i32 t132 = (i32)((u32)t130 & (u32)255);
    if_v4 = t132;
  }
  end6: ;
  // crates/folio-conformance/src/engine/kernels/language.rs
  const i32 t133 = if_v4;
  const i32 t134 = l4_v0;
  const i32 t135 = (i32)((u32)t134 + (u32)t116);
  // crates/folio-conformance/src/engine/kernels/language.rs
  const i32 t136 = l12_v3;
  const i32 t137 = (i32)((u32)t135 + (u32)t136);
  const i32 t138 = (i32)((u32)t137 + (u32)t133);
  // crates/folio-conformance/src/engine/kernels/language.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t138;
  else outside(verdict, 5u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// loops_in_ways
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[10]; } Block;
ENTRY(256) folio_loops_in_ways(
    const Block block,
    GLOBAL const u32 *RESTRICT x_p0_base,
    GLOBAL u32 *o_p2_base,
    GLOBAL Record *verdict) {
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
  u32 l4_v0 = 0u;
  l4_v0 = 0u;
  // crates/folio-conformance/src/engine/kernels/ways.rs
  u32 t2 = 0u;
  if (0ul - x_p0_low0 < x_p0_size0) t2 = x_p0[0ul - x_p0_low0];
  else outside(verdict, 1u, 0ul, 0, 0, x_p0_shape0, 0, 0);
  const u32 t4 = (u32)(t2 % 2u);
  const bool t6 = t4 == 0u;
  if (t6) {
    // crates/folio-conformance/src/engine/kernels/ways.rs
    u32 t9 = 0u;
    if (0ul - x_p0_low0 < x_p0_size0) t9 = x_p0[0ul - x_p0_low0];
    else outside(verdict, 2u, 0ul, 0, 0, x_p0_shape0, 0, 0);
    for (u32 k10 = 0u; k10 < t9; k10++) {
      BARRIER;
      {
        // crates/folio-conformance/src/engine/kernels/ways.rs
        u32 t13 = 0u;
        if (local0 < 8ul) t13 = t_p1[local0];
        else outside(verdict, 3u, local0, 0, 0, 8ul, 0, 0);
        const u32 t14 = t13 + k10;
        if (local0 < 8ul) t_p1[local0] = t14;
        else outside(verdict, 4u, local0, 0, 0, 8ul, 0, 0);
      }
      BARRIER;
      // crates/folio-conformance/src/engine/kernels/ways.rs
      const u32 t16 = t_p1[1ul];
      const u32 t17 = l4_v0;
      const u32 t18 = t17 + t16;
      l4_v0 = t18;
    }
  } else {
    for (u64 turn1 = 0; turn1 >> 63 == 0; turn1++) {
      BARRIER;
      {
        // crates/folio-conformance/src/engine/kernels/ways.rs
        u32 t20 = 0u;
        if (pos0 - x_p0_low0 < x_p0_size0) t20 = x_p0[pos0 - x_p0_low0];
        else outside(verdict, 5u, pos0, 0, 0, x_p0_shape0, 0, 0);
        // crates/folio-conformance/src/engine/kernels/ways.rs
        u32 t22 = 0u;
        if (local0 < 8ul) t22 = t_p1[local0];
        else outside(verdict, 6u, local0, 0, 0, 8ul, 0, 0);
        const u32 t23 = t22 + t20;
        if (local0 < 8ul) t_p1[local0] = t23;
        else outside(verdict, 7u, local0, 0, 0, 8ul, 0, 0);
      }
      BARRIER;
      // crates/folio-conformance/src/engine/kernels/ways.rs
      const u32 t25 = t_p1[2ul];
      const u32 t26 = l4_v0;
      const u32 t27 = t26 + t25;
      l4_v0 = t27;
      // crates/folio-conformance/src/engine/kernels/ways.rs
      const u32 t28 = l4_v0;
      const bool t30 = t28 > 20u;
      if (t30) {
        break;
      }
    }
  }
  // crates/folio-conformance/src/engine/kernels/ways.rs
  const u32 t31 = l4_v0;
  BARRIER;
  if (thread == 0u) {
    // crates/folio-conformance/src/engine/kernels/ways.rs
    if (group0 - o_p2_low0 < o_p2_size0) o_p2[group0 - o_p2_low0] = t31;
    else outside(verdict, 8u, group0, 0, 0, o_p2_shape0, 0, 0);
  }
  BARRIER;
}
// mandelbrot
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[16]; } Block;
ENTRY(256) folio_mandelbrot(
    const Block block,
    GLOBAL u32 *RESTRICT out_p2_base,
    GLOBAL Record *verdict) {
  const u64 out_p2_low0 = block.words[0];
  const u64 out_p2_size0 = block.words[1];
  const u64 out_p2_pitch0 = block.words[2];
  const u64 out_p2_low1 = block.words[3];
  const u64 out_p2_size1 = block.words[4];
  const u64 out_p2_shape0 = block.words[5];
  const u64 out_p2_shape1 = block.words[6];
  const u64 first0 = block.words[7];
  const u64 offset0 = block.words[8];
  const u64 range0 = block.words[9];
  const u64 first1 = block.words[10];
  const u64 offset1 = block.words[11];
  const u64 range1 = block.words[12];
  GLOBAL u32 *out_p2 = out_p2_base + block.words[15];
  const f32 w_p0 = F32_BITS((u32)block.words[13]);
  const f32 h_p1 = F32_BITS((u32)block.words[14]);
  const u64 pos0 = first0 + (u64)get_group_id(1) * get_local_size(1) + get_local_id(1);
  const u64 pos1 = first1 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0 || pos1 - offset1 >= range1) return;
  f32 l8_v0 = 0.0f;
  f32 l9_v1 = 0.0f;
  u32 l10_v2 = 0u;
  const f32 t4 = (f32)pos1;
  const f32 t5 = t4 / w_p0;
  const f32 t7 = t5 * 3.0f;
  const f32 t9 = t7 - 2.0f;
  const f32 t10 = (f32)pos0;
  const f32 t11 = t10 / h_p1;
  const f32 t13 = t11 * 2.0f;
  const f32 t15 = t13 - 1.0f;
  l8_v0 = 0.0f;
  l9_v1 = 0.0f;
  l10_v2 = 0u;
  for (u64 turn0 = 0; turn0 >> 63 == 0; turn0++) {
    // crates/folio-conformance/src/engine/kernels/code.rs
    const u32 t19 = l10_v2;
    const bool t21 = t19 < 50u;
    if (!t21) {
      break;
    }
    // crates/folio-conformance/src/engine/kernels/code.rs
    const f32 t22 = l8_v0;
    const f32 t23 = l8_v0;
    const f32 t24 = t22 * t23;
    // crates/folio-conformance/src/engine/kernels/code.rs
    const f32 t25 = l9_v1;
    const f32 t26 = l9_v1;
    const f32 t27 = t25 * t26;
    const f32 t28 = t24 + t27;
    const bool t30 = t28 > 4.0f;
    if (t30) {
      break;
    }
    // crates/folio-conformance/src/engine/kernels/code.rs
    const f32 t32 = l8_v0;
    const f32 t33 = 2.0f * t32;
    // crates/folio-conformance/src/engine/kernels/code.rs
    const f32 t34 = l9_v1;
    const f32 t35 = t33 * t34;
    const f32 t36 = t35 + t15;
    l9_v1 = t36;
    const f32 t37 = t24 - t27;
    const f32 t38 = t37 + t9;
    l8_v0 = t38;
    // crates/folio-conformance/src/engine/kernels/code.rs
    const u32 t40 = l10_v2;
    const u32 t41 = t40 + 1u;
    l10_v2 = t41;
  }
  // crates/folio-conformance/src/engine/kernels/code.rs
  const u32 t42 = l10_v2;
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (pos0 - out_p2_low0 < out_p2_size0 && pos1 - out_p2_low1 < out_p2_size1) out_p2[(pos0 - out_p2_low0) * out_p2_pitch0 + (pos1 - out_p2_low1)] = t42;
  else outside(verdict, 1u, pos0, pos1, 0, out_p2_shape0, out_p2_shape1, 0);
}
// many_arms
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_many_arms(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL i32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const i32 *x_p0 = x_p0_base + block.words[9];
  GLOBAL i32 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  i32 if_v0 = 0;
  // crates/folio-conformance/src/engine/kernels/rare.rs
  i32 t1 = 0;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  {
    const bool t3 = t1 == 0;
    if (t3) {
      if_v0 = 0;
      goto end0;
    }
    const bool t6 = t1 == 1;
    if (t6) {
      if_v0 = 1;
      goto end0;
    }
    const bool t9 = t1 == 2;
    if (t9) {
      if_v0 = 2;
      goto end0;
    }
    const bool t12 = t1 == 3;
    if (t12) {
      if_v0 = 3;
      goto end0;
    }
    const bool t15 = t1 == 4;
    if (t15) {
      if_v0 = 4;
      goto end0;
    }
    const bool t18 = t1 == 5;
    if (t18) {
      if_v0 = 5;
      goto end0;
    }
    const bool t21 = t1 == 6;
    if (t21) {
      if_v0 = 6;
      goto end0;
    }
    const bool t24 = t1 == 7;
    if (t24) {
      if_v0 = 7;
      goto end0;
    }
    const bool t27 = t1 == 8;
    if (t27) {
      if_v0 = 8;
      goto end0;
    }
    const bool t30 = t1 == 9;
    if (t30) {
      if_v0 = 9;
      goto end0;
    }
    const bool t33 = t1 == 10;
    if (t33) {
      if_v0 = 10;
      goto end0;
    }
    const bool t36 = t1 == 11;
    if (t36) {
      if_v0 = 11;
      goto end0;
    }
    const bool t39 = t1 == 12;
    if (t39) {
      if_v0 = 12;
      goto end0;
    }
    const bool t42 = t1 == 13;
    if (t42) {
      if_v0 = 13;
      goto end0;
    }
    const bool t45 = t1 == 14;
    if (t45) {
      if_v0 = 14;
      goto end0;
    }
    const bool t48 = t1 == 15;
    if (t48) {
      if_v0 = 15;
      goto end0;
    }
    const bool t51 = t1 == 16;
    if (t51) {
      if_v0 = 16;
      goto end0;
    }
    const bool t54 = t1 == 17;
    if (t54) {
      if_v0 = 17;
      goto end0;
    }
    const bool t57 = t1 == 18;
    if (t57) {
      if_v0 = 18;
      goto end0;
    }
    const bool t60 = t1 == 19;
    if (t60) {
      if_v0 = 19;
      goto end0;
    }
    const bool t63 = t1 == 20;
    if (t63) {
      if_v0 = 20;
      goto end0;
    }
    const bool t66 = t1 == 21;
    if (t66) {
      if_v0 = 21;
      goto end0;
    }
    const bool t69 = t1 == 22;
    if (t69) {
      if_v0 = 22;
      goto end0;
    }
    const bool t72 = t1 == 23;
    if (t72) {
      if_v0 = 23;
      goto end0;
    }
    const bool t75 = t1 == 24;
    if (t75) {
      if_v0 = 24;
      goto end0;
    }
    const bool t78 = t1 == 25;
    if (t78) {
      if_v0 = 25;
      goto end0;
    }
    const bool t81 = t1 == 26;
    if (t81) {
      if_v0 = 26;
      goto end0;
    }
    const bool t84 = t1 == 27;
    if (t84) {
      if_v0 = 27;
      goto end0;
    }
    const bool t87 = t1 == 28;
    if (t87) {
      if_v0 = 28;
      goto end0;
    }
    const bool t90 = t1 == 29;
    if (t90) {
      if_v0 = 29;
      goto end0;
    }
    const bool t93 = t1 == 30;
    if (t93) {
      if_v0 = 30;
      goto end0;
    }
    const bool t96 = t1 == 31;
    if (t96) {
      if_v0 = 31;
      goto end0;
    }
    const bool t99 = t1 == 32;
    if (t99) {
      if_v0 = 32;
      goto end0;
    }
    const bool t102 = t1 == 33;
    if (t102) {
      if_v0 = 33;
      goto end0;
    }
    const bool t105 = t1 == 34;
    if (t105) {
      if_v0 = 34;
      goto end0;
    }
    const bool t108 = t1 == 35;
    if (t108) {
      if_v0 = 35;
      goto end0;
    }
    const bool t111 = t1 == 36;
    if (t111) {
      if_v0 = 36;
      goto end0;
    }
    const bool t114 = t1 == 37;
    if (t114) {
      if_v0 = 37;
      goto end0;
    }
    const bool t117 = t1 == 38;
    if (t117) {
      if_v0 = 38;
      goto end0;
    }
    const bool t120 = t1 == 39;
    if (t120) {
      if_v0 = 39;
      goto end0;
    }
    const bool t123 = t1 == 40;
    if (t123) {
      if_v0 = 40;
      goto end0;
    }
    const bool t126 = t1 == 41;
    if (t126) {
      if_v0 = 41;
      goto end0;
    }
    const bool t129 = t1 == 42;
    if (t129) {
      if_v0 = 42;
      goto end0;
    }
    const bool t132 = t1 == 43;
    if (t132) {
      if_v0 = 43;
      goto end0;
    }
    const bool t135 = t1 == 44;
    if (t135) {
      if_v0 = 44;
      goto end0;
    }
    const bool t138 = t1 == 45;
    if (t138) {
      if_v0 = 45;
      goto end0;
    }
    const bool t141 = t1 == 46;
    if (t141) {
      if_v0 = 46;
      goto end0;
    }
    const bool t144 = t1 == 47;
    if (t144) {
      if_v0 = 47;
      goto end0;
    }
    const bool t147 = t1 == 48;
    if (t147) {
      if_v0 = 48;
      goto end0;
    }
    const bool t150 = t1 == 49;
    if (t150) {
      if_v0 = 49;
      goto end0;
    }
    const bool t153 = t1 == 50;
    if (t153) {
      if_v0 = 50;
      goto end0;
    }
    const bool t156 = t1 == 51;
    if (t156) {
      if_v0 = 51;
      goto end0;
    }
    const bool t159 = t1 == 52;
    if (t159) {
      if_v0 = 52;
      goto end0;
    }
    const bool t162 = t1 == 53;
    if (t162) {
      if_v0 = 53;
      goto end0;
    }
    const bool t165 = t1 == 54;
    if (t165) {
      if_v0 = 54;
      goto end0;
    }
    const bool t168 = t1 == 55;
    if (t168) {
      if_v0 = 55;
      goto end0;
    }
    const bool t171 = t1 == 56;
    if (t171) {
      if_v0 = 56;
      goto end0;
    }
    const bool t174 = t1 == 57;
    if (t174) {
      if_v0 = 57;
      goto end0;
    }
    const bool t177 = t1 == 58;
    if (t177) {
      if_v0 = 58;
      goto end0;
    }
    const bool t180 = t1 == 59;
    if (t180) {
      if_v0 = 59;
      goto end0;
    }
    const bool t183 = t1 == 60;
    if (t183) {
      if_v0 = 60;
      goto end0;
    }
    const bool t186 = t1 == 61;
    if (t186) {
      if_v0 = 61;
      goto end0;
    }
    const bool t189 = t1 == 62;
    if (t189) {
      if_v0 = 62;
      goto end0;
    }
    const bool t192 = t1 == 63;
    if (t192) {
      if_v0 = 63;
      goto end0;
    }
    const bool t195 = t1 == 64;
    if (t195) {
      if_v0 = 64;
      goto end0;
    }
    const bool t198 = t1 == 65;
    if (t198) {
      if_v0 = 65;
      goto end0;
    }
    const bool t201 = t1 == 66;
    if (t201) {
      if_v0 = 66;
      goto end0;
    }
    const bool t204 = t1 == 67;
    if (t204) {
      if_v0 = 67;
      goto end0;
    }
    const bool t207 = t1 == 68;
    if (t207) {
      if_v0 = 68;
      goto end0;
    }
    const bool t210 = t1 == 69;
    if (t210) {
      if_v0 = 69;
      goto end0;
    }
    const bool t213 = t1 == 70;
    if (t213) {
      if_v0 = 70;
      goto end0;
    }
    const bool t216 = t1 == 71;
    if (t216) {
      if_v0 = 71;
      goto end0;
    }
    const bool t219 = t1 == 72;
    if (t219) {
      if_v0 = 72;
      goto end0;
    }
    const bool t222 = t1 == 73;
    if (t222) {
      if_v0 = 73;
      goto end0;
    }
    const bool t225 = t1 == 74;
    if (t225) {
      if_v0 = 74;
      goto end0;
    }
    const bool t228 = t1 == 75;
    if (t228) {
      if_v0 = 75;
      goto end0;
    }
    const bool t231 = t1 == 76;
    if (t231) {
      if_v0 = 76;
      goto end0;
    }
    const bool t234 = t1 == 77;
    if (t234) {
      if_v0 = 77;
      goto end0;
    }
    const bool t237 = t1 == 78;
    if (t237) {
      if_v0 = 78;
      goto end0;
    }
    const bool t240 = t1 == 79;
    if (t240) {
      if_v0 = 79;
      goto end0;
    }
    const bool t243 = t1 == 80;
    if (t243) {
      if_v0 = 80;
      goto end0;
    }
    const bool t246 = t1 == 81;
    if (t246) {
      if_v0 = 81;
      goto end0;
    }
    const bool t249 = t1 == 82;
    if (t249) {
      if_v0 = 82;
      goto end0;
    }
    const bool t252 = t1 == 83;
    if (t252) {
      if_v0 = 83;
      goto end0;
    }
    const bool t255 = t1 == 84;
    if (t255) {
      if_v0 = 84;
      goto end0;
    }
    const bool t258 = t1 == 85;
    if (t258) {
      if_v0 = 85;
      goto end0;
    }
    const bool t261 = t1 == 86;
    if (t261) {
      if_v0 = 86;
      goto end0;
    }
    const bool t264 = t1 == 87;
    if (t264) {
      if_v0 = 87;
      goto end0;
    }
    const bool t267 = t1 == 88;
    if (t267) {
      if_v0 = 88;
      goto end0;
    }
    const bool t270 = t1 == 89;
    if (t270) {
      if_v0 = 89;
      goto end0;
    }
    const bool t273 = t1 == 90;
    if (t273) {
      if_v0 = 90;
      goto end0;
    }
    const bool t276 = t1 == 91;
    if (t276) {
      if_v0 = 91;
      goto end0;
    }
    const bool t279 = t1 == 92;
    if (t279) {
      if_v0 = 92;
      goto end0;
    }
    const bool t282 = t1 == 93;
    if (t282) {
      if_v0 = 93;
      goto end0;
    }
    const bool t285 = t1 == 94;
    if (t285) {
      if_v0 = 94;
      goto end0;
    }
    const bool t288 = t1 == 95;
    if (t288) {
      if_v0 = 95;
      goto end0;
    }
    const bool t291 = t1 == 96;
    if (t291) {
      if_v0 = 96;
      goto end0;
    }
    const bool t294 = t1 == 97;
    if (t294) {
      if_v0 = 97;
      goto end0;
    }
    const bool t297 = t1 == 98;
    if (t297) {
      if_v0 = 98;
      goto end0;
    }
    const bool t300 = t1 == 99;
    if (t300) {
      if_v0 = 99;
      goto end0;
    }
    const bool t303 = t1 == 100;
    if (t303) {
      if_v0 = 100;
      goto end0;
    }
    const bool t306 = t1 == 101;
    if (t306) {
      if_v0 = 101;
      goto end0;
    }
    const bool t309 = t1 == 102;
    if (t309) {
      if_v0 = 102;
      goto end0;
    }
    const bool t312 = t1 == 103;
    if (t312) {
      if_v0 = 103;
      goto end0;
    }
    const bool t315 = t1 == 104;
    if (t315) {
      if_v0 = 104;
      goto end0;
    }
    const bool t318 = t1 == 105;
    if (t318) {
      if_v0 = 105;
      goto end0;
    }
    const bool t321 = t1 == 106;
    if (t321) {
      if_v0 = 106;
      goto end0;
    }
    const bool t324 = t1 == 107;
    if (t324) {
      if_v0 = 107;
      goto end0;
    }
    const bool t327 = t1 == 108;
    if (t327) {
      if_v0 = 108;
      goto end0;
    }
    const bool t330 = t1 == 109;
    if (t330) {
      if_v0 = 109;
      goto end0;
    }
    const bool t333 = t1 == 110;
    if (t333) {
      if_v0 = 110;
      goto end0;
    }
    const bool t336 = t1 == 111;
    if (t336) {
      if_v0 = 111;
      goto end0;
    }
    const bool t339 = t1 == 112;
    if (t339) {
      if_v0 = 112;
      goto end0;
    }
    const bool t342 = t1 == 113;
    if (t342) {
      if_v0 = 113;
      goto end0;
    }
    const bool t345 = t1 == 114;
    if (t345) {
      if_v0 = 114;
      goto end0;
    }
    const bool t348 = t1 == 115;
    if (t348) {
      if_v0 = 115;
      goto end0;
    }
    const bool t351 = t1 == 116;
    if (t351) {
      if_v0 = 116;
      goto end0;
    }
    const bool t354 = t1 == 117;
    if (t354) {
      if_v0 = 117;
      goto end0;
    }
    const bool t357 = t1 == 118;
    if (t357) {
      if_v0 = 118;
      goto end0;
    }
    const bool t360 = t1 == 119;
    if (t360) {
      if_v0 = 119;
      goto end0;
    }
    const bool t363 = t1 == 120;
    if (t363) {
      if_v0 = 120;
      goto end0;
    }
    const bool t366 = t1 == 121;
    if (t366) {
      if_v0 = 121;
      goto end0;
    }
    const bool t369 = t1 == 122;
    if (t369) {
      if_v0 = 122;
      goto end0;
    }
    const bool t372 = t1 == 123;
    if (t372) {
      if_v0 = 123;
      goto end0;
    }
    const bool t375 = t1 == 124;
    if (t375) {
      if_v0 = 124;
      goto end0;
    }
    const bool t378 = t1 == 125;
    if (t378) {
      if_v0 = 125;
      goto end0;
    }
    const bool t381 = t1 == 126;
    if (t381) {
      if_v0 = 126;
      goto end0;
    }
    const bool t384 = t1 == 127;
    if (t384) {
      if_v0 = 127;
      goto end0;
    }
    const bool t387 = t1 == 128;
    if (t387) {
      if_v0 = 128;
      goto end0;
    }
    const bool t390 = t1 == 129;
    if (t390) {
      if_v0 = 129;
      goto end0;
    }
    const bool t393 = t1 == 130;
    if (t393) {
      if_v0 = 130;
      goto end0;
    }
    const bool t396 = t1 == 131;
    if (t396) {
      if_v0 = 131;
      goto end0;
    }
    const bool t399 = t1 == 132;
    if (t399) {
      if_v0 = 132;
      goto end0;
    }
    const bool t402 = t1 == 133;
    if (t402) {
      if_v0 = 133;
      goto end0;
    }
    const bool t405 = t1 == 134;
    if (t405) {
      if_v0 = 134;
      goto end0;
    }
    const bool t408 = t1 == 135;
    if (t408) {
      if_v0 = 135;
      goto end0;
    }
    const bool t411 = t1 == 136;
    if (t411) {
      if_v0 = 136;
      goto end0;
    }
    const bool t414 = t1 == 137;
    if (t414) {
      if_v0 = 137;
      goto end0;
    }
    const bool t417 = t1 == 138;
    if (t417) {
      if_v0 = 138;
      goto end0;
    }
    const bool t420 = t1 == 139;
    if (t420) {
      if_v0 = 139;
      goto end0;
    }
    const bool t423 = t1 == 140;
    if (t423) {
      if_v0 = 140;
      goto end0;
    }
    const bool t426 = t1 == 141;
    if (t426) {
      if_v0 = 141;
      goto end0;
    }
    const bool t429 = t1 == 142;
    if (t429) {
      if_v0 = 142;
      goto end0;
    }
    const bool t432 = t1 == 143;
    if (t432) {
      if_v0 = 143;
      goto end0;
    }
    const bool t435 = t1 == 144;
    if (t435) {
      if_v0 = 144;
      goto end0;
    }
    const bool t438 = t1 == 145;
    if (t438) {
      if_v0 = 145;
      goto end0;
    }
    const bool t441 = t1 == 146;
    if (t441) {
      if_v0 = 146;
      goto end0;
    }
    const bool t444 = t1 == 147;
    if (t444) {
      if_v0 = 147;
      goto end0;
    }
    const bool t447 = t1 == 148;
    if (t447) {
      if_v0 = 148;
      goto end0;
    }
    const bool t450 = t1 == 149;
    if (t450) {
      if_v0 = 149;
      goto end0;
    }
    const bool t453 = t1 == 150;
    if (t453) {
      if_v0 = 150;
      goto end0;
    }
    const bool t456 = t1 == 151;
    if (t456) {
      if_v0 = 151;
      goto end0;
    }
    const bool t459 = t1 == 152;
    if (t459) {
      if_v0 = 152;
      goto end0;
    }
    const bool t462 = t1 == 153;
    if (t462) {
      if_v0 = 153;
      goto end0;
    }
    const bool t465 = t1 == 154;
    if (t465) {
      if_v0 = 154;
      goto end0;
    }
    const bool t468 = t1 == 155;
    if (t468) {
      if_v0 = 155;
      goto end0;
    }
    const bool t471 = t1 == 156;
    if (t471) {
      if_v0 = 156;
      goto end0;
    }
    const bool t474 = t1 == 157;
    if (t474) {
      if_v0 = 157;
      goto end0;
    }
    const bool t477 = t1 == 158;
    if (t477) {
      if_v0 = 158;
      goto end0;
    }
    const bool t480 = t1 == 159;
    if (t480) {
      if_v0 = 159;
      goto end0;
    }
    const bool t483 = t1 == 160;
    if (t483) {
      if_v0 = 160;
      goto end0;
    }
    const bool t486 = t1 == 161;
    if (t486) {
      if_v0 = 161;
      goto end0;
    }
    const bool t489 = t1 == 162;
    if (t489) {
      if_v0 = 162;
      goto end0;
    }
    const bool t492 = t1 == 163;
    if (t492) {
      if_v0 = 163;
      goto end0;
    }
    const bool t495 = t1 == 164;
    if (t495) {
      if_v0 = 164;
      goto end0;
    }
    const bool t498 = t1 == 165;
    if (t498) {
      if_v0 = 165;
      goto end0;
    }
    const bool t501 = t1 == 166;
    if (t501) {
      if_v0 = 166;
      goto end0;
    }
    const bool t504 = t1 == 167;
    if (t504) {
      if_v0 = 167;
      goto end0;
    }
    const bool t507 = t1 == 168;
    if (t507) {
      if_v0 = 168;
      goto end0;
    }
    const bool t510 = t1 == 169;
    if (t510) {
      if_v0 = 169;
      goto end0;
    }
    const bool t513 = t1 == 170;
    if (t513) {
      if_v0 = 170;
      goto end0;
    }
    const bool t516 = t1 == 171;
    if (t516) {
      if_v0 = 171;
      goto end0;
    }
    const bool t519 = t1 == 172;
    if (t519) {
      if_v0 = 172;
      goto end0;
    }
    const bool t522 = t1 == 173;
    if (t522) {
      if_v0 = 173;
      goto end0;
    }
    const bool t525 = t1 == 174;
    if (t525) {
      if_v0 = 174;
      goto end0;
    }
    const bool t528 = t1 == 175;
    if (t528) {
      if_v0 = 175;
      goto end0;
    }
    const bool t531 = t1 == 176;
    if (t531) {
      if_v0 = 176;
      goto end0;
    }
    const bool t534 = t1 == 177;
    if (t534) {
      if_v0 = 177;
      goto end0;
    }
    const bool t537 = t1 == 178;
    if (t537) {
      if_v0 = 178;
      goto end0;
    }
    const bool t540 = t1 == 179;
    if (t540) {
      if_v0 = 179;
      goto end0;
    }
    const bool t543 = t1 == 180;
    if (t543) {
      if_v0 = 180;
      goto end0;
    }
    const bool t546 = t1 == 181;
    if (t546) {
      if_v0 = 181;
      goto end0;
    }
    const bool t549 = t1 == 182;
    if (t549) {
      if_v0 = 182;
      goto end0;
    }
    const bool t552 = t1 == 183;
    if (t552) {
      if_v0 = 183;
      goto end0;
    }
    const bool t555 = t1 == 184;
    if (t555) {
      if_v0 = 184;
      goto end0;
    }
    const bool t558 = t1 == 185;
    if (t558) {
      if_v0 = 185;
      goto end0;
    }
    const bool t561 = t1 == 186;
    if (t561) {
      if_v0 = 186;
      goto end0;
    }
    const bool t564 = t1 == 187;
    if (t564) {
      if_v0 = 187;
      goto end0;
    }
    const bool t567 = t1 == 188;
    if (t567) {
      if_v0 = 188;
      goto end0;
    }
    const bool t570 = t1 == 189;
    if (t570) {
      if_v0 = 189;
      goto end0;
    }
    const bool t573 = t1 == 190;
    if (t573) {
      if_v0 = 190;
      goto end0;
    }
    const bool t576 = t1 == 191;
    if (t576) {
      if_v0 = 191;
      goto end0;
    }
    const bool t579 = t1 == 192;
    if (t579) {
      if_v0 = 192;
      goto end0;
    }
    const bool t582 = t1 == 193;
    if (t582) {
      if_v0 = 193;
      goto end0;
    }
    const bool t585 = t1 == 194;
    if (t585) {
      if_v0 = 194;
      goto end0;
    }
    const bool t588 = t1 == 195;
    if (t588) {
      if_v0 = 195;
      goto end0;
    }
    const bool t591 = t1 == 196;
    if (t591) {
      if_v0 = 196;
      goto end0;
    }
    const bool t594 = t1 == 197;
    if (t594) {
      if_v0 = 197;
      goto end0;
    }
    const bool t597 = t1 == 198;
    if (t597) {
      if_v0 = 198;
      goto end0;
    }
    const bool t600 = t1 == 199;
    if (t600) {
      if_v0 = 199;
      goto end0;
    }
    const bool t603 = t1 == 200;
    if (t603) {
      if_v0 = 200;
      goto end0;
    }
    const bool t606 = t1 == 201;
    if (t606) {
      if_v0 = 201;
      goto end0;
    }
    const bool t609 = t1 == 202;
    if (t609) {
      if_v0 = 202;
      goto end0;
    }
    const bool t612 = t1 == 203;
    if (t612) {
      if_v0 = 203;
      goto end0;
    }
    const bool t615 = t1 == 204;
    if (t615) {
      if_v0 = 204;
      goto end0;
    }
    const bool t618 = t1 == 205;
    if (t618) {
      if_v0 = 205;
      goto end0;
    }
    const bool t621 = t1 == 206;
    if (t621) {
      if_v0 = 206;
      goto end0;
    }
    const bool t624 = t1 == 207;
    if (t624) {
      if_v0 = 207;
      goto end0;
    }
    const bool t627 = t1 == 208;
    if (t627) {
      if_v0 = 208;
      goto end0;
    }
    const bool t630 = t1 == 209;
    if (t630) {
      if_v0 = 209;
      goto end0;
    }
    const bool t633 = t1 == 210;
    if (t633) {
      if_v0 = 210;
      goto end0;
    }
    const bool t636 = t1 == 211;
    if (t636) {
      if_v0 = 211;
      goto end0;
    }
    const bool t639 = t1 == 212;
    if (t639) {
      if_v0 = 212;
      goto end0;
    }
    const bool t642 = t1 == 213;
    if (t642) {
      if_v0 = 213;
      goto end0;
    }
    const bool t645 = t1 == 214;
    if (t645) {
      if_v0 = 214;
      goto end0;
    }
    const bool t648 = t1 == 215;
    if (t648) {
      if_v0 = 215;
      goto end0;
    }
    const bool t651 = t1 == 216;
    if (t651) {
      if_v0 = 216;
      goto end0;
    }
    const bool t654 = t1 == 217;
    if (t654) {
      if_v0 = 217;
      goto end0;
    }
    const bool t657 = t1 == 218;
    if (t657) {
      if_v0 = 218;
      goto end0;
    }
    const bool t660 = t1 == 219;
    if (t660) {
      if_v0 = 219;
      goto end0;
    }
    const bool t663 = t1 == 220;
    if (t663) {
      if_v0 = 220;
      goto end0;
    }
    const bool t666 = t1 == 221;
    if (t666) {
      if_v0 = 221;
      goto end0;
    }
    const bool t669 = t1 == 222;
    if (t669) {
      if_v0 = 222;
      goto end0;
    }
    const bool t672 = t1 == 223;
    if (t672) {
      if_v0 = 223;
      goto end0;
    }
    const bool t675 = t1 == 224;
    if (t675) {
      if_v0 = 224;
      goto end0;
    }
    const bool t678 = t1 == 225;
    if (t678) {
      if_v0 = 225;
      goto end0;
    }
    const bool t681 = t1 == 226;
    if (t681) {
      if_v0 = 226;
      goto end0;
    }
    const bool t684 = t1 == 227;
    if (t684) {
      if_v0 = 227;
      goto end0;
    }
    const bool t687 = t1 == 228;
    if (t687) {
      if_v0 = 228;
      goto end0;
    }
    const bool t690 = t1 == 229;
    if (t690) {
      if_v0 = 229;
      goto end0;
    }
    const bool t693 = t1 == 230;
    if (t693) {
      if_v0 = 230;
      goto end0;
    }
    const bool t696 = t1 == 231;
    if (t696) {
      if_v0 = 231;
      goto end0;
    }
    const bool t699 = t1 == 232;
    if (t699) {
      if_v0 = 232;
      goto end0;
    }
    const bool t702 = t1 == 233;
    if (t702) {
      if_v0 = 233;
      goto end0;
    }
    const bool t705 = t1 == 234;
    if (t705) {
      if_v0 = 234;
      goto end0;
    }
    const bool t708 = t1 == 235;
    if (t708) {
      if_v0 = 235;
      goto end0;
    }
    const bool t711 = t1 == 236;
    if (t711) {
      if_v0 = 236;
      goto end0;
    }
    const bool t714 = t1 == 237;
    if (t714) {
      if_v0 = 237;
      goto end0;
    }
    const bool t717 = t1 == 238;
    if (t717) {
      if_v0 = 238;
      goto end0;
    }
    const bool t720 = t1 == 239;
    if (t720) {
      if_v0 = 239;
      goto end0;
    }
    const bool t723 = t1 == 240;
    if (t723) {
      if_v0 = 240;
      goto end0;
    }
    const bool t726 = t1 == 241;
    if (t726) {
      if_v0 = 241;
      goto end0;
    }
    const bool t729 = t1 == 242;
    if (t729) {
      if_v0 = 242;
      goto end0;
    }
    const bool t732 = t1 == 243;
    if (t732) {
      if_v0 = 243;
      goto end0;
    }
    const bool t735 = t1 == 244;
    if (t735) {
      if_v0 = 244;
      goto end0;
    }
    const bool t738 = t1 == 245;
    if (t738) {
      if_v0 = 245;
      goto end0;
    }
    const bool t741 = t1 == 246;
    if (t741) {
      if_v0 = 246;
      goto end0;
    }
    const bool t744 = t1 == 247;
    if (t744) {
      if_v0 = 247;
      goto end0;
    }
    const bool t747 = t1 == 248;
    if (t747) {
      if_v0 = 248;
      goto end0;
    }
    const bool t750 = t1 == 249;
    if (t750) {
      if_v0 = 249;
      goto end0;
    }
    const bool t753 = t1 == 250;
    if (t753) {
      if_v0 = 250;
      goto end0;
    }
    const bool t756 = t1 == 251;
    if (t756) {
      if_v0 = 251;
      goto end0;
    }
    const bool t759 = t1 == 252;
    if (t759) {
      if_v0 = 252;
      goto end0;
    }
    const bool t762 = t1 == 253;
    if (t762) {
      if_v0 = 253;
      goto end0;
    }
    const bool t765 = t1 == 254;
    if (t765) {
      if_v0 = 254;
      goto end0;
    }
    const bool t768 = t1 == 255;
    if (t768) {
      if_v0 = 255;
      goto end0;
    }
    const bool t771 = t1 == 256;
    if (t771) {
      if_v0 = 256;
      goto end0;
    }
    const bool t774 = t1 == 257;
    if (t774) {
      if_v0 = 257;
      goto end0;
    }
    const bool t777 = t1 == 258;
    if (t777) {
      if_v0 = 258;
      goto end0;
    }
    const bool t780 = t1 == 259;
    if (t780) {
      if_v0 = 259;
      goto end0;
    }
    const bool t783 = t1 == 261;
    if (t783) {
      // crates/folio-conformance/src/engine/kernels/rare.rs
      if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = 5;
      else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
      return;
    }
    const bool t786 = t1 > 270;
    if (t786) {
      const i32 t787 = (i32)((u32)0 - (u32)t1);
      if_v0 = t787;
      goto end0;
    }
    if_v0 = (-999 - 1);
  }
  end0: ;
  // crates/folio-conformance/src/engine/kernels/rare.rs
  const i32 t789 = if_v0;
  // crates/folio-conformance/src/engine/kernels/rare.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t789;
  else outside(verdict, 3u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// many_tests
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_many_tests(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL i32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const i32 *x_p0 = x_p0_base + block.words[9];
  GLOBAL i32 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  i32 l4_v0 = 0;
  // crates/folio-conformance/src/engine/kernels/rare.rs
  i32 t1 = 0;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  l4_v0 = 5;
  for (i32 k5 = 0; k5 < 2; k5++) {
    {
      const bool t6 = t1 < k5;
      if (t6) {
        // crates/folio-conformance/src/engine/kernels/rare.rs
        const i32 t8 = l4_v0;
        const i32 t9 = (i32)((u32)t8 + (u32)1);
        l4_v0 = t9;
        goto end1;
      }
      const bool t11 = t1 == 7;
      if (t11) {
        continue;
      }
      const bool t13 = t1 > 280;
      if (t13) {
        break;
      }
      const bool t15 = t1 == 0;
      if (t15) {
        // crates/folio-conformance/src/engine/kernels/rare.rs
        const i32 t17 = l4_v0;
        const i32 t18 = (i32)((u32)t17 + (u32)0);
        l4_v0 = t18;
        goto end1;
      }
      const bool t20 = t1 == 1;
      if (t20) {
        const i32 t22 = l4_v0;
        const i32 t23 = (i32)((u32)t22 + (u32)1);
        l4_v0 = t23;
        goto end1;
      }
      const bool t25 = t1 == 2;
      if (t25) {
        const i32 t27 = l4_v0;
        const i32 t28 = (i32)((u32)t27 + (u32)2);
        l4_v0 = t28;
        goto end1;
      }
      const bool t30 = t1 == 3;
      if (t30) {
        const i32 t32 = l4_v0;
        const i32 t33 = (i32)((u32)t32 + (u32)3);
        l4_v0 = t33;
        goto end1;
      }
      const bool t35 = t1 == 4;
      if (t35) {
        const i32 t37 = l4_v0;
        const i32 t38 = (i32)((u32)t37 + (u32)4);
        l4_v0 = t38;
        goto end1;
      }
      const bool t40 = t1 == 5;
      if (t40) {
        const i32 t42 = l4_v0;
        const i32 t43 = (i32)((u32)t42 + (u32)5);
        l4_v0 = t43;
        goto end1;
      }
      const bool t45 = t1 == 6;
      if (t45) {
        const i32 t47 = l4_v0;
        const i32 t48 = (i32)((u32)t47 + (u32)6);
        l4_v0 = t48;
        goto end1;
      }
      const bool t50 = t1 == 7;
      if (t50) {
        const i32 t52 = l4_v0;
        const i32 t53 = (i32)((u32)t52 + (u32)7);
        l4_v0 = t53;
        goto end1;
      }
      const bool t55 = t1 == 8;
      if (t55) {
        const i32 t57 = l4_v0;
        const i32 t58 = (i32)((u32)t57 + (u32)8);
        l4_v0 = t58;
        goto end1;
      }
      const bool t60 = t1 == 9;
      if (t60) {
        const i32 t62 = l4_v0;
        const i32 t63 = (i32)((u32)t62 + (u32)9);
        l4_v0 = t63;
        goto end1;
      }
      const bool t65 = t1 == 10;
      if (t65) {
        const i32 t67 = l4_v0;
        const i32 t68 = (i32)((u32)t67 + (u32)10);
        l4_v0 = t68;
        goto end1;
      }
      const bool t70 = t1 == 11;
      if (t70) {
        const i32 t72 = l4_v0;
        const i32 t73 = (i32)((u32)t72 + (u32)11);
        l4_v0 = t73;
        goto end1;
      }
      const bool t75 = t1 == 12;
      if (t75) {
        const i32 t77 = l4_v0;
        const i32 t78 = (i32)((u32)t77 + (u32)12);
        l4_v0 = t78;
        goto end1;
      }
      const bool t80 = t1 == 13;
      if (t80) {
        const i32 t82 = l4_v0;
        const i32 t83 = (i32)((u32)t82 + (u32)13);
        l4_v0 = t83;
        goto end1;
      }
      const bool t85 = t1 == 14;
      if (t85) {
        const i32 t87 = l4_v0;
        const i32 t88 = (i32)((u32)t87 + (u32)14);
        l4_v0 = t88;
        goto end1;
      }
      const bool t90 = t1 == 15;
      if (t90) {
        const i32 t92 = l4_v0;
        const i32 t93 = (i32)((u32)t92 + (u32)15);
        l4_v0 = t93;
        goto end1;
      }
      const bool t95 = t1 == 16;
      if (t95) {
        const i32 t97 = l4_v0;
        const i32 t98 = (i32)((u32)t97 + (u32)16);
        l4_v0 = t98;
        goto end1;
      }
      const bool t100 = t1 == 17;
      if (t100) {
        const i32 t102 = l4_v0;
        const i32 t103 = (i32)((u32)t102 + (u32)17);
        l4_v0 = t103;
        goto end1;
      }
      const bool t105 = t1 == 18;
      if (t105) {
        const i32 t107 = l4_v0;
        const i32 t108 = (i32)((u32)t107 + (u32)18);
        l4_v0 = t108;
        goto end1;
      }
      const bool t110 = t1 == 19;
      if (t110) {
        const i32 t112 = l4_v0;
        const i32 t113 = (i32)((u32)t112 + (u32)19);
        l4_v0 = t113;
        goto end1;
      }
      const bool t115 = t1 == 20;
      if (t115) {
        const i32 t117 = l4_v0;
        const i32 t118 = (i32)((u32)t117 + (u32)20);
        l4_v0 = t118;
        goto end1;
      }
      const bool t120 = t1 == 21;
      if (t120) {
        const i32 t122 = l4_v0;
        const i32 t123 = (i32)((u32)t122 + (u32)21);
        l4_v0 = t123;
        goto end1;
      }
      const bool t125 = t1 == 22;
      if (t125) {
        const i32 t127 = l4_v0;
        const i32 t128 = (i32)((u32)t127 + (u32)22);
        l4_v0 = t128;
        goto end1;
      }
      const bool t130 = t1 == 23;
      if (t130) {
        const i32 t132 = l4_v0;
        const i32 t133 = (i32)((u32)t132 + (u32)23);
        l4_v0 = t133;
        goto end1;
      }
      const bool t135 = t1 == 24;
      if (t135) {
        const i32 t137 = l4_v0;
        const i32 t138 = (i32)((u32)t137 + (u32)24);
        l4_v0 = t138;
        goto end1;
      }
      const bool t140 = t1 == 25;
      if (t140) {
        const i32 t142 = l4_v0;
        const i32 t143 = (i32)((u32)t142 + (u32)25);
        l4_v0 = t143;
        goto end1;
      }
      const bool t145 = t1 == 26;
      if (t145) {
        const i32 t147 = l4_v0;
        const i32 t148 = (i32)((u32)t147 + (u32)26);
        l4_v0 = t148;
        goto end1;
      }
      const bool t150 = t1 == 27;
      if (t150) {
        const i32 t152 = l4_v0;
        const i32 t153 = (i32)((u32)t152 + (u32)27);
        l4_v0 = t153;
        goto end1;
      }
      const bool t155 = t1 == 28;
      if (t155) {
        const i32 t157 = l4_v0;
        const i32 t158 = (i32)((u32)t157 + (u32)28);
        l4_v0 = t158;
        goto end1;
      }
      const bool t160 = t1 == 29;
      if (t160) {
        const i32 t162 = l4_v0;
        const i32 t163 = (i32)((u32)t162 + (u32)29);
        l4_v0 = t163;
        goto end1;
      }
      const bool t165 = t1 == 30;
      if (t165) {
        const i32 t167 = l4_v0;
        const i32 t168 = (i32)((u32)t167 + (u32)30);
        l4_v0 = t168;
        goto end1;
      }
      const bool t170 = t1 == 31;
      if (t170) {
        const i32 t172 = l4_v0;
        const i32 t173 = (i32)((u32)t172 + (u32)31);
        l4_v0 = t173;
        goto end1;
      }
      const bool t175 = t1 == 32;
      if (t175) {
        const i32 t177 = l4_v0;
        const i32 t178 = (i32)((u32)t177 + (u32)32);
        l4_v0 = t178;
        goto end1;
      }
      const bool t180 = t1 == 33;
      if (t180) {
        const i32 t182 = l4_v0;
        const i32 t183 = (i32)((u32)t182 + (u32)33);
        l4_v0 = t183;
        goto end1;
      }
      const bool t185 = t1 == 34;
      if (t185) {
        const i32 t187 = l4_v0;
        const i32 t188 = (i32)((u32)t187 + (u32)34);
        l4_v0 = t188;
        goto end1;
      }
      const bool t190 = t1 == 35;
      if (t190) {
        const i32 t192 = l4_v0;
        const i32 t193 = (i32)((u32)t192 + (u32)35);
        l4_v0 = t193;
        goto end1;
      }
      const bool t195 = t1 == 36;
      if (t195) {
        const i32 t197 = l4_v0;
        const i32 t198 = (i32)((u32)t197 + (u32)36);
        l4_v0 = t198;
        goto end1;
      }
      const bool t200 = t1 == 37;
      if (t200) {
        const i32 t202 = l4_v0;
        const i32 t203 = (i32)((u32)t202 + (u32)37);
        l4_v0 = t203;
        goto end1;
      }
      const bool t205 = t1 == 38;
      if (t205) {
        const i32 t207 = l4_v0;
        const i32 t208 = (i32)((u32)t207 + (u32)38);
        l4_v0 = t208;
        goto end1;
      }
      const bool t210 = t1 == 39;
      if (t210) {
        const i32 t212 = l4_v0;
        const i32 t213 = (i32)((u32)t212 + (u32)39);
        l4_v0 = t213;
        goto end1;
      }
      const bool t215 = t1 == 40;
      if (t215) {
        const i32 t217 = l4_v0;
        const i32 t218 = (i32)((u32)t217 + (u32)40);
        l4_v0 = t218;
        goto end1;
      }
      const bool t220 = t1 == 41;
      if (t220) {
        const i32 t222 = l4_v0;
        const i32 t223 = (i32)((u32)t222 + (u32)41);
        l4_v0 = t223;
        goto end1;
      }
      const bool t225 = t1 == 42;
      if (t225) {
        const i32 t227 = l4_v0;
        const i32 t228 = (i32)((u32)t227 + (u32)42);
        l4_v0 = t228;
        goto end1;
      }
      const bool t230 = t1 == 43;
      if (t230) {
        const i32 t232 = l4_v0;
        const i32 t233 = (i32)((u32)t232 + (u32)43);
        l4_v0 = t233;
        goto end1;
      }
      const bool t235 = t1 == 44;
      if (t235) {
        const i32 t237 = l4_v0;
        const i32 t238 = (i32)((u32)t237 + (u32)44);
        l4_v0 = t238;
        goto end1;
      }
      const bool t240 = t1 == 45;
      if (t240) {
        const i32 t242 = l4_v0;
        const i32 t243 = (i32)((u32)t242 + (u32)45);
        l4_v0 = t243;
        goto end1;
      }
      const bool t245 = t1 == 46;
      if (t245) {
        const i32 t247 = l4_v0;
        const i32 t248 = (i32)((u32)t247 + (u32)46);
        l4_v0 = t248;
        goto end1;
      }
      const bool t250 = t1 == 47;
      if (t250) {
        const i32 t252 = l4_v0;
        const i32 t253 = (i32)((u32)t252 + (u32)47);
        l4_v0 = t253;
        goto end1;
      }
      const bool t255 = t1 == 48;
      if (t255) {
        const i32 t257 = l4_v0;
        const i32 t258 = (i32)((u32)t257 + (u32)48);
        l4_v0 = t258;
        goto end1;
      }
      const bool t260 = t1 == 49;
      if (t260) {
        const i32 t262 = l4_v0;
        const i32 t263 = (i32)((u32)t262 + (u32)49);
        l4_v0 = t263;
        goto end1;
      }
      const bool t265 = t1 == 50;
      if (t265) {
        const i32 t267 = l4_v0;
        const i32 t268 = (i32)((u32)t267 + (u32)50);
        l4_v0 = t268;
        goto end1;
      }
      const bool t270 = t1 == 51;
      if (t270) {
        const i32 t272 = l4_v0;
        const i32 t273 = (i32)((u32)t272 + (u32)51);
        l4_v0 = t273;
        goto end1;
      }
      const bool t275 = t1 == 52;
      if (t275) {
        const i32 t277 = l4_v0;
        const i32 t278 = (i32)((u32)t277 + (u32)52);
        l4_v0 = t278;
        goto end1;
      }
      const bool t280 = t1 == 53;
      if (t280) {
        const i32 t282 = l4_v0;
        const i32 t283 = (i32)((u32)t282 + (u32)53);
        l4_v0 = t283;
        goto end1;
      }
      const bool t285 = t1 == 54;
      if (t285) {
        const i32 t287 = l4_v0;
        const i32 t288 = (i32)((u32)t287 + (u32)54);
        l4_v0 = t288;
        goto end1;
      }
      const bool t290 = t1 == 55;
      if (t290) {
        const i32 t292 = l4_v0;
        const i32 t293 = (i32)((u32)t292 + (u32)55);
        l4_v0 = t293;
        goto end1;
      }
      const bool t295 = t1 == 56;
      if (t295) {
        const i32 t297 = l4_v0;
        const i32 t298 = (i32)((u32)t297 + (u32)56);
        l4_v0 = t298;
        goto end1;
      }
      const bool t300 = t1 == 57;
      if (t300) {
        const i32 t302 = l4_v0;
        const i32 t303 = (i32)((u32)t302 + (u32)57);
        l4_v0 = t303;
        goto end1;
      }
      const bool t305 = t1 == 58;
      if (t305) {
        const i32 t307 = l4_v0;
        const i32 t308 = (i32)((u32)t307 + (u32)58);
        l4_v0 = t308;
        goto end1;
      }
      const bool t310 = t1 == 59;
      if (t310) {
        const i32 t312 = l4_v0;
        const i32 t313 = (i32)((u32)t312 + (u32)59);
        l4_v0 = t313;
        goto end1;
      }
      const bool t315 = t1 == 60;
      if (t315) {
        const i32 t317 = l4_v0;
        const i32 t318 = (i32)((u32)t317 + (u32)60);
        l4_v0 = t318;
        goto end1;
      }
      const bool t320 = t1 == 61;
      if (t320) {
        const i32 t322 = l4_v0;
        const i32 t323 = (i32)((u32)t322 + (u32)61);
        l4_v0 = t323;
        goto end1;
      }
      const bool t325 = t1 == 62;
      if (t325) {
        const i32 t327 = l4_v0;
        const i32 t328 = (i32)((u32)t327 + (u32)62);
        l4_v0 = t328;
        goto end1;
      }
      const bool t330 = t1 == 63;
      if (t330) {
        const i32 t332 = l4_v0;
        const i32 t333 = (i32)((u32)t332 + (u32)63);
        l4_v0 = t333;
        goto end1;
      }
      const bool t335 = t1 == 64;
      if (t335) {
        const i32 t337 = l4_v0;
        const i32 t338 = (i32)((u32)t337 + (u32)64);
        l4_v0 = t338;
        goto end1;
      }
      const bool t340 = t1 == 65;
      if (t340) {
        const i32 t342 = l4_v0;
        const i32 t343 = (i32)((u32)t342 + (u32)65);
        l4_v0 = t343;
        goto end1;
      }
      const bool t345 = t1 == 66;
      if (t345) {
        const i32 t347 = l4_v0;
        const i32 t348 = (i32)((u32)t347 + (u32)66);
        l4_v0 = t348;
        goto end1;
      }
      const bool t350 = t1 == 67;
      if (t350) {
        const i32 t352 = l4_v0;
        const i32 t353 = (i32)((u32)t352 + (u32)67);
        l4_v0 = t353;
        goto end1;
      }
      const bool t355 = t1 == 68;
      if (t355) {
        const i32 t357 = l4_v0;
        const i32 t358 = (i32)((u32)t357 + (u32)68);
        l4_v0 = t358;
        goto end1;
      }
      const bool t360 = t1 == 69;
      if (t360) {
        const i32 t362 = l4_v0;
        const i32 t363 = (i32)((u32)t362 + (u32)69);
        l4_v0 = t363;
        goto end1;
      }
      const bool t365 = t1 == 70;
      if (t365) {
        const i32 t367 = l4_v0;
        const i32 t368 = (i32)((u32)t367 + (u32)70);
        l4_v0 = t368;
        goto end1;
      }
      const bool t370 = t1 == 71;
      if (t370) {
        const i32 t372 = l4_v0;
        const i32 t373 = (i32)((u32)t372 + (u32)71);
        l4_v0 = t373;
        goto end1;
      }
      const bool t375 = t1 == 72;
      if (t375) {
        const i32 t377 = l4_v0;
        const i32 t378 = (i32)((u32)t377 + (u32)72);
        l4_v0 = t378;
        goto end1;
      }
      const bool t380 = t1 == 73;
      if (t380) {
        const i32 t382 = l4_v0;
        const i32 t383 = (i32)((u32)t382 + (u32)73);
        l4_v0 = t383;
        goto end1;
      }
      const bool t385 = t1 == 74;
      if (t385) {
        const i32 t387 = l4_v0;
        const i32 t388 = (i32)((u32)t387 + (u32)74);
        l4_v0 = t388;
        goto end1;
      }
      const bool t390 = t1 == 75;
      if (t390) {
        const i32 t392 = l4_v0;
        const i32 t393 = (i32)((u32)t392 + (u32)75);
        l4_v0 = t393;
        goto end1;
      }
      const bool t395 = t1 == 76;
      if (t395) {
        const i32 t397 = l4_v0;
        const i32 t398 = (i32)((u32)t397 + (u32)76);
        l4_v0 = t398;
        goto end1;
      }
      const bool t400 = t1 == 77;
      if (t400) {
        const i32 t402 = l4_v0;
        const i32 t403 = (i32)((u32)t402 + (u32)77);
        l4_v0 = t403;
        goto end1;
      }
      const bool t405 = t1 == 78;
      if (t405) {
        const i32 t407 = l4_v0;
        const i32 t408 = (i32)((u32)t407 + (u32)78);
        l4_v0 = t408;
        goto end1;
      }
      const bool t410 = t1 == 79;
      if (t410) {
        const i32 t412 = l4_v0;
        const i32 t413 = (i32)((u32)t412 + (u32)79);
        l4_v0 = t413;
        goto end1;
      }
      const bool t415 = t1 == 80;
      if (t415) {
        const i32 t417 = l4_v0;
        const i32 t418 = (i32)((u32)t417 + (u32)80);
        l4_v0 = t418;
        goto end1;
      }
      const bool t420 = t1 == 81;
      if (t420) {
        const i32 t422 = l4_v0;
        const i32 t423 = (i32)((u32)t422 + (u32)81);
        l4_v0 = t423;
        goto end1;
      }
      const bool t425 = t1 == 82;
      if (t425) {
        const i32 t427 = l4_v0;
        const i32 t428 = (i32)((u32)t427 + (u32)82);
        l4_v0 = t428;
        goto end1;
      }
      const bool t430 = t1 == 83;
      if (t430) {
        const i32 t432 = l4_v0;
        const i32 t433 = (i32)((u32)t432 + (u32)83);
        l4_v0 = t433;
        goto end1;
      }
      const bool t435 = t1 == 84;
      if (t435) {
        const i32 t437 = l4_v0;
        const i32 t438 = (i32)((u32)t437 + (u32)84);
        l4_v0 = t438;
        goto end1;
      }
      const bool t440 = t1 == 85;
      if (t440) {
        const i32 t442 = l4_v0;
        const i32 t443 = (i32)((u32)t442 + (u32)85);
        l4_v0 = t443;
        goto end1;
      }
      const bool t445 = t1 == 86;
      if (t445) {
        const i32 t447 = l4_v0;
        const i32 t448 = (i32)((u32)t447 + (u32)86);
        l4_v0 = t448;
        goto end1;
      }
      const bool t450 = t1 == 87;
      if (t450) {
        const i32 t452 = l4_v0;
        const i32 t453 = (i32)((u32)t452 + (u32)87);
        l4_v0 = t453;
        goto end1;
      }
      const bool t455 = t1 == 88;
      if (t455) {
        const i32 t457 = l4_v0;
        const i32 t458 = (i32)((u32)t457 + (u32)88);
        l4_v0 = t458;
        goto end1;
      }
      const bool t460 = t1 == 89;
      if (t460) {
        const i32 t462 = l4_v0;
        const i32 t463 = (i32)((u32)t462 + (u32)89);
        l4_v0 = t463;
        goto end1;
      }
      const bool t465 = t1 == 90;
      if (t465) {
        const i32 t467 = l4_v0;
        const i32 t468 = (i32)((u32)t467 + (u32)90);
        l4_v0 = t468;
        goto end1;
      }
      const bool t470 = t1 == 91;
      if (t470) {
        const i32 t472 = l4_v0;
        const i32 t473 = (i32)((u32)t472 + (u32)91);
        l4_v0 = t473;
        goto end1;
      }
      const bool t475 = t1 == 92;
      if (t475) {
        const i32 t477 = l4_v0;
        const i32 t478 = (i32)((u32)t477 + (u32)92);
        l4_v0 = t478;
        goto end1;
      }
      const bool t480 = t1 == 93;
      if (t480) {
        const i32 t482 = l4_v0;
        const i32 t483 = (i32)((u32)t482 + (u32)93);
        l4_v0 = t483;
        goto end1;
      }
      const bool t485 = t1 == 94;
      if (t485) {
        const i32 t487 = l4_v0;
        const i32 t488 = (i32)((u32)t487 + (u32)94);
        l4_v0 = t488;
        goto end1;
      }
      const bool t490 = t1 == 95;
      if (t490) {
        const i32 t492 = l4_v0;
        const i32 t493 = (i32)((u32)t492 + (u32)95);
        l4_v0 = t493;
        goto end1;
      }
    }
    end1: ;
    // crates/folio-conformance/src/engine/kernels/rare.rs
    const i32 t495 = l4_v0;
    const i32 t496 = (i32)((u32)t495 * (u32)2);
    l4_v0 = t496;
  }
  // crates/folio-conformance/src/engine/kernels/rare.rs
  const i32 t497 = l4_v0;
  // crates/folio-conformance/src/engine/kernels/rare.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t497;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// match
typedef struct { i32 at[2]; } array_t0;
typedef struct { i32 x_f0; i32 y_f1; } V2_t1;
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[13]; } Block;
ENTRY(256) folio_match(
    const Block block,
    GLOBAL const i32 *RESTRICT in_p0_base,
    GLOBAL i32 *RESTRICT fn_p3_base,
    GLOBAL Record *verdict) {
  const u64 in_p0_low0 = block.words[0];
  const u64 in_p0_size0 = block.words[1];
  const u64 in_p0_shape0 = block.words[2];
  const u64 fn_p3_low0 = block.words[3];
  const u64 fn_p3_size0 = block.words[4];
  const u64 fn_p3_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const i32 *in_p0 = in_p0_base + block.words[9];
  GLOBAL i32 *fn_p3 = fn_p3_base + block.words[12];
  const i32 mut_p1 = (i32)block.words[10];
  const i32 static_p2 = (i32)block.words[11];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  array_t0 l9_v0 = { { 0 } };
  // crates/folio-conformance/src/engine/kernels/language.rs
  i32 t3 = 0;
  if (pos0 - in_p0_low0 < in_p0_size0) t3 = in_p0[pos0 - in_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, in_p0_shape0, 0, 0);
  const i32 t5 = (i32)((u32)t3 + (u32)1);
  const i32 t6 = (i32)((u32)t5 * (u32)mut_p1);
  const array_t0 t8 = { { t6, 2 } };
  l9_v0 = t8;
  const i32 t9 = (i32)((u32)static_p2 - (u32)t3);
  // crates/folio-conformance/src/engine/kernels/language.rs
  const i32 t11 = l9_v0.at[0ul];
  const i32 t12 = (i32)((u32)t11 + (u32)t9);
  l9_v0.at[0ul] = t12;
  // crates/folio-conformance/src/engine/kernels/language.rs
  const i32 t15 = l9_v0.at[0ul];
  // crates/folio-conformance/src/engine/kernels/language.rs
  const i32 t17 = l9_v0.at[1ul];
  const V2_t1 t18 = { t15, t17 };
  const i32 t19 = t18.x_f0;
  const i32 t20 = (i32)((u32)t19 * (u32)5);
  const i32 t21 = t18.y_f1;
  const i32 t22 = (i32)((u32)t20 + (u32)t21);
  // crates/folio-conformance/src/engine/kernels/language.rs
  if (pos0 - fn_p3_low0 < fn_p3_size0) fn_p3[pos0 - fn_p3_low0] = t22;
  else outside(verdict, 2u, pos0, 0, 0, fn_p3_shape0, 0, 0);
}
// matches
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
FN i32 rem_i32(i32 a, i32 b) { return b == -1 ? 0 : (i32)(a % b); }
FN i32 div_i32(i32 a, i32 b) { return b == -1 ? (i32)((u32)0 - (u32)a) : (i32)(a / b); }
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_matches(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL i32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const i32 *x_p0 = x_p0_base + block.words[9];
  GLOBAL i32 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  i32 if_v0 = 0;
  i32 if_v1 = 0;
  i32 if_v2 = 0;
  i32 if_v3 = 0;
  i32 if_v4 = 0;
  i32 if_v5 = 0;
  i32 if_v6 = 0;
  i32 if_v7 = 0;
  i32 if_v8 = 0;
  i32 if_v9 = 0;
  i32 if_v10 = 0;
  // crates/folio-conformance/src/engine/kernels/language.rs
  i32 t1 = 0;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/language.rs
  const i32 t3 = rem_i32(t1, 8);
  const bool t5 = t3 == 0;
  if (t5) {
    if_v0 = 100;
  } else {
    const bool t8 = t3 == 1;
    const bool t10 = t3 == 2;
    const bool t11 = (t8 || t10);
    if (t11) {
      const i32 t13 = (i32)((u32)200 + (u32)t1);
      if_v1 = t13;
    } else {
      const bool t15 = t3 == 3;
      if (t15) {
        if_v2 = 300;
      } else {
        const bool t18 = t3 >= (-6 - 1);
        const bool t20 = t3 <= (-4 - 1);
        const bool t21 = (t18 && t20);
        if (t21) {
          if_v3 = (-399 - 1);
        } else {
          const bool t24 = t3 == 4;
          const bool t26 = t3 == 5;
          const bool t27 = (t24 || t26);
          const bool t29 = t3 > 4;
          const bool t31 = t1 > 0;
          const bool t32 = (t29 && t31);
          const bool t33 = (t27 && t32);
          if (t33) {
            const i32 t35 = (i32)((u32)t3 * (u32)5);
            if_v4 = t35;
          } else {
            const bool t37 = t3 < 0;
            if (t37) {
              const i32 t38 = (i32)((u32)0 - (u32)t3);
              if_v5 = t38;
            } else {
              const bool t40 = t3 == 2147483647;
              if (t40) {
                if_v6 = 1;
              } else {
                // crates/folio-conformance/src/engine/kernels/language.rs
                const i32 t43 = div_i32(t1, 3);
                if_v6 = t43;
              }
              const i32 t44 = if_v6;
              if_v5 = t44;
            }
            const i32 t45 = if_v5;
            if_v4 = t45;
          }
          const i32 t46 = if_v4;
          if_v3 = t46;
        }
        const i32 t47 = if_v3;
        if_v2 = t47;
      }
      const i32 t48 = if_v2;
      if_v1 = t48;
    }
    const i32 t49 = if_v1;
    if_v0 = t49;
  }
  const i32 t50 = if_v0;
  const i32 t52 = (i32)((u32)t1 & (u32)1);
  const bool t54 = t52 == 0;
  // crates/folio-conformance/src/engine/kernels/language.rs
  const i32 t56 = rem_i32(t1, 3);
  const bool t58 = t54 == true;
  const bool t60 = t56 == 0;
  const bool t61 = (t58 && t60);
  if (t61) {
    if_v7 = 1;
  } else {
    const bool t64 = t54 == false;
    const bool t66 = t56 == 0;
    const bool t68 = t56 == 1;
    const bool t69 = (t66 || t68);
    const bool t70 = (t64 && t69);
    if (t70) {
      if_v8 = 2;
    } else {
      const bool t73 = t56 >= (-1 - 1);
      const bool t75 = t56 < 2;
      const bool t76 = (t73 && t75);
      if (t76) {
        if_v9 = 3;
      } else {
        const bool t79 = t54 == true;
        if (t79) {
          if_v10 = t56;
        } else {
          // crates/folio-conformance/src/engine/kernels/language.rs
          if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = 9;
          else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
          return;
        }
        const i32 t81 = if_v10;
        if_v9 = t81;
      }
      const i32 t82 = if_v9;
      if_v8 = t82;
    }
    const i32 t83 = if_v8;
    if_v7 = t83;
  }
  const i32 t84 = if_v7;
  const bool t86 = t54 == true;
  if (t86) {
    const i32 t87 = (i32)((u32)t50 + (u32)t84);
    // crates/folio-conformance/src/engine/kernels/language.rs
    if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t87;
    else outside(verdict, 3u, pos0, 0, 0, y_p1_shape0, 0, 0);
  } else {
    const i32 t88 = (i32)((u32)t50 - (u32)t84);
    // crates/folio-conformance/src/engine/kernels/language.rs
    if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t88;
    else outside(verdict, 4u, pos0, 0, 0, y_p1_shape0, 0, 0);
  }
}
// matmul
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[28]; } Block;
ENTRY(256) folio_matmul(
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
  const u32 threads = (u32)(get_local_size(1) * get_local_size(0));
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
// matmul
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
// methods_of_i32
typedef struct { u32 at[10]; } array_t0;
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
FN i32 rem_i32(i32 a, i32 b) { return b == -1 ? 0 : (i32)(a % b); }
FN u32 ones_u32(u32 x) { return popcount(x); }
FN u32 clz_u32(u32 x) { return clz(x); }
FN u32 ctz_u32(u32 x) { return x == 0 ? 32u : 31u - clz_u32(x & (0u - x)); }
typedef struct { u64 words[15]; } Block;
ENTRY(256) folio_methods_of_i32(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL const i32 *RESTRICT y_p1_base,
    GLOBAL array_t0 *RESTRICT o_p2_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 o_p2_low0 = block.words[6];
  const u64 o_p2_size0 = block.words[7];
  const u64 o_p2_shape0 = block.words[8];
  const u64 first0 = block.words[9];
  const u64 offset0 = block.words[10];
  const u64 range0 = block.words[11];
  GLOBAL const i32 *x_p0 = x_p0_base + block.words[12];
  GLOBAL const i32 *y_p1 = y_p1_base + block.words[13];
  GLOBAL array_t0 *o_p2 = o_p2_base + block.words[14];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  i32 power_v0 = 0;
  i32 base_v1 = 0;
  u32 bits_v2 = 0u;
  i32 power_v3 = 0;
  i32 base_v4 = 0;
  u32 bits_v5 = 0u;
  // crates/folio-conformance/src/engine/kernels/code.rs
  i32 t1 = 0;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/code.rs
  i32 t2 = 0;
  if (pos0 - y_p1_low0 < y_p1_size0) t2 = y_p1[pos0 - y_p1_low0];
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
  const u32 t3 = (u32)t2;
  power_v0 = 1;
  base_v1 = t1;
  bits_v2 = t3;
  for (u64 k7 = 0ul; k7 < 32ul; k7++) {
    // crates/folio-conformance/src/engine/kernels/code.rs
    const i32 t8 = power_v0;
    const i32 t9 = base_v1;
    const u32 t10 = bits_v2;
    const u32 t12 = t10 & 1u;
    const bool t13 = t12 == 1u;
    const i32 t14 = (i32)((u32)t8 * (u32)t9);
    const i32 t15 = t13 ? t14 : t8;
    power_v0 = t15;
    const i32 t16 = (i32)((u32)t9 * (u32)t9);
    base_v1 = t16;
    const u32 t17 = (u32)(t10 >> ((u32)1u & 31u));
    bits_v2 = t17;
  }
  const i32 t18 = power_v0;
  const u32 t19 = (u32)t18;
  power_v3 = 1;
  base_v4 = t1;
  bits_v5 = 3u;
  for (u64 k24 = 0ul; k24 < 32ul; k24++) {
    // crates/folio-conformance/src/engine/kernels/code.rs
    const i32 t25 = power_v3;
    const i32 t26 = base_v4;
    const u32 t27 = bits_v5;
    const u32 t29 = t27 & 1u;
    const bool t30 = t29 == 1u;
    const i32 t31 = (i32)((u32)t25 * (u32)t26);
    const i32 t32 = t30 ? t31 : t25;
    power_v3 = t32;
    const i32 t33 = (i32)((u32)t26 * (u32)t26);
    base_v4 = t33;
    const u32 t34 = (u32)(t27 >> ((u32)1u & 31u));
    bits_v5 = t34;
  }
  const i32 t35 = power_v3;
  const u32 t36 = (u32)t35;
  const i32 t37 = (i32)((i64)t1 * (i64)t2 >> 32);
  const u32 t38 = (u32)t37;
  const i32 t39 = (t1 < t2 ? t1 : t2);
  const i32 t40 = (t1 > t2 ? t1 : t2);
  const i32 t41 = (i32)((u32)t40 - (u32)t39);
  const u32 t42 = (u32)t41;
  const i32 t44 = (i32)((u32)t2 | (u32)1);
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (t44 == 0) fail(verdict, 3u);
  const i32 t45 = t44 == 0 ? 0 : rem_i32(t1, t44);
  const bool t47 = t45 < 0;
  const i32 t48 = (t44 < 0 ? (i32)((u32)0 - (u32)t44) : t44);
  const i32 t49 = (i32)((u32)t45 + (u32)t48);
  const i32 t50 = t47 ? t49 : t45;
  const u32 t51 = (u32)t50;
  const i32 t52 = (i32)~(u32)t1;
  const u32 t53 = ones_u32((u32)t52);
  const i32 t54 = (i32)~(u32)t1;
  const u32 t55 = clz_u32((u32)t54);
  const i32 t56 = (i32)~(u32)t2;
  const u32 t57 = ctz_u32((u32)t56);
  const i32 t58 = (i32)((u32)0 - (u32)t1);
  const u32 t59 = (u32)t58;
  const i32 t60 = (t2 < 0 ? (i32)((u32)0 - (u32)t2) : t2);
  const u32 t61 = (u32)t60;
  const array_t0 t62 = { { t19, t36, t38, t42, t51, t53, t55, t57, t59, t61 } };
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (pos0 - o_p2_low0 < o_p2_size0) o_p2[pos0 - o_p2_low0] = t62;
  else outside(verdict, 4u, pos0, 0, 0, o_p2_shape0, 0, 0);
}
// methods_of_i8
typedef struct { u8 at[10]; } array_t0;
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
FN i8 rem_i8(i8 a, i8 b) { return b == -1 ? 0 : (i8)(a % b); }
FN u32 ones_u32(u32 x) { return popcount(x); }
FN u32 clz_u32(u32 x) { return clz(x); }
FN u32 ctz_u32(u32 x) { return x == 0 ? 32u : 31u - clz_u32(x & (0u - x)); }
typedef struct { u64 words[15]; } Block;
ENTRY(256) folio_methods_of_i8(
    const Block block,
    GLOBAL const i8 *RESTRICT x_p0_base,
    GLOBAL const i8 *RESTRICT y_p1_base,
    GLOBAL array_t0 *RESTRICT o_p2_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 o_p2_low0 = block.words[6];
  const u64 o_p2_size0 = block.words[7];
  const u64 o_p2_shape0 = block.words[8];
  const u64 first0 = block.words[9];
  const u64 offset0 = block.words[10];
  const u64 range0 = block.words[11];
  GLOBAL const i8 *x_p0 = x_p0_base + block.words[12];
  GLOBAL const i8 *y_p1 = y_p1_base + block.words[13];
  GLOBAL array_t0 *o_p2 = o_p2_base + block.words[14];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  i8 power_v0 = 0;
  i8 base_v1 = 0;
  u32 bits_v2 = 0u;
  i8 power_v3 = 0;
  i8 base_v4 = 0;
  u32 bits_v5 = 0u;
  // crates/folio-conformance/src/engine/kernels/code.rs
  i8 t1 = 0;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/code.rs
  i8 t2 = 0;
  if (pos0 - y_p1_low0 < y_p1_size0) t2 = y_p1[pos0 - y_p1_low0];
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
  const u32 t3 = (u32)t2;
  power_v0 = 1;
  base_v1 = t1;
  bits_v2 = t3;
  for (u64 k7 = 0ul; k7 < 32ul; k7++) {
    // crates/folio-conformance/src/engine/kernels/code.rs
    const i8 t8 = power_v0;
    const i8 t9 = base_v1;
    const u32 t10 = bits_v2;
    const u32 t12 = t10 & 1u;
    const bool t13 = t12 == 1u;
    const i8 t14 = (i8)((u32)t8 * (u32)t9);
    const i8 t15 = t13 ? t14 : t8;
    power_v0 = t15;
    const i8 t16 = (i8)((u32)t9 * (u32)t9);
    base_v1 = t16;
    const u32 t17 = (u32)(t10 >> ((u32)1u & 31u));
    bits_v2 = t17;
  }
  const i8 t18 = power_v0;
  const u8 t19 = (u8)t18;
  power_v3 = 1;
  base_v4 = t1;
  bits_v5 = 3u;
  for (u64 k24 = 0ul; k24 < 32ul; k24++) {
    // crates/folio-conformance/src/engine/kernels/code.rs
    const i8 t25 = power_v3;
    const i8 t26 = base_v4;
    const u32 t27 = bits_v5;
    const u32 t29 = t27 & 1u;
    const bool t30 = t29 == 1u;
    const i8 t31 = (i8)((u32)t25 * (u32)t26);
    const i8 t32 = t30 ? t31 : t25;
    power_v3 = t32;
    const i8 t33 = (i8)((u32)t26 * (u32)t26);
    base_v4 = t33;
    const u32 t34 = (u32)(t27 >> ((u32)1u & 31u));
    bits_v5 = t34;
  }
  const i8 t35 = power_v3;
  const u8 t36 = (u8)t35;
  const i8 t37 = (i8)((i64)t1 * (i64)t2 >> 8);
  const u8 t38 = (u8)t37;
  const i8 t39 = (t1 < t2 ? t1 : t2);
  const i8 t40 = (t1 > t2 ? t1 : t2);
  const i8 t41 = (i8)((u32)t40 - (u32)t39);
  const u8 t42 = (u8)t41;
  const i8 t44 = (i8)((u32)t2 | (u32)1);
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (t44 == 0) fail(verdict, 3u);
  const i8 t45 = t44 == 0 ? 0 : rem_i8(t1, t44);
  const bool t47 = t45 < 0;
  const i8 t48 = (t44 < 0 ? (i8)((u32)0 - (u32)t44) : t44);
  const i8 t49 = (i8)((u32)t45 + (u32)t48);
  const i8 t50 = t47 ? t49 : t45;
  const u8 t51 = (u8)t50;
  const i8 t52 = (i8)~(u32)t1;
  const u32 t53 = ones_u32((u32)(u8)t52);
  const u8 t54 = (u8)t53;
  const i8 t55 = (i8)~(u32)t1;
  const u32 t56 = clz_u32((u32)(u8)t55) - 24u;
  const u8 t57 = (u8)t56;
  const i8 t58 = (i8)~(u32)t2;
  const u32 t59 = ctz_u32((u32)(u8)t58 | 1u << 8);
  const u8 t60 = (u8)t59;
  const i8 t61 = (i8)((u32)0 - (u32)t1);
  const u8 t62 = (u8)t61;
  const i8 t63 = (t2 < 0 ? (i8)((u32)0 - (u32)t2) : t2);
  const u8 t64 = (u8)t63;
  const array_t0 t65 = { { t19, t36, t38, t42, t51, t54, t57, t60, t62, t64 } };
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (pos0 - o_p2_low0 < o_p2_size0) o_p2[pos0 - o_p2_low0] = t65;
  else outside(verdict, 4u, pos0, 0, 0, o_p2_shape0, 0, 0);
}
// methods_of_u64
typedef struct { u64 at[10]; } array_t0;
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
FN u64 high_u64(u64 a, u64 b) { return mul_hi(a, b); }
FN u32 ones_u64(u64 x) { return (u32)popcount(x); }
FN u32 clz_u64(u64 x) { return (u32)clz(x); }
FN u32 ctz_u64(u64 x) { return x == 0 ? 64u : 63u - clz_u64(x & ((u64)0 - x)); }
typedef struct { u64 words[15]; } Block;
ENTRY(256) folio_methods_of_u64(
    const Block block,
    GLOBAL const u64 *RESTRICT x_p0_base,
    GLOBAL const u64 *RESTRICT y_p1_base,
    GLOBAL array_t0 *RESTRICT o_p2_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 o_p2_low0 = block.words[6];
  const u64 o_p2_size0 = block.words[7];
  const u64 o_p2_shape0 = block.words[8];
  const u64 first0 = block.words[9];
  const u64 offset0 = block.words[10];
  const u64 range0 = block.words[11];
  GLOBAL const u64 *x_p0 = x_p0_base + block.words[12];
  GLOBAL const u64 *y_p1 = y_p1_base + block.words[13];
  GLOBAL array_t0 *o_p2 = o_p2_base + block.words[14];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  u64 power_v0 = 0ul;
  u64 base_v1 = 0ul;
  u32 bits_v2 = 0u;
  u64 power_v3 = 0ul;
  u64 base_v4 = 0ul;
  u32 bits_v5 = 0u;
  // crates/folio-conformance/src/engine/kernels/code.rs
  u64 t1 = 0ul;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/code.rs
  u64 t2 = 0ul;
  if (pos0 - y_p1_low0 < y_p1_size0) t2 = y_p1[pos0 - y_p1_low0];
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
  const u32 t3 = (u32)t2;
  power_v0 = 1ul;
  base_v1 = t1;
  bits_v2 = t3;
  for (u64 k7 = 0ul; k7 < 32ul; k7++) {
    // crates/folio-conformance/src/engine/kernels/code.rs
    const u64 t8 = power_v0;
    const u64 t9 = base_v1;
    const u32 t10 = bits_v2;
    const u32 t12 = t10 & 1u;
    const bool t13 = t12 == 1u;
    const u64 t14 = t8 * t9;
    const u64 t15 = t13 ? t14 : t8;
    power_v0 = t15;
    const u64 t16 = t9 * t9;
    base_v1 = t16;
    const u32 t17 = (u32)(t10 >> ((u32)1u & 31u));
    bits_v2 = t17;
  }
  const u64 t18 = power_v0;
  power_v3 = 1ul;
  base_v4 = t1;
  bits_v5 = 3u;
  for (u64 k23 = 0ul; k23 < 32ul; k23++) {
    // crates/folio-conformance/src/engine/kernels/code.rs
    const u64 t24 = power_v3;
    const u64 t25 = base_v4;
    const u32 t26 = bits_v5;
    const u32 t28 = t26 & 1u;
    const bool t29 = t28 == 1u;
    const u64 t30 = t24 * t25;
    const u64 t31 = t29 ? t30 : t24;
    power_v3 = t31;
    const u64 t32 = t25 * t25;
    base_v4 = t32;
    const u32 t33 = (u32)(t26 >> ((u32)1u & 31u));
    bits_v5 = t33;
  }
  const u64 t34 = power_v3;
  const u64 t35 = high_u64(t1, t2);
  const u64 t36 = (t1 < t2 ? t1 : t2);
  const u64 t37 = (t1 > t2 ? t1 : t2);
  const u64 t38 = t37 - t36;
  const u64 t40 = t2 | 1ul;
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (t40 == 0) fail(verdict, 3u);
  const u64 t41 = t40 == 0 ? 0 : (u64)(t1 % t40);
  const u64 t42 = (u64)~(u64)t1;
  const u32 t43 = ones_u64((u64)t42);
  const u64 t44 = (u64)t43;
  const u64 t45 = (u64)~(u64)t1;
  const u32 t46 = clz_u64((u64)t45);
  const u64 t47 = (u64)t46;
  const u64 t48 = (u64)~(u64)t2;
  const u32 t49 = ctz_u64((u64)t48);
  const u64 t50 = (u64)t49;
  const u64 t51 = (u64)((u64)0 - (u64)t1);
  const array_t0 t52 = { { t18, t34, t35, t38, t41, t44, t47, t50, t51, t2 } };
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (pos0 - o_p2_low0 < o_p2_size0) o_p2[pos0 - o_p2_low0] = t52;
  else outside(verdict, 4u, pos0, 0, 0, o_p2_shape0, 0, 0);
}
// nbody
typedef struct { f32 x_f0; f32 y_f1; f32 z_f2; } Vec3_t0;
typedef struct { Vec3_t0 pos_f0; f32 mass_f1; Vec3_t0 vel_f2; f32 spare_f3; } Body_t1;
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[12]; } Block;
ENTRY(256) folio_nbody(
    const Block block,
    GLOBAL const Body_t1 *RESTRICT p_p1_base,
    GLOBAL Body_t1 *RESTRICT out_p2_base,
    GLOBAL Record *verdict) {
  const u64 p_p1_shape0 = block.words[0];
  const u64 p_p1_low0 = block.words[1];
  const u64 p_p1_size0 = block.words[2];
  const u64 out_p2_low0 = block.words[3];
  const u64 out_p2_size0 = block.words[4];
  const u64 out_p2_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const Body_t1 *p_p1 = p_p1_base + block.words[10];
  GLOBAL Body_t1 *out_p2 = out_p2_base + block.words[11];
  const f32 dt_p0 = F32_BITS((u32)block.words[9]);
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  Body_t1 l4_v0 = { { 0.0f, 0.0f, 0.0f }, 0.0f, { 0.0f, 0.0f, 0.0f }, 0.0f };
  Vec3_t0 l5_v1 = { 0.0f, 0.0f, 0.0f };
  Vec3_t0 minus_v2 = { 0.0f, 0.0f, 0.0f };
  Vec3_t0 axpy_v3 = { 0.0f, 0.0f, 0.0f };
  Vec3_t0 axpy_v4 = { 0.0f, 0.0f, 0.0f };
  Vec3_t0 axpy_v5 = { 0.0f, 0.0f, 0.0f };
  // crates/folio-conformance/src/engine/kernels/code.rs
  Body_t1 t2 = { { 0.0f, 0.0f, 0.0f }, 0.0f, { 0.0f, 0.0f, 0.0f }, 0.0f };
  if (pos0 - p_p1_low0 < p_p1_size0) t2 = p_p1[pos0 - p_p1_low0];
  else outside(verdict, 1u, pos0, 0, 0, p_p1_shape0, 0, 0);
  l4_v0 = t2;
  const Vec3_t0 t6 = { 0.0f, 0.0f, 0.0f };
  l5_v1 = t6;
  for (u64 k9 = 0ul; k9 < p_p1_shape0; k9++) {
    // crates/folio-conformance/src/engine/kernels/code.rs
    Body_t1 t10 = { { 0.0f, 0.0f, 0.0f }, 0.0f, { 0.0f, 0.0f, 0.0f }, 0.0f };
    if (k9 - p_p1_low0 < p_p1_size0) t10 = p_p1[k9 - p_p1_low0];
    else outside(verdict, 2u, k9, 0, 0, p_p1_shape0, 0, 0);
    const Vec3_t0 t11 = t10.pos_f0;
    const Vec3_t0 t12 = l4_v0.pos_f0;
    {
      const f32 t13 = t11.x_f0;
      const f32 t14 = t12.x_f0;
      const f32 t15 = t13 - t14;
      const f32 t16 = t11.y_f1;
      const f32 t17 = t12.y_f1;
      const f32 t18 = t16 - t17;
      const f32 t19 = t11.z_f2;
      const f32 t20 = t12.z_f2;
      const f32 t21 = t19 - t20;
      const Vec3_t0 t22 = { t15, t18, t21 };
      minus_v2 = t22;
    }
    // crates/folio-conformance/src/engine/kernels/code.rs
    const Vec3_t0 t23 = minus_v2;
    const f32 t24 = t23.x_f0;
    const f32 t25 = t23.x_f0;
    const f32 t26 = t24 * t25;
    const f32 t27 = t23.y_f1;
    const f32 t28 = t23.y_f1;
    const f32 t29 = t27 * t28;
    const f32 t30 = t26 + t29;
    const f32 t31 = t23.z_f2;
    const f32 t32 = t23.z_f2;
    const f32 t33 = t31 * t32;
    const f32 t34 = t30 + t33;
    const f32 t36 = t34 + 0.001f;
    const f32 t38 = sqrt(t36);
    const f32 t39 = 1.0f / t38;
    const f32 t40 = t10.mass_f1;
    const f32 t41 = t40 * t39;
    const f32 t42 = t41 * t39;
    const f32 t43 = t42 * t39;
    // crates/folio-conformance/src/engine/kernels/code.rs
    const Vec3_t0 t44 = l5_v1;
    {
      const f32 t45 = t23.x_f0;
      const f32 t46 = t43 * t45;
      const f32 t47 = t44.x_f0;
      const f32 t48 = t46 + t47;
      const f32 t49 = t23.y_f1;
      const f32 t50 = t43 * t49;
      const f32 t51 = t44.y_f1;
      const f32 t52 = t50 + t51;
      const f32 t53 = t23.z_f2;
      const f32 t54 = t43 * t53;
      const f32 t55 = t44.z_f2;
      const f32 t56 = t54 + t55;
      const Vec3_t0 t57 = { t48, t52, t56 };
      axpy_v3 = t57;
    }
    // crates/folio-conformance/src/engine/kernels/code.rs
    const Vec3_t0 t58 = axpy_v3;
    l5_v1 = t58;
  }
  const Vec3_t0 t59 = l5_v1;
  const Vec3_t0 t60 = l4_v0.vel_f2;
  {
    const f32 t61 = t59.x_f0;
    const f32 t62 = dt_p0 * t61;
    const f32 t63 = t60.x_f0;
    const f32 t64 = t62 + t63;
    const f32 t65 = t59.y_f1;
    const f32 t66 = dt_p0 * t65;
    const f32 t67 = t60.y_f1;
    const f32 t68 = t66 + t67;
    const f32 t69 = t59.z_f2;
    const f32 t70 = dt_p0 * t69;
    const f32 t71 = t60.z_f2;
    const f32 t72 = t70 + t71;
    const Vec3_t0 t73 = { t64, t68, t72 };
    axpy_v4 = t73;
  }
  const Vec3_t0 t74 = axpy_v4;
  l4_v0.vel_f2 = t74;
  const Vec3_t0 t75 = l4_v0.vel_f2;
  const Vec3_t0 t76 = l4_v0.pos_f0;
  {
    const f32 t77 = t75.x_f0;
    const f32 t78 = dt_p0 * t77;
    const f32 t79 = t76.x_f0;
    const f32 t80 = t78 + t79;
    const f32 t81 = t75.y_f1;
    const f32 t82 = dt_p0 * t81;
    const f32 t83 = t76.y_f1;
    const f32 t84 = t82 + t83;
    const f32 t85 = t75.z_f2;
    const f32 t86 = dt_p0 * t85;
    const f32 t87 = t76.z_f2;
    const f32 t88 = t86 + t87;
    const Vec3_t0 t89 = { t80, t84, t88 };
    axpy_v5 = t89;
  }
  const Vec3_t0 t90 = axpy_v5;
  l4_v0.pos_f0 = t90;
  const f32 t92 = l4_v0.vel_f2.x_f0;
  const f32 t93 = t92 + 0.5f;
  l4_v0.vel_f2.x_f0 = t93;
  // crates/folio-conformance/src/engine/kernels/code.rs
  const Body_t1 t94 = l4_v0;
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (pos0 - out_p2_low0 < out_p2_size0) out_p2[pos0 - out_p2_low0] = t94;
  else outside(verdict, 3u, pos0, 0, 0, out_p2_shape0, 0, 0);
}
// neighbours
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_neighbours(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL i32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const i32 *x_p0 = x_p0_base + block.words[9];
  GLOBAL i32 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  const u64 t2 = pos0 + 1ul;
  // crates/folio-conformance/src/engine/kernels/code.rs
  i32 t3 = 0;
  if (t2 - x_p0_low0 < x_p0_size0) t3 = x_p0[t2 - x_p0_low0];
  else outside(verdict, 1u, t2, 0, 0, x_p0_shape0, 0, 0);
  const u64 t5 = pos0 - 1ul;
  // crates/folio-conformance/src/engine/kernels/code.rs
  i32 t6 = 0;
  if (t5 - x_p0_low0 < x_p0_size0) t6 = x_p0[t5 - x_p0_low0];
  else outside(verdict, 2u, t5, 0, 0, x_p0_shape0, 0, 0);
  const i32 t7 = (i32)((u32)t3 - (u32)t6);
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t7;
  else outside(verdict, 3u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// of_a_macro
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_of_a_macro(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL i32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const i32 *x_p0 = x_p0_base + block.words[9];
  GLOBAL i32 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/language.rs
  i32 t1 = 0;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const i32 t4 = (i32)((u32)t1 * (u32)2);
  const i32 t5 = (i32)((u32)t4 + (u32)100);
  // crates/folio-conformance/src/engine/kernels/language.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t5;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// of_a_macro_of_parts
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_of_a_macro_of_parts(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL i32 *RESTRICT y_p1_base,
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
  GLOBAL const i32 *x_p0 = x_p0_base + block.words[9];
  GLOBAL i32 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  i32 doubled_v0 = 0;
  i32 if_v1 = 0;
  i32 if_v2 = 0;
  const u64 t2 = x_p0_shape0 - 1ul;
  // crates/folio-conformance/src/engine/kernels/language.rs
  i32 t3 = 0;
  if (t2 - x_p0_low0 < x_p0_size0) t3 = x_p0[t2 - x_p0_low0];
  else outside(verdict, 1u, t2, 0, 0, x_p0_shape0, 0, 0);
  const bool t5 = t3 >= 1;
  const bool t7 = t3 <= 1000;
  const bool t8 = (t5 && t7);
  if (t8) {
    const u64 t10 = x_p0_shape0 - 1ul;
    i32 t11 = 0;
    if (t10 - x_p0_low0 < x_p0_size0) t11 = x_p0[t10 - x_p0_low0];
    else outside(verdict, 2u, t10, 0, 0, x_p0_shape0, 0, 0);
    {
      const i32 t12 = (i32)((u32)t11 + (u32)t11);
      doubled_v0 = t12;
    }
    // crates/folio-conformance/src/engine/kernels/language.rs
    const i32 t13 = doubled_v0;
    if_v1 = t13;
  } else {
    const bool t15 = t3 == (-0 - 1);
    if (t15) {
      if_v2 = 2147483647;
    } else {
      const i32 t20 = (i32)((u32)3 + (u32)4);
      const i32 t21 = (i32)((u32)2 * (u32)t20);
      if_v2 = t21;
    }
    // crates/folio-conformance/src/engine/kernels/language.rs
    const i32 t22 = if_v2;
    if_v1 = t22;
  }
  const i32 t23 = if_v1;
  const i32 t26 = (i32)((u32)1 + (u32)1);
  const i32 t29 = (i32)((u32)3 + (u32)4);
  const i32 t30 = (i32)((u32)t29 * (u32)t26);
  const i32 t31 = (i32)((u32)t23 - (u32)t30);
  const i32 t33 = ((-0 - 1) < 0 ? (i32)((u32)0 - (u32)(-0 - 1)) : (-0 - 1));
  const i32 t34 = (i32)((u32)t31 + (u32)t33);
  // crates/folio-conformance/src/engine/kernels/language.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t34;
  else outside(verdict, 3u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// of_rows
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[19]; } Block;
ENTRY(256) folio_of_rows(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL i32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 y_p1_shape1 = block.words[0];
  const u64 x_p0_low0 = block.words[1];
  const u64 x_p0_size0 = block.words[2];
  const u64 x_p0_pitch0 = block.words[3];
  const u64 x_p0_low1 = block.words[4];
  const u64 x_p0_size1 = block.words[5];
  const u64 x_p0_shape0 = block.words[6];
  const u64 x_p0_shape1 = block.words[7];
  const u64 y_p1_low0 = block.words[8];
  const u64 y_p1_size0 = block.words[9];
  const u64 y_p1_pitch0 = block.words[10];
  const u64 y_p1_low1 = block.words[11];
  const u64 y_p1_size1 = block.words[12];
  const u64 y_p1_shape0 = block.words[13];
  const u64 first0 = block.words[14];
  const u64 offset0 = block.words[15];
  const u64 range0 = block.words[16];
  GLOBAL const i32 *x_p0 = x_p0_base + block.words[17];
  GLOBAL i32 *y_p1 = y_p1_base + block.words[18];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  for (u64 k3 = 0ul; k3 < y_p1_shape1; k3++) {
    const u64 t5 = y_p1_shape1 - 1ul;
    const u64 t6 = t5 - k3;
    // crates/folio-conformance/src/engine/kernels/positions.rs
    i32 t8 = 0;
    if (pos0 - x_p0_low0 < x_p0_size0 && t6 - x_p0_low1 < x_p0_size1) t8 = x_p0[(pos0 - x_p0_low0) * x_p0_pitch0 + (t6 - x_p0_low1)];
    else outside(verdict, 1u, pos0, t6, 0, x_p0_shape0, x_p0_shape1, 0);
    // crates/folio-conformance/src/engine/kernels/positions.rs
    if (pos0 - y_p1_low0 < y_p1_size0 && k3 - y_p1_low1 < y_p1_size1) y_p1[(pos0 - y_p1_low0) * y_p1_pitch0 + (k3 - y_p1_low1)] = t8;
    else outside(verdict, 2u, pos0, k3, 0, y_p1_shape0, y_p1_shape1, 0);
  }
}
// one_of_many
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[10]; } Block;
ENTRY(256) folio_one_of_many(
    const Block block,
    GLOBAL const u32 *RESTRICT x_p0_base,
    GLOBAL u32 *o_p2_base,
    GLOBAL Record *verdict) {
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
  bool lazy_v0 = false;
  {
    // crates/folio-conformance/src/engine/kernels/ways.rs
    if (local0 < 8ul) t_p1[local0] = 3u;
    else outside(verdict, 1u, local0, 0, 0, 8ul, 0, 0);
  }
  BARRIER;
  // crates/folio-conformance/src/engine/kernels/ways.rs
  u32 t4 = 0u;
  if (0ul - x_p0_low0 < x_p0_size0) t4 = x_p0[0ul - x_p0_low0];
  else outside(verdict, 2u, 0ul, 0, 0, x_p0_shape0, 0, 0);
  const bool t6 = t4 == 0u;
  if (t6) {
    // crates/folio-conformance/src/engine/kernels/ways.rs
    const u32 t8 = t_p1[0ul];
    BARRIER;
    if (thread == 0u) {
      // crates/folio-conformance/src/engine/kernels/ways.rs
      if (group0 - o_p2_low0 < o_p2_size0) o_p2[group0 - o_p2_low0] = t8;
      else outside(verdict, 3u, group0, 0, 0, o_p2_shape0, 0, 0);
    }
    BARRIER;
  } else {
    const bool t11 = t4 == 1u;
    if (t11) {
      // crates/folio-conformance/src/engine/kernels/ways.rs
      const u32 t14 = t_p1[3ul];
      const u32 t15 = 5u + t14;
      BARRIER;
      if (thread == 0u) {
        // crates/folio-conformance/src/engine/kernels/ways.rs
        if (group0 - o_p2_low0 < o_p2_size0) o_p2[group0 - o_p2_low0] = t15;
        else outside(verdict, 4u, group0, 0, 0, o_p2_shape0, 0, 0);
      }
      BARRIER;
    } else {
      const bool t17 = t4 == 2u;
      lazy_v0 = t17;
      if (t17) {
        // crates/folio-conformance/src/engine/kernels/ways.rs
        u32 t19 = 0u;
        if (1ul - x_p0_low0 < x_p0_size0) t19 = x_p0[1ul - x_p0_low0];
        else outside(verdict, 5u, 1ul, 0, 0, x_p0_shape0, 0, 0);
        const bool t21 = t19 > 2u;
        lazy_v0 = t21;
      }
      const bool t22 = lazy_v0;
      if (t22) {
        if (thread == 0u) {
          // crates/folio-conformance/src/engine/kernels/ways.rs
          if (group0 - o_p2_low0 < o_p2_size0) o_p2[group0 - o_p2_low0] = 9u;
          else outside(verdict, 6u, group0, 0, 0, o_p2_shape0, 0, 0);
        }
        BARRIER;
      } else {
        // crates/folio-conformance/src/engine/kernels/ways.rs
        const u32 t25 = t_p1[2ul];
        // crates/folio-conformance/src/engine/kernels/ways.rs
        u32 t27 = 0u;
        if (1ul - x_p0_low0 < x_p0_size0) t27 = x_p0[1ul - x_p0_low0];
        else outside(verdict, 7u, 1ul, 0, 0, x_p0_shape0, 0, 0);
        const bool t28 = t25 == t27;
        if (t28) {
          BARRIER;
          {
            // crates/folio-conformance/src/engine/kernels/ways.rs
            u32 t30 = 0u;
            if (pos0 - x_p0_low0 < x_p0_size0) t30 = x_p0[pos0 - x_p0_low0];
            else outside(verdict, 8u, pos0, 0, 0, x_p0_shape0, 0, 0);
            // crates/folio-conformance/src/engine/kernels/ways.rs
            if (local0 < 8ul) t_p1[local0] = t30;
            else outside(verdict, 9u, local0, 0, 0, 8ul, 0, 0);
          }
          BARRIER;
        }
        // crates/folio-conformance/src/engine/kernels/ways.rs
        const u32 t34 = t_p1[4ul];
        const u32 t35 = 10u + t34;
        BARRIER;
        if (thread == 0u) {
          // crates/folio-conformance/src/engine/kernels/ways.rs
          if (group0 - o_p2_low0 < o_p2_size0) o_p2[group0 - o_p2_low0] = t35;
          else outside(verdict, 10u, group0, 0, 0, o_p2_shape0, 0, 0);
        }
        BARRIER;
      }
    }
  }
}
// one_of_two
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[9]; } Block;
ENTRY(256) folio_one_of_two(
    const Block block,
    GLOBAL const u32 *RESTRICT x_p0_base,
    GLOBAL u32 *o_p2_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 o_p2_low0 = block.words[3];
  const u64 o_p2_size0 = block.words[4];
  const u64 o_p2_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  GLOBAL const u32 *x_p0 = x_p0_base + block.words[7];
  GLOBAL u32 *o_p2 = o_p2_base + block.words[8];
  const u64 group0 = first0 + get_group_id(0);
  const u32 thread = (u32)(get_local_id(0));
  const u32 threads = (u32)(get_local_size(0));
  SHARED u32 t_p1[8];
  for (u32 k = thread; k < 8u; k += threads) {
    const u32 zero = 0u;
    t_p1[k] = zero;
  }
  BARRIER;
  // crates/folio-conformance/src/engine/kernels/ways.rs
  u32 t1 = 0u;
  if (0ul - x_p0_low0 < x_p0_size0) t1 = x_p0[0ul - x_p0_low0];
  else outside(verdict, 1u, 0ul, 0, 0, x_p0_shape0, 0, 0);
  const bool t3 = t1 > 5u;
  if (t3) {
    if (thread == 0u) {
      // crates/folio-conformance/src/engine/kernels/ways.rs
      if (group0 - o_p2_low0 < o_p2_size0) o_p2[group0 - o_p2_low0] = 7u;
      else outside(verdict, 2u, group0, 0, 0, o_p2_shape0, 0, 0);
    }
    BARRIER;
  } else {
    // crates/folio-conformance/src/engine/kernels/ways.rs
    const u32 t8 = t_p1[3ul];
    const u32 t9 = 5u + t8;
    BARRIER;
    if (thread == 0u) {
      // crates/folio-conformance/src/engine/kernels/ways.rs
      if (group0 - o_p2_low0 < o_p2_size0) o_p2[group0 - o_p2_low0] = t9;
      else outside(verdict, 3u, group0, 0, 0, o_p2_shape0, 0, 0);
    }
    BARRIER;
  }
}
// panics
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[7]; } Block;
ENTRY(256) folio_panics(
    const Block block,
    GLOBAL i32 *RESTRICT y_p0_base,
    GLOBAL Record *verdict) {
  const u64 y_p0_low0 = block.words[0];
  const u64 y_p0_size0 = block.words[1];
  const u64 y_p0_shape0 = block.words[2];
  const u64 first0 = block.words[3];
  const u64 offset0 = block.words[4];
  const u64 range0 = block.words[5];
  GLOBAL i32 *y_p0 = y_p0_base + block.words[6];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  const bool t2 = pos0 == 2ul;
  if (t2) {
    // crates/folio-conformance/src/engine/kernels/code.rs
    if (!false) {
      fail(verdict, 1u);
      return;
    }
  }
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (pos0 - y_p0_low0 < y_p0_size0) y_p0[pos0 - y_p0_low0] = 1;
  else outside(verdict, 2u, pos0, 0, 0, y_p0_shape0, 0, 0);
}
// panics_on_the_right
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_panics_on_the_right(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL i32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const i32 *x_p0 = x_p0_base + block.words[9];
  GLOBAL i32 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  bool lazy_v0 = false;
  // crates/folio-conformance/src/engine/kernels/rare.rs
  i32 t1 = 0;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const bool t3 = t1 != 40;
  lazy_v0 = t3;
  if (!t3) {
    // crates/folio-conformance/src/engine/kernels/rare.rs
    if (!false) {
      fail(verdict, 2u);
      return;
    }
  }
  // crates/folio-conformance/src/engine/kernels/rare.rs
  // crates/folio-conformance/src/engine/kernels/rare.rs
  i32 t6 = 0;
  if (pos0 - x_p0_low0 < x_p0_size0) t6 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 3u, pos0, 0, 0, x_p0_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/rare.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t6;
  else outside(verdict, 4u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// plane
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[22]; } Block;
ENTRY(256) folio_plane(
    const Block block,
    GLOBAL const f32 *RESTRICT x_p0_base,
    GLOBAL f32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_pitch0 = block.words[2];
  const u64 x_p0_low1 = block.words[3];
  const u64 x_p0_size1 = block.words[4];
  const u64 x_p0_shape0 = block.words[5];
  const u64 x_p0_shape1 = block.words[6];
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
  // crates/folio-conformance/src/engine/kernels/borders.rs
  f32 t2 = 0.0f;
  if (pos0 - x_p0_low0 < x_p0_size0 && pos1 - x_p0_low1 < x_p0_size1) t2 = x_p0[(pos0 - x_p0_low0) * x_p0_pitch0 + (pos1 - x_p0_low1)];
  else outside(verdict, 1u, pos0, pos1, 0, x_p0_shape0, x_p0_shape1, 0);
  // crates/folio-conformance/src/engine/kernels/borders.rs
  if (pos0 - y_p1_low0 < y_p1_size0 && pos1 - y_p1_low1 < y_p1_size1) y_p1[(pos0 - y_p1_low0) * y_p1_pitch0 + (pos1 - y_p1_low1)] = t2;
  else outside(verdict, 2u, pos0, pos1, 0, y_p1_shape0, y_p1_shape1, 0);
}
// powf_of
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
#ifdef POCL_DEVICE_ADDRESS_BITS
#define OR_NAN(of, nan, x) ((of) != (of) ? (nan) : (x))
#else
#define OR_NAN(of, nan, x) x
#endif
typedef struct { u64 words[15]; } Block;
ENTRY(256) folio_powf_of(
    const Block block,
    GLOBAL const f32 *RESTRICT a_p0_base,
    GLOBAL const f32 *RESTRICT b_p1_base,
    GLOBAL f32 *RESTRICT y_p2_base,
    GLOBAL Record *verdict) {
  const u64 a_p0_low0 = block.words[0];
  const u64 a_p0_size0 = block.words[1];
  const u64 a_p0_shape0 = block.words[2];
  const u64 b_p1_low0 = block.words[3];
  const u64 b_p1_size0 = block.words[4];
  const u64 b_p1_shape0 = block.words[5];
  const u64 y_p2_low0 = block.words[6];
  const u64 y_p2_size0 = block.words[7];
  const u64 y_p2_shape0 = block.words[8];
  const u64 first0 = block.words[9];
  const u64 offset0 = block.words[10];
  const u64 range0 = block.words[11];
  GLOBAL const f32 *a_p0 = a_p0_base + block.words[12];
  GLOBAL const f32 *b_p1 = b_p1_base + block.words[13];
  GLOBAL f32 *y_p2 = y_p2_base + block.words[14];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f32 t1 = 0.0f;
  if (pos0 - a_p0_low0 < a_p0_size0) t1 = a_p0[pos0 - a_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, a_p0_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f32 t2 = 0.0f;
  if (pos0 - b_p1_low0 < b_p1_size0) t2 = b_p1[pos0 - b_p1_low0];
  else outside(verdict, 2u, pos0, 0, 0, b_p1_shape0, 0, 0);
  const f32 t3 = OR_NAN(t2, t1 == 1 ? t1 : t2, pow(t1, t2));
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p2_low0 < y_p2_size0) y_p2[pos0 - y_p2_low0] = t3;
  else outside(verdict, 3u, pos0, 0, 0, y_p2_shape0, 0, 0);
}
// powf_of
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
#ifdef POCL_DEVICE_ADDRESS_BITS
#define OR_NAN(of, nan, x) ((of) != (of) ? (nan) : (x))
#else
#define OR_NAN(of, nan, x) x
#endif
typedef struct { u64 words[15]; } Block;
ENTRY(256) folio_powf_of(
    const Block block,
    GLOBAL const f64 *RESTRICT a_p0_base,
    GLOBAL const f64 *RESTRICT b_p1_base,
    GLOBAL f64 *RESTRICT y_p2_base,
    GLOBAL Record *verdict) {
  const u64 a_p0_low0 = block.words[0];
  const u64 a_p0_size0 = block.words[1];
  const u64 a_p0_shape0 = block.words[2];
  const u64 b_p1_low0 = block.words[3];
  const u64 b_p1_size0 = block.words[4];
  const u64 b_p1_shape0 = block.words[5];
  const u64 y_p2_low0 = block.words[6];
  const u64 y_p2_size0 = block.words[7];
  const u64 y_p2_shape0 = block.words[8];
  const u64 first0 = block.words[9];
  const u64 offset0 = block.words[10];
  const u64 range0 = block.words[11];
  GLOBAL const f64 *a_p0 = a_p0_base + block.words[12];
  GLOBAL const f64 *b_p1 = b_p1_base + block.words[13];
  GLOBAL f64 *y_p2 = y_p2_base + block.words[14];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f64 t1 = 0.0;
  if (pos0 - a_p0_low0 < a_p0_size0) t1 = a_p0[pos0 - a_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, a_p0_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f64 t2 = 0.0;
  if (pos0 - b_p1_low0 < b_p1_size0) t2 = b_p1[pos0 - b_p1_low0];
  else outside(verdict, 2u, pos0, 0, 0, b_p1_shape0, 0, 0);
  const f64 t3 = OR_NAN(t2, t1 == 1 ? t1 : t2, pow(t1, t2));
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p2_low0 < y_p2_size0) y_p2[pos0 - y_p2_low0] = t3;
  else outside(verdict, 3u, pos0, 0, 0, y_p2_shape0, 0, 0);
}
// prefix
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_prefix(
    const Block block,
    GLOBAL i32 *RESTRICT rows_p0_base,
    GLOBAL Record *verdict) {
  const u64 rows_p0_shape1 = block.words[0];
  const u64 rows_p0_low0 = block.words[1];
  const u64 rows_p0_size0 = block.words[2];
  const u64 rows_p0_pitch0 = block.words[3];
  const u64 rows_p0_low1 = block.words[4];
  const u64 rows_p0_size1 = block.words[5];
  const u64 rows_p0_shape0 = block.words[6];
  const u64 first0 = block.words[7];
  const u64 offset0 = block.words[8];
  const u64 range0 = block.words[9];
  GLOBAL i32 *rows_p0 = rows_p0_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  for (u64 k3 = 1ul; k3 < rows_p0_shape1; k3++) {
    const u64 t5 = k3 - 1ul;
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    i32 t7 = 0;
    if (pos0 - rows_p0_low0 < rows_p0_size0 && t5 - rows_p0_low1 < rows_p0_size1) t7 = rows_p0[(pos0 - rows_p0_low0) * rows_p0_pitch0 + (t5 - rows_p0_low1)];
    else outside(verdict, 1u, pos0, t5, 0, rows_p0_shape0, rows_p0_shape1, 0);
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    i32 t8 = 0;
    if (pos0 - rows_p0_low0 < rows_p0_size0 && k3 - rows_p0_low1 < rows_p0_size1) t8 = rows_p0[(pos0 - rows_p0_low0) * rows_p0_pitch0 + (k3 - rows_p0_low1)];
    else outside(verdict, 2u, pos0, k3, 0, rows_p0_shape0, rows_p0_shape1, 0);
    const i32 t9 = (i32)((u32)t8 + (u32)t7);
    if (pos0 - rows_p0_low0 < rows_p0_size0 && k3 - rows_p0_low1 < rows_p0_size1) rows_p0[(pos0 - rows_p0_low0) * rows_p0_pitch0 + (k3 - rows_p0_low1)] = t9;
    else outside(verdict, 3u, pos0, k3, 0, rows_p0_shape0, rows_p0_shape1, 0);
  }
}
// puts_at
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_puts_at(
    const Block block,
    GLOBAL const i32 *RESTRICT at_p0_base,
    GLOBAL i32 *y_p1_base,
    GLOBAL Record *verdict) {
  const u64 at_p0_low0 = block.words[0];
  const u64 at_p0_size0 = block.words[1];
  const u64 at_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const i32 *at_p0 = at_p0_base + block.words[9];
  GLOBAL i32 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/code.rs
  i32 t2 = 0;
  if (pos0 - at_p0_low0 < at_p0_size0) t2 = at_p0[pos0 - at_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, at_p0_shape0, 0, 0);
  const u64 t3 = (u64)t2;
  if (t3 - y_p1_low0 < y_p1_size0) y_p1[t3 - y_p1_low0] = 5;
  else outside(verdict, 2u, t3, 0, 0, y_p1_shape0, 0, 0);
}
// reciprocals
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
FN i32 div_i32(i32 a, i32 b) { return b == -1 ? (i32)((u32)0 - (u32)a) : (i32)(a / b); }
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_reciprocals(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL i32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const i32 *x_p0 = x_p0_base + block.words[9];
  GLOBAL i32 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  i32 reciprocal_v0 = 0;
  // crates/folio-conformance/src/engine/kernels/language.rs
  i32 t1 = 0;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  {
    const bool t3 = t1 != 40;
    // crates/folio-conformance/src/engine/kernels/language.rs
    if (!t3) {
      fail(verdict, 2u);
      return;
    }
    // crates/folio-conformance/src/engine/kernels/language.rs
    if (t1 == 0) fail(verdict, 3u);
    const i32 t5 = t1 == 0 ? 0 : div_i32(1000, t1);
    reciprocal_v0 = t5;
  }
  const i32 t6 = reciprocal_v0;
  // crates/folio-conformance/src/engine/kernels/language.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t6;
  else outside(verdict, 4u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// reduced
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
// reduced_on_one_way
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
ENTRY(256) folio_reduced_on_one_way(
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
  u32 collected_v1 = 0u;
  {
    LOCAL u32 *all = (LOCAL u32 *)scratch;
    {
      // crates/folio-conformance/src/engine/kernels/ways.rs
      u32 t1 = 0u;
      if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
      else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
      all[thread] = t1;
    }
    BARRIER;
    for (u32 gap = gap_of(threads); gap > 0u; gap >>= 1) {
      if (thread < gap && thread + gap < threads) all[thread] = all[thread] + all[thread + gap];
      BARRIER;
    }
    collected_v0 = all[0];
    BARRIER;
  }
  const u32 t2 = collected_v0;
  const bool t4 = t2 > 50u;
  if (t4) {
    if (thread == 0u) {
      // crates/folio-conformance/src/engine/kernels/ways.rs
      const u32 t7 = t_p1[1ul];
      const u32 t8 = 100u + t7;
      // crates/folio-conformance/src/engine/kernels/ways.rs
      if (group0 - o_p2_low0 < o_p2_size0) o_p2[group0 - o_p2_low0] = t8;
      else outside(verdict, 2u, group0, 0, 0, o_p2_shape0, 0, 0);
    }
    BARRIER;
  } else {
    {
      LOCAL u32 *all = (LOCAL u32 *)scratch;
      {
        // crates/folio-conformance/src/engine/kernels/ways.rs
        u32 t11 = 0u;
        if (pos0 - x_p0_low0 < x_p0_size0) t11 = x_p0[pos0 - x_p0_low0];
        else outside(verdict, 3u, pos0, 0, 0, x_p0_shape0, 0, 0);
        const u32 t12 = t11 + t2;
        // crates/folio-conformance/src/engine/kernels/ways.rs
        u32 t15 = 0u;
        if (local0 < 8ul) t15 = t_p1[local0];
        else outside(verdict, 4u, local0, 0, 0, 8ul, 0, 0);
        const u32 t16 = t12 + t15;
        all[thread] = t16;
      }
      BARRIER;
      for (u32 gap = gap_of(threads); gap > 0u; gap >>= 1) {
        if (thread < gap && thread + gap < threads) all[thread] = (all[thread] > all[thread + gap] ? all[thread] : all[thread + gap]);
        BARRIER;
      }
      collected_v1 = all[0];
      BARRIER;
    }
    // crates/folio-conformance/src/engine/kernels/ways.rs
    const u32 t17 = collected_v1;
    if (thread == 0u) {
      // crates/folio-conformance/src/engine/kernels/ways.rs
      if (group0 - o_p2_low0 < o_p2_size0) o_p2[group0 - o_p2_low0] = t17;
      else outside(verdict, 5u, group0, 0, 0, o_p2_shape0, 0, 0);
    }
    BARRIER;
    return;
  }
  // crates/folio-conformance/src/engine/kernels/ways.rs
  const u32 t19 = t_p1[0ul];
  BARRIER;
  if (thread == 0u) {
    // crates/folio-conformance/src/engine/kernels/ways.rs
    if (group0 - o_p2_low0 < o_p2_size0) o_p2[group0 - o_p2_low0] = t19;
    else outside(verdict, 6u, group0, 0, 0, o_p2_shape0, 0, 0);
  }
  BARRIER;
}
// reduces
FN u32 gap_of(u32 n) { u32 s = 1; while (s < n) s <<= 1; return s >> 1; }
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[5]; } Block;
ENTRY(256) folio_reduces(
    const Block block,
    GLOBAL u64 *y_p0_base,
    GLOBAL Record *verdict,
    LOCAL u64 *scratch) {
  const u64 y_p0_low0 = block.words[0];
  const u64 y_p0_size0 = block.words[1];
  const u64 y_p0_shape0 = block.words[2];
  const u64 first0 = block.words[3];
  GLOBAL u64 *y_p0 = y_p0_base + block.words[4];
  const u64 local0 = get_local_id(0);
  const u64 group0 = first0 + get_group_id(0);
  const u32 thread = (u32)(get_local_id(0));
  const u32 threads = (u32)(get_local_size(0));
  u64 collected_v0 = 0ul;
  {
    LOCAL u64 *all = (LOCAL u64 *)scratch;
    {
      all[thread] = local0;
    }
    BARRIER;
    for (u32 gap = gap_of(threads); gap > 0u; gap >>= 1) {
      if (thread < gap && thread + gap < threads) all[thread] = all[thread] + all[thread + gap];
      BARRIER;
    }
    collected_v0 = all[0];
    BARRIER;
  }
  const u64 t2 = collected_v0;
  if (thread == 0u) {
    // crates/folio-conformance/src/engine/kernels/limits.rs
    if (group0 - y_p0_low0 < y_p0_size0) y_p0[group0 - y_p0_low0] = t2;
    else outside(verdict, 1u, group0, 0, 0, y_p0_shape0, 0, 0);
  }
  BARRIER;
}
// rests
typedef struct { i32 of_f0; } Rest_t0;
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
FN i32 rem_i32(i32 a, i32 b) { return b == -1 ? 0 : (i32)(a % b); }
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_rests(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL i32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const i32 *x_p0 = x_p0_base + block.words[9];
  GLOBAL i32 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  Rest_t0 rem_v0 = { 0 };
  const Rest_t0 t1 = { 3 };
  // crates/folio-conformance/src/engine/kernels/language.rs
  i32 t3 = 0;
  if (pos0 - x_p0_low0 < x_p0_size0) t3 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const Rest_t0 t4 = { t3 };
  {
    const i32 t5 = t1.of_f0;
    const i32 t6 = t4.of_f0;
    // crates/folio-conformance/src/engine/kernels/language.rs
    if (t6 == 0) fail(verdict, 2u);
    const i32 t7 = t6 == 0 ? 0 : rem_i32(t5, t6);
    const Rest_t0 t8 = { t7 };
    rem_v0 = t8;
  }
  const Rest_t0 t9 = rem_v0;
  const i32 t10 = t9.of_f0;
  // crates/folio-conformance/src/engine/kernels/language.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t10;
  else outside(verdict, 3u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// reversed
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_reversed(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL i32 *RESTRICT y_p1_base,
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
  GLOBAL const i32 *x_p0 = x_p0_base + block.words[9];
  GLOBAL i32 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  const u64 t2 = x_p0_shape0 - 1ul;
  const u64 t4 = t2 - pos0;
  // crates/folio-conformance/src/engine/kernels/code.rs
  i32 t5 = 0;
  if (t4 - x_p0_low0 < x_p0_size0) t5 = x_p0[t4 - x_p0_low0];
  else outside(verdict, 1u, t4, 0, 0, x_p0_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t5;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// row_sums
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[15]; } Block;
ENTRY(256) folio_row_sums(
    const Block block,
    GLOBAL const i32 *RESTRICT m_p0_base,
    GLOBAL i32 *RESTRICT sums_p1_base,
    GLOBAL Record *verdict) {
  const u64 m_p0_shape1 = block.words[0];
  const u64 m_p0_low0 = block.words[1];
  const u64 m_p0_size0 = block.words[2];
  const u64 m_p0_pitch0 = block.words[3];
  const u64 m_p0_low1 = block.words[4];
  const u64 m_p0_size1 = block.words[5];
  const u64 m_p0_shape0 = block.words[6];
  const u64 sums_p1_low0 = block.words[7];
  const u64 sums_p1_size0 = block.words[8];
  const u64 sums_p1_shape0 = block.words[9];
  const u64 first0 = block.words[10];
  const u64 offset0 = block.words[11];
  const u64 range0 = block.words[12];
  GLOBAL const i32 *m_p0 = m_p0_base + block.words[13];
  GLOBAL i32 *sums_p1 = sums_p1_base + block.words[14];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  i32 l4_v0 = 0;
  l4_v0 = 0;
  for (u64 k5 = 0ul; k5 < m_p0_shape1; k5++) {
    // crates/folio-conformance/src/engine/kernels/code.rs
    i32 t6 = 0;
    if (pos0 - m_p0_low0 < m_p0_size0 && k5 - m_p0_low1 < m_p0_size1) t6 = m_p0[(pos0 - m_p0_low0) * m_p0_pitch0 + (k5 - m_p0_low1)];
    else outside(verdict, 1u, pos0, k5, 0, m_p0_shape0, m_p0_shape1, 0);
    const i32 t7 = l4_v0;
    const i32 t8 = (i32)((u32)t7 + (u32)t6);
    l4_v0 = t8;
  }
  // crates/folio-conformance/src/engine/kernels/code.rs
  const i32 t9 = l4_v0;
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (pos0 - sums_p1_low0 < sums_p1_size0) sums_p1[pos0 - sums_p1_low0] = t9;
  else outside(verdict, 2u, pos0, 0, 0, sums_p1_shape0, 0, 0);
}
// rows
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[13]; } Block;
ENTRY(256) folio_rows(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p2_base,
    GLOBAL i32 *RESTRICT y_p3_base,
    GLOBAL Record *verdict) {
  const u64 x_p2_low0 = block.words[0];
  const u64 x_p2_size0 = block.words[1];
  const u64 x_p2_shape0 = block.words[2];
  const u64 y_p3_low0 = block.words[3];
  const u64 y_p3_size0 = block.words[4];
  const u64 y_p3_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const i32 *x_p2 = x_p2_base + block.words[11];
  GLOBAL i32 *y_p3 = y_p3_base + block.words[12];
  const u64 width_p0 = block.words[9];
  const u64 n_p1 = block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/rare.rs
  if (width_p0 == 0) fail(verdict, 1u);
  const u64 t3 = width_p0 == 0 ? 0 : (u64)(pos0 / width_p0);
  // crates/folio-conformance/src/engine/kernels/rare.rs
  if (width_p0 == 0) fail(verdict, 2u);
  for (u64 k6 = 0ul; k6 < n_p1; k6++) {
    // crates/folio-conformance/src/engine/kernels/rare.rs
    i32 t7 = 0;
    if (k6 - x_p2_low0 < x_p2_size0) t7 = x_p2[k6 - x_p2_low0];
    else outside(verdict, 3u, k6, 0, 0, x_p2_shape0, 0, 0);
    const i32 t8 = (i32)t3;
    const i32 t9 = (i32)((u32)t7 + (u32)t8);
    // crates/folio-conformance/src/engine/kernels/rare.rs
    i32 t10 = 0;
    if (pos0 - y_p3_low0 < y_p3_size0) t10 = y_p3[pos0 - y_p3_low0];
    else outside(verdict, 4u, pos0, 0, 0, y_p3_shape0, 0, 0);
    const i32 t11 = (i32)((u32)t10 + (u32)t9);
    if (pos0 - y_p3_low0 < y_p3_size0) y_p3[pos0 - y_p3_low0] = t11;
    else outside(verdict, 5u, pos0, 0, 0, y_p3_shape0, 0, 0);
  }
}
// rows
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[14]; } Block;
ENTRY(256) folio_rows(
    const Block block,
    GLOBAL u32 *RESTRICT y_p0_base,
    GLOBAL Record *verdict) {
  const u64 y_p0_low0 = block.words[0];
  const u64 y_p0_size0 = block.words[1];
  const u64 y_p0_pitch0 = block.words[2];
  const u64 y_p0_low1 = block.words[3];
  const u64 y_p0_size1 = block.words[4];
  const u64 y_p0_shape0 = block.words[5];
  const u64 y_p0_shape1 = block.words[6];
  const u64 first0 = block.words[7];
  const u64 offset0 = block.words[8];
  const u64 range0 = block.words[9];
  const u64 first1 = block.words[10];
  const u64 offset1 = block.words[11];
  const u64 range1 = block.words[12];
  GLOBAL u32 *y_p0 = y_p0_base + block.words[13];
  const u64 pos0 = first0 + (u64)get_group_id(1) * get_local_size(1) + get_local_id(1);
  const u64 pos1 = first1 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0 || pos1 - offset1 >= range1) return;
  const u64 t3 = pos0 * 3ul;
  const u64 t4 = t3 + pos1;
  const u32 t5 = (u32)t4;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  if (pos0 - y_p0_low0 < y_p0_size0 && pos1 - y_p0_low1 < y_p0_size1) y_p0[(pos0 - y_p0_low0) * y_p0_pitch0 + (pos1 - y_p0_low1)] = t5;
  else outside(verdict, 1u, pos0, pos1, 0, y_p0_shape0, y_p0_shape1, 0);
}
// rsqrt_of
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_rsqrt_of(
    const Block block,
    GLOBAL const f32 *RESTRICT x_p0_base,
    GLOBAL f32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
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
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f32 t1 = 0.0f;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const f32 t2 = rsqrt(t1);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t2;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// rsqrt_of
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_rsqrt_of(
    const Block block,
    GLOBAL const f64 *RESTRICT x_p0_base,
    GLOBAL f64 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const f64 *x_p0 = x_p0_base + block.words[9];
  GLOBAL f64 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f64 t1 = 0.0;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const f64 t2 = rsqrt(t1);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t2;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// saxpy
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[12]; } Block;
ENTRY(256) folio_saxpy(
    const Block block,
    GLOBAL const f32 *RESTRICT x_p1_base,
    GLOBAL f32 *RESTRICT y_p2_base,
    GLOBAL Record *verdict) {
  const u64 x_p1_low0 = block.words[0];
  const u64 x_p1_size0 = block.words[1];
  const u64 x_p1_shape0 = block.words[2];
  const u64 y_p2_low0 = block.words[3];
  const u64 y_p2_size0 = block.words[4];
  const u64 y_p2_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const f32 *x_p1 = x_p1_base + block.words[10];
  GLOBAL f32 *y_p2 = y_p2_base + block.words[11];
  const f32 a_p0 = F32_BITS((u32)block.words[9]);
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/code.rs
  f32 t2 = 0.0f;
  if (pos0 - x_p1_low0 < x_p1_size0) t2 = x_p1[pos0 - x_p1_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p1_shape0, 0, 0);
  const f32 t3 = a_p0 * t2;
  // crates/folio-conformance/src/engine/kernels/code.rs
  f32 t4 = 0.0f;
  if (pos0 - y_p2_low0 < y_p2_size0) t4 = y_p2[pos0 - y_p2_low0];
  else outside(verdict, 2u, pos0, 0, 0, y_p2_shape0, 0, 0);
  const f32 t5 = t3 + t4;
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (pos0 - y_p2_low0 < y_p2_size0) y_p2[pos0 - y_p2_low0] = t5;
  else outside(verdict, 3u, pos0, 0, 0, y_p2_shape0, 0, 0);
}
// scans
FN u32 gap_of(u32 n) { u32 s = 1; while (s < n) s <<= 1; return s >> 1; }
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[5]; } Block;
ENTRY(256) folio_scans(
    const Block block,
    GLOBAL u64 *y_p0_base,
    GLOBAL Record *verdict,
    LOCAL u64 *scratch) {
  const u64 y_p0_low0 = block.words[0];
  const u64 y_p0_size0 = block.words[1];
  const u64 y_p0_shape0 = block.words[2];
  const u64 first0 = block.words[3];
  GLOBAL u64 *y_p0 = y_p0_base + block.words[4];
  const u64 local0 = get_local_id(0);
  const u64 group0 = first0 + get_group_id(0);
  const u32 thread = (u32)(get_local_id(0));
  const u32 threads = (u32)(get_local_size(0));
  u64 collected_v0 = 0ul;
  u64 collected_v1 = 0ul;
  {
    LOCAL u64 *all = (LOCAL u64 *)scratch;
    {
      all[thread] = local0;
    }
    BARRIER;
    for (u32 step = 1; step < threads; step <<= 1) {
      const u64 before = all[thread < step ? thread : thread - step];
      BARRIER;
      if (thread >= step) all[thread] = before + all[thread];
      BARRIER;
    }
    collected_v0 = thread == 0u ? 0ul : all[thread - 1u];
    BARRIER;
  }
  {
    LOCAL u64 *all = (LOCAL u64 *)scratch;
    {
      const u64 t2 = collected_v0;
      all[thread] = t2;
    }
    BARRIER;
    for (u32 gap = gap_of(threads); gap > 0u; gap >>= 1) {
      if (thread < gap && thread + gap < threads) all[thread] = (all[thread] > all[thread + gap] ? all[thread] : all[thread + gap]);
      BARRIER;
    }
    collected_v1 = all[0];
    BARRIER;
  }
  const u64 t3 = collected_v1;
  if (thread == 0u) {
    // crates/folio-conformance/src/engine/kernels/limits.rs
    if (group0 - y_p0_low0 < y_p0_size0) y_p0[group0 - y_p0_low0] = t3;
    else outside(verdict, 1u, group0, 0, 0, y_p0_shape0, 0, 0);
  }
  BARRIER;
}
// scatter
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_scatter(
    const Block block,
    GLOBAL const u32 *RESTRICT at_p0_base,
    GLOBAL u32 *y_p1_base,
    GLOBAL Record *verdict) {
  const u64 at_p0_low0 = block.words[0];
  const u64 at_p0_size0 = block.words[1];
  const u64 at_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const u32 *at_p0 = at_p0_base + block.words[9];
  GLOBAL u32 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/group_code.rs
  u32 t1 = 0u;
  if (pos0 - at_p0_low0 < at_p0_size0) t1 = at_p0[pos0 - at_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, at_p0_shape0, 0, 0);
  const u64 t2 = (u64)t1;
  // crates/folio-conformance/src/engine/kernels/group_code.rs
  u32 t3 = 0u;
  if (t2 - y_p1_low0 < y_p1_size0) t3 = y_p1[t2 - y_p1_low0];
  else outside(verdict, 2u, t2, 0, 0, y_p1_shape0, 0, 0);
  const u32 t4 = (u32)pos0;
  const u32 t5 = t3 + t4;
  // crates/folio-conformance/src/engine/kernels/group_code.rs
  u32 t6 = 0u;
  if (pos0 - at_p0_low0 < at_p0_size0) t6 = at_p0[pos0 - at_p0_low0];
  else outside(verdict, 3u, pos0, 0, 0, at_p0_shape0, 0, 0);
  const u64 t7 = (u64)t6;
  if (t7 - y_p1_low0 < y_p1_size0) y_p1[t7 - y_p1_low0] = t5;
  else outside(verdict, 4u, t7, 0, 0, y_p1_shape0, 0, 0);
}
// shifted
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[13]; } Block;
ENTRY(256) folio_shifted(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p1_base,
    GLOBAL i32 *RESTRICT sum_p2_base,
    GLOBAL i32 *RESTRICT y_p3_base,
    GLOBAL Record *verdict) {
  const u64 x_p1_low0 = block.words[0];
  const u64 x_p1_size0 = block.words[1];
  const u64 x_p1_shape0 = block.words[2];
  const u64 y_p3_low0 = block.words[3];
  const u64 y_p3_size0 = block.words[4];
  const u64 y_p3_shape0 = block.words[5];
  const u64 offset0 = block.words[6];
  const u64 first_block = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const i32 *x_p1 = x_p1_base + block.words[10];
  GLOBAL i32 *sum_p2 = sum_p2_base + block.words[11];
  GLOBAL i32 *y_p3 = y_p3_base + block.words[12];
  const i32 by_p0 = (i32)block.words[9];
  SHARED i32 sum_p2_lanes[256];
  const u64 items = range0;
  const u64 number = first_block + get_group_id(0);
  const u64 from = number * 4096;
  const u64 count = items - from;
  const u32 thread = (u32)(get_local_id(0));
  const u32 threads = (u32)(get_local_size(0));
  const u32 end = count < 4096 ? (u32)count : 4096u;
  for (u32 lane = thread; lane < 256u && lane < end; lane += threads) {
    i32 sum_p2_lane = 0;
    for (u32 turn = lane; turn < end; turn += 256u) {
      u64 rest = from + turn;
      const u64 pos0 = offset0 + rest;
      i32 sum_p2_own = 0;
      {
      // crates/folio-conformance/src/engine/kernels/language.rs
      i32 t2 = 0;
      if (pos0 - x_p1_low0 < x_p1_size0) t2 = x_p1[pos0 - x_p1_low0];
      else outside(verdict, 1u, pos0, 0, 0, x_p1_shape0, 0, 0);
      sum_p2_own = (i32)((u32)sum_p2_own + (u32)t2);
      // crates/folio-conformance/src/engine/kernels/language.rs
      i32 t3 = 0;
      if (pos0 - x_p1_low0 < x_p1_size0) t3 = x_p1[pos0 - x_p1_low0];
      else outside(verdict, 2u, pos0, 0, 0, x_p1_shape0, 0, 0);
      const i32 t4 = (i32)((u32)t3 + (u32)by_p0);
      // crates/folio-conformance/src/engine/kernels/language.rs
      if (pos0 - y_p3_low0 < y_p3_size0) y_p3[pos0 - y_p3_low0] = t4;
      else outside(verdict, 3u, pos0, 0, 0, y_p3_shape0, 0, 0);
      }
      sum_p2_lane = (i32)((u32)sum_p2_lane + (u32)sum_p2_own);
    }
    sum_p2_lanes[lane] = sum_p2_lane;
  }
  BARRIER;
  for (u32 gap = 128u; gap > 0u; gap >>= 1) {
    for (u32 lane = thread; lane < gap && lane + gap < end; lane += threads) {
      sum_p2_lanes[lane] = (i32)((u32)sum_p2_lanes[lane] + (u32)sum_p2_lanes[lane + gap]);
    }
    BARRIER;
  }
  if (thread == 0u) sum_p2[number] = sum_p2_lanes[0];
}
ENTRY(256) folio_shifted_finish_p2(
    GLOBAL const i32 *RESTRICT in,
    GLOBAL i32 *RESTRICT out,
    const u64 values,
    const u64 place) {
  SHARED i32 lanes[256];
  const u64 from = (u64)get_group_id(0) * 4096;
  const u64 count = values - from;
  const u32 thread = (u32)get_local_id(0);
  const u32 threads = (u32)get_local_size(0);
  const u32 end = count < 4096 ? (u32)count : 4096u;
  for (u32 lane = thread; lane < 256u && lane < end; lane += threads) {
    i32 sum = in[from + lane];
    for (u32 turn = lane + 256u; turn < end; turn += 256u) {
      sum = (i32)((u32)sum + (u32)in[from + turn]);
    }
    lanes[lane] = sum;
  }
  BARRIER;
  for (u32 gap = 128u; gap > 0u; gap >>= 1) {
    for (u32 lane = thread; lane < gap && lane + gap < end; lane += threads) {
      lanes[lane] = (i32)((u32)lanes[lane] + (u32)lanes[lane + gap]);
    }
    BARRIER;
  }
  if (thread == 0u) out[place + (u64)get_group_id(0)] = lanes[0];
}
// shifted
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[33]; } Block;
ENTRY(256) folio_shifted(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL i32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_pitch0 = block.words[2];
  const u64 x_p0_low1 = block.words[3];
  const u64 x_p0_size1 = block.words[4];
  const u64 x_p0_pitch1 = block.words[5];
  const u64 x_p0_low2 = block.words[6];
  const u64 x_p0_size2 = block.words[7];
  const u64 x_p0_shape0 = block.words[8];
  const u64 x_p0_shape1 = block.words[9];
  const u64 x_p0_shape2 = block.words[10];
  const u64 y_p1_low0 = block.words[11];
  const u64 y_p1_size0 = block.words[12];
  const u64 y_p1_pitch0 = block.words[13];
  const u64 y_p1_low1 = block.words[14];
  const u64 y_p1_size1 = block.words[15];
  const u64 y_p1_pitch1 = block.words[16];
  const u64 y_p1_low2 = block.words[17];
  const u64 y_p1_size2 = block.words[18];
  const u64 y_p1_shape0 = block.words[19];
  const u64 y_p1_shape1 = block.words[20];
  const u64 y_p1_shape2 = block.words[21];
  const u64 first0 = block.words[22];
  const u64 offset0 = block.words[23];
  const u64 range0 = block.words[24];
  const u64 first1 = block.words[25];
  const u64 offset1 = block.words[26];
  const u64 range1 = block.words[27];
  const u64 first2 = block.words[28];
  const u64 offset2 = block.words[29];
  const u64 range2 = block.words[30];
  GLOBAL const i32 *x_p0 = x_p0_base + block.words[31];
  GLOBAL i32 *y_p1 = y_p1_base + block.words[32];
  const u64 pos0 = first0 + (u64)get_group_id(2) * get_local_size(2) + get_local_id(2);
  const u64 pos1 = first1 + (u64)get_group_id(1) * get_local_size(1) + get_local_id(1);
  const u64 pos2 = first2 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0 || pos1 - offset1 >= range1 || pos2 - offset2 >= range2) return;
  // crates/folio-conformance/src/engine/kernels/code.rs
  i32 t3 = 0;
  if (pos0 - x_p0_low0 < x_p0_size0 && pos1 - x_p0_low1 < x_p0_size1 && pos2 - x_p0_low2 < x_p0_size2) t3 = x_p0[(pos0 - x_p0_low0) * x_p0_pitch0 + (pos1 - x_p0_low1) * x_p0_pitch1 + (pos2 - x_p0_low2)];
  else outside(verdict, 1u, pos0, pos1, pos2, x_p0_shape0, x_p0_shape1, x_p0_shape2);
  const i32 t5 = (i32)((u32)t3 * (u32)3);
  const i32 t6 = (i32)pos0;
  const i32 t7 = (i32)pos1;
  const i32 t8 = (i32)((u32)t6 - (u32)t7);
  const i32 t9 = (i32)pos2;
  const i32 t10 = (i32)((u32)t8 * (u32)t9);
  const i32 t11 = (i32)((u32)t5 + (u32)t10);
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (pos0 - y_p1_low0 < y_p1_size0 && pos1 - y_p1_low1 < y_p1_size1 && pos2 - y_p1_low2 < y_p1_size2) y_p1[(pos0 - y_p1_low0) * y_p1_pitch0 + (pos1 - y_p1_low1) * y_p1_pitch1 + (pos2 - y_p1_low2)] = t11;
  else outside(verdict, 2u, pos0, pos1, pos2, y_p1_shape0, y_p1_shape1, y_p1_shape2);
}
// signs
typedef struct { i32 n_f0; } Here_t0;
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_signs(
    const Block block,
    GLOBAL const Here_t0 *RESTRICT x_p0_base,
    GLOBAL i32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const Here_t0 *x_p0 = x_p0_base + block.words[9];
  GLOBAL i32 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  i32 sign_v0 = 0;
  // crates/folio-conformance/src/engine/kernels/language.rs
  Here_t0 t1 = { 0 };
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  {
    const i32 t2 = t1.n_f0;
    sign_v0 = t2;
  }
  const i32 t3 = sign_v0;
  // crates/folio-conformance/src/engine/kernels/language.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t3;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// sin_of
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_sin_of(
    const Block block,
    GLOBAL const f32 *RESTRICT x_p0_base,
    GLOBAL f32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
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
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f32 t1 = 0.0f;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const f32 t2 = sin(t1);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t2;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// sin_of
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_sin_of(
    const Block block,
    GLOBAL const f64 *RESTRICT x_p0_base,
    GLOBAL f64 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const f64 *x_p0 = x_p0_base + block.words[9];
  GLOBAL f64 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f64 t1 = 0.0;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const f64 t2 = sin(t1);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t2;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// sinh_of
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
#ifdef POCL_DEVICE_ADDRESS_BITS
#define OR_NAN(of, nan, x) ((of) != (of) ? (nan) : (x))
#else
#define OR_NAN(of, nan, x) x
#endif
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_sinh_of(
    const Block block,
    GLOBAL const f32 *RESTRICT x_p0_base,
    GLOBAL f32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
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
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f32 t1 = 0.0f;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const f32 t2 = OR_NAN(t1, t1, sinh(t1));
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t2;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// sinh_of
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
#ifdef POCL_DEVICE_ADDRESS_BITS
#define OR_NAN(of, nan, x) ((of) != (of) ? (nan) : (x))
#else
#define OR_NAN(of, nan, x) x
#endif
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_sinh_of(
    const Block block,
    GLOBAL const f64 *RESTRICT x_p0_base,
    GLOBAL f64 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const f64 *x_p0 = x_p0_base + block.words[9];
  GLOBAL f64 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f64 t1 = 0.0;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const f64 t2 = OR_NAN(t1, t1, sinh(t1));
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t2;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// sixty_four
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
ENTRY(256) folio_sixty_four(
    GLOBAL const u64 *RESTRICT block,
    GLOBAL const i32 *RESTRICT a0_p1_base,
    GLOBAL const i32 *RESTRICT a1_p2_base,
    GLOBAL const i32 *RESTRICT a2_p3_base,
    GLOBAL const i32 *RESTRICT a3_p4_base,
    GLOBAL const i32 *RESTRICT a4_p5_base,
    GLOBAL const i32 *RESTRICT a5_p6_base,
    GLOBAL const i32 *RESTRICT a6_p7_base,
    GLOBAL const i32 *RESTRICT a7_p8_base,
    GLOBAL const i32 *RESTRICT b0_p9_base,
    GLOBAL const i32 *RESTRICT b1_p10_base,
    GLOBAL const i32 *RESTRICT b2_p11_base,
    GLOBAL const i32 *RESTRICT b3_p12_base,
    GLOBAL const i32 *RESTRICT b4_p13_base,
    GLOBAL const i32 *RESTRICT b5_p14_base,
    GLOBAL const i32 *RESTRICT b6_p15_base,
    GLOBAL const i32 *RESTRICT b7_p16_base,
    GLOBAL const i32 *RESTRICT c0_p17_base,
    GLOBAL const i32 *RESTRICT c1_p18_base,
    GLOBAL const i32 *RESTRICT c2_p19_base,
    GLOBAL const i32 *RESTRICT c3_p20_base,
    GLOBAL const i32 *RESTRICT c4_p21_base,
    GLOBAL const i32 *RESTRICT c5_p22_base,
    GLOBAL const i32 *RESTRICT c6_p23_base,
    GLOBAL const i32 *RESTRICT c7_p24_base,
    GLOBAL const i32 *RESTRICT d0_p25_base,
    GLOBAL const i32 *RESTRICT d1_p26_base,
    GLOBAL const i32 *RESTRICT d2_p27_base,
    GLOBAL const i32 *RESTRICT d3_p28_base,
    GLOBAL const i32 *RESTRICT d4_p29_base,
    GLOBAL const i32 *RESTRICT d5_p30_base,
    GLOBAL const i32 *RESTRICT d6_p31_base,
    GLOBAL const i32 *RESTRICT d7_p32_base,
    GLOBAL const i32 *RESTRICT e0_p33_base,
    GLOBAL const i32 *RESTRICT e1_p34_base,
    GLOBAL const i32 *RESTRICT e2_p35_base,
    GLOBAL const i32 *RESTRICT e3_p36_base,
    GLOBAL const i32 *RESTRICT e4_p37_base,
    GLOBAL const i32 *RESTRICT e5_p38_base,
    GLOBAL const i32 *RESTRICT e6_p39_base,
    GLOBAL const i32 *RESTRICT e7_p40_base,
    GLOBAL const i32 *RESTRICT f0_p41_base,
    GLOBAL const i32 *RESTRICT f1_p42_base,
    GLOBAL const i32 *RESTRICT f2_p43_base,
    GLOBAL const i32 *RESTRICT f3_p44_base,
    GLOBAL const i32 *RESTRICT f4_p45_base,
    GLOBAL const i32 *RESTRICT f5_p46_base,
    GLOBAL const i32 *RESTRICT f6_p47_base,
    GLOBAL const i32 *RESTRICT f7_p48_base,
    GLOBAL const i32 *RESTRICT g0_p49_base,
    GLOBAL const i32 *RESTRICT g1_p50_base,
    GLOBAL const i32 *RESTRICT g2_p51_base,
    GLOBAL const i32 *RESTRICT g3_p52_base,
    GLOBAL const i32 *RESTRICT g4_p53_base,
    GLOBAL const i32 *RESTRICT g5_p54_base,
    GLOBAL const i32 *RESTRICT g6_p55_base,
    GLOBAL const i32 *RESTRICT g7_p56_base,
    GLOBAL const i32 *RESTRICT h0_p57_base,
    GLOBAL const i32 *RESTRICT h1_p58_base,
    GLOBAL const i32 *RESTRICT h2_p59_base,
    GLOBAL const i32 *RESTRICT h3_p60_base,
    GLOBAL const i32 *RESTRICT h4_p61_base,
    GLOBAL const i32 *RESTRICT h5_p62_base,
    GLOBAL i64 *RESTRICT y_p63_base,
    GLOBAL Record *verdict) {
  const u64 a0_p1_low0 = block[0];
  const u64 a0_p1_size0 = block[1];
  const u64 a0_p1_shape0 = block[2];
  const u64 a1_p2_low0 = block[3];
  const u64 a1_p2_size0 = block[4];
  const u64 a1_p2_shape0 = block[5];
  const u64 a2_p3_low0 = block[6];
  const u64 a2_p3_size0 = block[7];
  const u64 a2_p3_shape0 = block[8];
  const u64 a3_p4_low0 = block[9];
  const u64 a3_p4_size0 = block[10];
  const u64 a3_p4_shape0 = block[11];
  const u64 a4_p5_low0 = block[12];
  const u64 a4_p5_size0 = block[13];
  const u64 a4_p5_shape0 = block[14];
  const u64 a5_p6_low0 = block[15];
  const u64 a5_p6_size0 = block[16];
  const u64 a5_p6_shape0 = block[17];
  const u64 a6_p7_low0 = block[18];
  const u64 a6_p7_size0 = block[19];
  const u64 a6_p7_shape0 = block[20];
  const u64 a7_p8_low0 = block[21];
  const u64 a7_p8_size0 = block[22];
  const u64 a7_p8_shape0 = block[23];
  const u64 b0_p9_low0 = block[24];
  const u64 b0_p9_size0 = block[25];
  const u64 b0_p9_shape0 = block[26];
  const u64 b1_p10_low0 = block[27];
  const u64 b1_p10_size0 = block[28];
  const u64 b1_p10_shape0 = block[29];
  const u64 b2_p11_low0 = block[30];
  const u64 b2_p11_size0 = block[31];
  const u64 b2_p11_shape0 = block[32];
  const u64 b3_p12_low0 = block[33];
  const u64 b3_p12_size0 = block[34];
  const u64 b3_p12_shape0 = block[35];
  const u64 b4_p13_low0 = block[36];
  const u64 b4_p13_size0 = block[37];
  const u64 b4_p13_shape0 = block[38];
  const u64 b5_p14_low0 = block[39];
  const u64 b5_p14_size0 = block[40];
  const u64 b5_p14_shape0 = block[41];
  const u64 b6_p15_low0 = block[42];
  const u64 b6_p15_size0 = block[43];
  const u64 b6_p15_shape0 = block[44];
  const u64 b7_p16_low0 = block[45];
  const u64 b7_p16_size0 = block[46];
  const u64 b7_p16_shape0 = block[47];
  const u64 c0_p17_low0 = block[48];
  const u64 c0_p17_size0 = block[49];
  const u64 c0_p17_shape0 = block[50];
  const u64 c1_p18_low0 = block[51];
  const u64 c1_p18_size0 = block[52];
  const u64 c1_p18_shape0 = block[53];
  const u64 c2_p19_low0 = block[54];
  const u64 c2_p19_size0 = block[55];
  const u64 c2_p19_shape0 = block[56];
  const u64 c3_p20_low0 = block[57];
  const u64 c3_p20_size0 = block[58];
  const u64 c3_p20_shape0 = block[59];
  const u64 c4_p21_low0 = block[60];
  const u64 c4_p21_size0 = block[61];
  const u64 c4_p21_shape0 = block[62];
  const u64 c5_p22_low0 = block[63];
  const u64 c5_p22_size0 = block[64];
  const u64 c5_p22_shape0 = block[65];
  const u64 c6_p23_low0 = block[66];
  const u64 c6_p23_size0 = block[67];
  const u64 c6_p23_shape0 = block[68];
  const u64 c7_p24_low0 = block[69];
  const u64 c7_p24_size0 = block[70];
  const u64 c7_p24_shape0 = block[71];
  const u64 d0_p25_low0 = block[72];
  const u64 d0_p25_size0 = block[73];
  const u64 d0_p25_shape0 = block[74];
  const u64 d1_p26_low0 = block[75];
  const u64 d1_p26_size0 = block[76];
  const u64 d1_p26_shape0 = block[77];
  const u64 d2_p27_low0 = block[78];
  const u64 d2_p27_size0 = block[79];
  const u64 d2_p27_shape0 = block[80];
  const u64 d3_p28_low0 = block[81];
  const u64 d3_p28_size0 = block[82];
  const u64 d3_p28_shape0 = block[83];
  const u64 d4_p29_low0 = block[84];
  const u64 d4_p29_size0 = block[85];
  const u64 d4_p29_shape0 = block[86];
  const u64 d5_p30_low0 = block[87];
  const u64 d5_p30_size0 = block[88];
  const u64 d5_p30_shape0 = block[89];
  const u64 d6_p31_low0 = block[90];
  const u64 d6_p31_size0 = block[91];
  const u64 d6_p31_shape0 = block[92];
  const u64 d7_p32_low0 = block[93];
  const u64 d7_p32_size0 = block[94];
  const u64 d7_p32_shape0 = block[95];
  const u64 e0_p33_low0 = block[96];
  const u64 e0_p33_size0 = block[97];
  const u64 e0_p33_shape0 = block[98];
  const u64 e1_p34_low0 = block[99];
  const u64 e1_p34_size0 = block[100];
  const u64 e1_p34_shape0 = block[101];
  const u64 e2_p35_low0 = block[102];
  const u64 e2_p35_size0 = block[103];
  const u64 e2_p35_shape0 = block[104];
  const u64 e3_p36_low0 = block[105];
  const u64 e3_p36_size0 = block[106];
  const u64 e3_p36_shape0 = block[107];
  const u64 e4_p37_low0 = block[108];
  const u64 e4_p37_size0 = block[109];
  const u64 e4_p37_shape0 = block[110];
  const u64 e5_p38_low0 = block[111];
  const u64 e5_p38_size0 = block[112];
  const u64 e5_p38_shape0 = block[113];
  const u64 e6_p39_low0 = block[114];
  const u64 e6_p39_size0 = block[115];
  const u64 e6_p39_shape0 = block[116];
  const u64 e7_p40_low0 = block[117];
  const u64 e7_p40_size0 = block[118];
  const u64 e7_p40_shape0 = block[119];
  const u64 f0_p41_low0 = block[120];
  const u64 f0_p41_size0 = block[121];
  const u64 f0_p41_shape0 = block[122];
  const u64 f1_p42_low0 = block[123];
  const u64 f1_p42_size0 = block[124];
  const u64 f1_p42_shape0 = block[125];
  const u64 f2_p43_low0 = block[126];
  const u64 f2_p43_size0 = block[127];
  const u64 f2_p43_shape0 = block[128];
  const u64 f3_p44_low0 = block[129];
  const u64 f3_p44_size0 = block[130];
  const u64 f3_p44_shape0 = block[131];
  const u64 f4_p45_low0 = block[132];
  const u64 f4_p45_size0 = block[133];
  const u64 f4_p45_shape0 = block[134];
  const u64 f5_p46_low0 = block[135];
  const u64 f5_p46_size0 = block[136];
  const u64 f5_p46_shape0 = block[137];
  const u64 f6_p47_low0 = block[138];
  const u64 f6_p47_size0 = block[139];
  const u64 f6_p47_shape0 = block[140];
  const u64 f7_p48_low0 = block[141];
  const u64 f7_p48_size0 = block[142];
  const u64 f7_p48_shape0 = block[143];
  const u64 g0_p49_low0 = block[144];
  const u64 g0_p49_size0 = block[145];
  const u64 g0_p49_shape0 = block[146];
  const u64 g1_p50_low0 = block[147];
  const u64 g1_p50_size0 = block[148];
  const u64 g1_p50_shape0 = block[149];
  const u64 g2_p51_low0 = block[150];
  const u64 g2_p51_size0 = block[151];
  const u64 g2_p51_shape0 = block[152];
  const u64 g3_p52_low0 = block[153];
  const u64 g3_p52_size0 = block[154];
  const u64 g3_p52_shape0 = block[155];
  const u64 g4_p53_low0 = block[156];
  const u64 g4_p53_size0 = block[157];
  const u64 g4_p53_shape0 = block[158];
  const u64 g5_p54_low0 = block[159];
  const u64 g5_p54_size0 = block[160];
  const u64 g5_p54_shape0 = block[161];
  const u64 g6_p55_low0 = block[162];
  const u64 g6_p55_size0 = block[163];
  const u64 g6_p55_shape0 = block[164];
  const u64 g7_p56_low0 = block[165];
  const u64 g7_p56_size0 = block[166];
  const u64 g7_p56_shape0 = block[167];
  const u64 h0_p57_low0 = block[168];
  const u64 h0_p57_size0 = block[169];
  const u64 h0_p57_shape0 = block[170];
  const u64 h1_p58_low0 = block[171];
  const u64 h1_p58_size0 = block[172];
  const u64 h1_p58_shape0 = block[173];
  const u64 h2_p59_low0 = block[174];
  const u64 h2_p59_size0 = block[175];
  const u64 h2_p59_shape0 = block[176];
  const u64 h3_p60_low0 = block[177];
  const u64 h3_p60_size0 = block[178];
  const u64 h3_p60_shape0 = block[179];
  const u64 h4_p61_low0 = block[180];
  const u64 h4_p61_size0 = block[181];
  const u64 h4_p61_shape0 = block[182];
  const u64 h5_p62_low0 = block[183];
  const u64 h5_p62_size0 = block[184];
  const u64 h5_p62_shape0 = block[185];
  const u64 y_p63_low0 = block[186];
  const u64 y_p63_size0 = block[187];
  const u64 y_p63_shape0 = block[188];
  const u64 first0 = block[189];
  const u64 offset0 = block[190];
  const u64 range0 = block[191];
  GLOBAL const i32 *a0_p1 = a0_p1_base + block[193];
  GLOBAL const i32 *a1_p2 = a1_p2_base + block[194];
  GLOBAL const i32 *a2_p3 = a2_p3_base + block[195];
  GLOBAL const i32 *a3_p4 = a3_p4_base + block[196];
  GLOBAL const i32 *a4_p5 = a4_p5_base + block[197];
  GLOBAL const i32 *a5_p6 = a5_p6_base + block[198];
  GLOBAL const i32 *a6_p7 = a6_p7_base + block[199];
  GLOBAL const i32 *a7_p8 = a7_p8_base + block[200];
  GLOBAL const i32 *b0_p9 = b0_p9_base + block[201];
  GLOBAL const i32 *b1_p10 = b1_p10_base + block[202];
  GLOBAL const i32 *b2_p11 = b2_p11_base + block[203];
  GLOBAL const i32 *b3_p12 = b3_p12_base + block[204];
  GLOBAL const i32 *b4_p13 = b4_p13_base + block[205];
  GLOBAL const i32 *b5_p14 = b5_p14_base + block[206];
  GLOBAL const i32 *b6_p15 = b6_p15_base + block[207];
  GLOBAL const i32 *b7_p16 = b7_p16_base + block[208];
  GLOBAL const i32 *c0_p17 = c0_p17_base + block[209];
  GLOBAL const i32 *c1_p18 = c1_p18_base + block[210];
  GLOBAL const i32 *c2_p19 = c2_p19_base + block[211];
  GLOBAL const i32 *c3_p20 = c3_p20_base + block[212];
  GLOBAL const i32 *c4_p21 = c4_p21_base + block[213];
  GLOBAL const i32 *c5_p22 = c5_p22_base + block[214];
  GLOBAL const i32 *c6_p23 = c6_p23_base + block[215];
  GLOBAL const i32 *c7_p24 = c7_p24_base + block[216];
  GLOBAL const i32 *d0_p25 = d0_p25_base + block[217];
  GLOBAL const i32 *d1_p26 = d1_p26_base + block[218];
  GLOBAL const i32 *d2_p27 = d2_p27_base + block[219];
  GLOBAL const i32 *d3_p28 = d3_p28_base + block[220];
  GLOBAL const i32 *d4_p29 = d4_p29_base + block[221];
  GLOBAL const i32 *d5_p30 = d5_p30_base + block[222];
  GLOBAL const i32 *d6_p31 = d6_p31_base + block[223];
  GLOBAL const i32 *d7_p32 = d7_p32_base + block[224];
  GLOBAL const i32 *e0_p33 = e0_p33_base + block[225];
  GLOBAL const i32 *e1_p34 = e1_p34_base + block[226];
  GLOBAL const i32 *e2_p35 = e2_p35_base + block[227];
  GLOBAL const i32 *e3_p36 = e3_p36_base + block[228];
  GLOBAL const i32 *e4_p37 = e4_p37_base + block[229];
  GLOBAL const i32 *e5_p38 = e5_p38_base + block[230];
  GLOBAL const i32 *e6_p39 = e6_p39_base + block[231];
  GLOBAL const i32 *e7_p40 = e7_p40_base + block[232];
  GLOBAL const i32 *f0_p41 = f0_p41_base + block[233];
  GLOBAL const i32 *f1_p42 = f1_p42_base + block[234];
  GLOBAL const i32 *f2_p43 = f2_p43_base + block[235];
  GLOBAL const i32 *f3_p44 = f3_p44_base + block[236];
  GLOBAL const i32 *f4_p45 = f4_p45_base + block[237];
  GLOBAL const i32 *f5_p46 = f5_p46_base + block[238];
  GLOBAL const i32 *f6_p47 = f6_p47_base + block[239];
  GLOBAL const i32 *f7_p48 = f7_p48_base + block[240];
  GLOBAL const i32 *g0_p49 = g0_p49_base + block[241];
  GLOBAL const i32 *g1_p50 = g1_p50_base + block[242];
  GLOBAL const i32 *g2_p51 = g2_p51_base + block[243];
  GLOBAL const i32 *g3_p52 = g3_p52_base + block[244];
  GLOBAL const i32 *g4_p53 = g4_p53_base + block[245];
  GLOBAL const i32 *g5_p54 = g5_p54_base + block[246];
  GLOBAL const i32 *g6_p55 = g6_p55_base + block[247];
  GLOBAL const i32 *g7_p56 = g7_p56_base + block[248];
  GLOBAL const i32 *h0_p57 = h0_p57_base + block[249];
  GLOBAL const i32 *h1_p58 = h1_p58_base + block[250];
  GLOBAL const i32 *h2_p59 = h2_p59_base + block[251];
  GLOBAL const i32 *h3_p60 = h3_p60_base + block[252];
  GLOBAL const i32 *h4_p61 = h4_p61_base + block[253];
  GLOBAL const i32 *h5_p62 = h5_p62_base + block[254];
  GLOBAL i64 *y_p63 = y_p63_base + block[255];
  const i64 scale_p0 = (i64)block[192];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  i64 l65_v0 = 0l;
  l65_v0 = 0l;
  const i64 t2 = l65_v0;
  const i64 t4 = (i64)((u64)t2 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t6 = 0;
  if (pos0 - a0_p1_low0 < a0_p1_size0) t6 = a0_p1[pos0 - a0_p1_low0];
  else outside(verdict, 1u, pos0, 0, 0, a0_p1_shape0, 0, 0);
  const i64 t7 = (i64)t6;
  const i64 t8 = (i64)((u64)t4 + (u64)t7);
  l65_v0 = t8;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t9 = l65_v0;
  const i64 t11 = (i64)((u64)t9 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t12 = 0;
  if (pos0 - a1_p2_low0 < a1_p2_size0) t12 = a1_p2[pos0 - a1_p2_low0];
  else outside(verdict, 2u, pos0, 0, 0, a1_p2_shape0, 0, 0);
  const i64 t13 = (i64)t12;
  const i64 t14 = (i64)((u64)t11 + (u64)t13);
  l65_v0 = t14;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t15 = l65_v0;
  const i64 t17 = (i64)((u64)t15 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t18 = 0;
  if (pos0 - a2_p3_low0 < a2_p3_size0) t18 = a2_p3[pos0 - a2_p3_low0];
  else outside(verdict, 3u, pos0, 0, 0, a2_p3_shape0, 0, 0);
  const i64 t19 = (i64)t18;
  const i64 t20 = (i64)((u64)t17 + (u64)t19);
  l65_v0 = t20;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t21 = l65_v0;
  const i64 t23 = (i64)((u64)t21 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t24 = 0;
  if (pos0 - a3_p4_low0 < a3_p4_size0) t24 = a3_p4[pos0 - a3_p4_low0];
  else outside(verdict, 4u, pos0, 0, 0, a3_p4_shape0, 0, 0);
  const i64 t25 = (i64)t24;
  const i64 t26 = (i64)((u64)t23 + (u64)t25);
  l65_v0 = t26;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t27 = l65_v0;
  const i64 t29 = (i64)((u64)t27 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t30 = 0;
  if (pos0 - a4_p5_low0 < a4_p5_size0) t30 = a4_p5[pos0 - a4_p5_low0];
  else outside(verdict, 5u, pos0, 0, 0, a4_p5_shape0, 0, 0);
  const i64 t31 = (i64)t30;
  const i64 t32 = (i64)((u64)t29 + (u64)t31);
  l65_v0 = t32;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t33 = l65_v0;
  const i64 t35 = (i64)((u64)t33 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t36 = 0;
  if (pos0 - a5_p6_low0 < a5_p6_size0) t36 = a5_p6[pos0 - a5_p6_low0];
  else outside(verdict, 6u, pos0, 0, 0, a5_p6_shape0, 0, 0);
  const i64 t37 = (i64)t36;
  const i64 t38 = (i64)((u64)t35 + (u64)t37);
  l65_v0 = t38;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t39 = l65_v0;
  const i64 t41 = (i64)((u64)t39 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t42 = 0;
  if (pos0 - a6_p7_low0 < a6_p7_size0) t42 = a6_p7[pos0 - a6_p7_low0];
  else outside(verdict, 7u, pos0, 0, 0, a6_p7_shape0, 0, 0);
  const i64 t43 = (i64)t42;
  const i64 t44 = (i64)((u64)t41 + (u64)t43);
  l65_v0 = t44;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t45 = l65_v0;
  const i64 t47 = (i64)((u64)t45 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t48 = 0;
  if (pos0 - a7_p8_low0 < a7_p8_size0) t48 = a7_p8[pos0 - a7_p8_low0];
  else outside(verdict, 8u, pos0, 0, 0, a7_p8_shape0, 0, 0);
  const i64 t49 = (i64)t48;
  const i64 t50 = (i64)((u64)t47 + (u64)t49);
  l65_v0 = t50;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t51 = l65_v0;
  const i64 t53 = (i64)((u64)t51 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t54 = 0;
  if (pos0 - b0_p9_low0 < b0_p9_size0) t54 = b0_p9[pos0 - b0_p9_low0];
  else outside(verdict, 9u, pos0, 0, 0, b0_p9_shape0, 0, 0);
  const i64 t55 = (i64)t54;
  const i64 t56 = (i64)((u64)t53 + (u64)t55);
  l65_v0 = t56;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t57 = l65_v0;
  const i64 t59 = (i64)((u64)t57 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t60 = 0;
  if (pos0 - b1_p10_low0 < b1_p10_size0) t60 = b1_p10[pos0 - b1_p10_low0];
  else outside(verdict, 10u, pos0, 0, 0, b1_p10_shape0, 0, 0);
  const i64 t61 = (i64)t60;
  const i64 t62 = (i64)((u64)t59 + (u64)t61);
  l65_v0 = t62;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t63 = l65_v0;
  const i64 t65 = (i64)((u64)t63 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t66 = 0;
  if (pos0 - b2_p11_low0 < b2_p11_size0) t66 = b2_p11[pos0 - b2_p11_low0];
  else outside(verdict, 11u, pos0, 0, 0, b2_p11_shape0, 0, 0);
  const i64 t67 = (i64)t66;
  const i64 t68 = (i64)((u64)t65 + (u64)t67);
  l65_v0 = t68;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t69 = l65_v0;
  const i64 t71 = (i64)((u64)t69 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t72 = 0;
  if (pos0 - b3_p12_low0 < b3_p12_size0) t72 = b3_p12[pos0 - b3_p12_low0];
  else outside(verdict, 12u, pos0, 0, 0, b3_p12_shape0, 0, 0);
  const i64 t73 = (i64)t72;
  const i64 t74 = (i64)((u64)t71 + (u64)t73);
  l65_v0 = t74;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t75 = l65_v0;
  const i64 t77 = (i64)((u64)t75 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t78 = 0;
  if (pos0 - b4_p13_low0 < b4_p13_size0) t78 = b4_p13[pos0 - b4_p13_low0];
  else outside(verdict, 13u, pos0, 0, 0, b4_p13_shape0, 0, 0);
  const i64 t79 = (i64)t78;
  const i64 t80 = (i64)((u64)t77 + (u64)t79);
  l65_v0 = t80;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t81 = l65_v0;
  const i64 t83 = (i64)((u64)t81 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t84 = 0;
  if (pos0 - b5_p14_low0 < b5_p14_size0) t84 = b5_p14[pos0 - b5_p14_low0];
  else outside(verdict, 14u, pos0, 0, 0, b5_p14_shape0, 0, 0);
  const i64 t85 = (i64)t84;
  const i64 t86 = (i64)((u64)t83 + (u64)t85);
  l65_v0 = t86;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t87 = l65_v0;
  const i64 t89 = (i64)((u64)t87 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t90 = 0;
  if (pos0 - b6_p15_low0 < b6_p15_size0) t90 = b6_p15[pos0 - b6_p15_low0];
  else outside(verdict, 15u, pos0, 0, 0, b6_p15_shape0, 0, 0);
  const i64 t91 = (i64)t90;
  const i64 t92 = (i64)((u64)t89 + (u64)t91);
  l65_v0 = t92;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t93 = l65_v0;
  const i64 t95 = (i64)((u64)t93 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t96 = 0;
  if (pos0 - b7_p16_low0 < b7_p16_size0) t96 = b7_p16[pos0 - b7_p16_low0];
  else outside(verdict, 16u, pos0, 0, 0, b7_p16_shape0, 0, 0);
  const i64 t97 = (i64)t96;
  const i64 t98 = (i64)((u64)t95 + (u64)t97);
  l65_v0 = t98;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t99 = l65_v0;
  const i64 t101 = (i64)((u64)t99 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t102 = 0;
  if (pos0 - c0_p17_low0 < c0_p17_size0) t102 = c0_p17[pos0 - c0_p17_low0];
  else outside(verdict, 17u, pos0, 0, 0, c0_p17_shape0, 0, 0);
  const i64 t103 = (i64)t102;
  const i64 t104 = (i64)((u64)t101 + (u64)t103);
  l65_v0 = t104;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t105 = l65_v0;
  const i64 t107 = (i64)((u64)t105 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t108 = 0;
  if (pos0 - c1_p18_low0 < c1_p18_size0) t108 = c1_p18[pos0 - c1_p18_low0];
  else outside(verdict, 18u, pos0, 0, 0, c1_p18_shape0, 0, 0);
  const i64 t109 = (i64)t108;
  const i64 t110 = (i64)((u64)t107 + (u64)t109);
  l65_v0 = t110;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t111 = l65_v0;
  const i64 t113 = (i64)((u64)t111 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t114 = 0;
  if (pos0 - c2_p19_low0 < c2_p19_size0) t114 = c2_p19[pos0 - c2_p19_low0];
  else outside(verdict, 19u, pos0, 0, 0, c2_p19_shape0, 0, 0);
  const i64 t115 = (i64)t114;
  const i64 t116 = (i64)((u64)t113 + (u64)t115);
  l65_v0 = t116;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t117 = l65_v0;
  const i64 t119 = (i64)((u64)t117 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t120 = 0;
  if (pos0 - c3_p20_low0 < c3_p20_size0) t120 = c3_p20[pos0 - c3_p20_low0];
  else outside(verdict, 20u, pos0, 0, 0, c3_p20_shape0, 0, 0);
  const i64 t121 = (i64)t120;
  const i64 t122 = (i64)((u64)t119 + (u64)t121);
  l65_v0 = t122;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t123 = l65_v0;
  const i64 t125 = (i64)((u64)t123 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t126 = 0;
  if (pos0 - c4_p21_low0 < c4_p21_size0) t126 = c4_p21[pos0 - c4_p21_low0];
  else outside(verdict, 21u, pos0, 0, 0, c4_p21_shape0, 0, 0);
  const i64 t127 = (i64)t126;
  const i64 t128 = (i64)((u64)t125 + (u64)t127);
  l65_v0 = t128;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t129 = l65_v0;
  const i64 t131 = (i64)((u64)t129 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t132 = 0;
  if (pos0 - c5_p22_low0 < c5_p22_size0) t132 = c5_p22[pos0 - c5_p22_low0];
  else outside(verdict, 22u, pos0, 0, 0, c5_p22_shape0, 0, 0);
  const i64 t133 = (i64)t132;
  const i64 t134 = (i64)((u64)t131 + (u64)t133);
  l65_v0 = t134;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t135 = l65_v0;
  const i64 t137 = (i64)((u64)t135 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t138 = 0;
  if (pos0 - c6_p23_low0 < c6_p23_size0) t138 = c6_p23[pos0 - c6_p23_low0];
  else outside(verdict, 23u, pos0, 0, 0, c6_p23_shape0, 0, 0);
  const i64 t139 = (i64)t138;
  const i64 t140 = (i64)((u64)t137 + (u64)t139);
  l65_v0 = t140;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t141 = l65_v0;
  const i64 t143 = (i64)((u64)t141 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t144 = 0;
  if (pos0 - c7_p24_low0 < c7_p24_size0) t144 = c7_p24[pos0 - c7_p24_low0];
  else outside(verdict, 24u, pos0, 0, 0, c7_p24_shape0, 0, 0);
  const i64 t145 = (i64)t144;
  const i64 t146 = (i64)((u64)t143 + (u64)t145);
  l65_v0 = t146;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t147 = l65_v0;
  const i64 t149 = (i64)((u64)t147 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t150 = 0;
  if (pos0 - d0_p25_low0 < d0_p25_size0) t150 = d0_p25[pos0 - d0_p25_low0];
  else outside(verdict, 25u, pos0, 0, 0, d0_p25_shape0, 0, 0);
  const i64 t151 = (i64)t150;
  const i64 t152 = (i64)((u64)t149 + (u64)t151);
  l65_v0 = t152;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t153 = l65_v0;
  const i64 t155 = (i64)((u64)t153 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t156 = 0;
  if (pos0 - d1_p26_low0 < d1_p26_size0) t156 = d1_p26[pos0 - d1_p26_low0];
  else outside(verdict, 26u, pos0, 0, 0, d1_p26_shape0, 0, 0);
  const i64 t157 = (i64)t156;
  const i64 t158 = (i64)((u64)t155 + (u64)t157);
  l65_v0 = t158;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t159 = l65_v0;
  const i64 t161 = (i64)((u64)t159 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t162 = 0;
  if (pos0 - d2_p27_low0 < d2_p27_size0) t162 = d2_p27[pos0 - d2_p27_low0];
  else outside(verdict, 27u, pos0, 0, 0, d2_p27_shape0, 0, 0);
  const i64 t163 = (i64)t162;
  const i64 t164 = (i64)((u64)t161 + (u64)t163);
  l65_v0 = t164;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t165 = l65_v0;
  const i64 t167 = (i64)((u64)t165 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t168 = 0;
  if (pos0 - d3_p28_low0 < d3_p28_size0) t168 = d3_p28[pos0 - d3_p28_low0];
  else outside(verdict, 28u, pos0, 0, 0, d3_p28_shape0, 0, 0);
  const i64 t169 = (i64)t168;
  const i64 t170 = (i64)((u64)t167 + (u64)t169);
  l65_v0 = t170;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t171 = l65_v0;
  const i64 t173 = (i64)((u64)t171 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t174 = 0;
  if (pos0 - d4_p29_low0 < d4_p29_size0) t174 = d4_p29[pos0 - d4_p29_low0];
  else outside(verdict, 29u, pos0, 0, 0, d4_p29_shape0, 0, 0);
  const i64 t175 = (i64)t174;
  const i64 t176 = (i64)((u64)t173 + (u64)t175);
  l65_v0 = t176;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t177 = l65_v0;
  const i64 t179 = (i64)((u64)t177 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t180 = 0;
  if (pos0 - d5_p30_low0 < d5_p30_size0) t180 = d5_p30[pos0 - d5_p30_low0];
  else outside(verdict, 30u, pos0, 0, 0, d5_p30_shape0, 0, 0);
  const i64 t181 = (i64)t180;
  const i64 t182 = (i64)((u64)t179 + (u64)t181);
  l65_v0 = t182;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t183 = l65_v0;
  const i64 t185 = (i64)((u64)t183 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t186 = 0;
  if (pos0 - d6_p31_low0 < d6_p31_size0) t186 = d6_p31[pos0 - d6_p31_low0];
  else outside(verdict, 31u, pos0, 0, 0, d6_p31_shape0, 0, 0);
  const i64 t187 = (i64)t186;
  const i64 t188 = (i64)((u64)t185 + (u64)t187);
  l65_v0 = t188;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t189 = l65_v0;
  const i64 t191 = (i64)((u64)t189 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t192 = 0;
  if (pos0 - d7_p32_low0 < d7_p32_size0) t192 = d7_p32[pos0 - d7_p32_low0];
  else outside(verdict, 32u, pos0, 0, 0, d7_p32_shape0, 0, 0);
  const i64 t193 = (i64)t192;
  const i64 t194 = (i64)((u64)t191 + (u64)t193);
  l65_v0 = t194;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t195 = l65_v0;
  const i64 t197 = (i64)((u64)t195 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t198 = 0;
  if (pos0 - e0_p33_low0 < e0_p33_size0) t198 = e0_p33[pos0 - e0_p33_low0];
  else outside(verdict, 33u, pos0, 0, 0, e0_p33_shape0, 0, 0);
  const i64 t199 = (i64)t198;
  const i64 t200 = (i64)((u64)t197 + (u64)t199);
  l65_v0 = t200;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t201 = l65_v0;
  const i64 t203 = (i64)((u64)t201 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t204 = 0;
  if (pos0 - e1_p34_low0 < e1_p34_size0) t204 = e1_p34[pos0 - e1_p34_low0];
  else outside(verdict, 34u, pos0, 0, 0, e1_p34_shape0, 0, 0);
  const i64 t205 = (i64)t204;
  const i64 t206 = (i64)((u64)t203 + (u64)t205);
  l65_v0 = t206;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t207 = l65_v0;
  const i64 t209 = (i64)((u64)t207 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t210 = 0;
  if (pos0 - e2_p35_low0 < e2_p35_size0) t210 = e2_p35[pos0 - e2_p35_low0];
  else outside(verdict, 35u, pos0, 0, 0, e2_p35_shape0, 0, 0);
  const i64 t211 = (i64)t210;
  const i64 t212 = (i64)((u64)t209 + (u64)t211);
  l65_v0 = t212;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t213 = l65_v0;
  const i64 t215 = (i64)((u64)t213 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t216 = 0;
  if (pos0 - e3_p36_low0 < e3_p36_size0) t216 = e3_p36[pos0 - e3_p36_low0];
  else outside(verdict, 36u, pos0, 0, 0, e3_p36_shape0, 0, 0);
  const i64 t217 = (i64)t216;
  const i64 t218 = (i64)((u64)t215 + (u64)t217);
  l65_v0 = t218;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t219 = l65_v0;
  const i64 t221 = (i64)((u64)t219 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t222 = 0;
  if (pos0 - e4_p37_low0 < e4_p37_size0) t222 = e4_p37[pos0 - e4_p37_low0];
  else outside(verdict, 37u, pos0, 0, 0, e4_p37_shape0, 0, 0);
  const i64 t223 = (i64)t222;
  const i64 t224 = (i64)((u64)t221 + (u64)t223);
  l65_v0 = t224;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t225 = l65_v0;
  const i64 t227 = (i64)((u64)t225 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t228 = 0;
  if (pos0 - e5_p38_low0 < e5_p38_size0) t228 = e5_p38[pos0 - e5_p38_low0];
  else outside(verdict, 38u, pos0, 0, 0, e5_p38_shape0, 0, 0);
  const i64 t229 = (i64)t228;
  const i64 t230 = (i64)((u64)t227 + (u64)t229);
  l65_v0 = t230;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t231 = l65_v0;
  const i64 t233 = (i64)((u64)t231 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t234 = 0;
  if (pos0 - e6_p39_low0 < e6_p39_size0) t234 = e6_p39[pos0 - e6_p39_low0];
  else outside(verdict, 39u, pos0, 0, 0, e6_p39_shape0, 0, 0);
  const i64 t235 = (i64)t234;
  const i64 t236 = (i64)((u64)t233 + (u64)t235);
  l65_v0 = t236;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t237 = l65_v0;
  const i64 t239 = (i64)((u64)t237 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t240 = 0;
  if (pos0 - e7_p40_low0 < e7_p40_size0) t240 = e7_p40[pos0 - e7_p40_low0];
  else outside(verdict, 40u, pos0, 0, 0, e7_p40_shape0, 0, 0);
  const i64 t241 = (i64)t240;
  const i64 t242 = (i64)((u64)t239 + (u64)t241);
  l65_v0 = t242;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t243 = l65_v0;
  const i64 t245 = (i64)((u64)t243 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t246 = 0;
  if (pos0 - f0_p41_low0 < f0_p41_size0) t246 = f0_p41[pos0 - f0_p41_low0];
  else outside(verdict, 41u, pos0, 0, 0, f0_p41_shape0, 0, 0);
  const i64 t247 = (i64)t246;
  const i64 t248 = (i64)((u64)t245 + (u64)t247);
  l65_v0 = t248;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t249 = l65_v0;
  const i64 t251 = (i64)((u64)t249 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t252 = 0;
  if (pos0 - f1_p42_low0 < f1_p42_size0) t252 = f1_p42[pos0 - f1_p42_low0];
  else outside(verdict, 42u, pos0, 0, 0, f1_p42_shape0, 0, 0);
  const i64 t253 = (i64)t252;
  const i64 t254 = (i64)((u64)t251 + (u64)t253);
  l65_v0 = t254;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t255 = l65_v0;
  const i64 t257 = (i64)((u64)t255 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t258 = 0;
  if (pos0 - f2_p43_low0 < f2_p43_size0) t258 = f2_p43[pos0 - f2_p43_low0];
  else outside(verdict, 43u, pos0, 0, 0, f2_p43_shape0, 0, 0);
  const i64 t259 = (i64)t258;
  const i64 t260 = (i64)((u64)t257 + (u64)t259);
  l65_v0 = t260;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t261 = l65_v0;
  const i64 t263 = (i64)((u64)t261 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t264 = 0;
  if (pos0 - f3_p44_low0 < f3_p44_size0) t264 = f3_p44[pos0 - f3_p44_low0];
  else outside(verdict, 44u, pos0, 0, 0, f3_p44_shape0, 0, 0);
  const i64 t265 = (i64)t264;
  const i64 t266 = (i64)((u64)t263 + (u64)t265);
  l65_v0 = t266;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t267 = l65_v0;
  const i64 t269 = (i64)((u64)t267 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t270 = 0;
  if (pos0 - f4_p45_low0 < f4_p45_size0) t270 = f4_p45[pos0 - f4_p45_low0];
  else outside(verdict, 45u, pos0, 0, 0, f4_p45_shape0, 0, 0);
  const i64 t271 = (i64)t270;
  const i64 t272 = (i64)((u64)t269 + (u64)t271);
  l65_v0 = t272;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t273 = l65_v0;
  const i64 t275 = (i64)((u64)t273 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t276 = 0;
  if (pos0 - f5_p46_low0 < f5_p46_size0) t276 = f5_p46[pos0 - f5_p46_low0];
  else outside(verdict, 46u, pos0, 0, 0, f5_p46_shape0, 0, 0);
  const i64 t277 = (i64)t276;
  const i64 t278 = (i64)((u64)t275 + (u64)t277);
  l65_v0 = t278;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t279 = l65_v0;
  const i64 t281 = (i64)((u64)t279 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t282 = 0;
  if (pos0 - f6_p47_low0 < f6_p47_size0) t282 = f6_p47[pos0 - f6_p47_low0];
  else outside(verdict, 47u, pos0, 0, 0, f6_p47_shape0, 0, 0);
  const i64 t283 = (i64)t282;
  const i64 t284 = (i64)((u64)t281 + (u64)t283);
  l65_v0 = t284;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t285 = l65_v0;
  const i64 t287 = (i64)((u64)t285 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t288 = 0;
  if (pos0 - f7_p48_low0 < f7_p48_size0) t288 = f7_p48[pos0 - f7_p48_low0];
  else outside(verdict, 48u, pos0, 0, 0, f7_p48_shape0, 0, 0);
  const i64 t289 = (i64)t288;
  const i64 t290 = (i64)((u64)t287 + (u64)t289);
  l65_v0 = t290;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t291 = l65_v0;
  const i64 t293 = (i64)((u64)t291 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t294 = 0;
  if (pos0 - g0_p49_low0 < g0_p49_size0) t294 = g0_p49[pos0 - g0_p49_low0];
  else outside(verdict, 49u, pos0, 0, 0, g0_p49_shape0, 0, 0);
  const i64 t295 = (i64)t294;
  const i64 t296 = (i64)((u64)t293 + (u64)t295);
  l65_v0 = t296;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t297 = l65_v0;
  const i64 t299 = (i64)((u64)t297 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t300 = 0;
  if (pos0 - g1_p50_low0 < g1_p50_size0) t300 = g1_p50[pos0 - g1_p50_low0];
  else outside(verdict, 50u, pos0, 0, 0, g1_p50_shape0, 0, 0);
  const i64 t301 = (i64)t300;
  const i64 t302 = (i64)((u64)t299 + (u64)t301);
  l65_v0 = t302;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t303 = l65_v0;
  const i64 t305 = (i64)((u64)t303 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t306 = 0;
  if (pos0 - g2_p51_low0 < g2_p51_size0) t306 = g2_p51[pos0 - g2_p51_low0];
  else outside(verdict, 51u, pos0, 0, 0, g2_p51_shape0, 0, 0);
  const i64 t307 = (i64)t306;
  const i64 t308 = (i64)((u64)t305 + (u64)t307);
  l65_v0 = t308;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t309 = l65_v0;
  const i64 t311 = (i64)((u64)t309 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t312 = 0;
  if (pos0 - g3_p52_low0 < g3_p52_size0) t312 = g3_p52[pos0 - g3_p52_low0];
  else outside(verdict, 52u, pos0, 0, 0, g3_p52_shape0, 0, 0);
  const i64 t313 = (i64)t312;
  const i64 t314 = (i64)((u64)t311 + (u64)t313);
  l65_v0 = t314;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t315 = l65_v0;
  const i64 t317 = (i64)((u64)t315 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t318 = 0;
  if (pos0 - g4_p53_low0 < g4_p53_size0) t318 = g4_p53[pos0 - g4_p53_low0];
  else outside(verdict, 53u, pos0, 0, 0, g4_p53_shape0, 0, 0);
  const i64 t319 = (i64)t318;
  const i64 t320 = (i64)((u64)t317 + (u64)t319);
  l65_v0 = t320;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t321 = l65_v0;
  const i64 t323 = (i64)((u64)t321 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t324 = 0;
  if (pos0 - g5_p54_low0 < g5_p54_size0) t324 = g5_p54[pos0 - g5_p54_low0];
  else outside(verdict, 54u, pos0, 0, 0, g5_p54_shape0, 0, 0);
  const i64 t325 = (i64)t324;
  const i64 t326 = (i64)((u64)t323 + (u64)t325);
  l65_v0 = t326;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t327 = l65_v0;
  const i64 t329 = (i64)((u64)t327 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t330 = 0;
  if (pos0 - g6_p55_low0 < g6_p55_size0) t330 = g6_p55[pos0 - g6_p55_low0];
  else outside(verdict, 55u, pos0, 0, 0, g6_p55_shape0, 0, 0);
  const i64 t331 = (i64)t330;
  const i64 t332 = (i64)((u64)t329 + (u64)t331);
  l65_v0 = t332;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t333 = l65_v0;
  const i64 t335 = (i64)((u64)t333 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t336 = 0;
  if (pos0 - g7_p56_low0 < g7_p56_size0) t336 = g7_p56[pos0 - g7_p56_low0];
  else outside(verdict, 56u, pos0, 0, 0, g7_p56_shape0, 0, 0);
  const i64 t337 = (i64)t336;
  const i64 t338 = (i64)((u64)t335 + (u64)t337);
  l65_v0 = t338;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t339 = l65_v0;
  const i64 t341 = (i64)((u64)t339 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t342 = 0;
  if (pos0 - h0_p57_low0 < h0_p57_size0) t342 = h0_p57[pos0 - h0_p57_low0];
  else outside(verdict, 57u, pos0, 0, 0, h0_p57_shape0, 0, 0);
  const i64 t343 = (i64)t342;
  const i64 t344 = (i64)((u64)t341 + (u64)t343);
  l65_v0 = t344;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t345 = l65_v0;
  const i64 t347 = (i64)((u64)t345 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t348 = 0;
  if (pos0 - h1_p58_low0 < h1_p58_size0) t348 = h1_p58[pos0 - h1_p58_low0];
  else outside(verdict, 58u, pos0, 0, 0, h1_p58_shape0, 0, 0);
  const i64 t349 = (i64)t348;
  const i64 t350 = (i64)((u64)t347 + (u64)t349);
  l65_v0 = t350;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t351 = l65_v0;
  const i64 t353 = (i64)((u64)t351 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t354 = 0;
  if (pos0 - h2_p59_low0 < h2_p59_size0) t354 = h2_p59[pos0 - h2_p59_low0];
  else outside(verdict, 59u, pos0, 0, 0, h2_p59_shape0, 0, 0);
  const i64 t355 = (i64)t354;
  const i64 t356 = (i64)((u64)t353 + (u64)t355);
  l65_v0 = t356;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t357 = l65_v0;
  const i64 t359 = (i64)((u64)t357 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t360 = 0;
  if (pos0 - h3_p60_low0 < h3_p60_size0) t360 = h3_p60[pos0 - h3_p60_low0];
  else outside(verdict, 60u, pos0, 0, 0, h3_p60_shape0, 0, 0);
  const i64 t361 = (i64)t360;
  const i64 t362 = (i64)((u64)t359 + (u64)t361);
  l65_v0 = t362;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t363 = l65_v0;
  const i64 t365 = (i64)((u64)t363 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t366 = 0;
  if (pos0 - h4_p61_low0 < h4_p61_size0) t366 = h4_p61[pos0 - h4_p61_low0];
  else outside(verdict, 61u, pos0, 0, 0, h4_p61_shape0, 0, 0);
  const i64 t367 = (i64)t366;
  const i64 t368 = (i64)((u64)t365 + (u64)t367);
  l65_v0 = t368;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t369 = l65_v0;
  const i64 t371 = (i64)((u64)t369 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  i32 t372 = 0;
  if (pos0 - h5_p62_low0 < h5_p62_size0) t372 = h5_p62[pos0 - h5_p62_low0];
  else outside(verdict, 62u, pos0, 0, 0, h5_p62_shape0, 0, 0);
  const i64 t373 = (i64)t372;
  const i64 t374 = (i64)((u64)t371 + (u64)t373);
  l65_v0 = t374;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const i64 t375 = l65_v0;
  const i64 t376 = (i64)((u64)t375 * (u64)scale_p0);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p63_low0 < y_p63_size0) y_p63[pos0 - y_p63_low0] = t376;
  else outside(verdict, 63u, pos0, 0, 0, y_p63_shape0, 0, 0);
}
// sixty_four_boxes
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
ENTRY(256) folio_sixty_four_boxes(
    GLOBAL const u64 *RESTRICT block,
    GLOBAL const i32 *RESTRICT a0_p0_base,
    GLOBAL const i32 *RESTRICT a1_p1_base,
    GLOBAL const i32 *RESTRICT a2_p2_base,
    GLOBAL const i32 *RESTRICT a3_p3_base,
    GLOBAL const i32 *RESTRICT a4_p4_base,
    GLOBAL const i32 *RESTRICT a5_p5_base,
    GLOBAL const i32 *RESTRICT a6_p6_base,
    GLOBAL const i32 *RESTRICT a7_p7_base,
    GLOBAL const i32 *RESTRICT b0_p8_base,
    GLOBAL const i32 *RESTRICT b1_p9_base,
    GLOBAL const i32 *RESTRICT b2_p10_base,
    GLOBAL const i32 *RESTRICT b3_p11_base,
    GLOBAL const i32 *RESTRICT b4_p12_base,
    GLOBAL const i32 *RESTRICT b5_p13_base,
    GLOBAL const i32 *RESTRICT b6_p14_base,
    GLOBAL const i32 *RESTRICT b7_p15_base,
    GLOBAL const i32 *RESTRICT c0_p16_base,
    GLOBAL const i32 *RESTRICT c1_p17_base,
    GLOBAL const i32 *RESTRICT c2_p18_base,
    GLOBAL const i32 *RESTRICT c3_p19_base,
    GLOBAL const i32 *RESTRICT c4_p20_base,
    GLOBAL const i32 *RESTRICT c5_p21_base,
    GLOBAL const i32 *RESTRICT c6_p22_base,
    GLOBAL const i32 *RESTRICT c7_p23_base,
    GLOBAL const i32 *RESTRICT d0_p24_base,
    GLOBAL const i32 *RESTRICT d1_p25_base,
    GLOBAL const i32 *RESTRICT d2_p26_base,
    GLOBAL const i32 *RESTRICT d3_p27_base,
    GLOBAL const i32 *RESTRICT d4_p28_base,
    GLOBAL const i32 *RESTRICT d5_p29_base,
    GLOBAL const i32 *RESTRICT d6_p30_base,
    GLOBAL const i32 *RESTRICT d7_p31_base,
    GLOBAL const i32 *RESTRICT e0_p32_base,
    GLOBAL const i32 *RESTRICT e1_p33_base,
    GLOBAL const i32 *RESTRICT e2_p34_base,
    GLOBAL const i32 *RESTRICT e3_p35_base,
    GLOBAL const i32 *RESTRICT e4_p36_base,
    GLOBAL const i32 *RESTRICT e5_p37_base,
    GLOBAL const i32 *RESTRICT e6_p38_base,
    GLOBAL const i32 *RESTRICT e7_p39_base,
    GLOBAL const i32 *RESTRICT f0_p40_base,
    GLOBAL const i32 *RESTRICT f1_p41_base,
    GLOBAL const i32 *RESTRICT f2_p42_base,
    GLOBAL const i32 *RESTRICT f3_p43_base,
    GLOBAL const i32 *RESTRICT f4_p44_base,
    GLOBAL const i32 *RESTRICT f5_p45_base,
    GLOBAL const i32 *RESTRICT f6_p46_base,
    GLOBAL const i32 *RESTRICT f7_p47_base,
    GLOBAL const i32 *RESTRICT g0_p48_base,
    GLOBAL const i32 *RESTRICT g1_p49_base,
    GLOBAL const i32 *RESTRICT g2_p50_base,
    GLOBAL const i32 *RESTRICT g3_p51_base,
    GLOBAL const i32 *RESTRICT g4_p52_base,
    GLOBAL const i32 *RESTRICT g5_p53_base,
    GLOBAL const i32 *RESTRICT g6_p54_base,
    GLOBAL const i32 *RESTRICT g7_p55_base,
    GLOBAL const i32 *RESTRICT h0_p56_base,
    GLOBAL const i32 *RESTRICT h1_p57_base,
    GLOBAL const i32 *RESTRICT h2_p58_base,
    GLOBAL const i32 *RESTRICT h3_p59_base,
    GLOBAL const i32 *RESTRICT h4_p60_base,
    GLOBAL const i32 *RESTRICT h5_p61_base,
    GLOBAL const i32 *RESTRICT h6_p62_base,
    GLOBAL i64 *RESTRICT y_p63_base,
    GLOBAL Record *verdict) {
  const u64 a0_p0_low0 = block[0];
  const u64 a0_p0_size0 = block[1];
  const u64 a0_p0_pitch0 = block[2];
  const u64 a0_p0_low1 = block[3];
  const u64 a0_p0_size1 = block[4];
  const u64 a0_p0_pitch1 = block[5];
  const u64 a0_p0_low2 = block[6];
  const u64 a0_p0_size2 = block[7];
  const u64 a0_p0_shape0 = block[8];
  const u64 a0_p0_shape1 = block[9];
  const u64 a0_p0_shape2 = block[10];
  const u64 a1_p1_low0 = block[11];
  const u64 a1_p1_size0 = block[12];
  const u64 a1_p1_pitch0 = block[13];
  const u64 a1_p1_low1 = block[14];
  const u64 a1_p1_size1 = block[15];
  const u64 a1_p1_pitch1 = block[16];
  const u64 a1_p1_low2 = block[17];
  const u64 a1_p1_size2 = block[18];
  const u64 a1_p1_shape0 = block[19];
  const u64 a1_p1_shape1 = block[20];
  const u64 a1_p1_shape2 = block[21];
  const u64 a2_p2_low0 = block[22];
  const u64 a2_p2_size0 = block[23];
  const u64 a2_p2_pitch0 = block[24];
  const u64 a2_p2_low1 = block[25];
  const u64 a2_p2_size1 = block[26];
  const u64 a2_p2_pitch1 = block[27];
  const u64 a2_p2_low2 = block[28];
  const u64 a2_p2_size2 = block[29];
  const u64 a2_p2_shape0 = block[30];
  const u64 a2_p2_shape1 = block[31];
  const u64 a2_p2_shape2 = block[32];
  const u64 a3_p3_low0 = block[33];
  const u64 a3_p3_size0 = block[34];
  const u64 a3_p3_pitch0 = block[35];
  const u64 a3_p3_low1 = block[36];
  const u64 a3_p3_size1 = block[37];
  const u64 a3_p3_pitch1 = block[38];
  const u64 a3_p3_low2 = block[39];
  const u64 a3_p3_size2 = block[40];
  const u64 a3_p3_shape0 = block[41];
  const u64 a3_p3_shape1 = block[42];
  const u64 a3_p3_shape2 = block[43];
  const u64 a4_p4_low0 = block[44];
  const u64 a4_p4_size0 = block[45];
  const u64 a4_p4_pitch0 = block[46];
  const u64 a4_p4_low1 = block[47];
  const u64 a4_p4_size1 = block[48];
  const u64 a4_p4_pitch1 = block[49];
  const u64 a4_p4_low2 = block[50];
  const u64 a4_p4_size2 = block[51];
  const u64 a4_p4_shape0 = block[52];
  const u64 a4_p4_shape1 = block[53];
  const u64 a4_p4_shape2 = block[54];
  const u64 a5_p5_low0 = block[55];
  const u64 a5_p5_size0 = block[56];
  const u64 a5_p5_pitch0 = block[57];
  const u64 a5_p5_low1 = block[58];
  const u64 a5_p5_size1 = block[59];
  const u64 a5_p5_pitch1 = block[60];
  const u64 a5_p5_low2 = block[61];
  const u64 a5_p5_size2 = block[62];
  const u64 a5_p5_shape0 = block[63];
  const u64 a5_p5_shape1 = block[64];
  const u64 a5_p5_shape2 = block[65];
  const u64 a6_p6_low0 = block[66];
  const u64 a6_p6_size0 = block[67];
  const u64 a6_p6_pitch0 = block[68];
  const u64 a6_p6_low1 = block[69];
  const u64 a6_p6_size1 = block[70];
  const u64 a6_p6_pitch1 = block[71];
  const u64 a6_p6_low2 = block[72];
  const u64 a6_p6_size2 = block[73];
  const u64 a6_p6_shape0 = block[74];
  const u64 a6_p6_shape1 = block[75];
  const u64 a6_p6_shape2 = block[76];
  const u64 a7_p7_low0 = block[77];
  const u64 a7_p7_size0 = block[78];
  const u64 a7_p7_pitch0 = block[79];
  const u64 a7_p7_low1 = block[80];
  const u64 a7_p7_size1 = block[81];
  const u64 a7_p7_pitch1 = block[82];
  const u64 a7_p7_low2 = block[83];
  const u64 a7_p7_size2 = block[84];
  const u64 a7_p7_shape0 = block[85];
  const u64 a7_p7_shape1 = block[86];
  const u64 a7_p7_shape2 = block[87];
  const u64 b0_p8_low0 = block[88];
  const u64 b0_p8_size0 = block[89];
  const u64 b0_p8_pitch0 = block[90];
  const u64 b0_p8_low1 = block[91];
  const u64 b0_p8_size1 = block[92];
  const u64 b0_p8_pitch1 = block[93];
  const u64 b0_p8_low2 = block[94];
  const u64 b0_p8_size2 = block[95];
  const u64 b0_p8_shape0 = block[96];
  const u64 b0_p8_shape1 = block[97];
  const u64 b0_p8_shape2 = block[98];
  const u64 b1_p9_low0 = block[99];
  const u64 b1_p9_size0 = block[100];
  const u64 b1_p9_pitch0 = block[101];
  const u64 b1_p9_low1 = block[102];
  const u64 b1_p9_size1 = block[103];
  const u64 b1_p9_pitch1 = block[104];
  const u64 b1_p9_low2 = block[105];
  const u64 b1_p9_size2 = block[106];
  const u64 b1_p9_shape0 = block[107];
  const u64 b1_p9_shape1 = block[108];
  const u64 b1_p9_shape2 = block[109];
  const u64 b2_p10_low0 = block[110];
  const u64 b2_p10_size0 = block[111];
  const u64 b2_p10_pitch0 = block[112];
  const u64 b2_p10_low1 = block[113];
  const u64 b2_p10_size1 = block[114];
  const u64 b2_p10_pitch1 = block[115];
  const u64 b2_p10_low2 = block[116];
  const u64 b2_p10_size2 = block[117];
  const u64 b2_p10_shape0 = block[118];
  const u64 b2_p10_shape1 = block[119];
  const u64 b2_p10_shape2 = block[120];
  const u64 b3_p11_low0 = block[121];
  const u64 b3_p11_size0 = block[122];
  const u64 b3_p11_pitch0 = block[123];
  const u64 b3_p11_low1 = block[124];
  const u64 b3_p11_size1 = block[125];
  const u64 b3_p11_pitch1 = block[126];
  const u64 b3_p11_low2 = block[127];
  const u64 b3_p11_size2 = block[128];
  const u64 b3_p11_shape0 = block[129];
  const u64 b3_p11_shape1 = block[130];
  const u64 b3_p11_shape2 = block[131];
  const u64 b4_p12_low0 = block[132];
  const u64 b4_p12_size0 = block[133];
  const u64 b4_p12_pitch0 = block[134];
  const u64 b4_p12_low1 = block[135];
  const u64 b4_p12_size1 = block[136];
  const u64 b4_p12_pitch1 = block[137];
  const u64 b4_p12_low2 = block[138];
  const u64 b4_p12_size2 = block[139];
  const u64 b4_p12_shape0 = block[140];
  const u64 b4_p12_shape1 = block[141];
  const u64 b4_p12_shape2 = block[142];
  const u64 b5_p13_low0 = block[143];
  const u64 b5_p13_size0 = block[144];
  const u64 b5_p13_pitch0 = block[145];
  const u64 b5_p13_low1 = block[146];
  const u64 b5_p13_size1 = block[147];
  const u64 b5_p13_pitch1 = block[148];
  const u64 b5_p13_low2 = block[149];
  const u64 b5_p13_size2 = block[150];
  const u64 b5_p13_shape0 = block[151];
  const u64 b5_p13_shape1 = block[152];
  const u64 b5_p13_shape2 = block[153];
  const u64 b6_p14_low0 = block[154];
  const u64 b6_p14_size0 = block[155];
  const u64 b6_p14_pitch0 = block[156];
  const u64 b6_p14_low1 = block[157];
  const u64 b6_p14_size1 = block[158];
  const u64 b6_p14_pitch1 = block[159];
  const u64 b6_p14_low2 = block[160];
  const u64 b6_p14_size2 = block[161];
  const u64 b6_p14_shape0 = block[162];
  const u64 b6_p14_shape1 = block[163];
  const u64 b6_p14_shape2 = block[164];
  const u64 b7_p15_low0 = block[165];
  const u64 b7_p15_size0 = block[166];
  const u64 b7_p15_pitch0 = block[167];
  const u64 b7_p15_low1 = block[168];
  const u64 b7_p15_size1 = block[169];
  const u64 b7_p15_pitch1 = block[170];
  const u64 b7_p15_low2 = block[171];
  const u64 b7_p15_size2 = block[172];
  const u64 b7_p15_shape0 = block[173];
  const u64 b7_p15_shape1 = block[174];
  const u64 b7_p15_shape2 = block[175];
  const u64 c0_p16_low0 = block[176];
  const u64 c0_p16_size0 = block[177];
  const u64 c0_p16_pitch0 = block[178];
  const u64 c0_p16_low1 = block[179];
  const u64 c0_p16_size1 = block[180];
  const u64 c0_p16_pitch1 = block[181];
  const u64 c0_p16_low2 = block[182];
  const u64 c0_p16_size2 = block[183];
  const u64 c0_p16_shape0 = block[184];
  const u64 c0_p16_shape1 = block[185];
  const u64 c0_p16_shape2 = block[186];
  const u64 c1_p17_low0 = block[187];
  const u64 c1_p17_size0 = block[188];
  const u64 c1_p17_pitch0 = block[189];
  const u64 c1_p17_low1 = block[190];
  const u64 c1_p17_size1 = block[191];
  const u64 c1_p17_pitch1 = block[192];
  const u64 c1_p17_low2 = block[193];
  const u64 c1_p17_size2 = block[194];
  const u64 c1_p17_shape0 = block[195];
  const u64 c1_p17_shape1 = block[196];
  const u64 c1_p17_shape2 = block[197];
  const u64 c2_p18_low0 = block[198];
  const u64 c2_p18_size0 = block[199];
  const u64 c2_p18_pitch0 = block[200];
  const u64 c2_p18_low1 = block[201];
  const u64 c2_p18_size1 = block[202];
  const u64 c2_p18_pitch1 = block[203];
  const u64 c2_p18_low2 = block[204];
  const u64 c2_p18_size2 = block[205];
  const u64 c2_p18_shape0 = block[206];
  const u64 c2_p18_shape1 = block[207];
  const u64 c2_p18_shape2 = block[208];
  const u64 c3_p19_low0 = block[209];
  const u64 c3_p19_size0 = block[210];
  const u64 c3_p19_pitch0 = block[211];
  const u64 c3_p19_low1 = block[212];
  const u64 c3_p19_size1 = block[213];
  const u64 c3_p19_pitch1 = block[214];
  const u64 c3_p19_low2 = block[215];
  const u64 c3_p19_size2 = block[216];
  const u64 c3_p19_shape0 = block[217];
  const u64 c3_p19_shape1 = block[218];
  const u64 c3_p19_shape2 = block[219];
  const u64 c4_p20_low0 = block[220];
  const u64 c4_p20_size0 = block[221];
  const u64 c4_p20_pitch0 = block[222];
  const u64 c4_p20_low1 = block[223];
  const u64 c4_p20_size1 = block[224];
  const u64 c4_p20_pitch1 = block[225];
  const u64 c4_p20_low2 = block[226];
  const u64 c4_p20_size2 = block[227];
  const u64 c4_p20_shape0 = block[228];
  const u64 c4_p20_shape1 = block[229];
  const u64 c4_p20_shape2 = block[230];
  const u64 c5_p21_low0 = block[231];
  const u64 c5_p21_size0 = block[232];
  const u64 c5_p21_pitch0 = block[233];
  const u64 c5_p21_low1 = block[234];
  const u64 c5_p21_size1 = block[235];
  const u64 c5_p21_pitch1 = block[236];
  const u64 c5_p21_low2 = block[237];
  const u64 c5_p21_size2 = block[238];
  const u64 c5_p21_shape0 = block[239];
  const u64 c5_p21_shape1 = block[240];
  const u64 c5_p21_shape2 = block[241];
  const u64 c6_p22_low0 = block[242];
  const u64 c6_p22_size0 = block[243];
  const u64 c6_p22_pitch0 = block[244];
  const u64 c6_p22_low1 = block[245];
  const u64 c6_p22_size1 = block[246];
  const u64 c6_p22_pitch1 = block[247];
  const u64 c6_p22_low2 = block[248];
  const u64 c6_p22_size2 = block[249];
  const u64 c6_p22_shape0 = block[250];
  const u64 c6_p22_shape1 = block[251];
  const u64 c6_p22_shape2 = block[252];
  const u64 c7_p23_low0 = block[253];
  const u64 c7_p23_size0 = block[254];
  const u64 c7_p23_pitch0 = block[255];
  const u64 c7_p23_low1 = block[256];
  const u64 c7_p23_size1 = block[257];
  const u64 c7_p23_pitch1 = block[258];
  const u64 c7_p23_low2 = block[259];
  const u64 c7_p23_size2 = block[260];
  const u64 c7_p23_shape0 = block[261];
  const u64 c7_p23_shape1 = block[262];
  const u64 c7_p23_shape2 = block[263];
  const u64 d0_p24_low0 = block[264];
  const u64 d0_p24_size0 = block[265];
  const u64 d0_p24_pitch0 = block[266];
  const u64 d0_p24_low1 = block[267];
  const u64 d0_p24_size1 = block[268];
  const u64 d0_p24_pitch1 = block[269];
  const u64 d0_p24_low2 = block[270];
  const u64 d0_p24_size2 = block[271];
  const u64 d0_p24_shape0 = block[272];
  const u64 d0_p24_shape1 = block[273];
  const u64 d0_p24_shape2 = block[274];
  const u64 d1_p25_low0 = block[275];
  const u64 d1_p25_size0 = block[276];
  const u64 d1_p25_pitch0 = block[277];
  const u64 d1_p25_low1 = block[278];
  const u64 d1_p25_size1 = block[279];
  const u64 d1_p25_pitch1 = block[280];
  const u64 d1_p25_low2 = block[281];
  const u64 d1_p25_size2 = block[282];
  const u64 d1_p25_shape0 = block[283];
  const u64 d1_p25_shape1 = block[284];
  const u64 d1_p25_shape2 = block[285];
  const u64 d2_p26_low0 = block[286];
  const u64 d2_p26_size0 = block[287];
  const u64 d2_p26_pitch0 = block[288];
  const u64 d2_p26_low1 = block[289];
  const u64 d2_p26_size1 = block[290];
  const u64 d2_p26_pitch1 = block[291];
  const u64 d2_p26_low2 = block[292];
  const u64 d2_p26_size2 = block[293];
  const u64 d2_p26_shape0 = block[294];
  const u64 d2_p26_shape1 = block[295];
  const u64 d2_p26_shape2 = block[296];
  const u64 d3_p27_low0 = block[297];
  const u64 d3_p27_size0 = block[298];
  const u64 d3_p27_pitch0 = block[299];
  const u64 d3_p27_low1 = block[300];
  const u64 d3_p27_size1 = block[301];
  const u64 d3_p27_pitch1 = block[302];
  const u64 d3_p27_low2 = block[303];
  const u64 d3_p27_size2 = block[304];
  const u64 d3_p27_shape0 = block[305];
  const u64 d3_p27_shape1 = block[306];
  const u64 d3_p27_shape2 = block[307];
  const u64 d4_p28_low0 = block[308];
  const u64 d4_p28_size0 = block[309];
  const u64 d4_p28_pitch0 = block[310];
  const u64 d4_p28_low1 = block[311];
  const u64 d4_p28_size1 = block[312];
  const u64 d4_p28_pitch1 = block[313];
  const u64 d4_p28_low2 = block[314];
  const u64 d4_p28_size2 = block[315];
  const u64 d4_p28_shape0 = block[316];
  const u64 d4_p28_shape1 = block[317];
  const u64 d4_p28_shape2 = block[318];
  const u64 d5_p29_low0 = block[319];
  const u64 d5_p29_size0 = block[320];
  const u64 d5_p29_pitch0 = block[321];
  const u64 d5_p29_low1 = block[322];
  const u64 d5_p29_size1 = block[323];
  const u64 d5_p29_pitch1 = block[324];
  const u64 d5_p29_low2 = block[325];
  const u64 d5_p29_size2 = block[326];
  const u64 d5_p29_shape0 = block[327];
  const u64 d5_p29_shape1 = block[328];
  const u64 d5_p29_shape2 = block[329];
  const u64 d6_p30_low0 = block[330];
  const u64 d6_p30_size0 = block[331];
  const u64 d6_p30_pitch0 = block[332];
  const u64 d6_p30_low1 = block[333];
  const u64 d6_p30_size1 = block[334];
  const u64 d6_p30_pitch1 = block[335];
  const u64 d6_p30_low2 = block[336];
  const u64 d6_p30_size2 = block[337];
  const u64 d6_p30_shape0 = block[338];
  const u64 d6_p30_shape1 = block[339];
  const u64 d6_p30_shape2 = block[340];
  const u64 d7_p31_low0 = block[341];
  const u64 d7_p31_size0 = block[342];
  const u64 d7_p31_pitch0 = block[343];
  const u64 d7_p31_low1 = block[344];
  const u64 d7_p31_size1 = block[345];
  const u64 d7_p31_pitch1 = block[346];
  const u64 d7_p31_low2 = block[347];
  const u64 d7_p31_size2 = block[348];
  const u64 d7_p31_shape0 = block[349];
  const u64 d7_p31_shape1 = block[350];
  const u64 d7_p31_shape2 = block[351];
  const u64 e0_p32_low0 = block[352];
  const u64 e0_p32_size0 = block[353];
  const u64 e0_p32_pitch0 = block[354];
  const u64 e0_p32_low1 = block[355];
  const u64 e0_p32_size1 = block[356];
  const u64 e0_p32_pitch1 = block[357];
  const u64 e0_p32_low2 = block[358];
  const u64 e0_p32_size2 = block[359];
  const u64 e0_p32_shape0 = block[360];
  const u64 e0_p32_shape1 = block[361];
  const u64 e0_p32_shape2 = block[362];
  const u64 e1_p33_low0 = block[363];
  const u64 e1_p33_size0 = block[364];
  const u64 e1_p33_pitch0 = block[365];
  const u64 e1_p33_low1 = block[366];
  const u64 e1_p33_size1 = block[367];
  const u64 e1_p33_pitch1 = block[368];
  const u64 e1_p33_low2 = block[369];
  const u64 e1_p33_size2 = block[370];
  const u64 e1_p33_shape0 = block[371];
  const u64 e1_p33_shape1 = block[372];
  const u64 e1_p33_shape2 = block[373];
  const u64 e2_p34_low0 = block[374];
  const u64 e2_p34_size0 = block[375];
  const u64 e2_p34_pitch0 = block[376];
  const u64 e2_p34_low1 = block[377];
  const u64 e2_p34_size1 = block[378];
  const u64 e2_p34_pitch1 = block[379];
  const u64 e2_p34_low2 = block[380];
  const u64 e2_p34_size2 = block[381];
  const u64 e2_p34_shape0 = block[382];
  const u64 e2_p34_shape1 = block[383];
  const u64 e2_p34_shape2 = block[384];
  const u64 e3_p35_low0 = block[385];
  const u64 e3_p35_size0 = block[386];
  const u64 e3_p35_pitch0 = block[387];
  const u64 e3_p35_low1 = block[388];
  const u64 e3_p35_size1 = block[389];
  const u64 e3_p35_pitch1 = block[390];
  const u64 e3_p35_low2 = block[391];
  const u64 e3_p35_size2 = block[392];
  const u64 e3_p35_shape0 = block[393];
  const u64 e3_p35_shape1 = block[394];
  const u64 e3_p35_shape2 = block[395];
  const u64 e4_p36_low0 = block[396];
  const u64 e4_p36_size0 = block[397];
  const u64 e4_p36_pitch0 = block[398];
  const u64 e4_p36_low1 = block[399];
  const u64 e4_p36_size1 = block[400];
  const u64 e4_p36_pitch1 = block[401];
  const u64 e4_p36_low2 = block[402];
  const u64 e4_p36_size2 = block[403];
  const u64 e4_p36_shape0 = block[404];
  const u64 e4_p36_shape1 = block[405];
  const u64 e4_p36_shape2 = block[406];
  const u64 e5_p37_low0 = block[407];
  const u64 e5_p37_size0 = block[408];
  const u64 e5_p37_pitch0 = block[409];
  const u64 e5_p37_low1 = block[410];
  const u64 e5_p37_size1 = block[411];
  const u64 e5_p37_pitch1 = block[412];
  const u64 e5_p37_low2 = block[413];
  const u64 e5_p37_size2 = block[414];
  const u64 e5_p37_shape0 = block[415];
  const u64 e5_p37_shape1 = block[416];
  const u64 e5_p37_shape2 = block[417];
  const u64 e6_p38_low0 = block[418];
  const u64 e6_p38_size0 = block[419];
  const u64 e6_p38_pitch0 = block[420];
  const u64 e6_p38_low1 = block[421];
  const u64 e6_p38_size1 = block[422];
  const u64 e6_p38_pitch1 = block[423];
  const u64 e6_p38_low2 = block[424];
  const u64 e6_p38_size2 = block[425];
  const u64 e6_p38_shape0 = block[426];
  const u64 e6_p38_shape1 = block[427];
  const u64 e6_p38_shape2 = block[428];
  const u64 e7_p39_low0 = block[429];
  const u64 e7_p39_size0 = block[430];
  const u64 e7_p39_pitch0 = block[431];
  const u64 e7_p39_low1 = block[432];
  const u64 e7_p39_size1 = block[433];
  const u64 e7_p39_pitch1 = block[434];
  const u64 e7_p39_low2 = block[435];
  const u64 e7_p39_size2 = block[436];
  const u64 e7_p39_shape0 = block[437];
  const u64 e7_p39_shape1 = block[438];
  const u64 e7_p39_shape2 = block[439];
  const u64 f0_p40_low0 = block[440];
  const u64 f0_p40_size0 = block[441];
  const u64 f0_p40_pitch0 = block[442];
  const u64 f0_p40_low1 = block[443];
  const u64 f0_p40_size1 = block[444];
  const u64 f0_p40_pitch1 = block[445];
  const u64 f0_p40_low2 = block[446];
  const u64 f0_p40_size2 = block[447];
  const u64 f0_p40_shape0 = block[448];
  const u64 f0_p40_shape1 = block[449];
  const u64 f0_p40_shape2 = block[450];
  const u64 f1_p41_low0 = block[451];
  const u64 f1_p41_size0 = block[452];
  const u64 f1_p41_pitch0 = block[453];
  const u64 f1_p41_low1 = block[454];
  const u64 f1_p41_size1 = block[455];
  const u64 f1_p41_pitch1 = block[456];
  const u64 f1_p41_low2 = block[457];
  const u64 f1_p41_size2 = block[458];
  const u64 f1_p41_shape0 = block[459];
  const u64 f1_p41_shape1 = block[460];
  const u64 f1_p41_shape2 = block[461];
  const u64 f2_p42_low0 = block[462];
  const u64 f2_p42_size0 = block[463];
  const u64 f2_p42_pitch0 = block[464];
  const u64 f2_p42_low1 = block[465];
  const u64 f2_p42_size1 = block[466];
  const u64 f2_p42_pitch1 = block[467];
  const u64 f2_p42_low2 = block[468];
  const u64 f2_p42_size2 = block[469];
  const u64 f2_p42_shape0 = block[470];
  const u64 f2_p42_shape1 = block[471];
  const u64 f2_p42_shape2 = block[472];
  const u64 f3_p43_low0 = block[473];
  const u64 f3_p43_size0 = block[474];
  const u64 f3_p43_pitch0 = block[475];
  const u64 f3_p43_low1 = block[476];
  const u64 f3_p43_size1 = block[477];
  const u64 f3_p43_pitch1 = block[478];
  const u64 f3_p43_low2 = block[479];
  const u64 f3_p43_size2 = block[480];
  const u64 f3_p43_shape0 = block[481];
  const u64 f3_p43_shape1 = block[482];
  const u64 f3_p43_shape2 = block[483];
  const u64 f4_p44_low0 = block[484];
  const u64 f4_p44_size0 = block[485];
  const u64 f4_p44_pitch0 = block[486];
  const u64 f4_p44_low1 = block[487];
  const u64 f4_p44_size1 = block[488];
  const u64 f4_p44_pitch1 = block[489];
  const u64 f4_p44_low2 = block[490];
  const u64 f4_p44_size2 = block[491];
  const u64 f4_p44_shape0 = block[492];
  const u64 f4_p44_shape1 = block[493];
  const u64 f4_p44_shape2 = block[494];
  const u64 f5_p45_low0 = block[495];
  const u64 f5_p45_size0 = block[496];
  const u64 f5_p45_pitch0 = block[497];
  const u64 f5_p45_low1 = block[498];
  const u64 f5_p45_size1 = block[499];
  const u64 f5_p45_pitch1 = block[500];
  const u64 f5_p45_low2 = block[501];
  const u64 f5_p45_size2 = block[502];
  const u64 f5_p45_shape0 = block[503];
  const u64 f5_p45_shape1 = block[504];
  const u64 f5_p45_shape2 = block[505];
  const u64 f6_p46_low0 = block[506];
  const u64 f6_p46_size0 = block[507];
  const u64 f6_p46_pitch0 = block[508];
  const u64 f6_p46_low1 = block[509];
  const u64 f6_p46_size1 = block[510];
  const u64 f6_p46_pitch1 = block[511];
  const u64 f6_p46_low2 = block[512];
  const u64 f6_p46_size2 = block[513];
  const u64 f6_p46_shape0 = block[514];
  const u64 f6_p46_shape1 = block[515];
  const u64 f6_p46_shape2 = block[516];
  const u64 f7_p47_low0 = block[517];
  const u64 f7_p47_size0 = block[518];
  const u64 f7_p47_pitch0 = block[519];
  const u64 f7_p47_low1 = block[520];
  const u64 f7_p47_size1 = block[521];
  const u64 f7_p47_pitch1 = block[522];
  const u64 f7_p47_low2 = block[523];
  const u64 f7_p47_size2 = block[524];
  const u64 f7_p47_shape0 = block[525];
  const u64 f7_p47_shape1 = block[526];
  const u64 f7_p47_shape2 = block[527];
  const u64 g0_p48_low0 = block[528];
  const u64 g0_p48_size0 = block[529];
  const u64 g0_p48_pitch0 = block[530];
  const u64 g0_p48_low1 = block[531];
  const u64 g0_p48_size1 = block[532];
  const u64 g0_p48_pitch1 = block[533];
  const u64 g0_p48_low2 = block[534];
  const u64 g0_p48_size2 = block[535];
  const u64 g0_p48_shape0 = block[536];
  const u64 g0_p48_shape1 = block[537];
  const u64 g0_p48_shape2 = block[538];
  const u64 g1_p49_low0 = block[539];
  const u64 g1_p49_size0 = block[540];
  const u64 g1_p49_pitch0 = block[541];
  const u64 g1_p49_low1 = block[542];
  const u64 g1_p49_size1 = block[543];
  const u64 g1_p49_pitch1 = block[544];
  const u64 g1_p49_low2 = block[545];
  const u64 g1_p49_size2 = block[546];
  const u64 g1_p49_shape0 = block[547];
  const u64 g1_p49_shape1 = block[548];
  const u64 g1_p49_shape2 = block[549];
  const u64 g2_p50_low0 = block[550];
  const u64 g2_p50_size0 = block[551];
  const u64 g2_p50_pitch0 = block[552];
  const u64 g2_p50_low1 = block[553];
  const u64 g2_p50_size1 = block[554];
  const u64 g2_p50_pitch1 = block[555];
  const u64 g2_p50_low2 = block[556];
  const u64 g2_p50_size2 = block[557];
  const u64 g2_p50_shape0 = block[558];
  const u64 g2_p50_shape1 = block[559];
  const u64 g2_p50_shape2 = block[560];
  const u64 g3_p51_low0 = block[561];
  const u64 g3_p51_size0 = block[562];
  const u64 g3_p51_pitch0 = block[563];
  const u64 g3_p51_low1 = block[564];
  const u64 g3_p51_size1 = block[565];
  const u64 g3_p51_pitch1 = block[566];
  const u64 g3_p51_low2 = block[567];
  const u64 g3_p51_size2 = block[568];
  const u64 g3_p51_shape0 = block[569];
  const u64 g3_p51_shape1 = block[570];
  const u64 g3_p51_shape2 = block[571];
  const u64 g4_p52_low0 = block[572];
  const u64 g4_p52_size0 = block[573];
  const u64 g4_p52_pitch0 = block[574];
  const u64 g4_p52_low1 = block[575];
  const u64 g4_p52_size1 = block[576];
  const u64 g4_p52_pitch1 = block[577];
  const u64 g4_p52_low2 = block[578];
  const u64 g4_p52_size2 = block[579];
  const u64 g4_p52_shape0 = block[580];
  const u64 g4_p52_shape1 = block[581];
  const u64 g4_p52_shape2 = block[582];
  const u64 g5_p53_low0 = block[583];
  const u64 g5_p53_size0 = block[584];
  const u64 g5_p53_pitch0 = block[585];
  const u64 g5_p53_low1 = block[586];
  const u64 g5_p53_size1 = block[587];
  const u64 g5_p53_pitch1 = block[588];
  const u64 g5_p53_low2 = block[589];
  const u64 g5_p53_size2 = block[590];
  const u64 g5_p53_shape0 = block[591];
  const u64 g5_p53_shape1 = block[592];
  const u64 g5_p53_shape2 = block[593];
  const u64 g6_p54_low0 = block[594];
  const u64 g6_p54_size0 = block[595];
  const u64 g6_p54_pitch0 = block[596];
  const u64 g6_p54_low1 = block[597];
  const u64 g6_p54_size1 = block[598];
  const u64 g6_p54_pitch1 = block[599];
  const u64 g6_p54_low2 = block[600];
  const u64 g6_p54_size2 = block[601];
  const u64 g6_p54_shape0 = block[602];
  const u64 g6_p54_shape1 = block[603];
  const u64 g6_p54_shape2 = block[604];
  const u64 g7_p55_low0 = block[605];
  const u64 g7_p55_size0 = block[606];
  const u64 g7_p55_pitch0 = block[607];
  const u64 g7_p55_low1 = block[608];
  const u64 g7_p55_size1 = block[609];
  const u64 g7_p55_pitch1 = block[610];
  const u64 g7_p55_low2 = block[611];
  const u64 g7_p55_size2 = block[612];
  const u64 g7_p55_shape0 = block[613];
  const u64 g7_p55_shape1 = block[614];
  const u64 g7_p55_shape2 = block[615];
  const u64 h0_p56_low0 = block[616];
  const u64 h0_p56_size0 = block[617];
  const u64 h0_p56_pitch0 = block[618];
  const u64 h0_p56_low1 = block[619];
  const u64 h0_p56_size1 = block[620];
  const u64 h0_p56_pitch1 = block[621];
  const u64 h0_p56_low2 = block[622];
  const u64 h0_p56_size2 = block[623];
  const u64 h0_p56_shape0 = block[624];
  const u64 h0_p56_shape1 = block[625];
  const u64 h0_p56_shape2 = block[626];
  const u64 h1_p57_low0 = block[627];
  const u64 h1_p57_size0 = block[628];
  const u64 h1_p57_pitch0 = block[629];
  const u64 h1_p57_low1 = block[630];
  const u64 h1_p57_size1 = block[631];
  const u64 h1_p57_pitch1 = block[632];
  const u64 h1_p57_low2 = block[633];
  const u64 h1_p57_size2 = block[634];
  const u64 h1_p57_shape0 = block[635];
  const u64 h1_p57_shape1 = block[636];
  const u64 h1_p57_shape2 = block[637];
  const u64 h2_p58_low0 = block[638];
  const u64 h2_p58_size0 = block[639];
  const u64 h2_p58_pitch0 = block[640];
  const u64 h2_p58_low1 = block[641];
  const u64 h2_p58_size1 = block[642];
  const u64 h2_p58_pitch1 = block[643];
  const u64 h2_p58_low2 = block[644];
  const u64 h2_p58_size2 = block[645];
  const u64 h2_p58_shape0 = block[646];
  const u64 h2_p58_shape1 = block[647];
  const u64 h2_p58_shape2 = block[648];
  const u64 h3_p59_low0 = block[649];
  const u64 h3_p59_size0 = block[650];
  const u64 h3_p59_pitch0 = block[651];
  const u64 h3_p59_low1 = block[652];
  const u64 h3_p59_size1 = block[653];
  const u64 h3_p59_pitch1 = block[654];
  const u64 h3_p59_low2 = block[655];
  const u64 h3_p59_size2 = block[656];
  const u64 h3_p59_shape0 = block[657];
  const u64 h3_p59_shape1 = block[658];
  const u64 h3_p59_shape2 = block[659];
  const u64 h4_p60_low0 = block[660];
  const u64 h4_p60_size0 = block[661];
  const u64 h4_p60_pitch0 = block[662];
  const u64 h4_p60_low1 = block[663];
  const u64 h4_p60_size1 = block[664];
  const u64 h4_p60_pitch1 = block[665];
  const u64 h4_p60_low2 = block[666];
  const u64 h4_p60_size2 = block[667];
  const u64 h4_p60_shape0 = block[668];
  const u64 h4_p60_shape1 = block[669];
  const u64 h4_p60_shape2 = block[670];
  const u64 h5_p61_low0 = block[671];
  const u64 h5_p61_size0 = block[672];
  const u64 h5_p61_pitch0 = block[673];
  const u64 h5_p61_low1 = block[674];
  const u64 h5_p61_size1 = block[675];
  const u64 h5_p61_pitch1 = block[676];
  const u64 h5_p61_low2 = block[677];
  const u64 h5_p61_size2 = block[678];
  const u64 h5_p61_shape0 = block[679];
  const u64 h5_p61_shape1 = block[680];
  const u64 h5_p61_shape2 = block[681];
  const u64 h6_p62_low0 = block[682];
  const u64 h6_p62_size0 = block[683];
  const u64 h6_p62_pitch0 = block[684];
  const u64 h6_p62_low1 = block[685];
  const u64 h6_p62_size1 = block[686];
  const u64 h6_p62_pitch1 = block[687];
  const u64 h6_p62_low2 = block[688];
  const u64 h6_p62_size2 = block[689];
  const u64 h6_p62_shape0 = block[690];
  const u64 h6_p62_shape1 = block[691];
  const u64 h6_p62_shape2 = block[692];
  const u64 y_p63_low0 = block[693];
  const u64 y_p63_size0 = block[694];
  const u64 y_p63_pitch0 = block[695];
  const u64 y_p63_low1 = block[696];
  const u64 y_p63_size1 = block[697];
  const u64 y_p63_pitch1 = block[698];
  const u64 y_p63_low2 = block[699];
  const u64 y_p63_size2 = block[700];
  const u64 y_p63_shape0 = block[701];
  const u64 y_p63_shape1 = block[702];
  const u64 y_p63_shape2 = block[703];
  const u64 first0 = block[704];
  const u64 offset0 = block[705];
  const u64 range0 = block[706];
  const u64 first1 = block[707];
  const u64 offset1 = block[708];
  const u64 range1 = block[709];
  const u64 first2 = block[710];
  const u64 offset2 = block[711];
  const u64 range2 = block[712];
  GLOBAL const i32 *a0_p0 = a0_p0_base + block[713];
  GLOBAL const i32 *a1_p1 = a1_p1_base + block[714];
  GLOBAL const i32 *a2_p2 = a2_p2_base + block[715];
  GLOBAL const i32 *a3_p3 = a3_p3_base + block[716];
  GLOBAL const i32 *a4_p4 = a4_p4_base + block[717];
  GLOBAL const i32 *a5_p5 = a5_p5_base + block[718];
  GLOBAL const i32 *a6_p6 = a6_p6_base + block[719];
  GLOBAL const i32 *a7_p7 = a7_p7_base + block[720];
  GLOBAL const i32 *b0_p8 = b0_p8_base + block[721];
  GLOBAL const i32 *b1_p9 = b1_p9_base + block[722];
  GLOBAL const i32 *b2_p10 = b2_p10_base + block[723];
  GLOBAL const i32 *b3_p11 = b3_p11_base + block[724];
  GLOBAL const i32 *b4_p12 = b4_p12_base + block[725];
  GLOBAL const i32 *b5_p13 = b5_p13_base + block[726];
  GLOBAL const i32 *b6_p14 = b6_p14_base + block[727];
  GLOBAL const i32 *b7_p15 = b7_p15_base + block[728];
  GLOBAL const i32 *c0_p16 = c0_p16_base + block[729];
  GLOBAL const i32 *c1_p17 = c1_p17_base + block[730];
  GLOBAL const i32 *c2_p18 = c2_p18_base + block[731];
  GLOBAL const i32 *c3_p19 = c3_p19_base + block[732];
  GLOBAL const i32 *c4_p20 = c4_p20_base + block[733];
  GLOBAL const i32 *c5_p21 = c5_p21_base + block[734];
  GLOBAL const i32 *c6_p22 = c6_p22_base + block[735];
  GLOBAL const i32 *c7_p23 = c7_p23_base + block[736];
  GLOBAL const i32 *d0_p24 = d0_p24_base + block[737];
  GLOBAL const i32 *d1_p25 = d1_p25_base + block[738];
  GLOBAL const i32 *d2_p26 = d2_p26_base + block[739];
  GLOBAL const i32 *d3_p27 = d3_p27_base + block[740];
  GLOBAL const i32 *d4_p28 = d4_p28_base + block[741];
  GLOBAL const i32 *d5_p29 = d5_p29_base + block[742];
  GLOBAL const i32 *d6_p30 = d6_p30_base + block[743];
  GLOBAL const i32 *d7_p31 = d7_p31_base + block[744];
  GLOBAL const i32 *e0_p32 = e0_p32_base + block[745];
  GLOBAL const i32 *e1_p33 = e1_p33_base + block[746];
  GLOBAL const i32 *e2_p34 = e2_p34_base + block[747];
  GLOBAL const i32 *e3_p35 = e3_p35_base + block[748];
  GLOBAL const i32 *e4_p36 = e4_p36_base + block[749];
  GLOBAL const i32 *e5_p37 = e5_p37_base + block[750];
  GLOBAL const i32 *e6_p38 = e6_p38_base + block[751];
  GLOBAL const i32 *e7_p39 = e7_p39_base + block[752];
  GLOBAL const i32 *f0_p40 = f0_p40_base + block[753];
  GLOBAL const i32 *f1_p41 = f1_p41_base + block[754];
  GLOBAL const i32 *f2_p42 = f2_p42_base + block[755];
  GLOBAL const i32 *f3_p43 = f3_p43_base + block[756];
  GLOBAL const i32 *f4_p44 = f4_p44_base + block[757];
  GLOBAL const i32 *f5_p45 = f5_p45_base + block[758];
  GLOBAL const i32 *f6_p46 = f6_p46_base + block[759];
  GLOBAL const i32 *f7_p47 = f7_p47_base + block[760];
  GLOBAL const i32 *g0_p48 = g0_p48_base + block[761];
  GLOBAL const i32 *g1_p49 = g1_p49_base + block[762];
  GLOBAL const i32 *g2_p50 = g2_p50_base + block[763];
  GLOBAL const i32 *g3_p51 = g3_p51_base + block[764];
  GLOBAL const i32 *g4_p52 = g4_p52_base + block[765];
  GLOBAL const i32 *g5_p53 = g5_p53_base + block[766];
  GLOBAL const i32 *g6_p54 = g6_p54_base + block[767];
  GLOBAL const i32 *g7_p55 = g7_p55_base + block[768];
  GLOBAL const i32 *h0_p56 = h0_p56_base + block[769];
  GLOBAL const i32 *h1_p57 = h1_p57_base + block[770];
  GLOBAL const i32 *h2_p58 = h2_p58_base + block[771];
  GLOBAL const i32 *h3_p59 = h3_p59_base + block[772];
  GLOBAL const i32 *h4_p60 = h4_p60_base + block[773];
  GLOBAL const i32 *h5_p61 = h5_p61_base + block[774];
  GLOBAL const i32 *h6_p62 = h6_p62_base + block[775];
  GLOBAL i64 *y_p63 = y_p63_base + block[776];
  const u64 pos0 = first0 + (u64)get_group_id(2) * get_local_size(2) + get_local_id(2);
  const u64 pos1 = first1 + (u64)get_group_id(1) * get_local_size(1) + get_local_id(1);
  const u64 pos2 = first2 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0 || pos1 - offset1 >= range1 || pos2 - offset2 >= range2) return;
  i64 l65_v0 = 0l;
  l65_v0 = 0l;
  const i64 t1 = l65_v0;
  const i64 t3 = (i64)((u64)t1 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t7 = 0;
  if (pos0 - a0_p0_low0 < a0_p0_size0 && pos1 - a0_p0_low1 < a0_p0_size1 && pos2 - a0_p0_low2 < a0_p0_size2) t7 = a0_p0[(pos0 - a0_p0_low0) * a0_p0_pitch0 + (pos1 - a0_p0_low1) * a0_p0_pitch1 + (pos2 - a0_p0_low2)];
  else outside(verdict, 1u, pos0, pos1, pos2, a0_p0_shape0, a0_p0_shape1, a0_p0_shape2);
  const i64 t8 = (i64)t7;
  const i64 t9 = (i64)((u64)t3 + (u64)t8);
  l65_v0 = t9;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t10 = l65_v0;
  const i64 t12 = (i64)((u64)t10 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t13 = 0;
  if (pos0 - a1_p1_low0 < a1_p1_size0 && pos1 - a1_p1_low1 < a1_p1_size1 && pos2 - a1_p1_low2 < a1_p1_size2) t13 = a1_p1[(pos0 - a1_p1_low0) * a1_p1_pitch0 + (pos1 - a1_p1_low1) * a1_p1_pitch1 + (pos2 - a1_p1_low2)];
  else outside(verdict, 2u, pos0, pos1, pos2, a1_p1_shape0, a1_p1_shape1, a1_p1_shape2);
  const i64 t14 = (i64)t13;
  const i64 t15 = (i64)((u64)t12 + (u64)t14);
  l65_v0 = t15;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t16 = l65_v0;
  const i64 t18 = (i64)((u64)t16 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t19 = 0;
  if (pos0 - a2_p2_low0 < a2_p2_size0 && pos1 - a2_p2_low1 < a2_p2_size1 && pos2 - a2_p2_low2 < a2_p2_size2) t19 = a2_p2[(pos0 - a2_p2_low0) * a2_p2_pitch0 + (pos1 - a2_p2_low1) * a2_p2_pitch1 + (pos2 - a2_p2_low2)];
  else outside(verdict, 3u, pos0, pos1, pos2, a2_p2_shape0, a2_p2_shape1, a2_p2_shape2);
  const i64 t20 = (i64)t19;
  const i64 t21 = (i64)((u64)t18 + (u64)t20);
  l65_v0 = t21;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t22 = l65_v0;
  const i64 t24 = (i64)((u64)t22 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t25 = 0;
  if (pos0 - a3_p3_low0 < a3_p3_size0 && pos1 - a3_p3_low1 < a3_p3_size1 && pos2 - a3_p3_low2 < a3_p3_size2) t25 = a3_p3[(pos0 - a3_p3_low0) * a3_p3_pitch0 + (pos1 - a3_p3_low1) * a3_p3_pitch1 + (pos2 - a3_p3_low2)];
  else outside(verdict, 4u, pos0, pos1, pos2, a3_p3_shape0, a3_p3_shape1, a3_p3_shape2);
  const i64 t26 = (i64)t25;
  const i64 t27 = (i64)((u64)t24 + (u64)t26);
  l65_v0 = t27;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t28 = l65_v0;
  const i64 t30 = (i64)((u64)t28 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t31 = 0;
  if (pos0 - a4_p4_low0 < a4_p4_size0 && pos1 - a4_p4_low1 < a4_p4_size1 && pos2 - a4_p4_low2 < a4_p4_size2) t31 = a4_p4[(pos0 - a4_p4_low0) * a4_p4_pitch0 + (pos1 - a4_p4_low1) * a4_p4_pitch1 + (pos2 - a4_p4_low2)];
  else outside(verdict, 5u, pos0, pos1, pos2, a4_p4_shape0, a4_p4_shape1, a4_p4_shape2);
  const i64 t32 = (i64)t31;
  const i64 t33 = (i64)((u64)t30 + (u64)t32);
  l65_v0 = t33;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t34 = l65_v0;
  const i64 t36 = (i64)((u64)t34 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t37 = 0;
  if (pos0 - a5_p5_low0 < a5_p5_size0 && pos1 - a5_p5_low1 < a5_p5_size1 && pos2 - a5_p5_low2 < a5_p5_size2) t37 = a5_p5[(pos0 - a5_p5_low0) * a5_p5_pitch0 + (pos1 - a5_p5_low1) * a5_p5_pitch1 + (pos2 - a5_p5_low2)];
  else outside(verdict, 6u, pos0, pos1, pos2, a5_p5_shape0, a5_p5_shape1, a5_p5_shape2);
  const i64 t38 = (i64)t37;
  const i64 t39 = (i64)((u64)t36 + (u64)t38);
  l65_v0 = t39;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t40 = l65_v0;
  const i64 t42 = (i64)((u64)t40 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t43 = 0;
  if (pos0 - a6_p6_low0 < a6_p6_size0 && pos1 - a6_p6_low1 < a6_p6_size1 && pos2 - a6_p6_low2 < a6_p6_size2) t43 = a6_p6[(pos0 - a6_p6_low0) * a6_p6_pitch0 + (pos1 - a6_p6_low1) * a6_p6_pitch1 + (pos2 - a6_p6_low2)];
  else outside(verdict, 7u, pos0, pos1, pos2, a6_p6_shape0, a6_p6_shape1, a6_p6_shape2);
  const i64 t44 = (i64)t43;
  const i64 t45 = (i64)((u64)t42 + (u64)t44);
  l65_v0 = t45;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t46 = l65_v0;
  const i64 t48 = (i64)((u64)t46 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t49 = 0;
  if (pos0 - a7_p7_low0 < a7_p7_size0 && pos1 - a7_p7_low1 < a7_p7_size1 && pos2 - a7_p7_low2 < a7_p7_size2) t49 = a7_p7[(pos0 - a7_p7_low0) * a7_p7_pitch0 + (pos1 - a7_p7_low1) * a7_p7_pitch1 + (pos2 - a7_p7_low2)];
  else outside(verdict, 8u, pos0, pos1, pos2, a7_p7_shape0, a7_p7_shape1, a7_p7_shape2);
  const i64 t50 = (i64)t49;
  const i64 t51 = (i64)((u64)t48 + (u64)t50);
  l65_v0 = t51;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t52 = l65_v0;
  const i64 t54 = (i64)((u64)t52 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t55 = 0;
  if (pos0 - b0_p8_low0 < b0_p8_size0 && pos1 - b0_p8_low1 < b0_p8_size1 && pos2 - b0_p8_low2 < b0_p8_size2) t55 = b0_p8[(pos0 - b0_p8_low0) * b0_p8_pitch0 + (pos1 - b0_p8_low1) * b0_p8_pitch1 + (pos2 - b0_p8_low2)];
  else outside(verdict, 9u, pos0, pos1, pos2, b0_p8_shape0, b0_p8_shape1, b0_p8_shape2);
  const i64 t56 = (i64)t55;
  const i64 t57 = (i64)((u64)t54 + (u64)t56);
  l65_v0 = t57;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t58 = l65_v0;
  const i64 t60 = (i64)((u64)t58 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t61 = 0;
  if (pos0 - b1_p9_low0 < b1_p9_size0 && pos1 - b1_p9_low1 < b1_p9_size1 && pos2 - b1_p9_low2 < b1_p9_size2) t61 = b1_p9[(pos0 - b1_p9_low0) * b1_p9_pitch0 + (pos1 - b1_p9_low1) * b1_p9_pitch1 + (pos2 - b1_p9_low2)];
  else outside(verdict, 10u, pos0, pos1, pos2, b1_p9_shape0, b1_p9_shape1, b1_p9_shape2);
  const i64 t62 = (i64)t61;
  const i64 t63 = (i64)((u64)t60 + (u64)t62);
  l65_v0 = t63;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t64 = l65_v0;
  const i64 t66 = (i64)((u64)t64 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t67 = 0;
  if (pos0 - b2_p10_low0 < b2_p10_size0 && pos1 - b2_p10_low1 < b2_p10_size1 && pos2 - b2_p10_low2 < b2_p10_size2) t67 = b2_p10[(pos0 - b2_p10_low0) * b2_p10_pitch0 + (pos1 - b2_p10_low1) * b2_p10_pitch1 + (pos2 - b2_p10_low2)];
  else outside(verdict, 11u, pos0, pos1, pos2, b2_p10_shape0, b2_p10_shape1, b2_p10_shape2);
  const i64 t68 = (i64)t67;
  const i64 t69 = (i64)((u64)t66 + (u64)t68);
  l65_v0 = t69;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t70 = l65_v0;
  const i64 t72 = (i64)((u64)t70 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t73 = 0;
  if (pos0 - b3_p11_low0 < b3_p11_size0 && pos1 - b3_p11_low1 < b3_p11_size1 && pos2 - b3_p11_low2 < b3_p11_size2) t73 = b3_p11[(pos0 - b3_p11_low0) * b3_p11_pitch0 + (pos1 - b3_p11_low1) * b3_p11_pitch1 + (pos2 - b3_p11_low2)];
  else outside(verdict, 12u, pos0, pos1, pos2, b3_p11_shape0, b3_p11_shape1, b3_p11_shape2);
  const i64 t74 = (i64)t73;
  const i64 t75 = (i64)((u64)t72 + (u64)t74);
  l65_v0 = t75;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t76 = l65_v0;
  const i64 t78 = (i64)((u64)t76 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t79 = 0;
  if (pos0 - b4_p12_low0 < b4_p12_size0 && pos1 - b4_p12_low1 < b4_p12_size1 && pos2 - b4_p12_low2 < b4_p12_size2) t79 = b4_p12[(pos0 - b4_p12_low0) * b4_p12_pitch0 + (pos1 - b4_p12_low1) * b4_p12_pitch1 + (pos2 - b4_p12_low2)];
  else outside(verdict, 13u, pos0, pos1, pos2, b4_p12_shape0, b4_p12_shape1, b4_p12_shape2);
  const i64 t80 = (i64)t79;
  const i64 t81 = (i64)((u64)t78 + (u64)t80);
  l65_v0 = t81;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t82 = l65_v0;
  const i64 t84 = (i64)((u64)t82 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t85 = 0;
  if (pos0 - b5_p13_low0 < b5_p13_size0 && pos1 - b5_p13_low1 < b5_p13_size1 && pos2 - b5_p13_low2 < b5_p13_size2) t85 = b5_p13[(pos0 - b5_p13_low0) * b5_p13_pitch0 + (pos1 - b5_p13_low1) * b5_p13_pitch1 + (pos2 - b5_p13_low2)];
  else outside(verdict, 14u, pos0, pos1, pos2, b5_p13_shape0, b5_p13_shape1, b5_p13_shape2);
  const i64 t86 = (i64)t85;
  const i64 t87 = (i64)((u64)t84 + (u64)t86);
  l65_v0 = t87;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t88 = l65_v0;
  const i64 t90 = (i64)((u64)t88 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t91 = 0;
  if (pos0 - b6_p14_low0 < b6_p14_size0 && pos1 - b6_p14_low1 < b6_p14_size1 && pos2 - b6_p14_low2 < b6_p14_size2) t91 = b6_p14[(pos0 - b6_p14_low0) * b6_p14_pitch0 + (pos1 - b6_p14_low1) * b6_p14_pitch1 + (pos2 - b6_p14_low2)];
  else outside(verdict, 15u, pos0, pos1, pos2, b6_p14_shape0, b6_p14_shape1, b6_p14_shape2);
  const i64 t92 = (i64)t91;
  const i64 t93 = (i64)((u64)t90 + (u64)t92);
  l65_v0 = t93;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t94 = l65_v0;
  const i64 t96 = (i64)((u64)t94 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t97 = 0;
  if (pos0 - b7_p15_low0 < b7_p15_size0 && pos1 - b7_p15_low1 < b7_p15_size1 && pos2 - b7_p15_low2 < b7_p15_size2) t97 = b7_p15[(pos0 - b7_p15_low0) * b7_p15_pitch0 + (pos1 - b7_p15_low1) * b7_p15_pitch1 + (pos2 - b7_p15_low2)];
  else outside(verdict, 16u, pos0, pos1, pos2, b7_p15_shape0, b7_p15_shape1, b7_p15_shape2);
  const i64 t98 = (i64)t97;
  const i64 t99 = (i64)((u64)t96 + (u64)t98);
  l65_v0 = t99;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t100 = l65_v0;
  const i64 t102 = (i64)((u64)t100 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t103 = 0;
  if (pos0 - c0_p16_low0 < c0_p16_size0 && pos1 - c0_p16_low1 < c0_p16_size1 && pos2 - c0_p16_low2 < c0_p16_size2) t103 = c0_p16[(pos0 - c0_p16_low0) * c0_p16_pitch0 + (pos1 - c0_p16_low1) * c0_p16_pitch1 + (pos2 - c0_p16_low2)];
  else outside(verdict, 17u, pos0, pos1, pos2, c0_p16_shape0, c0_p16_shape1, c0_p16_shape2);
  const i64 t104 = (i64)t103;
  const i64 t105 = (i64)((u64)t102 + (u64)t104);
  l65_v0 = t105;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t106 = l65_v0;
  const i64 t108 = (i64)((u64)t106 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t109 = 0;
  if (pos0 - c1_p17_low0 < c1_p17_size0 && pos1 - c1_p17_low1 < c1_p17_size1 && pos2 - c1_p17_low2 < c1_p17_size2) t109 = c1_p17[(pos0 - c1_p17_low0) * c1_p17_pitch0 + (pos1 - c1_p17_low1) * c1_p17_pitch1 + (pos2 - c1_p17_low2)];
  else outside(verdict, 18u, pos0, pos1, pos2, c1_p17_shape0, c1_p17_shape1, c1_p17_shape2);
  const i64 t110 = (i64)t109;
  const i64 t111 = (i64)((u64)t108 + (u64)t110);
  l65_v0 = t111;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t112 = l65_v0;
  const i64 t114 = (i64)((u64)t112 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t115 = 0;
  if (pos0 - c2_p18_low0 < c2_p18_size0 && pos1 - c2_p18_low1 < c2_p18_size1 && pos2 - c2_p18_low2 < c2_p18_size2) t115 = c2_p18[(pos0 - c2_p18_low0) * c2_p18_pitch0 + (pos1 - c2_p18_low1) * c2_p18_pitch1 + (pos2 - c2_p18_low2)];
  else outside(verdict, 19u, pos0, pos1, pos2, c2_p18_shape0, c2_p18_shape1, c2_p18_shape2);
  const i64 t116 = (i64)t115;
  const i64 t117 = (i64)((u64)t114 + (u64)t116);
  l65_v0 = t117;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t118 = l65_v0;
  const i64 t120 = (i64)((u64)t118 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t121 = 0;
  if (pos0 - c3_p19_low0 < c3_p19_size0 && pos1 - c3_p19_low1 < c3_p19_size1 && pos2 - c3_p19_low2 < c3_p19_size2) t121 = c3_p19[(pos0 - c3_p19_low0) * c3_p19_pitch0 + (pos1 - c3_p19_low1) * c3_p19_pitch1 + (pos2 - c3_p19_low2)];
  else outside(verdict, 20u, pos0, pos1, pos2, c3_p19_shape0, c3_p19_shape1, c3_p19_shape2);
  const i64 t122 = (i64)t121;
  const i64 t123 = (i64)((u64)t120 + (u64)t122);
  l65_v0 = t123;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t124 = l65_v0;
  const i64 t126 = (i64)((u64)t124 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t127 = 0;
  if (pos0 - c4_p20_low0 < c4_p20_size0 && pos1 - c4_p20_low1 < c4_p20_size1 && pos2 - c4_p20_low2 < c4_p20_size2) t127 = c4_p20[(pos0 - c4_p20_low0) * c4_p20_pitch0 + (pos1 - c4_p20_low1) * c4_p20_pitch1 + (pos2 - c4_p20_low2)];
  else outside(verdict, 21u, pos0, pos1, pos2, c4_p20_shape0, c4_p20_shape1, c4_p20_shape2);
  const i64 t128 = (i64)t127;
  const i64 t129 = (i64)((u64)t126 + (u64)t128);
  l65_v0 = t129;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t130 = l65_v0;
  const i64 t132 = (i64)((u64)t130 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t133 = 0;
  if (pos0 - c5_p21_low0 < c5_p21_size0 && pos1 - c5_p21_low1 < c5_p21_size1 && pos2 - c5_p21_low2 < c5_p21_size2) t133 = c5_p21[(pos0 - c5_p21_low0) * c5_p21_pitch0 + (pos1 - c5_p21_low1) * c5_p21_pitch1 + (pos2 - c5_p21_low2)];
  else outside(verdict, 22u, pos0, pos1, pos2, c5_p21_shape0, c5_p21_shape1, c5_p21_shape2);
  const i64 t134 = (i64)t133;
  const i64 t135 = (i64)((u64)t132 + (u64)t134);
  l65_v0 = t135;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t136 = l65_v0;
  const i64 t138 = (i64)((u64)t136 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t139 = 0;
  if (pos0 - c6_p22_low0 < c6_p22_size0 && pos1 - c6_p22_low1 < c6_p22_size1 && pos2 - c6_p22_low2 < c6_p22_size2) t139 = c6_p22[(pos0 - c6_p22_low0) * c6_p22_pitch0 + (pos1 - c6_p22_low1) * c6_p22_pitch1 + (pos2 - c6_p22_low2)];
  else outside(verdict, 23u, pos0, pos1, pos2, c6_p22_shape0, c6_p22_shape1, c6_p22_shape2);
  const i64 t140 = (i64)t139;
  const i64 t141 = (i64)((u64)t138 + (u64)t140);
  l65_v0 = t141;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t142 = l65_v0;
  const i64 t144 = (i64)((u64)t142 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t145 = 0;
  if (pos0 - c7_p23_low0 < c7_p23_size0 && pos1 - c7_p23_low1 < c7_p23_size1 && pos2 - c7_p23_low2 < c7_p23_size2) t145 = c7_p23[(pos0 - c7_p23_low0) * c7_p23_pitch0 + (pos1 - c7_p23_low1) * c7_p23_pitch1 + (pos2 - c7_p23_low2)];
  else outside(verdict, 24u, pos0, pos1, pos2, c7_p23_shape0, c7_p23_shape1, c7_p23_shape2);
  const i64 t146 = (i64)t145;
  const i64 t147 = (i64)((u64)t144 + (u64)t146);
  l65_v0 = t147;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t148 = l65_v0;
  const i64 t150 = (i64)((u64)t148 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t151 = 0;
  if (pos0 - d0_p24_low0 < d0_p24_size0 && pos1 - d0_p24_low1 < d0_p24_size1 && pos2 - d0_p24_low2 < d0_p24_size2) t151 = d0_p24[(pos0 - d0_p24_low0) * d0_p24_pitch0 + (pos1 - d0_p24_low1) * d0_p24_pitch1 + (pos2 - d0_p24_low2)];
  else outside(verdict, 25u, pos0, pos1, pos2, d0_p24_shape0, d0_p24_shape1, d0_p24_shape2);
  const i64 t152 = (i64)t151;
  const i64 t153 = (i64)((u64)t150 + (u64)t152);
  l65_v0 = t153;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t154 = l65_v0;
  const i64 t156 = (i64)((u64)t154 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t157 = 0;
  if (pos0 - d1_p25_low0 < d1_p25_size0 && pos1 - d1_p25_low1 < d1_p25_size1 && pos2 - d1_p25_low2 < d1_p25_size2) t157 = d1_p25[(pos0 - d1_p25_low0) * d1_p25_pitch0 + (pos1 - d1_p25_low1) * d1_p25_pitch1 + (pos2 - d1_p25_low2)];
  else outside(verdict, 26u, pos0, pos1, pos2, d1_p25_shape0, d1_p25_shape1, d1_p25_shape2);
  const i64 t158 = (i64)t157;
  const i64 t159 = (i64)((u64)t156 + (u64)t158);
  l65_v0 = t159;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t160 = l65_v0;
  const i64 t162 = (i64)((u64)t160 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t163 = 0;
  if (pos0 - d2_p26_low0 < d2_p26_size0 && pos1 - d2_p26_low1 < d2_p26_size1 && pos2 - d2_p26_low2 < d2_p26_size2) t163 = d2_p26[(pos0 - d2_p26_low0) * d2_p26_pitch0 + (pos1 - d2_p26_low1) * d2_p26_pitch1 + (pos2 - d2_p26_low2)];
  else outside(verdict, 27u, pos0, pos1, pos2, d2_p26_shape0, d2_p26_shape1, d2_p26_shape2);
  const i64 t164 = (i64)t163;
  const i64 t165 = (i64)((u64)t162 + (u64)t164);
  l65_v0 = t165;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t166 = l65_v0;
  const i64 t168 = (i64)((u64)t166 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t169 = 0;
  if (pos0 - d3_p27_low0 < d3_p27_size0 && pos1 - d3_p27_low1 < d3_p27_size1 && pos2 - d3_p27_low2 < d3_p27_size2) t169 = d3_p27[(pos0 - d3_p27_low0) * d3_p27_pitch0 + (pos1 - d3_p27_low1) * d3_p27_pitch1 + (pos2 - d3_p27_low2)];
  else outside(verdict, 28u, pos0, pos1, pos2, d3_p27_shape0, d3_p27_shape1, d3_p27_shape2);
  const i64 t170 = (i64)t169;
  const i64 t171 = (i64)((u64)t168 + (u64)t170);
  l65_v0 = t171;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t172 = l65_v0;
  const i64 t174 = (i64)((u64)t172 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t175 = 0;
  if (pos0 - d4_p28_low0 < d4_p28_size0 && pos1 - d4_p28_low1 < d4_p28_size1 && pos2 - d4_p28_low2 < d4_p28_size2) t175 = d4_p28[(pos0 - d4_p28_low0) * d4_p28_pitch0 + (pos1 - d4_p28_low1) * d4_p28_pitch1 + (pos2 - d4_p28_low2)];
  else outside(verdict, 29u, pos0, pos1, pos2, d4_p28_shape0, d4_p28_shape1, d4_p28_shape2);
  const i64 t176 = (i64)t175;
  const i64 t177 = (i64)((u64)t174 + (u64)t176);
  l65_v0 = t177;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t178 = l65_v0;
  const i64 t180 = (i64)((u64)t178 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t181 = 0;
  if (pos0 - d5_p29_low0 < d5_p29_size0 && pos1 - d5_p29_low1 < d5_p29_size1 && pos2 - d5_p29_low2 < d5_p29_size2) t181 = d5_p29[(pos0 - d5_p29_low0) * d5_p29_pitch0 + (pos1 - d5_p29_low1) * d5_p29_pitch1 + (pos2 - d5_p29_low2)];
  else outside(verdict, 30u, pos0, pos1, pos2, d5_p29_shape0, d5_p29_shape1, d5_p29_shape2);
  const i64 t182 = (i64)t181;
  const i64 t183 = (i64)((u64)t180 + (u64)t182);
  l65_v0 = t183;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t184 = l65_v0;
  const i64 t186 = (i64)((u64)t184 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t187 = 0;
  if (pos0 - d6_p30_low0 < d6_p30_size0 && pos1 - d6_p30_low1 < d6_p30_size1 && pos2 - d6_p30_low2 < d6_p30_size2) t187 = d6_p30[(pos0 - d6_p30_low0) * d6_p30_pitch0 + (pos1 - d6_p30_low1) * d6_p30_pitch1 + (pos2 - d6_p30_low2)];
  else outside(verdict, 31u, pos0, pos1, pos2, d6_p30_shape0, d6_p30_shape1, d6_p30_shape2);
  const i64 t188 = (i64)t187;
  const i64 t189 = (i64)((u64)t186 + (u64)t188);
  l65_v0 = t189;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t190 = l65_v0;
  const i64 t192 = (i64)((u64)t190 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t193 = 0;
  if (pos0 - d7_p31_low0 < d7_p31_size0 && pos1 - d7_p31_low1 < d7_p31_size1 && pos2 - d7_p31_low2 < d7_p31_size2) t193 = d7_p31[(pos0 - d7_p31_low0) * d7_p31_pitch0 + (pos1 - d7_p31_low1) * d7_p31_pitch1 + (pos2 - d7_p31_low2)];
  else outside(verdict, 32u, pos0, pos1, pos2, d7_p31_shape0, d7_p31_shape1, d7_p31_shape2);
  const i64 t194 = (i64)t193;
  const i64 t195 = (i64)((u64)t192 + (u64)t194);
  l65_v0 = t195;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t196 = l65_v0;
  const i64 t198 = (i64)((u64)t196 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t199 = 0;
  if (pos0 - e0_p32_low0 < e0_p32_size0 && pos1 - e0_p32_low1 < e0_p32_size1 && pos2 - e0_p32_low2 < e0_p32_size2) t199 = e0_p32[(pos0 - e0_p32_low0) * e0_p32_pitch0 + (pos1 - e0_p32_low1) * e0_p32_pitch1 + (pos2 - e0_p32_low2)];
  else outside(verdict, 33u, pos0, pos1, pos2, e0_p32_shape0, e0_p32_shape1, e0_p32_shape2);
  const i64 t200 = (i64)t199;
  const i64 t201 = (i64)((u64)t198 + (u64)t200);
  l65_v0 = t201;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t202 = l65_v0;
  const i64 t204 = (i64)((u64)t202 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t205 = 0;
  if (pos0 - e1_p33_low0 < e1_p33_size0 && pos1 - e1_p33_low1 < e1_p33_size1 && pos2 - e1_p33_low2 < e1_p33_size2) t205 = e1_p33[(pos0 - e1_p33_low0) * e1_p33_pitch0 + (pos1 - e1_p33_low1) * e1_p33_pitch1 + (pos2 - e1_p33_low2)];
  else outside(verdict, 34u, pos0, pos1, pos2, e1_p33_shape0, e1_p33_shape1, e1_p33_shape2);
  const i64 t206 = (i64)t205;
  const i64 t207 = (i64)((u64)t204 + (u64)t206);
  l65_v0 = t207;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t208 = l65_v0;
  const i64 t210 = (i64)((u64)t208 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t211 = 0;
  if (pos0 - e2_p34_low0 < e2_p34_size0 && pos1 - e2_p34_low1 < e2_p34_size1 && pos2 - e2_p34_low2 < e2_p34_size2) t211 = e2_p34[(pos0 - e2_p34_low0) * e2_p34_pitch0 + (pos1 - e2_p34_low1) * e2_p34_pitch1 + (pos2 - e2_p34_low2)];
  else outside(verdict, 35u, pos0, pos1, pos2, e2_p34_shape0, e2_p34_shape1, e2_p34_shape2);
  const i64 t212 = (i64)t211;
  const i64 t213 = (i64)((u64)t210 + (u64)t212);
  l65_v0 = t213;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t214 = l65_v0;
  const i64 t216 = (i64)((u64)t214 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t217 = 0;
  if (pos0 - e3_p35_low0 < e3_p35_size0 && pos1 - e3_p35_low1 < e3_p35_size1 && pos2 - e3_p35_low2 < e3_p35_size2) t217 = e3_p35[(pos0 - e3_p35_low0) * e3_p35_pitch0 + (pos1 - e3_p35_low1) * e3_p35_pitch1 + (pos2 - e3_p35_low2)];
  else outside(verdict, 36u, pos0, pos1, pos2, e3_p35_shape0, e3_p35_shape1, e3_p35_shape2);
  const i64 t218 = (i64)t217;
  const i64 t219 = (i64)((u64)t216 + (u64)t218);
  l65_v0 = t219;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t220 = l65_v0;
  const i64 t222 = (i64)((u64)t220 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t223 = 0;
  if (pos0 - e4_p36_low0 < e4_p36_size0 && pos1 - e4_p36_low1 < e4_p36_size1 && pos2 - e4_p36_low2 < e4_p36_size2) t223 = e4_p36[(pos0 - e4_p36_low0) * e4_p36_pitch0 + (pos1 - e4_p36_low1) * e4_p36_pitch1 + (pos2 - e4_p36_low2)];
  else outside(verdict, 37u, pos0, pos1, pos2, e4_p36_shape0, e4_p36_shape1, e4_p36_shape2);
  const i64 t224 = (i64)t223;
  const i64 t225 = (i64)((u64)t222 + (u64)t224);
  l65_v0 = t225;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t226 = l65_v0;
  const i64 t228 = (i64)((u64)t226 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t229 = 0;
  if (pos0 - e5_p37_low0 < e5_p37_size0 && pos1 - e5_p37_low1 < e5_p37_size1 && pos2 - e5_p37_low2 < e5_p37_size2) t229 = e5_p37[(pos0 - e5_p37_low0) * e5_p37_pitch0 + (pos1 - e5_p37_low1) * e5_p37_pitch1 + (pos2 - e5_p37_low2)];
  else outside(verdict, 38u, pos0, pos1, pos2, e5_p37_shape0, e5_p37_shape1, e5_p37_shape2);
  const i64 t230 = (i64)t229;
  const i64 t231 = (i64)((u64)t228 + (u64)t230);
  l65_v0 = t231;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t232 = l65_v0;
  const i64 t234 = (i64)((u64)t232 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t235 = 0;
  if (pos0 - e6_p38_low0 < e6_p38_size0 && pos1 - e6_p38_low1 < e6_p38_size1 && pos2 - e6_p38_low2 < e6_p38_size2) t235 = e6_p38[(pos0 - e6_p38_low0) * e6_p38_pitch0 + (pos1 - e6_p38_low1) * e6_p38_pitch1 + (pos2 - e6_p38_low2)];
  else outside(verdict, 39u, pos0, pos1, pos2, e6_p38_shape0, e6_p38_shape1, e6_p38_shape2);
  const i64 t236 = (i64)t235;
  const i64 t237 = (i64)((u64)t234 + (u64)t236);
  l65_v0 = t237;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t238 = l65_v0;
  const i64 t240 = (i64)((u64)t238 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t241 = 0;
  if (pos0 - e7_p39_low0 < e7_p39_size0 && pos1 - e7_p39_low1 < e7_p39_size1 && pos2 - e7_p39_low2 < e7_p39_size2) t241 = e7_p39[(pos0 - e7_p39_low0) * e7_p39_pitch0 + (pos1 - e7_p39_low1) * e7_p39_pitch1 + (pos2 - e7_p39_low2)];
  else outside(verdict, 40u, pos0, pos1, pos2, e7_p39_shape0, e7_p39_shape1, e7_p39_shape2);
  const i64 t242 = (i64)t241;
  const i64 t243 = (i64)((u64)t240 + (u64)t242);
  l65_v0 = t243;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t244 = l65_v0;
  const i64 t246 = (i64)((u64)t244 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t247 = 0;
  if (pos0 - f0_p40_low0 < f0_p40_size0 && pos1 - f0_p40_low1 < f0_p40_size1 && pos2 - f0_p40_low2 < f0_p40_size2) t247 = f0_p40[(pos0 - f0_p40_low0) * f0_p40_pitch0 + (pos1 - f0_p40_low1) * f0_p40_pitch1 + (pos2 - f0_p40_low2)];
  else outside(verdict, 41u, pos0, pos1, pos2, f0_p40_shape0, f0_p40_shape1, f0_p40_shape2);
  const i64 t248 = (i64)t247;
  const i64 t249 = (i64)((u64)t246 + (u64)t248);
  l65_v0 = t249;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t250 = l65_v0;
  const i64 t252 = (i64)((u64)t250 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t253 = 0;
  if (pos0 - f1_p41_low0 < f1_p41_size0 && pos1 - f1_p41_low1 < f1_p41_size1 && pos2 - f1_p41_low2 < f1_p41_size2) t253 = f1_p41[(pos0 - f1_p41_low0) * f1_p41_pitch0 + (pos1 - f1_p41_low1) * f1_p41_pitch1 + (pos2 - f1_p41_low2)];
  else outside(verdict, 42u, pos0, pos1, pos2, f1_p41_shape0, f1_p41_shape1, f1_p41_shape2);
  const i64 t254 = (i64)t253;
  const i64 t255 = (i64)((u64)t252 + (u64)t254);
  l65_v0 = t255;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t256 = l65_v0;
  const i64 t258 = (i64)((u64)t256 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t259 = 0;
  if (pos0 - f2_p42_low0 < f2_p42_size0 && pos1 - f2_p42_low1 < f2_p42_size1 && pos2 - f2_p42_low2 < f2_p42_size2) t259 = f2_p42[(pos0 - f2_p42_low0) * f2_p42_pitch0 + (pos1 - f2_p42_low1) * f2_p42_pitch1 + (pos2 - f2_p42_low2)];
  else outside(verdict, 43u, pos0, pos1, pos2, f2_p42_shape0, f2_p42_shape1, f2_p42_shape2);
  const i64 t260 = (i64)t259;
  const i64 t261 = (i64)((u64)t258 + (u64)t260);
  l65_v0 = t261;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t262 = l65_v0;
  const i64 t264 = (i64)((u64)t262 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t265 = 0;
  if (pos0 - f3_p43_low0 < f3_p43_size0 && pos1 - f3_p43_low1 < f3_p43_size1 && pos2 - f3_p43_low2 < f3_p43_size2) t265 = f3_p43[(pos0 - f3_p43_low0) * f3_p43_pitch0 + (pos1 - f3_p43_low1) * f3_p43_pitch1 + (pos2 - f3_p43_low2)];
  else outside(verdict, 44u, pos0, pos1, pos2, f3_p43_shape0, f3_p43_shape1, f3_p43_shape2);
  const i64 t266 = (i64)t265;
  const i64 t267 = (i64)((u64)t264 + (u64)t266);
  l65_v0 = t267;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t268 = l65_v0;
  const i64 t270 = (i64)((u64)t268 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t271 = 0;
  if (pos0 - f4_p44_low0 < f4_p44_size0 && pos1 - f4_p44_low1 < f4_p44_size1 && pos2 - f4_p44_low2 < f4_p44_size2) t271 = f4_p44[(pos0 - f4_p44_low0) * f4_p44_pitch0 + (pos1 - f4_p44_low1) * f4_p44_pitch1 + (pos2 - f4_p44_low2)];
  else outside(verdict, 45u, pos0, pos1, pos2, f4_p44_shape0, f4_p44_shape1, f4_p44_shape2);
  const i64 t272 = (i64)t271;
  const i64 t273 = (i64)((u64)t270 + (u64)t272);
  l65_v0 = t273;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t274 = l65_v0;
  const i64 t276 = (i64)((u64)t274 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t277 = 0;
  if (pos0 - f5_p45_low0 < f5_p45_size0 && pos1 - f5_p45_low1 < f5_p45_size1 && pos2 - f5_p45_low2 < f5_p45_size2) t277 = f5_p45[(pos0 - f5_p45_low0) * f5_p45_pitch0 + (pos1 - f5_p45_low1) * f5_p45_pitch1 + (pos2 - f5_p45_low2)];
  else outside(verdict, 46u, pos0, pos1, pos2, f5_p45_shape0, f5_p45_shape1, f5_p45_shape2);
  const i64 t278 = (i64)t277;
  const i64 t279 = (i64)((u64)t276 + (u64)t278);
  l65_v0 = t279;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t280 = l65_v0;
  const i64 t282 = (i64)((u64)t280 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t283 = 0;
  if (pos0 - f6_p46_low0 < f6_p46_size0 && pos1 - f6_p46_low1 < f6_p46_size1 && pos2 - f6_p46_low2 < f6_p46_size2) t283 = f6_p46[(pos0 - f6_p46_low0) * f6_p46_pitch0 + (pos1 - f6_p46_low1) * f6_p46_pitch1 + (pos2 - f6_p46_low2)];
  else outside(verdict, 47u, pos0, pos1, pos2, f6_p46_shape0, f6_p46_shape1, f6_p46_shape2);
  const i64 t284 = (i64)t283;
  const i64 t285 = (i64)((u64)t282 + (u64)t284);
  l65_v0 = t285;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t286 = l65_v0;
  const i64 t288 = (i64)((u64)t286 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t289 = 0;
  if (pos0 - f7_p47_low0 < f7_p47_size0 && pos1 - f7_p47_low1 < f7_p47_size1 && pos2 - f7_p47_low2 < f7_p47_size2) t289 = f7_p47[(pos0 - f7_p47_low0) * f7_p47_pitch0 + (pos1 - f7_p47_low1) * f7_p47_pitch1 + (pos2 - f7_p47_low2)];
  else outside(verdict, 48u, pos0, pos1, pos2, f7_p47_shape0, f7_p47_shape1, f7_p47_shape2);
  const i64 t290 = (i64)t289;
  const i64 t291 = (i64)((u64)t288 + (u64)t290);
  l65_v0 = t291;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t292 = l65_v0;
  const i64 t294 = (i64)((u64)t292 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t295 = 0;
  if (pos0 - g0_p48_low0 < g0_p48_size0 && pos1 - g0_p48_low1 < g0_p48_size1 && pos2 - g0_p48_low2 < g0_p48_size2) t295 = g0_p48[(pos0 - g0_p48_low0) * g0_p48_pitch0 + (pos1 - g0_p48_low1) * g0_p48_pitch1 + (pos2 - g0_p48_low2)];
  else outside(verdict, 49u, pos0, pos1, pos2, g0_p48_shape0, g0_p48_shape1, g0_p48_shape2);
  const i64 t296 = (i64)t295;
  const i64 t297 = (i64)((u64)t294 + (u64)t296);
  l65_v0 = t297;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t298 = l65_v0;
  const i64 t300 = (i64)((u64)t298 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t301 = 0;
  if (pos0 - g1_p49_low0 < g1_p49_size0 && pos1 - g1_p49_low1 < g1_p49_size1 && pos2 - g1_p49_low2 < g1_p49_size2) t301 = g1_p49[(pos0 - g1_p49_low0) * g1_p49_pitch0 + (pos1 - g1_p49_low1) * g1_p49_pitch1 + (pos2 - g1_p49_low2)];
  else outside(verdict, 50u, pos0, pos1, pos2, g1_p49_shape0, g1_p49_shape1, g1_p49_shape2);
  const i64 t302 = (i64)t301;
  const i64 t303 = (i64)((u64)t300 + (u64)t302);
  l65_v0 = t303;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t304 = l65_v0;
  const i64 t306 = (i64)((u64)t304 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t307 = 0;
  if (pos0 - g2_p50_low0 < g2_p50_size0 && pos1 - g2_p50_low1 < g2_p50_size1 && pos2 - g2_p50_low2 < g2_p50_size2) t307 = g2_p50[(pos0 - g2_p50_low0) * g2_p50_pitch0 + (pos1 - g2_p50_low1) * g2_p50_pitch1 + (pos2 - g2_p50_low2)];
  else outside(verdict, 51u, pos0, pos1, pos2, g2_p50_shape0, g2_p50_shape1, g2_p50_shape2);
  const i64 t308 = (i64)t307;
  const i64 t309 = (i64)((u64)t306 + (u64)t308);
  l65_v0 = t309;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t310 = l65_v0;
  const i64 t312 = (i64)((u64)t310 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t313 = 0;
  if (pos0 - g3_p51_low0 < g3_p51_size0 && pos1 - g3_p51_low1 < g3_p51_size1 && pos2 - g3_p51_low2 < g3_p51_size2) t313 = g3_p51[(pos0 - g3_p51_low0) * g3_p51_pitch0 + (pos1 - g3_p51_low1) * g3_p51_pitch1 + (pos2 - g3_p51_low2)];
  else outside(verdict, 52u, pos0, pos1, pos2, g3_p51_shape0, g3_p51_shape1, g3_p51_shape2);
  const i64 t314 = (i64)t313;
  const i64 t315 = (i64)((u64)t312 + (u64)t314);
  l65_v0 = t315;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t316 = l65_v0;
  const i64 t318 = (i64)((u64)t316 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t319 = 0;
  if (pos0 - g4_p52_low0 < g4_p52_size0 && pos1 - g4_p52_low1 < g4_p52_size1 && pos2 - g4_p52_low2 < g4_p52_size2) t319 = g4_p52[(pos0 - g4_p52_low0) * g4_p52_pitch0 + (pos1 - g4_p52_low1) * g4_p52_pitch1 + (pos2 - g4_p52_low2)];
  else outside(verdict, 53u, pos0, pos1, pos2, g4_p52_shape0, g4_p52_shape1, g4_p52_shape2);
  const i64 t320 = (i64)t319;
  const i64 t321 = (i64)((u64)t318 + (u64)t320);
  l65_v0 = t321;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t322 = l65_v0;
  const i64 t324 = (i64)((u64)t322 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t325 = 0;
  if (pos0 - g5_p53_low0 < g5_p53_size0 && pos1 - g5_p53_low1 < g5_p53_size1 && pos2 - g5_p53_low2 < g5_p53_size2) t325 = g5_p53[(pos0 - g5_p53_low0) * g5_p53_pitch0 + (pos1 - g5_p53_low1) * g5_p53_pitch1 + (pos2 - g5_p53_low2)];
  else outside(verdict, 54u, pos0, pos1, pos2, g5_p53_shape0, g5_p53_shape1, g5_p53_shape2);
  const i64 t326 = (i64)t325;
  const i64 t327 = (i64)((u64)t324 + (u64)t326);
  l65_v0 = t327;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t328 = l65_v0;
  const i64 t330 = (i64)((u64)t328 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t331 = 0;
  if (pos0 - g6_p54_low0 < g6_p54_size0 && pos1 - g6_p54_low1 < g6_p54_size1 && pos2 - g6_p54_low2 < g6_p54_size2) t331 = g6_p54[(pos0 - g6_p54_low0) * g6_p54_pitch0 + (pos1 - g6_p54_low1) * g6_p54_pitch1 + (pos2 - g6_p54_low2)];
  else outside(verdict, 55u, pos0, pos1, pos2, g6_p54_shape0, g6_p54_shape1, g6_p54_shape2);
  const i64 t332 = (i64)t331;
  const i64 t333 = (i64)((u64)t330 + (u64)t332);
  l65_v0 = t333;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t334 = l65_v0;
  const i64 t336 = (i64)((u64)t334 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t337 = 0;
  if (pos0 - g7_p55_low0 < g7_p55_size0 && pos1 - g7_p55_low1 < g7_p55_size1 && pos2 - g7_p55_low2 < g7_p55_size2) t337 = g7_p55[(pos0 - g7_p55_low0) * g7_p55_pitch0 + (pos1 - g7_p55_low1) * g7_p55_pitch1 + (pos2 - g7_p55_low2)];
  else outside(verdict, 56u, pos0, pos1, pos2, g7_p55_shape0, g7_p55_shape1, g7_p55_shape2);
  const i64 t338 = (i64)t337;
  const i64 t339 = (i64)((u64)t336 + (u64)t338);
  l65_v0 = t339;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t340 = l65_v0;
  const i64 t342 = (i64)((u64)t340 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t343 = 0;
  if (pos0 - h0_p56_low0 < h0_p56_size0 && pos1 - h0_p56_low1 < h0_p56_size1 && pos2 - h0_p56_low2 < h0_p56_size2) t343 = h0_p56[(pos0 - h0_p56_low0) * h0_p56_pitch0 + (pos1 - h0_p56_low1) * h0_p56_pitch1 + (pos2 - h0_p56_low2)];
  else outside(verdict, 57u, pos0, pos1, pos2, h0_p56_shape0, h0_p56_shape1, h0_p56_shape2);
  const i64 t344 = (i64)t343;
  const i64 t345 = (i64)((u64)t342 + (u64)t344);
  l65_v0 = t345;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t346 = l65_v0;
  const i64 t348 = (i64)((u64)t346 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t349 = 0;
  if (pos0 - h1_p57_low0 < h1_p57_size0 && pos1 - h1_p57_low1 < h1_p57_size1 && pos2 - h1_p57_low2 < h1_p57_size2) t349 = h1_p57[(pos0 - h1_p57_low0) * h1_p57_pitch0 + (pos1 - h1_p57_low1) * h1_p57_pitch1 + (pos2 - h1_p57_low2)];
  else outside(verdict, 58u, pos0, pos1, pos2, h1_p57_shape0, h1_p57_shape1, h1_p57_shape2);
  const i64 t350 = (i64)t349;
  const i64 t351 = (i64)((u64)t348 + (u64)t350);
  l65_v0 = t351;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t352 = l65_v0;
  const i64 t354 = (i64)((u64)t352 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t355 = 0;
  if (pos0 - h2_p58_low0 < h2_p58_size0 && pos1 - h2_p58_low1 < h2_p58_size1 && pos2 - h2_p58_low2 < h2_p58_size2) t355 = h2_p58[(pos0 - h2_p58_low0) * h2_p58_pitch0 + (pos1 - h2_p58_low1) * h2_p58_pitch1 + (pos2 - h2_p58_low2)];
  else outside(verdict, 59u, pos0, pos1, pos2, h2_p58_shape0, h2_p58_shape1, h2_p58_shape2);
  const i64 t356 = (i64)t355;
  const i64 t357 = (i64)((u64)t354 + (u64)t356);
  l65_v0 = t357;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t358 = l65_v0;
  const i64 t360 = (i64)((u64)t358 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t361 = 0;
  if (pos0 - h3_p59_low0 < h3_p59_size0 && pos1 - h3_p59_low1 < h3_p59_size1 && pos2 - h3_p59_low2 < h3_p59_size2) t361 = h3_p59[(pos0 - h3_p59_low0) * h3_p59_pitch0 + (pos1 - h3_p59_low1) * h3_p59_pitch1 + (pos2 - h3_p59_low2)];
  else outside(verdict, 60u, pos0, pos1, pos2, h3_p59_shape0, h3_p59_shape1, h3_p59_shape2);
  const i64 t362 = (i64)t361;
  const i64 t363 = (i64)((u64)t360 + (u64)t362);
  l65_v0 = t363;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t364 = l65_v0;
  const i64 t366 = (i64)((u64)t364 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t367 = 0;
  if (pos0 - h4_p60_low0 < h4_p60_size0 && pos1 - h4_p60_low1 < h4_p60_size1 && pos2 - h4_p60_low2 < h4_p60_size2) t367 = h4_p60[(pos0 - h4_p60_low0) * h4_p60_pitch0 + (pos1 - h4_p60_low1) * h4_p60_pitch1 + (pos2 - h4_p60_low2)];
  else outside(verdict, 61u, pos0, pos1, pos2, h4_p60_shape0, h4_p60_shape1, h4_p60_shape2);
  const i64 t368 = (i64)t367;
  const i64 t369 = (i64)((u64)t366 + (u64)t368);
  l65_v0 = t369;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t370 = l65_v0;
  const i64 t372 = (i64)((u64)t370 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t373 = 0;
  if (pos0 - h5_p61_low0 < h5_p61_size0 && pos1 - h5_p61_low1 < h5_p61_size1 && pos2 - h5_p61_low2 < h5_p61_size2) t373 = h5_p61[(pos0 - h5_p61_low0) * h5_p61_pitch0 + (pos1 - h5_p61_low1) * h5_p61_pitch1 + (pos2 - h5_p61_low2)];
  else outside(verdict, 62u, pos0, pos1, pos2, h5_p61_shape0, h5_p61_shape1, h5_p61_shape2);
  const i64 t374 = (i64)t373;
  const i64 t375 = (i64)((u64)t372 + (u64)t374);
  l65_v0 = t375;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t376 = l65_v0;
  const i64 t378 = (i64)((u64)t376 * (u64)3l);
  // crates/folio-conformance/src/engine/kernels/limits.rs
  i32 t379 = 0;
  if (pos0 - h6_p62_low0 < h6_p62_size0 && pos1 - h6_p62_low1 < h6_p62_size1 && pos2 - h6_p62_low2 < h6_p62_size2) t379 = h6_p62[(pos0 - h6_p62_low0) * h6_p62_pitch0 + (pos1 - h6_p62_low1) * h6_p62_pitch1 + (pos2 - h6_p62_low2)];
  else outside(verdict, 63u, pos0, pos1, pos2, h6_p62_shape0, h6_p62_shape1, h6_p62_shape2);
  const i64 t380 = (i64)t379;
  const i64 t381 = (i64)((u64)t378 + (u64)t380);
  l65_v0 = t381;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  const i64 t382 = l65_v0;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  if (pos0 - y_p63_low0 < y_p63_size0 && pos1 - y_p63_low1 < y_p63_size1 && pos2 - y_p63_low2 < y_p63_size2) y_p63[(pos0 - y_p63_low0) * y_p63_pitch0 + (pos1 - y_p63_low1) * y_p63_pitch1 + (pos2 - y_p63_low2)] = t382;
  else outside(verdict, 64u, pos0, pos1, pos2, y_p63_shape0, y_p63_shape1, y_p63_shape2);
}
// sizes
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[19]; } Block;
ENTRY(256) folio_sizes(
    const Block block,
    GLOBAL const i64 *RESTRICT x_p0_base,
    GLOBAL const f32 *RESTRICT f_p1_base,
    GLOBAL u64 *RESTRICT o_p2_base,
    GLOBAL f32 *RESTRICT p_p3_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 o_p2_low0 = block.words[3];
  const u64 o_p2_size0 = block.words[4];
  const u64 o_p2_shape0 = block.words[5];
  const u64 f_p1_low0 = block.words[6];
  const u64 f_p1_size0 = block.words[7];
  const u64 f_p1_shape0 = block.words[8];
  const u64 p_p3_low0 = block.words[9];
  const u64 p_p3_size0 = block.words[10];
  const u64 p_p3_shape0 = block.words[11];
  const u64 first0 = block.words[12];
  const u64 offset0 = block.words[13];
  const u64 range0 = block.words[14];
  GLOBAL const i64 *x_p0 = x_p0_base + block.words[15];
  GLOBAL const f32 *f_p1 = f_p1_base + block.words[16];
  GLOBAL u64 *o_p2 = o_p2_base + block.words[17];
  GLOBAL f32 *p_p3 = p_p3_base + block.words[18];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/code.rs
  i64 t1 = 0l;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const i64 t2 = (t1 < 0 ? (i64)((u64)0 - (u64)t1) : t1);
  const u64 t3 = (u64)t2;
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (pos0 - o_p2_low0 < o_p2_size0) o_p2[pos0 - o_p2_low0] = t3;
  else outside(verdict, 2u, pos0, 0, 0, o_p2_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/code.rs
  f32 t4 = 0.0f;
  if (pos0 - f_p1_low0 < f_p1_size0) t4 = f_p1[pos0 - f_p1_low0];
  else outside(verdict, 3u, pos0, 0, 0, f_p1_shape0, 0, 0);
  const f32 t6 = fmod(t4, 0.75f);
  const bool t8 = t6 < 0.0f;
  const f32 t9 = fabs(0.75f);
  const f32 t10 = t6 + t9;
  const f32 t11 = t8 ? t10 : t6;
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (pos0 - p_p3_low0 < p_p3_size0) p_p3[pos0 - p_p3_low0] = t11;
  else outside(verdict, 4u, pos0, 0, 0, p_p3_shape0, 0, 0);
}
// slices
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[21]; } Block;
ENTRY(256) folio_slices(
    const Block block,
    GLOBAL u32 *RESTRICT y_p0_base,
    GLOBAL Record *verdict) {
  const u64 y_p0_low0 = block.words[0];
  const u64 y_p0_size0 = block.words[1];
  const u64 y_p0_pitch0 = block.words[2];
  const u64 y_p0_low1 = block.words[3];
  const u64 y_p0_size1 = block.words[4];
  const u64 y_p0_pitch1 = block.words[5];
  const u64 y_p0_low2 = block.words[6];
  const u64 y_p0_size2 = block.words[7];
  const u64 y_p0_shape0 = block.words[8];
  const u64 y_p0_shape1 = block.words[9];
  const u64 y_p0_shape2 = block.words[10];
  const u64 first0 = block.words[11];
  const u64 offset0 = block.words[12];
  const u64 range0 = block.words[13];
  const u64 first1 = block.words[14];
  const u64 offset1 = block.words[15];
  const u64 range1 = block.words[16];
  const u64 first2 = block.words[17];
  const u64 offset2 = block.words[18];
  const u64 range2 = block.words[19];
  GLOBAL u32 *y_p0 = y_p0_base + block.words[20];
  const u64 pos0 = first0 + (u64)get_group_id(2) * get_local_size(2) + get_local_id(2);
  const u64 pos1 = first1 + (u64)get_group_id(1) * get_local_size(1) + get_local_id(1);
  const u64 pos2 = first2 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0 || pos1 - offset1 >= range1 || pos2 - offset2 >= range2) return;
  const u64 t4 = pos0 * 7ul;
  const u64 t6 = pos1 * 3ul;
  const u64 t7 = t4 + t6;
  const u64 t8 = t7 + pos2;
  const u32 t9 = (u32)t8;
  // crates/folio-conformance/src/engine/kernels/limits.rs
  if (pos0 - y_p0_low0 < y_p0_size0 && pos1 - y_p0_low1 < y_p0_size1 && pos2 - y_p0_low2 < y_p0_size2) y_p0[(pos0 - y_p0_low0) * y_p0_pitch0 + (pos1 - y_p0_low1) * y_p0_pitch1 + (pos2 - y_p0_low2)] = t9;
  else outside(verdict, 1u, pos0, pos1, pos2, y_p0_shape0, y_p0_shape1, y_p0_shape2);
}
// slots
typedef struct { i32 at[3]; } array_t0;
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_slots(
    const Block block,
    GLOBAL const i32 *RESTRICT at_p0_base,
    GLOBAL array_t0 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 y_p1_low0 = block.words[0];
  const u64 y_p1_size0 = block.words[1];
  const u64 y_p1_shape0 = block.words[2];
  const u64 at_p0_low0 = block.words[3];
  const u64 at_p0_size0 = block.words[4];
  const u64 at_p0_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const i32 *at_p0 = at_p0_base + block.words[9];
  GLOBAL array_t0 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  for (u64 k2 = 0ul; k2 < 3ul; k2++) {
    // crates/folio-conformance/src/engine/kernels/code.rs
    if (pos0 - y_p1_low0 < y_p1_size0 && k2 < 3ul) y_p1[pos0 - y_p1_low0].at[k2] = 1;
    else if (!(pos0 - y_p1_low0 < y_p1_size0)) outside(verdict, 1u, pos0, 0, 0, y_p1_shape0, 0, 0);
    else outside(verdict, 2u, k2, 0, 0, 3ul, 0, 0);
  }
  // crates/folio-conformance/src/engine/kernels/code.rs
  i32 t6 = 0;
  if (pos0 - at_p0_low0 < at_p0_size0) t6 = at_p0[pos0 - at_p0_low0];
  else outside(verdict, 3u, pos0, 0, 0, at_p0_shape0, 0, 0);
  const u64 t7 = (u64)t6;
  if (pos0 - y_p1_low0 < y_p1_size0 && t7 < 3ul) y_p1[pos0 - y_p1_low0].at[t7] = 2;
  else if (!(pos0 - y_p1_low0 < y_p1_size0)) outside(verdict, 4u, pos0, 0, 0, y_p1_shape0, 0, 0);
  else outside(verdict, 5u, t7, 0, 0, 3ul, 0, 0);
}
// softmax
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
FN f32 max_f32(f32 a, f32 b) { return b != b || a > b || (a == b && (BITS_F32(a) >> 31) == 0) ? a : b; }
typedef struct { u64 words[19]; } Block;
ENTRY(256) folio_softmax(
    const Block block,
    GLOBAL const f32 *RESTRICT x_p0_base,
    GLOBAL f32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_shape1 = block.words[0];
  const u64 y_p1_shape1 = block.words[1];
  const u64 x_p0_low0 = block.words[2];
  const u64 x_p0_size0 = block.words[3];
  const u64 x_p0_pitch0 = block.words[4];
  const u64 x_p0_low1 = block.words[5];
  const u64 x_p0_size1 = block.words[6];
  const u64 x_p0_shape0 = block.words[7];
  const u64 y_p1_low0 = block.words[8];
  const u64 y_p1_size0 = block.words[9];
  const u64 y_p1_pitch0 = block.words[10];
  const u64 y_p1_low1 = block.words[11];
  const u64 y_p1_size1 = block.words[12];
  const u64 y_p1_shape0 = block.words[13];
  const u64 first0 = block.words[14];
  const u64 offset0 = block.words[15];
  const u64 range0 = block.words[16];
  GLOBAL const f32 *x_p0 = x_p0_base + block.words[17];
  GLOBAL f32 *y_p1 = y_p1_base + block.words[18];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  f32 l3_v0 = 0.0f;
  f32 l5_v1 = 0.0f;
  // crates/folio-conformance/src/engine/kernels/group_code.rs
  f32 t2 = 0.0f;
  if (pos0 - x_p0_low0 < x_p0_size0 && 0ul - x_p0_low1 < x_p0_size1) t2 = x_p0[(pos0 - x_p0_low0) * x_p0_pitch0 + (0ul - x_p0_low1)];
  else outside(verdict, 1u, pos0, 0ul, 0, x_p0_shape0, x_p0_shape1, 0);
  l3_v0 = t2;
  for (u64 k6 = 1ul; k6 < x_p0_shape1; k6++) {
    const f32 t7 = l3_v0;
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    f32 t8 = 0.0f;
    if (pos0 - x_p0_low0 < x_p0_size0 && k6 - x_p0_low1 < x_p0_size1) t8 = x_p0[(pos0 - x_p0_low0) * x_p0_pitch0 + (k6 - x_p0_low1)];
    else outside(verdict, 2u, pos0, k6, 0, x_p0_shape0, x_p0_shape1, 0);
    const f32 t9 = max_f32(t7, t8);
    l3_v0 = t9;
  }
  l5_v1 = 0.0f;
  for (u64 k12 = 0ul; k12 < x_p0_shape1; k12++) {
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    f32 t13 = 0.0f;
    if (pos0 - x_p0_low0 < x_p0_size0 && k12 - x_p0_low1 < x_p0_size1) t13 = x_p0[(pos0 - x_p0_low0) * x_p0_pitch0 + (k12 - x_p0_low1)];
    else outside(verdict, 3u, pos0, k12, 0, x_p0_shape0, x_p0_shape1, 0);
    const f32 t14 = l3_v0;
    const f32 t15 = t13 - t14;
    const f32 t16 = l5_v1;
    const f32 t17 = t16 + t15;
    l5_v1 = t17;
  }
  for (u64 k21 = 0ul; k21 < y_p1_shape1; k21++) {
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    f32 t22 = 0.0f;
    if (pos0 - x_p0_low0 < x_p0_size0 && k21 - x_p0_low1 < x_p0_size1) t22 = x_p0[(pos0 - x_p0_low0) * x_p0_pitch0 + (k21 - x_p0_low1)];
    else outside(verdict, 4u, pos0, k21, 0, x_p0_shape0, x_p0_shape1, 0);
    const f32 t23 = l3_v0;
    const f32 t24 = t22 - t23;
    const f32 t25 = l5_v1;
    const f32 t26 = t24 / t25;
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    if (pos0 - y_p1_low0 < y_p1_size0 && k21 - y_p1_low1 < y_p1_size1) y_p1[(pos0 - y_p1_low0) * y_p1_pitch0 + (k21 - y_p1_low1)] = t26;
    else outside(verdict, 5u, pos0, k21, 0, y_p1_shape0, y_p1_shape1, 0);
  }
}
// space
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[33]; } Block;
ENTRY(256) folio_space(
    const Block block,
    GLOBAL const f32 *RESTRICT x_p0_base,
    GLOBAL f32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_pitch0 = block.words[2];
  const u64 x_p0_low1 = block.words[3];
  const u64 x_p0_size1 = block.words[4];
  const u64 x_p0_pitch1 = block.words[5];
  const u64 x_p0_low2 = block.words[6];
  const u64 x_p0_size2 = block.words[7];
  const u64 x_p0_shape0 = block.words[8];
  const u64 x_p0_shape1 = block.words[9];
  const u64 x_p0_shape2 = block.words[10];
  const u64 y_p1_low0 = block.words[11];
  const u64 y_p1_size0 = block.words[12];
  const u64 y_p1_pitch0 = block.words[13];
  const u64 y_p1_low1 = block.words[14];
  const u64 y_p1_size1 = block.words[15];
  const u64 y_p1_pitch1 = block.words[16];
  const u64 y_p1_low2 = block.words[17];
  const u64 y_p1_size2 = block.words[18];
  const u64 y_p1_shape0 = block.words[19];
  const u64 y_p1_shape1 = block.words[20];
  const u64 y_p1_shape2 = block.words[21];
  const u64 first0 = block.words[22];
  const u64 offset0 = block.words[23];
  const u64 range0 = block.words[24];
  const u64 first1 = block.words[25];
  const u64 offset1 = block.words[26];
  const u64 range1 = block.words[27];
  const u64 first2 = block.words[28];
  const u64 offset2 = block.words[29];
  const u64 range2 = block.words[30];
  GLOBAL const f32 *x_p0 = x_p0_base + block.words[31];
  GLOBAL f32 *y_p1 = y_p1_base + block.words[32];
  const u64 pos0 = first0 + (u64)get_group_id(2) * get_local_size(2) + get_local_id(2);
  const u64 pos1 = first1 + (u64)get_group_id(1) * get_local_size(1) + get_local_id(1);
  const u64 pos2 = first2 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0 || pos1 - offset1 >= range1 || pos2 - offset2 >= range2) return;
  // crates/folio-conformance/src/engine/kernels/borders.rs
  f32 t3 = 0.0f;
  if (pos0 - x_p0_low0 < x_p0_size0 && pos1 - x_p0_low1 < x_p0_size1 && pos2 - x_p0_low2 < x_p0_size2) t3 = x_p0[(pos0 - x_p0_low0) * x_p0_pitch0 + (pos1 - x_p0_low1) * x_p0_pitch1 + (pos2 - x_p0_low2)];
  else outside(verdict, 1u, pos0, pos1, pos2, x_p0_shape0, x_p0_shape1, x_p0_shape2);
  const f32 t4 = -t3;
  // crates/folio-conformance/src/engine/kernels/borders.rs
  if (pos0 - y_p1_low0 < y_p1_size0 && pos1 - y_p1_low1 < y_p1_size1 && pos2 - y_p1_low2 < y_p1_size2) y_p1[(pos0 - y_p1_low0) * y_p1_pitch0 + (pos1 - y_p1_low1) * y_p1_pitch1 + (pos2 - y_p1_low2)] = t4;
  else outside(verdict, 2u, pos0, pos1, pos2, y_p1_shape0, y_p1_shape1, y_p1_shape2);
}
// spoken
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
FN u64 sat_add_u64(u64 a, u64 b) { return a + b < a ? ~(u64)0 : a + b; }
FN i32 rem_i32(i32 a, i32 b) { return b == -1 ? 0 : (i32)(a % b); }
FN u32 gap_of(u32 n) { u32 s = 1; while (s < n) s <<= 1; return s >> 1; }
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_spoken(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p1_base,
    GLOBAL i32 *RESTRICT y_p3_base,
    GLOBAL Record *verdict,
    LOCAL u64 *scratch) {
  const u64 x_p1_low0 = block.words[0];
  const u64 x_p1_size0 = block.words[1];
  const u64 x_p1_shape0 = block.words[2];
  const u64 y_p3_low0 = block.words[3];
  const u64 y_p3_size0 = block.words[4];
  const u64 y_p3_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  GLOBAL const i32 *x_p1 = x_p1_base + block.words[9];
  GLOBAL i32 *y_p3 = y_p3_base + block.words[10];
  const u32 turns_p0 = (u32)block.words[8];
  const u64 size0 = get_local_size(0);
  const u64 local0 = get_local_id(0);
  const u64 group0 = first0 + get_group_id(0);
  const u64 pos0 = offset0 + group0 * size0 + local0;
  const u32 thread = (u32)(get_local_id(0));
  const u32 threads = (u32)(get_local_size(0));
  SHARED i32 tile_p2[8];
  for (u32 k = thread; k < 8u; k += threads) {
    const i32 zero = 0;
    tile_p2[k] = zero;
  }
  BARRIER;
  u32 l5_v0 = 0u;
  i32 private_v1 = 0;
  i32 if_v2 = 0;
  i32 collected_v3 = 0;
  i32 least_v4 = 0;
  i32 if_v5 = 0;
  i32 if_v6 = 0;
  i32 if_v7 = 0;
  l5_v0 = turns_p0;
  {
    private_v1 = 0;
  }
  for (u64 turn0 = 0; turn0 >> 63 == 0; turn0++) {
    {
      // crates/folio-conformance/src/engine/kernels/group_code.rs
      i32 t3 = 0;
      if (pos0 - x_p1_low0 < x_p1_size0) t3 = x_p1[pos0 - x_p1_low0];
      else outside(verdict, 1u, pos0, 0, 0, x_p1_shape0, 0, 0);
      const u32 t4 = l5_v0;
      const i32 t5 = (i32)t4;
      const i32 t6 = (i32)((u32)t3 + (u32)t5);
      // crates/folio-conformance/src/engine/kernels/group_code.rs
      if (local0 < 8ul) tile_p2[local0] = t6;
      else outside(verdict, 2u, local0, 0, 0, 8ul, 0, 0);
    }
    BARRIER;
    const u64 t13 = 5ul - 0ul;
    const u64 t16 = t13 - 1ul;
    const u64 t17 = (2ul > 1ul ? 2ul : 1ul);
    if (t17 == 0) fail(verdict, 3u);
    const u64 t18 = t17 == 0 ? 0 : (u64)(t16 / t17);
    const u64 t19 = sat_add_u64(t18, 1ul);
    const bool t20 = 0ul < 5ul;
    const bool t21 = 2ul != 0ul;
    const bool t22 = (t20 && t21);
    const u64 t23 = t22 ? t19 : 0ul;
    for (u64 k24 = 0ul; k24 < t23; k24++) {
      const u64 t25 = k24 * 2ul;
      const u64 t27 = 5ul - 1ul;
      const u64 t28 = t27 - t25;
      const bool t30 = t28 == 4ul;
      if (t30) {
        continue;
      } else {
        const bool t32 = t28 == 0ul;
        if (t32) {
          break;
        }
      }
      {
        LOCAL i32 *all = (LOCAL i32 *)scratch;
        {
          // crates/folio-conformance/src/engine/kernels/group_code.rs
          i32 t34 = 0;
          if (pos0 - x_p1_low0 < x_p1_size0) t34 = x_p1[pos0 - x_p1_low0];
          else outside(verdict, 4u, pos0, 0, 0, x_p1_shape0, 0, 0);
          const bool t36 = t34 >= (-8 - 1);
          const bool t38 = t34 <= 9;
          const bool t39 = (t36 && t38);
          if (t39) {
            // crates/folio-conformance/src/engine/kernels/group_code.rs
            i32 t40 = 0;
            if (pos0 - x_p1_low0 < x_p1_size0) t40 = x_p1[pos0 - x_p1_low0];
            else outside(verdict, 5u, pos0, 0, 0, x_p1_shape0, 0, 0);
            if_v2 = t40;
          } else {
            // crates/folio-conformance/src/engine/kernels/group_code.rs
            const i32 t42 = rem_i32(t34, 10);
            if_v2 = t42;
          }
          const i32 t43 = if_v2;
          all[thread] = t43;
        }
        BARRIER;
        for (u32 gap = gap_of(threads); gap > 0u; gap >>= 1) {
          if (thread < gap && thread + gap < threads) all[thread] = (i32)((u32)all[thread] + (u32)all[thread + gap]);
          BARRIER;
        }
        collected_v3 = all[0];
        BARRIER;
      }
      const i32 t44 = collected_v3;
      {
        // crates/folio-conformance/src/engine/kernels/group_code.rs
        const i32 t46 = tile_p2[0ul];
        // crates/folio-conformance/src/engine/kernels/group_code.rs
        i32 t48 = 0;
        if (local0 < 8ul) t48 = tile_p2[local0];
        else outside(verdict, 6u, local0, 0, 0, 8ul, 0, 0);
        {
          const bool t50 = t48 > (-999999 - 1);
          // crates/folio-conformance/src/engine/kernels/group_code.rs
          if (!t50) {
            fail(verdict, 7u);
            goto phase4;
          }
          const bool t51 = t46 < t48;
          const bool t54 = t51 == true;
          if (t54) {
            if_v5 = t46;
          } else {
            if_v5 = t48;
          }
          // crates/folio-conformance/src/engine/kernels/group_code.rs
          const i32 t55 = if_v5;
          least_v4 = t55;
        }
        const i32 t56 = least_v4;
        {
          const u64 t61 = (u64)1;
          const u64 t62 = (u64)7;
          const u64 t63 = t62 - t61;
          const u64 t66 = (3ul > 1ul ? 3ul : 1ul);
          if (t66 == 0) fail(verdict, 8u);
          const u64 t67 = t66 == 0 ? 0 : (u64)(t63 / t66);
          const u64 t68 = sat_add_u64(t67, 1ul);
          const bool t69 = 1 <= 7;
          const bool t70 = 3ul != 0ul;
          const bool t71 = (t69 && t70);
          const u64 t72 = t71 ? t68 : 0ul;
          for (u64 k73 = 0ul; k73 < t72; k73++) {
            const u64 t74 = k73 * 3ul;
            const i32 t75 = (i32)t74;
            const i32 t76 = (i32)((u32)1 + (u32)t75);
            const bool t77 = t56 < t76;
            if (t77) {
              if_v6 = t76;
              goto end3;
            }
          }
          if_v6 = t44;
        }
        end3: ;
        // crates/folio-conformance/src/engine/kernels/group_code.rs
        const i32 t78 = if_v6;
        const i32 t79 = (i32)t28;
        const i32 t80 = (i32)((u32)t78 + (u32)t79);
        // crates/folio-conformance/src/engine/kernels/group_code.rs
        const i32 t81 = private_v1;
        const i32 t82 = (i32)((u32)t81 + (u32)t80);
        private_v1 = t82;
      }
      phase4: ;
      BARRIER;
    }
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    const u32 t84 = l5_v0;
    const u32 t85 = t84 - 1u;
    l5_v0 = t85;
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    const u32 t86 = l5_v0;
    const bool t88 = t86 == 0u;
    if (t88) {
      const i32 t90 = (i32)group0;
      if_v7 = t90;
      break;
    }
  }
  // crates/folio-conformance/src/engine/kernels/group_code.rs
  const i32 t91 = if_v7;
  {
    const i32 t92 = private_v1;
    const i32 t94 = (i32)((u32)t92 * (u32)100);
    const i32 t95 = (i32)((u32)t94 + (u32)t91);
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    if (pos0 - y_p3_low0 < y_p3_size0) y_p3[pos0 - y_p3_low0] = t95;
    else outside(verdict, 9u, pos0, 0, 0, y_p3_shape0, 0, 0);
  }
  BARRIER;
}
// stamped_line
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[7]; } Block;
ENTRY(256) folio_stamped_line(
    const Block block,
    GLOBAL u32 *RESTRICT y_p0_base,
    GLOBAL Record *verdict) {
  const u64 y_p0_low0 = block.words[0];
  const u64 y_p0_size0 = block.words[1];
  const u64 y_p0_shape0 = block.words[2];
  const u64 first0 = block.words[3];
  const u64 offset0 = block.words[4];
  const u64 range0 = block.words[5];
  GLOBAL u32 *y_p0 = y_p0_base + block.words[6];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/code.rs
  const u64 t2 = (u64)(pos0 % 7ul);
  const bool t4 = t2 == 0ul;
  if (t4) {
    return;
  }
  // crates/folio-conformance/src/engine/kernels/code.rs
  u32 t5 = 0u;
  if (pos0 - y_p0_low0 < y_p0_size0) t5 = y_p0[pos0 - y_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, y_p0_shape0, 0, 0);
  const u32 t7 = t5 * 3u;
  const u32 t8 = (u32)pos0;
  const u32 t9 = t7 + t8;
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (pos0 - y_p0_low0 < y_p0_size0) y_p0[pos0 - y_p0_low0] = t9;
  else outside(verdict, 2u, pos0, 0, 0, y_p0_shape0, 0, 0);
}
// stamped_plane
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[14]; } Block;
ENTRY(256) folio_stamped_plane(
    const Block block,
    GLOBAL u32 *RESTRICT y_p0_base,
    GLOBAL Record *verdict) {
  const u64 y_p0_low0 = block.words[0];
  const u64 y_p0_size0 = block.words[1];
  const u64 y_p0_pitch0 = block.words[2];
  const u64 y_p0_low1 = block.words[3];
  const u64 y_p0_size1 = block.words[4];
  const u64 y_p0_shape0 = block.words[5];
  const u64 y_p0_shape1 = block.words[6];
  const u64 first0 = block.words[7];
  const u64 offset0 = block.words[8];
  const u64 range0 = block.words[9];
  const u64 first1 = block.words[10];
  const u64 offset1 = block.words[11];
  const u64 range1 = block.words[12];
  GLOBAL u32 *y_p0 = y_p0_base + block.words[13];
  const u64 pos0 = first0 + (u64)get_group_id(1) * get_local_size(1) + get_local_id(1);
  const u64 pos1 = first1 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0 || pos1 - offset1 >= range1) return;
  // crates/folio-conformance/src/engine/kernels/code.rs
  const u64 t3 = (u64)(pos1 % 7ul);
  const bool t5 = t3 == 0ul;
  if (t5) {
    return;
  }
  // crates/folio-conformance/src/engine/kernels/code.rs
  u32 t6 = 0u;
  if (pos0 - y_p0_low0 < y_p0_size0 && pos1 - y_p0_low1 < y_p0_size1) t6 = y_p0[(pos0 - y_p0_low0) * y_p0_pitch0 + (pos1 - y_p0_low1)];
  else outside(verdict, 1u, pos0, pos1, 0, y_p0_shape0, y_p0_shape1, 0);
  const u32 t8 = t6 * 3u;
  const u64 t10 = pos0 * 5000ul;
  const u64 t11 = t10 + pos1;
  const u32 t12 = (u32)t11;
  const u32 t13 = t8 + t12;
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (pos0 - y_p0_low0 < y_p0_size0 && pos1 - y_p0_low1 < y_p0_size1) y_p0[(pos0 - y_p0_low0) * y_p0_pitch0 + (pos1 - y_p0_low1)] = t13;
  else outside(verdict, 2u, pos0, pos1, 0, y_p0_shape0, y_p0_shape1, 0);
}
// stamped_space
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[21]; } Block;
ENTRY(256) folio_stamped_space(
    const Block block,
    GLOBAL u32 *RESTRICT y_p0_base,
    GLOBAL Record *verdict) {
  const u64 y_p0_low0 = block.words[0];
  const u64 y_p0_size0 = block.words[1];
  const u64 y_p0_pitch0 = block.words[2];
  const u64 y_p0_low1 = block.words[3];
  const u64 y_p0_size1 = block.words[4];
  const u64 y_p0_pitch1 = block.words[5];
  const u64 y_p0_low2 = block.words[6];
  const u64 y_p0_size2 = block.words[7];
  const u64 y_p0_shape0 = block.words[8];
  const u64 y_p0_shape1 = block.words[9];
  const u64 y_p0_shape2 = block.words[10];
  const u64 first0 = block.words[11];
  const u64 offset0 = block.words[12];
  const u64 range0 = block.words[13];
  const u64 first1 = block.words[14];
  const u64 offset1 = block.words[15];
  const u64 range1 = block.words[16];
  const u64 first2 = block.words[17];
  const u64 offset2 = block.words[18];
  const u64 range2 = block.words[19];
  GLOBAL u32 *y_p0 = y_p0_base + block.words[20];
  const u64 pos0 = first0 + (u64)get_group_id(2) * get_local_size(2) + get_local_id(2);
  const u64 pos1 = first1 + (u64)get_group_id(1) * get_local_size(1) + get_local_id(1);
  const u64 pos2 = first2 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0 || pos1 - offset1 >= range1 || pos2 - offset2 >= range2) return;
  // crates/folio-conformance/src/engine/kernels/code.rs
  const u64 t4 = (u64)(pos2 % 7ul);
  const bool t6 = t4 == 0ul;
  if (t6) {
    return;
  }
  // crates/folio-conformance/src/engine/kernels/code.rs
  u32 t7 = 0u;
  if (pos0 - y_p0_low0 < y_p0_size0 && pos1 - y_p0_low1 < y_p0_size1 && pos2 - y_p0_low2 < y_p0_size2) t7 = y_p0[(pos0 - y_p0_low0) * y_p0_pitch0 + (pos1 - y_p0_low1) * y_p0_pitch1 + (pos2 - y_p0_low2)];
  else outside(verdict, 1u, pos0, pos1, pos2, y_p0_shape0, y_p0_shape1, y_p0_shape2);
  const u32 t9 = t7 * 3u;
  const u64 t11 = pos0 * 4ul;
  const u64 t12 = t11 + pos1;
  const u64 t14 = t12 * 5000ul;
  const u64 t15 = t14 + pos2;
  const u32 t16 = (u32)t15;
  const u32 t17 = t9 + t16;
  // crates/folio-conformance/src/engine/kernels/code.rs
  if (pos0 - y_p0_low0 < y_p0_size0 && pos1 - y_p0_low1 < y_p0_size1 && pos2 - y_p0_low2 < y_p0_size2) y_p0[(pos0 - y_p0_low0) * y_p0_pitch0 + (pos1 - y_p0_low1) * y_p0_pitch1 + (pos2 - y_p0_low2)] = t17;
  else outside(verdict, 2u, pos0, pos1, pos2, y_p0_shape0, y_p0_shape1, y_p0_shape2);
}
// statistics
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[16]; } Block;
ENTRY(256) folio_statistics(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL i32 *RESTRICT least_p1_base,
    GLOBAL u64 *RESTRICT odd_p2_base,
    GLOBAL f64 *RESTRICT all_p3_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_pitch0 = block.words[2];
  const u64 x_p0_low1 = block.words[3];
  const u64 x_p0_size1 = block.words[4];
  const u64 x_p0_shape0 = block.words[5];
  const u64 x_p0_shape1 = block.words[6];
  const u64 offset1 = block.words[7];
  const u64 range1 = block.words[8];
  const u64 offset0 = block.words[9];
  const u64 first_block = block.words[10];
  const u64 range0 = block.words[11];
  GLOBAL const i32 *x_p0 = x_p0_base + block.words[12];
  GLOBAL i32 *least_p1 = least_p1_base + block.words[13];
  GLOBAL u64 *odd_p2 = odd_p2_base + block.words[14];
  GLOBAL f64 *all_p3 = all_p3_base + block.words[15];
  SHARED i32 least_p1_lanes[256];
  SHARED u64 odd_p2_lanes[256];
  SHARED f64 all_p3_lanes[256];
  const u64 items = range0 * range1;
  const u64 number = first_block + get_group_id(0);
  const u64 from = number * 4096;
  const u64 count = items - from;
  const u32 thread = (u32)(get_local_id(1) * get_local_size(0) + get_local_id(0));
  const u32 threads = (u32)(get_local_size(1) * get_local_size(0));
  const u32 end = count < 4096 ? (u32)count : 4096u;
  for (u32 lane = thread; lane < 256u && lane < end; lane += threads) {
    i32 least_p1_lane = 2147483647;
    u64 odd_p2_lane = 0ul;
    f64 all_p3_lane = 1.0;
    for (u32 turn = lane; turn < end; turn += 256u) {
      u64 rest = from + turn;
      const u64 pos1 = offset1 + rest % range1;
      rest /= range1;
      const u64 pos0 = offset0 + rest;
      i32 least_p1_own = 2147483647;
      u64 odd_p2_own = 0ul;
      f64 all_p3_own = 1.0;
      {
      // crates/folio-conformance/src/engine/kernels/group_code.rs
      i32 t2 = 0;
      if (pos0 - x_p0_low0 < x_p0_size0 && pos1 - x_p0_low1 < x_p0_size1) t2 = x_p0[(pos0 - x_p0_low0) * x_p0_pitch0 + (pos1 - x_p0_low1)];
      else outside(verdict, 1u, pos0, pos1, 0, x_p0_shape0, x_p0_shape1, 0);
      least_p1_own = (least_p1_own < t2 ? least_p1_own : t2);
      // crates/folio-conformance/src/engine/kernels/group_code.rs
      i32 t3 = 0;
      if (pos0 - x_p0_low0 < x_p0_size0 && pos1 - x_p0_low1 < x_p0_size1) t3 = x_p0[(pos0 - x_p0_low0) * x_p0_pitch0 + (pos1 - x_p0_low1)];
      else outside(verdict, 2u, pos0, pos1, 0, x_p0_shape0, x_p0_shape1, 0);
      const i32 t5 = (i32)((u32)t3 & (u32)1);
      const bool t7 = t5 == 1;
      if (t7) {
        odd_p2_own = odd_p2_own + 1ul;
        odd_p2_own = odd_p2_own + 2ul;
      }
      // crates/folio-conformance/src/engine/kernels/group_code.rs
      i32 t11 = 0;
      if (pos0 - x_p0_low0 < x_p0_size0 && pos1 - x_p0_low1 < x_p0_size1) t11 = x_p0[(pos0 - x_p0_low0) * x_p0_pitch0 + (pos1 - x_p0_low1)];
      else outside(verdict, 3u, pos0, pos1, 0, x_p0_shape0, x_p0_shape1, 0);
      const f64 t12 = (f64)t11;
      const f64 t14 = t12 / 4294967296.0;
      const f64 t15 = 1.0 + t14;
      all_p3_own = all_p3_own * t15;
      }
      least_p1_lane = (least_p1_lane < least_p1_own ? least_p1_lane : least_p1_own);
      odd_p2_lane = odd_p2_lane + odd_p2_own;
      all_p3_lane = all_p3_lane * all_p3_own;
    }
    least_p1_lanes[lane] = least_p1_lane;
    odd_p2_lanes[lane] = odd_p2_lane;
    all_p3_lanes[lane] = all_p3_lane;
  }
  BARRIER;
  for (u32 gap = 128u; gap > 0u; gap >>= 1) {
    for (u32 lane = thread; lane < gap && lane + gap < end; lane += threads) {
      least_p1_lanes[lane] = (least_p1_lanes[lane] < least_p1_lanes[lane + gap] ? least_p1_lanes[lane] : least_p1_lanes[lane + gap]);
    }
    BARRIER;
  }
  if (thread == 0u) least_p1[number] = least_p1_lanes[0];
  BARRIER;
  for (u32 gap = 128u; gap > 0u; gap >>= 1) {
    for (u32 lane = thread; lane < gap && lane + gap < end; lane += threads) {
      odd_p2_lanes[lane] = odd_p2_lanes[lane] + odd_p2_lanes[lane + gap];
    }
    BARRIER;
  }
  if (thread == 0u) odd_p2[number] = odd_p2_lanes[0];
  BARRIER;
  for (u32 gap = 128u; gap > 0u; gap >>= 1) {
    for (u32 lane = thread; lane < gap && lane + gap < end; lane += threads) {
      all_p3_lanes[lane] = all_p3_lanes[lane] * all_p3_lanes[lane + gap];
    }
    BARRIER;
  }
  if (thread == 0u) all_p3[number] = all_p3_lanes[0];
}
ENTRY(256) folio_statistics_finish_p1(
    GLOBAL const i32 *RESTRICT in,
    GLOBAL i32 *RESTRICT out,
    const u64 values,
    const u64 place) {
  SHARED i32 lanes[256];
  const u64 from = (u64)get_group_id(0) * 4096;
  const u64 count = values - from;
  const u32 thread = (u32)get_local_id(0);
  const u32 threads = (u32)get_local_size(0);
  const u32 end = count < 4096 ? (u32)count : 4096u;
  for (u32 lane = thread; lane < 256u && lane < end; lane += threads) {
    i32 sum = in[from + lane];
    for (u32 turn = lane + 256u; turn < end; turn += 256u) {
      sum = (sum < in[from + turn] ? sum : in[from + turn]);
    }
    lanes[lane] = sum;
  }
  BARRIER;
  for (u32 gap = 128u; gap > 0u; gap >>= 1) {
    for (u32 lane = thread; lane < gap && lane + gap < end; lane += threads) {
      lanes[lane] = (lanes[lane] < lanes[lane + gap] ? lanes[lane] : lanes[lane + gap]);
    }
    BARRIER;
  }
  if (thread == 0u) out[place + (u64)get_group_id(0)] = lanes[0];
}
ENTRY(256) folio_statistics_finish_p2(
    GLOBAL const u64 *RESTRICT in,
    GLOBAL u64 *RESTRICT out,
    const u64 values,
    const u64 place) {
  SHARED u64 lanes[256];
  const u64 from = (u64)get_group_id(0) * 4096;
  const u64 count = values - from;
  const u32 thread = (u32)get_local_id(0);
  const u32 threads = (u32)get_local_size(0);
  const u32 end = count < 4096 ? (u32)count : 4096u;
  for (u32 lane = thread; lane < 256u && lane < end; lane += threads) {
    u64 sum = in[from + lane];
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
ENTRY(256) folio_statistics_finish_p3(
    GLOBAL const f64 *RESTRICT in,
    GLOBAL f64 *RESTRICT out,
    const u64 values,
    const u64 place) {
  SHARED f64 lanes[256];
  const u64 from = (u64)get_group_id(0) * 4096;
  const u64 count = values - from;
  const u32 thread = (u32)get_local_id(0);
  const u32 threads = (u32)get_local_size(0);
  const u32 end = count < 4096 ? (u32)count : 4096u;
  for (u32 lane = thread; lane < 256u && lane < end; lane += threads) {
    f64 sum = in[from + lane];
    for (u32 turn = lane + 256u; turn < end; turn += 256u) {
      sum = sum * in[from + turn];
    }
    lanes[lane] = sum;
  }
  BARRIER;
  for (u32 gap = 128u; gap > 0u; gap >>= 1) {
    for (u32 lane = thread; lane < gap && lane + gap < end; lane += threads) {
      lanes[lane] = lanes[lane] * lanes[lane + gap];
    }
    BARRIER;
  }
  if (thread == 0u) out[place + (u64)get_group_id(0)] = lanes[0];
}
// stencil
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
// stores
typedef struct { i32 at[3]; } array_t0;
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_stores(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL i32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const i32 *x_p0 = x_p0_base + block.words[9];
  GLOBAL i32 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  array_t0 l3_v0 = { { 0 } };
  const array_t0 t3 = { { 1, 2, 3 } };
  l3_v0 = t3;
  // crates/folio-conformance/src/engine/kernels/rare.rs
  i32 t6 = 0;
  if (pos0 - x_p0_low0 < x_p0_size0) t6 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const u64 t7 = (u64)t6;
  if (t7 < 3ul) l3_v0.at[t7] = 9;
  else outside(verdict, 2u, t7, 0, 0, 3ul, 0, 0);
  // crates/folio-conformance/src/engine/kernels/rare.rs
  const i32 t9 = l3_v0.at[0ul];
  // crates/folio-conformance/src/engine/kernels/rare.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t9;
  else outside(verdict, 3u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// subgroups
typedef struct { u32 at[10]; } array_t0;
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[14]; } Block;
ENTRY(256) folio_subgroups(
    const Block block,
    GLOBAL const u32 *RESTRICT x_p0_base,
    GLOBAL array_t0 *RESTRICT y_p1_base,
    GLOBAL f32 *RESTRICT halves_p2_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 halves_p2_low0 = block.words[3];
  const u64 halves_p2_size0 = block.words[4];
  const u64 halves_p2_shape0 = block.words[5];
  const u64 y_p1_low0 = block.words[6];
  const u64 y_p1_size0 = block.words[7];
  const u64 y_p1_shape0 = block.words[8];
  const u64 first0 = block.words[9];
  const u64 offset0 = block.words[10];
  GLOBAL const u32 *x_p0 = x_p0_base + block.words[11];
  GLOBAL array_t0 *y_p1 = y_p1_base + block.words[12];
  GLOBAL f32 *halves_p2 = halves_p2_base + block.words[13];
  const u64 size0 = get_local_size(0);
  const u64 local0 = get_local_id(0);
  const u64 group0 = first0 + get_group_id(0);
  const u64 pos0 = offset0 + group0 * size0 + local0;
  const u32 thread = (u32)(get_local_id(0));
  const u64 lane = 0;
  const u64 subgroup = thread;
  const u64 subgroup_size = 1;
  {
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    u32 t2 = 0u;
    if (pos0 - x_p0_low0 < x_p0_size0) t2 = x_p0[pos0 - x_p0_low0];
    else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    const u32 t7 = (u32)(t2 % 7u);
    const bool t9 = t7 == 0u;
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    const u32 t12 = (u32)(t2 % 7u);
    const bool t14 = t12 != 0u;
    const f32 t20 = (f32)t2;
    const f32 t22 = t20 / 2.0f;
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    if (pos0 - halves_p2_low0 < halves_p2_size0) halves_p2[pos0 - halves_p2_low0] = t22;
    else outside(verdict, 2u, pos0, 0, 0, halves_p2_shape0, 0, 0);
    const u32 t26 = (u32)subgroup;
    const u32 t28 = (u32)lane;
    const u32 t29 = (u32)t9;
    const u32 t30 = (u32)t14;
    const u32 t31 = (u32)subgroup_size;
    const array_t0 t32 = { { t31, t26, t28, t2, t2, 0u, t29, t30, t2, t2 } };
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t32;
    else outside(verdict, 3u, pos0, 0, 0, y_p1_shape0, 0, 0);
  }
  BARRIER;
}
// sums_of_rests
typedef struct { i32 of_f0; } Rest_t0;
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
FN i32 div_i32(i32 a, i32 b) { return b == -1 ? (i32)((u32)0 - (u32)a) : (i32)(a / b); }
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_sums_of_rests(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL i32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const i32 *x_p0 = x_p0_base + block.words[9];
  GLOBAL i32 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  Rest_t0 add_v0 = { 0 };
  const Rest_t0 t1 = { 3 };
  // crates/folio-conformance/src/engine/kernels/language.rs
  i32 t3 = 0;
  if (pos0 - x_p0_low0 < x_p0_size0) t3 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const Rest_t0 t4 = { t3 };
  {
    const i32 t5 = t1.of_f0;
    const i32 t7 = t4.of_f0;
    // crates/folio-conformance/src/engine/kernels/language.rs
    if (t7 == 0) fail(verdict, 2u);
    const i32 t8 = t7 == 0 ? 0 : div_i32(100, t7);
    const i32 t9 = (i32)((u32)t5 + (u32)t8);
    const Rest_t0 t10 = { t9 };
    add_v0 = t10;
  }
  // crates/folio-conformance/src/engine/kernels/language.rs
  const Rest_t0 t11 = add_v0;
  const i32 t12 = t11.of_f0;
  // crates/folio-conformance/src/engine/kernels/language.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t12;
  else outside(verdict, 3u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// tan_of
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_tan_of(
    const Block block,
    GLOBAL const f32 *RESTRICT x_p0_base,
    GLOBAL f32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
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
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f32 t1 = 0.0f;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const f32 t2 = tan(t1);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t2;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// tan_of
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_tan_of(
    const Block block,
    GLOBAL const f64 *RESTRICT x_p0_base,
    GLOBAL f64 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const f64 *x_p0 = x_p0_base + block.words[9];
  GLOBAL f64 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f64 t1 = 0.0;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const f64 t2 = tan(t1);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t2;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// tanh_of
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
#ifdef POCL_DEVICE_ADDRESS_BITS
#define OR_NAN(of, nan, x) ((of) != (of) ? (nan) : (x))
#else
#define OR_NAN(of, nan, x) x
#endif
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_tanh_of(
    const Block block,
    GLOBAL const f32 *RESTRICT x_p0_base,
    GLOBAL f32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
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
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f32 t1 = 0.0f;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const f32 t2 = (fabs(t1) > 20.0f ? copysign(1.0f, t1) : OR_NAN(t1, t1, tanh(t1)));
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t2;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// tanh_of
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
#ifdef POCL_DEVICE_ADDRESS_BITS
#define OR_NAN(of, nan, x) ((of) != (of) ? (nan) : (x))
#else
#define OR_NAN(of, nan, x) x
#endif
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_tanh_of(
    const Block block,
    GLOBAL const f64 *RESTRICT x_p0_base,
    GLOBAL f64 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const f64 *x_p0 = x_p0_base + block.words[9];
  GLOBAL f64 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f64 t1 = 0.0;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const f64 t2 = (fabs(t1) > 20.0 ? copysign(1.0, t1) : OR_NAN(t1, t1, tanh(t1)));
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t2;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// to_the_last
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
FN u64 sat_add_u64(u64 a, u64 b) { return a + b < a ? ~(u64)0 : a + b; }
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_to_the_last(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL i32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const i32 *x_p0 = x_p0_base + block.words[9];
  GLOBAL i32 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  i32 l4_v0 = 0;
  i32 l5_v1 = 0;
  // crates/folio-conformance/src/engine/kernels/language.rs
  i32 t1 = 0;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const u32 t2 = (u32)t1;
  const u64 t3 = (u64)t2;
  const u64 t5 = (u64)(t3 % 9ul);
  l4_v0 = 0;
  l5_v1 = 0;
  const u64 t11 = 18446744073709551615ul - 0ul;
  const u64 t14 = sat_add_u64(t11, 1ul);
  const bool t15 = 0ul <= 18446744073709551615ul;
  const u64 t16 = t15 ? t14 : 0ul;
  for (u64 k17 = 0ul; k17 < t16; k17++) {
    const u64 t18 = 0ul + k17;
    const bool t19 = t18 > t5;
    if (t19) {
      break;
    }
    const i32 t20 = (i32)t18;
    // crates/folio-conformance/src/engine/kernels/language.rs
    const i32 t21 = l4_v0;
    const i32 t22 = (i32)((u32)t21 + (u32)t20);
    l4_v0 = t22;
  }
  const u64 t26 = (u64)(-9223372036854775807l - 1l);
  const u64 t27 = (u64)9223372036854775807l;
  const u64 t28 = t27 - t26;
  const u64 t31 = sat_add_u64(t28, 1ul);
  const bool t32 = (-9223372036854775807l - 1l) <= 9223372036854775807l;
  const u64 t33 = t32 ? t31 : 0ul;
  for (u64 k34 = 0ul; k34 < t33; k34++) {
    const i64 t35 = (i64)k34;
    const i64 t36 = (i64)((u64)9223372036854775807l - (u64)t35);
    // crates/folio-conformance/src/engine/kernels/language.rs
    const i32 t38 = l5_v1;
    const i32 t39 = (i32)((u32)t38 + (u32)1);
    l5_v1 = t39;
    const i64 t40 = (i64)t5;
    const i64 t41 = (i64)((u64)t36 + (u64)t40);
    const bool t43 = t41 == 9223372036854775807l;
    if (t43) {
      break;
    }
  }
  const u64 t47 = 18446744073709551615ul - t5;
  const u64 t50 = (1ul > 1ul ? 1ul : 1ul);
  // crates/folio-conformance/src/engine/kernels/language.rs
  if (t50 == 0) fail(verdict, 2u);
  const u64 t51 = t50 == 0 ? 0 : (u64)(t47 / t50);
  const u64 t52 = sat_add_u64(t51, 1ul);
  const bool t53 = t5 <= 18446744073709551615ul;
  const bool t54 = 1ul != 0ul;
  const bool t55 = (t53 && t54);
  const u64 t56 = t55 ? t52 : 0ul;
  for (u64 k57 = 0ul; k57 < t56; k57++) {
    const u64 t58 = k57 * 1ul;
    const u64 t59 = t5 + t58;
    const bool t61 = t59 > 12ul;
    if (t61) {
      break;
    }
    const i32 t63 = (i32)t59;
    const i32 t64 = (i32)((u32)100 * (u32)t63);
    // crates/folio-conformance/src/engine/kernels/language.rs
    const i32 t65 = l4_v0;
    const i32 t66 = (i32)((u32)t65 + (u32)t64);
    l4_v0 = t66;
  }
  const u64 t68 = 18446744073709551615ul - t5;
  const u64 t71 = 18446744073709551615ul - t68;
  const u64 t74 = sat_add_u64(t71, 1ul);
  const bool t75 = t68 <= 18446744073709551615ul;
  const u64 t76 = t75 ? t74 : 0ul;
  for (u64 k77 = 0ul; k77 < t76; k77++) {
    const u64 t78 = t68 + k77;
    const u64 t80 = t78 & 1ul;
    const i32 t81 = (i32)t80;
    // crates/folio-conformance/src/engine/kernels/language.rs
    const i32 t82 = l5_v1;
    const i32 t83 = (i32)((u32)t82 + (u32)t81);
    l5_v1 = t83;
  }
  // crates/folio-conformance/src/engine/kernels/language.rs
  const i32 t84 = l4_v0;
  const i32 t86 = (i32)((u32)t84 * (u32)20);
  // crates/folio-conformance/src/engine/kernels/language.rs
  const i32 t87 = l5_v1;
  const i32 t88 = (i32)((u32)t86 + (u32)t87);
  // crates/folio-conformance/src/engine/kernels/language.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t88;
  else outside(verdict, 3u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// too_far
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[6]; } Block;
ENTRY(256) folio_too_far(
    const Block block,
    GLOBAL i32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 y_p1_low0 = block.words[0];
  const u64 y_p1_size0 = block.words[1];
  const u64 y_p1_shape0 = block.words[2];
  const u64 first0 = block.words[3];
  const u64 offset0 = block.words[4];
  GLOBAL i32 *y_p1 = y_p1_base + block.words[5];
  const u64 size0 = get_local_size(0);
  const u64 local0 = get_local_id(0);
  const u64 group0 = first0 + get_group_id(0);
  const u64 pos0 = offset0 + group0 * size0 + local0;
  const u32 thread = (u32)(get_local_id(0));
  const u32 threads = (u32)(get_local_size(0));
  SHARED i32 tile_p0[8];
  for (u32 k = thread; k < 8u; k += threads) {
    const i32 zero = 0;
    tile_p0[k] = zero;
  }
  BARRIER;
  {
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    if (local0 < 8ul) tile_p0[local0] = 1;
    else outside(verdict, 1u, local0, 0, 0, 8ul, 0, 0);
  }
  BARRIER;
  {
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    i32 t4 = 0;
    if (local0 < 8ul) t4 = tile_p0[local0];
    else outside(verdict, 2u, local0, 0, 0, 8ul, 0, 0);
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t4;
    else outside(verdict, 3u, pos0, 0, 0, y_p1_shape0, 0, 0);
  }
  BARRIER;
}
// transpose
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[20]; } Block;
ENTRY(256) folio_transpose(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL i32 *RESTRICT y_p2_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_pitch0 = block.words[2];
  const u64 x_p0_low1 = block.words[3];
  const u64 x_p0_size1 = block.words[4];
  const u64 x_p0_shape0 = block.words[5];
  const u64 x_p0_shape1 = block.words[6];
  const u64 y_p2_low0 = block.words[7];
  const u64 y_p2_size0 = block.words[8];
  const u64 y_p2_pitch0 = block.words[9];
  const u64 y_p2_low1 = block.words[10];
  const u64 y_p2_size1 = block.words[11];
  const u64 y_p2_shape0 = block.words[12];
  const u64 y_p2_shape1 = block.words[13];
  const u64 first0 = block.words[14];
  const u64 offset0 = block.words[15];
  const u64 first1 = block.words[16];
  const u64 offset1 = block.words[17];
  GLOBAL const i32 *x_p0 = x_p0_base + block.words[18];
  GLOBAL i32 *y_p2 = y_p2_base + block.words[19];
  const u64 size0 = get_local_size(1);
  const u64 local0 = get_local_id(1);
  const u64 group0 = first0 + get_group_id(1);
  const u64 pos0 = offset0 + group0 * size0 + local0;
  const u64 size1 = get_local_size(0);
  const u64 local1 = get_local_id(0);
  const u64 group1 = first1 + get_group_id(0);
  const u64 pos1 = offset1 + group1 * size1 + local1;
  const u32 thread = (u32)(get_local_id(1) * get_local_size(0) + get_local_id(0));
  const u32 threads = (u32)(get_local_size(1) * get_local_size(0));
  SHARED i32 tile_p1[16];
  for (u32 k = thread; k < 16u; k += threads) {
    const i32 zero = 0;
    tile_p1[k] = zero;
  }
  BARRIER;
  {
    const u64 t5 = group1 * 4ul;
    const u64 t6 = t5 + local0;
    const u64 t8 = group0 * 4ul;
    const u64 t9 = t8 + local1;
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    i32 t10 = 0;
    if (t6 - x_p0_low0 < x_p0_size0 && t9 - x_p0_low1 < x_p0_size1) t10 = x_p0[(t6 - x_p0_low0) * x_p0_pitch0 + (t9 - x_p0_low1)];
    else outside(verdict, 1u, t6, t9, 0, x_p0_shape0, x_p0_shape1, 0);
    const u64 t13 = local0 * size1;
    const u64 t14 = t13 + local1;
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    if (t14 < 16ul) tile_p1[t14] = t10;
    else outside(verdict, 2u, t14, 0, 0, 16ul, 0, 0);
  }
  BARRIER;
  {
    const u64 t18 = local1 * 4ul;
    const u64 t19 = t18 + local0;
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    i32 t20 = 0;
    if (t19 < 16ul) t20 = tile_p1[t19];
    else outside(verdict, 3u, t19, 0, 0, 16ul, 0, 0);
    // crates/folio-conformance/src/engine/kernels/group_code.rs
    if (pos0 - y_p2_low0 < y_p2_size0 && pos1 - y_p2_low1 < y_p2_size1) y_p2[(pos0 - y_p2_low0) * y_p2_pitch0 + (pos1 - y_p2_low1)] = t20;
    else outside(verdict, 4u, pos0, pos1, 0, y_p2_shape0, y_p2_shape1, 0);
  }
  BARRIER;
}
// triad
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[16]; } Block;
ENTRY(256) folio_triad(
    const Block block,
    GLOBAL const f64 *RESTRICT b_p1_base,
    GLOBAL const f64 *RESTRICT c_p2_base,
    GLOBAL f64 *RESTRICT a_p3_base,
    GLOBAL Record *verdict) {
  const u64 b_p1_low0 = block.words[0];
  const u64 b_p1_size0 = block.words[1];
  const u64 b_p1_shape0 = block.words[2];
  const u64 c_p2_low0 = block.words[3];
  const u64 c_p2_size0 = block.words[4];
  const u64 c_p2_shape0 = block.words[5];
  const u64 a_p3_low0 = block.words[6];
  const u64 a_p3_size0 = block.words[7];
  const u64 a_p3_shape0 = block.words[8];
  const u64 first0 = block.words[9];
  const u64 offset0 = block.words[10];
  const u64 range0 = block.words[11];
  GLOBAL const f64 *b_p1 = b_p1_base + block.words[13];
  GLOBAL const f64 *c_p2 = c_p2_base + block.words[14];
  GLOBAL f64 *a_p3 = a_p3_base + block.words[15];
  const f64 s_p0 = F64_BITS((u64)block.words[12]);
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f64 t2 = 0.0;
  if (pos0 - b_p1_low0 < b_p1_size0) t2 = b_p1[pos0 - b_p1_low0];
  else outside(verdict, 1u, pos0, 0, 0, b_p1_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/computations.rs
  f64 t3 = 0.0;
  if (pos0 - c_p2_low0 < c_p2_size0) t3 = c_p2[pos0 - c_p2_low0];
  else outside(verdict, 2u, pos0, 0, 0, c_p2_shape0, 0, 0);
  const f64 t4 = s_p0 * t3;
  const f64 t5 = t2 + t4;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - a_p3_low0 < a_p3_size0) a_p3[pos0 - a_p3_low0] = t5;
  else outside(verdict, 3u, pos0, 0, 0, a_p3_shape0, 0, 0);
}
// tuples
typedef struct { u32 at[5]; } array_t0;
typedef struct { u32 n0_f0; bool n1_f1; } tuple_t1;
typedef struct { i32 n0_f0; tuple_t1 n1_f1; } tuple_t2;
typedef struct { u32 n0_f0; i32 n1_f1; } tuple_t3;
typedef struct { tuple_t3 at[3]; } array_t4;
typedef struct { i32 x_f0; i32 y_f1; } V2_t5;
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_tuples(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL i32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const i32 *x_p0 = x_p0_base + block.words[9];
  GLOBAL i32 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  array_t0 array_v0 = { { 0u } };
  tuple_t2 l3_v1 = { 0, { 0u, false } };
  tuple_t3 both_v2 = { 0u, 0 };
  tuple_t3 if_v3 = { 0u, 0 };
  i32 l10_v4 = 0;
  array_t4 array_v5 = { { { 0u, 0 } } };
  // crates/folio-conformance/src/engine/kernels/language.rs
  i32 t1 = 0;
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const array_t0 t7 = { { 2u, 3u, 5u, 7u, 11u } };
  array_v0 = t7;
  // crates/folio-conformance/src/engine/kernels/language.rs
  i32 t8 = 0;
  if (pos0 - x_p0_low0 < x_p0_size0) t8 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 2u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const i32 t10 = (i32)((u32)t8 & (u32)3);
  const u64 t11 = (u64)t10;
  // crates/folio-conformance/src/engine/kernels/language.rs
  u32 t12 = 0u;
  if (t11 < 5ul) t12 = array_v0.at[t11];
  else outside(verdict, 3u, t11, 0, 0, 5ul, 0, 0);
  const tuple_t1 t14 = { t12, true };
  const tuple_t2 t15 = { t1, t14 };
  l3_v1 = t15;
  const i32 t17 = l3_v1.n0_f0;
  const i32 t18 = (i32)((u32)t17 + (u32)1);
  l3_v1.n0_f0 = t18;
  // crates/folio-conformance/src/engine/kernels/language.rs
  const i32 t19 = l3_v1.n0_f0;
  const bool t21 = t19 > 3;
  l3_v1.n1_f1.n1_f1 = t21;
  // crates/folio-conformance/src/engine/kernels/language.rs
  const tuple_t2 t22 = l3_v1;
  const i32 t23 = t22.n0_f0;
  const tuple_t1 t24 = t22.n1_f1;
  const u32 t25 = t24.n0_f0;
  const bool t26 = t24.n1_f1;
  {
    if (t26) {
      const tuple_t3 t27 = { t25, t23 };
      if_v3 = t27;
    } else {
      const u32 t28 = (u32)t23;
      const i32 t29 = (i32)t25;
      const tuple_t3 t30 = { t28, t29 };
      if_v3 = t30;
    }
    const tuple_t3 t31 = if_v3;
    both_v2 = t31;
  }
  const tuple_t3 t32 = both_v2;
  const u32 t33 = t32.n0_f0;
  const i32 t34 = t32.n1_f1;
  const tuple_t3 t36 = { t33, 1 };
  const tuple_t3 t38 = { t25, 2 };
  const tuple_t3 t41 = { 7u, 3 };
  const array_t4 t42 = { { t36, t38, t41 } };
  l10_v4 = t34;
  for (i32 k45 = 0; k45 < 3; k45++) {
    array_v5 = t42;
    const u64 t46 = (u64)k45;
    // crates/folio-conformance/src/engine/kernels/language.rs
    tuple_t3 t47 = { 0u, 0 };
    if (t46 < 3ul) t47 = array_v5.at[t46];
    else outside(verdict, 4u, t46, 0, 0, 3ul, 0, 0);
    const u32 t48 = t47.n0_f0;
    const i32 t49 = t47.n1_f1;
    const i32 t50 = (i32)t48;
    const i32 t51 = (i32)((u32)t50 * (u32)t49);
    // crates/folio-conformance/src/engine/kernels/language.rs
    const i32 t52 = l10_v4;
    const i32 t53 = (i32)((u32)t52 + (u32)t51);
    l10_v4 = t53;
  }
  // crates/folio-conformance/src/engine/kernels/language.rs
  const i32 t54 = l10_v4;
  const V2_t5 t57 = { 1, 1 };
  const i32 t58 = t57.x_f0;
  const i32 t59 = (i32)((u32)t54 + (u32)t58);
  // crates/folio-conformance/src/engine/kernels/language.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t59;
  else outside(verdict, 5u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// turned
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
ENTRY(256) folio_turned(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p1_base,
    GLOBAL i32 *RESTRICT sum_p4_base,
    GLOBAL i32 *RESTRICT y_p5_base,
    GLOBAL Record *verdict,
    LOCAL u64 *scratch) {
  const u64 x_p1_low0 = block.words[0];
  const u64 x_p1_size0 = block.words[1];
  const u64 x_p1_shape0 = block.words[2];
  const u64 y_p5_low0 = block.words[3];
  const u64 y_p5_size0 = block.words[4];
  const u64 y_p5_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  GLOBAL const i32 *x_p1 = x_p1_base + block.words[9];
  GLOBAL i32 *sum_p4 = sum_p4_base + block.words[10];
  GLOBAL i32 *y_p5 = y_p5_base + block.words[11];
  const i32 by_p0 = (i32)block.words[8];
  const u64 size0 = get_local_size(0);
  const u64 local0 = get_local_id(0);
  const u64 group0 = first0 + get_group_id(0);
  const u64 pos0 = offset0 + group0 * size0 + local0;
  const u32 thread = (u32)(get_local_id(0));
  const u32 threads = (u32)(get_local_size(0));
  SHARED i32 tile_p2[8];
  SHARED i32 full_p3[8];
  for (u32 k = thread; k < 8u; k += threads) {
    const i32 zero = 0;
    tile_p2[k] = zero;
  }
  for (u32 k = thread; k < 8u; k += threads) {
    const i32 zero = 0;
    full_p3[k] = zero;
  }
  BARRIER;
  i32 sum_p4_own = 0;
  {
    {
      const u64 t4 = 7ul + size0;
      const u64 t5 = t4 - local0;
      if (size0 == 0) fail(verdict, 1u);
      const u64 t6 = size0 == 0 ? 0 : (u64)(t5 / size0);
      for (u64 k7 = 0ul; k7 < t6; k7++) {
        const u64 t8 = k7 * size0;
        const u64 t9 = t8 + local0;
        const i32 t10 = (i32)t9;
        if (t9 < 8ul) full_p3[t9] = t10;
        else outside(verdict, 2u, t9, 0, 0, 8ul, 0, 0);
      }
    }
    BARRIER;
    {
      // crates/folio-conformance/src/engine/kernels/language.rs
      i32 t13 = 0;
      if (pos0 - x_p1_low0 < x_p1_size0) t13 = x_p1[pos0 - x_p1_low0];
      else outside(verdict, 3u, pos0, 0, 0, x_p1_shape0, 0, 0);
      const i32 t14 = (i32)((u32)t13 + (u32)by_p0);
      // crates/folio-conformance/src/engine/kernels/language.rs
      if (local0 < 8ul) tile_p2[local0] = t14;
      else outside(verdict, 4u, local0, 0, 0, 8ul, 0, 0);
      // crates/folio-conformance/src/engine/kernels/language.rs
      i32 t16 = 0;
      if (pos0 - x_p1_low0 < x_p1_size0) t16 = x_p1[pos0 - x_p1_low0];
      else outside(verdict, 5u, pos0, 0, 0, x_p1_shape0, 0, 0);
      sum_p4_own = (i32)((u32)sum_p4_own + (u32)t16);
    }
    BARRIER;
    {
      const u64 t19 = 7ul - local0;
      // crates/folio-conformance/src/engine/kernels/language.rs
      i32 t20 = 0;
      if (t19 < 8ul) t20 = tile_p2[t19];
      else outside(verdict, 6u, t19, 0, 0, 8ul, 0, 0);
      // crates/folio-conformance/src/engine/kernels/language.rs
      i32 t21 = 0;
      if (local0 < 8ul) t21 = full_p3[local0];
      else outside(verdict, 7u, local0, 0, 0, 8ul, 0, 0);
      const i32 t22 = (i32)((u32)t20 + (u32)t21);
      // crates/folio-conformance/src/engine/kernels/language.rs
      if (pos0 - y_p5_low0 < y_p5_size0) y_p5[pos0 - y_p5_low0] = t22;
      else outside(verdict, 8u, pos0, 0, 0, y_p5_shape0, 0, 0);
    }
    BARRIER;
  }
  {
    LOCAL i32 *all = (LOCAL i32 *)scratch;
    all[thread] = sum_p4_own;
    BARRIER;
    for (u32 gap = gap_of(threads); gap > 0u; gap >>= 1) {
      if (thread < gap && thread + gap < threads) all[thread] = (i32)((u32)all[thread] + (u32)all[thread + gap]);
      BARRIER;
    }
    if (thread == 0u) sum_p4[group0] = all[0];
    BARRIER;
  }
}
ENTRY(256) folio_turned_finish_p4(
    GLOBAL const i32 *RESTRICT in,
    GLOBAL i32 *RESTRICT out,
    const u64 values,
    const u64 place) {
  SHARED i32 lanes[256];
  const u64 from = (u64)get_group_id(0) * 4096;
  const u64 count = values - from;
  const u32 thread = (u32)get_local_id(0);
  const u32 threads = (u32)get_local_size(0);
  const u32 end = count < 4096 ? (u32)count : 4096u;
  for (u32 lane = thread; lane < 256u && lane < end; lane += threads) {
    i32 sum = in[from + lane];
    for (u32 turn = lane + 256u; turn < end; turn += 256u) {
      sum = (i32)((u32)sum + (u32)in[from + turn]);
    }
    lanes[lane] = sum;
  }
  BARRIER;
  for (u32 gap = 128u; gap > 0u; gap >>= 1) {
    for (u32 lane = thread; lane < gap && lane + gap < end; lane += threads) {
      lanes[lane] = (i32)((u32)lanes[lane] + (u32)lanes[lane + gap]);
    }
    BARRIER;
  }
  if (thread == 0u) out[place + (u64)get_group_id(0)] = lanes[0];
}
// turned
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[33]; } Block;
ENTRY(256) folio_turned(
    const Block block,
    GLOBAL const u16 *RESTRICT x_p0_base,
    GLOBAL u16 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_shape0 = block.words[0];
  const u64 x_p0_shape1 = block.words[1];
  const u64 x_p0_shape2 = block.words[2];
  const u64 x_p0_low0 = block.words[3];
  const u64 x_p0_size0 = block.words[4];
  const u64 x_p0_pitch0 = block.words[5];
  const u64 x_p0_low1 = block.words[6];
  const u64 x_p0_size1 = block.words[7];
  const u64 x_p0_pitch1 = block.words[8];
  const u64 x_p0_low2 = block.words[9];
  const u64 x_p0_size2 = block.words[10];
  const u64 y_p1_low0 = block.words[11];
  const u64 y_p1_size0 = block.words[12];
  const u64 y_p1_pitch0 = block.words[13];
  const u64 y_p1_low1 = block.words[14];
  const u64 y_p1_size1 = block.words[15];
  const u64 y_p1_pitch1 = block.words[16];
  const u64 y_p1_low2 = block.words[17];
  const u64 y_p1_size2 = block.words[18];
  const u64 y_p1_shape0 = block.words[19];
  const u64 y_p1_shape1 = block.words[20];
  const u64 y_p1_shape2 = block.words[21];
  const u64 first0 = block.words[22];
  const u64 offset0 = block.words[23];
  const u64 range0 = block.words[24];
  const u64 first1 = block.words[25];
  const u64 offset1 = block.words[26];
  const u64 range1 = block.words[27];
  const u64 first2 = block.words[28];
  const u64 offset2 = block.words[29];
  const u64 range2 = block.words[30];
  GLOBAL const u16 *x_p0 = x_p0_base + block.words[31];
  GLOBAL u16 *y_p1 = y_p1_base + block.words[32];
  const u64 pos0 = first0 + (u64)get_group_id(2) * get_local_size(2) + get_local_id(2);
  const u64 pos1 = first1 + (u64)get_group_id(1) * get_local_size(1) + get_local_id(1);
  const u64 pos2 = first2 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0 || pos1 - offset1 >= range1 || pos2 - offset2 >= range2) return;
  const u64 t7 = x_p0_shape0 - 1ul;
  const u64 t8 = t7 - pos0;
  const u64 t10 = x_p0_shape1 - 1ul;
  const u64 t11 = t10 - pos1;
  const u64 t13 = x_p0_shape2 - 1ul;
  const u64 t14 = t13 - pos2;
  // crates/folio-conformance/src/engine/kernels/positions.rs
  u16 t15 = 0;
  if (t8 - x_p0_low0 < x_p0_size0 && t11 - x_p0_low1 < x_p0_size1 && t14 - x_p0_low2 < x_p0_size2) t15 = x_p0[(t8 - x_p0_low0) * x_p0_pitch0 + (t11 - x_p0_low1) * x_p0_pitch1 + (t14 - x_p0_low2)];
  else outside(verdict, 1u, t8, t11, t14, x_p0_shape0, x_p0_shape1, x_p0_shape2);
  // crates/folio-conformance/src/engine/kernels/positions.rs
  u16 t16 = 0;
  if (pos0 - x_p0_low0 < x_p0_size0 && pos1 - x_p0_low1 < x_p0_size1 && pos2 - x_p0_low2 < x_p0_size2) t16 = x_p0[(pos0 - x_p0_low0) * x_p0_pitch0 + (pos1 - x_p0_low1) * x_p0_pitch1 + (pos2 - x_p0_low2)];
  else outside(verdict, 2u, pos0, pos1, pos2, x_p0_shape0, x_p0_shape1, x_p0_shape2);
  // crates/folio-conformance/src/engine/kernels/positions.rs
  u16 t18 = 0;
  if (pos0 - x_p0_low0 < x_p0_size0 && pos1 - x_p0_low1 < x_p0_size1 && 0ul - x_p0_low2 < x_p0_size2) t18 = x_p0[(pos0 - x_p0_low0) * x_p0_pitch0 + (pos1 - x_p0_low1) * x_p0_pitch1 + (0ul - x_p0_low2)];
  else outside(verdict, 3u, pos0, pos1, 0ul, x_p0_shape0, x_p0_shape1, x_p0_shape2);
  const u16 t19 = (u16)((u32)t16 * (u32)t18);
  const u16 t20 = (u16)((u32)t15 - (u32)t19);
  // crates/folio-conformance/src/engine/kernels/positions.rs
  if (pos0 - y_p1_low0 < y_p1_size0 && pos1 - y_p1_low1 < y_p1_size1 && pos2 - y_p1_low2 < y_p1_size2) y_p1[(pos0 - y_p1_low0) * y_p1_pitch0 + (pos1 - y_p1_low1) * y_p1_pitch1 + (pos2 - y_p1_low2)] = t20;
  else outside(verdict, 4u, pos0, pos1, pos2, y_p1_shape0, y_p1_shape1, y_p1_shape2);
}
// twister
typedef struct { u32 at[8]; } array_t0;
typedef struct { u32 at[4]; } array_t1;
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
FN i32 rem_i32(i32 a, i32 b) { return b == -1 ? 0 : (i32)(a % b); }
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_twister(
    const Block block,
    GLOBAL const u32 *RESTRICT x_p0_base,
    GLOBAL u32 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const u32 *x_p0 = x_p0_base + block.words[9];
  GLOBAL u32 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  array_t0 l3_v0 = { { 0u } };
  u32 l4_v1 = 0u;
  array_t1 array_v2 = { { 0u } };
  array_t1 array_v3 = { { 0u } };
  u32 mixed_v4 = 0u;
  u32 l1_v5 = 0u;
  array_t1 array_v6 = { { 0u } };
  u32 if_v7 = 0u;
  u32 l11_v8 = 0u;
  const array_t0 t1 = { { 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u } };
  l3_v0 = t1;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  u32 t3 = 0u;
  if (pos0 - x_p0_low0 < x_p0_size0) t3 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  l4_v1 = t3;
  for (i32 k6 = 0; k6 < 8; k6++) {
    const u32 t7 = l4_v1;
    const array_t1 t12 = { { 3432918353u, 461845907u, 2246822507u, 3266489909u } };
    array_v2 = t12;
    // crates/folio-conformance/src/engine/kernels/computations.rs
    const u32 t14 = array_v2.at[0ul];
    const u32 t15 = t7 * t14;
    const u32 t17 = (u32)((u32)t15 << ((u32)15u & 31u) | (u32)t15 >> ((0u - (u32)15u) & 31u));
    const array_t1 t22 = { { 3432918353u, 461845907u, 2246822507u, 3266489909u } };
    array_v3 = t22;
    // crates/folio-conformance/src/engine/kernels/computations.rs
    const u32 t24 = array_v3.at[1ul];
    const u32 t25 = t17 * t24;
    const u32 t26 = (u32)k6;
    const u32 t27 = t25 + t26;
    {
      l1_v5 = t27;
      for (i32 k30 = 0; k30 < 2; k30++) {
        // crates/folio-conformance/src/engine/kernels/computations.rs
        const u32 t31 = l1_v5;
        const i32 t34 = (i32)((u32)3 * (u32)k30);
        const i32 t35 = (i32)((u32)16 - (u32)t34);
        const u32 t36 = (u32)(t31 >> ((u32)t35 & 31u));
        // crates/folio-conformance/src/engine/kernels/computations.rs
        const u32 t37 = l1_v5;
        const u32 t38 = t37 ^ t36;
        l1_v5 = t38;
        const array_t1 t43 = { { 3432918353u, 461845907u, 2246822507u, 3266489909u } };
        array_v6 = t43;
        const i32 t45 = (i32)((u32)k30 + (u32)2);
        const u64 t46 = (u64)t45;
        // crates/folio-conformance/src/engine/kernels/computations.rs
        u32 t47 = 0u;
        if (t46 < 4ul) t47 = array_v6.at[t46];
        else outside(verdict, 2u, t46, 0, 0, 4ul, 0, 0);
        const u32 t48 = l1_v5;
        const u32 t49 = t48 * t47;
        l1_v5 = t49;
      }
      // crates/folio-conformance/src/engine/kernels/computations.rs
      const u32 t50 = l1_v5;
      const u32 t51 = l1_v5;
      const u32 t53 = (u32)(t51 >> ((u32)16 & 31u));
      const u32 t54 = t50 ^ t53;
      mixed_v4 = t54;
    }
    // crates/folio-conformance/src/engine/kernels/computations.rs
    const u32 t55 = mixed_v4;
    l4_v1 = t55;
    const u32 t56 = l4_v1;
    const u64 t57 = (u64)k6;
    // crates/folio-conformance/src/engine/kernels/computations.rs
    if (t57 < 8ul) l3_v0.at[t57] = t56;
    else outside(verdict, 3u, t57, 0, 0, 8ul, 0, 0);
  }
  for (u32 k60 = 0u; k60 < 3u; k60++) {
    for (i32 k63 = 0; k63 < 8; k63++) {
      const u64 t64 = (u64)k63;
      // crates/folio-conformance/src/engine/kernels/computations.rs
      u32 t65 = 0u;
      if (t64 < 8ul) t65 = l3_v0.at[t64];
      else outside(verdict, 4u, t64, 0, 0, 8ul, 0, 0);
      const u32 t67 = t65 & 2147483648u;
      const i32 t69 = (i32)((u32)k63 + (u32)1);
      // crates/folio-conformance/src/engine/kernels/computations.rs
      const i32 t71 = rem_i32(t69, 8);
      const u64 t72 = (u64)t71;
      // crates/folio-conformance/src/engine/kernels/computations.rs
      u32 t73 = 0u;
      if (t72 < 8ul) t73 = l3_v0.at[t72];
      else outside(verdict, 5u, t72, 0, 0, 8ul, 0, 0);
      const u32 t75 = t73 & 2147483647u;
      const u32 t76 = t67 | t75;
      const u32 t78 = t76 & 1u;
      const bool t80 = t78 == 1u;
      if (t80) {
        if_v7 = 2567483615u;
      } else {
        if_v7 = 0u;
      }
      // crates/folio-conformance/src/engine/kernels/computations.rs
      const u32 t83 = if_v7;
      const i32 t85 = (i32)((u32)k63 + (u32)5);
      // crates/folio-conformance/src/engine/kernels/computations.rs
      const i32 t87 = rem_i32(t85, 8);
      const u64 t88 = (u64)t87;
      // crates/folio-conformance/src/engine/kernels/computations.rs
      u32 t89 = 0u;
      if (t88 < 8ul) t89 = l3_v0.at[t88];
      else outside(verdict, 6u, t88, 0, 0, 8ul, 0, 0);
      const u32 t91 = (u32)(t76 >> ((u32)1 & 31u));
      const u32 t92 = t89 ^ t91;
      const u32 t93 = t92 ^ t83;
      const u32 t94 = t93 ^ k60;
      const u64 t95 = (u64)k63;
      // crates/folio-conformance/src/engine/kernels/computations.rs
      if (t95 < 8ul) l3_v0.at[t95] = t94;
      else outside(verdict, 7u, t95, 0, 0, 8ul, 0, 0);
    }
  }
  // crates/folio-conformance/src/engine/kernels/computations.rs
  u32 t96 = 0u;
  if (pos0 - x_p0_low0 < x_p0_size0) t96 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 8u, pos0, 0, 0, x_p0_shape0, 0, 0);
  const u32 t98 = (u32)(t96 % 8u);
  const u64 t99 = (u64)t98;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  u32 t100 = 0u;
  if (t99 < 8ul) t100 = l3_v0.at[t99];
  else outside(verdict, 9u, t99, 0, 0, 8ul, 0, 0);
  l11_v8 = t100;
  const u32 t101 = l11_v8;
  const u32 t103 = (u32)(t101 >> ((u32)11 & 31u));
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const u32 t104 = l11_v8;
  const u32 t105 = t104 ^ t103;
  l11_v8 = t105;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const u32 t106 = l11_v8;
  const u32 t108 = (u32)((u32)t106 << ((u32)7 & 31u));
  const u32 t110 = t108 & 2636928640u;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const u32 t111 = l11_v8;
  const u32 t112 = t111 ^ t110;
  l11_v8 = t112;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const u32 t113 = l11_v8;
  const u32 t115 = (u32)((u32)t113 << ((u32)15 & 31u));
  const u32 t117 = t115 & 4022730752u;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const u32 t118 = l11_v8;
  const u32 t119 = t118 ^ t117;
  l11_v8 = t119;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  const u32 t120 = l11_v8;
  const u32 t121 = l11_v8;
  const u32 t123 = (u32)(t121 >> ((u32)18 & 31u));
  const u32 t124 = t120 ^ t123;
  // crates/folio-conformance/src/engine/kernels/computations.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t124;
  else outside(verdict, 10u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// vectors
typedef struct { f32 x_f0; f32 y_f1; } V2_t0;
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_vectors(
    const Block block,
    GLOBAL const V2_t0 *RESTRICT x_p0_base,
    GLOBAL V2_t0 *RESTRICT y_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 y_p1_low0 = block.words[3];
  const u64 y_p1_size0 = block.words[4];
  const u64 y_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const V2_t0 *x_p0 = x_p0_base + block.words[9];
  GLOBAL V2_t0 *y_p1 = y_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  V2_t0 new_v0 = { 0.0f, 0.0f };
  V2_t0 sub_v1 = { 0.0f, 0.0f };
  V2_t0 mul_v2 = { 0.0f, 0.0f };
  V2_t0 new_v3 = { 0.0f, 0.0f };
  V2_t0 neg_v4 = { 0.0f, 0.0f };
  V2_t0 add_v5 = { 0.0f, 0.0f };
  V2_t0 new_v6 = { 0.0f, 0.0f };
  V2_t0 l5_v7 = { 0.0f, 0.0f };
  V2_t0 bumped_v8 = { 0.0f, 0.0f };
  V2_t0 l2_v9 = { 0.0f, 0.0f };
  f32 l3_v10 = 0.0f;
  V2_t0 add_v11 = { 0.0f, 0.0f };
  V2_t0 new_v12 = { 0.0f, 0.0f };
  V2_t0 add_v13 = { 0.0f, 0.0f };
  V2_t0 new_v14 = { 0.0f, 0.0f };
  f32 dot_v15 = 0.0f;
  f32 norm2_v16 = 0.0f;
  f32 dot_v17 = 0.0f;
  // crates/folio-conformance/src/engine/kernels/language.rs
  V2_t0 t1 = { 0.0f, 0.0f };
  if (pos0 - x_p0_low0 < x_p0_size0) t1 = x_p0[pos0 - x_p0_low0];
  else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
  {
    const V2_t0 t4 = { 0.5f, 2.0f };
    new_v0 = t4;
  }
  const V2_t0 t5 = new_v0;
  {
    const f32 t6 = t1.x_f0;
    const f32 t7 = t5.x_f0;
    const f32 t8 = t6 - t7;
    const f32 t9 = t1.y_f1;
    const f32 t10 = t5.y_f1;
    const f32 t11 = t9 - t10;
    const V2_t0 t12 = { t8, t11 };
    sub_v1 = t12;
  }
  // crates/folio-conformance/src/engine/kernels/language.rs
  const V2_t0 t13 = sub_v1;
  {
    const f32 t15 = t13.x_f0;
    const f32 t16 = t15 * 3.0f;
    const f32 t17 = t13.y_f1;
    const f32 t18 = t17 * 3.0f;
    {
      const V2_t0 t19 = { t16, t18 };
      new_v3 = t19;
    }
    // crates/folio-conformance/src/engine/kernels/language.rs
    const V2_t0 t20 = new_v3;
    mul_v2 = t20;
  }
  const V2_t0 t21 = mul_v2;
  {
    const f32 t22 = t1.x_f0;
    const f32 t23 = -t22;
    const f32 t24 = t1.y_f1;
    const f32 t25 = -t24;
    const V2_t0 t26 = { t23, t25 };
    neg_v4 = t26;
  }
  const V2_t0 t27 = neg_v4;
  {
    const f32 t28 = t21.x_f0;
    const f32 t29 = t27.x_f0;
    const f32 t30 = t28 + t29;
    const f32 t31 = t21.y_f1;
    const f32 t32 = t27.y_f1;
    const f32 t33 = t31 + t32;
    {
      const V2_t0 t34 = { t30, t33 };
      new_v6 = t34;
    }
    // crates/folio-conformance/src/engine/kernels/language.rs
    const V2_t0 t35 = new_v6;
    add_v5 = t35;
  }
  const V2_t0 t36 = add_v5;
  l5_v7 = t36;
  {
    l2_v9 = t1;
    l3_v10 = 1.0f;
    const f32 t39 = l3_v10;
    const f32 t40 = t39 + 1.0f;
    l3_v10 = t40;
    // crates/folio-conformance/src/engine/kernels/language.rs
    const f32 t41 = l3_v10;
    const f32 t42 = l2_v9.x_f0;
    const f32 t43 = t42 + t41;
    l2_v9.x_f0 = t43;
    // crates/folio-conformance/src/engine/kernels/language.rs
    const V2_t0 t44 = l2_v9;
    const V2_t0 t47 = { 1.0f, 1.0f };
    {
      const f32 t48 = t44.x_f0;
      const f32 t49 = t47.x_f0;
      const f32 t50 = t48 + t49;
      const f32 t51 = t44.y_f1;
      const f32 t52 = t47.y_f1;
      const f32 t53 = t51 + t52;
      {
        const V2_t0 t54 = { t50, t53 };
        new_v12 = t54;
      }
      // crates/folio-conformance/src/engine/kernels/language.rs
      const V2_t0 t55 = new_v12;
      add_v11 = t55;
    }
    const V2_t0 t56 = add_v11;
    bumped_v8 = t56;
  }
  const V2_t0 t57 = bumped_v8;
  const V2_t0 t58 = l5_v7;
  {
    const f32 t59 = t58.x_f0;
    const f32 t60 = t57.x_f0;
    const f32 t61 = t59 + t60;
    const f32 t62 = t58.y_f1;
    const f32 t63 = t57.y_f1;
    const f32 t64 = t62 + t63;
    {
      const V2_t0 t65 = { t61, t64 };
      new_v14 = t65;
    }
    const V2_t0 t66 = new_v14;
    add_v13 = t66;
  }
  const V2_t0 t67 = add_v13;
  l5_v7 = t67;
  const V2_t0 t70 = { 1.0f, 1.0f };
  {
    const f32 t71 = t70.x_f0;
    const f32 t72 = t5.x_f0;
    const f32 t73 = t71 * t72;
    const f32 t74 = t70.y_f1;
    const f32 t75 = t5.y_f1;
    const f32 t76 = t74 * t75;
    const f32 t77 = t73 + t76;
    dot_v15 = t77;
  }
  // crates/folio-conformance/src/engine/kernels/language.rs
  const f32 t78 = dot_v15;
  const V2_t0 t79 = l5_v7;
  {
    {
      const f32 t80 = t79.x_f0;
      const f32 t81 = t79.x_f0;
      const f32 t82 = t80 * t81;
      const f32 t83 = t79.y_f1;
      const f32 t84 = t79.y_f1;
      const f32 t85 = t83 * t84;
      const f32 t86 = t82 + t85;
      dot_v17 = t86;
    }
    const f32 t87 = dot_v17;
    norm2_v16 = t87;
  }
  const f32 t88 = norm2_v16;
  const f32 t89 = t78 + t88;
  // crates/folio-conformance/src/engine/kernels/language.rs
  const f32 t90 = l5_v7.y_f1;
  const f32 t91 = t90 - t89;
  l5_v7.y_f1 = t91;
  // crates/folio-conformance/src/engine/kernels/language.rs
  const V2_t0 t92 = l5_v7;
  // crates/folio-conformance/src/engine/kernels/language.rs
  if (pos0 - y_p1_low0 < y_p1_size0) y_p1[pos0 - y_p1_low0] = t92;
  else outside(verdict, 2u, pos0, 0, 0, y_p1_shape0, 0, 0);
}
// ways_in_a_loop
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
ENTRY(256) folio_ways_in_a_loop(
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
  u32 l5_v0 = 0u;
  u32 collected_v1 = 0u;
  {
    // crates/folio-conformance/src/engine/kernels/ways.rs
    if (local0 < 8ul) t_p1[local0] = 3u;
    else outside(verdict, 1u, local0, 0, 0, 8ul, 0, 0);
  }
  BARRIER;
  // crates/folio-conformance/src/engine/kernels/ways.rs
  u32 t4 = 0u;
  if (0ul - x_p0_low0 < x_p0_size0) t4 = x_p0[0ul - x_p0_low0];
  else outside(verdict, 2u, 0ul, 0, 0, x_p0_shape0, 0, 0);
  l5_v0 = t4;
  for (u32 k7 = 0u; k7 < 6u; k7++) {
    const bool t9 = k7 == 2u;
    if (t9) {
      BARRIER;
      if (thread == 0u) {
        // crates/folio-conformance/src/engine/kernels/ways.rs
        const u32 t11 = t_p1[3ul];
        const u32 t13 = t11 * 2u;
        // crates/folio-conformance/src/engine/kernels/ways.rs
        t_p1[3ul] = t13;
      }
      BARRIER;
    } else {
      const bool t16 = k7 == 4u;
      if (t16) {
        // crates/folio-conformance/src/engine/kernels/ways.rs
        u32 t18 = 0u;
        if (0ul - x_p0_low0 < x_p0_size0) t18 = x_p0[0ul - x_p0_low0];
        else outside(verdict, 3u, 0ul, 0, 0, x_p0_shape0, 0, 0);
        const bool t20 = t18 == 1u;
        if (t20) {
          continue;
        }
        BARRIER;
        {
          LOCAL u32 *all = (LOCAL u32 *)scratch;
          {
            // crates/folio-conformance/src/engine/kernels/ways.rs
            u32 t22 = 0u;
            if (local0 < 8ul) t22 = t_p1[local0];
            else outside(verdict, 4u, local0, 0, 0, 8ul, 0, 0);
            // crates/folio-conformance/src/engine/kernels/ways.rs
            u32 t24 = 0u;
            if (pos0 - x_p0_low0 < x_p0_size0) t24 = x_p0[pos0 - x_p0_low0];
            else outside(verdict, 5u, pos0, 0, 0, x_p0_shape0, 0, 0);
            const u32 t25 = t22 + t24;
            all[thread] = t25;
          }
          BARRIER;
          for (u32 gap = gap_of(threads); gap > 0u; gap >>= 1) {
            if (thread < gap && thread + gap < threads) all[thread] = all[thread] + all[thread + gap];
            BARRIER;
          }
          collected_v1 = all[0];
          BARRIER;
        }
        // crates/folio-conformance/src/engine/kernels/ways.rs
        const u32 t26 = collected_v1;
        const u32 t27 = l5_v0;
        const u32 t28 = t27 + t26;
        l5_v0 = t28;
      } else {
        // crates/folio-conformance/src/engine/kernels/ways.rs
        const u32 t30 = t_p1[3ul];
        const u32 t31 = l5_v0;
        const u32 t32 = t31 + t30;
        l5_v0 = t32;
        BARRIER;
        if (thread == 0u) {
          // crates/folio-conformance/src/engine/kernels/ways.rs
          const u32 t34 = t_p1[3ul];
          const u32 t35 = l5_v0;
          const u32 t36 = t34 + t35;
          // crates/folio-conformance/src/engine/kernels/ways.rs
          t_p1[3ul] = t36;
        }
        BARRIER;
        const u32 t38 = l5_v0;
        const bool t40 = t38 > 300u;
        if (t40) {
          break;
        }
      }
    }
    {
      // crates/folio-conformance/src/engine/kernels/ways.rs
      const u32 t41 = l5_v0;
      // crates/folio-conformance/src/engine/kernels/ways.rs
      u32 t43 = 0u;
      if (local0 < 8ul) t43 = t_p1[local0];
      else outside(verdict, 6u, local0, 0, 0, 8ul, 0, 0);
      const u32 t44 = t43 + t41;
      if (local0 < 8ul) t_p1[local0] = t44;
      else outside(verdict, 7u, local0, 0, 0, 8ul, 0, 0);
    }
    BARRIER;
  }
  // crates/folio-conformance/src/engine/kernels/ways.rs
  const u32 t46 = t_p1[3ul];
  const u32 t47 = l5_v0;
  const u32 t48 = t46 + t47;
  BARRIER;
  if (thread == 0u) {
    // crates/folio-conformance/src/engine/kernels/ways.rs
    if (group0 - o_p2_low0 < o_p2_size0) o_p2[group0 - o_p2_low0] = t48;
    else outside(verdict, 8u, group0, 0, 0, o_p2_shape0, 0, 0);
  }
  BARRIER;
}
// zoo
typedef struct { i32 at[2]; } array_t0;
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
FN u64 sat_add_u64(u64 a, u64 b) { return a + b < a ? ~(u64)0 : a + b; }
FN i32 i32_of_f32(f32 x) { return x >= -2147483648.0f ? x < 2147483648.0f ? (i32)x : 2147483647 : x < 0 ? (-2147483647 - 1) : 0; }
FN i32 rem_i32(i32 a, i32 b) { return b == -1 ? 0 : (i32)(a % b); }
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_zoo(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL i32 *RESTRICT o_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_shape0 = block.words[0];
  const u64 x_p0_low0 = block.words[1];
  const u64 x_p0_size0 = block.words[2];
  const u64 o_p1_low0 = block.words[3];
  const u64 o_p1_size0 = block.words[4];
  const u64 o_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const i32 *x_p0 = x_p0_base + block.words[9];
  GLOBAL i32 *o_p1 = o_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  array_t0 l4_v0 = { { 0 } };
  i32 l6_v1 = 0;
  u64 l7_v2 = 0ul;
  i32 if_v3 = 0;
  i32 if_v4 = 0;
  i32 pick_v5 = 0;
  i32 if_v6 = 0;
  const array_t0 t2 = { { 0, 0 } };
  l4_v0 = t2;
  for (u64 k5 = 0ul; k5 < 2ul; k5++) {
    // crates/folio-conformance/src/engine/kernels/code.rs
    i32 t6 = 0;
    if (pos0 - x_p0_low0 < x_p0_size0) t6 = x_p0[pos0 - x_p0_low0];
    else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
    const i32 t7 = (i32)k5;
    const i32 t8 = (i32)((u32)t6 + (u32)t7);
    // crates/folio-conformance/src/engine/kernels/code.rs
    if (k5 < 2ul) l4_v0.at[k5] = t8;
    else outside(verdict, 2u, k5, 0, 0, 2ul, 0, 0);
  }
  l6_v1 = 0;
  l7_v2 = 0ul;
  for (u64 turn1 = 0; turn1 >> 63 == 0; turn1++) {
    const u64 t11 = l7_v2;
    const bool t13 = t11 >= 2ul;
    if (t13) {
      break;
    }
    // crates/folio-conformance/src/engine/kernels/code.rs
    const u64 t15 = l7_v2;
    const u64 t16 = t15 + 1ul;
    l7_v2 = t16;
    // crates/folio-conformance/src/engine/kernels/code.rs
    const u64 t17 = l7_v2;
    // crates/folio-conformance/src/engine/kernels/code.rs
    const u64 t19 = (u64)(t17 % 2ul);
    const bool t21 = t19 == 0ul;
    if (t21) {
      continue;
    }
    const u64 t22 = l7_v2;
    const u64 t24 = t22 - 1ul;
    // crates/folio-conformance/src/engine/kernels/code.rs
    i32 t25 = 0;
    if (t24 < 2ul) t25 = l4_v0.at[t24];
    else outside(verdict, 3u, t24, 0, 0, 2ul, 0, 0);
    const i32 t27 = (i32)((u32)t25 << ((u32)3 & 31u));
    const i32 t28 = l6_v1;
    const i32 t29 = (i32)((u32)t28 + (u32)t27);
    l6_v1 = t29;
  }
  const u64 t33 = (u64)0;
  const u64 t34 = (u64)3;
  const u64 t35 = t34 - t33;
  const u64 t38 = sat_add_u64(t35, 1ul);
  const bool t39 = 0 <= 3;
  const u64 t40 = t39 ? t38 : 0ul;
  for (u64 k41 = 0ul; k41 < t40; k41++) {
    const i32 t42 = (i32)k41;
    const i32 t43 = (i32)((u32)3 - (u32)t42);
    const i32 t45 = (i32)((u32)t43 << ((u32)7 & 31u));
    // crates/folio-conformance/src/engine/kernels/code.rs
    const i32 t46 = l6_v1;
    const i32 t47 = (i32)((u32)t46 ^ (u32)t45);
    l6_v1 = t47;
  }
  // crates/folio-conformance/src/engine/kernels/code.rs
  const i32 t48 = l6_v1;
  const i32 t50 = (i32)((u32)t48 * (u32)1103515245);
  const i32 t52 = (i32)((u32)t50 + (u32)12345);
  const f32 t53 = (f32)t52;
  const f32 t55 = t53 * 1.5f;
  const bool t57 = t55 > 0.0f;
  const bool t59 = t52 != 7;
  const bool t60 = (t57 && t59);
  if (t60) {
    const f32 t62 = t55 / 3.0f;
    const f32 t63 = sqrt(t62);
    const i32 t64 = i32_of_f32(t63);
    if_v3 = t64;
  } else {
    const bool t66 = t55 < (-1000000000.0f);
    if (t66) {
      if_v4 = (-0 - 1);
    } else {
      const i32 t69 = (i32)(t52 >> ((u32)2 & 31u));
      const i32 t71 = (i32)((u32)t69 ^ (u32)85);
      if_v4 = t71;
    }
    // crates/folio-conformance/src/engine/kernels/code.rs
    const i32 t72 = if_v4;
    if_v3 = t72;
  }
  const i32 t73 = if_v3;
  const bool t75 = t55 == 0.0f;
  if (t75) {
    // crates/folio-conformance/src/engine/kernels/code.rs
    if (pos0 - o_p1_low0 < o_p1_size0) o_p1[pos0 - o_p1_low0] = 5;
    else outside(verdict, 4u, pos0, 0, 0, o_p1_shape0, 0, 0);
    return;
  }
  const i32 t78 = (t73 < 1000 ? t73 : 1000);
  const u64 t80 = pos0 + 1ul;
  {
    const bool t82 = t80 < x_p0_shape0;
    if (t82) {
      // crates/folio-conformance/src/engine/kernels/code.rs
      i32 t83 = 0;
      if (t80 - x_p0_low0 < x_p0_size0) t83 = x_p0[t80 - x_p0_low0];
      else outside(verdict, 5u, t80, 0, 0, x_p0_shape0, 0, 0);
      if_v6 = t83;
    } else {
      if_v6 = (-0 - 1);
    }
    const i32 t85 = if_v6;
    pick_v5 = t85;
  }
  const i32 t86 = pick_v5;
  const i32 t87 = (i32)((u32)t78 + (u32)t86);
  // crates/folio-conformance/src/engine/kernels/code.rs
  i32 t88 = 0;
  if (pos0 - o_p1_low0 < o_p1_size0) t88 = o_p1[pos0 - o_p1_low0];
  else outside(verdict, 6u, pos0, 0, 0, o_p1_shape0, 0, 0);
  const i32 t89 = (i32)((u32)t88 + (u32)t87);
  if (pos0 - o_p1_low0 < o_p1_size0) o_p1[pos0 - o_p1_low0] = t89;
  else outside(verdict, 7u, pos0, 0, 0, o_p1_shape0, 0, 0);
  const i32 t90 = (t52 < 0 ? (i32)((u32)0 - (u32)t52) : t52);
  const i32 t92 = (t90 > 3 ? t90 : 3);
  // crates/folio-conformance/src/engine/kernels/code.rs
  const i32 t94 = rem_i32(t92, 17);
  // crates/folio-conformance/src/engine/kernels/code.rs
  i32 t95 = 0;
  if (pos0 - o_p1_low0 < o_p1_size0) t95 = o_p1[pos0 - o_p1_low0];
  else outside(verdict, 8u, pos0, 0, 0, o_p1_shape0, 0, 0);
  const i32 t96 = (i32)((u32)t95 - (u32)t94);
  if (pos0 - o_p1_low0 < o_p1_size0) o_p1[pos0 - o_p1_low0] = t96;
  else outside(verdict, 9u, pos0, 0, 0, o_p1_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/code.rs
  const i32 t99 = l4_v0.at[1ul];
  const i32 t100 = (i32)((u32)t99 & (u32)255);
  l4_v0.at[1ul] = t100;
  // crates/folio-conformance/src/engine/kernels/code.rs
  const i32 t102 = l4_v0.at[1ul];
  const u64 t105 = 2ul - 1ul;
  // crates/folio-conformance/src/engine/kernels/code.rs
  i32 t106 = 0;
  if (t105 < 2ul) t106 = l4_v0.at[t105];
  else outside(verdict, 10u, t105, 0, 0, 2ul, 0, 0);
  const i32 t107 = (i32)((u32)t102 + (u32)t106);
  // crates/folio-conformance/src/engine/kernels/code.rs
  i32 t108 = 0;
  if (pos0 - o_p1_low0 < o_p1_size0) t108 = o_p1[pos0 - o_p1_low0];
  else outside(verdict, 11u, pos0, 0, 0, o_p1_shape0, 0, 0);
  const i32 t109 = (i32)((u32)t108 ^ (u32)t107);
  if (pos0 - o_p1_low0 < o_p1_size0) o_p1[pos0 - o_p1_low0] = t109;
  else outside(verdict, 12u, pos0, 0, 0, o_p1_shape0, 0, 0);
}
// zoo
typedef struct { i32 at[5]; } array_t0;
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
FN u64 sat_add_u64(u64 a, u64 b) { return a + b < a ? ~(u64)0 : a + b; }
FN i32 i32_of_f32(f32 x) { return x >= -2147483648.0f ? x < 2147483648.0f ? (i32)x : 2147483647 : x < 0 ? (-2147483647 - 1) : 0; }
FN i32 rem_i32(i32 a, i32 b) { return b == -1 ? 0 : (i32)(a % b); }
typedef struct { u64 words[11]; } Block;
ENTRY(256) folio_zoo(
    const Block block,
    GLOBAL const i32 *RESTRICT x_p0_base,
    GLOBAL i32 *RESTRICT o_p1_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_shape0 = block.words[0];
  const u64 x_p0_low0 = block.words[1];
  const u64 x_p0_size0 = block.words[2];
  const u64 o_p1_low0 = block.words[3];
  const u64 o_p1_size0 = block.words[4];
  const u64 o_p1_shape0 = block.words[5];
  const u64 first0 = block.words[6];
  const u64 offset0 = block.words[7];
  const u64 range0 = block.words[8];
  GLOBAL const i32 *x_p0 = x_p0_base + block.words[9];
  GLOBAL i32 *o_p1 = o_p1_base + block.words[10];
  const u64 pos0 = first0 + (u64)get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (pos0 - offset0 >= range0) return;
  array_t0 l4_v0 = { { 0 } };
  i32 l6_v1 = 0;
  u64 l7_v2 = 0ul;
  i32 if_v3 = 0;
  i32 if_v4 = 0;
  i32 pick_v5 = 0;
  i32 if_v6 = 0;
  const array_t0 t2 = { { 0, 0, 0, 0, 0 } };
  l4_v0 = t2;
  for (u64 k5 = 0ul; k5 < 5ul; k5++) {
    // crates/folio-conformance/src/engine/kernels/code.rs
    i32 t6 = 0;
    if (pos0 - x_p0_low0 < x_p0_size0) t6 = x_p0[pos0 - x_p0_low0];
    else outside(verdict, 1u, pos0, 0, 0, x_p0_shape0, 0, 0);
    const i32 t7 = (i32)k5;
    const i32 t8 = (i32)((u32)t6 + (u32)t7);
    // crates/folio-conformance/src/engine/kernels/code.rs
    if (k5 < 5ul) l4_v0.at[k5] = t8;
    else outside(verdict, 2u, k5, 0, 0, 5ul, 0, 0);
  }
  l6_v1 = 0;
  l7_v2 = 0ul;
  for (u64 turn1 = 0; turn1 >> 63 == 0; turn1++) {
    const u64 t11 = l7_v2;
    const bool t13 = t11 >= 5ul;
    if (t13) {
      break;
    }
    // crates/folio-conformance/src/engine/kernels/code.rs
    const u64 t15 = l7_v2;
    const u64 t16 = t15 + 1ul;
    l7_v2 = t16;
    // crates/folio-conformance/src/engine/kernels/code.rs
    const u64 t17 = l7_v2;
    // crates/folio-conformance/src/engine/kernels/code.rs
    const u64 t19 = (u64)(t17 % 2ul);
    const bool t21 = t19 == 0ul;
    if (t21) {
      continue;
    }
    const u64 t22 = l7_v2;
    const u64 t24 = t22 - 1ul;
    // crates/folio-conformance/src/engine/kernels/code.rs
    i32 t25 = 0;
    if (t24 < 5ul) t25 = l4_v0.at[t24];
    else outside(verdict, 3u, t24, 0, 0, 5ul, 0, 0);
    const i32 t27 = (i32)((u32)t25 << ((u32)3 & 31u));
    const i32 t28 = l6_v1;
    const i32 t29 = (i32)((u32)t28 + (u32)t27);
    l6_v1 = t29;
  }
  const u64 t33 = (u64)0;
  const u64 t34 = (u64)3;
  const u64 t35 = t34 - t33;
  const u64 t38 = sat_add_u64(t35, 1ul);
  const bool t39 = 0 <= 3;
  const u64 t40 = t39 ? t38 : 0ul;
  for (u64 k41 = 0ul; k41 < t40; k41++) {
    const i32 t42 = (i32)k41;
    const i32 t43 = (i32)((u32)3 - (u32)t42);
    const i32 t45 = (i32)((u32)t43 << ((u32)7 & 31u));
    // crates/folio-conformance/src/engine/kernels/code.rs
    const i32 t46 = l6_v1;
    const i32 t47 = (i32)((u32)t46 ^ (u32)t45);
    l6_v1 = t47;
  }
  // crates/folio-conformance/src/engine/kernels/code.rs
  const i32 t48 = l6_v1;
  const i32 t50 = (i32)((u32)t48 * (u32)1103515245);
  const i32 t52 = (i32)((u32)t50 + (u32)12345);
  const f32 t53 = (f32)t52;
  const f32 t55 = t53 * 1.5f;
  const bool t57 = t55 > 0.0f;
  const bool t59 = t52 != 7;
  const bool t60 = (t57 && t59);
  if (t60) {
    const f32 t62 = t55 / 3.0f;
    const f32 t63 = sqrt(t62);
    const i32 t64 = i32_of_f32(t63);
    if_v3 = t64;
  } else {
    const bool t66 = t55 < (-1000000000.0f);
    if (t66) {
      if_v4 = (-0 - 1);
    } else {
      const i32 t69 = (i32)(t52 >> ((u32)2 & 31u));
      const i32 t71 = (i32)((u32)t69 ^ (u32)85);
      if_v4 = t71;
    }
    // crates/folio-conformance/src/engine/kernels/code.rs
    const i32 t72 = if_v4;
    if_v3 = t72;
  }
  const i32 t73 = if_v3;
  const bool t75 = t55 == 0.0f;
  if (t75) {
    // crates/folio-conformance/src/engine/kernels/code.rs
    if (pos0 - o_p1_low0 < o_p1_size0) o_p1[pos0 - o_p1_low0] = 5;
    else outside(verdict, 4u, pos0, 0, 0, o_p1_shape0, 0, 0);
    return;
  }
  const i32 t78 = (t73 < 1000 ? t73 : 1000);
  const u64 t80 = pos0 + 1ul;
  {
    const bool t82 = t80 < x_p0_shape0;
    if (t82) {
      // crates/folio-conformance/src/engine/kernels/code.rs
      i32 t83 = 0;
      if (t80 - x_p0_low0 < x_p0_size0) t83 = x_p0[t80 - x_p0_low0];
      else outside(verdict, 5u, t80, 0, 0, x_p0_shape0, 0, 0);
      if_v6 = t83;
    } else {
      if_v6 = (-0 - 1);
    }
    const i32 t85 = if_v6;
    pick_v5 = t85;
  }
  const i32 t86 = pick_v5;
  const i32 t87 = (i32)((u32)t78 + (u32)t86);
  // crates/folio-conformance/src/engine/kernels/code.rs
  i32 t88 = 0;
  if (pos0 - o_p1_low0 < o_p1_size0) t88 = o_p1[pos0 - o_p1_low0];
  else outside(verdict, 6u, pos0, 0, 0, o_p1_shape0, 0, 0);
  const i32 t89 = (i32)((u32)t88 + (u32)t87);
  if (pos0 - o_p1_low0 < o_p1_size0) o_p1[pos0 - o_p1_low0] = t89;
  else outside(verdict, 7u, pos0, 0, 0, o_p1_shape0, 0, 0);
  const i32 t90 = (t52 < 0 ? (i32)((u32)0 - (u32)t52) : t52);
  const i32 t92 = (t90 > 3 ? t90 : 3);
  // crates/folio-conformance/src/engine/kernels/code.rs
  const i32 t94 = rem_i32(t92, 17);
  // crates/folio-conformance/src/engine/kernels/code.rs
  i32 t95 = 0;
  if (pos0 - o_p1_low0 < o_p1_size0) t95 = o_p1[pos0 - o_p1_low0];
  else outside(verdict, 8u, pos0, 0, 0, o_p1_shape0, 0, 0);
  const i32 t96 = (i32)((u32)t95 - (u32)t94);
  if (pos0 - o_p1_low0 < o_p1_size0) o_p1[pos0 - o_p1_low0] = t96;
  else outside(verdict, 9u, pos0, 0, 0, o_p1_shape0, 0, 0);
  // crates/folio-conformance/src/engine/kernels/code.rs
  const i32 t99 = l4_v0.at[1ul];
  const i32 t100 = (i32)((u32)t99 & (u32)255);
  l4_v0.at[1ul] = t100;
  // crates/folio-conformance/src/engine/kernels/code.rs
  const i32 t102 = l4_v0.at[1ul];
  const u64 t105 = 5ul - 1ul;
  // crates/folio-conformance/src/engine/kernels/code.rs
  i32 t106 = 0;
  if (t105 < 5ul) t106 = l4_v0.at[t105];
  else outside(verdict, 10u, t105, 0, 0, 5ul, 0, 0);
  const i32 t107 = (i32)((u32)t102 + (u32)t106);
  // crates/folio-conformance/src/engine/kernels/code.rs
  i32 t108 = 0;
  if (pos0 - o_p1_low0 < o_p1_size0) t108 = o_p1[pos0 - o_p1_low0];
  else outside(verdict, 11u, pos0, 0, 0, o_p1_shape0, 0, 0);
  const i32 t109 = (i32)((u32)t108 ^ (u32)t107);
  if (pos0 - o_p1_low0 < o_p1_size0) o_p1[pos0 - o_p1_low0] = t109;
  else outside(verdict, 12u, pos0, 0, 0, o_p1_shape0, 0, 0);
}
