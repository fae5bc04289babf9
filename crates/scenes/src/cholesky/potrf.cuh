// The Cholesky factor of A replaces its lower triangle.
//
// Column by column: a step subtracts the column from the rest of the triangle and leaves it undivided, so that one barrier
// is enough; the last pass divides each column by the root of its pivot. The triangle is in scratch memory if it fits.
const u32 n = a.shape(0);
const bool fits = (u64)n * (n + 1) * 4 <= RL_SCRATCH_BYTES;
rl_scratch(float, room, fits ? (u64)n * (n + 1) : 0);
float *const m = fits ? room : n ? &a(0, 0) : room;
const u64 down = fits ? n + 1 : a.stride(0), right = fits ? 1 : a.stride(1);
const u32 wide = blockDim.x < 256 ? 1 : 16, high = blockDim.x / wide;
const u32 ti = threadIdx.x / wide, tj = threadIdx.x % wide;
if (fits) {
    for (u32 i = ti; i < n; i += high)
        for (u32 j = tj; j <= i; j += wide) m[i * down + j] = a(i, j);
}
for (u32 j = 0; j < n; j++) {
    rl_sync();
    const float pivot = m[j * (down + right)];
    if (pivot <= 0.0f) {
        rl_fail("the matrix is not positive definite");
        return;
    }
    const float inverse = 1.0f / pivot;
    for (u32 i = j + 1 + ti; i < n; i += high) {
        const float factor = m[i * down + j * right] * inverse;
        for (u32 k = j + 1 + tj; k <= i; k += wide) m[i * down + k * right] -= factor * m[k * down + j * right];
    }
}
rl_sync();
for (u32 i = ti; i < n; i += high)
    for (u32 j = tj; j < i; j += wide) a(i, j) = m[i * down + j * right] / sqrtf(m[j * (down + right)]);
rl_sync();
rl_each(i, n) a(i, i) = sqrtf(m[i * (down + right)]);
