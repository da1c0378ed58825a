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
