//! A stream of server-sent events, cut into the data of each.

use super::message::MAX_MESSAGE;

/// An event above the cap.
#[derive(Debug, PartialEq, Eq)]
pub struct TooLarge;

/// Takes a stream in pieces, however it is cut, and gives the data of whole events.
#[derive(Debug, Default)]
pub struct Events {
    /// What stands on the line that has begun.
    line: Vec<u8>,
    /// The data of the event that has begun; none before its first data line.
    data: Option<Vec<u8>>,
    /// Whether the last byte was a carriage return, which with a line feed is one end of a line.
    after_return: bool,
}

impl Events {
    /// The events that end in this piece.
    ///
    /// # Errors
    /// [`TooLarge`] when one is above the cap of a message.
    pub fn push(&mut self, piece: &[u8]) -> Result<Vec<Vec<u8>>, TooLarge> {
        let mut whole = Vec::new();
        for &byte in piece {
            let continues = core::mem::take(&mut self.after_return) && byte == b'\n';
            match byte {
                _ if continues => {}
                b'\n' | b'\r' => {
                    self.after_return = byte == b'\r';
                    whole.extend(self.line_ends());
                }
                _ => self.line.push(byte),
            }
            if self.line.len() + self.data.as_ref().map_or(0, Vec::len) > MAX_MESSAGE {
                return Err(TooLarge);
            }
        }
        Ok(whole)
    }

    /// Takes the line in, and gives the event that it ends.
    fn line_ends(&mut self) -> Option<Vec<u8>> {
        let line = core::mem::take(&mut self.line);
        if line.is_empty() {
            // Data that is empty is a sign of life and no message.
            return self.data.take().filter(|data| !data.is_empty());
        }
        let data = line.strip_prefix(b"data:").or_else(|| (line == b"data").then_some(&[][..]))?;
        let data = data.strip_prefix(b" ").unwrap_or(data);
        match &mut self.data {
            None => self.data = Some(data.to_vec()),
            Some(before) => {
                before.push(b'\n');
                before.extend_from_slice(data);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{Events, MAX_MESSAGE, TooLarge};
    use proptest::prelude::*;

    fn all(pieces: &[&[u8]]) -> Vec<String> {
        let mut events = Events::default();
        let cut = pieces.iter().flat_map(|piece| events.push(piece).unwrap());
        cut.map(|event| String::from_utf8(event).unwrap()).collect()
    }

    #[test]
    fn an_event_is_its_data() {
        let stream = b"\xef\xbb\xbf: hello\nevent: message\nid: 1\ndata: {\"a\":\ndata:1}\n\ndata:\n\nretry: 5\n\nx\r\ndata: 2\r\rdata: 3";
        assert_eq!(all(&[stream]), ["{\"a\":\n1}", "2"]);
    }

    #[test]
    fn an_event_without_an_end_is_not_gathered_for_ever() {
        let mut events = Events::default();
        let piece = [b"data: ".to_vec(), vec![b'x'; MAX_MESSAGE / 2 - 20]].concat();
        assert_eq!(events.push(&piece), Ok(vec![]));
        assert_eq!(events.push(&[b"\n".to_vec(), piece].concat()).map(|events| events.len()), Ok(0));
        assert_eq!(events.push(&[b'x'; 100]), Err(TooLarge));
    }

    proptest! {
        #[test]
        fn how_a_stream_is_cut_changes_nothing(
            stream in "(data: ?[a-z]{0,3}|id: 1|:|\r|\n|\r\n){0,40}",
            cuts in prop::collection::vec(0_usize..200, 0..8),
        ) {
            let bytes = stream.as_bytes();
            let mut cuts: Vec<_> = cuts.into_iter().map(|at| at.min(bytes.len())).chain([0, bytes.len()]).collect();
            cuts.sort_unstable();
            let pieces: Vec<_> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            prop_assert_eq!(all(&pieces), all(&[bytes]));
        }
    }
}
