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
