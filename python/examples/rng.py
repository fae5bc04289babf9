"""The random numbers of the built-in scenes (SplitMix64), so that these programs get the same inputs."""

import numpy as np

_STEP = np.uint64(0x9E3779B97F4A7C15)


class Rng:
    """The sequence of a seed."""

    def __init__(self, seed: int) -> None:
        self._state = np.uint64(seed)

    def bits(self, count: int) -> np.ndarray:
        """The next numbers of 64 bits."""
        with np.errstate(over="ignore"):
            states = self._state + _STEP * np.arange(1, count + 1, dtype=np.uint64)
            self._state = states[-1] if count else self._state
            z = (states ^ (states >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            return z ^ (z >> np.uint64(31))

    def below(self, limit: int) -> int:
        """A number below `limit`."""
        return (int(self.bits(1)[0]) >> 32) * limit >> 32

    def signed(self, count: int) -> np.ndarray:
        """Numbers in -1..1."""
        return (self.bits(count) >> np.uint64(40)).astype(np.float32) / np.float32(1 << 23) - np.float32(1)

    def shuffle(self, items: list) -> None:
        """Shuffles a list."""
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]


def pieces(total: int, size: int) -> list[tuple[int, int]]:
    """The pieces (start, length) of a range, all of one length except possibly the last."""
    return [(start, min(size, total - start)) for start in range(0, total, size)]
