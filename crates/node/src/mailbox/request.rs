//! A call in a mailbox: who writes it, who reads it, and what is checked on the way.

use ringlane_task::{BlobReader, BlobTensor, CallConfig, MAX_BLOB_BYTES, Scalar, write_blob};
use zerocopy::IntoBytes;

use super::layout::DIGEST_BYTES;
use super::region::Region;
use crate::callable::Digest;
use crate::error::NodeError;

/// What a call is made of.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Which callable.
    pub digest: Digest,
    /// What is asked of its run.
    pub config: &'a CallConfig,
    /// Which member of how many it is: 0 of 1, unless a group is called.
    pub member: (u32, u32),
    /// Its tensors.
    pub tensors: &'a [BlobTensor],
    /// Its scalars.
    pub scalars: &'a [Scalar],
}

/// Room for the arguments of one call, to be used again for the next.
#[derive(Debug)]
pub struct Scratch {
    words: Box<[u64]>,
}

impl Default for Scratch {
    fn default() -> Self {
        Scratch { words: vec![0; MAX_BLOB_BYTES / 8].into_boxed_slice() }
    }
}

/// A call that was read from a mailbox and checked: a copy, which nobody else can change.
#[derive(Debug)]
pub struct Received<'s> {
    /// The number of the call.
    pub sequence: u64,
    /// Which callable.
    pub digest: Digest,
    /// What is asked of its run; it is valid.
    pub config: CallConfig,
    /// Which member of how many it is.
    pub member: (u32, u32),
    /// Its arguments.
    pub arguments: BlobReader<'s>,
}

impl Region {
    /// Writes a call with this number. Whatever is wrong with it is found before anything is written.
    pub fn write_request(
        &self,
        sequence: u64,
        request: &Request<'_>,
        scratch: &mut Scratch,
    ) -> Result<(), NodeError> {
        request.config.validate().map_err(NodeError::Config)?;
        let blob = scratch.words.as_mut_bytes();
        let argument_bytes =
            write_blob(blob, request.tensors, request.scalars).map_err(NodeError::Arguments)?;
        let layout = self.layout();
        layout.set_call(sequence, argument_bytes, request.member);
        layout.digest.store(&request.digest.0);
        layout.config.store(request.config.as_wire());
        layout.arguments.store(&blob[..argument_bytes]);
        Ok(())
    }

    /// Reads the call that is written, which must have this number, and checks everything in it.
    pub fn read_request<'s>(
        &self,
        expected: u64,
        scratch: &'s mut Scratch,
    ) -> Result<Received<'s>, NodeError> {
        let layout = self.layout();
        layout.check_header()?;
        let sequence = layout.sequence();
        if sequence != expected {
            return Err(NodeError::corrupt("sequence", sequence));
        }
        let (argument_bytes, member) = (layout.argument_bytes()?, layout.member()?);
        let config: CallConfig = layout.config.get();
        config.validate().map_err(NodeError::Config)?;
        let digest = Digest(layout.digest.get::<[u8; DIGEST_BYTES]>());
        let words = &mut scratch.words[..argument_bytes / 8];
        layout.arguments.load(words);
        let arguments = BlobReader::open(words.as_bytes()).map_err(NodeError::Arguments)?;
        if arguments.len_bytes() != argument_bytes {
            return Err(NodeError::corrupt("argument_bytes", argument_bytes as u64));
        }
        Ok(Received { sequence, digest, config, member, arguments })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringlane_task::{Access, BufferHandle, DType, TensorView};

    fn tensor() -> BlobTensor {
        let view = TensorView::contiguous(DType::Float32, &[16, 64]).unwrap();
        BlobTensor { view, buffer: BufferHandle { id: 3, generation: 1 }, access: Access::Input }
    }

    fn written(tensors: usize, scalars: usize) -> Result<Region, NodeError> {
        let region = Region::create().unwrap();
        let (tensors, scalars) = (vec![tensor(); tensors], vec![Scalar::new(7u64); scalars]);
        let config = CallConfig::default().with_seed(5);
        let digest = Digest([9; 32]);
        let member = (0, 1);
        let request = Request { digest, config: &config, member, tensors: &tensors, scalars: &scalars };
        region.write_request(3, &request, &mut Scratch::default()).map(|()| region)
    }

    #[test]
    fn a_call_with_69_tensors_and_64_scalars_arrives_as_it_was_written() {
        let region = written(69, 64).unwrap();
        let mut scratch = Scratch::default();
        let call = region.read_request(3, &mut scratch).unwrap();
        assert_eq!((call.digest, call.config.seed), (Digest([9; 32]), 5));
        assert_eq!((call.arguments.tensor_count(), call.arguments.scalar_count()), (69, 64));
        assert_eq!(call.arguments.scalar(63).unwrap().get::<u64>(), Some(7));
        assert_eq!(call.arguments.tensor(68).unwrap().resolve(0, 4096), Ok(tensor()));
    }

    #[test]
    fn a_call_that_does_not_fit_is_refused_by_its_writer() {
        assert!(matches!(written(129, 0), Err(NodeError::Arguments(_))));
    }

    #[test]
    fn another_number_than_the_next_is_corrupt() {
        let region = written(0, 0).unwrap();
        let error = region.read_request(4, &mut Scratch::default()).unwrap_err();
        assert_eq!(error, NodeError::CorruptMailbox { field: "sequence", value: 3 });
    }

    #[test]
    fn lengths_beyond_the_mailbox_are_corrupt_before_anything_is_read_there() {
        let region = written(1, 1).unwrap();
        for bytes in [u32::MAX, MAX_BLOB_BYTES as u32 + 8, 7] {
            rustix::io::pwrite(&region, &bytes.to_le_bytes(), 32).unwrap();
            let error = region.read_request(3, &mut Scratch::default()).unwrap_err();
            let value = u64::from(bytes);
            assert_eq!(error, NodeError::CorruptMailbox { field: "argument_bytes", value });
        }
    }
}
