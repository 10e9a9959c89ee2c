//! DEFLATE (RFC 1951) bit by bit, and nothing from the crate or from zlib.

/// What `compressed` adds to `plain`, which may be referred to, and how far back it refers at most.
/// It stops where no whole block follows.
pub fn inflate(compressed: &[u8], plain: &mut Vec<u8>) -> usize {
    let mut bits = Bits { bytes: compressed, at: 0 };
    let mut farthest = 0;
    loop {
        let Some(block) = bits.take(3) else { return farthest };
        match block >> 1 {
            0 => {
                bits.at = bits.at.next_multiple_of(8);
                let Some(length) = bits.take(32) else { return farthest };
                assert_eq!(length & 0xffff, !(length >> 16) & 0xffff, "lengths of a stored block");
                for _ in 0..length & 0xffff {
                    plain.push(bits.take(8).unwrap() as u8);
                }
            }
            kind => {
                let (literals, distances) = if kind == 1 { fixed() } else { dynamic(&mut bits) };
                farthest = farthest.max(symbols(&mut bits, &literals, &distances, plain));
            }
        }
        if block & 1 == 1 {
            bits.at = bits.at.next_multiple_of(8);
        }
    }
}

struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    fn take(&mut self, count: usize) -> Option<usize> {
        if self.at + count > 8 * self.bytes.len() {
            return None;
        }
        let bit = |at: usize| usize::from(self.bytes[at / 8] >> (at % 8) & 1);
        let value = (0..count).map(|i| bit(self.at + i) << i).sum();
        self.at += count;
        Some(value)
    }

    fn symbol(&mut self, code: &[(u8, u16, u16)]) -> u16 {
        let (mut length, mut bits) = (0, 0);
        loop {
            bits = bits << 1 | self.take(1).expect("a whole symbol") as u16;
            length += 1;
            if let Some(found) = code.iter().find(|entry| (entry.0, entry.1) == (length, bits)) {
                return found.2;
            }
            assert!(length < 16, "no such symbol");
        }
    }
}

/// The canonical Huffman code of these lengths: length, bits and symbol of each (section 3.2.2).
fn code(lengths: &[u8]) -> Vec<(u8, u16, u16)> {
    let mut entries = Vec::new();
    let mut next = 0;
    for length in 1..16 {
        next <<= 1;
        for (symbol, _) in lengths.iter().enumerate().filter(|(_, of_symbol)| **of_symbol == length)
        {
            entries.push((length, next, symbol as u16));
            next += 1;
        }
    }
    entries
}

type Code = Vec<(u8, u16, u16)>;

fn fixed() -> (Code, Code) {
    let lengths = [[8; 144].as_slice(), &[9; 112], &[7; 24], &[8; 8]].concat();
    (code(&lengths), code(&[5; 30]))
}

fn dynamic(bits: &mut Bits<'_>) -> (Code, Code) {
    let mut take = |count| bits.take(count).unwrap();
    let (literals, distances, count) = (take(5) + 257, take(5) + 1, take(4) + 4);
    let mut lengths = [0; 19];
    for at in [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15].iter().take(count)
    {
        lengths[*at] = take(3) as u8;
    }
    let of_lengths = code(&lengths);
    let mut lengths: Vec<u8> = Vec::new();
    while lengths.len() < literals + distances {
        let (length, times) = match bits.symbol(&of_lengths) {
            16 => (*lengths.last().unwrap(), 3 + bits.take(2).unwrap()),
            17 => (0, 3 + bits.take(3).unwrap()),
            18 => (0, 11 + bits.take(7).unwrap()),
            length => (length as u8, 1),
        };
        lengths.extend(std::iter::repeat_n(length, times));
    }
    (code(&lengths[..literals]), code(&lengths[literals..]))
}

fn symbols(bits: &mut Bits<'_>, literals: &Code, distances: &Code, plain: &mut Vec<u8>) -> usize {
    let mut farthest = 0;
    loop {
        let length = match bits.symbol(literals) {
            literal @ 0..256 => {
                plain.push(literal as u8);
                continue;
            }
            256 => return farthest,
            285 => 258,
            symbol => extended(bits, symbol as usize - 257, 2) + 3,
        };
        let symbol = bits.symbol(distances);
        let distance = extended(bits, symbol.into(), 1) + 1;
        farthest = farthest.max(distance);
        for _ in 0..length {
            plain.push(plain[plain.len() - distance]);
        }
    }
}

/// Symbols for numbers come in groups of 2 to the power of `group`; each group has one more extra bit
/// than the one before it, from the third on (section 3.2.5).
fn extended(bits: &mut Bits<'_>, symbol: usize, group: usize) -> usize {
    let in_group = 1 << group;
    let extra = (symbol / in_group).saturating_sub(1);
    let base = if extra == 0 { symbol } else { (in_group + symbol % in_group) << extra };
    base + bits.take(extra).unwrap()
}
