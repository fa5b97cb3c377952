//! A JSON pointer that grows and shrinks with a walk.

/// The place a walk is at.
#[derive(Debug, Default)]
pub(crate) struct Pointer(String);

impl Pointer {
    /// Runs `inside` one step further down.
    pub(crate) fn within<R>(&mut self, step: &str, inside: impl FnOnce(&mut Self) -> R) -> R {
        let back = self.descend(step);
        let answer = inside(self);
        self.ascend(back);
        answer
    }

    /// Goes one step further down and says where to come back to.
    pub(crate) fn descend(&mut self, step: &str) -> usize {
        let length = self.0.len();
        push(&mut self.0, step);
        length
    }

    /// Comes back to where [`Pointer::descend`] began.
    pub(crate) fn ascend(&mut self, to: usize) {
        self.0.truncate(to);
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Appends one step, escaped as RFC 6901 has it.
pub(crate) fn push(pointer: &mut String, step: &str) {
    pointer.push('/');
    for character in step.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            plain => pointer.push(plain),
        }
    }
}
