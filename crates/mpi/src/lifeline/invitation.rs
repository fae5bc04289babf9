//! What the other ranks need in order to connect to rank 0.

/// Bytes of an invitation: a fixed size, because it goes to all ranks in one broadcast.
pub const INVITATION_BYTES: usize = 2 + TOKEN_BYTES + 1 + HOST_BYTES;

pub(super) const TOKEN_BYTES: usize = 16;
const HOST_BYTES: usize = 255;

/// The address on which rank 0 listens, and the token to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invitation {
    pub(super) port: u16,
    pub(super) token: [u8; TOKEN_BYTES],
    pub(super) host: String,
}

impl Invitation {
    /// Encodes it for the broadcast. A host name that is too long is truncated, and then cannot be resolved.
    pub fn to_bytes(&self) -> [u8; INVITATION_BYTES] {
        let mut bytes = [0; INVITATION_BYTES];
        let host = &self.host.as_bytes()[..self.host.len().min(HOST_BYTES)];
        bytes[..2].copy_from_slice(&self.port.to_le_bytes());
        bytes[2..18].copy_from_slice(&self.token);
        bytes[18] = host.len() as u8;
        bytes[19..19 + host.len()].copy_from_slice(host);
        bytes
    }

    /// Decodes it; `None` if the host name is not UTF-8.
    pub fn from_bytes(bytes: &[u8; INVITATION_BYTES]) -> Option<Self> {
        let host = bytes.get(19..19 + usize::from(bytes[18]))?;
        Some(Invitation {
            port: u16::from_le_bytes([bytes[0], bytes[1]]),
            token: std::array::from_fn(|index| bytes[2 + index]),
            host: str::from_utf8(host).ok()?.to_string(),
        })
    }
}
