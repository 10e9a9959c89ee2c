//! The oracle: RFC 6455, section 5.3 as one line, and nothing from the crate.

#![allow(dead_code, reason = "every test binary uses its own part of the oracle")]

pub fn unmask(payload: &[u8], key: [u8; 4], offset: usize) -> Vec<u8> {
    payload.iter().enumerate().map(|(i, byte)| byte ^ key[(offset % 4 + i) % 4]).collect()
}

/// An encoder after RFC 6455, section 5.2, that shares nothing with the decoder.
pub fn frame(fin: bool, reserved: u8, opcode: u8, key: Option<[u8; 4]>, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![u8::from(fin) << 7 | reserved << 4 | opcode];
    let mask_bit = u8::from(key.is_some()) << 7;
    match payload.len() {
        length @ 0..=125 => bytes.push(mask_bit | length as u8),
        length @ 126..=0xffff => {
            bytes.push(mask_bit | 126);
            bytes.extend((length as u16).to_be_bytes());
        }
        length => {
            bytes.push(mask_bit | 127);
            bytes.extend((length as u64).to_be_bytes());
        }
    }
    bytes.extend(key.unwrap_or_default().into_iter().take(if key.is_some() { 4 } else { 0 }));
    bytes.extend(unmask(payload, key.unwrap_or_default(), 0));
    bytes
}
