// The part of a matrix from an index on: numbers are elements, and those of rows and columns count
// from where the accessed box begins, at `first`.
struct Corner {
  const u8 *first;
  u32 pitch, row, column, rows, columns;
};

FN u32 least(u32 a, u32 b) { return a < b ? a : b; }

FN u32 shared_address(const void *at) {
  u32 address;
  asm("{ .reg .u64 wide; cvta.to.shared.u64 wide, %1; cvt.u32.u64 %0, wide; }"
      : "=r"(address) : "l"(at));
  return address;
}

FN void load4(u32 *to, u32 from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
      : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(from));
}

FN void load4_turned(u32 *to, u32 from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
      : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(from));
}

FN u32 load1(u32 from) {
  u32 to;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(to) : "r"(from));
  return to;
}

FN u32 to_tf32(u32 x) {
  u32 y;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y) : "f"(__uint_as_float(x)));
  return y;
}

#define MMA(shape, type) \
  asm("mma.sync.aligned." shape ".row.col.f32." type "." type ".f32 " \
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
      : "+f"(to[0]), "+f"(to[1]), "+f"(to[2]), "+f"(to[3]) \
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]))

// Adds the product of 16 rows and 8 columns. The kinds of elements: 0 f16, 1 bf16, 2 TF32.
template <int KIND> FN void multiply(f32 *to, const u32 *x, const u32 *y) {
  if (KIND == 0) MMA("m16n8k16", "f16");
  if (KIND == 1) MMA("m16n8k16", "bf16");
  if (KIND == 2) MMA("m16n8k8", "tf32");
}

// A step of a factor on its way to local memory: lines of pieces of 16 bytes. What is outside is
// zero.
template <int KIND, int LINES, int PIECES, int PITCH, int THREADS>
FN void stage(u32 to, const Corner &of, u32 row, u32 column, u32 thread, bool aligned) {
  const u32 BYTES = KIND == 2 ? 4 : 2, EACH = 16 / BYTES, ALL = LINES * PIECES;
#pragma unroll
  for (u32 turn = 0; turn < (ALL + THREADS - 1) / THREADS; turn++) {
    const u32 number = thread + turn * THREADS;
    if (ALL % THREADS != 0 && number >= ALL) break;
    const u32 line = number / PIECES, piece = number % PIECES;
    const u32 r = row + line, c = column + piece * EACH;
    const u32 count = r < of.rows && c < of.columns ? least(of.columns - c, EACH) : 0;
    const u8 *from = of.first + (count > 0 ? (u64)(r * of.pitch + c) * BYTES : 0);
    const u32 slot = to + (line * PITCH + piece) * 16;
    if (aligned) {
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
          :: "r"(slot), "l"(from), "r"(count * BYTES) : "memory");
    } else {
      u32 words[4] = {0, 0, 0, 0};
#pragma unroll
      for (u32 k = 0; k < EACH; k++) {
        if (k >= count) continue;
        if (BYTES == 4) words[k] = ((const u32 *)from)[k];
        else words[k / 2] |= (u32)((const u16 *)from)[k] << k % 2 * 16;
      }
      asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};"
          :: "r"(slot), "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]) : "memory");
    }
  }
}

// 16 bytes of a row begin where 16 bytes of memory do.
template <u32 BYTES> FN bool is_aligned(const Corner &of) {
  return (((u64)of.first + (u64)of.column * BYTES | of.pitch * BYTES) & 15u) == 0;
}

// Adds a product to a tile of ROWS x COLUMNS, of which the items of a square of SIDE have the
// elements that are theirs modulo SIDE. ACROSS: warps beside each other. DEEP: neighbours in memory
// are so along the depth. PITCH: pieces from line to line.
template <int KIND, int ROWS, int COLUMNS, int SIDE, int ACROSS, int DEPTH, int STAGES, bool A_DEEP,
    bool B_DEEP, int A_PITCH, int B_PITCH, class Sum>
FN void add_product(Sum &sum, void *local, u32 thread, Corner a, Corner b, u32 depth) {
  const int BYTES = KIND == 2 ? 4 : 2, EACH = 16 / BYTES, THREADS = SIDE * SIDE;
  const int DOWN = THREADS / 32 / ACROSS, M = ROWS / DOWN, N = COLUMNS / ACROSS;
  const int A_PIECES = (A_DEEP ? DEPTH : ROWS) / EACH, B_PIECES = (B_DEEP ? DEPTH : COLUMNS) / EACH;
  const int A_LINES = A_DEEP ? ROWS : DEPTH, B_LINES = B_DEEP ? COLUMNS : DEPTH;
  const u32 B_BEGINS = A_LINES * A_PITCH * 16, STAGE = B_BEGINS + B_LINES * B_PITCH * 16;
  const u32 base = shared_address(local), lane = thread & 31u, warp = thread >> 5;
  const u32 first_row = warp / ACROSS * M, first_column = warp % ACROSS * N;
  const bool a_aligned = is_aligned<BYTES>(a), b_aligned = is_aligned<BYTES>(b);
  if (A_DEEP) a.columns = least(a.columns, a.column + depth);
  else a.rows = least(a.rows, a.row + depth);
  if (B_DEEP) b.columns = least(b.columns, b.column + depth);
  else b.rows = least(b.rows, b.row + depth);
  // Where a lane reads its part of the warp's first fragments.
  const u32 g = lane >> 2, t = lane & 3u;
  u32 of_a, of_b;
  if (A_DEEP) of_a = (first_row + (lane & 15u)) * A_PITCH * 16 + (lane >> 4) * 16;
  else if (KIND == 2) of_a = t * A_PITCH * 16 + (first_row + g) * 4;
  else of_a = ((lane & 7u) + (lane >> 4) * 8) * A_PITCH * 16 + (first_row / 8 + (lane >> 3 & 1u)) * 16;
  if (B_DEEP) of_b = (first_column + (lane & 7u) + (lane >> 4) * 8) * B_PITCH * 16 + (lane >> 3 & 1u) * 16;
  else if (KIND == 2) of_b = t * B_PITCH * 16 + (first_column + g) * 4;
  else of_b = (lane & 15u) * B_PITCH * 16 + (first_column / 8 + (lane >> 4)) * 16;
  of_b += B_BEGINS;

  f32 all[M / 16][N / 8][4];
#pragma unroll
  for (int i = 0; i < M / 16; i++)
#pragma unroll
    for (int j = 0; j < N / 8; j++)
#pragma unroll
      for (int k = 0; k < 4; k++) all[i][j][k] = 0.0f;

  const u32 steps = (depth + DEPTH - 1) / DEPTH;
  u32 staged = 0, into = 0, from = 0;
#pragma unroll 1
  for (u32 turn = 0; turn < steps + STAGES - 1; turn++) {
    if (turn >= STAGES - 1) {
      asm volatile("cp.async.wait_group %0;" :: "n"(STAGES - 2) : "memory");
      BARRIER;
    }
    if (staged < steps) {
      const u32 ahead = staged * DEPTH, to = base + into;
      stage<KIND, A_LINES, A_PIECES, A_PITCH, THREADS>(
          to, a, a.row + (A_DEEP ? 0 : ahead), a.column + (A_DEEP ? ahead : 0), thread, a_aligned);
      stage<KIND, B_LINES, B_PIECES, B_PITCH, THREADS>(
          to + B_BEGINS, b, b.row + (B_DEEP ? 0 : ahead), b.column + (B_DEEP ? ahead : 0), thread, b_aligned);
      into = into + STAGE == STAGES * STAGE ? 0 : into + STAGE;
      staged++;
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
    if (turn < STAGES - 1) continue;
    const u32 at_a = base + from + of_a, at_b = base + from + of_b;
    from = from + STAGE == STAGES * STAGE ? 0 : from + STAGE;
#pragma unroll
    for (int k = 0; k < DEPTH / (2 * EACH); k++) {
      u32 x[M / 16][4], y[N / 8][2];
#pragma unroll
      for (int i = 0; i < M / 16; i++) {
        if (A_DEEP) load4(x[i], at_a + i * 16 * A_PITCH * 16 + k * 32);
        else if (KIND != 2) load4_turned(x[i], at_a + k * 16 * A_PITCH * 16 + i * 32);
        else
#pragma unroll
          for (int p = 0; p < 4; p++)
            x[i][p] = load1(at_a + (k * 8 + p / 2 * 4) * A_PITCH * 16 + i * 64 + p % 2 * 32);
        if (KIND == 2)
#pragma unroll
          for (int p = 0; p < 4; p++) x[i][p] = to_tf32(x[i][p]);
      }
#pragma unroll
      for (int j = 0; j < N / 8; j += 2) {
        u32 both[4];
        if (B_DEEP) load4(both, at_b + j * 8 * B_PITCH * 16 + k * 32);
        else if (KIND != 2) load4_turned(both, at_b + k * 16 * B_PITCH * 16 + j * 16);
        else
#pragma unroll
          for (int p = 0; p < 4; p++)
            both[p] = load1(at_b + (k * 8 + p % 2 * 4) * B_PITCH * 16 + j * 32 + p / 2 * 32);
#pragma unroll
        for (int p = 0; p < 4; p++) y[j + p / 2][p % 2] = KIND == 2 ? to_tf32(both[p]) : both[p];
      }
#pragma unroll
      for (int i = 0; i < M / 16; i++)
#pragma unroll
        for (int j = 0; j < N / 8; j++) multiply<KIND>(all[i][j], x[i], y[j]);
    }
  }
  asm volatile("cp.async.wait_group 0;" ::: "memory");

  // From the warps' fragments to the items' elements, 16 rows of each warp at a time.
  const int PITCH = COLUMNS + 8;
  f32 *rows = (f32 *)local;
  const u32 u = thread / SIDE, v = thread % SIDE;
#pragma unroll
  for (int i = 0; i < M / 16; i++) {
    BARRIER;
#pragma unroll
    for (int j = 0; j < N / 8; j++) {
      f32 *to = rows + (warp / ACROSS * 16 + g) * PITCH + first_column + j * 8 + 2 * t;
      to[0] = all[i][j][0];
      to[1] = all[i][j][1];
      to[8 * PITCH] = all[i][j][2];
      to[8 * PITCH + 1] = all[i][j][3];
    }
    BARRIER;
#pragma unroll
    for (int w = 0; w < DOWN; w++) {
      const int line = w * (M / 16) + i;
#pragma unroll
      for (int p = 0; p < ROWS / SIDE; p++) {
        // The item's row number p is in these 16 if its square's rows are, or half of them.
        const bool within = SIDE > 16 ? p == line / 2 && u / 16 == line % 2
                                      : p * SIDE / 16 == line;
        if (!within) continue;
        const f32 *own = rows + (w * 16 + (p * SIDE + u) % 16) * PITCH + v;
#pragma unroll
        for (int q = 0; q < COLUMNS / SIDE; q++) sum.at[p].at[q] += own[q * SIDE];
      }
    }
  }
  BARRIER;
}
