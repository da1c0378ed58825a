// The protocol of peers in CUDA C++, and the data of rows: protocol.py says how both work.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <cuda_runtime.h>

namespace peer {

constexpr int PROTOCOL = 1;

inline void must(cudaError_t code) {
    if (code != cudaSuccess) throw std::runtime_error(cudaGetErrorString(code));
}

// A request.
struct Row {
    std::string workload, mode;
    size_t size = 0, seed = 0, rounds = 0, sample = 0;
};

inline std::string text(const std::string &line, const std::string &key) {
    size_t at = line.find("\"" + key + "\":\"");
    if (at == std::string::npos) return "";
    at += key.size() + 4;
    return line.substr(at, line.find('"', at) - at);
}

inline size_t number(const std::string &line, const std::string &key) {
    size_t at = line.find("\"" + key + "\":");
    return at == std::string::npos ? 0 : std::stoull(line.substr(at + key.size() + 3));
}

inline std::string escaped(const std::string &text) {
    std::string out;
    for (char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c < ' ' ? ' ' : c;
    }
    return out;
}

inline void say(const char *kind, const std::string &rest) {
    printf("{\"protocol\": %d, \"kind\": \"%s\"%s}\n", PROTOCOL, kind, rest.c_str());
    fflush(stdout);
}

inline void say_reason(const char *kind, const std::string &name, const std::string &reason) {
    say(kind, ", \"name\": \"" + name + "\", \"reason\": \"" + escaped(reason) + "\"");
}

// Memory of the device.
template <typename T>
struct Array {
    T *at = nullptr;
    size_t n = 0;

    explicit Array(size_t count) : n(count) { must(cudaMalloc(&at, std::max<size_t>(n, 1) * sizeof(T))); }
    explicit Array(const std::vector<T> &values) : Array(values.size()) {
        must(cudaMemcpy(at, values.data(), n * sizeof(T), cudaMemcpyHostToDevice));
    }
    Array(const Array &) = delete;
    ~Array() { cudaFree(at); }

    std::vector<T> host() const { return host(n); }
    std::vector<T> host(size_t count) const {
        std::vector<T> values(count);
        must(cudaMemcpy(values.data(), at, count * sizeof(T), cudaMemcpyDeviceToHost));
        return values;
    }
};

// SplitMix64.
__device__ inline uint32_t word(uint64_t start, uint64_t at) {
    uint64_t z = start + (at + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return uint32_t((z ^ (z >> 31)) >> 32);
}

template <typename T, typename F>
__global__ void filled(T *out, size_t n, uint64_t start, F of) {
    size_t at = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (at < n) out[at] = of(word(start, at));
}

// Random data: a function of each word.
template <typename T, typename F>
void fill(Array<T> &array, const Row &row, uint64_t which, F of) {
    uint64_t start = row.seed ^ (which * 0xa0761d6478bd642full);
    filled<<<unsigned((array.n + 255) / 256), 256>>>(array.at, array.n, start, of);
    must(cudaDeviceSynchronize());
}

struct ToFloat {
    __device__ float operator()(uint32_t word) const { return 0.5f + float(word >> 8) / float(1 << 24); }
};

inline void floats(Array<float> &array, const Row &row, uint64_t which) { fill(array, row, which, ToFloat{}); }

struct ToWord {
    __device__ uint32_t operator()(uint32_t word) const { return word; }
};

inline void words(Array<uint32_t> &array, const Row &row, uint64_t which) { fill(array, row, which, ToWord{}); }

// The check value: a weighted mean, the root mean square, and 16 elements.
template <typename T>
std::vector<double> check(const std::vector<T> &values) {
    double mean = 0, square = 0;
    size_t n = values.size();
    for (size_t at = 0; at < n; at++) {
        double value = double(values[at]);
        mean += value * (1.0 + double(at % 1024) / 1024);
        square += value * value;
    }
    std::vector<double> out = {mean / std::max<size_t>(n, 1), std::sqrt(square / std::max<size_t>(n, 1))};
    for (size_t k = 0; k < 16 && n > 0; k++) out.push_back(double(values[k * (n - 1) / 15]));
    return out;
}

inline std::string list(const std::vector<double> &values) {
    std::string out = "[";
    for (double value : values) {
        char digits[40];
        snprintf(digits, sizeof digits, "%.17g", value);
        out += (out.size() > 1 ? ", " : "") + std::string(digits);
    }
    return out + "]";
}

inline double timed(const std::function<void()> &run, size_t times) {
    auto start = std::chrono::steady_clock::now();
    for (size_t at = 0; at < times; at++) run();
    must(cudaDeviceSynchronize());
    std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
    return time.count() / times;
}

// Measures a form and prints its line. `results` gives the check value after one run.
inline void measure(const Row &row, const std::string &name, const std::string &version,
                    const std::function<void()> &run, const std::function<std::vector<double>()> &results) {
    timed(run, 1);
    std::vector<double> value = results();
    for (double one : value)
        if (!std::isfinite(one)) throw std::runtime_error("results that are no numbers");
    timed(run, 1);
    size_t times = std::min<size_t>(std::max<size_t>(size_t(row.sample / timed(run, 1)), 1), 10000);
    std::vector<double> samples;
    for (size_t round = 0; round < row.rounds; round++) samples.push_back(timed(run, times));
    say("result", ", \"workload\": \"" + row.workload + "\", \"mode\": \"" + row.mode + "\", \"size\": " +
                      std::to_string(row.size) + ", \"name\": \"" + name + "\", \"version\": \"" + version +
                      "\", \"samples\": " + list(samples) + ", \"check\": " + list(value));
}

// Answers all requests by a function that measures the forms of a row it knows.
inline int serve(const char *library, const std::function<void(const Row &)> &answer) {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        say_reason("absent", library, "no CUDA device");
        return 0;
    }
    for (std::string line; std::getline(std::cin, line);) {
        Row row{text(line, "workload"), text(line, "mode"), number(line, "size"), number(line, "seed"),
                number(line, "rounds"), number(line, "sample")};
        try {
            answer(row);
        } catch (const std::exception &why) {
            say_reason("failed", library, why.what());
        }
        say("done", "");
    }
    return 0;
}

}  // namespace peer
