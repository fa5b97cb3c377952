//! From a table of rules to a program that the kernel runs before every system call.
//!
//! A program is written as a decision tree over ranges of numbers, so that the kernel takes some nine comparisons for a call
//! and, while it prepares its cache of unconditional answers, for each of the numbers there are.

use std::collections::BTreeMap;

use libc::{
    BPF_ABS, BPF_ALU, BPF_AND, BPF_JA, BPF_JEQ, BPF_JGE, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W, SECCOMP_RET_ALLOW,
    SECCOMP_RET_ERRNO, SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_TRAP, sock_filter,
};

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// It is made.
    Allow,
    /// It fails with this error number.
    Fail(i32),
    /// It raises `SIGSYS` in its caller, whose handler decides what it returns.
    Trap,
    /// The process ends.
    Kill,
}

impl Answer {
    fn word(self) -> u32 {
        match self {
            Self::Allow => SECCOMP_RET_ALLOW,
            Self::Fail(errno) => SECCOMP_RET_ERRNO | (errno.unsigned_abs() & 0xffff),
            Self::Trap => SECCOMP_RET_TRAP,
            Self::Kill => SECCOMP_RET_KILL_PROCESS,
        }
    }
}

/// A condition on one argument, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Test {
    /// The lower 32 bits, which is all that the kernel looks at in an `int`, under a mask, have this value.
    Has { argument: u8, mask: u32, value: u32 },
    /// The lower 32 bits under a mask have another value than this.
    Lacks { argument: u8, mask: u32, value: u32 },
    /// All 64 bits are zero: a null pointer.
    Null { argument: u8 },
}

impl Test {
    /// The lower 32 bits are exactly this.
    pub(super) const fn is(argument: u8, value: u32) -> Self {
        Self::Has { argument, mask: u32::MAX, value }
    }
}

/// What a table says about one number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Rule {
    Always(Answer),
    /// `then` when every test of one alternative holds, `otherwise` when none does.
    When {
        alternatives: Vec<Vec<Test>>,
        then: Answer,
        otherwise: Answer,
    },
}

/// Answers for every number there is.
#[derive(Debug, Clone)]
pub(super) struct Table {
    rules: BTreeMap<u32, Rule>,
    /// For numbers up to `last` that have no rule.
    known: Answer,
    /// The highest number that this table was written for.
    last: u32,
    /// For numbers above it.
    unknown: Answer,
}

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xc000_00b7;

/// Where the x32 numbers begin: the same calls by a second name.
const X32: u32 = 0x4000_0000;

/// Offsets into `struct seccomp_data`.
const NUMBER_AT: u32 = 0;
const ARCHITECTURE_AT: u32 = 4;
const ARGUMENTS_AT: u32 = 16;

impl Table {
    pub(super) fn new(known: Answer, last: u32, unknown: Answer) -> Self {
        Self { rules: BTreeMap::new(), known, last, unknown }
    }

    /// Sets the rule for each of these; the last one written counts.
    pub(super) fn rule(&mut self, numbers: &[i64], rule: &Rule) {
        for number in numbers.iter().filter_map(|number| u32::try_from(*number).ok()) {
            self.rules.insert(number, rule.clone());
        }
    }

    pub(super) fn always(&mut self, numbers: &[i64], answer: Answer) {
        self.rule(numbers, &Rule::Always(answer));
    }

    /// Allows the call when every test of one alternative holds; it fails with `errno` otherwise.
    pub(super) fn allow_when(&mut self, number: i64, errno: i32, alternatives: &[&[Test]]) {
        let alternatives = alternatives.iter().map(|tests| tests.to_vec()).collect();
        self.rule(&[number], &Rule::When { alternatives, then: Answer::Allow, otherwise: Answer::Fail(errno) });
    }

    /// The first number and the rule of each range of numbers that are answered alike, from 0 on.
    fn ranges(&self) -> Vec<(u32, Rule)> {
        let mut ranges: Vec<(u32, Rule)> = Vec::new();
        let mut add = |first: u32, rule: Rule| {
            let alike = |(_, last): &(u32, Rule)| *last == rule && matches!(rule, Rule::Always(_));
            if !ranges.last().is_some_and(alike) {
                ranges.push((first, rule));
            }
        };
        // The first number that is not spoken for. What lies before the next rule is known, then unknown.
        let mut next = 0;
        for (number, rule) in self.rules.iter().map(|(number, rule)| (*number, Some(rule))).chain([(u32::MAX, None)]) {
            if next < number && next <= self.last {
                add(next, Rule::Always(self.known));
            }
            let unknown = next.max(self.last.saturating_add(1));
            if unknown < number {
                add(unknown, Rule::Always(self.unknown));
            }
            if let Some(rule) = rule {
                add(number, rule.clone());
                next = number.saturating_add(1);
            }
        }
        ranges
    }

    /// The program: a call through another architecture's entry ends the process, an x32 number is unknown.
    pub(super) fn program(&self) -> Vec<sock_filter> {
        let mut program = vec![
            load(ARCHITECTURE_AT),
            jump(BPF_JEQ, ARCHITECTURE, 1, 0),
            end(Answer::Kill),
            load(NUMBER_AT),
            jump(BPF_JGE, X32, 0, 1),
            end(Answer::Fail(libc::ENOSYS)),
        ];
        program.extend(tree(&self.ranges()));
        program
    }
}

fn tree(ranges: &[(u32, Rule)]) -> Vec<sock_filter> {
    match ranges {
        [] => vec![end(Answer::Kill)],
        [(_, rule)] => leaf(rule),
        _ => {
            let (low, high) = ranges.split_at(ranges.len() / 2);
            let pivot = high.first().map_or(u32::MAX, |(first, _)| *first);
            let low = tree(low);
            // Conditional jumps reach 255 instructions; an unconditional one reaches them all.
            let over = u32::try_from(low.len()).unwrap_or(u32::MAX);
            let mut code = vec![jump(BPF_JGE, pivot, 0, 1), statement(BPF_JMP | BPF_JA, over)];
            code.extend(low);
            code.extend(tree(high));
            code
        }
    }
}

fn leaf(rule: &Rule) -> Vec<sock_filter> {
    match rule {
        Rule::Always(answer) => vec![end(*answer)],
        Rule::When { alternatives, then, otherwise } => {
            let mut code = Vec::new();
            for tests in alternatives {
                code.extend(alternative(tests, *then));
            }
            code.push(end(*otherwise));
            code
        }
    }
}

/// Ends with `then` when every test holds, and falls through behind itself when one does not.
fn alternative(tests: &[Test], then: Answer) -> Vec<sock_filter> {
    let mut code = vec![end(then)];
    // From the last test to the first: what stands behind one is known when its jump is written.
    for test in tests.iter().rev() {
        // INVARIANT: an alternative has a handful of tests, so its jumps are short.
        let out = u8::try_from(code.len()).unwrap_or(u8::MAX);
        let mut head = match *test {
            Test::Has { argument, mask, value } => {
                vec![load(low(argument)), statement(BPF_ALU | BPF_AND, mask), jump(BPF_JEQ, value, 0, out)]
            }
            Test::Lacks { argument, mask, value } => {
                vec![load(low(argument)), statement(BPF_ALU | BPF_AND, mask), jump(BPF_JEQ, value, out, 0)]
            }
            Test::Null { argument } => vec![
                load(low(argument)),
                jump(BPF_JEQ, 0, 0, out.saturating_add(2)),
                load(low(argument) + 4),
                jump(BPF_JEQ, 0, 0, out),
            ],
        };
        head.append(&mut code);
        code = head;
    }
    code
}

fn low(argument: u8) -> u32 {
    ARGUMENTS_AT + 8 * u32::from(argument)
}

fn load(at: u32) -> sock_filter {
    statement(BPF_LD | BPF_W | BPF_ABS, at)
}

fn end(answer: Answer) -> sock_filter {
    statement(BPF_RET, answer.word())
}

fn statement(code: u32, k: u32) -> sock_filter {
    sock_filter { code: low_half(code | BPF_K), jt: 0, jf: 0, k }
}

fn jump(condition: u32, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { code: low_half(BPF_JMP | condition | BPF_K), jt, jf, k }
}

/// Operation codes have 16 bits and are declared with 32.
fn low_half(code: u32) -> u16 {
    u16::try_from(code & 0xffff).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests;
