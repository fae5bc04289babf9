//! Entries of the device's lists: one block of one task each, as `device/worker.h` reads them.

#![forbid(unsafe_code)]

/// Words of an entry for arguments and for the flags that it waits for.
pub(crate) const PAYLOAD_WORDS: usize = 27;
/// Arguments of at most this many words are in an entry, however many flags it waits for.
const INLINE_WORDS: usize = 23;

/// What an entry is: bits of its kind.
pub(crate) mod kind {
    /// The device zeroes what the task makes.
    pub(crate) const MAKES_OUTPUTS: u8 = 1;
    /// It waits for its predecessors, and does nothing else.
    pub(crate) const ONLY_WAITS: u8 = 2;
    /// The task has several blocks: the last one to end sets the flag.
    pub(crate) const MANY_BLOCKS: u8 = 4;
    /// It initializes memory, and runs no kernel.
    pub(crate) const INITIALIZES: u8 = 8;
    /// A task on another list waits for the flag.
    pub(crate) const PUBLISHES: u8 = 16;
}

/// An entry of a list. The fields are described in `device/worker.h`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(8))]
pub(crate) struct Entry {
    pub(crate) kernel: u16,
    pub(crate) predecessors: u8,
    pub(crate) kind: u8,
    pub(crate) words: u32,
    pub(crate) block: u32,
    pub(crate) blocks: u32,
    pub(crate) flag: u32,
    pub(crate) last: u32,
    pub(crate) task: u32,
    pub(crate) index: u32,
    pub(crate) far_words: u64,
    pub(crate) payload: [u64; PAYLOAD_WORDS],
}

impl Entry {
    /// Whether arguments of this many words are in the entry, and not elsewhere, where a block waits to read them.
    pub(crate) fn has_room(words: usize, flags: usize) -> bool {
        words <= INLINE_WORDS || words + flags.div_ceil(2) <= PAYLOAD_WORDS
    }

    /// How many flags an entry has room for beside this many words.
    pub(crate) const fn flags_max(words: usize) -> usize {
        2 * (PAYLOAD_WORDS - words)
    }

    /// The flags that it waits for.
    pub(crate) fn flags(&self) -> impl Iterator<Item = u32> {
        (0..usize::from(self.predecessors)).map(|number| {
            let word = self.payload[PAYLOAD_WORDS - 1 - number / 2];
            if number % 2 == 0 { (word >> 32) as u32 } else { word as u32 }
        })
    }

    /// Sets the flags that it waits for: they are stored from the end of the payload.
    pub(crate) fn wait_for(&mut self, flags: &[u32]) {
        self.predecessors = flags.len() as u8;
        for (pair, word) in flags.chunks(2).zip(self.payload.iter_mut().rev()) {
            // Little-endian: the first flag is the last half of the payload.
            *word = u64::from(pair[0]) << 32 | (*word & 0xffff_ffff);
            if let Some(&second) = pair.get(1) {
                *word = *word & !0xffff_ffff | u64::from(second);
            }
        }
    }
}

const _: () = assert!(size_of::<Entry>() == 256);

/// What a block says on the host's side: memory that both use.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Board {
    pub(crate) failed: u32,
    pub(crate) task: u32,
    pub(crate) index: u32,
    pub(crate) text_len: u32,
    pub(crate) epoch: u32,
    pub(crate) text: [u8; 236],
}

const _: () = assert!(size_of::<Board>() == 256);

/// When and where an entry ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Times {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) cycles: u64,
    pub(crate) processor: u32,
    pub(crate) unused: u32,
}

/// What a launch is given: `rl_grid` of `device/worker.h`, addresses as the device has them.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Grid {
    pub(crate) entries: u64,
    pub(crate) first: u64,
    pub(crate) flags: u64,
    pub(crate) counts: u64,
    pub(crate) halt: u64,
    pub(crate) progress: u64,
    pub(crate) spaces: u64,
    pub(crate) boards: u64,
    pub(crate) times: u64,
    pub(crate) alarm: u64,
    pub(crate) epoch: u64,
}

/// The bytes of plain values, to copy them to the device.
pub(crate) trait Plain: Copy {}
impl Plain for u32 {}
impl Plain for u64 {}
impl Plain for Entry {}
impl Plain for Times {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_beside_arguments_or_in_their_place() {
        for (words, flags, has_room) in
            [(23, 200, true), (24, 6, true), (25, 4, true), (25, 5, false), (27, 0, true), (28, 0, false)]
        {
            assert_eq!(Entry::has_room(words, flags), has_room, "{words} words, {flags} flags");
        }
        let mut entry = Entry { payload: [7; PAYLOAD_WORDS], ..Entry::default() };
        entry.wait_for(&[1, 2, 3]);
        assert_eq!(entry.flags().collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(entry.payload[..PAYLOAD_WORDS - 2], [7; PAYLOAD_WORDS - 2]);
    }
}
