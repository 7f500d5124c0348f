//! The header of a WebSocket frame (RFC 6455, section 5.2).

pub const MAX_HEADER_BYTES: usize = 14;
const FINAL_BIT: u8 = 0x80;
const CONTROL_BIT: u8 = 0x08;
pub const MASK_BIT: u8 = 0x80;
const LENGTH_BITS: u8 = 0x7f;
const LENGTH_IN_2_BYTES: u8 = 126;
pub const LENGTH_IN_8_BYTES: u8 = 127;

#[derive(Clone, Copy, Default)]
pub struct Header {
    pub bytes: [u8; MAX_HEADER_BYTES],
    pub length: usize,
}

impl Header {
    pub fn is_final(&self) -> bool {
        self.bytes[0] & FINAL_BIT != 0
    }

    pub fn is_data(&self) -> bool {
        self.bytes[0] & CONTROL_BIT == 0
    }

    fn length_field_bytes(&self) -> usize {
        match self.bytes[1] & LENGTH_BITS {
            LENGTH_IN_2_BYTES => 2,
            LENGTH_IN_8_BYTES => 8,
            _ => 0,
        }
    }

    fn mask_bytes(&self) -> usize {
        if self.bytes[1] & MASK_BIT == 0 { 0 } else { 4 }
    }

    /// As far as the bytes collected so far tell.
    pub fn expected_length(&self) -> usize {
        match self.length {
            0 | 1 => 2,
            _ => 2 + self.length_field_bytes() + self.mask_bytes(),
        }
    }

    pub fn payload_bytes(&self) -> u64 {
        let field = &self.bytes[2..2 + self.length_field_bytes()];
        match field {
            [] => u64::from(self.bytes[1] & LENGTH_BITS),
            field => field.iter().fold(0, |length, byte| length << 8 | u64::from(*byte)),
        }
    }

    /// The header of a fragment with the same mask. Only the first one names the kind of message.
    pub fn of_fragment(&self, is_first: bool, is_last: bool, length: u64) -> Self {
        let kind = if is_first { self.bytes[0] & !FINAL_BIT } else { 0 };
        let final_bit = if is_last { self.bytes[0] & FINAL_BIT } else { 0 };
        let mut bytes = [0; MAX_HEADER_BYTES];
        bytes[0] = kind | final_bit;
        bytes[1] = self.bytes[1] & MASK_BIT | LENGTH_IN_8_BYTES;
        bytes[2..10].copy_from_slice(&length.to_be_bytes());
        let mask = &self.bytes[self.length - self.mask_bytes()..self.length];
        bytes[10..10 + mask.len()].copy_from_slice(mask);
        Self {
            bytes,
            length: 10 + mask.len(),
        }
    }
}
