//! Protobuf's wire format, as much of it as a trace needs. Messages are built inside out into buffers that are used again,
//! so that a packet costs no allocation.

/// A message that is being built.
#[derive(Clone, Debug, Default)]
pub(super) struct Message {
    bytes: Vec<u8>,
}

/// The number of a field.
pub(super) type Field = u32;

impl Message {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    #[inline]
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    #[inline]
    fn tag(&mut self, field: Field, wire_type: u32) {
        self.varint(u64::from(field << 3 | wire_type));
    }

    /// A whole number that is not negative.
    #[inline]
    pub(super) fn number(&mut self, field: Field, value: u64) -> &mut Self {
        self.tag(field, 0);
        self.varint(value);
        self
    }

    /// A number of eight bytes, whatever its size.
    pub(super) fn fixed64(&mut self, field: Field, value: u64) -> &mut Self {
        self.tag(field, 1);
        self.bytes.extend_from_slice(&value.to_le_bytes());
        self
    }

    /// A number that is not whole.
    pub(super) fn double(&mut self, field: Field, value: f64) -> &mut Self {
        self.fixed64(field, value.to_bits())
    }

    /// Text, a message or any other bytes.
    #[inline]
    pub(super) fn bytes_field(&mut self, field: Field, value: &[u8]) -> &mut Self {
        self.tag(field, 2);
        self.varint(value.len() as u64);
        self.bytes.extend_from_slice(value);
        self
    }

    /// A message in this one.
    #[inline]
    pub(super) fn message(&mut self, field: Field, value: &Message) -> &mut Self {
        self.bytes_field(field, &value.bytes)
    }
}
