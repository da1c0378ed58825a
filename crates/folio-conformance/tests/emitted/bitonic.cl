typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
typedef struct { u64 words[6]; } Block;
ENTRY(64) folio_bitonic(
    const Block block,
    GLOBAL u32 *RESTRICT x_p0_base,
    GLOBAL Record *verdict) {
  const u64 x_p0_low0 = block.words[0];
  const u64 x_p0_size0 = block.words[1];
  const u64 x_p0_shape0 = block.words[2];
  const u64 first0 = block.words[3];
  const u64 offset0 = block.words[4];
  GLOBAL u32 *x_p0 = x_p0_base + block.words[5];
  const u64 size0 = 64;
  const u64 local0 = get_local_id(0);
  const u64 group0 = first0 + get_group_id(0);
  const u64 pos0 = offset0 + group0 * size0 + local0;
  const u32 thread = (u32)(get_local_id(0));
  const u32 threads = (u32)(64u);
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
