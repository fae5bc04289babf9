// Advances a tile by some steps of the heat equation.
//
// A piece of the tile with its halo is in scratch memory, twice: each step reads one copy and writes the other. A step
// computes only the cells that the steps after it need. The piece is the whole tile if that fits.
const u32 count = steps > 0 ? steps : 1, halo = 2 * count;
const u32 rows = tile.shape(0), cols = tile.shape(1), height = view.shape(0), width = view.shape(1);
const bool fits = ((u64)rows + halo) * (cols + halo) * 8 <= RL_SCRATCH_BYTES;
const u32 side = halo < 142 ? 143 - halo : 1;
const u32 high_piece = fits ? rows : side, wide_piece = fits ? cols : side;
const u64 cells = count == 1 ? 0 : ((u64)high_piece + halo) * (wide_piece + halo);
rl_scratch(float, room, 2 * cells);
const u32 wide = blockDim.x < 256 ? 1 : 32, high = blockDim.x / wide;
const u32 ti = threadIdx.x / wide, tj = threadIdx.x % wide;
for (u32 y = top; y < top + rows; y += high_piece)
for (u32 x = left; x < left + cols; x += wide_piece) {
    const u32 y_end = (u32)rl_min(y + high_piece, top + rows), x_end = (u32)rl_min(x + wide_piece, left + cols);
    // The piece with its halo, in rows and columns of the view.
    const u32 y0 = y < count ? 0 : y - count, x0 = x < count ? 0 : x - count;
    const u32 y1 = (u32)rl_min((u64)y_end + count, height), x1 = (u32)rl_min((u64)x_end + count, width);
    const u64 pitch = count == 1 ? view.stride(0) : x1 - x0;
    // One step alone reads the view itself.
    const float *now = count == 1 ? &view(y0, x0) : room;
    float *next = room + cells;
    rl_sync();
    if (count > 1) {
        for (u32 i = y0 + ti; i < y1; i += high)
            for (u32 j = x0 + tj; j < x1; j += wide) room[(i - y0) * pitch + j - x0] = view(i, j);
    }
    for (u32 margin = count; margin-- > 0;) {
        rl_sync();
        const u32 from_i = y < margin ? 0 : y - margin, to_i = (u32)rl_min((u64)y_end + margin, height);
        const u32 from_j = x < margin ? 0 : x - margin, to_j = (u32)rl_min((u64)x_end + margin, width);
        for (u32 i = from_i + ti; i < to_i; i += high) {
            for (u32 j = from_j + tj; j < to_j; j += wide) {
                const u64 at = (i - y0) * pitch + j - x0;
                float cell = now[at];
                if (i > 0 && i + 1 < height && j > 0 && j + 1 < width) {
                    const float around = (now[at - pitch] + now[at + pitch]) + (now[at - 1] + now[at + 1]);
                    cell += 0.125f * (around - 4.0f * cell);
                }
                if (margin == 0) tile(i - top, j - left) = cell;
                else next[at] = cell;
            }
        }
        float *const written = next;
        next = (float *)now;
        now = written;
    }
}
