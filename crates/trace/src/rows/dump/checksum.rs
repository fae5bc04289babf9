//! The checksum of a payload, by which bytes that changed after they were written are found.

/// A CRC-32, as zlib and `zlib.crc32` of Python compute it, of bytes that come piece by piece.
///
/// ```
/// use ringlane_trace::dump::Checksum;
/// let mut checksum = Checksum::default();
/// checksum.add(b"1234");
/// checksum.add(b"56789");
/// assert_eq!(checksum.crc32(), 0xcbf4_3926);
/// assert_eq!(Checksum::of(b"123456789"), checksum.crc32());
/// ```
#[derive(Debug, Default)]
pub struct Checksum(crc32fast::Hasher);

impl Checksum {
    /// The checksum of bytes that are there at once.
    pub fn of(bytes: &[u8]) -> u32 {
        crc32fast::hash(bytes)
    }

    /// Adds the bytes that follow.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The checksum of all bytes so far.
    pub fn crc32(&self) -> u32 {
        self.0.clone().finalize()
    }
}
