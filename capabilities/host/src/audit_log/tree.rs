//! The hash tree over all lines, as far as it must be kept: RFC 6962, section 2.1.

use capability_core::audit::LineHash;
use sha2::{Digest, Sha256};

/// The roots of the full subtrees that a tree of this size consists of, largest first. At most one per bit of the size,
/// however long the log is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Frontier {
    size: u64,
    full: Vec<[u8; 32]>,
}

impl Frontier {
    /// How many leaves it has.
    pub(super) const fn size(&self) -> u64 {
        self.size
    }

    /// Adds a leaf. A line's hash is its leaf's: both are over one zero byte and the line.
    pub(super) fn push(&mut self, leaf: LineHash) {
        let mut whole = *leaf.as_bytes();
        // Two subtrees of one size are one of twice the size, as two ones carry in a binary sum.
        for _ in 0..self.size.trailing_ones() {
            if let Some(left) = self.full.pop() {
                whole = node(&left, &whole);
            }
        }
        self.full.push(whole);
        self.size += 1;
    }

    /// The root hash; of no leaves, the hash of nothing.
    pub(super) fn root(&self) -> [u8; 32] {
        let joined = self.full.iter().rev().copied().reduce(|right, left| node(&left, &right));
        joined.unwrap_or_else(|| Sha256::digest([]).into())
    }
}

fn node(left: &[u8; 32], right: &[u8; 32]) -> [u8; 32] {
    let mut whole = [1; 65];
    let (_, children) = whole.split_at_mut(1);
    let (first, second) = children.split_at_mut(32);
    first.copy_from_slice(left);
    second.copy_from_slice(right);
    Sha256::digest(whole).into()
}

#[cfg(test)]
mod tests {
    use super::{Frontier, node};
    use crate::audit_log::line;
    use crate::hex;

    /// The definition, word for word: split at the largest power of two below the size.
    fn defined(leaves: &[[u8; 32]]) -> [u8; 32] {
        match leaves {
            [] => Frontier::default().root(),
            [leaf] => *leaf,
            _ => {
                let (left, right) = leaves.split_at(leaves.len().next_power_of_two() / 2);
                node(&defined(left), &defined(right))
            }
        }
    }

    #[test]
    fn every_size_has_the_root_that_the_definition_gives() {
        let mut tree = Frontier::default();
        let mut leaves = Vec::new();
        for number in 0..300_u32 {
            assert_eq!((tree.size(), tree.root()), (u64::from(number), defined(&leaves)), "{number}");
            assert_eq!(tree.full.len(), number.count_ones() as usize);
            let leaf = line::hash(&number.to_le_bytes());
            leaves.push(*leaf.as_bytes());
            tree.push(leaf);
        }
    }

    /// The figures that implementations of the RFC check one another with.
    #[test]
    fn the_known_roots() {
        let leaves: [&[u8]; 8] = [
            b"",
            b"\x00",
            b"\x10",
            b"\x20\x21",
            b"\x30\x31",
            b"\x40\x41\x42\x43",
            b"\x50\x51\x52\x53\x54\x55\x56\x57",
            b"\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f",
        ];
        let known = [
            (0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            (1, "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"),
            (2, "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"),
            (3, "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77"),
            (8, "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"),
        ];
        for (size, root) in known {
            let mut tree = Frontier::default();
            leaves.iter().take(size).for_each(|leaf| tree.push(line::hash(leaf)));
            assert_eq!(hex::encode(&tree.root()), root, "{size}");
        }
    }
}
