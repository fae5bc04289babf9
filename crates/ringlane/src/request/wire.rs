//! A request as a head and numbered fields. A reader never goes beyond its slice, and takes no memory for what is not there.

use super::error::RequestError;

const MAGIC: [u8; 8] = *b"ringrqst";
const HEAD_BYTES: usize = 24;

/// What a request can hold, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum Field {
    Config = 1,
    Platform = 2,
    Dump = 3,
    Chip = 4,
    Policy = 5,
    Chaos = 6,
    Costs = 7,
    Runtime = 8,
    GraphMemory = 9,
    Slow = 10,
}

impl Field {
    const ALL: [Field; 10] = [
        Field::Config,
        Field::Platform,
        Field::Dump,
        Field::Chip,
        Field::Policy,
        Field::Chaos,
        Field::Costs,
        Field::Runtime,
        Field::GraphMemory,
        Field::Slow,
    ];

    /// Its name in errors.
    pub const fn as_str(self) -> &'static str {
        match self {
            Field::Config => "config",
            Field::Platform => "platform",
            Field::Dump => "dump",
            Field::Chip => "chip",
            Field::Policy => "policy",
            Field::Chaos => "chaos",
            Field::Costs => "costs",
            Field::Runtime => "runtime",
            Field::GraphMemory => "graph memory",
            Field::Slow => "slow",
        }
    }
}

/// A request that is being written.
pub struct Writer {
    bytes: Vec<u8>,
    fields: u32,
}

impl Writer {
    pub fn new(version: u32) -> Self {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(version.to_le_bytes());
        bytes.resize(HEAD_BYTES, 0);
        Writer { bytes, fields: 0 }
    }

    /// Adds a field; they come in the order of their numbers.
    pub fn field(&mut self, field: Field, content: &[u8]) {
        self.fields += 1;
        self.bytes.extend(u64::from(field as u32).to_le_bytes());
        self.bytes.extend((content.len() as u64).to_le_bytes());
        self.bytes.extend(content);
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
    }

    pub fn finish(mut self) -> Vec<u8> {
        let length = self.bytes.len() as u64;
        self.bytes[12..16].copy_from_slice(&self.fields.to_le_bytes());
        self.bytes[16..24].copy_from_slice(&length.to_le_bytes());
        self.bytes
    }
}

/// The fields of a request that was read.
#[derive(Default)]
pub struct Fields<'r>(Vec<(Field, &'r [u8])>);

impl<'r> Fields<'r> {
    /// Takes a request apart. What is in the fields is for others to check.
    pub fn read(bytes: &'r [u8], version: u32) -> Result<Self, RequestError> {
        let mut reader = Reader { part: "head", rest: bytes };
        let magic = reader.take(MAGIC.len() as u64)?;
        if magic != MAGIC {
            return Err(RequestError::corrupt("magic", Reader { part: "head", rest: magic }.u64()?));
        }
        let given = reader.u32()?;
        if given != version {
            return Err(RequestError::UnknownVersion { version: given });
        }
        let (count, need_bytes) = (reader.u32()?, reader.u64()?);
        let have_bytes = bytes.len() as u64;
        if need_bytes > have_bytes {
            return Err(RequestError::Truncated { part: "request", need_bytes, have_bytes });
        }
        if need_bytes < have_bytes {
            return Err(RequestError::corrupt("bytes after the end", have_bytes - need_bytes));
        }
        let mut fields = Fields::default();
        for _ in 0..count {
            let (field, content) = read_field(&mut reader)?;
            if fields.0.last().is_some_and(|(last, _)| *last >= field) {
                return Err(RequestError::corrupt("order of the fields", field as u32));
            }
            fields.0.push((field, content));
        }
        reader.end()?;
        Ok(fields)
    }

    /// A field that is there, if it is.
    pub fn get(&self, field: Field) -> Option<&'r [u8]> {
        self.0.iter().find(|(number, _)| *number == field).map(|(_, content)| *content)
    }

    /// Refuses a field that this build, without the feature for it, does not know.
    #[cfg(not(feature = "sim"))]
    pub fn refuse(&self, field: Field) -> Result<(), RequestError> {
        match self.get(field) {
            Some(content) => {
                Err(RequestError::UnknownField { number: field as u32, bytes: content.len() as u64 })
            }
            None => Ok(()),
        }
    }

    /// A field that every request has.
    pub fn required(&self, field: Field) -> Result<&'r [u8], RequestError> {
        self.get(field).ok_or(RequestError::MissingField { field: field.as_str() })
    }
}

fn read_field<'r>(reader: &mut Reader<'r>) -> Result<(Field, &'r [u8]), RequestError> {
    reader.part = "field";
    let (number, reserved, bytes) = (reader.u32()?, reader.u32()?, reader.u64()?);
    let field = Field::ALL.into_iter().find(|field| *field as u32 == number);
    let field = field.ok_or(RequestError::UnknownField { number, bytes })?;
    if reserved != 0 {
        return Err(RequestError::corrupt("reserved word of a field", reserved));
    }
    reader.part = field.as_str();
    let content = reader.take(bytes)?;
    let filling = reader.take(bytes.wrapping_neg() % 8)?;
    match filling.iter().find(|&&byte| byte != 0) {
        Some(&byte) => Err(RequestError::corrupt("filling after a field", byte)),
        None => Ok((field, content)),
    }
}

/// The rest of a part that is still to be read.
pub struct Reader<'r> {
    part: &'static str,
    rest: &'r [u8],
}

impl<'r> Reader<'r> {
    /// Reads the content of a field.
    pub fn new(field: Field, content: &'r [u8]) -> Self {
        Reader { part: field.as_str(), rest: content }
    }

    pub fn take(&mut self, need_bytes: u64) -> Result<&'r [u8], RequestError> {
        let have_bytes = self.rest.len() as u64;
        let taken = usize::try_from(need_bytes).ok().and_then(|bytes| self.rest.split_at_checked(bytes));
        let (taken, rest) =
            taken.ok_or(RequestError::Truncated { part: self.part, need_bytes, have_bytes })?;
        self.rest = rest;
        Ok(taken)
    }

    pub fn u32(&mut self) -> Result<u32, RequestError> {
        let bytes = self.take(4)?;
        Ok(u32::from_le_bytes(bytes.try_into().expect("four bytes were taken")))
    }

    pub fn u64(&mut self) -> Result<u64, RequestError> {
        let bytes = self.take(8)?;
        Ok(u64::from_le_bytes(bytes.try_into().expect("eight bytes were taken")))
    }

    /// Refuses what is left.
    pub fn end(self) -> Result<(), RequestError> {
        match self.rest.len() {
            0 => Ok(()),
            more => Err(RequestError::corrupt("bytes after the end", more as u64)),
        }
    }
}

/// The content of a field, or a part of it, as text.
pub fn text(field: Field, bytes: &[u8]) -> Result<&str, RequestError> {
    let part = field.as_str();
    str::from_utf8(bytes).map_err(|error| RequestError::NotText { field: part, at: error.valid_up_to() })
}

const _: () = assert!(HEAD_BYTES == MAGIC.len() + 16 && HEAD_BYTES.is_multiple_of(8));
