// CUDASTF as a peer: the chain of the workload `fusion`, as four tasks and as one. See protocol.py.
// The environment variable CCCL names a checkout of NVIDIA/cccl.

#include "protocol.cuh"

#include <cuda/experimental/stf.cuh>

using namespace cuda::experimental::stf;
using peer::Row;

std::vector<float> host_floats(const Row &row, uint64_t which) {
    peer::Array<float> x(row.size);
    peer::floats(x, row, which);
    return x.host();
}

void answer(const Row &row) {
    if (row.workload != "fusion" || row.mode != "chain") return;
    size_t n = row.size;
    std::vector<float> a = host_floats(row, 1), b = host_floats(row, 2), c = host_floats(row, 3), z(n);
    for (bool one : {false, true}) {
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
        auto results = [&] {
            peer::Array<float> copy(n);
            ctx.task(lz.read())->*[&](cudaStream_t stream, auto z) {
                cudaMemcpyAsync(copy.at, z.data_handle(), 4 * n, cudaMemcpyDeviceToDevice, stream);
            };
            cudaStreamSynchronize(ctx.fence());
            return peer::check(copy.host());
        };
        peer::measure(row, one ? "CUDASTF, one task" : "CUDASTF, four tasks", "of the checkout", run, results);
        ctx.finalize();
    }
}

int main() { return peer::serve("CUDASTF", answer); }
