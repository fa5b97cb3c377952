//! Sets of small numbers, such as the selectors that a call matches.

/// A set of numbers below a fixed size. Two sets of one size are equal when they hold the same numbers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bits(Box<[u64]>);

impl Bits {
    /// The empty set, with room for numbers below `size`.
    pub fn none(size: usize) -> Self {
        Self(vec![0; size.div_ceil(64)].into())
    }

    /// Every number below `size`.
    pub fn all(size: usize) -> Self {
        let mut bits = Self::none(size);
        (0..size).for_each(|at| bits.insert(at));
        bits
    }

    /// Adds a number; one that there is no room for is left out.
    pub fn insert(&mut self, at: usize) {
        if let Some(word) = self.0.get_mut(at / 64) {
            *word |= 1 << (at % 64);
        }
    }

    /// Takes a number out.
    pub fn remove(&mut self, at: usize) {
        if let Some(word) = self.0.get_mut(at / 64) {
            *word &= !(1 << (at % 64));
        }
    }

    /// Whether the number is in it.
    pub fn has(&self, at: usize) -> bool {
        self.0.get(at / 64).is_some_and(|word| word & (1 << (at % 64)) != 0)
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// Its numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(at, word)| {
            let mut left = *word;
            core::iter::from_fn(move || {
                let bit = left.checked_ilog2().map(|_| left.trailing_zeros())?;
                left &= left - 1;
                Some(at * 64 + bit as usize)
            })
        })
    }

    /// What is in both.
    pub fn and(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a & b).collect())
    }

    /// What is in either.
    pub fn or(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a | b).collect())
    }

    /// What is in this one and not in the other.
    pub fn without(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a & !b).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::Bits;

    #[test]
    fn sets_are_sets() {
        let of = |numbers: &[usize]| {
            let mut bits = Bits::none(130);
            numbers.iter().for_each(|at| bits.insert(*at));
            bits
        };
        let (a, b) = (of(&[0, 63, 64, 129]), of(&[63, 65]));
        assert_eq!(a.iter().collect::<Vec<_>>(), [0, 63, 64, 129]);
        assert_eq!((a.and(&b), a.without(&b)), (of(&[63]), of(&[0, 64, 129])));
        assert_eq!(a.or(&b), of(&[0, 63, 64, 65, 129]));
        let mut c = a.clone();
        c.remove(64);
        assert!(!c.has(64) && c.has(129) && !c.is_empty() && of(&[]).is_empty());
        assert_eq!(Bits::all(130).iter().count(), 130);
    }
}
