//! Parses the header `Sec-WebSocket-Extensions` (RFC 6455, section 9.1).

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::error::Error;
use core::fmt;

/// An element of the header: an extension that is offered, or that is in use.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Extension<'a> {
    pub(super) name: &'a str,
    pub(super) parameters: Vec<(&'a str, Option<String>)>,
}

/// The header does not conform to its grammar (RFC 6455, section 9.1), so the handshake must fail: a
/// server responds with 400.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MalformedHeader {
    /// The position of the wrong byte in the header's value.
    pub offset: usize,
}

impl fmt::Display for MalformedHeader {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Sec-WebSocket-Extensions is malformed (at byte {})", self.offset)
    }
}

impl Error for MalformedHeader {}

/// All extensions, in order. Of several headers of that name, the values are joined by commas.
///
/// ```text
/// extension-list  = 1#extension
/// extension       = extension-token *( ";" extension-param )
/// extension-param = token [ "=" (token | quoted-string) ]
/// ```
pub(super) fn parse(header: &str) -> Result<Vec<Extension<'_>>, MalformedHeader> {
    let mut cursor = Cursor { header, at: 0 };
    let mut extensions = Vec::new();
    loop {
        // Elements of a list may be empty (RFC 9110, section 5.6.1.2).
        while cursor.skip(b',') {}
        if cursor.is_at_end() {
            return Ok(extensions);
        }
        let name = cursor.token()?;
        let mut parameters = Vec::new();
        while cursor.skip(b';') {
            let name = cursor.token()?;
            let value = if cursor.skip(b'=') { Some(cursor.value()?) } else { None };
            parameters.push((name, value));
        }
        extensions.push(Extension { name, parameters });
        if !cursor.is_at_end() && cursor.peek() != Some(b',') {
            return Err(cursor.malformed());
        }
    }
}

/// RFC 9110, section 5.6.2.
fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

struct Cursor<'a> {
    header: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn peek(&self) -> Option<u8> {
        self.header.as_bytes().get(self.at).copied()
    }

    fn malformed(&self) -> MalformedHeader {
        MalformedHeader { offset: self.at }
    }

    fn skip_spaces(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    fn is_at_end(&mut self) -> bool {
        self.skip_spaces();
        self.at == self.header.len()
    }

    /// Whether `separator` was next; spaces may be around it.
    fn skip(&mut self, separator: u8) -> bool {
        self.skip_spaces();
        let is_next = self.peek() == Some(separator);
        if is_next {
            self.at += 1;
            self.skip_spaces();
        }
        is_next
    }

    fn token(&mut self) -> Result<&'a str, MalformedHeader> {
        let rest = &self.header[self.at..];
        let length = rest.bytes().take_while(|&byte| is_token_byte(byte)).count();
        if length == 0 {
            return Err(self.malformed());
        }
        self.at += length;
        Ok(&rest[..length])
    }

    /// What is quoted must be a token, too, after unescaping.
    fn value(&mut self) -> Result<String, MalformedHeader> {
        if self.peek() != Some(b'"') {
            return self.token().map(str::to_owned);
        }
        self.at += 1;
        let mut value = String::new();
        loop {
            match self.peek() {
                Some(b'"') if !value.is_empty() => break,
                Some(b'\\') => self.at += 1,
                _ => {}
            }
            match self.peek() {
                Some(byte) if is_token_byte(byte) => value.push(byte.into()),
                _ => return Err(self.malformed()),
            }
            self.at += 1;
        }
        self.at += 1;
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::{MalformedHeader, parse};
    use alloc::string::String;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    type Parsed = Vec<(String, Vec<(String, Option<String>)>)>;

    fn parsed(header: &str) -> Result<Parsed, MalformedHeader> {
        let owned = |(name, value): (&str, _)| (name.into(), value);
        let extensions = parse(header)?.into_iter();
        Ok(extensions
            .map(|found| (found.name.into(), found.parameters.into_iter().map(owned).collect()))
            .collect())
    }

    fn malformed_at(header: &str) -> Option<usize> {
        parsed(header).err().map(|error| error.offset)
    }

    #[test]
    fn extensions_with_parameters_in_order() {
        let parameters = |list: &[(&str, Option<&str>)]| {
            list.iter().map(|(name, value)| ((*name).into(), value.map(String::from))).collect()
        };
        assert_eq!(
            parsed("deflate-stream, mux; max-channels=4; flow-control,deflate-stream"),
            Ok(Vec::from([
                ("deflate-stream".into(), Vec::new()),
                ("mux".into(), parameters(&[("max-channels", Some("4")), ("flow-control", None)])),
                ("deflate-stream".into(), Vec::new()),
            ]))
        );
    }

    #[test]
    fn spaces_and_empty_elements_mean_nothing() {
        let tight = parsed("a;b=c,d");
        assert!(tight.is_ok());
        for header in [" a ; b = c , d ", "\ta;\tb=c\t,d", ",a;b=c,,d,", " , a;b=c ,\t, d , "] {
            assert_eq!(parsed(header), tight, "{header:?}");
        }
        assert_eq!(parsed(""), Ok(Vec::new()));
        assert_eq!(parsed(" ,, "), Ok(Vec::new()));
    }

    #[test]
    fn quoted_values_are_unescaped() {
        let plain = parsed("a;b=10");
        assert!(plain.is_ok());
        for header in [r#"a;b="10""#, r#"a;b="1\0""#, r#"a; b = "\1\0" "#] {
            assert_eq!(parsed(header), plain, "{header:?}");
        }
    }

    /// "the value after quoted-string unescaping MUST conform to the 'token' ABNF"
    #[test]
    fn section_9_1_a_quoted_value_must_be_a_token() {
        for header in [r#"a;b="""#, r#"a;b="1 0""#, r#"a;b="1,0""#, r#"a;b="1\"0""#, r#"a;b="é""#]
        {
            assert!(malformed_at(header).is_some(), "{header:?}");
        }
    }

    /// "the recipient of such malformed data MUST immediately _Fail the WebSocket Connection_"
    #[test]
    fn section_9_1_what_does_not_conform_is_malformed() {
        for (header, offset) in [
            (";", 0),
            ("a;", 2),
            ("a;;b", 2),
            ("a; ,b", 3),
            ("a b", 2),
            ("a;b c", 4),
            ("a;b=", 4),
            ("a;b=;c", 4),
            ("a;=c", 2),
            ("a=b", 1),
            ("a;b=c=d", 5),
            ("a;b=\"c", 6),
            ("a;b=\"c\\", 7),
            ("a;b=\"c\"d", 7),
            ("a/b", 1),
            ("é", 0),
            ("a\r\nb", 1),
            ("a;b=\0", 4),
        ] {
            assert_eq!(malformed_at(header), Some(offset), "{header:?}");
        }
    }

    proptest! {
        #[test]
        fn any_header_is_parsed_or_malformed(header in r#"(.|[a=;," \\]){0,30}"#) {
            if let Err(error) = parse(&header) {
                prop_assert!(error.offset <= header.len());
            }
        }
    }
}
