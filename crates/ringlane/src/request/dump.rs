//! Which arguments a dump captures, as a field of a request.

use ringlane_probe::{DumpSelection, SelectedKernel};

use super::error::RequestError;
use super::wire::{Field, Fields, Reader, Writer, text};

const MARKED: u32 = 1;
const KERNELS: u32 = 2;
const EVERY_ARGUMENT: u32 = u32::MAX;

/// Adds the selection, unless it is everything.
pub fn write(dump: &DumpSelection, writer: &mut Writer) {
    let kernels: &[SelectedKernel] = match dump {
        DumpSelection::Kernels(kernels) => kernels,
        DumpSelection::Everything => return,
        DumpSelection::Marked => &[],
    };
    let kind = if kernels.is_empty() { MARKED } else { KERNELS };
    let mut bytes = [kind, kernels.len() as u32].map(u32::to_le_bytes).concat();
    for SelectedKernel { name, arg } in kernels {
        let arg = arg.map_or(EVERY_ARGUMENT, u32::from);
        bytes.extend([name.len() as u32, arg].map(u32::to_le_bytes).concat());
        bytes.extend(name.as_bytes());
    }
    writer.field(Field::Dump, &bytes);
}

/// Reads it back.
pub fn read(fields: &Fields<'_>) -> Result<DumpSelection, RequestError> {
    let Some(bytes) = fields.get(Field::Dump) else { return Ok(DumpSelection::Everything) };
    let mut reader = Reader::new(Field::Dump, bytes);
    let (kind, count) = (reader.u32()?, reader.u32()?);
    let mut kernels = Vec::new();
    for _ in 0..count {
        let (name_bytes, arg) = (reader.u32()?, reader.u32()?);
        let name = text(Field::Dump, reader.take(name_bytes.into())?)?.to_string();
        let arg = match arg {
            EVERY_ARGUMENT => None,
            arg => Some(u16::try_from(arg).map_err(|_| RequestError::corrupt("argument of a dump", arg))?),
        };
        kernels.push(SelectedKernel { name, arg });
    }
    reader.end()?;
    match (kind, kernels.is_empty()) {
        (MARKED, true) => Ok(DumpSelection::Marked),
        (KERNELS, false) => Ok(DumpSelection::Kernels(kernels)),
        _ => Err(RequestError::corrupt("kind of a dump", kind)),
    }
}
