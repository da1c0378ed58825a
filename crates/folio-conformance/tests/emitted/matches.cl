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
