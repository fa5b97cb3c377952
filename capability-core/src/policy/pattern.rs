//! Patterns over a sequence of tokens: the labels of a host, the segments of a path, the words of a command.
//!
//! A token of a pattern is a whole literal or a whole wildcard, so that what a pattern matches is a set one can compute with:
//! whether one pattern includes another, and whether two overlap, are decided exactly.

/// The most tokens a pattern has.
pub const MAX_TOKENS: usize = 32;

/// How many states a question of inclusion may visit before it counts as undecided. The patterns that people write need a
/// few dozen.
const MAX_STATES: usize = 4096;

/// One token of a pattern.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Token {
    /// Exactly this.
    Literal(Box<str>),
    /// Any one token.
    One,
    /// Any number of tokens, none included.
    Many,
}

/// A pattern over tokens.
///
/// Among wildcards that stand side by side, every [`Token::One`] comes before a single [`Token::Many`]: two spellings of the
/// same run are the same pattern.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Pattern(Box<[Token]>);

impl Pattern {
    /// A pattern of at most [`MAX_TOKENS`] tokens; none when there are more.
    pub fn new(tokens: impl IntoIterator<Item = Token>) -> Option<Self> {
        let mut sorted: Vec<Token> = Vec::new();
        let mut many = false;
        for token in tokens {
            match token {
                Token::Many => many = true,
                Token::One => sorted.push(Token::One),
                Token::Literal(_) => {
                    if core::mem::take(&mut many) {
                        sorted.push(Token::Many);
                    }
                    sorted.push(token);
                }
            }
        }
        if many {
            sorted.push(Token::Many);
        }
        (sorted.len() <= MAX_TOKENS).then(|| Self(sorted.into()))
    }

    /// Its tokens.
    #[must_use]
    pub const fn tokens(&self) -> &[Token] {
        &self.0
    }

    /// Whether it matches one sequence and no other.
    #[must_use]
    pub fn is_literal(&self) -> bool {
        self.0.iter().all(|token| matches!(token, Token::Literal(_)))
    }

    /// Whether it matches this sequence.
    #[must_use]
    pub fn matches<S>(&self, sequence: S) -> bool
    where
        S: IntoIterator<Item: AsRef<str>, IntoIter: Clone>,
    {
        let (mut pattern, mut rest) = (&*self.0, sequence.into_iter());
        // Where to go on when what follows the last `Many` does not fit: that one takes one token more.
        let mut again: Option<(&[Token], S::IntoIter)> = None;
        loop {
            let mut left = rest.clone();
            let fits = match (pattern.split_first(), left.next()) {
                (None, None) => return true,
                (Some((Token::Many, after)), _) => {
                    // A last one takes all that is left.
                    if after.is_empty() {
                        return true;
                    }
                    again = Some((after, rest.clone()));
                    pattern = after;
                    continue;
                }
                (Some((Token::One, after)), Some(_)) => Some(after),
                (Some((Token::Literal(literal), after)), Some(token)) if **literal == *token.as_ref() => Some(after),
                _ => None,
            };
            (pattern, rest) = match (fits, &mut again) {
                (Some(after), _) => (after, left),
                (None, Some((after, from))) => {
                    if from.next().is_none() {
                        return false;
                    }
                    (*after, from.clone())
                }
                (None, None) => return false,
            };
        }
    }

    /// Whether everything that `other` matches is matched here too. Exact; what would take too long to decide is answered
    /// with `false`.
    #[must_use]
    pub fn includes(&self, other: &Self) -> bool {
        if self == other {
            return true;
        }
        // Walk what `other` can produce, and keep the places that `self` may be at. Where `other` takes any token, one that
        // nobody mentions is the hardest for `self`, so that no other need be tried.
        let mut seen: Vec<(usize, u64)> = Vec::new();
        let mut ahead = vec![(0, self.settled(1))];
        while let Some((at, places)) = ahead.pop() {
            // The fewer places, the harder: what was seen with a part of them is decided.
            if seen.iter().any(|(known, fewer)| *known == at && fewer & places == *fewer) {
                continue;
            }
            if seen.len() >= MAX_STATES {
                return false;
            }
            seen.push((at, places));
            match other.0.get(at) {
                None if places & (1 << self.0.len()) == 0 => return false,
                None => {}
                Some(Token::Literal(literal)) => ahead.push((at + 1, self.after(places, Some(literal)))),
                Some(Token::One) => ahead.push((at + 1, self.after(places, None))),
                Some(Token::Many) => {
                    ahead.push((at + 1, places));
                    ahead.push((at, self.after(places, None)));
                }
            }
        }
        true
    }

    /// Whether some sequence is matched by both. Exact.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        let mut seen = [0_u64; MAX_TOKENS + 1];
        let mut ahead = vec![(0_usize, 0_usize)];
        while let Some((here, there)) = ahead.pop() {
            let Some(row) = seen.get_mut(here) else { continue };
            if *row & (1 << there) != 0 {
                continue;
            }
            *row |= 1 << there;
            match (self.0.get(here), other.0.get(there)) {
                (None, None) => return true,
                (one, another) => {
                    if matches!(one, Some(Token::Many)) {
                        ahead.push((here + 1, there));
                    }
                    if matches!(another, Some(Token::Many)) {
                        ahead.push((here, there + 1));
                    }
                    let (Some(one), Some(another)) = (one, another) else { continue };
                    if let (Token::Literal(one), Token::Literal(another)) = (one, another)
                        && one != another
                    {
                        continue;
                    }
                    let step = |token: &Token, at| if matches!(token, Token::Many) { at } else { at + 1 };
                    ahead.push((step(one, here), step(another, there)));
                }
            }
        }
        false
    }

    /// The places after one token: this literal, or one that no pattern mentions.
    fn after(&self, places: u64, token: Option<&str>) -> u64 {
        let mut next = 0;
        for (at, own) in self.0.iter().enumerate().filter(|(at, _)| places & (1 << at) != 0) {
            match own {
                Token::Many => next |= 1 << at,
                Token::One => next |= 1 << (at + 1),
                Token::Literal(literal) if token == Some(literal) => next |= 1 << (at + 1),
                Token::Literal(_) => {}
            }
        }
        self.settled(next)
    }

    /// The places together with those that are reached without a token.
    fn settled(&self, mut places: u64) -> u64 {
        for (at, token) in self.0.iter().enumerate() {
            if matches!(token, Token::Many) && places & (1 << at) != 0 {
                places |= 1 << (at + 1);
            }
        }
        places
    }
}

#[cfg(test)]
mod tests;
