// The chain of `fusion.py` by CUDASTF, on the first CUDA device: as four tasks, and as one.
//
//     nvcc -std=c++17 -O3 --extended-lambda --expt-relaxed-constexpr -I CCCL/libcudacxx/include
//          -I CCCL/cudax/include -I CCCL/cub -I CCCL/thrust chain_stf.cu -lcuda -o chain_stf
//     ./chain_stf LOG2
//
// `fusion.py` does both, if there is `nvcc` and the environment variable CCCL names a checkout.

#include <cuda/experimental/stf.cuh>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace cuda::experimental::stf;

constexpr int ROUNDS = 20;

// One line: the median time, and the rate over the necessary bytes.
static void report(const char *name, size_t n, std::vector<double> seconds) {
    std::sort(seconds.begin(), seconds.end());
    double median = seconds[seconds.size() / 2];
    printf("%-16s %10.1f us %8.3f TB/s\n", name, median * 1e6, 16.0 * n / median / 1e12);
}

static bool right(const float *a, const float *b, const float *c, const float *z, size_t n) {
    for (size_t i = 0; i < std::min(n, size_t(1) << 20); i++) {
        double sum = double(a[i]) + b[i];
        if (std::fabs(z[i] - (sum * c[i] + 5 * sum)) > 1e-5) return false;
    }
    return true;
}

int main(int argc, char **argv) {
    size_t n = size_t(1) << (argc > 1 ? std::atoi(argv[1]) : 28);
    std::vector<float> a(n), b(n), c(n), z(n);
    unsigned seed = 1;
    auto next = [&seed] {
        seed = seed * 1664525u + 1013904223u;
        return float(seed >> 8) / float(1 << 24);
    };
    for (size_t i = 0; i < n; i++) a[i] = next(), b[i] = next(), c[i] = next();
    for (bool one : {false, true}) {
        std::vector<double> seconds;
        {
            stream_ctx ctx;
            auto la = ctx.logical_data(a.data(), n), lb = ctx.logical_data(b.data(), n);
            auto lc = ctx.logical_data(c.data(), n), lz = ctx.logical_data(z.data(), n);
            auto sum = ctx.logical_data(lz.shape()), product = ctx.logical_data(lz.shape());
            auto scaled = ctx.logical_data(lz.shape());
            auto run = [&] {
                if (one) {
                    ctx.parallel_for(lz.shape(), la.read(), lb.read(), lc.read(), lz.write())
                        ->*[] __device__(size_t i, auto a, auto b, auto c, auto z) {
                        float sum = a(i) + b(i);
                        z(i) = sum * c(i) + 5.0f * sum;
                    };
                    return;
                }
                ctx.parallel_for(sum.shape(), la.read(), lb.read(), sum.write())
                    ->*[] __device__(size_t i, auto a, auto b, auto s) { s(i) = a(i) + b(i); };
                ctx.parallel_for(sum.shape(), sum.read(), lc.read(), product.write())
                    ->*[] __device__(size_t i, auto s, auto c, auto p) { p(i) = s(i) * c(i); };
                ctx.parallel_for(sum.shape(), sum.read(), scaled.write())
                    ->*[] __device__(size_t i, auto s, auto t) { t(i) = 5.0f * s(i); };
                ctx.parallel_for(sum.shape(), product.read(), scaled.read(), lz.write())
                    ->*[] __device__(size_t i, auto p, auto t, auto z) { z(i) = p(i) + t(i); };
            };
            auto finish = [&] { cudaStreamSynchronize(ctx.fence()); };
            for (int round = 0; round < ROUNDS + 3; round++) {
                finish();
                auto start = std::chrono::steady_clock::now();
                run();
                finish();
                std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
                if (round >= 3) seconds.push_back(time.count());
            }
            ctx.finalize();
        }
        if (!right(a.data(), b.data(), c.data(), z.data(), n)) {
            printf("wrong: CUDASTF\n");
            return 1;
        }
        report(one ? "CUDASTF, one" : "CUDASTF", n, seconds);
    }
}
