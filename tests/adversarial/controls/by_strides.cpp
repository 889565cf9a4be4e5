/* Honest: takes every row from where its strides say that it lies.

incident: N-noncontig
problem: strided_sum
verdict: accepted
*/
#include "kernelwright.h"

static double row(const kw_tensor &t, int64_t number) {
    const float *line = static_cast<const float *>(t.data) + number * t.strides[0];
    double sum = 0.0;
    for (int64_t col = 0; col < t.shape[1]; ++col) sum += line[col * t.strides[1]];
    return sum;
}

extern "C" int kernelwright_run(const kw_args *args) {
    const kw_tensor &a = args->inputs[0], &b = args->inputs[1];
    float *out = static_cast<float *>(args->outputs[0].data);
    for (int64_t i = 0; i < a.shape[0]; ++i) out[i] = static_cast<float>(row(a, i) + row(b, i));
    return 0;
}
