//! Numbers that look random and are the same in every run.

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).expect("below the end")
    }

    /// Once in so many times.
    pub fn sometimes(&mut self, once_in: usize) -> bool {
        self.below(once_in) == 0
    }

    /// Two times of three.
    pub fn often(&mut self) -> bool {
        self.below(3) > 0
    }
}
