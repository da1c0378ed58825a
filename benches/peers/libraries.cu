// cuBLAS, cuFFT and cuSPARSE as peers. See protocol.py.

#include "protocol.cuh"

#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cufft.h>
#include <cusparse.h>

using namespace peer;

template <typename Code>
void fine(Code code, const char *call) {
    if (int(code) != 0) throw std::runtime_error(std::string(call) + " says " + std::to_string(int(code)));
}

std::string dotted(int version, int major, int minor) {
    return std::to_string(version / major) + "." + std::to_string(version % major / minor) + "." +
           std::to_string(version % minor);
}

struct ToDouble {
    __device__ double operator()(uint32_t word) const { return ToFloat{}(word); }
};

struct ToHalf {
    __device__ __nv_bfloat16 operator()(uint32_t word) const { return __float2bfloat16(ToFloat{}(word)); }
};

struct Blas {
    cublasHandle_t handle = nullptr;
    std::string version;

    Blas() {
        fine(cublasCreate(&handle), "cublasCreate");
        int number = 0;
        cublasGetVersion(handle, &number);
        version = dotted(number, 10000, 100);
    }
    ~Blas() { cublasDestroy(handle); }
};

// The transposed product of the transposed matrices, since cuBLAS has columns first.
template <typename T, typename F>
void product(const Row &row, cudaDataType type, cublasComputeType_t compute, F of) {
    size_t n = row.size;
    Blas blas;
    Array<T> a(n * n), b(n * n), c(n * n);
    fill(a, row, 1, of);
    fill(b, row, 2, of);
    float one = 1, zero = 0;
    double wide_one = 1, wide_zero = 0;
    bool is_wide = compute == CUBLAS_COMPUTE_64F;
    const void *alpha = is_wide ? (void *)&wide_one : &one, *beta = is_wide ? (void *)&wide_zero : &zero;
    int k = int(n);
    auto run = [&] {
        fine(cublasGemmEx(blas.handle, CUBLAS_OP_N, CUBLAS_OP_N, k, k, k, alpha, b.at, type, k, a.at, type, k, beta,
                          c.at, type, k, compute, CUBLAS_GEMM_DEFAULT),
             "cublasGemmEx");
    };
    measure(row, "cuBLAS", blas.version, run, [&] {
        std::vector<float> values;
        for (T value : c.host()) values.push_back(float(value));
        return check(values);
    });
}

void transform(const Row &row, size_t length) {
    Array<float> x(2 * row.size), y(2 * row.size);
    floats(x, row, 1);
    cufftHandle plan;
    fine(cufftPlan1d(&plan, int(length), CUFFT_C2C, int(row.size / length)), "cufftPlan1d");
    int number = 0;
    cufftGetVersion(&number);
    auto run = [&] {
        fine(cufftExecC2C(plan, (cufftComplex *)x.at, (cufftComplex *)y.at, CUFFT_FORWARD), "cufftExecC2C");
    };
    measure(row, "cuFFT", dotted(number, 1000, 100), run, [&] { return check(y.host()); });
    cufftDestroy(plan);
}

// A row for each point of a square grid: 4 for itself, -1 for each neighbour.
void sparse_product(const Row &row) {
    int64_t n = int64_t(row.size), g = int64_t(std::llround(std::sqrt(double(n))));
    std::vector<int> starts = {0}, columns;
    std::vector<float> values;
    for (int64_t at = 0; at < n; at++) {
        int64_t r = at / g, c = at % g;
        auto add = [&](bool is_there, int64_t column, float value) {
            if (is_there) columns.push_back(int(column)), values.push_back(value);
        };
        add(r > 0, at - g, -1), add(c > 0, at - 1, -1), add(true, at, 4);
        add(c < g - 1, at + 1, -1), add(r < g - 1, at + g, -1);
        starts.push_back(int(columns.size()));
    }
    Array<int> s(starts), k(columns);
    Array<float> v(values), x(n), y(n);
    floats(x, row, 1);
    cusparseHandle_t handle;
    fine(cusparseCreate(&handle), "cusparseCreate");
    cusparseSpMatDescr_t matrix;
    cusparseDnVecDescr_t from, to;
    fine(cusparseCreateCsr(&matrix, n, n, int64_t(values.size()), s.at, k.at, v.at, CUSPARSE_INDEX_32I,
                           CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F),
         "cusparseCreateCsr");
    fine(cusparseCreateDnVec(&from, n, x.at, CUDA_R_32F), "cusparseCreateDnVec");
    fine(cusparseCreateDnVec(&to, n, y.at, CUDA_R_32F), "cusparseCreateDnVec");
    float one = 1, zero = 0;
    int number = 0;
    cusparseGetVersion(handle, &number);
    for (auto [name, kind] : {std::pair{"cuSPARSE", CUSPARSE_SPMV_ALG_DEFAULT},
                              std::pair{"cuSPARSE, second", CUSPARSE_SPMV_CSR_ALG2}}) {
        size_t bytes = 0;
        fine(cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, from, &zero, to,
                                     CUDA_R_32F, kind, &bytes),
             "cusparseSpMV_bufferSize");
        Array<char> memory(bytes);
        fine(cusparseSpMV_preprocess(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, from, &zero, to,
                                     CUDA_R_32F, kind, memory.at),
             "cusparseSpMV_preprocess");
        auto run = [&, kind = kind] {
            fine(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, from, &zero, to, CUDA_R_32F,
                              kind, memory.at),
                 "cusparseSpMV");
        };
        measure(row, name, dotted(number, 1000, 100), run, [&] { return check(y.host()); });
    }
    cusparseDestroyDnVec(from);
    cusparseDestroyDnVec(to);
    cusparseDestroySpMat(matrix);
    cusparseDestroy(handle);
}

void answer(const Row &row) {
    const std::string &w = row.workload, &m = row.mode;
    if ((w == "matmul" && m == "tiled") || (w == "linear" && m == "product f32"))
        return product<float>(row, CUDA_R_32F, CUBLAS_COMPUTE_32F, ToFloat{});
    if (w != "linear") return;
    if (m == "product f64") return product<double>(row, CUDA_R_64F, CUBLAS_COMPUTE_64F, ToDouble{});
    if (m == "product bf16") return product<__nv_bfloat16>(row, CUDA_R_16BF, CUBLAS_COMPUTE_32F, ToHalf{});
    if (m == "transform") return transform(row, row.size);
    if (m == "transform of rows") return transform(row, 1024);
    if (m == "sparse product") return sparse_product(row);
}

int main() { return serve("cuBLAS", answer); }
