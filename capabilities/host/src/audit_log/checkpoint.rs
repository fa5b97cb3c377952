//! Checkpoints: how many records there are, and the root of the tree over them, signed.
//!
//! A chain alone cannot tell that records were cut off its end, and does not protect its own last line. A checkpoint does
//! both for everything up to its size. It is a signed note in the form that witnesses and monitors of transparency logs
//! read; it has no line of our own, since nobody else could check what that says.

use base64ct::{Base64, Encoding};

use super::key::{LogKey, VerifierKey};

/// Longer than ours ever is, with room for what witnesses add.
const MAX_NOTE: usize = 16 * 1024;

/// What was signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Checkpoint {
    /// How many records.
    pub(super) size: u64,
    /// The root hash of the tree over them.
    pub(super) root: [u8; 32],
}

impl Checkpoint {
    fn text(self, origin: &str) -> String {
        format!("{origin}\n{}\n{}\n", self.size, Base64::encode_string(&self.root))
    }

    /// The signed note.
    pub(super) fn sign(self, key: &LogKey) -> String {
        let verifier = key.verifier();
        let text = self.text(verifier.name());
        let signature = [verifier.id().as_slice(), &key.sign(&text)].concat();
        format!("{text}\n\u{2014} {} {}\n", verifier.name(), Base64::encode_string(&signature))
    }

    /// What a note says, if this key signed it. Signatures of others are passed over; a wrong one of this key is not.
    pub(super) fn open(note: &[u8], key: &VerifierKey) -> Option<Self> {
        let note = core::str::from_utf8(note).ok().filter(|note| note.len() <= MAX_NOTE)?;
        let (text, signatures) = note.rsplit_once("\n\n").map(|(text, rest)| (format!("{text}\n"), rest))?;
        let mut lines = text.lines();
        let (origin, size, root) = (lines.next()?, lines.next()?, lines.next()?);
        let size: u64 = size.parse().ok()?;
        let root = Base64::decode_vec(root).ok()?.try_into().ok()?;
        let checkpoint = Self { size, root };
        // Three lines in one form: what could be written in another way is not what was signed here.
        if origin != key.name() || checkpoint.text(origin) != text {
            return None;
        }
        let mut signed = false;
        for line in signatures.strip_suffix('\n')?.split('\n') {
            let (name, signature) = line.strip_prefix("\u{2014} ")?.split_once(' ')?;
            let bytes = Base64::decode_vec(signature).ok()?;
            let (id, signature) = bytes.split_at_checked(4)?;
            if name == key.name() && id == key.id() {
                if !key.verify(&text, signature) {
                    return None;
                }
                signed = true;
            }
        }
        signed.then_some(checkpoint)
    }
}

#[cfg(test)]
mod tests {
    use super::super::key::{LogKey, VerifierKey};
    use super::Checkpoint;

    #[test]
    fn one_form_and_no_other() {
        let key = LogKey::generate().unwrap();
        let checkpoint = Checkpoint { size: 1234, root: [7; 32] };
        let note = checkpoint.sign(&key);
        assert_eq!(note.lines().count(), 5, "{note}");
        assert_eq!(Checkpoint::open(note.as_bytes(), key.verifier()), Some(checkpoint));
        for (of, by) in [
            ("1234", "01234"),
            ("1234", "+1234"),
            ("1234", "1235"),
            ("\n\n", "\nmore\n\n"),
            ("\n\n", "\n\n\n"),
            ("\u{2014}", "-"),
            ("capability", "cap"),
        ] {
            let changed = note.replacen(of, by, 1);
            assert!(changed != note && Checkpoint::open(changed.as_bytes(), key.verifier()).is_none(), "{changed}");
        }
        let other = LogKey::generate().unwrap();
        assert_eq!(Checkpoint::open(note.as_bytes(), other.verifier()), None);
        // A witness may add its line.
        let witnessed = format!("{note}\u{2014} witness.example AAAAAAAA\n");
        assert_eq!(Checkpoint::open(witnessed.as_bytes(), key.verifier()), Some(checkpoint));
    }

    #[test]
    fn every_bit_of_a_checkpoint_counts() {
        let key = LogKey::generate().unwrap();
        let note = Checkpoint { size: 77, root: [9; 32] }.sign(&key);
        for at in 0..note.len() {
            for bit in 0..8 {
                let mut bytes = note.clone().into_bytes();
                bytes[at] ^= 1 << bit;
                assert_eq!(Checkpoint::open(&bytes, key.verifier()), None, "byte {at} bit {bit}");
            }
            assert_eq!(Checkpoint::open(&note.as_bytes()[..at], key.verifier()), None, "cut at {at}");
        }
    }

    #[test]
    fn keys_have_one_text_and_tell_no_secret() {
        let key = LogKey::generate().unwrap();
        let text = key.to_text();
        assert_eq!(LogKey::parse(text.as_bytes()).unwrap().to_text(), text);
        let public = key.verifier().to_string();
        assert_eq!(public.parse::<VerifierKey>().as_ref(), Ok(key.verifier()));
        for wrong in ["", &text[1..], &text.replace('\n', ""), &format!("{text}\n"), &public] {
            assert!(LogKey::parse(wrong.as_bytes()).is_none(), "{wrong:?}");
        }
        let mut digits = public.clone().into_bytes();
        let number = public.find('+').unwrap() + 1;
        digits[number] = if digits[number] == b'0' { b'1' } else { b'0' };
        assert!(String::from_utf8(digits).unwrap().parse::<VerifierKey>().is_err());
        assert!(!format!("{key:?}").contains(&text[60..]));
    }

    #[test]
    fn random_damage_never_opens() {
        let key = LogKey::generate().unwrap();
        let note = Checkpoint { size: 5, root: [1; 32] }.sign(&key).into_bytes();
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        for _ in 0..2000 {
            let mut bytes = note.clone();
            for _ in 0..3 {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                let at = usize::try_from(state >> 32).unwrap() % bytes.len();
                match state % 3 {
                    0 => drop(bytes.remove(at)),
                    1 => bytes.insert(at, (state >> 8) as u8),
                    _ => bytes[at] = (state >> 16) as u8,
                }
            }
            if bytes != note {
                assert_eq!(Checkpoint::open(&bytes, key.verifier()), None);
            }
        }
    }
}
