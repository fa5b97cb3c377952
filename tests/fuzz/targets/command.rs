//! Any text as a script and as words: it is judged or refused, and what is put around it lowers nothing.
#![no_main]

use capabilities::terminal::guard::{Base, Class, judge_argv, judge_script};
use libfuzzer_sys::fuzz_target;

const BASE: Base<'_> = Base { root: "/ws", workdir: "." };

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let class = |script: &str| judge_script(script, BASE).map_or(Class::Block, |judgement| judgement.class());
    let alone = class(&text);
    let argv: Vec<String> = text.split(' ').map(str::to_owned).collect();
    let _ = judge_argv(&argv, BASE);
    let quoted = text.replace('\'', "'\\''");
    // Behind `--`: without it a text that begins with a dash is an option to the shell, and no script.
    assert!(class(&format!("bash -c -- '{quoted}'")) >= alone);
    assert!(class(&format!("reboot\n{text}")) == Class::Block);
});
