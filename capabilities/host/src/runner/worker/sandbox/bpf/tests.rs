use proptest::prelude::*;

use super::*;

/// What the kernel does with a program: the few instructions that are used here, in its own words.
fn run(program: &[sock_filter], architecture: u32, number: u32, arguments: [u64; 6]) -> u32 {
    let load = |at: u32| match at {
        0 => number,
        4 => architecture,
        16.. if (at - 16).is_multiple_of(8) => (arguments[(at as usize - 16) / 8] & 0xffff_ffff) as u32,
        20.. if (at - 20).is_multiple_of(8) => (arguments[(at as usize - 20) / 8] >> 32) as u32,
        other => panic!("nothing is at {other}"),
    };
    let (mut at, mut a) = (0, 0);
    loop {
        let sock_filter { code, jt, jf, k } = program[at];
        at += 1;
        let mut branch = |taken: bool| at += usize::from(if taken { jt } else { jf });
        match u32::from(code) {
            0x20 => a = load(k),
            0x54 => a &= k,
            0x05 => at += k as usize,
            0x15 => branch(a == k),
            0x35 => branch(a >= k),
            0x06 => return k,
            other => panic!("no instruction {other:#x}"),
        }
    }
}

impl Table {
    /// The same, read from the table as it stands.
    pub(in super::super) fn judge(&self, number: u32, arguments: [u64; 6]) -> Answer {
        let low = |argument: u8| (arguments[usize::from(argument)] & 0xffff_ffff) as u32;
        let holds = |test: &Test| match *test {
            Test::Has { argument, mask, value } => low(argument) & mask == value,
            Test::Lacks { argument, mask, value } => low(argument) & mask != value,
            Test::Null { argument } => arguments[usize::from(argument)] == 0,
        };
        match self.rules.get(&number) {
            _ if number >= X32 => Answer::Fail(libc::ENOSYS),
            Some(Rule::Always(answer)) => *answer,
            Some(Rule::When { alternatives, then, otherwise }) => {
                if alternatives.iter().any(|tests| tests.iter().all(holds)) { *then } else { *otherwise }
            }
            None if number <= self.last => self.known,
            None => self.unknown,
        }
    }

    /// Whether there are arguments with which a call is made.
    pub(in super::super) fn may_allow(&self, number: u32) -> bool {
        match self.rules.get(&number) {
            Some(Rule::When { alternatives, then: Answer::Allow, .. }) => !alternatives.is_empty(),
            _ => self.judge(number, [0; 6]) == Answer::Allow,
        }
    }
}

fn answer() -> impl Strategy<Value = Answer> {
    prop_oneof![Just(Answer::Allow), Just(Answer::Trap), Just(Answer::Kill), (1..200).prop_map(Answer::Fail),]
}

/// Few values, so that they meet.
fn word() -> impl Strategy<Value = u32> {
    prop_oneof![0..4_u32, Just(u32::MAX), any::<u32>()]
}

fn test() -> impl Strategy<Value = Test> {
    prop_oneof![
        (0..6_u8, word(), word()).prop_map(|(argument, mask, value)| Test::Has { argument, mask, value }),
        (0..6_u8, word(), word()).prop_map(|(argument, mask, value)| Test::Lacks { argument, mask, value }),
        (0..6_u8).prop_map(|argument| Test::Null { argument }),
    ]
}

fn rule() -> impl Strategy<Value = Rule> {
    let tests = prop::collection::vec(test(), 0..5);
    prop_oneof![
        answer().prop_map(Rule::Always),
        (prop::collection::vec(tests, 0..20), answer(), answer())
            .prop_map(|(alternatives, then, otherwise)| Rule::When { alternatives, then, otherwise }),
    ]
}

fn table() -> impl Strategy<Value = Table> {
    (prop::collection::btree_map(0..100_u32, rule(), 0..80), answer(), 0..110_u32, answer())
        .prop_map(|(rules, known, last, unknown)| Table { rules, known, last, unknown })
}

fn argument() -> impl Strategy<Value = u64> {
    prop_oneof![0..4_u64, any::<u64>(), any::<u32>().prop_map(|high| u64::from(high) << 32)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Every number that a table can tell apart, and some it cannot.
    #[test]
    fn a_program_answers_as_its_table_reads(
        table in table(),
        beyond in any::<u32>(),
        arguments in prop::array::uniform6(argument()),
    ) {
        let program = table.program();
        for number in (0..120).chain([beyond, X32, X32 + 39, u32::MAX]) {
            prop_assert_eq!(
                run(&program, ARCHITECTURE, number, arguments),
                table.judge(number, arguments).word(),
                "{}", number
            );
        }
    }

    #[test]
    fn a_call_through_another_architectures_entry_ends_the_process(
        table in table(),
        number in any::<u32>(),
        architecture in any::<u32>(),
    ) {
        prop_assume!(architecture != ARCHITECTURE);
        prop_assert_eq!(run(&table.program(), architecture, number, [0; 6]), SECCOMP_RET_KILL_PROCESS);
    }
}

/// The kernel looks at neither half of what it does not compare.
#[test]
fn a_pointer_is_null_only_when_both_halves_are() {
    let mut table = Table::new(Answer::Fail(1), 10, Answer::Kill);
    table.allow_when(5, 1, &[&[Test::Null { argument: 4 }]]);
    let program = table.program();
    let with = |address| run(&program, ARCHITECTURE, 5, [9, 9, 9, 9, address, 9]);
    assert_eq!(with(0), SECCOMP_RET_ALLOW);
    assert_eq!(with(1), Answer::Fail(1).word());
    assert_eq!(with(1 << 32), Answer::Fail(1).word());
}
