// CUB as a peer: reductions, scans, sorts and what is made of them. See protocol.py.

#include "protocol.cuh"

#include <cub/cub.cuh>
#include <thrust/execution_policy.h>
#include <thrust/gather.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/transform_output_iterator.h>

using namespace peer;

static const std::string VERSION = std::to_string(CUB_MAJOR_VERSION) + "." + std::to_string(CUB_MINOR_VERSION) + "." +
                                   std::to_string(CUB_SUBMINOR_VERSION);

// A call that asks for temporary memory first: made once, run often.
template <typename Call>
void form(const Row &row, Call call, const std::function<std::vector<double>()> &results,
          const char *name = "CUB") {
    size_t bytes = 0;
    must(call(nullptr, bytes));
    Array<char> memory(bytes);
    measure(row, name, VERSION, [&] { must(call(memory.at, bytes)); }, results);
}

template <typename T>
void sum(const Row &row, const Array<T> &x) {
    Array<T> y(1);
    form(row, [&](void *t, size_t &b) { return cub::DeviceReduce::Sum(t, b, x.at, y.at, int64_t(x.n)); },
         [&] { return check(y.host()); });
}

template <typename T>
void scan(const Row &row, const Array<T> &x) {
    Array<T> y(x.n);
    form(row, [&](void *t, size_t &b) { return cub::DeviceScan::InclusiveSum(t, b, x.at, y.at, int64_t(x.n)); },
         [&] { return check(y.host()); });
}

template <typename T>
void sort(const Row &row, const Array<T> &x) {
    Array<T> y(x.n);
    form(row, [&](void *t, size_t &b) { return cub::DeviceRadixSort::SortKeys(t, b, x.at, y.at, int64_t(x.n)); },
         [&] { return check(y.host()); });
}

// Of the values in the order of the keys.
void pairs(const Row &row, const Array<uint32_t> &keys, const Array<uint32_t> &values) {
    Array<uint32_t> k(keys.n), v(keys.n);
    form(row,
         [&](void *t, size_t &b) {
             return cub::DeviceRadixSort::SortPairs(t, b, keys.at, k.at, values.at, v.at, int64_t(keys.n));
         },
         [&] { return check(v.host()); });
}

struct Before {
    __device__ float operator()(float x) const { return 0.5f * x + 0.25f; }
};

struct After {
    __device__ float operator()(float x) const { return x * 0.25f + 1.0f; }
};

void mapped_scan(const Row &row, const Array<float> &x) {
    Array<float> y(x.n);
    auto in = thrust::make_transform_iterator((const float *)x.at, Before{});
    auto out = thrust::make_transform_output_iterator(y.at, After{});
    form(row, [&](void *t, size_t &b) { return cub::DeviceScan::InclusiveSum(t, b, in, out, int64_t(x.n)); },
         [&] { return check(y.host()); }, "CUB with iterators");
}

struct Moments {
    float most, sum, square;
};

struct OfOne {
    __device__ Moments operator()(float x) const {
        x -= 1.0f;
        return {fabsf(x), fabsf(x), x * x};
    }
};

struct Together {
    __host__ __device__ Moments operator()(const Moments &a, const Moments &b) const {
        return {a.most > b.most ? a.most : b.most, a.sum + b.sum, a.square + b.square};
    }
};

void moments(const Row &row, const Array<float> &x) {
    Array<Moments> y(1);
    auto in = thrust::make_transform_iterator((const float *)x.at, OfOne{});
    form(row,
         [&](void *t, size_t &b) {
             return cub::DeviceReduce::Reduce(t, b, in, y.at, int64_t(x.n), Together{}, Moments{0, 0, 0});
         },
         [&] {
             Moments all = y.host()[0];
             float n = float(x.n);
             return check(std::vector<float>{all.most, all.sum / n, all.square / n});
         },
         "CUB with iterators");
}

void segments(const Row &row, const Array<float> &x) {
    constexpr size_t LONG = 1000;
    std::vector<int64_t> ends;
    for (size_t at = 0; at < x.n; at += LONG) ends.push_back(int64_t(at));
    ends.push_back(int64_t(x.n));
    Array<int64_t> offsets(ends);
    Array<float> y(ends.size() - 1);
    form(row,
         [&](void *t, size_t &b) {
             return cub::DeviceSegmentedReduce::Sum(t, b, x.at, y.at, int64_t(y.n), offsets.at, offsets.at + 1);
         },
         [&] { return check(y.host()); });
}

struct Remainder {
    uint32_t by;
    __device__ uint32_t operator()(uint32_t word) const { return word % by; }
};

struct Flag {
    __device__ uint32_t operator()(uint32_t word) const { return word & 1; }
};

struct Few {
    __device__ uint32_t operator()(uint32_t word) const { return word >> 30; }
};

void histogram(const Row &row, size_t n) {
    Array<uint32_t> x(n), bins(256);
    fill(x, row, 1, Remainder{256});
    form(row,
         [&](void *t, size_t &b) {
             return cub::DeviceHistogram::HistogramEven(t, b, x.at, bins.at, 257, 0u, 256u, int64_t(n));
         },
         [&] { return check(bins.host()); });
}

void compact(const Row &row, const Array<float> &x) {
    Array<uint32_t> keep(x.n);
    fill(keep, row, 2, Flag{});
    Array<float> y(x.n);
    Array<int64_t> count(1);
    form(row,
         [&](void *t, size_t &b) {
             return cub::DeviceSelect::Flagged(t, b, x.at, keep.at, y.at, count.at, int64_t(x.n));
         },
         [&] { return check(y.host(size_t(count.host()[0]))); });
}

void unique(const Row &row, size_t n) {
    Array<uint32_t> x(n), y(n);
    Array<int64_t> count(1);
    fill(x, row, 1, Few{});
    form(row, [&](void *t, size_t &b) { return cub::DeviceSelect::Unique(t, b, x.at, y.at, count.at, int64_t(n)); },
         [&] { return check(y.host(size_t(count.host()[0]))); });
}

void gather(const Row &row, const Array<float> &x) {
    Array<uint32_t> at(x.n);
    Array<float> y(x.n);
    fill(at, row, 1, Remainder{uint32_t(x.n)});
    auto run = [&] { thrust::gather(thrust::cuda::par_nosync, at.at, at.at + at.n, x.at, y.at); };
    measure(row, "Thrust", VERSION, run, [&] { return check(y.host()); });
}


__global__ void count_up(uint32_t *out, size_t n) {
    size_t at = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (at < n) out[at] = uint32_t(at);
}

void answer(const Row &row) {
    const std::string &w = row.workload, &m = row.mode;
    size_t n = row.size;
    bool of_words = (w == "algorithms" && (m == "reduction" || m == "scan" || m == "sort")) ||
                    (w == "library" && (m == "scan u32" || m == "sort u64" || m == "sort by key" || m == "sort order"));
    bool of_floats = (w == "indices" && m == "gather") ||
                     (w == "library" && (m == "sum f32" || m == "three sums" || m == "scan f32" ||
                                         m == "map, scan, map" || m == "segmented sum" || m == "sort f32" ||
                                         m == "compact" || m == "gather"));
    if (of_words) {
        Array<uint32_t> x(m == "sort u64" ? 2 * n : n);
        words(x, row, 1);
        if (m == "reduction") return sum(row, x);
        if (m == "scan" || m == "scan u32") return scan(row, x);
        if (m == "sort u64") {
            Array<uint64_t> keys(n);
            must(cudaMemcpy(keys.at, x.at, 8 * n, cudaMemcpyDeviceToDevice));
            return sort(row, keys);
        }
        Array<uint32_t> values(n);
        if (m == "sort by key") {
            words(values, row, 2);
            return pairs(row, x, values);
        }
        if (m == "sort order") {
            count_up<<<unsigned((n + 255) / 256), 256>>>(values.at, n);
            return pairs(row, x, values);
        }
        return sort(row, x);
    }
    if (of_floats) {
        Array<float> x(n);
        floats(x, row, m == "gather" ? 2 : 1);
        if (m == "sum f32") return sum(row, x);
        if (m == "three sums") return moments(row, x);
        if (m == "scan f32") return scan(row, x);
        if (m == "map, scan, map") return mapped_scan(row, x);
        if (m == "segmented sum") return segments(row, x);
        if (m == "sort f32") return sort(row, x);
        if (m == "compact") return compact(row, x);
        return gather(row, x);
    }
    if (m == "histogram") return histogram(row, n);
    if (w == "library" && m == "unique") return unique(row, n);
}

int main() { return serve("CUB", answer); }
