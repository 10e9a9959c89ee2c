//! The oracle: RFC 6455, section 5.3 as one line, and nothing from the crate.

#![allow(dead_code, reason = "every test binary uses its own part of the oracle")]

pub fn unmask(payload: &[u8], key: [u8; 4], offset: usize) -> Vec<u8> {
    payload.iter().enumerate().map(|(i, byte)| byte ^ key[(offset % 4 + i) % 4]).collect()
}
