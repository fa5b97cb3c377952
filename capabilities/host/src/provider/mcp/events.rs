//! A stream of server-sent events, cut into the data of each.

use core::time::Duration;

use super::message::MAX_MESSAGE;

/// The longest mark of an event that is given back.
const MAX_MARK: usize = 1024;

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
    /// The mark of the event that has begun.
    marked: Option<Vec<u8>>,
    left: Left,
}

/// Where a stream was left, as its server marked it: what asks for the rest of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Left {
    /// The mark of the last whole event that had one.
    pub mark: Option<Vec<u8>>,
    /// How long the server wants to be left alone before it is asked.
    pub wait: Option<Duration>,
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

    /// Where it was left.
    pub fn left(self) -> Left {
        self.left
    }

    /// Takes the line in, and gives the event that it ends.
    fn line_ends(&mut self) -> Option<Vec<u8>> {
        let line = core::mem::take(&mut self.line);
        if line.is_empty() {
            if let Some(mark) = self.marked.take() {
                self.left.mark = Some(mark).filter(|mark| !mark.is_empty() && mark.len() <= MAX_MARK);
            }
            // Data that is empty is a sign of life and no message.
            return self.data.take().filter(|data| !data.is_empty());
        }
        let field = |name: &[u8]| {
            let value = line.strip_prefix(name)?;
            let value = if value.is_empty() { value } else { value.strip_prefix(b":")? };
            Some(value.strip_prefix(b" ").unwrap_or(value))
        };
        if let Some(mark) = field(b"id") {
            self.marked = Some(mark.to_vec());
        }
        if let Some(millis) = field(b"retry").filter(|digits| digits.iter().all(u8::is_ascii_digit)) {
            let millis = core::str::from_utf8(millis).ok().and_then(|digits| digits.parse().ok());
            self.left.wait = millis.map(Duration::from_millis).or(self.left.wait);
        }
        let data = field(b"data")?;
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
    use super::{Events, Left, MAX_MARK, MAX_MESSAGE, TooLarge};
    use core::time::Duration;
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

    /// A mark counts with its event's end: what was cut off within an event is asked for again.
    #[test]
    fn where_a_stream_was_left_is_what_its_server_marked() {
        let long = format!("id: {}\n\n", "x".repeat(MAX_MARK + 1));
        for (stream, mark, wait) in [
            ("data: 1\n\n", None, None),
            ("id: 1\nretry: 500\ndata: \n\n", Some("1"), Some(500)),
            ("id: 1\ndata: x\n\nid: 2\ndata: y", Some("1"), None),
            ("id: 1\n\ndata: x\n\n", Some("1"), None),
            ("id: 1\n\nid\n\n", None, None),
            ("id:1\nid: 2\n\nretry: soon\nretry: -1\nretry: 99999999999999999999\n\n", Some("2"), None),
            ("identity: 1\nretry-after: 5\ndatum: 1\n\n", None, None),
            (&long, None, None),
        ] {
            let mut events = Events::default();
            events.push(stream.as_bytes()).unwrap();
            let mark = mark.map(|mark: &str| mark.as_bytes().to_vec());
            assert_eq!(events.left(), Left { mark, wait: wait.map(Duration::from_millis) }, "{stream:?}");
        }
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
