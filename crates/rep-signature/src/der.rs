//! A reader of DER, as far as keys and certificates need it. It does not recurse, and reads no byte twice.

use crate::SignatureError;

pub(crate) const SEQUENCE: u8 = 0x30;
pub(crate) const SET: u8 = 0x31;
pub(crate) const INTEGER: u8 = 0x02;
pub(crate) const BIT_STRING: u8 = 0x03;
pub(crate) const OCTET_STRING: u8 = 0x04;
pub(crate) const OBJECT_IDENTIFIER: u8 = 0x06;
pub(crate) const UTC_TIME: u8 = 0x17;
pub(crate) const GENERALIZED_TIME: u8 = 0x18;

/// Reads values one after another.
#[derive(Clone, Copy)]
pub(crate) struct DerReader<'a> {
    rest: &'a [u8],
}

/// A value with its tag.
#[derive(Clone, Copy)]
pub(crate) struct DerValue<'a> {
    pub(crate) tag: u8,
    /// The content, without tag and length.
    pub(crate) content: &'a [u8],
    /// All bytes, with tag and length.
    pub(crate) whole: &'a [u8],
}

fn broken() -> SignatureError {
    SignatureError::malformed("its DER encoding is broken")
}

impl<'a> DerReader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Reads the next value, whatever its tag.
    pub(crate) fn read(&mut self) -> Result<DerValue<'a>, SignatureError> {
        let (tag, first) = match self.rest {
            [tag, first, ..] if tag & 0x1f != 0x1f => (*tag, *first),
            _ => return Err(broken()),
        };
        let (length, header) = if first < 0x80 {
            (usize::from(first), 2)
        } else {
            let count = usize::from(first & 0x7f);
            if !(1..=4).contains(&count) {
                return Err(broken());
            }
            let digits = self.rest.get(2..2 + count).ok_or_else(broken)?;
            let length = digits.iter().fold(0_usize, |length, digit| length << 8 | usize::from(*digit));
            (length, 2 + count)
        };
        let end = header.checked_add(length).ok_or_else(broken)?;
        let whole = self.rest.get(..end).ok_or_else(broken)?;
        self.rest = &self.rest[end..];
        Ok(DerValue { tag, content: &whole[header..], whole })
    }

    /// Reads the next value, which must have a tag.
    pub(crate) fn expect(&mut self, tag: u8) -> Result<DerValue<'a>, SignatureError> {
        self.read().and_then(|value| if value.tag == tag { Ok(value) } else { Err(broken()) })
    }

    /// Reads the next value if it has a tag.
    pub(crate) fn read_optional(&mut self, tag: u8) -> Result<Option<DerValue<'a>>, SignatureError> {
        if self.rest.first() == Some(&tag) { self.read().map(Some) } else { Ok(None) }
    }
}

impl<'a> DerValue<'a> {
    /// Reads the values inside.
    pub(crate) fn reader(&self) -> DerReader<'a> {
        DerReader::new(self.content)
    }
}

/// Writes a value.
pub(crate) fn write_value(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![tag];
    let length = content.len();
    if length < 0x80 {
        bytes.push(u8::try_from(length).unwrap_or(0x7f));
    } else {
        let digits: Vec<u8> = length.to_be_bytes().into_iter().skip_while(|digit| *digit == 0).collect();
        bytes.push(0x80 | u8::try_from(digits.len()).unwrap_or(8));
        bytes.extend(digits);
    }
    bytes.extend_from_slice(content);
    bytes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn broken_lengths_are_refused() {
        for bytes in
            [&[][..], &[0x30], &[0x30, 0x80], &[0x30, 0x02, 0], &[0x30, 0x84, 0xff, 0xff, 0xff, 0xff], &[0x3f, 0, 0]]
        {
            assert!(DerReader::new(bytes).read().is_err(), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(tag in 0_u8..0x1f, content in proptest::collection::vec(any::<u8>(), 0..400)) {
            let bytes = write_value(tag, &content);
            let mut reader = DerReader::new(&bytes);
            let value = reader.read().unwrap();
            prop_assert_eq!((value.tag, value.content, value.whole), (tag, content.as_slice(), bytes.as_slice()));
            prop_assert!(reader.is_empty());
        }
    }
}
