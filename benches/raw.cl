// What is compared with kernels, in OpenCL C, as somebody writes it by hand. Nothing is contracted, as in ours.
#pragma OPENCL FP_CONTRACT OFF

kernel void saxpy(float a, global const float *restrict x, global float *restrict y) {
    size_t i = get_global_id(0);
    y[i] = a * x[i] + y[i];
}

kernel void triad(float a, global const float *restrict x, global const float *restrict z,
                  global float *restrict y) {
    size_t i = get_global_id(0);
    y[i] = x[i] + a * z[i];
}

// For GPUs: each thread computes four items, a group's width apart, and loads all of them first.
kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void saxpy_by_four(float a, global const float *restrict x, global float *restrict y) {
    size_t i = get_group_id(0) * 1024 + get_local_id(0);
    float p[4], q[4];
    for (int k = 0; k < 4; k++) { p[k] = x[i + k * 256]; q[k] = y[i + k * 256]; }
    for (int k = 0; k < 4; k++) y[i + k * 256] = a * p[k] + q[k];
}

kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void triad_by_four(float a, global const float *restrict x, global const float *restrict z,
                   global float *restrict y) {
    size_t i = get_group_id(0) * 1024 + get_local_id(0);
    float p[4], q[4];
    for (int k = 0; k < 4; k++) { p[k] = x[i + k * 256]; q[k] = z[i + k * 256]; }
    for (int k = 0; k < 4; k++) y[i + k * 256] = p[k] + a * q[k];
}

kernel void heat(float k, uint n, global const float *restrict x, global float *restrict y) {
    size_t at = get_global_id(1) * n + get_global_id(0);
    float around = x[at - n] + x[at + n] + x[at - 1] + x[at + 1];
    y[at] = x[at] + k * (around - 4.0f * x[at]);
}

// The same in groups of 32 by 8, which reach beyond the interior.
kernel void heat_in_groups(float k, uint n, global const float *restrict x,
                           global float *restrict y) {
    size_t c = get_global_id(0), r = get_global_id(1), at = r * n + c;
    if (c >= n - 1 || r >= n - 1) return;
    float around = x[at - n] + x[at + n] + x[at - 1] + x[at + 1];
    y[at] = x[at] + k * (around - 4.0f * x[at]);
}

kernel void matmul(uint n, global const float *restrict a, global const float *restrict b,
                   global float *restrict y) {
    size_t c = get_global_id(0), r = get_global_id(1);
    float sum = 0.0f;
    for (uint k = 0; k < n; k++) sum += a[r * n + k] * b[k * n + c];
    y[r * n + c] = sum;
}

#define TILE 16
kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void tiled(uint n, global const float *restrict a, global const float *restrict b,
           global float *restrict y) {
    local float ta[TILE][TILE], tb[TILE][TILE];
    size_t c = get_global_id(0), r = get_global_id(1);
    size_t k = get_local_id(0), q = get_local_id(1);
    float sum = 0.0f;
    for (uint t = 0; t < n; t += TILE) {
        ta[q][k] = a[r * n + t + k];
        tb[q][k] = b[(t + q) * n + c];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint j = 0; j < TILE; j++) sum += ta[q][j] * tb[j][k];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    y[r * n + c] = sum;
}

// A sum for each group of 256 items, of 16 values each; then that of the sums, in one group.
kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void sum(uint n, global const float *restrict x, global float *restrict y) {
    local float all[256];
    size_t k = get_local_id(0);
    float own = 0.0f;
    for (size_t i = get_group_id(0) * 4096 + k, end = min((size_t)n, (get_group_id(0) + 1) * 4096);
         i < end; i += 256)
        own += x[i];
    all[k] = own;
    for (uint step = 128; step > 0; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (k < step) all[k] += all[k + step];
    }
    if (k == 0) y[get_group_id(0)] = all[0];
}

kernel void exponential(global const float *restrict x, global float *restrict y) {
    size_t i = get_global_id(0);
    y[i] = exp(x[i]);
}

static float normal(float x) {
    float t = 1.0f / (1.0f + 0.2316419f * fabs(x));
    float series = 0.31938153f
        + t * (-0.356563782f + t * (1.781477937f + t * (-1.821255978f + t * 1.330274429f)));
    float tail = 0.39894228f * exp(-0.5f * x * x) * t * series;
    return x < 0.0f ? tail : 1.0f - tail;
}

kernel void black_scholes(float rate, global const float *restrict spot,
                          global const float *restrict strike, global float *restrict call) {
    size_t i = get_global_id(0);
    float s = spot[i], k = strike[i], v = 0.3f;
    float d1 = (log(s / k) + rate + 0.5f * v * v) / v;
    call[i] = s * normal(d1) - k * exp(-rate) * normal(d1 - v);
}

kernel void bodies(uint n, global const float4 *restrict p, global float4 *restrict out) {
    float4 at = p[get_global_id(0)];
    float sx = 0.0f, sy = 0.0f, sz = 0.0f;
    for (uint j = 0; j < n; j++) {
        float4 other = p[j];
        float x = other.x - at.x, y = other.y - at.y, z = other.z - at.z;
        float near = 1.0f / sqrt(x * x + y * y + z * z + 1e-4f);
        float pull = other.w * near * near * near;
        sx += x * pull;
        sy += y * pull;
        sz += z * pull;
    }
    out[get_global_id(0)] = (float4)(sx, sy, sz, 0.0f);
}

kernel void gather(global const uint *restrict at, global const float *restrict x,
                   global float *restrict y) {
    size_t i = get_global_id(0);
    y[i] = x[at[i]];
}

// Small ones, of which the launch is what costs.
kernel void one(global float *a) {
    size_t i = get_global_id(0);
    a[i] = a[i] + 1.0f;
}

kernel void four(global float *a, global float *b, global float *c, global float *d) {
    size_t i = get_global_id(0);
    a[i] = a[i] + 1.0f;
    b[i] = b[i] + 1.0f;
    c[i] = c[i] + 1.0f;
    d[i] = d[i] + 1.0f;
}

kernel void added(global const float *a, global const float *b, global const float *c,
                  global float *d) {
    size_t i = get_global_id(0);
    d[i] = a[i] + b[i] + c[i];
}
