// B is replaced by X with X·Lᵀ = B.
//
// Column by column: a step subtracts the column from those after it and leaves it undivided, so that one barrier is enough;
// the last pass divides. Both tiles are in scratch memory if they fit.
const u32 rows = b.shape(0), n = b.shape(1);
const bool fits = ((u64)rows + n) * (n + 1) * 4 <= RL_SCRATCH_BYTES;
rl_scratch(float, room, fits ? ((u64)rows + n) * (n + 1) : 0);
if (rows == 0 || n == 0) return;
float *const x = fits ? room : &b(0, 0);
const float *const t = fits ? room + (u64)rows * (n + 1) : &l(0, 0);
const u64 down = fits ? n + 1 : b.stride(0), right = fits ? 1 : b.stride(1);
const u64 t_down = fits ? n + 1 : l.stride(0), t_right = fits ? 1 : l.stride(1);
const u32 wide = blockDim.x < 256 ? 1 : 16, high = blockDim.x / wide;
const u32 ti = threadIdx.x / wide, tj = threadIdx.x % wide;
if (fits) {
    for (u32 i = ti; i < rows; i += high)
        for (u32 j = tj; j < n; j += wide) x[i * down + j] = b(i, j);
    for (u32 i = ti; i < n; i += high)
        for (u32 j = tj; j <= i; j += wide) ((float *)t)[i * t_down + j] = l(i, j);
}
for (u32 j = 0; j < n; j++) {
    rl_sync();
    const float inverse = 1.0f / t[j * (t_down + t_right)];
    for (u32 i = ti; i < rows; i += high) {
        const float factor = x[i * down + j * right] * inverse;
        for (u32 k = j + 1 + tj; k < n; k += wide) x[i * down + k * right] -= factor * t[k * t_down + j * t_right];
    }
}
rl_sync();
for (u32 i = ti; i < rows; i += high)
    for (u32 j = tj; j < n; j += wide) b(i, j) = x[i * down + j * right] / t[j * (t_down + t_right)];
