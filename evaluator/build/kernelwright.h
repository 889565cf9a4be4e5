/* The C ABI of Kernelwright's compiled candidates. Valid C99 and C++17; docs/candidates.md explains it.
 *
 * A candidate exports one function:
 *
 *     extern "C" int kernelwright_run(const kw_args *args);
 *
 * It reads the inputs and parameters, writes every element of every output, and returns 0. Any other return value
 * is a runtime error.
 */
#ifndef KERNELWRIGHT_H
#define KERNELWRIGHT_H

#include <stdint.h>

#define KW_ABI_VERSION 1u

/* Element types: the values of kw_tensor.dtype. */
enum kw_dtype {
    KW_FLOAT32 = 1,
    KW_FLOAT64 = 2,
    KW_FLOAT16 = 3,  /* IEEE binary16 */
    KW_BFLOAT16 = 4, /* the upper half of a binary32 */
    KW_INT64 = 5,
    KW_INT32 = 6,
    KW_INT16 = 7,
    KW_INT8 = 8,
    KW_UINT8 = 9,
    KW_BOOL = 10 /* one byte, 0 or 1 */
};

typedef struct kw_tensor {
    void *data;             /* the first element */
    int32_t dtype;          /* enum kw_dtype */
    int32_t rank;           /* number of dimensions; 0 for a single value */
    const int64_t *shape;   /* `rank` sizes, outermost first */
    const int64_t *strides; /* `rank` strides, in elements */
    int64_t bytes;          /* from the first element to the end of the last */
} kw_tensor;

typedef struct kw_args {
    uint32_t abi_version; /* KW_ABI_VERSION */
    uint32_t threads;     /* threads to use; OMP_NUM_THREADS says the same */
    uint32_t n_inputs;
    uint32_t n_parameters;
    uint32_t n_outputs;
    const kw_tensor *inputs;     /* in call order, read only unless declared mutated; numbers as rank 0 */
    const kw_tensor *parameters; /* read only, the reference module's state dict in its order */
    const kw_tensor *outputs;    /* in return order, contiguous, full of garbage before each call */
} kw_args;

#ifdef __cplusplus
extern "C" {
#endif

int kernelwright_run(const kw_args *args);

#ifdef __cplusplus
}
#endif

#endif
